/*
 * The steps out of stubs, prologues and epilogues: code as HotSpot writes it is run and stopped at each
 * of its instructions, and from everyone the step must lead to the true caller.
 */
#include <criterion/criterion.h>

#include "unit/arch/fault_handler.h"
#include "unit/arch/shapes.h"

#if defined(__x86_64__)
#include "unit/arch/shapes_x86_64.h"
#else
#include "unit/arch/shapes_aarch64.h"
#endif

#define STOPS_MAX 64

struct stop {
    struct arch_regs at;
    struct arch_regs to;
    bool is_stepped;
    bool is_by_size; /* the whole frame is there: caller by the frame's size */
};

struct arch_regs shape_truth;

static const struct shape *current;
static struct stop stops[STOPS_MAX];
static size_t stop_count;
static uintptr_t code_begin;
static char thread[SHAPE_THREAD_BYTES] __attribute__((aligned(16)));

TestSuite(arch_steps, .timeout = 1800);

/* Memory changes as the code runs on, so the step is made here, in the handler. */
void shape_stopped(const void *ucontext, uintptr_t begin_pc)
{
    const size_t bytes = (size_t)(current->end - current->begin);
    const size_t mark = current->mark == NULL ? 0 : (size_t)(current->mark - current->begin);
    struct stop *stop = &stops[stop_count];

    if (stop_count == STOPS_MAX)
        return;
    stop_count++;
    code_begin = begin_pc;
    arch_regs_read(ucontext, &stop->at);
    stop->to = stop->at;
    if (current->kind == SHAPE_STUB) {
        stop->is_stepped = arch_step_stub(
            &stop->to, begin_pc, arch_stub_frame_setup_offset(begin_pc, bytes), begin_pc + bytes);
        return;
    }
    if (current->kind == SHAPE_SIZED) {
        stop->is_stepped =
            arch_step_exception(ucontext, &stop->to, begin_pc, begin_pc + bytes) ||
            arch_step_sized_stub(&stop->to, begin_pc, begin_pc + bytes, current->frame_words);
        return;
    }
    if (current->kind == SHAPE_ADAPTER) {
        stop->is_stepped = arch_step_adapter(ucontext, &stop->to, begin_pc, false);
        return;
    }
    if (current->kind == SHAPE_INTERPRETED) {
        stop->is_stepped = arch_step_interpreted_edge(ucontext, &stop->to);
        if (!stop->is_stepped) {
            stop->is_by_size = true;
            safe_load_word(stop->at.fp - sizeof(uintptr_t), &stop->to.sp);
            safe_load_word(stop->at.fp + sizeof(uintptr_t), &stop->to.pc);
            safe_load_word(stop->at.fp, &stop->to.fp);
        }
        return;
    }
    stop->is_stepped =
        arch_step_compiled_edge(&stop->to, begin_pc, begin_pc + bytes, mark, current->frame_words);
    if (!stop->is_stepped) {
        const uintptr_t caller_sp = stop->at.sp + current->frame_words * sizeof(uintptr_t);

        stop->is_by_size = true;
        stop->to.sp = caller_sp;
        safe_load_word(caller_sp - sizeof(uintptr_t), &stop->to.pc);
        safe_load_word(caller_sp - 2 * sizeof(uintptr_t), &stop->to.fp);
        stop->to.pc = arch_code_address(stop->to.pc);
    }
}

static void run(const struct shape *shape)
{
    current = shape;
    stop_count = 0;
    memset(stops, 0, sizeof stops);
    shape_run(shape, thread);
}

/* Instructions of which each shape runs at least so many. */
#define STOPS_MIN 4

