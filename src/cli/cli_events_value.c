/*
 * Values of events as JSON, by the metadata of the file: null where there is none. Context: tool.
 *
 * A reference is what it leads to. An object inside of another of its own type (the parent of a thread group, the class
 * of a class's loader) is its name, so that nothing goes round; what a recording could still unfold is counted.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/cli_events_internal.h"
#include "cli/cli_feed_internal.h"

static bool put_value(struct cli_events *events, const struct jfr_field *field);

/* ---- text that grows ---- */

void cli_buffer_put(struct cli_buffer *buffer, const char *bytes, size_t count_bytes)
{
    const size_t wanted_bytes = buffer->used_bytes + count_bytes;

    if (buffer->has_failed)
        return;
    if (wanted_bytes > buffer->capacity_bytes) {
        const size_t capacity_bytes = wanted_bytes < 2048 ? 4096 : wanted_bytes * 2;
        char *grown =
            wanted_bytes > CLI_BUFFER_LIMIT ? NULL : jw_realloc(buffer->bytes, capacity_bytes);

        if (grown == NULL) {
            buffer->has_failed = true;
            return;
        }
        buffer->bytes = grown;
        buffer->capacity_bytes = capacity_bytes;
    }
    if (count_bytes > 0)
        memcpy(buffer->bytes + buffer->used_bytes, bytes, count_bytes);
    buffer->used_bytes = wanted_bytes;
}

void cli_buffer_text(struct cli_buffer *buffer, const char *text)
{
    cli_buffer_put(buffer, text, strlen(text));
}

/* Ends a line for a script or a terminal, or turns the direction of what is read behind it. */
static bool is_dangerous(const char *text, size_t length_bytes)
{
    const unsigned char *byte = (const unsigned char *)text;

    if (length_bytes == 2)
        return byte[0] == 0xc2 && byte[1] < 0xa0;
    return length_bytes == 3 && byte[0] == 0xe2 &&
           ((byte[1] == 0x80 && byte[2] >= 0xa8 && byte[2] <= 0xae) ||
            (byte[1] == 0x81 && byte[2] >= 0xa6 && byte[2] <= 0xa9));
}

static void put_escape(struct cli_buffer *buffer, unsigned code_point)
{
    char escape[8];

    snprintf(escape, sizeof escape, "\\u%04x", code_point & 0xffff);
    cli_buffer_text(buffer, escape);
}

void cli_buffer_json(struct cli_buffer *buffer, const char *text)
{
    size_t left_bytes = strlen(text);

    while (left_bytes > 0) {
        size_t plain_bytes = 0;

        while (plain_bytes < left_bytes && (unsigned char)text[plain_bytes] >= 0x20 &&
               (unsigned char)text[plain_bytes] < 0x7f && text[plain_bytes] != '"' &&
               text[plain_bytes] != '\\')
            plain_bytes++;
        cli_buffer_put(buffer, text, plain_bytes);
        text += plain_bytes;
        left_bytes -= plain_bytes;
        if (left_bytes == 0)
            break;

        const size_t length_bytes = jw_utf8_length(text, left_bytes);
        const unsigned char *byte = (const unsigned char *)text;
        if (length_bytes == 0)
            put_escape(buffer, 0xfffd);
        else if (length_bytes == 1)
            put_escape(buffer, byte[0]);
        else if (!is_dangerous(text, length_bytes))
            cli_buffer_put(buffer, text, length_bytes);
        else
            put_escape(buffer, length_bytes == 2
                                   ? byte[1]
                                   : 0x2000u | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu));
        text += length_bytes == 0 ? 1 : length_bytes;
        left_bytes -= length_bytes == 0 ? 1 : length_bytes;
    }
}

static void put_string(struct cli_events *events, const char *text)
{
    cli_buffer_put(&events->line, "\"", 1);
    cli_buffer_json(&events->line, text);
    cli_buffer_put(&events->line, "\"", 1);
}

static void put_key(struct cli_events *events, const char *name, bool *is_first)
{
    if (!*is_first)
        cli_buffer_put(&events->line, ",", 1);
    *is_first = false;
    put_string(events, name);
    cli_buffer_put(&events->line, ":", 1);
}

