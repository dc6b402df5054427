/*
 * Records of a generation as a profile, which becomes a graph when the recording ends; dump (open:
 * control). The stacks of a generation are added once each, with the sum of their samples.
 *
 * What comes out is, byte for byte, what the command makes of a JFR file of the same records: what
 * both tell of a frame, a thread or the counters is made in one place, here or in room profile.
 */
#include <string.h>

#include "base/clock.h"
#include "base/lock_class.h"
#include "base/memory.h"
#include "base/perf_event.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "jfr/jfr_reader.h"
#include "os/os_output.h"
#include "recording/recording_graph_internal.h"

#define FIRST_GROUPS ((size_t)256)

/* A number of the map of kept stacks, beside addresses and 0. */
#define KEPT_NONE 1u

/* Samples of one stack, and of one thread where those are told apart. */
struct recording_group {
    store_id trace;
    uint32_t class_name; /* on top of it: what was allocated; DICT_NONE: nothing */
    uint32_t thread_index;
    uint32_t thread_serial;
    const struct recording_kept *under; /* its stack; NULL: nothing */
    struct recording_virtual mounted;   /* where threads are told apart */
    uint64_t samples;
    uint64_t weight_ns;
};

/* Room for the frames of a stack; false: no memory. */
static bool reserve_frames(struct graph_take *take, size_t count)
{
    if (count <= take->capacity)
        return true;

    profile_frame_id *frames = jw_realloc(take->frames, jw_mul_bytes(count, sizeof *frames));
    if (frames == NULL)
        return false;
    take->frames = frames;
    take->capacity = count;
    return true;
}

/* Tables double when they grow, and an index stands beside its old self for that time: what is a third full may be
 * the whole with the next stack. What is kept must also be drawn, in what the others leave of memlimit. */
static bool is_full(const struct recording *recording)
{
    const struct profile *profile = recording->graph.profile;

    return (recording->config.memory_bytes != 0 &&
            profile_memory_bytes(profile) >= recording->config.memory_bytes / 3) ||
           export_drawing_bytes(profile, recording_export_format(recording->config.format)) >
               jw_memory_room_bytes();
}

/* Its samples count; one box holds all of these. */
static void fill_without_frames(struct graph_take *take, struct profile_stack *stack)
{
    const struct profile_frame mark = recording_graph_mark(JW_MARK_MEMLIMIT);

    take->frames[0] = profile_frame(take->recording->graph.profile, &mark);
    stack->frames = take->frames;
    stack->frame_count = 1;
    stack->root_count = 0;
    jw_count_add(JW_COUNT_STACKS_FULL, stack->samples);
}

/* ---- threads that wait: a stack is kept as its frames in the profile, which outlives them ---- */

struct kept_head {
    uint32_t frame_count;
    uint32_t is_truncated;
};

static const profile_frame_id *kept_frames(const struct recording_kept *kept,
                                           struct kept_head *head)
{
    memcpy(head, recording_kept_bytes(kept), sizeof *head);
    return (const profile_frame_id *)((const struct kept_head *)recording_kept_bytes(kept) + 1);
}

static profile_frame_id mark_frame(struct graph_take *take, enum jw_mark mark)
{
    const struct profile_frame frame = recording_graph_mark(mark);

    return profile_frame(take->recording->graph.profile, &frame);
}

/* Behind the frames that are there, what stands under them; there is room. */
static void fill_under(struct graph_take *take, const struct recording_kept *under,
                       struct profile_stack *stack)
{
    struct kept_head head;
    const profile_frame_id *frames = kept_frames(under, &head);

    if (stack->is_truncated)
        take->frames[stack->frame_count++] = mark_frame(take, JW_MARK_TRUNCATED);
    take->frames[stack->frame_count++] = mark_frame(take, JW_MARK_HANDED);
    memcpy(take->frames + stack->frame_count, frames, head.frame_count * sizeof *frames);
    stack->frame_count += head.frame_count;
    stack->is_truncated = head.is_truncated != 0;
}

static size_t under_count(const struct recording_kept *under)
{
    struct kept_head head = {0};

    if (under == NULL)
        return 0;
    (void)kept_frames(under, &head);
    return (size_t)head.frame_count + 2; /* with its marks */
}

