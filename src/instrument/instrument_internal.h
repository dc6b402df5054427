/* What the files of this room share. Context: the agent's thread, unless a function says otherwise. */
#ifndef JW_INSTRUMENT_INSTRUMENT_INTERNAL_H
#define JW_INSTRUMENT_INSTRUMENT_INTERNAL_H

#include <pthread.h>

#include "instrument/instrument.h"
#include "probe/probe_weave.h"

#define PATH_BYTES 4096u

/* ---- instrument_room.c ---- */

/* To read a class in, and to write it again. */
struct instrument_room {
    struct classfile_memory memory;
    unsigned char *more; /* behind it */
    size_t bytes;
    uint64_t charged_bytes;
};
/* False: there is no memory for a class of that length, or memlimit lets it have none. Context of both: hook, the agent's thread */
JW_MUST_CHECK bool instrument_room_open(struct instrument_room *room, size_t length_bytes,
                                        size_t more_bytes);
void instrument_room_close(struct instrument_room *room);

/* ---- instrument_define.c ---- */

/* All of java/java/lang, in the boot loader. Where one is refused the next attach goes on with that: a class is defined once. */
JW_MUST_CHECK bool instrument_define_all(JNIEnv *jni, struct jw_error *err);

/* ---- instrument_java.c: the classes of java/java/lang, and calls of theirs ---- */

extern jvmtiEnv *instrument_jvmti; /* this room's own; NULL before it is wanted */

/* Of one handler, as JaywalkProbe.figures has them. */
struct instrument_figures {
    uint64_t calls;
    uint64_t nested; /* out of handlers of the same probe: these are not called */
    uint64_t measured_calls;
    uint64_t measured_ns;
    uint64_t throws;
    uint64_t dropped; /* calls without stack enough */
    uint64_t linked;  /* how often a place was linked to it, where places are */
    uint64_t missed;  /* places of its number that are called otherwise, and come to nothing */
};

JW_MUST_CHECK bool instrument_open_jvmti(JavaVM *java_vm, struct jw_error *err);
/* Defines them, once. */
JW_MUST_CHECK bool instrument_open_java(JNIEnv *jni, struct jw_error *err);
/* Whether an exception is there, which it takes away and tells of. */
bool instrument_has_thrown(JNIEnv *jni, const char *what, struct jw_error *err);

/* A loader of a probe; a local reference, or NULL and `err`. */
jobject instrument_loader(JNIEnv *jni, const char *path, struct jw_error *err);
jobjectArray instrument_class_files(JNIEnv *jni, jobject loader, struct jw_error *err);
jclass instrument_probe_class(JNIEnv *jni, jobject loader, const char *name, struct jw_error *err);
bool instrument_is_probe_loader(JNIEnv *jni, jobject loader); /* hook */
/*
 * As rules ask for them; NULL: not told, "": none. What is returned may lie in `text`. On JDK 8 loaders have no names: those of the
 * application and above it are called as later ones are; and there are no modules. Context: hook
 */
#define INSTRUMENT_NAME_BYTES 512u
const char *instrument_loader_name(JNIEnv *jni, jobject loader, char *text, size_t room_bytes);
const char *instrument_module_name(JNIEnv *jni, jobject loader, const char *class_name, char *text,
                                   size_t room_bytes);
/*
 * Whether a place that could not be linked for want of stack is linked the next time. On JDK 8 it is not: the error stays, and is the
 * application's. Source: OpenJDK 8, CallSite.makeSite wraps what is thrown; 9 to 28 do not wrap an Error. Context: hook
 */
bool instrument_links_again(void);
/* Above the loader of the application. Context: hook */
bool instrument_is_platform_loader(JNIEnv *jni, jobject loader);

jobject instrument_probe_open(JNIEnv *jni, uint32_t number, const struct probe *probe,
                              const unsigned *places, struct jw_error *err);
JW_MUST_CHECK bool instrument_probe_arrive(JNIEnv *jni, jobject java, uint32_t handler,
                                           jclass gate_class, jobject gate, struct jw_error *err);
jobject instrument_probe_handler(JNIEnv *jni, jobject java, uint32_t handler, struct jw_error *err);
/* False: it has to be asked again; some of its handlers may still be entered. */
JW_MUST_CHECK bool instrument_probe_end(JNIEnv *jni, jobject java);
int32_t instrument_probe_inside(JNIEnv *jni, jobject java); /* below 0: it cannot be told */
void instrument_probe_close(JNIEnv *jni, jobject java);
bool instrument_probe_figures(JNIEnv *jni, jobject java, uint32_t count,
                              struct instrument_figures *out);
