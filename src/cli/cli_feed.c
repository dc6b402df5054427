/*
 * Events of a recording, summed up by stack and thread, chunk after chunk. Context: tool.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_feed_internal.h"
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

/* The group of this key, adding `made` on first sight; NULL: out of memory. */
static struct cli_group *cli_group_at(struct cli_feed *feed, const struct cli_group_key *key,
                                      const struct cli_group *made)
{
    void *groups = feed->groups;
    uint64_t *known = jw_map_put(&feed->group_of, key, sizeof *key);

    if (known == NULL) {
        feed->is_out_of_memory = true;
        return NULL;
    }
    if (*known != 0)
        return &feed->groups[*known - 1];
    if (!cli_feed_reserve(feed, &groups, &feed->group_capacity, feed->group_count,
                          sizeof *feed->groups))
        return NULL;
    feed->groups = groups;
    feed->groups[feed->group_count] = *made;
    *known = ++feed->group_count;
    return &feed->groups[*known - 1];
}

static struct cli_group *cli_group_of(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value trace;
    struct cli_group made = {0};
    struct cli_group_key key = {0};

    if (jfr_value_field(&event->value, "stackTrace", &trace)) {
        key.trace = jfr_value_key(&trace);
        if (!jfr_value_constant(&trace, &made.trace))
            made.trace.reader = NULL;
    }
    cli_fill_roots(feed, event, made.roots);
    memcpy(key.roots, made.roots, sizeof key.roots);
    return cli_group_at(feed, &key, &made);
}

