/* What registers.h promises, on x86-64. */
#ifdef __x86_64__
#include "registers.h"

/*
 * general: rax rbx rcx rdx rsi rbp r8..r15, 14 of them; rdi is the counter's.
 * rdi: in, rsi: out, rdx: spins. The red zone is not used: nothing lies below the stack pointer.
 */
__asm__(".text\n"
        ".globl registers_hold\n"
        ".type registers_hold, @function\n"
        "registers_hold:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    push %rsi\n"
        "    push %rdx\n"
        "    movups 128(%rdi), %xmm0\n"
        "    movups 144(%rdi), %xmm1\n"
        "    movups 160(%rdi), %xmm2\n"
        "    movups 176(%rdi), %xmm3\n"
        "    movups 192(%rdi), %xmm4\n"
        "    movups 208(%rdi), %xmm5\n"
        "    movups 224(%rdi), %xmm6\n"
        "    movups 240(%rdi), %xmm7\n"
        "    movups 256(%rdi), %xmm8\n"
        "    movups 272(%rdi), %xmm9\n"
        "    movups 288(%rdi), %xmm10\n"
        "    movups 304(%rdi), %xmm11\n"
        "    movups 320(%rdi), %xmm12\n"
        "    movups 336(%rdi), %xmm13\n"
        "    movups 352(%rdi), %xmm14\n"
        "    movups 368(%rdi), %xmm15\n"
        "    mov 0(%rdi), %rax\n"
        "    mov 8(%rdi), %rbx\n"
        "    mov 16(%rdi), %rcx\n"
        "    mov 24(%rdi), %rdx\n"
        "    mov 32(%rdi), %rsi\n"
        "    mov 40(%rdi), %rbp\n"
        "    mov 48(%rdi), %r8\n"
        "    mov 56(%rdi), %r9\n"
        "    mov 64(%rdi), %r10\n"
        "    mov 72(%rdi), %r11\n"
        "    mov 80(%rdi), %r12\n"
        "    mov 88(%rdi), %r13\n"
        "    mov 96(%rdi), %r14\n"
        "    mov 104(%rdi), %r15\n"
        "    pop %rdi\n"
        "1:  dec %rdi\n"
        "    jnz 1b\n"
        "    pop %rdi\n"
        "    mov %rax, 0(%rdi)\n"
        "    mov %rbx, 8(%rdi)\n"
        "    mov %rcx, 16(%rdi)\n"
        "    mov %rdx, 24(%rdi)\n"
        "    mov %rsi, 32(%rdi)\n"
        "    mov %rbp, 40(%rdi)\n"
        "    mov %r8, 48(%rdi)\n"
        "    mov %r9, 56(%rdi)\n"
        "    mov %r10, 64(%rdi)\n"
        "    mov %r11, 72(%rdi)\n"
        "    mov %r12, 80(%rdi)\n"
        "    mov %r13, 88(%rdi)\n"
        "    mov %r14, 96(%rdi)\n"
        "    mov %r15, 104(%rdi)\n"
        "    movups %xmm0, 128(%rdi)\n"
        "    movups %xmm1, 144(%rdi)\n"
        "    movups %xmm2, 160(%rdi)\n"
        "    movups %xmm3, 176(%rdi)\n"
        "    movups %xmm4, 192(%rdi)\n"
        "    movups %xmm5, 208(%rdi)\n"
        "    movups %xmm6, 224(%rdi)\n"
        "    movups %xmm7, 240(%rdi)\n"
        "    movups %xmm8, 256(%rdi)\n"
        "    movups %xmm9, 272(%rdi)\n"
        "    movups %xmm10, 288(%rdi)\n"
        "    movups %xmm11, 304(%rdi)\n"
        "    movups %xmm12, 320(%rdi)\n"
        "    movups %xmm13, 336(%rdi)\n"
        "    movups %xmm14, 352(%rdi)\n"
        "    movups %xmm15, 368(%rdi)\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size registers_hold, . - registers_hold\n");

/* rdi: top of the other stack, rsi: function, rdx: argument */
__asm__(".text\n"
        ".globl registers_call_on\n"
        ".type registers_call_on, @function\n"
        "registers_call_on:\n"
        "    push %rbx\n"
        "    mov %rsp, %rbx\n"
        "    mov %rdi, %rsp\n"
        "    and $-16, %rsp\n"
        "    mov %rdx, %rdi\n"
        "    call *%rsi\n"
        "    mov %rbx, %rsp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size registers_call_on, . - registers_call_on\n");

/* rdi: frame pointer, rsi: function, rdx: argument */
__asm__(".text\n"
        ".globl registers_call_with\n"
        ".type registers_call_with, @function\n"
        "registers_call_with:\n"
        "    push %rbp\n"
        "    mov %rdi, %rbp\n"
        "    mov %rdx, %rdi\n"
        "    call *%rsi\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size registers_call_with, . - registers_call_with\n");

/* rdi: function, rsi: argument, rdx: spins. The order of the instructions is all that differs. */
__asm__(".text\n"
        ".globl registers_framed, registers_framed_end\n"
        "registers_framed:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rbx\n"
        "    push %rdx\n"
        "    mov %rdx, %rbx\n"
        "1:  dec %rbx\n"
        "    jnz 1b\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    call *%rax\n"
        "    mov (%rsp), %rbx\n"
        "2:  dec %rbx\n"
        "    jnz 2b\n"
        "    pop %rdx\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "registers_framed_end:\n"
        ".globl registers_frameless, registers_frameless_end\n"
        "registers_frameless:\n"
        "    push %rbx\n"
        "    sub $1024, %rsp\n"
        "    mov %rdx, (%rsp)\n"
        "    mov %rdx, %rbx\n"
        "1:  dec %rbx\n"
        "    jnz 1b\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    call *%rax\n"
        "    mov (%rsp), %rbx\n"
        "2:  dec %rbx\n"
        "    jnz 2b\n"
        "    add $1024, %rsp\n"
        "    pop %rbx\n"
        "    ret\n"
        "registers_frameless_end:\n"
        ".globl registers_as_data, registers_as_data_end\n"
        "registers_as_data:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %rdx\n"
        "    mov %rdx, %rbx\n"
        "    lea 24(%rsp,%rdx), %rbp\n"
        "1:  dec %rbx\n"
        "    jnz 1b\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    imul $0x1e3779b1, %rbp, %rbp\n"
        "    call *%rax\n"
        "    mov (%rsp), %rbx\n"
        "2:  inc %rbp\n"
        "    dec %rbx\n"
        "    jnz 2b\n"
        "    pop %rdx\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "registers_as_data_end:\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

extern const char registers_framed[], registers_framed_end[];
extern const char registers_frameless[], registers_frameless_end[];
extern const char registers_as_data[], registers_as_data_end[];

int registers_are_here(void)
{
    return 1;
}

int registers_frame_pointer(void)
{
    return 5;
}

int registers_held(void)
{
    return 14;
}

struct registers_code registers_code_of(enum registers_shape shape)
{
    switch (shape) {
    case REGISTERS_FRAMED:
        return (struct registers_code){registers_framed,
                                       (size_t)(registers_framed_end - registers_framed)};
    case REGISTERS_FRAMELESS:
        return (struct registers_code){registers_frameless,
                                       (size_t)(registers_frameless_end - registers_frameless)};
    case REGISTERS_AS_DATA:
    case REGISTERS_SHAPES:
        break;
    }
    return (struct registers_code){registers_as_data,
                                   (size_t)(registers_as_data_end - registers_as_data)};
}
#else
typedef int registers_of_another_machine;
#endif
