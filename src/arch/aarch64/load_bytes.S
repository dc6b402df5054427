/*
 * aarch64: copies memory that may fault.
 *
 *     bool safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes);
 *
 * x0: to, x1: address, x2: length. Out: w0 1, or 0 when a load faulted (arch_load_landing) or the length
 * is beyond SAFE_LOAD_MAX_BYTES. Clobbers x0 to x5, flags. Only the loads, which carry the labels
 * arch_load_bytes_*, are contained: a bad `to` is a defect and crashes.
 */
        .section jw_signal_text, "ax", %progbits

        .macro  label name
        .globl  \name
        .hidden \name
\name:
        .endm

        .globl  safe_load_bytes
        .hidden safe_load_bytes
        .type   safe_load_bytes, %function
        .balign 16
safe_load_bytes:
        .cfi_startproc
        mov     x3, #65536
        cmp     x2, x3
        b.hi    .Lrefuse
        lsr     x3, x2, #4
        cbz     x3, .Leight
.Lsixteen:
label arch_load_bytes_16
        ldp     x4, x5, [x1]
        stp     x4, x5, [x0], #16
        add     x1, x1, #16
        subs    x3, x3, #1
        b.ne    .Lsixteen
.Leight:
        tbz     x2, #3, .Lfour
label arch_load_bytes_8
        ldr     x4, [x1]
        str     x4, [x0], #8
        add     x1, x1, #8
.Lfour:
        tbz     x2, #2, .Ltwo
label arch_load_bytes_4
        ldr     w4, [x1]
        str     w4, [x0], #4
        add     x1, x1, #4
.Ltwo:
        tbz     x2, #1, .Lone
label arch_load_bytes_2
        ldrh    w4, [x1]
        strh    w4, [x0], #2
        add     x1, x1, #2
.Lone:
        tbz     x2, #0, .Ldone
label arch_load_bytes_1
        ldrb    w4, [x1]
        strb    w4, [x0]
.Ldone:
        mov     w0, #1
        ret
.Lrefuse:
        mov     w0, #0
        ret
        .cfi_endproc
        .size   safe_load_bytes, . - safe_load_bytes

        .section .note.GNU-stack, "", %progbits
