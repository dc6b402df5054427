/*
 * options_internal - the rows of options.def, and messages about them.
 *
 * For      parser, help and reference page.
 * Callers  room options only.
 * Context  control, tool.
 * Memory   constant tables.
 */
#ifndef JW_OPTIONS_OPTIONS_INTERNAL_H
#define JW_OPTIONS_OPTIONS_INTERNAL_H

#include "base/jw.h"
#include "options/options.h"

enum options_id {
#define SECTION(text)
#define OPTION(id, ...) OPTIONS_ID_##id,
#include "options/options.def"
#undef OPTION
#undef SECTION
    OPTIONS_ID_LIMIT
};

enum options_kind {
    OPTIONS_KIND_CHOICE,   /* takes no value; sets its field to choice_value */
    OPTIONS_KIND_FLAG,     /* takes no value; sets its field to true */
    OPTIONS_KIND_DURATION, /* options_value_duration */
    OPTIONS_KIND_PERIOD,   /* options_value_period */
    OPTIONS_KIND_TIME,     /* options_value_time */
    OPTIONS_KIND_SIZE,     /* options_value_size */
    OPTIONS_KIND_COUNT,    /* options_value_count */
    OPTIONS_KIND_PERCENT,  /* options_value_percent */
    OPTIONS_KIND_ENUM,     /* one of enum_names */
    OPTIONS_KIND_SET, /* some of enum_names, each a bit, with + between them; one is 0: none of them */
    OPTIONS_KIND_FILE, /* a path with patterns, whose ending may name a format */
    OPTIONS_KIND_PATH,
    OPTIONS_KIND_TEXT,
    OPTIONS_KIND_LIST, /* texts; each time it is named adds one */
};

/* Actions on which an option has an effect: bits by enum options_action. */
enum {
    OPTIONS_ON_START = 1 << OPTIONS_ACTION_START | 1 << OPTIONS_ACTION_RESUME,
    OPTIONS_ON_START_ALONE = 1 << OPTIONS_ACTION_START,
    /* As on start, and at the load of an agent that waits: of these alone no action is concluded. */
    OPTIONS_ON_SESSION = OPTIONS_ON_START | 1 << OPTIONS_ACTION_NONE,
    OPTIONS_ON_OUTPUT = OPTIONS_ON_START | 1 << OPTIONS_ACTION_STOP | 1 << OPTIONS_ACTION_DUMP,
    OPTIONS_ON_ALL = (1 << OPTIONS_ACTION_LIMIT) - 1,
};

/* Formats that it changes: bits by enum options_output; 0: it is no matter of formats. */
enum {
    OPTIONS_IN_JFR = 1 << OPTIONS_OUTPUT_JFR,
    OPTIONS_IN_HTML = 1 << OPTIONS_OUTPUT_FLAMEGRAPH,
    OPTIONS_IN_COLLAPSED = 1 << OPTIONS_OUTPUT_COLLAPSED,
    OPTIONS_IN_TEXT = 1 << OPTIONS_OUTPUT_TEXT,
    OPTIONS_IN_TREE = 1 << OPTIONS_OUTPUT_TREE,
    OPTIONS_IN_PPROF = 1 << OPTIONS_OUTPUT_PPROF,
    OPTIONS_IN_OTLP = 1 << OPTIONS_OUTPUT_OTLP,
    OPTIONS_IN_TEXTS = OPTIONS_IN_COLLAPSED | OPTIONS_IN_TEXT | OPTIONS_IN_TREE,
    OPTIONS_IN_GRAPHS = OPTIONS_IN_HTML | OPTIONS_IN_TEXTS | OPTIONS_IN_PPROF | OPTIONS_IN_OTLP,
};

/* What one engine does when several sessions at once wish different values. */
enum options_merge {
    OPTIONS_MERGE_NONE, /* no row has it: each says what it means */
    OPTIONS_MERGE_EACH, /* concerns the session alone */
    OPTIONS_MERGE_SMALLEST,
    OPTIONS_MERGE_LARGEST,
    OPTIONS_MERGE_REFUSED, /* a session that wishes another value is refused */
};

struct options_name {
    const char *name; /* NULL ends a list */
    uint64_t value;
    bool is_alias;     /* understood, but not the spelling we write */
    const char *whose; /* not NULL: another profiler's value, which we do not have */
};

struct options_row {
    const char *name;
    enum options_kind kind;
    size_t field_offset; /* in struct options */
    size_t field_bytes;
    uint64_t choice_value;
    uint64_t default_value;
    uint64_t minimum;
    uint64_t maximum;
    bool is_raised;                /* below the minimum, but not 0: raised to it with a warning */
    bool is_lowered;               /* above the maximum: lowered to it with a warning */
    bool is_value_optional;        /* the name alone means the default value */
    const char *value_option;      /* a choice: whose value a value of it is; NULL: it takes none */
    const char *bare_text;         /* of a text: what the name alone means instead */
    bool is_off_unnamed;           /* the field is 0 where the option is not named at all */
    bool is_foreign_value_ignored; /* another profiler's value: a warning, the default instead */
    bool
        is_counted; /* samples are counted by it: of no sense later, nor with a recording, which has all */
    bool takes_perf; /* besides enum_names, what base/perf_event.h knows */
    const struct options_name *enum_names;
    unsigned applies;
    unsigned formats;
    enum options_merge merge;
    const char *since;
    const char *example;
    const char *help;
};

/* Names of other profilers, and of the command. */
struct options_foreign {
    const char *name;
    const char *whose;
    bool is_action;
    const char *instead; /* what to use in its place; NULL: nothing */
    const char *refusal; /* not NULL: of our own command, and why not of the agent */
};

extern const struct options_row options_rows[OPTIONS_ID_LIMIT];

#define OPTIONS_NAME_MAX_BYTES 48 /* longer than any of ours; longer ones are not compared */

/* Another profiler's name by its place in options_foreign.def; NULL past the end. */
const struct options_foreign *options_foreign_at(size_t index);

/* OPTIONS_ID_LIMIT, or NULL, when there is none. */
enum options_id options_find(const char *name, size_t length_bytes);
const struct options_foreign *options_find_foreign(const char *name, size_t length_bytes);

/* Our option most like a misspelt one; NULL when none is near. */
const char *options_nearest(const char *name, size_t length_bytes);

/* The same among the values of an enumeration. */
const char *options_nearest_value(const struct options_row *row, const char *value,
                                  size_t length_bytes);

bool options_is_numeric(enum options_kind kind);

/* A value as one would write it, "10ms". */
void options_value_text(const struct options_row *row, uint64_t value, char *text,
                        size_t capacity_bytes);

/* What the row accepts after its `=`, for a person. */
void options_allowed_text(const struct options_row *row, char *text, size_t capacity_bytes);

/* Bytes of others, made printable and cut to fit. */
void options_quote(const char *text, size_t length_bytes, char *quoted, size_t capacity_bytes);

/* Counts a message, keeps its text while there is room. */
void options_add_message(struct options_messages *messages, const char *format, ...)
    JW_PRINTF(2, 3);

/* Format that the ending of a file name means. False: an ending that is refused (.svg). */
bool options_output_of_file(const char *file, uint64_t *output);

/* Offset of the first `%` that begins no pattern of options_file_name; the length where there is none. */
size_t options_bad_pattern(const char *pattern, size_t length_bytes);

#endif
