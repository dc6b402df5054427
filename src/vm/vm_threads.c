/* The JVM's list of its threads; control, hook. */
#include "vm/vm_threads.h"

#include "vm/vm_internal.h"

static struct {
    vm_addr list; /* word with the address of the list; 0: not known */
    struct vm_field length, threads, number;
} layout;

enum found { FOUND_NOT, FOUND, FOUND_UNTOLD };

static enum found find(uint64_t number)
{
    uint64_t list, again = 0, length, threads, thread, own;

    if (layout.list == 0 || !safe_load_u64(layout.list, &list) ||
        !vm_load_field(list, layout.length, &length) || length > VM_THREADS_MAX ||
        !vm_load_field(list, layout.threads, &threads))
        return FOUND_UNTOLD;
    for (uint64_t i = 0; i < length; i++) {
        if (!safe_load_u64(threads + i * sizeof thread, &thread) ||
            !vm_load_field(thread, layout.number, &own))
            return FOUND_UNTOLD;
        if (own == number)
            return FOUND;
    }
    return safe_load_u64(layout.list, &again) && again == list ? FOUND_NOT : FOUND_UNTOLD;
}

bool vm_threads_has_number(uint64_t number)
{
    return find(number) != FOUND_NOT;
}

void vm_threads_open(uint64_t own)
{
    layout.length = vm_structs_field("ThreadsList", "_length");
    layout.threads = vm_structs_field("ThreadsList", "_threads");
    layout.number = vm_structs_field("JavaThread", "_monitor_owner_id");
    /* Whatever the table calls their types. */
    layout.length.width = sizeof(uint32_t);
    layout.threads.width = layout.number.width = sizeof(uint64_t);
    layout.list = vm_structs_static("ThreadsSMRSupport", "_java_thread_list");
    if (find(own) != FOUND)
        layout.list = 0;
}
