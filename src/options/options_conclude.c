/* What follows from all options of an agent string together; control, tool. */
#include <stdio.h>

#include "options/options_parser_internal.h"
#include "options/options_value.h"

static bool is_seen_with(const struct options_parser *parser, size_t field_offset)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        if (parser->is_seen[id] && options_rows[id].field_offset == field_offset)
            return true;
    }
    return false;
}

/*
 * An action that was not named: what begins a session asks for one; a file or format alone asks for
 * what there is so far. Nothing is concluded where another profiler's action was asked for.
 */
static void conclude_action(struct options_parser *parser)
{
    struct options *values = &parser->result->values;

    values->is_action_given = is_seen_with(parser, offsetof(struct options, action));
    if (values->is_action_given || parser->is_foreign_action_seen)
        return;
    if (values->output != OPTIONS_OUTPUT_NONE)
        values->action = OPTIONS_ACTION_DUMP;
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const unsigned applies = options_rows[id].applies & ~(1u << OPTIONS_ACTION_PROBE_ATTACH |
                                                              1u << OPTIONS_ACTION_PROBE_DETACH);

        if (parser->is_seen[id] &&
            (applies == OPTIONS_ON_START || applies == OPTIONS_ON_START_ALONE))
            values->action = OPTIONS_ACTION_START;
    }
}

/* What is not named is as at the attach. */
static void conclude_pause(struct options_parser *parser)
{
    struct options *values = &parser->result->values;

    if (values->action == OPTIONS_ACTION_PROBE_DETACH && !parser->is_seen[OPTIONS_ID_PAUSEBUDGET])
        values->pause_ns = 0;
}

/* The wall clock alone, where no other event is named, has the interval that is named for whichever clock. */
static void conclude_clocks(struct options_parser *parser)
{
    struct options *values = &parser->result->values;
    const bool has_interval = parser->is_seen[OPTIONS_ID_INTERVAL];

    if (values->wall_ns != 0 && !is_seen_with(parser, offsetof(struct options, event)))
        values->event = OPTIONS_EVENT_WALL;
    if (values->event != OPTIONS_EVENT_WALL)
        return;
    if (values->wall_ns == 0)
        values->wall_ns = has_interval ? values->interval_ns : OPTIONS_WALL_DEFAULT_NS;
    else if (has_interval)
        options_add_message(&parser->result->warnings,
                            "interval: has no effect; the wall clock has the interval of wall");
    values->interval_ns = values->wall_ns;
}

/* A named format counts, then `flat` and `traces`, then the ending of the file. */
static void conclude_output(struct options_parser *parser)
{
    struct options *values = &parser->result->values;
    const bool has_flat = parser->is_seen[OPTIONS_ID_FLAT];
    const bool has_traces = parser->is_seen[OPTIONS_ID_TRACES];
    uint64_t of_file = OPTIONS_OUTPUT_NONE;

    if (values->file[0] != '\0' && !options_output_of_file(values->file, &of_file))
        return; /* refused when it was read */
    if (values->output == OPTIONS_OUTPUT_NONE)
        values->output = has_flat || has_traces ? (uint64_t)OPTIONS_OUTPUT_TEXT : of_file;
    if (has_flat && !has_traces)
        values->traces_count = 0;
    if (has_traces && !has_flat)
        values->flat_count = 0;
    if (of_file != OPTIONS_OUTPUT_NONE && of_file != OPTIONS_OUTPUT_TEXT &&
        of_file != values->output)
        options_add_message(&parser->result->warnings,
                            "file: %s is written into a file with the ending of %s",
                            options_output_name(values->output), options_output_name(of_file));
}

/* What is told while samples are counted. False: it has its say. */
static bool refuse_later(struct options_parser *parser, const struct options_row *row)
{
    const struct options *values = &parser->result->values;

    if (!row->is_counted)
        return false;
    if (values->action == OPTIONS_ACTION_RESUME)
        options_add_message(&parser->result->errors,
                            "%s: resume goes on with the part that the start named; start begins "
                            "anew",
                            row->name);
    else if (values->action == OPTIONS_ACTION_STOP || values->action == OPTIONS_ACTION_DUMP)
        options_add_message(&parser->result->errors,
                            "%s: a graph has counted its samples by now; name it at the start, or "
                            "record a .jfr and use 'jaywalk convert --%s'",
                            row->name, row->name);
    else if (values->output == OPTIONS_OUTPUT_JFR)
        options_add_message(&parser->result->errors,
                            "%s: a recording has all samples; 'jaywalk convert --%s' shows a part "
                            "of them",
                            row->name, row->name);
    else
        return false;
    return true;
}

