/*
 * Events of a recording, summed up by stack and thread, chunk after chunk. Context: tool.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_feed_internal.h"
#include "cli/cli_leaks_internal.h"
#include "profile/profile_moments.h"

#define CLI_ELEMENTS_FIRST ((size_t)256)

bool cli_feed_reserve(struct cli_feed *feed, void **array, size_t *capacity, size_t count,
                      size_t element_bytes)
{
    const size_t wanted = *capacity == 0 ? CLI_ELEMENTS_FIRST : *capacity * 2;

    if (count < *capacity)
        return true;

    void *grown = jw_realloc(*array, jw_mul_bytes(wanted, element_bytes));
    if (grown == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Another group. NULL: out of memory. */
static struct cli_group *cli_group_made(struct cli_feed *feed, const struct cli_group *made)
{
    void *groups = feed->groups;

    if (!cli_feed_reserve(feed, &groups, &feed->group_capacity, feed->group_count,
                          sizeof *feed->groups))
        return NULL;
    feed->groups = groups;
    feed->groups[feed->group_count] = *made;
    return &feed->groups[feed->group_count++];
}

/* The group of this key, adding `made` on first sight; NULL: out of memory. */
static struct cli_group *cli_group_at(struct cli_feed *feed, const struct cli_group_key *key,
                                      const struct cli_group *made)
{
    uint64_t *known = jw_map_put(&feed->group_of, key, sizeof *key);

    if (known == NULL) {
        feed->is_out_of_memory = true;
        return NULL;
    }
    if (*known != 0)
        return &feed->groups[*known - 1];

    struct cli_group *group = cli_group_made(feed, made);
    if (group != NULL)
        *known = feed->group_count;
    return group;
}

/* Small keys of stacks are looked up by their place. */
#define CLI_NEAR_GROUPS ((uint64_t)1 << 20)

/* Where the group of this stack stands among those without boxes; NULL: keys or memory are not so. */
static uint32_t *cli_near_group(struct cli_feed *feed, uint64_t trace_key)
{
    size_t count = feed->near_group_count == 0 ? CLI_ELEMENTS_FIRST : feed->near_group_count;

    if (trace_key < feed->near_group_count)
        return &feed->near_groups[trace_key];
    if (trace_key >= CLI_NEAR_GROUPS)
        return NULL;
    while (count <= trace_key)
        count *= 2;

    uint32_t *grown = jw_realloc(feed->near_groups, jw_mul_bytes(count, sizeof *grown));
    if (grown == NULL) /* the map may still do */
        return NULL;
    memset(grown + feed->near_group_count, 0, (count - feed->near_group_count) * sizeof *grown);
    feed->near_groups = grown;
    feed->near_group_count = count;
    return &feed->near_groups[trace_key];
}

/* The stack that an event names; false: none, or it leads nowhere. */
static bool cli_trace_of(const struct jfr_reader_event *event, uint32_t trace_at,
                         struct cli_group_key *key, struct cli_group *made)
{
    struct jfr_value trace;

    if (!jfr_event_field(event, trace_at, &trace))
        return false;
    key->trace = jfr_value_key(&trace);
    if (!jfr_value_constant(&trace, &made->trace))
        made->trace.reader = NULL;
    return true;
}

/* Of an event without boxes and class: what stands for its stack alone. NULL: not so, or out of memory. */
static struct cli_group *cli_bare_group(struct cli_feed *feed, const struct jfr_reader_event *event,
                                        uint32_t trace_at)
{
    struct cli_group made = {0};
    struct cli_group_key key = {0};
    uint64_t trace_key;

    uint32_t *near =
        jfr_event_raw_key(event, trace_at, &trace_key) ? cli_near_group(feed, trace_key) : NULL;
    if (near == NULL)
        return NULL;
    if (*near != 0)
        return &feed->groups[*near - 1];
    (void)cli_trace_of(event, trace_at, &key, &made);

    struct cli_group *group = cli_group_at(feed, &key, &made);
    if (group != NULL)
        *near = (uint32_t)(group - feed->groups) + 1;
    return group;
}

static struct cli_group *cli_group_of(struct cli_feed *feed, const struct cli_source *source,
                                      const struct jfr_reader_event *event)
{
    const uint32_t trace_at = cli_type_of(feed, event)->trace_at;
    const uint32_t class_at = cli_places_of(feed, source, event)->class_at;
    const bool has_boxes =
        feed->wish->slice_count > 0 || (feed->wish->bys != NULL && feed->wish->bys->count > 0);
    struct jfr_value object_class;
    struct cli_group made = {0};
    struct cli_group_key key = {0};

    if (!has_boxes && class_at == JFR_FIELD_NONE) {
        struct cli_group *group = cli_bare_group(feed, event, trace_at);

        if (group != NULL || feed->is_out_of_memory)
            return group;
    }
    (void)cli_trace_of(event, trace_at, &key, &made);
    if (jfr_event_field(event, class_at, &object_class)) {
        key.object_class = jfr_value_key(&object_class);
        if (!jfr_value_constant(&object_class, &made.object_class))
            made.object_class.reader = NULL;
    }
    cli_fill_roots(feed, event, made.roots);
    memcpy(key.roots, made.roots, sizeof key.roots);
    return cli_group_at(feed, &key, &made);
}

