/* Errors keep the deepest cause; allocation fails when a test says so. */
#include "base/jw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <string.h>

#include "base/counters.h"

TestSuite(jw, .timeout = 1800);

Test(jw, an_error_keeps_its_first_message)
{
    struct jw_error err = {0};

    jw_error_set(&err, "cannot open %s: %d", "x.jfr", 13);
    jw_error_set(&err, "cannot start");
    cr_assert(strcmp(err.message, "cannot open x.jfr: 13") == 0, "%s", err.message);
    jw_error_clear(&err);
    cr_assert(strcmp(err.message, "") == 0, "%s", err.message);
    jw_error_set(&err, "cannot start");
    cr_assert(strcmp(err.message, "cannot start") == 0, "%s", err.message);
}

Test(jw, an_error_that_nobody_wants_is_dropped)
{
    jw_error_set(NULL, "cannot open %s", "x.jfr");
    jw_error_clear(NULL);
}

Test(jw, a_long_error_is_cut_and_terminated)
{
    struct {
        struct jw_error err;
        char guard;
    } guarded = {.guard = 'g'};
    char path[2000];

    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    jw_error_set(&guarded.err, "cannot open %s", path);
    cr_assert(eq(sz, strlen(guarded.err.message), sizeof guarded.err.message - 1));
    cr_assert(eq(chr, guarded.guard, 'g'));
}

Test(jw, memory_comes_zeroed_and_also_for_no_bytes)
{
    unsigned char *bytes = jw_alloc(1000);

    cr_assert(ne(ptr, bytes, NULL));
    for (int i = 0; i < 1000; i++)
        cr_assert(eq(int, bytes[i], 0));
    memset(bytes, 9, 1000);
    unsigned char *more = jw_realloc(bytes, 2000);
    cr_assert(ne(ptr, more, NULL));
    cr_assert(eq(int, more[999], 9));
    jw_free(more);

    void *nothing = jw_alloc(0);
    cr_assert(ne(ptr, nothing, NULL));
    jw_free(nothing);
    jw_free(NULL);
}

Test(jw, the_nth_allocation_and_all_later_ones_fail)
{
    jw_alloc_fail_after(3);
    void *first = jw_alloc(1);
    void *second = jw_realloc(NULL, 1);

    cr_assert(ne(ptr, first, NULL));
    cr_assert(ne(ptr, second, NULL));
    cr_assert(eq(ptr, jw_alloc(1), NULL));
    cr_assert(eq(ptr, jw_realloc(first, 1), NULL));
    cr_assert(eq(ptr, jw_alloc(1), NULL));

    jw_alloc_fail_after(0);
    void *again = jw_alloc(1);
    cr_assert(ne(ptr, again, NULL));
    jw_free(again);
    jw_free(second);
    jw_free(first); /* a reallocation that fails leaves the old memory to its owner */
}

Test(jw, each_allocation_asked_for_is_counted)
{
    const uint64_t before = jw_alloc_count();

    jw_free(jw_alloc(1));
    jw_alloc_fail_after(1);
    cr_assert(eq(ptr, jw_alloc(1), NULL));
    cr_assert(eq(u64, jw_alloc_count() - before, 2));
}

Test(jw, a_product_that_does_not_fit_is_never_granted)
{
    cr_assert(eq(sz, jw_mul_bytes(6, 7), 42));
    cr_assert(eq(sz, jw_mul_bytes(0, SIZE_MAX), 0));
    cr_assert(eq(sz, jw_mul_bytes(SIZE_MAX, 1), SIZE_MAX));
    cr_assert(eq(sz, jw_mul_bytes(SIZE_MAX / 2 + 1, 2), SIZE_MAX));
    cr_assert(eq(sz, jw_mul_bytes((size_t)1 << 40, (size_t)1 << 40), SIZE_MAX));
}

Test(jw, an_invariant_that_holds_is_true_and_costs_no_count)
{
    const bool holds = JW_INVARIANT(1 + 1 == 2);

    cr_assert(holds);
    cr_assert(eq(u64, jw_counter(JW_COUNT_INVARIANT_BROKEN), 0));
}

#if defined(JW_CHECKED) && JW_CHECKED
/* A trap is SIGILL on x86-64, SIGTRAP on aarch64. */
#if defined(__aarch64__)
#define TRAP_SIGNAL SIGTRAP
#else
#define TRAP_SIGNAL SIGILL
#endif
Test(jw, a_broken_invariant_traps_in_a_checked_build, .signal = TRAP_SIGNAL)
{
    const bool holds = JW_INVARIANT(1 + 1 == 3);

    cr_assert(holds);
}
#else
Test(jw, a_broken_invariant_is_false_and_counted)
{
    const bool holds = JW_INVARIANT(1 + 1 == 3);

    cr_assert(not(holds));
    cr_assert(eq(u64, jw_counter(JW_COUNT_INVARIANT_BROKEN), 1));
}
#endif
