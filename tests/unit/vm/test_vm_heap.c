/* The use of a fake JVM's heap: by the spaces of two collectors, by the sum of a third, and of none. */
#include "vm/vm_heap.h"

#include "unit/vm/fake_memory.h"

struct fake_flag {
    const void *addr;
    const char *name, *type;
    uint32_t flags;
};

static struct {
    struct fake_flag flags[4];
    const struct fake_flag *first;
    uint64_t count;
    bool is_g1, is_parallel, is_serial;
} table;

struct fake_space {
    uint64_t other, bottom, top;
};

/* A heap, of which each collector takes its own words. */
static struct {
    uint64_t young, old, summary;
    struct {
        const struct fake_space *eden, *from;
    } young_generation;
    struct {
        uint64_t other;
        const struct fake_space *space;
    } old_generation;
    struct fake_space eden, from, tenured;
    const void *at, *young_at, *old_at;
} heap;

static void set_flag(int index, const bool *addr, const char *name)
{
    table.flags[index] = (struct fake_flag){.addr = addr, .name = name, .type = "bool"};
}

static void add_flags(void)
{
    set_flag(0, &table.is_g1, "UseG1GC");
    set_flag(1, &table.is_parallel, "UseParallelGC");
    set_flag(2, &table.is_serial, "UseSerialGC");
    table.first = table.flags;
    table.count = 3;
    fake_jvm->add_type("JVMFlag", sizeof table.flags[0]);
    fake_jvm->add_field("JVMFlag", "flags", "JVMFlag*", true, 0, &table.first);
    fake_jvm->add_field("JVMFlag", "numFlags", "size_t", true, 0, &table.count);
    fake_jvm->add_field("JVMFlag", "_addr", NULL, false, offsetof(struct fake_flag, addr), NULL);
    fake_jvm->add_field("JVMFlag", "_name", "const char*", false, offsetof(struct fake_flag, name),
                        NULL);
    fake_jvm->add_field("JVMFlag", "_type", "const char*", false, offsetof(struct fake_flag, type),
                        NULL);
    fake_jvm->add_field("JVMFlag", "_flags", "int", false, offsetof(struct fake_flag, flags), NULL);
}

static void open_heap(void)
{
    open_fake(LAYOUT_17, "A");
    add_flags();
    heap.eden = (struct fake_space){0, 4096, 4096 + 700};
    heap.from = (struct fake_space){0, 8192, 8192 + 30};
    heap.tenured = (struct fake_space){0, 16384, 16384 + 1000};
    heap.young_generation.eden = &heap.eden;
    heap.young_generation.from = &heap.from;
    heap.old_generation.space = &heap.tenured;
    heap.young = (uintptr_t)&heap.young_generation;
    heap.old = (uintptr_t)&heap.old_generation;
    heap.young_at = &heap.young_generation;
    heap.old_at = &heap.old_generation;
    heap.at = &heap;
    fake_jvm->add_field("Universe", "_collectedHeap", "CollectedHeap*", true, 0, &heap.at);
}

static void add_word(const char *type, const char *field, const char *string, uint64_t offset)
{
    fake_jvm->add_field(type, field, string, false, offset, NULL);
}

static void add_spaces(const char *bottom_of, const char *top_of, const char *young,
                       const char *old, const char *old_space)
{
    add_word(bottom_of, "_bottom", "HeapWord*", offsetof(struct fake_space, bottom));
    add_word(top_of, "_top", "HeapWord*", offsetof(struct fake_space, top));
    add_word(young, "_eden_space", "Space*", 0);
    add_word(young, "_from_space", "Space*", 8);
    add_word(old, old_space, "Space*", 8);
}

static uint64_t used(void)
{
    uint64_t bytes;

    vm_heap_open();
    cr_assert(vm_heap_used(&bytes));
    return bytes;
}

TestSuite(vm_heap, .init = open_heap, .timeout = 1800);

Test(vm_heap, serial_uses_what_lies_below_the_tops_of_its_spaces)
{
    table.is_serial = true;
    add_spaces("Space", "ContiguousSpace", "DefNewGeneration", "TenuredGeneration", "_the_space");
    add_word("SerialHeap", "_young_gen", "DefNewGeneration*", 0);
    add_word("SerialHeap", "_old_gen", "TenuredGeneration*", 8);
    cr_assert_eq(used(), 1730);
    heap.eden.top += 8;
    cr_assert_eq(used(), 1738);
}

Test(vm_heap, serial_of_a_jvm_with_an_array_of_generations)
{
    table.is_serial = true;
    add_spaces("Space", "ContiguousSpace", "DefNewGeneration", "OneContigSpaceCardGeneration",
               "_the_space");
    add_word("GenCollectedHeap", "_gens", "Generation*[2]", 0);
    cr_assert_eq(used(), 1730);
}

Test(vm_heap, parallel_likewise_by_what_it_keeps_of_its_own)
{
    table.is_parallel = true;
    add_spaces("ImmutableSpace", "MutableSpace", "PSYoungGen", "PSOldGen", "_object_space");
    fake_jvm->add_field("ParallelScavengeHeap", "_young_gen", "PSYoungGen*", true, 0,
                        &heap.young_at);
    fake_jvm->add_field("ParallelScavengeHeap", "_old_gen", "PSOldGen*", true, 0, &heap.old_at);
    cr_assert_eq(used(), 1730);
    heap.from.top = heap.from.bottom - 8; /* what cannot be */

    uint64_t bytes;
    cr_assert(!vm_heap_used(&bytes));
}

Test(vm_heap, parallel_of_a_jvm_whose_heap_has_them)
{
    table.is_parallel = true;
    add_spaces("MutableSpace", "MutableSpace", "PSYoungGen", "PSOldGen", "_object_space");
    add_word("ParallelScavengeHeap", "_young_gen", "PSYoungGen*", 0);
    add_word("ParallelScavengeHeap", "_old_gen", "PSOldGen*", 8);
    cr_assert_eq(used(), 1730);
}

Test(vm_heap, g1_has_a_sum)
{
    table.is_g1 = true;
    heap.summary = 12345;
    add_word("G1CollectedHeap", "_summary_bytes_used", "size_t", 16);
    cr_assert_eq(used(), 12345);
}

Test(vm_heap, of_other_collectors_and_of_what_lacks_a_field_nothing_is_known)
{
    uint64_t bytes;

    vm_heap_open();
    cr_assert(!vm_heap_used(&bytes));
    table.is_serial = true;
    add_word("SerialHeap", "_young_gen", "DefNewGeneration*", 0);
    vm_heap_open();
    cr_assert(!vm_heap_used(&bytes));
    cr_assert_eq(bytes, 0);
}
