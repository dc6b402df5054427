/*
 * Which frames get the keys that take one byte in each stack; dump.
 *
 * A key once given is a frame's for ever, and what a JVM does first is not what it does most: keys that were given in the order in which frames
 * are met would be spent on its start. So the small ones are kept for frames that fill stacks, and are given before the events of a
 * generation are taken. Stacks are counted as they lie in the store, each once, as a chunk has them, and in them frames as they stand there.
 * Where stacks have frames in line, methods get those keys: Java methods are counted by their number.
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

/* Different frames that are looked at; of a take that has more, those that came first. */
#define HOT_FRAMES_MAX 16384u

struct hot_frame {
    jw_frame frame;
    uint64_t count;
};

struct hot_count {
    struct recording_take *take;
    struct jw_map numbers; /* of frames in `seen`, + 1 */
    struct jw_map folded;  /* likewise, by what they become */
    uint64_t total;
    size_t seen_count;
    struct hot_frame seen[HOT_FRAMES_MAX];
};

static void count_stack(store_id id, const struct store_trace *trace, void *argument)
{
    struct hot_count *count = argument;

    (void)id;
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const jw_frame frame = trace->frames[i];
        uint64_t *number = jw_map_put(&count->numbers, &frame, sizeof frame);

        if (number == NULL || (*number == 0 && count->seen_count == HOT_FRAMES_MAX))
            continue;
        if (*number == 0) {
            count->seen[count->seen_count] = (struct hot_frame){.frame = frame};
            *number = ++count->seen_count;
        }
        count->seen[*number - 1].count++;
        count->total++;
    }
}

/* What becomes the same is counted as one, of methods. Frames are as different as in the store; native code is left as it is in any case:
 * callers of one function are mostly interrupted at one place of it, and its name costs reads of a file. */
static uint64_t *folded_of(struct hot_count *count, jw_frame frame)
{
    const bool is_by_method = count->take->recording->names.hot_type == JFR_TYPE_METHOD;
    const enum jw_frame_kind kind = jw_frame_kind_of(frame);
    const bool has_method = is_by_method && kind <= JW_FRAME_JAVA_NATIVE;
    const uint64_t parts[] = {has_method ? jw_frame_method(frame) : frame, has_method};

    return jw_map_put(&count->folded, parts, sizeof parts);
}

static void fold(struct hot_count *count)
{
    for (size_t i = 0; i < count->seen_count; i++) {
        uint64_t *number = folded_of(count, count->seen[i].frame);

        if (number == NULL)
            continue;
        if (*number == 0) {
            *number = i + 1;
            continue;
        }
        count->seen[*number - 1].count += count->seen[i].count;
        count->seen[i].count = 0;
    }
}

static int by_count(const void *left, const void *right)
{
    const struct hot_frame *one = left, *other = right;

    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return (one->frame > other->frame) - (one->frame < other->frame);
}

static bool is_hot(const struct hot_count *count, const struct hot_frame *frame)
{
    return frame->count >= HOT_FRAMES && frame->count * HOT_SHARE >= count->total;
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
    count->take = take;
    count->numbers.part = count->folded.part = JW_MEMORY_NAMES;
    (void)store_each(take->generation->traces, count_stack, count);
    fold(count);
    qsort(count->seen, count->seen_count, sizeof *count->seen, by_count);
    names->is_hot = true;
    for (size_t i = 0; i < count->seen_count && names->small_keys < last_key; i++) {
        if (!is_hot(count, &count->seen[i]))
            break;
        (void)(names->hot_type == JFR_TYPE_STACK_FRAME
                   ? recording_frame_key(take, count->seen[i].frame)
                   : recording_frame_method(take, count->seen[i].frame));
    }
    names->is_hot = false;
    jw_map_close(&count->numbers);
    jw_map_close(&count->folded);
    jw_free(count);
}
