/* HotSpot's compressed line tables; handler. */
#include "vm/vm_lines.h"

#define LAST_DIGIT_LIMIT 192u /* a digit of UNSIGNED5 below this one is its last */
#define DIGITS_MAX       5
#define BITS_A_DIGIT     6
#define LONG_ENTRY       0xff
#define LONG_NUMBERS     2

static JW_SIGNAL_SAFE int64_t signed_of(uint32_t number)
{
    return (int32_t)(number >> 1 ^ (0u - (number & 1)));
}

static JW_SIGNAL_SAFE enum vm_lines_step feed_number(struct vm_lines *lines, unsigned char byte)
{
    lines->number += ((uint32_t)byte - lines->bias) << (BITS_A_DIGIT * lines->digits);
    if (byte >= LAST_DIGIT_LIMIT && ++lines->digits < DIGITS_MAX)
        return VM_LINES_MORE;
    if (lines->numbers == LONG_NUMBERS)
        lines->bci += signed_of(lines->number);
    else
        lines->line += signed_of(lines->number);
    lines->number = 0;
    lines->digits = 0;
    return --lines->numbers == 0 ? VM_LINES_ENTRY : VM_LINES_MORE;
}

enum vm_lines_step vm_lines_feed(struct vm_lines *lines, unsigned char byte)
{
    if (lines->numbers != 0)
        return feed_number(lines, byte);
    if (byte == 0)
        return VM_LINES_END;
    if (byte == LONG_ENTRY) {
        lines->numbers = LONG_NUMBERS;
        return VM_LINES_MORE;
    }
    lines->bci += byte >> 3;
    lines->line += byte & 7;
    return VM_LINES_ENTRY;
}

bool vm_line_search_entry(struct vm_line_search *search, const struct vm_lines *lines)
{
    if (lines->bci < search->best_bci || lines->bci > search->bci)
        return true;
    search->best_bci = lines->bci;
    search->best_line = lines->line;
    return lines->bci != search->bci;
}

int vm_line_search_end(const struct vm_line_search *search)
{
    /* A class file's line is 16 bits wide: anything else was no line table. */
    return search->best_line > 0 && search->best_line <= UINT16_MAX ? (int)search->best_line : -1;
}
