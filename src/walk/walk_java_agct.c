/* Java stacks through AsyncGetCallTrace, mended on a copy of the context; handler, but for open and
 * the texts. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"
#include "walk/walk_internal.h"

/* Steps to a caller before giving up: a stub called by a stub called in a prologue is the longest
 * chain that was seen. */
#define RETRIES_MAX 3

static bool is_on; /* set by walk_open before any handler runs */
static const char *off_reason = "not opened";
static uintptr_t jvm_text_begin, jvm_text_end;

/* Relaxed: figures to show; nothing is read on their account. */
static _Atomic uint64_t failures[WALK_CODE_COUNT][VM_PLACE_LIMIT];

void walk_open(bool use_agct)
{
    is_on = false;
    if (!use_agct) {
        off_reason = "switched off by cstack=no";
    } else if (vm_agct() == NULL) {
        off_reason = vm_agct_reason();
    } else if (!vm_text_range(&jvm_text_begin, &jvm_text_end)) {
        off_reason = "the code of libjvm was not found, so a fault in it could not be contained";
    } else {
        off_reason = "";
        is_on = true;
    }
}

bool walk_is_off(char *text, size_t room_bytes)
{
    if (is_on)
        return signals_guard_is_off(text, room_bytes);
    snprintf(text, room_bytes, "%s", off_reason);
    return true;
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

static JW_SIGNAL_SAFE enum vm_place place_of(uintptr_t pc, struct vm_blob *blob,
                                             const struct vm_stub **stub)
{
    *stub = NULL;
    if (!vm_code_contains(pc))
        return VM_PLACE_NATIVE;

    *stub = vm_stub_find(pc);
    if (!vm_code_find(pc, blob)) {
        memset(blob, 0, sizeof *blob);
        return *stub != NULL ? VM_PLACE_STUB : VM_PLACE_UNKNOWN;
    }
    if (*stub != NULL && (*stub)->kind == VM_STUB_VTABLE)
        return VM_PLACE_VTABLE_STUB;
    return blob->place;
}

/* Enough to tell the tier of a frame that was found, without looking at the blob: half of what a
 * sample of compiled code would otherwise touch. */
static JW_SIGNAL_SAFE enum vm_place quick_place_of(uintptr_t pc)
{
    if (!vm_code_contains(pc))
        return VM_PLACE_NATIVE;
    return vm_code_is_interpreter(pc) ? VM_PLACE_INTERPRETER : VM_PLACE_NMETHOD;
}

/*
 * Steps `regs` to the caller of the code at its pc. False when no rule applies.
 * The result's pc is a return address; AsyncGetCallTrace looks up the instruction that ends behind
 * the pc it is given, so one is taken off where the caller is compiled.
 */
static JW_SIGNAL_SAFE bool step(enum vm_place place, const struct vm_blob *blob,
                                const struct vm_stub *stub, struct arch_regs *regs)
{
    switch (place) {
    case VM_PLACE_VTABLE_STUB:
    case VM_PLACE_ADAPTER:
        return arch_step_from_entry(regs);
    case VM_PLACE_STUB:
        if (stub == NULL)
            return arch_step_from_entry(regs);
        return arch_step_stub(regs, stub->begin, stub->setup_offset, stub->end);
    case VM_PLACE_NMETHOD:
    case VM_PLACE_NATIVE_WRAPPER:
        if (blob->frame_complete_offset < 0 || blob->frame_size_words <= 0)
            return false;
        return arch_step_compiled_edge(regs, blob->code_begin, blob->code_end,
                                       (size_t)blob->frame_complete_offset,
                                       (size_t)blob->frame_size_words);
    case VM_PLACE_RUNTIME_STUB:
        return stub != NULL && arch_step_stub(regs, stub->begin, stub->setup_offset, stub->end);
    case VM_PLACE_NATIVE:
        return walk_native_to_code_cache(regs);
    case VM_PLACE_INTERPRETER:
    case VM_PLACE_UNKNOWN:
    case VM_PLACE_LIMIT:
        return false;
    }
    return false;
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

static JW_SIGNAL_SAFE void note_failure(int32_t code, enum vm_place place)
{
    const uint32_t row = code <= 0 && -code < WALK_CODE_COUNT ? (uint32_t)-code : 0;

    jw_add_relaxed(&failures[row][place], 1);
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
        const enum vm_place place = place_of(regs.pc, &blob, &stub);
        const uintptr_t before_sp = regs.sp;

        if (!step(place, &blob, stub, &regs) || regs.sp < before_sp || !vm_code_contains(regs.pc))
            return false;
        if (retry == 0 && (place == VM_PLACE_STUB || place == VM_PLACE_VTABLE_STUB ||
                           place == VM_PLACE_ADAPTER || place == VM_PLACE_RUNTIME_STUB))
            out->stub_pc = stub != NULL ? stub->begin : 0;

        struct arch_regs given = regs;
        const enum vm_place caller = place_of(regs.pc, &blob, &stub);
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
        !step(blob.place, &blob, NULL, &regs) || !vm_code_contains(regs.pc))
        return false;
    out->is_mended = mend(ucontext, trace, depth_max, out);
    return out->is_mended;
}

void walk_java(const void *ucontext, void *env, struct vm_call_frame *frames, uint32_t depth_max,
               struct walk_java_result *out)
{
    struct vm_call_trace trace = {.env = env, .frames = frames};
    struct arch_regs regs;
    struct vm_blob blob;
    const struct vm_stub *stub;

    memset(out, 0, sizeof *out);
    arch_regs_read(ucontext, &regs);
    out->place = quick_place_of(regs.pc);
    out->top_kind = kind_of(out->place);

    if (is_on && out->place == VM_PLACE_NMETHOD &&
        walk_from_edge(ucontext, &trace, depth_max, out)) {
        out->is_truncated = out->frame_count >= depth_max;
        return;
    }
    /* AsyncGetCallTrace takes the context as writable but only reads it. */
    const int32_t count =
        is_on ? try_agct(&trace, depth_max, (void *)(uintptr_t)ucontext) : WALK_CODE_OFF;
    if (count > 0) {
        out->frame_count = (uint32_t)count;
    } else {
        out->code = count;
        out->place = place_of(regs.pc, &blob, &stub);
        if (is_mendable(count) && mend(ucontext, &trace, depth_max, out)) {
            out->is_mended = true;
            jw_count(JW_COUNT_WALK_RECOVERED);
        }
    }
    out->is_truncated = out->frame_count >= depth_max;
    if (out->frame_count == 0) {
        jw_count(JW_COUNT_WALK_FAILED);
        note_failure(out->code, out->place);
    }
}

enum jw_mark walk_mark_of(int32_t code)
{
    /* marks.def begins with the failure codes in their order. */
    return code <= 0 && -code < WALK_CODE_COUNT ? (enum jw_mark) - code : JW_MARK_UNKNOWN_STATE;
}

uint64_t walk_failures(int32_t code, enum vm_place place)
{
    return code <= 0 && -code < WALK_CODE_COUNT && place < VM_PLACE_LIMIT
               ? jw_load_relaxed(&failures[-code][place])
               : 0;
}

const char *walk_code_text(int32_t code)
{
    static const char *const texts[WALK_CODE_COUNT] = {
        "no Java frame",
        "class load events are off",
        "GC is active",
        "unknown frame, not in Java",
        "not walkable, not in Java",
        "unknown frame, in Java",
        "not walkable, in Java",
        "unknown thread state",
        "thread is exiting",
        "deoptimizing",
        "at a safepoint",
        "fault inside AsyncGetCallTrace",
        "the Java walker is off",
    };

    return code <= 0 && -code < WALK_CODE_COUNT ? texts[-code] : "unknown";
}
