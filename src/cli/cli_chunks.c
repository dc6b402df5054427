/* Recordings written chunk by chunk, plain or packed; and `convert` to such a one. Context: tool. */
#include "cli/cli_chunks_internal.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli_internal.h"
#include "jfr/jfr_packed.h"
#include "jfr/jfr_reader.h"
#include "os/os_output.h"

#define PIECE_BYTES ((size_t)256 << 10)
/* Numbers that no recorder has for the first chunk of a recording, or for a type. */
#define SEPARATOR_METADATA  0x6a617977616c6bull
#define SEPARATOR_TYPE_TEXT "1786411563"

struct cli_chunks {
    struct os_output *output;
    struct jfr_packer *packer; /* NULL: a plain file */
    struct jfr_buffer ready;
    uint64_t chunk_bytes;
    unsigned char piece[PIECE_BYTES];
};

static bool ends_with(const char *text, const char *ending)
{
    const size_t text_bytes = strlen(text);
    const size_t ending_bytes = strlen(ending);

    return text_bytes > ending_bytes && strcmp(text + text_bytes - ending_bytes, ending) == 0;
}

bool cli_is_recording_name(const char *path)
{
    return ends_with(path, ".jfr") || ends_with(path, JFR_PACKED_ENDING);
}

struct cli_chunks *cli_chunks_open(const char *path, struct jw_error *err)
{
    struct cli_chunks *chunks = jw_alloc(sizeof *chunks);

    if (chunks == NULL) {
        jw_error_set(err, "%s: out of memory; free some and try again", path);
        return NULL;
    }
    if (jfr_is_packed_name(path)) {
        chunks->packer = jfr_packer_open(err);
        if (chunks->packer == NULL)
            goto fail;
    }
    chunks->output = os_output_open(path, NULL, err);
    if (chunks->output != NULL)
        return chunks;

fail:
    cli_chunks_close(chunks);
    return NULL;
}

bool cli_chunks_publish(struct cli_chunks *chunks, struct jw_error *err)
{
    return os_output_publish(chunks->output, err);
}

void cli_chunks_close(struct cli_chunks *chunks)
{
    if (chunks == NULL)
        return;
    jfr_packer_close(chunks->packer);
    jfr_buffer_close(&chunks->ready);
    os_output_close(chunks->output);
    jw_free(chunks);
}

static bool write_ready(struct cli_chunks *chunks, struct jw_error *err)
{
    if (chunks->ready.has_failed) {
        jw_error_set(err, "%s: out of memory; free some and try again",
                     os_output_path(chunks->output));
        return false;
    }
    const bool is_good =
        os_output_append(chunks->output, chunks->ready.bytes, chunks->ready.used_bytes, err);
    jfr_buffer_clear(&chunks->ready);
    return is_good;
}

bool cli_chunks_begin(struct cli_chunks *chunks, const unsigned char *header, uint64_t size_bytes,
                      struct jw_error *err)
{
    chunks->chunk_bytes += size_bytes;
    if (chunks->packer == NULL)
        return os_output_append(chunks->output, header, JFR_HEADER_BYTES, err);
    if (size_bytes > JFR_PACKED_MAX_CHUNK_BYTES) {
        jw_error_set(err,
                     "%s: a chunk has %" PRIu64
                     " bytes, and one of more than 512 MiB is not packed; "
                     "write a plain .jfr, or take the zstd command",
                     os_output_path(chunks->output), size_bytes);
        return false;
    }
    jfr_put_packed_header(&chunks->ready, header);
    return write_ready(chunks, err);
}

bool cli_chunks_put(struct cli_chunks *chunks, const void *bytes, size_t count_bytes,
                    struct jw_error *err)
{
    if (chunks->packer == NULL)
        return os_output_append(chunks->output, bytes, count_bytes, err);
    return jfr_packer_put(chunks->packer, bytes, count_bytes, JFR_PACK_MORE, &chunks->ready, err) &&
           write_ready(chunks, err);
}

bool cli_chunks_end(struct cli_chunks *chunks, struct jw_error *err)
{
    return chunks->packer == NULL ||
           (jfr_packer_put(chunks->packer, NULL, 0, JFR_PACK_END, &chunks->ready, err) &&
            write_ready(chunks, err));
}

bool cli_chunks_copy(struct cli_chunks *chunks, struct jfr_reader *reader,
                     const struct jfr_reader_chunk *chunk, struct jw_error *err)
{
    uint64_t at = JFR_HEADER_BYTES;

    if (!jfr_reader_chunk_bytes(reader, 0, chunks->piece, JFR_HEADER_BYTES, err) ||
        !cli_chunks_begin(chunks, chunks->piece, chunk->size_bytes, err))
        return false;
    while (at < chunk->size_bytes) {
        const uint64_t left_bytes = chunk->size_bytes - at;
        const size_t piece_bytes = left_bytes < PIECE_BYTES ? (size_t)left_bytes : PIECE_BYTES;

        if (!jfr_reader_chunk_bytes(reader, at, chunks->piece, piece_bytes, err) ||
            !cli_chunks_put(chunks, chunks->piece, piece_bytes, err))
            return false;
        at += piece_bytes;
    }
    return cli_chunks_end(chunks, err);
}

