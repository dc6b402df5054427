/* Threads, anchors, entry frames and interpreted frames of a fake JVM. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>

#include "vm/vm_frozen.h"

TestSuite(vm_stack, .timeout = 1800);

static uintptr_t bcp_of(int bci)
{
    return (uintptr_t)fake.const_method + size_of("ConstMethod") + (uintptr_t)bci;
}

TEST_EACH_STACK(vm_stack, a_thread_tells_its_stack_and_its_anchor)
{
    const struct vm_anchor given = {(uintptr_t)(fake_stack.stack + 9), 0x1234, 0x5678};
    struct vm_thread thread;
    struct vm_anchor anchor;

    cr_assert(vm_thread_of(fake_env(), &thread));
    cr_assert(thread.stack_low == (uintptr_t)fake_stack.stack);
    cr_assert(thread.stack_high == (uintptr_t)(fake_stack.stack + STACK_WORDS));
    cr_assert(thread.is_in_java);
    cr_assert(vm_thread_anchor(&thread, &anchor));
    cr_assert(eq(u64, anchor.sp, 0));
    set_anchor(&given);
    cr_assert(vm_thread_anchor(&thread, &anchor));
    cr_assert(anchor.sp == given.sp && anchor.pc == 0x1234 && anchor.fp == 0x5678);
}

TEST_EACH_STACK(vm_stack, an_anchor_without_a_pc_has_it_below_its_stack_pointer)
{
    const struct vm_anchor given = {(uintptr_t)(fake_stack.stack + 9), 0, 0};
    struct vm_thread thread;
    struct vm_anchor anchor;

    fake_stack.stack[8] = 0x4321;
    set_anchor(&given);
    cr_assert(vm_thread_of(fake_env(), &thread) && vm_thread_anchor(&thread, &anchor));
    cr_assert(eq(u64, anchor.pc, 0x4321));
}

TEST_EACH_STACK(vm_stack, at_a_poll_a_thread_is_in_the_stub_and_in_what_it_calls)
{
    const struct fake_nmethod code = put_nmethod(), handler = put_other("SafepointBlob"),
                              other = put_other("RuntimeBlob");
    const uintptr_t in_jvm = (uintptr_t)&in_jvm;
    struct vm_anchor anchor = {0, 0, 0};

    cr_assert(not(vm_thread_is_at_poll(fake_env(), code.code + PC_CALL)));
    cr_assert(not(vm_thread_is_at_poll(fake_env(), in_jvm)));
    cr_assert(vm_thread_is_at_poll(fake_env(), handler.code));
    anchor.sp = (uintptr_t)(fake_stack.stack + 9);
    fake_stack.stack[8] = handler.code + 4;
    set_anchor(&anchor);
    cr_assert(vm_thread_is_at_poll(fake_env(), in_jvm));
    fake_stack.stack[8] = other.code + 4; /* it is late in what this one calls */
    cr_assert(not(vm_thread_is_at_poll(fake_env(), in_jvm)));
    anchor.pc = code.code + PC_CALL;
    set_anchor(&anchor);
    cr_assert(not(vm_thread_is_at_poll(fake_env(), in_jvm)));
    cr_assert(not(vm_thread_is_at_poll(NULL, in_jvm)));
}

TEST_EACH_STACK(vm_stack, what_is_no_thread_is_refused)
{
    struct vm_thread thread;

    cr_assert(not(vm_thread_of(NULL, &thread)));
    cr_assert(not(vm_thread_of((void *)0x3000, &thread)));
    cr_assert(not(vm_thread_of((char *)fake_env() + 1, &thread)));
    set(fake.java_thread, "JavaThread", "_stack_size", UINT64_MAX, 8);
    cr_assert(not(vm_thread_of(fake_env(), &thread)));
}

TEST_EACH_STACK(vm_stack, an_interpreted_frame_is_read_with_the_bci_of_its_slot)
{
    struct vm_interpreted frame;

    begin_stack();
    const struct arch_regs caller = fake_stack.regs;
    push_interpreted(4);
    cr_assert(vm_interpreted_is_whole(fake_stack.regs.sp, fake_stack.regs.fp));
    cr_assert(vm_interpreted_read(fake_stack.regs.fp, 0, &frame));
    cr_assert(frame.method == (vm_addr)fake.method);
    cr_assert(eq(i32, frame.bci, 4));
    cr_assert(frame.caller_pc == caller.pc && frame.caller_sp == caller.sp &&
              frame.caller_fp == caller.fp);
}

