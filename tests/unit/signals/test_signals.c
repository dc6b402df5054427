/* Whose a profiling signal is, and what becomes of it. */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "signals/signals.h"

/* Thread sanitizer delivers what another thread, a timer or sigqueue sends at the next call that it
 * intercepts and that may block, and fills the mask of every handler. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN true
#else
#define WITH_TSAN false
#endif

static struct jw_error err;
static _Atomic int taken;
static struct signals_event last;
static uint64_t
    overruns; /* of all that were taken: of two that come close together, the later one has none */
static int errno_to_leave;
static void (*inside)(void); /* what the engine does beside counting */

static void note(const struct signals_event *event)
{
    last = *event;
    overruns += event->overruns;
    if (inside != NULL)
        inside();
    jw_count(JW_COUNT_SAMPLES);
    jw_add_relaxed(&taken, 1);
    errno = errno_to_leave == 0 ? errno : errno_to_leave;
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {.take = note};

/* Each test is a process of its own: nothing needs undoing. */
static void own_and_start(void)
{
    cr_assert(signals_own(SIGPROF, &err), "%s", err.message);
    cr_assert(signals_own(SIGVTALRM, &err), "%s", err.message);
    signals_start(&engine);
}

static void send_with(int signo, uintptr_t word)
{
    const union sigval value = {.sival_ptr = (void *)word};

    cr_assert(sigqueue(getpid(), signo, value) == 0);
    if (WITH_TSAN)
        usleep(1);
}

static void send_ours(int signo, uint32_t payload)
{
    send_with(signo, signals_cookie(payload));
}

static void wait_until_taken(int count)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (jw_load_relaxed(&taken) < count)
        nanosleep(&pause, NULL);
}

static uint64_t losses(void)
{
    uint64_t sum = 0;

    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        if (jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared)
            sum += jw_counter((enum jw_counter_id)id);
    return sum;
}

static void assert_conserved(void)
{
    cr_assert(jw_counter(JW_COUNT_SAMPLES) + losses() == jw_counter(JW_COUNT_SIGNALS));
}

TestSuite(signals, .timeout = 1800);

Test(signals, a_queued_signal_with_our_cookie_reaches_the_engine_with_its_payload)
{
    own_and_start();
    for (uint32_t payload = 0; payload < 5; payload++) {
        const int signo = payload % 2 ? SIGPROF : SIGVTALRM;

        send_ours(signo, payload * 0x33333333);
        cr_assert(jw_load_relaxed(&taken) == (int)payload + 1);
        cr_assert(last.signo == signo && last.payload == payload * 0x33333333);
        cr_assert(last.overruns == 0 && last.ucontext != NULL);
    }
    cr_assert(jw_counter(JW_COUNT_SIGNALS) == 5 && jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 0);
    assert_conserved();
}

Test(signals, s21_the_cookie_is_no_address_and_holds_its_payload)
{
    cr_assert(signals_cookie(0) >> 48 != 0 && signals_cookie(0) >> 48 != 0xffff);
    cr_assert((uint32_t)signals_cookie(0xfffffffe) == 0xfffffffe);
    cr_assert(signals_cookie(1) - signals_cookie(0) == 1);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * JW_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

Test(signals, m39_a_timer_on_a_cpu_clock_reaches_the_engine_with_its_overruns)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    const struct itimerspec often = {.it_interval.tv_nsec = 50000, .it_value.tv_nsec = 50000};
    sigset_t profiling;
    timer_t timer;

    own_and_start();
    event.sigev_value.sival_ptr = (void *)signals_cookie(77);
    cr_assert(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0);
    /* While the signal is blocked, expirations pile up in it. */
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    sigprocmask(SIG_BLOCK, &profiling, NULL);
    cr_assert(timer_settime(timer, 0, &often, NULL) == 0);
    for (const uint64_t end_ns = own_cpu_ns() + 40 * JW_NS_PER_MS; own_cpu_ns() < end_ns;)
        ;
    /* Unblocked first: a kernel from 6.13 on drops what a disarmed timer had queued. */
    sigprocmask(SIG_UNBLOCK, &profiling, NULL);
    wait_until_taken(1);
    timer_delete(timer);
    cr_assert(last.payload == 77);
    cr_assert(jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 0);
    cr_assert(overruns > 0);
    assert_conserved();
}

