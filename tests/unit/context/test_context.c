/* Slots: who gets which, what names them, when they are free again. */
#include "context/context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/memory.h"
#include "context/context_internal.h"
#include "thread/thread_symbol.h"

static void open_contexts(void)
{
    struct jw_error err = {0};

    cr_assert(contexts_open(&err), "%s", err.message);
}

TestSuite(context, .init = open_contexts, .timeout = 1800);

static bool names(context_slot slot)
{
    uint64_t owner;

    return context_own(&owner) == slot;
}

Test(context, opening_twice_is_opening_once)
{
    struct jw_error err = {0};
    size_t bytes, again_bytes;
    void *memory = contexts_memory(&bytes);

    cr_assert(contexts_open(&err));
    cr_assert(contexts_memory(&again_bytes) == memory);
    cr_assert(eq(u64, bytes, (uint64_t)CONTEXT_SLOTS * CONTEXT_SLOT_BYTES));
}

Test(context, an_owner_keeps_its_slot_and_others_get_others)
{
    const context_slot first = context_bind(7, true), second = context_bind(8, true);

    cr_assert(ne(i32, first, CONTEXT_NO_SLOT));
    cr_assert(ne(i32, first, second));
    cr_assert(eq(i32, context_bind(7, true), first));
    cr_assert(eq(i32, context_find(8), second));
    cr_assert(eq(i32, context_find(9), CONTEXT_NO_SLOT));
    cr_assert(eq(u64, context_place_of(first)->owner, 7));
    cr_assert(eq(u8, context_place_of(first)->valid, 1));
}

Test(context, nobody_is_no_owner)
{
    cr_assert(eq(i32, context_bind(0, true), CONTEXT_NO_SLOT));
    cr_assert(eq(i32, context_find(0), CONTEXT_NO_SLOT));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), 0));
}

Test(context, a_virtual_thread_leaves_the_carrier_s_symbol_empty)
{
    cr_assert(ne(i32, context_bind(7, true), CONTEXT_NO_SLOT));
    cr_assert(names(CONTEXT_NO_SLOT));
}

Test(context, a_platform_thread_s_symbol_names_its_record)
{
    const context_slot slot = context_bind(7, false);

    cr_assert(names(slot));
    cr_assert(thread_symbol() == context_place_of(slot)->trace_id);
    cr_assert(ne(u32, context_place_of(slot)->os_tid, 0));
}

Test(context, a_slot_given_back_is_empty_and_nothing_names_it)
{
    const struct context_ids ids = {1, 2, 3, 4};
    const context_slot slot = context_bind(7, false);

    context_set(slot, &ids);
    context_unbind(slot, 7);
    cr_assert(names(CONTEXT_NO_SLOT));
    cr_assert(eq(i32, context_find(7), CONTEXT_NO_SLOT));
    cr_assert(eq(u64, context_place_of(slot)->root_span_id, 0));
    cr_assert(eq(u8, context_place_of(slot)->valid, 0));
}

Test(context, nobody_gives_back_what_is_another_s)
{
    const context_slot slot = context_bind(7, false);

    context_unbind(slot, 8);
    context_unbind(slot, 0);
    context_unbind(CONTEXT_NO_SLOT, 7);
    context_unbind((context_slot)CONTEXT_SLOTS, 7);
    cr_assert(names(slot));
    cr_assert(eq(i32, context_find(7), slot));
}

Test(context, a_thread_with_a_new_number_gives_its_old_slot_back)
{
    const context_slot native = context_bind(CONTEXT_NATIVE_OWNER | 100, false);
    const context_slot java = context_bind(7, false);

    cr_assert(names(java));
    cr_assert(ne(i32, native, java));
    cr_assert(eq(i32, context_find(CONTEXT_NATIVE_OWNER | 100), CONTEXT_NO_SLOT));
}

Test(context, the_end_in_java_gives_the_slot_back)
{
    (void)context_bind(7, false);
    context_end_thread();
    context_end_thread();
    cr_assert(names(CONTEXT_NO_SLOT));
    cr_assert(eq(i32, context_find(7), CONTEXT_NO_SLOT));
}

static void *bind_and_die(void *argument)
{
    const struct context_ids ids = {1, 2, 3, 4};
    const context_slot slot = context_bind(*(uint64_t *)argument, false);

    context_set(slot, &ids);
    return names(slot) ? argument : NULL;
}

Test(context, a_thread_that_dies_without_a_word_gives_its_slot_back)
{
    uint64_t owner = CONTEXT_NATIVE_OWNER | 100;
    pthread_t thread;
    void *was_named;

    pthread_create(&thread, NULL, bind_and_die, &owner);
    pthread_join(thread, &was_named);
    cr_assert(was_named != NULL);
    cr_assert(eq(i32, context_find(owner), CONTEXT_NO_SLOT));
}

