/*
 * What a thread works for where it was handed over to it: the stack of who handed it over, under that of who runs it; dump.
 *
 * The records of tasks of a take are looked at before any of its samples is taken: sorted by thread and time they become spans, of which
 * each thread has those that lie within one another. A span that has not ended goes on in the next take. What was handed over is kept by
 * the number of the task until a thread begins it, or until so many others were handed over that it is forgotten. The table of these grows
 * with what waits in it, as far as there is memory.
 * docs/adr/0063-stacks-of-who-handed-over.md
 */
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

/* As many as the agent remembers (context_queued.h), and twice that for what it has told of, but forgotten. Powers of two. */
#define HANDED_MOST  131072u
#define HANDED_LEAST 256u
#define FIRST_ROOM   ((size_t)64)
#define NO_SPAN      SIZE_MAX

struct handed {
    uint64_t number; /* 0: none */
    struct recording_kept *stack;
};

struct span {
    uint32_t thread_index, thread_serial;
    uint64_t begin_ns, end_ns;    /* UINT64_MAX: it goes on */
    size_t outer;                 /* the one that it lies in; NO_SPAN: none */
    struct recording_kept *stack; /* NULL: of a task that nobody saw handed over */
};

struct recording_tasks {
    struct handed *handed; /* by number; NULL: no memory yet */
    size_t handed_capacity;
    bool has_no_more;           /* memory, for a larger one, in this take */
    struct event_record *marks; /* of the take under way */
    size_t mark_count, mark_capacity;
    struct span *spans, *before; /* by thread and begin */
    size_t span_count, span_capacity, before_capacity;
    struct jw_map joined; /* of this take: trace and stack below -> what both are together */
    uint64_t lost;        /* the counter, when it was looked at last */
    uint64_t over_ns;     /* ends are not told from then on; 0: they are */
    size_t passed_count;  /* records of this take that came by when it was taken */
    bool has_failed;      /* a mark of this take found no memory */
    bool is_unsure; /* in the take before some were lost: others of theirs may be in this one */
};

/* ---- what is kept ---- */

static void let_go(struct recording *recording, struct recording_kept **stack)
{
    recording_idle_let_go(&recording->wall.idle, *stack);
    *stack = NULL;
}

/* NULL: there is no table. */
static struct handed *handed_of(const struct recording_tasks *tasks, uint64_t number)
{
    return tasks->handed == NULL ? NULL : &tasks->handed[number % tasks->handed_capacity];
}

/* Twice as large: what was apart stays so. False: as large as it may be, or no memory, of which is asked once a take. */
static bool grow_handed(struct recording_tasks *tasks)
{
    const size_t capacity = tasks->handed == NULL ? HANDED_LEAST : 2 * tasks->handed_capacity;

    if (tasks->has_no_more || capacity > HANDED_MOST)
        return false;

    struct handed *grown = jw_alloc(jw_mul_bytes(capacity, sizeof *grown));
    tasks->has_no_more = grown == NULL;
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < tasks->handed_capacity; i++) {
        if (tasks->handed[i].number != 0)
            grown[tasks->handed[i].number % capacity] = tasks->handed[i];
    }
    jw_free(tasks->handed);
    tasks->handed = grown;
    tasks->handed_capacity = capacity;
    return true;
}

/* Where this task's stack comes to lie, with that of another only where there is no more room; NULL: there is none at all. */
static struct handed *make_room(struct recording_tasks *tasks, uint64_t number)
{
    struct handed *handed = handed_of(tasks, number);

    while ((handed == NULL || handed->stack != NULL) && grow_handed(tasks))
        handed = handed_of(tasks, number);
    return handed;
}

static void count_unkept(bool is_for_memory)
{
    jw_count(JW_COUNT_TASKS_NOT_KEPT);
    if (is_for_memory)
        jw_count(JW_COUNT_TASKS_NO_MEMORY);
}

