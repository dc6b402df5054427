/*
 * One library: what is known of it, its rows and its names, each parsed once and only when asked
 * for. Dump side, under the room's lock; handlers read the facts and the rows.
 */
#include <string.h>

#include "base/atomics.h"
#include "symbols/symbols_internal.h"

/* Stands where rows could not be built: it covers nothing, so every pc of it is a gap. */
static const struct symbols_packed gap_rule; /* zero: SYMBOLS_RULE_GAP */
static struct symbols_rows no_rows = {.rules = &gap_rule};

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
        symbols_source_close(&source);
    }
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
    if (library->names == NULL)
        return;
    symbols_source_close(&library->names_source);
    jw_free(library->names);
    library->names = NULL;
    library->is_names_tried = false;
}

void symbols_library_close(struct symbols_library *library)
{
    struct symbols_rows *rows = jw_load_relaxed(&library->rows);

    if (rows != &no_rows)
        jw_free(rows);
    symbols_library_forget_names(library);
    jw_free(library);
}

/* Opens the library's file again; false if what it then finds is laid out differently. */
static bool reopen(const struct symbols_library *library, struct symbols_source *source)
{
    uintptr_t bias;

    if (!symbols_source_open(source, &library->mapping, NULL))
        return false;
    if (symbols_source_bias(source, &library->mapping, &bias) && bias == library->facts.load_bias)
        return true;
    symbols_source_close(source);
    return false;
}

void symbols_library_build_rows(struct symbols_library *library)
{
    struct symbols_source source;
    struct symbols_rows *rows = NULL;
    const struct symbols_library_facts *facts = &library->facts;

    if (jw_load_relaxed(&library->rows) != NULL)
        return;
    if (reopen(library, &source)) {
        rows = symbols_rows_build(&source.elf, facts->start_pc - facts->load_bias,
                                  facts->end_pc - facts->start_pc, NULL);
        symbols_source_close(&source);
    }
    /* order SYMBOLS_ROWS: releases the rows and their rules to symbols_rule_find. */
    jw_store_release(&library->rows, rows != NULL ? rows : &no_rows);
}

void symbols_library_build_names(struct symbols_library *library)
{
    const struct symbols_library_facts *facts = &library->facts;
    struct symbols_source *source = &library->names_source;

    if (library->is_names_tried)
        return;
    library->is_names_tried = true;
    library->is_names_refused = false;
    if (!reopen(library, source))
        return;
    library->names =
        symbols_names_build(&source->elf, facts->start_pc - facts->load_bias,
                            facts->end_pc - facts->start_pc, &library->is_names_refused, NULL);
    if (library->names == NULL)
        symbols_source_close(source);
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
