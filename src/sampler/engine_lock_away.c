/* Owners that are virtual threads on no carrier, where no handler can answer for them: who is to be asked about by the JVM; dump. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_lock_internal.h"
#include "vm/vm_monitor.h"
#include "vm/vm_object.h"
#include "vm/vm_synchronizer.h"

/* What an owner that was told did is told once more of what still waits then. */
#define TOLD_AGAIN_NS JW_NS_PER_SECOND

/* Of an owner that was not: it was on a carrier, or nobody knows it. */
#define AGAIN_NS (20 * JW_NS_PER_MS)

/* So many waits are looked at closely in one turn; each may take a look at all threads. */
#define LOOKS_MAX 64u

#define ASKED_SLOTS  64u
#define ASKED_PROBES 8u

/* For which locks owners were asked, by address. The agent's thread alone. */
struct asked {
    uint64_t address, owner, time_ns;
    bool is_told;
};

static struct {
    struct asked asked[ASKED_SLOTS];
    uint32_t next; /* the place where the next turn begins */
} away;

void engine_lock_forget_away(void)
{
    for (uint32_t i = 0; i < ASKED_SLOTS; i++)
        away.asked[i] = (struct asked){0};
}

/* Of that lock, else the one to be given up for it. */
static struct asked *slot_of(uint64_t address)
{
    const uint32_t first = (uint32_t)(jw_hash_word(address) >> 32);
    struct asked *oldest = &away.asked[first % ASKED_SLOTS];

    for (uint32_t probe = 0; probe < ASKED_PROBES; probe++) {
        struct asked *slot = &away.asked[(first + probe) % ASKED_SLOTS];

        if (slot->address == address)
            return slot;
        if (slot->time_ns < oldest->time_ns)
            oldest = slot;
    }
    return oldest;
}

/* A wait has what it needs where the owner was asked since it began, and not long ago. */
static bool is_due(uint64_t address, uint64_t owner, uint64_t begin_ns, uint64_t now_ns)
{
    const struct asked *slot = slot_of(address);

    if (slot->address != address || slot->owner != owner)
        return true;
    if (slot->is_told && slot->time_ns < begin_ns)
        return true;
    return now_ns - slot->time_ns >= (slot->is_told ? TOLD_AGAIN_NS : AGAIN_NS);
}

static void note(uint64_t address, uint64_t owner, uint64_t time_ns, bool is_told)
{
    *slot_of(address) = (struct asked){address, owner, time_ns, is_told};
}

/* Where it is read by nobody else than the lock itself: who had it when the wait began. */
static uint64_t parked_for(const struct lock_wait *wait, vm_addr latch, uint64_t begin_ns)
{
    const uint64_t owner = vm_synchronizer_owner(latch);
    const struct lock_owner told = engine_lock_told(wait, begin_ns);

    return owner == 0 && told.is_virtual ? told.value : owner;
}

/* Number of who has it now, which may be any thread; 0: not known. */
static uint64_t owner_of(const struct lock_wait *wait, uint64_t begin_ns)
{
    const vm_addr monitor = jw_load_relaxed(&wait->monitor);
    struct vm_owner owner;

    if (monitor == 0)
        return 0;
    if (engine_lock_kind_of(jw_load_relaxed(&wait->key)) == EVENT_LOCK_PARK)
        return parked_for(wait, monitor, begin_ns);
    if (engine_lock_keeps_found(wait, begin_ns)) {
        const struct lock_owner found = engine_lock_told(wait, begin_ns);
        return found.is_virtual ? found.value : 0;
    }
    vm_monitor_owner(monitor, &owner);
    return owner.kind == VM_OWNER_NUMBER ? owner.value : 0;
}

static bool goes_on(const struct sampler_away *one)
{
    /* order LOCK_BEGIN: acquires whether the wait goes on. */
    return jw_load_acquire(&engine_lock_at(one->place)->begin_ns) == one->begin_ns;
}

