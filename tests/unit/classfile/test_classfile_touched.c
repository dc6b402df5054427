/* What is charged for a class that is written again is not less than what it touches, of small classes and of the longest code. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "classfile/classfile_rewrite.h"
#include "support/class_maker.h"

TestSuite(classfile_touched, .timeout = 1800);

static size_t touched(const void *bytes, size_t length_bytes)
{
    static unsigned char in_memory[65536];
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = (length_bytes + page_bytes - 1) / page_bytes;
    size_t count = 0;

    cr_assert_lt(pages, sizeof in_memory);
    cr_assert_eq(mincore((void *)(uintptr_t)bytes, length_bytes, in_memory), 0);
    for (size_t i = 0; i < pages; i++)
        count += in_memory[i] & 1;
    return count * page_bytes;
}

static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    static const uint8_t nops[40];

    (void)context;
    (void)site;
    (void)additions;
    classfile_put_code(snippet, nops, sizeof nops, 0);
}

/* Methods of so many instructions of a byte each, all written again with a piece at their ends. */
static void expect_enough(unsigned methods, uint32_t code_bytes)
{
    static uint8_t code[65535];
    static uint32_t places[256];
    static struct class_maker maker;
    struct classfile_memory memory = {.used_bytes = 0};
    struct classfile file;
    struct classfile_rewritten out;

    memset(code, 0, code_bytes); /* nop */
    code[code_bytes - 1] = 177;
    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    for (unsigned i = 0; i < methods; i++) {
        char name[16];

        places[i] = CLASSFILE_AT(ENTRY) | CLASSFILE_AT(RETURN);
        snprintf(name, sizeof name, "m%u", i);
        class_maker_method(
            &maker, 9, name, "()V",
            &(struct class_maker_code){.stack = 1, .bytes = code, .length = code_bytes});
    }
    const struct class_maker_bytes whole = class_maker_end(&maker);
    const struct classfile_plan plan = {.places = places, .rewrites_all = true, .insert = insert};

    memory.capacity_bytes = classfile_memory_bytes(whole.length);
    memory.bytes = mmap(NULL, memory.capacity_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert(memory.bytes != MAP_FAILED);
    (void)madvise(memory.bytes, memory.capacity_bytes, MADV_NOHUGEPAGE);
    cr_assert_eq(classfile_read(whole.bytes, whole.length, &memory, &file), CLASSFILE_OK);
    cr_assert_eq(classfile_rewrite(&file, &plan, &memory, &out), CLASSFILE_OK);
    cr_expect(out.is_changed && out.methods[0].verdict == CLASSFILE_OK);

    const size_t found = touched(memory.bytes, memory.capacity_bytes);
    cr_expect_leq(found, classfile_touched_bytes(whole.length),
                  "a class of %zu bytes touches %zu, not at most %zu", (size_t)whole.length, found,
                  classfile_touched_bytes(whole.length));
    cr_expect_lt(classfile_touched_bytes(whole.length), memory.capacity_bytes);
    (void)munmap(memory.bytes, memory.capacity_bytes);
    class_maker_free(&maker);
}

Test(classfile_touched, a_small_class_is_charged_for_what_it_touches)
{
    expect_enough(1, 10);
    expect_enough(20, 100);
}

Test(classfile_touched, so_is_one_with_long_code_and_one_with_much_of_it)
{
    expect_enough(1, 65000);
    expect_enough(6, 60000);
    expect_enough(200, 1000);
}
