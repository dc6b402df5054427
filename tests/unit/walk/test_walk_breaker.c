/* Walkers that are given up and tried again, by counts and a clock that the test makes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/jw.h"
#include "walk/walk_breaker.h"

#define SECOND JW_NS_PER_SECOND

static uint64_t now_ns;
static bool is_ready;
static uint32_t prepared;
static struct walk_change change;

static const char *const all[WALK_WALKER_LIMIT];
static const char *const vm_alone[WALK_WALKER_LIMIT] = {[WALK_AGCT] = "not here"};
static const char *const agct_alone[WALK_WALKER_LIMIT] = {[WALK_VM] = ""};

static void begin_with(const char *const absent[WALK_WALKER_LIMIT])
{
    is_ready = true;
    prepared = 0;
    walk_breaker_open(absent, now_ns);
}

static void begin(void)
{
    now_ns = 1000 * SECOND;
    begin_with(all);
}

TestSuite(walk_breaker, .init = begin, .timeout = 1800);

static bool prepare(void *context, struct jw_error *err)
{
    (void)context;
    prepared++;
    if (!is_ready)
        jw_error_set(err, "no ids");
    return is_ready;
}

/* A number of the calling thread has its own place among WALK_ODD_THREADS: a fake one each. */
static void walks_of(uint32_t thread, enum walk_walker walker, uint32_t count, uint32_t bad_pct)
{
    for (uint32_t i = 0; i < count; i++)
        walk_breaker_count(walker, thread, i % 100 < bad_pct);
}

/* On four threads. */
static void walks(enum walk_walker walker, uint32_t count, uint32_t bad_pct)
{
    for (uint32_t thread = 1; thread <= 4; thread++)
        walks_of(thread, walker, count / 4, bad_pct);
}

static bool turn(void)
{
    return walk_breaker_turn(now_ns, prepare, NULL, &change);
}

static void changes(const char *from, const char *to)
{
    cr_assert(turn(), "nothing changed");
    cr_assert_str_eq(change.from, from);
    cr_assert_str_eq(change.to, to);
}

static void nothing_changes(void)
{
    cr_assert(not(turn()), "%s to %s: %s", change.from, change.to, change.reason);
}

static void vm_fails(void)
{
    walks(WALK_VM, 1200, 40);
}

Test(walk_breaker, good_walks_change_nothing)
{
    for (int i = 0; i < 50; i++) {
        walks(WALK_VM, 1200, WALK_BREAK_PCT);
        walks(WALK_NATIVE, 1200, WALK_BREAK_PCT);
        now_ns += SECOND;
        nothing_changes();
    }
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_VM));
    cr_assert(walk_breaker_native());
}

Test(walk_breaker, a_bad_batch_steps_down_after_thousands_of_good_ones)
{
    for (int i = 0; i < 50; i++) {
        walks(WALK_VM, 1200, 0);
        nothing_changes();
    }
    vm_fails();
    changes("vm", "agct");
    cr_assert(change.is_down);
    cr_assert(eq(int, (int)change.part, WALK_PART_JAVA));
    cr_assert(eq(u64, change.retry_ns, WALK_QUIET_FIRST_NS));
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_AGCT));
    cr_assert(walk_breaker_native());
    nothing_changes();
}

Test(walk_breaker, few_bad_walks_in_each_batch_do_not_add_up)
{
    for (int i = 0; i < 20; i++) {
        walks(WALK_VM, 1200, 15);
        nothing_changes();
    }
}

Test(walk_breaker, a_batch_that_is_not_full_decides_nothing)
{
    walks(WALK_VM, 1000, 100);
    nothing_changes();
    walks(WALK_VM, 40, 100);
    changes("vm", "agct");
}

Test(walk_breaker, a_slow_batch_is_judged_when_it_is_old)
{
    walks(WALK_VM, WALK_BREAK_WALKS_MIN - 4, 100);
    now_ns += WALK_BREAK_NS;
    nothing_changes(); /* too few to say */
    walks(WALK_VM, 4, 100);
    changes("vm", "agct");
}

Test(walk_breaker, one_odd_thread_is_no_reason)
{
    char text[400];

    walks_of(7, WALK_VM, 600, 100);
    walks(WALK_VM, 600, 2);
    nothing_changes();
    cr_assert(walk_breaker_tell(WALK_PART_JAVA, now_ns, text, sizeof text));
    cr_assert_not_null(strstr(text, "nearly all of one thread"), "%s", text);
    walks(WALK_VM, 1200, 2);
    nothing_changes();
    cr_assert(not(walk_breaker_tell(WALK_PART_JAVA, now_ns, text, sizeof text)));
}

