/* What memory is used for, and what is at its limit: status, metrics; any. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/session_internal.h"
#include "agent/tell_internal.h"
#include "base/memory.h"

/* In units that a reader takes in: below ten MiB with a decimal. */
static void put_mib(uint64_t bytes, char *text, size_t room_bytes)
{
    const uint64_t tenths = (bytes * 10 + ((uint64_t)1 << 19)) >> 20;

    if (tenths < 100)
        snprintf(text, room_bytes, "%llu.%llu", (unsigned long long)(tenths / 10),
                 (unsigned long long)(tenths % 10));
    else
        snprintf(text, room_bytes, "%llu", (unsigned long long)((tenths + 5) / 10));
}

void tell_memory(void)
{
    struct jw_memory_figures all;
    char used[24], limit[24], full[320] = "";
    size_t used_bytes = 0;

    if (run_generations() == NULL)
        return;
    jw_memory_get_all(&all);
    for (int part = 0; part < JW_MEMORY_LIMIT && used_bytes < sizeof full; part++) {
        const uint64_t refused_count = jw_memory_refused_count((enum jw_memory_part)part);

        if (refused_count > 0)
            used_bytes +=
                (size_t)snprintf(full + used_bytes, sizeof full - used_bytes, "%s %s (%llu)",
                                 used_bytes == 0 ? "; at its limit:" : ",",
                                 jw_memory_infos[part].name, (unsigned long long)refused_count);
    }
    put_mib(all.used_bytes, used, sizeof used);
    put_mib(all.limit_bytes, limit, sizeof limit);
    agent_log(OPTIONS_LOGLEVEL_INFO, "Memory: %s of %s MiB used%s", used, limit, full);
}

void tell_memory_metrics(struct tell_page *page)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } columns[] = {
        {"memory_bytes", "memory of jaywalk that is in use, by subsystem",
         offsetof(struct jw_memory_figures, used_bytes)},
        {"memory_charged_bytes", "what of memlimit is taken: what is in use is never more",
         offsetof(struct jw_memory_figures, charged_bytes)},
        {"memory_reserved_bytes", "address space of tables, touched or not",
         offsetof(struct jw_memory_figures, reserved_bytes)},
        {"memory_limit_bytes", "share of memlimit",
         offsetof(struct jw_memory_figures, limit_bytes)},
        {"memory_refused", "what its limit cost a subsystem so far, in its own units",
         offsetof(struct jw_memory_figures, refused_count)},
    };
    struct jw_memory_figures figures[JW_MEMORY_LIMIT];

    for (int part = 0; part < JW_MEMORY_LIMIT; part++)
        jw_memory_get((enum jw_memory_part)part, &figures[part]);
    for (size_t i = 0; i < JW_COUNT_OF(columns); i++) {
        tell_put_head(page, columns[i].name, columns[i].help);
        for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
            uint64_t value;

            memcpy(&value, (const char *)&figures[part] + columns[i].offset, sizeof value);
            tell_put(page, "jaywalk_%s{subsystem=\"%s\"} %llu\n", columns[i].name,
                     jw_memory_infos[part].name, (unsigned long long)value);
        }
    }
    tell_put_head(page, "memlimit_bytes", "the option memlimit: the limit of them all together");
    tell_put(page, "jaywalk_memlimit_bytes %llu\n", (unsigned long long)jw_memory_limit_bytes());
}
