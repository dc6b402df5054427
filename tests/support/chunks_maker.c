/* Chunks that have stacks in common for tests. Context: tool. */
#include "support/chunks_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHODS     60u
#define CLASSES     10u
#define TYPES       5u
#define FRAMES      150u
#define STACKS      150u
#define DEPTH_MOST  12u
#define CUT_STACKS  20u /* bytes that mean something else where `truncated` stands elsewhere */
#define FAR         UINT64_C(131072) /* keys of methods above are not told apart by their place */
#define FEW_STACKS  30u
#define NAME_BYTES  1100u
#define OTHER_KEYS  1000u
#define OTHER_TRACE 51
#define OTHER_FRAME 52

enum { SAMPLE = 101, WALL = 103, NEW = 104, OTHER_SAMPLE = 105 };

#define THREADS         1500u
#define COMMON_STACKS   3u /* of so many threads */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const frame_rows[CHUNK_FRAME_LAYOUTS][6] = {
    {"      field name=method class=24 constantPool=true", "      field name=lineNumber class=11",
     "      field name=bytecodeIndex class=11", "      field name=type class=23 constantPool=true"},
    {"      field name=lineNumber class=11", "      field name=method class=24 constantPool=true",
     "      field name=bytecodeIndex class=11", "      field name=type class=23 constantPool=true"},
    {"      field name=method class=24 constantPool=true", "      field name=lineNumber class=11",
     "      field name=type class=23 constantPool=true", "      field name=bytecodeIndex class=11"},
    {"      field name=method class=24 constantPool=true", "      field name=lineNumber class=10",
     "      field name=bytecodeIndex class=11", "      field name=type class=23 constantPool=true"},
    {"      field name=method class=10", "      field name=lineNumber class=11",
     "      field name=bytecodeIndex class=11", "      field name=type class=23 constantPool=true"},
    {"      field name=method class=24 constantPool=true", "      field name=lineNumber class=11",
     "      field name=type class=23 constantPool=true"},
    {"      field name=method class=24 constantPool=true", "      field name=lineNumber class=11",
     "      field name=bytecodeIndex class=11", "      field name=type class=23 constantPool=true",
     "      field name=more class=11"},
};

static struct maker *maker; /* of the chunk under way */
static uint64_t frames[FRAMES][4];
static unsigned frame_turn; /* in this chunk: keys of frames, where they have some */
static struct stack {
    bool is_truncated;
    unsigned count;
    unsigned frames[DEPTH_MOST];
} stacks[STACKS];

unsigned chunks_any(unsigned count)
{
    return (unsigned)random() % count;
}

bool chunks_is_one_in(unsigned count)
{
    return chunks_any(count) == 0;
}

/* ---- what all chunks of a recording have ---- */

/* Numbers are small enough to be a method, a line, or a type, whatever stands there. */
static void make_frame(uint64_t *frame)
{
    frame[0] = 1 + chunks_any(METHODS);
    frame[1] = 1 + chunks_any(METHODS);
    frame[2] = 1 + chunks_any(TYPES);
    frame[3] = 1 + chunks_any(TYPES);
    switch (chunks_any(25)) {
    case 0:
        frame[0] = FAR + 1 + chunks_any(3);
        break;
    case 1:
        frame[0] = METHODS + 20; /* of no method, in any chunk */
        break;
    case 2:
        frame[1] = (UINT64_C(1) << 32) + 5; /* as an int a line, as a long none */
        break;
    case 3:
        frame[3] = chunks_is_one_in(2) ? 17 : 0;
        break;
    }
}

void chunks_make_stacks(unsigned seed)
{
    srandom(seed);
    for (unsigned i = 0; i < FRAMES; i++)
        make_frame(frames[i]);
    for (unsigned i = 0; i < STACKS; i++) {
        struct stack *stack = &stacks[i];
        const unsigned like = chunks_any(i + 1),
                       kept = i == 0 ? 0 : chunks_any(stacks[like].count + 1);

        stack->is_truncated = chunks_is_one_in(6);
        stack->count = chunks_any(DEPTH_MOST);
        for (unsigned at = 0; at < stack->count; at++)
            stack->frames[at] = chunks_any(FRAMES);
        if (chunks_is_one_in(2)) /* the end of another one */
            for (unsigned at = 0; at < kept && at < stack->count; at++)
                stack->frames[stack->count - 1 - at] =
                    stacks[like].frames[stacks[like].count - 1 - at];
    }
}

