/* Readiness for other agents; and the thread that tells them of classes that are gone. */
#include "agent/stacks.h"

#include <pthread.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/session_internal.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "symbols/symbols.h"
#include "thread/thread_tls.h"
#include "vm/vm_body.h"
#include "vm/vm_klass.h"
#include "vm/vm_safepoint.h"

#define LOOK_NS       JW_NS_PER_SECOND
#define END_WAIT_NS   (JW_NS_PER_SECOND / 2)
#define SERVE_WAIT_NS (250 * JW_NS_PER_MS)

/* So many looks after the last safepoint find what a collector that works beside the program clears later. */
#define LOOKS_BEHIND 3

/* Source: JEP 371. Before, Unsafe.defineAnonymousClass made classes without a name of their own. */
#define MAJOR_WITH_HIDDEN_CLASSES 15

#define CLASSES_THREAD_NAME "jaywalk-classes"

/* Places for threads that were there before us, and their part of the memory. */
#define FOUND_MIN   256u
#define FOUND_MAX   32768u
#define FOUND_SHARE 16u
#define TID_HASH    0x9e3779b1u

/* A thread that was there before us; or one that ended while they were listed, which stands there first or last. */
struct found_thread {
    _Atomic uint32_t tid;  /* relaxed: set once, and asked for by that thread alone */
    _Atomic uintptr_t env; /* relaxed: 0, then its JNIEnv*, and ENV_ENDED in the end */
};

#define ENV_ENDED ((uintptr_t)1)

static struct {
    _Atomic int result; /* relaxed: read by who waited for the try */
    _Atomic bool is_open;
    _Atomic bool is_ending; /* relaxed: a flag on its own */
    struct os_thread thread;
    struct os_wake wake;
    struct found_thread *_Atomic found; /* by tid, open addressing */
    uint32_t found_mask;                /* released with it */
} stacks;

struct registered {
    jaywalk_class_handler *handler; /* NULL: the place is free */
    void *argument;
};

static struct {
    /* Around the list, and each call: a handler may add and remove others, and itself. */
    pthread_mutex_t lock;
    struct registered list[JAYWALK_CLASS_HANDLERS_MAX];
} handlers = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* Around each use of a class's weak reference but by the thread that gives it back. */
static pthread_mutex_t weak_lock = PTHREAD_MUTEX_INITIALIZER;

int stacks_result(void)
{
    return jw_load_relaxed(&stacks.result);
}

JW_SIGNAL_SAFE bool stacks_are_open(void)
{
    /* order STACKS_OPEN: acquires what was made ready. */
    return jw_load_acquire(&stacks.is_open);
}

/* ---- threads ---- */

/* Place of a thread, taken for it where `takes`; NULL: it has none. */
JW_SIGNAL_SAFE static struct found_thread *found_at(uint32_t tid, bool takes)
{
    /* order STACKS_FOUND: acquires the table. */
    struct found_thread *table = jw_load_acquire(&stacks.found);

    for (uint32_t probe = 0; table != NULL && probe <= stacks.found_mask; probe++) {
        struct found_thread *place = &table[(tid * TID_HASH + probe) & stacks.found_mask];
        uint32_t there = jw_load_relaxed(&place->tid);

        if (there == 0 && (!takes || jw_cas_relaxed(&place->tid, &there, tid)))
            return takes ? place : NULL;
        if (there == tid)
            return place;
    }
    return NULL;
}

static void found_thread(JNIEnv *jni, jthread thread, void *env, uint32_t tid)
{
    struct found_thread *place = found_at(tid, true);
    uintptr_t before = 0;

    (void)jni;
    (void)thread;
    /* Where its end came first, that stays. */
    if (place == NULL)
        jw_count(JW_COUNT_THREAD_RECORDS_FULL);
    else
        (void)jw_cas_relaxed(&place->env, &before, (uintptr_t)env);
}

void stacks_thread_start(JNIEnv *jni)
{
    jw_store_relaxed(&thread_tls()->env, (uintptr_t)jni);
}

void stacks_thread_end(void)
{
    /* While threads are listed, each that ends leaves a mark, so that it is not found afterwards. */
    struct found_thread *place = found_at(thread_own_tid(), !stacks_are_open());

    jw_store_relaxed(&thread_tls()->env, 0);
    if (place != NULL)
        jw_store_relaxed(&place->env, ENV_ENDED);
}

void *stacks_env(void)
{
    const uintptr_t own = jw_load_relaxed(&thread_tls()->env);

    if (own != 0)
        return (void *)own;
    const struct found_thread *place = found_at(thread_own_tid(), false);
    const uintptr_t env = place == NULL ? 0 : jw_load_relaxed(&place->env);
    return env == ENV_ENDED ? NULL : (void *)env;
}

/* ---- classes ---- */

/* Bytes of the class's name as JVMTI tells it, where only that shows an anonymous class; else 0. */
static size_t told_bytes(jclass klass)
{
    char *signature = NULL;
    size_t length_bytes = 0;

    if (vm_major_version() >= MAJOR_WITH_HIDDEN_CLASSES)
        return 0;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &signature, NULL) ==
            JVMTI_ERROR_NONE &&
        strlen(signature) > 2)
        length_bytes = strlen(signature) - 2; /* between L and ; */
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
    return length_bytes;
}

