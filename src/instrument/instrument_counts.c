/* Calls of methods that are counted alone, and objects. Context: the agent's thread. */
#include <string.h>

#include "base/memory.h"
#include "instrument/instrument_internal.h"
#include "instrument/instrument_sites.h"
#include "probe/probe_news.h"
#include "probe/probe_own.h"

static struct counted {
    const char *class_name;
    enum instrument_sites_kind sites;
    jclass klass; /* global */
    jmethodID begin, sums, uncounted;
    /* By number, made by the first attach, and kept. What is over: Java counts on, since what comes meanwhile must not be lost. */
    struct figures {
        jlong read[PROBE_OWN_SITES], over[PROBE_OWN_SITES];
    } * figures;
} all[] = {
    [INSTRUMENT_COUNTED_CALLS] = {.class_name = PROBE_OWN_COUNTS_CLASS,
                                  .sites = INSTRUMENT_SITES_COUNTED},
    [INSTRUMENT_COUNTED_OBJECTS] = {.class_name = PROBE_NEWS_CLASS, .sites = INSTRUMENT_SITES_MADE},
};

static bool bind(JNIEnv *jni, struct counted *counted, struct jw_error *err)
{
    jclass klass = (*jni)->FindClass(jni, counted->class_name);

    if (klass != NULL) {
        counted->klass = (*jni)->NewGlobalRef(jni, klass);
        counted->begin = (*jni)->GetStaticMethodID(jni, klass, "begin", "(I)V");
    }
    if (counted->begin != NULL)
        counted->sums = (*jni)->GetStaticMethodID(jni, klass, "sums", "()[J");
    if (counted->sums != NULL)
        counted->uncounted = (*jni)->GetStaticMethodID(jni, klass, "uncounted", "()I");
    (*jni)->DeleteLocalRef(jni, klass);
    if (instrument_has_thrown(jni, "classes of probes", err))
        return false;
    if (counted->klass == NULL || counted->uncounted == NULL)
        jw_error_set(err, "the JVM does not give the classes of probes");
    return counted->klass != NULL && counted->uncounted != NULL;
}

bool instrument_bind_counts(JNIEnv *jni, struct jw_error *err)
{
    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if (!bind(jni, &all[i], err))
            return false;
    }
    return true;
}

bool instrument_counts_begin(JNIEnv *jni, enum instrument_counted what, uint32_t attach,
                             struct jw_error *err)
{
    struct counted *counted = &all[what];

    if (counted->figures == NULL)
        counted->figures = jw_alloc(sizeof *counted->figures);
    if (counted->figures == NULL) {
        jw_error_set(err, "no memory for a probe");
        return false;
    }
    memset(counted->figures, 0, sizeof *counted->figures);
    if (!instrument_sites_begin(counted->sites, err))
        return false;
    (*jni)->CallStaticVoidMethod(jni, counted->klass, counted->begin, (jint)attach);
    return !instrument_has_thrown(jni, "counts of methods", err);
}

bool instrument_counts_read(JNIEnv *jni, enum instrument_counted what)
{
    struct counted *counted = &all[what];
    jlongArray sums = (*jni)->CallStaticObjectMethod(jni, counted->klass, counted->sums);
    const bool is_read = sums != NULL;

    if (is_read)
        (*jni)->GetLongArrayRegion(jni, sums, 0, PROBE_OWN_SITES, counted->figures->read);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, sums);
    return is_read;
}

bool instrument_counts_at(enum instrument_counted what, uint32_t number,
                          struct instrument_count *out)
{
    if (!instrument_sites_at(all[what].sites, number, &out->of))
        return false;
    out->count = (uint64_t)(all[what].figures->read[number] - all[what].figures->over[number]);
    return true;
}

void instrument_counts_cut(enum instrument_counted what)
{
    struct figures *figures = all[what].figures;

    memcpy(figures->over, figures->read, sizeof figures->over);
}

void instrument_counts_losses(JNIEnv *jni, enum instrument_counted what, uint64_t *methods,
                              uint64_t *calls)
{
    *methods = instrument_sites_lost(all[what].sites);
    *calls = (uint64_t)(*jni)->CallStaticIntMethod(jni, all[what].klass, all[what].uncounted);
    (*jni)->ExceptionClear(jni);
}

void instrument_counts_forget(JNIEnv *jni, enum instrument_counted what)
{
    (*jni)->CallStaticVoidMethod(jni, all[what].klass, all[what].begin, (jint)-1);
    (*jni)->ExceptionClear(jni);
}
