/* JVMTI: what the JVM tells us of its classes, its code and its threads. Callbacks are hooks: they never
 * block, and log nothing. */
#include <string.h>

#include "agent/agent.h"
#include "agent/agree.h"
#include "agent/alloc.h"
#include "agent/classes.h"
#include "agent/collections.h"
#include "agent/locks.h"
#include "agent/stacks.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "context/context.h"
#include "os/os_tasks.h"
#include "sampler/sampler.h"
#include "signals/signals.h"
#include "vm/vm_class.h"
#include "vm/vm_compiler.h"
#include "vm/vm_continuation.h"
#include "vm/vm_frozen.h"
#include "vm/vm_klass.h"
#include "vm/vm_loader.h"
#include "vm/vm_mounted.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

static bool is_installed;
static bool is_code_unreported;     /* stubs were made before we listened */
static _Atomic bool are_ids_wanted; /* AsyncGetCallTrace walks, or did in this process */

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    (void)thread;
    (void)jni;
    run_vm_init();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti;
    (void)jni;
    stacks_end();
    commands_end();
}

/* AsyncGetCallTrace refuses to work unless somebody listens to ClassLoad. Source: HotSpot, forte.cpp,
 * JvmtiExport::should_post_class_load. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
    (void)thread;
    classes_defined(jvmti, jni, klass);
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
    (void)thread;
    vm_class_prepared(jvmti, jni, klass);
    stacks_class_prepared(jni, klass);
    /* order HOOKS_IDS: acquires that ids are wanted. */
    if (jw_load_acquire(&are_ids_wanted))
        vm_class_make_ids(jvmti, klass);
    agree_look(jvmti, jni);
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *address,
                                    jint length_bytes)
{
    (void)jvmti;
    vm_stub_report(name, address, length_bytes);
}

/* Nobody needs what it says: that somebody listens makes the compilers keep debug information at every pc
 * instead of at safepoints only. Source: HotSpot, DebugInformationRecorder and JvmtiExport. */
static void JNICALL on_compiled_method(jvmtiEnv *jvmti, jmethodID method, jint code_bytes,
                                       const void *address, jint map_count,
                                       const jvmtiAddrLocationMap *map, const void *compile_info)
{
    (void)jvmti;
    (void)method;
    (void)code_bytes;
    (void)address;
    (void)map_count;
    (void)map;
    (void)compile_info;
}

/* Name and group of a thread; what JVMTI allocates is given back by release_thread_text. */
struct thread_text {
    jvmtiThreadInfo info;
    jvmtiThreadGroupInfo group;
};

/* A thread whose name is not told is sampled all the same, and counted. */
static void read_thread_text(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, struct thread_text *out)
{
    memset(out, 0, sizeof *out);
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &out->info) != JVMTI_ERROR_NONE) {
        memset(out, 0, sizeof *out);
        jw_count(JW_COUNT_THREADS_UNNAMED);
        return;
    }
    if (out->info.thread_group != NULL &&
        (*jvmti)->GetThreadGroupInfo(jvmti, out->info.thread_group, &out->group) !=
            JVMTI_ERROR_NONE)
        out->group.name = NULL;
    (*jni)->DeleteLocalRef(jni, out->info.thread_group);
    (*jni)->DeleteLocalRef(jni, out->info.context_class_loader);
    (*jni)->DeleteLocalRef(jni, out->group.parent);
}

static void release_thread_text(jvmtiEnv *jvmti, struct thread_text *text)
{
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text->info.name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text->group.name);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    struct thread_text text;

    stacks_thread_start(jni);
    if (run_generations() == NULL)
        return;
    read_thread_text(jvmti, jni, thread, &text);
    const struct thread_java java = {
        .env = jni,
        .java_id = vm_java_thread_id(jni, thread),
        .name = text.info.name,
        .group = text.group.name,
    };
    sampler_thread_start((uint32_t)os_gettid(), &java);
    release_thread_text(jvmti, &text);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    stacks_thread_end();
    sampler_thread_end((uint32_t)os_gettid());
    context_end_thread();
}

