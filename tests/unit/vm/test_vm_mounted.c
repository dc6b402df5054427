/* The virtual thread that a carrier runs: by the number that the JVM keeps, by its object, or not at all; its name, and its
 * frames in the heap. */
#include "unit/vm/fake_mounted.h"

#include <criterion/new/assert.h>

TestSuite(vm_mounted, .timeout = 1800);

static void open_with(enum layout_jdk jdk, bool has_owner, bool is_g1)
{
    struct jw_error err = {0};

    prepare_fake(jdk, "A");
    add_mounted_tables(has_owner);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    prepare_mounted(is_g1);
}

static enum vm_mounted_way way(void)
{
    return vm_mounted_open(env(), (jobject)own_object);
}

static uint64_t told(void)
{
    return vm_thread_mounted(env(), OWN_ID);
}

Test(vm_mounted, a_jvm_without_virtual_threads_mounts_none)
{
    open_with(LAYOUT_17, true, true);
    cr_assert(eq(int, way(), VM_MOUNTED_NEVER));
    mount();
    cr_assert(eq(u64, told(), 0));
}

Test(vm_mounted, the_owner_of_monitors_is_the_mounted_thread)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    cr_assert(eq(u64, told(), 0));
    mount();
    set_state(IN_NATIVE);
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    cr_assert(eq(u64, vm_thread_mounted(NULL, OWN_ID), 0));
    cr_assert(eq(u64, vm_thread_mounted((const void *)UINTPTR_MAX, OWN_ID), 0));
}

Test(vm_mounted, a_number_that_is_not_the_own_one_is_not_believed)
{
    open_with(LAYOUT_25, true, false);
    set_owner(OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
}

/* A thread that begins has its JNIEnv before its number is written down. */
Test(vm_mounted, a_thread_whose_own_number_is_not_known_yet_is_no_virtual_one)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    cr_assert(eq(u64, vm_thread_mounted(env(), 0), VM_MOUNTED_UNTOLD));
    mount();
    cr_assert(eq(u64, vm_thread_mounted(env(), 0), VM_MOUNTED_UNTOLD));
}

Test(vm_mounted, without_that_number_the_object_tells_where_no_safepoint_can_be)
{
    open_with(LAYOUT_25, false, true);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_OBJECT));
    cr_assert(eq(u64, told(), 0));
    mount();
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    set_state(IN_VM);
    cr_assert(eq(u64, told(), VIRTUAL_ID));
    set_state(IN_NATIVE);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
    set_state(IN_JAVA + 1);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
    running_handle = NULL;
    set_state(IN_JAVA);
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
}

Test(vm_mounted, m03_a_concurrent_collector_s_objects_are_not_read)
{
    open_with(LAYOUT_25, false, false);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
    cr_assert(eq(u64, told(), 0));
    mount();
    cr_assert(eq(u64, told(), VM_MOUNTED_UNTOLD));
}

Test(vm_mounted, an_object_that_does_not_prove_itself_is_not_read)
{
    open_with(LAYOUT_25, false, true);
    set_number(own_object, OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_NOT_TOLD));
}

Test(vm_mounted, the_way_is_found_once)
{
    open_with(LAYOUT_25, true, true);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    set_owner(OWN_ID + 1);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
}

/* ---- names ---- */

/* "": none is told. */
static const char *told_name(uint64_t number)
{
    static char text[VM_STRING_BYTES_MAX + 1];
    struct vm_string name = {.length_bytes = 77};
    const bool is_told = vm_thread_mounted_name(env(), number, &name);

    cr_assert(is_told || name.length_bytes == 0);
    memcpy(text, name.bytes, name.length_bytes);
    text[name.length_bytes] = '\0';
    return text;
}

static void expect_names(bool has_owner)
{
    open_with(LAYOUT_25, has_owner, true);
    cr_assert(not(vm_mounted_tells_names()));
    (void)way();
    cr_assert(vm_mounted_tells_names());
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state(IN_VM);
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state(IN_NATIVE);
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, m33_a_name_is_told_where_no_safepoint_can_be)
{
    expect_names(true);
}

Test(vm_mounted, m33_so_it_is_where_the_object_tells_the_number)
{
    expect_names(false);
}

