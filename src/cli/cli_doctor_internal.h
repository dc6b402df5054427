/*
 * cli_doctor_internal - what is known of a profile's worth, and what follows from it.
 *
 * For      cmd_doctor.c; cli_doctor_read.c (a recording), cli_doctor_stacks.c (its stacks), cli_doctor_agent.c (an agent
 *          in a JVM), cli_doctor_jdks.c (figures by JDK), cli_doctor_safepoints.c (what those would show), cli_doctor_findings.c (the verdict), cli_doctor_words.c (plain
 *          sentences), cli_doctor_text.c and cli_doctor_json.c (forms).
 * Callers  these, tests.   Context  tool.
 * Memory   one struct of fixed size; of stacks, while a chunk is read, a row for each distinct stack and frame.
 *
 * Texts come from the file or the JVM: they are cut to fit here, and cleaned where they are shown.
 */
#ifndef JW_CLI_CLI_DOCTOR_INTERNAL_H
#define JW_CLI_CLI_DOCTOR_INTERNAL_H

#include "base/clock.h"
#include "base/cost.h"
#include "base/counters.h"
#include "base/ledger.h"
#include "base/memory.h"
#include "cli/cli_internal.h"

/* What is not worth a word: a part in so many of the whole, or fewer than so many. */
#define CLI_DOCTOR_SMALL_PART     100 /* 1 % */
#define CLI_DOCTOR_SMALL_COUNT    5
#define CLI_DOCTOR_FEW_SAMPLES    200
#define CLI_DOCTOR_UNSAMPLED_PART 20 /* of the CPU time: 5 % */
#define CLI_DOCTOR_NAMELESS_PART  10 /* of the stacks: 10 % */
#define CLI_DOCTOR_COST_PART      20 /* likewise */

#define CLI_DOCTOR_COST_LEAST_NS (100 * JW_NS_PER_MS)

#define CLI_DOCTOR_FAILURES  64
#define CLI_DOCTOR_CHANGES   16
#define CLI_DOCTOR_LIBRARIES 64
#define CLI_DOCTOR_FINDINGS  48
#define CLI_DOCTOR_JDKS      16
#define CLI_DOCTOR_LINES     256

/* Samples whose Java stack could not be walked, or (walker native) whose native frames end early. */
struct cli_doctor_failure {
    int32_t code;
    char reason[80]; /* "": an agent does not tell it by reason */
    char where[48];
    char walker[16];
    uint64_t count;
};

struct cli_doctor_change {
    char part[24], from[24], to[24], reason[256];
    uint64_t retry_ns; /* 0: nothing was given up */
};

struct cli_doctor_memory {
    uint64_t used_bytes, charged_bytes, limit_bytes;
    uint64_t refused_count;
};

/* A line of a method: samples there, and those whose thread would have stopped there at a safepoint. */
struct cli_doctor_line {
    char method[168];
    int64_t line;
    uint64_t sampled, stopped;
};

/* Safepoints that were long waited for. */
struct cli_doctor_delays {
    uint64_t count;
    uint64_t unnamed; /* of these, without a thread and its stack */
    uint64_t reach_ns, longest_ns;
};

struct cli_doctor_handlers {
    uint64_t count;
    uint64_t median_ns, high_ns, longest_ns; /* high: 99 of 100 took no longer */
    uint64_t longest_cpu_ns;                 /* none used more CPU time; 0: not told */
};

/* Sums since a recording began, of which the last ones hold; or since an agent was loaded. */
struct cli_doctor_sums {
    bool has_counters, has_ledger, has_cost;
    uint64_t counters[JW_COUNT_LIMIT];
    uint64_t in_flight;
    struct jw_ledger ledger;
    struct jw_cost_sums cost;
    struct cli_doctor_handlers handlers[JW_COST_CLOCK_LIMIT];
    struct cli_doctor_failure failures[CLI_DOCTOR_FAILURES];
    size_t failure_count;
    uint64_t failures_left_out; /* of more kinds than there is room for */
    struct cli_doctor_memory memory[JW_MEMORY_LIMIT];
    struct cli_doctor_line lines[CLI_DOCTOR_LINES]; /* more are left out */
    size_t line_count;
    struct cli_doctor_delays delays;
};

