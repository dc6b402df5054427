/* How long owners keep what is waited for: whether who owned it when a wait began owns it still; and how long they are known; dump. */
#include "base/atomics.h"
#include "base/clock.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"
#include "vm/vm_synchronizer.h"

/* The agent's thread alone. */
static struct {
    uint64_t last_ns; /* begin of the last wait that there was */
    bool has_any;     /* somebody waited then */
} looked;

static bool owns_by_number(const struct lock_wait *wait, vm_addr monitor, uint64_t number)
{
    struct vm_owner owner;

    if (engine_lock_kind_of(jw_load_relaxed(&wait->key)) == EVENT_LOCK_PARK)
        return vm_synchronizer_is_owned_by(monitor, number);
    vm_monitor_owner(monitor, &owner);
    return owner.kind == VM_OWNER_NUMBER && owner.value == number;
}

static bool owns(const struct lock_wait *wait, vm_addr monitor, uint64_t told)
{
    const thread_index owner = (thread_index)(told & LOCK_INDEX_BITS) - 1;

    if (!thread_is_live(owner) || (uint32_t)thread_serial(owner) != told >> LOCK_SERIAL_SHIFT)
        return false;
    if (engine_lock_kind_of(jw_load_relaxed(&wait->key)) == EVENT_LOCK_PARK)
        return vm_synchronizer_is_owned_by(monitor, thread_java_id(owner));
    return thread_env(owner) != NULL && vm_monitor_is_owned_by(monitor, thread_env(owner));
}

static bool is_owned_still(const struct lock_wait *wait, uint64_t begin_ns)
{
    const vm_addr monitor = jw_load_relaxed(&wait->monitor);
    const struct lock_owner owner = engine_lock_told(wait, begin_ns);

    if (monitor == 0 || owner.value == 0)
        return false;
    return engine_lock_keeps_found(wait, begin_ns) ||
           (owner.is_virtual ? owns_by_number(wait, monitor, owner.value)
                             : owns(wait, monitor, owner.value));
}

/* Whether somebody waits there. What is read of a wait holds where it still goes on behind all that. */
static bool look_at(uint32_t place)
{
    const struct lock_wait *wait = engine_lock_at(place);
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);
    const uint64_t key = jw_load_relaxed(&wait->key);

    if (begin_ns == 0 || key == 0 || !engine_lock_is_for_lock(engine_lock_kind_of(key)))
        return false;
    const uint64_t now_ns = jw_now_ns();
    /* order LOCK_BEGIN: acquires whether the wait goes on. A later one of this place begins behind that time. */
    if (is_owned_still(wait, begin_ns) && jw_load_acquire(&wait->begin_ns) == begin_ns)
        engine_lock_saw(place, now_ns);
    return true;
}

void sampler_lock_look(void)
{
    if (!sampler_hook_enter())
        return;
    const uint64_t last_ns = engine_lock_last_ns();
    if (sampler.lock_ns != 0 && (looked.has_any || last_ns != looked.last_ns)) {
        looked.last_ns = last_ns;
        looked.has_any = false;
        for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX; place++)
            looked.has_any |= look_at(place);
    }
    sampler_hook_leave();
}

bool engine_lock_has_waits(void)
{
    return looked.has_any;
}

/* When it began; UINT64_MAX: it is none for a lock. */
static uint64_t name_owner(uint32_t place, uint64_t generation)
{
    const struct lock_wait *wait = engine_lock_at(place);
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);
    const uint64_t key = jw_load_relaxed(&wait->key);

    if (begin_ns == 0 || key == 0 || !engine_lock_is_for_lock(engine_lock_kind_of(key)))
        return UINT64_MAX;
    const struct lock_owner owner = engine_lock_told(wait, begin_ns);
    if (owner.value != 0 && !owner.is_virtual)
        thread_outlive((thread_index)(owner.value & LOCK_INDEX_BITS) - 1,
                       (uint32_t)(owner.value >> LOCK_SERIAL_SHIFT), generation);
    return begin_ns;
}

uint64_t sampler_lock_outlive(uint64_t generation)
{
    uint64_t oldest_ns = UINT64_MAX;

    if (!looked.has_any || !sampler_hook_enter())
        return oldest_ns;
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX && sampler.lock_ns != 0; place++) {
        const uint64_t begin_ns = name_owner(place, generation);

        if (begin_ns < oldest_ns)
            oldest_ns = begin_ns;
    }
    sampler_hook_leave();
    return oldest_ns;
}
