/* Calls that a fault ends, and what they keep. */
#include <criterion/criterion.h>

#include "unit/arch/fault_handler.h"

TestSuite(arch_guard, .init = install_fault_handler, .timeout = 1800);

/*
 * guard_probe calls arch_guarded_call with known values in all registers that a call must keep, and
 * says how many came back changed. guard_wreck overwrites all of them, pushes, and faults.
 */
/* clang-format off */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
"guard_wreck: push %rdi\n push %rsi\n movq $-1, %rbx\n movq %rbx, %rbp\n movq %rbx, %r12\n movq %rbx, %r13\n"
" movq %rbx, %r14\n movq %rbx, %r15\n subq $4000, %rsp\n std\n xorl %eax, %eax\n movq (%rax), %rax\n ud2\n"
"guard_probe: push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n push %rdx\n"
" movl $11, %ebx\n movl $12, %ebp\n movl $13, %r12d\n movl $14, %r13d\n movl $15, %r14d\n movl $16, %r15d\n"
" call arch_guarded_call\n"
" pop %rdx\n movb %al, (%rdx)\n"
" xorl %eax, %eax\n"
" subq $11, %rbx\n orq %rbx, %rax\n subq $12, %rbp\n orq %rbp, %rax\n subq $13, %r12\n orq %r12, %rax\n"
" subq $14, %r13\n orq %r13, %rax\n subq $15, %r14\n orq %r14, %rax\n subq $16, %r15\n orq %r15, %rax\n"
" pushfq\n pop %rcx\n andq $0x400, %rcx\n orq %rcx, %rax\n"
" pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
/* HotSpot's SafeFetch, and getters that begin like it. */
"fetch32: .byte 0x8b,0x07,0xc3,0x89,0xf0,0xc3\n"
"fetch64: .byte 0x48,0x8b,0x07,0xc3,0x48,0x89,0xf0,0xc3\n"
"getter32: .byte 0x8b,0x07,0xc3,0x90,0x90,0x90\n"
"getter64: .byte 0x48,0x8b,0x07,0xc3,0x48,0x89,0xf8,0xc3\n"
".popsection\n");
#else
__asm__(".pushsection .text\n .balign 8\n"
"guard_wreck: stp x29, x30, [sp, #-16]!\n mov x19, #-1\n mov x20, x19\n mov x21, x19\n mov x22, x19\n mov x23, x19\n"
" mov x24, x19\n mov x25, x19\n mov x26, x19\n mov x27, x19\n mov x28, x19\n mov x29, x19\n mov x30, x19\n"
" fmov d8, x19\n fmov d15, x19\n sub sp, sp, #4000\n mov x0, #0\n ldr x0, [x0]\n brk #0\n"
"guard_probe: stp x29, x30, [sp, #-128]!\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n"
" stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n stp d8, d15, [sp, #96]\n str x2, [sp, #112]\n"
" mov x19, #11\n mov x20, #12\n mov x27, #13\n mov x28, #14\n mov x29, #15\n mov x9, #16\n fmov d8, x9\n fmov d15, x9\n"
" bl arch_guarded_call\n"
" ldr x2, [sp, #112]\n strb w0, [x2]\n mov x0, #0\n"
" sub x19, x19, #11\n orr x0, x0, x19\n sub x20, x20, #12\n orr x0, x0, x20\n sub x27, x27, #13\n orr x0, x0, x27\n"
" sub x28, x28, #14\n orr x0, x0, x28\n sub x29, x29, #15\n orr x0, x0, x29\n"
" fmov x9, d8\n sub x9, x9, #16\n orr x0, x0, x9\n fmov x9, d15\n sub x9, x9, #16\n orr x0, x0, x9\n"
" ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n"
" ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n ldp d8, d15, [sp, #96]\n ldp x29, x30, [sp], #128\n ret\n"
"fetch32: .inst 0xb9400000,0xd65f03c0,0xaa0103e0,0xd65f03c0\n"
"fetch64: .inst 0xf9400000,0xd65f03c0,0xaa0103e0,0xd65f03c0\n"
"getter32: .inst 0xb9400000,0xd65f03c0,0xd503201f,0xd65f03c0\n"
"getter64: .inst 0xf9400000,0xd65f03c0,0xaa0203e0,0xd65f03c0\n"
".popsection\n");
#endif
/* clang-format on */