/* Frames of a trace into the stack in hand, below one of a class, if there is one, and above what stands under it. False: no memory. */
static bool fill_frames(struct graph_take *take, store_id id, dict_id class_name,
                        const struct recording_kept *under, struct profile_stack *stack)
{
    const uint32_t top = class_name == DICT_NONE ? 0 : 1;
    struct store_trace trace;

    if (is_full(take->recording) && reserve_frames(take, 1)) {
        fill_without_frames(take, stack);
        return true;
    }
    if (!store_get(take->generation->traces, id, &trace))
        trace = (struct store_trace){.frame_count = 0};
    const uint32_t own = recording_frames_of_own(take->generation, &trace, class_name);
    if (!reserve_frames(take, top + trace.frame_count + under_count(under))) {
        recording_fail_memory(take->recording);
        return false;
    }
    if (top != 0)
        take->frames[0] = recording_graph_frame(take, jw_frame_class(class_name));
    for (uint32_t i = own; i < trace.frame_count; i++)
        take->frames[top + i - own] = recording_graph_frame(take, trace.frames[i]);
    stack->frames = take->frames;
    stack->frame_count = top + trace.frame_count - own;
    stack->is_truncated = trace.frame_count > 0 && (trace.flags & STORE_TRUNCATED) != 0;
    if (under != NULL)
        fill_under(take, under, stack);
    return true;
}

static void add_group(struct graph_take *take, const struct recording_group *group)
{
    const profile_frame_id thread =
        recording_graph_thread(take, group->thread_index, group->thread_serial, &group->mounted);
    struct profile_stack added = {
        .roots = &thread,
        .root_count = 1,
        .samples = group->samples,
        .weight = group->weight_ns,
    };

    if (fill_frames(take, group->trace, group->class_name, group->under, &added))
        profile_add(take->recording->graph.profile, &added);
}

/* `under`: NULL, or what stands under it. NULL: there is no room for it. */
static struct recording_kept *keep_trace(struct graph_take *take, store_id id,
                                         const struct recording_kept *under)
{
    struct recording_wall *wall = &take->recording->wall;
    uint64_t *known = under == NULL ? recording_ids_at(&wall->traces, id)
                                    : recording_tasks_joined(take->recording, id, under);
    struct profile_stack stack = {0};

    if (known == NULL) {
        if (under == NULL) /* else the stack can do without */
            recording_fail_memory(take->recording);
        return NULL;
    }
    if (*known != 0)
        return *known == KEPT_NONE ? NULL : (struct recording_kept *)(uintptr_t)*known;
    if (!fill_frames(take, id, DICT_NONE, under, &stack))
        return NULL;

    const struct kept_head head = {(uint32_t)stack.frame_count, stack.is_truncated};
    jfr_buffer_clear(&wall->scratch);
    jfr_put_bytes(&wall->scratch, &head, sizeof head);
    jfr_put_bytes(&wall->scratch, stack.frames, stack.frame_count * sizeof *stack.frames);
    struct recording_kept *kept =
        wall->scratch.has_failed
            ? NULL
            : recording_idle_keep_stack(&wall->idle, wall->scratch.bytes, wall->scratch.used_bytes);
    *known = kept == NULL ? KEPT_NONE : (uint64_t)(uintptr_t)kept;
    return kept;
}

/* That of a sample: with what stands under it, where there is room for both. */
static struct recording_kept *keep_sample(struct graph_take *take,
                                          const struct event_record *record)
{
    const struct recording_kept *under = recording_tasks_under(take->recording, record);
    struct recording_kept *kept = under == NULL ? NULL : keep_trace(take, record->trace, under);

    if (kept != NULL)
        return kept;
    if (under != NULL)
        jw_count(JW_COUNT_TASKS_UNJOINED);
    return keep_trace(take, record->trace, NULL);
}

/* Threads matter: they are shown, or asked for. */
static bool tells_threads(const struct recording *recording)
{
    return recording->config.is_by_thread || recording->graph.part.has_threads;
}

static struct recording_counted count_turns(struct recording *recording,
                                            const struct recording_whose *whose,
                                            const struct recording_turns *turns)
{
    const struct recording_counted counted = recording_part_turns(recording, whose, turns);

    recording->graph.part.left_out += turns->turn_count - counted.samples;
    return counted;
}

