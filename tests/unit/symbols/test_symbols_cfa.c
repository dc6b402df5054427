/* Call frame instructions, one program at a time: the rules they make, and what is refused. */
#include <criterion/criterion.h>

#include "made_elf.h"
#include "rows_check.h"

#define X86_CIE         0x0c, 7, 8, 0x90, 1 /* CFA rsp+8, return address at CFA-8 */
#define ADVANCE(amount) (0x40 | (amount))

static struct made_elf made;
static struct symbols_rows *rows;
static struct symbols_rule rule;
static uint8_t stub_push_byte;

static void free_rows(void)
{
    symbols_rows_free(rows);
}

TestSuite(symbols_cfa, .timeout = 1800, .fini = free_rows);

static void begin_x86(void)
{
    static const unsigned char program[] = {X86_CIE};

    made_begin(&made);
    made_cie(&made, "zR", 16, -8, 1, program, sizeof program);
}

static void build(uint16_t machine)
{
    struct jw_error err = {0};

    cr_assert(made_finish(&made, machine));
    symbols_rows_free(rows);
    rows = symbols_rows_build(&made.elf, MADE_TEXT_VADDR, MADE_TEXT_BYTES, &err);
    cr_assert(rows != NULL, "%s", err.message);
}

static enum symbols_rule_kind at(uint64_t text_offset)
{
    return symbols_rule_unpack(symbols_rows_find(rows, text_offset), &rule, &stub_push_byte);
}

static void expect(uint64_t text_offset, enum symbols_base base, int cfa_offset,
                   enum symbols_place fp_place, int fp_offset)
{
    cr_assert_eq(at(text_offset), SYMBOLS_RULE_PLAIN, "at %d", (int)text_offset);
    cr_assert_eq(rule.cfa_base, base, "at %d", (int)text_offset);
    cr_assert_eq(rule.cfa_offset_bytes, cfa_offset, "at %d: %d", (int)text_offset,
                 rule.cfa_offset_bytes);
    cr_assert_eq(rule.fp_place, fp_place, "at %d", (int)text_offset);
    cr_assert_eq(rule.fp_offset_bytes, fp_offset, "at %d", (int)text_offset);
}

Test(symbols_cfa, a_function_with_a_frame_pointer_has_four_rules)
{
    static const unsigned char program[] = {ADVANCE(1), 0x0e, 16,          0x86, 2, ADVANCE(3),
                                            0x0d,       6,    ADVANCE(20), 0x0c, 7, 8};

    begin_x86();
    made_fde(&made, 0x100, 32, program, sizeof program);
    build(EM_X86_64);
    cr_assert_eq(at(0xff), SYMBOLS_RULE_GAP);
    expect(0x100, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_AT_CFA);
    cr_assert_eq(rule.return_offset_bytes, -8);
    expect(0x101, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0x103, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0x104, SYMBOLS_BASE_FP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0x117, SYMBOLS_BASE_FP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0x118, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0x11f, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_AT_CFA, -16);
    cr_assert_eq(at(0x120), SYMBOLS_RULE_GAP);
    cr_assert_eq(at(MADE_TEXT_BYTES), SYMBOLS_RULE_GAP);
    cr_assert_eq(at(UINT64_MAX), SYMBOLS_RULE_GAP);
}

Test(symbols_cfa, a_function_of_64_kb_has_its_rows_in_long_cells)
{
    static const unsigned char program[] = {ADVANCE(1), 0x0e, 16, 0x86, 2,    0x04, 0xf0, 0xff, 0,
                                            0,          0x0e, 32, 0x03, 0x0e, 0,    0x0e, 8};

    begin_x86();
    made_fde(&made, 0, MADE_TEXT_BYTES, program, sizeof program);
    build(EM_X86_64);
    cr_assert_eq(rows->frames_refused, 0);
    cr_assert(rows_wrong(rows) == NULL, "%s", rows_wrong(rows));
    cr_assert((rows->functions[1].value & SYMBOLS_FUNCTION_IS_LARGE) != 0);
    expect(0, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_SAME, 0);
    expect(1, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0xfff0, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0xfff1, SYMBOLS_BASE_SP, 32, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0xfffe, SYMBOLS_BASE_SP, 32, SYMBOLS_PLACE_AT_CFA, -16);
    expect(0xffff, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_AT_CFA, -16);
    cr_assert_eq(at(0x10000), SYMBOLS_RULE_GAP);
}

