/* The reader on sound recordings: every encoding, pools, chunks, stacks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

static struct maker maker;
static char path[64];
static struct jfr_reader *reader;
static struct jfr_text text;
static struct jw_error err;

static void open_made(void)
{
    cr_assert(maker_save(&maker, path));
    reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
}

static void begin(void)
{
    jw_error_clear(&err);
}

static void end(void)
{
    jw_alloc_fail_after(0);
    jfr_reader_close(reader);
    jfr_text_free(&text);
    maker_close(&maker);
    if (path[0] != '\0')
        unlink(path);
}

TestSuite(reader, .init = begin, .fini = end, .timeout = 1800);

static struct jfr_reader_chunk next_chunk(void)
{
    struct jfr_reader_chunk chunk;

    cr_assert(jfr_reader_next_chunk(reader, &chunk, &err), "%s", err.message);
    return chunk;
}

static struct jfr_reader_event next_event(void)
{
    struct jfr_reader_event event;

    cr_assert(jfr_reader_next_event(reader, &event, &err), "%s", err.message);
    return event;
}

static struct jfr_value field_of(const struct jfr_value *value, const char *name)
{
    struct jfr_value field;

    cr_assert(jfr_value_field(value, name, &field), "no field %s", name);
    return field;
}

static int64_t integer_of(const struct jfr_value *value, const char *name)
{
    const struct jfr_value field = field_of(value, name);
    int64_t integer = 0;

    cr_assert(jfr_value_integer(&field, &integer), "%s is no integer", name);
    return integer;
}

static const char *text_of(const struct jfr_value *value, const char *name)
{
    const struct jfr_value field = field_of(value, name);

    cr_assert(jfr_value_text(&field, &text), "%s is no text", name);
    return text.text;
}

Test(reader, events_come_in_the_order_of_the_file_with_their_fields)
{
    static const int64_t ticks[] = {0, 1, 2, 10, 11, 20, 21};

    maker_usual_chunk(&maker, 5000);
    open_made();
    const struct jfr_reader_chunk chunk = next_chunk();
    cr_expect_eq(chunk.start_unix_ns, 5000);
    cr_expect_eq(chunk.duration_ns, 1000000000);
    cr_expect(chunk.is_finished);
    cr_expect(jfr_reader_has_event(reader, "jdk.ExecutionSample"));
    cr_expect_not(jfr_reader_has_event(reader, "java.lang.Thread"));
    for (size_t i = 0; i < JW_COUNT_OF(ticks); i++) {
        const struct jfr_reader_event event = next_event();

        cr_expect_str_eq(event.type_name, "jdk.ExecutionSample");
        cr_expect_eq(event.start_ticks, ticks[i]);
        cr_expect_eq(integer_of(&event.value, "weight"), 10000000);
    }
    cr_expect_str_eq(next_event().type_name, "jaywalk.Diagnostics");

    struct jfr_reader_event event;
    struct jfr_reader_chunk more;
    cr_expect_not(jfr_reader_next_event(reader, &event, &err));
    cr_expect_not(jfr_reader_next_chunk(reader, &more, &err));
    cr_expect_str_eq(err.message, "");
    cr_expect_str_eq(jfr_reader_notice(reader), "");
}

Test(reader, references_are_followed_through_several_checkpoints)
{
    maker_usual_chunk(&maker, 1);
    open_made();
    next_chunk();
    const struct jfr_reader_event event = next_event();
    const struct jfr_value thread = field_of(&event.value, "sampledThread");

    cr_expect_str_eq(jfr_value_type_name(&thread), "java.lang.Thread");
    cr_expect_eq(jfr_value_key(&thread), 1);
    cr_expect_str_eq(text_of(&thread, "javaName"), "main");
    cr_expect_eq(integer_of(&thread, "osThreadId"), 101);
    cr_expect_str_eq(text_of(&event.value, "state"), "STATE_RUNNABLE");
}

Test(reader, stacks_come_leaf_first_with_names_and_lines)
{
    static const char *const classes[] = {"com/acme/Work", "com/acme/Main"};
    static const char *const names[] = {"run", "main"};
    static const char *const types[] = {"JIT compiled", "Interpreted"};
    static const int64_t lines[] = {12, 7};
    struct jfr_method method = {.name = {0}};
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    size_t count = 0;

    maker_usual_chunk(&maker, 1);
    open_made();
    next_chunk();
    const struct jfr_reader_event event = next_event();
    const struct jfr_value trace = field_of(&event.value, "stackTrace");
    cr_assert(jfr_stack_begin(&trace, &stack));
    cr_expect_not(stack.is_truncated);
    for (; jfr_stack_next(&stack, &frame); count++) {
        cr_assert_lt(count, 2);
        cr_assert(jfr_method_read(&frame.method, &method));
        cr_expect_str_eq(method.class_name.text, classes[count]);
        cr_expect_str_eq(method.name.text, names[count]);
        cr_expect_str_eq(method.descriptor.text, "()V");
        cr_expect_eq(frame.line, lines[count]);
        cr_assert(jfr_value_text(&frame.type, &text));
        cr_expect_str_eq(text.text, types[count]);
    }
    cr_expect_eq(count, 2);
    jfr_method_free(&method);
}

/* Frames of recorders that nobody knows: two fields around the method. */
static const char *const shapes[][2] = {
    {"      field name=hidden class=13", "      field name=lineNumber class=11"},
    {"      field name=lineNumber class=11", "      field name=other class=11"},
    {"      field name=lineNumber class=10", "      field name=text class=12"},
    {"      field name=other class=10", "      field name=another class=10"},
};

