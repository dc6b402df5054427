/* Rules, and what they would do, in words: for people, for programs. Context: tool. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_rules_internal.h"
#include "cli/cli_text_internal.h"

#define SCHEMA        "jaywalk.rules/1"
#define RULE_COLUMNS  16
#define WHY_BYTES     512u
#define NAME_BYTES    2048 /* of a method; the rest is cut */
#define FIGURE_COLUMN 12

static const char *const outcome_words[] = {[RULES_TAKEN] = "taken",
                                            [RULES_EXCLUDED] = "excluded",
                                            [RULES_AGAINST] = "against",
                                            [RULES_UNTOLD] = "untold",
                                            [RULES_NO_RULE] = "no-rule"};

/* Names of classes as people write them. */
static void put_dots(struct classfile_text name, char *text, size_t room_bytes)
{
    const size_t length = name.length_bytes < room_bytes ? name.length_bytes : room_bytes - 1;

    memcpy(text, name.bytes, length);
    text[length] = '\0';
    for (char *slash = text; (slash = strchr(slash, '/')) != NULL;)
        *slash = '.';
}

/* "add(int, java.lang.String)" */
static void method_text(const struct cli_rules_method *method, char out[CLI_CELL_BYTES])
{
    const struct classfile_member *member = &method->file->methods[method->number];
    const struct classfile_text name = classfile_text_of(method->file, member->name_index);
    char types[RULES_TYPES_BYTES + 1], text[2 * RULES_TYPES_BYTES];
    const int name_bytes = name.length_bytes < NAME_BYTES ? (int)name.length_bytes : NAME_BYTES;
    size_t length = 0;

    if (!rules_types(classfile_text_of(method->file, member->descriptor_index), false, types,
                     &length))
        length = 0;

    size_t used = (size_t)snprintf(text, sizeof text, "%.*s(", name_bytes, name.bytes);
    for (size_t i = 0; i < length && used + 4 < sizeof text; i++) {
        text[used++] = types[i] == '/' ? '.' : types[i];
        if (types[i] == ',')
            text[used++] = ' ';
    }
    text[used++] = ')';
    text[used] = '\0';
    cli_text_clean(text, out);
}

/* The name of a rule, which may hold anything that is no control character of one byte. */
static void put_rule_cell(const char *name, size_t columns, FILE *to)
{
    char text[CLI_CELL_BYTES];

    cli_text_clean(name, text);
    cli_text_put_cell(text, columns, false, to);
}

/* ---- the rules themselves ---- */

static void put_rules_of(const struct rules *rules, bool is_exclusive, unsigned *order, FILE *to)
{
    for (size_t i = 0; i < rules_count(rules); i++) {
        char name[CLI_CELL_BYTES];

        if (rules_is_exclusive(rules, i) != is_exclusive)
            continue;
        cli_text_clean(rules_name(rules, i), name);
        fprintf(to, "%3u.  %-8s line %-4zu %s\n", ++*order, is_exclusive ? "exclude" : "include",
                rules_line(rules, i), name);
    }
}

void cli_rules_list(const struct rules *rules, FILE *to)
{
    unsigned order = 0;

    fputs("In the order in which they are tried:\n\n", to);
    put_rules_of(rules, true, &order, to);
    put_rules_of(rules, false, &order, to);
}

/* ---- the page ---- */

/* Places within a method that the handler is for, and has what it asks for; calls `visit` for each. */
static void each_place(const struct cli_rules_look *look, const struct cli_rules_method *method,
                       void (*visit)(FILE *to, uint32_t number, uint16_t line), FILE *to)
{
    const struct classfile_member *member = &method->file->methods[method->number];
    struct probe_found found;
    uint32_t next_pc = 0, number = 0;

    while (probe_next_place(look->handler, method->file, member, &next_pc, &found)) {
        if (found.fit == PROBE_FIT_GOOD)
            visit(to, number++, classfile_line_of(method->file, member, found.pc));
    }
}

static bool has_places_within(const struct cli_rules_look *look)
{
    return look->handler != NULL && probe_place_named(look->handler->place) != PROBE_NAMED_WHOLE;
}

static void put_line(FILE *to, uint32_t number, uint16_t line)
{
    if (line == 0)
        fprintf(to, "%s-", number == 0 ? "" : ", ");
    else
        fprintf(to, "%s%u", number == 0 ? "" : ", ", line);
}

struct listing {
    FILE *to;
    const uint8_t *last_class; /* by its bytes */
    uint64_t count;
};

