/* Reading numbers out of bytes from outside, never past their end; any, dump, control. */
#include "symbols/symbols_internal.h"

/*
 * Pointer encodings of .eh_frame: the low half says the form, the next bits what it is relative to.
 * Source: Linux Standard Base, Core, "DWARF Exception Header Encoding".
 */
#define PE_FORM_MASK     0x0f
#define PE_ABSOLUTE      0x00
#define PE_ULEB128       0x01
#define PE_UDATA2        0x02
#define PE_UDATA4        0x03
#define PE_UDATA8        0x04
#define PE_SLEB128       0x09
#define PE_SDATA2        0x0a
#define PE_SDATA4        0x0b
#define PE_SDATA8        0x0c
#define PE_RELATION_MASK 0x70
#define PE_PC_RELATIVE   0x10
#define PE_DATA_RELATIVE 0x30
#define PE_INDIRECT      0x80

#define LEB_BITS 64

uint64_t symbols_get_leb(struct symbols_cursor *cursor, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift_bits = 0;

    while (symbols_cursor_left(cursor) > 0) {
        const unsigned char byte = *cursor->at;

        symbols_cursor_skip(cursor, 1);
        if (shift_bits < LEB_BITS) {
            value |= (uint64_t)(byte & 0x7f) << shift_bits;
            shift_bits += 7;
        }
        if ((byte & 0x80) == 0) {
            if (is_signed && (byte & 0x40) != 0 && shift_bits < LEB_BITS)
                value |= ~(uint64_t)0 << shift_bits;
            return value;
        }
    }
    cursor->is_failed = true;
    return 0;
}

static uint64_t encoded_form(struct symbols_cursor *cursor, uint8_t encoding)
{
    switch (encoding & PE_FORM_MASK) {
    case PE_ABSOLUTE:
    case PE_UDATA8:
    case PE_SDATA8:
        return symbols_get_unsigned(cursor, 8);
    case PE_ULEB128:
        return symbols_get_uleb(cursor);
    case PE_SLEB128:
        return (uint64_t)symbols_get_sleb(cursor);
    case PE_UDATA2:
        return symbols_get_unsigned(cursor, 2);
    case PE_SDATA2:
        return (uint64_t)(int64_t)(int16_t)symbols_get_unsigned(cursor, 2);
    case PE_UDATA4:
        return symbols_get_unsigned(cursor, 4);
    case PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)symbols_get_unsigned(cursor, 4);
    default:
        cursor->is_failed = true;
        return 0;
    }
}

uint64_t symbols_get_encoded(struct symbols_cursor *cursor, uint8_t encoding, uint64_t data_vaddr)
{
    const uint64_t here_vaddr = cursor->vaddr;
    const uint64_t value = encoded_form(cursor, encoding);

    switch (encoding & (PE_RELATION_MASK | PE_INDIRECT)) {
    case 0:
        return value;
    case PE_PC_RELATIVE:
        return here_vaddr + value;
    case PE_DATA_RELATIVE:
        return data_vaddr + value;
    default:
        /* Indirect and text- or function-relative values do not occur where a pc is told. */
        cursor->is_failed = true;
        return 0;
    }
}
