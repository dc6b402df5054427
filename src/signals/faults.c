/* Memory faults: which are ours, and guarded calls. Handler, and control for installing. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "signals/signals_internal.h"
#include "thread/thread_tls.h"

#define LIMIT_WINDOW_NS (60 * JW_NS_PER_SECOND)

static struct signals_owner owners[] = {{.signo = SIGSEGV}, {.signo = SIGBUS}};

/*
 * The last faults of guarded calls. Relaxed: a limit may be noticed one fault late, and the reason
 * may mix two faults.
 */
static _Atomic uint64_t fault_count;
static _Atomic uint64_t fault_times_ns[SIGNALS_FAULT_LIMIT];
static _Atomic uintptr_t last_pc;
static _Atomic uintptr_t last_addr;
static _Atomic bool is_off;

JW_SIGNAL_SAFE static void note_fault(uintptr_t pc, uintptr_t addr)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t number = jw_add_relaxed(&fault_count, 1);

    jw_count(JW_COUNT_WALK_FAULTS);
    jw_store_relaxed(&last_pc, pc);
    jw_store_relaxed(&last_addr, addr);
    jw_store_relaxed(&fault_times_ns[number % SIGNALS_FAULT_LIMIT], now_ns);
    /* The slot that the next fault will take holds the oldest of the last SIGNALS_FAULT_LIMIT; 0: there
     * were not that many. */
    const uint64_t oldest_ns = jw_load_relaxed(&fault_times_ns[(number + 1) % SIGNALS_FAULT_LIMIT]);
    if (oldest_ns != 0 && now_ns - oldest_ns <= LIMIT_WINDOW_NS)
        jw_store_relaxed(&is_off, true);
}

JW_SIGNAL_SAFE static bool end_guarded_call(const siginfo_t *info, void *ucontext)
{
    const struct signals_guard *guard = jw_load_relaxed(&thread_tls()->guard);
    struct arch_regs regs;

    if (guard == NULL)
        return false;
    arch_regs_read(ucontext, &regs);
    if (regs.pc < guard->text_begin || regs.pc >= guard->text_end || arch_is_safe_fetch(regs.pc) ||
        !arch_guard_land(ucontext, &guard->call))
        return false;
    note_fault(regs.pc, (uintptr_t)info->si_addr);
    return true;
}

JW_SIGNAL_SAFE static bool end_load(void *ucontext)
{
    _Atomic uint32_t *count = &thread_tls()->load_faults;

    if (!arch_fault_recover(ucontext))
        return false;
    /* Own thread alone: no handler of ours comes between the two. */
    jw_store_relaxed(count, jw_load_relaxed(count) + 1);
    return true;
}

uint32_t signals_load_faults(void)
{
    return jw_load_relaxed(&thread_tls()->load_faults);
}

JW_SIGNAL_SAFE static struct signals_owner *owner_of(int signo)
{
    return signo == SIGBUS ? &owners[1] : &owners[0];
}

/* Nobody was there before us: the default action, as if we had not been there either. */
JW_SIGNAL_SAFE static void end_process(int signo, bool is_sent)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL};

    (void)sigaction(signo, &by_default, NULL);
    /* A fault comes again as soon as we return; a signal that somebody sent does not. */
    if (is_sent)
        (void)raise(signo);
}

JW_SIGNAL_SAFE static void on_fault(int signo, siginfo_t *info, void *ucontext)
{
    /* The kernel says what faulted with a positive code; kill() and its like are never ours. */
    const bool is_sent = info->si_code <= 0;

    if (!is_sent && (end_load(ucontext) || end_guarded_call(info, ucontext)))
        return;

    /* Our handler was installed with the mask of the one before: nothing to set, no time to lose,
     * for the JVM's null checks and polls come this way. */
    switch (signals_owner_pass(owner_of(signo), info, ucontext, false)) {
    case SIGNALS_PASSED:
        break;
    case SIGNALS_WAS_IGNORED:
        if (!is_sent)
            end_process(signo, false); /* the kernel lets nobody ignore a fault */
        break;
    case SIGNALS_WAS_DEFAULT:
        end_process(signo, is_sent);
        break;
    }
}

bool signals_own_faults(struct jw_error *err)
{
    for (size_t i = 0; i < JW_COUNT_OF(owners); i++)
        if (!signals_owner_take(&owners[i], on_fault, SA_SIGINFO,
                                SA_RESTART | SA_ONSTACK | SA_NODEFER, err))
            return false;
    return true;
}

bool signals_check_faults(struct jw_error *err)
{
    for (size_t i = 0; i < JW_COUNT_OF(owners); i++)
        if (!signals_owner_check(&owners[i], on_fault, err))
            return false;
    return true;
}

enum signals_call signals_call_guarded(signals_guarded_function *function, void *first,
                                       intptr_t second, void *third, uintptr_t text_begin,
                                       uintptr_t text_end)
{
    struct thread_tls *tls = thread_tls();
    struct signals_guard guard = {.text_begin = text_begin, .text_end = text_end};
    bool is_done;

    if (jw_load_relaxed(&is_off) || jw_load_relaxed(&tls->guard) != NULL)
        return SIGNALS_CALL_REFUSED;
    jw_store_relaxed(&tls->guard, &guard);
    jw_signal_fence();
    is_done = arch_guarded_call(&guard.call, function, first, second, third);
    jw_signal_fence();
    jw_store_relaxed(&tls->guard, NULL);
    return is_done ? SIGNALS_CALL_DONE : SIGNALS_CALL_FAULTED;
}

bool signals_guard_is_off(char *reason, size_t room_bytes)
{
    if (!jw_load_relaxed(&is_off))
        return false;
    if (reason != NULL)
        snprintf(reason, room_bytes,
                 "%d memory faults within a minute inside the called code, the last at pc %#lx "
                 "for address %#lx",
                 SIGNALS_FAULT_LIMIT, (unsigned long)jw_load_relaxed(&last_pc),
                 (unsigned long)jw_load_relaxed(&last_addr));
    return true;
}

void signals_guard_reset(void)
{
    for (size_t i = 0; i < SIGNALS_FAULT_LIMIT; i++)
        jw_store_relaxed(&fault_times_ns[i], 0);
    jw_store_relaxed(&is_off, false);
}