static void list_method(void *context, const struct cli_rules_look *look,
                        const struct cli_rules_method *method)
{
    struct listing *listing = context;
    char name[CLI_CELL_BYTES], text[CLI_CELL_BYTES], why[WHY_BYTES];
    const struct classfile_outcome *written = method->written;

    if (listing->last_class != method->file->bytes) {
        listing->last_class = method->file->bytes;
        put_dots(classfile_name(method->file), text, sizeof text);
        cli_text_clean(text, name);
        cli_text_clean(method->place, text);
        fprintf(listing->to, "%s%s  (%s)\n", listing->count == 0 ? "" : "\n", name, text);
    }
    listing->count++;
    method_text(method, name);
    cli_rules_why(look, method, why, sizeof why);
    fputs("  ", listing->to);
    put_rule_cell(method->decision.outcome == RULES_TAKEN && method->fit == PROBE_FIT_GOOD
                      ? rules_name(look->rules, method->decision.rule)
                      : "-",
                  RULE_COLUMNS, listing->to);
    fprintf(listing->to, "%s", name);
    if (written != NULL && written->verdict == CLASSFILE_OK)
        fprintf(listing->to, "  %u places, code %u -> %u bytes", written->sites,
                written->code_bytes, written->new_code_bytes);
    if (written != NULL && written->verdict == CLASSFILE_OK && has_places_within(look)) {
        fputs(", lines ", listing->to);
        each_place(look, method, put_line, listing->to);
    }
    cli_text_clean(why, text);
    if (text[0] != '\0')
        fprintf(listing->to, "  [%s]", text);
    fputc('\n', listing->to);
}

static void put_figure(uint64_t number, const char *text, FILE *to)
{
    char digits[32];

    cli_text_digits(number, digits);
    fprintf(to, "%*s  ", FIGURE_COLUMN - 2, digits);
    cli_text_put_wrapped(text, FIGURE_COLUMN, to);
}

static void put_figure_if(uint64_t number, const char *text, FILE *to)
{
    if (number != 0)
        put_figure(number, text, to);
}

static void put_rules(const struct cli_rules_look *look, FILE *to)
{
    fputs("\nRules                 line      takes   in classes   excludes    against     untold\n",
          to);
    for (size_t i = 0; i < rules_count(look->rules); i++) {
        const struct cli_rules_rule *rule = &look->each[i];
        const bool is_exclusive = rules_is_exclusive(look->rules, i);

        fputs("  ", to);
        put_rule_cell(rules_name(look->rules, i), 18, to);
        fprintf(to, "%6zu", rules_line(look->rules, i));
        if (is_exclusive)
            fprintf(to, "          -            - %10" PRIu64 "          - %10" PRIu64,
                    rule->outcomes[RULES_EXCLUDED], rule->outcomes[RULES_UNTOLD]);
        else
            fprintf(to, " %10" PRIu64 " %12" PRIu64 "          - %10" PRIu64 " %10" PRIu64,
                    rule->outcomes[RULES_TAKEN], rule->classes, rule->outcomes[RULES_AGAINST],
                    rule->outcomes[RULES_UNTOLD]);
        fputc('\n', to);
    }
}

/* A rule that is there for nothing is a mistake, more often than not. */
static void put_idle(const struct cli_rules_look *look, FILE *to)
{
    char name[CLI_CELL_BYTES];

    for (size_t i = 0; i < rules_count(look->rules); i++) {
        if (!cli_rules_is_idle(look, i))
            continue;
        cli_text_clean(rules_name(look->rules, i), name);
        fprintf(to, "  %s (line %zu) %s\n", name, rules_line(look->rules, i),
                rules_is_exclusive(look->rules, i) ? "excludes nothing" : "takes no method");
    }
}

static void put_reasons(const struct cli_rules_look *look, FILE *to)
{
    char text[256];

    if (look->methods == look->outcomes[RULES_TAKEN])
        return;
    fputs(look->handler == NULL ? "\nMethods that no rule takes\n"
                                : "\nMethods that the handler is not put into\n",
          to);
    for (size_t i = 0; i < PROBE_FIT_LIMIT; i++) {
        snprintf(text, sizeof text, "a rule takes them, but: %s",
                 probe_fit_text((enum probe_fit)i));
        put_figure_if(look->unfit[i], text, to);
    }
    put_figure_if(look->outcomes[RULES_NO_RULE], "no rule asks for them", to);
    put_figure_if(look->outcomes[RULES_EXCLUDED], "excluded by a rule", to);
    for (size_t i = 0; i < RULES_NEVER_LIMIT; i++) {
        const char *word = rules_never_word((enum rules_never)i);

        snprintf(text, sizeof text, "%s%s%s%s", rules_never_text((enum rules_never)i),
                 word[0] == '\0' ? "" : " (lift ", word, word[0] == '\0' ? "" : ")");
        put_figure_if(look->nevers[i], text, to);
    }
    for (size_t i = 0; i < RULES_KEY_LIMIT; i++) {
        snprintf(text, sizeof text, "untold: a rule asks for %s",
                 i == RULES_KEY_EXTENDS ? "super classes, of which one is not at hand"
                                        : rules_key_text((enum rules_key)i));
        put_figure_if(look->keys[i], text, to);
    }
}

