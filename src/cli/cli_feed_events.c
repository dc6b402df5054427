/*
 * Which events of a recording are samples, of which clock, and what they stand for. Context: tool.
 *
 * jdk.ExecutionSample is a sample of either clock. In recordings of ours those of the wall clock stand for
 * no CPU time and say their wallTime. Others tell by their settings: `event` is wall; or there is a `wall`
 * beside it, and then samples of CPU time are those in STATE_DEFAULT.
 * Source: recordings of async-profiler 4.4, made with and without nobatch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/lock_class.h"
#include "base/perf_event.h"
#include "cli/cli_feed_internal.h"
#include "options/options.h"

#define CLI_EXECUTION_SAMPLE "jdk.ExecutionSample"
#define CLI_SAFEPOINT_SAMPLE "jaywalk.SafepointSample"
#define CLI_POLL_SAMPLE      "jaywalk.PollSample"

#define CLI_ALLOC(name, field)                                                                     \
    {                                                                                              \
        .type = (name), .event = "alloc", .time_field = (field), .unit = "bytes",                  \
        .class_field = "objectClass", .size_field = "allocationSize"                               \
    }

#define CLI_THROW(name)                                                                            \
    {                                                                                              \
        .type = (name), .event = CLI_EXCEPTION, .time_field = "count", .unit = "exceptions",       \
        .class_field = "thrownClass"                                                               \
    }

static const struct cli_source cli_execution_cpu = {
    .type = CLI_EXECUTION_SAMPLE, .event = "cpu", .time_field = "weight"};
static const struct cli_source cli_execution_wall = {
    .type = CLI_EXECUTION_SAMPLE, .event = "wall", .time_field = "wallTime"};

static const struct cli_source cli_sources[] = {
    {.type = "jdk.NativeMethodSample", .event = "cpu", .time_field = "weight"},
    {.type = "jdk.CPUTimeSample", .event = "cpu", .time_field = "samplingPeriod", .is_ticks = true},
    {.type = "datadog.ExecutionSample", .event = "cpu", .count_field = "weight"},
    {.type = "datadog.MethodSample", .event = "wall", .count_field = "weight"},
    {.type = "profiler.WallClockSample", .event = "wall", .count_field = "samples"},
    {.type = "jaywalk.WallClockSample",
     .event = "wall",
     .count_field = "samples",
     .time_field = "timeSpan"},
    CLI_ALLOC("jdk.ObjectAllocationSample", "weight"),
    /* Of async-profiler the size of the TLAB is what the object stands for. */
    CLI_ALLOC("jdk.ObjectAllocationInNewTLAB", "tlabSize"),
    CLI_ALLOC("jdk.ObjectAllocationOutsideTLAB", "allocationSize"),
    {.type = "datadog.ObjectSample",
     .event = "alloc",
     .time_field = "size",
     .is_times_weight = true,
     .unit = "bytes",
     .class_field = "objectClass",
     .size_field = "size"},
    {.type = "jaywalk.LiveObject",
     .event = "live",
     .time_field = "weight",
     .is_of_sets = true,
     .unit = "bytes",
     .class_field = "objectClass",
     .size_field = "allocationSize"},
    {.type = "profiler.LiveObject",
     .event = "live",
     .time_field = "allocationSize",
     .unit = "bytes",
     .class_field = "objectClass"},
    {.type = "datadog.HeapLiveObject",
     .event = "live",
     .time_field = "size",
     .is_times_weight = true,
     .unit = "bytes",
     .class_field = "objectClass",
     .size_field = "size"},
    {.type = "jdk.JavaMonitorEnter",
     .event = "lock",
     .time_field = "duration",
     .is_ticks = true,
     .class_field = "monitorClass"},
    {.type = "jaywalk.LockOwner",
     .event = "blame",
     .time_field = "duration",
     .is_ticks = true,
     .class_field = "lockClass"},
    {.type = "jdk.ThreadPark",
     .event = "lock",
     .time_field = "duration",
     .is_ticks = true,
     .class_field = "parkedClass"},
    CLI_THROW("jdk.JavaExceptionThrow"),
    CLI_THROW("jdk.JavaErrorThrow"),
    {.type = CLI_NEW_OBJECT,
     .event = CLI_NEW,
     .time_field = "count",
     .unit = "objects",
     .class_field = "objectClass"},
};

