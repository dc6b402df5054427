/*
 * vm_flags - the flags of the JVM, as -XX:+PrintFlagsFinal lists them.
 *
 * For      what a recording tells of how its JVM was set up.
 * Callers  agent.
 * Context  control, dump; after vm_open.
 * Memory   none: the table is the JVM's, and read by contained loads.
 */
#ifndef JW_VM_VM_FLAGS_H
#define JW_VM_VM_FLAGS_H

#include "base/jw.h"

#define VM_FLAG_NAME_BYTES 64
#define VM_FLAG_TEXT_BYTES 1024

enum vm_flag_kind {
    VM_FLAG_UNTOLD, /* this one, or its type, is not known: nothing else is told of it */
    VM_FLAG_BOOL,
    VM_FLAG_INT,
    VM_FLAG_UINT,
    VM_FLAG_LONG,
    VM_FLAG_ULONG,
    VM_FLAG_DOUBLE,
    VM_FLAG_TEXT,
};

struct vm_flag {
    enum vm_flag_kind kind;
    char name[VM_FLAG_NAME_BYTES];
    uint64_t bits; /* its number, sign-extended; of a double its bits */
    bool has_text; /* VM_FLAG_TEXT: false, it is NULL */
    char text[VM_FLAG_TEXT_BYTES];
    const char *origin; /* "Default", "Command line" and the like */
};

/* Flag `number`, from 0 on; false: there are no more, or this JVM's table is not known. */
JW_MUST_CHECK bool vm_flag_at(uint32_t number, struct vm_flag *out);

/* The number of the flag of this name; `fallback` where there is none, or it is none. */
uint64_t vm_flag_number(const char *name, uint64_t fallback);

/* The flag of this name; false: there is none. */
JW_MUST_CHECK bool vm_flag_find(const char *name, struct vm_flag *out);

#endif