/* An event with a stack of three frames of this shape; the method of the last one is missing. */
static void make_shape(size_t number)
{
    const char *const rows[] = {"root",
                                "  metadata",
                                "    class name=long id=10",
                                "    class name=int id=11",
                                "    class name=java.lang.String id=12",
                                "    class name=boolean id=13",
                                "    class name=jdk.types.StackTrace id=21",
                                "      field name=truncated class=13",
                                "      field name=frames class=22 dimension=1",
                                "    class name=jdk.types.StackFrame id=22",
                                shapes[number][0],
                                "      field name=method class=24 constantPool=true",
                                shapes[number][1],
                                "    class name=jdk.types.Method id=24",
                                "      field name=name class=12",
                                "    class name=test.E id=101 superType=jdk.jfr.Event",
                                "      field name=startTime class=10",
                                "      field name=stackTrace class=21",
                                NULL};

    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    const size_t checkpoint = maker_begin_checkpoint(&maker, 1);
    maker_pool(&maker, 24, 1);
    maker_varint(&maker, 5);
    maker_text(&maker, "run");
    maker_end_event(&maker, checkpoint);
    const size_t event = maker_begin_event(&maker, 101);
    maker_varint(&maker, 1);
    maker_byte(&maker, 0);
    maker_varint(&maker, 3);
    for (unsigned n = 0; n < 3; n++) {
        maker_byte(&maker, number == 0 ? 1 : 40 + n);
        maker_varint(&maker, n == 2 ? 77 : 5);
        maker_byte(&maker, number == 2 ? 1 : 50 + n); /* 1: the text "" */
    }
    maker_end_event(&maker, event);
    maker_end_chunk(&maker, 1);
}

