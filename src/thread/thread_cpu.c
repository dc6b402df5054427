/* What was read of the threads' CPU clocks; hooks, control and the dump thread. */
#include "thread/thread_cpu.h"

#include "base/atomics.h"

struct entry {
    _Atomic uint64_t serial;   /* of the record's life that this belongs to; 0: of none */
    _Atomic uint64_t base_ns;  /* published with the serial */
    _Atomic uint64_t clock_ns; /* relaxed: a figure that only rises, by whoever read it */
    _Atomic uint32_t flags;    /* relaxed: something to show */
};

/* Zeroes until they are touched. */
static struct entry entries[THREAD_RECORDS_MAX];

static JW_SIGNAL_SAFE bool is_of_this_life(thread_index index)
{
    /* order THREAD_CPU: acquires what thread_cpu_begin released. */
    const uint64_t serial = jw_load_acquire(&entries[index].serial);

    return serial != 0 && serial == thread_serial(index);
}

void thread_cpu_begin(thread_index index, uint64_t base_ns, uint64_t clock_ns)
{
    struct entry *entry = &entries[index];

    jw_store_relaxed(&entry->base_ns, base_ns);
    jw_store_relaxed(&entry->clock_ns, clock_ns);
    jw_store_relaxed(&entry->flags, 0);
    /* order THREAD_CPU: releases the entry. */
    jw_store_release(&entry->serial, thread_serial(index));
}

void thread_cpu_forget(thread_index index)
{
    jw_store_relaxed(&entries[index].serial, 0);
}

JW_SIGNAL_SAFE void thread_cpu_look(thread_index index, uint64_t clock_ns)
{
    struct entry *entry = &entries[index];
    uint64_t known_ns = jw_load_relaxed(&entry->clock_ns);

    if (!is_of_this_life(index))
        return;
    while (known_ns < clock_ns && !jw_cas_relaxed(&entry->clock_ns, &known_ns, clock_ns))
        ;
}

void thread_cpu_mark(thread_index index, enum thread_cpu_flag flag)
{
    if (is_of_this_life(index))
        (void)jw_or_relaxed(&entries[index].flags, flag);
}

bool thread_cpu_get(thread_index index, struct thread_cpu *out)
{
    const struct entry *entry = &entries[index];

    if (!is_of_this_life(index))
        return false;
    out->base_ns = jw_load_relaxed(&entry->base_ns);
    out->clock_ns = jw_load_relaxed(&entry->clock_ns);
    out->flags = jw_load_relaxed(&entry->flags);
    return true;
}
