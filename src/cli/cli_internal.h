/*
 * cli_internal - commands, their options, and what they share.
 *
 * For      the files of this room.   Callers  these.   Context  tool.
 * Memory   texts of options point into the command line.
 */
#ifndef JW_CLI_CLI_INTERNAL_H
#define JW_CLI_CLI_INTERNAL_H

#include <stdio.h>
#include <sys/types.h>

#include "base/jw.h"
#include "base/perf_event.h"
#include "cli/cli.h"
#include "export/export.h"

struct attach_place;
struct attach_target;
struct options;
struct options_result;
struct profile;
struct profile_moments;

#define CLI_LIST_LIMIT 96

struct cli_list {
    const char *texts[CLI_LIST_LIMIT];
    size_t count;
};

/* As many as were given: a shell's star may stand for thousands. */
struct cli_operand_list {
    const char *const *texts;
    size_t count;
};

/* Options of the agent string, as they were given. */
struct cli_agent_options {
    const char *names[CLI_LIST_LIMIT + 1];  /* the last one: a format that a command adds */
    const char *values[CLI_LIST_LIMIT + 1]; /* NULL: the name alone */
    size_t count;
};

/* Whatever options a command may have; each uses those of its rows in cli_options.def. */
struct cli_values {
    const char *format;
    const char *base; /* --diff */
    const char *max_size;
    const char *event;
    const char *state;
    const char *file;
    const char *duration;
    const char *library;
    const char *sort;
    const char *top;
    const char *jobs;
    const char *every;
    const char *size;
    const char *per;
    const char *fail_on;
    const char *times;
    const char *age;
    const char *from; /* which samples: since when, until when */
    const char *to;
    const char *latency;
    const char *instance; /* contention */
    const char *rules;    /* file, for a probe */
    struct cli_list threads;
    struct cli_list endpoints; /* which samples: patterns, NAME=PATTERN, ids */
    struct cli_list attributes;
    struct cli_list trace_ids;
    struct cli_list span_ids;
    struct cli_list by;
    struct cli_agent_options agent;
    bool is_live;
    bool is_blame;
    bool is_of_safepoints;
    bool has_json;
    bool is_strict;
    bool shows_all;   /* rules */
    bool shows_taken; /* rules */
    bool is_quiet;
    bool is_help;

    struct cli_operand_list operands; /* what is no option, in order */
    char **words;                     /* a command line, from its first word on, ended by NULL */
};

enum cli_command_id {
    CLI_COMMAND_PROFILE, /* what is meant where no command is named */
    CLI_COMMAND_RECORD,
    CLI_COMMAND_START,
    CLI_COMMAND_RESUME,
    CLI_COMMAND_STOP,
    CLI_COMMAND_DUMP,
    CLI_COMMAND_STATUS,
    CLI_COMMAND_METRICS,
    CLI_COMMAND_VERSION,
    CLI_COMMAND_JPS,
    CLI_COMMAND_LIST,
    CLI_COMMAND_CONVERT,
    CLI_COMMAND_ENDPOINTS,
    CLI_COMMAND_SAFEPOINTS,
    CLI_COMMAND_DOCTOR,
    CLI_COMMAND_COMPARE,
    CLI_COMMAND_LEAKS,
    CLI_COMMAND_CONTENTION,
    CLI_COMMAND_LOCKS,
    CLI_COMMAND_LATENCY,
    CLI_COMMAND_SUMMARY,
    CLI_COMMAND_RECOVER,
    CLI_COMMAND_MERGE,
    CLI_COMMAND_SPLIT,
    CLI_COMMAND_RULES,
    CLI_COMMAND_PROBE,
    CLI_COMMAND_LIMIT
};

/* What a command takes beside options. */
enum cli_operands {
    CLI_OPERANDS_NONE,
    CLI_OPERANDS_JVM,
    CLI_OPERANDS_RECORDING,  /* and an output */
    CLI_OPERANDS_RECORDINGS, /* one or several */
    CLI_OPERANDS_EITHER,     /* recordings or a JVM */
    CLI_OPERANDS_RULES,      /* what to do, rules or a probe, and what to try them on */
    CLI_OPERANDS_PROGRAM, /* the first word that is no option begins a command line, left alone */
};

