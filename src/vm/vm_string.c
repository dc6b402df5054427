/* The text of a java.lang.String; handler, and control for finding out how it lies. */
#include "vm/vm_string.h"

#include <string.h>

#include "base/utf8.h"
#include "vm/vm_field_id.h"
#include "vm/vm_internal.h"

/* Source: OpenJDK, java.lang.String: LATIN1 is 0, UTF16 1, in the byte order of the machine. */
#define CODER_UTF16 1

/* Where an array of bytes has its length and its first byte. Source: OpenJDK, arrayOop.hpp and objArrayOop.hpp, JDK 21
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

static JW_SIGNAL_SAFE bool read_as(vm_addr string, const struct array_form *form,
                                   struct vm_string *out)
{
    uint16_t units[VM_STRING_BYTES_MAX + 1] = {0};
    uint32_t length_bytes;
    uint8_t coder;
    vm_addr array;

    out->length_bytes = 0;
    if (!vm_load_reference(string, layout.value, &array) || !vm_is_plausible(array) ||
        !safe_load_u8(string + (uintptr_t)layout.coder, &coder) ||
        !safe_load_u32(array + (uintptr_t)form->length_offset, &length_bytes))
        return false;

    /* No character takes fewer bytes than it has units. */
    const size_t most = coder == CODER_UTF16 ? 2 * VM_STRING_BYTES_MAX : VM_STRING_BYTES_MAX;
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

/* How wide references are, and where a String has its fields. False: this JVM does not tell. */
static bool find_layout(JNIEnv *jni)
{
    const uintptr_t flag = vm_structs_flag("UseCompressedOops");
    uintptr_t base = vm_structs_static("CompressedOops", "_base");
    uintptr_t shift = vm_structs_static("CompressedOops", "_shift");
    uint8_t is_narrow = 0;

    if (base == 0)
        base = vm_structs_static("CompressedOops", "_narrow_oop._base");
    if (shift == 0)
        shift = vm_structs_static("CompressedOops", "_narrow_oop._shift");
    if (flag != 0 && !safe_load_u8(flag, &is_narrow))
        return false;
    layout.is_narrow = is_narrow != 0;
    if (layout.is_narrow &&
        (base == 0 || shift == 0 || !safe_load_word(base, &layout.narrow_base) ||
         !safe_load_u32(shift, &layout.narrow_shift) || layout.narrow_shift > 8))
        return false;

    jclass string = (*jni)->FindClass(jni, "java/lang/String");
    jfieldID value = string == NULL ? NULL : (*jni)->GetFieldID(jni, string, "value", "[B");
    jfieldID coder = value == NULL ? NULL : (*jni)->GetFieldID(jni, string, "coder", "B");
    layout.value = coder == NULL ? -1 : vm_offset_of_field(value);
    layout.coder = coder == NULL ? -1 : vm_offset_of_field(coder);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (string != NULL)
        (*jni)->DeleteLocalRef(jni, string);
    return layout.value >= 0 && layout.coder >= 0;
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
