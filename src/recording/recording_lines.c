/* HotSpot's compressed line tables; dump. */
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_names_internal.h"

/* A digit of UNSIGNED5 below this one is its last. */
#define LAST_DIGIT_LIMIT 192u
#define DIGITS_MAX       5

struct line_cursor {
    const unsigned char *at;
    const unsigned char *end;
    unsigned bias;
    bool is_cut;
};

static unsigned next_byte(struct line_cursor *cursor)
{
    if (cursor->at >= cursor->end) {
        cursor->is_cut = true;
        return 0;
    }
    return *cursor->at++;
}

/*
 * UNSIGNED5: the sum of (byte - bias) << 6i; a byte below 192 is the last, and there are five at most.
 * The bias is 0 before JDK 21 and 1 from then on. Signed: zigzag, the sign in bit 0.
 * Source: OpenJDK 17 and 21, CompressedStream::read_int, UNSIGNED5::read_uint; checked on 8 to 28.
 */
static int next_signed(struct line_cursor *cursor)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < DIGITS_MAX && !cursor->is_cut; i++) {
        const unsigned byte = next_byte(cursor);

        value += (byte - cursor->bias) << (6 * i);
        if (byte < LAST_DIGIT_LIMIT)
            break;
    }
    return (int)(value >> 1 ^ (0u - (value & 1)));
}

/* Advances to the next entry; false at the end of the table. */
static bool next_entry(struct line_cursor *cursor, int64_t *bci, int64_t *line)
{
    const unsigned byte = next_byte(cursor);

    if (byte == 0)
        return false;
    if (byte == 0xff) {
        *bci += next_signed(cursor);
        *line += next_signed(cursor);
    } else {
        *bci += byte >> 3;
        *line += byte & 7;
    }
    return !cursor->is_cut;
}

/*
 * Entries (bci, line) as steps from the one before; from (0, 0):
 *     0x00         end
 *     0xff         two signed numbers: bci step, line step
 *     otherwise    bci step in the upper five bits, line step in the lower three
 * The line of a bci is that of the last entry at or before it; entries need not be in order.
 * Source: OpenJDK 17 to 25, CompressedLineNumberReadStream::read_pair, Method::line_number_from_bci.
 */
int recording_line_of(const unsigned char *table, size_t length_bytes, unsigned bias, int bci)
{
    struct line_cursor cursor = {.at = table, .end = table + length_bytes, .bias = bias};
    int64_t entry_bci = 0;
    int64_t entry_line = 0;
    int64_t best_bci = 0;
    int64_t best_line = -1;

    while (bci >= 0 && next_entry(&cursor, &entry_bci, &entry_line)) {
        if (entry_bci < best_bci || entry_bci > bci)
            continue;
        best_bci = entry_bci;
        best_line = entry_line;
        if (entry_bci == bci)
            break;
    }
    /* A class file's line is 16 bits wide: anything else was no line table. */
    return best_line > 0 && best_line <= UINT16_MAX ? (int)best_line : -1;
}

int recording_frame_line(const struct generation *generation, jw_frame frame, unsigned bias)
{
    const unsigned char *table = NULL;
    const struct method_record *record =
        jw_frame_kind_of(frame) > JW_FRAME_INLINED
            ? NULL
            : method_record_get(generation->methods, jw_frame_method(frame), &table);

    if (record == NULL || record->line_table_bytes == 0)
        return -1;
    return recording_line_of(table, record->line_table_bytes, bias, jw_frame_bci(frame));
}