struct cli_command {
    enum cli_command_id id;
    const char *name;
    const char *usage;   /* one line */
    const char *summary; /* one line */
    const char *text;    /* between usage and options */
    const char *examples;
    enum cli_operands operands;
    int (*run)(const struct cli_values *values);
};

extern const struct cli_command cli_commands[CLI_COMMAND_LIMIT];

/* Reads the words behind the command's name into `values`, which holds its defaults. Operands change
 * places with what stands at the front of `words`, which must stay. */
JW_MUST_CHECK bool cli_parse(const struct cli_command *command, char **words, size_t word_count,
                             struct cli_values *values, struct jw_error *err);

/*
 * A format as -o has it: "html", "flat=20"; into the names and values of options of the agent. `is_of_recording`: it is
 * made of a recording, and so no recording.
 */
JW_MUST_CHECK bool cli_read_output(const char *text, bool is_of_recording,
                                   struct cli_agent_options *options, struct jw_error *err);

/* A line each, indented: the most usual command lines. */
extern const char cli_examples[];

/* Help on stdout; the status for the shell. */
int cli_help_all(void);
int cli_help_command(const struct cli_command *command);
int cli_help_agent(void);

/* The name nearest to `word` among `count`, or NULL where none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

/* Number of the word that is the value of --`option`; `count` and `err`: it is none of them. */
size_t cli_word_of(const char *option, const char *text, const char *const *words, size_t count,
                   struct jw_error *err);
/* Value of --top, a number of rows, 0 for all. */
JW_MUST_CHECK bool cli_top_read(const char *text, size_t *top, struct jw_error *err);

/* Value of --jobs, threads that read; NULL: 0, as many as there are processors. */
JW_MUST_CHECK bool cli_jobs_read(const char *text, unsigned *jobs, struct jw_error *err);

/* `status`; where what went to the standard output did not get there, CLI_FAILED, and a complaint. */
JW_MUST_CHECK int cli_end_output(int status);

/* "jaywalk: " and the message on stderr, as cli_put shows it. */
void cli_complain(const char *format, ...) JW_PRINTF(1, 2);
int cli_usage_error(const struct cli_command *command, const struct jw_error *err);

/* Text of others on a terminal: control characters shown, not obeyed. */
void cli_put(const char *text, FILE *to);

/* JVMs ------------------------------------------------------------------------------------------- */

int cli_profile(const struct cli_values *values);
int cli_record(const struct cli_values *values);
int cli_start(const struct cli_values *values);
int cli_stop(const struct cli_values *values);
int cli_status(const struct cli_values *values);
int cli_version(const struct cli_values *values);
int cli_jps(const struct cli_values *values);
int cli_list_events(const struct cli_values *values);
int cli_list_of(const struct cli_values *values); /* of the agent in a JVM */
int cli_resume(const struct cli_values *values);
int cli_dump(const struct cli_values *values);
int cli_metrics(const struct cli_values *values);

#define CLI_PATH_BYTES    4096
#define CLI_STRING_BYTES  (20 * 1024) /* an agent string */
#define CLI_MESSAGE_BYTES (3 * CLI_PATH_BYTES)

/* A JVM that commands are sent to. */
struct cli_session {
    struct attach_target *target;
    struct attach_place *place; /* NULL: none; what a target with files of its own needs of us */
    char name[128];
    char library[CLI_PATH_BYTES];
    const char *inner_file; /* NULL, or what the agent calls the output ... */
    const char *shown_file; /* ... that people know by this name */
    const char *last_word;  /* NULL, or what is said when the person gives up */
};

/*
 * Finds the process that the only operand names. Else says why not and gives the status for the shell, which is
 * CLI_OK on success. cli_session_close is due then.
 */
JW_MUST_CHECK int cli_session_find(const struct cli_command *command,
                                   const struct cli_values *values, struct attach_target *target,
                                   struct cli_session *session);

/* Takes the ids of the process where this is root, and finds or brings the library. Status as above. */
JW_MUST_CHECK int cli_session_enter(const struct cli_values *values, struct cli_session *session);

/* Both. */
JW_MUST_CHECK int cli_session_open(const struct cli_command *command,
                                   const struct cli_values *values, struct attach_target *target,
                                   struct cli_session *session);
void cli_session_close(struct cli_session *session);

