/* Reckons where compiled code can be stopped next; dump, any. */
#include "vm/vm_stop.h"

#include "arch/arch.h"
#include "vm/vm_code.h"
#include "vm/vm_nmethod.h"

/* Backward jumps and branches that were taken. */
#define BACKWARD_MAX 32u

/* The last forward branches that were not. */
#define PASSED_COUNT 64u

#define WINDOW_BYTES ((size_t)256)

/* A compiled method that is being run through. */
struct level {
    struct vm_nmethod nmethod;
    uintptr_t code_end;
    uintptr_t return_pc; /* into the level below it */
};

struct way {
    struct level levels[VM_STOP_CALLS_MAX + 1];
    uint32_t depth; /* of the level at work */
    uintptr_t pc;
    uint32_t steps;
    bool is_at_loads; /* up to here there were loads alone */

    uintptr_t backward[BACKWARD_MAX];
    uint32_t backward_count;
    struct {
        uintptr_t pc, target_pc;
    } passed[PASSED_COUNT];
    uint32_t passed_count;

    uint8_t window[WINDOW_BYTES];
    uintptr_t window_pc;
    size_t window_bytes;
};

static struct level *level_of(struct way *way)
{
    return &way->levels[way->depth];
}

/* The instruction at pc; the window moves with it. */
static bool read_instruction(struct way *way, uintptr_t pc, struct arch_instruction *out)
{
    const struct level *level = level_of(way);

    if (pc < level->nmethod.code_begin || pc >= level->code_end)
        return false;
    if (pc < way->window_pc ||
        pc + ARCH_INSTRUCTION_BYTES_MAX > way->window_pc + way->window_bytes) {
        const size_t left_bytes = level->code_end - pc;

        way->window_pc = pc;
        way->window_bytes = left_bytes < WINDOW_BYTES ? left_bytes : WINDOW_BYTES;
        if (!safe_load_bytes(way->window, pc, way->window_bytes)) {
            way->window_bytes = 0;
            return false;
        }
    }
    const size_t at = pc - way->window_pc;
    return arch_instruction_read(way->window + at, way->window_bytes - at, pc, out);
}

/* A method of Java that was compiled, at its code. */
static bool enter(struct way *way, uint32_t depth, uintptr_t pc, uintptr_t return_pc)
{
    struct level *level = &way->levels[depth];
    struct vm_blob blob;

    if (!vm_code_contains(pc) || !vm_code_find(pc, &blob) || blob.place != VM_PLACE_NMETHOD ||
        pc < blob.code_begin || pc >= blob.code_end || !vm_nmethod_read(blob.blob, &level->nmethod))
        return false;
    level->code_end = blob.code_end;
    level->return_pc = return_pc;
    way->depth = depth;
    way->pc = pc;
    way->window_bytes = 0;
    return true;
}

/* What stands on top at a pc that the compiler described. */
static bool tell(struct way *way, uintptr_t pc, enum vm_stop_kind kind, struct vm_stop *out)
{
    const struct vm_nmethod *nmethod = &level_of(way)->nmethod;
    struct vm_scope scope;
    uint32_t at;

    if (!vm_nmethod_scope_at(nmethod, pc, VM_PC_EXACT, &at) || at == VM_NO_SCOPE ||
        !vm_nmethod_scope(nmethod, at, &scope))
        return false;
    out->kind = kind;
    out->method = scope.method;
    out->bci = scope.bci;
    return true;
}

/* At a poll before a return the frame is gone: what waits is the caller. */
static void stop_at_return(struct way *way, struct vm_stop *out)
{
    if (way->depth == 0) {
        out->kind = VM_STOP_RETURN;
        return;
    }
    const uintptr_t return_pc = level_of(way)->return_pc;
    way->depth--;
    (void)tell(way, return_pc, VM_STOP_CALL, out);
}

/* True: the way ends at this poll. What looks like one may be another instruction. */
static bool is_stopped(struct way *way, const struct arch_instruction *instruction,
                       struct vm_stop *out)
{
    struct arch_instruction next;
    const bool is_first = way->is_at_loads;

    if (instruction->poll == ARCH_POLL_RETURN) {
        stop_at_return(way, out);
    } else if (instruction->poll == ARCH_POLL_TEST &&
               read_instruction(way, way->pc + instruction->length_bytes, &next) &&
               next.kind == ARCH_LEADS_BACK) {
        stop_at_return(way, out);
    } else if (instruction->poll != ARCH_POLL_TEST || !tell(way, way->pc, VM_STOP_POLL, out)) {
        return false;
    }
    out->is_here = is_first && way->steps <= 1;
    return true;
}

static bool is_taken_before(struct way *way, uintptr_t pc)
{
    for (uint32_t i = 0; i < way->backward_count; i++)
        if (way->backward[i] == pc)
            return true;
    if (way->backward_count == BACKWARD_MAX)
        return true;
    way->backward[way->backward_count++] = pc;
    return false;
}

