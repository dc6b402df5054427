/*
 * Generations under threads and real signals: hooks and the handlers that interrupt them write
 * samples while a dump thread rotates, reads and clears. Each record says by its number what its
 * writer meant, so the dump side can check every id; and every attempt must come out as a record
 * taken or as one named loss.
 */
#include "generation/generation.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "generation/method_record.h"

#define WRITERS        8
#define NUMBERS        4000
#define MAX_DEPTH      60
#define MAX_NAME_BYTES 64
#define METHOD_ADDR    0x7f0000000000ull
#define ROTATIONS      1000
#define OVERLOADS      15

enum { HOOK, HANDLER, LEVELS };

/* One writing thread. The two levels never share a field that both write. */
struct writer {
    pthread_t thread;
    uint32_t tid;
    uint64_t random[LEVELS];
    uint64_t attempts[LEVELS];
    uint64_t committed[LEVELS];
    uint64_t names_refused[LEVELS]; /* attempts given up because a dictionary refused */
    uint64_t wrong[LEVELS];         /* ids that said something else than they should */
    /* Relaxed: of the hook, for the handlers that interrupt it: number of the generation that it is in; 0: none. */
    _Atomic uint64_t inside;
};

static struct generations *generations;
static struct writer writers[WRITERS];
static __thread struct writer *self;
static pthread_barrier_t all_started;
static _Atomic bool is_stopping;
static _Atomic uint32_t park_state; /* a futex: 0 nobody parks, else the enum below */
static uint64_t parked_generation;  /* its number; written before PARKED is */

#define ENTERING UINT64_MAX /* of `inside`: between claim and name, perhaps */

enum { PARK_WANTED = 1, PARKING, PARKED, PARK_OVER };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The name that belongs to a number; no two numbers share one. */
static size_t name_of(uint64_t number, unsigned char *name)
{
    const size_t length_bytes = 8 + number % (MAX_NAME_BYTES - 8);

    for (size_t i = 0; i < length_bytes; i++)
        name[i] = (unsigned char)(i < 8 ? number >> 8 * i : number * 7 + i);
    return length_bytes;
}

static dict_id intern_number(struct dict_table *table, uint64_t number)
{
    unsigned char name[MAX_NAME_BYTES];
    const size_t length_bytes = name_of(number, name);

    return dict_intern(table, name, length_bytes);
}

static bool is_name_of(const struct dict_table *table, dict_id id, uint64_t number)
{
    unsigned char name[MAX_NAME_BYTES];
    const size_t wanted_bytes = name_of(number, name);
    size_t length_bytes;
    const void *text = dict_text(table, id, &length_bytes);

    return text != NULL && length_bytes == wanted_bytes && memcmp(text, name, wanted_bytes) == 0;
}

static bool is_method_of(const struct generation *generation, dict_id id, uint64_t number)
{
    const struct method_record *record = method_record_get(generation->methods, id, NULL);

    return record != NULL && record->identity.const_method_addr == number &&
           is_name_of(generation->classes, record->class_name, number / 8) &&
           is_name_of(generation->symbols, record->name, number);
}

static dict_id find_method(struct generation *generation, uint64_t number)
{
    const uint64_t addr = METHOD_ADDR + 8 * number;
    dict_id id = dict_cache_find(generation->method_cache, addr);

    if (id != DICT_NONE)
        return id;

    struct method_record record = {.identity.const_method_addr = number};
    record.class_name = intern_number(generation->classes, number / 8);
    if (record.class_name == DICT_NONE)
        return DICT_NONE;
    record.name = intern_number(generation->symbols, number);
    if (record.name == DICT_NONE)
        return DICT_NONE;
    id = method_record_intern(generation->methods, &record);
    dict_cache_put(generation->method_cache, addr, id);
    return id;
}

static uint32_t frames_of(uint64_t number, dict_id method, jw_frame *frames)
{
    const uint32_t count = 1 + (uint32_t)(number % MAX_DEPTH);

    frames[0] = jw_frame_java(JW_FRAME_COMPILED, method, (int)(number % 1000));
    for (uint32_t i = 1; i < count; i++)
        frames[i] = jw_frame_native(number * MAX_DEPTH + i);
    return count;
}

