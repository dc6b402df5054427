/* Tables beside the thread records: reserved once, kept for the life of the process; control. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sampler/sampler_internal.h"

void *sampler_reserve(size_t count, size_t entry_bytes, struct jw_error *err)
{
    const size_t size_bytes = jw_mul_bytes(count, entry_bytes);
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        jw_error_set(err, "cannot reserve %zu bytes for the sampler: %s", size_bytes,
                     strerror(errno));
        return NULL;
    }
    (void)madvise(memory, size_bytes, MADV_DONTDUMP);
    return memory;
}

void sampler_wipe(void *table, size_t count, size_t entry_bytes)
{
    const size_t size_bytes = jw_mul_bytes(count, entry_bytes);

    /* Pages that were never touched stay so. */
    if (madvise(table, size_bytes, MADV_DONTNEED) != 0)
        memset(table, 0, size_bytes);
}