Test(symbols_cfa, states_are_remembered_and_registers_restored)
{
    static const unsigned char program[] = {
        ADVANCE(1), 0x0e, 16,   0x86,      2, /* push rbp */
        ADVANCE(1), 0x0a, 0xc6, 0x0e,      8, /* remember; rbp back; pop */
        ADVANCE(1), 0x0b, 0x0e, 0x80 | 16, 1, /* as before, then CFA 144 (two-byte LEB) */
        ADVANCE(1), 0x07, 16,                 /* no return address: outermost */
        ADVANCE(1), 0x06, 16,   0x08,      6, /* that of the CIE; rbp unchanged */
        ADVANCE(1), 0x11, 6,    0x80 - 3,  0x12, 7, 0x7e, /* rbp at CFA+24; CFA rsp+16, signed */
        ADVANCE(1), 0x2e, 32,   0x13,      0x7d,          /* args size; CFA offset 24, signed */
        ADVANCE(1), 0x2f, 6,    4,         0x02, 1, 0x09, 6, 3, /* rbp at CFA+32; then in rbx */
    };

    begin_x86();
    made_fde(&made, 0, 64, program, sizeof program);
    build(EM_X86_64);
    cr_assert_eq(rows->frames_refused, 0);
    expect(1, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, -16);
    expect(2, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_SAME, 0);
    expect(3, SYMBOLS_BASE_SP, 144, SYMBOLS_PLACE_AT_CFA, -16);
    cr_assert_eq(at(4), SYMBOLS_RULE_OUTERMOST);
    expect(5, SYMBOLS_BASE_SP, 144, SYMBOLS_PLACE_SAME, 0);
    expect(6, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_AT_CFA, 24);
    expect(7, SYMBOLS_BASE_SP, 24, SYMBOLS_PLACE_AT_CFA, 24);
    expect(8, SYMBOLS_BASE_SP, 24, SYMBOLS_PLACE_AT_CFA, 32);
    cr_assert_eq(at(9), SYMBOLS_RULE_CANNOT);
}

Test(symbols_cfa, lazy_binding_stubs_are_recognised_by_their_exact_expression)
{
    unsigned char program[] = {0x0f, 11,   0x77, 0x08, 0x80, 0x00, 0x3f,
                               0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

    begin_x86();
    made_fde(&made, 0x40, 64, program, sizeof program);
    program[8] = 0x3a; /* from byte 10 on */
    made_fde(&made, 0x80, 64, program, sizeof program);
    program[9] = 0x2b; /* greater than, not greater or equal: no linker writes it */
    made_fde(&made, 0xc0, 64, program, sizeof program);
    build(EM_X86_64);
    expect(0x40, SYMBOLS_BASE_SP, 8, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(stub_push_byte, 11);
    cr_assert_eq(at(0x80), SYMBOLS_RULE_PLAIN);
    cr_assert_eq(stub_push_byte, 10);
    cr_assert_eq(at(0xc0), SYMBOLS_RULE_CANNOT);
}

Test(symbols_cfa, a_signal_frame_loads_its_cfa_and_registers_from_the_stack)
{
    /* As libc has it: CFA *(rsp+160), rbp at rsp+120, return address at rsp+168. */
    static const unsigned char program[] = {0x0f, 4,    0x77, 0xa0, 0x01, 0x06, 0x10, 6,    3,
                                            0x77, 0xf8, 0x00, 0x10, 16,   3,    0x77, 0xa8, 0x01};

    made_begin(&made);
    made_cie(&made, "zRS", 16, -8, 1, NULL, 0);
    made_fde(&made, 0, 16, program, sizeof program);
    build(EM_X86_64);
    expect(0, SYMBOLS_BASE_SP, 160, SYMBOLS_PLACE_AT_BASE, 120);
    cr_assert(rule.is_cfa_loaded);
    cr_assert(rule.is_signal_frame);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_AT_BASE);
    cr_assert_eq(rule.return_offset_bytes, 168);
}

Test(symbols_cfa, a_realigned_stack_loads_its_cfa_through_the_frame_pointer)
{
    static const unsigned char program[] = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0x00};

    begin_x86();
    made_fde(&made, 0, 16, program, sizeof program);
    build(EM_X86_64);
    expect(0, SYMBOLS_BASE_FP, -8, SYMBOLS_PLACE_AT_BASE, 0);
    cr_assert(rule.is_cfa_loaded);
    cr_assert_not(rule.is_signal_frame);
}

