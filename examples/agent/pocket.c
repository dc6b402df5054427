/*
 * pocket.c - a sampling profiler in 150 lines, as an example for jaywalk.h: each millisecond of CPU time it writes down which
 * Java methods stand on the thread, by name and line, in the signal handler itself; and it logs which classes came to their end.
 *
 *     cc -std=gnu11 -O2 -shared -fPIC -I$JAVA_HOME/include -I$JAVA_HOME/include/linux -o libpocket.so pocket.c -ljaywalk
 *     java -agentpath:$PWD/libpocket.so=out.txt Main
 *
 * A line of out.txt is a sample, outermost frame first, as programs that draw flame graphs take it ("Main.main:7;Main.work:12 1"),
 * or begins with # and is a remark. docs/howto/a-profiler-of-your-own.md goes through it.
 */
#include <jaywalk.h>
#include <jvmti.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define DEPTH       64
#define SAMPLES_MAX 65536
#define NAMES_MAX   65536 /* a power of 2 */

/* A method and its name, which is copied when the method is seen first: later its class may be gone. */
struct name {
    _Atomic jaywalk_method method;
    atomic_int is_ready; /* `text` can be read */
    char text[240];
};

struct sample {
    atomic_int frame_count; /* 0: being written */
    struct {
        struct name *name; /* NULL: no room was left for it */
        int line;          /* 0: not known */
    } frames[DEPTH];
};

/* Memory that nobody touches costs nothing, and a handler may not ask for any. */
static struct name names[NAMES_MAX];
static struct sample samples[SAMPLES_MAX];
static atomic_uint sample_count, no_java_count, broken_count;
static FILE *out;

/* "pkg/Type.method", cut where it is too long; empty where the method is gone, its code replaced just now. */
static void write_name(jaywalk_method method, char *text, size_t room)
{
    char name[80];
    struct jaywalk_method_info info = {.name = {.bytes = name, .room_bytes = sizeof name}};
    struct jaywalk_class_info type = {.name = {.bytes = text, .room_bytes = room - sizeof name}};

    if (jaywalk_method_info(method, &info) != JAYWALK_OK ||
        jaywalk_class_info(info.klass, &type) != JAYWALK_OK)
        return;
    const size_t length = strlen(text);
    text[length] = '.';
    memcpy(text + length + 1, name, strlen(name) + 1);
}

/* An id stands for one method for ever, so the first thread that meets it writes the name for all. */
static struct name *name_of(jaywalk_method method)
{
    for (uint64_t hash = method * 0x9e3779b97f4a7c15, probe = 0; probe < 16; probe++) {
        struct name *name = &names[((hash >> 40) + probe) % NAMES_MAX];
        jaywalk_method there = 0;

        if (atomic_compare_exchange_strong(&name->method, &there, method)) {
            write_name(method, name->text, sizeof name->text);
            atomic_store(&name->is_ready, 1);
            return name;
        }
        if (there == method)
            return name;
    }
    return NULL;
}

/* On the thread whose millisecond is over, wherever it is: no lock, no memory, no stdio, no JNI. */
static void on_sigprof(int signo, siginfo_t *info, void *ucontext)
{
    struct jaywalk_frame frames[DEPTH];
    const int count = jaywalk_stack_walk(ucontext, frames, DEPTH, NULL);

    (void)signo;
    (void)info;
    if (count <= 0) {
        atomic_fetch_add(count == 0 ? &no_java_count : &broken_count, 1);
        return;
    }
    const unsigned place = atomic_fetch_add(&sample_count, 1);
    if (place >= SAMPLES_MAX)
        return;
    for (int i = 0; i < count; i++) {
        const int line = jaywalk_method_line(frames[i].method, frames[i].bci);

        samples[place].frames[i].name = name_of(frames[i].method);
        samples[place].frames[i].line = line > 0 ? line : 0;
    }
    atomic_store(&samples[place].frame_count, count);
}

/* On a thread of jaywalk's, as any code. While it runs the class and its methods have their names still. */
static void on_class(const struct jaywalk_class_event *event, void *argument)
{
    char text[256] = "";
    struct jaywalk_class_info info = {.name = {.bytes = text, .room_bytes = sizeof text}};

    (void)jaywalk_class_info(event->klass, &info);
    fprintf(argument, "# %s %s, %zu methods seen\n", event->is_redefined ? "redefined" : "unloaded",
            text, event->method_count);
}

static void tick(long every_us)
{
    const struct itimerval timer = {{0, every_us}, {0, every_us}};

    setitimer(ITIMER_PROF, &timer, NULL);
}

static void start(JNIEnv *jni)
{
    /* SIGSEGV and SIGBUS are not in sa_mask: jaywalk reads memory that may not be there. */
    struct sigaction action = {.sa_sigaction = on_sigprof, .sa_flags = SA_SIGINFO | SA_RESTART};
    char why[JAYWALK_REASON_BYTES] = "";

    if (jaywalk_stacks_open(jni, why, sizeof why) != JAYWALK_OK) {
        fprintf(stderr, "pocket: no stacks: %s\n", why);
        return;
    }
    jaywalk_class_handler_add(on_class, out);
    sigaction(SIGPROF, &action, NULL);
    tick(1000);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    (void)thread;
    start(jni);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    const unsigned count = atomic_load(&sample_count);

    (void)jvmti;
    (void)jni;
    tick(0);
    jaywalk_class_handler_remove(on_class, out); /* and it runs no more, so `out` may be closed */
    fprintf(out, "# %u samples, %u without room, %u without Java, %u broken\n", count,
            count > SAMPLES_MAX ? count - SAMPLES_MAX : 0, atomic_load(&no_java_count),
            atomic_load(&broken_count));
    for (unsigned i = 0; i < count && i < SAMPLES_MAX; i++) {
        for (int j = atomic_load(&samples[i].frame_count) - 1; j >= 0; j--) {
            const struct name *name = samples[i].frames[j].name;
            const int has_text = name != NULL && atomic_load(&name->is_ready) && name->text[0];

            fprintf(out, "%s:%d%s", has_text ? name->text : "?", samples[i].frames[j].line,
                    j > 0 ? ";" : " 1\n");
        }
    }
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    const jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .VMDeath = on_vm_death};
    jvmtiEnv *jvmti;

    (void)reserved;
    out = fopen(options != NULL && options[0] != '\0' ? options : "pocket.txt", "we");
    if (out == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK)
        return JNI_ERR;
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}

/* Into a JVM that is up already: jcmd PID JVMTI.agent_load $PWD/libpocket.so out.txt */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    JNIEnv *jni;

    if (Agent_OnLoad(vm, options, reserved) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    start(jni);
    return JNI_OK;
}
