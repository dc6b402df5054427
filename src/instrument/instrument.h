/*
 * instrument - probes in this JVM: attached to its classes, called by them, and taken out again.
 *
 * For      probes of users: exact answers at chosen methods.
 * Callers  agent.
 * Context  all functions: the agent's thread, but where they say otherwise. The hook of classes: a thread that loads a class, or the
 *          agent's thread; it allocates, and holds a lock for the time of a few instructions alone.
 * Memory   what a probe needs goes with it. What stays: the classes of java/java/lang, and those of room probe for types of
 *          handlers; a megabyte at the most.
 *
 * Until the first probe comes there is nothing: no capability, no event, no class. A JVMTI environment of its own has the capabilities to
 * retransform classes, from the first attach on (or from the start of the JVM, where it names a probe), and the events only while
 * probes are attached.
 *
 * Detaching is a proof (docs/adr/0056-probes-dispatched-by-invokedynamic.md): the probe's flag is taken back, its call sites
 * are linked to nothing, each thread passes a safepoint, nobody is inside, and each thread passes another one. Then, and
 * not before, it is said, and its classes are written back.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_H
#define JW_INSTRUMENT_INSTRUMENT_H

#include <jvmti.h>

#include "base/jw.h"
#include "probe/probe_handler.h"

#define INSTRUMENT_PROBES_LIMIT 16u /* at a time */
#define INSTRUMENT_PAUSE_NS                                                                        \
    ((uint64_t)10 * 1000 * 1000) /* what a batch of classes may take, where nobody says */
#define INSTRUMENT_DRAIN_NS ((uint64_t)500 * 1000 * 1000)

/* A line that somebody reads, or a piece of a text. */
typedef void instrument_say(void *context, const char *text);

/* ---- events of probes, which somebody else records ---- */

struct instrument_values {
    uint32_t type;                        /* as `declare` has answered */
    int64_t duration_ns;                  /* -1: it has none */
    int64_t numbers[PROBE_NUMBERS_LIMIT]; /* as probe_events.h has them */
    jobject objects[PROBE_OBJECTS_LIMIT];
};

struct instrument_event_figures {
    const char *type_name; /* as the recording has it; NULL: there is none */
    uint64_t recorded;
    uint64_t lost; /* for want of room */
    uint64_t idle; /* nothing was recorded, or not of that thread */
};

struct instrument_events {
    /* Context: the agent's thread. Number of the type, the same for the same one; 0 and `err`: there are too many. */
    uint32_t (*declare)(const struct probe *probe, const struct probe_event *event,
                        struct jw_error *err);
    void (*release)(uint32_t type); /* once for each answer of `declare` */
    struct instrument_event_figures (*figures)(uint32_t type);
    /* Context: hook, on any Java thread, also of a type that was released. No exception is left behind. */
    void (*commit)(JNIEnv *jni, const struct instrument_values *values);
};
/*
 * A method that one of the agent's own probes traces took so long, or longer than it was told of from; on the thread that has just called it,
 * which is still in it. `site`: as it was given. Context: hook, on any Java thread, also after the probe was taken out.
 */
typedef void instrument_told(int32_t site, uint64_t duration_ns);
/* A method was entered that is sampled, and it stands for so many calls; as above. */
typedef void instrument_called(uint64_t calls);
/* Before the first attach, for good. NULL, as before: a probe with events is refused. Context: control */
void instrument_set_events(const struct instrument_events *events);

void instrument_set_told(instrument_told *told); /* likewise */
void instrument_set_called(instrument_called *called);
void instrument_set_call_interval(
    uint64_t calls); /* between samples; before the attach. Context: control */

/* ---- what threads work for, which somebody else knows ---- */

#define INSTRUMENT_CONTEXT_WORDS  4 /* trace: high, low; span; root span */
#define INSTRUMENT_ENDPOINT_BYTES 232u

struct instrument_contexts {
    /* Context: hook, on the thread that is asked about. False: it works for nothing. */
    bool (*read)(JNIEnv *jni, jobject thread, uint64_t words[INSTRUMENT_CONTEXT_WORDS]);
    /* Context: hook. Length of the endpoint of a root span, in UTF-8; 0: it is not known. */
    size_t (*endpoint)(uint64_t root_span_id, char text[INSTRUMENT_ENDPOINT_BYTES]);
};
/* Before the first attach, for good. NULL, as before: no thread works for anything. Context: control */
void instrument_set_contexts(const struct instrument_contexts *contexts);

/* ---- requests that methods serve, which somebody else notes ---- */

