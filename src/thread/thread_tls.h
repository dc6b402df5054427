/*
 * thread_tls - the one block of thread-local storage: what must be found without a look-up.
 *
 * For      thread_self(); the handler's own state, which threads without a record need too.
 * Callers  thread (record), signals (handler_depth, guard). Others ask those rooms.
 * Context  all. Initial-exec: its address is a register plus a constant, its first use allocates
 *          nothing. 24 bytes of the loader's static surplus, which must hold the whole library.
 * Memory   zeroed by the loader in each thread, those included that existed before the library.
 *
 * Only its own thread touches a block; fields are atomic because a handler on that thread may
 * interrupt any access. Relaxed: one thread needs no order, jw_signal_fence keeps the compiler's.
 */
#ifndef JW_THREAD_THREAD_TLS_H
#define JW_THREAD_THREAD_TLS_H

#include "base/jw.h"

struct thread_record;
struct signals_guard;

struct thread_tls {
    struct thread_record *_Atomic record; /* NULL until room thread knows the thread */
    struct signals_guard *_Atomic guard;  /* innermost guarded call under way, or NULL */
    _Atomic uint32_t handler_depth;       /* 1 inside engine code of our handler */
};

extern __thread struct thread_tls thread_tls_block
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

JW_SIGNAL_SAFE static inline struct thread_tls *thread_tls(void)
{
    return &thread_tls_block;
}

#endif
