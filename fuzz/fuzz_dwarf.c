/*
 * Any bytes as .eh_frame, .debug_frame or .sframe, of x86-64 or aarch64 by the first byte, or as what zlib has packed: entries, call
 * frame programs and unpacking end, and the rows that come of them are in order.
 */
/* s18: nor what it says of its frames. */
#include <stdint.h>
#include <stdlib.h>

#include "../tests/unit/symbols/made_elf.h"
#include "../tests/unit/symbols/rows_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_elf made;

    if (size < 1 || size > sizeof made.bytes - 0x400 - 16)
        return 0;
    made_begin(&made);
    made_put(&made, data + 1, size - 1);
    const uint16_t machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64;
    const char *const name = (data[0] & 6) == 2   ? ".debug_frame"
                             : (data[0] & 6) == 4 ? ".sframe"
                                                  : NULL;
    unsigned char unpacked[512];

    if ((data[0] & 6) == 6)
        (void)symbols_inflate(data + 1, size - 1, unpacked, sizeof unpacked);
    if (name == NULL ? !made_finish(&made, machine) : !made_finish_as(&made, machine, name))
        abort();

    struct symbols_rows *rows =
        symbols_rows_build(&made.elf, MADE_TEXT_VADDR, MADE_TEXT_BYTES, NULL);
    if (rows == NULL)
        return 0;
    if (rows_wrong(rows) != NULL)
        abort();
    for (uint64_t offset = 0; offset < MADE_TEXT_BYTES; offset += 0x3f1) {
        struct symbols_rule rule;
        uint8_t push_byte;

        (void)symbols_rule_unpack(symbols_rows_find(rows, offset), &rule, &push_byte);
    }
    symbols_rows_free(rows);
    return 0;
}
