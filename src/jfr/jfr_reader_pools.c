/*
 * Constant pools of a chunk: the chain of checkpoints, found by its last one. Context: tool, dump.
 *
 * Checkpoints are kept as they are, and entries decoded where they are used; a table says where
 * each begins. Each link of the chain must lead to an earlier checkpoint that ends before this one
 * begins: so the walk ends, and no byte is kept twice.
 */
#include <string.h>

#include "base/hash.h"
#include "jfr/jfr_reader_internal.h"

#define JFR_CONSTANTS_FIRST   1024u
#define JFR_DIRECT_KEYS_FIRST 64u
#define JFR_DIRECT_KEYS_LIMIT (1u << 20)

static uint32_t jfr_constant_hash(const struct jfr_reader_type *type, uint64_t key)
{
    return (uint32_t)jw_hash_word(key * 31 + (uint64_t)type->id);
}

/* The slot of this constant, or the one where it would stand. */
static struct jfr_constant_slot *jfr_constant_slot(const struct jfr_reader *reader, uint32_t hash,
                                                   const struct jfr_reader_type *type, uint64_t key)
{
    const uint32_t mask = reader->slot_count - 1;

    for (uint32_t at = hash & mask;; at = (at + 1) & mask) { /* a half is free, at least */
        struct jfr_constant_slot *slot = &reader->slots[at];

        if (slot->number_plus_one == 0)
            return slot;
        if (slot->hash == hash) {
            const struct jfr_constant *constant = &reader->constants[slot->number_plus_one - 1];

            if (constant->key == key && constant->type == type)
                return slot;
        }
    }
}

const struct jfr_constant *jfr_reader_constant(const struct jfr_reader *reader,
                                               const struct jfr_reader_type *type, uint64_t key)
{
    if (key < type->direct_count && type->direct[key] != 0)
        return &reader->constants[type->direct[key] - 1];
    if (reader->slotted_count == 0)
        return NULL;

    const struct jfr_constant_slot *slot =
        jfr_constant_slot(reader, jfr_constant_hash(type, key), type, key);
    return slot->number_plus_one == 0 ? NULL : &reader->constants[slot->number_plus_one - 1];
}

struct jfr_constants jfr_constants_of(const struct jfr_value *reference)
{
    return (struct jfr_constants){.reader = reference->reader, .type = reference->type};
}

bool jfr_constants_next(struct jfr_constants *constants, struct jfr_value *out, uint64_t *key)
{
    const struct jfr_reader *reader = constants->reader;

    while (constants->next < reader->constant_count) {
        const struct jfr_constant *constant = &reader->constants[constants->next++];

        if (constant->type != constants->type)
            continue;
        *out = (struct jfr_value){.reader = reader,
                                  .type = constant->type,
                                  .bytes = constant->bytes,
                                  .end = constant->end,
                                  .is_whole = true};
        *key = constant->key;
        return true;
    }
    return false;
}

static bool jfr_constants_grow(struct jfr_reader *reader, uint32_t capacity)
{
    const uint32_t slot_count = capacity * 2;
    struct jfr_constant *constants =
        jw_realloc(reader->constants, jw_mul_bytes(capacity, sizeof *constants));
    if (constants == NULL)
        return false;
    reader->constants = constants;
    reader->constant_capacity = capacity;

    struct jfr_constant_slot *slots = jw_alloc(jw_mul_bytes(slot_count, sizeof *slots));
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < reader->slot_count; i++) {
        uint32_t at = reader->slots[i].hash & (slot_count - 1);

        if (reader->slots[i].number_plus_one == 0)
            continue;
        while (slots[at].number_plus_one != 0)
            at = (at + 1) & (slot_count - 1);
        slots[at] = reader->slots[i];
    }
    jw_free(reader->slots);
    reader->slots = slots;
    reader->slot_count = slot_count;
    return true;
}

/* Room for so many more constants. */
static bool jfr_constants_reserve(struct jfr_reader *reader, uint64_t more, struct jw_error *err)
{
    const uint64_t wanted = reader->constant_count + more;
    uint64_t capacity =
        reader->constant_capacity == 0 ? JFR_CONSTANTS_FIRST : reader->constant_capacity;

    while (capacity < wanted && capacity <= JFR_READER_MAX_CONSTANTS)
        capacity *= 2;
    if (capacity > JFR_READER_MAX_CONSTANTS ||
        ((capacity > reader->constant_capacity || reader->slot_count < 2 * capacity) &&
         !jfr_constants_grow(reader, (uint32_t)capacity))) {
        jw_error_set(err, "%s: too many constants for the memory there is: %u so far in one chunk",
                     reader->path, reader->constant_count);
        return false;
    }
    return true;
}

/* So many are kept, and cleared for each chunk, however few of them are used. */
#define JFR_DIRECT_KEPT (1u << 17)

/* Keeps the places of a type for the next chunk, or frees them. */
static void jfr_direct_give(struct jfr_reader *reader, const struct jfr_reader_type *type)
{
    const bool is_kept =
        type->direct_count <= JFR_DIRECT_KEPT || type->direct_used >= type->direct_count / 16;

    for (size_t i = 0; i < JFR_DIRECT_SPARES && is_kept && type->direct != NULL; i++) {
        struct jfr_direct_spare *spare = &reader->direct_spares[i];

        if (spare->direct != NULL)
            continue;
        memset(type->direct, 0, type->direct_count * sizeof *type->direct);
        *spare = (struct jfr_direct_spare){type->id, type->direct, type->direct_count};
        return;
    }
    jw_free(type->direct);
}