static void JNICALL on_collection_start(jvmtiEnv *jvmti)
{
    (void)jvmti;
    collections_start();
}

static void JNICALL on_collection_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    collections_finish();
}

static void JNICALL on_sampled_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                     jclass klass, jlong object_bytes)
{
    (void)thread;
    alloc_sampled(jvmti, jni, object, klass, object_bytes);
}

static void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
    locks_enter(jvmti, jni, thread, object);
}

static void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                         jobject object)
{
    locks_entered(jvmti, jni, thread, object);
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                            jlong timeout_ms)
{
    (void)jvmti;
    (void)thread;
    locks_wait(jni, object, timeout_ms);
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                              jboolean is_expired)
{
    locks_waited(jvmti, jni, thread, object, is_expired);
}

static bool set_events(jvmtiEventMode mode, const jvmtiEvent *events, size_t count,
                       struct jw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const jvmtiError error =
            (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, events[i], NULL);

        if (error != JVMTI_ERROR_NONE) {
            jw_error_set(err, "the JVM refuses JVMTI event %d (error %d)", events[i], error);
            return false;
        }
    }
    return true;
}

/* Nobody needs them to sample: without them a recording lacks the collections. */
static void install_collections(void)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
    const jvmtiCapabilities capabilities = {.can_generate_garbage_collection_events = 1};
    struct jw_error why = {0};

    if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities) != JVMTI_ERROR_NONE)
        jw_error_set(&why, "no capability");
    else
        (void)set_events(JVMTI_ENABLE, events, JW_COUNT_OF(events), &why);
    if (why.message[0] != '\0')
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "recordings lack garbage collections: the JVM does not tell of them (%s)",
                  why.message);
}

bool hooks_install(bool is_late, struct jw_error *err)
{
    static const jvmtiEvent events[] = {
        JVMTI_EVENT_VM_DEATH,
        JVMTI_EVENT_CLASS_LOAD,
        JVMTI_EVENT_CLASS_PREPARE,
        JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
        JVMTI_EVENT_COMPILED_METHOD_LOAD,
        JVMTI_EVENT_THREAD_START,
        JVMTI_EVENT_THREAD_END,
    };
    static const jvmtiEvent init = JVMTI_EVENT_VM_INIT;
    static const jvmtiEventCallbacks callbacks = {
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .ClassLoad = on_class_load,
        .ClassPrepare = on_class_prepare,
        .DynamicCodeGenerated = on_dynamic_code,
        .CompiledMethodLoad = on_compiled_method,
        .ThreadStart = on_thread_start,
        .ThreadEnd = on_thread_end,
        .GarbageCollectionStart = on_collection_start,
        .GarbageCollectionFinish = on_collection_finish,
        .SampledObjectAlloc = on_sampled_alloc,
        .MonitorContendedEnter = on_contended_enter,
        .MonitorContendedEntered = on_contended_entered,
        .MonitorWait = on_wait,
        .MonitorWaited = on_waited,
    };
    const jvmtiCapabilities capabilities = {.can_generate_compiled_method_load_events = 1};
    jvmtiError error;

    if (is_installed)
        return true;
    if ((error = (*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities)) != JVMTI_ERROR_NONE ||
        (error = (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof callbacks)) !=
            JVMTI_ERROR_NONE) {
        jw_error_set(err, "the JVM refuses what profiling needs (JVMTI error %d)", error);
        return false;
    }
    if (!set_events(JVMTI_ENABLE, events, JW_COUNT_OF(events), err) ||
        (!is_late && !set_events(JVMTI_ENABLE, &init, 1, err))) {
        (void)set_events(JVMTI_DISABLE, events, JW_COUNT_OF(events), NULL);
        return false;
    }
    install_collections();
    is_installed = true;
    is_code_unreported = is_late;
    return true;
}

/* JVMTI answers lists with one local reference each, more than a frame is meant to hold; -Xcheck:jni says
 * so. Source: HotSpot, PushLocalFrame refuses more than this. */
#define LOCAL_REFERENCES_MAX 65535

static void found_class(JNIEnv *jni, jclass klass)
{
    vm_class_found(agent.jvmti, jni, klass);
}

