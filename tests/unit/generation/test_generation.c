/* Three generations: what lives in one, when it is cleared, how a budget is split. */
#include "generation/generation.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"

#define TID 4711

static struct generations *generations;

static void open_small(void)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES};
    struct jw_error err = {0};

    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
}

static void close_generations(void)
{
    generations_close(generations);
}

static struct generation *enter(struct epoch_ticket *ticket)
{
    struct generation *generation = generation_enter(generations, TID, ticket);

    cr_assert(generation != NULL);
    return generation;
}

/* A whole sample with a class of this number, left uncommitted. */
static struct event_record *write_sample(struct generation *generation, unsigned number)
{
    char name[24];
    const int length = snprintf(name, sizeof name, "class.%u", number);
    const jw_frame frame = jw_frame_native(number);
    struct event_record *record = event_reserve(generation->events);

    cr_assert(record != NULL);
    record->kind = EVENT_CPU_SAMPLE;
    record->value = number;
    record->time_ns = jw_now_ns();
    record->class_name = dict_intern(generation->classes, name, (size_t)length);
    record->trace = store_put(generation->traces, &frame, 1, 0);
    return record;
}

static void sample(unsigned number)
{
    struct epoch_ticket ticket;

    event_commit(write_sample(enter(&ticket), number));
    generation_leave(generations, &ticket);
}

struct taken {
    struct generation *generation;
    uint64_t count;
    uint64_t unresolved_count;
    uint64_t sum;
};

static void check_record(const struct event_record *record, void *arg)
{
    struct taken *taken = arg;
    char name[24];
    const size_t length = (size_t)snprintf(name, sizeof name, "class.%u", (unsigned)record->value);
    size_t length_bytes;
    const void *text = dict_text(taken->generation->classes, record->class_name, &length_bytes);
    struct store_trace trace;

    taken->count++;
    taken->sum += record->value;
    taken->unresolved_count +=
        text == NULL || length_bytes != length || memcmp(text, name, length) != 0 ||
        !store_get(taken->generation->traces, record->trace, &trace) || trace.frame_count != 1 ||
        jw_frame_pc(trace.frames[0]) != record->value ||
        record->time_ns < taken->generation->start_ns;
}

static void take_from(struct generation *generation, struct taken *taken)
{
    taken->generation = generation;
    event_take(generation->events, check_record, taken);
}

static bool take_late(struct generation *generation, void *arg)
{
    take_from(generation, arg);
    return true;
}

TestSuite(generation, .init = open_small, .fini = close_generations, .timeout = 1800);

Test(generation, starts_with_number_1_and_all_parts)
{
    struct epoch_ticket ticket;
    const struct generation *generation = enter(&ticket);

    cr_assert(eq(u64, generation->number, 1));
    cr_assert(ge(u64, generation->start_ns, 1));
    cr_assert(le(u64, generation->start_ns, jw_now_ns()));
    cr_assert(generation->classes != NULL && generation->symbols != NULL &&
              generation->methods != NULL && generation->method_cache != NULL &&
              generation->traces != NULL && generation->events != NULL);
    generation_leave(generations, &ticket);
}

Test(generation, rotation_returns_the_closed_one_and_starts_the_next)
{
    struct epoch_ticket ticket;
    struct generation *first = enter(&ticket);

    generation_leave(generations, &ticket);
    cr_assert(eq(ptr, generations_rotate(generations), first));

    const struct generation *second = enter(&ticket);
    cr_assert(ne(ptr, (void *)(uintptr_t)second, first));
    cr_assert(eq(u64, second->number, 2));
    cr_assert(ge(u64, second->start_ns, first->start_ns));
    generation_leave(generations, &ticket);
}