static void put_idle(void *context, const struct recording_turns *turns,
                     const struct recording_seen *seen)
{
    struct graph_take *take = context;
    struct recording *recording = take->recording;
    profile_frame_id frames[] = {PROFILE_FRAME_NONE};
    const struct recording_virtual mounted = recording_kept_virtual(recording, seen->context);
    const struct recording_whose whose = {turns->thread_index, (uint32_t)turns->thread_serial,
                                          mounted};
    const struct recording_counted counted = count_turns(recording, &whose, turns);
    const profile_frame_id thread =
        recording_graph_thread(take, turns->thread_index, (uint32_t)turns->thread_serial, &mounted);
    struct profile_stack added = {
        .roots = &thread,
        .root_count = 1,
        .samples = counted.samples,
        .weight = counted.weight,
        .frames = frames,
        .frame_count = 1,
    };

    if (seen->stack == NULL) {
        const struct profile_frame mark = recording_graph_mark(recording_idle_mark(turns));

        frames[0] = profile_frame(recording->graph.profile, &mark);
    } else {
        struct kept_head head;

        added.frames = kept_frames(seen->stack, &head);
        added.frame_count = head.frame_count;
        added.is_truncated = head.is_truncated != 0;
    }
    recording_time(recording, turns->time_ns);
    recording->turns += turns->turn_count;
    if (counted.samples == 0)
        return;
    recording->graph.has_shown = true;
    profile_add(recording->graph.profile, &added);
}

static void close_take(struct graph_take *take)
{
    jw_free(take->frames);
    jfr_buffer_close(&take->scratch);
    for (size_t i = 0; i < JW_COUNT_OF(take->texts); i++)
        jfr_text_free(&take->texts[i]);
}

void recording_graph_give_up(struct recording *recording, recording_is_done *is_done, void *whose)
{
    struct graph_take take = {.recording = recording};

    recording_idle_give_up(&recording->wall.idle, is_done, whose, put_idle, &take);
    close_take(&take);
}

void recording_graph_end(struct recording *recording)
{
    struct graph_take take = {.recording = recording};

    recording_idle_end(&recording->wall.idle, put_idle, &take);
    close_take(&take);
}

/* By a hook: no signal stands behind it. */
static bool is_of_hook(const struct event_record *record)
{
    return record->kind == EVENT_ALLOC_SAMPLE || record->kind == EVENT_LOCK ||
           (record->kind == EVENT_COUNTER_SAMPLE && (record->flags & EVENT_BY_HOOK) != 0);
}

/* The group of this record, adding it on first sight; NULL: no memory. */
static struct recording_group *group_of(struct recording *recording,
                                        const struct event_record *record,
                                        const struct recording_virtual *mounted)
{
    struct recording_graph *graph = &recording->graph;
    const bool by_thread = recording->config.is_by_thread;
    const bool has_class = is_of_hook(record);
    const struct recording_kept *under = recording_tasks_under(recording, record);
    const uint32_t key[] = {record->trace,
                            has_class ? record->class_name : DICT_NONE,
                            by_thread ? record->thread_index : 0,
                            by_thread ? (uint32_t)record->thread_serial : 0,
                            (uint32_t)mounted->number,
                            (uint32_t)(mounted->number >> 32),
                            (uint32_t)(uintptr_t)under,
                            (uint32_t)((uintptr_t)under >> 32)};
    uint64_t *known = jw_map_put(&graph->group_of, key, sizeof key);

    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &graph->groups[*known - 1];
    if (graph->group_count == graph->group_capacity) {
        const size_t capacity =
            graph->group_capacity == 0 ? FIRST_GROUPS : 2 * graph->group_capacity;
        struct recording_group *groups =
            jw_realloc(graph->groups, jw_mul_bytes(capacity, sizeof *groups));

        if (groups == NULL)
            return NULL;
        graph->groups = groups;
        graph->group_capacity = capacity;
    }

    struct recording_group *group = &graph->groups[graph->group_count];
    *group = (struct recording_group){.trace = key[0],
                                      .class_name = key[1],
                                      .thread_index = key[2],
                                      .thread_serial = key[3],
                                      .under = under,
                                      .mounted = *mounted};
    *known = ++graph->group_count;
    return group;
}

static enum recording_clock clock_of(const struct event_record *record)
{
    return record->kind == EVENT_CPU_SAMPLE       ? RECORDING_SHOWS_CPU
           : record->kind == EVENT_COUNTER_SAMPLE ? RECORDING_SHOWS_COUNTER
           : record->kind == EVENT_ALLOC_SAMPLE   ? RECORDING_SHOWS_ALLOC
           : record->kind == EVENT_LOCK           ? RECORDING_SHOWS_LOCK
                                                  : RECORDING_SHOWS_WALL;
}