/* Returns 0 when all registers were kept; `is_done`, the third argument, is the call's result. */
uintptr_t guard_probe(struct arch_guard *guard, arch_guarded_function *function, bool *is_done);
void guard_wreck(void *first, intptr_t second, void *third);
extern const char fetch32[] __attribute__((visibility("hidden")));
extern const char fetch64[] __attribute__((visibility("hidden")));
extern const char getter32[] __attribute__((visibility("hidden")));
extern const char getter64[] __attribute__((visibility("hidden")));

static intptr_t seen[3];
static struct arch_guard guard;

static void note_arguments(void *first, intptr_t second, void *third)
{
    seen[0] = (intptr_t)first;
    seen[1] = second;
    seen[2] = (intptr_t)third;
    cr_assert(guard.sp != 0);
}

Test(arch_guard, a_call_that_returns_is_done_and_got_its_arguments)
{
    cr_assert(arch_guarded_call(&guard, note_arguments, &seen[0], -5, &seen[2]));
    cr_assert(seen[0] == (intptr_t)&seen[0] && seen[1] == -5 && seen[2] == (intptr_t)&seen[2]);
    cr_assert(guard.sp == 0);
}

static void do_nothing(void *first, intptr_t second, void *third)
{
    (void)first;
    (void)second;
    (void)third;
}

Test(arch_guard, a_call_that_faults_is_ended_and_keeps_what_a_call_keeps)
{
    bool is_done = true;

    fault_guard = &guard;
    for (int i = 1; i <= 3; i++) {
        cr_assert(guard_probe(&guard, guard_wreck, &is_done) == 0);
        cr_assert(!is_done && faults_seen == i && guard.sp == 0);
    }
    cr_assert(guard_probe(&guard, do_nothing, &is_done) == 0);
    cr_assert(is_done && faults_seen == 3);
}

static void load_nothing(void *first, intptr_t second, void *third)
{
    uintptr_t word = 3;

    (void)second;
    *(bool *)first = !safe_load_word(0, &word) && word == 3;
    (void)third;
}

Test(arch_guard, a_contained_load_inside_does_not_end_the_call)
{
    bool was_contained = false;

    fault_guard = &guard;
    cr_assert(arch_guarded_call(&guard, load_nothing, &was_contained, 0, NULL));
    cr_assert(was_contained && faults_seen == 1);
}

Test(arch_guard, a_fault_on_another_stack_is_not_landed)
{
    const uintptr_t base = (uintptr_t)1 << 40;
    const struct arch_guard up = {.sp = base};
    const struct arch_guard down = {.sp = 0};
    const uintptr_t outside[] = {base + 8, base - ARCH_GUARD_STACK_BYTES - 8, 0, UINTPTR_MAX};
    struct arch_regs regs = {.pc = 0x1000};
    struct arch_context made = {{0}};
    struct arch_context before;

    for (size_t i = 0; i < JW_COUNT_OF(outside); i++) {
        regs.sp = outside[i];
        arch_regs_write(&made, &regs);
        before = made;
        cr_expect(!arch_guard_land(made.bytes, &up), "%zu", i);
        cr_expect(!arch_guard_land(made.bytes, &down), "%zu", i);
        cr_expect(memcmp(&made, &before, sizeof made) == 0, "%zu", i);
    }
    regs.sp = base - ARCH_GUARD_STACK_BYTES;
    arch_regs_write(&made, &regs);
    cr_assert(arch_guard_land(made.bytes, &up));
    arch_regs_read(made.bytes, &regs);
    cr_assert(regs.sp == base && regs.pc != 0x1000);
}

Test(arch_guard, the_loads_of_safefetch_are_known_and_getters_are_not)
{
    cr_expect(arch_is_safe_fetch((uintptr_t)fetch32));
    cr_expect(arch_is_safe_fetch((uintptr_t)fetch64));
    cr_expect(!arch_is_safe_fetch((uintptr_t)getter32));
    cr_expect(!arch_is_safe_fetch((uintptr_t)getter64));
    cr_expect(!arch_is_safe_fetch((uintptr_t)guard_wreck));
}

Test(arch_guard, safefetch_is_told_from_code_at_the_end_of_a_mapping_without_reading_on)
{
    unsigned char *hole = map_before_hole(1);
    const size_t step = arch_facts.instruction_min_bytes;

    for (size_t length = step; length < 8; length += step) {
        memcpy(hole - length, fetch64, length);
        /* Cut: what would decide lies in the hole, and a mismatch must come before. */
        hole[-1] ^= 0x11;
        cr_expect(!arch_is_safe_fetch((uintptr_t)hole - length));
    }
    cr_assert(faults_seen == 0);
}
