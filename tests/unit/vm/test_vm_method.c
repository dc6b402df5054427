/* What a Method* says of itself: right for three layouts, bounded for any memory. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "vm/vm_klass.h"
#include "vm/vm_loader.h"
#include "vm/vm_method.h"

TestSuite(vm_method, .timeout = 1800);

static bool is_text(const struct vm_text *text, const char *wanted)
{
    char copy[256];

    return text->addr != 0 && text->length_bytes == strlen(wanted) &&
           safe_load_bytes(copy, text->addr, text->length_bytes) &&
           memcmp(copy, wanted, text->length_bytes) == 0;
}

TEST_EACH_JDK(vm_method, names_and_flags_are_read, "com/acme/Job")
{
    struct vm_method method;

    /* From JDK 26 on an id is a number. */
    cr_assert(vm_method_of_id((jmethodID)&fake.id_slot) ==
              (fake_jdk == LAYOUT_28 ? 0 : (vm_addr)fake.method));
    cr_assert(vm_method_const((vm_addr)fake.method) == (vm_addr)fake.const_method);
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(is_text(&method.class_name, "com/acme/Job"));
    cr_assert(is_text(&method.name, "run"));
    cr_assert(is_text(&method.signature, "(I)V"));
    cr_assert(is_text(&method.source_file, "Job.java"));
    cr_assert(eq(u32, method.modifiers, 0x0009));
    cr_assert(eq(u32, method.class_modifiers, 0x0031));
    cr_assert(not(method.is_native));
    cr_assert(not(method.is_hidden_class));
    cr_assert(eq(u32, method.loader, VM_LOADER_UNKNOWN));
    cr_assert(method.const_method == (vm_addr)fake.const_method);
}

static struct vm_identity identity_now(void)
{
    struct vm_identity told;

    memset(&told, 0xee, sizeof told);
    cr_assert(vm_method_identify((vm_addr)fake.method, &told));
    return told;
}

static bool is_same(const struct vm_identity *a, const struct vm_identity *b)
{
    return a->const_method == b->const_method && a->klass == b->klass && a->serial == b->serial &&
           a->idnum == b->idnum && a->idnums == b->idnums;
}

TEST_EACH_JDK(vm_method, m18_any_word_is_taken_for_a_method_without_harm, "com/acme/Job")
{
    struct vm_identity told;
    struct vm_method method;
    uint64_t read = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        /* Any word, and words near what is there: inside of the method, its class and its names. */
        const uint64_t random = jw_hash_word(i);
        const uintptr_t near = (uintptr_t)fake.method + (random & 0xfff) - 0x800;
        const vm_addr words[] = {random, random >> 16, near, vm_method_of_id((jmethodID)random),
                                 vm_method_of_id((jmethodID)near)};

        for (size_t k = 0; k < JW_COUNT_OF(words); k++) {
            read += vm_method_read(words[k], &method);
            (void)vm_method_identify(words[k], &told);
            (void)vm_method_has_code(words[k]);
        }
    }
    cr_assert(lt(u64, read, 5 * 20000), "random words are methods");
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
}

TEST_EACH_JDK(vm_method, what_did_not_change_is_the_same_method, "com/acme/Job")
{
    const struct vm_identity first = identity_now();

    cr_assert(first.klass == (vm_addr)fake.klass);
    cr_assert(first.const_method == (vm_addr)fake.const_method);
    cr_assert(eq(u16, first.idnum, METHOD_NUMBER));
    cr_assert(eq(u16, first.idnums, METHOD_NUMBERS));
    set(fake.klass, "InstanceKlass", "_init_state", STATE_LINKED, 1);
    const struct vm_identity second = identity_now();
    cr_assert(is_same(&first, &second));
}

TEST_EACH_JDK(vm_method, a_class_prepared_at_the_same_address_makes_it_another, "com/acme/Job")
{
    const struct vm_identity first = identity_now();

    vm_klass_prepared((vm_addr)fake.klass);
    const struct vm_identity second = identity_now();
    cr_assert(not(is_same(&first, &second)));
    /* One at an address that the JVM does not tell may have been this one. */
    vm_klass_prepared(0);
    const struct vm_identity third = identity_now();
    cr_assert(not(is_same(&second, &third)));
    cr_assert(not(is_same(&first, &third)));
}

TEST_EACH_JDK(vm_method, a_redefinition_that_brings_every_address_back_makes_it_another,
              "com/acme/Job")
{
    const struct vm_identity first = identity_now();

    /* Another method of the class, whose Method, ConstMethod and constants came to lie in the same places. */
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER + 1, 2);
    const struct vm_identity second = identity_now();
    cr_assert(not(is_same(&first, &second)));
    /* The same method with another body: the one before got a number of its own. */
    set(fake.const_method, "ConstMethod", "_method_idnum", METHOD_NUMBER, 2);
    set(fake.klass, "InstanceKlass", "_idnum_allocated_count", METHOD_NUMBERS + 1, 2);
    const struct vm_identity third = identity_now();
    cr_assert(not(is_same(&first, &third)));
}