Test(reader, stacks_of_other_shapes_are_read_by_the_names_of_their_fields)
{
    for (size_t i = 0; i < JW_COUNT_OF(shapes); i++) {
        struct jfr_method method = {.name = {0}};
        struct jfr_stack stack;
        struct jfr_stack_frame frame;
        unsigned count = 0;

        make_shape(i);
        open_made();
        next_chunk();
        const struct jfr_reader_event event = next_event();
        const struct jfr_value trace = field_of(&event.value, "stackTrace");
        cr_assert(jfr_stack_begin(&trace, &stack));
        for (; jfr_stack_next(&stack, &frame); count++) {
            const int64_t lines[] = {50 + count, 40 + count, 40 + count, -1};

            cr_expect_eq(frame.line, lines[i], "shape %zu, frame %u: %lld", i, count,
                         (long long)frame.line);
            cr_assert(jfr_method_read(&frame.method, &method));
            cr_expect_str_eq(method.name.text, count == 2 ? "" : "run", "shape %zu", i);
            cr_expect_str_eq(method.class_name.text, "");
            cr_expect_null(frame.type.reader);
        }
        cr_expect_eq(count, 3, "shape %zu", i);
        jfr_method_free(&method);
        end();
        reader = NULL;
        path[0] = '\0';
        begin();
    }
}

Test(reader, null_references_and_missing_constants_have_no_value)
{
    struct jfr_reader_event event;
    struct jfr_value field;

    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    maker_sample(&maker, 1, 0, 77, 0, 1);
    maker_end_chunk(&maker, 1);
    open_made();
    next_chunk();
    event = next_event();
    cr_expect_not(jfr_value_field(&event.value, "sampledThread", &field));
    cr_expect_not(jfr_value_field(&event.value, "stackTrace", &field));
    cr_expect_not(jfr_value_field(&event.value, "noSuchField", &field));
    cr_expect_eq(integer_of(&event.value, "weight"), 1);
}

/* test.Any up to its text; the rest is put by the test. */
static size_t begin_any(void)
{
    const size_t event = maker_begin_event(&maker, MAKER_ANY);

    maker_varint(&maker, 1);
    maker_varint(&maker, (uint64_t)INT64_MIN);
    maker_varint(&maker, 0xffffffff);
    return event;
}

static void end_any(size_t event)
{
    static const unsigned char floats[] = {0x40, 0x49, 0x0f, 0xdb, 0xc0, 0x05,
                                           0xbf, 0x0a, 0x8b, 0x14, 0x57, 0x69};

    maker_byte(&maker, 1);
    maker_raw(&maker, floats, sizeof floats);
    maker_byte(&maker, 0xfe);
    maker_varint(&maker, 0xffff);
    maker_varint(&maker, 0x20ac);
    for (uint64_t value = 3; value <= 4; value++) /* point */
        maker_varint(&maker, value);
    maker_varint(&maker, 2); /* points */
    for (uint64_t value = 5; value <= 8; value++)
        maker_varint(&maker, value);
    maker_varint(&maker, 2); /* symbols */
    maker_varint(&maker, 1);
    maker_varint(&maker, 2);
    maker_varint(&maker, 9); /* pooledText */
    maker_varint(&maker, 42);
    maker_end_event(&maker, event);
}

static void put_any_chunk(void (*put_text)(void))
{
    maker_begin_chunk(&maker);
    const size_t event = begin_any();
    put_text();
    end_any(event);

    const size_t checkpoint = maker_begin_checkpoint(&maker, 2);
    maker_pool(&maker, MAKER_SYMBOL, 2);
    maker_varint(&maker, 1);
    maker_text(&maker, "one");
    maker_varint(&maker, 2);
    maker_text(&maker, "two");
    maker_pool(&maker, MAKER_STRING, 2);
    maker_varint(&maker, 9);
    maker_text(&maker, "nine");
    maker_varint(&maker, 10);
    maker_byte(&maker, 2);
    maker_varint(&maker, 9);
    maker_end_event(&maker, checkpoint);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 1);
}

static void put_null(void)
{
    maker_byte(&maker, 0);
}

