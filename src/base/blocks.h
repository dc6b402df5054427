/*
 * blocks - the agent's own heap, for pieces of up to 32 KiB.
 *
 * For      jw_alloc, so that nothing which the agent does waits for a lock of the program's malloc. Threads share its arenas: where
 *          many threads allocate, and more want to run than there are processors, each call waits for one that holds the lock and
 *          does not run. The thread that writes stood still so for seven of ten minutes, and samples were lost meanwhile.
 * Callers  base (jw_alloc).
 * Context  any, dump, control, tool; never handler or hook. A child of fork() must not call it: its lock may be held by nobody.
 * Memory   spans of 256 KiB, each cut into blocks of one size, sixteen spans to a mapping. Only what was handed out is touched;
 *          a span that is empty gives its pages back, and serves any size. Address space is never given back.
 * Progress one lock, of jaywalk's threads alone.
 */
#ifndef JW_BASE_BLOCKS_H
#define JW_BASE_BLOCKS_H

#include <stddef.h>

#define BLOCKS_MOST_BYTES ((size_t)32 << 10)

/* What a block for `size_bytes` (1 to BLOCKS_MOST_BYTES) takes: at most a quarter more, or 32 bytes where that is more. */
size_t blocks_size(size_t size_bytes);

/* Zeroed, aligned to 16; NULL: out of memory. */
void *blocks_take(size_t size_bytes);

/* `size_bytes`: any size of the same blocks_size as was asked for. */
void blocks_give(void *block, size_t size_bytes);

/* Tests: bytes of the spans in use that were ever handed out, blocks that were given back among them included. */
size_t blocks_held_bytes(void);

#endif
