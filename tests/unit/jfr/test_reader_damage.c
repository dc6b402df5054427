/* The reader on files that are cut, hostile or nothing at all. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

static struct maker maker;
static char path[64];
static struct jw_error err;

static void end(void)
{
    jw_alloc_fail_after(0);
    maker_close(&maker);
    if (path[0] != '\0')
        unlink(path);
}

TestSuite(reader_damage, .fini = end, .timeout = 1800);

struct reading {
    bool is_open;
    unsigned chunks;
    unsigned events;
    unsigned texts;
    char error[512];
    char notice[512];
};

/* Everything that a file lets itself be asked. */
static struct reading read_all(const char *file)
{
    struct reading reading = {0};
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_method method = {.name = {0}};
    struct jfr_text text = {0};

    jw_error_clear(&err);
    struct jfr_reader *reader = jfr_reader_open(file, &err);
    reading.is_open = reader != NULL;
    while (reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err)) {
        reading.chunks++;
        while (jfr_reader_next_event(reader, &event, &err)) {
            static const char *const names[] = {"state", "text", "pooledText", "last", "points"};
            struct jfr_value value;
            struct jfr_stack stack;
            struct jfr_stack_frame frame;

            reading.events++;
            for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
                if (jfr_value_field(&event.value, names[i], &value) &&
                    jfr_value_text(&value, &text))
                    reading.texts++;
            }
            if (!jfr_value_field(&event.value, "stackTrace", &value) ||
                !jfr_stack_begin(&value, &stack))
                continue;
            while (jfr_stack_next(&stack, &frame))
                reading.texts += jfr_method_read(&frame.method, &method);
        }
    }
    if (reader != NULL)
        snprintf(reading.notice, sizeof reading.notice, "%s", jfr_reader_notice(reader));
    snprintf(reading.error, sizeof reading.error, "%s", err.message);
    jfr_reader_close(reader);
    jfr_method_free(&method);
    jfr_text_free(&text);
    return reading;
}

static struct reading read_made(void)
{
    if (path[0] != '\0')
        unlink(path);
    cr_assert(maker_save(&maker, path));
    return read_all(path);
}

static void expect_refused(const struct reading *reading, const char *why)
{
    cr_expect_not_null(strstr(reading->error, why), "'%s' does not say '%s'", reading->error, why);
}

Test(reader_damage, files_that_are_no_recording_are_refused_with_a_reason)
{
    struct reading reading = read_all("/nonexistent/x.jfr");
    expect_refused(&reading, "cannot be opened");
    reading = read_all("/tmp");
    expect_refused(&reading, "is a directory");
    reading = read_all("/dev/zero");
    expect_refused(&reading, "not a regular file");
    reading = read_made();
    expect_refused(&reading, "is empty");
    maker_raw(&maker, "PK\3\4 some archive", 16);
    reading = read_made();
    expect_refused(&reading, "no flight recording");
}

Test(reader_damage, s18_a_fifo_is_refused_and_not_waited_for)
{
    cr_assert(maker_save(&maker, path) && unlink(path) == 0); /* a name that nobody has */
    cr_assert_eq(mkfifo(path, 0600), 0);
    const struct reading reading = read_all(path);
    expect_refused(&reading, "not a regular file");
}

Test(reader_damage, a_file_cut_anywhere_in_its_only_chunk_is_refused)
{
    maker_usual_chunk(&maker, 1);
    for (size_t used_bytes = maker.used_bytes - 1; used_bytes > 0; used_bytes -= 7) {
        maker.used_bytes = used_bytes;
        const struct reading reading = read_made();
        cr_expect_eq(reading.events, 0);
        cr_expect_neq(reading.error[0], '\0', "cut to %zu bytes", used_bytes);
        if (used_bytes < 8)
            break;
    }
}

