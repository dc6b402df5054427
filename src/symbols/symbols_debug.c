/*
 * Separate debug files, where distributions keep the full symbol tables of stripped libraries: found by build-id or by .gnu_debuglink,
 * used only if they are the library's own. Any, dump, control.
 */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbols/symbols_internal.h"

#define BLOCK_BYTES ((size_t)64 << 10)
#define CHECKED_MAX_BYTES                                                                          \
    ((uint64_t)256 << 20) /* a second of work, once, for a library without build-id */
#define LINK_MAX_BYTES 512

/* What .gnu_debuglink says: a file name, and the CRC of that file. */
struct debug_link {
    char name[LINK_MAX_BYTES];
    uint32_t crc;
};

/* Source: GDB manual, "Separate Debug Files": a name, zeros up to a multiple of four, four bytes of CRC. */
static bool read_link(const struct symbols_elf *elf, struct debug_link *link)
{
    struct symbols_extent extent;
    unsigned char bytes[LINK_MAX_BYTES + 4];

    if (!symbols_elf_find_section(elf, SHT_PROGBITS, ".gnu_debuglink", &extent) ||
        extent.size_bytes < 8 || extent.size_bytes > sizeof bytes ||
        !symbols_image_read(&elf->image, extent.offset, bytes, extent.size_bytes))
        return false;
    const size_t length_bytes = strnlen((const char *)bytes, extent.size_bytes - 4);
    const size_t crc_at = (length_bytes + 4) & ~(size_t)3;

    if (length_bytes == 0 || length_bytes >= sizeof link->name || crc_at + 4 > extent.size_bytes ||
        memchr(bytes, '/', length_bytes) != NULL)
        return false;
    memcpy(link->name, bytes, length_bytes + 1);
    memcpy(&link->crc, bytes + crc_at, sizeof link->crc);
    return true;
}

/* CRC-32 of IEEE 802.3 over the whole file, as the manual has it; false: it cannot be read. */
static bool crc_of(const struct symbols_image *image, uint32_t *crc)
{
    uint32_t table[256], sum = UINT32_MAX;
    unsigned char *block = image->size_bytes <= CHECKED_MAX_BYTES ? jw_alloc(BLOCK_BYTES) : NULL;

    if (block == NULL)
        return false;
    for (uint32_t i = 0; i < JW_COUNT_OF(table); i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? 0xedb88320u : 0);
    }
    uint64_t offset = 0;
    while (offset < image->size_bytes) {
        const uint64_t left_bytes = image->size_bytes - offset;
        const size_t size_bytes = left_bytes < BLOCK_BYTES ? (size_t)left_bytes : BLOCK_BYTES;

        if (!symbols_image_read(image, offset, block, size_bytes))
            break;
        for (size_t i = 0; i < size_bytes; i++)
            sum = table[(sum ^ block[i]) & 0xff] ^ (sum >> 8);
        offset += size_bytes;
    }
    jw_free(block);
    *crc = ~sum;
    return offset == image->size_bytes;
}

/*
 * The file, if it has a full symbol table and is that of `elf`: by build-id, where the library has one; by the CRC in `link` else.
 */
static bool open_own(struct symbols_source *source, const char *path, const struct symbols_elf *elf,
                     const struct debug_link *link)
{
    struct symbols_extent table;
    unsigned char build_id[SYMBOLS_BUILD_ID_BYTES];
    uint32_t build_id_bytes, crc;

    if (!symbols_source_open_file(source, path))
        return false;
    const bool has_table = source->elf.machine == elf->machine &&
                           symbols_elf_find_section(&source->elf, SHT_SYMTAB, NULL, &table);
    /* Segments of a debug file are those of the library, and say nothing of where its own bytes are. */
    const bool has_id = symbols_elf_build_id(&source->elf, build_id, &build_id_bytes);
    const bool is_own = elf->build_id_bytes != 0
                            ? has_id && build_id_bytes == elf->build_id_bytes &&
                                  memcmp(build_id, elf->build_id, build_id_bytes) == 0
                            : link != NULL && crc_of(&source->elf.image, &crc) && crc == link->crc;

    if (has_table && is_own)
        return true;
    symbols_source_close(source);
    return false;
}

static bool open_by_build_id(struct symbols_source *source, const struct symbols_elf *elf,
                             const char *root)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/.build-id/", root);

    if (elf->build_id_bytes < 2 || used < 0 || (size_t)used >= sizeof path - 128)
        return false;
    for (uint32_t i = 0; i < elf->build_id_bytes; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x%s", elf->build_id[i],
                         i == 0 ? "/" : "");
    snprintf(path + used, sizeof path - (size_t)used, ".debug");
    return open_own(source, path, elf, NULL);
}

static bool open_by_link(struct symbols_source *source, const struct symbols_elf *elf,
                         const char *library_path, const char *root)
{
    /* What stands before the library's directory, and between it and the file. */
    const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {root, ""}};
    struct debug_link link;
    const char *slash = strrchr(library_path, '/');
    char path[PATH_MAX];

    if (slash == NULL || !read_link(elf, &link))
        return false;
    const int directory_bytes = (int)(slash - library_path);
    for (size_t i = 0; i < JW_COUNT_OF(places); i++) {
        const int length_bytes = snprintf(path, sizeof path, "%s%.*s%s/%s", places[i][0],
                                          directory_bytes, library_path, places[i][1], link.name);

        if (length_bytes > 0 && (size_t)length_bytes < sizeof path &&
            strcmp(path, library_path) != 0 && open_own(source, path, elf, &link))
            return true;
    }
    return false;
}

bool symbols_debug_open(struct symbols_source *source, const struct symbols_elf *elf,
                        const char *library_path, const char *root)
{
    return open_by_build_id(source, elf, root) || open_by_link(source, elf, library_path, root);
}
