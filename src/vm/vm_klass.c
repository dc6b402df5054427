/* Class objects to Klass addresses, in hooks; serial numbers of addresses, in hooks and handlers. */
#include "vm/vm_klass.h"

#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "vm/vm_internal.h"

/* How HotSpot spells the id of a field of objects: the offset, and two bits below it. Ids with the lower bit carry
 * a hash of the class above seven bits of offset. Source: OpenJDK, jfieldIDWorkaround.hpp, JDK 8 to 26. */
#define ID_SHIFT        2
#define ID_OF_OBJECTS   2u
#define ID_WITH_HASH    1u
#define ID_SMALL_OFFSET 0x7fu

/* No field of java.lang.Thread, and no hidden one of java.lang.Class, lies further out. */
#define OFFSET_MAX 1024

#define FLAGS_MAX       8192
#define FLAG_NAME_BYTES 32

/* Relaxed, all three: each word is whole in itself; who must see what a hook wrote runs code of the class, which the
 * JVM lets run behind that hook only. */
static _Atomic uintptr_t klass_field; /* as an id; 0: not known */
static _Atomic uint32_t serials[65536];
static _Atomic uint32_t serial_of_all;

static jfieldID id_of_offset(int64_t offset)
{
    return (jfieldID)(uintptr_t)((uint64_t)offset << ID_SHIFT | ID_OF_OBJECTS);
}

/* The offset in an id that the JVM made; -1 when it is spelt in another way. */
static int64_t offset_of_id(jfieldID id)
{
    const uintptr_t bits = (uintptr_t)id;
    const uintptr_t offset =
        (bits & ID_WITH_HASH) != 0 ? bits >> ID_SHIFT & ID_SMALL_OFFSET : bits >> ID_SHIFT;

    if ((bits & ID_OF_OBJECTS) == 0 || offset < sizeof(void *) || offset >= OFFSET_MAX ||
        offset % sizeof(jlong) != 0)
        return -1;
    return (int64_t)offset;
}

/* A switch of the JVM, by name; `otherwise` where it does not tell. */
static bool is_flag_on(const char *name, bool otherwise)
{
    const char *type = vm_structs_static("JVMFlag", "flags") != 0 ? "JVMFlag" : "Flag";
    const uintptr_t flags_holder = vm_structs_static(type, "flags");
    const uintptr_t count_holder = vm_structs_static(type, "numFlags");
    const size_t flag_bytes = vm_structs_size(type);
    struct vm_field name_field = vm_structs_field(type, "_name");
    struct vm_field addr_field = vm_structs_field(type, "_addr");
    uintptr_t flags, count;

    name_field.width = addr_field.width = sizeof(void *);
    if (flags_holder == 0 || count_holder == 0 || flag_bytes == 0 ||
        !safe_load_word(flags_holder, &flags) || !safe_load_word(count_holder, &count))
        return otherwise;
    for (uintptr_t i = 0; i < count && i < FLAGS_MAX; i++) {
        char text[FLAG_NAME_BYTES] = {0};
        uint64_t text_addr, value_addr;
        uint8_t value;

        if (vm_load_field(flags + i * flag_bytes, name_field, &text_addr) && text_addr != 0 &&
            safe_load_string(text, sizeof text, text_addr) != SAFE_LOAD_NO_STRING &&
            strcmp(text, name) == 0)
            return vm_load_field(flags + i * flag_bytes, addr_field, &value_addr) &&
                           safe_load_u8(value_addr, &value)
                       ? value != 0
                       : otherwise;
    }
    return otherwise;
}

static bool is_named(vm_addr klass, const char *name)
{
    char text[64];
    const size_t length_bytes = strlen(name);
    uint64_t symbol, symbol_bytes;

    return vm_is_plausible(klass) && vm_load_field(klass, vm_layout.klass_name, &symbol) &&
           vm_load_field(symbol, vm_layout.symbol_length, &symbol_bytes) &&
           symbol_bytes == length_bytes && length_bytes <= sizeof text &&
           safe_load_bytes(text, symbol + (vm_addr)vm_layout.symbol_body.offset, length_bytes) &&
           memcmp(text, name, length_bytes) == 0;
}

