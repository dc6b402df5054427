/*
 * jfr_reader_internal - what the files of the reader share: cursor, types, pools.
 *
 * For      jfr_reader.c (file and events), jfr_reader_chunks.c, jfr_reader_look.c, jfr_reader_metadata.c, jfr_reader_pools.c,
 *          jfr_reader_value.c, jfr_reader_skip.c, jfr_reader_event.c, jfr_reader_stack.c, jfr_reader_back.c, jfr_reader_context.c, jfr_reader_packed.c.
 * Callers  these.   Context  tool, dump.   Memory  as jfr_reader.h says.
 */
#ifndef JW_JFR_JFR_READER_INTERNAL_H
#define JW_JFR_JFR_READER_INTERNAL_H

#include <pthread.h>

#include "jfr/jfr_reader.h"

#define JFR_READER_HEADER_BYTES 68u
#define JFR_VARINT_BYTES        9u  /* at most */
#define JFR_READER_PREFIX_BYTES 18u /* size and type of an event, each at most nine bytes */

#define JFR_READER_MAX_METADATA_BYTES (64u << 20)
#define JFR_READER_MAX_EVENT_BYTES    (16u << 20)
#define JFR_READER_MAX_POOL_BYTES     (1u << 30) /* all checkpoints of one chunk */
#define JFR_READER_MAX_CONSTANTS      (1u << 24)
#define JFR_READER_MAX_NESTING        16 /* structs in structs */
#define JFR_READER_MAX_HOPS           8  /* references and simple types around one value */
#define JFR_READER_MAX_ELEMENTS       64 /* elements in elements of the metadata tree */

enum jfr_reader_kind {
    JFR_KIND_STRUCT,
    JFR_KIND_EMPTY, /* a class without fields that is no primitive: has no values */
    JFR_KIND_BOOLEAN,
    JFR_KIND_BYTE,
    JFR_KIND_CHAR,
    JFR_KIND_SHORT,
    JFR_KIND_INT,
    JFR_KIND_LONG,
    JFR_KIND_FLOAT,
    JFR_KIND_DOUBLE,
    JFR_KIND_STRING,
};

/* First byte of a string. */
enum jfr_string_encoding {
    JFR_STRING_NULL = 0,
    JFR_STRING_EMPTY = 1,
    JFR_STRING_POOLED = 2,
    JFR_STRING_UTF8 = 3,
    JFR_STRING_CHARS = 4,
    JFR_STRING_LATIN1 = 5,
};

#define JFR_NO_FIELD     0xffu
#define JFR_QUICK_FIELDS 8u /* of a frame; recorders have four */

/* What a field of an event tells of its context. */
enum jfr_reader_role {
    JFR_ROLE_NONE,
    JFR_ROLE_TRACE_ID,
    JFR_ROLE_SPAN_ID,
    JFR_ROLE_ROOT_SPAN_ID,
    JFR_ROLE_ATTRIBUTE,
};

struct jfr_reader_field {
    const char *name;
    const char *label; /* the name where it has none */
    int64_t type_id;
    const struct jfr_reader_type *type;
    enum jfr_reader_role role;
    bool is_pooled;
    bool is_array;
    bool is_varint;    /* one, and nothing else */
    bool is_attribute; /* annotated as one */
    bool is_unsigned;  /* likewise */
    enum jfr_measure measure;
};

struct jfr_reader_type {
    int64_t id;
    const char *name;
    enum jfr_reader_kind kind;
    bool is_simple;
    bool is_event;
    bool has_start; /* its first field is startTime */
    bool has_context;
    uint8_t nesting;      /* structs inside, 1 and up; 0: not looked at yet */
    uint8_t varint_count; /* a value is so many varints, and nothing else; 0: it is not */
    /* Which fields make a frame or a stack of it: JFR_NO_FIELD, there is none. */
    uint8_t method_at, type_at, line_at;
    uint8_t truncated_at, frames_at;
    uint8_t class_at, name_at, descriptor_at; /* or a method or a class; the class by reference */
    uint32_t context_at;                      /* the first field that tells of its context */
    uint32_t first_field;
    uint32_t field_count;
    const struct jfr_reader_field *fields;
    uint32_t *direct; /* by key, of constants with small ones: number + 1, 0: none */
    uint32_t direct_count, direct_used;
};

