/* The encodings of a recording, and its metadata as a tree of elements. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/jfr_check_internal.h"

#define TEXTS_MAX 8192

void jfr_check_blame(struct jfr_checker *c, const char *format, ...)
{
    if (c->has_failed)
        return;

    char text[224];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(c->out->problem, sizeof c->out->problem, "chunk %zu, offset %td: %s",
             c->out->chunk_count, c->chunk == NULL ? 0 : c->at - c->chunk, text);
    c->has_failed = true;
    c->at = c->end;
}

unsigned jfr_check_u8(struct jfr_checker *c)
{
    if (c->at >= c->end) {
        jfr_check_blame(c, "ends too early");
        return 0;
    }
    return *c->at++;
}

uint64_t jfr_check_varint(struct jfr_checker *c)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 9; i++) {
        const unsigned byte = jfr_check_u8(c);

        if (i == 8)
            return value | (uint64_t)byte << 56;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            break;
    }
    return value;
}

const unsigned char *jfr_check_take(struct jfr_checker *c, uint64_t length_bytes)
{
    const unsigned char *bytes = c->at;

    if (length_bytes > (uint64_t)(c->end - c->at)) {
        jfr_check_blame(c, "%llu bytes reach beyond the end", (unsigned long long)length_bytes);
        return NULL;
    }
    c->at += length_bytes;
    return bytes;
}

static void check_utf8(struct jfr_checker *c, const unsigned char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        const unsigned length = s[i] < 0x80   ? 1
                                : s[i] < 0xc2 ? 0
                                : s[i] < 0xe0 ? 2
                                : s[i] < 0xf0 ? 3
                                : s[i] < 0xf5 ? 4
                                              : 0;

        if (length == 0 || i + length > n) {
            jfr_check_blame(c, "text is no UTF-8");
            return;
        }
        for (unsigned k = 1; k < length; k++)
            if ((s[i + k] & 0xc0) != 0x80)
                jfr_check_blame(c, "text is no UTF-8");
        if (length == 3 && s[i] == 0xed && s[i + 1] >= 0xa0)
            jfr_check_blame(c, "text holds half a surrogate pair");
        i += length;
    }
}

/* Reads a string; its bytes, if it has any that are UTF-8. */
const unsigned char *jfr_check_text(struct jfr_checker *c, uint64_t *length_bytes)
{
    const unsigned encoding = jfr_check_u8(c);
    const unsigned char *bytes = NULL;

    *length_bytes = 0;
    if (encoding == 3) {
        *length_bytes = jfr_check_varint(c);
        bytes = jfr_check_take(c, *length_bytes);
        if (bytes != NULL)
            check_utf8(c, bytes, *length_bytes);
    } else if (encoding > 1) {
        jfr_check_blame(c, "string encoding %u is none that we write", encoding);
    }
    return bytes;
}

/* ---- metadata ---- */

struct texts {
    size_t count;
    char text[TEXTS_MAX][96];
};

struct attributes {
    const char *name, *id, *super, *class, *value, *dimension, *pooled, *simple;
    const char *element;
};

static const char *text_at(struct jfr_checker *c, const struct texts *texts)
{
    const uint64_t index = jfr_check_varint(c);

    if (index >= texts->count) {
        jfr_check_blame(c, "text %llu of %zu", (unsigned long long)index, texts->count);
        return "";
    }
    return texts->text[index];
}

static void get_element(struct jfr_checker *c, const struct texts *texts,
                        struct jfr_check_class *in_class, unsigned depth);

/* NULL when there are too many. */
static struct jfr_check_field *new_field(struct jfr_check_class *class)
{
    if (class->field_count == JFR_CHECK_FIELDS_MAX)
        return NULL;
    if (class->field_count == class->field_capacity) {
        class->field_capacity = class->field_capacity == 0 ? 8 : 2 * class->field_capacity;
        class->fields = realloc(class->fields, class->field_capacity * sizeof class->fields[0]);
    }
    struct jfr_check_field *field = &class->fields[class->field_count++];
    *field = (struct jfr_check_field){0};
    return field;
}

