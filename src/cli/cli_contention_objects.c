/* Waits by the objects that they were for, of each class or place: is it one of them, or are all alike? Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli_contention_internal.h"
#include "cli/cli_text_internal.h"

/* One object is told to be the one where it has a quarter of the time, and so many times what the others have on the average. */
#define ONE_PART  4
#define ONE_TIMES 3

static int compare(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

static int by_object_and_thread(const void *left, const void *right)
{
    const struct contention_item *a = left, *b = right;
    int order = compare(a->group, b->group);

    if (order == 0)
        order = compare(a->object, b->object);
    return order != 0 ? order : compare(a->thread, b->thread);
}

static int by_owner(const void *left, const void *right)
{
    return compare(((const struct contention_item *)left)->owner,
                   ((const struct contention_item *)right)->owner);
}

static int by_time(const void *left, const void *right)
{
    const struct contention_object *a = left, *b = right;

    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return compare(a->object, b->object);
}

/* Sorts the items. */
static void find_owners(struct contention_item *items, size_t count, struct contention_object *out)
{
    qsort(items, count, sizeof *items, by_owner);
    for (size_t begin = 0, end; begin < count; begin = end) {
        int64_t ns = 0;

        for (end = begin; end < count && items[end].owner == items[begin].owner; end++)
            ns += items[end].ns;
        if (items[begin].owner == 0)
            continue;
        out->owners++;
        if (ns <= out->owner_ns)
            continue;
        out->owner = items[begin].owner;
        out->owner_ns = ns;
    }
}

/* Of one object, in the order of threads. */
static void sum_object(struct contention_item *items, size_t count, struct contention_object *out)
{
    *out = (struct contention_object){.object = items[0].object, .waits = count};
    for (size_t i = 0; i < count; i++) {
        out->total_ns += items[i].ns;
        if (items[i].ns > out->longest_ns)
            out->longest_ns = items[i].ns;
        out->threads += i == 0 || items[i].thread != items[i - 1].thread;
    }
    find_owners(items, count, out);
}

/* How many of the busiest have four fifths of the time of all of them. */
static size_t most_of(const struct contention_object *objects, size_t count, int64_t total_ns)
{
    int64_t ns = 0;
    size_t most = 0;

    while (most < count && (double)ns < 0.8 * (double)total_ns)
        ns += objects[most++].total_ns;
    return most;
}

/* Of one group, in the order of its objects, those without a number first. */
static void sum_group(struct contention_item *items, size_t count, struct contention_objects *all)
{
    struct contention_group *group = &all->groups[all->group_count];
    struct contention_object *objects = all->objects + all->count;

    *group = (struct contention_group){.group = items[0].group, .objects = objects};
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && items[end].object == items[begin].object;)
            end++;
        if (items[begin].object == 0) {
            group->unnumbered = end;
            continue;
        }
        struct contention_object *object = &objects[group->count++];
        sum_object(items + begin, end - begin, object);
        group->waits += object->waits;
        group->total_ns += object->total_ns;
    }
    if (group->count == 0)
        return;
    qsort(objects, group->count, sizeof *objects, by_time);
    group->most = most_of(objects, group->count, group->total_ns);
    all->count += group->count;
    all->group_count++;
}

bool contention_sum_objects(struct contention_item *items, size_t count,
                            struct contention_objects *out)
{
    size_t objects = 0, groups = 0;

    *out = (struct contention_objects){.count = 0};
    if (count == 0)
        return true;
    qsort(items, count, sizeof *items, by_object_and_thread);
    for (size_t i = 0; i < count; i++) {
        const bool is_other = i == 0 || items[i].group != items[i - 1].group;

        groups += is_other;
        objects += is_other || items[i].object != items[i - 1].object;
    }
    out->objects = jw_alloc(jw_mul_bytes(objects, sizeof *out->objects));
    out->groups = jw_alloc(jw_mul_bytes(groups, sizeof *out->groups));
    if (out->objects == NULL || out->groups == NULL)
        return false;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && items[end].group == items[begin].group;)
            end++;
        sum_group(items + begin, end - begin, out);
    }
    return true;
}

void contention_close_objects(struct contention_objects *all)
{
    jw_free(all->objects);
    jw_free(all->groups);
    *all = (struct contention_objects){.count = 0};
}

/* ---- of classes ---- */

static int by_group_time(const void *left, const void *right)
{
    const struct contention_group *a = left, *b = right;

    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return compare(a->group, b->group);
}

bool contention_find_objects(struct contention *all)
{
    struct contention_item *items = jw_alloc(jw_mul_bytes(all->wait_count + 1, sizeof *items));
    size_t count = 0;

    if (items == NULL)
        return false;
    for (size_t i = 0; i < all->wait_count; i++) {
        const struct contention_wait *wait = &all->waits[i];

        if (wait->is_for_lock && wait->is_wanted)
            items[count++] = (struct contention_item){.object = wait->object,
                                                      .group = wait->lock,
                                                      .thread = wait->thread,
                                                      .owner = wait->owner,
                                                      .ns = wait->end_ns - wait->begin_ns};
    }
    const bool is_good = contention_sum_objects(items, count, &all->objects);
    if (is_good && all->objects.group_count > 0)
        qsort(all->objects.groups, all->objects.group_count, sizeof *all->objects.groups,
              by_group_time);
    jw_free(items);
    return is_good;
}

/* ---- words ---- */

uint64_t contention_number(uint64_t object)
{
    return object & ((UINT64_C(1) << CONTENTION_PROCESS_SHIFT) - 1);
}

static bool is_one(const struct contention_group *group)
{
    const int64_t top_ns = group->objects[0].total_ns, other_ns = group->total_ns - top_ns;

    return top_ns >= group->total_ns / ONE_PART &&
           (double)top_ns * (double)(group->count - 1) >= ONE_TIMES * (double)other_ns;
}

bool contention_is_alike(const struct contention_group *group)
{
    return group->count > 1 && !is_one(group) && group->most * 2 > group->count;
}

void contention_share(int64_t part_ns, int64_t all_ns, char out[CONTENTION_WORD_BYTES])
{
    const uint64_t tenths =
        all_ns <= 0 ? 0 : (uint64_t)(1000 * (double)part_ns / (double)all_ns + 0.5);

    snprintf(out, CONTENTION_WORD_BYTES, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

void contention_spread(const struct contention_group *group, char out[CONTENTION_SPREAD_BYTES])
{
    char count[32], most[32], share[CONTENTION_WORD_BYTES];

    cli_text_digits(group->count, count);
    cli_text_digits(group->most, most);
    contention_share(group->objects[0].total_ns, group->total_ns, share);
    if (group->count == 1)
        snprintf(out, CONTENTION_SPREAD_BYTES, "one object, for which all of them wait");
    else if (is_one(group))
        snprintf(out, CONTENTION_SPREAD_BYTES,
                 "1 of %s objects takes %s of the time: look at that one first", count, share);
    else if (!contention_is_alike(group))
        snprintf(out, CONTENTION_SPREAD_BYTES,
                 "%s of %s objects take four fifths of the time: look at what these have in common",
                 most, count);
    else
        snprintf(out, CONTENTION_SPREAD_BYTES,
                 "%s objects much alike, of which the busiest takes %s of the time: look at what "
                 "each does while it is held",
                 count, share);
}