/* Bytes of an event, an entry or the metadata; past the end everything reads as 0 and is_cut. */
struct jfr_cursor {
    const unsigned char *at;
    const unsigned char *end;
    bool is_cut;
};

struct jfr_constant {
    const struct jfr_reader_type *type;
    uint64_t key;
    const unsigned char *bytes;
    const unsigned char *end;
};

/* Where a constant is found: what has another hash is another one, without a look at it. */
struct jfr_constant_slot {
    uint32_t hash;
    uint32_t number_plus_one; /* 0: free */
};

/* Where a field of this name was found last: a name is asked for again and again. */
struct jfr_field_memo {
    const struct jfr_reader_type *type;
    const char *name;
    uint32_t number;
};

#define JFR_FIELD_MEMOS 256u /* a power of two */

/* What is kept, so that a chunk takes the memory of the one before: blocks, and places of constants by their keys. */
#define JFR_SPARES        4u
#define JFR_DIRECT_SPARES 16u

#define JFR_SPARED_BYTES 4096u /* texts of the metadata are less, and no trouble */

#define JFR_PLACES       128u /* fields of an event; those behind are stepped to each time */
#define JFR_RECENT_TYPES 64u  /* a power of two */

/* Of the event in hand, and what is asked again for each: the types that came last, by their ids. */
struct jfr_in_hand {
    const struct jfr_reader_type *type; /* of its places; NULL: of no event */
    const unsigned char *begin;
    uint32_t count;                      /* so many places are known, of the first fields */
    const unsigned char *at[JFR_PLACES]; /* where a field begins; behind the last one the end */
    const struct jfr_reader_type *recent[JFR_RECENT_TYPES];
};

struct jfr_block {
    struct jfr_block *next;
    size_t capacity_bytes;
    size_t size_bytes;
    unsigned char bytes[];
};

struct jfr_unpacker;

struct jfr_reader {
    char *path;
    int fd;

    /* Of several for one file, the one that opened it: it alone has the place of the next chunk, notice and unpacker, all
     * of them under its lock. NULL: it is this one. */
    struct jfr_reader *lead;
    pthread_mutex_t lock;
    bool is_shared;
    bool is_packed;
    uint64_t next_number;        /* of the next chunk */
    _Atomic uint64_t done_bytes; /* of the file, by all. Relaxed: for progress */
    uint64_t in_file_bytes;      /* what the chunk in hand takes there */
    uint64_t in_file_end;        /* and where it ends, of a packed file about */
    unsigned char *taken;        /* a packed chunk, where several read */
    size_t taken_capacity_bytes;
    uint64_t checkpoint; /* of the chunk in hand: where its last one lies in it; 0: none */
    uint64_t file_bytes; /* when it was opened */
    uint64_t size_bytes; /* of the recording; of a packed one what is unpacked so far */

    struct jfr_unpacker *unpacker; /* NULL: a plain file */
    bool is_stopped;               /* there are no more chunks, whatever the file says */

    uint64_t damaged_at;    /* offset in the file of what was refused last; 0: nothing */
    uint64_t next_chunk;    /* offset in the file */
    uint64_t next_event;    /* offset in the file */
    uint64_t end_of_events; /* offset in the file */
    struct jfr_reader_chunk chunk;

    unsigned char *window;
    size_t window_capacity_bytes;
    size_t window_used_bytes;
    uint64_t window_offset; /* in the file */

    /* Of the current chunk. */
    bool is_looking;               /* all of it is another reader's */
    struct jfr_reader_type *types; /* sorted by id */
    uint32_t type_count;
    struct jfr_reader_field *fields;
    struct jfr_block *blocks; /* texts of the metadata, bytes of the checkpoints */
    const struct jfr_reader_type *string_type;

    struct jfr_constant *constants;
    uint32_t constant_count, constant_capacity;
    uint32_t slotted_count; /* of those, in the slots */
    struct jfr_constant_slot *slots;
    uint32_t slot_count;   /* a power of two, or 0 */
    uint64_t direct_total; /* of all types */
    uint64_t pool_bytes;

    struct jfr_field_memo *memos; /* of JFR_FIELD_MEMOS */
    struct jfr_in_hand *in_hand;
    struct jfr_block *spares[JFR_SPARES]; /* of the chunks before; any may be NULL */
    struct jfr_direct_spare {
        int64_t type_id;
        uint32_t *direct; /* all 0; NULL: none */
        uint32_t count;
    } direct_spares[JFR_DIRECT_SPARES];

