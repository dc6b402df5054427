/*
 * x86-64: loads whose faults are contained; one body for four widths, and one that acquires (as any load does), and where they land.
 *
 *     struct arch_loaded arch_load_u8(uintptr_t addr);    and _u16, _u32, _u64, _u64_acquire
 *
 * rdi: address. Out: rax value, rdx 1 when read, both 0 when not. Clobbers nothing else and has no
 * frame, so the fault handler need only move the pc. The load is the first instruction: its address
 * is the function's.
 */
        .section jw_signal_text, "ax", @progbits

        .macro  contained_load name, instruction:vararg
        .globl  \name
        .hidden \name
        .type   \name, @function
        .balign 16
\name:
        .cfi_startproc
        \instruction
        movl    $1, %edx
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        contained_load arch_load_u8, movzbl (%rdi), %eax
        contained_load arch_load_u16, movzwl (%rdi), %eax
        contained_load arch_load_u32, movl (%rdi), %eax
        contained_load arch_load_u64, movq (%rdi), %rax
        contained_load arch_load_u64_acquire, movq (%rdi), %rax

        .globl  arch_load_landing
        .hidden arch_load_landing
        .type   arch_load_landing, @function
arch_load_landing:
        .cfi_startproc
        xorl    %eax, %eax
        xorl    %edx, %edx
        ret
        .cfi_endproc
        .size   arch_load_landing, . - arch_load_landing

        .section .note.GNU-stack, "", @progbits
