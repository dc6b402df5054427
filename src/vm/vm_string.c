/* The text of a java.lang.String; handler, and control for finding out how it lies. */
#include "vm/vm_string.h"

#include <string.h>

#include "base/utf8.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"

/* Source: OpenJDK, java.lang.String: LATIN1 is 0, UTF16 1, in the byte order of the machine. */
#define CODER_UTF16 1

/* Where an array of bytes, or on JDK 8 of chars, has its length and its first one. Source: OpenJDK, arrayOop.hpp and objArrayOop.hpp, JDK 8
 * to 28: with compressed class pointers, with compact headers, with neither before and since JDK-8139457. */
static const struct array_form {
    int32_t length_offset, bytes_offset;
} forms[] = {{12, 16}, {8, 12}, {16, 24}, {16, 20}};

static struct {
    bool is_proved, is_asked;
    bool is_narrow;
    uintptr_t narrow_base;
    uint32_t narrow_shift;
    int32_t value, coder; /* of a String */
    bool is_of_chars;     /* up to JDK 8: its array is of chars, and it has no coder */
    struct array_form array;
} layout;

bool vm_load_reference(vm_addr object, int32_t offset, vm_addr *out)
{
    const struct vm_field field = {offset, layout.is_narrow ? sizeof(uint32_t) : sizeof(uint64_t)};
    uint64_t word;

    *out = 0;
    if (!vm_load_field(object, field, &word))
        return false;
    if (word != 0)
        *out = layout.is_narrow ? layout.narrow_base + ((uintptr_t)word << layout.narrow_shift)
                                : (vm_addr)word;
    return true;
}

/* A character at a time, as long as there is room. */
static JW_SIGNAL_SAFE bool append(struct vm_string *out, uint32_t code_point)
{
    char bytes[4];
    const size_t length = jw_utf8_put(bytes, code_point);

    if (length > sizeof out->bytes - out->length_bytes)
        return false;
    memcpy(out->bytes + out->length_bytes, bytes, length);
    out->length_bytes += (uint32_t)length;
    return true;
}

static JW_SIGNAL_SAFE void put_latin1(const unsigned char *text, size_t count,
                                      struct vm_string *out)
{
    for (size_t i = 0; i < count && append(out, text[i]); i++) {
    }
}

static JW_SIGNAL_SAFE bool is_pair(uint32_t high, uint32_t low)
{
    return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

/* `units` has one more than `count`, 0 where the text ends. */
static JW_SIGNAL_SAFE void put_utf16(const uint16_t *units, size_t count, struct vm_string *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t code_point = units[i];

        if (is_pair(code_point, units[i + 1])) {
            code_point = 0x10000 + ((code_point - 0xd800) << 10) + (units[i + 1] - 0xdc00u);
            i++;
        }
        if (!append(out, code_point))
            return;
    }
}

static JW_SIGNAL_SAFE bool load_coder(vm_addr string, uint8_t *coder)
{
    *coder = CODER_UTF16;
    return layout.is_of_chars || safe_load_u8(string + (uintptr_t)layout.coder, coder);
}

static JW_SIGNAL_SAFE bool read_as(vm_addr string, const struct array_form *form,
                                   struct vm_string *out)
{
    uint16_t units[VM_STRING_BYTES_MAX + 1] = {0};
    uint32_t length;
    uint8_t coder;
    vm_addr array;

    out->length_bytes = 0;
    if (!vm_load_reference(string, layout.value, &array) || !vm_is_plausible(array) ||
        !load_coder(string, &coder) ||
        !safe_load_u32(array + (uintptr_t)form->length_offset, &length))
        return false;

    /* No character takes fewer bytes than it has units. */
    const size_t most = coder == CODER_UTF16 ? 2 * VM_STRING_BYTES_MAX : VM_STRING_BYTES_MAX;
    const size_t length_bytes = layout.is_of_chars ? (size_t)length * sizeof units[0] : length;
    const size_t kept = length_bytes < most ? length_bytes : most;
    if (!safe_load_bytes(units, array + (uintptr_t)form->bytes_offset, kept))
        return false;
    if (coder == CODER_UTF16)
        put_utf16(units, kept / 2, out);
    else
        put_latin1((const unsigned char *)units, kept, out);
    return true;
}