TEST_EACH_STACK(vm_stack, the_live_bytecode_pointer_counts_where_it_can_be_one)
{
    struct vm_interpreted frame;

    begin_stack();
    push_interpreted(4);
    cr_assert(vm_interpreted_read(fake_stack.regs.fp, bcp_of(9), &frame));
    cr_assert(eq(i32, frame.bci, 9));
    cr_assert(vm_interpreted_read(fake_stack.regs.fp, bcp_of(BYTECODES_BYTES), &frame));
    cr_assert(eq(i32, frame.bci, 4));
    cr_assert(vm_interpreted_read(fake_stack.regs.fp, bcp_of(-1), &frame));
    cr_assert(eq(i32, frame.bci, 4));
}

TEST_EACH_STACK(vm_stack, a_bytecode_pointer_elsewhere_shows_that_it_is_no_frame)
{
    struct vm_interpreted frame;
    const uintptr_t slot = (uintptr_t)vm_stack_layout.interpreter_bcp_bytes;

    begin_stack();
    push_interpreted(4);
    put_word(fake_stack.regs.fp + slot, bcp_of(BYTECODES_BYTES));
    cr_assert(not(vm_interpreted_read(fake_stack.regs.fp, 0, &frame)));
    /* But a native method has no code to point to. */
    set(fake.method, "Method", "_access_flags", 0x0109, fake_jdk >= LAYOUT_25 ? 2 : 4);
    cr_assert(vm_interpreted_read(fake_stack.regs.fp, 0, &frame));
    cr_assert(eq(i32, frame.bci, JW_BCI_NATIVE));
    set_pointer(fake.pool, "ConstantPool", "_pool_holder", NULL);
    cr_assert(not(vm_interpreted_read(fake_stack.regs.fp, 0, &frame)));
}

/* Where the interpreter's stack pointer is apart, a caller that is found by its frame pointer may have lain deeper. */
TEST_EACH_STACK(vm_stack, a_caller_in_the_interpreter_may_have_had_its_stack_pointer_deeper)
{
    struct vm_interpreted frame;

    begin_stack();
    push_interpreted(3);
    push_interpreted(4);
    const uintptr_t fp = fake_stack.regs.fp;
    for (uintptr_t deeper = 0; deeper < 3; deeper++) {
        const uintptr_t caller_sp = fp - deeper * sizeof(uintptr_t);

        put_word(fp - sizeof(uintptr_t), caller_sp);
        cr_assert(vm_interpreted_read(fp, 0, &frame) == arch_facts.is_interpreter_sp_apart);
        if (arch_facts.is_interpreter_sp_apart)
            cr_assert(frame.caller_sp == caller_sp);
    }
    cr_assert(vm_interpreted_end(fp) == fp + 2 * sizeof(uintptr_t));
    put_word(fp - sizeof(uintptr_t), 0);
    cr_assert(not(vm_interpreted_read(fp, 0, &frame)));
    /* Of compiled code it is all that there is. */
    put_word(fp - sizeof(uintptr_t), fp);
    put_word(fp + sizeof(uintptr_t), 0x1234);
    cr_assert(not(vm_interpreted_read(fp, 0, &frame)));
}

/* From the push of the frame pointer to the last slot. */
TEST_EACH_STACK(vm_stack, a_frame_under_construction_has_a_caller)
{
    struct vm_interpreted frame;

    begin_stack();
    const struct arch_regs caller = fake_stack.regs;
    push_interpreted(0);
    const uintptr_t fp = fake_stack.regs.fp;
    for (uintptr_t sp = fp; !vm_interpreted_is_whole(sp, fp); sp -= sizeof(uintptr_t)) {
        const uintptr_t slot = fp - sizeof(uintptr_t);

        put_word(slot, sp == fp ? 0 : caller.sp);
        cr_assert(vm_interpreted_read_begun(sp, fp, caller.sp, &frame));
        cr_assert(frame.caller_pc == caller.pc && frame.caller_sp == caller.sp);
        cr_assert(frame.method == (sp <= fp - 3 * sizeof(uintptr_t) ? (vm_addr)fake.method : 0));
        cr_assert(eq(i32, frame.bci, 0));
        cr_assert(fp - sp < 16 * sizeof(uintptr_t));
    }
    cr_assert(not(vm_interpreted_read_begun(fp + 8, fp, caller.sp, &frame)));
}

