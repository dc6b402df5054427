/*
 * Events as rows of a table, as RFC 4180 has it. Context: tool.
 *
 * Of threads and classes a cell has the name, of a stack root;...;leaf, of any other object its JSON. Names come from
 * others: none ends its cell, and none is a formula to a spreadsheet.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_events_internal.h"

static const char *const columns_of_all[] = {"type",        "startTime",  "duration",
                                             "eventThread", "stackTrace", "values"};
/* Those that stand in columns of their own; samples call their thread by another name. */
static const char *const told_apart[] = {"startTime",  "duration",      "eventThread",
                                         "stackTrace", "sampledThread", NULL};
static const char *const told_apart_both[] = {"startTime", "duration", "eventThread", "stackTrace",
                                              NULL};

bool cli_columns_add(struct cli_columns *columns, const char *name)
{
    const size_t name_bytes = strlen(name) + 1;

    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->names[i], name) == 0)
            return true;
    }
    if (columns->count == columns->capacity) {
        const size_t capacity = columns->capacity == 0 ? 32 : columns->capacity * 2;
        char **grown = jw_realloc(columns->names, jw_mul_bytes(capacity, sizeof *grown));

        if (grown == NULL)
            return false;
        columns->names = grown;
        columns->capacity = capacity;
    }
    columns->names[columns->count] = jw_alloc(name_bytes);
    if (columns->names[columns->count] == NULL)
        return false;
    memcpy(columns->names[columns->count++], name, name_bytes);
    return true;
}

void cli_columns_close(struct cli_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        jw_free(columns->names[i]);
    jw_free(columns->names);
    *columns = (struct cli_columns){0};
}

/* Text of others, without the quotes around it. */
static void put_bare(struct cli_buffer *line, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0) {
            cli_buffer_put(line, " ", 1);
            text++;
            continue;
        }
        cli_buffer_put(line,
                       byte == '"'                   ? "\"\""
                       : byte < 0x20 || byte == 0x7f ? " "
                                                     : text,
                       byte == '"' ? 2 : 1);
    }
}

static void put_cell(struct cli_buffer *line, const char *text)
{
    cli_buffer_put(line, "\"", 1);
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
        cli_buffer_put(line, "'", 1);
    put_bare(line, text);
    cli_buffer_put(line, "\"", 1);
}

/* What was put behind `from` becomes a quoted cell; "null" an empty one. */
static void quote_from(struct cli_events *events, size_t from)
{
    struct cli_buffer *line = &events->line;
    struct cli_buffer quoted = {0};

    if (line->has_failed)
        return;
    if (line->used_bytes - from == 4 && memcmp(line->bytes + from, "null", 4) == 0) {
        line->used_bytes = from;
        return;
    }
    cli_buffer_put(line, "", 1); /* its end */
    if (!line->has_failed)
        put_cell(&quoted, line->bytes + from);
    line->used_bytes = from;
    line->has_failed |= quoted.has_failed;
    if (!quoted.has_failed)
        cli_buffer_put(line, quoted.bytes, quoted.used_bytes);
    jw_free(quoted.bytes);
}

/* ---- cells ---- */

static bool text_of(struct cli_events *events, const struct jfr_value *object, const char *name)
{
    struct jfr_value field;

    return jfr_value_field(object, name, &field) && jfr_value_text(&field, &events->text) &&
           events->text.length_bytes > 0;
}

static void put_thread(struct cli_events *events, const struct jfr_value *thread)
{
    struct jfr_value field;
    int64_t number;
    char digits[24];

    if (text_of(events, thread, "javaName") || text_of(events, thread, "osName")) {
        put_cell(&events->line, events->text.text);
    } else if (jfr_value_field(thread, "osThreadId", &field) &&
               jfr_value_integer(&field, &number)) {
        snprintf(digits, sizeof digits, "%" PRId64, number);
        cli_buffer_text(&events->line, digits);
    }
}

