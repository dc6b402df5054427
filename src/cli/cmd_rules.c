/* `jaywalk rules`: which methods rules for probes take, tried on classes without a JVM, or on those of one. Context: tool. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "cli/cli_rules_internal.h"

char *cli_rules_read_text(const char *path, size_t *length_bytes, struct jw_error *err)
{
    char *text = jw_alloc(RULES_TEXT_BYTES + 1);

    if (text == NULL)
        jw_error_set(err, "no memory for rules");
    else if (cli_read_text(path, text, RULES_TEXT_BYTES + 1, length_bytes, err) &&
             *length_bytes > RULES_TEXT_BYTES)
        jw_error_set(err, "%.200s: rules have at most %u bytes", path, (unsigned)RULES_TEXT_BYTES);
    if (err->message[0] == '\0')
        return text;
    jw_free(text);
    return NULL;
}

static struct rules *read_rules(const char *path, struct jw_error *err)
{
    struct jw_error why = {{0}};
    size_t length_bytes = 0;
    char *text = cli_rules_read_text(path, &length_bytes, err);

    if (text == NULL)
        return NULL;
    struct rules *rules = rules_parse(text, length_bytes, &why);
    jw_free(text);
    if (rules == NULL)
        jw_error_set(err, "%.200s: %s", path, why.message);
    else if (rules_count(rules) == 0) {
        jw_error_set(err, "%.200s: there is no rule in it", path);
        rules_close(rules);
        rules = NULL;
    }
    return rules;
}

static int check(const char *path)
{
    struct jw_error err = {{0}};
    struct rules *rules = read_rules(path, &err);

    if (rules == NULL) {
        cli_complain("%s", err.message);
        return CLI_FAILED;
    }
    cli_rules_list(rules, stdout);
    rules_close(rules);
    return cli_end_output(CLI_OK);
}

/* A number that is no file's name means a process. */
static bool is_pid(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0' && access(word, F_OK) != 0;
}

int cli_rules_gather(const struct cli_command *command, const struct cli_values *values,
                     size_t first, struct cli_classes *classes, struct jw_error *err)
{
    for (size_t i = first; i < values->operands.count; i++) {
        const char *word = values->operands.texts[i];
        struct cli_values one = {.operands = {.texts = &word, .count = 1}};
        struct attach_target target;
        struct cli_session session;

        if (!is_pid(word)) {
            if (!cli_classes_take(classes, word, err))
                return CLI_FAILED;
            continue;
        }
        const int status = cli_session_find(command, &one, &target, &session);
        if (status != CLI_OK)
            return status;
        const bool is_good = cli_classes_take_jvm(classes, &target, err);
        const bool has_ended = !is_good && attach_has_ended(&target, err);
        cli_session_close(&session);
        if (!is_good)
            return has_ended ? CLI_TARGET : CLI_FAILED;
    }
    cli_classes_settle(classes);
    if (cli_classes_unread(classes) != 0)
        cli_complain("%llu classes or jars could not be read, the first: %s",
                     (unsigned long long)cli_classes_unread(classes), classes->example);
    return CLI_OK;
}

static bool is_any_idle(const struct cli_rules_look *look)
{
    for (size_t i = 0; i < rules_count(look->rules); i++) {
        if (cli_rules_is_idle(look, i))
            return true;
    }
    return false;
}

static int decide(const struct cli_values *values, const struct rules *rules,
                  const struct cli_classes *classes)
{
    struct cli_rules_look *look = jw_alloc(sizeof *look);
    struct jw_error err = {{0}};

    if (look == NULL) {
        cli_complain("no memory for decisions");
        return CLI_FAILED;
    }
    look->rules = rules;
    look->classes = classes;
    look->shows = values->shows_all     ? CLI_RULES_ALL
                  : values->shows_taken ? CLI_RULES_TAKEN
                                        : CLI_RULES_TOUCHED;
    const bool is_good =
        values->has_json ? cli_rules_json(look, stdout, &err) : cli_rules_text(look, stdout, &err);

    const bool is_idle =
        is_good && values->is_strict && (is_any_idle(look) || cli_classes_unread(classes) != 0);

    cli_rules_close(look);
    jw_free(look);
    if (!is_good)
        cli_complain("%s", err.message);
    return cli_end_output(is_good && !is_idle ? CLI_OK : CLI_FAILED);
}

static int dry_run(const struct cli_command *command, const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct cli_classes classes = {.count = 0};
    struct rules *rules = read_rules(values->operands.texts[1], &err);
    int status = CLI_FAILED;

    if (rules != NULL) {
        cli_progress_begin(&classes.progress, values->is_quiet);
        status = cli_rules_gather(command, values, 2, &classes, &err);
        cli_progress_end(&classes.progress);
        if (status == CLI_OK)
            status = decide(values, rules, &classes);
    }
    if (err.message[0] != '\0')
        cli_complain("%s", err.message);
    cli_classes_close(&classes);
    rules_close(rules);
    return status;
}

int cli_rules(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_RULES];
    const struct cli_operand_list *words = &values->operands;
    const bool is_check = words->count > 0 && strcmp(words->texts[0], "check") == 0;
    const bool is_dry_run = words->count > 0 && strcmp(words->texts[0], "dry-run") == 0;
    struct jw_error err = {{0}};

    if (is_check && words->count == 2)
        return check(words->texts[1]);
    if (is_dry_run && words->count >= 3)
        return dry_run(command, values);
    jw_error_set(&err, "rules: %s; usage: %s",
                 is_check     ? "one file of rules is taken ('-' is the standard input)"
                 : is_dry_run ? "a file of rules, and the jars, folders or the process to try them "
                                "on, are needed"
                              : "'check' or 'dry-run' comes first",
                 command->usage);
    return cli_usage_error(command, &err);
}