static void class_is_there(JNIEnv *jni, jclass klass,
                           bool (*take)(vm_addr klass, size_t told_bytes, void *weak))
{
    const vm_addr addr = vm_klass_of(jni, klass);
    jweak weak = addr == 0 ? NULL : (*jni)->NewWeakGlobalRef(jni, klass);

    if (weak == NULL) {
        jw_count(JW_COUNT_IDS_REFUSED);
        (*jni)->ExceptionClear(jni); /* the JVM has no memory */
    } else if (!take(addr, told_bytes(klass), weak)) {
        (*jni)->DeleteWeakGlobalRef(jni, weak);
    }
}

void stacks_class_prepared(JNIEnv *jni, jclass klass)
{
    if (ids_is_open())
        class_is_there(jni, klass, ids_class_prepared);
}

static void class_listed(JNIEnv *jni, jclass klass)
{
    jint status = 0;

    if ((*agent.jvmti)->GetClassStatus(agent.jvmti, klass, &status) == JVMTI_ERROR_NONE &&
        (status & (JVMTI_CLASS_STATUS_ARRAY | JVMTI_CLASS_STATUS_PRIMITIVE)) == 0 &&
        (status & JVMTI_CLASS_STATUS_PREPARED) != 0)
        class_is_there(jni, klass, ids_class_listed);
}

jobject stacks_hold(JNIEnv *jni, ids_id klass)
{
    pthread_mutex_lock(&weak_lock);
    void *weak = ids_class_weak(klass);
    jobject held = weak == NULL ? NULL : (*jni)->NewLocalRef(jni, weak);
    pthread_mutex_unlock(&weak_lock);
    return held;
}

/* ---- handlers of others ---- */

/* The lock is held. */
static struct registered *find_handler(jaywalk_class_handler *handler, void *argument)
{
    for (size_t i = 0; i < JW_COUNT_OF(handlers.list); i++) {
        if (handlers.list[i].handler == handler &&
            (handler == NULL || handlers.list[i].argument == argument))
            return &handlers.list[i];
    }
    return NULL;
}

int stacks_handler_add(jaywalk_class_handler *handler, void *argument)
{
    int result = JAYWALK_NO_ROOM;

    pthread_mutex_lock(&handlers.lock);
    struct registered *free_place = find_handler(NULL, NULL);
    if (find_handler(handler, argument) != NULL) {
        result = JAYWALK_BAD_ARGUMENT;
    } else if (free_place != NULL) {
        *free_place = (struct registered){handler, argument};
        result = JAYWALK_OK;
    }
    pthread_mutex_unlock(&handlers.lock);
    return result;
}

int stacks_handler_remove(jaywalk_class_handler *handler, void *argument)
{
    pthread_mutex_lock(&handlers.lock);
    struct registered *place = find_handler(handler, argument);
    if (place != NULL)
        *place = (struct registered){NULL, NULL};
    pthread_mutex_unlock(&handlers.lock);
    return place == NULL ? JAYWALK_BAD_ARGUMENT : JAYWALK_OK;
}

/* ---- the thread that looks at classes ---- */

static bool is_gone(void *weak, void *argument)
{
    JNIEnv *const jni = argument;

    return (*jni)->IsSameObject(jni, weak, NULL) != JNI_FALSE;
}

static void *hold(void *weak, void *argument)
{
    JNIEnv *const jni = argument;

    return (*jni)->NewLocalRef(jni, weak);
}

static void release(void *held, void *argument)
{
    JNIEnv *const jni = argument;

    (*jni)->DeleteLocalRef(jni, held);
}

static void give_back(void *weak, void *argument)
{
    JNIEnv *const jni = argument;

    pthread_mutex_lock(&weak_lock);
    (*jni)->DeleteWeakGlobalRef(jni, weak);
    pthread_mutex_unlock(&weak_lock);
}

static void tell(const struct ids_event *event, void *argument)
{
    const struct jaywalk_class_event told = {
        .klass = event->klass,
        .is_redefined = event->is_redefined,
        .method_count = event->method_count,
        .methods = event->methods,
    };

    (void)argument;
    pthread_mutex_lock(&handlers.lock);
    for (size_t i = 0; i < JW_COUNT_OF(handlers.list) && !jw_load_relaxed(&stacks.is_ending); i++) {
        const struct registered place = handlers.list[i];

        if (place.handler != NULL)
            place.handler(&told, place.argument);
    }
    pthread_mutex_unlock(&handlers.lock);
}

/* What may end a class, or redefine one, goes along with a safepoint. */
static bool is_worth_a_look(void)
{
    static uint64_t seen;
    static int looks_left;
    uint64_t safepoints;

    if (!vm_safepoint_count(&safepoints))
        return true;
    if (safepoints != seen)
        looks_left = LOOKS_BEHIND;
    seen = safepoints;
    return looks_left-- > 0;
}

