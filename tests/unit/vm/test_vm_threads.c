/* Numbers of the JVM's threads: those in its list, and when nothing can be said of one. */
#include "unit/vm/fake_monitor.h"

#include <criterion/new/assert.h>

#include "vm/vm_threads.h"

TestSuite(vm_threads, .timeout = 1800);

static unsigned char second_thread[4096];

static void set_length(uint32_t count)
{
    memcpy(thread_list + THREADS_LENGTH_AT, &count, sizeof count);
}

static void list_second(uint64_t number)
{
    listed_threads[1] = second_thread;
    set(second_thread, "JavaThread", "_monitor_owner_id", number, 8);
    set_length(2);
}

Test(vm_threads, a_number_is_somebodys_or_nobodys)
{
    open_well(LAYOUT_25);
    cr_assert(vm_threads_has_number(OWN_ID));
    cr_assert(not(vm_threads_has_number(VIRTUAL_ID)));
    mount();
    cr_assert(vm_threads_has_number(VIRTUAL_ID), "it is on a carrier");
    list_second(5);
    cr_assert(vm_threads_has_number(5));
    cr_assert(not(vm_threads_has_number(6)));
}

Test(vm_threads, what_cannot_be_read_says_nothing)
{
    open_well(LAYOUT_28);
    listed_threads[0] = (void *)8; /* it has ended */
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
    listed_threads[0] = fake.java_thread;
    set_length(VM_THREADS_MAX + 1);
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
    set_length(1);
    put_word(thread_list, THREADS_AT, 8);
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
    thread_list_static = (void *)8;
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
}

Test(vm_threads, a_list_without_the_calling_thread_is_not_believed)
{
    open_well(LAYOUT_25);
    vm_threads_open(VIRTUAL_ID);
    cr_assert(vm_threads_has_number(OWN_ID));
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
}

Test(vm_threads, before_there_are_numbers_nothing_is_said)
{
    open_well(LAYOUT_17);
    cr_assert(vm_threads_has_number(VIRTUAL_ID));
}
