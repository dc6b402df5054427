/* Rules of a file in the place of a probe's own: one probe for many programs. Context: control, tool. */
#include "probe/probe_read_internal.h"

#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

struct replacing {
    struct probe_whole *whole;
    const struct rules *given;
    const char
        *before[PROBE_HANDLERS_LIMIT]; /* rules of each handler: several may have the same text */
    bool is_used[RULES_LIMIT];         /* of those that are given */
    struct probe_replaced *out;
    struct jw_error *err;
};

/* RULES_LIMIT: there is none. */
static size_t find_rule(const struct rules *rules, const char *name)
{
    for (size_t i = 0; i < rules_count(rules); i++) {
        if (strcmp(rules_name(rules, i), name) == 0)
            return i;
    }
    return RULES_LIMIT;
}

/* A name among others, with a comma between them; once, and as far as there is room. */
static void list(char *names, size_t room_bytes, const char *name)
{
    const size_t used = strlen(names), length = strlen(name);

    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return;
    }
    if (used + length + 6 < room_bytes)
        snprintf(names + used, room_bytes - used, "%s%s", used == 0 ? "" : ", ", name);
    else if (used + 6 <= room_bytes && strstr(names, ", ...") == NULL)
        snprintf(names + used, room_bytes - used, ", ...");
}

static bool put(struct replacing *at, const char *bytes, size_t length_bytes)
{
    struct probe_whole *whole = at->whole;

    if (sizeof whole->text - whole->used_bytes < length_bytes) {
        jw_error_set(at->err,
                     "names and rules of a probe have at most %u bytes; leave out what it does not "
                     "need",
                     PROBE_TEXT_BYTES);
        return false;
    }
    memcpy(whole->text + whole->used_bytes, bytes, length_bytes);
    whole->used_bytes += (uint32_t)length_bytes;
    return true;
}

/* The rules of one handler, those that are given in the places of its own. */
static const char *write_rules(struct replacing *at, const struct rules *own)
{
    const char *text = at->whole->text + at->whole->used_bytes;

    for (size_t i = 0; i < rules_count(own); i++) {
        const size_t given =
            rules_is_named(own, i) ? find_rule(at->given, rules_name(own, i)) : RULES_LIMIT;
        const struct classfile_text line =
            given == RULES_LIMIT ? rules_text(own, i) : rules_text(at->given, given);

        if (given != RULES_LIMIT)
            at->is_used[given] = true;
        if (!put(at, line.bytes, line.length_bytes) || !put(at, "\n", 1))
            return NULL;
    }
    return put(at, "", 1) ? text : NULL;
}

/* It is parsed again, for whoever does so later to have success. */
static bool check(struct replacing *at, const char *method_name, const char *text)
{
    struct rules *rules = rules_parse(text, strlen(text), at->err);
    bool is_any = false;

    if (rules == NULL)
        return false;
    for (size_t i = 0; i < rules_count(rules); i++)
        is_any |= !rules_is_exclusive(rules, i);
    rules_close(rules);
    if (!is_any)
        jw_error_set(at->err, "with them the rules of %.100s would include nothing", method_name);
    return is_any;
}

static bool replace_one(struct replacing *at, uint32_t number)
{
    struct probe_handler *handler = &at->whole->handlers[number];

    at->before[number] = handler->rules;
    for (uint32_t i = 0; i < number; i++) {
        if (at->before[i] == handler->rules) {
            handler->rules = at->whole->handlers[i].rules;
            return true;
        }
    }

    struct rules *own = rules_parse(handler->rules, strlen(handler->rules), at->err);
    if (own == NULL)
        return false;
    const char *text = write_rules(at, own);
    for (size_t i = 0; i < rules_count(own); i++) {
        if (!rules_is_named(own, i))
            continue;
        list(at->out->names, sizeof at->out->names, rules_name(own, i));
        if (find_rule(at->given, rules_name(own, i)) == RULES_LIMIT)
            list(at->out->kept, sizeof at->out->kept, rules_name(own, i));
    }
    rules_close(own);
    if (text == NULL || !check(at, handler->method_name, text))
        return false;
    handler->rules = text;
    return true;
}

/* Each of those that are given is of a name that the probe has. */
static bool all_have_places(struct replacing *at)
{
    const struct rules *given = at->given;
    const char *names = at->out->names;

    for (size_t i = 0; i < rules_count(given); i++) {
        if (at->is_used[i])
            continue;
        if (names[0] == '\0')
            jw_error_set(at->err, "no rule of the probe has a name by which another could take its "
                                  "place; write names before them: \"orders: include class ...\"");
        else if (!rules_is_named(given, i))
            jw_error_set(at->err,
                         "rules, line %zu: without a name it takes the place of none; begin it "
                         "with that of a rule of the probe: %s",
                         rules_line(given, i), names);
        else
            jw_error_set(at->err, "rules, line %zu: no handler has a rule %s; it has %s",
                         rules_line(given, i), rules_name(given, i), names);
        return false;
    }
    return true;
}

bool probe_replace_rules(struct probe *probe, const char *text, size_t length_bytes,
                         struct probe_replaced *out, struct jw_error *err)
{
    struct replacing at = {.whole = (struct probe_whole *)probe, .out = out, .err = err};
    struct rules *given = rules_parse(text, length_bytes, err);
    bool is_good = given != NULL && rules_count(given) != 0;

    *out = (struct probe_replaced){.count = 0};
    if (given != NULL && !is_good)
        jw_error_set(err, "there is no rule in it");
    at.given = given;
    for (uint32_t i = 0; is_good && i < probe->handler_count; i++)
        is_good = replace_one(&at, i);
    is_good = is_good && all_have_places(&at);
    if (is_good)
        out->count = (uint32_t)rules_count(given);
    rules_close(given);
    return is_good;
}
