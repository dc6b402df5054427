/* plugins - two libraries that come and go at one address, each called by a function named for it. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>

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
    /* From one to a hundred milliseconds, and now and then longer than a generation lasts. */
    const int times = rand_r(&state) % 16 == 0 ? 300 : 1 + rand_r(&state) % 20;
    for (int i = 0; i < times; i++)
        call(code, 4000000);
    dlclose(library);
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
