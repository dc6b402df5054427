/* The commit protocol of a recording on disk; dump (open: control). */
#include "recording/recording_file.h"

#include "base/counters.h"
#include "jfr/jfr_packed.h"
#include "jfr/jfr_writer.h"
#include "os/os_output.h"
#include "recording/recording_packed.h"

#define FIRST_RESERVE_BYTES ((uint64_t)1 << 20)
#define MAX_STEP_BYTES      ((uint64_t)256 << 20)
/* A larger file keeps its reserve at the end: the copy is made while the JVM waits to exit. */
#define MAX_COPIED_BYTES ((uint64_t)128 << 20)
/* The smallest unit in which the kernel copies a write, on any page size: SIGKILL may stop a write
 * between two pages, never inside one. Source: Linux, mm/filemap.c, generic_perform_write. */
#define PAGE_BYTES ((uint64_t)4096)
/* Divides a page and holds a header: so no header crosses a page. */
#define CHUNK_ALIGN_BYTES ((uint64_t)128)
#define TAIL_BYTES        (2 * JFR_PADDING_MIN_BYTES)

_Static_assert(JFR_HEADER_BYTES <= CHUNK_ALIGN_BYTES, "a chunk header must not cross a page");

struct recording_file {
    struct recording_packed *packed; /* it does what is to be done; NULL: a plain file */
    const struct os_output_calls *calls;
    struct os_output *output;
    struct jfr_chunk_header header; /* of the open chunk, as committed */
    uint64_t chunk_at;              /* the open chunk, in the file */
    uint64_t padding_at;            /* the open padding, in the file: all before it is used */
    uint64_t end;                   /* of the reserve: the size of the file */
    bool has_failed;
};

/* Room between the end of data and the padding, so that the size of the padding crosses no page. */
static uint64_t gap_before_padding(uint64_t at)
{
    return at % PAGE_BYTES > PAGE_BYTES - JFR_PADDING_SIZE_BYTES ? JFR_PADDING_MIN_BYTES : 0;
}

static uint64_t padding_behind(uint64_t data_end)
{
    return data_end + gap_before_padding(data_end);
}

/* Writes what follows the data: a filler if one is needed, and the head of the padding to `end`. */
static bool write_tail(struct os_output *output, uint64_t data_end, uint64_t end,
                       struct jw_error *err)
{
    unsigned char tail[TAIL_BYTES];
    const uint64_t gap_bytes = gap_before_padding(data_end);

    if (gap_bytes != 0)
        jfr_store_padding(tail, gap_bytes);
    jfr_store_padding(tail + gap_bytes, end - data_end - gap_bytes);
    return os_output_write(output, data_end, tail, gap_bytes + JFR_PADDING_MIN_BYTES, err);
}

static bool write_header(struct os_output *output, uint64_t chunk_at,
                         const struct jfr_chunk_header *header, struct jw_error *err)
{
    unsigned char bytes[JFR_HEADER_BYTES];

    jfr_store_header(bytes, header);
    return os_output_write(output, chunk_at, bytes, sizeof bytes, err);
}

static bool write_padding_size(struct os_output *output, uint64_t padding_at, uint64_t size_bytes,
                               struct jw_error *err)
{
    unsigned char bytes[JFR_PADDING_SIZE_BYTES];

    jfr_store_padding_size(bytes, size_bytes);
    return os_output_write(output, padding_at, bytes, sizeof bytes, err);
}

/* Header of a chunk at `chunk_at` that reaches to `end` and has `part` at `part_offset`. */
static struct jfr_chunk_header header_of_part(const struct recording_file_part *part,
                                              uint64_t part_offset, uint64_t checkpoint_offset,
                                              uint64_t size_bytes)
{
    return (struct jfr_chunk_header){
        .size_bytes = size_bytes,
        .checkpoint_offset =
            part->has_checkpoint ? part_offset + part->checkpoint_at : checkpoint_offset,
        .start_wall_ns = part->start_wall_ns,
        .start_ticks = part->start_ticks,
        .ticks_per_second = part->ticks_per_second,
        .duration_ns = part->duration_ns,
    };
}

/* Size of a file that uses `used_bytes`: twice that, in steps that stay small against a chunk. */
static uint64_t end_for(uint64_t used_bytes)
{
    uint64_t step_bytes = used_bytes < MAX_STEP_BYTES ? used_bytes : MAX_STEP_BYTES;

    if (step_bytes < FIRST_RESERVE_BYTES)
        step_bytes = FIRST_RESERVE_BYTES;
    return used_bytes + step_bytes;
}

/* Replaces the file by a copy of its used part that ends at `end`; `with_padding`: at an event that
 * fills the rest, else directly behind the data. */
