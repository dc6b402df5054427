/*
 * export_internal - output with a buffer, and the one place that turns a name into what is shown.
 *
 * For      the files of this room.   Callers  these.   Context  dump, tool.
 * Memory   a struct export_out lies with its user; texts that grow are freed by their owner.
 */
#ifndef JW_EXPORT_EXPORT_INTERNAL_H
#define JW_EXPORT_EXPORT_INTERNAL_H

#include "export/export.h"
#include "profile/profile.h"

#define EXPORT_BUFFER_BYTES 65536u

/* How text is made harmless where it is going to stand. Invalid UTF-8 becomes U+FFFD in all. */
enum export_escape {
    EXPORT_ESCAPE_LINE,      /* control characters: spaces; for a text that is one line */
    EXPORT_ESCAPE_COLLAPSED, /* as a line, and ';' becomes ':' */
    EXPORT_ESCAPE_HTML,      /* as a line, and & < > " ' as references */
    EXPORT_ESCAPE_JSON,      /* inside a JSON string that stands in a script element */
    EXPORT_ESCAPE_POOL,      /* inside '...' of the string pool, which stands in a script element */
};

/* Failure is sticky: after the first one nothing is written, export_finish tells it once. */
struct export_out {
    export_write *write;
    void *context;
    struct jw_error *err;
    bool has_failed;
    void *compressor; /* of all that is packed into it; NULL: nothing is yet */
    size_t used_bytes;
    char bytes[EXPORT_BUFFER_BYTES];
};

void export_out_free(struct export_out *out); /* or NULL */

void export_put_bytes(struct export_out *out, const char *bytes, size_t length_bytes);
void export_put(struct export_out *out, const char *text); /* as it is */
void export_put_char(struct export_out *out, char character);
void export_put_number(struct export_out *out, uint64_t number);
void export_put_grouped(struct export_out *out, uint64_t number); /* 1,234,567 */
/* So many bytes from here on are characters that this escape leaves as they are. */
size_t export_plain_bytes(const char *text, size_t length_bytes, enum export_escape escape);
void export_put_escaped(struct export_out *out, const char *text, enum export_escape escape);
void export_put_format(struct export_out *out, const char *format, ...) JW_PRINTF(2, 3);

/* "12.3 %", "0.45 %", "< 0.01 %", and "100 %" only for all of it. */
void export_put_share(struct export_out *out, uint64_t part, uint64_t whole);

/* A value in its unit, for people: "1.24 s", "310 ms", "3.5 MiB", "12,345 samples". */
void export_put_value(struct export_out *out, uint64_t value, const char *unit);

bool export_finish(struct export_out *out);

/* Text that grows, for titles. */
struct export_text {
    char *text; /* ends with a 0 byte once something was added */
    size_t length_bytes;
    size_t capacity_bytes;
    bool has_failed;
};

void export_text_add(struct export_text *text, const char *bytes, size_t length_bytes);
void export_text_free(struct export_text *text);

/* Adds what is shown for a name, see profile_title. All formats get it from here. */
void export_title(struct export_text *text, const struct profile_name *name,
                  const struct profile_view *view);

/* Numbers of frame types, as async-profiler's flame graphs have them. */
enum export_type {
    EXPORT_TYPE_INTERPRETED = 0,
    EXPORT_TYPE_COMPILED = 1,
    EXPORT_TYPE_INLINED = 2,
    EXPORT_TYPE_NATIVE = 3,
    EXPORT_TYPE_CPP = 4,
    EXPORT_TYPE_KERNEL = 5,
    EXPORT_TYPE_C1 = 6,
};

/* Type of a node: of Java methods the tier that most of its weight was spent in. */
enum export_type export_type_of(const struct profile_name *name, const struct profile_node *node);

/* "_[j]" and so on; "" where there is none. */
const char *export_type_suffix(const struct profile_name *name, enum export_type type);

/* The suffix, where types are wanted. */
void export_add_suffix(struct export_text *text, const struct export_options *options,
                       const struct profile_name *name, enum export_type type);

/* export_fit.c: what an explorer page gives up to be no larger than it may be. */
struct export_fit {
    uint32_t bins_most;     /* of time */
    uint32_t min_width_ppm; /* narrower stacks are folded; 0: none */
    uint32_t contexts_most; /* the rarer ones are one; 0: all are kept */
};

