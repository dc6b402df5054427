/* Native frames by the rules that room symbols prepared; handler. */
#include "symbols/symbols.h"
#include "vm/vm_code.h"
#include "walk/walk.h"
#include "walk/walk_internal.h"

/* A leaf function that compiled code calls has few frames of its own, unless it sorts. */
#define LEAF_DEPTH_MAX 64

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

/* Leaves the frame of regs->pc. `is_interrupted`: its registers are all known. */
static JW_SIGNAL_SAFE bool step(const struct symbols_snapshot *snapshot, bool is_interrupted,
                                struct arch_regs *regs)
{
    struct symbols_rule rule;
    uintptr_t pc, fp;

    const enum symbols_found found = symbols_rule_find(snapshot, regs->pc, !is_interrupted, &rule);
    if (found == SYMBOLS_NO_ROW && is_interrupted)
        return step_bare(snapshot, regs);
    if (found != SYMBOLS_FOUND || rule.is_signal_frame ||
        (rule.return_place == SYMBOLS_PLACE_SAME && (!is_interrupted || regs->link == 0)))
        return false;

    const uintptr_t base = rule.cfa_base == SYMBOLS_BASE_SP ? regs->sp : regs->fp;
    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule.cfa_offset_bytes;
    /* Each frame lies above the one that it called; a leaf that keeps nothing has none of its own. */
    const uintptr_t lowest = is_interrupted ? regs->sp : regs->sp + sizeof(uintptr_t);
    if ((rule.is_cfa_loaded && !safe_load_word(cfa, &cfa)) || cfa < lowest ||
        (cfa & (sizeof(uintptr_t) - 1)) != 0 ||
        !place_value((enum symbols_place)rule.return_place, rule.return_offset_bytes, base, cfa,
                     regs->link, &pc) ||
        !place_value((enum symbols_place)rule.fp_place, rule.fp_offset_bytes, base, cfa, regs->fp,
                     &fp))
        return false;
    regs->pc = arch_code_address(pc);
    regs->sp = cfa;
    regs->fp = fp;
    regs->link = 0;
    return regs->pc != 0;
}

/*
 * Whether the code at `pc` is still of the library that the snapshot has there: another may lie there by now. What is not known to it
 * proves nothing, and is passed. `proof`: of the frame before.
 */
static JW_SIGNAL_SAFE bool is_as_known(const struct symbols_snapshot *snapshot, uintptr_t pc,
                                       struct symbols_proof *proof)
{
    uintptr_t word;

    if (pc >= proof->start_pc && pc < proof->end_pc)
        return true;
    if (!symbols_proof_find(snapshot, pc, proof) || proof->address == 0 ||
        (safe_load_word(proof->address, &word) && word == proof->word))
        return true;
    symbols_doubt(snapshot, pc);
    return false;
}

bool walk_native_to_code_cache(struct arch_regs *regs)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    bool is_found = false;

    for (int depth = 0; snapshot != NULL && depth < LEAF_DEPTH_MAX; depth++) {
        if (!step(snapshot, depth == 0, regs))
            break;
        if (vm_code_contains(regs->pc)) {
            is_found = true;
            break;
        }
    }
    symbols_leave(snapshot);
    return is_found;
}

uint32_t walk_native_frames(struct arch_regs *regs, uintptr_t *pcs, uint32_t depth_max,
                            struct walk_landmark *mark)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    bool is_sought = mark != NULL;
    struct symbols_proof proof = {0};
    uint32_t count = 0;

    if (depth_max > 0)
        pcs[count++] = regs->pc;
    while (snapshot != NULL && count < depth_max && is_as_known(snapshot, pcs[count - 1], &proof) &&
           step(snapshot, count == 1, regs)) {
        if (is_sought && regs->sp > mark->stack_addr) {
            mark->frame = count - 1;
            is_sought = false;
        }
        if (vm_code_contains(regs->pc))
            break;
        pcs[count++] = regs->pc - 1; /* inside the call, where its function is */
    }
    symbols_leave(snapshot);
    if (is_sought)
        mark->frame = count;
    return count;
}
