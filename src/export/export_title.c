/*
 * What a name looks like, and what type a frame has: the only place that knows. Context: dump, tool.
 */
#include <stdio.h>
#include <string.h>

#include "export/export_internal.h"

static void export_add(struct export_text *text, const char *part)
{
    export_text_add(text, part, strlen(part));
}

/* Descriptor letters of arrays of primitives: "[B" reads byte[]. */
static const char *export_primitive(char letter)
{
    static const struct {
        char letter;
        const char *name;
    } primitives[] = {
        {'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"},
        {'I', "int"},  {'J', "long"}, {'S', "short"},  {'Z', "boolean"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(primitives); i++) {
        if (primitives[i].letter == letter)
            return primitives[i].name;
    }
    return NULL;
}

/* A class in internal form; arrays are written as in source. */
static void export_add_class(struct export_text *text, const char *class_name, bool is_dotted)
{
    const size_t begin = text->length_bytes;
    size_t length_bytes = strlen(class_name);
    size_t dimensions = 0;

    while (class_name[dimensions] == '[')
        dimensions++;
    class_name += dimensions;
    length_bytes -= dimensions;

    const char *primitive =
        dimensions > 0 && length_bytes == 1 ? export_primitive(class_name[0]) : NULL;
    if (primitive != NULL) {
        export_add(text, primitive);
    } else if (dimensions > 0 && class_name[0] == 'L' && length_bytes > 2 &&
               class_name[length_bytes - 1] == ';') {
        export_text_add(text, class_name + 1, length_bytes - 2);
    } else {
        export_text_add(text, class_name, length_bytes);
    }
    for (size_t i = begin; is_dotted && !text->has_failed && i < text->length_bytes; i++) {
        if (text->text[i] == '/')
            text->text[i] = '.';
    }
    for (; dimensions > 0; dimensions--)
        export_add(text, "[]");
}

void export_title(struct export_text *text, const struct profile_name *name, bool is_dotted)
{
    const bool has_class = name->class_name[0] != '\0';
    const bool has_method = name->method[0] != '\0';

    switch (name->kind) {
    case PROFILE_NAME_JAVA:
    case PROFILE_NAME_CLASS:
        if (has_class)
            export_add_class(text, name->class_name, is_dotted);
        if (has_class && has_method)
            export_add(text, ".");
        export_add(text, has_class || has_method ? name->method : "[unknown method]");
        export_add(text, name->signature);
        break;
    case PROFILE_NAME_NATIVE:
    case PROFILE_NAME_CPP:
    case PROFILE_NAME_KERNEL:
        export_add(text, has_method                ? name->method
                         : name->module[0] != '\0' ? name->module
                                                   : "[unknown native code]");
        break;
    case PROFILE_NAME_ROOT:
    case PROFILE_NAME_MARK:
    case PROFILE_NAME_THREAD:
        export_add(text, has_method ? name->method : "[unknown]");
        break;
    }
    if (name->line > 0) {
        char line[16];

        snprintf(line, sizeof line, ":%d", name->line);
        export_add(text, line);
    }
}

size_t export_frame_title(const struct profile_frame *frame, char *text, size_t capacity_bytes)
{
    const bool is_java = frame->type <= PROFILE_FRAME_C1 || frame->type == PROFILE_FRAME_CLASS;
    const struct profile_name name = {
        .kind = is_java                             ? PROFILE_NAME_JAVA
                : frame->type == PROFILE_FRAME_MARK ? PROFILE_NAME_MARK
                                                    : PROFILE_NAME_NATIVE,
        .class_name = is_java && frame->class_name != NULL ? frame->class_name : "",
        .method = frame->method == NULL ? "" : frame->method,
        .signature = "",
        .module = frame->module == NULL ? "" : frame->module,
    };
    struct export_text title = {0};

    export_title(&title, &name, false);
    const int length = snprintf(text, capacity_bytes, "%s", title.text == NULL ? "" : title.text);
    export_text_free(&title);
    return length < 0 ? 0 : (size_t)length;
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
