/* Waits for Java locks, in a table of those under way; hook, control. */
#include "sampler/sampler_lock_internal.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_tls.h"
#include "vm/vm_monitor.h"
#include "vm/vm_mounted.h"

#define PROBES 16u

/* A number of the operating system, of a thread whose own number is not known. */
#define WHO_IS_TID (UINT64_C(1) << 61)

/* Apart from the rest, which few waits have. */
struct waiter {
    _Atomic uint64_t reference; /* to the virtual thread that waits; 0: none */
    /* When the owner was last seen to be it; before the begin of the wait: it was not. Relaxed: one word for itself. */
    _Atomic uint64_t seen_ns;
    _Atomic uint64_t object; /* reference to what it waits for; 0: none, or somebody has it */
    /* Who was found to own it since; of the wait that began then, by FOUND_VIRTUAL a virtual thread. */
    _Atomic uint64_t found;
    _Atomic uint64_t found_of; /* 0: nobody */
};

#define FOUND_VIRTUAL (UINT64_C(1) << 63)

static struct lock_wait *waits;        /* SAMPLER_LOCKS_MAX of them */
static struct waiter *waiters;         /* of each */
static _Atomic uint64_t last_begin_ns; /* relaxed: a number for itself */
static _Atomic uint32_t objects;       /* relaxed: so many references; a hint */

bool engine_lock_open(struct jw_error *err)
{
    engine_lock_forget();
    engine_lock_forget_away();
    jw_store_relaxed(&objects, 0);
    if (waiters != NULL)
        sampler_wipe(waiters, SAMPLER_LOCKS_MAX, sizeof *waiters);
    else
        waiters = sampler_reserve(JW_MEMORY_THREADS, SAMPLER_LOCKS_MAX, sizeof *waiters, err);
    if (waits != NULL)
        sampler_wipe(waits, SAMPLER_LOCKS_MAX, sizeof *waits);
    else if (waiters != NULL)
        waits = sampler_reserve(JW_MEMORY_THREADS, SAMPLER_LOCKS_MAX, sizeof *waits, err);
    return waits != NULL && engine_lock_open_asks(err);
}

vm_addr engine_lock_take_waiter(uint32_t place)
{
    /* order LOCK_WAITER: acquires the reference; releases that it is taken. */
    return jw_exchange_acq_rel(&waiters[place].reference, 0);
}

vm_addr engine_lock_take_object(uint32_t place)
{
    /* order LOCK_WAITER: acquires the reference; releases that it is taken. */
    const vm_addr object = jw_exchange_acq_rel(&waiters[place].object, 0);

    if (object != 0)
        (void)jw_sub_relaxed(&objects, 1);
    return object;
}

bool engine_lock_has_any(uint32_t place)
{
    /* order LOCK_WAITER: acquires nothing; it is only looked at. */
    return jw_load_acquire(&waiters[place].reference) != 0 ||
           jw_load_acquire(&waiters[place].object) != 0;
}

bool engine_lock_has_objects(void)
{
    return jw_load_relaxed(&objects) != 0;
}

struct lock_owner engine_lock_found(const struct lock_wait *wait, uint64_t begin_ns)
{
    const struct waiter *waiter = &waiters[wait - waits];
    /* order LOCK_FOUND: acquires who it is, and with him whether he is taken back. */
    const uint64_t of = jw_load_acquire(&waiter->found_of);
    const uint64_t found = jw_load_acquire(&waiter->found);

    if (begin_ns == 0 || (of & ~FOUND_VIRTUAL) != begin_ns ||
        jw_load_acquire(&waiter->found_of) != of)
        return (struct lock_owner){0};
    return (struct lock_owner){found, (of & FOUND_VIRTUAL) != 0};
}

struct lock_owner engine_lock_told(const struct lock_wait *wait, uint64_t begin_ns)
{
    /* order LOCK_OWNER: acquires the flag. */
    const uint64_t owner = jw_load_acquire(&wait->owner);

    if (owner == 0)
        return engine_lock_found(wait, begin_ns);
    return (struct lock_owner){owner, (jw_load_relaxed(&wait->flags) & LOCK_WAIT_VIRTUAL) != 0};
}

void engine_lock_put_found(uint32_t place, uint64_t begin_ns, struct lock_owner owner)
{
    struct waiter *waiter = &waiters[place];

    /* order LOCK_FOUND: the one before is taken back, then releases who it is, and of which wait. */
    (void)jw_exchange_acq_rel(&waiter->found_of, 0);
    jw_store_release(&waiter->found, owner.value);
    jw_store_release(&waiter->found_of, begin_ns | (owner.is_virtual ? FOUND_VIRTUAL : 0));
}

