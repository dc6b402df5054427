/* The error of sums of holds, of which a sample was timed as JaywalkHolds times it: the truth is within it as often as it is said, long holds that come now and then among them. */
#include "agent/hold_error.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "instrument/instrument.h"

#define HOLDS    60000u
#define INTERVAL 16u
#define PLACES   400

static uint64_t state;

/* One of 2^31. Source: D. E. Knuth, MMIX. */
static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

/* So long at the mean, and at most some six times as long. */
static uint64_t by_chance(uint64_t mean_ns)
{
    uint64_t ns = draw() % mean_ns + 1;

    for (unsigned i = 0; i < 11 && draw() % 2 == 0; i++)
        ns += mean_ns / 2;
    return ns;
}

enum lengths { LENGTHS_SAME, LENGTHS_BY_CHANCE, LENGTHS_FEW, LENGTHS_RARE, LENGTHS_STOPPED };

static uint64_t length_of(enum lengths lengths)
{
    switch (lengths) {
    case LENGTHS_SAME:
        return 20000;
    case LENGTHS_BY_CHANCE:
        return by_chance(20000);
    case LENGTHS_FEW:
        return draw() % 50 == 0 ? 1000000 : 700;
    case LENGTHS_RARE:
        return draw() % 2000 == 0 ? 2000000 : 700;
    case LENGTHS_STOPPED: /* as by a machine with more to do than processors for it */
        return draw() % 180 == 0 ? by_chance(5000000) : 20000;
    }
    return 0;
}

/* Every one, then one in 2, 4, 8 and INTERVAL at the mean, at random distances. */
static uint64_t distance(uint64_t timed)
{
    const uint64_t doubled = timed / 600 < 10 ? (uint64_t)1 << timed / 600 : INTERVAL;
    const uint64_t interval = doubled < INTERVAL ? doubled : INTERVAL;

    return interval == 1 ? 1 : 1 + draw() % (2 * interval - 1);
}

/* Fills what the cells of a place would have; the truth of those that the timed ones stand for. */
static uint64_t hold(enum lengths lengths, struct instrument_lock_site *site)
{
    uint64_t truth_ns = 0, since_ns = 0, last = 0, next = 1;

    *site = (struct instrument_lock_site){.acquisitions = HOLDS};
    for (uint64_t i = 1; i <= HOLDS; i++) {
        const uint64_t ns = length_of(lengths);

        since_ns += ns;
        if (i != next)
            continue;
        const uint64_t weight = i - last;
        if (weight > 1) {
            const double off = (double)ns - (double)(site->hold_ns / site->weight);

            site->hold_variance += (double)weight * (double)(weight - 1) * off * off;
        }
        site->holds++;
        site->weight += weight;
        site->hold_ns += weight * ns;
        site->hold_most_ns = ns > site->hold_most_ns ? ns : site->hold_most_ns;
        truth_ns += since_ns;
        since_ns = 0;
        last = i;
        next = i + distance(site->holds);
    }
    return truth_ns;
}

/* How many of the places are within; always the same. */
static int within_of(enum lengths lengths, double *part)
{
    struct instrument_lock_site site;
    int within = 0;

    state = 12;
    *part = 0;
    for (int i = 0; i < PLACES; i++) {
        const uint64_t truth_ns = hold(lengths, &site);
        const uint64_t off_ns =
            truth_ns > site.hold_ns ? truth_ns - site.hold_ns : site.hold_ns - truth_ns;
        const uint64_t error_ns = hold_error_ns(&site);

        within += off_ns <= error_ns;
        *part += (double)error_ns / (double)truth_ns / PLACES;
    }
    return within;
}

TestSuite(hold_error, .timeout = 1800);

Test(hold_error, the_truth_is_within_it)
{
    static const struct {
        enum lengths lengths;
        int least;       /* of PLACES */
        double part_max; /* of the sum, at the mean */
    } kinds[] = {{LENGTHS_SAME, PLACES, 0},
                 {LENGTHS_BY_CHANCE, PLACES * 94 / 100, 0.03},
                 {LENGTHS_FEW, PLACES * 94 / 100, 0.25},
                 {LENGTHS_STOPPED, PLACES * 92 / 100, 0.5},
                 {LENGTHS_RARE, PLACES * 92 / 100, 1.2}};

    for (size_t i = 0; i < JW_COUNT_OF(kinds); i++) {
        double part;
        const int within = within_of(kinds[i].lengths, &part);

        cr_log_info("lengths %d: %d of %d within, %.3f of the sum", (int)kinds[i].lengths, within,
                    PLACES, part);
        cr_expect(within >= kinds[i].least, "lengths %d: %d of %d are within",
                  (int)kinds[i].lengths, within, PLACES);
        cr_expect(part <= kinds[i].part_max, "lengths %d: %.3f of the sum is no bound",
                  (int)kinds[i].lengths, part);
    }
}

Test(hold_error, what_was_timed_whole_has_none)
{
    const struct instrument_lock_site none = {.acquisitions = 5};
    const struct instrument_lock_site whole = {
        .holds = 5, .weight = 5, .hold_ns = 500, .hold_most_ns = 400};
    const struct instrument_lock_site endless = {
        .holds = 1, .weight = 65536, .hold_ns = 1, .hold_most_ns = UINT64_MAX};

    cr_expect(eq(u64, hold_error_ns(&none), 0));
    cr_expect(eq(u64, hold_error_ns(&whole), 0));
    cr_expect(eq(u64, hold_error_ns(&endless), INT64_MAX));
}
