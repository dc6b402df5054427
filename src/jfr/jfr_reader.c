/*
 * File and events of a recording. Context: tool, dump.
 *
 * Source: OpenJDK 17 and 25, jdk.jfr.internal.consumer (ChunkParser): size and type in front of each event.
 */
#include "jfr/jfr_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "jfr/jfr_reader_internal.h"

#define JFR_READER_WINDOW_BYTES (256u << 10)

static const unsigned char jfr_magic[4] = {'F', 'L', 'R', 0};

bool jfr_reader_is_chunk(const unsigned char *magic)
{
    return memcmp(magic, jfr_magic, sizeof jfr_magic) == 0;
}

bool jfr_reader_damaged(struct jfr_reader *reader, uint64_t offset, struct jw_error *err,
                        const char *what)
{
    reader->damaged_at = offset;
    jw_error_set(err,
                 "%s: damaged at byte %" PRIu64
                 "%s: %s; take the recording again, or copy it again "
                 "from where it was made",
                 reader->path, offset, reader->is_packed ? " of what is packed" : "", what);
    return false;
}

bool jfr_reader_read_file(const struct jfr_reader *reader, uint64_t offset, void *bytes,
                          size_t count_bytes, struct jw_error *err)
{
    unsigned char *to = bytes;

    while (count_bytes > 0) {
        const ssize_t got = pread(reader->fd, to, count_bytes, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            jw_error_set(err, "%s: cannot be read at byte %" PRIu64 ": %s", reader->path, offset,
                         strerror(errno));
            return false;
        }
        if (got == 0) {
            jw_error_set(err,
                         "%s: ends at byte %" PRIu64 ", shorter than when it was opened; its "
                         "writer is at work: try again when it is done",
                         reader->path, offset);
            return false;
        }
        to += got;
        offset += (uint64_t)got;
        count_bytes -= (size_t)got;
    }
    return true;
}

bool jfr_reader_read(struct jfr_reader *reader, uint64_t offset, void *bytes, size_t count_bytes,
                     struct jw_error *err)
{
    if (!reader->is_packed)
        return jfr_reader_read_file(reader, offset, bytes, count_bytes, err);

    const unsigned char *from = jfr_reader_see_packed(reader, offset, count_bytes);
    if (from == NULL)
        return jfr_reader_damaged(reader, offset, err, "less is packed than its chunk says");
    memcpy(bytes, from, count_bytes);
    return true;
}

struct jfr_block *jfr_reader_block(struct jfr_reader *reader, size_t size_bytes,
                                   struct jw_error *err)
{
    struct jfr_block **fit = NULL; /* the smallest that is large enough */

    for (size_t i = 0; i < JFR_SPARES && size_bytes >= JFR_SPARED_BYTES; i++) {
        struct jfr_block **at = &reader->spares[i];

        if (*at != NULL && (*at)->capacity_bytes >= size_bytes &&
            (fit == NULL || (*at)->capacity_bytes < (*fit)->capacity_bytes))
            fit = at;
    }

    struct jfr_block *block = fit == NULL ? NULL : *fit;
    if (fit != NULL)
        *fit = NULL;
    if (block == NULL) {
        block = jw_alloc(sizeof *block + size_bytes);
        if (block != NULL)
            block->capacity_bytes = size_bytes;
    }
    if (block == NULL) {
        jw_error_set(err, "%s: out of memory for %zu bytes; free some and try again", reader->path,
                     size_bytes);
        return NULL;
    }
    block->size_bytes = size_bytes;
    block->next = reader->blocks;
    reader->blocks = block;
    return block;
}

bool jfr_reader_load(struct jfr_reader *reader, uint64_t offset, uint64_t type_id,
                     uint64_t limit_bytes, const char *what, struct jfr_cursor *cursor,
                     struct jw_error *err)
{
    const uint64_t left_bytes = reader->chunk.size_bytes - offset;
    const uint64_t at = reader->chunk.offset_bytes + offset;
    unsigned char prefix[JFR_READER_PREFIX_BYTES];
    const size_t prefix_bytes = left_bytes < sizeof prefix ? (size_t)left_bytes : sizeof prefix;

    if (!jfr_reader_read(reader, at, prefix, prefix_bytes, err))
        return false;