static void make_ids(JNIEnv *jni, jclass klass)
{
    (void)jni;
    vm_class_make_ids(agent.jvmti, klass);
}

bool hooks_list_classes(JNIEnv *jni, void (*visit)(JNIEnv *jni, jclass klass), struct jw_error *err)
{
    jclass *classes = NULL;
    jint count = 0;

    if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES_MAX) != 0) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "the JVM has no memory left to list its classes");
        return false;
    }
    const jvmtiError error = (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &count, &classes);
    for (jint i = 0; error == JVMTI_ERROR_NONE && i < count && !run_is_given_up(); i++)
        visit(jni, classes[i]);
    (*jni)->PopLocalFrame(jni, NULL);
    if (error != JVMTI_ERROR_NONE) {
        jw_error_set(err, "the JVM does not list its classes (JVMTI error %d)", error);
        return false;
    }
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)classes);
    return true;
}

bool hooks_make_method_ids(JNIEnv *jni, struct jw_error *err)
{
    static bool is_done; /* of the agent's thread */

    if (is_done)
        return true;
    /* First this, so that no class falls between the list and the hook.
     * order HOOKS_IDS: releases that ids are wanted. */
    jw_store_release(&are_ids_wanted, true);
    is_done = hooks_list_classes(jni, make_ids, err) && !run_is_given_up();
    return is_done;
}

/* What the walker in use needs to know of classes that were there before us: as a rule, nothing. */
static bool catch_up_classes(JNIEnv *jni, struct jw_error *err)
{
    const char *walker = walk_walker_in_use(NULL, 0);

    if (walker != NULL && strcmp(walker, walk_walker_text(WALK_AGCT)) == 0 &&
        !hooks_make_method_ids(jni, err) && !run_is_given_up())
        return false;
    return vm_loader_tells() || hooks_list_classes(jni, found_class, err);
}

static void catch_up_code(void)
{
    if (!is_code_unreported)
        return;

    const jvmtiError error =
        (*agent.jvmti)->GenerateEvents(agent.jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    if (error != JVMTI_ERROR_NONE)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "the JVM does not list its generated stubs (JVMTI error %d); more stacks than "
                  "usual will be incomplete",
                  error);
    is_code_unreported = error != JVMTI_ERROR_NONE;
}

/* How classes and loaders are told from others that come to their addresses. */
static void open_classes(JNIEnv *jni)
{
    struct jw_error why = {0};
    jthread self = NULL;

    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE)
        return;
    if (!vm_klass_open(jni, self, &why))
        agent_log(OPTIONS_LOGLEVEL_DEBUG,
                  "each class that is loaded makes all names be read anew: %s", why.message);
    (*jni)->DeleteLocalRef(jni, self);
    vm_loader_open();
    if (!vm_loader_tells())
        agent_log(
            OPTIONS_LOGLEVEL_DEBUG,
            "this JVM does not tell the loaders of its classes: each class is asked for its own");
}

bool hooks_open_vm(JNIEnv *jni, struct jw_error *err)
{
    /* Faults first: from here on JVM memory is read. */
    if (!signals_own_faults(err) || !vm_open(agent.java_vm, agent.jvmti, err))
        return false;
    open_classes(jni);
    return true;
}