/* It lives as long as it is waited for, and its class with it. */
static void read_class(struct sampler_away *one)
{
    const vm_addr klass = jw_load_relaxed(&engine_lock_at(one->place)->klass);
    struct vm_text name;

    one->class_name[0] = '\0';
    if (klass == 0 || !vm_class_name(klass, &name) || name.length_bytes >= sizeof one->class_name ||
        !safe_load_bytes(one->class_name, name.addr, name.length_bytes) || !goes_on(one))
        name.length_bytes = 0;
    one->class_name[name.length_bytes] = '\0';
}

/* Whose lock it is: on a carrier it is asked for its stack by a signal, like any thread. Whether the owner of a latch is virtual at all the caller sees. */
static bool is_away(const struct sampler_away *one)
{
    const thread_index runs_on = engine_lock_thread_of(one->owner);

    if (runs_on == THREAD_NONE)
        return one->is_park || engine_lock_is_away(one->owner);
    if (thread_java_id(runs_on) != one->owner)
        engine_lock_ask(runs_on, one->place);
    return false;
}

/* True: it is given out. */
static bool look_at(uint32_t place, uint64_t now_ns, uint32_t *looks, bool *is_soon,
                    struct sampler_away *out)
{
    const struct lock_wait *wait = engine_lock_at(place);
    /* order LOCK_BEGIN: acquires the rest. */
    const uint64_t begin_ns = jw_load_acquire(&wait->begin_ns);
    const uint64_t key = jw_load_relaxed(&wait->key);

    if (begin_ns == 0 || key == 0 || !engine_lock_is_for_lock(engine_lock_kind_of(key)))
        return false;
    *is_soon |= engine_lock_told(wait, begin_ns).is_virtual;
    if (now_ns < begin_ns + SAMPLER_AWAY_AFTER_NS)
        return false;
    *out = (struct sampler_away){
        .place = place,
        .begin_ns = begin_ns,
        .is_park = engine_lock_kind_of(key) == EVENT_LOCK_PARK,
        .owner = owner_of(wait, begin_ns),
        .address = jw_load_relaxed(&wait->address),
        .time_ns = now_ns,
    };
    if (out->owner == 0 || !is_due(out->address, out->owner, begin_ns, now_ns) || !goes_on(out))
        return false;
    (*looks)++;
    note(out->address, out->owner, now_ns, false);
    if (!is_away(out))
        return false;
    read_class(out);
    return true;
}

uint32_t sampler_lock_away(struct sampler_away *out, uint32_t room, bool *is_soon)
{
    uint32_t count = 0, looks = 0;

    *is_soon = false;
    if (vm_major_version() < LOCK_VIRTUAL_MAJOR_MIN || !engine_lock_has_waits() ||
        !sampler_hook_enter())
        return 0;
    const uint64_t now_ns = jw_now_ns();
    const uint32_t first = away.next;
    for (uint32_t i = 0; i < SAMPLER_LOCKS_MAX && sampler.lock_ns != 0; i++) {
        const uint32_t place = (first + i) % SAMPLER_LOCKS_MAX;

        *is_soon |= count == room || looks == LOOKS_MAX;
        if (count == room || looks == LOOKS_MAX)
            break;
        away.next = place + 1;
        count += look_at(place, now_ns, &looks, is_soon, &out[count]);
    }
    sampler_hook_leave();
    return count;
}

bool sampler_lock_away_of(struct sampler_away *one, uint64_t owner)
{
    if (owner == one->owner)
        return true;
    if (owner == 0 || !sampler_hook_enter())
        return false;
    one->owner = owner;
    const bool is_it = is_away(one);
    sampler_hook_leave();
    return is_it;
}

bool sampler_lock_is_away(const struct sampler_away *one)
{
    if (!sampler_hook_enter())
        return false;
    const bool is_it =
        (one->is_park || owner_of(engine_lock_at(one->place), one->begin_ns) == one->owner) &&
        goes_on(one);
    sampler_hook_leave();
    if (is_it)
        note(one->address, one->owner, one->time_ns, true);
    return is_it;
}