Test(symbols_cfa, an_aarch64_function_keeps_its_return_address_in_the_link_register_first)
{
    static const unsigned char cie[] = {0x0c, 31, 0};
    /* paciasp; stp x29, x30, [sp, -32]!; ...; ldp; autiasp */
    static const unsigned char program[] = {
        ADVANCE(1), 0x2d,                          /* signed from here */
        ADVANCE(1), 0x0e, 32, 0x9d, 4,    0x9e, 3, /* x29 at CFA-32, x30 at CFA-24 */
        ADVANCE(1), 0x0d, 29,                      /* CFA from x29 */
        ADVANCE(1), 0x0c, 31, 0,    0xdd, 0xde,    /* restored */
        ADVANCE(1), 0x2d,
    };

    made_begin(&made);
    made_cie(&made, "zR", 30, -8, 4, cie, sizeof cie);
    made_fde(&made, 0, 32, program, sizeof program);
    build(EM_AARCH64);
    expect(0, SYMBOLS_BASE_SP, 0, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_SAME);
    cr_assert_not(rule.is_return_signed);
    expect(4, SYMBOLS_BASE_SP, 0, SYMBOLS_PLACE_SAME, 0);
    cr_assert(rule.is_return_signed);
    expect(8, SYMBOLS_BASE_SP, 32, SYMBOLS_PLACE_AT_CFA, -32);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_AT_CFA);
    cr_assert_eq(rule.return_offset_bytes, -24);
    cr_assert(rule.is_return_signed);
    expect(12, SYMBOLS_BASE_FP, 32, SYMBOLS_PLACE_AT_CFA, -32);
    expect(16, SYMBOLS_BASE_SP, 0, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_SAME);
    cr_assert(rule.is_return_signed);
    expect(20, SYMBOLS_BASE_SP, 0, SYMBOLS_PLACE_SAME, 0);
    cr_assert_not(rule.is_return_signed);
}

