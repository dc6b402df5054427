/*
 * storm_writers - threads that write records from hooks and from handlers that interrupt them, hold them up, fork and die.
 *
 * For      test_storm.c: what a writer meant is in the record's number, and what became of each attempt in his figures.
 * Context  write_record: handler, hook.  The rest: any.
 * Memory   static.
 */
#ifndef JW_TESTS_STRESS_STORM_WRITERS_H
#define JW_TESTS_STRESS_STORM_WRITERS_H

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "epoch/epoch.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "signals/signals.h"
#include "stress/storm_names.h"

#if defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#define IS_DELAYED   true /* signals that wait together become one */
#define TIMER_NS     2000000
#define NAP_ONE_IN   2
#define STACK_BYTES  ((size_t)2 << 20)
#elif defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#define IS_DELAYED   false
#define TIMER_NS     1000000 /* a handler takes a tenth of that */
#define NAP_ONE_IN   16
#define STACK_BYTES  ((size_t)512 << 10)
#else
#define IS_SANITIZED false
#define IS_DELAYED   false
#define TIMER_NS     100000
#define NAP_ONE_IN   16
#define STACK_BYTES  ((size_t)512 << 10)
#endif

#define WRITERS     16
#define TIMERS      2
#define LIFE_NS     (2 * JW_NS_PER_MS)
#define LIVES       16 /* a thread lives for up to so many LIFE_NS */
#define MAX_DEPTH   40
#define HOT_NUMBERS 4096
/* A prime, so that all numbers come to be the first. */
#define NUMBERS_AT_A_TIME 61u
#define BREATH_NS         ((long)20 * TIMER_NS)
#define BREATH_AFTER      200 /* signals, in which the thread itself came to nothing */
#define CHILD_ROUNDS      5
#define CHILD_SIGNALS     10

/* Flags of a record: which of its names a dictionary refused. */
enum { NO_CLASS = 1, NO_ENDPOINT = 2, NO_CONTEXT = 4 };

/* HOOK calls INNER now and then; HANDLER interrupts both. */
enum { HOOK, INNER, HANDLER, LEVELS };

/* Where a level of a thread is: in the generation of this number, or one of these. */
enum { OUTSIDE = 0 };
#define ENTERING UINT64_MAX

enum { PARK_WANTED = 1, PARKING, PARKED, PARK_OVER };

/* One writing thread after the other. No two levels write to one field, but `inside` is read by all of its thread. */
struct writer {
    pthread_t thread;
    timer_t timers[TIMERS];
    _Atomic uint32_t timer_count; /* Relaxed: its own thread's */
    _Atomic bool is_out_of_breath;
    uint64_t signals_since, steps_at_signal; /* handler alone */
    uint64_t breaths;
    uint32_t index;
    uint32_t tid;
    bool is_joinable; /* nursery alone, and `births` */
    uint64_t births;
    _Atomic bool is_over; /* Relaxed: whoever joins is the thread that reads on */
    _Atomic uint64_t inside[LEVELS];
    uint64_t random[LEVELS];
    uint64_t attempts[LEVELS];
    uint64_t committed[LEVELS];
    uint64_t serials[LEVELS]; /* sum of the hashes of committed serials */
    uint64_t no_cell[LEVELS];
    uint64_t no_trace[LEVELS];
    uint64_t no_record[LEVELS];
    uint64_t wrong[LEVELS]; /* ids that said something else than they should, to their writer */
    uint64_t deaths;
    uint64_t forks;
    uint64_t bad_children;
};

static struct generations *generations;
static struct writer writers[WRITERS];
static unsigned char stacks[WRITERS][STACK_BYTES] __attribute__((aligned(4096)));
static __thread struct writer *self;
/* Relaxed: nothing is read because of them. */
static _Atomic bool is_full_throttle;
static _Atomic uint64_t next_number;
static _Atomic uint32_t park_state; /* a futex: 0 nobody parks, else the enum */
static uint64_t parked_generation;  /* its number; written before PARKED is */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void write_record(struct writer *writer, int level, enum event_kind kind);

/* Holds an activation up: what the scheduler does now and then happens all the time. */
static void hold_up(struct writer *writer, int level)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const uint64_t choice = next_random(&writer->random[level]) % 2048;

    if (choice == 0) {
        syscall(SYS_nanosleep, &pause, NULL);
    } else if (choice <= 4) {
        syscall(SYS_sched_yield);
    } else if (choice <= 12) {
        for (const uint64_t end_ns = jw_now_ns() + 30000; jw_now_ns() < end_ns;)
            ;
    } else if (choice <= 50 && level == HOOK) {
        write_record(writer, INNER, EVENT_SPAN);
    }
}

