/* Whose a memory fault is, and what becomes of it. */
#include <criterion/criterion.h>

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/counters.h"
#include "signals/signals.h"

/*
 * faulty_store faults at faulty_store itself; faulty_load likewise, in the text that guarded calls
 * name; fetch is HotSpot's SafeFetch32, whose continuation returns its second argument.
 */
/* clang-format off */
#if defined(__x86_64__)
__asm__(".pushsection .text\n .globl faulty_store, faulty_load, fetch\n"
"faulty_store: movl $5, (%rdi)\nfaulty_store_next: ret\n"
"text_begin: faulty_load: movq (%rdi), %rax\n nop\n ret\n"
"fetch: .byte 0x8b,0x07,0xc3\nfetch_continuation: .byte 0x89,0xf0,0xc3\ntext_end: nop\n"
".popsection\n");
#define SET_PC(context, to) ((context)->uc_mcontext.gregs[REG_RIP] = (greg_t)(to))
#else
__asm__(".pushsection .text\n .balign 8\n .globl faulty_store, faulty_load, fetch\n"
"faulty_store: str wzr, [x0]\nfaulty_store_next: ret\n"
"text_begin: faulty_load: ldr x0, [x0]\n nop\n ret\n"
"fetch: ldr w0, [x0]\n ret\nfetch_continuation: mov x0, x1\n ret\ntext_end: nop\n"
".popsection\n");
#define SET_PC(context, to) ((context)->uc_mcontext.pc = (uintptr_t)(to))
#endif
/* clang-format on */

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void faulty_store(void *to);
HIDDEN void faulty_load(void *from, intptr_t second, void *third);
HIDDEN int fetch(const void *from, intptr_t otherwise);
extern const char faulty_store_next[] HIDDEN;
extern const char fetch_continuation[] HIDDEN;
extern const char text_begin[] HIDDEN;
extern const char text_end[] HIDDEN;

/* Thread sanitizer installs every handler with all signals masked. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN true
#else
#define WITH_TSAN false
#endif
#define SKIP_WITH_TSAN()                                                                           \
    do {                                                                                           \
        if (WITH_TSAN)                                                                             \
            cr_skip_test("thread sanitizer sets masks of its own");                                \
    } while (0)

static struct jw_error err;
static int previous_calls;
static siginfo_t previous_info;
static struct arch_regs previous_regs;
static sigset_t previous_mask;
static sigjmp_buf out;

/* Stands where the JVM's handler does: repairs the faults it knows, by moving the pc. */
static void previous(int signo, siginfo_t *info, void *ucontext)
{
    ucontext_t *context = ucontext;

    (void)signo;
    previous_calls++;
    previous_info = *info;
    arch_regs_read(ucontext, &previous_regs);
    pthread_sigmask(SIG_SETMASK, NULL, &previous_mask);
    if (info->si_code <= 0)
        return;
    if (previous_regs.pc == (uintptr_t)faulty_store)
        SET_PC(context, faulty_store_next);
    else if (previous_regs.pc == (uintptr_t)fetch)
        SET_PC(context, fetch_continuation);
    else
        siglongjmp(out, 1);
}

static void install_previous(int flags)
{
    struct sigaction action = {.sa_sigaction = previous, .sa_flags = SA_SIGINFO | flags};

    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void own(void)
{
    install_previous(0);
    cr_assert(signals_own_faults(&err), "%s", err.message);
}

/* Before him, a handler that faults itself. */
static int worse_calls;

static void fault_in_turn(int signo, siginfo_t *info, void *ucontext)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    if (++worse_calls == 1 && regs.pc == (uintptr_t)faulty_store)
        faulty_store((void *)0x58);
    previous(signo, info, ucontext);
}

