/* Where compiled code on top of a stack runs on, as a walk tells it. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

TestSuite(walk_vm_top, .timeout = 1800);

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

TEST_EACH_STACK(walk_vm_top, it_is_told_where_compiled_code_on_top_runs_on)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL + 3);
    walk();
    cr_assert(result.top_pc == code.code + PC_CALL + 3);
    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_interpreted(2);
    walk();
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    cr_assert(result.top_pc == 0, "interpreted code is on top");
    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    set_anchor(&(struct vm_anchor){
        .pc = fake_stack.regs.pc, .sp = fake_stack.regs.sp, .fp = fake_stack.regs.fp});
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
    walk();
    cr_assert(eq(u32, result.frame_count, 1), "%s", walk_code_text(result.code));
    cr_assert(result.top_pc == 0, "it waits for a call");
}
