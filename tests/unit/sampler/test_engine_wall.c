/* The wall clock on real threads: every thread's time is accounted, and waiting threads are left alone. */
#include <sys/resource.h>

#include "unit/sampler/clock_runs.h"

#define INTERVAL_NS  (2 * JW_NS_PER_MS)
#define BUSY_COUNT   3
#define IDLE_COUNT   12
#define THREADS_LATE 50

TestSuite(engine_wall, .init = open_run, .timeout = 1800);

static uint64_t wall_sum_ns(const struct taken *life)
{
    return life->wall_ns + life->idle_ns + life->unsampled_ns;
}

/* Lets the wall clock turn so often. */
static void turn(uint64_t interval_ns, uint32_t turns)
{
    const uint64_t end_ns = jw_now_ns() + interval_ns * turns;

    while (jw_now_ns() < end_ns)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
}

/* Serial and begin of each worker's record, looked up while it lives. */
static uint64_t serials[WORKERS_MAX], begins_ns[WORKERS_MAX];

static void look_up_workers(void)
{
    for (uint32_t i = 0; i < worker_count; i++) {
        const thread_index thread = thread_find(workers[i].tid);

        cr_assert(ne(u32, thread, THREAD_NONE));
        serials[i] = thread_serial(thread);
        begins_ns[i] = thread_begin_ns(thread);
    }
}

static const struct taken *life_of_worker(uint32_t i)
{
    return life_of(serials[i]);
}

/* All accounts end at one moment, that of the stop, and begin with the thread's record. */
static void expect_exact_accounts(uint64_t before_stop_ns, uint64_t after_stop_ns)
{
    const uint64_t end_ns = begins_ns[0] + wall_sum_ns(life_of_worker(0));

    cr_assert(end_ns >= before_stop_ns && end_ns <= after_stop_ns);
    for (uint32_t i = 0; i < worker_count; i++)
        cr_assert(eq(u64, begins_ns[i] + wall_sum_ns(life_of_worker(i)), end_ns));
}

static bool are_sampled(uint32_t first_workers)
{
    rotate();
    for (uint32_t i = 0; i < first_workers; i++)
        if (life_of_worker(i)->wall_count == 0)
            return false;
    return true;
}

/* More of its time is known to be that of a wait than what its samples stand for: a first one that comes late on a busy
 * machine stands for much. */
static bool are_idle(uint32_t from)
{
    for (uint32_t i = from; i < worker_count; i++) {
        const struct taken *life = life_of_worker(i);

        if (life->idle_ns <= life->wall_ns + life->unsampled_ns)
            return false;
    }
    return true;
}

/* A worker has so many samples more: of different turns, so that one began after this was asked for, and is over. */
static void wait_for_samples(uint32_t worker, uint64_t more)
{
    rotate();
    const uint64_t wanted = life_of_worker(worker)->wall_count + more;

    while (life_of_worker(worker)->wall_count < wanted) {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        rotate();
    }
}

/* How long a run goes on at least. On a busy machine the clock turns less often than it should. */
struct run_until {
    uint32_t turns;
    enum jw_counter_id counter; /* has risen by `least` */
    uint64_t least;
    uint32_t sampled_workers; /* the first so many have a sample */
    bool has_idle;            /* the idle ones are idle for most of their time */
};

static void run_workers_until(uint32_t busy_count, uint32_t idle_count, uint64_t interval_ns,
                              const struct run_until *until)
{
    const uint64_t counted = jw_counter(until->counter);

    begin_workers(busy_count, idle_count);
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, interval_ns, NULL);
    look_up_workers();
    do
        turn(interval_ns, until->turns);
    while (jw_counter(until->counter) - counted < until->least ||
           !are_sampled(until->sampled_workers) || (until->has_idle && !are_idle(busy_count)));
    const uint64_t before_ns = jw_now_ns();
    cr_assert(sampler_stop(DRAIN_NS));
    const uint64_t after_ns = jw_now_ns();
    rotate();
    rotate();
    expect_conservation();
    release_workers();
    join_workers();
    expect_exact_accounts(before_ns, after_ns);
}

