/* Objects whose locks are taken at the sites of the census. Context: the agent's thread. */
#include "instrument/instrument_census_objects.h"

#include "base/atomics.h"
#include "instrument/instrument_attach_internal.h"

#define OBJECTS         "java/lang/JaywalkObjects"
#define READ_REFERENCES 8
#define PARTS           3 /* of figures: rows, others, what was lost */

static struct {
    jclass objects; /* global */
    jmethodID begin, publish, end, figures, forget;
    struct census_objects all;
    uint64_t lost;
} instances;

/* relaxed: who writes classes has seen by CENSUS_ON that the census is on, which is said later. */
static _Atomic uint32_t is_told;

bool census_instances_are_told(void)
{
    return jw_load_relaxed(&is_told) != 0;
}

bool census_instances_open(JNIEnv *jni, bool is_asked, struct jw_error *err)
{
    jclass found;

    jw_store_relaxed(&is_told, is_asked ? 1 : 0);
    if (!is_asked || instances.objects != NULL)
        return true;
    found = (*jni)->FindClass(jni, OBJECTS);
    if (found != NULL) {
        instances.begin = (*jni)->GetStaticMethodID(jni, found, "begin", "()V");
        instances.publish = (*jni)->GetStaticMethodID(jni, found, "publish", "()V");
        instances.end = (*jni)->GetStaticMethodID(jni, found, "end", "()V");
        instances.figures = (*jni)->GetStaticMethodID(jni, found, "figures", "()[[J");
        instances.forget = (*jni)->GetStaticMethodID(jni, found, "forget", "([I)V");
    }
    if (instrument_has_thrown(jni, OBJECTS, err))
        return false;
    instances.objects = (*jni)->NewGlobalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, found);
    if (instances.objects == NULL)
        jw_error_set(err, "the JVM has no memory left for a reference");
    return instances.objects != NULL;
}

bool census_instances_begin(JNIEnv *jni, struct jw_error *err)
{
    census_objects_close(&instances.all);
    instances.lost = 0;
    if (!census_instances_are_told())
        return true;
    (*jni)->CallStaticVoidMethod(jni, instances.objects, instances.begin);
    return !instrument_has_thrown(jni, OBJECTS, err);
}

bool census_instances_publish(JNIEnv *jni, struct jw_error *err)
{
    if (!census_instances_are_told())
        return true;
    (*jni)->CallStaticVoidMethod(jni, instances.objects, instances.publish);
    return !instrument_has_thrown(jni, OBJECTS, err);
}

void census_instances_begin_again(void)
{
    census_objects_begin_again(&instances.all);
}

void census_instances_end(JNIEnv *jni)
{
    struct jw_error err = {0};

    if (instances.objects != NULL && census_instances_are_told()) {
        (*jni)->CallStaticVoidMethod(jni, instances.objects, instances.end);
        (void)instrument_has_thrown(jni, OBJECTS, &err);
    }
    jw_store_relaxed(&is_told, 0);
    census_objects_close(&instances.all);
}

/* ---- reading ---- */

static bool take(JNIEnv *jni, jobjectArray figures)
{
    jlong *longs[PARTS] = {NULL};
    jlongArray arrays[PARTS] = {NULL};
    bool is_good = true;

    for (jsize i = 0; i < PARTS && is_good; i++) {
        arrays[i] = (*jni)->GetObjectArrayElement(jni, figures, i);
        longs[i] = arrays[i] == NULL ? NULL : (*jni)->GetLongArrayElements(jni, arrays[i], NULL);
        is_good = longs[i] != NULL;
    }
    if (is_good) {
        is_good = census_objects_take(&instances.all, (const int64_t *)longs[0],
                                      (size_t)(*jni)->GetArrayLength(jni, arrays[0]),
                                      (const int64_t *)longs[1],
                                      (size_t)(*jni)->GetArrayLength(jni, arrays[1]));
        instances.lost = (uint64_t)longs[2][0];
    }
    for (jsize i = 0; i < PARTS; i++)
        if (longs[i] != NULL)
            (*jni)->ReleaseLongArrayElements(jni, arrays[i], longs[i], JNI_ABORT);
    return is_good;
}

bool census_instances_read(JNIEnv *jni, struct jw_error *err)
{
    if (!census_instances_are_told())
        return true;
    if ((*jni)->PushLocalFrame(jni, READ_REFERENCES) != 0) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "locks=objects: the JVM has no memory left to read it");
        return false;
    }
    jobjectArray figures =
        (*jni)->CallStaticObjectMethod(jni, instances.objects, instances.figures);
    bool is_good = !instrument_has_thrown(jni, "locks=objects", err);

    if (is_good && (figures == NULL || !take(jni, figures))) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "locks=objects: no memory for which objects there are");
        is_good = false;
    }
    (*jni)->PopLocalFrame(jni, NULL);
    return is_good;
}

/* Where the JVM refuses, for want of memory, objects of the place that was here before may be told of the next one. */
void census_instances_forget(JNIEnv *jni, jintArray numbers, const uint32_t *sites, uint32_t count)
{
    struct jw_error err = {0};

    if (!census_instances_are_told())
        return;
    (*jni)->CallStaticVoidMethod(jni, instances.objects, instances.forget, numbers);
    (void)instrument_has_thrown(jni, OBJECTS, &err);
    census_objects_forget(&instances.all, sites, count);
}

/* ---- questions ---- */

bool instrument_census_objects(uint32_t site, struct instrument_lock_objects *out)
{
    struct census_objects_sum sum;

    if (!census_objects_sum_of(&instances.all, site, &sum))
        return false;
    *out = (struct instrument_lock_objects){
        .objects = sum.objects,
        .acquisitions = sum.acquisitions,
        .alone = sum.alone,
        .four_fifths = sum.four_fifths,
        .other_objects = sum.other_objects,
        .other_acquisitions = sum.other_acquisitions,
        .other_several = sum.other_several,
    };
    return true;
}

bool instrument_census_object(uint32_t site, uint32_t index, struct instrument_lock_object *out)
{
    struct census_object object;

    if (!census_objects_get(&instances.all, site, index, &object))
        return false;
    *out = (struct instrument_lock_object){object.hash, object.threads, object.acquisitions};
    return true;
}

uint64_t census_instances_lost(void)
{
    return instances.lost;
}
