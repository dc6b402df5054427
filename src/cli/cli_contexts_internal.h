/*
 * cli_contexts_internal - what samples were taken for: which requests there were, which samples are
 * wanted, and by what they are taken apart.
 *
 * For      convert, endpoints, and the feed under both.   Callers  these, tests.   Context  tool.
 * Memory   texts of options point into the command line; a struct cli_requests has its own.
 */
#ifndef JW_CLI_CLI_CONTEXTS_INTERNAL_H
#define JW_CLI_CLI_CONTEXTS_INTERNAL_H

#include "cli/cli_internal.h"
#include "jfr/jfr_reader.h"
#include "profile/profile.h"
#include "profile/profile_part.h"

/* ---- cli_requests.c: requests of one recording, by their root spans ---- */

struct cli_bys;
struct cli_part;
struct cli_requests;

/* All requests to one endpoint, with one operation. */
struct cli_request {
    const char *endpoint;
    const char *operation; /* NULL: none was told */
    uint64_t count;        /* distinct root spans */
    bool is_wished;        /* by cli_requests_judge; true before */
};

/*
 * Reads which root span was a request to which endpoint: of several the last one. With `is_of_samples`
 * only of root spans that samples have, which takes two passes and 16 bytes for each of them; else of
 * all that there are. NULL and `err`: the file cannot be read.
 */
JW_MUST_CHECK struct cli_requests *cli_requests_read(const char *path, bool is_of_samples,
                                                     bool is_quiet, struct jw_error *err);
void cli_requests_close(struct cli_requests *requests);

/* By number, 0, 1 ...; NULL: no more. Both know none where `requests` is NULL. */
const struct cli_request *cli_requests_at(const struct cli_requests *requests, size_t number);
/* NULL: nobody said what endpoint this root span is of. */
const struct cli_request *cli_requests_find(const struct cli_requests *requests,
                                            uint64_t root_span_id);
/* Which endpoints the part is about. */
void cli_requests_judge(struct cli_requests *requests, struct cli_part *part);
/*
 * What a part means in this recording, of which each event tells for itself: the window, and the requests that the part or the boxes ask for;
 * NULL in `out`: they ask for none. False and `err`: nothing is left, or it cannot be read.
 */
JW_MUST_CHECK bool cli_requests_settle(struct cli_part *part, const struct cli_bys *bys,
                                       const char *path, bool is_quiet, struct cli_requests **out,
                                       struct jw_error *err);

/* ---- cli_part.c: a part of the samples ---- */

#define CLI_PART_LIMIT 32

struct cli_pattern {
    char name[80];    /* of an attribute */
    const char *text; /* in which a star stands for anything; NULL: any value */
    bool is_used;     /* something fitted */
};

struct cli_trace_id {
    uint64_t high;
    uint64_t low;
};

/* Digits alone may be of either kind. */
struct cli_span_id {
    uint64_t hex;
    uint64_t decimal;
};

/* cli_latency.c: a thread was at one piece of work, in ns of Unix time. */
struct cli_span {
    uint64_t thread;
    int64_t begin_ns, end_ns;
};

/* Of each kind one has to fit, of attributes one of each name; none: any. */
struct cli_part {
    uint64_t latency_ns;             /* 0: whatever it took */
    struct cli_span *span_intervals; /* of the recording in hand, those that took as long */
    size_t span_interval_count;
    size_t span_interval_capacity;
    bool is_latency_used;   /* something took as long */
    bool is_of_safepoints;  /* those of threads that a safepoint was waiting for */
    bool is_safepoint_used; /* there was one */
    struct profile_time from, to;
    uint64_t begin_ns, end_ns; /* of Unix time, of the recording in hand, by cli_window_settle */
    struct cli_pattern threads[CLI_PART_LIMIT];
    size_t thread_count;
    struct cli_pattern endpoints[CLI_PART_LIMIT];
    size_t endpoint_count;
    struct cli_pattern attributes[CLI_PART_LIMIT];
    size_t attribute_count;
    struct cli_trace_id trace_ids[CLI_PART_LIMIT];
    size_t trace_id_count;
    struct cli_span_id span_ids[CLI_PART_LIMIT];
    size_t span_id_count;
    bool has_no_endpoint; /* asked for by what is shown for it: a context, and "[no endpoint]" */
    bool has_no_context;  /* likewise "[no context]" */
};

