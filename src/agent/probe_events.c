/* Types of events of probes, and what becomes of an event. Context: as the header says. */
#include "agent/probe_events.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "event/event_values.h"
#include "sampler/sampler_hook.h"
#include "thread/thread.h"
#include "thread/thread_tls.h"

/* Enough for the agent's own frames, those of the handler, and the method that it was called in. */
#define TOP_FRAMES 32u

struct type {
    struct jfr_declared declared; /* constant once it is there */
    struct jfr_declared asked; /* the same as it was asked for: number 0, and under its own name */
    char kinds[PROBE_FIELDS_LIMIT];
    _Atomic uint32_t users;       /* relaxed, as are those below: probes that have it */
    _Atomic uint64_t released_ns; /* when the last one gave it back */
    _Atomic uint64_t recorded, lost, idle;
};

/* So long after a probe has gone its events may still have to be taken. */
#define KEPT_NS (60 * JW_NS_PER_SECOND)

/* By number less 1. */
static _Atomic(struct type *) types[PROBE_EVENTS_TYPES];
static _Atomic uint32_t type_count; /* relaxed: each is found by its own slot */

/* ---- types ---- */

static struct type *type_of(uint32_t number)
{
    /* order PROBE_EVENT_TYPE: acquires what declare released, the type. */
    return number == 0 || number > PROBE_EVENTS_TYPES ? NULL : jw_load_acquire(&types[number - 1]);
}

static enum jfr_type jfr_type_of(char type)
{
    switch (type) {
    case 'Z':
        return JFR_TYPE_BOOLEAN;
    case 'B':
        return JFR_TYPE_BYTE;
    case 'C':
        return JFR_TYPE_CHAR;
    case 'S':
        return JFR_TYPE_SHORT;
    case 'I':
        return JFR_TYPE_INT;
    case 'J':
        return JFR_TYPE_LONG;
    case 'F':
        return JFR_TYPE_FLOAT;
    case 'D':
        return JFR_TYPE_DOUBLE;
    case PROBE_FIELD_CLASS:
        return JFR_TYPE_CLASS;
    case PROBE_FIELD_THREAD:
        return JFR_TYPE_THREAD;
    default:
        return JFR_TYPE_STRING;
    }
}

static enum jfr_unit jfr_unit_of(enum probe_unit unit)
{
    switch (unit) {
    case PROBE_UNIT_NANOSECONDS:
        return JFR_UNIT_NS_SPAN;
    case PROBE_UNIT_MILLISECONDS:
        return JFR_UNIT_MS_SPAN;
    case PROBE_UNIT_EPOCH_MILLISECONDS:
        return JFR_UNIT_EPOCH_MS;
    case PROBE_UNIT_BYTES:
        return JFR_UNIT_BYTES;
    case PROBE_UNIT_FRACTION:
        return JFR_UNIT_PERCENT;
    case PROBE_UNIT_HERTZ:
        return JFR_UNIT_HERTZ;
    case PROBE_UNIT_ADDRESS:
        return JFR_UNIT_ADDRESS;
    case PROBE_UNIT_NONE:
    case PROBE_UNIT_LIMIT:
        break;
    }
    return JFR_UNIT_NONE;
}

/* All that is not written is zero, so that equal types have equal bytes. */
static void fill(struct type *type, const struct probe *probe, const struct probe_event *event)
{
    struct jfr_declared *declared = &type->declared;

    memset(type, 0, sizeof *type);
    declared->has_duration = event->has_duration;
    declared->has_stack = event->has_stack;
    snprintf(declared->name, sizeof declared->name, JFR_DECLARED_PREFIX "%s", event->name);
    snprintf(declared->label, sizeof declared->label, "%s", event->label);
    snprintf(declared->text, sizeof declared->text, "%s", event->description);
    snprintf(declared->probe, sizeof declared->probe, "%s", probe->name);
    declared->field_count = event->field_count;
    for (uint32_t i = 0; i < event->field_count; i++) {
        struct jfr_declared_field *field = &declared->fields[i];

        snprintf(field->name, sizeof field->name, "%s", event->fields[i].name);
        snprintf(field->label, sizeof field->label, "%s", event->fields[i].label);
        field->type = jfr_type_of(event->fields[i].type);
        field->unit = jfr_unit_of(event->fields[i].unit);
        type->kinds[i] = event->fields[i].type;
    }
    memcpy(&type->asked, declared, sizeof type->asked);
}

