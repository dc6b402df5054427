/* Help and reference page, both from options.def; control, tool. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "options/options_internal.h"

#define HELP_COLUMN  24 /* where the texts of the help begin */
#define HELP_COLUMNS 96

/* The rows and the headings above them, in the order of the table. */
static const struct entry {
    const char *section; /* NULL: a row */
    enum options_id id;
} entries[] = {
#define SECTION(text)   {text, OPTIONS_ID_LIMIT},
#define OPTION(id, ...) {NULL, OPTIONS_ID_##id},
#include "options/options.def"
#undef OPTION
#undef SECTION
};

/* Text that goes on being counted when it no longer fits. */
struct page {
    char *text;
    size_t capacity_bytes;
    size_t length_bytes;
};

JW_PRINTF(2, 3) static void put(struct page *page, const char *format, ...)
{
    const size_t used_bytes =
        page->length_bytes < page->capacity_bytes ? page->length_bytes : page->capacity_bytes;
    va_list arguments;

    va_start(arguments, format);
    const int length_bytes =
        vsnprintf(used_bytes == page->capacity_bytes ? NULL : page->text + used_bytes,
                  page->capacity_bytes - used_bytes, format, arguments);
    va_end(arguments);
    if (length_bytes > 0)
        page->length_bytes += (size_t)length_bytes;
}

/* What a value is called; NULL: the option takes none. */
static const char *value_name(const struct options_row *row)
{
    switch (row->kind) {
    case OPTIONS_KIND_CHOICE:
    case OPTIONS_KIND_FLAG:
        return NULL;
    case OPTIONS_KIND_DURATION:
    case OPTIONS_KIND_PERIOD:
    case OPTIONS_KIND_TIME:
        return "TIME";
    case OPTIONS_KIND_SIZE:
        return "SIZE";
    case OPTIONS_KIND_COUNT:
        return "COUNT";
    case OPTIONS_KIND_PERCENT:
        return "PERCENT";
    case OPTIONS_KIND_ENUM:
        return "NAME";
    case OPTIONS_KIND_SET:
        return "NAMES";
    case OPTIONS_KIND_FILE:
    case OPTIONS_KIND_PATH:
        return "FILE";
    case OPTIONS_KIND_TEXT:
        return "TEXT";
    case OPTIONS_KIND_LIST:
        return "PATTERN";
    }
    return NULL;
}

/* "interval=TIME": what stands left of a text of the help. */
static void write_usage(const struct options_row *row, char *text, size_t capacity_bytes)
{
    const char *value = value_name(row);

    if (value == NULL)
        snprintf(text, capacity_bytes, "%s", row->name);
    else
        snprintf(text, capacity_bytes, row->is_value_optional ? "%s[=%s]" : "%s=%s", row->name,
                 value);
}

/* The words of a text from the present column on, continued below one another. */
static void put_wrapped(struct page *page, const char *text)
{
    size_t column = HELP_COLUMN;

    while (*text != '\0') {
        const size_t word_bytes = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + word_bytes > HELP_COLUMNS) {
            put(page, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            put(page, " ");
            column++;
        }
        put(page, "%.*s", (int)word_bytes, text);
        column += word_bytes;
        text += word_bytes;
        text += *text == ' ';
    }
    put(page, "\n");
}

/* "10ms"; "" where there is nothing to tell: no value, or nothing by default. */
static void write_default(const struct options_row *row, char *text, size_t capacity_bytes)
{
    text[0] = '\0';
    if (!row->is_off_unnamed && (options_is_numeric(row->kind) || row->kind == OPTIONS_KIND_ENUM ||
                                 row->kind == OPTIONS_KIND_SET))
        options_value_text(row, row->default_value, text, capacity_bytes);
}

/* What the name alone means of an option that is off where it is not named; "" of all others. */
static void write_bare(const struct options_row *row, char *text, size_t capacity_bytes)
{
    text[0] = '\0';
    if (row->is_off_unnamed)
        options_value_text(row, row->default_value, text, capacity_bytes);
}

