/* Engine `cpu`: a timer on the CPU clock of each thread. Hooks and the dump thread add and remove. */
#include <signal.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

/* A signal carries the number of its thread's record and the low bits of the record's serial, so that
 * one that comes late, after the record went to another thread, is told apart. */
#define INDEX_BITS 14
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

_Static_assert(THREAD_RECORDS_MAX == 1u << INDEX_BITS, "an index must fit");

static JW_SIGNAL_SAFE uint32_t payload_of(thread_index thread)
{
    return (uint32_t)thread_serial(thread) << INDEX_BITS | thread;
}

thread_index engine_cpu_timer_thread(uint32_t payload)
{
    const thread_index thread = payload & INDEX_MASK;

    return thread_is_live(thread) && payload_of(thread) == payload ? thread : THREAD_NONE;
}

/* Anywhere in (0, interval]: whoever lives shorter than one interval is sampled as he deserves. */
static uint64_t first_expiration_ns(thread_index thread)
{
    const uint64_t random = jw_hash_word(thread_serial(thread) ^ jw_now_ns());

    return 1 + random % sampler.interval_ns;
}

static void refuse(thread_index thread, enum engine_thread kind)
{
    thread_cpu_mark(thread, THREAD_CPU_REFUSED);
    if (kind != ENGINE_THREAD_AGAIN)
        jw_count(JW_COUNT_THREADS_UNSAMPLED);
}

void engine_cpu_timer_add(thread_index thread, enum engine_thread kind, uint64_t started_ns)
{
    const int tid = (int)thread_tid(thread);
    struct os_timer timer;
    uint64_t unseen_ns = 0;

    switch (os_timer_open(&timer, tid, SIGPROF, signals_cookie(payload_of(thread)), NULL)) {
    case OS_TIMER_OK:
        break;
    case OS_TIMER_NO_THREAD:
        return;
    case OS_TIMER_LIMIT:
    case OS_TIMER_REFUSED:
        refuse(thread, kind);
        return;
    }
    /* Read right before the timer begins: what lies between the two is lost. */
    if (kind == ENGINE_THREAD_LATE && os_thread_cpu_ns(tid, &unseen_ns))
        thread_set_debt(thread, sampler_cpu_debt_ns(unseen_ns, started_ns));
    if (!os_timer_arm(&timer, sampler.interval_ns, first_expiration_ns(thread))) {
        os_timer_close(&timer);
        refuse(thread, kind);
        return;
    }
    struct os_timer replaced = {thread_exchange_timer(thread, timer.id)};
    os_timer_close(&replaced);
}

void engine_cpu_timer_remove(thread_index thread)
{
    struct os_timer timer = {thread_exchange_timer(thread, OS_TIMER_NONE)};

    os_timer_close(&timer);
}
