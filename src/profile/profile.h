/*
 * profile - what a recording says, without where it came from: a call tree with values.
 *
 * For      everything that is drawn or printed: exporters read one model, whether it was fed by
 *          the agent while it samples or by the command from a file. Equal input gives an equal
 *          model, and an equal model gives equal bytes: no output depends on the order of adding.
 * Callers  recording, cli (open, feed, close); export (seal, read).
 * Context  dump, tool. Not thread safe; one owner.
 * Memory   grows with distinct frames and distinct stacks, never with samples. When memory is out
 *          the profile is marked, takes nothing more, and profile_seal says so.
 *
 * Frames are told as they were seen: type, class, method, signature, line. What makes two of them one
 * box is decided by the view when the profile is sealed: class and method (and signature where the view
 * asks for it), not the tier; how often a method ran in which tier stays as a number of its node. Who
 * knows a plain name for a mangled one tells that.
 *
 *     profile_open -> profile_frame, profile_add, profile_loss ... -> profile_seal -> profile_node
 *                  ^---------------- may go on -----------------------'
 */
#ifndef JW_PROFILE_PROFILE_H
#define JW_PROFILE_PROFILE_H

#include "base/cost.h"
#include "base/counters.h"
#include "base/ledger.h"

struct profile;

typedef uint32_t profile_frame_id;               /* means something in its profile only */
#define PROFILE_FRAME_NONE ((profile_frame_id)0) /* also what a profile out of memory gives */

typedef uint32_t profile_stack_id;
#define PROFILE_STACK_NONE UINT32_MAX
#define PROFILE_STACK_ROOT ((profile_stack_id)0) /* of no frames: where those without boxes begin */

enum profile_frame_type {
    PROFILE_FRAME_INTERPRETED = 0, /* the first four in JFR's order */
    PROFILE_FRAME_COMPILED = 1,
    PROFILE_FRAME_INLINED = 2,
    PROFILE_FRAME_JAVA_NATIVE = 3, /* a Java method marked native */
    PROFILE_FRAME_C1 = 4,          /* compiled by C1, where a producer tells it apart */
    PROFILE_FRAME_NATIVE = 5,      /* C or C++: `method` is the function, `module` the library */
    PROFILE_FRAME_KERNEL = 6,
    PROFILE_FRAME_CLASS = 7,     /* a class on top of a stack: what was allocated, which lock */
    PROFILE_FRAME_MARK = 8,      /* not code: `method` says what is missing, "[GC active]" */
    PROFILE_FRAME_COMPILING = 9, /* not code: the Java method that the code above compiles */
    PROFILE_FRAME_ADDRESS = 10,  /* not code: where a thread was interrupted, "0x7f12a4c0d3e8" */
    PROFILE_FRAME_TYPE_LIMIT
};

/* Texts are UTF-8 and copied; NULL and "" are the same. */
struct profile_frame {
    enum profile_frame_type type;
    const char *class_name; /* internal form, "java/lang/String"; native code and marks: NULL */
    const char *method;
    const char *signature; /* "(I)V", or NULL */
    const char *module;    /* native code: the library's file name without its directory */
    int line;              /* 1 and up; anything else: unknown */
};

/* What is kept of stacks while they are added. */
struct profile_config {
    bool split_lines; /* lines are boxes of their own */
};

/* How it is looked at; each seal may take another view of what was added. */
struct profile_view {
    bool split_signatures; /* overloads are boxes of their own */
    bool is_normalised;    /* names that change from run to run get one: Work$$Lambda, $Proxy */
    bool is_simple;        /* classes without their packages */
    bool is_dotted;        /* java.lang.String instead of java/lang/String */
    bool has_libraries;    /* libc.so.6`memcpy */
    bool
        has_compilations; /* methods that are compiled are boxes; else what is above stands in their place */
    bool reverse;         /* trees of callers: the leaf of each stack stands at the root */
    bool knows_stacks;    /* profile_stack_node is going to be asked */
    const char *includes; /* profile_patterns: only stacks with a box that one matches; NULL: all */
    const char *excludes; /* likewise: no stack with a box that one matches */
};

