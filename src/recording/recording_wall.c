/* Records of the wall clock as JFR events; dump. */
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* Keys of what each event of a record names. */
struct event_keys {
    struct recording_who who;
    uint64_t stack;
    uint64_t state;
    struct recording_fields context;
};

static void put_keys(struct jfr_buffer *out, const struct event_keys *keys)
{
    jfr_put_varint(out, keys->who.thread);
    jfr_put_varint(out, keys->stack);
    jfr_put_varint(out, keys->state);
}

static struct recording_foreign foreign_of(const struct event_keys *keys, enum jfr_type type,
                                           uint64_t start_ns, uint64_t duration_ns,
                                           uint64_t turn_count)
{
    return (struct recording_foreign){
        .type = type,
        .start_ns = start_ns,
        .duration_ns = duration_ns,
        .thread = keys->who.thread,
        .stack = keys->stack,
        .state = keys->state,
        .turn_count = turn_count,
        .context = keys->context,
    };
}

static void put_batch(struct recording *recording, const struct event_keys *keys, uint64_t begin_ns,
                      uint64_t end_ns, uint32_t turn_count)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t start_ns = recording_span(recording, begin_ns, end_ns);
    const struct recording_foreign told =
        foreign_of(keys, JFR_TYPE_WALL_CLOCK_SAMPLE, start_ns, end_ns - begin_ns, turn_count);
    if (recording_put_foreign(recording, &told))
        return;

    const size_t begin = jfr_event_begin(out, JFR_TYPE_WALL_CLOCK_SAMPLE);

    recording_put_time(recording, start_ns);
    put_keys(out, keys);
    jfr_put_varint(out, turn_count);
    jfr_put_varint(out, end_ns - begin_ns);
    recording_put_carrier(recording, keys->who.carrier);
    recording_put_context(recording, &keys->context);
    jfr_event_end(out, begin);
}

/* A plain sample at the end of what it stands for, where the clock turned. */
static void put_turn(struct recording *recording, const struct event_keys *keys, uint64_t begin_ns,
                     uint64_t end_ns)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t start_ns = recording_time(recording, end_ns);
    /* Only ours and async-profiler's have turns among the samples of CPU time. */
    const enum jfr_type type = recording_dialect(recording) == JFR_DIALECT_DATADOG
                                   ? JFR_TYPE_WALL_CLOCK_SAMPLE
                                   : JFR_TYPE_EXECUTION_SAMPLE;
    const struct recording_foreign told = foreign_of(keys, type, start_ns, end_ns - begin_ns, 1);
    if (recording_put_foreign(recording, &told))
        return;

    const size_t begin = jfr_event_begin(out, JFR_TYPE_EXECUTION_SAMPLE);

    recording_put_time(recording, start_ns);
    put_keys(out, keys);
    jfr_put_varint(out, 0); /* weight: no CPU time */
    if (JW_INVARIANT((recording->left_out & JFR_OF_WALL) == 0))
        jfr_put_varint(out, end_ns - begin_ns);
    recording_put_carrier(recording, keys->who.carrier);
    recording_put_context(recording, &keys->context);
    jfr_event_end(out, begin);
}

/* `record`: what they were sampled as; NULL: they are of a thread that was let be. */
static void put_turns(struct recording *recording, const struct recording_turns *turns,
                      uint64_t stack, struct recording_fields context,
                      const struct event_record *record)
{
    const uint32_t count = turns->turn_count;
    const uint32_t split_max = recording->config.splits_wall ? RECORDING_TURNS_SPLIT_MAX : 0;
    const uint32_t split_count = count < split_max ? count : split_max;
    const struct event_keys keys = {
        .who = recording_who_of(recording, turns->thread_index, (uint32_t)turns->thread_serial,
                                &context),
        .stack = stack,
        .state =
            recording->state_keys[turns->state < JW_STATE_LIMIT ? turns->state : JW_STATE_UNKNOWN],
        .context = context,
    };
    const struct recording_taken taken = {.stack = stack, .who = keys.who};
    uint64_t at_ns = turns->time_ns - turns->weight_ns;

    for (uint32_t i = 1; i <= split_count; i++) {
        const uint64_t end_ns = recording_turn_end_ns(turns, i);

        if (i == count && record != NULL)
            recording_put_waited(recording, record, &taken, "wall");
        put_turn(recording, &keys, at_ns, end_ns);
        at_ns = end_ns;
    }
    if (split_count < count && record != NULL)
        recording_put_waited(recording, record, &taken, "wall");
    if (split_count < count)
        put_batch(recording, &keys, at_ns, turns->time_ns, count - split_count);
    if (split_max > 0)
        jw_count_add(JW_COUNT_WALL_TURNS_BATCHED, count - split_count);
    recording->law.events += split_count + (split_count < count);
    recording->turns += count;
}

