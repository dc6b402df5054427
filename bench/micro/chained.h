/*
 * chained - what the dictionary is measured against: a chained hash table whose keys and nodes are allocated
 * one by one, with a read path that takes no lock and an insert by one CAS at the head of the chain.
 *
 * The usual table for this work. It allocates, so nothing of it may run in a signal handler; its clear walks
 * and frees everything, with nobody inside.
 */
#ifndef JW_BENCH_CHAINED_H
#define JW_BENCH_CHAINED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"

struct chained_node {
    struct chained_node *next; /* constant once it is published */
    uint64_t hash;
    uint32_t id;
    uint32_t length_bytes;
    char *key; /* terminated */
};

struct chained_table {
    struct chained_node *_Atomic *chains;
    uint64_t chain_mask;
    _Atomic uint32_t last_id;
    bool is_bytewise; /* FNV-1a, byte by byte, as such tables have it as a rule; else our hash */
};

static uint64_t chained_hash(const struct chained_table *table, const void *key,
                             size_t length_bytes)
{
    const unsigned char *bytes = key;
    uint64_t hash = 0xcbf29ce484222325ull;

    if (!table->is_bytewise)
        return jw_hash64(key, length_bytes);
    for (size_t i = 0; i < length_bytes; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

/* As many chains as keys, rounded up to a power of two. */
static struct chained_table *chained_open(uint32_t key_count, bool is_bytewise)
{
    struct chained_table *table = calloc(1, sizeof *table);
    uint64_t chain_count = 1;

    while (chain_count < key_count)
        chain_count *= 2;
    if (table == NULL || (table->chains = calloc(chain_count, sizeof *table->chains)) == NULL)
        exit(1);
    table->chain_mask = chain_count - 1;
    table->is_bytewise = is_bytewise;
    return table;
}

static const struct chained_node *chained_in(const struct chained_node *node,
                                             const struct chained_node *end, uint64_t hash,
                                             const void *key, size_t length_bytes)
{
    for (; node != end; node = node->next)
        if (node->hash == hash && node->length_bytes == length_bytes &&
            memcmp(node->key, key, length_bytes) == 0)
            return node;
    return NULL;
}

static uint32_t chained_find(const struct chained_table *table, const void *key,
                             size_t length_bytes)
{
    const uint64_t hash = chained_hash(table, key, length_bytes);
    struct chained_node *head = jw_load_acquire(&table->chains[hash & table->chain_mask]);
    const struct chained_node *node = chained_in(head, NULL, hash, key, length_bytes);

    return node == NULL ? 0 : node->id;
}

static uint32_t chained_intern(struct chained_table *table, const void *key, size_t length_bytes)
{
    const uint64_t hash = chained_hash(table, key, length_bytes);
    struct chained_node *_Atomic *chain = &table->chains[hash & table->chain_mask];
    struct chained_node *head = jw_load_acquire(chain);
    const struct chained_node *seen_end = NULL;
    struct chained_node *made = NULL;

    for (;;) {
        const struct chained_node *node = chained_in(head, seen_end, hash, key, length_bytes);

        if (node != NULL) {
            if (made != NULL)
                free(made->key);
            free(made);
            return node->id;
        }
        if (made == NULL) {
            made = malloc(sizeof *made);
            if (made == NULL || (made->key = malloc(length_bytes + 1)) == NULL)
                exit(1);
            memcpy(made->key, key, length_bytes);
            made->key[length_bytes] = '\0';
            made->hash = hash;
            made->length_bytes = (uint32_t)length_bytes;
            made->id = jw_add_relaxed(&table->last_id, 1) + 1;
        }
        made->next = head;
        seen_end = head;
        if (jw_cas_acq_rel(chain, &head, made))
            return made->id;
    }
}

static void chained_clear(struct chained_table *table)
{
    for (uint64_t i = 0; i <= table->chain_mask; i++) {
        struct chained_node *node = jw_load_relaxed(&table->chains[i]);

        while (node != NULL) {
            struct chained_node *next = node->next;

            free(node->key);
            free(node);
            node = next;
        }
        jw_store_relaxed(&table->chains[i], NULL);
    }
    jw_store_relaxed(&table->last_id, 0);
}

static void chained_close(struct chained_table *table)
{
    chained_clear(table);
    free(table->chains);
    free(table);
}

#endif
