/* The methods between which a task of a ForkJoinPool waits. Context: control, tool. */
#include "probe/probe_forks.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_read_internal.h"

#define LIFT "lift platform,libraries,getters,setters"

static const char *keep(struct probe_reader *reader, const char *text)
{
    return probe_reader_keep(reader, (struct classfile_text){text, (uint32_t)strlen(text)});
}

static bool add(struct probe_reader *reader, const struct probe_handler *handler, const char *rules,
                const char *pattern)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *added = &whole->handlers[whole->probe.handler_count++];

    *added = *handler;
    added->class_name = added->target = PROBE_FORKS_CLASS;
    added->rules = keep(reader, rules);
    added->pattern = keep(reader, pattern);
    return added->rules != NULL && added->pattern != NULL;
}

/* What is refused is told at the end of the method: an exception leaves it. */
static bool add_pool(struct probe_reader *reader, const struct probe_forks *forks)
{
    const struct probe_capture task = {
        .kind = PROBE_ARGUMENT, .argument = forks->task_argument, .type = 'L'};
    struct probe_handler handler = {.method_name = "submitted",
                                    .descriptor = "(Ljava/lang/Object;Ljava/lang/Object;II)V",
                                    .place = PROBE_ENTRY,
                                    .capture_count = 2,
                                    .captures = {{.kind = PROBE_THIS, .type = 'L'}, task}};
    char rules[256];

    snprintf(rules, sizeof rules,
             "include class name=java.util.concurrent.ForkJoinPool method name=%s " LIFT,
             forks->submit);
    if (!add(reader, &handler, rules, forks->submit))
        return false;
    handler.method_name = "refused";
    handler.place = PROBE_THROW;
    return add(reader, &handler, rules, forks->submit);
}

static bool add_class(struct probe_reader *reader, const char *class_name, bool has_ends)
{
    struct probe_handler handler = {.method_name = "begun",
                                    .descriptor = "(Ljava/lang/Object;II)V",
                                    .place = PROBE_ENTRY,
                                    .capture_count = 1,
                                    .captures = {{.kind = PROBE_THIS, .type = 'L'}}};
    char dotted[PROBE_FORKS_NAME_BYTES];
    char rules[256];

    snprintf(dotted, sizeof dotted, "%s", class_name);
    for (char *at = dotted; *at != '\0'; at++) {
        if (*at == '/')
            *at = '.';
    }
    snprintf(rules, sizeof rules, "include class name=%s method name=exec descriptor=()Z " LIFT,
             dotted);
    if (!add(reader, &handler, rules, dotted))
        return false;
    if (!has_ends)
        return true;
    handler.method_name = "ended";
    handler.place = PROBE_RETURN;
    if (!add(reader, &handler, rules, dotted))
        return false;
    handler.place = PROBE_THROW;
    return add(reader, &handler, rules, dotted);
}

struct probe *probe_forks_open(const char *name, const struct probe_forks *forks, bool has_ends,
                               struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_FORKS_CLASS, name))
        return NULL;

    _Static_assert(PROBE_FORKS_AT_POOL +
                           PROBE_FORKS_MOST * (PROBE_FORKS_AT_CLASS + PROBE_FORKS_AT_END) <=
                       PROBE_HANDLERS_LIMIT,
                   "all have room");
    bool is_good = add_pool(&reader, forks);
    for (uint32_t i = 0; is_good && i < forks->class_count; i++)
        is_good = add_class(&reader, forks->classes[i], has_ends);
    if (is_good)
        return &reader.whole->probe;
    probe_close(&reader.whole->probe);
    return NULL;
}
