/* The virtual thread that a carrier runs: by the number that the JVM keeps, by its object, or not at all; its name, and its
 * frames in the heap. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "vm/vm_frozen.h"
#include "vm/vm_mounted.h"

TestSuite(vm_mounted, .timeout = 300);

#define OWN_ID     21
#define VIRTUAL_ID 77

/* Source: OpenJDK, globalDefinitions.hpp, JavaThreadState. */
enum { IN_NATIVE = 4, IN_VM = 6, IN_JAVA = 8 };

static _Alignas(8) unsigned char own_object[128], virtual_object[128];
static void *own_handle = own_object, *running_handle = own_object;
static bool use_g1, use_z;
static unsigned char flag_table[3 * 24];
static uintptr_t flags_static = (uintptr_t)flag_table, flag_count = 3;
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

/* Of a VirtualThread, a Continuation, and a StackChunk. */
enum {
    CONT_OFFSET = 64,
    TAIL_OFFSET = 16,
    PARENT_OFFSET = 16,
    SIZE_OFFSET = 24,
    SP_OFFSET = 28,
    BOTTOM_OFFSET = 32,
};

static bool use_compressed_classes;
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
    } fields[] = {{"name", NAME_OFFSET}, {"value", VALUE_OFFSET}, {"coder", CODER_OFFSET},
                  {"cont", CONT_OFFSET}, {"tail", TAIL_OFFSET},   {"parent", PARENT_OFFSET},
                  {"size", SIZE_OFFSET}, {"sp", SP_OFFSET},       {"bottom", BOTTOM_OFFSET}};

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
    add_flag(2, "UseCompressedClassPointers", &use_compressed_classes);
    fake_jvm->add_type("JVMFlag", 24);
    fake_jvm->add_field("JVMFlag", "_name", "const char*", false, 8, NULL);
    fake_jvm->add_field("JVMFlag", "_addr", "", false, 0, NULL);
    fake_jvm->add_field("JVMFlag", "flags", "JVMFlag*", true, 0, &flags_static);
    fake_jvm->add_field("JVMFlag", "numFlags", "size_t", true, 0, &flag_count);
}

/* The heap, as the JVM tells of it: how many collections there were, and whether one is under way. */
enum { COLLECTIONS_OFFSET = 8, ACTIVE_OFFSET = 16, HELPER_OFFSET = 8 };

static _Alignas(8) unsigned char heap[64];
static void *heap_static = heap;

