/*
 * interrupted - system calls that wait, and a thread that sends the profiler's own signals to all who do.
 *
 * A profiling signal carries what its timer was made with, and the kernel shows that in
 * /proc/self/timers: signals sent with it are taken for the timer's.
 */
#include <errno.h>
#include <jni.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 1024
#define MS          INT64_C(1000000)

static _Atomic int tids[MAX_THREADS];
static _Atomic int tid_count;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* It goes on for a time, and on a machine that has little of it until so much came about. */
static struct {
    int64_t end_ns;
    long calls, sent;
} least;
static _Atomic long calls;
static _Atomic long sent;

static int is_over(void)
{
    return now_ns() >= least.end_ns && atomic_load(&calls) >= least.calls &&
           atomic_load(&sent) >= least.sent;
}

JNIEXPORT void JNICALL Java_Interrupted_begin(JNIEnv *env, jclass class, jlong for_ms,
                                              jlong least_calls, jlong least_sent)
{
    (void)env;
    (void)class;
    least.end_ns = now_ns() + for_ms * MS;
    least.calls = least_calls;
    least.sent = least_sent;
}

JNIEXPORT jboolean JNICALL Java_Interrupted_isOver(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jboolean)is_over();
}

/* A call that Java made. */
JNIEXPORT void JNICALL Java_Interrupted_count(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    atomic_fetch_add(&calls, 1);
}

/* What one thread waits on; nothing ever comes but where `wake` says so. */
struct place {
    int pipe[2];
    int pair[2];
    int epoll;
    int listener;
    int queue;
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    uint32_t word;
};

static void open_place(struct place *place, int ms)
{
    const struct timeval time = {.tv_usec = ms * 1000};

    memset(place, 0, sizeof *place);
    if (pipe(place->pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, place->pair) != 0)
        return;
    setsockopt(place->pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    place->epoll = epoll_create1(0);
    place->listener = socket(AF_INET, SOCK_STREAM, 0);
    listen(place->listener, 1);
    setsockopt(place->listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    place->queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    sem_init(&place->semaphore, 0, 0);
    pthread_mutex_init(&place->mutex, NULL);
    pthread_cond_init(&place->condition, NULL);
}

static void close_place(struct place *place)
{
    msgctl(place->queue, IPC_RMID, NULL);
    close(place->pipe[0]);
    close(place->pipe[1]);
    close(place->pair[0]);
    close(place->pair[1]);
    close(place->epoll);
    close(place->listener);
}

static struct timespec span(int ms)
{
    return (struct timespec){.tv_nsec = ms * MS};
}

static struct timespec until(clockid_t clock, int ms)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += ms * MS;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

static int do_nanosleep(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    (void)place;
    return error_of(nanosleep(&time, NULL));
}

static int do_clock_nanosleep(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_MONOTONIC, ms);

    (void)place;
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int do_usleep(struct place *place, int ms)
{
    (void)place;
    return error_of(usleep((useconds_t)ms * 1000));
}

static int do_poll(struct place *place, int ms)
{
    struct pollfd fd = {.fd = place->pipe[0], .events = POLLIN};

    return error_of(poll(&fd, 1, ms));
}

static int do_ppoll(struct place *place, int ms)
{
    const struct timespec time = span(ms);
    struct pollfd fd = {.fd = place->pipe[0], .events = POLLIN};

    return error_of(ppoll(&fd, 1, &time, NULL));
}

static int do_select(struct place *place, int ms)
{
    struct timeval time = {.tv_usec = ms * 1000};

    (void)place;
    return error_of(select(0, NULL, NULL, NULL, &time));
}

static int do_epoll_wait(struct place *place, int ms)
{
    struct epoll_event event;

    return error_of(epoll_wait(place->epoll, &event, 1, ms));
}

static int do_recv(struct place *place, int ms)
{
    char byte;

    (void)ms;
    return error_of(recv(place->pair[0], &byte, 1, 0));
}

static int do_accept(struct place *place, int ms)
{
    (void)ms;
    return error_of(accept(place->listener, NULL, NULL));
}

static int do_sem_timedwait(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_REALTIME, ms);

    return error_of(sem_timedwait(&place->semaphore, &time));
}

static int do_cond_timedwait(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_REALTIME, ms);
    int error;

    pthread_mutex_lock(&place->mutex);
    error = pthread_cond_timedwait(&place->condition, &place->mutex, &time);
    pthread_mutex_unlock(&place->mutex);
    return error;
}

static int do_futex(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    return error_of(syscall(SYS_futex, &place->word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0));
}

static int do_sigtimedwait(struct place *place, int ms)
{
    const struct timespec time = span(ms);
    sigset_t other;

    (void)place;
    sigemptyset(&other);
    sigaddset(&other, SIGRTMIN + 9);
    return error_of(sigtimedwait(&other, NULL, &time));
}

/* These two wait for a byte or a message of another thread, which takes its time. */
static int do_read(struct place *place, int ms)
{
    char byte;

    (void)ms;
    return error_of(read(place->pipe[0], &byte, 1));
}

static int do_msgrcv(struct place *place, int ms)
{
    struct {
        long type;
        char text[8];
    } message;

    (void)ms;
    return error_of(msgrcv(place->queue, &message, sizeof message.text, 0, 0));
}

struct waker {
    struct place *place;
    int ms;
    atomic_bool is_over;
};

