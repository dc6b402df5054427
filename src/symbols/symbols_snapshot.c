/*
 * The snapshot that handlers see, and when an old one may go. One word, the gate, holds the slot of
 * the current snapshot and the number of brackets opened on it, so entering counts the visitor and
 * learns the slot in one step, and replacing it learns exactly how many entered. Leaving is counted
 * in the slot. An old snapshot is free when as many have left as had entered.
 *
 *     gate      63                                    8 7         0
 *               +--------------------------------------+-----------+
 *               |  brackets opened since publication   | slot, 0 = |
 *               |                                      | none      |
 *               +--------------------------------------+-----------+
 *
 *     slot      free -> published -> waiting (entered > left) -> free
 */
#include "base/atomics.h"
#include "symbols/symbols_frames_internal.h"

#define SLOTS               8 /* slot 0 means none; one is published, the others may wait */
#define GATE_VISITOR        ((uint64_t)1 << 8)
#define GATE_SLOT(gate)     ((uint32_t)((gate) & (GATE_VISITOR - 1)))
#define GATE_VISITORS(gate) ((gate) >> 8)

struct symbols_slot {
    struct symbols_snapshot *snapshot; /* NULL: free. Written while the gate names another slot */
    uint64_t entered_count;            /* known when it was replaced */
    bool is_waiting;
    _Atomic uint64_t left_count;
};

static struct symbols_slot slots[SLOTS];
static _Atomic uint64_t gate;
/* Relaxed: a wish carries nothing with it, and one that is lost is raised by the next sample. */
static _Atomic unsigned wanted;

const struct symbols_snapshot *symbols_enter(void)
{
    /* order SYMBOLS_GATE: acquires what symbols_snapshot_publish released, the slot's snapshot. */
    const uint64_t entered = jw_add_acq_rel(&gate, GATE_VISITOR);
    const uint32_t slot = GATE_SLOT(entered);

    if (slot == 0) {
        symbols_want(SYMBOLS_WANT_LIBRARIES);
        return NULL;
    }
    return slots[slot].snapshot;
}

void symbols_leave(const struct symbols_snapshot *snapshot)
{
    if (snapshot != NULL) {
        /* order SYMBOLS_LEAVE: releases the end of our reading, before the snapshot is freed. */
        jw_add_release(&slots[snapshot->slot_index].left_count, 1);
    }
}

const struct symbols_range *symbols_snapshot_range(const struct symbols_snapshot *snapshot,
                                                   uintptr_t pc)
{
    uint32_t low = 0, high = snapshot->range_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (snapshot->ranges[middle].end <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == snapshot->range_count || pc < snapshot->ranges[low].start)
        return NULL;
    return &snapshot->ranges[low];
}

bool symbols_snapshot_watches(const struct symbols_snapshot *snapshot, uintptr_t start_pc,
                              uintptr_t end_pc)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, start_pc);

    return range != NULL && range->end >= end_pc && !range->library->is_weak &&
           !jw_load_relaxed(&range->library->is_doubted);
}

const struct symbols_library *symbols_find_library(const struct symbols_snapshot *snapshot,
                                                   uintptr_t pc)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, pc);

    return range == NULL ? NULL : range->library;
}

const struct symbols_library_facts *symbols_library_facts(const struct symbols_library *library)
{
    return &library->facts;
}

bool symbols_proof_find(const struct symbols_snapshot *snapshot, uintptr_t pc,
                        struct symbols_proof *proof)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, pc);

    if (range == NULL)
        return false;
    *proof = (struct symbols_proof){.start_pc = range->start,
                                    .end_pc = range->end,
                                    .address = range->library->proof_address,
                                    .word = range->library->proof_word};
    return true;
}

uintptr_t symbols_frame_header(const struct symbols_snapshot *snapshot, uintptr_t pc)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, pc);

    if (range == NULL || range->library->identity.frame_header.file_bytes == 0)
        return 0;
    return range->library->facts.load_bias + range->library->identity.frame_header.vaddr;
}

bool symbols_find_segment(const struct symbols_snapshot *snapshot, uintptr_t addr, uintptr_t *start,
                          uintptr_t *end)
{
    for (uint32_t i = 0; i < snapshot->library_count; i++) {
        const struct symbols_library *library = snapshot->libraries[i];

        for (uint32_t j = 0; j < library->identity.load_count; j++) {
            const struct symbols_segment *segment = &library->identity.loads[j];
            const uintptr_t first = library->facts.load_bias + segment->vaddr;

            if (addr >= first && addr - first < segment->file_bytes) {
                *start = first;
                *end = first + segment->file_bytes;
                return true;
            }
        }
    }
    return false;
}

