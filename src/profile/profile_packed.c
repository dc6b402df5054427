/*
 * Samples one by one, packed. Context: tool.
 *
 * A sample is a byte that tells lengths, then the difference of its time from the one before, its stack, its context, and its value where that is
 * not the one before's: as many low bytes of each as it takes. They are read four bytes at a time, of which those that are too many are cut off,
 * and need no order of bytes but the processor's own, which is that of x86-64 and aarch64: low ones first.
 */
#include "profile/profile_packed.h"

#include <string.h>

#define ROW_BYTES_MOST ((size_t)21)
#define READ_AHEAD     ((size_t)8) /* bytes behind the last that are read, and not used */

/* Lengths of a time, a stack and a context: the code and one. Of a value: */
enum value_code { VALUE_AS_BEFORE, VALUE_OF_3, VALUE_OF_4, VALUE_OF_8 };

struct profile_packed_block {
    uint32_t count;
    int32_t first_ms, last_ms; /* the earliest and the latest */
    const uint32_t *contexts;  /* by number; NULL: it is the number */
    const profile_stack_id *stacks;
    uint32_t stack_count;
    unsigned char bytes[];
};

/* Room for one more pointer; false: no memory. */
static bool reserve(void **array, size_t *capacity, size_t count)
{
    const size_t wanted = *capacity == 0 ? 16 : *capacity * 2;

    if (count < *capacity)
        return true;

    void *grown = jw_realloc(*array, jw_mul_bytes(wanted, sizeof(void *)));
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static bool reserve_block(struct profile_packed *packed)
{
    void *blocks = packed->blocks;
    const bool is_there = reserve(&blocks, &packed->block_capacity, packed->block_count);

    packed->blocks = blocks;
    return is_there;
}

/* ---- writing ---- */

static inline uint32_t code_of(uint32_t number)
{
    return (31u - (uint32_t)__builtin_clz(number | 1)) / 8;
}

static inline unsigned char *put(unsigned char *at, uint32_t number, uint32_t code)
{
    memcpy(at, &number, sizeof number);
    return at + code + 1;
}

static inline unsigned char *put_value(unsigned char *at, uint64_t value, enum value_code code)
{
    if (code == VALUE_OF_8) {
        memcpy(at, &value, sizeof value);
        return at + sizeof value;
    }
    return code == VALUE_AS_BEFORE ? at : put(at, (uint32_t)value, code == VALUE_OF_3 ? 2 : 3);
}

static inline enum value_code code_of_value(uint64_t value, uint64_t before)
{
    return value == before       ? VALUE_AS_BEFORE
           : value < 1u << 24    ? VALUE_OF_3
           : value <= UINT32_MAX ? VALUE_OF_4
                                 : VALUE_OF_8;
}

/* Differences wrap around. */
static inline uint32_t folded(int32_t ms, int32_t before_ms)
{
    const uint32_t difference = (uint32_t)ms - (uint32_t)before_ms;

    return difference << 1 ^ (0u - (difference >> 31));
}

/* As many as one block has, into `bytes`; where they end. (A function of its own: where the compiler sees how much room there is, each of the
 * copies becomes a call that looks whether it fits.) */
static __attribute__((noinline)) unsigned char *write_rows(unsigned char *bytes,
                                                           const struct profile_moment *rows,
                                                           uint32_t count,
                                                           struct profile_packed_block *block)
{
    int32_t before_ms = 0;
    uint64_t before = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct profile_moment *row = &rows[i];
        const uint32_t time = folded(row->at_ms, before_ms);
        const uint32_t codes[] = {code_of(time), code_of(row->stack), code_of(row->context)};
        const enum value_code value = code_of_value(row->value, before);

        *bytes++ = (unsigned char)(codes[0] | codes[1] << 2 | codes[2] << 4 | (uint32_t)value << 6);
        bytes = put(bytes, time, codes[0]);
        bytes = put(bytes, row->stack, codes[1]);
        bytes = put(bytes, row->context, codes[2]);
        bytes = put_value(bytes, row->value, value);
        before_ms = row->at_ms;
        before = row->value;
        block->first_ms = before_ms < block->first_ms ? before_ms : block->first_ms;
        block->last_ms = before_ms > block->last_ms ? before_ms : block->last_ms;
    }
    return bytes;
}

static bool add_block(struct profile_packed *packed, const struct profile_moment *rows,
                      uint32_t count, unsigned char *room)
{
    const struct profile_packed_block made = {
        .count = count, .first_ms = INT32_MAX, .last_ms = INT32_MIN};
    struct profile_packed_block head = made;
    const size_t bytes = (size_t)(write_rows(room, rows, count, &head) - room);

    if (!reserve_block(packed))
        return false;

    /* All of it is written at once: no zeroes before. */
    struct profile_packed_block *block = jw_realloc(NULL, sizeof *block + bytes + READ_AHEAD);
    if (block == NULL)
        return false;
    *block = head;
    memset(block->bytes + bytes, 0, READ_AHEAD);
    memcpy(block->bytes, room, bytes);
    packed->blocks[packed->block_count++] = block;
    packed->count += count;
    return true;
}