/* As _dl_runtime_resolve of glibc 2.36 is described. */
Test(symbols_cfa, what_a_stub_for_lazy_binding_has_pushed_belongs_to_the_resolver_on_aarch64)
{
    static const unsigned char cie[] = {0x0c, 31, 0};
    static const unsigned char program[] = {
        ADVANCE(1), 0x11, 30,   0x7f, /* x30 at CFA+8 */
        ADVANCE(1), 0x0e, 0xd0, 1,    /* stp x8, x9, [sp, -208]! */
        ADVANCE(4), 0x0e, 0,          /* ldp x8, x9, [sp], 208 */
        ADVANCE(1), 0x13, 2,          /* ldp x17, x30, [sp], 16 */
    };
    static const int cfa_offsets[] = {0, 16, 224, 224, 224, 224, 16, 0};

    made_begin(&made);
    made_cie(&made, "zR", 30, -8, 4, cie, sizeof cie);
    made_fde(&made, 0, 32, program, sizeof program);
    build(EM_AARCH64);
    for (unsigned i = 0; i < JW_COUNT_OF(cfa_offsets); i++) {
        expect(4ull * i, SYMBOLS_BASE_SP, cfa_offsets[i], SYMBOLS_PLACE_SAME, 0);
        cr_assert_eq(rule.return_place, i == 0 ? SYMBOLS_PLACE_SAME : SYMBOLS_PLACE_AT_CFA);
        cr_assert_eq(rule.return_offset_bytes, i == 0 ? 0 : -8, "%u: %d", i,
                     rule.return_offset_bytes);
        cr_assert_eq(rule.is_cfa_raised, i > 0);
    }
    /* The kernel's return from a signal has its frame pointer there: its record lies above. */
    static const unsigned char record[] = {0x0c, 29, 0, 0x11, 29, 0, 0x11, 30, 0x7f};
    made_begin(&made);
    made_cie(&made, "zR", 30, -8, 4, cie, sizeof cie);
    made_fde(&made, 0, 32, record, sizeof record);
    build(EM_AARCH64);
    expect(0, SYMBOLS_BASE_FP, 0, SYMBOLS_PLACE_AT_CFA, 0);
    cr_assert_eq(rule.return_offset_bytes, 8);
}

Test(symbols_cfa, what_makes_no_sense_is_refused_and_the_next_function_is_not)
{
    static const struct {
        unsigned char program[16];
        size_t size_bytes;
    } bad[] = {
        {{0x3a}, 1},                                                 /* no such instruction */
        {{0x0b}, 1},                                                 /* nothing remembered */
        {{0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a}, 9}, /* too much remembered */
        {{0x0e}, 1},                                                 /* cut */
        {{0x0f, 100, 0x77}, 3},                                      /* block past the end */
        {{0x04, 1, 2, 3}, 4},                                        /* location cut */
        {{0x01, 0, 0, 0, 0, 0, 0, 0, 0}, 9},                         /* backwards */
        {{0x0c, 0xff, 0xff, 0xff}, 4},                               /* number without an end */
        {{0x2d}, 1},                                                 /* aarch64's, on x86-64 */
    };
    static const unsigned char good[] = {ADVANCE(2), 0x0e, 24};

    begin_x86();
    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        made_fde(&made, i * 32, 16, bad[i].program, bad[i].size_bytes);
        made_fde(&made, i * 32 + 16, 16, good, sizeof good);
    }
    build(EM_X86_64);
    cr_assert_eq(rows->frames_refused, JW_COUNT_OF(bad));
    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        cr_assert_eq(at(i * 32), SYMBOLS_RULE_CANNOT, "program %zu", i);
        cr_assert_eq(at(i * 32 + 15), SYMBOLS_RULE_CANNOT, "program %zu", i);
        expect(i * 32 + 18, SYMBOLS_BASE_SP, 24, SYMBOLS_PLACE_SAME, 0);
    }
}

Test(symbols_cfa, offsets_too_large_for_a_rule_become_rows_that_cannot)
{
    /* CFA rsp + 2^40; rbp at 2^61 * -8, which overflows. */
    static const unsigned char far_cfa[] = {0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20};
    static const unsigned char far_fp[] = {0x05, 6,    0x80, 0x80, 0x80, 0x80,
                                           0x80, 0x80, 0x80, 0x80, 0x20};

    begin_x86();
    made_fde(&made, 0, 16, far_cfa, sizeof far_cfa);
    made_fde(&made, 16, 16, far_fp, sizeof far_fp);
    build(EM_X86_64);
    cr_assert_eq(at(0), SYMBOLS_RULE_CANNOT);
    cr_assert_eq(at(16), SYMBOLS_RULE_CANNOT);
    cr_assert_eq(rows->frames_refused, 0);
}

