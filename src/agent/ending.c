/*
 * Ends of the process that the JVM does not tell of: exit() and quick_exit() of native code, a launcher that returns from
 * main without DestroyJavaVM. Any thread, also one that is inside the JVM or in a child of fork().
 */
#include <stdlib.h>

#include "agent/agent.h"
#include "base/atomics.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"

/* A child has the handlers of its parent, but neither the agent's thread nor a lock that anybody would give back. The agent's
 * own thread cannot wait for itself. */
static void on_exit_of_process(void)
{
    if (!entry_is_child() && !os_thread_is_own(os_gettid()))
        commands_end();
}

void ending_watch(void)
{
    static _Atomic uint32_t is_watched; /* relaxed: one call does it, and no other waits for it */

    uint32_t expected = 0;

    if (!jw_cas_relaxed(&is_watched, &expected, 1))
        return;
    /* Without them a recording is readable until its last second, as after a kill. The library is never unmapped
     * (-z nodelete), so what is registered here stays valid. */
    (void)atexit(on_exit_of_process);
    (void)at_quick_exit(on_exit_of_process);
}
