/*
 * What include/jaywalk.h promises; any, on threads of the JVM and on others.
 *
 * Whose context it is: of a thread that has a slot, the thread's own. Else the thread is looked at: where a virtual
 * thread is mounted, its slot is asked for by its number each time, and the carrier gets none.
 */
#include "jaywalk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/version.h"
#include "context/context.h"
#include "sampler/sampler.h"
#include "thread/thread_filter.h"
#include "thread/thread_tls.h"

_Static_assert(JAYWALK_ATTRIBUTES_MAX == CONTEXT_ATTRIBUTES_MAX &&
                   JAYWALK_NAME_MAX_BYTES == CONTEXT_NAME_MAX_BYTES &&
                   JAYWALK_VALUE_MAX_BYTES == CONTEXT_VALUE_MAX_BYTES &&
                   JAYWALK_VALUES_MAX_BYTES == CONTEXT_ATTRIBUTES_BYTES &&
                   JAYWALK_ENDPOINT_MAX_BYTES == CONTEXT_ENDPOINT_MAX_BYTES,
               "the header says what there is");

/* Source: OpenJDK, jni.h: version and function from JDK 21 on; the headers of older JDKs have neither. */
#define JNI_WITH_VIRTUAL_THREADS 0x00150000
#define IS_VIRTUAL_THREAD_INDEX  234

typedef jboolean(JNICALL *is_virtual_thread)(JNIEnv *jni, jobject thread);

/* Who the calling thread is. */
struct caller {
    uint64_t owner; /* 0: cannot be told */
    bool is_virtual;
};

typedef jint(JNICALL *get_created)(JavaVM **vms, jsize room, jsize *count);

JavaVM *api_java_vm(void)
{
    static JavaVM *_Atomic found; /* relaxed: all find the same, which is there before they look */
    JavaVM *vm = agent.java_vm != NULL ? agent.java_vm : jw_load_relaxed(&found);
    jsize count = 0;
    get_created ask;

    if (vm != NULL)
        return vm;
    void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (libjvm == NULL)
        return NULL;
    *(void **)&ask = dlsym(libjvm, "JNI_GetCreatedJavaVMs");
    if (ask == NULL || ask(&vm, 1, &count) != JNI_OK || count == 0)
        vm = NULL;
    (void)dlclose(libjvm);
    jw_store_relaxed(&found, vm);
    return vm;
}

JNIEnv *api_own_jni(void)
{
    JavaVM *const vm = api_java_vm();
    void *jni = NULL;

    return vm != NULL && (*vm)->GetEnv(vm, &jni, JNI_VERSION_1_6) == JNI_OK ? jni : NULL;
}

bool api_is_virtual(JNIEnv *jni, jobject thread)
{
    is_virtual_thread ask;

    if ((*jni)->GetVersion(jni) < JNI_WITH_VIRTUAL_THREADS)
        return false;
    memcpy(&ask, (const unsigned char *)*jni + IS_VIRTUAL_THREAD_INDEX * sizeof ask, sizeof ask);
    return ask(jni, thread) != JNI_FALSE;
}

/*
 * The field is looked up once: class Thread is never unloaded.
 * Source: JDK 8 to 26, java.lang.Thread, field `tid`.
 */
uint64_t api_thread_number(JNIEnv *jni, jobject thread)
{
    static _Atomic(jfieldID) known; /* relaxed: whoever comes first finds the same */
    jfieldID field = jw_load_relaxed(&known);

    if (field == NULL) {
        /* Of this very class: one that extends it may have a field of the same name. */
        jclass thread_class = (*jni)->FindClass(jni, "java/lang/Thread");

        if (thread_class != NULL) {
            field = (*jni)->GetFieldID(jni, thread_class, "tid", "J");
            (*jni)->DeleteLocalRef(jni, thread_class);
        }
        if (field == NULL) {
            (*jni)->ExceptionClear(jni);
            return 0;
        }
        jw_store_relaxed(&known, field);
    }
    return (uint64_t)(*jni)->GetLongField(jni, thread, field);
}

