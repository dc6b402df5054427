/* The JVM's counter of safepoints, which it keeps among its performance data; control, handler. */
#include "vm/vm_safepoint.h"

#include "arch/arch.h"
#include "vm/vm_perfdata.h"

/* Constant after vm_open; 0: none. */
static vm_addr counter_addr;

void vm_safepoint_open(void)
{
    counter_addr = vm_perfdata_find("sun.rt.safepoints", VM_PERFDATA_NUMBER);
}

bool vm_safepoint_count(uint64_t *count)
{
    return counter_addr != 0 && safe_load_u64(counter_addr, count);
}
