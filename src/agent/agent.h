/*
 * agent - how jaywalk enters a JVM, and the one run that may be going on in it.
 *
 * For      Agent_OnLoad, Agent_OnAttach; JVMTI callbacks; start, stop, status; the agent's thread.
 * Callers  the JVM.
 * Context  entry points and run_*: control. hooks_*: control; the callbacks themselves: hook.
 * Memory   what a run needs is opened by run_start and given back by run_stop; when a handler is still
 *          inside at the end of the deadline it stays mapped.
 *
 *        idle --start--> starting --> running --stop or VM death--> stopping --> idle
 *                            \--> idle (something required was refused; the reason is told)
 *                            \--stop--> stopping
 *
 * A start brings the rooms up in layer order and takes them down in reverse on the first refusal. The
 * JVM runs on whatever happens.
 */
#ifndef JW_AGENT_AGENT_H
#define JW_AGENT_AGENT_H

#include <jvmti.h>

#include "options/options.h"

/* The JVM that we are in: set by the first entry point, never changed. */
struct agent {
    JavaVM *java_vm;
    jvmtiEnv *jvmti;
};

extern struct agent agent;

/* Messages for the person who started the JVM: to stderr or the log file, never to stdout. */
void agent_log_open(const struct options *options);
void agent_log(enum options_loglevel level, const char *format, ...) JW_PRINTF(2, 3);

/* answer.c: the command's file, to which messages of the calling thread go until answer_end. */
JW_MUST_CHECK bool answer_open(const char *path, struct jw_error *err);
bool answer_say(const char *line, size_t length_bytes); /* false: this thread has no answer */
void answer_end(int code);
void answer_park(void);  /* leaves it to the next thread that ... */
void answer_adopt(void); /* ... takes it over */

/* hooks.c: capabilities, callbacks and the events that a run needs from its first moment.
 * `is_late`: in the live phase (Agent_OnAttach), when a part of what they tell has been missed. */
JW_MUST_CHECK bool hooks_install(bool is_late, struct jw_error *err);
/* What must be known of the JVM before anything else; its cost does not grow with the application. */
JW_MUST_CHECK bool hooks_open_vm(struct jw_error *err);
/* Live phase: stubs and classes that were there before us. `jni`: the calling thread's. */
JW_MUST_CHECK bool hooks_catch_up(JNIEnv *jni, struct jw_error *err);
/* Java threads that began before ThreadStart was delivered; after the sampler was started. */
void hooks_find_threads(JNIEnv *jni);
/* Threads that were renamed since: takes over their names. */
void hooks_refresh_thread_names(JNIEnv *jni);

/*
 * run.c. With a `jni`, that of the calling thread, run_start comes back when samples arrive. With NULL it
 * does what takes a fixed time and leaves the rest to the agent's thread, with the answer of the calling
 * thread: so nobody waits behind a command while thousands of classes are looked at.
 */
JW_MUST_CHECK bool run_start(JNIEnv *jni, const struct options_result *options,
                             struct jw_error *err);
JW_MUST_CHECK bool run_stop(struct jw_error *err);
void run_tell_status(void);
bool run_is_given_up(void);    /* a start under way that was stopped; any */
void run_vm_init(JNIEnv *jni); /* starts what Agent_OnLoad was asked for */
void run_vm_death(void);
struct generations *run_generations(void); /* NULL while nothing runs; any */

/* output.c: the file of a run, and the recording that goes into it. */
struct recording;
JW_MUST_CHECK bool output_path(const struct options *options, char *path, size_t room_bytes,
                               struct jw_error *err);
JW_MUST_CHECK struct recording *output_open(const struct options_result *options, const char *path,
                                            struct jw_error *err);

/* ledger.c: the CPU ledger of the run. ledger_begin: control, nothing runs. ledger_turn: dump, after records
 * were taken and before threads are reaped. ledger_tell: any; as of the last turn, false before the first. */
struct recording;
void ledger_begin(void);
void ledger_turn(struct recording *recording, uint64_t oldest_generation);
bool ledger_tell(char *text, size_t room_bytes);

/* sources.c: what a recording asks of the JVM. */
struct recording_sources;
void sources_fill(struct recording_sources *out);
void sources_set_jni(JNIEnv *jni); /* of the agent's thread */
struct recording_jvm;
void sources_jvm(struct recording_jvm *out);

#endif
