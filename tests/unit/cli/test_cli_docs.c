/*
 * Manual page and completion are what the tables say, and every example in help and page is one that the
 * parser takes. With JW_UPDATE=1 in the environment the files in docs/ are written anew instead of
 * compared; run from the root of the tree.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_options_internal.h"
#include "options/options.h"

TestSuite(cli_docs, .timeout = 1800);

#define MAN  "docs/man/jaywalk.1"
#define BASH "docs/completion/jaywalk.bash"
#define ZSH  "docs/completion/_jaywalk"
#define FISH "docs/completion/jaywalk.fish"

static char made[200000];
static char kept[200000];

static void make(bool (*write)(FILE *to))
{
    FILE *file = tmpfile();

    cr_assert_not_null(file);
    cr_assert(write(file));
    rewind(file);
    const size_t length = fread(made, 1, sizeof made - 1, file);
    cr_assert_lt(length, sizeof made - 1);
    made[length] = '\0';
    fclose(file);
}

static void expect_kept(const char *path, bool (*write)(FILE *to))
{
    make(write);
    if (getenv("JW_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");

        cr_assert(file != NULL && fputs(made, file) >= 0 && fclose(file) == 0, "%s", path);
    }

    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is missing: run this test from the root, with JW_UPDATE=1", path);
    kept[fread(kept, 1, sizeof kept - 1, file)] = '\0';
    fclose(file);
    cr_assert_str_eq(kept, made, "%s is not what the tables say: run this test with JW_UPDATE=1",
                     path);
}

Test(cli_docs, the_manual_page_is_what_the_tables_say)
{
    expect_kept(MAN, cli_write_man);
}

Test(cli_docs, the_completions_are_what_the_tables_say)
{
    expect_kept(BASH, cli_write_bash_completion);
    expect_kept(ZSH, cli_write_zsh_completion);
    expect_kept(FISH, cli_write_fish_completion);
}

Test(cli_docs, the_manual_page_is_free_of_warnings)
{
    if (system("command -v groff >/dev/null 2>&1") != 0)
        cr_skip_test("there is no groff");
    FILE *warnings = popen("groff -man -Tutf8 -ww -z " MAN " 2>&1", "r");
    cr_assert_not_null(warnings);
    kept[fread(kept, 1, sizeof kept - 1, warnings)] = '\0';
    pclose(warnings);
    cr_assert_str_eq(kept, "");
}

Test(cli_docs, no_text_of_an_option_is_cut)
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        char text[CLI_HELP_TEXT_BYTES];

        if (option->kind != CLI_KIND_SECTION && cli_is_told(option)) {
            cli_help_text(option, text, sizeof text);
            cr_expect_lt(strlen(text), sizeof text - 1, "%s: %s", option->name, text);
        }
    }
}

Test(cli_docs, the_manual_page_tells_every_command_and_option)
{
    const struct cli_option *option;
    struct options_about about;
    char wanted[128];

    make(cli_write_man);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        snprintf(wanted, sizeof wanted, ".SS %.100s", cli_commands[i].usage);
        wanted[strcspn(wanted, "-")] = '\0'; /* hyphens are written otherwise */
        cr_expect_not_null(strstr(made, wanted), "%s", wanted);
    }
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        if (option->kind == CLI_KIND_SECTION || !cli_is_told(option))
            continue;
        /* A hyphen in a name is written as in front of it. */
        const char *hyphen = strchr(option->name, '-');
        snprintf(wanted, sizeof wanted, "\\fB\\-\\-%.*s%s%s\\fR", (int)strcspn(option->name, "-"),
                 option->name, hyphen == NULL ? "" : "\\-", hyphen == NULL ? "" : hyphen + 1);
        cr_expect_not_null(strstr(made, wanted), "%s", wanted);
    }
    for (size_t i = 0; options_about_at(i, &about); i++) {
        snprintf(wanted, sizeof wanted, ".TP\n\\fB%s", about.section == NULL ? about.usage : "");
        wanted[strcspn(wanted, "-")] = '\0'; /* as above */
        cr_expect_not_null(strstr(made, wanted), "%s", wanted);
    }
}

/* What the command says otherwise: formats by --output, probes by `jaywalk probe`; or not at all, being its own part of the talk. */
static bool is_said_otherwise(const char *name)
{
    static const char *const others[] = {"flat",  "traces", "probe", "rules",
                                         "quiet", "answer", "show"};

    for (size_t i = 0; i < JW_COUNT_OF(others); i++) {
        if (strcmp(name, others[i]) == 0)
            return true;
    }
    return false;
}

static bool start_has(const char *name)
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        if (option->command == CLI_COMMAND_START && option->kind != CLI_KIND_SECTION &&
            strcmp(option->name, name) == 0)
            return true;
    }
    return false;
}

Test(cli_docs, the_command_start_has_all_that_a_start_has)
{
    struct options_about about;

    for (size_t i = 0; options_about_at(i, &about); i++) {
        if (about.section == NULL && about.is_of_start && !is_said_otherwise(about.name))
            cr_expect(start_has(about.name), "%s", about.name);
    }
}

