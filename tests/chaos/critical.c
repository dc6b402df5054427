/* Arrays and strings held as they lie in the heap, while a processor burns and others make the collector run. What is
 * held does not move, and what was written is there afterwards. */
#include "chaos.h"

#include <stdio.h>
#include <string.h>

#define LENGTH 4096

struct worker {
    struct storm *storm;
    JNIEnv *env;
    uint64_t random;
};

static JNIEnv *attach(struct storm *storm)
{
    JNIEnv *env = NULL;

    if ((*storm->vm)->AttachCurrentThreadAsDaemon(storm->vm, (void **)&env, NULL) != JNI_OK)
        storm_violated(storm, "AttachCurrentThreadAsDaemon failed");
    return env;
}

/* m14: nobody may ask the JVM for anything while this thread holds an array, a profiler least of all. */
static void hold_array(struct worker *worker)
{
    JNIEnv *env = worker->env;
    const uint64_t seed = chaos_random(&worker->random);
    jbyteArray array = (*env)->NewByteArray(env, LENGTH);
    uint8_t *bytes;
    jboolean is_copy;

    if (array == NULL) {
        (*env)->ExceptionClear(env);
        return;
    }
    for (int turn = 0; turn < 4; turn++) {
        bytes = (*env)->GetPrimitiveArrayCritical(env, array, &is_copy);
        if (bytes == NULL) {
            (*env)->ExceptionClear(env);
            break;
        }
        if (turn > 0)
            STORM_EXPECT(worker->storm, chaos_is_filled(bytes, LENGTH, seed + (uint64_t)turn - 1),
                         "an array changed between two times that it was held");
        chaos_fill(bytes, LENGTH, seed + (uint64_t)turn);
        chaos_burn_us((int64_t)chaos_random_below(&worker->random, 1500));
        STORM_EXPECT(worker->storm, chaos_is_filled(bytes, LENGTH, seed + (uint64_t)turn),
                     "an array changed while it was held");
        (*env)->ReleasePrimitiveArrayCritical(env, array, bytes, 0);
    }
    (*env)->DeleteLocalRef(env, array);
}

static void hold_string(struct worker *worker)
{
    JNIEnv *env = worker->env;
    jchar text[64];
    const jchar *chars;
    jstring string;

    for (int i = 0; i < 64; i++)
        text[i] = (jchar)(chaos_random(&worker->random) & 0x7fff) | 0x100;
    string = (*env)->NewString(env, text, 64);
    chars = string == NULL ? NULL : (*env)->GetStringCritical(env, string, NULL);
    if (chars == NULL) {
        (*env)->ExceptionClear(env);
        return;
    }
    chaos_burn_us((int64_t)chaos_random_below(&worker->random, 1000));
    STORM_EXPECT(worker->storm, memcmp(chars, text, sizeof text) == 0,
                 "a string changed while it was held");
    (*env)->ReleaseStringCritical(env, string, chars);
    (*env)->DeleteLocalRef(env, string);
}

static void *hold(void *argument)
{
    struct storm *storm = argument;
    struct worker worker = {.storm = storm, .env = attach(storm), .random = storm_seed(storm)};

    if (worker.env == NULL)
        return NULL;
    while (storm_goes_on(storm)) {
        if (chaos_random(&worker.random) & 1)
            hold_array(&worker);
        else
            hold_string(&worker);
        storm_did(storm, 1);
        chaos_sleep_us(500);
    }
    (*storm->vm)->DetachCurrentThread(storm->vm);
    return NULL;
}

/* Makes garbage as fast as it may, so that there are collections for the others to hold up. */
static void *litter(void *argument)
{
    struct storm *storm = argument;
    JNIEnv *env = attach(storm);

    if (env == NULL)
        return NULL;
    while (storm_goes_on(storm)) {
        for (int i = 0; i < 16; i++) {
            jbyteArray array = (*env)->NewByteArray(env, 64 << 10);

            if (array == NULL)
                (*env)->ExceptionClear(env);
            else
                (*env)->DeleteLocalRef(env, array);
        }
        storm_did(storm, 16);
        chaos_sleep_us(1000);
    }
    (*storm->vm)->DetachCurrentThread(storm->vm);
    return NULL;
}

void critical_round(struct storm *storm)
{
    pthread_t litterer;
    const bool is_littering = pthread_create(&litterer, NULL, litter, storm) == 0;

    storm_threads(storm, 2 * storm->intensity, hold, storm);
    if (is_littering)
        pthread_join(litterer, NULL);
}
