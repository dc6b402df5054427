/* What samples are taken apart by: the option --by. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_contexts_internal.h"

static const struct {
    const char *name;
    enum cli_by_kind kind;
} cli_by_kinds[] = {
    {"thread", CLI_BY_THREAD},
    {"endpoint", CLI_BY_ENDPOINT},
    {"operation", CLI_BY_OPERATION},
};

static bool read_by(const char *text, struct cli_by *out, struct jw_error *err)
{
    static const char attribute[] = "attribute:";
    const char *names[JW_COUNT_OF(cli_by_kinds) + 1];

    if (strncmp(text, attribute, sizeof attribute - 1) == 0 && text[sizeof attribute - 1] != '\0') {
        *out = (struct cli_by){CLI_BY_ATTRIBUTE, text + sizeof attribute - 1};
        return true;
    }
    for (size_t i = 0; i < JW_COUNT_OF(cli_by_kinds); i++) {
        names[i] = cli_by_kinds[i].name;
        if (strcmp(text, names[i]) == 0) {
            *out = (struct cli_by){cli_by_kinds[i].kind, names[i]};
            return true;
        }
    }
    names[JW_COUNT_OF(cli_by_kinds)] = "attribute";

    const char *nearest = cli_nearest(text, names, JW_COUNT_OF(names));
    char meant[80];
    if (nearest == NULL) /* a name of the program's own */
        snprintf(meant, sizeof meant, "%s%.64s", attribute, text);
    else
        snprintf(meant, sizeof meant, "%s%s", nearest,
                 strcmp(nearest, "attribute") == 0 ? ":NAME" : "");
    jw_error_set(err,
                 "--by: '%.100s' is nothing to take samples apart by (did you mean '%s'?); there "
                 "are endpoint, operation, thread and attribute:NAME, and --by may be repeated",
                 text, meant);
    return false;
}

static bool is_same_by(const struct cli_by *one, const struct cli_by *other)
{
    return one->kind == other->kind && strcmp(one->name, other->name) == 0;
}

bool cli_bys_read(const struct cli_values *values, bool is_by_thread, struct cli_bys *bys,
                  struct jw_error *err)
{
    bys->count = 0;
    for (size_t i = 0; i < values->by.count + 1; i++) {
        struct cli_by by = {CLI_BY_THREAD, "thread"};
        const bool is_last = i == values->by.count;

        if (is_last && (!is_by_thread || cli_bys_have(bys, CLI_BY_THREAD)))
            break;
        if (!is_last && !read_by(values->by.texts[i], &by, err))
            return false;
        for (size_t n = 0; n < bys->count; n++) {
            if (is_same_by(&bys->items[n], &by)) {
                jw_error_set(err, "--by=%.100s: twice", values->by.texts[i]);
                return false;
            }
        }
        if (bys->count == JW_COUNT_OF(bys->items)) {
            jw_error_set(err, "--by: more than %zu of them", JW_COUNT_OF(bys->items));
            return false;
        }
        bys->items[bys->count++] = by;
    }
    return true;
}

bool cli_bys_have(const struct cli_bys *bys, enum cli_by_kind kind)
{
    for (size_t i = 0; i < bys->count; i++) {
        if (bys->items[i].kind == kind)
            return true;
    }
    return false;
}

bool cli_needs_requests(const struct cli_part *part, const struct cli_bys *bys)
{
    return part->endpoint_count > 0 || cli_bys_have(bys, CLI_BY_ENDPOINT) ||
           cli_bys_have(bys, CLI_BY_OPERATION);
}

bool cli_needs_contexts(const struct cli_part *part, const struct cli_bys *bys)
{
    return !cli_part_is_whole(part) || cli_needs_requests(part, bys) ||
           cli_bys_have(bys, CLI_BY_ATTRIBUTE);
}
