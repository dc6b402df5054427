/* What the colours of ZGC's words mean; control, handler. */
#include "vm/vm_colour.h"

#include "vm/vm_internal.h"

/* 0: there is no such word. */
static vm_addr word_of_z(vm_addr globals, const char *name)
{
    struct vm_field field = vm_structs_field("ZGlobalsForVMStructs", name);
    uint64_t word;

    field.width = sizeof word;
    return vm_load_field(globals, field, &word) ? word : 0;
}

static bool flag(const char *name, bool fallback)
{
    const uintptr_t addr = vm_structs_flag(name);
    uint8_t value;

    return addr != 0 && safe_load_u8(addr, &value) ? value != 0 : fallback;
}

/*
 * Source: OpenJDK, vmStructs_z.hpp; the words exist without ZGC, too, and mean nothing. The one without generations (the only one up to
 * JDK 20, an option up to 23) maps the heap once for each colour, so that a coloured address is one (zAddress.inline.hpp, ZAddress::is_bad).
 */
bool vm_colour_find(struct vm_colour *out)
{
    const uintptr_t instance = vm_structs_static("ZGlobalsForVMStructs", "_instance_p");
    uint64_t globals;

    *out = (struct vm_colour){0};
    if (!flag("UseZGC", false) || instance == 0 || !safe_load_u64(instance, &globals))
        return false;
    if (vm_has(vm_structs_field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask")) &&
        flag("ZGenerational", true)) {
        out->bad_bits = word_of_z(globals, "_ZPointerLoadBadMask");
        out->shift = word_of_z(globals, "_ZPointerLoadShift");
        return out->bad_bits != 0 && out->shift != 0;
    }
    if (vm_has(vm_structs_field("ZGlobalsForVMStructs", "_ZAddressBadMask")))
        out->bad_bits = word_of_z(globals, "_ZAddressBadMask");
    return out->bad_bits != 0;
}

/* Source: OpenJDK, zAddress.inline.hpp, ZPointer::is_load_bad and uncolor, of generations (JDK 21 and later). */
bool vm_uncolour(const struct vm_colour *colour, uint64_t *word)
{
    uint64_t bad_bits, shift;

    if (colour->bad_bits == 0)
        return true;
    if (!safe_load_u64(colour->bad_bits, &bad_bits) || (*word & bad_bits) != 0)
        return false;
    if (colour->shift == 0)
        return true;
    if (!safe_load_u64(colour->shift, &shift) || shift >= 64)
        return false;
    *word >>= shift;
    return true;
}