/* One frame of a stack: no semicolon but those between frames. */
static bool put_frame_text(struct cli_events *events, struct cli_buffer *to,
                           const struct jfr_stack_frame *frame)
{
    const struct jfr_method *method = &events->method;
    char line[24] = "";

    if (!jfr_method_read(&frame->method, &events->method))
        return false;

    const bool has_class = method->class_name.length_bytes > 0;
    const bool has_method = method->name.length_bytes > 0;
    const size_t from = to->used_bytes;
    cli_buffer_text(to, method->class_name.text);
    if (has_class && has_method)
        cli_buffer_put(to, ".", 1);
    cli_buffer_text(to, has_class || has_method ? method->name.text : "[unknown]");
    for (size_t i = from; !to->has_failed && i < to->used_bytes; i++) {
        if (to->bytes[i] == ';')
            to->bytes[i] = ':';
    }
    if (frame->line > 0)
        snprintf(line, sizeof line, ":%" PRId64, frame->line);
    cli_buffer_text(to, line);
    return true;
}

/* Recordings have the leaf first; the text begins at the root. */
static bool put_stack(struct cli_events *events, const struct jfr_value *trace)
{
    struct cli_buffer frames = {0}; /* each with its 0 byte, leaf first */
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    bool is_good = true;
    bool is_first = true;

    if (!jfr_stack_begin(trace, &stack))
        return true;
    while (is_good && jfr_stack_next(&stack, &frame)) {
        if (events->values_left == 0) {
            is_good = false;
            break;
        }
        events->values_left--;
        is_good = put_frame_text(events, &frames, &frame);
        cli_buffer_put(&frames, "", 1);
    }
    is_good = is_good && !frames.has_failed;
    cli_buffer_put(&events->line, "\"", 1);
    for (size_t at = is_good ? frames.used_bytes : 0; at > 0;) {
        size_t begin = at - 1;

        while (begin > 0 && frames.bytes[begin - 1] != '\0')
            begin--;
        if (!is_first)
            cli_buffer_put(&events->line, ";", 1);
        else if (strchr("=+-@", frames.bytes[begin]) != NULL)
            cli_buffer_put(&events->line, "'", 1);
        is_first = false;
        put_bare(&events->line, frames.bytes + begin);
        at = begin;
    }
    cli_buffer_put(&events->line, "\"", 1);
    jw_free(frames.bytes);
    return is_good;
}

/* "com/acme/Shop.add", as in a stack. */
static void put_method(struct cli_events *events, const struct jfr_value *bare)
{
    struct cli_buffer text = {0};

    if (jfr_method_read(bare, &events->method)) {
        cli_buffer_text(&text, events->method.class_name.text);
        cli_buffer_put(&text, ".", 1);
        cli_buffer_text(&text, events->method.name.text);
        cli_buffer_put(&text, "", 1);
        events->line.has_failed |= text.has_failed;
        if (!text.has_failed)
            put_cell(&events->line, text.bytes);
    }
    jw_free(text.bytes);
}

/* False: it is none that stands for itself. */
static bool put_letter(struct cli_events *events, const struct jfr_value *bare)
{
    int64_t unit = 0;

    if (!jfr_value_integer(bare, &unit) || unit <= 0x20 || unit >= 0x7f)
        return false;

    const char text[] = {(char)unit, '\0'};
    put_cell(&events->line, text);
    return true;
}

