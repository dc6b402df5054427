/*
 * One library: what is known of it, its rows and its names, each parsed once and only when asked
 * for. Dump side, under the room's lock; handlers read the facts and the rows.
 */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "symbols/symbols_frames_internal.h"

/* Stands where rows could not be built: it covers nothing, so every pc of it is a gap. */
static const struct symbols_packed gap_rule; /* zero: SYMBOLS_RULE_GAP */
static struct symbols_rows no_rows = {.rules = &gap_rule};

/*
 * What handlers compare: eight bytes of the build-id, which are another library's with no likelihood at all; without one, where the
 * file's section headers stand, which two libraries of one making may have in common.
 */
static void take_proof(struct symbols_library *library)
{
    const struct symbols_elf *identity = &library->identity;

    if (library->mapping.is_vdso)
        return;
    library->is_weak = identity->build_id_bytes < sizeof library->proof_word;
    if (!library->is_weak) {
        library->proof_address = library->facts.load_bias + (uintptr_t)identity->build_id_vaddr;
        memcpy(&library->proof_word, identity->build_id, sizeof library->proof_word);
    } else if (library->mapping.header_address != 0) {
        library->proof_address = library->mapping.header_address + offsetof(Elf64_Ehdr, e_shoff);
        library->proof_word = identity->header_word;
    }
}

struct symbols_library *symbols_library_open(const struct symbols_mapping *first, uintptr_t end_pc)
{
    struct symbols_source source;
    const size_t path_bytes = strlen(first->path) + 1;
    struct symbols_library *library = jw_alloc(sizeof *library + path_bytes);

    if (library == NULL)
        return NULL;
    char *path = (char *)(library + 1);
    memcpy(path, first->path, path_bytes);
    const char *slash = strrchr(path, '/');

    library->mapping = *first;
    library->mapping.path = path;
    library->facts = (struct symbols_library_facts){.path = path,
                                                    .name = slash == NULL ? path : slash + 1,
                                                    .start_pc = first->start,
                                                    .end_pc = end_pc,
                                                    .is_deleted = first->is_deleted};
    if (symbols_source_open(&source, first, NULL)) {
        library->facts.is_readable = symbols_source_bias(&source, first, &library->facts.load_bias);
        library->facts.is_replaced = source.is_replaced;
        library->facts.is_deleted = first->is_deleted && !source.is_replaced;
        library->facts.build_id_bytes = source.elf.build_id_bytes;
        memcpy(library->facts.build_id, source.elf.build_id, sizeof source.elf.build_id);
        library->is_by_path = source.is_by_path;
        library->identity = source.elf;
        library->identity.image = (struct symbols_image){.fd = -1};
        symbols_source_close(&source);
    }
    library->is_weak = !first->is_vdso;
    if (library->facts.is_readable)
        take_proof(library);
    if (!library->facts.is_readable) {
        library->facts.load_bias = first->start - (uintptr_t)first->offset;
        library->is_names_tried = true;
        /* order SYMBOLS_ROWS: releases rows that say nothing. */
        jw_store_release(&library->rows, &no_rows);
    }
    return library;
}

const struct symbols_rows *symbols_library_rows(struct symbols_library *library)
{
    /* order SYMBOLS_ROWS: acquires what the builder released, the rows and their rules. */
    return jw_load_acquire(&library->rows);
}

void symbols_library_forget_names(struct symbols_library *library)
{
    if (library->names != NULL)
        symbols_source_close(&library->names_source);
    if (library->stubs != NULL)
        symbols_source_close(&library->stubs_source);
    if (library->names != NULL || library->stubs != NULL || library->mini != NULL)
        library->is_names_tried = false;
    jw_free(library->names);
    jw_free(library->stubs);
    jw_free(library->mini);
    jw_free(library->mini_bytes);
    library->names = library->stubs = library->mini = NULL;
    library->mini_bytes = NULL;
}

