/*
 * context_record - what is interned in the `contexts` dictionary of a generation: what a thread worked for, and
 * which virtual thread it was.
 *
 * For      carrying virtual thread, trace, span and attributes from the handler that saw them to the dump thread, in four
 *          bytes of an event.
 * Callers  context (interns); recording (reads).
 * Context  context_record_intern: handler, hook, inside the generation.  context_record_get: the same,
 *          and dump.
 * Memory   the generation's.
 *
 * Interned are the bytes up to the last value that there is: equal bytes are one context. Integers lie in
 * the byte order of the machine, the bytes of the trace id as W3C writes them.
 */
#ifndef JW_GENERATION_CONTEXT_RECORD_H
#define JW_GENERATION_CONTEXT_RECORD_H

#include "base/jw.h"
#include "dict/dict.h"

#define CONTEXT_ATTRIBUTES_MAX 16u

struct context_record {
    unsigned char trace_id[16]; /* zero: none */
    uint64_t span_id;           /* 0: none */
    uint64_t root_span_id;      /* of the request in this process; 0: none */
    uint64_t virtual_thread;    /* Thread.threadId() of the one that was mounted; 0: none */
    dict_id virtual_name;       /* in `values`; DICT_NONE: not known, or "" */
    dict_id values
        [CONTEXT_ATTRIBUTES_MAX]; /* in `values`, by number of the attribute; DICT_NONE: unset */
    uint32_t reserved;            /* 0, not interned: equal records have equal bytes */
};

/*
 * Id of this context; DICT_NONE when it says nothing at all, and when the dictionary refuses (counted there).
 */
JW_SIGNAL_SAFE dict_id context_record_intern(struct dict_table *contexts,
                                             const struct context_record *record);

/* The record of an id, its missing values DICT_NONE. False: no id of this table, `out` is zero. */
JW_SIGNAL_SAFE bool context_record_get(const struct dict_table *contexts, dict_id id,
                                       struct context_record *out);

#endif
