/* A frame description as libunwind 1.6.2 takes it: without the one instruction that it refuses; handler. */
#include "unwind/unwind_sealed_internal.h"

/* Call frame instructions. Source: DWARF 5, section 6.4.2 and 7.24; AADWARF64; binutils, dwarf2.def for those of GNU. */
#define OPERATION_MASK   0xc0u /* with an operand in the other bits */
#define OPERATION_OFFSET 0x80u
#define NOTHING          0

enum operand { NONE, BYTE, HALF, WORD, NUMBER, BLOCK };
struct operands {
    uint8_t first, second; /* enum operand */
    bool is_known;
};

/* Of the instructions without an operand of their own. What an address of set_loc takes is not known here, and it is not written. */
static const struct operands operands[] = {
    [0x00] = {NONE, NONE, true},     /* nop */
    [0x02] = {BYTE, NONE, true},     /* advance_loc1 */
    [0x03] = {HALF, NONE, true},     /* advance_loc2 */
    [0x04] = {WORD, NONE, true},     /* advance_loc4 */
    [0x05] = {NUMBER, NUMBER, true}, /* offset_extended */
    [0x06] = {NUMBER, NONE, true},   /* restore_extended */
    [0x07] = {NUMBER, NONE, true},   /* undefined */
    [0x08] = {NUMBER, NONE, true},   /* same_value */
    [0x09] = {NUMBER, NUMBER, true}, /* register */
    [0x0a] = {NONE, NONE, true},     /* remember_state */
    [0x0b] = {NONE, NONE, true},     /* restore_state */
    [0x0c] = {NUMBER, NUMBER, true}, /* def_cfa */
    [0x0d] = {NUMBER, NONE, true},   /* def_cfa_register */
    [0x0e] = {NUMBER, NONE, true},   /* def_cfa_offset */
    [0x0f] = {BLOCK, NONE, true},    /* def_cfa_expression */
    [0x10] = {NUMBER, BLOCK, true},  /* expression */
    [0x11] = {NUMBER, NUMBER, true}, /* offset_extended_sf */
    [0x12] = {NUMBER, NUMBER, true}, /* def_cfa_sf */
    [0x13] = {NUMBER, NONE, true},   /* def_cfa_offset_sf */
    [0x14] = {NUMBER, NUMBER, true}, /* val_offset */
    [0x15] = {NUMBER, NUMBER, true}, /* val_offset_sf */
    [0x16] = {NUMBER, BLOCK, true},  /* val_expression */
    [0x2d] = {NONE, NONE, true},     /* AARCH64_negate_ra_state */
    [0x2e] = {NUMBER, NONE, true},   /* GNU_args_size */
    [0x2f] = {NUMBER, NUMBER, true}, /* GNU_negative_offset_extended */
};

/* Passes a number of DWARF; false: it does not end. */
static JW_SIGNAL_SAFE bool pass_number(const unsigned char *bytes, uint32_t size_bytes,
                                       uint32_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < size_bytes; shift += 7) {
        const unsigned char byte = bytes[(*at)++];

        if (shift < 63)
            *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static JW_SIGNAL_SAFE bool pass_operand(enum operand operand, const unsigned char *bytes,
                                        uint32_t size_bytes, uint32_t *at)
{
    static const uint8_t fixed_bytes[] = {[NONE] = 0, [BYTE] = 1, [HALF] = 2, [WORD] = 4};
    uint64_t passed_bytes;

    if (operand < NUMBER)
        passed_bytes = fixed_bytes[operand];
    else if (!pass_number(bytes, size_bytes, at, &passed_bytes))
        return false;
    else if (operand == NUMBER)
        return true;
    if (passed_bytes > size_bytes - *at)
        return false;
    *at += (uint32_t)passed_bytes;
    return true;
}

bool unwind_program_hide(unsigned char *bytes, uint32_t size_bytes, uint8_t refused)
{
    for (uint32_t at = 0; at < size_bytes;) {
        const uint32_t start = at++;
        const uint8_t instruction = bytes[start];
        struct operands found = {NONE, NONE, true};

        if ((instruction & OPERATION_MASK) == OPERATION_OFFSET)
            found.first = NUMBER;
        else if ((instruction & OPERATION_MASK) == 0)
            found = instruction < JW_COUNT_OF(operands) ? operands[instruction]
                                                        : (struct operands){NONE, NONE, false};
        if (!found.is_known || !pass_operand((enum operand)found.first, bytes, size_bytes, &at) ||
            !pass_operand((enum operand)found.second, bytes, size_bytes, &at))
            return false;
        if (instruction == refused)
            bytes[start] = NOTHING;
    }
    return true;
}
