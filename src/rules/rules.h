/*
 * rules - which rule a method of a class belongs to.
 *
 * For      probes, which are put into methods by rules that people write.
 * Callers  cli (check, dry-run), probe.
 * Context  rules_parse, rules_close: control, tool. The rest: hook, tool; nothing is allocated, and nothing but the class
 *          and those it is asked for is looked at.
 * Memory   one block, that rules_parse makes and rules_close frees; never changed in between.
 *
 *   rules = { line (newline | ";") }
 *   line  = [ NAME ":" ] ("exclude" | "include") [ "class" { term } ] [ "method" { term } ] [ "lift" WORD { "," WORD } ]
 *   term  = [ "!" ] KEY "=" PATTERN { "|" PATTERN }           # begins a comment; behind a descriptor the semicolon stands apart
 *
 * All terms of a rule must hold; "!" turns one. In a pattern * stands for anything within one part of a name, ** for anything,
 * ? for one character of a part. Keys: rules_keys.def; words of lift: rules_never.def.
 *
 * Exclusive rules come first, in order, wherever they stand: a method of a class that meets both parts of one is invisible to all
 * other rules. Then inclusive ones, in order: the first whose both parts are met, and that lifts whatever stands against the
 * method, owns it. What a rule needs to know and nobody can tell (the loader of a class in a jar, a super class that is not
 * at hand) is not guessed: then the method is untold from that rule on (docs/adr/0049-whose-a-method-is.md).
 */
#ifndef JW_RULES_RULES_H
#define JW_RULES_RULES_H

#include "classfile/classfile.h"

#define RULES_LIMIT       256
#define RULES_TERMS_LIMIT 16
#define RULES_TEXT_BYTES  (64u * 1024)
#define RULES_NAME_BYTES  64

enum rules_never {
#define RULES_NEVER(name, word, text) RULES_NEVER_##name,
#include "rules/rules_never.def"
#undef RULES_NEVER
    RULES_NEVER_LIMIT,
};

enum rules_key {
#define RULES_KEY(name, word, part, text) RULES_KEY_##name,
#include "rules/rules_keys.def"
#undef RULES_KEY
    RULES_KEY_LIMIT,
};

const char *rules_never_word(enum rules_never never); /* "": nothing lifts it */
const char *rules_never_text(enum rules_never never);
const char *rules_key_word(enum rules_key key);
const char *rules_key_text(enum rules_key key);

struct rules;

/* NULL and `err`, which names line and word: it is not understood. */
JW_MUST_CHECK struct rules *rules_parse(const char *text, size_t length_bytes,
                                        struct jw_error *err);
void rules_close(struct rules *rules);

/* Rules are numbered from 0 on as they stand in the text. */
size_t rules_count(const struct rules *rules);
const char *rules_name(const struct rules *rules, size_t number); /* given, or "rule 3" */
bool rules_is_named(const struct rules *rules, size_t number);    /* given */
size_t rules_line(const struct rules *rules, size_t number);
/* The rule as it is written, from its name on, without a comment. */
struct classfile_text rules_text(const struct rules *rules, size_t number);
bool rules_is_exclusive(const struct rules *rules, size_t number);

#define RULES_SUPERS_LIMIT     256 /* classes and interfaces above one */
#define RULES_SUPER_NAME_BYTES 512

/* Room for names of super classes; what lies in it means nothing to the caller. */
struct rules_supers {
    char names[RULES_SUPERS_LIMIT][RULES_SUPER_NAME_BYTES];
    uint16_t lengths[RULES_SUPERS_LIMIT];
    uint32_t count;
    bool is_cut; /* there are more */
};

/* False: it is there already, or it was cut. */
bool rules_add_super(struct rules_supers *supers, struct classfile_text name);

/* A class, and what is known around it. */
struct rules_subject {
    const struct classfile *file;
    const char *loader; /* NULL: not known */
    const char *module; /* NULL: not known; "": none */
    /* The class of this name, or NULL: not at hand. NULL: none is looked for. What it gives need last until the next call. */
    const struct classfile *(*find)(void *context, struct classfile_text name);
    void *context;
    struct rules_supers *supers; /* where `find` is not NULL */
    /* All that stands above it, of a class that is loaded; then nothing is looked for. NULL: not known. */
    const struct rules_supers *above;
};

enum rules_outcome {
    RULES_TAKEN,    /* owned by `rule` */
    RULES_EXCLUDED, /* by `rule` */
    RULES_AGAINST,  /* `rule` would own it, but for `never` */
    RULES_UNTOLD,   /* `rule` asks for `key`, which is not known */
    RULES_NO_RULE,  /* none has both parts met */
};

struct rules_decision {
    enum rules_outcome outcome;
    size_t rule;
    enum rules_never never;
    enum rules_key key;
};

struct rules_decision rules_decide(const struct rules *rules, const struct rules_subject *subject,
                                   uint16_t method);

/* Whether any inclusive rule's class part may be met: if not, the class needs no further look. */
bool rules_may_touch(const struct rules *rules, const struct rules_subject *subject);

#define RULES_TYPES_BYTES 4096u

/* Types of the parameters of a descriptor as `parameters` has them, "int,java/lang/String[]", or that which it returns, into
 * RULES_TYPES_BYTES of text, not terminated. False: it is no descriptor, or too long. */
bool rules_types(struct classfile_text descriptor, bool is_returned, char *text,
                 size_t *used_bytes);

/* The same of a class of which only the name is known, and maybe what stands above it (else NULL): false is certain. */
bool rules_may_touch_named(const struct rules *rules, struct classfile_text name,
                           const struct rules_supers *above);

/* Whether a rule asks for what stands above a class. */
bool rules_ask_above(const struct rules *rules);

/* A name as patterns are held against it: '/' and '.' are the same. */
bool rules_is_match(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes);

#endif