static void put_null(struct cli_events *events)
{
    cli_buffer_text(&events->line, "null");
}

static void put_integer(struct cli_events *events, int64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRId64, number);
    cli_buffer_text(&events->line, digits);
}

/* ---- time ---- */

bool cli_is_moment(enum jfr_measure measure)
{
    return measure == JFR_MEASURE_TIME_TICKS || measure == JFR_MEASURE_TIME_MS;
}

void cli_events_put_time(struct cli_events *events, int64_t unix_ns)
{
    const int64_t second_ns = (int64_t)JW_NS_PER_SECOND;
    int64_t rest_ns = unix_ns % second_ns;
    struct tm moment;
    char text[80];

    if (rest_ns < 0)
        rest_ns += second_ns;

    const time_t second = (unix_ns - rest_ns) / second_ns;
    if (events->times == CLI_TIMES_NS)
        snprintf(text, sizeof text, "%" PRId64, unix_ns);
    else if (events->times == CLI_TIMES_MS)
        snprintf(text, sizeof text, "%" PRId64,
                 (int64_t)second * 1000 + rest_ns / (int64_t)JW_NS_PER_MS);
    else if (gmtime_r(&second, &moment) != NULL)
        snprintf(text, sizeof text, "\"%04d-%02d-%02dT%02d:%02d:%02d.%09dZ\"",
                 moment.tm_year + 1900, moment.tm_mon + 1, moment.tm_mday, moment.tm_hour,
                 moment.tm_min, moment.tm_sec, (int)rest_ns);
    else
        snprintf(text, sizeof text, "null");
    cli_buffer_text(&events->line, text);
}

/* ---- values that stand alone ---- */

static void put_number(struct cli_events *events, const struct jfr_field *field,
                       const struct jfr_value *bare)
{
    int64_t number;
    uint64_t whole;
    char digits[24];

    if (field->measure != JFR_MEASURE_NONE) {
        if (!cli_field_ns(&events->chunk, field, &number))
            put_null(events);
        else if (cli_is_moment(field->measure))
            cli_events_put_time(events, number);
        else
            put_integer(events, number);
    } else if (field->is_unsigned && jfr_value_unsigned(bare, &whole)) {
        snprintf(digits, sizeof digits, "%" PRIu64, whole);
        cli_buffer_text(&events->line, digits);
    } else if (jfr_value_integer(bare, &number)) {
        put_integer(events, number);
    } else {
        put_null(events);
    }
}

/* As many digits as tell it from its neighbours; JSON has no word for what is no number. */
static void put_real(struct cli_events *events, const struct jfr_value *bare, int digits)
{
    double number;
    char text[40];

    if (!jfr_value_number(bare, &number) || !isfinite(number)) {
        put_null(events);
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, number); /* %: whatever its point is, see below */
    for (char *at = text; *at != '\0'; at++) {
        if (strchr("+-0123456789e", *at) == NULL)
            *at = '.';
    }
    cli_buffer_text(&events->line, text);
}

static void put_character(struct cli_events *events, const struct jfr_value *bare)
{
    int64_t unit = 0;

    if (!jfr_value_integer(bare, &unit)) {
        put_null(events);
        return;
    }
    cli_buffer_put(&events->line, "\"", 1);
    put_escape(&events->line, unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : (unsigned)unit);
    cli_buffer_put(&events->line, "\"", 1);
}

static void put_text(struct cli_events *events, const struct jfr_value *bare)
{
    if (jfr_value_text(bare, &events->text))
        put_string(events, events->text.text);
    else
        put_null(events);
}

/* ---- what is kept ---- */

/* Appends what was kept under this key; false: nothing was. */
static bool put_kept(struct cli_events *events, const uint64_t key[2])
{
    const uint64_t place = jw_map_get(&events->kept_of, key, 2 * sizeof *key);
    uint32_t length;

    if (place == 0)
        return false;
    memcpy(&length, events->kept.bytes + place - 1, sizeof length);
    cli_buffer_put(&events->line, events->kept.bytes + place - 1 + sizeof length, length);
    return true;
}

