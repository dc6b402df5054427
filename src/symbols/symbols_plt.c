/*
 * Names of the stubs through which a library calls others (PLT): no symbol table has them. Each jumps through a word of the GOT, and a
 * relocation says whose address that word holds. Any, dump, control.
 */
#include <elf.h>
#include <string.h>

#include "base/counters.h"
#include "symbols/symbols_internal.h"

#define WINDOW_BYTES   ((size_t)64 << 10)
#define RELOCATION_MAX ((uint64_t)1 << 22)
#define STUB_MAX_BYTES 24

/* What the tables of a library say of its stubs while they are put together. */
struct stubs {
    const struct symbols_elf *elf;
    uint64_t text_vaddr, text_bytes;
    struct symbols_key *slots; /* GOT word -> dynamic symbol; sorted */
    uint64_t slot_count;
    struct symbols_key *found;
    uint64_t found_count, found_max;
};

/*
 * The GOT word through which the stub of x86-64 at these bytes jumps; 0: there is none. Source: System V ABI, AMD64 supplement, "Procedure
 * Linkage Table": jmp *word(%rip), behind endbr64 and with a bnd prefix where those are in use.
 */
static uint64_t x86_word(const unsigned char *bytes, uint64_t vaddr)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = 0;
    int32_t distance;

    if (memcmp(bytes, endbr64, sizeof endbr64) == 0)
        at = sizeof endbr64;
    if (bytes[at] == 0xf2)
        at++;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return 0;
    memcpy(&distance, bytes + at + 2, sizeof distance);
    return vaddr + at + 6 + (uint64_t)(int64_t)distance;
}

/* Source: ELF for the Arm 64-bit Architecture, "Procedure Linkage Table": adrp x16, page; ldr x17, [x16, offset]; bti c may come first. */
static uint64_t aarch64_word(const unsigned char *bytes, uint64_t vaddr)
{
    uint32_t code[3];
    unsigned at = 0;

    memcpy(code, bytes, sizeof code);
    if (code[0] == 0xd503245f)
        at = 1;
    if ((code[at] & 0x9f00001f) != 0x90000010 || (code[at + 1] & 0xffc003ff) != 0xf9400211)
        return 0;
    const uint64_t pages = ((uint64_t)((code[at] >> 5) & 0x7ffff) << 2) | ((code[at] >> 29) & 3);
    const uint64_t page = ((vaddr + 4 * at) & ~(uint64_t)0xfff) +
                          (uint64_t)((int64_t)(pages << 43) >> 31); /* 21 bits with a sign */

    return page + ((uint64_t)((code[at + 1] >> 10) & 0xfff) << 3);
}

/* Lists the GOT words that relocations of this section fill with the address of a symbol. */
static void collect_slots(struct stubs *stubs, const struct symbols_extent *relocations,
                          uint64_t limit)
{
    const bool is_x86 = stubs->elf->machine->elf_machine == EM_X86_64;
    const uint32_t jump = is_x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT;
    const uint32_t data = is_x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT;
    struct symbols_window window;

    if (!symbols_window_open(&window, &stubs->elf->image, relocations, WINDOW_BYTES))
        return;
    for (uint64_t i = 0; stubs->slot_count < limit; i++) {
        Elf64_Rela relocation;
        const unsigned char *bytes =
            symbols_window_at(&window, i * sizeof relocation, sizeof relocation);

        if (bytes == NULL)
            break;
        memcpy(&relocation, bytes, sizeof relocation);
        const uint32_t type = (uint32_t)ELF64_R_TYPE(relocation.r_info);
        if ((type == jump || type == data) && relocation.r_offset <= UINT32_MAX &&
            ELF64_R_SYM(relocation.r_info) != 0)
            stubs->slots[stubs->slot_count++] =
                (struct symbols_key){.text_offset = (uint32_t)relocation.r_offset,
                                     .value = (uint32_t)ELF64_R_SYM(relocation.r_info)};
    }
    symbols_window_close(&window);
}

