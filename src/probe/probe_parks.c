/* The methods of LockSupport that park. Context: control, tool. */
#include "probe/probe_parks.h"

#include <string.h>

#include "probe/probe_read_internal.h"

#define RULE(name, which)                                                                          \
    "include class name=java.util.concurrent.locks.LockSupport method name=" name " " which        \
    " lift platform"
#define UNTIL 1 /* as JaywalkParks has it */

/* Source: OpenJDK 8 to 28, java.util.concurrent.locks.LockSupport; none of them calls another one. */
static const struct method {
    const char *name, *rules, *entered, *left;
    bool has_blocker, has_time;
    int32_t site;
} methods[PROBE_PARKS_METHODS] = {
    {"park(Object)", RULE("park", "parameters=java.lang.Object"), "(Ljava/lang/Object;II)V",
     "(Ljava/lang/Object;II)V", true, false, 0},
    {"parkNanos(Object,long)", RULE("parkNanos", "parameters=java.lang.Object,long"),
     "(Ljava/lang/Object;JII)V", "(Ljava/lang/Object;II)V", true, true, 0},
    {"parkUntil(Object,long)", RULE("parkUntil", "parameters=java.lang.Object,long"),
     "(Ljava/lang/Object;JII)V", "(Ljava/lang/Object;II)V", true, true, UNTIL},
    {"park()", RULE("park", "descriptor=()V"), "(II)V", "(II)V", false, false, 0},
    {"parkNanos(long)", RULE("parkNanos", "parameters=long"), "(JII)V", "(II)V", false, true, 0},
    {"parkUntil(long)", RULE("parkUntil", "parameters=long"), "(JII)V", "(II)V", false, true,
     UNTIL},
};

static void capture(struct probe_handler *handler, char type)
{
    const uint8_t number = handler->capture_count++;

    handler->captures[number] =
        (struct probe_capture){.kind = PROBE_ARGUMENT, .argument = number, .type = type};
}

static bool add(struct probe_reader *reader, enum probe_place place, const struct method *method)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];
    const bool is_entry = place == PROBE_ENTRY;

    *handler = (struct probe_handler){.class_name = PROBE_PARKS_CLASS,
                                      .method_name = is_entry ? "entered" : "left",
                                      .descriptor = is_entry ? method->entered : method->left,
                                      .place = place,
                                      .target = PROBE_PARKS_CLASS,
                                      .site = method->site};
    if (method->has_blocker)
        capture(handler, 'L');
    if (method->has_time && is_entry)
        capture(handler, 'J');
    handler->rules = probe_reader_keep(
        reader, (struct classfile_text){method->rules, (uint32_t)strlen(method->rules)});
    handler->pattern = probe_reader_keep(
        reader, (struct classfile_text){method->name, (uint32_t)strlen(method->name)});
    return handler->rules != NULL && handler->pattern != NULL;
}

struct probe *probe_parks_open(const char *name, struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_PARKS_CLASS, name))
        return NULL;
    for (uint32_t i = 0; i < PROBE_PARKS_METHODS; i++) {
        if (!add(&reader, PROBE_ENTRY, &methods[i]) || !add(&reader, PROBE_RETURN, &methods[i]) ||
            !add(&reader, PROBE_THROW, &methods[i])) {
            probe_close(&reader.whole->probe);
            return NULL;
        }
    }
    return &reader.whole->probe;
}
