/* Endpoints, spans and tasks: records of the generation, or a counted no. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "context/context_internal.h"
#include "thread/thread_tls.h"

static struct generations *generations;

static void open_all(void)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES};
    struct jw_error err = {0};

    cr_assert(contexts_open(&err), "%s", err.message);
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
}

static void close_all(void)
{
    generations_close(generations);
}

TestSuite(context_events, .init = open_all, .fini = close_all, .timeout = 1800);

static struct context_text text(const char *bytes)
{
    return (struct context_text){bytes, strlen(bytes)};
}

struct taken {
    struct generation *generation;
    struct event_record last;
    uint64_t count;
};

static void keep(const struct event_record *record, void *argument)
{
    struct taken *taken = argument;

    memcpy(&taken->last, record, sizeof taken->last);
    taken->count++;
}

static struct taken take(void)
{
    struct taken taken = {.generation = generations_rotate(generations)};

    cr_assert(taken.generation != NULL);
    event_take(taken.generation->events, keep, &taken);
    return taken;
}

static bool is_name(const struct taken *taken, dict_id id, const char *expected)
{
    size_t length_bytes;
    const void *name = dict_text(taken->generation->endpoints, id, &length_bytes);

    return name != NULL && length_bytes == strlen(expected) &&
           memcmp(name, expected, length_bytes) == 0;
}

Test(context_events, an_endpoint_is_a_record)
{
    cr_assert(context_endpoint(generations, 42, text("GET /orders"), text("orders.list"),
                               CONTEXT_NO_SLOT));
    const struct taken taken = take();
    cr_assert(eq(u64, taken.count, 1));
    cr_assert(eq(u16, taken.last.kind, EVENT_ENDPOINT));
    cr_assert(eq(u64, taken.last.value, 42));
    cr_assert(is_name(&taken, taken.last.name, "GET /orders"));
    cr_assert(is_name(&taken, taken.last.operation, "orders.list"));
    cr_assert(eq(u32, taken.last.thread_index, THREAD_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_ENDPOINTS), 1));
}

Test(context_events, a_thread_that_is_known_is_named)
{
    struct jw_error err = {0};
    bool is_new;

    cr_assert(threads_open(&err));
    const thread_index index = thread_add(thread_own_tid(), &is_new);
    cr_assert(context_endpoint(generations, 42, text("GET /"), (struct context_text){NULL, 0},
                               CONTEXT_NO_SLOT));
    const struct taken taken = take();
    cr_assert(eq(u32, taken.last.thread_index, index));
    cr_assert(eq(u64, taken.last.thread_serial, thread_serial(index)));
    cr_assert(eq(u32, taken.last.operation, DICT_NONE));
}

Test(context_events, without_a_session_they_are_counted_as_idle)
{
    cr_assert(not(context_endpoint(NULL, 42, text("GET /"), text(""), CONTEXT_NO_SLOT)));
    cr_assert(not(context_span(NULL, text("query"), 1, 2, CONTEXT_NO_SLOT)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_IDLE), 2));
}

Test(context_events, no_name_and_no_time_are_refused_and_counted)
{
    cr_assert(not(context_endpoint(generations, 42, text(""), text("op"), CONTEXT_NO_SLOT)));
    cr_assert(not(context_span(generations, text(""), 1, 2, CONTEXT_NO_SLOT)));
    cr_assert(not(context_span(generations, text("query"), 2, 1, CONTEXT_NO_SLOT)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_EVENTS_REFUSED), 3));
    cr_assert(eq(u64, take().count, 0));
}

Test(context_events, a_long_name_is_cut_at_a_character)
{
    static char longest[65536];

    memset(longest, 'a', sizeof longest);
    memcpy(longest + CONTEXT_ENDPOINT_MAX_BYTES - 1, "\xe2\x82\xac", 3);
    cr_assert(context_endpoint(generations, 1, (struct context_text){longest, sizeof longest},
                               text(""), CONTEXT_NO_SLOT));
    const struct taken taken = take();
    size_t length_bytes;
    cr_assert(dict_text(taken.generation->endpoints, taken.last.name, &length_bytes) != NULL);
    cr_assert(eq(sz, length_bytes, CONTEXT_ENDPOINT_MAX_BYTES - 1));
    memset(longest, 0x80, sizeof longest);
    cr_assert(context_endpoint(generations, 1, (struct context_text){longest, sizeof longest},
                               text(""), CONTEXT_NO_SLOT),
              "what is no text at all is kept, and replaced when it is written");
}

Test(context_events, bytes_are_kept_as_they_are)
{
    cr_assert(context_endpoint(generations, 1, (struct context_text){"a\0b\xff", 4}, text(""),
                               CONTEXT_NO_SLOT));
    const struct taken taken = take();
    size_t length_bytes;
    const void *name = dict_text(taken.generation->endpoints, taken.last.name, &length_bytes);
    cr_assert(eq(sz, length_bytes, 4));
    cr_assert(memcmp(name, "a\0b\xff", 4) == 0);
}

Test(context_events, an_endpoint_has_the_trace_of_its_request_alone)
{
    const context_slot slot = context_bind(7, true);
    struct context_record record;

    context_set(slot, &(struct context_ids){1, 2, 3, 42});
    cr_assert(context_endpoint(generations, 42, text("GET /"), text(""), slot));
    const struct taken of_it = take();
    cr_assert(context_record_get(of_it.generation->contexts, of_it.last.context, &record));
    cr_assert(eq(u64, record.root_span_id, 42));
    cr_assert(eq(u8, record.trace_id[15], 2));

    cr_assert(context_endpoint(generations, 43, text("GET /"), text(""), slot));
    cr_assert(eq(u32, take().last.context, DICT_NONE));
}

Test(context_events, a_span_has_its_times_and_the_context_of_its_slot)
{
    const context_slot slot = context_bind(7, true);
    struct context_record record;

    context_set(slot, &(struct context_ids){1, 2, 3, 4});
    cr_assert(context_span(generations, text("query"), 1000, 1500, slot));
    const struct taken taken = take();
    cr_assert(eq(u16, taken.last.kind, EVENT_SPAN));
    cr_assert(eq(u64, taken.last.time_ns, 1000));
    cr_assert(eq(u64, taken.last.weight_ns, 500));
    cr_assert(is_name(&taken, taken.last.name, "query"));
    cr_assert(context_record_get(taken.generation->contexts, taken.last.context, &record));
    cr_assert(eq(u64, record.span_id, 3));
    cr_assert(eq(u64, jw_counter(JW_COUNT_SPANS), 1));
}

Test(context_events, what_does_not_fit_is_refused_and_no_sample_is_said_to_be_lost)
{
    uint64_t given = 0;

    for (int i = 0; i < 100000; i++)
        given += context_endpoint(generations, 1, text("GET /"), text(""), CONTEXT_NO_SLOT);
    cr_assert(lt(u64, given, 100000));
    cr_assert(eq(u64, take().count, given));
    cr_assert(eq(u64, jw_counter(JW_COUNT_ENDPOINTS), given));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_EVENTS_REFUSED), 100000 - given));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_EVENTS_FULL), 0));
}

#define THREADS 1000
#define EACH    20

static void *tell(void *argument)
{
    uintptr_t given = 0;

    for (int i = 0; i < EACH; i++)
        given += context_endpoint(generations, (uint64_t)(uintptr_t)argument, text("GET /"),
                                  text("op"), CONTEXT_NO_SLOT);
    return (void *)given;
}

static bool take_late(struct generation *generation, void *argument)
{
    event_take(generation->events, keep, argument);
    return true;
}

/* While the dump thread rotates: what was said to be recorded is recorded, once. */
Test(context_events, a_thousand_threads_during_a_dump_lose_nothing_unsaid)
{
    pthread_t *threads = calloc(THREADS, sizeof *threads);
    struct taken taken = {0};
    uint64_t given = 0;

    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, tell, (void *)i), 0));
    for (int i = 0; i < THREADS; i++) {
        struct generation *closed = generations_rotate(generations);
        void *got;

        if (closed != NULL)
            event_take(closed->events, keep, &taken);
        generations_retire(generations, take_late, &taken);
        pthread_join(threads[i], &got);
        given += (uintptr_t)got;
    }
    for (int i = 0; i < 2; i++) {
        struct generation *closed = generations_rotate(generations);

        if (closed != NULL)
            event_take(closed->events, keep, &taken);
        generations_retire(generations, take_late, &taken);
    }
    cr_assert(eq(u64, taken.count, given));
    cr_assert(eq(u64, jw_counter(JW_COUNT_ENDPOINTS), given));
    cr_assert(
        eq(u64, jw_counter(JW_COUNT_CONTEXT_EVENTS_REFUSED), (uint64_t)THREADS * EACH - given));
    free(threads);
}

