/*
 * Samples with their time, for pages that show a profile over time: which thread, in which state, for whom.
 * Context: tool.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "cli/cli_feed_internal.h"
#include "profile/profile_moments.h"

double cli_moment_us(const struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const struct jfr_reader_chunk *chunk = &feed->chunk;
    const uint64_t base_ns = profile_moments_base_unix_ns(feed->wish->moments);
    const double ticks = (double)event->start_ticks - (double)chunk->start_ticks;
    double ms = chunk->start_unix_ns >= base_ns ? (double)(chunk->start_unix_ns - base_ns) / 1e6
                                                : -(double)(base_ns - chunk->start_unix_ns) / 1e6;

    if (chunk->ticks_per_second > 0)
        ms += ticks * 1e3 / (double)chunk->ticks_per_second;
    return ms > -1e15 && ms < 1e15 ? ms * 1e3 : 1e18;
}

/* Of an event, in milliseconds since the base of the moments. */
int64_t cli_moment_ms(const struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const double us = cli_moment_us(feed, event);

    return us < 1e18 ? (int64_t)(us < 0 ? us / 1e3 - 1 : us / 1e3) : INT64_MAX;
}

static int64_t number_of(const struct jfr_value *object, const char *name)
{
    struct jfr_value field;
    int64_t number;

    return jfr_value_field(object, name, &field) && jfr_value_integer(&field, &number) ? number : 0;
}

static bool text_of(struct cli_feed *feed, const struct jfr_value *object, const char *name)
{
    struct jfr_value field;

    return jfr_value_field(object, name, &field) && jfr_value_text(&field, &feed->text) &&
           feed->text.text[0] != '\0';
}

/* "main tid=12", or a virtual thread's "name #34". */
static uint32_t thread_text(struct cli_feed *feed, const struct jfr_value *thread)
{
    const int64_t tid = number_of(thread, "osThreadId");
    const bool is_virtual = number_of(thread, "virtual") != 0;
    char text[512];

    const bool has_name = text_of(feed, thread, "javaName") || text_of(feed, thread, "osName");
    snprintf(text, sizeof text, is_virtual ? "%s #%" PRId64 : "%s tid=%" PRId64,
             has_name     ? feed->text.text
             : is_virtual ? "virtual thread"
                          : "thread",
             is_virtual ? number_of(thread, "javaThreadId") : tid);
    return profile_moments_text(feed->wish->moments, text);
}

static uint32_t thread_of(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value thread;
    const uint64_t key = cli_thread_key(event, &thread);

    if (thread.reader == NULL)
        return 0;

    uint64_t *known = jw_map_put(&feed->moments.thread_of, &key, sizeof key);
    if (known == NULL) {
        feed->is_out_of_memory = true;
        return 0;
    }
    if (*known == 0)
        *known = thread_text(feed, &thread) + 1;
    return (uint32_t)*known - 1;
}

/* As the command's --state names them where it knows them: "running", "parked". */
static uint32_t state_of(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value state;

    if (!jfr_value_field(&event->value, "state", &state))
        return 0;

    const uint64_t key = jfr_value_key(&state);
    uint64_t *known = jw_map_put(&feed->moments.state_of, &key, sizeof key);
    if (known == NULL) {
        feed->is_out_of_memory = true;
        return 0;
    }
    /* What is no constant has no key that tells it from others; 0 is one, too: async-profiler's STATE_DEFAULT has it. */
    if (*known == 0 || !state.is_pooled)
        *known = 1u + (jfr_value_text(&state, &feed->text)
                           ? profile_moments_text(feed->wish->moments,
                                                  profile_state_word(feed->text.text))
                           : 0);
    return (uint32_t)*known - 1;
}

static void put(struct cli_feed *feed, uint32_t *texts, enum profile_column_kind kind,
                const char *name, uint32_t text)
{
    if (text == 0)
        return;

    const uint32_t column = profile_moments_column(feed->wish->moments, kind, name);
    if (column < PROFILE_COLUMNS_LIMIT)
        texts[column] = text;
    else
        feed->found->left_out_attributes++;
}

