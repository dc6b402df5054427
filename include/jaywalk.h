/*
 * jaywalk.h - what a program tells the profiler that samples it: which request a thread works for; and, for profilers and
 * agents of others, stacks, methods and classes of the JVM from inside of their own signal handlers.
 *
 * The functions are in libjaywalk.so, which the JVM loads as an agent (-agentpath, or `jaywalk start PID`) and which a
 * native library or program may link (-ljaywalk) or load by itself. All of them may be called at any time, before the
 * first session and after the last: what a thread works for lies in memory of its own, and samples have it from the
 * first one on. Nothing here prints, ends the process or throws, and nothing but jaywalk_execute blocks on another thread
 * for longer than it takes to copy a name; where something cannot be done, the result says so, and the program goes on
 * as well without it.
 *
 *     #include <jaywalk.h>
 *     #include <string.h>
 *
 *     static int tenant;                          // once: tenant = jaywalk_attribute("tenant");
 *
 *     void serve(const struct request *request)
 *     {
 *         const uint64_t begin_ns = now();        // CLOCK_MONOTONIC
 *
 *         jaywalk_context_set(request->trace_high, request->trace_low, request->span, request->span);
 *         jaywalk_attribute_set(tenant, request->tenant, strlen(request->tenant));
 *         answer(request);
 *         jaywalk_endpoint(request->span, request->route, request->method);
 *         jaywalk_span("serve", begin_ns, now());
 *         jaywalk_context_clear();
 *     }
 *
 * Calling context, unless a function says otherwise: any thread, attached to the JVM or not, also with a Java exception
 * pending on it; but no signal handler, no callback of JVMTI in which JNI is not allowed, and not between GetPrimitiveArrayCritical and its release. A function that speaks of "the thread" means the
 * calling one; on a virtual thread of Java that is the virtual one, and the context goes with it from carrier to
 * carrier. In a child of fork() the calls are harmless and without effect on the parent.
 *
 * For C99 and C++98 and later. Since version 0.1.0, each function unless it says otherwise.
 */
#ifndef JAYWALK_H
#define JAYWALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function answers where it may fail: JAYWALK_OK or one of the others, all below 0. */
enum jaywalk_result {
    JAYWALK_OK = 0,
    JAYWALK_BAD_ARGUMENT = -1, /* an argument is outside of what the function takes */
    JAYWALK_NO_ROOM = -2,      /* as many as there can be are there already, or something is full */
    JAYWALK_IDLE = -3,         /* no session runs, so there is nothing to write to */
    JAYWALK_NO_JVM = -4,       /* the process has no JVM, or the agent cannot be used in it */
    JAYWALK_BUSY =
        -5, /* not now: try again. Of a context: a Java exception is pending on the thread */
    JAYWALK_GONE =
        -6, /* the class was unloaded, or the method's code redefined: the id means nothing any more */
    JAYWALK_UNSUPPORTED = -7, /* this JVM does not tell what it takes */
    JAYWALK_BLOCKED =
        -8,             /* SIGSEGV or SIGBUS is blocked on the thread: nothing can be read safely */
    JAYWALK_BROKEN = -9 /* the thread was at a place from which its stack cannot be walked */
};

/*
 * `jaywalk metrics` counts what had no room or no session: contexts (jaywalk_context_refused_total), endpoints and spans
 * (jaywalk_context_events_refused_total, jaywalk_context_idle_total). Names and values of attributes that
 * had no room are counted nowhere.
 */

#define JAYWALK_ATTRIBUTES_MAX   16  /* names, in one process */
#define JAYWALK_NAME_MAX_BYTES   64  /* of an attribute's name */
#define JAYWALK_VALUE_MAX_BYTES  255 /* of an attribute's value */
#define JAYWALK_VALUES_MAX_BYTES 612 /* of all values of a thread, each with 2 bytes more */
#define JAYWALK_ENDPOINT_MAX_BYTES                                                                 \
    4096 /* of the name of an endpoint or span; longer ones are cut at a character */

/* Version of the library, "0.1.0". */
const char *jaywalk_version(void);

/* 1 while a session runs, else 0. What it says may be over when it returns: for saving work, not for deciding. */
int jaywalk_is_active(void);