/* In the middle of a rotation, and before a claim: of the epoch that tests/stress/wrong makes. */
void storm_pause(void);
void storm_pause(void)
{
    const uint64_t choice = jw_hash_word(jw_now_ns());
    const long writer_ns = (long)(1 + choice / 2048 % 8) * 1000000;
    const struct timespec pause = {.tv_nsec = self != NULL ? writer_ns : 50000};

    if (self == NULL || choice % 2048 == 0)
        syscall(SYS_nanosleep, &pause, NULL);
}

/*
 * Where a buffer is chosen and not yet named, until it is free: what may only happen there is seen however slowly the
 * machine rotates. At most so long, for where that is right it never comes.
 */
void storm_pause_until_free(const struct epoch *epoch, uint32_t buffer, uint64_t most_ms);
void storm_pause_until_free(const struct epoch *epoch, uint32_t buffer, uint64_t most_ms)
{
    const struct timespec look = {.tv_nsec = 100000};
    const uint64_t begin_ns = jw_now_ns();

    if (self == NULL || jw_hash_word(begin_ns) % 2048 != 0)
        return;
    while (epoch_state(epoch, (int)buffer) != EPOCH_FREE &&
           jw_now_ns() - begin_ns < most_ms * JW_NS_PER_MS)
        syscall(SYS_nanosleep, &look, NULL);
}

/* Of each some numbers in turn the first that never was a name, so that all come soon; and many times those that others use too. */
static uint32_t pick_number(struct writer *writer, int level)
{
    const uint64_t choice = next_random(&writer->random[level]);

    if (choice % 4 == 0)
        return (uint32_t)(choice >> 8) % HOT_NUMBERS;
    const uint64_t first = jw_add_relaxed(&next_number, NUMBERS_AT_A_TIME);
    for (uint32_t i = 0; i < NUMBERS_AT_A_TIME; i++) {
        const uint32_t number = (uint32_t)((first + i) % STORM_NAMES);

        if (!storm_was_there(number))
            return number;
    }
    return (uint32_t)(first % STORM_NAMES);
}

static uint32_t frames_of(uint32_t number, jw_frame *frames)
{
    const uint32_t count = 1 + number % MAX_DEPTH;

    for (uint32_t i = 0; i < count; i++)
        frames[i] = jw_frame_native((uint64_t)number * MAX_DEPTH + i);
    return count;
}

/*
 * A handler may park only in a hook of the same generation. Where its thread holds another one, or is between claim and
 * name, two generations would be held. And anywhere else it may have interrupted the C library (a fork, the birth of a
 * thread), whose locks would be held with it: whoever allocates then waits for as long, as does a test that has failed.
 */
static bool may_park(const struct writer *writer, uint64_t generation_number)
{
    const uint64_t inner = jw_load_relaxed(&writer->inside[INNER]);

    return jw_load_relaxed(&writer->inside[HOOK]) == generation_number &&
           (inner == OUTSIDE || inner == generation_number);
}

static void park_if_wanted(const struct writer *writer, uint64_t generation_number)
{
    uint32_t wanted = PARK_WANTED;

    if (jw_load_relaxed(&park_state) != PARK_WANTED || !may_park(writer, generation_number) ||
        !jw_cas_acq_rel(&park_state, &wanted, PARKING))
        return;
    parked_generation = generation_number;
    /* order PARK: releases what the parked activation wrote. */
    jw_store_release(&park_state, PARKED);
    /* order PARK: acquires the end of the parking. */
    while (jw_load_acquire(&park_state) == PARKED)
        syscall(SYS_futex, &park_state, FUTEX_WAIT_PRIVATE, PARKED, NULL, NULL, 0);
}

/* The thread ends as if it were killed, in the middle of an activation; its timers are the nursery's. */
static void die(struct writer *writer)
{
    writer->deaths++;
    jw_store_relaxed(&writer->inside[HOOK], OUTSIDE);
    jw_store_relaxed(&writer->is_over, true);
    syscall(SYS_exit, 0);
}

