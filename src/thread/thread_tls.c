/* Storage of the thread-local block; every context. */
#include "thread/thread_tls.h"

#include "base/atomics.h"
#include "os/os_tasks.h"

__thread struct thread_tls thread_tls_block
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

_Static_assert(sizeof(struct thread_tls) <= 64, "static TLS is scarce in a library loaded late");

uint32_t thread_own_tid(void)
{
    struct thread_tls *tls = thread_tls();
    uint32_t tid = jw_load_relaxed(&tls->tid);

    if (tid == 0) {
        tid = (uint32_t)os_gettid();
        jw_store_relaxed(&tls->tid, tid);
    }
    return tid;
}
