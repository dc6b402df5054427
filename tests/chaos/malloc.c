/* The C library's heap: blocks of every size, kept, grown, passed to another thread and freed there; and a child that
 * goes on with it. */
#include "chaos.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES 256

struct block {
    void *bytes;
    size_t length_bytes;
    uint64_t seed;
};

struct heap {
    struct storm *storm;
    pthread_mutex_t locks[PLACES];
    struct block blocks[PLACES]; /* of all threads: whoever takes one out frees it */
};

static size_t some_length(uint64_t *random)
{
    switch (chaos_random_below(random, 16)) {
    case 0:
        return (size_t)chaos_random_below(random, 1 << 20); /* mapped */
    case 1:
    case 2:
        return (size_t)chaos_random_below(random, 32 << 10);
    default:
        return (size_t)chaos_random_below(random, 1000);
    }
}

static bool is_zero(const uint8_t *bytes, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void make_block(struct storm *storm, struct block *block, uint64_t *random)
{
    const size_t alignment = (size_t)1 << (4 + chaos_random_below(random, 9));

    block->length_bytes = some_length(random);
    block->seed = chaos_random(random);
    block->bytes = NULL;
    switch (chaos_random_below(random, 3)) {
    case 0:
        block->bytes = calloc(1, block->length_bytes);
        STORM_EXPECT(storm, block->bytes == NULL || is_zero(block->bytes, block->length_bytes),
                     "calloc gives used memory");
        break;
    case 1:
        if (posix_memalign(&block->bytes, alignment, block->length_bytes) != 0)
            block->bytes = NULL;
        STORM_EXPECT(storm, (uintptr_t)block->bytes % alignment == 0,
                     "posix_memalign: %p, not by %zu", block->bytes, alignment);
        break;
    default:
        block->bytes = malloc(block->length_bytes);
    }
    if (block->bytes == NULL)
        block->length_bytes = 0;
    chaos_fill(block->bytes, block->length_bytes, block->seed);
}

/* m28: what a signal that came inside malloc would have broken. */
static void check_block(struct storm *storm, const struct block *block, const char *when)
{
    STORM_EXPECT(storm, chaos_is_filled(block->bytes, block->length_bytes, block->seed),
                 "%zu bytes at %p changed %s", block->length_bytes, block->bytes, when);
}

static void grow_block(struct storm *storm, struct block *block, uint64_t *random)
{
    const size_t length_bytes = some_length(random) + 1;
    void *bytes = realloc(block->bytes, length_bytes);

    if (bytes == NULL)
        return;
    block->bytes = bytes;
    if (length_bytes < block->length_bytes)
        block->length_bytes = length_bytes;
    check_block(storm, block, "by realloc");
    block->length_bytes = length_bytes;
    chaos_fill(bytes, length_bytes, block->seed);
}

static void turn(struct heap *heap, uint64_t *random)
{
    const size_t place = (size_t)chaos_random_below(random, PLACES);
    struct block block;
    struct block old;

    make_block(heap->storm, &block, random);
    if (chaos_random(random) & 1)
        grow_block(heap->storm, &block, random);
    pthread_mutex_lock(&heap->locks[place]);
    old = heap->blocks[place];
    heap->blocks[place] = block;
    pthread_mutex_unlock(&heap->locks[place]);
    check_block(heap->storm, &old, "while kept");
    free(old.bytes);
}

static void *churn(void *argument)
{
    struct heap *heap = argument;
    uint64_t random = storm_seed(heap->storm);

    while (storm_goes_on(heap->storm)) {
        for (int i = 0; i < 50; i++)
            turn(heap, &random);
        storm_did(heap->storm, 50);
        if (chaos_random_below(&random, 20) == 0)
            malloc_trim(0);
        chaos_sleep_us(1000);
    }
    return NULL;
}

/* In a child of a process whose other threads were inside malloc: the C library sees to it that its heap is whole. */
static void fork_once(struct storm *storm, uint64_t *random)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct storm own = {.lock = PTHREAD_MUTEX_INITIALIZER};
        struct block blocks[64];

        chaos_limit_child();
        for (int i = 0; i < 64; i++)
            make_block(&own, &blocks[i], random);
        for (int i = 0; i < 64; i++) {
            check_block(&own, &blocks[i], "in a child");
            free(blocks[i].bytes);
        }
        _exit(atomic_load(&own.violations) == 0 ? 0 : 7);
    }
    if (child < 0) {
        storm_violated(storm, "fork: %s", strerror(errno));
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        storm_violated(storm, "waitpid ended with EINTR");
    STORM_EXPECT(storm, WIFEXITED(status) && WEXITSTATUS(status) == 0,
                 "the heap of a child: wait status %#x", status);
}

void malloc_round(struct storm *storm)
{
    struct heap *heap = calloc(1, sizeof *heap);
    uint64_t random = storm_seed(storm);

    if (heap == NULL)
        return;
    heap->storm = storm;
    for (int i = 0; i < PLACES; i++)
        pthread_mutex_init(&heap->locks[i], NULL);
    fork_once(storm, &random);
    storm_threads(storm, 2 * storm->intensity, churn, heap);
    for (int i = 0; i < PLACES; i++) {
        check_block(storm, &heap->blocks[i], "while kept");
        free(heap->blocks[i].bytes);
    }
    free(heap);
}
