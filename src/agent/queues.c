/* Tasks that wait in queues of executors: the agent's thread, but where one is told of: hook, on any Java thread. */
#include "agent/queues.h"

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "context/context.h"
#include "context/context_queued.h"
#include "event/event_values.h"
#include "instrument/instrument.h"
#include "probe/probe_forks.h"
#include "probe/probe_queues.h"
#include "sampler/sampler_hook.h"
#include "thread/thread.h"
#include "thread/thread_tls.h"

#define NAME       "queue" /* of the option, and of its probe */
#define NAME_FORKS "queue-forks"

static struct {
    bool is_on, has_forks; /* the agent's thread */
    /* Relaxed: set before the first task is told. */
    _Atomic uint64_t least_ns; /* UINT64_MAX: waits are not told */
    _Atomic bool has_tasks;
    _Atomic uint64_t last_number; /* of tasks */
    /* As they were when the session began. */
    uint64_t first_number, lost, not_kept, no_memory;
    bool has_no_room; /* for tasks that wait: nothing is told */
} queues;

/* ---- a task ---- */

/* Its number, under which the recording has the stack of who hands it over; 0: it has none. */
static uint64_t hand_over(void)
{
    const uint64_t number = jw_add_relaxed(&queues.last_number, 1) + 1;
    const struct sampler_hook hook = {
        .kind = EVENT_TASK, .flags = EVENT_TASK_HANDED, .value = number};
    const enum sampler_hook_end end = told_sample(&hook);

    if (end == SAMPLER_HOOK_LOST)
        jw_count(JW_COUNT_TASKS_NOT_KEPT);
    if (end != SAMPLER_HOOK_TAKEN)
        return 0;
    jw_count(JW_COUNT_TASK_RECORDS);
    return number;
}

static void tell_task(enum event_task what, uint64_t number)
{
    if (!context_task(run_generations(), what, number))
        jw_count(JW_COUNT_TASKS_LOST);
}

/* What virtual threads run is not told: while one waits, others are where it was. */
static bool is_told(JNIEnv *jni, jobject thread)
{
    return jw_load_relaxed(&queues.has_tasks) && !api_is_virtual(jni, thread);
}

static void submit(JNIEnv *jni, jobject thread, uint64_t key, uint32_t executor_number)
{
    struct context_queued what = {
        .begin_ns = jw_now_ns(), .thread_index = THREAD_NONE, .executor_number = executor_number};

    if (api_is_virtual(jni, thread)) {
        what.virtual_number = api_thread_number(jni, thread);
    } else {
        what.thread_index = thread_find(thread_own_tid());
        if (what.thread_index != THREAD_NONE)
            what.thread_serial = (uint32_t)thread_serial(what.thread_index);
    }
    if (jw_load_relaxed(&queues.has_tasks))
        what.number = hand_over();
    if (!context_queued_put(key, &what))
        jw_count(JW_COUNT_QUEUE_FORGOTTEN);
}

static bool take(JNIEnv *jni, jobject thread, uint64_t key, struct instrument_wait *wait)
{
    struct context_queued what;
    const bool is_known = context_queued_take(key, &what);

    if (is_told(jni, thread))
        tell_task(EVENT_TASK_BEGUN, is_known ? what.number : 0);
    if (!is_known)
        return false;
    *wait = (struct instrument_wait){.begin_ns = what.begin_ns,
                                     .duration_ns = jw_now_ns() - what.begin_ns,
                                     .virtual_number = what.virtual_number,
                                     .thread_index = what.thread_index,
                                     .thread_serial = what.thread_serial,
                                     .executor_number = what.executor_number};
    return wait->duration_ns >= jw_load_relaxed(&queues.least_ns);
}

static void tell(JNIEnv *jni, const struct instrument_wait *wait)
{
    const struct event_values_thread by = {
        .is_none = wait->virtual_number == 0 && wait->thread_index == THREAD_NONE,
        .virtual_number = wait->virtual_number,
        .index = wait->virtual_number == 0 ? wait->thread_index : 0,
        .serial = wait->thread_serial};
    struct event_values values;

    (void)jni;
    event_values_begin(&values, 0);
    told_put_class(wait->task_class, &values);
    told_put_class(wait->executor_class, &values);
    event_values_put_thread(&values, &by);
    event_values_put_number(&values, wait->queue_length);
    const struct sampler_hook hook = {
        .kind = EVENT_QUEUE_TIME,
        .time_ns = wait->begin_ns,
        .weight_ns = wait->duration_ns,
        .payload = values.bytes,
        .payload_bytes = values.used_bytes,
        .depth_max = 1, /* a thread of the executor's is where they all are */
    };

    (void)told_sample(&hook);
}

static void end(JNIEnv *jni, jobject thread, bool are_all)
{
    if (is_told(jni, thread))
        tell_task(are_all ? EVENT_TASK_ENDED_ALL : EVENT_TASK_ENDED, 0);
}

static const struct instrument_queues calls = {submit, take, end, tell, context_queued_forget};

