/* The text of rules: its words, and complaints about them. Context: control, tool; names also hook. */
#include "rules/rules_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    const char *text;
} nevers[RULES_NEVER_LIMIT] = {
#define RULES_NEVER(name, word, text) [RULES_NEVER_##name] = {word, text},
#include "rules/rules_never.def"
#undef RULES_NEVER
};

enum part {
    PART_CLASS,
    PART_METHOD,
};

static const struct {
    const char *word;
    enum part part;
    const char *text;
} keys[RULES_KEY_LIMIT] = {
#define RULES_KEY(name, word, part, text) [RULES_KEY_##name] = {word, PART_##part, text},
#include "rules/rules_keys.def"
#undef RULES_KEY
};

const char *rules_never_word(enum rules_never never)
{
    return nevers[never].word;
}

const char *rules_never_text(enum rules_never never)
{
    return nevers[never].text;
}

const char *rules_key_word(enum rules_key key)
{
    return keys[key].word;
}

const char *rules_key_text(enum rules_key key)
{
    return keys[key].text;
}

bool rules_is_of_class(enum rules_key key)
{
    return keys[key].part == PART_CLASS;
}

/* ---- parsing ---- */

struct parser {
    struct rules *rules;
    uint32_t at;
    uint32_t end; /* of the line */
    uint32_t line;
    uint32_t rule_line; /* the line of the rule's first word */
    struct jw_error *err;
};

struct word {
    const char *bytes;
    uint32_t length;
};

static bool is_word(struct word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.bytes, text, word.length) == 0;
}

/* Blanks end words; so does a comment. */
static struct word next_word(struct parser *parser)
{
    const char *text = parser->rules->text;

    while (parser->at < parser->end &&
           (text[parser->at] == ' ' || text[parser->at] == '\t' || text[parser->at] == '\r'))
        parser->at++;

    const uint32_t begin = parser->at;
    while (parser->at < parser->end && text[parser->at] != ' ' && text[parser->at] != '\t' &&
           text[parser->at] != '\r')
        parser->at++;
    return (struct word){text + begin, parser->at - begin};
}

static int shown(struct word word)
{
    return word.length < 80 ? (int)word.length : 80;
}

static bool complain(struct parser *parser, struct word word, const char *what)
{
    jw_error_set(parser->err, "rules, line %" PRIu32 ": '%.*s': %s", parser->line, shown(word),
                 word.bytes, what);
    return false;
}

static bool read_lifts(struct parser *parser, struct rules_rule *rule, struct word list)
{
    if (list.length == 0)
        return complain(parser, list, "lift wants words, such as constructors,getters");
    for (uint32_t begin = 0, at = 0; at <= list.length; at++) {
        bool is_known = false;

        if (at < list.length && list.bytes[at] != ',')
            continue;
        for (int i = 0; i < RULES_NEVER_LIMIT; i++) {
            const struct word one = {list.bytes + begin, at - begin};

            if (nevers[i].word[0] != '\0' && is_word(one, nevers[i].word)) {
                rule->lifted |= 1u << i;
                is_known = true;
            }
        }
        if (!is_known)
            return complain(parser, (struct word){list.bytes + begin, at - begin},
                            "lift knows platform, libraries, interfaces, enums, synthetic, "
                            "constructors, initialisers, getters and setters");
        begin = at + 1;
    }
    return true;
}

static bool read_term(struct parser *parser, struct rules_rule *rule, enum part part,
                      struct word word)
{
    const uint32_t turned = word.length != 0 && word.bytes[0] == '!';
    const char *equals = memchr(word.bytes, '=', word.length);
    const struct word key = {word.bytes + turned,
                             equals == NULL ? 0 : (uint32_t)(equals - word.bytes) - turned};

    if (equals == NULL)
        return complain(parser, word, "neither a word of rules nor a term KEY=PATTERN");
    if (equals + 1 == word.bytes + word.length)
        return complain(parser, word, "no pattern behind =");
    if (rule->term_count == RULES_TERMS_LIMIT)
        return complain(parser, word, "more than 16 terms in one rule; make it two");
    for (int i = 0; i < RULES_KEY_LIMIT; i++) {
        if (keys[i].part != part || !is_word(key, keys[i].word))
            continue;
        rule->terms[rule->term_count++] =
            (struct rules_term){.key = (enum rules_key)i,
                                .is_turned = turned != 0,
                                .offset_bytes = (uint32_t)(equals + 1 - parser->rules->text),
                                .length_bytes = (uint32_t)(word.bytes + word.length - equals - 1)};
        return true;
    }
    return complain(parser, key,
                    part == PART_CLASS
                        ? "no key of classes: name, package, extends, annotated, loader, module"
                        : "no key of methods: name, descriptor, returns, parameters, is, "
                          "annotated");
}

static bool read_parts(struct parser *parser, struct rules_rule *rule)
{
    bool has_part = false, has_method = false;

    for (struct word word; (word = next_word(parser)).length != 0;) {
        if (is_word(word, "class") && !has_part) {
            has_part = true;
        } else if (is_word(word, "method") && !has_method) {
            has_part = has_method = true;
        } else if (is_word(word, "lift")) {
            if (rule->is_exclusive)
                return complain(parser, word, "an exclusive rule takes nothing, and lifts nothing");
            if (!read_lifts(parser, rule, next_word(parser)))
                return false;
        } else if (!has_part) {
            return complain(parser, word, "class or method is expected before the terms");
        } else if (!read_term(parser, rule, has_method ? PART_METHOD : PART_CLASS, word)) {
            return false;
        }
    }
    if (rule->term_count == 0)
        return complain(parser, (struct word){rule->name, (uint32_t)strlen(rule->name)},
                        "a rule without any term would be of every method; say method name=* "
                        "if that is meant");
    return true;
}