/* "cpu itimer": ours, as we spell them. */
static void write_words(const struct options_row *row, char *text, size_t capacity_bytes)
{
    size_t used_bytes = 0;

    text[0] = '\0';
    for (const struct options_name *name = row->enum_names; name != NULL && name->name != NULL;
         name++) {
        if (name->whose != NULL || name->is_alias || used_bytes >= capacity_bytes)
            continue;
        used_bytes += (size_t)snprintf(text + used_bytes, capacity_bytes - used_bytes, "%s%s",
                                       used_bytes == 0 ? "" : " ", name->name);
    }
}

static void fill_about(const struct options_row *row, struct options_about *about)
{
    *about = (struct options_about){
        .name = row->name,
        .value = value_name(row),
        .is_value_optional = row->is_value_optional,
        .is_value_number = row->kind >= OPTIONS_KIND_DURATION && row->kind <= OPTIONS_KIND_PERCENT,
        .help = row->help,
        .example = row->example,
        .is_path = row->kind == OPTIONS_KIND_FILE || row->kind == OPTIONS_KIND_PATH,
        .is_of_start =
            row->kind != OPTIONS_KIND_CHOICE && (row->applies & OPTIONS_ON_START_ALONE) != 0,
    };
    write_usage(row, about->usage, sizeof about->usage);
    options_allowed_text(row, about->allowed, sizeof about->allowed);
    if (row->default_value != 0 || row->kind == OPTIONS_KIND_ENUM || row->kind == OPTIONS_KIND_SET)
        write_default(row, about->default_text, sizeof about->default_text);
    write_bare(row, about->bare_text, sizeof about->bare_text);
    write_words(row, about->words, sizeof about->words);
}

bool options_about(const char *name, struct options_about *about)
{
    const enum options_id id = options_find(name, strlen(name));

    if (id == OPTIONS_ID_LIMIT)
        return false;
    fill_about(&options_rows[id], about);
    return true;
}

bool options_about_at(size_t number, struct options_about *about)
{
    if (number >= JW_COUNT_OF(entries))
        return false;
    if (entries[number].section != NULL)
        *about = (struct options_about){.section = entries[number].section};
    else
        fill_about(&options_rows[entries[number].id], about);
    return true;
}

size_t options_help_text(char *text, size_t capacity_bytes)
{
    struct page page = {text, capacity_bytes, 0};
    char usage[64];
    char value[32], bare[32];
    char line[2048];

    put(&page, "Options, separated by commas:  start,event=cpu,interval=10ms,file=profile.jfr\n");
    for (size_t i = 0; i < JW_COUNT_OF(entries); i++) {
        if (entries[i].section != NULL) {
            put(&page, "\n%s\n", entries[i].section);
            continue;
        }
        const struct options_row *row = &options_rows[entries[i].id];
        write_usage(row, usage, sizeof usage);
        write_default(row, value, sizeof value);
        write_bare(row, bare, sizeof bare);
        snprintf(line, sizeof line, "%s%s%s%s%s%s", row->help, value[0] == '\0' ? "" : " (default ",
                 value, bare[0] == '\0' ? "" : " (without a value ", bare,
                 value[0] == '\0' && bare[0] == '\0' ? "" : ")");
        put(&page, "  %-*s", HELP_COLUMN - 2, usage);
        put_wrapped(&page, line);
    }
    return page.length_bytes;
}

static void put_actions(struct page *page, const struct options_row *row)
{
    const char *separator = "";

    if (row->applies == OPTIONS_ON_ALL) {
        put(page, "every action");
        return;
    }
    for (uint64_t action = 1; action < OPTIONS_ACTION_LIMIT; action++) {
        if ((row->applies >> action & 1) == 0)
            continue;
        put(page, "%s`%s`", separator, options_action_name(action));
        separator = ", ";
    }
}

static void put_formats(struct page *page, const struct options_row *row)
{
    const char *separator = "";

    for (uint64_t output = 0; output < OPTIONS_OUTPUT_LIMIT; output++) {
        if ((row->formats >> output & 1) == 0)
            continue;
        put(page, "%s`%s`", separator, options_output_name(output));
        separator = ", ";
    }
}

