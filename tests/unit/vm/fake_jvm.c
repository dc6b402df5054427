/*
 * fake_jvm - a library that looks like libjvm from outside: the exported tables of fields, types and
 * constants, and the few functions of JNI and JVMTI that vm_open calls. Tests fill the tables.
 * Source: OpenJDK, vmStructs.hpp: VMStructEntry, VMTypeEntry, VMIntConstantEntry, VMLongConstantEntry.
 */
#include "unit/vm/fake_jvm.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct field_entry {
    const char *type, *field, *type_string;
    int32_t is_static;
    uint64_t offset;
    void *address;
};
struct type_entry {
    const char *type, *super;
    int32_t is_oop, is_integer, is_unsigned;
    uint64_t size_bytes;
};
struct int_entry {
    const char *name;
    int32_t value;
};
struct long_entry {
    const char *name;
    int64_t value;
};

/* The last entry of each stays zero: it ends the table. */
static struct field_entry fields[FAKE_ENTRIES_MAX + 1];
static struct type_entry types[FAKE_ENTRIES_MAX + 1];
static struct int_entry ints[FAKE_ENTRIES_MAX + 1];
static struct long_entry longs[FAKE_ENTRIES_MAX + 1];
static size_t field_count, type_count, int_count, long_count;

EXPORT struct field_entry *gHotSpotVMStructs = fields;
EXPORT uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct field_entry);
EXPORT uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct field_entry, type);
EXPORT uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct field_entry, field);
EXPORT uint64_t gHotSpotVMStructEntryTypeStringOffset = offsetof(struct field_entry, type_string);
EXPORT uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct field_entry, is_static);
EXPORT uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct field_entry, offset);
EXPORT uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct field_entry, address);
EXPORT struct type_entry *gHotSpotVMTypes = types;
EXPORT uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type_entry);
EXPORT uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type_entry, type);
EXPORT uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type_entry, size_bytes);
EXPORT struct int_entry *gHotSpotVMIntConstants = ints;
EXPORT uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct int_entry);
EXPORT uint64_t gHotSpotVMIntConstantEntryNameOffset = offsetof(struct int_entry, name);
EXPORT uint64_t gHotSpotVMIntConstantEntryValueOffset = offsetof(struct int_entry, value);
EXPORT struct long_entry *gHotSpotVMLongConstants = longs;
EXPORT uint64_t gHotSpotVMLongConstantEntryArrayStride = sizeof(struct long_entry);
EXPORT uint64_t gHotSpotVMLongConstantEntryNameOffset = offsetof(struct long_entry, name);
EXPORT uint64_t gHotSpotVMLongConstantEntryValueOffset = offsetof(struct long_entry, value);

EXPORT void AsyncGetCallTrace(void *trace, jint depth, void *ucontext);
EXPORT void AsyncGetCallTrace(void *trace, jint depth, void *ucontext)
{
    (void)trace;
    (void)depth;
    (void)ucontext;
}

static void add_field(const char *type, const char *field, const char *type_string, bool is_static,
                      uint64_t offset, void *address)
{
    if (field_count < FAKE_ENTRIES_MAX)
        fields[field_count++] =
            (struct field_entry){type, field, type_string, is_static, offset, address};
}

static void add_type(const char *type, uint64_t size_bytes)
{
    if (type_count < FAKE_ENTRIES_MAX)
        types[type_count++] = (struct type_entry){.type = type, .size_bytes = size_bytes};
}

static void add_int(const char *name, int32_t value)
{
    if (int_count < FAKE_ENTRIES_MAX)
        ints[int_count++] = (struct int_entry){name, value};
}

static void add_long(const char *name, int64_t value)
{
    if (long_count < FAKE_ENTRIES_MAX)
        longs[long_count++] = (struct long_entry){name, value};
}

/* Takes one field out again, by giving it a name that nobody asks for. */
static void hide_field(const char *type, const char *field)
{
    for (size_t i = 0; i < field_count; i++)
        if (strcmp(fields[i].type, type) == 0 && strcmp(fields[i].field, field) == 0)
            fields[i].field = "hidden";
}

static void hide_type(const char *type)
{
    for (size_t i = 0; i < type_count; i++)
        if (strcmp(types[i].type, type) == 0)
            types[i].type = "hidden";
}

/* JNI and JVMTI: no more than vm_open needs. ------------------------------------------------------ */

static struct JNINativeInterface_ jni_functions;
static JNIEnv jni = &jni_functions;
static struct JNIInvokeInterface_ java_vm_functions;
static JavaVM java_vm = &java_vm_functions;
static jvmtiInterface_1 jvmti_functions;
static jvmtiEnv jvmti = &jvmti_functions;
static const char *version_text;
static bool has_eetop;

static jint JNICALL get_env(JavaVM *vm, void **out, jint version)
{
    (void)vm;
    (void)version;
    *out = &jni;
    return JNI_OK;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    return strcmp(name, "java/lang/Thread") == 0 ? (jclass)&jni_functions : NULL;
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass klass, const char *name, const char *type)
{
    (void)env;
    (void)klass;
    (void)type;
    if (strcmp(name, "tid") == 0)
        return (jfieldID)(uintptr_t)(FAKE_THREAD_NUMBER_OFFSET
                                         << (strcmp(version_text, "28") == 0 ? 3 : 2) |
                                     2);
    return has_eetop || strcmp(name, "eetop") != 0 ? (jfieldID)(void *)&java_vm_functions : NULL;
}

static jboolean JNICALL exception_check(JNIEnv *env)
{
    (void)env;
    return JNI_FALSE;
}

static void JNICALL exception_clear(JNIEnv *env)
{
    (void)env;
}

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
}

static jvmtiError JNICALL get_property(jvmtiEnv *env, const char *name, char **out)
{
    (void)env;
    if (version_text == NULL || strcmp(name, "java.vm.specification.version") != 0)
        return JVMTI_ERROR_NOT_AVAILABLE;
    *out = strdup(version_text);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
    (void)env;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static void reset(const char *version, bool with_eetop)
{
    memset(fields, 0, sizeof fields);
    memset(types, 0, sizeof types);
    memset(ints, 0, sizeof ints);
    memset(longs, 0, sizeof longs);
    field_count = type_count = int_count = long_count = 0;
    version_text = version;
    has_eetop = with_eetop;
    java_vm_functions.GetEnv = get_env;
    jni_functions.FindClass = find_class;
    jni_functions.GetFieldID = get_field;
    jni_functions.ExceptionCheck = exception_check;
    jni_functions.ExceptionClear = exception_clear;
    jni_functions.DeleteLocalRef = delete_local;
    jvmti_functions.GetSystemProperty = get_property;
    jvmti_functions.Deallocate = deallocate;
}

EXPORT const struct fake_jvm fake_jvm = {
    .reset = reset,
    .add_field = add_field,
    .add_type = add_type,
    .add_int = add_int,
    .add_long = add_long,
    .hide_field = hide_field,
    .hide_type = hide_type,
    .java_vm = &java_vm,
    .jvmti = &jvmti,
};
