/* Samples in the columns of an explorer page: each comes back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_internal.h"
#include "profile/profile.h"
#include "profile/profile_moments.h"
#include "unit/export/inflate.h"

static struct profile *profile;
static struct profile_moments *moments;
static char *output;
static size_t output_bytes;
static struct jw_error err;

static void open_all(void)
{
    if (!export_can_pack())
        cr_skip_test("not run: this compiler links no libdeflate");
    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    moments = profile_moments_open(&err);
    cr_assert(profile != NULL && moments != NULL);
}

static void close_all(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
    profile_moments_close(moments);
    free(output);
}

TestSuite(explorer, .init = open_all, .fini = close_all, .timeout = 1800);

static bool collect(void *context, const void *bytes, size_t length_bytes, struct jw_error *error)
{
    (void)error;
    return fwrite(bytes, 1, length_bytes, context) == length_bytes;
}

struct numbers {
    uint64_t *items;
    size_t count, capacity;
};

static void keep(struct numbers *numbers, uint64_t number)
{
    if (numbers->count == numbers->capacity) {
        numbers->capacity = numbers->capacity == 0 ? 1024 : 2 * numbers->capacity;
        numbers->items = realloc(numbers->items, numbers->capacity * sizeof *numbers->items);
    }
    numbers->items[numbers->count++] = number;
}

static void read_column(const char *name, struct numbers *numbers)
{
    char mark[64];
    size_t length;

    snprintf(mark, sizeof mark, "id=\"c-%s\" data-bytes=\"", name);
    numbers->count = 0;

    const char *at = strstr(output, mark);
    cr_assert_not_null(at, "no column %s", name);
    const size_t told = strtoull(at + strlen(mark), NULL, 10);
    const char *text = strchr(at, '>') + 1;
    unsigned char *bytes = inflate_64(text, (size_t)(strstr(text, "</script>") - text), &length);
    cr_expect_eq(length, told);
    for (size_t i = 0; i < length;) {
        uint64_t value = 0;

        for (unsigned shift = 0;; shift += 7) {
            value |= (uint64_t)(bytes[i] & 0x7f) << shift;
            if (bytes[i++] < 128)
                break;
        }
        keep(numbers, value);
    }
    free(bytes);
}

static profile_stack_id add(const char *method, uint64_t weight)
{
    const profile_frame_id frames[] = {profile_frame(
        profile, &(struct profile_frame){
                     .type = PROFILE_FRAME_COMPILED, .class_name = "a/B", .method = method})};

    return profile_add(profile,
                       &(struct profile_stack){
                           .frames = frames, .frame_count = 1, .samples = 1, .weight = weight});
}

static uint32_t context_of(const char *thread, const char *tenant)
{
    uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
    const uint32_t threads = profile_moments_column(moments, PROFILE_COLUMN_THREAD, "");
    const uint32_t tenants = profile_moments_column(moments, PROFILE_COLUMN_ATTRIBUTE, "tenant");

    texts[threads] = profile_moments_text(moments, thread);
    texts[tenants] = profile_moments_text(moments, tenant);
    return profile_moments_context(moments, texts);
}

static void sample(const char *method, int64_t at_ms, uint32_t context, uint64_t value)
{
    profile_moments_add(moments, at_ms, add(method, value), context, value);
}

static void write_page(struct export_options options)
{
    FILE *to = open_memstream(&output, &output_bytes);

    options.moments = moments;
    cr_assert(export_profile(profile, EXPORT_EXPLORER, &options, collect, to, &err), "%s",
              err.message);
    fclose(to);
}

Test(explorer, every_sample_has_its_bin_stack_context_and_value)
{
    static struct numbers bins, samples, contexts, values, stacks, labels;

    profile_set_about(profile, &(struct profile_about){.event = "cpu", .unit = "ns"});
    const uint32_t one = context_of("one", "acme"), two = context_of("two", NULL);
    sample("b", 4, two, 30);
    sample("a", 0, one, 10);
    sample("b", 4, one, 20);
    sample("b", -1, one, 10); /* before the first chunk's start */
    write_page((struct export_options){0});

    read_column("bins", &bins);
    read_column("samples", &samples);
    read_column("contexts", &contexts);
    read_column("values", &values);
    read_column("stacks", &stacks);
    read_column("labels", &labels);
    cr_assert_eq(bins.count, 6u); /* -1 to 4 ms */
    cr_expect(bins.items[0] == 1 && bins.items[1] == 1 && bins.items[5] == 2);
    cr_assert_eq(samples.count, 4u);
    cr_expect_eq(stacks.count,
                 2u); /* b is the more frequent: rank 0, the second child of the root */
    cr_expect(stacks.items[0] == 2 && stacks.items[1] == 1);
    cr_expect(samples.items[0] == 0 && samples.items[1] == 1);
    cr_expect(samples.items[2] == 0 && samples.items[3] == 0);
    cr_expect(contexts.items[0] == 0 && contexts.items[2] == 0 && contexts.items[3] == 1);
    cr_expect(values.items[0] == 1 && values.items[1] == 1); /* of 10 */
    cr_expect(values.items[2] == 2 && values.items[3] == 3);
    cr_expect(labels.count == 4 && labels.items[0] == 1 && labels.items[1] == 1);
    cr_expect(labels.items[2] == 2 && labels.items[3] == 0, "no tenant is number 0");
    cr_expect_not_null(strstr(output, "\"explorer\":{\"binMs\":1,\"bins\":6,\"startMs\":-1,"));
    cr_expect_not_null(strstr(output, "\"scale\":10,"));
    cr_expect_not_null(
        strstr(output, "{\"kind\":\"thread\",\"name\":\"\",\"values\":[\"one\",\"two\"]}"));
    cr_expect_not_null(
        strstr(output, "{\"kind\":\"attribute\",\"name\":\"tenant\",\"values\":[\"acme\"]}"));
}

