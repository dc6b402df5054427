/* Flags of a fake JVM: by numbers of types, by their names, and by what is neither. */
#include "vm/vm_flags.h"

#include "unit/vm/fake_memory.h"

#define FLAGS 9

struct fake_flag {
    const void *addr;
    const char *name;
    const char *type; /* or a number, in its first four bytes */
    uint32_t flags;
};

static struct {
    struct fake_flag flags[FLAGS];
    const struct fake_flag *first;
    uint64_t count, heap;
    uint32_t threads;
    int32_t level;
    bool is_compressed;
    double share;
    const char *error_file, *missing;
} table;

static struct vm_flag flag;

static void set_flag(int index, const void *addr, const char *name, const char *type, uint32_t code,
                     uint32_t flags)
{
    struct fake_flag *to = &table.flags[index];

    *to = (struct fake_flag){.addr = addr, .name = name, .type = type, .flags = flags};
    if (type == NULL)
        memcpy(&to->type, &code, sizeof code);
}

static void add_table(const char *type, bool has_codes)
{
    table.heap = 1ull << 33;
    table.threads = 4000000000u;
    table.level = -2;
    table.is_compressed = true;
    table.share = 0.5;
    table.error_file = "/tmp/hs_err.log";
    set_flag(0, &table.is_compressed, "UseCompressedOops", has_codes ? NULL : "bool", 0, 5);
    set_flag(1, &table.heap, "MaxHeapSize", has_codes ? NULL : "size_t", 6, 0xf1);
    set_flag(2, &table.threads, "ParallelGCThreads", has_codes ? NULL : "uint", 2, 0);
    set_flag(3, &table.level, "Level", has_codes ? NULL : "int", 1, 0);
    set_flag(4, &table.share, "Share", has_codes ? NULL : "double", 7, 0);
    set_flag(5, &table.error_file, "ErrorFile", has_codes ? NULL : "ccstr", 8, 1);
    set_flag(6, &table.missing, "OnError", has_codes ? NULL : "ccstrlist", 9, 0);
    set_flag(7, &table.heap, "Odd", has_codes ? NULL : "odd", 99, 0);
    set_flag(8, NULL, NULL, NULL, 0, 0);
    table.first = table.flags;
    table.count = FLAGS;
    fake_jvm->add_type(type, sizeof table.flags[0]);
    fake_jvm->add_field(type, "flags", "JVMFlag*", true, 0, &table.first);
    fake_jvm->add_field(type, "numFlags", "size_t", true, 0, &table.count);
    fake_jvm->add_field(type, "_addr", NULL, false, offsetof(struct fake_flag, addr), NULL);
    fake_jvm->add_field(type, "_name", "const char*", false, offsetof(struct fake_flag, name),
                        NULL);
    fake_jvm->add_field(type, "_type", has_codes ? "int" : "const char*", false,
                        offsetof(struct fake_flag, type), NULL);
    fake_jvm->add_field(type, "_flags", "int", false, offsetof(struct fake_flag, flags), NULL);
}

static void open_17(void)
{
    open_fake(LAYOUT_17, "A");
}

TestSuite(vm_flags, .init = open_17, .timeout = 1800);

static void expect_all(void)
{
    cr_assert(vm_flag_at(0, &flag));
    cr_expect_eq(flag.kind, VM_FLAG_BOOL);
    cr_expect_str_eq(flag.name, "UseCompressedOops");
    cr_expect_eq(flag.bits, 1);
    cr_expect_str_eq(flag.origin, "Ergonomic");
    cr_assert(vm_flag_find("MaxHeapSize", &flag));
    cr_expect_eq(flag.kind, VM_FLAG_ULONG);
    cr_expect_eq(flag.bits, 1ull << 33);
    cr_expect_str_eq(flag.origin, "Command line");
    cr_assert(vm_flag_find("ParallelGCThreads", &flag));
    cr_expect_eq(flag.kind, VM_FLAG_UINT);
    cr_expect_eq(flag.bits, 4000000000u);
    cr_assert(vm_flag_find("Level", &flag));
    cr_expect_eq(flag.kind, VM_FLAG_INT);
    cr_expect_eq((int64_t)flag.bits, -2);
    cr_assert(vm_flag_find("Share", &flag));
    cr_expect_eq(flag.kind, VM_FLAG_DOUBLE);
    cr_expect_eq(memcmp(&flag.bits, &table.share, sizeof flag.bits), 0);
    cr_assert(vm_flag_find("ErrorFile", &flag));
    cr_expect_eq(flag.kind, VM_FLAG_TEXT);
    cr_expect(flag.has_text);
    cr_expect_str_eq(flag.text, "/tmp/hs_err.log");
    cr_assert(vm_flag_find("OnError", &flag));
    cr_expect_not(flag.has_text);
    cr_assert(vm_flag_at(7, &flag), "one of a type that is not known stands in the table");
    cr_expect_eq(flag.kind, VM_FLAG_UNTOLD);
    cr_assert(vm_flag_at(8, &flag));
    cr_expect_eq(flag.kind, VM_FLAG_UNTOLD);
    cr_expect_not(vm_flag_at(9, &flag));
    cr_expect_not(vm_flag_find("Odd", &flag));
    cr_expect_eq(vm_flag_number("MaxHeapSize", 3), 1ull << 33);
    cr_expect_eq(vm_flag_number("ErrorFile", 3), 3);
    cr_expect_eq(vm_flag_number("Nowhere", 3), 3);
}

Test(vm_flags, types_by_number_are_known_by_two_flags_of_known_type)
{
    add_table("JVMFlag", true);
    expect_all();
}

Test(vm_flags, types_by_name)
{
    add_table("Flag", false);
    expect_all();
}

Test(vm_flags, numbers_that_mean_something_else_are_not_believed)
{
    add_table("JVMFlag", true);
    set_flag(1, &table.heap, "MaxHeapSize", NULL, 5, 0);
    cr_expect_not(vm_flag_at(0, &flag));
    cr_expect_eq(vm_flag_number("UseCompressedOops", 7), 7);
}

Test(vm_flags, a_jvm_without_the_table_has_none)
{
    cr_expect_not(vm_flag_at(0, &flag));
    cr_expect_not(vm_flag_find("MaxHeapSize", &flag));
}

Test(vm_flags, what_cannot_be_read_is_left_out)
{
    add_table("JVMFlag", true);
    table.flags[2].addr = (const void *)8;
    table.error_file = (const char *)8;
    cr_assert(vm_flag_at(2, &flag));
    cr_expect_eq(flag.kind, VM_FLAG_UNTOLD);
    cr_expect_not(vm_flag_find("ErrorFile", &flag));
    cr_expect(vm_flag_find("MaxHeapSize", &flag));
}
