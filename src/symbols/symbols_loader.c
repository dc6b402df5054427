/* What the dynamic loader says of itself; any, dump, control. */
#include <link.h>
#include <stddef.h>

#include "symbols/symbols_internal.h"

/*
 * One call of this is enough: the counts are those of the whole process. Source: dl_iterate_phdr(3), dlpi_adds and
 * dlpi_subs; glibc counts both under the lock under which it unmaps, so that nothing was unloaded between two looks with
 * equal counts. musl unloads nothing.
 */
static int take_counts(struct dl_phdr_info *info, size_t size_bytes, void *closure)
{
    struct symbols_loads *loads = closure;

    if (size_bytes >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *loads = (struct symbols_loads){.added = info->dlpi_adds, .removed = info->dlpi_subs};
    return 1;
}

uint64_t symbols_unloads(void)
{
    return symbols_loads().removed;
}

struct symbols_loads symbols_loads(void)
{
    struct symbols_loads loads = {0, 0};

    (void)dl_iterate_phdr(take_counts, &loads);
    return loads;
}
