/* mixed - native code that Java calls and that calls Java: a sort by a comparator of Java, and a thread that attaches itself. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>

/* What a call is made for stays behind it: no call is a jump. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static JavaVM *java;
static jclass mixed;
static jmethodID compare, spin;
static __thread JNIEnv *sorting;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    java = vm;
    return JNI_VERSION_1_8;
}

JNIEXPORT void JNICALL Java_Mixed_prepare(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_Mixed_prepare(JNIEnv *env, jclass self)
{
    mixed = (*env)->NewGlobalRef(env, self);
    compare = (*env)->GetStaticMethodID(env, self, "compare", "(II)I");
    spin = (*env)->GetStaticMethodID(env, self, "spin", "()V");
}

static __attribute__((noinline)) int by_java(const void *one, const void *other)
{
    const int order = (*sorting)->CallStaticIntMethod(sorting, mixed, compare, *(const int *)one,
                                                      *(const int *)other);

    AFTER_CALL();
    return order;
}

JNIEXPORT void JNICALL Java_Mixed_sort(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_Mixed_sort(JNIEnv *env, jclass self)
{
    int numbers[] = {2, 1};

    (void)self;
    sorting = env;
    qsort(numbers, 2, sizeof numbers[0], by_java);
    AFTER_CALL();
}

JNIEXPORT void JNICALL Java_Mixed_back(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_Mixed_back(JNIEnv *env, jclass self)
{
    (*env)->CallStaticVoidMethod(env, self, spin);
    AFTER_CALL();
}

static void *attached(void *none)
{
    char name[] = "attached";
    JavaVMAttachArgs args = {.version = JNI_VERSION_1_8, .name = name};
    JNIEnv *env = NULL;

    (void)none;
    if ((*java)->AttachCurrentThread(java, (void **)&env, &args) != JNI_OK)
        abort();
    (*env)->CallStaticVoidMethod(env, mixed, spin);
    (void)(*java)->DetachCurrentThread(java);
    return NULL;
}

/* Runs a thread that no one but libc began, to its end. */
JNIEXPORT void JNICALL Java_Mixed_attach(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_Mixed_attach(JNIEnv *env, jclass self)
{
    pthread_t thread;

    (void)env;
    (void)self;
    if (pthread_create(&thread, NULL, attached, NULL) != 0 || pthread_join(thread, NULL) != 0)
        abort();
}
