/*
 * export_columns_internal - columns of numbers in a page: variable-length integers, deflated, in base64, each in an
 * inert element that also tells its length and its checksum.
 *
 * For      the explorer page.   Callers  export_explorer*.c.   Context  tool.
 * Memory   a column as it grows, freed by its owner; of packing as much as is packed, for the call.
 */
#ifndef JW_EXPORT_EXPORT_COLUMNS_INTERNAL_H
#define JW_EXPORT_EXPORT_COLUMNS_INTERNAL_H

#include "export/export_internal.h"

struct export_column {
    unsigned char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
    bool has_failed;
};

#define EXPORT_NUMBER_BYTES 10u /* at most */

void export_column_bytes(struct export_column *column, const void *bytes, size_t length_bytes);
/* Room for one more number; false and marked: memory is out. */
bool export_column_reserve(struct export_column *column);

/* Seven bits a byte, low ones first, the top bit set while more follow. */
static inline void export_column_number(struct export_column *column, uint64_t number)
{
    if (column->capacity_bytes - column->used_bytes < EXPORT_NUMBER_BYTES &&
        !export_column_reserve(column))
        return;
    for (; number > 0x7f; number >>= 7)
        column->bytes[column->used_bytes++] = (unsigned char)(0x80 | (number & 0x7f));
    column->bytes[column->used_bytes++] = (unsigned char)number;
}
void export_column_free(struct export_column *column); /* empty and usable again */

/* Writes it as the element c-PREFIXNAME, of the job's prefix, and frees it. False: memory is out. */
JW_MUST_CHECK bool export_column_put(const struct export_job *job, const char *name,
                                     struct export_column *column);

/* The bytes as raw deflate in base64, where export_can_pack. False: memory is out. */
JW_MUST_CHECK bool export_put_deflated(struct export_out *out, const unsigned char *bytes,
                                       size_t length_bytes);

#endif
