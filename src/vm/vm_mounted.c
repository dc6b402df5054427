/* The mounted virtual thread; control for finding out how the JVM tells, and handler. */
#include "vm/vm_mounted.h"

#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"

/* A collector may move the calling thread's object between two looks at it; so it is tried some times. */
#define TRIES 10

static struct {
    enum vm_mounted_way way;
    bool is_open;
    struct vm_field owner_id;
    struct vm_field own_object,
        running_object;     /* of a JavaThread: addresses of words that hold an object's */
    struct vm_field number; /* of a java.lang.Thread */
    uint64_t in_java, in_vm;
    int32_t name; /* of a java.lang.Thread; -1: names are not read */
} mounted;

JW_SIGNAL_SAFE static bool load_objects(vm_addr thread, uint64_t *own, uint64_t *running)
{
    uint64_t own_handle, running_handle;

    return vm_load_field(thread, mounted.own_object, &own_handle) &&
           vm_load_field(thread, mounted.running_object, &running_handle) &&
           safe_load_u64(own_handle, own) && safe_load_u64(running_handle, running);
}

/* While it is in one of these states, the JVM reaches no safepoint. */
JW_SIGNAL_SAFE static bool holds_off_safepoints(vm_addr thread)
{
    uint64_t state;

    return vm_load_field(thread, vm_layout.thread_state, &state) &&
           (state == mounted.in_java || state == mounted.in_vm);
}

JW_SIGNAL_SAFE static uint64_t by_object(vm_addr thread)
{
    uint64_t own, running, number;

    if (!load_objects(thread, &own, &running) || own == running)
        return 0;
    return mounted.way == VM_MOUNTED_BY_OBJECT && holds_off_safepoints(thread) &&
                   vm_load_field(running, mounted.number, &number)
               ? number
               : VM_MOUNTED_UNTOLD;
}

uint64_t vm_thread_mounted(const void *env, uint64_t own_id)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t number;

    if (thread == 0 || mounted.way == VM_MOUNTED_NEVER)
        return 0;
    if (mounted.way != VM_MOUNTED_BY_NUMBER)
        return by_object(thread);
    if (own_id == 0)
        return VM_MOUNTED_UNTOLD;
    return vm_load_field(thread, mounted.owner_id, &number) && number != own_id ? number : 0;
}

bool vm_thread_mounted_name(const void *env, uint64_t number, struct vm_string *out)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t own, running, told;
    vm_addr name;

    out->length_bytes = 0;
    return thread != 0 && mounted.name >= 0 && holds_off_safepoints(thread) &&
           load_objects(thread, &own, &running) && vm_load_field(running, mounted.number, &told) &&
           told == number && vm_load_reference(running, mounted.name, &name) &&
           vm_string_read(name, out);
}

bool vm_mounted_object(vm_addr thread, vm_addr *object)
{
    uint64_t own, running;

    *object = 0;
    if (!mounted.is_open || !load_objects(thread, &own, &running) || own == running)
        return false;
    *object = running;
    return vm_is_plausible(running);
}

/* A flag of the JVM that is set. */
static bool is_set(const char *name)
{
    const uintptr_t addr = vm_structs_flag(name);
    uint8_t value = 0;

    return addr != 0 && safe_load_u8(addr, &value) && value != 0;
}

/* Source: OpenJDK, the collectors that are not concurrent, or mark, refine and sweep only, while threads run. CMS, and ParNew which
 * may be there without it, are of JDK 8 to 13. */
bool vm_moves_in_safepoints_only(void)
{
    return is_set("UseSerialGC") || is_set("UseParallelGC") || is_set("UseG1GC") ||
           is_set("UseEpsilonGC") || is_set("UseConcMarkSweepGC") || is_set("UseParNewGC");
}

static bool tells_by_number(vm_addr thread, uint64_t own_id)
{
    uint64_t number;

    return vm_load_field(thread, mounted.owner_id, &number) && number == own_id;
}

static bool tells_by_object(vm_addr thread, uint64_t own_id)
{
    uint64_t own, running, number;

    for (int i = 0; i < TRIES; i++)
        if (load_objects(thread, &own, &running) && own == running &&
            vm_load_field(own, mounted.number, &number) && number == own_id)
            return true;
    return false;
}

static enum vm_mounted_way find_way(JNIEnv *jni, jobject calling_thread)
{
    const vm_addr thread = vm_thread_of_env(jni);
    const uint64_t own_id = vm_java_thread_id(jni, calling_thread);

    if (vm_layout.major < 21)
        return VM_MOUNTED_NEVER;
    mounted.owner_id = vm_structs_field("JavaThread", "_monitor_owner_id");
    mounted.own_object = vm_structs_field("JavaThread", "_threadObj");
    mounted.running_object = vm_structs_field("JavaThread", "_vthread");
    /* An OopHandle: one address. */
    mounted.own_object.width = mounted.running_object.width = sizeof(uint64_t);
    mounted.owner_id.width = sizeof(uint64_t);
    mounted.number =
        (struct vm_field){vm_offset_of_field(vm_java_thread_id_field()), sizeof(uint64_t)};
    mounted.in_java = (uint64_t)vm_structs_constant("_thread_in_Java", -1);
    mounted.in_vm = (uint64_t)vm_structs_constant("_thread_in_vm", -1);
    if (thread == 0 || own_id == 0)
        return VM_MOUNTED_NOT_TOLD;
    if (tells_by_number(thread, own_id))
        return VM_MOUNTED_BY_NUMBER;
    return vm_moves_in_safepoints_only() && tells_by_object(thread, own_id) ? VM_MOUNTED_BY_OBJECT
                                                                            : VM_MOUNTED_NOT_TOLD;
}

/* Where a thread has its name, if the calling one's is found there. */
static int32_t find_name(JNIEnv *jni, jobject calling_thread)
{
    const vm_addr thread = vm_thread_of_env(jni);
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    jfieldID field =
        type == NULL ? NULL : (*jni)->GetFieldID(jni, type, "name", "Ljava/lang/String;");
    jstring name = field == NULL ? NULL : (*jni)->GetObjectField(jni, calling_thread, field);
    const int32_t offset = vm_offset_of_field(field);
    bool is_proved = false;
    uint64_t own, running;

    for (int i = 0; i < TRIES && name != NULL && offset >= 0 && !is_proved; i++)
        is_proved = load_objects(thread, &own, &running) && vm_string_prove(jni, own, offset, name);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (name != NULL)
        (*jni)->DeleteLocalRef(jni, name);
    if (type != NULL)
        (*jni)->DeleteLocalRef(jni, type);
    return is_proved ? offset : -1;
}

enum vm_mounted_way vm_mounted_open(JNIEnv *jni, jobject calling_thread)
{
    if (mounted.is_open)
        return mounted.way;
    mounted.way = find_way(jni, calling_thread);
    mounted.name = mounted.way == VM_MOUNTED_NEVER || mounted.way == VM_MOUNTED_NOT_TOLD ||
                           !vm_moves_in_safepoints_only()
                       ? -1
                       : find_name(jni, calling_thread);
    mounted.is_open = true;
    return mounted.way;
}

bool vm_mounted_tells_names(void)
{
    return mounted.is_open && mounted.name >= 0;
}