/* Cuts a line into words, up to a pipe; quotes hold words together. Returns how many there are. */
static size_t split(char *line, char **words, size_t limit)
{
    size_t count = 0;
    char *to = line;

    while (*line != '\0' && *line != '|' && count < limit - 1) {
        char quote = '\0';

        if (*line == ' ') {
            line++;
            continue;
        }
        words[count++] = to;
        for (; *line != '\0' && (quote != '\0' || *line != ' '); line++) {
            if (quote == '\0' && (*line == '\'' || *line == '"'))
                quote = *line;
            else if (*line == quote)
                quote = '\0';
            else
                *to++ = *line;
        }
        line += *line == ' ';
        *to++ = '\0';
    }
    words[count] = NULL;
    return count;
}

static const struct cli_command *command_of(char **words, size_t count, size_t *skipped)
{
    *skipped = 2;
    for (size_t i = 0; i < CLI_COMMAND_LIMIT && count > 1; i++) {
        if (strcmp(words[1], cli_commands[i].name) == 0)
            return &cli_commands[i];
    }
    *skipped = 1;
    return &cli_commands[CLI_COMMAND_PROFILE];
}

static bool has_option(const struct cli_command *command, const char *name)
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        if (option->command == command->id && option->kind != CLI_KIND_SECTION &&
            strcmp(option->name, name) == 0)
            return true;
    }
    return false;
}

/* As far as the command comes without a process or a recording. */
static void expect_accepted(const char *example)
{
    static struct options_result look;
    static char string[CLI_STRING_BYTES];
    char line[512], *words[32];
    struct cli_values values = {.operands = {.count = 0}};
    struct jw_error err = {{0}};
    size_t skipped;

    snprintf(line, sizeof line, "%s", example);
    const size_t count = split(line, words, JW_COUNT_OF(words));
    const struct cli_command *command = command_of(words, count, &skipped);
    cr_assert_str_eq(words[0], "jaywalk", "%s", example);
    if (count > 1 && strcmp(words[1], "help") == 0)
        return;
    cr_expect(cli_parse(command, words + skipped, count - skipped, &values, &err), "%s: %s",
              example, err.message);
    if (has_option(command, "file"))
        cr_expect(cli_agent_string(&values, "1", true, string, &err), "%s: %s", example,
                  err.message);
    switch (command->operands) {
    case CLI_OPERANDS_NONE:
        cr_expect_eq(values.operands.count, 0, "%s", example);
        break;
    case CLI_OPERANDS_EITHER:
        cr_expect_geq(values.operands.count, 1, "%s", example);
        break;
    case CLI_OPERANDS_JVM:
        cr_expect_leq(values.operands.count, 1, "%s", example);
        break;
    case CLI_OPERANDS_RECORDING:
        cr_assert_eq(values.operands.count, 2, "%s", example);
        cr_expect(cli_is_recording_name(values.operands.texts[1]) ||
                      cli_events_format_of(&values, values.operands.texts[1]) != CLI_EVENTS_NONE ||
                      cli_read_look(&values, values.operands.texts[1], &look, &err),
                  "%s: %s", example, err.message);
        break;
    case CLI_OPERANDS_RULES:
        cr_expect_geq(values.operands.count, 2, "%s", example);
        break;
    case CLI_OPERANDS_RECORDINGS:
        cr_expect_geq(values.operands.count, 1, "%s", example);
        break;
    case CLI_OPERANDS_PROGRAM:
        cr_expect_not_null(values.words, "%s", example);
        break;
    }
}

/* Every line of a text that begins with the command's name. Returns how many there were. */
static unsigned expect_all_accepted(const char *text)
{
    unsigned count = 0;

    for (const char *line = text; *line != '\0';) {
        const size_t blanks = strspn(line, " ");
        const size_t length = strcspn(line, "\n");
        char example[512];

        if (strncmp(line + blanks, "jaywalk ", 8) == 0) {
            snprintf(example, sizeof example, "%.*s", (int)(length - blanks), line + blanks);
            expect_accepted(example);
            count++;
        }
        line += length + (line[length] == '\n');
    }
    return count;
}

Test(cli_docs, every_example_of_the_help_is_one_that_the_parser_takes)
{
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        cr_expect_gt(expect_all_accepted(cli_commands[i].examples), 0, "%s", cli_commands[i].name);
    cr_expect_gt(expect_all_accepted(cli_examples), 2);
}

/* What a page says, without what troff needs. */
static void plain(const char *text, char *out)
{
    static const char *const escapes[][2] = {
        {"\\-", "-"},   {"\\(aq", "'"}, {"\\(ga", "`"}, {"\\(ha", "^"},
        {"\\(ti", "~"}, {"\\&", ""},    {"\\e", "\\"},
    };

    while (*text != '\0') {
        size_t i = 0;

        while (i < JW_COUNT_OF(escapes) && strncmp(text, escapes[i][0], strlen(escapes[i][0])) != 0)
            i++;
        if (i == JW_COUNT_OF(escapes)) {
            *out++ = *text++;
            continue;
        }
        strcpy(out, escapes[i][1]);
        out += strlen(escapes[i][1]);
        text += strlen(escapes[i][0]);
    }
    *out = '\0';
}

Test(cli_docs, every_example_of_the_manual_page_is_one_that_the_parser_takes)
{
    unsigned count = 0;

    make(cli_write_man);
    for (const char *at = made; (at = strstr(at, ".EX\n")) != NULL;) {
        const char *end = strstr(at, ".EE\n");
        char text[4096], shown[4096];

        cr_assert_not_null(end);
        snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
        plain(text, shown);
        count += expect_all_accepted(shown);
        at = end;
    }
    cr_expect_gt(count, 10);
}
