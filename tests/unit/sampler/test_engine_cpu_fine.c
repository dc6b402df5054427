/* CPU samples by comparing clocks, on real threads. */
#include <sys/resource.h>

#include "unit/sampler/burning.h"

#define INTERVAL_NS (500000)

/* An interval that samples of a thread stand apart, and how many threads live. */
#define RENEWED_NS    (20 * JW_NS_PER_MS)
#define RENEWED_COUNT 8

TestSuite(engine_cpu_fine, .init = open_run, .timeout = 1800);

Test(engine_cpu_fine, weights_of_a_thread_sum_to_its_clock_at_its_last_sample)
{
    burn_workers(SAMPLER_CPU_FINE, INTERVAL_NS);
    expect_weights_of_clocks();
    for (uint32_t i = BUSY_COUNT; i < worker_count; i++)
        cr_assert(eq(u64, life_of(serials[i])->cpu_count, 0));
}

Test(engine_cpu_fine, no_thread_has_a_timer_below_a_tick)
{
    cr_assert(eq(int, sampler_cpu_for(os_kernel_tick_ns()), SAMPLER_CPU_TIMER));
    cr_assert(eq(int, sampler_cpu_for(os_kernel_tick_ns() - 1), SAMPLER_CPU_FINE));
    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(not(thread_has_timer(thread_find((uint32_t)os_gettid()))));
    stop_run();
}

