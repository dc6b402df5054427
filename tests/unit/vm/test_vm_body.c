/* Bodies of methods: which one it is, also when it was redefined. */
#include "unit/vm/fake_classes.h"

#include <criterion/new/assert.h>

TestSuite(vm_body, .timeout = 1800);

static struct fake_class big;

static void open_on(struct fake_class *of)
{
    struct jw_error err = {0};

    cr_assert(vm_body_open(&(vm_addr){(vm_addr)of->klass}, 1, &err), "%s", err.message);
}

TEST_EACH_JDK(vm_body, a_method_tells_its_class_its_pool_and_its_number, "com/acme/Job")
{
    struct vm_body body;

    fill_class(&big, "com/acme/Big", 80);
    open_on(&big);
    for (uint32_t n = 0; n < big.count; n++) {
        cr_assert(vm_body_at(method_of(&big, n), &body));
        cr_assert(body.klass == (vm_addr)big.klass && body.pool == (vm_addr)big.body->pool);
        cr_assert(body.const_method == (vm_addr)big.body->methods[n].const_method);
        cr_assert(eq(u32, body.idnum, n));
        cr_assert(eq(u32, body.idnums, 80));
        cr_assert(body.is_idnum_first);
        cr_assert(vm_class_method((vm_addr)big.klass, n) == method_of(&big, n));
    }
    cr_assert(vm_class_method((vm_addr)big.klass, big.count) == 0);
    cr_assert(vm_class_pool((vm_addr)big.klass) == (vm_addr)big.body->pool);
    free_class(&big);
}

TEST_EACH_JDK(vm_body, an_old_body_keeps_its_first_number_and_is_not_of_the_classs_pool,
              "com/acme/Job")
{
    struct vm_body old, now;

    fill_class(&big, "com/acme/Big", 80);
    open_on(&big);
    const vm_addr before = method_of(&big, 5);
    redefine_class(&big);
    cr_assert(vm_body_at(before, &old));
    cr_assert(vm_body_at(method_of(&big, 5), &now));
    cr_assert(eq(u32, old.idnum, 5));
    cr_assert(eq(u32, now.idnum, 5));
    cr_assert(old.pool != vm_class_pool((vm_addr)big.klass));
    cr_assert(now.pool == vm_class_pool((vm_addr)big.klass));
    free_class(&big);
}

TEST_EACH_JDK(vm_body, a_first_number_is_not_guessed, "com/acme/Job")
{
    static struct fake_class small;
    struct vm_body body;

    /* Too few methods agree. */
    fill_class(&small, "com/acme/Small", 60);
    open_on(&small);
    cr_assert(vm_body_at(method_of(&small, 3), &body));
    cr_assert(not(body.is_idnum_first));
    /* One of many does not. */
    fill_class(&big, "com/acme/Big", 80);
    big.body->methods[79].const_method[first_number_offset()] ^= 1;
    open_on(&big);
    cr_assert(vm_body_at(method_of(&big, 3), &body));
    cr_assert(not(body.is_idnum_first));
    cr_assert(eq(u32, body.idnum, 3), "the number that it has now");
    free_class(&small);
    free_class(&big);
}

TEST_EACH_JDK(vm_body, a_class_tells_its_name_its_file_and_its_modifiers, "com/acme/Job")
{
    struct vm_class told;
    char text[64] = "";

    fill_class(&big, "com/acme/Big", 2);
    open_on(&big);
    cr_assert(vm_class_read((vm_addr)big.klass, &told));
    cr_assert(safe_load_bytes(text, told.name.addr, told.name.length_bytes));
    cr_assert(strcmp(text, "com/acme/Big") == 0);
    cr_assert(eq(u32, told.source_file.length_bytes, (uint32_t)strlen("Fake.java")));
    cr_assert(eq(u32, told.modifiers, 0x0031));
    cr_assert(not(told.is_hidden));
    cr_assert(not(vm_class_read(8, &told)));
    free_class(&big);
}

TEST_EACH_JDK(vm_body, any_word_is_taken_for_a_method_without_harm, "com/acme/Job")
{
    struct vm_body body;
    uint64_t read = 0;

    fill_class(&big, "com/acme/Big", 80);
    open_on(&big);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t random = i * UINT64_C(0x9e3779b97f4a7c15);

        read += vm_body_at(random, &body) + vm_body_at(random >> 16, &body);
        (void)vm_class_pool(random >> 16);
        (void)vm_class_method(random >> 16, (uint32_t)i);
    }
    cr_assert(lt(u64, read, 40000));
    free_class(&big);
}