Test(generation, samples_resolve_in_their_generation_and_are_gone_after_it)
{
    for (unsigned life = 1; life <= 20; life++) {
        struct taken taken = {0};

        for (unsigned i = 0; i < 100; i++)
            sample(life * 1000 + i);
        struct generation *closed = generations_rotate(generations);
        cr_assert(eq(u64, closed->number, life));
        take_from(closed, &taken);
        cr_assert(eq(u64, taken.count, 100));
        cr_assert(eq(u64, taken.unresolved_count, 0));
        cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
        cr_assert(eq(u64, taken.count, 100));
        cr_assert(eq(u32, dict_last_id(closed->classes), 0));
        cr_assert(eq(u32, store_last_id(closed->traces), 0));
        cr_assert(eq(u64, event_reserved_count(closed->events), 0));
    }
}

Test(generation, free_memory_is_sealed_where_the_test_wants_it_so)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES,
                                              .is_free_sealed = true};
    struct jw_error err = {0};
    struct taken taken = {0};
    struct epoch_ticket ticket;
    size_t length_bytes;
    int ends[2];

    generations_close(generations);
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    cr_assert(eq(int, pipe(ends), 0));
    for (int life = 1; life <= 7; life++) {
        struct event_record *record = write_sample(enter(&ticket), 1);
        struct generation *closed = generations_rotate(generations);
        const void *name = dict_text(closed->classes, record->class_name, &length_bytes);

        event_commit(record);
        generation_leave(generations, &ticket);
        /* The kernel says EFAULT where the program itself would be ended. */
        cr_assert(eq(long, syscall(SYS_write, ends[1], name, 1), 1), "closed is not free");
        cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
        cr_assert(eq(long, syscall(SYS_write, ends[1], name, 1), -1));
        cr_assert(eq(long, syscall(SYS_write, ends[1], record, 1), -1));
    }
    cr_assert(eq(u64, taken.count, 7));
    cr_assert(eq(u64, taken.unresolved_count, 0));
    close(ends[0]);
    close(ends[1]);
}

Test(generation, a_late_record_is_taken_before_the_clear_and_counted)
{
    const uint64_t late = jw_counter(JW_COUNT_LATE_RECORDS);
    struct epoch_ticket ticket;
    struct taken taken = {0};
    struct event_record *record = write_sample(enter(&ticket), 77);

    sample(1);
    take_from(generations_rotate(generations), &taken);
    cr_assert(eq(u64, taken.sum, 1));
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 0), "somebody inside");
    cr_assert(eq(u64, jw_counter(JW_COUNT_LATE_RECORDS), late));
    event_commit(record);
    generation_leave(generations, &ticket);
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
    cr_assert(eq(u64, taken.sum, 78));
    cr_assert(eq(u64, taken.unresolved_count, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LATE_RECORDS), late + 1));
}

Test(generation, what_was_there_before_a_session_is_forgotten_and_counted)
{
    const uint64_t forgotten = jw_counter(JW_COUNT_RECORDS_FORGOTTEN);
    struct epoch_ticket ticket;
    struct taken taken = {0};

    /* One record in a closed generation that somebody keeps closed, one that comes late into it, one in the active. */
    struct event_record *late = write_sample(enter(&ticket), 1);
    sample(2);
    cr_assert(generations_rotate(generations) != NULL);
    event_commit(late);
    sample(3);
    generations_forget(generations);
    cr_assert(eq(u64, jw_counter(JW_COUNT_RECORDS_FORGOTTEN), forgotten + 3));
    generation_leave(generations, &ticket);

    sample(40);
    take_from(generations_rotate(generations), &taken);
    (void)generations_retire(generations, take_late, &taken);
    cr_assert(eq(u64, taken.sum, 40), "the next session holds its own records alone");
}

static bool take_nothing(struct generation *generation, void *arg)
{
    (void)generation;
    return *(bool *)arg;
}

