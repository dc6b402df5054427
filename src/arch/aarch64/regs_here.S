/*
 * aarch64: registers of the calling function, as they are when this returns to it.
 *
 *     void arch_regs_here(struct arch_regs *out);
 *
 * x0: out (pc, sp, fp, link). Clobbers x9 and has no frame.
 */
        .section jw_signal_text, "ax", %progbits

        .globl  arch_regs_here
        .hidden arch_regs_here
        .type   arch_regs_here, %function
        .balign 16
arch_regs_here:
        .cfi_startproc
        mov     x9, sp
        stp     x30, x9, [x0]
        stp     x29, x30, [x0, #16]
        ret
        .cfi_endproc
        .size   arch_regs_here, . - arch_regs_here

        .section .note.GNU-stack, "", %progbits
