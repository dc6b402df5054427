/*
 * Names of functions: the symbol table of an image cut down to its functions, sorted, with their
 * names beside it; any, dump, control. Also the search for one symbol by name.
 */
#include <elf.h>
#include <string.h>

#include "symbols/symbols_internal.h"

#define LOOK_BACK_MAX  32 /* functions that begin before the one that holds a pc and end after it */
#define DYNAMIC_MAX    256 /* entries of a dynamic section; real ones have about thirty */
#define UNDERSCORE_MAX 3
#define TEXT_MAX_BYTES                                                                             \
    ((uint64_t)256 << 20) /* a crafted table can name one string a million times */

/* A symbol table with its strings, in memory. */
struct symbols_table {
    struct jw_arena symbol_memory, string_memory;
    const Elf64_Sym *symbols;
    uint64_t symbol_count;
    const char *strings;
    uint64_t string_bytes;
};

static bool load_table(struct symbols_table *table, const struct symbols_elf *elf,
                       const struct symbols_extent *symbols, const struct symbols_extent *strings,
                       struct jw_error *err)
{
    if (!symbols_elf_load(elf, symbols, &table->symbol_memory, err))
        return false;
    if (!symbols_elf_load(elf, strings, &table->string_memory, err)) {
        jw_arena_close(&table->symbol_memory);
        return false;
    }
    table->symbols = (const Elf64_Sym *)(const void *)table->symbol_memory.bytes;
    table->symbol_count = symbols->size_bytes / sizeof(Elf64_Sym);
    table->strings = (const char *)table->string_memory.bytes;
    table->string_bytes = strings->size_bytes;
    return true;
}

static void close_table(struct symbols_table *table)
{
    jw_arena_close(&table->symbol_memory);
    jw_arena_close(&table->string_memory);
}

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
static bool dynamic_extents(const struct symbols_elf *elf, struct symbols_extent *symbols,
                            struct symbols_extent *strings)
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
        !symbols_elf_at_vaddr(elf, symbols_vaddr, symbols) ||
        !symbols_elf_at_vaddr(elf, strings_vaddr, strings) ||
        symbols->size_bytes < strings_vaddr - symbols_vaddr || strings->size_bytes < string_bytes)
        return false;
    symbols->size_bytes = strings_vaddr - symbols_vaddr;
    strings->size_bytes = string_bytes;
    return true;
}

/* The fullest table that the image has, or with `is_dynamic` the one that the loader uses. */
static bool open_table(struct symbols_table *table, const struct symbols_elf *elf, bool is_dynamic,
                       struct jw_error *err)
{
    struct symbols_extent symbols, strings;

    if ((!is_dynamic && symbols_elf_find_section(elf, SHT_SYMTAB, NULL, &symbols)) ||
        symbols_elf_find_section(elf, SHT_DYNSYM, NULL, &symbols)) {
        if (symbols_elf_section_at(elf, symbols.link, &strings))
            return load_table(table, elf, &symbols, &strings, err);
    }
    if (dynamic_extents(elf, &symbols, &strings))
        return load_table(table, elf, &symbols, &strings, err);
    jw_error_set(err, "no symbol table");
    return false;
}

/* Length of a name, at most `limit_bytes`; 0 where it lies outside the strings. */
static size_t name_length(const struct symbols_table *table, uint64_t string_offset,
                          size_t limit_bytes)
{
    if (string_offset >= table->string_bytes)
        return 0;

    const uint64_t left_bytes = table->string_bytes - string_offset;
    const size_t length_bytes = strnlen(table->strings + string_offset,
                                        left_bytes < limit_bytes ? left_bytes : limit_bytes);
    const char *version = memchr(table->strings + string_offset, '@', length_bytes);

    return version == NULL ? length_bytes : (size_t)(version - (table->strings + string_offset));
}

/* A size, then being exported, then few underscores (libc exports sigaction weak, __sigaction
 * strong), then strong binding. */
static uint32_t rank_of(const struct symbols_table *table, const Elf64_Sym *symbol)
{
    const unsigned binding = ELF64_ST_BIND(symbol->st_info);
    uint32_t underscores = 0;

    while (underscores < UNDERSCORE_MAX && symbol->st_name + underscores < table->string_bytes &&
           table->strings[symbol->st_name + underscores] == '_')
        underscores++;
    return (symbol->st_size == 0 ? 64u : 0u) + (binding == STB_LOCAL ? 32u : 0u) + 2 * underscores +
           (binding == STB_WEAK ? 1u : 0u);
}

static bool is_function(const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

/* Lists the functions of the text, each by its index; returns their number. */
static uint64_t collect(const struct symbols_table *table, uint64_t text_vaddr, uint64_t text_bytes,
                        struct symbols_key *out)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < table->symbol_count; i++) {
        const Elf64_Sym *symbol = &table->symbols[i];

        if (is_function(symbol) && symbol->st_value >= text_vaddr &&
            symbol->st_value - text_vaddr < text_bytes)
            out[count++] = (struct symbols_key){
                .text_offset = (uint32_t)(symbol->st_value - text_vaddr), .value = (uint32_t)i};
    }
    return count;
}

/* Keeps the preferred symbol of each address, in place; returns how many stay. */
static uint64_t prefer(const struct symbols_table *table, struct symbols_key *keys, uint64_t count)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < count; i++) {
        const struct symbols_key key = keys[i];

        if (kept == 0 || keys[kept - 1].text_offset != key.text_offset)
            keys[kept++] = key;
        else if (rank_of(table, &table->symbols[key.value]) <
                 rank_of(table, &table->symbols[keys[kept - 1].value]))
            keys[kept - 1] = key;
    }
    return kept;
}