/* A directory of the target's own, for what goes to and fro; made when first asked for. */
JW_MUST_CHECK bool cli_session_place(struct cli_session *session, struct jw_error *err);

/* cli_library.c: the library as the target calls it, into `session`. First half: as whom we were called.
 * Second half: as the target's user. */
struct cli_library_source {
    int fd; /* -1: nothing is to be brought */
};
JW_MUST_CHECK bool cli_library_choose(const struct cli_values *values, struct cli_session *session,
                                      struct cli_library_source *source, struct jw_error *err);
JW_MUST_CHECK bool cli_library_bring(struct cli_session *session, struct cli_library_source *source,
                                     uid_t owner, struct jw_error *err);
void cli_library_brought(
    const struct cli_session *session); /* it is loaded, and no longer needed */
uid_t cli_owner(void); /* who could have replaced this command, which runs already */

/*
 * Signals that end a command (Ctrl-C, TERM, HUP) are held back while something is to be ended in order, and
 * counted when looked for. Holds may be nested. One that the caller ignores (nohup) stays ignored.
 */
void cli_signals_hold(void);
unsigned cli_signals_seen(void);
/* The outermost one with `obeys`: the last signal has its effect now, if any came. */
void cli_signals_release(bool obeys);

/* profile: samples for a while, then writes; the output goes to `to`. */
JW_MUST_CHECK int cli_profile_target(struct cli_session *session, const char *string,
                                     uint64_t duration_ns, bool is_quiet, FILE *to);

/* The same for a process that cannot write here, or not as us: the output is fetched. */
JW_MUST_CHECK int cli_profile_apart(const struct cli_command *command,
                                    const struct cli_values *values, struct cli_session *session,
                                    uint64_t duration_ns);

/* A name of a file, meant from where the command is called, as a pattern without that. */
JW_MUST_CHECK bool cli_absolute(const char *file, char *path, size_t room, struct jw_error *err);

/* A relative --file means nothing to a process with files of its own. */
JW_MUST_CHECK bool cli_check_file(const struct cli_session *session,
                                  const struct cli_values *values, struct jw_error *err);

/* Whether a JVM that we can see is called so; true also when not all could be looked at. */
bool cli_is_jvm_name(const char *name);

/*
 * Has the agent do what `string` says, and tells what it answered: messages to stderr, all else to
 * `to`, or nowhere. CLI_OK, or the status of a failure that was told.
 */
JW_MUST_CHECK int cli_session_do(const struct cli_session *session, const char *string,
                                 uint64_t timeout_ns, FILE *to);

/* The same for one that writes classes again; somebody at a terminal is shown how far it is. */
JW_MUST_CHECK int cli_session_watch(const struct cli_session *session, const char *string,
                                    uint64_t timeout_ns, bool is_quiet, FILE *to);
/* What the last whole line of such a text says: "120 3000 12", classes that are written, all, batches. "": nothing. */
void cli_progress_of_classes(const char *text, char *line, size_t room);

/* Asks the agent, and says nothing to anybody. False: no answer in this time. */
JW_MUST_CHECK bool cli_session_ask(const struct cli_session *session, const char *word,
                                   uint64_t timeout_ns, char *text, size_t room);

/* What the agent's status tells of its samples: "1234 samples, 5 lost", in words for the progress line; "": nothing. */
void cli_progress_of_status(const char *status, char *text, size_t room);
/* The same for a command whose answer may be a long text, which goes to `to`; messages then go to stderr. */
JW_MUST_CHECK int cli_session_show(const struct cli_session *session, const char *string,
                                   uint64_t timeout_ns, FILE *to);

/* Path of the library for a process with our files: beside the command, or what --libpath names. */
JW_MUST_CHECK bool cli_library(const struct cli_values *values, char *path, struct jw_error *err);

/*
 * The agent string of a session: "start,...,file=...". Checked by the agent's own parser, and nothing
 * is passed over. `pid_text` stands in the default name of the file; `is_quiet` has the agent keep
 * mere information to itself.
 */
JW_MUST_CHECK bool cli_agent_string(const struct cli_values *values, const char *pid_text,
                                    bool is_quiet, char *string, struct jw_error *err);

/* The output is a text, and no file is named for it. */
bool cli_is_for_terminal(const struct cli_values *values);