TEST_EACH_JDK(vm_method, a_method_of_a_class_that_is_not_linked_has_no_identity, "com/acme/Job")
{
    struct vm_identity told;

    for (uint64_t state = 0; state < STATE_LINKED; state++) {
        set(fake.klass, "InstanceKlass", "_init_state", state, 1);
        cr_assert(not(vm_method_identify((vm_addr)fake.method, &told)));
    }
}

TEST_EACH_JDK(vm_method, without_a_class_there_is_no_identity, "com/acme/Job")
{
    struct vm_identity told;
    void *const absurd[] = {NULL, (void *)8, (void *)(uintptr_t)-8};

    for (size_t i = 0; i < JW_COUNT_OF(absurd); i++) {
        set_pointer(fake.pool, "ConstantPool", "_pool_holder", absurd[i]);
        cr_assert(not(vm_method_identify((vm_addr)fake.method, &told)));
        set_pointer(fake.pool, "ConstantPool", "_pool_holder", fake.klass);
        set_pointer(fake.method, "Method", "_constMethod", absurd[i]);
        cr_assert(not(vm_method_identify((vm_addr)fake.method, &told)));
        set_pointer(fake.method, "Method", "_constMethod", fake.const_method);
        cr_assert(not(vm_method_identify((vm_addr)absurd[i], &told)));
    }
}

TEST_EACH_JDK(vm_method, the_loader_is_the_noted_one, "com/acme/Job")
{
    struct vm_method method;
    struct vm_loader_text text;

    vm_loader_note((vm_addr)fake.klass, "com/acme/Loader");
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(vm_loader_describe(method.loader, &text));
    cr_assert_str_eq(text.class_name, "com/acme/Loader");
}

TEST_EACH_JDK(vm_method, hidden_classes_are_told_by_their_name, "com/acme/Job$$Lambda+0x00007f01")
{
    static const struct {
        const char *name;
        bool is_hidden;
    } known[] = {
        {"java/lang/invoke/LambdaForm$MH+0x00007f8c5c001000", true},
        {"A+0x1", true},
        {"+0x", true},
        {"com/acme/Job+0", false},
        {"com/acme/Job/0x12", false},
        {"x", false},
    };
    struct vm_method method;

    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        set_symbol(fake.class_name, known[i].name);
        cr_assert(vm_method_read((vm_addr)fake.method, &method));
        cr_assert(eq(int, method.is_hidden_class, known[i].is_hidden), "%s", known[i].name);
    }
}

TEST_EACH_JDK(vm_method, native_and_compiled_methods_are_told, "A")
{
    struct vm_method method;

    cr_assert(not(vm_method_has_code((vm_addr)fake.method)));
    set(fake.method, "Method", "_code", 0x7f0000002000, 8);
    cr_assert(vm_method_has_code((vm_addr)fake.method));
    set(fake.method, "Method", "_access_flags", 0x0101, 2);
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(method.is_native);
}

TEST_EACH_JDK(vm_method, ids_that_name_no_method_are_refused, "A")
{
    static const uintptr_t absurd[] = {0, 1, 8, 4095, 0x10001, UINTPTR_MAX, UINTPTR_MAX << 48};

    for (size_t i = 0; i < JW_COUNT_OF(absurd); i++) {
        struct vm_method method;

        cr_assert(vm_method_of_id((jmethodID)absurd[i]) == 0);
        cr_assert(not(vm_method_read(absurd[i], &method)));
        cr_assert(vm_method_const(absurd[i]) == 0);
        cr_assert(not(vm_method_has_code(absurd[i])));
        fake.id_slot = absurd[i];
        /* An address that looks like one is for vm_method_read to refuse. */
        cr_assert(vm_method_of_id((jmethodID)&fake.id_slot) == 0);
    }
}

/* Line tables ------------------------------------------------------------------------------------ */

static void expect_lines(const unsigned char *table, size_t length_bytes, size_t expected_bytes)
{
    unsigned char copy[64];
    struct vm_method method;

    set_lines(table, length_bytes);
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(method.line_table != 0);
    cr_assert(eq(u32, vm_method_copy_lines(&method, copy, sizeof copy), (uint32_t)expected_bytes));
    cr_assert_arr_eq(copy, table, expected_bytes);
}

TEST_EACH_JDK(vm_method, line_tables_end_at_their_zero, "A")
{
    static const unsigned char plain[] = {9, 17, 25, 0, 0xaa, 0xaa};
    static const unsigned char escaped[] = {9, 0xff, 200, 5, 7, 17, 0, 0xaa};
    static const unsigned char longest[] = {0xff, 255, 255, 255, 255, 255, 192, 1, 0, 0xaa};
    static const unsigned char empty[] = {0};

    expect_lines(plain, sizeof plain, 4);
    expect_lines(escaped, sizeof escaped, 7);
    expect_lines(longest, sizeof longest, 9);
    expect_lines(empty, sizeof empty, 1);
}