static bool replace_by_copy(struct recording_file *file, uint64_t end, bool with_padding,
                            struct jw_error *err)
{
    struct jfr_chunk_header header = file->header;
    struct os_output *copy = os_output_copy(file->output, file->padding_at, err);

    if (copy == NULL)
        return false;
    header.size_bytes = end - file->chunk_at;
    if (!os_output_set_size(copy, end, err) || !write_header(copy, file->chunk_at, &header, err))
        goto fail;
    if (with_padding) {
        unsigned char padding[JFR_PADDING_MIN_BYTES];

        jfr_store_padding(padding, end - file->padding_at);
        if (!os_output_write(copy, file->padding_at, padding, sizeof padding, err))
            goto fail;
    }
    if (!os_output_publish(copy, err))
        goto fail;
    os_output_close(file->output);
    file->output = copy;
    file->header = header;
    file->end = end;
    return true;

fail:
    os_output_close(copy);
    return false;
}

/* Makes room for data up to `data_end` and a padding behind it. Until a new chunk is committed the
 * open one holds it all. */
static bool make_room(struct recording_file *file, uint64_t data_end, struct jw_error *err)
{
    const uint64_t needed_bytes = padding_behind(data_end) + JFR_PADDING_MIN_BYTES;

    if (needed_bytes - file->chunk_at > JFR_CHUNK_MAX_BYTES) {
        jw_error_set(err,
                     "cannot write %s: a chunk of it would exceed 2 GiB; use a smaller chunksize",
                     os_output_path(file->output));
        return false;
    }
    if (needed_bytes <= file->end)
        return true;

    uint64_t end = end_for(needed_bytes);
    if (end - file->chunk_at > JFR_CHUNK_MAX_BYTES)
        end = file->chunk_at + JFR_CHUNK_MAX_BYTES;
    return replace_by_copy(file, end, true, err);
}

/* Always false: what failed is told, with what is kept, and nothing is written any more. */
static bool fail_for_good(struct recording_file *file, const struct jw_error *failure,
                          struct jw_error *err)
{
    file->has_failed = true;
    jw_count(JW_COUNT_WRITE_FAILED);
    jw_error_set(err, "%s; the recording ends here, the %llu bytes before stay readable",
                 failure->message, (unsigned long long)recording_file_used_bytes(file));
    return false;
}

struct recording_file *recording_file_open(const char *path, const struct os_output_calls *calls,
                                           const struct recording_file_part *first,
                                           struct jw_error *err)
{
    struct recording_file *file = jw_alloc(sizeof *file);

    if (file == NULL) {
        jw_error_set(err, "cannot write %s: out of memory", path);
        return NULL;
    }
    file->calls = calls;
    if (jfr_is_packed_name(path)) {
        file->packed = recording_packed_open(path, calls, first, err);
        if (file->packed == NULL)
            goto fail;
        return file;
    }
    file->output = os_output_open(path, calls, err);
    if (file->output == NULL)
        goto fail;

    const uint64_t data_end = JFR_HEADER_BYTES + first->length_bytes;
    file->padding_at = padding_behind(data_end);
    file->end = end_for(file->padding_at + JFR_PADDING_MIN_BYTES);
    file->header = header_of_part(first, JFR_HEADER_BYTES, 0, file->end);
    if (!os_output_set_size(file->output, file->end, err) ||
        !write_header(file->output, 0, &file->header, err) ||
        !os_output_write(file->output, JFR_HEADER_BYTES, first->bytes, first->length_bytes, err) ||
        !write_tail(file->output, data_end, file->end, err) ||
        !os_output_publish(file->output, err))
        goto fail;
    return file;

fail:
    recording_file_close(file);
    return NULL;
}

uint64_t recording_file_next_offset(const struct recording_file *file)
{
    return file->packed != NULL ? recording_packed_chunk_bytes(file->packed)
                                : file->padding_at + JFR_PADDING_MIN_BYTES - file->chunk_at;
}

static bool append(struct recording_file *file, const struct recording_file_part *part,
                   bool is_final, struct jw_error *err)
{
    if (file->packed != NULL)
        return recording_packed_append(file->packed, part, is_final, err);

    const uint64_t data_at = file->padding_at + JFR_PADDING_MIN_BYTES;
    const uint64_t data_end = data_at + part->length_bytes;

    if (!make_room(file, data_end, err))
        return false;

    struct jfr_chunk_header header = header_of_part(
        part, data_at - file->chunk_at, file->header.checkpoint_offset, file->header.size_bytes);
    if (!os_output_write(file->output, data_at, part->bytes, part->length_bytes, err) ||
        !write_tail(file->output, data_end, file->end, err))
        return false;

    /* Constants first: whoever sees the new events finds what they name. */
    if (!write_header(file->output, file->chunk_at, &header, err))
        return false;
    file->header = header;
    if (!write_padding_size(file->output, file->padding_at, JFR_PADDING_MIN_BYTES, err))
        return false;
    file->padding_at = padding_behind(data_end);
    /* Now that all of it is there. */
    file->header.is_final = is_final;
    return !is_final || write_header(file->output, file->chunk_at, &file->header, err);
}

