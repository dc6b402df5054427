/*
 * jfr_reader - reads JDK Flight Recordings, version 2, of any producer.
 *
 * For      converting recordings, ours or another's; nothing is known of event types but what the
 *          file's own metadata says.
 * Callers  cli, recording (texts alone), tests.
 * Context  tool, dump. One reader, one thread; several of one file (jfr_reader_share) may be on as many.
 * Memory   one window of the file, and of the current chunk its metadata and constant pools, each
 *          with a limit. Events are never kept. Of a file packed with zstd (jfr_packed.h), which is
 *          known by its first bytes, one chunk is kept unpacked, 512 MiB at most.
 *
 * The file is read with pread and not mapped: whoever writes it may cut it under us, and then a
 * read comes back short, where a mapping would raise SIGBUS.
 *
 * Every length, offset, key and reference of the file is distrusted. Damage inside a chunk is an
 * error that names file and offset. A last chunk that was not finished, or is cut, is left out and
 * told by jfr_reader_notice, provided that a complete one stands before it.
 *
 *     open -> next_chunk -> next_event, next_event, ... (false: end or error)
 *                  ^-------------'
 * Values point into the reader: those of an event live until the next event, those of pools until
 * the next chunk.
 */
#ifndef JW_JFR_JFR_READER_H
#define JW_JFR_JFR_READER_H

#include "base/jw.h"

struct jfr_reader;
struct jfr_reader_type;

struct jfr_reader_chunk {
    uint64_t number;       /* 0, 1 ..., in the order of the file */
    uint64_t offset_bytes; /* in the file */
    uint64_t size_bytes;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    int64_t start_ticks;
    int64_t ticks_per_second;
    bool is_finished; /* its writer closed it */
    bool is_final;    /* and says that the recording ended with it */
};

/* A value, still encoded. Made by the functions below only. */
struct jfr_value {
    const struct jfr_reader *reader;
    const struct jfr_reader_type *type;
    const unsigned char *bytes;
    const unsigned char *end;
    bool is_pooled; /* `bytes` hold the key of a constant of this type */
    bool is_array;
    bool is_whole; /* a constant, from its first byte to its last */
};

struct jfr_reader_event {
    const char *type_name; /* "jdk.ExecutionSample" */
    const struct jfr_reader_type *type;
    struct jfr_value value; /* all its fields, for jfr_value_field */
    int64_t start_ticks;    /* 0 where the type has no startTime */
    uint64_t offset_bytes;  /* in the file, for messages */
    uint64_t size_bytes;    /* as it lies there */
};

/* NULL when it cannot be opened or does not begin like a recording. */
JW_MUST_CHECK struct jfr_reader *jfr_reader_open(const char *path, struct jw_error *err);
void jfr_reader_close(struct jfr_reader *reader);

/*
 * Another reader of the same file: each chunk goes to one of them, whoever asks first, and each may be used by a
 * thread of its own. `lead` was opened, has given no chunk yet, and is closed last. What is wrong with a chunk its own
 * reader says, by that chunk's number; from then on no reader gets another one. NULL and `err`: no memory.
 */
JW_MUST_CHECK struct jfr_reader *jfr_reader_share(struct jfr_reader *lead, struct jw_error *err);

/* No reader of the file gets another chunk. */
void jfr_reader_end(struct jfr_reader *reader);

/*
 * Events of one chunk by several threads. `view` was made by jfr_reader_share and takes no chunks itself: from now on it has the one that
 * `owner` has in hand and reads its events of, and gives those that begin at `begin_bytes` of the file or behind, and before `end_bytes`,
 * which are where events begin or end. Nobody asks `owner` for anything until all have looked away again.
 */
void jfr_reader_look(struct jfr_reader *view, const struct jfr_reader *owner, uint64_t begin_bytes,
                     uint64_t end_bytes);
void jfr_reader_look_away(struct jfr_reader *view);

/* Of the chunk in hand: where its next event begins and how many bytes its events have, about; what it takes in the file, packed as that is, and what lies behind it there. */
struct jfr_reader_measures {
    uint64_t next_bytes;
    uint64_t events_bytes;
    uint64_t own_bytes;
    uint64_t behind_bytes;
};
void jfr_reader_measure(const struct jfr_reader *reader, struct jfr_reader_measures *out);

/* Number of the chunk that was asked for last, also where that failed. */
uint64_t jfr_reader_chunk_number(const struct jfr_reader *reader);

