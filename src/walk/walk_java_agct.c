/* Java stacks through AsyncGetCallTrace, mended on a copy of the context; handler, but for open. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "vm/vm_continuation.h"
#include "vm/vm_nmethod.h"
#include "vm/vm_thread.h"
#include "walk/walk_internal.h"

/* Steps to a caller before giving up: a stub called by a stub called in a prologue is the longest
 * chain that was seen. */
#define RETRIES_MAX 3

/* Words that code of C1 pushes at most; seen: 2. */
#define PUSHED_WORDS_MAX 4

static bool is_on; /* set by walk_agct_open before any handler runs */
static uintptr_t jvm_text_begin, jvm_text_end;

bool walk_agct_open(char *reason, size_t room_bytes)
{
    is_on = false;
    if (vm_agct() == NULL)
        snprintf(reason, room_bytes, "%s", vm_agct_reason());
    else if (!vm_text_range(&jvm_text_begin, &jvm_text_end))
        snprintf(reason, room_bytes,
                 "the code of libjvm was not found, so a fault in it could not be contained");
    else
        is_on = true;
    return is_on;
}

static JW_SIGNAL_SAFE void call_agct(void *trace, intptr_t depth, void *ucontext)
{
    vm_agct()(trace, (jint)depth, ucontext);
}

/* Frames of one try; <= 0: its failure code. */
static JW_SIGNAL_SAFE int32_t try_agct(struct vm_call_trace *trace, uint32_t depth_max,
                                       void *ucontext)
{
    trace->frame_count = 0;
    switch (signals_call_guarded(call_agct, trace, (intptr_t)depth_max, ucontext, jvm_text_begin,
                                 jvm_text_end)) {
    case SIGNALS_CALL_DONE:
        return trace->frame_count;
    case SIGNALS_CALL_FAULTED:
        return WALK_CODE_FAULT;
    case SIGNALS_CALL_REFUSED:
        return WALK_CODE_OFF;
    }
    return WALK_CODE_OFF;
}

static JW_SIGNAL_SAFE enum jw_frame_kind kind_of(enum vm_place place)
{
    return place == VM_PLACE_INTERPRETER ? JW_FRAME_INTERPRETED : JW_FRAME_COMPILED;
}

/* Failures that say: this thread runs Java code, but at a place that has no frame to start from. */
static JW_SIGNAL_SAFE bool is_mendable(int32_t code)
{
    return code == -5 || code == -6;
}

/* Walks again from ever further out; true when one try gave frames. */
static JW_SIGNAL_SAFE bool mend(const void *ucontext, struct vm_call_trace *trace,
                                uint32_t depth_max, struct walk_java_result *out)
{
    struct arch_context copy;
    struct arch_regs regs;
    struct vm_blob blob;
    const struct vm_stub *stub;

    arch_regs_read(ucontext, &regs);
    for (int retry = 0; retry < RETRIES_MAX; retry++) {
        const enum vm_place place = walk_place_of(regs.pc, &blob, &stub);
        const uintptr_t before_sp = regs.sp;

        if (!walk_step(place, &blob, stub, &regs) || regs.sp < before_sp ||
            !vm_code_contains(regs.pc))
            return false;
        if (retry == 0 && (place == VM_PLACE_STUB || place == VM_PLACE_VTABLE_STUB ||
                           place == VM_PLACE_ADAPTER || place == VM_PLACE_RUNTIME_STUB))
            out->stub_pc = stub != NULL ? stub->begin : 0;

        struct arch_regs given = regs;
        const enum vm_place caller = walk_place_of(regs.pc, &blob, &stub);
        if (caller == VM_PLACE_NMETHOD || caller == VM_PLACE_NATIVE_WRAPPER)
            given.pc--;
        arch_context_copy(&copy, ucontext);
        arch_regs_write(&copy, &given);
        jw_count(JW_COUNT_WALK_RETRIES);
        const int32_t count = try_agct(trace, depth_max, copy.bytes);
        if (count > 0) {
            out->frame_count = (uint32_t)count;
            out->top_kind = kind_of(caller);
            return true;
        }
        if (!is_mendable(count))
            return false;
    }
    return false;
}

/*
 * In the last instructions of a compiled method its frame is gone, but AsyncGetCallTrace takes it to be
 * there: whatever lies where the return address would be is then shown as the caller, if it looks like
 * one. So such a sample begins at the caller. False where the pc is at no such place.
 */
