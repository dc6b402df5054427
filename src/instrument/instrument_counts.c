/* Calls of methods that are counted alone. Context: the agent's thread. */
#include <string.h>

#include "instrument/instrument_internal.h"
#include "instrument/instrument_sites.h"
#include "probe/probe_own.h"

static struct {
    jclass counts; /* global */
    jmethodID begin, sums, dropped;
} java;

/* By method. What is over: Java counts on, since calls meanwhile must not be lost. */
static jlong read[PROBE_OWN_SITES], over[PROBE_OWN_SITES];

bool instrument_bind_counts(JNIEnv *jni, struct jw_error *err)
{
    jclass counts = (*jni)->FindClass(jni, PROBE_OWN_COUNTS_CLASS);

    if (counts != NULL) {
        java.counts = (*jni)->NewGlobalRef(jni, counts);
        java.begin = (*jni)->GetStaticMethodID(jni, counts, "begin", "(I)V");
    }
    if (java.begin != NULL)
        java.sums = (*jni)->GetStaticMethodID(jni, counts, "sums", "()[J");
    if (java.sums != NULL)
        java.dropped = (*jni)->GetStaticMethodID(jni, counts, "dropped", "()I");
    (*jni)->DeleteLocalRef(jni, counts);
    if (instrument_has_thrown(jni, "classes of probes", err))
        return false;
    if (java.counts == NULL || java.dropped == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    return java.counts != NULL && java.dropped != NULL;
}

bool instrument_counts_begin(JNIEnv *jni, uint32_t attach, struct jw_error *err)
{
    memset(read, 0, sizeof read);
    memset(over, 0, sizeof over);
    if (!instrument_sites_begin(INSTRUMENT_SITES_COUNTED, err))
        return false;
    (*jni)->CallStaticVoidMethod(jni, java.counts, java.begin, (jint)attach);
    return !instrument_has_thrown(jni, "counts of methods", err);
}

bool instrument_counts_read(JNIEnv *jni)
{
    jlongArray sums = (*jni)->CallStaticObjectMethod(jni, java.counts, java.sums);
    const bool is_read = sums != NULL;

    if (is_read)
        (*jni)->GetLongArrayRegion(jni, sums, 0, PROBE_OWN_SITES, read);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, sums);
    return is_read;
}

bool instrument_counts_at(uint32_t number, struct instrument_count *out)
{
    if (!instrument_sites_at(INSTRUMENT_SITES_COUNTED, number, &out->of))
        return false;
    out->count = (uint64_t)(read[number] - over[number]);
    return true;
}

void instrument_counts_cut(void)
{
    memcpy(over, read, sizeof over);
}

void instrument_counts_losses(JNIEnv *jni, uint64_t *methods, uint64_t *calls)
{
    *methods = instrument_sites_lost(INSTRUMENT_SITES_COUNTED);
    *calls = (uint64_t)(*jni)->CallStaticIntMethod(jni, java.counts, java.dropped);
    (*jni)->ExceptionClear(jni);
}

void instrument_counts_forget(JNIEnv *jni)
{
    (*jni)->CallStaticVoidMethod(jni, java.counts, java.begin, (jint)-1);
    (*jni)->ExceptionClear(jni);
}