static void add_heap(void)
{
    fake_jvm->add_field("Universe", "_collectedHeap", "CollectedHeap*", true, 0, &heap_static);
    fake_jvm->add_field("CollectedHeap", "_total_collections", "unsigned int", false,
                        COLLECTIONS_OFFSET, NULL);
    fake_jvm->add_field("CollectedHeap", "_is_stw_gc_active", "bool", false, ACTIVE_OFFSET, NULL);
    fake_jvm->add_field("Klass", "_layout_helper", "jint", false, HELPER_OFFSET, NULL);
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
    add_heap();
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

/* ---- frames in the heap ---- */

#define CHUNK_HEAD_BYTES 56
#define CHUNK_WORDS      20

/* Two chunks, the second of which is the parent. */
static _Alignas(8) unsigned char continuation[64], chunks[2][CHUNK_HEAD_BYTES + CHUNK_WORDS * 8];
static _Alignas(8) unsigned char chunk_class[OBJECT_BYTES];

static void put(unsigned char *object, size_t offset, const void *value, size_t bytes)
{
    memcpy(object + offset, value, bytes);
}

static void put_reference(unsigned char *object, size_t offset, const void *to)
{
    put(object, offset, &to, sizeof to);
}

static void put_chunk(int i, uint32_t sp, uint32_t bottom, uint32_t size)
{
    put(chunks[i], SP_OFFSET, &sp, sizeof sp);
    put(chunks[i], BOTTOM_OFFSET, &bottom, sizeof bottom);
    put(chunks[i], SIZE_OFFSET, &size, sizeof size);
}

static uintptr_t word_at(int i, uint32_t word)
{
    return (uintptr_t)chunks[i] + CHUNK_HEAD_BYTES + word * 8;
}

/* Each word says which it is. */
static void fill_chunks(void)
{
    const uint32_t helper = CHUNK_HEAD_BYTES | 1,
                   super = (uint32_t)offset_of("Klass", "_primary_supers[0]");

    memset(chunks, 0, sizeof chunks);
    memset(heap, 0, sizeof heap);
    put(chunk_class, HELPER_OFFSET, &helper, sizeof helper);
    set_pointer(chunk_class, "Klass", "_name", fake.class_name);
    set(chunk_class, "Klass", "_super_check_offset", super, 4);
    put_reference(chunk_class, super, chunk_class);
    for (int i = 0; i < 2; i++) {
        put_reference(chunks[i], 8, chunk_class);
        for (uint32_t word = 0; word < CHUNK_WORDS; word++)
            memcpy((void *)word_at(i, word), &(uint64_t){1000 * ((uint64_t)i + 1) + word}, 8);
    }
    put_reference(chunks[0], PARENT_OFFSET, chunks[1]);
    put_reference(virtual_object, CONT_OFFSET, continuation);
    put_reference(continuation, TAIL_OFFSET, chunks[0]);
    put_chunk(0, 6, 17, CHUNK_WORDS);
    put_chunk(1, 4, 20, CHUNK_WORDS);
}

static bool open_frozen(bool is_g1)
{
    open_with(LAYOUT_25, true, is_g1);
    fill_chunks();
    (void)way();
    mount();
    return vm_frozen_open(env());
}

static enum vm_frozen_answer first(struct vm_frozen *out)
{
    return vm_frozen_first(&(struct vm_thread){.thread = (vm_addr)fake.java_thread}, out);
}

Test(vm_mounted, frames_in_the_heap_are_those_of_each_chunk_to_its_bottom)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(0, 6)));
    cr_expect(eq(u64, frozen.pc, 1005));
    cr_expect(eq(u64, frozen.fp, 1004));
    cr_expect(eq(u64, frozen.end, word_at(0, 17)));
    cr_expect(eq(u64, frozen.high, word_at(0, CHUNK_WORDS)));
    cr_assert(eq(int, vm_frozen_next(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(1, 4)));
    cr_expect(eq(u64, frozen.pc, 2003));
    cr_assert(eq(int, vm_frozen_next(&frozen), VM_FROZEN_NONE));
    cr_assert(vm_frozen_stood_still(&frozen));
}

Test(vm_mounted, a_chunk_without_frames_is_passed)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    put_chunk(0, 17, 17, CHUNK_WORDS);
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(1, 4)));
    put_reference(chunks[0], PARENT_OFFSET, NULL);
    cr_assert(eq(int, first(&frozen), VM_FROZEN_NONE));
}

Test(vm_mounted, m03_frames_that_a_collector_moves_do_not_count)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    heap[COLLECTIONS_OFFSET]++;
    cr_assert(not(vm_frozen_stood_still(&frozen)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    heap[ACTIVE_OFFSET] = 1;
    cr_assert(not(vm_frozen_stood_still(&frozen)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}

Test(vm_mounted, m03_frames_in_the_heap_of_a_concurrent_collector_are_not_read)
{
    struct vm_frozen frozen;

    cr_assert(not(open_frozen(false)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}

Test(vm_mounted, chunks_that_make_no_sense_tell_nothing)
{
    static const struct {
        uint32_t sp, bottom, size;
    } wrong[] = {{18, 17, 20}, {6, 21, 20}, {1, 17, 20}, {6, UINT32_MAX, UINT32_MAX}};
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        put_chunk(0, wrong[i].sp, wrong[i].bottom, wrong[i].size);
        cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD), "chunk %zu", i);
    }
    put_chunk(0, 6, 17, CHUNK_WORDS);
    put_reference(chunks[0], 8, virtual_object); /* as its class */
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
    put_reference(continuation, TAIL_OFFSET, (const void *)1);
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
    put_reference(continuation, TAIL_OFFSET, NULL);
    cr_expect(eq(int, first(&frozen), VM_FROZEN_NONE));
    running_handle = own_object;
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}
