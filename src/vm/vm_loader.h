/*
 * vm_loader - class loaders by number: what a recording says of them is the name of their class.
 *
 * For      the loader of a sampled class, found in a handler by the address of its ClassLoaderData.
 * Callers  agent (open), vm_class (note), vm_method (find), recording (text).
 * Context  vm_loader_open: control. vm_loader_note: hook, control. vm_loader_find: handler. vm_loader_describe: dump.
 * Memory   static and fixed; past VM_LOADERS_MAX kinds of loader a class has loader VM_LOADER_UNKNOWN.
 * Progress lock-free.
 *
 * From JDK 11 on a ClassLoaderData holds the class of its loader, in a word that no table tells of. It is looked for
 * at start, in the data of the two loaders that every JVM has; where it is found (vm_loader_tells), a handler reads it, and nothing
 * is to be noted. While a method of the class stands on the handler's stack, class, data and loader live.
 *
 * Elsewhere loaders are noted by address. The address of a ClassLoaderData may be used again after unloading.
 * ClassPrepare is delivered before any code of the class runs, and note() replaces what stood at the address; so what
 * a handler finds for a class on its thread's stack is that class's own loader.
 */
#ifndef JW_VM_VM_LOADER_H
#define JW_VM_VM_LOADER_H

#include "vm/vm.h"

#define VM_LOADER_UNKNOWN   0u
#define VM_LOADER_BOOTSTRAP 1u
#define VM_LOADERS_MAX      1024u

struct vm_loader_text {
    char class_name[256]; /* "jdk/internal/loader/ClassLoaders$AppClassLoader"; "": bootstrap */
    char name[32];        /* "bootstrap", "platform", "app", or "" */
};

/* After vm_open; looks for the word until it is found. */
void vm_loader_open(void);
bool vm_loader_tells(void); /* hook, control */

/* `klass` was loaded by a loader of the class `class_name` (internal form; NULL:
 * bootstrap; "": not known). */
void vm_loader_note(vm_addr klass, const char *class_name);

/* Whether the loader of this class was noted. */
bool vm_loader_is_noted(vm_addr klass);

JW_SIGNAL_SAFE uint32_t vm_loader_find(vm_addr class_loader_data);

/* That of a class that lives; VM_LOADER_UNKNOWN: of none. */
uint32_t vm_loader_of(vm_addr klass);

/* False for a number never given. */
bool vm_loader_describe(uint32_t loader, struct vm_loader_text *out);

#endif
