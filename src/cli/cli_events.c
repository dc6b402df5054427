/*
 * `jaywalk convert` to JSON Lines and CSV: which events, and whence to where. Context: tool.
 *
 * Events go from the reader to the output one by one; of those that filters take, nothing is left out and nothing summed.
 */
#include "cli/cli_events_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "cli/cli_feed_internal.h"
#include "options/options.h"

struct cli_flow {
    const char *in;
    enum cli_events_format format;
    struct cli_part part;
    struct cli_bys bys; /* none */
    struct cli_wish wish;
    struct cli_input input;
    struct options_result look; /* of which only the patterns count */
    struct profile_filter *filter;
    struct jw_map stack_of;  /* of this chunk: key of a stack -> 1: it is wanted, 2: it is not */
    struct jw_map method_of; /* keys of method and type -> 1, and 2 for included, 4 for excluded */
    struct cli_columns columns;
    struct cli_feed feed;
    struct cli_events events;
    struct cli_sink sink;
    uint64_t seen; /* of the event that is wished for */
    uint64_t written;
};

enum cli_events_format cli_events_format_of(const struct cli_values *values, const char *out)
{
    const char *dot = strrchr(out, '.');
    const char *name = values->format != NULL ? values->format : dot == NULL ? "" : dot + 1;

    if (jw_ascii_equal(name, "jsonl") || jw_ascii_equal(name, "ndjson"))
        return CLI_EVENTS_JSONL;
    return jw_ascii_equal(name, "csv") ? CLI_EVENTS_CSV : CLI_EVENTS_NONE;
}

/* ---- options ---- */

/* Events are not drawn, summed or renamed: what asks for that is refused, not passed over. */
static bool check_looks(const struct cli_values *values, struct jw_error *err)
{
    const char *name = values->by.count > 0 ? "by" : values->base != NULL ? "diff" : NULL;

    for (size_t i = 0; i < values->agent.count && name == NULL; i++) {
        if (strcmp(values->agent.names[i], "include") != 0 &&
            strcmp(values->agent.names[i], "exclude") != 0)
            name = values->agent.names[i];
    }
    if (name == NULL)
        return true;
    jw_error_set(
        err,
        "--%s: says how sums of stacks look, and jsonl and csv are the events as they stand "
        "in the recording; leave it out, or choose html, collapsed, text, tree, pprof or otlp",
        name);
    return false;
}

static bool read_times(const struct cli_values *values, enum cli_times *times, struct jw_error *err)
{
    static const char *const words[] = {"iso", "ms", "ns"};

    if (values->times == NULL)
        return true;

    const size_t number = cli_word_of("times", values->times, words, JW_COUNT_OF(words), err);
    *times = (enum cli_times)number;
    return number < JW_COUNT_OF(words);
}

static bool read_flow(const struct cli_values *values, struct cli_flow *flow, struct jw_error *err)
{
    struct profile_view view = {0};

    if (!check_looks(values, err) || !read_times(values, &flow->events.times, err) ||
        !cli_part_read(values, &flow->part, err))
        return false;
    if (!options_parse_pairs(values->agent.names, values->agent.values, values->agent.count,
                             &flow->look)) {
        jw_error_set(err, "--%s", flow->look.errors.texts[0]);
        return false;
    }
    view.includes = flow->look.values.includes;
    view.excludes = flow->look.values.excludes;
    if (!cli_check_patterns(&flow->look.values, err))
        return false;
    flow->filter = profile_filter_open(&view, err);
    flow->wish =
        (struct cli_wish){.event = values->event == NULL ? NULL : cli_event_of(values->event),
                          .state = values->state,
                          .part = &flow->part,
                          .bys = &flow->bys,
                          .is_quiet = values->is_quiet};
    return err->message[0] == '\0';
}

/* ---- which events ---- */

static bool is_wished(struct cli_flow *flow, const struct jfr_reader_event *event)
{
    struct cli_feed *feed = &flow->feed;
    struct cli_value value;

    if (flow->wish.event == NULL)
        return true;

    const struct cli_source *source = cli_source_of(feed, event);
    if (source == NULL || !cli_is_wished(&flow->wish, source, event->type_name))
        return false;
    cli_weigh(feed, source, event, &value);
    return !cli_is_left_out(feed, event, &value);
}

