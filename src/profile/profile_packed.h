/*
 * profile_packed - samples one by one, packed.
 *
 * For      profile_moments, which holds millions of them.
 * Callers  profile_moments.   Context  tool. Not thread safe; one owner.
 * Memory   5 to 8 bytes a sample where its neighbours are like it, 22 at the most; 60 for each 1024.
 *
 * They lie in blocks, which are read forwards. A block that was read by somebody else goes by tables of what his numbers of stacks and contexts
 * are here, so none is written a second time.
 */
#ifndef JW_PROFILE_PROFILE_PACKED_H
#define JW_PROFILE_PROFILE_PACKED_H

#include "profile/profile_moments.h"

#define PROFILE_PACKED_ROWS 1024u /* samples of a block, at the most */

struct profile_packed_block;

struct profile_packed {
    struct profile_packed_block **blocks;
    size_t block_count, block_capacity;
    uint64_t count;
    void **tables; /* its own, of the blocks */
    size_t table_count, table_capacity;
};

/* Empty is { 0 }. Each false: no memory. */
JW_MUST_CHECK bool profile_packed_add(struct profile_packed *packed,
                                      const struct profile_moment *rows, uint64_t count);
void profile_packed_clear(struct profile_packed *packed);

/* Makes `table`, of jw_alloc, its own, also where it fails. */
JW_MUST_CHECK bool profile_packed_keep(struct profile_packed *packed, void *table);

/* All blocks of `from`, which stays empty; none of them goes by tables yet. `contexts`: what their contexts are here; NULL: what they were. */
JW_MUST_CHECK bool profile_packed_move(struct profile_packed *into, struct profile_packed *from,
                                       const uint32_t *contexts);

/* What the numbers of stacks of these blocks are; any other is PROFILE_STACK_NONE. `stacks` stays as long as the blocks. */
void profile_packed_restack(struct profile_packed *packed, size_t first_block, size_t end_block,
                            const profile_stack_id *stacks, uint32_t stack_count);

/* Does the block have a sample between these times, as far as its first and its last one tell? */
bool profile_packed_is_within(const struct profile_packed *packed, size_t block, int32_t from_ms,
                              int32_t to_ms);

/* Into `rows`, which has room for PROFILE_PACKED_ROWS: how many they are. */
uint32_t profile_packed_read(const struct profile_packed *packed, size_t block,
                             struct profile_moment *rows);

#endif