/* What every format needs to know. */
struct export_job {
    const struct profile *profile;
    const struct export_options *options;
    struct profile_view view; /* as sealed */
    const struct profile_node *nodes;
    uint32_t node_count;
    bool is_by_samples;
    const char *unit;
    const char *prefix;           /* of the elements of a page that hold this profile */
    const struct export_fit *fit; /* NULL: nothing is given up */
    struct export_out *out;
};

static inline uint64_t export_total(const struct export_job *job, const struct profile_node *node)
{
    return job->is_by_samples ? node->total_samples : node->total_weight;
}

static inline uint64_t export_self(const struct export_job *job, const struct profile_node *node)
{
    return job->is_by_samples ? node->self_samples : node->self_weight;
}

/* Samples that filters kept out: patterns, and those of the caller. */
static inline uint64_t export_filtered(const struct export_job *job)
{
    return job->options->filtered_samples + profile_filtered_samples(job->profile);
}

/* Title of page and text: the caller's, the profile's, or "CPU profile" and the like; and what part it is. */
void export_put_headline(const struct export_job *job, enum export_escape escape);

/* Self and total of each name; recursion counts once. Freed with jw_free; NULL: out of memory. */
struct export_method {
    uint32_t name;
    uint64_t self;
    uint64_t total;
    enum export_type type; /* of its heaviest node by self */
    uint64_t type_self;
};

/* Sorted by self, then total, then name; marks and roots, which are no methods, are left out. */
struct export_method *export_methods(const struct export_job *job, uint32_t *count);

/* One format each. False: out of memory; failed writes are the business of `out`. */
bool export_collapsed(const struct export_job *job);
bool export_text_format(const struct export_job *job);
bool export_flamegraph(const struct export_job *job);
bool export_explorer(const struct export_job *job);
bool export_tree(const struct export_job *job);
bool export_pprof(const struct export_job *job);
bool export_otlp(const struct export_job *job);

/* export_text.c: what was measured and how far to trust it. */
void export_put_head(const struct export_job *job);
/* A share in eight columns, ending at the right; 100 only for all of it. */
void export_put_column(struct export_out *out, uint64_t part, uint64_t whole);
/* The title of a name with its suffix, where such are wanted. */
void export_put_title(const struct export_job *job, uint32_t number, enum export_type type,
                      struct export_text *scratch);
/* In place of what would follow the head: nothing was sampled, or the filters left nothing. False: there is something. */
bool export_put_none(const struct export_job *job);

/* export_fit.c: writes an explorer page that is no larger than the options want. False: memory is out. */
JW_MUST_CHECK bool export_fitted(const struct export_job *job,
                                 bool (*put)(const struct export_job *job));

/* export_packed.c: whether this build can compress. */
bool export_can_pack(void);

/* Parts of the flame graph page. */
bool export_page_data(const struct export_job *job);
/* Are rare contexts of these samples one in a page that is to fit? `has_memory` becomes false where there is none. */
bool export_explorer_folds(const struct export_job *job, const struct profile *profile,
                           const struct profile_moments *moments, bool *has_memory);
/* Time that the events of a page have in common, in milliseconds since the base of their moments; begin with 0, 0. */
struct export_extent {
    int64_t first_ms;
    int64_t last_ms;
};
void export_explorer_extent(struct export_extent *extent, const struct profile *profile,
                            const struct profile_moments *moments);
bool export_explorer_data(const struct export_job *job, const struct export_extent *extent);
#define EXPORT_EVENT_PREFIX                                                                        \
    "e%zu-" /* of the elements of the second event of a page (1) and later ones */
bool export_explorer_tree(const struct export_job *job); /* the tree alone, as export_page_data */

/* export_ledger.c, for texts: where the CPU time went, in lines of the head; threads whose samples and clocks
 * differ most, as a table. False: out of memory. For pages: the same lines in JSON. */
void export_put_ledger(const struct export_job *job);
JW_MUST_CHECK bool export_put_threads(const struct export_job *job);
void export_put_ledger_json(const struct export_job *job);
/* What the profiler itself took: a line of the head, and as a member of the page's head. */
void export_put_cost(const struct export_job *job);
void export_put_cost_json(const struct export_job *job);

#endif
