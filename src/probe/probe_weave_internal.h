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
    uint32_t rule; /* of the handler's, that took the method */
};

/* What lies where in the method that is being written. */
struct probe_weave_kept {
    uint16_t begun; /* the time of its beginning */
    uint16_t object;
    uint16_t entered; /* what the call at the entry gave; 0 until then */
    uint16_t arguments[PROBE_WEAVE_ARGUMENTS];
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

/* Loads a local of that type (L for each reference), which makes the stack so deep. */
void probe_weave_put_load(struct classfile_snippet *snippet, char type, uint16_t number,
                          uint32_t stack_words);

/* A classfile_insert of a struct probe_weaving: what its handlers are given, and their calls. probe_weave_calls.c */
void probe_weave_insert(void *context, const struct classfile_site *site,
                        struct classfile_additions *additions, struct classfile_snippet *snippet);

#endif