static void install_worse(int flags)
{
    const struct sigaction action = {.sa_sigaction = fault_in_turn, .sa_flags = SA_SIGINFO | flags};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* After us, one that hands all on to whom it found: us. */
static struct sigaction found_by_newcomer;
static int newcomer_calls;

static void hand_on(int signo, siginfo_t *info, void *ucontext)
{
    newcomer_calls++;
    found_by_newcomer.sa_sigaction(signo, info, ucontext);
}

static enum signals_call call(signals_guarded_function *function, void *first)
{
    return signals_call_guarded(function, first, 0, NULL, (uintptr_t)text_begin,
                                (uintptr_t)text_end);
}

TestSuite(faults, .timeout = 1800);

Test(faults, contained_loads_never_reach_the_previous_owner)
{
    uintptr_t word = 1;

    own();
    errno = EXDEV;
    cr_assert(!safe_load_word(16, &word) && word == 1);
    cr_assert(!safe_load_word((uintptr_t)1 << 63, &word) && word == 1);
    cr_assert(errno == EXDEV && previous_calls == 0);
    cr_assert(jw_counter(JW_COUNT_LOAD_FAULTS) == 2 && jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

Test(faults, every_other_fault_goes_to_the_previous_owner_once_and_as_it_was)
{
    own();
    faulty_store((void *)0x1230);
    cr_assert(previous_calls == 1);
    cr_assert(previous_info.si_signo == SIGSEGV && previous_info.si_code == SEGV_MAPERR);
    cr_assert(previous_info.si_addr == (void *)0x1230);
    cr_assert(previous_regs.pc == (uintptr_t)faulty_store);
    for (int i = 0; i < 100; i++)
        faulty_store((void *)0x40);
    cr_assert(previous_calls == 101 && jw_counter(JW_COUNT_LOAD_FAULTS) == 0);
}

Test(faults, the_previous_owner_runs_under_his_own_mask_with_profiling_signals_blocked)
{
    struct sigaction now;

    SKIP_WITH_TSAN();
    own();
    faulty_store((void *)8);
    cr_assert(sigismember(&previous_mask, SIGUSR2) == 1);
    cr_assert(sigismember(&previous_mask, SIGSEGV) == 1);
    cr_assert(sigismember(&previous_mask, SIGPROF) == 1);
    cr_assert(sigismember(&previous_mask, SIGVTALRM) == 1);
    cr_assert(sigismember(&previous_mask, SIGUSR1) == 0);
    sigaction(SIGSEGV, NULL, &now);
    cr_assert((now.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)) == SA_SIGINFO);
}

Test(faults, the_flags_of_the_previous_owner_are_kept)
{
    struct sigaction now;

    SKIP_WITH_TSAN();
    install_previous(SA_NODEFER | SA_ONSTACK | SA_RESTART);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    sigaction(SIGBUS, NULL, &now);
    cr_assert((now.sa_flags & (SA_NODEFER | SA_ONSTACK | SA_RESTART)) ==
              (SA_NODEFER | SA_ONSTACK | SA_RESTART));
    faulty_store((void *)8);
    cr_assert(previous_calls == 1 && sigismember(&previous_mask, SIGSEGV) == 0);
}

Test(faults, m01_a_fault_inside_a_guarded_call_ends_it)
{
    uintptr_t good = 7;

    own();
    for (unsigned i = 1; i <= 3; i++) {
        cr_assert(call(faulty_load, (void *)0x18) == SIGNALS_CALL_FAULTED);
        cr_assert(jw_counter(JW_COUNT_WALK_FAULTS) == i);
        cr_assert(call(faulty_load, &good) == SIGNALS_CALL_DONE);
    }
    cr_assert(previous_calls == 0 && !signals_guard_is_off(NULL, 0));
}

static void call_guarded_again(void *first, intptr_t second, void *third)
{
    (void)second;
    (void)third;
    *(enum signals_call *)first = call(faulty_load, NULL);
}

Test(faults, a_guarded_call_inside_another_is_refused)
{
    enum signals_call inner = SIGNALS_CALL_DONE;

    own();
    cr_assert(call(call_guarded_again, &inner) == SIGNALS_CALL_DONE);
    cr_assert(inner == SIGNALS_CALL_REFUSED && jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

static void store_to(void *first, intptr_t second, void *third)
{
    (void)second;
    (void)third;
    faulty_store(first);
}

Test(faults, a_fault_outside_of_the_named_text_is_not_ours_even_in_a_guarded_call)
{
    own();
    cr_assert(call(store_to, (void *)0x20) == SIGNALS_CALL_DONE);
    cr_assert(previous_calls == 1 && jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

Test(faults, a_fault_in_the_named_text_without_a_guarded_call_is_not_ours)
{
    own();
    if (sigsetjmp(out, 1) == 0)
        faulty_load((void *)0x28, 0, NULL);
    cr_assert(previous_calls == 1 && previous_regs.pc == (uintptr_t)faulty_load);
    cr_assert(jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

static int fetched;

static void fetch_from(void *first, intptr_t second, void *third)
{
    (void)second;
    (void)third;
    fetched = fetch(first, 1234);
}

Test(faults, the_faults_of_safefetch_belong_to_the_jvm_even_in_a_guarded_call)
{
    own();
    cr_assert(call(fetch_from, (void *)0x30) == SIGNALS_CALL_DONE);
    cr_assert(fetched == 1234 && previous_calls == 1);
    cr_assert(jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

static void load_contained(void *first, intptr_t second, void *third)
{
    uintptr_t word;

    (void)second;
    (void)third;
    *(bool *)first = safe_load_word(0x38, &word);
}

Test(faults, a_contained_load_in_a_guarded_call_is_only_a_failed_load)
{
    bool was_read = true;

    own();
    cr_assert(call(load_contained, &was_read) == SIGNALS_CALL_DONE);
    cr_assert(!was_read && jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

Test(faults, m01_eight_within_a_minute_switch_guarded_calls_off_and_say_why)
{
    uintptr_t good = 7;
    char reason[256] = "";

    own();
    for (int i = 0; i < SIGNALS_FAULT_LIMIT; i++) {
        cr_assert(!signals_guard_is_off(reason, sizeof reason) && reason[0] == '\0');
        cr_assert(call(faulty_load, (void *)0xabc0) == SIGNALS_CALL_FAULTED);
    }
    cr_assert(signals_guard_is_off(reason, sizeof reason));
    cr_assert(strstr(reason, "0xabc0") != NULL, "%s", reason);
    cr_assert(call(faulty_load, &good) == SIGNALS_CALL_REFUSED);
    cr_assert(jw_counter(JW_COUNT_WALK_FAULTS) == SIGNALS_FAULT_LIMIT);
}

Test(faults, guarded_calls_that_are_on_again_bear_as_many_faults_as_before)
{
    own();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < SIGNALS_FAULT_LIMIT; i++) {
            cr_assert(!signals_guard_is_off(NULL, 0), "round %d, fault %d", round, i);
            cr_assert(call(faulty_load, (void *)0xabc0) == SIGNALS_CALL_FAULTED);
        }
        cr_assert(signals_guard_is_off(NULL, 0));
        signals_guard_reset();
    }
}

Test(faults, faults_of_contained_loads_are_counted_for_their_thread)
{
    uintptr_t word;

    own();
    const uint32_t before = signals_load_faults();
    cr_assert(safe_load_word((uintptr_t)&before & ~(uintptr_t)7, &word));
    cr_assert(signals_load_faults() == before);
    for (int i = 0; i < 3; i++)
        cr_assert(!safe_load_word(8, &word));
    cr_assert(signals_load_faults() == before + 3);
}

static void send_fault(void *first, intptr_t second, void *third)
{
    (void)first;
    (void)second;
    (void)third;
    raise(SIGSEGV);
}

Test(faults, a_fault_signal_that_somebody_sent_is_never_ours)
{
    own();
    raise(SIGSEGV);
    cr_assert(previous_calls == 1 && previous_info.si_code <= 0);
    cr_assert(signals_call_guarded(send_fault, NULL, 0, NULL, 0, UINTPTR_MAX) == SIGNALS_CALL_DONE);
    cr_assert(previous_calls == 2 && jw_counter(JW_COUNT_WALK_FAULTS) == 0);
}

Test(faults, m10_owning_twice_changes_nothing_and_a_newcomer_is_reported)
{
    own();
    cr_assert(signals_own_faults(&err) && signals_check(&err));
    faulty_store((void *)8);
    cr_assert(previous_calls == 1);
    install_previous(0);
    cr_assert(!signals_check(&err) && strstr(err.message, "SIGSEGV") != NULL, "%s", err.message);
    cr_assert(!signals_own_faults(NULL));
}

/* The engine and the faults together, as in a sample. */
static enum signals_call in_handler;
static bool was_loaded;

static void sample(const struct signals_event *event)
{
    uintptr_t word;

    (void)event;
    was_loaded = safe_load_word(0x48, &word);
    in_handler = call(faulty_load, (void *)0x50);
    jw_count(JW_COUNT_SAMPLES);
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {.take = sample};

Test(faults, a_sample_survives_its_faults_and_leaves_the_thread_as_it_was)
{
    static char other_stack[65536];
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};
    sigset_t mask;

    SKIP_WITH_TSAN();
    own();
    cr_assert(signals_own(SIGPROF, &err));
    signals_start(&engine);
    for (unsigned i = 1; i <= 4; i++) {
        /* From the third on, on a signal stack. */
        if (i == 3)
            cr_assert(sigaltstack(&stack, NULL) == 0);
        was_loaded = true;
        in_handler = SIGNALS_CALL_DONE;
        errno = EXDEV;
        cr_assert(sigqueue(getpid(), SIGPROF, value) == 0);
        cr_assert(errno == EXDEV);
        cr_assert(jw_counter(JW_COUNT_SAMPLES) == i);
        cr_assert(!was_loaded && in_handler == SIGNALS_CALL_FAULTED);
        cr_assert(!signals_in_handler());
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        cr_assert(sigismember(&mask, SIGPROF) == 0 && sigismember(&mask, SIGSEGV) == 0);
    }
    cr_assert(previous_calls == 0 && jw_counter(JW_COUNT_WALK_FAULTS) == 4);
}

Test(faults, m09_a_handler_that_faults_gets_each_fault_once)
{
    SKIP_WITH_TSAN();
    install_worse(SA_NODEFER);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    faulty_store((void *)8);
    cr_assert(worse_calls == 2 && previous_calls == 2);
    faulty_store((void *)8);
    cr_assert(worse_calls == 3 && previous_calls == 3);
    cr_assert(jw_counter(JW_COUNT_WALK_FAULTS) == 0 && jw_counter(JW_COUNT_LOAD_FAULTS) == 0);
}

Test(faults, m09_a_handler_that_faults_under_its_own_mask_ends_the_process, .signal = SIGSEGV)
{
    install_worse(0);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    faulty_store((void *)8);
}

Test(faults, m09_a_newcomer_that_hands_on_to_us_makes_no_circle)
{
    const struct sigaction newcomer = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO};
    uintptr_t word;

    own();
    sigaction(SIGSEGV, &newcomer, &found_by_newcomer);
    cr_assert(!signals_own_faults(NULL)); /* nor is he called by us */
    faulty_store((void *)8);
    cr_assert(newcomer_calls == 1 && previous_calls == 1);
    cr_assert(!safe_load_word(8, &word));
    cr_assert(call(faulty_load, (void *)0x18) == SIGNALS_CALL_FAULTED);
    cr_assert(newcomer_calls == 3 && previous_calls == 1);
}

/* Nobody was there before us: the process ends as it would have. */
static void own_after_nobody(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    cr_assert(signals_own_faults(&err), "%s", err.message);
}

Test(faults, without_a_previous_owner_a_fault_ends_the_process, .signal = SIGSEGV)
{
    uintptr_t word;

    own_after_nobody();
    cr_assert(!safe_load_word(8, &word));
    faulty_store((void *)8);
}

Test(faults, without_a_previous_owner_a_sent_fault_signal_ends_the_process, .signal = SIGBUS)
{
    own_after_nobody();
    raise(SIGBUS);
}

Test(faults, a_fault_cannot_be_ignored, .signal = SIGSEGV)
{
    signal(SIGSEGV, SIG_IGN);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    raise(SIGSEGV); /* this one can */
    faulty_store((void *)8);
}
