/* The C API called from a library of a Java program: the natives of ApiFromC.java. */
#include <jaywalk.h>
#include <jni.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

JNIEXPORT jint JNICALL Java_ApiFromC_set(JNIEnv *env, jclass class, jlong span)
{
    (void)env;
    (void)class;
    return jaywalk_context_set(1, (uint64_t)span, (uint64_t)span, (uint64_t)span);
}

JNIEXPORT void JNICALL Java_ApiFromC_clear(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    jaywalk_context_clear();
}

JNIEXPORT jint JNICALL Java_ApiFromC_attribute(JNIEnv *env, jclass class, jstring name,
                                               jstring value)
{
    const char *name_chars = (*env)->GetStringUTFChars(env, name, NULL);
    const char *value_chars = (*env)->GetStringUTFChars(env, value, NULL);
    const int result =
        jaywalk_attribute_set(jaywalk_attribute(name_chars), value_chars, strlen(value_chars));

    (void)class;
    (*env)->ReleaseStringUTFChars(env, name, name_chars);
    (*env)->ReleaseStringUTFChars(env, value, value_chars);
    return result;
}

JNIEXPORT jint JNICALL Java_ApiFromC_endpoint(JNIEnv *env, jclass class, jlong root, jstring name)
{
    const char *chars = (*env)->GetStringUTFChars(env, name, NULL);
    const int result = jaywalk_endpoint((uint64_t)root, chars, NULL);

    (void)class;
    (*env)->ReleaseStringUTFChars(env, name, chars);
    return result;
}

JNIEXPORT jint JNICALL Java_ApiFromC_add(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return jaywalk_thread_add();
}

struct text {
    char bytes[4096];
    size_t used;
};

static void append(void *argument, const char *bytes, size_t length)
{
    struct text *text = argument;
    const size_t room = sizeof text->bytes - 1 - text->used;

    memcpy(text->bytes + text->used, bytes, length < room ? length : room);
    text->used += length < room ? length : room;
}

JNIEXPORT jstring JNICALL Java_ApiFromC_execute(JNIEnv *env, jclass class, jstring command)
{
    const char *chars = (*env)->GetStringUTFChars(env, command, NULL);
    struct text text = {{0}, 0};

    (void)class;
    (void)jaywalk_execute(chars, append, &text);
    (*env)->ReleaseStringUTFChars(env, command, chars);
    return (*env)->NewStringUTF(env, text.bytes);
}

/* What a child of this process learns when it gives a command; 127: it was ended because it learnt nothing. */
JNIEXPORT jint JNICALL Java_ApiFromC_askInChild(JNIEnv *env, jclass class, jstring command)
{
    const char *chars = (*env)->GetStringUTFChars(env, command, NULL);
    const pid_t child = fork();
    int status = 0;

    (void)class;
    if (child == 0) {
        alarm(20);
        _exit(-jaywalk_execute(chars, NULL, NULL));
    }
    (*env)->ReleaseStringUTFChars(env, command, chars);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 127;
    return -WEXITSTATUS(status);
}

/* The low byte of the span id in the record that the symbol names. */
extern __thread const unsigned char *otel_thread_ctx_v1;

JNIEXPORT jlong JNICALL Java_ApiFromC_seen(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return otel_thread_ctx_v1 == NULL || otel_thread_ctx_v1[24] != 1 ? 0 : otel_thread_ctx_v1[23];
}

JNIEXPORT void JNICALL Java_ApiFromC_burn(JNIEnv *env, jclass class, jlong millis)
{
    struct timespec begin, now;

    (void)env;
    (void)class;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < millis);
}