/* Keeps the line from there on. */
static void keep(struct cli_events *events, const uint64_t key[2], size_t from)
{
    const uint32_t length = (uint32_t)(events->line.used_bytes - from);
    struct cli_buffer *kept = &events->kept;

    if (events->line.has_failed)
        return;
    if (kept->used_bytes + length + sizeof length > CLI_BUFFER_LIMIT) {
        jw_map_clear(&events->kept_of);
        kept->used_bytes = 0;
    }

    const size_t place = kept->used_bytes;
    cli_buffer_put(kept, (const char *)&length, sizeof length);
    cli_buffer_put(kept, events->line.bytes + from, length);
    if (kept->has_failed) { /* then it is made each time */
        kept->has_failed = false;
        kept->used_bytes = place;
        return;
    }
    uint64_t *known = jw_map_put(&events->kept_of, key, 2 * sizeof *key);
    if (known == NULL)
        kept->used_bytes = place;
    else
        *known = place + 1;
}

/* ---- stacks ---- */

/* "class":"java/lang/String","method":"charAt","descriptor":"(I)C" */
static bool put_method(struct cli_events *events, const struct jfr_value *value)
{
    /* Odd: a method that is no part of a frame is kept as any other object. */
    const uint64_t key[] = {(uint64_t)(uintptr_t)value->type | 1, jfr_value_key(value)};
    const size_t from = events->line.used_bytes;
    struct jfr_value method;

    if (key[1] != 0 && put_kept(events, key))
        return true;

    const enum jfr_shape shape = jfr_value_shape(value, &method);
    events->missing += shape == JFR_SHAPE_MISSING;
    if (shape != JFR_SHAPE_OBJECT)
        method.reader = NULL;
    if (!jfr_method_read(&method, &events->method))
        return false;
    cli_buffer_text(&events->line, "\"class\":");
    put_string(events, events->method.class_name.text);
    cli_buffer_text(&events->line, ",\"method\":");
    put_string(events, events->method.name.text);
    cli_buffer_text(&events->line, ",\"descriptor\":");
    put_string(events, events->method.descriptor.text);
    if (key[1] != 0 && shape == JFR_SHAPE_OBJECT)
        keep(events, key, from);
    return true;
}

static bool put_frame(struct cli_events *events, const struct jfr_value *frame)
{
    struct jfr_fields fields;
    struct jfr_field field;
    struct jfr_value bare;
    bool is_first = true;

    if (jfr_value_shape(frame, &bare) != JFR_SHAPE_OBJECT || !jfr_fields_begin(&bare, &fields)) {
        put_null(events);
        return true;
    }
    cli_buffer_put(&events->line, "{", 1);
    while (jfr_fields_next(&fields, &field)) {
        if (events->values_left == 0)
            return false;
        events->values_left--;
        if (strcmp(field.name, "method") == 0) {
            if (!is_first)
                cli_buffer_put(&events->line, ",", 1);
            is_first = false;
            if (!put_method(events, &field.value))
                return false;
            continue;
        }
        put_key(events, field.name, &is_first);
        if (!put_value(events, &field))
            return false;
    }
    cli_buffer_put(&events->line, "}", 1);
    return !fields.is_cut;
}

static bool is_frame_array(const struct jfr_value *array)
{
    return strcmp(jfr_value_type_name(array), "jdk.types.StackFrame") == 0;
}

/* ---- objects ---- */

static bool put_array(struct cli_events *events, const struct jfr_field *field,
                      const struct jfr_value *bare)
{
    const bool has_frames = is_frame_array(bare);
    struct jfr_field element = *field;
    struct jfr_array array;
    bool is_first = true;

    if (events->depth == CLI_EVENTS_PATH) {
        put_null(events);
        return true;
    }
    if (!jfr_array_begin(bare, &array))
        return false;
    events->path[events->depth++] = NULL;
    cli_buffer_put(&events->line, "[", 1);
    for (uint64_t left = array.left; left > 0; left--) {
        if (!is_first)
            cli_buffer_put(&events->line, ",", 1);
        is_first = false;
        if (!jfr_array_next(&array, &element.value) ||
            !(has_frames ? put_frame(events, &element.value) : put_value(events, &element)))
            return false;
    }
    cli_buffer_put(&events->line, "]", 1);
    events->depth--;
    return true;
}

