/* What perf_events are to do for a session, where they can be had; the agent's thread. */
#include "agent/events.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "symbols/symbols.h"
#include "symbols/symbols_kernel.h"

static bool is_kernel_read; /* in this session, or tried */
static char reason[sizeof((struct jw_error *)0)->message];
static struct os_perf_event counter; /* of event=COUNTER */

static bool is_possible(const struct options *values, struct jw_error *err)
{
    if (values->overhead_ppm == 0)
        return engine_cpu_perf_check(values->is_user_only, err);
    jw_error_set(err, "overhead= makes intervals longer and shorter, and those of perf_events stay "
                      "as they were begun");
    return false;
}

/* -------- counters ------------------------------------------------------------------------------ */

/* Which library is the file at a path, by whatever name the process has it. */
struct library_search {
    struct stat file;
    char path[JW_PERF_NAME_BYTES];
    char name[JW_PERF_NAME_BYTES];
};

static void compare_library(const struct symbols_library_facts *facts, void *closure)
{
    struct library_search *search = closure;
    struct stat file;

    if (search->path[0] == '\0' && stat(facts->path, &file) == 0 &&
        file.st_dev == search->file.st_dev && file.st_ino == search->file.st_ino &&
        strlen(facts->path) < sizeof search->path) {
        snprintf(search->path, sizeof search->path, "%s", facts->path);
        snprintf(search->name, sizeof search->name, "%s", facts->name);
    }
}

static void look_at_libraries(void)
{
    struct jw_error err = {{0}};

    symbols_want(SYMBOLS_WANT_LIBRARIES);
    if (!symbols_serve(&err))
        agent_log(OPTIONS_LOGLEVEL_DEBUG, "%s", err.message);
}

/* "/path:symbol" as "/path+0xoff". */
static bool place_in_file(const char *text, const char *place, char *out, size_t room_bytes,
                          struct jw_error *err)
{
    const char *colon = strrchr(place, ':'), *symbol = colon + 1;
    struct library_search search = {.path = ""};
    char path[JW_PERF_NAME_BYTES];
    uint64_t offset;

    snprintf(path, sizeof path, "%.*s", (int)(colon - place), place);
    if (stat(path, &search.file) != 0) {
        jw_error_set(err, "event=%.160s: %.160s: %m", text, path);
        return false;
    }
    look_at_libraries();
    symbols_each_library(compare_library, &search);
    if (search.path[0] == '\0') {
        jw_error_set(err,
                     "event=%.160s: the process has not loaded %.160s; a symbol is looked for in "
                     "libraries that it has, +0xOFFSET in the file is taken as it is",
                     text, path);
        return false;
    }
    if (!symbols_find_in_file(search.name, symbol, path, sizeof path, &offset)) {
        jw_error_set(err, "event=%.160s: %.160s has no symbol %.100s", text, search.path, symbol);
        return false;
    }
    return (size_t)snprintf(out, room_bytes, "uprobe:%s+0x%llx", path, (unsigned long long)offset) <
           room_bytes;
}

/* A function by its name alone: the C library's first. */
static bool find_function(const char *text, char *out, size_t room_bytes, struct jw_error *err)
{
    static const char *const libraries[] = {"libc.", "libc-", "libjvm.", ""};
    char path[JW_PERF_NAME_BYTES];
    uint64_t offset;

    look_at_libraries();
    for (size_t i = 0; i < JW_COUNT_OF(libraries); i++) {
        if (symbols_find_in_file(libraries[i], text, path, sizeof path, &offset))
            return (size_t)snprintf(out, room_bytes, "uprobe:%s+0x%llx", path,
                                    (unsigned long long)offset) < room_bytes;
    }
    jw_error_set(err,
                 "event=%.160s: no such event, and no library of this process has a function of "
                 "that name; 'jaywalk list' says which events there are",
                 text);
    return false;
}

bool events_find(const char *text, struct os_perf_event *out, struct jw_error *err)
{
    const enum jw_perf_kind kind = jw_perf_kind_of(text, strlen(text), NULL);
    const bool is_probe = kind == JW_PERF_UPROBE || kind == JW_PERF_URETPROBE;
    const char *place = is_probe ? strchr(text, ':') + 1 : text;
    char found[JW_PERF_NAME_BYTES + 32];

    if (kind == JW_PERF_FUNCTION) {
        if (!find_function(text, found, sizeof found, err))
            return false;
    } else if (is_probe && strchr(place, ':') != NULL) {
        if (!place_in_file(text, place, found, sizeof found, err))
            return false;
    } else {
        return os_perf_find(text, out, err);
    }
    if (!os_perf_find(found, out, err))
        return false;
    out->config |= kind == JW_PERF_URETPROBE;
    return true;
}

