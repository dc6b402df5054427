/*
 * probe_weave - a class with the calls of handlers in the methods that their rules take.
 *
 * For      the hook of classes that are loaded: bytes in, bytes out, no JVM.
 * Callers  instrument.
 * Context  hook, control, tool. Nothing is allocated: memory is the caller's, as classfile_memory_bytes has it.
 * Memory   what is written lies in the caller's memory.
 *
 * Handlers of one place are called in the order in which they are given. What a handler is given is fetched where it is called; what
 * is asked for at an end of the method and is known at its beginning alone (arguments, the time) is kept in locals of the method's own.
 * Class files from 51 on get invokedynamic; older ones, and all of the boot and platform loaders, static calls: what links
 * invokedynamic runs in those classes itself (docs/adr/0056-probes-dispatched-by-invokedynamic.md).
 */
#ifndef JW_PROBE_PROBE_WEAVE_H
#define JW_PROBE_PROBE_WEAVE_H

#include "classfile/classfile_rewrite.h"
#include "probe/probe_handler.h"
#include "rules/rules.h"

#define PROBE_WEAVE_LIMIT 1024u   /* handlers at a time */
#define PROBE_ATTACH_MASK 0x7fffu /* so much of the number of an attach is said by its places */

struct probe_weave_handler {
    const struct probe_handler *handler;
    const struct rules *rules; /* its own */
    uint32_t attach;           /* what its places say of it: which attach, and which handler */
    unsigned place;  /* among all that are attached now; also the class of its static calls */
    uint32_t number; /* of the handler in its attach; for the caller */
};

struct probe_weave_class {
    const uint8_t *bytes;
    size_t length_bytes;
    const char *loader; /* as struct rules_subject has them */
    const char *module;
    bool
        is_static; /* calls are static whatever its version: of the boot or platform loader, or the JVM is of JDK 8 */
    const struct classfile *(*find)(void *context, struct classfile_text name);
    void *context;
    struct rules_supers *supers;
    const struct rules_supers *above;
    /* Number of a method, for handlers that ask for one; at an allocation, of that and what is made there (else ""). -1: there are too many, and it is not called. NULL: there is none. */
    int32_t (*site_of)(const struct probe_handler *handler, struct classfile_text made,
                       struct classfile_text class_name, struct classfile_text method,
                       struct classfile_text descriptor);
};

/* Of one handler in one class. */
struct probe_woven {
    uint32_t methods; /* that call it */
    uint32_t places;  /* where they do */
    uint32_t unfit;   /* methods that a rule takes, and that have not what it asks for */
    uint32_t untold;  /* methods of which a rule asks what is not known */
    uint32_t
        above; /* of these, such as ask for what stands above a class that nothing is said of */
    uint32_t refused;   /* methods that a rule takes, and that cannot be written again */
    uint32_t placeless; /* methods that a rule takes, in which nothing is that it is for */
    uint32_t misfits;   /* places in methods, that have not what it asks for ... */
    uint32_t skipped;   /* ... and where no code may stand */
};

/* Whether a class of that name, and below those where that is known (else NULL), may be any handler's: false is certain, and found without its bytes. */
bool probe_weave_may_touch(const struct probe_weave_handler *handlers, uint32_t count,
                           const char *name, const struct rules_supers *above);
/*
 * Classes that are nobody's, whatever rules say: without a name, arrays, lambdas, hidden ones, those that reflection makes, and the agent's
 * own. They are neither read nor written again.
 */
bool probe_weave_is_left_alone(const char *name);
/* Whether rules of any ask for what stands above a class. */
bool probe_weave_asks_above(const struct probe_weave_handler *handlers, uint32_t count);

/*
 * Other than CLASSFILE_OK, or out->is_changed false: the class stays as it is. `woven`: one for each handler; meaningful where
 * this is CLASSFILE_OK.
 */
JW_MUST_CHECK enum classfile_verdict probe_weave(const struct probe_weave_handler *handlers,
                                                 uint32_t count, const struct probe_weave_class *of,
                                                 struct classfile_memory *memory,
                                                 struct classfile_rewritten *out,
                                                 struct probe_woven *woven);

#endif
