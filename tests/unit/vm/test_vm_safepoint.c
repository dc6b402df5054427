/* The JVM's counter of safepoints: found by its name among others, and not found where it is not. */
#include "unit/vm/fake_counters.h"

#include <criterion/new/assert.h>
#include <sys/mman.h>

static uint64_t count;

static void open_with_counters(void)
{
    open_fake(LAYOUT_17, "A");
    add_fields();
    put_counters(22);
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
    counters_start = NULL;
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

    memcpy(page, counters, sizeof counters);
    counters_start = page;
    vm_safepoint_open();
    cr_assert(vm_safepoint_count(&count));
    munmap(page, 4096);
    cr_assert(not(vm_safepoint_count(&count)));
}
