/*
 * jfr_declared - types of events that somebody declared while the program ran.
 *
 * For      events of probes, whose fields viewers show by the names that the probe gave.
 * Callers  agent (which there are), recording (a chunk's), jfr (metadata), tests.   Context  any.
 * Memory   the caller's.
 *
 * Fields of such an event, in this order: startTime, duration where it has one, eventThread, stackTrace where it has one,
 * probe, handler and method (who told it, and inside of which method), carrier, its own, and those of the context.
 */
#ifndef JW_JFR_JFR_DECLARED_H
#define JW_JFR_JFR_DECLARED_H

#include "jfr/jfr_types.h"

#define JFR_DECLARED_PREFIX "jaywalk.probe."

#define JFR_DECLARED_MAX         64u /* of a chunk */
#define JFR_DECLARED_FIELDS_MAX  16u
#define JFR_DECLARED_NAME_BYTES  80u
#define JFR_DECLARED_LABEL_BYTES 128u
/* Id of the type: that, and its number. */
#define JFR_DECLARED_FIRST_ID 1024u

struct jfr_declared_field {
    char name[JFR_DECLARED_NAME_BYTES];
    char label[JFR_DECLARED_LABEL_BYTES];
    enum jfr_type
        type; /* of a primitive type, or STRING, CLASS or THREAD: the last two hold keys of constants */
    enum jfr_unit unit;
};

struct jfr_declared {
    uint32_t number; /* never given twice in a process */
    bool has_duration;
    bool has_stack;
    char name[JFR_DECLARED_NAME_BYTES]; /* jaywalk.probe.SlowOrder */
    char label[JFR_DECLARED_LABEL_BYTES];
    char text[JFR_DECLARED_LABEL_BYTES]; /* "": none */
    char probe[JFR_DECLARED_NAME_BYTES]; /* whose it is */
    uint32_t field_count;
    struct jfr_declared_field fields[JFR_DECLARED_FIELDS_MAX];
};

/* Those of a chunk. */
struct jfr_declared_set {
    size_t count;
    struct jfr_declared each[JFR_DECLARED_MAX];
};

/* NULL: the set, which may be NULL, has none of that number. */
const struct jfr_declared *jfr_declared_find(const struct jfr_declared_set *set, uint32_t number);

/* Its rows, as those of the table: the event and its fields, with names and labels of `declared`. How many. */
#define JFR_DECLARED_ROWS_MAX (JFR_DECLARED_FIELDS_MAX + 16u)
size_t jfr_declared_rows(const struct jfr_declared *declared,
                         struct jfr_row rows[JFR_DECLARED_ROWS_MAX]);

#endif