/* False at the end of the file, and when it is damaged: then `err` says what and where. */
JW_MUST_CHECK bool jfr_reader_next_chunk(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                                         struct jw_error *err);

/* The same in two steps, for who may want no event of a chunk when he knows its types: its constants are not read then. */
JW_MUST_CHECK bool jfr_reader_next_types(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                                         struct jw_error *err);
JW_MUST_CHECK bool jfr_reader_begin_events(struct jfr_reader *reader, struct jw_error *err);

/* The same for who copies chunks and looks into none: it has no events then. */
JW_MUST_CHECK bool jfr_reader_next_whole(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                                         struct jw_error *err);

/* Bytes of this chunk as they are, from its first one on. */
JW_MUST_CHECK bool jfr_reader_chunk_bytes(struct jfr_reader *reader, uint64_t offset_bytes,
                                          void *bytes, size_t count_bytes, struct jw_error *err);

/* The next event of this chunk, in the order of the file. False at its end, or damaged. */
JW_MUST_CHECK bool jfr_reader_next_event(struct jfr_reader *reader, struct jfr_reader_event *event,
                                         struct jw_error *err);

/*
 * The same in two steps, for who wants few of them: of what the first one gives, type, size and place alone are known. The second one makes it
 * whole, also when others were given behind it.
 */
JW_MUST_CHECK bool jfr_reader_next_head(struct jfr_reader *reader, struct jfr_reader_event *event,
                                        struct jw_error *err);
JW_MUST_CHECK bool jfr_reader_load_event(struct jfr_reader *reader, struct jfr_reader_event *event,
                                         struct jw_error *err);

/* What was left out and why, one sentence; "" when everything was read. */
const char *jfr_reader_notice(const struct jfr_reader *reader);

/* Bytes of the file, packed as it is, and about how many of them are behind us: for showing progress. */
uint64_t jfr_reader_size_bytes(const struct jfr_reader *reader);
uint64_t jfr_reader_position_bytes(const struct jfr_reader *reader);

/* The constants of one type in this chunk: how many, and what they and their keys take. */
struct jfr_pool {
    const char *type_name; /* lives until the next chunk */
    uint64_t count;
    uint64_t bytes;
};

/* One of each type that has any, in the order of their ids; those behind `capacity` are not told. How many. */
size_t jfr_reader_pools(const struct jfr_reader *reader, struct jfr_pool *pools, size_t capacity);

/* Does this chunk declare an event of that name? One with spans and a stack? */
bool jfr_reader_has_event(const struct jfr_reader *reader, const char *type_name);
bool jfr_reader_has_contexts(const struct jfr_reader *reader);
/* How many attributes samples of this chunk may have, each name once; no more than `most` are counted. */
uint32_t jfr_reader_attribute_count(const struct jfr_reader *reader, uint32_t most);

/* Values --------------------------------------------------------------------------------------- */

/* Name of the type of a value, "java.lang.Thread"; of an array that of its elements. A simple type is what it stands for, where that is a struct. */
const char *jfr_value_type_name(const struct jfr_value *value);

/*
 * A field by its name, through a pool reference where there is one. False when there is no such
 * field, the reference is null or leads nowhere, or the bytes end before it.
 */
bool jfr_value_field(const struct jfr_value *value, const char *name, struct jfr_value *out);

/* The constant behind a reference: lives until the next chunk. False: null, or leads nowhere. */
bool jfr_value_constant(const struct jfr_value *value, struct jfr_value *out);

/* The constants of the type that a reference is of, in the order in which the file has them, each with its key. */
struct jfr_constants {
    const struct jfr_reader *reader;
    const struct jfr_reader_type *type;
    uint32_t next;
};

struct jfr_constants jfr_constants_of(const struct jfr_value *reference);
bool jfr_constants_next(struct jfr_constants *constants, struct jfr_value *out, uint64_t *key);

/* Does a value of this kind have such a field? Says nothing of what stands in it. */
bool jfr_value_has_field(const struct jfr_value *value, const char *name);

/* Whole numbers, booleans and characters, also inside simple types; else false. */
bool jfr_value_integer(const struct jfr_value *value, int64_t *out);

/* Any number, as a double. */
bool jfr_value_number(const struct jfr_value *value, double *out);

/*
 * Fields of events by number, for who asks each event of a type for the same ones; a number holds for events of the type until
 * the next chunk. Each of these is the same as jfr_value_field with the name, and then jfr_value_key or jfr_value_integer.
 */
