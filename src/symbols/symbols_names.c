/*
 * Names of functions: an index of the symbol table by address; sizes and names are read from the
 * file when they are asked for. Also the search for one symbol by name. Any, dump, control.
 */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/counters.h"
#include "base/memory.h"
#include "symbols/symbols_internal.h"

#define LOOK_BACK_MAX     32  /* symbols that begin before a pc, of which one may hold it */
#define DYNAMIC_MAX       256 /* entries of a dynamic section; real ones have about thirty */
#define UNDERSCORE_MAX    3
#define WINDOW_BYTES      ((size_t)64 << 10)
#define TABLE_MAX_BYTES   ((uint64_t)512 << 20)
#define NAME_WINDOW_BYTES 256 /* nearly every name is shorter */

/* Where a symbol table and its strings stand. */
struct symbols_table {
    struct symbols_extent symbols, strings;
};

/* Addresses in a dynamic section: the loader has added the bias to those it left in memory. */
static uint64_t dynamic_vaddr(const struct symbols_elf *elf, uint64_t value)
{
    return elf->image.layout == SYMBOLS_LAYOUT_LOADED && value >= elf->image.start_offset
               ? value - elf->image.start_offset
               : value;
}

/*
 * Dynamic symbols of an image without sections. Their number is told nowhere plainly; every linker
 * puts the strings right behind them.
 */