Test(explorer, equal_values_need_no_column)
{
    const uint32_t context = context_of("one", NULL);

    sample("a", 0, context, 7);
    sample("b", 1, context, 7);
    write_page((struct export_options){0});
    cr_expect_null(strstr(output, "id=\"c-values\""));
    cr_expect_not_null(strstr(output, "\"scale\":7,"));
}

Test(explorer, filtered_stacks_have_no_samples_and_folded_ones_their_fold)
{
    static struct numbers stacks, samples;
    const uint32_t context = context_of("one", NULL);

    for (int i = 0; i < 200; i++)
        sample("wide", i, context, 1);
    sample("narrow", 3, context, 1);
    sample("kept_out", 3, context, 1);
    write_page(
        (struct export_options){.min_width_ppm = 10000, .view = {.excludes = "*kept_out\0"}});
    read_column("stacks", &stacks);
    read_column("samples", &samples);
    cr_expect_eq(samples.count, 201u);
    cr_assert_eq(stacks.count, 2u);
    cr_expect(stacks.items[0] == 1 && stacks.items[1] == 2, "[folded] is the last line");
}

Test(explorer, a_page_without_samples_is_one)
{
    static struct numbers bins, samples;

    write_page((struct export_options){0});
    read_column("bins", &bins);
    read_column("samples", &samples);
    cr_expect(bins.count == 1 && bins.items[0] == 0 && samples.count == 0);
}

Test(explorer, gaps_are_told_in_bins)
{
    static struct numbers gaps;

    sample("a", 100, context_of("one", NULL), 1);
    profile_moments_gap(
        moments, &(struct profile_gap){.from_ms = 10, .to_ms = 50, .lost = 3, .signals = 300});
    write_page((struct export_options){0});
    read_column("gaps", &gaps);
    cr_assert_eq(gaps.count, 4u);
    cr_expect(gaps.items[0] == 10 && gaps.items[1] == 50);
    cr_expect(gaps.items[2] == 3 && gaps.items[3] == 300);
}

/* ---- pages that are no larger than they may be ---- */

static void put_many(bool is_constant)
{
    uint32_t state = 9;
    char method[16], thread[16];

    for (int i = 0; i < 4000; i++) {
        state = state * 1664525u + 1013904223u;
        snprintf(method, sizeof method, "m%u", (state >> 8) % 500);
        snprintf(thread, sizeof thread, "t%u", (state >> 20) % 200);
        const uint64_t value = is_constant ? 10 : 10 * (1 + i % 3);
        const profile_stack_id stack = add(method, value);
        profile_moments_add(moments, (int64_t)(state >> 12) % 100000, stack,
                            context_of(thread, i % 7 == 0 ? "acme" : NULL), value);
    }
}

