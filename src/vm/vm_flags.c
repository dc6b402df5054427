/* Reads HotSpot's table of flags; control, dump. */
#include "vm/vm_flags.h"

#include <string.h>

#include "arch/arch.h"
#include "vm/vm_internal.h"

#define FLAGS_MAX   4096
#define TYPE_BYTES  16
#define ORIGIN_MASK 0xf
#define CODE_SIZE   6 /* of MaxHeapSize */
#define CODE_BOOL   0 /* of UseCompressedOops */

struct flags_table {
    vm_addr first;
    uint64_t count;
    size_t entry_bytes;
    struct vm_field name, addr, type, flags;
    bool has_codes; /* of types: numbers, not names */
};

/* Source: HotSpot, jvmFlag.hpp: enum FlagType, in this order since JDK 16; names of types before. */
static const struct {
    const char *name;
    enum vm_flag_kind kind;
    size_t bytes;
} types[] = {
    {"bool", VM_FLAG_BOOL, 1},      {"int", VM_FLAG_INT, 4},       {"uint", VM_FLAG_UINT, 4},
    {"intx", VM_FLAG_LONG, 8},      {"uintx", VM_FLAG_ULONG, 8},   {"uint64_t", VM_FLAG_ULONG, 8},
    {"size_t", VM_FLAG_ULONG, 8},   {"double", VM_FLAG_DOUBLE, 8}, {"ccstr", VM_FLAG_TEXT, 8},
    {"ccstrlist", VM_FLAG_TEXT, 8},
};

/* Source: HotSpot, jvmFlag.hpp (globals.hpp to JDK 10): the lowest bits of _flags; as recordings of the JDK call them. */
static const char *const origins[] = {
    "Default",          "Command line", "Environment variable",
    "Config file",      "Management",   "Ergonomic",
    "Attach on demand", "Internal",     "JImage",
};

/* Source: HotSpot, vmStructs.cpp: the class was called Flag until JDK 10, JVMFlag from 11 on. */
static bool find_table(struct flags_table *out)
{
    const char *type = vm_structs_size("JVMFlag") != 0 ? "JVMFlag" : "Flag";
    const uintptr_t first = vm_structs_static(type, "flags");
    const uintptr_t count = vm_structs_static(type, "numFlags");
    uintptr_t flags;

    *out = (struct flags_table){
        .entry_bytes = vm_structs_size(type),
        .name = vm_structs_field(type, "_name"),
        .addr = vm_structs_field(type, "_addr"),
        .type = vm_structs_field(type, "_type"),
        .flags = vm_structs_field(type, "_flags"),
    };
    if (first == 0 || count == 0 || out->entry_bytes == 0 || !vm_has(out->name) ||
        !vm_has(out->addr) || !vm_has(out->type) || !vm_has(out->flags) ||
        !safe_load_word(first, &flags) || !safe_load_u64(count, &out->count))
        return false;
    out->first = flags;
    out->has_codes = out->type.width == sizeof(uint32_t);
    return true;
}

static bool load_name(const struct flags_table *table, vm_addr entry, char *name)
{
    uintptr_t addr;

    /* The last one has no name. */
    return safe_load_word(entry + (uintptr_t)table->name.offset, &addr) && addr != 0 &&
           safe_load_string(name, VM_FLAG_NAME_BYTES, addr) != SAFE_LOAD_NO_STRING;
}

/* Index into `types`; their count: none of these. */
static size_t type_of(const struct flags_table *table, vm_addr entry)
{
    const vm_addr at = entry + (uintptr_t)table->type.offset;
    char name[TYPE_BYTES];
    uint32_t code = 0;
    uintptr_t addr;
    size_t i = 0;

    if (table->has_codes)
        return safe_load_u32(at, &code) && code < JW_COUNT_OF(types) ? code : JW_COUNT_OF(types);
    if (!safe_load_word(at, &addr) || addr == 0 ||
        safe_load_string(name, sizeof name, addr) == SAFE_LOAD_NO_STRING)
        return JW_COUNT_OF(types);
    while (i < JW_COUNT_OF(types) && strcmp(types[i].name, name) != 0)
        i++;
    return i;
}