/*
 * A handler for ever inside holds what it interrupted, too: another generation, or locks of the C library. So it may park
 * only in a hook of the same generation.
 */
static bool may_park(const struct writer *writer, uint64_t generation_number)
{
    return jw_load_relaxed(&writer->inside) == generation_number;
}

static void park(uint64_t generation_number)
{
    parked_generation = generation_number;
    /* order PARK: releases what the parked activation wrote. */
    jw_store_release(&park_state, PARKED);
    /* order PARK: acquires the end of the parking. */
    while (jw_load_acquire(&park_state) == PARKED)
        syscall(SYS_futex, &park_state, FUTEX_WAIT_PRIVATE, PARKED, NULL, NULL, 0);
}

/* One activation: a sample of a random number, committed or given up. */
static void write_sample(struct writer *writer, int level)
{
    const uint64_t number = next_random(&writer->random[level]) % NUMBERS;
    uint32_t wanted = PARK_WANTED;
    struct epoch_ticket ticket;

    writer->attempts[level]++;
    if (level == HOOK)
        jw_store_relaxed(&writer->inside, ENTERING);
    struct generation *generation = generation_enter(generations, writer->tid, &ticket);
    if (generation == NULL)
        goto out;

    const uint64_t generation_number = generation->number;
    if (level == HOOK)
        jw_store_relaxed(&writer->inside, generation_number);
    const uint64_t time_ns = jw_now_ns();
    const dict_id method = find_method(generation, number);
    if (method == DICT_NONE) {
        writer->names_refused[level]++;
        goto leave;
    }

    jw_frame frames[MAX_DEPTH];
    const uint32_t frame_count = frames_of(number, method, frames);
    const store_id trace = store_put(generation->traces, frames, frame_count, 0);
    if (trace == STORE_NONE)
        goto leave;

    struct event_record *record = event_reserve(generation->events);
    if (record == NULL)
        goto leave;
    record->kind = EVENT_CPU_SAMPLE;
    record->value = number;
    record->time_ns = time_ns;
    record->weight_ns = generation_number;
    record->trace = trace;
    if (level == HANDLER && may_park(writer, generation_number) &&
        jw_cas_acq_rel(&park_state, &wanted, PARKING))
        park(generation_number);

    writer->wrong[level] += !is_method_of(generation, method, number) ||
                            generation->number != generation_number || record->value != number;
    writer->committed[level]++;
    event_commit(record);
leave:
    generation_leave(generations, &ticket);
out:
    if (level == HOOK)
        jw_store_relaxed(&writer->inside, 0);
}

static void on_signal(int signal_number)
{
    const int saved_errno = errno;

    (void)signal_number;
    if (self != NULL)
        write_sample(self, HANDLER);
    errno = saved_errno;
}

