/* The native storms: their table, and what they have in common. */
#include "chaos.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*round)(struct storm *storm);
} storms[] = {
    {"attach", attach_round},
    {"tls", tls_round},
    {"libraries", libraries_round},
    {"malloc", malloc_round},
    {"stacks", stacks_round},
    {"frames", frames_round},
    {"generated", generated_round},
    {"blocked", blocked_round},
    {"segv", segv_round},
    {"critical", critical_round},
    {"references", references_round},
    {"children", children_round},
    {"waits", waits_round},
    {"bytes", bytes_round},
    {"clocks", clocks_round},
    {"descriptors", descriptors_round},
    {"overflow", overflow_round},
    {"kernel", kernel_round},
};

static void tell(struct storm *storm, const char *word, const char *format, va_list arguments)
{
    char line[512];
    int length;

    vsnprintf(line, sizeof line, format, arguments);
    pthread_mutex_lock(&storm->lock);
    length = snprintf(storm->told + storm->told_bytes, sizeof storm->told - storm->told_bytes,
                      "%s %s\n", word, line);
    if (length > 0 && storm->told_bytes + (size_t)length < sizeof storm->told)
        storm->told_bytes += (size_t)length;
    storm->told[storm->told_bytes] = '\0';
    pthread_mutex_unlock(&storm->lock);
}

void storm_violated(struct storm *storm, const char *format, ...)
{
    va_list arguments;

    atomic_fetch_add(&storm->violations, 1);
    va_start(arguments, format);
    tell(storm, "violated", format, arguments);
    va_end(arguments);
}

void storm_skipped(struct storm *storm, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(storm, "skipped", format, arguments);
    va_end(arguments);
}

bool storm_has_thrown(struct storm *storm, JNIEnv *env, const char *what)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    (*env)->ExceptionClear(env);
    storm_violated(storm, "%s threw an exception", what);
    return true;
}

int64_t chaos_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * CHAOS_S + now.tv_nsec;
}

bool storm_goes_on(const struct storm *storm)
{
    return chaos_now_ns() < storm->end_ns;
}

uint64_t chaos_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t chaos_random_below(uint64_t *state, uint64_t limit)
{
    return (chaos_random(state) >> 11) % limit;
}

uint64_t storm_seed(struct storm *storm)
{
    static _Atomic uint64_t calls;
    uint64_t state = storm->seed + (atomic_fetch_add(&calls, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15);

    state |= 1;
    return chaos_random(&state) | 1;
}

__attribute__((noinline)) uint64_t chaos_compute(uint64_t start, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        start = (start << 7 | start >> 57) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return start;
}

void chaos_burn_us(int64_t us)
{
    static _Atomic uint64_t sink;
    struct timespec time;
    int64_t end_ns;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    end_ns = time.tv_sec * CHAOS_S + time.tv_nsec + us * 1000;
    do {
        atomic_store_explicit(&sink, chaos_compute((uint64_t)end_ns, 500), memory_order_relaxed);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    } while (time.tv_sec * CHAOS_S + time.tv_nsec < end_ns);
}

void chaos_sleep_us(int64_t us)
{
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

void chaos_limit_child(void)
{
    sigset_t set;

    signal(SIGALRM, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(60);
}

void storm_threads(struct storm *storm, int count, chaos_thread *function, void *argument)
{
    pthread_t threads[64];
    int begun = 0;

    if (count > 64)
        count = 64;
    while (begun < count) {
        const int error = pthread_create(&threads[begun], NULL, function, argument);

        if (error != 0) {
            storm_violated(storm, "no thread: %s", strerror(error));
            break;
        }
        begun++;
    }
    for (int i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
}

bool storm_plugin_path(struct storm *storm, const char *name, char *path, size_t room_bytes)
{
    snprintf(path, room_bytes, "%s/lib%s.so", storm->libraries, name);
    if (access(path, R_OK) == 0)
        return true;
    storm_skipped(storm, "%s is missing", path);
    return false;
}

uint64_t chaos_mask(void)
{
    sigset_t set;
    uint64_t mask;

    sigemptyset(&set);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    memcpy(&mask, &set, sizeof mask);
    return mask;
}

static uint8_t byte_at(size_t index, uint64_t seed)
{
    return (uint8_t)((index * 131 + seed) ^ (index >> 8));
}

void chaos_fill(void *bytes, size_t length_bytes, uint64_t seed)
{
    for (size_t i = 0; i < length_bytes; i++)
        ((uint8_t *)bytes)[i] = byte_at(i, seed);
}

bool chaos_is_filled(const void *bytes, size_t length_bytes, uint64_t seed)
{
    for (size_t i = 0; i < length_bytes; i++)
        if (((const uint8_t *)bytes)[i] != byte_at(i, seed))
            return false;
    return true;
}

static bool find_libraries(char *directory, size_t room_bytes)
{
    Dl_info where;
    char *slash;

    if (dladdr((const void *)&storms, &where) == 0 || where.dli_fname == NULL)
        return false;
    snprintf(directory, room_bytes, "%s", where.dli_fname);
    slash = strrchr(directory, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

/* `did N` and a line for each thing that was told. */
static jstring report(struct storm *storm)
{
    char text[sizeof storm->told + 64];

    snprintf(text, sizeof text, "did %ld\n%s", atomic_load(&storm->did), storm->told);
    if ((*storm->env)->ExceptionCheck(storm->env))
        return NULL;
    return (*storm->env)->NewStringUTF(storm->env, text);
}

JNIEXPORT jstring JNICALL Java_NativeStorm_round(JNIEnv *env, jclass class, jstring name, jlong ms,
                                                 jlong seed, jint intensity, jstring directory)
{
    struct storm storm = {.env = env, .seed = (uint64_t)seed, .intensity = intensity};
    const char *wanted = (*env)->GetStringUTFChars(env, name, NULL);
    char libraries[4096] = ".";
    bool is_known = false;
    sigset_t others;
    sigset_t before;
    jstring result;

    (*env)->GetJavaVM(env, &storm.vm);
    storm.java = (*env)->NewGlobalRef(env, class);
    storm.directory = (*env)->GetStringUTFChars(env, directory, NULL);
    pthread_mutex_init(&storm.lock, NULL);
    find_libraries(libraries, sizeof libraries);
    storm.libraries = libraries;
    storm.end_ns = chaos_now_ns() + ms * CHAOS_MS;
    /* Two signals are the process's, and may take any thread: the alarm of `clocks`, and the end of a child, which nobody
     * handles, but which is queued where the thread that made the child has it blocked. A call that waits there then ends with
     * EINTR, rightly so. Those whose calls are looked at leave both to others. Source: Linux, kernel/signal.c, complete_signal;
     * a program without any profiler got it so in every other sigtimedwait. */
    sigemptyset(&others);
    sigaddset(&others, SIGALRM);
    sigaddset(&others, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    for (size_t i = 0; i < sizeof storms / sizeof storms[0]; i++) {
        if (strcmp(storms[i].name, wanted) != 0)
            continue;
        is_known = true;
        storms[i].round(&storm);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!is_known)
        storm_violated(&storm, "libchaos.so has no storm %s", wanted);
    result = report(&storm);
    (*env)->ReleaseStringUTFChars(env, name, wanted);
    (*env)->ReleaseStringUTFChars(env, directory, storm.directory);
    (*env)->DeleteGlobalRef(env, storm.java);
    return result;
}