struct instrument_request {
    const char *method,
        *path;        /* "GET", "/orders/4711" as it was asked for; without bytes: not to be had */
    const char *name; /* instead of both; NULL: it has none */
    size_t method_bytes, path_bytes, name_bytes;
    const char *operation; /* the pack that has it; a text that stays */
    uint64_t key;          /* it may be one that went on under that; 0: it begins now */
};

/* What a framework has found out of one: "POST", "/shop", "/orders/{id}". */
struct instrument_match {
    const char *method, *prefix, *pattern;
    size_t method_bytes, prefix_bytes, pattern_bytes;
    bool is_begin; /* others match what is below it */
    bool goes_on;  /* where there is a begin, it is what is below that */
};

/* Of the method that was given what it is asked by. */
struct instrument_served {
    bool is_open;    /* it is the request of the thread */
    bool is_started; /* `start` came since */
    bool is_kept;    /* somebody may find it under its key */
};

/* Context of all: hook, on `thread`, also after the probe was taken out. */
struct instrument_requests {
    /* A method that serves one was entered, at that place on the stack. `is_told`: requests have endpoints. What it is left by; 0: it is
     * not left. `is_asked`: it wants `open`. */
    uint32_t (*enter)(JNIEnv *jni, jobject thread, uintptr_t frame, bool is_told, bool *is_asked);
    void (*open)(JNIEnv *jni, jobject thread, const struct instrument_request *request);
    /* Instead: it is the one that is kept under that key, if there is one; and of either, whether more of it comes under that key. */
    void (*open_kept)(JNIEnv *jni, jobject thread, uint64_t key, const char *operation);
    void (*turn)(JNIEnv *jni, jobject thread, uint64_t key, bool is_last);
    /* Of a thread that polls for what it works on: what it had is done with; and what it has now, which has a name, until it polls again. */
    void (*poll)(JNIEnv *jni, jobject thread, bool is_told);
    void (*polled)(JNIEnv *jni, jobject thread, const struct instrument_request *request);
    /* The request of the thread is asynchronous: other threads may go on with it under that key from now on. */
    void (*start)(JNIEnv *jni, jobject thread, uint64_t key);
    /* Whether a pattern of the request of the thread is wanted, or what goes on with the begin of one; that is it. */
    bool (*may_match)(JNIEnv *jni, jobject thread, bool goes_on);
    void (*match)(JNIEnv *jni, jobject thread, const struct instrument_match *match);
    /* `entered`, here and below: what `enter` gave. */
    struct instrument_served (*served)(JNIEnv *jni, jobject thread, uint32_t entered);
    /* It goes on elsewhere, or is over. `key`: where that is to be kept, or is; 0: not wanted. `is_told`: as of `enter` */
    void (*leave)(JNIEnv *jni, jobject thread, uint32_t entered, bool goes_on, uint64_t key,
                  bool is_told);
};
void instrument_set_requests(const struct instrument_requests *calls); /* as the others */

/* ---- threads that park ---- */

/* Context of all: hook, on `thread`. */
struct instrument_parks {
    /* It is about to, for `blocker` (NULL: not said by this call) and `time`, as Unsafe.park has it. */
    void (*enter)(JNIEnv *jni, jobject thread, jobject blocker, jlong time, jboolean is_until);
    void (*leave)(JNIEnv *jni, jobject thread, jobject blocker); /* it goes on */
};
void instrument_set_parks(const struct instrument_parks *calls); /* as the others */

/* ---- how far it is ---- */

/* Classes that are there are written again, or back, some at a time. */
struct instrument_progress {
    const char *name; /* of the probe */
    bool is_out;      /* they are written back */
    uint32_t written; /* of `all`, or refused by the JVM */
    uint32_t all;     /* more may be found when these are done */
    uint32_t batches;
};
typedef void instrument_progressed(const struct instrument_progress *progress);
/* Is called before the first batch and behind each, on the agent's thread. */
void instrument_set_progressed(instrument_progressed *call); /* as the others */

/* ---- tasks that wait in queues of executors ---- */

struct instrument_wait {
    uint64_t begin_ns, duration_ns;
    uint64_t virtual_number; /* of who handed it over, as the one who took notice has it */
    uint32_t thread_index, thread_serial;
    uint32_t executor_number; /* as it was given */
    jclass task_class, executor_class;
    int32_t queue_length; /* behind it; -1: not known */
};

