/* The profiling signals: whose each one is, and the way to the engine. Handler, and control for
 * starting and stopping. */
#include "signals/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "signals/signals_internal.h"
#include "thread/thread_tls.h"

/* Activations are counted in one of so many words, chosen by thread, each in a line of its own. */
#define GATE_COUNT 16
#define GATE_BYTES 64

/* A gate: bit 63 while the engine runs, below it the activations inside. One word, so that an
 * activation either sees the engine stopped or is seen by who stops it. */
#define GATE_RUNNING ((uint64_t)1 << 63)
#define GATE_POLL_NS 200000
/* On a busy machine a pause takes that many times as long. */
#define GATE_POLLS_SLOW 4
#define COOKIE_PREFIX   0x6a77u /* "jw"; no user address starts so */

struct gate {
    _Alignas(GATE_BYTES) _Atomic uint64_t state;
};

/* Lies on a page that the kernel wipes in a child. */
struct process_mark {
    _Atomic int pid; /* 0: this is a child. Relaxed: a process forks as one thread */
};

static struct gate gates[GATE_COUNT];
/* Relaxed: the gate that shows the engine running was released after this was written. */
static const struct signals_engine *_Atomic engine;
static _Atomic bool is_itimer_expected; /* relaxed: a flag on its own */
static struct process_mark *_Atomic process_mark;
static bool is_running; /* control only */

static struct signals_owner owners[] = {{.signo = SIGPROF}, {.signo = SIGVTALRM}};

JW_SIGNAL_SAFE static uint32_t cookie_magic(void)
{
    /* Two copies of the library in one process must not take each other's signals. */
    return COOKIE_PREFIX << 16 | (uint32_t)(jw_hash_word((uintptr_t)gates) & 0xffff);
}

uintptr_t signals_cookie(uint32_t payload)
{
    return (uintptr_t)cookie_magic() << 32 | payload;
}

JW_SIGNAL_SAFE static int own_pid(void)
{
    /* order SIGNALS_MARK: acquires what signals_own released, the page. */
    const struct process_mark *mark = jw_load_acquire(&process_mark);

    return mark == NULL ? 0 : jw_load_relaxed(&mark->pid);
}

/* A signal that shows no sender. Source: Linux, kernel/signal.c, collect_signal and __send_signal_locked: the
 * information of a signal below SIGRTMIN is dropped when there is no memory or right to queue it. */
JW_SIGNAL_SAFE static bool is_claimed(int signo)
{
    const struct signals_engine *current = jw_load_relaxed(&engine);

    return current != NULL && current->claims != NULL && current->claims(signo);
}

/* Source: Linux, fs/fcntl.c, send_sigio_to_task: a signal that was asked for a descriptor carries its number. */
JW_SIGNAL_SAFE static bool is_claimed_number(int signo, int number)
{
    const struct signals_engine *current = jw_load_relaxed(&engine);

    return current != NULL && current->claims_number != NULL &&
           current->claims_number(signo, number);
}

/* Source: Linux, kernel/time/posix-timers.c (SI_TIMER, si_value, si_overrun), kernel/signal.c
 * (SI_QUEUE as its sender filled it), kernel/time/itimer.c (SEND_SIG_PRIV: SI_KERNEL, pid 0). */
JW_SIGNAL_SAFE static bool read_ours(int signo, const siginfo_t *info, const void *ucontext,
                                     struct signals_event *out)
{
    const uintptr_t cookie = (uintptr_t)info->si_value.sival_ptr;

    out->signo = signo;
    out->payload = (uint32_t)cookie;
    out->overruns = 0;
    out->is_from_timer = info->si_code == SI_TIMER;
    out->is_from_kernel = false;
    out->is_bare = false;
    out->ucontext = ucontext;
    if (info->si_code == SI_KERNEL) {
        out->payload = 0;
        return signo == SIGPROF && jw_load_relaxed(&is_itimer_expected);
    }
    if (info->si_code == POLL_IN) {
        out->payload = 0;
        out->is_from_kernel = true;
        return is_claimed_number(signo, info->si_fd);
    }
    if (info->si_code == SI_USER && info->si_pid == 0) {
        out->payload = 0;
        out->is_bare = true;
        return is_claimed(signo);
    }
    if (cookie >> 32 != cookie_magic())
        return false;
    if (info->si_code == SI_TIMER) {
        out->overruns = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
        return true;
    }
    /* In a child, where the mark is wiped, a late signal of ours is still none of anybody else's. */
    return info->si_code == SI_QUEUE && (info->si_pid == own_pid() || own_pid() == 0);
}

