/* What is known of captures, and whether a method has them. Context: hook, tool. */
#include "probe/probe_internal.h"

#include <stdio.h>
#include <string.h>

#define PRIMITIVES "BCDFIJSZ"

static const struct {
    const char *annotation;
    const char *types;
    unsigned places;
    const char *where;
    const char *text;
} kinds[PROBE_KIND_LIMIT] = {
#define PROBE_CAPTURE(name, annotation, types, places, where, text)                                \
    [PROBE_##name] = {annotation, types, places, where, text},
#include "probe/probe_captures.def"
#undef PROBE_CAPTURE
};

/* How a bridge fetches it; NULL: it is an operand of the place. */
static const char *const fetched[PROBE_KIND_LIMIT] = {
#define PROBE_CAPTURE(name, annotation, types, places, where, text)
#define PROBE_FETCHED(name, annotation, types, places, where, text, method) [PROBE_##name] = method,
#include "probe/probe_captures.def"
#undef PROBE_CAPTURE
};

static const struct {
    const char *word;
    const char *text;
} fits[PROBE_FIT_LIMIT] = {
#define PROBE_FIT(name, word, text) [PROBE_FIT_##name] = {word, text},
#include "probe/probe_fits.def"
#undef PROBE_FIT
};

const char *probe_kind_annotation(enum probe_kind kind)
{
    return kinds[kind].annotation;
}

const char *probe_kind_text(enum probe_kind kind)
{
    return kinds[kind].text;
}

const char *probe_kind_fetched(enum probe_kind kind)
{
    return fetched[kind];
}

const char *probe_fit_word(enum probe_fit fit)
{
    return fits[fit].word;
}

const char *probe_fit_text(enum probe_fit fit)
{
    return fits[fit].text;
}

static bool is_primitive(struct classfile_text type)
{
    return type.length_bytes == 1 && memchr(PRIMITIVES, type.bytes[0], sizeof PRIMITIVES - 1);
}

bool probe_kind_takes(enum probe_kind kind, struct classfile_text type)
{
    const char *types = kinds[kind].types;
    const char *star = strchr(types, '*');
    const size_t length = star == NULL ? strlen(types) : (size_t)(star - types);

    if (star != NULL && is_primitive(type))
        return true;
    return type.length_bytes == length && memcmp(type.bytes, types, length) == 0;
}

bool probe_kind_is_at(enum probe_kind kind, enum probe_place place)
{
    return (kinds[kind].places & (1u << place)) != 0;
}

const char *probe_kind_where(enum probe_kind kind)
{
    return kinds[kind].where;
}

/* ---- methods ---- */

/* A parameter by its number; false: there is none. */
static bool find_argument(struct classfile_text descriptor, uint32_t number,
                          struct classfile_text *type)
{
    uint32_t at = 1;

    do {
        if (!classfile_next_type(descriptor, &at, type))
            return false;
    } while (number-- != 0);
    return true;
}

/* What it returns; "V": nothing. */
static struct classfile_text value_of(struct classfile_text descriptor)
{
    const char *behind = memrchr(descriptor.bytes, ')', descriptor.length_bytes);
    const char *end = descriptor.bytes + descriptor.length_bytes;

    if (behind == NULL || behind + 1 == end)
        return (struct classfile_text){"V", 1};
    return (struct classfile_text){behind + 1, (uint32_t)(end - behind - 1)};
}

bool probe_takes(char wanted, struct classfile_text type)
{
    return wanted == 'L' || (type.length_bytes == 1 && type.bytes[0] == wanted);
}

static enum probe_fit fit_of(const struct probe_capture *capture, enum probe_place place,
                             struct classfile_text method_name, struct classfile_text descriptor)
{
    struct classfile_text type;

    switch ((enum probe_kind)capture->kind) {
    case PROBE_THIS:
        return place == PROBE_ENTRY && classfile_is_text(method_name, "<init>")
                   ? PROBE_FIT_THIS_UNBORN
                   : PROBE_FIT_GOOD;
    case PROBE_ARGUMENT:
        if (!find_argument(descriptor, capture->argument, &type))
            return PROBE_FIT_NO_ARGUMENT;
        return probe_takes(capture->type, type) ? PROBE_FIT_GOOD : PROBE_FIT_ARGUMENT_TYPE;
    case PROBE_RETURNED:
        if (place != PROBE_RETURN)
            break;
        return probe_takes(capture->type, value_of(descriptor)) ? PROBE_FIT_GOOD
                                                                : PROBE_FIT_RETURNED_TYPE;
    case PROBE_ARGUMENTS:
    case PROBE_THROWN:
    case PROBE_DURATION:
    case PROBE_METHOD:
    case PROBE_RULE:
    case PROBE_LINE_NUMBER:
    case PROBE_RECEIVER:
    case PROBE_CALL_ARGUMENT:
    case PROBE_TARGET:
    case PROBE_VALUE:
    case PROBE_ALLOCATED:
    case PROBE_LOCK:
    case PROBE_CALLER:
    case PROBE_SPAN:
    case PROBE_TRACE:
    case PROBE_ENDPOINT:
    case PROBE_KIND_LIMIT:
        break;
    }
    return PROBE_FIT_GOOD;
}

enum probe_fit probe_fit(const struct probe_handler *handler, struct classfile_text method_name,
                         struct classfile_text descriptor)
{
    for (unsigned i = 0; i < handler->capture_count; i++) {
        const enum probe_fit fit =
            fit_of(&handler->captures[i], handler->place, method_name, descriptor);

        if (fit != PROBE_FIT_GOOD)
            return fit;
    }
    return PROBE_FIT_GOOD;
}

enum probe_fit probe_fit_method(const struct probe_handler *handler, const struct classfile *file,
                                const struct classfile_member *method)
{
    enum probe_fit fit = probe_fit(handler, classfile_text_of(file, method->name_index),
                                   classfile_text_of(file, method->descriptor_index));
    struct probe_found found;
    uint32_t next_pc = 0;

    if (fit != PROBE_FIT_GOOD || probe_place_named(handler->place) == PROBE_NAMED_WHOLE)
        return fit;
    fit = PROBE_FIT_NO_PLACE;
    while (probe_next_place(handler, file, method, &next_pc, &found)) {
        fit = found.fit;
        if (fit == PROBE_FIT_GOOD)
            break;
    }
    return fit;
}

void probe_call_type(const struct probe_handler *handler, char text[PROBE_CALL_TYPE_BYTES])
{
    char *at = text;

    *at++ = '(';
    for (unsigned i = 0; i < handler->capture_count; i++) {
        if (fetched[handler->captures[i].kind] != NULL)
            continue;
        if (handler->captures[i].type == 'L')
            at = stpcpy(at, "Ljava/lang/Object;");
        else
            *at++ = handler->captures[i].type;
    }
    strcpy(at, ")V");
}
