/* Own threads, and waking them. */
#include "os/os_thread.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_tasks.h"

#define ROUNDS 5000

TestSuite(os_thread, .timeout = 1800);

static struct os_thread thread;
static struct os_wake ping;
static struct os_wake pong;

struct seen {
    char name[OS_TASK_NAME_BYTES];
    sigset_t mask;
    int tid;
};

static void look_around(void *argument)
{
    struct seen *seen = argument;

    seen->tid = os_gettid();
    os_task_name(seen->tid, seen->name);
    pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
}

Test(os_thread, a_thread_has_its_name_and_takes_faults_alone)
{
    static struct seen seen;
    sigset_t before;
    sigset_t after;
    struct jw_error err = {""};

    pthread_sigmask(SIG_SETMASK, NULL, &before);
    cr_assert(os_thread_start(&thread, "jaywalk dump with a long name", look_around, &seen, &err),
              "%s", err.message);
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
    pthread_sigmask(SIG_SETMASK, NULL, &after);

    cr_assert(seen.tid != os_gettid());
    cr_assert(strcmp(seen.name, "jaywalk dump wi") == 0, "%s", seen.name);
    cr_assert(sigismember(&seen.mask, SIGPROF) == 1 && sigismember(&seen.mask, SIGTERM) == 1);
    cr_assert(sigismember(&seen.mask, SIGQUIT) == 1 && sigismember(&seen.mask, SIGUSR1) == 1);
    cr_assert(sigismember(&seen.mask, SIGSEGV) == 0 && sigismember(&seen.mask, SIGBUS) == 0);
    for (int number = 1; number < SIGRTMIN; number++)
        cr_assert(sigismember(&before, number) == sigismember(&after, number), "%d", number);
}

static void wait_for_ping(void *argument)
{
    (void)argument;
    os_wake_wait(&ping, OS_WAKE_NEVER);
}

Test(os_thread, join_gives_up_at_its_deadline_and_may_be_tried_again)
{
    os_wake_init(&ping);
    cr_assert(os_thread_start(&thread, "jaywalk", wait_for_ping, NULL, NULL));
    cr_assert(!os_thread_join(&thread, 0));
    cr_assert(!os_thread_join(&thread, jw_now_ns() + JW_NS_PER_MS));
    os_wake_post(&ping);
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
    cr_assert(os_thread_join(&thread, 0), "a thread that was joined is gone");
}

static void say_pong(void *argument)
{
    (void)argument;
    os_wake_post(&pong);
}

Test(os_thread, a_detached_thread_does_its_work)
{
    os_wake_init(&pong);
    cr_assert(os_thread_start(&thread, "jaywalk", say_pong, NULL, NULL));
    os_thread_detach(&thread);
    cr_assert(os_wake_wait(&pong, OS_WAKE_NEVER));
}

Test(os_thread, a_post_before_the_wait_is_not_lost)
{
    os_wake_init(&ping);
    os_wake_post(&ping);
    os_wake_post(&ping);
    cr_assert(os_wake_wait(&ping, 0), "even where the deadline has passed");
    cr_assert(!os_wake_wait(&ping, 0), "two posts are one wake-up");
}

Test(os_thread, a_wait_ends_at_its_deadline_and_not_before)
{
    const uint64_t deadline_ns = jw_now_ns() + 2 * JW_NS_PER_MS;

    os_wake_init(&ping);
    cr_assert(!os_wake_wait(&ping, deadline_ns));
    cr_assert(jw_now_ns() >= deadline_ns);
}

/* What the two threads hand to each other; the wake-ups alone order the accesses. */
static unsigned baton;

static void play_back(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        os_wake_wait(&ping, OS_WAKE_NEVER);
        baton++;
        os_wake_post(&pong);
    }
}

Test(os_thread, wake_ups_order_what_the_threads_share)
{
    os_wake_init(&ping);
    os_wake_init(&pong);
    cr_assert(os_thread_start(&thread, "jaywalk", play_back, NULL, NULL));
    for (unsigned i = 0; i < ROUNDS; i++) {
        baton++;
        os_wake_post(&ping);
        cr_assert(os_wake_wait(&pong, OS_WAKE_NEVER));
        cr_assert(baton == 2 * (i + 1));
    }
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
}

static _Atomic bool is_over;

static void wait_often(void *argument)
{
    uint64_t *woken = argument;

    /* Deadlines that pass while the other side posts. */
    while (!jw_load_relaxed(&is_over))
        *woken += os_wake_wait(&ping, jw_now_ns() + 20000);
}

