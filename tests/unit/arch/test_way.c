/* Code that is left soon, as JVMs have made it: where it leads, and where it returns to while no frame says so. */
#include <criterion/criterion.h>
#include <string.h>
#include <ucontext.h>

#include "unit/arch/fault_handler.h"

TestSuite(arch_way, .init = install_fault_handler, .timeout = 1800);

#if defined(__x86_64__)
#define TRUE_PC   ((uintptr_t)0x7a11c0de4)
#define TRUE_FP   ((uintptr_t)0x7a11c0f00)
#define ROOM      256
#define WORDS     64
#define TOP       32 /* where the return address is at the entry */
#define WORD      sizeof(uintptr_t)
#define ENTRY_SP  ((uintptr_t)&stack[TOP])
#define CALLER_SP ((uintptr_t)&stack[TOP + 1])

static uint8_t code[ROOM];
static uintptr_t stack[WORDS];
static ucontext_t context;

static void set(int reg, uintptr_t value)
{
    context.uc_mcontext.gregs[reg] = (greg_t)value;
}

/* The code, between bytes that are none of its own, and a stack whose words mean nothing but for the return address. */
static size_t put(const void *bytes, size_t count)
{
    memset(code, 0xcc, sizeof code);
    memcpy(code + 64, bytes, count);
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = 0x5a5a0001 + 2 * i;
    stack[TOP] = TRUE_PC;
    memset(&context, 0, sizeof context);
    set(REG_RBP, TRUE_FP);
    return count;
}

static struct arch_regs at(size_t offset, size_t pushed_words)
{
    const uintptr_t sp = ENTRY_SP - pushed_words * WORD;

    set(REG_RSP, sp);
    set(REG_RIP, (uintptr_t)code + 64 + offset);
    return (struct arch_regs){.pc = (uintptr_t)code + 64 + offset, .sp = sp, .fp = TRUE_FP};
}

static bool follow(const struct arch_regs *regs, size_t count, struct arch_way *way)
{
    return arch_follow(&context, regs, (uintptr_t)code + 64, (uintptr_t)code + 64 + count, way);
}

Test(arch_way, a_stub_without_a_frame_returns_below_what_it_pushed)
{
    /* As the slow check of subtypes: push %rdi, push %rax, sub $0x20,%rsp, mov %rdx,(%rsp), jne to the pops, mov (%rsp),%rdx,
     * lea 0x20(%rsp),%rsp, shl %rax, pop %rax, pop %rdi, ret. */
    static const uint8_t bytes[] = {0x57, 0x50, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0x14, 0x24,
                                    0x75, 0x04, 0x48, 0x8b, 0x14, 0x24, 0x48, 0x8d, 0x64, 0x24,
                                    0x20, 0x48, 0xc1, 0xe0, 0x03, 0x58, 0x5f, 0xc3};
    static const struct {
        size_t offset, words;
    } places[] = {{0, 0},  {1, 1},  {2, 2},  {6, 6},  {10, 6}, {12, 6},
                  {16, 6}, {21, 2}, {25, 2}, {26, 1}, {27, 0}};
    const size_t count = put(bytes, sizeof bytes);

    for (size_t i = 0; i < JW_COUNT_OF(places); i++) {
        const struct arch_regs regs = at(places[i].offset, places[i].words);
        struct arch_way way;

        cr_assert(follow(&regs, count, &way), "%zu", i);
        cr_expect(way.is_return && way.regs.pc == TRUE_PC && way.regs.sp == CALLER_SP &&
                      way.regs.fp == TRUE_FP,
                  "%zu: %#zx, sp %+zd", i, (size_t)way.regs.pc, (ssize_t)(way.regs.sp - CALLER_SP));
        cr_expect_not(way.is_frame_left);
        cr_expect_eq(way.is_sure, places[i].offset > 10);
    }
}

/* As fpu2long_stub of JDK 8 and 11: push %rsi, push %rcx, sub $0x10,%rsp, fstl 8(%rsp), fld1, fstp %st(1), mov 0xc(%rsp),%eax,
 * add $0x10,%rsp, pop %rcx, pop %rsi, ret. What the x87 is told by the numbers of rbp and rsp is neither. */
Test(arch_way, what_the_x87_does_changes_no_register)
{
    static const uint8_t bytes[] = {0x56, 0x51, 0x48, 0x83, 0xec, 0x10, 0xdd, 0x54, 0x24,
                                    0x08, 0xd9, 0xe8, 0xdd, 0xd9, 0x8b, 0x44, 0x24, 0x0c,
                                    0x48, 0x83, 0xc4, 0x10, 0x59, 0x5e, 0xc3};
    static const struct {
        size_t offset, words;
    } places[] = {{0, 0}, {1, 1}, {2, 2}, {6, 4}, {10, 4}, {12, 4}, {14, 4}, {18, 4}, {22, 2}};
    const size_t count = put(bytes, sizeof bytes);

    for (size_t i = 0; i < JW_COUNT_OF(places); i++) {
        const struct arch_regs regs = at(places[i].offset, places[i].words);
        struct arch_way way;

        cr_assert(follow(&regs, count, &way), "%zu", i);
        cr_expect(way.is_return && way.is_sure && way.regs.pc == TRUE_PC &&
                  way.regs.sp == CALLER_SP && way.regs.fp == TRUE_FP);
    }
}