Test(reader, numbers_of_every_kind_are_read)
{
    double number = 0;
    struct jfr_value field;

    put_any_chunk(put_null);
    open_made();
    next_chunk();
    const struct jfr_reader_event event = next_event();
    cr_expect_eq(integer_of(&event.value, "long"), INT64_MIN);
    cr_expect_eq(integer_of(&event.value, "int"), -1);
    cr_expect_eq(integer_of(&event.value, "boolean"), 1);
    cr_expect_eq(integer_of(&event.value, "byte"), -2);
    cr_expect_eq(integer_of(&event.value, "short"), -1);
    cr_expect_eq(integer_of(&event.value, "char"), 0x20ac);
    field = field_of(&event.value, "float");
    cr_expect(jfr_value_number(&field, &number) && fabs(number - 3.14159265) < 1e-6);
    field = field_of(&event.value, "double");
    cr_expect(jfr_value_number(&field, &number) && fabs(number + 2.718281828) < 1e-8);
    field = field_of(&event.value, "int");
    cr_expect(jfr_value_number(&field, &number) && number == -1.0);
}

Test(reader, structs_arrays_and_pooled_strings_are_read)
{
    struct jfr_array array;
    struct jfr_value element;
    int64_t sum = 0;

    put_any_chunk(put_null);
    open_made();
    next_chunk();
    const struct jfr_reader_event event = next_event();
    const struct jfr_value point = field_of(&event.value, "point");
    cr_expect_eq(integer_of(&point, "x") * 10 + integer_of(&point, "y"), 34);
    const struct jfr_value points = field_of(&event.value, "points");
    cr_assert(jfr_array_begin(&points, &array));
    while (jfr_array_next(&array, &element))
        sum = sum * 100 + integer_of(&element, "x") * 10 + integer_of(&element, "y");
    cr_expect_eq(sum, 5678);
    const struct jfr_value symbols = field_of(&event.value, "symbols");
    cr_assert(jfr_array_begin(&symbols, &array));
    cr_assert(jfr_array_next(&array, &element) && jfr_value_text(&element, &text));
    cr_expect_str_eq(text.text, "one");
    cr_assert(jfr_array_next(&array, &element) && jfr_value_text(&element, &text));
    cr_expect_str_eq(text.text, "two");
    cr_expect_not(jfr_array_next(&array, &element));
    cr_expect_str_eq(text_of(&event.value, "pooledText"), "nine");
    cr_expect_eq(integer_of(&event.value, "last"), 42);
}

static const unsigned char *raw_text;
static size_t raw_text_bytes;

static void put_raw_text(void)
{
    maker_raw(&maker, raw_text, raw_text_bytes);
}

