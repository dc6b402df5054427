/* Slots and whose they are; any, hook, and handler for looking one up. */
#include "context/context.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "context/context_internal.h"
#include "context/context_process.h"
#include "thread/thread_symbol.h"
#include "thread/thread_tls.h"

#define BINS        (CONTEXT_SLOTS / CONTEXT_BIN)
#define SLOTS_BYTES ((size_t)CONTEXT_SLOTS * CONTEXT_SLOT_BYTES)
#define OWNER_BYTES ((size_t)CONTEXT_SLOTS * sizeof(uint64_t))

/* Slots are charged as they are touched, so many bytes at a time: the largest page of any kernel. */
#define STRETCH_BYTES ((size_t)65536)
#define STRETCHES     ((SLOTS_BYTES + STRETCH_BYTES - 1) / STRETCH_BYTES)

static _Atomic uint64_t charged_stretches[(STRETCHES + 63) / 64]; /* relaxed: figures */
static uint32_t bin_count; /* in use: as many as memlimit has room for. Constant while open */
static struct context_place *places;
static _Atomic uint64_t *owners; /* by slot; 0: free */
static pthread_key_t ending;     /* its destructor gives the slot of an ending thread back */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t is_open;

static void *reserve(size_t size_bytes, struct jw_error *err)
{
    void *memory = jw_memory_map(JW_MEMORY_CONTEXTS, size_bytes);

    if (memory != NULL)
        return memory;
    jw_error_set(err,
                 "cannot reserve %zu bytes for the contexts of threads: %s; allow the process more "
                 "address space (ulimit -v)",
                 size_bytes, strerror(errno));
    return NULL;
}

static void end_thread(void *argument)
{
    (void)argument;
    context_end_thread();
}

/* The bins that there is room for, with the words of their owners, which are charged here. */
static bool charge_bins(struct jw_error *err)
{
    const uint64_t share = jw_memory_limit_of(JW_MEMORY_CONTEXTS, UINT64_MAX);
    const uint64_t bin_bytes = CONTEXT_BIN * (CONTEXT_SLOT_BYTES + sizeof(uint64_t));
    const uint64_t most = share < 3 * STRETCH_BYTES ? 0 : (share - 2 * STRETCH_BYTES) / bin_bytes;

    bin_count = most < BINS ? (uint32_t)most : BINS;
    if (bin_count != 0 &&
        jw_memory_charge(JW_MEMORY_CONTEXTS,
                         STRETCH_BYTES + bin_count * CONTEXT_BIN * sizeof(uint64_t)))
        return true;
    jw_error_set(err, "memlimit leaves no room for the contexts of threads; try a larger one");
    return false;
}

/* Whether the memory of this bin's slots is paid for. */
static bool charge_slots(uint32_t first)
{
    const size_t begin = (size_t)first * CONTEXT_SLOT_BYTES / STRETCH_BYTES;
    const size_t end = ((size_t)(first + CONTEXT_BIN) * CONTEXT_SLOT_BYTES - 1) / STRETCH_BYTES;

    for (size_t stretch = begin; stretch <= end; stretch++) {
        const uint64_t bit = UINT64_C(1) << stretch % 64;
        _Atomic uint64_t *word = &charged_stretches[stretch / 64];

        if ((jw_load_relaxed(word) & bit) != 0)
            continue;
        if (!jw_memory_charge(JW_MEMORY_CONTEXTS, STRETCH_BYTES))
            return false;
        if ((jw_or_relaxed(word, bit) & bit) != 0)
            jw_memory_credit(JW_MEMORY_CONTEXTS, STRETCH_BYTES); /* another was faster */
    }
    return true;
}

static bool open_all(struct jw_error *err)
{
    if (!charge_bins(err))
        return false;

    void *slots = reserve(SLOTS_BYTES, err);
    void *words = slots == NULL ? NULL : reserve(OWNER_BYTES, err);

    if (words == NULL)
        goto fail;
    if (pthread_key_create(&ending, end_thread) != 0) {
        jw_error_set(err, "contexts: the process has no thread-specific key left");
        goto fail;
    }
    places = slots;
    owners = words;
    /* order CONTEXT_OPEN: releases the memory to whoever finds it open. */
    jw_store_release(&is_open, 1);
    return true;

fail:
    jw_memory_unmap(words, OWNER_BYTES);
    jw_memory_unmap(slots, SLOTS_BYTES);
    jw_memory_credit(JW_MEMORY_CONTEXTS,
                     STRETCH_BYTES + bin_count * CONTEXT_BIN * sizeof(uint64_t));
    return false;
}

JW_SIGNAL_SAFE static bool are_open(void)
{
    /* order CONTEXT_OPEN: acquires what contexts_open released, the memory. */
    return jw_load_acquire(&is_open) != 0;
}

bool contexts_open(struct jw_error *err)
{
    /* Who asks at each call, asks without the lock: it may have been held when a child was made. */
    if (are_open())
        return true;
    pthread_mutex_lock(&open_lock);
    const bool is_good = jw_load_relaxed(&is_open) != 0 || open_all(err);
    pthread_mutex_unlock(&open_lock);
    return is_good;
}

void *contexts_memory(size_t *bytes)
{
    *bytes = are_open() ? SLOTS_BYTES : 0;
    return are_open() ? places : NULL;
}

struct context_place *context_place_of(context_slot slot)
{
    return are_open() && slot >= 0 && (uint32_t)slot < CONTEXT_SLOTS ? &places[slot] : NULL;
}

context_slot context_slot_of_record(const void *record)
{
    if (record == NULL || !are_open())
        return CONTEXT_NO_SLOT;

    const uintptr_t offset = (uintptr_t)record - (uintptr_t)places - CONTEXT_RECORD_OFFSET;
    if (offset >= SLOTS_BYTES || offset % CONTEXT_SLOT_BYTES != 0)
        return CONTEXT_NO_SLOT;
    return (context_slot)(offset / CONTEXT_SLOT_BYTES);
}

