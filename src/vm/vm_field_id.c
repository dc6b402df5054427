/* Offsets from ids of fields, and back; control, hook. */
#include "vm/vm_field_id.h"

#include "vm/vm_internal.h"

#define OF_OBJECTS   2u
#define WITH_HASH    1u
#define SMALL_OFFSET 0x7fu

/* Objects with declared fields are smaller by far; what is larger is an address. */
#define OFFSET_MAX (1 << 16)

uint32_t vm_field_id_bits_of(int major)
{
    return major >= 28 ? VM_FIELD_ID_BITS_MIN + 1 : VM_FIELD_ID_BITS_MIN;
}

int32_t vm_offset_of_field(jfieldID id)
{
    const uintptr_t marks = ((uintptr_t)1 << vm_layout.field_id_bits) - 1;
    const uintptr_t bits = (uintptr_t)id;
    uintptr_t offset = bits >> vm_layout.field_id_bits;

    if ((bits & WITH_HASH) != 0)
        offset &= SMALL_OFFSET;
    return (bits & marks & ~(uintptr_t)WITH_HASH) == OF_OBJECTS && offset < OFFSET_MAX
               ? (int32_t)offset
               : -1;
}

jfieldID vm_field_id_at(int32_t offset)
{
    return (jfieldID)(((uintptr_t)offset << vm_layout.field_id_bits) | OF_OBJECTS);
}
