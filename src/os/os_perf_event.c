/* What to ask the kernel for, by the spellings of base/perf_event.h; any. */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "os/os_perf.h"
#include "os/os_read_internal.h"

#define PERF_CACHE(cache, operation, result)                                                       \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                       \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* Of probes: on return. Source: Linux, kernel/events/core.c, PERF_PROBE_CONFIG_IS_RETPROBE. */
#define PROBE_ON_RETURN 1u

static const struct {
    uint32_t type;
    uint64_t config;
} named[] = {
#define PERF(name, alias, type, config, interval, minimum, text) {type, config},
#include "base/perf_event.def"
#undef PERF
};

/* Where tracefs is: since Linux 4.1, and before. */
static const char *const trace_places[] = {"/sys/kernel/tracing/events",
                                           "/sys/kernel/debug/tracing/events"};

/* A number in a small file; false: there is none, and errno says why. */
static bool read_number(const char *path, uint64_t *number)
{
    char text[32];

    errno = 0;
    if (os_read_start(path, text, sizeof text) == 0)
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

/* The name in a directory that begins most like this one; "": none begins so. */
static void find_like(const char *directory, const char *name, char *like, size_t room_bytes)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    size_t most = 1, best_bytes = 0;

    like[0] = '\0';
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        const size_t common = jw_ascii_common(entry->d_name, name);
        const size_t length_bytes = strlen(entry->d_name);

        /* Of those that begin alike, the one whose length is nearest. */
        if (common < most || length_bytes >= room_bytes ||
            (common == most && best_bytes != 0 &&
             labs((long)length_bytes - (long)strlen(name)) >=
                 labs((long)best_bytes - (long)strlen(name))))
            continue;
        most = common;
        best_bytes = length_bytes;
        memcpy(like, entry->d_name, length_bytes + 1);
    }
    if (entries != NULL)
        (void)closedir(entries);
}

static void tell_no_tracepoint(const char *text, int reason, struct jw_error *err)
{
    char directory[JW_PERF_NAME_BYTES + 64], like[128] = "";
    const char *colon = strchr(text, ':');
    bool is_there = false;

    for (size_t i = 0; i < JW_COUNT_OF(trace_places) && !is_there; i++) {
        find_like(trace_places[i], "sched", like, sizeof like);
        is_there = like[0] != '\0';
        if (!is_there)
            continue;
        snprintf(directory, sizeof directory, "%s/%.*s", trace_places[i], (int)(colon - text),
                 text);
        find_like(directory, colon + 1, like, sizeof like);
    }
    if (!is_there)
        jw_error_set(
            err,
            "event=%.200s: the kernel's list of tracepoints cannot be read here (%s); as "
            "root: mount -t tracefs tracefs /sys/kernel/tracing, and let this user read it",
            text, reason == EACCES ? strerror(reason) : "/sys/kernel/tracing is empty");
    else
        jw_error_set(err, "event=%.200s: the kernel has no such tracepoint%s%.*s%s%s%s", text,
                     like[0] == '\0' ? "; /sys/kernel/tracing/events lists them"
                                     : "; did you mean ",
                     like[0] == '\0' ? 0 : (int)(colon + 1 - text), text, like,
                     like[0] == '\0' ? "" : "?", "");
}

static bool find_tracepoint(const char *text, struct os_perf_event *out, struct jw_error *err)
{
    const char *colon = strchr(text, ':');
    char path[JW_PERF_NAME_BYTES + 64];
    int reason = 0;

    for (size_t i = 0; i < JW_COUNT_OF(trace_places); i++) {
        snprintf(path, sizeof path, "%s/%.*s/%s/id", trace_places[i], (int)(colon - text), text,
                 colon + 1);
        if (read_number(path, &out->config)) {
            out->type = PERF_TYPE_TRACEPOINT;
            return true;
        }
        if (reason != EACCES)
            reason = errno;
    }
    tell_no_tracepoint(text, reason, err);
    return false;
}

/* "kprobe:function+0x10": type is that of the kernel's driver, place what stands before the offset. */
static bool find_probe(const char *text, bool is_return, struct os_perf_event *out,
                       struct jw_error *err)
{
    const bool is_of_kernel = text[0] == 'k';
    const char *place = strchr(text, ':') + 1;
    const char *plus = strrchr(place, '+');
    const size_t place_bytes = plus == NULL ? strlen(place) : (size_t)(plus - place);
    char path[64];
    uint64_t type;

    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type",
             is_of_kernel ? "kprobe" : "uprobe");
    if (!read_number(path, &type)) {
        jw_error_set(err,
                     "event=%.200s: this kernel has no %s for perf_events (%s); it needs one "
                     "built with %s",
                     text, is_of_kernel ? "kprobes" : "uprobes", path,
                     is_of_kernel ? "CONFIG_KPROBE_EVENTS" : "CONFIG_UPROBE_EVENTS");
        return false;
    }
    out->type = (uint32_t)type;
    out->config = is_return ? PROBE_ON_RETURN : 0;
    out->config2 = plus == NULL ? 0 : strtoull(plus + 1, NULL, 16);
    memcpy(out->place, place, place_bytes);
    return true;
}

bool os_perf_find(const char *text, struct os_perf_event *out, struct jw_error *err)
{
    size_t number = 0;

    *out = (struct os_perf_event){0};
    switch (jw_perf_kind_of(text, strlen(text), &number)) {
    case JW_PERF_NAMED:
        out->type = named[number].type;
        out->config = named[number].config;
        return true;
    case JW_PERF_RAW:
        out->type = PERF_TYPE_RAW;
        out->config = strtoull(text + 1, NULL, 16);
        return true;
    case JW_PERF_TRACEPOINT:
        return find_tracepoint(text, out, err);
    case JW_PERF_KPROBE:
    case JW_PERF_UPROBE:
        return find_probe(text, false, out, err);
    case JW_PERF_KRETPROBE:
    case JW_PERF_URETPROBE:
        return find_probe(text, true, out, err);
    case JW_PERF_NONE:
    case JW_PERF_FUNCTION:
    case JW_PERF_METHOD:
    case JW_PERF_EXCEPTION:
    case JW_PERF_NEW:
        break;
    }
    jw_error_set(err, "event=%.200s: no such event", text);
    return false;
}