static JW_SIGNAL_SAFE bool walk_from_edge(const void *ucontext, struct vm_call_trace *trace,
                                          uint32_t depth_max, struct walk_java_result *out)
{
    struct arch_regs regs;
    struct vm_blob blob;

    arch_regs_read(ucontext, &regs);
    if (!vm_code_find(regs.pc, &blob) || blob.place != VM_PLACE_NMETHOD ||
        !walk_step(blob.place, &blob, NULL, &regs) || !vm_code_contains(regs.pc))
        return false;
    out->is_mended = mend(ucontext, trace, depth_max, out);
    return out->is_mended;
}

/* Native code that compiled code has called as a leaf is left for it. False: it was called otherwise. */
static JW_SIGNAL_SAFE bool leave_leaf(void *env, struct arch_regs *regs)
{
    struct vm_thread_state state;
    struct vm_blob blob;
    const struct vm_stub *stub;

    return vm_thread_state(env, &state) && state.place == VM_THREAD_IN_JAVA &&
           walk_step(walk_place_of(regs->pc, &blob, &stub), &blob, stub, regs);
}

/*
 * Bytes that code of C1 has pushed on its frame, to have registers free for a check of types. It keeps the frame pointer of
 * its caller, which the frame has below its return address: so the frame is where that is. 0: none, or not known, as in
 * code of C2, which has other things in that register.
 */
static JW_SIGNAL_SAFE size_t pushed_bytes(const struct vm_blob *blob, const struct arch_regs *regs)
{
    const size_t frame_bytes = vm_code_frame_bytes(blob->blob);
    /* Frame pointer and return address, where they are with nothing pushed, and on. */
    uintptr_t words[2 + PUSHED_WORDS_MAX];

    if (frame_bytes < 2 * sizeof *words ||
        !safe_load_bytes(words, regs->sp + frame_bytes - 2 * sizeof *words, sizeof words))
        return 0;
    for (size_t pushed = 0; pushed <= PUSHED_WORDS_MAX; pushed++)
        if (words[pushed] == regs->fp && vm_code_contains(words[pushed + 1]))
            return pushed * sizeof *words;
    return 0;
}

/* The same of all registers. */
static JW_SIGNAL_SAFE size_t pushed_all_bytes(const struct vm_blob *blob,
                                              const struct arch_regs *regs)
{
    const size_t frame_bytes = vm_code_frame_bytes(blob->blob);
    const size_t bytes = vm_computes_by_x87() ? arch_pushed_all_bytes(regs->sp, regs->fp) : 0;
    uintptr_t words[2]; /* frame pointer and return address */

    return bytes != 0 && frame_bytes >= sizeof words &&
                   safe_load_bytes(words, regs->sp + bytes + frame_bytes - sizeof words,
                                   sizeof words) &&
                   words[0] == regs->fp && vm_code_contains(words[1])
               ? bytes
               : 0;
}

/*
 * Where compiled code has pushed registers on its frame, for a check of types or for a barrier's call of the JVM,
 * AsyncGetCallTrace takes the frame to end there, and shows what an earlier call has left as the caller. So it gets the
 * frame without them. False where nothing is saved.
 */
static JW_SIGNAL_SAFE bool walk_from_saved(const void *ucontext, void *env,
                                           struct vm_call_trace *trace, uint32_t depth_max,
                                           struct walk_java_result *out)
{
    struct arch_context copy;
    struct arch_regs regs;
    struct vm_blob blob;

    arch_regs_read(ucontext, &regs);
    if ((out->place != VM_PLACE_NMETHOD && !leave_leaf(env, &regs)) ||
        !vm_code_find(regs.pc, &blob) || blob.place != VM_PLACE_NMETHOD)
        return false;
    size_t saved_bytes = pushed_all_bytes(&blob, &regs);
    if (saved_bytes == 0)
        saved_bytes = arch_saved_bytes(regs.pc, blob.code_end);
    if (saved_bytes == 0)
        saved_bytes = pushed_bytes(&blob, &regs);
    if (saved_bytes == 0)
        return false;
    regs.sp += saved_bytes;
    arch_context_copy(&copy, ucontext);
    arch_regs_write(&copy, &regs);
    jw_count(JW_COUNT_WALK_RETRIES);
    const int32_t count = try_agct(trace, depth_max, copy.bytes);
    if (count <= 0)
        return false;
    out->frame_count = (uint32_t)count;
    out->top_kind = JW_FRAME_COMPILED;
    out->is_mended = true;
    return true;
}

