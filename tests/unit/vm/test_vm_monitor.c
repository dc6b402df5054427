/* Owners of monitors: by the JavaThread, by a number, by a place on a stack or in a lock stack; and what proves itself not. */
#include "unit/vm/fake_monitor.h"

#include <criterion/new/assert.h>

TestSuite(vm_monitor, .timeout = 300);

static _Alignas(8) unsigned char other[64];

Test(vm_monitor, an_object_leads_to_its_monitor_and_back)
{
    open_well(LAYOUT_25);
    cr_assert(eq(ptr, (void *)vm_monitor_of((jobject)&handle), monitor));
    weak = other; /* the collector has moved one, and not yet the other */
    cr_assert(eq(uptr, vm_monitor_of((jobject)&handle), 0));
    weak = locked;
    put_word(locked, 0, 1); /* no monitor: an unlocked object's mark */
    cr_assert(eq(uptr, vm_monitor_of((jobject)&handle), 0));
    cr_assert(eq(uptr, vm_monitor_of(NULL), 0));
    put_word(locked, 0, UINT64_MAX & ~(uint64_t)1); /* leads nowhere */
    cr_assert(eq(uptr, vm_monitor_of((jobject)&handle), 0));
}

Test(vm_monitor, from_24_on_a_number_owns_it)
{
    struct vm_owner owner;

    open_well(LAYOUT_25);
    set_monitor_owner(VIRTUAL_ID);
    vm_monitor_owner((vm_addr)monitor, &owner);
    cr_assert(eq(int, owner.kind, VM_OWNER_NUMBER));
    cr_assert(eq(u64, owner.value, VIRTUAL_ID));
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
    mount();
    cr_assert(vm_monitor_is_owned_by((vm_addr)monitor, env()));
    set_monitor_owner(0);
    vm_monitor_owner((vm_addr)monitor, &owner);
    cr_assert(eq(int, owner.kind, VM_OWNER_NONE));
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}

Test(vm_monitor, who_locked_before_there_was_a_monitor_has_it_in_his_lock_stack)
{
    struct vm_owner owner;
    unsigned char *lock_stack = fake.java_thread + LOCK_STACK_AT;
    const uint32_t empty = LOCK_STACK_AT + FIRST_AT, one = empty + 8;

    open_well(LAYOUT_25);
    set_monitor_owner(1);
    memcpy(lock_stack + TOP_AT, &empty, sizeof empty);
    put_word(lock_stack, FIRST_AT, (uint64_t)(uintptr_t)locked);
    vm_monitor_owner((vm_addr)monitor, &owner);
    cr_assert(eq(int, owner.kind, VM_OWNER_UNNAMED));
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())),
              "above the top there is nothing");
    memcpy(lock_stack + TOP_AT, &one, sizeof one);
    cr_assert(vm_monitor_is_owned_by((vm_addr)monitor, env()));
    put_word(lock_stack, FIRST_AT, (uint64_t)(uintptr_t)other);
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}

Test(vm_monitor, before_that_a_thread_or_a_word_on_its_stack_does)
{
    struct vm_owner owner;

    open_well(LAYOUT_17);
    const int base_at = offset_of("JavaThread", "_stack_base"),
              size_at = offset_of("JavaThread", "_stack_size");
    set_monitor_owner((uint64_t)(uintptr_t)fake.java_thread);
    vm_monitor_owner((vm_addr)monitor, &owner);
    cr_assert(eq(int, owner.kind, VM_OWNER_ADDRESS));
    cr_assert(vm_monitor_is_owned_by((vm_addr)monitor, env()));
    put_word((unsigned char *)fake.java_thread, (size_t)base_at, 0x7f0000010000);
    put_word((unsigned char *)fake.java_thread, (size_t)size_at, 0x10000);
    set_monitor_owner(0x7f0000000008);
    cr_assert(vm_monitor_is_owned_by((vm_addr)monitor, env()));
    set_monitor_owner(0x7f0000010000); /* just behind its end */
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
    set_monitor_owner(0x7efffffffff8);
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}

Test(vm_monitor, what_does_not_name_the_thread_that_locks_is_not_believed)
{
    struct jw_error why = {0};

    owner_at_enter = 0;
    weak = other; /* as with addresses that have a colour */
    cr_assert(not(open_with(LAYOUT_25, &why)));
    cr_assert(ne(chr, why.message[0], '\0'));
    weak = locked;
    cr_assert(vm_monitor_open(env(), (jobject)own_object, &why), "it may be tried again");
}

Test(vm_monitor, m03_without_memory_for_an_object_nothing_is_known)
{
    struct jw_error why = {0};
    struct vm_owner owner;

    makes_no_object = true;
    cr_assert(not(open_with(LAYOUT_17, &why)));
    vm_monitor_owner((vm_addr)monitor, &owner);
    cr_assert(eq(int, owner.kind, VM_OWNER_UNKNOWN));
    cr_assert(eq(uptr, vm_monitor_of((jobject)&handle), 0));
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}
