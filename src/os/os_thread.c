/* Own threads and a wake-up on a futex; os_wake_post also runs in handlers. */
#include "os/os_thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/memory.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"

/* Room for the JVM's guard pages when the thread attaches, and for libunwind. */
#define STACK_BYTES ((size_t)1 << 20)

/* Those beyond are not known as ours. */
#define OWN_THREADS_MAX 16

/*
 *           wait              post: futex wake
 *   IDLE ----------> SLEEPING -----------------> POSTED
 *    ^  \---------------- post --------------------^ |
 *    \------------- wait, returns true --------------/
 */
enum { WAKE_IDLE, WAKE_SLEEPING, WAKE_POSTED };

void os_wake_init(struct os_wake *wake)
{
    jw_store_relaxed(&wake->state, WAKE_IDLE);
}

void os_wake_post(struct os_wake *wake)
{
    /* order WAKE: releases what the poster did before; acquires nothing that matters. */
    if (jw_exchange_acq_rel(&wake->state, WAKE_POSTED) == WAKE_SLEEPING)
        (void)syscall(SYS_futex, &wake->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* Sleeps while the state is SLEEPING; true when the deadline came. */
static bool sleep_until(struct os_wake *wake, uint64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / JW_NS_PER_SECOND),
                                .tv_nsec = (long)(deadline_ns % JW_NS_PER_SECOND)};

    /* FUTEX_WAIT_BITSET takes an absolute time, of CLOCK_MONOTONIC unless told otherwise. */
    const long result =
        syscall(SYS_futex, &wake->state, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, WAKE_SLEEPING,
                deadline_ns == OS_WAKE_NEVER ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    return result != 0 && errno == ETIMEDOUT;
}

bool os_wake_wait(struct os_wake *wake, uint64_t deadline_ns)
{
    bool is_late = false;

    for (;;) {
        uint32_t state = WAKE_POSTED;

        /* order WAKE: acquires what os_wake_post released, the poster's work. */
        if (jw_cas_acq_rel(&wake->state, &state, WAKE_IDLE))
            return true;
        if (is_late) {
            /* order WAKE: acquires nothing. A post between the two tries is for the next turn. */
            if (state == WAKE_IDLE || jw_cas_acq_rel(&wake->state, &state, WAKE_IDLE))
                return false;
            continue;
        }
        /* order WAKE: acquires nothing; a post that comes first makes this fail, and is taken above. */
        if (state == WAKE_IDLE && !jw_cas_acq_rel(&wake->state, &state, WAKE_SLEEPING))
            continue;
        is_late = sleep_until(wake, deadline_ns);
    }
}

/* Relaxed: a number stands here while its thread runs; who asks about a thread that begins or ends at
 * the same moment gets either answer. Written under `own.lock`. */
static _Atomic int own_tids[OWN_THREADS_MAX];

/* A thread's time is in the sum by its clock until it is there as that of an ended one: what is asked for never falls. */
static struct {
    pthread_mutex_t lock;             /* around all of this */
    uint32_t places[OWN_THREADS_MAX]; /* of the names, for each of `own_tids` */
    struct {
        const char *name;  /* a constant; NULL: nobody's. A place stays with its name */
        uint64_t ended_ns; /* CPU time of threads of this name that have ended */
    } names[OWN_THREADS_MAX];
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. OWN_THREADS_MAX: there is none left. */
static uint32_t place_of(const char *name)
{
    for (uint32_t i = 0; i < OWN_THREADS_MAX; i++) {
        if (own.names[i].name == NULL)
            own.names[i].name = name;
        if (strcmp(own.names[i].name, name) == 0)
            return i;
    }
    return OWN_THREADS_MAX;
}

static void begin_own(int tid, const char *name)
{
    pthread_mutex_lock(&own.lock);
    for (size_t i = 0; i < OWN_THREADS_MAX; i++) {
        if (jw_load_relaxed(&own_tids[i]) != 0)
            continue;
        own.places[i] = place_of(name);
        jw_store_relaxed(&own_tids[i], tid);
        break;
    }
    pthread_mutex_unlock(&own.lock);
}

static void end_own(int tid)
{
    uint64_t cpu_ns;

    pthread_mutex_lock(&own.lock);
    for (size_t i = 0; i < OWN_THREADS_MAX; i++) {
        if (jw_load_relaxed(&own_tids[i]) != tid)
            continue;
        if (own.places[i] < OWN_THREADS_MAX && os_thread_cpu_ns(tid, &cpu_ns))
            own.names[own.places[i]].ended_ns += cpu_ns;
        jw_store_relaxed(&own_tids[i], 0);
    }
    pthread_mutex_unlock(&own.lock);
}

uint64_t os_thread_own_cpu_ns(const char *name)
{
    uint64_t sum_ns = 0, cpu_ns;

    pthread_mutex_lock(&own.lock);
    const uint32_t place = place_of(name);
    for (size_t i = 0; i < OWN_THREADS_MAX && place < OWN_THREADS_MAX; i++) {
        const int tid = jw_load_relaxed(&own_tids[i]);

        if (tid != 0 && own.places[i] == place && os_thread_cpu_ns(tid, &cpu_ns))
            sum_ns += cpu_ns;
    }
    if (place < OWN_THREADS_MAX)
        sum_ns += own.names[place].ended_ns;
    pthread_mutex_unlock(&own.lock);
    return sum_ns;
}

bool os_thread_is_own(int tid)
{
    for (size_t i = 0; i < OWN_THREADS_MAX; i++)
        if (jw_load_relaxed(&own_tids[i]) == tid)
            return tid != 0;
    return false;
}

/* Its stack counts as ours as long as it runs. */
static void *note_stack(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return NULL;
    if (pthread_attr_getstack(&attributes, &stack, &bytes) == 0)
        jw_memory_note(JW_MEMORY_CONTROL, stack, bytes);
    pthread_attr_destroy(&attributes);
    return stack;
}

static void *run(void *argument)
{
    struct os_thread *thread = argument;
    const int tid = os_gettid();
    void *stack = note_stack();

    (void)pthread_setname_np(pthread_self(), thread->name);
    begin_own(tid, thread->label);
    thread->tid = tid;
    os_wake_post(&thread->begun);
    thread->body(thread->argument);
    end_own(tid);
    jw_memory_forget(stack);
    jw_memory_credit(JW_MEMORY_CONTROL, STACK_BYTES);
    os_wake_post(&thread->ended);
    return NULL;
}

/* A new thread starts with the mask of its creator: there is no instant in which it takes signals. */
static int create_masked(struct os_thread *thread, const pthread_attr_t *attributes)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked;
    sigset_t previous;

    sigfillset(&blocked);
    for (size_t i = 0; i < JW_COUNT_OF(faults); i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &previous);
    const int reason = pthread_create(&thread->handle, attributes, run, thread);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return reason;
}

bool os_thread_start(struct os_thread *thread, const char *name, void (*body)(void *argument),
                     void *argument, struct jw_error *err)
{
    pthread_attr_t attributes;

    thread->body = body;
    thread->argument = argument;
    thread->is_joinable = false;
    os_wake_init(&thread->begun);
    os_wake_init(&thread->ended);
    thread->label = name;
    snprintf(thread->name, sizeof thread->name, "%s", name);

    if (!jw_memory_charge(JW_MEMORY_CONTROL, STACK_BYTES)) {
        jw_error_set(err,
                     "cannot start thread %s: memlimit leaves no room for its stack; try a "
                     "larger one",
                     thread->name);
        return false;
    }
    int reason = pthread_attr_init(&attributes);
    if (reason == 0) {
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        reason = create_masked(thread, &attributes);
        pthread_attr_destroy(&attributes);
    }
    if (reason != 0) {
        jw_memory_credit(JW_MEMORY_CONTROL, STACK_BYTES);
        jw_error_set(err, "cannot start thread %s: %s; %s", thread->name, strerror(reason),
                     reason == EAGAIN ? "the limit of threads (ulimit -u, pids.max) or memory is "
                                        "reached"
                                      : "try again with less load");
        return false;
    }
    thread->is_joinable = true;
    (void)os_wake_wait(&thread->begun, OS_WAKE_NEVER);
    return true;
}

bool os_thread_join(struct os_thread *thread, uint64_t deadline_ns)
{
    if (!thread->is_joinable)
        return true;
    if (!os_wake_wait(&thread->ended, deadline_ns))
        return false;
    /* Past its last post the thread only unwinds: this wait is short. */
    pthread_join(thread->handle, NULL);
    thread->is_joinable = false;
    return true;
}

uint64_t os_thread_wanted_cpu_ns(const struct os_thread *thread)
{
    struct os_task_facts facts;

    return os_task_facts(thread->tid, &facts) ? facts.cpu_ns + facts.waited_ns : 0;
}

void os_thread_detach(struct os_thread *thread)
{
    if (thread->is_joinable)
        pthread_detach(thread->handle);
    thread->is_joinable = false;
}