#define JFR_FIELD_NONE UINT32_MAX /* of no field: these are false */
uint32_t jfr_event_field_number(const struct jfr_reader_event *event, const char *name);
bool jfr_event_field(const struct jfr_reader_event *event, uint32_t number, struct jfr_value *out);
bool jfr_event_integer(const struct jfr_reader_event *event, uint32_t number, int64_t *out);

/* The key that stands in a field that is a reference, whether it leads anywhere or not. False: it is none, or cut. */
bool jfr_event_raw_key(const struct jfr_reader_event *event, uint32_t number, uint64_t *key);

/* Fields that are one varint each, whatever stands in them: what the number there is. */
enum jfr_plain {
    JFR_PLAIN_NONE, /* it is no such field */
    JFR_PLAIN_OTHER,
    JFR_PLAIN_KEY, /* of a constant */
    JFR_PLAIN_INT,
    JFR_PLAIN_LONG,
};
enum jfr_plain jfr_event_plain(const struct jfr_reader_event *event, uint32_t number);

/* The numbers of the first `count` fields, which are all plain. False: it is cut before. */
bool jfr_event_numbers(const struct jfr_reader_event *event, uint32_t count, uint64_t *numbers);

/* For jfr_constants_of: a reference of the type of this field, to no constant. */
struct jfr_value jfr_event_reference(const struct jfr_reader_event *event, uint32_t number);

/* Key of a pool reference; 0, which means null by convention, when it is none. */
uint64_t jfr_value_key(const struct jfr_value *value);

/* A buffer that grows and is used again and again; zeroed at first, freed by its owner. */
struct jfr_text {
    char *text; /* UTF-8, ends with a 0 byte; NULL before the first use */
    size_t length_bytes;
    size_t capacity_bytes;
};

/*
 * A string, also pooled or inside simple types, as UTF-8: bytes that are none become U+FFFD, 0
 * bytes too. False when it is null, no string, cut, or memory is out.
 */
bool jfr_value_text(const struct jfr_value *value, struct jfr_text *text);

/* A string as it lies in the recording, appended to `bytes`: equal bytes mean equal texts. False likewise, and without room. */
bool jfr_value_raw_text(const struct jfr_value *value, unsigned char *bytes, size_t capacity_bytes,
                        size_t *used_bytes);

/* The same from bytes that are in no recording yet. False: memory is out. */
JW_MUST_CHECK bool jfr_text_set(struct jfr_text *text, const void *bytes, size_t length_bytes);
void jfr_text_free(struct jfr_text *text);

/* The elements of an array, one after the other. */
struct jfr_array {
    struct jfr_value element;
    uint64_t left;
};

bool jfr_array_begin(const struct jfr_value *value, struct jfr_array *array);
bool jfr_array_next(struct jfr_array *array, struct jfr_value *element);

/* All fields ----------------------------------------------------------------------------------- */

/* What kind of value it is, once references and simple types around it are followed. */
enum jfr_shape {
    JFR_SHAPE_NULL,    /* of a reference, by convention */
    JFR_SHAPE_MISSING, /* a reference that leads nowhere */
    JFR_SHAPE_BOOLEAN,
    JFR_SHAPE_INTEGER,
    JFR_SHAPE_CHARACTER, /* jfr_value_integer gives its UTF-16 unit */
    JFR_SHAPE_FLOAT,
    JFR_SHAPE_DOUBLE,
    JFR_SHAPE_TEXT, /* which may be null: then jfr_value_text is false */
    JFR_SHAPE_OBJECT,
    JFR_SHAPE_ARRAY,
};

/* `bare` becomes the value without what is around it; not set where there is none. */
enum jfr_shape jfr_value_shape(const struct jfr_value *value, struct jfr_value *bare);

/* What the annotations of a field say that its number is. */
enum jfr_measure {
    JFR_MEASURE_NONE,
    JFR_MEASURE_TIME_TICKS, /* a moment, by the clock of the chunk */
    JFR_MEASURE_TIME_MS,    /* of Unix time */
    JFR_MEASURE_SPAN_TICKS,
    JFR_MEASURE_SPAN_NS,
    JFR_MEASURE_SPAN_US,
    JFR_MEASURE_SPAN_MS,
    JFR_MEASURE_SPAN_S,
};

struct jfr_field {
    const char *name;
    struct jfr_value value; /* as it stands there: a reference is not followed */
    enum jfr_measure measure;
    bool is_unsigned;
};

