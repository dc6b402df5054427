/* Steps of a sealed libunwind over the interrupted thread; handler. */
#include "unwind/unwind_live.h"

#include <string.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "unwind/unwind_sealed_internal.h"

/* Words that one walk may read: some hundred a frame, and an end where a description has none. */
#define WORDS_MAX 65536u

static struct unwind_live rooms[UNWIND_LIVE_ROOMS];

/* Relaxed: `space` is set before an engine runs, and never again; `is_off` may be noticed a walk late. */
static struct unwind_space *space;
static _Atomic bool is_off;

/* -------- what it is shown ------------------------------------------------------------------- */

/*
 * So that it goes on where return addresses are signed, which 1.6.2 refuses to hear of: what says so is shown as an instruction that does nothing.
 * False: the description cannot be followed.
 */
static JW_SIGNAL_SAFE bool show_program(struct unwind_live *live,
                                        const struct unwind_sealed_entry *entry)
{
    const uint64_t size_bytes = entry->program_end - entry->program_start;

    live->program_bytes = 0;
    if (arch_facts.unwind_refused_instruction == 0)
        return true;
    if (size_bytes > sizeof live->program ||
        !safe_load_bytes(live->program, (uintptr_t)entry->program_start, size_bytes) ||
        !unwind_program_hide(live->program, (uint32_t)size_bytes,
                             arch_facts.unwind_refused_instruction))
        return false;
    live->program_start = (uintptr_t)entry->program_start;
    live->program_bytes = (uint32_t)size_bytes;
    return true;
}

static JW_SIGNAL_SAFE int find_procedure(struct unwind_space *in, uint64_t ip,
                                         struct unwind_procedure *out, int needs_info, void *view)
{
    struct unwind_live *live = view;
    struct unwind_dynamic table;
    int status = -UNWIND_E_NOINFO;

    if (unwind_table_find(live->snapshot, (uintptr_t)ip, &table))
        status = unwind_sealed.search(in, ip, &table, out, needs_info, view);
    live->has_no_way |=
        status < 0 || (needs_info && out->info != NULL && !show_program(live, out->info));
    return status;
}

/* The copy takes its own back: nothing of ours is in there. */
static JW_SIGNAL_SAFE void put_info(struct unwind_space *in, struct unwind_procedure *procedure,
                                    void *view)
{
    (void)in, (void)procedure, (void)view;
}

static JW_SIGNAL_SAFE int dynamic_list(struct unwind_space *in, uint64_t *addr, void *view)
{
    (void)in, (void)addr, (void)view;
    return -UNWIND_E_NOINFO;
}

static JW_SIGNAL_SAFE int memory(struct unwind_space *in, uint64_t addr, uint64_t *value,
                                 int is_write, void *view)
{
    struct unwind_live *live = view;
    uintptr_t word;

    (void)in;
    if (is_write || live->words_left == 0 || !safe_load_word((uintptr_t)addr, &word)) {
        live->has_no_way = true;
        return -UNWIND_E_INVAL;
    }
    live->words_left--;
    *value = word;
    for (uint32_t i = 0; i < sizeof word && live->program_bytes != 0; i++) {
        const uintptr_t at = (uintptr_t)addr + i - live->program_start;

        if (at < live->program_bytes)
            ((unsigned char *)value)[i] = live->program[at];
    }
    return 0;
}

static JW_SIGNAL_SAFE int register_(struct unwind_space *in, int number, uint64_t *value,
                                    int is_write, void *view)
{
    const struct unwind_live *live = view;

    (void)in;
    if (is_write || number < 0 || number >= UNWIND_REGISTERS)
        return -UNWIND_E_BADREG;
    *value = live->registers[number];
    return 0;
}

static JW_SIGNAL_SAFE int float_register(struct unwind_space *in, int number, void *value,
                                         int is_write, void *view)
{
    (void)in, (void)number, (void)value, (void)is_write, (void)view;
    return -UNWIND_E_BADREG;
}

static JW_SIGNAL_SAFE int resume(struct unwind_space *in, struct unwind_cursor *cursor, void *view)
{
    (void)in, (void)cursor, (void)view;
    return -UNWIND_E_INVAL;
}

static JW_SIGNAL_SAFE int name(struct unwind_space *in, uint64_t ip, char *text, size_t room_bytes,
                               uint64_t *offset, void *view)
{
    (void)in, (void)ip, (void)text, (void)room_bytes, (void)offset, (void)view;
    return -UNWIND_E_NOINFO;
}

static const struct unwind_accessors accessors JW_SIGNAL_TABLE = {
    .find_procedure = find_procedure,
    .put_info = put_info,
    .dynamic_list = dynamic_list,
    .memory = memory,
    .register_ = register_,
    .float_register = float_register,
    .resume = resume,
    .name = name,
};

/* -------- control ---------------------------------------------------------------------------- */

bool unwind_live_open(struct jw_error *err)
{
    struct unwind_accessors copied = accessors;

    if (unwind_sealed.create == NULL) {
        jw_error_set(
            err,
            "cstack=libunwind: %s; use cstack=vm, the default, and nativecheck, which compares "
            "its native stacks with libunwind's outside of handlers",
            unwind_sealed_why);
        return false;
    }
    if (unwind_live_is_off(err))
        return false;
    if (space == NULL)
        space = unwind_sealed.create(&copied, 0);
    if (space == NULL)
        jw_error_set(err, "cstack=libunwind: it makes no address space; use cstack=vm");
    return space != NULL;
}

bool unwind_live_is_off(struct jw_error *why)
{
    if (!jw_load_relaxed(&is_off))
        return false;
    jw_error_set(why,
                 "cstack=libunwind: libunwind is not called any more in this process, since %s; "
                 "please report it, and use cstack=vm",
                 unwind_sealed_is_broken() ? "it asked for what a handler has not"
                                           : "a memory fault came inside of it");
    return true;
}

