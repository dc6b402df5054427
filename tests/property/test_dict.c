/*
 * A dictionary against a plain model of it, over random operations. JW_SEED=n repeats a run; the
 * seed is printed.
 */
#include "dict/dict.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/counters.h"

static struct dict_table *table;

/* A xorshift generator: the seed is all that a failure needs to be seen again. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#define MODEL_KEYS 3000

struct model_key {
    size_t length_bytes;
    unsigned char bytes[80];
    dict_id id; /* what the table must say; DICT_NONE: not in */
};

static uint64_t model_seed(void)
{
    const char *given = getenv("JW_SEED");
    const uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

    fprintf(stderr, "seed: JW_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Random keys, all different (their number stands at the end), of every length class. */
static struct model_key *make_keys(uint64_t *random)
{
    struct model_key *keys = calloc(MODEL_KEYS, sizeof *keys);

    for (uint32_t i = 0; i < MODEL_KEYS; i++) {
        keys[i].length_bytes = next_random(random) % 76;
        for (size_t j = 0; j < keys[i].length_bytes; j++)
            keys[i].bytes[j] = (unsigned char)(next_random(random) % 3);
        memcpy(keys[i].bytes + keys[i].length_bytes, &i, sizeof i);
        keys[i].length_bytes += sizeof i;
    }
    return keys;
}

/* One random operation; false when table and model disagree. */
static bool agree_on_one(struct model_key *keys, uint64_t *random, uint32_t *key_count)
{
    const uint64_t choice = next_random(random) % 10000;
    struct model_key *key = &keys[next_random(random) % MODEL_KEYS];
    size_t length_bytes;

    if (choice < 4) {
        dict_clear(table);
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            keys[i].id = DICT_NONE;
        *key_count = 0;
        return dict_last_id(table) == 0;
    }
    if (choice < 4000)
        return dict_find(table, key->bytes, key->length_bytes) == key->id;
    if (choice < 5000 && key->id != DICT_NONE) {
        const void *text = dict_text(table, key->id, &length_bytes);

        return text != NULL && length_bytes == key->length_bytes &&
               memcmp(text, key->bytes, length_bytes) == 0;
    }

    const uint32_t bound = choice < 7000 ? (uint32_t)(next_random(random) % 1500) : UINT32_MAX;
    const uint64_t without_slot = jw_counter(JW_COUNT_DICT_PROBE_LIMIT);
    const dict_id id = dict_intern_bounded(table, key->bytes, key->length_bytes, bound);
    if (key->id != DICT_NONE)
        return id == key->id;
    if (*key_count >= bound || *key_count >= 1000)
        return id == DICT_NONE;
    /* All slots that are tried are others': of some keys in a full table, and named. */
    if (id == DICT_NONE && jw_counter(JW_COUNT_DICT_PROBE_LIMIT) == without_slot + 1)
        return true;
    key->id = ++*key_count;
    return id == key->id;
}

static void open_table(void)
{
    const struct dict_config config = {"test", 1000, 1 << 20};
    struct jw_error err = {0};

    table = dict_open(&config, &err);
    cr_assert(table != NULL, "%s", err.message);
}

static void close_table(void)
{
    dict_close(table);
}

TestSuite(dict_model, .init = open_table, .fini = close_table, .timeout = 1800);

Test(dict_model, agrees_with_a_plain_model_over_random_operations)
{
    uint64_t random = model_seed() * 2 + 1;
    struct model_key *keys = make_keys(&random);
    uint32_t key_count = 0;

    for (unsigned i = 0; i < 300000; i++) {
        cr_assert(agree_on_one(keys, &random, &key_count), "operation %u", i);
        if (i % 10000 == 0) {
            struct dict_stats stats;

            dict_stats(table, &stats);
            cr_assert(eq(u32, stats.key_count, key_count));
        }
    }
    free(keys);
}
