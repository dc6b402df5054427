# `active` is loaded before the claim.
/uint64_t expected = 0;/a\    const uint32_t buffer = jw_load_seq_cst(&epoch->active);
/^ *const uint32_t buffer = jw_load_seq_cst(&epoch->active);/d