/* A library, and the stacks that it spoils. */
struct cli_doctor_library {
    char name[64];
    uint64_t failed;   /* the sampled code is its, and the Java stack is missing */
    uint64_t gaps;     /* the Java stack is missing behind its code */
    uint64_t nameless; /* its code is on top, without a name */
};

/* Stacks as the file shows them, one for each event. */
struct cli_doctor_stacks {
    uint64_t count, cpu, wall;
    uint64_t empty;          /* no frame at all */
    uint64_t gaps;           /* the Java part is missing: a mark says why */
    uint64_t truncated;      /* the outermost frames are missing */
    uint64_t too_deep;       /* of these, as jstackdepth= says */
    uint64_t frozen;         /* they are missing as they lie in the heap, and were not read there */
    uint64_t nameless_top;   /* the code on top has no name of a function */
    uint64_t nameless_cpu;   /* of these, samples of CPU time: who waits does so in the C library */
    uint64_t unreadable;     /* some Java method could not be read */
    uint64_t safepoint;      /* in the JVM's code for safepoints */
    uint64_t safepoint_java; /* of these, of threads with Java frames below */
    uint64_t jvm_named;      /* some function of the JVM has a name: then safepoint can be told */
    struct cli_doctor_library libraries[CLI_DOCTOR_LIBRARIES]; /* those of more are in the last */
    size_t library_count;
};

/* What recordings of one JDK have in common. */
struct cli_doctor_jdk {
    char jvm[160]; /* as recorded; "": not told */
    uint64_t recordings;
    uint64_t signals, samples, lost;
    uint64_t failed; /* walks */
    uint64_t stacks, gaps, truncated, frozen;
    uint64_t compared, different; /* with JVMTI */
};

struct cli_doctor_jdks {
    struct cli_doctor_jdk rows[CLI_DOCTOR_JDKS]; /* those of more are in the last */
    size_t count;
};

/* A walker of an agent, as it stands. */
struct cli_doctor_walker {
    char name[16], standing[16];
    bool is_in_use;
    uint64_t walks, bad;
};
#define CLI_DOCTOR_WALKERS 4

enum cli_doctor_rank {
    CLI_DOCTOR_WRONG, /* what the profile says cannot be relied on */
    CLI_DOCTOR_GAP,   /* a part of it is missing, or told apart badly */
    CLI_DOCTOR_HINT,  /* worth knowing */
};

struct cli_doctor_finding {
    const char *id; /* stable, for programs */
    enum cli_doctor_rank rank;
    uint64_t weight_ppm; /* of the profile, about: what stands first among those of a rank */
    char what[400];
    char todo[400];
};

struct cli_doctor {
    const char *input; /* file or process, as it was named */
    bool is_of_agent;
    bool is_jaywalk;

    /* What it is; "" and 0: not told. */
    char agent_version[32];
    char jvm[160];
    char program[256];
    char flags[512];
    uint64_t pid;
    bool has_arguments, has_debug_info, is_started_along;
    char event[64], filter[160], walker[160], overhead[24], selfcheck[256], agreement[256],
        native_difference[256], nativecheck[256], ttsp[256], safepoint_samples[96];
    char sampling[256], state[32]; /* of an agent */
    uint64_t interval_ns, wall_ns, interval_now_ns, wall_now_ns, memlimit_bytes;
    uint64_t depth_count, hardware_threads;
    uint64_t start_unix_ns, duration_ns;
    uint64_t size_bytes, chunks, recordings;
    bool is_cut;
    bool is_unclosed; /* readable to its end, and its writer had not come to it */
    char notice[512];
    char damage[512];

    struct cli_doctor_sums now, before, all; /* of the recording under way, those before it, both */
    uint64_t laws, laws_broken;              /* jaywalk.Conservation: how often it was held */
    uint64_t interval_changes;
    struct cli_doctor_stacks stacks;
    struct cli_doctor_jdks jdks;
    struct cli_doctor_change changes[CLI_DOCTOR_CHANGES]; /* the first ones, and the last */
    size_t change_count;
    struct cli_doctor_walker walkers[CLI_DOCTOR_WALKERS];
    size_t walker_count;
    char remarks[1024]; /* of an agent: its warnings, by line */

    struct cli_doctor_finding findings[CLI_DOCTOR_FINDINGS]; /* most important first */
    size_t finding_count;
};

