/* The JVM's counter of safepoints: found by its name among others, and not found where it is not. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>
#include <sys/mman.h>

#include "vm/vm_safepoint.h"

#define FIRST_OFFSET 32
#define ENTRY_BYTES  64
#define NAME_OFFSET  20
#define DATA_OFFSET  56
#define ENTRIES      3

static _Alignas(8) unsigned char memory[FIRST_OFFSET + ENTRIES * ENTRY_BYTES];
static void *start;
static uint64_t count;

static unsigned char *entry(int index)
{
    return memory + FIRST_OFFSET + index * ENTRY_BYTES;
}

static void put(unsigned char *to, int32_t value)
{
    memcpy(to, &value, sizeof value);
}

static void set_entry(int index, const char *name, char type, uint64_t value)
{
    unsigned char *to = entry(index);

    put(to, ENTRY_BYTES);
    put(to + 4, NAME_OFFSET);
    to[12] = (unsigned char)type;
    put(to + 16, DATA_OFFSET);
    strcpy((char *)to + NAME_OFFSET, name);
    memcpy(to + DATA_OFFSET, &value, sizeof value);
}

static void add_fields(void)
{
    fake_jvm->add_field("PerfMemory", "_start", "char*", true, 0, &start);
    fake_jvm->add_field("PerfDataPrologue", "entry_offset", "jint", false, 24, NULL);
    fake_jvm->add_field("PerfDataPrologue", "num_entries", "jint", false, 28, NULL);
    fake_jvm->add_field("PerfDataEntry", "entry_length", "jint", false, 0, NULL);
    fake_jvm->add_field("PerfDataEntry", "name_offset", "jint", false, 4, NULL);
    fake_jvm->add_field("PerfDataEntry", "data_type", "jbyte", false, 12, NULL);
    fake_jvm->add_field("PerfDataEntry", "data_offset", "jint", false, 16, NULL);
}

static void open_with_counters(void)
{
    open_fake(LAYOUT_17, "A");
    add_fields();
    start = memory;
    put(memory + 24, FIRST_OFFSET);
    put(memory + 28, ENTRIES);
    set_entry(0, "sun.rt.safepointTime", 'J', 11);
    set_entry(1, "sun.rt.safepoints", 'J', 22);
    set_entry(2, "sun.rt.safepointSync", 'J', 33);
}

TestSuite(vm_safepoint, .init = open_with_counters, .timeout = 300);

Test(vm_safepoint, the_counter_is_found_by_its_whole_name_and_read_each_time)
{
    const uint64_t more = 23;

    vm_safepoint_open();
    cr_assert(vm_safepoint_count(&count));
    cr_assert(eq(u64, count, 22));
    memcpy(entry(1) + DATA_OFFSET, &more, sizeof more);
    cr_assert(vm_safepoint_count(&count));
    cr_assert(eq(u64, count, 23));
}

Test(vm_safepoint, a_jvm_without_performance_data_has_none)
{
    start = NULL;
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
}

Test(vm_safepoint, a_jvm_whose_tables_lack_a_field_has_none)
{
    fake_jvm->hide_field("PerfDataEntry", "data_offset");
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
}

Test(vm_safepoint, a_counter_of_another_name_or_type_is_none)
{
    set_entry(1, "sun.rt.safepointz", 'J', 22);
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
    set_entry(1, "sun.rt.safepoints", 'B', 22);
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
}

Test(vm_safepoint, entries_that_lead_nowhere_end_the_search)
{
    put(entry(0), 0);
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
    put(entry(0), 1 << 30);
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_count(&count)));
}

Test(vm_safepoint, memory_that_goes_away_is_told_of)
{
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(page, memory, sizeof memory);
    start = page;
    vm_safepoint_open();
    cr_assert(vm_safepoint_count(&count));
    munmap(page, 4096);
    cr_assert(not(vm_safepoint_count(&count)));
}
