/*
 * aarch64: compares memory that may fault with words that are known.
 *
 *     size_t safe_match_words(const struct arch_word *words, size_t count);
 *
 * x0: pairs of address and value, x1: how many. Out: x0 how many match before the first that does not; 0
 * when a load faulted (arch_load_landing). Clobbers x2 to x5, flags. Only the load that carries the label
 * is contained: bad `words` are a defect and crash.
 */
        .section jw_signal_text, "ax", %progbits

        .globl  safe_match_words
        .hidden safe_match_words
        .type   safe_match_words, %function
        .globl  arch_match_load
        .hidden arch_match_load
        .balign 16
safe_match_words:
        .cfi_startproc
        mov     x2, x0
        mov     x0, #0
        b       .Lmore
.Lnext:
        ldp     x3, x4, [x2], #16
arch_match_load:
        ldr     x5, [x3]
        cmp     x5, x4
        b.ne    .Ldone
        add     x0, x0, #1
.Lmore:
        cmp     x0, x1
        b.lo    .Lnext
.Ldone:
        ret
        .cfi_endproc
        .size   safe_match_words, . - safe_match_words

        .section .note.GNU-stack, "", %progbits
