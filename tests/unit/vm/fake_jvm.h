/* fake_jvm - what a test and its fake libjvm know of each other. */
#ifndef JW_TESTS_UNIT_VM_FAKE_JVM_H
#define JW_TESTS_UNIT_VM_FAKE_JVM_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_ENTRIES_MAX 256

/* Of Thread.tid, as its field id says. */
#define FAKE_THREAD_NUMBER_OFFSET 48

struct fake_jvm {
    void (*reset)(const char *version, bool with_eetop);
    void (*add_field)(const char *type, const char *field, const char *type_string, bool is_static,
                      uint64_t offset, void *address);
    void (*add_type)(const char *type, uint64_t size_bytes);
    void (*add_int)(const char *name, int32_t value);
    void (*add_long)(const char *name, int64_t value);
    void (*hide_field)(const char *type, const char *field);
    void (*hide_type)(const char *type);
    JavaVM *java_vm;
    jvmtiEnv *jvmti;
};

#endif