/* ---- a session ---- */

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* `probe` is the attach's from here on; NULL: it could not be made. */
static bool attach(JNIEnv *jni, struct probe *probe, struct jw_error *err)
{
    return probe != NULL &&
           instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, err);
}

/* Where one of the methods is missing, tasks would begin to wait and never be taken. */
static bool has_all(const char *name, uint32_t count)
{
    uint64_t methods;

    for (uint32_t handler = 0; handler < count; handler++) {
        if (!instrument_own_methods(name, handler, &methods) || methods != 1)
            return false;
    }
    return true;
}

static void detach(JNIEnv *jni, const char *name)
{
    struct jw_error err = {{0}};

    if (!instrument_detach_own(jni, name, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", name, err.message);
}

static bool begin_pools(JNIEnv *jni, bool has_ends, struct jw_error *err)
{
    if (!instrument_queues_prepare(jni, err) ||
        !attach(jni, probe_queues_open(NAME, has_ends, err), err))
        return false;
    if (has_all(NAME, PROBE_QUEUES_HANDLERS + (has_ends ? PROBE_QUEUES_ENDS : 0)))
        return true;
    jw_error_set(err, "java.util.concurrent.ThreadPoolExecutor is not as it is known");
    detach(jni, NAME);
    return false;
}

static bool begin_forks(JNIEnv *jni, bool has_ends, struct jw_error *err)
{
    const uint32_t at_class = PROBE_FORKS_AT_CLASS + (has_ends ? PROBE_FORKS_AT_END : 0);
    const struct probe_forks *forks = instrument_forks_prepare(agent.java_vm, jni, err);

    if (forks == NULL || !attach(jni, probe_forks_open(NAME_FORKS, forks, has_ends, err), err))
        return false;
    if (has_all(NAME_FORKS, PROBE_FORKS_AT_POOL + forks->class_count * at_class))
        return true;
    jw_error_set(err, "java.util.concurrent.ForkJoinPool is not as it is known");
    detach(jni, NAME_FORKS);
    return false;
}

static void begin_tasks(const struct options *options)
{
    jw_store_relaxed(&queues.has_tasks, options->has_async_stacks);
    queues.first_number = jw_load_relaxed(&queues.last_number);
    queues.lost = jw_counter(JW_COUNT_TASKS_LOST);
    queues.not_kept = jw_counter(JW_COUNT_TASKS_NOT_KEPT);
    queues.no_memory = jw_counter(JW_COUNT_TASKS_NO_MEMORY);
}

void queues_tell(void)
{
    const uint64_t handed = jw_load_relaxed(&queues.last_number) - queues.first_number;

    if (!jw_load_relaxed(&queues.has_tasks))
        return;
    if (queues.has_no_room)
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Async stacks: off: no memory for tasks that wait; raise memlimit=");
    else if (handed == 0)
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Async stacks: no task was handed to a ThreadPoolExecutor or ForkJoinPool, "
                  "which forks and tasks of scheduled executors are not");
    else
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Async stacks: %llu tasks were handed over; of %llu the stack found no room, and "
                  "%llu begins and ends of tasks were lost, around which samples have none",
                  (unsigned long long)handed,
                  (unsigned long long)(jw_counter(JW_COUNT_TASKS_NOT_KEPT) - queues.not_kept),
                  (unsigned long long)(jw_counter(JW_COUNT_TASKS_LOST) - queues.lost));
    const uint64_t no_memory = jw_counter(JW_COUNT_TASKS_NO_MEMORY) - queues.no_memory;
    if (no_memory > 0)
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Async stacks: of %llu tasks memlimit= left no room for the stack; raise it",
                  (unsigned long long)no_memory);
}

void queues_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {{0}};

    if (!queues.is_on && !queues.has_forks)
        begin_tasks(options);
    if (jni == NULL || (options->queue_ns == 0 && !options->has_async_stacks) || queues.is_on ||
        queues.has_forks)
        return;
    queues.has_no_room = !context_queued_open(&err);
    if (queues.has_no_room) {
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", NAME, err.message);
        return;
    }
    jw_store_relaxed(&queues.least_ns, options->queue_ns == 0 ? UINT64_MAX : options->queue_ns);
    instrument_at_end(commands_end);
    instrument_set_queues(&calls);
    queues.is_on = begin_pools(jni, options->has_async_stacks, &err);
    if (!queues.is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: tasks of ThreadPoolExecutor are not told: %s", NAME,
                  err.message);
    queues.has_forks = begin_forks(jni, options->has_async_stacks, &err);
    if (!queues.has_forks)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: tasks of ForkJoinPool are not told: %s", NAME,
                  err.message);
    /* What was begun before the places were taken out again has no end. */
    if (options->has_async_stacks && !(queues.is_on && queues.has_forks))
        jw_count(JW_COUNT_TASKS_LOST);
}

void queues_leave(void)
{
    queues.is_on = queues.has_forks = false;
}

void queues_end(JNIEnv *jni)
{
    if (jni == NULL)
        return;
    if (queues.is_on)
        detach(jni, NAME);
    if (queues.has_forks)
        detach(jni, NAME_FORKS);
    queues_leave();
}