/* The number of an equal one; 0: there is none. */
static uint32_t find(const struct type *wanted)
{
    const uint32_t count = jw_load_relaxed(&type_count);

    for (uint32_t number = 1; number <= count; number++) {
        if (memcmp(&type_of(number)->asked, &wanted->asked, sizeof wanted->asked) == 0)
            return number;
    }
    return 0;
}

static bool is_name_taken(const char *name)
{
    const uint32_t count = jw_load_relaxed(&type_count);

    for (uint32_t number = 1; number <= count; number++) {
        if (strcmp(type_of(number)->declared.name, name) == 0)
            return true;
    }
    return false;
}

/* Readers that know types by their names meet each name once: the second type of a name is Sale_2. */
static void name_apart(struct type *made)
{
    char *name = made->declared.name;
    char suffix[16];

    for (unsigned turn = 2; is_name_taken(name); turn++) {
        const int suffix_bytes = snprintf(suffix, sizeof suffix, "_%u", turn);

        snprintf(name, sizeof made->declared.name, "%.*s%s",
                 (int)sizeof made->declared.name - 1 - suffix_bytes, made->asked.name, suffix);
    }
}

static uint32_t declare(const struct probe *probe, const struct probe_event *event,
                        struct jw_error *err)
{
    const uint32_t count = jw_load_relaxed(&type_count);
    struct type *made = jw_alloc(sizeof *made);
    uint32_t number;

    if (made == NULL) {
        jw_error_set(err, "no memory for a probe");
        return 0;
    }
    fill(made, probe, event);
    number = find(made);
    if (number != 0) {
        jw_free(made);
        jw_add_relaxed(&type_of(number)->users, 1);
        return number;
    }
    if (count == PROBE_EVENTS_TYPES) {
        jw_free(made);
        jw_error_set(err,
                     "%u different types of events were declared in this process, which are all "
                     "that it can have; start it anew, or take events as they were before",
                     PROBE_EVENTS_TYPES);
        return 0;
    }
    number = count + 1;
    name_apart(made);
    made->declared.number = number;
    jw_store_relaxed(&made->users, 1);
    /* order PROBE_EVENT_TYPE: releases the type. */
    jw_store_release(&types[count], made);
    jw_store_relaxed(&type_count, number);
    return number;
}

static void release(uint32_t number)
{
    struct type *type = type_of(number);

    if (type == NULL)
        return;
    jw_store_relaxed(&type->released_ns, jw_now_ns());
    jw_sub_relaxed(&type->users, 1);
}

static struct instrument_event_figures figures(uint32_t number)
{
    struct type *type = type_of(number);

    return type == NULL ? (struct instrument_event_figures){0}
                        : (struct instrument_event_figures){
                              .type_name = type->declared.name,
                              .recorded = jw_load_relaxed(&type->recorded),
                              .lost = jw_load_relaxed(&type->lost),
                              .idle = jw_load_relaxed(&type->idle),
                          };
}

/* ---- an event ---- */

static __attribute__((noinline)) void put_text(JNIEnv *jni, jobject object,
                                               struct event_values *values)
{
    jchar units[EVENT_VALUES_TEXT_BYTES + 1]; /* none of them has less than a byte */
    jsize length;

    if (object == NULL) {
        event_values_put_text(values, NULL, 0);
        return;
    }
    length = (*jni)->GetStringLength(jni, object);
    if (length > (jsize)JW_COUNT_OF(units))
        length = (jsize)JW_COUNT_OF(units);
    (*jni)->GetStringRegion(jni, object, 0, length, units);
    event_values_put_units(values, units, (size_t)length);
}

/* Most often it is the thread that tells the event. */
static thread_index thread_of(uint64_t java_id)
{
    const thread_index own = thread_find(thread_own_tid());

    return own != THREAD_NONE && thread_java_id(own) == java_id ? own : thread_find_java(java_id);
}

