/*
 * However many threads read a recording, the same bytes come out: of random recordings of many chunks, plain and packed,
 * whole and damaged. Prints its seeds.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_cli.h"
#include "support/recording_maker.h"

#define CHUNKS 24

static struct maker maker;
static char path[64];
static char packed_path[80];
static size_t chunk_begins[CHUNKS];
static char *expected;
static char expected_err[sizeof err_text];

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-jobs-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(packed_path, sizeof packed_path, "%s/packed.jfr.zst", directory);
}

static void end(void)
{
    char command[100];

    maker_close(&maker);
    free(expected);
    if (path[0] != '\0')
        unlink(path);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_jobs, .init = begin, .fini = end, .timeout = 1800);

/* Of one recording after the other: some of them small, some of them longer, so that threads overtake each other. */
static void make_recording(unsigned seed)
{
    srandom(seed);
    maker_close(&maker);
    for (unsigned i = 0; i < CHUNKS; i++) {
        chunk_begins[i] = maker.used_bytes;
        maker_usual_chunk(&maker, 1000 + (uint64_t)(random() % 1000) * 1000000);
        if (random() % 3 == 0)
            continue;

        /* The same chunk again with more in it: samples of stacks and threads that are there. */
        maker.used_bytes = chunk_begins[i];
        maker_begin_chunk(&maker);
        for (long n = random() % 500; n > 0; n--)
            maker_sample(&maker, (uint64_t)n, (uint64_t)(random() % 3), (uint64_t)(random() % 4),
                         1 + (uint64_t)(random() % 2), (uint64_t)(random() % 1000));
        maker_usual_pools(&maker);
        maker_metadata(&maker);

        const size_t event = maker_begin_event(&maker, MAKER_DIAGNOSTICS);
        for (int n = 0; n < 4; n++)
            maker_varint(&maker, n == 0 ? 30 : (uint64_t)(random() % 50));
        maker_end_event(&maker, event);
        maker_end_chunk(&maker, 1000 + (uint64_t)(random() % 1000) * 1000000);
    }
}

static void save(void)
{
    if (path[0] != '\0')
        unlink(path);
    cr_assert(maker_save(&maker, path));
}

/* With one thread, and then with several: status, output and complaints are the same. */
static void compare(const char *in, const char *command, const char *option, const char *value,
                    int wanted)
{
    static const char *const jobs[] = {"1", "3", "8"};
    const bool is_convert = strcmp(command, "convert") == 0;

    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const int status = is_convert ? RUN(command, "--jobs", jobs[i], option, value, in, "-")
                                      : RUN(command, "--jobs", jobs[i], option, value, in);

        cr_assert_eq(status, wanted, "%s %s %s: %s", command, value, jobs[i], err_text);
        if (i == 0) {
            free(expected);
            expected = strdup(out_text);
            strcpy(expected_err, err_text);
        }
        cr_assert_str_eq(out_text, expected, "%s %s --jobs %s", command, value, jobs[i]);
        cr_assert_str_eq(err_text, expected_err, "%s %s --jobs %s: \"%s\", not \"%s\"", command,
                         value, jobs[i], err_text, expected_err);
    }
}

static void compare_all(const char *in, int wanted)
{
    static const char *const formats[] = {"collapsed", "text", "tree", "html", "explorer"};

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        compare(in, "convert", "-o", formats[i], wanted);
    compare(in, "convert", "--threads", "--output=collapsed", wanted);
    compare(in, "convert", "--thread=m*", "--output=text", wanted);
}

Test(cli_jobs, the_same_comes_out_of_any_number_of_threads)
{
    for (unsigned seed = 1; seed <= 2; seed++) {
        fprintf(stderr, "seed %u\n", seed);
        make_recording(seed);
        save();
        compare_all(path, CLI_OK);
        cr_assert_geq(strlen(expected), 20, "%s", expected);
    }
}

Test(cli_jobs, packed_chunks_are_read_by_several)
{
    make_recording(4);
    save();
    cr_assert_eq(RUN("convert", "-q", path, packed_path), CLI_OK, "%s", err_text);
    compare_all(packed_path, CLI_OK);
    compare(path, "convert", "-o", "collapsed", CLI_OK);
}

/* The one that a single thread comes upon, not the one that another thread is quicker to find. */
Test(cli_jobs, of_several_damaged_chunks_the_first_one_is_told)
{
    for (unsigned seed = 10; seed < 16; seed++) {
        make_recording(seed);
        for (unsigned n = 0; n < 3; n++) {
            const unsigned chunk = 1 + (unsigned)(random() % (CHUNKS - 1));

            memset(maker.bytes + chunk_begins[chunk] + 68, 0xff, 12); /* the first event */
        }
        save();
        compare(path, "convert", "-o", "collapsed", CLI_FAILED);
        cr_assert_not_null(strstr(expected_err, "damaged at byte"), "%s", expected_err);
    }
}

Test(cli_jobs, what_behind_the_last_whole_chunk_is_left_out_is_told_once)
{
    make_recording(20);
    maker.used_bytes = chunk_begins[CHUNKS - 1] + 100;
    save();
    compare(path, "convert", "-o", "collapsed", CLI_OK);
    cr_assert_not_null(strstr(expected_err, "left out"), "%s", expected_err);
}

Test(cli_jobs, a_number_of_threads_that_is_none_is_refused)
{
    static const char *const wrong[] = {"0", "-1", "x", "257", "2x"};

    make_recording(1);
    save();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(RUN("convert", "--jobs", wrong[i], path, "-o", "text", "-"), CLI_USAGE);
        cr_assert_not_null(strstr(err_text, "is no number of threads; give 1 to 256"), "%s",
                           err_text);
    }
}
