/*
 * Which methods get the keys that take one byte in each frame; dump.
 *
 * A key once given is a method's for ever, and what a JVM does first is not what it does most: keys that were given in the order in which methods
 * are met would be spent on its start. So the small ones are kept for methods that fill stacks, and are given before the events of a
 * generation are taken. Stacks are counted as they lie in the store, each once, as a chunk has them.
 */
#include <stdlib.h>

#include "generation/generation.h"
#include "recording/recording_internal.h"

/* Of all Java frames of a take, and how many there are at least: a take of few stacks says little. */
#define HOT_SHARE  256u
#define HOT_FRAMES 64u

struct hot_count {
    struct recording_ids frames; /* by id of the method */
    uint64_t total;
};

static void count_stack(store_id id, const struct store_trace *trace, void *argument)
{
    struct hot_count *count = argument;

    (void)id;
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const enum jw_frame_kind kind = jw_frame_kind_of(trace->frames[i]);
        uint64_t *frames =
            kind > JW_FRAME_JAVA_NATIVE
                ? NULL
                : recording_ids_at(&count->frames, jw_frame_method(trace->frames[i]));

        if (frames == NULL)
            continue;
        ++*frames;
        count->total++;
    }
}

static uint32_t hottest(struct hot_count *count)
{
    uint32_t best = 0;

    for (size_t i = 1; i < count->frames.capacity; i++)
        if (count->frames.values[i] > count->frames.values[best])
            best = (uint32_t)i;
    return best;
}

void recording_name_hot(struct recording_take *take)
{
    struct recording_names *names = &take->recording->names;
    struct hot_count count = {{0}, 0};

    if (names->small_keys == RECORDING_SMALL_KEYS)
        return;
    /* Without memory nothing is counted, and nothing is hot. */
    if (recording_ids_reset(&count.frames, dict_last_id(take->generation->methods)))
        (void)store_each(take->generation->traces, count_stack, &count);
    names->is_hot = true;
    while (count.total > 0 && names->small_keys < RECORDING_SMALL_KEYS) {
        const uint32_t method = hottest(&count);
        const uint64_t frames = count.frames.values[method];

        if (frames < HOT_FRAMES || frames * HOT_SHARE < count.total)
            break;
        count.frames.values[method] = 0;
        (void)recording_take_method(take, method);
    }
    names->is_hot = false;
    recording_ids_close(&count.frames);
}