    struct jfr_cursor peek = {prefix, prefix + prefix_bytes, false};
    const uint64_t size_bytes = jfr_cursor_varint(&peek);
    const uint64_t type = jfr_cursor_varint(&peek);
    const size_t head_bytes = (size_t)(peek.at - prefix);
    if (peek.is_cut || type != type_id || size_bytes < head_bytes || size_bytes > left_bytes ||
        size_bytes > limit_bytes)
        return jfr_reader_damaged(reader, at, err, what);

    struct jfr_block *block = jfr_reader_block(reader, (size_t)size_bytes, err);
    if (block == NULL || !jfr_reader_read(reader, at, block->bytes, block->size_bytes, err))
        return false;
    *cursor = (struct jfr_cursor){block->bytes + head_bytes, block->bytes + size_bytes, false};
    return true;
}

/* Keeps a block for the next chunk in the place of the smallest that is kept; or frees it. */
static void jfr_reader_spare(struct jfr_reader *reader, struct jfr_block *block)
{
    struct jfr_block **least = &reader->spares[0];

    for (size_t i = 1; i < JFR_SPARES && *least != NULL; i++) {
        struct jfr_block **at = &reader->spares[i];

        if (*at == NULL || (*at)->capacity_bytes < (*least)->capacity_bytes)
            least = at;
    }
    if (block->capacity_bytes < JFR_SPARED_BYTES ||
        (*least != NULL && (*least)->capacity_bytes >= block->capacity_bytes)) {
        jw_free(block);
        return;
    }
    jw_free(*least);
    *least = block;
}

void jfr_reader_forget_events(struct jfr_reader *reader)
{
    memset(reader->memos, 0, JFR_FIELD_MEMOS * sizeof *reader->memos);
    *reader->in_hand = (struct jfr_in_hand){.type = NULL};
    reader->next_event = reader->end_of_events = 0;
}

void jfr_reader_forget_chunk(struct jfr_reader *reader)
{
    if (reader->is_looking) {
        jfr_reader_look_away(reader);
        return;
    }
    for (struct jfr_block *block = reader->blocks, *next; block != NULL; block = next) {
        next = block->next;
        jfr_reader_spare(reader, block);
    }
    jfr_reader_forget_constants(reader);
    jw_free(reader->types);
    jw_free(reader->fields);
    reader->blocks = NULL;
    reader->types = NULL;
    reader->type_count = 0;
    reader->fields = NULL;
    reader->string_type = NULL;
    jfr_reader_forget_events(reader);
}

static bool jfr_reader_open_file(struct jfr_reader *reader, const char *path, struct jw_error *err)
{
    struct stat status;
    unsigned char magic[sizeof jfr_magic];

    /* O_NONBLOCK: opening a FIFO must not wait for somebody to write into it. */
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->fd < 0 || fstat(reader->fd, &status) != 0) {
        jw_error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        jw_error_set(err, "%s: is %s; give a recording file", path,
                     S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
        return false;
    }
    reader->file_bytes = reader->size_bytes = (uint64_t)status.st_size;
    if (reader->size_bytes == 0) {
        jw_error_set(err,
                     "%s: is empty; whoever recorded it has not written anything yet, or could not",
                     path);
        return false;
    }
    if (reader->size_bytes < sizeof magic ||
        !jfr_reader_read(reader, 0, magic, sizeof magic, err) ||
        (!jfr_reader_is_chunk(magic) && !jfr_is_packed(magic))) {
        jw_error_set(err,
                     "%s: is no flight recording: it does not begin with \"FLR\"; a packed file "
                     "(.gz, .lz4) has to be unpacked first, but for .zst",
                     path);
        return false;
    }
    if (jfr_reader_is_chunk(magic))
        return true;
    reader->is_packed = true;
    reader->unpacker = jfr_unpacker_open(path, err);
    return reader->unpacker != NULL;
}

/* Without a file yet. */
static struct jfr_reader *jfr_reader_make(const char *path, struct jfr_reader *lead,
                                          struct jw_error *err)
{
    struct jfr_reader *reader = jw_alloc(sizeof *reader);
    const size_t path_bytes = strlen(path) + 1;

