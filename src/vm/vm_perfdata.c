/* Finds counters among the JVM's performance data by their names; control. */
#include "vm/vm_perfdata.h"

#include <string.h>

#include "arch/arch.h"
#include "vm/vm_internal.h"

#define NAME_BYTES_MAX 96
#define ENTRIES_MAX    4096u

/* Source: OpenJDK, perfMemory.hpp: a PerfDataPrologue, then entries of some bytes each, with name and value. */
struct perf_fields {
    struct vm_field first, count;             /* of the prologue */
    struct vm_field length, name, type, data; /* of an entry */
};

static bool find_fields(struct perf_fields *out)
{
    *out = (struct perf_fields){
        .first = vm_structs_field("PerfDataPrologue", "entry_offset"),
        .count = vm_structs_field("PerfDataPrologue", "num_entries"),
        .length = vm_structs_field("PerfDataEntry", "entry_length"),
        .name = vm_structs_field("PerfDataEntry", "name_offset"),
        .type = vm_structs_field("PerfDataEntry", "data_type"),
        .data = vm_structs_field("PerfDataEntry", "data_offset"),
    };
    return vm_has(out->first) && vm_has(out->count) && vm_has(out->length) && vm_has(out->name) &&
           vm_has(out->type) && vm_has(out->data);
}

/* Address of the value in this entry; 0 when it is another counter's. */
static vm_addr counter_in(const struct perf_fields *fields, vm_addr entry, const char *wanted,
                          char kind)
{
    const size_t wanted_bytes = strlen(wanted) + 1;
    uint64_t name, type, data;
    char text[NAME_BYTES_MAX];

    if (wanted_bytes > sizeof text || !vm_load_field(entry, fields->name, &name) ||
        !vm_load_field(entry, fields->type, &type) || !vm_load_field(entry, fields->data, &data) ||
        type != (uint64_t)kind ||
        (kind == VM_PERFDATA_NUMBER && (entry + data) % sizeof(uint64_t) != 0) ||
        !safe_load_bytes(text, entry + name, wanted_bytes) ||
        memcmp(text, wanted, wanted_bytes) != 0)
        return 0;
    return entry + data;
}

vm_addr vm_perfdata_find(const char *name, char kind)
{
    const uintptr_t start_static = vm_structs_static("PerfMemory", "_start");
    struct perf_fields fields;
    uintptr_t start;
    uint64_t first, count, length;

    if (start_static == 0 || !find_fields(&fields) || !safe_load_word(start_static, &start) ||
        !vm_load_field(start, fields.first, &first) || !vm_load_field(start, fields.count, &count))
        return 0;

    vm_addr entry = start + first;
    for (uint64_t i = 0; i < count && i < ENTRIES_MAX; i++) {
        const vm_addr found = counter_in(&fields, entry, name, kind);

        if (found != 0)
            return found;
        if (!vm_load_field(entry, fields.length, &length) || length == 0)
            return 0;
        entry += length;
    }
    return 0;
}
