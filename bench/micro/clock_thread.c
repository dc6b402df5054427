/*
 * clock_thread - what the thread that compares clocks costs, against signalling every thread.
 *
 * Usage: clock_thread [seconds]. Prints, in Markdown, microseconds of CPU a turn of 10 ms with many threads that wait
 * and eight that run, and the share of a processor that CPU sampling takes at small intervals. Built and run by bench/micro/run.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"

#define TURN_NS     (10 * JW_NS_PER_MS)
#define STACK_BYTES (64 << 10)
#define THREADS_MAX 5008

static struct generations *generations;
static pthread_t threads[THREADS_MAX];
static _Atomic int tids[THREADS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic bool must_end;

static void die(const char *what)
{
    fprintf(stderr, "clock_thread: %s\n", what);
    exit(1);
}

static void *wait_for_end(void *number)
{
    jw_store_relaxed(&tids[(uintptr_t)number], os_gettid());
    pthread_mutex_lock(&lock);
    while (!jw_load_relaxed(&must_end))
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *run_until_end(void *number)
{
    jw_store_relaxed(&tids[(uintptr_t)number], os_gettid());
    while (!jw_load_relaxed(&must_end))
        ;
    return NULL;
}

static void begin_threads(int waiting, int running)
{
    pthread_attr_t attributes;

    jw_store_relaxed(&must_end, false);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (intptr_t i = 0; i < waiting + running; i++) {
        jw_store_relaxed(&tids[i], 0);
        if (pthread_create(&threads[i], &attributes, i < waiting ? wait_for_end : run_until_end,
                           (void *)i) != 0)
            die("no more threads");
    }
    for (int i = 0; i < waiting + running; i++)
        while (jw_load_relaxed(&tids[i]) == 0)
            usleep(1000);
}

static void end_threads(int count)
{
    pthread_mutex_lock(&lock);
    jw_store_relaxed(&must_end, true);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static uint64_t cpu_of(int tid)
{
    uint64_t cpu_ns = 0;

    return os_thread_cpu_ns(tid, &cpu_ns) ? cpu_ns : 0;
}

static bool note_clock_thread(int tid, void *found)
{
    char name[OS_TASK_NAME_BYTES];

    if (os_task_name(tid, name) && strcmp(name, "jaywalk clock") == 0)
        *(int *)found = tid;
    return true;
}

static void drop(const struct event_record *record, void *argument)
{
    (void)record;
    (void)argument;
}

static bool drop_all(struct generation *generation, void *argument)
{
    event_take(generation->events, drop, argument);
    return true;
}

static void rotate(void)
{
    (void)generations_rotate(generations);
    (void)generations_retire(generations, drop_all, NULL);
}

struct cost {
    double own_us;     /* of the sampler thread, a turn */
    double process_us; /* of all threads, but for those that run */
    double signals;    /* a turn */
};

static double us_a_turn(uint64_t spent_ns, uint64_t turns)
{
    return (double)spent_ns / (double)turns / 1000;
}

static uint64_t running_ns(int waiting, int running)
{
    uint64_t sum = 0;

    for (int i = waiting; i < waiting + running; i++)
        sum += cpu_of(jw_load_relaxed(&tids[i]));
    return sum;
}

static struct cost with_sampler(const struct sampler_config *config, int waiting, int running,
                                int seconds)
{
    struct jw_error err = {0};
    int tid = 0;

    if (!sampler_start(config, &err))
        die(err.message);
    if (!os_tasks_each(note_clock_thread, &tid, NULL) || tid == 0)
        die("there is no sampler thread");
    /* Until each has its first sample: 16 threads a turn. */
    for (int i = 0; i < (waiting + running) / 16 / 20 + 3; i++) {
        usleep(200000);
        rotate();
    }
    const uint64_t begin_ns = jw_now_ns(), own_ns = cpu_of(tid), all_ns = os_process_cpu_ns();
    const uint64_t others_ns = running_ns(waiting, running);
    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    for (int i = 0; i < seconds; i++) {
        sleep(1);
        rotate();
    }
    const uint64_t turns = (jw_now_ns() - begin_ns) / TURN_NS;
    const struct cost cost = {
        us_a_turn(cpu_of(tid) - own_ns, turns),
        us_a_turn(os_process_cpu_ns() - all_ns - (running_ns(waiting, running) - others_ns), turns),
        (double)(jw_counter(JW_COUNT_SIGNALS) - signals) / (double)turns,
    };
    if (!sampler_stop(10 * JW_NS_PER_SECOND))
        die("a handler did not come back");
    rotate();
    rotate();
    return cost;
}

