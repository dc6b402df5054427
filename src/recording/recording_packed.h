/*
 * recording_packed - a recording on disk that is packed with zstd while it is written.
 *
 * For      recording_file, whose functions these are where its path ends in .jfr.zst.
 * Callers  recording_file.
 * Context  recording_packed_open: control. The rest: dump.
 * Memory   what a packer takes, and one part packed.
 *
 * Bytes are only ever added, but for the header of the open chunk, which lies in a frame of its own as it is and
 * is replaced in place once what it tells of is there:
 *
 *     | header, raw | part, part, ... | header, raw | part, part ( | part |   a part is added, unseen
 *     | header, raw | part, part, ... | header'     | part, part,    part |   its header tells of it
 *
 * So whoever dies when leaves a file in which the last header tells the truth. A header never crosses a page:
 * a frame that readers skip stands before it where it would. docs/adr/0033.
 */
#ifndef JW_RECORDING_RECORDING_PACKED_H
#define JW_RECORDING_RECORDING_PACKED_H

#include "base/jw.h"
#include "recording/recording_file.h"

struct recording_packed;

/* Not sticky: the caller keeps the first failure, and calls no more but close. */
JW_MUST_CHECK struct recording_packed *
recording_packed_open(const char *path, const struct os_output_calls *calls,
                      const struct recording_file_part *first, struct jw_error *err);
JW_MUST_CHECK bool recording_packed_append(struct recording_packed *packed,
                                           const struct recording_file_part *part, bool is_final,
                                           struct jw_error *err);
JW_MUST_CHECK bool recording_packed_begin_chunk(struct recording_packed *packed,
                                                const struct recording_file_part *first,
                                                struct jw_error *err);
/* Ends the frame under way, so that file and copy unpack without complaint. */
JW_MUST_CHECK bool recording_packed_snapshot(struct recording_packed *packed, const char *path,
                                             struct jw_error *err);
void recording_packed_close(struct recording_packed *packed); /* NULL is fine */

uint64_t recording_packed_used_bytes(const struct recording_packed *packed);  /* of the file */
uint64_t recording_packed_chunk_bytes(const struct recording_packed *packed); /* unpacked */

#endif
