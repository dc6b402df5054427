/* Engine `cpu`: a timer on the CPU clock of each thread. Hooks and the dump thread add and remove. */
#include <signal.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

/* Anywhere in (0, interval]: whoever lives shorter than one interval is sampled as he deserves. */
static uint64_t first_expiration_ns(thread_index thread)
{
    const uint64_t random = jw_hash_word(thread_serial(thread) ^ jw_now_ns());

    return 1 + random % sampler.interval_ns;
}

enum engine_timer engine_cpu_timer_add(thread_index thread, enum engine_thread kind,
                                       uint64_t started_ns)
{
    const int tid = (int)thread_tid(thread);
    struct os_timer timer;
    uint64_t unseen_ns = 0;

    switch (os_timer_open(&timer, tid, SIGPROF, sampler_cookie(thread), NULL)) {
    case OS_TIMER_OK:
        break;
    case OS_TIMER_NO_THREAD:
        return ENGINE_TIMER_GONE;
    case OS_TIMER_LIMIT:
    case OS_TIMER_REFUSED:
        return ENGINE_TIMER_REFUSED;
    }
    /* Read right before the timer begins: what lies between the two is lost. */
    if (kind == ENGINE_THREAD_LATE && os_thread_cpu_ns(tid, &unseen_ns))
        thread_set_debt(thread, sampler_cpu_debt_ns(unseen_ns, started_ns));
    if (!os_timer_arm(&timer, sampler.interval_ns, first_expiration_ns(thread))) {
        os_timer_close(&timer);
        return ENGINE_TIMER_REFUSED;
    }
    struct os_timer replaced = {thread_exchange_timer(thread, timer.id)};
    os_timer_close(&replaced);
    return ENGINE_TIMER_SET;
}

void engine_cpu_timer_remove(thread_index thread)
{
    struct os_timer timer = {thread_exchange_timer(thread, OS_TIMER_NONE)};

    os_timer_close(&timer);
}
