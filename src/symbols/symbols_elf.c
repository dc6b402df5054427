/*
 * ELF headers, segments, sections and build-id of an image, with every offset checked before it is
 * read; any, dump, control. Nothing here trusts the file: it may be cut, crafted or changing.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbols/symbols_internal.h"

#define SEGMENTS_MAX     256
#define SECTIONS_MAX     65535
#define NOTES_MAX_BYTES  4096
#define SECTION_NAME_MAX 32
/* Read at once: each call of the kernel costs as much as parsing a hundred entries. */
#define SEGMENT_BLOCK     16
#define SECTION_BLOCK     16
#define NAMES_BLOCK_BYTES 512

bool symbols_image_read(const struct symbols_image *image, uint64_t offset, void *bytes,
                        size_t size_bytes)
{
    if (offset > image->size_bytes || size_bytes > image->size_bytes - offset)
        return false;
    if (image->fd < 0) {
        memcpy(bytes, image->bytes + offset, size_bytes);
        return true;
    }

    size_t done_bytes = 0;
    while (done_bytes < size_bytes) {
        const ssize_t got =
            pread(image->fd, (unsigned char *)bytes + done_bytes, size_bytes - done_bytes,
                  (off_t)(image->start_offset + offset + done_bytes));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done_bytes += (size_t)got;
    }
    return true;
}

static bool add_segment(struct symbols_elf *elf, const Elf64_Phdr *header)
{
    const struct symbols_segment segment = {.vaddr = header->p_vaddr,
                                            .offset = header->p_offset,
                                            .file_bytes = header->p_filesz,
                                            .is_executable = (header->p_flags & PF_X) != 0};
    uint64_t end;

    if (__builtin_add_overflow(segment.vaddr, segment.file_bytes, &end) ||
        __builtin_add_overflow(segment.offset, segment.file_bytes, &end))
        return false;
    switch (header->p_type) {
    case PT_LOAD:
        if (elf->load_count == SYMBOLS_LOADS_MAX)
            return false;
        elf->loads[elf->load_count++] = segment;
        return true;
    case PT_GNU_EH_FRAME:
        elf->frame_header = segment;
        return true;
    case PT_DYNAMIC:
        elf->dynamic = segment;
        return true;
    default:
        return true;
    }
}

/* Looks for the build-id among notes; its place in them, or 0 for none. */
static size_t find_build_id(const unsigned char *notes, size_t size_bytes, unsigned char *build_id,
                            uint32_t *build_id_bytes)
{
    struct symbols_cursor cursor = symbols_cursor_of(notes, size_bytes, 0);

    while (symbols_cursor_left(&cursor) >= sizeof(Elf64_Nhdr)) {
        const uint64_t name_bytes = symbols_get_unsigned(&cursor, 4);
        const uint64_t value_bytes = symbols_get_unsigned(&cursor, 4);
        const uint64_t type = symbols_get_unsigned(&cursor, 4);
        const unsigned char *name = cursor.at;

        symbols_cursor_skip(&cursor, (name_bytes + 3) & ~(uint64_t)3);
        const unsigned char *value = cursor.at;
        symbols_cursor_skip(&cursor, (value_bytes + 3) & ~(uint64_t)3);
        if (cursor.is_failed)
            return 0;
        if (type == NT_GNU_BUILD_ID && name_bytes == sizeof "GNU" &&
            memcmp(name, "GNU", sizeof "GNU") == 0 && value_bytes <= SYMBOLS_BUILD_ID_BYTES) {
            memcpy(build_id, value, value_bytes);
            *build_id_bytes = (uint32_t)value_bytes;
            return (size_t)(value - notes);
        }
    }
    return 0;
}

/* Looks for it among the notes of one segment. */
static void read_notes(struct symbols_elf *elf, const Elf64_Phdr *header)
{
    unsigned char notes[NOTES_MAX_BYTES];
    const size_t size_bytes = header->p_filesz < sizeof notes ? header->p_filesz : sizeof notes;
    struct symbols_extent extent;

    if (!symbols_elf_at_vaddr(elf, header->p_vaddr, &extent) || size_bytes > extent.size_bytes ||
        !symbols_image_read(&elf->image, extent.offset, notes, size_bytes))
        return;
    elf->build_id_vaddr =
        header->p_vaddr + find_build_id(notes, size_bytes, elf->build_id, &elf->build_id_bytes);
}

