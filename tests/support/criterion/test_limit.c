/*
 * test_limit - ends a test that hangs, by name, so that the others of its program are told.
 *
 * Criterion's own limit is a SIGPROF to the test: where that has a handler, as whatever tests the sampler has, the runner tells of
 * it, and waits on. So each process that the runner starts for a test has an alarm of its own. It is a guard, not a budget: the
 * machine may be busy. A test that has ITIMER_REAL or an alarm to itself takes it away, and has the limit of its program alone
 * (mk/test.mk).
 *
 * Context  unit tests, before main.   Source  BoxFort 0.1.2, which hands the runner's arena over in that variable.
 */
#include <stdlib.h>
#include <unistd.h>

#define LIMIT_SECONDS 900

__attribute__((constructor)) static void limit_test(void)
{
    if (getenv("BXFI_MAP") != NULL)
        alarm(LIMIT_SECONDS);
}
