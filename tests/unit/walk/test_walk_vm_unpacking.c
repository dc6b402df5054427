/* Walks while a frame of compiled code is taken apart: frames of the interpreter that are not filled in yet. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

TestSuite(walk_vm_unpacking, .timeout = 300);

#define WORD         sizeof(uintptr_t)
#define LAST_SP_SLOT 2 /* words below the frame pointer */
#define METHOD_SLOT  3
#define GARBAGE      0x5555

static struct vm_call_frame frames[16];
static struct walk_java_result result;
static uintptr_t fps[8]; /* of the frames that are made, outermost first */
static unsigned fp_count;

/* A frame as the stub lays it out: what lay there before is still there. */
static void push_bare(uintptr_t words)
{
    struct arch_regs *regs = &fake_stack.regs;
    const uintptr_t fp = regs->sp - 2 * WORD;

    for (uintptr_t i = 1; i < words; i++)
        put_word(fp - i * WORD, GARBAGE);
    put_word(fp, regs->fp);
    put_word(fp + WORD, regs->pc);
    put_word(fp - WORD, regs->sp);
    put_word(fp - LAST_SP_SLOT * WORD, 0);
    fps[fp_count++] = fp;
    regs->fp = fp;
    regs->sp = fp - words * WORD;
    regs->pc = interpreter_pc();
}

/* The same, as far as the JVM fills one in: method and stack pointer, then the bytecode pointer. */
static void fill(uintptr_t fp, bool has_bcp)
{
    const uintptr_t bcp = (uintptr_t)fake.const_method + size_of("ConstMethod") + 4;

    put_word(fp - METHOD_SLOT * WORD, (uintptr_t)fake.method);
    put_word(fp - LAST_SP_SLOT * WORD, fp - 12 * WORD);
    if (has_bcp)
        put_word(fp + (uintptr_t)vm_stack_layout.interpreter_bcp_bytes, bcp);
}

static bool
    is_inside; /* it is the stub that is interrupted, and not native code that it has called */

static void walk_below(const struct fake_nmethod *stub)
{
    static const ucontext_t none;
    struct arch_context context;

    push_compiled(stub, 40);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    if (!is_inside) {
        fake_stack.regs.sp -= 20 * WORD;
        fake_stack.regs.pc = 0x4000;
    }
    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), NULL, frames, JW_COUNT_OF(frames), &result);
}

/* One letter a frame, innermost first: m mark, i interpreted, c compiled. */
static void kinds_are(const char *kinds)
{
    char found[JW_COUNT_OF(frames) + 1] = "";

    for (uint32_t i = 0; i < result.frame_count; i++) {
        const bool is_mark = frames[i].kind == JW_FRAME_MARK;

        if (is_mark)
            cr_assert(eq(int, (int)walk_is_mark(frames[i].method), JW_MARK_UNPACKING));
        found[i] = is_mark ? 'm' : frames[i].kind == JW_FRAME_INTERPRETED ? 'i' : 'c';
    }
    cr_assert_str_eq(found, kinds, "%s", walk_code_text(result.code));
}

static void begin(const struct fake_nmethod *code)
{
    begin_stack();
    fp_count = 0;
    push_entry(NULL);
    push_compiled(code, PC_CALL);
}

/* Three frames of one, filled in from the outermost on. */
static void fill_one_after_the_other(const char *name)
{
    static const char *const kinds[] = {"mc", "mic", "miic", "iiic"};
    const struct fake_nmethod code = put_nmethod(), stub = put_other(name);

    for (unsigned filled = 0; filled <= 3; filled++) {
        for (int round = 0; round < 4; round++) {
            const int half = round / 2;

            is_inside = round % 2 == 1;
            begin(&code);
            fake_stack.regs.sp -= 5 * WORD; /* for locals that the compiled frame did not have */
            for (int i = 0; i < 3; i++)
                push_bare(14);
            put_word(fps[0] - WORD, fps[0] + 7 * WORD); /* the caller's, before there was room */
            for (unsigned i = 0; i < filled; i++)
                fill(fps[i], true);
            if (half == 1 && filled < 3)
                fill(fps[filled], false);
            walk_below(&stub);
            kinds_are(kinds[filled]);
        }
    }
}

TEST_EACH_STACK(walk_vm_unpacking, frames_that_are_not_filled_in_are_one_mark_above_their_caller)
{
    fill_one_after_the_other("DeoptimizationBlob");
}

TEST_EACH_STACK(walk_vm_unpacking, the_same_where_compiled_code_gives_up_by_itself)
{
    fill_one_after_the_other("UncommonTrapBlob");
}

/* What an earlier frame left in the same place names methods, too: it is not believed. */
TEST_EACH_STACK(walk_vm_unpacking, what_lay_there_before_is_no_method)
{
    const struct fake_nmethod code = put_nmethod(), stub = put_other("DeoptimizationBlob");

    begin(&code);
    push_bare(14);
    fill(fps[0], true);
    put_word(fps[0] - LAST_SP_SLOT * WORD, 0);
    walk_below(&stub);
    kinds_are("mc");
}

TEST_EACH_STACK(walk_vm_unpacking, an_interpreted_caller_and_the_call_stub_are_callers_too)
{
    const struct fake_nmethod stub = put_other("DeoptimizationBlob");

    begin_stack();
    fp_count = 0;
    push_entry(NULL);
    push_interpreted(1);
    fill(fake_stack.regs.fp, true);
    push_bare(14);
    walk_below(&stub);
    kinds_are("mi");

    begin_stack();
    fp_count = 0;
    push_entry(NULL);
    push_bare(14);
    push_bare(14);
    walk_below(&stub);
    kinds_are("m");
}

TEST_EACH_STACK(walk_vm_unpacking, below_other_stubs_and_with_a_broken_chain_nothing_is_passed_over)
{
    const struct fake_nmethod code = put_nmethod(), stub = put_other("DeoptimizationBlob"),
                              other = put_other("RuntimeBlob");
    const uintptr_t slots[] = {0, WORD, (uintptr_t)-WORD};

    begin(&code);
    push_bare(14);
    walk_below(&other);
    kinds_are("");
    for (size_t i = 0; i < JW_COUNT_OF(slots); i++) {
        begin(&code);
        push_bare(14);
        push_bare(14);
        put_word(fps[1] + slots[i], GARBAGE);
        walk_below(&stub);
        kinds_are("");
    }
    /* One that stands on itself. */
    begin(&code);
    push_bare(14);
    push_bare(14);
    put_word(fps[1], fps[1]);
    put_word(fps[1] - WORD, fps[1] - 10 * WORD);
    walk_below(&stub);
    kinds_are("");
}