Test(walk_breaker, the_only_thread_is_not_odd)
{
    walks_of(7, WALK_VM, 1200, 40);
    walks_of(8, WALK_VM, 60, 0);
    changes("vm", "agct");
}

Test(walk_breaker, a_walker_that_is_out_is_tried_again_and_stays)
{
    vm_fails();
    changes("vm", "agct");
    now_ns += WALK_QUIET_FIRST_NS - 1;
    walks(WALK_AGCT, 4000, 0);
    nothing_changes();
    now_ns++;
    changes("agct", "vm on trial");
    cr_assert(change.is_trial);
    cr_assert(not(change.is_down));
    walks(WALK_VM, WALK_TRIAL_WALKS - 4, 0);
    nothing_changes();
    walks(WALK_VM, 4, 0);
    changes("vm on trial", "vm");
    cr_assert(not(change.is_down));
    nothing_changes();
}

Test(walk_breaker, a_trial_must_be_better_than_what_is_borne)
{
    vm_fails();
    changes("vm", "agct");
    now_ns += WALK_QUIET_FIRST_NS;
    changes("agct", "vm on trial");
    walks(WALK_VM, WALK_TRIAL_WALKS, (WALK_BREAK_PCT + WALK_TRIAL_PCT) / 2);
    changes("vm on trial", "agct");
    cr_assert(change.is_down);
    cr_assert(eq(u64, change.retry_ns, 2 * WALK_QUIET_FIRST_NS));
}

/* Trips, waits as told, and fails its trial. */
static uint64_t next_quiet_ns(void)
{
    now_ns += change.retry_ns;
    changes("agct", "vm on trial");
    walks(WALK_VM, WALK_TRIAL_WALKS, 100);
    changes("vm on trial", "agct");
    return change.retry_ns;
}

Test(walk_breaker, quiet_time_doubles_up_to_the_most)
{
    uint64_t expected_ns = WALK_QUIET_FIRST_NS;

    vm_fails();
    changes("vm", "agct");
    for (int i = 0; i < 12; i++) {
        expected_ns *= 2;
        if (expected_ns > WALK_QUIET_MAX_NS)
            expected_ns = WALK_QUIET_MAX_NS;
        cr_assert(eq(u64, next_quiet_ns(), expected_ns));
    }
    cr_assert(eq(u64, change.retry_ns, WALK_QUIET_MAX_NS));
}

static void trial_ends_well(void)
{
    now_ns += change.retry_ns;
    changes("agct", "vm on trial");
    walks(WALK_VM, WALK_TRIAL_WALKS, 0);
    changes("vm on trial", "vm");
}

Test(walk_breaker, who_fails_soon_after_a_good_trial_is_out_for_longer)
{
    vm_fails();
    changes("vm", "agct");
    trial_ends_well();
    now_ns += WALK_QUIET_FIRST_NS / 2;
    vm_fails();
    changes("vm", "agct");
    cr_assert(eq(u64, change.retry_ns, 2 * WALK_QUIET_FIRST_NS));
}

Test(walk_breaker, who_was_good_for_long_begins_anew)
{
    vm_fails();
    changes("vm", "agct");
    (void)next_quiet_ns();
    trial_ends_well();
    now_ns += 2 * WALK_QUIET_FIRST_NS;
    vm_fails();
    changes("vm", "agct");
    cr_assert(eq(u64, change.retry_ns, WALK_QUIET_FIRST_NS));
}

Test(walk_breaker, the_ladder_goes_down_to_stacks_without_frames_and_up_again)
{
    vm_fails();
    changes("vm", "agct");
    now_ns += SECOND;
    walks(WALK_AGCT, 1200, 95);
    changes("agct", "none");
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_WALKER_LIMIT));
    walks(WALK_NATIVE, 1200, 30);
    changes("native", "none");
    cr_assert(eq(int, (int)change.part, WALK_PART_NATIVE));
    cr_assert(not(walk_breaker_native()));
    nothing_changes();

    now_ns += WALK_QUIET_FIRST_NS - SECOND;
    changes("none", "vm on trial");
    now_ns += SECOND;
    changes("none", "native on trial");
    walks(WALK_VM, 400, 0);
    walks(WALK_NATIVE, 400, 0);
    changes("vm on trial", "vm");
    changes("native on trial", "native");
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_VM));
    cr_assert(walk_breaker_native());
    nothing_changes(); /* agct is due, and not needed */
    char text[400];
    cr_assert(not(walk_breaker_tell(WALK_PART_JAVA, now_ns, text, sizeof text)), "%s", text);
}

