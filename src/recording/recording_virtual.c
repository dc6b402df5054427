/*
 * Which virtual thread a sample is of, and what that one is called; dump.
 *
 * A handler tells the number always, the name only where no object can move: in native code it does not. So a name that was
 * told once stands for the thread from then on: each take begins with a look at all names in its generation.
 */
#include "generation/context_record.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* Names that are remembered; all are forgotten when there are more. */
#define NAMES_MAX ((size_t)65536)

/* A number of the map: where the name lies, above how many bytes it has. */
#define LENGTH_BITS 8
#define LENGTH_MASK ((1u << LENGTH_BITS) - 1)

static void forget_all(struct recording_virtuals *virtuals)
{
    jw_map_close(&virtuals->names);
    jfr_buffer_clear(&virtuals->texts);
}

static void remember(struct recording_virtuals *virtuals, const struct generation *generation,
                     const struct context_record *record)
{
    size_t length_bytes;
    const char *name = dict_text(generation->values, record->virtual_name, &length_bytes);

    if (name == NULL || length_bytes == 0 || length_bytes > LENGTH_MASK)
        return;
    if (virtuals->names.entry_count >= NAMES_MAX)
        forget_all(virtuals);

    uint64_t *known = jw_map_put(&virtuals->names, &record->virtual_thread, sizeof(uint64_t));
    if (known == NULL)
        return; /* no memory: then only samples that tell the name have it */
    const size_t at = virtuals->texts.used_bytes;
    if (*known != 0)
        return;
    jfr_put_bytes(&virtuals->texts, name, length_bytes);
    if (!virtuals->texts.has_failed)
        *known = (uint64_t)at << LENGTH_BITS | length_bytes;
}

void recording_virtual_begin_take(struct recording *recording, const struct generation *generation)
{
    const uint32_t last_id = dict_last_id(generation->contexts);
    struct context_record record;

    recording->virtuals.names.part = JW_MEMORY_NAMES;
    for (uint32_t id = 1; id <= last_id; id++)
        if (context_record_get(generation->contexts, id, &record) && record.virtual_thread != 0)
            remember(&recording->virtuals, generation, &record);
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
    if (told.name.bytes != NULL)
        return told;

    const uint64_t known = jw_map_get(&recording->virtuals.names, &told.number, sizeof told.number);
    if (known != 0)
        told.name = (struct recording_text){
            (const char *)recording->virtuals.texts.bytes + (known >> LENGTH_BITS),
            known & LENGTH_MASK,
        };
    return told;
}

void recording_virtual_close(struct recording *recording)
{
    jw_map_close(&recording->virtuals.names);
    jfr_buffer_close(&recording->virtuals.texts);
}
