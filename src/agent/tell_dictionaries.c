/* What the dictionaries of the generations hold, waste and refuse, said to those who ask; any. */
#include <stdarg.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/session_internal.h"
#include "agent/tell_internal.h"
#include "base/counters.h"
#include "generation/generation_parts.h"

struct line {
    char text[896]; /* a message of the log holds no more */
    size_t used_bytes;
};

static void add(struct line *line, const char *format, ...) JW_PRINTF(2, 3);
static void add(struct line *line, const char *format, ...)
{
    const size_t room_bytes = sizeof line->text - line->used_bytes;
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(line->text + line->used_bytes, room_bytes, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used_bytes += (size_t)length < room_bytes ? (size_t)length : room_bytes - 1;
}

static bool was_used(const struct generation_part_stats *stats)
{
    return stats->keys_total != 0 || stats->refused_total != 0;
}

void tell_dictionaries(void)
{
    struct generations *generations = session_kept_generations();
    struct line held = {.text = ""}, refused = {.text = ""};

    if (generations == NULL)
        return;
    for (int part = 0; part < GENERATION_PART_LIMIT; part++) {
        const char *name = generation_part_name((enum generation_part)part);
        struct generation_part_stats stats;

        generation_part_stats(generations, (enum generation_part)part, &stats);
        if (was_used(&stats))
            add(&held, "%s%s %llu in %llu of %llu KiB", held.used_bytes == 0 ? "" : ", ", name,
                (unsigned long long)stats.key_count, (unsigned long long)(stats.arena_bytes >> 10),
                (unsigned long long)(stats.arena_capacity_bytes >> 10));
        if (stats.refused_total != 0)
            add(&refused, "%s%s %llu", refused.used_bytes == 0 ? "" : ", ", name,
                (unsigned long long)stats.refused_total);
    }
    if (held.used_bytes != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Dictionaries: %s", held.text);
    if (refused.used_bytes != 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "refused by dictionaries that were full, or as too long: %s; a greater memlimit "
                  "makes room",
                  refused.text);
}

/* One metric of all dictionaries. */
struct metric {
    const char *name;
    const char *help;
    size_t offset; /* in struct generation_part_stats */
};

#define METRIC(name_, field_, help_)                                                               \
    {                                                                                              \
        "dictionary_" name_, help_, offsetof(struct generation_part_stats, field_)                 \
    }

static const struct metric metrics[] = {
    METRIC("keys", key_count, "keys in the three generations now, each since its clear"),
    METRIC("key_bytes", key_bytes, "bytes of these keys"),
    METRIC("arena_bytes", arena_bytes, "bytes taken for them, with headers and waste"),
    METRIC("arena_pages", arena_pages, "pages of 4 KiB that may be in memory for them"),
    METRIC("arena_capacity_bytes", arena_capacity_bytes, "bytes there is room for"),
    METRIC("waste_bytes", waste_bytes, "bytes taken that no key has"),
    METRIC("refused", refused_count, "keys refused since the clear"),
    METRIC("keys_total", keys_total, "keys added, once for each generation"),
    METRIC("key_bytes_total", key_bytes_total, "bytes of all keys added"),
    METRIC("waste_bytes_total", waste_bytes_total, "bytes wasted in all"),
    METRIC("refused_total", refused_total,
           "keys refused, the dictionary being full or they too long"),
    METRIC("generations_total", clears_total, "lives that ended, each with a clear"),
};

void tell_dictionaries_metrics(struct tell_page *page)
{
    struct generations *generations = session_kept_generations();
    struct generation_part_stats stats[GENERATION_PART_LIMIT] = {{0}};

    for (int part = 0; generations != NULL && part < GENERATION_PART_LIMIT; part++)
        generation_part_stats(generations, (enum generation_part)part, &stats[part]);
    for (size_t i = 0; i < JW_COUNT_OF(metrics); i++) {
        tell_put_head(page, metrics[i].name, metrics[i].help);
        for (int part = 0; part < GENERATION_PART_LIMIT; part++) {
            const char *fields = (const char *)&stats[part] + metrics[i].offset;

            tell_put(page, "jaywalk_%s{name=\"%s\"} %llu\n", metrics[i].name,
                     generation_part_name((enum generation_part)part),
                     (unsigned long long)*(const uint64_t *)(const void *)fields);
        }
    }
}
