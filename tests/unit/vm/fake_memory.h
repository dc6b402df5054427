/*
 * fake_memory - objects of a fake JVM, laid out as a JDK lays them out, in memory that a test may spoil.
 *
 * One method `run` of class `com/acme/Job`, one code heap with a blob of each kind. Everything lies in
 * `fake`, so that a test can go through all of its words.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_MEMORY_H
#define JW_TESTS_UNIT_VM_FAKE_MEMORY_H

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit/arch/fault_handler.h"
#include "unit/vm/fake_jvm.h"
#include "unit/vm/layouts.h"
#include "vm/vm.h"
#include "vm/vm_internal.h"

#define OBJECT_BYTES    1024
#define NAME_INDEX      3
#define SIGNATURE_INDEX 4
#define SOURCE_INDEX    5
#define BYTECODES_BYTES 21
#define METHOD_NUMBER   7
#define METHOD_NUMBERS  9

/* Source: OpenJDK, InstanceKlass::ClassState, JDK 8 to 26. */
#define STATE_LOADED      1
#define STATE_LINKED      2
#define STATE_INITIALIZED 4
#define SEGMENTS          256
#define HEAP_SPACE_BYTES  (SEGMENTS * 128)

/* JavaThread::_anchor lies above a kilobyte in some JDKs, CompilerThread::_env above two. */
static struct {
    _Alignas(4096) unsigned char method[OBJECT_BYTES];
    unsigned char const_method[OBJECT_BYTES], pool[OBJECT_BYTES], klass[OBJECT_BYTES];
    unsigned char class_name[128], name[128], signature[128], source[128];
    unsigned char code_heap[OBJECT_BYTES], heaps_array[64], heap_pointers[64];
    unsigned char segmap[SEGMENTS];
    unsigned char java_thread[4096], os_thread[OBJECT_BYTES];
    _Alignas(8) char blob_names[16][32];
    uintptr_t heaps_static, low_static, high_static, id_slot;
    _Alignas(4096) unsigned char heap[HEAP_SPACE_BYTES];
} fake;

static const struct fake_jvm *fake_jvm;
static enum layout_jdk fake_jdk;

/* How many bits stand below the offset in the id of a field. */
#define FAKE_FIELD_ID_BITS (fake_jdk == LAYOUT_28 ? 3 : 2)

static int offset_of(const char *type, const char *field)
{
    for (size_t i = 0; i < JW_COUNT_OF(layout_fields); i++)
        if (strcmp(layout_fields[i].type, type) == 0 &&
            strcmp(layout_fields[i].field, field) == 0 && layout_fields[i].offset[fake_jdk] >= 0)
            return layout_fields[i].offset[fake_jdk];
    return -1;
}

static inline int constant_of(const char *name)
{
    for (size_t i = 0; i < JW_COUNT_OF(layout_constants); i++)
        if (strcmp(layout_constants[i].name, name) == 0)
            return layout_constants[i].value[fake_jdk];
    cr_assert_fail("no constant %s", name);
    return NOT_THERE;
}

static unsigned size_of(const char *type)
{
    for (size_t i = 0; i < JW_COUNT_OF(layout_sizes); i++)
        if (strcmp(layout_sizes[i].type, type) == 0)
            return layout_sizes[i].size_bytes[fake_jdk];
    cr_assert_fail("no size of %s", type);
    return 0;
}

/* Stores a number of `width` bytes at a field that this JDK may lack. */
static void set(void *object, const char *type, const char *field, uint64_t value, size_t width)
{
    const int offset = offset_of(type, field);

    if (offset >= 0)
        memcpy((unsigned char *)object + offset, &value, width);
}

static void set_pointer(void *object, const char *type, const char *field, const void *value)
{
    set(object, type, field, (uintptr_t)value, sizeof value);
}

static void set_symbol(void *symbol, const char *text)
{
    set(symbol, "Symbol", "_length", strlen(text), 2);
    memcpy((unsigned char *)symbol + offset_of("Symbol", "_body"), text, strlen(text));
}

static void set_constant(uint32_t index, const void *symbol)
{
    memcpy(fake.pool + size_of("ConstantPool") + index * sizeof symbol, &symbol, sizeof symbol);
}

/* The line table that follows the bytecodes; its bytes end with a zero. */
static void set_lines(const unsigned char *table, size_t length_bytes)
{
    const size_t begin = size_of("ConstMethod") + BYTECODES_BYTES;

    memset(fake.const_method + begin, 0xee, OBJECT_BYTES - begin);
    memcpy(fake.const_method + begin, table, length_bytes);
    set(fake.const_method, "ConstMethod", "_constMethod_size",
        (begin + length_bytes + 15) / sizeof(void *), 4);
    set(fake.const_method, "ConstMethod", "_flags", 1, 2);
    set(fake.const_method, "ConstMethod", "_flags._flags", 1, 4);
}