static void cli_take_sample(struct cli_feed *feed, const struct cli_source *source,
                            const struct jfr_reader_event *event)
{
    struct cli_value value;

    const bool is_let_in = cli_is_in_part(feed, event) && cli_is_in_state(feed, event);

    feed->found->has_event = true;
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
    feed->found->lacks_weight |= !value.is_timed;

    struct cli_group *group = cli_group_of(feed, event);
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

/* Counters of jaywalk's own: each event holds the sums since its recording began. */
static void cli_take_counters(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    uint64_t counters[JW_COUNT_LIMIT];
    uint64_t in_flight;

    cli_read_counters(event, counters, &in_flight);
    if (counters[JW_COUNT_SIGNALS] < feed->counters[JW_COUNT_SIGNALS]) { /* the next recording */
        for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
            feed->counters_before[i] += feed->counters[i];
        feed->in_flight_before += feed->in_flight;
    }
    memcpy(feed->counters, counters, sizeof counters);
    feed->in_flight = in_flight;
    feed->has_counters = true;
    if (feed->wish->moments != NULL)
        cli_keep_gap(feed, event, counters);
}

static void cli_tell_counters(const struct cli_feed *feed)
{
    uint64_t counts[JW_COUNT_LIMIT];

    if (!feed->has_counters)
        return;
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        counts[i] = feed->counters[i] + feed->counters_before[i];
    profile_counters(feed->profile, counts, feed->in_flight + feed->in_flight_before);
}

/* What the agent was told: the title, in a recording of jaywalk's own; which clocks ran. */
void cli_take_setting(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;

    if (!jfr_value_field(&event->value, "name", &field) || !jfr_value_text(&field, &feed->text) ||
        !jfr_value_field(&event->value, "value", &field))
        return;
    if (strcmp(feed->text.text, "title") == 0) {
        if (feed->title.length_bytes == 0 &&
            jfr_reader_has_event(feed->reader, "jaywalk.Diagnostics") &&
            !jfr_value_text(&field, &feed->title))
            feed->title.length_bytes = 0;
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
        strstr(found->other_types, event->type_name) != NULL ||
        used + strlen(event->type_name) + 3 > sizeof found->other_types)
        return;
    snprintf(found->other_types + used, sizeof found->other_types - used, "%s%s",
             used == 0 ? "" : ", ", event->type_name);
}

/* A sample of the clock that was not asked for. */
static void cli_pass_sample(struct cli_feed *feed, const struct cli_source *source,
                            const struct jfr_reader_event *event)
{
    struct cli_value value;

    cli_note_other(feed, event);
    if (!cli_is_clock(feed->wish->event) && !cli_is_counter(feed->wish->event))
        return;
    cli_weigh(feed, source, event, &value);
    feed->found->other_samples += value.samples;
    feed->found->other_event = source->event;
}

static bool cli_feed_chunk(struct cli_feed *feed, struct cli_progress *progress,
                           struct jw_error *err)
{
    struct jfr_reader_event event;

    while (!feed->is_out_of_memory && jfr_reader_next_event(feed->reader, &event, err)) {
        const struct cli_source *source = cli_source_of(feed, &event);

        if (source != NULL && cli_is_wished(feed->wish, source, event.type_name))
            cli_take_sample(feed, source, &event);
        else if (source != NULL)
            cli_pass_sample(feed, source, &event);
        else if (cli_type_of(feed, &event)->kind == CLI_KIND_COUNTERS)
            cli_take_counters(feed, &event);
        else if (cli_type_of(feed, &event)->kind == CLI_KIND_SETTING)
            cli_take_setting(feed, &event);
        else if (!cli_take_ledger(feed, &event))
            cli_note_other(feed, &event);
        cli_progress_show(progress, "reading", jfr_reader_position_bytes(feed->reader),
                          jfr_reader_size_bytes(feed->reader));
    }
    if (err->message[0] != '\0')
        return false;
    if (feed->wish->moments != NULL)
        cli_reserve_stacks(feed);
    cli_feed_groups(feed);
    if (feed->wish->moments != NULL)
        cli_settle_moments(feed);
    cli_feed_forget(feed);
    if (feed->is_out_of_memory)
        jw_error_set(err, "out of memory while reading stacks; free some, or leave lines and "
                          "threads together");
    return !feed->is_out_of_memory;
}

static bool cli_feed_chunks(struct cli_feed *feed, struct jw_error *err)
{
    struct jfr_reader_chunk chunk;
    struct profile_about about = {.event = feed->wish->event};
    struct cli_progress progress;
    uint64_t end_ns = 0;
    bool is_read = true;

    cli_progress_begin(&progress, feed->wish->is_quiet);
    while (is_read && jfr_reader_next_chunk(feed->reader, &chunk, err)) {
        if (about.start_unix_ns == 0 || chunk.start_unix_ns < about.start_unix_ns)
            about.start_unix_ns = chunk.start_unix_ns;
        if (chunk.start_unix_ns + chunk.duration_ns > end_ns)
            end_ns = chunk.start_unix_ns + chunk.duration_ns;
        feed->ticks_per_second = chunk.ticks_per_second;
        feed->chunk = chunk;
        if (feed->wish->moments != NULL && profile_moments_base_unix_ns(feed->wish->moments) == 0)
            profile_moments_set_base(feed->wish->moments, chunk.start_unix_ns);
        feed->clocks = (struct cli_clocks){0};
        is_read = cli_feed_chunk(feed, &progress, err);
        feed->found->has_event |= cli_declares(feed, feed->wish->event);
        feed->found->is_of_wall |= feed->clocks.is_event_wall;
        if (cli_is_counter(feed->clocks.event) && cli_declares(feed, "jaywalk.CounterSample"))
            snprintf(feed->found->counter, sizeof feed->found->counter, "%s", feed->clocks.event);
    }
    cli_progress_end(&progress);
    if (!is_read || err->message[0] != '\0')
        return false;
    if (feed->wish->part != NULL) {
        const struct cli_part *part = feed->wish->part;

        if (part->begin_ns > about.start_unix_ns)
            about.start_unix_ns = part->begin_ns;
        if (part->end_ns < end_ns)
            end_ns = part->end_ns;
    }
    about.duration_ns = end_ns > about.start_unix_ns ? end_ns - about.start_unix_ns : 0;
    about.title = feed->title.length_bytes > 0 ? feed->title.text : NULL;
    about.left_out = feed->found->other_event;
    about.unit = !feed->found->has_weight || feed->wish->is_weightless ? "samples"
                 : cli_is_counter(feed->wish->event) ? jw_perf_unit(feed->wish->event)
                                                     : "ns";
    profile_set_about(feed->profile, &about);
    cli_tell_counters(feed);
    cli_tell_ledger(feed);
    snprintf(feed->found->notice, sizeof feed->found->notice, "%s",
             jfr_reader_notice(feed->reader));
    return true;
}

bool cli_feed(const char *path, const struct cli_wish *wish, const struct cli_requests *requests,
              struct profile *profile, struct cli_found *found, struct jw_error *err)
{
    struct cli_feed feed = {.wish = wish, .requests = requests, .profile = profile, .found = found};

    *found = (struct cli_found){0};
    if (wish->part != NULL && !cli_part_settle(wish->part, path, err))
        return false;
    if (wish->slice_count > 0) {
        if (!cli_span(path, &feed.slices_begin_ns, &feed.slices_end_ns, err))
            return false;
        if (wish->part != NULL && wish->part->begin_ns > feed.slices_begin_ns)
            feed.slices_begin_ns = wish->part->begin_ns;
        if (wish->part != NULL && wish->part->end_ns < feed.slices_end_ns)
            feed.slices_end_ns = wish->part->end_ns;
    }
    feed.reader = jfr_reader_open(path, err);

    const bool is_fed = feed.reader != NULL && cli_feed_chunks(&feed, err);
    jw_free(feed.groups);
    jw_free(feed.frames);
    for (size_t i = 0; i < JW_COUNT_OF(feed.stacks); i++) {
        jw_free(feed.stacks[i].frames);
        jw_free(feed.stacks[i].tails_bytes);
    }
    jw_map_close(&feed.group_of);
    jw_map_close(&feed.thread_of);
    jw_map_close(&feed.thread_fits);
    jw_map_close(&feed.frame_of_raw);
    cli_forget_ledger(&feed);
    cli_forget_moments(&feed);
    jfr_method_free(&feed.method);
    jfr_text_free(&feed.text);
    jfr_text_free(&feed.other_text);
    jfr_text_free(&feed.title);
    jfr_reader_close(feed.reader);
    return is_fed;
}
