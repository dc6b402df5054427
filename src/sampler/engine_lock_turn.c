/* Waits that take long: what their owners do now, and whether any of them can end; dump. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"
#include "vm/vm_object.h"
#include "vm/vm_synchronizer.h"

#define LONG_NS JW_NS_PER_SECOND

/* Who waits for whom, on the way to a deadlock. */
struct link {
    struct lock_wait *wait;
    uint64_t begin_ns;
    thread_index owner; /* THREAD_NONE: not mounted, or not known */
    uint64_t owner_who; /* 0: not known */
};

/* Told ones, by the begin of their oldest wait. The agent's thread alone. */
static struct {
    uint64_t known[SAMPLER_DEADLOCKS_MAX];
    uint32_t count;
} told;

void engine_lock_forget(void)
{
    told.count = 0;
}

/* Whole, for a lock, and old enough. */
static bool look_at(struct lock_wait *wait, struct link *out)
{
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);
    const uint64_t key = jw_load_relaxed(&wait->key);

    *out = (struct link){.wait = wait, .begin_ns = begin_ns, .owner = THREAD_NONE};
    return begin_ns != 0 && key != 0 && engine_lock_is_for_lock(engine_lock_kind_of(key)) &&
           jw_load_relaxed(&wait->monitor) != 0 && jw_now_ns() - begin_ns >= LONG_NS;
}

/* Nothing names it, but it was found: false where it was not. */
static bool take_found(struct link *link)
{
    const struct lock_owner found = engine_lock_told(link->wait, link->begin_ns);

    if (!engine_lock_keeps_found(link->wait, link->begin_ns))
        return false;
    const thread_index own = (thread_index)(found.value & LOCK_INDEX_BITS) - 1;
    link->owner = found.is_virtual ? engine_lock_thread_of(found.value) : own;
    link->owner_who = found.is_virtual ? found.value : engine_lock_who(own);
    return true;
}

static void find_owner(struct link *link)
{
    const vm_addr monitor = jw_load_relaxed(&link->wait->monitor);
    struct vm_owner owner;

    if (engine_lock_kind_of(jw_load_relaxed(&link->wait->key)) == EVENT_LOCK_PARK) {
        link->owner_who = vm_synchronizer_owner(monitor);
        link->owner = engine_lock_thread_of(link->owner_who);
    } else if (!take_found(link)) {
        vm_monitor_owner(monitor, &owner);
        link->owner = engine_lock_owner(monitor);
        link->owner_who = owner.kind == VM_OWNER_NUMBER ? owner.value
                          : link->owner == THREAD_NONE  ? 0
                                                        : engine_lock_who(link->owner);
    }
}

static struct lock_wait *wait_of(uint64_t who)
{
    struct lock_wait *wait = who == 0 ? NULL : engine_lock_of(who, EVENT_LOCK_ENTER);

    return wait != NULL || who == 0 ? wait : engine_lock_of(who, EVENT_LOCK_PARK);
}

/* From one wait to the next, until it is the first again: how many; 0: they end somewhere. */
static uint32_t follow(struct lock_wait *first, struct link links[SAMPLER_DEADLOCK_MAX])
{
    struct lock_wait *wait = first;

    for (uint32_t count = 0; count < SAMPLER_DEADLOCK_MAX && wait != NULL; count++) {
        if (!look_at(wait, &links[count]))
            return 0;
        find_owner(&links[count]);
        wait = wait_of(links[count].owner_who);
        if (wait == first)
            return count + 1;
    }
    return 0;
}

/* The same waits all the time: then each of these owners waits, and none of them will let go. */
static bool still_wait(const struct link *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        /* order LOCK_BEGIN: acquires whether the wait goes on. */
        if (jw_load_acquire(&links[i].wait->begin_ns) != links[i].begin_ns)
            return false;
    return true;
}

static bool is_known(const struct link *links, uint32_t count)
{
    uint64_t oldest_ns = links[0].begin_ns;

    for (uint32_t i = 1; i < count; i++)
        if (links[i].begin_ns < oldest_ns)
            oldest_ns = links[i].begin_ns;
    for (uint32_t i = 0; i < told.count; i++)
        if (told.known[i] == oldest_ns)
            return true;
    if (told.count == SAMPLER_DEADLOCKS_MAX)
        return true;
    told.known[told.count++] = oldest_ns;
    return false;
}

