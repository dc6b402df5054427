/* What the workload Foreign asks for; and what is answered to those who make mistakes. */
#include "asker.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define HERE_SIGNAL (SIGRTMIN + 4)
#define HERE_DEPTH  200

static struct {
    struct jaywalk_frame frames[HERE_DEPTH];
    int depth;
    int result;
    unsigned flags;
} here;

static void expect(int result, int expected, const char *what)
{
    if (result != expected)
        wrong("another answer than expected", what, NULL, (uint64_t)result);
}

static void on_nothing(const struct jaywalk_class_event *event, void *argument)
{
    (void)event;
    (void)argument;
}

void errors_before(void)
{
    struct jaywalk_frame frames[2];
    struct jaywalk_method_info method = {0};
    struct jaywalk_class_info type = {0};
    ucontext_t context;

    getcontext(&context);
    expect(jaywalk_stack_walk(&context, frames, 2, NULL), JAYWALK_IDLE, "walk");
    expect(jaywalk_method_info(1, &method), JAYWALK_IDLE, "method_info");
    expect(jaywalk_method_idnum(1), JAYWALK_IDLE, "method_idnum");
    expect(jaywalk_method_line(1, 0), JAYWALK_IDLE, "method_line");
    expect(jaywalk_method_line_numbers(1, NULL, 0), JAYWALK_IDLE, "method_line_numbers");
    expect(jaywalk_class_info(1, &type), JAYWALK_IDLE, "class_info");
    expect(jaywalk_class_idnum(1) != 0, 0, "class_idnum");
    expect(jaywalk_class_handler_add(on_nothing, NULL), JAYWALK_IDLE, "class_handler_add");
}

void errors_after(void)
{
    static char arguments[JAYWALK_CLASS_HANDLERS_MAX + 1];
    struct jaywalk_frame frames[2];
    struct jaywalk_method_info method = {0};
    struct jaywalk_line line;
    ucontext_t context;
    int added = 0;

    getcontext(&context);
    expect(jaywalk_stack_walk(NULL, frames, 2, NULL), JAYWALK_BAD_ARGUMENT, "walk NULL");
    expect(jaywalk_stack_walk(&context, NULL, 2, NULL), JAYWALK_BAD_ARGUMENT, "walk to NULL");
    expect(jaywalk_stack_walk(&context, frames, 0, NULL), JAYWALK_BAD_ARGUMENT, "walk depth 0");
    expect(jaywalk_stack_walk(&context, frames, JAYWALK_DEPTH_MAX + 1, NULL), JAYWALK_BAD_ARGUMENT,
           "walk depth 2049");
    expect(jaywalk_method_info(0, &method), JAYWALK_BAD_ARGUMENT, "method_info 0");
    expect(jaywalk_method_info(1, NULL), JAYWALK_BAD_ARGUMENT, "method_info NULL");
    expect(jaywalk_class_info(1, NULL), JAYWALK_BAD_ARGUMENT, "class_info NULL");
    expect(jaywalk_method_idnum(0), JAYWALK_BAD_ARGUMENT, "method_idnum 0");
    expect(jaywalk_method_line(0, 0), JAYWALK_BAD_ARGUMENT, "method_line 0");
    expect(jaywalk_method_line_numbers(0, &line, 1), JAYWALK_BAD_ARGUMENT, "method_line_numbers 0");
    expect(jaywalk_method_line_numbers(1, &line, -1), JAYWALK_BAD_ARGUMENT,
           "method_line_numbers room -1");
    expect(jaywalk_method_line_numbers(1, NULL, 1), JAYWALK_BAD_ARGUMENT,
           "method_line_numbers NULL");
    /* No id was ever like this: what it names cannot be there. */
    expect(jaywalk_method_info(~(jaywalk_method)0, &method), JAYWALK_GONE, "method_info ~0");
    expect(jaywalk_method_line(~(jaywalk_method)0, 0), JAYWALK_GONE, "method_line ~0");
    expect(jaywalk_class_idnum(~(jaywalk_class)0) != 0, 0, "class_idnum ~0");
    expect(jaywalk_class_idnum(0) != 0, 0, "class_idnum 0");
    expect(jaywalk_class_handler_add(NULL, NULL), JAYWALK_BAD_ARGUMENT, "class_handler_add NULL");
    expect(jaywalk_class_handler_remove(on_nothing, NULL), JAYWALK_BAD_ARGUMENT,
           "class_handler_remove");
    while (added <= JAYWALK_CLASS_HANDLERS_MAX &&
           jaywalk_class_handler_add(on_nothing, &arguments[added]) == JAYWALK_OK)
        added++;
    expect(added, JAYWALK_CLASS_HANDLERS_MAX, "class handlers");
    expect(jaywalk_class_handler_add(on_nothing, &arguments[added]), JAYWALK_NO_ROOM,
           "one class handler more");
    expect(jaywalk_class_handler_add(on_nothing, &arguments[0]), JAYWALK_BAD_ARGUMENT,
           "class_handler_add twice");
    while (added-- > 0)
        expect(jaywalk_class_handler_remove(on_nothing, &arguments[added]), JAYWALK_OK,
               "class_handler_remove all");
}

static void on_here(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)info;
    here.result = jaywalk_stack_walk(ucontext, here.frames, here.depth, &here.flags);
}