static bool is_right(const struct generation *generation, const struct event_record *record)
{
    const uint32_t number = (uint32_t)record->value;

    return record->weight_ns == generation->number && record->time_ns >= generation->start_ns &&
           ((record->flags & NO_CLASS)
                ? record->class_name == DICT_NONE
                : storm_is_name(generation, STORM_CLASSES, record->class_name, number)) &&
           ((record->flags & NO_ENDPOINT)
                ? record->name == DICT_NONE
                : storm_is_name(generation, STORM_ENDPOINTS, record->name, number / 8)) &&
           ((record->flags & NO_CONTEXT) ? record->context == DICT_NONE
                                         : storm_is_context(generation, record->context, number));
}

static void fill_record(struct writer *writer, int level, struct generation *generation,
                        struct storm_ledger *ledger, struct event_record *record)
{
    const uint32_t number = (uint32_t)record->value;
    uint64_t refused = 0;

    record->class_name = storm_intern(generation, ledger, STORM_CLASSES, number);
    hold_up(writer, level);
    record->name = storm_intern(generation, ledger, STORM_ENDPOINTS, number / 8);
    record->context = storm_intern_context(generation, ledger, number, &refused);
    record->flags =
        (uint16_t)((record->class_name == DICT_NONE ? NO_CLASS : 0) |
                   (record->name == DICT_NONE ? NO_ENDPOINT : 0) | (refused != 0 ? NO_CONTEXT : 0));
}

/* All but `progress`, which belongs to the room. */
static void copy_record(struct event_record *record, const struct event_record *made)
{
    record->kind = made->kind;
    record->flags = made->flags;
    record->thread_serial = made->thread_serial;
    record->time_ns = made->time_ns;
    record->weight_ns = made->weight_ns;
    record->value = made->value;
    record->trace = made->trace;
    record->class_name = made->class_name;
    record->context = made->context;
    record->name = made->name;
}

/* The part inside the generation. */
static void write_inside(struct writer *writer, int level, struct generation *generation,
                         struct storm_ledger *ledger, struct event_record *made)
{
    jw_frame frames[MAX_DEPTH];

    hold_up(writer, level);
    fill_record(writer, level, generation, ledger, made);
    if (level == HANDLER) {
        const uint32_t frame_count = frames_of((uint32_t)made->value, frames);

        made->trace = store_put(generation->traces, frames, frame_count, 0);
        if (made->trace == STORE_NONE) {
            writer->no_trace[level]++;
            return;
        }
    }

    struct event_record *record = level == HANDLER ? event_reserve(generation->events)
                                                   : event_try_reserve(generation->events);
    if (record == NULL) {
        writer->no_record[level]++;
        return;
    }
    if (!IS_SANITIZED && level == HOOK && next_random(&writer->random[level]) % 50000 == 0)
        die(writer);
    copy_record(record, made);
    hold_up(writer, level);
    if (level == HANDLER)
        park_if_wanted(writer, made->weight_ns);
    writer->wrong[level] += generation->number != made->weight_ns || !is_right(generation, record);
    writer->committed[level]++;
    writer->serials[level] += jw_hash_word(record->thread_serial);
    event_commit(record);
    if (level == HANDLER)
        jw_count(JW_COUNT_SAMPLES);
    hold_up(writer, level);
}

/* One activation: a record of some number, committed or given up by name. */
static void write_record(struct writer *writer, int level, enum event_kind kind)
{
    struct epoch_ticket ticket;
    struct event_record made = {
        .kind = (uint16_t)kind,
        .value = pick_number(writer, level),
        .thread_serial =
            (uint64_t)writer->index << 56 | (uint64_t)level << 48 | writer->attempts[level]++,
    };

    jw_store_relaxed(&writer->inside[level], ENTERING);
    struct generation *generation = level == HANDLER
                                        ? generation_enter(generations, writer->tid, &ticket)
                                        : generation_try_enter(generations, writer->tid, &ticket);
    if (generation == NULL) {
        writer->no_cell[level]++;
    } else {
        made.weight_ns = generation->number;
        made.time_ns = jw_now_ns();
        jw_store_relaxed(&writer->inside[level], made.weight_ns);
        write_inside(writer, level, generation, &storm_ledgers[ticket.buffer], &made);
        generation_leave(generations, &ticket);
    }
    jw_store_relaxed(&writer->inside[level], OUTSIDE);
}

static void set_timers(struct writer *writer, long period_ns)
{
    const struct itimerspec interval = {{period_ns / 1000000000, period_ns % 1000000000},
                                        {period_ns / 1000000000, period_ns % 1000000000}};

    for (uint32_t i = 0; i < jw_load_relaxed(&writer->timer_count); i++)
        timer_settime(writer->timers[i], 0, &interval, NULL);
}