/* ---- What the thread works for ---- */

/*
 * From now on the thread works for this span. Its attributes stay as they are.
 * trace_high, trace_low: the trace id, a number of 128 bits; its first byte in W3C's spelling is the highest one of
 * trace_high. span: the span; root_span: the local root span, which is the request in this process, by which
 * jaywalk_endpoint names it. Each is any number; 0 means none.
 * Cost: some nanoseconds on a thread that has a context already; some hundred when it is the thread's first, and on each
 * call on a virtual thread.
 * JAYWALK_OK; JAYWALK_NO_ROOM: too many threads have a context (65,536 at the default memlimit, fewer below it, some 1,300
 * at 40m; some fewer where they meet); JAYWALK_BUSY.
 */
int jaywalk_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span, uint64_t root_span);

/*
 * The thread works for nothing any more: no ids, no attributes. A virtual thread gives its place back, so it should
 * call this before it ends; platform threads and native ones do that by ending.
 */
void jaywalk_context_clear(void);

/*
 * Number of the attribute with this name, from 0 to JAYWALK_ATTRIBUTES_MAX - 1, the same for the life of the process. A name
 * is 1 to JAYWALK_NAME_MAX_BYTES bytes of UTF-8 without control characters, terminated: "tenant". The agent's option
 * attributes=tenant;shop names them up front. Recordings have a column of this name from the next chunk on.
 * JAYWALK_BAD_ARGUMENT: NULL, or no such name; JAYWALK_NO_ROOM: the process has JAYWALK_ATTRIBUTES_MAX others.
 */
int jaywalk_attribute(const char *name);

/*
 * The thread's value of an attribute, until it is set again or cleared. `value`: `length` bytes of UTF-8, at most
 * JAYWALK_VALUE_MAX_BYTES, need not be terminated; bytes that are no text are shown as U+FFFD. No bytes: as clearing it.
 * JAYWALK_OK; JAYWALK_BAD_ARGUMENT: no attribute has this number, the value is NULL with a length, or too long;
 * JAYWALK_NO_ROOM: it does not fit beside the thread's other values, or as jaywalk_context_set; JAYWALK_BUSY.
 */
int jaywalk_attribute_set(int attribute, const char *value, size_t length);

/* The thread has no value of this attribute any more. Numbers that are no attribute's do nothing. */
void jaywalk_attribute_clear(int attribute);

/* ---- What is recorded ---- */

/*
 * The request whose local root span has this id is to this endpoint: "GET /orders/{id}". May come before, while or after
 * the request is served, on any thread, best once. Where the thread's own context has this root span, the event has its
 * trace, too. `root_span`: 0 is none, and by it no sample is found. `name`: 1 to
 * JAYWALK_ENDPOINT_MAX_BYTES bytes of UTF-8, terminated. `operation`: likewise, or NULL.
 * JAYWALK_OK: it is in the recording; JAYWALK_BAD_ARGUMENT: no name; JAYWALK_IDLE; JAYWALK_NO_ROOM: the profiler's memory
 * for this second is full.
 */
int jaywalk_endpoint(uint64_t root_span, const char *name, const char *operation);

/*
 * A piece of work of the thread has ended: a span of this name, with the ids and attributes that the thread has now.
 * begin_ns, end_ns: nanoseconds of CLOCK_MONOTONIC, the end not before the begin and not in the future.
 * As jaywalk_endpoint; JAYWALK_BAD_ARGUMENT: also for times that cannot be.
 */
int jaywalk_span(const char *name, uint64_t begin_ns, uint64_t end_ns);

/* ---- Which threads are sampled ---- */

/*
 * Of a session that was begun with option `filter` without a value (or with + among its items): the thread is sampled
 * from now on, or no more. It counts for later sessions too, until the thread ends. On a virtual thread it is the carrier
 * of this moment that is meant.
 * JAYWALK_OK; JAYWALK_NO_ROOM, of jaywalk_thread_add alone: the system has no room for what notices the thread's end.
 */
int jaywalk_thread_add(void);
int jaywalk_thread_remove(void);

/* ---- Commands ---- */

/* Takes a piece of the answer, `length` bytes of text, not terminated. */
typedef void jaywalk_output(void *argument, const char *text, size_t length);