/* A branch that is likely not taken, but may be where a loop ends that is closed by a jump. */
static void pass(struct way *way, uintptr_t target_pc)
{
    const uint32_t at = way->passed_count++ % PASSED_COUNT;

    way->passed[at].pc = way->pc;
    way->passed[at].target_pc = target_pc;
}

/* Out of the loop from `head_pc` to the jump at hand, by the last branch that leads out of it. */
static bool leave_loop(struct way *way, uintptr_t head_pc)
{
    const uint32_t count = way->passed_count < PASSED_COUNT ? way->passed_count : PASSED_COUNT;

    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t at = (way->passed_count - i) % PASSED_COUNT;
        const uintptr_t pc = way->passed[at].pc, target_pc = way->passed[at].target_pc;

        if (pc >= head_pc && pc < way->pc && (target_pc > way->pc || target_pc < head_pc)) {
            way->pc = target_pc;
            return true;
        }
    }
    return false;
}

/* Along a jump; a loop without a poll is gone through once, and left. */
static bool jump(struct way *way, uintptr_t target_pc)
{
    if (target_pc <= way->pc && is_taken_before(way, way->pc))
        return leave_loop(way, target_pc);
    way->pc = target_pc;
    return true;
}

static void branch(struct way *way, uintptr_t target_pc, uintptr_t behind_pc)
{
    if (target_pc <= way->pc && !is_taken_before(way, way->pc)) {
        way->pc = target_pc;
        return;
    }
    pass(way, target_pc);
    way->pc = behind_pc;
}

/* True: the way ends at this call. One that the compiler did not describe is of code that asks nothing. */
static bool is_waiting(struct way *way, const struct arch_instruction *instruction,
                       struct vm_stop *out)
{
    const uintptr_t return_pc = way->pc + instruction->length_bytes;
    struct vm_stop waiting = {.kind = VM_STOP_UNTOLD};
    struct vm_blob blob;

    if (!tell(way, return_pc, VM_STOP_CALL, &waiting))
        return false;
    if (instruction->has_target && vm_code_contains(instruction->target_pc) &&
        vm_code_find(instruction->target_pc, &blob) && blob.place == VM_PLACE_STUB)
        return false;
    if (instruction->has_target && way->depth < VM_STOP_CALLS_MAX &&
        enter(way, way->depth + 1, instruction->target_pc, return_pc))
        return false;
    out->kind = waiting.kind;
    out->method = waiting.method;
    out->bci = waiting.bci;
    return true;
}

/* Where the way goes on. False: it ends. */
static bool go_on(struct way *way, const struct arch_instruction *instruction, struct vm_stop *out)
{
    const uintptr_t behind_pc = way->pc + instruction->length_bytes;
    const struct level *level = level_of(way);
    const bool is_inside = instruction->has_target &&
                           instruction->target_pc >= level->nmethod.code_begin &&
                           instruction->target_pc < level->code_end;
    const uint32_t depth = way->depth;

    switch (instruction->kind) {
    case ARCH_LEADS_ON:
    case ARCH_LEADS_OUT:
        way->pc = behind_pc;
        return true;
    case ARCH_LEADS_JUMP:
        return is_inside && jump(way, instruction->target_pc);
    case ARCH_LEADS_BRANCH:
        if (is_inside)
            branch(way, instruction->target_pc, behind_pc);
        else
            way->pc = behind_pc;
        return true;
    case ARCH_LEADS_CALL:
        if (is_waiting(way, instruction, out))
            return false;
        if (way->depth == depth)
            way->pc = behind_pc;
        return true;
    case ARCH_LEADS_BACK:
        /* Behind its poll: it runs on in the caller. */
        if (way->depth == 0) {
            out->kind = VM_STOP_RETURN;
            return false;
        }
        way->pc = level_of(way)->return_pc;
        way->depth--;
        way->window_bytes = 0;
        return true;
    case ARCH_LEADS_AWAY:
        return false;
    }
    return false;
}

void vm_stop_after(uintptr_t pc, struct vm_stop *out)
{
    struct way way = {.is_at_loads = true};
    struct arch_instruction instruction;

    *out = (struct vm_stop){.kind = VM_STOP_UNTOLD};
    if (!enter(&way, 0, pc, 0))
        return;
    out->root = way.levels[0].nmethod.method;
    for (; way.steps < VM_STOP_STEPS_MAX; way.steps++) {
        if (!read_instruction(&way, way.pc, &instruction) || is_stopped(&way, &instruction, out) ||
            !go_on(&way, &instruction, out))
            return;
        way.is_at_loads &= instruction.poll == ARCH_POLL_LOAD;
    }
}
