/*
 * options - the agent string, `start,event=cpu,interval=10ms,file=out.jfr`, as plain values.
 *
 * For      one grammar and one table (options.def) for agent, command, help and reference page.
 * Callers  agent (parse, file names), cli (parse before sending, help).
 * Context  control, tool.
 * Memory   everything lies in the caller's struct; nothing is allocated. struct options_result is
 *          some 30 KiB: make it static or allocate it.
 *
 * The parser is total: any bytes give a result. An option it does not know is a warning, so that
 * tools which pass newer or foreign options keep working; a bad value of an option that it knows is
 * an error, and no session starts with one. Numbers are read without regard to any locale.
 */
#ifndef JW_OPTIONS_OPTIONS_H
#define JW_OPTIONS_OPTIONS_H

#include "base/jw.h"
#include "base/perf_event.h"

#define OPTIONS_MAX_BYTES           65536 /* a longer agent string is refused whole */
#define OPTIONS_PATH_BYTES          4096  /* terminator included */
#define OPTIONS_TITLE_BYTES         256   /* terminator included */
#define OPTIONS_PATTERNS_BYTES      2048  /* of all patterns of one kind, terminators included */
#define OPTIONS_FILTER_BYTES        1024  /* terminator included */
#define OPTIONS_ATTRIBUTES_BYTES    1088  /* terminator included */
#define OPTIONS_SERVICE_BYTES       256   /* terminator included */
#define OPTIONS_THROWS_BYTES        256   /* terminator included */
#define OPTIONS_NAME_BYTES          64    /* terminator included */
#define OPTIONS_TIME_BYTES          64    /* terminator included */
#define OPTIONS_MESSAGE_BYTES       384
#define OPTIONS_MESSAGES_KEPT       24
#define OPTIONS_DEPTH_MAX           2048
#define OPTIONS_INTERVAL_MIN_NS     100000ull
#define OPTIONS_WALL_DEFAULT_NS     50000000ull
#define OPTIONS_ALLOC_DEFAULT_BYTES 524288ull
#define OPTIONS_LOCK_DEFAULT_NS     10000ull
#define OPTIONS_LIVE_DEFAULT        8192ull

enum options_action {
    OPTIONS_ACTION_NONE, /* nothing was asked for: the agent is loaded and waits */
    OPTIONS_ACTION_START,
    OPTIONS_ACTION_STOP,
    OPTIONS_ACTION_DUMP,
    OPTIONS_ACTION_STATUS,
    OPTIONS_ACTION_VERSION,
    OPTIONS_ACTION_RESUME,
    OPTIONS_ACTION_METRICS,
    OPTIONS_ACTION_LIST,
    OPTIONS_ACTION_PROBE_ATTACH,
    OPTIONS_ACTION_PROBE_LIST,
    OPTIONS_ACTION_PROBE_DETACH,
    OPTIONS_ACTION_LIMIT
};

enum options_event {
    OPTIONS_EVENT_CPU,       /* a timer on each thread's CPU clock */
    OPTIONS_EVENT_CPU_CLOCK, /* an event of the kernel on each thread's CPU clock */
    OPTIONS_EVENT_ITIMER,    /* the one ITIMER_PROF of the process */
    OPTIONS_EVENT_WALL,      /* the wall clock alone */
    OPTIONS_EVENT_ALLOC,     /* allocations, by bytes */
    OPTIONS_EVENT_LOCK,      /* waits for Java locks, by time */
    OPTIONS_EVENT_EXCEPTION, /* exceptions by their class, as `perf` says */
    OPTIONS_EVENT_PERF,      /* a counter of the kernel or the processor, named by `perf` */
    OPTIONS_EVENT_METHOD,    /* calls of methods of Java, named by `perf` */
    OPTIONS_EVENT_NEW,       /* objects by their class, as `perf` says */
    OPTIONS_EVENT_LIMIT
};

enum options_output {
    OPTIONS_OUTPUT_NONE, /* neither a format nor a file was named */
    OPTIONS_OUTPUT_JFR,
    OPTIONS_OUTPUT_FLAMEGRAPH,
    OPTIONS_OUTPUT_COLLAPSED,
    OPTIONS_OUTPUT_TEXT,
    OPTIONS_OUTPUT_TREE,
    OPTIONS_OUTPUT_PPROF,
    OPTIONS_OUTPUT_OTLP,
    OPTIONS_OUTPUT_LIMIT
};

/* What numbers of graphs and texts are. */
enum options_count {
    OPTIONS_COUNT_DEFAULT, /* collapsed: samples; else: what they stand for */
    OPTIONS_COUNT_SAMPLES,
    OPTIONS_COUNT_TOTAL, /* time, bytes: what the samples stand for */
    OPTIONS_COUNT_LIMIT
};

