/* What an agent in a JVM tells of itself, in its answers to `metrics` and `status`. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "cli/cli_doctor_internal.h"

/* A line of metrics: name{label="text",...} value. */
struct metric {
    char name[64];
    char labels[192];
    uint64_t value; /* whole */
    uint64_t nanos; /* the same in billionths, of seconds */
};

static bool read_metric(const char *line, struct metric *out)
{
    const size_t name = strcspn(line, "{ ");
    const char *at = line + name;

    *out = (struct metric){.value = 0};
    if (strncmp(line, "jaywalk_", 8) != 0 || name - 8 >= sizeof out->name)
        return false;
    memcpy(out->name, line + 8, name - 8);
    if (*at == '{') {
        const char *end = strstr(at, "} ");

        if (end == NULL || (size_t)(end - at) > sizeof out->labels)
            return false;
        memcpy(out->labels, at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
    if (*at != ' ')
        return false;

    char *rest;
    uint64_t unit = JW_NS_PER_SECOND / 10;
    out->value = strtoull(at + 1, &rest, 10);
    out->nanos = out->value * JW_NS_PER_SECOND;
    if (*rest == '.') {
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            out->nanos += (uint64_t)(*rest - '0') * unit;
    }
    return true;
}

/* The text of a label, "" where there is none. */
static void label_of(const struct metric *metric, const char *name, char *out, size_t room_bytes)
{
    char wanted[32];

    snprintf(wanted, sizeof wanted, "%s=\"", name);
    const char *begin = strstr(metric->labels, wanted);
    const char *end = begin == NULL ? NULL : strchr(begin + strlen(wanted), '"');

    out[0] = '\0';
    if (end != NULL)
        snprintf(out, room_bytes, "%.*s", (int)(end - begin - (long)strlen(wanted)),
                 begin + strlen(wanted));
}

static bool is_called(const struct metric *metric, const char *name)
{
    return strcmp(metric->name, name) == 0;
}

/* "lost_no_thread_total" is the counter lostNoThread. */
static bool is_counter(const char *metric, const char *field)
{
    for (; *field != '\0'; field++, metric++) {
        if (jw_ascii_is_upper(*field) && *metric++ != '_')
            return false;
        if (*metric != jw_ascii_lower(*field))
            return false;
    }
    return strcmp(metric, "_total") == 0;
}

static bool take_memory(struct cli_doctor *doctor, const struct metric *metric)
{
    char part[32];

    if (strncmp(metric->name, "memory_", 7) != 0)
        return false;
    label_of(metric, "subsystem", part, sizeof part);
    for (int i = 0; i < JW_MEMORY_LIMIT; i++) {
        struct cli_doctor_memory *memory = &doctor->all.memory[i];

        if (strcmp(jw_memory_infos[i].name, part) != 0)
            continue;
        if (is_called(metric, "memory_bytes"))
            memory->used_bytes = metric->value;
        else if (is_called(metric, "memory_charged_bytes"))
            memory->charged_bytes = metric->value;
        else if (is_called(metric, "memory_limit_bytes"))
            memory->limit_bytes = metric->value;
        else if (is_called(metric, "memory_refused"))
            memory->refused_count = metric->value;
    }
    return true;
}

static struct cli_doctor_walker *walker_at(struct cli_doctor *doctor, const struct metric *metric)
{
    char name[16];

    label_of(metric, "walker", name, sizeof name);
    for (size_t i = 0; i < doctor->walker_count; i++) {
        if (strcmp(doctor->walkers[i].name, name) == 0)
            return &doctor->walkers[i];
    }
    if (doctor->walker_count == CLI_DOCTOR_WALKERS)
        return NULL;

    struct cli_doctor_walker *made = &doctor->walkers[doctor->walker_count++];
    memcpy(made->name, name, sizeof name);
    return made;
}

static bool take_walk(struct cli_doctor *doctor, const struct metric *metric)
{
    if (is_called(metric, "walk_failures_total")) {
        char where[48], walker[16];

        label_of(metric, "where", where, sizeof where);
        label_of(metric, "walker", walker, sizeof walker);
        struct cli_doctor_failure *row = cli_doctor_failure_at(&doctor->all, 0, where, walker);
        if (row != NULL)
            row->count = metric->value;
        return true;
    }
    if (!is_called(metric, "walker_in_use") && !is_called(metric, "walks_total") &&
        !is_called(metric, "walks_bad_total"))
        return false;

    struct cli_doctor_walker *walker = walker_at(doctor, metric);
    if (walker == NULL)
        return true;
    if (is_called(metric, "walks_total")) {
        walker->walks = metric->value;
    } else if (is_called(metric, "walks_bad_total")) {
        walker->bad = metric->value;
    } else {
        walker->is_in_use = metric->value != 0;
        label_of(metric, "standing", walker->standing, sizeof walker->standing);
    }
    return true;
}

static bool take_cost(struct cli_doctor *doctor, const struct metric *metric)
{
    struct jw_cost_sums *cost = &doctor->all.cost;
    char label[24];

    if (is_called(metric, "process_cpu_seconds_total")) {
        doctor->all.has_cost = true;
        cost->process_ns = metric->nanos;
        return true;
    }
    if (is_called(metric, "handlers_doubt_seconds")) {
        cost->doubt_ns = metric->nanos;
        return true;
    }
    if (is_called(metric, "handler_seconds_count")) {
        label_of(metric, "clock", label, sizeof label);
        doctor->all.handlers[cli_doctor_clock_of(label)].count = metric->value;
        return true;
    }
    if (!is_called(metric, "cost_seconds_total"))
        return false;
    label_of(metric, "part", label, sizeof label);
    if (strcmp(label, "handlers") == 0)
        cost->handlers_ns = metric->nanos;
    else if (strcmp(label, "kernel") == 0)
        cost->kernel_ns = metric->nanos;
    else
        cost->own_ns += metric->nanos;
    return true;
}

static bool take_session(struct cli_doctor *doctor, const struct metric *metric)
{
    char label[32];

    if (is_called(metric, "info")) {
        label_of(metric, "version", doctor->agent_version, sizeof doctor->agent_version);
    } else if (is_called(metric, "state")) {
        label_of(metric, "state", label, sizeof label);
        if (metric->value != 0)
            memcpy(doctor->state, label, sizeof label);
    } else if (is_called(metric, "session_samples")) {
        label_of(metric, "event", doctor->event, sizeof doctor->event);
    } else if (is_called(metric, "session_seconds")) {
        doctor->duration_ns = metric->nanos;
    } else if (is_called(metric, "file_bytes")) {
        doctor->size_bytes = metric->value;
    } else if (is_called(metric, "memlimit_bytes")) {
        doctor->memlimit_bytes = metric->value;
    } else if (is_called(metric, "selfcheck_frames")) {
        label_of(metric, "tier", label, sizeof label);
        if (metric->value != 0 && strcmp(label, "all") == 0)
            snprintf(doctor->selfcheck, sizeof doctor->selfcheck, "agrees: %" PRIu64 " frames",
                     metric->value);
    } else {
        return false;
    }
    return true;
}

static void take_counter(struct cli_doctor *doctor, const struct metric *metric)
{
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        if (is_counter(metric->name, jw_counter_infos[i].field))
            doctor->all.counters[i] = metric->value;
    }
}

/* The line that begins at `text`, without its end; NULL: no more. */
static const char *next_line(const char *text, char *line, size_t room_bytes)
{
    const size_t length = strcspn(text, "\n");

    if (text[0] == '\0')
        return NULL;
    snprintf(line, room_bytes, "%.*s", (int)length, text);
    return text + length + (text[length] == '\n');
}

void cli_doctor_metrics(struct cli_doctor *doctor, const char *text)
{
    struct cli_doctor_account account;
    char line[512];

    doctor->is_of_agent = true;
    doctor->all.has_counters = true;
    while ((text = next_line(text, line, sizeof line)) != NULL) {
        struct metric metric;

        if (!read_metric(line, &metric))
            continue;
        doctor->is_jaywalk = true;
        if (!take_session(doctor, &metric) && !take_memory(doctor, &metric) &&
            !take_walk(doctor, &metric) && !take_cost(doctor, &metric))
            take_counter(doctor, &metric);
    }
    /* An agent reads them one after the other, signals last. */
    cli_doctor_account(&doctor->all, &account);
    if (account.signals > account.samples + account.lost + account.spared)
        doctor->all.in_flight = account.signals - account.samples - account.lost - account.spared;
}

/* What stands behind `words`, of a line whose figures are metrics, too. */
static void take_example(const char *line, const char *words, char *to, size_t room_bytes)
{
    const char *at = strstr(line, words);

    if (at != NULL)
        cli_doctor_copy(to, room_bytes, at + strlen(words));
}

void cli_doctor_status(struct cli_doctor *doctor, const char *text)
{
    char line[640];
    size_t used = 0;

    while ((text = next_line(text, line, sizeof line)) != NULL) {
        if (strncmp(line, "Sampling ", 9) == 0)
            cli_doctor_copy(doctor->sampling, sizeof doctor->sampling, line + 9);
        else if (strncmp(line, "Compared with JVMTI: ", 21) == 0)
            take_example(line, "; the first: ", doctor->agreement, sizeof doctor->agreement);
        else if (strncmp(line, "Compared with libunwind: ", 25) == 0)
            take_example(line, "; the last: ", doctor->native_difference,
                         sizeof doctor->native_difference);
        else if (strncmp(line, "Walker: ", 8) == 0)
            cli_doctor_copy(doctor->walker, sizeof doctor->walker, line + 8);
        else if (strncmp(line, "warning: ", 9) == 0 && used + strlen(line) < sizeof doctor->remarks)
            used += (size_t)snprintf(doctor->remarks + used, sizeof doctor->remarks - used, "%s%s",
                                     used == 0 ? "" : "; ", line + 9);
    }
}
