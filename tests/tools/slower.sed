# A look-up that passes over its bytes once more than it needs.
s/const uint64_t hash = jw_hash64(text, length_bytes);/uint64_t hash = 0;\
    for (size_t i = 0; i < length_bytes; i++)\
        __asm__ volatile("" : "+r"(hash) : "r"(((const unsigned char *)text)[i]));\
    hash = jw_hash64(text, length_bytes);/