Test(signals, the_process_timer_is_ours_only_while_it_is_expected)
{
    const struct itimerval often = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};

    own_and_start();
    cr_assert(setitimer(ITIMER_PROF, &often, NULL) == 0);
    while (jw_counter(JW_COUNT_FOREIGN_SIGNALS) < 3)
        jw_now_ns();
    cr_assert(jw_load_relaxed(&taken) == 0);
    signals_expect_itimer(true);
    while (jw_load_relaxed(&taken) < 3)
        jw_now_ns();
    setitimer(ITIMER_PROF, &(struct itimerval){{0}, {0}}, NULL);
    cr_assert(last.payload == 0 && last.overruns == 0);
    assert_conserved();
}

Test(signals, m38_foreign_signals_that_nobody_owned_are_dropped_and_counted)
{
    own_and_start();
    raise(SIGPROF);
    kill(getpid(), SIGPROF);
    send_with(SIGPROF, 0);
    send_with(SIGPROF, (uintptr_t)&err);
    send_with(SIGVTALRM, signals_cookie(1) ^ (uintptr_t)1 << 40);
    cr_assert(jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 5);
    cr_assert(jw_counter(JW_COUNT_SIGNALS) == 0 && jw_load_relaxed(&taken) == 0);
}

/* s21: a process of the same user cannot forge a sample. */
Test(signals, m38_our_cookie_from_another_process_is_foreign)
{
    int status;

    own_and_start();
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};
        _exit(sigqueue(parent, SIGPROF, value) != 0);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    while (jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 0)
        usleep(100);
    cr_assert(jw_load_relaxed(&taken) == 0);
}

/* The previous owner --------------------------------------------------------------------------- */

static int previous_calls;
static siginfo_t previous_info;
static void *previous_context;
static sigset_t previous_mask;

static void previous_with_info(int signo, siginfo_t *info, void *ucontext)
{
    cr_assert(signo == SIGPROF);
    previous_calls++;
    previous_info = *info;
    previous_context = ucontext;
    pthread_sigmask(SIG_SETMASK, NULL, &previous_mask);
    errno = ENOTTY;
}

static void previous_plain(int signo)
{
    cr_assert(signo == SIGPROF);
    previous_calls++;
}

static void install_previous(int flags)
{
    struct sigaction action = {.sa_flags = flags};

    if (flags & SA_SIGINFO)
        action.sa_sigaction = previous_with_info;
    else
        action.sa_handler = previous_plain;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGPROF, &action, NULL);
}

Test(signals, m38_the_previous_owner_gets_foreign_signals_and_none_of_ours)
{
    sigset_t now;

    install_previous(SA_SIGINFO);
    own_and_start();
    send_ours(SIGPROF, 1);
    cr_assert(previous_calls == 0 && jw_load_relaxed(&taken) == 1);
    errno = EXDEV;
    send_with(SIGPROF, 0x1234);
    cr_assert(errno == EXDEV);
    cr_assert(previous_calls == 1 && jw_load_relaxed(&taken) == 1);
    cr_assert(previous_info.si_code == SI_QUEUE && previous_info.si_pid == getpid());
    cr_assert((uintptr_t)previous_info.si_value.sival_ptr == 0x1234);
    cr_assert(previous_context != NULL);
    /* His own mask holds while he runs, and no longer. */
    cr_assert(sigismember(&previous_mask, SIGUSR1) == 1);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    cr_assert(sigismember(&now, SIGUSR1) == 0 && sigismember(&now, SIGPROF) == 0);
    cr_assert(jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 1);
}

Test(signals, a_previous_owner_without_siginfo_is_called_as_he_expects)
{
    install_previous(0);
    own_and_start();
    raise(SIGPROF);
    raise(SIGPROF);
    cr_assert(previous_calls == 2);
}