static uint64_t sum_of(const char *name)
{
    static struct numbers numbers;
    uint64_t sum = 0;

    read_column(name, &numbers);
    for (size_t i = 0; i < numbers.count; i++)
        sum += numbers.items[i];
    return sum;
}

static uint64_t rows_of(void)
{
    return strtoull(strstr(output, "\"startMs\"") == NULL
                        ? "0"
                        : strstr(strstr(output, "\"explorer\":{"), "\"samples\":") + 10,
                    NULL, 10);
}

/* Ever smaller: all samples and all of their values stay, and the page says what was given up. */
Test(explorer, a_page_fits_into_what_it_may_have_and_no_sample_is_left_out)
{
    size_t whole_bytes, before_rows = 4000;

    put_many(true);
    write_page((struct export_options){0});
    whole_bytes = output_bytes;
    cr_assert_null(strstr(output, "id=\"c-counts\""));
    cr_assert_null(strstr(output, "id=\"fit\""));
    for (size_t less = 2000; less <= 16000; less += 3500) {
        free(output);
        write_page((struct export_options){.most_bytes = whole_bytes - less});
        cr_assert(output_bytes <= whole_bytes - less, "%zu of %zu", output_bytes, whole_bytes);
        cr_expect_eq(sum_of("counts"), 4000);
        cr_expect_eq(sum_of("bins"), rows_of());
        cr_expect(rows_of() <= before_rows);
        before_rows = rows_of();
        cr_assert_not_null(strstr(output, "<p id=\"fit\">Made coarser to fit into "));
        cr_assert_not_null(strstr(output, "No sample is left out."));
    }
    cr_expect_not_null(strstr(output, "\"[folded]\""), "rare contexts are one");
    cr_expect(before_rows < 4000);
}

/* Of so few contexts none is rare, however coarse the page is; of many the note says how many are left. */
Test(explorer, a_page_says_that_contexts_are_one_only_where_some_are)
{
    struct export_options options = {.moments = moments, .most_bytes = 10000};

    for (int is_many = 0; is_many < 2; is_many++) {
        for (int i = 0; i < 4000; i++) {
            char method[16], thread[16];

            snprintf(method, sizeof method, "m%d", i % 1000);
            snprintf(thread, sizeof thread, "t%d", is_many ? i % 300 : i % 5);
            profile_moments_add(moments, i * 20, add(method, 10), context_of(thread, NULL), 10);
        }
        FILE *to = open_memstream(&output, &output_bytes);
        jw_error_clear(&err); /* what it says is of this page, not of the one before */
        cr_assert_not(export_profile(profile, EXPORT_EXPLORER, &options, collect, to, &err));
        fclose(to);
        free(output);
        const uint64_t least_bytes = strtoull(strstr(err.message, "at least ") + 9, NULL, 10);
        write_page((struct export_options){.most_bytes = least_bytes});
        cr_assert_not_null(strstr(output, "<p id=\"fit\">"));
        cr_expect_eq(strstr(output, "frequent are told apart") != NULL, is_many, "%d", is_many);
        cr_expect_eq(strstr(output, "\"foldedSamples\":0}") == NULL, is_many, "%d", is_many);
        free(output);
        output = NULL;
    }
}

#define MANY_BINS 40
#define MANY      1300000

/* One bin has more than are sorted at a time, the others, on both sides, some thousands each; into `counts`, by bin and stack. */
static void put_more_than_a_window(uint64_t counts[MANY_BINS][3])
{
    const uint32_t context = context_of("one", NULL);
    const profile_stack_id stacks[] = {add("a", 3), add("b", 2), add("c", 1)};
    uint32_t state = 5;

    for (int i = 0; i < MANY; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t bin = i % 6 != 0 ? 7 : (state >> 8) % MANY_BINS;
        const uint32_t of_ten = (state >> 20) % 10;
        const uint32_t stack = of_ten < 5 ? 1 : of_ten < 8 ? 2 : 0;

        profile_moments_add(moments, bin, stacks[stack], context, 10);
        counts[bin][stack]++;
        if (i % 20000 == 0)
            profile_moments_settle(moments, NULL);
    }
}

