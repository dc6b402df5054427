/*
 * jfr_packed - recordings packed with zstd: frames that begin and end where chunks do.
 *
 * For      files that are a fifth as large, which `zstd -d` and every reader of ours unpacks.
 * Callers  recording, cli (jfr_packer_*); jfr (the reader unpacks by itself).
 * Context  dump, tool.
 * Memory   a packer takes less than 3 MiB from its first bytes on; what it makes goes into the caller's buffer.
 *
 * A packed recording is a row of zstd frames. Each chunk has frames of its own: the first one holds the
 * header of the chunk as it is (a raw block), so that a writer may put another one in its place; the
 * others hold the rest, with a checksum of their content. Any other way to pack a recording, such as
 * `zstd x.jfr`, is read as well.
 */
#ifndef JW_JFR_JFR_PACKED_H
#define JW_JFR_JFR_PACKED_H

#include "base/jw.h"
#include "jfr/jfr_buffer.h"
#include "jfr/jfr_writer.h"

#define JFR_PACKED_ENDING ".jfr.zst"
/* In front of a chunk header: head of a frame and of its only block. */
#define JFR_PACKED_HEAD_BYTES 9
/* The largest chunk that is read from a packed file: it is unpacked into memory. */
#define JFR_PACKED_MAX_CHUNK_BYTES ((uint64_t)512 << 20)

struct jfr_packer;

enum jfr_pack {
    JFR_PACK_MORE,  /* more follows: what is ready comes out */
    JFR_PACK_FLUSH, /* all of it comes out, and the frame goes on */
    JFR_PACK_END,   /* all of it, and the end of the frame */
};

/* Whether jaywalk was built with zstd: without it nothing is packed and nothing unpacked. */
bool jfr_can_pack(void);

/* Is that the name of a packed recording? */
bool jfr_is_packed_name(const char *path);

/* NULL and `err`: no zstd, or no memory. */
JW_MUST_CHECK struct jfr_packer *jfr_packer_open(struct jw_error *err);
void jfr_packer_close(struct jfr_packer *packer); /* NULL is fine */

/* Appends to `out` what these bytes become; the first ones after JFR_PACK_END begin a frame. */
JW_MUST_CHECK bool jfr_packer_put(struct jfr_packer *packer, const void *bytes, size_t length_bytes,
                                  enum jfr_pack how, struct jfr_buffer *out, struct jw_error *err);

/* A frame that holds the header of a chunk as it is, behind JFR_PACKED_HEAD_BYTES. */
void jfr_put_packed_header(struct jfr_buffer *out, const unsigned char header[JFR_HEADER_BYTES]);

/* A frame of `length_bytes`, at least 8, that is skipped. */
void jfr_put_packed_gap(struct jfr_buffer *out, size_t length_bytes);

#endif
