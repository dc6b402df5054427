/* Samples one by one: what is gathered chunk by chunk and appended is what it would be if it had been added in one row. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_moments.h"

TestSuite(profile_moments, .timeout = 1800);

#define CHUNKS  7
#define SAMPLES 400

static struct profile_moments *open_one(void)
{
    struct jw_error err = {{0}};
    struct profile_moments *moments = profile_moments_open(&err);

    cr_assert(moments != NULL, "%s", err.message);
    profile_moments_set_base(moments, 1000);
    return moments;
}

static uint32_t some_text(struct profile_moments *moments, const char *what, long different)
{
    char text[32];

    snprintf(text, sizeof text, "%s %ld", what, random() % different);
    return profile_moments_text(moments, text);
}

/* Whatever a chunk may hold, by chance; how many values had no column. */
static uint64_t add_chunk(struct profile_moments *moments, unsigned seed, long columns)
{
    uint64_t left_out = 0;

    srandom(seed);
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
        const int64_t at_ms = random() % 50 == 0 ? INT64_MAX : random() % 100000 - 5;

        for (int n = 0; n < 3; n++) {
            char name[32];

            snprintf(name, sizeof name, "attribute %ld", random() % columns);
            const uint32_t text = some_text(moments, "value", 9);
            const uint32_t column = profile_moments_column(moments, PROFILE_COLUMN_ATTRIBUTE, name);
            if (column < PROFILE_COLUMNS_LIMIT)
                texts[column] = text;
            else
                left_out++;
        }
        texts[profile_moments_column(moments, PROFILE_COLUMN_THREAD, "")] =
            some_text(moments, "thread", 5);
        profile_moments_add(moments, at_ms, (uint32_t)random(),
                            profile_moments_context(moments, texts),
                            (uint64_t)random() << (random() % 32));
        if (random() % 7 != 0)
            continue;
        const uint32_t lane = profile_moments_lane(moments, random() % 2 == 0   ? "pauses"
                                                            : random() % 2 == 0 ? "waits"
                                                                                : "changes");
        profile_moments_span(moments, &(struct profile_span){.begin_us = random(),
                                                             .length_us = (uint64_t)random(),
                                                             .lane = lane,
                                                             .text = some_text(moments, "why", 4)});
        profile_moments_gap(moments,
                            &(struct profile_gap){.from_ms = i, .to_ms = i + 1, .lost = 3});
    }
    return left_out;
}

static struct profile_moment *read_samples(const struct profile_moments *moments)
{
    struct profile_moment *all = calloc(profile_moments_count(moments) + 1, sizeof *all);
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    const struct profile_moment *row;
    uint64_t count, used = 0;

    while ((row = profile_moments_next(moments, &place, &count)) != NULL)
        for (uint64_t i = 0; i < count; i++)
            all[used++] = row[i];
    cr_assert(eq(u64, used, profile_moments_count(moments)));
    return all;
}

static void expect_sample(const struct profile_moment *one, const struct profile_moment *other,
                          uint64_t number)
{
    cr_assert(one->at_ms == other->at_ms && one->stack == other->stack &&
                  one->context == other->context && one->value == other->value,
              "sample %" PRIu64, number);
}

static void compare_samples(const struct profile_moments *one, const struct profile_moments *other)
{
    struct profile_moment *samples = read_samples(one), *others = read_samples(other);

    cr_assert(eq(u64, profile_moments_count(one), profile_moments_count(other)));
    for (uint64_t i = 0; i < profile_moments_count(one); i++)
        expect_sample(&samples[i], &others[i], i);
    free(samples);
    free(others);
}