static void take_handed(struct recording *recording, const struct event_record *mark,
                        const struct recording_tasks_keeper *keeper)
{
    struct handed *handed = make_room(recording->tasks, mark->value);

    if (handed == NULL) {
        count_unkept(true);
        return;
    }

    struct recording_kept *stack = keeper->keep(keeper->context, mark->trace);
    if (handed->stack != NULL)
        count_unkept(recording->tasks->handed_capacity < HANDED_MOST);
    if (stack == NULL)
        count_unkept(true);
    let_go(recording, &handed->stack);
    *handed = (struct handed){mark->value, stack};
    if (stack != NULL)
        stack->holder_count++;
}

/* Whoever has it holds it from now on. */
static struct recording_kept *begin_handed(struct recording_tasks *tasks, uint64_t number)
{
    struct handed *handed = number == 0 ? NULL : handed_of(tasks, number);

    if (handed == NULL || handed->number != number)
        return NULL;

    struct recording_kept *stack = handed->stack;
    *handed = (struct handed){0, NULL};
    return stack;
}

/* ---- spans ---- */

/* Room for one more; false: no memory. */
static bool reserve(void **array, size_t *capacity, size_t count, size_t element_bytes)
{
    const size_t wanted = *capacity == 0 ? FIRST_ROOM : 2 * *capacity;

    if (count < *capacity)
        return true;

    void *grown = jw_realloc(*array, jw_mul_bytes(wanted, element_bytes));
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static void note(const struct event_record *record, void *argument)
{
    struct recording_tasks *tasks = argument;
    void *marks = tasks->marks;

    if (record->kind != EVENT_TASK)
        return;
    if (!reserve(&marks, &tasks->mark_capacity, tasks->mark_count, sizeof *tasks->marks)) {
        tasks->has_failed = true;
        return;
    }
    tasks->marks = marks;
    memcpy(&tasks->marks[tasks->mark_count], record, sizeof *record);
    tasks->marks[tasks->mark_count].name =
        (uint32_t)tasks->mark_count; /* of equal times the order */
    tasks->mark_count++;
}

static int compare(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_threads(uint32_t index, uint64_t serial, uint32_t other_index,
                           uint64_t other_serial)
{
    const int by_index = compare(index, other_index);

    return by_index != 0 ? by_index : compare((uint32_t)serial, (uint32_t)other_serial);
}

static int by_thread_and_time(const void *left, const void *right)
{
    const struct event_record *one = left, *other = right;
    const int by_thread = compare_threads(one->thread_index, one->thread_serial,
                                          other->thread_index, other->thread_serial);

    const int by_time = by_thread != 0 ? by_thread : compare(one->time_ns, other->time_ns);

    return by_time != 0 ? by_time : compare(one->name, other->name);
}

/* The span is in it from here on, or its stack is let go. */
static size_t add_span(struct recording *recording, struct span *span)
{
    struct recording_tasks *tasks = recording->tasks;
    void *spans = tasks->spans;

    if (!reserve(&spans, &tasks->span_capacity, tasks->span_count, sizeof *tasks->spans)) {
        tasks->has_failed = true;
        let_go(recording, &span->stack);
        return NO_SPAN;
    }
    tasks->spans = spans;
    tasks->spans[tasks->span_count] = *span;
    return tasks->span_count++;
}

/* What goes on of a thread's spans; `at` is its first, and behind its last when this is over. The innermost one. */
static size_t go_on(struct recording *recording, size_t *at, size_t before_count)
{
    struct recording_tasks *tasks = recording->tasks;
    const struct span first = tasks->before[*at];
    size_t inner = NO_SPAN;

    for (; *at < before_count; ++*at) {
        struct span span = tasks->before[*at];

        if (compare_threads(span.thread_index, span.thread_serial, first.thread_index,
                            first.thread_serial) != 0)
            break;
        if (span.end_ns != UINT64_MAX) {
            let_go(recording, &span.stack);
            continue;
        }
        span.outer = inner;
        const size_t added = add_span(recording, &span);
        inner = added == NO_SPAN ? inner : added;
    }
    return inner;
}

static size_t end_span(struct recording_tasks *tasks, size_t span, uint64_t time_ns)
{
    tasks->spans[span].end_ns = time_ns;
    return tasks->spans[span].outer;
}

/* The innermost span behind this mark. */
static size_t apply(struct recording *recording, const struct event_record *mark, size_t inner)
{
    struct recording_tasks *tasks = recording->tasks;
    struct span begun = {.thread_index = mark->thread_index,
                         .thread_serial = (uint32_t)mark->thread_serial,
                         .begin_ns = mark->time_ns,
                         .end_ns = UINT64_MAX,
                         .outer = inner};

    switch ((enum event_task)mark->flags) {
    case EVENT_TASK_HANDED:
        break;
    case EVENT_TASK_BEGUN:
        begun.stack = begin_handed(tasks, mark->value);
        return add_span(recording, &begun);
    case EVENT_TASK_ENDED:
        return inner == NO_SPAN ? NO_SPAN : end_span(tasks, inner, mark->time_ns);
    case EVENT_TASK_ENDED_ALL:
        while (inner != NO_SPAN)
            inner = end_span(tasks, inner, mark->time_ns);
        break;
    }
    return inner;
}

static bool is_there(const struct recording *recording, const struct span *span)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_thread told;

    return sources->thread == NULL ||
           sources->thread(sources->context, span->thread_index, span->thread_serial, &told);
}

/* Spans of the take before, and the marks of this one, thread by thread. */
static void apply_all(struct recording *recording, size_t before_count)
{
    struct recording_tasks *tasks = recording->tasks;
    size_t at = 0, mark = 0;

    while (at < before_count || mark < tasks->mark_count) {
        const struct span *span = at < before_count ? &tasks->before[at] : NULL;
        const struct event_record *next = mark < tasks->mark_count ? &tasks->marks[mark] : NULL;
        const int order = span == NULL   ? 1
                          : next == NULL ? -1
                                         : compare_threads(span->thread_index, span->thread_serial,
                                                           next->thread_index, next->thread_serial);
        size_t inner = NO_SPAN;

        if (order < 0 && !is_there(recording, span)) {
            let_go(recording, &tasks->before[at++].stack);
            continue;
        }
        if (order <= 0)
            inner = go_on(recording, &at, before_count);
        if (order < 0)
            continue;
        for (; mark < tasks->mark_count &&
               compare_threads(tasks->marks[mark].thread_index, tasks->marks[mark].thread_serial,
                               next->thread_index, next->thread_serial) == 0;
             mark++)
            inner = apply(recording, &tasks->marks[mark], inner);
    }
}

/* Where the begin or the end of a task was lost, none that was under way is known for sure. */
static void forget_spans(struct recording *recording)
{
    struct recording_tasks *tasks = recording->tasks;

    for (size_t i = 0; i < tasks->span_count; i++)
        let_go(recording, &tasks->spans[i].stack);
    tasks->span_count = 0;
}

static struct recording_tasks *tasks_of(struct recording *recording)
{
    if (recording->tasks == NULL && recording->config.has_tasks) {
        recording->tasks = jw_alloc(sizeof *recording->tasks);
        if (recording->tasks != NULL) {
            recording->tasks->joined.part = JW_MEMORY_WAITING;
            recording->tasks->lost = recording->zero[JW_COUNT_TASKS_LOST];
        }
    }
    return recording->tasks;
}

/* Nothing is there to keep any of them in. */
static void count_handed(const struct event_record *record, void *argument)
{
    (void)argument;
    if (record->kind == EVENT_TASK && record->flags == EVENT_TASK_HANDED)
        count_unkept(true);
}

void recording_tasks_begin_take(struct recording *recording, const struct generation *generation,
                                const struct recording_tasks_keeper *keeper)
{
    struct recording_tasks *tasks = tasks_of(recording);

    if (tasks == NULL) {
        if (recording->config.has_tasks)
            event_look(generation->events, count_handed, NULL);
        return;
    }
    const uint64_t lost = jw_counter(JW_COUNT_TASKS_LOST);
    /* Some that were committed behind the look were taken all the same. */
    const bool was_missed = tasks->passed_count > tasks->mark_count;
    const size_t before_count = tasks->span_count;
    struct span *const free_spans = tasks->before;
    const size_t free_capacity = tasks->before_capacity;

    tasks->before = tasks->spans;
    tasks->before_capacity = tasks->span_capacity;
    tasks->spans = free_spans;
    tasks->span_capacity = free_capacity;
    tasks->span_count = tasks->mark_count = tasks->passed_count = 0;
    tasks->has_failed = was_missed;
    tasks->has_no_more = false;
    jw_map_clear(&tasks->joined);
    event_look(generation->events, note, tasks);
    if (tasks->mark_count > 1)
        qsort(tasks->marks, tasks->mark_count, sizeof *tasks->marks, by_thread_and_time);
    for (size_t i = 0; i < tasks->mark_count; i++) {
        if (tasks->marks[i].flags == EVENT_TASK_HANDED)
            take_handed(recording, &tasks->marks[i], keeper);
    }
    apply_all(recording, before_count);
    if (tasks->has_failed || lost != tasks->lost || tasks->is_unsure)
        forget_spans(recording);
    tasks->is_unsure = lost != tasks->lost;
    tasks->lost = lost;
}

void recording_tasks_passed(struct recording *recording)
{
    if (recording->tasks != NULL)
        recording->tasks->passed_count++;
}

void recording_tasks_over(struct recording *recording, uint64_t time_ns)
{
    struct recording_tasks *tasks = tasks_of(recording);

    if (tasks != NULL)
        tasks->over_ns = time_ns;
}

void recording_tasks_resume(struct recording *recording)
{
    struct recording_tasks *tasks = recording->tasks;

    if (tasks == NULL)
        return;
    forget_spans(recording);
    for (size_t i = 0; i < tasks->handed_capacity; i++) {
        let_go(recording, &tasks->handed[i].stack);
        tasks->handed[i].number = 0;
    }
    tasks->over_ns = 0;
}

void recording_tasks_close(struct recording *recording)
{
    struct recording_tasks *tasks = recording->tasks;

    if (tasks == NULL)
        return;
    jw_map_close(&tasks->joined);
    jw_free(tasks->handed);
    jw_free(tasks->marks);
    jw_free(tasks->spans);
    jw_free(tasks->before);
    jw_free(tasks);
    recording->tasks = NULL;
}

/* ---- of a sample ---- */

struct recording_kept *recording_tasks_under(const struct recording *recording,
                                             const struct event_record *record)
{
    const struct recording_tasks *tasks = recording->tasks;
    size_t low = 0, high = tasks == NULL ? 0 : tasks->span_count;

    if (high != 0 && tasks->over_ns != 0 && record->time_ns >= tasks->over_ns)
        return NULL;

    /* Behind the last span that began on this thread before. */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct span *span = &tasks->spans[middle];
        const int by_thread = compare_threads(span->thread_index, span->thread_serial,
                                              record->thread_index, record->thread_serial);

        if (by_thread < 0 || (by_thread == 0 && span->begin_ns <= record->time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    size_t at = low == 0 ? NO_SPAN : low - 1;
    if (at == NO_SPAN ||
        compare_threads(tasks->spans[at].thread_index, tasks->spans[at].thread_serial,
                        record->thread_index, record->thread_serial) != 0)
        return NULL;
    while (at != NO_SPAN && tasks->spans[at].end_ns <= record->time_ns)
        at = tasks->spans[at].outer;
    return at == NO_SPAN ? NULL : tasks->spans[at].stack;
}

uint64_t *recording_tasks_joined(struct recording *recording, store_id trace,
                                 const struct recording_kept *under)
{
    const uint64_t key[] = {trace, (uint64_t)(uintptr_t)under};

    return jw_map_put(&recording->tasks->joined, key, sizeof key);
}