void engine_lock_saw(uint32_t place, uint64_t now_ns)
{
    jw_store_relaxed(&waiters[place].seen_ns, now_ns);
}

uint64_t engine_lock_last_ns(void)
{
    return jw_load_relaxed(&last_begin_ns);
}

struct lock_wait *engine_lock_at(uint32_t place)
{
    return &waits[place];
}

/* A virtual thread where it can leave its carrier, else the thread. */
uint64_t engine_lock_who(thread_index thread)
{
    const uint64_t own = thread_java_id(thread);

    return own != 0 ? own : WHO_IS_TID | thread_tid(thread);
}

uint64_t engine_lock_runs(thread_index thread)
{
    const uint64_t own = thread_java_id(thread);
    const uint64_t mounted = vm_major_version() >= LOCK_VIRTUAL_MAJOR_MIN
                                 ? vm_thread_mounted(thread_env(thread), own)
                                 : 0;

    return mounted != 0 && mounted != VM_MOUNTED_UNTOLD ? mounted : own;
}

static uint64_t who_waits(thread_index thread)
{
    const uint64_t runs = engine_lock_runs(thread);

    return runs != 0 ? runs : engine_lock_who(thread);
}

static uint64_t key_of(uint64_t who, enum event_lock kind)
{
    return who * LOCK_KINDS + kind + 1;
}

static uint32_t first_of(uint64_t key)
{
    return (uint32_t)(jw_hash_word(key) >> 32);
}

static struct lock_wait *find(uint64_t key)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        struct lock_wait *wait = &waits[(first_of(key) + probe) % SAMPLER_LOCKS_MAX];

        /* order LOCK_WAIT: acquires what its begin left there, maybe on another carrier. */
        if (jw_load_acquire(&wait->key) == key)
            return wait;
    }
    return NULL;
}

struct lock_wait *engine_lock_of(uint64_t who, enum event_lock kind)
{
    return find(key_of(who, kind));
}

static vm_addr kept_by(const struct lock_wait *wait)
{
    return jw_load_relaxed(&wait->flags) & LOCK_WAIT_KEPT ? jw_load_relaxed(&wait->monitor) : 0;
}

static uint32_t place_of(const struct lock_wait *wait)
{
    return (uint32_t)(wait - waits);
}

/* `left`: what one of this key has kept, which did not end as it should. */
static struct lock_wait *claim(uint64_t key, struct sampler_kept *left)
{
    struct lock_wait *wait = find(key);

    if (wait != NULL) {
        left->monitor = kept_by(wait);
        left->waiter = engine_lock_take_waiter(place_of(wait));
        left->object = engine_lock_take_object(place_of(wait));
        /* order LOCK_BEGIN: releases nothing; who looked at that one sees that it is over. */
        jw_store_release(&wait->begin_ns, 0);
    }
    for (uint32_t probe = 0; probe < PROBES && wait == NULL; probe++) {
        struct lock_wait *free = &waits[(first_of(key) + probe) % SAMPLER_LOCKS_MAX];
        uint64_t expected = 0;

        /* order LOCK_WAIT: acquires that it was left. */
        if (jw_cas_acq_rel(&free->key, &expected, key))
            wait = free;
    }
    return wait;
}

void engine_lock_leave(struct lock_wait *wait)
{
    /* order LOCK_BEGIN: releases nothing; who looked at it sees that it is over. */
    jw_store_release(&wait->begin_ns, 0);
    jw_store_relaxed(&wait->flags, 0);
    /* order LOCK_WAIT: releases the place. */
    jw_store_release(&wait->key, 0);
}

/* Now, or a moment later: a time that no other wait has. */
static uint64_t own_begin_ns(uint64_t now_ns)
{
    uint64_t last_ns = jw_load_relaxed(&last_begin_ns);

    for (;;) {
        const uint64_t mine_ns = now_ns > last_ns ? now_ns : last_ns + 1;

        if (jw_cas_relaxed(&last_begin_ns, &last_ns, mine_ns))
            return mine_ns;
    }
}

uint64_t engine_lock_pack(thread_index thread, uint32_t add)
{
    return thread_serial(thread) << LOCK_SERIAL_SHIFT | (thread + add);
}

static thread_index find_owner(const struct sampler_lock *told)
{
    switch (told->kind) {
    case EVENT_LOCK_ENTER:
        return told->monitor == 0 ? THREAD_NONE : engine_lock_owner(told->monitor);
    case EVENT_LOCK_PARK:
        return engine_lock_thread_of(told->owner_number);
    case EVENT_LOCK_WAIT:
        break;
    }
    return THREAD_NONE;
}

