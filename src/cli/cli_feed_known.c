/*
 * Stacks that earlier chunks had, too: taken whole, by the bytes that they are. Context: tool.
 *
 * Recorders that count methods on from chunk to chunk (OpenJDK's, async-profiler) write a stack that comes again in the same bytes again. What keys mean is
 * each chunk's own business, though: before the first stack of a chunk is looked up here, its methods and types of frames are compared with what they were,
 * and at the first difference all that is known is forgotten. A key that this chunk does not have may be one that an earlier one had: then each stack is
 * looked through for such keys, and one that has any is read as if it were new.
 *
 * It pays where most stacks are known: hashing and remembering them is some of what walking them takes. Where fewer are, it is left alone for a while.
 *
 * Equal bytes are believed of an equal hash of 128 bits. What a hostile file makes costly is left out: a stack that finds no slot near its hash is not remembered.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"

#define KNOWN_SLOTS_FIRST ((size_t)1 << 12)
#define KNOWN_SLOTS_MOST  ((size_t)1 << 20) /* 32 MiB; half of them are used */
#define KNOWN_STACKS      64u               /* with fewer, to compare what keys mean is more work */
#define KNOWN_TRIES       16u
#define KNOWN_PAUSE_MOST  64u /* chunks */

static size_t place_of(const struct cli_known *known, const struct jw_hash128 *hash,
                       profile_stack_id begin)
{
    return (size_t)(hash->one + begin * 0x9e3779b97f4a7c15u) & (known->slot_count - 1);
}

/* The slot of this stack, or a free one for it; NULL: none of them near. */
static struct cli_known_stack *slot_of(const struct cli_known *known, const struct jw_hash128 *hash,
                                       profile_stack_id begin)
{
    size_t at = place_of(known, hash, begin);

    for (unsigned tries = 0; tries < KNOWN_TRIES && known->slot_count > 0; tries++) {
        struct cli_known_stack *slot = &known->slots[at];

        if (!slot->is_there ||
            (slot->hash.one == hash->one && slot->hash.two == hash->two && slot->begin == begin))
            return slot;
        at = (at + 1) & (known->slot_count - 1);
    }
    return NULL;
}

/* At most half of the slots are taken. False: no more are remembered. */
static bool grow(struct cli_known *known)
{
    const struct cli_known before = *known;
    const size_t slots = before.slot_count == 0 ? KNOWN_SLOTS_FIRST : before.slot_count * 2;

    if (before.count < before.slot_count / 2)
        return true;

    struct cli_known_stack *grown =
        slots > KNOWN_SLOTS_MOST ? NULL : jw_alloc(jw_mul_bytes(slots, sizeof *grown));
    if (grown == NULL) /* what is known already will do */
        return false;
    known->slots = grown;
    known->slot_count = slots;
    known->count = 0;
    for (size_t i = 0; i < before.slot_count; i++) {
        const struct cli_known_stack *from = &before.slots[i];
        struct cli_known_stack *slot =
            from->is_there ? slot_of(known, &from->hash, from->begin) : NULL;

        if (slot != NULL) {
            *slot = *from;
            known->count++;
        }
    }
    jw_free(before.slots);
    return true;
}

/* ---- what keys mean ---- */

/* As many as `methods` has, whose room never shrinks. */
static bool reserve_numbers(struct cli_feed *feed, size_t count)
{
    struct cli_known *known = &feed->known;
    uint32_t *grown;

    if (count <= known->number_count)
        return true;
    grown = jw_realloc(known->numbers, jw_mul_bytes(count, sizeof *grown));
    if (grown == NULL)
        return false;
    memset(grown + known->number_count, 0, (count - known->number_count) * sizeof *grown);
    known->numbers = grown;
    known->number_count = count;
    return true;
}

