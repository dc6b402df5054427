/*
 * cli_safepoints_internal - safepoints of recordings: how long they took, and who kept them waiting.
 *
 * For      cmd_safepoints.c (the command), cli_safepoints_read.c (events), cli_safepoints_hint.c (what a stack and its figures prove),
 *          cli_safepoints_sums.c (figures), cli_safepoints_text.c (the page, and the object for programs).
 * Callers  these, tests.   Context  tool.
 * Memory   a row of some 40 bytes for each safepoint, one for each operation and each place that was late; texts are their own.
 */
#ifndef JW_CLI_CLI_SAFEPOINTS_INTERNAL_H
#define JW_CLI_CLI_SAFEPOINTS_INTERNAL_H

#include "base/map.h"
#include "cli/cli_contexts_internal.h"

#define CLI_SAFEPOINT_UNKNOWN (-1)

/* Why a thread was late; each only where its stack or its figures prove it. */
enum cli_safepoint_hint {
    CLI_HINT_NONE,
    CLI_HINT_NO_PROCESSOR,
    CLI_HINT_MAPPED_FILE,
    CLI_HINT_READS_PAGES,
    CLI_HINT_COPY,
    CLI_HINT_FILL,
    CLI_HINT_NEW_ARRAY,
    CLI_HINT_PAGE_FAULTS,
    CLI_HINT_NATIVE,
    CLI_HINT_LOOP,
    CLI_HINT_JVM,
    CLI_HINT_LIMIT
};

struct cli_hint_words {
    const char *id;   /* for programs; it stays */
    const char *what; /* what is proved */
    const char *todo;
};
extern const struct cli_hint_words cli_hint_words[CLI_HINT_LIMIT];

/* What a stack says of where its thread was. Java: its first frame; top: the native code above it, "" where there is none. */
struct cli_late_stack {
    char java[256]; /* app.Hot.spin */
    int64_t line;   /* 0: not known */
    bool is_compiled, is_jdk;
    char top[160];
    char library[64];
    char from
        [320]; /* app.Hot.read:12, the first method that is not the JDK's, where `java` is; "" else */
    bool has_buffer; /* one of its first frames reads memory outside of the heap */
};

struct cli_late_facts {
    bool is_in_java, is_in_jvm;
    int64_t reach_ns;
    int64_t threshold_ns; /* of ttsp=; 0: not known */
    bool has_used;        /* the rest */
    int64_t cpu_ns, waited_ns, minor_faults, major_faults;
};

enum cli_safepoint_hint cli_safepoint_judge(const struct cli_late_stack *stack,
                                            const struct cli_late_facts *facts);

/* A safepoint; times that are not known are CLI_SAFEPOINT_UNKNOWN. */
struct cli_safepoint {
    int64_t reach_ns, inside_ns;
    int64_t begin_ticks; /* while its chunk is read */
    uint32_t operation;  /* number of its text, 0: not known */
    uint8_t seen;        /* kinds of events of the JVM */
    bool is_left_out;    /* while its file is read: it is not of the part */
};

/* Safepoints that one side tells of. */
struct cli_safepoint_side {
    struct cli_safepoint *items;
    size_t count, capacity;
    bool is_told; /* the recording could hold some */
    bool
        is_reach_wider; /* some times to reach are those of SafepointBegin, which does more in older JVMs */
};

enum { CLI_SAFEPOINTS_OF_JAYWALK, CLI_SAFEPOINTS_OF_JVM, CLI_SAFEPOINTS_SIDES };

/* A place that was late, by its method and line, the native code above it, and the hint. */
struct cli_culprit {
    char place[320];
    char method[256];
    int64_t line;
    char from[320];
    char top[160], library[64];
    char thread[128]; /* of the longest one */
    uint64_t threads; /* names that differ */
    const char *late_in;
    enum cli_safepoint_hint hint;
    uint64_t count;
    int64_t reach_ns, longest_ns;
    uint64_t used_count; /* of which the rest is known */
    int64_t cpu_ns, waited_ns, minor_faults, major_faults;
};

struct cli_safepoints {
    struct cli_safepoint_side sides[CLI_SAFEPOINTS_SIDES];
    char **operations; /* texts; number 0 is "" */
    size_t operation_count, operation_capacity;
    struct jw_map operation_of; /* text -> number + 1 */
    struct cli_culprit *culprits;
    size_t culprit_count, culprit_capacity;
    struct jw_map culprit_of; /* what tells them apart -> number + 1 */
    struct jw_map thread_of;  /* number of a culprit, name -> 1 */
    uint64_t at_poll_count;   /* without a culprit: it was seen only when it was about to stop */
    uint64_t starved_count;   /* the JVM's own thread, or jaywalk's, had no processor */
    uint64_t nobody_count;    /* none was seen */
    int64_t threshold_ns;     /* the last that a recording told; 0: none did */
    char off[256];            /* why jaywalk did not watch; "": it did, or nothing is said */
    char part[512];           /* which of them, in words; "": all */
    bool is_jaywalk;
    bool is_out_of_memory;
};

/* Adds those of a file that began in the part's time. False and `err`: it cannot be read to its end; what was read is there. */
JW_MUST_CHECK bool cli_safepoints_read(struct cli_safepoints *all, const char *path,
                                       struct cli_part *part, bool is_quiet, struct jw_error *err);
void cli_safepoints_close(struct cli_safepoints *all);

/* What times come to: by nearest rank. */
struct cli_safepoint_times {
    uint64_t count;
    int64_t sum_ns, median_ns, high_ns, highest_ns,
        longest_ns; /* of 100: 50, 90, 99 took no longer, and all */
};

struct cli_safepoint_operation {
    const char *name; /* "": not known */
    uint64_t count;
    int64_t reach_ns, reach_longest_ns, inside_ns, inside_longest_ns;
};

/* Sums of a side, made when all is read; `operations` are the caller's to free, most time first. */
struct cli_safepoint_sums {
    struct cli_safepoint_times reach, inside;
    struct cli_safepoint_operation *operations;
    size_t operation_count;
};
JW_MUST_CHECK bool cli_safepoints_sum(const struct cli_safepoints *all,
                                      const struct cli_safepoint_side *side,
                                      struct cli_safepoint_sums *out);
/* Those that kept most waiting first. */
void cli_safepoints_order(struct cli_safepoints *all);

/* `top` rows of operations and culprits, 0: all. False: no memory. */
JW_MUST_CHECK bool cli_safepoints_text(const struct cli_safepoints *all, size_t top, FILE *to);
JW_MUST_CHECK bool cli_safepoints_json(const struct cli_safepoints *all, FILE *to);

#endif