/* The object lives as long as it is waited for, and its class with it: so the name is right where the wait still goes on behind it. */
static void read_class(struct sampler_deadlocked *out, vm_addr klass)
{
    struct vm_text name;

    if (klass == 0 || !vm_class_name(klass, &name) || name.length_bytes >= sizeof out->class_name ||
        !safe_load_bytes(out->class_name, name.addr, name.length_bytes) ||
        !sampler_lock_goes_on(out))
        name.length_bytes = 0;
    out->class_name[name.length_bytes] = '\0';
}

static void fill(struct sampler_deadlocked *out, const struct link *link, uint32_t number)
{
    const struct lock_wait *wait = link->wait;
    const uint64_t thread = jw_load_relaxed(&wait->thread);
    const uint64_t key = jw_load_relaxed(&wait->key);

    *out = (struct sampler_deadlocked){
        .number = number,
        .begin_ns = link->begin_ns,
        .address = jw_load_relaxed(&wait->address),
        .thread = (thread_index)(thread & LOCK_INDEX_BITS),
        .serial = (uint32_t)(thread >> LOCK_SERIAL_SHIFT),
        .who = key / LOCK_KINDS,
        .owner_who = link->owner_who,
        .place = (uint32_t)(wait - engine_lock_at(0)),
    };
    out->waiter = engine_lock_take_waiter(out->place);
    out->is_virtual =
        vm_major_version() >= LOCK_VIRTUAL_MAJOR_MIN && out->who != engine_lock_who(out->thread);
    read_class(out, jw_load_relaxed(&wait->klass));
}

/* Of what waits for long the owner is asked once more. */
static void ask_owner(struct link *link, uint32_t place)
{
    find_owner(link);
    if (link->owner != THREAD_NONE)
        engine_lock_ask(link->owner, place);
}

/*
 * It waits as the thread that it began on, which has ended: nobody will say that it is over, and the monitor may be gone. A number
 * of a Java thread is never given again, so no other one takes the place meanwhile. A virtual thread goes on elsewhere.
 */
static bool is_left_behind(const struct lock_wait *wait)
{
    /* order LOCK_BEGIN: acquires the rest. */
    if (jw_load_acquire(&wait->begin_ns) == 0 ||
        (jw_load_relaxed(&wait->flags) & LOCK_WAIT_OWN) == 0)
        return false;
    const uint64_t thread = jw_load_relaxed(&wait->thread);
    const thread_index index = (thread_index)(thread & LOCK_INDEX_BITS);
    return !thread_is_live(index) || (uint32_t)thread_serial(index) != thread >> LOCK_SERIAL_SHIFT;
}

/* What it has kept nobody here can let go, so that has its place until the session ends. */
static void give_up(uint32_t place)
{
    struct lock_wait *wait = engine_lock_at(place);

    if ((jw_load_relaxed(&wait->flags) & LOCK_WAIT_KEPT) || engine_lock_has_any(place))
        /* order LOCK_BEGIN: releases nothing; who looked at it sees that it is over. */
        jw_store_release(&wait->begin_ns, 0);
    else
        engine_lock_leave(wait);
}

bool sampler_lock_goes_on(const struct sampler_deadlocked *one)
{
    /* order LOCK_BEGIN: acquires whether the wait goes on. */
    return jw_load_acquire(&engine_lock_at(one->place)->begin_ns) == one->begin_ns;
}

uint32_t sampler_lock_turn(struct sampler_deadlocked *out, uint32_t room)
{
    static struct link links[SAMPLER_DEADLOCK_MAX];
    uint32_t found = 0;

    if (!sampler_hook_enter())
        return 0;
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX && sampler.lock_ns != 0; place++) {
        struct link first;

        if (is_left_behind(engine_lock_at(place)))
            give_up(place);
        if (!look_at(engine_lock_at(place), &first))
            continue;
        ask_owner(&first, place);
        const uint32_t count = follow(first.wait, links);
        if (count == 0 || found + count > room || !still_wait(links, count) ||
            is_known(links, count))
            continue;
        for (uint32_t i = 0; i < count; i++)
            fill(&out[found++], &links[i], told.count);
        jw_count(JW_COUNT_DEADLOCKS);
    }
    sampler_hook_leave();
    return found;
}