/* ---- chunks ---- */

static void put_string(enum chunk_encoding encoding, const char *text, bool is_accented)
{
    const size_t length = strlen(text);

    switch (encoding) {
    case CHUNK_ENCODING_CHARS:
        maker_byte(maker, 4);
        maker_varint(maker, length + is_accented);
        for (size_t i = 0; i < length; i++)
            maker_varint(maker, (unsigned char)text[i]);
        if (is_accented)
            maker_varint(maker, 0xe9);
        break;
    case CHUNK_ENCODING_LATIN1:
        maker_byte(maker, 5);
        maker_varint(maker, length + is_accented);
        maker_raw(maker, text, length);
        if (is_accented)
            maker_byte(maker, 0xe9);
        break;
    case CHUNK_ENCODING_UTF8:
    case CHUNK_ENCODING_MIXED:
    case CHUNK_ENCODING_POOLED:
    case CHUNK_ENCODINGS:
        maker_byte(maker, 3);
        maker_varint(maker, length + 2 * is_accented);
        maker_raw(maker, text, length);
        if (is_accented)
            maker_raw(maker, "\xc3\xa9", 2);
        break;
    }
}

static void name_method(unsigned number, char text[NAME_BYTES + 1])
{
    snprintf(text, NAME_BYTES + 1, "m%u", number);
    if (number == 7 ||
        number == 8) { /* longer than what is looked up by its bytes; they differ at the end */
        memset(text, 'x', NAME_BYTES - 2);
        snprintf(text + NAME_BYTES - 2, 3, "y%u", number);
    }
}

/* Symbols: names of methods, those of classes, and a descriptor, each with a key that begins at `first`. */
static void put_symbols(const struct chunk_shape *shape, unsigned first)
{
    char text[NAME_BYTES + 1];

    if (shape->encoding == CHUNK_ENCODING_POOLED) {
        maker_pool(maker, MAKER_STRING, METHODS);
        for (unsigned i = 0; i < METHODS; i++) {
            maker_varint(maker, 1 + (i + first) % METHODS);
            name_method(i, text);
            put_string(CHUNK_ENCODING_UTF8, text, i == 9);
        }
    }
    maker_pool(maker, MAKER_SYMBOL, METHODS + CLASSES + 1);
    for (unsigned i = 0; i < METHODS; i++) {
        maker_varint(maker, first + i);
        name_method(i, text);
        if (shape->encoding == CHUNK_ENCODING_POOLED && i % 2 == 0)
            MAKER_PUT(maker, 2, 1 + (i + first) % METHODS);
        else if (shape->encoding == CHUNK_ENCODING_MIXED)
            put_string(i % 3 == 0 ? CHUNK_ENCODING_LATIN1 : CHUNK_ENCODING_UTF8, text, i == 9);
        else
            put_string(shape->encoding, text, i == 9);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        maker_varint(maker, first + METHODS + i);
        snprintf(text, sizeof text, "com/acme/C%u", i);
        put_string(shape->encoding, text, false);
    }
    maker_varint(maker, first + METHODS + CLASSES);
    maker_text(maker, "()V");
}

static void put_method(uint64_t key, unsigned number, unsigned first_symbol)
{
    MAKER_PUT(maker, key, 1 + number % CLASSES, first_symbol + number % METHODS,
              first_symbol + METHODS + CLASSES);
}

static bool is_missing(const struct chunk_shape *shape, unsigned key)
{
    return shape->missing != 0 && (key * 7 + 3) % shape->missing == 0;
}

