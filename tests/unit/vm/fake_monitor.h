/*
 * fake_monitor - an object of the fake JVM that is locked by its thread, and the monitor that it leads to.
 *
 * `open_with` opens the JVM and tries whether owners can be told; what owns the monitor afterwards a test says by `set_monitor_owner`.
 * `has_table` before it: the mark leads nowhere, and monitors stand in a list, `newest` first. `has_colours`: ZGC writes their objects.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_MONITOR_H
#define JW_TESTS_UNIT_VM_FAKE_MONITOR_H

#include "unit/vm/fake_mounted.h"
#include "vm/vm_monitor.h"

enum { OBJECT_AT = 8, OWNER_AT = 64, NEXT_AT = 128, LOCK_STACK_AT = 3000 };
enum { TOP_AT = 0, FIRST_AT = 8, HEAD_AT = 8, PENDING_AT = 3200, WAITING_AT = 3208 };
enum { BAD_BITS_AT = 16, SHIFT_AT = 24 }; /* among ZGC's */

static _Alignas(8) unsigned char monitor[256], locked[64];
static void *weak = locked; /* the JVM's word for the object */
static void *handle = locked;
static bool makes_no_object, has_table, has_colours, has_no_pending;
static _Alignas(8) unsigned char list[16],
    newest[256]; /* the JVM's, and a monitor of another object */
static uint64_t z_bad_bits = 0x1000, z_shift = 14;
static _Alignas(8) unsigned char z_globals[64];
static void *z_instance = z_globals;
static uint64_t owner_at_enter; /* what the JVM writes when it locks */

static void set_monitor_owner(uint64_t owner)
{
    memcpy(monitor + OWNER_AT, &owner, sizeof owner);
}

static jobject JNICALL alloc_object(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    return makes_no_object ? NULL : (jobject)&handle;
}

static jint JNICALL enter(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
    set_monitor_owner(owner_at_enter);
    return JNI_OK;
}

static jint JNICALL leave(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
    set_monitor_owner(0);
    return JNI_OK;
}

static void put_word(unsigned char *to, size_t at, uint64_t word)
{
    memcpy(to + at, &word, sizeof word);
}

static void put_pointer(unsigned char *to, size_t at, const void *pointer)
{
    put_word(to, at, (uint64_t)(uintptr_t)pointer);
}

/* As ZGC writes an address now: in the colour that is good. */
static inline void *in_colour(const void *object)
{
    return (void *)((uintptr_t)object << z_shift | 0x2000);
}

static void add_table_tables(const char *thread_type)
{
    fake_jvm->add_field("ObjectMonitor", "_next_om", "ObjectMonitor*", false, NEXT_AT, NULL);
    fake_jvm->add_field("ObjectSynchronizer", "_in_use_list", "MonitorList", true, 0, list);
    fake_jvm->add_field("MonitorList", "_head", "ObjectMonitor*", false, HEAD_AT, NULL);
    fake_jvm->add_field(thread_type, "_current_pending_monitor", "ObjectMonitor*", false,
                        PENDING_AT, NULL);
    fake_jvm->add_field(thread_type, "_current_waiting_monitor", "ObjectMonitor*", false,
                        WAITING_AT, NULL);
}

enum { THREADS_LENGTH_AT = 4, THREADS_AT = 16 };

static _Alignas(8) unsigned char thread_list[32];
static void *thread_list_static = thread_list;
static void *listed_threads[2];

/* The JVM's list has the calling thread alone. */
static void add_thread_list(void)
{
    const uint32_t count = 1;

    fake_jvm->add_field("ThreadsSMRSupport", "_java_thread_list", "ThreadsList*", true, 0,
                        &thread_list_static);
    fake_jvm->add_field("ThreadsList", "_length", "const uint", false, THREADS_LENGTH_AT, NULL);
    fake_jvm->add_field("ThreadsList", "_threads", "JavaThread *const *const", false, THREADS_AT,
                        NULL);
    listed_threads[0] = fake.java_thread;
    memcpy(thread_list + THREADS_LENGTH_AT, &count, sizeof count);
    put_pointer(thread_list, THREADS_AT, listed_threads);
}

static void add_z_tables(void)
{
    fake_jvm->add_field("ZGlobalsForVMStructs", "_instance_p", "", true, 0, &z_instance);
    fake_jvm->add_field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "uintptr_t*", false,
                        BAD_BITS_AT, NULL);
    fake_jvm->add_field("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", false, SHIFT_AT,
                        NULL);
    put_pointer(z_globals, BAD_BITS_AT, &z_bad_bits);
    put_pointer(z_globals, SHIFT_AT, &z_shift);
}

static void add_monitor_tables(const char *thread_type)
{
    fake_jvm->add_field("ObjectMonitor", "_object", NULL, false, OBJECT_AT, NULL);
    fake_jvm->add_field("ObjectMonitor", "_owner", NULL, false, OWNER_AT, NULL);
    fake_jvm->add_field(thread_type, "_lock_stack", "LockStack", false, LOCK_STACK_AT, NULL);
    fake_jvm->add_field("LockStack", "_top", "uint32_t", false, TOP_AT, NULL);
    fake_jvm->add_field("LockStack", "_base[0]", "oop", false, FIRST_AT, NULL);
}

static bool open_with(enum layout_jdk jdk, struct jw_error *why)
{
    struct jw_error err = {0};
    const bool by_number = jdk >= LAYOUT_25;

    prepare_fake(jdk, "A");
    add_mounted_tables(by_number);
    add_monitor_tables("JavaThread");
    add_table_tables("JavaThread");
    add_z_tables();
    add_thread_list();
    if (has_no_pending)
        fake_jvm->hide_field("JavaThread", "_current_pending_monitor");
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    prepare_mounted(true);
    functions.AllocObject = alloc_object;
    functions.MonitorEnter = enter;
    functions.MonitorExit = leave;
    /* The mark of an object whose monitor stands in the table has its hash there. */
    put_word(locked, 0, has_table ? 0x5aa5 << 8 | 2 : (uint64_t)(uintptr_t)monitor | 2);
    put_pointer(monitor, OBJECT_AT, &weak);
    put_pointer(list, HEAD_AT, newest);
    put_pointer(newest, NEXT_AT, monitor);
    if (has_colours) {
        use_z = true;
        weak = in_colour(locked);
    }
    owner_at_enter = by_number ? OWN_ID : (uint64_t)(uintptr_t)fake.java_thread;
    return vm_monitor_open(env(), (jobject)own_object, why);
}

static void open_well(enum layout_jdk jdk)
{
    struct jw_error why = {0};

    cr_assert(open_with(jdk, &why), "%s", why.message);
}

#endif
