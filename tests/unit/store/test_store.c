/* Call traces: identity by content, limits, exact counters, clearing. */
#include "store/store.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"

static struct store_table *store;

static struct store_table *open_table(uint32_t max_entries, size_t arena_bytes)
{
    const struct store_config config = {"test", max_entries, arena_bytes};
    struct jw_error err = {0};
    struct store_table *opened = store_open(&config, &err);

    cr_assert(opened != NULL, "%s", err.message);
    return opened;
}

static void open_small(void)
{
    store = open_table(1000, 1 << 20);
}

static void close_store(void)
{
    store_close(store);
}

static void reopen(uint32_t max_entries, size_t arena_bytes)
{
    store_close(store);
    store = open_table(max_entries, arena_bytes);
}

/* A trace of `count` frames that no other number shares. */
static const jw_frame *frames_of(uint64_t number, uint32_t count)
{
    static _Thread_local jw_frame frames[STORE_MAX_FRAMES + 1];

    for (uint32_t i = 0; i < count; i++)
        frames[i] = jw_frame_java(JW_FRAME_COMPILED, (uint32_t)(number * 31 + i), (int)i % 100);
    if (count > 0)
        frames[count - 1] = jw_frame_native(number);
    return frames;
}

static store_id put(uint64_t number, uint32_t count, uint32_t flags)
{
    return store_put(store, frames_of(number, count), count, flags);
}

static struct store_stats stats_now(void)
{
    struct store_stats stats;

    store_stats(store, &stats);
    return stats;
}

TestSuite(store, .init = open_small, .fini = close_store, .timeout = 1800);

Test(store, equal_traces_get_equal_ids)
{
    cr_assert(eq(u32, put(1, 20, 0), 1));
    cr_assert(eq(u32, put(2, 20, 0), 2));
    cr_assert(eq(u32, put(1, 20, 0), 1));
    cr_assert(eq(u32, stats_now().trace_count, 2));
    cr_assert(eq(u64, stats_now().frame_count, 40));
    cr_assert(eq(u32, store_last_id(store), 2));
}

Test(store, length_flags_and_every_frame_make_a_trace_another)
{
    jw_frame frames[33];

    memcpy(frames, frames_of(5, 33), sizeof frames);
    const store_id whole = store_put(store, frames, 33, 0);
    cr_assert(ne(u32, store_put(store, frames, 32, 0), whole));
    cr_assert(ne(u32, store_put(store, frames, 33, STORE_TRUNCATED), whole));
    for (int i = 0; i < 33; i++) {
        frames[i] ^= 1ull << 40;
        cr_assert(ne(u32, store_put(store, frames, 33, 0), whole));
        frames[i] ^= 1ull << 40;
    }
    cr_assert(eq(u32, store_put(store, frames, 33, 0), whole));
    cr_assert(eq(u32, stats_now().trace_count, 36));
}

Test(store, order_of_frames_matters)
{
    const jw_frame ab[] = {jw_frame_native(0x1000), jw_frame_native(0x2000)};
    const jw_frame ba[] = {jw_frame_native(0x2000), jw_frame_native(0x1000)};

    cr_assert(ne(u32, store_put(store, ab, 2, 0), store_put(store, ba, 2, 0)));
}

Test(store, a_hash_is_gone_on_with_from_any_frame_inwards)
{
    jw_frame frames[40];

    memcpy(frames, frames_of(9, 40), sizeof frames);
    const store_id whole = store_put(store, frames, 40, 0);
    for (uint32_t outer = 0; outer <= 40; outer++) {
        for (uint32_t middle = 0; middle + outer <= 40; middle++) {
            struct store_hash hash = {0};

            store_hash_before(&hash, frames + 40 - outer, outer);
            store_hash_before(&hash, frames + 40 - outer - middle, middle);
            store_hash_before(&hash, frames, 40 - outer - middle);
            cr_assert(eq(u32, store_put_hashed(store, frames, 40, 0, &hash), whole));
        }
    }
    cr_assert(eq(u32, stats_now().trace_count, 1));
}

