/*
 * walk - from a signal's register state to a list of frames.
 *
 * For      one result type for every way of walking a stack.
 * Callers  sampler.
 * Context  walk_java, walk_native: handler. walk_open: control. walk_failure_*: any.
 * Memory   frames go to scratch space of the caller; counts are static.
 *
 * The Java walker here is AsyncGetCallTrace. It is called with the signal's own context first. When it
 * cannot tell where it is (a generated stub, a vtable stub, the first or last instructions of a compiled
 * method, a leaf C function that compiled code called), the registers are stepped to the caller on a
 * *copy* of the context, which is handed to it instead: three times at the most. The context of the
 * sampled thread and JVM memory are never written.
 */
#ifndef JW_WALK_WALK_H
#define JW_WALK_WALK_H

#include "base/frame.h"
#include "vm/vm_code.h"

#define WALK_DEPTH_MAX        2048u
#define WALK_NATIVE_DEPTH_MAX 128u

/* Beyond the codes of AsyncGetCallTrace, 0 to -10. */
#define WALK_CODE_FAULT (-11)
#define WALK_CODE_OFF   (-12)
#define WALK_CODE_COUNT 13

struct walk_java_result {
    uint32_t frame_count; /* 0: failed, `code` says how */
    int32_t code;         /* 0, or minus the failure code of the first try */
    bool is_truncated;
    bool is_mended;              /* complete only after a retry on a mended copy */
    enum vm_place place;         /* what the signal's pc was in */
    uintptr_t stub_pc;           /* begin of the stub that was stepped over; 0: none */
    enum jw_frame_kind top_kind; /* tier of the first frame */
};

/* Looks up the walker; with `use_agct` false, or where it is not sound, Java stacks are not walked. */
void walk_open(bool use_agct);
/* Why Java stacks are not walked, into `text`; false while they are. Context: control, dump. */
bool walk_is_off(char *text, size_t room_bytes);

/* Walks the Java stack of this thread, whose JNIEnv* is `env`, into `frames`. */
JW_SIGNAL_SAFE void walk_java(const void *ucontext, void *env, struct vm_call_frame *frames,
                              uint32_t depth_max, struct walk_java_result *out);

/*
 * Program counters of native frames, innermost first, until the code cache (whose first pc is not
 * included) or the end of the stack. Returns how many.
 */
JW_SIGNAL_SAFE uint32_t walk_native(const void *ucontext, uintptr_t *pcs, uint32_t depth_max);

/* The mark that stands in a stack for a failure code. */
JW_SIGNAL_SAFE enum jw_mark walk_mark_of(int32_t code);

/* Samples whose Java stack failed so, in such a place, since the process started. */
uint64_t walk_failures(int32_t code, enum vm_place place);
const char *walk_code_text(int32_t code);

#endif