    if (reader == NULL)
        goto fail;
    reader->fd = -1;
    reader->lead = lead;
    reader->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    reader->path = jw_alloc(path_bytes);
    reader->memos = jw_alloc(JFR_FIELD_MEMOS * sizeof *reader->memos);
    reader->in_hand = jw_alloc(sizeof *reader->in_hand);
    if (reader->path == NULL || reader->memos == NULL || reader->in_hand == NULL)
        goto fail;
    memcpy(reader->path, path, path_bytes);
    return reader;

fail:
    jfr_reader_close(reader);
    jw_error_set(err, "%s: out of memory; free some and try again", path);
    return NULL;
}

struct jfr_reader *jfr_reader_open(const char *path, struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_make(path, NULL, err);

    if (reader == NULL || jfr_reader_open_file(reader, path, err))
        return reader;
    jfr_reader_close(reader);
    return NULL;
}

struct jfr_reader *jfr_reader_share(struct jfr_reader *lead, struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_make(lead->path, lead, err);

    if (reader == NULL)
        return NULL;
    reader->fd = lead->fd;
    reader->is_packed = lead->is_packed;
    reader->file_bytes = lead->file_bytes;
    lead->is_shared = reader->is_shared = true;
    return reader;
}

void jfr_reader_close(struct jfr_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->memos != NULL && reader->in_hand != NULL)
        jfr_reader_forget_chunk(reader);
    jw_free(reader->constants);
    jw_free(reader->slots);
    jfr_reader_free_spares(reader);
    jw_free(reader->memos);
    jw_free(reader->in_hand);
    jw_free(reader->taken);
    if (reader->lead == NULL && reader->fd >= 0)
        close(reader->fd);
    jfr_unpacker_close(reader->unpacker);
    jw_free(reader->window);
    jw_free(reader->path);
    jw_free(reader);
}

bool jfr_reader_chunk_bytes(struct jfr_reader *reader, uint64_t offset_bytes, void *bytes,
                            size_t count_bytes, struct jw_error *err)
{
    if (!JW_INVARIANT(offset_bytes <= reader->chunk.size_bytes &&
                      count_bytes <= reader->chunk.size_bytes - offset_bytes)) {
        jw_error_set(err, "%s: no such bytes in a chunk", reader->path);
        return false;
    }
    return jfr_reader_read(reader, reader->chunk.offset_bytes + offset_bytes, bytes, count_bytes,
                           err);
}

/* A window for an event of so many bytes, and for more of those that are left; small files do with a small one. */
static bool jfr_reader_widen(struct jfr_reader *reader, uint64_t left_bytes, size_t count_bytes)
{
    size_t wanted_bytes =
        left_bytes < JFR_READER_WINDOW_BYTES ? (size_t)left_bytes : JFR_READER_WINDOW_BYTES;

    if (wanted_bytes < count_bytes)
        wanted_bytes = count_bytes;
    if (wanted_bytes <= reader->window_capacity_bytes)
        return true;
    jw_free(reader->window);
    reader->window = jw_alloc(wanted_bytes);
    reader->window_capacity_bytes = reader->window != NULL ? wanted_bytes : 0;
    reader->window_used_bytes = 0;
    return reader->window != NULL;
}

/* Makes `count_bytes` from `offset` on lie in the window; NULL and `err` when they cannot. */
static const unsigned char *jfr_reader_fill(struct jfr_reader *reader, uint64_t offset,
                                            size_t count_bytes, struct jw_error *err)
{
    if (reader->is_packed) /* a chunk lies there whole, or is not begun */
        return jfr_reader_see_packed(reader, offset, count_bytes);

    const uint64_t left_bytes = reader->end_of_events - offset;
    if (!jfr_reader_widen(reader, left_bytes, count_bytes)) {
        jw_error_set(err, "%s: out of memory while its events are read; free some and try again",
                     reader->path);
        return NULL;
    }
    const size_t wanted_bytes = left_bytes < reader->window_capacity_bytes
                                    ? (size_t)left_bytes
                                    : reader->window_capacity_bytes;
    reader->window_used_bytes = 0;
    if (!jfr_reader_read(reader, offset, reader->window, wanted_bytes, err))
        return NULL;
    reader->window_offset = offset;
    reader->window_used_bytes = wanted_bytes;
    return reader->window;
}