/* Class of the first exception that a handler let out; "": none. */
void instrument_probe_thrown(JNIEnv *jni, jobject java, char *text, size_t room_bytes);

/* The class of the probe has other bytes from now on. */
JW_MUST_CHECK bool instrument_replace_class(JNIEnv *jni, jobject loader, const char *name,
                                            const uint8_t *bytes, size_t length_bytes,
                                            struct jw_error *err);

/* ---- instrument_events.c ---- */

/* The native method that events call. False and `err`: the JVM refuses it. */
JW_MUST_CHECK bool instrument_bind_events(JNIEnv *jni, struct jw_error *err);

/* ---- instrument_context.c ---- */

/* The native methods that bridges call. False and `err`: the JVM refuses them. */
JW_MUST_CHECK bool instrument_bind_context(JNIEnv *jni, struct jw_error *err);

/* ---- instrument_teller.c ---- */

/* A class whose places tell the agent, and that of the object which does. */
struct instrument_teller {
    const char *
        class_name; /* has open(), once; begin(attach), -1: of none; dropped(): calls that were not told so far */
    const char *open_type;
    const char *begin_type; /* NULL: it takes the attach alone */
    const char *natives_class;
    struct {
        const char *name, *type; /* NULL: no more */
        uintptr_t function;
    } natives[5];
};
struct instrument_tells {
    jclass klass; /* global */
    jmethodID begin, dropped;
    uint32_t seen; /* of those that were dropped */
};
/* Gives the class its object, and finds what it is called by; `out` stays where it is. False and `err`: the JVM refuses it. */
JW_MUST_CHECK bool instrument_bind_teller(JNIEnv *jni, const struct instrument_teller *of,
                                          struct instrument_tells *out, struct jw_error *err);
/* What comes of that attach is told from now on; -1: nothing is. */
void instrument_tells_begin(JNIEnv *jni, const struct instrument_tells *tells, int32_t attach);

/* ---- instrument_own.c ---- */

/* Finds JaywalkTimer, and gives it whom it tells. */
JW_MUST_CHECK bool instrument_bind_own(JNIEnv *jni, struct jw_error *err);
/* What comes from its places is told from now on; and no more. */
JW_MUST_CHECK bool instrument_own_begin(JNIEnv *jni, const struct probe *probe, uint32_t attach,
                                        struct jw_error *err);
void instrument_own_end(JNIEnv *jni, const struct probe *probe);
/* The number of a method that is timed or counted, or of a class that one makes (`made`), the same as long as the probe is attached; -1: there are too many.
 * Context: hook */
int32_t instrument_own_site_of(const struct probe_handler *handler, struct classfile_text made,
                               struct classfile_text class_name, struct classfile_text method,
                               struct classfile_text descriptor);

/* ---- instrument_counts.c ---- */

JW_MUST_CHECK bool instrument_bind_counts(JNIEnv *jni, struct jw_error *err);
JW_MUST_CHECK bool instrument_counts_begin(JNIEnv *jni, enum instrument_counted what,
                                           uint32_t attach, struct jw_error *err);

/* ---- instrument_calls.c ---- */

JW_MUST_CHECK bool instrument_bind_calls(JNIEnv *jni, struct jw_error *err);
/* Calls of that attach are told from now on; -1: of none. */
void instrument_calls_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_routes.c ---- */

JW_MUST_CHECK bool instrument_bind_routes(JNIEnv *jni, struct jw_error *err);
/* Requests of that attach have endpoints from now on; -1: of none. */
void instrument_routes_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_parks.c ---- */

JW_MUST_CHECK bool instrument_bind_parks(JNIEnv *jni, struct jw_error *err);
/* Parks of that attach are told from now on; -1: of none. */
void instrument_parks_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_queues.c ---- */

JW_MUST_CHECK bool instrument_bind_queues(JNIEnv *jni, struct jw_error *err);
/* Tasks of that attach are told from now on; -1: of none. */
void instrument_queues_begin(JNIEnv *jni, int32_t attach);
/* Whom they tell; NULL: nobody yet. Context: hook */
const struct instrument_queues *instrument_queues_told(void);
/* A local reference to that of the program's own task, which covers of the JDK are looked through for; NULL: the JVM has no memory for it. Context: hook */
jclass instrument_queues_class_of(JNIEnv *jni, jobject task);

/* ---- instrument_forks.c ---- */

JW_MUST_CHECK bool instrument_bind_forks(JNIEnv *jni, struct jw_error *err);
/* Tasks of that attach are told from now on; -1: of none. */
void instrument_forks_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_callers.c ---- */

