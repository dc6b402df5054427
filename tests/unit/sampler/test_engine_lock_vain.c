/* Owners that come to answer when who asked waits no more. */
#include "unit/sampler/lock_puppets.h"

TestSuite(engine_lock_vain, .init = open_locks, .fini = close_locks, .timeout = 1800);

/* It came to answer when the wait was over; who waits next, long before it is a millisecond later, asks again, three times. */
Test(engine_lock_vain, who_was_asked_in_vain_is_asked_by_who_waits_next)
{
    static char block;

    begin_run(1);
    for (uint64_t in_vain = 1; in_vain <= 4; in_vain++) {
        have_done(&puppets[1], do_block, &block);
        want(0, 1);
        cr_assert(engine_lock_claims(puppets[1].index), "it was asked");
        cr_assert(end_wait(0, EVENT_LOCK_ENTER).is_told);
        have_done(&puppets[1], do_block, NULL);
        while (counted(JW_COUNT_SPARED_LOCK) < in_vain)
            sched_yield();
    }
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNERS), 0));
}
