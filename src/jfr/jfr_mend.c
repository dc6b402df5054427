/*
 * Chunks of cut and damaged recordings. Context: tool.
 *
 * Source: OpenJDK 17 and 25, jdk.jfr.internal.consumer (ChunkHeader, ChunkParser): 68 bytes of header; events
 * by size; a chain of checkpoints, each of which tells how far back the one before it lies.
 */
#include "jfr/jfr_mend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/jfr_reader_internal.h"

#define MAX_CHUNK_BYTES     ((uint64_t)INT32_MAX)
#define MAX_TRIES           16 /* of one chunk, each with less of it */
#define PIECE_BYTES         ((size_t)1 << 20)
#define STATE_AT            64
#define FLAGS_AT            67
#define SIZE_AT             8
#define CHECKPOINT_AT       16
#define METADATA_AT         24
#define START_AT            32
#define DURATION_AT         40
#define START_TICKS_AT      48
#define TICKS_PER_SECOND_AT 56

enum { TYPE_METADATA = 0, TYPE_CHECKPOINT = 1 };

struct jfr_mender {
    struct jfr_reader *reader; /* open, never asked for chunks: it gives bytes */
    uint64_t at;
    unsigned char *bytes; /* of the chunk under way, then behind it metadata of the one before */
    size_t capacity_bytes;
    unsigned char *metadata; /* of the last whole chunk; NULL: none yet */
    size_t metadata_bytes;
    uint64_t
        start_ns; /* of the chunk before: what has the same is a copy of its header, which the JVM keeps in it */
    bool is_scanned; /* where this chunk begins was found by its first bytes alone */
    int scratch;     /* a file in memory, for the proof */
    char reason[160];
};

/* What a walk over the events of a chunk met. */
struct walk {
    size_t end_bytes;    /* of the last event that can be right */
    uint64_t metadata;   /* offset of the last one; 0: none */
    uint64_t checkpoint; /* offset of the last one that has constants; 0: none */
};

static void store(unsigned char *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> (56 - 8 * i));
}

struct jfr_mender *jfr_mender_open(const char *path, struct jw_error *err)
{
    struct jfr_mender *mender = jw_alloc(sizeof *mender);

    if (mender == NULL) {
        jw_error_set(err, "%s: out of memory; free some and try again", path);
        return NULL;
    }
    mender->reader = jfr_reader_open(path, err);
    mender->scratch = memfd_create("jaywalk-mend", MFD_CLOEXEC);
    if (mender->reader != NULL && mender->scratch >= 0)
        return mender;
    if (mender->reader != NULL)
        jw_error_set(err, "%s: no file in memory can be made; see ulimit -n", path);
    jfr_mender_close(mender);
    return NULL;
}

void jfr_mender_close(struct jfr_mender *mender)
{
    if (mender == NULL)
        return;
    jfr_reader_close(mender->reader);
    if (mender->scratch >= 0)
        close(mender->scratch);
    jw_free(mender->bytes);
    jw_free(mender->metadata);
    jw_free(mender);
}

/* ---- what lies where ---- */

static bool is_header(const unsigned char *bytes)
{
    return jfr_reader_is_chunk(bytes) && bytes[4] == 0 && (bytes[5] == 1 || bytes[5] == 2) &&
           (bytes[FLAGS_AT] & 1) != 0;
}

static bool is_header_at(const struct jfr_mender *mender, uint64_t at)
{
    unsigned char header[JFR_READER_HEADER_BYTES];

    return at + sizeof header <= mender->reader->size_bytes &&
           jfr_reader_read(mender->reader, at, header, sizeof header, NULL) && is_header(header);
}

/* Where the next header of a chunk is, from `at` on; the end of the file: nowhere. */
static bool find_header(struct jfr_mender *mender, uint64_t at, uint64_t *found,
                        struct jw_error *err)
{
    const uint64_t size_bytes = mender->reader->size_bytes;
    const uint64_t most_bytes = at < size_bytes ? size_bytes - at : 1;
    unsigned char *piece = jw_alloc(most_bytes < PIECE_BYTES ? (size_t)most_bytes : PIECE_BYTES);
    bool is_good = piece != NULL;

