/* burner - CPU use that is not Java: of a Java thread in native code, and of a thread of ours; and a stack
 * that JVMTI tells. */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_t foreign_thread;
static pthread_mutex_t foreign_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t foreign_changed = PTHREAD_COND_INITIALIZER;
static int64_t foreign_tid;       /* 0: not running yet */
static int64_t foreign_wanted_ns; /* 0: not released yet */
static int64_t foreign_used_ns;

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Burns until this thread has used so much. */
__attribute__((noinline)) static void burn_until(int64_t cpu_ns)
{
    static volatile uint64_t sink;
    uint64_t value = sink;

    while (thread_cpu_ns() < cpu_ns)
        for (int i = 0; i < 20000; i++)
            sink = value = value * UINT64_C(6364136223846793005) + 1;
}

static void *foreign_main(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "foreign");
    pthread_mutex_lock(&foreign_lock);
    foreign_tid = syscall(SYS_gettid);
    pthread_cond_broadcast(&foreign_changed);
    while (foreign_wanted_ns == 0)
        pthread_cond_wait(&foreign_changed, &foreign_lock);
    pthread_mutex_unlock(&foreign_lock);

    burn_until(foreign_wanted_ns);
    foreign_used_ns = thread_cpu_ns();
    return NULL;
}

JNIEXPORT void JNICALL Java_CpuBurn_burnNative(JNIEnv *env, jclass type, jlong cpu_ns)
{
    (void)env;
    (void)type;
    burn_until(thread_cpu_ns() + cpu_ns);
}

JNIEXPORT jlong JNICALL Java_CpuBurn_startForeign(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    if (pthread_create(&foreign_thread, NULL, foreign_main, NULL) != 0)
        return -1;
    pthread_mutex_lock(&foreign_lock);
    while (foreign_tid == 0)
        pthread_cond_wait(&foreign_changed, &foreign_lock);
    pthread_mutex_unlock(&foreign_lock);
    return foreign_tid;
}

JNIEXPORT void JNICALL Java_CpuBurn_releaseForeign(JNIEnv *env, jclass type, jlong cpu_ns)
{
    (void)env;
    (void)type;
    pthread_mutex_lock(&foreign_lock);
    foreign_wanted_ns = cpu_ns;
    pthread_cond_broadcast(&foreign_changed);
    pthread_mutex_unlock(&foreign_lock);
}

JNIEXPORT jlong JNICALL Java_CpuBurn_joinForeign(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    pthread_join(foreign_thread, NULL);
    return foreign_used_ns;
}

/* Stands on a stack that JVMTI tells. ---------------------------------------------------------------- */

#define NOTED_FRAMES_MAX 256

static jvmtiEnv *jvmti_of(JNIEnv *env)
{
    JavaVM *java_vm;
    void *jvmti = NULL;
    const jvmtiCapabilities lines = {.can_get_line_numbers = 1};

    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK ||
        (*java_vm)->GetEnv(java_vm, &jvmti, JVMTI_VERSION_1_0) != JNI_OK)
        return NULL;
    (void)(*(jvmtiEnv *)jvmti)->AddCapabilities(jvmti, &lines);
    return jvmti;
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

static int64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

JNIEXPORT void JNICALL Java_Known_note(JNIEnv *env, jclass type, jlong cpu_ns)
{
    static jvmtiEnv *jvmti;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    jvmtiFrameInfo frames[NOTED_FRAMES_MAX];
    jvmtiThreadInfo thread;
    jint count = 0;
    char *text = malloc(65536);
    size_t length = 0;

    (void)type;
    pthread_mutex_lock(&lock);
    if (jvmti == NULL)
        jvmti = jvmti_of(env);
    pthread_mutex_unlock(&lock);
    if (text == NULL || jvmti == NULL ||
        (*jvmti)->GetThreadInfo(jvmti, NULL, &thread) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetStackTrace(jvmti, NULL, 0, NOTED_FRAMES_MAX, frames, &count) !=
            JVMTI_ERROR_NONE)
        abort();
    for (jint i = 0; i < count && length < 65000; i++)
        length += put_frame(jvmti, &frames[i], text + length, 65536 - length);
    const int64_t begin_ns = wall_ns();
    burn_until(thread_cpu_ns() + cpu_ns);
    printf("known %s %lld %lld %s\n", thread.name, (long long)begin_ns, (long long)wall_ns(), text);
    fflush(stdout);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)thread.name);
    free(text);
}