Test(explorer, more_samples_than_are_sorted_at_a_time_all_find_their_bins)
{
    static uint64_t counts[MANY_BINS][3];
    static const size_t order[] = {1, 2, 0}; /* the most frequent stack first */
    static struct numbers bins, samples;
    size_t row = 0;

    put_more_than_a_window(counts);
    write_page((struct export_options){0});
    read_column("bins", &bins);
    read_column("samples", &samples);
    cr_assert_eq(bins.count, (size_t)MANY_BINS);
    cr_assert_eq(samples.count, (size_t)MANY);
    for (size_t bin = 0; bin < MANY_BINS; bin++) {
        uint64_t rank = 0, found[3] = {0};

        for (size_t i = 0; i < bins.items[bin]; i++) {
            rank += samples.items[row++];
            cr_assert(rank < 3, "bin %zu", bin);
            found[rank]++;
        }
        for (size_t i = 0; i < 3; i++)
            cr_expect_eq(found[i], counts[bin][order[i]], "bin %zu, rank %zu", bin, i);
    }
}

Test(explorer, values_of_rows_that_became_one_are_added_up)
{
    put_many(false);
    write_page((struct export_options){0});
    const uint64_t whole = sum_of("values");
    const size_t most = output_bytes - 10000;

    free(output);
    write_page((struct export_options){.most_bytes = most});
    cr_expect_eq(sum_of("values"), whole);
    cr_expect_eq(sum_of("counts"), 4000);
}

Test(explorer, a_page_for_which_there_is_no_room_is_refused)
{
    struct export_options options = {.moments = moments, .most_bytes = 10000};

    put_many(true);
    FILE *to = open_memstream(&output, &output_bytes);
    cr_expect_not(export_profile(profile, EXPORT_EXPLORER, &options, collect, to, &err));
    fclose(to);
    cr_expect_eq(output_bytes, 0);
    const char *least = strstr(err.message, "has at least ");
    cr_assert_not_null(least, "%s", err.message);
    cr_expect_null(strstr(err.message, "samples"), "%s", err.message);
    const uint64_t least_bytes = strtoull(least + 13, NULL, 10);
    cr_expect(least_bytes > 10000 && least_bytes % 1024 == 0, "%s", err.message);

    free(output);
    write_page((struct export_options){.most_bytes = least_bytes});
    cr_expect(output_bytes <= least_bytes && output_bytes + 2048 > least_bytes,
              "what is said to be enough is enough, and hardly more: %zu of %llu", output_bytes,
              (unsigned long long)least_bytes);
}

/* Of so few that nothing could be coarser. */
Test(explorer, a_page_of_one_sample_is_not_refused_for_its_samples)
{
    struct export_options options = {.moments = moments, .most_bytes = 10000};

    sample("a", 100, context_of("one", NULL), 1);
    FILE *to = open_memstream(&output, &output_bytes);
    cr_expect_not(export_profile(profile, EXPORT_EXPLORER, &options, collect, to, &err));
    fclose(to);
    cr_expect_not_null(strstr(err.message, "has at least "), "%s", err.message);
}

static void fail_each_allocation(uint64_t most_bytes)
{
    bool is_written = false;

    for (uint64_t nth = 1; !is_written; nth++) {
        struct export_options options = {
            .moments = moments, .most_bytes = most_bytes, .census = "{}"};
        FILE *to;

        free(output);
        output = NULL;
        to = open_memstream(&output, &output_bytes);
        cr_assert(nth < 5000, "it never succeeds");
        err.message[0] = '\0';
        jw_alloc_fail_after(nth);
        is_written = export_profile(profile, EXPORT_EXPLORER, &options, collect, to, &err);
        jw_alloc_fail_after(0);
        fclose(to);
        cr_expect(is_written || strstr(err.message, "out of memory") != NULL, "%s", err.message);
    }
    cr_expect_not_null(strstr(output, "</html>"));
    cr_expect_not_null(strstr(output, "id=\"c-locks\""));
}

