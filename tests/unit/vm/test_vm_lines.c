/* Compressed line tables, a byte at a time. */
#include "vm/vm_lines.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(vm_lines, .timeout = 1800);

/* UNSIGNED5 of a signed number, as OpenJDK 8 to 28 writes it: a digit of 192 and more says that another follows. */
static size_t put_signed(unsigned char *to, int32_t number, unsigned bias)
{
    uint32_t rest = (uint32_t)number << 1 ^ (uint32_t)(number >> 31);
    const uint32_t last_limit = 192 - bias;
    size_t used = 0;

    while (used < 4 && rest >= last_limit) {
        rest -= last_limit;
        to[used++] = (unsigned char)(192 + rest % 64);
        rest /= 64;
    }
    to[used++] = (unsigned char)(rest + bias);
    return used;
}

Test(vm_lines, what_was_written_is_read_with_both_biases)
{
    static const int32_t steps[] = {0,     1,       -1,        63,         64,
                                    95,    96,      -97,       1000,       -1000,
                                    65535, 1 << 20, -16777216, 0x3fffffff, 0x7ffffff};

    for (unsigned bias = 0; bias < 2; bias++) {
        for (size_t i = 0; i < JW_COUNT_OF(steps); i++) {
            for (size_t k = 0; k < JW_COUNT_OF(steps); k++) {
                struct vm_lines lines = vm_lines_begin(bias);
                unsigned char bytes[16] = {0xff};
                size_t used = 1 + put_signed(bytes + 1, steps[i], bias);

                used += put_signed(bytes + used, steps[k], bias);
                for (size_t n = 0; n + 1 < used; n++)
                    cr_assert(vm_lines_feed(&lines, bytes[n]) == VM_LINES_MORE);
                cr_assert(vm_lines_feed(&lines, bytes[used - 1]) == VM_LINES_ENTRY);
                cr_assert(eq(i64, lines.bci, steps[i]));
                cr_assert(eq(i64, lines.line, steps[k]));
                cr_assert(vm_lines_feed(&lines, 0) == VM_LINES_END);
            }
        }
    }
}

Test(vm_lines, a_zero_ends_a_table_but_not_a_number)
{
    /* With bias 0 a digit may be zero: (0, 10). */
    static const unsigned char table[] = {0xff, 0, 20, 0};
    struct vm_lines lines = vm_lines_begin(0);

    cr_assert(vm_lines_feed(&lines, table[0]) == VM_LINES_MORE);
    cr_assert(vm_lines_feed(&lines, table[1]) == VM_LINES_MORE);
    cr_assert(vm_lines_feed(&lines, table[2]) == VM_LINES_ENTRY);
    cr_assert(eq(i64, lines.line, 10));
    cr_assert(vm_lines_feed(&lines, table[3]) == VM_LINES_END);
}

Test(vm_lines, any_bytes_are_read_and_lines_out_of_range_are_none)
{
    for (uint64_t seed = 1; seed < 2000; seed++) {
        struct vm_lines lines = vm_lines_begin(seed & 1);
        struct vm_line_search search = vm_line_search_begin((int)(seed % 300));
        uint64_t state = seed;

        for (int i = 0; i < 200; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            if (vm_lines_feed(&lines, (unsigned char)(state >> 56)) == VM_LINES_ENTRY)
                (void)vm_line_search_entry(&search, &lines);
        }
        const int line = vm_line_search_end(&search);
        cr_assert(line == -1 || (line > 0 && line <= UINT16_MAX));
    }
}