static uint64_t find_virtual(const struct sampler_lock *told, thread_index owner)
{
    switch (told->kind) {
    case EVENT_LOCK_ENTER:
        return told->monitor == 0 ? 0 : engine_lock_owner_virtual(told->monitor, owner);
    case EVENT_LOCK_PARK:
        return told->is_owner_virtual && vm_major_version() >= LOCK_VIRTUAL_MAJOR_MIN
                   ? told->owner_number
                   : 0;
    case EVENT_LOCK_WAIT:
        break;
    }
    return 0;
}

/* Where nothing else tells it, what was found of another wait for the monitor. */
static struct lock_owner share_owner(struct lock_wait *wait, const struct sampler_lock *told)
{
    struct lock_owner owner = {0};

    if (told->object != 0)
        owner = engine_lock_shared(told->monitor);
    if (owner.value != 0)
        jw_store_relaxed(&wait->flags, jw_load_relaxed(&wait->flags) | LOCK_WAIT_SHARED);
    return owner;
}

static bool is_unnamed(const struct sampler_lock *told)
{
    return told->kind == EVENT_LOCK_ENTER && told->monitor != 0 &&
           vm_major_version() >= LOCK_VIRTUAL_MAJOR_MIN && vm_monitor_is_unnamed(told->monitor);
}

/* Who has it in his lock stack, as long as it names nobody: the thread, or the virtual one on it. Nobody, where that one has just left. */
static struct lock_owner by_lock_stack(struct lock_wait *wait, const struct sampler_lock *told,
                                       thread_index *runs_on)
{
    uint64_t number;

    if (!engine_lock_carries_owner(told->monitor, *runs_on, &number)) {
        *runs_on = THREAD_NONE;
        return (struct lock_owner){0};
    }
    if (number == 0)
        return (struct lock_owner){engine_lock_pack(*runs_on, 1), false};
    jw_store_relaxed(&wait->flags, jw_load_relaxed(&wait->flags) | LOCK_WAIT_SHARED);
    return (struct lock_owner){number, true};
}

static struct lock_owner look_for_owner(struct lock_wait *wait, const struct sampler_lock *told,
                                        thread_index *runs_on)
{
    *runs_on = find_owner(told);
    if (is_unnamed(told) && *runs_on != THREAD_NONE)
        return by_lock_stack(wait, told, runs_on);
    const uint64_t number = find_virtual(told, *runs_on);

    if (number != 0)
        return (struct lock_owner){number, true};
    if (*runs_on != THREAD_NONE)
        return (struct lock_owner){engine_lock_pack(*runs_on, 1), false};
    const struct lock_owner shared = share_owner(wait, told);
    if (shared.value != 0)
        *runs_on = shared.is_virtual ? engine_lock_thread_of(shared.value)
                                     : (thread_index)(shared.value & LOCK_INDEX_BITS) - 1;
    return shared;
}

static void note_owner(struct lock_wait *wait, const struct sampler_lock *told)
{
    thread_index runs_on;
    const struct lock_owner owner = look_for_owner(wait, told, &runs_on);

    if (owner.is_virtual)
        jw_store_relaxed(&wait->flags, jw_load_relaxed(&wait->flags) | LOCK_WAIT_VIRTUAL);
    /* order LOCK_OWNER: releases the flags. */
    jw_store_release(&wait->owner, owner.value);
    if (owner.value != 0)
        jw_count(JW_COUNT_LOCK_OWNED);
    if (runs_on != THREAD_NONE)
        engine_lock_ask(runs_on, place_of(wait));
}

/* All that came with it. */
static struct sampler_kept own_of(const struct sampler_lock *told)
{
    return (struct sampler_kept){told->is_kept ? told->monitor : 0, told->waiter, told->object};
}

static void put_object(uint32_t place, vm_addr object)
{
    if (object == 0)
        return;
    (void)jw_add_relaxed(&objects, 1);
    /* order LOCK_WAITER: releases the reference. */
    jw_store_release(&waiters[place].object, object);
}

/* What is kept, and no end will give back. */
static struct sampler_kept begin(const struct sampler_lock *told, uint64_t now_ns)
{
    const thread_index thread = thread_find(thread_own_tid());
    const uint64_t who = thread == THREAD_NONE ? 0 : who_waits(thread);
    struct sampler_kept left = {0};
    struct lock_wait *wait = thread == THREAD_NONE ? NULL : claim(key_of(who, told->kind), &left);

