/* What a handler finds in a slot: ids, attributes, and nothing of what makes no sense. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/hash.h"
#include "context/context_internal.h"

#define TID     4711
#define VIRTUAL 77
#define NO_NAME ((struct context_text){NULL, 0})

static struct generations *generations;
static struct generation *generation;
static struct epoch_ticket ticket;
static context_slot slot;

static void open_all(void)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES};
    struct jw_error err = {0};

    cr_assert(contexts_open(&err), "%s", err.message);
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    generation = generation_enter(generations, TID, &ticket);
    cr_assert(generation != NULL);
    cr_assert(eq(int, context_attribute("tenant", 6, &err), 0));
    cr_assert(eq(int, context_attribute("shop", 4, &err), 1));
    slot = context_bind(VIRTUAL, true);
}

static void close_all(void)
{
    generation_leave(generations, &ticket);
    generations_close(generations);
}

TestSuite(context_capture, .init = open_all, .fini = close_all, .timeout = 1800);

static struct context_record captured(void)
{
    struct context_record record;
    const dict_id id = context_capture(generation, VIRTUAL, NO_NAME);

    cr_assert(ne(u32, id, DICT_NONE));
    cr_assert(context_record_get(generation->contexts, id, &record));
    return record;
}

/* Of the virtual thread, which works for nothing. */
static bool is_bare(dict_id id)
{
    const struct context_record bare = {.virtual_thread = VIRTUAL};
    struct context_record record;

    return context_record_get(generation->contexts, id, &record) &&
           memcmp(&record, &bare, sizeof bare) == 0;
}

static bool is_value(dict_id id, const char *expected)
{
    size_t length_bytes;
    const void *text = dict_text(generation->values, id, &length_bytes);

    return text != NULL && length_bytes == strlen(expected) &&
           memcmp(text, expected, length_bytes) == 0;
}

static void write_attributes(const void *bytes, size_t length_bytes)
{
    struct context_place *place = context_place_of(slot);

    memcpy(place->attributes, bytes, length_bytes);
    place->attributes_bytes = (uint16_t)length_bytes;
}

Test(context_capture, an_empty_record_is_no_context)
{
    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_TORN), 0));
}