/*
 * Patterns are texts, each with its 0 byte, one after another; an empty one ends them. A pattern is
 * compared with a box as the view shows it and as it was told, with slashes and with dots, with and
 * without signature, line and library:
 *     java.util.*   the star stands for anything, at the beginning, at the end or at both
 *     Work.run      without a star: all of it
 *     /^com.*[0-9]/ between slashes: an extended regular expression, found anywhere
 */
#define PROFILE_PATTERNS_LIMIT 64 /* includes and excludes together */

/* False and `err`: one of them is no regular expression, or there are too many. */
JW_MUST_CHECK bool profile_check_patterns(const char *includes, const char *excludes,
                                          struct jw_error *err);

/* The patterns of a view, for who shows stacks that are not summed; NULL with nothing in `err`: it has none. */
struct profile_filter;
struct profile_frame;
struct profile_filter *profile_filter_open(const struct profile_view *view, struct jw_error *err);
void profile_filter_close(struct profile_filter *filter); /* NULL is fine */
bool profile_filter_has_includes(const struct profile_filter *filter);
/* Whether this frame lets its stacks in, or keeps them out; false: no memory to tell. */
JW_MUST_CHECK bool profile_filter_frame(struct profile_filter *filter,
                                        const struct profile_frame *frame, bool *is_included,
                                        bool *is_excluded);
/* Its n-th pattern that nothing matched, 0, 1 ...; NULL: no more. */
const char *profile_filter_idle(const struct profile_filter *filter, size_t n, bool *is_exclude);

/* One distinct stack, or one sample. */
struct profile_stack {
    const profile_frame_id *frames; /* LEAF FIRST, as walkers and JFR have them */
    size_t frame_count;
    const profile_frame_id *roots; /* OUTERMOST FIRST, of profile_thread and profile_value */
    size_t root_count;             /* at most PROFILE_ROOTS_LIMIT; more are left out */
    bool is_truncated;             /* cut at the root end; drawn as a frame that says so */
    uint64_t samples;
    uint64_t weight; /* in the unit of the profile; samples where nothing else is known */
};

/*
 * What samples can be taken apart by: boxes between the root and the frames. Reversed stacks begin above
 * them.
 */
#define PROFILE_ROOTS_LIMIT 8

/* Texts as in frames; 0: not known. */
struct profile_thread {
    const char *java_name; /* wins, where there is one */
    const char *os_name;
    int64_t os_thread_id;
    int64_t
        virtual_id; /* Thread.threadId() of a virtual thread, which has no other; 0: it is none */
};

enum profile_dimension {
    PROFILE_DIMENSION_ENDPOINT,  /* of the request, "GET /orders" */
    PROFILE_DIMENSION_OPERATION, /* of the endpoint, "list" */
    PROFILE_DIMENSION_ATTRIBUTE, /* that the application named, "tenant=acme" */
};

struct profile_value {
    enum profile_dimension dimension;
    const char *name;  /* of an attribute; of others NULL, or what stands in "[no ...]" */
    const char *value; /* NULL: the sample has none; an attribute may be "" */
};

/* What stands around the tree. Texts are copied; 0 and NULL mean not known. */
struct profile_about {
    const char *title;      /* what the run was called */
    const char *event;      /* "cpu" */
    const char *left_out;   /* another event that was sampled too and is not shown */
    const char *unit;       /* "samples", "ns", "bytes" */
    uint64_t start_unix_ns; /* of the first chunk */
    uint64_t duration_ns;   /* from there to the end of the last */
};

/* Bytes that it holds, what the allocator adds apart. Takes a time that does not depend on the samples. */
uint64_t profile_memory_bytes(const struct profile *profile);
/* What sealing and drawing it will take beside that, at the most. */
uint64_t profile_drawing_bytes(const struct profile *profile);

/* Frames of all distinct stacks, each by itself, and how many stacks; not fewer than there are. */
uint64_t profile_listed_frames(const struct profile *profile, uint64_t *stacks);

JW_MUST_CHECK struct profile *profile_open(const struct profile_config *config,
                                           struct jw_error *err);
void profile_close(struct profile *profile);

void profile_set_about(struct profile *profile, const struct profile_about *about);

/* Id of this frame, adding it on first sight. Equal frames get equal ids. */
profile_frame_id profile_frame(struct profile *profile, const struct profile_frame *frame);

