/* What the agent's own thread does so that handlers can leave native frames: rows from .eh_frame. */
#include "counted.h"

#include <elf.h>
#include <string.h>

#include "symbols/symbols_frames_internal.h"

#define FUNCTIONS_MAX  4000
#define FUNCTION_BYTES 256
#define FRAMES_OFFSET  0x1000
#define TEXT_VADDR     0x1000000u
#define TEXT_BYTES     (FUNCTIONS_MAX * FUNCTION_BYTES)

/*
 *     0x0000   ELF header, segments: the whole file (at 0), code (at TEXT_VADDR)
 *     0x0200   section headers: null, .shstrtab, .eh_frame
 *     0x0400   .shstrtab
 *     0x1000   .eh_frame
 */
static unsigned char image_bytes[FRAMES_OFFSET + FUNCTIONS_MAX * 64 + 4096];
static size_t used_bytes;
static struct symbols_elf elf;

static void put(const void *bytes, size_t size_bytes)
{
    memcpy(image_bytes + used_bytes, bytes, size_bytes);
    used_bytes += size_bytes;
}

static void put_number(uint32_t number)
{
    put(&number, sizeof number);
}

/* As compilers write it: a frame pointer, four saved registers, an early return, and what is left of the entry. */
static void put_function(unsigned number)
{
    static const unsigned char program[] = {
        0x00,                            /* no augmentation data */
        0x41, 0x0e, 16,   0x86, 2,       /* push rbp */
        0x43, 0x0d, 6,                   /* CFA by rbp */
        0x44, 0x8f, 3,    0x8e, 4,       /* pushes */
        0x44, 0x8d, 5,    0x83, 6,       /* */
        0x02, 0x60, 0x0a, 0x0c, 7,    8, /* a return, the state before it remembered */
        0x41, 0x0b, 0x02, 0x50, 0x0c, 7, 8, 0x00, 0x00, 0x00,
    };

    put_number(12 + sizeof program);
    put_number((uint32_t)(used_bytes - FRAMES_OFFSET));
    put_number(TEXT_VADDR + number * FUNCTION_BYTES - (uint32_t)used_bytes);
    put_number(FUNCTION_BYTES - 16 * (number % 3));
    put(program, sizeof program);
}

static void open_image(unsigned operations)
{
    static const unsigned char cie[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                        1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
    static const char names[] = "\0.shstrtab\0.eh_frame";
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_phoff = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shoff = 0x200,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 1};
    struct jw_error err = {0};

    used_bytes = FRAMES_OFFSET;
    put(cie, sizeof cie);
    for (unsigned i = 0; i < operations; i++)
        put_function(i);
    put_number(0);
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = used_bytes},
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT_VADDR, .p_filesz = TEXT_BYTES}};
    const Elf64_Shdr sections[3] = {
        [1] = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = 0x400, .sh_size = sizeof names},
        [2] = {.sh_name = 11,
               .sh_type = SHT_PROGBITS,
               .sh_addr = FRAMES_OFFSET,
               .sh_offset = FRAMES_OFFSET,
               .sh_size = used_bytes - FRAMES_OFFSET}};
    memcpy(image_bytes, &header, sizeof header);
    memcpy(image_bytes + sizeof header, segments, sizeof segments);
    memcpy(image_bytes + 0x200, sections, sizeof sections);
    memcpy(image_bytes + 0x400, names, sizeof names);

    const struct symbols_image image = {.fd = -1, .bytes = image_bytes, .size_bytes = used_bytes};
    counted_need(symbols_elf_parse(&elf, &image, &err), "symbols_elf_parse", &err);
}

static void build_rows(unsigned operations)
{
    struct jw_error err = {0};
    struct symbols_rows *rows = symbols_rows_build(&elf, TEXT_VADDR, TEXT_BYTES, &err);

    counted_need(rows != NULL && rows->function_count == operations && rows->frames_refused == 0 &&
                     rows->row_count >= 5 * operations,
                 "rows of made functions", &err);
    counted_sink += rows->row_count;
    symbols_rows_free(rows);
}

static void close_image(void)
{
}

const struct counted counted_symbols[] = {
    {"symbols_rows_a_function", open_image, build_rows, close_image, 500, FUNCTIONS_MAX},
};
const size_t counted_symbols_count = JW_COUNT_OF(counted_symbols);
