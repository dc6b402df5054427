/* What a name looks like: the only place that knows. Context: dump, tool. */
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

/* Text that goes on being counted when it no longer fits. */
struct profile_line {
    char *text;
    size_t capacity_bytes;
    size_t length_bytes;
};

static void profile_put_bytes(struct profile_line *line, const char *bytes, size_t length_bytes)
{
    const size_t room =
        line->length_bytes < line->capacity_bytes ? line->capacity_bytes - line->length_bytes : 0;

    if (room > 0)
        memcpy(line->text + line->length_bytes, bytes, length_bytes < room ? length_bytes : room);
    line->length_bytes += length_bytes;
}

static void profile_put(struct profile_line *line, const char *text)
{
    profile_put_bytes(line, text, strlen(text));
}

const char *profile_primitive(char letter)
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
static void profile_put_class(struct profile_line *line, const char *class_name, bool is_dotted)
{
    const size_t begin = line->length_bytes;
    size_t length_bytes = strlen(class_name);
    size_t dimensions = 0;

    while (class_name[dimensions] == '[')
        dimensions++;
    class_name += dimensions;
    length_bytes -= dimensions;

    const char *primitive =
        dimensions > 0 && length_bytes == 1 ? profile_primitive(class_name[0]) : NULL;
    if (primitive != NULL) {
        profile_put(line, primitive);
    } else if (dimensions > 0 && class_name[0] == 'L' && length_bytes > 2 &&
               class_name[length_bytes - 1] == ';') {
        profile_put_bytes(line, class_name + 1, length_bytes - 2);
    } else {
        profile_put_bytes(line, class_name, length_bytes);
    }
    for (size_t i = begin; is_dotted && i < line->length_bytes && i < line->capacity_bytes; i++) {
        if (line->text[i] == '/')
            line->text[i] = '.';
    }
    for (; dimensions > 0; dimensions--)
        profile_put(line, "[]");
}

static void profile_put_native(struct profile_line *line, const struct profile_name *name,
                               const struct profile_view *view)
{
    const bool has_method = name->method[0] != '\0';
    const bool has_module = name->module[0] != '\0';

    /* Code without a symbol bears the name of its library as it is; the kernel is one by itself. */
    if (view->has_libraries && name->kind != PROFILE_NAME_KERNEL && has_module && has_method &&
        strcmp(name->method, name->module) != 0) {
        profile_put(line, name->module);
        profile_put(line, "`");
    }
    profile_put(line, has_method   ? name->method
                      : has_module ? name->module
                                   : "[unknown native code]");
}

size_t profile_title(const struct profile_name *name, const struct profile_view *view, char *text,
                     size_t capacity_bytes)
{
    struct profile_line line = {text, capacity_bytes, 0};
    const bool has_class = name->class_name[0] != '\0';
    const bool has_method = name->method[0] != '\0';

    switch (name->kind) {
    case PROFILE_NAME_JAVA:
    case PROFILE_NAME_COMPILATION:
    case PROFILE_NAME_CLASS:
        if (has_class)
            profile_put_class(&line, name->class_name, view->is_dotted);
        if (has_class && has_method)
            profile_put(&line, ".");
        profile_put(&line, has_class || has_method ? name->method : "[unknown method]");
        profile_put(&line, name->signature);
        break;
    case PROFILE_NAME_NATIVE:
    case PROFILE_NAME_CPP:
    case PROFILE_NAME_KERNEL:
        profile_put_native(&line, name, view);
        break;
    case PROFILE_NAME_ROOT:
    case PROFILE_NAME_MARK:
    case PROFILE_NAME_THREAD:
    case PROFILE_NAME_ENDPOINT:
    case PROFILE_NAME_OPERATION:
        profile_put(&line, has_method ? name->method : "[unknown]");
        break;
    case PROFILE_NAME_ATTRIBUTE:
        profile_put(&line, name->class_name);
        profile_put(&line, "=");
        profile_put(&line, name->method);
        break;
    case PROFILE_NAME_MISSING:
        profile_put(&line, "[no ");
        profile_put(&line, name->method);
        profile_put(&line, "]");
        break;
    }
    if (name->line > 0) {
        char number[16];

        snprintf(number, sizeof number, ":%d", name->line);
        profile_put(&line, number);
    }
    if (capacity_bytes > 0)
        text[line.length_bytes < capacity_bytes ? line.length_bytes : capacity_bytes - 1] = '\0';
    return line.length_bytes;
}