Test(store, get_gives_back_what_was_put)
{
    const uint32_t counts[] = {0, 1, 2, 3, 4, 5, 100, 2048};

    for (size_t i = 0; i < JW_COUNT_OF(counts); i++) {
        const store_id id = put(i, counts[i], STORE_TRUNCATED | STORE_WALKER_AGCT);
        struct store_trace trace;

        cr_assert(store_get(store, id, &trace));
        cr_assert(eq(u32, trace.frame_count, counts[i]));
        cr_assert(eq(u32, trace.flags, STORE_TRUNCATED | STORE_WALKER_AGCT));
        cr_assert(eq(int, memcmp(trace.frames, frames_of(i, counts[i]), counts[i] * 8), 0));
    }
}

Test(store, get_refuses_what_is_no_id)
{
    struct store_trace trace;

    put(1, 3, 0);
    cr_assert(not(store_get(store, STORE_NONE, &trace)));
    cr_assert(not(store_get(store, 2, &trace)));
    cr_assert(not(store_get(store, UINT32_MAX, &trace)));
}

Test(store, m12_a_trace_may_be_empty_and_as_deep_as_the_limit)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_STORE_FULL);

    cr_assert(ne(u32, store_put(store, NULL, 0, STORE_FAILED), STORE_NONE));
    cr_assert(ne(u32, put(1, STORE_MAX_FRAMES, 0), STORE_NONE));
    cr_assert(eq(u32, put(1, STORE_MAX_FRAMES + 1, 0), STORE_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_STORE_FULL), lost + 1));
}

Test(store, full_store_takes_its_number_of_traces_and_counts_the_rest)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_STORE_FULL);

    for (uint32_t i = 0; i < 3000; i++)
        cr_assert(eq(u32, put(i, 5, 0), i < 1000 ? i + 1 : STORE_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_STORE_FULL), lost + 2000));
    cr_assert(eq(u64, stats_now().refused_count, 2000));
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert(eq(u32, put(i, 5, 0), i + 1));
}

Test(store, full_arena_refuses_and_counts_but_finds)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_STORE_FULL);

    reopen(1000, 8192);
    for (uint32_t i = 0; i < 20; i++)
        cr_assert(eq(u32, put(i, 123, 0), i < 8 ? i + 1 : STORE_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_STORE_FULL), lost + 12));
    cr_assert(eq(u64, stats_now().arena_bytes, 8 * (16 + 123 * 8)));
    cr_assert(eq(u32, store_last_id(store), 8));
    cr_assert(eq(u32, put(0, 123, 0), 1));
}

Test(store, m48_a_store_of_eight_survives_a_million_traces)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_STORE_FULL);

    reopen(8, 4096);
    for (uint32_t i = 0; i < 1000000; i++)
        put(i, 2, 0);
    cr_assert(eq(u32, stats_now().trace_count, 8));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_STORE_FULL), lost + 1000000 - 8));
}

struct visited {
    store_id next_id;
    unsigned wrong_count;
};

static void check_trace(store_id id, const struct store_trace *trace, void *arg)
{
    struct visited *visited = arg;

    visited->wrong_count +=
        id != visited->next_id++ || trace->frame_count != id % 7 + 1 ||
        memcmp(trace->frames, frames_of(id, id % 7 + 1), (id % 7 + 1) * sizeof(jw_frame)) != 0;
}

Test(store, each_visits_every_trace_once_by_rising_id)
{
    struct visited visited = {.next_id = 1};

    for (uint32_t i = 1; i <= 500; i++)
        put(i, i % 7 + 1, 0);
    cr_assert(eq(u32, store_each(store, check_trace, &visited), 500));
    cr_assert(eq(uint, visited.wrong_count, 0));
}

Test(store, clear_forgets_everything_and_ids_start_anew)
{
    struct store_trace trace;

    for (uint32_t life = 0; life < 5; life++) {
        for (uint32_t i = 0; i < 900; i++)
            cr_assert(eq(u32, put(life * 1000 + i, 9, 0), i + 1));
        store_clear(store);
        cr_assert(eq(u32, store_last_id(store), 0));
        cr_assert(not(store_get(store, 1, &trace)));
        cr_assert(eq(u32, stats_now().trace_count, 0));
        cr_assert(eq(u64, stats_now().arena_bytes, 0));
    }
}

/* Resident pages of the arena that a trace lies in, as the kernel counts them. */
static size_t resident_pages(uintptr_t start, size_t bytes)
{
    static unsigned char pages[4096];
    size_t resident = 0;

    cr_assert(le(sz, bytes / 4096, sizeof pages));
    cr_assert(eq(int, mincore((void *)(start / 4096 * 4096), bytes, pages), 0));
    for (size_t i = 0; i < bytes / 4096; i++)
        resident += pages[i] & 1;
    return resident;
}

