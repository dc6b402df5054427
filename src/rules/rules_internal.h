/* What the files of this room share. */
#ifndef JW_RULES_RULES_INTERNAL_H
#define JW_RULES_RULES_INTERNAL_H

#include "rules/rules.h"

struct rules_term {
    enum rules_key key;
    bool is_turned;
    uint32_t offset_bytes; /* of the patterns in the text, "a|b" */
    uint32_t length_bytes;
};

struct rules_rule {
    char name[RULES_NAME_BYTES];
    uint32_t line;
    uint32_t offset_bytes; /* in the text */
    uint32_t length_bytes;
    bool is_exclusive;
    uint32_t lifted; /* 1 << enum rules_never */
    uint32_t term_count;
    struct rules_term
        terms[RULES_TERMS_LIMIT]; /* those of the class and of the method, as they stand */
};

/* One block: behind it stand the rules, and behind these the text. */
struct rules {
    uint32_t count, room; /* of rules: as many as the text can have at the most, or RULES_LIMIT */
    char *text;
    struct rules_rule all[];
};

bool rules_is_of_class(enum rules_key key);

/* What stands against a class of that name. rules_never.c */
uint32_t rules_against_name(struct classfile_text name);

/* What stands against the method whatever rule wants it: 1 << enum rules_never. rules_never.c */
uint32_t rules_against(const struct classfile *file, uint16_t method);

#endif