Test(arch_steps, every_instruction_of_every_shape_leads_to_the_true_caller)
{
    for (size_t i = 0; i < JW_COUNT_OF(shapes); i++) {
        const struct shape *shape = &shapes[i];
        unsigned by_size = 0;

        run(shape);
        cr_assert(stop_count >= STOPS_MIN && stop_count < STOPS_MAX, "%s: %zu stops", shape->name,
                  stop_count);
        cr_assert(stops[0].at.pc == code_begin + (uintptr_t)(shape->entry - shape->begin));
        for (size_t n = 0; n < stop_count; n++) {
            const struct stop *stop = &stops[n];
            const size_t offset = stop->at.pc - code_begin;

            by_size += stop->is_by_size;
            cr_expect(stop->is_stepped || stop->is_by_size, "%s+%zu: no step", shape->name, offset);
            cr_expect(stop->to.pc == shape_truth.pc, "%s+%zu: pc %#lx, not %#lx", shape->name,
                      offset, (unsigned long)stop->to.pc, (unsigned long)shape_truth.pc);
            cr_expect(stop->to.sp == shape_truth.sp, "%s+%zu: sp %#lx, not %#lx", shape->name,
                      offset, (unsigned long)stop->to.sp, (unsigned long)shape_truth.sp);
            cr_expect(stop->to.fp == shape_truth.fp, "%s+%zu: fp %#lx, not %#lx", shape->name,
                      offset, (unsigned long)stop->to.fp, (unsigned long)shape_truth.fp);
        }
        /* The body is no edge, so that AsyncGetCallTrace gets it as it is. */
        cr_expect((shape->kind != SHAPE_COMPILED && shape->kind != SHAPE_INTERPRETED) ||
                      by_size > 0,
                  "%s: no body", shape->name);
    }
}

Test(arch_steps, the_frame_setup_of_a_stub_is_found_wherever_it_stands)
{
    for (size_t i = 0; i < JW_COUNT_OF(shapes); i++) {
        const struct shape *shape = &shapes[i];

        if (shape->kind != SHAPE_STUB)
            continue;
        cr_expect(arch_stub_frame_setup_offset((uintptr_t)shape->begin,
                                               (size_t)(shape->end - shape->begin)) ==
                      (shape->mark == NULL ? ARCH_NO_FRAME : (size_t)(shape->mark - shape->begin)),
                  "%s", shape->name);
    }
}

Test(arch_steps, a_setup_cut_off_by_the_end_of_the_stub_is_none)
{
    const size_t setup = (size_t)(stub_plain_setup - stub_plain);

    for (size_t bytes = 0; bytes < setup; bytes++)
        cr_expect(arch_stub_frame_setup_offset((uintptr_t)stub_plain, bytes) == ARCH_NO_FRAME);
    cr_expect(arch_stub_frame_setup_offset((uintptr_t)stub_plain, setup) == setup);
}

#if defined(__x86_64__)
Test(arch_steps, a_return_address_is_in_a_register_alone_at_the_ends_of_an_exception_blob)
{
    const uintptr_t begin = (uintptr_t)exception_blob;
    const uint8_t *places = exception_blob_places;
    ucontext_t context = {.uc_mcontext.gregs[REG_RDX] = 4711};

    for (size_t offset = 0; offset < sizeof exception_blob - 2; offset++) {
        struct arch_regs regs = {.pc = begin + offset, .sp = 64, .fp = 80};
        bool is_place = false;

        for (size_t i = 0; i < sizeof exception_blob_places; i++)
            is_place = is_place || places[i] == offset;
        /* What lies inside an instruction is nowhere: only its beginnings are asked for. */
        if (offset > places[1] && !is_place)
            continue;
        cr_expect(arch_step_exception(&context, &regs, begin, begin + sizeof exception_blob) ==
                      is_place,
                  "offset %zu", offset);
        cr_expect(regs.pc == (is_place ? 4711 : begin + offset), "offset %zu", offset);
        cr_expect(regs.sp == 64 && regs.fp == 80);
    }
    struct arch_regs behind = {.pc = begin + 41}; /* behind the jump */
    cr_expect(!arch_step_exception(&context, &behind, begin, begin + sizeof exception_blob));
}

Test(arch_steps, what_a_barrier_saved_is_read_from_the_code_that_restores_it)
{
    for (size_t i = 0; i < JW_COUNT_OF(saved_codes); i++) {
        const struct saved_code *saved = &saved_codes[i];
        const uintptr_t begin = (uintptr_t)saved->code;

        cr_expect_eq(arch_saved_bytes(begin, begin + saved->length_bytes), saved->saved_bytes,
                     "%s: %zu", saved->name, arch_saved_bytes(begin, begin + saved->length_bytes));
        cr_expect_eq(arch_saved_bytes(begin, begin), 0, "%s", saved->name);
        /* Wherever it is cut off, nothing else is found. */
        for (size_t bytes = 0; bytes < saved->length_bytes; bytes++) {
            const size_t found = arch_saved_bytes(begin, begin + bytes);

            cr_expect(found == 0 || found == saved->saved_bytes, "%s", saved->name);
        }
    }
}

