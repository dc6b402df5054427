/* Native threads that attach or do not, with names, as daemons, again and again; that end by returning, by pthread_exit
 * through frames, by being cancelled while they wait; that detach in a destructor. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum kind { NEVER, ONCE, AGAIN, DAEMON, BY_KEY, EXITS, CANCELLED, KINDS };

struct life {
    struct storm *storm;
    enum kind kind;
    uint64_t random;
    _Atomic int unwound; /* clean-up handlers that ran */
    _Atomic bool is_waiting;
    int pipe[2];
};

static pthread_key_t detach_key;
static pthread_once_t detach_once = PTHREAD_ONCE_INIT;

static void detach(void *vm)
{
    chaos_burn_us(50);
    (*(JavaVM *)vm)->DetachCurrentThread(vm);
}

static void make_key(void)
{
    pthread_key_create(&detach_key, detach);
}

/* m06: the thread is known to the JVM exactly between attach and detach. */
static void expect_detached(struct life *life, const char *when)
{
    void *env;
    const jint found = (*life->storm->vm)->GetEnv(life->storm->vm, &env, JNI_VERSION_1_8);

    STORM_EXPECT(life->storm, found == JNI_EDETACHED, "GetEnv says %d %s", found, when);
}

static void expect_name(struct life *life, JNIEnv *env, const char *expected)
{
    const jmethodID self =
        (*env)->GetStaticMethodID(env, life->storm->java, "self", "()Ljava/lang/String;");
    const jstring name = (*env)->CallStaticObjectMethod(env, life->storm->java, self);
    char text[128] = "";

    if (storm_has_thrown(life->storm, env, "self"))
        return;
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), text);
    STORM_EXPECT(life->storm, strcmp(text, expected) == 0, "the thread is \"%s\", not \"%s\"", text,
                 expected);
    (*env)->DeleteLocalRef(env, name);
}

static void call_up(struct life *life, JNIEnv *env)
{
    struct storm *storm = life->storm;
    const jmethodID up = (*env)->GetStaticMethodID(env, storm->java, "up", "(I)I");
    const jint number = (jint)chaos_random_below(&life->random, 1000000);
    const jint answer = (*env)->CallStaticIntMethod(env, storm->java, up, number);

    if (!storm_has_thrown(storm, env, "up"))
        STORM_EXPECT(storm, answer == number * 3 + 1, "Java answers %d to %d", answer, number);
}

static void attached(struct life *life, bool is_daemon)
{
    struct storm *storm = life->storm;
    char name[64];
    char expected[96];
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_8, .name = name};
    JNIEnv *env;
    jint status;

    snprintf(name, sizeof name, "native <%x> \"&\"", (unsigned)chaos_random(&life->random));
    snprintf(expected, sizeof expected, "%s %s", is_daemon ? "daemon" : "user", name);
    status = is_daemon
                 ? (*storm->vm)->AttachCurrentThreadAsDaemon(storm->vm, (void **)&env, &arguments)
                 : (*storm->vm)->AttachCurrentThread(storm->vm, (void **)&env, &arguments);
    if (status != JNI_OK) {
        storm_violated(storm, "AttachCurrentThread: %d", status);
        return;
    }
    chaos_burn_us((int64_t)chaos_random_below(&life->random, 400));
    call_up(life, env);
    expect_name(life, env, expected);
}

static void detached(struct life *life)
{
    const jint status = (*life->storm->vm)->DetachCurrentThread(life->storm->vm);

    STORM_EXPECT(life->storm, status == JNI_OK, "DetachCurrentThread: %d", status);
    expect_detached(life, "behind the detach");
}

static void unwound(void *argument)
{
    atomic_fetch_add(&((struct life *)argument)->unwound, 1);
}

/* m46: what leaves frames behind by pthread_exit or cancellation runs what is to be cleaned up, once each. */
__attribute__((noinline)) static void exit_from(struct life *life, int depth)
{
    pthread_cleanup_push(unwound, life);
    if (depth > 0)
        exit_from(life, depth - 1);
    else if (atomic_load(&life->unwound) == 0)
        pthread_exit(life);
    chaos_burn_us(1); /* no tail call */
    pthread_cleanup_pop(0);
}

static void wait_for_cancel(struct life *life)
{
    const bool is_read = life->random & 1;
    char byte;

    pthread_cleanup_push(unwound, life);
    atomic_store(&life->is_waiting, true);
    while (is_read ? read(life->pipe[0], &byte, 1) != 0 : usleep(500000) == 0)
        ;
    storm_violated(life->storm, "what nothing ends but cancellation has ended");
    pthread_cleanup_pop(0);
}

static void *live(void *argument)
{
    struct life *life = argument;
    const uint64_t mask = chaos_mask();

    expect_detached(life, "in a new thread");
    chaos_burn_us((int64_t)chaos_random_below(&life->random, 500));
    switch (life->kind) {
    case ONCE:
    case DAEMON:
        attached(life, life->kind == DAEMON);
        detached(life);
        break;
    case AGAIN:
        for (int i = 0; i < 4; i++) {
            attached(life, i & 1);
            detached(life);
            chaos_burn_us(100);
        }
        break;
    case BY_KEY:
        attached(life, false);
        pthread_setspecific(detach_key, life->storm->vm);
        break;
    case EXITS:
        attached(life, true);
        detached(life);
        exit_from(life, 9);
        break;
    case CANCELLED:
        wait_for_cancel(life);
        break;
    case NEVER:
    case KINDS:
        break;
    }
    STORM_EXPECT(life->storm, chaos_mask() == mask, "the mask is %#lx, and was %#lx",
                 (unsigned long)chaos_mask(), (unsigned long)mask);
    return life;
}

static void end(struct life *life, pthread_t thread)
{
    void *result = NULL;

    if (life->kind == CANCELLED) {
        while (!atomic_load(&life->is_waiting))
            chaos_sleep_us(100);
        chaos_sleep_us((int64_t)chaos_random_below(&life->random, 3000));
        pthread_cancel(thread);
    }
    pthread_join(thread, &result);
    close(life->pipe[0]);
    close(life->pipe[1]);
    if (life->kind == CANCELLED)
        STORM_EXPECT(life->storm, result == PTHREAD_CANCELED && atomic_load(&life->unwound) == 1,
                     "a cancelled thread cleaned up %d times", atomic_load(&life->unwound));
    else
        STORM_EXPECT(life->storm, result == life, "a thread returned something else");
    if (life->kind == EXITS)
        STORM_EXPECT(life->storm, atomic_load(&life->unwound) == 10,
                     "pthread_exit cleaned up %d of 10 frames", atomic_load(&life->unwound));
}

static void *make(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        struct life lives[4];
        pthread_t threads[4];
        int begun = 0;

        memset(lives, 0, sizeof lives);
        while (begun < 4) {
            struct life *life = &lives[begun];

            life->storm = storm;
            life->kind = (enum kind)chaos_random_below(&random, KINDS);
            life->random = storm_seed(storm);
            if (pipe2(life->pipe, O_CLOEXEC) != 0 ||
                pthread_create(&threads[begun], NULL, live, life) != 0) {
                storm_violated(storm, "no thread: %s", strerror(errno));
                break;
            }
            begun++;
        }
        for (int i = 0; i < begun; i++)
            end(&lives[i], threads[i]);
        storm_did(storm, begun);
        chaos_sleep_us((int64_t)chaos_random_below(&random, 5000));
    }
    return NULL;
}

void attach_round(struct storm *storm)
{
    pthread_once(&detach_once, make_key);
    storm_threads(storm, storm->intensity, make, storm);
}
