/* Stacks that end in C that Java called: Java and C call each other until one of them is told that the stack is full. The
 * thread goes on afterwards, with all that it held. */
#include "chaos.h"

#include <string.h>

/* Frames of some size between those of Java, as JNI code has them. */
__attribute__((noinline)) static jint call_java(JNIEnv *env, jclass class, jint depth, int room)
{
    const jmethodID down = (*env)->GetStaticMethodID(env, class, "down", "(I)I");
    uint8_t bytes[2048];
    const uint64_t seed = (uint64_t)depth;
    jint answer;

    if (down == NULL)
        return -1;
    chaos_fill(bytes, sizeof bytes, seed);
    if (room > 0)
        answer = call_java(env, class, depth, room - 1);
    else
        answer = (*env)->CallStaticIntMethod(env, class, down, depth + 1);
    if (room == 0 && (*env)->ExceptionCheck(env))
        answer = -1;
    /* What the frame held is there, whether an exception is under way or not. */
    return chaos_is_filled(bytes, sizeof bytes, seed) ? answer : -2;
}

/* Goes on to Java, deeper by one; an error that comes back passes on. */
JNIEXPORT jint JNICALL Java_NativeStorm_downNative(JNIEnv *env, jclass class, jint depth)
{
    return call_java(env, class, depth, depth % 3);
}

static void *fall(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    JNIEnv *env = NULL;
    jmethodID begin;

    if ((*storm->vm)->AttachCurrentThreadAsDaemon(storm->vm, (void **)&env, NULL) != JNI_OK) {
        storm_violated(storm, "AttachCurrentThreadAsDaemon failed");
        return NULL;
    }
    begin = (*env)->GetStaticMethodID(env, storm->java, "fall", "()I");
    while (storm_goes_on(storm)) {
        const jint depth = (*env)->CallStaticIntMethod(env, storm->java, begin);

        /* m12: the stack was used up, and what lay on it was right. */
        if (!storm_has_thrown(storm, env, "fall"))
            STORM_EXPECT(storm, depth > 20, "the stack ended at depth %d", depth);
        storm_did(storm, 1);
        chaos_sleep_us((int64_t)chaos_random_below(&random, 5000));
    }
    (*storm->vm)->DetachCurrentThread(storm->vm);
    return NULL;
}

/*
 * Threads of a MiB, so that a fall is soon over; one falls on the thread of the round itself. They have no guard of the C library's:
 * from glibc 2.43 on a thread of Java, which has none, may get such a stack with the guard as a part of it, and there the JVM's own guards
 * of the two lie a page apart; what it leaves of the first one kills it when the second falls (JDK 21 and 28, without any agent).
 */
void overflow_round(struct storm *storm)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool is_begun;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_attr_setguardsize(&attributes, 0);
    is_begun = pthread_create(&thread, &attributes, fall, storm) == 0;
    pthread_attr_destroy(&attributes);
    if (is_begun)
        pthread_join(thread, NULL);
}