static bool read_rule(struct parser *parser)
{
    struct rules *rules = parser->rules;
    struct word word = next_word(parser);

    if (word.length == 0)
        return true;
    if (rules->count == RULES_LIMIT)
        return complain(parser, word, "more than 256 rules");

    struct rules_rule *rule = &rules->all[rules->count];
    *rule = (struct rules_rule){.line = parser->line,
                                .offset_bytes = (uint32_t)(word.bytes - rules->text)};
    rule->length_bytes = parser->end - rule->offset_bytes;
    snprintf(rule->name, sizeof rule->name, "rule %" PRIu32, rules->count + 1);
    if (word.bytes[word.length - 1] == ':') {
        if (word.length == 1 || word.length > RULES_NAME_BYTES)
            return complain(parser, word, "a name has 1 to 63 characters");
        snprintf(rule->name, sizeof rule->name, "%.*s", (int)word.length - 1, word.bytes);
        for (uint32_t i = 0; i < rules->count; i++) {
            if (strcmp(rules->all[i].name, rule->name) == 0)
                return complain(parser, word, "two rules of one name");
        }
        word = next_word(parser);
    }
    rule->is_exclusive = is_word(word, "exclude");
    if (!rule->is_exclusive && !is_word(word, "include"))
        return complain(parser, word, "exclude or include is expected");
    rules->count++;
    return read_parts(parser, rule);
}

/* A descriptor has semicolons of its own: behind one, the semicolon that ends the rule stands apart. */
static bool is_in_descriptor(const char *text, uint32_t begin, uint32_t at)
{
    uint32_t word = at;

    while (word > begin && text[word - 1] != ' ' && text[word - 1] != '\t')
        word--;
    word += text[word] == '!';
    return at - word >= 11 && memcmp(text + word, "descriptor=", 11) == 0;
}

static bool read_lines(struct parser *parser, uint32_t length)
{
    const char *text = parser->rules->text;
    bool is_comment = false;

    for (uint32_t at = 0, begin = 0; at <= length; at++) {
        const char one = at < length ? text[at] : '\n';

        if (one == '#' && !is_comment) {
            parser->at = begin;
            parser->end = at;
            if (!read_rule(parser))
                return false;
            is_comment = true;
        }
        if (one == '\n' || (one == ';' && !is_comment && !is_in_descriptor(text, begin, at))) {
            parser->at = begin;
            parser->end = at;
            if (!is_comment && !read_rule(parser))
                return false;
            begin = at + 1;
        }
        if (one == '\n') {
            is_comment = false;
            parser->line++;
            begin = at + 1;
        }
    }
    return true;
}

/* Room for the rules that a text can have, and no more: most texts have one. NULL: no memory. */
static struct rules *make(const char *text, size_t length_bytes)
{
    uint32_t room = 1;

    for (size_t i = 0; i < length_bytes && room < RULES_LIMIT; i++)
        room += text[i] == '\n' || text[i] == ';' || text[i] == '#';

    struct rules *made = jw_alloc(sizeof *made + room * sizeof made->all[0] + length_bytes + 1);
    if (made == NULL)
        return NULL;
    made->room = room;
    made->text = (char *)&made->all[room];
    memcpy(made->text, text, length_bytes);
    return made;
}

struct rules *rules_parse(const char *text, size_t length_bytes, struct jw_error *err)
{
    struct parser parser = {.line = 1, .err = err};

    if (length_bytes > RULES_TEXT_BYTES) {
        jw_error_set(err,
                     "rules: %zu bytes are more than 65,536; leave out comments, or use "
                     "patterns",
                     length_bytes);
        return NULL;
    }
    for (size_t i = 0; i < length_bytes; i++) {
        if (((unsigned char)text[i] < 0x20 && memchr("\n\r\t", text[i], 3) == NULL) ||
            text[i] == 0x7f) {
            jw_error_set(err, "rules: a control character, byte %zu; is it a text?", i);
            return NULL;
        }
    }
    parser.rules = make(text, length_bytes);
    if (parser.rules == NULL) {
        jw_error_set(err, "rules: out of memory");
        return NULL;
    }
    if (read_lines(&parser, (uint32_t)length_bytes))
        return parser.rules;
    rules_close(parser.rules);
    return NULL;
}

void rules_close(struct rules *rules)
{
    jw_free(rules);
}

size_t rules_count(const struct rules *rules)
{
    return rules->count;
}

const char *rules_name(const struct rules *rules, size_t number)
{
    return rules->all[number].name;
}

/* Blanks end words, so no name that is given has one. */
bool rules_is_named(const struct rules *rules, size_t number)
{
    return strchr(rules->all[number].name, ' ') == NULL;
}

struct classfile_text rules_text(const struct rules *rules, size_t number)
{
    const struct rules_rule *rule = &rules->all[number];
    const char *bytes = rules->text + rule->offset_bytes;
    uint32_t length = rule->length_bytes;

    while (length != 0 && strchr(" \t\r", bytes[length - 1]) != NULL)
        length--;
    return (struct classfile_text){bytes, length};
}

size_t rules_line(const struct rules *rules, size_t number)
{
    return rules->all[number].line;
}

bool rules_is_exclusive(const struct rules *rules, size_t number)
{
    return rules->all[number].is_exclusive;
}
