/* The control of overhead= on a plant that is reckoned: it converges, comes back, and does not swing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/hash.h"
#include "sampler/sampler_pace.h"

#define USED_NS UINT64_C(1000000000) /* a turn */
#define BUDGET  10000u               /* 1 % */
#define MOST    (10000 * (uint64_t)SAMPLER_PACE_ONE)

TestSuite(sampler_pace, .timeout = 1800);

/* What longer intervals lessen, as asked; what they do not; noise in per cent. */
struct plant {
    uint64_t steered_ppm, fixed_ppm;
    unsigned noise_pct;
};

static struct sampler_pace pace;
static uint64_t random_state;

static uint64_t noisy(uint64_t value, unsigned noise_pct)
{
    const uint64_t noise = noise_pct == 0 ? 0 : jw_hash_word(++random_state) % (2 * noise_pct + 1);

    return value * (100 - noise_pct + noise) / 100;
}

/* How often the stretch changed. */
static unsigned run(const struct plant *plant, unsigned turns)
{
    unsigned changes = 0;

    for (unsigned i = 0; i < turns; i++) {
        const uint64_t before = pace.stretch;
        const uint64_t steered_ns = noisy(plant->steered_ppm, plant->noise_pct) *
                                    (USED_NS / 1000000) * SAMPLER_PACE_ONE / pace.stretch;

        const bool is_changed = sampler_pace_turn(
            &pace, steered_ns, noisy(plant->fixed_ppm, plant->noise_pct) * (USED_NS / 1000000),
            USED_NS);
        cr_assert(eq(int, is_changed, pace.stretch != before));
        cr_assert(ge(u64, pace.stretch, SAMPLER_PACE_ONE), "never shorter than asked");
        cr_assert(le(u64, pace.stretch, pace.most));
        cr_assert(le(u64, pace.stretch, 4 * before), "bounded up");
        cr_assert(ge(u64, 2 * pace.stretch + 1, before), "bounded down");
        changes += is_changed;
    }
    return changes;
}

static uint64_t steered_ppm(const struct plant *plant)
{
    return plant->steered_ppm * SAMPLER_PACE_ONE / pace.stretch;
}

Test(sampler_pace, m52_whatever_it_costs_it_comes_below_the_budget_and_stays)
{
    for (uint64_t cost_ppm = 1000; cost_ppm <= 900000; cost_ppm += 1000) {
        const struct plant plant = {.steered_ppm = cost_ppm};

        sampler_pace_begin(&pace, BUDGET, MOST);
        (void)run(&plant, 12);
        cr_assert(le(u64, steered_ppm(&plant), BUDGET), "%lu ppm", (unsigned long)cost_ppm);
        cr_assert(eq(u64, run(&plant, 100), 0), "steady at %lu ppm", (unsigned long)cost_ppm);
        /* It takes no more than it must: half of the budget is used, or all that was asked for. */
        cr_assert(pace.stretch == SAMPLER_PACE_ONE || 2 * steered_ppm(&plant) >= BUDGET, "%lu ppm",
                  (unsigned long)cost_ppm);
    }
}

Test(sampler_pace, m52_what_is_within_the_budget_is_left_alone)
{
    const struct plant plant = {.steered_ppm = 9000};

    sampler_pace_begin(&pace, BUDGET, MOST);
    cr_assert(eq(u64, run(&plant, 1000), 0));
    cr_assert(eq(u64, pace.stretch, SAMPLER_PACE_ONE));
}

Test(sampler_pace, when_the_load_goes_intervals_come_back_to_what_was_asked)
{
    const struct plant loaded = {.steered_ppm = 300000}, calm = {.steered_ppm = 2000};

    sampler_pace_begin(&pace, BUDGET, MOST);
    (void)run(&loaded, 20);
    cr_assert(ge(u64, pace.stretch, 30 * SAMPLER_PACE_ONE));
    (void)run(&calm, 60);
    cr_assert(eq(u64, pace.stretch, SAMPLER_PACE_ONE));
    cr_assert(eq(u64, run(&calm, 100), 0));
}

/* A third more or less from turn to turn: some changes, and on the mean within the budget. */
Test(sampler_pace, noise_does_not_make_it_swing)
{
    const struct plant plant = {.steered_ppm = 100000, .noise_pct = 20};

    sampler_pace_begin(&pace, BUDGET, MOST);
    (void)run(&plant, 20);
    cr_assert(le(u64, run(&plant, 1000), 10));
    cr_assert(le(u64, steered_ppm(&plant), BUDGET));
    cr_assert(ge(u64, 3 * steered_ppm(&plant), BUDGET));
}

Test(sampler_pace, a_cost_that_no_interval_changes_does_not_end_the_profile)
{
    const struct plant plant = {.steered_ppm = 50000, .fixed_ppm = 30000};

    sampler_pace_begin(&pace, BUDGET, MOST);
    (void)run(&plant, 20);
    cr_assert(le(u64, steered_ppm(&plant), BUDGET / 4));
    cr_assert(ge(u64, steered_ppm(&plant), BUDGET / 8));
    cr_assert(eq(u64, run(&plant, 100), 0));
}

