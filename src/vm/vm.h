/*
 * vm - the one room that knows HotSpot's insides.
 *
 * For      finding AsyncGetCallTrace, reading methods and code blobs out of JVM memory, and telling
 *          what the JVM is.
 * Callers  walk, sampler (handler parts); recording (loaders, line tables); agent (open, hooks).
 * Context  vm_open: control, in the live phase, with faults owned (signals_own_faults). vm_method_*, vm_code_*, vm_stub_find: handler.
 *          vm_stub_*, vm_class_*: hook. vm_info_*: control, dump.
 * Memory   the layout is filled once by vm_open and constant from then on.
 *
 * Every offset comes from the JVM's own tables (vm_structs.h); what cannot be had there is decided
 * at start by trying it on something known. Reads of JVM memory in a handler go through safe_load_*.
 */
#ifndef JW_VM_VM_H
#define JW_VM_VM_H

#include <jni.h>
#include <jvmti.h>

#include "base/jw.h"

typedef uintptr_t vm_addr; /* an address in JVM memory: only safe_load_* reads through it */

/* Source: HotSpot, forte.cpp (AsyncGetCallTrace has no header of its own). Between the two members that
 * it fills lie four bytes that it never touches. */
struct vm_call_frame {
    jint bci;         /* -3: native method */
    uint32_t kind;    /* enum jw_frame_kind, by our own walker alone */
    jmethodID method; /* the Method* itself, by our own walker */
};
_Static_assert(offsetof(struct vm_call_frame, method) == 8 && sizeof(struct vm_call_frame) == 16,
               "AsyncGetCallTrace lays its frames out otherwise");
struct vm_call_trace {
    JNIEnv *env;
    jint frame_count; /* <= 0: a failure code */
    struct vm_call_frame *frames;
};
typedef void (*vm_async_get_call_trace)(struct vm_call_trace *trace, jint depth, void *ucontext);

/* Resolves all that the other functions need. False: this JVM cannot be profiled, `err` says why. */
JW_MUST_CHECK bool vm_open(JavaVM *java_vm, jvmtiEnv *jvmti, struct jw_error *err);

/* Whether hooks may use what vm_open found out. Context: hook, control. */
bool vm_is_open(void);

JW_SIGNAL_SAFE int vm_major_version(void); /* 8, 17, 25 ... */
JW_SIGNAL_SAFE vm_async_get_call_trace
vm_agct(void); /* NULL: the Java walker is off; vm_agct_reason says why */
const char *vm_agct_reason(void);
bool vm_text_range(uintptr_t *begin, uintptr_t *end); /* machine code of libjvm */
JW_SIGNAL_SAFE uint32_t vm_unsigned5_bias(void); /* X of the UNSIGNED5 code: 0 to JDK 17, 1 later */

/* The JVM's own line about itself, "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (...),
 * built on ..."; NULL when it has none. */
const char *vm_info_line(void);

/* A Java thread as JVMTI shows it: its JNIEnv and its thread id; false when it has ended.
 * Context: control, dump, hook; `jni` is the caller's. */
bool vm_java_thread(JNIEnv *jni, jobject thread, void **env, uint32_t *tid);

/*
 * Tries vm_java_thread on the calling thread, whose JNIEnv and tid are known. False: what it says of
 * others cannot be trusted on this JVM, so from now on it gives no JNIEnv (NULL), and threads that were
 * there before us are sampled without their Java frames.
 */
JW_MUST_CHECK bool vm_check_java_thread(JNIEnv *jni, jobject calling_thread);

/* Thread.getId() without calling Java; 0 when unknown. */
uint64_t vm_java_thread_id(JNIEnv *jni, jobject thread);
jfieldID vm_java_thread_id_field(void); /* NULL when unknown */

#endif
