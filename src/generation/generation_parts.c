/* Sums over the three buffers; any. */
#include "generation/generation_parts.h"

#include "base/frame.h"

#define PAGE_BYTES 4096u

static const char *const names[GENERATION_PART_LIMIT] = {
    [GENERATION_CLASSES] = "classes",       [GENERATION_SYMBOLS] = "symbols",
    [GENERATION_METHODS] = "methods",       [GENERATION_ENDPOINTS] = "endpoints",
    [GENERATION_VALUES] = "context_values", [GENERATION_CONTEXTS] = "contexts",
    [GENERATION_PAYLOADS] = "payloads",     [GENERATION_TRACES] = "traces",
};

const char *generation_part_name(enum generation_part part)
{
    return names[part];
}

static const struct dict_table *dict_of(const struct generation *generation,
                                        enum generation_part part)
{
    switch (part) {
    case GENERATION_CLASSES:
        return generation->classes;
    case GENERATION_SYMBOLS:
        return generation->symbols;
    case GENERATION_METHODS:
        return generation->methods;
    case GENERATION_PAYLOADS:
        return generation->payloads;
    case GENERATION_ENDPOINTS:
        return generation->endpoints;
    case GENERATION_VALUES:
        return generation->values;
    case GENERATION_CONTEXTS:
        return generation->contexts;
    case GENERATION_TRACES:
    case GENERATION_PART_LIMIT:
        break;
    }
    return NULL;
}

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

static void add_dict(const struct dict_table *table, struct generation_part_stats *out)
{
    struct dict_stats stats;

    dict_stats(table, &stats);
    out->key_count += stats.key_count;
    out->key_bytes += stats.key_bytes;
    out->arena_bytes += stats.arena_bytes;
    out->arena_pages += pages_of(stats.arena_touched_bytes);
    out->waste_bytes += stats.waste_bytes;
    out->refused_count += stats.refused_count;
    out->key_capacity_count += stats.max_entries;
    out->arena_capacity_bytes += stats.arena_capacity_bytes;
    out->keys_total += stats.keys_total;
    out->key_bytes_total += stats.key_bytes_total;
    out->waste_bytes_total += stats.waste_bytes_total;
    out->refused_total += stats.refused_total;
    out->clears_total += stats.clears_total;
}

static void add_store(const struct store_table *store, struct generation_part_stats *out)
{
    struct store_stats stats;

    store_stats(store, &stats);
    out->key_count += stats.trace_count;
    out->key_bytes += stats.frame_count * sizeof(jw_frame);
    out->arena_bytes += stats.arena_bytes;
    out->arena_pages += pages_of(stats.arena_touched_bytes);
    out->waste_bytes += stats.waste_bytes;
    out->refused_count += stats.refused_count;
    out->key_capacity_count += stats.max_entries;
    out->arena_capacity_bytes += stats.arena_capacity_bytes;
    out->keys_total += stats.traces_total;
    out->key_bytes_total += stats.frames_total * sizeof(jw_frame);
    out->waste_bytes_total += stats.waste_bytes_total;
    out->refused_total += stats.refused_total;
    out->clears_total += stats.clears_total;
}

void generation_part_stats(struct generations *generations, enum generation_part part,
                           struct generation_part_stats *out)
{
    *out = (struct generation_part_stats){0};
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        enum epoch_state state;
        const struct generation *generation = generations_at(generations, i, &state);
        const struct dict_table *table = dict_of(generation, part);

        if (table != NULL)
            add_dict(table, out);
        else
            add_store(generation->traces, out);
    }
}