/* There states have other numbers, and ids of fields one bit more. */
Test(vm_mounted, m33_a_name_is_told_on_jdk_28)
{
    open_with(LAYOUT_28, true, true);
    set_state((uint64_t)constant_of("_thread_in_Java"));
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state((uint64_t)constant_of("_thread_in_vm"));
    cr_expect_str_eq(told_name(VIRTUAL_ID), "request-7");
    set_state((uint64_t)constant_of("_thread_in_native"));
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
    set_state(IN_JAVA); /* which is none of its states */
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, the_name_is_that_of_the_number_that_was_told)
{
    open_with(LAYOUT_25, true, true);
    (void)way();
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID + 1), "");
    running_handle = NULL;
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, m03_names_of_a_concurrent_collector_s_objects_are_not_read)
{
    open_with(LAYOUT_25, true, false);
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, without_a_proof_on_the_own_name_none_is_told)
{
    open_with(LAYOUT_25, true, true);
    name_it(own_object, &own_name, "Main thread");
    (void)way();
    cr_assert(not(vm_mounted_tells_names()));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
}

Test(vm_mounted, a_jvm_whose_threads_have_no_such_field_tells_numbers_alone)
{
    open_with(LAYOUT_25, true, true);
    is_nameless = true;
    cr_assert(eq(int, way(), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_expect_str_eq(told_name(VIRTUAL_ID), "");
    cr_assert(eq(u64, told(), VIRTUAL_ID));
}

/* ---- frames in the heap ---- */

static bool open_frozen(bool is_g1)
{
    open_with(LAYOUT_25, true, is_g1);
    fill_chunks();
    (void)way();
    mount();
    return vm_frozen_open(env());
}

static enum vm_frozen_answer first(struct vm_frozen *out)
{
    return vm_frozen_first(&(struct vm_thread){.thread = (vm_addr)fake.java_thread}, out);
}

Test(vm_mounted, frames_in_the_heap_are_those_of_each_chunk_to_its_bottom)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(0, 6)));
    cr_expect(eq(u64, frozen.pc, 1005));
    cr_expect(eq(u64, frozen.fp, 1004));
    cr_expect(eq(u64, frozen.end, word_at(0, 17)));
    cr_expect(eq(u64, frozen.high, word_at(0, CHUNK_WORDS)));
    cr_assert(eq(int, vm_frozen_next(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(1, 4)));
    cr_expect(eq(u64, frozen.pc, 2003));
    cr_assert(eq(int, vm_frozen_next(&frozen), VM_FROZEN_NONE));
    cr_assert(vm_frozen_stood_still(&frozen));
}

Test(vm_mounted, a_chunk_without_frames_is_passed)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    put_chunk(0, 17, 17, CHUNK_WORDS);
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    cr_expect(eq(u64, frozen.sp, word_at(1, 4)));
    put_reference(chunks[0], PARENT_OFFSET, NULL);
    cr_assert(eq(int, first(&frozen), VM_FROZEN_NONE));
}

Test(vm_mounted, m03_frames_that_a_collector_moves_do_not_count)
{
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    heap[COLLECTIONS_OFFSET]++;
    cr_assert(not(vm_frozen_stood_still(&frozen)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_FOUND));
    heap[ACTIVE_OFFSET] = 1;
    cr_assert(not(vm_frozen_stood_still(&frozen)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}

Test(vm_mounted, m03_frames_in_the_heap_of_a_concurrent_collector_are_not_read)
{
    struct vm_frozen frozen;

    cr_assert(not(open_frozen(false)));
    cr_assert(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}

Test(vm_mounted, chunks_that_make_no_sense_tell_nothing)
{
    static const struct {
        uint32_t sp, bottom, size;
    } wrong[] = {{18, 17, 20}, {6, 21, 20}, {1, 17, 20}, {6, UINT32_MAX, UINT32_MAX}};
    struct vm_frozen frozen;

    cr_assert(open_frozen(true));
    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        put_chunk(0, wrong[i].sp, wrong[i].bottom, wrong[i].size);
        cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD), "chunk %zu", i);
    }
    put_chunk(0, 6, 17, CHUNK_WORDS);
    put_reference(chunks[0], 8, virtual_object); /* as its class */
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
    put_reference(continuation, TAIL_OFFSET, (const void *)1);
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
    put_reference(continuation, TAIL_OFFSET, NULL);
    cr_expect(eq(int, first(&frozen), VM_FROZEN_NONE));
    running_handle = own_object;
    cr_expect(eq(int, first(&frozen), VM_FROZEN_UNTOLD));
}