/* -------- handler ---------------------------------------------------------------------------- */

bool unwind_live_has_stack(const void *ucontext)
{
    const stack_t *alternate = &((const ucontext_t *)ucontext)->uc_stack;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t used_to = here - (uintptr_t)alternate->ss_sp;
    uint8_t byte;

    if (used_to < alternate->ss_size)
        return used_to >= arch_facts.unwind_stack_bytes;
    for (uintptr_t below = arch_facts.page_min_bytes; below < arch_facts.unwind_stack_bytes;
         below += arch_facts.page_min_bytes)
        if (!safe_load_u8(here - below, &byte))
            return false;
    return safe_load_u8(here - arch_facts.unwind_stack_bytes, &byte);
}

static JW_SIGNAL_SAFE void begin_inside(void *first, intptr_t second, void *third)
{
    struct unwind_live *live = first;

    (void)second, (void)third;
    live->status = unwind_sealed.begin(&live->cursor, space, live);
}

static JW_SIGNAL_SAFE void step_inside(void *first, intptr_t second, void *third)
{
    struct unwind_live *live = first;

    (void)second, (void)third;
    live->status = unwind_sealed.step(&live->cursor);
}

/* Whether `function` came back, and libunwind is as it was. */
static JW_SIGNAL_SAFE bool call(struct unwind_live *live, signals_guarded_function *function)
{
    const enum signals_call called = signals_call_guarded(
        function, live, 0, NULL, (uintptr_t)unwind_sealed_begin, (uintptr_t)unwind_sealed_end);

    if (called == SIGNALS_CALL_FAULTED || unwind_sealed_is_broken())
        jw_store_relaxed(&is_off, true);
    return called == SIGNALS_CALL_DONE && !jw_load_relaxed(&is_off);
}

/* Threads begin to look at different places. */
static JW_SIGNAL_SAFE struct unwind_live *find_room(uintptr_t stack)
{
    for (uint32_t i = 0; i < UNWIND_LIVE_ROOMS; i++) {
        struct unwind_live *room = &rooms[(jw_hash_word(stack >> 16) + i) % UNWIND_LIVE_ROOMS];
        uint32_t is_free = 0;

        /* order UNWIND_ROOM: acquires the room from the walk before. */
        if (jw_cas_acq_rel(&room->is_taken, &is_free, 1))
            return room;
    }
    return NULL;
}

struct unwind_live *unwind_live_begin(const void *ucontext, const struct symbols_snapshot *snapshot)
{
    if (space == NULL || jw_load_relaxed(&is_off))
        return NULL;

    struct unwind_live *live = find_room((uintptr_t)__builtin_frame_address(0));
    if (live == NULL)
        return NULL;
    live->snapshot = snapshot;
    live->words_left = WORDS_MAX;
    unwind_registers(ucontext, live->registers);
    if (call(live, begin_inside) && live->status == 0)
        return live;
    unwind_live_end(live);
    return NULL;
}

void unwind_live_end(struct unwind_live *live)
{
    /* order UNWIND_ROOM: releases the room to the next walk. */
    jw_store_release(&live->is_taken, 0);
}

bool unwind_live_resume(struct unwind_live *live, const struct arch_regs *regs)
{
    /* Inside of the call, as the cursor does not know that it is one. */
    live->registers[arch_facts.unwind_pc] = regs->pc - 1;
    live->registers[arch_facts.unwind_sp] = regs->sp;
    return call(live, begin_inside) && live->status == 0;
}

void unwind_live_raise(struct unwind_live *live, struct arch_regs *regs, uint32_t size_bytes)
{
    live->cursor.cfa += size_bytes;
    regs->sp = (uintptr_t)live->cursor.cfa;
}

/* Goes on at what a signal interrupted. `found`: its registers, the context of which is at this address. */
static JW_SIGNAL_SAFE bool leave_signal(struct unwind_live *live, uintptr_t context,
                                        const struct arch_regs *found, struct arch_regs *regs)
{
    if (!safe_load_bytes(&live->context, context, sizeof live->context))
        return false;
    unwind_registers(&live->context, live->registers);
    if (!call(live, begin_inside) || live->status != 0)
        return false;
    *regs = *found;
    return true;
}

bool unwind_live_step(struct unwind_live *live, struct arch_regs *regs, bool *is_exact)
{
    const uint64_t ip = live->cursor.ip, cfa = live->cursor.cfa;
    struct arch_regs found = {.pc = (uintptr_t)ip, .sp = (uintptr_t)cfa};

    if (arch_facts.is_unwind_signal_by_code && arch_step_signal_frame(&found)) {
        *is_exact = true;
        return leave_signal(live, (uintptr_t)cfa + arch_facts.signal_context_offset, &found, regs);
    }
    live->has_no_way = false;
    live->program_bytes = 0;
    if (!call(live, step_inside) || live->has_no_way || live->status < 0)
        return false;
    /* It would look for what a signed address points to. */
    live->cursor.ip = arch_code_address((uintptr_t)live->cursor.ip);
    /* A thread's first frame is told again where its caller is said to be undefined, and has a register to return by. */
    const bool is_root = live->status == 0 || (arch_facts.has_link_register &&
                                               live->cursor.ip == ip && live->cursor.cfa == cfa);

    regs->pc = is_root ? 0 : (uintptr_t)live->cursor.ip;
    regs->sp = (uintptr_t)live->cursor.cfa;
    regs->link = 0;
    *is_exact = (unwind_sealed_flags(&live->cursor) & UNWIND_SEALED_BEHIND_CALL) == 0;
    return true;
}
