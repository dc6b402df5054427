/*
 * The generation protocol. Handlers and hooks claim and leave cells; the one dump thread changes the
 * state of buffers and proves them empty. Checked with a model: tests/model/epoch.pml.
 */
#include "epoch/epoch.h"

#include <string.h>

#include "base/arena.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"

/* Low half of a taken cell's word: PENDING, or a buffer's number plus 1; high half: the tid. */
#define CELL_PENDING    ((uint64_t)0xff)
#define CELL_LOW_MASK   ((uint64_t)0xffffffff)
#define CELL_LINE       64
#define CELL_HASH_SHIFT (64 - 8) /* EPOCH_CELLS cells */
#define SEEN_WORDS      (EPOCH_CELLS / 64)

struct epoch_cell {
    _Atomic uint64_t word;
    unsigned char padding[CELL_LINE - sizeof(uint64_t)];
};

struct epoch_life {
    /* Relaxed: written by the dump thread alone, and read elsewhere only to show them. */
    _Atomic uint32_t state;
    _Atomic uint64_t number;
    /* Dump thread alone: cells seen not to be in the way since the buffer was closed. */
    uint64_t seen[SEEN_WORDS];
};

struct epoch {
    struct epoch_cell cells[EPOCH_CELLS];
    _Atomic uint32_t active;
    unsigned char padding[CELL_LINE - sizeof(uint32_t)];
    struct jw_arena memory; /* in which this struct lies */
    struct epoch_life lives[EPOCH_BUFFERS];
};

_Static_assert(sizeof(struct epoch_cell) == CELL_LINE, "one cell, one cache line");
_Static_assert(1ull << (64 - CELL_HASH_SHIFT) == EPOCH_CELLS, "a hash is the number of a cell");

JW_SIGNAL_SAFE static uint64_t cell_word(uint32_t tid, uint64_t low)
{
    return (uint64_t)tid << 32 | low;
}

static bool is_in_the_way(uint64_t word, int buffer)
{
    const uint64_t low = word & CELL_LOW_MASK;

    return low == CELL_PENDING || low == (uint64_t)buffer + 1;
}

static bool is_buffer(int buffer)
{
    return JW_INVARIANT(buffer >= 0 && buffer < EPOCH_BUFFERS);
}

static bool all_seen(const struct epoch_life *life)
{
    for (uint32_t i = 0; i < SEEN_WORDS; i++)
        if (life->seen[i] != UINT64_MAX)
            return false;
    return true;
}

struct epoch *epoch_open(struct jw_error *err)
{
    struct jw_arena memory;

    if (!jw_memory_charge(JW_MEMORY_SAMPLES, sizeof(struct epoch))) {
        jw_error_set(err, "memlimit leaves no room for activation cells; try a larger one");
        return NULL;
    }
    if (!jw_arena_open(&memory, sizeof(struct epoch), "activation cells", err)) {
        jw_memory_credit(JW_MEMORY_SAMPLES, sizeof(struct epoch));
        return NULL;
    }

    struct epoch *epoch = jw_arena_take(&memory, sizeof(struct epoch));
    memset(epoch, 0, sizeof *epoch); /* touched here, so that a claim never faults a page in */
    epoch->memory = memory;
    jw_store_relaxed(&epoch->lives[0].state, EPOCH_ACTIVE);
    jw_store_relaxed(&epoch->lives[0].number, 1);
    return epoch;
}

void epoch_close(struct epoch *epoch)
{
    if (epoch == NULL)
        return;

    struct jw_arena memory = epoch->memory;
    jw_arena_close(&memory);
    jw_memory_credit(JW_MEMORY_SAMPLES, sizeof(struct epoch));
}

/* Where a thread begins to look: cells of threads whose stacks lie side by side lie far apart (the golden ratio in
 * 64 bits, Knuth: multiplicative hashing). */
JW_SIGNAL_SAFE static inline uint32_t first_cell(void)
{
    const uint64_t address = (uintptr_t)__builtin_thread_pointer();

    return (uint32_t)(address * 0x9e3779b97f4a7c15ull >> CELL_HASH_SHIFT);
}

JW_SIGNAL_SAFE static inline struct epoch_ticket claim(struct epoch *epoch, uint32_t index,
                                                       uint32_t tid)
{
    struct epoch_cell *cell = &epoch->cells[index];
    uint64_t expected = 0;

    /* order EPOCH_SC: claim, before the load of `active` in the one order of all threads. */
    if (!jw_cas_seq_cst(&cell->word, &expected, cell_word(tid, CELL_PENDING)))
        return (struct epoch_ticket){0};
    /* order EPOCH_SC: after the claim. Also sees the cleared buffer that epoch_rotate offers. */
    const uint32_t buffer = jw_load_seq_cst(&epoch->active);
    /* order EPOCH_CELL: releases the load above: who sees this name need not fear another. */
    jw_store_release(&cell->word, cell_word(tid, (uint64_t)buffer + 1));
    return (struct epoch_ticket){&cell->word, index, buffer};
}

