/* What the colours of ZGC's words mean; control, handler. */
#include "vm/vm_colour.h"

#include "vm/vm_internal.h"

/* 0: there is no such word. */
static vm_addr word_of_z(const char *type, vm_addr globals, const char *name)
{
    struct vm_field field = vm_structs_field(type, name);
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

/* The words of one of the two kinds of ZGC; 0: this JVM has none. */
static vm_addr globals_of(const char *type)
{
    const uintptr_t instance = vm_structs_static(type, "_instance_p");
    uint64_t globals;

    return instance != 0 && safe_load_u64(instance, &globals) ? globals : 0;
}

/*
 * Source: OpenJDK, vmStructs_z.hpp; the words exist without ZGC, too, and mean nothing. The one without generations maps the heap once for each colour, so that a
 * coloured address is one (zAddress.inline.hpp, ZAddress::is_bad). It is the only one up to JDK 20, and an option from 21 to 23, where its words
 * are of another name (vmStructs_x.hpp, xAddress.inline.hpp).
 */
bool vm_colour_find(struct vm_colour *out)
{
    static const char *const z = "ZGlobalsForVMStructs", *const x = "XGlobalsForVMStructs";
    const vm_addr globals = globals_of(z);

    *out = (struct vm_colour){0};
    if (!flag("UseZGC", false) || globals == 0)
        return false;
    if (vm_has(vm_structs_field(z, "_ZPointerLoadBadMask")) && flag("ZGenerational", true)) {
        out->bad_bits = word_of_z(z, globals, "_ZPointerLoadBadMask");
        out->shift = word_of_z(z, globals, "_ZPointerLoadShift");
        return out->bad_bits != 0 && out->shift != 0;
    }
    if (vm_has(vm_structs_field(z, "_ZAddressBadMask")))
        out->bad_bits = word_of_z(z, globals, "_ZAddressBadMask");
    else if (vm_has(vm_structs_field(x, "_XAddressBadMask")))
        out->bad_bits = word_of_z(x, globals_of(x), "_XAddressBadMask");
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