/*
 * Does what an agent string says, as an attach would: "start,event=cpu,file=/tmp/x.jfr", "status", "stop"
 * (docs/reference/options.md). Waits until it is done: for milliseconds as a rule, for a stop until its file is written.
 * `output` (may be NULL) gets what there is to say, in one or more pieces, before the call returns.
 * 0: it was done. Above 0: it was refused, and the answer says why. JAYWALK_BAD_ARGUMENT: no command, or a too long one;
 * JAYWALK_NO_JVM: the process has none, or the thread is not attached to it; JAYWALK_NO_ROOM: too many commands at once.
 */
int jaywalk_execute(const char *command, jaywalk_output *output, void *argument);

/* ---- Stacks, methods and classes, from a signal handler ---- */

/*
 * For profilers and agents of others: what AsyncGetCallTrace and JVMTI together do not give, names that can be had in the
 * signal handler itself, and that never are those of another method. JDK 8 to 28.
 *
 *     static void on_sigprof(int signo, siginfo_t *info, void *ucontext)
 *     {
 *         struct jaywalk_frame frames[128];
 *         const int count = jaywalk_stack_walk(ucontext, frames, 128, NULL);
 *         ...
 *     }
 *
 *     char why[JAYWALK_REASON_BYTES];
 *     if (jaywalk_stacks_open(jni, why, sizeof why) != JAYWALK_OK)     // once, when the JVM is up (JVMTI VMInit, or later)
 *         fprintf(stderr, "no stacks: %s\n", why);
 *
 * An id, jaywalk_method or jaywalk_class, is a number of jaywalk's, not an address: it may be kept for as long as one
 * likes and asked about at any time. It is valid from the moment that it was given until all handlers that were registered
 * by jaywalk_class_handler_add have returned from the call that tells of its end. From then on each function answers
 * JAYWALK_GONE, or 0, and the number is never given again. (After 4,294,967,296 lives of one place it would be.)
 *
 * What makes a method: its class, its number in the class (jaywalk_method_idnum), and its code. Two ids that are equal are
 * one body of code of one method; two bodies of one method, before and after a redefinition, have two ids, and
 * one number. So (jaywalk_class_idnum, jaywalk_method_idnum) is a method for the life of the process.
 *
 * Calling context: functions marked "Signal-safe" may be called in a signal handler, on any thread, at any pc, in
 * any other context, too: they take no lock, allocate nothing, call neither the JVM nor the C library but for memcpy and the like,
 * and preserve errno. They need at most JAYWALK_STACK_BYTES of stack. They load memory of the JVM that may not be there,
 * and catch the fault: jaywalk_stacks_open puts a handler of its own before the JVM's for SIGSEGV and SIGBUS, which hands on
 * all that is not its own. Whoever replaces that handler must hand on, too.
 */

#define JAYWALK_REASON_BYTES 512
#define JAYWALK_STACK_BYTES  4096
#define JAYWALK_DEPTH_MAX    2048 /* frames of a stack */

typedef uint64_t jaywalk_class;  /* 0: none */
typedef uint64_t jaywalk_method; /* 0: none, or one that cannot be told */

/*
 * Makes all that follows ready, once for the life of the JVM; may be called again, which does nothing. Takes 40 to 100 ms
 * (classes that are loaded are listed), and from then on some 200 bytes for each class, within the agent's memlimit (its
 * default, if no session was begun before), and a thread of jaywalk's which looks for classes that are gone once a second.
 * Calling context: the live phase (JVMTI VMInit is its first moment), no handler. `jni`: JNIEnv * of the calling thread, here
 * and below of type void * so that this header needs no jni.h.
 * `reason` (may be NULL) gets a text of at most `reason_bytes`, its end included, where the answer is not JAYWALK_OK.
 * JAYWALK_OK; JAYWALK_NO_JVM; JAYWALK_UNSUPPORTED: this JVM does not tell what it takes, and `reason` says what; also
 * under -Xcheck:jni; JAYWALK_NO_ROOM: memlimit leaves no room; JAYWALK_BUSY: the agent has too much to do, or the JVM is
 * starting or ending: try again.
 */
int jaywalk_stacks_open(void *jni, char *reason, size_t reason_bytes);

