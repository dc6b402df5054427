/*
 * flow - where generated code keeps what its caller's registers are found by, told from its instructions alone.
 *
 * From the entry on each way through the code is followed: how far the stack pointer lies below where it was, which registers have the
 * return address, and where it and the frame pointer were put. Where two ways meet that do not agree, that is not told.
 * flow_x86_64.h and flow_aarch64.h know what an instruction does; nothing here knows a stub or a prologue.
 */
#ifndef JW_TESTS_FLOW_H
#define JW_TESTS_FLOW_H

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"

#define FLOW_NOWHERE   INT32_MIN
#define FLOW_BYTES_MAX 8192

enum flow_fp {
    FLOW_FP_CALLER, /* as the caller had it */
    FLOW_FP_FRAME,  /* an address in the frame */
    FLOW_FP_OTHER,
};

/* Distances in bytes, from the stack pointer at the entry down. */
struct flow {
    bool is_reached;
    bool has_sp;
    int32_t below;
    uint64_t returns; /* registers with the return address, a bit each by their numbers in DWARF */
    uint64_t senders; /* likewise with the caller's stack pointer, for adapters (x86-64) */
    uint64_t entries; /* likewise with the place of the return address (x86-64) */
    int32_t return_slot, fp_slot;
    int32_t frame_slot; /* where FLOW_FP_FRAME has been stored */
    enum flow_fp fp;
    int32_t fp_below;
};

/* Of the machine: whether the way in at the begin is that of an adapter to compiled code; the state at an entry, and what an instruction does to it. */
static bool flow_has_sender;
static struct flow flow_at_entry(void);
static void flow_follow(struct flow *at, const uint8_t *code, size_t length_bytes);

static bool flow_meet(struct flow *to, const struct flow *from)
{
    const struct flow before = *to;

    if (!to->is_reached) {
        *to = *from;
        return true;
    }
    to->has_sp = to->has_sp && from->has_sp && to->below == from->below;
    to->below = to->has_sp ? to->below : 0;
    to->returns &= from->returns;
    to->senders &= from->senders;
    to->entries &= from->entries;
    if (to->return_slot != from->return_slot)
        to->return_slot = FLOW_NOWHERE;
    if (to->fp_slot != from->fp_slot)
        to->fp_slot = FLOW_NOWHERE;
    if (to->frame_slot != from->frame_slot)
        to->frame_slot = FLOW_NOWHERE;
    if (to->fp != from->fp || to->fp_below != from->fp_below) {
        to->fp = FLOW_FP_OTHER;
        to->fp_below = 0;
    }
    return memcmp(&before, to, sizeof before) != 0;
}

/* States before each instruction, by offset. `has_more_entries`: what no way leads to is entered from outside. */
static void flow_run(struct flow *states, const uint8_t *code, size_t length_bytes,
                     bool has_more_entries)
{
    struct flow entry = flow_at_entry();
    bool is_changed = true;

    flow_meet(&states[0], &entry);
    flow_has_sender = false;
    entry = flow_at_entry();
    while (is_changed) {
        size_t offset = 0;
        bool is_behind_end = false;

        is_changed = false;
        while (offset < length_bytes) {
            struct arch_instruction instruction;

            if (!arch_instruction_read(code + offset, length_bytes - offset,
                                       (uintptr_t)(code + offset), &instruction) ||
                instruction.length_bytes == 0)
                break;
            const size_t next = offset + instruction.length_bytes;
            const size_t target = instruction.target_pc - (uintptr_t)code;

            if (states[offset].is_reached) {
                struct flow after = states[offset];

                flow_follow(&after, code + offset, instruction.length_bytes);
                if (instruction.kind != ARCH_LEADS_JUMP && instruction.kind != ARCH_LEADS_BACK &&
                    instruction.kind != ARCH_LEADS_AWAY && next < length_bytes)
                    is_changed |= flow_meet(&states[next], &after);
                if ((instruction.kind == ARCH_LEADS_JUMP ||
                     instruction.kind == ARCH_LEADS_BRANCH) &&
                    instruction.has_target && target < length_bytes)
                    is_changed |= flow_meet(&states[target], &after);
            } else if (has_more_entries && is_behind_end) {
                is_changed |= flow_meet(&states[offset], &entry);
            }
            is_behind_end =
                instruction.kind == ARCH_LEADS_JUMP || instruction.kind == ARCH_LEADS_AWAY;
            offset = next;
        }
    }
}

#endif