Test(sampler_pace, part_of_the_budget_goes_to_what_is_not_steered)
{
    const struct plant plant = {.steered_ppm = 50000, .fixed_ppm = 4000};

    sampler_pace_begin(&pace, BUDGET, MOST);
    (void)run(&plant, 20);
    cr_assert(le(u64, steered_ppm(&plant) + plant.fixed_ppm, BUDGET));
}

/* Names of threads every fifth second, a new chunk now and then: what is not steered comes in bursts. */
Test(sampler_pace, bursts_of_what_is_not_steered_do_not_make_it_swing)
{
    unsigned changes = 0;

    sampler_pace_begin(&pace, BUDGET, MOST);
    (void)run(&(struct plant){.steered_ppm = 30000, .fixed_ppm = 3600}, 20);
    for (unsigned i = 0; i < 200; i++) {
        changes += run(&(struct plant){.steered_ppm = 30000, .fixed_ppm = 2000}, 4);
        changes += run(&(struct plant){.steered_ppm = 30000, .fixed_ppm = 10000}, 1);
    }
    cr_assert(le(uint, changes, 3));
}

/* The sampler's thread reads as many clocks in a turn as its length allows: up to there longer intervals do not lessen
 * what it takes, and only then do. */
Test(sampler_pace, m52_what_gives_way_late_is_stretched_until_it_does)
{
    sampler_pace_begin(&pace, BUDGET, MOST);
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t clock_ppm = pace.stretch < 50 * SAMPLER_PACE_ONE
                                       ? 20000
                                       : 1000000 * SAMPLER_PACE_ONE / pace.stretch;

        (void)run(&(struct plant){.steered_ppm = clock_ppm * pace.stretch / SAMPLER_PACE_ONE}, 1);
    }
    cr_assert(ge(u64, pace.stretch, 100 * SAMPLER_PACE_ONE));
    cr_assert(le(u64, pace.stretch, 200 * SAMPLER_PACE_ONE));
}

Test(sampler_pace, what_is_far_above_it_is_known_before_the_turn_ends)
{
    sampler_pace_begin(&pace, BUDGET, MOST);
    cr_assert(eq(int, sampler_pace_is_far(&pace, 2 * BUDGET, 1000000), false));
    cr_assert(eq(int, sampler_pace_is_far(&pace, 2 * BUDGET + 1, 1000000), true));
    (void)run(&(struct plant){.fixed_ppm = 100 * BUDGET}, 1);
    cr_assert(eq(int, sampler_pace_is_far(&pace, BUDGET / 2 + 1, 1000000), true));
}

Test(sampler_pace, no_interval_is_shorter_than_asked_whatever_the_other_one_is)
{
    const uint64_t second_ns = USED_NS, hour_ns = 3600 * USED_NS;

    for (uint64_t stretch = SAMPLER_PACE_ONE; stretch <= MOST; stretch += 97) {
        cr_assert(eq(u64, sampler_pace_stretched_ns(hour_ns, stretch, second_ns), hour_ns));
        cr_assert(ge(u64, sampler_pace_stretched_ns(100000, stretch, second_ns), 100000));
        cr_assert(le(u64, sampler_pace_stretched_ns(second_ns - 1, stretch, second_ns), second_ns));
    }
    cr_assert(eq(u64, sampler_pace_stretched_ns(4000000, 2500, second_ns), 10000000));
    cr_assert(eq(u64, sampler_pace_stretched_ns(0, 2500, second_ns), 0));
}

Test(sampler_pace, stretching_ends_at_the_most_that_is_allowed)
{
    const struct plant plant = {.steered_ppm = 900000};

    sampler_pace_begin(&pace, BUDGET, 5 * SAMPLER_PACE_ONE);
    (void)run(&plant, 20);
    cr_assert(eq(u64, pace.stretch, 5 * SAMPLER_PACE_ONE));
    sampler_pace_begin(&pace, BUDGET, 0);
    (void)run(&plant, 20);
    cr_assert(eq(u64, pace.stretch, SAMPLER_PACE_ONE));
}

Test(sampler_pace, of_nothing_there_is_no_share)
{
    sampler_pace_begin(&pace, BUDGET, MOST);
    cr_assert(eq(int, sampler_pace_turn(&pace, 0, 0, 0), false));
    cr_assert(eq(u64, pace.share_ppm, 0));
    cr_assert(eq(int, sampler_pace_turn(&pace, 1, 0, 0), true));
    cr_assert(eq(u64, pace.share_ppm, 1000000));
    cr_assert(eq(int, sampler_pace_turn(&pace, UINT64_MAX / 2, 0, 1), true));
}