/* fstpl (%rsp) over the return address, fstpt -8(%rsp) into it, fnstenv -16(%rsp) over it; fnstsw %ax before a jump by rax. */
Test(arch_way, what_the_x87_stores_is_not_known)
{
    static const uint8_t stores[] = {0xdd, 0x1c, 0x24, 0xc3};
    static const uint8_t wide[] = {0xdb, 0x7c, 0x24, 0xf8, 0xc3};
    static const uint8_t narrow[] = {0xdd, 0x5c, 0x24, 0xf8, 0xc3}; /* fstpl -8(%rsp) */
    static const uint8_t environment[] = {0xd9, 0x74, 0x24, 0xf0, 0xc3};
    static const uint8_t loads[] = {0xdd, 0x04, 0x24, 0xc3}; /* fldl (%rsp) */
    static const uint8_t status[] = {0xdf, 0xe0, 0xff, 0xe0};
    static const uint8_t other[] = {0xdf, 0xe1, 0xff, 0xe0};
    struct arch_way way;
    size_t count = put(stores, sizeof stores);
    struct arch_regs regs = at(0, 0);

    cr_expect_not(follow(&regs, count, &way));
    count = put(wide, sizeof wide);
    cr_expect_not(follow(&regs, count, &way));
    count = put(environment, sizeof environment);
    cr_expect_not(follow(&regs, count, &way));
    count = put(narrow, sizeof narrow);
    cr_expect(follow(&regs, count, &way) && way.regs.pc == TRUE_PC);
    count = put(loads, sizeof loads);
    cr_expect(follow(&regs, count, &way) && way.regs.pc == TRUE_PC);
    count = put(status, sizeof status);
    set(REG_RAX, TRUE_PC);
    cr_expect_not(follow(&regs, count, &way));
    count = put(other, sizeof other);
    set(REG_RAX, TRUE_PC);
    cr_expect(follow(&regs, count, &way) && way.regs.pc == TRUE_PC);
}

Test(arch_way, a_jump_through_a_register_leads_where_that_points)
{
    /* handle_exception_from_callee: mov %rax,0x8(%rbp); leave; pop %rcx; jmp *%rcx */
    static const uint8_t bytes[] = {0x48, 0x89, 0x45, 0x08, 0xc9, 0x59, 0xff, 0xe1};
    const size_t count = put(bytes, sizeof bytes);
    const uintptr_t handler = 0x7a11c0e00;
    struct arch_regs regs = at(0, 3);
    struct arch_way way;

    stack[TOP - 1] = TRUE_FP;
    set(REG_RAX, handler);
    regs.fp = ENTRY_SP - WORD;
    set(REG_RBP, regs.fp);
    cr_assert(follow(&regs, count, &way));
    cr_expect(way.regs.pc == handler && way.regs.sp == CALLER_SP && way.regs.fp == TRUE_FP);
    cr_expect(!way.is_return && way.is_sure && way.is_frame_left);

    /* The registers are not those of here: what was stored is not known. */
    cr_expect_not(
        arch_follow(NULL, &regs, (uintptr_t)code + 64, (uintptr_t)code + 64 + count, &way));
}

Test(arch_way, a_loop_is_left_by_its_branch_and_an_endless_one_not)
{
    /* add $1,%edx; cmp %r8d,%edx; jl to the add; jmp back to it; ret */
    static const uint8_t loop[] = {0x83, 0xc2, 0x01, 0x41, 0x3b, 0xd0,
                                   0x7f, 0x02, 0xeb, 0xf6, 0xc3};
    static const uint8_t endless[] = {0x90, 0xeb, 0xfd, 0xc3};
    static const uint8_t stops[] = {0x74, 0x01, 0xf4, 0xc3}; /* je over hlt */
    struct arch_way way;
    size_t count = put(loop, sizeof loop);
    struct arch_regs regs = at(0, 0);

    cr_assert(follow(&regs, count, &way));
    cr_expect(way.is_return && way.regs.pc == TRUE_PC && !way.is_sure);
    count = put(stops, sizeof stops);
    cr_assert(follow(&regs, count, &way));
    cr_expect(way.is_return && way.regs.pc == TRUE_PC);
    count = put(endless, sizeof endless);
    cr_expect_not(follow(&regs, count, &way));
}

