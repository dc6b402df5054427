/* A span is found by the address of its block, and knows its free ones; any, dump, control, tool. */
#include "base/blocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/jw.h"

#define SPAN_BYTES   ((size_t)256 << 10) /* and so aligned */
#define REGION_SPANS 16
#define HEAD_BYTES   ((size_t)64)
#define UNIT_BYTES   ((size_t)16)

/* Sizes: each unit up to EVEN_BYTES, then STEPS between a power of two and the next. */
#define EVEN_BYTES ((size_t)128)
#define STEPS      4
#define CLASSES    (8 + 8 * STEPS)

struct block {
    struct block *next;
};

/* At the begin of each span. Of empty ones only `next` is used. */
struct span {
    struct span *next, *previous; /* of those of its class that have room */
    struct block *freed;
    uint32_t block_bytes;
    uint32_t unused_at;  /* from here on no block was ever handed out */
    uint32_t used_count; /* blocks */
    uint16_t class;
    bool is_listed;
};

_Static_assert(sizeof(struct span) <= HEAD_BYTES, "the first block lies behind the head");

static struct {
    pthread_mutex_t lock;
    struct span *with_room[CLASSES];
    struct span *empty; /* whole spans, given back to the system */
    size_t spans_used;
    size_t touched_bytes;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned class_of(size_t size_bytes)
{
    if (size_bytes <= EVEN_BYTES)
        return size_bytes <= 2 * UNIT_BYTES ? 1 : (unsigned)((size_bytes - 1) / UNIT_BYTES);

    const unsigned octave = 63 - (unsigned)__builtin_clzll(size_bytes - 1); /* 7: 129 to 256 */
    const unsigned step = (unsigned)((size_bytes - 1) >> (octave - 2)) & (STEPS - 1);
    return 8 + (octave - 7) * STEPS + step;
}

static size_t bytes_of(unsigned class)
{
    if (class < 8)
        return (class + 1) * UNIT_BYTES;

    const unsigned octave = (class - 8) / STEPS + 7, step = (class - 8) % STEPS;
    return (size_t)(STEPS + step + 1) << (octave - 2);
}

size_t blocks_size(size_t size_bytes)
{
    return bytes_of(class_of(size_bytes));
}

static struct span *span_of(void *block)
{
    return (struct span *)((uintptr_t)block & ~(SPAN_BYTES - 1));
}

/* ---- spans, under the lock ---- */

static bool map_region(void)
{
    const size_t bytes = (REGION_SPANS + 1) * SPAN_BYTES;
    unsigned char *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (mapped == MAP_FAILED)
        return false;
    /* One touched page is to be one page in memory. */
    (void)madvise(mapped, bytes, MADV_NOHUGEPAGE);

    unsigned char *first = (unsigned char *)span_of(mapped + SPAN_BYTES - 1);
    for (int i = REGION_SPANS - 1; i >= 0; i--) {
        struct span *span = (struct span *)(first + (size_t)i * SPAN_BYTES);

        span->next = blocks.empty;
        blocks.empty = span;
    }
    return true;
}

static void list(struct span *span)
{
    struct span **first = &blocks.with_room[span->class];

    span->previous = NULL;
    span->next = *first;
    if (*first != NULL)
        (*first)->previous = span;
    *first = span;
    span->is_listed = true;
}

static void unlist(struct span *span)
{
    if (span->previous != NULL)
        span->previous->next = span->next;
    else
        blocks.with_room[span->class] = span->next;
    if (span->next != NULL)
        span->next->previous = span->previous;
    span->is_listed = false;
}

static struct span *open_span(unsigned class)
{
    if (blocks.empty == NULL && !map_region())
        return NULL;

    struct span *span = blocks.empty;
    blocks.empty = span->next;
    *span = (struct span){.block_bytes = (uint32_t)bytes_of(class),
                          .unused_at = HEAD_BYTES,
                          .class = (uint16_t) class};
    blocks.touched_bytes += HEAD_BYTES;
    list(span);
    return span;
}

/* The last one of its size stays: what comes and goes one at a time is to cost no call. */
static void close_span(struct span *span)
{
    if (span->next == NULL && span->previous == NULL)
        return;
    unlist(span);
    blocks.touched_bytes -= span->unused_at;
    /* Refused: they stay in memory, and serve as they are. */
    (void)madvise(span, SPAN_BYTES, MADV_DONTNEED);
    span->next = blocks.empty;
    blocks.empty = span;
}

static bool has_unused(const struct span *span)
{
    return span->unused_at + span->block_bytes <= SPAN_BYTES;
}

static struct block *take_from(struct span *span)
{
    struct block *block = span->freed;

    if (block != NULL) {
        span->freed = block->next;
    } else {
        block = (struct block *)((unsigned char *)span + span->unused_at);
        span->unused_at += span->block_bytes;
        blocks.touched_bytes += span->block_bytes;
    }
    span->used_count++;
    if (span->freed == NULL && !has_unused(span))
        unlist(span);
    return block;
}

/* ---- blocks ---- */

void *blocks_take(size_t size_bytes)
{
    const unsigned class = class_of(size_bytes);
    struct block *block = NULL;

    pthread_mutex_lock(&blocks.lock);
    struct span *span =
        blocks.with_room[class] != NULL ? blocks.with_room[class] : open_span(class);
    if (span != NULL)
        block = take_from(span);
    pthread_mutex_unlock(&blocks.lock);
    return block == NULL ? NULL : memset(block, 0, bytes_of(class));
}

void blocks_give(void *memory, size_t size_bytes)
{
    struct span *span = span_of(memory);
    struct block *block = memory;

    pthread_mutex_lock(&blocks.lock);
    /* What is not of this span, or was given back before, would be handed out twice: rather lost. */
    if (JW_INVARIANT(span->class == class_of(size_bytes) && span->used_count > 0)) {
        block->next = span->freed;
        span->freed = block;
        span->used_count--;
        if (!span->is_listed)
            list(span);
        if (span->used_count == 0)
            close_span(span);
    }
    pthread_mutex_unlock(&blocks.lock);
}

size_t blocks_held_bytes(void)
{
    pthread_mutex_lock(&blocks.lock);
    const size_t bytes = blocks.touched_bytes;
    pthread_mutex_unlock(&blocks.lock);
    return bytes;
}
