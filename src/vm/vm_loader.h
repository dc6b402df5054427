/*
 * vm_loader - class loaders by number: what a recording says of them is the name of their class.
 *
 * For      the loader of a sampled class, found in a handler by the address of its ClassLoaderData.
 * Callers  agent (hooks: vm_loader_note), vm_method (find), recording (text).
 * Context  vm_loader_note: hook, control. vm_loader_find: handler. vm_loader_class: dump.
 * Memory   static and fixed; past VM_LOADERS_MAX kinds of loader a class has loader VM_LOADER_UNKNOWN.
 * Progress lock-free.
 *
 * The address of a ClassLoaderData may be used again after unloading. ClassPrepare is delivered before
 * any code of the class runs, and note() replaces what stood at the address; so what a handler finds
 * for a class on its thread's stack is that class's own loader.
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

/* `klass` was loaded by a loader of the class `class_name` (internal form; NULL:
 * bootstrap; "": not known). */
void vm_loader_note(vm_addr klass, const char *class_name);

JW_SIGNAL_SAFE uint32_t vm_loader_find(vm_addr class_loader_data);

/* False for a number never given. */
bool vm_loader_describe(uint32_t loader, struct vm_loader_text *out);

#endif
