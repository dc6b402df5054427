/* Event records: each committed one is taken once, each refused one counted. */
#include "event/event.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counters.h"

#define SMALL_COUNT (EVENT_SHARDS * 64) /* one page a shard */

static struct event_ring *ring;

static struct event_ring *open_ring(size_t capacity_count)
{
    struct jw_error err = {0};
    struct event_ring *opened = event_open(capacity_count, &err);

    cr_assert(opened != NULL, "%s", err.message);
    return opened;
}

static void open_small(void)
{
    ring = open_ring(SMALL_COUNT);
}

static void close_ring(void)
{
    event_close(ring);
}

static struct event_record *reserve(uint64_t value)
{
    struct event_record *record = event_reserve(ring);

    if (record != NULL) {
        record->kind = EVENT_CPU_SAMPLE;
        record->value = value;
    }
    return record;
}

struct taken {
    uint64_t count;
    uint64_t sum;
};

static void add(const struct event_record *record, void *arg)
{
    struct taken *taken = arg;

    taken->count++;
    taken->sum += record->value;
}

static struct taken take_all(void)
{
    struct taken taken = {0};

    cr_assert(eq(u64, event_take(ring, add, &taken), taken.count));
    return taken;
}

TestSuite(event, .init = open_small, .fini = close_ring, .timeout = 1800);

Test(event, a_reserved_record_is_zero_and_has_a_line_of_its_own)
{
    static const unsigned char zeroes[EVENT_RECORD_BYTES];
    const struct event_record *record = event_reserve(ring);

    cr_assert(eq(int, memcmp(record, zeroes, sizeof zeroes), 0));
    cr_assert(eq(sz, (uintptr_t)record % EVENT_RECORD_BYTES, 0));
}

Test(event, committed_records_are_taken_exactly_once)
{
    for (uint64_t i = 1; i <= 10; i++)
        event_commit(reserve(i));
    const struct taken first = take_all();
    cr_assert(eq(u64, first.count, 10));
    cr_assert(eq(u64, first.sum, 55));
    cr_assert(eq(u64, take_all().count, 0));
    event_commit(reserve(100));
    cr_assert(eq(u64, take_all().sum, 100));
}

Test(event, records_that_were_looked_at_are_still_to_be_taken)
{
    struct taken seen = {0};

    event_commit(reserve(1));
    cr_assert(eq(u64, take_all().sum, 1));
    event_commit(reserve(2));
    struct event_record *late = reserve(1000);
    event_commit(reserve(4));
    event_look(ring, add, &seen);
    event_look(ring, add, &seen);
    cr_assert(eq(u64, seen.count, 4));
    cr_assert(eq(u64, seen.sum, 12));
    cr_assert(eq(u64, take_all().sum, 6));
    event_commit(late);
}

Test(event, uncommitted_records_are_left_for_later)
{
    struct event_record *late = reserve(1000);

    event_commit(reserve(1));
    event_commit(reserve(2));
    cr_assert(eq(u64, take_all().sum, 3));
    event_commit(reserve(4));
    cr_assert(eq(u64, take_all().sum, 4));
    event_commit(late);
    cr_assert(eq(u64, take_all().sum, 1000));
    cr_assert(eq(u64, take_all().count, 0));
}

Test(event, one_thread_can_use_every_shard_and_the_rest_is_counted)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_EVENTS_FULL);

    cr_assert(eq(u64, event_capacity_count(ring), SMALL_COUNT));
    for (uint64_t i = 0; i < SMALL_COUNT; i++) {
        struct event_record *record = reserve(i);

        cr_assert(record != NULL);
        event_commit(record);
        cr_assert(eq(u64, event_reserved_count(ring), i + 1));
    }
    for (int i = 0; i < 500; i++)
        cr_assert(event_reserve(ring) == NULL);
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_EVENTS_FULL), lost + 500));
    cr_assert(eq(u64, event_reserved_count(ring), SMALL_COUNT));

    const struct taken taken = take_all();
    cr_assert(eq(u64, taken.count, SMALL_COUNT));
    cr_assert(eq(u64, taken.sum, (uint64_t)SMALL_COUNT * (SMALL_COUNT - 1) / 2));
}

Test(event, what_samples_go_before_leaves_them_a_quarter)
{
    const uint64_t capacity = event_capacity_count(ring);
    uint64_t spare = 0, more = 0;

    for (struct event_record *record; (record = event_spare_reserve(ring)) != NULL; spare++)
        event_commit(record);
    cr_assert(eq(u64, spare, capacity / 4 * 3));
    for (; reserve(1) != NULL; more++)
        cr_assert(eq(ptr, event_spare_reserve(ring), NULL));
    cr_assert(eq(u64, spare + more, capacity));
}

Test(event, stats_count_reserved_committed_taken_and_refused)
{
    struct event_stats stats;

    reserve(1);
    event_commit(reserve(2));
    take_all();
    event_commit(reserve(3));
    event_stats(ring, &stats);
    cr_assert(eq(u64, stats.reserved_count, 3));
    cr_assert(eq(u64, stats.committed_count, 2));
    cr_assert(eq(u64, stats.taken_count, 1));
    cr_assert(eq(u64, stats.capacity_count, SMALL_COUNT));
    cr_assert(eq(u64, stats.refused_count, 0));
    for (int i = 0; i < SMALL_COUNT; i++)
        reserve(4);
    event_stats(ring, &stats);
    cr_assert(eq(u64, stats.refused_count, 3));
}

