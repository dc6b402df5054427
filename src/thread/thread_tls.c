/* Storage of the thread-local block; every context. */
#include "thread/thread_tls.h"

__thread struct thread_tls thread_tls_block
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

_Static_assert(sizeof(struct thread_tls) <= 64, "static TLS is scarce in a library loaded late");
