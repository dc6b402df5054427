/*
 * fake_counters - the performance counters of a fake JVM: three entries, of which the second one counts safepoints.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_COUNTERS_H
#define JW_TESTS_UNIT_VM_FAKE_COUNTERS_H

#include "unit/vm/fake_memory.h"
#include "vm/vm_safepoint.h"

#define FIRST_OFFSET 32
#define ENTRY_BYTES  64
#define NAME_OFFSET  20
#define DATA_OFFSET  56
#define ENTRIES      3

static _Alignas(8) unsigned char counters[FIRST_OFFSET + ENTRIES * ENTRY_BYTES];
static void *counters_start;

static inline unsigned char *entry(int index)
{
    return counters + FIRST_OFFSET + index * ENTRY_BYTES;
}

static inline void put(unsigned char *to, int32_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void set_entry(int index, const char *name, char type, uint64_t value)
{
    unsigned char *to = entry(index);

    put(to, ENTRY_BYTES);
    put(to + 4, NAME_OFFSET);
    to[12] = (unsigned char)type;
    put(to + 16, DATA_OFFSET);
    strcpy((char *)to + NAME_OFFSET, name);
    memcpy(to + DATA_OFFSET, &value, sizeof value);
}

static inline void add_fields(void)
{
    fake_jvm->add_field("PerfMemory", "_start", "char*", true, 0, &counters_start);
    fake_jvm->add_field("PerfDataPrologue", "entry_offset", "jint", false, 24, NULL);
    fake_jvm->add_field("PerfDataPrologue", "num_entries", "jint", false, 28, NULL);
    fake_jvm->add_field("PerfDataEntry", "entry_length", "jint", false, 0, NULL);
    fake_jvm->add_field("PerfDataEntry", "name_offset", "jint", false, 4, NULL);
    fake_jvm->add_field("PerfDataEntry", "data_type", "jbyte", false, 12, NULL);
    fake_jvm->add_field("PerfDataEntry", "data_offset", "jint", false, 16, NULL);
}

/* After open_fake. vm_safepoint_open then finds it. */
static inline void put_counters(uint64_t safepoints)
{
    counters_start = counters;
    put(counters + 24, FIRST_OFFSET);
    put(counters + 28, ENTRIES);
    set_entry(0, "sun.rt.safepointTime", 'J', 11);
    set_entry(1, "sun.rt.safepoints", 'J', safepoints);
    set_entry(2, "sun.rt.safepointSync", 'J', 33);
}

#endif
