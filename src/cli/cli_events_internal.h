/*
 * cli_events_internal - events of a recording, each by itself, for other programs: JSON Lines and CSV.
 *
 * For      cli_events.c (which events), cli_events_value.c (values as JSON), cli_events_csv.c (cells).
 * Callers  these, convert, tests.   Context  tool.
 * Memory   the line that is being made, 64 MiB at the most; of a chunk the text of each constant and method that
 *          stood in an event, 64 MiB, then they are made again.
 */
#ifndef JW_CLI_CLI_EVENTS_INTERNAL_H
#define JW_CLI_CLI_EVENTS_INTERNAL_H

#include "base/map.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_reader.h"

/* Texts that grow; a failure stays. */
struct cli_buffer {
    char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    bool has_failed; /* no memory, or longer than CLI_BUFFER_LIMIT */
};

#define CLI_BUFFER_LIMIT  ((size_t)64 << 20)
#define CLI_EVENTS_VALUES (1u << 20) /* of one event, with all that its references lead to */
#define CLI_EVENTS_PATH   24         /* objects in objects */

void cli_buffer_put(struct cli_buffer *buffer, const char *bytes, size_t count_bytes);
void cli_buffer_text(struct cli_buffer *buffer, const char *text);
/* Inside quotes: nothing that ends the string or the line, or that a terminal obeys; `text` is UTF-8. */
void cli_buffer_json(struct cli_buffer *buffer, const char *text);

/* How moments are written. */
enum cli_times {
    CLI_TIMES_ISO, /* "2026-01-31T13:05:30.123456789Z" */
    CLI_TIMES_MS,  /* of Unix time */
    CLI_TIMES_NS,
};

struct cli_events {
    struct jfr_reader *reader;
    struct jfr_reader_chunk chunk; /* under way */
    enum cli_times times;
    struct cli_buffer line;
    uint64_t missing; /* references that lead nowhere, of all events written */

    unsigned values_left; /* of the event in hand */
    const struct jfr_reader_type *path[CLI_EVENTS_PATH];
    unsigned depth;

    struct jw_map
        kept_of; /* of this chunk: what a constant or method is -> its place in `kept` + 1 */
    struct cli_buffer kept;
    struct jfr_text text; /* scratch */
    struct jfr_method method;
};

/* A new chunk: what was kept of the one before goes. */
void cli_events_begin_chunk(struct cli_events *events, const struct jfr_reader_chunk *chunk);
void cli_events_forget(struct cli_events *events); /* the end: gives all memory back */

/* Appends a field's value to the line, as JSON. False: it is cut, or is too much. */
JW_MUST_CHECK bool cli_events_value(struct cli_events *events, const struct jfr_field *field);
/* The fields of an event, without those that `skips` names (ended by NULL), as one object. */
JW_MUST_CHECK bool cli_events_object(struct cli_events *events, const struct jfr_value *event,
                                     const char *const *skips);

void cli_events_put_time(struct cli_events *events, int64_t unix_ns);
bool cli_is_moment(enum jfr_measure measure);

/* cli_events_csv.c: columns of the events of one kind, known before the first; of all events they are always the same. */
struct cli_columns {
    char **names;
    size_t count;
    size_t capacity;
    bool is_of_all; /* type, startTime, duration, eventThread, stackTrace, values */
};

JW_MUST_CHECK bool cli_columns_add(struct cli_columns *columns, const char *name);
void cli_columns_close(struct cli_columns *columns);
void cli_csv_head(struct cli_events *events, const struct cli_columns *columns);
/* A row. False: as above. */
JW_MUST_CHECK bool cli_csv_event(struct cli_events *events, const struct cli_columns *columns,
                                 const struct jfr_reader_event *event);

#endif
