/*
 * export_page_internal - the flame graph page while its data is written.
 *
 * For      export_page_data.c (pool and frames), export_page_meta.c (all else).
 * Callers  these.   Context  dump, tool.   Memory  owned by export_page_data.
 */
#ifndef JW_EXPORT_EXPORT_PAGE_INTERNAL_H
#define JW_EXPORT_EXPORT_PAGE_INTERNAL_H

#include "export/export_internal.h"

#define EXPORT_NOT_IN_POOL UINT32_MAX

/* A frame whose children are being written. */
struct export_open {
    uint64_t next_left;
    uint64_t folded;
    uint32_t node;
};

struct export_page {
    const struct export_job *job;
    uint64_t scale; /* divides all values: lines hold them without it */
    uint64_t min_width;
    uint32_t max_depth;
    uint32_t frame_count;   /* without the [folded] ones */
    uint32_t folded_frames; /* written so far */
    uint32_t folded_stacks;
    uint64_t folded_total;
    uint32_t *pool_number; /* by name */
    uint32_t pool_count;
    uint32_t folded_number;
    struct export_open *open; /* by depth */
    /* The line before. */
    uint32_t level;
    uint64_t left;
    uint64_t width;
    /* Explorer: the line of each node, of what is folded that of its [folded]. NULL: nobody asks. */
    uint32_t *line_of;
    uint32_t *folded_line; /* by node: of its [folded] */
    uint32_t line_count;
    /* Explorer: writes further members of the JSON object. */
    void (*put_more)(const struct export_page *page, void *context);
    void *more;
};

/* Fills it, writes pool and frames to the output of `job`, the latter with export_page_meta. False: memory. */
JW_MUST_CHECK bool export_page_open(struct export_page *page, const struct export_job *job,
                                    bool wants_lines);
JW_MUST_CHECK bool export_page_lines(struct export_page *page);
void export_page_close(struct export_page *page);

/* The JSON object in its element; comes after the frames, which are counted while they are written. */
void export_page_meta(const struct export_page *page);

#endif
