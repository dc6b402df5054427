/* The class of an object: by each form of its header, and never one that does not prove itself. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "vm/vm_object.h"

TestSuite(vm_object, .timeout = 1800);

#define SUPERS 8
#define DEPTHS 12
#define SHIFT  3

/* A class, its superclass, and so on, each in a place that a compressed address can tell. */
static struct {
    _Alignas(4096) unsigned char bytes[DEPTHS][OBJECT_BYTES];
} classes;

static unsigned char object[64];

static bool use_compressed, use_compact;
static uintptr_t flags_static, flag_count, narrow_base;
static int32_t narrow_shift = SHIFT;
static unsigned char flag_table[3 * 24];

static void add_flag(size_t index, const char *name, bool *value)
{
    const int addr_offset = fake_jdk == LAYOUT_8 ? 16 : 0;

    memcpy(flag_table + index * 24 + 8, &name, sizeof name);
    memcpy(flag_table + index * 24 + addr_offset, &value, sizeof value);
    flags_static = (uintptr_t)flag_table;
    flag_count = index + 1;
}

static void add_tables(bool with_flags)
{
    const char *type = fake_jdk == LAYOUT_8 ? "Flag" : "JVMFlag";
    const char *holder = fake_jdk == LAYOUT_8 ? "Universe" : "CompressedKlassPointers";
    const char *base = fake_jdk >= LAYOUT_25 ? "_base" : "_narrow_klass._base";
    const char *shift = fake_jdk >= LAYOUT_25 ? "_shift" : "_narrow_klass._shift";

    add_flag(0, "UseSomethingElse", &use_compact);
    add_flag(1, "UseCompressedClassPointers", &use_compressed);
    if (fake_jdk >= LAYOUT_25)
        add_flag(2, "UseCompactObjectHeaders", &use_compact);
    fake_jvm->add_field(holder, base, "address", true, 0, &narrow_base);
    fake_jvm->add_field(holder, shift, "int", true, 0, &narrow_shift);
    fake_jvm->add_long("markWord::klass_shift", 42);
    if (!with_flags)
        return;
    fake_jvm->add_type(type, 24);
    fake_jvm->add_field(type, "_name", "const char*", false, 8, NULL);
    fake_jvm->add_field(type, "_addr", "", false, fake_jdk == LAYOUT_8 ? 16 : 0, NULL);
    fake_jvm->add_field(type, "flags", "JVMFlag*", true, 0, &flags_static);
    fake_jvm->add_field(type, "numFlags", "size_t", true, 0, &flag_count);
}

static vm_addr class_at(unsigned depth)
{
    return (vm_addr)classes.bytes[depth];
}

/* Each class has its superclasses in its list, the first eight of them, itself included. */
static void fill_classes(void)
{
    memset(&classes, 0, sizeof classes);
    for (unsigned depth = 0; depth < DEPTHS; depth++) {
        unsigned char *klass = classes.bytes[depth];
        const int supers = offset_of("Klass", "_primary_supers[0]");
        const unsigned offset = depth < SUPERS
                                    ? (unsigned)supers + depth * 8
                                    : (unsigned)offset_of("Klass", "_secondary_super_cache");

        set_pointer(klass, "Klass", "_name", fake.class_name);
        set(klass, "Klass", "_super_check_offset", offset, 4);
        for (unsigned i = 0; i <= depth && i < SUPERS; i++)
            memcpy(klass + supers + i * 8, &(vm_addr){class_at(i)}, 8);
    }
    narrow_base = (uintptr_t)&classes - 4096;
}

static uint64_t narrow(unsigned depth)
{
    return (class_at(depth) - narrow_base) >> SHIFT;
}

static void open_with(enum layout_jdk jdk, bool is_compressed, bool is_compact, bool with_flags)
{
    struct jw_error err = {0};

    use_compressed = is_compressed;
    use_compact = is_compact;
    prepare_fake(jdk, "com/acme/Shape");
    fill_classes();
    add_tables(with_flags);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
}

static vm_addr seen(void)
{
    return vm_object_class((vm_addr)object);
}

static void put_header(uint64_t mark, uint64_t word)
{
    memcpy(object, &mark, 8);
    memcpy(object + 8, &word, 8);
}

static void expect_all_depths(uint64_t (*mark_of)(unsigned), uint64_t (*word_of)(unsigned))
{
    for (unsigned depth = 0; depth < DEPTHS; depth++) {
        put_header(mark_of(depth), word_of(depth));
        cr_assert(eq(u64, seen(), class_at(depth)), "class %u", depth);
    }
}

static uint64_t unlocked(unsigned depth)
{
    (void)depth;
    return 1;
}

static uint64_t narrow_beside_a_length(unsigned depth)
{
    return narrow(depth) | UINT64_C(0xdeadbeef) << 32;
}

static uint64_t address(unsigned depth)
{
    return class_at(depth);
}

static uint64_t in_the_mark(unsigned depth)
{
    return narrow(depth) << 42 | UINT64_C(0x2345) << 11 | 1;
}