/* The box of a thread, "[main tid=12]"; NULL: of samples whose thread is not known, "[no thread]". */
profile_frame_id profile_thread(struct profile *profile, const struct profile_thread *thread);

/* The box of a value, "GET /orders", "tenant=acme", "[no endpoint]". */
profile_frame_id profile_value(struct profile *profile, const struct profile_value *value);

/*
 * Adds a stack; ids that are PROFILE_FRAME_NONE are left out of it. Its number, for profile_stack_node: equal
 * stacks have equal ones. PROFILE_STACK_NONE: memory is out.
 */
profile_stack_id profile_add(struct profile *profile, const struct profile_stack *stack);

/*
 * The same step by step, outermost frame first, for who knows where a stack parts from others: where it begins, below its roots,
 * whatever its frames are; one frame on, which may be PROFILE_FRAME_NONE; and what it stands for. `depth`: steps below the root.
 * PROFILE_STACK_NONE: memory is out.
 */
profile_stack_id profile_way_begin(struct profile *profile, const struct profile_stack *stack,
                                   uint32_t *depth);
profile_stack_id profile_way_on(struct profile *profile, profile_stack_id at,
                                profile_frame_id frame, uint32_t *depth);
void profile_way_end(struct profile *profile, profile_stack_id at, uint32_t depth, uint64_t samples,
                     uint64_t weight);
/* A stack ends there soon: its place in memory is asked for. */
void profile_way_ask(const struct profile *profile, profile_stack_id at);

/*
 * Adds all stacks of `from`, which was opened with the same configuration, and no more of it: neither counters nor what
 * stands around the tree. `stacks`: NULL, or room for profile_stack_count(from) numbers: what each of its stacks is in `into`. False and marked:
 * memory is out, or was.
 */
JW_MUST_CHECK bool profile_merge(struct profile *into, const struct profile *from,
                                 profile_stack_id *stacks);

/* Numbers of stacks are below. */
uint32_t profile_stack_count(const struct profile *profile);

/*
 * The conservation law of the run: signals = samples + losses. `profile_signals` adds to the two
 * counts of the run, `profile_loss` to the loss of that name ("lostNoThread") with its meaning in
 * words. Never called: nothing is said about trust.
 */
void profile_signals(struct profile *profile, uint64_t signals, uint64_t samples);
void profile_loss(struct profile *profile, const char *name, const char *text, uint64_t count);

/* The same from the counters of a run, without the signals that were spared; those in flight at its end are a
 * loss of their own. */
void profile_counters(struct profile *profile, const uint64_t counts[JW_COUNT_LIMIT],
                      uint64_t in_flight);

/*
 * Where the CPU time of the process went; several recordings add up. Never called: nothing is said of it.
 * And what clocks and samples say of threads, which are summed up by name, "*" for each number in it.
 */
void profile_ledger(struct profile *profile, const struct jw_ledger *ledger);

struct profile_cpu {
    const char *name;
    int64_t used_ns;
    int64_t sampled_ns;
    uint64_t ended_threads;
};

void profile_thread_cpu(struct profile *profile, const struct profile_cpu *cpu);

/* What jaywalk itself took of the process; of several recordings the sums, and the longest of their handlers' times.
 * Never called: nothing is said of it. */
void profile_cost(struct profile *profile, const struct jw_cost_sums *cost);

/* Forgets counters, ledger and cost, not those of threads: before a later state of the run is told whole. */
void profile_forget_counters(struct profile *profile);

/* Reading, for exporters ----------------------------------------------------------------------- */

enum profile_name_kind {
    PROFILE_NAME_ROOT = 0,
    PROFILE_NAME_JAVA = 1,
    PROFILE_NAME_NATIVE = 2,
    PROFILE_NAME_CPP = 3, /* native code that is C++, told by its symbol or library */
    PROFILE_NAME_KERNEL = 4,
    PROFILE_NAME_CLASS = 5,
    PROFILE_NAME_MARK = 6,
    PROFILE_NAME_COMPILATION = 7, /* of a Java method, which does not run */
    /* From here on: what samples are taken apart by, see profile_is_root. */
    PROFILE_NAME_THREAD = 8,
    PROFILE_NAME_ENDPOINT = 9,
    PROFILE_NAME_OPERATION = 10,
    PROFILE_NAME_ATTRIBUTE = 11, /* `class_name` is its name, `method` its value */
    PROFILE_NAME_MISSING = 12,   /* of samples that have no value; `method` is what they lack */
};

