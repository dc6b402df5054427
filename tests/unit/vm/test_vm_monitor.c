/* Owners of monitors: by the JavaThread, by a number, by a place on a stack or in a lock stack; and what proves itself not. */
#include "unit/vm/fake_monitor.h"

#include <criterion/new/assert.h>

TestSuite(vm_monitor, .timeout = 1800);

static _Alignas(8) unsigned char other[64];

Test(vm_monitor, an_object_leads_to_its_monitor_and_back)
{
    open_well(LAYOUT_25);
    cr_assert(eq(ptr, (void *)vm_monitor_of(env(), (jobject)&handle), monitor));
    weak = other; /* the collector has moved one, and not yet the other */
    cr_assert(eq(uptr, vm_monitor_of(env(), (jobject)&handle), 0));
    weak = locked;
    put_word(locked, 0, 1); /* no monitor: an unlocked object's mark */
    cr_assert(eq(uptr, vm_monitor_of(env(), (jobject)&handle), 0));
    cr_assert(eq(uptr, vm_monitor_of(env(), NULL), 0));
    put_word(locked, 0, UINT64_MAX & ~(uint64_t)1); /* leads nowhere */
    cr_assert(eq(uptr, vm_monitor_of(env(), (jobject)&handle), 0));
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

static void set_thread_monitor(size_t at, const void *of)
{
    put_pointer(fake.java_thread, at, of);
}

static void *own_monitor(void)
{
    return (void *)vm_monitor_of(env(), (jobject)&handle);
}

Test(vm_monitor, where_the_mark_leads_nowhere_the_thread_that_waits_does)
{
    static void *elsewhere = other;

    has_table = true;
    open_well(LAYOUT_28);
    cr_assert(eq(ptr, own_monitor(), NULL), "it waits for nothing");
    set_thread_monitor(PENDING_AT, monitor);
    cr_assert(eq(ptr, own_monitor(), monitor));
    put_pointer(newest, OBJECT_AT, &elsewhere);
    set_thread_monitor(PENDING_AT, newest);
    cr_assert(eq(ptr, own_monitor(), NULL), "another object's monitor is not believed");
    set_thread_monitor(WAITING_AT, monitor);
    cr_assert(eq(ptr, own_monitor(), monitor));
    set_thread_monitor(PENDING_AT, NULL);
    cr_assert(eq(ptr, own_monitor(), monitor));
    weak = other; /* the collector has moved one, and not yet the other */
    cr_assert(eq(ptr, own_monitor(), NULL));
    weak = locked;
    set_thread_monitor(WAITING_AT, (void *)8); /* leads nowhere */
    cr_assert(eq(ptr, own_monitor(), NULL));
}

Test(vm_monitor, without_a_thread_that_says_so_none_is_known)
{
    struct jw_error why = {0};

    has_table = has_no_pending = true;
    cr_assert(not(open_with(LAYOUT_28, &why)));
    cr_assert(ne(chr, why.message[0], '\0'));
}

Test(vm_monitor, a_list_that_has_no_end_is_left)
{
    struct jw_error why = {0};

    has_table = true;
    weak = other;
    put_pointer(monitor, NEXT_AT, newest);
    cr_assert(not(open_with(LAYOUT_28, &why)));
    weak = locked;
    put_pointer(monitor, NEXT_AT, (void *)UINT64_MAX);
    cr_assert(vm_monitor_open(env(), (jobject)own_object, &why), "%s", why.message);
}

Test(vm_monitor, a_colour_is_taken_off)
{
    has_colours = true;
    open_well(LAYOUT_25);
    cr_assert(eq(ptr, own_monitor(), monitor));
    z_shift = 15; /* the collector has begun with something new, and has not come to this one yet */
    z_bad_bits = 0x2000;
    cr_assert(eq(ptr, own_monitor(), NULL));
    z_bad_bits = 0x1000;
    cr_assert(eq(ptr, own_monitor(), NULL), "it is of another colour");
    weak = in_colour(locked);
    cr_assert(eq(ptr, own_monitor(), monitor));
    z_shift = 64;
    cr_assert(eq(ptr, own_monitor(), NULL));
}

Test(vm_monitor, with_colours_and_a_table_too)
{
    has_colours = has_table = true;
    open_well(LAYOUT_28);
    set_thread_monitor(PENDING_AT, monitor);
    cr_assert(eq(ptr, own_monitor(), monitor));
}

Test(vm_monitor, with_colours_nobody_is_known_by_his_lock_stack)
{
    unsigned char *lock_stack = fake.java_thread + LOCK_STACK_AT;
    const uint32_t one = LOCK_STACK_AT + FIRST_AT + 8;

    has_colours = true;
    open_well(LAYOUT_25);
    set_monitor_owner(1);
    memcpy(lock_stack + TOP_AT, &one, sizeof one);
    put_pointer(lock_stack, FIRST_AT, locked);
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}

/* Once the JVM has mended it, it says what the object's own address says. */
Test(vm_monitor, with_colours_a_lock_stack_that_was_mended_may_be_compared)
{
    unsigned char *lock_stack = fake.java_thread + LOCK_STACK_AT;
    const uint32_t empty = LOCK_STACK_AT + FIRST_AT, one = empty + 8;

    has_colours = true;
    open_well(LAYOUT_25);
    cr_assert(not(vm_monitor_wants_mended()), "safepoints that come between would not be seen");
    set_monitor_owner(1);
    cr_assert(vm_monitor_is_unnamed((vm_addr)monitor));
    put_pointer(lock_stack, FIRST_AT, locked);
    memcpy(lock_stack + TOP_AT, &empty, sizeof empty);
    cr_assert(not(vm_monitor_locks_any(env())));
    cr_assert(not(vm_monitor_is_locked_by((vm_addr)locked, env())), "above the top");
    memcpy(lock_stack + TOP_AT, &one, sizeof one);
    cr_assert(vm_monitor_locks_any(env()));
    cr_assert(eq(uptr, vm_monitor_object((jobject)&handle), (vm_addr)locked));
    cr_assert(vm_monitor_is_locked_by(vm_monitor_object((jobject)&handle), env()));
    cr_assert(not(vm_monitor_is_locked_by((vm_addr)other, env())));
    cr_assert(not(vm_monitor_is_locked_by(0, env())));
    cr_assert(not(vm_monitor_is_locked_by((vm_addr)locked, NULL)));
    cr_assert(eq(uptr, vm_monitor_object(NULL), 0));
    set_monitor_owner(OWN_ID);
    cr_assert(not(vm_monitor_is_unnamed((vm_addr)monitor)));
}

Test(vm_monitor, addresses_of_other_collectors_have_no_colour)
{
    z_bad_bits = UINT64_MAX; /* the words are there all the same */
    open_well(LAYOUT_25);
    cr_assert(eq(ptr, own_monitor(), monitor));
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
    cr_assert(eq(uptr, vm_monitor_of(env(), (jobject)&handle), 0));
    cr_assert(not(vm_monitor_is_owned_by((vm_addr)monitor, env())));
}