static void warn_of_idle_options(struct options_parser *parser)
{
    const uint64_t action = parser->result->values.action;
    const uint64_t output = parser->result->values.output;

    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];

        if (!parser->is_seen[id] || refuse_later(parser, row))
            continue;
        if (action != OPTIONS_ACTION_NONE && (row->applies >> action & 1) == 0)
            options_add_message(&parser->result->warnings, "%s: has no effect on %s", row->name,
                                options_action_name(action));
        else if (output != OPTIONS_OUTPUT_NONE && row->formats != 0 &&
                 (row->formats >> output & 1) == 0)
            options_add_message(&parser->result->warnings, "%s: has no effect on %s output",
                                row->name, options_output_name(output));
    }
}

/* Of a counter: a number of events. */
static void take_interval_count(struct options_parser *parser)
{
    const struct options_item *item = &parser->interval;
    struct options *values = &parser->result->values;
    uint64_t minimum, count = jw_perf_interval(values->perf, &minimum);
    const char *why = NULL;

    if (parser->has_interval) {
        const enum options_value_status status =
            options_value_count(item->value, item->value_bytes, &count);

        if (status != OPTIONS_VALUE_OK)
            why = options_value_status_text(status);
        else if (count == 0 || count > JW_PERF_INTERVAL_MAX)
            why = count == 0 ? "is zero" : "is too large";
    }
    if (why != NULL) {
        options_add_message(
            &parser->result->errors,
            "%s: %s; of event=%.64s it is a number of events, from %llu to %llu; example: "
            "interval=%llu",
            item->quoted, why, values->perf, (unsigned long long)minimum,
            (unsigned long long)JW_PERF_INTERVAL_MAX,
            (unsigned long long)jw_perf_interval(values->perf, &minimum));
        return;
    }
    if (count < minimum) {
        options_add_message(&parser->result->warnings, "%s: is too small; %llu is used",
                            item->quoted, (unsigned long long)minimum);
        count = minimum;
    }
    values->interval_count = count;
}

/* Allocations alone, where no other event is named, have the interval that is named for whichever event. */
static void conclude_alloc(struct options_parser *parser)
{
    struct options *values = &parser->result->values;
    const bool is_given = values->alloc_bytes != 0;

    /* Live objects are sampled ones. */
    if (values->live_count != 0 && !is_given && values->event != OPTIONS_EVENT_ALLOC &&
        (values->wall_ns != 0 || is_seen_with(parser, offsetof(struct options, event))))
        values->alloc_bytes = OPTIONS_ALLOC_DEFAULT_BYTES;
    else if (values->live_count != 0 && !is_given)
        values->event = OPTIONS_EVENT_ALLOC;
    if (is_given && values->wall_ns == 0 && !is_seen_with(parser, offsetof(struct options, event)))
        values->event = OPTIONS_EVENT_ALLOC;
    if (values->event != OPTIONS_EVENT_ALLOC)
        return;
    if (is_given && parser->has_interval)
        options_add_message(&parser->result->warnings,
                            "interval: has no effect; allocations have the interval of alloc");
    else if (parser->has_interval)
        options_take_number(parser, &options_rows[OPTIONS_ID_ALLOC], &parser->interval);
    else if (!is_given)
        values->alloc_bytes = OPTIONS_ALLOC_DEFAULT_BYTES;
}

/* Locks alone, where no other event is named: what is named for whichever event is their shortest wait. */
static void conclude_lock(struct options_parser *parser)
{
    struct options *values = &parser->result->values;
    const bool is_given = values->lock_ns != 0;

    if (is_given && values->wall_ns == 0 && values->alloc_bytes == 0 &&
        !is_seen_with(parser, offsetof(struct options, event)))
        values->event = OPTIONS_EVENT_LOCK;
    if (values->event != OPTIONS_EVENT_LOCK)
        return;
    if (is_given && parser->has_interval)
        options_add_message(&parser->result->warnings,
                            "interval: has no effect; the shortest wait is that of lock");
    else if (parser->has_interval)
        options_take_number(parser, &options_rows[OPTIONS_ID_LOCK], &parser->interval);
    else if (!is_given)
        values->lock_ns = OPTIONS_LOCK_DEFAULT_NS;
}

