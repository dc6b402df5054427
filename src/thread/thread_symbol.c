/*
 * The thread-local symbol by which readers outside of the process find a thread's record; any, hook, and handler for the
 * look at it.
 *
 * Source: OpenTelemetry OTEP 4947, "Thread-Local Variable Resolution": exported in .dynsym, reached by a descriptor
 * (TLSDESC; mk/build.mk asks for it in this file). A handler may not call what resolves a descriptor, so it looks through
 * a second, hidden name of the same variable, of which the compiler knows where it lies: the library's thread-local
 * storage is static, because of thread_tls.
 */
#include "thread/thread_symbol.h"

#include "base/atomics.h"

extern __thread const void *otel_thread_ctx_v1
    __attribute__((tls_model("global-dynamic"), visibility("default")));
__thread const void *otel_thread_ctx_v1;

extern __thread const void *thread_symbol_own
    __attribute__((alias("otel_thread_ctx_v1"), tls_model("initial-exec"), visibility("hidden")));

const void *thread_symbol(void)
{
    return thread_symbol_own;
}

void thread_symbol_set(const void *record)
{
    /* By both names: should another library's symbol come before ours, readers look at that one. */
    jw_signal_fence();
    thread_symbol_own = record;
    otel_thread_ctx_v1 = record;
    jw_signal_fence();
}
