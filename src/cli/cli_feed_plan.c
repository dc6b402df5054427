/*
 * Samples of types whose events are all alike: numbers in a row, of which two or three count. Context: tool.
 *
 * Where nobody asks for more than what stacks come to, and when, what is to be done with each event of a type is decided once a chunk: its first
 * fields are read in one go, and summed up by the key of the stack, which is a place in an array; at the end of the chunk
 * its stacks are taken in the order in which they lie there. All else, and any event that is odd, or that says for whom it was taken where that is
 * wanted, goes the way of cli_feed.c, and the same comes out.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"

#define PLAN_FIELDS_MOST 24u
#define PLAN_KEYS_MOST   ((uint64_t)1 << 20)
#define PLAN_KEYS_KEPT                                                                             \
    ((size_t)1 << 17) /* so many are cleared for each chunk, however few it uses */
#define PLAN_KEYS_FIRST ((size_t)256)

static bool is_simple_wish(const struct cli_wish *wish)
{
    const struct cli_part *part = wish->part;

    return wish->event != NULL && wish->state == NULL && wish->slice_count == 0 &&
           (wish->bys == NULL || wish->bys->count == 0) &&
           (part == NULL ||
            (cli_part_is_whole(part) && part->begin_ns == 0 && part->end_ns == UINT64_MAX &&
             part->thread_count == 0 && !part->is_of_safepoints && part->latency_ns == 0));
}

static bool is_simple_source(const struct cli_wish *wish, const struct cli_source *source,
                             const struct cli_places *places)
{
    return source != NULL && places->class_at == JFR_FIELD_NONE && !source->is_of_sets &&
           !source->is_times_weight && !source->is_ticks &&
           (!wish->counts_objects || source->size_field == NULL);
}

/* Is this field of the kind, or is there none? Then it is one of those that are read. */
static bool takes(const struct jfr_reader_event *event, uint32_t number, enum jfr_plain plain,
                  uint32_t *field_count)
{
    if (number == JFR_FIELD_NONE)
        return true;
    if (number >= *field_count)
        *field_count = number + 1;
    return jfr_event_plain(event, number) == plain;
}

/* Who and in which state, which samples with their time have, as keys. */
static bool takes_moment(const struct jfr_reader_event *event, struct cli_plan *plan,
                         uint32_t *field_count)
{
    plan->thread_at = jfr_event_field_number(event, "sampledThread");
    if (plan->thread_at == JFR_FIELD_NONE)
        plan->thread_at = jfr_event_field_number(event, "eventThread");
    plan->state_at = jfr_event_field_number(event, "state");
    return takes(event, plan->thread_at, JFR_PLAIN_KEY, field_count) &&
           takes(event, plan->state_at, JFR_PLAIN_KEY, field_count);
}

void cli_plan_type(struct cli_feed *feed, const struct jfr_reader_event *event,
                   struct cli_type_memo *memo)
{
    const bool is_execution = memo->kind == CLI_KIND_EXECUTION;
    const struct cli_places *places = &memo->places[0];
    struct cli_plan plan = {.time_at = places->time_at, .count_at = places->count_at};
    uint32_t field_count = 0;

    if (!is_simple_wish(feed->wish) || (!is_execution && memo->kind != CLI_KIND_SAMPLE) ||
        memo->lane != NULL || memo->is_park || memo->is_native ||
        memo->trace_at == JFR_FIELD_NONE || !places->is_wished ||
        !is_simple_source(feed->wish, places->source, places))
        return;
    plan.is_int_count =
        plan.count_at != JFR_FIELD_NONE && jfr_event_plain(event, plan.count_at) == JFR_PLAIN_INT;
    if (!takes(event, memo->trace_at, JFR_PLAIN_KEY, &field_count) ||
        !takes(event, plan.time_at, JFR_PLAIN_LONG, &field_count) ||
        !takes(event, plan.count_at, plan.is_int_count ? JFR_PLAIN_INT : JFR_PLAIN_LONG,
               &field_count) ||
        (feed->wish->moments != NULL && !takes_moment(event, &plan, &field_count)) ||
        field_count > PLAN_FIELDS_MOST)
        return;
    for (uint32_t i = 0; i < field_count; i++)
        if (jfr_event_plain(event, i) == JFR_PLAIN_NONE)
            return;