/* Context of all: hook. */
struct instrument_queues {
    /* On `thread`. `executor_number`: its identity, where `key` does not tell it; else 0. */
    void (*submit)(JNIEnv *jni, jobject thread, uint64_t key, uint32_t executor_number);
    /* `thread` takes it. True: its wait is to be told, and `wait` has what is known of it. */
    bool (*take)(JNIEnv *jni, jobject thread, uint64_t key, struct instrument_wait *wait);
    /* `thread` is done with the task that it took last; `are_all`: with all that it has taken. */
    void (*end)(JNIEnv *jni, jobject thread, bool are_all);
    void (*tell)(JNIEnv *jni, const struct instrument_wait *wait);
    void (*forget)(uint64_t key); /* nobody will take it */
};
void instrument_set_queues(const struct instrument_queues *calls); /* as the others */
/* Before the attach, each time. False and `err`: this JDK is not known. Context: the agent's thread. */
JW_MUST_CHECK bool instrument_queues_prepare(JNIEnv *jni, struct jw_error *err);
/* Likewise for ForkJoinPool: what this JDK has. NULL and `err`: it is not known. */
const struct probe_forks *instrument_forks_prepare(JavaVM *java_vm, JNIEnv *jni,
                                                   struct jw_error *err);

/* ---- exceptions ---- */

/* Context of both: hook, on the thread that makes one, in a constructor of Throwable. */
struct instrument_throws {
    bool (*is_wanted)(JNIEnv *jni,
                      jclass klass); /* asked once for a class, and now and then again */
    /* One, which stands for so many; `is_error`: it extends java.lang.Error. */
    void (*tell)(JNIEnv *jni, jclass klass, bool is_error, uint64_t count);
};
/* As the others, and how many of a thread one stands for; before the attach. */
void instrument_set_throws(const struct instrument_throws *calls, uint64_t exceptions);
/* Classes that were asked for are held no longer. Context: the agent's thread. */
void instrument_throws_forget(JNIEnv *jni);
/* All that were made since the attach, wanted or not; also when it is over. False: the JVM has no memory to say so. Context: the agent's thread. */
JW_MUST_CHECK bool instrument_throws_all(JNIEnv *jni, uint64_t *count);

/* ---- files and sockets ---- */

#define INSTRUMENT_ADDRESS_BYTES 48u

struct instrument_io {
    uint32_t what; /* enum jw_io */
    bool is_end;   /* there was nothing more to be read */
    uint64_t duration_ns,
        bytes;    /* of FILE_FORCE 1: with what belongs to the file beside its bytes */
    jstring name; /* path of the file, or name of the host; NULL: not known */
    char address[INSTRUMENT_ADDRESS_BYTES]; /* "": none, or not known */
    int32_t port;
};
/* One that has just ended took so long as is told of. Context: hook, on the thread that has called it. */
typedef void instrument_io_told(JNIEnv *jni, const struct instrument_io *io);
/* As the others, and from which time on; before the attach. */
void instrument_set_io(instrument_io_told *calls, uint64_t ns);

/* ---- objects ---- */

/* One of a class of that name ("com/acme/Order", "[I"), which stands for so many, is about to be made, or was. Context: hook, on the thread that makes it. */
typedef void instrument_new(const char *class_name, uint64_t count);
/* As the others, and how many of a thread one stands for; before the attach. */
void instrument_set_news(instrument_new *told, uint64_t objects);

/*
 * What a batch of classes may take from the next attach or census on, also when that is taken out again; 0: INSTRUMENT_PAUSE_NS.
 * Context: the agent's thread.
 */
void instrument_set_pause(uint64_t pause_ns);
/* True, once: what was attached since this was asked last had a JVM that ran already drop its compiled code. Context: the agent's thread. */
bool instrument_has_dropped_code(void);

/* Is called when the JVM ends, on a thread of its own choice, once there was an attach. Before the first; control. */
void instrument_at_end(void (*ended)(void));

/* At the start of the JVM, before it has classes: capabilities, so that a later attach drops no compiled code. Context: control. */
JW_MUST_CHECK bool instrument_prepare(JavaVM *java_vm, struct jw_error *err);

/*
 * A jar, a folder or a class file with one probe. `rules`: a file with such as take the places of its own; "": none. The first line that is
 * said is the result, others tell of what did not fit.
 */
JW_MUST_CHECK bool instrument_attach(JavaVM *java_vm, JNIEnv *jni, const char *path,
                                     const char *rules, instrument_say *say, void *context,
                                     struct jw_error *err);

/* One of the agent's own (room probe, probe_own.h), which this room closes, now or later. */
JW_MUST_CHECK bool instrument_attach_own(JavaVM *java_vm, JNIEnv *jni, struct probe *probe,
                                         instrument_say *say, void *context, struct jw_error *err);