/* The places that the type of this id had in a chunk before, if they are kept. */
static void jfr_direct_take(struct jfr_reader *reader, struct jfr_reader_type *type)
{
    for (size_t i = 0; i < JFR_DIRECT_SPARES; i++) {
        struct jfr_direct_spare *spare = &reader->direct_spares[i];

        if (spare->direct == NULL || spare->type_id != type->id ||
            reader->direct_total + spare->count > JFR_DIRECT_KEYS_LIMIT + reader->pool_bytes)
            continue;
        type->direct = spare->direct;
        type->direct_count = spare->count;
        reader->direct_total += spare->count;
        spare->direct = NULL;
        return;
    }
}

void jfr_reader_free_spares(struct jfr_reader *reader)
{
    for (size_t i = 0; i < JFR_SPARES; i++)
        jw_free(reader->spares[i]);
    for (size_t i = 0; i < JFR_DIRECT_SPARES; i++)
        jw_free(reader->direct_spares[i].direct);
}

void jfr_reader_forget_constants(struct jfr_reader *reader)
{
    /* What a large chunk took is not cleared for each small one after it. */
    if (reader->constant_count < reader->constant_capacity / 8) {
        jw_free(reader->constants);
        jw_free(reader->slots);
        reader->constants = NULL;
        reader->slots = NULL;
        reader->constant_capacity = reader->slot_count = 0;
    }
    if (reader->slots != NULL && reader->slotted_count > 0)
        memset(reader->slots, 0, reader->slot_count * sizeof *reader->slots);
    for (uint32_t i = 0; i < reader->type_count; i++)
        jfr_direct_give(reader, &reader->types[i]);
    reader->direct_total = 0;
    reader->constant_count = reader->slotted_count = 0;
    reader->pool_bytes = 0;
}

/*
 * Where a small key of this type stands; NULL: it stands in the slots. Recorders count their keys from 1 on. What
 * it takes is limited by what was read: a key costs the file few bytes.
 */
static uint32_t *jfr_constant_direct(struct jfr_reader *reader, struct jfr_reader_type *type,
                                     uint64_t key)
{
    if (type->direct_count == 0)
        jfr_direct_take(reader, type);
    if (key < type->direct_count)
        return &type->direct[key];
    if (key >= JFR_DIRECT_KEYS_LIMIT)
        return NULL;

    uint32_t count = type->direct_count == 0 ? JFR_DIRECT_KEYS_FIRST : type->direct_count;
    while (count <= key)
        count *= 2;
    if (reader->direct_total + count > JFR_DIRECT_KEYS_LIMIT + reader->pool_bytes)
        return NULL;

    uint32_t *grown = jw_realloc(type->direct, jw_mul_bytes(count, sizeof *grown));
    if (grown == NULL) /* the slots may still do */
        return NULL;
    memset(grown + type->direct_count, 0, (count - type->direct_count) * sizeof *grown);
    reader->direct_total += count - type->direct_count;
    type->direct = grown;
    type->direct_count = count;
    return &type->direct[key];
}

/* The entry met first is kept: the walk goes from the latest checkpoint to the earliest. */
static bool jfr_constant_add(struct jfr_reader *reader, const struct jfr_constant *constant,
                             struct jw_error *err)
{
    if (jfr_reader_constant(reader, constant->type, constant->key) != NULL)
        return true;
    if ((reader->constant_count == reader->constant_capacity || reader->slots == NULL) &&
        !jfr_constants_reserve(reader, 1, err))
        return false;

    struct jfr_reader_type *type = &reader->types[constant->type - reader->types];
    uint32_t *direct = jfr_constant_direct(reader, type, constant->key);
    reader->constants[reader->constant_count++] = *constant;
    if (direct != NULL) {
        *direct = reader->constant_count;
        type->direct_used++;
        return true;
    }

    const uint32_t hash = jfr_constant_hash(constant->type, constant->key);
    *jfr_constant_slot(reader, hash, constant->type, constant->key) =
        (struct jfr_constant_slot){hash, reader->constant_count};
    reader->slotted_count++;
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
    /* Room for all at once, if that many can be there. */
    if (count <= jfr_cursor_left(cursor) / 8 &&
        count < JFR_READER_MAX_CONSTANTS - reader->constant_count &&
        !jfr_constants_reserve(reader, count, err))
        return false;
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

static unsigned varint_bytes(uint64_t value)
{
    unsigned count = 1;

    while (value > 0x7f && count < JFR_VARINT_BYTES) {
        value >>= 7;
        count++;
    }
    return count;
}

size_t jfr_reader_pools(const struct jfr_reader *reader, struct jfr_pool *pools, size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < reader->type_count && i < capacity; i++)
        pools[i] = (struct jfr_pool){.type_name = reader->types[i].name};
    for (uint32_t i = 0; i < reader->constant_count; i++) {
        const struct jfr_constant *constant = &reader->constants[i];
        const size_t at = (size_t)(constant->type - reader->types);

        if (at >= capacity)
            continue;
        pools[at].count++;
        pools[at].bytes +=
            varint_bytes(constant->key) + (uint64_t)(constant->end - constant->bytes);
    }
    for (size_t i = 0; i < reader->type_count && i < capacity; i++)
        if (pools[i].count > 0)
            pools[count++] = pools[i];
    return count;
}
