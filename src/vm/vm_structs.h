/*
 * vm_structs - the tables in which HotSpot tells where its fields lie.
 *
 * For      every offset that this project uses; none is written down as a number.
 * Callers  vm.
 * Context  vm_structs_*: control. The fields that they fill are constant afterwards.
 * Memory   none: the tables are the JVM's own.
 *
 * Source: OpenJDK, src/hotspot/share/runtime/vmStructs.hpp: gHotSpotVMStructs, gHotSpotVMTypes and
 * gHotSpotVM{Int,Long}Constants with their entry offsets and strides, exported since JDK 8.
 */
#ifndef JW_VM_VM_STRUCTS_H
#define JW_VM_VM_STRUCTS_H

#include "base/jw.h"

/* Where a field lies in its object, and how many bytes it has. */
struct vm_field {
    int32_t offset; /* -1: this JVM has no such field */
    uint8_t width;  /* 1, 2, 4, 8; 0: not a number (a struct) */
};

#define VM_NO_FIELD ((struct vm_field){-1, 0})

/* Finds the tables in the library `libjvm` (a dlopen handle); false when it exports none. */
JW_MUST_CHECK bool vm_structs_open(void *libjvm, struct jw_error *err);

/* A field of an object; VM_NO_FIELD where the JVM has none of that name. */
struct vm_field vm_structs_field(const char *type, const char *field);

/* Address of a static field; 0 where there is none. */
uintptr_t vm_structs_static(const char *type, const char *field);

/* Size of a type in bytes; 0 where there is none. */
size_t vm_structs_size(const char *type);

/* A constant of either table; `fallback` where there is none. */
int64_t vm_structs_constant(const char *name, int64_t fallback);

/* Address of the value of a flag of the JVM, "UseCompressedOops"; 0 where there is no such flag. */
uintptr_t vm_structs_flag(const char *name);

JW_SIGNAL_SAFE static inline bool vm_has(struct vm_field field)
{
    return field.offset >= 0;
}

#endif
