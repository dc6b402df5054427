/* Real timers on busy threads. Nothing here is bounded by wall time but by the CPU clock itself. */
#include "os/os_timer.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_tasks.h"

#define INTERVAL_NS JW_NS_PER_MS
#define BUSY_NS     (200 * JW_NS_PER_MS)

static _Atomic uint64_t signals;
static _Atomic uint64_t expirations;
static _Atomic uint64_t signals_elsewhere;
static _Atomic uint64_t last_cookie;
static _Atomic int expected_tid;

static void count_signal(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    jw_add_relaxed(&signals, 1);
    if (info->si_code == SI_TIMER) {
        jw_add_relaxed(&expirations, 1 + (uint64_t)info->si_overrun);
        jw_store_relaxed(&last_cookie, (uint64_t)(uintptr_t)info->si_value.sival_ptr);
    }
    if (os_gettid() != jw_load_relaxed(&expected_tid))
        jw_add_relaxed(&signals_elsewhere, 1);
}

static void install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = count_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    cr_assert(sigaction(SIGPROF, &action, NULL) == 0);
    jw_store_relaxed(&expected_tid, os_gettid());
}

TestSuite(os_timer, .init = install, .timeout = 1800);

static uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns(os_gettid(), &cpu_ns));
    return cpu_ns;
}

static uint64_t burn(uint64_t duration_ns)
{
    const uint64_t start_ns = own_cpu_ns();
    uint64_t used_ns;

    while ((used_ns = own_cpu_ns() - start_ns) < duration_ns)
        ;
    return used_ns;
}

/* On a busy machine several ticks, which are what notices a timer, may miss a thread that runs. */
static void burn_until_signal(uint64_t before)
{
    while (jw_load_relaxed(&signals) == before)
        burn(JW_NS_PER_MS);
}

static struct os_timer open_timer(int tid, uintptr_t cookie)
{
    struct os_timer timer;
    struct jw_error err = {""};

    cr_assert(os_timer_open(&timer, tid, SIGPROF, cookie, &err) == OS_TIMER_OK, "%s", err.message);
    return timer;
}

Test(os_timer, expirations_add_up_to_the_cpu_time_used)
{
    struct os_timer timer = open_timer(os_gettid(), 1);
    const uint64_t before_ns = own_cpu_ns();

    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 0));
    const uint64_t least_ns = burn(BUSY_NS);
    burn_until_signal(jw_load_relaxed(&signals));
    os_timer_close(&timer);
    const uint64_t most_ns = own_cpu_ns() - before_ns;

    const uint64_t counted_ns = jw_load_relaxed(&expirations) * INTERVAL_NS;
    cr_assert(counted_ns > least_ns / 2, "%llu of %llu ns", (unsigned long long)counted_ns,
              (unsigned long long)least_ns);
    cr_assert(counted_ns < most_ns + most_ns / 2, "%llu of %llu ns", (unsigned long long)counted_ns,
              (unsigned long long)most_ns);
}

Test(os_timer, the_first_expiration_comes_when_it_was_asked_for)
{
    struct os_timer timer = open_timer(os_gettid(), 1);

    /* Much later than the test, then now: an interval alone would never come. */
    cr_assert(os_timer_arm(&timer, 3600 * JW_NS_PER_SECOND, 0));
    burn(50 * JW_NS_PER_MS);
    cr_assert(jw_load_relaxed(&signals) == 0);
    cr_assert(os_timer_arm(&timer, 3600 * JW_NS_PER_SECOND, 1));
    burn_until_signal(0);
    burn(50 * JW_NS_PER_MS);
    cr_assert(jw_load_relaxed(&expirations) == 1);
    os_timer_close(&timer);
}

Test(os_timer, the_cookie_comes_back_whole)
{
    const uintptr_t cookie = (uintptr_t)0xfedcba9876543210ull;
    struct os_timer timer = open_timer(os_gettid(), cookie);

    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 1));
    burn_until_signal(0);
    os_timer_close(&timer);
    cr_assert(jw_load_relaxed(&last_cookie) == cookie);
}

static pthread_barrier_t is_ready;
static pthread_barrier_t may_burn;

static void *burn_in_thread(void *argument)
{
    _Atomic int *tid = argument;

    jw_store_relaxed(tid, os_gettid());
    pthread_barrier_wait(&is_ready);
    pthread_barrier_wait(&may_burn);
    burn(BUSY_NS);
    burn_until_signal(0);
    return NULL;
}