static void put_methods(const struct chunk_shape *shape, unsigned first_symbol)
{
    const unsigned far_count = shape->has_far ? METHODS : 3,
                   twice_count = shape->has_twice ? 20 : 0;
    unsigned count = far_count + twice_count;

    for (unsigned key = 1; key <= METHODS; key++)
        count += !is_missing(shape, key);
    maker_pool(maker, MAKER_METHOD, count);
    for (unsigned key = 1; key <= METHODS; key++) {
        const unsigned told = shape->swapped == 0          ? key
                              : key == shape->swapped      ? key + 1
                              : key == shape->swapped + 1u ? key - 1
                                                           : key;

        if (!is_missing(shape, key))
            put_method(key, (told + shape->shift) % METHODS, first_symbol);
    }
    for (unsigned i = 0; i < far_count; i++)
        put_method(FAR + 1 + i, (i + shape->shift) % METHODS, first_symbol);
    for (unsigned i = 0; i < twice_count; i++)
        put_method(1 + i, (i + 31) % METHODS, first_symbol);
}

static void put_types(const struct chunk_shape *shape)
{
    static const char *const texts[TYPES] = {"Interpreted", "C++", "Kernel", "Receiver", "Native"};

    maker_pool(maker, MAKER_FRAME_TYPE, TYPES - (shape->missing_type != 0) + 1);
    for (unsigned key = 1; key <= TYPES; key++) {
        if (key == shape->missing_type)
            continue;
        maker_varint(maker, key);
        maker_text(maker, texts[(key - 1 + shape->type_shift) % TYPES]);
    }
    maker_varint(maker, 17);
    maker_text(maker, texts[shape->type_shift % TYPES]);
}

static uint64_t key_of_frame(unsigned number)
{
    return 1 + (number * 7 + frame_turn) % FRAMES;
}

static void put_frame(enum chunk_frame_layout layout, const uint64_t *frame)
{
    if (layout == CHUNK_FRAME_OF_THREE)
        MAKER_PUT(maker, frame[0], frame[1], frame[3]);
    else
        MAKER_PUT(maker, frame[0], frame[1], frame[2], frame[3]);
    if (layout == CHUNK_FRAME_OF_FIVE)
        maker_varint(maker, frame[1]);
}

static void put_frames(enum chunk_frame_layout layout, uint64_t type)
{
    maker_pool(maker, type, FRAMES);
    for (unsigned i = 0; i < FRAMES; i++) {
        maker_varint(maker, key_of_frame(i));
        put_frame(layout, frames[i]);
    }
}

static void put_stack(const struct chunk_shape *shape, enum chunk_frame_layout layout,
                      bool is_keyed, const struct stack *stack)
{
    if (shape->trace == CHUNK_TRACE_CUT_FIRST)
        maker_byte(maker, stack->is_truncated);
    maker_varint(maker, stack->count);
    for (unsigned i = 0; i < stack->count; i++) {
        if (is_keyed)
            maker_varint(maker, key_of_frame(stack->frames[i]));
        else
            put_frame(layout, frames[stack->frames[i]]);
    }
    if (shape->trace == CHUNK_TRACE_CUT_LAST)
        maker_byte(maker, stack->is_truncated);
}

/* A truncated stack of one frame, 1 1 and four numbers; or one frame of 1 and three of the numbers, and whether it is truncated. */
static bool has_cut_stacks(const struct chunk_shape *shape)
{
    return shape->trace != CHUNK_TRACE_NEVER_CUT && !shape->is_keyed &&
           shape->frame != CHUNK_FRAME_OF_THREE && shape->frame != CHUNK_FRAME_OF_FIVE;
}

static unsigned put_stacks(const struct chunk_shape *shape, unsigned first_key)
{
    const unsigned count = shape->has_few ? FEW_STACKS : STACKS;
    const unsigned cut_count = has_cut_stacks(shape) && !shape->has_few ? CUT_STACKS : 0;

    maker_pool(maker, MAKER_TRACE, count + cut_count);
    for (unsigned i = 0; i < count; i++) {
        maker_varint(maker, first_key + i);
        put_stack(shape, shape->frame, shape->is_keyed, &stacks[i]);
    }
    for (unsigned i = 0; i < cut_count; i++) {
        maker_varint(maker, first_key + count + i);
        MAKER_PUT(maker, 1, 1, 10 + i, 20 + i, 1 + i % TYPES, 1);
    }
    return count + cut_count;
}