/* The same, where they may lie there. */
static inline const unsigned char *jfr_reader_see(struct jfr_reader *reader, uint64_t offset,
                                                  size_t count_bytes, struct jw_error *err)
{
    const uint64_t before_bytes = offset - reader->window_offset; /* huge, where it is less */

    if (before_bytes <= reader->window_used_bytes &&
        count_bytes <= reader->window_used_bytes - before_bytes && !reader->is_packed)
        return reader->window + before_bytes;
    return jfr_reader_fill(reader, offset, count_bytes, err);
}

static void jfr_reader_fill_event(const struct jfr_reader *reader,
                                  const struct jfr_reader_type *type,
                                  const struct jfr_cursor *payload, uint64_t offset,
                                  struct jfr_reader_event *event)
{
    struct jfr_in_hand *in_hand = reader->in_hand;
    struct jfr_cursor cursor = *payload;

    *event = (struct jfr_reader_event){
        .type_name = type->name,
        .type = type,
        .value = {.reader = reader, .type = type, .bytes = payload->at, .end = payload->end},
        .offset_bytes = offset,
    };
    in_hand->type = type;
    in_hand->begin = in_hand->at[0] = payload->at;
    in_hand->count = 1;
    if (type->has_start)
        event->start_ticks = (int64_t)jfr_cursor_varint(&cursor);
}

/* The type of an event: a few of them have nearly all events. */
static const struct jfr_reader_type *jfr_reader_recent_type(const struct jfr_reader *reader,
                                                            uint64_t id)
{
    const struct jfr_reader_type **recent = &reader->in_hand->recent[id & (JFR_RECENT_TYPES - 1)];

    if (*recent == NULL || (uint64_t)(*recent)->id != id)
        *recent = jfr_reader_type_of(reader, id);
    return *recent;
}

/* Where an event lies, and how long its head is. */
struct jfr_found {
    const struct jfr_reader_type *type; /* NULL: there is no further event */
    uint64_t offset, size_bytes;
    size_t head_bytes;
};

/* No event is read behind one that is damaged, and no chunk. */
static struct jfr_found jfr_reader_give_up(struct jfr_reader *reader)
{
    reader->next_event = reader->end_of_events;
    jfr_reader_end(reader);
    return (struct jfr_found){.type = NULL};
}

/*
 * Passes events of no interest to the next one of a type that is known. This and the next one are compiled into their callers, so that what is found stays in
 * registers: each event of a recording comes through here.
 */
static inline __attribute__((always_inline)) struct jfr_found
jfr_reader_find_event(struct jfr_reader *reader, struct jw_error *err)
{
    while (reader->next_event < reader->end_of_events) {
        const uint64_t offset = reader->next_event;
        const uint64_t left_bytes = reader->end_of_events - offset;
        const size_t prefix_bytes =
            left_bytes < JFR_READER_PREFIX_BYTES ? (size_t)left_bytes : JFR_READER_PREFIX_BYTES;
        const unsigned char *bytes = jfr_reader_see(reader, offset, prefix_bytes, err);

        if (bytes == NULL)
            return jfr_reader_give_up(reader);

        struct jfr_cursor cursor = {bytes, bytes + prefix_bytes, false};
        const uint64_t size_bytes = jfr_cursor_varint(&cursor);
        const uint64_t type_id = jfr_cursor_varint(&cursor);
        const size_t head_bytes = (size_t)(cursor.at - bytes);
        if (cursor.is_cut || size_bytes < head_bytes || size_bytes > left_bytes) {
            jfr_reader_damaged(reader, offset, err, "an event of impossible size");
            return jfr_reader_give_up(reader);
        }
        reader->next_event = offset + size_bytes;

        const struct jfr_reader_type *type = jfr_reader_recent_type(reader, type_id);
        if (type == NULL || !type->is_event) /* metadata, pools, padding */
            continue;
        if (size_bytes > JFR_READER_MAX_EVENT_BYTES) {
            jfr_reader_damaged(reader, offset, err, "an event of more than 16 MiB");
            return jfr_reader_give_up(reader);
        }
        return (struct jfr_found){type, offset, size_bytes, head_bytes};
    }
    return (struct jfr_found){.type = NULL};
}