/* Do the keys of this chunk mean what they meant, as far as both have them? And does it have all of them? */
static bool is_as_before(const struct cli_feed *feed, bool *has_all)
{
    const struct cli_methods *methods = &feed->methods;
    const struct cli_known *known = &feed->known;
    uint32_t differing = 0, missing = 0;

    for (size_t i = 0; i < CLI_METHOD_TYPES; i++) {
        const uint8_t was = known->types[i], is = methods->types[i];

        differing |= was != 0 && is != 0 && was != is;
        missing |= was != 0 && is == 0;
    }
    /* `methods` has as many, see reserve_numbers. */
    for (size_t i = 0; i < known->number_count; i++) {
        const uint32_t was = known->numbers[i], is = methods->numbers[i];

        differing |= was != 0 && is != 0 && was != is;
        missing |= was != 0 && is == 0;
    }
    *has_all = missing == 0;
    return differing == 0;
}

static void forget(struct cli_known *known)
{
    if (known->count > 0)
        memset(known->slots, 0, known->slot_count * sizeof *known->slots);
    if (known->number_count > 0)
        memset(known->numbers, 0, known->number_count * sizeof *known->numbers);
    memset(known->types, 0, sizeof known->types);
    known->count = 0;
}

/* From here on, what the keys of this chunk mean is meant. */
static void take_meanings(struct cli_feed *feed)
{
    const struct cli_methods *methods = &feed->methods;
    struct cli_known *known = &feed->known;

    for (size_t i = 0; i < CLI_METHOD_TYPES; i++)
        if (methods->types[i] != 0)
            known->types[i] = methods->types[i];
    for (size_t i = 0; i < methods->number_capacity; i++)
        if (methods->numbers[i] != 0)
            known->numbers[i] = methods->numbers[i];
}

/* Before the first stack of a chunk that has frames. */
static void meet_chunk(struct cli_feed *feed, const struct jfr_value *trace)
{
    struct cli_known *known = &feed->known;
    struct jfr_stack stack = feed->ways.stack;
    struct jfr_stack_keys keys;
    struct jfr_stack_frame frame;

    jfr_stack_turn(trace, &stack);
    if (!jfr_stack_next_keys(&stack, &keys))
        return; /* another one may have some */
    known->state = CLI_KNOWN_OFF;
    known->type = trace->type;
    jfr_stack_frame_of(&stack, &keys, &frame);
    if (!cli_read_meanings(feed, &frame) || !reserve_numbers(feed, feed->methods.number_capacity))
        return;

    const uint64_t layout = jfr_stack_layout(trace, &stack);
    const bool is_first = known->layout == 0;
    const bool is_same = layout == known->layout && is_as_before(feed, &known->has_all);
    if (!is_first && !is_same)
        forget(known);
    take_meanings(feed);
    known->layout = layout;
    /* Where keys have changed they may do so again: what this chunk has is remembered only if the next one agrees with it. */
    if (is_first || is_same)
        known->state = CLI_KNOWN_ON;
    if (is_first)
        known->has_all = true;
}

/* What the chunk before says of whether it pays: where fewer than half were known, the next chunks are left alone, and more of them each time. */
static bool is_paused(struct cli_known *known)
{
    if (known->is_trial && known->looks > 0) {
        known->pause = known->hits >= known->looks / 2   ? 0
                       : known->pause == 0               ? 1
                       : known->pause < KNOWN_PAUSE_MOST ? known->pause * 2
                                                         : known->pause;
        known->pause_left = known->pause;
    }
    known->looks = known->hits = 0;
    known->is_trial = known->pause_left == 0 && known->count > 0;
    if (known->pause_left == 0)
        return false;
    known->pause_left--;
    return true;
}

void cli_begin_known(struct cli_feed *feed)
{
    const struct jfr_reader_chunk *chunk = &feed->chunk;
    const bool is_one_of_many = chunk->number > 0 || chunk->offset_bytes + chunk->size_bytes <
                                                         jfr_reader_size_bytes(feed->reader);

    feed->known.state = is_paused(&feed->known) || feed->wish->is_of_code ||
                                feed->wish->is_of_leaves || !is_one_of_many ||
                                feed->group_count + feed->near_stacks < KNOWN_STACKS
                            ? CLI_KNOWN_OFF
                            : CLI_KNOWN_UNMET;
    memset(feed->known.ahead, 0, sizeof feed->known.ahead);
}