static enum chunk_frame_layout other_layout(const struct chunk_shape *shape)
{
    return shape->frame == CHUNK_FRAME_USUAL ? CHUNK_FRAME_LINE_FIRST : CHUNK_FRAME_USUAL;
}

static void put_threads(unsigned count)
{
    char name[20];

    maker_pool(maker, MAKER_THREAD, count);
    for (unsigned i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "t%u", i);
        maker_varint(maker, i);
        maker_text(maker, name);
        maker_varint(maker, 100 + i);
        maker_text(maker, name);
        maker_varint(maker, i);
    }
}

static void put_pools(const struct chunk_shape *shape, unsigned first_key, unsigned *stack_count)
{
    static const char *const states[] = {"STATE_RUNNABLE", "STATE_SLEEPING"};
    const unsigned first_symbol = 1 + chunks_any(50);
    const bool has_frames = shape->is_keyed, has_others = shape->has_other && shape->is_other_keyed;
    size_t at = maker_begin_checkpoint(maker, 3u + (shape->encoding == CHUNK_ENCODING_POOLED));

    frame_turn = chunks_any(FRAMES);
    put_symbols(shape, first_symbol);
    put_types(shape);
    maker_text_pool(maker, MAKER_STATE, COUNT_OF(states), states);
    maker_end_event(maker, at);

    at = maker_begin_checkpoint(maker, 4u + has_frames + shape->has_other + has_others);
    maker_pool(maker, MAKER_CLASS, CLASSES);
    for (unsigned i = 0; i < CLASSES; i++)
        MAKER_PUT(maker, 1 + i, first_symbol + METHODS + i);
    put_methods(shape, first_symbol);
    put_threads(shape->has_threads ? THREADS : 3);
    if (has_frames)
        put_frames(shape->frame, MAKER_FRAME);
    *stack_count = put_stacks(shape, first_key);
    if (has_others)
        put_frames(other_layout(shape), OTHER_FRAME);
    if (shape->has_other) {
        maker_pool(maker, OTHER_TRACE, STACKS);
        for (unsigned i = 0; i < STACKS; i++) {
            maker_varint(maker, first_key + OTHER_KEYS + i);
            put_stack(shape, other_layout(shape), shape->is_other_keyed, &stacks[i]);
        }
    }
    maker_end_event(maker, at);
}

static void add_rows(const char **rows, size_t *count, const char *const *more)
{
    for (; *more != NULL; more++)
        rows[(*count)++] = *more;
}
#define ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void put_trace_rows(const char **rows, size_t *count, enum chunk_trace_layout layout,
                           const char *frames_row)
{
    if (layout == CHUNK_TRACE_CUT_FIRST)
        rows[(*count)++] = "      field name=truncated class=13";
    rows[(*count)++] = frames_row;
    if (layout == CHUNK_TRACE_CUT_LAST)
        rows[(*count)++] = "      field name=truncated class=13";
}

static const char *const name_rows[] = {
    MAKER_NAME_ROWS,
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "    class name=profiler.WallClockSample id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=samples class=11",
    "    class name=jdk.ObjectAllocationInNewTLAB id=104 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=eventThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=objectClass class=25 constantPool=true",
    "      field name=allocationSize class=10",
    "      field name=tlabSize class=10",
    "    class name=datadog.ExecutionSample id=105 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=eventThread class=20 constantPool=true",
    NULL,
};