    char notice[512];
};

/* Decoding ------------------------------------------------------------------------------------- */

static inline size_t jfr_cursor_left(const struct jfr_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline uint8_t jfr_cursor_byte(struct jfr_cursor *cursor)
{
    if (cursor->at == cursor->end) {
        cursor->is_cut = true;
        return 0;
    }
    return *cursor->at++;
}

/* Seven bits a byte, low bits first; a ninth byte carries its eight bits whole. */
static inline uint64_t jfr_cursor_varint(struct jfr_cursor *cursor)
{
    uint64_t value = 0;

    if (jfr_cursor_left(cursor) >= 2) { /* nearly all are short */
        const uint64_t low = cursor->at[0];
        const uint64_t high = cursor->at[1];

        if (low < 0x80) {
            cursor->at++;
            return low;
        }
        if (high < 0x80) {
            cursor->at += 2;
            return (low & 0x7f) | high << 7;
        }
    }
    for (unsigned shift = 0; shift < 56; shift += 7) {
        const uint8_t byte = jfr_cursor_byte(cursor);

        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    return value | (uint64_t)jfr_cursor_byte(cursor) << 56;
}

static inline void jfr_cursor_skip(struct jfr_cursor *cursor, uint64_t count_bytes)
{
    if (count_bytes > jfr_cursor_left(cursor)) {
        cursor->is_cut = true;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += count_bytes;
}

/* A big-endian number of 2, 4 or 8 bytes. */
static inline uint64_t jfr_big_endian(const unsigned char *bytes, size_t count_bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < count_bytes; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Passes so many varints. */
void jfr_cursor_skip_varints(struct jfr_cursor *cursor, uint64_t count);

/* Passes a string, one value without its pool reference, or a whole field. */
void jfr_cursor_skip_string(struct jfr_cursor *cursor);
void jfr_cursor_skip_value(struct jfr_cursor *cursor, const struct jfr_reader_type *type);
void jfr_cursor_skip_field(struct jfr_cursor *cursor, const struct jfr_reader_field *field);

/* The same for a field that is one varint, as nearly all are, without a call. */
static inline void jfr_cursor_pass_field(struct jfr_cursor *cursor,
                                         const struct jfr_reader_field *field)
{
    if (field->is_varint && jfr_cursor_left(cursor) > 1) {
        if (cursor->at[0] < 0x80 || cursor->at[1] < 0x80) {
            cursor->at += cursor->at[0] < 0x80 ? 1 : 2;
            return;
        }
        jfr_cursor_skip_varints(cursor, 1);
        return;
    }
    jfr_cursor_skip_field(cursor, field);
}

/* Texts as they lie in the recording, one behind the other. */
struct jfr_raw {
    const struct jfr_reader *reader;
    unsigned char *bytes;
    size_t capacity_bytes, used_bytes;
};

/* Appends the text of a field that begins at the cursor; false as jfr_value_raw_text. */
bool jfr_raw_text_of(struct jfr_raw *raw, const struct jfr_reader_field *field,
                     struct jfr_cursor *cursor);

/*
 * Where the field of this number begins in an event, which may be the one behind the last: the end. NULL: its bytes end
 * before that.
 */
const unsigned char *jfr_event_place(const struct jfr_value *event, uint32_t number);

/* The field of this number of an event; as jfr_value_field. */
bool jfr_reader_field_at(const struct jfr_value *event, uint32_t number, struct jfr_value *out);
/* The same of any value, where it begins there and is not cut. */
bool jfr_reader_field_from(const struct jfr_value *from, uint32_t number,
                           const unsigned char *bytes, struct jfr_value *out);
/* Number of the first field of this name; the count of the fields: there is none. */
uint32_t jfr_reader_number_of(const struct jfr_reader *reader, const struct jfr_reader_type *type,
                              const char *name);

/* Decodes a string at the cursor, references to the String pool included. */
bool jfr_cursor_text(const struct jfr_reader *reader, struct jfr_cursor *cursor,
                     struct jfr_text *text);

/* File ----------------------------------------------------------------------------------------- */

/* Do four bytes say that zstd packed what follows? Does a chunk begin with these? */
bool jfr_is_packed(const unsigned char *magic);
bool jfr_reader_is_chunk(const unsigned char *magic);

/* NULL and `err`: no zstd, no memory. */
JW_MUST_CHECK struct jfr_unpacker *jfr_unpacker_open(const char *path, struct jw_error *err);
void jfr_unpacker_close(struct jfr_unpacker *unpacker); /* NULL is fine */

/* Unpacks the chunk at `offset` of the recording, as far as there is one, and forgets what lies before;
 * `size_bytes` becomes its end. */
JW_MUST_CHECK bool jfr_unpacker_chunk(struct jfr_reader *reader, uint64_t offset,
                                      struct jw_error *err);
/* For who looks for a chunk where there is none: so many bytes from that offset on, or as many as there are. */
JW_MUST_CHECK bool jfr_unpacker_more(struct jfr_reader *reader, size_t count_bytes,
                                     struct jw_error *err);
/* Bytes of that chunk, until the next one; NULL: they are not there. */
const unsigned char *jfr_unpacker_see(const struct jfr_reader *reader, uint64_t offset,
                                      size_t count_bytes);
/* How far it could be unpacked. */
uint64_t jfr_unpacker_end(const struct jfr_reader *reader);
/* Where in the packed file that stands, about. */
uint64_t jfr_unpacker_position(const struct jfr_reader *reader, uint64_t offset);

/* Bytes of what is packed, of the chunk in hand or where its reader stands; NULL: they are not there. */
const unsigned char *jfr_reader_see_packed(const struct jfr_reader *reader, uint64_t offset,
                                           size_t count_bytes);
/* Bytes of the packed file that were used; 0: it is not packed. */
uint64_t jfr_unpacker_in_bytes(const struct jfr_reader *reader);

void jfr_reader_forget_chunk(struct jfr_reader *reader);
/* What was found of events of the chunk in hand, and of names of its fields. */
void jfr_reader_forget_events(struct jfr_reader *reader);

/* Reads exactly these bytes, or fails: cut meanwhile, or the system's reason. */
JW_MUST_CHECK bool jfr_reader_read_file(const struct jfr_reader *reader, uint64_t offset,
                                        void *bytes, size_t count_bytes, struct jw_error *err);
/* The same of the recording, packed or not. */
JW_MUST_CHECK bool jfr_reader_read(struct jfr_reader *reader, uint64_t offset, void *bytes,
                                   size_t count_bytes, struct jw_error *err);

/* A block that lives as long as the chunk; NULL and `err` when memory is out. */
JW_MUST_CHECK struct jfr_block *jfr_reader_block(struct jfr_reader *reader, size_t size_bytes,
                                                 struct jw_error *err);

/*
 * Reads the event at `offset` of the current chunk whole, of `type_id` and of at most
 * `limit_bytes`, into a block; `cursor` then stands behind its size and type.
 */
JW_MUST_CHECK bool jfr_reader_load(struct jfr_reader *reader, uint64_t offset, uint64_t type_id,
                                   uint64_t limit_bytes, const char *what,
                                   struct jfr_cursor *cursor, struct jw_error *err);

/* "FILE: damaged at byte N: what": the message of all damage; always false. */
bool jfr_reader_damaged(struct jfr_reader *reader, uint64_t offset, struct jw_error *err,
                        const char *what);

/* Of a stack that has keys of frames: what the frame of this one is, but for its bytes. */
void jfr_stack_keys_of(const struct jfr_stack *stack, uint64_t key, struct jfr_stack_keys *keys);

/* Finds out where the fields of frames and stacks stand; `type` is measured. */
void jfr_reader_find_frames(struct jfr_reader_type *type);

/* Finds out what the fields of a type tell of a context; `fields` are its own. */
void jfr_reader_find_context(struct jfr_reader_type *type, struct jfr_reader_field *fields);

/* Types and pools of the current chunk ---------------------------------------------------------- */

JW_MUST_CHECK bool jfr_reader_load_metadata(struct jfr_reader *reader, uint64_t offset,
                                            struct jw_error *err);
JW_MUST_CHECK bool jfr_reader_load_pools(struct jfr_reader *reader, uint64_t offset,
                                         struct jw_error *err);
void jfr_reader_forget_constants(struct jfr_reader *reader);
void jfr_reader_free_spares(struct jfr_reader *reader);
const struct jfr_reader_type *jfr_reader_type_of(const struct jfr_reader *reader, uint64_t id);
const struct jfr_constant *jfr_reader_constant(const struct jfr_reader *reader,
                                               const struct jfr_reader_type *type, uint64_t key);

#endif
