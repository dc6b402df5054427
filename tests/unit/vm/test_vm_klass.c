/* From class objects to classes by an id of ours, refused where it is not certain; serial numbers of addresses. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "vm/vm_field_id.h"
#include "vm/vm_klass.h"

#define EETOP_OFFSET 16
#define KLASS_OFFSET 80
#define NAMED        4

/* Objects, as GetLongField sees them; a handle is their address. */
static struct {
    _Alignas(8) unsigned char thread[64], mirrors[NAMED][128], classes[NAMED][OBJECT_BYTES],
        names[NAMED][64];
    uint32_t klass_offset;
    uintptr_t eetop_id;
    uint32_t reads_out_of_place; /* by ids that lead out of the object */
} heap;

static const char *const names[NAMED] = {"java/lang/Thread", "java/lang/Object", "java/lang/String",
                                         "java/lang/ClassLoader"};

/* As HotSpot does: the offset above two bits, three in JDK 28, a hash above seven bits of offset where the lowest is set. */
static jlong JNICALL get_long(JNIEnv *jni, jobject object, jfieldID id)
{
    const uintptr_t bits = (uintptr_t)id;
    const uintptr_t offset =
        (bits & 1) != 0 ? bits >> FAKE_FIELD_ID_BITS & 0x7f : bits >> FAKE_FIELD_ID_BITS;
    jlong value;

    (void)jni;
    if (offset + sizeof value > 128) {
        heap.reads_out_of_place++;
        return 0;
    }
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
    (void)jni;
    for (size_t i = 0; i < NAMED; i++)
        if (strcmp(names[i], name) == 0)
            return (jclass)(void *)heap.mirrors[i];
    return NULL;
}

static jclass JNICALL get_class(JNIEnv *jni, jobject object)
{
    (void)jni;
    (void)object;
    return (jclass)(void *)heap.mirrors[0];
}

static jfieldID JNICALL get_field(JNIEnv *jni, jclass klass, const char *name, const char *type)
{
    (void)jni;
    (void)klass;
    (void)type;
    return strcmp(name, "eetop") == 0 ? (jfieldID)heap.eetop_id : NULL;
}

static jboolean JNICALL exception_check(JNIEnv *jni)
{
    (void)jni;
    return JNI_FALSE;
}

static void JNICALL delete_local(JNIEnv *jni, jobject object)
{
    (void)jni;
    (void)object;
}

static const struct JNINativeInterface_ functions = {
    .GetLongField = get_long,
    .FindClass = find_class,
    .GetObjectClass = get_class,
    .GetFieldID = get_field,
    .ExceptionCheck = exception_check,
    .DeleteLocalRef = delete_local,
};
static JNIEnv jni = &functions;

/* The JVM's switches. */
static struct {
    struct {
        const void *value;
        const char *name;
        uint64_t more;
    } flags[2];
    const void *first;
    uint64_t count;
    uint8_t is_checked, other;
} switches;

static void make_heap(void)
{
    const jlong eetop = 0x7f0000012340;

    heap.klass_offset = KLASS_OFFSET;
    heap.eetop_id = EETOP_OFFSET << FAKE_FIELD_ID_BITS | 2;
    memcpy(heap.thread + EETOP_OFFSET, &eetop, sizeof eetop);
    for (size_t i = 0; i < NAMED; i++) {
        const void *klass = heap.classes[i];

        memcpy(heap.mirrors[i] + KLASS_OFFSET, &klass, sizeof klass);
        set_symbol(heap.names[i], names[i]);
        set_pointer(heap.classes[i], "Klass", "_name", heap.names[i]);
    }
    switches.flags[0].name = "UseSomething";
    switches.flags[0].value = &switches.other;
    switches.flags[1].name = "CheckJNICalls";
    switches.flags[1].value = &switches.is_checked;
    switches.first = switches.flags;
    switches.count = 2;
    switches.other = 1;
    fake_jvm->add_field("java_lang_Class", "_klass_offset", "int", true, 0, &heap.klass_offset);
    fake_jvm->add_field("JVMFlag", "flags", "JVMFlag*", true, 0, &switches.first);
    fake_jvm->add_field("JVMFlag", "numFlags", "size_t", true, 0, &switches.count);
    fake_jvm->add_field("JVMFlag", "_addr", NULL, false, 0, NULL);
    fake_jvm->add_field("JVMFlag", "_name", "const char*", false, 8, NULL);
    fake_jvm->add_type("JVMFlag", sizeof switches.flags[0]);
}

static void open_as(enum layout_jdk jdk)
{
    open_fake(jdk, "A");
    make_heap();
}

static void open_17(void)
{
    open_as(LAYOUT_17);
}

TestSuite(vm_klass, .timeout = 1800);

static struct jw_error why;

static bool opens(void)
{
    return vm_klass_open(&jni, (jobject)(void *)heap.thread, &why);
}

static void refuses(const char *reason)
{
    memset(&why, 0, sizeof why);
    cr_assert(not(opens()));
    cr_assert(strstr(why.message, reason) != NULL, "%s", why.message);
    cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[1]) == 0);
    cr_assert(eq(u32, heap.reads_out_of_place, 0));
}

