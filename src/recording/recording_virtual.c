/*
 * Which virtual thread a sample is of, and what that one is called; dump.
 *
 * A handler tells the number always, the name only where no object can move: in native code it does not. So a name that was
 * told once stands for the thread from then on: each take begins with a look at all names in its generation.
 */
#include <string.h>

#include "base/memory.h"
#include "generation/context_record.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* A number of the map: where the name lies, above how many bytes it has. */
#define LENGTH_BITS 8
#define LENGTH_MASK ((1u << LENGTH_BITS) - 1)

#define FIRST_BYTES ((size_t)4096)

/* Of the memory for names so much is theirs, and as much again while a table grows: then all are forgotten. */
#define SHARE 16

static size_t held_bytes(const struct recording_virtuals *virtuals)
{
    return jw_map_bytes(&virtuals->names) + virtuals->capacity_bytes;
}

static void forget_all(struct recording_virtuals *virtuals)
{
    jw_map_close(&virtuals->names);
    jw_free(virtuals->texts);
    *virtuals = (struct recording_virtuals){.names.part = JW_MEMORY_NAMES};
}

/* Room for so many bytes more; false: no memory. */
static bool reserve(struct recording_virtuals *virtuals, size_t more_bytes)
{
    size_t capacity_bytes = virtuals->capacity_bytes == 0 ? FIRST_BYTES : virtuals->capacity_bytes;

    while (capacity_bytes - virtuals->used_bytes < more_bytes)
        capacity_bytes *= 2;
    if (capacity_bytes == virtuals->capacity_bytes)
        return true;

    char *texts = jw_realloc_for(JW_MEMORY_NAMES, virtuals->texts, capacity_bytes);
    if (texts == NULL)
        return false;
    virtuals->texts = texts;
    virtuals->capacity_bytes = capacity_bytes;
    return true;
}

static void remember(struct recording_virtuals *virtuals, uint64_t number,
                     struct recording_text name)
{
    if (name.bytes == NULL || name.length_bytes == 0 || name.length_bytes > LENGTH_MASK)
        return;
    if (held_bytes(virtuals) >
        jw_memory_limit_of(JW_MEMORY_NAMES, RECORDING_NAMES_MAX_BYTES) / SHARE)
        forget_all(virtuals);

    uint64_t *known = jw_map_put(&virtuals->names, &number, sizeof number);
    if (known == NULL || *known != 0 || !reserve(virtuals, name.length_bytes))
        return; /* without memory, only samples that tell the name have it */
    memcpy(virtuals->texts + virtuals->used_bytes, name.bytes, name.length_bytes);
    *known = (uint64_t)virtuals->used_bytes << LENGTH_BITS | name.length_bytes;
    virtuals->used_bytes += name.length_bytes;
}

void recording_virtual_begin_take(struct recording *recording, const struct generation *generation)
{
    const uint32_t last_id = dict_last_id(generation->contexts);
    struct context_record record;

    for (uint32_t id = 1; id <= last_id; id++)
        if (context_record_get(generation->contexts, id, &record) && record.virtual_thread != 0) {
            struct recording_text name;

            name.bytes = dict_text(generation->values, record.virtual_name, &name.length_bytes);
            remember(&recording->virtuals, record.virtual_thread, name);
        }
}

/* {NULL, 0}: it was never told. */
static struct recording_text known_name(struct recording *recording, uint64_t number)
{
    const uint64_t known = jw_map_get(&recording->virtuals.names, &number, sizeof number);

    if (known == 0)
        return (struct recording_text){NULL, 0};
    return (struct recording_text){recording->virtuals.texts + (known >> LENGTH_BITS),
                                   known & LENGTH_MASK};
}

struct recording_text recording_virtual_name(struct recording *recording, uint64_t number,
                                             struct recording_text told)
{
    remember(&recording->virtuals, number, told);

    const struct recording_text known = known_name(recording, number);
    return known.bytes != NULL ? known : told;
}

struct recording_virtual recording_virtual_of(struct recording *recording,
                                              const struct generation *generation, dict_id context)
{
    struct recording_virtual told = {0};
    struct context_record record;

    if (!context_record_get(generation->contexts, context, &record) || record.virtual_thread == 0)
        return told;
    told.number = record.virtual_thread;
    told.name.bytes = dict_text(generation->values, record.virtual_name, &told.name.length_bytes);
    if (told.name.bytes == NULL)
        told.name = known_name(recording, told.number);
    return told;
}

void recording_virtual_close(struct recording *recording)
{
    forget_all(&recording->virtuals);
}