Test(arch_way, an_interpreted_method_returns_on_jdk_25_with_words_of_the_thread_between)
{
    static const uint8_t bytes[] = {
        0x41, 0xc6, 0x87, 0xbe, 0x03, 0x00, 0x00, 0x00,                   /* movb $0,disp(%r15) */
        0x41, 0x5d,                                                       /* pop %r13 */
        0x48, 0x8b, 0xe3,                                                 /* mov %rbx,%rsp */
        0x49, 0x3b, 0xa7, 0x20, 0x06, 0x00, 0x00,                         /* cmp disp(%r15),%rsp */
        0x72, 0x0b,                                                       /* jb */
        0x49, 0xc7, 0x87, 0x20, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* mov $0,disp(%r15) */
        0x41, 0xff, 0xe5,                                                 /* jmp *%r13 */
    };
    static const size_t offsets[] = {0, 8, 10, 13, 20, 22, 33};
    const uintptr_t sender = (uintptr_t)&stack[TOP + 4];

    (void)put(bytes, sizeof bytes);
    for (size_t i = 0; i < JW_COUNT_OF(offsets); i++) {
        struct arch_regs regs = at(offsets[i], 0);

        regs.sp = offsets[i] <= 8 ? ENTRY_SP : offsets[i] <= 10 ? CALLER_SP : sender;
        set(REG_RBX, sender);
        set(REG_R13, offsets[i] <= 8 ? 0x77 : TRUE_PC);
        cr_assert(arch_step_interpreted_edge(&context, &regs), "+%zu", offsets[i]);
        cr_expect(regs.pc == TRUE_PC && regs.sp == sender, "+%zu: %#zx", offsets[i],
                  (size_t)regs.pc);
    }
    for (size_t offset = 0; offset < sizeof bytes + 8; offset++) {
        struct arch_regs regs = at(offset, 0);
        bool is_one = false;

        for (size_t i = 0; i < JW_COUNT_OF(offsets); i++)
            is_one |= offsets[i] == offset;
        cr_expect(is_one || !arch_step_interpreted_edge(&context, &regs), "+%zu", offset);
    }
}

Test(arch_way, behind_its_frame_a_native_method_looks_for_an_exception_and_a_poll)
{
    /* leave; cmpq $0,8(%r15); jne over the ret; ret; jmp forward_exception */
    static const uint8_t of_17[] = {0xc9, 0x49, 0x81, 0x7f, 0x08, 0,    0,
                                    0,    0,    0x0f, 0x85, 1,    0,    0,
                                    0,    0xc3, 0xe9, 0x93, 0x42, 0xe1, 0xff};
    /* leave; testb $1,0x28(%r15); je over the way to the poll's handler; the same behind it */
    static const uint8_t of_25[] = {0xc9, 0x41, 0xf6, 0x47, 0x28, 0x01, 0x74, 0x16, 0x49, 0xba,
                                    0x76, 0x22, 0x2e, 0x41, 0x75, 0x7f, 0x00, 0x00, 0x4d, 0x89,
                                    0x97, 0x38, 0x05, 0x00, 0x00, 0xe9, 0xcd, 0x65, 0xaa, 0xff,
                                    0x49, 0x83, 0x7f, 0x08, 0x00, 0x0f, 0x85, 0x01, 0x00, 0x00,
                                    0x00, 0xc3, 0xe9, 0x3c, 0x6c, 0xa5, 0xff};
    static const size_t offsets_17[] = {1, 9, 15, 16};
    static const size_t offsets_25[] = {1, 6, 8, 18, 25, 30, 35, 41, 42};

    for (int jdk = 0; jdk < 2; jdk++) {
        const size_t count = jdk == 0 ? put(of_17, sizeof of_17) : put(of_25, sizeof of_25);
        const size_t *offsets = jdk == 0 ? offsets_17 : offsets_25;
        const size_t places = jdk == 0 ? JW_COUNT_OF(offsets_17) : JW_COUNT_OF(offsets_25);

        for (size_t i = 0; i < places; i++) {
            struct arch_regs regs = at(offsets[i], 0);

            cr_assert(arch_step_compiled_edge(&regs, (uintptr_t)code, (uintptr_t)code + 64 + count,
                                              8, 10),
                      "%d: +%zu", jdk, offsets[i]);
            cr_expect(regs.pc == TRUE_PC && regs.sp == CALLER_SP && regs.fp == TRUE_FP, "%d: +%zu",
                      jdk, offsets[i]);
        }
    }
}
#else
Test(arch_way, nothing_is_followed)
{
    static const uint32_t code[] = {0xd65f03c0}; /* ret */
    const struct arch_regs regs = {.pc = (uintptr_t)code, .link = 0x1234};
    struct arch_way way;

    cr_expect_not(arch_follow(NULL, &regs, (uintptr_t)code, (uintptr_t)code + sizeof code, &way));
}
#endif