Test(event, clear_zeroes_and_tells_how_many_were_never_committed)
{
    static const unsigned char zeroes[EVENT_RECORD_BYTES];

    for (int life = 0; life < 4; life++) {
        reserve(7);
        reserve(8);
        event_commit(reserve(9));
        cr_assert(eq(u64, take_all().count, 1));
        cr_assert(eq(u64, event_clear(ring), 2));
        cr_assert(eq(u64, event_reserved_count(ring), 0));
        cr_assert(eq(u64, take_all().count, 0));

        struct event_record *record = event_reserve(ring);
        cr_assert(eq(int, memcmp(record, zeroes, sizeof zeroes), 0));
        event_commit(record);
        cr_assert(eq(u64, take_all().count, 1));
        cr_assert(eq(u64, event_clear(ring), 0));
    }
}

static size_t resident_pages(const void *start, size_t bytes)
{
    static unsigned char pages[4096];
    size_t resident = 0;

    cr_assert(le(sz, bytes / 4096, sizeof pages));
    cr_assert(eq(int, mincore((void *)((uintptr_t)start / 4096 * 4096), bytes, pages), 0));
    for (size_t i = 0; i < bytes / 4096; i++)
        resident += pages[i] & 1;
    return resident;
}

/* Commits and takes `count` records; where the first one lies. */
static const void *fill(size_t count)
{
    const void *first = NULL;

    for (size_t i = 0; i < count; i++) {
        struct event_record *record = reserve(i);

        cr_assert(record != NULL);
        event_commit(record);
        if (first == NULL)
            first = record;
    }
    cr_assert(eq(u64, take_all().count, count));
    return first;
}

Test(event, clear_keeps_pages_for_an_even_load_and_gives_a_spike_back_in_time)
{
    const size_t shard_bytes = (size_t)1 << 20;
    const size_t spike_count = shard_bytes / EVENT_RECORD_BYTES;

    event_close(ring);
    ring = open_ring(EVENT_SHARDS * spike_count);
    const void *shard = fill(640);
    event_clear(ring);
    fill(640);
    event_clear(ring);
    cr_assert(eq(sz, resident_pages(shard, shard_bytes), 10), "even load");
    fill(spike_count);
    cr_assert(eq(sz, resident_pages(shard, shard_bytes), shard_bytes / 4096));
    event_clear(ring);
    for (int life = 0; life < 30; life++) {
        fill(640);
        event_clear(ring);
    }
    cr_assert(eq(sz, resident_pages(shard, shard_bytes), 16), "what is never given back");
}

Test(event, capacity_out_of_range_is_refused_with_a_reason)
{
    struct jw_error err = {0};

    cr_assert(event_open(0, &err) == NULL);
    cr_assert(strstr(err.message, "try") != NULL);
    jw_error_clear(&err);
    cr_assert(event_open(SIZE_MAX, &err) == NULL);
    cr_assert(strstr(err.message, "try") != NULL);
}

Test(event, failed_allocation_is_reported)
{
    struct jw_error err = {0};

    jw_alloc_fail_after(1);
    struct event_ring *opened = event_open(10, &err);
    jw_alloc_fail_after(0);
    cr_assert(opened == NULL);
    cr_assert(strstr(err.message, "event ring") != NULL);
    event_close(NULL);
}

#define WRITERS     4
#define PER_WRITER  20000
#define LOSING_SIZE (WRITERS * PER_WRITER / 2)

struct writer {
    uint64_t committed_sum;
    uint64_t refused_count;
};

static void *write_records(void *arg)
{
    struct writer *writer = arg;

    for (uint64_t i = 1; i <= PER_WRITER; i++) {
        struct event_record *record = reserve(i);

        if (record == NULL) {
            writer->refused_count++;
            continue;
        }
        writer->committed_sum += i;
        event_commit(record);
    }
    return NULL;
}

Test(event, nothing_is_lost_or_doubled_while_threads_write_and_one_takes)
{
    struct writer writers[WRITERS] = {{0}};
    pthread_t threads[WRITERS];
    struct taken taken = {0};
    uint64_t committed_sum = 0, refused_count = 0;
    const uint64_t lost = jw_counter(JW_COUNT_LOST_EVENTS_FULL);

    event_close(ring);
    ring = open_ring(LOSING_SIZE);
    for (int i = 0; i < WRITERS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, write_records, &writers[i]), 0));
    for (int i = 0; i < 200; i++)
        event_take(ring, add, &taken);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        committed_sum += writers[i].committed_sum;
        refused_count += writers[i].refused_count;
    }
    event_take(ring, add, &taken);
    cr_assert(eq(u64, taken.count, event_capacity_count(ring)));
    cr_assert(eq(u64, taken.count + refused_count, WRITERS * PER_WRITER));
    cr_assert(eq(u64, taken.sum, committed_sum));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_EVENTS_FULL), lost + refused_count));
}
