/* Set-associative words; every function but open, close and clear runs anywhere. */
#include "dict/dict_cache.h"

#include "base/arena.h"
#include "base/atomics.h"
#include "base/hash.h"

#define ID_BITS          19
#define PAGE_WORDS       512 /* words of a page: what one flag of `is_touched` stands for */
#define PAGE_COUNT       (DICT_CACHE_WORDS / PAGE_WORDS)
#define ADDRESS_UNIT     8u
#define SET_HASH_SHIFT   32
#define VICTIM_HASH_BITS 7u
#define NEAR_SETS        256u

struct dict_cache {
    _Atomic uint64_t *words;
    /* Relaxed: set before the first word of a page is put, and never cleared again. */
    _Atomic uint8_t is_touched[PAGE_COUNT];
    _Atomic uint64_t age;
    struct jw_arena memory;
};

struct dict_cache *dict_cache_open(struct jw_error *err)
{
    struct dict_cache *cache = jw_alloc(sizeof *cache);

    if (cache == NULL) {
        jw_error_set(err, "method cache: no memory for %zu bytes; free some and start again",
                     sizeof *cache);
        return NULL;
    }
    if (!jw_arena_open(&cache->memory, DICT_CACHE_WORDS * sizeof(uint64_t), "method cache", err)) {
        jw_free(cache);
        return NULL;
    }
    cache->words = jw_arena_take(&cache->memory, cache->memory.capacity_bytes);
    return cache;
}

void dict_cache_close(struct dict_cache *cache)
{
    if (cache == NULL)
        return;
    jw_arena_close(&cache->memory);
    jw_free(cache);
}

void dict_cache_warm(struct dict_cache *cache)
{
    jw_arena_warm(&cache->memory, NEAR_SETS * DICT_CACHE_WAYS * sizeof(uint64_t));
}

JW_SIGNAL_SAFE static bool is_cacheable(uint64_t method_addr)
{
    return method_addr != 0 && method_addr % ADDRESS_UNIT == 0 &&
           method_addr >> DICT_CACHE_ADDRESS_BITS == 0;
}

/* The word of an address without its id. */
JW_SIGNAL_SAFE static uint64_t key_of(uint64_t method_addr)
{
    return method_addr / ADDRESS_UNIT << ID_BITS;
}

JW_SIGNAL_SAFE static bool is_of_key(uint64_t word, uint64_t key)
{
    return word >> ID_BITS == key >> ID_BITS;
}

/* The two sets of an address: near ones, four pages for all, are filled first. */
JW_SIGNAL_SAFE static _Atomic uint64_t *set_of(const struct dict_cache *cache, uint64_t hash,
                                               bool is_near)
{
    const uint32_t high = (uint32_t)(hash >> SET_HASH_SHIFT);
    const uint32_t set =
        is_near ? high % NEAR_SETS : NEAR_SETS + high % (DICT_CACHE_SETS - NEAR_SETS);

    return &cache->words[set * DICT_CACHE_WAYS];
}

/* The id for this key in a set; DICT_NONE when it is not there, and then whether all ways are taken. */
JW_SIGNAL_SAFE static dict_id find_in(const _Atomic uint64_t *set, uint64_t key, bool *is_full)
{
    *is_full = true;
    for (uint32_t way = 0; way < DICT_CACHE_WAYS; way++) {
        /* order DICT_CACHE: acquires what dict_cache_put released, the entry behind the id. */
        const uint64_t word = jw_load_acquire(&set[way]);

        if (is_of_key(word, key))
            return (dict_id)(word & DICT_CACHE_MAX_ID);
        if (word == 0)
            *is_full = false;
    }
    return DICT_NONE;
}

dict_id dict_cache_find(const struct dict_cache *cache, uint64_t method_addr)
{
    bool is_full;

    if (!is_cacheable(method_addr))
        return DICT_NONE;

    const uint64_t key = key_of(method_addr);
    const uint64_t hash = jw_hash_word(method_addr);
    const dict_id id = find_in(set_of(cache, hash, true), key, &is_full);
    return id != DICT_NONE || !is_full ? id : find_in(set_of(cache, hash, false), key, &is_full);
}

JW_SIGNAL_SAFE static void touch(struct dict_cache *cache, const _Atomic uint64_t *set)
{
    _Atomic uint8_t *flag = &cache->is_touched[(size_t)(set - cache->words) / PAGE_WORDS];

    if (jw_load_relaxed(flag) == 0)
        jw_store_relaxed(flag, 1);
}

/* False when all ways are others'. */
JW_SIGNAL_SAFE static bool put_in(struct dict_cache *cache, _Atomic uint64_t *set,
                                  uint64_t new_word)
{
    for (uint32_t way = 0; way < DICT_CACHE_WAYS; way++) {
        /* Relaxed: only the word itself is looked at, never what its id names. */
        uint64_t word = jw_load_relaxed(&set[way]);

        if (word == 0) {
            touch(cache, set);
            /* order DICT_CACHE: releases the entry behind the id. */
            if (jw_cas_acq_rel(&set[way], &word, new_word))
                return true;
        }
        if (is_of_key(word, new_word)) {
            /* Somebody else put it, with the same id; or the address is another method's by now. */
            /* order DICT_CACHE: releases the entry behind the id. */
            if (word != new_word)
                jw_store_release(&set[way], new_word);
            return true;
        }
    }
    return false;
}

void dict_cache_put(struct dict_cache *cache, uint64_t method_addr, dict_id id)
{
    if (!is_cacheable(method_addr) || id == DICT_NONE || id > DICT_CACHE_MAX_ID)
        return;

    const uint64_t hash = jw_hash_word(method_addr);
    const uint64_t new_word = key_of(method_addr) | id;
    _Atomic uint64_t *far_set = set_of(cache, hash, false);

    if (put_in(cache, set_of(cache, hash, true), new_word) || put_in(cache, far_set, new_word))
        return;
    /* order DICT_CACHE: releases the entry behind the id; the word before it is forgotten. */
    jw_store_release(&far_set[hash & VICTIM_HASH_BITS], new_word);
}

/* Relaxed: nothing is read through a word that is forgotten. */
static JW_SIGNAL_SAFE void forget_all(struct dict_cache *cache)
{
    for (uint32_t i = 0; i < DICT_CACHE_WORDS; i++) {
        if (jw_load_relaxed(&cache->is_touched[i / PAGE_WORDS]) == 0)
            i += PAGE_WORDS - 1;
        else if (jw_load_relaxed(&cache->words[i]) != 0)
            jw_store_relaxed(&cache->words[i], 0);
    }
}

void dict_cache_renew(struct dict_cache *cache, uint64_t age)
{
    /* order DICT_CACHE_AGE: acquires that the words of another age are gone. */
    if (jw_load_acquire(&cache->age) == age)
        return;
    forget_all(cache);
    /* order DICT_CACHE_AGE: releases that the words of another age are gone. */
    jw_store_release(&cache->age, age);
}

void dict_cache_clear(struct dict_cache *cache)
{
    forget_all(cache);
}

uint32_t dict_cache_count(const struct dict_cache *cache)
{
    uint32_t used_count = 0;

    for (uint32_t i = 0; i < DICT_CACHE_WORDS; i++)
        used_count += jw_load_relaxed(&cache->words[i]) != 0;
    return used_count;
}
