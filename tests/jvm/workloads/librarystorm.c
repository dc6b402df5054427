/* librarystorm - loads a library, calls its code and unloads it, all below a function that says which library it is. */
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef long burn(long rounds);

static __thread volatile long sink;
static __thread unsigned state;

static long own_cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000L + used.tv_nsec;
}

/* A moment: from none to 2 ms, and at times 30. */
static long moment_ns(void)
{
    return rand_r(&state) % 64 == 0 ? 30000000 : rand_r(&state) % 2000000;
}

static inline __attribute__((always_inline)) void visit(const char *path, long cpu_ns)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    burn *code = NULL;

    if (library != NULL)
        *(void **)&code = dlsym(library, "storm_burn");
    if (code == NULL) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        exit(3);
    }
    const long end_ns = own_cpu_ns() + (cpu_ns != 0 ? cpu_ns : moment_ns());
    do
        sink += code(20000);
    while (own_cpu_ns() < end_ns);
    dlclose(library);
}

#define VISITOR(number)                                                                            \
    __attribute__((noinline)) static void visits_##number(const char *path, long cpu_ns)           \
    {                                                                                              \
        visit(path, cpu_ns);                                                                       \
        sink += number;                                                                            \
    }

VISITOR(0)
VISITOR(1)
VISITOR(2)
VISITOR(3)
VISITOR(4)
VISITOR(5)
VISITOR(6)
VISITOR(7)

JNIEXPORT void JNICALL Java_LibraryStorm_visit(JNIEnv *env, jclass type, jint number,
                                               jstring library, jlong cpu_ms)
{
    static void (*const visitors[])(const char *, long) = {visits_0, visits_1, visits_2, visits_3,
                                                           visits_4, visits_5, visits_6, visits_7};
    const char *path = (*env)->GetStringUTFChars(env, library, NULL);

    (void)type;
    if (state == 0)
        state = (unsigned)number + 1;
    visitors[number](path, cpu_ms * 1000000);
    (*env)->ReleaseStringUTFChars(env, library, path);
}