void symbols_library_close(struct symbols_library *library)
{
    struct symbols_rows *rows = jw_load_relaxed(&library->rows);

    if (rows != &no_rows)
        symbols_rows_free(rows);
    symbols_library_forget_names(library);
    jw_free(library);
}

void symbols_library_release(struct symbols_library *library)
{
    if (--library->snapshot_count == 0)
        symbols_library_close(library);
}

bool symbols_library_is_twin(const struct symbols_library *a, const struct symbols_library *b)
{
    return a == b || (!a->is_weak && !b->is_weak && a->facts.load_bias == b->facts.load_bias &&
                      strcmp(a->facts.path, b->facts.path) == 0 &&
                      symbols_source_is_same(&a->identity, &b->identity));
}

/*
 * Opens the library's file again, never another's: by now something else may be mapped in its place, or stand at its path. Where
 * the library is not mapped any more, its file is read if it is still there.
 */
static bool reopen(const struct symbols_library *library, struct symbols_source *source)
{
    uintptr_t bias;

    if (symbols_source_open(source, &library->mapping, NULL)) {
        if (symbols_source_is_same(&source->elf, &library->identity) &&
            symbols_source_bias(source, &library->mapping, &bias) &&
            bias == library->facts.load_bias)
            return true;
        symbols_source_close(source);
    }
    return !library->mapping.is_vdso &&
           symbols_source_open_past(source, &library->mapping, &library->identity);
}

/* With what its debug file says of code that the library itself does not describe; NULL: that is nothing. */
static struct symbols_rows *build_with_debug(const struct symbols_library *library,
                                             const struct symbols_source *source)
{
    const struct symbols_library_facts *facts = &library->facts;
    struct symbols_source debug;
    struct symbols_rows *rows = NULL;

    if (library->mapping.is_vdso ||
        !symbols_debug_open(&debug, &source->elf, facts->path, SYMBOLS_DEBUG_ROOT))
        return NULL;
    rows = symbols_rows_build_with(&source->elf, &debug.elf, facts->start_pc - facts->load_bias,
                                   facts->end_pc - facts->start_pc, NULL);
    symbols_source_close(&debug);
    return rows;
}

void symbols_library_build_rows(struct symbols_library *library)
{
    struct symbols_source source;
    struct symbols_rows *rows = NULL;
    const struct symbols_library_facts *facts = &library->facts;
    const uint64_t text_bytes = facts->end_pc - facts->start_pc;

    if (jw_load_relaxed(&library->rows) != NULL)
        return;
    if (reopen(library, &source)) {
        rows =
            symbols_rows_build(&source.elf, facts->start_pc - facts->load_bias, text_bytes, NULL);
        if (rows != NULL ? symbols_is_sparse(rows->code_bytes, text_bytes)
                         : !symbols_frames_exist(&source.elf)) {
            struct symbols_rows *more = build_with_debug(library, &source);

            if (more != NULL) {
                symbols_rows_free(rows);
                rows = more;
            }
        }
        symbols_source_close(&source);
    }
    /* order SYMBOLS_ROWS: releases the rows and their rules to symbols_rule_find. */
    jw_store_release(&library->rows, rows != NULL ? rows : &no_rows);
}

/* The debug file of a stripped library, else its own. */
static bool open_names(const struct symbols_library *library, struct symbols_source *source)
{
    struct symbols_source debug;
    struct symbols_extent table;

    if (!reopen(library, source))
        return false;
    if (!library->mapping.is_vdso &&
        !symbols_elf_find_section(&source->elf, SHT_SYMTAB, NULL, &table) &&
        symbols_debug_open(&debug, &source->elf, library->facts.path, SYMBOLS_DEBUG_ROOT)) {
        symbols_source_close(source);
        *source = debug;
    }
    return true;
}

static void build_stubs(struct symbols_library *library, uint64_t text_vaddr, uint64_t text_bytes)
{
    if (library->mapping.is_vdso || !reopen(library, &library->stubs_source))
        return;
    library->stubs = symbols_plt_build(&library->stubs_source.elf, text_vaddr, text_bytes);
    if (library->stubs == NULL)
        symbols_source_close(&library->stubs_source);
}