/* Timers pin a queued signal each: with none left every thread is sampled by its clock, at the interval asked for. */
Test(engine_cpu_fine, m42_threads_that_are_refused_a_timer_are_sampled_by_their_clock)
{
    const struct rlimit none = {0, 0};
    const uint64_t untimed = jw_counter(JW_COUNT_THREADS_UNTIMED);

    cr_assert(eq(int, setrlimit(RLIMIT_SIGPENDING, &none), 0));
    burn_workers(SAMPLER_CPU_TIMER, 5 * JW_NS_PER_MS);
    cr_assert(ge(u64, jw_counter(JW_COUNT_THREADS_UNTIMED), untimed + worker_count));
    expect_weights_of_clocks();
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

/* Of a thread that has said its number, or will. */
static uint64_t serial_when_found(const _Atomic uint32_t *tid)
{
    while (jw_load_relaxed(tid) == 0 || thread_find(jw_load_relaxed(tid)) == THREAD_NONE) {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        sampler_scan();
    }
    return thread_serial(thread_find(jw_load_relaxed(tid)));
}

static void *burn_in_bursts(void *argument)
{
    *(_Atomic uint32_t *)argument = (uint32_t)os_gettid();
    while (!jw_load_relaxed(&may_end)) {
        const struct timespec pause = {.tv_nsec = 200000};

        open_to_signals();
        burn_until(own_cpu_ns() + 100000);
        (void)nanosleep(&pause, NULL);
    }
    pthread_barrier_wait(&all_begun);
    pthread_barrier_wait(&all_ended);
    return NULL;
}

/* A thread that runs in bursts shorter than the interval: its signals find it waiting as often as not, and those are
 * no samples of what it did while it ran. It is sampled all the same, or this never ends. */
Test(engine_cpu_fine, a_signal_that_finds_its_thread_waiting_leaves_its_time_to_the_next)
{
    static _Atomic uint32_t tid;
    const uint64_t waiting = jw_counter(JW_COUNT_SPARED_WAITING);
    pthread_t thread;

    pthread_barrier_init(&all_begun, NULL, 2);
    pthread_barrier_init(&all_ended, NULL, 2);
    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(eq(int, pthread_create(&thread, NULL, burn_in_bursts, (void *)(uintptr_t)&tid), 0));
    const uint64_t serial = serial_when_found(&tid);
    while (life_of(serial)->cpu_count == 0 || jw_counter(JW_COUNT_SPARED_WAITING) == waiting) {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        rotate();
    }
    jw_store_relaxed(&may_end, true);
    pthread_barrier_wait(&all_begun);
    stop_run();
    const uint64_t clock_ns = clock_of(jw_load_relaxed(&tid)); /* no sample comes behind it */
    pthread_barrier_wait(&all_ended);
    pthread_join(thread, NULL);
    cr_assert(le(u64, life_of(serial)->cpu_ns, clock_ns));
}

/* What a thread does that has a record of the scan's already, when it tells that it is a Java thread. */
static void *burn_and_begin_java(void *argument)
{
    const struct thread_java java = {.java_id = 7, .name = "worker", .group = "main"};
    const _Atomic uint32_t tid = (uint32_t)os_gettid();

    (void)argument;
    serials[0] = serial_when_found(&tid);
    burn_until(own_cpu_ns() + RENEWED_NS / 10 * 9);
    sampler_thread_start(tid, &java);
    serials[1] = thread_serial(thread_find(tid));
    burn_until(own_cpu_ns() + RENEWED_NS * 2);
    /* A thread goes on to use its processor until it is gone; no sample comes behind this. */
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    last_ns[0] = own_cpu_ns();
    return NULL;
}

Test(engine_cpu_fine, what_was_sampled_under_an_old_record_is_not_sampled_again)
{
    start_run(SAMPLER_CPU_FINE, RENEWED_NS, 0, NULL);
    for (int i = 0; i < RENEWED_COUNT; i++) {
        pthread_t thread;

        cr_assert(eq(int, pthread_create(&thread, NULL, burn_and_begin_java, NULL), 0));
        pthread_join(thread, NULL);
        rotate();
        cr_assert(ne(u64, serials[0], serials[1]));
        cr_assert(le(u64, life_of(serials[0])->cpu_ns + life_of(serials[1])->cpu_ns, last_ns[0]));
    }
    stop_run();
}

static void expect_no_less(const struct sampler_cpu *cpu, void *argument)
{
    const struct taken *life = life_of(cpu->serial);

    (void)argument;
    cr_assert(ge(u64, cpu->used_ns, life->cpu_ns));
}

static void *burn_unseen(void *argument)
{
    *(_Atomic uint32_t *)argument = (uint32_t)os_gettid();
    while (!jw_load_relaxed(&may_end))
        ;
    burn_until(own_cpu_ns() + BURN_NS);
    return NULL;
}

/* A native thread that ends tells nobody, and between two scans nobody looks. */
Test(engine_cpu_fine, the_ledger_knows_of_no_less_than_was_sampled)
{
    static _Atomic uint32_t tid;
    pthread_t thread;

    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(eq(int, pthread_create(&thread, NULL, burn_unseen, (void *)(uintptr_t)&tid), 0));
    const uint64_t serial = serial_when_found(&tid);
    while (life_of(serial)->cpu_count == 0) {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        take_closed();
    }
    jw_store_relaxed(&may_end, true);
    pthread_join(thread, NULL);
    cr_assert(sampler_stop(DRAIN_NS));
    take_closed();
    sampler_cpu_each(0, expect_no_less, NULL);
    stop_run();
}

/* A thread that no look came to yet: from now on the engine knows it, and the sampler thread finds all of that. */
static void *be_below_the_last_sample(void *argument)
{
    bool is_new;
    const thread_index own = thread_add((uint32_t)os_gettid(), &is_new);
    const uint64_t other_ns = own_cpu_ns() + BURN_NS;

    engine_cpu_fine_add(own, other_ns);
    sampler_clock_note(own);
    while (own_cpu_ns() + BURN_NS / 4 < other_ns)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    take_closed();
    /* On a machine that stands still for a while the clock may have gone on further. */
    cr_assert(life_of(thread_serial(own))->cpu_count == 0 || own_cpu_ns() > other_ns);
    while (life_of(thread_serial(own))->cpu_count == 0) {
        open_to_signals();
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        take_closed();
    }
    cr_assert(le(u64, life_of(thread_serial(own))->cpu_ns, own_cpu_ns() - other_ns));
    return argument;
}

/* A thread that got the number of one that had used more, and whose record stands until the next scan, as far as this engine
 * can tell: what the two clocks are apart is no time at all. */
Test(engine_cpu_fine, m32_a_clock_that_stands_lower_than_at_the_last_sample_is_not_sampled)
{
    pthread_t thread;

    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(eq(int, pthread_create(&thread, NULL, be_below_the_last_sample, NULL), 0));
    pthread_join(thread, NULL);
    stop_run();
}

/* Each time it is as if the engine had not known it before, while the sampler thread looks at it. */
Test(engine_cpu_fine, a_thread_is_let_in_and_kept_out_while_its_clock_is_read)
{
    const struct thread_java java = {.java_id = 7, .name = "other", .group = "main"};

    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, "wanted");
    sampler_thread_found((uint32_t)os_gettid(), &java);
    const thread_index own = thread_find((uint32_t)os_gettid());
    for (int i = 0; i < 200; i++) {
        sampler_thread_renamed(own, i % 2 == 0 ? "wanted" : "other");
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    }
    stop_run();
}

Test(engine_cpu_fine, signals_that_nobody_asked_for_are_named_losses)
{
    start_run(SAMPLER_CPU_FINE, JW_NS_PER_SECOND, 0, NULL);
    const thread_index own = thread_find((uint32_t)os_gettid());
    const uint64_t lost = jw_counter(JW_COUNT_SPARED_UNASKED);

    /* One may come together with one that was asked for. */
    while (jw_counter(JW_COUNT_SPARED_UNASKED) == lost) {
        open_to_signals();
        cr_assert(os_signal_thread(os_gettid(), SIGPROF, sampler_cookie(own)));
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    }
    stop_run();
}