/* The way to the JNIEnv of other threads is tried on this one; once, as others may walk their stacks from then on. */
static void check_threads(JNIEnv *jni)
{
    static bool is_done; /* of the agent's thread */
    jthread self = NULL;

    if (is_done || (*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE)
        return;
    if (!vm_check_java_thread(jni, self))
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "this JVM keeps its threads in a way that jaywalk does not know: threads that "
                  "began before it are shown without Java frames");
    const enum vm_mounted_way way = vm_mounted_open(jni, self);
    if (way == VM_MOUNTED_BY_OBJECT || way == VM_MOUNTED_NOT_TOLD)
        agent_log(OPTIONS_LOGLEVEL_DEBUG,
                  "this JVM tells %s which virtual thread is mounted: such samples are the "
                  "carrier's, and have no context",
                  way == VM_MOUNTED_NOT_TOLD ? "nobody" : "in native code nobody");
    if (way != VM_MOUNTED_NEVER && !vm_mounted_tells_names())
        agent_log(OPTIONS_LOGLEVEL_DEBUG,
                  "virtual threads are told by their numbers alone: with this JVM's collector, or "
                  "in its objects, their names cannot be read");
    if (way != VM_MOUNTED_NEVER)
        vm_continuation_open(jni);
    if (way != VM_MOUNTED_NEVER && !vm_frozen_open(jni))
        agent_log(OPTIONS_LOGLEVEL_DEBUG,
                  "frames of virtual threads that lie in the heap after a wait cannot be read with "
                  "this JVM's collector, or in its objects: such stacks end in [frozen]");
    (*jni)->DeleteLocalRef(jni, self);
    vm_compiler_open(jni);
    is_done = true;
}

bool hooks_catch_up(JNIEnv *jni, struct jw_error *err)
{
    check_threads(jni);
    catch_up_code();
    vm_stub_settle();
    return catch_up_classes(jni, err);
}

/* False: the JVM does not list them. */
static bool each_java_thread(JNIEnv *jni,
                             void (*visit)(JNIEnv *jni, jthread thread, void *env, uint32_t tid))
{
    jthread *threads = NULL;
    jint count = 0;

    if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES_MAX) != 0) {
        (*jni)->ExceptionClear(jni);
        return false;
    }
    const bool is_listed =
        (*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &threads) == JVMTI_ERROR_NONE;
    if (!is_listed) {
        count = 0;
        threads = NULL;
    }
    for (jint i = 0; i < count; i++) {
        void *env;
        uint32_t tid;

        if (vm_java_thread(jni, threads[i], &env, &tid))
            visit(jni, threads[i], env, tid);
    }
    (*jni)->PopLocalFrame(jni, NULL);
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)threads);
    return is_listed;
}

static void found_thread(JNIEnv *jni, jthread thread, void *env, uint32_t tid)
{
    struct thread_text text;
    void *still_env;
    uint32_t still_tid;

    read_thread_text(agent.jvmti, jni, thread, &text);
    const struct thread_java java = {
        .env = env,
        .java_id = vm_java_thread_id(jni, thread),
        .name = text.info.name,
        .group = text.group.name,
    };
    sampler_thread_found(tid, &java);
    release_thread_text(agent.jvmti, &text);
    /* It may have ended between the two: then nobody else takes the JNIEnv away again. */
    if (!vm_java_thread(jni, thread, &still_env, &still_tid) || still_tid != tid)
        sampler_thread_end(tid);
}

void hooks_catch_up_stacks(JNIEnv *jni,
                           void (*visit)(JNIEnv *jni, jthread thread, void *env, uint32_t tid))
{
    check_threads(jni);
    catch_up_code();
    vm_stub_settle();
    if (!each_java_thread(jni, visit))
        agent_log(
            OPTIONS_LOGLEVEL_WARN,
            "the JVM does not list its threads: the stacks of those that began before are empty");
}

void hooks_find_threads(JNIEnv *jni)
{
    if (!each_java_thread(jni, found_thread))
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "the JVM does not list its threads: those that began before are shown without "
                  "Java names and frames");
}

/* Or gets its name at last, where the JVM refused it when the thread was found. */
static void rename_thread(JNIEnv *jni, jthread thread, void *env, uint32_t tid)
{
    const thread_index index = thread_find(tid);
    struct thread_text text;
    struct thread_info info;

    (void)env;
    read_thread_text(agent.jvmti, jni, thread, &text);
    if (index != THREAD_NONE && thread_is_java(index) && thread_info(index, &info) &&
        text.info.name != NULL &&
        strncmp(info.java_name, text.info.name, sizeof info.java_name - 1) != 0)
        sampler_thread_renamed(index, text.info.name);
    release_thread_text(agent.jvmti, &text);
}

void hooks_refresh_thread_names(JNIEnv *jni)
{
    if (!each_java_thread(jni, rename_thread))
        jw_count(JW_COUNT_THREADS_UNNAMED);
}