/* What it counts as: pprof and OTLP count objects, of which each sample stands for some. */
static uint64_t count_of(const struct recording *recording, const struct event_record *record)
{
    const bool counts_objects =
        recording->config.format == RECORDING_PPROF || recording->config.format == RECORDING_OTLP;

    if (record->kind != EVENT_ALLOC_SAMPLE || !counts_objects || record->value == 0 ||
        record->weight_ns <= record->value)
        return 1;
    return (record->weight_ns + record->value / 2) / record->value;
}

/* No wait for a lock, but for something to happen. */
static bool is_other_wait(const struct graph_take *take, const struct event_record *record)
{
    const unsigned kind = record->flags & EVENT_LOCK_KIND;
    size_t length_bytes = 0;

    if (record->kind != EVENT_LOCK || kind == EVENT_LOCK_ENTER ||
        (kind == EVENT_LOCK_PARK && record->state != 0))
        return false;
    const char *name =
        kind == EVENT_LOCK_WAIT || record->class_name == DICT_NONE
            ? NULL
            : dict_text(take->generation->classes, record->class_name, &length_bytes);
    return name == NULL || !jw_lock_class_is(name, length_bytes);
}

/* Of a clock that this graph does not show. */
static bool is_left_out(const struct recording *recording, const struct event_record *record)
{
    return clock_of(record) != recording->config.shows;
}

/* What of it counts. */
static struct recording_counted counted_of(struct recording *recording,
                                           const struct event_record *record,
                                           const struct recording_virtual *mounted)
{
    const struct recording_whose whose = {record->thread_index, (uint32_t)record->thread_serial,
                                          *mounted};
    const uint64_t count = count_of(recording, record);

    if (clock_of(record) == RECORDING_SHOWS_WALL) {
        const struct recording_turns turns = recording_turns_of(record);

        return count_turns(recording, &whose, &turns);
    }
    if (recording_part_has(recording, &whose, record->time_ns))
        return (struct recording_counted){count, record->weight_ns};
    recording->graph.part.left_out += count;
    return (struct recording_counted){0};
}

static void count_sample(struct graph_take *take, const struct event_record *record,
                         const struct recording_virtual *mounted,
                         const struct recording_counted *counted)
{
    const struct recording_virtual shown =
        take->recording->config.is_by_thread ? *mounted : (struct recording_virtual){0};
    struct recording_group *group = group_of(take->recording, record, &shown);
    struct recording_group alone = {.trace = record->trace,
                                    .class_name =
                                        is_of_hook(record) ? record->class_name : DICT_NONE,
                                    .thread_index = record->thread_index,
                                    .thread_serial = (uint32_t)record->thread_serial,
                                    .under = recording_tasks_under(take->recording, record),
                                    .mounted = shown};
    const bool is_alone = group == NULL; /* no room for sums: it is added by itself */

    if (is_alone)
        group = &alone;
    group->samples += counted->samples;
    group->weight_ns += counted->weight;
    if (is_alone)
        add_group(take, &alone);
    take->recording->graph.has_shown = true;
}

static void take_sample(struct graph_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    const struct recording_virtual mounted =
        tells_threads(recording)
            ? recording_virtual_of(recording, take->generation, record->context)
            : (struct recording_virtual){0};
    const struct recording_counted counted = counted_of(recording, record, &mounted);

    recording_time(recording, record->time_ns);
    if (counted.samples > 0)
        count_sample(take, record, &mounted, &counted);
    if (record->kind == EVENT_CPU_SAMPLE)
        recording_ledger_sample(recording, record);
    if (clock_of(record) != RECORDING_SHOWS_WALL)
        return;

    /* Whoever waits on may count where this sample does not. */
    const struct recording_turns turns = recording_turns_of(record);
    recording->turns += turns.turn_count;
    recording_idle_note(
        &recording->wall.idle, &turns, keep_sample(take, record),
        mounted.number == 0
            ? NULL
            : recording_kept_context(
                  &(struct recording_take){.recording = recording, .generation = take->generation},
                  record->context));
}

/* Requests and spans are no stacks, and those of threads that were late no samples: a graph has no place for them; nor has it for
 * events of probes and traced calls, of which each type is a graph of its own. */
