/*
 * jfr_writer - the parts of a chunk that are no events: header, metadata, constant pools, padding.
 *
 * For      files that the `jfr` tool of JDK 17 and 25 and JMC read without complaint.
 * Callers  recording, tests.
 * Context  dump, tool.
 * Memory   what is written goes into the caller's buffers; struct jfr_pools owns its own.
 *
 * A chunk:   header | events, checkpoints, metadata and padding in any order
 * Offsets inside a chunk count from its first byte. Readers find the metadata and the last checkpoint by
 * the header, each checkpoint before it by a delta, and walk everything else by size.
 */
#ifndef JW_JFR_JFR_WRITER_H
#define JW_JFR_JFR_WRITER_H

#include "base/jw.h"
#include "jfr/jfr_attributes.h"
#include "jfr/jfr_buffer.h"
#include "jfr/jfr_declared.h"
#include "jfr/jfr_types.h"

#define JFR_HEADER_BYTES       68
#define JFR_PADDING_SIZE_BYTES 5 /* of the size field in front of a padding event */
#define JFR_PADDING_MIN_BYTES  11
#define JFR_TICKS_PER_SECOND   1000000000ull /* our ticks are CLOCK_MONOTONIC in nanoseconds, or: */
/* The greatest power of two by which nanoseconds can be counted, so that readers, which go by doubles, are exact: 512 ns. */
#define JFR_COARSE_TICK_BITS 9u
#define JFR_CHUNK_MAX_BYTES  ((uint64_t)INT32_MAX)        /* JMC loads a chunk into one array */
#define JFR_METADATA_OFFSET  ((uint64_t)JFR_HEADER_BYTES) /* we put it first */

struct jfr_chunk_header {
    uint64_t size_bytes;
    uint64_t checkpoint_offset; /* of the last checkpoint in the chunk */
    uint64_t start_wall_ns;     /* since the Unix epoch, at start_ticks */
    uint64_t start_ticks;
    uint64_t ticks_per_second; /* 0: JFR_TICKS_PER_SECOND */
    uint64_t duration_ns;      /* above 0, else JMC takes the chunk for empty */
    bool is_final;             /* last chunk of the recording */
};

/*
 * A finished header: state 0, so that readers accept the chunk at once. Every chunk needs a checkpoint:
 * jdk.jfr takes an offset of 0 for "none" in the first chunk of a file only.
 * Source: tried with OpenJDK 17.0.21 and 25.0.3.
 */
void jfr_store_header(unsigned char out[JFR_HEADER_BYTES], const struct jfr_chunk_header *header);

/*
 * Head of an event of `size_bytes` (head included, at least JFR_PADDING_MIN_BYTES) that readers skip
 * with all that lies in it: a checkpoint without pools that is in nobody's chain. An event of a type
 * that is not declared is skipped too, but JMC logs and counts each one.
 * Source: OpenJDK 17 and 25, ChunkParser; JMC 9, ChunkLoaderV1.call.
 */
void jfr_store_padding(unsigned char out[JFR_PADDING_MIN_BYTES], uint64_t size_bytes);

/* The size field alone, to shorten a padding in place. */
void jfr_store_padding_size(unsigned char out[JFR_PADDING_SIZE_BYTES], uint64_t size_bytes);

/* What the metadata of a chunk depends on. */
struct jfr_declaration {
    enum jfr_dialect dialect;
    bool has_frames_in_line;                 /* as jfr_has_frames_in_line has it */
    const struct jfr_attributes *attributes; /* that there are fields for; NULL: none */
    unsigned left_out; /* JFR_OF_...: fields of these are not declared, and no event has them */
    uint64_t clock;    /* differs where clocks do, in their origin or rate */
    const struct jfr_declared_set
        *declared; /* types of events that were declared while the program ran; NULL: none */
};

/*
 * The metadata event: all of jfr_types.def that there is. Equal for equal declarations but for its time. Its id follows from all of that: jdk.jfr
 * of JDK 17 reads times of a chunk by the clock of the one before where the id is the same; that of 25 does so in any case. Source: tried with merged files.
 */
void jfr_put_metadata(struct jfr_buffer *buffer, uint64_t now_ticks,
                      const struct jfr_declaration *declaration);

/* Constants waiting for the next checkpoint, by type. All zero is empty and valid. */
struct jfr_pools {
    struct jfr_buffer constants[JFR_TYPE_LIMIT];
    uint64_t counts[JFR_TYPE_LIMIT];
};

void jfr_pools_close(struct jfr_pools *pools);
void jfr_pools_clear(struct jfr_pools *pools);
bool jfr_pools_are_empty(const struct jfr_pools *pools);
size_t jfr_pools_bytes(const struct jfr_pools *pools);

/* Begins the constant of this type and key; the caller puts its fields into the buffer returned. */
struct jfr_buffer *jfr_pool_put(struct jfr_pools *pools, enum jfr_type type, uint64_t key);

/*
 * Appends a checkpoint with all of `pools` and clears them. `previous_delta_bytes` is how far this
 * checkpoint starts behind the one before it in the chunk; 0: it is the first.
 */
void jfr_put_checkpoint(struct jfr_buffer *buffer, struct jfr_pools *pools, uint64_t now_ticks,
                        uint64_t previous_delta_bytes);

#endif
