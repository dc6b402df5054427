/* Instructions and lines of a method, without taking it apart. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

bool classfile_next_instruction(const struct classfile_code *code, uint32_t *pc, uint32_t *next_pc)
{
    uint32_t bytes;

    if (*next_pc >= code->length_bytes)
        return false;
    bytes = classfile_instruction_bytes(code->bytes, code->length_bytes, *next_pc);
    *pc = *next_pc;
    *next_pc += bytes;
    return bytes != 0;
}

/* The attributes of a Code; false: it has none that can be read. */
static bool attributes_of(const struct classfile *file, const struct classfile_member *method,
                          struct classfile_attributes *out)
{
    struct classfile_code code;

    if (!classfile_code_of(file, method, &code))
        return false;

    struct classfile_in in = {.bytes = file->bytes,
                              .at_bytes = (uint32_t)(code.bytes - file->bytes) + code.length_bytes,
                              .end_bytes = method->code_offset_bytes + method->code_bytes};
    classfile_in_skip(&in, 8u * classfile_in_u2(&in));
    out->offset_bytes = in.at_bytes;
    out->count = classfile_in_u2(&in);
    return !in.is_failed;
}

/* Entries of the table that is read: a place and its line each. */
struct lines {
    const uint8_t *at;
    uint32_t left;
};

static bool next_table(const struct classfile *file, struct classfile_attributes attributes,
                       struct classfile_cursor *cursor, struct lines *out)
{
    struct classfile_attribute attribute;

    while (classfile_next_attribute(file, attributes, cursor, &attribute)) {
        const uint8_t *body = file->bytes + attribute.offset_bytes;

        if (!classfile_is_text(attribute.name, "LineNumberTable") || attribute.length_bytes < 2 ||
            attribute.length_bytes != 2 + 4u * classfile_u2(body))
            continue;
        *out = (struct lines){.at = body + 2, .left = classfile_u2(body)};
        return true;
    }
    return false;
}

bool classfile_line_begins(const struct classfile *file, const struct classfile_member *method,
                           uint16_t line, uint32_t *pc)
{
    struct classfile_attributes attributes;
    struct classfile_cursor cursor = {.left = 0};
    struct lines lines;
    bool is_found = false;

    if (!attributes_of(file, method, &attributes))
        return false;
    while (next_table(file, attributes, &cursor, &lines)) {
        for (; lines.left != 0; lines.left--, lines.at += 4) {
            if (classfile_u2(lines.at + 2) != line || (is_found && *pc <= classfile_u2(lines.at)))
                continue;
            *pc = classfile_u2(lines.at);
            is_found = true;
        }
    }
    return is_found;
}

uint16_t classfile_line_of(const struct classfile *file, const struct classfile_member *method,
                           uint32_t pc)
{
    struct classfile_attributes attributes;
    struct classfile_cursor cursor = {.left = 0};
    struct lines lines;
    uint32_t nearest = 0;
    uint16_t line = 0;

    if (!attributes_of(file, method, &attributes))
        return 0;
    while (next_table(file, attributes, &cursor, &lines)) {
        for (; lines.left != 0; lines.left--, lines.at += 4) {
            const uint32_t begin = classfile_u2(lines.at);

            if (begin > pc || begin < nearest)
                continue;
            nearest = begin;
            line = classfile_u2(lines.at + 2);
        }
    }
    return line;
}