/* At places where AsyncGetCallTrace, asked as it is meant to be, gives a false caller. */
static JW_SIGNAL_SAFE bool walk_mended(const void *ucontext, void *env, struct vm_call_trace *trace,
                                       uint32_t depth_max, struct walk_java_result *out)
{
    return (out->place == VM_PLACE_NMETHOD && walk_from_edge(ucontext, trace, depth_max, out)) ||
           ((out->place == VM_PLACE_NMETHOD || out->place == VM_PLACE_NATIVE) &&
            walk_from_saved(ucontext, env, trace, depth_max, out));
}

/* Seldom AsyncGetCallTrace ends, as if all were told, before it comes to where frames lie in the heap. */
static JW_SIGNAL_SAFE void mark_early_end(void *env, uintptr_t sp, struct vm_call_frame *frames,
                                          struct walk_java_result *out)
{
    struct vm_thread thread;

    if (out->is_truncated || !vm_thread_of(env, &thread) || !vm_continuation_is_above(&thread, sp))
        return;
    frames[out->frame_count++] = (struct vm_call_frame){.method = walk_of_mark(JW_MARK_FROZEN)};
    out->is_virtual = out->is_frozen = true;
}

/*
 * Behind the entry of a virtual thread stand the frames of its carrier. Where frames of the thread lie in the heap they are not
 * given, and so neither is the outermost one.
 */
static JW_SIGNAL_SAFE void part_from_carrier(void *env, uintptr_t sp, struct vm_call_frame *frames,
                                             uint32_t depth_max, bool with_carrier,
                                             struct walk_java_result *out)
{
    const jmethodID border = vm_continuation_border();
    uint32_t at = 0;

    if (border == NULL || out->frame_count == 0)
        return;
    while (at < out->frame_count && frames[at].method != border)
        at++;
    if (at == 0)
        return; /* none of its frames is there: these are the carrier's own */
    if (at >= out->frame_count) {
        mark_early_end(env, sp, frames, out);
        return;
    }
    out->is_virtual = true;
    out->is_frozen = frames[at - 1].method != vm_continuation_entry();
    if (out->is_frozen) {
        out->frame_count += out->frame_count < depth_max ? 1 : 0;
        for (uint32_t i = out->frame_count - 1; i > at; i--)
            frames[i] = frames[i - 1];
        frames[at++] = (struct vm_call_frame){.method = walk_of_mark(JW_MARK_FROZEN)};
    }
    if (with_carrier && at < out->frame_count) {
        frames[at] = (struct vm_call_frame){.method = walk_of_mark(JW_MARK_CARRIER)};
    } else {
        out->frame_count = at;
        out->is_truncated = false;
    }
}

void walk_java_agct(const void *ucontext, void *env, bool with_carrier,
                    struct vm_call_frame *frames, uint32_t depth_max, struct walk_java_result *out)
{
    struct vm_call_trace trace = {.env = env, .frames = frames};
    struct arch_regs regs;
    struct vm_blob blob;
    const struct vm_stub *stub;

    memset(out, 0, sizeof *out);
    out->walker = WALK_AGCT;
    arch_regs_read(ucontext, &regs);
    out->place = walk_quick_place_of(regs.pc);
    out->top_kind = kind_of(out->place);

    if (is_on && walk_mended(ucontext, env, &trace, depth_max, out)) {
        out->is_truncated = out->frame_count >= depth_max;
        part_from_carrier(env, regs.sp, frames, depth_max, with_carrier, out);
        jw_count(JW_COUNT_WALK_RECOVERED);
        return;
    }
    /* AsyncGetCallTrace takes the context as writable but only reads it. */
    const int32_t count =
        is_on ? try_agct(&trace, depth_max, (void *)(uintptr_t)ucontext) : WALK_CODE_OFF;
    if (count > 0) {
        out->frame_count = (uint32_t)count;
    } else {
        out->code = count;
        out->place = walk_place_of(regs.pc, &blob, &stub);
        if (is_mendable(count) && mend(ucontext, &trace, depth_max, out)) {
            out->is_mended = true;
            jw_count(JW_COUNT_WALK_RECOVERED);
        }
    }
    out->is_truncated = out->frame_count >= depth_max;
    part_from_carrier(env, regs.sp, frames, depth_max, with_carrier, out);
    out->failed_at = out->place;
}