Test(os_timer, the_signal_goes_to_the_thread_that_used_the_time)
{
    static _Atomic int tid;
    pthread_t thread;

    pthread_barrier_init(&is_ready, NULL, 2);
    pthread_barrier_init(&may_burn, NULL, 2);
    cr_assert(pthread_create(&thread, NULL, burn_in_thread, &tid) == 0);
    pthread_barrier_wait(&is_ready);
    jw_store_relaxed(&expected_tid, jw_load_relaxed(&tid));
    struct os_timer timer = open_timer(jw_load_relaxed(&tid), 1);
    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 0));
    pthread_barrier_wait(&may_burn);
    pthread_join(thread, NULL);
    os_timer_close(&timer);
    cr_assert(jw_load_relaxed(&signals_elsewhere) == 0);
}

Test(os_timer, a_closed_timer_is_silent_but_for_one_late_signal)
{
    struct os_timer timer = open_timer(os_gettid(), 1);

    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 0));
    burn_until_signal(0);
    os_timer_close(&timer);
    const uint64_t before = jw_load_relaxed(&signals);
    burn(100 * JW_NS_PER_MS);
    cr_assert(jw_load_relaxed(&signals) <= before + 1);
}

Test(os_timer, a_disarmed_timer_can_be_armed_again)
{
    struct os_timer timer = open_timer(os_gettid(), 1);

    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 0));
    burn_until_signal(0);
    os_timer_disarm(&timer);
    const uint64_t before = jw_load_relaxed(&signals);
    burn(50 * JW_NS_PER_MS);
    const uint64_t between = jw_load_relaxed(&signals);
    cr_assert(between <= before + 1);
    cr_assert(os_timer_arm(&timer, INTERVAL_NS, 0));
    burn_until_signal(between);
    os_timer_close(&timer);
}

Test(os_timer, a_timer_that_is_not_open_does_nothing)
{
    struct os_timer timer = open_timer(os_gettid(), 1);

    cr_assert(!os_timer_arm(&timer, 0, 1), "an interval of 0");
    os_timer_close(&timer);
    cr_assert(timer.id == OS_TIMER_NONE);
    os_timer_close(&timer);
    os_timer_disarm(&timer);
    cr_assert(!os_timer_arm(&timer, INTERVAL_NS, 0));
}

Test(os_timer, m52_the_longest_interval_is_armed_and_never_comes)
{
    struct os_timer timer = open_timer(os_gettid(), 1);

    cr_assert(os_timer_arm(&timer, UINT64_MAX, UINT64_MAX));
    burn(20 * JW_NS_PER_MS);
    cr_assert(jw_load_relaxed(&signals) == 0);
    os_timer_close(&timer);
}

