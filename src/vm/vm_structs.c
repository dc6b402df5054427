/* Reads HotSpot's tables of fields, types and constants; control. */
#include "vm/vm_structs.h"

#include <dlfcn.h>
#include <string.h>

#include "arch/arch.h"

#define FLAGS_MAX       4096
#define FLAG_NAME_BYTES 64

/* A table: its start, the distance of its entries, and where in an entry each column lies. */
struct table {
    const char *first;
    uint64_t stride;
};

static struct table fields, types, int_constants, long_constants;
static uint64_t field_type, field_name, field_type_string, field_is_static, field_offset,
    field_address;
static uint64_t type_name, type_size;
static uint64_t int_name, int_value, long_name, long_value;

static bool find_word(void *libjvm, const char *symbol, uint64_t *out)
{
    const uint64_t *word = dlsym(libjvm, symbol);

    if (word != NULL)
        *out = *word;
    return word != NULL;
}

static bool find_table(void *libjvm, const char *start, const char *stride, struct table *out)
{
    uint64_t first;

    if (!find_word(libjvm, start, &first) || !find_word(libjvm, stride, &out->stride))
        return false;
    out->first = (const char *)(uintptr_t)first;
    return out->first != NULL && out->stride != 0;
}

static const char *text_at(const char *entry, uint64_t offset)
{
    const char *text;

    memcpy(&text, entry + offset, sizeof text);
    return text;
}

static uint64_t word_at(const char *entry, uint64_t offset)
{
    uint64_t word;

    memcpy(&word, entry + offset, sizeof word);
    return word;
}