Test(context_events, an_endpoint_is_known_by_its_root_span_with_and_without_a_session)
{
    char told[CONTEXT_TOLD_BYTES], long_name[CONTEXT_TOLD_BYTES + 3];

    cr_expect_eq(context_endpoint_of(77, told), 0);
    cr_expect_not(context_endpoint(NULL, 77, text("GET /a"), text(""), CONTEXT_NO_SLOT));
    cr_assert_eq(context_endpoint_of(77, told), 6);
    cr_expect(memcmp(told, "GET /a", 6) == 0);
    cr_expect(context_endpoint(generations, 77, text("GET /bb"), text("x"), CONTEXT_NO_SLOT));
    cr_assert_eq(context_endpoint_of(77, told), 7);
    cr_expect(memcmp(told, "GET /bb", 7) == 0);
    cr_expect_eq(context_endpoint_of(78, told), 0);
    /* Nothing is of no root span, and nothing is no endpoint. */
    (void)context_endpoint(NULL, 0, text("GET /c"), text(""), CONTEXT_NO_SLOT);
    (void)context_endpoint(NULL, 79, text(""), text(""), CONTEXT_NO_SLOT);
    cr_expect_eq(context_endpoint_of(0, told), 0);
    cr_expect_eq(context_endpoint_of(79, told), 0);
    /* Cut at a character: the last one has two bytes. */
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name + CONTEXT_TOLD_BYTES - 1, "\xc3\xa4z", 3);
    (void)context_endpoint(NULL, 80, (struct context_text){long_name, CONTEXT_TOLD_BYTES + 2},
                           text(""), CONTEXT_NO_SLOT);
    cr_expect_eq(context_endpoint_of(80, told), CONTEXT_TOLD_BYTES - 1);
}