Test(signals, a_previous_owner_that_wanted_one_signal_gets_one)
{
    install_previous(SA_SIGINFO | (int)SA_RESETHAND);
    own_and_start();
    raise(SIGPROF);
    raise(SIGPROF);
    cr_assert(previous_calls == 1 && jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 2);
}

Test(signals, a_previous_owner_that_leaves_his_signal_open_finds_it_open)
{
    install_previous(SA_SIGINFO | SA_NODEFER);
    own_and_start();
    raise(SIGPROF);
    cr_assert(previous_calls == 1 && sigismember(&previous_mask, SIGPROF) == 0);
}

Test(signals, a_signal_that_was_ignored_stays_ignored)
{
    signal(SIGPROF, SIG_IGN);
    own_and_start();
    raise(SIGPROF);
    cr_assert(jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 1);
}

Test(signals, the_previous_owner_can_be_named)
{
    char text[256];

    signals_describe_previous(SIGPROF, text, sizeof text);
    cr_assert(strcmp(text, "nobody") == 0);
    signal(SIGVTALRM, SIG_IGN);
    install_previous(SA_SIGINFO);
    own_and_start();
    signals_describe_previous(SIGPROF, text, sizeof text);
    cr_assert(strstr(text, " in ") != NULL, "%s", text);
    signals_describe_previous(SIGVTALRM, text, sizeof text);
    cr_assert(strcmp(text, "ignored") == 0, "%s", text);
}

/* Ownership ------------------------------------------------------------------------------------ */

Test(signals, owning_twice_changes_nothing)
{
    struct sigaction first;
    struct sigaction second;

    install_previous(SA_SIGINFO);
    own_and_start();
    sigaction(SIGPROF, NULL, &first);
    cr_assert(signals_own(SIGPROF, &err) && signals_own(SIGPROF, &err));
    sigaction(SIGPROF, NULL, &second);
    cr_assert(first.sa_sigaction == second.sa_sigaction && first.sa_flags == second.sa_flags);
    raise(SIGPROF);
    cr_assert(previous_calls == 1);
}

Test(signals, m02_our_handler_restarts_calls_runs_on_another_stack_and_masks_both_signals)
{
    struct sigaction now;

    own_and_start();
    sigaction(SIGPROF, NULL, &now);
    cr_assert((now.sa_flags & (SA_SIGINFO | SA_RESTART | SA_ONSTACK)) ==
              (SA_SIGINFO | SA_RESTART | SA_ONSTACK));
    cr_assert((now.sa_flags & (SA_NODEFER | (int)SA_RESETHAND)) == 0);
    cr_assert(sigismember(&now.sa_mask, SIGPROF) == 1);
    cr_assert(sigismember(&now.sa_mask, SIGVTALRM) == 1);
}

Test(signals, a_signal_taken_over_by_somebody_is_reported_and_not_taken_back)
{
    own_and_start();
    cr_assert(signals_check(&err));
    install_previous(SA_SIGINFO);
    cr_assert(!signals_check(&err));
    cr_assert(strstr(err.message, "SIGPROF") != NULL && strstr(err.message, " in ") != NULL, "%s",
              err.message);
    cr_assert(!signals_own(SIGPROF, NULL));
    raise(SIGPROF);
    cr_assert(previous_calls == 1);
}

Test(signals, only_profiling_signals_can_be_owned)
{
    cr_assert(!signals_own(SIGSEGV, &err) && strstr(err.message, "SIGPROF") != NULL);
    cr_assert(!signals_own(0, NULL) && !signals_own(-1, NULL) && !signals_own(9999, NULL));
}

/* Start, stop, drain --------------------------------------------------------------------------- */

Test(signals, without_an_engine_our_signals_are_a_named_loss)
{
    cr_assert(signals_own(SIGPROF, &err));
    send_ours(SIGPROF, 1);
    cr_assert(jw_counter(JW_COUNT_LOST_STOPPED) == 1);
    signals_start(&engine);
    send_ours(SIGPROF, 1);
    signals_stop();
    signals_stop();
    send_ours(SIGPROF, 1);
    signals_start(&engine);
    send_ours(SIGPROF, 1);
    cr_assert(jw_load_relaxed(&taken) == 2 && jw_counter(JW_COUNT_LOST_STOPPED) == 2);
    assert_conserved();
}

