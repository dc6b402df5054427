/*
 * cli_rules_internal - what rules would do to classes, as `jaywalk rules dry-run` tells it.
 *
 * For      cmd_rules.c, cmd_probe.c.   Callers  this room.   Context  tool.
 * Memory   struct cli_rules_look owns nothing but what cli_rules_close frees.
 *
 * Classes are written anew, and thrown away: with the calls of a handler as room probe puts them in; without a handler with one call with
 * one constant at each entry, return and exception.
 */
#ifndef JW_CLI_CLI_RULES_INTERNAL_H
#define JW_CLI_CLI_RULES_INTERNAL_H

#include "classfile/classfile_rewrite.h"
#include "cli/cli_classes_internal.h"
#include "probe/probe_handler.h"
#include "probe/probe_weave.h"
#include "rules/rules.h"

/* Code of more bytes is inlined only where it is hot, or not at all. Source: HotSpot, MaxInlineSize and FreqInlineSize
 * (c2_globals.hpp; x86-64 and aarch64), the same from JDK 8 to 25; tests/jvm/cases/rules.sh asks the JVMs. */
#define CLI_INLINE_BYTES     35u
#define CLI_HOT_INLINE_BYTES 325u

struct cli_rules_rule {
    uint64_t outcomes[RULES_NO_RULE]; /* methods */
    uint64_t classes;                 /* with methods that it takes */
    uint64_t last_class;              /* the number, counted from 1, of the last that was counted */
};

struct cli_rules_cost {
    uint64_t places;
    uint64_t skipped;       /* inside of handlers that protect themselves */
    uint64_t class_bytes;   /* of classes that would be written anew: before ... */
    uint64_t written_bytes; /* ... and after */
    uint64_t refused[CLASSFILE_VERDICT_LIMIT]; /* methods that would stay as they are */
    uint64_t past_inline;                      /* methods that grow past CLI_INLINE_BYTES ... */
    uint64_t past_hot_inline;                  /* ... and CLI_HOT_INLINE_BYTES */
    uint64_t calls;                            /* of the handler: places within methods */
    uint64_t misfits;                          /* that have not what it asks for */
    uint64_t left_out;                         /* where no code may stand */
};

/* A method, what was decided, and what became of it. */
struct cli_rules_method {
    const struct classfile *file;
    const char *place;
    uint16_t number;
    struct rules_decision decision;
    enum probe_fit fit;                      /* of a method that a rule takes for a handler */
    const struct classfile_outcome *written; /* NULL: it is not taken */
};

enum cli_rules_show {
    CLI_RULES_TAKEN,   /* methods that a rule takes */
    CLI_RULES_TOUCHED, /* all methods of classes that an inclusive rule may take */
    CLI_RULES_ALL,
};

struct cli_rules_look {
    const struct rules *rules;
    const struct cli_classes *classes;
    const struct probe_handler *handler; /* NULL: none is there yet */
    bool is_further;                     /* what was looked at was told already */
    enum cli_rules_show shows;
    uint64_t methods, touched_classes, taken_classes;
    uint64_t outcomes[RULES_NO_RULE + 1];
    uint64_t nevers[RULES_NEVER_LIMIT];
    uint64_t keys[RULES_KEY_LIMIT];
    uint64_t
        unfit[PROBE_FIT_LIMIT]; /* methods that a rule takes, without what the handler asks for */
    struct cli_rules_rule each[RULES_LIMIT];
    struct cli_rules_cost cost;
    struct classfile_memory memory;       /* of the class that is decided */
    struct classfile_memory above_memory; /* of one that it is asked for */
    struct classfile above;
    struct classfile_memory woven_memory; /* of the class with the calls of the handler */
    struct rules_supers supers;
    struct rules_decision decisions[UINT16_MAX];
    uint32_t places[UINT16_MAX];
};

typedef void cli_rules_visit(void *context, const struct cli_rules_look *look,
                             const struct cli_rules_method *method);

/* Decides each class of the list, and tells `visit` of each method to be shown, in the order of classes. */
JW_MUST_CHECK bool cli_rules_decide(struct cli_rules_look *look, cli_rules_visit *visit,
                                    void *context, struct jw_error *err);
/* Behind cli_rules_decide: the rule takes or excludes nothing, and nothing is untold for it. */
bool cli_rules_is_idle(const struct cli_rules_look *look, size_t rule);
void cli_rules_close(struct cli_rules_look *look);

/* What is told of a method that is not taken, and of one that a rule takes and nobody can write. */
void cli_rules_why(const struct cli_rules_look *look, const struct cli_rules_method *method,
                   char *text, size_t room_bytes);

/* What the operands from the first on name, jars, folders and processes; the status for the shell. cmd_rules.c */
JW_MUST_CHECK int cli_rules_gather(const struct cli_command *command,
                                   const struct cli_values *values, size_t first,
                                   struct cli_classes *classes, struct jw_error *err);
/* The text of a file, or of the standard input, for jw_free; NULL and `err`. */
char *cli_rules_read_text(const char *path, size_t *length_bytes, struct jw_error *err);

/* ---- words ---- */

void cli_rules_list(const struct rules *rules, FILE *to);
bool cli_rules_text(struct cli_rules_look *look, FILE *to, struct jw_error *err);
bool cli_rules_json(struct cli_rules_look *look, FILE *to, struct jw_error *err);

#endif
