/* Parks that the agent's own places in LockSupport tell of: the agent's thread, but enter and leave: hook, on the thread that parks. */
#include "agent/parks.h"

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/locks.h"
#include "base/atomics.h"
#include "instrument/instrument.h"
#include "probe/probe_parks.h"

#define NAME "parks" /* of its probe */

static struct {
    jfieldID blocker; /* of java.lang.Thread, which is never unloaded */
    bool is_on;       /* the agent's thread */
    /* Relaxed: who sees them late tells of one park more or less. */
    _Atomic uint32_t is_told, is_of_all;
} parks;

bool parks_tells(JNIEnv *jni, jobject thread)
{
    return jw_load_relaxed(&parks.is_told) != 0 &&
           (jw_load_relaxed(&parks.is_of_all) != 0 || api_is_virtual(jni, thread));
}

/* What the thread has said before it came here; a local reference, or NULL. */
static jobject blocker_of(JNIEnv *jni, jobject thread, jobject blocker)
{
    return blocker != NULL ? (*jni)->NewLocalRef(jni, blocker)
                           : (*jni)->GetObjectField(jni, thread, parks.blocker);
}

static void enter(JNIEnv *jni, jobject thread, jobject blocker, jlong time, jboolean is_until)
{
    if (!parks_tells(jni, thread))
        return;
    jobject its = blocker_of(jni, thread, blocker);
    locks_park_placed(agent.jvmti, jni, thread, its, is_until, time);
    (*jni)->DeleteLocalRef(jni, its);
}

static void leave(JNIEnv *jni, jobject thread, jobject blocker)
{
    if (!parks_tells(jni, thread))
        return;
    jobject its = blocker_of(jni, thread, blocker);
    locks_parked(agent.jvmti, jni, thread, its);
    (*jni)->DeleteLocalRef(jni, its);
}

static const struct instrument_parks calls = {enter, leave};

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static bool find_blocker(JNIEnv *jni, struct jw_error *why)
{
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");

    if (thread != NULL)
        parks.blocker = (*jni)->GetFieldID(jni, thread, "parkBlocker", "Ljava/lang/Object;");
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
    if (parks.blocker == NULL)
        jw_error_set(why, "threads of this JVM do not say what they are parked for");
    return parks.blocker != NULL;
}

static bool attach(JNIEnv *jni, struct jw_error *why)
{
    struct probe *probe;

    if (!find_blocker(jni, why))
        return false;
    instrument_at_end(commands_end);
    instrument_set_parks(&calls);
    probe = probe_parks_open(NAME, why);
    return probe != NULL &&
           instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, why);
}

/* All three handlers of all methods; where one is missing, waits would begin that nobody ends. */
static bool has_all(void)
{
    uint64_t methods;

    for (uint32_t handler = 0; handler < 3 * PROBE_PARKS_METHODS; handler++) {
        if (!instrument_own_methods(NAME, handler, &methods) || methods != 1)
            return false;
    }
    return true;
}

bool parks_begin(JNIEnv *jni, bool is_of_all, struct jw_error *why)
{
    if (!parks.is_on) {
        parks.is_on = attach(jni, why);
        if (parks.is_on && !has_all()) {
            jw_error_set(why, "java.util.concurrent.locks.LockSupport is not as it is known");
            parks_end(jni);
        }
    }
    jw_store_relaxed(&parks.is_of_all, is_of_all);
    jw_store_relaxed(&parks.is_told, parks.is_on);
    return parks.is_on;
}

void parks_end(JNIEnv *jni)
{
    struct jw_error err = {{0}};

    if (!parks.is_on || jni == NULL)
        return;
    parks.is_on = false;
    jw_store_relaxed(&parks.is_told, 0);
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "lock: %s: %s", NAME, err.message);
}
