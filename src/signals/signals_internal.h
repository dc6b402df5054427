/* Whoever owned a signal before us, and how to hand him one. Room signals only. */
#ifndef JW_SIGNALS_SIGNALS_INTERNAL_H
#define JW_SIGNALS_SIGNALS_INTERNAL_H

#include <signal.h>

#include "arch/arch.h"
#include "base/jw.h"

struct signals_previous {
    struct sigaction action;
    _Atomic bool is_spent; /* was SA_RESETHAND and ran once; relaxed: a flag on its own */
};

struct signals_owner {
    int signo;
    struct signals_previous slots[2];          /* written before they are published, never after */
    struct signals_previous *_Atomic previous; /* NULL: the signal was never ours */
};

typedef void signals_handler(int signo, siginfo_t *info, void *ucontext);

/*
 * Installs `handler` with `flags` and `mask` and remembers who was there. `inherit` adds the mask of
 * the one before, and those of his flags that it names. False, with nothing changed, where that
 * is refused, does not stick, or somebody stands where we were. Context: control.
 */
JW_MUST_CHECK bool signals_owner_take(struct signals_owner *owner, signals_handler *handler,
                                      int flags, int inherit, struct jw_error *err);

/* False, with `err` filled, when the signal was ours and is no longer. Context: control, dump. */
bool signals_owner_check(const struct signals_owner *owner, signals_handler *handler,
                         struct jw_error *err);

/* Name of the owner before us. Context: control. */
void signals_owner_describe(const struct signals_owner *owner, char *text, size_t room_bytes);

enum signals_passed {
    SIGNALS_PASSED,
    SIGNALS_WAS_IGNORED, /* he ignored it: so it is to be */
    SIGNALS_WAS_DEFAULT, /* nobody was there, or he wanted it once only */
};

/* Calls the previous handler with these very arguments. `set_mask`: under the mask that he asked
 * for, where the kernel did not set it with ours. Context: handler. */
JW_SIGNAL_SAFE enum signals_passed signals_owner_pass(struct signals_owner *owner, siginfo_t *info,
                                                      void *ucontext, bool set_mask);

/*
 * Behind a signal of ours, and as the last thing in its handler: lets the system call that it
 * interrupted go on, so that the program sees neither EINTR nor an early end. May take as long as that
 * call. Outside of the engine: nobody waits for it. Context: handler.
 */
JW_SIGNAL_SAFE void signals_finish_call(int signo, void *ucontext);

/* The signal mask of the interrupted thread, as the kernel keeps it. Context: handler. */
JW_SIGNAL_SAFE uint64_t signals_mask_of(const void *ucontext);

/* The call that this signal interrupted is about to go on, or has ended. Context: handler. */
JW_SIGNAL_SAFE void signals_tell_wait(int signo, const void *ucontext, bool begins);

#define SIGNALS_BIT(signo) ((uint64_t)1 << ((signo)-1))

/* A guarded call under way; lives in its caller's frame. */
struct signals_guard {
    struct arch_guard call;
    uintptr_t text_begin;
    uintptr_t text_end;
};

/* The part of signals_check that is about faults. */
bool signals_check_faults(struct jw_error *err);

#endif