Test(generation, nothing_is_cleared_while_records_are_wanted_or_untaken)
{
    bool answer = false;
    struct taken taken = {0};

    sample(5);
    struct generation *closed = generations_rotate(generations);
    cr_assert(eq(u32, generations_retire(generations, take_nothing, &answer), 0));
    answer = true;
    cr_assert(eq(u32, generations_retire(generations, take_nothing, &answer), 0));
    cr_assert(eq(u32, dict_last_id(closed->classes), 1));
    take_from(closed, &taken);
    cr_assert(eq(u64, taken.sum, 5));
    cr_assert(eq(u32, generations_retire(generations, take_nothing, &answer), 1));
}

Test(generation, rotation_is_put_off_and_the_active_one_goes_on)
{
    const uint64_t put_off = jw_counter(JW_COUNT_ROTATION_PUT_OFF);
    struct taken taken = {0};

    cr_assert(generations_rotate(generations) != NULL);
    cr_assert(generations_rotate(generations) != NULL);
    sample(1);
    cr_assert(generations_rotate(generations) == NULL);
    cr_assert(eq(u64, jw_counter(JW_COUNT_ROTATION_PUT_OFF), put_off + 1));
    sample(2);
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 2));
    struct generation *closed = generations_rotate(generations);
    cr_assert(eq(u64, closed->number, 3));
    take_from(closed, &taken);
    cr_assert(eq(u64, taken.count, 2));
}

Test(generation, abandoned_records_are_counted)
{
    struct generations_stats stats;
    struct taken taken = {0};
    struct epoch_ticket ticket;

    write_sample(enter(&ticket), 1);
    generation_leave(generations, &ticket);
    generations_rotate(generations);
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
    generations_stats(generations, &stats);
    cr_assert(eq(u64, stats.abandoned_count, 1));
    cr_assert(eq(u64, taken.count, 0));
}

Test(generation, is_half_full_when_records_are)
{
    struct epoch_ticket ticket;
    const uint64_t half = event_capacity_count(enter(&ticket)->events) / 2;

    generation_leave(generations, &ticket);
    for (uint64_t i = 0; i < half; i++) {
        cr_assert(not(generations_is_half_full(generations)));
        sample(1);
    }
    cr_assert(generations_is_half_full(generations));
    generations_rotate(generations);
    cr_assert(not(generations_is_half_full(generations)));
}

Test(generation, has_room_to_spare_until_three_quarters_of_its_records_are_reserved)
{
    struct epoch_ticket ticket;
    const uint64_t most = event_capacity_count(enter(&ticket)->events) / 4 * 3;

    generation_leave(generations, &ticket);
    for (uint64_t i = 0; i < most; i++) {
        cr_assert(generations_has_spare(generations));
        sample(1);
    }
    cr_assert(not(generations_has_spare(generations)));
    generations_rotate(generations);
    cr_assert(generations_has_spare(generations));
}

Test(generation, is_half_full_when_names_or_traces_are)
{
    enum { CLASSES, SYMBOLS, METHODS, TRACES, PARTS };

    for (int part = 0; part < PARTS; part++) {
        struct epoch_ticket ticket;
        struct taken taken = {0};
        struct generation *generation = enter(&ticket);
        uint64_t number = 0;

        while (!generations_is_half_full(generations)) {
            struct dict_table *tables[] = {generation->classes, generation->symbols,
                                           generation->methods};
            const jw_frame frame = number++;

            cr_assert(lt(u64, number, 100000));
            if (part == TRACES)
                cr_assert(ne(u32, store_put(generation->traces, &frame, 1, 0), STORE_NONE));
            else
                cr_assert(ne(u32, dict_intern(tables[part], &frame, sizeof frame), DICT_NONE));
        }
        cr_assert(ge(u64, number, 201));
        generation_leave(generations, &ticket);
        generations_rotate(generations);
        cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
    }
}

static bool nobody_lives(uint32_t tid, void *arg)
{
    *(uint32_t *)arg = tid;
    return false;
}