    if (wait == NULL) {
        jw_count(JW_COUNT_LOCK_NO_ROOM);
        return own_of(told);
    }
    if (told->waiter != 0)
        /* order LOCK_WAITER: releases the reference. */
        jw_store_release(&waiters[place_of(wait)].reference, told->waiter);
    put_object(place_of(wait), told->object);
    jw_store_relaxed(&wait->monitor, told->monitor);
    jw_store_relaxed(&wait->thread, engine_lock_pack(thread, 0));
    jw_store_relaxed(&wait->timeout_ms, told->timeout_ms);
    jw_store_relaxed(&wait->flags, (who == thread_java_id(thread) ? LOCK_WAIT_OWN : 0) |
                                       (told->is_kept ? LOCK_WAIT_KEPT : 0));
    jw_store_relaxed(&wait->owner, 0);
    jw_store_relaxed(&wait->address, told->address);
    jw_store_relaxed(&wait->klass, told->klass);
    /* order LOCK_BEGIN: releases the rest, to owners that are asked and to who looks for waits that take long. */
    jw_store_release(&wait->begin_ns, own_begin_ns(now_ns));
    note_owner(wait, told);
    return left;
}

static bool end(enum event_lock kind, struct sampler_lock *out)
{
    const thread_index thread = thread_find(thread_own_tid());
    struct lock_wait *wait = thread == THREAD_NONE ? NULL : find(key_of(who_waits(thread), kind));

    if (wait == NULL) {
        jw_count(JW_COUNT_LOCK_UNBEGUN);
        return false;
    }
    const uint64_t now_ns = jw_now_ns(), begin_ns = jw_load_relaxed(&wait->begin_ns);
    const struct lock_owner told = engine_lock_told(wait, begin_ns);
    const uint64_t owner = told.is_virtual ? 0 : told.value;
    const uint64_t seen_ns = jw_load_relaxed(&waiters[place_of(wait)].seen_ns);
    *out = (struct sampler_lock){
        .kind = kind,
        .monitor = jw_load_relaxed(&wait->monitor),
        .is_kept = kept_by(wait) != 0,
        .waiter = engine_lock_take_waiter(place_of(wait)),
        .object = engine_lock_take_object(place_of(wait)),
        .address = jw_load_relaxed(&wait->address),
        .timeout_ms = jw_load_relaxed(&wait->timeout_ms),
        .begin_ns = begin_ns,
        .duration_ns = now_ns > begin_ns ? now_ns - begin_ns : 0,
        .owner = owner == 0 ? THREAD_NONE : (thread_index)(owner & LOCK_INDEX_BITS) - 1,
        .owner_serial = (uint32_t)(owner >> LOCK_SERIAL_SHIFT),
        .owner_virtual = told.is_virtual ? told.value : 0,
        .seen_ns = told.value != 0 && seen_ns > begin_ns ? seen_ns - begin_ns : 0,
    };
    engine_lock_leave(wait);
    jw_count(JW_COUNT_LOCK_WAITS);
    if (out->object != 0 && told.value == 0 && out->duration_ns >= SAMPLER_SEEK_AFTER_NS)
        jw_count(JW_COUNT_LOCK_UNSOUGHT);
    if (out->duration_ns >= sampler.lock_ns)
        return true;
    jw_count(JW_COUNT_LOCK_SHORT);
    return false;
}

struct sampler_kept sampler_lock_begin(const struct sampler_lock *wait)
{
    struct sample_cost cost;

    if (!sampler_hook_enter())
        return own_of(wait);
    sample_cost_begin_hook(&cost);
    const struct sampler_kept left = begin(wait, cost.begin_ns);
    sample_cost_end(&cost, JW_COST_HOOK);
    sampler_hook_leave();
    return left;
}

bool sampler_lock_end(enum event_lock kind, struct sampler_lock *wait)
{
    bool is_told = false;

    *wait = (struct sampler_lock){.kind = kind};
    if (sampler_hook_enter()) {
        is_told = end(kind, wait);
        sampler_hook_leave();
    }
    return is_told;
}

void sampler_lock_let_go(void (*let_go)(vm_addr reference, void *argument), void *argument)
{
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX && waits != NULL; place++) {
        struct lock_wait *wait = &waits[place];
        const struct sampler_kept kept = {kept_by(wait), engine_lock_take_waiter(place),
                                          engine_lock_take_object(place)};

        if (kept.monitor == 0 && kept.waiter == 0 && kept.object == 0)
            continue;
        engine_lock_leave(wait);
        if (kept.monitor != 0)
            let_go(kept.monitor, argument);
        if (kept.waiter != 0)
            let_go(kept.waiter, argument);
        if (kept.object != 0)
            let_go(kept.object, argument);
    }
}