static bool find_dynamic(const struct symbols_elf *elf, struct symbols_table *out)
{
    struct symbols_extent dynamic;
    uint64_t symbols_vaddr = 0, strings_vaddr = 0, string_bytes = 0;

    if (elf->dynamic.file_bytes == 0 || !symbols_elf_at_vaddr(elf, elf->dynamic.vaddr, &dynamic))
        return false;
    for (uint64_t i = 0; i < DYNAMIC_MAX && i < elf->dynamic.file_bytes / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;

        if (!symbols_image_read(&elf->image, dynamic.offset + i * sizeof entry, &entry,
                                sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            symbols_vaddr = dynamic_vaddr(elf, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            strings_vaddr = dynamic_vaddr(elf, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRSZ)
            string_bytes = entry.d_un.d_val;
    }
    if (symbols_vaddr == 0 || strings_vaddr <= symbols_vaddr || string_bytes == 0 ||
        !symbols_elf_at_vaddr(elf, symbols_vaddr, &out->symbols) ||
        !symbols_elf_at_vaddr(elf, strings_vaddr, &out->strings) ||
        out->symbols.size_bytes < strings_vaddr - symbols_vaddr ||
        out->strings.size_bytes < string_bytes)
        return false;
    out->symbols.size_bytes = strings_vaddr - symbols_vaddr;
    out->strings.size_bytes = string_bytes;
    return true;
}

/* The fullest table that the image has, or with `is_dynamic` the one that the loader uses. */
static bool find_table(const struct symbols_elf *elf, bool is_dynamic, struct symbols_table *out)
{
    const bool has_section =
        (!is_dynamic && symbols_elf_find_section(elf, SHT_SYMTAB, NULL, &out->symbols)) ||
        symbols_elf_find_section(elf, SHT_DYNSYM, NULL, &out->symbols);

    return ((has_section && symbols_elf_section_at(elf, out->symbols.link, &out->strings)) ||
            find_dynamic(elf, out)) &&
           out->symbols.size_bytes <= TABLE_MAX_BYTES;
}

static bool is_function(const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

/* Lists the functions of the text; returns their number, at most `limit`. */
static uint64_t collect(struct symbols_window *window, uint64_t text_vaddr, uint64_t text_bytes,
                        struct symbols_key *out, uint64_t limit)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < limit; i++) {
        Elf64_Sym symbol;
        const unsigned char *bytes = symbols_window_at(window, i * sizeof symbol, sizeof symbol);

        if (bytes == NULL)
            break;
        memcpy(&symbol, bytes, sizeof symbol);
        if (is_function(&symbol) && symbol.st_value >= text_vaddr &&
            symbol.st_value - text_vaddr < text_bytes)
            out[count++] = (struct symbols_key){
                .text_offset = (uint32_t)(symbol.st_value - text_vaddr), .value = (uint32_t)i};
    }
    return count;
}

struct symbols_names *symbols_names_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                          uint64_t text_bytes, bool *is_refused,
                                          struct jw_error *err)
{
    struct symbols_table table;
    struct symbols_window window;
    struct jw_arena memory;
    struct symbols_names *names = NULL;

    if (text_bytes > UINT32_MAX || !find_table(elf, false, &table)) {
        jw_error_set(err, "no symbol table");
        return NULL;
    }
    const uint64_t limit = table.symbols.size_bytes / sizeof(Elf64_Sym);
    const uint64_t memory_bytes = 2 * (limit + 1) * sizeof(struct symbols_key);
    if (!jw_memory_charge(JW_MEMORY_SYMBOLS, memory_bytes)) {
        jw_error_set(err, "memlimit leaves no room for the symbols of a library; try a larger one");
        jw_count(JW_COUNT_SYMBOLS_REFUSED);
        *is_refused = true;
        return NULL;
    }
    if (!jw_arena_open(&memory, memory_bytes, "the symbols of a library", err)) {
        jw_memory_credit(JW_MEMORY_SYMBOLS, memory_bytes);
        return NULL;
    }
    if (symbols_window_open(&window, &elf->image, &table.symbols, WINDOW_BYTES)) {
        struct symbols_key *keys = (struct symbols_key *)(void *)memory.bytes;
        const uint64_t count = collect(&window, text_vaddr, text_bytes, keys, limit);
        const uint64_t size_bytes = sizeof *names + count * sizeof keys[0];

        names = jw_alloc(size_bytes);
        if (names != NULL) {
            names->image = elf->image;
            names->symbols = table.symbols;
            names->strings = table.strings;
            names->size_bytes = size_bytes;
            names->function_count = (uint32_t)count;
            memcpy(names->functions, symbols_sort(keys, keys + limit + 1, count),
                   count * sizeof keys[0]);
        }
    }
    symbols_window_close(&window);
    jw_arena_close(&memory);
    jw_memory_credit(JW_MEMORY_SYMBOLS, memory_bytes);
    if (names == NULL) {
        jw_error_set(err, "out of memory for the symbols of a library");
        jw_count(JW_COUNT_SYMBOLS_REFUSED);
        *is_refused = true;
    }
    return names;
}

/* Reads a name up to its end, its version ("@GLIBC_2.2.5") or the room for it; false: no name. */
static bool read_name(const struct symbols_image *image, const struct symbols_extent *strings,
                      uint64_t string_offset, char *name, size_t name_bytes)
{
    if (string_offset >= strings->size_bytes || name_bytes == 0)
        return false;

    const uint64_t left_bytes = strings->size_bytes - string_offset;
    size_t wanted_bytes = name_bytes < NAME_WINDOW_BYTES ? name_bytes : NAME_WINDOW_BYTES;
    for (;;) {
        if (wanted_bytes > left_bytes)
            wanted_bytes = left_bytes;
        if (!symbols_image_read(image, strings->offset + string_offset, name, wanted_bytes))
            return false;
        if (memchr(name, '\0', wanted_bytes) != NULL || wanted_bytes == left_bytes ||
            wanted_bytes == name_bytes)
            break;
        wanted_bytes = name_bytes;
    }
    name[wanted_bytes < name_bytes ? wanted_bytes : name_bytes - 1] = '\0';
    name[strcspn(name, "@")] = '\0';
    return name[0] != '\0';
}

/* Lower is better: having a size, being exported, few underscores (libc exports sigaction weak and
 * __sigaction strong), strong binding. */
static unsigned rank_of(const Elf64_Sym *symbol, const char *name)
{
    const unsigned binding = ELF64_ST_BIND(symbol->st_info);
    unsigned underscores = 0;

    while (underscores < UNDERSCORE_MAX && name[underscores] == '_')
        underscores++;
    return (symbol->st_size == 0 ? 64u : 0u) + (binding == STB_LOCAL ? 32u : 0u) + 2 * underscores +
           (binding == STB_WEAK ? 1u : 0u);
}

/* The last symbol that begins at or before the offset, as an index plus one; 0: none. */
static uint32_t last_before(const struct symbols_names *names, uint64_t text_offset)
{
    uint32_t low = 0, high = names->function_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (names->functions[middle].text_offset <= text_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool symbols_names_find(const struct symbols_names *names, uint64_t text_offset, char *name,
                        size_t name_bytes, uint64_t *offset_bytes)
{
    const uint32_t last = last_before(names, text_offset);
    unsigned best_rank = 0;
    uint32_t best_offset = 0;
    bool is_found = false;

    for (uint32_t i = last; i > 0 && last - i < LOOK_BACK_MAX; i--) {
        const struct symbols_key *key = &names->functions[i - 1];
        char candidate[SYMBOLS_NAME_BYTES];
        Elf64_Sym symbol;

        /* All symbols of one address compete; then the innermost has been found. */
        if (is_found && key->text_offset != best_offset)
            break;
        if (!symbols_image_read(&names->image, names->symbols.offset + key->value * sizeof symbol,
                                &symbol, sizeof symbol))
            continue;
        const bool is_nearest = key->text_offset == names->functions[last - 1].text_offset;
        const bool holds = names->stub_bytes != 0
                               ? is_nearest && text_offset - key->text_offset < names->stub_bytes
                               : text_offset - key->text_offset < symbol.st_size ||
                                     /* Without a size it reaches to the next symbol. */
                                     (symbol.st_size == 0 && is_nearest);

        if (!holds ||
            !read_name(&names->image, &names->strings, symbol.st_name, candidate, sizeof candidate))
            continue;
        const unsigned rank = rank_of(&symbol, candidate);
        if (is_found && rank >= best_rank)
            continue;
        is_found = true;
        best_rank = rank;
        best_offset = key->text_offset;
        const size_t length_bytes = strnlen(candidate, name_bytes - 1);
        memcpy(name, candidate, length_bytes);
        name[length_bytes] = '\0';
        if (names->stub_bytes != 0 && name_bytes - length_bytes > sizeof "@plt")
            memcpy(name + length_bytes, "@plt", sizeof "@plt");
    }
    *offset_bytes = text_offset - best_offset;
    return is_found;
}

/* Goes through a table for a name; its strings are read in a window that follows the symbols. */
static bool search(const struct symbols_elf *elf, const struct symbols_table *table,
                   const char *symbol, uint64_t *vaddr)
{
    struct symbols_window symbols, strings;
    const size_t size_bytes = strlen(symbol) + 1;
    bool is_found = false;

    if (!symbols_window_open(&symbols, &elf->image, &table->symbols, WINDOW_BYTES))
        return false;
    if (!symbols_window_open(&strings, &elf->image, &table->strings, table->strings.size_bytes)) {
        symbols_window_close(&symbols);
        return false;
    }
    (void)symbols_window_at(&strings, 0, table->strings.size_bytes);
    for (uint64_t offset = 0; !is_found; offset += sizeof(Elf64_Sym)) {
        Elf64_Sym candidate;
        const unsigned char *bytes = symbols_window_at(&symbols, offset, sizeof candidate);

        if (bytes == NULL)
            break;
        memcpy(&candidate, bytes, sizeof candidate);
        if (candidate.st_shndx == SHN_UNDEF || candidate.st_value == 0 ||
            ELF64_ST_TYPE(candidate.st_info) == STT_TLS)
            continue;
        const unsigned char *name = symbols_window_at(&strings, candidate.st_name, size_bytes);
        is_found = name != NULL && memcmp(name, symbol, size_bytes) == 0;
        *vaddr = candidate.st_value;
    }
    symbols_window_close(&strings);
    symbols_window_close(&symbols);
    return is_found;
}

bool symbols_elf_find_symbol(const struct symbols_elf *elf, const char *symbol, uint64_t *vaddr)
{
    struct symbols_table table;

    /* The loader's table is small; most questions end there. */
    return (find_table(elf, true, &table) && search(elf, &table, symbol, vaddr)) ||
           (find_table(elf, false, &table) && search(elf, &table, symbol, vaddr));
}
