/* The class of an object; handler, but for open. */
#include "vm/vm_object.h"

#include "arch/arch.h"
#include "vm/vm_internal.h"

/* Source: HotSpot, klass.hpp, Klass::primary_super_limit, JDK 8 to 28. */
#define PRIMARY_SUPERS 8

/* Low bits of a mark that is no mark: the collector has written there where the object went.
 * Source: HotSpot, markWord.hpp (markOop.hpp), marked_value. */
#define MARK_BITS     3u
#define MARK_IS_MOVED 3u

enum header {
    HEADER_UNKNOWN,
    HEADER_ADDRESS,    /* Klass* behind the mark */
    HEADER_COMPRESSED, /* number of 32 bits behind the mark */
    HEADER_COMPACT,    /* the same in the upper bits of the mark */
};

static struct {
    enum header header;
    struct vm_field mark, klass, narrow_klass;
    uintptr_t narrow_base;
    uint32_t narrow_shift, compact_shift;
    struct vm_field super_check_offset;
    int32_t primary_supers, secondary_cache; /* offsets */
} layout;

/* True when the flag is set; `fallback` where this JVM has no such flag. */
static bool flag(const char *name, bool fallback)
{
    uint8_t value;
    const uintptr_t addr = vm_structs_flag(name);

    return addr != 0 && safe_load_u8(addr, &value) ? value != 0 : fallback;
}

/* A static word under any of the names that it has had: of the newest JDKs, of 17 and 21, of 8 and 11. */
static bool narrow_word(const char *name_8, const char *name_17, const char *name_25,
                        uintptr_t *addr)
{
    *addr = vm_structs_static("CompressedKlassPointers", name_25);
    if (*addr == 0)
        *addr = vm_structs_static("CompressedKlassPointers", name_17);
    if (*addr == 0)
        *addr = vm_structs_static("Universe", name_8);
    return *addr != 0;
}

static bool find_narrow(void)
{
    uintptr_t base, shift;

    return narrow_word("_narrow_klass._base", "_narrow_klass._base", "_base", &base) &&
           narrow_word("_narrow_klass._shift", "_narrow_klass._shift", "_shift", &shift) &&
           safe_load_word(base, &layout.narrow_base) &&
           safe_load_u32(shift, &layout.narrow_shift) && layout.narrow_shift < 16;
}

static enum header find_header(void)
{
    layout.mark = vm_structs_field("oopDesc", "_mark");
    layout.mark.width = sizeof(uint64_t);
    layout.klass = vm_structs_field("oopDesc", "_metadata._klass");
    layout.klass.width = sizeof(uint64_t);
    /* Source: HotSpot, oop.hpp: from JDK 27 on nothing else can stand there, and it is no union any more. */
    layout.narrow_klass = vm_structs_field("oopDesc", "_metadata._compressed_klass");
    if (!vm_has(layout.narrow_klass))
        layout.narrow_klass = vm_structs_field("oopDesc", "_compressed_klass");
    layout.narrow_klass.width = sizeof(uint32_t);
    layout.compact_shift = (uint32_t)vm_structs_constant("markWord::klass_shift", 0);
    if (flag("UseCompactObjectHeaders", false))
        return vm_has(layout.mark) && layout.compact_shift >= 32 && layout.compact_shift < 64 &&
                       find_narrow()
                   ? HEADER_COMPACT
                   : HEADER_UNKNOWN;
    /* Where the flag is no more, there is nothing else. */
    if (flag("UseCompressedClassPointers", true))
        return vm_has(layout.narrow_klass) && find_narrow() ? HEADER_COMPRESSED : HEADER_UNKNOWN;
    return vm_has(layout.klass) ? HEADER_ADDRESS : HEADER_UNKNOWN;
}

void vm_object_open(void)
{
    const struct vm_field supers = vm_structs_field("Klass", "_primary_supers[0]");
    const struct vm_field cache = vm_structs_field("Klass", "_secondary_super_cache");

    layout.super_check_offset = vm_structs_field("Klass", "_super_check_offset");
    layout.super_check_offset.width = sizeof(uint32_t);
    layout.primary_supers = supers.offset;
    layout.secondary_cache = cache.offset;
    layout.header =
        vm_has(supers) && vm_has(layout.super_check_offset) ? find_header() : HEADER_UNKNOWN;
}

static JW_SIGNAL_SAFE bool super_check_offset(vm_addr klass, int32_t *offset)
{
    uint64_t value;

    if (!vm_is_plausible(klass) || !vm_load_field(klass, layout.super_check_offset, &value))
        return false;
    *offset = (int32_t)value;
    return true;
}

/* A class stands in the list of its own superclasses, at the place that it tells. */
static JW_SIGNAL_SAFE bool stands_at(vm_addr klass, vm_addr in, int32_t offset)
{
    const int32_t place = offset - layout.primary_supers;
    uintptr_t found = 0;

    return place >= 0 && place < PRIMARY_SUPERS * (int32_t)sizeof(void *) &&
           place % (int32_t)sizeof(void *) == 0 && safe_load_word(in + (uintptr_t)offset, &found) &&
           found == klass;
}

/*
 * True of a class. The list ends after eight: of one further down, the last superclass in the list must prove
 * itself, and stand in both lists.
 */
static JW_SIGNAL_SAFE bool is_class(vm_addr klass)
{
    const int32_t last = layout.primary_supers + (PRIMARY_SUPERS - 1) * (int32_t)sizeof(void *);
    int32_t offset;
    uintptr_t super;

    if (!super_check_offset(klass, &offset))
        return false;
    if (offset != layout.secondary_cache || layout.secondary_cache < 0)
        return stands_at(klass, klass, offset);
    return safe_load_word(klass + (uintptr_t)last, &super) && super_check_offset(super, &offset) &&
           offset == last && stands_at(super, super, last);
}

static JW_SIGNAL_SAFE vm_addr widen(uint64_t narrow)
{
    return narrow == 0 ? 0 : layout.narrow_base + ((uintptr_t)narrow << layout.narrow_shift);
}

/* What the header says, unproved. */
static JW_SIGNAL_SAFE vm_addr class_in_header(vm_addr object)
{
    uint64_t word;

    switch (layout.header) {
    case HEADER_ADDRESS:
        return vm_load_field(object, layout.klass, &word) ? (vm_addr)word : 0;
    case HEADER_COMPRESSED:
        return vm_load_field(object, layout.narrow_klass, &word) ? widen(word) : 0;
    case HEADER_COMPACT:
        return vm_load_field(object, layout.mark, &word) && (word & MARK_BITS) != MARK_IS_MOVED
                   ? widen(word >> layout.compact_shift)
                   : 0;
    case HEADER_UNKNOWN:
        break;
    }
    return 0;
}

vm_addr vm_object_class(vm_addr object)
{
    struct vm_text name;

    if (!vm_is_plausible(object))
        return 0;

    const vm_addr klass = class_in_header(object);
    return klass != 0 && is_class(klass) && vm_class_name(klass, &name) ? klass : 0;
}

bool vm_class_name(vm_addr klass, struct vm_text *out)
{
    uint64_t name, length;

    if (!vm_load_field(klass, vm_layout.klass_name, &name) || !vm_is_plausible(name) ||
        !vm_load_field(name, vm_layout.symbol_length, &length) || length == 0)
        return false;
    *out =
        (struct vm_text){(vm_addr)name + (vm_addr)vm_layout.symbol_body.offset, (uint32_t)length};
    return true;
}