/* The calling thread's stack, from a handler that blocks this signal, too (0: none). */
static void walk_here(int depth, int blocked)
{
    struct sigaction action = {.sa_sigaction = on_here, .sa_flags = SA_SIGINFO | SA_RESTART};

    if (blocked != 0)
        sigaddset(&action.sa_mask, blocked);
    sigaction(HERE_SIGNAL, &action, NULL);
    here.depth = depth;
    here.result = 1;
    here.flags = ~0u;
    pthread_kill(pthread_self(), HERE_SIGNAL);
}

/* Each text is cut where its room ends, and says how long it is. */
static void check_rooms(jaywalk_method method)
{
    char whole[64], cut[3] = {'?', '?', '?'};
    struct jaywalk_method_info info = {.name = {whole, sizeof whole, 0}};

    expect(jaywalk_method_info(method, &info), JAYWALK_OK, "method_info");
    const size_t length = info.name.length_bytes;
    info = (struct jaywalk_method_info){.name = {cut, 2, 0}};
    expect(jaywalk_method_info(method, &info), JAYWALK_OK, "method_info of two bytes");
    if (length != strlen(whole) || info.name.length_bytes != length || cut[0] != whole[0] ||
        cut[1] != '\0' || cut[2] != '?' || info.signature.length_bytes == 0)
        wrong("a text is not cut where its room ends", whole, cut, length);
}

/* Compares with the stack that the JVM tells of itself, which must go so far; by the way, what is asked by mistake. */
JNIEXPORT void JNICALL Java_Foreign_here(JNIEnv *jni, jclass class, jint depth, jboolean isCut)
{
    jvmtiFrameInfo frames[HERE_DEPTH];
    jint frame_count = 0;

    (void)class;
    walk_here(depth, SIGSEGV);
    expect(here.result, JAYWALK_BLOCKED, "walk with SIGSEGV blocked");
    walk_here(depth, SIGBUS);
    expect(here.result, JAYWALK_BLOCKED, "walk with SIGBUS blocked");
    walk_here(depth, 0);
    if ((*asker_jvmti)->GetStackTrace(asker_jvmti, NULL, 0, depth, frames, &frame_count) !=
        JVMTI_ERROR_NONE)
        return;
    expect(here.result, frame_count, "frames of a known stack");
    expect((int)here.flags, isCut ? (int)JAYWALK_STACK_TRUNCATED : 0, "flags of a known stack");
    for (int i = 0; i < here.result && i < frame_count; i++) {
        const struct jaywalk_frame *frame = &here.frames[i];
        const int is_native = frames[i].location < 0;

        count(COMPARED_FRAMES);
        if (jaywalk_method_of_jmethodid(jni, frames[i].method) != frame->method)
            wrong("another method than the JVM tells of", NULL, NULL, frame->method);
        if (jaywalk_method_to_jmethodid(jni, frame->method) != frames[i].method)
            wrong("another jmethodID than the JVM tells of", NULL, NULL, frame->method);
        if (frame->bci != (is_native ? -3 : (int)frames[i].location) ||
            (frame->tier == JAYWALK_NATIVE) != is_native)
            wrong("another bytecode than the JVM tells of", NULL, NULL, frame->method);
        check_rooms(frame->method);
    }
}

JNIEXPORT void JNICALL Java_Foreign_convert(JNIEnv *jni, jclass class, jclass array,
                                            jclass primitive, jobject ofClass)
{
    const jaywalk_class id = jaywalk_class_of_jclass(jni, class);
    jclass back = jaywalk_class_to_jclass(jni, id);

    if (id == 0 || back == NULL || !(*jni)->IsSameObject(jni, back, class))
        wrong("no way to a class and back", NULL, NULL, id);
    if (jaywalk_class_of_jclass(jni, array) != 0 || jaywalk_class_of_jclass(jni, primitive) != 0 ||
        jaywalk_class_of_jclass(jni, NULL) != 0)
        wrong("an array or a primitive type has a class", NULL, NULL, 0);
    if (jaywalk_class_of_jclass(jni, (*jni)->GetObjectClass(jni, ofClass)) != id)
        wrong("an object of the class has another one", NULL, NULL, id);
    if (jaywalk_class_to_jclass(jni, 0) != NULL || jaywalk_class_to_jclass(jni, ~id) != NULL ||
        jaywalk_method_to_jmethodid(jni, 0) != NULL ||
        jaywalk_method_to_jmethodid(jni, ~id) != NULL ||
        jaywalk_method_of_jmethodid(jni, NULL) != 0)
        wrong("what is no id is converted", NULL, NULL, id);
}

JNIEXPORT jint JNICALL Java_Foreign_ended(JNIEnv *jni, jclass class, jboolean isHidden, jint number)
{
    (void)jni;
    (void)class;
    return ends_of(isHidden, number);
}

JNIEXPORT jlong JNICALL Java_Foreign_unloads(JNIEnv *jni, jclass class)
{
    (void)jni;
    (void)class;
    return atomic_load(&figures[UNLOADS]);
}

JNIEXPORT jint JNICALL Java_Foreign_execute(JNIEnv *jni, jclass class, jstring command)
{
    const char *chars = (*jni)->GetStringUTFChars(jni, command, NULL);
    const int result = jaywalk_execute(chars, NULL, NULL);

    (void)class;
    (*jni)->ReleaseStringUTFChars(jni, command, chars);
    return result;
}