static void put_cost(const struct cli_rules_look *look, FILE *to)
{
    const struct cli_rules_cost *cost = &look->cost;
    char text[256], before[32], after[32], words[CLI_CELL_BYTES];

    fputs(look->handler == NULL ? "\nWhat a probe at entries, returns and exceptions would cost\n"
                                : "\nWhat the handler would cost\n",
          to);
    cli_text_digits(cost->class_bytes, before);
    cli_text_digits(cost->written_bytes, after);
    snprintf(text, sizeof text, "classes written anew, %s bytes of class files become %s%s", before,
             after, look->handler == NULL ? " with one call at each place" : "");
    put_figure(look->taken_classes, text, to);
    put_figure(cost->places,
               look->handler == NULL ? "places with a call"
                                     : "places with code: of calls, and what entries keep for them",
               to);
    if (has_places_within(look)) {
        (void)probe_place_words(look->handler, text, sizeof text / 2);
        cli_text_clean(text, words);
        snprintf(text, sizeof text, "of them call it: %.200s", words);
        put_figure(cost->calls, text, to);
        put_figure_if(cost->misfits, "such places have not what it asks for", to);
    }
    put_figure_if(
        has_places_within(look) ? cost->left_out : cost->skipped,
        "places left out: in handlers that protect themselves, where a failing call would "
        "never end",
        to);
    put_figure_if(
        cost->past_inline,
        "methods that grow past 35 bytes: compiled into their callers only where they are hot", to);
    put_figure_if(cost->past_hot_inline,
                  "methods that grow past 325 bytes: no longer compiled into their callers", to);
    for (size_t i = 0; i < CLASSFILE_VERDICT_LIMIT; i++) {
        snprintf(text, sizeof text, "methods that cannot be probed: %s",
                 classfile_verdict_text((enum classfile_verdict)i));
        put_figure_if(cost->refused[i], text, to);
    }
}

static void put_looked_at(const struct cli_rules_look *look, FILE *to)
{
    const struct cli_classes *classes = look->classes;
    char text[256], digits[32];

    fputs("Looked at\n", to);
    cli_text_digits(look->methods, digits);
    snprintf(text, sizeof text, "classes, with %s methods; rules may take methods of %" PRIu64,
             digits, look->touched_classes);
    put_figure(classes->count, text, to);
    put_figure_if(classes->hidden, "classes of a name that was there before, which hides them", to);
    put_figure_if(classes->versions,
                  "classes below META-INF/versions, which are not looked at: of a class with "
                  "versions the one for all JVMs is decided",
                  to);
    put_figure_if(cli_classes_unread(classes), "classes or jars that could not be read", to);
    if (classes->dropping_jdk != 0) {
        snprintf(text, sizeof text,
                 "is the JDK of the process, which at the first attach of a probe drops all its "
                 "compiled code, and compiles it again; it does not where probe= was named at its "
                 "start");
        put_figure(classes->dropping_jdk, text, to);
    }
}

bool cli_rules_text(struct cli_rules_look *look, FILE *to, struct jw_error *err)
{
    struct listing listing = {.to = to};

    if (!cli_rules_decide(look, list_method, &listing, err))
        return false;
    if (listing.count == 0)
        fputs(look->handler == NULL ? "No rule takes a method.\n"
                                    : "The handler is put into no method.\n",
              to);
    if (!look->is_further) {
        fputc('\n', to);
        put_looked_at(look, to);
    }
    put_rules(look, to);
    put_idle(look, to);
    put_reasons(look, to);
    if (look->outcomes[RULES_TAKEN] != 0)
        put_cost(look, to);
    return true;
}

/* ---- JSON ---- */

static void put_json_text(const char *name, struct classfile_text text, FILE *to)
{
    char copy[4096];
    const size_t length = text.length_bytes < sizeof copy ? text.length_bytes : sizeof copy - 1;

    memcpy(copy, text.bytes, length);
    copy[length] = '\0';
    fprintf(to, ",\"%s\":", name);
    cli_text_json(copy, to);
}

static void put_json_line(FILE *to, uint32_t number, uint16_t line)
{
    fprintf(to, "%s%u", number == 0 ? "" : ",", line);
}

