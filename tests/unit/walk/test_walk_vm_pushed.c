/* Walks of our own walker from code that has pushed all registers below its frame: C1's in JDK 8, on x86-64. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

TestSuite(walk_vm_pushed, .timeout = 1800);

#if defined(__x86_64__)
static struct vm_call_frame frames[8];
static struct walk_java_result result;

static void walk(void)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), NULL, frames, JW_COUNT_OF(frames), &result);
}

/* C1 calls the JVM for a sine with all registers pushed below its frame, those of floating point below them. */
static void push_all(const struct fake_nmethod *code, size_t below)
{
    begin_stack();
    push_entry(NULL);
    push_compiled(code, PC_CALL);
    push_compiled(code, PC_CALL + 3);
    const uintptr_t sp = fake_stack.regs.sp;
    put_word(sp - 5 * sizeof(uintptr_t), sp);
    put_word(sp - 6 * sizeof(uintptr_t), fake_stack.regs.fp);
    fake_stack.regs.sp = sp - 16 * sizeof(uintptr_t) - below;
}

Test(walk_vm_pushed, all_that_c1_pushed_for_a_sine_is_passed_over)
{
    open_stack_as(LAYOUT_8);
    const struct fake_nmethod code = put_nmethod();

    set((void *)code.blob, "nmethod", "_comp_level", 1, 4);
    for (size_t below = 0; below <= 256 + 16; below += sizeof(uintptr_t)) {
        push_all(&code, below);
        walk();
        cr_assert(eq(u32, result.frame_count, 3), "%zu: %s", below, walk_code_text(result.code));
        cr_assert(eq(u32, frames[0].kind, JW_FRAME_INLINED));
        cr_assert(frames[2].method == (jmethodID)(uintptr_t)fake.method && frames[2].bci == 3);
    }
}

Test(walk_vm_pushed, c2_pushes_no_such_thing)
{
    open_stack_as(LAYOUT_8);
    const struct fake_nmethod code = put_nmethod();

    set((void *)code.blob, "nmethod", "_comp_level", 4, 4);
    push_all(&code, 256);
    walk();
    cr_assert(eq(u32, result.frame_count, 0));
}

/* Before `pc` stands a call of the code at `target`. */
static void put_call(uintptr_t pc, uintptr_t target)
{
    const int32_t distance = (int32_t)(target - pc);

    *(unsigned char *)(pc - 5) = 0xe8;
    memcpy((void *)(pc - 4), &distance, sizeof distance);
}

/* What an earlier call left in a frame looks like a return address, too, where words are pushed for the x87. */
Test(walk_vm_pushed,
     a_return_behind_a_call_of_another_method_is_no_caller_where_there_is_a_better_one)
{
    open_stack_as(LAYOUT_8);
    const struct fake_nmethod code = put_nmethod(), other = put_nmethod();

    for (size_t pushed = 2; pushed <= 4; pushed++) {
        begin_stack();
        push_entry(NULL);
        push_interpreted(6);
        push_compiled(&code, PC_CALL + 3);
        fake_stack.regs.sp -= pushed * sizeof(uintptr_t);
        put_word(fake_stack.regs.sp + (FRAME_WORDS - 1) * sizeof(uintptr_t), other.code + PC_CALL);
        put_call(other.code + PC_CALL, other.code);
        walk();
        cr_assert(eq(u32, result.frame_count, 3), "%zu: %s", pushed, walk_code_text(result.code));
        cr_assert(eq(u32, frames[2].kind, JW_FRAME_INTERPRETED));
        /* One that calls this code is the first that does. */
        put_call(other.code + PC_CALL, code.code);
        walk();
        cr_assert(frames[2].kind == JW_FRAME_COMPILED || result.frame_count == 0);
    }
}
#else
/* Other instruction sets compute by no x87, and push nothing for it. */
Test(walk_vm_pushed, nothing_is_pushed_so_on_this_machine)
{
    uintptr_t words[64] = {0};

    for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
        words[i] = (uintptr_t)&words[JW_COUNT_OF(words) / 2];
        cr_assert(eq(sz, arch_pushed_all_bytes((uintptr_t)words, (uintptr_t)&words[i]), 0));
    }
}
#endif
