/* Which virtual thread a sample is of, and what it is called; handler, hook. */
#include <string.h>

#include "base/counters.h"
#include "context/context.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_mounted.h"

dict_id sample_capture(struct generation *generation, uint64_t mounted,
                       const struct vm_string *name)
{
    const uint64_t number = mounted == VM_MOUNTED_UNTOLD ? 0 : mounted;
    const struct context_text text = {name->bytes, name->length_bytes};
    const dict_id id = context_capture(generation, number, text);

    if (mounted == VM_MOUNTED_UNTOLD && id == DICT_NONE)
        jw_count(JW_COUNT_CONTEXT_UNTOLD);
    return id;
}

/*
 * The JVM says that a virtual thread is mounted a little before the carrier goes on with it, and in some waits until after it
 * has left: a stack without any frame of it is the carrier's. Whether there is one, a stack that is cut does not tell.
 */
bool sample_is_of_carrier(const struct walk_java_result *java)
{
    return java->frame_count > 0 && !java->is_virtual && !java->is_truncated;
}

uint64_t sample_find_mounted(const struct sample_order *order, const void *env,
                             struct vm_string *name)
{
    const struct sampler_hook *hook = order->hook;
    const uint64_t number = env == NULL ? 0 : vm_thread_mounted(env, thread_java_id(order->thread));

    name->length_bytes = 0;
    if (number == 0 || number == VM_MOUNTED_UNTOLD)
        return number;
    if (hook != NULL && hook->virtual_name != NULL && hook->virtual_bytes <= sizeof name->bytes) {
        memcpy(name->bytes, hook->virtual_name, hook->virtual_bytes);
        name->length_bytes = (uint32_t)hook->virtual_bytes;
    } else {
        (void)vm_thread_mounted_name(env, number, name);
    }
    return number;
}
