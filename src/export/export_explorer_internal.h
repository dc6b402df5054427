/*
 * export_explorer_internal - the data of an explorer page while it is written.
 *
 * For      export_explorer*.c.   Callers  these.   Context  tool.   Memory  for the call.
 */
#ifndef JW_EXPORT_EXPORT_EXPLORER_INTERNAL_H
#define JW_EXPORT_EXPORT_EXPLORER_INTERNAL_H

#include "export/export_columns_internal.h"
#include "export/export_page_internal.h"
#include "profile/profile_moments.h"

/* A sample in the order of the page, or several that are alike. */
struct row {
    uint32_t stack;   /* rank */
    uint32_t context; /* rank */
    uint64_t value;
    uint64_t count;
};

#define FOLDED_TEXT   "[folded]"
#define FOLDED_STATES 8u
#define FOLDED_CONTEXT                                                                             \
    (UINT32_MAX - FOLDED_STATES) /* from here on in place of a number: too rare, of a state */

struct explorer {
    const struct profile_moments *moments;
    struct export_page *page;
    int32_t first_ms;
    uint32_t bin_ms;
    uint32_t bin_count;
    uint64_t row_count; /* of samples that are in the tree */
    uint64_t scale;     /* of values */
    bool is_constant;   /* all values are equal to the scale */
    uint32_t stack_count;
    uint32_t *stack_rank;   /* by line */
    uint32_t *context_rank; /* by context */
    uint32_t context_count;
    uint64_t folded_samples; /* of contexts that are too rare */
    uint32_t folded_number[PROFILE_COLUMNS_LIMIT];
    uint32_t folded_states[FOLDED_STATES]; /* texts: rare contexts of one state are one */
    uint32_t folded_count;
    uint64_t *bin_first; /* first row of each bin; one more at the end */
    struct row *rows;
    size_t span_count;
    uint32_t *value_of; /* number of a text in its column, by text and column */
};

/* Spans that begin after the last bin have no place. */
bool export_explorer_has_place(const struct explorer *explorer, const struct profile_span *span);

/* export_explorer_meta.c: members of the JSON object of the page, `context` a struct explorer. */
void export_explorer_meta(const struct export_page *page, void *context);

#endif
