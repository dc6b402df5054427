/* `jaywalk probe`: whether a probe is understood, and what it would be put into, without a JVM or beside one. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_probe_internal.h"
#include "cli/cli_rules_internal.h"

/* The class of a list that is a probe, and its name for people. */
struct find {
    const char *path;
    const struct cli_class *found;
    unsigned count;
    uint64_t nested; /* in jars inside of the jar or folder */
    struct classfile_memory memory;
    struct classfile file;
};

static bool read_class(struct find *find, const struct cli_class *one, struct jw_error *err)
{
    const size_t wanted = classfile_memory_bytes(one->length_bytes);

    jw_free(find->memory.bytes);
    find->memory = (struct classfile_memory){.bytes = jw_alloc(wanted), .capacity_bytes = wanted};
    if (find->memory.bytes == NULL) {
        jw_error_set(err, "no memory for a class of %u bytes", one->length_bytes);
        return false;
    }
    return classfile_read(one->bytes, one->length_bytes, &find->memory, &find->file) ==
           CLASSFILE_OK;
}

static int shown(struct classfile_text name)
{
    return name.length_bytes < 100 ? (int)name.length_bytes : 100;
}

/* Of the classes that its loader would have: those of jars in the jar or folder it has not. */
static bool find_marked(struct find *find, const struct cli_classes *classes, struct jw_error *err)
{
    for (size_t i = 0; i < classes->count; i++) {
        const struct cli_class *one = &classes->all[i];

        if (!read_class(find, one, err)) {
            if (err->message[0] != '\0')
                return false;
            continue; /* it was read before */
        }
        if (!probe_is_marked(&find->file))
            continue;
        if (strcmp(classes->places[one->place], find->path) != 0) {
            find->nested++;
            continue;
        }
        if (!one->is_at_home) {
            jw_error_set(err,
                         "%.200s: the probe %.*s is not where a class loader looks for it, at "
                         "%.*s.class; name the folder in which its packages begin",
                         find->path, shown(one->name), one->name.bytes, shown(one->name),
                         one->name.bytes);
            return false;
        }
        if (find->count++ != 0) {
            jw_error_set(err,
                         "%.200s: both %.*s and %.*s carry @Probe; a file holds one probe, so make "
                         "it two",
                         find->path, shown(find->found->name), find->found->name.bytes,
                         shown(one->name), one->name.bytes);
            return false;
        }
        find->found = one;
    }
    if (find->count == 0)
        jw_error_set(err, "%.200s: no class in it carries @Probe of package io.jaywalk.probe%s",
                     find->path,
                     find->nested != 0 ? ", but for some in jars inside of it, from which no probe "
                                         "is loaded: name such a jar itself"
                                       : "");
    return find->count == 1;
}

struct faults {
    const char *path;
    unsigned count;
};

static void tell_fault(void *context, const char *message)
{
    struct faults *faults = context;

    faults->count++;
    cli_complain("%s: %s", faults->path, message);
}

struct probe *cli_probe_read(const char *path)
{
    struct cli_classes classes = {.count = 0};
    struct find find = {.path = path};
    struct faults faults = {.path = path};
    struct jw_error err = {{0}};
    struct probe *probe = NULL;

    if (cli_classes_take(&classes, path, &err)) {
        cli_classes_settle(&classes);
        if (find_marked(&find, &classes, &err) && read_class(&find, find.found, &err))
            probe = probe_read(&find.file, tell_fault, &faults, &err);
    }
    if (err.message[0] != '\0' && faults.count == 0)
        cli_complain("%s", err.message);
    jw_free(find.memory.bytes);
    cli_classes_close(&classes);
    return probe;
}

bool cli_probe_replace(struct probe *probe, const char *path, struct probe_replaced *out)
{
    struct jw_error err = {{0}};
    size_t length_bytes = 0;
    char *text;

    *out = (struct probe_replaced){.count = 0};
    if (path == NULL)
        return true;
    text = cli_rules_read_text(path, &length_bytes, &err);
    if (text == NULL) {
        cli_complain("%s", err.message);
        return false;
    }
    const bool is_good = probe_replace_rules(probe, text, length_bytes, out, &err);
    if (!is_good)
        cli_complain("%s: %s", path, err.message);
    jw_free(text);
    return is_good;
}

/* ---- what it would be put into ---- */

static bool is_any_idle(const struct cli_rules_look *look)
{
    for (size_t i = 0; i < rules_count(look->rules); i++) {
        if (cli_rules_is_idle(look, i))
            return true;
    }
    return false;
}

static void complain_idle(const struct cli_rules_look *look)
{
    char words[256];

    (void)probe_place_words(look->handler, words, sizeof words);
    cli_complain("handler %s (%s) is put into no method%s", look->handler->method_name, words,
                 look->unfit[PROBE_FIT_NO_PLACE] != 0
                     ? ": those that its rules take have no such place"
                     : "");
}

