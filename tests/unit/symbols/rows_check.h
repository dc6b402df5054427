/* Are the rows of a library in order? For tests and fuzz targets. */
#ifndef JW_TESTS_SYMBOLS_ROWS_CHECK_H
#define JW_TESTS_SYMBOLS_ROWS_CHECK_H

#include "symbols/symbols_frames_internal.h"

/* NULL: sound; else what is not. */
static inline const char *rows_wrong(const struct symbols_rows *rows)
{
    uint64_t done = 0, row_count = 0;

    if (rows->functions[0].text_offset != 0 || rows->functions[0].value != 0 || rows->cells[0] != 0)
        return "no function before all others";
    for (uint32_t i = 1; i <= rows->function_count; i++) {
        const struct symbols_key function = rows->functions[i];
        const bool is_large = (function.value & SYMBOLS_FUNCTION_IS_LARGE) != 0;
        const uint32_t *cells = rows->cells + (function.value & ~SYMBOLS_FUNCTION_IS_LARGE);
        const uint32_t count = is_large ? cells[0] : cells[0] >> SYMBOLS_CELL_SHIFT;
        const uint32_t length = is_large ? cells[1] : cells[0] & SYMBOLS_CELL_MASK;

        if (function.text_offset < done)
            return "functions overlap";
        done = (uint64_t)function.text_offset + length;
        if (done > rows->text_bytes)
            return "a function ends behind the text";
        if (count == 0 || length == 0)
            return "an empty function";
        cells += is_large ? 2 : 1;
        for (uint32_t row = 0; row < count; row++) {
            const uint32_t distance = is_large ? cells[2 * row] : cells[row] & SYMBOLS_CELL_MASK;
            const uint32_t rule = is_large ? cells[2 * row + 1] : cells[row] >> SYMBOLS_CELL_SHIFT;
            const uint32_t before = is_large ? cells[2 * row - 2u * (row > 0)]
                                             : cells[row - (row > 0)] & SYMBOLS_CELL_MASK;

            if (row == 0 ? distance != 0 : distance <= before)
                return "rows do not rise";
            if (distance >= length || rule >= rows->rule_count)
                return "a row is outside of its function, or has no rule";
        }
        row_count += count;
    }
    return row_count == rows->row_count ? NULL : "another number of rows than told";
}

#endif