/* Real profiling signals for the calling thread, from a timer on its CPU clock. */
static timer_t start_timer(void)
{
    const struct itimerspec interval = {{0, 1000000}, {0, 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    timer_t timer;

    event._sigev_un._tid = (int)gettid();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
        timer_settime(timer, 0, &interval, NULL) != 0)
        abort();
    return timer;
}

static void *run_writer(void *arg)
{
    struct writer *writer = arg;

    writer->tid = (uint32_t)gettid();
    self = writer;
    const timer_t timer = start_timer();
    pthread_barrier_wait(&all_started);
    /* Relaxed, here and below: a flag, nothing is read because of it. */
    while (!jw_load_relaxed(&is_stopping)) {
        write_sample(writer, HOOK);
        if (next_random(&writer->random[HOOK]) % 8 == 0)
            sched_yield();
    }
    timer_delete(timer);
    return NULL;
}

static void pause_1_ms(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Sends many more signals than timers can, and asks for figures. */
static void *run_disturber(void *arg)
{
    struct generations_stats stats;

    (void)arg;
    pthread_barrier_wait(&all_started);
    for (uint64_t round = 1; !jw_load_relaxed(&is_stopping); round++) {
        for (int i = 0; i < WRITERS; i++)
            syscall(SYS_tgkill, getpid(), writers[i].tid, SIGPROF);
        if (round % 100 == 0) {
            generations_stats(generations, &stats);
            (void)generations_is_half_full(generations);
        }
        /* With a processor of its own it would leave writers no time but that of handlers. */
        if (round % 64 == 0)
            pause_1_ms();
        sched_yield();
    }
    return NULL;
}

/* What the dump side found. */
struct findings {
    const struct generation *generation;
    uint64_t taken_count;
    uint64_t wrong_count;
};

static void check_record(const struct event_record *record, void *arg)
{
    struct findings *findings = arg;
    const struct generation *generation = findings->generation;
    struct store_trace trace;
    jw_frame wanted[MAX_DEPTH];

    findings->taken_count++;
    if (record->weight_ns != generation->number || record->time_ns < generation->start_ns ||
        !store_get(generation->traces, record->trace, &trace) || trace.frame_count == 0) {
        findings->wrong_count++;
        return;
    }
    const dict_id method = jw_frame_method(trace.frames[0]);
    const uint32_t count = frames_of(record->value, method, wanted);
    findings->wrong_count += trace.frame_count != count ||
                             memcmp(trace.frames, wanted, count * sizeof(jw_frame)) != 0 ||
                             !is_method_of(generation, method, record->value);
}

static bool take(struct generation *generation, void *arg)
{
    struct findings *findings = arg;

    findings->generation = generation;
    event_take(generation->events, check_record, findings);
    return true;
}

/* One turn of the dump thread; true when it rotated. */
static bool turn(struct findings *findings)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        take(closed, findings);
    generations_retire(generations, take, findings);
    return closed != NULL;
}

static uint64_t losses(void)
{
    return jw_counter(JW_COUNT_LOST_NO_CELL) + jw_counter(JW_COUNT_LOST_STORE_FULL) +
           jw_counter(JW_COUNT_LOST_EVENTS_FULL);
}

static uint64_t refusals(void)
{
    return jw_counter(JW_COUNT_DICT_FULL) + jw_counter(JW_COUNT_DICT_PROBE_LIMIT);
}

static pthread_t disturber;

static void start(void)
{
    const struct generations_config config = {.memory_bytes = GENERATIONS_MIN_BYTES};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct jw_error err = {0};

    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    sigemptyset(&action.sa_mask);
    cr_assert(eq(int, sigaction(SIGPROF, &action, NULL), 0));
    pthread_barrier_init(&all_started, NULL, WRITERS + 2);
    for (int i = 0; i < WRITERS; i++) {
        writers[i].random[HOOK] = 1000 + (uint64_t)i;
        writers[i].random[HANDLER] = 2000 + (uint64_t)i;
        cr_assert(eq(int, pthread_create(&writers[i].thread, NULL, run_writer, &writers[i]), 0));
    }
    cr_assert(eq(int, pthread_create(&disturber, NULL, run_disturber, NULL), 0));
    pthread_barrier_wait(&all_started);
}

/* Stops the threads, takes what is left, and holds the whole run against the conservation law. */
static void stop_and_check(struct findings *findings, const char *what)
{
    uint64_t attempts[LEVELS] = {0}, committed[LEVELS] = {0}, names_refused = 0, wrong = 0;

    jw_store_relaxed(&is_stopping, true);
    pthread_join(disturber, NULL);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        for (int level = 0; level < LEVELS; level++) {
            attempts[level] += writers[i].attempts[level];
            committed[level] += writers[i].committed[level];
            names_refused += writers[i].names_refused[level];
            wrong += writers[i].wrong[level];
        }
    }
    for (int i = 0; i < EPOCH_BUFFERS; i++)
        turn(findings);

    struct generations_stats stats;
    generations_stats(generations, &stats);
    fprintf(stderr,
            "%s: %llu from hooks, %llu from handlers, %llu taken (%llu late), lost: %llu no cell, "
            "%llu traces full, %llu records full, %llu names; %llu rotations, %llu put off\n",
            what, (unsigned long long)attempts[HOOK], (unsigned long long)attempts[HANDLER],
            (unsigned long long)findings->taken_count,
            (unsigned long long)jw_counter(JW_COUNT_LATE_RECORDS),
            (unsigned long long)jw_counter(JW_COUNT_LOST_NO_CELL),
            (unsigned long long)jw_counter(JW_COUNT_LOST_STORE_FULL),
            (unsigned long long)jw_counter(JW_COUNT_LOST_EVENTS_FULL),
            (unsigned long long)names_refused, (unsigned long long)jw_counter(JW_COUNT_GENERATIONS),
            (unsigned long long)jw_counter(JW_COUNT_ROTATION_PUT_OFF));
    cr_assert(eq(u64, wrong, 0), "ids seen by their writers");
    cr_assert(eq(u64, findings->wrong_count, 0), "ids seen by the dump thread");
    cr_assert(eq(u64, findings->taken_count, committed[HOOK] + committed[HANDLER]));
    cr_assert(eq(u64, refusals(), names_refused));
    cr_assert(eq(u64, attempts[HOOK] + attempts[HANDLER],
                 findings->taken_count + losses() + names_refused));
    cr_assert(ge(u64, committed[HANDLER], 1));
    cr_assert(eq(u32, stats.cells_taken, 0));
    cr_assert(eq(u64, stats.abandoned_count, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_INVARIANT_BROKEN), 0));
    generations_close(generations);
}

