/* Patterns, terms, and whose a method is. Context: hook, tool. */
#include "rules/rules_internal.h"

#include <string.h>

enum answer {
    NO,
    YES,
    UNKNOWN,
};

/* ---- patterns ---- */

static bool is_separator(char one)
{
    return one == '.' || one == '/';
}

static bool is_same(char pattern, char text)
{
    return pattern == text || (is_separator(pattern) && is_separator(text)) ||
           (pattern == '?' && !is_separator(text));
}

/* Names: '/' and '.' are the same. The last * and the last ** are gone back to: what lies before them need not be tried again. */
bool rules_is_match(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes)
{
    size_t at = 0, star = SIZE_MAX, star_text = 0, wide = SIZE_MAX, wide_text = 0;

    for (size_t i = 0; i < text_bytes || at < pattern_bytes;) {
        if (at + 1 < pattern_bytes && pattern[at] == '*' && pattern[at + 1] == '*') {
            at += 2;
            wide = at;
            wide_text = i;
            star = SIZE_MAX;
        } else if (at < pattern_bytes && pattern[at] == '*') {
            at++;
            star = at;
            star_text = i;
        } else if (i < text_bytes && at < pattern_bytes && is_same(pattern[at], text[i])) {
            at++;
            i++;
        } else if (star != SIZE_MAX && star_text < text_bytes && !is_separator(text[star_text])) {
            at = star;
            i = ++star_text;
        } else if (wide != SIZE_MAX && wide_text < text_bytes) {
            at = wide;
            i = ++wide_text;
            star = SIZE_MAX;
        } else {
            return false;
        }
    }
    return true;
}

struct patterns {
    const char *text;
    size_t length;
};

/* One of a|b|c. */
static bool is_one(const struct patterns *patterns, const char *text, size_t length)
{
    for (size_t begin = 0, at = 0; at <= patterns->length; at++) {
        if (at < patterns->length && patterns->text[at] != '|')
            continue;
        if (rules_is_match(patterns->text + begin, at - begin, text, length))
            return true;
        begin = at + 1;
    }
    return false;
}

static bool is_one_text(void *patterns, struct classfile_text text)
{
    return is_one(patterns, text.bytes, text.length_bytes);
}

static enum answer answer(bool is_so)
{
    return is_so ? YES : NO;
}

/* ---- classes ---- */

bool rules_add_super(struct rules_supers *supers, struct classfile_text name)
{
    for (uint32_t i = 0; i < supers->count; i++) {
        if (supers->lengths[i] == name.length_bytes &&
            memcmp(supers->names[i], name.bytes, name.length_bytes) == 0)
            return false;
    }
    if (supers->count == RULES_SUPERS_LIMIT || name.length_bytes > RULES_SUPER_NAME_BYTES) {
        supers->is_cut = true;
        return false;
    }
    memcpy(supers->names[supers->count], name.bytes, name.length_bytes);
    supers->lengths[supers->count++] = (uint16_t)name.length_bytes;
    return true;
}

static void add_supers(struct rules_supers *supers, const struct classfile *file)
{
    if (file->super_index != 0)
        (void)rules_add_super(supers, classfile_super(file));
    for (uint16_t i = 0; i < file->interface_count; i++)
        (void)rules_add_super(supers, classfile_interface(file, i));
}

/* Without a way to find classes, those that are named by this one alone. */
static enum answer extends_near(const struct classfile *file, const struct patterns *patterns)
{
    bool is_whole = file->interface_count == 0;
    struct classfile_text name = classfile_super(file);

    if (file->super_index != 0 && is_one(patterns, name.bytes, name.length_bytes))
        return YES;
    is_whole &= file->super_index == 0 || classfile_is_text(name, "java/lang/Object");
    for (uint16_t i = 0; i < file->interface_count; i++) {
        name = classfile_interface(file, i);
        if (is_one(patterns, name.bytes, name.length_bytes))
            return YES;
    }
    return is_whole ? NO : UNKNOWN;
}