static _Atomic bool is_parked;
static _Atomic bool may_leave;

static void park(void)
{
    jw_store_relaxed(&is_parked, true);
    while (!jw_load_relaxed(&may_leave)) {
    }
}

static void *send_to_itself(void *argument)
{
    const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};

    pthread_sigqueue(pthread_self(), SIGPROF, value);
    if (WITH_TSAN)
        usleep(1);
    return argument;
}

Test(signals, m43_drain_waits_for_who_is_inside_and_says_when_it_gave_up)
{
    pthread_t thread;

    own_and_start();
    cr_assert(signals_drain(0));
    inside = park;
    pthread_create(&thread, NULL, send_to_itself, NULL);
    while (!jw_load_relaxed(&is_parked))
        usleep(100);
    signals_stop();
    cr_assert(!signals_drain(5 * JW_NS_PER_MS));
    jw_store_relaxed(&may_leave, true);
    cr_assert(signals_drain(30 * JW_NS_PER_SECOND));
    cr_assert(jw_load_relaxed(&taken) == 1);
    pthread_join(thread, NULL);
    assert_conserved();
}

/* Inside the handler --------------------------------------------------------------------------- */

static bool was_in_handler;
static sigset_t mask_inside;

static void look_around(void)
{
    was_in_handler = signals_in_handler();
    pthread_sigmask(SIG_SETMASK, NULL, &mask_inside);
}

Test(signals, the_engine_runs_with_both_signals_masked_and_the_thread_says_so)
{
    own_and_start();
    inside = look_around;
    send_ours(SIGVTALRM, 1);
    cr_assert(was_in_handler && !signals_in_handler());
    cr_assert(sigismember(&mask_inside, SIGPROF) == 1);
    cr_assert(sigismember(&mask_inside, SIGVTALRM) == 1);
}

static void open_and_send_again(void)
{
    sigset_t profiling;

    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &profiling, NULL);
    send_ours(SIGPROF, 2);
}

Test(signals, m02_a_signal_inside_the_engine_is_a_named_loss)
{
    own_and_start();
    inside = open_and_send_again;
    send_ours(SIGPROF, 1);
    cr_assert(jw_load_relaxed(&taken) == 1);
    cr_assert(jw_counter(JW_COUNT_LOST_REENTRY) == 1 && jw_counter(JW_COUNT_SIGNALS) == 2);
    assert_conserved();
    inside = NULL;
    send_ours(SIGPROF, 3);
    cr_assert(jw_load_relaxed(&taken) == 2);
}

/* The handler as the kernel calls it; the sanitizers say so too when errno is not kept. */
static void call_handler(siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;

    sigaction(SIGPROF, NULL, &action);
    action.sa_sigaction(SIGPROF, info, context);
}

Test(signals, m05_errno_and_the_context_are_as_they_were)
{
    static ucontext_t context;
    static ucontext_t before;
    siginfo_t info = {.si_signo = SIGPROF, .si_code = SI_TIMER};

    own_and_start();
    cr_assert(signals_own_faults(&err), "%s", err.message); /* the context names no code */
    errno_to_leave = ERANGE;
    memset(&context, 0x5a, sizeof context);
    before = context;
    info.si_overrun = 41;
    info.si_value.sival_ptr = (void *)signals_cookie(9);
    errno = EXDEV;
    call_handler(&info, &context);
    cr_assert(errno == EXDEV);
    cr_assert(jw_load_relaxed(&taken) == 1 && last.overruns == 41 && last.ucontext == &context);
    info.si_value.sival_ptr = NULL;
    call_handler(&info, &context);
    cr_assert(errno == EXDEV && jw_counter(JW_COUNT_FOREIGN_SIGNALS) == 1);
    cr_assert(memcmp(&context, &before, sizeof context) == 0);
}

