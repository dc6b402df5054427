/* Class files from their first byte to their last: members and attributes. Context: hook, tool. */
#include "classfile/classfile_internal.h"

#define MAGIC 0xcafebabeu

static const struct {
    const char *word;
    const char *text;
} verdicts[CLASSFILE_VERDICT_LIMIT] = {
#define CLASSFILE_VERDICT(name, word, text) [CLASSFILE_##name] = {word, text},
#include "classfile/classfile_verdicts.def"
#undef CLASSFILE_VERDICT
};

const char *classfile_verdict_word(enum classfile_verdict verdict)
{
    return verdicts[verdict < CLASSFILE_VERDICT_LIMIT ? verdict : CLASSFILE_OK].word;
}

const char *classfile_verdict_text(enum classfile_verdict verdict)
{
    return verdicts[verdict < CLASSFILE_VERDICT_LIMIT ? verdict : CLASSFILE_OK].text;
}

/* ---- memory ---- */

void *classfile_memory_take(struct classfile_memory *memory, size_t size_bytes)
{
    const size_t rounded_bytes = (size_bytes + 15) & ~(size_t)15;

    if (rounded_bytes < size_bytes || memory->capacity_bytes - memory->used_bytes < rounded_bytes)
        return NULL;
    memory->used_bytes += rounded_bytes;
    return memory->bytes + memory->used_bytes - rounded_bytes;
}

/* ---- reading ---- */

static enum classfile_verdict skip_attributes(struct classfile_in *in, const struct classfile *file,
                                              struct classfile_attributes *out,
                                              struct classfile_member *method)
{
    out->offset_bytes = in->at_bytes;
    out->count = classfile_in_u2(in);
    for (uint32_t i = 0; i < out->count && !in->is_failed; i++) {
        const uint16_t name_index = classfile_in_u2(in);
        const uint32_t length_bytes = classfile_in_u4(in);

        if (in->is_failed)
            break;
        if (classfile_tag_of(file, name_index) != CLASSFILE_TAG_UTF8)
            return CLASSFILE_BAD_MEMBER;
        if (method != NULL && classfile_is_text(classfile_text_of(file, name_index), "Code")) {
            if (method->code_offset_bytes != 0)
                return CLASSFILE_BAD_MEMBER; /* there may be one */
            method->code_offset_bytes = in->at_bytes;
            method->code_bytes = length_bytes;
        }
        classfile_in_skip(in, length_bytes);
    }
    return in->is_failed ? CLASSFILE_CUT : CLASSFILE_OK;
}

static enum classfile_verdict read_members(struct classfile_in *in, const struct classfile *file,
                                           bool is_methods, struct classfile_memory *memory,
                                           uint16_t *count, const struct classfile_member **members)
{
    *count = classfile_in_u2(in);

    struct classfile_member *out = classfile_memory_take(memory, *count * sizeof *out);
    if (out == NULL)
        return CLASSFILE_NO_MEMORY;
    *members = out;
    for (uint32_t i = 0; i < *count; i++, out++) {
        *out = (struct classfile_member){.offset_bytes = in->at_bytes};
        out->access = classfile_in_u2(in);
        out->name_index = classfile_in_u2(in);
        out->descriptor_index = classfile_in_u2(in);
        if (in->is_failed)
            return CLASSFILE_CUT;
        if (classfile_tag_of(file, out->name_index) != CLASSFILE_TAG_UTF8 ||
            classfile_tag_of(file, out->descriptor_index) != CLASSFILE_TAG_UTF8)
            return CLASSFILE_BAD_MEMBER;

        const enum classfile_verdict verdict =
            skip_attributes(in, file, &out->attributes, is_methods ? out : NULL);
        if (verdict != CLASSFILE_OK)
            return verdict;
        out->end_bytes = in->at_bytes;
    }
    return CLASSFILE_OK;
}

static enum classfile_verdict read_head(struct classfile_in *in, struct classfile *file)
{
    file->access = classfile_in_u2(in);
    file->this_index = classfile_in_u2(in);
    file->super_index = classfile_in_u2(in);
    file->interface_count = classfile_in_u2(in);
    file->interfaces_offset_bytes = in->at_bytes;
    for (uint32_t i = 0; i < file->interface_count && !in->is_failed; i++) {
        if (classfile_tag_of(file, classfile_in_u2(in)) != CLASSFILE_TAG_CLASS && !in->is_failed)
            return CLASSFILE_BAD_MEMBER;
    }
    if (in->is_failed)
        return CLASSFILE_CUT;
    if (classfile_tag_of(file, file->this_index) != CLASSFILE_TAG_CLASS ||
        (file->super_index != 0 &&
         classfile_tag_of(file, file->super_index) != CLASSFILE_TAG_CLASS))
        return CLASSFILE_BAD_MEMBER;
    return CLASSFILE_OK;
}

enum classfile_verdict classfile_read(const uint8_t *bytes, size_t length_bytes,
                                      struct classfile_memory *memory, struct classfile *file)
{
    struct classfile_in in = {.bytes = bytes, .end_bytes = (uint32_t)length_bytes};
    enum classfile_verdict verdict;

