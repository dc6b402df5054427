/* Stacks that threads wait on, by thread and sample; dump. */
#include "recording/recording_idle_internal.h"

#include <string.h>

#include "base/counters.h"
#include "base/memory.h"
#include "base/thread_state.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

#define FIRST_ROWS  ((size_t)256)
#define CHECK_COUNT ((size_t)1024) /* rows looked at in each take */

static const struct recording_seen nothing_seen;

struct recording_turns recording_turns_of(const struct event_record *record)
{
    return (struct recording_turns){
        .thread_serial = record->thread_serial,
        .number = record->value,
        .time_ns = record->time_ns,
        .weight_ns = record->weight_ns < record->time_ns ? record->weight_ns : record->time_ns,
        .thread_index = record->thread_index,
        .turn_count = record->sample_count == 0 ? 1 : record->sample_count,
        .state = record->state,
    };
}

void recording_idle_open(struct recording_idle *idle)
{
    const uint64_t share = jw_memory_limit_of(JW_MEMORY_WAITING, 2 * RECORDING_IDLE_MAX_BYTES);

    idle->passed_of.part = JW_MEMORY_WAITING;
    idle->limit_bytes = (size_t)share / 2;
}

/* Room for an element at `index`; new ones are zero. False: no memory, or memlimit is reached. */
static bool reserve(void **array, size_t *capacity, size_t index, size_t element_bytes)
{
    size_t wanted = *capacity == 0 ? FIRST_ROWS : *capacity;

    while (wanted <= index)
        wanted *= 2;
    if (wanted == *capacity)
        return true;

    unsigned char *grown = jw_realloc(*array, jw_mul_bytes(wanted, element_bytes));
    if (grown == NULL)
        return false;
    memset(grown + *capacity * element_bytes, 0, (wanted - *capacity) * element_bytes);
    *array = grown;
    *capacity = wanted;
    return true;
}

void recording_idle_let_go(struct recording_idle *idle, struct recording_kept *stack)
{
    if (stack == NULL)
        return;
    if (stack->holder_count == 1 && idle->release != NULL)
        idle->release(idle, stack);
    (void)recording_let_go(&idle->stacks, stack);
}

/* Room for one more in what the take holds. */
static bool reserve_held(struct recording_held *held)
{
    void *kept = held->kept;

    if (!reserve(&kept, &held->capacity, held->count, sizeof *held->kept))
        return false;
    held->kept = kept;
    return true;
}

static struct recording_kept *keep(struct recording_idle *idle, struct recording_kept_table *table,
                                   struct recording_held *held, const void *bytes,
                                   size_t length_bytes)
{
    if (!reserve_held(held))
        return NULL;

    struct recording_kept *kept =
        recording_keep(table, bytes, length_bytes,
                       idle->limit_bytes == 0 ? RECORDING_IDLE_MAX_BYTES : idle->limit_bytes);
    if (kept != NULL)
        held->kept[held->count++] = kept;
    return kept;
}

struct recording_kept *recording_idle_keep_stack(struct recording_idle *idle, const void *bytes,
                                                 size_t length_bytes)
{
    return keep(idle, &idle->stacks, &idle->held_stacks, bytes, length_bytes);
}

struct recording_kept *recording_idle_keep_method(struct recording_idle *idle, const void *bytes,
                                                  size_t length_bytes)
{
    return keep(idle, &idle->methods, &idle->held_methods, bytes, length_bytes);
}

struct recording_kept *recording_idle_keep_context(struct recording_idle *idle, const void *bytes,
                                                   size_t length_bytes)
{
    return keep(idle, &idle->contexts, &idle->held_contexts, bytes, length_bytes);
}

/* ---- samples ---- */

/* Where the number of a row of `passed` + 1 lies; NULL: no memory. */
static uint64_t *passed_at(struct recording_idle *idle, uint32_t index, uint64_t serial,
                           uint64_t number)
{
    const uint64_t question[] = {index, serial, number};

    return jw_map_put(&idle->passed_of, question, sizeof question);
}