/* Of live objects, each set holds all that were there: the last one alone is what is left. */
static bool cli_is_of_last_set(const struct cli_feed *feed, const struct cli_source *source,
                               const struct jfr_reader_event *event)
{
    return !source->is_of_sets || strcmp(feed->wish->event, "live") != 0 ||
           leaks_time_ns(&feed->chunk, event) == feed->live_ns;
}

static void cli_take_sample(struct cli_feed *feed, const struct cli_source *source,
                            const struct jfr_reader_event *event)
{
    struct cli_value value;

    const bool is_let_in = cli_is_in_part(feed, event) && cli_is_in_state(feed, event);

    feed->found->has_event = true;
    if (!cli_is_of_last_set(feed, source, event) || cli_is_other_park(feed, event))
        return;
    cli_weigh(feed, source, event, &value);
    if (cli_is_left_out(feed, event, &value)) {
        feed->found->native_left_out += is_let_in;
        return;
    }
    feed->found->samples += value.samples;
    if (!is_let_in)
        return;
    feed->found->let_in += value.samples;
    feed->found->has_weight |= value.is_timed;
    feed->found->unit = source->unit;
    feed->found->lacks_weight |= !value.is_timed;

    struct cli_group *group = cli_group_of(feed, source, event);
    if (group == NULL)
        return;

    group->samples += value.samples;
    value.weight = value.is_timed && !feed->wish->is_weightless ? value.time_ns : value.samples;
    group->weight += value.weight;
    if (feed->wish->moments != NULL)
        cli_keep_moment(feed, event, group, &value);
}

void cli_read_counters(const struct jfr_reader_event *event, uint64_t counts[JW_COUNT_LIMIT],
                       uint64_t *in_flight)
{
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        counts[i] = cli_number_of(event, jw_counter_infos[i].field);
    *in_flight = cli_number_of(event, "inFlight");
}

/* What the agent was told: the title, in a recording of jaywalk's own; which clocks ran. */
void cli_take_setting(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;

    if (!jfr_value_field(&event->value, "name", &field) || !jfr_value_text(&field, &feed->text) ||
        !jfr_value_field(&event->value, "value", &field))
        return;
    if (strcmp(feed->text.text, "title") == 0) {
        if (feed->profile != NULL && jfr_reader_has_event(feed->reader, "jaywalk.Diagnostics") &&
            jfr_value_text(&field, &feed->other_text))
            cli_note(feed, CLI_NOTE_TITLE, NULL, 0, feed->other_text.text);
    } else if (jfr_value_text(&field, &feed->other_text)) {
        cli_clocks_take(&feed->clocks, feed->text.text, feed->other_text.text);
    }
}

/* Remembers the name of a type that has stacks and was not asked for. */
static void cli_note_other(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_found *found = feed->found;
    struct cli_type_memo *memo = cli_type_of(feed, event);
    const size_t used = strlen(found->other_types);

    if (memo->is_passed)
        return;
    memo->is_passed = true;
    if (!jfr_value_has_field(&event->value, "stackTrace") ||
        cli_has_name(found->other_types, event->type_name) ||
        used + strlen(event->type_name) + 3 > sizeof found->other_types)
        return;
    snprintf(found->other_types + used, sizeof found->other_types - used, "%s%s",
             used == 0 ? "" : ", ", event->type_name);
}

void cli_note_event(struct cli_found *found, const char *event)
{
    /* The counter's name is one place, whatever stands there in the end. */
    for (size_t i = 0; i < found->other_event_count; i++)
        if (found->other_events[i] == event || strcmp(found->other_events[i], event) == 0)
            return;
    if (found->other_event_count < JW_COUNT_OF(found->other_events))
        found->other_events[found->other_event_count++] = event;
}

void cli_sort_events(struct cli_found *found)
{
    for (size_t i = 1; i < found->other_event_count; i++) {
        const char *event = found->other_events[i];
        size_t at = i;

        for (; at > 0 && strcmp(found->other_events[at - 1], event) > 0; at--)
            found->other_events[at] = found->other_events[at - 1];
        found->other_events[at] = event;
    }
}

/* A sample of a clock, or something else, that was not asked for. */
static void cli_pass_sample(struct cli_feed *feed, const struct cli_source *source,
                            const struct jfr_reader_event *event)
{
    struct cli_value value;

    cli_note_other(feed, event);
    cli_note_event(feed->found, source->event);
    if (!cli_is_clock(feed->wish->event) && !cli_is_counter(feed->wish->event) &&
        !cli_is_hook(feed->wish->event) && strcmp(feed->wish->event, feed->found->counter) != 0)
        return;
    cli_weigh(feed, source, event, &value);
    cli_note_passed(feed->found, source->event, value.samples);
    if (cli_is_hook(feed->wish->event) || cli_is_hook(source->event))
        return;
    feed->found->other_samples += value.samples;
    feed->found->other_event = source->event;
}

