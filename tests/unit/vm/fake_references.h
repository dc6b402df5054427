/*
 * fake_references - how a JVM that is made up says how wide references in its heap are: flags and static words, under the names that its JDK has.
 *
 * For      test_vm_string, test_vm_synchronizer.   Context  tool.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_REFERENCES_H
#define JW_TESTS_UNIT_VM_FAKE_REFERENCES_H

#include "unit/vm/fake_memory.h"

#define FAKE_FLAGS_MAX  3u
#define FAKE_FLAG_BYTES 24u
#define FAKE_SHIFT      3

static unsigned char flag_table[FAKE_FLAGS_MAX * FAKE_FLAG_BYTES];
static uintptr_t flags_static = (uintptr_t)flag_table, flag_count;
static uintptr_t narrow_base;
static int32_t narrow_shift = FAKE_SHIFT;

static inline void add_flag(const char *name, bool *value)
{
    unsigned char *flag = flag_table + flag_count++ * FAKE_FLAG_BYTES;

    memcpy(flag + 8, &name, sizeof name);
    memcpy(flag, &value, sizeof value);
}

/* Behind the flags. */
static inline void add_references(void)
{
    const char *const type = fake_jdk == LAYOUT_8 ? "Flag" : "JVMFlag";
    const char *const holder = fake_jdk == LAYOUT_8 ? "Universe" : "CompressedOops";
    const bool is_new = fake_jdk >= LAYOUT_25;

    fake_jvm->add_type(type, FAKE_FLAG_BYTES);
    fake_jvm->add_field(type, "_name", "const char*", false, 8, NULL);
    fake_jvm->add_field(type, "_addr", "", false, 0, NULL);
    fake_jvm->add_field(type, "flags", "JVMFlag*", true, 0, &flags_static);
    fake_jvm->add_field(type, "numFlags", "size_t", true, 0, &flag_count);
    fake_jvm->add_field(holder, is_new ? "_base" : "_narrow_oop._base", "address", true, 0,
                        &narrow_base);
    fake_jvm->add_field(holder, is_new ? "_shift" : "_narrow_oop._shift", "int", true, 0,
                        &narrow_shift);
}

#endif