/* Of a class of which all that stands above it is known. */
static enum answer extends_one_of(const struct rules_supers *above, const struct patterns *patterns)
{
    for (uint32_t i = 0; i < above->count; i++) {
        if (is_one(patterns, above->names[i], above->lengths[i]))
            return YES;
    }
    return above->is_cut ? UNKNOWN : NO;
}

/* Whether a pattern could be met by a class of the JDK: its text up to the first wildcard against that of packages. */
static bool may_be_platform(const struct patterns *patterns)
{
    static const char *const packages[] = {"java.", "jdk.", "sun.", "com.sun."};

    for (size_t begin = 0, at = 0; at <= patterns->length; at++) {
        if (at < patterns->length && patterns->text[at] != '|')
            continue;
        for (size_t i = 0; i < JW_COUNT_OF(packages); i++) {
            const char *package = packages[i];
            size_t same = 0;

            while (begin + same < at && package[same] != '\0' &&
                   is_same(patterns->text[begin + same], package[same]))
                same++;
            if (package[same] == '\0' || (begin + same < at && patterns->text[begin + same] == '*'))
                return true;
        }
        begin = at + 1;
    }
    return false;
}

/* What stands above a class of the JDK is of the JDK. javax is not all its own. */
static bool has_only_platform_above(struct classfile_text name)
{
    static const struct patterns packages = {"java.**|jdk.**|sun.**|com.sun.**", 32};

    return is_one(&packages, name.bytes, name.length_bytes);
}

static enum answer extends(const struct rules_subject *subject, const struct patterns *patterns)
{
    struct rules_supers *supers = subject->supers;
    bool is_whole = true;

    if (subject->above != NULL)
        return extends_one_of(subject->above, patterns);
    if (subject->find == NULL || supers == NULL)
        return extends_near(subject->file, patterns);
    supers->count = 0;
    supers->is_cut = false;
    add_supers(supers, subject->file);
    for (uint32_t i = 0; i < supers->count; i++) {
        const struct classfile_text name = {supers->names[i], supers->lengths[i]};

        if (is_one(patterns, name.bytes, name.length_bytes))
            return YES;
        if (classfile_is_text(name, "java/lang/Object"))
            continue;

        const struct classfile *above = subject->find(subject->context, name);
        if (above != NULL)
            add_supers(supers, above);
        else if (!has_only_platform_above(name) || may_be_platform(patterns))
            is_whole = false;
    }
    return is_whole && !supers->is_cut ? NO : UNKNOWN;
}

static enum answer name_term(struct classfile_text name, enum rules_key key,
                             struct patterns *patterns)
{
    const char *slash;

    if (key == RULES_KEY_CLASS_NAME)
        return answer(is_one_text(patterns, name));
    slash = memrchr(name.bytes, '/', name.length_bytes);
    return answer(is_one(patterns, name.bytes, slash == NULL ? 0 : (size_t)(slash - name.bytes)));
}

static enum answer class_term(const struct rules_subject *subject, enum rules_key key,
                              struct patterns *patterns)
{
    const struct classfile *file = subject->file;
    const char *known = key == RULES_KEY_LOADER ? subject->loader : subject->module;

    if (key == RULES_KEY_CLASS_NAME || key == RULES_KEY_PACKAGE)
        return name_term(classfile_name(file), key, patterns);
    if (key == RULES_KEY_EXTENDS)
        return extends(subject, patterns);
    if (key == RULES_KEY_CLASS_ANNOTATED)
        return answer(classfile_has_annotation(file, file->attributes, is_one_text, patterns));
    if (known == NULL)
        return UNKNOWN;
    return answer(is_one(patterns, known, strlen(known)));
}

/* ---- methods ---- */

