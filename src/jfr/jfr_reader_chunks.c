/*
 * Chunks of a recording: their headers, and who of several readers takes which. Context: tool, dump.
 *
 * Readers of one file take its chunks in turn, under the lock of the one that opened it; what they then do with a chunk
 * concerns no other.
 *
 * Source: OpenJDK 17 and 25, jdk.jfr.internal.consumer (ChunkHeader): layout of the 68 bytes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "jfr/jfr_reader_internal.h"

/* Offsets in the chunk header. */
#define JFR_HEADER_MAJOR            4
#define JFR_HEADER_MINOR            6
#define JFR_HEADER_SIZE             8
#define JFR_HEADER_CHECKPOINT       16
#define JFR_HEADER_METADATA         24
#define JFR_HEADER_START_NS         32
#define JFR_HEADER_DURATION_NS      40
#define JFR_HEADER_START_TICKS      48
#define JFR_HEADER_TICKS_PER_SECOND 56
#define JFR_HEADER_STATE            64
#define JFR_HEADER_FLAGS            67

static bool read_header(const struct jfr_reader *lead, uint64_t offset,
                        unsigned char header[JFR_READER_HEADER_BYTES])
{
    if (lead->unpacker == NULL)
        return jfr_reader_read_file(lead, offset, header, JFR_READER_HEADER_BYTES, NULL);

    const unsigned char *from = jfr_unpacker_see(lead, offset, JFR_READER_HEADER_BYTES);
    if (from != NULL)
        memcpy(header, from, JFR_READER_HEADER_BYTES);
    return from != NULL;
}

/*
 * What is wrong with the chunk at `reader->next_chunk` as a whole, or NULL. Such a chunk is one
 * that its writer did not finish, or the place where a copy was cut.
 */
static const char *jfr_reader_read_header(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                                          uint64_t *metadata, uint64_t *checkpoint)
{
    const uint64_t offset = reader->next_chunk;
    const uint64_t left_bytes = reader->size_bytes - offset;
    unsigned char header[JFR_READER_HEADER_BYTES];

    if (left_bytes < sizeof header)
        return "its header is cut";
    if (!read_header(reader, offset, header))
        return "its header cannot be read";
    if (!jfr_reader_is_chunk(header))
        return "what stands there is no chunk";
    if (header[JFR_HEADER_MAJOR] != 0 ||
        (header[JFR_HEADER_MAJOR + 1] != 1 && header[JFR_HEADER_MAJOR + 1] != 2))
        return "its format is not version 2 (recordings of Oracle JDK 7 and 8 are older)";

    *chunk = (struct jfr_reader_chunk){
        .number = reader->next_number,
        .offset_bytes = offset,
        .size_bytes = jfr_big_endian(header + JFR_HEADER_SIZE, 8),
        .start_unix_ns = jfr_big_endian(header + JFR_HEADER_START_NS, 8),
        .duration_ns = jfr_big_endian(header + JFR_HEADER_DURATION_NS, 8),
        .start_ticks = (int64_t)jfr_big_endian(header + JFR_HEADER_START_TICKS, 8),
        .ticks_per_second = (int64_t)jfr_big_endian(header + JFR_HEADER_TICKS_PER_SECOND, 8),
        .is_finished = header[JFR_HEADER_STATE] == 0,
        .is_final = (header[JFR_HEADER_FLAGS] & 2) != 0,
    };
    *metadata = jfr_big_endian(header + JFR_HEADER_METADATA, 8);
    *checkpoint = jfr_big_endian(header + JFR_HEADER_CHECKPOINT, 8);

    const uint64_t size_bytes = chunk->size_bytes;
    if (size_bytes > left_bytes)
        return "it is longer than the rest of the file";
    if (size_bytes <= JFR_READER_HEADER_BYTES || *metadata == 0)
        return "its writer has not finished it";
    if ((header[JFR_HEADER_FLAGS] & 1) == 0)
        return "it does not use compressed integers, which no JDK since 9 writes";
    if (*metadata < JFR_READER_HEADER_BYTES || *metadata >= size_bytes)
        return "its metadata lies outside";
    if (*checkpoint != 0 && (*checkpoint < JFR_READER_HEADER_BYTES || *checkpoint >= size_bytes))
        return "its constant pools lie outside";
    return NULL;
}

/* The chunk at `next_chunk` is not usable, and so nothing behind it. */
static void jfr_reader_leave_out(struct jfr_reader *reader, const char *reason)
{
    const uint64_t offset = reader->next_chunk;

    reader->is_stopped = true;
    if (reader->unpacker == NULL)
        snprintf(reader->notice, sizeof reader->notice,
                 "%s: the last %" PRIu64 " of %" PRIu64 " bytes are left out: the chunk at byte "
                 "%" PRIu64 " is not complete, %s",
                 reader->path, reader->size_bytes - offset, reader->size_bytes, offset, reason);
    else
        snprintf(reader->notice, sizeof reader->notice,
                 "%s: what is packed behind the first %" PRIu64
                 " bytes is left out: the chunk there is "
                 "not complete, %s",
                 reader->path, offset, reason);
}