Test(context_capture, ids_come_as_w3c_writes_them)
{
    static const unsigned char trace[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                            0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
    const struct context_ids ids = {0x0123456789abcdef, 0xfedcba9876543210, 0xa1, 0xb2};

    context_set(slot, &ids);
    const struct context_record record = captured();
    cr_assert(memcmp(record.trace_id, trace, sizeof trace) == 0);
    cr_assert(eq(u64, record.span_id, 0xa1));
    cr_assert(eq(u64, record.root_span_id, 0xb2));
    cr_assert(eq(u8, context_place_of(slot)->span_id[7], 0xa1), "big endian in the slot");
}

Test(context_capture, equal_contexts_are_one)
{
    const struct context_ids ids = {1, 2, 3, 4};

    context_set(slot, &ids);
    const dict_id id = context_capture(generation, VIRTUAL, NO_NAME);
    context_clear(slot);
    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    context_set(slot, &ids);
    cr_assert(eq(u32, context_capture(generation, VIRTUAL, NO_NAME), id));
}

Test(context_capture, a_platform_thread_is_found_by_its_symbol_and_a_carrier_is_not)
{
    const struct context_ids ids = {1, 2, 3, 4};

    context_set(context_bind(5, false), &ids);
    cr_assert(ne(u32, context_capture(generation, 0, NO_NAME), DICT_NONE));
    const dict_id id = context_capture(generation, VIRTUAL + 1, NO_NAME);
    struct context_record record;
    cr_assert(context_record_get(generation->contexts, id, &record));
    cr_assert(eq(u64, record.virtual_thread, VIRTUAL + 1));
    cr_assert(eq(u64, record.span_id, 0),
              "a virtual thread that has none has none of its carrier's");
}

Test(context_capture, a_virtual_thread_is_told_by_number_and_name_and_a_platform_thread_is_not)
{
    const struct context_text name = {"request-7", 9};
    struct context_record record;

    cr_assert(context_record_get(generation->contexts, context_capture(generation, VIRTUAL, name),
                                 &record));
    cr_assert(eq(u64, record.virtual_thread, VIRTUAL));
    cr_assert(is_value(record.virtual_name, "request-7"));
    cr_assert(context_record_get(generation->contexts,
                                 context_capture(generation, VIRTUAL, NO_NAME), &record));
    cr_assert(eq(u32, record.virtual_name, DICT_NONE));
    cr_assert(eq(u32, context_capture(generation, 0, NO_NAME), DICT_NONE));
}

Test(context_capture, the_owner_of_a_slot_tells_its_events_whether_it_is_virtual)
{
    const struct context_ids ids = {1, 2, 3, 4};
    struct context_record record;
    const context_slot platform = context_bind(5, false);

    context_set(slot, &ids);
    context_set(platform, &ids);
    cr_assert(context_record_get(generation->contexts,
                                 context_intern(generation, context_place_of(slot)), &record));
    cr_assert(eq(u64, record.virtual_thread, VIRTUAL));
    cr_assert(context_record_get(generation->contexts,
                                 context_intern(generation, context_place_of(platform)), &record));
    cr_assert(eq(u64, record.virtual_thread, 0));
}

Test(context_capture, attributes_are_values_by_number)
{
    cr_assert(context_attribute_set(slot, 1, "north", 5));
    cr_assert(context_attribute_set(slot, 0, "acme", 4));
    const struct context_record record = captured();
    cr_assert(is_value(record.values[0], "acme"));
    cr_assert(is_value(record.values[1], "north"));
    cr_assert(eq(u32, record.values[2], DICT_NONE));
}

Test(context_capture, the_last_of_several_counts_and_one_without_bytes_is_unset)
{
    static const char both[] = "\0\4acme\1\5north\0\3xyz\1\0";

    write_attributes(both, sizeof both - 1);
    const struct context_record record = captured();
    cr_assert(is_value(record.values[0], "xyz"));
    cr_assert(eq(u32, record.values[1], DICT_NONE));
}

Test(context_capture, what_is_cut_short_ends_the_list)
{
    static const char cut[] = "\0\4acme\1\5nor";
    static const char head[] = "\0\4acme\1";

    write_attributes(cut, sizeof cut - 1);
    cr_assert(is_value(captured().values[0], "acme"));
    cr_assert(eq(u32, captured().values[1], DICT_NONE));
    write_attributes(head, sizeof head - 1);
    cr_assert(is_value(captured().values[0], "acme"));
}

Test(context_capture, numbers_without_a_name_are_passed_over)
{
    static const char unknown[] = "\2\3two\xff\3max\1\3one";

    write_attributes(unknown, sizeof unknown - 1);
    const struct context_record record = captured();
    cr_assert(is_value(record.values[1], "one"));
    for (int i = 2; i < (int)CONTEXT_ATTRIBUTES_MAX; i++)
        cr_assert(eq(u32, record.values[i], DICT_NONE));
}

Test(context_capture, a_record_that_is_not_valid_is_counted)
{
    const struct context_ids ids = {1, 2, 3, 4};

    context_set(slot, &ids);
    context_place_of(slot)->valid = 0;
    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    context_place_of(slot)->valid = 2;
    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_TORN), 2));
}

Test(context_capture, a_size_beyond_the_slot_is_not_believed)
{
    const struct context_ids ids = {1, 2, 3, 4};

    context_set(slot, &ids);
    context_place_of(slot)->attributes_bytes = CONTEXT_ATTRIBUTES_BYTES + 1;
    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_TORN), 1));
}

/* The same by a plain reading of the format: last of each known number, up to what is cut short. */
static void expect_values(const unsigned char *bytes, size_t used, const unsigned char *out[2],
                          size_t length_bytes[2])
{
    out[0] = out[1] = NULL;
    length_bytes[0] = length_bytes[1] = 0;
    for (size_t at = 0; at + 2 <= used && at + 2 + bytes[at + 1] <= used; at += 2 + bytes[at + 1])
        if (bytes[at] < 2) {
            out[bytes[at]] = bytes + at + 2;
            length_bytes[bytes[at]] = bytes[at + 1];
        }
}

