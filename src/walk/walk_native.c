/* Native frames by the rules that room symbols prepared; handler. */
#include "base/counters.h"
#include "symbols/symbols.h"
#include "unwind/unwind_live.h"
#include "vm/vm_code.h"
#include "walk/walk.h"
#include "walk/walk_internal.h"

static JW_SIGNAL_SAFE bool place_value(enum symbols_place place, int32_t offset_bytes,
                                       uintptr_t base, uintptr_t cfa, uintptr_t in_register,
                                       uintptr_t *out)
{
    switch (place) {
    case SYMBOLS_PLACE_SAME:
        *out = in_register;
        return true;
    case SYMBOLS_PLACE_AT_CFA:
        return safe_load_word(cfa + (uintptr_t)(intptr_t)offset_bytes, out);
    case SYMBOLS_PLACE_AT_BASE:
        return safe_load_word(base + (uintptr_t)(intptr_t)offset_bytes, out);
    }
    return false;
}

/* Where the register is that struct symbols_rule calls kept. */
enum kept { KEPT_LOST, KEPT_IN_REGISTER, KEPT_ON_STACK };

/*
 * From code that its library does not describe: written by hand as HotSpot's copies of memory, it has no frame. The word on top of
 * the stack, or the link register, is a return address if it stands behind a call, in code of the JVM or in code that is
 * described.
 */
static JW_SIGNAL_SAFE bool step_bare(const struct symbols_snapshot *snapshot,
                                     struct arch_regs *regs)
{
    struct arch_regs caller = *regs;
    struct symbols_rule rule;

    if (!arch_step_from_entry(&caller) ||
        (!vm_code_contains(caller.pc) &&
         symbols_rule_find(snapshot, caller.pc, true, &rule) != SYMBOLS_FOUND) ||
        !arch_is_behind_call(caller.pc))
        return false;
    caller.link = 0;
    *regs = caller;
    return true;
}

/* From code that returns from a signal to what the signal interrupted, on whatever stack. */
static JW_SIGNAL_SAFE bool step_signal(struct walk_native_state *state, struct arch_regs *regs)
{
    if (!arch_step_signal_frame(regs))
        return false;
    *state = (struct walk_native_state){.is_interrupted = true};
    return regs->pc != 0;
}

static JW_SIGNAL_SAFE bool kept_value(const struct walk_native_state *state, uintptr_t *out)
{
    switch ((enum kept)state->kept) {
    case KEPT_IN_REGISTER:
        return state->ucontext != NULL &&
               arch_dwarf_register(state->ucontext, (unsigned)arch_facts.kept_dwarf_register, out);
    case KEPT_ON_STACK:
        return safe_load_word(state->kept_addr, out);
    case KEPT_LOST:
        break;
    }
    return false;
}

/* Where the caller's kept register is, which hardly anybody asks for. */
static JW_SIGNAL_SAFE void step_kept(const struct symbols_rule *rule, uintptr_t cfa,
                                     struct walk_native_state *state)
{
    if (rule->kept_words == 0)
        return;
    state->kept = rule->kept_words == SYMBOLS_KEPT_LOST ? KEPT_LOST : KEPT_ON_STACK;
    state->kept_addr = cfa - rule->kept_words * sizeof(uintptr_t);
}

static JW_SIGNAL_SAFE bool other_base(const struct symbols_rule *rule,
                                      const struct walk_native_state *state, uintptr_t *out)
{
    if (rule->cfa_base == SYMBOLS_BASE_KEPT)
        return kept_value(state, out);
    return state->is_interrupted && state->ucontext != NULL &&
           arch_dwarf_register(state->ucontext, rule->other_register, out);
}

/* Leaves the frame of regs->pc. */
static JW_SIGNAL_SAFE bool step(const struct symbols_snapshot *snapshot,
                                struct walk_native_state *state, struct arch_regs *regs)
{
    const bool is_interrupted = state->is_interrupted;
    struct symbols_rule rule;
    uintptr_t pc, fp, base;