enum jaywalk_tier {
    JAYWALK_INTERPRETED = 0,
    JAYWALK_COMPILED = 1,
    JAYWALK_INLINED = 2, /* into the next frame */
    JAYWALK_NATIVE = 3   /* a Java method marked native */
};

struct jaywalk_frame {
    jaywalk_method
        method; /* 0: it has one that cannot be told: no room was left (jaywalk metrics: ids_refused_total) */
    int32_t bci;   /* bytecode index; -1: not known; -3: native method */
    uint32_t tier; /* enum jaywalk_tier */
};

/* Of a stack that is not whole: what is missing. */
#define JAYWALK_STACK_TRUNCATED 1u /* outermost frames: it is deeper than there was room */
#define JAYWALK_STACK_FROZEN                                                                       \
    2u /* outermost ones of a virtual thread: they lie in the heap, where they could not be read */
#define JAYWALK_STACK_MOVING                                                                       \
    4u /* innermost ones of a virtual thread, or all: the JVM was moving them to the heap or back */

/*
 * Java frames of the calling thread, innermost first, as they were when the signal came. `ucontext`: third argument of the handler that
 * SA_SIGINFO installs. `frames`: room for `depth` (1 to JAYWALK_DEPTH_MAX). `flags` (may be NULL): JAYWALK_STACK_...
 * Of a virtual thread: those of the virtual thread, to its entry. Native frames above are not shown.
 * The handler must be installed without SIGSEGV and SIGBUS in sa_mask.
 * Number of frames; 0: no Java stands on the thread, or it is not one of the JVM's. JAYWALK_BROKEN: as a rule one of some
 * thousand samples, and where the signal came inside another handler that had interrupted Java code; JAYWALK_BLOCKED: also where it came
 * inside another handler whose mask has them; JAYWALK_IDLE: not opened; JAYWALK_BAD_ARGUMENT.
 * Signal-safe.
 */
int jaywalk_stack_walk(const void *ucontext, struct jaywalk_frame *frames, int depth,
                       unsigned *flags);

/*
 * Room for a text, and what came of it. In: `bytes`, which may be NULL where `room_bytes` is 0. Out: the text in
 * the JVM's modified UTF-8, terminated, cut where it has more than room_bytes - 1 bytes; `length_bytes` of all of it, without its end.
 */
struct jaywalk_text {
    char *bytes;
    size_t room_bytes;
    size_t length_bytes;
};

/* Texts that are longer are kept, and told, to this length. */
#define JAYWALK_TEXT_MAX_BYTES 4096

struct jaywalk_method_info {
    jaywalk_class klass; /* out */
    uint32_t modifiers;  /* out: access flags of the class file (JVM specification, table 4.6-A) */
    uint32_t
        is_obsolete; /* out: 1 once it is known that a redefinition has put other code into its place */
    struct jaywalk_text name;      /* "run", "<init>" */
    struct jaywalk_text signature; /* "(Ljava/lang/String;)V" */
};

/* JAYWALK_OK; JAYWALK_GONE: then nothing in `info` counts; JAYWALK_BAD_ARGUMENT: NULL, or 0; JAYWALK_IDLE. Signal-safe. */
int jaywalk_method_info(jaywalk_method method, struct jaywalk_method_info *info);

/*
 * The method's number in its class, 0 to 65,535: HotSpot's idnum, which a redefinition does not change and which no other
 * method of the class ever gets. JAYWALK_GONE, JAYWALK_BAD_ARGUMENT, JAYWALK_IDLE; JAYWALK_UNSUPPORTED: of code that was
 * redefined, on a JVM that does not tell its first number. Signal-safe.
 */
int jaywalk_method_idnum(jaywalk_method method);

struct jaywalk_line {
    uint32_t bci;  /* from here on ... */
    uint32_t line; /* ... it is this line, 1 to 65,535 */
};

/*
 * The table of lines of this body, in the order of the class file; at most `room` entries are written (`lines` may be NULL where
 * that is 0). How many there are, 0: none; JAYWALK_GONE, JAYWALK_BAD_ARGUMENT, JAYWALK_IDLE. Signal-safe.
 */
int jaywalk_method_line_numbers(jaywalk_method method, struct jaywalk_line *lines, int room);