static void put_thread(JNIEnv *jni, jobject object, struct event_values *values)
{
    const uint64_t java_id = object == NULL ? 0 : api_thread_number(jni, object);
    struct event_values_thread thread = {.is_none = true};

    if (java_id != 0 && api_is_virtual(jni, object)) {
        thread = (struct event_values_thread){.virtual_number = java_id};
    } else if (java_id != 0) {
        const thread_index index = thread_of(java_id);

        if (index != THREAD_NONE)
            thread = (struct event_values_thread){.index = index,
                                                  .serial = (uint32_t)thread_serial(index)};
    }
    event_values_put_thread(values, &thread);
}

static void put_fields(JNIEnv *jni, const struct type *type, const struct instrument_values *given,
                       struct event_values *values)
{
    uint32_t number = 0, object = 0;

    event_values_begin(values, type->declared.number);
    for (uint32_t i = 0; i < type->declared.field_count; i++) {
        if (type->kinds[i] == PROBE_FIELD_TEXT)
            put_text(jni, given->objects[object++], values);
        else if (type->kinds[i] == PROBE_FIELD_CLASS)
            told_put_class(given->objects[object++], values);
        else if (type->kinds[i] == PROBE_FIELD_THREAD)
            put_thread(jni, given->objects[object++], values);
        else
            event_values_put_number(values, given->numbers[number++]);
    }
}

static void count(struct type *type, enum sampler_hook_end end)
{
    switch (end) {
    case SAMPLER_HOOK_TAKEN:
        jw_add_relaxed(&type->recorded, 1);
        jw_count(JW_COUNT_PROBE_EVENTS);
        break;
    case SAMPLER_HOOK_LOST:
        jw_add_relaxed(&type->lost, 1);
        jw_count(JW_COUNT_PROBE_EVENTS_LOST);
        break;
    case SAMPLER_HOOK_SHUT:
    case SAMPLER_HOOK_FILTERED:
        jw_add_relaxed(&type->idle, 1);
        jw_count(JW_COUNT_PROBE_EVENTS_IDLE);
        break;
    }
}

static __attribute__((noinline)) enum sampler_hook_end record(JNIEnv *jni, const struct type *type,
                                                              const struct instrument_values *given)
{
    const uint64_t now_ns = jw_now_ns();
    const bool has_duration = given->duration_ns >= 0 && (uint64_t)given->duration_ns < now_ns;
    struct event_values values;

    put_fields(jni, type, given, &values);
    const struct sampler_hook hook = {
        .kind = EVENT_DECLARED,
        .time_ns = has_duration ? now_ns - (uint64_t)given->duration_ns : now_ns,
        .weight_ns = has_duration ? (uint64_t)given->duration_ns : 0,
        .payload = values.bytes,
        .payload_bytes = values.used_bytes,
        .depth_max = type->declared.has_stack ? 0 : TOP_FRAMES,
    };
    return sampler_hook_ended(&hook);
}

static void commit(JNIEnv *jni, const struct instrument_values *given)
{
    struct type *type = type_of(given->type);

    if (type != NULL)
        count(type, run_generations() == NULL ? SAMPLER_HOOK_SHUT : record(jni, type, given));
}

const struct instrument_events probe_events_calls = {declare, release, figures, commit};

/* ---- what a recording asks ---- */

static bool is_of_chunks(const struct type *type)
{
    /* It may be released just now: that is later than any time taken before. */
    return jw_load_relaxed(&type->users) != 0 ||
           jw_now_ns() <= jw_load_relaxed(&type->released_ns) + KEPT_NS;
}

bool probe_events_ask(void *context, uint32_t after, struct jfr_declared *out)
{
    const uint32_t count_now = jw_load_relaxed(&type_count);

    (void)context;
    for (uint32_t number = after + 1; number <= count_now; number++) {
        const struct type *type = type_of(number);

        if (is_of_chunks(type)) {
            *out = type->declared;
            return true;
        }
    }
    return false;
}
