/* Ends of a process that Java cannot give itself, and the agent's C API without being linked with it: the natives of
 * ExitLives.java and ControlStorm.java. */
#include <dlfcn.h>
#include <jni.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

JNIEXPORT void JNICALL Java_ExitLives_end(JNIEnv *env, jclass class, jstring how, jint status)
{
    const char *text = (*env)->GetStringUTFChars(env, how, NULL);

    (void)class;
    if (strcmp(text, "exit") == 0)
        exit(status);
    if (strcmp(text, "_exit") == 0)
        _exit(status);
    if (strcmp(text, "quick_exit") == 0)
        quick_exit(status);
    abort();
}

JNIEXPORT void JNICALL Java_ExitLives_crash(JNIEnv *env, jclass class)
{
    const volatile uintptr_t nowhere = 16;

    (void)env;
    (void)class;
    *(volatile int *)nowhere = 1;
}

JNIEXPORT void JNICALL Java_ExitLives_kill(JNIEnv *env, jclass class, jint signal)
{
    (void)env;
    (void)class;
    kill(getpid(), signal);
}

JNIEXPORT void JNICALL Java_ExitLives_unload(JNIEnv *env, jclass class, jstring library)
{
    const char *path = (*env)->GetStringUTFChars(env, library, NULL);
    void *const handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    (void)class;
    (*env)->ReleaseStringUTFChars(env, library, path);
    for (int i = 0; handle != NULL && i < 10; i++)
        (void)dlclose(handle);
}

struct text {
    char *bytes;
    size_t used;
};

static void append(void *argument, const char *bytes, size_t length)
{
    struct text *text = argument;
    char *larger = realloc(text->bytes, text->used + length + 1);

    if (larger == NULL)
        return;
    memcpy(larger + text->used, bytes, length);
    text->bytes = larger;
    text->used += length;
    text->bytes[text->used] = '\0';
}

typedef int execute_function(const char *command,
                             void (*output)(void *argument, const char *text, size_t length),
                             void *argument);

static execute_function *find(const char *library)
{
    static execute_function *found;
    void *const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);

    if (handle == NULL)
        return found;
    *(void **)&found = dlsym(handle, "jaywalk_execute");
    dlclose(handle);
    return found;
}

static jstring execute(JNIEnv *env, jstring library, jstring command)
{
    const char *path = (*env)->GetStringUTFChars(env, library, NULL);
    const char *chars = (*env)->GetStringUTFChars(env, command, NULL);
    execute_function *const call = find(path);
    struct text text = {NULL, 0};
    char result[32];
    const int code = call == NULL ? -99 : call(chars, append, &text);

    append(&text, result, (size_t)snprintf(result, sizeof result, "= %d", code));
    (*env)->ReleaseStringUTFChars(env, library, path);
    (*env)->ReleaseStringUTFChars(env, command, chars);
    jstring answer = (*env)->NewStringUTF(env, text.bytes == NULL ? "" : text.bytes);
    free(text.bytes);
    return answer;
}

JNIEXPORT jstring JNICALL Java_ExitLives_execute(JNIEnv *env, jclass class, jstring library,
                                                 jstring command)
{
    (void)class;
    return execute(env, library, command);
}

JNIEXPORT jstring JNICALL Java_ControlStorm_execute(JNIEnv *env, jclass class, jstring library,
                                                    jstring command)
{
    (void)class;
    return execute(env, library, command);
}
