/*
 * Which methods get the keys that take one byte in each frame; dump.
 *
 * A key once given is a method's for ever, and what a JVM does first is not what it does most: keys that were given in the order in which methods
 * are met would be spent on its start. So the small ones are kept for methods that fill stacks, and are given before the events of a
 * generation are taken. Stacks are counted as they lie in the store, each once, as a chunk has them; Java methods by their number, all else
 * by what stands in the frame: native code by its pc, since callers of one function are mostly interrupted at one place of it.
 */
#include <stdlib.h>

#include "base/map.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* Of all frames of a take, and how many there are at least: a take of few stacks says little. */
#define HOT_SHARE  1024u
#define HOT_FRAMES 32u
/* Of the keys that are left, one take gets this part: what is hot later gets some, too. */
#define HOT_PART 2u

struct hot_frame {
    jw_frame frame;
    uint64_t count;
};

struct hot_count {
    struct recording_ids methods; /* by id of the method */
    struct jw_map others;         /* by frame */
    uint64_t total;
    struct hot_frame found[HOT_SHARE]; /* those that are hot: no more than their share allows */
    size_t found_count;
};

static bool has_method(jw_frame frame)
{
    return jw_frame_kind_of(frame) <= JW_FRAME_JAVA_NATIVE;
}

static void count_stack(store_id id, const struct store_trace *trace, void *argument)
{
    struct hot_count *count = argument;

    (void)id;
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const jw_frame frame = trace->frames[i];
        uint64_t *number = has_method(frame)
                               ? recording_ids_at(&count->methods, jw_frame_method(frame))
                               : jw_map_put(&count->others, &frame, sizeof frame);

        if (number == NULL)
            continue;
        ++*number;
        count->total++;
    }
}

/* Moves what is hot among these frames to `found`, each once. */
static void find_hot(store_id id, const struct store_trace *trace, void *argument)
{
    struct hot_count *count = argument;

    (void)id;
    for (uint32_t i = 0; i < trace->frame_count && count->found_count < HOT_SHARE; i++) {
        const jw_frame frame = trace->frames[i];
        uint64_t *number = has_method(frame)
                               ? recording_ids_at(&count->methods, jw_frame_method(frame))
                               : jw_map_put(&count->others, &frame, sizeof frame);

        if (number == NULL || *number < HOT_FRAMES || *number * HOT_SHARE < count->total)
            continue;
        count->found[count->found_count++] = (struct hot_frame){frame, *number};
        *number = 0;
    }
}

static int by_count(const void *left, const void *right)
{
    const struct hot_frame *one = left, *other = right;

    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return (one->frame > other->frame) - (one->frame < other->frame);
}

void recording_name_hot(struct recording_take *take)
{
    struct recording_names *names = &take->recording->names;

    if (names->small_keys == RECORDING_SMALL_KEYS)
        return;
    const uint64_t left = RECORDING_SMALL_KEYS - names->small_keys;
    const uint64_t last_key = names->small_keys + (left + HOT_PART - 1) / HOT_PART;
    struct hot_count *count = jw_alloc(sizeof *count);
    if (count == NULL) /* nothing is hot */
        return;
    count->others.part = JW_MEMORY_NAMES;
    if (recording_ids_reset(&count->methods, dict_last_id(take->generation->methods))) {
        (void)store_each(take->generation->traces, count_stack, count);
        (void)store_each(take->generation->traces, find_hot, count);
    }
    qsort(count->found, count->found_count, sizeof *count->found, by_count);
    names->is_hot = true;
    for (size_t i = 0; i < count->found_count && names->small_keys < last_key; i++)
        (void)recording_frame_method(take, count->found[i].frame);
    names->is_hot = false;
    recording_ids_close(&count->methods);
    jw_map_close(&count->others);
    jw_free(count);
}
