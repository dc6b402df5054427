/*
 * known - tells the stack that it stands on, as JVMTI sees it, and has the profiler take samples there.
 *
 * A profiling signal carries what its timer was made with, and the kernel shows that in
 * /proc/self/timers: a signal that a thread sends with it, to itself or to another, is taken for the timer's.
 */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES_MAX 512
#define TEXT_BYTES 65536
#define SAMPLES    2

#define THREADS_MAX 2
#define SEND_EVERY_US                                                                              \
    300 /* KNOWN_SEND_EVERY_US: otherwise, where a handler takes longer than that */

/* A thread and what its timer carries; 0: it has none, or nobody is to send it signals any more. */
struct watched {
    _Atomic uintptr_t cookie;
    pid_t tid;
    int signo;
};

static jvmtiEnv *jvmti;
static struct watched all[THREADS_MAX];
static atomic_int count;
static __thread struct watched *self;

static uintptr_t find_cookie(pid_t own, int *signo)
{
    FILE *file = fopen("/proc/self/timers", "r");
    char line[256];
    unsigned long value = 0;
    uintptr_t cookie = 0;
    pid_t tid = 0;

    while (file != NULL && cookie == 0 && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "signal: %d/%lx", signo, &value) != 2 &&
            sscanf(line, "notify: signal/tid.%d", &tid) == 1 && tid == own)
            cookie = value;
    }
    if (file != NULL)
        fclose(file);
    return cookie;
}

static void take_sample(const struct watched *of)
{
    siginfo_t info = {0};

    info.si_signo = of->signo;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)atomic_load(&of->cookie);
    if (info.si_value.sival_ptr != NULL)
        (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), of->tid, of->signo, &info);
}

static void *send_for_ever(void *unused)
{
    const char *every = getenv("KNOWN_SEND_EVERY_US");
    const useconds_t every_us = every == NULL ? SEND_EVERY_US : (useconds_t)atoi(every);

    (void)unused;
    for (;;) {
        usleep(every_us);
        for (int i = 0; i < atomic_load(&count); i++)
            take_sample(&all[i]);
    }
    return NULL;
}

/* Between these two the thread is sampled where it happens to be, too. */
JNIEXPORT void JNICALL Java_Known_beginSamples(JNIEnv *env, jclass type)
{
    const int index = atomic_load(&count); /* one thread after the other */
    pthread_t sender;

    (void)env;
    (void)type;
    if (index == THREADS_MAX)
        abort();
    self = &all[index];
    self->tid = (pid_t)syscall(SYS_gettid);
    atomic_store(&self->cookie, find_cookie(self->tid, &self->signo));
    atomic_store(&count, index + 1);
    if (index == 0 && pthread_create(&sender, NULL, send_for_ever, NULL) != 0)
        abort();
}

JNIEXPORT void JNICALL Java_Known_endSamples(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    atomic_store(&self->cookie, 0);
}

static int line_of(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    jvmtiLineNumberEntry *table = NULL;
    jint count = 0;
    int line = -1;

    if (frame->location < 0 ||
        (*jvmti)->GetLineNumberTable(jvmti, frame->method, &count, &table) != JVMTI_ERROR_NONE)
        return -1;
    jlocation best = -1;
    for (jint i = 0; i < count; i++) {
        if (table[i].start_location <= frame->location && table[i].start_location > best) {
            best = table[i].start_location;
            line = table[i].line_number;
        }
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)table);
    return line;
}

static size_t put_frame(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame, char *out, size_t room)
{
    char *name = NULL, *type = NULL;
    jclass class = NULL;

    (*jvmti)->GetMethodName(jvmti, frame->method, &name, NULL, NULL);
    (*jvmti)->GetMethodDeclaringClass(jvmti, frame->method, &class);
    (*jvmti)->GetClassSignature(jvmti, class, &type, NULL);
    for (char *at = type; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
    const int length = snprintf(out, room, "%.*s.%s:%d;", (int)strlen(type) - 2, type + 1, name,
                                line_of(jvmti, frame));
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)type);
    return (size_t)length;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    const jvmtiCapabilities lines = {.can_get_line_numbers = 1};
    void *env = NULL;

    (void)reserved;
    if ((*java_vm)->GetEnv(java_vm, &env, JVMTI_VERSION_1_0) != JNI_OK)
        return JNI_ERR;
    jvmti = env;
    return (*jvmti)->AddCapabilities(jvmti, &lines) == JVMTI_ERROR_NONE ? JNI_VERSION_1_6 : JNI_ERR;
}

JNIEXPORT void JNICALL Java_Known_note(JNIEnv *env, jclass type, jstring tiers)
{
    jvmtiFrameInfo frames[FRAMES_MAX];
    jvmtiThreadInfo thread;
    jint count = 0;
    char *text = malloc(TEXT_BYTES);
    const char *letters = (*env)->GetStringUTFChars(env, tiers, NULL);
    size_t length = 0;

    (void)type;
    if (text == NULL || letters == NULL ||
        (*jvmti)->GetThreadInfo(jvmti, NULL, &thread) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES_MAX, frames, &count) != JVMTI_ERROR_NONE)
        abort();
    for (int i = 0; i < SAMPLES; i++)
        take_sample(self);
    for (jint i = 0; i < count && length < TEXT_BYTES - 512; i++)
        length += put_frame(jvmti, &frames[i], text + length, TEXT_BYTES - length);
    printf("known %s %s %s\n", thread.name, letters[0] == '\0' ? "-" : letters, text);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)thread.name);
    (*env)->ReleaseStringUTFChars(env, tiers, letters);
    free(text);
}