static bool has_no_place(const struct event_record *record)
{
    if (record->kind == EVENT_DECLARED || record->kind == EVENT_METHOD_TRACE ||
        record->kind == EVENT_QUEUE_TIME || record->kind == EVENT_IO || record->kind == EVENT_CLASS)
        jw_count(JW_COUNT_PROBE_EVENTS_UNTOLD);
    return record->kind == EVENT_ENDPOINT || record->kind == EVENT_SPAN ||
           record->kind == EVENT_LATE || record->kind == EVENT_TASK ||
           record->kind == EVENT_LOCK_OWNER || record->kind == EVENT_DECLARED ||
           record->kind == EVENT_METHOD_TRACE || record->kind == EVENT_QUEUE_TIME ||
           record->kind == EVENT_IO || record->kind == EVENT_CLASS;
}

static void take_record(const struct event_record *record, void *argument)
{
    struct graph_take *take = argument;
    struct recording *recording = take->recording;
    const bool is_wall = clock_of(record) == RECORDING_SHOWS_WALL;

    if (record->kind == EVENT_TASK)
        recording_tasks_passed(recording);
    if (has_no_place(record))
        return;
    if (recording->has_failed || !JW_INVARIANT(!is_wall || record->kind == EVENT_WALL_SAMPLE ||
                                               record->kind == EVENT_WALL_IDLE))
        return;

    const struct recording_turns turns = recording_turns_of(record);
    recording->samples += record->kind != EVENT_WALL_IDLE && !is_of_hook(record);
    recording->hook_samples += is_of_hook(record);
    if (is_left_out(recording, record) || is_other_wait(take, record)) {
        recording_time(recording, record->time_ns);
        if (!is_other_wait(take, record))
            recording->graph.left_out[clock_of(record)] += is_wall ? turns.turn_count : 1;
        return;
    }
    if (record->kind == EVENT_WALL_IDLE)
        recording_idle_take(&recording->wall.idle, &turns, put_idle, take);
    else
        take_sample(take, record);
}

static struct recording_kept *keep_handed(void *context, store_id trace)
{
    return keep_trace(context, trace, NULL);
}

void recording_take_graph(struct recording *recording, struct generation *generation)
{
    struct recording_graph *graph = &recording->graph;
    struct graph_take take = {.recording = recording, .generation = generation};

    jw_map_clear(&graph->frames);
    jw_map_clear(&graph->group_of);
    graph->group_count = 0;
    recording_part_begin_take(recording);
    recording_virtual_begin_take(recording, generation);
    if (!recording_ids_reset(&recording->wall.traces, store_last_id(generation->traces)) ||
        !recording_context_begin_take(
            &(struct recording_take){.recording = recording, .generation = generation})) {
        recording_fail_memory(recording);
        return;
    }
    recording_tasks_begin_take(recording, generation,
                               &(struct recording_tasks_keeper){keep_handed, &take});
    event_take(generation->events, take_record, &take);
    for (size_t i = 0; i < graph->group_count && !recording->has_failed; i++)
        add_group(&take, &graph->groups[i]);
    recording_idle_end_take(&recording->wall.idle, put_idle, &take);
    recording_wall_tidy(recording);
    close_take(&take);
}

bool recording_graph_place(struct recording *recording, struct jw_error *err)
{
    struct recording_graph *graph = &recording->graph;

    if (recording->config.path == NULL)
        return true;
    graph->output = os_output_open(recording->config.path, recording->config.calls, err);
    graph->is_written = false;
    return graph->output != NULL;
}

bool recording_graph_open(struct recording *recording, struct jw_error *err)
{
    struct recording_graph *graph = &recording->graph;

    recording->chunk_earliest_ns = recording->chunk_start_ns = recording->opened_ns;
    if (!profile_check_patterns(recording->config.look.view.includes,
                                recording->config.look.view.excludes, err) ||
        !recording_part_open(recording, err) || !recording_graph_place(recording, err))
        return false;
    graph->profile = profile_open(&recording->config.tree, err);
    return graph->profile != NULL;
}

void recording_graph_close(struct recording *recording)
{
    struct recording_graph *graph = &recording->graph;

    os_output_close(graph->output);
    profile_close(graph->profile);
    jw_map_close(&graph->frames);
    jw_map_close(&graph->group_of);
    recording_part_close(recording);
    jw_free(graph->groups);
}
