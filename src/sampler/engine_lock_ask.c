/* What the owner of a lock does while others wait for it; hook (who asks), handler (who answers), dump (who waits for long). */
#include <signal.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"
#include "vm/vm_synchronizer.h"

/* A thread is asked at most so often, whatever waits for it: some microseconds in each of these. */
#define ASK_AGAIN_NS JW_NS_PER_MS

/*
 * But for questions in vain: the wait was over before the owner came to answer. Who waits next asks again, else nobody would while the lock is had, which may be long: a first
 * park that comes back at once, with a permit from before, is what locks of java.util.concurrent often begin with.
 */
#define IN_VAIN_MAX 3u

struct ask {
    _Atomic uint64_t asked_ns; /* relaxed: who changes it asks; 0: it may be asked at once */
    _Atomic uint32_t wait;     /* place of the wait + 1; 0: not asked */
    _Atomic uint32_t in_vain;  /* relaxed: a limit, no more; how many since `asked_ns` last stood */
};

static struct ask *asks; /* by thread_index */

bool engine_lock_open_asks(struct jw_error *err)
{
    if (asks != NULL) {
        sampler_wipe(asks, threads_capacity(), sizeof *asks);
        return true;
    }
    asks = sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *asks, err);
    return asks != NULL;
}

void engine_lock_ask(thread_index thread, uint32_t place)
{
    struct ask *ask = &asks[thread];
    const uint64_t now_ns = jw_now_ns();
    uint64_t asked_ns = jw_load_relaxed(&ask->asked_ns);

    if (!thread_is_wanted(thread))
        return;
    /* Who asked last may have looked at the clock behind us. */
    if (now_ns < asked_ns + ASK_AGAIN_NS || !jw_cas_relaxed(&ask->asked_ns, &asked_ns, now_ns)) {
        /* Who asked may wait no more when the owner, which may have no processor, comes to answer.
         * order LOCK_ASK: releases the wait. */
        uint32_t asked = jw_load_relaxed(&ask->wait);
        if (asked != 0)
            (void)jw_cas_acq_rel(&ask->wait, &asked, place + 1);
        jw_count(JW_COUNT_LOCK_NOT_ASKED);
        return;
    }
    if (asked_ns != 0)
        jw_store_relaxed(&ask->in_vain, 0);
    /* order LOCK_ASK: releases the wait. */
    jw_store_release(&ask->wait, place + 1);
    if (os_signal_thread((int)thread_tid(thread), SIGVTALRM, sampler_cookie(thread)))
        return;
    jw_store_relaxed(&ask->wait, 0);
    jw_count(JW_COUNT_LOCK_NOT_ASKED);
}

bool engine_lock_claims(thread_index thread)
{
    return asks != NULL && jw_load_relaxed(&asks[thread].wait) != 0;
}

/* The calling thread, or the virtual one on it, has the lock: certain while somebody waits for it. */
static JW_SIGNAL_SAFE bool is_owner(const struct lock_wait *wait, uint64_t begin_ns,
                                    thread_index thread)
{
    const vm_addr monitor = jw_load_relaxed(&wait->monitor);

    if (monitor == 0)
        return false;
    if (engine_lock_kind_of(jw_load_relaxed(&wait->key)) == EVENT_LOCK_PARK)
        return vm_synchronizer_is_owned_by(monitor, engine_lock_runs(thread));
    return vm_monitor_is_owned_by(monitor, thread_env(thread)) ||
           engine_lock_is_found(wait, begin_ns, thread);
}

static JW_SIGNAL_SAFE void say_nothing(struct ask *ask)
{
    const uint32_t in_vain = jw_load_relaxed(&ask->in_vain);

    jw_count(JW_COUNT_SPARED_LOCK);
    if (in_vain >= IN_VAIN_MAX)
        return;
    jw_store_relaxed(&ask->in_vain, in_vain + 1);
    jw_store_relaxed(&ask->asked_ns, 0);
}

static JW_SIGNAL_SAFE void answer(const void *ucontext, thread_index thread)
{
    /* order LOCK_ASK: acquires the wait. */
    const uint32_t place = jw_load_acquire(&asks[thread].wait);
    const struct lock_wait *wait = place == 0 ? NULL : engine_lock_at(place - 1);

    jw_store_relaxed(&asks[thread].wait, 0);
    /* order LOCK_BEGIN: acquires what is waited for. */
    const uint64_t begin_ns = wait == NULL ? 0 : jw_load_acquire(&wait->begin_ns);
    if (begin_ns == 0 || !is_owner(wait, begin_ns, thread)) {
        say_nothing(&asks[thread]);
        return;
    }
    struct sample_order order = {
        .kind = EVENT_LOCK_OWNER,
        .thread = thread,
        .number = jw_load_relaxed(&wait->address),
        .klass = jw_load_relaxed(&wait->klass),
    };
    /* It was still waited for behind all of this: so it was the lock that the thread has.
     * order LOCK_BEGIN: acquires whether the wait goes on. */
    if (jw_load_acquire(&wait->begin_ns) != begin_ns) {
        say_nothing(&asks[thread]);
        return;
    }
    jw_store_relaxed(&asks[thread].in_vain, 0);
    if (sample_take(ucontext, &order))
        jw_count(JW_COUNT_LOCK_OWNERS);
}

/* Signals of one number that may have become one: each of those who asked is answered, and is one to the law. */
void engine_lock_take_asked(const void *ucontext, thread_index thread)
{
    if (engine_lock_claims(thread)) {
        answer(ucontext, thread);
        if (!engine_late_claims(thread) && !engine_wall_is_asked(thread))
            return;
        jw_count(JW_COUNT_SIGNALS);
    }
    engine_late_take_asked(ucontext, thread);
}