bool vm_string_read(vm_addr string, struct vm_string *out)
{
    out->length_bytes = 0;
    return layout.is_proved && vm_is_plausible(string) && read_as(string, &layout.array, out);
}

/* A static word under any of the names that it has had: of JDK 21 and later, of 17, of 8 and 11. */
static uintptr_t narrow_word(const char *name, const char *name_17)
{
    uintptr_t addr = vm_structs_static("CompressedOops", name);

    if (addr == 0)
        addr = vm_structs_static("CompressedOops", name_17);
    return addr != 0 ? addr : vm_structs_static("Universe", name_17);
}

/* How wide references are. False: this JVM does not tell. */
static bool find_references(void)
{
    const uintptr_t flag = vm_structs_flag("UseCompressedOops");
    const uintptr_t base = narrow_word("_base", "_narrow_oop._base");
    const uintptr_t shift = narrow_word("_shift", "_narrow_oop._shift");
    uint8_t is_narrow = 0;

    if (flag != 0 && !safe_load_u8(flag, &is_narrow))
        return false;
    layout.is_narrow = is_narrow != 0;
    return !layout.is_narrow ||
           (base != 0 && shift != 0 && safe_load_word(base, &layout.narrow_base) &&
            safe_load_u32(shift, &layout.narrow_shift) && layout.narrow_shift <= 8);
}

/* -1: objects of this class have no such field. */
static int32_t find_field(JNIEnv *jni, jclass type, const char *name, const char *signature)
{
    jfieldID id = (*jni)->GetFieldID(jni, type, name, signature);

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return id == NULL ? -1 : vm_offset_of_field(id);
}

/* Where a String has its fields. False: this JVM does not tell. */
static bool find_layout(JNIEnv *jni)
{
    jclass string = (*jni)->FindClass(jni, "java/lang/String");

    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (string == NULL)
        return false;
    layout.value = find_field(jni, string, "value", "[B");
    if (layout.value >= 0) {
        layout.coder = find_field(jni, string, "coder", "B");
    } else {
        layout.value = find_field(jni, string, "value", "[C");
        layout.is_of_chars = true;
    }
    (*jni)->DeleteLocalRef(jni, string);
    return find_references() && layout.value >= 0 && (layout.is_of_chars || layout.coder >= 0);
}

/* As JNI knows the text; only what it spells as all others do, without a zero or a character beyond 16 bits, is a proof. */
static bool known_text(JNIEnv *jni, jstring known, struct vm_string *out)
{
    const jsize units = (*jni)->GetStringLength(jni, known);
    jchar chars[VM_STRING_BYTES_MAX];

    out->length_bytes = 0;
    if (units <= 0 || units > VM_STRING_BYTES_MAX)
        return false;
    (*jni)->GetStringRegion(jni, known, 0, units, chars);
    for (jsize i = 0; i < units; i++)
        if (!append(out, chars[i]))
            return false;
    return true;
}

bool vm_string_prove(JNIEnv *jni, vm_addr object, int32_t offset, jstring known)
{
    struct vm_string wanted, read;
    vm_addr string;

    if (layout.is_proved)
        return true;
    if (!layout.is_asked && !find_layout(jni))
        layout.value = -1;
    layout.is_asked = true;
    if (layout.value < 0 || known == NULL || !known_text(jni, known, &wanted) ||
        !vm_load_reference(object, offset, &string) || !vm_is_plausible(string))
        return false;
    for (size_t i = 0; i < JW_COUNT_OF(forms) && !layout.is_proved; i++) {
        layout.array = forms[i];
        layout.is_proved = read_as(string, &forms[i], &read) &&
                           read.length_bytes == wanted.length_bytes &&
                           memcmp(read.bytes, wanted.bytes, wanted.length_bytes) == 0;
    }
    return layout.is_proved;
}