static void look_after_classes(void *argument)
{
    static char name[] = CLASSES_THREAD_NAME;
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_6, .name = name};
    JNIEnv *jni = NULL;

    (void)argument;
    if ((*agent.java_vm)->AttachCurrentThreadAsDaemon(agent.java_vm, (void **)&jni, &arguments) !=
        JNI_OK) {
        agent_log(OPTIONS_LOGLEVEL_ERROR,
                  "the JVM takes no further thread: other agents are not told of classes that are "
                  "unloaded or redefined, and their ids stay valid");
        return;
    }
    const struct ids_watch watch = {is_gone, hold, release, tell, give_back, jni};
    while (!jw_load_relaxed(&stacks.is_ending)) {
        if (is_worth_a_look())
            (void)ids_turn(&watch);
        (void)os_wake_wait(&stacks.wake, jw_now_ns() + LOOK_NS);
    }
    (*agent.java_vm)->DetachCurrentThread(agent.java_vm);
}

void stacks_end(void)
{
    if (!stacks_are_open())
        return;
    jw_store_relaxed(&stacks.is_ending, true);
    os_wake_post(&stacks.wake);
    if (!os_thread_join(&stacks.thread, jw_now_ns() + END_WAIT_NS))
        os_thread_detach(&stacks.thread);
}

/* ---- open ---- */

static bool open_bodies(JNIEnv *jni, struct jw_error *err)
{
    static const char *const names[] = {"java/lang/String", "java/lang/Thread", "java/lang/Class",
                                        "java/lang/ClassLoader"};
    vm_addr classes[JW_COUNT_OF(names)];

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        jclass klass = (*jni)->FindClass(jni, names[i]);

        if ((*jni)->ExceptionCheck(jni))
            (*jni)->ExceptionClear(jni);
        classes[i] = klass == NULL ? 0 : vm_klass_of(jni, klass);
        if (klass != NULL)
            (*jni)->DeleteLocalRef(jni, klass);
        if (classes[i] == 0) {
            jw_error_set(err, "the JVM does not tell the class %s", names[i]);
            return false;
        }
    }
    return vm_body_open(classes, JW_COUNT_OF(classes), err);
}

/* What the JVM has to tell for it. */
static bool open_vm(JNIEnv *jni, struct jw_error *err)
{
    jthread self = NULL;

    if (!hooks_open_vm(jni, err))
        return false;
    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE) {
        jw_error_set(err, "the JVM does not tell which thread asks");
        return false;
    }
    const bool are_classes_told = vm_klass_open(jni, self, err);
    (*jni)->DeleteLocalRef(jni, self);
    return are_classes_told && open_bodies(jni, err) && selfcheck_try(err);
}

static bool open_found(uint32_t places, struct jw_error *err)
{
    const size_t bytes = places * sizeof(struct found_thread);

    if (jw_load_relaxed(&stacks.found) != NULL)
        return true;
    stacks.found_mask = places - 1;
    struct found_thread *table =
        jw_memory_charge(JW_MEMORY_IDS, bytes) ? jw_memory_map(JW_MEMORY_IDS, bytes) : NULL;
    if (table == NULL) {
        jw_error_set(err, "memlimit leaves no room for the threads of this JVM; try a larger one");
        return false;
    }
    /* order STACKS_FOUND: releases the table. */
    jw_store_release(&stacks.found, table);
    return true;
}

static bool open_memory(const struct options *options, struct jw_error *err)
{
    if (jw_memory_limit_bytes() == 0)
        run_share_memory(options);

    const uint64_t bytes = jw_memory_limit_of(JW_MEMORY_IDS, UINT64_C(1) << 20);
    uint32_t places = FOUND_MIN;
    while (places < FOUND_MAX && places * sizeof(struct found_thread) < bytes / FOUND_SHARE)
        places *= 2;
    if (!ids_open(bytes - places * sizeof(struct found_thread), err))
        return false;
    return open_found(places, err);
}

static bool try_open(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    jw_store_relaxed(&stacks.result, JAYWALK_BUSY);
    if (jni == NULL) {
        jw_error_set(err, "the JVM takes no further thread");
        return false;
    }
    jw_store_relaxed(&stacks.result, JAYWALK_UNSUPPORTED);
    if (!open_vm(jni, err))
        return false;
    jw_store_relaxed(&stacks.result, JAYWALK_NO_ROOM);
    if (!open_memory(options, err) || !hooks_list_classes(jni, class_listed, err))
        return false;
    hooks_catch_up_stacks(jni, found_thread);
    jw_store_relaxed(&stacks.result, JAYWALK_BUSY);
    return os_thread_start(&stacks.thread, CLASSES_THREAD_NAME, look_after_classes, NULL, err);
}

bool stacks_open(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (!stacks_are_open()) {
        if (!try_open(jni, options, err))
            return false;
        session_want_rows();
        session_serve_symbols();
        ids_listed();
        /* order STACKS_OPEN: releases what was made ready. */
        jw_store_release(&stacks.is_open, true);
    }
    jw_store_relaxed(&stacks.result, JAYWALK_OK);
    return true;
}

void stacks_serve(void)
{
    session_serve_symbols();
    run_rest(SERVE_WAIT_NS);
}
