/*
 * method_record - what is interned in the `methods` dictionary of a generation: one Java method.
 *
 * For      carrying all that a recording says of a method from the handler that saw it first to the
 *          dump thread, which dereferences no JVM metadata.
 * Callers  vm (fills and interns); recording (reads).
 * Context  method_record_intern: handler, hook, inside the generation.  method_record_get: the
 *          same, and dump.
 * Memory   the generation's.
 *
 *     | struct method_record: 64 bytes, no padding | line_table_bytes bytes |
 *
 * Equal bytes are one method, so all fields are set by name and `reserved` is 0. The record starts
 * on an 8-byte boundary. Integers lie in the byte order of the machine: it never leaves the process.
 */
#ifndef JW_GENERATION_METHOD_RECORD_H
#define JW_GENERATION_METHOD_RECORD_H

#include "base/jw.h"
#include "dict/dict.h"

#define METHOD_LINE_TABLE_MAX_BYTES 8192u

enum method_flag {
    METHOD_HIDDEN = 1u << 0,   /* left out of stacks by the JVM itself */
    METHOD_HAS_CODE = 1u << 1, /* has bytecode: neither native nor abstract */
};

/* What tells the method from another one that takes its address (vm_method.h). All 0: it must not be known again by its
 * address. Labels, not to be followed: what they name may be gone. */
struct method_identity {
    uint64_t const_method_addr;
    uint64_t class_addr;
    uint32_t class_serial;
    uint16_t number, numbers;
};

struct method_record {
    dict_id class_name;  /* in `classes` */
    dict_id name;        /* in `symbols` */
    dict_id signature;   /* in `symbols` */
    dict_id source_file; /* in `symbols`; DICT_NONE: unknown */
    uint32_t modifiers;  /* as in the class file */
    uint32_t class_modifiers;
    uint32_t loader;           /* number of its class loader; 0: unknown */
    uint32_t flags;            /* enum method_flag */
    uint32_t line_table_bytes; /* that follow; 0: no line numbers */
    uint32_t reserved;
    struct method_identity identity;
};

_Static_assert(sizeof(struct method_record) == 64, "interned by its bytes: no padding");

#define METHOD_RECORD_MAX_BYTES (sizeof(struct method_record) + METHOD_LINE_TABLE_MAX_BYTES)

/*
 * Interns a record that stands, with its line table right behind it, in memory of the caller.
 * DICT_NONE when the dictionary refuses (counted there) or the line table is longer than
 * METHOD_LINE_TABLE_MAX_BYTES (the caller leaves such a table out, counted as LINE_TABLE_TOO_LONG).
 */
JW_SIGNAL_SAFE dict_id method_record_intern(struct dict_table *methods,
                                            const struct method_record *record);

/*
 * The record of an id and, where `line_table` is not NULL, its line table. NULL when the id is none
 * of `methods` or its bytes are no whole record.
 */
JW_SIGNAL_SAFE const struct method_record *
method_record_get(const struct dict_table *methods, dict_id id, const unsigned char **line_table);

#endif
