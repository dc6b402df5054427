/* proof - JNI as programs use it: arrays, strings, classes, and Java called by the C library's sort. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX 256

static __thread JNIEnv *sorting;
static __thread jclass proof;
static __thread jmethodID given;

static int by_java(const void *one, const void *other)
{
    const int order = (*sorting)->CallStaticIntMethod(sorting, proof, given, *(const jint *)one,
                                                      *(const jint *)other);

    __asm__ volatile("" ::: "memory"); /* the call is no jump */
    return order;
}

JNIEXPORT jlong JNICALL Java_Proof_work(JNIEnv *env, jclass self, jintArray numbers);
JNIEXPORT jlong JNICALL Java_Proof_work(JNIEnv *env, jclass self, jintArray numbers)
{
    const jsize count = (*env)->GetArrayLength(env, numbers);
    jint copy[NUMBERS_MAX];

    if (count > NUMBERS_MAX)
        return -1;
    (*env)->GetIntArrayRegion(env, numbers, 0, count, copy);
    sorting = env;
    proof = self;
    given = (*env)->GetStaticMethodID(env, self, "given", "(II)I");
    qsort(copy, (size_t)count, sizeof copy[0], by_java);

    jlong sum = 0;
    jint *critical = (*env)->GetPrimitiveArrayCritical(env, numbers, NULL);
    for (jsize i = 0; critical != NULL && i < count; i++)
        sum += critical[i] ^ copy[i];
    if (critical != NULL)
        (*env)->ReleasePrimitiveArrayCritical(env, numbers, critical, JNI_ABORT);
    jstring text = (*env)->NewStringUTF(env, "java/lang/String");
    const char *name = text != NULL ? (*env)->GetStringUTFChars(env, text, NULL) : NULL;
    if (name != NULL) {
        sum += (*env)->FindClass(env, name) != NULL;
        (*env)->ReleaseStringUTFChars(env, text, name);
    }
    return sum;
}