/* A field of Thread is read by an id of ours, which must give what the JVM's own id gives. */
static bool is_id_spelt_so(JNIEnv *jni, jclass thread_class, jobject thread)
{
    const jfieldID eetop = (*jni)->GetFieldID(jni, thread_class, "eetop", "J");
    const int64_t offset = eetop == NULL ? -1 : offset_of_id(eetop);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (offset < 0)
        return false;
    const jlong told = (*jni)->GetLongField(jni, thread, eetop);
    return told != 0 && (*jni)->GetLongField(jni, thread, id_of_offset(offset)) == told;
}

static bool try_classes(JNIEnv *jni, uintptr_t field, struct jw_error *why)
{
    static const char *const names[] = {"java/lang/Thread", "java/lang/Object", "java/lang/String",
                                        "java/lang/ClassLoader"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        jclass known = (*jni)->FindClass(jni, names[i]);

        if ((*jni)->ExceptionCheck(jni))
            (*jni)->ExceptionClear(jni);
        const vm_addr klass =
            known == NULL ? 0 : (vm_addr)(*jni)->GetLongField(jni, known, (jfieldID)field);
        if (known != NULL)
            (*jni)->DeleteLocalRef(jni, known);
        if (!is_named(klass, names[i])) {
            jw_error_set(why, "the class object of %s does not lead to its class", names[i]);
            return false;
        }
    }
    return true;
}

/* The id of the field with the Klass*; 0, and why not. `thread`: any that runs. */
static uintptr_t find_field(JNIEnv *jni, jobject thread, struct jw_error *why)
{
    const uintptr_t holder = vm_structs_static("java_lang_Class", "_klass_offset");
    uint32_t offset = 0;
    jclass thread_class = (*jni)->GetObjectClass(jni, thread);

    if (is_flag_on("CheckJNICalls", true)) {
        jw_error_set(why, "the JVM checks the ids of fields (-Xcheck:jni)");
    } else if (holder == 0 || !safe_load_u32(holder, &offset) || offset < sizeof(void *) ||
               offset >= OFFSET_MAX || offset % sizeof(jlong) != 0) {
        jw_error_set(why, "this JVM does not tell where java_lang_Class::_klass_offset is");
        offset = 0;
    } else if (!is_id_spelt_so(jni, thread_class, thread)) {
        jw_error_set(why, "ids of fields are spelt in a way that is not known");
        offset = 0;
    }
    (*jni)->DeleteLocalRef(jni, thread_class);
    if (offset == 0)
        return 0;
    const uintptr_t field = (uintptr_t)id_of_offset(offset);
    return try_classes(jni, field, why) ? field : 0;
}

bool vm_klass_open(JNIEnv *jni, jobject thread, struct jw_error *why)
{
    if (jw_load_relaxed(&klass_field) == 0)
        jw_store_relaxed(&klass_field, find_field(jni, thread, why));
    return jw_load_relaxed(&klass_field) != 0;
}

vm_addr vm_klass_of(JNIEnv *jni, jclass mirror)
{
    const uintptr_t field = jw_load_relaxed(&klass_field);

    return field == 0 ? 0 : (vm_addr)(*jni)->GetLongField(jni, mirror, (jfieldID)field);
}

JW_SIGNAL_SAFE static _Atomic uint32_t *serial_at(vm_addr klass)
{
    return &serials[(uint32_t)jw_hash_word(klass) % JW_COUNT_OF(serials)];
}

void vm_klass_prepared(vm_addr klass)
{
    (void)jw_add_relaxed(klass == 0 ? &serial_of_all : serial_at(klass), 1);
}

uint32_t vm_klass_serial(vm_addr klass)
{
    /* Both only ever rise, so the sum does. */
    return jw_load_relaxed(serial_at(klass)) + jw_load_relaxed(&serial_of_all);
}