bool recording_file_append(struct recording_file *file, const struct recording_file_part *part,
                           struct jw_error *err)
{
    struct jw_error failure = {{0}};

    if (file->has_failed)
        return true;
    return append(file, part, false, &failure) || fail_for_good(file, &failure, err);
}

static bool begin_chunk(struct recording_file *file, const struct recording_file_part *first,
                        struct jw_error *err)
{
    if (file->packed != NULL)
        return recording_packed_begin_chunk(file->packed, first, err);

    const uint64_t chunk_at = (file->padding_at + JFR_PADDING_MIN_BYTES + CHUNK_ALIGN_BYTES - 1) /
                              CHUNK_ALIGN_BYTES * CHUNK_ALIGN_BYTES;
    const uint64_t data_end = chunk_at + JFR_HEADER_BYTES + first->length_bytes;

    if (!make_room(file, data_end, err))
        return false;

    const struct jfr_chunk_header header =
        header_of_part(first, JFR_HEADER_BYTES, 0, file->end - chunk_at);
    if (!write_header(file->output, chunk_at, &header, err) ||
        !os_output_write(file->output, chunk_at + JFR_HEADER_BYTES, first->bytes,
                         first->length_bytes, err) ||
        !write_tail(file->output, data_end, file->end, err))
        return false;

    struct jfr_chunk_header ended = file->header;
    ended.size_bytes = chunk_at - file->chunk_at;
    if (!write_header(file->output, file->chunk_at, &ended, err))
        return false;
    if (!write_padding_size(file->output, file->padding_at, chunk_at - file->padding_at, err))
        return false;
    file->header = header;
    file->chunk_at = chunk_at;
    file->padding_at = padding_behind(data_end);
    return true;
}

bool recording_file_begin_chunk(struct recording_file *file,
                                const struct recording_file_part *first, struct jw_error *err)
{
    struct jw_error failure = {{0}};

    if (file->has_failed)
        return true;
    return begin_chunk(file, first, &failure) || fail_for_good(file, &failure, err);
}

bool recording_file_finish(struct recording_file *file, const struct recording_file_part *last,
                           struct jw_error *err)
{
    struct jw_error failure = {{0}};

    if (file->has_failed)
        return true;
    if (!append(file, last, true, &failure))
        return fail_for_good(file, &failure, err);
    /* Complete already: when the copy fails, the file merely looks longer than it is. */
    if (file->packed == NULL && file->padding_at <= MAX_COPIED_BYTES)
        (void)!replace_by_copy(file, file->padding_at, false, NULL);
    return true;
}

bool recording_file_snapshot(struct recording_file *file, const char *path, struct jw_error *err)
{
    if ((file->packed != NULL) != jfr_is_packed_name(path)) {
        jw_error_set(
            err,
            "cannot write %s: the recording is %s, and so is a copy of it; name a file that "
            "ends in %s, which 'jaywalk convert' %s",
            path, file->packed != NULL ? "packed" : "plain",
            file->packed != NULL ? JFR_PACKED_ENDING : ".jfr",
            file->packed != NULL ? "unpacks" : "packs");
        return false;
    }
    if (file->packed != NULL)
        return recording_packed_snapshot(file->packed, path, err);

    struct os_output *copy = os_output_open(path, file->calls, err);
    struct jfr_chunk_header header = file->header;

    header.size_bytes = file->padding_at - file->chunk_at;
    header.is_final = true;
    const bool is_good =
        copy != NULL && os_output_fill(copy, file->output, file->padding_at, err) &&
        write_header(copy, file->chunk_at, &header, err) && os_output_publish(copy, err);
    os_output_close(copy);
    return is_good;
}

void recording_file_close(struct recording_file *file)
{
    if (file == NULL)
        return;
    recording_packed_close(file->packed);
    os_output_close(file->output);
    jw_free(file);
}

bool recording_file_has_failed(const struct recording_file *file)
{
    return file->has_failed;
}

uint64_t recording_file_used_bytes(const struct recording_file *file)
{
    return file->packed != NULL ? recording_packed_used_bytes(file->packed) : file->padding_at;
}

uint64_t recording_file_chunk_bytes(const struct recording_file *file)
{
    return file->packed != NULL ? recording_packed_chunk_bytes(file->packed)
                                : file->padding_at - file->chunk_at;
}