    *found = size_bytes;
    if (!is_good)
        jw_error_set(err, "out of memory; free some and try again");
    while (is_good && *found == size_bytes && at + JFR_READER_HEADER_BYTES < size_bytes) {
        const uint64_t left_bytes = size_bytes - at;
        const size_t piece_bytes = left_bytes < PIECE_BYTES ? (size_t)left_bytes : PIECE_BYTES;

        is_good = jfr_reader_read(mender->reader, at, piece, piece_bytes, err);
        for (size_t i = 0; is_good && i + JFR_READER_HEADER_BYTES <= piece_bytes; i++) {
            if (piece[i] == 'F' && is_header(piece + i) &&
                jfr_big_endian(piece + i + START_AT, 8) != mender->start_ns) {
                *found = at + i;
                break;
            }
        }
        at += piece_bytes - JFR_READER_HEADER_BYTES + 1;
    }
    jw_free(piece);
    return is_good;
}

/* How far the chunk at `at` goes: as its header says, where that can be; else `is_open`, to the end at most. */
static bool find_end(struct jfr_mender *mender, uint64_t at, uint64_t *end, bool *is_open,
                     struct jw_error *err)
{
    const uint64_t file_bytes = mender->reader->size_bytes;
    unsigned char size[8];

    if (!jfr_reader_read(mender->reader, at + SIZE_AT, size, sizeof size, err))
        return false;
    const uint64_t size_bytes = jfr_big_endian(size, sizeof size);
    const bool fits = size_bytes > JFR_READER_HEADER_BYTES && size_bytes <= file_bytes - at;

    if (fits && (at + size_bytes == file_bytes || is_header_at(mender, at + size_bytes))) {
        *end = at + size_bytes;
        return true;
    }
    *end = file_bytes;
    *is_open = true;
    return true;
}

/* ---- events ---- */

/* Constants of a checkpoint at these bytes: the padding of a recording that is written has none. */
static bool has_constants(struct jfr_cursor cursor)
{
    jfr_cursor_varint(&cursor); /* start */
    jfr_cursor_varint(&cursor); /* duration */
    jfr_cursor_varint(&cursor); /* delta */
    jfr_cursor_byte(&cursor);   /* mask */
    return jfr_cursor_varint(&cursor) > 0 && !cursor.is_cut;
}

static struct walk walk_events(const unsigned char *bytes, size_t size_bytes)
{
    struct walk walk = {.end_bytes = JFR_READER_HEADER_BYTES};

    while (walk.end_bytes < size_bytes) {
        const uint64_t at = walk.end_bytes;
        struct jfr_cursor cursor = {bytes + at, bytes + size_bytes, false};
        const uint64_t event_bytes = jfr_cursor_varint(&cursor);
        const uint64_t type = jfr_cursor_varint(&cursor);
        const uint64_t head_bytes = (uint64_t)(cursor.at - (bytes + at));

        if (cursor.is_cut || event_bytes < head_bytes || event_bytes > size_bytes - at)
            break;
        /* A header would pass as an event of 70 bytes. */
        if (size_bytes - at >= JFR_READER_HEADER_BYTES && is_header(bytes + at) &&
            memcmp(bytes + at + START_AT, bytes + START_AT, 8) != 0)
            break;
        cursor.end = bytes + at + event_bytes;
        if (type == TYPE_METADATA)
            walk.metadata = at;
        else if (type == TYPE_CHECKPOINT && has_constants(cursor))
            walk.checkpoint = at;
        walk.end_bytes += event_bytes;
    }
    return walk;
}

/* ---- proof ---- */

struct proof {
    uint64_t events;
    int64_t last_ticks; /* when the last of them began */
    uint64_t bad_at;    /* offset of what was refused; 0: not known */
    bool is_undecided;  /* for want of memory, say: nothing is told of the chunk */
};