/* Any bytes at all: never beyond the slot, and what comes out is what the format says. The seed is fixed. */
Test(context_capture, any_bytes_are_read_as_the_format_says)
{
    struct context_place *place = context_place_of(slot);
    uint64_t random = 42;

    cr_assert(is_bare(context_capture(generation, VIRTUAL, NO_NAME)));
    for (int round = 0; round < 20000; round++) {
        unsigned char *const bytes = (unsigned char *)place + CONTEXT_RECORD_OFFSET;
        const unsigned char *value[2];
        size_t length_bytes[2];

        for (size_t i = 0; i < CONTEXT_SLOT_BYTES - CONTEXT_RECORD_OFFSET; i++) {
            random = jw_hash_word(random + 0x9e3779b97f4a7c15);
            bytes[i] = (unsigned char)(random % 3 == 0 ? random >> 8 : (random >> 8) % 4);
        }
        place->valid = 1;
        place->attributes_bytes %= CONTEXT_ATTRIBUTES_BYTES + 8;
        const dict_id id = context_capture(generation, VIRTUAL, NO_NAME);
        if (place->attributes_bytes > CONTEXT_ATTRIBUTES_BYTES) {
            cr_assert(is_bare(id));
            continue;
        }
        expect_values(place->attributes, place->attributes_bytes, value, length_bytes);
        if (id == DICT_NONE)
            continue; /* the dictionary is full by now: counted there */
        struct context_record record;
        cr_assert(context_record_get(generation->contexts, id, &record));
        for (int i = 0; i < 2; i++) {
            size_t got_bytes;
            const void *got = dict_text(generation->values, record.values[i], &got_bytes);

            cr_assert(eq(sz, got == NULL ? 0 : got_bytes, got == NULL ? 0 : length_bytes[i]));
            cr_assert(got == NULL || memcmp(got, value[i], got_bytes) == 0);
        }
    }
}

Test(context_capture, the_last_slot_is_read_to_its_end_and_no_further)
{
    size_t bytes;
    unsigned char *memory = contexts_memory(&bytes);
    struct context_place *last = context_place_of((context_slot)CONTEXT_SLOTS - 1);

    cr_assert(eq(sz, bytes % (size_t)sysconf(_SC_PAGESIZE), 0));
    cr_assert(memory + bytes == (unsigned char *)(last + 1));
    last->valid = 1;
    last->span_id[7] = 1;
    last->attributes_bytes = CONTEXT_ATTRIBUTES_BYTES;
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_BYTES; i += 2)
        last->attributes[i + 1] = i + 2 == CONTEXT_ATTRIBUTES_BYTES ? 255 : 0;
    cr_assert(ne(u32, context_intern(generation, last), DICT_NONE));
}

/* A signal in the middle of a write, at any instruction: what the handler finds is one of the two contexts whole, or
 * none. */
static _Atomic uint32_t seen_count, torn_count, wrong_count; /* relaxed: one thread */

#define SIGNALS 300

static const struct itimerval never = {{0, 0}, {0, 0}};

static void look(int number)
{
    const uint64_t torn_before = jw_counter(JW_COUNT_CONTEXT_TORN);
    const dict_id id = context_capture(generation, VIRTUAL, NO_NAME);
    struct context_record record;

    (void)number;
    /* On a machine where this takes as long as the timer, the test comes to nothing else. */
    if (jw_add_relaxed(&seen_count, 1) + 1 == SIGNALS)
        setitimer(ITIMER_REAL, &never, NULL);
    if (jw_counter(JW_COUNT_CONTEXT_TORN) != torn_before) {
        jw_add_relaxed(&torn_count, 1);
        return;
    }
    const bool is_good = context_record_get(generation->contexts, id, &record);
    const bool is_whole =
        is_good && record.span_id == record.root_span_id &&
        is_value(record.values[0], record.span_id % 2 == 0 ? "even" : "odd number");
    jw_add_relaxed(&wrong_count, is_whole ? 0 : 1);
}

Test(context_capture, a_signal_within_a_write_sees_one_context_or_none)
{
    const struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 200}, {0, 200}};

    /* Attributes and ids are two writes: a context is whole when the second is done, so the number of the context before is
     * cleared first. */
    context_attribute_set(slot, 0, "even", 4);
    context_set(slot, &(struct context_ids){2, 2, 2, 2});
    cr_assert(eq(int, sigaction(SIGALRM, &action, NULL), 0));
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t i = 2; jw_load_relaxed(&seen_count) < SIGNALS; i++)
        context_set(slot, &(struct context_ids){2 * i, 2 * i, 2 * i, 2 * i});
    setitimer(ITIMER_REAL, &never, NULL);
    cr_assert(eq(u32, jw_load_relaxed(&wrong_count), 0));
}
