/* Holds without an end. Context: the agent's thread. */
#include "instrument/instrument_census_holds.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "instrument/instrument_census_known.h"
#include "instrument/instrument_internal.h"

#define LOCKS       "java/lang/JaywalkLocks"
#define AGE_NS      JW_NS_PER_SECOND
#define FRAMES_MOST 2048 /* who has more is believed */
#define REFERENCES  16

static struct {
    jclass locks; /* global */
    jmethodID old, drop;
    jvmtiFrameInfo frames[FRAMES_MOST];
} holds;

bool census_holds_open(JNIEnv *jni, struct jw_error *err)
{
    jclass found;

    if (holds.locks != NULL)
        return true;
    found = (*jni)->FindClass(jni, LOCKS);
    if (found != NULL)
        holds.old = (*jni)->GetStaticMethodID(jni, found, "oldHolds", "(J)[Ljava/lang/Object;");
    if (holds.old != NULL)
        holds.drop = (*jni)->GetStaticMethodID(jni, found, "drop", "(Ljava/lang/Thread;J)V");
    if (instrument_has_thrown(jni, LOCKS, err))
        return false;
    holds.locks = (*jni)->NewGlobalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, found);
    if (holds.locks == NULL)
        jw_error_set(err, "the JVM has no memory left for a reference");
    return holds.locks != NULL;
}

/* Whether the method is that one. What cannot be told is. */
static bool is_method(JNIEnv *jni, jmethodID method, const struct instrument_lock_site *site)
{
    jvmtiEnv *jvmti = instrument_jvmti;
    char *name = NULL, *signature = NULL;
    jclass klass = NULL;
    bool is_it = true;

    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return true;
    if (strncmp(name, site->method, strlen(site->method)) != 0)
        is_it = false;
    else if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &klass) == JVMTI_ERROR_NONE &&
             (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE)
        /* A long text is known in part. */
        is_it = strncmp(signature + 1, site->class_name, strlen(site->class_name)) == 0;
    (*jni)->DeleteLocalRef(jni, klass);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is_it;
}

static bool is_on_stack(JNIEnv *jni, jobject thread, const struct instrument_lock_site *site)
{
    jint count = 0;

    if ((*instrument_jvmti)
            ->GetStackTrace(instrument_jvmti, thread, 0, FRAMES_MOST, holds.frames, &count) !=
        JVMTI_ERROR_NONE)
        return true;
    for (jint i = 0; i < count; i++)
        if (is_method(jni, holds.frames[i].method, site))
            return true;
    return count == FRAMES_MOST;
}

static void look_at(JNIEnv *jni, jobjectArray threads, const jlong *numbers, jsize at)
{
    struct instrument_lock_site site = {0};
    jobject thread = (*jni)->GetObjectArrayElement(jni, threads, at);

    if (thread != NULL && numbers[0] >= 0 && census_known_site((uint32_t)numbers[0], &site) &&
        !is_on_stack(jni, thread, &site))
        (*jni)->CallStaticVoidMethod(jni, holds.locks, holds.drop, thread, numbers[1]);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
}

void census_holds_look(JNIEnv *jni)
{
    jobjectArray both;
    jobject threads = NULL, numbers = NULL;

    if (holds.locks == NULL || (*jni)->PushLocalFrame(jni, REFERENCES) != 0) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    both = (*jni)->CallStaticObjectMethod(jni, holds.locks, holds.old, (jlong)AGE_NS);
    if (both != NULL && !(*jni)->ExceptionCheck(jni)) {
        threads = (*jni)->GetObjectArrayElement(jni, both, 0);
        numbers = (*jni)->GetObjectArrayElement(jni, both, 1);
    }
    const jsize count = threads == NULL ? 0 : (*jni)->GetArrayLength(jni, threads);
    for (jsize i = 0; numbers != NULL && i < count; i++) {
        jlong one[2] = {-1, 0};

        (*jni)->GetLongArrayRegion(jni, numbers, 2 * i, 2, one);
        if (one[1] == 0)
            break; /* they stand one behind the other */
        look_at(jni, threads, one, i);
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->PopLocalFrame(jni, NULL);
}
