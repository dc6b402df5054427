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

/* What has so many samples. */
struct export_ranked {
    uint64_t count;
    uint32_t number;
};

#define FOLDED_TEXT   "[folded]"
#define FOLDED_STATES 8u
#define FOLDED_CONTEXT                                                                             \
    (UINT32_MAX - FOLDED_STATES) /* from here on in place of a number: too rare, of a state */

struct explorer {
    const struct profile_moments *moments;
    struct export_page *page;
    uint32_t *line_of; /* of each stack of the profile; PROFILE_STACK_NONE: it is in none */
    uint32_t line_of_count;
    int32_t first_ms;
    uint32_t bin_ms;
    uint32_t bin_count;
    uint64_t row_count; /* of samples that are in the tree; at last of those that are written */
    uint64_t scale;     /* of values */
    bool is_constant;   /* all values are equal to the scale */
    struct export_ranked *stack_counts, *context_counts; /* samples, by line and by context */
    uint32_t stack_count;
    uint32_t *stack_rank;   /* by line */
    uint32_t *context_rank; /* by context */
    uint32_t context_count;
    uint64_t folded_samples; /* of contexts that are too rare */
    uint32_t folded_number[PROFILE_COLUMNS_LIMIT];
    uint32_t folded_states[FOLDED_STATES]; /* texts: rare contexts of one state are one */
    uint32_t folded_count;
    uint64_t *bin_rows; /* of each bin: its samples */
    size_t span_count;
    uint32_t *value_of; /* number of a text in its column, by text and column */
};

/* Of a sample; PROFILE_STACK_NONE: it is in none. */
static inline uint32_t explorer_line_of(const struct explorer *explorer,
                                        const struct profile_moment *moment)
{
    return moment->stack < explorer->line_of_count ? explorer->line_of[moment->stack]
                                                   : PROFILE_STACK_NONE;
}

/* Of a time that is not before the first bin. */
static inline uint32_t explorer_bin_of(const struct explorer *explorer, int32_t at_ms)
{
    return ((uint32_t)at_ms - (uint32_t)explorer->first_ms) / explorer->bin_ms;
}

/* export_explorer_rows.c: the columns of samples. False: no memory. */
JW_MUST_CHECK bool export_explorer_rows(struct explorer *explorer);

/* Spans that begin after the last bin have no place. */
bool export_explorer_has_place(const struct explorer *explorer, const struct profile_span *span);

/* export_explorer_meta.c: members of the JSON object of the page, `context` a struct explorer. */
void export_explorer_meta(const struct export_page *page, void *context);

#endif
