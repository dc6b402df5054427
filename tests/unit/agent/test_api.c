/* The C API in a process without a JVM: native threads, bad arguments, before a session, from many threads, after a fork. */
#include "jaywalk.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/counters.h"
#include "context/context.h"
#include "thread/thread_filter.h"
#include "thread/thread_symbol.h"

TestSuite(api, .timeout = 1800);

/* The record as OTEP 4947 lays it out, which readers of the symbol see. */
struct record {
    unsigned char trace_id[16], span_id[8], valid, trace_flags, size[2], attributes[612];
};

static const struct record *record(void)
{
    return thread_symbol();
}

static unsigned size_of_attributes(void)
{
    uint16_t size;

    memcpy(&size, record()->size, sizeof size);
    return size;
}

Test(api, the_library_says_its_version)
{
    cr_assert(jaywalk_version()[0] >= '0' && strchr(jaywalk_version(), '.') != NULL);
    cr_assert(eq(int, jaywalk_is_active(), 0));
}

Test(api, a_native_thread_has_a_context_that_readers_outside_find)
{
    static const unsigned char trace[16] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};

    cr_assert(record() == NULL);
    cr_assert(eq(int, jaywalk_context_set(1, 2, 3, 4), JAYWALK_OK));
    cr_assert(memcmp(record()->trace_id, trace, sizeof trace) == 0);
    cr_assert(eq(u8, record()->span_id[7], 3));
    cr_assert(eq(u8, record()->valid, 1));
    jaywalk_context_clear();
    cr_assert(eq(u8, record()->trace_id[7], 0));
    cr_assert(eq(u8, record()->valid, 1));
}

Test(api, attributes_are_set_and_cleared)
{
    const int tenant = jaywalk_attribute("tenant"), shop = jaywalk_attribute("shop");

    cr_assert(eq(int, tenant, 0));
    cr_assert(eq(int, shop, 1));
    cr_assert(eq(int, jaywalk_attribute_set(shop, "north pole", 5), JAYWALK_OK));
    cr_assert(eq(int, jaywalk_attribute_set(tenant, "acme", 4), JAYWALK_OK));
    cr_assert(memcmp(record()->attributes, "\1\5north\0\4acme", 13) == 0);
    jaywalk_attribute_clear(shop);
    cr_assert(eq(uint, size_of_attributes(), 6));
    cr_assert(eq(int, jaywalk_attribute_set(tenant, "", 0), JAYWALK_OK));
    cr_assert(eq(uint, size_of_attributes(), 0));
}

Test(api, clearing_what_is_not_there_makes_nothing)
{
    jaywalk_context_clear();
    jaywalk_attribute_clear(0);
    jaywalk_attribute_clear(-1);
    cr_assert(eq(int, jaywalk_attribute("tenant"), 0));
    cr_assert(eq(int, jaywalk_attribute_set(0, NULL, 0), JAYWALK_OK));
    cr_assert(record() == NULL);
}

Test(api, what_it_does_not_take_is_refused_and_changes_nothing)
{
    static char longest[JAYWALK_NAME_MAX_BYTES + 2];
    static const char value[JAYWALK_VALUE_MAX_BYTES + 1];

    memset(longest, 'n', sizeof longest - 1);
    cr_assert(eq(int, jaywalk_attribute(NULL), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute(""), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute("\xff"), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute(longest), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute("tenant"), 0));
    cr_assert(eq(int, jaywalk_attribute_set(-1, "x", 1), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute_set(1, "x", 1), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute_set(0, NULL, 1), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute_set(0, value, sizeof value), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_endpoint(1, NULL, NULL), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_endpoint(1, "", NULL), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_span(NULL, 1, 2), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_span("query", 2, 1), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_span("query", 1, UINT64_MAX), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_span("query", 1, 3600000000000 + jw_now_ns()), JAYWALK_BAD_ARGUMENT));
    cr_assert(record() == NULL);
}

Test(api, the_seventeenth_attribute_finds_no_room)
{
    char name[24];

    for (int i = 0; i < JAYWALK_ATTRIBUTES_MAX; i++) {
        snprintf(name, sizeof name, "name.%d", i);
        cr_assert(eq(int, jaywalk_attribute(name), i));
    }
    cr_assert(eq(int, jaywalk_attribute("one more"), JAYWALK_NO_ROOM));
    cr_assert(eq(int, jaywalk_attribute("\xff"), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_attribute("name.7"), 7));
}