/* It is taken out by this alone, not by a user who names it. */
JW_MUST_CHECK bool instrument_detach_own(JNIEnv *jni, const char *name, instrument_say *say,
                                         void *context, struct jw_error *err);
/* A method that is timed or counted, or that makes objects; the texts last until the next attach. */
struct instrument_site {
    const char *made; /* "com/acme/Order", "[I": the class of objects; "": it is about calls */
    const char *class_name; /* "com/acme/Shop"; "": of objects all that were made elsewhere */
    const char *method;
    const char *descriptor;
};
/* Its times since the last cut. */
struct instrument_times {
    struct instrument_site of;
    uint64_t count, total_ns, least_ns, most_ns;
    const int64_t *counts; /* PROBE_OWN_COUNTS of probe_own.h; until the next call */
};
/* Of the methods that are timed, by number from 0 on. False: there are no more. */
JW_MUST_CHECK bool instrument_own_times(JNIEnv *jni, uint32_t number, struct instrument_times *out);
/* What was told last, of that number, is over: from here on its times begin at nothing. False: there is no memory to keep it in, and nothing is told
 * of it any more, which instrument_own_losses counts. */
bool instrument_own_cut(JNIEnv *jni, uint32_t number);
/* Methods that are not timed, for want of a number or of memory, and calls that found no memory, since the last attach. */
void instrument_own_losses(JNIEnv *jni, uint64_t *methods, uint64_t *calls);
void instrument_own_forget(JNIEnv *jni); /* after the last of the above: what Java keeps for it */

enum instrument_counted {
    INSTRUMENT_COUNTED_CALLS,
    INSTRUMENT_COUNTED_OBJECTS, /* of event=new: */
    INSTRUMENT_COUNTED_LIMIT,
};

/* The same of calls that are counted alone, and of objects: all are read at once. False: the JVM has no memory for that, and what was read before stays. */
JW_MUST_CHECK bool instrument_counts_read(JNIEnv *jni, enum instrument_counted what);
struct instrument_count {
    struct instrument_site of;
    uint64_t count; /* since the last cut, as of the last reading */
};
/* By number from 0 on. False: there are no more. */
JW_MUST_CHECK bool instrument_counts_at(enum instrument_counted what, uint32_t number,
                                        struct instrument_count *out);
void instrument_counts_cut(enum instrument_counted what); /* what was read last is over */
/* `methods`: or classes. */
void instrument_counts_losses(JNIEnv *jni, enum instrument_counted what, uint64_t *methods,
                              uint64_t *calls);
void instrument_counts_forget(JNIEnv *jni, enum instrument_counted what);

/* Calls of the agent's own places that found no stack to tell by, since this was asked last. */
uint64_t instrument_dropped(JNIEnv *jni);

/*
 * Places that were linked where no handler was that is theirs, so that they do nothing, since the JVM began. New ones are counted
 * (JW_COUNT_PROBE_PLACES_MISSED). Context: the agent's thread.
 */
uint64_t instrument_missed(JNIEnv *jni);

/* Of an attached one, by number of the handler: methods that have it. False: there is no such. */
JW_MUST_CHECK bool instrument_own_methods(const char *name, uint32_t handler, uint64_t *methods);

/*
 * True: nobody is in a handler of the probe, and nobody will be; its classes are as they were, or a second line says which are not. False
 * and `err`: there is no such, or no memory, or after INSTRUMENT_DRAIN_NS threads are inside still; of the last two instrument_turn goes on
 * with it, and no further thread comes in. `pause_ns`: of batches; 0: as it was attached.
 */
JW_MUST_CHECK bool instrument_detach(JNIEnv *jni, const char *name, uint64_t pause_ns,
                                     instrument_say *say, void *context, struct jw_error *err);

bool instrument_is_any(void); /* probes are attached, or on their way out. Context: any */

/* Four times a second or so: takes out what goes beyond its limits, and goes on with detaching; says what it did. */
void instrument_turn(JNIEnv *jni, instrument_say *say, void *context);

/* {"schema":"jaywalk.probes/1",...}, in pieces; and lines of `status`. */
void instrument_list(JNIEnv *jni, instrument_say *say, void *context);
void instrument_tell(instrument_say *say, void *context); /* any; figures as of the last turn */

/* An object of a class of java/java/lang, or the class: what probes and the census count with. Context: any thread of Java */
bool instrument_is_own(jvmtiEnv *jvmti, JNIEnv *jni, jobject object);

