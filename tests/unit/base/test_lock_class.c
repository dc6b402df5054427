/* Which classes that threads park for are locks. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/lock_class.h"

TestSuite(lock_class, .timeout = 1800);

static bool is_lock(const char *name)
{
    return jw_lock_class_is(name, strlen(name));
}

Test(lock_class, locks_and_semaphores_are_locks)
{
    cr_assert(is_lock("java/util/concurrent/locks/ReentrantLock$NonfairSync"));
    cr_assert(is_lock("java.util.concurrent.locks.ReentrantReadWriteLock$FairSync"));
    cr_assert(is_lock("java.util.concurrent.Semaphore$NonfairSync"));
    cr_assert(is_lock("java/util/concurrent/locks/StampedLock"));
}

Test(lock_class, what_waits_for_something_to_happen_is_none)
{
    cr_assert(!is_lock("java/util/concurrent/CountDownLatch$Sync"));
    cr_assert(!is_lock("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject"));
    cr_assert(!is_lock("java/util/concurrent/ForkJoinPool"));
    cr_assert(!is_lock("Sync"));
    cr_assert(!is_lock(""));
}
