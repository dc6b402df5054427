/* The object on which a method is being looked up; handler. */
#include "vm/vm_object.h"
#include "walk/walk_internal.h"

vm_addr walk_receiver(const void *ucontext, const struct walk_java_result *result)
{
    struct arch_regs regs;

    /* Of the stub that was stepped over, only when it is the one that was interrupted. */
    if (result->stub_pc == 0 || result->frame_count == 0)
        return 0;
    const struct vm_stub *stub = vm_stub_find(result->stub_pc);
    arch_regs_read(ucontext, &regs);
    if (stub == NULL || !stub->has_receiver || regs.pc < stub->begin || regs.pc >= stub->end)
        return 0;
    return vm_object_class(arch_java_receiver(ucontext));
}
