/* Small ELF images made in memory, with an .eh_frame of the test's choice. */
#ifndef JW_TESTS_SYMBOLS_MADE_ELF_H
#define JW_TESTS_SYMBOLS_MADE_ELF_H

#include <elf.h>
#include <string.h>

#include "symbols/symbols_frames_internal.h"

#define MADE_TEXT_VADDR ((uint64_t)0x10000)
#define MADE_TEXT_BYTES ((uint64_t)0x10000)

/*
 *     0x0000   ELF header, one segment of code (at vaddr 0x10000), one of the whole file (at 0)
 *     0x0100   section headers: null, .shstrtab, .eh_frame
 *     0x0200   .shstrtab
 *     0x0400   .eh_frame, to the end
 */
struct made_elf {
    unsigned char bytes[0x4000];
    size_t used_bytes;
    size_t cie_offset;
    struct symbols_elf elf;
};

static inline void made_put(struct made_elf *made, const void *bytes, size_t size_bytes)
{
    if (size_bytes > 0)
        memcpy(made->bytes + made->used_bytes, bytes, size_bytes);
    made->used_bytes += size_bytes;
}

static inline void made_put_number(struct made_elf *made, uint64_t value, size_t size_bytes)
{
    made_put(made, &value, size_bytes);
}

static inline void made_begin(struct made_elf *made)
{
    memset(made, 0, sizeof *made);
    made->used_bytes = 0x400;
}

/* A CIE with augmentation "zR" or "zRS", pointers of 8 bytes, and these instructions. */
static inline void made_cie(struct made_elf *made, const char *augmentation,
                            uint8_t return_register, int8_t data_align, uint8_t code_align,
                            const void *program, size_t program_bytes)
{
    made->cie_offset = made->used_bytes;
    made_put_number(made, 4 + 1 + strlen(augmentation) + 1 + 3 + 2 + program_bytes, 4);
    made_put_number(made, 0, 4);
    made_put_number(made, 1, 1);
    made_put(made, augmentation, strlen(augmentation) + 1);
    made_put_number(made, code_align, 1);
    made_put_number(made, (uint64_t)data_align & 0x7f, 1);
    made_put_number(made, return_register, 1);
    made_put_number(made, 1, 1); /* augmentation data: one byte, the pointer encoding */
    made_put_number(made, 0, 1); /* absolute */
    made_put(made, program, program_bytes);
}

/* A function at this offset of the text. */
static inline void made_fde(struct made_elf *made, uint64_t text_offset, uint64_t size_bytes,
                            const void *program, size_t program_bytes)
{
    made_put_number(made, 4 + 8 + 8 + 1 + program_bytes, 4);
    made_put_number(made, made->used_bytes - made->cie_offset, 4);
    made_put_number(made, MADE_TEXT_VADDR + text_offset, 8);
    made_put_number(made, size_bytes, 8);
    made_put_number(made, 0, 1); /* no augmentation data */
    made_put(made, program, program_bytes);
}

/* Writes the headers, with the section under this name of at most 15 bytes; true: the image parses. */
static inline bool made_finish_as(struct made_elf *made, uint16_t machine, const char *name)
{
    char names[32] = "\0.shstrtab";

    strcpy(names + 11, name);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = machine,
        .e_phoff = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shoff = 0x100,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 1};
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = made->used_bytes},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_vaddr = MADE_TEXT_VADDR,
         .p_offset = 0x1000,
         .p_filesz = MADE_TEXT_BYTES},
    };
    const Elf64_Shdr sections[3] = {
        [1] = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = 0x200, .sh_size = sizeof names},
        [2] = {.sh_name = 11,
               .sh_type = SHT_PROGBITS,
               .sh_addr = 0x400,
               .sh_offset = 0x400,
               .sh_size = made->used_bytes - 0x400},
    };
    const struct symbols_image image = {
        .fd = -1, .bytes = made->bytes, .size_bytes = made->used_bytes};

    memcpy(made->bytes, &header, sizeof header);
    memcpy(made->bytes + sizeof header, segments, sizeof segments);
    memcpy(made->bytes + 0x100, sections, sizeof sections);
    memcpy(made->bytes + 0x200, names, sizeof names);
    return symbols_elf_parse(&made->elf, &image, NULL);
}

static inline bool made_finish(struct made_elf *made, uint16_t machine)
{
    made_put_number(made, 0, 4); /* the section's terminator */
    return made_finish_as(made, machine, ".eh_frame");
}

#endif