/* Thread.currentThread(), by JNI alone, as the agent may not have begun yet. */
static jobject current_thread(JNIEnv *jni, jclass thread_class)
{
    jmethodID method =
        (*jni)->GetStaticMethodID(jni, thread_class, "currentThread", "()Ljava/lang/Thread;");

    return method == NULL ? NULL : (*jni)->CallStaticObjectMethod(jni, thread_class, method);
}

/* Source: JDK 8 to 26, java.lang.Thread: its number, which an application cannot override, is field `tid`. */
static bool ask_java(JNIEnv *jni, struct caller *out)
{
    jclass thread_class = (*jni)->FindClass(jni, "java/lang/Thread");
    jfieldID field =
        thread_class == NULL ? NULL : (*jni)->GetFieldID(jni, thread_class, "tid", "J");
    jobject thread = field == NULL ? NULL : current_thread(jni, thread_class);

    if (thread != NULL) {
        out->owner = (uint64_t)(*jni)->GetLongField(jni, thread, field);
        out->is_virtual = api_is_virtual(jni, thread);
        (*jni)->DeleteLocalRef(jni, thread);
    }
    if (thread_class != NULL)
        (*jni)->DeleteLocalRef(jni, thread_class);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return thread != NULL;
}

/* JAYWALK_OK or JAYWALK_BUSY. */
static int find_caller(struct caller *out)
{
    JNIEnv *const jni = api_own_jni();

    *out = (struct caller){.owner = CONTEXT_NATIVE_OWNER | thread_own_tid()};
    if (jni == NULL)
        return JAYWALK_OK;
    return !(*jni)->ExceptionCheck(jni) && ask_java(jni, out) ? JAYWALK_OK : JAYWALK_BUSY;
}

/* The slot of whoever calls, made when there is none. */
static int slot_of_caller(context_slot *slot)
{
    uint64_t owner;
    struct caller caller;

    *slot = context_own(&owner);
    if (*slot != CONTEXT_NO_SLOT)
        return JAYWALK_OK;
    if (!contexts_open(NULL))
        return JAYWALK_NO_ROOM;

    const int result = find_caller(&caller);
    if (result != JAYWALK_OK)
        return result;
    *slot = context_bind(caller.owner, caller.is_virtual);
    return *slot == CONTEXT_NO_SLOT ? JAYWALK_NO_ROOM : JAYWALK_OK;
}

/* Of a virtual thread the slot is looked for, and none is made; `owner` is 0 unless it is one. */
static context_slot known_slot(uint64_t *owner)
{
    struct caller caller;
    const context_slot slot = context_own(owner);

    *owner = 0;
    if (slot != CONTEXT_NO_SLOT || find_caller(&caller) != JAYWALK_OK)
        return slot;
    if (caller.is_virtual)
        *owner = caller.owner;
    return caller.is_virtual ? context_find(caller.owner) : CONTEXT_NO_SLOT;
}

static struct context_text text_of(const char *text)
{
    return (struct context_text){.bytes = text, .length_bytes = text == NULL ? 0 : strlen(text)};
}

PUBLIC const char *jaywalk_version(void)
{
    return JAYWALK_VERSION;
}

PUBLIC int jaywalk_is_active(void)
{
    return run_generations() != NULL;
}

PUBLIC int jaywalk_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span,
                               uint64_t root_span)
{
    const struct context_ids ids = {trace_high, trace_low, span, root_span};
    context_slot slot;
    const int result = slot_of_caller(&slot);

    if (result == JAYWALK_OK)
        context_set(slot, &ids);
    return result;
}

PUBLIC void jaywalk_context_clear(void)
{
    uint64_t virtual_owner;
    const context_slot slot = known_slot(&virtual_owner);

    if (virtual_owner != 0)
        context_unbind(slot, virtual_owner);
    else
        context_clear(slot);
}

PUBLIC int jaywalk_attribute(const char *name)
{
    struct jw_error err = {0};

    if (name == NULL)
        return JAYWALK_BAD_ARGUMENT;
    const int number = context_attribute(name, strlen(name), &err);
    return number == CONTEXT_NAMES_FULL ? JAYWALK_NO_ROOM
           : number < 0                 ? JAYWALK_BAD_ARGUMENT
                                        : number;
}