Test(arch_steps, a_call_is_one_of_the_place_that_it_names)
{
    static const uint8_t code[] = {0xe8, 0x10, 0x00, 0x00, 0x00, 0xe8, 0xf1, 0xff, 0xff, 0xff};
    const uintptr_t begin = (uintptr_t)code;

    cr_expect(arch_is_call_of(begin + 5, begin + 5 + 0x10));
    cr_expect(!arch_is_call_of(begin + 5, begin + 5 + 0x11));
    cr_expect(arch_is_call_of(begin + 10, begin - 5), "backwards");
    cr_expect(!arch_is_call_of(begin + 6, begin + 6 + 0x10), "no call stands before");
}

Test(arch_steps, behind_a_call_is_where_one_ends)
{
    static const struct {
        uint8_t bytes[7];
        bool is_call;
    } ends[] = {
        {{0x90, 0x90, 0xe8, 0x10, 0x00, 0x00, 0x00}, true},  /* call rel32 */
        {{0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd2}, true},  /* call *%r10 */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},  /* call *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10}, true},  /* call *(%rax) */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18}, true},  /* call *0x18(%rax) */
        {{0x90, 0xff, 0x15, 0x10, 0x20, 0x30, 0x00}, true},  /* call *disp32(%rip) */
        {{0xff, 0x94, 0xc1, 0x10, 0x20, 0x30, 0x00}, true},  /* call *disp32(%rcx,%rax,8) */
        {{0x90, 0x90, 0x90, 0xff, 0x54, 0xc1, 0x10}, true},  /* call *0x10(%rcx,%rax,8) */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false}, /* jmp *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xc0}, false}, /* inc %eax */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x10, 0x90}, false}, /* a call, and one more */
        {{0x90, 0xe8, 0x10, 0x00, 0x00, 0x00, 0x90}, false},
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, false},
    };

    for (size_t i = 0; i < JW_COUNT_OF(ends); i++)
        cr_expect_eq(arch_is_behind_call((uintptr_t)ends[i].bytes + sizeof ends[i].bytes),
                     ends[i].is_call, "%zu", i);
}

Test(arch_steps, an_argument_is_stored_from_the_instruction_on_that_stores_it)
{
    /* push %rbp; mov %rsp,%rbp; sub $0x60,%rsp; mov %rsi,-0x28(%rbp); mov %rdi,-0x30(%rbp); nop */
    static const uint8_t code[] = {0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x60, 0x48,
                                   0x89, 0x75, 0xd8, 0x48, 0x89, 0x7d, 0xd0, 0x90};
    const uintptr_t begin = (uintptr_t)code;

    for (size_t offset = 0; offset < sizeof code; offset++)
        cr_expect_eq(arch_is_argument_stored(begin, begin + offset, -0x30), offset >= 16, "%zu",
                     offset);
    cr_expect(!arch_is_argument_stored(begin, begin + 16, -0x28));
    cr_expect(!arch_is_argument_stored(begin, begin - 1, -0x30));
    cr_expect(!arch_is_argument_stored(begin, begin + 16, -0x30 - 256));
}