bool profile_packed_add(struct profile_packed *packed, const struct profile_moment *rows,
                        uint64_t count)
{
    unsigned char room[PROFILE_PACKED_ROWS * ROW_BYTES_MOST + READ_AHEAD];
    bool has_memory = true;

    for (uint64_t at = 0; at < count && has_memory; at += PROFILE_PACKED_ROWS) {
        const uint64_t rest = count - at;

        has_memory =
            add_block(packed, rows + at,
                      rest < PROFILE_PACKED_ROWS ? (uint32_t)rest : PROFILE_PACKED_ROWS, room);
    }
    return has_memory;
}

void profile_packed_clear(struct profile_packed *packed)
{
    for (size_t i = 0; i < packed->block_count; i++)
        jw_free(packed->blocks[i]);
    for (size_t i = 0; i < packed->table_count; i++)
        jw_free(packed->tables[i]);
    jw_free(packed->blocks);
    jw_free(packed->tables);
    *packed = (struct profile_packed){0};
}

bool profile_packed_keep(struct profile_packed *packed, void *table)
{
    void *tables = packed->tables;
    const bool is_there = reserve(&tables, &packed->table_capacity, packed->table_count);

    packed->tables = tables;
    if (is_there)
        packed->tables[packed->table_count++] = table;
    else
        jw_free(table);
    return is_there;
}

bool profile_packed_move(struct profile_packed *into, struct profile_packed *from,
                         const uint32_t *contexts)
{
    for (size_t i = 0; i < from->block_count; i++) {
        if (!reserve_block(into)) {
            memmove(from->blocks, from->blocks + i, (from->block_count - i) * sizeof *from->blocks);
            from->block_count -= i;
            profile_packed_clear(from);
            return false;
        }
        from->blocks[i]->contexts = contexts;
        into->blocks[into->block_count++] = from->blocks[i];
        into->count += from->blocks[i]->count;
    }
    from->block_count = 0;
    profile_packed_clear(from);
    return true;
}

void profile_packed_restack(struct profile_packed *packed, size_t first_block, size_t end_block,
                            const profile_stack_id *stacks, uint32_t stack_count)
{
    for (size_t i = first_block; i < end_block; i++) {
        packed->blocks[i]->stacks = stacks;
        packed->blocks[i]->stack_count = stack_count;
    }
}

/* ---- reading ---- */

bool profile_packed_is_within(const struct profile_packed *packed, size_t block, int32_t from_ms,
                              int32_t to_ms)
{
    return packed->blocks[block]->first_ms <= to_ms && packed->blocks[block]->last_ms >= from_ms;
}

static inline const unsigned char *take(const unsigned char *at, uint32_t code, uint32_t *number)
{
    static const uint32_t masks[] = {0xff, 0xffff, 0xffffff, 0xffffffff};
    uint32_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    *number = bytes & masks[code];
    return at + code + 1;
}

static inline const unsigned char *take_value(const unsigned char *at, enum value_code code,
                                              uint64_t *value)
{
    static const uint64_t masks[] = {0, 0xffffff, 0xffffffff, UINT64_MAX};
    static const unsigned char lengths[] = {0, 3, 4, 8};
    uint64_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    *value = code == VALUE_AS_BEFORE ? *value : bytes & masks[code];
    return at + lengths[code];
}

static inline uint32_t unfolded(uint32_t folded_ms)
{
    return folded_ms >> 1 ^ (0u - (folded_ms & 1));
}

/* By the tables of who read it. */
static void renumber(const struct profile_packed_block *block, struct profile_moment *rows)
{
    for (uint32_t i = 0; block->contexts != NULL && i < block->count; i++)
        rows[i].context = block->contexts[rows[i].context];
    for (uint32_t i = 0; block->stacks != NULL && i < block->count; i++)
        rows[i].stack =
            rows[i].stack < block->stack_count ? block->stacks[rows[i].stack] : PROFILE_STACK_NONE;
}

uint32_t profile_packed_read(const struct profile_packed *packed, size_t number,
                             struct profile_moment *rows)
{
    const struct profile_packed_block *block = packed->blocks[number];
    const unsigned char *at = block->bytes;
    uint32_t ms = 0, time;
    uint64_t value = 0;

    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t codes = *at++;

        at = take(at, codes & 3, &time);
        at = take(at, codes >> 2 & 3, &rows[i].stack);
        at = take(at, codes >> 4 & 3, &rows[i].context);
        at = take_value(at, (enum value_code)(codes >> 6), &value);
        ms += unfolded(time);
        rows[i].at_ms = (int32_t)ms;
        rows[i].value = value;
    }
    renumber(block, rows);
    return block->count;
}
