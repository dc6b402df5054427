/* The rows of options.def agree with one another. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "options/options_internal.h"

TestSuite(options_table, .timeout = 1800);

static struct options_result result;

Test(options_table, each_row_is_complete)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];

        cr_expect(row->name != NULL && row->help != NULL && row->since != NULL, "row %d", id);
        cr_expect(row->applies != 0 && row->merge != OPTIONS_MERGE_NONE, "%s", row->name);
        cr_expect(strlen(row->name) <= OPTIONS_NAME_MAX_BYTES, "%s", row->name);
        cr_expect(row->help[strlen(row->help) - 1] != '.', "%s", row->name);
        if (options_is_numeric(row->kind))
            cr_expect(row->default_value >= row->minimum && row->default_value <= row->maximum,
                      "%s", row->name);
        cr_expect((row->kind == OPTIONS_KIND_ENUM || row->kind == OPTIONS_KIND_SET) ==
                      (row->enum_names != NULL),
                  "%s", row->name);
    }
}

Test(options_table, each_field_has_the_size_that_its_kind_fills)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];
        const bool is_number = options_is_numeric(row->kind) || row->kind == OPTIONS_KIND_ENUM ||
                               row->kind == OPTIONS_KIND_SET || row->kind == OPTIONS_KIND_CHOICE;

        if (is_number)
            cr_expect(row->field_bytes == sizeof(uint64_t), "%s", row->name);
        else if (row->kind == OPTIONS_KIND_FLAG)
            cr_expect(row->field_bytes == sizeof(bool), "%s", row->name);
        else
            cr_expect(row->field_bytes > sizeof(uint64_t), "%s", row->name);
    }
}

Test(options_table, no_name_stands_twice_and_none_is_foreign_too)
{
    const struct options_foreign *foreign;

    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const char *name = options_rows[id].name;

        cr_expect(options_find(name, strlen(name)) == (enum options_id)id, "%s", name);
        cr_expect(options_find_foreign(name, strlen(name)) == NULL, "%s", name);
    }
    for (size_t i = 0; (foreign = options_foreign_at(i)) != NULL; i++)
        cr_expect(options_find_foreign(foreign->name, strlen(foreign->name)) == foreign, "%s",
                  foreign->name);
}

Test(options_table, each_example_is_accepted_and_shows_its_option)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];

        cr_expect(options_parse(row->example, strlen(row->example), &result), "%s: %s",
                  row->example, result.errors.texts[0]);
        cr_expect(result.warnings.count == 0, "%s: %s", row->example, result.warnings.texts[0]);
        cr_expect(strstr(row->example, row->name) != NULL, "%s", row->example);
    }
}

Test(options_table, each_default_is_written_so_that_it_can_be_read_back)
{
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        const struct options_row *row = &options_rows[id];
        char text[96];
        uint64_t read_back;

        if (!options_is_numeric(row->kind) && row->kind != OPTIONS_KIND_ENUM)
            continue;
        const int name_bytes = snprintf(text, sizeof text, "%s=", row->name);
        options_value_text(row, row->default_value, text + name_bytes, sizeof text - name_bytes);
        cr_expect(options_parse(text, strlen(text), &result), "%s: %s", text,
                  result.errors.texts[0]);
        memcpy(&read_back, (const char *)&result.values + row->field_offset, sizeof read_back);
        cr_expect(read_back == row->default_value, "%s", text);
    }
}

Test(options_table, percentages_are_written_without_a_float)
{
    const struct options_row *row = &options_rows[OPTIONS_ID_MINWIDTH];
    char text[32];

    options_value_text(row, 2500, text, sizeof text);
    cr_assert(strcmp(text, "0.2500%") == 0, "%s", text);
    options_value_text(row, 1000000, text, sizeof text);
    cr_assert(strcmp(text, "100%") == 0, "%s", text);
}

Test(options_table, the_nearest_name_is_found_within_a_third_of_the_letters)
{
    static const struct {
        const char *name;
        const char *nearest;
    } rows[] = {
        {"intervall", "interval"},
        {"intervla", "interval"},
        {"INTERVAL", "interval"},
        {"interva", "interval"},
        {"fiel", "file"},
        {"theads", "threads"},
        {"stat", "start"},
        {"jstakdept", "jstackdepth"},
        {"minwidht", "minwidth"},
        {"x", NULL},
        {"", NULL},
        {"xyzzy", NULL},
        {"abcdefghijklmnopqrstuvwxyz", NULL},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        const char *nearest = options_nearest(rows[i].name, strlen(rows[i].name));

        if (rows[i].nearest == NULL)
            cr_expect(nearest == NULL, "%s: %s", rows[i].name, nearest);
        else
            cr_expect(nearest != NULL && strcmp(nearest, rows[i].nearest) == 0, "%s: %s",
                      rows[i].name, nearest == NULL ? "none" : nearest);
    }
}

Test(options_table, quoting_fits_any_buffer_that_holds_the_mark_of_a_cut)
{
    static const char bytes[] = "ab\x01\xff\\c,d=e a rather long tail of it";

    for (size_t capacity_bytes = 16; capacity_bytes < 80; capacity_bytes++) {
        char quoted[80];

        memset(quoted, 'Z', sizeof quoted);
        options_quote(bytes, sizeof bytes - 1, quoted, capacity_bytes);
        const size_t length_bytes = strlen(quoted);
        cr_expect(length_bytes < capacity_bytes);
        cr_expect(quoted[length_bytes + 1] == 'Z', "%zu", capacity_bytes);
        cr_expect(strncmp(quoted, "ab\\x01\\xff\\x5c", 8) == 0, "%s", quoted);
    }
}
