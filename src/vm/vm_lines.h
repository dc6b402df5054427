/*
 * vm_lines - HotSpot's compressed line tables, read a byte at a time.
 *
 * For      finding the end of a table while it is copied; telling its entries, wherever its bytes lie.
 * Callers  vm (vm_method), ids, recording.
 * Context  handler, hook, any, dump.
 * Memory   the caller's.
 *
 * Entries (bci, line) as steps from the one before; from (0, 0):
 *     0x00         end
 *     0xff         two signed numbers of UNSIGNED5: bci step, line step
 *     otherwise    bci step in the upper five bits, line step in the lower three
 *
 * UNSIGNED5: the sum of (byte - bias) << 6i; a byte below 192 is the last, and there are five at most. The bias is 0
 * before JDK 20 and 1 from then on. Signed: zigzag, the sign in bit 0.
 * Source: OpenJDK 8 to 28, CompressedLineNumberReadStream::read_pair, CompressedStream::read_int, UNSIGNED5::read_uint.
 */
#ifndef JW_VM_VM_LINES_H
#define JW_VM_VM_LINES_H

#include "base/jw.h"

struct vm_lines {
    int64_t bci, line; /* of the last entry */
    uint32_t bias;
    uint32_t number; /* as far as it was read */
    uint8_t digits;  /* of it */
    uint8_t numbers; /* that are to come; 0: between two entries */
};

enum vm_lines_step {
    VM_LINES_MORE,  /* in the middle of an entry */
    VM_LINES_ENTRY, /* `bci` and `line` are those of an entry */
    VM_LINES_END,
};

JW_SIGNAL_SAFE static inline struct vm_lines vm_lines_begin(uint32_t bias)
{
    return (struct vm_lines){.bias = bias};
}

/* The next byte of the table. */
JW_SIGNAL_SAFE enum vm_lines_step vm_lines_feed(struct vm_lines *lines, unsigned char byte);

/* Looks for the line of a bci among the entries in their order: that of the last entry at or before it. Entries need not be
 * in the order of their bci. Source: OpenJDK, Method::line_number_from_bci. */
struct vm_line_search {
    int64_t bci, best_bci, best_line;
};

JW_SIGNAL_SAFE static inline struct vm_line_search vm_line_search_begin(int bci)
{
    return (struct vm_line_search){.bci = bci, .best_line = -1};
}

/* An entry; false: no other can be better. */
JW_SIGNAL_SAFE bool vm_line_search_entry(struct vm_line_search *search,
                                         const struct vm_lines *lines);

/* The line, 1 to 65535; -1: none was found. */
JW_SIGNAL_SAFE int vm_line_search_end(const struct vm_line_search *search);

#endif