/* Copies the names one after the other; false where they are more than any real file has. */
static bool fill(struct symbols_names *names, const struct symbols_table *table,
                 const struct symbols_key *keys, uint64_t count, struct jw_arena *text)
{
    struct symbols_function *functions = names->functions;
    uint32_t used_bytes = 0;

    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Sym *symbol = &table->symbols[keys[i].value];
        const uint64_t left_bytes = names->text_bytes - keys[i].text_offset;
        const size_t length_bytes = name_length(table, symbol->st_name, SYMBOLS_NAME_BYTES - 1);

        if (length_bytes == 0)
            continue;
        if (used_bytes + length_bytes + 1 > text->capacity_bytes)
            return false;
        functions[names->function_count++] = (struct symbols_function){
            .text_offset = keys[i].text_offset,
            .size_bytes = (uint32_t)(symbol->st_size < left_bytes ? symbol->st_size : left_bytes),
            .name_offset = used_bytes};
        memcpy(text->bytes + used_bytes, table->strings + symbol->st_name, length_bytes);
        used_bytes += (uint32_t)length_bytes + 1;
    }
    names->name_bytes = used_bytes;
    return true;
}

/* Moves what was put together in `text` into an allocation of its size. */
static bool keep_text(struct symbols_names *names, const struct jw_arena *text)
{
    char *kept = jw_alloc(names->name_bytes);

    if (kept == NULL)
        return false;
    memcpy(kept, text->bytes, names->name_bytes);
    names->text = kept;
    return true;
}

void symbols_names_free(struct symbols_names *names)
{
    if (names == NULL)
        return;
    jw_free(names->text);
    jw_free(names);
}

struct symbols_names *symbols_names_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                          uint64_t text_bytes, struct jw_error *err)
{
    struct symbols_table table;
    struct jw_arena key_memory = {0}, text = {0};
    struct symbols_names *names = NULL;
    bool is_done = false;

    if (text_bytes > UINT32_MAX) {
        jw_error_set(err, "more than 4 GB of code");
        return NULL;
    }
    if (!open_table(&table, elf, false, err))
        return NULL;
    if (!jw_arena_open(&key_memory, 2 * (table.symbol_count + 1) * sizeof(struct symbols_key),
                       "the symbols of a library", err) ||
        !jw_arena_open(&text, TEXT_MAX_BYTES, "the names of a library", err))
        goto close;

    struct symbols_key *keys = (struct symbols_key *)(void *)key_memory.bytes;
    uint64_t count = collect(&table, text_vaddr, text_bytes, keys);
    keys = symbols_sort(keys, keys + table.symbol_count + 1, count);
    count = prefer(&table, keys, count);
    names = jw_alloc(sizeof *names + count * sizeof(struct symbols_function));
    if (names != NULL) {
        names->functions = (struct symbols_function *)(void *)(names + 1);
        names->text_vaddr = text_vaddr;
        names->text_bytes = text_bytes;
        is_done = fill(names, &table, keys, count, &text) && keep_text(names, &text);
        names->size_bytes =
            sizeof *names + count * sizeof(struct symbols_function) + names->name_bytes;
    }
    if (!is_done) {
        jw_error_set(err, "no memory for the names of %llu functions", (unsigned long long)count);
        symbols_names_free(names);
        names = NULL;
    }
close:
    jw_arena_close(&text);
    jw_arena_close(&key_memory);
    close_table(&table);
    return names;
}

const struct symbols_function *symbols_names_find(const struct symbols_names *names,
                                                  uint64_t text_offset)
{
    uint32_t low = 0, high = names->function_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (names->functions[middle].text_offset <= text_offset)
            low = middle + 1;
        else
            high = middle;
    }
    /* `low` is the first that begins after it. One without a size reaches to the next symbol. */
    if (low > 0 && names->functions[low - 1].size_bytes == 0)
        return &names->functions[low - 1];
    for (uint32_t i = low; i > 0 && low - i < LOOK_BACK_MAX; i--) {
        const struct symbols_function *function = &names->functions[i - 1];

        if (text_offset - function->text_offset < function->size_bytes)
            return function;
    }
    return NULL;
}

static bool search(const struct symbols_table *table, const char *symbol, uint64_t *vaddr)
{
    const size_t length_bytes = strlen(symbol);

    for (uint64_t i = 0; i < table->symbol_count; i++) {
        const Elf64_Sym *candidate = &table->symbols[i];

        if (candidate->st_shndx != SHN_UNDEF && candidate->st_value != 0 &&
            ELF64_ST_TYPE(candidate->st_info) != STT_TLS &&
            name_length(table, candidate->st_name, length_bytes + 1) == length_bytes &&
            memcmp(table->strings + candidate->st_name, symbol, length_bytes) == 0) {
            *vaddr = candidate->st_value;
            return true;
        }
    }
    return false;
}

bool symbols_elf_find_symbol(const struct symbols_elf *elf, const char *symbol, uint64_t *vaddr)
{
    struct symbols_table table;
    bool is_found = false;

    /* The loader's table is small; most questions end there. */
    for (unsigned pass = 0; pass < 2 && !is_found; pass++) {
        if (!open_table(&table, elf, pass == 0, NULL))
            continue;
        is_found = search(&table, symbol, vaddr);
        close_table(&table);
    }
    return is_found;
}
