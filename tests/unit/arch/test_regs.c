/* Registers of an interrupted thread, and copies of its context. */
#include <criterion/criterion.h>

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "arch/arch.h"

TestSuite(arch_regs, .timeout = 1800);

/* regs_trap puts known values into the registers and stops at regs_trap_pc. */
/* clang-format off */
#if defined(__x86_64__)
#define TRAP_BYTES 0 /* the trap is reported behind itself */
__asm__(".pushsection .text\n"
"regs_trap: push %rbp\n push %r13\n movq %rsp, regs_sp(%rip)\n movabsq $0x1122334455667788, %r13\n movl $0x5151, %ebp\n movl $0x4142, %esi\n"
" int3\nregs_trap_pc: pop %r13\n pop %rbp\n ret\n"
".popsection\n");
#else
#define TRAP_BYTES 4 /* the trap is reported at itself */
__asm__(".pushsection .text\n .balign 8\n"
"regs_trap: stp x29, x30, [sp, #-32]!\n str x22, [sp, #16]\n adrp x9, regs_sp\n add x9, x9, :lo12:regs_sp\n"
" mov x10, sp\n str x10, [x9]\n movz x22, #0x7788\n movk x22, #0x5566, lsl #16\n movk x22, #0x3344, lsl #32\n"
" movk x22, #0x1122, lsl #48\n movz x1, #0x4142\n mov x29, #0x5151\n mov x30, #0x6160\n"
"regs_trap_pc: brk #0\n ldr x22, [sp, #16]\n ldp x29, x30, [sp], #32\n ret\n"
".popsection\n");
#endif
/* clang-format on */

void regs_trap(void);
extern const char regs_trap_pc[] __attribute__((visibility("hidden")));
uintptr_t regs_sp;

static struct arch_regs seen;
static struct arch_regs seen_in_copy;
static struct arch_regs seen_in_mended;
static uintptr_t seen_bcp, seen_receiver;
static bool is_original_same;

static const struct arch_regs mended = {.pc = 0x10, .sp = 0x20, .fp = 0x30, .link = 0x40};

static void on_trap(int signo, siginfo_t *info, void *ucontext)
{
    static unsigned char before[ARCH_CONTEXT_BYTES];
    struct arch_context copy;
    const size_t kept_bytes = offsetof(ucontext_t, uc_mcontext) + 160;

    (void)signo;
    (void)info;
    memcpy(before, ucontext, kept_bytes);
    arch_regs_read(ucontext, &seen);
    seen_bcp = arch_interpreter_bcp(ucontext);
    seen_receiver = arch_java_receiver(ucontext);
    arch_context_copy(&copy, ucontext);
    arch_regs_read(copy.bytes, &seen_in_copy);
    arch_regs_write(&copy, &mended);
    arch_regs_read(copy.bytes, &seen_in_mended);
    is_original_same = memcmp(before, ucontext, kept_bytes) == 0;
#if defined(__aarch64__)
    ((ucontext_t *)ucontext)->uc_mcontext.pc += TRAP_BYTES;
#endif
}

static void stop_once(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    sigaction(SIGTRAP, &action, NULL);
    regs_trap();
}

Test(arch_regs, the_registers_of_the_interrupted_code_are_read)
{
    stop_once();
    cr_assert(seen.pc == (uintptr_t)regs_trap_pc);
    cr_assert(seen.sp == regs_sp);
    cr_assert(seen.fp == 0x5151);
    cr_assert(seen.link == (arch_facts.has_link_register ? 0x6160 : 0));
    cr_assert(seen_bcp == 0x1122334455667788);
    cr_assert(seen_receiver == 0x4142);
}

Test(arch_regs, m05_a_copy_says_the_same_until_it_is_mended_and_the_original_never_changes)
{
    stop_once();
    cr_assert(memcmp(&seen, &seen_in_copy, sizeof seen) == 0);
    cr_assert(seen_in_mended.pc == mended.pc && seen_in_mended.sp == mended.sp);
    cr_assert(seen_in_mended.fp == mended.fp);
    cr_assert(seen_in_mended.link == (arch_facts.has_link_register ? mended.link : 0));
    cr_assert(is_original_same);
}

Test(arch_regs, a_plain_code_address_has_no_signature_to_strip)
{
    cr_assert(arch_code_address(0) == 0);
    cr_assert(arch_code_address((uintptr_t)regs_trap_pc) == (uintptr_t)regs_trap_pc);
}

#if defined(__x86_64__)
Test(arch_regs, a_copy_does_not_point_to_the_floating_point_state)
{
    static ucontext_t context;
    static struct arch_context copy;
    fpregset_t kept;

    cr_assert(getcontext(&context) == 0 && context.uc_mcontext.fpregs != NULL);
    arch_context_copy(&copy, &context);
    memcpy(&kept, copy.bytes + offsetof(ucontext_t, uc_mcontext.fpregs), sizeof kept);
    cr_assert(kept == NULL);
}
#endif