    const enum symbols_found found = symbols_rule_find(snapshot, regs->pc, !is_interrupted, &rule);
    if (found != SYMBOLS_FOUND) {
        if (found != SYMBOLS_OUTERMOST && step_signal(state, regs))
            return true;
        *state = (struct walk_native_state){0};
        return found == SYMBOLS_NO_ROW && is_interrupted && step_bare(snapshot, regs);
    }
    if (rule.is_signal_frame && step_signal(state, regs))
        return true;
    base = rule.cfa_base == SYMBOLS_BASE_SP ? regs->sp : regs->fp;
    if ((rule.return_place == SYMBOLS_PLACE_SAME && (!is_interrupted || regs->link == 0)) ||
        (rule.cfa_base > SYMBOLS_BASE_FP && !other_base(&rule, state, &base)))
        return false;

    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule.cfa_offset_bytes;
    /* Each frame lies above the one that it called; a leaf that keeps nothing has none of its own. */
    const uintptr_t lowest = is_interrupted ? regs->sp : regs->sp + sizeof(uintptr_t);
    if ((rule.is_cfa_loaded && !safe_load_word(cfa, &cfa)) ||
        (cfa < lowest && !rule.is_signal_frame) || (cfa & (sizeof(uintptr_t) - 1)) != 0 ||
        !place_value((enum symbols_place)rule.return_place, rule.return_offset_bytes, base, cfa,
                     regs->link, &pc) ||
        !place_value((enum symbols_place)rule.fp_place, rule.fp_offset_bytes, base, cfa, regs->fp,
                     &fp))
        return false;
    if (rule.is_signal_frame) {
        *state = (struct walk_native_state){.is_interrupted = true};
    } else {
        state->is_interrupted = false;
        step_kept(&rule, cfa, state);
    }
    regs->pc = arch_code_address(pc);
    regs->sp = cfa;
    regs->fp = fp;
    regs->link = 0;
    return regs->pc != 0;
}

/* Whether the code at `pc` is still of the library that the snapshot has there; `proof` becomes that library's. */
static __attribute__((noinline)) JW_SIGNAL_SAFE bool
prove(const struct symbols_snapshot *snapshot, uintptr_t pc, struct symbols_proof *proof)
{
    uintptr_t word;

    if (!symbols_proof_find(snapshot, pc, proof) || proof->address == 0 ||
        (safe_load_word(proof->address, &word) && word == proof->word))
        return true;
    symbols_doubt(snapshot, pc);
    return false;
}

/* The same: another may lie there by now. What is not known to the snapshot proves nothing, and is passed. `proof`: of the frame
 * before. */
static inline JW_SIGNAL_SAFE bool is_as_known(const struct symbols_snapshot *snapshot, uintptr_t pc,
                                              struct symbols_proof *proof)
{
    return (pc >= proof->start_pc && pc < proof->end_pc) || prove(snapshot, pc, proof);
}

bool walk_native_to_code_cache(struct arch_regs *regs, bool is_interrupted)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct walk_native_state state = {.is_interrupted = is_interrupted};
    bool is_found = false;

    for (int depth = 0; snapshot != NULL && depth < (int)WALK_NATIVE_DEPTH_MAX; depth++) {
        if (!step(snapshot, &state, regs))
            break;
        if (vm_code_contains(regs->pc)) {
            /* Who was interrupted there by another signal made no call: not what was asked for. */
            is_found = !state.is_interrupted;
            break;
        }
    }
    symbols_leave(snapshot);
    return is_found;
}

/*
 * By the frame pointer, which may be that of a function further out, or no such thing at all: where it points to another one above it and
 * to a return address behind a call, in code that is known. Who has no frame of its own is left together with its caller.
 */
static __attribute__((noinline)) JW_SIGNAL_SAFE bool
step_by_fp(const struct symbols_snapshot *snapshot, struct walk_native_state *state,
           struct arch_regs *regs)
{
    struct arch_regs caller = *regs;

    if (regs->fp < regs->sp || (regs->fp & (sizeof(uintptr_t) - 1)) != 0 ||
        !arch_step_from_frame(&caller) || caller.sp <= regs->sp ||
        (caller.fp <= regs->fp && !vm_code_contains(caller.pc) && caller.fp != 0) ||
        (!vm_code_contains(caller.pc) && symbols_find_library(snapshot, caller.pc) == NULL) ||
        !arch_is_behind_call(caller.pc))
        return false;
    caller.link = 0;
    state->is_interrupted = false;
    *regs = caller;
    return true;
}

/* Why there is no step from here: at the first function of a thread, or because it is not known. */
static JW_SIGNAL_SAFE enum walk_native_end end_at(const struct symbols_snapshot *snapshot,
                                                  bool is_interrupted, const struct arch_regs *regs)
{
    struct symbols_rule rule;

    if (regs->pc == 0)
        return WALK_NATIVE_AT_ROOT;
    return symbols_rule_find(snapshot, regs->pc, !is_interrupted, &rule) == SYMBOLS_OUTERMOST
               ? WALK_NATIVE_AT_ROOT
               : WALK_NATIVE_LOST;
}

bool walk_native_step(const struct symbols_snapshot *snapshot, struct symbols_proof *proof,
                      struct walk_native_state *state, struct arch_regs *regs)
{
    return snapshot != NULL &&
           is_as_known(snapshot, state->is_interrupted ? regs->pc : regs->pc - 1, proof) &&
           step(snapshot, state, regs);
}

