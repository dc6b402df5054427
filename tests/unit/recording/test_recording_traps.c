/*
 * The traps of the format: each is something that a reader does not forgive. A test looks at a recording
 * of ours for it and, where the trap is one of bytes, sets it and sees the checker find it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_types.h"
#include "jfr/jfr_writer.h"
#include "os/os_output.h"
#include "support/jfr_check.h"

static char path[] = "/tmp/jaywalk-traps-XXXXXX";
static unsigned char *bytes;
static size_t length_bytes;
static struct jfr_check check;

static void make(void)
{
    const int fd = mkstemp(path);
    const struct recording_config config = made_config(path, RECORDING_JFR);
    struct jw_error err = {{0}};

    cr_assert_geq(fd, 0);
    close(fd);
    cr_assert(made_recording(&config, 4, 3, &err), "%s", err.message);

    FILE *file = fopen(path, "rb");
    bytes = malloc(4 << 20);
    length_bytes = fread(bytes, 1, 4 << 20, file);
    fclose(file);
    cr_assert(jfr_check_bytes(bytes, length_bytes, &check), "%s", check.problem);
    cr_assert_eq(check.chunk_count, 4);
}

static void drop(void)
{
    unlink(path);
    free(bytes);
}

TestSuite(recording_traps, .init = make, .fini = drop, .timeout = 1800);

static uint64_t be64(const unsigned char *at)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

static void store_be64(unsigned char *at, uint64_t value)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

/* Begin of the n-th chunk. */
static unsigned char *chunk(unsigned number)
{
    unsigned char *at = bytes;

    for (unsigned i = 0; i < number; i++)
        at += be64(at + 8);
    return at;
}

/* Expects the checker to find `what` now. */
static void expect_found(const char *what)
{
    cr_expect(!jfr_check_bytes(bytes, length_bytes, &check), "%s was not found", what);
    cr_expect(strstr(check.problem, what), "found instead: %s", check.problem);
}

static const struct jfr_row *row(enum jfr_type type)
{
    for (size_t i = 0; i < jfr_row_count; i++)
        if (jfr_rows[i].kind != JFR_ROW_FIELD && jfr_rows[i].type == type)
            return &jfr_rows[i];
    return NULL;
}

static const struct jfr_row *field(enum jfr_type type, const char *name)
{
    for (const struct jfr_row *at = row(type) + 1;
         at < jfr_rows + jfr_row_count && at->kind == JFR_ROW_FIELD; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    cr_assert(false, "%s has no field %s", row(type)->name, name);
    return NULL;
}

/* Place of a text in the file, written as a JFR string; NULL if none. */
static unsigned char *find_text(const char *text)
{
    unsigned char wanted[128] = {3, (unsigned char)strlen(text)};

    memcpy(wanted + 2, text, strlen(text));
    return memmem(bytes, length_bytes, wanted, strlen(text) + 2);
}

Test(recording_traps, header_magic)
{
    cr_expect_eq(memcmp(bytes, "FLR\0\0\2\0\1", 8), 0);
    /* Chunks fill the file: nothing stands behind the last one. */
    cr_expect_eq(chunk(4), bytes + length_bytes);
    bytes[length_bytes++] = 0;
    expect_found("no chunk begins here");
}

Test(recording_traps, header_flags)
{
    for (unsigned i = 0; i < 4; i++)
        cr_expect_eq(chunk(i)[67], i == 3 ? 3 : 1, "compressed integers; final on the last only");
    bytes[67] = 0;
    expect_found("state or flags");
}

Test(recording_traps, header_state)
{
    for (unsigned i = 0; i < 4; i++)
        cr_expect_eq(chunk(i)[64], 0);
    bytes[64] = 1;
    expect_found("state or flags");
}

Test(recording_traps, event_slack)
{
    /* The version line is the last but five fields of its event: a shorter one leaves bytes behind. */
    unsigned char *text = find_text("app.Hot");

    cr_assert_not_null(text);
    text[0] = 0; /* null: its length and characters stay as rubbish */
    expect_found("");
}

Test(recording_traps, event_start_time)
{
    for (size_t i = 0; i < jfr_row_count; i++)
        if (jfr_rows[i].kind == JFR_ROW_EVENT) {
            cr_expect_str_eq(jfr_rows[i + 1].name, "startTime");
            cr_expect_eq(jfr_rows[i + 1].type, JFR_TYPE_LONG);
            cr_expect_eq(jfr_rows[i + 1].unit, JFR_UNIT_TICKS_TIME);
        }
}

Test(recording_traps, event_duration)
{
    for (size_t i = 2; i < jfr_row_count; i++)
        if (jfr_rows[i].kind == JFR_ROW_FIELD && strcmp(jfr_rows[i].name, "duration") == 0)
            cr_expect_eq(jfr_rows[i - 2].kind, JFR_ROW_EVENT, "duration stands second");
}

Test(recording_traps, metadata_same_id)
{
    const struct jfr_declaration declaration = {.dialect = JFR_DIALECT_STANDARD};
    struct jfr_buffer one = {0};
    struct jfr_buffer other = {0};

    /* Equal metadata, equal id, in each chunk; the id is made from the content. */
    const uint64_t id = check.metadata_id;
    cr_expect_neq(id, 0);
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *at = chunk(i);

        cr_expect(jfr_check_bytes(at, (size_t)be64(at + 8), &check), "%s", check.problem);
        cr_expect_eq(check.metadata_id, id);
    }
    jfr_put_metadata(&one, 1, &declaration);
    jfr_put_metadata(&other, 1, &declaration);
    cr_expect_eq(one.used_bytes, other.used_bytes);
    cr_expect_arr_eq(one.bytes, other.bytes, one.used_bytes);
    jfr_buffer_close(&one);
    jfr_buffer_close(&other);
}