/* The string of any action. */
struct cli_ask {
    const char *action;
    const char *pid_text; /* in the file's name where none is given; NULL: there is no file then */
    bool is_quiet;
};
JW_MUST_CHECK bool cli_agent_command(const struct cli_values *values, const struct cli_ask *ask,
                                     char *string, struct jw_error *err);

/* What the agent would warn of and go on with, as a mistake. */
void cli_refuse_warning(const char *text, struct jw_error *err);

/* No regular expression that is none. */
JW_MUST_CHECK bool cli_check_patterns(const struct options *options, struct jw_error *err);

/* Recordings ------------------------------------------------------------------------------------- */

int cli_convert(const struct cli_values *values);
/* convert where OUT is a recording, too: packs or unpacks. */
int cli_repack(const char *in, const char *out, const struct cli_values *values);
/* convert where what comes out are events, each by itself. */
enum cli_events_format {
    CLI_EVENTS_NONE,
    CLI_EVENTS_JSONL,
    CLI_EVENTS_CSV,
};
enum cli_events_format cli_events_format_of(const struct cli_values *values, const char *out);
int cli_convert_events(const char *in, const char *out, enum cli_events_format format,
                       const struct cli_values *values);
int cli_endpoints(const struct cli_values *values);
int cli_safepoints(const struct cli_values *values);
int cli_compare(const struct cli_values *values);
int cli_doctor(const struct cli_values *values); /* of JVMs, too */
int cli_contention(const struct cli_values *values);
int cli_locks(const struct cli_values *values);
int cli_latency(const struct cli_values *values);
int cli_leaks(const struct cli_values *values);
int cli_summary(const struct cli_values *values);
int cli_recover(const struct cli_values *values);
int cli_merge(const struct cli_values *values);
int cli_split(const struct cli_values *values);
int cli_rules(const struct cli_values *values);
int cli_probe(const struct cli_values *values);

/* By their ending: .jfr, .jfr.zst. */
bool cli_is_recording_name(const char *path);
bool cli_is_same_file(const char *left, const char *right);

struct cli_bys;
struct cli_part;
struct cli_requests;

/* What is taken from a recording. */
struct cli_wish {
    const char *event;         /* "cpu", "wall", a counter, or the name of a type */
    const char *state;         /* NULL: any */
    struct cli_part *part;     /* NULL: whatever they were taken for */
    const struct cli_bys *bys; /* what they are taken apart by; NULL: nothing */
    unsigned
        slice_count; /* in place of that by slices of time, so many, at most CLI_SLICES_LIMIT; 0: not */
    bool is_of_code;        /* no frames that are a class, an address, or what is compiled */
    bool is_of_leaves;      /* and of each stack the code that ran alone */
    const char *no_context; /* what samples without any context lack in their first box */
    bool is_quiet;
    bool counts_objects; /* of sampled objects, samples are how many objects they stand for */
    bool is_weightless;  /* samples count as one, whatever weight they carry */
    struct profile_moments *moments; /* keeps each sample with its time; NULL: nobody asks */
    unsigned jobs;                   /* threads that read; 0: as many as there are processors */
    bool is_moment_count;            /* there, too, its value is the samples that it stands for */
};

#define CLI_EVENTS_LIMIT EXPORT_EVENTS_LIMIT
#define CLI_OTHERS       7u
#define CLI_EXCEPTION    "exception"
#define CLI_NEW          "new"
#define CLI_NEW_OBJECT   "jaywalk.NewObject"

/* What was found. */
struct cli_found {
    uint64_t samples; /* of the event, whatever state and frames they have */
    uint64_t let_in;  /* of these, in the state and the part wished for */
    uint64_t native_left_out;
    uint64_t other_samples;  /* of the clock that was not wished for */
    const char *other_event; /* that clock; NULL: there are none */
    /* Samples of all that was not wished for, in the order of cli_other_of; which of them the session was about, where that is
     * no clock and no counter: "alloc"; "": none. */
    uint64_t others[CLI_OTHERS];
    char hook_event[16];
    const char *unit;  /* of what they stand for, where that is no time; NULL: time, or nothing */
    bool is_of_wall;   /* the wall clock is what the session was about */
    bool has_event;    /* the event is there, or could have been */
    bool has_weight;   /* some carried CPU time */
    bool lacks_weight; /* some did not */
    /* The events that were not wished for and have samples, in the order of their names. They live as long as this. */
    const char *other_events[CLI_EVENTS_LIMIT];
    size_t other_event_count;
    char counter[JW_PERF_NAME_BYTES]; /* what was counted; "": nothing */
    char other_types[256];            /* event types with stacks that were not taken; "" none */
    bool has_contexts;                /* some say what they were taken for */
    char attributes[512];             /* names that some could have; "" none */
    uint64_t left_out_attributes;     /* of samples with their time: too many names */
    char notice[512];                 /* what of the file was left out; "" nothing */
};

