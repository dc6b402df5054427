/*
 * jfr_buffer - bytes on their way into a recording: growing memory and JFR's encodings.
 *
 * For      events, metadata and constant pools.
 * Callers  jfr, recording, tests.
 * Context  dump, tool.
 * Memory   a buffer that is all zero is empty and valid; jfr_buffer_close gives its memory back.
 *
 * Failure is sticky: out of memory, a put appends nothing and marks the buffer; look at `has_failed`
 * once, before the bytes are used.
 */
#ifndef JW_JFR_JFR_BUFFER_H
#define JW_JFR_JFR_BUFFER_H

#include "base/jw.h"

#define JFR_VARINT_MAX_BYTES 9
/* Readers take the size of an event as a positive int. Source: OpenJDK 17 and 25, ChunkParser. */
#define JFR_BUFFER_MAX_BYTES ((size_t)INT32_MAX)

struct jfr_buffer {
    unsigned char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    bool has_failed;
};

void jfr_buffer_close(struct jfr_buffer *buffer);
void jfr_buffer_clear(
    struct jfr_buffer *buffer); /* forgets content and failure, keeps the memory */

void jfr_put_u8(struct jfr_buffer *buffer, unsigned value);
void jfr_put_be16(struct jfr_buffer *buffer, uint16_t value);
void jfr_put_be32(struct jfr_buffer *buffer, uint32_t value);
void jfr_put_be64(struct jfr_buffer *buffer, uint64_t value);
void jfr_put_float(struct jfr_buffer *buffer, float value);
void jfr_put_double(struct jfr_buffer *buffer, double value);
void jfr_put_bytes(struct jfr_buffer *buffer, const void *bytes, size_t length_bytes);

/* JFR's compressed integer: char, short, int, long, sizes, ids, counts and keys. */
void jfr_put_varint(struct jfr_buffer *buffer, uint64_t value);
void jfr_put_int(struct jfr_buffer *buffer, int32_t value);  /* its 32 bits, not sign-extended */
void jfr_put_long(struct jfr_buffer *buffer, int64_t value); /* a negative one takes nine bytes */

/* Writes `value` (below 2^(7 * length_bytes)) in exactly `length_bytes` bytes; for sizes known late. */
void jfr_store_padded_varint(unsigned char *out, uint64_t value, size_t length_bytes);

/*
 * A string. Input is plain UTF-8 or the modified UTF-8 of class files (zero as C0 80, surrogates as
 * three bytes each); what is written is plain UTF-8, with U+FFFD for each byte that is neither.
 */
void jfr_put_text(struct jfr_buffer *buffer, const char *bytes, size_t length_bytes);
void jfr_put_string(struct jfr_buffer *buffer, const char *text); /* NULL: the null string */

/* The bytes of such a string alone. */
void jfr_put_clean_utf8(struct jfr_buffer *buffer, const char *bytes, size_t length_bytes);

/* The conversion; returns the length of the result, which `out` (may be NULL) gets. */
size_t jfr_clean_utf8(const char *bytes, size_t length_bytes, char *out);

/* Begins an event (or checkpoint) of this type; what is put before jfr_event_end is its payload. */
JW_MUST_CHECK size_t jfr_event_begin(struct jfr_buffer *buffer, uint64_t type_id);
/* Writes the size in front, in as few bytes as it needs. `begin` is what jfr_event_begin returned. */
void jfr_event_end(struct jfr_buffer *buffer, size_t begin);

#endif