/* What the patterns say of a frame: 1, and 2 where it is included, 4 where it is excluded; 0: no memory. */
static uint64_t judge_frame(struct cli_flow *flow, const struct jfr_stack_frame *from)
{
    const uint64_t keys[] = {from->method_key, from->type_key};
    uint64_t *known = jw_map_put(&flow->method_of, keys, sizeof keys);
    struct profile_frame frame;
    bool is_included, is_excluded;

    if (known == NULL)
        return 0;
    if (*known != 0)
        return *known;
    if (!cli_read_frame(&flow->feed, from, &frame) ||
        !profile_filter_frame(flow->filter, &frame, &is_included, &is_excluded))
        return 0;
    *known = 1 + (is_included ? 2u : 0) + (is_excluded ? 4u : 0);
    return *known;
}

static bool judge_stack(struct cli_flow *flow, const struct jfr_value *trace)
{
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    uint64_t all = profile_filter_has_includes(flow->filter) ? 0 : 2;

    if (trace->reader != NULL && jfr_stack_begin(trace, &stack)) {
        while (jfr_stack_next(&stack, &frame)) {
            const uint64_t one = judge_frame(flow, &frame);

            flow->feed.is_out_of_memory |= one == 0;
            all |= one;
        }
    }
    return (all & 2) != 0 && (all & 4) == 0;
}

static bool has_wanted_stack(struct cli_flow *flow, const struct jfr_reader_event *event)
{
    struct jfr_value reference;
    struct jfr_value trace = {.reader = NULL};

    if (flow->filter == NULL)
        return true;
    if (!jfr_value_field(&event->value, "stackTrace", &reference))
        return judge_stack(flow, &trace);

    const uint64_t key = jfr_value_key(&reference);
    uint64_t *known = jw_map_put(&flow->stack_of, &key, sizeof key);
    if (known == NULL) {
        flow->feed.is_out_of_memory = true;
        return false;
    }
    if (*known == 0) {
        if (!jfr_value_constant(&reference, &trace))
            trace.reader = NULL;
        *known = judge_stack(flow, &trace) ? 1 : 2;
    }
    return *known == 1;
}

/* ---- output ---- */

static bool put_line(struct cli_flow *flow, struct jw_error *err)
{
    if (flow->events.line.has_failed) {
        jw_error_set(err, "out of memory while reading %s; free some and try again", flow->in);
        return false;
    }
    return cli_sink_put(&flow->sink, flow->events.line.bytes, flow->events.line.used_bytes, err);
}

static bool put_event(struct cli_flow *flow, const struct jfr_reader_event *event,
                      struct jw_error *err)
{
    struct cli_events *events = &flow->events;
    bool is_whole;

    events->values_left = CLI_EVENTS_VALUES;
    events->depth = 0;
    if (flow->format == CLI_EVENTS_CSV) {
        is_whole = cli_csv_event(events, &flow->columns, event);
    } else {
        events->line.used_bytes = 0;
        cli_buffer_text(&events->line, "{\"type\":\"");
        cli_buffer_json(&events->line, event->type_name);
        cli_buffer_text(&events->line, "\",\"values\":");
        is_whole = cli_events_object(events, &event->value, NULL);
        cli_buffer_text(&events->line, "}\n");
    }
    if (events->line.has_failed)
        jw_error_set(err,
                     "%s: the event at byte %" PRIu64
                     " takes more than 64 MiB as a text, or more memory than there is",
                     flow->in, event->offset_bytes);
    else if (!is_whole && events->values_left == 0)
        jw_error_set(err, "%s: the event at byte %" PRIu64 " leads to more than a million values",
                     flow->in, event->offset_bytes);
    else if (!is_whole)
        jw_error_set(err,
                     "%s: damaged at byte %" PRIu64 ": an event that ends before its fields do",
                     flow->in, event->offset_bytes);
    flow->written++;
    return err->message[0] == '\0' && put_line(flow, err);
}

