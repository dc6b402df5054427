/*
 * fake_mounted - a carrier of the fake JVM, a virtual thread that it may run, and that thread's frames in the heap.
 *
 * `add_mounted_tables` belongs before vm_open, `prepare_mounted` behind it, and then `mount`. Two StackChunks, the second of
 * which is the parent, have words that a test may put frames into (`word_at`).
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_MOUNTED_H
#define JW_TESTS_UNIT_VM_FAKE_MOUNTED_H

#include "unit/vm/fake_memory.h"
#include "vm/vm_frozen.h"
#include "vm/vm_mounted.h"

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
    STATE_OFFSET = 96,
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
    } fields[] = {{"name", NAME_OFFSET},  {"value", VALUE_OFFSET}, {"coder", CODER_OFFSET},
                  {"cont", CONT_OFFSET},  {"tail", TAIL_OFFSET},   {"parent", PARENT_OFFSET},
                  {"size", SIZE_OFFSET},  {"sp", SP_OFFSET},       {"bottom", BOTTOM_OFFSET},
                  {"state", STATE_OFFSET}};

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

/* Before vm_open: the tables. */
static void add_mounted_tables(bool has_owner)
{
    add_flags();
    add_heap();
    if (!has_owner)
        fake_jvm->hide_field("JavaThread", "_monitor_owner_id");
}

/* After vm_open: the calling thread's JavaThread, nothing mounted. */
static void prepare_mounted(bool is_g1)
{
    const struct JNINativeInterface_ *const table = &functions;

    use_g1 = is_g1;
    use_z = !is_g1;
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
static inline void fill_chunks(void)
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

#endif