/* All of them are sampled. */
static void run_workers(uint32_t busy_count, uint32_t idle_count, uint64_t interval_ns,
                        uint32_t turns)
{
    const struct run_until until = {
        .turns = turns,
        .counter = JW_COUNT_SIGNALS,
        .sampled_workers = busy_count + idle_count,
    };

    run_workers_until(busy_count, idle_count, interval_ns, &until);
}

Test(engine_wall, weights_of_each_thread_sum_to_its_time_in_the_run)
{
    run_workers(BUSY_COUNT, IDLE_COUNT, INTERVAL_NS, 200);
    for (uint32_t i = 0; i < worker_count; i++) {
        cr_assert(ge(u64, life_of_worker(i)->wall_count, 1));
        cr_assert(eq(u64, life_of_worker(i)->wrong_numbers, 0));
        cr_assert(le(u64, life_of_worker(i)->wall_count, life_of_worker(i)->last_number));
    }
}

/* One signal shows where a thread waits; the handler's own time is no sign of life. */
Test(engine_wall, a_thread_that_waits_is_signalled_once)
{
    const uint64_t idle_before = jw_counter(JW_COUNT_WALL_IDLE);
    uint64_t idle_samples = 0;

    const struct run_until until = {
        .turns = 300,
        .counter = JW_COUNT_WALL_IDLE,
        .least = 100 * IDLE_COUNT + 1,
        .sampled_workers = 1 + IDLE_COUNT,
        .has_idle = true,
    };
    run_workers_until(1, IDLE_COUNT, INTERVAL_NS, &until);
    for (uint32_t i = 1; i < worker_count; i++) {
        const struct taken *life = life_of_worker(i);

        idle_samples += life->wall_count;
        cr_assert(ge(u64, life->idle_ns, life->wall_ns + life->unsampled_ns + 1));
        cr_assert(eq(u64, life->states[JW_STATE_NATIVE], life->wall_count));
    }
    cr_assert(ge(u64, idle_samples, IDLE_COUNT));
    /* An interrupt in the middle of the way back to the wait is charged to the thread, which is signalled again: of
     * hundred turns not five. */
    cr_assert(le(u64, idle_samples, (jw_counter(JW_COUNT_WALL_IDLE) - idle_before) / 20));
}

/* It waits inside our handler from the first sample on, where no second signal reaches it. */
Test(engine_wall, a_call_that_goes_on_inside_the_handler_is_one_wait)
{
    const struct run_until until = {
        .turns = 200,
        .counter = JW_COUNT_SIGNALS,
        .sampled_workers = 1 + IDLE_COUNT,
        .has_idle = true,
    };
    uint64_t samples = 0;

    for (uint32_t i = 1; i <= IDLE_COUNT; i++)
        workers[i].polls = true;
    run_workers_until(1, IDLE_COUNT, INTERVAL_NS, &until);
    for (uint32_t i = 1; i < worker_count; i++) {
        const struct taken *life = life_of_worker(i);

        samples += life->wall_count;
        cr_assert(ge(u64, life->idle_ns, life->wall_ns + life->unsampled_ns + 1));
    }
    cr_assert(le(u64, samples, IDLE_COUNT + IDLE_COUNT / 3));
}

/* Signals of the CPU clock that find a thread waiting make it wait inside the handler, too: then they sample it for
 * the wall clock, before it does. */
Test(engine_wall, a_wait_that_a_signal_of_the_cpu_clock_found_is_sampled)
{
    const uint64_t along = jw_counter(JW_COUNT_WALL_ALONG);

    workers[0].polls = true;
    begin_workers(0, 1);
    start_run(SAMPLER_CPU_FINE, JW_NS_PER_SECOND, 60 * JW_NS_PER_SECOND, NULL);
    look_up_workers();
    const thread_index thread = thread_find(workers[0].tid);
    while (jw_counter(JW_COUNT_WALL_ALONG) == along) { /* until it is in the call */
        cr_assert(os_signal_thread((int)workers[0].tid, SIGPROF, sampler_cookie(thread)));
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    }
    stop_run();
    release_workers();
    join_workers();
    cr_assert(eq(u64, life_of_worker(0)->wall_count, 1));
    cr_assert(eq(u64, life_of_worker(0)->states[JW_STATE_NATIVE], 1));
    cr_assert(ge(u64, life_of_worker(0)->idle_ns, 1));
    cr_assert(eq(u64, life_of_worker(0)->unsampled_ns, 0));
}

