/*
 * Samples taken by a plan for their type and one by one, which a pattern for any thread asks for: the same sums, and the same pages over time, of samples without
 * a stack, with keys that are large or lead nowhere, with numbers below 0, and cut ones, too. Prints its seeds.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "run_cli.h"
#include "support/recording_maker.h"

#define SEEDS  6u
#define CHUNKS 4u
#define EVENTS 300u

static struct maker maker;
static char path[64];
static char planned[sizeof out_text];

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-plan-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void end(void)
{
    char command[100];

    maker_close(&maker);
    if (path[0] != '\0')
        unlink(path);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_plan, .init = begin, .fini = end, .timeout = 1800);

/* An event as maker_sample makes it that ends early. */
static void put_cut_sample(uint64_t ticks)
{
    const size_t at = maker_begin_event(&maker, MAKER_SAMPLE);

    maker_varint(&maker, ticks);
    maker_varint(&maker, 1);
    if (random() % 2 == 0)
        maker_varint(&maker, 1);
    maker_end_event(&maker, at);
}

static void put_chunk(unsigned number, unsigned seed)
{
    static const uint64_t traces[] = {0, 1, 2, 3, 3, 9, 70000, UINT64_C(1) << 21, UINT64_MAX};
    static const uint64_t weights[] = {
        0, 1, 10000000, UINT64_C(1) << 40, UINT64_MAX, UINT64_C(1) << 63};
    const size_t trace_count = seed % 2 == 0 ? 5 : JW_COUNT_OF(traces);
    const size_t weight_count = seed % 3 == 0 ? 4 : JW_COUNT_OF(weights);

    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    maker_usual_pools(&maker);
    for (unsigned i = 0; i < EVENTS; i++) {
        if (random() % 20 == 0)
            put_cut_sample(i);
        else
            maker_sample(&maker, i, 1 + (uint64_t)random() % 2,
                         traces[(size_t)random() % trace_count], 1 + (uint64_t)random() % 2,
                         weights[(size_t)random() % weight_count]);
    }
    maker_end_chunk(&maker, 1000 + number);
}

static void make_recording(unsigned seed)
{
    fprintf(stderr, "seed %u\n", seed);
    srandom(seed);
    maker_close(&maker);
    for (unsigned i = 0; i < CHUNKS; i++)
        put_chunk(i, seed);
    if (path[0] != '\0')
        unlink(path);
    cr_assert(maker_save(&maker, path));
}

Test(cli_plan, gives_the_sums_of_samples_one_by_one)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        make_recording(seed);
        for (unsigned total = 0; total < 2; total++) {
            const char *const value = total == 0 ? "--samples" : "--total";

            cr_assert_eq(RUN("convert", "-q", value, "-o", "collapsed", path, "-"), 0, "%s",
                         err_text);
            strcpy(planned, out_text);
            cr_assert_eq(RUN("convert", "-q", value, "--thread", "*", "-o", "collapsed", path, "-"),
                         0, "%s", err_text);
            cr_assert_str_eq(planned, out_text, "seed %u", seed);
            cr_assert_str_neq(planned, "");
        }
    }
}

Test(cli_plan, keeps_of_each_sample_when_it_was_and_of_which_thread)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        make_recording(seed);
        for (unsigned total = 0; total < 2; total++) {
            const char *const value = total == 0 ? "--samples" : "--total";

            cr_assert_eq(RUN("convert", "-q", value, "--title", "one: thread *", "-o", "explorer",
                             path, "-"),
                         0, "%s", err_text);
            strcpy(planned, out_text);
            cr_assert_eq(RUN("convert", "-q", value, "--title", "one", "--thread", "*", "-o",
                             "explorer", path, "-"),
                         0, "%s", err_text);
            cr_assert_str_eq(planned, out_text, "seed %u", seed);
        }
    }
}