Test(os_timer, m42_a_used_up_signal_queue_is_told_with_its_numbers)
{
    struct rlimit limit;
    struct os_timer timer;
    struct jw_error err = {""};

    cr_assert(getrlimit(RLIMIT_SIGPENDING, &limit) == 0);
    const struct rlimit none = {0, limit.rlim_max};
    cr_assert(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    const enum os_timer_status status = os_timer_open(&timer, os_gettid(), SIGPROF, 1, &err);
    cr_assert(os_timer_open(&timer, os_gettid(), SIGPROF, 1, NULL) == status);
    cr_assert(setrlimit(RLIMIT_SIGPENDING, &limit) == 0);

    cr_assert(status == OS_TIMER_LIMIT);
    cr_assert(timer.id == OS_TIMER_NONE);
    cr_assert(strstr(err.message, "RLIMIT_SIGPENDING 0, hard limit") != NULL, "%s", err.message);
    cr_assert(strstr(err.message, "ulimit -i") != NULL, "%s", err.message);

    timer = open_timer(os_gettid(), 1);
    os_timer_close(&timer);
}

Test(os_timer, a_thread_that_is_not_ours_is_no_failure)
{
    struct os_timer timer;
    struct jw_error err = {""};

    cr_assert(os_timer_open(&timer, INT32_MAX, SIGPROF, 1, &err) == OS_TIMER_NO_THREAD);
    cr_assert(strstr(err.message, "no such thread") != NULL, "%s", err.message);
    cr_assert(os_timer_open(&timer, 0, SIGPROF, 1, NULL) == OS_TIMER_NO_THREAD);
    cr_assert(os_timer_open(&timer, -1, SIGPROF, 1, NULL) == OS_TIMER_NO_THREAD);
    cr_assert(os_timer_open(&timer, getppid(), SIGPROF, 1, NULL) == OS_TIMER_NO_THREAD);
    cr_assert(timer.id == OS_TIMER_NONE);
}

Test(os_timer, a_signal_that_does_not_exist_is_refused)
{
    struct os_timer timer;
    struct jw_error err = {""};

    cr_assert(os_timer_open(&timer, os_gettid(), 1000, 1, &err) == OS_TIMER_REFUSED);
    cr_assert(strstr(err.message, "signal 1000") != NULL, "%s", err.message);
}

Test(os_timer, cpu_clocks_grow_with_use)
{
    const uint64_t process_ns = os_process_cpu_ns();
    const uint64_t used_ns = burn(20 * JW_NS_PER_MS);
    uint64_t cpu_ns = 77;

    cr_assert(os_process_cpu_ns() - process_ns >= used_ns);
    cr_assert(!os_thread_cpu_ns(INT32_MAX, &cpu_ns) && cpu_ns == 77);
    cr_assert(!os_thread_cpu_ns(0, &cpu_ns));
    cr_assert(!os_thread_cpu_ns(-1, &cpu_ns));
}

Test(os_timer, the_process_timer_fires_until_it_is_disarmed)
{
    struct jw_error err = {""};

    cr_assert(os_itimer_arm(INTERVAL_NS, &err), "%s", err.message);
    cr_assert(os_itimer_arm(1000 * INTERVAL_NS, &err), "our own may be set anew: %s", err.message);
    struct itimerval found;
    cr_assert_eq(getitimer(ITIMER_PROF, &found), 0);
    cr_assert_eq(found.it_value.tv_sec, 0, "what has run was forgotten");
    cr_assert(os_itimer_arm(2 * INTERVAL_NS, &err), "%s", err.message);
    burn_until_signal(0);
    os_itimer_disarm();
    const uint64_t before = jw_load_relaxed(&signals);
    burn(50 * JW_NS_PER_MS);
    cr_assert(jw_load_relaxed(&signals) <= before + 1);
}

Test(os_timer, the_process_timer_of_somebody_else_is_left_alone)
{
    const struct itimerval theirs = {{3600, 0}, {3600, 0}};
    struct itimerval found;
    struct jw_error err = {""};

    cr_assert(setitimer(ITIMER_PROF, &theirs, NULL) == 0);
    cr_assert(!os_itimer_arm(INTERVAL_NS, &err));
    cr_assert(strstr(err.message, "already armed, every 3600000000 us") != NULL, "%s", err.message);
    os_itimer_disarm();
    cr_assert(getitimer(ITIMER_PROF, &found) == 0);
    cr_assert(found.it_interval.tv_sec == 3600);
    cr_assert(!os_itimer_arm(0, NULL));
}

Test(os_timer, a_tick_is_one_to_ten_milliseconds)
{
    const uint64_t tick_ns = os_kernel_tick_ns();

    cr_assert(tick_ns >= JW_NS_PER_MS * 9 / 10 && tick_ns <= 10 * JW_NS_PER_MS + JW_NS_PER_MS,
              "%lu ns", (unsigned long)tick_ns);
}

static _Atomic int sent_code, sent_pid, sent_tid;
static _Atomic uint64_t sent_cookie;

static void note_sent(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    jw_store_relaxed(&sent_code, info->si_code);
    jw_store_relaxed(&sent_pid, info->si_pid);
    jw_store_relaxed(&sent_cookie, (uint64_t)(uintptr_t)info->si_value.sival_ptr);
    jw_store_relaxed(&sent_tid, os_gettid());
}

Test(os_timer, a_signal_to_a_thread_carries_its_cookie)
{
    const struct sigaction action = {.sa_sigaction = note_sent, .sa_flags = SA_SIGINFO};

    cr_assert(sigaction(SIGVTALRM, &action, NULL) == 0);
    cr_assert(os_signal_thread(os_gettid(), SIGVTALRM, 0x6a77123456789abc));
    while (jw_load_relaxed(&sent_tid) == 0)
        sched_yield();
    cr_assert(jw_load_relaxed(&sent_tid) == os_gettid());
    cr_assert(jw_load_relaxed(&sent_code) == SI_QUEUE);
    cr_assert(jw_load_relaxed(&sent_pid) == getpid());
    cr_assert(jw_load_relaxed(&sent_cookie) == 0x6a77123456789abc);
    cr_assert(!os_signal_thread(0, SIGVTALRM, 0));
    cr_assert(!os_signal_thread(INT32_MAX, SIGVTALRM, 0));
}

/* What the sampler relies on where the user's queue of signals is full. */
Test(os_timer, without_a_place_in_the_queue_a_signal_comes_without_its_cookie)
{
    const struct sigaction action = {.sa_sigaction = note_sent, .sa_flags = SA_SIGINFO};
    const struct rlimit none = {0, 0};

    cr_assert(sigaction(SIGVTALRM, &action, NULL) == 0);
    cr_assert(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    cr_assert(os_signal_thread(os_gettid(), SIGVTALRM, 0x6a77123456789abc));
    while (jw_load_relaxed(&sent_tid) == 0)
        sched_yield();
    cr_assert(jw_load_relaxed(&sent_code) == SI_USER);
    cr_assert(jw_load_relaxed(&sent_pid) == 0);
    cr_assert(jw_load_relaxed(&sent_cookie) == 0);
}
