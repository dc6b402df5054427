/* The methods of ThreadPoolExecutor between which a task waits. Context: control, tool. */
#include "probe/probe_queues.h"

#include <string.h>

#include "probe/probe_read_internal.h"

#define RULE(name, which)                                                                          \
    "include class name=java.util.concurrent.ThreadPoolExecutor method name=" name " " which       \
    " lift platform"

/*
 * A task comes to a thread by its queue (getTask), or is the one that the thread was made for, which the thread's Worker has (runWorker).
 * What runs it next, beforeExecute, is the program's own to replace.
 * Source: OpenJDK 8 to 28, java.util.concurrent.ThreadPoolExecutor.
 */
static const struct method {
    const char *name, *rules, *told, *descriptor;
    enum probe_place place;
    uint8_t capture_count;
    struct probe_capture captures[3];
} methods[PROBE_QUEUES_HANDLERS + PROBE_QUEUES_ENDS] = {
    {"execute",
     RULE("execute", "parameters=java.lang.Runnable"),
     "submitted",
     "(Ljava/lang/Object;Ljava/lang/Object;II)V",
     PROBE_ENTRY,
     2,
     {{.kind = PROBE_THIS, .type = 'L'}, {.kind = PROBE_ARGUMENT, .type = 'L'}}},
    {"getTask",
     RULE("getTask", "descriptor=()Ljava/lang/Runnable;"),
     "taken",
     "(Ljava/lang/Object;Ljava/lang/Object;II)V",
     PROBE_RETURN,
     2,
     {{.kind = PROBE_THIS, .type = 'L'}, {.kind = PROBE_RETURNED, .type = 'L'}}},
    {"runWorker",
     RULE("runWorker", "returns=void"),
     "begun",
     "(Ljava/lang/Object;Ljava/lang/Object;II)V",
     PROBE_ENTRY,
     2,
     {{.kind = PROBE_THIS, .type = 'L'}, {.kind = PROBE_ARGUMENT, .type = 'L'}}},
    {"reject",
     RULE("reject", "parameters=java.lang.Runnable"),
     "refused",
     "(Ljava/lang/Object;Ljava/lang/Object;II)V",
     PROBE_ENTRY,
     2,
     {{.kind = PROBE_THIS, .type = 'L'}, {.kind = PROBE_ARGUMENT, .type = 'L'}}},
    {"remove",
     RULE("remove", "parameters=java.lang.Runnable"),
     "removed",
     "(Ljava/lang/Object;Ljava/lang/Object;ZII)V",
     PROBE_RETURN,
     3,
     {{.kind = PROBE_THIS, .type = 'L'},
      {.kind = PROBE_ARGUMENT, .type = 'L'},
      {.kind = PROBE_RETURNED, .type = 'Z'}}},
    /* Whoever comes here has no task. */
    {"getTask",
     RULE("getTask", "descriptor=()Ljava/lang/Runnable;"),
     "ended",
     "(Ljava/lang/Object;II)V",
     PROBE_ENTRY,
     1,
     {{.kind = PROBE_THIS, .type = 'L'}}},
};

static bool add(struct probe_reader *reader, const struct method *method)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler = (struct probe_handler){.class_name = PROBE_QUEUES_CLASS,
                                      .method_name = method->told,
                                      .descriptor = method->descriptor,
                                      .place = method->place,
                                      .target = PROBE_QUEUES_CLASS,
                                      .capture_count = method->capture_count,
                                      .site = 0};
    memcpy(handler->captures, method->captures, sizeof method->captures);
    handler->rules = probe_reader_keep(
        reader, (struct classfile_text){method->rules, (uint32_t)strlen(method->rules)});
    handler->pattern = probe_reader_keep(
        reader, (struct classfile_text){method->name, (uint32_t)strlen(method->name)});
    return handler->rules != NULL && handler->pattern != NULL;
}

struct probe *probe_queues_open(const char *name, bool has_ends, struct jw_error *err)
{
    const uint32_t count = PROBE_QUEUES_HANDLERS + (has_ends ? PROBE_QUEUES_ENDS : 0);
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_QUEUES_CLASS, name))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!add(&reader, &methods[i])) {
            probe_close(&reader.whole->probe);
            return NULL;
        }
    }
    return &reader.whole->probe;
}
