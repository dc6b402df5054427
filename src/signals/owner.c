/* Installs our handlers and hands signals to whoever was there before; control, and handler for
 * signals_owner_pass. */
#include "signals/signals_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"

static const char *name_of(int signo)
{
    switch (signo) {
    case SIGPROF:
        return "SIGPROF";
    case SIGVTALRM:
        return "SIGVTALRM";
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    default:
        return "a signal";
    }
}

static void describe(const struct sigaction *action, char *text, size_t room_bytes)
{
    Dl_info where;

    if (action->sa_handler == SIG_DFL)
        snprintf(text, room_bytes, "nobody");
    else if (action->sa_handler == SIG_IGN)
        snprintf(text, room_bytes, "ignored");
    else if (dladdr((const void *)(uintptr_t)action->sa_sigaction, &where) != 0)
        snprintf(text, room_bytes, "%#lx in %s", (unsigned long)(uintptr_t)action->sa_sigaction,
                 where.dli_fname);
    else
        snprintf(text, room_bytes, "%#lx", (unsigned long)(uintptr_t)action->sa_sigaction);
}

static void remember(struct signals_owner *owner, size_t slot, const struct sigaction *action)
{
    owner->slots[slot].action = *action;
    jw_store_relaxed(&owner->slots[slot].is_spent, false);
    /* order SIGNALS_PREVIOUS: releases the action, for handlers. */
    jw_store_release(&owner->previous, &owner->slots[slot]);
}

static bool is_owned(const struct signals_owner *owner)
{
    return jw_load_relaxed(&owner->previous) != NULL;
}

static bool is_same_handler(const struct sigaction *one, const struct sigaction *other)
{
    return one->sa_sigaction == other->sa_sigaction;
}

/*
 * Every signal that another thread or a timer may send waits until the handler is done: one that came
 * in between would not interrupt the system call that goes on then. Those that the thread itself
 * raises must not wait. Not by sigfillset: that leaves out pthread_cancel's, which would unwind the
 * thread out of our handler.
 */
static void fill_mask(sigset_t *mask)
{
    static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};

    memset(mask, 0xff, sizeof *mask);
    for (size_t i = 0; i < JW_COUNT_OF(raised); i++)
        sigdelset(mask, raised[i]);
}

static void fill_ours(struct sigaction *ours, signals_handler *handler, int flags, int inherit,
                      const struct sigaction *before)
{
    memset(ours, 0, sizeof *ours);
    ours->sa_sigaction = handler;
    ours->sa_flags = flags;
    sigemptyset(&ours->sa_mask);
    if (inherit == 0) {
        fill_mask(&ours->sa_mask);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        ours->sa_mask = before->sa_mask;
        ours->sa_flags |= before->sa_flags & inherit;
    }
    /* Neither profiling signal comes while any handler of ours runs. */
    sigaddset(&ours->sa_mask, SIGPROF);
    sigaddset(&ours->sa_mask, SIGVTALRM);
}

bool signals_owner_take(struct signals_owner *owner, signals_handler *handler, int flags,
                        int inherit, struct jw_error *err)
{
    const char *name = name_of(owner->signo);
    struct sigaction now;
    struct sigaction ours;
    struct sigaction replaced;

    if (sigaction(owner->signo, NULL, &now) != 0) {
        jw_error_set(err, "%s: cannot read its handler: %s", name, strerror(errno));
        return false;
    }
    if (now.sa_sigaction == handler)
        return true;
    /* Whoever came after us may call us: to call him in turn would never end. */
    if (is_owned(owner))
        return signals_owner_check(owner, handler, err);

    /* Remembered first: the handler may run before sigaction returns. */
    remember(owner, 0, &now);
    fill_ours(&ours, handler, flags, inherit, &now);
    if (sigaction(owner->signo, &ours, &replaced) != 0) {
        jw_store_relaxed(&owner->previous, NULL); /* no handler of ours has seen it */
        jw_error_set(err, "%s: cannot install a handler: %s; another event may do without it", name,
                     strerror(errno));
        return false;
    }
    if (!is_same_handler(&replaced, &now))
        remember(owner, 1, &replaced);
    return signals_owner_check(owner, handler, err);
}

bool signals_owner_check(const struct signals_owner *owner, signals_handler *handler,
                         struct jw_error *err)
{
    struct sigaction now;
    char text[256];

    if (!is_owned(owner))
        return true;
    if (sigaction(owner->signo, NULL, &now) == 0 && now.sa_sigaction == handler)
        return true;
    describe(&now, text, sizeof text);
    jw_error_set(err,
                 "%s belongs to another handler now (%s); stop what installed it, or start "
                 "it before jaywalk",
                 name_of(owner->signo), text);
    return false;
}

void signals_owner_describe(const struct signals_owner *owner, char *text, size_t room_bytes)
{
    /* order SIGNALS_PREVIOUS: acquires what signals_owner_take released, the action. */
    const struct signals_previous *previous = jw_load_acquire(&owner->previous);

    if (previous == NULL)
        snprintf(text, room_bytes, "nobody");
    else
        describe(&previous->action, text, room_bytes);
}

JW_SIGNAL_SAFE static void call(const struct sigaction *action, int signo, siginfo_t *info,
                                void *ucontext)
{
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, ucontext);
    else
        action->sa_handler(signo);
}

/* What the kernel would have set: the thread's mask and his, his own signal unless he wants it open
 * (SA_NODEFER), and both of ours. */
JW_SIGNAL_SAFE static void call_masked(const struct signals_previous *previous, int signo,
                                       siginfo_t *info, void *ucontext)
{
    const struct sigaction *action = &previous->action;
    const uint64_t thread_mask = signals_mask_of(ucontext);
    sigset_t mask = action->sa_mask;
    sigset_t before;

    for (int other = 1; other <= 64; other++)
        if (thread_mask & SIGNALS_BIT(other))
            sigaddset(&mask, other);
    sigaddset(&mask, SIGPROF);
    sigaddset(&mask, SIGVTALRM);
    if (action->sa_flags & SA_NODEFER)
        sigdelset(&mask, signo);
    if (pthread_sigmask(SIG_SETMASK, &mask, &before) != 0) {
        call(action, signo, info, ucontext);
        return;
    }
    call(action, signo, info, ucontext);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum signals_passed signals_owner_pass(struct signals_owner *owner, siginfo_t *info, void *ucontext,
                                       bool set_mask)
{
    /* order SIGNALS_PREVIOUS: acquires what signals_owner_take released, the action. */
    struct signals_previous *previous = jw_load_acquire(&owner->previous);

    if (previous == NULL || previous->action.sa_handler == SIG_DFL ||
        jw_load_relaxed(&previous->is_spent))
        return SIGNALS_WAS_DEFAULT;
    if (previous->action.sa_handler == SIG_IGN)
        return SIGNALS_WAS_IGNORED;
    if (previous->action.sa_flags & SA_RESETHAND)
        jw_store_relaxed(&previous->is_spent, true);
    if (set_mask)
        call_masked(previous, owner->signo, info, ucontext);
    else
        call(&previous->action, owner->signo, info, ucontext);
    return SIGNALS_PASSED;
}
