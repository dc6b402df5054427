/* Walks by the walkers in use, and what failed of them; handler, but for open and the texts. */
#include "walk/walk.h"

#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "thread/thread_tls.h"
#include "unwind/unwind.h"
#include "unwind/unwind_live.h"
#include "walk/walk_breaker.h"
#include "walk/walk_internal.h"

/* Relaxed: figures to show; nothing is read on their account. */
static _Atomic uint64_t failures[WALK_WALKER_LIMIT][WALK_CODE_COUNT][VM_PLACE_LIMIT];
static _Atomic uint64_t faults[WALK_WALKER_LIMIT][VM_PLACE_LIMIT];

void walk_open(enum walk_walker wanted, const char *vm_reason)
{
    char agct_reason[WALK_REASON_BYTES] = "";
    const char *absent[WALK_WALKER_LIMIT] = {
        [WALK_VM] = wanted == WALK_VM ? vm_reason : "",
    };

    if (!walk_agct_open(agct_reason, sizeof agct_reason))
        absent[WALK_AGCT] = agct_reason;
    walk_breaker_open(absent, jw_now_ns());
}

void walk_open_none(void)
{
    const char *absent[WALK_WALKER_LIMIT] = {[WALK_VM] = "", [WALK_AGCT] = "switched off"};

    walk_breaker_open(absent, jw_now_ns());
}

const char *walk_walker_in_use(char *text, size_t room_bytes)
{
    const enum walk_walker walker = walk_breaker_java();

    if (text != NULL)
        (void)walk_breaker_tell(WALK_PART_JAVA, jw_now_ns(), text, room_bytes);
    return walker == WALK_WALKER_LIMIT ? NULL : walk_walker_text(walker);
}

static JW_SIGNAL_SAFE void note_failure(enum walk_walker walker, int32_t code, enum vm_place place)
{
    const uint32_t row = code <= 0 && -code < WALK_CODE_COUNT ? (uint32_t)-code : 0;

    jw_add_relaxed(&failures[walker][row][place], 1);
}

static JW_SIGNAL_SAFE void note_faults(enum walk_walker walker, enum vm_place place, uint32_t count)
{
    if (count != 0)
        jw_add_relaxed(&faults[walker][place], count);
}

bool walk_code_is_bad(int32_t code)
{
    switch (code) {
    case 0: /* no Java frame, and a thread that is about to end */
    case -8:
    case -2: /* the collection ends */
    case WALK_CODE_OFF:
        return false;
    default:
        return true;
    }
}

static JW_SIGNAL_SAFE void walk_none(const void *ucontext, struct walk_java_result *out)
{
    struct arch_regs regs;

    memset(out, 0, sizeof *out);
    arch_regs_read(ucontext, &regs);
    out->code = WALK_CODE_OFF;
    out->place = out->failed_at = walk_quick_place_of(regs.pc);
}

void walk_java(const void *ucontext, void *env, struct walk_cache *cache,
               struct vm_call_frame *frames, uint32_t depth_max, struct walk_java_result *out)
{
    const enum walk_walker walker = walk_breaker_java();
    const uint32_t faults_before = signals_load_faults();

    if (walker == WALK_VM)
        walk_java_vm(ucontext, env, cache, frames, depth_max, out);
    else if (walker == WALK_AGCT)
        walk_java_agct(ucontext, env, cache != NULL && cache->with_carrier, frames, depth_max, out);
    else
        walk_none(ucontext, out);

    const bool has_failed = out->frame_count == 0;
    const uint32_t fault_count = signals_load_faults() - faults_before - out->native_faults;
    if (has_failed) {
        jw_count(JW_COUNT_WALK_FAILED);
        note_failure(out->walker, out->code, out->failed_at);
    }
    note_faults(out->walker, out->place, fault_count);
    note_faults(WALK_NATIVE, VM_PLACE_NATIVE, out->native_faults);
    if (walker != WALK_WALKER_LIMIT && (!has_failed || out->code != WALK_CODE_OFF))
        walk_breaker_count(walker, thread_own_tid(),
                           (has_failed && walk_code_is_bad(out->code)) || fault_count != 0);
}

/* What is missing is told by the result alone. */
static JW_SIGNAL_SAFE void leave_marks_out(struct vm_call_frame *frames,
                                           struct walk_java_result *out)
{
    const uint32_t walked = out->frame_count;

