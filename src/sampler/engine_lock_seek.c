/* Waits for monitors whose owner nothing tells, which the agent's thread searches for; dump, and handler, who asks for what was found. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"

/* So many waits whose owners were found last lend them to those that come for the same monitors. */
#define LENDERS_MAX 16u

/* Written by the agent's thread. Relaxed: a wait that is still of that begin proves itself. */
static struct {
    _Atomic uint64_t begin_ns;
    _Atomic uint32_t place;
} lenders[LENDERS_MAX];

static uint32_t next_lender; /* of the agent's thread */

static struct lock_owner borrow(uint32_t from, vm_addr monitor)
{
    const struct lock_wait *wait = engine_lock_at(jw_load_relaxed(&lenders[from].place));
    const uint64_t begin_ns = jw_load_relaxed(&lenders[from].begin_ns);

    /* order LOCK_BEGIN: acquires the rest. */
    if (begin_ns == 0 || jw_load_acquire(&wait->begin_ns) != begin_ns ||
        jw_load_relaxed(&wait->monitor) != monitor || !engine_lock_keeps_found(wait, begin_ns))
        return (struct lock_owner){0};
    const struct lock_owner owner = engine_lock_found(wait, begin_ns);
    /* order LOCK_BEGIN: acquires whether the wait goes on. */
    return jw_load_acquire(&wait->begin_ns) == begin_ns ? owner : (struct lock_owner){0};
}

struct lock_owner engine_lock_shared(vm_addr monitor)
{
    struct lock_owner owner = {0};

    for (uint32_t i = 0; i < LENDERS_MAX && owner.value == 0; i++)
        owner = borrow(i, monitor);
    return owner;
}

/*
 * The monitor was unnamed when its owner was found, and is so now: nobody has let go meanwhile, since whoever came next would be named, and
 * a monitor that is waited for is not given up, so nobody takes the object without it.
 */
bool engine_lock_keeps_found(const struct lock_wait *wait, uint64_t begin_ns)
{
    const vm_addr monitor = jw_load_relaxed(&wait->monitor);
    const struct lock_owner told = engine_lock_told(wait, begin_ns);

    return told.value != 0 && monitor != 0 &&
           ((jw_load_relaxed(&wait->flags) & LOCK_WAIT_SHARED) != 0 ||
            engine_lock_found(wait, begin_ns).value != 0) &&
           vm_monitor_is_unnamed(monitor);
}

bool engine_lock_is_found(const struct lock_wait *wait, uint64_t begin_ns, thread_index thread)
{
    const struct lock_owner owner = engine_lock_told(wait, begin_ns);
    const uint64_t runs = engine_lock_runs(thread);

    return engine_lock_keeps_found(wait, begin_ns) &&
           (owner.is_virtual
                ? runs == owner.value
                : runs == thread_java_id(thread) && engine_lock_pack(thread, 1) == owner.value);
}

static bool is_sought(const struct sampler_sought *one)
{
    /* order LOCK_BEGIN: acquires whether the wait goes on. */
    return vm_monitor_is_unnamed(one->monitor) &&
           jw_load_acquire(&engine_lock_at(one->place)->begin_ns) == one->begin_ns;
}

/* A reference that was put down since belongs to a later wait: that one is not searched for, and its reference let go with this one's. */
static bool take(uint32_t place, uint64_t now_ns, struct sampler_sought *out)
{
    struct lock_wait *wait = engine_lock_at(place);
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);

    if (begin_ns == 0 || begin_ns > now_ns || now_ns - begin_ns < SAMPLER_SEEK_AFTER_NS ||
        engine_lock_told(wait, begin_ns).value != 0)
        return false;
    *out = (struct sampler_sought){
        .place = place,
        .begin_ns = begin_ns,
        .monitor = jw_load_relaxed(&wait->monitor),
        .object = engine_lock_take_object(place),
    };
    return out->object != 0;
}

uint32_t sampler_lock_seek(struct sampler_sought *out, uint32_t room)
{
    uint32_t count = 0;

    if (!engine_lock_has_objects() || !sampler_hook_enter())
        return 0;
    const uint64_t now_ns = jw_now_ns();
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX && sampler.lock_ns != 0 && count < room;
         place++)
        count += take(place, now_ns, &out[count]);
    sampler_hook_leave();
    jw_count_add(JW_COUNT_LOCK_SOUGHT, count);
    return count;
}

bool sampler_lock_is_sought(const struct sampler_sought *one)
{
    if (!sampler_hook_enter())
        return false;
    const bool is_so = is_sought(one);
    sampler_hook_leave();
    return is_so;
}

uint64_t sampler_lock_carried(thread_index thread)
{
    const uint64_t runs = engine_lock_runs(thread);

    return runs == thread_java_id(thread) ? 0 : runs;
}

/* Whoever waits for the same monitor waits for the same owner: it was unnamed all the time, for him, too. */
static void share_with(uint32_t place, const struct sampler_sought *one, struct lock_owner owner)
{
    const struct lock_wait *wait = engine_lock_at(place);
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);

    if (begin_ns == 0 || jw_load_relaxed(&wait->monitor) != one->monitor ||
        engine_lock_kind_of(jw_load_relaxed(&wait->key)) != EVENT_LOCK_ENTER ||
        engine_lock_told(wait, begin_ns).value != 0)
        return;
    const uint64_t now_ns = jw_now_ns();
    /* order LOCK_BEGIN: acquires whether the wait goes on. */
    if (!is_sought(one) || jw_load_acquire(&wait->begin_ns) != begin_ns)
        return;
    engine_lock_put_found(place, begin_ns, owner);
    engine_lock_saw(place, now_ns);
    jw_count(JW_COUNT_LOCK_SHARED);
}

static void lend(const struct sampler_sought *one)
{
    const uint32_t at = next_lender++ % LENDERS_MAX;

    jw_store_relaxed(&lenders[at].begin_ns, 0);
    jw_store_relaxed(&lenders[at].place, one->place);
    jw_store_relaxed(&lenders[at].begin_ns, one->begin_ns);
}

/* False: it has let go, or the wait is over. */
static bool keep_found(const struct sampler_sought *one, struct lock_owner owner)
{
    const uint64_t now_ns = jw_now_ns();

    if (!is_sought(one))
        return false;
    engine_lock_put_found(one->place, one->begin_ns, owner);
    engine_lock_saw(one->place, now_ns);
    jw_count(JW_COUNT_LOCK_FOUND);
    lend(one);
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX; place++)
        share_with(place, one, owner);
    return true;
}

void sampler_lock_found(const struct sampler_sought *one, thread_index owner, uint64_t carried)
{
    const struct lock_owner found = {carried != 0 ? carried : engine_lock_pack(owner, 1),
                                     carried != 0};

    if (!sampler_hook_enter())
        return;
    if (thread_is_live(owner) && keep_found(one, found))
        engine_lock_ask(owner, one->place);
    sampler_hook_leave();
}

void sampler_lock_found_away(const struct sampler_sought *one, uint64_t number)
{
    if (!sampler_hook_enter())
        return;
    (void)keep_found(one, (struct lock_owner){number, true});
    sampler_hook_leave();
}