/* Before JDK 20 a number may be a zero byte; later none is, but to read over one is no harm. */
TEST_EACH_JDK(vm_method, zeroes_inside_an_escape_do_not_end_the_table, "A")
{
    static const unsigned char table[] = {0xff, 0, 7, 9, 0xff, 192, 0, 0, 17, 0, 0xaa};

    expect_lines(table, sizeof table, 10);
}

TEST_EACH_JDK(vm_method, a_method_without_lines_has_no_table, "A")
{
    struct vm_method method;
    unsigned char copy[64];

    set(fake.const_method, "ConstMethod", "_flags", 0xfffe, 2);
    set(fake.const_method, "ConstMethod", "_flags._flags", 0xfffffffe, 4);
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(method.line_table == 0);
    cr_assert(eq(u32, vm_method_copy_lines(&method, copy, sizeof copy), 0));
}

TEST_EACH_JDK(vm_method, a_table_that_does_not_end_or_fit_is_left_out, "A")
{
    static const unsigned char table[] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0};
    unsigned char copy[64];
    struct vm_method method;

    set_lines(table, sizeof table);
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    for (uint32_t capacity = 0; capacity < sizeof table; capacity++)
        cr_assert(eq(u32, vm_method_copy_lines(&method, copy, capacity), 0));
    cr_assert(eq(u32, vm_method_copy_lines(&method, copy, sizeof table), sizeof table));
    method.line_table_bytes_max = 5;
    cr_assert(eq(u32, vm_method_copy_lines(&method, copy, sizeof copy), 0));
    method.line_table = 0x10;
    cr_assert(eq(u32, vm_method_copy_lines(&method, copy, sizeof copy), 0));
}

/* Hostile memory --------------------------------------------------------------------------------- */

/* Whatever is said must be bounded, and readable or refused by the next load. */
static void read_all(void)
{
    static unsigned char text[UINT16_MAX], lines[8192];
    struct vm_method method;
    const vm_addr addr = vm_method_of_id((jmethodID)&fake.id_slot);

    (void)vm_method_has_code(addr);
    if (!vm_method_read(addr, &method))
        return;
    const struct vm_text *const texts[] = {&method.class_name, &method.name, &method.signature,
                                           &method.source_file};
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        cr_assert(le(u32, texts[i]->length_bytes, UINT16_MAX));
        (void)safe_load_bytes(text, texts[i]->addr, texts[i]->length_bytes);
    }
    cr_assert(le(u32, vm_method_copy_lines(&method, lines, sizeof lines), sizeof lines));
}

TEST_EACH_JDK(vm_method, any_word_of_memory_may_be_wrong, "com/acme/Job")
{
    unsigned char *const edge = map_before_hole(1); /* the last readable byte is edge[-1] */

    memset(edge - 64, 0xff, 64);
    const uint64_t values[] = {
        0,
        1,
        8,
        0xffff,
        0x7fffffff,
        UINT64_MAX,
        INT64_MAX,
        0x4141414141414141,
        (uint64_t)(uintptr_t)edge,
        (uint64_t)(uintptr_t)(edge - 8),
        (uint64_t)(uintptr_t)(edge - 2),
        (uint64_t)(uintptr_t)&fake,
    };
    unsigned char *const bytes = (unsigned char *)&fake;
    const size_t end = offsetof(__typeof__(fake), code_heap);

    for (size_t at = 0; at + 8 <= end; at += 2) {
        for (size_t i = 0; i < JW_COUNT_OF(values); i++) {
            for (size_t width = 2; width <= 8; width *= 4) {
                uint64_t before;

                memcpy(&before, bytes + at, 8);
                memcpy(bytes + at, &values[i], width);
                read_all();
                memcpy(bytes + at, &before, 8);
            }
        }
    }
    struct vm_method method;
    cr_assert(vm_method_read((vm_addr)fake.method, &method));
    cr_assert(is_text(&method.name, "run"));
}

TEST_EACH_JDK(vm_method, a_method_has_the_lines_that_it_has_byte_by_byte, "A")
{
    unsigned char table[300], other[300];

    memset(table, 1 << 3 | 1, sizeof table);
    table[sizeof table - 1] = 0;
    memcpy(other, table, sizeof other);
    set_lines(table, sizeof table);
    cr_assert(vm_method_has_lines((vm_addr)fake.method, table, sizeof table));
    for (size_t at = 0; at < sizeof other; at += 13) {
        other[at]++;
        cr_assert(not(vm_method_has_lines((vm_addr)fake.method, other, sizeof other)));
        other[at]--;
    }
    cr_assert(vm_method_has_lines((vm_addr)fake.method, NULL, 0));
    cr_assert(not(vm_method_has_lines((vm_addr)fake.method, table, OBJECT_BYTES)));
    cr_assert(not(vm_method_has_lines(0, table, sizeof table)));
}