/* ---- one wait, and another ---- */

#define ROUNDS                                                                                     \
    100 /* at most: in some of them turns come between the two, or none where two are due */

static _Atomic uint32_t rounds_tid, rounds_wanted, rounds_polled;
static int round_ends[2];

/* Waits for the next round, then in a call that goes on inside a handler. */
static void *wait_here_and_there(void *argument)
{
    jw_store_relaxed(&rounds_tid, (uint32_t)os_gettid());
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct pollfd end = {.fd = round_ends[0], .events = POLLIN};
        char byte;

        pthread_mutex_lock(&lock);
        while (jw_load_relaxed(&rounds_wanted) < round)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        if (jw_load_relaxed(&rounds_wanted) > ROUNDS)
            break;
        jw_store_relaxed(&rounds_polled, round);
        cr_assert(eq(int, poll(&end, 1, -1), 1));
        cr_assert(eq(int, (int)read(round_ends[0], &byte, 1), 1));
    }
    return argument;
}

static void wait_until_asleep(uint32_t tid)
{
    while (!task_is_asleep(tid))
        sched_yield();
}

static void want_round(uint32_t round)
{
    pthread_mutex_lock(&lock);
    jw_store_relaxed(&rounds_wanted, round);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Turns that its first wait has, where its second one got a sample that nobody asked for, so that no turn saw it run
 * between the two; else 0. */
static uint64_t go_one_round(uint32_t tid, uint32_t round, uint64_t interval_ns)
{
    const uint64_t along = jw_counter(JW_COUNT_WALL_ALONG);
    const struct taken *life = life_of(thread_serial(thread_find(tid)));

    wait_until_asleep(tid);
    turn(interval_ns, 5);
    want_round(round);
    while (jw_load_relaxed(&rounds_polled) < round)
        sched_yield();
    wait_until_asleep(tid);
    cr_assert(os_signal_thread((int)tid, SIGPROF, sampler_cookie(thread_find(tid))));
    turn(interval_ns, 3);
    rotate();
    rotate();
    /* Its last sample is that of the second wait, where it is still. */
    const bool is_unasked = jw_counter(JW_COUNT_WALL_ALONG) != along;
    const uint64_t number = life->last_number;

    cr_assert(eq(int, (int)write(round_ends[1], "x", 1), 1));
    return is_unasked && number >= 2 && number < SAMPLES_TOLD ? life->turns_after[number - 1] : 0;
}

/* The turns of a wait go with its own sample, though another of the thread has come unasked since, elsewhere. */
Test(engine_wall, each_wait_has_its_own_turns)
{
    const uint64_t interval_ns = 20 * JW_NS_PER_MS;
    uint64_t most_turns = 0;
    pthread_t thread;

    cr_assert(eq(int, pipe(round_ends), 0));
    cr_assert(eq(int, pthread_create(&thread, NULL, wait_here_and_there, NULL), 0));
    while (jw_load_relaxed(&rounds_tid) == 0)
        sched_yield();
    start_run(SAMPLER_CPU_FINE, JW_NS_PER_SECOND, interval_ns, NULL);
    for (uint32_t round = 1; round <= ROUNDS && most_turns < 2; round++) {
        const uint64_t turns = go_one_round(jw_load_relaxed(&rounds_tid), round, interval_ns);

        most_turns = turns > most_turns ? turns : most_turns;
    }
    want_round(ROUNDS + 1); /* no more */
    stop_run();
    pthread_join(thread, NULL);
    cr_assert(ge(u64, most_turns, 2));
}

Test(engine_wall, a_thread_that_runs_is_sampled_as_running)
{
    begin_workers(1, 0);
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, INTERVAL_NS, NULL);
    look_up_workers();
    wait_for_samples(0, 30);
    stop_run();
    release_workers();
    join_workers();
    /* All but where a call of the clock is interrupted at its instruction. */
    cr_assert(ge(u64, life_of_worker(0)->states[JW_STATE_RUNNING] * 10,
                 life_of_worker(0)->wall_count * 8));
}