/* From options; false and `err`: one of them has no sense. */
JW_MUST_CHECK bool cli_part_read(const struct cli_values *values, struct cli_part *part,
                                 struct jw_error *err);
void cli_part_close(struct cli_part *part); /* zeroed is fine */
/* What was used of a copy of it counts as used. */
void cli_part_note_used(struct cli_part *part, const struct cli_part *copy);
/* What it means in this recording: the window, the spans. False and `err`: nothing is left, or it cannot be read. */
JW_MUST_CHECK bool cli_part_settle(struct cli_part *part, const char *path, struct jw_error *err);
bool cli_part_is_whole(const struct cli_part *part); /* of contexts, that is */
/* Value of --latency. */
JW_MUST_CHECK bool cli_latency_read(const char *text, uint64_t *latency_ns, struct jw_error *err);
JW_MUST_CHECK bool cli_latency_settle(struct cli_part *part, const char *path,
                                      struct jw_error *err);
/* When it begins and ends, in ns of Unix time, both 0 where it has no chunk. False and `err`: it cannot be opened. */
JW_MUST_CHECK bool cli_span(const char *path, uint64_t *start_ns, uint64_t *end_ns,
                            struct jw_error *err);
/* What from and to mean in this recording. False and `err`: nothing lies between them, or it cannot be read. */
JW_MUST_CHECK bool cli_window_settle(struct cli_part *part, const char *path, struct jw_error *err);

/* In words, cut to fit: "GET /orders*, tenant=acme"; "" for the whole. */
void cli_part_tell(const struct cli_part *part, char *text, size_t room);

/* Filters that keep stacks out, as they were given, cut to fit. */
void cli_filters_tell(const struct cli_values *values, char *text, size_t room);

/* "0af7651916cd43dd8448eb211c80319c"; shorter ones lack zeros on the left. */
JW_MUST_CHECK bool cli_trace_id_read(const char *text, struct cli_trace_id *out);

/* ---- cli_by.c: what samples are taken apart by ---- */

enum cli_by_kind {
    CLI_BY_THREAD,
    CLI_BY_ENDPOINT,
    CLI_BY_OPERATION,
    CLI_BY_ATTRIBUTE,
};

struct cli_by {
    enum cli_by_kind kind;
    const char *name; /* of an attribute, else of the kind */
};

struct cli_bys {
    struct cli_by items[PROFILE_ROOTS_LIMIT];
    size_t count;
};

/* From options; `is_by_thread`: also by thread, last where no option gives it a place. */
JW_MUST_CHECK bool cli_bys_read(const struct cli_values *values, bool is_by_thread,
                                struct cli_bys *bys, struct jw_error *err);
/* What samples of no context at all are said to lack, where a table tells them apart. */
#define CLI_NO_CONTEXT "\001context" /* no name of an attribute begins so */

bool cli_bys_have(const struct cli_bys *bys, enum cli_by_kind kind);

/* Whether part or boxes ask for endpoints; for anything but threads. */
bool cli_needs_requests(const struct cli_part *part, const struct cli_bys *bys);
bool cli_needs_contexts(const struct cli_part *part, const struct cli_bys *bys);

/* ---- cli_read.c: recordings ---- */

/* One recording that is read. */
struct cli_input {
    const char *path;
    struct cli_requests *requests; /* NULL: nobody asked */
    struct cli_found found;
};

/*
 * A profile of the samples that are wished for, of all inputs; fed a second time where only some say what
 * time they stand for, and then all count as one. NULL and `err`: one cannot be read, or no memory.
 */
JW_MUST_CHECK struct profile *cli_read_event(struct cli_input *inputs, size_t count,
                                             const struct profile_config *config,
                                             struct cli_wish *wish, struct jw_error *err);

/* False, and said why: what was asked for is in no sample of this input. */
JW_MUST_CHECK bool cli_check_contexts(const struct cli_input *input, const struct cli_wish *wish);

/* Is this name in a list as struct cli_found has it? */
bool cli_has_name(const char *names, const char *name);

/* Patterns that nothing fitted. */
void cli_tell_idle_part(const char *path, const struct cli_part *part);

#endif