/* The kernel looks at the room on an alternate stack for its own frame alone. `ucontext` lies at the end of that. */
JW_SIGNAL_SAFE static bool has_stack(const void *ucontext)
{
    const stack_t *alternate = &((const ucontext_t *)ucontext)->uc_stack;
    const uintptr_t used_to = (uintptr_t)ucontext - (uintptr_t)alternate->ss_sp;

    return used_to >= alternate->ss_size || used_to >= SIGNALS_STACK_BYTES;
}

JW_SIGNAL_SAFE static void run_engine(const struct signals_event *event, struct thread_tls *tls)
{
    const struct signals_engine *current = jw_load_relaxed(&engine);

    jw_store_relaxed(&tls->handler_depth, 1);
    jw_signal_fence();
    current->take(event);
    jw_signal_fence();
    jw_store_relaxed(&tls->handler_depth, 0);
}

JW_SIGNAL_SAFE static void take(const struct signals_event *event)
{
    struct thread_tls *tls = thread_tls();
    struct gate *gate = &gates[jw_hash_word((uintptr_t)tls) % GATE_COUNT];

    if (own_pid() == 0) {
        jw_count(JW_COUNT_SIGNALS);
        jw_count(JW_COUNT_LOST_FORKED);
        return;
    }
    /* order SIGNALS_GATE: acquires what signals_start released, the engine and all it uses. */
    const bool is_open = (jw_add_acq_rel(&gate->state, 1) & GATE_RUNNING) != 0;
    /* Inside the gate, like the outcome: who saw the count finds the activation there, or its outcome. */
    jw_count(JW_COUNT_SIGNALS);
    if (jw_load_relaxed(&tls->handler_depth) != 0)
        jw_count(JW_COUNT_LOST_REENTRY);
    else if (!has_stack(event->ucontext))
        jw_count(JW_COUNT_LOST_STACK);
    else if (is_open)
        run_engine(event, tls);
    else
        jw_count(JW_COUNT_LOST_STOPPED);
    /* order SIGNALS_GATE: releases what the engine did, for signals_drain and signals_inside. */
    jw_sub_release(&gate->state, 1);
}

void signals_tell_wait(int signo, const void *ucontext, bool begins)
{
    struct thread_tls *tls = thread_tls();
    struct gate *gate = &gates[jw_hash_word((uintptr_t)tls) % GATE_COUNT];

    if (own_pid() == 0)
        return;
    /* order SIGNALS_GATE: acquires what signals_start released, the engine and all it uses. */
    if (jw_add_acq_rel(&gate->state, 1) & GATE_RUNNING) {
        const struct signals_engine *current = jw_load_relaxed(&engine);

        jw_store_relaxed(&tls->handler_depth, 1);
        jw_signal_fence();
        if (current->waits != NULL && has_stack(ucontext))
            current->waits(signo, ucontext, begins);
        jw_signal_fence();
        jw_store_relaxed(&tls->handler_depth, 0);
    }
    /* order SIGNALS_GATE: releases what the engine did, for signals_drain. */
    jw_sub_release(&gate->state, 1);
}

JW_SIGNAL_SAFE static struct signals_owner *owner_of(int signo)
{
    for (size_t i = 0; i < JW_COUNT_OF(owners); i++)
        if (owners[i].signo == signo)
            return &owners[i];
    return NULL;
}

JW_SIGNAL_SAFE static void on_signal(int signo, siginfo_t *info, void *ucontext)
{
    const int saved_errno = errno;
    struct signals_event event;

    if (read_ours(signo, info, ucontext, &event)) {
        take(&event);
        signals_finish_call(signo, ucontext);
    } else {
        jw_count(JW_COUNT_FOREIGN_SIGNALS);
        (void)signals_owner_pass(owner_of(signo), info, ucontext, true);
    }
    errno = saved_errno;
}

static void forget_parent(void)
{
    struct process_mark *mark = jw_load_relaxed(&process_mark);

    jw_store_relaxed(&mark->pid, 0);
}

/* Makes the page that a child finds wiped: by the kernel, whatever made the child, and by fork() itself
 * before Linux 4.14 and under emulators, which accept the advice without following it. */