Test(walk_breaker, java_frames_alone_remain_where_native_ones_fail)
{
    walks(WALK_NATIVE, 1200, WALK_BREAK_PCT + 5);
    walks(WALK_VM, 1200, 0);
    changes("native", "none");
    nothing_changes();
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_VM));
}

Test(walk_breaker, the_last_walker_is_borne_for_longer)
{
    begin_with(vm_alone);
    walks(WALK_VM, 1200, WALK_BREAK_LAST_PCT);
    nothing_changes();
    walks(WALK_VM, 1200, 100);
    changes("vm", "none");
    cr_assert_not_null(strstr(change.reason, "agct: not here"), "%s", change.reason);
}

Test(walk_breaker, what_was_asked_for_by_hand_is_not_replaced)
{
    begin_with(agct_alone);
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_AGCT));
    walks(WALK_AGCT, 1200, 100);
    changes("agct", "none");
    now_ns += WALK_QUIET_FIRST_NS;
    changes("none", "agct on trial");
    cr_assert(eq(u32, prepared, 0)); /* it was ready from the start */
}

Test(walk_breaker, agct_is_made_ready_before_it_takes_over)
{
    cr_assert(eq(u32, prepared, 0));
    vm_fails();
    changes("vm", "agct");
    cr_assert(eq(u32, prepared, 1));
    trial_ends_well();
    vm_fails();
    changes("vm", "agct");
    cr_assert(eq(u32, prepared, 1)); /* once in a session */
}

Test(walk_breaker, agct_that_cannot_be_made_ready_is_out_too)
{
    char text[600];

    is_ready = false;
    vm_fails();
    changes("vm", "none");
    cr_assert_not_null(strstr(change.reason, "no ids"), "%s", change.reason);
    cr_assert(walk_breaker_tell(WALK_PART_JAVA, now_ns + 12 * SECOND, text, sizeof text));
    cr_assert_not_null(strstr(text, "vm was given up 12 s ago"), "%s", text);
    cr_assert_not_null(strstr(text, "agct was given up 12 s ago"), "%s", text);
    is_ready = true;
    now_ns += WALK_QUIET_FIRST_NS;
    changes("none", "vm on trial"); /* it is looked at first */
    walks(WALK_VM, WALK_TRIAL_WALKS, 50);
    changes("vm on trial", "agct on trial");
}

Test(walk_breaker, walks_that_end_late_do_not_count_in_the_next_trial)
{
    vm_fails();
    changes("vm", "agct");
    walks(WALK_VM, 400, 100);
    now_ns += WALK_QUIET_FIRST_NS;
    changes("agct", "vm on trial");
    walks(WALK_VM, WALK_TRIAL_WALKS, 0);
    changes("vm on trial", "vm");
}

Test(walk_breaker, a_session_begins_with_all_walkers)
{
    vm_fails();
    changes("vm", "agct");
    begin_with(all);
    cr_assert(eq(int, (int)walk_breaker_java(), WALK_VM));
    nothing_changes();
    vm_fails();
    changes("vm", "agct");
    cr_assert(eq(u64, change.retry_ns, WALK_QUIET_FIRST_NS));
}

Test(walk_breaker, who_asks_is_told_what_is_out_since_when_and_until_when)
{
    struct walk_breaker_counts counts;
    char text[400];

    cr_assert(not(walk_breaker_tell(WALK_PART_JAVA, now_ns, text, sizeof text)));
    vm_fails();
    changes("vm", "agct");
    cr_assert(walk_breaker_tell(WALK_PART_JAVA, now_ns + 12 * SECOND, text, sizeof text));
    cr_assert_not_null(strstr(text, "vm was given up 12 s ago"), "%s", text);
    cr_assert_not_null(strstr(text, "40 % of 1200 walks"), "%s", text);
    cr_assert_not_null(strstr(text, "tried again in 48 s"), "%s", text);
    cr_assert(not(walk_breaker_tell(WALK_PART_NATIVE, now_ns, text, sizeof text)));
    walk_breaker_get(WALK_VM, &counts);
    cr_assert(eq(int, (int)counts.standing, WALK_OUT));
    cr_assert(not(counts.is_in_use));
    cr_assert(eq(u64, counts.walks, 1200));
    cr_assert(eq(u64, counts.bad, 480));
}
