/* Weak references to sampled objects, in a table of slots; hook, the agent's thread. */
#include "agent/live.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/alloc.h"
#include "agent/collections.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

#define PROBES    64u /* slots that are tried */
#define LOOK_NS   (250 * JW_NS_PER_MS)
#define LEVEL_MAX 16u
#define WORK_FEW  8u /* below an eighth of the limit they are watched more closely again */

enum slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_HELD };

struct slot {
    _Atomic uint32_t state;
    _Atomic uint32_t number; /* 0: none */
    /* Relaxed, both: LIVE_NUMBER orders the first, and what the agent's thread writes it reads itself. */
    _Atomic uint32_t level;
    _Atomic uint32_t collections; /* those before it was allocated */
    jweak object;
};

/* order LIVE_SLOT: who claims a slot acquires that it was left, who holds or frees one releases what is in it. */
static struct {
    struct slot *_Atomic slots; /* NULL: none yet */
    /* Relaxed, all: each is a number for itself. */
    _Atomic uint32_t is_on;
    _Atomic uint32_t last_number;
    _Atomic uint32_t level;
    _Atomic uint32_t held_count;
    /* The agent's thread alone. */
    uint32_t limit_count;
    uint32_t looked_collections;
    uint64_t looked_ns;
} live;

static struct slot *slots(void)
{
    /* order LIVE_TABLE: acquires the table. */
    return jw_load_acquire(&live.slots);
}

/* By chance, and of those that a level chooses, a higher one chooses some. */
static bool is_chosen(uint32_t number, uint32_t level)
{
    return (jw_hash_word(number) >> 32 & ((UINT64_C(1) << level) - 1)) == 0;
}

/* ---- hooks ---- */

static struct slot *claim(uint32_t number, uint32_t *place)
{
    struct slot *table = slots();

    for (uint32_t probe = 0; probe < PROBES; probe++) {
        const uint32_t at = (uint32_t)(jw_hash_word(number) + probe) % LIVE_SLOTS;
        uint32_t expected = SLOT_FREE;

        /* order LIVE_SLOT: acquires that it was left; releases nothing that anybody reads. */
        if (jw_cas_acq_rel(&table[at].state, &expected, SLOT_CLAIMED)) {
            *place = at;
            return &table[at];
        }
    }
    return NULL;
}

static void leave(struct slot *slot)
{
    jw_store_relaxed(&slot->number, 0);
    jw_sub_relaxed(&live.held_count, 1);
    /* order LIVE_SLOT: releases the slot. */
    jw_store_release(&slot->state, SLOT_FREE);
}

struct live_place live_watch(JNIEnv *jni, jobject object)
{
    struct live_place place = {0, 0};

    if (!jw_load_relaxed(&live.is_on))
        return place;

    const uint32_t number = jw_add_relaxed(&live.last_number, 1) + 1;
    const uint32_t level = jw_load_relaxed(&live.level);
    if (number == 0 || !is_chosen(number, level)) {
        jw_count(JW_COUNT_LIVE_PASSED);
        return place;
    }
    struct slot *slot = claim(number, &place.slot);
    if (slot == NULL) {
        jw_count(JW_COUNT_LIVE_REFUSED);
        return place;
    }
    jw_add_relaxed(&live.held_count, 1);
    jw_store_relaxed(&slot->collections, collections_count());
    slot->object = (*jni)->NewWeakGlobalRef(jni, object);
    if (slot->object == NULL) {
        (*jni)->ExceptionClear(jni);
        jw_count(JW_COUNT_LIVE_REFUSED);
        leave(slot);
        return place;
    }
    jw_store_relaxed(&slot->level, level);
    /* order LIVE_NUMBER: releases its age. */
    jw_store_release(&slot->number, number);
    place.number = number;
    return place;
}

void live_settle(JNIEnv *jni, const struct live_place *place, bool is_taken)
{
    if (place->number == 0)
        return;

    struct slot *slot = &slots()[place->slot];
    if (is_taken) {
        jw_count(JW_COUNT_LIVE_WATCHED);
        /* order LIVE_SLOT: releases the reference. */
        jw_store_release(&slot->state, SLOT_HELD);
        return;
    }
    (*jni)->DeleteWeakGlobalRef(jni, slot->object);
    leave(slot);
}

/* ---- the agent's thread ---- */

static bool is_held(struct slot *slot)
{
    /* order LIVE_SLOT: acquires the reference. */
    return jw_load_acquire(&slot->state) == SLOT_HELD;
}