#define CLI_COUNTER_SAMPLE "jaywalk.CounterSample"
#define CLI_CALL_SAMPLE    "jaywalk.CallSample"

/* ---- clocks ---- */

bool cli_is_clock(const char *event)
{
    return strcmp(event, "cpu") == 0 || strcmp(event, "wall") == 0;
}

bool cli_is_hook(const char *event)
{
    return strcmp(event, "alloc") == 0 || strcmp(event, "live") == 0 ||
           strcmp(event, "lock") == 0 || strcmp(event, "blame") == 0 ||
           strcmp(event, CLI_EXCEPTION) == 0 || strcmp(event, CLI_NEW) == 0;
}

bool cli_is_counter(const char *event)
{
    if (cli_is_hook(event))
        return false;

    for (uint64_t other = 0; other < OPTIONS_EVENT_PERF; other++) {
        if (strcmp(event, options_event_name(other)) == 0)
            return false;
    }
    const enum jw_perf_kind kind = jw_perf_kind_of(event, strlen(event), NULL);
    return kind != JW_PERF_NONE && kind != JW_PERF_METHOD && kind != JW_PERF_EXCEPTION &&
           kind != JW_PERF_NEW;
}

bool cli_is_method(const char *event)
{
    return jw_perf_kind_of(event, strlen(event), NULL) == JW_PERF_METHOD;
}

const char *cli_event_of(const char *text)
{
    const enum jw_perf_kind kind = jw_perf_kind_of(text, strlen(text), NULL);

    return kind == JW_PERF_EXCEPTION ? CLI_EXCEPTION : kind == JW_PERF_NEW ? CLI_NEW : text;
}

void cli_clocks_take(struct cli_clocks *clocks, const char *name, const char *value)
{
    const long long number = strtoll(value, NULL, 10);
    const uint64_t interval_ns = number > 0 ? (uint64_t)number : 0;

    if (strcmp(name, "event") == 0) {
        clocks->is_event_wall = strcmp(value, "wall") == 0;
        snprintf(clocks->event, sizeof clocks->event, "%s", cli_event_of(value));
    } else if (strcmp(name, "wall") == 0) {
        clocks->has_wall = interval_ns > 0;
        clocks->wall_ns = interval_ns;
    } else if (strcmp(name, "alloc") == 0) {
        clocks->has_alloc = interval_ns > 0;
    } else if (strcmp(name, "live") == 0) {
        clocks->has_live = interval_ns > 0;
    } else if (strcmp(name, "lock") == 0) {
        clocks->has_lock = interval_ns > 0;
    } else if (strcmp(name, "interval") == 0) {
        clocks->interval_ns = interval_ns;
    }
}

/* Time of a turn of the wall clock, by the settings; 0: they do not say. */
static uint64_t cli_wall_interval_ns(const struct cli_clocks *clocks)
{
    return clocks->has_wall ? clocks->wall_ns : clocks->is_event_wall ? clocks->interval_ns : 0;
}

