/*
 * Help and reference page. With JW_UPDATE=1 in the environment the page in docs/ is written anew
 * instead of compared; run from the root of the tree.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"

#define PAGE "docs/reference/options.md"

static char text[65536];

TestSuite(options_reference, .timeout = 1800);

Test(options_reference, the_page_in_docs_is_what_the_table_says)
{
    static char page[sizeof text];
    const size_t length_bytes = options_reference_text(text, sizeof text);

    cr_assert(length_bytes < sizeof text);
    if (getenv("JW_UPDATE") != NULL) {
        FILE *file = fopen(PAGE, "w");
        cr_assert(file != NULL && fwrite(text, 1, length_bytes, file) == length_bytes);
        cr_assert(fclose(file) == 0);
    }

    FILE *file = fopen(PAGE, "r");
    cr_assert(file != NULL, PAGE " is missing: run this test from the root, with JW_UPDATE=1");
    const size_t page_bytes = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    cr_assert(page_bytes == length_bytes && memcmp(page, text, length_bytes) == 0,
              PAGE " is not what src/options/options.def says: run this test with JW_UPDATE=1");
}

Test(options_reference, the_help_tells_names_defaults_and_fits_the_screen)
{
    const size_t length_bytes = options_help_text(text, sizeof text);

    cr_assert(length_bytes < sizeof text && strlen(text) == length_bytes);
    cr_assert(strstr(text, "\n  interval=TIME ") != NULL);
    cr_assert(strstr(text, "(default 10ms)") != NULL);
    cr_assert(strstr(text, "(default cpu)") != NULL, "the longest text is cut");
    cr_assert(strstr(text, "\n  flat[=COUNT] ") != NULL);
    for (const char *line = text; *line != '\0';) {
        const size_t line_bytes = strcspn(line, "\n");

        cr_assert(line_bytes <= 96, "%.*s", (int)line_bytes, line);
        cr_assert(line_bytes == 0 || line[line_bytes - 1] != ' ', "%.*s", (int)line_bytes, line);
        line += line_bytes + (line[line_bytes] == '\n');
    }
}

/* What is off unless it is named has no default, whatever its name alone means. */
Test(options_reference, what_is_off_unless_named_has_no_default)
{
    static const char *const names[] = {"wall", "overhead", "nativecheck"};
    struct options values;

    options_defaults(&values);
    cr_assert(values.wall_ns == 0 && values.overhead_ppm == 0);
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        struct options_about about;

        cr_assert(options_about(names[i], &about));
        cr_assert_str_empty(about.default_text, "%s: %s", names[i], about.default_text);
        cr_assert_neq(about.bare_text[0], 0, "%s", names[i]);
    }
    (void)options_help_text(text, sizeof text);
    cr_assert(strstr(text, "(default 1%)") == NULL);
    cr_assert(strstr(text, "(without a value 1%)") != NULL);
    (void)options_reference_text(text, sizeof text);
    cr_assert(strstr(text, "- Default: `1%`") == NULL);
    cr_assert(strstr(text, "- Default: off; without a value `1%`\n") != NULL);
}

Test(options_reference, a_text_that_does_not_fit_is_cut_and_its_length_told)
{
    const size_t whole_bytes = options_help_text(text, sizeof text);
    char small[100];

    memset(small, 'Z', sizeof small);
    cr_assert(options_help_text(small, 50) == whole_bytes);
    cr_assert(strlen(small) == 49 && small[50] == 'Z');
    cr_assert(memcmp(small, text, 49) == 0);
    cr_assert(options_help_text(NULL, 0) == whole_bytes);
}