static void cli_take_event(struct cli_feed *feed, const struct jfr_reader_event *event,
                           const struct cli_type_memo *memo)
{
    const struct cli_source *source = cli_source_of(feed, event);

    if (memo->lane != NULL)
        cli_keep_span(feed, event, memo->lane);
    if (source != NULL && cli_is_event_wished(feed, source, event))
        cli_take_sample(feed, source, event);
    else if (source != NULL)
        cli_pass_sample(feed, source, event);
    else if (memo->kind == CLI_KIND_COUNTERS)
        cli_note_counters(feed, event);
    else if (memo->kind == CLI_KIND_SETTING)
        cli_take_setting(feed, event);
    else if (!cli_take_ledger(feed, event))
        cli_note_other(feed, event);
}

/* The clock is not asked for the time of each event. */
#define CLI_EVENTS_A_SHOW 256u

static bool cli_feed_events(struct cli_feed *feed, struct cli_progress *progress,
                            struct jw_error *err)
{
    struct jfr_reader_event event;
    unsigned count = 0;

    while (!feed->is_out_of_memory && jfr_reader_next_event(feed->reader, &event, err)) {
        const struct cli_type_memo *memo = cli_type_of(feed, &event);

        cli_note_asked(feed, &event);
        if (memo->plan.field_count == 0 || !cli_take_planned(feed, &event, memo))
            cli_take_event(feed, &event, memo);
        if (progress != NULL && count++ % CLI_EVENTS_A_SHOW == 0)
            cli_progress_show(progress, "reading", jfr_reader_position_bytes(feed->reader),
                              jfr_reader_size_bytes(feed->reader));
    }
    return err->message[0] == '\0';
}

/* What a chunk says as a whole, by all its settings. */
static void cli_end_chunk(struct cli_feed *feed)
{
    struct cli_found *found = feed->found;

    found->has_event |= cli_declares(feed, feed->wish->event);
    found->is_of_wall |= feed->clocks.is_event_wall;
    if ((cli_is_counter(feed->clocks.event) || cli_is_method(feed->clocks.event)) &&
        (cli_declares(feed, "jaywalk.CounterSample") || cli_declares(feed, "jaywalk.CallSample")))
        snprintf(found->counter, sizeof found->counter, "%s", feed->clocks.event);
    /* In the dialect of another profiler exceptions and objects are samples of its own type. */
    const char *made = strcmp(feed->clocks.event, CLI_EXCEPTION) == 0 ? "jdk.JavaExceptionThrow"
                       : strcmp(feed->clocks.event, CLI_NEW) == 0     ? CLI_NEW_OBJECT
                                                                      : NULL;
    if (cli_is_hook(feed->clocks.event) &&
        (made == NULL || jfr_reader_has_event(feed->reader, made)))
        snprintf(found->hook_event, sizeof found->hook_event, "%.15s", feed->clocks.event);
}

bool cli_feed_piece(struct cli_feed *feed, const struct cli_piece *piece,
                    struct cli_progress *progress, struct jw_error *err)
{
    feed->ticks_per_second = piece->chunk.ticks_per_second;
    feed->chunk = piece->chunk;
    feed->clocks = piece->clocks;
    memcpy(feed->found->counter, piece->counter, sizeof feed->found->counter);
    if (!cli_feed_events(feed, progress, err))
        return false;
    if (feed->wish->moments != NULL)
        cli_reserve_stacks(feed);
    cli_begin_known(feed);
    cli_feed_groups(feed);
    cli_feed_near(feed);
    if (feed->wish->moments != NULL)
        cli_settle_moments(feed);
    cli_feed_forget(feed);
    if (feed->is_out_of_memory) {
        jw_error_set(err, "out of memory while reading stacks; free some, or leave lines and "
                          "threads together");
        return false;
    }
    if (piece->is_last)
        cli_end_chunk(feed);
    return true;
}

void cli_feed_close(struct cli_feed *feed)
{
    jw_free(feed->groups);
    jw_free(feed->ways.slots);
    jw_free(feed->stack);
    jw_free(feed->frames);
    jw_free(feed->near_frames);
    jw_free(feed->near_groups);
    jw_free(feed->near_sums);
    jw_map_close(&feed->group_of);
    jw_map_close(&feed->thread_of);
    jw_map_close(&feed->thread_fits);
    jw_map_close(&feed->frame_of_raw);
    cli_close_methods(&feed->methods);
    cli_close_known(&feed->known);
    cli_forget_moments(feed);
    jw_free(feed->notes.bytes);
    jfr_method_free(&feed->method);
    jfr_text_free(&feed->text);
    jfr_text_free(&feed->other_text);
    jfr_reader_close(feed->reader);
}