Test(explorer, a_census_of_locks_is_a_column_and_whoever_has_none_has_no_page_of_it)
{
    static const char census[] = "{\"lines\":[[\"</script>\",\"\\u0000\"]]}";
    size_t length;

    sample("a", 0, context_of("one", NULL), 1);
    write_page((struct export_options){.census = census});
    const char *at = strstr(output, "id=\"c-locks\" data-bytes=\"");
    cr_assert_not_null(at);
    cr_expect_eq(strtoull(strchr(at + 8, '=') + 2, NULL, 10), sizeof census - 1);
    const char *text = strchr(at, '>') + 1;
    unsigned char *bytes = inflate_64(text, (size_t)(strstr(text, "</script>") - text), &length);
    cr_expect(length == sizeof census - 1 && memcmp(bytes, census, length) == 0);
    cr_expect_not_null(strstr(output, "id=\"locks\""));
    free(bytes);
    free(output);
    write_page((struct export_options){.census = NULL});
    cr_expect_null(strstr(output, "c-locks"));
    cr_expect_null(strstr(output, "id=\"locks"));
}

Test(explorer, a_page_is_whole_or_memory_was_out)
{
    const uint32_t context = context_of("one", "acme");

    sample("a", 0, context, 1);
    sample("b", 5, context, 2);
    fail_each_allocation(0);
    fail_each_allocation(64u << 20);
    /* One that does not fit as it is. */
    const size_t whole_bytes = output_bytes;
    put_many(true);
    free(output);
    write_page((struct export_options){.census = "{}"});
    cr_assert_gt(output_bytes, whole_bytes + 8000);
    fail_each_allocation(output_bytes - 4000);
}

Test(explorer, spans_stand_in_lanes_in_the_order_of_time)
{
    static struct numbers spans;
    const uint32_t pauses = profile_moments_lane(moments, "GC pauses");
    const uint32_t text = profile_moments_text(moments, "Pause Young");

    profile_set_about(profile, &(struct profile_about){.event = "cpu", .unit = "ns"});
    sample("a", 9, context_of("one", NULL), 1);
    cr_expect_eq(profile_moments_lane(moments, "GC pauses"), pauses, "a lane is known by its name");
    const struct profile_span told[] = {
        {.begin_us = 5000, .length_us = 700, .lane = pauses, .text = text},
        {.begin_us = -200, .length_us = 500, .lane = pauses, .text = text}, /* began before */
        {.begin_us = 2000, .length_us = 0, .lane = pauses + 1, .text = 0},
        {.begin_us = 10000, .length_us = 1, .lane = pauses, .text = text}, /* behind the last bin */
    };
    cr_expect_eq(profile_moments_lane(moments, "</script>"), pauses + 1);
    for (size_t i = 0; i < JW_COUNT_OF(told); i++)
        profile_moments_span(moments, &told[i]);
    write_page((struct export_options){0});
    read_column("spans", &spans);

    const uint64_t expected[] = {0, text, 0, 300, 0, text, 5000, 700, 1, 0, 2000, 0};
    cr_assert_eq(spans.count, JW_COUNT_OF(expected));
    cr_expect(memcmp(spans.items, expected, sizeof expected) == 0);
    cr_expect_not_null(
        strstr(output, "\"spans\":3,\"leftOutSpans\":0,\"lanes\":[\"GC pauses\",\""));
    cr_expect_null(strstr(output, "GC pauses\",\"</script>"));
}

Test(explorer, spans_without_a_place_are_counted)
{
    profile_set_about(profile, &(struct profile_about){.event = "cpu", .unit = "ns"});
    sample("a", 9, context_of("one", NULL), 1);
    profile_moments_span(moments, &(struct profile_span){.begin_us = INT64_MAX, .lane = 0});
    profile_moments_span(moments, &(struct profile_span){.lane = PROFILE_LANES_LIMIT});
    cr_expect_eq(profile_moments_left_out_spans(moments), 2u);
}

/* Waits for locks may be more than fit: pauses of the collector have room all the same. */
Test(explorer, no_lane_takes_the_room_of_all_others)
{
    const uint32_t one = profile_moments_lane(moments, "locks");
    const uint32_t other = profile_moments_lane(moments, "pauses");

    for (uint32_t i = 0; i <= PROFILE_SPANS_LIMIT / 2; i++)
        profile_moments_span(moments, &(struct profile_span){.begin_us = i, .lane = one});
    cr_expect_eq(profile_moments_left_out_spans(moments), 1u);
    profile_moments_span(moments, &(struct profile_span){.lane = other});
    cr_expect_eq(profile_moments_left_out_spans(moments), 1u);
}