/* As the interpreter of these JDKs is entered again; the code of two is as it was generated. */
Test(arch_steps, the_interpreter_is_entered_again_where_it_is_about_to_load_its_bytecode_pointer,
     .init = install_fault_handler)
{
    static const uint8_t by_17[64] = {
        0x48, 0x8b, 0x65, 0xf0,                         /* mov -16(%rbp),%rsp */
        0x48, 0xc7, 0x45, 0xf0, 0x00, 0x00, 0x00, 0x00, /* movq $0,-16(%rbp) */
        0x4c, 0x8b, 0x6d, 0xc0,                         /* mov -64(%rbp),%r13 */
        0x4c, 0x8b, 0x75, 0xc8,                         /* mov -56(%rbp),%r14 */
    };
    static const uint8_t by_25[64] = {
        0x48, 0x8b, 0x4d, 0xf0,                         /* mov -16(%rbp),%rcx */
        0x48, 0x8d, 0x64, 0xcd, 0x00,                   /* lea (%rbp,%rcx,8),%rsp */
        0x48, 0xc7, 0x45, 0xf0, 0x00, 0x00, 0x00, 0x00, /* movq $0,-16(%rbp) */
        0x4c, 0x8b, 0x6d, 0xc0,                         /* mov -64(%rbp),%r13 */
    };
    /* A method's entry: the return address is popped, locals are made room for. */
    static const uint8_t entry[64] = {0x58, 0x41, 0x55, 0x6a, 0x00, 0x4c, 0x8b, 0x6b, 0x08};

    cr_expect(arch_is_reentered((uintptr_t)by_17, -64));
    cr_expect(arch_is_reentered((uintptr_t)by_17 + 12, -64), "at the load itself");
    cr_expect(!arch_is_reentered((uintptr_t)by_17 + 16, -64), "behind it");
    cr_expect(arch_is_reentered((uintptr_t)by_25, -64));
    cr_expect(!arch_is_reentered((uintptr_t)by_17, -72), "another slot");
    cr_expect(!arch_is_reentered((uintptr_t)by_17, -64 - 256), "no such slot");
    cr_expect(!arch_is_reentered((uintptr_t)entry, -64));
    cr_expect(!arch_is_reentered(4096, -64), "nothing is there");
}

Test(arch_steps, a_word_that_aligns_the_stack_for_a_call_is_no_return_address)
{
    /* mov (%rsp),%rdi; sub $8,%rsp; call; add $8,%rsp; jmp */
    static const uint8_t code[] = {0x48, 0x8b, 0x3c, 0x24, 0x48, 0x83, 0xec, 0x08, 0xe8, 0,
                                   0,    0,    0,    0x48, 0x83, 0xc4, 0x08, 0xeb, 0x05, 0xf4};
    const uintptr_t begin = (uintptr_t)code;
    uintptr_t stack[] = {1, 4711};

    for (size_t offset = 0; offset < sizeof code - 2; offset++) {
        const bool is_aligned = offset == 8 || offset == 13;
        struct arch_regs regs = {.pc = begin + offset,
                                 .sp = (uintptr_t)(is_aligned ? &stack[0] : &stack[1])};

        if (offset != 0 && offset != 4 && offset != 17 && !is_aligned)
            continue;
        cr_expect(arch_step_stub(&regs, begin, ARCH_NO_FRAME, begin + sizeof code));
        cr_expect_eq(regs.pc, 4711, "offset %zu", offset);
        cr_expect_eq(regs.sp, (uintptr_t)(stack + 2), "offset %zu", offset);
    }
}
#else
Test(arch_steps, an_argument_is_stored_from_the_instruction_on_that_stores_it)
{
    /* stp x29,x30,[sp,#-16]!; mov x29,sp; sub sp,x29,#208; stp x2,x3,[x29,#-48]; stp x0,x1,[x29,#-64]; nop: the call stub */
    static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd10343bf,
                                    0xa93d0fa2, 0xa93c07a0, 0xd503201f};
    const uintptr_t begin = (uintptr_t)code;

    for (size_t at = 0; at < JW_COUNT_OF(code); at++)
        cr_expect_eq(arch_is_argument_stored(begin, begin + at * 4, -64), at >= 5, "%zu", at);
    cr_expect(!arch_is_argument_stored(begin, begin + 20, -48));
    cr_expect(!arch_is_argument_stored(begin, begin - 4, -64));
}

