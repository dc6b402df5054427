/*
 * chunks_maker - chunks of a recording that have stacks in common, on top of recording_maker.
 *
 * For      tests of what is known of stacks from chunk to chunk.
 * Callers  tests.   Context  tool.   Memory  of the maker.
 *
 * Stacks are rows of numbers, the same bytes in all chunks whatever they mean there, as a shape says: methods, lines and types of frames are numbers of one range.
 * All is drawn by random(), which chunks_make_stacks seeds.
 */
#ifndef JW_TESTS_SUPPORT_CHUNKS_MAKER_H
#define JW_TESTS_SUPPORT_CHUNKS_MAKER_H

#include "support/recording_maker.h"

enum chunk_frame_layout {
    CHUNK_FRAME_USUAL,
    CHUNK_FRAME_LINE_FIRST,
    CHUNK_FRAME_TYPE_THIRD,
    CHUNK_FRAME_LONG_LINE,
    CHUNK_FRAME_NO_METHOD,
    CHUNK_FRAME_OF_THREE,
    CHUNK_FRAME_OF_FIVE,
    CHUNK_FRAME_LAYOUTS,
};

enum chunk_trace_layout {
    CHUNK_TRACE_CUT_FIRST,
    CHUNK_TRACE_CUT_LAST,
    CHUNK_TRACE_NEVER_CUT,
    CHUNK_TRACE_LAYOUTS,
};

enum chunk_encoding {
    CHUNK_ENCODING_UTF8,
    CHUNK_ENCODING_LATIN1,
    CHUNK_ENCODING_CHARS,
    CHUNK_ENCODING_MIXED,
    CHUNK_ENCODING_POOLED,
    CHUNK_ENCODINGS,
};

/* What a chunk is like; all 0: as most recorders write it. */
struct chunk_shape {
    enum chunk_frame_layout frame;
    enum chunk_trace_layout trace;
    enum chunk_encoding encoding;
    unsigned shift;        /* each key of a method means the one so far behind */
    unsigned swapped;      /* this key and the next one mean each other; 0: none do */
    unsigned missing;      /* one in so many methods is not there; 0: all are */
    unsigned type_shift;   /* likewise of types of frames */
    unsigned missing_type; /* a key; 0: all are there */
    bool has_far;          /* more methods of large keys than can be let go */
    bool has_twice;        /* keys that are there twice */
    bool is_keyed;         /* frames are constants */
    bool has_few;          /* stacks: too few to be known */
    bool has_other;        /* stacks of another type, too, whose frames are laid out otherwise, */
    bool is_other_keyed;   /* or are constants */
    bool has_threads;      /* many, all of which have some stacks in common */
};

/* Random numbers below `count`; one in so many cases. */
unsigned chunks_any(unsigned count);
bool chunks_is_one_in(unsigned count);

/* Those that all chunks have from here on. */
void chunks_make_stacks(unsigned seed);
/* Keys of stacks are counted anew in each chunk; some stacks have no samples, and some samples no stack. */
void chunks_put(struct maker *maker, const struct chunk_shape *shape, unsigned number);
/* One thing is another than it was, or nothing is. */
void chunks_change(struct chunk_shape *shape);

#endif
