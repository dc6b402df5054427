/*
 * Recordings packed with zstd: a chunk at a time is unpacked into memory. Context: tool, dump.
 *
 * What a frame of a few bytes becomes may be terabytes: no more is unpacked than the chunk under way
 * says that it holds, JFR_PACKED_MAX_CHUNK_BYTES at most, and memory grows with what came. The checksum of a
 * frame is looked at as soon as its last byte is unpacked, that is before the events of its chunk are seen.
 *
 * Source: RFC 8878, 3.1 (magic numbers); zstd.h 1.5.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jfr/jfr_packed.h"
#include "jfr/jfr_reader_internal.h"
#include "jfr/jfr_zstd_internal.h"

#define IN_BYTES    ((size_t)128 << 10)
#define FIRST_BYTES ((size_t)1 << 20)
#define SIZE_AT     8 /* of a chunk, in its header */
#define MAGIC_BYTES 4
#define GAP_KIND    0x0fu /* the low bits of the first byte of a frame that is skipped */
#define MAX_IDLE    4     /* calls that neither take nor give */

bool jfr_is_packed(const unsigned char *magic)
{
    static const unsigned char frame[MAGIC_BYTES] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char gap[MAGIC_BYTES] = {0x50, 0x2a, 0x4d, 0x18};

    return memcmp(magic, frame, sizeof frame) == 0 ||
           ((magic[0] & ~GAP_KIND) == gap[0] && memcmp(magic + 1, gap + 1, sizeof gap - 1) == 0);
}

#if JFR_HAS_ZSTD
struct jfr_unpacker {
    ZSTD_DCtx *context;
    unsigned char in[IN_BYTES];
    size_t in_at;
    size_t in_used_bytes;
    uint64_t in_offset;   /* in the packed file: behind what was read */
    unsigned char *bytes; /* unpacked, from `offset` of the recording on */
    uint64_t offset;
    size_t used_bytes;
    size_t capacity_bytes;
    bool is_at_end;                        /* of the packed file */
    bool is_in_frame;                      /* whose end is yet to come */
    uint64_t chunk_in_begin, chunk_in_end; /* of the chunk, in the packed file: for progress */
};

struct jfr_unpacker *jfr_unpacker_open(const char *path, struct jw_error *err)
{
    if (!jfr_can_pack()) {
        jw_error_set(err, "%s: is packed with zstd; " JFR_ZSTD_MISSING, path);
        return NULL;
    }

    struct jfr_unpacker *unpacker = jw_alloc(sizeof *unpacker);
    if (unpacker != NULL)
        unpacker->context = ZSTD_createDCtx_advanced(jfr_zstd_memory);
    if (unpacker != NULL && unpacker->context != NULL)
        return unpacker;
    jfr_unpacker_close(unpacker);
    jw_error_set(err, "%s: out of memory; free some and try again", path);
    return NULL;
}

void jfr_unpacker_close(struct jfr_unpacker *unpacker)
{
    if (unpacker == NULL)
        return;
    if (unpacker->context != NULL)
        ZSTD_freeDCtx(unpacker->context);
    jw_free(unpacker->bytes);
    jw_free(unpacker);
}

static bool no_memory(const struct jfr_reader *reader, struct jw_error *err)
{
    jw_error_set(
        err,
        "%s: out of memory for an unpacked chunk; free some, or unpack the file first: zstd -d",
        reader->path);
    return false;
}

/* Room for bytes up to `wanted_bytes`; grows with what there is already, and not by what a header says. */
static bool make_room(const struct jfr_reader *reader, size_t wanted_bytes, struct jw_error *err)
{
    struct jfr_unpacker *unpacker = reader->unpacker;
    size_t capacity_bytes =
        unpacker->capacity_bytes < FIRST_BYTES ? FIRST_BYTES : unpacker->capacity_bytes * 2;

    if (unpacker->used_bytes < unpacker->capacity_bytes)
        return true;
    if (unpacker->capacity_bytes >= FIRST_BYTES && capacity_bytes > wanted_bytes)
        capacity_bytes = wanted_bytes;

    unsigned char *grown = jw_realloc(unpacker->bytes, capacity_bytes);
    if (grown == NULL)
        return no_memory(reader, err);
    unpacker->bytes = grown;
    unpacker->capacity_bytes = capacity_bytes;
    return true;
}