/* Remembers until the end of the take; the take holds the stack. */
static void pass(struct recording_idle *idle, uint32_t index, uint64_t serial, uint64_t number,
                 const struct recording_seen *seen)
{
    void *passed = idle->passed;

    if (!reserve(&passed, &idle->passed_capacity, idle->passed_count, sizeof *idle->passed))
        return;
    idle->passed = passed;

    uint64_t *known = passed_at(idle, index, serial, number);
    if (known == NULL)
        return;
    idle->passed[idle->passed_count++] = *seen;
    *known = idle->passed_count;
}

/* What the thread held, the take holds from now on; there is room for it. */
static void hold(struct recording_held *held, struct recording_kept *kept)
{
    if (kept != NULL)
        held->kept[held->count++] = kept;
}

static bool is_newer(const struct recording_turns *turns, const struct recording_idle_thread *than)
{
    return turns->thread_serial > than->serial ||
           (turns->thread_serial == than->serial && turns->number > than->number);
}

void recording_idle_note(struct recording_idle *idle, const struct recording_turns *turns,
                         struct recording_kept *stack, struct recording_kept *context)
{
    void *threads = idle->threads;
    const struct recording_seen seen = {stack, context, turns->state};

    if (turns->number == 0 ||
        !reserve(&threads, &idle->thread_capacity, turns->thread_index, sizeof *idle->threads))
        return;
    idle->threads = threads;

    struct recording_idle_thread *thread = &idle->threads[turns->thread_index];
    if (!is_newer(turns, thread)) {
        pass(idle, turns->thread_index, turns->thread_serial, turns->number, &seen);
        return;
    }
    if (thread->serial != 0) {
        if (!reserve_held(&idle->held_stacks) || !reserve_held(&idle->held_contexts))
            return;
        pass(idle, turns->thread_index, thread->serial, thread->number, &thread->seen);
        hold(&idle->held_stacks, thread->seen.stack);
        hold(&idle->held_contexts, thread->seen.context);
    }
    *thread = (struct recording_idle_thread){turns->thread_serial, turns->number, seen};
    if (stack != NULL)
        stack->holder_count++;
    if (context != NULL)
        context->holder_count++;
}

/* ---- idle records ---- */

/* Puts a record whose sample was seen; false: it was not. */
static bool put_if_seen(struct recording_idle *idle, const struct recording_turns *turns,
                        recording_idle_put *put, void *context)
{
    const struct recording_idle_thread *thread =
        turns->thread_index < idle->thread_capacity ? &idle->threads[turns->thread_index] : NULL;
    struct recording_turns told = *turns;
    const struct recording_seen *seen;

    if (thread != NULL && thread->serial == turns->thread_serial &&
        thread->number == turns->number) {
        seen = &thread->seen;
    } else {
        const uint64_t *known =
            passed_at(idle, turns->thread_index, turns->thread_serial, turns->number);

        if (known == NULL || *known == 0)
            return false;
        seen = &idle->passed[*known - 1];
    }
    if (told.state == JW_STATE_UNKNOWN)
        told.state = seen->state;
    put(context, &told, seen);
    return true;
}

void recording_idle_take(struct recording_idle *idle, const struct recording_turns *turns,
                         recording_idle_put *put, void *context)
{
    void *waiting = idle->waiting;

    if (turns->number == 0) {
        put(context, turns, &nothing_seen);
        return;
    }
    if (put_if_seen(idle, turns, put, context))
        return;
    if (!reserve(&waiting, &idle->waiting_capacity, idle->waiting_count, sizeof *idle->waiting)) {
        put(context, turns, &nothing_seen);
        return;
    }
    idle->waiting = waiting;
    idle->waiting[idle->waiting_count++] = *turns;
}

/* Its sample came before the last one of the same life: not to be had any more, and later the thread may be forgotten. */
static bool is_too_late(const struct recording_idle *idle, const struct recording_turns *turns)
{
    const struct recording_idle_thread *thread =
        turns->thread_index < idle->thread_capacity ? &idle->threads[turns->thread_index] : NULL;

    return thread != NULL && thread->serial == turns->thread_serial &&
           turns->number < thread->number;
}

