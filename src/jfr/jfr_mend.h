/*
 * jfr_mend - what can still be read of a recording that was cut or damaged, whoever wrote it.
 *
 * For      `jaywalk recover`.
 * Callers  cli, tests.
 * Context  tool. One mender, one thread.
 * Memory   the chunk under way, whole; 2 GiB is the largest that is looked at.
 *
 * A chunk is kept from its first byte up to the first one that cannot be right: its events one after the other,
 * by their sizes. The header is set right by what was met: size, metadata, last constants. Where a
 * chunk lost its metadata, that of the chunk before serves, which its writer had then. A mended chunk
 * is read whole by jfr_reader before it is given out, and cut again before what that refuses: so nothing is given out that
 * it cannot read. No value is guessed.
 */
#ifndef JW_JFR_JFR_MEND_H
#define JW_JFR_JFR_MEND_H

#include "base/jw.h"

struct jfr_mender;

struct jfr_mended {
    const unsigned char
        *bytes; /* a whole chunk, until the next one; NULL: nothing of it can be kept */
    size_t size_bytes;
    uint64_t offset_bytes; /* where it was in the file (unpacked) */
    uint64_t lost_bytes;   /* of the file, left out here or before it */
    uint64_t events;       /* in it */
    bool is_changed;       /* it was not whole */
    const char *reason;    /* what was wrong; "": nothing */
};

/* NULL and `err`: cannot be opened, or is no recording, not even a damaged one. */
JW_MUST_CHECK struct jfr_mender *jfr_mender_open(const char *path, struct jw_error *err);
void jfr_mender_close(struct jfr_mender *mender); /* NULL is fine */

/* The next chunk. False at the end, or with `err`: memory is out, the file cannot be read. */
JW_MUST_CHECK bool jfr_mender_next(struct jfr_mender *mender, struct jfr_mended *mended,
                                   struct jw_error *err);

/* Bytes of the file, and of these behind us: for showing progress. */
uint64_t jfr_mender_size_bytes(const struct jfr_mender *mender);
uint64_t jfr_mender_position_bytes(const struct jfr_mender *mender);

#endif
