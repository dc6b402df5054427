/*
 * Constant pools of a chunk: the chain of checkpoints, found by its last one. Context: tool, dump.
 *
 * Checkpoints are kept as they are, and entries decoded where they are used; a table says where
 * each begins. Each link of the chain must lead to an earlier checkpoint that ends before this one
 * begins: so the walk ends, and no byte is kept twice.
 */
#include "base/hash.h"
#include "jfr/jfr_reader_internal.h"

#define JFR_CONSTANT_SLOTS_FIRST 1024u

static uint32_t jfr_constant_slot(const struct jfr_reader *reader,
                                  const struct jfr_reader_type *type, uint64_t key)
{
    const uint32_t mask = reader->constant_slots - 1;
    uint32_t at = (uint32_t)jw_hash_word(key * 31 + (uint64_t)type->id) & mask;

    while (reader->constants[at].type != NULL &&
           (reader->constants[at].type != type || reader->constants[at].key != key))
        at = (at + 1) & mask;
    return at;
}

const struct jfr_constant *jfr_reader_constant(const struct jfr_reader *reader,
                                               const struct jfr_reader_type *type, uint64_t key)
{
    if (reader->constant_slots == 0)
        return NULL;

    const struct jfr_constant *constant = &reader->constants[jfr_constant_slot(reader, type, key)];
    return constant->type == NULL ? NULL : constant;
}

static bool jfr_constants_grow(struct jfr_reader *reader, struct jw_error *err)
{
    const uint32_t old_slots = reader->constant_slots;
    const uint32_t slots = old_slots == 0 ? JFR_CONSTANT_SLOTS_FIRST : old_slots * 2;
    struct jfr_constant *old = reader->constants;
    struct jfr_constant *grown = NULL;

    if (reader->constant_count < JFR_READER_MAX_CONSTANTS)
        grown = jw_alloc(jw_mul_bytes(slots, sizeof *grown));
    if (grown == NULL) {
        jw_error_set(err, "%s: too many constants for the memory there is: %u so far in one chunk",
                     reader->path, reader->constant_count);
        return false;
    }
    reader->constants = grown;
    reader->constant_slots = slots;
    for (uint32_t i = 0; i < old_slots; i++) {
        if (old[i].type != NULL)
            grown[jfr_constant_slot(reader, old[i].type, old[i].key)] = old[i];
    }
    jw_free(old);
    return true;
}

/* The entry met first is kept: the walk goes from the latest checkpoint to the earliest. */
static bool jfr_constant_add(struct jfr_reader *reader, const struct jfr_constant *constant,
                             struct jw_error *err)
{
    if (reader->constant_count >= reader->constant_slots / 4 * 3 &&
        !jfr_constants_grow(reader, err))
        return false;

    struct jfr_constant *slot =
        &reader->constants[jfr_constant_slot(reader, constant->type, constant->key)];
    if (slot->type == NULL) {
        *slot = *constant;
        reader->constant_count++;
    }
    return true;
}

/* One pool: its type, its count, then key and value as often. */
static bool jfr_reader_read_pool(struct jfr_reader *reader, struct jfr_cursor *cursor,
                                 uint64_t offset, struct jw_error *err)
{
    const uint64_t type_id = jfr_cursor_varint(cursor);
    const uint64_t count = jfr_cursor_varint(cursor);
    const struct jfr_reader_type *type = jfr_reader_type_of(reader, type_id);

    if (cursor->is_cut || type == NULL || type->kind == JFR_KIND_EMPTY)
        return jfr_reader_damaged(reader, offset, err, "a constant pool of unknown type");
    for (uint64_t i = 0; i < count; i++) {
        struct jfr_constant constant = {.type = type, .key = jfr_cursor_varint(cursor)};

        constant.bytes = cursor->at;
        jfr_cursor_skip_value(cursor, type);
        constant.end = cursor->at;
        if (cursor->is_cut) /* at the latest when the bytes are used up, whatever `count` says */
            return jfr_reader_damaged(reader, offset, err, "a constant pool longer than its event");
        if (!jfr_constant_add(reader, &constant, err))
            return false;
    }
    return true;
}

bool jfr_reader_load_pools(struct jfr_reader *reader, uint64_t offset, struct jw_error *err)
{
    uint64_t next_begin = reader->chunk.size_bytes;

    for (;;) {
        const uint64_t at = reader->chunk.offset_bytes + offset;
        const uint64_t room_bytes = JFR_READER_MAX_POOL_BYTES - reader->pool_bytes;
        const uint64_t before_next_bytes = next_begin - offset;
        struct jfr_cursor cursor;

        if (!jfr_reader_load(
                reader, offset, 1, before_next_bytes < room_bytes ? before_next_bytes : room_bytes,
                "no checkpoint where one is named, or more than 1 GiB of constants", &cursor, err))
            return false;
        reader->pool_bytes += jfr_cursor_left(&cursor);

        jfr_cursor_varint(&cursor); /* start */
        jfr_cursor_varint(&cursor); /* duration */
        const uint64_t delta = jfr_cursor_varint(&cursor);
        jfr_cursor_byte(&cursor); /* mask */
        const uint64_t pool_count = jfr_cursor_varint(&cursor);
        for (uint64_t i = 0; i < pool_count; i++) {
            if (!jfr_reader_read_pool(reader, &cursor, at, err))
                return false;
        }
        if (cursor.is_cut)
            return jfr_reader_damaged(reader, at, err, "a checkpoint that is cut");
        if (delta == 0)
            return true;

        /* Deltas lead backwards: negative numbers. */
        const uint64_t back_bytes = -delta;
        if (back_bytes > offset || offset - back_bytes < JFR_READER_HEADER_BYTES)
            return jfr_reader_damaged(reader, at, err, "a chain of checkpoints that leads nowhere");
        next_begin = offset;
        offset -= back_bytes;
    }
}
