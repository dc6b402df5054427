/* Exceptions that are told by their class. Context: hook, on any Java thread; begin, bind, forget: the agent's. */
#include "instrument/instrument_internal.h"
#include "probe/probe_throws.h"

#define EVENTS_CLASS "io/jaywalk/ThrowEvents"

static struct instrument_tells java;
static jmethodID forget, all;
static jclass error; /* global: java.lang.Error */

/* Set before there are threads that look. */
static const struct instrument_throws *told;
static uint64_t interval = 1; /* of the attach to come */

void instrument_set_throws(const struct instrument_throws *calls, uint64_t exceptions)
{
    told = calls;
    interval = exceptions;
}

static jboolean JNICALL is_wanted(JNIEnv *jni, jobject object, jclass klass)
{
    (void)object;
    return told != NULL && klass != NULL && told->is_wanted(jni, klass);
}

static void JNICALL tell(JNIEnv *jni, jobject object, jclass klass, jlong count)
{
    (void)object;
    if (told != NULL && klass != NULL && count > 0)
        told->tell(jni, klass, (*jni)->IsAssignableFrom(jni, klass, error), (uint64_t)count);
}

bool instrument_bind_throws(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {
        .class_name = PROBE_THROWS_CLASS,
        .open_type = "(Ljava/lang/JaywalkThrows;)V",
        .begin_type = "(IJ)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"isWanted", "(Ljava/lang/Class;)Z", (uintptr_t)&is_wanted},
                    {"tell", "(Ljava/lang/Class;J)V", (uintptr_t)&tell}}};

    jclass found;

    if (!instrument_bind_teller(jni, &of, &java, err))
        return false;
    forget = (*jni)->GetStaticMethodID(jni, java.klass, "forget", "()V");
    all = forget == NULL ? NULL : (*jni)->GetStaticMethodID(jni, java.klass, "all", "()J");
    found = all == NULL ? NULL : (*jni)->FindClass(jni, "java/lang/Error");
    error = found == NULL ? NULL : (*jni)->NewGlobalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, found);
    if (!instrument_has_thrown(jni, "classes of probes", err) && error == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    return error != NULL;
}

void instrument_throws_begin(JNIEnv *jni, int32_t attach)
{
    (*jni)->CallStaticVoidMethod(jni, java.klass, java.begin, (jint)attach, (jlong)interval);
    (*jni)->ExceptionClear(jni);
}

void instrument_throws_forget(JNIEnv *jni)
{
    (*jni)->CallStaticVoidMethod(jni, java.klass, forget);
    (*jni)->ExceptionClear(jni);
}

bool instrument_throws_all(JNIEnv *jni, uint64_t *count)
{
    const jlong sum = (*jni)->CallStaticLongMethod(jni, java.klass, all);
    const bool has_thrown = (*jni)->ExceptionCheck(jni);

    (*jni)->ExceptionClear(jni);
    *count = (uint64_t)sum;
    return !has_thrown;
}