static bool read_segments(struct symbols_elf *elf, const Elf64_Ehdr *header)
{
    Elf64_Phdr block[SEGMENT_BLOCK];

    for (unsigned pass = 0; pass < 2; pass++) {
        /* Notes are found through the loaded segments, so these come first. */
        for (unsigned i = 0; i < header->e_phnum; i++) {
            const Elf64_Phdr *segment = &block[i % SEGMENT_BLOCK];
            const unsigned left = header->e_phnum - i;
            const unsigned count = left < SEGMENT_BLOCK ? left : SEGMENT_BLOCK;

            if (i % SEGMENT_BLOCK == 0 && (pass == 0 || header->e_phnum > SEGMENT_BLOCK) &&
                !symbols_image_read(&elf->image, header->e_phoff + i * sizeof block[0], block,
                                    count * sizeof block[0]))
                return false;
            if (pass == 0 && !add_segment(elf, segment))
                return false;
            if (pass == 1 && segment->p_type == PT_NOTE && elf->build_id_bytes == 0)
                read_notes(elf, segment);
        }
    }
    return true;
}

bool symbols_elf_parse(struct symbols_elf *elf, const struct symbols_image *image,
                       struct jw_error *err)
{
    Elf64_Ehdr header;

    *elf = (struct symbols_elf){.image = *image};
    if (!symbols_image_read(image, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        jw_error_set(err, "not an ELF file");
        return false;
    }
    elf->header_word = header.e_shoff;
    elf->machine = symbols_machine_find(header.e_machine);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf->machine == NULL) {
        jw_error_set(err, "an ELF file of a machine that is not known here (%u)", header.e_machine);
        return false;
    }
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MAX ||
        !read_segments(elf, &header) || elf->load_count == 0) {
        jw_error_set(err, "damaged ELF program headers");
        return false;
    }
    if (header.e_shentsize == sizeof(Elf64_Shdr)) {
        elf->sections_offset = header.e_shoff;
        elf->section_count = header.e_shnum;
        elf->section_names_index = header.e_shstrndx;
    }
    return true;
}

bool symbols_elf_at_vaddr(const struct symbols_elf *elf, uint64_t vaddr, struct symbols_extent *out)
{
    for (uint32_t i = 0; i < elf->load_count; i++) {
        const struct symbols_segment *load = &elf->loads[i];

        if (vaddr < load->vaddr || vaddr - load->vaddr >= load->file_bytes)
            continue;
        const uint64_t inside = vaddr - load->vaddr;
        const bool is_file = elf->image.layout == SYMBOLS_LAYOUT_FILE;

        *out = (struct symbols_extent){.offset = is_file ? load->offset + inside : vaddr,
                                       .vaddr = vaddr,
                                       .size_bytes = load->file_bytes - inside};
        return true;
    }
    return false;
}

static bool read_section(const struct symbols_elf *elf, uint32_t index, Elf64_Shdr *out)
{
    uint64_t offset;

    return index < elf->section_count && index < SECTIONS_MAX &&
           !__builtin_add_overflow(elf->sections_offset, index * sizeof *out, &offset) &&
           symbols_image_read(&elf->image, offset, out, sizeof *out);
}

static bool section_extent(const struct symbols_elf *elf, const Elf64_Shdr *section,
                           struct symbols_extent *out)
{
    if (section->sh_type == SHT_NOBITS || section->sh_offset > elf->image.size_bytes ||
        section->sh_size > elf->image.size_bytes - section->sh_offset)
        return false;
    *out = (struct symbols_extent){.offset = section->sh_offset,
                                   .vaddr = section->sh_addr,
                                   .size_bytes = section->sh_size,
                                   .link = section->sh_link};
    return true;
}

/* The names of sections, the first of them read at once. */
struct section_names {
    struct symbols_extent extent;
    size_t size_bytes;
    char bytes[NAMES_BLOCK_BYTES];
};

static bool open_names(const struct symbols_elf *elf, struct section_names *names)
{
    if (!symbols_elf_section_at(elf, elf->section_names_index, &names->extent))
        return false;
    names->size_bytes = names->extent.size_bytes < sizeof names->bytes ? names->extent.size_bytes
                                                                       : sizeof names->bytes;
    return symbols_image_read(&elf->image, names->extent.offset, names->bytes, names->size_bytes);
}