Test(recording_traps, event_fields_change)
{
    /* All chunks have the same metadata but for its time: compare from the id on. */
    const size_t skipped = 5 + 1 + 9 + 1;

    for (unsigned i = 1; i < 4; i++)
        cr_expect_eq(memcmp(bytes + 68 + skipped, chunk(i) + 68 + skipped, 4000), 0);
}

Test(recording_traps, metadata_content_type)
{
    const enum jfr_type units[] = {JFR_TYPE_TIMESTAMP, JFR_TYPE_TIMESPAN, JFR_TYPE_DATA_AMOUNT,
                                   JFR_TYPE_PERCENTAGE};

    for (size_t i = 0; i < JW_COUNT_OF(units); i++)
        cr_expect_eq(row(units[i])->kind, JFR_ROW_UNIT_CLASS, "%s", row(units[i])->name);
    cr_expect_not_null(find_text("jdk.jfr.ContentType"));
}

Test(recording_traps, metadata_annotation_empty)
{
    /* A unit that declares a value gets one; the encoder knows which. */
    for (size_t i = 0; i + 1 < jfr_row_count; i++)
        if (jfr_rows[i].kind == JFR_ROW_UNIT_CLASS && jfr_rows[i + 1].kind == JFR_ROW_FIELD)
            cr_expect(jfr_rows[i].type == JFR_TYPE_TIMESTAMP ||
                          jfr_rows[i].type == JFR_TYPE_TIMESPAN ||
                          jfr_rows[i].type == JFR_TYPE_DATA_AMOUNT,
                      "%s is not known to have a value", jfr_rows[i].name);
    cr_expect_not_null(find_text("NANOSECONDS"));
    cr_expect_not_null(find_text("MILLISECONDS_SINCE_EPOCH"));
    cr_expect_not_null(find_text("BYTES"));
}

Test(recording_traps, event_array_field)
{
    bool is_event = false;

    for (size_t i = 0; i < jfr_row_count; i++) {
        if (jfr_rows[i].kind != JFR_ROW_FIELD)
            is_event = jfr_rows[i].kind == JFR_ROW_EVENT;
        else
            cr_expect(!is_event || (jfr_rows[i].flags & JFR_ARRAY) == 0, "%s", jfr_rows[i].name);
    }
}

Test(recording_traps, checkpoint_unchained)
{
    /* The rename made a second checkpoint in a chunk: both are in the chain. */
    cr_expect_gt(check.checkpoint_count, check.chunk_count);
    store_be64(bytes + 16, 68 + 0);
    expect_found("leads to another event");
}

Test(recording_traps, checkpoint_length)
{
    unsigned char *checkpoint = bytes + be64(bytes + 16);

    checkpoint[0] ^= 1;
    expect_found("");
}

Test(recording_traps, unresolved_reference)
{
    /* A checkpoint behind which no other can be found: what the lost ones defined is missing. */
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *at = chunk(i);
        unsigned char *checkpoint = at + be64(at + 16);

        while (*checkpoint++ >= 0x80)
            ;
        checkpoint++;
        while (*checkpoint++ >= 0x80)
            ;
        checkpoint++;
        memset(checkpoint, 0, checkpoint[0] >= 0x80 ? 0 : 1);
        if (checkpoint[0] < 0x80)
            continue;
        checkpoint[0] = 0x80;
        memset(checkpoint + 1, 0x80, 7);
        checkpoint[8] = 0;
        expect_found("is not defined");
        return;
    }
    cr_assert(false, "no chunk has two checkpoints");
}

Test(recording_traps, pool_redefined)
{
    /* Nothing is defined twice in a chunk: the checker would say so. Two chunks as one file are two. */
    cr_expect_gt(check.constant_count, 100);
}