bool cli_chunks_put_whole(struct cli_chunks *chunks, const unsigned char *bytes, size_t size_bytes,
                          struct jw_error *err)
{
    return cli_chunks_begin(chunks, bytes, size_bytes, err) &&
           cli_chunks_put(chunks, bytes + JFR_HEADER_BYTES, size_bytes - JFR_HEADER_BYTES, err) &&
           cli_chunks_end(chunks, err);
}

/* The least that readers take for metadata: one type, and a region. */
static void put_metadata(struct jfr_buffer *out)
{
    static const char *const texts[] = {
        "root",   "metadata", "class", "java.lang.String", "name", "id", SEPARATOR_TYPE_TEXT,
        "region", "locale",   "en_US", "gmtOffset",        "0"};
    /* element := name, count of attributes, these, count of children, these. Numbers of texts. */
    static const unsigned char tree[] = {0, 0, 2, 1, 0, 1, 2, 2,  4,  3,
                                         5, 6, 0, 7, 2, 8, 9, 10, 11, 0};
    const size_t begin = jfr_event_begin(out, 0);

    jfr_put_varint(out, 0); /* start */
    jfr_put_varint(out, 0); /* duration */
    jfr_put_varint(out, SEPARATOR_METADATA);
    jfr_put_varint(out, JW_COUNT_OF(texts));
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        jfr_put_string(out, texts[i]);
    jfr_put_bytes(out, tree, sizeof tree);
    jfr_event_end(out, begin);
}

/* Each chunk but the first needs a checkpoint: this one has nothing in it. */
static void put_checkpoint(struct jfr_buffer *out)
{
    const size_t begin = jfr_event_begin(out, 1);

    for (int i = 0; i < 3; i++) /* start, duration, delta */
        jfr_put_varint(out, 0);
    jfr_put_u8(out, 0); /* mask */
    jfr_put_varint(out, 0);
    jfr_event_end(out, begin);
}

bool cli_chunks_separate(struct cli_chunks *chunks, uint64_t start_unix_ns, struct jw_error *err)
{
    struct jfr_buffer body = {0};
    unsigned char header[JFR_HEADER_BYTES];

    put_metadata(&body);
    const size_t checkpoint_offset = JFR_HEADER_BYTES + body.used_bytes;
    put_checkpoint(&body);
    jfr_store_header(header, &(struct jfr_chunk_header){
                                 .size_bytes = JFR_HEADER_BYTES + body.used_bytes,
                                 .checkpoint_offset = checkpoint_offset,
                                 .start_wall_ns = start_unix_ns,
                                 .duration_ns = 1,
                             });
    if (body.has_failed)
        jw_error_set(err, "%s: out of memory; free some and try again",
                     os_output_path(chunks->output));
    const bool is_good =
        !body.has_failed &&
        cli_chunks_begin(chunks, header, JFR_HEADER_BYTES + body.used_bytes, err) &&
        cli_chunks_put(chunks, body.bytes, body.used_bytes, err) && cli_chunks_end(chunks, err);
    jfr_buffer_close(&body);
    return is_good;
}

uint64_t cli_chunks_bytes(const struct cli_chunks *chunks)
{
    return chunks->chunk_bytes;
}

/* ---- convert IN OUT.jfr ---- */

static bool copy_all(struct jfr_reader *reader, struct cli_chunks *chunks, bool is_quiet,
                     struct jw_error *err)
{
    struct cli_progress progress;
    struct jfr_reader_chunk chunk;
    bool is_good = true;

    cli_progress_begin(&progress, is_quiet);
    while (is_good && jfr_reader_next_whole(reader, &chunk, err)) {
        is_good = cli_chunks_copy(chunks, reader, &chunk, err);
        cli_progress_show(&progress, "copying", jfr_reader_position_bytes(reader),
                          jfr_reader_size_bytes(reader));
    }
    cli_progress_end(&progress);
    return is_good && err->message[0] == '\0';
}

/* Options that choose samples or draw them have no effect on whole chunks. */
static bool has_choices(const struct cli_values *values)
{
    return values->event != NULL || values->state != NULL || values->is_of_safepoints ||
           values->from != NULL || values->to != NULL || values->latency != NULL ||
           values->threads.count > 0 || values->endpoints.count > 0 ||
           values->attributes.count > 0 || values->trace_ids.count > 0 ||
           values->span_ids.count > 0 || values->by.count > 0 || values->agent.count > 0;
}

int cli_repack(const char *in, const char *out, const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_CONVERT];
    struct jw_error err = {{0}};

    if (has_choices(values)) {
        jw_error_set(&err,
                     "convert: a recording is packed or unpacked as it is; leave out the options "
                     "that choose samples or say how they look, or name another ending");
        return cli_usage_error(command, &err);
    }
    if (cli_is_same_file(in, out)) {
        jw_error_set(&err, "convert: '%.200s' is the recording itself; name another output", out);
        return cli_usage_error(command, &err);
    }

    struct jfr_reader *reader = jfr_reader_open(in, &err);
    struct cli_chunks *chunks = reader == NULL ? NULL : cli_chunks_open(out, &err);
    const bool is_good = chunks != NULL && copy_all(reader, chunks, values->is_quiet, &err) &&
                         cli_chunks_publish(chunks, &err);

    if (!is_good)
        cli_complain("%s", err.message);
    else if (jfr_reader_notice(reader)[0] != '\0' && !values->is_quiet)
        cli_complain("%s", jfr_reader_notice(reader));
    cli_chunks_close(chunks);
    jfr_reader_close(reader);
    return is_good ? CLI_OK : CLI_FAILED;
}
