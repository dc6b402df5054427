/* Text of strings in the heap: each form of arrays, each width of references, each kind of character. */
#include "unit/vm/fake_references.h"

#include <criterion/new/assert.h>

#include "vm/vm_string.h"

TestSuite(vm_string, .timeout = 1800);

#define VALUE_OFFSET 12
#define CODER_OFFSET 20
#define FIELD_OFFSET 16

/* An object with a reference to a string; the string; its array. References are 4 bytes wide where they are narrow. */
static struct {
    _Alignas(8) unsigned char object[64], string[64], array[512];
} heap;
static bool is_narrow, has_fields = true;
static bool is_of_chars; /* as on JDK 8 */
static bool has_raised;  /* JNI has an exception pending */
static struct JNINativeInterface_ functions;
static const struct JNINativeInterface_ *table = &functions;
static jchar known[256];
static jsize known_count;

static JNIEnv *jni(void)
{
    return (JNIEnv *)&table;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    return strcmp(name, "java/lang/String") == 0 ? (jclass)(uintptr_t)1 : NULL;
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass type, const char *name, const char *signature)
{
    (void)env;
    (void)type;
    cr_assert(not(has_raised), "JNI is asked for nothing while an exception is pending");
    has_raised = !has_fields || strcmp(signature, is_of_chars ? "[C" : "[B") != 0;
    if (has_fields && !is_of_chars && strcmp(name, "coder") == 0)
        has_raised = strcmp(signature, "B") != 0;
    if (has_raised)
        return NULL;
    return (jfieldID)(uintptr_t)((strcmp(name, "value") == 0 ? VALUE_OFFSET : CODER_OFFSET) << 2 |
                                 2);
}

static jsize JNICALL get_length(JNIEnv *env, jstring string)
{
    (void)env;
    (void)string;
    return known_count;
}

static void JNICALL get_region(JNIEnv *env, jstring string, jsize from, jsize count, jchar *out)
{
    (void)env;
    (void)string;
    memcpy(out, known + from, (size_t)count * sizeof *out);
}

static jboolean JNICALL check_exception(JNIEnv *env)
{
    (void)env;
    return has_raised;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    has_raised = false;
}

static void JNICALL delete_reference(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
}

static void open_as(enum layout_jdk jdk, bool narrow)
{
    struct jw_error err = {0};

    prepare_fake(jdk, "A");
    is_of_chars = jdk == LAYOUT_8;
    is_narrow = narrow;
    narrow_base = (uintptr_t)&heap & ~((uintptr_t)0xffff); /* below, so that no reference is 0 */
    flag_count = 0;
    add_flag("UseCompressedOops", &is_narrow);
    add_references();
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    functions.FindClass = find_class;
    functions.GetFieldID = get_field;
    functions.GetStringLength = get_length;
    functions.GetStringRegion = get_region;
    functions.ExceptionCheck = check_exception;
    functions.ExceptionClear = clear_exception;
    functions.DeleteLocalRef = delete_reference;
}

static void open_it(bool narrow)
{
    open_as(LAYOUT_25, narrow);
}

static void refer(unsigned char *from, const void *to)
{
    const uint32_t narrow = (uint32_t)(((uintptr_t)to - narrow_base) >> FAKE_SHIFT);

    memcpy(from, is_narrow ? (const void *)&narrow : (const void *)&to,
           is_narrow ? sizeof narrow : sizeof to);
}

static void fill(size_t length_offset, const void *bytes, uint32_t length_bytes, uint8_t coder)
{
    memset(&heap, 0, sizeof heap);
    refer(heap.object + FIELD_OFFSET, heap.string);
    refer(heap.string + VALUE_OFFSET, heap.array);
    heap.string[CODER_OFFSET] = coder;
    memcpy(heap.array + length_offset, &length_bytes, sizeof length_bytes);
    memcpy(heap.array + length_offset + 4, bytes, length_bytes);
}

