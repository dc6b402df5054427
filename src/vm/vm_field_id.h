/*
 * vm_field_id - ids of fields of objects, as HotSpot spells them.
 *
 * For      fields that are read without JNI, and one that Java does not see, which JNI reads by an id of ours.
 * Callers  vm.
 * Context  control, before any engine runs. vm_field_id_at also: hook.
 * Memory   none.
 *
 * An id is the offset in the object, above two or three bits of which the second says that the field is of an object, no
 * static one. Where the first is set, seven bits of offset are followed by a hash of the class. The third, from JDK 28 on,
 * says that the field's value lies flat in the object. How many bits there are (vm_layout.field_id_bits) is proved by
 * vm_klass_open; where it cannot, they are taken from the version, and whoever uses an offset proves it by what he finds.
 * Source: OpenJDK, jfieldIDWorkaround.hpp; seen in JDK 8 to 27 (two bits) and 28 (three).
 */
#ifndef JW_VM_VM_FIELD_ID_H
#define JW_VM_VM_FIELD_ID_H

#include "vm/vm.h"

#define VM_FIELD_ID_BITS_MIN 2u

uint32_t vm_field_id_bits_of(int major);

/* The offset that an id of JNI's stands for; -1 for one that is spelt otherwise. */
int32_t vm_offset_of_field(jfieldID id);

/* The id that JNI would give a field at this offset. */
jfieldID vm_field_id_at(int32_t offset);

#endif
