/*
 * Any bytes as a recording: the reader ends, stays inside, and gives each value in the same way
 * twice. The seeds of fuzz/corpus/jfr_reader are made by fuzz/jfr_reader_seeds.js; found-* were made up by fuzzers.
 */
/* s18: a recording may be made to harm its reader. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/jfr_context.h"
#include "jfr/jfr_mend.h"
#include "jfr/jfr_reader.h"
#include "jfr/jfr_reader_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_DEPTH    6
#define MAX_ELEMENTS 64

static struct jfr_text text;
static struct jfr_method method;

/* Looks at a value and at what is in it, through references too. */
static void walk_value(const struct jfr_value *value, unsigned depth)
{
    struct jfr_value inner;
    struct jfr_array array;
    int64_t integer;
    double number;

    if (jfr_value_text(value, &text) && strlen(text.text) != text.length_bytes)
        __builtin_trap();
    if (jfr_value_integer(value, &integer) && !jfr_value_number(value, &number))
        __builtin_trap();
    jfr_value_key(value);
    if (depth == MAX_DEPTH)
        return;
    if (jfr_array_begin(value, &array)) {
        for (int i = 0; i < MAX_ELEMENTS && jfr_array_next(&array, &inner); i++)
            walk_value(&inner, depth + 1);
        return;
    }
    for (uint32_t i = 0; i < value->type->field_count; i++) {
        const struct jfr_reader_field *field = &value->type->fields[i];

        if (!jfr_value_has_field(value, field->name))
            __builtin_trap();
        if (jfr_value_field(value, field->name, &inner))
            walk_value(&inner, depth + 1);
    }
}

static void walk_optional(const struct jfr_value *value)
{
    if (value->reader != NULL)
        walk_value(value, 0);
}

/* Attributes have the names that their type tells. */
static void walk_context(const struct jfr_reader_event *event)
{
    struct jfr_context context;
    struct jfr_endpoint endpoint;
    struct jfr_span span;

    if (jfr_context_read(event, &context)) {
        walk_optional(&context.trace_id);
        for (size_t i = 0; i < context.attribute_count; i++) {
            if (context.attributes[i].name != jfr_context_attribute_name(event->type, i))
                __builtin_trap();
            walk_optional(&context.attributes[i].value);
        }
        if (jfr_context_attribute_name(event->type, context.attribute_count) != NULL)
            __builtin_trap();
    }
    if (jfr_endpoint_read(event, &endpoint)) {
        walk_optional(&endpoint.endpoint);
        walk_optional(&endpoint.operation);
    }
    if (jfr_span_read(event, &span))
        walk_optional(&span.name);
}

static void walk_event(const struct jfr_reader_event *event)
{
    struct jfr_value trace;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;

    walk_value(&event->value, 0);
    walk_context(event);
    if (!jfr_value_field(&event->value, "stackTrace", &trace) || !jfr_stack_begin(&trace, &stack))
        return;
    for (int i = 0; i < MAX_ELEMENTS && jfr_stack_next(&stack, &frame); i++) {
        if (!jfr_method_read(&frame.method, &method))
            __builtin_trap();
    }
}

static char path[64];

/* What is kept of it is a chunk, whatever it was; and the mender ends. */
static void mend(void)
{
    struct jw_error err = {{0}};
    struct jfr_mended mended;
    struct jfr_mender *mender = jfr_mender_open(path, &err);

    while (mender != NULL && jfr_mender_next(mender, &mended, &err)) {
        if (mended.bytes != NULL && (mended.size_bytes < 68 || memcmp(mended.bytes, "FLR", 4) != 0))
            __builtin_trap();
        if (mended.bytes == NULL && mended.reason[0] == '\0')
            __builtin_trap();
    }
    jfr_mender_close(mender);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jw_error err = {{0}};

    if (fd < 0) {
        fd = memfd_create("jfr_reader", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return 0;

    struct jfr_reader *reader = jfr_reader_open(path, &err);
    if (reader == NULL) {
        if (err.message[0] == '\0')
            __builtin_trap();
        return 0;
    }
    uint64_t position = 0;
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        for (int i = 0; i < 1000 && jfr_reader_next_event(reader, &event, &err); i++) {
            walk_event(&event);
            /* In a packed file it is about there, and no further than before at times. */
            if (jfr_reader_position_bytes(reader) < position + (data[0] == 'F'))
                __builtin_trap();
            position = jfr_reader_position_bytes(reader);
        }
    }
    jfr_reader_close(reader);
    mend();
    return 0;
}
