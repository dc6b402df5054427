/* Tables beside the thread records: reserved once, kept for the life of the process; control. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "sampler/sampler_internal.h"

void *sampler_reserve(enum jw_memory_part part, size_t count, size_t entry_bytes,
                      struct jw_error *err)
{
    const size_t size_bytes = jw_mul_bytes(count, entry_bytes);

    if (!jw_memory_charge(part, size_bytes)) {
        jw_error_set(err, "memlimit leaves no room for %zu bytes of the sampler; try a larger one",
                     size_bytes);
        return NULL;
    }
    void *memory = jw_memory_map(part, size_bytes);
    if (memory == NULL) {
        jw_memory_credit(part, size_bytes);
        jw_error_set(err, "cannot reserve %zu bytes for the sampler: %s", size_bytes,
                     strerror(errno));
    }
    return memory;
}

void sampler_wipe(void *table, size_t count, size_t entry_bytes)
{
    const size_t size_bytes = jw_mul_bytes(count, entry_bytes);

    /* Pages that were never touched stay so. */
    if (madvise(table, size_bytes, MADV_DONTNEED) != 0)
        memset(table, 0, size_bytes);
}