/* What the file says. False and `err`: it is no recording, or nothing of it can be read. */
JW_MUST_CHECK bool cli_doctor_read(struct cli_doctor *doctor, const char *path, bool is_quiet,
                                   struct jw_error *err);

/* What the answers of an agent to `metrics` and `status` say. */
void cli_doctor_metrics(struct cli_doctor *doctor, const char *text);
void cli_doctor_status(struct cli_doctor *doctor, const char *text);

/* The row of such a failure, added on first sight; NULL: no room. */
struct cli_doctor_failure *cli_doctor_failure_at(struct cli_doctor_sums *sums, int32_t code,
                                                 const char *where, const char *walker);

/* The row of such a line, added on first sight; NULL: no room. */
struct cli_doctor_line *cli_doctor_line_at(struct cli_doctor_sums *sums, const char *method,
                                           int64_t line);
void cli_doctor_add_lines(struct cli_doctor_sums *to, const struct cli_doctor_sums *from);

/* Adds sums, of recordings one after the other. */
void cli_doctor_add(struct cli_doctor_sums *to, const struct cli_doctor_sums *from);

/* The row of a JDK, added on first sight. */
struct cli_doctor_jdk *cli_doctor_jdk_at(struct cli_doctor_jdks *jdks, const char *jvm);
void cli_doctor_jdks_add(struct cli_doctor_jdks *to, const struct cli_doctor_jdks *from);

/* A copy that is cut, at a character, where it does not fit. */
void cli_doctor_copy(char *to, size_t room_bytes, const char *text);

/* Fills and orders the findings. */
void cli_doctor_judge(struct cli_doctor *doctor);

/* Samples, named losses, spared ones and those under way, which signals should be. */
struct cli_doctor_account {
    uint64_t signals, samples, lost, spared, in_flight;
};
void cli_doctor_account(const struct cli_doctor_sums *sums, struct cli_doctor_account *out);

/* Failures that are none of the walk: a thread that begins or ends has no Java frames. */
bool cli_doctor_is_failure(const struct cli_doctor_failure *failure);

/* Between which shares of the samples, in ppm, 95 of 100 such profiles have what takes a tenth of the time. */
void cli_doctor_chance(uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm);

/* cli_doctor_words.c: plain sentences; NULL: nobody need do anything, or nothing is known. */
const char *cli_doctor_loss_todo(enum jw_counter_id id);
const char *cli_doctor_walk_words(const struct cli_doctor_failure *failure);
const char *cli_doctor_walk_todo(const struct cli_doctor_failure *failure);
const char *cli_doctor_place_words(const char *where);
const char *cli_doctor_ledger_todo(enum jw_ledger_line line);

/* "cpu", "wall" or "hook", as recordings and metrics have it; anything else: cpu. */
enum jw_cost_clock cli_doctor_clock_of(const char *text);

/* Pieces of the page: a number, a share, a section's head (number NULL: no columns), and a line "  label   what" in
 * paragraphs, in which texts of others are cleaned. */
struct cli_doctor_word {
    char text[40];
};
struct cli_doctor_word cli_doctor_digits(uint64_t number);
struct cli_doctor_word cli_doctor_share(uint64_t part, uint64_t all);
void cli_doctor_head(FILE *to, const char *title, const char *number, const char *share);
void cli_doctor_fact(FILE *to, const char *label, const char *format, ...) JW_PRINTF(3, 4);

void cli_doctor_text(const struct cli_doctor *doctor, FILE *to);
void cli_doctor_verdict_text(const struct cli_doctor *doctor, FILE *to); /* the head of it */
void cli_doctor_native_text(const struct cli_doctor *doctor, FILE *to);  /* of section "Walkers" */
void cli_doctor_safepoints_text(const struct cli_doctor *doctor, FILE *to);
void cli_doctor_jdks_text(const struct cli_doctor_jdks *jdks, FILE *to);
void cli_doctor_json(const struct cli_doctor *doctor, FILE *to);

/* Of several recordings: begin, then each one told (`is_first`), then the end. */
void cli_doctor_json_begin(FILE *to);
void cli_doctor_json_next(const struct cli_doctor *doctor, bool is_first, FILE *to);
void cli_doctor_json_end(const struct cli_doctor_jdks *jdks, FILE *to);

#endif