/* Whether threads are said to be in such a state by producers that we know; and these states. */
#define CLI_STATES                                                                                 \
    "running, sleeping, parked, blocked, waiting, native; and in recordings of others default, "   \
    "new, terminated"

/* "cpu" or "wall". */
bool cli_is_clock(const char *event);

/* What samples of it are called: exceptions of whatever classes are "exception", objects "new". */
const char *cli_event_of(const char *text);

/* "alloc", "live", "lock", "exception" or "new": neither time that runs nor a counter. */
bool cli_is_hook(const char *event);

/* Of these the first that was found and not wished for, from cpu on; NULL: none was. */
const char *cli_other_of(const struct cli_found *found);

/* What is shown where nobody asks for an event, of what was found when CPU time was wished for: what the session was about, or
 * what there is. It may lie in `found`. NULL: CPU time. */
const char *cli_session_event(const struct cli_found *found);

/* What base/perf_event.h knows; but of CLASS.METHOD, which may be a type of events, only the recording says whether it is what was sampled. */
bool cli_is_counter(const char *event);
bool cli_is_method(const char *event);

/* How a conversion looks, by the agent's own table; its format is named, or what the ending of `out` says. */
JW_MUST_CHECK bool cli_read_look(const struct cli_values *values, const char *out,
                                 struct options_result *look, struct jw_error *err);

/* Feeds all samples of the file that are wished for; `requests` may be NULL. False and `err`: cannot be read. */
JW_MUST_CHECK bool cli_feed(const char *path, const struct cli_wish *wish,
                            const struct cli_requests *requests, struct profile *profile,
                            struct cli_found *found, struct jw_error *err);

/* Threads that read a recording. */
#define CLI_JOBS_MOST 256u
#define CLI_JOB_BYTES ((uint64_t)4 << 20) /* of a file, for each thread that nobody asked for */
/* Of the events of a chunk, for each piece of it: where nobody asked for so many threads, and where somebody did. */
#define CLI_PIECE_BYTES       ((uint64_t)256 << 10)
#define CLI_PIECE_LEAST_BYTES ((uint64_t)512)
unsigned cli_processors(void); /* that this process may run on */

/* Writes what export makes to `path`, whole or not at all; "-": to stdout. */
JW_MUST_CHECK bool cli_write(struct profile *profile, const char *path, enum export_format format,
                             const struct export_options *options, struct jw_error *err);

/* Output as it is made: a file that appears whole at the end, or the standard output. */
struct os_output;
struct cli_sink {
    struct os_output *file; /* NULL: the standard output */
    bool is_stdout;
    size_t used_bytes;
    char bytes[65536];
};

JW_MUST_CHECK bool cli_sink_open(struct cli_sink *sink, const char *path, struct jw_error *err);
JW_MUST_CHECK bool cli_sink_put(struct cli_sink *sink, const void *bytes, size_t count_bytes,
                                struct jw_error *err);
JW_MUST_CHECK bool cli_sink_finish(struct cli_sink *sink, struct jw_error *err);
void cli_sink_close(struct cli_sink *sink); /* of a file that was not finished nothing stays */

/* A line of ASCII at the terminal's left edge, over the one before it, cut to the terminal's width. */
void cli_put_progress(const char *line, int terminal);

/* Progress on stderr, when that is a terminal and the work takes more than a second. */
struct cli_progress {
    uint64_t begun_ns;
    uint64_t shown_ns;
    bool is_wanted;
};

void cli_progress_begin(struct cli_progress *progress, bool is_quiet);
void cli_progress_show(struct cli_progress *progress, const char *what, uint64_t done,
                       uint64_t whole);
void cli_progress_say(struct cli_progress *progress, const char *line); /* "": nothing is said */
void cli_progress_end(struct cli_progress *progress);

#endif
