/* Where a handler is called, read from its annotations. Context: control, tool. */
#include <string.h>

#include "probe/probe_read_internal.h"

/* Names with stars, of arrays with brackets. */
static bool is_pattern(struct classfile_text pattern)
{
    for (uint32_t i = 0; i < pattern.length_bytes; i++) {
        const unsigned char one = (unsigned char)pattern.bytes[i];

        if (one <= ' ' || one == 0x7f || strchr(";#=!,:()\"|", one) != NULL)
            return false;
    }
    return pattern.length_bytes != 0 && pattern.length_bytes < PROBE_TARGET_BYTES;
}

/* A class, a point and a name; ** may stand for both. */
static bool is_pattern_of_member(struct classfile_text pattern)
{
    for (uint32_t i = 0; i < pattern.length_bytes; i++) {
        const char *at = pattern.bytes + i;

        if (*at == '.' || *at == '/' ||
            (i + 1 < pattern.length_bytes && at[0] == '*' && at[1] == '*'))
            return is_pattern(pattern);
    }
    return false;
}

/* Which of the places of its kind it is. */
static bool read_named(struct probe_reader *reader, const struct classfile_annotation *annotation,
                       enum probe_place place, struct probe_read_places *out)
{
    const char *word = probe_place_annotation(place);
    struct classfile_value value;

    switch (probe_place_named(place)) {
    case PROBE_NAMED_WHOLE:
    case PROBE_NAMED_EACH:
        break;
    case PROBE_NAMED_CLASS:
        if (!classfile_value_of(reader->file, annotation, "of", &value) || value.kind != 's' ||
            !is_pattern(value.text))
            return probe_reader_refuse(
                reader,
                "@%s does not say of what: a class, which may have stars in it, is wanted, as in "
                "@%s(of = \"com.acme.Order\") or @%s(of = \"byte[]\")",
                word, word, word);
        out->of[place] = probe_reader_keep(reader, value.text);
        return out->of[place] != NULL;
    case PROBE_NAMED_MEMBER:
        if (!classfile_value_of(reader->file, annotation, "of", &value) || value.kind != 's' ||
            !is_pattern_of_member(value.text))
            return probe_reader_refuse(
                reader,
                "@%s does not say of what: a class and a name, which may have stars in them, are "
                "wanted, as in @%s(of = \"java.sql.Statement.execute*\")",
                word, word);
        out->of[place] = probe_reader_keep(reader, value.text);
        return out->of[place] != NULL;
    case PROBE_NAMED_LINE:
        if (!classfile_value_of(reader->file, annotation, "line", &value) || value.kind != 'I' ||
            value.number < 1 || value.number > UINT16_MAX)
            return probe_reader_refuse(
                reader, "@%s does not say which: 1 to %u are wanted, as in @%s(line = 41)", word,
                UINT16_MAX, word);
        out->lines[place] = (uint16_t)value.number;
        break;
    }
    return true;
}

bool probe_reader_take_places(struct probe_reader *reader, struct probe_read_places *out)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;
    bool is_good = true;

    while (classfile_next_annotation(reader->file, reader->method->attributes, &at, &annotation)) {
        for (unsigned place = 0; place < PROBE_PLACE_LIMIT; place++) {
            if (!probe_reader_is_ours(&annotation, probe_place_annotation(place)))
                continue;
            if ((out->places & (1u << place)) != 0)
                return probe_reader_refuse(reader, "it carries @%s twice",
                                           probe_place_annotation(place));
            out->places |= 1u << place;
            out->rules[place] = reader->rules;
            is_good = probe_reader_take_rules(reader, &annotation, "value", &out->rules[place]) &&
                      is_good;
            is_good = read_named(reader, &annotation, place, out) && is_good;
        }
    }
    if (at.is_damaged)
        return probe_reader_refuse(reader, "its annotations are damaged; compile it again");
    return is_good;
}