Test(engine_wall, more_threads_than_signals_are_put_off_and_accounted_all_the_same)
{
    const struct run_until until = {
        .turns = 300,
        .counter = JW_COUNT_WALL_PUT_OFF,
        .least = 1,
    };

    run_workers_until(40, 10, JW_NS_PER_MS, &until);
}

Test(engine_wall, threads_of_jaywalk_are_not_sampled)
{
    struct thread_info info;

    run_workers(1, 1, INTERVAL_NS, 50);
    for (thread_index thread = 0; thread < threads_limit(); thread++) {
        if (!thread_info(thread, &info) || strncmp(info.os_name, "jaywalk", 7) != 0)
            continue;
        cr_assert(eq(u64, wall_sum_ns(life_of(info.serial)), 0));
    }
}

/* Threads that come and go ----------------------------------------------------------------------- */

static int late_tids[THREADS_LATE];
static uint64_t late_serials[THREADS_LATE], late_begin_ns[THREADS_LATE], late_end_ns[THREADS_LATE],
    gone_ns[THREADS_LATE];

static void *live_shortly(void *argument)
{
    const uintptr_t number = (uintptr_t)argument;
    const struct thread_java java = {.java_id = 1 + number, .name = "short", .group = "main"};
    const uint32_t tid = (uint32_t)os_gettid();

    sampler_thread_start(tid, &java);
    const thread_index thread = thread_find(tid);
    late_tids[number] = (int)tid;
    late_serials[number] = thread_serial(thread);
    late_begin_ns[number] = thread_begin_ns(thread);
    burn_until(own_cpu_ns() + number % 5 * JW_NS_PER_MS);
    sampler_thread_end(tid);
    late_end_ns[number] = thread_end_ns(thread);
    return NULL;
}

/* From the record's begin to the end that the thread told, whether or not a turn came to it; or to the last turn
 * that saw it alive on its way out. */
Test(engine_wall, short_lives_are_accounted_from_begin_to_end)
{
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, INTERVAL_NS, NULL);
    for (uintptr_t i = 0; i < THREADS_LATE; i++) {
        pthread_t thread;

        cr_assert(eq(int, pthread_create(&thread, NULL, live_shortly, (void *)i), 0));
        pthread_join(thread, NULL);
        while (os_task_is_alive(late_tids[i])) /* it may be joined a moment before */
            sched_yield();
        gone_ns[i] = jw_now_ns();
        sampler_scan();
        if (i % 10 == 9)
            rotate();
    }
    stop_run();
    for (uint32_t i = 0; i < THREADS_LATE; i++) {
        const uint64_t told_ns = late_end_ns[i] - late_begin_ns[i];
        const uint64_t sum_ns = wall_sum_ns(life_of(late_serials[i]));

        cr_assert(sum_ns >= told_ns, "%u: %lu of %lu", i, (unsigned long)sum_ns,
                  (unsigned long)told_ns);
        cr_assert(le(u64, sum_ns, gone_ns[i] - late_begin_ns[i]));
    }
}

/* A record that is held for its account is reaped all the same, once that is written. */
Test(engine_wall, records_of_ended_threads_are_given_back)
{
    uint32_t ended = 0;

    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, INTERVAL_NS, NULL);
    for (uintptr_t i = 0; i < THREADS_LATE; i++) {
        pthread_t thread;

        cr_assert(eq(int, pthread_create(&thread, NULL, live_shortly, (void *)i), 0));
        pthread_join(thread, NULL);
    }
    stop_run();
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, JW_NS_PER_SECOND, NULL);
    stop_run();
    for (int i = 0; i < 4; i++)
        rotate();
    for (thread_index thread = 0; thread < threads_limit(); thread++) {
        struct thread_info info;

        ended += thread_info(thread, &info) && !thread_is_live(thread);
    }
    cr_assert(eq(u32, ended, 0));
}

/* What stands in the way of a signal ------------------------------------------------------------- */

