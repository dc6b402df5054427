/*
 * x86-64: a call that the fault handler can end.
 *
 *     bool arch_guarded_call(struct arch_guard *guard, arch_guarded_function *function,
 *                            void *first, intptr_t second, void *third);
 *
 * rdi, rsi, rdx, rcx, r8. Out: eax 1 when the function returned, 0 when arch_guard_land ended it: that
 * resumes at arch_guard_landing with rsp as stored in guard->sp, all other registers being whatever
 * the function left in them. Keeps what the ABI says a call keeps; guard->sp is 0 afterwards.
 */
        .section jw_signal_text, "ax", @progbits

        .globl  arch_guarded_call
        .hidden arch_guarded_call
        .type   arch_guarded_call, @function
        .balign 16
arch_guarded_call:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pushq   %rbx
        .cfi_def_cfa_offset 24
        .cfi_offset %rbx, -24
        pushq   %r12
        .cfi_def_cfa_offset 32
        .cfi_offset %r12, -32
        pushq   %r13
        .cfi_def_cfa_offset 40
        .cfi_offset %r13, -40
        pushq   %r14
        .cfi_def_cfa_offset 48
        .cfi_offset %r14, -48
        pushq   %r15
        .cfi_def_cfa_offset 56
        .cfi_offset %r15, -56
        pushq   %rdi
        .cfi_def_cfa_offset 64
        movq    %rsp, (%rdi)
        movq    %rsi, %rax
        movq    %rdx, %rdi
        movq    %rcx, %rsi
        movq    %r8, %rdx
        call    *%rax
        movl    $1, %eax
.Lleave:
        popq    %rdi
        .cfi_def_cfa_offset 56
        movq    $0, (%rdi)
        popq    %r15
        .cfi_def_cfa_offset 48
        popq    %r14
        .cfi_def_cfa_offset 40
        popq    %r13
        .cfi_def_cfa_offset 32
        popq    %r12
        .cfi_def_cfa_offset 24
        popq    %rbx
        .cfi_def_cfa_offset 16
        popq    %rbp
        .cfi_def_cfa_offset 8
        ret
        .globl  arch_guard_landing
        .hidden arch_guard_landing
arch_guard_landing:
        .cfi_def_cfa_offset 64
        cld
        xorl    %eax, %eax
        jmp     .Lleave
        .cfi_endproc
        .size   arch_guarded_call, . - arch_guarded_call

        .section .note.GNU-stack, "", @progbits