Test(os_thread, no_post_is_lost_against_a_passing_deadline)
{
    static uint64_t woken;
    uint64_t posted = 0;

    os_wake_init(&ping);
    cr_assert(os_thread_start(&thread, "jaywalk", wait_often, &woken, NULL));
    for (; posted < ROUNDS; posted++) {
        os_wake_post(&ping);
        /* The next post waits until this one was taken. */
        while (jw_load_relaxed(&ping.state) == 2)
            sched_yield();
    }
    jw_store_relaxed(&is_over, true);
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
    cr_assert(woken == posted, "%llu of %llu", (unsigned long long)woken,
              (unsigned long long)posted);
}

static void post_from_handler(int number)
{
    (void)number;
    os_wake_post(&ping);
}

Test(os_thread, a_handler_may_post)
{
    os_wake_init(&ping);
    cr_assert(os_thread_start(&thread, "jaywalk", wait_for_ping, NULL, NULL));
    cr_assert(signal(SIGUSR2, post_from_handler) != SIG_ERR);
    cr_assert(raise(SIGUSR2) == 0);
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
}

static _Atomic bool are_all_over;

static void use_some_time(void *argument)
{
    const uint64_t begin_ns = jw_now_ns();

    (void)argument;
    while (jw_now_ns() - begin_ns < 200000)
        ;
}

static void watch_the_time(void *argument)
{
    unsigned *falls = argument;
    uint64_t last_ns = 0;

    while (!jw_load_relaxed(&are_all_over)) {
        const uint64_t now_ns = os_thread_own_cpu_ns("jaywalk user");

        *falls += now_ns < last_ns;
        last_ns = now_ns;
    }
}

Test(os_thread, the_time_of_threads_of_a_name_never_falls_while_they_begin_and_end)
{
    static struct os_thread watcher;
    static unsigned falls;

    cr_assert(os_thread_start(&watcher, "jaywalk", watch_the_time, &falls, NULL));
    for (unsigned i = 0; i < 500; i++) {
        cr_assert(os_thread_start(&thread, "jaywalk user", use_some_time, NULL, NULL));
        cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
    }
    jw_store_relaxed(&are_all_over, true);
    cr_assert(os_thread_join(&watcher, OS_WAKE_NEVER));
    cr_assert(falls == 0, "%u times", falls);
    cr_assert(os_thread_own_cpu_ns("jaywalk user") > 0);
    cr_assert(os_thread_own_cpu_ns("jaywalk nobody") == 0);
}

static void work_for_50_ms(void *argument)
{
    const uint64_t begin_ns = os_thread_own_cpu_ns("jaywalk worker");

    (void)argument;
    while (os_thread_own_cpu_ns("jaywalk worker") - begin_ns < 50 * JW_NS_PER_MS)
        ;
    os_wake_post(&pong);
    os_wake_wait(&ping, OS_WAKE_NEVER);
}

Test(os_thread, who_works_wants_a_processor_and_who_waits_does_not)
{
    const struct timespec pause = {.tv_nsec = 20 * (long)JW_NS_PER_MS};
    uint64_t wanted_ns = 0, wanted_before_ns;

    os_wake_init(&ping);
    os_wake_init(&pong);
    cr_assert(os_thread_start(&thread, "jaywalk worker", work_for_50_ms, NULL, NULL));
    os_wake_wait(&pong, OS_WAKE_NEVER);
    /* It is on its way to its own wait; from there on nothing is added. */
    do {
        wanted_before_ns = wanted_ns;
        nanosleep(&pause, NULL);
        wanted_ns = os_thread_wanted_cpu_ns(&thread);
    } while (wanted_ns != wanted_before_ns);
    cr_expect(wanted_ns >= 50 * JW_NS_PER_MS, "%lu", (unsigned long)wanted_ns);
    os_wake_post(&ping);
    cr_assert(os_thread_join(&thread, OS_WAKE_NEVER));
    /* It has ended, of which the kernel's list may tell later than who waits for it: in an emulator, whose own thread ends behind that. */
    while (os_thread_wanted_cpu_ns(&thread) != 0)
        nanosleep(&pause, NULL);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Sanitizers, and the emulator that other architectures are tested with, end without address space. */
Test(os_thread, without_room_for_a_stack_it_says_so)
{
    struct rlimit limit;
    struct jw_error err = {""};

    cr_assert(getrlimit(RLIMIT_AS, &limit) == 0);
    const struct rlimit none = {4096, limit.rlim_max};
    cr_assert(setrlimit(RLIMIT_AS, &none) == 0);
    const bool is_started = os_thread_start(&thread, "jaywalk", look_around, NULL, &err);
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
    cr_assert(!is_started);
    cr_assert(strstr(err.message, "cannot start thread jaywalk: ") != NULL, "%s", err.message);
    cr_assert(os_thread_join(&thread, 0), "there is nothing to wait for");
}
#endif
