/*
 * export - a profile as something to look at: flame graph, collapsed stacks, text; or to send elsewhere: pprof, OTLP.
 *
 * For      the files that people and their tools read, made alike by the agent and the command.
 * Callers  recording, cli.
 * Context  dump, tool.
 * Memory   a buffer of 64 KiB and some words for each name and each tree node, for the call; pprof and OTLP hold the
 *          whole output, some bytes for each frame of each distinct stack.
 *
 * Output depends on nothing but the profile and the options: no clock, no random number, no locale.
 */
#ifndef JW_EXPORT_EXPORT_H
#define JW_EXPORT_EXPORT_H

#include "profile/profile.h"

struct options;
struct profile_moments;

enum export_format {
    EXPORT_COLLAPSED,  /* a line for each distinct stack: root;...;leaf count */
    EXPORT_FLAMEGRAPH, /* one HTML file that needs no network */
    EXPORT_TEXT,       /* hottest methods, then hottest stacks */
    EXPORT_EXPLORER,   /* the same page over time: needs the moments */
    EXPORT_TREE,       /* the call tree as text, heaviest first */
    EXPORT_PPROF,      /* profile.proto of pprof, compressed by gzip where that was linked in */
    EXPORT_OTLP,       /* ProfilesData of OpenTelemetry, see export_otlp.c */
    EXPORT_FORMAT_LIMIT
};

enum export_value {
    EXPORT_VALUE_DEFAULT, /* collapsed: samples; else: weight */
    EXPORT_VALUE_SAMPLES,
    EXPORT_VALUE_WEIGHT, /* in the unit of the profile */
};

/* A further event of the same recording. */
struct export_event {
    struct profile *profile; /* sealed by the way */
    const struct profile_moments *moments;
    struct profile *base; /* what it is compared with, or NULL */
};
#define EXPORT_EVENTS_LIMIT 16u /* of a page, the first included */

struct export_options {
    const char *
        title; /* of the page and the text; NULL or "": that of the profile, or made from its event */
    const char
        *part; /* what was let in of the samples, in words, told behind the title; NULL: all */
    struct profile_view
        view; /* text, pprof, OTLP: always with dots, and not reversed whatever it says */
    enum export_value value;
    uint32_t min_width_ppm; /* flame graph, tree: narrower frames are folded; 1 % is 10000 */
    bool is_inverted;       /* flame graph: root at the top; of reversed stacks: at the bottom */
    bool is_annotated;      /* collapsed, text: frame types as suffixes, "_[j]" */
    uint32_t method_count;  /* text: rows of the table of methods; 0: no table */
    uint32_t stack_count;   /* text: stacks to list; 0: none */
    const struct profile_moments
        *moments; /* explorer: each sample, whose stack is one of the profile */
    const struct export_event *others; /* explorer: events beside the first */
    size_t other_count;
    const char *census;  /* explorer: of locks, as JSON that page/locks.js reads; NULL: none */
    uint64_t most_bytes; /* explorer: of the page, which is made coarser to fit; 0: no limit */
    uint64_t filtered_samples; /* that the caller's own filters kept out of the profile */
    struct profile *base; /* pages: what it is compared with, sealed by the way; NULL: nothing */
    const char *base_name;
};

#define EXPORT_METHOD_COUNT 200u /* unless asked otherwise */
#define EXPORT_STACK_COUNT  100u

/* Takes the next bytes of the output; false and `err` when they cannot be kept, then no more come. */
typedef bool export_write(void *context, const void *bytes, size_t length_bytes,
                          struct jw_error *err);

/*
 * What options of the agent or of the command mean: all but the title. Patterns stay in `options`.
 */
void export_look(const struct options *options, struct export_options *look);

/* What sealing the profile and writing it will take at the most, beside what it holds. */
uint64_t export_drawing_bytes(const struct profile *profile, enum export_format format);

/* Seals the profile and writes it. False and `err` when memory is out or `write` refused. */
JW_MUST_CHECK bool export_profile(struct profile *profile, enum export_format format,
                                  const struct export_options *options, export_write *write,
                                  void *context, struct jw_error *err);

/*
 * Format by its name ("flamegraph", "html", "explorer", "heatmap", "collapsed", "folded", "text", "txt", "tree", "pprof",
 * "pb.gz", "otlp"), or by the ending of a file name (".explorer.html" before ".html"). False: there is none.
 */
bool export_format_by_name(const char *name, enum export_format *format);
bool export_format_by_ending(const char *path, enum export_format *format);

#endif
