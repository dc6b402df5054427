/*
 * A storm of signals, ours and foreign, on threads that allocate, load foreign memory and read errno,
 * while the engine is stopped, drained, freed and started again.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "signals/signals.h"

#define WORKERS      3
#define CYCLES       60
#define CYCLE_NS     (10 * JW_NS_PER_MS)
#define SEND_PERIOD  50000 /* a signal to each worker: 20 kHz */
#define BUFFER_WORDS 1024
#define MARK         0x1234567890abcdefull

/* Thread sanitizer masks SIGSEGV in handlers, where a contained load would then end the process. */
#if defined(__SANITIZE_THREAD__)
#define CAN_FAULT_IN_HANDLER false
#else
#define CAN_FAULT_IN_HANDLER true
#endif

static struct jw_error err;
static pthread_t workers[WORKERS];
static _Atomic bool is_over;
static _Atomic uint64_t defects; /* what a worker or a handler found wrong */
static _Atomic uint64_t foreign_seen;

/* What engines write to, and what is freed when they are drained: plain memory, on purpose. */
static uint64_t *buffer;

static void take(const struct signals_event *event)
{
    uintptr_t word;
    uint64_t sum = 0;

    for (size_t i = 0; i < BUFFER_WORDS; i++)
        sum |= jw_load_relaxed((_Atomic uint64_t *)&buffer[i]) ^ MARK;
    jw_add_relaxed(&defects, sum != 0);
    if (CAN_FAULT_IN_HANDLER)
        jw_add_relaxed(&defects, safe_load_word(event->payload, &word));
    errno = ENOTTY;
    jw_count(JW_COUNT_SAMPLES);
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {.take = take};

static void take_foreign(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)ucontext;
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &defects)
        jw_add_relaxed(&defects, 1);
    jw_add_relaxed(&foreign_seen, 1);
}

static void *work(void *argument)
{
    const struct timespec pause = {.tv_nsec = 1000};
    uintptr_t word = 0;
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    while (!jw_load_relaxed(&is_over)) {
        uintptr_t *allocated = malloc(64);

        *allocated = MARK;
        errno = EXDEV;
        for (int i = 0; i < 20; i++) {
            if (!safe_load_word((uintptr_t)allocated, &word) || word != MARK ||
                safe_load_word((uintptr_t)1 << 63, &word))
                jw_add_relaxed(&defects, 1);
        }
        if (errno != EXDEV)
            jw_add_relaxed(&defects, 1);
        free(allocated);
        nanosleep(&pause, NULL); /* where thread sanitizer lets signals in */
        /* Thread sanitizer may have kept all blocked: burn_to_end of clock_runs.h says how. */
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    return argument;
}

static void *send(void *argument)
{
    const struct timespec pause = {.tv_nsec = SEND_PERIOD};
    uint64_t sent = 0;

    while (!jw_load_relaxed(&is_over)) {
        for (int i = 0; i < WORKERS; i++, sent++) {
            const union sigval ours = {.sival_ptr = (void *)signals_cookie((uint32_t)sent & 0xfff)};
            const union sigval foreign = {.sival_ptr = &defects};

            pthread_sigqueue(workers[i], sent % 3 ? SIGPROF : SIGVTALRM, ours);
            if (sent % 10 == 0)
                pthread_sigqueue(workers[i], SIGVTALRM, foreign);
        }
        nanosleep(&pause, NULL);
    }
    return argument;
}

static void fill_buffer(void)
{
    buffer = malloc(BUFFER_WORDS * sizeof *buffer);
    for (size_t i = 0; i < BUFFER_WORDS; i++)
        buffer[i] = MARK;
}

TestSuite(stress_signals, .timeout = 1800);

Test(stress_signals, a_storm_loses_nothing_unnamed_and_a_drained_engine_is_never_entered)
{
    const struct timespec cycle = {.tv_nsec = CYCLE_NS};
    struct sigaction before = {.sa_sigaction = take_foreign, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_t sender;
    uint64_t losses = 0;

    sigaction(SIGVTALRM, &before, NULL);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    cr_assert(signals_own(SIGPROF, &err) && signals_own(SIGVTALRM, &err), "%s", err.message);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    pthread_create(&sender, NULL, send, NULL);

    /* Where the processors are busy the sender may not come to it in each. */
    for (int i = 0; i < CYCLES || jw_counter(JW_COUNT_SAMPLES) == 0; i++) {
        fill_buffer();
        signals_start(&engine);
        nanosleep(&cycle, NULL);
        signals_stop();
        cr_assert(signals_drain(60 * JW_NS_PER_SECOND));
        /* Nobody may be inside: a handler that is would find other words, or freed ones. */
        for (size_t word = 0; word < BUFFER_WORDS; word++)
            buffer[word] = 0;
        free(buffer);
    }
    while (jw_counter(JW_COUNT_LOST_STOPPED) == 0 || jw_load_relaxed(&foreign_seen) == 0)
        nanosleep(&cycle, NULL);

    jw_store_relaxed(&is_over, true);
    pthread_join(sender, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        if (jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared)
            losses += jw_counter((enum jw_counter_id)id);

    cr_assert(jw_load_relaxed(&defects) == 0, "%lu defects",
              (unsigned long)jw_load_relaxed(&defects));
    cr_assert(jw_counter(JW_COUNT_SAMPLES) > 0 && jw_counter(JW_COUNT_LOST_STOPPED) > 0);
    cr_assert(jw_counter(JW_COUNT_SAMPLES) + losses == jw_counter(JW_COUNT_SIGNALS));
    cr_assert(jw_load_relaxed(&foreign_seen) > 0);
    cr_assert(jw_load_relaxed(&foreign_seen) == jw_counter(JW_COUNT_FOREIGN_SIGNALS));
    cr_log_info("%lu signals, %lu samples, %lu stopped, %lu foreign, %lu load faults",
                (unsigned long)jw_counter(JW_COUNT_SIGNALS),
                (unsigned long)jw_counter(JW_COUNT_SAMPLES),
                (unsigned long)jw_counter(JW_COUNT_LOST_STOPPED),
                (unsigned long)jw_counter(JW_COUNT_FOREIGN_SIGNALS),
                (unsigned long)jw_counter(JW_COUNT_LOAD_FAULTS));
}
