/* A large section read piece by piece, so that parsing it costs little memory; any, dump, control. */
#include "symbols/symbols_internal.h"

#define FILL_BYTES                                                                                 \
    ((size_t)32 << 10) /* unless more is wanted: memory that is not touched costs nothing */

bool symbols_window_open(struct symbols_window *window, const struct symbols_image *image,
                         const struct symbols_extent *extent, size_t capacity_bytes)
{
    *window = (struct symbols_window){.image = image, .extent = *extent};
    if (capacity_bytes > extent->size_bytes)
        capacity_bytes = extent->size_bytes;
    if (capacity_bytes > image->size_bytes) /* the section claims more than there is */
        capacity_bytes = image->size_bytes;
    window->capacity_bytes = capacity_bytes;
    window->bytes = jw_alloc(capacity_bytes);
    return window->bytes != NULL;
}

void symbols_window_close(struct symbols_window *window)
{
    jw_free(window->bytes);
    window->bytes = NULL;
}

const unsigned char *symbols_window_fill(struct symbols_window *window, uint64_t offset,
                                         size_t size_bytes)
{
    const uint64_t section_bytes = window->extent.size_bytes;

    if (offset > section_bytes || size_bytes > section_bytes - offset ||
        size_bytes > window->capacity_bytes)
        return NULL;
    const uint64_t left_bytes = section_bytes - offset;
    const size_t fill_bytes = size_bytes > FILL_BYTES ? window->capacity_bytes : FILL_BYTES;
    const size_t most_bytes =
        fill_bytes < window->capacity_bytes ? fill_bytes : window->capacity_bytes;
    const size_t wanted_bytes = left_bytes < most_bytes ? left_bytes : most_bytes;

    window->filled_bytes = 0;
    if (!symbols_image_read(window->image, window->extent.offset + offset, window->bytes,
                            wanted_bytes))
        return NULL;
    window->start = offset;
    window->filled_bytes = wanted_bytes;
    return window->bytes;
}