enum options_cstack {
    OPTIONS_CSTACK_VM, /* Java frames by our own walker, where its self-check agrees; else as AGCT */
    OPTIONS_CSTACK_AGCT,      /* Java frames by AsyncGetCallTrace */
    OPTIONS_CSTACK_VMX,       /* as VM, and OPTIONS_FEATURE_MIXED */
    OPTIONS_CSTACK_FP,        /* as VM, with native frames by their frame pointers alone */
    OPTIONS_CSTACK_LIBUNWIND, /* as VM, with native frames by libunwind */
    OPTIONS_CSTACK_NO,        /* as VM, without native frames above them */
    OPTIONS_CSTACK_LIMIT
};

/* Bits of `features`. */
enum options_feature {
    OPTIONS_FEATURE_VTABLE = 1 << 0,   /* the class of the object on which a method is looked up */
    OPTIONS_FEATURE_COMPTASK = 1 << 1, /* the method that a compiler thread compiles */
    OPTIONS_FEATURE_CARRIER = 1 << 2,  /* the frames of a virtual thread's carrier */
    OPTIONS_FEATURE_MIXED = 1 << 3,    /* native frames between Java frames and below them */
    OPTIONS_FEATURE_PCADDR = 1 << 4,   /* the address of the interrupted instruction on top */
    OPTIONS_FEATURE_PLAINSTACKS = 1 << 5, /* recordings: each stack has its frames in it */
};

/* Bits of `endpoints`: whose requests are told apart. */
enum options_endpoints {
    OPTIONS_ENDPOINTS_JDK_HTTP = 1 << 0,   /* com.sun.net.httpserver */
    OPTIONS_ENDPOINTS_SERVLET = 1 << 1,    /* javax.servlet and jakarta.servlet */
    OPTIONS_ENDPOINTS_SPRING_MVC = 1 << 2, /* patterns of requests to servlets */
    OPTIONS_ENDPOINTS_JAX_RS = 1 << 3,     /* patterns of @Path */
    OPTIONS_ENDPOINTS_GRPC = 1 << 4,       /* io.grpc, calls that a server has */
    OPTIONS_ENDPOINTS_NETTY = 1 << 5,      /* io.netty.handler.codec.http */
    OPTIONS_ENDPOINTS_KAFKA = 1 << 6,      /* org.apache.kafka.clients.consumer */
};

/* What begins and ends a window of samples: moments of a JVM that can be seen without changing its code. */
enum options_moment {
    OPTIONS_MOMENT_NONE,
    OPTIONS_MOMENT_ASKED,   /* a safepoint is asked for */
    OPTIONS_MOMENT_REACHED, /* all threads have stopped */
    OPTIONS_MOMENT_LEFT,    /* they go on */
    OPTIONS_MOMENT_TTSP,    /* of the begin: ASKED, and of the end REACHED */
};

/* What a thread did when it was sampled. */
enum options_state {
    OPTIONS_STATE_ANY,
    OPTIONS_STATE_RUNNING,
    OPTIONS_STATE_SLEEPING,
    OPTIONS_STATE_PARKED,
    OPTIONS_STATE_BLOCKED,
    OPTIONS_STATE_WAITING,
    OPTIONS_STATE_NATIVE,
    OPTIONS_STATE_LIMIT
};

enum options_loglevel {
    OPTIONS_LOGLEVEL_DEBUG,
    OPTIONS_LOGLEVEL_INFO,
    OPTIONS_LOGLEVEL_WARN,
    OPTIONS_LOGLEVEL_ERROR,
    OPTIONS_LOGLEVEL_NONE,
    OPTIONS_LOGLEVEL_LIMIT
};

enum options_locks {
    OPTIONS_LOCKS_WAITS, /* none but those who wait */
    OPTIONS_LOCKS_CENSUS,
    OPTIONS_LOCKS_OBJECTS, /* as the census, and which objects' they are */
};

enum options_dialect {
    OPTIONS_DIALECT_STANDARD,
    OPTIONS_DIALECT_ASYNC_PROFILER,
    OPTIONS_DIALECT_DATADOG,
    OPTIONS_DIALECT_LIMIT
};

/* Of a time in struct options: what else it holds is a second of the day, not nanoseconds from now. */
#define OPTIONS_TIME_OF_DAY ((uint64_t)1 << 63)

