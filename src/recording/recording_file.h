/*
 * recording_file - a JFR file that the stock `jfr` tool reads at every instant, whoever dies when.
 *
 * For      recording: bytes of whole events in, chunks on disk out.
 * Callers  recording, tests.
 * Context  recording_file_open: control. The rest: dump.
 * Memory   a few hundred bytes; the caller owns what he hands in.
 *
 * The file always ends in a padding event that reaches to its end. New bytes are written into it, where
 * no reader looks, with the next padding behind them; then two small writes make them count, each of
 * which leaves a valid file:
 *
 *     | header | events ... | padding .......................................... |   before
 *     | header | events ... | padding ( | new events, checkpoint | padding ..... |   written, unseen
 *     | header'| events ... | padding ( | new events, checkpoint | padding ..... |   1 header: constants
 *     | header'| events ... |pad| new events, checkpoint | padding ............. |   2 padding: events
 *
 * A new chunk goes the same way: written whole, then 1 the size of the chunk before it ends it, then 2
 * its padding is cut. The reserve grows, and goes at the end, by a copy that takes the file's place in
 * one rename. The two small writes never cross a page, so a kill cannot halve them. docs/adr/0002.
 *
 * Where its name ends in .jfr.zst the file is packed, and recording_packed.h tells how.
 *
 * The first failure is sticky: what was readable stays, nothing more is written, and later calls do
 * nothing and return true.
 */
#ifndef JW_RECORDING_RECORDING_FILE_H
#define JW_RECORDING_RECORDING_FILE_H

#include "base/jw.h"

struct os_output_calls;
struct recording_file;

/* Whole events, and the header fields that hold once they are visible. */
struct recording_file_part {
    const unsigned char *bytes;
    size_t length_bytes;
    bool has_checkpoint;
    size_t checkpoint_at; /* in `bytes`: the last checkpoint */
    uint64_t start_wall_ns;
    uint64_t start_ticks;
    uint64_t ticks_per_second; /* 0: as many as nanoseconds */
    uint64_t duration_ns;
};

/* Creates the file with a first chunk and shows it at `path`. `calls` as in os_output_open. */
JW_MUST_CHECK struct recording_file *recording_file_open(const char *path,
                                                         const struct os_output_calls *calls,
                                                         const struct recording_file_part *first,
                                                         struct jw_error *err);

/*
 * Where the next appended part will begin, from the first byte of the chunk. The first part of a chunk
 * begins at JFR_HEADER_BYTES; it begins with the metadata event and has a checkpoint: jdk.jfr refuses a
 * chunk without one, unless it is the first of the file.
 */
uint64_t recording_file_next_offset(const struct recording_file *file);

/* Adds to the open chunk; ends it and begins another. False and `err`: failed, now for good. */
JW_MUST_CHECK bool recording_file_append(struct recording_file *file,
                                         const struct recording_file_part *part,
                                         struct jw_error *err);
JW_MUST_CHECK bool recording_file_begin_chunk(struct recording_file *file,
                                              const struct recording_file_part *first,
                                              struct jw_error *err);

/*
 * Appends the last part, sets the final flag and gives up the reserve. A file too large to be copied
 * once more, or a disk too full for it, keeps its reserve: a hole, which takes no space.
 */
JW_MUST_CHECK bool recording_file_finish(struct recording_file *file,
                                         const struct recording_file_part *last,
                                         struct jw_error *err);

/* Writes a file of its own at `path` that holds what is visible now, complete and at its size. */
JW_MUST_CHECK bool recording_file_snapshot(struct recording_file *file, const char *path,
                                           struct jw_error *err);

void recording_file_close(struct recording_file *file); /* NULL is fine; leaves the file as it is */

bool recording_file_has_failed(const struct recording_file *file);
uint64_t recording_file_used_bytes(const struct recording_file *file); /* without the reserve */
uint64_t
recording_file_chunk_bytes(const struct recording_file *file); /* of the open chunk, unpacked */

#endif