Test(context, a_number_that_another_thread_had_brings_nothing_of_its_record)
{
    const struct context_ids ids = {1, 2, 3, 4};
    const context_slot before = context_bind(CONTEXT_NATIVE_OWNER | 100, false);

    context_set(before, &ids);
    thread_symbol_set(NULL); /* as in a thread of that number that never had a slot */
    const context_slot slot = context_bind(CONTEXT_NATIVE_OWNER | 100, false);
    cr_assert(eq(i32, slot, before));
    cr_assert(names(slot));
    cr_assert(eq(u64, context_place_of(slot)->root_span_id, 0));
    cr_assert(eq(u8, context_place_of(slot)->valid, 1));
}

Test(context, another_library_s_record_is_none_of_ours)
{
    static unsigned char foreign[704];
    const context_slot slot = context_bind(7, false);
    unsigned char *const record = context_place_of(slot)->trace_id;

    thread_symbol_set(foreign);
    cr_assert(names(CONTEXT_NO_SLOT));
    thread_symbol_set(record + 1);
    cr_assert(names(CONTEXT_NO_SLOT));
    thread_symbol_set(record - CONTEXT_RECORD_OFFSET);
    cr_assert(names(CONTEXT_NO_SLOT));
    thread_symbol_set(record);
    cr_assert(names(slot));
}

/* Seven of ten slots in use: nobody is refused. All of them wanted, and more: each refusal is counted. */
Test(context, what_does_not_fit_is_refused_and_counted)
{
    const uint64_t most = CONTEXT_SLOTS / 10 * 7, all = CONTEXT_SLOTS + 1000;
    bool *is_taken = calloc(CONTEXT_SLOTS, sizeof *is_taken);
    uint64_t given = 0;

    for (uint64_t owner = 1; owner <= all; owner++) {
        const context_slot slot = context_bind(owner, true);

        if (owner <= most)
            cr_assert(ne(i32, slot, CONTEXT_NO_SLOT), "refused as number %zu", (size_t)owner);
        if (slot == CONTEXT_NO_SLOT)
            continue;
        cr_assert(not(is_taken[slot]));
        is_taken[slot] = true;
        given++;
    }
    cr_assert(ge(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), 1000));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), all - given));
    for (uint64_t owner = 1; owner <= all; owner++)
        context_unbind(context_find(owner), owner);
    for (uint64_t owner = 1; owner <= most; owner++)
        cr_assert(ne(i32, context_bind(owner + all, true), CONTEXT_NO_SLOT));
    free(is_taken);
}

#define THREADS 8
#define ROUNDS  2000

/* Each thread binds numbers of its own, writes into their slots, and finds there what it wrote. */
static void *come_and_go(void *argument)
{
    const uint64_t base = (uint64_t)(uintptr_t)argument * ROUNDS + 1;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t owner = base + round;
        const struct context_ids ids = {owner, owner, owner, owner};
        const context_slot slot = context_bind(owner, round % 2 == 0);

        context_set(slot, &ids);
        if (slot == CONTEXT_NO_SLOT || context_find(owner) != slot ||
            context_place_of(slot)->root_span_id != owner)
            return argument;
        context_unbind(slot, owner);
    }
    return NULL;
}

Test(context, threads_that_come_and_go_never_share_a_slot)
{
    pthread_t threads[THREADS];
    void *failed;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        cr_assert(failed == NULL);
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), 0));
}

Test(context_closed, without_memory_there_is_no_context_and_no_harm)
{
    const struct context_ids ids = {1, 2, 3, 4};
    uint64_t owner;
    size_t bytes;

    cr_assert(contexts_memory(&bytes) == NULL && bytes == 0);
    cr_assert(eq(i32, context_bind(7, false), CONTEXT_NO_SLOT));
    cr_assert(eq(i32, context_own(&owner), CONTEXT_NO_SLOT));
    context_set(0, &ids);
    context_clear(0);
    context_unbind(0, 7);
    context_end_thread();
    cr_assert(not(context_attribute_set(0, 0, "x", 1)));
}

Test(context_closed, at_its_share_contexts_are_refused_and_counted)
{
    struct jw_memory_figures figures;
    struct jw_error err = {0};
    uint64_t bound = 0, refused = 0;

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    cr_assert(contexts_open(&err), "%s", err.message);
    for (uint64_t owner = 1; owner <= 4000; owner++) {
        const bool is_bound = context_bind(owner, true) != CONTEXT_NO_SLOT;

        bound += is_bound;
        refused += !is_bound;
    }
    cr_assert(ge(u64, bound, 700), "%llu", (unsigned long long)bound);
    cr_assert(eq(u64, jw_counter(JW_COUNT_CONTEXT_REFUSED), refused));
    jw_memory_get(JW_MEMORY_CONTEXTS, &figures);
    cr_assert(le(u64, figures.used_bytes, figures.charged_bytes));
    cr_assert(le(u64, figures.charged_bytes, figures.limit_bytes));
}
