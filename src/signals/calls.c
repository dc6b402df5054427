/*
 * The program's system calls that a signal of ours interrupted: they go on, inside our handler, as if
 * it had not come. Handler, and control for the trusted code. Why so: docs/adr/0008.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "signals/signals_internal.h"

#define SIGNAL_LIMIT 64
#define MASK_BYTES   sizeof(uint64_t)
#define OURS         (SIGNALS_BIT(SIGPROF) | SIGNALS_BIT(SIGVTALRM))
/* What a thread raises itself interrupts no system call. */
#define RAISED                                                                                     \
    (SIGNALS_BIT(SIGSEGV) | SIGNALS_BIT(SIGBUS) | SIGNALS_BIT(SIGILL) | SIGNALS_BIT(SIGFPE) |      \
     SIGNALS_BIT(SIGTRAP) | SIGNALS_BIT(SIGSYS))

/* As rt_sigaction fills it, on both machines: the C library's sigaction hides two signals.
 * Source: Linux, arch/x86/include/uapi/asm/signal.h, include/uapi/asm-generic/signal.h. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

/* Relaxed: written once before signals come; one that sees half of it trusts nobody or too few. */
static _Atomic uintptr_t trusted_begin;
static _Atomic uintptr_t trusted_end;

void signals_trust_handlers(uintptr_t text_begin, uintptr_t text_end)
{
    jw_store_relaxed(&trusted_begin, text_begin);
    jw_store_relaxed(&trusted_end, text_end);
}

uint64_t signals_mask_of(const void *ucontext)
{
    uint64_t mask;

    /* The kernel writes these bytes of the C library's larger set. */
    memcpy(&mask, &((const ucontext_t *)ucontext)->uc_sigmask, sizeof mask);
    return mask;
}

/* False when there is no handler: the signal interrupts nothing, or ends the process. */
JW_SIGNAL_SAFE static bool read_action(int signo, struct kernel_action *out)
{
    const uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS] = {(uintptr_t)signo, 0, (uintptr_t)out,
                                                         MASK_BYTES};

    return arch_syscall_issue(SYS_rt_sigaction, arguments) == 0 &&
           out->handler != (uintptr_t)SIG_DFL && out->handler != (uintptr_t)SIG_IGN;
}

/* Signals that will find a handler in this thread as soon as we return, and which may end a system
 * call: all of them, or those alone that do so under SA_RESTART too. */
JW_SIGNAL_SAFE static bool is_other_pending(const void *ucontext, bool with_restarting)
{
    uint64_t pending = 0;
    const uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS] = {(uintptr_t)&pending, MASK_BYTES};
    struct kernel_action action;

    if (arch_syscall_issue(SYS_rt_sigpending, arguments) != 0)
        return false;
    pending &= ~(signals_mask_of(ucontext) | OURS);
    while (pending != 0) {
        const int signo = __builtin_ctzll(pending) + 1;

        pending &= pending - 1;
        if (read_action(signo, &action) && (with_restarting || !(action.flags & SA_RESTART)))
            return true;
    }
    return false;
}

/*
 * Whether some handler of the program blocks this signal of ours. Then ours may have come when that
 * one returned, with the very same registers, and the EINTR is that one's.
 */
JW_SIGNAL_SAFE static bool is_held_back_by_others(int signo)
{
    const uintptr_t begin = jw_load_relaxed(&trusted_begin);
    const uintptr_t end = jw_load_relaxed(&trusted_end);
    struct kernel_action action;

    for (int other = 1; other <= SIGNAL_LIMIT; other++) {
        if (((OURS | RAISED) & SIGNALS_BIT(other)) != 0 || !read_action(other, &action) ||
            (action.handler >= begin && action.handler < end))
            continue;
        if (action.mask & SIGNALS_BIT(signo))
            return true;
    }
    return false;
}

/* Whoever comes from here on may interrupt, but for the signals of `blocked`. */
JW_SIGNAL_SAFE static void open_to(const void *ucontext, uint64_t blocked)
{
    const uint64_t mask = signals_mask_of(ucontext) | blocked;
    const uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS] = {SIG_SETMASK, (uintptr_t)&mask, 0,
                                                         MASK_BYTES};

    (void)arch_syscall_issue(SYS_rt_sigprocmask, arguments);
}

/*
 * The kernel keeps what is left of the call in the thread's restart block until a handler returns
 * (rt_sigreturn). So this is exact: a handler of somebody else's that ran before ours, or runs from
 * now on, has voided the block, and its EINTR stays.
 * Source: Linux, restore_sigcontext in arch/x86/kernel/signal*.c and arch/arm64/kernel/signal.c.
 */
JW_SIGNAL_SAFE static intptr_t resume(int signo, const void *ucontext)
{
    static const uintptr_t none[ARCH_SYSCALL_ARGUMENTS];

    signals_tell_wait(signo, ucontext, true);
    open_to(ucontext, OURS);
    const intptr_t result = arch_syscall_issue(SYS_restart_syscall, none);
    signals_tell_wait(signo, ucontext, false);
    /* A filter or an emulator that does not know it; none of these calls ends so. */
    return result == -ENOSYS || result == -EPERM ? -EINTR : result;
}

JW_SIGNAL_SAFE static void finish_cut(int signo, void *ucontext)
{
    struct arch_syscall call;
    intptr_t result = -EINTR;

    arch_syscall_read(ucontext, &call);
    switch (call.kind) {
    case ARCH_SYSCALL_OTHER:
        jw_count(JW_COUNT_CALLS_CUT);
        return;
    case ARCH_SYSCALL_UNKNOWN:
    case ARCH_SYSCALL_RESUMED:
        result = resume(signo, ucontext);
        break;
    case ARCH_SYSCALL_ISSUED:
        if (is_held_back_by_others(signo))
            break;
        if (is_other_pending(ucontext, true))
            return; /* the EINTR is his now */
        signals_tell_wait(signo, ucontext, true);
        /* One that comes between here and the call's beginning finds the thread outside of it. */
        open_to(ucontext, OURS);
        result = arch_syscall_issue(call.number, call.arguments);
        signals_tell_wait(signo, ucontext, false);
        break;
    }
    /* A handler of somebody else's ended the call. A signal of ours that waited meanwhile comes here and
     * now: behind the call, it would take that EINTR for its own. */
    if (result == -EINTR)
        open_to(ucontext, 0);
    arch_syscall_end(ucontext, result);
    jw_count(result == -EINTR ? JW_COUNT_CALLS_CUT : JW_COUNT_CALLS_FINISHED);
}

void signals_finish_call(int signo, void *ucontext)
{
    switch (arch_syscall_state(ucontext)) {
    case ARCH_SYSCALL_NONE:
        break;
    case ARCH_SYSCALL_CUT:
        finish_cut(signo, ucontext);
        break;
    case ARCH_SYSCALL_AGAIN:
        /* The kernel restarts the call for the first of several signals, whatever the next one wants. */
        if (is_other_pending(ucontext, false))
            (void)arch_syscall_cut(ucontext);
        break;
    }
}
