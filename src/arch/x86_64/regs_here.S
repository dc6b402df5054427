/*
 * x86-64: registers of the calling function, as they are when this returns to it.
 *
 *     void arch_regs_here(struct arch_regs *out);
 *
 * rdi: out (pc, sp, fp, link). Clobbers rax and has no frame.
 */
        .section jw_signal_text, "ax", @progbits

        .globl  arch_regs_here
        .hidden arch_regs_here
        .type   arch_regs_here, @function
        .balign 16
arch_regs_here:
        .cfi_startproc
        movq    (%rsp), %rax
        movq    %rax, (%rdi)
        leaq    8(%rsp), %rax
        movq    %rax, 8(%rdi)
        movq    %rbp, 16(%rdi)
        movq    $0, 24(%rdi)
        ret
        .cfi_endproc
        .size   arch_regs_here, . - arch_regs_here

        .section .note.GNU-stack, "", @progbits