/* Who waited belongs to it. */
static void conclude_locks(struct options_parser *parser)
{
    struct options *values = &parser->result->values;

    if (values->locks == OPTIONS_LOCKS_WAITS)
        return;
    if (values->lock_ns == 0)
        values->lock_ns = OPTIONS_LOCK_DEFAULT_NS;
    if (values->dialect != OPTIONS_DIALECT_STANDARD) {
        values->locks = OPTIONS_LOCKS_WAITS;
        options_add_message(&parser->result->warnings,
                            "locks: waits alone are told; a recording in this dialect has no place "
                            "for the census. Leave the dialect out to have it");
    }
}

/* The word alone is its own text. */
static void conclude_exception(struct options_parser *parser)
{
    struct options *values = &parser->result->values;

    if (values->event == OPTIONS_EVENT_EXCEPTION && values->perf[0] == '\0')
        snprintf(values->perf, sizeof values->perf, "%s", options_event_name(values->event));
}

static void conclude_interval(struct options_parser *parser)
{
    if (options_is_counting(&parser->result->values))
        take_interval_count(parser);
    else if (parser->result->values.event == OPTIONS_EVENT_ALLOC ||
             parser->result->values.event == OPTIONS_EVENT_LOCK)
        return; /* conclude_alloc, conclude_lock */
    else if (parser->has_interval)
        options_take_number(parser, &options_rows[OPTIONS_ID_INTERVAL], &parser->interval);
}

/* Whoever samples each n-th of something counts by the same cells. */
static void conclude_throws(struct options_parser *parser)
{
    const struct options *values = &parser->result->values;

    if (values->throws_of[0] != '\0' &&
        (values->event == OPTIONS_EVENT_EXCEPTION || values->event == OPTIONS_EVENT_METHOD ||
         values->event == OPTIONS_EVENT_NEW))
        options_add_message(
            &parser->result->errors,
            "exceptions: not beside event=%.64s; name one of them, or another event",
            options_event_text(values));
}

/* What the event cannot do. */
static void conclude_event(struct options_parser *parser)
{
    struct options *values = &parser->result->values;

    if (values->is_user_only && values->event != OPTIONS_EVENT_PERF &&
        values->event != OPTIONS_EVENT_CPU_CLOCK)
        options_add_message(
            &parser->result->warnings,
            "alluser: has no effect on event=%.64s; use event=cpu-clock or a counter",
            options_event_text(values));
    if (values->overhead_ppm != 0 &&
        (options_is_counting(values) || values->event == OPTIONS_EVENT_ALLOC ||
         values->event == OPTIONS_EVENT_LOCK)) {
        options_add_message(&parser->result->warnings,
                            "overhead: has no effect on event=%.64s; a longer interval= does",
                            options_event_text(values));
        if (values->wall_ns == 0)
            values->overhead_ppm = 0;
    }
}

static void conclude_window(struct options_parser *parser)
{
    struct options *values = &parser->result->values;
    struct options_messages *errors = &parser->result->errors;

    if (values->window_begin == OPTIONS_MOMENT_TTSP && values->window_end == OPTIONS_MOMENT_NONE) {
        values->window_begin = OPTIONS_MOMENT_ASKED;
        values->window_end = OPTIONS_MOMENT_REACHED;
    }
    if (errors->count != 0 ||
        (values->window_begin == OPTIONS_MOMENT_NONE && values->window_end == OPTIONS_MOMENT_NONE))
        return;
    if (values->window_begin == OPTIONS_MOMENT_TTSP)
        options_add_message(errors, "end: begin=ttsp is a window with its end; leave out end=");
    else if (values->window_begin == OPTIONS_MOMENT_NONE)
        options_add_message(errors, "end: a window needs a begin; example: "
                                    "begin=SafepointSynchronize::begin");
    else if (values->window_end == OPTIONS_MOMENT_NONE)
        options_add_message(errors, "begin: a window needs an end; example: "
                                    "end=SafepointSynchronize::end, or begin=ttsp");
    else if (values->window_begin == values->window_end)
        options_add_message(errors, "end: a window that closes where it opens has no sample");
    if (values->wall_ns != 0)
        options_add_message(
            errors,
            "begin: a window is not for the wall clock, which accounts for threads that "
            "wait without a signal; record all, and look at it with jaywalk convert --safepoint");
}

bool options_conclude(struct options_parser *parser)
{
    conclude_alloc(parser);
    conclude_lock(parser);
    conclude_locks(parser);
    conclude_exception(parser);
    conclude_interval(parser);
    conclude_event(parser);
    conclude_throws(parser);
    conclude_clocks(parser);
    conclude_window(parser);
    conclude_output(parser);
    conclude_action(parser);
    conclude_pause(parser);
    warn_of_idle_options(parser);
    return parser->result->errors.count == 0;
}
