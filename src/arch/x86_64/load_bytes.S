/*
 * x86-64: copies memory that may fault.
 *
 *     bool safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes);
 *
 * rdi: to, rsi: address, rdx: length. Out: eax 1, or 0 when a load faulted (arch_load_landing) or the
 * length is beyond SAFE_LOAD_MAX_BYTES. Clobbers rax, rcx, rdx, rsi, rdi, xmm0, flags. Only the loads, which
 * carry the labels arch_load_bytes_*, are contained: a bad `to` is a defect and crashes.
 */
        .section jw_signal_text, "ax", @progbits

        .macro  label name
        .globl  \name
        .hidden \name
\name:
        .endm

        .globl  safe_load_bytes
        .hidden safe_load_bytes
        .type   safe_load_bytes, @function
        .balign 16
safe_load_bytes:
        .cfi_startproc
        cmpq    $65536, %rdx
        ja      .Lrefuse
        movl    %edx, %ecx
        shrl    $4, %ecx
        jz      .Leight
.Lsixteen:
label arch_load_bytes_16
        movdqu  (%rsi), %xmm0
        movdqu  %xmm0, (%rdi)
        addq    $16, %rsi
        addq    $16, %rdi
        decl    %ecx
        jnz     .Lsixteen
.Leight:
        testb   $8, %dl
        jz      .Lfour
label arch_load_bytes_8
        movq    (%rsi), %rax
        movq    %rax, (%rdi)
        addq    $8, %rsi
        addq    $8, %rdi
.Lfour:
        testb   $4, %dl
        jz      .Ltwo
label arch_load_bytes_4
        movl    (%rsi), %eax
        movl    %eax, (%rdi)
        addq    $4, %rsi
        addq    $4, %rdi
.Ltwo:
        testb   $2, %dl
        jz      .Lone
label arch_load_bytes_2
        movzwl  (%rsi), %eax
        movw    %ax, (%rdi)
        addq    $2, %rsi
        addq    $2, %rdi
.Lone:
        testb   $1, %dl
        jz      .Ldone
label arch_load_bytes_1
        movzbl  (%rsi), %eax
        movb    %al, (%rdi)
.Ldone:
        movl    $1, %eax
        ret
.Lrefuse:
        xorl    %eax, %eax
        ret
        .cfi_endproc
        .size   safe_load_bytes, . - safe_load_bytes

        .section .note.GNU-stack, "", @progbits
