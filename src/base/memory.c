/* Charges and limits in every context; mappings, kept in a list under a lock: any, dump, control, tool. */
#include "base/memory.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/counters.h"

#define KEEPS      false
#define BORROWS    true
#define LOOK_PAGES 4096 /* of which the system is asked at a time */

#define COUNTERS_MAX 3

const struct jw_memory_info jw_memory_infos[JW_MEMORY_LIMIT] = {
#define JW_MEMORY(name_, text, smallest, at_default, most, does_borrow, at_limit, counters)        \
    [JW_MEMORY_##name_] = {.name = (text),                                                         \
                           .outcome = (at_limit),                                                  \
                           .smallest_bytes = (uint64_t)(smallest) << 10,                           \
                           .default_bytes = (uint64_t)(at_default) << 10,                          \
                           .most_bytes = (uint64_t)(most) << 10,                                   \
                           .borrows = (does_borrow)},
#define JW_MEMORY_ROOM(room, part)
#include "base/memory.def"
#undef JW_MEMORY
};

/* What each part's limit costs; without counters of its own: refused charges. */
struct told {
    size_t count;
    enum jw_counter_id ids[COUNTERS_MAX];
};

static const struct told told_by[JW_MEMORY_LIMIT] = {
#define COUNTERS(...)                                                                              \
    {                                                                                              \
        .count = sizeof((enum jw_counter_id[]){__VA_ARGS__}) / sizeof(enum jw_counter_id),         \
        .ids = {__VA_ARGS__},                                                                      \
    }
#define JW_MEMORY(name_, text, smallest, at_default, most, does_borrow, at_limit, counters)        \
    [JW_MEMORY_##name_] = counters,
#include "base/memory.def"
#undef JW_MEMORY
#undef JW_MEMORY_ROOM
#undef COUNTERS
};

/* Relaxed, all of them: figures, from which nothing about the memory itself is concluded. */
static _Atomic uint64_t limit_bytes; /* of all; 0: none */
static _Atomic uint64_t charged_bytes;
static struct {
    _Atomic uint64_t limit_bytes;
    _Atomic uint64_t charged_bytes;
    _Atomic uint64_t block_bytes; /* of those, what jw_alloc gave */
    _Atomic uint64_t refused_count;
} parts[JW_MEMORY_LIMIT];

struct mapping {
    struct mapping *next;
    void *address;
    size_t bytes;
    enum jw_memory_part part;
};

static struct {
    pthread_mutex_t lock;
    struct mapping *first;
    uint64_t unknown_bytes[JW_MEMORY_LIMIT]; /* of mappings for which there was no node */
} mappings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- limits ---- */

static uint64_t share_alone(enum jw_memory_part part, uint64_t of_bytes)
{
    const struct jw_memory_info *info = &jw_memory_infos[part];
    const uint64_t slope = info->default_bytes - info->smallest_bytes;
    const uint64_t range = JW_MEMORY_DEFAULT_BYTES - JW_MEMORY_SMALLEST_BYTES;
    const uint64_t share =
        info->smallest_bytes + (of_bytes - JW_MEMORY_SMALLEST_BYTES) / 1024 * slope / range * 1024;

    return info->most_bytes != 0 && share > info->most_bytes ? info->most_bytes : share;
}

uint64_t jw_memory_share_of(enum jw_memory_part part, uint64_t of_bytes)
{
    if (of_bytes < JW_MEMORY_SMALLEST_BYTES)
        of_bytes = JW_MEMORY_SMALLEST_BYTES;
    if (part != JW_MEMORY_SAMPLES)
        return share_alone(part, of_bytes);

    uint64_t left_bytes = of_bytes;
    for (int other = 0; other < JW_MEMORY_LIMIT; other++)
        if (other != JW_MEMORY_SAMPLES)
            left_bytes -= share_alone((enum jw_memory_part)other, of_bytes);
    return left_bytes;
}

void jw_memory_share(uint64_t of_bytes)
{
    if (of_bytes < JW_MEMORY_SMALLEST_BYTES)
        of_bytes = JW_MEMORY_SMALLEST_BYTES;
    for (int part = 0; part < JW_MEMORY_LIMIT; part++)
        jw_store_relaxed(&parts[part].limit_bytes,
                         jw_memory_share_of((enum jw_memory_part)part, of_bytes));
    jw_store_relaxed(&limit_bytes, of_bytes);
}

void jw_memory_unlimit(void)
{
    jw_store_relaxed(&limit_bytes, 0);
    for (int part = 0; part < JW_MEMORY_LIMIT; part++)
        jw_store_relaxed(&parts[part].limit_bytes, 0);
}

uint64_t jw_memory_limit_bytes(void)
{
    return jw_load_relaxed(&limit_bytes);
}

uint64_t jw_memory_limit_of(enum jw_memory_part part, uint64_t otherwise)
{
    const uint64_t bytes = jw_load_relaxed(&parts[part].limit_bytes);

    return bytes == 0 ? otherwise : bytes;
}

/* ---- charges ---- */

/* Adds to a sum that must not pass its limit; 0: it has none. */
static JW_SIGNAL_SAFE bool add_within(_Atomic uint64_t *sum, uint64_t bytes, uint64_t most_bytes)
{
    uint64_t before = jw_load_relaxed(sum);

    do {
        if (most_bytes != 0 && (bytes > most_bytes || before > most_bytes - bytes))
            return false;
    } while (!jw_cas_relaxed(sum, &before, before + bytes));
    return true;
}

bool jw_memory_charge(enum jw_memory_part part, uint64_t bytes)
{
    const uint64_t own_limit =
        jw_memory_infos[part].borrows ? 0 : jw_load_relaxed(&parts[part].limit_bytes);

    if (add_within(&parts[part].charged_bytes, bytes, own_limit)) {
        if (add_within(&charged_bytes, bytes, jw_load_relaxed(&limit_bytes)))
            return true;
        jw_sub_relaxed(&parts[part].charged_bytes, bytes);
    }
    jw_add_relaxed(&parts[part].refused_count, 1);
    jw_count(JW_COUNT_MEMORY_REFUSED);
    return false;
}

void jw_memory_credit(enum jw_memory_part part, uint64_t bytes)
{
    jw_sub_relaxed(&parts[part].charged_bytes, bytes);
    jw_sub_relaxed(&charged_bytes, bytes);
}

bool jw_memory_charge_block(enum jw_memory_part part, uint64_t bytes)
{
    if (!jw_memory_charge(part, bytes))
        return false;
    jw_add_relaxed(&parts[part].block_bytes, bytes);
    return true;
}

void jw_memory_credit_block(enum jw_memory_part part, uint64_t bytes)
{
    jw_sub_relaxed(&parts[part].block_bytes, bytes);
    jw_memory_credit(part, bytes);
}

uint64_t jw_memory_room_bytes(void)
{
    const uint64_t most_bytes = jw_load_relaxed(&limit_bytes);
    const uint64_t taken_bytes = jw_load_relaxed(&charged_bytes);

    return most_bytes == 0 ? UINT64_MAX : most_bytes > taken_bytes ? most_bytes - taken_bytes : 0;
}

/* ---- mappings ---- */

void jw_memory_note(enum jw_memory_part part, void *address, size_t bytes)
{
    struct mapping *mapping = malloc(sizeof *mapping);

    pthread_mutex_lock(&mappings.lock);
    if (mapping == NULL) {
        mappings.unknown_bytes[part] += bytes;
    } else {
        *mapping = (struct mapping){
            .next = mappings.first, .address = address, .bytes = bytes, .part = part};
        mappings.first = mapping;
    }
    pthread_mutex_unlock(&mappings.lock);
}

void jw_memory_forget(const void *address)
{
    struct mapping *found = NULL;

    pthread_mutex_lock(&mappings.lock);
    for (struct mapping **at = &mappings.first; *at != NULL; at = &(*at)->next) {
        if ((*at)->address == address) {
            found = *at;
            *at = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&mappings.lock);
    free(found);
}

void *jw_memory_map(enum jw_memory_part part, size_t bytes)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (address == MAP_FAILED)
        return NULL;
    (void)madvise(address, bytes, MADV_DONTDUMP);
    (void)madvise(address, bytes, MADV_NOHUGEPAGE);
    jw_memory_note(part, address, bytes);
    return address;
}

void jw_memory_unmap(void *address, size_t bytes)
{
    if (address == NULL)
        return;
    jw_memory_forget(address);
    munmap(address, bytes);
}

/* Bytes of [begin, begin + bytes) that lie in memory; all of them where the system does not tell. */
static uint64_t touched_bytes(uintptr_t begin, uint64_t bytes)
{
    static unsigned char in_memory[LOOK_PAGES]; /* under the lock */
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uintptr_t end = begin + bytes;
    uint64_t count = 0;

    for (uintptr_t at = begin & ~(page_bytes - 1); at < end; at += LOOK_PAGES * page_bytes) {
        const uint64_t left = (end - at + page_bytes - 1) / page_bytes;
        const uint64_t pages = left < LOOK_PAGES ? left : LOOK_PAGES;

        if (mincore((void *)at, pages * page_bytes, in_memory) != 0)
            return bytes;
        for (uint64_t i = 0; i < pages; i++)
            count += in_memory[i] & 1;
    }
    return count * page_bytes;
}

uint64_t jw_memory_refused_count(enum jw_memory_part part)
{
    uint64_t count = told_by[part].count == 0 ? jw_load_relaxed(&parts[part].refused_count) : 0;

    for (size_t i = 0; i < told_by[part].count; i++)
        count += jw_counter(told_by[part].ids[i]);
    return count;
}

void jw_memory_get(enum jw_memory_part part, struct jw_memory_figures *out)
{
    *out = (struct jw_memory_figures){
        .charged_bytes = jw_load_relaxed(&parts[part].charged_bytes),
        .used_bytes = jw_load_relaxed(&parts[part].block_bytes),
        .limit_bytes = jw_load_relaxed(&parts[part].limit_bytes),
        .refused_count = jw_memory_refused_count(part),
    };

    pthread_mutex_lock(&mappings.lock);
    out->reserved_bytes = mappings.unknown_bytes[part];
    out->used_bytes += mappings.unknown_bytes[part];
    for (const struct mapping *at = mappings.first; at != NULL; at = at->next) {
        if (at->part != part)
            continue;
        out->reserved_bytes += at->bytes;
        out->used_bytes += touched_bytes((uintptr_t)at->address, at->bytes);
    }
    pthread_mutex_unlock(&mappings.lock);
}

void jw_memory_get_all(struct jw_memory_figures *out)
{
    *out = (struct jw_memory_figures){.limit_bytes = jw_load_relaxed(&limit_bytes)};
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        struct jw_memory_figures figures;

        jw_memory_get((enum jw_memory_part)part, &figures);
        out->used_bytes += figures.used_bytes;
        out->charged_bytes += figures.charged_bytes;
        out->reserved_bytes += figures.reserved_bytes;
        out->refused_count += figures.refused_count > 0;
    }
}

/* ---- the library itself ---- */

/* Variables of the image that holds this code. */
static int note_image(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    for (int pass = 0; pass < 2; pass++) {
        bool is_ours = false;

        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[i];
            const uintptr_t begin = info->dlpi_addr + header->p_vaddr;

            if (header->p_type != PT_LOAD)
                continue;
            if (pass == 0)
                is_ours |= (uintptr_t)parts >= begin && (uintptr_t)parts < begin + header->p_memsz;
            else if ((header->p_flags & PF_W) != 0 &&
                     jw_memory_charge(JW_MEMORY_CONTROL, header->p_memsz))
                jw_memory_note(JW_MEMORY_CONTROL, (void *)begin, header->p_memsz);
        }
        if (pass == 0 && !is_ours)
            return 0;
    }
    return 1;
}

void jw_memory_note_library(void)
{
    (void)dl_iterate_phdr(note_image, NULL);
}
