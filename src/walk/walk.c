/* Which walker is in use, and what failed; handler, but for open and the texts. */
#include "walk/walk.h"

#include <stdio.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "walk/walk_internal.h"

/* Set by walk_open before any handler runs. */
static enum walk_walker walker = WALK_WALKER_LIMIT; /* the limit: none */
static char reason[192] = "not opened";
static bool has_other; /* AsyncGetCallTrace is there to take the place of `vm` */

/*
 * The breaker: walks of the batch under way, and those of them that failed. Relaxed: a walk more or less in a
 * batch decides nothing, and each handler may learn a little late that `vm` is given up.
 */
static _Atomic uint32_t batch_walks, batch_failures;
static _Atomic bool is_given_up;

/* Relaxed: figures to show; nothing is read on their account. */
static _Atomic uint64_t failures[WALK_WALKER_LIMIT][WALK_CODE_COUNT][VM_PLACE_LIMIT];

void walk_open(enum walk_walker wanted, const char *vm_reason)
{
    char agct_reason[sizeof reason] = "";

    reason[0] = '\0';
    jw_store_relaxed(&is_given_up, false);
    jw_store_relaxed(&batch_walks, 0);
    jw_store_relaxed(&batch_failures, 0);
    const bool has_agct = walk_agct_open(agct_reason, sizeof agct_reason);
    has_other = has_agct;
    if (wanted == WALK_VM && vm_reason == NULL) {
        walker = WALK_VM;
        return;
    }
    if (wanted == WALK_VM)
        snprintf(reason, sizeof reason, "%s", vm_reason);
    walker = has_agct ? WALK_AGCT : WALK_WALKER_LIMIT;
    if (!has_agct)
        snprintf(reason, sizeof reason, "%s", agct_reason);
}

void walk_open_none(void)
{
    walker = WALK_WALKER_LIMIT;
    snprintf(reason, sizeof reason, "switched off");
}

const char *walk_walker_in_use(char *text, size_t room_bytes)
{
    char guard_reason[sizeof reason];

    const bool is_broken = walker == WALK_VM && jw_load_relaxed(&is_given_up);

    if ((walker == WALK_AGCT || is_broken) &&
        signals_guard_is_off(guard_reason, sizeof guard_reason)) {
        if (text != NULL)
            snprintf(text, room_bytes, "%s", guard_reason);
        return NULL;
    }
    if (text != NULL && is_broken)
        snprintf(text, room_bytes, "more than %u %% of %u walks by vm failed", WALK_BREAK_PCT,
                 WALK_BREAK_WALKS);
    else if (text != NULL)
        snprintf(text, room_bytes, "%s", reason);
    if (is_broken)
        return walk_walker_text(WALK_AGCT);
    return walker == WALK_WALKER_LIMIT ? NULL : walk_walker_text(walker);
}

static JW_SIGNAL_SAFE void note_failure(const struct walk_java_result *result)
{
    const int32_t code = result->code;
    const uint32_t row = code <= 0 && -code < WALK_CODE_COUNT ? (uint32_t)-code : 0;

    jw_count(JW_COUNT_WALK_FAILED);
    jw_add_relaxed(&failures[result->walker][row][result->failed_at], 1);
}

/* A thread without Java frames is no failure. */
static JW_SIGNAL_SAFE void watch(const struct walk_java_result *result)
{
    if (result->frame_count == 0 && result->code != 0)
        jw_add_relaxed(&batch_failures, 1);
    if (jw_add_relaxed(&batch_walks, 1) + 1 < WALK_BREAK_WALKS)
        return;
    if (has_other && jw_load_relaxed(&batch_failures) > WALK_BREAK_WALKS * WALK_BREAK_PCT / 100)
        jw_store_relaxed(&is_given_up, true);
    jw_store_relaxed(&batch_failures, 0);
    jw_store_relaxed(&batch_walks, 0);
}

void walk_java(const void *ucontext, void *env, struct walk_cache *cache,
               struct vm_call_frame *frames, uint32_t depth_max, struct walk_java_result *out)
{
    if (walker == WALK_VM && !jw_load_relaxed(&is_given_up)) {
        walk_java_vm(ucontext, env, cache, frames, depth_max, out);
        watch(out);
    } else {
        walk_java_agct(ucontext, env, frames, depth_max, out);
    }
    if (out->frame_count == 0)
        note_failure(out);
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

const char *walk_walker_text(enum walk_walker of)
{
    static const char *const texts[WALK_WALKER_LIMIT] = {"agct", "vm"};

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