void cli_keep_moment(struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_group *group, const struct cli_value *value)
{
    struct profile_moments *moments = feed->wish->moments;
    const struct cli_context *context = &feed->context;
    uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};

    put(feed, texts, PROFILE_COLUMN_THREAD, "", thread_of(feed, event));
    put(feed, texts, PROFILE_COLUMN_STATE, "", state_of(feed, event));
    if (feed->asked.by != NULL)
        put(feed, texts, PROFILE_COLUMN_ASKED, "",
            profile_moments_text(moments, cli_asked_by(feed, event)));
    if (context->request != NULL) {
        put(feed, texts, PROFILE_COLUMN_ENDPOINT, "",
            profile_moments_text(moments, context->request->endpoint));
        put(feed, texts, PROFILE_COLUMN_OPERATION, "",
            profile_moments_text(moments, context->request->operation));
    }
    for (size_t i = 0; context->has_told && i < context->told.attribute_count; i++) {
        const struct jfr_context_attribute *attribute = &context->told.attributes[i];

        if (attribute->value.reader != NULL && jfr_value_text(&attribute->value, &feed->text))
            put(feed, texts, PROFILE_COLUMN_ATTRIBUTE, attribute->name,
                profile_moments_text(moments, feed->text.text));
    }
    profile_moments_add(moments, cli_moment_ms(feed, event), (uint32_t)(group - feed->groups),
                        profile_moments_context(moments, texts),
                        feed->wish->is_moment_count ? value->samples : value->weight);
    feed->is_out_of_memory |= profile_moments_failed(moments);
}

/* Of thread and state alone, looked up by their keys. False: no memory. */
static bool look_up_context(struct cli_feed *feed, const struct jfr_reader_event *event,
                            const uint64_t keys[2], struct cli_recent_context *recent,
                            uint32_t *out)
{
    struct profile_moments *moments = feed->wish->moments;
    const uint64_t left_out = feed->found->left_out_attributes;
    const uint64_t untold = profile_moments_untold(moments);
    uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
    uint64_t *known = jw_map_put(&feed->moments.context_of, keys, 2 * sizeof *keys);

    if (known == NULL)
        return false;
    if (*known != 0) {
        *out = (uint32_t)*known - 1;
        *recent = (struct cli_recent_context){{keys[0], keys[1]}, *known};
        return true;
    }
    put(feed, texts, PROFILE_COLUMN_THREAD, "", thread_of(feed, event));
    put(feed, texts, PROFILE_COLUMN_STATE, "", state_of(feed, event));
    *out = profile_moments_context(moments, texts);
    /* What is left out of each is counted by samples: they are looked at one by one. */
    if (feed->found->left_out_attributes == left_out && profile_moments_untold(moments) == untold)
        *known = *out + UINT64_C(1);
    return true;
}

/* The same; most samples are of a few threads. */
static inline bool planned_context(struct cli_feed *feed, const struct jfr_reader_event *event,
                                   const uint64_t keys[2], uint32_t *out)
{
    struct cli_recent_context *recent =
        &feed->moments.recent[(keys[0] * 5 + keys[1]) % CLI_RECENT_CONTEXTS];

    if (recent->context == 0 || recent->keys[0] != keys[0] || recent->keys[1] != keys[1])
        return look_up_context(feed, event, keys, recent, out);
    *out = (uint32_t)recent->context - 1;
    return true;
}