    out->frame_count = 0;
    for (uint32_t i = 0; i < walked; i++)
        if (walk_is_mark(frames[i].method) == JW_MARK_LIMIT)
            frames[out->frame_count++] = frames[i];
}

void walk_for_others(const void *ucontext, void *env, struct vm_call_frame *frames,
                     uint32_t depth_max, struct walk_java_result *out)
{
    walk_java_vm(ucontext, env, NULL, frames, depth_max, out);
    if (out->is_frozen || out->is_moving)
        leave_marks_out(frames, out);
}

/* For a second opinion; of a frame that could not be left `outer_sp` is its own. */
static __attribute__((noinline)) JW_SIGNAL_SAFE void take_copy(const void *ucontext,
                                                               const uintptr_t *pcs, uint32_t count,
                                                               uintptr_t outer_sp,
                                                               enum walk_native_end end)
{
    const struct unwind_ours ours = {
        .pcs = pcs,
        .count = count,
        .outer_sp = outer_sp,
        .is_whole = end == WALK_NATIVE_AT_CODE || end == WALK_NATIVE_AT_ROOT,
        .is_cut = end == WALK_NATIVE_CUT,
    };

    unwind_check_take(ucontext, &ours);
}

uint32_t walk_native(const void *ucontext, enum walk_native_by by, uintptr_t *pcs,
                     uint32_t depth_max, struct walk_landmark *mark, enum walk_native_end *end)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    if (mark != NULL)
        mark->frame = 0;
    *end = vm_code_contains(regs.pc) ? WALK_NATIVE_AT_CODE : WALK_NATIVE_LOST;
    if (*end == WALK_NATIVE_AT_CODE || !walk_breaker_native())
        return 0;
    if (by == WALK_BY_LIBUNWIND && !unwind_live_has_stack(ucontext)) {
        jw_count(JW_COUNT_NATIVE_NOT_BY_LIBUNWIND);
        by = WALK_BY_ROWS;
    }

    const uint32_t faults_before = signals_load_faults();
    const uint32_t count = walk_native_frames(ucontext, &regs, by, pcs, depth_max, mark, end);
    const uint32_t fault_count = signals_load_faults() - faults_before;
    if (fault_count != 0)
        note_failure(WALK_NATIVE, WALK_CODE_UNREADABLE, VM_PLACE_NATIVE);
    note_faults(WALK_NATIVE, VM_PLACE_NATIVE, fault_count);
    walk_breaker_count(WALK_NATIVE, thread_own_tid(), fault_count != 0);
    if (by == WALK_BY_ROWS && unwind_check_wants())
        take_copy(ucontext, pcs, count, regs.sp, *end);
    return count;
}

enum jw_mark walk_mark_of(int32_t code)
{
    /* marks.def begins with the failure codes in their order, those of `vm` all in one. */
    if (code <= 0 && code > WALK_CODE_LOST)
        return (enum jw_mark) - code;
    return code <= 0 && -code < WALK_CODE_COUNT ? JW_MARK_BROKEN_STACK : JW_MARK_UNKNOWN_STATE;
}

uint64_t walk_failures(enum walk_walker of, int32_t code, enum vm_place place)
{
    return of < WALK_WALKER_LIMIT && code <= 0 && -code < WALK_CODE_COUNT && place < VM_PLACE_LIMIT
               ? jw_load_relaxed(&failures[of][-code][place])
               : 0;
}

uint64_t walk_faults(enum walk_walker of, enum vm_place place)
{
    return of < WALK_WALKER_LIMIT && place < VM_PLACE_LIMIT ? jw_load_relaxed(&faults[of][place])
                                                            : 0;
}

const char *walk_walker_text(enum walk_walker of)
{
    static const char *const texts[WALK_WALKER_LIMIT] = {"agct", "vm", "native"};

    return of < WALK_WALKER_LIMIT ? texts[of] : "none";
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
        "return address outside the code of the JVM",
        "return address that the compiler did not describe",
        "interpreted frame without a method",
        "stack pointer outside the stack",
        "stub with an unknown frame",
        "unreadable memory",
        "endless stack",
    };

    return code <= 0 && -code < WALK_CODE_COUNT ? texts[-code] : "unknown";
}
