/*
 * Stacks of a chunk by what they have in common: their ends. Context: tool.
 *
 * A stack is taken from its end, where its outermost frame is, in pieces of some bytes, and each piece looked up together with all
 * behind it: if another stack had the same, it is known where in the tree its frames lead. So a frame is read once for all
 * stacks that have it in common with the same callers, but for those near a leaf; stacks may come in any order.
 *
 * What a hostile file makes costly is left out: a piece that finds no slot near its hash is not remembered.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"

#define WAY_SLOTS_FIRST ((size_t)1 << 12)
#define WAY_SLOTS_MOST  ((size_t)1 << 19) /* 24 MiB; what comes then is read each time */
#define WAY_SLOT_BYTES  48u /* of stacks: so many have a slot; most are the same as others */
#define WAY_TRIES       16u
#define WAY_ENTERED     0x80000000u /* in `before`: no number of a way, but where the tree is entered */
#define WAY_DEPTH_MOST  60000u

/* So far, all pieces of a stack: what lies behind a piece is in it. */
static uint64_t hash_of(uint64_t before, const uint64_t words[CLI_WAY_BYTES / sizeof(uint64_t)])
{
    const uint64_t one = (words[0] ^ before) * 0xff51afd7ed558ccdu;
    const uint64_t two = (words[1] ^ before >> 32) * 0xc4ceb9fe1a85ec53u;

    return (one ^ one >> 29) + (two << 31 | two >> 33);
}

/* Where it is looked for first. */
static size_t place_of(const struct cli_ways *ways, uint64_t hash)
{
    return (size_t)(hash ^ hash >> 32) & (ways->slot_count - 1);
}

/* The slot of this piece, or a free one for it; NULL: none of them near. */
static struct cli_way *slot_of(const struct cli_ways *ways, uint64_t hash, uint32_t before,
                               const uint64_t *words)
{
    const size_t mask = ways->slot_count - 1;
    size_t at = place_of(ways, hash);

    for (unsigned tries = 0; tries < WAY_TRIES; tries++, at = (at + 1) & mask) {
        struct cli_way *way = &ways->slots[at];

        if (way->number < ways->first ||
            (way->before == before && memcmp(way->words, words, sizeof way->words) == 0))
            return way;
    }
    return NULL;
}

void cli_begin_ways(struct cli_feed *feed, uint64_t stack_bytes)
{
    struct cli_ways *ways = &feed->ways;
    size_t slots = WAY_SLOTS_FIRST;

    while (slots < WAY_SLOTS_MOST && slots < stack_bytes / WAY_SLOT_BYTES)
        slots *= 2;
    ways->first = ways->next;
    ways->type = NULL;
    ways->ahead[0].end = ways->ahead[1].end = NULL;
    if (slots <= ways->slot_count && ways->next != 0 && ways->next < WAY_ENTERED / 2)
        return;
    jw_free(ways->slots);
    ways->slots = jw_alloc(jw_mul_bytes(slots, sizeof *ways->slots));
    ways->slot_count = ways->slots == NULL ? 0 : slots; /* without, each stack is read whole */
    ways->first = ways->next = 1;
}

/* One stack on its way from its end. */
struct walk {
    const unsigned char *end; /* the frames behind it are walked */
    profile_stack_id at;
    uint32_t depth;
    bool is_complete; /* the chunk has all that these frames name, see cli_has_frame */
};

/* On by the frames that lie between there and `low`, as far as they do for certain. False: it is none to be read so; or no memory. */
static bool walk_frames(struct cli_feed *feed, const unsigned char *low, struct walk *walk)
{
    const struct jfr_stack *stack = &feed->ways.stack;
    struct jfr_stack_keys keys;

    while (walk->end > low) {
        const enum jfr_back back = jfr_stack_back(stack, low, &walk->end, &keys);

        if (back != JFR_BACK_FRAME)
            return back == JFR_BACK_LESS;
        walk->is_complete = walk->is_complete && cli_has_frame(feed, &keys);
        walk->at =
            profile_way_on(feed->profile, walk->at, cli_frame_of(feed, stack, &keys), &walk->depth);
        if (walk->at == PROFILE_STACK_NONE || feed->is_out_of_memory)
            return false;
    }
    return true;
}