static void put_reference_of(struct page *page, const struct options_row *row)
{
    char value[256];
    char limit[32];

    write_usage(row, value, sizeof value);
    const char first = row->help[0];
    const bool is_lower = first >= 'a' && first <= 'z';

    put(page, "\n### `%s`\n\n%c%s.\n\n", value, is_lower ? first - 'a' + 'A' : first,
        row->help + 1);
    options_allowed_text(row, value, sizeof value);
    put(page, "- Value: %s", value);
    if (row->is_raised) {
        options_value_text(row, row->minimum, limit, sizeof limit);
        put(page, "; less, but not 0, is raised to %s with a warning", limit);
    }
    if (row->is_lowered) {
        options_value_text(row, row->maximum, limit, sizeof limit);
        put(page, "; more is lowered to %s with a warning", limit);
    }
    if (row->is_foreign_value_ignored)
        put(page, "; a value of other profilers is replaced by the default with a warning");
    put(page, "\n");
    write_default(row, value, sizeof value);
    if (value[0] != '\0')
        put(page, "- Default: `%s`\n", value);
    write_bare(row, value, sizeof value);
    if (value[0] != '\0')
        put(page, "- Default: off; without a value `%s`\n", value);
    if (row->field_offset != offsetof(struct options, action)) {
        put(page, "- Acts on: ");
        put_actions(page, row);
        put(page, "\n");
    }
    if (row->formats != 0) {
        put(page, "- Formats: ");
        put_formats(page, row);
        put(page, "\n");
    }
    put(page, "- Example: `%s`\n- Since: %s\n", row->example, row->since);
}

static void put_foreign_names(struct page *page)
{
    const struct options_foreign *foreign;
    const char *whose = "";

    put(page, "\n## Options of `jaywalk convert` that the agent refuses\n\nA session that names "
              "one does not "
              "begin. Record a `.jfr`, and convert it with them.\n\n");
    for (size_t i = 0; (foreign = options_foreign_at(i)) != NULL; i++)
        if (foreign->refusal != NULL)
            put(page, "- `%s`: %s\n", foreign->name, foreign->refusal);
    put(page,
        "\n## Names of other profilers\n\nUnderstood as such, told in a warning, and ignored. "
        "Where one of them asks for an action,\nno other action is concluded.\n");
    for (size_t i = 0; (foreign = options_foreign_at(i)) != NULL; i++) {
        if (foreign->refusal != NULL)
            continue;
        if (strcmp(whose, foreign->whose) != 0)
            put(page, "\nOf %s:\n", foreign->whose);
        whose = foreign->whose;
        put(page, "`%s`%s%s%s\n", foreign->name, foreign->is_action ? " (action)" : "",
            foreign->instead == NULL ? "" : ": use ",
            foreign->instead == NULL ? "" : foreign->instead);
    }
}

size_t options_reference_text(char *text, size_t capacity_bytes)
{
    struct page page = {text, capacity_bytes, 0};

    put(&page,
        "# Options of the agent\n\n"
        "<!-- Made from src/options/options.def, version " JAYWALK_VERSION
        "; a test compares the two. -->\n\n"
        "The agent string is a list of options, separated by commas, each a name or "
        "`name=value`:\n\n"
        "    -agentpath:/path/to/libjaywalk.so=start,event=cpu,interval=10ms,file=profile.jfr\n\n"
        "- Names are in lower case. A value holds any bytes but commas and control characters, "
        "and\n"
        "  may hold `=`. The string has at most %d bytes.\n"
        "- Numbers are decimal, or hexadecimal after `0x`; they have no sign and no fraction, and\n"
        "  nothing follows the unit. Sizes count in powers of 1024.\n"
        "- A name that is not known is a warning: the option is left out, and counted in\n"
        "  `optionsUnknown`. An option that is named twice is a warning; the last one counts.\n"
        "- A bad value of a known name is an error. The message quotes it, says what is allowed "
        "and\n"
        "  gives an example. No session starts, and the JVM runs on.\n"
        "- Without an action, an option that acts on `start` alone means `start`; else a file or "
        "a\n"
        "  format means `dump`.\n",
        OPTIONS_MAX_BYTES);
    for (size_t i = 0; i < JW_COUNT_OF(entries); i++) {
        if (entries[i].section != NULL)
            put(&page, "\n## %s\n", entries[i].section);
        else
            put_reference_of(&page, &options_rows[entries[i].id]);
    }
    put_foreign_names(&page);
    return page.length_bytes;
}