/* Numbers are uint64_t whatever they mean, so that the table can fill any of them. */
struct options {
    uint64_t action;      /* enum options_action */
    uint64_t event;       /* enum options_event */
    uint64_t interval_ns; /* of the event, where that is a clock */
    uint64_t
        interval_count; /* events between samples of what is counted (options_is_counting); else 0 */
    uint64_t wall_ns;   /* interval of the wall clock, alone or beside the event; 0: off */
    uint64_t alloc_bytes; /* interval of allocations, alone or beside the event; 0: off */
    uint64_t lock_ns;     /* waits for locks that took so long are told of; 0: none */
    uint64_t locks;       /* enum options_locks */
    uint64_t live_count;  /* sampled objects that are watched at a time; 0: none */
    uint64_t ttsp_ns;     /* safepoints that are waited for so long are told of; 0: none */
    uint64_t
        io_ns; /* reads and writes of files and sockets that took so long are told of; 0: none */
    uint64_t queue_ns;     /* tasks that waited so long in a queue are told of; 0: none */
    uint64_t window_begin; /* enum options_moment: from here on samples are taken; NONE: always */
    uint64_t window_end;   /* enum options_moment: and up to here */
    uint64_t output;       /* enum options_output: named format, else the ending of `file` */
    uint64_t traces_count; /* text output: stacks to list, 0: none */
    uint64_t flat_count;   /* text output: methods to list, 0: none */
    uint64_t jstackdepth_count;
    uint64_t chunksize_bytes;
    uint64_t chunktime_ns;
    uint64_t memlimit_bytes;
    uint64_t
        nativecheck_ns; /* between two native stacks that are compared with libunwind; 0: none */
    uint64_t
        pause_ns; /* what a batch of classes may take that are written again; 0, of probe-detach: as they were attached */
    uint64_t overhead_ppm;    /* of the CPU time of the process; 0: no budget */
    uint64_t timeout;         /* from now, in ns, or OPTIONS_TIME_OF_DAY; 0: none */
    uint64_t loop;            /* likewise */
    uint64_t cstack;          /* enum options_cstack */
    uint64_t features;        /* enum options_feature, bits */
    uint64_t endpoints;       /* enum options_endpoints, bits */
    uint64_t loglevel;        /* enum options_loglevel */
    uint64_t minwidth_ppm;    /* of the whole graph; 1 % is 10000 */
    uint64_t count;           /* enum options_count */
    uint64_t dialect;         /* enum options_dialect */
    uint64_t state;           /* enum options_state */
    uint64_t has_properties;  /* sysprops */
    uint64_t has_environment; /* environ */
    bool is_action_given;     /* false: `action` was concluded from the other options */
    bool is_with_jvm;         /* set by the agent: the session begins with the JVM */
    bool is_user_only;        /* alluser */
    bool is_by_thread;        /* threads */
    bool has_lines;           /* lines */
    bool is_simple;
    bool is_dotted;
    bool is_normalised;
    bool has_signatures;
    bool has_libraries;
    bool has_compilations;
    bool is_annotated;
    bool is_reversed;
    bool is_inverted;
    bool is_quiet;
    bool is_unbatched;                    /* nobatch */
    char throws_of[OPTIONS_THROWS_BYTES]; /* exceptions: patterns; "": none */
    bool has_classes;                     /* classload */
    bool has_async_stacks;                /* asyncstacks */
    bool is_without_arguments;            /* noargs */
    char file[OPTIONS_PATH_BYTES];        /* pattern, see options_file_name; "": none named */
    char log[OPTIONS_PATH_BYTES];         /* "": stderr */
    char answer
        [OPTIONS_PATH_BYTES];      /* file of the command jaywalk; "": nobody waits for an answer */
    char show[OPTIONS_PATH_BYTES]; /* likewise, for long texts */
    char title[OPTIONS_TITLE_BYTES];
    char from[OPTIONS_TIME_BYTES]; /* as profile/profile_part.h reads it; "": all that was before */
    char to[OPTIONS_TIME_BYTES];   /* likewise; "": all that comes */
    /* Patterns, each with its 0 byte, one after another; an empty one ends them. */
    char includes[OPTIONS_PATTERNS_BYTES];
    char excludes[OPTIONS_PATTERNS_BYTES];
    char thread_patterns[OPTIONS_PATTERNS_BYTES]; /* thread */
    char filter[OPTIONS_FILTER_BYTES];            /* items of thread_filter.h; "": every thread */
    char attributes[OPTIONS_ATTRIBUTES_BYTES];    /* names with ; or / between them; "": none */
    char service[OPTIONS_SERVICE_BYTES];          /* "": not said */
    char traces_of[OPTIONS_PATTERNS_BYTES];       /* trace, as includes */
    char times_of[OPTIONS_PATTERNS_BYTES];        /* time, likewise */
    char counts_of[OPTIONS_PATTERNS_BYTES];       /* count, likewise */
    char probe[OPTIONS_PATH_BYTES];               /* "": none */
    char rules[OPTIONS_PATH_BYTES];               /* for the probe; "": its own */
    char name[OPTIONS_NAME_BYTES];                /* of a probe; "": none */
    char perf
        [JW_PERF_NAME_BYTES]; /* one that base/perf_event.h knows, with zeros behind it; "": none */
};

