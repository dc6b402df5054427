# A buffer counts as empty only when nobody is in an older one either.
s/if (!is_in_the_way(jw_load_seq_cst(&epoch->cells\[i\].word), buffer))/const uint64_t word = jw_load_seq_cst(\&epoch->cells[i].word), low = word \& CELL_LOW_MASK;\
        if (!is_in_the_way(word, buffer) \&\& (low == 0 || epoch_generation(epoch, (int)low - 1) > epoch_generation(epoch, buffer)))/
# What never comes again need not be awaited for long.
s/^#define PARKED_TURNS .*/#define PARKED_TURNS 200/