/* One type of a descriptor as Java has it, behind what is there already; NULL: it is none, or there is no room. */
static const char *add_type(const char *at, const char *end, char *text, size_t *used_bytes)
{
    static const char letters[] = "BCDFIJSZV";
    static const char *const words[] = {"byte", "char",  "double",  "float", "int",
                                        "long", "short", "boolean", "void"};
    size_t dimensions = 0, length = 0;
    const char *word = NULL;

    for (; at < end && *at == '['; at++)
        dimensions++;
    if (at == end)
        return NULL;
    if (*at == 'L') {
        const char *semicolon = memchr(at, ';', (size_t)(end - at));

        if (semicolon == NULL)
            return NULL;
        word = at + 1;
        length = (size_t)(semicolon - word);
        at = semicolon + 1;
    } else {
        const char *letter = memchr(letters, *at, sizeof letters - 1);

        if (letter == NULL)
            return NULL;
        word = words[letter - letters];
        length = strlen(word);
        at++;
    }
    if (RULES_TYPES_BYTES - *used_bytes < length + 2 * dimensions + 1)
        return NULL;
    memcpy(text + *used_bytes, word, length);
    *used_bytes += length;
    for (; dimensions != 0; dimensions--) {
        memcpy(text + *used_bytes, "[]", 2);
        *used_bytes += 2;
    }
    return at;
}

bool rules_types(struct classfile_text descriptor, bool is_returned, char *text, size_t *used_bytes)
{
    const char *at = descriptor.bytes, *end = at + descriptor.length_bytes;
    const char *close = memchr(at, ')', descriptor.length_bytes);

    *used_bytes = 0;
    if (close == NULL || *at != '(')
        return false;
    if (is_returned)
        return add_type(close + 1, end, text, used_bytes) == end;
    for (at++; at < close;) {
        if (*used_bytes != 0)
            text[(*used_bytes)++] = ',';
        at = add_type(at, close, text, used_bytes);
        if (at == NULL)
            return false;
    }
    return true;
}

/* What it takes or what it gives; UNKNOWN: too long to be held against anything, or no descriptor. */
static enum answer types(struct classfile_text descriptor, bool is_returned,
                         const struct patterns *patterns)
{
    char text[RULES_TYPES_BYTES];
    size_t used_bytes;

    if (!rules_types(descriptor, is_returned, text, &used_bytes))
        return UNKNOWN;
    return answer(is_one(patterns, text, used_bytes));
}

static enum answer flags(uint16_t access, const struct patterns *patterns)
{
    static const struct {
        const char *word;
        uint16_t flag;
    } all[] = {{"public", CLASSFILE_PUBLIC},       {"private", CLASSFILE_PRIVATE},
               {"protected", CLASSFILE_PROTECTED}, {"static", CLASSFILE_STATIC},
               {"final", CLASSFILE_FINAL},         {"synchronized", CLASSFILE_SYNCHRONIZED},
               {"varargs", CLASSFILE_VARARGS},     {"bridge", CLASSFILE_BRIDGE}};

    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if ((access & all[i].flag) != 0 && is_one(patterns, all[i].word, strlen(all[i].word)))
            return YES;
    }
    return NO;
}

static enum answer method_term(const struct classfile *file, uint16_t method, enum rules_key key,
                               struct patterns *patterns)
{
    const struct classfile_member *one = &file->methods[method];
    const struct classfile_text descriptor = classfile_text_of(file, one->descriptor_index);

    if (key == RULES_KEY_METHOD_NAME)
        return answer(is_one_text(patterns, classfile_text_of(file, one->name_index)));
    if (key == RULES_KEY_DESCRIPTOR)
        return answer(is_one_text(patterns, descriptor));
    if (key == RULES_KEY_IS)
        return flags(one->access, patterns);
    if (key == RULES_KEY_METHOD_ANNOTATED)
        return answer(classfile_has_annotation(file, one->attributes, is_one_text, patterns));
    return types(descriptor, key == RULES_KEY_RETURNS, patterns);
}

/* ---- rules ---- */

#define CLASS_ALONE UINT32_MAX