JW_MUST_CHECK bool instrument_bind_callers(JNIEnv *jni, struct jw_error *err);
/* Callers of places of the JDK are told from now on, at rates that begin anew; or none is. */
void instrument_callers_begin(JNIEnv *jni, bool is_on);

/* ---- instrument_claims.c ---- */

JW_MUST_CHECK bool instrument_bind_claims(JNIEnv *jni, struct jw_error *err);

/* ---- instrument_throws.c ---- */

JW_MUST_CHECK bool instrument_bind_throws(JNIEnv *jni, struct jw_error *err);
/* Exceptions of that attach are told from now on; -1: of none. */
void instrument_throws_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_io.c ---- */

JW_MUST_CHECK bool instrument_bind_io(JNIEnv *jni, struct jw_error *err);
/* Files and sockets of that attach are told from now on; -1: none. */
void instrument_io_begin(JNIEnv *jni, int32_t attach);

/* ---- instrument_news.c ---- */

JW_MUST_CHECK bool instrument_bind_news(JNIEnv *jni, struct jw_error *err);
/* Objects of that attach are told and counted from now on. */
JW_MUST_CHECK bool instrument_news_begin(JNIEnv *jni, int32_t attach, struct jw_error *err);
void instrument_news_end(JNIEnv *jni); /* they are counted still */

/* ---- instrument_dispatch.c: gates, places and bridges ---- */

JW_MUST_CHECK bool instrument_bind_dispatch(JNIEnv *jni, struct jw_error *err);
/* Connects the places of a handler, which were taken, with it. */
JW_MUST_CHECK bool instrument_connect(JNIEnv *jni, jobject java, jobject loader,
                                      const struct probe_handler *handler, uint32_t number,
                                      unsigned place, struct jw_error *err);
/* From now on they come to nothing. */
void instrument_disconnect(JNIEnv *jni, unsigned place);
void instrument_give_back(unsigned place);
/* Of a handler's type, before it is connected. */
JW_MUST_CHECK bool instrument_take_place(JNIEnv *jni, const struct probe_handler *handler,
                                         unsigned *place, struct jw_error *err);

/* ---- instrument_attach.c ---- */

enum instrument_state {
    INSTRUMENT_ATTACHED,
    INSTRUMENT_DRAINING, /* nobody comes in any more, and not all are out */
    INSTRUMENT_OUT,      /* taken out for going beyond a limit */
};

/* What is known of a class that was looked at. */
struct instrument_seen {
    uint64_t key;              /* 0: free */
    struct probe_woven *woven; /* by handler; NULL: nothing was put in */
    bool
        is_by_other; /* a class that is there was read for somebody else: what was put in may come later, or never */
};

struct instrument_attach {
    struct probe *probe;
    uint64_t pause_ns; /* what a batch of its classes may take */
    char path[PATH_BYTES];
    char rules_path[PATH_BYTES]; /* "": its rules are all its own */
    struct probe_replaced replaced;
    uint32_t number;
    enum instrument_state state;
    bool is_own;        /* of the agent: `java` and `loader` are NULL */
    bool is_wanted_out; /* by somebody, not by a limit */
    bool is_ended;      /* its flag was taken back, and its call sites come to nothing */
    bool is_fenced;     /* since then each thread has passed a safepoint */
    char why[256];
    struct rules *rules[PROBE_HANDLERS_LIMIT];
    struct probe_weave_handler handlers[PROBE_HANDLERS_LIMIT];
    uint32_t events[PROBE_EVENTS_LIMIT]; /* numbers of their types */
    uint32_t event_count;                /* that were declared */
    unsigned places[PROBE_HANDLERS_LIMIT];
    uint32_t place_count; /* that were taken */
    jobject java;         /* global: its JaywalkProbe */
    jobject loader;       /* global */
    pthread_mutex_t lock; /* around what follows */
    struct instrument_seen *seen;
    uint32_t seen_count;
    uint32_t seen_room;
    bool is_seen_short; /* memory was out: figures of classes are too small */
    uint32_t unroomed;  /* classes that were not looked at, and stay as they are: no room */
    uint32_t
        above_count; /* of seen ones that have to be looked at again: what stands above was not told */
    bool is_above_new; /* there are such since the last look */
    /* Of the last turn. */
    uint32_t above_looks; /* that are left */
    uint64_t turn_ns;
    bool was_dear; /* measured calls were above the limit */
    struct instrument_figures figures[PROBE_HANDLERS_LIMIT];
};

/* ---- instrument_hook.c ---- */

/* Handlers that classes get from now on; none are held any more of those that it does not name. False: memory is out. */
JW_MUST_CHECK bool instrument_publish(struct instrument_attach *const *attaches, uint32_t count,
                                      struct jw_error *err);
