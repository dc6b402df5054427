/*
 * jfr_types - the types of our recordings: ids, names and fields, from jfr_types.def.
 *
 * For      who writes events and constants; who checks them.
 * Callers  jfr, recording, tests.
 * Context  dump, tool.
 * Memory   static.
 *
 * A type id means the same in every chunk and every file that one version of jaywalk writes. Files of
 * other versions are read through their own metadata.
 */
#ifndef JW_JFR_JFR_TYPES_H
#define JW_JFR_JFR_TYPES_H

#include "base/jw.h"

/* Ids 0 and 1 are the metadata and checkpoint events of the format itself. */
enum jfr_type {
    JFR_TYPE_METADATA_EVENT = 0,
    JFR_TYPE_CHECKPOINT_EVENT = 1,
    JFR_TYPE_FIRST = 2,
    JFR_TYPE_BEFORE_FIRST = JFR_TYPE_FIRST - 1,
#define JFR_PRIMITIVE(id, name)                    JFR_TYPE_##id,
#define JFR_UNIT_CLASS(id, name, label)            JFR_TYPE_##id,
#define JFR_ANNOTATION(id, name, label)            JFR_TYPE_##id,
#define JFR_SIMPLE(id, name, label)                JFR_TYPE_##id,
#define JFR_STRUCT(id, name, label)                JFR_TYPE_##id,
#define JFR_EVENT(id, name, label, category, text) JFR_TYPE_##id,
#define JFR_FIELD(name, type_id, unit, flags, label)
#define JFR_COUNT(name, text)
#define JFR_SPAN(name, label, text)
#define JFR_CONTEXT(flags)
#define JFR_DATADOG_CONTEXT
#include "jfr/jfr_types.def"
#include "jfr/jfr_types_exceptions.def"
#include "jfr/jfr_types_locks.def"
#include "jfr/jfr_types_objects.def"
#include "jfr/jfr_types_program.def"
#undef JFR_PRIMITIVE
#undef JFR_UNIT_CLASS
#undef JFR_ANNOTATION
#undef JFR_SIMPLE
#undef JFR_STRUCT
#undef JFR_EVENT
#undef JFR_FIELD
#undef JFR_COUNT
#undef JFR_SPAN
#undef JFR_CONTEXT
#undef JFR_DATADOG_CONTEXT
    JFR_TYPE_LIMIT,
    JFR_TYPE_NONE = JFR_TYPE_LIMIT
};

/* Whose event types a recording has. */
enum jfr_dialect {
    JFR_DIALECT_STANDARD, /* the JDK's, and ours */
    JFR_DIALECT_ASYNC_PROFILER,
    JFR_DIALECT_DATADOG,
    JFR_DIALECT_LIMIT
};

/* What the rows of the table are. */
enum jfr_row_kind {
    JFR_ROW_PRIMITIVE,
    JFR_ROW_UNIT_CLASS,
    JFR_ROW_ANNOTATION,
    JFR_ROW_SIMPLE,
    JFR_ROW_STRUCT,
    JFR_ROW_EVENT,
    JFR_ROW_FIELD,
};

enum jfr_unit {
    JFR_UNIT_NONE,
    JFR_UNIT_TICKS_TIME, /* ticks of the recording's clock */
    JFR_UNIT_EPOCH_MS,   /* milliseconds since the Unix epoch */
    JFR_UNIT_TICKS_SPAN,
    JFR_UNIT_NS_SPAN,
    JFR_UNIT_MS_SPAN,
    JFR_UNIT_BYTES,
    JFR_UNIT_PERCENT, /* 0 to 1 */
    JFR_UNIT_ADDRESS,
    JFR_UNIT_HERTZ,
    JFR_UNIT_BITS_PER_SECOND, /* two annotations */
};

#define JFR_POOLED         1u /* holds the key of a constant */
#define JFR_ARRAY          2u
#define JFR_UNSIGNED       4u
#define JFR_CONTEXTUAL     8u  /* `jfr print` of JDK 25 shows it beside events inside of this one */
#define JFR_EACH_ATTRIBUTE 16u /* stands for one such field for each attribute of the chunk */
/* Of two fields one is there: frames are constants of their own, or stand in each stack. */
#define JFR_FRAMES_BY_KEY  32u
#define JFR_FRAMES_IN_LINE 64u
/* What a chunk may be without (jfr_declaration.left_out), since nothing in it has such a value. */
#define JFR_OF_CONTEXT 128u /* what threads work for */
#define JFR_OF_VIRTUAL 256u /* who carries virtual threads */
#define JFR_OF_WALL    512u /* turns of the wall clock, beside samples of CPU time */

struct jfr_row {
    enum jfr_row_kind kind;
    enum jfr_type type; /* of a field: the type of its values; else the declared type */
    enum jfr_unit unit;
    unsigned flags;
    const char *name;
    const char *label;    /* may be NULL */
    const char *category; /* events only; parts separated by '|' */
    const char *text;     /* the description; may be NULL */
};

/* The whole table in order; startTime of events is a row of its own. */
extern const struct jfr_row jfr_rows[];
extern const size_t jfr_row_count;

/* Type declared by this name, JFR_TYPE_LIMIT if none. */
enum jfr_type jfr_type_named(const char *name);
bool jfr_type_is_event(enum jfr_type type);

/* As what the dialect tells an event of this type: jfr_dialects.def. Itself where nothing else is said. */
enum jfr_type jfr_type_in(enum jfr_dialect dialect, enum jfr_type type);
/* Is there such a type in recordings of the dialect? */
bool jfr_type_is_declared(enum jfr_dialect dialect, enum jfr_type type);

/* Do stacks have their frames in them? Readers of the other dialects look for them there; `is_wanted`: in ours, too. */
bool jfr_has_frames_in_line(enum jfr_dialect dialect, bool is_wanted);

#endif