/* In words from where that is written, it says where its caller's stack pointer is, and where its caller begins. */
TEST_EACH_STACK(vm_stack, an_interpreted_frame_in_the_heap_counts_from_itself)
{
    const uintptr_t slot = (uintptr_t)vm_stack_layout.interpreter_bcp_bytes;
    struct vm_interpreted frame;

    begin_stack();
    const uintptr_t caller_pc = fake_stack.regs.pc;
    push_interpreted(4);
    const uintptr_t fp = fake_stack.regs.fp;
    put_word(fp - 8, 3);
    put_word(fp, 11);
    cr_assert(vm_frozen_interpreted(fp, &frame));
    cr_assert(frame.method == (vm_addr)fake.method);
    cr_assert(eq(i32, frame.bci, 4));
    cr_assert(eq(u64, frame.caller_sp, fp + 3 * 8));
    cr_assert(eq(u64, frame.caller_fp, 11));
    cr_assert(eq(u64, frame.caller_pc, caller_pc));
    /* As on a stack, it holds a method and a pointer into that. */
    put_word(fp + slot, bcp_of(BYTECODES_BYTES));
    cr_assert(not(vm_frozen_interpreted(fp, &frame)));
    put_word(fp + slot, bcp_of(0));
    cr_assert(vm_frozen_interpreted(fp, &frame));
    put_word(fp - 24, 0);
    cr_assert(not(vm_frozen_interpreted(fp, &frame)));
    cr_assert(not(vm_frozen_interpreted(0x1000, &frame)));
}

TEST_EACH_STACK(vm_stack, an_entry_frame_leads_to_the_piece_before)
{
    const struct vm_anchor before = {0x7f0000001000, 0x7f0000002000, 0x7f0000003000};
    struct vm_anchor anchor;

    begin_stack();
    push_entry(&before);
    cr_assert(vm_is_entry_return(fake_stack.regs.pc));
    cr_assert(not(vm_is_entry_return(fake_stack.regs.pc + 1)));
    cr_assert(vm_entry_anchor(fake_stack.regs.fp, &anchor));
    cr_assert(anchor.sp == before.sp && anchor.pc == before.pc && anchor.fp == before.fp);
    cr_assert(not(vm_entry_anchor(0x10, &anchor)));
}

/* Each thing that a walk needs is named when it is not there. */
Test(vm_stack, m04_a_missing_field_is_named)
{
    static const char *const fields[][2] = {
        {"JavaFrameAnchor", "_last_Java_sp"}, {"JavaFrameAnchor", "_last_Java_pc"},
        {"JavaFrameAnchor", "_last_Java_fp"}, {"JavaThread", "_stack_base"},
        {"JavaThread", "_stack_size"},        {"JavaThread", "_thread_state"},
        {"JavaCallWrapper", "_anchor"},       {"StubRoutines", "_call_stub_return_address"},
        {"nmethod", "_orig_pc_offset"},       {"nmethod", "_scopes_pcs_offset"},
        {"nmethod", "_dependencies_offset"},  {"nmethod", "_metadata_offset"},
    };
    struct jw_error err = {0};

    open_stack_as(LAYOUT_17);
    for (size_t i = 0; i < JW_COUNT_OF(fields); i++) {
        fill_tables_as(layout_versions[LAYOUT_17]);
        add_stack_tables();
        err = (struct jw_error){0};
        cr_assert(vm_stack_open(&err), "%s", err.message);
        fake_jvm->hide_field(fields[i][0], fields[i][1]);
        cr_assert(not(vm_stack_open(&err)), "%s::%s", fields[i][0], fields[i][1]);
        cr_assert(strstr(err.message, fields[i][1]) != NULL, "%s", err.message);
    }
}
