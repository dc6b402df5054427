# The cells are looked at before the store that closes the buffer, and not again.
/memset(epoch->lives\[old\].seen, 0/a\    for (uint32_t i = 0; i < EPOCH_CELLS; i++)\
        if (!is_in_the_way(jw_load_seq_cst(&epoch->cells[i].word), old))\
            epoch->lives[old].seen[i / 64] |= 1ull << i % 64;
