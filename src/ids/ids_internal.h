/*
 * ids_internal - records and texts, as the files of room ids share them.
 *
 * Every field that a reader with an id in his hand may look at is atomic: the record may begin another life under his eyes,
 * which he sees by its version when he has read. Relaxed, unless a line says otherwise: published with the record.
 */
#ifndef JW_IDS_IDS_INTERNAL_H
#define JW_IDS_IDS_INTERNAL_H

#include "base/atomics.h"
#include "ids/ids.h"

/* ---- pools: records of one size, the first word of which is their link ---- */

struct ids_pool {
    unsigned char *base; /* record n at base + n * record_bytes; 0 is none */
    uint32_t record_bytes;
    uint32_t limit;           /* records are numbered below it */
    _Atomic uint32_t unused;  /* relaxed: hands out numbers */
    _Atomic uint32_t in_use;  /* relaxed: a figure to show */
    _Atomic uint64_t free_at; /* count of pushes << 32 | record; 0: none */
};

JW_MUST_CHECK bool ids_pool_open(struct ids_pool *pool, uint32_t limit, uint32_t record_bytes);
void ids_pool_close(struct ids_pool *pool);
JW_SIGNAL_SAFE uint32_t ids_pool_take(struct ids_pool *pool); /* 0: none is left */
JW_SIGNAL_SAFE void ids_pool_give(struct ids_pool *pool, uint32_t record);

JW_SIGNAL_SAFE static inline void *ids_pool_at(const struct ids_pool *pool, uint32_t record)
{
    return pool->base + (size_t)record * pool->record_bytes;
}

/* ---- texts: chains of blocks ---- */

#define IDS_BLOCK_WORDS 15
#define IDS_BLOCK_BYTES (IDS_BLOCK_WORDS * 4u)

struct ids_block {
    _Atomic uint32_t next; /* its link, and the next block of the text */
    _Atomic uint32_t words[IDS_BLOCK_WORDS];
};
_Static_assert(sizeof(struct ids_block) == 64, "a line of the cache");

/* A text that is being written. */
struct ids_writer {
    uint32_t first, last; /* blocks */
    uint32_t length_bytes;
    uint32_t word; /* what of the last one is not stored yet */
};

JW_SIGNAL_SAFE JW_MUST_CHECK bool ids_text_put(struct ids_writer *writer, const void *bytes,
                                               uint32_t length_bytes);
/* A name out of the JVM's memory, cut at IDS_TEXT_MAX_BYTES; false: it cannot be read, or no room. */
struct vm_text;
struct vm_method;
JW_SIGNAL_SAFE JW_MUST_CHECK bool
ids_text_put_name(struct ids_writer *writer, const struct vm_text *text, uint32_t *length_bytes);
/* The line table of a method that has one, to its end; `is_whole`: which was found. False: as above. */
JW_SIGNAL_SAFE JW_MUST_CHECK bool
ids_text_put_lines(struct ids_writer *writer, const struct vm_method *method, bool *is_whole);
/* Whether the text from `skip_bytes` on is what lies there in the JVM's memory. */
JW_SIGNAL_SAFE bool ids_text_is(uint32_t first, uint32_t skip_bytes, vm_addr addr,
                                uint32_t length_bytes);
/* The first block; the writer is done. */
JW_SIGNAL_SAFE uint32_t ids_text_end(struct ids_writer *writer);
JW_SIGNAL_SAFE void ids_text_drop(uint32_t first);

struct ids_reader {
    uint32_t block, at;
};
JW_SIGNAL_SAFE struct ids_reader ids_text_begin(uint32_t first, uint32_t skip_bytes);
JW_SIGNAL_SAFE unsigned char ids_text_next(struct ids_reader *reader); /* 0 past the end */
JW_SIGNAL_SAFE void ids_text_copy(uint32_t first, uint32_t skip_bytes, uint32_t length_bytes,
                                  struct ids_text *out);

/* ---- records ---- */

#define IDS_CHAINS 8

enum { IDS_CLASS_FREE, IDS_CLASS_LIVE, IDS_CLASS_DROPPED };

struct ids_class {
    _Atomic uint32_t next;
    _Atomic uint32_t version;
    _Atomic uint32_t state;  /* released when all else is there */
    _Atomic uint32_t inside; /* handlers that walk its chains */
    _Atomic uint64_t klass;
    _Atomic uint64_t number;
    _Atomic uint64_t pool; /* of constants, when it was last looked at */
    _Atomic uint32_t text, name_bytes, source_bytes, modifiers;
    _Atomic uint32_t chains[IDS_CHAINS];
    _Atomic uint32_t has_stale; /* a method of it is IDS_STALE: ids_turn should look */
    uint32_t
        left; /* ids_turn's alone: methods that nobody finds any more and nobody was told of, linked by `left` */
    _Atomic uintptr_t weak;
};

#define IDS_HIDDEN       (1u << 16) /* beside the class file's modifiers */
#define IDS_OBSOLETE     (1u << 17)
#define IDS_NUMBER_KNOWN (1u << 18)
#define IDS_STALE                                                                                  \
    (1u << 19) /* another body has taken its place in the JVM's memory: it is not found again */

struct ids_method {
    _Atomic uint32_t next; /* its link, and the next one of its chain */
    _Atomic uint32_t version;
    _Atomic uint64_t klass; /* id */
    _Atomic uint64_t const_method, pool;
    _Atomic uint32_t numbers; /* its own and, above, how many its class had given */
    _Atomic uint32_t text, names_bytes, lines_bytes;
    _Atomic uint32_t modifiers;
    uint32_t left; /* ids_turn's alone: the next one that nobody finds any more */
    _Atomic uint64_t
        safepoints; /* how many there were when its lines were last seen to be these; 0: not known */
};

extern struct ids_pool ids_classes, ids_methods, ids_blocks;

JW_SIGNAL_SAFE static inline ids_id ids_make(uint32_t record, uint32_t version)
{
    return (uint64_t)version << 32 | record;
}

/* NULL: no such record. It may be in another life: ids_is_alive says so when all was read. */
JW_SIGNAL_SAFE struct ids_class *ids_class_of(ids_id id);
JW_SIGNAL_SAFE struct ids_method *ids_method_of(ids_id id);

/* Whether all that was read of the record before is of this life. */
JW_SIGNAL_SAFE bool ids_is_alive(_Atomic uint32_t *version, ids_id id);
/* Ends a life: what follows is not read as a part of it. */
JW_SIGNAL_SAFE void ids_end_life(_Atomic uint32_t *version);

/* ids_class.c: the record at an address; 0: none. */
JW_SIGNAL_SAFE uint32_t ids_class_find(vm_addr klass);
/* Takes the class out of the table, where it is still in it. */
void ids_class_unlist(uint32_t record);
bool ids_table_open(uint32_t class_limit);
void ids_table_close(void);

#endif
