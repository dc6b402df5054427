/* Sizes of batches, against JVMs whose operations take what a formula says. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/probe_pace.h"

TestSuite(probe_pace, .timeout = 1800);

#define MS        UINT64_C(1000000)
#define BUDGET_NS (10 * MS)

struct jvm {
    uint64_t fixed_ns, each_ns;
    unsigned noise_percent; /* of what an operation takes, to either side */
    uint64_t budget_ns;
};

struct told {
    unsigned batches;
    uint64_t all_ns, longest_ns; /* the longest from the sixth on: it has learned by then */
    uint32_t last;
};

static struct told write_again(const struct jvm *jvm, uint32_t classes)
{
    struct probe_pace pace = {.weight = 0};
    struct told told = {.batches = 0};
    uint32_t size = probe_pace_first(jvm->budget_ns);

    srandom(1);
    while (classes > 0) {
        const uint32_t now = size < classes ? size : classes;
        uint64_t took_ns = jvm->fixed_ns + now * jvm->each_ns;

        if (jvm->noise_percent > 0)
            took_ns = took_ns *
                      (100 - jvm->noise_percent + (uint64_t)random() % (2 * jvm->noise_percent)) /
                      100;
        if (++told.batches > 5 && took_ns > told.longest_ns)
            told.longest_ns = took_ns;
        told.all_ns += took_ns;
        classes -= now;
        told.last = size;
        size = probe_pace_next(&pace, now, took_ns, jvm->budget_ns);
        cr_assert(size >= 1 && size <= PROBE_PACE_MOST);
    }
    return told;
}

Test(probe_pace, where_classes_are_what_takes_time_batches_keep_to_the_budget)
{
    for (unsigned noise = 0; noise <= 30; noise += 15) {
        const struct jvm jvm = {MS / 2, MS / 5, noise, BUDGET_NS};
        const struct told told = write_again(&jvm, 20000);

        cr_assert_lt(told.longest_ns, BUDGET_NS * (130 + 2 * noise) / 100, "%u: %lu", noise,
                     (unsigned long)told.longest_ns);
        cr_assert_lt(told.batches, 1000);
    }
    /* Each takes half of the budget: few at a time, soon. */
    const struct jvm slow = {0, 5 * MS, 10, BUDGET_NS};
    cr_assert_leq(write_again(&slow, 500).longest_ns, 3 * BUDGET_NS);
}

Test(probe_pace, each_budget_is_kept_from_the_first_batch_on)
{
    const uint64_t budgets_ns[] = {MS / 2, MS, 3 * MS, 10 * MS, 50 * MS};

    for (size_t i = 0; i < sizeof budgets_ns / sizeof *budgets_ns; i++) {
        const struct jvm jvm = {MS / 20, MS / 10, 10, budgets_ns[i]};

        cr_assert_leq(jvm.fixed_ns + probe_pace_first(budgets_ns[i]) * jvm.each_ns, budgets_ns[i]);
        cr_assert_lt(write_again(&jvm, 20000).longest_ns, budgets_ns[i] * 3 / 2, "%lu",
                     (unsigned long)budgets_ns[i]);
    }
    /* A larger one is used: fewer pauses. */
    const struct jvm often = {MS / 20, MS / 10, 10, MS}, seldom = {MS / 20, MS / 10, 10, 50 * MS};
    cr_assert_gt(write_again(&often, 20000).batches, 10 * write_again(&seldom, 20000).batches);
    cr_assert_eq(probe_pace_first(0), 1);
    cr_assert_eq(probe_pace_first(UINT64_MAX), 10);
}

Test(probe_pace, where_each_operation_is_longer_than_the_budget_there_are_few_of_them)
{
    for (unsigned noise = 0; noise <= 30; noise += 15) {
        const struct jvm jvm = {60 * MS, MS * 2 / 5, noise, BUDGET_NS};
        const struct told told = write_again(&jvm, 1000);

        cr_assert_lt(told.batches, 20, "noise %u: %u batches", noise, told.batches);
        cr_assert_lt(told.all_ns, 2000 * MS, "noise %u", noise);
        cr_assert_lt(told.longest_ns, 4 * 60 * MS, "noise %u: %lu", noise,
                     (unsigned long)told.longest_ns);
    }
}

Test(probe_pace, what_an_operation_takes_by_itself_is_a_part_of_the_budget)
{
    for (uint64_t fixed_ns = 4 * MS; fixed_ns <= 7 * MS; fixed_ns += MS) {
        for (unsigned noise = 0; noise <= 10; noise += 10) {
            const struct jvm jvm = {fixed_ns, MS / 33, noise, BUDGET_NS};
            const struct told told = write_again(&jvm, 1000);

            cr_assert_leq(told.longest_ns, BUDGET_NS + BUDGET_NS * 3 * noise / 200,
                          "%lu ms, noise %u: %lu", (unsigned long)(fixed_ns / MS), noise,
                          (unsigned long)told.longest_ns);
            cr_assert_lt(told.batches, 40, "%u batches", told.batches);
        }
    }
    /* Where it leaves nothing, three tenths go beyond; what is more than the budget by itself is not had more often than it must. */
    const struct jvm just = {9 * MS, MS / 10, 0, BUDGET_NS};
    const struct jvm beyond = {15 * MS, MS / 10, 0, BUDGET_NS};
    cr_assert_leq(write_again(&just, 1000).longest_ns, BUDGET_NS * 14 / 10);
    cr_assert_lt(write_again(&beyond, 1000).batches, 20);
}

Test(probe_pace, where_most_are_late_there_are_few_of_them)
{
    struct probe_pace pace = {.weight = 0};
    uint32_t size = probe_pace_first(BUDGET_NS), classes = 1000;
    unsigned batches = 0;

    srandom(1);
    for (; classes > 0; batches++) {
        const uint32_t now = size < classes ? size : classes;
        const uint64_t late_ns = random() % 2 == 0 ? (uint64_t)random() % (60 * MS) : 0;

        size = probe_pace_next(&pace, now, 8 * MS + now * MS / 33 + late_ns, BUDGET_NS);
        classes -= now;
    }
    cr_assert_lt(batches, 40, "%u", batches);
}

Test(probe_pace, sizes_that_are_alike_do_not_forget_what_a_class_takes)
{
    struct probe_pace pace = {.weight = 0};
    uint32_t size = probe_pace_first(BUDGET_NS);

    for (int i = 0; i < 200; i++)
        size = probe_pace_next(&pace, size, 4 * MS + size * MS / 10, BUDGET_NS);
    cr_assert(size >= 48 && size <= 50, "%u", size);
}

Test(probe_pace, an_operation_that_takes_no_time_leads_to_large_batches)
{
    const struct jvm jvm = {0, 0, 0, BUDGET_NS};

    cr_assert_eq(write_again(&jvm, 100000).last, PROBE_PACE_MOST);
}

Test(probe_pace, what_changes_on_the_way_is_followed)
{
    struct probe_pace pace = {.weight = 0};
    uint32_t size = probe_pace_first(BUDGET_NS);

    for (int i = 0; i < 20; i++)
        size = probe_pace_next(&pace, size, MS + size * MS / 10, BUDGET_NS);
    cr_assert(size >= 80 && size <= 100, "%u", size);
    /* The compiler has been there: the same classes take five times as long. */
    for (int i = 0; i < 20; i++)
        size = probe_pace_next(&pace, size, MS + size * MS / 2, BUDGET_NS);
    cr_assert(size >= 14 && size <= 20, "%u", size);
}