/* Takes the next chunk of the file, of which the header alone is read. `lead` is the one that opened it, and locked. */
static bool take_chunk(struct jfr_reader *lead, struct jfr_reader_chunk *chunk, uint64_t *metadata,
                       uint64_t *checkpoint, struct jw_error *err)
{
    const uint64_t offset = lead->next_chunk;

    if (lead->is_stopped)
        return false;
    if (lead->unpacker != NULL && !jfr_unpacker_chunk(lead, offset, err)) {
        lead->is_stopped = true;
        return false;
    }
    if (offset >= lead->size_bytes && (offset > 0 || lead->unpacker == NULL))
        return false;

    const char *reason = jfr_reader_read_header(lead, chunk, metadata, checkpoint);
    if (reason != NULL && offset == 0) {
        lead->is_stopped = true;
        jw_error_set(
            err,
            "%s: holds no complete chunk: the one at byte 0 cannot be used, %s; if it is "
            "still being written, stop or dump the recording first; if it was cut, 'jaywalk "
            "recover' keeps what it still holds",
            lead->path, reason);
        return false;
    }
    if (reason != NULL) {
        jfr_reader_leave_out(lead, reason);
        return false;
    }

    lead->next_chunk = offset + chunk->size_bytes;
    return true;
}

/* Bytes of a packed chunk into memory of this reader's own: the next one to be unpacked takes the place where they lie. */
static bool keep_packed(struct jfr_reader *reader, const struct jfr_reader *lead,
                        struct jw_error *err)
{
    const size_t size_bytes = (size_t)reader->chunk.size_bytes;
    const unsigned char *from = jfr_unpacker_see(lead, reader->chunk.offset_bytes, size_bytes);

    if (from == NULL)
        return jfr_reader_damaged(reader, reader->chunk.offset_bytes, err,
                                  "less is packed than its chunk says");
    if (reader->taken_capacity_bytes < size_bytes) {
        jw_free(reader->taken);
        reader->taken_capacity_bytes = 0;
        reader->taken = jw_alloc(size_bytes);
        if (reader->taken == NULL) {
            jw_error_set(err,
                         "%s: out of memory for an unpacked chunk of %zu bytes; free some, or take "
                         "fewer --jobs",
                         reader->path, size_bytes);
            return false;
        }
        reader->taken_capacity_bytes = size_bytes;
    }
    memcpy(reader->taken, from, size_bytes);
    return true;
}

/* Goes to the next chunk that no other reader of this file took. */
static bool jfr_reader_advance(struct jfr_reader *reader, uint64_t *metadata, uint64_t *checkpoint,
                               struct jw_error *err)
{
    struct jfr_reader *lead = reader->lead == NULL ? reader : reader->lead;
    struct jfr_reader_chunk chunk = {.number = 0};

    if (reader->is_shared)
        jw_add_relaxed(&lead->done_bytes, reader->in_file_bytes);
    reader->in_file_bytes = 0;
    jfr_reader_forget_chunk(reader);

    pthread_mutex_lock(&lead->lock);
    const uint64_t before_bytes = jfr_unpacker_in_bytes(lead);
    bool is_taken = take_chunk(lead, &chunk, metadata, checkpoint, err);
    reader->chunk = chunk;
    reader->chunk.number = lead->next_number;
    lead->next_number += is_taken;
    if (is_taken && reader->is_shared && lead->unpacker != NULL &&
        !keep_packed(reader, lead, err)) {
        lead->is_stopped = true;
        is_taken = false;
    }
    if (is_taken)
        reader->in_file_bytes =
            lead->unpacker == NULL ? chunk.size_bytes : jfr_unpacker_in_bytes(lead) - before_bytes;
    reader->in_file_end = jfr_unpacker_in_bytes(lead);
    pthread_mutex_unlock(&lead->lock);
    return is_taken;
}

void jfr_reader_end(struct jfr_reader *reader)
{
    struct jfr_reader *lead = reader->lead == NULL ? reader : reader->lead;

    pthread_mutex_lock(&lead->lock);
    lead->is_stopped = true;
    pthread_mutex_unlock(&lead->lock);
}

uint64_t jfr_reader_chunk_number(const struct jfr_reader *reader)
{
    return reader->chunk.number;
}

bool jfr_reader_next_types(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                           struct jw_error *err)
{
    uint64_t metadata;

    if (!jfr_reader_advance(reader, &metadata, &reader->checkpoint, err))
        return false;
    if (!jfr_reader_load_metadata(reader, metadata, err)) {
        jfr_reader_forget_chunk(reader);
        jfr_reader_end(reader);
        return false;
    }
    *chunk = reader->chunk;
    return true;
}

bool jfr_reader_begin_events(struct jfr_reader *reader, struct jw_error *err)
{
    if (reader->checkpoint != 0 && !jfr_reader_load_pools(reader, reader->checkpoint, err)) {
        jfr_reader_forget_chunk(reader);
        jfr_reader_end(reader);
        return false;
    }
    reader->next_event = reader->chunk.offset_bytes + JFR_READER_HEADER_BYTES;
    reader->end_of_events = reader->chunk.offset_bytes + reader->chunk.size_bytes;
    return true;
}

bool jfr_reader_next_chunk(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                           struct jw_error *err)
{
    return jfr_reader_next_types(reader, chunk, err) && jfr_reader_begin_events(reader, err);
}

bool jfr_reader_next_whole(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                           struct jw_error *err)
{
    uint64_t metadata;
    uint64_t checkpoint;

    if (!jfr_reader_advance(reader, &metadata, &checkpoint, err))
        return false;
    *chunk = reader->chunk;
    return true;
}
