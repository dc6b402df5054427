/*
 * session_internal - the one session of this process, as the files of the agent's thread share it.
 *
 * For      begin.c (up), run.c (a turn of work, down), write.c (what goes where), tell.c and tell_dictionaries.c (what is said of it).
 * Callers  these.
 * Context  the session itself: the agent's thread alone. session_info: any, under its lock.
 * Memory   static.
 */
#ifndef JW_AGENT_SESSION_INTERNAL_H
#define JW_AGENT_SESSION_INTERNAL_H

#include "agent/agent.h"
#include "agent/limits.h"
#include "base/clock.h"
#include "recording/recording.h"
#include "sampler/sampler.h"

struct session {
    struct options options;      /* of its start, with what a resume changed */
    struct recording *recording; /* open, or kept after a stop; NULL: neither */
    bool is_on;
    bool is_sampling;  /* the engines run */
    bool has_file;     /* `path` is its place; else in memory alone */
    bool has_ended;    /* there was one, and its recording is done: `path` */
    bool has_failed;   /* its recording takes no more: it ends by itself */
    bool is_undrained; /* a handler did not leave in time: no further session until it did */
    bool is_unwritten; /* samples in memory that nobody has asked for yet */
    bool has_rows; /* nothing is left to be done for those of the libraries that Java code calls */
    struct sampler_config sampler;
    struct limits_deadline timeout;
    struct limits_deadline loop;
    uint64_t number;        /* of the next file name */
    uint64_t began_unix_ns; /* the first file; 0: it is not there yet */
    uint64_t start_ns;      /* this file */
    uint64_t stop_ns;
    uint64_t
        samples_before; /* of the counter, when it began; what came while it was stopped is added */
    uint64_t samples;   /* while it is stopped */
    uint64_t rotated_ns;
    uint64_t seen_told; /* signals and hooks that had come at the last turn */
    uint32_t rotations;
    char path[OPTIONS_PATH_BYTES];
};

extern struct session session;

/* What others may know of it, as of the last turn of work. */
struct session_info {
    bool has_file;
    bool is_unwritten;
    bool has_cpu; /* it samples CPU time */
    char event_text[JW_PERF_NAME_BYTES];
    uint64_t start_ns;
    uint64_t samples; /* of a session that is over */
    uint64_t samples_before;
    uint64_t file_bytes;      /* JFR */
    uint64_t memory_bytes;    /* stacks that are kept */
    uint64_t timeout_left_ns; /* as of then; 0: none */
    uint64_t loop_left_ns;
    char engines[1024]; /* what they sample, and how */
    char path[OPTIONS_PATH_BYTES];
    char failure[512]; /* why the last one ended by itself; "": it did not */
};

void session_info(struct session_info *out); /* any */
void session_publish(void);                  /* the agent's thread */
void session_publish_failure(const char *text);

/* Samples of all sessions, by signals and by hooks; of this one, so far. */
uint64_t session_counted(void);
uint64_t session_since(uint64_t before); /* of what it was then; never less than none */
uint64_t session_samples(void);

#define SESSION_DRAIN_NS (500 * JW_NS_PER_MS) /* for handlers under way */

/* run.c: what hooks and handlers write into; NULL: nothing. */
void session_set_generations(struct generations *generations);
/* run.c: libraries, their unwind rows and the JVM's stubs as they are now. Context: the agent's thread. */
void session_serve_symbols(void);
void session_want_rows(void); /* those of libraries that Java code calls, at the next turns */

/* begin.c: those of the first session, which later ones use too; NULL: there was none. Context: any, dump. */
struct generations *session_kept_generations(void);

/* begin.c: the recording of a start or a turn, with its file; its path and number are the session's then. */
JW_MUST_CHECK struct recording *session_open_recording(const struct options *options,
                                                       struct jw_error *err);
/* Makes an open recording that of the session, and starts the engines. What was kept before goes, unless it is
 * the same. False: there is none, or one that was taken back and waits for its stop. */
JW_MUST_CHECK bool session_go(JNIEnv *jni, struct recording *recording, struct jw_error *err);
/* Of a session that did not come about. */
void session_abandon(struct recording *recording);

/* write.c: what a stop or dump writes besides what the start said. `is_stop`: the place of the start is written
 * already. False and `err`: it could not be, or the session cannot give that. */
JW_MUST_CHECK bool write_asked(const struct options *asked, bool is_stop, struct jw_error *err);
/* The place that the start named, at the end of a graph's session. */
JW_MUST_CHECK bool write_own(struct jw_error *err);

#endif