/* Numbers of types mean what they meant, by two flags of which that is known. */
static bool are_codes_known(const struct flags_table *table)
{
    static const struct {
        const char *name;
        size_t code;
    } known[] = {{"UseCompressedOops", CODE_BOOL}, {"MaxHeapSize", CODE_SIZE}};
    size_t found = 0;
    char name[VM_FLAG_NAME_BYTES];

    for (uint64_t i = 0; i < table->count && i < FLAGS_MAX; i++) {
        const vm_addr entry = table->first + i * table->entry_bytes;

        if (!load_name(table, entry, name))
            continue;
        for (size_t k = 0; k < JW_COUNT_OF(known); k++)
            found += strcmp(name, known[k].name) == 0 && type_of(table, entry) == known[k].code;
    }
    return found == JW_COUNT_OF(known);
}

/* The table; NULL: this JVM's is not known. Looked for once. */
static const struct flags_table *the_table(void)
{
    static struct flags_table table;
    static bool is_looked_for, is_known;

    if (!is_looked_for) {
        is_looked_for = true;
        is_known = find_table(&table) && (!table.has_codes || are_codes_known(&table));
    }
    return is_known ? &table : NULL;
}

static bool load_number(vm_addr addr, size_t bytes, bool is_signed, uint64_t *out)
{
    uint32_t four;
    uint8_t one;

    if (bytes == sizeof(uint64_t))
        return safe_load_u64(addr, out);
    if (bytes == sizeof one) {
        if (!safe_load_u8(addr, &one))
            return false;
        *out = one;
        return true;
    }
    if (!safe_load_u32(addr, &four))
        return false;
    *out = is_signed ? (uint64_t)(int64_t)(int32_t)four : four;
    return true;
}

static bool load_text(vm_addr addr, struct vm_flag *out)
{
    uintptr_t text;

    if (!safe_load_word(addr, &text))
        return false;
    out->has_text = text != 0;
    return text == 0 || safe_load_string(out->text, sizeof out->text, text) != SAFE_LOAD_NO_STRING;
}

static bool load_value(vm_addr addr, size_t type, struct vm_flag *out)
{
    return types[type].kind == VM_FLAG_TEXT
               ? load_text(addr, out)
               : load_number(addr, types[type].bytes, types[type].kind == VM_FLAG_INT, &out->bits);
}

bool vm_flag_at(uint32_t number, struct vm_flag *out)
{
    const struct flags_table *table = the_table();
    uint32_t flags;
    uintptr_t addr;

    *out = (struct vm_flag){.kind = VM_FLAG_UNTOLD};
    if (table == NULL || number >= table->count || number >= FLAGS_MAX)
        return false;

    const vm_addr entry = table->first + number * table->entry_bytes;
    const size_t type = type_of(table, entry);
    if (!load_name(table, entry, out->name) || type == JW_COUNT_OF(types) ||
        !safe_load_u32(entry + (uintptr_t)table->flags.offset, &flags) ||
        (flags & ORIGIN_MASK) >= JW_COUNT_OF(origins) ||
        !safe_load_word(entry + (uintptr_t)table->addr.offset, &addr) || addr == 0 ||
        !load_value(addr, type, out))
        return true;
    out->kind = types[type].kind;
    out->origin = origins[flags & ORIGIN_MASK];
    return true;
}

bool vm_flag_find(const char *name, struct vm_flag *out)
{
    for (uint32_t i = 0; vm_flag_at(i, out); i++)
        if (out->kind != VM_FLAG_UNTOLD && strcmp(out->name, name) == 0)
            return true;
    return false;
}

uint64_t vm_flag_number(const char *name, uint64_t fallback)
{
    struct vm_flag flag;

    return vm_flag_find(name, &flag) && flag.kind != VM_FLAG_TEXT && flag.kind != VM_FLAG_DOUBLE
               ? flag.bits
               : fallback;
}
