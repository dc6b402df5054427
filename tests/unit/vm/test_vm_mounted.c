/* The virtual thread that a carrier runs: by the number that the JVM keeps, by its object, or not at all. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "vm/vm_mounted.h"

TestSuite(vm_mounted, .timeout = 300);

#define OWN_ID     21
#define VIRTUAL_ID 77

/* Source: OpenJDK, globalDefinitions.hpp, JavaThreadState. */
enum { IN_NATIVE = 4, IN_VM = 6, IN_JAVA = 8 };

static unsigned char own_object[128], virtual_object[128];
static void *own_handle = own_object, *running_handle = own_object;
static bool use_g1, use_z;
static unsigned char flag_table[2 * 24];
static uintptr_t flags_static = (uintptr_t)flag_table, flag_count = 2;
static struct JNINativeInterface_ functions;
static jlong own_id;

static jlong JNICALL get_long(JNIEnv *env, jobject thread, jfieldID field)
{
    (void)env;
    (void)thread;
    (void)field;
    return own_id;
}

static void add_flag(size_t index, const char *name, bool *value)
{
    memcpy(flag_table + index * 24 + 8, &name, sizeof name);
    memcpy(flag_table + index * 24, &value, sizeof value);
}

static void add_flags(void)
{
    add_flag(0, "UseG1GC", &use_g1);
    add_flag(1, "UseZGC", &use_z);
    fake_jvm->add_type("JVMFlag", 24);
    fake_jvm->add_field("JVMFlag", "_name", "const char*", false, 8, NULL);
    fake_jvm->add_field("JVMFlag", "_addr", "", false, 0, NULL);
    fake_jvm->add_field("JVMFlag", "flags", "JVMFlag*", true, 0, &flags_static);
    fake_jvm->add_field("JVMFlag", "numFlags", "size_t", true, 0, &flag_count);
}

static JNIEnv *env(void)
{
    return (JNIEnv *)(void *)(fake.java_thread + offset_of("JavaThread", "_anchor") +
                              VM_ENV_AFTER_ANCHOR_BYTES);
}

static void set_number(unsigned char *object, uint64_t number)
{
    memcpy(object + FAKE_THREAD_NUMBER_OFFSET, &number, sizeof number);
}

static void set_state(uint64_t state)
{
    set(fake.java_thread, "JavaThread", "_thread_state", state, 4);
}

static void set_owner(uint64_t number)
{
    set(fake.java_thread, "JavaThread", "_monitor_owner_id", number, 8);
}

/* The calling thread's JavaThread, nothing mounted. */
static void open_with(enum layout_jdk jdk, bool has_owner, bool is_g1)
{
    struct jw_error err = {0};
    const struct JNINativeInterface_ *const table = &functions;

    prepare_fake(jdk, "A");
    add_flags();
    use_g1 = is_g1;
    use_z = !is_g1;
    if (!has_owner)
        fake_jvm->hide_field("JavaThread", "_monitor_owner_id");
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    functions.GetLongField = get_long;
    own_id = OWN_ID;
    memcpy(env(), &table, sizeof table);
    set_number(own_object, OWN_ID);
    set_number(virtual_object, VIRTUAL_ID);
    set_pointer(fake.java_thread, "JavaThread", "_threadObj", &own_handle);
    set_pointer(fake.java_thread, "JavaThread", "_vthread", &running_handle);
    set_owner(OWN_ID);
    set_state(IN_JAVA);
}

static void mount(void)
{
    set_owner(VIRTUAL_ID);
    running_handle = virtual_object;
}

static enum vm_mounted_way way(void)
{
    return vm_mounted_open(env(), (jobject)own_object);
}

static uint64_t told(void)
{
    return vm_thread_mounted(env(), OWN_ID);
}

Test(vm_mounted, a_jvm_without_virtual_threads_mounts_none)
{
    open_with(LAYOUT_17, true, true);
    cr_assert(eq(int, way(), VM_MOUNTED_NEVER));
    mount();
    cr_assert(eq(u64, told(), 0));
}

Test(vm_mounted, the_owner_of_monitors_is_the_mounted_thread)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    cr_assert(eq(u64, told(), 0));
    mount();
    set_state(IN_NATIVE);
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    cr_assert(eq(u64, vm_thread_mounted(NULL, OWN_ID), 0));
    cr_assert(eq(u64, vm_thread_mounted((const void *)UINTPTR_MAX, OWN_ID), 0));
}

Test(vm_mounted, a_number_that_is_not_the_own_one_is_not_believed)
{
    open_with(LAYOUT_25, true, false);
    set_owner(OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
}

Test(vm_mounted, without_that_number_the_object_tells_where_no_safepoint_can_be)
{
    open_with(LAYOUT_25, false, true);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_OBJECT));
    cr_assert(eq(u64, told(), 0));
    mount();
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    set_state(IN_VM);
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    set_state(IN_NATIVE);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
    set_state(IN_JAVA + 1);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
    running_handle = NULL;
    set_state(IN_JAVA);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
}

Test(vm_mounted, m03_a_concurrent_collector_s_objects_are_not_read)
{
    open_with(LAYOUT_25, false, false);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
    cr_assert(eq(u64, told(), 0));
    mount();
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
}

Test(vm_mounted, an_object_that_does_not_prove_itself_is_not_read)
{
    open_with(LAYOUT_25, false, true);
    set_number(own_object, OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
}

Test(vm_mounted, the_way_is_found_once)
{
    open_with(LAYOUT_25, true, true);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    set_owner(OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
}
