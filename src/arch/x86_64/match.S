/*
 * x86-64: compares memory that may fault with words that are known.
 *
 *     size_t safe_match_words(const struct arch_word *words, size_t count);
 *
 * rdi: pairs of address and value, rsi: how many. Out: rax how many match before the first that does not;
 * 0 when a load faulted (arch_load_landing). Clobbers rcx, rdx, rsi, rdi, r8, flags. Only the load that carries the
 * label is contained: bad `words` are a defect and crash.
 */
        .section jw_signal_text, "ax", @progbits

        .globl  safe_match_words
        .hidden safe_match_words
        .type   safe_match_words, @function
        .globl  arch_match_load
        .hidden arch_match_load
        .balign 16
safe_match_words:
        .cfi_startproc
        movq    %rdi, %r8
        shlq    $4, %rsi
        addq    %rdi, %rsi
        cmpq    %rsi, %rdi
        je      .Ldone
        .balign 16
.Lnext:
        movq    (%rdi), %rcx
        movq    8(%rdi), %rdx
arch_match_load:
        cmpq    %rdx, (%rcx)
        jne     .Ldone
        addq    $16, %rdi
        cmpq    %rsi, %rdi
        jne     .Lnext
.Ldone:
        subq    %r8, %rdi
        movq    %rdi, %rax
        shrq    $4, %rax
        ret
        .cfi_endproc
        .size   safe_match_words, . - safe_match_words

        .section .note.GNU-stack, "", @progbits
