/* References of JNI that come and go, exceptions through it, natives that are registered anew while they are called,
 * memory that both sides see. */
#include "chaos.h"

#include <stdlib.h>
#include <string.h>

#define HELD 200

/* Arrays whose one element is their number: strong ones keep it, weak ones have it or nothing. */
static void hold_references(struct storm *storm)
{
    JNIEnv *env = storm->env;
    jobject strong[HELD];
    jweak weak[HELD];
    int held = 0;

    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    for (; held < HELD; held++) {
        const jint number = held;
        jintArray array = (*env)->NewIntArray(env, 1);

        if (array == NULL) {
            (*env)->ExceptionClear(env);
            break;
        }
        (*env)->SetIntArrayRegion(env, array, 0, 1, &number);
        strong[held] = (*env)->NewGlobalRef(env, array);
        weak[held] = (*env)->NewWeakGlobalRef(env, array);
        (*env)->DeleteLocalRef(env, array);
    }
    chaos_burn_us(1000);
    for (int i = 0; i < held; i++) {
        jint number = -1;
        jobject local;

        (*env)->GetIntArrayRegion(env, strong[i], 0, 1, &number);
        STORM_EXPECT(storm, number == i, "a global reference leads to %d, not %d", number, i);
        local = (*env)->NewLocalRef(env, weak[i]);
        STORM_EXPECT(storm, local != NULL && (*env)->IsSameObject(env, local, strong[i]),
                     "a weak reference leads elsewhere");
        (*env)->DeleteLocalRef(env, local);
        (*env)->DeleteGlobalRef(env, strong[i]);
        (*env)->DeleteWeakGlobalRef(env, weak[i]);
    }
    (*env)->PopLocalFrame(env, NULL);
    storm_has_thrown(storm, env, "a reference");
}

/* Thrown in C, passed on by Java, caught in C, and the other way round. */
static void throw_through(struct storm *storm, uint64_t *random)
{
    JNIEnv *env = storm->env;
    const jmethodID bounce = (*env)->GetStaticMethodID(env, storm->java, "bounce", "(II)I");
    const jint depth = 3 + (jint)chaos_random_below(random, 30); /* one of four levels catches */
    const jint number = (jint)chaos_random_below(random, 1000);
    const jint answer = (*env)->CallStaticIntMethod(env, storm->java, bounce, depth, number);

    if (!storm_has_thrown(storm, env, "bounce"))
        STORM_EXPECT(storm, answer == number + depth, "exceptions through JNI carry %d, not %d",
                     answer, number + depth);
}

/* Throws an ArithmeticException with this number as its text once the depth is used up. */
JNIEXPORT jint JNICALL Java_NativeStorm_bounceNative(JNIEnv *env, jclass class, jint depth,
                                                     jint number)
{
    const jmethodID bounce = (*env)->GetStaticMethodID(env, class, "bounce", "(II)I");
    jint answer;

    chaos_burn_us(5);
    if (depth == 0) {
        (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/ArithmeticException"), "bounced");
        return -1;
    }
    answer = (*env)->CallStaticIntMethod(env, class, bounce, depth - 1, number);
    return (*env)->ExceptionCheck(env) ? -1 : answer + 1;
}

static jint JNICALL give_one(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)chaos_compute(1, 50) & 0 ? 0 : 1;
}

static jint JNICALL give_two(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)chaos_compute(2, 50) & 0 ? 0 : 2;
}

static void register_anew(struct storm *storm)
{
    JNIEnv *env = storm->env;
    const JNINativeMethod one = {"registered", "()I", (void *)(uintptr_t)&give_one};
    const JNINativeMethod two = {"registered", "()I", (void *)(uintptr_t)&give_two};
    const jmethodID call = (*env)->GetStaticMethodID(env, storm->java, "callRegistered", "(I)I");

    for (int turn = 0; turn < 6; turn++) {
        jint sum;

        if ((*env)->RegisterNatives(env, storm->java, turn & 1 ? &two : &one, 1) != JNI_OK) {
            storm_violated(storm, "RegisterNatives failed");
            break;
        }
        sum = (*env)->CallStaticIntMethod(env, storm->java, call, 500);
        if (storm_has_thrown(storm, env, "callRegistered"))
            break;
        STORM_EXPECT(storm, sum == (turn & 1 ? 1000 : 500), "a registered native gives %d of 500",
                     sum);
    }
}

static void share_memory(struct storm *storm, uint64_t *random)
{
    JNIEnv *env = storm->env;
    const jmethodID sum =
        (*env)->GetStaticMethodID(env, storm->java, "sumAndWipe", "(Ljava/nio/ByteBuffer;)J");
    const size_t length_bytes = 1 + (size_t)chaos_random_below(random, 100000);
    uint8_t *bytes = malloc(length_bytes);
    jobject buffer;
    jlong expected = 0;

    if (bytes == NULL)
        return;
    chaos_fill(bytes, length_bytes, chaos_random(random));
    for (size_t i = 0; i < length_bytes; i++)
        expected += bytes[i];
    buffer = (*env)->NewDirectByteBuffer(env, bytes, (jlong)length_bytes);
    if (buffer != NULL) {
        const jlong told = (*env)->CallStaticLongMethod(env, storm->java, sum, buffer);

        if (!storm_has_thrown(storm, env, "sumAndWipe"))
            STORM_EXPECT(storm, (*env)->GetDirectBufferAddress(env, buffer) == bytes,
                         "a direct buffer lies elsewhere");
        STORM_EXPECT(storm, told == expected, "Java sums %ld, not %ld", (long)told, (long)expected);
        (*env)->DeleteLocalRef(env, buffer);
    }
    storm_has_thrown(storm, env, "NewDirectByteBuffer");
    for (size_t i = 0; i < length_bytes; i++)
        if (bytes[i] != 0) {
            storm_violated(storm, "what Java wrote is not there");
            break;
        }
    free(bytes);
}

void references_round(struct storm *storm)
{
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        hold_references(storm);
        for (int i = 0; i < 5; i++)
            throw_through(storm, &random);
        register_anew(storm);
        share_memory(storm, &random);
        storm_did(storm, 8);
        chaos_sleep_us(1000);
    }
}