/* The first texts, in the order of the string; `count` goes on past OPTIONS_MESSAGES_KEPT. */
struct options_messages {
    uint32_t count;
    char texts[OPTIONS_MESSAGES_KEPT][OPTIONS_MESSAGE_BYTES]; /* printable ASCII, one line each */
};

struct options_result {
    struct options values; /* with errors: what could be understood, defaults for the rest */
    struct options_messages errors;
    struct options_messages warnings;
};

/* What an agent string of no bytes means. */
void options_defaults(struct options *values);

/*
 * Reads `length_bytes` of an agent string; NULL is an empty one. False when there are errors, which
 * `result` tells with the offending text, what is allowed, and an example. Counts OPTIONS_UNKNOWN.
 */
JW_MUST_CHECK bool options_parse(const char *text, size_t length_bytes,
                                 struct options_result *result);

/* The same from options that were never a string: a value may hold commas; NULL: the name alone. */
JW_MUST_CHECK bool options_parse_pairs(const char *const *names, const char *const *values,
                                       size_t count, struct options_result *result);

/* All kept messages, one a line, each after `prefix`; tells of those not kept. Cut to fit. Returns the length. */
size_t options_messages_text(const struct options_messages *messages, const char *prefix,
                             char *text, size_t capacity_bytes);

/*
 * File name from a pattern of options_parse: %p process id, %t local time as 20260131-235959, %n the
 * `number`, %n{MAX} the same modulo MAX, %{NAME} that variable of the environment, %% one percent sign. Of a
 * variable at most OPTIONS_VARIABLE_BYTES are used; what is neither letter, digit, '-', '_' nor a single '.'
 * becomes '_', so that it never leads to another directory. `wall_ns` is CLOCK_REALTIME. False and `err`
 * when it does not fit, or there is no such variable.
 */
#define OPTIONS_VARIABLE_BYTES 64
JW_MUST_CHECK bool options_file_name(const char *pattern, int process_id, uint64_t wall_ns,
                                     uint64_t number, char *name, size_t capacity_bytes,
                                     struct jw_error *err);

/* Whether names of this pattern differ from one file to the next: %t or %n. */
bool options_file_is_numbered(const char *pattern);

/* Spelling of an enum value, "jfr"; "" when there is none. */
const char *options_action_name(uint64_t action);
const char *options_event_name(uint64_t event);
const char *options_event_text(const struct options *values); /* of a counter, too */
const char *options_output_name(uint64_t output);
const char *options_state_name(uint64_t state);

/* Whether it samples what is counted, and `perf` says what. */
bool options_is_counting(const struct options *values);

/* Whether the session samples CPU time. */
bool options_has_cpu(const struct options *values);

/* What there is to tell of an option of the agent string. */
struct options_about {
    const char *section; /* a heading, and nothing else */
    const char *name;
    const char *value; /* what its value is called, "TIME"; NULL: it takes none */
    bool is_value_optional, is_value_number;
    const char *help;
    const char *example;
    char usage[64]; /* "interval=TIME" */
    char allowed[256];
    char default_text[32]; /* "": nothing, or not worth telling */
    char bare_text[32]; /* of one that is off unless named: what its name alone means; "": else */
    char words[128];    /* values of an enumeration, separated by spaces; "": any */
    bool is_path;
    bool
        is_of_start; /* may be said where a session begins, and is more than a word that stands for another option's value */
};

/* Why the agent cannot have an option that the command has; NULL: it is none of those. */
const char *options_refusal(const char *name);

/* False: there is no such option. */
bool options_about(const char *name, struct options_about *about);

/* The table by number, 0, 1 ..., headings included; false: no more. */
bool options_about_at(size_t number, struct options_about *about);

/*
 * Generated texts: the table for `--help`, and docs/reference/options.md. Both return the length of
 * the whole text and write at most `capacity_bytes`, terminator included.
 */
size_t options_help_text(char *text, size_t capacity_bytes);
size_t options_reference_text(char *text, size_t capacity_bytes);

#endif