static bool write_chunk(struct cli_flow *flow, struct cli_progress *progress, struct jw_error *err)
{
    struct cli_feed *feed = &flow->feed;
    struct jfr_reader_event event;

    while (jfr_reader_next_event(feed->reader, &event, err)) {
        cli_progress_show(progress, "writing", jfr_reader_position_bytes(feed->reader),
                          jfr_reader_size_bytes(feed->reader));
        cli_note_asked(feed, &event);
        if (strcmp(event.type_name, "jdk.ActiveSetting") == 0)
            cli_take_setting(feed, &event);
        if (!is_wished(flow, &event))
            continue;
        flow->seen++;
        if (!cli_is_in_part(feed, &event) || !cli_is_in_state(feed, &event) ||
            !has_wanted_stack(flow, &event))
            continue;
        if (feed->is_out_of_memory || !put_event(flow, &event, err))
            break;
    }
    if (feed->is_out_of_memory && err->message[0] == '\0')
        jw_error_set(err, "out of memory while reading %s; free some and try again", flow->in);
    return err->message[0] == '\0';
}

static bool write_chunks(struct cli_flow *flow, struct jw_error *err)
{
    struct cli_feed *feed = &flow->feed;
    struct cli_progress progress;
    bool is_good = true;

    cli_progress_begin(&progress, flow->wish.is_quiet);
    while (is_good && jfr_reader_next_chunk(feed->reader, &feed->chunk, err)) {
        feed->ticks_per_second = feed->chunk.ticks_per_second;
        feed->clocks = (struct cli_clocks){0};
        flow->events.reader = feed->reader;
        cli_events_begin_chunk(&flow->events, &feed->chunk);
        is_good = write_chunk(flow, &progress, err);
        if (flow->wish.event != NULL)
            feed->found->has_event |= cli_declares(feed, flow->wish.event);
        cli_feed_forget(feed);
        jw_map_clear(&flow->stack_of);
        jw_map_clear(&flow->method_of);
    }
    cli_progress_end(&progress);
    return is_good && err->message[0] == '\0';
}

static bool add_columns(struct cli_flow *flow, const struct jfr_reader *reader, const char *type)
{
    bool has_memory = true;
    const char *name;

    for (size_t n = 0; has_memory && (name = jfr_reader_field_name(reader, type, n)) != NULL; n++)
        has_memory = cli_columns_add(&flow->columns, name);
    return has_memory;
}

/* Columns of all types that may be wished for, of all chunks: a first pass, which looks at no event. */
static bool gather_columns(struct cli_flow *flow, struct jw_error *err)
{
    struct jfr_reader_chunk chunk;
    const char *type;
    struct jfr_reader *reader;
    bool has_memory = true;

    flow->columns.is_of_all = flow->wish.event == NULL;
    if (flow->columns.is_of_all)
        return true;
    reader = jfr_reader_open(flow->in, err);
    while (reader != NULL && has_memory && jfr_reader_next_types(reader, &chunk, err)) {
        for (size_t i = 0; has_memory && (type = cli_source_type(flow->wish.event, i)) != NULL; i++)
            has_memory = add_columns(flow, reader, type);
        /* It is no type, but may be what was sampled. */
        if (has_memory && cli_is_method(flow->wish.event) &&
            !jfr_reader_has_event(reader, flow->wish.event))
            has_memory = add_columns(flow, reader, "jaywalk.CallSample");
    }
    jfr_reader_close(reader);
    if (!has_memory)
        jw_error_set(err, "out of memory for the columns of %s", flow->in);
    return err->message[0] == '\0';
}