/* ---- several events ---- */

/* A profile of one sample at this time, and its moments. */
static struct export_event other_event(const char *event, int64_t at_ms)
{
    struct profile *other = profile_open(&(struct profile_config){.split_lines = false}, &err);
    struct profile_moments *at = profile_moments_open(&err);
    const uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
    const profile_frame_id frames[] = {profile_frame(
        other, &(struct profile_frame){.type = PROFILE_FRAME_COMPILED, .method = "waits"})};

    profile_set_about(other, &(struct profile_about){.event = event, .unit = "ns"});
    profile_moments_add(at, at_ms,
                        profile_add(other, &(struct profile_stack){.frames = frames,
                                                                   .frame_count = 1,
                                                                   .samples = 1,
                                                                   .weight = 50}),
                        profile_moments_context(at, texts), 50);
    return (struct export_event){.profile = other, .moments = at};
}

Test(explorer, events_of_a_page_have_bins_in_common_and_names_of_their_own)
{
    static struct numbers bins, other_bins, samples;
    const struct export_event other = other_event("wall", 9);

    profile_set_about(profile, &(struct profile_about){.event = "cpu", .unit = "ns"});
    sample("a", -2, context_of("one", NULL), 7);
    write_page((struct export_options){.others = &other, .other_count = 1});
    read_column("bins", &bins);
    read_column("e1-bins", &other_bins);
    read_column("e1-samples", &samples);
    cr_expect(bins.count == 12 && other_bins.count == 12, "-2 to 9 ms in both");
    cr_expect(bins.items[0] == 1 && other_bins.items[0] == 0 && other_bins.items[11] == 1);
    cr_expect_eq(samples.count, 1u);
    cr_expect_not_null(strstr(output, "\"events\":[[\"\",\"cpu\"],[\"e1-\",\"wall\"]]"));
    cr_expect_not_null(strstr(output, "id=\"e1-meta\">{\"title\":\"Wall clock profile\""));
    cr_expect_null(strstr(strstr(output, "id=\"e1-meta\""), "\"events\":"));
    profile_close(other.profile);
    profile_moments_close((struct profile_moments *)(uintptr_t)other.moments);
}

/* ---- moments ---- */

Test(explorer, equal_contexts_are_one_and_too_many_say_so)
{
    uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
    uint32_t last = 0;

    cr_expect_eq(context_of("one", "acme"), context_of("one", "acme"));
    cr_expect_neq(context_of("one", "acme"), context_of("one", NULL));
    cr_expect_neq(context_of("one", NULL), context_of("one", ""));
    for (uint32_t i = 0; i < PROFILE_CONTEXTS_LIMIT + 10; i++) {
        texts[0] = i + 100;
        last = profile_moments_context(moments, texts);
    }
    cr_expect_eq(profile_moments_context_count(moments), PROFILE_CONTEXTS_LIMIT);
    cr_expect(profile_moments_untold(moments) > 0);
    cr_expect_not_null(
        strstr(profile_moments_text_at(moments, profile_moments_context_at(moments, last)[0]),
               "not told"));
}

Test(explorer, columns_beyond_the_limit_are_refused)
{
    char name[16];

    for (uint32_t i = 0; i < PROFILE_COLUMNS_LIMIT; i++) {
        snprintf(name, sizeof name, "a%u", i);
        cr_expect_eq(profile_moments_column(moments, PROFILE_COLUMN_ATTRIBUTE, name), i);
    }
    cr_expect_eq(profile_moments_column(moments, PROFILE_COLUMN_THREAD, ""), PROFILE_COLUMNS_LIMIT);
    cr_expect_eq(profile_moments_column(moments, PROFILE_COLUMN_ATTRIBUTE, "a3"), 3u);
}

Test(explorer, times_that_cannot_be_are_counted)
{
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    uint64_t count;

    profile_moments_add(moments, INT64_MAX, 0, 0, 1);
    profile_moments_add(moments, INT64_MIN, 0, 0, 1);
    profile_moments_add(moments, INT32_MAX, 0, 0, 1);

    const struct profile_moment *first = profile_moments_next(moments, &place, &count);
    cr_expect_eq(profile_moments_mistimed(moments), 2u);
    cr_expect_eq(first->at_ms, 0);
    cr_expect_eq(count, 3u);
}
