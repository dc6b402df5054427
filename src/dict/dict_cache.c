/* Set-associative words; every function but open, close and clear runs anywhere. */
#include "dict/dict_cache.h"

#include "base/arena.h"
#include "base/atomics.h"
#include "base/hash.h"

#define ID_BITS          19
#define FEW_WORDS        8 /* touched so few pages that giving them back costs little */
#define ADDRESS_UNIT     8u
#define SET_HASH_SHIFT   32
#define VICTIM_HASH_BITS 7u

struct dict_cache {
    _Atomic uint64_t *words; /* constant: dict_cache_drop may run at any time */
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

JW_SIGNAL_SAFE static _Atomic uint64_t *set_of(const struct dict_cache *cache, uint64_t hash)
{
    return &cache->words[(hash >> SET_HASH_SHIFT) % DICT_CACHE_SETS * DICT_CACHE_WAYS];
}

dict_id dict_cache_find(const struct dict_cache *cache, uint64_t method_addr)
{
    if (!is_cacheable(method_addr))
        return DICT_NONE;

    const uint64_t key = key_of(method_addr);
    const _Atomic uint64_t *set = set_of(cache, jw_hash_word(method_addr));
    for (uint32_t way = 0; way < DICT_CACHE_WAYS; way++) {
        /* order DICT_CACHE: acquires what dict_cache_put released, the entry behind the id. */
        const uint64_t word = jw_load_acquire(&set[way]);

        if (is_of_key(word, key))
            return (dict_id)(word & DICT_CACHE_MAX_ID);
    }
    return DICT_NONE;
}

void dict_cache_put(struct dict_cache *cache, uint64_t method_addr, dict_id id)
{
    if (!is_cacheable(method_addr) || id == DICT_NONE || id > DICT_CACHE_MAX_ID)
        return;

    const uint64_t hash = jw_hash_word(method_addr);
    const uint64_t new_word = key_of(method_addr) | id;
    _Atomic uint64_t *set = set_of(cache, hash);

    for (uint32_t way = 0; way < DICT_CACHE_WAYS; way++) {
        /* Relaxed: only the word itself is looked at, never what its id names. */
        uint64_t word = jw_load_relaxed(&set[way]);

        /* order DICT_CACHE: releases the entry behind the id. */
        if (word == 0 && jw_cas_acq_rel(&set[way], &word, new_word))
            return;
        if (is_of_key(word, new_word))
            return; /* somebody else put it: the same method, so the same id */
    }
    /* order DICT_CACHE: releases the entry behind the id; the word before it is forgotten. */
    jw_store_release(&set[hash & VICTIM_HASH_BITS], new_word);
}

void dict_cache_drop(struct dict_cache *cache, uint64_t method_addr)
{
    if (!is_cacheable(method_addr))
        return;

    const uint64_t key = key_of(method_addr);
    _Atomic uint64_t *set = set_of(cache, jw_hash_word(method_addr));
    /* All ways: two threads may have put the address into two of them. */
    for (uint32_t way = 0; way < DICT_CACHE_WAYS; way++) {
        /* Relaxed: nothing is read through the word, and who must not find the address any more is
         * ordered after this call by the JVM (the class is not yet linked). */
        uint64_t word = jw_load_relaxed(&set[way]);

        if (is_of_key(word, key))
            (void)jw_cas_relaxed(&set[way], &word, 0);
    }
}

/* Words that were in use. Looks before it writes, so that untouched pages stay untouched. */
JW_SIGNAL_SAFE static uint32_t empty_all(struct dict_cache *cache)
{
    uint32_t used_count = 0;

    for (uint32_t i = 0; i < DICT_CACHE_WORDS; i++) {
        /* Relaxed, as in dict_cache_drop. */
        if (jw_load_relaxed(&cache->words[i]) == 0)
            continue;
        jw_store_relaxed(&cache->words[i], 0);
        used_count++;
    }
    return used_count;
}

void dict_cache_void(struct dict_cache *cache)
{
    (void)empty_all(cache);
}

void dict_cache_clear(struct dict_cache *cache)
{
    if (empty_all(cache) >= FEW_WORDS)
        return;
    /* All words are 0 already; taken again, the arena is whole at the same address. */
    jw_arena_reset(&cache->memory, 0);
    (void)jw_arena_take(&cache->memory, cache->memory.capacity_bytes);
}

uint32_t dict_cache_count(const struct dict_cache *cache)
{
    uint32_t used_count = 0;

    for (uint32_t i = 0; i < DICT_CACHE_WORDS; i++)
        used_count += jw_load_relaxed(&cache->words[i]) != 0;
    return used_count;
}
