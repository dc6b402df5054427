/* Columns of a page while they grow, and how they are written. Context: tool. */
#include <string.h>

#include "export/export_columns_internal.h"

#define FIRST_BYTES ((size_t)4096)

static bool reserve(struct export_column *column, size_t more_bytes)
{
    size_t wanted = column->capacity_bytes == 0 ? FIRST_BYTES : column->capacity_bytes;

    while (wanted - column->used_bytes < more_bytes && wanted < SIZE_MAX / 2)
        wanted *= 2;
    if (wanted > column->capacity_bytes) {
        void *grown = column->has_failed ? NULL : jw_realloc(column->bytes, wanted);

        if (grown == NULL) {
            column->has_failed = true;
            return false;
        }
        column->bytes = grown;
        column->capacity_bytes = wanted;
    }
    return true;
}

bool export_column_reserve(struct export_column *column)
{
    return reserve(column, EXPORT_NUMBER_BYTES);
}

void export_column_bytes(struct export_column *column, const void *bytes, size_t length_bytes)
{
    if (!reserve(column, length_bytes))
        return;
    memcpy(column->bytes + column->used_bytes, bytes, length_bytes);
    column->used_bytes += length_bytes;
}

void export_column_free(struct export_column *column)
{
    jw_free(column->bytes);
    *column = (struct export_column){.bytes = NULL};
}

/* FNV-1a over words of four bytes, the lowest first, then over what is left: a page that was damaged on its way says so. */
static uint32_t checksum_of(const struct export_column *column)
{
    const size_t words_bytes = column->used_bytes & ~(size_t)3;
    uint32_t hash = 0x811c9dc5u;

    for (size_t i = 0; i < words_bytes; i += 4) {
        const unsigned char *at = column->bytes + i;

        hash = (hash ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                        (uint32_t)at[3] << 24)) *
               0x01000193u;
    }
    for (size_t i = words_bytes; i < column->used_bytes; i++)
        hash = (hash ^ column->bytes[i]) * 0x01000193u;
    return hash;
}

bool export_column_put(const struct export_job *job, const char *name, struct export_column *column)
{
    struct export_out *out = job->out;
    bool is_put = !column->has_failed;

    if (is_put && !out->has_failed) {
        export_put_format(out,
                          "<script type=\"text/plain\" id=\"c-%s%s\" data-bytes=\"%zu\" "
                          "data-check=\"%u\">",
                          job->prefix, name, column->used_bytes, checksum_of(column));
        is_put = export_put_deflated(out, column->bytes, column->used_bytes);
        export_put(out, "</script>\n");
    }
    export_column_free(column);
    return is_put;
}
