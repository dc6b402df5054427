/*
 * census - classes whose methods tell of each lock that they take and give back.
 *
 * For      locks=census: bytes in, bytes out, no JVM.
 * Callers  instrument.
 * Context  hook, control, tool. Nothing is allocated: memory is the caller's, as classfile_memory_bytes has it.
 * Memory   sites and what is written lie in the caller's memory.
 *
 * A site is a MONITORENTER, a method that is synchronized, or a call that takes a lock of java.util.concurrent. Its number and that of its
 * method's first site are what java.lang.JaywalkLocks is told, never the object of a monitor: a lock that the compiler leaves out stays left
 * out. Where objects are asked for, calls of java.lang.JaywalkObjects stand beside those; of a static method there is none. Calls are static, in every class, since most locks are taken in classes of the JDK, which get no invokedynamic
 * (docs/adr/0058-a-census-of-locks.md).
 */
#ifndef JW_CENSUS_CENSUS_H
#define JW_CENSUS_CENSUS_H

#include "classfile/classfile_rewrite.h"

enum census_kind {
    CENSUS_MONITOR,      /* a synchronized statement */
    CENSUS_SYNCHRONIZED, /* a method; its lock is `this` */
    CENSUS_STATIC,       /* a static method; its lock is the class */
    CENSUS_LOCK,         /* a call of java.util.concurrent.locks.Lock, of whatever class that is */
    CENSUS_REENTRANT,
    CENSUS_READ, /* of a ReentrantReadWriteLock, as the next one */
    CENSUS_WRITE,
    CENSUS_STAMPED_READ,
    CENSUS_STAMPED_WRITE,
    CENSUS_KIND_LIMIT,
};
const char *census_kind_word(enum census_kind kind); /* "monitor" ... */
/* A lock of java.util.concurrent. */
static inline bool census_is_call(enum census_kind kind)
{
    return kind >= CENSUS_LOCK;
}

struct census_site {
    uint16_t method; /* its number in the class */
    uint16_t line;   /* of a method: where it begins; 0: not told */
    uint32_t pc;     /* of the MONITORENTER, or of the call; of a method 0 */
    uint32_t first;  /* first site of the method, from 0 on, of monitors or of calls */
    enum census_kind kind;
    bool is_behind;  /* its call stands behind the instruction, inside of the protected range */
    bool is_timed;   /* of a call: its method gives locks back, too; monitors always are */
    bool is_refused; /* its method cannot be written again, and counts nothing */
};

struct census_class {
    struct classfile file;
    struct census_site *sites; /* by method, and by place in it */
    uint32_t site_count;
    bool has_calls; /* of locks of java.util.concurrent */
    bool
        tells_objects; /* the caller's, before census_weave: which object's lock it is is told, too */
};

/*
 * Whether a class of that name ("java/lang/Thread") has its locks counted: not what the counting itself goes through, nor where no Java code
 * may be added.
 */
bool census_may_touch(const char *name);

/* Finds its sites. Other than CLASSFILE_OK: it has no meaning, and the class stays as it is. */
JW_MUST_CHECK enum classfile_verdict census_read(const uint8_t *bytes, size_t length_bytes,
                                                 struct classfile_memory *memory,
                                                 struct census_class *out);

/* Writes the calls; its sites have numbers from `first` on. Notes which of them are refused. */
JW_MUST_CHECK enum classfile_verdict census_weave(struct census_class *of, uint32_t first,
                                                  struct classfile_memory *memory,
                                                  struct classfile_rewritten *out);

#endif
