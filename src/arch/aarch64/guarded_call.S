/*
 * aarch64: a call that the fault handler can end.
 *
 *     bool arch_guarded_call(struct arch_guard *guard, arch_guarded_function *function,
 *                            void *first, intptr_t second, void *third);
 *
 * x0 to x4. Out: w0 1 when the function returned, 0 when arch_guard_land ended it: that resumes at
 * arch_guard_landing with sp as stored in guard->sp, all other registers being whatever the function
 * left in them. Keeps what the ABI says a call keeps (x19 to x29, d8 to d15); guard->sp is 0 afterwards.
 */
        .section jw_signal_text, "ax", %progbits

        .globl  arch_guarded_call
        .hidden arch_guarded_call
        .type   arch_guarded_call, %function
        .balign 16
arch_guarded_call:
        .cfi_startproc
        stp     x29, x30, [sp, #-176]!
        .cfi_def_cfa_offset 176
        .cfi_offset 29, -176
        .cfi_offset 30, -168
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        .cfi_offset 19, -160
        .cfi_offset 20, -152
        stp     x21, x22, [sp, #32]
        .cfi_offset 21, -144
        .cfi_offset 22, -136
        stp     x23, x24, [sp, #48]
        .cfi_offset 23, -128
        .cfi_offset 24, -120
        stp     x25, x26, [sp, #64]
        .cfi_offset 25, -112
        .cfi_offset 26, -104
        stp     x27, x28, [sp, #80]
        .cfi_offset 27, -96
        .cfi_offset 28, -88
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        str     x0, [sp, #160]
        mov     x9, sp
        str     x9, [x0]
        mov     x9, x1
        mov     x0, x2
        mov     x1, x3
        mov     x2, x4
        blr     x9
        mov     w0, #1
.Lleave:
        ldr     x9, [sp, #160]
        str     xzr, [x9]
        ldp     d14, d15, [sp, #144]
        ldp     d12, d13, [sp, #128]
        ldp     d10, d11, [sp, #112]
        ldp     d8, d9, [sp, #96]
        ldp     x27, x28, [sp, #80]
        ldp     x25, x26, [sp, #64]
        ldp     x23, x24, [sp, #48]
        ldp     x21, x22, [sp, #32]
        ldp     x19, x20, [sp, #16]
        .cfi_remember_state
        ldp     x29, x30, [sp], #176
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa_offset 0
        ret
        .cfi_restore_state
        .globl  arch_guard_landing
        .hidden arch_guard_landing
arch_guard_landing:
        mov     w0, #0
        b       .Lleave
        .cfi_endproc
        .size   arch_guarded_call, . - arch_guarded_call

        .section .note.GNU-stack, "", %progbits