/* Reads the chunk as everybody will; false, and `why`: it is not sound. */
static bool prove(struct jfr_mender *mender, size_t size_bytes, struct proof *proof,
                  struct jw_error *why)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    char path[64];

    *proof = (struct proof){.events = 0};
    snprintf(path, sizeof path, "/proc/self/fd/%d", mender->scratch);
    if (ftruncate(mender->scratch, 0) != 0) {
        proof->is_undecided = true;
        jw_error_set(why, "no memory to look at a mended chunk; free some and try again");
        return false;
    }
    for (size_t at = 0; at < size_bytes;) {
        const ssize_t done =
            pwrite(mender->scratch, mender->bytes + at, size_bytes - at, (off_t)at);

        if (done <= 0) {
            jw_error_set(why, "no memory to look at a mended chunk; free some and try again");
            proof->is_undecided = true;
            return false;
        }
        at += (size_t)done;
    }

    struct jfr_reader *reader = jfr_reader_open(path, why);
    bool is_good = reader != NULL && jfr_reader_next_chunk(reader, &chunk, why);
    while (is_good && jfr_reader_next_event(reader, &event, why)) {
        proof->events++;
        if (event.start_ticks > proof->last_ticks)
            proof->last_ticks = event.start_ticks;
    }
    is_good = is_good && why->message[0] == '\0';
    if (reader != NULL)
        proof->bad_at = reader->damaged_at;
    proof->is_undecided = !is_good && strstr(why->message, "memory") != NULL;
    jfr_reader_close(reader);
    return is_good;
}

/* ---- one chunk ---- */

static bool make_room(struct jfr_mender *mender, uint64_t size_bytes, struct jw_error *err)
{
    if (size_bytes <= mender->capacity_bytes)
        return true;
    jw_free(mender->bytes);
    mender->capacity_bytes = 0;
    mender->bytes = jw_alloc((size_t)size_bytes);
    if (mender->bytes == NULL) {
        jw_error_set(err, "%s: out of memory for a chunk of %" PRIu64 " bytes; free some",
                     mender->reader->path, size_bytes);
        return false;
    }
    mender->capacity_bytes = (size_t)size_bytes;
    return true;
}

/* Sets the header right for the first `size_bytes`; the size of the chunk then, 0: it cannot be. */
static size_t mend(struct jfr_mender *mender, size_t size_bytes, struct walk *walk)
{
    unsigned char *bytes = mender->bytes;

    *walk = walk_events(bytes, size_bytes);
    size_t end_bytes = walk->end_bytes;
    if (walk->metadata == 0) {
        if (mender->metadata == NULL || mender->is_scanned)
            return 0;
        memcpy(bytes + end_bytes, mender->metadata, mender->metadata_bytes);
        walk->metadata = end_bytes;
        end_bytes += mender->metadata_bytes;
    }
    store(bytes + SIZE_AT, end_bytes);
    store(bytes + CHECKPOINT_AT, walk->checkpoint);
    store(bytes + METADATA_AT, walk->metadata);
    if (jfr_big_endian(bytes + DURATION_AT, 8) == 0)
        store(bytes + DURATION_AT, 1); /* else viewers take it for empty */
    bytes[STATE_AT] = 0;
    return end_bytes;
}

static bool is_whole(const unsigned char *bytes, size_t size_bytes)
{
    return jfr_big_endian(bytes + SIZE_AT, 8) == size_bytes && bytes[STATE_AT] == 0;
}

/* A chunk that was cut lasts until its last event, not for as long as it would have. */
static void end_with(unsigned char *bytes, const struct proof *proof)
{
    const int64_t start_ticks = (int64_t)jfr_big_endian(bytes + START_TICKS_AT, 8);
    const int64_t ticks_per_second = (int64_t)jfr_big_endian(bytes + TICKS_PER_SECOND_AT, 8);
    const uint64_t told_ns = jfr_big_endian(bytes + DURATION_AT, 8);
    const double ns =
        ticks_per_second <= 0 || proof->last_ticks <= start_ticks
            ? 1.0
            : ((double)proof->last_ticks - (double)start_ticks) * 1e9 / (double)ticks_per_second;

    /* Its header, where that was written after the event, knows better than an event of another clock. */
    if (told_ns <= 1 || ns < (double)told_ns)
        store(bytes + DURATION_AT, ns < 1.0    ? 1
                                   : ns > 1e18 ? 1000000000000000000ull
                                               : (uint64_t)ns);
}

