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

#define INSTRUMENT_PROBES_LIMIT 16u                          /* at a time */
#define INSTRUMENT_PAUSE_NS     ((uint64_t)10 * 1000 * 1000) /* what a batch of classes may take */
#define INSTRUMENT_DRAIN_NS     ((uint64_t)500 * 1000 * 1000)

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
/* Before the first attach, for good. NULL, as before: a probe with events is refused. Context: control */
void instrument_set_events(const struct instrument_events *events);

/* Is called when the JVM ends, on a thread of its own choice, once there was an attach. Before the first; control. */
void instrument_at_end(void (*ended)(void));

/* At the start of the JVM, before it has classes: capabilities, so that a later attach drops no compiled code. Context: control. */
JW_MUST_CHECK bool instrument_prepare(JavaVM *java_vm, struct jw_error *err);

/* A jar, a folder or a class file with one probe. The first line that is said is the result, others tell of what did not fit. */
JW_MUST_CHECK bool instrument_attach(JavaVM *java_vm, JNIEnv *jni, const char *path,
                                     instrument_say *say, void *context, struct jw_error *err);

/*
 * True: nobody is in a handler of the probe, and nobody will be; its classes are as they were, or a second line says which are not. False
 * and `err`: there is no such, or no memory, or after INSTRUMENT_DRAIN_NS threads are inside still; of the last two instrument_turn goes on
 * with it, and no further thread comes in.
 */
JW_MUST_CHECK bool instrument_detach(JNIEnv *jni, const char *name, instrument_say *say,
                                     void *context, struct jw_error *err);

bool instrument_is_any(void); /* probes are attached, or on their way out. Context: any */

/* Four times a second or so: takes out what goes beyond its limits, and goes on with detaching; says what it did. */
void instrument_turn(JNIEnv *jni, instrument_say *say, void *context);

/* {"schema":"jaywalk.probes/1",...}, in pieces; and lines of `status`. */
void instrument_list(JNIEnv *jni, instrument_say *say, void *context);
void instrument_tell(instrument_say *say, void *context); /* any; figures as of the last turn */

#endif