PUBLIC int jaywalk_attribute_set(int attribute, const char *value, size_t length)
{
    context_slot slot;

    if (attribute < 0 || context_attribute_name((unsigned)attribute) == NULL ||
        (value == NULL && length != 0) || length > CONTEXT_VALUE_MAX_BYTES)
        return JAYWALK_BAD_ARGUMENT;
    if (length == 0) {
        jaywalk_attribute_clear(attribute);
        return JAYWALK_OK;
    }
    const int result = slot_of_caller(&slot);
    if (result != JAYWALK_OK)
        return result;
    return context_attribute_set(slot, (unsigned)attribute, value, length) ? JAYWALK_OK
                                                                           : JAYWALK_NO_ROOM;
}

PUBLIC void jaywalk_attribute_clear(int attribute)
{
    uint64_t virtual_owner;

    if (attribute >= 0)
        context_attribute_clear(known_slot(&virtual_owner), (unsigned)attribute);
}

static int result_of(bool is_recorded, const struct generations *generations)
{
    return is_recorded ? JAYWALK_OK : generations == NULL ? JAYWALK_IDLE : JAYWALK_NO_ROOM;
}

PUBLIC int jaywalk_endpoint(uint64_t root_span, const char *name, const char *operation)
{
    struct generations *const generations = run_generations();
    uint64_t virtual_owner;

    if (name == NULL || name[0] == '\0')
        return JAYWALK_BAD_ARGUMENT;
    return result_of(context_endpoint(generations, root_span, text_of(name), text_of(operation),
                                      known_slot(&virtual_owner)),
                     generations);
}

PUBLIC int jaywalk_span(const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    struct generations *const generations = run_generations();
    uint64_t virtual_owner;

    /* A clock that is not CLOCK_MONOTONIC would stretch the chunk by years. */
    if (name == NULL || name[0] == '\0' || end_ns < begin_ns || end_ns > jw_now_ns())
        return JAYWALK_BAD_ARGUMENT;
    return result_of(
        context_span(generations, text_of(name), begin_ns, end_ns, known_slot(&virtual_owner)),
        generations);
}

/* ---- which threads are sampled ---- */

static pthread_key_t added;
static pthread_once_t added_once = PTHREAD_ONCE_INIT;
static bool has_added_key; /* written by the once */

static void forget_added(void *argument)
{
    (void)argument;
    thread_filter_remove(thread_own_tid());
}

static void make_added_key(void)
{
    has_added_key = pthread_key_create(&added, forget_added) == 0;
}

/* The mark is of the thread's number, which another thread may get when this one has ended. */
PUBLIC int jaywalk_thread_add(void)
{
    if (entry_is_child())
        return JAYWALK_OK; /* nothing is sampled there */
    pthread_once(&added_once, make_added_key);
    if (!has_added_key || pthread_setspecific(added, &added) != 0)
        return JAYWALK_NO_ROOM;
    thread_filter_add(thread_own_tid());
    sampler_thread_asked(thread_own_tid());
    return JAYWALK_OK;
}

PUBLIC int jaywalk_thread_remove(void)
{
    if (entry_is_child())
        return JAYWALK_OK;
    thread_filter_remove(thread_own_tid());
    sampler_thread_asked(thread_own_tid());
    return JAYWALK_OK;
}

/* ---- commands ---- */

PUBLIC int jaywalk_execute(const char *command, jaywalk_output *output, void *argument)
{
    struct answer_memory memory = {0};
    JavaVM *const vm = api_java_vm();

    if (command == NULL || strnlen(command, OPTIONS_MAX_BYTES + 1) > OPTIONS_MAX_BYTES)
        return JAYWALK_BAD_ARGUMENT;
    if (entry_is_child() || api_own_jni() == NULL)
        return JAYWALK_NO_JVM;
    if (!entry_obey(vm, command, &memory, NULL))
        return JAYWALK_NO_ROOM;
    if (output != NULL && memory.used_bytes != 0)
        output(argument, memory.text, memory.used_bytes);
    jw_free(memory.text);
    return memory.code;
}