Test(generation, the_cell_of_a_dead_thread_does_not_hold_a_generation)
{
    struct epoch_ticket ticket;
    struct taken taken = {0};
    uint32_t asked_tid = 0;

    write_sample(enter(&ticket), 3);
    generations_rotate(generations);
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 0));
    cr_assert(eq(u32, generations_empty_dead_cells(generations, nobody_lives, &asked_tid), 1));
    cr_assert(eq(u32, asked_tid, TID));
    cr_assert(eq(u32, generations_retire(generations, take_late, &taken), 1));
}

Test(generation, stats_add_up)
{
    struct generations_stats stats;
    struct epoch_ticket ticket;

    generations_stats(generations, &stats);
    cr_assert(eq(u64, stats.number, 1));
    cr_assert(eq(u32, stats.free_count, 2));
    cr_assert(eq(u32, stats.closed_count, 0));
    cr_assert(eq(u64, stats.used_bytes, 0));
    cr_assert(eq(u64, stats.reserved_bytes, GENERATIONS_MIN_BYTES));

    sample(1);
    generations_rotate(generations);
    enter(&ticket);
    generations_stats(generations, &stats);
    cr_assert(eq(u64, stats.number, 2));
    cr_assert(eq(u32, stats.free_count, 1));
    cr_assert(eq(u32, stats.closed_count, 1));
    cr_assert(eq(u32, stats.cells_taken, 1));
    /* A record; a name of 7 bytes and a trace of one frame, each with its header and index. */
    cr_assert(eq(u64, stats.used_bytes,
                 EVENT_RECORD_BYTES + 16 + DICT_INDEX_BYTES + 24 + STORE_INDEX_BYTES));
    generation_leave(generations, &ticket);
}

Test(generation, a_budget_out_of_range_is_refused_with_a_reason)
{
    const size_t bad[] = {1, GENERATIONS_MIN_BYTES - 1, GENERATIONS_MAX_BYTES + 1};

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        const struct generations_config config = {.memory_bytes = bad[i]};
        struct jw_error err = {0};

        cr_assert(generations_open(&config, &err) == NULL);
        cr_assert(strstr(err.message, "try") != NULL);
    }
}

/* Bytes of address space of this process. */
static size_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    cr_assert(statm != NULL);
    cr_assert(eq(int, fscanf(statm, "%lu", &pages), 1));
    fclose(statm);
    return pages * 4096;
}

Test(generation, the_whole_stays_within_its_budget)
{
    const size_t budgets[] = {GENERATIONS_MIN_BYTES, (size_t)10 << 20, (size_t)64 << 20,
                              (size_t)500 << 20, (size_t)2000 << 20};

    for (size_t i = 0; i < JW_COUNT_OF(budgets); i++) {
        const struct generations_config config = {.memory_bytes = budgets[i]};
        struct jw_error err = {0};
        const size_t before = mapped_bytes();
        struct generations *opened = generations_open(&config, &err);
        const size_t mapped = mapped_bytes() - before;

        cr_assert(opened != NULL, "%s", err.message);
        generations_close(opened);
        cr_assert(le(sz, mapped, budgets[i] + 65536), "%zu for %zu", mapped, budgets[i]);
        cr_assert(ge(sz, mapped, budgets[i] / 2), "%zu for %zu", mapped, budgets[i]);
    }
}

Test(generation, m50_every_failed_allocation_is_reported_and_leaves_nothing)
{
    const struct generations_config config = {0};
    uint64_t nth = 0;

    for (bool is_open = false; !is_open;) {
        struct jw_error err = {0};

        jw_alloc_fail_after(++nth);
        struct generations *opened = generations_open(&config, &err);
        jw_alloc_fail_after(0);
        is_open = opened != NULL;
        cr_assert(is_open || err.message[0] != '\0');
        generations_close(opened);
    }
    cr_assert(eq(u64, nth, 1 + 3 * 10 + 1), "the struct, ten parts thrice, then none failed");
}