Test(signals, an_overrun_that_makes_no_sense_counts_as_none)
{
    static ucontext_t context;
    siginfo_t info = {.si_signo = SIGPROF, .si_code = SI_TIMER};

    own_and_start();
    cr_assert(signals_own_faults(&err), "%s", err.message); /* the context names no code */
    info.si_overrun = -3;
    info.si_value.sival_ptr = (void *)signals_cookie(9);
    call_handler(&info, &context);
    cr_assert(jw_load_relaxed(&taken) == 1 && last.overruns == 0);
}

struct reader {
    int from;
    ssize_t got;
    int error;
};

static void *read_one(void *argument)
{
    struct reader *reader = argument;
    char byte;

    reader->got = read(reader->from, &byte, 1);
    reader->error = errno;
    return NULL;
}

Test(signals, m37_a_blocked_read_never_sees_eintr)
{
    const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};
    struct reader reader;
    pthread_t thread;
    int ends[2];

    if (WITH_TSAN)
        cr_skip_test("thread sanitizer puts off signals of a thread that reads");
    own_and_start();
    cr_assert(pipe(ends) == 0);
    reader.from = ends[0];
    pthread_create(&thread, NULL, read_one, &reader);
    /* Each is waited for, so that each interrupts the read anew. */
    for (int i = 1; i <= 50; i++) {
        cr_assert(pthread_sigqueue(thread, i % 2 ? SIGPROF : SIGVTALRM, value) == 0);
        wait_until_taken(i);
    }
    cr_assert(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    cr_assert(reader.got == 1, "read: %zd, %s", reader.got, strerror(reader.error));
}

/* What lies below belongs to the test as well: a lane's frames may be larger than those that are shipped. */
static uint8_t alternate_memory[1 << 17] __attribute__((aligned(64)));
#define ALTERNATE (alternate_memory + (1 << 16))

static bool takes_on_alternate(size_t length_bytes)
{
    const stack_t alternate = {.ss_sp = ALTERNATE, .ss_size = length_bytes};
    const int before = jw_load_relaxed(&taken);

    if (sigaltstack(&alternate, NULL) != 0)
        cr_skip_test("the kernel takes no stack of so few bytes");
    send_ours(SIGPROF, 1);
    return jw_load_relaxed(&taken) == before + 1;
}

Test(signals, m13_an_alternate_stack_without_room_for_a_sample_gets_none, .disabled = WITH_TSAN)
{
    own_and_start();
    cr_expect(takes_on_alternate(1 << 16));
    /* What the kernel lays there: less than it says (AT_MINSIGSTKSZ) where a processor has registers that a program must
     * ask for. It is aligned to 64 bytes. */
    const size_t frame_bytes = (size_t)(ALTERNATE + (1 << 16) - (const uint8_t *)last.ucontext);
    cr_expect(takes_on_alternate(frame_bytes + SIGNALS_STACK_BYTES + 64));
    cr_expect_not(takes_on_alternate(frame_bytes + SIGNALS_STACK_BYTES / 4));
    cr_expect(jw_counter(JW_COUNT_LOST_STACK) == 1);
    const stack_t none = {.ss_flags = SS_DISABLE};
    cr_assert(sigaltstack(&none, NULL) == 0);
    send_ours(SIGPROF, 1);
    cr_expect(jw_load_relaxed(&taken) == 3);
    assert_conserved();
}

Test(signals, a_child_takes_no_samples)
{
    int status;

    own_and_start();
    const pid_t child = fork();
    if (child == 0) {
        const uint64_t counted = jw_counter(JW_COUNT_SIGNALS);

        sigqueue(getpid(), SIGPROF, (union sigval){.sival_ptr = (void *)signals_cookie(1)});
        _exit(jw_load_relaxed(&taken) == 0 && jw_counter(JW_COUNT_LOST_FORKED) == 1 &&
                      jw_counter(JW_COUNT_SIGNALS) == counted + 1
                  ? 0
                  : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    send_ours(SIGPROF, 1);
    cr_assert(jw_load_relaxed(&taken) == 1 && jw_counter(JW_COUNT_LOST_FORKED) == 0);
}