Test(symbols_cfa, functions_out_of_order_overlapping_or_outside_the_text_are_sorted_out)
{
    static const unsigned char first[] = {0x0e, 16}, second[] = {0x0e, 24}, third[] = {0x0e, 32};

    begin_x86();
    made_fde(&made, 0x300, 0x10, third, sizeof third);
    made_fde(&made, 0x100, 0x20, first, sizeof first);
    made_fde(&made, 0x110, 0x20, second, sizeof second);                 /* overlaps the first */
    made_fde(&made, MADE_TEXT_BYTES - 8, 0x1000, second, sizeof second); /* past the end */
    made_fde(&made, MADE_TEXT_BYTES + 8, 0x10, second, sizeof second);
    made_fde(&made, (uint64_t)-0x100, 0x1000, second, sizeof second);
    made_fde(&made, 0x400, 0, second, sizeof second);
    build(EM_X86_64);
    cr_assert_eq(at(0), SYMBOLS_RULE_GAP);
    expect(0x100, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_SAME, 0);
    expect(0x11f, SYMBOLS_BASE_SP, 16, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(at(0x120), SYMBOLS_RULE_GAP);
    expect(0x300, SYMBOLS_BASE_SP, 32, SYMBOLS_PLACE_SAME, 0);
    cr_assert_eq(at(0x310), SYMBOLS_RULE_GAP);
    cr_assert_eq(at(0x400), SYMBOLS_RULE_GAP);
    expect(MADE_TEXT_BYTES - 1, SYMBOLS_BASE_SP, 24, SYMBOLS_PLACE_SAME, 0);
}

Test(symbols_cfa, hundreds_of_different_rules_are_kept_apart)
{
    enum { FUNCTIONS = 300 };

    begin_x86();
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const unsigned offset = 8 * i;
        const unsigned char program[] = {0x0e, (unsigned char)(0x80 | (offset & 0x7f)),
                                         (unsigned char)(offset >> 7)};

        made_fde(&made, 16 * i, 16, program, sizeof program);
    }
    build(EM_X86_64);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        expect(16 * i + i % 16, SYMBOLS_BASE_SP, (int)(8 * i), SYMBOLS_PLACE_SAME, 0);
}

Test(symbols_cfa, a_packed_rule_is_unpacked_whole)
{
    const struct symbols_rule wide = {.cfa_offset_bytes = INT32_MIN / 2,
                                      .fp_offset_bytes = INT32_MAX / 2,
                                      .return_offset_bytes = -1,
                                      .cfa_base = SYMBOLS_BASE_FP,
                                      .fp_place = SYMBOLS_PLACE_AT_BASE,
                                      .return_place = SYMBOLS_PLACE_AT_BASE,
                                      .is_cfa_loaded = true,
                                      .is_signal_frame = true,
                                      .is_return_signed = true,
                                      .is_cfa_raised = true};
    const struct symbols_packed packed = symbols_rule_pack(SYMBOLS_RULE_PLAIN, &wide, 15);

    cr_assert_eq(symbols_rule_unpack(packed, &rule, &stub_push_byte), SYMBOLS_RULE_PLAIN);
    cr_assert_eq(rule.cfa_offset_bytes, wide.cfa_offset_bytes);
    cr_assert_eq(rule.fp_offset_bytes, wide.fp_offset_bytes);
    cr_assert_eq(rule.return_offset_bytes, -1);
    cr_assert_eq(rule.cfa_base, SYMBOLS_BASE_FP);
    cr_assert_eq(rule.fp_place, SYMBOLS_PLACE_AT_BASE);
    cr_assert_eq(rule.return_place, SYMBOLS_PLACE_AT_BASE);
    cr_assert(rule.is_cfa_loaded && rule.is_signal_frame && rule.is_return_signed &&
              rule.is_cfa_raised);
    cr_assert_eq(stub_push_byte, 15);
}