/* Reads on in the packed file when all that was read is used; at its end sets `is_at_end`. */
static bool read_on(const struct jfr_reader *reader, struct jw_error *err)
{
    struct jfr_unpacker *unpacker = reader->unpacker;
    ssize_t got;

    if (unpacker->in_at < unpacker->in_used_bytes || unpacker->is_at_end)
        return true;
    do
        got = pread(reader->fd, unpacker->in, sizeof unpacker->in, (off_t)unpacker->in_offset);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        jw_error_set(err, "%s: cannot be read at byte %" PRIu64 ": %s", reader->path,
                     unpacker->in_offset, strerror(errno));
        return false;
    }
    unpacker->in_at = 0;
    unpacker->in_used_bytes = (size_t)got;
    unpacker->in_offset += (uint64_t)got;
    unpacker->is_at_end = got == 0;
    return true;
}

static uint64_t in_position(const struct jfr_unpacker *unpacker)
{
    return unpacker->in_offset - (unpacker->in_used_bytes - unpacker->in_at);
}

/* Unpacks until `used_bytes` are there, and on through ends of frames that bring no more bytes; or to the
 * end of the file. */
static bool fill(const struct jfr_reader *reader, size_t used_bytes, struct jw_error *err)
{
    struct jfr_unpacker *unpacker = reader->unpacker;
    unsigned idle = 0;

    while (unpacker->used_bytes < used_bytes || unpacker->is_in_frame) {
        if (!read_on(reader, err) ||
            (unpacker->used_bytes < used_bytes && !make_room(reader, used_bytes, err)))
            return false;

        const size_t end_bytes =
            used_bytes < unpacker->capacity_bytes ? used_bytes : unpacker->capacity_bytes;
        ZSTD_inBuffer in = {unpacker->in, unpacker->in_used_bytes, unpacker->in_at};
        ZSTD_outBuffer out = {unpacker->bytes, end_bytes, unpacker->used_bytes};
        const size_t left = ZSTD_decompressStream(unpacker->context, &out, &in);

        if (ZSTD_isError(left)) {
            jw_error_set(
                err,
                "%s: damaged near byte %" PRIu64
                ": it cannot be unpacked (zstd: %s); copy it again from where it was made, or "
                "try 'jaywalk recover'",
                reader->path, in_position(unpacker), ZSTD_getErrorName(left));
            return false;
        }
        const bool is_idle = in.pos == unpacker->in_at && out.pos == unpacker->used_bytes;
        idle = is_idle ? idle + 1 : 0;
        unpacker->in_at = in.pos;
        unpacker->used_bytes = out.pos;
        if (!is_idle) /* between two frames it wants the next one, without being in it */
            unpacker->is_in_frame = left != 0;
        if (is_idle && (unpacker->is_at_end || out.pos == used_bytes || idle == MAX_IDLE))
            break;
    }
    return true;
}

bool jfr_unpacker_chunk(struct jfr_reader *reader, uint64_t offset, struct jw_error *err)
{
    struct jfr_unpacker *unpacker = reader->unpacker;
    const size_t past_bytes = (size_t)(offset - unpacker->offset);

    if (past_bytes > 0) {
        memmove(unpacker->bytes, unpacker->bytes + past_bytes, unpacker->used_bytes - past_bytes);
        unpacker->used_bytes -= past_bytes;
    }
    unpacker->offset = offset;
    unpacker->chunk_in_begin = unpacker->chunk_in_end;

    /* The frame of the last chunk may be without its end, where its writer is at work or was killed. */
    const bool was_in_frame = unpacker->is_in_frame;
    if (!fill(reader, JFR_READER_HEADER_BYTES, err))
        return false;
    reader->size_bytes = offset + unpacker->used_bytes;
    if (unpacker->used_bytes == 0 && unpacker->is_in_frame && !was_in_frame && offset > 0)
        snprintf(reader->notice, sizeof reader->notice,
                 "%s: ends within a frame of zstd; what was in it is left out", reader->path);
    if (unpacker->used_bytes < JFR_READER_HEADER_BYTES || !jfr_reader_is_chunk(unpacker->bytes))
        return true;

    const uint64_t size_bytes = jfr_big_endian(unpacker->bytes + SIZE_AT, 8);
    if (size_bytes > JFR_PACKED_MAX_CHUNK_BYTES) {
        jw_error_set(err,
                     "%s: the chunk at byte %" PRIu64 " of what is packed says that it has %" PRIu64
                     " bytes; chunks of more than 512 MiB are read from plain files alone: zstd -d",
                     reader->path, offset, size_bytes);
        return false;
    }
    if (size_bytes > JFR_READER_HEADER_BYTES && !fill(reader, (size_t)size_bytes, err))
        return false;
    reader->size_bytes = offset + unpacker->used_bytes;
    unpacker->chunk_in_end = in_position(unpacker);
    return true;
}

