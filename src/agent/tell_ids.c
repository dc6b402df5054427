/* What other agents ask about, said to those who ask; any. */
#include "agent/agent.h"
#include "agent/stacks.h"
#include "agent/tell_internal.h"

void tell_ids(void)
{
    struct ids_stats stats;

    if (!stacks_are_open())
        return;
    ids_stats(&stats);
    agent_log(OPTIONS_LOGLEVEL_INFO,
              "Ids for other agents: classes %u of %u, methods %u of %u, texts %u of %u KiB",
              stats.class_count, stats.class_capacity, stats.method_count, stats.method_capacity,
              stats.block_count / 16, stats.block_capacity / 16);
}

static void put(struct tell_page *page, const char *name, const char *help, uint32_t classes,
                uint32_t methods)
{
    tell_put_head(page, name, help);
    tell_put(page, "jaywalk_%s{name=\"classes\"} %u\n", name, classes);
    tell_put(page, "jaywalk_%s{name=\"methods\"} %u\n", name, methods);
}

void tell_ids_metrics(struct tell_page *page)
{
    struct ids_stats stats;

    ids_stats(&stats);
    put(page, "ids", "classes and methods that other agents may ask about", stats.class_count,
        stats.method_count);
    put(page, "ids_capacity", "as many there is room for", stats.class_capacity,
        stats.method_capacity);
}
