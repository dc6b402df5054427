/* Header, padding and checkpoints; dump and tool. The metadata event has a file of its own. */
#include "jfr/jfr_writer.h"

#include <string.h>

#define MAJOR_VERSION            2
#define MINOR_VERSION            1 /* as JDK 17 and 25 write */
#define FLAG_COMPRESSED_INTEGERS 1u
#define FLAG_FINAL_CHUNK         2u

static void store_be64(unsigned char *out, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (56 - 8 * i));
}

/*
 *   0 magic   4 version   8 size   16 last checkpoint   24 metadata   32 start, wall   40 duration
 *  48 start, ticks   56 ticks per second   64 state   65 zero   67 flags
 */
void jfr_store_header(unsigned char out[JFR_HEADER_BYTES], const struct jfr_chunk_header *header)
{
    memset(out, 0, JFR_HEADER_BYTES);
    memcpy(out, "FLR", 4);
    out[5] = MAJOR_VERSION;
    out[7] = MINOR_VERSION;
    store_be64(out + 8, header->size_bytes);
    store_be64(out + 16, header->checkpoint_offset);
    store_be64(out + 24, JFR_METADATA_OFFSET);
    store_be64(out + 32, header->start_wall_ns);
    store_be64(out + 40, header->duration_ns);
    store_be64(out + 48, header->start_ticks);
    store_be64(out + 56,
               header->ticks_per_second == 0 ? JFR_TICKS_PER_SECOND : header->ticks_per_second);
    out[67] = (unsigned char)(FLAG_COMPRESSED_INTEGERS | (header->is_final ? FLAG_FINAL_CHUNK : 0));
}

void jfr_store_padding(unsigned char out[JFR_PADDING_MIN_BYTES], uint64_t size_bytes)
{
    /* type, start, duration, delta, mask, count of pools */
    memset(out, 0, JFR_PADDING_MIN_BYTES);
    jfr_store_padding_size(out, size_bytes);
    out[JFR_PADDING_SIZE_BYTES] = JFR_TYPE_CHECKPOINT_EVENT;
}

void jfr_store_padding_size(unsigned char out[JFR_PADDING_SIZE_BYTES], uint64_t size_bytes)
{
    jfr_store_padded_varint(out, size_bytes, JFR_PADDING_SIZE_BYTES);
}

void jfr_pools_close(struct jfr_pools *pools)
{
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++) {
        jfr_buffer_close(&pools->constants[i]);
        pools->counts[i] = 0;
    }
}

void jfr_pools_clear(struct jfr_pools *pools)
{
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++) {
        jfr_buffer_clear(&pools->constants[i]);
        pools->counts[i] = 0;
    }
}

bool jfr_pools_are_empty(const struct jfr_pools *pools)
{
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        if (pools->counts[i] != 0)
            return false;
    return true;
}

size_t jfr_pools_bytes(const struct jfr_pools *pools)
{
    size_t total_bytes = 0;

    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        total_bytes += pools->constants[i].used_bytes;
    return total_bytes;
}

struct jfr_buffer *jfr_pool_put(struct jfr_pools *pools, enum jfr_type type, uint64_t key)
{
    pools->counts[type]++;
    jfr_put_varint(&pools->constants[type], key);
    return &pools->constants[type];
}

void jfr_put_checkpoint(struct jfr_buffer *buffer, struct jfr_pools *pools, uint64_t now_ticks,
                        uint64_t previous_delta_bytes)
{
    uint64_t pool_count = 0;

    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++)
        pool_count += pools->counts[i] != 0;

    const size_t begin = jfr_event_begin(buffer, JFR_TYPE_CHECKPOINT_EVENT);
    jfr_put_varint(buffer, now_ticks);
    jfr_put_varint(buffer, 0); /* duration */
    jfr_put_long(buffer, -(int64_t)previous_delta_bytes);
    jfr_put_u8(buffer, 0); /* mask: a plain checkpoint */
    jfr_put_varint(buffer, pool_count);
    for (size_t i = 0; i < JFR_TYPE_LIMIT; i++) {
        const struct jfr_buffer *constants = &pools->constants[i];

        if (pools->counts[i] == 0)
            continue; /* JDK readers throw on an empty pool */
        jfr_put_varint(buffer, i);
        jfr_put_varint(buffer, pools->counts[i]);
        jfr_put_bytes(buffer, constants->bytes, constants->used_bytes);
        if (constants->has_failed)
            buffer->has_failed = true;
    }
    jfr_event_end(buffer, begin);
    jfr_pools_clear(pools);
}