static bool run_flow(struct cli_flow *flow, struct jw_error *err)
{
    struct cli_feed *feed = &flow->feed;

    feed->wish = &flow->wish;
    feed->found = &flow->input.found;
    if (!cli_part_settle(&flow->part, flow->in, err))
        return false;
    if (cli_needs_requests(&flow->part, &flow->bys)) {
        flow->input.requests = cli_requests_read(flow->in, true, flow->wish.is_quiet, err);
        if (flow->input.requests == NULL)
            return false;
        cli_requests_judge(flow->input.requests, &flow->part);
        feed->requests = flow->input.requests;
    }
    if (flow->format == CLI_EVENTS_CSV) {
        if (!gather_columns(flow, err))
            return false;
        cli_csv_head(&flow->events, &flow->columns);
        if (!put_line(flow, err))
            return false;
    }
    feed->reader = jfr_reader_open(flow->in, err);
    return feed->reader != NULL && write_chunks(flow, err);
}

/* ---- what is said ---- */

static void tell(const struct cli_flow *flow, const struct cli_values *values)
{
    const char *notice = jfr_reader_notice(flow->feed.reader);
    char filters[512];
    const char *pattern;
    bool is_exclude;

    if (notice[0] != '\0')
        cli_complain("%s", notice);
    if (flow->events.missing > 0)
        cli_complain("%s: %" PRIu64 " references lead to nothing in the recording; they are null",
                     flow->in, flow->events.missing);
    if (flow->written == 0 && flow->seen > 0) {
        cli_filters_tell(values, filters, sizeof filters);
        cli_complain("%s: the filters left nothing of %" PRIu64 " events:%s", flow->in, flow->seen,
                     filters);
    } else if (flow->written == 0) {
        cli_complain("%s: no events%s%s", flow->in, flow->wish.event == NULL ? "" : " of ",
                     flow->wish.event == NULL ? "" : flow->wish.event);
    }
    cli_tell_idle_part(flow->in, &flow->part);
    for (size_t n = 0; (pattern = profile_filter_idle(flow->filter, n, &is_exclude)) != NULL; n++)
        cli_complain("%s: no frame is matched by --%s='%.200s'", flow->in,
                     is_exclude ? "exclude" : "include", pattern);
}

/* A mistyped event or state would otherwise replace the output with an empty one. */
static bool check_found(struct cli_flow *flow)
{
    if (flow->wish.event != NULL && flow->seen == 0 && !flow->input.found.has_event) {
        cli_complain("%s: has no events of '%s'; 'jaywalk summary' lists what it has", flow->in,
                     flow->wish.event);
        return false;
    }
    if (flow->wish.state != NULL && flow->written == 0 &&
        !profile_is_known_state(flow->wish.state)) {
        cli_complain("--state: '%.100s' is no state of a thread; there are " CLI_STATES,
                     flow->wish.state);
        return false;
    }
    flow->input.found.samples = flow->seen;
    return cli_check_contexts(&flow->input, &flow->wish);
}

static void close_flow(struct cli_flow *flow)
{
    cli_sink_close(&flow->sink);
    cli_events_forget(&flow->events);
    cli_columns_close(&flow->columns);
    profile_filter_close(flow->filter);
    cli_requests_close(flow->input.requests);
    cli_part_close(&flow->part);
    jw_map_close(&flow->stack_of);
    jw_map_close(&flow->method_of);
    cli_feed_close(&flow->feed);
    jw_free(flow);
}

int cli_convert_events(const char *in, const char *out, enum cli_events_format format,
                       const struct cli_values *values)
{
    struct cli_flow *flow = jw_alloc(sizeof *flow);
    struct jw_error err = {{0}};
    int status = CLI_FAILED;

    if (flow == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    *flow = (struct cli_flow){.in = in, .format = format, .input = {.path = in}};
    if (cli_is_same_file(in, out))
        jw_error_set(&err, "convert: '%.200s' is the recording itself; name another output", out);
    if (err.message[0] != '\0' || !read_flow(values, flow, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    } else if (!cli_sink_open(&flow->sink, out, &err) || !run_flow(flow, &err)) {
        cli_complain("%s", err.message);
    } else if (check_found(flow)) {
        if (cli_sink_finish(&flow->sink, &err))
            status = CLI_OK;
        else
            cli_complain("%s", err.message);
        if (status == CLI_OK && !values->is_quiet)
            tell(flow, values);
    }
    close_flow(flow);
    return status;
}
