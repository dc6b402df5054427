/* Calls in the methods of events. Context: control, tool. */
#include "probe/probe_events.h"

#include <string.h>

#include "probe/probe_weave_internal.h"

#define NONE UINT32_MAX

enum op {
    OP_ACONST_NULL = 1,
    OP_LCONST_0 = 9,
    OP_I2L = 133,
    OP_F2D = 141,
};

struct putting {
    const struct probe *probe;
    const uint32_t *numbers;
    const struct classfile *file;
    uint32_t done; /* events whose method was met, a bit each */
};

bool probe_field_is_number(char type)
{
    return type != PROBE_FIELD_TEXT && type != PROBE_FIELD_CLASS && type != PROBE_FIELD_THREAD;
}

static bool is_text(struct classfile_text text, const char *other)
{
    return strlen(other) == text.length_bytes && memcmp(text.bytes, other, text.length_bytes) == 0;
}

/* NONE: the method is none of an event. */
static uint32_t event_of(const struct putting *putting, uint16_t method)
{
    const struct classfile_member *member = &putting->file->methods[method];

    for (uint32_t i = 0; i < putting->probe->event_count; i++) {
        const struct probe_event *event = &putting->probe->events[i];

        if (is_text(classfile_text_of(putting->file, member->name_index), event->method_name) &&
            is_text(classfile_text_of(putting->file, member->descriptor_index), event->descriptor))
            return i;
    }
    return NONE;
}

/* Where the parameter lies; field_count: that of the duration. */
static uint16_t local_of(const struct probe_event *event, uint8_t field)
{
    const uint8_t own = field == event->field_count ? event->duration_parameter
                        : event->has_duration && field >= event->duration_parameter
                            ? (uint8_t)(field + 1)
                            : field;
    uint16_t local = 0;

    for (uint8_t parameter = 0, i = 0; parameter < own; parameter++) {
        const bool is_duration = event->has_duration && parameter == event->duration_parameter;
        const char type = is_duration ? 'J' : event->fields[i++].type;

        local = (uint16_t)(local + (type == 'J' || type == 'D' ? 2 : 1));
    }
    return local;
}

/* Two words. */
static void put_number(struct classfile_snippet *snippet, struct classfile_additions *additions,
                       char type, uint16_t local, uint32_t depth_words)
{
    probe_weave_put_load(snippet, type, local, depth_words + 2);
    if (type == 'F')
        classfile_put_op(snippet, OP_F2D, depth_words + 2);
    if (type == 'F' || type == 'D')
        classfile_put_call(snippet, classfile_add_method(additions, "java/lang/Double",
                                                         "doubleToRawLongBits", "(D)J"));
    else if (type != 'J')
        classfile_put_op(snippet, OP_I2L, depth_words + 2);
}

static void put_duration(const struct probe_event *event, struct classfile_snippet *snippet,
                         struct classfile_additions *additions, uint32_t depth_words)
{
    if (event->has_duration) {
        put_number(snippet, additions, 'J', local_of(event, event->field_count), depth_words);
        return;
    }
    classfile_put_int(snippet, -1, additions, depth_words + 1);
    classfile_put_op(snippet, OP_I2L, depth_words + 2);
}

static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    struct putting *putting = context;
    const uint32_t number = event_of(putting, site->method);
    uint32_t depth_words = 1, given = 0;

    if (number == NONE)
        return;
    const struct probe_event *event = &putting->probe->events[number];
    classfile_put_int(snippet, (int32_t)putting->numbers[number], additions, depth_words);
    put_duration(event, snippet, additions, depth_words);
    depth_words += 2;
    for (uint8_t i = 0; i < event->field_count; i++) {
        if (!probe_field_is_number(event->fields[i].type))
            continue;
        put_number(snippet, additions, event->fields[i].type, local_of(event, i), depth_words);
        depth_words += 2;
        given++;
    }
    for (; given < PROBE_NUMBERS_LIMIT; given++, depth_words += 2)
        classfile_put_op(snippet, OP_LCONST_0, depth_words + 2);
    given = 0;
    for (uint8_t i = 0; i < event->field_count; i++) {
        if (probe_field_is_number(event->fields[i].type))
            continue;
        probe_weave_put_load(snippet, 'L', local_of(event, i), ++depth_words);
        given++;
    }
    for (; given < PROBE_OBJECTS_LIMIT; given++)
        classfile_put_op(snippet, OP_ACONST_NULL, ++depth_words);
    classfile_put_call(snippet, classfile_add_method(additions, PROBE_COMMIT_CLASS,
                                                     PROBE_COMMIT_METHOD, PROBE_COMMIT_TYPE));
    putting->done |= 1u << number;
}

bool probe_put_events(const struct probe *probe, const uint32_t *numbers, const uint8_t *bytes,
                      size_t length_bytes, struct classfile_memory *memory,
                      struct classfile_rewritten *out, struct jw_error *err)
{
    struct classfile file;
    struct putting putting = {.probe = probe, .numbers = numbers, .file = &file};
    enum classfile_verdict verdict = classfile_read(bytes, length_bytes, memory, &file);
    uint32_t *places =
        verdict != CLASSFILE_OK
            ? NULL
            : classfile_memory_take(memory, sizeof *places * ((size_t)file.method_count + 1));

    if (verdict == CLASSFILE_OK && places == NULL)
        verdict = CLASSFILE_NO_MEMORY;
    if (verdict == CLASSFILE_OK) {
        for (uint16_t i = 0; i < file.method_count; i++)
            places[i] = event_of(&putting, i) != NONE ? CLASSFILE_AT(ENTRY) : 0;
        const struct classfile_plan plan = {
            .places = places, .insert = insert, .context = &putting};
        verdict = classfile_rewrite(&file, &plan, memory, out);
    }
    for (uint32_t i = 0; verdict == CLASSFILE_OK && i < file.method_count; i++) {
        if (places[i] != 0)
            verdict = out->methods[i].verdict;
    }
    if (verdict == CLASSFILE_OK && putting.done == (1u << probe->event_count) - 1)
        return true;
    jw_error_set(err, "the events of %s cannot be put into its class: %s", probe->name,
                 verdict == CLASSFILE_OK ? "their methods are not found"
                                         : classfile_verdict_text(verdict));
    return false;
}