    const struct jfr_value traces = jfr_event_reference(event, memo->trace_at);
    if (feed->near_traces.reader != NULL && feed->near_traces.type != traces.type)
        return;
    feed->near_traces = traces;
    plan.field_count = field_count;
    plan.has_context = jfr_context_read(event, &feed->context.told);
    memo->plan = plan;
}

/* Where samples of the stack of this key are summed up; NULL: nowhere, since keys or memory are not so. */
static struct cli_near_sum *sum_of(struct cli_feed *feed, uint64_t key)
{
    size_t count = feed->near_sum_count == 0 ? PLAN_KEYS_FIRST : feed->near_sum_count;

    if (key < feed->near_sum_count)
        return &feed->near_sums[key];
    if (key >= PLAN_KEYS_MOST)
        return NULL;
    while (count <= key)
        count *= 2;

    struct cli_near_sum *grown =
        jw_realloc(feed->near_sums, jw_mul_bytes(count, sizeof *feed->near_sums));
    if (grown == NULL) /* groups may still do */
        return NULL;
    memset(grown + feed->near_sum_count, 0,
           (count - feed->near_sum_count) * sizeof *feed->near_sums);
    feed->near_sums = grown;
    feed->near_sum_count = count;
    return &feed->near_sums[key];
}

/* What it stands for. False: it is none of the plan. */
static bool weigh(const struct cli_feed *feed, const struct cli_type_memo *memo,
                  const uint64_t *numbers, struct cli_value *out)
{
    const struct cli_plan *plan = &memo->plan;
    int64_t count = 1, time_ns;

    /* Of the wall clock, or it says so by other things than a weight. */
    if (memo->places[0].is_wall || (memo->kind == CLI_KIND_EXECUTION && !memo->has_wall_time &&
                                    (feed->clocks.is_event_wall || feed->clocks.has_wall)))
        return false;
    if (plan->count_at != JFR_FIELD_NONE)
        count = plan->is_int_count ? (int32_t)numbers[plan->count_at]
                                   : (int64_t)numbers[plan->count_at];
    time_ns = plan->time_at == JFR_FIELD_NONE ? 0 : (int64_t)numbers[plan->time_at];
    if (count < 0 || time_ns < 0 || (memo->has_wall_time && time_ns == 0))
        return false;
    *out = (struct cli_value){.samples = count == 0 ? 1 : (uint64_t)count,
                              .time_ns = (uint64_t)time_ns,
                              .is_timed = time_ns > 0};
    return true;
}

bool cli_take_planned(struct cli_feed *feed, const struct jfr_reader_event *event,
                      const struct cli_type_memo *memo)
{
    const struct cli_wish *wish = feed->wish;
    struct cli_found *found = feed->found;
    uint64_t numbers[PLAN_FIELDS_MOST];
    struct cli_value value;

    if (!jfr_event_numbers(event, memo->plan.field_count, numbers) ||
        !weigh(feed, memo, numbers, &value))
        return false;

    struct cli_near_sum *sum = sum_of(feed, numbers[memo->trace_at]);
    if (sum == NULL)
        return false;
    value.weight = value.is_timed && !wish->is_weightless ? value.time_ns : value.samples;
    if (wish->moments != NULL && !cli_keep_planned_moment(feed, event, numbers, &value))
        return false;
    if ((wish->part != NULL || wish->bys != NULL) &&
        (!memo->is_told || (memo->plan.has_context && !found->has_contexts)))
        cli_look_for_context(feed, event);
    found->has_event = true;
    found->samples += value.samples;
    found->let_in += value.samples;
    found->has_weight |= value.is_timed;
    found->lacks_weight |= !value.is_timed;
    found->unit = memo->places[0].source->unit;
    feed->near_stacks += sum->samples == 0;
    sum->samples += value.samples;
    sum->weight += value.weight;
    return true;
}