bool jfr_unpacker_more(struct jfr_reader *reader, size_t count_bytes, struct jw_error *err)
{
    const bool is_filled = fill(reader, count_bytes, err);

    reader->size_bytes = jfr_unpacker_end(reader);
    return is_filled;
}

const unsigned char *jfr_unpacker_see(const struct jfr_reader *reader, uint64_t offset,
                                      size_t count_bytes)
{
    const struct jfr_unpacker *unpacker = reader->unpacker;

    if (offset < unpacker->offset || offset - unpacker->offset > unpacker->used_bytes ||
        count_bytes > unpacker->used_bytes - (size_t)(offset - unpacker->offset))
        return NULL;
    return unpacker->bytes + (offset - unpacker->offset);
}

const unsigned char *jfr_reader_see_packed(const struct jfr_reader *reader, uint64_t offset,
                                           size_t count_bytes)
{
    const struct jfr_reader_chunk *chunk = &reader->chunk;

    if (!reader->is_shared)
        return jfr_unpacker_see(reader, offset, count_bytes);
    if (offset < chunk->offset_bytes || offset - chunk->offset_bytes > chunk->size_bytes ||
        count_bytes > chunk->size_bytes - (offset - chunk->offset_bytes))
        return NULL;
    return reader->taken + (offset - chunk->offset_bytes);
}

uint64_t jfr_unpacker_in_bytes(const struct jfr_reader *reader)
{
    return reader->unpacker == NULL ? 0 : in_position(reader->unpacker);
}

uint64_t jfr_unpacker_end(const struct jfr_reader *reader)
{
    return reader->unpacker->offset + reader->unpacker->used_bytes;
}

uint64_t jfr_unpacker_position(const struct jfr_reader *reader, uint64_t offset)
{
    const struct jfr_unpacker *unpacker = reader->unpacker;
    const double share = unpacker->used_bytes == 0 || offset < unpacker->offset
                             ? 0
                             : (double)(offset - unpacker->offset) / (double)unpacker->used_bytes;

    return unpacker->chunk_in_begin +
           (uint64_t)((double)(unpacker->chunk_in_end - unpacker->chunk_in_begin) *
                      (share > 1 ? 1 : share));
}
#else
struct jfr_unpacker *jfr_unpacker_open(const char *path, struct jw_error *err)
{
    jw_error_set(err, "%s: is packed with zstd; " JFR_ZSTD_MISSING, path);
    return NULL;
}

void jfr_unpacker_close(struct jfr_unpacker *unpacker)
{
    (void)unpacker;
}

bool jfr_unpacker_chunk(struct jfr_reader *reader, uint64_t offset, struct jw_error *err)
{
    (void)offset;
    jw_error_set(err, "%s: is packed with zstd; " JFR_ZSTD_MISSING, reader->path);
    return false;
}

bool jfr_unpacker_more(struct jfr_reader *reader, size_t count_bytes, struct jw_error *err)
{
    (void)count_bytes;
    jw_error_set(err, "%s: is packed with zstd; " JFR_ZSTD_MISSING, reader->path);
    return false;
}

const unsigned char *jfr_unpacker_see(const struct jfr_reader *reader, uint64_t offset,
                                      size_t count_bytes)
{
    (void)reader;
    (void)offset;
    (void)count_bytes;
    return NULL;
}

const unsigned char *jfr_reader_see_packed(const struct jfr_reader *reader, uint64_t offset,
                                           size_t count_bytes)
{
    return jfr_unpacker_see(reader, offset, count_bytes);
}

uint64_t jfr_unpacker_in_bytes(const struct jfr_reader *reader)
{
    (void)reader;
    return 0;
}

uint64_t jfr_unpacker_end(const struct jfr_reader *reader)
{
    (void)reader;
    return 0;
}

uint64_t jfr_unpacker_position(const struct jfr_reader *reader, uint64_t offset)
{
    (void)reader;
    return offset;
}
#endif