/* Can stacks be known in this chunk? Those that have keys of frames cannot: recorders give these anew in each chunk. */
static bool is_on(struct cli_feed *feed, const struct jfr_value *trace)
{
    if (feed->known.state == CLI_KNOWN_UNMET && feed->ways.type == trace->type &&
        feed->ways.can_turn) {
        if (feed->ways.stack.is_keyed)
            feed->known.state = CLI_KNOWN_OFF;
        else
            meet_chunk(feed, trace);
    }
    return feed->known.state == CLI_KNOWN_ON && feed->known.type == trace->type &&
           feed->ways.type == trace->type;
}

bool cli_has_frame(const struct cli_feed *feed, const struct jfr_stack_keys *keys)
{
    const struct cli_methods *methods = &feed->methods;

    return keys->method_key < methods->number_capacity && methods->numbers[keys->method_key] != 0 &&
           keys->type_key < CLI_METHOD_TYPES && methods->types[keys->type_key] != 0;
}

/* The same of all frames of a stack. */
static bool is_complete(const struct cli_feed *feed, const struct jfr_value *trace)
{
    struct jfr_stack stack = feed->ways.stack;
    struct jfr_stack_keys keys;

    jfr_stack_turn(trace, &stack);
    while (jfr_stack_next_keys(&stack, &keys))
        if (!cli_has_frame(feed, &keys))
            return false;
    return true;
}

/* ---- stacks ---- */

static struct cli_known_ahead *ahead_of(struct cli_known *known, const struct jfr_value *trace)
{
    return &known->ahead[jw_hash_word((uintptr_t)trace->bytes) % JW_COUNT_OF(known->ahead)];
}

static struct jw_hash128 hash_of(struct cli_known *known, const struct jfr_value *trace)
{
    struct cli_known_ahead *ahead = ahead_of(known, trace);

    if (ahead->bytes != trace->bytes)
        *ahead = (struct cli_known_ahead){
            .bytes = trace->bytes,
            .hash = jw_hash128(trace->bytes, (size_t)(trace->end - trace->bytes)),
        };
    return ahead->hash;
}

void cli_ask_known(struct cli_feed *feed, const struct jfr_value *trace)
{
    struct cli_known *known = &feed->known;

    if (!is_on(feed, trace) || known->slot_count == 0)
        return;

    const struct jw_hash128 hash = hash_of(known, trace);
    __builtin_prefetch(&known->slots[place_of(known, &hash, PROFILE_STACK_ROOT)]);
}

bool cli_is_known(struct cli_feed *feed, const struct jfr_value *trace)
{
    struct cli_known *known = &feed->known;

    if (!is_on(feed, trace) || known->slot_count == 0)
        return false;

    const struct jw_hash128 hash = hash_of(known, trace);
    const struct cli_known_stack *slot = slot_of(known, &hash, PROFILE_STACK_ROOT);
    if (slot == NULL || !slot->is_there)
        return false;
    profile_way_ask(feed->profile, slot->at);
    return true;
}

bool cli_know_stack(struct cli_feed *feed, const struct jfr_value *trace, profile_stack_id begin,
                    profile_stack_id *at, uint32_t *depth)
{
    struct cli_known *known = &feed->known;

    if (!is_on(feed, trace) || known->slot_count == 0)
        return false;

    const struct jw_hash128 hash = hash_of(known, trace);
    const struct cli_known_stack *slot = slot_of(known, &hash, begin);
    known->looks++;
    if (slot == NULL || !slot->is_there || (!known->has_all && !is_complete(feed, trace)))
        return false;
    known->hits++;
    *at = slot->at;
    *depth = slot->depth;
    return true;
}

void cli_learn_stack(struct cli_feed *feed, const struct jfr_value *trace, profile_stack_id begin,
                     profile_stack_id at, uint32_t depth)
{
    struct cli_known *known = &feed->known;

    if (!is_on(feed, trace) || !grow(known))
        return;

    const struct jw_hash128 hash = hash_of(known, trace);
    struct cli_known_stack *slot = slot_of(known, &hash, begin);
    if (slot == NULL || slot->is_there)
        return;
    *slot = (struct cli_known_stack){
        .hash = hash, .begin = begin, .at = at, .depth = depth, .is_there = true};
    known->count++;
}

void cli_close_known(struct cli_known *known)
{
    jw_free(known->slots);
    jw_free(known->numbers);
}
