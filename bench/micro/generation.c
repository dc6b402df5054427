/*
 * generation - what the parts of a sample cost in nanoseconds: entering and leaving, names, traces,
 * records. Usage: generation [rounds]. Prints the median of the rounds and the least.
 */
#include "generation/generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MAX_ROUNDS  101
#define NAME_BYTES  48
#define NAMES       20000
#define TRACES      400
#define MAX_DEPTH   512
#define METHOD_ADDR 0x7f0000000000ull
#define ENTER_CALLS 1000000
#define LOOK_UPS    (10 * NAMES)
#define EVENT_CALLS 20000
#define TID         1

struct bench {
    struct generations *generations;
    unsigned char (*names)[NAME_BYTES];
    jw_frame *frames;
    uint32_t depth;
    uint32_t key_count;
    uint64_t sink; /* keeps results alive */
};

/* Runs once, and says how many calls it timed and how long they took. */
typedef uint64_t bench_body(struct bench *bench, uint64_t *took_ns);

static struct generation *active(struct bench *bench)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(bench->generations, TID, &ticket);

    if (generation == NULL)
        exit(1);
    generation_leave(bench->generations, &ticket);
    return generation;
}

static void take_nothing(const struct event_record *record, void *arg)
{
    (void)record;
    (void)arg;
}

static bool take_all(struct generation *generation, void *arg)
{
    event_take(generation->events, take_nothing, arg);
    return true;
}

/* A fresh generation, whose pages the life before it has touched. */
static void renew(struct bench *bench)
{
    generations_rotate(bench->generations);
    generations_retire(bench->generations, take_all, NULL);
}

static uint64_t enter_and_leave(struct bench *bench, uint64_t *took_ns)
{
    const uint64_t start_ns = jw_now_ns();

    for (int i = 0; i < ENTER_CALLS; i++) {
        struct epoch_ticket ticket;

        bench->sink += generation_enter(bench->generations, TID, &ticket) != NULL;
        generation_leave(bench->generations, &ticket);
    }
    *took_ns = jw_now_ns() - start_ns;
    return ENTER_CALLS;
}

static void intern_all(struct bench *bench, struct dict_table *table)
{
    for (uint32_t i = 0; i < bench->key_count; i++)
        bench->sink += dict_intern(table, bench->names[i], NAME_BYTES);
}

static uint64_t intern_insert(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct dict_table *table = active(bench)->symbols;
    const uint64_t start_ns = jw_now_ns();

    intern_all(bench, table);
    *took_ns = jw_now_ns() - start_ns;
    return bench->key_count;
}

static uint64_t intern_hit(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct dict_table *table = active(bench)->symbols;
    uint32_t index = 0;

    intern_all(bench, table);
    const uint64_t start_ns = jw_now_ns();
    for (uint32_t i = 0; i < LOOK_UPS; i++) {
        index = (index + 7919) % bench->key_count;
        bench->sink += dict_intern(table, bench->names[index], NAME_BYTES);
    }
    *took_ns = jw_now_ns() - start_ns;
    return LOOK_UPS;
}

static uint64_t find_miss(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    const struct dict_table *table = active(bench)->symbols;
    unsigned char name[NAME_BYTES];

    intern_all(bench, active(bench)->symbols);
    memset(name, 'y', sizeof name);
    const uint64_t start_ns = jw_now_ns();
    for (uint64_t i = 0; i < LOOK_UPS; i++) {
        memcpy(name + 24, &i, sizeof i); /* a whole word: a part of one would stall its load */
        bench->sink += dict_find(table, name, NAME_BYTES);
    }
    *took_ns = jw_now_ns() - start_ns;
    return LOOK_UPS;
}

static uint64_t method_cache_hit(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct dict_cache *cache = active(bench)->method_cache;
    uint32_t index = 0;

    for (uint32_t i = 0; i < 2000; i++)
        dict_cache_put(cache, METHOD_ADDR + 96 * i, i + 1);
    const uint64_t start_ns = jw_now_ns();
    for (uint32_t i = 0; i < LOOK_UPS; i++) {
        index = (index + 7919) % 2000;
        bench->sink += dict_cache_find(cache, METHOD_ADDR + 96 * index);
    }
    *took_ns = jw_now_ns() - start_ns;
    return LOOK_UPS;
}

static void put_all(struct bench *bench, struct store_table *store)
{
    for (uint32_t i = 0; i < TRACES; i++) {
        bench->frames[0] = jw_frame_native(i + 1);
        bench->sink += store_put(store, bench->frames, bench->depth, 0);
    }
}