static uintptr_t fill_arena(size_t bytes)
{
    struct store_trace trace;

    for (size_t i = 0; i < bytes / 4096; i++)
        cr_assert(eq(u32, put(i, 510, 0), i + 1));
    cr_assert(store_get(store, 1, &trace));
    return (uintptr_t)trace.frames;
}

Test(store, clear_keeps_pages_for_an_even_load_and_gives_a_spike_back_in_time)
{
    const size_t spike_bytes = (size_t)8 << 20;
    const size_t even_bytes = (size_t)1 << 20;

    reopen(10000, spike_bytes);
    const uintptr_t arena = fill_arena(even_bytes);
    store_clear(store);
    fill_arena(even_bytes);
    store_clear(store);
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), even_bytes / 4096), "even load");
    fill_arena(spike_bytes);
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), spike_bytes / 4096));
    store_clear(store);
    for (int life = 0; life < 30; life++) {
        fill_arena(even_bytes);
        store_clear(store);
    }
    cr_assert(eq(sz, resident_pages(arena, spike_bytes), even_bytes / 4096), "after the spike");
}

/* More traces than near slots: what a clear left in the far part would fill it, life by life. */
Test(store, a_clear_after_a_great_load_leaves_no_trace_behind)
{
    reopen(20000, (size_t)4 << 20);
    for (uint32_t life = 0; life < 20; life++) {
        for (uint32_t i = 0; i < 15000; i++)
            cr_assert(eq(u32, put(life * 15000 + i, 3, 0), i + 1));
        for (uint32_t i = 0; i < 15000; i++)
            cr_assert(eq(u32, put(life * 15000 + i, 3, 0), i + 1));
        store_clear(store);
    }
}

Test(store, config_out_of_range_is_refused_with_a_reason)
{
    const struct store_config bad[] = {
        {"bad", 0, 4096},
        {"bad", STORE_MAX_ENTRIES + 1, 4096},
        {"bad", 10, 10},
        {"bad", 10, (size_t)1 << 40},
    };

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        struct jw_error err = {0};

        cr_assert(store_open(&bad[i], &err) == NULL);
        cr_assert(strstr(err.message, "try") != NULL);
    }
}

Test(store, failed_allocation_is_reported)
{
    const struct store_config config = {"traces", 10, 4096};
    struct jw_error err = {0};

    jw_alloc_fail_after(1);
    struct store_table *opened = store_open(&config, &err);
    jw_alloc_fail_after(0);
    cr_assert(opened == NULL);
    cr_assert(strstr(err.message, "traces") != NULL);
    store_close(NULL);
}

#define RACERS      4
#define RACE_TRACES 5000

struct racer {
    pthread_barrier_t *start;
    store_id ids[RACE_TRACES];
};

static void *race(void *arg)
{
    struct racer *racer = arg;

    pthread_barrier_wait(racer->start);
    for (uint32_t i = 0; i < RACE_TRACES; i++)
        racer->ids[i] = put(i, 10, 0);
    return NULL;
}

Test(store, racing_threads_get_equal_ids_for_equal_traces)
{
    struct racer *racers = calloc(RACERS, sizeof *racers);
    pthread_t threads[RACERS];
    pthread_barrier_t start;

    reopen(RACERS * RACE_TRACES, 8 << 20); /* each may lose each race, and an id with it */
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++) {
        racers[i].start = &start;
        cr_assert(eq(int, pthread_create(&threads[i], NULL, race, &racers[i]), 0));
    }
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < RACE_TRACES; i++) {
        struct store_trace trace;

        cr_assert(store_get(store, racers[0].ids[i], &trace));
        cr_assert(eq(int, memcmp(trace.frames, frames_of(i, 10), 10 * sizeof(jw_frame)), 0));
        for (int j = 1; j < RACERS; j++)
            cr_assert(eq(u32, racers[j].ids[i], racers[0].ids[i]));
    }
    cr_assert(eq(u32, stats_now().trace_count, RACE_TRACES));
    cr_assert(
        eq(u64, stats_now().waste_bytes, (store_last_id(store) - RACE_TRACES) * (16ull + 10 * 8)));
    pthread_barrier_destroy(&start);
    free(racers);
}