/* Barriers of Z in JDK 17, off the main path, with the call of the JVM; the pc is at the first instruction. */
static const struct {
    const char *name;
    uint32_t code[10];
    size_t count, saved_bytes;
} saved_codes[] = {
    /* mov x1,x0; ptrue p7.b; ldp x11,x13,[sp],#16; b */
    {"behind the call", {0xaa0003e1, 0x2518e3e7, 0xa8c137eb, 0x17ffffd4}, 4, 16},
    /* movk; blr x8; mov x1,x0; ldp; b */
    {"before the call", {0xf2c00aa8, 0xd63f0100, 0xaa0003e1, 0xa8c137eb, 0x17ffffd4}, 5, 16},
    /* stp x8,x12,[sp,#-16]!; blr; ldp x8,x12,[sp],#16; ldp x1,x2,[sp],#16; b */
    {"more is pushed", {0xa9bf33e8, 0xd63f0100, 0xa8c133e8, 0xa8c10be1, 0x17ffffd4}, 5, 16},
    /* ld1 {v28.1d-v31.1d},[sp],#32; ldp x2,x3,[sp,#16]; ldp x0,x1,[sp],#144; b */
    {"vectors", {0x0cdf2ffc, 0xa9410fe2, 0xa8c907e0, 0x17ffffd4}, 4, 32 + 144},
    /* ldp q0,q1,[sp],#32; ldr d3,[sp],#16; ldr x4,[sp],#16; b */
    {"one and two at a time", {0xacc107e0, 0xfc4107e3, 0xf84107e4, 0x17ffffd4}, 4, 64},
    /* bl; mov x7,x0; ldr x0,[sp,#16]; add sp,sp,#32; b: of C1 */
    {"by a constant", {0x94000100, 0xaa0003e7, 0xf9400be0, 0x910083ff, 0x17ffffd4}, 5, 32},
    /* mov x1,x0; ldp x29,x30,[sp,#48]; add sp,sp,#64; b: throws on */
    {"the whole frame goes", {0xaa0003e1, 0xa9437bfd, 0x910103ff, 0x14000100}, 4, 0},
    {"pair and link go", {0xa8c17bfd, 0x14000100}, 2, 0},
    /* ldp x1,x2,[x3],#16; b */
    {"another place", {0xa8c10861, 0x17ffffd4}, 2, 0},
    {"a return", {0xa8c137eb, 0xd65f03c0}, 2, 0},
    {"a branch first", {0x54000060, 0xa8c137eb, 0x17ffffd4}, 3, 0},
    /* sub sp,sp,#32; b */
    {"down, not up", {0xd10083ff, 0x17ffffd4}, 2, 0},
    {"too much", {0x914007ff, 0x914007ff, 0x17ffffd4}, 3, 0},
    {"nothing", {0xaa0003e1, 0x17ffffd4}, 2, 0},
};

Test(arch_steps, what_a_barrier_saved_is_read_from_the_code_that_restores_it)
{
    for (size_t i = 0; i < JW_COUNT_OF(saved_codes); i++) {
        const uintptr_t begin = (uintptr_t)saved_codes[i].code;
        const uintptr_t end = begin + saved_codes[i].count * sizeof(uint32_t);

        cr_expect(arch_saved_bytes(begin, end) == saved_codes[i].saved_bytes, "%s: %zu",
                  saved_codes[i].name, arch_saved_bytes(begin, end));
        for (uintptr_t cut = begin; cut < end; cut += sizeof(uint32_t))
            cr_expect(arch_saved_bytes(begin, cut) == 0, "%s is cut", saved_codes[i].name);
        cr_expect(arch_saved_bytes(begin + 2, end) == 0);
    }
    /* Between the pair's load and the end of the frame nothing is saved either. */
    const uintptr_t whole = (uintptr_t)saved_codes[6].code;
    cr_expect(arch_saved_bytes(whole + 8, whole + 16) == 0);
}

