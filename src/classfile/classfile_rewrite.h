/*
 * classfile_rewrite - class files written again, with code of the caller's at chosen places.
 *
 * For      probes: calls at entries and exits, and beside single instructions.
 * Callers  probe, cli.
 * Context  all functions: hook, tool. As classfile.h.
 * Memory   what is written lies in the caller's piece of memory.
 *
 * What is put in is straight code that leaves the stack as it found it. It stands so that
 *   - a branch to a place runs the code before it, and not the code behind what stands there before;
 *   - a loop that begins at the first instruction does not run the code at the entry again;
 *   - code behind a MONITORENTER is the first in the range that protects the lock, and code behind a MONITOREXIT the first
 *     behind it: elsewhere no compiler takes the method, or a StackOverflowError in our call never ends
 *     (docs/adr/0048-class-files-in-c.md);
 *   - nothing is put into a handler that protects itself, for the same reason.
 * Tables of the code follow. A method that this cannot be done to stays as it is, byte for byte, with a verdict of its own.
 */
#ifndef JW_CLASSFILE_CLASSFILE_REWRITE_H
#define JW_CLASSFILE_CLASSFILE_REWRITE_H

#include "classfile/classfile.h"

enum classfile_place {
#define CLASSFILE_PLACE(name, word, side, text) CLASSFILE_PLACE_##name,
#include "classfile/classfile_places.def"
#undef CLASSFILE_PLACE
    CLASSFILE_PLACE_LIMIT,
};
#define CLASSFILE_AT(name) (1u << CLASSFILE_PLACE_##name)

const char *classfile_place_word(enum classfile_place place);
const char *classfile_place_text(enum classfile_place place);

struct classfile_site {
    enum classfile_place place;
    bool is_after; /* the instruction */
    bool has_this; /* local 0 is proved to be `this`, and initialised */
    bool
        keeps_this; /* and stays so up to each end of the method; of constructors, behind super() */
    uint8_t opcode; /* of the instruction; at ENTRY and THROW 0 */
    uint16_t method; /* its number in the class */
    uint16_t line;   /* 0: not told */
    uint16_t
        constant; /* what a call, field access or allocation names; a newarray: its type code; else 0 */
    uint32_t pc; /* in the code as it was read */
};

struct classfile_additions; /* constants that the class gets */
struct classfile_snippet;   /* code of one place */

/* Called for each place that is asked for, once for each side; puts code into `snippet`, or nothing. */
typedef void classfile_insert(void *context, const struct classfile_site *site,
                              struct classfile_additions *additions,
                              struct classfile_snippet *snippet);

/*
 * Code, and how many words of the stack it needs above what lies there. Branches, returns, throws, locks, and anything else
 * that is not straight make the method BAD_INSERTION.
 */
void classfile_put_code(struct classfile_snippet *snippet, const uint8_t *code, size_t length_bytes,
                        uint32_t stack_words);
void classfile_put_op(struct classfile_snippet *snippet, uint8_t opcode, uint32_t stack_words);
void classfile_put_int(struct classfile_snippet *snippet, int32_t value,
                       struct classfile_additions *additions, uint32_t stack_words);
void classfile_put_call(struct classfile_snippet *snippet, uint16_t method); /* invokestatic */
void classfile_put_dynamic(struct classfile_snippet *snippet, uint16_t call_site);

/* A local of the method's own, for the time of this snippet: words of it, and its number. */
uint16_t classfile_take_local(struct classfile_snippet *snippet, uint16_t words);

/*
 * A local of the method's own that lasts: what the snippet at ENTRY stores there, snippets of other places of the method find.
 * At ENTRY alone, before classfile_take_local. `type`: I J F D, or L for a reference of whatever class. Its number.
 */
#define CLASSFILE_KEPT_LIMIT 260u
uint16_t classfile_keep_local(struct classfile_snippet *snippet, char type);

/* Index of a constant, found among the added ones or added; 0: no room, and the method will be refused for it. */
uint16_t classfile_add_text(struct classfile_additions *additions, const char *text,
                            size_t length_bytes);
uint16_t classfile_add_class(struct classfile_additions *additions, const char *name);
uint16_t classfile_add_string(struct classfile_additions *additions, const char *text,
                              size_t length_bytes);
uint16_t classfile_add_int(struct classfile_additions *additions, int32_t value);
uint16_t classfile_add_method(struct classfile_additions *additions, const char *owner,
                              const char *name, const char *descriptor);
/* A handle of a static method: what bootstraps are. */
uint16_t classfile_add_static_handle(struct classfile_additions *additions, uint16_t method);
uint16_t classfile_add_call_site(struct classfile_additions *additions, uint16_t bootstrap_handle,
                                 const uint16_t *arguments, uint16_t argument_count,
                                 const char *name, const char *descriptor);

/* Called for each such place that is left out: in a handler that protects itself, or beside a lock where no code may stand. */
typedef void classfile_skip(void *context, const struct classfile_site *site);

struct classfile_plan {
    const uint32_t *places; /* by number of the method: CLASSFILE_AT(...) | ... */
    classfile_insert *insert;
    classfile_skip *skip; /* NULL: nobody asks */
    void *context;
    bool
        rewrites_all; /* tests: every method is taken apart and written again, whatever is put into it */
};

struct classfile_outcome { /* of a method */
    enum classfile_verdict verdict;
    uint32_t sites; /* snippets with code */
    uint32_t
        sites_skipped; /* places inside of handlers that protect themselves, and MONITOREXITs without a good place */
    uint32_t code_bytes;     /* of its code before ... */
    uint32_t new_code_bytes; /* ... and after */
};

struct classfile_rewritten {
    const uint8_t *bytes; /* of the file as it was read, where nothing was put in */
    uint32_t length_bytes;
    bool is_changed;
    const struct classfile_outcome *methods; /* by number */
};

/* Other than CLASSFILE_OK: no method could be written, and `out` has the bytes that were read. */
JW_MUST_CHECK enum classfile_verdict classfile_rewrite(const struct classfile *file,
                                                       const struct classfile_plan *plan,
                                                       struct classfile_memory *memory,
                                                       struct classfile_rewritten *out);

#endif