static void fill_method(const char *class_name)
{
    static const unsigned char lines[] = {1 << 3 | 1, 2 << 3 | 1, 0};

    set_symbol(fake.class_name, class_name);
    set_symbol(fake.name, "run");
    set_symbol(fake.signature, "(I)V");
    set_symbol(fake.source, "Job.java");
    set_pointer(fake.method, "Method", "_constMethod", fake.const_method);
    set(fake.method, "Method", "_access_flags", 0x0009, fake_jdk >= LAYOUT_25 ? 2 : 4);
    set_pointer(fake.const_method, "ConstMethod", "_constants", fake.pool);
    set(fake.const_method, "ConstMethod", "_code_size", BYTECODES_BYTES, 2);
    set(fake.const_method, "ConstMethod", "_name_index", NAME_INDEX, 2);
    set(fake.const_method, "ConstMethod", "_signature_index", SIGNATURE_INDEX, 2);
    set_lines(lines, sizeof lines);
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER, 2);
    set(fake.klass, "InstanceKlass", "_init_state", STATE_INITIALIZED, 1);
    set(fake.klass, "InstanceKlass", "_idnum_allocated_count", METHOD_NUMBERS, 2);
    set_pointer(fake.pool, "ConstantPool", "_pool_holder", fake.klass);
    set(fake.pool, "ConstantPool", "_length", 16, 4);
    set(fake.pool, "ConstantPool", "_source_file_name_index", SOURCE_INDEX, 2);
    set(fake.klass, "InstanceKlass", "_source_file_name_index", SOURCE_INDEX, 2);
    set_constant(NAME_INDEX, fake.name);
    set_constant(SIGNATURE_INDEX, fake.signature);
    set_constant(SOURCE_INDEX, fake.source);
    set_pointer(fake.klass, "Klass", "_name", fake.class_name);
    set(fake.klass, "Klass", "_access_flags", 0x0031, fake_jdk == LAYOUT_25 ? 2 : 4);
    set(fake.klass, "InstanceKlass", "_access_flags", 0x0031, 2);
    set(fake.klass, "Klass", "_class_loader_data", 0x7f0000001000, 8);
    set(fake.klass, "InstanceKlass", "_class_loader_data", 0x7f0000001000, 8);
    fake.id_slot = (uintptr_t)fake.method;
}

static void fill_heap(void)
{
    const int memory = offset_of("CodeHeap", "_memory"), segmap = offset_of("CodeHeap", "_segmap");

    memset(fake.segmap, 0xff, sizeof fake.segmap);
    set_pointer(fake.code_heap + memory, "VirtualSpace", "_low", fake.heap);
    set_pointer(fake.code_heap + memory, "VirtualSpace", "_high", fake.heap + HEAP_SPACE_BYTES);
    set_pointer(fake.code_heap + memory, "VirtualSpace", "_low_boundary", fake.heap);
    set_pointer(fake.code_heap + memory, "VirtualSpace", "_high_boundary",
                fake.heap + HEAP_SPACE_BYTES);
    set_pointer(fake.code_heap + segmap, "VirtualSpace", "_low", fake.segmap);
    set(fake.code_heap, "CodeHeap", "_log2_segment_size", fake_jdk == LAYOUT_8 ? 6 : 7, 4);
    if (fake_jdk == LAYOUT_8) {
        fake.heaps_static = (uintptr_t)fake.code_heap;
    } else {
        fake.heaps_static = (uintptr_t)fake.heaps_array;
        set(fake.heaps_array, "GrowableArrayBase", "_len", 1, 4);
        set_pointer(fake.heaps_array, "GrowableArray<int>", "_data", fake.heap_pointers);
        memcpy(fake.heap_pointers, &(void *){fake.code_heap}, sizeof(void *));
    }
    fake.low_static = (uintptr_t)fake.heap;
    fake.high_static = (uintptr_t)fake.heap + HEAP_SPACE_BYTES;
}

static inline size_t segment_bytes(void)
{
    return fake_jdk == LAYOUT_8 ? 64 : 128;
}

