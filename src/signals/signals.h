/*
 * signals - ownership of the profiling signals and of memory faults; the way into a handler.
 *
 * For      engines, which want each signal of theirs once, and nothing of anybody else's; the walker,
 *          which calls into the JVM at a moment that the JVM did not choose.
 * Callers  agent (own, start, stop, drain), sampler (the engine table), thread and os timers (the
 *          cookie), walk (guarded calls), recording (signals_check).
 * Context  see each function. The engine's function runs in `handler` context.
 * Memory   static, and one page.
 *
 * A signal of ours carries a cookie of ours in si_value: it comes from timer_create (SI_TIMER) or from
 * rt_tgsigqueueinfo of this process (SI_QUEUE). SIGPROF of setitimer carries nothing (SI_KERNEL)
 * and is ours while signals_expect_itimer says so. One of an event of the kernel carries the number of a descriptor (POLL_IN), by
 * which the engine knows it. Where the user's queue of signals is full, the kernel
 * delivers ours without what it carried (SI_USER of process 0): such a one is ours when the engine waits for
 * one on this very thread. Everything else is foreign: counted as
 * FOREIGN_SIGNALS and handed to whoever owned the signal before us, under the mask he asked for;
 * where nobody did, it is dropped, since the default action of both signals is to end the process,
 * and a late timer of another profiler is no reason for that.
 *
 * A system call of the program that our signal interrupted goes on inside the handler when the engine is
 * done (calls.c, docs/adr/0008): the program sees no EINTR and no early time-out.
 *
 * Handlers stay installed until the process ends: a signal may be pending when everybody stopped.
 *
 *     not owned --own--> stopped --start--> running --stop--> stopped --drain--> nobody inside
 *                           ours: LOST_STOPPED    ours: to the engine
 */
#ifndef JW_SIGNALS_SIGNALS_H
#define JW_SIGNALS_SIGNALS_H

#include <signal.h>

#include "base/jw.h"

/* The cookie ------------------------------------------------------------------------------------- */

/*
 * Value for sigev_value.sival_ptr (or si_value) of a signal of ours; `payload` comes back in
 * struct signals_event. Not an address on any machine of ours, and different in each copy of the library.
 */
JW_SIGNAL_SAFE uintptr_t signals_cookie(uint32_t payload);

/* The engine ------------------------------------------------------------------------------------- */

/* A signal needs so much stack at most below the kernel's frame, engine included, and is lost on an alternate stack that has
 * less: what lies below would be overwritten. tools/check-stack holds us to it. */
#define SIGNALS_STACK_BYTES 4096

struct signals_event {
    int signo;
    uint32_t payload;     /* of the cookie; 0 for setitimer and where `is_bare` */
    bool is_from_timer;   /* of timer_create */
    bool is_from_kernel;  /* of an event of the kernel, by its number; the engine claimed it */
    bool is_bare;         /* it lost its cookie on the way; the engine claimed it */
    uint32_t overruns;    /* further expirations that this signal stands for */
    const void *ucontext; /* of the interrupted thread; the engine never writes it */
};

/* Lives in a const object marked JW_SIGNAL_TABLE, for as long as the process. */
struct signals_engine {
    /* Accounts for the signal: exactly one of SAMPLES and the losses. Context: handler. */
    void (*take)(const struct signals_event *event);
    /* True when a signal of this number was sent to the calling thread and has not come yet; NULL: never. Is
     * asked without regard to start and stop: touches nothing that is freed. Context: handler. */
    bool (*claims)(int signo);
    /* True when signals with the number of this descriptor are, or were, of an event of ours; NULL: never. Is asked likewise.
     * Context: handler. */
    bool (*claims_number)(int signo, int number);
    /* The system call that the signal interrupted is about to go on inside the handler, with our signals blocked;
     * or has ended: that is not told where the program leaves the handler by siglongjmp. NULL: does not matter.
     * Is not called while no engine runs. Context: handler. */
    void (*waits)(int signo, const void *ucontext, bool begins);
};

