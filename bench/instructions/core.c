/* Paths of handlers through what is shared: cells, names, traces, records, threads. */
#include "counted.h"

#include <stdio.h>
#include <string.h>

#include "dict/dict.h"
#include "dict/dict_cache.h"
#include "epoch/epoch.h"
#include "event/event.h"
#include "generation/generation.h"
#include "store/store.h"
#include "thread/thread.h"

#define TID         4711
#define NAMES       2000
#define NAME_BYTES  48 /* as names of classes are: some 40 bytes, much of them in common */
#define TRACES      200
#define DEPTH       100
#define METHOD_ADDR UINT64_C(0x7f0000000000)

static struct generations *generations;
static struct epoch *epoch;
static struct generation *generation;
static struct epoch_ticket ticket;
static char names[NAMES][NAME_BYTES];
static size_t name_bytes[NAMES];
static jw_frame frames[TRACES][DEPTH];

static void open_epoch(unsigned operations)
{
    struct jw_error err = {0};

    (void)operations;
    epoch = epoch_open(&err);
    counted_need(epoch != NULL, "epoch_open", &err);
}

static void close_epoch(void)
{
    epoch_close(epoch);
}

static void claim_and_leave(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        struct epoch_ticket claimed = epoch_claim(epoch, TID);

        counted_sink += claimed.buffer;
        epoch_leave(epoch, &claimed);
    }
}

static void open_generations(unsigned operations)
{
    const struct generations_config config = {.memory_bytes = 0};
    struct jw_error err = {0};

    (void)operations;
    generations = generations_open(&config, &err);
    counted_need(generations != NULL, "generations_open", &err);
    generation = generation_enter(generations, TID, &ticket);
    counted_need(generation != NULL, "generation_enter", NULL);
    for (unsigned i = 0; i < NAMES; i++)
        name_bytes[i] =
            (size_t)snprintf(names[i], NAME_BYTES, "com/acme/service/OrderPosition%uHandler", i);
    for (unsigned i = 0; i < TRACES; i++)
        for (unsigned k = 0; k < DEPTH; k++)
            frames[i][k] = UINT64_C(1) + (uint64_t)k * 131 + (k < 4 ? (uint64_t)i << 20 : 0);
}

static void close_generations(void)
{
    generation_leave(generations, &ticket);
    generations_close(generations);
}

static void enter_and_leave(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        struct epoch_ticket entered;

        counted_sink += generation_enter(generations, TID, &entered) != NULL;
        generation_leave(generations, &entered);
    }
}

static void intern_all(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += dict_intern(generation->symbols, names[i], name_bytes[i]);
}

static void open_names(unsigned operations)
{
    open_generations(operations);
    intern_all(operations);
}

static void find_all(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += dict_find(generation->symbols, names[i], name_bytes[i]);
}

static void text_all(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        size_t length_bytes;

        counted_sink += dict_text(generation->symbols, i + 1, &length_bytes) != NULL;
    }
}

static void open_methods(unsigned operations)
{
    open_generations(operations);
    for (unsigned i = 0; i < operations; i++)
        dict_cache_put(generation->method_cache, METHOD_ADDR + i * 96, i + 1);
}

static void find_methods(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += dict_cache_find(generation->method_cache, METHOD_ADDR + i * 96);
}

static void put_traces(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += store_put(generation->traces, frames[i], DEPTH, 0);
}

static void open_traces(unsigned operations)
{
    open_generations(operations);
    put_traces(operations);
}

static void append_events(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        struct event_record *record = event_reserve(generation->events);

        record->kind = EVENT_CPU_SAMPLE;
        record->time_ns = i;
        event_commit(record);
    }
}

static void open_events(unsigned operations)
{
    open_generations(operations);
    append_events(operations);
}

static void take_one(const struct event_record *record, void *arg)
{
    (void)arg;
    counted_sink += record->time_ns;
}

static void take_events(unsigned operations)
{
    counted_need(event_take(generation->events, take_one, NULL) == operations, "event_take", NULL);
}

const struct counted counted_core[] = {
    {"epoch_claim_and_leave", open_epoch, claim_and_leave, close_epoch, 100, 1100},
    {"generation_enter_and_leave", open_generations, enter_and_leave, close_generations, 100, 1100},
    {"dict_find_hit", open_names, find_all, close_generations, 500, 1500},
    {"dict_intern_hit", open_names, intern_all, close_generations, 500, 1500},
    {"dict_intern_insert", open_generations, intern_all, close_generations, 500, 1500},
    {"dict_text", open_names, text_all, close_generations, 500, 1500},
    {"dict_cache_find_hit", open_methods, find_methods, close_generations, 500, 1500},
    {"store_put_hit_100_frames", open_traces, put_traces, close_generations, 50, 150},
    {"store_put_insert_100_frames", open_generations, put_traces, close_generations, 50, 150},
    {"event_append", open_generations, append_events, close_generations, 500, 1500},
    {"event_take", open_events, take_events, close_generations, 500, 1500},
};
const size_t counted_core_count = JW_COUNT_OF(counted_core);