Test(engine_wall, m39_a_thread_that_blocks_the_signal_is_asked_once_and_its_time_is_named)
{
    workers[0].blocks_signal = true;
    const uint64_t sent = jw_counter(JW_COUNT_WALL_SIGNALS);

    begin_workers(1, 0);
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, INTERVAL_NS, NULL);
    look_up_workers();
    const uint64_t main_serial = thread_serial(thread_find((uint32_t)os_gettid()));
    do { /* until it was asked, and this thread sampled */
        open_to_signals();
        turn(INTERVAL_NS, 100);
        rotate();
    } while (!engine_wall_claims(thread_find(workers[0].tid)) ||
             life_of(main_serial)->wall_count == 0);
    const uint64_t before_ns = jw_now_ns();
    cr_assert(sampler_stop(DRAIN_NS));
    const uint64_t after_ns = jw_now_ns();
    const uint64_t unasked =
        jw_counter(JW_COUNT_SPARED_UNASKED) + jw_counter(JW_COUNT_LOST_STOPPED);
    release_workers(); /* and the late signal comes */
    rotate();
    rotate();
    join_workers();
    cr_assert(eq(u64, life_of_worker(0)->wall_count, 0));
    cr_assert(eq(u64, life_of_worker(0)->unsampled_ns, wall_sum_ns(life_of_worker(0))));
    expect_exact_accounts(before_ns, after_ns);
    cr_assert(eq(u64, jw_counter(JW_COUNT_SPARED_UNASKED) + jw_counter(JW_COUNT_LOST_STOPPED),
                 unasked + 1));
    /* All but one went to this thread and to those of the test's own machinery. */
    cr_assert(ge(u64, life_of(main_serial)->wall_count, 1));
    cr_assert(ge(u64, jw_counter(JW_COUNT_WALL_SIGNALS) - sent, 1 + 1));
    expect_conservation();
}

/* Without a queued signal left to the user the kernel drops the cookie, not the signal. */
Test(engine_wall, signals_that_lose_their_cookie_are_known_all_the_same)
{
    const struct rlimit none = {0, 0};
    const uint64_t foreign = jw_counter(JW_COUNT_FOREIGN_SIGNALS);

    cr_assert(eq(int, setrlimit(RLIMIT_SIGPENDING, &none), 0));
    run_workers(2, 4, INTERVAL_NS, 100);
    for (uint32_t i = 0; i < worker_count; i++)
        cr_assert(ge(u64, life_of_worker(i)->wall_count, 1));
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), foreign));
}

Test(engine_wall, a_signal_that_nobody_asked_for_is_a_named_loss)
{
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, JW_NS_PER_SECOND, NULL);
    const thread_index own = thread_find((uint32_t)os_gettid());
    const uint64_t lost = jw_counter(JW_COUNT_SPARED_UNASKED);

    /* One may come together with one that was asked for. */
    while (jw_counter(JW_COUNT_SPARED_UNASKED) == lost) {
        open_to_signals();
        cr_assert(os_signal_thread(os_gettid(), SIGVTALRM, sampler_cookie(own)));
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    }
    cr_assert(ge(u64, jw_counter(JW_COUNT_SPARED_UNASKED), lost + 1));
    stop_run();
}

/* Time that could not be written stays owed. */
Test(engine_wall, samples_that_find_no_room_leave_their_time_to_the_next)
{
    static struct sample_scratch *all[2048];
    uint32_t count = 0;

    begin_workers(2, 2);
    start_run(SAMPLER_CPU_NONE, JW_NS_PER_SECOND, INTERVAL_NS, NULL);
    look_up_workers();
    for (uint32_t tid = 1; tid < 100000 && count < JW_COUNT_OF(all); tid++) {
        struct sample_scratch *scratch = sample_scratch_take(tid);

        if (scratch != NULL)
            all[count++] = scratch;
    }
    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_SCRATCH);
    while (jw_counter(JW_COUNT_LOST_NO_SCRATCH) < lost + 20)
        turn(INTERVAL_NS, 1);
    for (uint32_t i = 0; i < count; i++)
        sample_scratch_give(all[i]);
    turn(INTERVAL_NS, 50);
    wait_for_samples(0, 1); /* nobody is where there was none any more */
    wait_for_samples(1, 1);
    const uint64_t before_ns = jw_now_ns();
    cr_assert(sampler_stop(DRAIN_NS));
    const uint64_t after_ns = jw_now_ns();
    rotate();
    rotate();
    release_workers();
    join_workers();
    expect_exact_accounts(before_ns, after_ns);
    expect_conservation();
}

