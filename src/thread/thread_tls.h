/*
 * thread_tls - the one block of thread-local storage: what must be found without a look-up.
 *
 * For      the handler's own state, which threads without a record need too; the thread's number
 *          without a system call.
 * Callers  signals (handler_depth, guard, load_faults), agent (env). Others ask for thread_own_tid.
 * Context  all. Initial-exec: its address is a register plus a constant, its first use allocates
 *          nothing. 32 bytes (and 8 of thread_symbol) of the loader's static surplus, which must hold the whole library.
 * Memory   zeroed by the loader in each thread, those included that existed before the library.
 *
 * Only its own thread touches a block; fields are atomic because a handler on that thread may
 * interrupt any access. Relaxed: one thread needs no order, jw_signal_fence keeps the compiler's.
 */
#ifndef JW_THREAD_THREAD_TLS_H
#define JW_THREAD_THREAD_TLS_H

#include "base/jw.h"

struct signals_guard;

struct thread_tls {
    struct signals_guard *_Atomic guard; /* innermost guarded call under way, or NULL */
    _Atomic uint32_t handler_depth;      /* 1 inside engine code of our handler */
    _Atomic uint32_t tid;                /* of the operating system; 0: not asked for yet */
    _Atomic uint32_t load_faults;        /* contained loads that faulted */
    _Atomic uintptr_t env; /* JNIEnv*, where the thread's start was told to us; else 0 */
};

extern __thread struct thread_tls thread_tls_block
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

JW_SIGNAL_SAFE static inline struct thread_tls *thread_tls(void)
{
    return &thread_tls_block;
}

/*
 * Number of the calling thread, from the kernel the first time. In a child it is the parent's: no
 * handler samples there, and nothing else of ours runs.
 */
JW_SIGNAL_SAFE uint32_t thread_own_tid(void);

#endif