static void compare(struct profile_moments *one, struct profile_moments *other)
{
    size_t count, other_count;

    compare_samples(one, other);
    cr_assert(eq(u32, profile_moments_column_count(one), profile_moments_column_count(other)));
    for (uint32_t i = 0; i < profile_moments_column_count(one); i++)
        cr_assert_str_eq(profile_moments_column_at(one, i)->name,
                         profile_moments_column_at(other, i)->name);
    cr_assert(eq(u32, profile_moments_context_count(one), profile_moments_context_count(other)));
    for (uint32_t i = 0; i < profile_moments_context_count(one); i++)
        cr_assert(memcmp(profile_moments_context_at(one, i), profile_moments_context_at(other, i),
                         PROFILE_COLUMNS_LIMIT * sizeof(uint32_t)) == 0,
                  "context %u", i);
    cr_assert(eq(u32, profile_moments_text_count(one), profile_moments_text_count(other)));
    for (uint32_t i = 0; i < profile_moments_text_count(one); i++)
        cr_assert_str_eq(profile_moments_text_at(one, i), profile_moments_text_at(other, i));
    cr_assert(eq(u32, profile_moments_lane_count(one), profile_moments_lane_count(other)));
    for (uint32_t i = 0; i < profile_moments_lane_count(one); i++)
        cr_assert_str_eq(profile_moments_lane_name(one, i), profile_moments_lane_name(other, i));

    const struct profile_span *spans = profile_moments_spans(one, &count);
    const struct profile_span *other_spans = profile_moments_spans(other, &other_count);
    cr_assert(eq(sz, count, other_count));
    for (size_t i = 0; i < count; i++)
        cr_assert(memcmp(&spans[i], &other_spans[i], sizeof spans[i]) == 0, "span %zu", i);
    const struct profile_gap *gaps = profile_moments_gaps(one, &count);
    const struct profile_gap *other_gaps = profile_moments_gaps(other, &other_count);
    cr_assert(eq(sz, count, other_count));
    for (size_t i = 0; i < count; i++)
        cr_assert(memcmp(&gaps[i], &other_gaps[i], sizeof gaps[i]) == 0, "gap %zu", i);
    cr_assert(eq(u64, profile_moments_mistimed(one), profile_moments_mistimed(other)));
    cr_assert(eq(u64, profile_moments_untold(one), profile_moments_untold(other)));
    cr_assert(eq(u64, profile_moments_left_out_spans(one), profile_moments_left_out_spans(other)));
}

/* `columns`: so many different attributes. */
static void run(long columns, bool is_left_out)
{
    struct profile_moments *one = open_one(), *sum = open_one(), *chunk = open_one();
    uint64_t left_out = 0, left_out_of_sum = 0;

    for (unsigned i = 0; i < CHUNKS; i++) {
        left_out += add_chunk(one, i, columns);
        left_out_of_sum += add_chunk(chunk, i, columns);
        left_out_of_sum += profile_moments_append(sum, chunk);
        cr_assert(eq(u64, profile_moments_count(chunk), 0));
        cr_assert(eq(u64, profile_moments_base_unix_ns(chunk), 1000));
    }
    if (!is_left_out)
        compare(one, sum);
    /* Of a value that is left out the text was met. */
    cr_assert(is_left_out ? left_out > 0 : left_out == 0);
    cr_assert(is_left_out ? left_out_of_sum > 0 : left_out_of_sum == 0);
    profile_moments_close(one);
    profile_moments_close(sum);
    profile_moments_close(chunk);
}

Test(profile_moments, chunks_that_are_appended_are_as_if_added_in_a_row)
{
    run(8, false);
    run(PROFILE_COLUMNS_LIMIT - 1, false);
}

Test(profile_moments, columns_beyond_the_limit_are_counted_wherever_they_are_met)
{
    run(40, true);
}

/* Every length that a number of each kind can have, and what does not fit into 31 bits of difference. */
static struct profile_moment odd_sample(void)
{
    static const int64_t times[] = {0,      1,     -1,        127,       128,
                                    -32768, 65536, INT32_MIN, INT32_MAX, 9999999};

    return (struct profile_moment){
        .at_ms = (int32_t)times[random() % 10],
        .stack = (uint32_t)random() >> (random() % 31) | (random() % 9 == 0 ? 1u << 31 : 0),
        .context = (uint32_t)random() >> (random() % 31),
        .value = random() % 2 == 0 ? 1000000 : (uint64_t)random() << (random() % 34),
    };
}