Test(recording_traps, pool_id_reused)
{
    /* The same constant in a later chunk has the same key; under that key stands nothing else. */
    unsigned char *later = chunk(3);
    unsigned char *name = memmem(later, length_bytes - (size_t)(later - bytes), "\3\4copy", 6);

    cr_assert_not_null(name);
    name[5] = 'e';
    expect_found("meant something else before");
}

Test(recording_traps, one_method_has_one_key_in_all_chunks)
{
    /* Key and text of the symbol "spin": key, 3, 4, "spin". */
    unsigned char key = 0;

    for (unsigned i = 0; i < 4; i++) {
        unsigned char *at = chunk(i);
        unsigned char *name = memmem(at, (size_t)be64(at + 8), "\3\4spin", 6);

        cr_assert_not_null(name);
        cr_expect(i == 0 || name[-1] == key, "jfr view would show a row for each chunk");
        key = name[-1];
    }
}

Test(recording_traps, metadata_type_field_class)
{
    cr_expect_eq(field(JFR_TYPE_METHOD, "modifiers")->type, JFR_TYPE_INT);
    cr_expect_eq(field(JFR_TYPE_CLASS, "modifiers")->type, JFR_TYPE_INT);
    cr_expect_eq(field(JFR_TYPE_STACK_FRAME, "lineNumber")->type, JFR_TYPE_INT);
    cr_expect_eq(field(JFR_TYPE_STACK_FRAME, "bytecodeIndex")->type, JFR_TYPE_INT);
    cr_expect_eq(field(JFR_TYPE_THREAD, "javaThreadId")->type, JFR_TYPE_LONG);
    cr_expect_eq(field(JFR_TYPE_THREAD, "osThreadId")->type, JFR_TYPE_LONG);
    cr_expect_eq(field(JFR_TYPE_STACK_TRACE, "truncated")->type, JFR_TYPE_BOOLEAN);
    /* JMC resolves constants in the order of their types. */
    cr_expect_lt(JFR_TYPE_STACK_FRAME, JFR_TYPE_FRAME_KEY);
    cr_expect_lt(JFR_TYPE_FRAME_KEY, JFR_TYPE_STACK_TRACE);
    cr_expect_eq(field(JFR_TYPE_METHOD, "hidden")->type, JFR_TYPE_BOOLEAN);
    cr_expect_eq(field(JFR_TYPE_CLASS, "hidden")->type, JFR_TYPE_BOOLEAN);
}

Test(recording_traps, method_no_class)
{
    /* Native code and marks have a class too; the checker looks at each method of each chunk. */
    cr_expect_not_null(find_text("libc.so.6"));
    cr_expect_not_null(find_text("[GC active]"));
}

Test(recording_traps, class_package)
{
    unsigned char *package = find_text("java/util");

    cr_assert_not_null(package);
    package[2] = 'k';
    expect_found("is not in its package");
}

Test(recording_traps, m60_chunk_clock)
{
    /* Wall time is where the recording began plus ticks, in every chunk, whatever the wall clock did. */
    const uint64_t apart = be64(bytes + 32) - be64(bytes + 48);

    for (unsigned i = 1; i < 4; i++)
        cr_expect_eq(be64(chunk(i) + 32) - be64(chunk(i) + 48), apart);
}

Test(recording_traps, chunk_frequency)
{
    for (unsigned i = 0; i < 4; i++)
        cr_expect_eq(be64(chunk(i) + 56), 1000000000);
}

Test(recording_traps, chunk_same_start)
{
    for (unsigned i = 1; i < 4; i++)
        cr_expect_gt(be64(chunk(i) + 32), be64(chunk(i - 1) + 32));
    memcpy(chunk(1) + 48, bytes + 48, 8);
    expect_found("starts no later");
}

Test(recording_traps, pool_type_id_reused)
{
    /* Type ids come from one table: each is declared once, none is 0 or 1. */
    bool is_used[JFR_TYPE_LIMIT] = {false};

    for (size_t i = 0; i < jfr_row_count; i++) {
        if (jfr_rows[i].kind == JFR_ROW_FIELD)
            continue;
        cr_expect_geq(jfr_rows[i].type, JFR_TYPE_FIRST);
        cr_expect(!is_used[jfr_rows[i].type], "%s", jfr_rows[i].name);
        is_used[jfr_rows[i].type] = true;
    }
}

Test(recording_traps, setting_event_id)
{
    cr_expect_geq(jfr_check_events(&check, "jdk.ActiveSetting"), 4 * 12);
    cr_expect(jfr_type_is_event(jfr_type_named("jdk.ExecutionSample")));
    cr_expect(!jfr_type_is_event(jfr_type_named("java.lang.Thread")));
    cr_expect_eq(jfr_type_named("no.such.Event"), JFR_TYPE_LIMIT);
}

Test(recording_traps, setting_value)
{
    cr_expect_not_null(find_text("10 ms"));
    cr_expect_not_null(find_text("1000 ms"));
}