/* Puts the records that wait whose sample was seen, or comes no more, and the oldest beyond what may wait on. */
void recording_idle_end_take(struct recording_idle *idle, recording_idle_put *put, void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < idle->waiting_count; i++) {
        const struct recording_turns turns = idle->waiting[i];

        if (put_if_seen(idle, &turns, put, context))
            continue;
        if (is_too_late(idle, &turns))
            put(context, &turns, &nothing_seen);
        else
            idle->waiting[kept++] = turns;
    }

    const size_t excess = kept > RECORDING_WAITING_MAX ? kept - RECORDING_WAITING_MAX : 0;
    for (size_t i = 0; i < excess; i++)
        put(context, &idle->waiting[i], &nothing_seen);
    if (excess > 0)
        memmove(idle->waiting, idle->waiting + excess, (kept - excess) * sizeof *idle->waiting);
    idle->waiting_count = kept - excess;

    jw_map_clear(&idle->passed_of);
    idle->passed_count = 0;
    for (size_t i = 0; i < idle->held_stacks.count; i++)
        recording_idle_let_go(idle, idle->held_stacks.kept[i]);
    idle->held_stacks.count = 0;
    for (size_t i = 0; i < idle->held_methods.count; i++)
        (void)recording_let_go(&idle->methods, idle->held_methods.kept[i]);
    idle->held_methods.count = 0;
    for (size_t i = 0; i < idle->held_contexts.count; i++)
        (void)recording_let_go(&idle->contexts, idle->held_contexts.kept[i]);
    idle->held_contexts.count = 0;
}

void recording_idle_give_up(struct recording_idle *idle, recording_idle_is_done *is_done,
                            void *whose, recording_idle_put *put, void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < idle->waiting_count; i++) {
        const struct recording_turns turns = idle->waiting[i];

        if (is_done(whose, turns.thread_index, (uint32_t)turns.thread_serial))
            put(context, &turns, &nothing_seen);
        else
            idle->waiting[kept++] = turns;
    }
    idle->waiting_count = kept;
}

void recording_idle_forget(struct recording_idle *idle, recording_idle_is_alive *is_alive,
                           void *context)
{
    const size_t count = idle->thread_capacity < CHECK_COUNT ? idle->thread_capacity : CHECK_COUNT;

    for (size_t i = 0; i < count; i++) {
        const size_t index = idle->next_checked++ % idle->thread_capacity;
        struct recording_idle_thread *thread = &idle->threads[index];

        if (thread->serial == 0 || is_alive(context, (uint32_t)index, (uint32_t)thread->serial))
            continue;
        recording_idle_let_go(idle, thread->seen.stack);
        if (thread->seen.context != NULL)
            (void)recording_let_go(&idle->contexts, thread->seen.context);
        *thread = (struct recording_idle_thread){0};
    }
}

void recording_idle_end(struct recording_idle *idle, recording_idle_put *put, void *context)
{
    for (size_t i = 0; i < idle->waiting_count; i++)
        put(context, &idle->waiting[i], &nothing_seen);
    idle->waiting_count = 0;
}

void recording_idle_close(struct recording_idle *idle)
{
    recording_kept_close(&idle->stacks);
    recording_kept_close(&idle->methods);
    recording_kept_close(&idle->contexts);
    jw_map_close(&idle->passed_of);
    jw_free(idle->passed);
    jw_free(idle->threads);
    jw_free(idle->waiting);
    jw_free(idle->held_stacks.kept);
    jw_free(idle->held_methods.kept);
    jw_free(idle->held_contexts.kept);
    *idle = (struct recording_idle){.limit_bytes = idle->limit_bytes};
}

enum jw_mark recording_idle_mark(const struct recording_turns *turns)
{
    if (turns->number == 0)
        return JW_MARK_NOT_SAMPLED;
    jw_count_add(JW_COUNT_WALL_IDLE_UNKNOWN, turns->turn_count);
    return JW_MARK_UNKNOWN_WAIT;
}