static bool is_on_path(const struct cli_events *events, const struct jfr_reader_type *type)
{
    for (unsigned i = 0; i < events->depth; i++) {
        if (events->path[i] == type)
            return true;
    }
    return events->depth == CLI_EVENTS_PATH;
}

/* Of an object that stands in one of its own type. */
static void put_name_of(struct cli_events *events, const struct jfr_value *object)
{
    struct jfr_value name;

    if (jfr_value_field(object, "name", &name) && jfr_value_text(&name, &events->text))
        put_string(events, events->text.text);
    else
        put_null(events);
}

static bool is_named(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, name) == 0)
            return true;
    }
    return false;
}

bool cli_events_object(struct cli_events *events, const struct jfr_value *object,
                       const char *const *skips)
{
    struct jfr_fields fields;
    struct jfr_field field;
    bool is_first = true;
    bool is_good = true;

    if (is_on_path(events, object->type)) {
        put_name_of(events, object);
        return true;
    }
    events->path[events->depth++] = object->type;
    cli_buffer_put(&events->line, "{", 1);
    for (is_good = jfr_fields_begin(object, &fields);
         is_good && jfr_fields_next(&fields, &field);) {
        if (is_named(skips, field.name))
            continue;
        put_key(events, field.name, &is_first);
        is_good = put_value(events, &field);
    }
    cli_buffer_put(&events->line, "}", 1);
    events->depth--;
    return is_good && !fields.is_cut;
}

/* What a reference of an event leads to is the same each time: it is kept, where nothing stands around it. */
static bool put_object(struct cli_events *events, const struct jfr_field *field,
                       const struct jfr_value *bare)
{
    const uint64_t key[] = {(uint64_t)(uintptr_t)field->value.type, jfr_value_key(&field->value)};
    const bool is_kept = key[1] != 0 && events->depth <= 1;
    const size_t from = events->line.used_bytes;
    const uint64_t missing = events->missing;

    if (is_kept && put_kept(events, key))
        return true;
    if (!cli_events_object(events, bare, NULL))
        return false;
    /* Stacks are too many; and what is missing counts each time. */
    if (is_kept && missing == events->missing && events->line.used_bytes - from <= 4096)
        keep(events, key, from);
    return true;
}

static bool put_value(struct cli_events *events, const struct jfr_field *field)
{
    struct jfr_value bare;
    int64_t number = 0;

    if (events->values_left == 0 || events->line.has_failed)
        return false;
    events->values_left--;
    switch (jfr_value_shape(&field->value, &bare)) {
    case JFR_SHAPE_NULL:
        put_null(events);
        return true;
    case JFR_SHAPE_MISSING:
        events->missing++;
        put_null(events);
        return true;
    case JFR_SHAPE_BOOLEAN:
        if (jfr_value_integer(&bare, &number))
            cli_buffer_text(&events->line, number != 0 ? "true" : "false");
        else
            put_null(events);
        return true;
    case JFR_SHAPE_INTEGER:
        put_number(events, field, &bare);
        return true;
    case JFR_SHAPE_CHARACTER:
        put_character(events, &bare);
        return true;
    case JFR_SHAPE_FLOAT:
        put_real(events, &bare, 9);
        return true;
    case JFR_SHAPE_DOUBLE:
        put_real(events, &bare, 17);
        return true;
    case JFR_SHAPE_TEXT:
        put_text(events, &bare);
        return true;
    case JFR_SHAPE_OBJECT:
        return put_object(events, field, &bare);
    case JFR_SHAPE_ARRAY:
        return put_array(events, field, &bare);
    }
    return false;
}

bool cli_events_value(struct cli_events *events, const struct jfr_field *field)
{
    return put_value(events, field) && !events->line.has_failed;
}

void cli_events_begin_chunk(struct cli_events *events, const struct jfr_reader_chunk *chunk)
{
    events->chunk = *chunk;
    jw_map_clear(&events->kept_of);
    events->kept.used_bytes = 0;
}

void cli_events_forget(struct cli_events *events)
{
    jw_map_close(&events->kept_of);
    jw_free(events->kept.bytes);
    jw_free(events->line.bytes);
    events->kept = events->line = (struct cli_buffer){0};
    jfr_text_free(&events->text);
    jfr_method_free(&events->method);
}