static bool put_cell_of(struct cli_events *events, const struct jfr_field *field)
{
    const size_t from = events->line.used_bytes;
    struct jfr_value bare;
    const enum jfr_shape shape = jfr_value_shape(&field->value, &bare);
    const char *type = shape == JFR_SHAPE_OBJECT ? jfr_value_type_name(&bare) : "";

    if (shape == JFR_SHAPE_CHARACTER && put_letter(events, &bare))
        return true;
    if (shape == JFR_SHAPE_TEXT || shape == JFR_SHAPE_CHARACTER) {
        if (jfr_value_text(&bare, &events->text)) {
            put_cell(&events->line, events->text.text);
            return true;
        }
    } else if (strcmp(type, "java.lang.Thread") == 0) {
        put_thread(events, &bare);
        return true;
    } else if (strcmp(type, "java.lang.Class") == 0) {
        if (text_of(events, &bare, "name"))
            put_cell(&events->line, events->text.text);
        return true;
    } else if (strcmp(type, "jdk.types.Method") == 0) {
        put_method(events, &bare);
        return true;
    } else if (strcmp(type, "jdk.types.StackTrace") == 0) {
        return put_stack(events, &bare);
    }
    if (!cli_events_value(events, field))
        return false;
    if (shape == JFR_SHAPE_OBJECT || shape == JFR_SHAPE_ARRAY || shape == JFR_SHAPE_NULL ||
        shape == JFR_SHAPE_MISSING || shape == JFR_SHAPE_TEXT || shape == JFR_SHAPE_CHARACTER) {
        quote_from(events, from);
    } else if (events->line.bytes[from] == '"') {
        /* a moment: it needs no quotes */
        memmove(events->line.bytes + from, events->line.bytes + from + 1,
                events->line.used_bytes - from - 1);
        events->line.used_bytes -= 2;
    } else if (events->line.bytes[from] == 'n') {
        events->line.used_bytes = from; /* null */
    }
    return true;
}

/* ---- rows ---- */

void cli_csv_head(struct cli_events *events, const struct cli_columns *columns)
{
    events->line.used_bytes = 0;
    if (columns->is_of_all) {
        for (size_t i = 0; i < JW_COUNT_OF(columns_of_all); i++) {
            cli_buffer_text(&events->line, i == 0 ? "" : ",");
            cli_buffer_text(&events->line, columns_of_all[i]);
        }
    } else {
        cli_buffer_text(&events->line, "type");
        for (size_t i = 0; i < columns->count; i++) {
            cli_buffer_text(&events->line, ",");
            put_cell(&events->line, columns->names[i]);
        }
    }
    cli_buffer_text(&events->line, "\r\n");
}

/* The field of this name; false: there is none. `is_cut`: the event ends before it. */
static bool find_field(const struct jfr_value *event, const char *name, struct jfr_field *field,
                       bool *is_cut)
{
    struct jfr_fields fields;

    if (!jfr_fields_begin(event, &fields))
        return false;
    while (jfr_fields_next(&fields, field)) {
        if (strcmp(field->name, name) == 0)
            return true;
    }
    *is_cut = fields.is_cut;
    return false;
}

static bool put_column(struct cli_events *events, const struct jfr_value *event, const char *name)
{
    struct jfr_field field;
    bool is_cut = false;

    cli_buffer_put(&events->line, ",", 1);
    if (!find_field(event, name, &field, &is_cut))
        return !is_cut && (strcmp(name, "eventThread") != 0 ||
                           !find_field(event, "sampledThread", &field, &is_cut) ||
                           put_cell_of(events, &field));
    return put_cell_of(events, &field);
}

bool cli_csv_event(struct cli_events *events, const struct cli_columns *columns,
                   const struct jfr_reader_event *event)
{
    events->line.used_bytes = 0;
    put_cell(&events->line, event->type_name);
    if (!columns->is_of_all) {
        for (size_t i = 0; i < columns->count; i++) {
            if (!put_column(events, &event->value, columns->names[i]))
                return false;
        }
    } else {
        for (size_t i = 1; i + 1 < JW_COUNT_OF(columns_of_all); i++) {
            if (!put_column(events, &event->value, columns_of_all[i]))
                return false;
        }
        cli_buffer_put(&events->line, ",", 1);

        const size_t from = events->line.used_bytes;
        const bool has_both = jfr_value_has_field(&event->value, "eventThread");
        if (!cli_events_object(events, &event->value, has_both ? told_apart_both : told_apart))
            return false;
        quote_from(events, from);
    }
    cli_buffer_text(&events->line, "\r\n");
    return !events->line.has_failed;
}