Test(api, values_that_do_not_fit_beside_each_other_find_no_room)
{
    static const char value[JAYWALK_VALUE_MAX_BYTES];
    const int first = jaywalk_attribute("first"), second = jaywalk_attribute("second"),
              third = jaywalk_attribute("third");

    cr_assert(eq(int, jaywalk_attribute_set(first, value, sizeof value), JAYWALK_OK));
    cr_assert(eq(int, jaywalk_attribute_set(second, value, sizeof value), JAYWALK_OK));
    cr_assert(eq(int, jaywalk_attribute_set(third, value, sizeof value), JAYWALK_NO_ROOM));
    cr_assert(eq(uint, size_of_attributes(), 2 * (2 + sizeof value)));
}

Test(api, without_a_session_endpoints_and_spans_are_idle_and_counted)
{
    cr_assert(eq(int, jaywalk_endpoint(1, "GET /", NULL), JAYWALK_IDLE));
    cr_assert(eq(int, jaywalk_span("query", 1, 2), JAYWALK_IDLE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_IDLE), 2));
}

Test(api, a_thread_is_added_and_taken_away_and_forgotten_at_its_end)
{
    struct jw_error err = {0};
    const uint32_t tid = (uint32_t)gettid();

    cr_assert(thread_filter_set("+", &err));
    cr_assert(not(thread_filter_lets_in(tid, "main")));
    cr_assert(eq(int, jaywalk_thread_add(), JAYWALK_OK));
    cr_assert(thread_filter_lets_in(tid, "main"));
    cr_assert(eq(int, jaywalk_thread_remove(), JAYWALK_OK));
    cr_assert(not(thread_filter_lets_in(tid, "main")));
}

static void *add_and_end(void *argument)
{
    *(uint32_t *)argument = (uint32_t)gettid();
    return jaywalk_thread_add() == JAYWALK_OK && thread_filter_lets_in((uint32_t)gettid(), "x")
               ? argument
               : NULL;
}

Test(api, a_number_is_free_again_when_its_thread_ends)
{
    struct jw_error err = {0};
    pthread_t thread;
    uint32_t tid;
    void *was_added;

    cr_assert(thread_filter_set("+", &err));
    pthread_create(&thread, NULL, add_and_end, &tid);
    pthread_join(thread, &was_added);
    cr_assert(was_added != NULL);
    cr_assert(not(thread_filter_lets_in(tid, "x")));
}

#define THREADS 1000

static pthread_barrier_t all_are_there;

/* Each thread sees its own numbers, however many others set theirs. */
static void *set_and_look(void *argument)
{
    const uint64_t own = (uintptr_t)argument;
    unsigned char expected[8] = {0, 0, 0, 0, 0, 0, (unsigned char)(own >> 8), (unsigned char)own};
    bool is_right = true;

    pthread_barrier_wait(&all_are_there);
    for (int i = 0; i < 100; i++) {
        is_right &= jaywalk_context_set(own, own, own, own) == JAYWALK_OK &&
                    memcmp(record()->span_id, expected, sizeof expected) == 0;
        is_right &= jaywalk_endpoint(own, "GET /", "get") == JAYWALK_IDLE;
        jaywalk_context_clear();
    }
    return is_right ? argument : NULL;
}

Test(api, a_thousand_threads_do_not_see_each_other)
{
    pthread_t *threads = calloc(THREADS, sizeof *threads);
    void *right;

    pthread_barrier_init(&all_are_there, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, set_and_look, (void *)(i + 1)), 0));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &right);
        cr_assert(right != NULL);
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_IDLE), THREADS * 100));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), 0));
    free(threads);
}

Test(api, a_child_changes_nothing_of_its_parent)
{
    int status;

    cr_assert(eq(int, jaywalk_context_set(1, 2, 3, 4), JAYWALK_OK));
    const pid_t child = fork();
    if (child == 0) {
        const bool is_good = jaywalk_context_set(5, 6, 7, 8) == JAYWALK_OK &&
                             record()->span_id[7] == 7 &&
                             jaywalk_endpoint(1, "GET /", NULL) == JAYWALK_IDLE;

        jaywalk_context_clear();
        _exit(is_good ? 0 : 1);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(eq(int, status, 0));
    cr_assert(eq(u8, record()->span_id[7], 3));
}

static void note_output(void *argument, const char *text, size_t length)
{
    *(bool *)argument = text != NULL || length != 0;
}

Test(api, without_a_jvm_no_command_is_done)
{
    static char longest[OPTIONS_MAX_BYTES + 2];
    bool was_told = false;

    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cr_assert(eq(int, jaywalk_execute(NULL, note_output, &was_told), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_execute(longest, note_output, &was_told), JAYWALK_BAD_ARGUMENT));
    cr_assert(eq(int, jaywalk_execute("status", note_output, &was_told), JAYWALK_NO_JVM));
    cr_assert(not(was_told));
}