static uint64_t store_insert(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct store_table *store = active(bench)->traces;
    const uint64_t start_ns = jw_now_ns();

    put_all(bench, store);
    *took_ns = jw_now_ns() - start_ns;
    return TRACES;
}

static uint64_t store_hit(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct store_table *store = active(bench)->traces;

    put_all(bench, store);
    const uint64_t start_ns = jw_now_ns();
    for (int i = 0; i < 20; i++)
        put_all(bench, store);
    *took_ns = jw_now_ns() - start_ns;
    return 20 * TRACES;
}

static uint64_t event_write(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct event_ring *ring = active(bench)->events;
    const uint64_t start_ns = jw_now_ns();

    for (uint32_t i = 0; i < EVENT_CALLS; i++) {
        struct event_record *record = event_reserve(ring);

        if (record == NULL)
            exit(1);
        record->kind = EVENT_CPU_SAMPLE;
        record->value = i;
        event_commit(record);
    }
    *took_ns = jw_now_ns() - start_ns;
    return EVENT_CALLS;
}

static uint64_t clear_used(struct bench *bench, uint64_t *took_ns)
{
    renew(bench);
    struct generation *generation = active(bench);

    intern_all(bench, generation->symbols);
    put_all(bench, generation->traces);
    generations_rotate(bench->generations);
    const uint64_t start_ns = jw_now_ns();
    generations_retire(bench->generations, take_all, NULL);
    *took_ns = jw_now_ns() - start_ns;
    return 1;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void run(struct bench *bench, const char *name, bench_body *body, int rounds)
{
    double ns[MAX_ROUNDS];

    for (int i = 0; i < 4; i++) { /* all three generations touched once */
        uint64_t took_ns;
        (void)body(bench, &took_ns);
    }
    for (int i = 0; i < rounds; i++) {
        uint64_t took_ns;
        const uint64_t calls = body(bench, &took_ns);

        ns[i] = (double)took_ns / (double)calls;
    }
    qsort(ns, (size_t)rounds, sizeof ns[0], by_value);
    printf("%-28s %10.1f ns median %10.1f ns least\n", name, ns[rounds / 2], ns[0]);
}

static void run_names(struct bench *bench, uint32_t key_count, int rounds)
{
    char name[64];

    bench->key_count = key_count;
    snprintf(name, sizeof name, "dict_intern new, %u keys", key_count);
    run(bench, name, intern_insert, rounds);
    snprintf(name, sizeof name, "dict_intern hit, %u keys", key_count);
    run(bench, name, intern_hit, rounds);
    snprintf(name, sizeof name, "dict_find miss, %u keys", key_count);
    run(bench, name, find_miss, rounds);
}

int main(int argc, char **argv)
{
    const uint32_t depths[] = {8, 32, 128, 512};
    const struct generations_config config = {0};
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    struct jw_error err = {0};
    struct bench bench = {0};

    if (rounds < 1 || rounds > MAX_ROUNDS)
        rounds = MAX_ROUNDS;
    bench.generations = generations_open(&config, &err);
    bench.names = calloc(NAMES, NAME_BYTES);
    bench.frames = calloc(MAX_DEPTH, sizeof(jw_frame));
    if (bench.generations == NULL || bench.names == NULL || bench.frames == NULL) {
        fprintf(stderr, "generation: %s\n", err.message);
        return 1;
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        memset(bench.names[i], 'x', NAME_BYTES);
        memcpy(bench.names[i] + 20, &i, sizeof i);
    }
    for (uint32_t i = 0; i < MAX_DEPTH; i++)
        bench.frames[i] = jw_frame_java(JW_FRAME_COMPILED, i * 13 + 1, (int)i);

    run(&bench, "enter and leave", enter_and_leave, rounds);
    run_names(&bench, 1000, rounds);
    run_names(&bench, NAMES, rounds);
    run(&bench, "dict_cache_find hit", method_cache_hit, rounds);
    for (size_t i = 0; i < JW_COUNT_OF(depths); i++) {
        char name[64];

        bench.depth = depths[i];
        snprintf(name, sizeof name, "store_put new, depth %u", depths[i]);
        run(&bench, name, store_insert, rounds);
        snprintf(name, sizeof name, "store_put hit, depth %u", depths[i]);
        run(&bench, name, store_hit, rounds);
    }
    run(&bench, "event reserve and commit", event_write, rounds);
    run(&bench, "clear, 20000 names", clear_used, rounds);
    generations_close(bench.generations);
    free(bench.frames);
    free(bench.names);
    return bench.sink == 1;
}
