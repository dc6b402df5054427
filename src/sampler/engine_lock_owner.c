/* Whose a lock is, among the threads that are known; hook, any. */
#include "base/atomics.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"
#include "vm/vm_threads.h"

/* So many Java threads are asked; a look at one takes some ten nanoseconds. */
#define ASKED_MAX 1024u

/* The last owner that a search found. Relaxed: where to look first. */
static _Atomic uint32_t likely;

static bool is_java(thread_index thread)
{
    return thread_is_live(thread) && thread_env(thread) != NULL;
}

static bool is_owner(thread_index thread, vm_addr monitor)
{
    const void *env = thread_is_live(thread) ? thread_env(thread) : NULL;

    return env != NULL && vm_monitor_is_owned_by(monitor, env);
}

static thread_index search(vm_addr monitor)
{
    const uint32_t limit = threads_limit();
    uint32_t asked = 0;

    for (thread_index thread = 0; thread < limit && asked < ASKED_MAX; thread++) {
        if (is_owner(thread, monitor)) {
            jw_store_relaxed(&likely, thread);
            return thread;
        }
        asked += is_java(thread);
    }
    return THREAD_NONE;
}

thread_index engine_lock_owner(vm_addr monitor)
{
    struct vm_owner owner;

    vm_monitor_owner(monitor, &owner);
    if (owner.kind == VM_OWNER_UNKNOWN || owner.kind == VM_OWNER_NONE)
        return THREAD_NONE;
    const thread_index named = owner.tid == 0 ? THREAD_NONE : thread_find(owner.tid);
    if (named != THREAD_NONE && is_owner(named, monitor))
        return named;
    const thread_index last = jw_load_relaxed(&likely);
    return last < threads_limit() && is_owner(last, monitor) ? last : search(monitor);
}

/* A carrier may have its own number and not show it: that of the virtual thread on it stands there. */
bool engine_lock_is_away(uint64_t number)
{
    return thread_find_java(number) == THREAD_NONE && !vm_threads_has_number(number);
}

static bool is_carried(uint64_t number, thread_index carrier)
{
    const uint64_t own = thread_java_id(carrier);

    return own != 0 && own != number && engine_lock_runs(carrier) == number;
}

bool engine_lock_carries_owner(vm_addr monitor, thread_index thread, uint64_t *number)
{
    const uint64_t own = thread_java_id(thread), before = engine_lock_runs(thread);
    const bool has_it = is_owner(thread, monitor);
    const uint64_t behind = engine_lock_runs(thread);

    *number = 0;
    if (before == own && behind == own)
        return has_it || !vm_monitor_is_unnamed(monitor);
    if (before != behind || !has_it || !is_owner(thread, monitor) ||
        !vm_monitor_is_unnamed(monitor))
        return false;
    *number = before;
    return true;
}

uint64_t engine_lock_owner_virtual(vm_addr monitor, thread_index carrier)
{
    struct vm_owner owner;

    vm_monitor_owner(monitor, &owner);
    if (owner.kind != VM_OWNER_NUMBER)
        return 0;
    return (carrier == THREAD_NONE ? engine_lock_is_away(owner.value)
                                   : is_carried(owner.value, carrier))
               ? owner.value
               : 0;
}

static bool carries(thread_index thread, uint64_t number)
{
    return is_java(thread) && engine_lock_runs(thread) == number;
}

static thread_index search_carrier(uint64_t number)
{
    const uint32_t limit = threads_limit();
    uint32_t asked = 0;

    for (thread_index thread = 0; thread < limit && asked < ASKED_MAX; thread++) {
        if (carries(thread, number)) {
            jw_store_relaxed(&likely, thread);
            return thread;
        }
        asked += is_java(thread);
    }
    return THREAD_NONE;
}

thread_index engine_lock_thread_of(uint64_t number)
{
    const thread_index own = number == 0 ? THREAD_NONE : thread_find_java(number);
    const thread_index last = jw_load_relaxed(&likely);

    if (number == 0 || own != THREAD_NONE)
        return own;
    return last < threads_limit() && carries(last, number) ? last : search_carrier(number);
}