static uint64_t fields_of_its_own(unsigned depth)
{
    return 0xfeedface0 + depth;
}

#define EACH_JDK(name, compressed)                                                                 \
    static void name(void);                                                                        \
    Test(vm_object, name##_on_jdk_8)                                                               \
    {                                                                                              \
        open_with(LAYOUT_8, compressed, false, true);                                              \
        name();                                                                                    \
    }                                                                                              \
    Test(vm_object, name##_on_jdk_17)                                                              \
    {                                                                                              \
        open_with(LAYOUT_17, compressed, false, true);                                             \
        name();                                                                                    \
    }                                                                                              \
    Test(vm_object, name##_on_jdk_25)                                                              \
    {                                                                                              \
        open_with(LAYOUT_25, compressed, false, true);                                             \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

EACH_JDK(a_compressed_class_is_read_beside_what_shares_its_word, true)
{
    expect_all_depths(unlocked, narrow_beside_a_length);
}

EACH_JDK(a_class_by_its_address_is_read, false)
{
    expect_all_depths(unlocked, address);
}

static void a_class_in_the_mark_is_read_on(enum layout_jdk jdk)
{
    open_with(jdk, true, true, true);
    expect_all_depths(in_the_mark, fields_of_its_own);
}

Test(vm_object, a_class_in_the_mark_is_read_on_jdk_25)
{
    a_class_in_the_mark_is_read_on(LAYOUT_25);
}

Test(vm_object, a_class_in_the_mark_is_read_on_jdk_28)
{
    a_class_in_the_mark_is_read_on(LAYOUT_28);
}

/* The flag for compressed classes is gone there: see OpenJDK, oop.hpp, from JDK 27 on. */
Test(vm_object, a_compressed_class_is_read_where_nothing_else_can_stand_beside_the_mark)
{
    open_with(LAYOUT_28, true, false, true);
    expect_all_depths(unlocked, narrow_beside_a_length);
}

Test(vm_object, a_mark_that_tells_where_the_object_went_tells_no_class)
{
    open_with(LAYOUT_25, true, true, true);
    put_header(in_the_mark(2) | 3, 0);
    cr_assert(eq(u64, seen(), 0));
}

Test(vm_object, a_jvm_without_the_flag_has_compressed_classes)
{
    open_with(LAYOUT_25, false, false, false);
    expect_all_depths(unlocked, narrow_beside_a_length);
}

EACH_JDK(what_is_no_object_has_no_class, true)
{
    put_header(1, 0);
    cr_assert(eq(u64, seen(), 0), "no class at all");
    put_header(1, narrow(3));
    cr_assert(eq(u64, vm_object_class(0), 0));
    cr_assert(eq(u64, vm_object_class((vm_addr)object + 4), 0), "not aligned");
    cr_assert(eq(u64, vm_object_class(UINT64_C(0x7ffffffff000)), 0), "not mapped");
    cr_assert(eq(u64, vm_object_class(UINT64_C(0xdead000000000000)), 0), "not canonical");
}

EACH_JDK(what_does_not_prove_itself_is_no_class, true)
{
    const int supers = offset_of("Klass", "_primary_supers[0]");
    const vm_addr other = class_at(1);

    /* The classes are a kilobyte apart: between them there is none. */
    for (uint64_t word = 0; word < (sizeof classes + 8192) >> SHIFT; word++) {
        const vm_addr meant = narrow_base + (word << SHIFT);
        const bool is_class = meant >= class_at(0) && meant <= class_at(DEPTHS - 1) &&
                              (meant - class_at(0)) % OBJECT_BYTES == 0;

        put_header(1, word);
        cr_assert(eq(u64, seen(), is_class ? meant : 0), "word %llx", (unsigned long long)word);
    }
    put_header(1, narrow(3));
    memcpy(classes.bytes[3] + supers + 3 * 8, &other, 8);
    cr_assert(eq(u64, seen(), 0), "another class in its own place");
    put_header(1, narrow(10));
    memcpy(classes.bytes[10] + supers + 7 * 8, &other, 8);
    cr_assert(eq(u64, seen(), 0), "a superclass that stands at another depth");
}

EACH_JDK(a_class_without_a_readable_name_is_none, true)
{
    struct vm_text text;

    put_header(1, narrow(4));
    set(classes.bytes[4], "Klass", "_name", 0, 8);
    cr_assert(eq(u64, seen(), 0));
    set(classes.bytes[4], "Klass", "_name", 0x7ffffffff000, 8);
    cr_assert(eq(u64, seen(), 0));
    set_pointer(classes.bytes[4], "Klass", "_name", fake.class_name);
    cr_assert(eq(u64, seen(), class_at(4)));
    cr_assert(vm_class_name(seen(), &text));
    cr_assert(eq(u32, text.length_bytes, 14));
    cr_assert(memcmp((const void *)text.addr, "com/acme/Shape", 14) == 0);
}
