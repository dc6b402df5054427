/*
 * The data of a flame graph page: a pool of titles and a line for each frame. Context: dump, tool.
 *
 * The lines are those of async-profiler's flame graphs, which other tools read, but they stand in
 * an inert element and are never executed:
 *     f(key, level, left, width, inlined, c1, interpreted)   left: from the frame of the line before
 *     u(key, width, ...)   one level up, at the same left     n(key, width, ...)   next to it
 * key = number in the pool * 8 + type; a width that is left out or 0 is that of the line before.
 * A title begins with a character that says how much of the title before it begins with: ' ' + n,
 * in UTF-16 units.
 */
#include <string.h>

#include "base/utf8.h"
#include "export/export_page_internal.h"

#define EXPORT_MAX_FRAMES   2000000u /* above, the narrowest are folded */
#define EXPORT_PREFIX_LIMIT 94u      /* ' ' + 94 is '~', the last that is printable */
#define EXPORT_FOLDED_TITLE "[folded]"
#define EXPORT_IN_FOLDED    0x80000000u /* with the number of the node whose [folded] it is in */

/* The greatest common divisor of all values: often the interval, and then lines are half as long. */
static uint64_t export_scale(const struct export_job *job)
{
    uint64_t scale = 0;

    for (uint32_t i = 0; i < job->node_count && scale != 1; i++) {
        uint64_t value = export_self(job, &job->nodes[i]);

        while (value != 0) {
            const uint64_t rest = scale % value;

            scale = value;
            value = rest;
        }
    }
    return scale == 0 ? 1 : scale;
}

static uint64_t export_min_width(const struct export_job *job)
{
    const uint64_t whole = export_total(job, &job->nodes[0]);
    const uint32_t fit_ppm = job->fit == NULL ? 0 : job->fit->min_width_ppm;
    const uint32_t ppm =
        job->options->min_width_ppm > fit_ppm ? job->options->min_width_ppm : fit_ppm;
    const double wanted = (double)whole * (double)ppm / 1e6;

    return wanted < 1.0 ? 1 : (uint64_t)wanted;
}

/* Frames that are wide enough, and how deep they go. */
static uint32_t export_count_frames(const struct export_job *job, uint64_t min_width,
                                    uint32_t *max_depth)
{
    uint32_t count = 0;

    *max_depth = 0;
    for (uint32_t i = 0; i < job->node_count;) {
        const struct profile_node *node = &job->nodes[i];

        if (i > 0 && export_total(job, node) < min_width) {
            i = node->end;
            continue;
        }
        if (node->depth > *max_depth)
            *max_depth = node->depth;
        count++;
        i++;
    }
    return count;
}

/* How much of what is left out there is, and which titles are needed. */
static void export_survey(struct export_page *page)
{
    const struct export_job *job = page->job;

    for (uint32_t i = 0; i < job->node_count;) {
        const struct profile_node *node = &job->nodes[i];

        if (i > 0 && export_total(job, node) < page->min_width) {
            page->folded_total += export_total(job, node);
            for (; i < node->end; i++)
                page->folded_stacks += export_self(job, &job->nodes[i]) > 0;
            continue;
        }
        page->pool_number[node->name] = 0; /* numbers come when the pool is written */
        i++;
    }
}

/* Bytes that both begin with, in whole code points, as UTF-16 units in `units`. */
static size_t export_shared_prefix(const char *left, const char *right, uint32_t *units)
{
    const size_t left_bytes = strlen(left);
    size_t shared = 0;

    *units = 0;
    for (;;) {
        const size_t step = jw_utf8_length(left + shared, left_bytes - shared);
        const uint32_t more = step == 4 ? 2 : 1;

        if (step == 0 || *units + more > EXPORT_PREFIX_LIMIT ||
            strncmp(left + shared, right + shared, step) != 0)
            return shared;
        shared += step;
        *units += more;
    }
}