Test(arch_steps, a_call_is_one_of_the_place_that_it_names)
{
    static const uint32_t code[] __attribute__((aligned(4096))) = {
        0x94000004, /* 0: bl 0x10 */
        0x97fffffe, /* 4: bl -4 */
        0xd503201f, /* 8 */
        0xd63f0100, /* c: blr x8, of which nothing is told */
        0xd2868908, /* 10: mov x8,#0x3448 */
        0xf2a2468a, /* 14: movk x10,#0x1234,lsl #16 */
        0xf2c00aa8, /* 18: movk x8,#0x55,lsl #32 */
        0xd63f0100, /* 1c: blr x8: not its constant */
        0xd2868908, /* 20: mov x8,#0x3448 */
        0xf2a24688, /* 24: movk x8,#0x1234,lsl #16 */
        0xf2c00aa8, /* 28: movk x8,#0x55,lsl #32 */
        0xd63f0100, /* 2c: blr x8 */
        0xd503201f, /* 30 */
        0xb0000008, /* 34: adrp x8, the next page */
        0x91010108, /* 38: add x8,x8,#0x40 */
        0xd63f0100, /* 3c: blr x8 */
        0xf0ffffe8, /* 40: adrp x8, the page before */
        0x91010108, /* 44: add x8,x8,#0x40 */
        0xd63f0100, /* 48: blr x8 */
        0x94000002, /* 4c: bl 0x54 */
        0xd503201f, /* 50 */
        0x58000048, /* 54: ldr x8,#8 */
        0xd61f0100, /* 58: br x8 */
        0x89abcdef, /* 5c: where to */
        0x00000055, /* 60 */
    };
    const uintptr_t begin = (uintptr_t)code;
    static const struct {
        size_t behind;
        uintptr_t target;
        bool is_near;
    } calls[] = {
        {0x04, 0x10, true},
        {0x08, (uintptr_t)-4, true},
        {0x0c, 0, false},
        {0x10, 0, false},
        {0x20, 0, false},
        {0x30, UINT64_C(0x5512343448), false},
        {0x40, 0x1040, true},
        {0x4c, (uintptr_t)-0x1000 + 0x40, true},
        {0x50, UINT64_C(0x5589abcdef), false},
        {0x06, 0, false},
    };

    install_fault_handler(); /* what is called need not be there */
    for (size_t i = 0; i < JW_COUNT_OF(calls); i++) {
        const uintptr_t target = calls[i].target + (calls[i].is_near ? begin : 0);

        cr_expect(arch_call_target(begin + calls[i].behind) == target, "%#zx: %#lx",
                  calls[i].behind, (unsigned long)arch_call_target(begin + calls[i].behind));
        cr_expect(arch_is_call_of(begin + calls[i].behind, target) == (target != 0));
        cr_expect(!arch_is_call_of(begin + calls[i].behind, target + 4));
    }
    cr_expect(arch_call_target(4096) == 0, "nothing is there");
}

Test(arch_steps, behind_a_call_is_where_one_ends)
{
    static const struct {
        uint32_t code;
        bool is_call;
    } ends[] = {
        {0x94000004, true},  /* bl */
        {0xd63f0100, true},  /* blr x8 */
        {0xd73f0901, true},  /* blraa x8,x1 */
        {0xd63f0bff, true},  /* blraaz: x31 stands for none */
        {0x14000004, false}, /* b */
        {0xd61f0100, false}, /* br x8 */
        {0xd65f03c0, false}, /* ret */
        {0xd503201f, false}, /* nop */
    };

    for (size_t i = 0; i < JW_COUNT_OF(ends); i++)
        cr_expect(arch_is_behind_call((uintptr_t)(&ends[i].code + 1)) == ends[i].is_call, "%zu", i);
}

/* What an adapter calls returns into it: then the link register is that call's. */
Test(arch_steps, behind_a_call_an_adapter_is_left_by_its_frame_alone)
{
    static const ucontext_t context;
    const uintptr_t begin = (uintptr_t)c2i;
    const uintptr_t frame[] = {0x1110, 0x2220, 0x3330};
    const struct arch_regs before = {
        .sp = (uintptr_t)frame, .fp = (uintptr_t)frame, .link = (uintptr_t)c2i_framed};

    struct arch_regs regs = before;
    regs.pc = (uintptr_t)c2i_framed;
    cr_expect(arch_step_adapter(&context, &regs, begin, true));
    cr_expect(regs.pc == 0x2220 && regs.fp == 0x1110 && regs.sp == (uintptr_t)(frame + 2));
    regs = before;
    regs.pc = begin;
    cr_expect(!arch_step_adapter(&context, &regs, begin, true), "no frame");
    regs.pc = begin - 4;
    cr_expect(!arch_step_adapter(&context, &regs, begin, false), "outside");
}

