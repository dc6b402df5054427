/* Loaders of classes with locks. Context: see the header. */
#include "instrument/instrument_census_loaders.h"

#include <pthread.h>
#include <string.h>

#include "base/atomics.h"
#include "base/memory.h"
#include "instrument/instrument_internal.h"

#define LOADERS              "java/lang/JaywalkLoaders"
#define ASK_MS               2000
#define LOCAL_REFERENCES_MAX 65535 /* JVMTI answers lists with one local reference each */
#define ASKED_MOST           4096u /* loaders, at a time */

static struct {
    jclass loaders;    /* global; JaywalkLoaders */
    jclass any_loader; /* global; ClassLoader */
    jmethodID is_told, ask;
} java;

/* Around what follows, and around the JVM's tags: a thread that waits here holds nobody up. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used[CENSUS_LOADERS_WORDS]; /* bits of numbers that are given out */
static uint32_t next_number = 1;

/* relaxed: a loader knows what it knows, whenever that is seen; and who is gone stays so until its number is given back. */
static _Atomic uint64_t known[CENSUS_LOADERS_WORDS];
static _Atomic uint64_t gone[CENSUS_LOADERS_WORDS];

static bool find_java(JNIEnv *jni, struct jw_error *err)
{
    jclass loaders = (*jni)->FindClass(jni, LOADERS);
    jclass any = loaders == NULL ? NULL : (*jni)->FindClass(jni, "java/lang/ClassLoader");

    if (any != NULL)
        java.is_told =
            (*jni)->GetStaticMethodID(jni, loaders, "isTold", "(Ljava/lang/ClassLoader;)Z");
    if (java.is_told != NULL)
        java.ask = (*jni)->GetStaticMethodID(jni, loaders, "ask", "([Ljava/lang/ClassLoader;I)[Z");
    if (instrument_has_thrown(jni, LOADERS, err))
        return false;
    java.any_loader = (*jni)->NewGlobalRef(jni, any);
    java.loaders = java.any_loader == NULL ? NULL : (*jni)->NewGlobalRef(jni, loaders);
    (*jni)->DeleteLocalRef(jni, loaders);
    (*jni)->DeleteLocalRef(jni, any);
    if (java.loaders == NULL)
        jw_error_set(err, "the JVM has no memory left for a reference");
    return java.loaders != NULL;
}

bool census_loaders_open(JNIEnv *jni, struct jw_error *err)
{
    const jvmtiCapabilities needed = {.can_tag_objects = 1, .can_generate_object_free_events = 1};
    jvmtiEnv *jvmti = instrument_jvmti;
    jvmtiError error;

    if (java.loaders != NULL)
        return true;
    error = (*jvmti)->AddCapabilities(jvmti, &needed);
    if (error == JVMTI_ERROR_NONE)
        error =
            (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL);
    if (error != JVMTI_ERROR_NONE) {
        jw_error_set(err, "the JVM does not tell which loaders it has collected (JVMTI error %d)",
                     error);
        return false;
    }
    return find_java(jni, err);
}

/* ---- bits ---- */

static bool has_bit(const uint64_t *bits, uint32_t number)
{
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

static bool is_known(uint32_t number)
{
    return (jw_load_relaxed(&known[number / 64]) >> number % 64 & 1) != 0;
}

static void note_known(uint32_t number)
{
    (void)jw_or_relaxed(&known[number / 64], UINT64_C(1) << number % 64);
}

void JNICALL census_loaders_on_object_free(jvmtiEnv *jvmti, jlong tag)
{
    (void)jvmti;
    if (tag > 0 && tag < CENSUS_LOADERS_LIMIT)
        (void)jw_or_relaxed(&gone[tag / 64], UINT64_C(1) << tag % 64);
}

uint32_t census_loaders_gone(uint64_t bits[CENSUS_LOADERS_WORDS])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < CENSUS_LOADERS_WORDS; i++) {
        bits[i] = jw_load_relaxed(&gone[i]);
        count += (uint32_t)__builtin_popcountll(bits[i]);
    }
    return count;
}

void census_loaders_give_back(const uint64_t bits[CENSUS_LOADERS_WORDS])
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < CENSUS_LOADERS_WORDS; i++) {
        (void)jw_and_relaxed(&known[i], ~bits[i]);
        (void)jw_and_relaxed(&gone[i], ~bits[i]);
        used[i] &= ~bits[i];
    }
    pthread_mutex_unlock(&lock);
}

/* ---- numbers ---- */

/* The lock is held. CENSUS_LOADER_NONE: there is none left. */
static uint32_t free_number(void)
{
    for (uint32_t i = 0; i < CENSUS_LOADERS_LIMIT; i++) {
        const uint32_t number = (next_number + i) % CENSUS_LOADERS_LIMIT;

        if (number != CENSUS_LOADER_BOOT && !has_bit(used, number))
            return number;
    }
    return CENSUS_LOADER_NONE;
}