static void export_put_pool_entry(struct export_out *out, const char *before, const char *title)
{
    char head[2] = {' ', '\0'};
    uint32_t units;
    const size_t shared = export_shared_prefix(before, title, &units);

    head[0] = (char)(' ' + units);
    export_put(out, ",\n'");
    export_put_escaped(out, head, EXPORT_ESCAPE_POOL);
    export_put_escaped(out, title + shared, EXPORT_ESCAPE_POOL);
    export_put_char(out, '\'');
}

static bool export_put_pool(struct export_page *page)
{
    const struct export_job *job = page->job;
    const uint32_t name_count = profile_name_count(job->profile);
    struct export_text texts[2] = {{0}, {0}};
    bool has_memory = true;

    export_put(job->out, "const cpool = [\n'all'");
    export_text_add(&texts[0], "all", 3);
    page->pool_number[0] = 0; /* the root: its name is the first */
    page->pool_count = 1;
    for (uint32_t i = 1; i <= name_count && has_memory; i++) {
        struct export_text *const before = &texts[page->pool_count % 2 == 0];
        struct export_text *const title = &texts[page->pool_count % 2];

        if (i < name_count && page->pool_number[i] == EXPORT_NOT_IN_POOL)
            continue;
        if (i == name_count && page->folded_total == 0)
            break;
        title->length_bytes = 0;
        if (i < name_count)
            export_title(title, profile_name_of(job->profile, i), &job->view);
        else
            export_text_add(title, EXPORT_FOLDED_TITLE, strlen(EXPORT_FOLDED_TITLE));
        has_memory = !title->has_failed && !before->has_failed;
        if (!has_memory)
            break;
        export_put_pool_entry(job->out, before->text, title->text);
        if (i < name_count)
            page->pool_number[i] = page->pool_count++;
        else
            page->folded_number = page->pool_count++;
    }
    export_put(job->out, "\n];\nunpack(cpool);\n\n");
    export_text_free(&texts[0]);
    export_text_free(&texts[1]);
    return has_memory;
}

/*
 * Writes a frame and makes it the one before; values in units of `scale`. `tallies`: inlined, C1,
 * interpreted; or NULL.
 */
static void export_put_frame(struct export_page *page, uint32_t key, uint32_t level, uint64_t left,
                             uint64_t width, const uint64_t *tallies)
{
    struct export_out *out = page->job->out;
    uint32_t tally_count = tallies == NULL ? 0 : 3;

    while (tally_count > 0 && tallies[tally_count - 1] == 0)
        tally_count--;

    if (level == page->level + 1 && left == page->left) {
        export_put(out, "u(");
        export_put_number(out, key);
    } else if (level == page->level && left == page->left + page->width) {
        export_put(out, "n(");
        export_put_number(out, key);
    } else {
        export_put(out, "f(");
        export_put_number(out, key);
        export_put_char(out, ',');
        export_put_number(out, level);
        export_put_char(out, ',');
        export_put_number(out, left - page->left);
    }
    if (width != page->width || tally_count > 0) {
        export_put_char(out, ',');
        export_put_number(out, width);
    }
    for (uint32_t i = 0; i < tally_count; i++) {
        export_put_char(out, ',');
        export_put_number(out, tallies[i]);
    }
    export_put(out, ")\n");
    page->level = level;
    page->left = left;
    page->width = width;
    page->line_count++;
}

/* Ends the frames from `depth` down to `until`: what was folded of their children comes last. */
static void export_close_frames(struct export_page *page, uint32_t depth, uint32_t until)
{
    for (;;) {
        const struct export_open *open = &page->open[depth];

        if (open->folded > 0) {
            if (page->line_of != NULL)
                page->folded_line[open->node] = page->line_count;
            export_put_frame(page, page->folded_number << 3 | EXPORT_TYPE_NATIVE, depth + 1,
                             open->next_left / page->scale, open->folded / page->scale, NULL);
            page->folded_frames++;
        }
        if (depth == until)
            return;
        depth--;
    }
}

/* A share of the total for each tier: tallies are kept by weight, frames may be by samples. */
static uint64_t export_tally(const struct export_job *job, const struct profile_node *node,
                             enum profile_tier tier)
{
    if (!job->is_by_samples || node->total_weight == 0)
        return node->tier_weight[tier];
    return (uint64_t)((double)node->tier_weight[tier] / (double)node->total_weight *
                      (double)node->total_samples);
}

