/* Unsafe.park, by way of ours; hook, the agent's thread. */
#include "agent/blockers.h"

#include "agent/agent.h"
#include "agent/locks.h"
#include "agent/parks.h"
#include "base/atomics.h"
#include "vm/vm.h"
#include "vm/vm_native.h"
#include "vm/vm_synchronizer.h"

/* From this JDK on the method is left alone: whether a JVM that ends still takes the old function back was not proved there. */
#define PARK_MAJOR_LIMIT 26

typedef void JNICALL park_function(JNIEnv *jni, jobject unsafe, jboolean is_absolute, jlong time);

static struct {
    /* order PARK_OLD: who parks acquires what stands behind it. */
    park_function *_Atomic old;
    jclass unsafe;    /* global */
    jfieldID blocker; /* of java.lang.Thread */
    bool is_replaced; /* this and the next two: the agent's thread */
    park_function *next;
    bool is_set;
    _Atomic uintptr_t replacing; /* the JNIEnv of the thread that is about to; 0: nobody */
    /* Relaxed: who sees it late tells of one park more or less, or is refused by the gate. */
    _Atomic uint32_t is_on;
} blockers;

/* What the calling thread says it parks for: a local reference, or NULL. False: somebody else tells of this park. */
static bool find_blocker(JNIEnv *jni, jobject *blocker)
{
    jthread self = NULL;

    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE || self == NULL)
        return true;
    const bool is_mine = !parks_tells(jni, self);
    if (is_mine)
        *blocker = (*jni)->GetObjectField(jni, self, blockers.blocker);
    (*jni)->DeleteLocalRef(jni, self);
    return is_mine;
}

static void JNICALL park(JNIEnv *jni, jobject unsafe, jboolean is_absolute, jlong time)
{
    /* order PARK_OLD: acquires the field of what it parks for. */
    park_function *const old = jw_load_acquire(&blockers.old);
    jobject blocker = NULL;
    const bool is_watched = jw_load_relaxed(&blockers.is_on) != 0 && find_blocker(jni, &blocker);

    if (is_watched)
        locks_park(agent.jvmti, jni, blocker, is_absolute, time);
    old(jni, unsafe, is_absolute, time);
    if (is_watched)
        locks_parked(agent.jvmti, jni, NULL, blocker);
    if (blocker != NULL)
        (*jni)->DeleteLocalRef(jni, blocker);
}

static void clear_exception(JNIEnv *jni)
{
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

/* Once; they stay. */
static bool find_classes(JNIEnv *jni, struct jw_error *why)
{
    if (blockers.unsafe != NULL && blockers.blocker != NULL)
        return true;

    jclass unsafe = (*jni)->FindClass(jni, vm_major_version() >= 9 ? "jdk/internal/misc/Unsafe"
                                                                   : "sun/misc/Unsafe");
    clear_exception(jni);
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
    clear_exception(jni);
    if (thread != NULL)
        blockers.blocker = (*jni)->GetFieldID(jni, thread, "parkBlocker", "Ljava/lang/Object;");
    clear_exception(jni);
    if (unsafe != NULL)
        blockers.unsafe = (*jni)->NewGlobalRef(jni, unsafe);
    if (thread != NULL)
        (*jni)->DeleteLocalRef(jni, thread);
    if (unsafe != NULL)
        (*jni)->DeleteLocalRef(jni, unsafe);
    if (blockers.unsafe != NULL && blockers.blocker != NULL)
        return true;
    jw_error_set(why, "this JVM has no Unsafe.park that is known");
    return false;
}

static bool find_old(JNIEnv *jni, struct jw_error *why)
{
    jmethodID method = (*jni)->GetMethodID(jni, blockers.unsafe, "park", "(ZJ)V");

    clear_exception(jni);
    if (method == NULL) {
        jw_error_set(why, "this JVM has no Unsafe.park that is known");
        return false;
    }
    void *const function = vm_native_function(jni, method, why);
    if (function == NULL)
        return false;
    if (!vm_native_is_of_jvm(function)) {
        jw_error_set(why, "another agent has taken the place of Unsafe.park");
        return false;
    }
    /* order PARK_OLD: releases the field. */
    jw_store_release(&blockers.old, (park_function *)function);
    return true;
}

/*
 * The JVM warns on standard output of native methods of its own that somebody replaces whose calling class has another loader, or who has none,
 * such as the agent's thread. So that thread goes into Object.wait for a moment, and does it where the JVM tells that it is there.
 * Source: OpenJDK, jni_RegisterNatives, from JDK 16 on.
 */
void blockers_waits(JNIEnv *jni)
{
    char name[] = "park", signature[] = "(ZJ)V";
    const JNINativeMethod method = {name, signature, (void *)blockers.next};

    /* Relaxed: another thread than this one never finds itself here. */
    if (jw_load_relaxed(&blockers.replacing) != (uintptr_t)jni)
        return;
    jw_store_relaxed(&blockers.replacing, 0);
    blockers.is_set = (*jni)->RegisterNatives(jni, blockers.unsafe, &method, 1) == JNI_OK;
    clear_exception(jni);
}

static bool set_park(JNIEnv *jni, park_function *function)
{
    jclass type = (*jni)->GetSuperclass(jni, blockers.unsafe); /* java.lang.Object */
    jmethodID wait = (*jni)->GetMethodID(jni, type, "wait", "(JI)V");
    clear_exception(jni);
    jobject object = wait == NULL ? NULL : (*jni)->AllocObject(jni, type);
    clear_exception(jni);

    blockers.is_set = false;
    if (object != NULL && (*jni)->MonitorEnter(jni, object) == JNI_OK) {
        blockers.next = function;
        jw_store_relaxed(&blockers.replacing, (uintptr_t)jni);
        (*jni)->CallVoidMethod(jni, object, wait, (jlong)1, (jint)1);
        clear_exception(jni);
        jw_store_relaxed(&blockers.replacing, 0);
        (void)(*jni)->MonitorExit(jni, object);
    }
    if (object != NULL)
        (*jni)->DeleteLocalRef(jni, object);
    (*jni)->DeleteLocalRef(jni, type);
    return blockers.is_set;
}

/* Somebody may have taken our place since: then it is his to put things back. */
static bool is_ours(JNIEnv *jni)
{
    struct jw_error why = {{0}};
    jmethodID method = (*jni)->GetMethodID(jni, blockers.unsafe, "park", "(ZJ)V");

    clear_exception(jni);
    return method != NULL && vm_native_function(jni, method, &why) == (void *)park;
}

bool blockers_begin(JNIEnv *jni, struct jw_error *why)
{
    if (vm_major_version() >= PARK_MAJOR_LIMIT) {
        jw_error_set(why, "from JDK %d on Unsafe.park is left alone", PARK_MAJOR_LIMIT);
        return false;
    }
    if (!blockers.is_replaced) {
        if (!find_classes(jni, why) || !find_old(jni, why))
            return false;
        if (!set_park(jni, park)) {
            jw_error_set(why, "the JVM lets nobody take the place of Unsafe.park");
            return false;
        }
        blockers.is_replaced = true;
    }
    jw_store_relaxed(&blockers.is_on, 1);
    return true;
}

void blockers_end(JNIEnv *jni)
{
    /* order PARK_OLD: acquires nothing more; it is this thread's own. */
    park_function *const old = jw_load_acquire(&blockers.old);

    jw_store_relaxed(&blockers.is_on, 0);
    if (!blockers.is_replaced || jni == NULL)
        return;
    /* Where it is not taken back ours stays, which does nothing but go on to the old one. */
    blockers.is_replaced = is_ours(jni) && !set_park(jni, old);
}