/* Other code of the interpreter is no edge, whatever is in registers: bytecodes, and what lies too far before an entry. */
Test(arch_steps, the_interpreters_other_code_is_no_edge)
{
    static const ucontext_t context;
    uint32_t code[100];
    struct arch_regs regs = {.sp = 64, .fp = 128, .link = 4096};

    for (size_t i = 0; i < JW_COUNT_OF(code); i++)
        code[i] = 0xd503201f; /* nop */
    code[90] = 0xa90437ff;    /* stp xzr,x13,[sp,#64] */
    const uint32_t ends[] = {0xd65f03c0, /* ret */ 0x00000055 /* a number between codelets */};
    for (size_t i = 0; i < JW_COUNT_OF(ends); i++) {
        code[80] = ends[i];
        regs.pc = (uintptr_t)&code[70];
        cr_expect(!arch_step_interpreted_edge(&context, &regs), "%zu", i);
    }
    code[80] = 0xd503201f;
    regs.pc = (uintptr_t)&code[2];
    cr_expect(!arch_step_interpreted_edge(&context, &regs), "too far");
    regs.pc = (uintptr_t)&code[70];
    cr_expect(arch_step_interpreted_edge(&context, &regs));
    cr_expect(regs.pc == 4096 && regs.fp == 128 && regs.sp == 64);
    /* At the store, the frame pointer is that of the new frame, or this is something else. */
    regs = (struct arch_regs){
        .pc = (uintptr_t)&code[90], .sp = (uintptr_t)code, .fp = (uintptr_t)code, .link = 4096};
    cr_expect(!arch_step_interpreted_edge(&context, &regs));
}
#endif

Test(arch_steps, code_that_begins_otherwise_is_no_stub_of_that_size)
{
    const uintptr_t begin = (uintptr_t)c2_kept;
    const uintptr_t end = (uintptr_t)c2_kept_end;
    struct arch_regs regs = {.pc = begin, .sp = (uintptr_t)thread};

    cr_expect(!arch_step_sized_stub(&regs, begin, end, 6));
    cr_expect(!arch_step_sized_stub(&regs, begin, end, 1));
    cr_expect(!arch_step_sized_stub(&regs, begin, end, SIZE_MAX));
    regs.pc = end;
    cr_expect(!arch_step_sized_stub(&regs, begin, end, 64));
    cr_expect(regs.sp == (uintptr_t)thread);
}

Test(arch_steps, a_pc_outside_of_the_code_is_left_alone)
{
    const uintptr_t begin = (uintptr_t)stub_plain;
    const uintptr_t end = (uintptr_t)stub_plain_end;
    const uintptr_t outside[] = {0, begin - 1, end, UINTPTR_MAX};

    for (size_t i = 0; i < JW_COUNT_OF(outside); i++) {
        const struct arch_regs before = {
            .pc = outside[i], .sp = (uintptr_t)thread, .fp = (uintptr_t)thread, .link = begin};
        struct arch_regs regs = before;

        cr_expect(!arch_step_stub(&regs, begin, 4, end));
        cr_expect(!arch_step_compiled_edge(&regs, begin, end, 8, 4));
        cr_expect(memcmp(&regs, &before, sizeof regs) == 0);
    }
}

Test(arch_steps, a_frame_pointer_that_cannot_be_one_is_refused)
{
    uintptr_t words[4] = {0x1111, 0x2222, 0x3333, 0x4444};
    const uintptr_t stack = (uintptr_t)words;
    const uintptr_t bad[] = {stack + 1, stack + 4, stack - 8, 0};

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        const struct arch_regs before = {.pc = 1, .sp = stack, .fp = bad[i], .link = 0};
        struct arch_regs regs = before;

        cr_expect(!arch_step_from_frame(&regs), "%zu", i);
        cr_expect(memcmp(&regs, &before, sizeof regs) == 0, "%zu", i);
    }

    struct arch_regs regs = {.pc = 1, .sp = stack, .fp = stack + 8, .link = 0};
    cr_assert(arch_step_from_frame(&regs));
    cr_assert(regs.fp == 0x2222 && regs.pc == 0x3333 && regs.sp == stack + 24);
}

Test(arch_steps, absurd_frame_sizes_are_refused)
{
    const uintptr_t begin = (uintptr_t)stub_plain;
    const uintptr_t end = (uintptr_t)stub_plain_end;
    const size_t sizes[] = {0, 1, SIZE_MAX, SIZE_MAX / 8, (size_t)1 << 40};

    for (size_t i = 0; i < JW_COUNT_OF(sizes); i++) {
        struct arch_regs regs = {.pc = begin, .sp = (uintptr_t)thread, .link = begin};

        cr_expect(!arch_step_compiled_edge(&regs, begin, end, 16, sizes[i]), "%zu", i);
    }
}
