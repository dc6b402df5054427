/* Errors and allocation of the control plane; the one entry that a handler may call counts only. */
#include "base/jw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/blocks.h"
#include "base/counters.h"
#include "base/memory.h"

/* Relaxed: a test sets it before the threads it tests exist, and the command the other one. */
static _Atomic uint64_t fail_after;
static _Atomic uint32_t wants_large_pages;
static _Atomic uint64_t allocations;

bool jw_invariant_broken(void)
{
    if (JW_IS_CHECKED)
        __builtin_trap();
    jw_count(JW_COUNT_INVARIANT_BROKEN);
    return false;
}

void jw_error_set(struct jw_error *err, const char *format, ...)
{
    if (err == NULL || err->message[0] != '\0')
        return;

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
}

void jw_error_clear(struct jw_error *err)
{
    if (err != NULL)
        err->message[0] = '\0';
}

static bool may_allocate(void)
{
    const uint64_t nth = jw_load_relaxed(&fail_after);

    jw_add_relaxed(&allocations, 1);
    if (nth == 0)
        return true;
    if (nth == 1)
        return false;
    jw_store_relaxed(&fail_after, nth - 1);
    return true;
}

/*
 * In front of each block. Neither kind lies in the heap of the program, and none waits for its malloc: small ones are
 * of base/blocks.h, a large one is a mapping of its own, given back whole and at once.
 */
struct head {
    uint64_t size_bytes; /* as it was asked for */
    uint32_t part;
    uint16_t is_mapped;
    uint16_t has_large_pages; /* is mapped, and in whole ones */
};

_Static_assert(sizeof(struct head) == 16, "what follows is aligned as malloc aligns");

#ifdef __has_feature
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#if IS_SANITIZED
/* They look after blocks of malloc. */
#define MAPPED_FROM_BYTES SIZE_MAX

static size_t small_bytes(size_t bytes)
{
    return bytes;
}

static struct head *take_small(size_t bytes)
{
    return calloc(1, bytes);
}

static void give_small(struct head *head, size_t bytes)
{
    (void)bytes;
    free(head);
}
#else
#define MAPPED_FROM_BYTES (BLOCKS_MOST_BYTES - sizeof(struct head) + 1)

static size_t small_bytes(size_t bytes)
{
    return blocks_size(bytes);
}

static struct head *take_small(size_t bytes)
{
    return blocks_take(bytes);
}

static void give_small(struct head *head, size_t bytes)
{
    blocks_give(head, bytes);
}
#endif

/* Whole ones, which kernels from 6.7 on place at a multiple of as much; others use those that lie inside. */
#define LARGE_PAGE_BYTES       ((size_t)2 << 20)
#define LARGE_PAGES_FROM_BYTES (2 * LARGE_PAGE_BYTES)

static bool takes_large_pages(size_t size_bytes)
{
    return size_bytes >= LARGE_PAGES_FROM_BYTES && MAPPED_FROM_BYTES != SIZE_MAX &&
           jw_load_relaxed(&wants_large_pages) != 0;
}

/* What such a block takes with its head; SIZE_MAX: more than there is. */
static size_t whole_bytes(size_t size_bytes, bool has_large_pages)
{
    const size_t page_bytes = has_large_pages ? LARGE_PAGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);

    if (size_bytes > PTRDIFF_MAX - sizeof(struct head) - page_bytes)
        return SIZE_MAX;
    if (size_bytes >= MAPPED_FROM_BYTES)
        return (size_bytes + sizeof(struct head) + page_bytes - 1) & ~(page_bytes - 1);
    return small_bytes(size_bytes + sizeof(struct head));
}

/* Charged; zero. */
static struct head *make_block(enum jw_memory_part part, size_t size_bytes)
{
    const bool has_large_pages = takes_large_pages(size_bytes);
    const size_t bytes = whole_bytes(size_bytes, has_large_pages);
    const bool is_mapped = size_bytes >= MAPPED_FROM_BYTES;