/* An array of chars has its length in chars. */
static void fill_chars(size_t length_offset, const uint16_t *chars, uint32_t count)
{
    fill(length_offset, chars, count * (uint32_t)sizeof *chars, 0xff);
    memcpy(heap.array + length_offset, &count, sizeof count);
}

static void know(const char *text)
{
    known_count = (jsize)strlen(text);
    for (jsize i = 0; i < known_count; i++)
        known[i] = (unsigned char)text[i];
}

static bool prove(void)
{
    return vm_string_prove(jni(), (vm_addr)heap.object, FIELD_OFFSET, (jstring)(uintptr_t)1);
}

static void expect_text(const char *wanted)
{
    struct vm_string told;

    cr_assert(vm_string_read((vm_addr)heap.string, &told));
    cr_assert(eq(u32, told.length_bytes, (uint32_t)strlen(wanted)), "%.*s", (int)told.length_bytes,
              told.bytes);
    cr_assert(memcmp(told.bytes, wanted, told.length_bytes) == 0);
}

static void open_proved(bool narrow)
{
    open_it(narrow);
    fill(12, "main", 4, 0);
    know("main");
    cr_assert(prove());
}

Test(vm_string, wide_and_narrow_references_are_followed)
{
    open_proved(false);
    expect_text("main");
}

Test(vm_string, narrow_references_are_followed)
{
    open_proved(true);
    expect_text("main");
}

Test(vm_string, arrays_of_compact_headers_are_found_by_the_proof)
{
    open_it(false);
    fill(8, "main", 4, 0);
    know("main");
    cr_assert(prove());
    expect_text("main");
}

Test(vm_string, arrays_with_wide_class_pointers_are_found_by_the_proof)
{
    open_it(false);
    fill(16, "main", 4, 0);
    know("main");
    cr_assert(prove());
    expect_text("main");
}

Test(vm_string, what_is_not_the_known_text_proves_nothing)
{
    struct vm_string told;

    open_it(false);
    fill(12, "main", 4, 0);
    know("niam");
    cr_assert(not(prove()));
    cr_assert(not(vm_string_read((vm_addr)heap.string, &told)));
    cr_assert(eq(u32, told.length_bytes, 0));
    know("main"); /* an object that was moving stands still */
    cr_assert(prove());
    expect_text("main");
}

Test(vm_string, a_jvm_without_these_fields_proves_nothing)
{
    has_fields = false;
    open_it(false);
    fill(12, "main", 4, 0);
    know("main");
    cr_assert(not(prove()));
    has_fields = true;
    cr_assert(not(prove()), "it is asked once");
}

Test(vm_string, an_empty_or_very_long_text_proves_nothing)
{
    open_it(false);
    fill(12, "", 0, 0);
    know("");
    cr_assert(not(prove()));
    char text[100];
    memset(text, 'x', sizeof text);
    text[99] = '\0';
    fill(12, text, 99, 0);
    know(text);
    cr_assert(not(prove()));
}