/* Filter ----------------------------------------------------------------------------------------- */

Test(engine_wall, only_threads_that_the_filter_names_are_sampled)
{
    char filter[64];

    begin_workers(2, 2);
    snprintf(filter, sizeof filter, "%u;%u", workers[0].tid, workers[3].tid);
    start_run(SAMPLER_CPU_TIMER, 10 * JW_NS_PER_MS, INTERVAL_NS, filter);
    look_up_workers();
    cr_assert(thread_has_timer(thread_find(workers[0].tid)));
    cr_assert(not(thread_has_timer(thread_find(workers[1].tid))));
    turn(INTERVAL_NS, 100);
    stop_run();
    release_workers();
    join_workers();
    cr_assert(ge(u64, wall_sum_ns(life_of_worker(0)), 1));
    cr_assert(ge(u64, wall_sum_ns(life_of_worker(3)), 1));
    cr_assert(eq(u64, wall_sum_ns(life_of_worker(1)), 0));
    cr_assert(eq(u64, wall_sum_ns(life_of_worker(2)), 0));
    cr_assert(eq(u64, life_of_worker(1)->cpu_count, 0));
}

Test(engine_wall, another_name_lets_a_thread_in_or_keeps_it_out)
{
    const struct thread_java first = {.java_id = 7, .name = "wanted-1", .group = "main"};
    const struct thread_java second = {.java_id = 8, .name = "other-1", .group = "main"};

    begin_workers(2, 0);
    start_run(SAMPLER_CPU_TIMER, 10 * JW_NS_PER_MS, INTERVAL_NS, "wanted-*");
    sampler_thread_found(workers[0].tid, &first);
    sampler_thread_found(workers[1].tid, &second);
    look_up_workers();
    const thread_index one = thread_find(workers[0].tid), other = thread_find(workers[1].tid);
    cr_assert(thread_has_timer(one));
    cr_assert(not(thread_has_timer(other)));
    turn(INTERVAL_NS, 50);
    /* The turn that is under way at the new name may have begun before it, but not before this moment: of the next three samples
     * one may be in the midst of its handler and one be under way to it, but the third was asked for in a turn that began behind
     * it. That one also saw that the other is not wanted. */
    const uint64_t seen_ns = jw_now_ns();
    wait_for_samples(0, 3);
    const uint64_t renamed_ns = jw_now_ns();
    sampler_thread_renamed(one, "other-2");
    sampler_thread_renamed(other, "wanted-2");
    cr_assert(not(thread_has_timer(one)));
    cr_assert(thread_has_timer(other));
    turn(INTERVAL_NS, 50);
    wait_for_samples(1, 1);
    stop_run();
    const uint64_t end_ns = jw_now_ns();
    release_workers();
    join_workers();
    /* Each has its part of the time; a turn or two late is when a busy machine lets the clock turn. */
    cr_assert(ge(u64, wall_sum_ns(life_of_worker(0)), seen_ns - begins_ns[0]));
    cr_assert(le(u64, wall_sum_ns(life_of_worker(0)), end_ns - begins_ns[0] - 1));
    cr_assert(ge(u64, wall_sum_ns(life_of_worker(1)), 1));
    cr_assert(le(u64, wall_sum_ns(life_of_worker(1)), end_ns - renamed_ns));
}

Test(engine_wall, both_clocks_run_together_and_stop_together)
{
    begin_workers(3, 5);
    for (int i = 0; i < 100; i++) {
        start_run(i % 2 == 0 ? SAMPLER_CPU_FINE : SAMPLER_CPU_TIMER, 500000, 500000, NULL);
        turn(500000, (uint32_t)i % 7);
        stop_run();
    }
    release_workers();
    join_workers();
    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    burn_until(own_cpu_ns() + 20 * JW_NS_PER_MS);
    cr_assert(le(u64, jw_counter(JW_COUNT_SIGNALS), signals + worker_count + 1));
}
