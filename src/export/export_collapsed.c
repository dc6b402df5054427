/*
 * Collapsed stacks: `root;...;leaf count`, a line for each distinct stack. Context: dump, tool.
 */
#include <string.h>

#include "export/export_internal.h"

/* The path to the open node, and how much of it each depth takes. */
struct export_path {
    struct export_text text;
    size_t *length_at; /* by depth */
    uint32_t capacity;
    uint32_t plain_depth; /* down to there nothing has to be escaped */
};

static bool export_path_enter(struct export_path *path, const struct export_job *job,
                              const struct profile_node *node)
{
    const struct profile_name *name = profile_name_of(job->profile, node->name);

    if (node->depth >= path->capacity) {
        const uint32_t capacity = node->depth * 2 + 64;
        void *grown = jw_realloc(path->length_at, jw_mul_bytes(capacity, sizeof(size_t)));

        if (grown == NULL)
            return false;
        path->length_at = grown;
        path->capacity = capacity;
    }
    if (node->depth == 0) { /* the root has no name in a line */
        path->text.length_bytes = 0;
        path->length_at[0] = 0;
        return true;
    }
    path->text.length_bytes = path->length_at[node->depth - 1];
    if (node->depth > 1)
        export_text_add(&path->text, ";", 1);

    const size_t begin = path->text.length_bytes;
    export_title(&path->text, name, &job->view);
    export_add_suffix(&path->text, job->options, name, export_type_of(name, node));
    path->length_at[node->depth] = path->text.length_bytes;
    if (path->text.has_failed)
        return false;

    const size_t length_bytes = path->text.length_bytes - begin;
    if (path->plain_depth >= node->depth)
        path->plain_depth = node->depth - 1;
    if (path->plain_depth == node->depth - 1 &&
        export_plain_bytes(path->text.text + begin, length_bytes, EXPORT_ESCAPE_COLLAPSED) ==
            length_bytes)
        path->plain_depth = node->depth;
    return true;
}

/* Nearly all paths are as they stand in a line. */
static void export_put_path(const struct export_job *job, const struct export_path *path,
                            uint32_t depth)
{
    struct export_out *out = job->out;

    if (path->plain_depth >= depth) {
        export_put_bytes(out, path->text.text, path->text.length_bytes);
        return;
    }
    for (uint32_t i = 1; i <= depth; i++) {
        const size_t begin = i == 1 ? 0 : path->length_at[i - 1] + 1;
        char *end = path->text.text + path->length_at[i];
        const char kept = *end;

        *end = '\0';
        if (i > 1)
            export_put_char(out, ';');
        export_put_escaped(out, path->text.text + begin, EXPORT_ESCAPE_COLLAPSED);
        *end = kept;
    }
}

bool export_collapsed(const struct export_job *job)
{
    struct export_path path = {0};
    bool has_memory = true;

    for (uint32_t i = 0; i < job->node_count && has_memory && !job->out->has_failed; i++) {
        const struct profile_node *node = &job->nodes[i];
        const uint64_t self = export_self(job, node);

        has_memory = export_path_enter(&path, job, node);
        if (!has_memory || self == 0)
            continue;
        if (node->depth == 0)
            export_put(job->out, "[no frames]");
        else
            export_put_path(job, &path, node->depth);
        export_put_char(job->out, ' ');
        export_put_number(job->out, self);
        export_put_char(job->out, '\n');
    }
    export_text_free(&path.text);
    jw_free(path.length_at);
    return has_memory;
}