/* One handler on all classes; *is_idle is set where a rule of it, or it itself, is there for nothing. */
static bool try_handler(const struct cli_values *values, const struct probe_handler *handler,
                        bool is_first, const struct cli_classes *classes, bool *is_idle,
                        struct jw_error *err)
{
    struct cli_rules_look *look = jw_alloc(sizeof *look);
    struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), err);
    bool is_good = false;

    if (look == NULL)
        jw_error_set(err, "no memory for decisions");
    if (look != NULL && rules != NULL) {
        look->rules = rules;
        look->classes = classes;
        look->handler = handler;
        look->is_further = !is_first;
        look->shows = values->shows_all ? CLI_RULES_TOUCHED : CLI_RULES_TAKEN;
        is_good = values->has_json ? cli_rules_json(look, stdout, err)
                                   : cli_rules_text(look, stdout, err);
        *is_idle |= look->outcomes[RULES_TAKEN] == 0 || is_any_idle(look);
        if (is_good && look->outcomes[RULES_TAKEN] == 0)
            complain_idle(look);
        cli_rules_close(look);
    }
    rules_close(rules);
    jw_free(look);
    return is_good;
}

static bool put_handlers(const struct cli_values *values, const struct probe *probe,
                         const struct cli_classes *classes, bool *is_idle, struct jw_error *err)
{
    const bool has_target = classes->count != 0;

    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        if (values->has_json) {
            fputs(i == 0 ? "" : ",", stdout);
            cli_probe_json_handler(handler, stdout);
            fputs(has_target ? ",\"dry_run\":" : "}", stdout);
        } else {
            cli_probe_put_handler(handler, stdout);
            fputs(has_target ? "\n" : "", stdout);
        }
        if (has_target && !try_handler(values, handler, i == 0, classes, is_idle, err))
            return false;
        if (has_target && values->has_json)
            fputc('}', stdout);
    }
    return true;
}

static int show(const struct cli_values *values, const struct probe *probe,
                const struct probe_replaced *replaced, const struct cli_classes *classes)
{
    const char *path = values->operands.texts[1];
    struct jw_error err = {{0}};
    bool is_idle = false;

    if (values->has_json)
        cli_probe_json_head(probe, path, stdout);
    else
        cli_probe_put_head(probe, path, stdout);
    if (!values->has_json)
        cli_probe_put_replaced(replaced, values->rules, stdout);
    if (!put_handlers(values, probe, classes, &is_idle, &err)) {
        cli_complain("%s", err.message);
        return CLI_FAILED;
    }
    if (values->has_json)
        fputs("]}\n", stdout);
    is_idle = is_idle || cli_classes_unread(classes) != 0;
    return cli_end_output(values->is_strict && is_idle ? CLI_FAILED : CLI_OK);
}

static int check(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_PROBE];
    struct cli_classes classes = {.count = 0};
    struct jw_error err = {{0}};
    struct probe *probe = cli_probe_read(values->operands.texts[1]);
    struct probe_replaced replaced;
    int status = CLI_OK;

    if (probe == NULL)
        return CLI_FAILED;
    if (!cli_probe_replace(probe, values->rules, &replaced)) {
        probe_close(probe);
        return CLI_FAILED;
    }
    if (values->operands.count > 2) {
        cli_progress_begin(&classes.progress, values->is_quiet);
        status = cli_rules_gather(command, values, 2, &classes, &err);
        cli_progress_end(&classes.progress);
    }
    if (err.message[0] != '\0')
        cli_complain("%s", err.message);
    if (status == CLI_OK)
        status = show(values, probe, &replaced, &classes);
    cli_classes_close(&classes);
    probe_close(probe);
    return status;
}

/* What the command can do, by its first word. */
static const struct verb {
    const char *word;
    size_t least; /* operands, with the word */
    size_t most;
    const char *wants;
    bool takes_rules;
    int (*run)(const struct cli_values *values);
} verbs[] = {
    {"check", 2, SIZE_MAX, "a jar, folder or class file with a probe is needed", true, check},
    {"attach", 3, 3, "a JVM, and a jar, folder or class file with a probe, are needed", true,
     cli_probe_attach},
    {"list", 2, 2, "a JVM is needed", false, cli_probe_list},
    {"detach", 3, 3, "a JVM, and the name of a probe as 'jaywalk probe list' has it, are needed",
     false, cli_probe_detach},
};

int cli_probe(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_PROBE];
    const struct cli_operand_list *words = &values->operands;
    const char *wants = "'check', 'attach', 'list' or 'detach' comes first";
    struct jw_error err = {{0}};

    for (size_t i = 0; words->count > 0 && i < JW_COUNT_OF(verbs); i++) {
        if (strcmp(words->texts[0], verbs[i].word) != 0)
            continue;
        wants = verbs[i].wants;
        if (values->rules != NULL && !verbs[i].takes_rules)
            wants = "--rules is for check and attach";
        else if (words->count >= verbs[i].least && words->count <= verbs[i].most)
            return verbs[i].run(values);
    }
    jw_error_set(&err, "probe: %s; usage: %s", wants, command->usage);
    return cli_usage_error(command, &err);
}
