/*
 * fake_monitor - an object of the fake JVM that is locked by its thread, and the monitor that it leads to.
 *
 * `open_with` opens the JVM and tries whether owners can be told; what owns the monitor afterwards a test says by `set_monitor_owner`.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_MONITOR_H
#define JW_TESTS_UNIT_VM_FAKE_MONITOR_H

#include "unit/vm/fake_mounted.h"
#include "vm/vm_monitor.h"

enum { OBJECT_AT = 8, OWNER_AT = 64, LOCK_STACK_AT = 3000 };
enum { TOP_AT = 0, FIRST_AT = 8 };

static _Alignas(8) unsigned char monitor[256], locked[64];
static void *weak = locked; /* the JVM's word for the object */
static void *handle = locked;
static bool makes_no_object;
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
    const bool by_number = jdk == LAYOUT_25;

    prepare_fake(jdk, "A");
    add_mounted_tables(by_number);
    add_monitor_tables("JavaThread");
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    prepare_mounted(true);
    functions.AllocObject = alloc_object;
    functions.MonitorEnter = enter;
    functions.MonitorExit = leave;
    put_word(locked, 0, (uint64_t)(uintptr_t)monitor | 2);
    put_word(monitor, OBJECT_AT, (uint64_t)(uintptr_t)&weak);
    owner_at_enter = by_number ? OWN_ID : (uint64_t)(uintptr_t)fake.java_thread;
    return vm_monitor_open(env(), (jobject)own_object, why);
}

static void open_well(enum layout_jdk jdk)
{
    struct jw_error why = {0};

    cr_assert(open_with(jdk, &why), "%s", why.message);
}

#endif
