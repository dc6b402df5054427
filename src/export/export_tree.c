/*
 * The call tree as text: what each frame and all below it took, heaviest first, deeper ones further in. Context: dump,
 * tool.
 */
#include <stdlib.h>

#include "export/export_internal.h"

/* Where nothing else is said; a tree of some thousand lines is read by nobody. */
#define LEAST_PPM 1000u

/* What is yet to be written, the next one last. */
struct pending {
    uint64_t total; /* of the node */
    uint32_t node;
    bool is_folded; /* not the node, but those of its children that are too narrow */
};

struct tree {
    const struct export_job *job;
    uint64_t least; /* narrower frames are folded */
    struct pending *pending;
    uint32_t pending_count;
    struct export_text scratch;
};

/* The lightest first: the last one is taken first. */
static int compare(const void *left, const void *right)
{
    const struct pending *a = left;
    const struct pending *b = right;

    if (a->total != b->total)
        return a->total < b->total ? -1 : 1;
    return a->node > b->node ? -1 : a->node < b->node;
}

static void push_children(struct tree *tree, uint32_t parent)
{
    const struct profile_node *nodes = tree->job->nodes;
    const uint32_t first = tree->pending_count;
    bool has_folded = false;

    for (uint32_t at = parent + 1; at < nodes[parent].end; at = nodes[at].end)
        has_folded |= export_total(tree->job, &nodes[at]) < tree->least;
    if (has_folded)
        tree->pending[tree->pending_count++] = (struct pending){.node = parent, .is_folded = true};
    for (uint32_t at = parent + 1; at < nodes[parent].end; at = nodes[at].end) {
        const uint64_t total = export_total(tree->job, &nodes[at]);

        if (total >= tree->least)
            tree->pending[tree->pending_count++] = (struct pending){.total = total, .node = at};
    }
    qsort(tree->pending + first + has_folded, tree->pending_count - first - has_folded,
          sizeof *tree->pending, compare);
}

/* "  12.34 %    0.10 %  [ 3]    name": the depth stands in brackets, as far in as it is deep. */
static void put_row(const struct tree *tree, uint64_t total, uint64_t self, uint32_t depth)
{
    struct export_out *out = tree->job->out;
    const uint64_t whole = export_total(tree->job, &tree->job->nodes[0]);

    export_put_column(out, total, whole);
    export_put_char(out, ' ');
    export_put_column(out, self, whole);
    export_put_format(out, "  [%3u] ", depth);
    for (uint32_t i = 1; i < depth; i++)
        export_put_char(out, ' ');
}

static void put_folded(const struct tree *tree, uint32_t parent)
{
    const struct profile_node *nodes = tree->job->nodes;
    uint64_t total = 0;
    uint32_t count = 0;

    for (uint32_t at = parent + 1; at < nodes[parent].end; at = nodes[at].end) {
        if (export_total(tree->job, &nodes[at]) < tree->least) {
            total += export_total(tree->job, &nodes[at]);
            count++;
        }
    }
    put_row(tree, total, 0, nodes[parent].depth + 1);
    export_put_format(tree->job->out, "[folded: %u narrower]\n", count);
}

static void put_node(struct tree *tree, uint32_t number)
{
    const struct export_job *job = tree->job;
    const struct profile_node *node = &job->nodes[number];
    const struct profile_name *name = profile_name_of(job->profile, node->name);

    put_row(tree, export_total(job, node), export_self(job, node), node->depth);
    if (number == 0)
        export_put(job->out, "[all]");
    else
        export_put_title(job, node->name, export_type_of(name, node), &tree->scratch);
    export_put_char(job->out, '\n');
    push_children(tree, number);
}

bool export_tree(const struct export_job *job)
{
    struct tree tree = {.job = job};
    const uint64_t whole = export_total(job, &job->nodes[0]);
    const uint32_t ppm = job->options->min_width_ppm == 0 ? LEAST_PPM : job->options->min_width_ppm;

    tree.least = (uint64_t)((double)whole * ppm / 1e6);
    if (tree.least == 0)
        tree.least = 1;
    export_put_head(job);
    if (export_put_none(job))
        return true;
    /* Each node is pending once, and the folded ones of a node stand in the place of one of them. */
    tree.pending = jw_alloc(jw_mul_bytes(job->node_count, sizeof *tree.pending));
    if (tree.pending == NULL)
        return false;
    export_put_format(job->out, "\nCall tree%s, frames from %u.%02u %% on\n\n",
                      job->view.reverse ? ", from callee to caller" : "", ppm / 10000,
                      ppm / 100 % 100);
    export_put(job->out, "     total       self  depth  frame\n");
    tree.pending[tree.pending_count++] = (struct pending){.node = 0};
    while (tree.pending_count > 0 && !job->out->has_failed) {
        const struct pending next = tree.pending[--tree.pending_count];

        if (next.is_folded)
            put_folded(&tree, next.node);
        else
            put_node(&tree, next.node);
    }
    jw_free(tree.pending);

    const bool has_memory = !tree.scratch.has_failed;
    export_text_free(&tree.scratch);
    return has_memory;
}