/* Beside what a library without any other full symbol table exports. */
static void build_mini(struct symbols_library *library, const struct symbols_source *source,
                       uint64_t text_vaddr, uint64_t text_bytes)
{
    struct symbols_extent table;
    struct symbols_elf mini;
    bool is_refused = false;

    if (symbols_elf_find_section(&source->elf, SHT_SYMTAB, NULL, &table))
        return;
    library->mini_bytes = symbols_mini_open(&mini, &source->elf);
    if (library->mini_bytes == NULL)
        return;
    if (symbols_elf_find_section(&mini, SHT_SYMTAB, NULL, &table))
        library->mini = symbols_names_build(&mini, text_vaddr, text_bytes, &is_refused, NULL);
    if (library->mini == NULL) {
        jw_free(library->mini_bytes);
        library->mini_bytes = NULL;
    }
}

void symbols_library_build_names(struct symbols_library *library)
{
    const struct symbols_library_facts *facts = &library->facts;
    const uint64_t text_vaddr = facts->start_pc - facts->load_bias;
    const uint64_t text_bytes = facts->end_pc - facts->start_pc;
    struct symbols_source *source = &library->names_source;

    if (library->is_names_tried)
        return;
    library->is_names_tried = true;
    library->is_names_refused = false;
    if (!open_names(library, source))
        return;
    build_mini(library, source, text_vaddr, text_bytes);
    library->names =
        symbols_names_build(&source->elf, text_vaddr, text_bytes, &library->is_names_refused, NULL);
    if (library->names == NULL)
        symbols_source_close(source);
    if (!library->is_names_refused)
        build_stubs(library, text_vaddr, text_bytes);
}

static bool find(const struct symbols_names *names, uint64_t text_offset, char *function,
                 uint64_t *offset_bytes)
{
    return names != NULL &&
           symbols_names_find(names, text_offset, function, SYMBOLS_NAME_BYTES, offset_bytes);
}

bool symbols_library_name(const struct symbols_library *library, uintptr_t pc,
                          struct symbols_name *out)
{
    const uint64_t text_offset = pc - library->facts.start_pc;
    char hidden[SYMBOLS_NAME_BYTES];
    uint64_t hidden_offset_bytes;

    /* A symbol without a size reaches to the next one, and so over stubs: these come first. */
    if (find(library->stubs, text_offset, out->function, &out->offset_bytes))
        return true;
    const bool is_found = find(library->names, text_offset, out->function, &out->offset_bytes);

    /* Of both tables that which begins nearer. */
    if (!find(library->mini, text_offset, hidden, &hidden_offset_bytes) ||
        (is_found && out->offset_bytes <= hidden_offset_bytes))
        return is_found;
    memcpy(out->function, hidden, sizeof hidden);
    out->offset_bytes = hidden_offset_bytes;
    return true;
}

bool symbols_library_find_offset(const struct symbols_library *library, const char *symbol,
                                 uint64_t *offset)
{
    struct symbols_source source;
    struct symbols_extent extent;
    uint64_t vaddr;

    if (library->facts.is_deleted || library->facts.is_replaced || !reopen(library, &source))
        return false;
    const bool is_found = source.elf.image.layout == SYMBOLS_LAYOUT_FILE &&
                          symbols_elf_find_symbol(&source.elf, symbol, &vaddr) &&
                          symbols_elf_at_vaddr(&source.elf, vaddr, &extent);

    symbols_source_close(&source);
    if (is_found)
        *offset = extent.offset;
    return is_found;
}

bool symbols_library_find_symbol(const struct symbols_library *library, const char *symbol,
                                 uintptr_t *address)
{
    struct symbols_source source;
    uint64_t vaddr;

    if (!reopen(library, &source))
        return false;
    const bool is_found = symbols_elf_find_symbol(&source.elf, symbol, &vaddr);

    symbols_source_close(&source);
    if (is_found)
        *address = library->facts.load_bias + (uintptr_t)vaddr;
    return is_found;
}
