/*
 * agent - how jaywalk enters a JVM, and the one run that may be going on in it.
 *
 * For      Agent_OnLoad, Agent_OnAttach; JVMTI callbacks; commands; the agent's thread.
 * Callers  the JVM.
 * Context  entry points, commands_*, tell_*: control. run_*: dump, but for those that say otherwise.
 *          hooks_*: control, dump; the callbacks themselves: hook.
 * Memory   what a session needs is opened by run_begin and given back by run_stop, or kept until the next
 *          start; when a handler is still inside at the end of the deadline it stays mapped.
 *
 * Commands are queued, and done one after the other by the agent's thread, which is there while a session
 * runs or a command waits: states.h says which command may do what when. A start brings the rooms up in layer
 * order and takes them down in reverse on the first refusal. The JVM runs on whatever happens.
 */
#ifndef JW_AGENT_AGENT_H
#define JW_AGENT_AGENT_H

#include <jvmti.h>
#include <sys/types.h>

#include "agent/states.h"
#include "options/options.h"
#include "os/os_thread.h"
#include "recording/recording.h"

/* The JVM that we are in: set by the first entry point, never changed. */
struct agent {
    JavaVM *java_vm;
    jvmtiEnv *jvmti;
    pid_t pid; /* of the process that it is in: a child has none of its threads */
};

extern struct agent agent;

/* Messages for the person who started the JVM: to stderr or the log file, never to stdout. */
void agent_log_open(const struct options *options);
void agent_log(enum options_loglevel level, const char *format, ...) JW_PRINTF(2, 3);

void agent_log_text(const char *text); /* as it is, without a prefix, to where messages go */

bool entry_is_child(void); /* of a fork: it has memory of ours, but none of our threads; any */

/*
 * entry.c: does what Agent_OnAttach would, for the program itself: its answer is in `memory` when this returns, and
 * memory->text is the caller's to free. False and `err`: nothing was done. Context: any, on a thread of the JVM; waits
 * for the command's end.
 */
struct answer_memory;
JW_MUST_CHECK bool entry_obey(JavaVM *java_vm, const char *text, struct answer_memory *memory,
                              struct jw_error *err);

/* answer.c: the command's file, to which messages of the calling thread go until answer_end. */
JW_MUST_CHECK bool answer_open(const struct options *options, struct jw_error *err);
/* The same into memory, which must stay until `done` was posted: by answer_end, on whatever thread. Answers are opened
 * by one thread at a time. */
struct answer_memory {
    char *text; /* not terminated; NULL: empty */
    size_t used_bytes;
    size_t room_bytes;
    int code;
    struct os_wake done;
};
JW_MUST_CHECK bool answer_open_memory(struct answer_memory *memory, struct jw_error *err);
bool answer_is_gone(const char *path); /* who asked gave up, and took the file away */
bool answer_say(const char *line, size_t length_bytes); /* false: this thread has no answer */
void answer_end(int code);
#define ANSWER_NONE (-1)
int answer_park(void);         /* leaves it to another thread; ANSWER_NONE: there is none */
void answer_adopt(int answer); /* takes it over */
/* Long texts: true when the command takes such. answer_show is an export_write. */
bool answer_takes_text(void);
bool answer_show(void *context, const void *bytes, size_t length_bytes, struct jw_error *err);

/* As entry_obey: makes what stacks.h is for ready. Above 0 in memory->code: it was refused, and the text says why. */
JW_MUST_CHECK bool entry_open_stacks(JavaVM *java_vm, struct answer_memory *memory,
                                     struct jw_error *err);

/* hooks.c: capabilities, callbacks and the events that a run needs from its first moment.
 * `is_late`: in the live phase (Agent_OnAttach), when a part of what they tell has been missed. */
JW_MUST_CHECK bool hooks_install(bool is_late, struct jw_error *err);
/* What must be known of the JVM before anything else; its cost does not grow with the application. `jni`, here and
 * below: the calling thread's. */
JW_MUST_CHECK bool hooks_open_vm(JNIEnv *jni, struct jw_error *err);
/* Live phase: stubs that were there before us; classes only where the walker in use, or a JVM that does not tell its
 * loaders, wants it. After the walker was chosen. */
JW_MUST_CHECK bool hooks_catch_up(JNIEnv *jni, struct jw_error *err);
/*
 * Method ids for all classes that there are, and from now on for each that comes: AsyncGetCallTrace leaves frames of
 * methods without one out. `vm` needs none, so none are made until this is called: by hooks_catch_up where
 * AsyncGetCallTrace walks, and by whoever lets it take over in mid-session, before it does. Once in a process: a later call
 * does nothing. Takes about a microsecond a class, of the calling thread alone. False: some are missing.
 * Context: control, dump; on the agent's thread.
 */
