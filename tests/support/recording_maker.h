/*
 * recording_maker - flight recordings for tests, byte by byte, sound or not.
 *
 * For      tests of the reader and of what stands on it. An encoder of its own: what reader and
 *          writer both get wrong would not be seen otherwise.
 * Callers  tests.   Context  tool.   Memory  in the struct; maker_close gives it back.
 */
#ifndef JW_TESTS_SUPPORT_RECORDING_MAKER_H
#define JW_TESTS_SUPPORT_RECORDING_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maker {
    unsigned char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    size_t chunk_begin; /* of the chunk that is being made */
    uint64_t checkpoint;
    uint64_t metadata;
};

/* Type ids of maker_metadata. */
enum {
    MAKER_LONG = 10,
    MAKER_INT = 11,
    MAKER_STRING = 12,
    MAKER_BOOLEAN = 13,
    MAKER_FLOAT = 14,
    MAKER_DOUBLE = 15,
    MAKER_BYTE = 16,
    MAKER_SHORT = 17,
    MAKER_CHAR = 18,
    MAKER_THREAD = 20,
    MAKER_TRACE = 21,
    MAKER_FRAME = 22,
    MAKER_FRAME_TYPE = 23,
    MAKER_METHOD = 24,
    MAKER_CLASS = 25,
    MAKER_SYMBOL = 26,
    MAKER_STATE = 27,
    MAKER_POINT = 28, /* x int, y int */
    MAKER_SAMPLE = 101,
    MAKER_ANY = 102, /* test.Any: a field of each kind, see maker_metadata */
    MAKER_DIAGNOSTICS = 103,
};

void maker_close(struct maker *maker);
void maker_byte(struct maker *maker, unsigned byte);
void maker_raw(struct maker *maker, const void *bytes, size_t count);
void maker_varint(struct maker *maker, uint64_t value);
void maker_text(struct maker *maker, const char *text); /* UTF-8; NULL: null */

/* Numbers, one after the other: MAKER_PUT(&maker, 1, 0, 7). */
void maker_varints(struct maker *maker, size_t count, const uint64_t *values);
#define MAKER_PUT(maker, ...)                                                                      \
    maker_varints(maker, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),               \
                  (const uint64_t[]){__VA_ARGS__})

void maker_begin_chunk(struct maker *maker);
/* Completes the header: state 0, size, offsets, 1 s from `start_ns` on, ticks of a nanosecond. */
void maker_end_chunk(struct maker *maker, uint64_t start_ns);

/* An event, whose size is known at its end. */
size_t maker_begin_event(struct maker *maker, uint64_t type);
void maker_end_event(struct maker *maker, size_t begin);
/* One that consists of numbers. */
#define MAKER_EVENT(maker, type, ...)                                                              \
    do {                                                                                           \
        const size_t begin_ = maker_begin_event(maker, type);                                      \
        MAKER_PUT(maker, __VA_ARGS__);                                                             \
        maker_end_event(maker, begin_);                                                            \
    } while (0)

/* The metadata of the types above. */
void maker_metadata(struct maker *maker);

/* A metadata event from rows of words: "class name=x id=1", "  field name=y class=10"; two blanks a
 * level; the first row is the root. For metadata that is wrong. */
void maker_metadata_from(struct maker *maker, const char *const *rows);

/* Of such rows: what frames name, as the ids above have it. */
#define MAKER_NAME_ROWS                                                                            \
    "    class name=jdk.types.FrameType id=23 simpleType=true",                                    \
        "      field name=description class=12", "    class name=jdk.types.Method id=24",          \
        "      field name=type class=25 constantPool=true",                                        \
        "      field name=name class=26 constantPool=true",                                        \
        "      field name=descriptor class=26 constantPool=true",                                  \
        "    class name=java.lang.Class id=25",                                                    \
        "      field name=name class=26 constantPool=true",                                        \
        "    class name=jdk.types.Symbol id=26 simpleType=true",                                   \
        "      field name=string class=12"

/* A checkpoint; the one before it in the chunk is linked. Pools follow, each with its entries. */
size_t maker_begin_checkpoint(struct maker *maker, uint64_t pool_count);
void maker_pool(struct maker *maker, uint64_t type, uint64_t entry_count);
/* One of texts, whose keys are their places, from 1. */
void maker_text_pool(struct maker *maker, uint64_t type, size_t count, const char *const *texts);

/* One sample, with keys of constants. */
void maker_sample(struct maker *maker, uint64_t ticks, uint64_t thread, uint64_t trace,
                  uint64_t state, uint64_t weight_ns);

/*
 * A sound chunk with everything: two threads (1 main, 2 "worker; 2"), traces 1 (Main.main -> Work.run,
 * leaf first), 2 (native "Foo::bar" of libx.so below Main.main), 3 (truncated, Work.run alone),
 * state 1 runnable, 2 sleeping; samples: 3 x trace 1, 2 x trace 2 in thread 2, 1 x trace 3 sleeping,
 * 1 x no trace; 10 ms each; counters: 9 signals, 7 samples, 2 lostNoThread.
 */
void maker_usual_chunk(struct maker *maker, uint64_t start_ns);
void maker_usual_pools(struct maker *maker); /* its constants alone */

/* Writes all bytes to a new temporary file, whose path goes to `path`; the caller unlinks it. */
bool maker_save(const struct maker *maker, char path[64]);

#endif
