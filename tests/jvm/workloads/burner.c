/* burner - CPU use that is not Java: of a Java thread in native code, and of a thread of ours. */
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
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

JNIEXPORT jlong JNICALL Java_CarrierClock_cpuNs(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    return thread_cpu_ns();
}

JNIEXPORT void JNICALL Java_Pinned_callBack(JNIEnv *env, jclass type, jobject work)
{
    jmethodID called_back = (*env)->GetMethodID(env, type, "calledBack", "()V");

    if (called_back != NULL)
        (*env)->CallVoidMethod(env, work, called_back);
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
