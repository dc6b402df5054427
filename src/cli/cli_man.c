/* The manual page jaywalk(1), made of the tables. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli_options_internal.h"
#include "options/options.h"

/* Text that troff shows as it is: no request at the beginning of a line, no escape, no hyphen for a minus. */
static void cli_roff(const char *text, FILE *to)
{
    bool is_begin = true;

    for (; *text != '\0'; text++) {
        if (is_begin && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else if (*text == '`')
            fputs("\\(ga", to);
        else if (*text == '\'')
            fputs("\\(aq", to);
        else if (*text == '^')
            fputs("\\(ha", to);
        else if (*text == '~')
            fputs("\\(ti", to);
        else
            fputc(*text, to);
        is_begin = *text == '\n';
    }
}

/* The same as a sentence. */
static void cli_roff_sentence(const char *text, FILE *to)
{
    char first[] = {text[0], '\0'};
    const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    const bool is_word =
        text[0] >= 'a' && text[0] <= 'z' && (text[word] == ' ' || text[word] == ',');

    if (is_word && strncmp(text, "html", 4) != 0 && strncmp(text, "jfr", 3) != 0)
        first[0] = (char)(first[0] - 'a' + 'A');
    cli_roff(first, to);
    cli_roff(text + (text[0] != '\0'), to);
    fputs(".\n", to);
}

static void cli_section(const char *title, FILE *to)
{
    fprintf(to, ".SH %s\n", title);
}

static void cli_example(const char *text, FILE *to)
{
    fputs(".PP\n.EX\n", to);
    cli_roff(text, to);
    fputs(".EE\n", to);
}

/* Texts of commands are lines of their own, which a page fills; lines that begin with blanks stay. */
static void cli_paragraph(const char *text, FILE *to)
{
    bool is_list = false;

    fputs(".PP\n", to);
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        char copy[256];

        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        if ((copy[0] == ' ') != is_list) {
            is_list = !is_list;
            fputs(is_list ? ".PP\n.EX\n" : ".EE\n.PP\n", to);
        }
        cli_roff(copy, to);
        fputc('\n', to);
        line += length + (line[length] == '\n');
    }
    if (is_list)
        fputs(".EE\n", to);
}

static void cli_man_commands(FILE *to)
{
    cli_section("COMMANDS", to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        const struct cli_command *command = &cli_commands[i];

        fputs(".SS ", to);
        cli_roff(command->usage, to);
        fputc('\n', to);
        cli_roff_sentence(command->summary, to);
        cli_paragraph(command->text, to);
        cli_example(command->examples, to);
    }
}

static bool cli_is_same(const struct cli_option *one, const struct cli_option *other)
{
    char one_text[CLI_HELP_TEXT_BYTES], other_text[CLI_HELP_TEXT_BYTES];

    if (one->kind == CLI_KIND_SECTION || other->kind == CLI_KIND_SECTION || !cli_is_told(other) ||
        strcmp(one->name, other->name) != 0 || one->letter != other->letter)
        return false;
    cli_help_text(one, one_text, sizeof one_text);
    cli_help_text(other, other_text, sizeof other_text);
    return strcmp(one_text, other_text) == 0;
}

static bool cli_is_first_of_its_kind(size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (cli_is_same(cli_option_at(number), cli_option_at(i)))
            return false;
    }
    return true;
}

/* "Of profile, start, record." */
static void cli_man_owners(size_t number, FILE *to)
{
    const struct cli_option *option;
    const char *separator = "Of ";
    size_t count = 0;

    for (size_t i = number; (option = cli_option_at(i)) != NULL; i++)
        count += cli_is_same(cli_option_at(number), option);
    if (count == CLI_COMMAND_LIMIT) {
        fputs("Of every command.\n", to);
        return;
    }
    for (size_t i = number; (option = cli_option_at(i)) != NULL; i++) {
        if (!cli_is_same(cli_option_at(number), option))
            continue;
        fprintf(to, "%s\\fB%s\\fR", separator, cli_commands[option->command].name);
        separator = ", ";
    }
    fputs(".\n", to);
}

/* Each option once, where it stands first, with the commands that have it. */
static void cli_man_options(FILE *to)
{
    const struct cli_option *option;

    cli_section("OPTIONS", to);
    fputs("A value may follow its option as the next word, or behind an equals sign: "
          "\\fB\\-\\-interval 1ms\\fR, \\fB\\-i 1ms\\fR, \\fB\\-\\-interval=1ms\\fR.\n"
          "Where it stands in brackets it may be left out; the next word is it unless that is an "
          "option, or the process or program\n"
          "that the command is about; a number begins with a digit: \\fB\\-\\-lock 12345\\fR, "
          "\\fB\\-\\-lock 10us 12345\\fR.\n"
          "What stands behind \\fB\\-\\-\\fR is no option.\n",
          to);
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        const char *value = option->kind == CLI_KIND_SECTION ? NULL : cli_value_name(option);
        char text[CLI_HELP_TEXT_BYTES];

        if (option->kind == CLI_KIND_SECTION || !cli_is_told(option) ||
            !cli_is_first_of_its_kind(i))
            continue;
        fputs(".TP\n", to);
        if (option->letter != 0)
            fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", to);
        cli_roff(option->name, to);
        fprintf(to, cli_is_value_optional(option) ? "\\fR[%s%s%s]\n" : "\\fR%s%s%s\n",
                value == NULL ? "" : "=\\fI", value == NULL ? "" : value,
                value == NULL ? "" : "\\fR");
        cli_help_text(option, text, sizeof text);
        cli_roff_sentence(text, to);
        cli_man_owners(i, to);
    }
}