/* The two bins of an owner, as their first slots. */
JW_SIGNAL_SAFE static void bins_of(uint64_t owner, uint32_t first[2])
{
    const uint64_t hash = jw_hash_word(owner);

    first[0] = (uint32_t)hash % bin_count * CONTEXT_BIN;
    first[1] = (uint32_t)(hash >> 32) % bin_count * CONTEXT_BIN;
}

context_slot context_find(uint64_t owner)
{
    uint32_t first[2];

    if (owner == 0 || !are_open())
        return CONTEXT_NO_SLOT;
    bins_of(owner, first);
    for (uint32_t probe = 0; probe < CONTEXT_PROBES; probe++) {
        const uint32_t slot = first[probe / CONTEXT_BIN] + probe % CONTEXT_BIN;

        /* order CONTEXT_OWNER: acquires what context_bind released, the empty record. */
        if (jw_load_acquire(&owners[slot]) == owner)
            return (context_slot)slot;
    }
    return CONTEXT_NO_SLOT;
}

static uint32_t free_in(uint32_t first)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < CONTEXT_BIN; i++)
        count += jw_load_relaxed(&owners[first + i]) == 0; /* relaxed: a guess; the CAS decides */
    return count;
}

static context_slot claim_in(uint32_t first, uint64_t owner)
{
    if (!charge_slots(first))
        return CONTEXT_NO_SLOT;
    for (uint32_t slot = first; slot < first + CONTEXT_BIN; slot++) {
        uint64_t none = 0;

        /* order CONTEXT_OWNER: acquires what context_unbind released, the wiped record of the owner before. */
        if (jw_cas_acq_rel(&owners[slot], &none, owner))
            return (context_slot)slot;
    }
    return CONTEXT_NO_SLOT;
}

/* Readers outside of the process learn that there is something to read. */
static void tell_outside(void)
{
    static _Atomic uint32_t is_told; /* relaxed: saves work; told twice is told */

    if (jw_load_relaxed(&is_told) != 0)
        return;
    jw_store_relaxed(&is_told, 1);
    (void)context_process_publish(NULL);
}

static context_slot claim(uint64_t owner)
{
    uint32_t first[2];

    bins_of(owner, first);
    const uint32_t better = free_in(first[1]) > free_in(first[0]);
    const context_slot slot = claim_in(first[better], owner);
    return slot != CONTEXT_NO_SLOT ? slot : claim_in(first[1 - better], owner);
}

/* Nothing of it is valid any more, and nothing is left. */
static void wipe(struct context_place *place)
{
    place->valid = 0;
    jw_signal_fence();
    memset(place, 0, offsetof(struct context_place, attributes));
    jw_signal_fence();
}

static void fill(context_slot slot, uint64_t owner, bool is_virtual)
{
    struct context_place *place = &places[slot];

    wipe(place);
    place->owner = owner;
    place->os_tid = is_virtual ? 0 : thread_own_tid();
    jw_signal_fence();
    place->valid = 1;
}

/* The calling thread's symbol names this slot from now on, and gives it back when the thread ends. */
static void name_own(context_slot slot)
{
    uint64_t owner;
    const context_slot before = context_own(&owner);

    (void)pthread_setspecific(ending, &places[slot]);
    thread_symbol_set(places[slot].trace_id);
    if (before != CONTEXT_NO_SLOT && before != slot)
        context_unbind(before, owner);
}

context_slot context_bind(uint64_t owner, bool is_virtual)
{
    if (owner == 0 || !are_open())
        return CONTEXT_NO_SLOT;

    const context_slot known = context_find(owner);
    if (known != CONTEXT_NO_SLOT &&
        (is_virtual || context_slot_of_record(thread_symbol()) == known))
        return known;

    /* Known, but not to this thread: one that had its number before it, and died without a word. */
    const context_slot slot = known != CONTEXT_NO_SLOT ? known : claim(owner);
    if (slot == CONTEXT_NO_SLOT) {
        jw_count(JW_COUNT_CONTEXT_REFUSED);
        return CONTEXT_NO_SLOT;
    }
    fill(slot, owner, is_virtual);
    if (!is_virtual)
        name_own(slot);
    tell_outside();
    return slot;
}

void context_unbind(context_slot slot, uint64_t owner)
{
    struct context_place *place = context_place_of(slot);

    /* relaxed: the owner alone gives its slot back, and nobody takes it from him */
    if (place == NULL || owner == 0 || jw_load_relaxed(&owners[slot]) != owner)
        return;
    if (thread_symbol() == place->trace_id)
        thread_symbol_set(NULL);
    wipe(place);
    /* order CONTEXT_OWNER: releases the wiped record to the next owner. */
    jw_store_release(&owners[slot], 0);
}

context_slot context_own(uint64_t *owner)
{
    const context_slot slot = context_slot_of_record(thread_symbol());

    *owner = slot == CONTEXT_NO_SLOT ? 0 : jw_load_relaxed(&owners[slot]);
    return slot;
}

void context_end_thread(void)
{
    uint64_t owner;
    const context_slot slot = context_own(&owner);

    context_unbind(slot, owner);
}

/* ---- requests of sessions that have ended ---- */

static _Atomic uint64_t
    ended_ns; /* the last session with endpoints; relaxed: who sees it late shows one sample more */

void context_routes_end(void)
{
    jw_store_relaxed(&ended_ns, jw_now_ns());
}

bool context_route_is_past(const struct context_place *place)
{
    return place->route_is_polled && place->route_begin_ns <= jw_load_relaxed(&ended_ns);
}
