/*
 * dict_cache - from the address of a JVM method to its id in this generation's dictionary.
 *
 * For      skipping the copy of a method's names (about 100 ns) when this generation has them.
 * Callers  sampler (find, put); generation (the rest).
 * Context  dict_cache_find, _put, _renew: handler, hook, any, inside the generation.  dict_cache_clear: dump.
 *          dict_cache_open, _close: control, with all engines stopped.
 * Memory   DICT_CACHE_WORDS words, reserved by open, a page touched when the first word needs it.
 * Progress all wait-free but open and close.
 *
 *     word:  | address / 8: 45 bits | id: 19 bits |      0: empty
 *
 * A set is the eight words of one cache line. An address has a near set, of four pages for all, and a far
 * one for when that is full. A full far set loses one word to the newcomer: a cache may forget, it may not
 * lie. What it holds is the last id put for an address, and addresses are given again: whoever finds an id says first how
 * old the cache may be (dict_cache_renew), or looks at what it names before believing it (vm_method.h, struct vm_identity).
 *
 * May these overlap?    find/put/renew    clear
 *   find/put/renew        yes            never (epoch)
 */
#ifndef JW_DICT_DICT_CACHE_H
#define JW_DICT_DICT_CACHE_H

#include "base/jw.h"
#include "dict/dict.h"

#define DICT_CACHE_WAYS         8
#define DICT_CACHE_SETS         2048
#define DICT_CACHE_WORDS        (DICT_CACHE_WAYS * DICT_CACHE_SETS)
#define DICT_CACHE_MAX_ID       ((1u << 19) - 1)
#define DICT_CACHE_ADDRESS_BITS 48

struct dict_cache;

JW_MUST_CHECK struct dict_cache *dict_cache_open(struct jw_error *err);
void dict_cache_close(struct dict_cache *cache);
void dict_cache_warm(struct dict_cache *cache); /* brings the near sets into memory */

/* Id put for this address, DICT_NONE when there is none. Its text may be read at once. */
JW_SIGNAL_SAFE dict_id dict_cache_find(const struct dict_cache *cache, uint64_t method_addr);

/*
 * Remembers an id. Does nothing when the id is DICT_NONE or above DICT_CACHE_MAX_ID, or the address
 * is 0, not a multiple of 8 or wider than DICT_CACHE_ADDRESS_BITS.
 */
JW_SIGNAL_SAFE void dict_cache_put(struct dict_cache *cache, uint64_t method_addr, dict_id id);

/*
 * Forgets all, unless `age` is what it was at the last call. For an age that changes between the end of a
 * method and the first run of another at its address: what a caller that is inside the handler with a method on
 * its stack puts and finds is then true, even where several call this at once, with different ages.
 */
JW_SIGNAL_SAFE void dict_cache_renew(struct dict_cache *cache, uint64_t age);

/* Forgets all, for the next life of the buffer. Its pages stay: 128 KiB at the most. */
void dict_cache_clear(struct dict_cache *cache);

uint32_t dict_cache_count(const struct dict_cache *cache); /* words in use; any */

#endif