static void put_metadata(const struct chunk_shape *shape)
{
    const char *rows[120];
    size_t count = 0;

    add_rows(rows, &count,
             ROWS("root", "  metadata", "    class name=long id=10", "    class name=int id=11",
                  "    class name=java.lang.String id=12", "    class name=boolean id=13",
                  "    class name=java.lang.Thread id=20", "      field name=osName class=12",
                  "      field name=osThreadId class=10", "      field name=javaName class=12",
                  "      field name=javaThreadId class=10",
                  "    class name=jdk.types.StackTrace id=21"));
    put_trace_rows(rows, &count, shape->trace,
                   shape->is_keyed
                       ? "      field name=frames class=22 dimension=1 constantPool=true"
                       : "      field name=frames class=22 dimension=1");
    add_rows(rows, &count, ROWS("    class name=jdk.types.StackFrame id=22"));
    add_rows(rows, &count, frame_rows[shape->frame]);
    add_rows(rows, &count, ROWS("    class name=test.StackTrace id=51"));
    put_trace_rows(rows, &count, shape->trace,
                   shape->is_other_keyed
                       ? "      field name=frames class=52 dimension=1 constantPool=true"
                       : "      field name=frames class=52 dimension=1");
    add_rows(rows, &count, ROWS("    class name=test.StackFrame id=52"));
    add_rows(rows, &count, frame_rows[other_layout(shape)]);
    add_rows(rows, &count, name_rows);
    add_rows(rows, &count,
             ROWS(shape->has_other ? "      field name=stackTrace class=51 constantPool=true"
                                   : "      field name=stackTrace class=21 constantPool=true",
                  "      field name=weight class=10", "  region locale=en_US gmtOffset=0"));
    rows[count] = NULL;
    maker_metadata_from(maker, rows);
}

static void put_samples(uint64_t trace, uint64_t other_trace)
{
    MAKER_EVENT(maker, SAMPLE, chunks_any(1000), 1 + chunks_any(3), trace, 1 + chunks_any(2));
    if (chunks_is_one_in(3))
        MAKER_EVENT(maker, SAMPLE, chunks_any(1000), chunks_any(4), trace, 1);
    if (!chunks_is_one_in(4))
        MAKER_EVENT(maker, WALL, chunks_any(1000), 1 + chunks_any(3), trace, 1 + chunks_any(2),
                    1 + chunks_any(9));
    if (!chunks_is_one_in(4))
        MAKER_EVENT(maker, NEW, chunks_any(1000), 1 + chunks_any(3), trace, 1 + chunks_any(3),
                    1 + chunks_any(50), 100 + chunks_any(50));
    if (!chunks_is_one_in(4))
        MAKER_EVENT(maker, OTHER_SAMPLE, chunks_any(1000), 1 + chunks_any(3), other_trace,
                    1 + chunks_any(5));
}

void chunks_put(struct maker *to, const struct chunk_shape *shape, unsigned number)
{
    const unsigned first_key = 1 + chunks_any(100);
    unsigned count = 0;

    maker = to;
    maker_begin_chunk(maker);
    put_metadata(shape);
    put_pools(shape, first_key, &count);
    for (unsigned i = 0; i < count; i++)
        if (!chunks_is_one_in(6))
            put_samples(first_key + i, first_key + i + (shape->has_other ? OTHER_KEYS : 0));
    for (unsigned i = 1; shape->has_threads && i <= THREADS; i++)
        for (unsigned stack = 1; stack <= COMMON_STACKS; stack++)
            MAKER_EVENT(maker, SAMPLE, i, i, first_key + count - stack, 1);
    put_samples(0, 0);
    put_samples(first_key + count + 7, first_key + count + 7);
    maker_end_chunk(maker, 1000 + number);
}

void chunks_change(struct chunk_shape *shape)
{
    switch (chunks_any(20)) {
    case 0:
        shape->frame = chunks_any(CHUNK_FRAME_LAYOUTS);
        break;
    case 1:
        shape->trace = chunks_any(CHUNK_TRACE_LAYOUTS);
        break;
    case 2:
        shape->encoding = chunks_any(CHUNK_ENCODINGS);
        break;
    case 3:
        shape->shift = chunks_any(3);
        break;
    case 4:
        shape->swapped = chunks_any(METHODS - 1);
        break;
    case 5:
    case 6:
        shape->missing = chunks_is_one_in(3) ? 0 : 3 + chunks_any(9);
        break;
    case 7:
        shape->type_shift = chunks_any(TYPES);
        break;
    case 8:
        shape->missing_type = chunks_any(TYPES + 1);
        break;
    case 9:
        shape->has_far = chunks_is_one_in(2);
        break;
    case 10:
        shape->has_twice = chunks_is_one_in(2);
        break;
    case 11:
        shape->is_keyed = chunks_is_one_in(2);
        break;
    case 12:
        shape->has_few = chunks_is_one_in(2);
        break;
    }
}