/* The next chunks may have lost their metadata. */
static void keep_metadata(struct jfr_mender *mender)
{
    const uint64_t at = jfr_big_endian(mender->bytes + METADATA_AT, 8);
    struct jfr_cursor cursor = {mender->bytes + at, mender->bytes + mender->capacity_bytes, false};
    const uint64_t size_bytes = jfr_cursor_varint(&cursor);

    if (size_bytes > JFR_READER_MAX_METADATA_BYTES)
        return;
    unsigned char *kept = jw_realloc(mender->metadata, (size_t)size_bytes);
    if (kept == NULL)
        return;
    memcpy(kept, mender->bytes + at, (size_t)size_bytes);
    mender->metadata = kept;
    mender->metadata_bytes = (size_t)size_bytes;
}

static bool take(struct jfr_mender *mender, size_t size_bytes, struct jfr_mended *mended,
                 struct jw_error *err)
{
    struct jw_error why = {{0}};
    size_t left_bytes = size_bytes;
    struct proof proof;
    struct walk walk;

    if (is_whole(mender->bytes, size_bytes) && prove(mender, size_bytes, &proof, &why)) {
        mended->events = proof.events;
        mended->bytes = mender->bytes;
        mended->size_bytes = size_bytes;
        keep_metadata(mender);
        return true;
    }
    mended->is_changed = true;
    snprintf(mender->reason, sizeof mender->reason, "%s",
             is_whole(mender->bytes, size_bytes) ? "damaged inside" : "not finished, or cut");
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        const size_t mended_bytes = mend(mender, left_bytes, &walk);

        if (mended_bytes == 0) {
            snprintf(mender->reason, sizeof mender->reason,
                     "its metadata is gone, and there is no chunk before it that has some");
            break;
        }
        jw_error_clear(&why);
        if (prove(mender, mended_bytes, &proof, &why)) {
            mended->events = proof.events;
            end_with(mender->bytes, &proof);
            mended->bytes = mender->bytes;
            mended->size_bytes = mended_bytes;
            mended->lost_bytes += size_bytes - walk.end_bytes;
            keep_metadata(mender);
            return true;
        }
        if (proof.is_undecided) {
            jw_error_set(err, "%s: %s", mender->reader->path, why.message);
            return false;
        }
        /* What it refused is left out, and all behind it. */
        left_bytes = proof.bad_at > JFR_READER_HEADER_BYTES && proof.bad_at < walk.end_bytes
                         ? (size_t)proof.bad_at
                         : walk.end_bytes - (walk.end_bytes - JFR_READER_HEADER_BYTES) / 2;
        if (left_bytes <= JFR_READER_HEADER_BYTES)
            break;
    }
    mended->lost_bytes += size_bytes;
    return true;
}

/* Of a chunk behind which no other begins: is it sound as it says it is? Its size then; else 0. One that is not finished has another state. */
static size_t sound_bytes(struct jfr_mender *mender, uint64_t most_bytes)
{
    const uint64_t size_bytes = jfr_big_endian(mender->bytes + SIZE_AT, 8);
    struct jw_error why = {{0}};
    struct proof proof;

    return size_bytes > JFR_READER_HEADER_BYTES && size_bytes <= most_bytes &&
                   is_whole(mender->bytes, size_bytes) &&
                   prove(mender, (size_t)size_bytes, &proof, &why)
               ? (size_t)size_bytes
               : 0;
}