/* No frame, but a box between the root and the frames. */
static inline bool profile_is_root(enum profile_name_kind kind)
{
    return kind >= PROFILE_NAME_THREAD;
}

/* What makes a box: frames of equal name are one box beside each other. Texts are never NULL. */
struct profile_name {
    enum profile_name_kind kind;
    const char *class_name;
    const char *method;
    const char *signature; /* "" unless signatures are split */
    const char *module;
    int line; /* 0 unless lines are split */
};

/*
 * What is shown for a name: "java/lang/String.hashCode", "JVM_Clone", "[GC active]". Returns the length
 * of the whole text and writes at most `capacity_bytes`, terminator included.
 */
size_t profile_title(const struct profile_name *name, const struct profile_view *view, char *text,
                     size_t capacity_bytes);
/* By its letter in descriptors: "[B" reads byte[]. NULL: it is none. */
const char *profile_primitive(char letter);

enum profile_tier {
    PROFILE_TIER_INTERPRETED,
    PROFILE_TIER_COMPILED,
    PROFILE_TIER_INLINED,
    PROFILE_TIER_C1,
    PROFILE_TIER_NATIVE,
    PROFILE_TIER_LIMIT
};

/*
 * A node of the sealed tree, in pre-order: the children of `i` begin at i + 1, the next sibling is
 * `end`. Siblings stand in the order of their names. Node 0 is the root and covers everything.
 */
struct profile_node {
    uint32_t name;   /* for profile_name_of; rises with the order of names */
    uint32_t parent; /* the root is its own */
    uint32_t end;
    uint32_t depth; /* 0: the root */
    uint64_t self_samples;
    uint64_t self_weight;
    uint64_t total_samples;
    uint64_t total_weight;
    uint64_t tier_weight[PROFILE_TIER_LIMIT]; /* Java: the total weight, by tier */
};

struct profile_loss {
    const char *name;
    const char *text;
    uint64_t count;
};

/*
 * Orders what was added so far for reading, as `view` wants it; NULL: a view of zeroes. False when memory
 * was or is out, or a pattern is none. May be repeated.
 */
JW_MUST_CHECK bool profile_seal(struct profile *profile, const struct profile_view *view,
                                struct jw_error *err);

/* As of the last seal: samples that the patterns kept out, and those of no frames. */
uint64_t profile_filtered_samples(const struct profile *profile);
uint64_t profile_frameless_samples(const struct profile *profile);

/* Of the last seal: its n-th pattern that no box matched, 0, 1 ...; NULL: no more. */
const char *profile_idle_pattern(const struct profile *profile, size_t n, bool *is_exclude);

/* As of the last seal. At least one node, the root. */
const struct profile_node *profile_nodes(const struct profile *profile, uint32_t *count);
/* The node that this stack ends in; PROFILE_STACK_NONE: filters keep it out, or the view does not know stacks. */
uint32_t profile_stack_node(const struct profile *profile, profile_stack_id stack);
uint32_t profile_name_count(const struct profile *profile);
const struct profile_name *profile_name_of(const struct profile *profile, uint32_t name);

const struct profile_config *profile_config_of(const struct profile *profile);
const struct profile_about *profile_about_of(const struct profile *profile);

/* False when nobody called profile_signals, or there was no signal: hooks have none. Losses in the order of their names, none of count 0. */
bool profile_trust(const struct profile *profile, uint64_t *signals, uint64_t *samples);
const struct profile_loss *profile_losses(const struct profile *profile, size_t *count);

/* NULL: nobody called profile_ledger. Threads in the order of their names. */
const struct jw_cost_sums *profile_cost_of(const struct profile *profile); /* NULL: likewise */
const struct jw_ledger *profile_ledger_of(const struct profile *profile);
const struct profile_cpu *profile_thread_cpus(const struct profile *profile, size_t *count);

#endif