static inline __attribute__((always_inline)) bool
jfr_reader_fill_found(struct jfr_reader *reader, const struct jfr_found *found,
                      struct jfr_reader_event *event, struct jw_error *err)
{
    const unsigned char *bytes =
        jfr_reader_see(reader, found->offset, (size_t)found->size_bytes, err);

    if (bytes == NULL) {
        jfr_reader_give_up(reader);
        return false;
    }

    const struct jfr_cursor cursor = {bytes + found->head_bytes, bytes + found->size_bytes, false};
    jfr_reader_fill_event(reader, found->type, &cursor, found->offset, event);
    event->size_bytes = found->size_bytes;
    return true;
}

bool jfr_reader_next_event(struct jfr_reader *reader, struct jfr_reader_event *event,
                           struct jw_error *err)
{
    const struct jfr_found found = jfr_reader_find_event(reader, err);

    return found.type != NULL && jfr_reader_fill_found(reader, &found, event, err);
}

bool jfr_reader_next_head(struct jfr_reader *reader, struct jfr_reader_event *event,
                          struct jw_error *err)
{
    const struct jfr_found found = jfr_reader_find_event(reader, err);

    *event = (struct jfr_reader_event){.type = NULL};
    if (found.type == NULL)
        return false;
    event->type = found.type;
    event->type_name = found.type->name;
    event->offset_bytes = found.offset;
    event->size_bytes = found.size_bytes;
    return true;
}

bool jfr_reader_load_event(struct jfr_reader *reader, struct jfr_reader_event *event,
                           struct jw_error *err)
{
    const size_t prefix_bytes = event->size_bytes < JFR_READER_PREFIX_BYTES
                                    ? (size_t)event->size_bytes
                                    : JFR_READER_PREFIX_BYTES;
    const unsigned char *bytes = jfr_reader_see(reader, event->offset_bytes, prefix_bytes, err);

    if (bytes == NULL) {
        jfr_reader_give_up(reader);
        return false;
    }

    /* As when it was found; a file may be changed meanwhile, and then a number is cut. */
    struct jfr_cursor cursor = {bytes, bytes + prefix_bytes, false};
    (void)jfr_cursor_varint(&cursor);
    (void)jfr_cursor_varint(&cursor);

    const struct jfr_found found = {event->type, event->offset_bytes, event->size_bytes,
                                    (size_t)(cursor.at - bytes)};
    return jfr_reader_fill_found(reader, &found, event, err);
}

const char *jfr_reader_notice(const struct jfr_reader *reader)
{
    return (reader->lead == NULL ? reader : reader->lead)->notice;
}

uint64_t jfr_reader_size_bytes(const struct jfr_reader *reader)
{
    return reader->file_bytes;
}

uint64_t jfr_reader_position_bytes(const struct jfr_reader *reader)
{
    if (reader->is_shared) {
        const struct jfr_reader *lead = reader->lead == NULL ? reader : reader->lead;
        const uint64_t done_bytes = jw_load_relaxed(&lead->done_bytes);

        return done_bytes +
               (reader->is_packed ? 0 : reader->next_event - reader->chunk.offset_bytes);
    }
    if (reader->is_stopped && reader->next_event >= reader->end_of_events)
        return reader->file_bytes;

    const uint64_t offset =
        reader->next_event < reader->end_of_events ? reader->next_event : reader->next_chunk;
    return reader->unpacker == NULL ? offset : jfr_unpacker_position(reader, offset);
}

bool jfr_reader_has_event(const struct jfr_reader *reader, const char *type_name)
{
    for (uint32_t i = 0; i < reader->type_count; i++) {
        if (reader->types[i].is_event && strcmp(reader->types[i].name, type_name) == 0)
            return true;
    }
    return false;
}

bool jfr_reader_has_contexts(const struct jfr_reader *reader)
{
    for (uint32_t i = 0; i < reader->type_count; i++) {
        const struct jfr_reader_type *type = &reader->types[i];

        for (uint32_t n = 0; type->has_context && n < type->field_count; n++) {
            if (strcmp(type->fields[n].name, "stackTrace") == 0)
                return true;
        }
    }
    return false;
}
