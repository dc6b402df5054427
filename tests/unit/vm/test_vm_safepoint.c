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

TestSuite(vm_safepoint, .init = open_with_counters, .timeout = 1800);

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

Test(vm_safepoint, the_date_is_another_when_one_begins_and_when_all_have_stopped)
{
    uint64_t before, date;

    vm_safepoint_open();
    cr_assert(not(vm_safepoint_date(&date))); /* the second counter is not there */
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1000);
    vm_safepoint_open();
    cr_assert(vm_safepoint_date(&before));
    cr_assert(vm_safepoint_date(&date));
    cr_assert(eq(u64, date, before));
    set_entry(1, "sun.rt.safepoints", 'J', 23);
    cr_assert(vm_safepoint_date(&date));
    cr_assert(ne(u64, date, before));
    before = date;
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1400);
    cr_assert(vm_safepoint_date(&date));
    cr_assert(ne(u64, date, before));
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

static void set_delays(uint64_t sync_ns, uint64_t inside_ns)
{
    set_entry(0, "sun.rt.safepointSyncTime", 'J', sync_ns);
    set_entry(2, "sun.rt.safepointTime", 'J', inside_ns);
}

Test(vm_safepoint, a_look_tells_how_many_and_how_long)
{
    struct vm_safepoint_look look;
    struct jw_error err = {{0}};

    set_delays(1000, 2000);
    vm_safepoint_open();
    cr_assert(vm_safepoint_open_delays(&err), "%s", err.message);
    cr_assert(vm_safepoint_look(&look));
    cr_assert(eq(u64, look.count, 22));
    cr_assert(eq(u64, look.sync_ns, 1000));
    cr_assert(eq(u64, look.inside_ns, 2000));
}

Test(vm_safepoint, a_jvm_that_does_not_tell_how_long_is_not_watched_and_it_is_said_what_to_try)
{
    struct vm_safepoint_look look;
    struct jw_error err = {{0}};

    set_entry(0, "sun.rt.safepointSyncTimf", 'J', 1);
    vm_safepoint_open();
    cr_assert(not(vm_safepoint_open_delays(&err)));
    cr_assert(ne(ptr, strstr(err.message, "-XX:-UsePerfData"), NULL));
    cr_assert(not(vm_safepoint_look(&look)));
}

Test(vm_safepoint, without_symbols_no_state_begin_or_operation_is_told)
{
    char name[32];

    cr_assert(eq(int, vm_safepoint_state(), VM_SAFEPOINT_UNTOLD));
    cr_assert(eq(u64, vm_safepoint_begin_ns(), 0));
    cr_assert(eq(int, vm_safepoint_finding(), VM_SAFEPOINT_SOUGHT));
    for (int i = 0; i < 8; i++)
        vm_safepoint_find_symbols();
    cr_assert(eq(int, vm_safepoint_finding(), VM_SAFEPOINT_MISSING));
    cr_assert(eq(u64, vm_safepoint_operation(), 0));
    cr_assert(not(vm_safepoint_operation_name(0, name, sizeof name)));
}
