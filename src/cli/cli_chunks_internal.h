/*
 * cli_chunks_internal - recordings that are made of chunks of others.
 *
 * For      convert (packing), merge, split, recover.   Callers  these.   Context  tool.
 * Memory   owned by the output; cli_chunks_close gives it back.
 */
#ifndef JW_CLI_CLI_CHUNKS_INTERNAL_H
#define JW_CLI_CLI_CHUNKS_INTERNAL_H

#include "base/jw.h"

struct cli_chunks; /* a recording that is being written */
struct jfr_reader;
struct jfr_reader_chunk;

/* Packed where the name ends in .jfr.zst. Nothing stands at `path` before cli_chunks_publish. */
JW_MUST_CHECK struct cli_chunks *cli_chunks_open(const char *path, struct jw_error *err);
JW_MUST_CHECK bool cli_chunks_publish(struct cli_chunks *chunks, struct jw_error *err);
void cli_chunks_close(struct cli_chunks *chunks); /* NULL is fine */

/* Begins a chunk that will have `size_bytes` with its header, which comes first. */
JW_MUST_CHECK bool cli_chunks_begin(struct cli_chunks *chunks, const unsigned char *header,
                                    uint64_t size_bytes, struct jw_error *err);
JW_MUST_CHECK bool cli_chunks_put(struct cli_chunks *chunks, const void *bytes, size_t count_bytes,
                                  struct jw_error *err);
JW_MUST_CHECK bool cli_chunks_end(struct cli_chunks *chunks, struct jw_error *err);

/* A chunk that lies in memory. */
JW_MUST_CHECK bool cli_chunks_put_whole(struct cli_chunks *chunks, const unsigned char *bytes,
                                        size_t size_bytes, struct jw_error *err);

/*
 * Its start must be that of no other chunk: JDK Mission Control leaves out the second of two.
 * An empty chunk between those of two recordings: jdk.jfr keeps types and constants of the chunk before where their
 * numbers are the same, and those of two recordings mean different things.
 */
JW_MUST_CHECK bool cli_chunks_separate(struct cli_chunks *chunks, uint64_t start_unix_ns,
                                       struct jw_error *err);

/* All of begin, put and end: the chunk that the reader is at, byte for byte. */
JW_MUST_CHECK bool cli_chunks_copy(struct cli_chunks *chunks, struct jfr_reader *reader,
                                   const struct jfr_reader_chunk *chunk, struct jw_error *err);

uint64_t cli_chunks_bytes(const struct cli_chunks *chunks); /* of chunks so far, unpacked */

#endif