Test(reader_damage, of_a_torn_tail_the_complete_chunks_are_read_and_the_rest_is_told)
{
    maker_usual_chunk(&maker, 1);
    const size_t complete_bytes = maker.used_bytes;
    maker_usual_chunk(&maker, 2);
    const size_t all_bytes = maker.used_bytes;
    struct reading reading = read_made();
    cr_expect_eq(reading.chunks, 2);
    cr_expect_eq(reading.events, 16);
    cr_expect_str_eq(reading.notice, "");
    for (size_t used_bytes = all_bytes - 1; used_bytes > complete_bytes + 10; used_bytes -= 11) {
        maker.used_bytes = used_bytes;
        reading = read_made();
        cr_expect_str_eq(reading.error, "");
        cr_expect_eq(reading.events, 8);
        cr_expect_not_null(strstr(reading.notice, "are left out"), "cut to %zu", used_bytes);
    }
}

Test(reader_damage, a_last_chunk_that_is_not_finished_is_left_out)
{
    maker_usual_chunk(&maker, 1);
    maker_begin_chunk(&maker);
    maker.bytes[maker.chunk_begin + 64] = 1; /* as the JDK has it while it writes */
    maker_sample(&maker, 1, 0, 0, 0, 1);
    const struct reading reading = read_made();
    cr_expect_eq(reading.events, 8);
    cr_expect_str_eq(reading.error, "");
    cr_expect_not_null(strstr(reading.notice, "not finished"), "%s", reading.notice);
}

Test(reader_damage, a_header_of_another_version_is_refused)
{
    maker_usual_chunk(&maker, 1);
    maker.bytes[5] = 0;
    maker.bytes[7] = 9;
    struct reading reading = read_made();
    expect_refused(&reading, "not version 2");
    maker.bytes[5] = 2;
    maker.bytes[67] = 0;
    reading = read_made();
    expect_refused(&reading, "compressed");
}

Test(reader_damage, m57_an_event_of_impossible_size_is_refused_with_its_place)
{
    maker_begin_chunk(&maker);
    maker_sample(&maker, 1, 0, 0, 0, 1);
    const size_t at = maker.used_bytes;
    maker_byte(&maker, 0);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 1);
    struct reading reading = read_made();
    char place[32];
    snprintf(place, sizeof place, "byte %zu", at);
    cr_expect_eq(reading.events, 1);
    expect_refused(&reading, place);
    maker.bytes[at] = 0x7f; /* past the end of the chunk? no: inside; then garbage */
    reading = read_made();
    cr_expect_leq(reading.events, 2);
}

Test(reader_damage, m57_a_chain_of_checkpoints_cannot_loop_or_leave_the_chunk)
{
    static const int64_t deltas[] = {1, 40, -1, -1000000, INT64_MIN, INT64_MAX, -60};

    for (size_t i = 0; i < JW_COUNT_OF(deltas); i++) {
        maker_begin_chunk(&maker);
        maker_metadata(&maker);
        const size_t begin = maker_begin_event(&maker, 1);
        maker.checkpoint = begin;
        maker_varint(&maker, 1);
        maker_varint(&maker, 0);
        maker_varint(&maker, (uint64_t)deltas[i]);
        maker_byte(&maker, 0);
        maker_varint(&maker, 0);
        maker_end_event(&maker, begin);
        maker_end_chunk(&maker, 1);
        const struct reading reading = read_made();
        cr_expect_neq(reading.error[0], '\0', "delta %lld", (long long)deltas[i]);
        maker_close(&maker);
    }
}

Test(reader_damage, s18_counts_larger_than_their_bytes_end_with_them)
{
    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    const size_t begin = maker_begin_checkpoint(&maker, 1);
    maker_pool(&maker, MAKER_TRACE, UINT64_MAX);
    maker_varint(&maker, 1);
    maker_byte(&maker, 0);
    maker_varint(&maker, UINT64_MAX); /* frames */
    maker_end_event(&maker, begin);
    maker_end_chunk(&maker, 1);
    const struct reading reading = read_made();
    expect_refused(&reading, "longer than its event");
}