static void list_json(void *context, const struct cli_rules_look *look,
                      const struct cli_rules_method *method)
{
    struct listing *listing = context;
    const struct classfile_member *member = &method->file->methods[method->number];
    const struct classfile_outcome *written = method->written;
    char name[1024], why[WHY_BYTES];

    put_dots(classfile_name(method->file), name, sizeof name);
    fprintf(listing->to, "%s\n{\"class\":", listing->count++ == 0 ? "" : ",");
    cli_text_json(name, listing->to);
    put_json_text("method", classfile_text_of(method->file, member->name_index), listing->to);
    put_json_text("descriptor", classfile_text_of(method->file, member->descriptor_index),
                  listing->to);
    fprintf(listing->to, ",\"outcome\":\"%s\",\"rule\":",
            method->fit == PROBE_FIT_GOOD ? outcome_words[method->decision.outcome] : "unfit");
    if (method->decision.outcome == RULES_NO_RULE)
        fputs("null", listing->to);
    else
        cli_text_json(rules_name(look->rules, method->decision.rule), listing->to);
    cli_rules_why(look, method, why, sizeof why);
    fputs(",\"why\":", listing->to);
    cli_text_json(why, listing->to);
    if (written != NULL && written->verdict == CLASSFILE_OK)
        fprintf(listing->to, ",\"places\":%u,\"code_bytes\":%u,\"new_code_bytes\":%u",
                written->sites, written->code_bytes, written->new_code_bytes);
    if (written != NULL && written->verdict == CLASSFILE_OK && has_places_within(look)) {
        fputs(",\"lines\":[", listing->to);
        each_place(look, method, put_json_line, listing->to);
        fputs("]", listing->to);
    }
    fputs("}", listing->to);
}

static void put_json_rules(const struct cli_rules_look *look, FILE *to)
{
    fputs("],\n\"rules\":[", to);
    for (size_t i = 0; i < rules_count(look->rules); i++) {
        const struct cli_rules_rule *rule = &look->each[i];

        fputs(i == 0 ? "\n{\"name\":" : ",\n{\"name\":", to);
        cli_text_json(rules_name(look->rules, i), to);
        fprintf(to,
                ",\"line\":%zu,\"is_exclusive\":%s,\"taken\":%" PRIu64 ",\"classes\":%" PRIu64
                ",\"excluded\":%" PRIu64 ",\"against\":%" PRIu64 ",\"untold\":%" PRIu64 "}",
                rules_line(look->rules, i), rules_is_exclusive(look->rules, i) ? "true" : "false",
                rule->outcomes[RULES_TAKEN], rule->classes, rule->outcomes[RULES_EXCLUDED],
                rule->outcomes[RULES_AGAINST], rule->outcomes[RULES_UNTOLD]);
    }
}

bool cli_rules_json(struct cli_rules_look *look, FILE *to, struct jw_error *err)
{
    struct listing listing = {.to = to};
    const struct cli_rules_cost *cost = &look->cost;
    uint64_t refused = 0;

    fputs("{\"schema\":\"" SCHEMA "\",\n\"methods\":[", to);
    if (!cli_rules_decide(look, list_json, &listing, err))
        return false;
    put_json_rules(look, to);
    for (size_t i = 0; i < CLASSFILE_VERDICT_LIMIT; i++)
        refused += cost->refused[i];
    fprintf(to,
            "],\n\"looked_at\":{\"drops_code\":%s,\"classes\":%zu,\"methods\":%" PRIu64
            ",\"hidden\":%" PRIu64 ",\"versions\":%" PRIu64 ",\"unread\":%" PRIu64 "}",
            look->classes->dropping_jdk != 0 ? "true" : "false", look->classes->count,
            look->methods, look->classes->hidden, look->classes->versions,
            cli_classes_unread(look->classes));
    fputs(",\n\"outcomes\":{", to);
    for (size_t i = 0; i <= RULES_NO_RULE; i++)
        fprintf(to, "%s\"%s\":%" PRIu64, i == 0 ? "" : ",", outcome_words[i], look->outcomes[i]);
    for (size_t i = PROBE_FIT_GOOD + 1; look->handler != NULL && i < PROBE_FIT_LIMIT; i++)
        fprintf(to, ",\"%s\":%" PRIu64, probe_fit_word((enum probe_fit)i), look->unfit[i]);
    fprintf(to,
            "},\n\"cost\":{\"classes\":%" PRIu64 ",\"places\":%" PRIu64 ",\"skipped\":%" PRIu64
            ",\"class_bytes\":%" PRIu64 ",\"written_bytes\":%" PRIu64 ",\"past_inline\":%" PRIu64
            ",\"past_hot_inline\":%" PRIu64 ",\"refused\":%" PRIu64,
            look->taken_classes, cost->places, cost->skipped, cost->class_bytes,
            cost->written_bytes, cost->past_inline, cost->past_hot_inline, refused);
    if (has_places_within(look))
        fprintf(to, ",\"calls\":%" PRIu64 ",\"misfits\":%" PRIu64 ",\"left_out\":%" PRIu64,
                cost->calls, cost->misfits, cost->left_out);
    fputs("}}\n", to);
    return true;
}