/* Puts a blob of so many segments at a segment; its code begins BLOB_CODE_OFFSET bytes behind the blob. */
#define BLOB_CODE_OFFSET 120
static inline uintptr_t put_blob(unsigned segment, unsigned count, const char *name,
                                 int frame_complete)
{
    unsigned char *block = fake.heap + segment * segment_bytes();
    unsigned char *blob = block + size_of("HeapBlock");
    unsigned char *end = block + count * segment_bytes();
    static size_t name_count;
    char *kept = fake.blob_names[name_count++ % JW_COUNT_OF(fake.blob_names)];

    /* As HotSpot does: 0, 1, 2 ... 0xfe, then again from 1. */
    for (unsigned i = 0, hop = 0; i < count; i++, hop = hop == 0xfe ? 1 : hop + 1)
        fake.segmap[segment + i] = (unsigned char)hop;
    snprintf(kept, sizeof fake.blob_names[0], "%s", name);
    set(block, "HeapBlock::Header", "_used", 1, 1);
    set_pointer(blob, "CodeBlob", "_name", kept);
    set(blob, "CodeBlob", "_size", (uint64_t)(end - blob), 4);
    set_pointer(blob, "CodeBlob", "_code_begin", blob + BLOB_CODE_OFFSET);
    set_pointer(blob, "CodeBlob", "_code_end", end);
    set(blob, "CodeBlob", "_code_offset", BLOB_CODE_OFFSET, 4);
    set(blob, "CodeBlob", "_data_offset", (uint64_t)(end - blob), 4);
    /* Two bytes wide in JDK 25 alone. */
    set(blob, "CodeBlob", "_frame_complete_offset", (uint32_t)frame_complete,
        fake_jdk == LAYOUT_25 ? 2 : 4);
    set(blob, "CodeBlob", "_frame_size", 6, 4);
    return (uintptr_t)blob;
}

static void fill_tables_as(const char *version)
{
    fake_jvm->reset(version, true);
    for (size_t i = 0; i < JW_COUNT_OF(layout_fields); i++) {
        const struct layout_field *field = &layout_fields[i];

        if (field->offset[fake_jdk] >= 0)
            fake_jvm->add_field(field->type, field->field, field->type_string, false,
                                (uint64_t)field->offset[fake_jdk], NULL);
    }
    for (size_t i = 0; i < JW_COUNT_OF(layout_sizes); i++)
        fake_jvm->add_type(layout_sizes[i].type, layout_sizes[i].size_bytes[fake_jdk]);
    for (size_t i = 0; i < JW_COUNT_OF(layout_constants); i++)
        if (layout_constants[i].value[fake_jdk] != NOT_THERE)
            fake_jvm->add_int(layout_constants[i].name, layout_constants[i].value[fake_jdk]);
    if (fake_jdk == LAYOUT_8) {
        fake_jvm->add_field("CodeCache", "_heap", "CodeHeap*", true, 0, &fake.heaps_static);
    } else {
        fake_jvm->add_field("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true, 0,
                            &fake.heaps_static);
        fake_jvm->add_field("CodeCache", "_low_bound", "address", true, 0, &fake.low_static);
        fake_jvm->add_field("CodeCache", "_high_bound", "address", true, 0, &fake.high_static);
    }
}

/* The library lies beside the tests of room vm. */
static void *load_fake_library(void)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 24);

    cr_assert(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "../vm/fake_jvm.so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    fake_jvm = dlsym(library, "fake_jvm");
    cr_assert(fake_jvm != NULL);
    return library;
}

/* Memory and tables of this JDK, ready for vm_open. */
static void prepare_fake(enum layout_jdk jdk, const char *class_name)
{
    fake_jdk = jdk;
    if (fake_jvm == NULL)
        (void)load_fake_library();
    memset(&fake, 0, sizeof fake);
    fill_method(class_name);
    fill_heap();
    fill_tables_as(layout_versions[jdk]);
    install_fault_handler();
}

static inline void open_fake(enum layout_jdk jdk, const char *class_name)
{
    struct jw_error err = {0};

    prepare_fake(jdk, class_name);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
}

/* The test `name`, a function without arguments, with each JDK in a process of its own. */
#define TEST_EACH_JDK(suite, name, class_name)                                                     \
    static void name(void);                                                                        \
    Test(suite, name##_on_jdk_8)                                                                   \
    {                                                                                              \
        open_fake(LAYOUT_8, class_name);                                                           \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_17)                                                                  \
    {                                                                                              \
        open_fake(LAYOUT_17, class_name);                                                          \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_25)                                                                  \
    {                                                                                              \
        open_fake(LAYOUT_25, class_name);                                                          \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_28)                                                                  \
    {                                                                                              \
        open_fake(LAYOUT_28, class_name);                                                          \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

#endif