JW_MUST_CHECK bool hooks_make_method_ids(JNIEnv *jni, struct jw_error *err);
/* Calls back for each class that is loaded; false and `err`: the JVM does not list them. */
JW_MUST_CHECK bool hooks_list_classes(JNIEnv *jni, void (*visit)(JNIEnv *jni, jclass klass),
                                      struct jw_error *err);
/* As hooks_catch_up, for stacks.h: stubs, and a call for each Java thread, with its JNIEnv. */
void hooks_catch_up_stacks(JNIEnv *jni,
                           void (*visit)(JNIEnv *jni, jthread thread, void *env, uint32_t tid));
/* Java threads that began before ThreadStart was delivered; after the sampler was started. */
void hooks_find_threads(JNIEnv *jni);
/* Threads that were renamed since, or whose name was refused: takes over their names. */
void hooks_refresh_thread_names(JNIEnv *jni);

#define AGENT_THREAD_NAME "jaywalk"

/* commands.c: a command that is done by the agent's thread. Waits for its end at most so long (for a session
 * that begins with the JVM up to 20 s more, while that thread works); then, and with an answer that tells of it, it goes on alone, and
 * `code` is 0. False and `err`: not taken. */
#define COMMANDS_FAILED  200
#define COMMANDS_BUSY    201 /* nothing was done; try again in a moment */
#define COMMANDS_WAITING 8   /* at once, at most */
JW_MUST_CHECK bool commands_submit(enum states_command what, const struct options *options,
                                   uint64_t wait_ns, int *code, struct jw_error *err);
/* The end of the JVM or of the process: ends the session and writes its last file, in two seconds at most (ten while the
 * agent's thread works or draws the graph that the start named); then the process goes on to its end all the same. Context: any, more
 * than one thread. */
void commands_end(void);
enum states_state commands_state(void); /* any */

/* ending.c: from now on commands_end is called also where a process ends without the JVM's telling of it. */
void ending_watch(void);

/* run.c: the session, on the agent's thread, whose `jni` may be NULL. */
JW_MUST_CHECK bool run_begin(JNIEnv *jni, const struct options *options, bool is_resume,
                             struct jw_error *err);
/* Shares out memlimit, once in a process, before tables are reserved. Context: control, any thread. */
void run_share_memory(const struct options *options);
JW_MUST_CHECK bool run_stop(JNIEnv *jni, const struct options *asked, struct jw_error *err);
JW_MUST_CHECK bool run_dump(JNIEnv *jni, const struct options *asked, struct jw_error *err);
JW_MUST_CHECK bool run_turn(JNIEnv *jni, struct jw_error *err); /* of loop= */
/* Some work, and sleep until there is more. Gives the command that the session itself wants by now: STATES_STOP,
 * STATES_TURN, or STATES_COMMAND_LIMIT for none. */
enum states_command run_work(JNIEnv *jni);
enum states_state run_settled(void); /* when nothing is at work */
void run_rest(uint64_t most_ns);     /* sleeps until run_wake */
void run_wake(void);                 /* any */
void run_end(JNIEnv *jni); /* the JVM ends: the recording tells so; on the agent's thread */
void run_give_up(bool is_given_up);        /* any; the start under way */
bool run_is_given_up(void);                /* any */
bool run_is_turning(void);                 /* any; it is between two files of loop= */
bool run_is_drawing(void);                 /* any; the graph of a session that stops */
void run_vm_init(void);                    /* starts what Agent_OnLoad was asked for */
struct generations *run_generations(void); /* NULL while nothing runs; any */

/* tell.c: what is said to those who ask; any. */
void tell_status(void);
void tell_metrics(void);
void tell_list(void);
void tell_ledger(void);
void tell_unwritten(void); /* at the end of the JVM */

/*
 * selfcheck.c: looks the walkers of Java stacks up. Our own is tried once in a process, on a stack that JVMTI
 * tells, too; where the two differ AsyncGetCallTrace takes its place. The calling thread is attached to the
 * JVM, and holds no lock that Java wants.
 */
void selfcheck_open_walker(const struct options *options);

/* The same trial, for who wants our own walker and no other. False: why it cannot be used. */
JW_MUST_CHECK bool selfcheck_try(struct jw_error *err);

/* What came of that: "agrees: ...", "differs: ..." with the reason, "not run: ..."; returns `text`. Context: control,
 * after it. */