void cli_ask_ways(struct cli_feed *feed, const struct jfr_value *trace)
{
    struct cli_ways *ways = &feed->ways;
    struct cli_ahead *ahead = &ways->ahead[ways->ahead_last ^= 1];
    uint64_t words[CLI_WAY_BYTES / sizeof(uint64_t)];
    uint64_t hash = WAY_ENTERED;

    ahead->end = NULL;
    if (cli_is_known(feed, trace))
        return;
    if (ways->type != trace->type || !ways->can_turn || ways->slot_count == 0)
        return;

    struct jfr_stack stack = ways->stack;
    jfr_stack_turn(trace, &stack);
    const unsigned char *piece = ahead->end = stack.frames.element.end;
    ahead->begin = stack.frames.element.bytes;
    for (ahead->count = 0;
         ahead->count < CLI_WAYS_AHEAD && (size_t)(piece - ahead->begin) > CLI_WAY_BYTES;
         ahead->count++) {
        piece -= CLI_WAY_BYTES;
        memcpy(words, piece, sizeof words);
        hash = ahead->hashes[ahead->count] = hash_of(hash, words);
        __builtin_prefetch(&ways->slots[place_of(ways, hash)]);
    }
}

/* What was asked for of a stack that is entered at the root. NULL: nothing was. */
static const struct cli_ahead *ahead_of(const struct cli_ways *ways, const struct walk *walk)
{
    for (size_t i = 0; walk->at == 0 && i < JW_COUNT_OF(ways->ahead); i++)
        if (ways->ahead[i].end == walk->end &&
            ways->ahead[i].begin == ways->stack.frames.element.bytes)
            return &ways->ahead[i];
    return NULL;
}

/* From the end on, piece by piece, and what is left in front of them by its frames. False: likewise. */
static bool walk_pieces(struct cli_feed *feed, struct walk *walk)
{
    struct cli_ways *ways = &feed->ways;
    const unsigned char *const begin = ways->stack.frames.element.bytes;
    const unsigned char *piece = walk->end;
    uint32_t before = walk->at | WAY_ENTERED;
    uint64_t hash = before;
    uint64_t words[CLI_WAY_BYTES / sizeof(uint64_t)];
    const struct cli_ahead *ahead = ahead_of(ways, walk);
    const uint32_t known = ahead == NULL ? 0 : ahead->count;
    uint32_t number = 0;

    while (ways->slot_count > 0 && (size_t)(piece - begin) > CLI_WAY_BYTES) {
        piece -= CLI_WAY_BYTES;
        memcpy(words, piece, sizeof words);
        hash = number < known ? ahead->hashes[number] : hash_of(hash, words);
        number++;

        struct cli_way *way = slot_of(ways, hash, before, words);
        if (way != NULL && way->number >= ways->first) {
            walk->at = way->at;
            walk->depth = way->depth;
            walk->end = piece + way->left_bytes;
            walk->is_complete = way->is_complete;
        } else {
            if (!walk_frames(feed, piece, walk))
                return false;
            if (way == NULL || walk->depth > WAY_DEPTH_MOST)
                break;
            *way = (struct cli_way){.before = before,
                                    .number = ways->next++,
                                    .at = walk->at,
                                    .depth = (uint16_t)walk->depth,
                                    .left_bytes = (uint8_t)(walk->end - piece),
                                    .is_complete = walk->is_complete};
            memcpy(way->words, words, sizeof words);
        }
        before = way->number;
    }
    return walk_frames(feed, begin, walk) && walk->end == begin;
}

/* The stack of this type becomes the one in hand. */
static bool turn(struct cli_ways *ways, const struct jfr_value *trace)
{
    if (ways->type != trace->type) {
        ways->first = ways->next; /* the bytes of another type are other frames */
        ways->type = trace->type;
        ways->can_turn = jfr_stack_can_turn(trace, &ways->stack);
    } else if (ways->can_turn) {
        jfr_stack_turn(trace, &ways->stack);
    }
    return ways->can_turn;
}

bool cli_walk_stack(struct cli_feed *feed, const struct cli_group *group,
                    struct profile_stack *stack, profile_stack_id *at, uint32_t *depth)
{
    struct walk walk;

    if (group->trace.reader == NULL || feed->wish->is_of_code || feed->wish->is_of_leaves ||
        !turn(&feed->ways, &group->trace))
        return false;
    stack->is_truncated = feed->ways.stack.is_truncated;

    const profile_stack_id begin = profile_way_begin(feed->profile, stack, &walk.depth);
    if (begin >= WAY_ENTERED)
        return false;
    if (cli_know_stack(feed, &group->trace, begin, at, depth))
        return true;
    walk.at = begin;
    walk.is_complete = true;
    walk.end = feed->ways.stack.frames.element.end;
    if (!walk_pieces(feed, &walk))
        return false;
    if (walk.is_complete)
        cli_learn_stack(feed, &group->trace, begin, walk.at, walk.depth);
    *at = walk.at;
    *depth = walk.depth;
    return true;
}