void symbols_doubt(const struct symbols_snapshot *snapshot, uintptr_t pc)
{
    const struct symbols_range *range = symbols_snapshot_range(snapshot, pc);

    if (range == NULL)
        return;
    jw_store_relaxed(&range->library->is_doubted, true);
    symbols_want(SYMBOLS_WANT_TRUTH);
}

enum symbols_found symbols_rule_find(const struct symbols_snapshot *snapshot, uintptr_t pc,
                                     bool is_return_address, struct symbols_rule *rule)
{
    const uintptr_t inside_pc = is_return_address ? pc - 1 : pc;
    const struct symbols_range *range = symbols_snapshot_range(snapshot, inside_pc);

    if (range == NULL) {
        symbols_want(SYMBOLS_WANT_LIBRARIES);
        return SYMBOLS_NO_LIBRARY;
    }

    struct symbols_library *library = range->library;
    const struct symbols_rows *rows = symbols_library_rows(library);
    if (rows == NULL) {
        jw_store_relaxed(&library->is_rows_wanted, true);
        symbols_want(SYMBOLS_WANT_ROWS);
        return SYMBOLS_NO_ROWS;
    }

    uint8_t stub_push_byte;
    const struct symbols_packed packed =
        symbols_rows_find(rows, inside_pc - library->facts.start_pc);
    switch (symbols_rule_unpack(packed, rule, &stub_push_byte)) {
    case SYMBOLS_RULE_GAP:
        return SYMBOLS_NO_ROW;
    case SYMBOLS_RULE_OUTERMOST:
        return SYMBOLS_OUTERMOST;
    case SYMBOLS_RULE_CANNOT:
        return SYMBOLS_CANNOT;
    case SYMBOLS_RULE_PLAIN:
        break;
    }
    if (stub_push_byte != 0 && ((inside_pc - library->facts.load_bias) & 15) >= stub_push_byte)
        rule->cfa_offset_bytes += (int32_t)sizeof(uintptr_t);
    return SYMBOLS_FOUND;
}

void symbols_want(unsigned what)
{
    /* Looked at first: while a wish stands, samples of all threads only read the word. */
    if ((jw_load_relaxed(&wanted) & what) != what)
        jw_or_relaxed(&wanted, what);
}

unsigned symbols_snapshot_take_wanted(void)
{
    const unsigned what = jw_load_relaxed(&wanted);

    if (what != 0)
        jw_store_relaxed(&wanted, 0);
    return what;
}

struct symbols_snapshot *symbols_snapshot_current(void)
{
    /* Relaxed: only the holder of the room's lock, which we are, changes the slot in it. */
    return slots[GATE_SLOT(jw_load_relaxed(&gate))].snapshot;
}

bool symbols_snapshot_publish(struct symbols_snapshot *snapshot)
{
    uint32_t fresh = 1;

    (void)symbols_snapshot_reclaim();
    while (fresh < SLOTS && slots[fresh].snapshot != NULL)
        fresh++;
    if (fresh == SLOTS)
        return false;
    snapshot->slot_index = fresh;
    slots[fresh].snapshot = snapshot;
    slots[fresh].is_waiting = false;
    jw_store_relaxed(&slots[fresh].left_count, 0);

    /* order SYMBOLS_GATE: releases the snapshot and its slot; acquires the last count of visitors. */
    const uint64_t replaced = jw_exchange_acq_rel(&gate, (uint64_t)fresh);
    struct symbols_slot *old = &slots[GATE_SLOT(replaced)];
    if (old->snapshot != NULL) {
        old->entered_count = GATE_VISITORS(replaced);
        old->is_waiting = true;
    }
    return true;
}

void symbols_snapshot_free(struct symbols_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->library_count; i++)
        symbols_library_release(snapshot->libraries[i]);
    jw_free(snapshot->libraries);
    jw_free(snapshot->ranges);
    jw_free(snapshot);
}

uint32_t symbols_snapshot_reclaim(void)
{
    uint32_t waiting = 0;

    for (uint32_t i = 1; i < SLOTS; i++) {
        struct symbols_slot *slot = &slots[i];

        if (!slot->is_waiting)
            continue;
        /* order SYMBOLS_LEAVE: acquires what symbols_leave released, the end of all reading. */
        if (jw_load_acquire(&slot->left_count) != slot->entered_count) {
            waiting++;
            continue;
        }
        symbols_snapshot_free(slot->snapshot);
        slot->snapshot = NULL;
        slot->is_waiting = false;
    }
    return waiting;
}

void symbols_snapshot_close(void)
{
    jw_store_relaxed(&gate, 0);
    jw_store_relaxed(&wanted, 0);
    for (uint32_t i = 1; i < SLOTS; i++) {
        if (slots[i].snapshot != NULL)
            symbols_snapshot_free(slots[i].snapshot);
        slots[i].snapshot = NULL;
        slots[i].is_waiting = false;
    }
}
