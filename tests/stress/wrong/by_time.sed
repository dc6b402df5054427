# A buffer counts as empty one look after it was closed.
s/if (!is_in_the_way(jw_load_seq_cst(&epoch->cells\[i\].word), buffer))/if (!is_in_the_way(0, buffer))/