Test(reader_damage, s18_types_that_contain_themselves_or_nothing_are_refused)
{
    static const char *const cases[][9] = {
        {"root", "  metadata", "    class name=a.A id=5", "      field name=a class=5"},
        {"root", "  metadata", "    class name=a.A id=5", "      field name=b class=6",
         "    class name=a.B id=6", "      field name=a class=5 dimension=1"},
        {"root", "  metadata", "    class name=a.Empty id=5", "    class name=a.B id=6",
         "      field name=a class=5 dimension=1"},
        {"root", "  metadata", "    class name=a.A id=5", "      field name=a class=77"},
        {"root", "  metadata", "    class name=a.A id=5", "    class name=a.B id=5"},
        {"root", "  metadata", "    class name=a.A id=-5"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        maker_begin_chunk(&maker);
        maker_metadata_from(&maker, cases[i]);
        maker_end_chunk(&maker, 1);
        const struct reading reading = read_made();
        cr_expect_neq(reading.error[0], '\0', "case %zu", i);
        maker_close(&maker);
    }
}

Test(reader_damage, s18_structs_nested_too_deep_are_refused)
{
    static char rows[64][64];
    const char *pointers[66] = {"root", "  metadata"};
    size_t count = 2;

    for (int i = 0; i < 30; i++) {
        snprintf(rows[2 * i], sizeof rows[0], "    class name=a.T%d id=%d", i, 100 + i);
        snprintf(rows[2 * i + 1], sizeof rows[0], "      field name=f class=%d", 101 + i);
        pointers[count++] = rows[2 * i];
        pointers[count++] = rows[2 * i + 1];
    }
    pointers[count++] = "    class name=int id=130";
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, pointers);
    maker_end_chunk(&maker, 1);
    const struct reading reading = read_made();
    expect_refused(&reading, "nests too deep");
}

Test(reader_damage, m57_any_flipped_byte_is_read_or_refused_but_never_out_of_bounds)
{
    maker_usual_chunk(&maker, 1);
    maker_usual_chunk(&maker, 2);
    srandom(7);
    for (size_t i = 0; i < maker.used_bytes; i += 1 + (size_t)random() % 3) {
        const unsigned char before = maker.bytes[i];

        maker.bytes[i] = (unsigned char)(before ^ (1 + random() % 255));
        const struct reading reading = read_made();
        cr_expect_leq(reading.events, 200);
        maker.bytes[i] = before;
    }
}

Test(reader_damage, a_file_that_shrinks_while_it_is_read_is_an_error_and_no_signal)
{
    static unsigned char zeros[400000];
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    const size_t padding = maker_begin_event(&maker, 999);
    maker_raw(&maker, zeros, sizeof zeros);
    maker_end_event(&maker, padding);
    maker_sample(&maker, 1, 0, 0, 0, 1);
    maker_end_chunk(&maker, 1);
    cr_assert(maker_save(&maker, path));
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert(reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err));
    cr_assert_eq(truncate(path, 5000), 0);
    cr_expect_not(jfr_reader_next_event(reader, &event, &err));
    cr_expect_not_null(strstr(err.message, "shorter than"), "%s", err.message);
    jfr_reader_close(reader);
}

Test(reader_damage, m50_every_allocation_may_fail)
{
    maker_usual_chunk(&maker, 1);
    cr_assert(maker_save(&maker, path));
    for (uint64_t nth = 1;; nth++) {
        jw_alloc_fail_after(nth);
        const struct reading reading = read_all(path);
        jw_alloc_fail_after(0);
        if (reading.error[0] == '\0' && reading.texts == 7 + 11) /* states, and methods of frames */
            break;
        cr_assert_lt(nth, 2000, "never whole: %u texts, '%s'", reading.texts, reading.error);
    }
}