/* ---- the census of locks ---- */

#define INSTRUMENT_HOLD_STEPS 7u

struct instrument_lock_site {
    const char *class_name; /* "java/util/Vector"; texts live until the next question */
    const char *method;
    const char *thread; /* of one that came there; of the only one where there is one */
    const char *kind;   /* as census_kind_word has it */
    uint32_t seen_kind; /* of a Lock: JaywalkLocks.KIND_...; 0: none was seen */
    uint32_t line;      /* 0: not told */
    bool is_platform;   /* of a loader above that of the application */
    bool is_gone;       /* of an earlier census alone: not to be told */
    bool is_refused;    /* its method cannot be written again: nothing is known of it */
    uint64_t acquisitions;
    uint64_t
        threads; /* virtual ones, and others that share counters, are one, or 2 for more; since the census began */
    uint64_t holds;  /* that were timed ... */
    uint64_t weight; /* ... what they stand for, and their time times that */
    uint64_t hold_ns;
    uint64_t hold_most_ns; /* since the census began */
    double hold_variance;  /* of hold_ns, in square nanoseconds; 0 where all were timed */
    /* By weight: below 1 us, from there on, from 10 us ... 100 ms on. */
    uint64_t hold_steps[INSTRUMENT_HOLD_STEPS];
};

struct instrument_census {
    bool is_on;
    uint64_t classes; /* with locks */
    uint64_t sites;
    uint64_t refused_sites;
    uint64_t refused_classes; /* cannot be written again, by us or by the JVM */
    uint64_t left_out;        /* sites beyond those that there is room for */
    uint64_t lost;            /* acquisitions, threads or times without memory for them */
    uint64_t forgotten_sites; /* of classes that are unloaded, whose numbers others have ... */
    uint64_t forgotten;       /* ... and what was counted there */
    bool has_objects;
    uint64_t
        objects_lost; /* acquisitions whose object was not counted, for want of memory or stack */
};

/* Objects whose locks were taken at a site, where that is asked for, by their identity hash. */
struct instrument_lock_objects {
    uint64_t objects, acquisitions; /* that each are known of */
    uint64_t alone;                 /* of the objects, used by one thread only */
    uint64_t four_fifths;           /* so many, busiest first, have four fifths of those */
    uint64_t other_objects;         /* that found no room; one as often as it came back */
    uint64_t other_acquisitions;    /* of those; none of the others misses more */
    uint64_t other_several;         /* of those, seen with several threads */
};
struct instrument_lock_object {
    uint32_t hash;
    uint32_t threads; /* 1, 2, or 3 for more; since the census began */
    uint64_t acquisitions;
};

#define INSTRUMENT_LOCK_SITES_LIMIT 65536u

/*
 * A lock was taken at that site, of a class of the JDK, and stands for so many acquisitions there; on the thread that has just taken it, in
 * a native method that the site has called. Context: hook, on any Java thread, also after the census has ended.
 */
typedef void instrument_lock_called(JNIEnv *jni, uint32_t site, uint64_t weight);
void instrument_set_lock_called(
    instrument_lock_called *called); /* before the first census, for good */

/*
 * Calls at each lock of the classes that are loaded, in batches unless `is_at_once`, and of those to come. Where it is on already, what is counted since the last reading
 * is counted from 0. `has_objects`: which objects' locks they are is told, too. Context of all: the agent's thread.
 */
JW_MUST_CHECK bool instrument_census_begin(JavaVM *java_vm, JNIEnv *jni, bool is_at_once,
                                           bool has_objects, instrument_say *say, void *context,
                                           struct jw_error *err);
/* Reads the counters; what was done before is in them. False: there is no memory for that. */
JW_MUST_CHECK bool instrument_census_read(JNIEnv *jni, struct jw_error *err);
/* By number, as of the last reading; false: no more. */
bool instrument_census_site(uint32_t number, struct instrument_lock_site *out);
/* Of a site, as of the last reading; false: of no object of it is known. The busiest object is 0; false: no more. */
bool instrument_census_objects(uint32_t site, struct instrument_lock_objects *out);
bool instrument_census_object(uint32_t site, uint32_t index, struct instrument_lock_object *out);
struct instrument_census instrument_census_figures(void);
/* Now and then. */
void instrument_census_turn(JNIEnv *jni);
/* Classes are written back, but at the end of the JVM. Calls that come late find nothing to do. */
void instrument_census_end(JNIEnv *jni, bool is_jvm_ending, instrument_say *say, void *context);

#endif