    *file = (struct classfile){.bytes = bytes, .length_bytes = (uint32_t)length_bytes};
    if (length_bytes > INT32_MAX)
        return CLASSFILE_NO_MEMORY;
    if (length_bytes < 10)
        return CLASSFILE_CUT;
    if (classfile_in_u4(&in) != MAGIC)
        return CLASSFILE_NO_CLASS;
    file->minor = classfile_in_u2(&in);
    file->major = classfile_in_u2(&in);
    if (file->major < 45)
        return CLASSFILE_OLD_VERSION;
    if ((verdict = classfile_read_pool(&in, memory, file)) != CLASSFILE_OK ||
        (verdict = read_head(&in, file)) != CLASSFILE_OK ||
        (verdict = read_members(&in, file, false, memory, &file->field_count, &file->fields)) !=
            CLASSFILE_OK ||
        (verdict = read_members(&in, file, true, memory, &file->method_count, &file->methods)) !=
            CLASSFILE_OK)
        return verdict;
    file->methods_end_bytes = in.at_bytes;
    verdict = skip_attributes(&in, file, &file->attributes, NULL);
    if (verdict == CLASSFILE_OK && in.at_bytes != in.end_bytes)
        verdict = CLASSFILE_LONGER;
    return verdict;
}

/* ---- what is in it ---- */

bool classfile_is_text(struct classfile_text text, const char *word)
{
    return strlen(word) == text.length_bytes && memcmp(text.bytes, word, text.length_bytes) == 0;
}

struct classfile_text classfile_name(const struct classfile *file)
{
    return classfile_text_of(file, file->this_index);
}

struct classfile_text classfile_super(const struct classfile *file)
{
    return classfile_text_of(file, file->super_index);
}

struct classfile_text classfile_interface(const struct classfile *file, uint16_t number)
{
    if (number >= file->interface_count)
        return (struct classfile_text){"", 0};
    return classfile_text_of(
        file, classfile_u2(file->bytes + file->interfaces_offset_bytes + 2u * number));
}

bool classfile_next_attribute(const struct classfile *file, struct classfile_attributes attributes,
                              struct classfile_cursor *at, struct classfile_attribute *out)
{
    if (!at->has_begun)
        *at = (struct classfile_cursor){attributes.offset_bytes + 2, attributes.count, true};
    if (at->left == 0)
        return false;

    const uint8_t *head = file->bytes + at->offset_bytes;
    *out = (struct classfile_attribute){classfile_text_of(file, classfile_u2(head)),
                                        at->offset_bytes + 6, classfile_u4(head + 2)};
    at->offset_bytes += 6 + out->length_bytes;
    at->left--;
    return true;
}

bool classfile_find_attribute(const struct classfile *file, struct classfile_attributes attributes,
                              const char *name, struct classfile_attribute *out)
{
    struct classfile_cursor at = {0};

    while (classfile_next_attribute(file, attributes, &at, out)) {
        if (classfile_is_text(out->name, name))
            return true;
    }
    return false;
}

bool classfile_code_of(const struct classfile *file, const struct classfile_member *method,
                       struct classfile_code *out)
{
    struct classfile_in in = {.bytes = file->bytes,
                              .at_bytes = method->code_offset_bytes,
                              .end_bytes = method->code_offset_bytes + method->code_bytes};

    if (method->code_offset_bytes == 0)
        return false;
    if (classfile_has_short_code(file)) {
        out->stack_count = classfile_in_u1(&in);
        out->local_count = classfile_in_u1(&in);
        out->length_bytes = classfile_in_u2(&in);
    } else {
        out->stack_count = classfile_in_u2(&in);
        out->local_count = classfile_in_u2(&in);
        out->length_bytes = classfile_in_u4(&in);
    }
    out->bytes = in.bytes + in.at_bytes;
    classfile_in_skip(&in, out->length_bytes);
    return !in.is_failed && out->length_bytes != 0 && out->length_bytes <= 65535;
}

const char *classfile_skip_type(const char *at, const char *end, uint32_t *words)
{
    const char *begin = at;

    while (at < end && *at == '[')
        at++;
    if (at == end)
        return NULL;
    *words = at == begin && (*at == 'J' || *at == 'D') ? 2 : 1;
    if (*at == 'L')
        at = memchr(at, ';', (size_t)(end - at));
    else if (memchr("BCDFIJSZ", *at, 8) == NULL)
        at = NULL;
    return at == NULL ? NULL : at + 1;
}

bool classfile_descriptor_words(struct classfile_text descriptor, uint32_t *parameter_words,
                                uint32_t *value_words)
{
    const char *at = descriptor.bytes, *end = at + descriptor.length_bytes;

    *parameter_words = 0;
    *value_words = 0;
    if (at == end || *at++ != '(')
        return false;
    while (at < end && *at != ')') {
        uint32_t words = 0;

        at = classfile_skip_type(at, end, &words);
        if (at == NULL)
            return false;
        *parameter_words += words;
    }
    if (at == end || ++at == end)
        return false;
    if (*at == 'V')
        return at + 1 == end;
    at = classfile_skip_type(at, end, value_words);
    return at == end;
}

bool classfile_next_type(struct classfile_text descriptor, uint32_t *at, struct classfile_text *out)
{
    uint32_t words;

    if (*at >= descriptor.length_bytes)
        return false;

    const char *begin = descriptor.bytes + *at;
    const char *behind =
        classfile_skip_type(begin, descriptor.bytes + descriptor.length_bytes, &words);
    if (behind == NULL)
        return false;
    *out = (struct classfile_text){begin, (uint32_t)(behind - begin)};
    *at += out->length_bytes;
    return true;
}
