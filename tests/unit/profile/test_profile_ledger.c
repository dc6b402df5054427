/* The CPU ledger of a profile: what is summed, under which name. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static struct profile *profile;
static struct jw_error err;

static void open_profile(void)
{
    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    cr_assert_not_null(profile, "%s", err.message);
}

static void close_profile(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
}

TestSuite(profile_ledger, .init = open_profile, .fini = close_profile, .timeout = 1800);

static void add(const char *name, int64_t used_ns, int64_t sampled_ns, uint64_t ended_threads)
{
    profile_thread_cpu(profile, &(struct profile_cpu){name, used_ns, sampled_ns, ended_threads});
}

Test(profile_ledger, there_is_none_unless_it_was_told)
{
    size_t count;

    cr_expect_null(profile_ledger_of(profile));
    (void)profile_thread_cpus(profile, &count);
    cr_expect_eq(count, 0);
}

Test(profile_ledger, several_recordings_add_up)
{
    const struct jw_ledger one = {.process_ns = 100,
                                  .lines_ns = {[JW_LEDGER_SAMPLED] = 110, [JW_LEDGER_LIVE] = -10},
                                  .live_threads = 1,
                                  .ended_threads = 2,
                                  .short_threads = 1};

    profile_ledger(profile, &one);
    profile_ledger(profile, &one);
    const struct jw_ledger *sum = profile_ledger_of(profile);
    cr_assert_not_null(sum);
    cr_expect_eq(sum->process_ns, 200);
    cr_expect_eq(sum->lines_ns[JW_LEDGER_SAMPLED], 220);
    cr_expect_eq(sum->lines_ns[JW_LEDGER_LIVE], -20);
    cr_expect_eq(sum->live_threads, 2);
    cr_expect_eq(sum->ended_threads, 4);
    cr_expect_eq(sum->short_threads, 2);
}

Test(profile_ledger, threads_of_like_names_are_one_row_in_the_order_of_names)
{
    size_t count;

    add("pool-1-thread-2", 5, 10, 1);
    add("main", 7, 0, 0);
    add("pool-12-thread-1", -1, 0, 1);
    const struct profile_cpu *rows = profile_thread_cpus(profile, &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(rows[0].name, "main");
    cr_expect_str_eq(rows[1].name, "pool-*-thread-*");
    cr_expect_eq(rows[1].used_ns, 4);
    cr_expect_eq(rows[1].sampled_ns, 10);
    cr_expect_eq(rows[1].ended_threads, 2);
}

Test(profile_ledger, many_names_are_kept_sorted)
{
    char name[8];
    size_t count;

    for (unsigned i = 0; i < 676; i++) {
        const unsigned k = i * 391 % 676;

        snprintf(name, sizeof name, "%c%c", (char)('a' + k / 26), (char)('a' + k % 26));
        add(name, k, 0, 0);
    }
    const struct profile_cpu *rows = profile_thread_cpus(profile, &count);
    cr_assert_eq(count, 676);
    for (unsigned i = 0; i < 676; i++)
        cr_expect_eq(rows[i].used_ns, i);
}

Test(profile_ledger, without_memory_the_profile_says_so)
{
    jw_alloc_fail_after(1);
    add("main", 1, 1, 1);
    jw_alloc_fail_after(0);
    cr_expect_not(profile_seal(profile, &(struct profile_view){0}, &err));
}
