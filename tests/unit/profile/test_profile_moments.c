/* Samples one by one: what is gathered chunk by chunk and appended is what it would be if it had been added in one row. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile_moments.h"

TestSuite(profile_moments, .timeout = 300);

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

static void compare(struct profile_moments *one, struct profile_moments *other)
{
    size_t count, other_count;

    cr_assert(eq(u64, profile_moments_count(one), profile_moments_count(other)));
    for (uint64_t i = 0; i < profile_moments_count(one); i++)
        cr_assert(memcmp(profile_moments_at(one, i), profile_moments_at(other, i),
                         sizeof(struct profile_moment)) == 0,
                  "moment %" PRIu64, i);
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
