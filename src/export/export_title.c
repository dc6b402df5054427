/* Names as text that grows, and what type a frame has. Context: dump, tool. */
#include <string.h>

#include "export/export_internal.h"

void export_title(struct export_text *text, const struct profile_name *name,
                  const struct profile_view *view)
{
    char title[512];
    const size_t length = profile_title(name, view, title, sizeof title);

    if (length < sizeof title) {
        export_text_add(text, title, length);
        return;
    }

    char *whole = jw_alloc(length + 1);
    if (whole == NULL) {
        text->has_failed = true;
        return;
    }
    profile_title(name, view, whole, length + 1);
    export_text_add(text, whole, length);
    jw_free(whole);
}

static enum export_type export_tier_type(const uint64_t tier_weight[PROFILE_TIER_LIMIT])
{
    static const struct {
        enum profile_tier tier;
        enum export_type type;
    } by_rank[] = {
        /* The first of equals wins. */
        {PROFILE_TIER_COMPILED, EXPORT_TYPE_COMPILED},
        {PROFILE_TIER_INLINED, EXPORT_TYPE_INLINED},
        {PROFILE_TIER_C1, EXPORT_TYPE_C1},
        {PROFILE_TIER_INTERPRETED, EXPORT_TYPE_INTERPRETED},
        {PROFILE_TIER_NATIVE, EXPORT_TYPE_NATIVE},
    };
    size_t best = 0;

    for (size_t i = 1; i < JW_COUNT_OF(by_rank); i++) {
        if (tier_weight[by_rank[i].tier] > tier_weight[by_rank[best].tier])
            best = i;
    }
    return by_rank[best].type;
}

enum export_type export_type_of(const struct profile_name *name, const struct profile_node *node)
{
    switch (name->kind) {
    case PROFILE_NAME_JAVA:
    case PROFILE_NAME_COMPILATION: /* seen in no tier: as compiled */
        return export_tier_type(node->tier_weight);
    case PROFILE_NAME_CPP:
        return EXPORT_TYPE_CPP;
    case PROFILE_NAME_KERNEL:
        return EXPORT_TYPE_KERNEL;
    case PROFILE_NAME_CLASS:
        return EXPORT_TYPE_INLINED; /* as async-profiler has them */
    case PROFILE_NAME_ROOT:
    case PROFILE_NAME_NATIVE:
    case PROFILE_NAME_MARK:
    case PROFILE_NAME_THREAD:
    case PROFILE_NAME_ENDPOINT:
    case PROFILE_NAME_OPERATION:
    case PROFILE_NAME_ATTRIBUTE:
    case PROFILE_NAME_MISSING:
        break;
    }
    return EXPORT_TYPE_NATIVE;
}

const char *export_type_suffix(const struct profile_name *name, enum export_type type)
{
    switch (type) {
    case EXPORT_TYPE_INTERPRETED:
        return "_[0]";
    case EXPORT_TYPE_COMPILED:
        return "_[j]";
    case EXPORT_TYPE_INLINED:
        return "_[i]";
    case EXPORT_TYPE_C1:
        return "_[1]";
    case EXPORT_TYPE_KERNEL:
        return "_[k]";
    case EXPORT_TYPE_NATIVE: /* a Java method is Java, whatever it calls */
        return name->kind == PROFILE_NAME_JAVA ? "_[j]" : "";
    case EXPORT_TYPE_CPP:
        break;
    }
    return "";
}

void export_add_suffix(struct export_text *text, const struct export_options *options,
                       const struct profile_name *name, enum export_type type)
{
    const char *suffix = options->is_annotated ? export_type_suffix(name, type) : "";

    export_text_add(text, suffix, strlen(suffix));
}
