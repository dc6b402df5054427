/*
 * Compressed output, by libdeflate where it is linked in (ADR 32). It takes all at once, and gives it back so.
 * Context: dump, tool.
 */
#include "export/export_columns_internal.h"
#include "export/export_proto_internal.h"

#if __has_include(<libdeflate.h>)
#include <libdeflate.h>
/* Its functions are weak here: without the library they are not there. */
#pragma weak libdeflate_alloc_compressor
#pragma weak libdeflate_free_compressor
#pragma weak libdeflate_deflate_compress
#pragma weak libdeflate_deflate_compress_bound
#pragma weak libdeflate_gzip_compress
#pragma weak libdeflate_gzip_compress_bound
#pragma weak libdeflate_set_memory_allocator

#define LEVEL 6

static void *take(size_t size_bytes)
{
    return jw_alloc(size_bytes);
}

bool export_can_pack(void)
{
    return libdeflate_alloc_compressor != NULL;
}

/* One for all columns of a page: its tables are two thirds of a megabyte, which each new one touches. */
static struct libdeflate_compressor *compressor_of(struct export_out *out)
{
    if (out->compressor == NULL) {
        libdeflate_set_memory_allocator(take, jw_free);
        out->compressor = libdeflate_alloc_compressor(LEVEL);
    }
    return out->compressor;
}

void export_out_free(struct export_out *out)
{
    if (out != NULL && out->compressor != NULL)
        libdeflate_free_compressor(out->compressor);
    jw_free(out);
}

/* Packed bytes, freed with jw_free; NULL: no memory. */
static unsigned char *packed(struct export_out *out, bool is_gzip, const void *bytes,
                             size_t length_bytes, size_t *packed_bytes)
{
    struct libdeflate_compressor *compressor = compressor_of(out);

    if (compressor == NULL)
        return NULL;

    const size_t room_bytes = is_gzip ? libdeflate_gzip_compress_bound(compressor, length_bytes)
                                      : libdeflate_deflate_compress_bound(compressor, length_bytes);
    unsigned char *room = jw_alloc(room_bytes);
    if (room != NULL)
        *packed_bytes =
            is_gzip
                ? libdeflate_gzip_compress(compressor, bytes, length_bytes, room, room_bytes)
                : libdeflate_deflate_compress(compressor, bytes, length_bytes, room, room_bytes);
    return room;
}
#else
bool export_can_pack(void)
{
    return false;
}

void export_out_free(struct export_out *out)
{
    jw_free(out);
}

static unsigned char *packed(struct export_out *out, bool is_gzip, const void *bytes,
                             size_t length_bytes, size_t *packed_bytes)
{
    (void)out;
    (void)is_gzip;
    (void)bytes;
    (void)length_bytes;
    (void)packed_bytes;
    return NULL;
}
#endif

bool export_put_gzip(struct export_out *out, const char *bytes, size_t length_bytes)
{
    size_t packed_bytes = 0;

    if (!export_can_pack()) {
        export_put_bytes(out, bytes, length_bytes);
        return true;
    }

    unsigned char *room = packed(out, true, bytes, length_bytes, &packed_bytes);
    if (room != NULL)
        export_put_bytes(out, (const char *)room, packed_bytes);
    jw_free(room);
    return room != NULL;
}

#define GROUPS 1024u /* of three bytes, that are written at once */

static void put_base64(struct export_out *out, const unsigned char *bytes, size_t length_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[GROUPS * 4];
    size_t used = 0;

    for (; length_bytes >= 3; bytes += 3, length_bytes -= 3) {
        const uint32_t group = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

        text[used++] = digits[group >> 18];
        text[used++] = digits[group >> 12 & 63];
        text[used++] = digits[group >> 6 & 63];
        text[used++] = digits[group & 63];
        if (used == sizeof text) {
            export_put_bytes(out, text, used);
            used = 0;
        }
    }
    export_put_bytes(out, text, used);
    if (length_bytes > 0) {
        const uint32_t group =
            (uint32_t)bytes[0] << 16 | (length_bytes > 1 ? (uint32_t)bytes[1] << 8 : 0);
        const char last[] = {digits[group >> 18], digits[group >> 12 & 63],
                             length_bytes > 1 ? digits[group >> 6 & 63] : '=', '='};

        export_put_bytes(out, last, sizeof last);
    }
}

bool export_put_deflated(struct export_out *out, const unsigned char *bytes, size_t length_bytes)
{
    size_t packed_bytes = 0;
    unsigned char *room = packed(out, false, bytes, length_bytes, &packed_bytes);

    if (room != NULL)
        put_base64(out, room, packed_bytes);
    jw_free(room);
    return room != NULL;
}
