/* Classes that tell the agent of what their places see: of package java.lang, by an object of a class with native methods. Context: the agent's thread. */
#include "instrument/instrument_internal.h"

#define NATIVES_MOST JW_COUNT_OF(((struct instrument_teller *)NULL)->natives)
#define TELLS_MOST   16u

/* All that were bound, for good. */
static struct instrument_tells *bound[TELLS_MOST];
static uint32_t bound_count;

/* NULL: an exception is there. */
static jobject make(JNIEnv *jni, const struct instrument_teller *of)
{
    JNINativeMethod methods[NATIVES_MOST];
    jclass klass = (*jni)->FindClass(jni, of->natives_class);
    jmethodID init = klass == NULL ? NULL : (*jni)->GetMethodID(jni, klass, "<init>", "()V");
    jobject made = NULL;
    jint count = 0;

    for (; count < (jint)NATIVES_MOST && of->natives[count].name != NULL; count++)
        /* JNI takes texts that it does not change. */
        methods[count] = (JNINativeMethod){(char *)(uintptr_t)of->natives[count].name,
                                           (char *)(uintptr_t)of->natives[count].type,
                                           (void *)of->natives[count].function};
    if (init != NULL && (*jni)->RegisterNatives(jni, klass, methods, count) == JNI_OK)
        made = (*jni)->NewObject(jni, klass, init);
    (*jni)->DeleteLocalRef(jni, klass);
    return made;
}

/* A global reference to the class, which has its object. NULL: an exception is there, or the JVM has no memory for it. */
static jclass open_teller(JNIEnv *jni, const struct instrument_teller *of)
{
    jclass klass = (*jni)->FindClass(jni, of->class_name);
    jobject made = klass == NULL ? NULL : make(jni, of);
    jmethodID open =
        made == NULL ? NULL : (*jni)->GetStaticMethodID(jni, klass, "open", of->open_type);
    jclass kept = NULL;

    if (open != NULL) {
        (*jni)->CallStaticVoidMethod(jni, klass, open, made);
        if (!(*jni)->ExceptionCheck(jni))
            kept = (*jni)->NewGlobalRef(jni, klass);
    }
    (*jni)->DeleteLocalRef(jni, made);
    (*jni)->DeleteLocalRef(jni, klass);
    return kept;
}

/* Once, however often the JVM refused another one. */
static void note_bound(struct instrument_tells *tells)
{
    for (uint32_t i = 0; i < bound_count; i++) {
        if (bound[i] == tells)
            return;
    }
    if (!JW_INVARIANT(bound_count < TELLS_MOST))
        return;
    bound[bound_count++] = tells;
}

/* Until all of it is there, `out` stays as it was: who asks again, since another class was refused, goes on with what is bound. */
bool instrument_bind_teller(JNIEnv *jni, const struct instrument_teller *of,
                            struct instrument_tells *out, struct jw_error *err)
{
    struct instrument_tells made = {.seen = out->seen};

    if (out->klass != NULL)
        return true;
    made.klass = open_teller(jni, of);
    if (made.klass != NULL)
        made.begin = (*jni)->GetStaticMethodID(jni, made.klass, "begin",
                                               of->begin_type == NULL ? "(I)V" : of->begin_type);
    if (made.begin != NULL)
        made.dropped = (*jni)->GetStaticMethodID(jni, made.klass, "dropped", "()I");
    if (!instrument_has_thrown(jni, "classes of probes", err) && made.dropped == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    if (made.dropped == NULL) {
        if (made.klass != NULL)
            (*jni)->DeleteGlobalRef(jni, made.klass);
        return false;
    }
    *out = made;
    note_bound(out);
    return true;
}

void instrument_tells_begin(JNIEnv *jni, const struct instrument_tells *tells, int32_t attach)
{
    (*jni)->CallStaticVoidMethod(jni, tells->klass, tells->begin, (jint)attach);
    (*jni)->ExceptionClear(jni);
}

uint64_t instrument_dropped(JNIEnv *jni)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < bound_count; i++) {
        const uint32_t now =
            (uint32_t)(*jni)->CallStaticIntMethod(jni, bound[i]->klass, bound[i]->dropped);

        if (!(*jni)->ExceptionCheck(jni)) {
            sum += now - bound[i]->seen;
            bound[i]->seen = now;
        }
        (*jni)->ExceptionClear(jni);
    }
    return sum;
}