/* Criterion runs each test in a process of its own: counters and flags start at 0. */
TestSuite(generation_stress, .timeout = 1800);

Test(generation_stress, m47_every_record_resolves_and_every_attempt_is_accounted_for)
{
    struct findings findings = {0};

    start();
    for (int rotations = 0; rotations < ROTATIONS; pause_1_ms())
        rotations += turn(&findings);
    stop_and_check(&findings, "rotation each ms");
}

Test(generation_stress, a_full_generation_loses_by_name_and_nothing_else)
{
    struct findings findings = {0};

    start();
    for (int overload = 0; overload < OVERLOADS; overload++) {
        const uint64_t lost = losses() + refusals();

        while (losses() + refusals() < lost + 100)
            pause_1_ms();
        turn(&findings);
    }
    stop_and_check(&findings, "overload");
}

/* The generation of this number if it is closed, else NULL. */
static struct generation *closed_generation(uint64_t number)
{
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        enum epoch_state state;
        struct generation *generation = generations_at(generations, i, &state);

        if (state == EPOCH_CLOSED && generation->number == number)
            return generation;
    }
    return NULL;
}

Test(generation_stress, a_handler_parked_inside_holds_its_generation_and_no_other)
{
    struct findings findings = {0};

    start();
    /* order PARK: releases nothing; the next handler that has reserved a record parks. */
    jw_store_release(&park_state, PARK_WANTED);
    /* Nobody comes as far as to park in a generation that is full, so they are rotated meanwhile. */
    /* order PARK: acquires what the parked activation wrote. */
    while (jw_load_acquire(&park_state) != PARKED) {
        turn(&findings);
        pause_1_ms();
    }

    const struct generation *held = NULL;
    for (; held == NULL; held = closed_generation(parked_generation))
        turn(&findings);
    const uint32_t held_traces = store_last_id(held->traces);
    for (int rotations = 0; rotations < ROTATIONS / 2; pause_1_ms()) {
        rotations += turn(&findings);
        cr_assert(closed_generation(parked_generation) == held);
        cr_assert(ge(u32, store_last_id(held->traces), held_traces));
    }
    cr_assert(ge(u32, held_traces, 1));

    const uint64_t late = jw_counter(JW_COUNT_LATE_RECORDS);
    /* order PARK: releases the end of the parking. */
    jw_store_release(&park_state, PARK_OVER);
    syscall(SYS_futex, &park_state, FUTEX_WAKE_PRIVATE, WRITERS, NULL, NULL, 0);
    while (held->number == parked_generation)
        turn(&findings);
    cr_assert(ge(u64, jw_counter(JW_COUNT_LATE_RECORDS), late + 1), "the parked record at least");
    stop_and_check(&findings, "one handler parked");
}
