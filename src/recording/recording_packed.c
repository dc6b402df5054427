/* Chunks, packed as they come; dump (open: control). */
#include "recording/recording_packed.h"

#include "jfr/jfr_packed.h"
#include "jfr/jfr_writer.h"
#include "os/os_output.h"

#define PAGE_BYTES     ((uint64_t)4096)
#define GAP_HEAD_BYTES ((uint64_t)8)

struct recording_packed {
    const struct os_output_calls *calls;
    struct os_output *output;
    struct jfr_packer *packer;
    struct jfr_buffer ready; /* packed, not yet written */
    struct jfr_chunk_header header;
    uint64_t header_at;   /* of the open chunk, in the file */
    uint64_t chunk_bytes; /* the open chunk, unpacked */
    uint64_t used_bytes;  /* of the file */
    bool is_in_frame;
};

/* Bytes to skip at `at`, so that the header of a chunk behind them crosses no page. */
static uint64_t gap_before_header(uint64_t at)
{
    const uint64_t header_at = at + JFR_PACKED_HEAD_BYTES;
    const uint64_t left_bytes = PAGE_BYTES - header_at % PAGE_BYTES;

    if (left_bytes >= JFR_HEADER_BYTES)
        return 0;
    return left_bytes < GAP_HEAD_BYTES ? GAP_HEAD_BYTES : left_bytes;
}

static bool write_ready(struct recording_packed *packed, struct jw_error *err)
{
    if (packed->ready.has_failed) {
        jw_error_set(err, "cannot write %s: out of memory", os_output_path(packed->output));
        return false;
    }
    if (!os_output_write(packed->output, packed->used_bytes, packed->ready.bytes,
                         packed->ready.used_bytes, err))
        return false;
    packed->used_bytes += packed->ready.used_bytes;
    jfr_buffer_clear(&packed->ready);
    return true;
}

static bool end_frame(struct recording_packed *packed, struct jw_error *err)
{
    if (!packed->is_in_frame)
        return true;
    packed->is_in_frame = false;
    return jfr_packer_put(packed->packer, NULL, 0, JFR_PACK_END, &packed->ready, err) &&
           write_ready(packed, err);
}

static bool write_header(struct os_output *output, const struct recording_packed *packed,
                         const struct jfr_chunk_header *header, struct jw_error *err)
{
    unsigned char bytes[JFR_HEADER_BYTES];

    jfr_store_header(bytes, header);
    return os_output_write(output, packed->header_at, bytes, sizeof bytes, err);
}

static struct jfr_chunk_header header_with(const struct recording_packed *packed,
                                           const struct recording_file_part *part)
{
    return (struct jfr_chunk_header){
        .size_bytes = packed->chunk_bytes + part->length_bytes,
        .checkpoint_offset = part->has_checkpoint ? packed->chunk_bytes + part->checkpoint_at
                                                  : packed->header.checkpoint_offset,
        .start_wall_ns = part->start_wall_ns,
        .start_ticks = part->start_ticks,
        .ticks_per_second = part->ticks_per_second,
        .duration_ns = part->duration_ns,
    };
}

static bool check_size(const struct recording_packed *packed,
                       const struct recording_file_part *part, struct jw_error *err)
{
    if (packed->chunk_bytes + part->length_bytes <= JFR_PACKED_MAX_CHUNK_BYTES)
        return true;
    jw_error_set(err,
                 "cannot write %s: a chunk of it would exceed 512 MiB; use a smaller chunksize",
                 os_output_path(packed->output));
    return false;
}

bool recording_packed_append(struct recording_packed *packed,
                             const struct recording_file_part *part, bool is_final,
                             struct jw_error *err)
{
    if (!check_size(packed, part, err))
        return false;
    packed->is_in_frame = !is_final;
    if (!jfr_packer_put(packed->packer, part->bytes, part->length_bytes,
                        is_final ? JFR_PACK_END : JFR_PACK_FLUSH, &packed->ready, err) ||
        !write_ready(packed, err))
        return false;
    packed->header = header_with(packed, part);
    packed->header.is_final = is_final;
    packed->chunk_bytes += part->length_bytes;
    return write_header(packed->output, packed, &packed->header, err);
}

bool recording_packed_begin_chunk(struct recording_packed *packed,
                                  const struct recording_file_part *first, struct jw_error *err)
{
    unsigned char bytes[JFR_HEADER_BYTES];

    if (!end_frame(packed, err))
        return false;

    const uint64_t gap_bytes = gap_before_header(packed->used_bytes);
    packed->chunk_bytes = JFR_HEADER_BYTES;
    packed->header_at = packed->used_bytes + gap_bytes + JFR_PACKED_HEAD_BYTES;
    if (!check_size(packed, first, err))
        return false;
    packed->header = header_with(packed, first);
    packed->chunk_bytes += first->length_bytes;
    if (gap_bytes != 0)
        jfr_put_packed_gap(&packed->ready, gap_bytes);
    jfr_store_header(bytes, &packed->header);
    jfr_put_packed_header(&packed->ready, bytes);
    packed->is_in_frame = true;
    return jfr_packer_put(packed->packer, first->bytes, first->length_bytes, JFR_PACK_FLUSH,
                          &packed->ready, err) &&
           write_ready(packed, err);
}

struct recording_packed *recording_packed_open(const char *path,
                                               const struct os_output_calls *calls,
                                               const struct recording_file_part *first,
                                               struct jw_error *err)
{
    struct recording_packed *packed = jw_alloc(sizeof *packed);

    if (packed == NULL) {
        jw_error_set(err, "cannot write %s: out of memory", path);
        return NULL;
    }
    packed->calls = calls;
    packed->packer = jfr_packer_open(err);
    if (packed->packer == NULL)
        goto fail;
    packed->output = os_output_open(path, calls, err);
    if (packed->output == NULL || !recording_packed_begin_chunk(packed, first, err) ||
        !os_output_publish(packed->output, err))
        goto fail;
    return packed;

fail:
    recording_packed_close(packed);
    return NULL;
}

bool recording_packed_snapshot(struct recording_packed *packed, const char *path,
                               struct jw_error *err)
{
    struct jfr_chunk_header header = packed->header;

    if (!end_frame(packed, err))
        return false;

    struct os_output *copy = os_output_open(path, packed->calls, err);
    header.is_final = true;
    const bool is_good = copy != NULL &&
                         os_output_fill(copy, packed->output, packed->used_bytes, err) &&
                         write_header(copy, packed, &header, err) && os_output_publish(copy, err);
    os_output_close(copy);
    return is_good;
}

void recording_packed_close(struct recording_packed *packed)
{
    if (packed == NULL)
        return;
    jfr_packer_close(packed->packer);
    jfr_buffer_close(&packed->ready);
    os_output_close(packed->output);
    jw_free(packed);
}

uint64_t recording_packed_used_bytes(const struct recording_packed *packed)
{
    return packed->used_bytes;
}

uint64_t recording_packed_chunk_bytes(const struct recording_packed *packed)
{
    return packed->chunk_bytes;
}