static void note_element(struct jfr_checker *c, const struct attributes *a,
                         struct jfr_check_class **class)
{
    if (strcmp(a->element, "class") == 0) {
        const unsigned id = a->id == NULL ? 0 : (unsigned)strtoul(a->id, NULL, 10);

        if (id < 2 || id >= JFR_CHECK_IDS_MAX || a->name == NULL || c->classes[id].is_declared) {
            jfr_check_blame(c, "class id %u is out of range or there twice", id);
            return;
        }
        *class = &c->classes[id];
        (*class)->is_declared = true;
        c->declared[c->declared_count++] = id;
        (*class)->is_event = a->super != NULL && strcmp(a->super, "jdk.jfr.Event") == 0;
        (*class)->is_simple = a->simple != NULL;
        snprintf((*class)->name, sizeof(*class)->name, "%s", a->name);
        if (id < JFR_CHECK_TYPES_MAX)
            snprintf(c->out->type_names[id], sizeof c->out->type_names[id], "%s", a->name);
    } else if (strcmp(a->element, "field") == 0) {
        struct jfr_check_field *field = *class == NULL ? NULL : new_field(*class);

        if (field == NULL || a->name == NULL || a->class == NULL) {
            jfr_check_blame(c, "a field without class, name or place");
            return;
        }
        snprintf(field->name, sizeof field->name, "%s", a->name);
        field->class_id = (unsigned)strtoul(a->class, NULL, 10);
        field->is_array = a->dimension != NULL && strcmp(a->dimension, "0") != 0;
        field->is_pooled = a->pooled != NULL;
        *class = NULL;
    } else if (strcmp(a->element, "annotation") != 0 && strcmp(a->element, "metadata") != 0 &&
               strcmp(a->element, "root") != 0 && strcmp(a->element, "region") != 0 &&
               strcmp(a->element, "setting") != 0) {
        jfr_check_blame(c, "unknown element <%s>", a->element);
    }
}

static void get_element(struct jfr_checker *c, const struct texts *texts,
                        struct jfr_check_class *in_class, unsigned depth)
{
    struct attributes a = {.element = text_at(c, texts)};
    const uint64_t attribute_count = jfr_check_varint(c);

    if (depth > JFR_CHECK_NESTING_MAX)
        jfr_check_blame(c, "elements too deep");
    for (uint64_t i = 0; i < attribute_count && !c->has_failed; i++) {
        const char *key = text_at(c, texts);
        const char *value = text_at(c, texts);
        const struct {
            const char *key;
            const char **to;
        } known[] = {{"name", &a.name},           {"id", &a.id},
                     {"superType", &a.super},     {"class", &a.class},
                     {"value", &a.value},         {"dimension", &a.dimension},
                     {"constantPool", &a.pooled}, {"simpleType", &a.simple}};

        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (strcmp(key, known[k].key) == 0)
                *known[k].to = value;
    }
    if (!c->has_failed)
        note_element(c, &a, &in_class);

    const uint64_t child_count = jfr_check_varint(c);
    for (uint64_t i = 0; i < child_count && !c->has_failed; i++)
        get_element(c, texts, in_class, depth + 1);
}

static void check_classes(struct jfr_checker *c)
{
    for (size_t k = 0; k < c->declared_count && !c->has_failed; k++) {
        const struct jfr_check_class *class = &c->classes[c->declared[k]];

        if (class->is_simple && class->field_count != 1)
            jfr_check_blame(c, "simple type %s has %zu fields", class->name, class->field_count);
        if (class->is_event &&
            (class->field_count == 0 || strcmp(class->fields[0].name, "startTime") != 0))
            jfr_check_blame(c, "event %s does not begin with startTime", class->name);
        for (size_t i = 0; i < class->field_count; i++) {
            const unsigned of = class->fields[i].class_id;

            if (of >= JFR_CHECK_IDS_MAX || !c->classes[of].is_declared)
                jfr_check_blame(c, "field %s.%s has no class", class->name, class->fields[i].name);
            for (size_t j = 0; j < i; j++) {
                if (strcmp(class->fields[i].name, class->fields[j].name) == 0)
                    jfr_check_blame(c, "%s has two fields %s", class->name, class->fields[i].name);
            }
            if (strcmp(class->fields[i].name, "duration") == 0 && i != 1)
                jfr_check_blame(c, "duration of %s is not its second field", class->name);
        }
    }
}

void jfr_check_forget_classes(struct jfr_checker *c)
{
    while (c->declared_count > 0) {
        struct jfr_check_class *class = &c->classes[c->declared[--c->declared_count]];

        free(class->fields);
        *class = (struct jfr_check_class){0};
    }
}

void jfr_check_metadata(struct jfr_checker *c, const unsigned char *at)
{
    struct texts *texts = calloc(1, sizeof *texts);
    const unsigned char *limit = c->end;

    c->at = at;
    const uint64_t size = jfr_check_varint(c);
    if (size > (uint64_t)(limit - at))
        jfr_check_blame(c, "metadata is too long");
    else
        c->end = at + size;
    if (jfr_check_varint(c) != 0)
        jfr_check_blame(c, "the metadata offset leads to another event");
    jfr_check_varint(c);
    jfr_check_varint(c);
    c->out->metadata_id = jfr_check_varint(c);
    texts->count = jfr_check_varint(c);
    if (texts->count > TEXTS_MAX)
        jfr_check_blame(c, "too many texts");
    for (size_t i = 0; i < texts->count && !c->has_failed; i++) {
        uint64_t length;
        const unsigned char *bytes = jfr_check_text(c, &length);

        if (bytes != NULL)
            memcpy(texts->text[i], bytes, length < 95 ? length : 95);
    }
    jfr_check_forget_classes(c);
    get_element(c, texts, NULL, 0);
    if (!c->has_failed && c->at != c->end)
        jfr_check_blame(c, "metadata has bytes behind its tree");
    c->end = limit;
    check_classes(c);
    free(texts);
}