/* Unpacks the chunk at `at`, where the file is packed; what cannot be unpacked any more is an end like another. */
static void unpack_chunk(struct jfr_reader *reader, uint64_t at)
{
    struct jw_error unpacking = {{0}};

    if (reader->unpacker == NULL || reader->is_stopped ||
        jfr_unpacker_chunk(reader, at, &unpacking))
        return;
    reader->is_stopped = true;
    reader->size_bytes = jfr_unpacker_end(reader);
}

/* The same for what is no chunk, a piece of it; false: there is no more than is there already. */
static bool unpack_more(struct jfr_reader *reader, uint64_t at)
{
    struct jw_error unpacking = {{0}};

    if (reader->unpacker == NULL || reader->is_stopped)
        return false;
    if (!jfr_unpacker_more(reader, PIECE_BYTES, &unpacking)) {
        reader->is_stopped = true;
        reader->size_bytes = jfr_unpacker_end(reader);
    }
    return reader->size_bytes - at >= PIECE_BYTES;
}

/* Where the next chunk begins, from `from` on; the end of the file: nowhere. False: nothing is left, or `err`. */
static bool find_chunk(struct jfr_mender *mender, uint64_t from, uint64_t *at, struct jw_error *err)
{
    struct jfr_reader *reader = mender->reader;

    unpack_chunk(reader, from);
    if (from >= reader->size_bytes)
        return false;
    /* Where a whole chunk ended the next one begins, though both began at one moment. */
    *at = from;
    if (!mender->is_scanned && is_header_at(mender, from))
        return true;
    for (;;) {
        const bool has_more = unpack_more(reader, from);

        if (!find_header(mender, from, at, err))
            return false;
        if (*at < reader->size_bytes) {
            unpack_chunk(reader, *at);
            return true;
        }
        if (!has_more)
            return true;
        from = reader->size_bytes - (JFR_READER_HEADER_BYTES - 1); /* one may begin there */
        unpack_chunk(reader, from);
    }
}

bool jfr_mender_next(struct jfr_mender *mender, struct jfr_mended *mended, struct jw_error *err)
{
    struct jfr_reader *reader = mender->reader;
    const uint64_t from = mender->at;
    uint64_t at, end;

    *mended = (struct jfr_mended){.reason = mender->reason};
    mender->reason[0] = '\0';
    if (!find_chunk(mender, from, &at, err))
        return false;
    mended->offset_bytes = at;
    mended->lost_bytes = at - from;
    if (at >= reader->size_bytes) {
        mender->at = reader->size_bytes;
        snprintf(mender->reason, sizeof mender->reason, "no chunk begins there");
        mended->is_changed = true;
        mended->offset_bytes = from;
        return true;
    }
    bool is_open = false;
    if (!find_end(mender, at, &end, &is_open, err))
        return false;
    mender->is_scanned = mender->is_scanned || at != from;
    if (end - at > MAX_CHUNK_BYTES)
        end = at + MAX_CHUNK_BYTES;
    if (!make_room(mender, end - at + mender->metadata_bytes, err) ||
        !jfr_reader_read(reader, at, mender->bytes, (size_t)(end - at), err))
        return false;
    mender->start_ns = jfr_big_endian(mender->bytes + START_AT, 8);
    const size_t whole_bytes = is_open ? sound_bytes(mender, end - at) : 0;
    if (whole_bytes != 0) {
        is_open = false;
        end = at + whole_bytes;
    }
    /* Behind its last event that can be right, not in one of them. */
    if (is_open &&
        !find_header(mender, at + walk_events(mender->bytes, (size_t)(end - at)).end_bytes, &end,
                     err))
        return false;
    mender->at = end;
    const bool is_good = take(mender, (size_t)(end - at), mended, err);
    mender->is_scanned = is_open;
    return is_good;
}

uint64_t jfr_mender_size_bytes(const struct jfr_mender *mender)
{
    return mender->reader->file_bytes;
}

uint64_t jfr_mender_position_bytes(const struct jfr_mender *mender)
{
    return mender->reader->unpacker == NULL ? mender->at
                                            : jfr_unpacker_position(mender->reader, mender->at);
}