static void export_put_frames(struct export_page *page)
{
    const struct export_job *job = page->job;
    uint32_t depth = 0;

    for (uint32_t i = 0; i < job->node_count && !job->out->has_failed;) {
        const struct profile_node *node = &job->nodes[i];
        const struct profile_name *name = profile_name_of(job->profile, node->name);
        const uint64_t total = export_total(job, node);
        uint64_t left = 0;

        if (i > 0) {
            /* Once the next node is no longer below it, a frame gets no more children. */
            if (node->depth <= depth)
                export_close_frames(page, depth, node->depth);
            depth = node->depth - 1;
            if (total < page->min_width) {
                page->open[depth].folded += total;
                for (; page->line_of != NULL && i < node->end; i++)
                    page->line_of[i] = EXPORT_IN_FOLDED | node->parent;
                i = node->end;
                continue;
            }
            left = page->open[depth].next_left;
            page->open[depth].next_left += total;
        }
        const uint64_t tallies[] = {export_tally(job, node, PROFILE_TIER_INLINED) / page->scale,
                                    export_tally(job, node, PROFILE_TIER_C1) / page->scale,
                                    export_tally(job, node, PROFILE_TIER_INTERPRETED) /
                                        page->scale};
        if (page->line_of != NULL)
            page->line_of[i] = page->line_count;
        export_put_frame(page, page->pool_number[node->name] << 3 | export_type_of(name, node),
                         node->depth, left / page->scale, total / page->scale, tallies);
        depth = node->depth;
        page->open[depth] = (struct export_open){.next_left = left, .node = i};
        i++;
    }
    export_close_frames(page, depth, 0);
}

bool export_page_open(struct export_page *page, const struct export_job *job, bool wants_lines)
{
    const uint32_t name_count = profile_name_count(job->profile);

    *page = (struct export_page){
        .job = job, .min_width = export_min_width(job), .scale = export_scale(job)};
    for (;; page->min_width *= 2) {
        page->frame_count = export_count_frames(job, page->min_width, &page->max_depth);
        if (page->frame_count <= EXPORT_MAX_FRAMES)
            break;
    }
    page->pool_number = jw_alloc(jw_mul_bytes(name_count, sizeof *page->pool_number));
    page->open = jw_alloc(jw_mul_bytes((size_t)page->max_depth + 2, sizeof *page->open));
    if (wants_lines) {
        page->line_of = jw_alloc(jw_mul_bytes(job->node_count, sizeof *page->line_of));
        page->folded_line = jw_alloc(jw_mul_bytes(job->node_count, sizeof *page->folded_line));
    }
    if (page->pool_number == NULL || page->open == NULL ||
        (wants_lines && (page->line_of == NULL || page->folded_line == NULL)))
        return false;
    memset(page->pool_number, 0xff, name_count * sizeof *page->pool_number);
    export_survey(page);
    return true;
}

void export_page_close(struct export_page *page)
{
    jw_free(page->pool_number);
    jw_free(page->open);
    jw_free(page->line_of);
    jw_free(page->folded_line);
}

bool export_page_lines(struct export_page *page)
{
    if (!export_put_pool(page))
        return false;
    export_put_frames(page);
    for (uint32_t i = 0; page->line_of != NULL && i < page->job->node_count; i++) {
        if ((page->line_of[i] & EXPORT_IN_FOLDED) != 0)
            page->line_of[i] = page->folded_line[page->line_of[i] & ~EXPORT_IN_FOLDED];
    }
    return true;
}

bool export_page_data(const struct export_job *job)
{
    struct export_page page;
    bool has_memory = export_page_open(&page, job, false);

    if (has_memory) {
        export_put_format(job->out, "<script type=\"text/plain\" id=\"%sdata\">\n", job->prefix);
        has_memory = export_page_lines(&page);
        export_put(job->out, "</script>\n");
        export_page_meta(&page);
    }
    export_page_close(&page);
    return has_memory;
}