bool vm_structs_open(void *libjvm, struct jw_error *err)
{
    static const struct {
        const char *symbol;
        uint64_t *out;
    } words[] = {
        {"gHotSpotVMStructEntryTypeNameOffset", &field_type},
        {"gHotSpotVMStructEntryFieldNameOffset", &field_name},
        {"gHotSpotVMStructEntryTypeStringOffset", &field_type_string},
        {"gHotSpotVMStructEntryIsStaticOffset", &field_is_static},
        {"gHotSpotVMStructEntryOffsetOffset", &field_offset},
        {"gHotSpotVMStructEntryAddressOffset", &field_address},
        {"gHotSpotVMTypeEntryTypeNameOffset", &type_name},
        {"gHotSpotVMTypeEntrySizeOffset", &type_size},
        {"gHotSpotVMIntConstantEntryNameOffset", &int_name},
        {"gHotSpotVMIntConstantEntryValueOffset", &int_value},
        {"gHotSpotVMLongConstantEntryNameOffset", &long_name},
        {"gHotSpotVMLongConstantEntryValueOffset", &long_value},
    };

    bool is_whole =
        find_table(libjvm, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", &fields) &&
        find_table(libjvm, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", &types) &&
        find_table(libjvm, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
                   &int_constants) &&
        find_table(libjvm, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
                   &long_constants);
    for (size_t i = 0; is_whole && i < JW_COUNT_OF(words); i++)
        is_whole = find_word(libjvm, words[i].symbol, words[i].out);
    if (!is_whole)
        jw_error_set(err,
                     "this JVM does not export the gHotSpotVM tables; jaywalk profiles HotSpot "
                     "(OpenJDK) JVMs only");
    return is_whole;
}

static const char *find_field(const char *type, const char *field)
{
    for (const char *entry = fields.first; text_at(entry, field_name) != NULL;
         entry += fields.stride) {
        if (strcmp(text_at(entry, field_name), field) == 0 &&
            strcmp(text_at(entry, field_type), type) == 0)
            return entry;
    }
    return NULL;
}

/* Bytes of a number of this C++ type: from the JVM's own table, or by what the name says. */
static uint8_t width_of(const char *type)
{
    static const struct {
        const char *name;
        uint8_t width;
    } known[] = {
        {"u1", 1},      {"u2", 2},       {"u4", 4},       {"u8", 8},       {"int", 4},
        {"uint", 4},    {"bool", 1},     {"char", 1},     {"short", 2},    {"size_t", 8},
        {"int8_t", 1},  {"uint8_t", 1},  {"int16_t", 2},  {"uint16_t", 2}, {"int32_t", 4},
        {"int64_t", 8}, {"uint64_t", 8}, {"uint32_t", 4}, {"jint", 4},     {"jbyte", 1},
    };

    if (type == NULL)
        return 0;
    const size_t length = strlen(type);
    if (length > 0 && type[length - 1] == '*')
        return sizeof(void *);
    for (size_t i = 0; i < JW_COUNT_OF(known); i++) {
        if (strcmp(known[i].name, type) == 0)
            return known[i].width;
    }
    const size_t size_bytes = vm_structs_size(type);
    return size_bytes == 1 || size_bytes == 2 || size_bytes == 4 || size_bytes == 8
               ? (uint8_t)size_bytes
               : 0;
}

struct vm_field vm_structs_field(const char *type, const char *field)
{
    const char *entry = find_field(type, field);
    int32_t is_static;

    if (entry == NULL)
        return VM_NO_FIELD;
    memcpy(&is_static, entry + field_is_static, sizeof is_static);
    if (is_static)
        return VM_NO_FIELD;
    return (struct vm_field){(int32_t)word_at(entry, field_offset),
                             width_of(text_at(entry, field_type_string))};
}

uintptr_t vm_structs_static(const char *type, const char *field)
{
    const char *entry = find_field(type, field);
    int32_t is_static;

    if (entry == NULL)
        return 0;
    memcpy(&is_static, entry + field_is_static, sizeof is_static);
    return is_static ? (uintptr_t)word_at(entry, field_address) : 0;
}

size_t vm_structs_size(const char *type)
{
    for (const char *entry = types.first; text_at(entry, type_name) != NULL;
         entry += types.stride) {
        if (strcmp(text_at(entry, type_name), type) == 0)
            return (size_t)word_at(entry, type_size);
    }
    return 0;
}

int64_t vm_structs_constant(const char *name, int64_t fallback)
{
    for (const char *entry = int_constants.first; text_at(entry, int_name) != NULL;
         entry += int_constants.stride) {
        if (strcmp(text_at(entry, int_name), name) == 0) {
            int32_t value;

            memcpy(&value, entry + int_value, sizeof value);
            return value;
        }
    }
    for (const char *entry = long_constants.first; text_at(entry, long_name) != NULL;
         entry += long_constants.stride) {
        if (strcmp(text_at(entry, long_name), name) == 0)
            return (int64_t)word_at(entry, long_value);
    }
    return fallback;
}

/* Source: HotSpot, vmStructs.cpp: the class was called Flag until JDK 10, JVMFlag from 11 on. */
uintptr_t vm_structs_flag(const char *name)
{
    const char *type = vm_structs_size("JVMFlag") != 0 ? "JVMFlag" : "Flag";
    const size_t size_bytes = vm_structs_size(type);
    const struct vm_field its_name = vm_structs_field(type, "_name");
    const struct vm_field its_addr = vm_structs_field(type, "_addr");
    const uintptr_t first = vm_structs_static(type, "flags");
    const uintptr_t count = vm_structs_static(type, "numFlags");
    char text[FLAG_NAME_BYTES];
    uintptr_t flags, flag_count, addr;

    if (first == 0 || count == 0 || size_bytes == 0 || !vm_has(its_name) || !vm_has(its_addr) ||
        !safe_load_word(first, &flags) || !safe_load_word(count, &flag_count))
        return 0;
    for (uintptr_t i = 0; i < flag_count && i < FLAGS_MAX; i++, flags += size_bytes) {
        if (!safe_load_word(flags + (uintptr_t)its_name.offset, &addr))
            return 0;
        /* The last one has no name. */
        if (addr == 0 || safe_load_string(text, sizeof text, addr) == SAFE_LOAD_NO_STRING ||
            strcmp(text, name) != 0)
            continue;
        return safe_load_word(flags + (uintptr_t)its_addr.offset, &addr) ? addr : 0;
    }
    return 0;
}