static bool cli_integer(const struct jfr_reader_event *event, uint32_t number, uint64_t *out)
{
    int64_t value = 0;

    if (!jfr_event_integer(event, number, &value) || value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* Of the two that a jdk.ExecutionSample may be. */
static bool cli_is_of_wall(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;
    uint64_t weight_ns = 0;

    const struct cli_type_memo *memo = cli_type_of(feed, event);

    if (memo->has_wall_time)
        return cli_integer(event, memo->weight_at, &weight_ns) && weight_ns == 0;
    if (feed->clocks.is_event_wall || !feed->clocks.has_wall)
        return feed->clocks.is_event_wall;
    return jfr_value_field(&event->value, "state", &field) && jfr_value_text(&field, &feed->text) &&
           strcmp(feed->text.text, "STATE_DEFAULT") != 0;
}

/* ---- samples ---- */

bool cli_counter_name(struct cli_feed *feed, const struct jfr_reader_event *event, char *out,
                      size_t room)
{
    struct jfr_value field;

    if (!jfr_value_field(&event->value, "counter", &field) || !jfr_value_text(&field, &feed->text))
        return false;
    snprintf(out, room, "%s", feed->text.text);
    return true;
}

/* Which counter it is, it says itself. */
static const struct cli_source *cli_counter_of(struct cli_feed *feed,
                                               const struct jfr_reader_event *event)
{
    struct cli_found *found = feed->found;

    (void)cli_counter_name(feed, event, found->counter, sizeof found->counter);
    feed->counter = (struct cli_source){
        .type = CLI_COUNTER_SAMPLE, .event = found->counter, .time_field = "count"};
    return &feed->counter;
}

enum cli_kind cli_kind_of(const char *type_name)
{
    return strcmp(type_name, CLI_EXECUTION_SAMPLE) == 0    ? CLI_KIND_EXECUTION
           : strcmp(type_name, CLI_COUNTER_SAMPLE) == 0    ? CLI_KIND_COUNTER
           : strcmp(type_name, CLI_CALL_SAMPLE) == 0       ? CLI_KIND_COUNTER
           : strcmp(type_name, "jaywalk.Diagnostics") == 0 ? CLI_KIND_COUNTERS
           : strcmp(type_name, "jdk.ActiveSetting") == 0   ? CLI_KIND_SETTING
           : strcmp(type_name, CLI_SAFEPOINT_SAMPLE) == 0  ? CLI_KIND_ASKED
           : strcmp(type_name, CLI_POLL_SAMPLE) == 0       ? CLI_KIND_ASKED
                                                           : CLI_KIND_OTHER;
}

static void cli_know_type(const struct cli_feed *feed, const char *name, struct cli_type_memo *out)
{
    static const struct cli_source any = {.event = ""};

    out->kind = cli_kind_of(name);
    if (out->kind == CLI_KIND_EXECUTION || out->kind == CLI_KIND_COUNTER)
        return;
    for (size_t i = 0; i < JW_COUNT_OF(cli_sources) && out->source == NULL; i++) {
        if (strcmp(cli_sources[i].type, name) == 0)
            out->source = &cli_sources[i];
    }
    if (out->source == NULL && feed->wish->event != NULL && strcmp(name, feed->wish->event) == 0)
        out->source = &any;
    if (out->source != NULL && out->kind != CLI_KIND_ASKED)
        out->kind = CLI_KIND_SAMPLE;
}

static uint32_t field_at(const struct jfr_reader_event *event, const char *name)
{
    return name == NULL ? JFR_FIELD_NONE : jfr_event_field_number(event, name);
}

static struct cli_places places_of(const struct cli_feed *feed, const struct cli_source *source,
                                   const struct jfr_reader_event *event)
{
    return (struct cli_places){
        .source = source,
        .count_at = field_at(event, source->count_field),
        .time_at = field_at(event, source->time_field),
        .class_at = feed->wish->is_of_code ? JFR_FIELD_NONE : field_at(event, source->class_field),
        .is_wished =
            feed->wish->event != NULL && cli_is_wished(feed->wish, source, event->type_name),
        .is_wall = strcmp(source->event, "wall") == 0};
}

/* What of a type is asked for each of its events. */
static void cli_place_type(const struct cli_feed *feed, const struct jfr_reader_event *event,
                           struct cli_type_memo *out)
{
    const char *name = event->type_name;

    out->trace_at = jfr_event_field_number(event, "stackTrace");
    out->weight_at = jfr_event_field_number(event, "weight");
    out->is_park = strcmp(name, "jdk.ThreadPark") == 0;
    out->is_native =
        strcmp(name, "jdk.NativeMethodSample") == 0 && out->weight_at == JFR_FIELD_NONE;
    if (out->kind == CLI_KIND_EXECUTION) {
        out->has_wall_time = jfr_value_has_field(&event->value, "wallTime");
        out->places[0] = places_of(feed, &cli_execution_cpu, event);
        out->places[1] = places_of(feed, &cli_execution_wall, event);
    } else if (out->source != NULL) {
        out->places[0] = places_of(feed, out->source, event);
    }
}

const struct cli_places *cli_places_of(struct cli_feed *feed, const struct cli_source *source,
                                       const struct jfr_reader_event *event)
{
    struct cli_type_memo *memo = cli_type_of(feed, event);

    for (size_t i = 0; i < JW_COUNT_OF(memo->places); i++)
        if (memo->places[i].source == source && source != &feed->counter)
            return &memo->places[i];
    /* A counter, which may be another one in the next event. */
    memo->places[1] = places_of(feed, source, event);
    return &memo->places[1];
}

bool cli_is_event_wished(struct cli_feed *feed, const struct cli_source *source,
                         const struct jfr_reader_event *event)
{
    return cli_places_of(feed, source, event)->is_wished;
}

struct cli_type_memo *cli_look_up_type(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_type_memo *memo =
        &feed->types[(uintptr_t)event->type / sizeof(void *) % CLI_TYPE_MEMOS];

    if (memo->type != event->type) {
        *memo = (struct cli_type_memo){.type = event->type};
        cli_know_type(feed, event->type_name, memo);
        memo->lane = feed->wish->moments == NULL ? NULL : cli_lane_of(event->type_name);
        cli_place_type(feed, event, memo);
        cli_plan_type(feed, event, memo);
    }
    feed->memo = memo;
    return memo;
}

void cli_forget_types(struct cli_feed *feed)
{
    memset(feed->types, 0, sizeof feed->types);
    feed->memo = NULL;
    feed->asked = (struct cli_asked){0};
}

const struct cli_source *cli_source_of(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const struct cli_type_memo *memo = cli_type_of(feed, event);

    if (memo->kind == CLI_KIND_EXECUTION)
        return cli_is_of_wall(feed, event) ? &cli_execution_wall : &cli_execution_cpu;
    return memo->kind == CLI_KIND_COUNTER ? cli_counter_of(feed, event) : memo->source;
}

bool cli_is_wished(const struct cli_wish *wish, const struct cli_source *source, const char *type)
{
    return strcmp(source->event, wish->event) == 0 || strcmp(type, wish->event) == 0;
}

/* Each object of this size stands for so many bytes, so the sample for so many objects. */
static void count_objects(const struct cli_source *source, const struct jfr_reader_event *event,
                          struct cli_value *out)
{
    uint64_t object_bytes;

    if (cli_integer(event, field_at(event, source->size_field), &object_bytes) &&
        object_bytes > 0 && out->time_ns > object_bytes)
        out->samples = (out->time_ns + object_bytes / 2) / object_bytes;
}

/* Each of this size stands for so many of them. */
static uint64_t times_weight(const struct jfr_reader_event *event, uint64_t number)
{
    struct jfr_value field;
    double weight;

    if (!jfr_value_field(&event->value, "weight", &field) || !jfr_value_number(&field, &weight) ||
        !(weight > 0) || weight > 1e9)
        return number;
    return (uint64_t)((double)number * weight + 0.5);
}

void cli_weigh(struct cli_feed *feed, const struct cli_source *source,
               const struct jfr_reader_event *event, struct cli_value *out)
{
    const struct cli_places *places = cli_places_of(feed, source, event);
    const bool is_wall = places->is_wall;
    const uint64_t interval_ns = is_wall ? cli_wall_interval_ns(&feed->clocks) : 0;

    *out = (struct cli_value){.samples = 1};
    if (cli_integer(event, places->count_at, &out->samples) && out->samples == 0)
        out->samples = 1;
    if (cli_integer(event, places->time_at, &out->time_ns)) {
        if (source->is_times_weight)
            out->time_ns = times_weight(event, out->time_ns);
        out->is_timed = is_wall || out->time_ns > 0;
        if (source->is_ticks) {
            out->is_timed = out->is_timed && feed->ticks_per_second > 0;
            out->time_ns =
                out->is_timed
                    ? (uint64_t)((double)out->time_ns * 1e9 / (double)feed->ticks_per_second)
                    : 0;
        }
        if (feed->wish->counts_objects)
            count_objects(source, event, out);
    } else if (interval_ns > 0 && out->samples <= UINT64_MAX / interval_ns) {
        out->is_timed = true;
        out->time_ns = out->samples * interval_ns;
    }
}

const char *cli_source_type(const char *event, size_t number)
{
    if (!cli_is_clock(event) && !cli_is_hook(event))
        return number > 0 ? NULL : cli_is_counter(event) ? CLI_COUNTER_SAMPLE : event;
    if (cli_is_clock(event) && number == 0)
        return CLI_EXECUTION_SAMPLE;
    number += cli_is_hook(event);
    for (size_t i = 0; i < JW_COUNT_OF(cli_sources); i++) {
        if (strcmp(cli_sources[i].event, event) == 0 && --number == 0)
            return cli_sources[i].type;
    }
    return NULL;
}

bool cli_is_other_park(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    return strcmp(feed->wish->event, "lock") == 0 && cli_is_park_of_no_lock(feed, event);
}

bool cli_is_park_of_no_lock(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value owner, klass, name;

    if (!cli_type_of(feed, event)->is_park)
        return false;
    if (jfr_value_field(&event->value, "owner", &owner) && jfr_value_key(&owner) != 0)
        return false;
    return !jfr_value_field(&event->value, "parkedClass", &klass) || jfr_value_key(&klass) == 0 ||
           !jfr_value_field(&klass, "name", &name) || !jfr_value_text(&name, &feed->text) ||
           !jw_lock_class_is(feed->text.text, strlen(feed->text.text));
}

bool cli_is_left_out(struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_value *value)
{
    return !value->is_timed && cli_type_of(feed, event)->is_native &&
           strcmp(feed->wish->event, "cpu") == 0;
}

bool cli_declares(const struct cli_feed *feed, const char *event)
{
    if (cli_is_counter(event) || (cli_is_method(event) && strcmp(feed->clocks.event, event) == 0))
        return strcmp(feed->clocks.event, event) == 0;
    /* Types of the wall clock are declared whether it ran or not. */
    if (strcmp(event, "wall") == 0)
        return feed->clocks.is_event_wall || feed->clocks.has_wall ||
               jfr_reader_has_event(feed->reader, "datadog.MethodSample");
    if (cli_is_hook(event) && jfr_reader_has_event(feed->reader, "jaywalk.Diagnostics"))
        return strcmp(feed->clocks.event, event) == 0 ||
               (strcmp(event, "alloc") == 0 && feed->clocks.has_alloc) ||
               (strcmp(event, "live") == 0 && feed->clocks.has_live) ||
               ((strcmp(event, "lock") == 0 || strcmp(event, "blame") == 0) &&
                feed->clocks.has_lock);
    if (strcmp(event, "cpu") == 0 && jfr_reader_has_event(feed->reader, CLI_EXECUTION_SAMPLE))
        return true;
    for (size_t i = 0; i < JW_COUNT_OF(cli_sources); i++) {
        if (strcmp(cli_sources[i].event, event) == 0 &&
            jfr_reader_has_event(feed->reader, cli_sources[i].type))
            return true;
    }
    return jfr_reader_has_event(feed->reader, event);
}

/* ---- what was not asked for ---- */

/* In this order one is named where there are several; between wall and alloc are counters, whose names are their own. */
static const char *const cli_others[CLI_OTHERS] = {"cpu",  "wall",        NULL,   "alloc",
                                                   "lock", CLI_EXCEPTION, CLI_NEW};
#define CLI_OTHER_COUNTER 2u

void cli_note_passed(struct cli_found *found, const char *event, uint64_t samples)
{
    if (strcmp(event, "live") == 0 || strcmp(event, "blame") == 0)
        return; /* they are what is left of allocations, and another look at waits */
    for (size_t i = 0; i < CLI_OTHERS; i++) {
        if (cli_others[i] != NULL && strcmp(cli_others[i], event) == 0) {
            found->others[i] += samples;
            return;
        }
    }
    found->others[CLI_OTHER_COUNTER] += samples;
}

const char *cli_other_of(const struct cli_found *found)
{
    for (size_t i = 0; i < CLI_OTHERS; i++) {
        if (found->others[i] > 0)
            return cli_others[i] == NULL ? found->counter : cli_others[i];
    }
    return NULL;
}

const char *cli_session_event(const struct cli_found *found)
{
    if (found->is_of_wall)
        return "wall";
    if (found->hook_event[0] != '\0')
        return found->hook_event;
    if (found->samples > 0 || found->native_left_out > 0)
        return NULL;
    if (found->counter[0] != '\0')
        return found->counter;
    return found->other_samples > 0 ? "wall" : cli_other_of(found);
}

/* ---- states ---- */

bool cli_is_in_state(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;

    return feed->wish->state == NULL || (jfr_value_field(&event->value, "state", &field) &&
                                         jfr_value_text(&field, &feed->text) &&
                                         profile_is_state(feed->text.text, feed->wish->state));
}