static void *tell_same(void *name)
{
    char told[CONTEXT_TOLD_BYTES];

    for (int i = 0; i < 20000; i++) {
        (void)context_endpoint(NULL, 81, text(name), text(""), CONTEXT_NO_SLOT);
        const size_t length_bytes = context_endpoint_of(81, told);
        for (size_t j = 1; j < length_bytes; j++)
            cr_assert_eq(told[j], told[0]);
    }
    return NULL;
}

Test(context_events, an_endpoint_is_never_half_of_another)
{
    char short_name[] = "aaaaaaaaaaaaaaaaaaaa", long_name[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    pthread_t other;

    cr_assert_eq(pthread_create(&other, NULL, tell_same, short_name), 0);
    tell_same(long_name);
    cr_assert_eq(pthread_join(other, NULL), 0);
}

Test(context_events, a_task_is_a_record_of_the_thread_that_runs_it)
{
    struct jw_error err = {0};
    bool is_new;

    cr_assert(threads_open(&err), "%s", err.message);
    cr_assert(context_task(generations, EVENT_TASK_BEGUN, 3), "nobody samples such a thread");
    cr_assert(eq(u64, take().count, 0));

    const thread_index own = thread_add(thread_own_tid(), &is_new);
    cr_assert(ne(u32, own, THREAD_NONE));
    cr_assert(context_task(NULL, EVENT_TASK_BEGUN, 3), "nothing is recorded");
    cr_assert(context_task(generations, EVENT_TASK_BEGUN, 7));
    cr_assert(context_task(generations, EVENT_TASK_ENDED_ALL, 0));
    const struct taken taken = take();
    cr_assert(eq(u64, taken.count, 2));
    cr_assert(eq(u16, taken.last.kind, EVENT_TASK));
    cr_assert(eq(u16, taken.last.flags, EVENT_TASK_ENDED_ALL));
    cr_assert(eq(u32, taken.last.thread_index, own));
    cr_assert(eq(u64, taken.last.thread_serial, thread_serial(own)));
    cr_assert(ne(u64, taken.last.time_ns, 0));
}

Test(context_events, a_task_that_does_not_fit_is_said_to_be_lost)
{
    struct jw_error err = {0};
    uint64_t given = 0;
    bool is_new;

    cr_assert(threads_open(&err), "%s", err.message);
    (void)thread_add(thread_own_tid(), &is_new);
    for (int i = 0; i < 100000; i++)
        given += context_task(generations, EVENT_TASK_BEGUN, 1);
    cr_assert(lt(u64, given, 100000));
    cr_assert(eq(u64, take().count, given));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_EVENTS_FULL), 0));
}