static void give_up(JNIEnv *jni, struct slot *slot, enum jw_counter_id counter)
{
    (*jni)->DeleteWeakGlobalRef(jni, slot->object);
    jw_count(counter);
    leave(slot);
}

/* Of each level below the new one some stay, and are of that level then. */
static void thin(JNIEnv *jni)
{
    const uint32_t level = jw_load_relaxed(&live.level) + 1;

    jw_store_relaxed(&live.level, level);
    for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
        struct slot *slot = &slots()[i];

        if (!is_held(slot) || jw_load_relaxed(&slot->level) >= level)
            continue;
        if (is_chosen(jw_load_relaxed(&slot->number), level))
            jw_store_relaxed(&slot->level, level);
        else
            give_up(jni, slot, JW_COUNT_LIVE_THINNED);
    }
}

void live_look(JNIEnv *jni)
{
    struct slot *table = slots();

    if (table == NULL || jni == NULL)
        return;
    live.looked_collections = collections_count();
    live.looked_ns = jw_now_ns();
    for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
        if (is_held(&table[i]) && (*jni)->IsSameObject(jni, table[i].object, NULL))
            give_up(jni, &table[i], JW_COUNT_LIVE_FREED);
    }
    while (jw_load_relaxed(&live.held_count) > live.limit_count &&
           jw_load_relaxed(&live.level) < LEVEL_MAX)
        thin(jni);
    if (jw_load_relaxed(&live.held_count) < live.limit_count / WORK_FEW &&
        jw_load_relaxed(&live.level) > 0)
        jw_sub_relaxed(&live.level, 1);
}

void live_turn(JNIEnv *jni)
{
    const bool is_full = jw_load_relaxed(&live.held_count) > live.limit_count;

    if (!jw_load_relaxed(&live.is_on))
        return;
    if (is_full ||
        (collections_count() != live.looked_collections && jw_now_ns() - live.looked_ns >= LOOK_NS))
        live_look(jni);
}

static void refuse(const char *reason)
{
    agent_log(OPTIONS_LOGLEVEL_WARN, "live: off: %s", reason);
}

void live_open(JNIEnv *jni, const struct options *options, const struct recording *recording)
{
    live_close(jni); /* one that was just being settled when the session before ended */
    if (options->live_count == 0)
        return;
    if (strcmp(alloc_text(options), "on") != 0) {
        refuse("allocations are not sampled");
        return;
    }
    if (recording_format_of(recording) != RECORDING_JFR) {
        refuse("only a recording holds live objects; name a file such as file=profile.jfr");
        return;
    }
    if (slots() == NULL) {
        struct slot *table = jw_alloc(LIVE_SLOTS * sizeof *table);

        if (table == NULL) {
            refuse("no memory for them; raise memlimit=");
            return;
        }
        /* order LIVE_TABLE: releases the empty table. */
        jw_store_release(&live.slots, table);
    }
    live.limit_count = (uint32_t)options->live_count;
    live.looked_collections = collections_count();
    live.looked_ns = jw_now_ns();
    jw_store_relaxed(&live.level, 0);
    jw_store_relaxed(&live.is_on, 1);
}

void live_end(void)
{
    jw_store_relaxed(&live.is_on, 0);
}

void live_close(JNIEnv *jni)
{
    struct slot *table = slots();

    live_end();
    if (table == NULL || jni == NULL)
        return;
    for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
        if (!is_held(&table[i]))
            continue;
        (*jni)->DeleteWeakGlobalRef(jni, table[i].object);
        leave(&table[i]);
    }
}

void live_tell(void)
{
    if (jw_load_relaxed(&live.is_on))
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Live objects: %u watched now, each for %u that were sampled; %llu were freed",
                  jw_load_relaxed(&live.held_count), 1u << jw_load_relaxed(&live.level),
                  (unsigned long long)jw_counter(JW_COUNT_LIVE_FREED));
}

/* The record of an object's sample may be taken before its slot is settled. */
static bool ask(void *context, uint32_t place, uint32_t number, struct recording_live_state *out)
{
    struct slot *table = slots();
    struct slot *slot = table == NULL || place >= LIVE_SLOTS ? NULL : &table[place];

    (void)context;
    /* order LIVE_NUMBER: acquires its age. */
    if (slot == NULL || number == 0 || jw_load_acquire(&slot->number) != number)
        return false;
    *out = (struct recording_live_state){
        .age = collections_count() - jw_load_relaxed(&slot->collections),
        .level = jw_load_relaxed(&slot->level),
    };
    return true;
}

void live_fill(struct recording_sources *out)
{
    out->live = ask;
}
