/* What deciding and writing share. Context: hook, control, tool. */
#ifndef JW_PROBE_PROBE_WEAVE_INTERNAL_H
#define JW_PROBE_PROBE_WEAVE_INTERNAL_H

#include "probe/probe_internal.h"
#include "probe/probe_weave.h"

#define PROBE_WEAVE_ARGUMENTS 255u /* of a method, at most */

/* A handler in a method. */
struct probe_weave_want {
    uint32_t handler;
    uint32_t places;
    uint32_t misfits;
    uint32_t skipped;
    uint32_t rule;    /* of the handler's, that took the method */
    uint32_t line_pc; /* where the line begins that it is for */
};

/* What lies where in the method that is being written. */
struct probe_weave_kept {
    uint16_t begun; /* the time of its beginning */
    uint16_t object;
    uint16_t entered; /* what the call at the entry gave; 0 until then */
    uint16_t arguments[PROBE_WEAVE_ARGUMENTS];
};

/* What an instruction takes from the stack, moved into locals for handlers. */
struct probe_weave_moved {
    uint32_t pc;   /* of the instruction */
    uint32_t from; /* the first operand that was */
    uint16_t words;
    uint16_t locals[PROBE_OPERANDS_LIMIT];
};

struct probe_weaving {
    const struct probe_weave_handler *handlers;
    uint32_t count;
    const struct probe_weave_class *of;
    struct classfile_memory *memory;
    struct classfile file;
    struct probe_weave_want **wants; /* by method ... */
    uint16_t *want_counts;
    uint32_t *places; /* ... as is this, for room classfile */
    struct probe_woven *woven;
    struct probe_weave_kept kept;
    struct probe_weave_moved moved;
    uint32_t written;        /* 1 + number of the method that is being written */
    uint32_t argument_count; /* of the method that is being written */
    char types[PROBE_WEAVE_ARGUMENTS];
    uint16_t locals[PROBE_WEAVE_ARGUMENTS]; /* where its parameters lie at the beginning */
};

static inline bool probe_weave_asks(const struct probe_handler *handler, enum probe_kind kind)
{
    for (uint32_t i = 0; i < handler->capture_count; i++) {
        if (handler->captures[i].kind == kind)
            return true;
    }
    return false;
}

/* A place of a handler, while its call is put together. */
struct probe_weave_place {
    struct probe_weaving *at;
    const struct classfile_site *site;
    struct classfile_additions *additions;
    struct classfile_snippet *snippet;
    uint16_t value_local; /* what is returned or thrown */
    char value_type;      /* 0: nothing */
    uint32_t depth_words; /* what was put on the stack so far */
    const char *rule_name;
    enum probe_place handler_place; /* of the handler that is called */
    const struct probe_operands *operands;
};

/* Letter of a type among B C D F I J S Z and L, for each reference. */
static inline char probe_weave_letter(struct classfile_text type)
{
    return type.bytes[0] == '[' ? 'L' : type.bytes[0];
}

static inline uint16_t probe_weave_words(char type)
{
    return type == 'J' || type == 'D' ? 2 : 1;
}

/* ---- probe_weave_values.c ---- */

/* Whether the handler is for that place, on whichever side of it; and on that side. */
bool probe_weave_is_beside(const struct probe_weaving *at, const struct probe_weave_want *want,
                           const struct classfile_site *site);
bool probe_weave_is_at(const struct probe_weaving *at, const struct probe_weave_want *want,
                       const struct classfile_site *site);

/* What is returned, thrown or left on the stack goes into a local, where a handler of the place asks for it. */
void probe_weave_save_value(struct probe_weave_place *place);
/*
 * Before an instruction: its operands go into locals and come back, from the first on that is asked for. Whatever they are to the
 * verifier, objects without constructor too, they are so again. Behind it the locals are as they were left: only the instruction came
 * between.
 */
void probe_weave_move(struct probe_weave_place *place);

/* Loads or stores a local of that type (L for each reference); the stack is so deep behind it. */
void probe_weave_put_local(struct classfile_snippet *snippet, bool stores, char type,
                           uint16_t number, uint32_t stack_words);
void probe_weave_put_load(struct classfile_snippet *snippet, char type, uint16_t number,
                          uint32_t stack_words);

/* A classfile_insert of a struct probe_weaving: what its handlers are given, and their calls. probe_weave_calls.c */
void probe_weave_insert(void *context, const struct classfile_site *site,
                        struct classfile_additions *additions, struct classfile_snippet *snippet);

/* A classfile_skip of a struct probe_weaving. */
void probe_weave_skip(void *context, const struct classfile_site *site);

#endif