JW_MUST_CHECK bool instrument_listen(bool is_on, struct jw_error *err);
void JNICALL instrument_on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
                                      const char *name, jobject domain, jint length_bytes,
                                      const unsigned char *bytes, jint *new_length_bytes,
                                      unsigned char **new_bytes);
uint64_t instrument_key(jobject loader, const char *name); /* hook */

/* ---- instrument_census.c ---- */

/*
 * The hook of classes, behind probes: `new_bytes` may have what they wrote, and is then what is written again. `is_loading`: it is not read
 * again. Context: hook
 */
void instrument_census_class(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader, const char *name,
                             bool is_loading, const unsigned char *bytes, jint length_bytes,
                             unsigned char **new_bytes, jint *new_length_bytes);
bool instrument_census_is_on(void);
/* Whether that attach has looked at the class, and whether it has put something in. */
bool instrument_has_seen(struct instrument_attach *attach, uint64_t key, bool *is_woven);
/* It was seen, but in what somebody else has the JVM do: that it is in force is not known. */
bool instrument_is_by_other(struct instrument_attach *attach, uint64_t key);
void instrument_forget_seen(struct instrument_attach *attach);
void instrument_note_refused(struct instrument_attach *attach, uint64_t key); /* by the JVM */
void instrument_refused(struct instrument_attach *attach, jobject loader, const char *name);
/* Whether a class was read when nobody could say what stands above it; whether any was, and whether one of them since the last question. */
bool instrument_waits_above(struct instrument_attach *attach, uint64_t key);
bool instrument_waits_any(struct instrument_attach *attach, bool *is_new);

/* Sums over its classes. */
struct instrument_sums {
    uint64_t classes;
    uint32_t unroomed;
    struct probe_woven handlers[PROBE_HANDLERS_LIMIT];
};
void instrument_sum(struct instrument_attach *attach, struct instrument_sums *out);

/* ---- instrument_batch.c ---- */

/* What came of retransforming. */
struct instrument_batches {
    uint32_t classes;
    uint32_t refused; /* by the JVM; they are as they were */
    uint32_t untold;  /* the JVM did not say what they are; of the last call alone */
    int untold_error; /* why, for one of them: a JVMTI error */
    uint32_t batches;
    uint32_t wanted;     /* classes that were chosen */
    uint64_t longest_ns; /* for which a batch stopped the program, at most */
};
/* A class that is there. */
struct instrument_loaded {
    jclass klass;
    jobject loader;
    const char *name;
};
/* Of whose classes. */
struct instrument_choice {
    bool (*is_wanted)(struct instrument_attach *attach, JNIEnv *jni,
                      const struct instrument_loaded *of);
    void (*refused)(struct instrument_attach *attach, jobject loader, const char *name);
    struct instrument_attach *attach;
    bool is_at_once; /* the program does not run yet: nobody minds a pause */
    uint64_t pause_ns;
    /* Before the first batch and behind each; NULL: nobody waits for it. */
    void (*progressed)(const struct instrument_attach *attach,
                       const struct instrument_batches *so_far);
};
/*
 * Classes that are loaded now, and that `is_wanted` says so of, are read and written again; in batches of which each stops the program for
 * `pause_ns` at most, by the measure of those before. What came of it is added to `out`. False: the JVM does not list its classes.
 */
JW_MUST_CHECK bool instrument_retransform(JNIEnv *jni, const struct instrument_choice *choice,
                                          struct instrument_batches *out, struct jw_error *err);
/* What instrument_set_pause was told last. */
uint64_t instrument_pause_ns(void);
/* The calling thread is in that: what the hook is given is what is asked for. */
bool instrument_is_writing(void);
/* The hook gives a class back. Context: hook */
void instrument_note_read(void);
/* Each thread that runs Java code was stopped and goes on. False: the JVM refused that. */
JW_MUST_CHECK bool instrument_pass_safepoint(void);

/* ---- instrument_above.c ---- */

/* All that stands above a class that is linked. False: it is not, or the JVM does not tell. Context: hook */
bool instrument_above(JNIEnv *jni, jclass klass, struct rules_supers *out);
/* Whether the class may be a handler's, by what stands above it; where that is not known, or not asked for, it may. */
bool instrument_may_be_above(JNIEnv *jni, const struct instrument_attach *attach,
                             const struct instrument_loaded *of);
/* Classes that were loaded meanwhile and wait for that get what is theirs. */
void instrument_look_above(JNIEnv *jni, struct instrument_attach *attach);

#endif
