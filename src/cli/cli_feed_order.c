/*
 * In which order the stacks of a chunk are taken: by their last bytes, where stacks have most in common, so that each is read, and
 * walked down the tree, only as far as it differs from the one before. Context: tool.
 *
 * A profile does not depend on the order, so none has to be perfect: what a hostile file makes costly is left as it is.
 */
#include <string.h>

#include "cli/cli_feed_internal.h"

#define ORDER_WORD_BYTES sizeof(uint64_t)
#define ORDER_FEW        12u /* so many are sorted by insertion */
#define ORDER_BYTES_MOST                                                                           \
    ((size_t)16 << 10)        /* of a stack; what is equal so far has enough in common */
#define ORDER_SPLITS_MOST 64u /* a row is split no more often at one depth after the other */

/* The word of a stack that ends `behind_bytes` before its end; bytes before its begin are 0. */
static uint64_t word_of(const struct cli_turn *turn, size_t behind_bytes)
{
    uint64_t word = 0;

    if (turn->length_bytes <= behind_bytes) /* or it has no stack */
        return 0;

    const size_t left_bytes = turn->length_bytes - behind_bytes;
    const unsigned char *end = turn->end - behind_bytes;
    if (left_bytes >= sizeof word)
        memcpy(&word, end - sizeof word, sizeof word);
    else
        memcpy((char *)&word + sizeof word - left_bytes, end - left_bytes, left_bytes);
    return word;
}

/* Is this one before the other, by their words and then by what stands before those? */
static bool is_before(const struct cli_turn *one, const struct cli_turn *other, size_t behind_bytes)
{
    uint64_t left = one->word, right = other->word;

    while (left == right && behind_bytes < one->length_bytes && behind_bytes < ORDER_BYTES_MOST) {
        left = word_of(one, behind_bytes);
        right = word_of(other, behind_bytes);
        behind_bytes += ORDER_WORD_BYTES;
    }
    return left < right;
}

static void sort_few(struct cli_turn *turns, size_t count, size_t behind_bytes)
{
    for (size_t i = 1; i < count; i++) {
        const struct cli_turn turn = turns[i];
        size_t at = i;

        for (; at > 0 && is_before(&turn, &turns[at - 1], behind_bytes); at--)
            turns[at] = turns[at - 1];
        turns[at] = turn;
    }
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t least = a < b ? a : b;
    const uint64_t most = a < b ? b : a;

    return c < least ? least : c > most ? most : c;
}

/* Those whose word is less than `pivot` first, `*equal` is where the equal ones begin, `*more` where those behind them do. */
static void part_turns(struct cli_turn *turns, size_t count, uint64_t pivot, size_t *equal,
                       size_t *more)
{
    size_t low = 0, high = count;

    for (size_t at = 0; at < high;) {
        const struct cli_turn turn = turns[at];

        if (turn.word < pivot) {
            turns[at++] = turns[low];
            turns[low++] = turn;
        } else if (turn.word > pivot) {
            turns[at] = turns[--high];
            turns[high] = turn;
        } else {
            at++;
        }
    }
    *equal = low;
    *more = high;
}

/* By their words, and where those are equal by what stands more than `behind_bytes` before their ends. */
static void sort_turns(struct cli_turn *turns, size_t count, size_t behind_bytes, unsigned splits)
{
    while (count > ORDER_FEW && splits-- > 0) {
        const uint64_t pivot =
            middle_of(turns[0].word, turns[count / 2].word, turns[count - 1].word);
        size_t equal, more;

        part_turns(turns, count, pivot, &equal, &more);
        sort_turns(turns, equal, behind_bytes, splits);
        sort_turns(turns + more, count - more, behind_bytes, splits);
        turns += equal;
        count = more - equal;
        if (behind_bytes >= ORDER_BYTES_MOST)
            return;
        bool has_more = false;
        for (size_t i = 0; i < count; i++) {
            turns[i].word = word_of(&turns[i], behind_bytes);
            has_more |= turns[i].length_bytes > behind_bytes;
        }
        if (!has_more) /* these are the same */
            return;
        behind_bytes += ORDER_WORD_BYTES;
        splits++; /* what is equal gets on by a word */
    }
    if (count <= ORDER_FEW)
        sort_few(turns, count, behind_bytes);
}

bool cli_order_groups(struct cli_feed *feed)
{
    void *turns = feed->turns;

    while (feed->turn_capacity < feed->group_count) {
        if (!cli_feed_reserve(feed, &turns, &feed->turn_capacity, feed->turn_capacity,
                              sizeof *feed->turns))
            return false;
        feed->turns = turns;
    }
    for (size_t i = 0; i < feed->group_count; i++) {
        const struct cli_group *group = &feed->groups[i];
        const bool has_stack = group->trace.reader != NULL;

        feed->turns[i] = (struct cli_turn){
            .word = (uint64_t)group->roots[0] << 32 | group->roots[1],
            .end = has_stack ? group->trace.end : NULL,
            .length_bytes = has_stack ? (size_t)(group->trace.end - group->trace.bytes) : 0,
            .group = i};
    }
    sort_turns(feed->turns, feed->group_count, 0, ORDER_SPLITS_MOST);
    return true;
}