static void cli_man_agent(FILE *to)
{
    struct options_about about;

    cli_section("AGENT STRING", to);
    fputs("What a JVM is started with, where no command attaches:\n", to);
    cli_example(
        "java -agentpath:/usr/local/lib/libjaywalk.so=start,event=cpu,file=profile.jfr -jar "
        "app.jar\n",
        to);
    fputs(
        ".PP\nOptions stand between commas. One that is not known is a warning; a bad value is an "
        "error, and no session starts. The JVM runs on in both cases.\n",
        to);
    for (size_t i = 0; options_about_at(i, &about); i++) {
        if (about.section != NULL) {
            fputs(".SS ", to);
            cli_roff(about.section, to);
            fputc('\n', to);
            continue;
        }
        fputs(".TP\n\\fB", to);
        cli_roff(about.usage, to);
        fputs("\\fR\n", to);
        cli_roff_sentence(about.help, to);
        if (about.value != NULL) {
            fputs("Value: ", to);
            cli_roff(about.allowed, to);
            fputs(".\n", to);
        }
        if (about.default_text[0] != '\0') {
            fputs("Default: ", to);
            cli_roff(about.default_text, to);
            fputs(".\n", to);
        }
        if (about.bare_text[0] != '\0') {
            fputs("Default: off; without a value ", to);
            cli_roff(about.bare_text, to);
            fputs(".\n", to);
        }
        fputs("Example: \\fB", to);
        cli_roff(about.example, to);
        fputs("\\fR\n", to);
    }
}

static void cli_man_entry(const char *head, const char *text, FILE *to)
{
    fputs(".TP\n\\fB", to);
    cli_roff(head, to);
    fputs("\\fR\n", to);
    cli_roff(text, to);
    fputc('\n', to);
}

static void cli_man_formats(FILE *to)
{
    cli_section("OUTPUT", to);
    fputs("The ending of the file names the format, unless an option does:\n", to);
    cli_man_entry(
        ".jfr",
        "a recording in the format of the JDK's Flight Recorder, readable at every instant, "
        "also after the process was killed",
        to);
    cli_man_entry(".html", "a flame graph as one page that needs no network", to);
    cli_man_entry(".collapsed, .folded",
                  "a line for each distinct stack, frames from the root, separated by semicolons, "
                  "and a number",
                  to);
    cli_man_entry("any other", "text: the hottest methods, then the hottest stacks", to);
    fputs(".PP\nFiles have mode 0600, never replace a symbolic link, and appear whole.\n", to);
}

static void cli_man_end(FILE *to)
{
    cli_section("EXIT STATUS", to);
    cli_man_entry("0", "done", to);
    cli_man_entry("1", "failed; of doctor --strict also: there is a finding", to);
    cli_man_entry("2", "a mistake in the command line", to);
    cli_man_entry("3", "the process cannot be profiled", to);
    fputs(".PP\n\\fBjaywalk record\\fR becomes the program, whose status is its own.\n", to);
    cli_section("FILES", to);
    cli_man_entry("../lib/libjaywalk.so",
                  "the agent, from where the command lies, unless --libpath names another", to);
    cli_man_entry("jaywalk-PID.jfr, .html, .collapsed, .txt", "the output where none is named", to);
    cli_section("LIMITS", to);
    fputs("Linux on x86\\-64; HotSpot JVMs, tested on JDK 17 and 25.\n"
          "From JDK 26 on Java stacks are off.\n"
          "CPU intervals below a tick of the kernel (1 to 10 ms) give no more samples, only exact "
          "weights.\n"
          "A value of the agent holds no comma.\n"
          "One session runs in a JVM at a time.\n",
          to);
    cli_section("SEE ALSO", to);
    fputs("\\fBjava\\fR(1), \\fBjcmd\\fR(1), \\fBjfr\\fR(1), \\fBperf\\fR(1)\n", to);
}

bool cli_write_man(FILE *to)
{
    fputs(".\\\" Made from the option tables; a test compares the two.\n"
          ".TH JAYWALK 1 \"\" \"jaywalk " JAYWALK_VERSION "\" \"User Commands\"\n"
          ".SH NAME\njaywalk \\- sampling profiler for HotSpot JVMs\n.SH SYNOPSIS\n.nf\n",
          to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        cli_roff(cli_commands[i].usage, to);
        fputc('\n', to);
    }
    fputs("jaywalk help [\\fICOMMAND\\fR|agent]\n.fi\n.SH DESCRIPTION\n"
          "Says where a Java process spends its time: in Java code, in the JVM, in native "
          "libraries.\n"
          "It attaches to a process that runs, or starts one; samples its threads; and writes a "
          "flame "
          "graph, a recording, or lists.\n"
          "Every signal becomes a sample or a counted loss, and every output says which.\n",
          to);
    cli_section("EXAMPLES", to);
    cli_example(cli_examples, to);
    cli_man_commands(to);
    cli_man_options(to);
    cli_man_formats(to);
    cli_man_agent(to);
    cli_man_end(to);
    return fflush(to) == 0 && !ferror(to);
}