/* All terms of the class, and of the method unless it is CLASS_ALONE; `key` is the first that nobody can tell. */
static enum answer meets(const struct rules *rules, const struct rules_rule *rule,
                         const struct rules_subject *subject, uint32_t method, enum rules_key *key)
{
    enum answer all = YES;

    for (uint32_t i = 0; i < rule->term_count; i++) {
        const struct rules_term *term = &rule->terms[i];
        struct patterns patterns = {rules->text + term->offset_bytes, term->length_bytes};
        enum answer one;

        if (rules_is_of_class(term->key))
            one = class_term(subject, term->key, &patterns);
        else if (method != CLASS_ALONE)
            one = method_term(subject->file, (uint16_t)method, term->key, &patterns);
        else
            continue;
        if (one == UNKNOWN && all == YES) {
            all = UNKNOWN;
            *key = term->key;
        }
        if (one == (term->is_turned ? YES : NO))
            return NO; /* whatever the others are */
    }
    return all;
}

static enum rules_never first_of(uint32_t against)
{
    return (enum rules_never)__builtin_ctz(against);
}

struct rules_decision rules_decide(const struct rules *rules, const struct rules_subject *subject,
                                   uint16_t method)
{
    struct rules_decision out = {.outcome = RULES_NO_RULE};
    uint32_t against = 0;
    bool has_against = false;

    /* The exclusive ones, and then the others. */
    for (uint32_t i = 0; i < 2 * rules->count; i++) {
        const bool is_exclusive = i < rules->count;
        const uint32_t number = is_exclusive ? i : i - rules->count;
        const struct rules_rule *rule = &rules->all[number];
        enum rules_key key = RULES_KEY_LIMIT;

        if (rule->is_exclusive != is_exclusive)
            continue;

        const enum answer met = meets(rules, rule, subject, method, &key);
        if (met == NO)
            continue;
        if (!is_exclusive && !has_against) {
            against = rules_against(subject->file, method);
            has_against = true;
        }
        if (!is_exclusive && (against & ~rule->lifted) != 0) {
            /* It is not its own then; a later one may lift more. */
            if (out.outcome == RULES_NO_RULE)
                out = (struct rules_decision){.outcome = RULES_AGAINST,
                                              .rule = number,
                                              .never = first_of(against & ~rule->lifted)};
            continue;
        }
        if (met == UNKNOWN)
            return (struct rules_decision){.outcome = RULES_UNTOLD, .rule = number, .key = key};
        return (struct rules_decision){.outcome = is_exclusive ? RULES_EXCLUDED : RULES_TAKEN,
                                       .rule = number};
    }
    return out;
}

bool rules_may_touch(const struct rules *rules, const struct rules_subject *subject)
{
    enum rules_key key;

    for (uint32_t i = 0; i < rules->count; i++) {
        if (!rules->all[i].is_exclusive &&
            meets(rules, &rules->all[i], subject, CLASS_ALONE, &key) != NO)
            return true;
    }
    return false;
}

/* Without what stands above (NULL) its terms may be met, or not. */
static enum answer term_of_named(enum rules_key key, struct classfile_text name,
                                 const struct rules_supers *above, struct patterns *patterns)
{
    if (key == RULES_KEY_CLASS_NAME || key == RULES_KEY_PACKAGE)
        return name_term(name, key, patterns);
    return key == RULES_KEY_EXTENDS && above != NULL ? extends_one_of(above, patterns) : UNKNOWN;
}

static bool may_be_met(const struct rules *rules, const struct rules_rule *rule,
                       struct classfile_text name, const struct rules_supers *above)
{
    for (uint32_t i = 0; i < rule->term_count; i++) {
        const struct rules_term *term = &rule->terms[i];
        struct patterns patterns = {rules->text + term->offset_bytes, term->length_bytes};

        if (term_of_named(term->key, name, above, &patterns) == (term->is_turned ? YES : NO))
            return false;
    }
    return true;
}

bool rules_ask_above(const struct rules *rules)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        for (uint32_t j = 0; j < rules->all[i].term_count; j++) {
            if (rules->all[i].terms[j].key == RULES_KEY_EXTENDS)
                return true;
        }
    }
    return false;
}

bool rules_may_touch_named(const struct rules *rules, struct classfile_text name,
                           const struct rules_supers *above)
{
    const uint32_t against = rules_against_name(name);

    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rules_rule *rule = &rules->all[i];

        if (!rule->is_exclusive && (against & ~rule->lifted) == 0 &&
            may_be_met(rules, rule, name, above))
            return true;
    }
    return false;
}