bool walk_native_is_root(const struct symbols_snapshot *snapshot, const struct arch_regs *regs)
{
    return snapshot != NULL && end_at(snapshot, false, regs) == WALK_NATIVE_AT_ROOT;
}

bool walk_native_ended_at_root(const struct arch_regs *regs)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    const bool is_root = walk_native_is_root(snapshot, regs);

    symbols_leave(snapshot);
    return is_root;
}

/* By libunwind; from code that is not described, where calls leave the return address in a register, as by rows. */
static JW_SIGNAL_SAFE bool step_by_libunwind(struct unwind_live *live,
                                             const struct symbols_snapshot *snapshot,
                                             struct walk_native_state *state,
                                             struct arch_regs *regs)
{
    const bool is_interrupted = state->is_interrupted;
    struct symbols_rule rule;
    const bool is_raised =
        arch_facts.has_link_register &&
        symbols_rule_find(snapshot, regs->pc, !is_interrupted, &rule) == SYMBOLS_FOUND &&
        rule.is_cfa_raised;

    if (unwind_live_step(live, regs, &state->is_interrupted)) {
        if (is_raised)
            unwind_live_raise(live, regs, SYMBOLS_RAISED_BYTES);
        return regs->pc != 0;
    }
    if (!arch_facts.has_link_register || !is_interrupted ||
        symbols_rule_find(snapshot, regs->pc, false, &rule) != SYMBOLS_NO_ROW ||
        !step_bare(snapshot, regs))
        return false;
    state->is_interrupted = false;
    return unwind_live_resume(live, regs);
}

/* One frame further out. `live`: of WALK_BY_LIBUNWIND. */
static JW_SIGNAL_SAFE bool step_by(enum walk_native_by by, struct unwind_live *live,
                                   const struct symbols_snapshot *snapshot,
                                   struct walk_native_state *state, struct arch_regs *regs)
{
    switch (by) {
    case WALK_BY_ROWS:
        return step(snapshot, state, regs);
    case WALK_BY_FRAME_POINTER:
        return step_by_fp(snapshot, state, regs);
    case WALK_BY_LIBUNWIND:
        return step_by_libunwind(live, snapshot, state, regs);
    }
    return false;
}

/* NULL, and `by` is rows: libunwind walks none here. */
static JW_SIGNAL_SAFE struct unwind_live *
begin_live(const void *ucontext, const struct symbols_snapshot *snapshot, enum walk_native_by *by)
{
    struct unwind_live *live = NULL;

    if (*by != WALK_BY_LIBUNWIND)
        return NULL;
    if (snapshot != NULL && ucontext != NULL)
        live = unwind_live_begin(ucontext, snapshot);
    jw_count(live == NULL ? JW_COUNT_NATIVE_NOT_BY_LIBUNWIND : JW_COUNT_NATIVE_BY_LIBUNWIND);
    if (live == NULL)
        *by = WALK_BY_ROWS;
    return live;
}

uint32_t walk_native_frames(const void *ucontext, struct arch_regs *regs, enum walk_native_by by,
                            uintptr_t *pcs, uint32_t depth_max, struct walk_landmark *mark,
                            enum walk_native_end *end)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct walk_native_state state = {
        .is_interrupted = true, .kept = KEPT_IN_REGISTER, .ucontext = ucontext};
    bool is_sought = mark != NULL;
    struct symbols_proof proof = {0};
    struct unwind_live *const live = begin_live(ucontext, snapshot, &by);
    uint32_t count = 0;

    *end = WALK_NATIVE_CUT;
    if (depth_max > 0)
        pcs[count++] = regs->pc;
    while (count < depth_max) {
        if (snapshot == NULL || !is_as_known(snapshot, pcs[count - 1], &proof)) {
            *end = WALK_NATIVE_LOST;
            break;
        }
        if (!step_by(by, live, snapshot, &state, regs)) {
            *end = end_at(snapshot, count == 1, regs);
            break;
        }
        if (is_sought && regs->sp > mark->stack_addr) {
            mark->frame = count - 1;
            is_sought = false;
        }
        if (vm_code_contains(regs->pc)) {
            *end = WALK_NATIVE_AT_CODE;
            break;
        }
        /* Inside the call, where its function is. */
        pcs[count++] = state.is_interrupted ? regs->pc : regs->pc - 1;
    }
    if (live != NULL)
        unwind_live_end(live);
    symbols_leave(snapshot);
    if (is_sought)
        mark->frame = count;
    return count;
}