/* The line of a bci; 0: none is known; JAYWALK_GONE, JAYWALK_BAD_ARGUMENT, JAYWALK_IDLE. Signal-safe. */
int jaywalk_method_line(jaywalk_method method, int bci);

struct jaywalk_class_info {
    uint32_t modifiers; /* out: access flags of the class file (JVM specification, table 4.1-B) */
    uint32_t is_hidden; /* out: 1: a hidden class, or one of Unsafe.defineAnonymousClass */
    struct jaywalk_text
        name; /* "java/util/Map$Entry", as the JVM spells it; of a hidden class with "+0x..." */
    struct jaywalk_text source_file; /* "Map.java"; "": not known */
};

/* As jaywalk_method_info. Signal-safe. */
int jaywalk_class_info(jaywalk_class klass, struct jaywalk_class_info *info);

/* The class's number: from 1, never given again in this process, the same before and after a redefinition. 0: the id
 * means nothing any more. Signal-safe. */
uint64_t jaywalk_class_idnum(jaywalk_class klass);

/* The class of an object of JNI; 0: NULL, an array or a primitive type, one that was not linked yet, or there was no room. `jni`: a JNIEnv * of
 * the calling thread. Not in a handler. */
jaywalk_class jaywalk_class_of_jclass(void *jni, void *klass);

/* A new local reference (jclass); NULL: the JVM has unloaded the class, whether handlers were told of it already or not. Not in a handler. */
void *jaywalk_class_to_jclass(void *jni, jaywalk_class klass);

/*
 * The method of a jmethodID: the code that it stands for now. The class must be one that cannot be unloaded meanwhile, as for any use
 * of a jmethodID: the caller holds it, or a frame of it stands on the calling thread's stack. 0: none, or there was no room.
 * With `jni` NULL: Signal-safe, up to JDK 25; from JDK 26 on a jmethodID is a number that only the JVM can read, and the answer is
 * 0. With the calling thread's JNIEnv * on all JDKs, and not in a handler.
 */
jaywalk_method jaywalk_method_of_jmethodid(void *jni, void *method);

/* The jmethodID (which is made, where there was none); of code that was redefined: that of the method. NULL: the id
 * means nothing any more, the JVM has unloaded the class, or a redefinition has removed the method. Takes some microseconds for each method of the class. Not in a handler. */
void *jaywalk_method_to_jmethodid(void *jni, jaywalk_method method);

/* What has come to its end. */
struct jaywalk_class_event {
    jaywalk_class klass;
    int is_redefined; /* 0: the class was unloaded. 1: it lives, and its code was redefined: `methods` are the bodies that no new call
                         enters; who still runs in one gets a new id for it, with the same numbers. */
    size_t method_count; /* of the class, or the replaced ones, for which ids were given */
    const jaywalk_method *methods; /* until the handler returns; NULL where there are none */
};

/*
 * Is called exactly once for each class that is unloaded from now on, and for each redefinition that replaced code of
 * which an id was given, within two seconds as a rule (two redefinitions of a class in that time are told as one); while it
 * runs, all ids of the event are valid. On a thread of jaywalk's that is attached to the JVM: it may do what any code may, and
 * other handlers wait for it. At the end of the JVM none is called for what is still loaded.
 */
typedef void jaywalk_class_handler(const struct jaywalk_class_event *event, void *argument);

/*
 * Several may be registered, up to JAYWALK_CLASS_HANDLERS_MAX; the same function with another argument is another one.
 * JAYWALK_OK; JAYWALK_BAD_ARGUMENT: NULL, or it is registered already; JAYWALK_NO_ROOM; JAYWALK_IDLE: not opened.
 */
#define JAYWALK_CLASS_HANDLERS_MAX 16
int jaywalk_class_handler_add(jaywalk_class_handler *handler, void *argument);

/*
 * When it returns the handler does not run and is never called again; so it waits for a call under way, unless it is made
 * by that very call. JAYWALK_OK; JAYWALK_BAD_ARGUMENT: it is not registered.
 */
int jaywalk_class_handler_remove(jaywalk_class_handler *handler, void *argument);

#ifdef __cplusplus
}
#endif

#endif