/* Compares the name of a section, byte for byte with its terminator. */
static bool has_name(const struct symbols_elf *elf, const struct section_names *names,
                     const Elf64_Shdr *section, const char *name)
{
    char found[SECTION_NAME_MAX];
    const size_t size_bytes = strlen(name) + 1;

    if (size_bytes > sizeof found || section->sh_name >= names->extent.size_bytes ||
        size_bytes > names->extent.size_bytes - section->sh_name)
        return false;
    if (section->sh_name + size_bytes <= names->size_bytes)
        return memcmp(names->bytes + section->sh_name, name, size_bytes) == 0;
    return symbols_image_read(&elf->image, names->extent.offset + section->sh_name, found,
                              size_bytes) &&
           memcmp(found, name, size_bytes) == 0;
}

static bool is_packed(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_COMPRESSED) != 0;
}

/* Every section in turn, in blocks. False: there are no more, or the next ones cannot be read. */
struct section_block {
    uint32_t next_index;
    Elf64_Shdr sections[SECTION_BLOCK];
};

static const Elf64_Shdr *next_section(const struct symbols_elf *elf, struct section_block *block)
{
    const uint32_t section_count =
        elf->section_count < SECTIONS_MAX ? elf->section_count : SECTIONS_MAX;
    const uint32_t index = block->next_index, left = section_count - index;
    const uint32_t count = left < SECTION_BLOCK ? left : SECTION_BLOCK;
    uint64_t offset;

    if (left == 0 || (index % SECTION_BLOCK == 0 &&
                      (__builtin_add_overflow(elf->sections_offset,
                                              index * sizeof block->sections[0], &offset) ||
                       !symbols_image_read(&elf->image, offset, block->sections,
                                           count * sizeof block->sections[0]))))
        return NULL;
    block->next_index++;
    return &block->sections[index % SECTION_BLOCK];
}

bool symbols_elf_find_section(const struct symbols_elf *elf, uint32_t type, const char *name,
                              struct symbols_extent *out)
{
    struct section_names names;
    struct section_block block;
    const Elf64_Shdr *section;

    block.next_index = 0;
    if (name != NULL && !open_names(elf, &names))
        return false;
    while ((section = next_section(elf, &block)) != NULL)
        if ((type == SHT_NULL || section->sh_type == type) &&
            (name == NULL || has_name(elf, &names, section, name)))
            return !is_packed(section) && section_extent(elf, section, out);
    return false;
}

void symbols_elf_find_named(const struct symbols_elf *elf, struct symbols_named *wanted,
                            unsigned count)
{
    struct section_names names;
    struct section_block block;
    const Elf64_Shdr *section;

    block.next_index = 0;
    for (unsigned i = 0; i < count; i++)
        wanted[i] = (struct symbols_named){.name = wanted[i].name};
    if (!open_names(elf, &names))
        return;
    while ((section = next_section(elf, &block)) != NULL) {
        for (unsigned i = 0; i < count; i++) {
            struct symbols_named *named = &wanted[i];

            if (named->is_seen || !has_name(elf, &names, section, named->name))
                continue;
            named->is_seen = true;
            named->is_compressed = is_packed(section);
            named->is_found = section_extent(elf, section, &named->extent);
        }
    }
}

bool symbols_elf_section_at(const struct symbols_elf *elf, uint32_t index,
                            struct symbols_extent *out)
{
    Elf64_Shdr section;

    return read_section(elf, index, &section) && !is_packed(&section) &&
           section_extent(elf, &section, out);
}

bool symbols_elf_build_id(const struct symbols_elf *elf, unsigned char *build_id,
                          uint32_t *build_id_bytes)
{
    unsigned char notes[NOTES_MAX_BYTES];
    struct symbols_extent extent;

    return symbols_elf_find_section(elf, SHT_NOTE, ".note.gnu.build-id", &extent) &&
           extent.size_bytes <= sizeof notes &&
           symbols_image_read(&elf->image, extent.offset, notes, extent.size_bytes) &&
           find_build_id(notes, extent.size_bytes, build_id, build_id_bytes) != 0;
}