bool cli_keep_planned_moment(struct cli_feed *feed, const struct jfr_reader_event *event,
                             const uint64_t *numbers, const struct cli_value *value)
{
    const struct cli_type_memo *memo = feed->memo;
    const struct cli_plan *plan = &memo->plan;
    struct profile_moments *moments = feed->wish->moments;
    const uint64_t keys[] = {plan->thread_at == JFR_FIELD_NONE ? 0 : numbers[plan->thread_at],
                             plan->state_at == JFR_FIELD_NONE ? 0 : numbers[plan->state_at]};
    uint32_t context;

    if (feed->asked.by != NULL || (plan->has_context && jfr_context_is_any(event)) ||
        !planned_context(feed, event, keys, &context))
        return false;
    profile_moments_add(moments, cli_moment_ms(feed, event),
                        PROFILE_MOMENT_NEAR | (uint32_t)numbers[memo->trace_at], context,
                        feed->wish->is_moment_count ? value->samples : value->weight);
    feed->is_out_of_memory |= profile_moments_failed(moments);
    return true;
}

void cli_keep_gap(struct cli_gaps *kept, struct profile_moments *moments,
                  const struct cli_counted *counted)
{
    const uint64_t *counts = counted->counts;
    const int64_t now_ms = counted->at_ms;
    uint64_t lost = 0;

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        lost += jw_counter_infos[i].is_loss ? counts[i] : 0;
    if (counts[JW_COUNT_SIGNALS] < kept->signals || lost < kept->lost || !kept->has_counted) {
        kept->signals = kept->lost = 0; /* of a new recording */
        kept->counted_ms = kept->has_counted ? now_ms : 0;
    }
    if (lost > kept->lost && now_ms > INT32_MIN && now_ms < INT32_MAX)
        profile_moments_gap(
            moments, &(struct profile_gap){.from_ms = (int32_t)kept->counted_ms,
                                           .to_ms = (int32_t)now_ms,
                                           .lost = lost - kept->lost,
                                           .signals = counts[JW_COUNT_SIGNALS] - kept->signals});
    if (now_ms > INT32_MIN && now_ms < INT32_MAX)
        kept->counted_ms = now_ms;
    kept->signals = counts[JW_COUNT_SIGNALS];
    kept->lost = lost;
    kept->has_counted = true;
}

void cli_reserve_stacks(struct cli_feed *feed)
{
    struct cli_moments *kept = &feed->moments;
    void *stacks = kept->stacks;

    while (kept->stack_capacity <= feed->group_count) {
        if (!cli_feed_reserve(feed, &stacks, &kept->stack_capacity, kept->stack_capacity,
                              sizeof *kept->stacks))
            return;
        kept->stacks = stacks;
    }
}

void cli_reserve_near_stacks(struct cli_feed *feed)
{
    struct cli_moments *kept = &feed->moments;

    if (kept->near_capacity >= feed->near_sum_count)
        return;

    profile_stack_id *grown =
        jw_realloc(kept->near_stacks, jw_mul_bytes(feed->near_sum_count, sizeof *grown));
    if (grown == NULL) {
        feed->is_out_of_memory = true;
        return;
    }
    kept->near_stacks = grown;
    kept->near_capacity = feed->near_sum_count;
}

void cli_settle_moments(struct cli_feed *feed)
{
    struct cli_moments *kept = &feed->moments;
    const struct profile_moments_stacks stacks = {
        .stacks = kept->stacks,
        .count = kept->stacks == NULL ? 0 : feed->group_count,
        .near = kept->near_stacks,
        .near_count = kept->near_capacity,
    };

    profile_moments_settle(feed->wish->moments, &stacks);
    feed->is_out_of_memory |= profile_moments_failed(feed->wish->moments);
    jw_map_clear(&kept->thread_of);
    jw_map_clear(&kept->state_of);
    jw_map_clear(&kept->context_of);
    memset(kept->recent, 0, sizeof kept->recent);
}

void cli_forget_moments(struct cli_feed *feed)
{
    jw_map_close(&feed->moments.thread_of);
    jw_map_close(&feed->moments.state_of);
    jw_map_close(&feed->moments.context_of);
    jw_free(feed->moments.stacks);
    jw_free(feed->moments.near_stacks);
}
