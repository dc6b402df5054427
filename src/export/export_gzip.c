/*
 * Compressed output, by libdeflate where it is linked in. It takes all at once, and gives it back so.
 * Context: dump, tool.
 */
#include "export/export_proto_internal.h"

#if __has_include(<libdeflate.h>)
#include <libdeflate.h>
/* Its functions are weak here: without the library they are not there. */
#pragma weak libdeflate_alloc_compressor
#pragma weak libdeflate_free_compressor
#pragma weak libdeflate_gzip_compress
#pragma weak libdeflate_gzip_compress_bound
#pragma weak libdeflate_set_memory_allocator

#define LEVEL 6

static void *take(size_t size_bytes)
{
    return jw_alloc(size_bytes);
}

bool export_has_gzip(void)
{
    return libdeflate_alloc_compressor != NULL;
}

static bool put_compressed(struct export_out *out, const char *bytes, size_t length_bytes)
{
    libdeflate_set_memory_allocator(take, jw_free);

    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (compressor == NULL)
        return false;

    const size_t room_bytes = libdeflate_gzip_compress_bound(compressor, length_bytes);
    char *packed = jw_alloc(room_bytes);
    const size_t packed_bytes =
        packed == NULL
            ? 0
            : libdeflate_gzip_compress(compressor, bytes, length_bytes, packed, room_bytes);

    export_put_bytes(out, packed, packed_bytes);
    libdeflate_free_compressor(compressor);
    jw_free(packed);
    return packed_bytes > 0;
}
#else
bool export_has_gzip(void)
{
    return false;
}

static bool put_compressed(struct export_out *out, const char *bytes, size_t length_bytes)
{
    (void)out;
    (void)bytes;
    (void)length_bytes;
    return false;
}
#endif

bool export_put_gzip(struct export_out *out, const char *bytes, size_t length_bytes)
{
    if (export_has_gzip())
        return put_compressed(out, bytes, length_bytes);
    export_put_bytes(out, bytes, length_bytes);
    return true;
}
