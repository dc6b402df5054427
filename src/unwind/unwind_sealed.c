/* What the sealed copy of libunwind calls, instead of what it would; handler. */
#include "unwind/unwind_sealed_internal.h"

#include "base/atomics.h"

struct unwind_sealed_pool unwind_sealed_entries, unwind_sealed_states;

/* libunwind's number of each register of DWARF. Source: System V ABI for x86-64, figure 3.36; libunwind-x86_64.h. */
const uint8_t unwind_sealed_numbers[17] = {0, 1,  2,  3,  4,  5,  6,  7, 8,
                                           9, 10, 11, 12, 13, 14, 15, 16};

/* Relaxed: told sooner or later. */
static _Atomic bool is_broken;

bool unwind_sealed_is_broken(void)
{
    return jw_load_relaxed(&is_broken);
}

unsigned unwind_sealed_taken(void)
{
    return (unsigned)__builtin_popcountll(jw_load_relaxed(&unwind_sealed_entries.taken)) +
           (unsigned)__builtin_popcountll(jw_load_relaxed(&unwind_sealed_states.taken));
}

/* -------- called by the copy ----------------------------------------------------------------- */

/* NULL when all are taken: the copy ends the step then, as where memory is short. */
void *unwind_sealed_take(struct unwind_sealed_pool *pool)
{
    uint64_t taken = jw_load_relaxed(&pool->taken);

    while (taken != UINT64_MAX) {
        const int index = __builtin_ctzll(~taken);

        /* order UNWIND_BLOCK: acquires the block from who gave it back. */
        if (jw_cas_acq_rel(&pool->taken, &taken, taken | (uint64_t)1 << index))
            return pool->blocks[index];
    }
    return NULL;
}

void unwind_sealed_give(struct unwind_sealed_pool *pool, const void *block)
{
    const uintptr_t offset = (uintptr_t)block - (uintptr_t)pool->blocks;

    if (offset >= sizeof pool->blocks)
        (void)unwind_sealed_unforeseen();
    else
        /* order UNWIND_BLOCK: releases the block to who takes it next. */
        (void)jw_and_release(&pool->taken, ~((uint64_t)1 << offset / sizeof pool->blocks[0]));
}

int unwind_sealed_register(struct unwind_sealed_cursor *cursor, int number, uint64_t *value,
                           int is_write)
{
    if (is_write)
        return -UNWIND_E_BADREG;
    if (number == arch_facts.unwind_sp || number == arch_facts.unwind_pc) {
        *value = number == arch_facts.unwind_sp ? cursor->cfa : cursor->ip;
        return 0;
    }

    if (number < 0 || number >= arch_facts.unwind_cursor_registers)
        return -UNWIND_E_BADREG;

    const struct unwind_accessors *accessors = (const void *)cursor->space;
    const struct unwind_sealed_place *place = &unwind_sealed_places(cursor)[number];
    if (place->value == 0 && place->kind == 0)
        return -UNWIND_E_BADREG;
    if ((place->kind & UNWIND_SEALED_IN_REGISTER) != 0)
        return accessors->register_(cursor->space, (int)place->value, value, 0, cursor->view);
    if ((place->kind & UNWIND_SEALED_IS_VALUE) == 0)
        return accessors->memory(cursor->space, place->value, value, 0, cursor->view);
    *value = place->value;
    return 0;
}

/* Code that registered itself with libunwind, which knows of none. */
int unwind_sealed_no_dynamic(struct unwind_space *space, uint64_t ip, struct unwind_procedure *out,
                             int needs_info, void *view)
{
    (void)space, (void)ip, (void)out, (void)needs_info, (void)view;
    return -UNWIND_E_NOINFO;
}

/* Of the address space, which is made once and stays. */
void *unwind_sealed_room(size_t count, size_t size_bytes)
{
    static uint64_t room[UNWIND_SEALED_SPACE_BYTES / sizeof(uint64_t) + 64];

    return size_bytes != 0 && count <= sizeof room / size_bytes ? room : NULL;
}

/* A lock, a mapping, a file or the loader: for its own address space or its cache. -1, as all of these fail with. */
intptr_t unwind_sealed_unforeseen(void)
{
    jw_store_relaxed(&is_broken, true);
    return -1;
}