/* The fields of an object in the order of its type, in one pass. */
struct jfr_fields {
    struct jfr_value object;
    uint32_t next;
    bool is_cut; /* the bytes end before the fields do */
};

/* `object` is none of its own: see jfr_value_shape. False: it has no fields. */
bool jfr_fields_begin(const struct jfr_value *object, struct jfr_fields *fields);
bool jfr_fields_next(struct jfr_fields *fields, struct jfr_field *field);

/* A whole number as one without a sign, in the width of its type. */
bool jfr_value_unsigned(const struct jfr_value *value, uint64_t *out);

/* Fields by number, 0, 1 ..., of the event of this name in this chunk; NULL: no more, or no such event. */
const char *jfr_reader_field_name(const struct jfr_reader *reader, const char *type_name,
                                  size_t number);

/* Stacks --------------------------------------------------------------------------------------- */

/* The frames of a jdk.types.StackTrace, leaf first. */
struct jfr_stack {
    struct jfr_array frames;
    bool is_truncated;
    bool is_plain; /* its frames are numbers and references alone */
    bool is_keyed; /* they are constants, and it has their keys */
    /* Of the reader: of its frames; what their fields are, and how many bytes a frame has at most; SIZE_MAX: not so. */
    const struct jfr_reader_type *type;
    bool has_method_key, has_type_key, has_int_line;
    size_t quick_bytes;
};

/* What tells frames of a chunk apart. */
struct jfr_stack_keys {
    const unsigned char *bytes; /* where the frame begins, or its key */
    uint64_t method_key;        /* equal keys: equal methods, in this chunk */
    uint64_t type_key;
    int64_t line; /* -1: none */
};

struct jfr_stack_frame {
    struct jfr_value method; /* for jfr_method_read; it may lead nowhere, or be missing */
    struct jfr_value type;   /* a jdk.types.FrameType; a text; likewise */
    uint64_t method_key;     /* as above */
    uint64_t type_key;
    int64_t line;
};

struct jfr_method {
    struct jfr_text class_name; /* "java/lang/String" */
    struct jfr_text name;
    struct jfr_text descriptor;
};

/*
 * What jfr_method_read would read, as it lies in the recording, one after the other into `bytes`: where they are the
 * same, in whatever chunk, so are the texts. `method` is a reference, or a constant. False: something is missing, or
 * there is no room.
 */
bool jfr_method_raw(const struct jfr_value *method, unsigned char *bytes, size_t capacity_bytes,
                    size_t *used_bytes);

bool jfr_stack_begin(const struct jfr_value *stack_trace, struct jfr_stack *stack);
bool jfr_stack_next(struct jfr_stack *stack, struct jfr_stack_frame *frame);

/* The same in two steps, for who has seen most frames before: the second one for those that he has not. */
bool jfr_stack_next_keys(struct jfr_stack *stack, struct jfr_stack_keys *keys);
void jfr_stack_frame_of(const struct jfr_stack *stack, const struct jfr_stack_keys *keys,
                        struct jfr_stack_frame *frame);

/*
 * Stacks from their ends, outermost frame first, for who has seen the ends of most. Can constants of this type be read so? Then
 * `stack` becomes one that jfr_stack_turn sets to another constant of the type, between `frames.element.bytes` and `.end`.
 */
bool jfr_stack_can_turn(const struct jfr_value *constant, struct jfr_stack *stack);
void jfr_stack_turn(const struct jfr_value *constant, struct jfr_stack *stack);
/* What the bytes of such a constant are, whichever chunk it is of: equal bytes are equal keys where this is equal. Never 0. */
uint64_t jfr_stack_layout(const struct jfr_value *constant, const struct jfr_stack *stack);

enum jfr_back {
    JFR_BACK_FRAME,
    JFR_BACK_LESS, /* no whole frame lies between `low` and `end` for certain */
    JFR_BACK_ODD,  /* a number of nine bytes, which nobody can read from behind */
};

/* The frame that ends at `*end`, which becomes where it begins; of frames that may go on before `low` the begin of one is not known. */
enum jfr_back jfr_stack_back(const struct jfr_stack *stack, const unsigned char *low,
                             const unsigned char **end, struct jfr_stack_keys *keys);

/* Reads the names of a method; what is missing becomes "". False when memory is out. */
bool jfr_method_read(const struct jfr_value *method, struct jfr_method *out);
void jfr_method_free(struct jfr_method *method);

#endif