Test(reader, strings_of_all_six_encodings_are_read)
{
    static const struct {
        unsigned char bytes[16];
        size_t count;
        const char *wanted; /* NULL: null */
    } cases[] = {
        {{0}, 1, NULL},
        {{1}, 1, ""},
        {{2, 9}, 2, "nine"},
        {{2, 10}, 2, "nine"}, /* a reference to a reference */
        {{2, 99}, 2, NULL},
        {{3, 4, 'a', 0xc3, 0xa9, 'z'}, 6, "a\xc3\xa9z"},
        {{3, 3, 'a', 0xff, 0}, 5, "a\xef\xbf\xbd\xef\xbf\xbd"}, /* no UTF-8, and a 0 byte */
        {{4, 2, 'a', 0xac, 0x41}, 5, "a\xe2\x82\xac"},          /* U+20AC */
        {{4, 2, 0xbd, 0xb0, 0x03, 0x80, 0xb8, 0x03}, 8, "\xf0\x9f\x90\x80"}, /* a pair */
        {{4, 1, 0xbd, 0xb0, 0x03}, 5, "\xef\xbf\xbd"},                       /* half a pair */
        {{5, 2, 'a', 0xe9}, 4, "a\xc3\xa9"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        raw_text = cases[i].bytes;
        raw_text_bytes = cases[i].count;
        put_any_chunk(put_raw_text);
        open_made();
        next_chunk();
        const struct jfr_reader_event event = next_event();
        const struct jfr_value field = field_of(&event.value, "text");
        const bool has_text = jfr_value_text(&field, &text);

        cr_expect_eq(has_text, cases[i].wanted != NULL, "case %zu", i);
        if (has_text && cases[i].wanted != NULL)
            cr_expect_str_eq(text.text, cases[i].wanted, "case %zu", i);
        cr_expect_eq(integer_of(&event.value, "last"), 42, "case %zu: what follows", i);
        jfr_reader_close(reader);
        reader = NULL;
        unlink(path);
        maker_close(&maker);
    }
}

/* Before JDK 11 recorders wrote 2.0; 0.9 is that of Oracle's JDK 7. */
Test(reader, versions_before_2_1_are_read_and_others_refused)
{
    static const unsigned char versions[][4] = {
        {0, 2, 0, 0}, {0, 2, 0, 1}, {0, 1, 0, 0}, {0, 0, 0, 9}, {0, 3, 0, 0}};

    for (size_t i = 0; i < JW_COUNT_OF(versions); i++) {
        maker_usual_chunk(&maker, 1);
        memcpy(maker.bytes + 4, versions[i], sizeof versions[i]);
        open_made();
        struct jfr_reader_chunk chunk;
        const bool is_read = jfr_reader_next_chunk(reader, &chunk, &err);

        cr_expect_eq(is_read, i < 3, "case %zu", i);
        if (is_read) {
            const struct jfr_reader_event event = next_event();
            cr_expect_eq(integer_of(&event.value, "weight"), 10000000, "case %zu", i);
        }
        jfr_reader_close(reader);
        reader = NULL;
        unlink(path);
        maker_close(&maker);
    }
}

Test(reader, each_chunk_has_its_own_pools)
{
    maker_usual_chunk(&maker, 1);
    maker_begin_chunk(&maker);
    maker_sample(&maker, 5, 1, 1, 0, 3);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 2);
    open_made();
    next_chunk();
    struct jfr_value field;
    struct jfr_reader_event event = next_event();
    cr_expect(jfr_value_field(&event.value, "stackTrace", &field));
    const struct jfr_reader_chunk second = next_chunk(); /* leaves the rest of the first */
    cr_expect_eq(second.start_unix_ns, 2);
    event = next_event();
    cr_expect_not(jfr_value_field(&event.value, "stackTrace", &field));
    cr_expect_eq(integer_of(&event.value, "weight"), 3);
}

Test(reader, a_payload_that_ends_early_lacks_its_last_fields)
{
    struct jfr_value field;

    maker_begin_chunk(&maker);
    const size_t event_begin = maker_begin_event(&maker, MAKER_SAMPLE);
    maker_varint(&maker, 7);
    maker_end_event(&maker, event_begin);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 1);
    open_made();
    next_chunk();
    const struct jfr_reader_event event = next_event();
    cr_expect_eq(event.start_ticks, 7);
    cr_expect_not(jfr_value_field(&event.value, "weight", &field));
    cr_expect_not(jfr_value_field(&event.value, "stackTrace", &field));
}

Test(reader, padding_of_unknown_type_and_large_events_are_passed)
{
    static unsigned char zeros[300000];

    maker_begin_chunk(&maker);
    const size_t padding = maker_begin_event(&maker, 999);
    for (int i = 0; i < 10; i++) /* longer than the window */
        maker_raw(&maker, zeros, sizeof zeros);
    maker_end_event(&maker, padding);
    maker_sample(&maker, 5, 0, 0, 0, 1);
    const size_t large = maker_begin_event(&maker, MAKER_SAMPLE); /* fields, and then slack */
    for (uint64_t i = 0; i < 5; i++)
        maker_varint(&maker, i + 1);
    maker_raw(&maker, zeros, sizeof zeros);
    maker_end_event(&maker, large);
    maker_sample(&maker, 6, 0, 0, 0, 2);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 1);
    open_made();
    next_chunk();
    cr_expect_eq(next_event().start_ticks, 5);
    struct jfr_reader_event event = next_event();
    cr_expect_eq(integer_of(&event.value, "weight"), 5);
    cr_expect_eq(next_event().start_ticks, 6);
}