    if (bytes == SIZE_MAX || !jw_memory_charge_block(part, bytes))
        return NULL;

    struct head *head =
        is_mapped ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : take_small(bytes);
    if (head == NULL || head == MAP_FAILED) {
        jw_memory_credit_block(part, bytes);
        return NULL;
    }
    if (has_large_pages) /* a wish: without, it is as before */
        (void)madvise(head, bytes, MADV_HUGEPAGE);
    *head = (struct head){.size_bytes = size_bytes,
                          .part = part,
                          .is_mapped = is_mapped,
                          .has_large_pages = has_large_pages};
    return head;
}

void *jw_alloc_for(enum jw_memory_part part, size_t size_bytes)
{
    struct head *head = may_allocate() ? make_block(part, size_bytes) : NULL;

    return head == NULL ? NULL : head + 1;
}

static void give_block(struct head *head, size_t bytes)
{
    if (head->is_mapped)
        munmap(head, bytes);
    else
        give_small(head, bytes);
}

/* To a block of another size or kind. */
static struct head *move_block(struct head *head, size_t size_bytes)
{
    struct head *fresh = make_block((enum jw_memory_part)head->part, size_bytes);

    if (fresh == NULL)
        return NULL;
    memcpy(fresh + 1, head + 1, size_bytes < head->size_bytes ? size_bytes : head->size_bytes);
    jw_free(head + 1);
    return fresh;
}

static struct head *resize_mapping(struct head *head, size_t size_bytes)
{
    const size_t before_bytes = whole_bytes(head->size_bytes, head->has_large_pages != 0);
    const size_t bytes = whole_bytes(size_bytes, head->has_large_pages != 0);

    if (bytes > before_bytes && !jw_memory_charge_block(head->part, bytes - before_bytes))
        return NULL;

    struct head *resized = mremap(head, before_bytes, bytes, MREMAP_MAYMOVE);
    if (resized == MAP_FAILED) {
        if (bytes > before_bytes)
            jw_memory_credit_block(head->part, bytes - before_bytes);
        return NULL;
    }
    if (bytes < before_bytes)
        jw_memory_credit_block(resized->part, before_bytes - bytes);
    resized->size_bytes = size_bytes;
    return resized;
}

static struct head *resize_block(struct head *head, size_t size_bytes)
{
    if (size_bytes >= MAPPED_FROM_BYTES && head->is_mapped &&
        takes_large_pages(size_bytes) == (head->has_large_pages != 0))
        return resize_mapping(head, size_bytes);
    if (size_bytes >= MAPPED_FROM_BYTES || head->is_mapped ||
        whole_bytes(size_bytes, false) != whole_bytes(head->size_bytes, false))
        return move_block(head, size_bytes);
    head->size_bytes = size_bytes;
    return head;
}

void *jw_realloc_for(enum jw_memory_part part, void *memory, size_t size_bytes)
{
    if (memory == NULL)
        return jw_alloc_for(part, size_bytes);
    if (!may_allocate() || whole_bytes(size_bytes, false) == SIZE_MAX)
        return NULL;

    struct head *head = resize_block((struct head *)memory - 1, size_bytes);
    return head == NULL ? NULL : head + 1;
}

void jw_free(void *memory)
{
    if (memory == NULL)
        return;

    struct head *head = (struct head *)memory - 1;
    const size_t bytes = whole_bytes(head->size_bytes, head->has_large_pages != 0);

    jw_memory_credit_block((enum jw_memory_part)head->part, bytes);
    give_block(head, bytes);
}

size_t jw_mul_bytes(size_t count, size_t size_bytes)
{
    size_t product;

    return __builtin_mul_overflow(count, size_bytes, &product) ? SIZE_MAX : product;
}

void jw_alloc_in_large_pages(void)
{
    jw_store_relaxed(&wants_large_pages, 1);
}

void jw_alloc_fail_after(uint64_t nth)
{
    jw_store_relaxed(&fail_after, nth);
}

uint64_t jw_alloc_count(void)
{
    return jw_load_relaxed(&allocations);
}
