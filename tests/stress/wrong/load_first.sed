# `active` is loaded before the claim: by a thread that is kept there until what it loaded was proved empty.
/uint64_t expected = 0;/a\    const uint32_t buffer = jw_load_seq_cst(&epoch->active);\
    storm_pause_until_free(epoch, buffer, 1000);
/^ *const uint32_t buffer = jw_load_seq_cst(&epoch->active);/d
