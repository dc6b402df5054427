/* jaywalk.Dictionary: what the dictionaries of the generations hold, waste and refuse; dump. */
#include "recording/recording_internal.h"

static bool ask(const struct recording *recording, enum generation_part part,
                struct generation_part_stats *out)
{
    const struct recording_sources *sources = &recording->config.sources;

    return sources->part != NULL && sources->part(sources->context, part, out);
}

void recording_zero_dictionaries(struct recording *recording)
{
    for (int part = 0; part < GENERATION_PART_LIMIT; part++)
        if (!ask(recording, (enum generation_part)part, &recording->part_zero[part]))
            recording->part_zero[part] = (struct generation_part_stats){0};
}

static void put_dictionary(struct recording *recording, uint64_t now_ns, enum generation_part part,
                           const struct generation_part_stats *now, uint64_t put_off_count)
{
    const struct generation_part_stats *zero = &recording->part_zero[part];
    struct jfr_buffer *out = &recording->events;
    const size_t begin = recording_event(recording, JFR_TYPE_DICTIONARY, now_ns);

    jfr_put_string(out, generation_part_name(part));
    jfr_put_varint(out, now->key_count);
    jfr_put_varint(out, now->key_bytes);
    jfr_put_varint(out, now->arena_bytes);
    jfr_put_varint(out, now->arena_pages);
    jfr_put_varint(out, now->arena_capacity_bytes);
    jfr_put_varint(out, now->waste_bytes);
    jfr_put_varint(out, now->refused_count);
    jfr_put_varint(out, now->keys_total - zero->keys_total);
    jfr_put_varint(out, now->key_bytes_total - zero->key_bytes_total);
    jfr_put_varint(out, now->waste_bytes_total - zero->waste_bytes_total);
    jfr_put_varint(out, now->refused_total - zero->refused_total);
    jfr_put_varint(out, now->clears_total - zero->clears_total);
    jfr_put_varint(out, put_off_count);
    jfr_event_end(out, begin);
}

void recording_put_dictionaries(struct recording *recording, uint64_t now_ns,
                                uint64_t put_off_count)
{
    struct generation_part_stats now;

    for (int part = 0; part < GENERATION_PART_LIMIT; part++) {
        if (!ask(recording, (enum generation_part)part, &now))
            return;
        /* One that was never used has nothing to say. */
        if (now.keys_total != 0 || now.refused_total != 0)
            put_dictionary(recording, now_ns, (enum generation_part)part, &now, put_off_count);
    }
}
