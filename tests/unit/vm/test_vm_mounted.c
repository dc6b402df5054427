/* The virtual thread that a carrier runs: by the number that the JVM keeps, by its object, or not at all; and its name. */
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

/* A java.lang.String with its array of bytes, as a JVM with compressed class pointers has them. */
struct text_object {
    _Alignas(8) unsigned char string[32], array[96];
};

#define OWN_NAME     "main thread"
#define NAME_OFFSET  56
#define VALUE_OFFSET 16
#define CODER_OFFSET 24

static struct text_object own_name, virtual_name;
static bool is_nameless; /* JNI knows no field `name` */

static void name_it(unsigned char *thread, struct text_object *name, const char *text)
{
    const void *const string = name->string, *const array = name->array;
    const uint32_t length_bytes = (uint32_t)strlen(text);

    memset(name, 0, sizeof *name);
    memcpy(thread + NAME_OFFSET, &string, sizeof string);
    memcpy(name->string + VALUE_OFFSET, &array, sizeof array);
    memcpy(name->array + 12, &length_bytes, sizeof length_bytes);
    memcpy(name->array + 16, text, length_bytes);
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    return (jclass)(uintptr_t)(strcmp(name, "java/lang/String") == 0 ? 2 : 1);
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass type, const char *name, const char *signature)
{
    static const struct {
        const char *name;
        uintptr_t offset;
    } fields[] = {{"name", NAME_OFFSET}, {"value", VALUE_OFFSET}, {"coder", CODER_OFFSET}};

    (void)env;
    (void)type;
    (void)signature;
    for (size_t i = 0; i < JW_COUNT_OF(fields); i++)
        if (strcmp(name, fields[i].name) == 0 && !is_nameless)
            return (jfieldID)(fields[i].offset << FAKE_FIELD_ID_BITS | 2);
    return NULL;
}

static jobject JNICALL get_object(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    (void)object;
    (void)field;
    return (jobject)(uintptr_t)3;
}

static jsize JNICALL get_length(JNIEnv *env, jstring string)
{
    (void)env;
    (void)string;
    return (jsize)strlen(OWN_NAME);
}

static void JNICALL get_region(JNIEnv *env, jstring string, jsize from, jsize count, jchar *out)
{
    (void)env;
    (void)string;
    for (jsize i = 0; i < count; i++)
        out[i] = (jchar)OWN_NAME[from + i];
}

static jboolean JNICALL check_exception(JNIEnv *env)
{
    (void)env;
    return JNI_FALSE;
}

static void JNICALL delete_reference(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
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
    functions.FindClass = find_class;
    functions.GetFieldID = get_field;
    functions.GetObjectField = get_object;
    functions.GetStringLength = get_length;
    functions.GetStringRegion = get_region;
    functions.ExceptionCheck = check_exception;
    functions.DeleteLocalRef = delete_reference;
    own_id = OWN_ID;
    memcpy(env(), &table, sizeof table);
    set_number(own_object, OWN_ID);
    set_number(virtual_object, VIRTUAL_ID);
    name_it(own_object, &own_name, OWN_NAME);
    name_it(virtual_object, &virtual_name, "request-7");
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

/* A thread that begins has its JNIEnv before its number is written down. */
Test(vm_mounted, a_thread_whose_own_number_is_not_known_yet_is_no_virtual_one)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    cr_assert(eq(u64, vm_thread_mounted(env(), 0), VM_MOUNTED_UNTOLD));
    mount();
    cr_assert(eq(u64, vm_thread_mounted(env(), 0), VM_MOUNTED_UNTOLD));
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

/* ---- names ---- */

/* "": none is told. */
static const char *told_name(uint64_t number)
{
    static char text[VM_STRING_BYTES_MAX + 1];
    struct vm_string name = {.length_bytes = 77};
    const bool is_told = vm_thread_mounted_name(env(), number, &name);

    cr_assert(is_told || name.length_bytes == 0);
    memcpy(text, name.bytes, name.length_bytes);
    text[name.length_bytes] = '\0';
    return text;
}

static void expect_names(bool has_owner)
{
    open_with(LAYOUT_25, has_owner, true);
    cr_assert(not(vm_mounted_tells_names()));
    (void)way();
    cr_assert(vm_mounted_tells_names());
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state(IN_VM);
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state(IN_NATIVE);
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, m33_a_name_is_told_where_no_safepoint_can_be)
{
    expect_names(true);
}

Test(vm_mounted, m33_so_it_is_where_the_object_tells_the_number)
{
    expect_names(false);
}

/* There states have other numbers, and ids of fields one bit more. */
Test(vm_mounted, m33_a_name_is_told_on_jdk_28)
{
    open_with(LAYOUT_28, true, true);
    set_state((uint64_t)constant_of("_thread_in_Java"));
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state((uint64_t)constant_of("_thread_in_vm"));
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state((uint64_t)constant_of("_thread_in_native"));
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
    set_state(IN_JAVA); /* which is none of its states */
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, the_name_is_that_of_the_number_that_was_told)
{
    open_with(LAYOUT_25, true, true);
    (void)way();
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID + 1), "");
    running_handle = NULL;
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, m03_names_of_a_concurrent_collector_s_objects_are_not_read)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, without_a_proof_on_the_own_name_none_is_told)
{
    open_with(LAYOUT_25, true, true);
    name_it(own_object, &own_name, "Main thread");
    (void)way();
    cr_assert(not(vm_mounted_tells_names()));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, a_jvm_whose_threads_have_no_such_field_tells_numbers_alone)
{
    open_with(LAYOUT_25, true, true);
    is_nameless = true;
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
    cr_assert(eq(u64, told(), VIRTUAL_ID));
}
