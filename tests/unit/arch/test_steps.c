/*
 * The steps out of stubs, prologues and epilogues: code as HotSpot writes it is run and stopped at each
 * of its instructions, and from everyone the step must lead to the true caller.
 */
#include <criterion/criterion.h>

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

TestSuite(arch_steps, .timeout = 60);

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
        cr_expect(shape->kind == SHAPE_STUB || by_size > 0, "%s: no body", shape->name);
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