static void put_idle(void *context, const struct recording_turns *turns,
                     const struct recording_seen *seen)
{
    struct recording *recording = context;
    const uint64_t stack = seen->stack == NULL
                               ? recording_mark_stack_key(recording, recording_idle_mark(turns))
                               : recording_kept_stack_key(recording, seen->stack);

    put_turns(recording, turns, stack, recording_kept_context_fields(recording, seen->context),
              NULL);
    recording->law.idle++;
    recording->law.idle_turns += turns->turn_count;
}

/* ---- a take ---- */

bool recording_wall_begin_take(struct recording_take *take)
{
    struct recording_wall *wall = &take->recording->wall;

    wall->idle.release = recording_release_methods;
    jw_map_clear(&wall->pcs);
    return recording_ids_reset(&wall->methods, dict_last_id(take->generation->methods)) &&
           recording_ids_reset(&wall->traces, store_last_id(take->generation->traces));
}

void recording_wall_take(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_idle *idle = &recording->wall.idle;
    const struct recording_turns turns = recording_turns_of(record);

    if (record->kind == EVENT_WALL_IDLE) {
        recording_idle_take(idle, &turns, put_idle, recording);
        return;
    }

    const struct recording_kept *under = recording_tasks_under(recording, record);
    struct recording_kept *stack =
        under == NULL ? NULL : recording_kept_joined(take, record->trace, DICT_NONE, under);
    if (stack == NULL)
        stack = recording_kept_stack(take, record->trace);
    const struct recording_fields context = recording_context_fields(take, record->context);
    const uint64_t stack_key = stack == NULL ? recording_trace_key(take, record->trace)
                                             : recording_kept_stack_key(recording, stack);
    put_turns(recording, &turns, stack_key, context, record);
    recording_idle_note(idle, &turns, stack, recording_kept_context(take, record->context));
    recording->samples++;
}

static bool is_alive(void *context, uint32_t index, uint32_t serial)
{
    const struct recording_sources *sources = context;
    struct recording_thread told;

    return sources->thread == NULL || sources->thread(sources->context, index, serial, &told);
}

void recording_wall_tidy(struct recording *recording)
{
    struct recording_idle *idle = &recording->wall.idle;

    recording_idle_forget(idle, is_alive, &recording->config.sources);
}

void recording_wall_end_take(struct recording *recording)
{
    recording_idle_end_take(&recording->wall.idle, put_idle, recording);
    recording_wall_tidy(recording);
}

void recording_wall_give_up(struct recording *recording, recording_is_done *is_done, void *whose)
{
    recording_idle_give_up(&recording->wall.idle, is_done, whose, put_idle, recording);
}

void recording_wall_end(struct recording *recording)
{
    recording_idle_end(&recording->wall.idle, put_idle, recording);
}

void recording_wall_close(struct recording *recording)
{
    struct recording_wall *wall = &recording->wall;

    recording_idle_close(&wall->idle);
    recording_ids_close(&wall->traces);
    recording_ids_close(&wall->methods);
    jw_map_close(&wall->pcs);
    jfr_buffer_close(&wall->scratch);
    jfr_buffer_close(&wall->stack_scratch);
}
