/* Walks while a frame of compiled code is taken apart: frames of the interpreter that are not filled in yet. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

TestSuite(walk_vm_unpacking, .timeout = 1800);

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

/* `kept`: what the register holds in which the stub keeps a stack pointer. */
static void walk_here(uintptr_t kept)
{
    ucontext_t at = {0};
    struct arch_context context;

#if defined(__x86_64__)
    at.uc_mcontext.gregs[REG_R8] = (greg_t)kept;
#else
    (void)kept;
#endif
    arch_context_copy(&context, &at);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), NULL, frames, JW_COUNT_OF(frames), &result);
}

static void walk_below(const struct fake_nmethod *stub)
{
    push_compiled(stub, 40);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    if (!is_inside) {
        fake_stack.regs.sp -= 20 * WORD;
        fake_stack.regs.pc = 0x4000;
    }
    walk_here(0);
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

#if defined(__x86_64__)

/* Without an anchor, as JDK 17 is while it fills frames in: the stub has aligned its stack pointer for the call. */
TEST_EACH_STACK(walk_vm_unpacking, the_stub_may_have_aligned_its_stack)
{
    const struct fake_nmethod code = put_nmethod(), stub = put_other("UncommonTrapBlob");

    is_inside = true;
    for (unsigned filled = 0; filled <= 1; filled++) {
        begin(&code);
        push_bare(14);
        push_bare(14);
        if (filled == 1)
            fill(fps[0], true);
        push_compiled(&stub, 40);
        fake_stack.regs.sp -= WORD;
        put_word(fake_stack.regs.sp, GARBAGE);
        walk_here(0);
        kinds_are(filled == 1 ? "mic" : "mc");
    }
}

/*
 * What the two stubs do from the end of the compiled frame to their own: one letter an instruction, the state of the machine behind it.
 * Source: disassembled UncommonTrapBlob and DeoptimizationBlob of JDK 17 and 25.
 */
static const struct {
    char does;
    uint8_t length;
    const char *bytes;
} laying[] = {
    {'d', 3, "\x48\x03\xe1"},                     /* add %rcx,%rsp: the compiled frame is dropped */
    {'i', 4, "\x48\x8b\x6f\x30"},                 /* mov 0x30(%rdi),%rbp: the caller's */
    {'-', 4, "\x48\x8b\x4f\x18"},                 /* mov 0x18(%rdi),%rcx: return addresses */
    {'p', 4, "\x48\x83\xc4\x08"},                 /* add $8,%rsp: the return address */
    {'-', 4, "\x48\x8b\x77\x10"},                 /* mov 0x10(%rdi),%rsi: sizes */
    {'-', 3, "\x8b\x57\x08"},                     /* mov 8(%rdi),%edx: how many */
    {'k', 3, "\x4c\x8b\xc4"},                     /* mov %rsp,%r8 */
    {'-', 3, "\x8b\x5f\x04"},                     /* mov 4(%rdi),%ebx */
    {'l', 3, "\x48\x2b\xe3"},                     /* sub %rbx,%rsp: locals */
    {'-', 3, "\x48\x8b\x1e"},                     /* mov (%rsi),%rbx: each turn from here */
    {'-', 4, "\x48\x83\xeb\x10"},                 /* sub $16,%rbx */
    {'r', 3, "\x48\xff\x31"},                     /* push (%rcx) */
    {'f', 1, "\x55"},                             /* push %rbp */
    {'b', 3, "\x48\x8b\xec"},                     /* mov %rsp,%rbp */
    {'w', 3, "\x48\x2b\xe3"},                     /* sub %rbx,%rsp */
    {'s', 4, "\x4c\x89\x45\xf8"},                 /* mov %r8,-8(%rbp) */
    {'z', 8, "\x48\xc7\x45\xf0\x00\x00\x00\x00"}, /* movq $0,-16(%rbp) */
    {'k', 3, "\x4c\x8b\xc4"},                     /* mov %rsp,%r8 */
    {'-', 4, "\x48\x83\xc6\x08"},                 /* add $8,%rsi */
    {'-', 4, "\x48\x83\xc1\x08"},                 /* add $8,%rcx */
    {'-', 2, "\xff\xca"},                         /* dec %edx */
    {'j', 2, "\x75\xd4"},                         /* jne */
    {'r', 3, "\x48\xff\x31"},                     /* push (%rcx) */
    {'f', 1, "\x55"},                             /* push %rbp */
    {'b', 3, "\x48\x8b\xec"},                     /* mov %rsp,%rbp */
    {'o', 4, "\x48\x83\xec\x00"},                 /* sub $n,%rsp: the stub's own frame */
};
#define TURN 9 /* the first instruction of one */

static struct {
    struct arch_regs caller;
    uintptr_t sp, fp, kept, frame_words;
} machine;

static void push(uintptr_t value)
{
    machine.sp -= WORD;
    put_word(machine.sp, value);
}

static void do_one(char does)
{
    switch (does) {
    case 'd':
        machine.sp = machine.caller.sp - WORD;
        break;
    case 'i':
        machine.fp = machine.caller.fp;
        break;
    case 'p':
        machine.sp += WORD;
        break;
    case 'k':
        machine.kept = machine.sp;
        break;
    case 'l':
        machine.sp -= 5 * WORD;
        break;
    case 'r': /* of the outermost its true one */
        push(machine.kept >= machine.caller.sp ? machine.caller.pc : interpreter_pc());
        break;
    case 'f':
        push(machine.fp);
        break;
    case 'b':
        machine.fp = machine.sp;
        break;
    case 'w':
        machine.sp -= machine.frame_words * WORD;
        break;
    case 'o':
        machine.sp -= (FRAME_WORDS - 2) * WORD;
        break;
    case 's':
        put_word(machine.fp - WORD, machine.kept);
        break;
    case 'z':
        put_word(machine.fp - LAST_SP_SLOT * WORD, 0);
        break;
    default:
        break;
    }
}

/* The compiled frame is gone, and so many frames come in its place: the walk is asked behind each instruction. */
static void lay_out(const struct fake_nmethod *stub, unsigned frame_count, uintptr_t junk,
                    const char *kinds)
{
    uintptr_t pc = stub->code + 24;
    unsigned turns = 0;

    machine.caller = fake_stack.regs;
    machine.fp = 0x1357;
    machine.frame_words = 14;
    for (uintptr_t i = 3; i < 200; i++)
        put_word(machine.caller.sp - i * WORD, junk);
    put_word(machine.caller.sp - WORD, machine.caller.pc);
    put_word(machine.caller.sp - 2 * WORD, machine.caller.fp);
    for (size_t i = 0; i < JW_COUNT_OF(laying); i++) {
        const bool is_last_turn = laying[i].does == 'j' && ++turns == frame_count;

        do_one(laying[i].does);
        pc += laying[i].length;
        if (laying[i].does == 'j' && !is_last_turn) {
            while (i >= TURN)
                pc -= laying[i--].length;
        }
        fake_stack.regs =
            (struct arch_regs){.pc = pc, .sp = machine.sp, .fp = machine.fp, .link = 0};
        walk_here(machine.kept);
        kinds_are(kinds);
    }
}

static void lay_out_all(const char *name, bool is_interpreted)
{
    const struct fake_nmethod code = put_nmethod(), stub = put_other(name);
    const uintptr_t junks[] = {GARBAGE, code.code + PC_CALL, interpreter_pc()};
    uint8_t *to = (uint8_t *)stub.code + 24;

    for (size_t i = 0; i < JW_COUNT_OF(laying); to += laying[i++].length)
        memcpy(to, laying[i].bytes, laying[i].length);
    for (unsigned count = 1; count <= 3; count++) {
        for (size_t junk = 0; junk < JW_COUNT_OF(junks); junk++) {
            begin(&code);
            if (is_interpreted) {
                push_interpreted(1);
                fill(fake_stack.regs.fp, true);
            }
            machine.kept = 0;
            lay_out(&stub, count, junks[junk], is_interpreted ? "mic" : "mc");
        }
    }
}

TEST_EACH_STACK(walk_vm_unpacking, while_frames_are_laid_out_the_caller_is_that_of_all)
{
    lay_out_all("UncommonTrapBlob", false);
    lay_out_all("DeoptimizationBlob", false);
}

TEST_EACH_STACK(walk_vm_unpacking, the_same_where_an_interpreted_method_is_the_caller)
{
    lay_out_all("UncommonTrapBlob", true);
    lay_out_all("DeoptimizationBlob", true);
}

#endif