static uint32_t take_number(jobject loader)
{
    const uint32_t number = free_number();

    if (number == CENSUS_LOADER_NONE ||
        (*instrument_jvmti)->SetTag(instrument_jvmti, loader, number) != JVMTI_ERROR_NONE)
        return CENSUS_LOADER_NONE;
    used[number / 64] |= UINT64_C(1) << number % 64;
    next_number = number + 1;
    return number;
}

uint32_t census_loader_of(jobject loader)
{
    jlong tag = 0;
    uint32_t number;

    if (loader == NULL)
        return CENSUS_LOADER_BOOT;
    if ((*instrument_jvmti)->GetTag(instrument_jvmti, loader, &tag) == JVMTI_ERROR_NONE && tag != 0)
        return (uint32_t)tag;
    pthread_mutex_lock(&lock);
    if ((*instrument_jvmti)->GetTag(instrument_jvmti, loader, &tag) != JVMTI_ERROR_NONE)
        number = CENSUS_LOADER_NONE;
    else
        number = tag != 0 ? (uint32_t)tag : take_number(loader);
    pthread_mutex_unlock(&lock);
    return number;
}

/* ---- whether they give our class ---- */

static bool is_told(JNIEnv *jni, jobject loader)
{
    const bool is_good = (*jni)->CallStaticBooleanMethod(jni, java.loaders, java.is_told, loader);
    if (!(*jni)->ExceptionCheck(jni))
        return is_good;
    (*jni)->ExceptionClear(jni);
    return false;
}

bool census_loader_knows(JNIEnv *jni, jobject loader, uint32_t number, bool is_loading)
{
    if (number == CENSUS_LOADER_BOOT)
        return true;
    if (number == CENSUS_LOADER_NONE)
        return false;
    if (is_known(number))
        return true;
    if (!is_loading || (*jni)->ExceptionCheck(jni) || !is_told(jni, loader))
        return false;
    note_known(number);
    return true;
}

/* ---- those of classes that are loaded ---- */

/* Loaders that are not known, one reference each. */
static uint32_t find_loaders(JNIEnv *jni, const jclass *classes, uint32_t count, jobject *out,
                             uint32_t *numbers)
{
    static uint64_t seen[CENSUS_LOADERS_WORDS];
    uint32_t found = 0;

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < count && found < ASKED_MOST; i++) {
        jobject loader = NULL;

        if ((*instrument_jvmti)->GetClassLoader(instrument_jvmti, classes[i], &loader) !=
                JVMTI_ERROR_NONE ||
            loader == NULL)
            continue;
        const uint32_t number = census_loader_of(loader);
        if (number == CENSUS_LOADER_NONE || is_known(number) || has_bit(seen, number) ||
            instrument_is_probe_loader(jni, loader)) {
            (*jni)->DeleteLocalRef(jni, loader);
            continue;
        }
        seen[number / 64] |= UINT64_C(1) << number % 64;
        numbers[found] = number;
        out[found++] = loader;
    }
    return found;
}

static void ask_them(JNIEnv *jni, const jobject *loaders, const uint32_t *numbers, uint32_t count)
{
    jobjectArray all = (*jni)->NewObjectArray(jni, (jsize)count, java.any_loader, NULL);
    jbooleanArray answers = NULL;

    for (uint32_t i = 0; all != NULL && i < count; i++)
        (*jni)->SetObjectArrayElement(jni, all, (jsize)i, loaders[i]);
    if (all != NULL)
        answers = (*jni)->CallStaticObjectMethod(jni, java.loaders, java.ask, all, (jint)ASK_MS);
    if (answers != NULL && !(*jni)->ExceptionCheck(jni)) {
        for (uint32_t i = 0; i < count; i++) {
            jboolean is_good = JNI_FALSE;

            (*jni)->GetBooleanArrayRegion(jni, answers, (jsize)i, 1, &is_good);
            if (is_good)
                note_known(numbers[i]);
        }
    }
    (*jni)->ExceptionClear(jni);
}

void census_loaders_ask(JNIEnv *jni)
{
    jobject *loaders = jw_alloc(ASKED_MOST * sizeof *loaders);
    uint32_t *numbers = jw_alloc(ASKED_MOST * sizeof *numbers);
    jclass *classes = NULL;
    jint count = 0;

    if (loaders != NULL && numbers != NULL &&
        (*jni)->PushLocalFrame(jni, LOCAL_REFERENCES_MAX) == 0) {
        if ((*instrument_jvmti)->GetLoadedClasses(instrument_jvmti, &count, &classes) ==
            JVMTI_ERROR_NONE) {
            const uint32_t found = find_loaders(jni, classes, (uint32_t)count, loaders, numbers);

            if (found != 0)
                ask_them(jni, loaders, numbers, found);
            (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)classes);
        }
        (*jni)->PopLocalFrame(jni, NULL);
    }
    (*jni)->ExceptionClear(jni);
    jw_free(loaders);
    jw_free(numbers);
}