Test(vm_string, m33_latin_and_all_other_characters_become_utf8)
{
    static const uint16_t mixed[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 'z'};
    static const uint16_t broken[] = {0xde00, 'b', 0xd83d};

    open_proved(false);
    fill(12, "gr\xfc\xdf", 4, 0);
    expect_text("gr\xc3\xbc\xc3\x9f");
    fill(12, mixed, sizeof mixed, 1);
    expect_text("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
    fill(12, broken, sizeof broken, 1);
    expect_text("\xef\xbf\xbd"
                "b\xef\xbf\xbd");
    fill(12, "", 0, 0);
    expect_text("");
}

Test(vm_string, m33_long_texts_are_cut_at_a_character)
{
    char latin[200], wanted[VM_STRING_BYTES_MAX + 1] = {0};
    uint16_t wide[200];

    open_proved(false);
    memset(latin, 'x', sizeof latin);
    memset(wanted, 'x', VM_STRING_BYTES_MAX);
    fill(12, latin, sizeof latin, 0);
    expect_text(wanted);
    latin[VM_STRING_BYTES_MAX - 1] = (char)0xe4;
    wanted[VM_STRING_BYTES_MAX - 1] = '\0';
    fill(12, latin, sizeof latin, 0);
    expect_text(wanted);
    for (size_t i = 0; i < JW_COUNT_OF(wide); i++)
        wide[i] = 0x20ac;
    fill(12, wide, sizeof wide, 1);
    for (size_t i = 0; i < VM_STRING_BYTES_MAX / 3; i++)
        memcpy(wanted + 3 * i, "\xe2\x82\xac", 3);
    wanted[VM_STRING_BYTES_MAX / 3 * 3] = '\0';
    expect_text(wanted);
}

Test(vm_string, addresses_that_cannot_be_read_tell_nothing)
{
    struct vm_string told;
    const void *const nowhere = (const void *)(uintptr_t)0x7fff00000000;

    open_proved(false);
    cr_assert(not(vm_string_read(0, &told)));
    cr_assert(not(vm_string_read((vm_addr)heap.string + 1, &told)));
    cr_assert(not(vm_string_read((vm_addr)nowhere, &told)));
    refer(heap.string + VALUE_OFFSET, nowhere);
    cr_assert(not(vm_string_read((vm_addr)heap.string, &told)));
    refer(heap.string + VALUE_OFFSET, NULL);
    cr_assert(not(vm_string_read((vm_addr)heap.string, &told)));
}

Test(vm_string, narrow_references_are_followed_as_jdk_17_tells_of_them)
{
    open_as(LAYOUT_17, true);
    fill(12, "main", 4, 0);
    know("main");
    cr_assert(prove());
    expect_text("main");
}

/* ---- JDK 8: arrays of chars, and no coder ---- */

static const uint16_t main_chars[] = {'m', 'a', 'i', 'n'};

static void open_chars(bool narrow, size_t length_offset)
{
    open_as(LAYOUT_8, narrow);
    fill_chars(length_offset, main_chars, 4);
    know("main");
    cr_assert(prove());
    expect_text("main");
}

Test(vm_string, chars_of_jdk_8_are_read_through_narrow_references)
{
    open_chars(true, 12);
}

Test(vm_string, chars_of_jdk_8_are_read_through_wide_references)
{
    open_chars(false, 12);
}

Test(vm_string, chars_of_jdk_8_are_read_with_wide_class_pointers)
{
    open_chars(false, 16);
}

Test(vm_string, all_characters_of_jdk_8_become_utf8_and_are_cut_at_one)
{
    static const uint16_t mixed[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 'z'};
    char wanted[VM_STRING_BYTES_MAX + 1] = {0};
    uint16_t wide[200];

    open_chars(true, 12);
    fill_chars(12, mixed, JW_COUNT_OF(mixed));
    expect_text("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
    for (size_t i = 0; i < JW_COUNT_OF(wide); i++)
        wide[i] = 'x';
    memset(wanted, 'x', VM_STRING_BYTES_MAX);
    fill_chars(12, wide, JW_COUNT_OF(wide));
    expect_text(wanted);
}

/* As an array that was just moved away may look: the length is checked, whatever it says. */
Test(vm_string, a_length_beyond_all_measure_reads_no_more_than_there_is_room_for)
{
    const uint32_t length = UINT32_MAX;
    struct vm_string told;

    open_chars(true, 12);
    memcpy(heap.array + 12, &length, sizeof length);
    cr_assert(vm_string_read((vm_addr)heap.string, &told));
    cr_assert(le(u32, told.length_bytes, VM_STRING_BYTES_MAX));
}

Test(vm_string, a_jdk_8_that_does_not_tell_its_narrow_references_proves_nothing)
{
    open_as(LAYOUT_8, true);
    fake_jvm->hide_field("Universe", "_narrow_oop._base");
    fill_chars(12, main_chars, 4);
    know("main");
    cr_assert(not(prove()));
}