/*
 * Where two handlers take longer than a period, as on a machine that others want too, one signal is there when the other has
 * been taken, for ever: the thread would never leave its hook. Then it has fewer until it has.
 */
static void breathe(struct writer *writer)
{
    const uint64_t steps = writer->attempts[HOOK];

    writer->signals_since = steps == writer->steps_at_signal ? writer->signals_since + 1 : 0;
    writer->steps_at_signal = steps;
    if (writer->signals_since < BREATH_AFTER)
        return;
    writer->signals_since = 0; /* and again, should one have been set to its period meanwhile */
    jw_store_relaxed(&writer->is_out_of_breath, true);
    writer->breaths++;
    set_timers(writer, BREATH_NS);
}

static void have_breath(struct writer *writer)
{
    if (!jw_load_relaxed(&writer->is_out_of_breath))
        return;
    set_timers(writer, TIMER_NS);
    jw_store_relaxed(&writer->is_out_of_breath, false);
}

static void take_signal(const struct signals_event *event)
{
    if (self == NULL || self->index != event->payload) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    write_record(self, HANDLER, event->signo == SIGPROF ? EVENT_CPU_SAMPLE : EVENT_WALL_SAMPLE);
    breathe(self);
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {.take = take_signal};

/* Both signals for the calling thread. Of CLOCK_MONOTONIC: the kernel looks at CPU clocks once a tick only. */
static void start_timers(struct writer *writer)
{
    const struct itimerspec interval = {{0, TIMER_NS}, {0, TIMER_NS}};
    const int numbers[TIMERS] = {SIGPROF, SIGVTALRM};

    jw_store_relaxed(&writer->timer_count, 0);
    jw_store_relaxed(&writer->is_out_of_breath, false);
    for (int i = 0; i < TIMERS; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = numbers[i]};

        event.sigev_value.sival_ptr = (void *)signals_cookie(writer->index);
        event._sigev_un._tid = (int)writer->tid;
        if (timer_create(CLOCK_MONOTONIC, &event, &writer->timers[i]) != 0 ||
            timer_settime(writer->timers[i], 0, &interval, NULL) != 0)
            abort();
        jw_store_relaxed(&writer->timer_count, (uint32_t)i + 1);
    }
}

/* A child runs on for a while, gets signals of ours, counts them and touches nothing. */
static void run_child(const struct writer *writer)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t forked = jw_counter(JW_COUNT_LOST_FORKED);
    const uint64_t attempts = writer->attempts[HANDLER];
    const int tid = (int)syscall(SYS_gettid);
    bool is_good = true;

    for (int round = 0; round < CHILD_ROUNDS; round++) {
        for (int i = 0; i < CHILD_SIGNALS; i++)
            is_good &= os_signal_thread(tid, i % 2 == 0 ? SIGPROF : SIGVTALRM,
                                        signals_cookie(writer->index));
        nanosleep(&pause, NULL); /* where thread sanitizer lets signals in, too */
    }
    const uint64_t came = jw_counter(JW_COUNT_LOST_FORKED) - forked;
    is_good &= IS_DELAYED ? came >= 1 : came == CHILD_ROUNDS * CHILD_SIGNALS;
    _exit(is_good && writer->attempts[HANDLER] == attempts ? 0 : 1);
}

static void run_fork(struct writer *writer)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        run_child(writer);
    writer->forks++;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    writer->bad_children += child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void *run_writer(void *arg)
{
    const struct timespec nap = {.tv_nsec = 200000};
    struct writer *writer = arg;

    writer->tid = (uint32_t)os_gettid();
    self = writer;
    start_timers(writer);
    const uint64_t lives = 1 + next_random(&writer->random[HOOK]) % LIVES;
    for (const uint64_t end_ns = jw_now_ns() + lives * LIFE_NS; jw_now_ns() < end_ns;) {
        write_record(writer, HOOK, EVENT_ENDPOINT);
        have_breath(writer);
        if (next_random(&writer->random[HOOK]) % NAP_ONE_IN == 0) {
            if (jw_load_relaxed(&is_full_throttle))
                sched_yield();
            else
                nanosleep(&nap, NULL);
        }
    }
    if (next_random(&writer->random[HOOK]) % 64 == 0)
        run_fork(writer);
    jw_store_relaxed(&writer->is_over, true);
    return NULL;
}

#endif
