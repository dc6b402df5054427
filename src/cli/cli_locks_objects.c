/* Which objects were waited for at a site. Context: tool. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

/* So many are told in a line, and to programs. */
#define TOLD      3u
#define TOLD_JSON 20u

void locks_take_object(struct locks *all, const struct locks_site *site,
                       const struct contention_wait *wait)
{
    all->items[all->item_count++] = (struct contention_item){
        .object = wait->object,
        .group = (uint32_t)(site - all->sites),
        .thread = wait->thread,
        .owner = wait->owner,
        .ns = wait->end_ns - wait->begin_ns,
    };
}

bool locks_sum_objects(struct locks *all)
{
    if (!contention_sum_objects(all->items, all->item_count, &all->objects))
        return false;
    for (size_t i = 0; i < all->objects.group_count; i++)
        all->sites[all->objects.groups[i].group].objects = &all->objects.groups[i];
    return true;
}

void locks_objects_text(const struct locks_site *site, char out[LOCKS_OBJECTS_BYTES])
{
    const struct contention_group *group = site->objects;
    char spread[CONTENTION_SPREAD_BYTES];
    int used;

    out[0] = '\0';
    if (group == NULL)
        return;
    contention_spread(group, spread);
    used = snprintf(out, LOCKS_OBJECTS_BYTES, "%s", spread);
    for (size_t i = 0; i < group->count && i < TOLD; i++) {
        const struct contention_object *object = &group->objects[i];
        char waited[CONTENTION_WORD_BYTES], waits[32];

        contention_time(object->total_ns, waited);
        cli_text_digits(object->waits, waits);
        used +=
            snprintf(out + used, LOCKS_OBJECTS_BYTES - (unsigned)used, "%s#%" PRIu64 " %s in %s %s",
                     i == 0 ? "; " : ", ", contention_number(object->object), waited, waits,
                     object->waits == 1 ? "wait" : "waits");
    }
}

void locks_json_objects(const struct locks_site *site, FILE *to)
{
    const struct contention_group *group = site->objects;
    char spread[CONTENTION_SPREAD_BYTES];

    if (group == NULL)
        return;
    contention_spread(group, spread);
    fprintf(to,
            ",\"object_count\":%zu,\"four_fifths\":%zu,\"unnumbered_waits\":%" PRIu64
            ",\"spread\":",
            group->count, group->most, group->unnumbered);
    cli_text_json(spread, to);
    fputs(",\"objects\":[", to);
    for (size_t i = 0; i < group->count && i < TOLD_JSON; i++) {
        const struct contention_object *object = &group->objects[i];

        fprintf(to,
                "%s{\"instance\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"waited_ns\":%" PRId64
                ",\"longest_ns\":%" PRId64 ",\"thread_count\":%" PRIu64 "}",
                i == 0 ? "" : ",", contention_number(object->object), object->waits,
                object->total_ns, object->longest_ns, object->threads);
    }
    fputs("]", to);
}