const char *selfcheck_text(char *text, size_t room_bytes);
/* How many frames, and how many of them compiled, were as JVMTI tells them; 0: none. Context: any. */
uint32_t selfcheck_agreed(uint32_t *compiled);

/* breaker.c: gives walkers up that fail too often, tries them again, and says so. breaker_turn: dump; `jni` of the
 * calling thread. breaker_tell: any. */
struct recording;
void breaker_turn(JNIEnv *jni, struct recording *recording);
void breaker_tell(void);

/* copies.c: other copies of this library in the process. `path`: of the first. */
struct copies {
    unsigned count;
    bool is_active; /* one of them samples */
    char path[256];
};
void copies_look(struct copies *out);
void copies_set_active(bool is_active); /* so that other copies see it */

/* arguments.c: of the arguments of this process, a NUL between each, and of what the JVM calls its Java command ("": it
 * does not say), those of the JVM and those of the program; without their secrets (base/secrets.h). */
#define ARGUMENTS_BYTES 4096
struct arguments_told {
    char jvm[ARGUMENTS_BYTES];
    char java[ARGUMENTS_BYTES];
};
void arguments_tell(const char *command, size_t length_bytes, const char *java_command,
                    struct arguments_told *told);

/* output.c: the file of a session, and the recording that goes into it. */
/* Pattern of the file, where none is named in the options too; NULL: in memory. */
const char *output_pattern(const struct options *options);
JW_MUST_CHECK bool output_path(const char *pattern, uint64_t number, char *path, size_t room_bytes,
                               struct jw_error *err);
/* `session_unix_ns`: when the session began, of a file after its first one; else 0. */
JW_MUST_CHECK struct recording *output_open(const struct options *options, const char *path,
                                            uint64_t session_unix_ns, struct jw_error *err);
enum recording_format output_format(uint64_t output);

/* ledger.c: the CPU ledger of the run; there is none without CPU samples. ledger_begin: control, nothing runs.
 * ledger_turn: dump, after records were taken and before threads are reaped. ledger_tell: any; as of the last
 * turn, false before the first. */
struct recording;
void ledger_begin(bool has_cpu_samples);
void ledger_turn(struct recording *recording, uint64_t oldest_generation);
bool ledger_tell(char *text, size_t room_bytes);

/* cost.c: what jaywalk takes of the process. cost_begin: control, nothing runs; cost_forget: of a new recording.
 * cost_rotated, cost_turn, cost_look: dump; a rotation begun then is done; before the counters are written; between rotations,
 * for overhead= alone. cost_tell, cost_metrics: any; a line of status as of the last turn, nothing before the first; metrics since the process started. */
struct tell_page;
void cost_forget(void);
void cost_begin(void);
void cost_rotated(uint64_t begin_ns);
void cost_turn(struct recording *recording);
void cost_look(struct recording *recording);
void cost_tell(void);
void cost_metrics(struct tell_page *page);

/* overhead.c: keeps to overhead=; on the agent's thread. overhead_begin: the engines have just started; 0: no budget;
 * `goes_on`: in another file, with the pace of before. overhead_turn: with what was read just now, as often as one likes. */
struct jw_cost;
void overhead_begin(struct recording *recording, uint64_t budget_ppm, bool goes_on);
void overhead_turn(struct recording *recording, const struct jw_cost *cost);

/* facts.c: what a recording tells of the process beside its samples. facts_collect: properties and environment, as the
 * options want them; `masked_command`: the Java command without its secrets, or NULL. facts_threads_begin: Java threads that
 * begin from now on began while it was recorded. facts_turn: dump, before threads are reaped. */
struct recording;
struct recording_sources;
void facts_collect(const struct options *options, const char *masked_command);
void facts_fill(struct recording_sources *out);
void facts_threads_begin(void);
void facts_turn(struct recording *recording);

/* loads.c: what each thread has had of the processors (jdk.ThreadCPULoad); dump. loads_begin: what is used from here on is
 * of this recording. loads_turn: as often as
 * one likes; `is_last`: no further one of this recording comes. */
void loads_begin(struct recording *recording);
void loads_turn(struct recording *recording, bool is_last);

/* jvmfacts.c: what it tells of the JVM. jvmfacts_collect: as the options want it, of a session that begins. */
void jvmfacts_collect(const struct options *options);
void jvmfacts_fill(struct recording_sources *out);

/* sources.c: what a recording asks of the JVM. */
struct recording_sources;
void sources_fill(struct recording_sources *out);
void sources_set_jni(JNIEnv *jni); /* of the agent's thread */
struct recording_jvm;
void sources_jvm(struct recording_jvm *out, bool has_arguments);

#endif
