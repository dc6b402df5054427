/*
 * Mini debug info: the symbols of functions that a stripped library does not export, which some distributions leave in it as a
 * compressed ELF image (.gnu_debugdata). Unpacked with liblzma where it is linked in; any, dump, control.
 */
#include <elf.h>

#include "symbols/symbols_internal.h"

#if __has_include(<lzma.h>)
#include <lzma.h>
/* Its functions are weak here: without the library they are not there. */
#pragma weak lzma_stream_decoder
#pragma weak lzma_code
#pragma weak lzma_end

#define PACKED_MAX_BYTES   ((uint64_t)16 << 20)
#define UNPACKED_MAX_BYTES ((size_t)32 << 20) /* that of a libjvm with all its functions has 12 */
#define DECODER_MAX_BYTES                                                                          \
    ((uint64_t)16 << 20) /* a dictionary of 8 MiB, as `xz` makes them, and what belongs to it */
#define FIRST_BYTES ((size_t)256 << 10)

static void *take(void *unused, size_t count, size_t size_bytes)
{
    (void)unused;
    return jw_alloc(jw_mul_bytes(count, size_bytes));
}

static void give_back(void *unused, void *memory)
{
    (void)unused;
    jw_free(memory);
}

/* Unpacks into memory that grows by what comes; NULL: damaged, too large, or no memory. */
static unsigned char *unpack(const unsigned char *packed, size_t packed_bytes,
                             size_t *unpacked_bytes)
{
    const lzma_allocator allocator = {.alloc = take, .free = give_back};
    lzma_stream stream = LZMA_STREAM_INIT;
    size_t room_bytes = FIRST_BYTES;
    unsigned char *out = jw_alloc(room_bytes);
    lzma_ret result = LZMA_MEM_ERROR;

    stream.allocator = &allocator;
    if (out != NULL)
        result = lzma_stream_decoder(&stream, DECODER_MAX_BYTES, 0);
    stream.next_in = packed;
    stream.avail_in = packed_bytes;
    stream.next_out = out;
    stream.avail_out = room_bytes;
    while (result == LZMA_OK) {
        result = lzma_code(&stream, LZMA_FINISH);
        if (result != LZMA_OK || stream.avail_out > 0)
            continue;

        unsigned char *larger =
            room_bytes < UNPACKED_MAX_BYTES ? jw_realloc(out, room_bytes * 2) : NULL;
        if (larger == NULL)
            break;
        out = larger;
        stream.next_out = out + room_bytes;
        stream.avail_out = room_bytes;
        room_bytes *= 2;
    }
    *unpacked_bytes = room_bytes - stream.avail_out;
    lzma_end(&stream);
    if (result != LZMA_STREAM_END) {
        jw_free(out);
        out = NULL;
    }
    return out;
}

bool symbols_has_unpacker(void)
{
    return lzma_stream_decoder != NULL;
}
#else
#define PACKED_MAX_BYTES 0

static unsigned char *unpack(const unsigned char *packed, size_t packed_bytes,
                             size_t *unpacked_bytes)
{
    (void)packed;
    (void)packed_bytes;
    *unpacked_bytes = 0;
    return NULL;
}

bool symbols_has_unpacker(void)
{
    return false;
}
#endif

unsigned char *symbols_mini_open(struct symbols_elf *mini, const struct symbols_elf *elf)
{
    struct symbols_extent extent;
    size_t unpacked_bytes = 0;

    if (!symbols_has_unpacker() ||
        !symbols_elf_find_section(elf, SHT_PROGBITS, ".gnu_debugdata", &extent) ||
        extent.size_bytes == 0 || extent.size_bytes > PACKED_MAX_BYTES)
        return NULL;
    unsigned char *packed = jw_alloc((size_t)extent.size_bytes);
    unsigned char *unpacked = NULL;

    if (packed != NULL &&
        symbols_image_read(&elf->image, extent.offset, packed, (size_t)extent.size_bytes))
        unpacked = unpack(packed, (size_t)extent.size_bytes, &unpacked_bytes);
    jw_free(packed);

    const struct symbols_image image = {
        .fd = -1, .bytes = unpacked, .size_bytes = unpacked_bytes, .layout = SYMBOLS_LAYOUT_FILE};
    if (unpacked != NULL && symbols_elf_parse(mini, &image, NULL) && mini->machine == elf->machine)
        return unpacked;
    jw_free(unpacked);
    return NULL;
}
