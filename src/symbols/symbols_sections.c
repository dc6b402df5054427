/*
 * Where frames are described: sections of a library, and of its debug file; any, dump, control.
 * Source: Linux Standard Base, Core, "Exception Frames" (.eh_frame, .eh_frame_hdr); DWARF 5, section 6.4.1 (.debug_frame).
 */
#include "symbols/symbols_frames_internal.h"

/* .eh_frame by its section, or by the header that the unwinder of the C++ run time uses. */
static bool find_frames(const struct symbols_elf *elf, const struct symbols_named *named,
                        struct symbols_extent *out)
{
    unsigned char bytes[4 + 8];
    struct symbols_extent header;

    if (named->is_found && !named->is_compressed && named->extent.size_bytes > 0) {
        *out = named->extent;
        return true;
    }
    if (elf->frame_header.file_bytes < sizeof bytes ||
        !symbols_elf_at_vaddr(elf, elf->frame_header.vaddr, &header) ||
        !symbols_image_read(&elf->image, header.offset, bytes, sizeof bytes) || bytes[0] != 1)
        return false;

    struct symbols_cursor cursor =
        symbols_cursor_of(bytes + 4, sizeof bytes - 4, elf->frame_header.vaddr + 4);
    const uint64_t vaddr = symbols_get_encoded(&cursor, bytes[1], elf->frame_header.vaddr);

    return !cursor.is_failed && symbols_elf_at_vaddr(elf, vaddr, out);
}

/* .debug_frame, or .zdebug_frame, whichever there is. */
static struct symbols_frame_section find_debug_frames(const struct symbols_elf *elf,
                                                      const struct symbols_named *plain,
                                                      const struct symbols_named *legacy)
{
    const struct symbols_named *named = plain->is_found ? plain : legacy;
    struct symbols_frame_section section = {.image = elf->image, .extent = named->extent};

    if (plain->is_found && !plain->is_compressed)
        return section;
    if (named->is_found)
        section.unpacked = symbols_section_unpack(&elf->image, &section.extent, named == legacy,
                                                  &section.image.size_bytes);
    section.extent = (struct symbols_extent){
        .size_bytes = section.unpacked == NULL ? 0 : section.image.size_bytes};
    section.image.fd = -1;
    section.image.bytes = section.unpacked;
    section.image.start_offset = 0;
    return section;
}

uint64_t symbols_frames_find(const struct symbols_elf *elf, const struct symbols_elf *debug,
                             struct symbols_frame_section *sections)
{
    enum { DEBUG, LEGACY, EH, SFRAME, NAMED };
    struct symbols_named named[NAMED] = {{.name = ".debug_frame"},
                                         {.name = ".zdebug_frame"},
                                         {.name = ".eh_frame"},
                                         {.name = ".sframe"}};
    uint64_t size_bytes = 0;

    for (unsigned i = 0; i < SYMBOLS_FRAMES_LIMIT; i++)
        sections[i] = (struct symbols_frame_section){.image = elf->image};
    symbols_elf_find_named(elf, named, NAMED);
    if (!find_frames(elf, &named[EH], &sections[SYMBOLS_FRAMES_EH].extent))
        sections[SYMBOLS_FRAMES_EH].extent.size_bytes = 0;
    if (named[SFRAME].is_found && !named[SFRAME].is_compressed)
        sections[SYMBOLS_FRAMES_SFRAME].extent = named[SFRAME].extent;
    sections[SYMBOLS_FRAMES_DEBUG] = find_debug_frames(elf, &named[DEBUG], &named[LEGACY]);
    if (debug != NULL) {
        symbols_elf_find_named(debug, named, LEGACY + 1);
        sections[SYMBOLS_FRAMES_SEPARATE] = find_debug_frames(debug, &named[DEBUG], &named[LEGACY]);
    }
    for (unsigned i = 0; i < SYMBOLS_FRAMES_LIMIT; i++)
        size_bytes += sections[i].extent.size_bytes;
    return size_bytes;
}

void symbols_frames_close(struct symbols_frame_section *sections)
{
    for (unsigned i = 0; i < SYMBOLS_FRAMES_LIMIT; i++)
        jw_free(sections[i].unpacked);
}

bool symbols_frames_exist(const struct symbols_elf *elf)
{
    struct symbols_frame_section sections[SYMBOLS_FRAMES_LIMIT];
    const uint64_t section_bytes = symbols_frames_find(elf, NULL, sections);

    symbols_frames_close(sections);
    return section_bytes != 0;
}
