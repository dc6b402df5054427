/*
 * hash - one fast hash for bytes and one for words. Not for keys that an enemy chooses.
 *
 * For      tables of dict, store, thread, recording and profile.
 * Context  all.
 */
#ifndef JW_BASE_HASH_H
#define JW_BASE_HASH_H

#include "base/jw.h"

/* Finalizer of MurmurHash3 (public domain, A. Appleby): every input bit reaches every output bit. */
JW_SIGNAL_SAFE static inline uint64_t jw_hash_word(uint64_t word)
{
    word ^= word >> 33;
    word *= 0xff51afd7ed558ccdull;
    word ^= word >> 33;
    word *= 0xc4ceb9fe1a85ec53ull;
    return word ^ word >> 33;
}

JW_SIGNAL_SAFE uint64_t jw_hash64(const void *bytes, size_t length_bytes);

/* For who takes equal hashes for equal bytes: of a million different ones two are equal in one of 10^26 cases. */
struct jw_hash128 {
    uint64_t one, two;
};
struct jw_hash128 jw_hash128(const void *bytes, size_t length_bytes);

/* Never 0, so that 0 can mean an empty slot. */
JW_SIGNAL_SAFE uint32_t jw_hash32(const void *bytes, size_t length_bytes);

#endif
