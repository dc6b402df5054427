/*
 * vm_stub - the generated stubs, as JVMTI DynamicCodeGenerated reports them.
 *
 * For      knowing, in a handler, whether the stub at this pc has its frame yet: the offset at which
 *          it sets one up is decoded when the stub is reported, never in the handler.
 * Callers  agent (report, settle), walk (find).
 * Context  vm_stub_report: hook. vm_stub_settle: dump, control. vm_stub_find: handler.
 * Memory   VM_STUBS_MAX records, static, touched as used; sorted copies grow by doubling and are kept.
 * Progress report lock-free, find wait-free.
 *
 * May these overlap?    report    settle    find
 *   report                yes       yes      yes
 *   settle                yes       no       yes
 */
#ifndef JW_VM_VM_STUB_H
#define JW_VM_VM_STUB_H

#include "vm/vm.h"

#define VM_STUBS_MAX 8192

enum vm_stub_kind {
    VM_STUB_GENERATED,
    VM_STUB_VTABLE,
    VM_STUB_ADAPTER,
    VM_STUB_INTERPRETER,
    VM_STUB_BARRIER, /* on which a frame in the heap would return */
    VM_STUB_THAW,    /* brings frames back that lie there */
};

struct vm_stub {
    uintptr_t begin, end;
    size_t setup_offset; /* as arch_stub_frame_setup_offset says */
    enum vm_stub_kind kind;
    bool has_receiver; /* looks a method up in the class of the object that is its first argument */
    char name[48];
};

void vm_stub_report(const char *name, const void *address, jint length_bytes);

/* Sorts what was reported since; cheap when nothing was. */
void vm_stub_settle(void);

JW_SIGNAL_SAFE const struct vm_stub *vm_stub_find(uintptr_t pc);

#endif