static void *wake(void *argument)
{
    struct waker *waker = argument;
    struct {
        long type;
        char text[8];
    } message = {.type = 1};

    while (!atomic_load(&waker->is_over)) {
        const struct timespec time = span(waker->ms);

        nanosleep(&time, NULL);
        (void)!write(waker->place->pipe[1], "x", 1);
        msgsnd(waker->place->queue, &message, sizeof message.text, IPC_NOWAIT);
    }
    return NULL;
}

/* `slack_ns`: sockets count in the kernel's ticks, and the clock of the day may be slewed. */
static const struct kind {
    const char *name;
    int (*call)(struct place *place, int ms);
    int expected;
    int is_woken;
    int64_t slack_ns;
    int is_by_ticks; /* the kernel counts its time in ticks, of which a virtual machine may get several late and at once */
} kinds[] = {
    {"nanosleep", do_nanosleep, 0, 0, 0, 0},
    {"clock_nanosleep", do_clock_nanosleep, 0, 0, 0, 0},
    {"usleep", do_usleep, 0, 0, 0, 0},
    {"poll", do_poll, 0, 0, 0, 0},
    {"ppoll", do_ppoll, 0, 0, 0, 0},
    {"select", do_select, 0, 0, 0, 0},
    {"epoll_wait", do_epoll_wait, 0, 0, 0, 0},
    {"recv", do_recv, EAGAIN, 0, 10 * MS, 1},
    {"accept", do_accept, EAGAIN, 0, 10 * MS, 1},
    {"sem_timedwait", do_sem_timedwait, ETIMEDOUT, 0, MS / 10, 0},
    {"pthread_cond_timedwait", do_cond_timedwait, ETIMEDOUT, 0, MS / 10, 0},
    {"futex", do_futex, ETIMEDOUT, 0, 0, 0},
    {"sigtimedwait", do_sigtimedwait, EAGAIN, 0, 0, 0},
    {"read", do_read, 0, 1, INT64_MAX, 0},
    {"msgrcv", do_msgrcv, 0, 1, INT64_MAX, 0},
};

/* The clock of ticks is as late as they are. */
static int64_t time_of(int is_by_ticks)
{
    struct timespec now;

    clock_gettime(is_by_ticks ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 * MS + now.tv_nsec;
}

JNIEXPORT jint JNICALL Java_Interrupted_kinds(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)(sizeof kinds / sizeof kinds[0]);
}

JNIEXPORT jstring JNICALL Java_Interrupted_name(JNIEnv *env, jclass class, jint kind)
{
    (void)class;
    return (*env)->NewStringUTF(env, kinds[kind].name);
}

/* From now on this thread is sent signals. */
JNIEXPORT void JNICALL Java_Interrupted_register(JNIEnv *env, jclass class)
{
    const int slot = atomic_fetch_add(&tid_count, 1);

    (void)env;
    (void)class;
    if (slot < MAX_THREADS)
        atomic_store(&tids[slot], (int)syscall(SYS_gettid));
}

/* Calls until it is over; out: calls, those that ended with EINTR, with another error, early. */
JNIEXPORT void JNICALL Java_Interrupted_run(JNIEnv *env, jclass class, jint kind, jint ms,
                                            jlongArray out)
{
    const struct kind *one = &kinds[kind];
    struct place place;
    struct waker waker = {.place = &place, .ms = ms};
    pthread_t thread;
    jlong counts[4] = {0};

    (void)class;
    open_place(&place, ms);
    if (one->is_woken)
        pthread_create(&thread, NULL, wake, &waker);
    while (!is_over()) {
        const int64_t start_ns = time_of(one->is_by_ticks);
        const int error = one->call(&place, ms);
        const int64_t took_ns = time_of(one->is_by_ticks) - start_ns;

        atomic_fetch_add(&calls, 1);
        counts[0]++;
        counts[1] += error == EINTR;
        counts[2] += error != EINTR && error != one->expected;
        counts[3] += one->slack_ns != INT64_MAX && took_ns < ms * MS - one->slack_ns;
    }
    if (one->is_woken) {
        atomic_store(&waker.is_over, 1);
        pthread_join(thread, NULL);
    }
    close_place(&place);
    (*env)->SetLongArrayRegion(env, out, 0, 4, counts);
}

/* What the profiler's timers carry; 0 when none is there. */
static uintptr_t find_cookie(int *signo)
{
    FILE *file = fopen("/proc/self/timers", "r");
    char line[256];
    uintptr_t cookie = 0;

    while (file != NULL && cookie == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "signal: %d/%lx", signo, &cookie) != 2)
            cookie = 0;
    if (file != NULL)
        fclose(file);
    return cookie;
}

/* Sends until it is over to all that registered, each of them about every `every_us`. Signals sent. */
JNIEXPORT jlong JNICALL Java_Interrupted_send(JNIEnv *env, jclass class, jint every_us)
{
    siginfo_t info;
    int signo = 0;

    (void)env;
    (void)class;
    while (!is_over()) {
        const uintptr_t cookie = find_cookie(&signo);

        for (int round = 0; cookie != 0 && round < 100; round++) {
            const int count = atomic_load(&tid_count);

            memset(&info, 0, sizeof info);
            info.si_signo = signo;
            info.si_code = SI_QUEUE;
            info.si_pid = getpid();
            info.si_value.sival_ptr = (void *)cookie;
            for (int i = 0; i < count && i < MAX_THREADS; i++)
                if (syscall(SYS_rt_tgsigqueueinfo, getpid(), atomic_load(&tids[i]), signo, &info) ==
                    0)
                    atomic_fetch_add(&sent, 1);
            usleep((useconds_t)every_us);
        }
        if (cookie == 0)
            usleep((useconds_t)every_us);
    }
    return atomic_load(&sent);
}
