/* What registers.h promises, on aarch64, and on machines of which it knows nothing. */
#ifndef __x86_64__
#include "registers.h"

#ifdef __aarch64__
/*
 * general: x4..x15 x19 x20 x28 x29, 16 of them; x2 is the counter's. vector: v0..v15.
 * x0: in, x1: out, x2: spins.
 */
__asm__(".text\n"
        ".globl registers_hold\n"
        ".type registers_hold, %function\n"
        "registers_hold:\n"
        "    stp x29, x30, [sp, #-112]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x28, x1, [sp, #32]\n"
        "    stp d8, d9, [sp, #48]\n"
        "    stp d10, d11, [sp, #64]\n"
        "    stp d12, d13, [sp, #80]\n"
        "    stp d14, d15, [sp, #96]\n"
        "    add x3, x0, #128\n"
        "    ld1 {v0.2d, v1.2d, v2.2d, v3.2d}, [x3], #64\n"
        "    ld1 {v4.2d, v5.2d, v6.2d, v7.2d}, [x3], #64\n"
        "    ld1 {v8.2d, v9.2d, v10.2d, v11.2d}, [x3], #64\n"
        "    ld1 {v12.2d, v13.2d, v14.2d, v15.2d}, [x3]\n"
        "    ldp x4, x5, [x0]\n"
        "    ldp x6, x7, [x0, #16]\n"
        "    ldp x8, x9, [x0, #32]\n"
        "    ldp x10, x11, [x0, #48]\n"
        "    ldp x12, x13, [x0, #64]\n"
        "    ldp x14, x15, [x0, #80]\n"
        "    ldp x19, x20, [x0, #96]\n"
        "    ldp x28, x29, [x0, #112]\n"
        "1:  subs x2, x2, #1\n"
        "    b.ne 1b\n"
        "    ldr x0, [sp, #40]\n"
        "    stp x4, x5, [x0]\n"
        "    stp x6, x7, [x0, #16]\n"
        "    stp x8, x9, [x0, #32]\n"
        "    stp x10, x11, [x0, #48]\n"
        "    stp x12, x13, [x0, #64]\n"
        "    stp x14, x15, [x0, #80]\n"
        "    stp x19, x20, [x0, #96]\n"
        "    stp x28, x29, [x0, #112]\n"
        "    add x3, x0, #128\n"
        "    st1 {v0.2d, v1.2d, v2.2d, v3.2d}, [x3], #64\n"
        "    st1 {v4.2d, v5.2d, v6.2d, v7.2d}, [x3], #64\n"
        "    st1 {v8.2d, v9.2d, v10.2d, v11.2d}, [x3], #64\n"
        "    st1 {v12.2d, v13.2d, v14.2d, v15.2d}, [x3]\n"
        "    ldp d14, d15, [sp, #96]\n"
        "    ldp d12, d13, [sp, #80]\n"
        "    ldp d10, d11, [sp, #64]\n"
        "    ldp d8, d9, [sp, #48]\n"
        "    ldr x28, [sp, #32]\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x29, x30, [sp], #112\n"
        "    ret\n"
        ".size registers_hold, . - registers_hold\n");

/* x0: top of the other stack, x1: function, x2: argument */
__asm__(".text\n"
        ".globl registers_call_on\n"
        ".type registers_call_on, %function\n"
        "registers_call_on:\n"
        "    stp x19, x30, [sp, #-16]!\n"
        "    mov x19, sp\n"
        "    and x3, x0, #-16\n"
        "    mov sp, x3\n"
        "    mov x0, x2\n"
        "    blr x1\n"
        "    mov sp, x19\n"
        "    ldp x19, x30, [sp], #16\n"
        "    ret\n"
        ".size registers_call_on, . - registers_call_on\n"
        ".globl registers_call_with\n"
        ".type registers_call_with, %function\n"
        "registers_call_with:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, x0\n"
        "    mov x0, x2\n"
        "    blr x1\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n"
        ".size registers_call_with, . - registers_call_with\n");

/* x0: function, x1: argument, x2: spins */
__asm__(".text\n"
        ".globl registers_framed, registers_framed_end\n"
        "registers_framed:\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    mov x29, sp\n"
        "    str x2, [sp, #16]\n"
        "    mov x3, x0\n"
        "    mov x0, x1\n"
        "1:  subs x2, x2, #1\n"
        "    b.ne 1b\n"
        "    blr x3\n"
        "    ldr x2, [sp, #16]\n"
        "2:  subs x2, x2, #1\n"
        "    b.ne 2b\n"
        "    ldp x29, x30, [sp], #32\n"
        "    ret\n"
        "registers_framed_end:\n"
        ".globl registers_frameless, registers_frameless_end\n"
        "registers_frameless:\n"
        "    sub sp, sp, #1024\n"
        "    stp x2, x30, [sp, #256]\n"
        "    mov x3, x0\n"
        "    mov x0, x1\n"
        "1:  subs x2, x2, #1\n"
        "    b.ne 1b\n"
        "    blr x3\n"
        "    ldp x2, x30, [sp, #256]\n"
        "2:  subs x2, x2, #1\n"
        "    b.ne 2b\n"
        "    add sp, sp, #1024\n"
        "    ret\n"
        "registers_frameless_end:\n"
        ".globl registers_as_data, registers_as_data_end\n"
        "registers_as_data:\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    str x2, [sp, #16]\n"
        "    add x29, sp, x2\n"
        "    mov x3, x0\n"
        "    mov x0, x1\n"
        "1:  subs x2, x2, #1\n"
        "    b.ne 1b\n"
        "    mul x29, x29, x29\n"
        "    blr x3\n"
        "    ldr x2, [sp, #16]\n"
        "2:  add x29, x29, #1\n"
        "    subs x2, x2, #1\n"
        "    b.ne 2b\n"
        "    ldp x29, x30, [sp], #32\n"
        "    ret\n"
        "registers_as_data_end:\n"
        ".section .note.GNU-stack,\"\",%progbits\n"
        ".text\n");

extern const char registers_framed[], registers_framed_end[];
extern const char registers_frameless[], registers_frameless_end[];
extern const char registers_as_data[], registers_as_data_end[];

int registers_are_here(void)
{
    return 1;
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
int registers_are_here(void)
{
    return 0;
}

void registers_hold(const struct registers *in, struct registers *out, uint64_t spins)
{
    (void)spins;
    *out = *in;
}

uint64_t registers_call_on(void *stack_top, uint64_t (*function)(void *), void *argument)
{
    (void)stack_top;
    return function(argument);
}

uint64_t registers_call_with(uint64_t frame_pointer, uint64_t (*function)(void *), void *argument)
{
    (void)frame_pointer;
    return function(argument);
}

struct registers_code registers_code_of(enum registers_shape shape)
{
    (void)shape;
    return (struct registers_code){0};
}
#endif

int registers_frame_pointer(void)
{
    return 15;
}

int registers_held(void)
{
    return 16;
}
#else
typedef int registers_of_another_machine;
#endif
