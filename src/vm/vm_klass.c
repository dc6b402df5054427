/* Class objects to Klass addresses, in hooks; serial numbers of addresses, in hooks and handlers. */
#include "vm/vm_klass.h"

#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"

/* No field of java.lang.Thread, and no hidden one of java.lang.Class, lies further out. */
#define OFFSET_MAX 1024

/* A word stands there, behind the mark. */
#define MIN_OFFSET 8

#define FLAGS_MAX       8192
#define FLAG_NAME_BYTES 32

/* Relaxed, all three: each word is whole in itself; who must see what a hook wrote runs code of the class, which the
 * JVM lets run behind that hook only. */
static _Atomic uintptr_t klass_field; /* as an id; 0: not known */
static _Atomic uint32_t serials[65536];
static _Atomic uint32_t serial_of_all;

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
    const int32_t offset = eetop == NULL ? -1 : vm_offset_of_field(eetop);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (offset < MIN_OFFSET || offset >= OFFSET_MAX || offset % MIN_OFFSET != 0)
        return false;
    const jlong told = (*jni)->GetLongField(jni, thread, eetop);
    return told != 0 && (*jni)->GetLongField(jni, thread, vm_field_id_at(offset)) == told;
}

static bool try_classes(JNIEnv *jni, jfieldID field, struct jw_error *why)
{
    static const char *const names[] = {"java/lang/Thread", "java/lang/Object", "java/lang/String",
                                        "java/lang/ClassLoader"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        jclass known = (*jni)->FindClass(jni, names[i]);

        if ((*jni)->ExceptionCheck(jni))
            (*jni)->ExceptionClear(jni);
        const vm_addr klass = known == NULL ? 0 : (vm_addr)(*jni)->GetLongField(jni, known, field);
        if (known != NULL)
            (*jni)->DeleteLocalRef(jni, known);
        if (!is_named(klass, names[i])) {
            jw_error_set(why, "the class object of %s does not lead to its class", names[i]);
            return false;
        }
    }
    return true;
}

/*
 * The id of the field at this offset of class objects; NULL, and why not. With fewer bits below the offset than there are, an
 * id leads to a place nearer to the object's begin, so inside of it; with more it might not. So the fewest are tried first,
 * and no more than this version has.
 */
static jfieldID find_id(JNIEnv *jni, jclass thread_class, jobject thread, int32_t offset,
                        struct jw_error *why)
{
    const uint32_t most = vm_field_id_bits_of(vm_layout.major);

    for (uint32_t bits = VM_FIELD_ID_BITS_MIN; bits <= most; bits++) {
        vm_layout.field_id_bits = bits;
        if (!is_id_spelt_so(jni, thread_class, thread))
            jw_error_set(why, "ids of fields are spelt in a way that is not known");
        else if (try_classes(jni, vm_field_id_at(offset), why))
            return vm_field_id_at(offset);
    }
    return NULL;
}

/* The id of the field with the Klass*; NULL, and why not. `thread`: any that runs. */
static jfieldID find_field(JNIEnv *jni, jobject thread, struct jw_error *why)
{
    const uintptr_t holder = vm_structs_static("java_lang_Class", "_klass_offset");
    uint32_t offset = 0;

    if (is_flag_on("CheckJNICalls", true)) {
        jw_error_set(why, "the JVM checks the ids of fields (-Xcheck:jni)");
        return NULL;
    }
    if (holder == 0 || !safe_load_u32(holder, &offset) || offset < MIN_OFFSET ||
        offset >= OFFSET_MAX || offset % MIN_OFFSET != 0) {
        jw_error_set(why, "this JVM does not tell where java_lang_Class::_klass_offset is");
        return NULL;
    }
    jclass thread_class = (*jni)->GetObjectClass(jni, thread);
    const jfieldID field = find_id(jni, thread_class, thread, (int32_t)offset, why);
    (*jni)->DeleteLocalRef(jni, thread_class);
    return field;
}

bool vm_klass_open(JNIEnv *jni, jobject thread, struct jw_error *why)
{
    if (jw_load_relaxed(&klass_field) == 0)
        jw_store_relaxed(&klass_field, (uintptr_t)find_field(jni, thread, why));
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