Test(profile_moments, what_is_packed_comes_back_whatever_it_is)
{
    struct profile_moments *moments = open_one();
    struct profile_moment *expected = calloc(5000, sizeof *expected);

    srandom(3);
    for (int i = 0; i < 5000; i++) {
        expected[i] = odd_sample();
        profile_moments_add(moments, expected[i].at_ms, expected[i].stack, expected[i].context,
                            expected[i].value);
        if (random() % 700 == 0)
            profile_moments_settle(moments, NULL);
    }
    struct profile_moment *samples = read_samples(moments);
    cr_assert(eq(u64, profile_moments_count(moments), 5000));
    for (uint64_t i = 0; i < 5000; i++)
        expect_sample(&samples[i], &expected[i], i);
    free(samples);
    free(expected);
    profile_moments_close(moments);
}

Test(profile_moments, numbers_of_stacks_become_what_they_stand_for)
{
    static const profile_stack_id stacks[] = {7, 8}, near[] = {70, 80, 90};
    static const struct profile_moments_stacks of = {stacks, 2, near, 3};
    static const uint32_t numbers[] = {0, 1, 2, PROFILE_MOMENT_NEAR | 2, PROFILE_MOMENT_NEAR | 3};
    static const uint32_t expected[] = {7, 8, PROFILE_STACK_NONE, 90, PROFILE_STACK_NONE};
    struct profile_moments *moments = open_one();

    for (size_t i = 0; i < 5; i++)
        profile_moments_add(moments, 0, numbers[i], 0, 1);
    profile_moments_settle(moments, &of);
    struct profile_moment *samples = read_samples(moments);
    for (size_t i = 0; i < 5; i++)
        cr_expect(eq(u32, samples[i].stack, expected[i]), "%zu", i);
    free(samples);
    profile_moments_close(moments);
}

/* As threads do: each has stacks of its own. */
Test(profile_moments, blocks_of_another_profile_go_by_a_table_of_its_stacks)
{
    struct profile_moments *all = open_one(), *own = open_one();
    profile_stack_id *stacks = jw_alloc(3 * sizeof *stacks);

    memcpy(stacks, (const profile_stack_id[]){30, 31, 32}, 3 * sizeof *stacks);
    profile_moments_add(own, 5, 2, 0, 1);
    (void)profile_moments_append(all, own);
    const size_t first = profile_moments_block_count(all);
    for (uint32_t i = 0; i < 4; i++)
        profile_moments_add(own, 6, i, 0, 1);
    (void)profile_moments_append(all, own);
    const size_t end = profile_moments_block_count(all);
    profile_moments_add(own, 7, 1, 0, 1);
    (void)profile_moments_append(all, own);
    cr_assert(profile_moments_keep_stacks(all, stacks));
    profile_moments_restack(all, first, end, stacks, 3);

    static const uint32_t expected[] = {2, 30, 31, 32, PROFILE_STACK_NONE, 1};
    struct profile_moment *samples = read_samples(all);
    cr_assert(eq(u64, profile_moments_count(all), 6));
    for (size_t i = 0; i < 6; i++)
        cr_expect(eq(u32, samples[i].stack, expected[i]), "%zu", i);
    free(samples);
    profile_moments_close(all);
    profile_moments_close(own);
}

static uint64_t read_within(const struct profile_moments *moments, int32_t from_ms, int32_t to_ms)
{
    struct profile_moments_place place = {.from_ms = from_ms, .to_ms = to_ms};
    const struct profile_moment *row;
    uint64_t count, within = 0;

    while ((row = profile_moments_next(moments, &place, &count)) != NULL)
        for (uint64_t i = 0; i < count; i++)
            within += row[i].at_ms >= from_ms && row[i].at_ms <= to_ms;
    return within;
}

Test(profile_moments, none_of_a_time_is_passed_over)
{
    struct profile_moments *moments = open_one();

    for (int i = 0; i < 10000; i++) {
        profile_moments_add(moments, i - 5000, 1, 0, 1);
        if (i == 9500)
            profile_moments_settle(moments, NULL);
    }
    cr_expect(eq(u64, read_within(moments, -5000, 4999), 10000));
    cr_expect(eq(u64, read_within(moments, -100, 99), 200));
    cr_expect(eq(u64, read_within(moments, 4990, 5100), 10));
    cr_expect(eq(u64, read_within(moments, INT32_MIN, -5000), 1));
    cr_expect(eq(u64, read_within(moments, 6000, 7000), 0));
    profile_moments_close(moments);
}