static void ignore(int signo)
{
    (void)signo;
}

/* The least that whoever signals every thread each turn does, with a handler that does nothing. */
static struct cost with_signals(int waiting, int running, int seconds)
{
    const struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    uint64_t turns = 0;

    sigaction(SIGUSR1, &action, NULL);
    const uint64_t begin_ns = jw_now_ns(), own_ns = cpu_of(os_gettid()),
                   all_ns = os_process_cpu_ns();
    const uint64_t others_ns = running_ns(waiting, running);
    for (; jw_now_ns() - begin_ns < (uint64_t)seconds * JW_NS_PER_SECOND; turns++) {
        const uint64_t next_ns = jw_now_ns() + TURN_NS;

        for (int i = 0; i < waiting + running; i++)
            if (!os_signal_thread(jw_load_relaxed(&tids[i]), SIGUSR1, 0))
                die("a thread takes no signal");
        const uint64_t now_ns = jw_now_ns();
        if (now_ns < next_ns)
            usleep((useconds_t)((next_ns - now_ns) / 1000));
    }
    return (struct cost){
        us_a_turn(cpu_of(os_gettid()) - own_ns, turns),
        us_a_turn(os_process_cpu_ns() - all_ns - (running_ns(waiting, running) - others_ns), turns),
        waiting + running,
    };
}

static void wall_row(int waiting, int running, int seconds)
{
    const struct sampler_config config = {
        .generations = generations,
        .cpu = SAMPLER_CPU_NONE,
        .interval_ns = TURN_NS,
        .wall_interval_ns = TURN_NS,
        .depth_max = 64,
        .with_native = true,
    };

    begin_threads(waiting, running);
    const struct cost ours = with_sampler(&config, waiting, running, seconds);
    const struct cost all = with_signals(waiting, running, seconds);
    end_threads(waiting + running);
    printf("| %d + %d | %.1f us | %.1f us | %.1f | %.1f us | %.1f us | %.2f | %.2f |\n", waiting,
           running, ours.own_us, ours.process_us, ours.signals, all.own_us, all.process_us,
           ours.own_us / all.own_us, ours.process_us / all.process_us);
}

static void fine_row(uint64_t interval_ns, int waiting, int running, int seconds)
{
    const struct sampler_config config = {
        .generations = generations,
        .cpu = SAMPLER_CPU_FINE,
        .interval_ns = interval_ns,
        .depth_max = 64,
        .with_native = true,
    };
    const uint64_t turns_in_10_ms = TURN_NS / interval_ns;

    begin_threads(waiting, running);
    const struct cost cost = with_sampler(&config, waiting, running, seconds);
    end_threads(waiting + running);
    printf("| %llu us | %d + %d | %.2f %% | %.1f | %.2f us |\n",
           (unsigned long long)(interval_ns / 1000), waiting, running, cost.own_us / 100,
           cost.signals * 100, cost.own_us / (double)turns_in_10_ms);
}

int main(int count, char **words)
{
    const int seconds = count > 1 ? atoi(words[1]) : 5;
    const struct generations_config memory = {.memory_bytes = 0};
    static const uint64_t intervals_ns[] = {100000, 250000, 500000, 1000000, 2000000, 4000000};
    struct jw_error err = {0};

    generations = generations_open(&memory, &err);
    if (generations == NULL || seconds <= 0)
        die(err.message);
    walk_open_none();
    printf("| threads waiting + running | sampler thread | process | signals | all signalled: "
           "sender | "
           "process | ratio, thread | ratio, process |\n"
           "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    wall_row(16, 0, seconds);
    wall_row(500, 0, seconds);
    wall_row(5000, 0, seconds);
    wall_row(492, 8, seconds);
    printf(
        "\n| interval of CPU time | threads waiting + running | sampler thread, of a processor | "
        "signals a second | a turn |\n| ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < JW_COUNT_OF(intervals_ns); i++)
        fine_row(intervals_ns[i], 16, 1, seconds);
    fine_row(1000000, 500, 1, seconds);
    fine_row(1000000, 16, 0, seconds);
    return 0;
}