/* The next stack, in the order of the stacks, that has samples. False: there is none. */
static bool next_stack(const struct cli_feed *feed, struct jfr_constants *constants,
                       struct jfr_value *trace, uint64_t *key)
{
    while (jfr_constants_next(constants, trace, key))
        if (*key < feed->near_sum_count && feed->near_sums[*key].samples != 0)
            return true;
    return false;
}

/* Of those that samples have; their order in memory is that of the file. */
static uint64_t stack_bytes_of(const struct cli_feed *feed)
{
    struct jfr_constants constants = jfr_constants_of(&feed->near_traces);
    struct jfr_value trace;
    uint64_t key, sum = 0;

    while (next_stack(feed, &constants, &trace, &key))
        sum += (uint64_t)(trace.end - trace.bytes);
    return sum;
}

/* Stacks that have samples, in their order, some ahead of the one in hand. */
#define STACKS_AHEAD 8u

struct ahead {
    struct jfr_constants constants;
    struct jfr_value traces[STACKS_AHEAD];
    uint64_t keys[STACKS_AHEAD];
    size_t first, count;
};

/* As many as there is room for; what is known of each is asked for. */
static void look_ahead(struct cli_feed *feed, struct ahead *ahead)
{
    while (ahead->count < STACKS_AHEAD) {
        const size_t at = (ahead->first + ahead->count) % STACKS_AHEAD;

        if (!next_stack(feed, &ahead->constants, &ahead->traces[at], &ahead->keys[at]))
            return;
        cli_ask_known(feed, &ahead->traces[at]);
        ahead->count++;
    }
}

/* Adds what keys came to that lead to a stack, each when what the next one's way begins with is asked for. */
static void feed_stacks(struct cli_feed *feed)
{
    struct ahead ahead = {.constants = jfr_constants_of(&feed->near_traces)};
    struct cli_group group = {.samples = 0};

    for (look_ahead(feed, &ahead); ahead.count > 0 && !feed->is_out_of_memory;
         look_ahead(feed, &ahead)) {
        const uint64_t key = ahead.keys[ahead.first];

        group.trace = ahead.traces[ahead.first];
        group.samples = feed->near_sums[key].samples;
        group.weight = feed->near_sums[key].weight;
        feed->near_sums[key] = (struct cli_near_sum){0};
        ahead.first = (ahead.first + 1) % STACKS_AHEAD;
        ahead.count--;
        if (group.samples == 0) /* the same key twice, of which the first one counts */
            continue;
        if (ahead.count > 0)
            cli_ask_ways(feed, &ahead.traces[ahead.first]);

        const profile_stack_id at = cli_feed_group(feed, &group);
        if (at == PROFILE_STACK_NONE)
            break;
        if (feed->moments.near_stacks != NULL)
            feed->moments.near_stacks[key] = at;
    }
}

/* Of all keys that lead to none. */
static void feed_missing(struct cli_feed *feed)
{
    struct cli_group missing = {.samples = 0};

    for (size_t i = 0; i < feed->near_sum_count && feed->near_stacks > 0; i++) {
        missing.samples += feed->near_sums[i].samples;
        missing.weight += feed->near_sums[i].weight;
    }
    if (missing.samples == 0 || feed->is_out_of_memory)
        return;

    const profile_stack_id at = cli_feed_group(feed, &missing);
    for (size_t i = 0; i < feed->near_sum_count && feed->moments.near_stacks != NULL; i++)
        if (feed->near_sums[i].samples != 0)
            feed->moments.near_stacks[i] = at;
}

void cli_feed_near(struct cli_feed *feed)
{
    if (feed->near_stacks > 0) {
        if (feed->wish->moments != NULL)
            cli_reserve_near_stacks(feed);
        cli_begin_ways(feed, stack_bytes_of(feed));
        feed_stacks(feed);
    }
    feed_missing(feed);
    if (feed->near_sum_count > PLAN_KEYS_KEPT && feed->near_stacks * 16 < feed->near_sum_count) {
        jw_free(feed->near_sums);
        feed->near_sums = NULL;
        feed->near_sum_count = 0;
    } else if (feed->near_stacks > 0) {
        memset(feed->near_sums, 0, feed->near_sum_count * sizeof *feed->near_sums);
    }
    feed->near_stacks = 0;
    feed->near_traces.reader = NULL;
}
