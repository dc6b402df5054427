/* plugins - two libraries that come and go at one address, each called by a function named for it. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef long burn(long rounds);

static volatile long sink;
static unsigned state = 1;

__attribute__((noinline)) static void calls_first(burn *code, long rounds)
{
    sink += code(rounds);
}

__attribute__((noinline)) static void calls_second(burn *code, long rounds)
{
    sink += code(rounds) + 1;
}

static void load_and_call(const char *path, const char *name, void (*call)(burn *, long))
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    burn *code = NULL;

    if (library != NULL)
        *(void **)&code = dlsym(library, name);
    if (code == NULL) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        exit(3);
    }
    /* From one to a hundred milliseconds, and now and then some hundred. */
    const int times = rand_r(&state) % 16 == 0 ? 300 : 1 + rand_r(&state) % 20;
    for (int i = 0; i < times; i++)
        call(code, 4000000);
    dlclose(library);
}

/* Three seconds of CPU time: of a library that stays each generation but the first ones has all. */
JNIEXPORT void JNICALL Java_Plugins_stay(JNIEnv *env, jclass type, jstring first)
{
    const char *path = (*env)->GetStringUTFChars(env, first, NULL);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const clock_t end = clock() + 3 * CLOCKS_PER_SEC;
    burn *code = NULL;

    (void)type;
    if (library != NULL)
        *(void **)&code = dlsym(library, "burn_first");
    if (code == NULL) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        exit(3);
    }
    while (clock() < end)
        calls_first(code, 4000000);
    (*env)->ReleaseStringUTFChars(env, first, path);
}

JNIEXPORT void JNICALL Java_Plugins_run(JNIEnv *env, jclass type, jstring first, jstring second)
{
    const char *paths[] = {(*env)->GetStringUTFChars(env, first, NULL),
                           (*env)->GetStringUTFChars(env, second, NULL)};

    (void)type;
    load_and_call(paths[0], "burn_first", calls_first);
    load_and_call(paths[1], "burn_second", calls_second);
    (*env)->ReleaseStringUTFChars(env, first, paths[0]);
    (*env)->ReleaseStringUTFChars(env, second, paths[1]);
}