/* The symbol of this GOT word; 0: none. */
static uint32_t symbol_of(const struct stubs *stubs, uint64_t word_vaddr)
{
    uint64_t low = 0, high = stubs->slot_count;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (stubs->slots[middle].text_offset < word_vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stubs->slot_count && stubs->slots[low].text_offset == word_vaddr
               ? stubs->slots[low].value
               : 0;
}

static void collect_stubs(struct stubs *stubs, const struct symbols_extent *code)
{
    struct symbols_window window;
    uint64_t end_vaddr;

    if (code->vaddr < stubs->text_vaddr ||
        __builtin_add_overflow(code->vaddr, code->size_bytes, &end_vaddr) ||
        end_vaddr - stubs->text_vaddr > stubs->text_bytes ||
        !symbols_window_open(&window, &stubs->elf->image, code, WINDOW_BYTES))
        return;
    /* Stubs begin at multiples of eight, on both machines. */
    for (uint64_t offset = 0; stubs->found_count < stubs->found_max; offset += 8) {
        unsigned char bytes[16] = {0};
        const uint64_t left_bytes = offset < code->size_bytes ? code->size_bytes - offset : 0;
        const size_t size_bytes = left_bytes < sizeof bytes ? left_bytes : sizeof bytes;
        const unsigned char *at =
            size_bytes < 8 ? NULL : symbols_window_at(&window, offset, size_bytes);

        if (at == NULL)
            break;
        memcpy(bytes, at, size_bytes);
        const uint64_t vaddr = code->vaddr + offset;
        const uint64_t word = stubs->elf->machine->elf_machine == EM_X86_64
                                  ? x86_word(bytes, vaddr)
                                  : aarch64_word(bytes, vaddr);
        const uint32_t symbol = word == 0 ? 0 : symbol_of(stubs, word);

        if (symbol != 0)
            stubs->found[stubs->found_count++] = (struct symbols_key){
                .text_offset = (uint32_t)(vaddr - stubs->text_vaddr), .value = symbol};
    }
    symbols_window_close(&window);
    /* Symbol 0 has no name: here the last stub ends at the latest. */
    if (stubs->found_count < stubs->found_max)
        stubs->found[stubs->found_count++] =
            (struct symbols_key){.text_offset = (uint32_t)(end_vaddr - stubs->text_vaddr)};
}

static uint64_t count_of(const struct symbols_extent *extent, uint64_t entry_bytes)
{
    const uint64_t count = extent->size_bytes / entry_bytes;

    return count < RELOCATION_MAX ? count : RELOCATION_MAX;
}

static struct symbols_names *names_of(const struct stubs *stubs,
                                      const struct symbols_extent *symbols,
                                      const struct symbols_extent *strings,
                                      const struct symbols_key *sorted)
{
    const uint64_t size_bytes =
        sizeof(struct symbols_names) + stubs->found_count * sizeof(struct symbols_key);
    struct symbols_names *names = jw_alloc(size_bytes);

    if (names == NULL)
        return NULL;
    names->image = stubs->elf->image;
    names->symbols = *symbols;
    names->strings = *strings;
    names->size_bytes = size_bytes;
    names->function_count = (uint32_t)stubs->found_count;
    names->stub_bytes = STUB_MAX_BYTES;
    memcpy(names->functions, sorted, stubs->found_count * sizeof(struct symbols_key));
    return names;
}

struct symbols_names *symbols_plt_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                        uint64_t text_bytes)
{
    static const char *const code_names[] = {".plt", ".plt.sec", ".plt.got"};
    static const char *const relocation_names[] = {".rela.plt", ".rela.dyn"};
    struct symbols_extent code[JW_COUNT_OF(code_names)] = {0}, relocations[2] = {0};
    struct symbols_extent symbols, strings;
    struct stubs stubs = {.elf = elf, .text_vaddr = text_vaddr, .text_bytes = text_bytes};
    struct symbols_names *names = NULL;
    uint64_t slot_max = 0;

    if (text_bytes > UINT32_MAX || !symbols_elf_find_section(elf, SHT_DYNSYM, NULL, &symbols) ||
        !symbols_elf_section_at(elf, symbols.link, &strings))
        return NULL;
    for (size_t i = 0; i < JW_COUNT_OF(code_names); i++)
        if (symbols_elf_find_section(elf, SHT_PROGBITS, code_names[i], &code[i]))
            stubs.found_max += count_of(&code[i], 8) + 1;
    for (size_t i = 0; i < JW_COUNT_OF(relocation_names); i++)
        if (symbols_elf_find_section(elf, SHT_RELA, relocation_names[i], &relocations[i]))
            slot_max += count_of(&relocations[i], sizeof(Elf64_Rela));
    if (stubs.found_max == 0 || slot_max == 0)
        return NULL;

    const uint64_t key_count = slot_max > stubs.found_max ? slot_max : stubs.found_max;
    struct symbols_key *scratch = jw_alloc(jw_mul_bytes(key_count, sizeof *scratch));
    struct symbols_key *slots = jw_alloc(jw_mul_bytes(slot_max, sizeof *slots));
    stubs.found = jw_alloc(jw_mul_bytes(stubs.found_max, sizeof *stubs.found));
    if (scratch != NULL && slots != NULL && stubs.found != NULL) {
        struct symbols_key *const found = stubs.found;

        stubs.slots = slots;
        for (size_t i = 0; i < JW_COUNT_OF(relocation_names); i++)
            collect_slots(&stubs, &relocations[i], slot_max);
        const struct symbols_key *sorted = symbols_sort(slots, scratch, stubs.slot_count);
        if (sorted != slots) /* both arrays are wanted again */
            memcpy(slots, sorted, stubs.slot_count * sizeof *slots);
        for (size_t i = 0; i < JW_COUNT_OF(code_names); i++)
            collect_stubs(&stubs, &code[i]);
        if (stubs.found_count > 0)
            names = names_of(&stubs, &symbols, &strings,
                             symbols_sort(found, scratch, stubs.found_count));
    }
    jw_free(stubs.found);
    jw_free(slots);
    jw_free(scratch);
    return names;
}