/* Apart, so that the common way saves no registers: each would be a store for the claim to wait for. */
JW_SIGNAL_SAFE __attribute__((noinline)) static struct epoch_ticket
claim_another(struct epoch *epoch, uint32_t tid, uint32_t taken)
{
    if (!JW_INVARIANT(tid != 0))
        return (struct epoch_ticket){0};
    for (uint32_t probe = 1; probe < EPOCH_PROBES; probe++) {
        const uint32_t index = (taken + probe) % EPOCH_CELLS;

        /* Relaxed: a hint; what counts is the CAS. */
        if (jw_load_relaxed(&epoch->cells[index].word) != 0)
            continue;
        const struct epoch_ticket ticket = claim(epoch, index, tid);
        if (ticket.cell != NULL)
            return ticket;
    }
    return (struct epoch_ticket){0};
}

struct epoch_ticket epoch_claim(struct epoch *epoch, uint32_t tid)
{
    const uint32_t first = first_cell();

    if (tid != 0) {
        const struct epoch_ticket ticket = claim(epoch, first, tid);
        if (ticket.cell != NULL)
            return ticket;
    }
    return claim_another(epoch, tid, first);
}

int epoch_next(const struct epoch *epoch)
{
    const int active = epoch_active(epoch);

    for (int step = 1; step < EPOCH_BUFFERS; step++) {
        const int buffer = (active + step) % EPOCH_BUFFERS;

        if (epoch_state(epoch, buffer) == EPOCH_FREE)
            return buffer;
    }
    return EPOCH_NONE;
}

int epoch_rotate(struct epoch *epoch)
{
    const int old = epoch_active(epoch);
    const int next = epoch_next(epoch);

    if (next == EPOCH_NONE) {
        jw_count(JW_COUNT_ROTATION_PUT_OFF);
        return EPOCH_NONE;
    }
    memset(epoch->lives[old].seen, 0, sizeof epoch->lives[old].seen);
    jw_store_relaxed(&epoch->lives[next].number, epoch_generation(epoch, old) + 1);
    jw_store_relaxed(&epoch->lives[next].state, EPOCH_ACTIVE);
    /* order EPOCH_SC: before every look at a cell for `old`. Also hands over the cleared buffer. */
    jw_store_seq_cst(&epoch->active, (uint32_t)next);
    jw_store_relaxed(&epoch->lives[old].state, EPOCH_CLOSED);
    jw_count(JW_COUNT_GENERATIONS);
    return old;
}

bool epoch_prove(struct epoch *epoch, int buffer)
{
    if (!is_buffer(buffer) || epoch_state(epoch, buffer) != EPOCH_CLOSED)
        return false;

    struct epoch_life *life = &epoch->lives[buffer];
    for (uint32_t i = 0; i < EPOCH_CELLS; i++) {
        const uint64_t bit = 1ull << i % 64;

        if ((life->seen[i / 64] & bit) != 0)
            continue;
        /* order EPOCH_SC: after the store of `active` that closed the buffer. */
        /* order EPOCH_CELL: acquires what epoch_leave released, all writes to the buffer. */
        if (!is_in_the_way(jw_load_seq_cst(&epoch->cells[i].word), buffer))
            life->seen[i / 64] |= bit;
    }
    return all_seen(life);
}

void epoch_free(struct epoch *epoch, int buffer)
{
    if (!is_buffer(buffer) || !JW_INVARIANT(epoch_state(epoch, buffer) == EPOCH_CLOSED &&
                                            all_seen(&epoch->lives[buffer])))
        return;
    jw_store_relaxed(&epoch->lives[buffer].state, EPOCH_FREE);
}

uint32_t epoch_empty_dead_cells(struct epoch *epoch, epoch_is_alive *is_alive, void *arg)
{
    uint32_t emptied_count = 0;

    for (uint32_t i = 0; i < EPOCH_CELLS; i++) {
        /* order EPOCH_CELL: acquires the claim, so that `is_alive` is asked after it. */
        uint64_t word = jw_load_acquire(&epoch->cells[i].word);

        if (word == 0 || is_alive((uint32_t)(word >> 32), arg))
            continue;
        /* order EPOCH_CELL: releases for the next owner; a word that changed meanwhile stays. */
        if (!jw_cas_acq_rel(&epoch->cells[i].word, &word, 0))
            continue;
        emptied_count++;
        jw_count(JW_COUNT_CELLS_EMPTIED);
    }
    return emptied_count;
}

enum epoch_state epoch_state(const struct epoch *epoch, int buffer)
{
    return (enum epoch_state)jw_load_relaxed(&epoch->lives[buffer].state);
}

int epoch_active(const struct epoch *epoch)
{
    /* Relaxed: the dump thread reads what it wrote itself; for others it is a figure to show. */
    return (int)jw_load_relaxed(&epoch->active);
}

uint64_t epoch_generation(const struct epoch *epoch, int buffer)
{
    return jw_load_relaxed(&epoch->lives[buffer].number);
}

/* Relaxed in both: figures to show, nothing is concluded from them. */
uint32_t epoch_cells_taken(const struct epoch *epoch)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < EPOCH_CELLS; i++)
        count += jw_load_relaxed(&epoch->cells[i].word) != 0;
    return count;
}

uint32_t epoch_cells_inside(const struct epoch *epoch, int buffer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < EPOCH_CELLS; i++)
        count += (jw_load_relaxed(&epoch->cells[i].word) & CELL_LOW_MASK) == (uint64_t)buffer + 1;
    return count;
}