static bool choose_counter(const struct options *values, struct jw_error *err)
{
    struct jw_error why = {{0}};

    if (!events_find(values->perf, &counter, err))
        return false;
    counter.period = values->interval_count;
    counter.is_user_only = values->is_user_only;
    if (engine_cpu_perf_check_counter(&counter, &why))
        return true;
    jw_error_set(err, "event=%.100s: %s", values->perf, why.message);
    return false;
}

bool events_choose(const struct options *values, struct jw_error *err)
{
    struct jw_error why = {{0}};

    reason[0] = '\0';
    is_kernel_read = false;
    if (values->event == OPTIONS_EVENT_PERF)
        return choose_counter(values, err);
    if (values->event != OPTIONS_EVENT_CPU_CLOCK || is_possible(values, &why))
        return true;
    snprintf(reason, sizeof reason, "%s", why.message);
    agent_log(OPTIONS_LOGLEVEL_WARN,
              "event=cpu-clock: no frames of the kernel, and timers in place of perf_events: %s",
              reason);
    return true;
}

void events_fill(const struct options *values, struct sampler_config *config)
{
    config->cpu = events_engine(values);
    config->is_user_only = values->is_user_only && config->cpu == SAMPLER_CPU_PERF;
    config->is_counting = values->event == OPTIONS_EVENT_PERF;
    config->counter = counter;
}

static bool may_have(const char *name, struct jw_error *why)
{
    struct os_perf_event event;

    *why = (struct jw_error){{0}};
    return os_perf_find(name, &event, why) && engine_cpu_perf_check_counter(&event, why);
}

/* Where a place is still to be named it is asked whether there is a driver, and whether it is for this process. */
static void list_kind(const char *shape, const char *example, const char *text)
{
    struct jw_error why = {{0}};
    struct os_perf_event event;

    if (os_perf_find(example, &event, &why) && os_perf_may(&event, &why))
        agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s %s; stop takes some 0.1 s for each thread", shape,
                  text);
    else
        agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s not here: %s", shape, why.message);
}

/* Each reason once. */
void events_list(void)
{
    struct jw_error why, last = {{0}};

    agent_log(OPTIONS_LOGLEVEL_INFO, "Counters:");
    for (size_t i = 0; jw_perf_at(i) != NULL; i++) {
        const struct jw_perf_info *info = jw_perf_at(i);

        if (may_have(info->name, &why))
            agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s %s", info->name, info->text);
        else if (strcmp(why.message, last.message) == 0)
            agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s not here, likewise", info->name);
        else
            agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s not here: %s", info->name, why.message);
        last = why;
    }
    list_kind("kprobe:FUNCTION", "kprobe:FUNCTION", "a function of the kernel");
    list_kind("uprobe:/FILE:FUNCTION", "uprobe:/FILE+0x0", "a function of a library");
    list_kind("sched:sched_switch", "sched:sched_switch", "a tracepoint of the kernel");
}

/* -------- the kernel's names --------------------------------------------------------------------- */

void events_read_kernel(void)
{
    struct jw_error err = {{0}};

    if (is_kernel_read)
        return;
    is_kernel_read = true;
    if (!symbols_kernel_read("/proc/kallsyms", &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s", err.message);
}

const char *events_reason(void)
{
    return reason;
}

const char *events_text(const struct options *values)
{
    return values->event == OPTIONS_EVENT_PERF        ? "on"
           : values->event != OPTIONS_EVENT_CPU_CLOCK ? "off"
           : reason[0] == '\0'                        ? "on"
                                                      : reason;
}

enum sampler_cpu_engine events_engine(const struct options *values)
{
    switch ((enum options_event)values->event) {
    case OPTIONS_EVENT_ITIMER:
        return SAMPLER_CPU_ITIMER;
    case OPTIONS_EVENT_WALL:
    case OPTIONS_EVENT_ALLOC:
    case OPTIONS_EVENT_LOCK:
    case OPTIONS_EVENT_METHOD:
    case OPTIONS_EVENT_EXCEPTION:
    case OPTIONS_EVENT_NEW:
        return SAMPLER_CPU_NONE;
    case OPTIONS_EVENT_PERF:
        return SAMPLER_CPU_PERF;
    case OPTIONS_EVENT_CPU_CLOCK:
        if (reason[0] == '\0')
            return SAMPLER_CPU_PERF;
        break;
    case OPTIONS_EVENT_CPU:
    case OPTIONS_EVENT_LIMIT:
        break;
    }
    /* Its intervals may change, and each weight is what the thread's clock went on, whatever they are. */
    return values->overhead_ppm != 0 ? SAMPLER_CPU_FINE : sampler_cpu_for(values->interval_ns);
}
