/*
 * Reads OTLP profiles before they are handed out: receivers take what they cannot resolve without a word, and show
 * nothing. Knows the numbers of fields by itself, so that a mistake of the writer is seen. Context: dump, tool.
 */
#include <inttypes.h>
#include <string.h>

#include "export/export_otlp_internal.h"

/* Part of a message that is yet to be read. */
struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

struct field {
    unsigned number;
    unsigned wire;
    uint64_t value;      /* varint, fixed64 */
    struct cursor bytes; /* of a text, a message, packed numbers */
};

enum {
    TABLE_MAPPING = 1,
    TABLE_LOCATION,
    TABLE_FUNCTION,
    TABLE_LINK,
    TABLE_STRING,
    TABLE_ATTRIBUTE,
    TABLE_STACK,
    TABLE_LIMIT
};

struct check {
    uint64_t counts[TABLE_LIMIT]; /* of elements, by field of the dictionary */
    uint64_t sums[2];             /* of the values of each profile */
    uint64_t types[2];            /* number of the text of its type */
    unsigned profile_count;
    const char *wrong; /* NULL: nothing was found yet */
};

static bool read_varint(struct cursor *cursor, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
        const unsigned char byte = *cursor->at++;

        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The next field; false at the end, and where it is damaged, which is noted. */
static bool next_field(struct check *check, struct cursor *cursor, struct field *field)
{
    uint64_t tag;
    uint64_t length;

    *field = (struct field){0};
    if (check->wrong != NULL || cursor->at == cursor->end)
        return false;
    if (!read_varint(cursor, &tag))
        goto damaged;
    field->number = (unsigned)(tag >> 3);
    field->wire = (unsigned)(tag & 7);
    switch (field->wire) {
    case 0:
        if (!read_varint(cursor, &field->value))
            goto damaged;
        return true;
    case 1:
        if (cursor->end - cursor->at < 8)
            goto damaged;
        for (unsigned i = 0; i < 8; i++)
            field->value |= (uint64_t)cursor->at[i] << (8 * i);
        cursor->at += 8;
        return true;
    case 2:
        if (!read_varint(cursor, &length) || length > (uint64_t)(cursor->end - cursor->at))
            goto damaged;
        field->bytes = (struct cursor){cursor->at, cursor->at + length};
        cursor->at += length;
        return true;
    default:
        break;
    }
damaged:
    check->wrong = "a field that cannot be read";
    return false;
}

static void expect(struct check *check, bool is_good, const char *wrong)
{
    if (!is_good && check->wrong == NULL)
        check->wrong = wrong;
}

static void expect_in(struct check *check, unsigned table, uint64_t index, const char *wrong)
{
    expect(check, index < check->counts[table], wrong);
}

static void expect_all_in(struct check *check, unsigned table, struct cursor numbers,
                          const char *wrong)
{
    uint64_t index;

    while (check->wrong == NULL && numbers.at < numbers.end) {
        expect(check, read_varint(&numbers, &index), "packed numbers that cannot be read");
        expect_in(check, table, index, wrong);
    }
}

static void count_tables(struct check *check, struct cursor dictionary)
{
    struct field field;

    while (next_field(check, &dictionary, &field)) {
        if (field.number < TABLE_MAPPING || field.number >= TABLE_LIMIT || field.wire != 2) {
            check->wrong = "a table that the dictionary does not have";
            return;
        }
        const bool is_link = field.number == TABLE_LINK; /* of zeroes */

        if (check->counts[field.number]++ == 0)
            expect(check, is_link || field.bytes.at == field.bytes.end,
                   "a table that does not begin with none");
    }
    for (unsigned table = TABLE_MAPPING; table < TABLE_LIMIT; table++)
        expect(check, check->counts[table] > 0, "a table without its first, empty element");
}

static void check_location(struct check *check, struct cursor location)
{
    struct field field;
    struct field line;

    while (next_field(check, &location, &field)) {
        if (field.number == 1)
            expect_in(check, TABLE_MAPPING, field.value,
                      "a location of a library that is not there");
        else if (field.number == 4)
            expect_all_in(check, TABLE_ATTRIBUTE, field.bytes, "an attribute that is not there");
        else
            expect(check, field.number == 3, "an unknown field of a location");
        while (field.number == 3 && next_field(check, &field.bytes, &line)) {
            if (line.number == 1)
                expect_in(check, TABLE_FUNCTION, line.value, "a function that is not there");
        }
    }
}

static void check_element(struct check *check, const struct field *element)
{
    struct cursor left = element->bytes;
    struct field field;

    if (element->number == TABLE_LOCATION) {
        check_location(check, left);
        return;
    }
    if (element->number == TABLE_STRING || element->number == TABLE_LINK)
        return;
    while (next_field(check, &left, &field)) {
        switch (element->number) {
        case TABLE_MAPPING:
            expect(check, field.number == 4, "an unknown field of a library");
            expect_in(check, TABLE_STRING, field.value, "a library without a name");
            break;
        case TABLE_FUNCTION:
            expect(check, field.number == 1 || field.number == 2, "an unknown field of a function");
            expect_in(check, TABLE_STRING, field.value, "a function without a name");
            break;
        case TABLE_ATTRIBUTE:
            expect(check, field.number == 1 || field.number == 2,
                   "an unknown field of an attribute");
            if (field.number == 1)
                expect_in(check, TABLE_STRING, field.value, "an attribute without a name");
            break;
        default: /* TABLE_STACK */
            expect(check, field.number == 1, "an unknown field of a stack");
            expect_all_in(check, TABLE_LOCATION, field.bytes, "a frame that is not there");
        }
    }
}

static uint64_t check_sample(struct check *check, struct cursor sample)
{
    struct field field;
    uint64_t value = 0;

    while (next_field(check, &sample, &field)) {
        switch (field.number) {
        case 1:
            expect_in(check, TABLE_STACK, field.value, "a stack that is not there");
            break;
        case 2:
            expect_all_in(check, TABLE_ATTRIBUTE, field.bytes, "an attribute that is not there");
            break;
        case 4:
            expect(check, read_varint(&field.bytes, &value) && field.bytes.at == field.bytes.end,
                   "a sample of several values");
            break;
        default:
            expect(check, false, "an unknown field of a sample");
        }
    }
    expect(check, value > 0, "a sample without a value");
    return value;
}

static void check_profile(struct check *check, struct cursor profile)
{
    const unsigned number = check->profile_count++;
    struct field field;
    struct field part;

    if (number >= JW_COUNT_OF(check->sums)) {
        expect(check, false, "more profiles than were written");
        return;
    }
    while (next_field(check, &profile, &field)) {
        if (field.number == 2)
            check->sums[number] += check_sample(check, field.bytes);
        while (field.number == 1 && next_field(check, &field.bytes, &part)) {
            expect_in(check, TABLE_STRING, part.value, "a type of values without a name");
            if (part.number == 1)
                check->types[number] = part.value;
        }
    }
    expect(check, check->types[number] != 0, "values without a type");
}

static void check_scopes(struct check *check, struct cursor resource)
{
    struct field scopes;
    struct field field;

    while (next_field(check, &resource, &scopes)) {
        while (scopes.number == 2 && next_field(check, &scopes.bytes, &field)) {
            if (field.number == 2)
                check_profile(check, field.bytes);
        }
    }
}

static void check_all(struct check *check, struct cursor data)
{
    struct cursor dictionary = {NULL, NULL};
    struct cursor resource = {NULL, NULL};
    struct field field;

    while (next_field(check, &data, &field)) {
        if (field.number == 1)
            resource = field.bytes;
        else if (field.number == 2)
            dictionary = field.bytes;
    }
    expect(check, dictionary.at != NULL && resource.at != NULL, "no profiles, or no dictionary");
    count_tables(check, dictionary);
    while (next_field(check, &dictionary, &field))
        check_element(check, &field);
    check_scopes(check, resource);
}

bool export_otlp_check(const char *bytes, size_t length_bytes,
                       const struct export_otlp_sums *wanted, struct jw_error *err)
{
    struct check check = {.wrong = NULL};
    const unsigned char *begin = (const unsigned char *)bytes;

    check_all(&check, (struct cursor){begin, begin + length_bytes});
    expect(&check, check.profile_count == (wanted->has_weight ? 2u : 1u), "a profile is missing");

    const unsigned first = wanted->has_weight && wanted->is_weight_first ? 1 : 0;
    expect(&check,
           check.sums[first] == wanted->samples &&
               (!wanted->has_weight || check.sums[1 - first] == wanted->weight),
           "values that do not sum up to those of the profile");
    if (check.wrong == NULL)
        return true;
    jw_error_set(err,
                 "the OTLP profiles are not written: read again they have %s, which is a defect of "
                 "jaywalk; please report it, and use another format meanwhile",
                 check.wrong);
    return false;
}