Test(vm_klass, a_class_object_leads_to_its_class, .init = open_17)
{
    cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[0]) == 0);
    cr_assert(opens(), "%s", why.message);
    for (size_t i = 0; i < NAMED; i++)
        cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[i]) == (vm_addr)heap.classes[i]);
}

Test(vm_klass, ids_with_a_hash_above_the_offset_are_understood, .init = open_17)
{
    heap.eetop_id = (uintptr_t)0x123456 << 9 | EETOP_OFFSET << 2 | 3;
    cr_assert(opens(), "%s", why.message);
    cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[1]) == (vm_addr)heap.classes[1]);
}

Test(vm_klass, ids_with_a_bit_more_are_understood_on_jdk_28)
{
    open_as(LAYOUT_28);
    cr_assert(opens(), "%s", why.message);
    for (size_t i = 0; i < NAMED; i++)
        cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[i]) == (vm_addr)heap.classes[i]);
    cr_assert(eq(i32, vm_offset_of_field((jfieldID)(56 << 3 | 2)), 56));
    cr_assert(eq(i32, vm_offset_of_field((jfieldID)(56 << 3 | 6)), -1)); /* lies flat */
}

/* A JVM that calls itself 28 and spells ids as the ones before. */
Test(vm_klass, it_is_the_classes_that_tell_how_many_bits_there_are)
{
    open_as(LAYOUT_28);
    fake_jdk = LAYOUT_17;
    heap.eetop_id = EETOP_OFFSET << 2 | 2;
    cr_assert(opens(), "%s", why.message);
    cr_assert(vm_klass_of(&jni, (jclass)(void *)heap.mirrors[1]) == (vm_addr)heap.classes[1]);
    cr_assert(eq(i32, vm_offset_of_field((jfieldID)(56 << 2 | 2)), 56));
}

Test(vm_klass, a_jvm_that_checks_ids_is_not_asked, .init = open_17)
{
    switches.is_checked = 1;
    refuses("-Xcheck:jni");
}

Test(vm_klass, a_jvm_that_does_not_tell_its_switches_is_not_asked, .init = open_17)
{
    switches.count = 1;
    refuses("-Xcheck:jni");
}

Test(vm_klass, an_offset_that_no_class_object_has_is_not_used, .init = open_17)
{
    static const uint32_t absurd[] = {0, 4, 12, 1024, UINT32_MAX};

    for (size_t i = 0; i < JW_COUNT_OF(absurd); i++) {
        heap.klass_offset = absurd[i];
        refuses("_klass_offset");
    }
}

Test(vm_klass, ids_that_are_spelt_otherwise_are_not_imitated, .init = open_17)
{
    static const uintptr_t absurd[] = {0,
                                       EETOP_OFFSET,
                                       EETOP_OFFSET << 2,
                                       EETOP_OFFSET << 2 | 1,
                                       12 << 2 | 2,
                                       (uintptr_t)0x7f0000001232};

    for (size_t i = 0; i < JW_COUNT_OF(absurd); i++) {
        heap.eetop_id = absurd[i];
        refuses("ids of fields");
    }
}

Test(vm_klass, an_id_that_reads_another_field_is_not_imitated, .init = open_17)
{
    heap.eetop_id = (EETOP_OFFSET + 8) << 2 | 2; /* what is read there is 0: no thread */
    refuses("ids of fields");
}

Test(vm_klass, a_field_that_leads_to_other_classes_is_not_used, .init = open_17)
{
    set_symbol(heap.names[2], "java/lang/Strinx");
    refuses("java/lang/String");
    set_symbol(heap.names[2], "java/lang/String");
    set_pointer(heap.classes[3], "Klass", "_name", (void *)8);
    refuses("java/lang/ClassLoader");
}

Test(vm_klass, what_was_refused_is_tried_again, .init = open_17)
{
    switches.is_checked = 1;
    cr_assert(not(opens()));
    switches.is_checked = 0;
    cr_assert(opens(), "%s", why.message);
}

Test(vm_klass, a_number_rises_with_each_class_at_its_address, .init = open_17)
{
    const vm_addr klass = 0x7f0000001000;
    const uint32_t first = vm_klass_serial(klass);

    cr_assert(eq(u32, vm_klass_serial(klass), first));
    vm_klass_prepared(klass);
    cr_assert(eq(u32, vm_klass_serial(klass), first + 1));
    vm_klass_prepared(0);
    cr_assert(eq(u32, vm_klass_serial(klass), first + 2));
}

Test(vm_klass, classes_elsewhere_leave_most_numbers_as_they_are, .init = open_17)
{
    const vm_addr first = 0x7f0000001000;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < 1000; i++)
        vm_klass_prepared(first + 0x10000000 + i * 0x400);
    for (uint32_t i = 0; i < 1000; i++)
        changed += vm_klass_serial(first + i * 0x400) != 0;
    /* A thousand of 65536 places are taken: 15 of a thousand by chance, with a deviation of 4. */
    cr_assert(le(u32, changed, 33));
}