static bool make_mark(struct jw_error *err)
{
    struct process_mark *mark;

    if (jw_load_relaxed(&process_mark) != NULL)
        return true;
    if (!jw_memory_charge(JW_MEMORY_CONTROL, arch_facts.page_max_bytes)) {
        jw_error_set(err, "memlimit leaves no room for the fork guard; try a larger one");
        return false;
    }
    mark = mmap(NULL, arch_facts.page_max_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED) {
        jw_memory_credit(JW_MEMORY_CONTROL, arch_facts.page_max_bytes);
        jw_error_set(err, "cannot map a page for the fork guard: %s", strerror(errno));
        return false;
    }
    jw_store_relaxed(&mark->pid, (int)getpid());
    (void)madvise(mark, arch_facts.page_max_bytes, MADV_WIPEONFORK);
    if (pthread_atfork(NULL, NULL, forget_parent) != 0) {
        jw_error_set(err, "cannot register the fork guard: out of memory");
        munmap(mark, arch_facts.page_max_bytes);
        jw_memory_credit(JW_MEMORY_CONTROL, arch_facts.page_max_bytes);
        return false;
    }
    jw_memory_note(JW_MEMORY_CONTROL, mark, arch_facts.page_max_bytes);
    /* order SIGNALS_MARK: releases the page, for handlers. */
    jw_store_release(&process_mark, mark);
    return true;
}

bool signals_own(int signo, struct jw_error *err)
{
    struct signals_owner *owner = owner_of(signo);

    if (owner == NULL) {
        jw_error_set(err, "signal %d is no profiling signal; use SIGPROF or SIGVTALRM", signo);
        return false;
    }
    return make_mark(err) &&
           signals_owner_take(owner, on_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK, 0, err);
}

void signals_describe_previous(int signo, char *text, size_t room_bytes)
{
    const struct signals_owner *owner = owner_of(signo);

    if (owner == NULL)
        snprintf(text, room_bytes, "nobody");
    else
        signals_owner_describe(owner, text, room_bytes);
}

void signals_start(const struct signals_engine *new_engine)
{
    if (!JW_INVARIANT(!is_running && new_engine != NULL))
        return;
    jw_store_relaxed(&engine, new_engine);
    /* order SIGNALS_GATE: releases the engine and what was made for it, for handlers. */
    for (size_t i = 0; i < GATE_COUNT; i++)
        jw_add_release(&gates[i].state, GATE_RUNNING);
    is_running = true;
}

void signals_stop(void)
{
    if (!is_running)
        return;
    is_running = false;
    /* order SIGNALS_GATE: releases nothing that anybody needs; closes the gates. Not by a subtraction: who exits may do
     * so beside who stops. */
    for (size_t i = 0; i < GATE_COUNT; i++)
        jw_and_release(&gates[i].state, ~GATE_RUNNING);
}

bool signals_drain(uint64_t timeout_ns)
{
    const struct timespec pause = {.tv_nsec = GATE_POLL_NS};
    const uint64_t started_ns = jw_now_ns();
    /* A machine that stood still, or a process that was stopped, let nobody out meanwhile: the clock alone is no reason. */
    uint64_t looks = timeout_ns / (GATE_POLL_NS * GATE_POLLS_SLOW);

    for (size_t i = 0; i < GATE_COUNT; i++) {
        /* order SIGNALS_GATE: acquires what the last activation released. */
        while ((jw_load_acquire(&gates[i].state) & ~GATE_RUNNING) != 0) {
            if (looks == 0 && jw_now_ns() - started_ns >= timeout_ns)
                return false;
            looks -= looks > 0;
            nanosleep(&pause, NULL);
        }
    }
    return true;
}

uint64_t signals_inside(void)
{
    uint64_t count = 0;

    /* order SIGNALS_GATE: acquires what activations that have left did. */
    for (size_t i = 0; i < GATE_COUNT; i++)
        count += jw_load_acquire(&gates[i].state) & ~GATE_RUNNING;
    return count;
}

void signals_expect_itimer(bool is_expected)
{
    jw_store_relaxed(&is_itimer_expected, is_expected);
}

bool signals_in_handler(void)
{
    return jw_load_relaxed(&thread_tls()->handler_depth) != 0;
}

bool signals_check(struct jw_error *err)
{
    for (size_t i = 0; i < JW_COUNT_OF(owners); i++)
        if (!signals_owner_check(&owners[i], on_signal, err))
            return false;
    return signals_check_faults(err);
}