/* Takes SIGPROF or SIGVTALRM. Idempotent. Fails, with nothing changed, when the kernel refuses or
 * when somebody else took the signal after we did. Context: control. */
JW_MUST_CHECK bool signals_own(int signo, struct jw_error *err);

/* Says who owned it before us: "nobody", "ignored" or "0x7f... in libother.so". Context: control. */
void signals_describe_previous(int signo, char *text, size_t room_bytes);

/* From now on signals of ours go to `engine`. Context: control, after stop and drain. */
void signals_start(const struct signals_engine *engine);

/* From now on signals of ours are counted LOST_STOPPED. Context: control. */
void signals_stop(void);

/* Waits until no handler is inside the engine; false when one still is after `timeout_ns`: then
 * nothing that it may touch may be freed. Context: control, after signals_stop. */
JW_MUST_CHECK bool signals_drain(uint64_t timeout_ns);

/*
 * Handlers of ours at work, one a thread and signal. Each that is counted in SIGNALS before this is asked is
 * among them, or its outcome can be seen. Context: any.
 */
uint64_t signals_inside(void);

/* Whether SIGPROF without a cookie, sent by the kernel, is ours. Context: control. */
void signals_expect_itimer(bool is_expected);

/* True inside the engine's function, on this thread. Context: all. */
JW_SIGNAL_SAFE bool signals_in_handler(void);

/*
 * Handlers with code in [text_begin, text_end) do not count when we ask who else may have interrupted
 * a system call: the JVM's, which want nothing of EINTR. Context: control.
 */
void signals_trust_handlers(uintptr_t text_begin, uintptr_t text_end);

/* Faults ----------------------------------------------------------------------------------------- */

/*
 * Puts our handler before the JVM's for SIGSEGV and SIGBUS, with the JVM's own mask and flags.
 * Idempotent. A fault is ours at a safe load, or inside a guarded call of this thread; every other
 * one goes to the previous owner with its siginfo and ucontext untouched. Context: control, after the
 * JVM installed its handlers (JVMTI VMInit; Agent_OnLoad is early enough to be overridden).
 */
JW_MUST_CHECK bool signals_own_faults(struct jw_error *err);

/*
 * True when all that we own is still ours. Else false, and `err` names the signal and its new
 * owner: samples stay away, or safe loads crash. Context: control, dump.
 */
bool signals_check(struct jw_error *err);

enum signals_call {
    SIGNALS_CALL_DONE,
    SIGNALS_CALL_FAULTED, /* ended by a fault, counted as WALK_FAULTS */
    SIGNALS_CALL_REFUSED, /* not called: too many faults before, or a guarded call is under way */
};

typedef void signals_guarded_function(void *first, intptr_t second, void *third);

/*
 * Calls function(first, second, third); a SIGSEGV or SIGBUS at a pc in [text_begin, text_end), but not in
 * HotSpot's SafeFetch, ends the call. For AsyncGetCallTrace in libjvm, and nothing that takes a lock.
 * SIGNALS_FAULT_LIMIT faults within a minute switch guarded calls off. Context: handler.
 */
#define SIGNALS_FAULT_LIMIT 8
JW_SIGNAL_SAFE enum signals_call signals_call_guarded(signals_guarded_function *function,
                                                      void *first, intptr_t second, void *third,
                                                      uintptr_t text_begin, uintptr_t text_end);

/* True when guarded calls are off; then `reason` (may be NULL) tells of the last fault. Context: all
 * but handler and hook. */
bool signals_guard_is_off(char *reason, size_t room_bytes);

/* Guarded calls are on again, and what faulted before counts no more. Context: control, dump. */
void signals_guard_reset(void);

/* Safe loads of the calling thread that faulted, since it began; wraps around. Context: all. */
JW_SIGNAL_SAFE uint32_t signals_load_faults(void);

#endif
