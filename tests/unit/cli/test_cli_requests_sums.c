/*
 * Random recordings of requests against a slow model: each sample is in one row and in no other, whatever it is
 * taken apart by and whatever part is let in, and a table says what the tree says. Prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "support/emulated.h"
#include "support/requests_maker.h"

#define SAMPLES 300
#define ROOTS   12 /* 0: none */
#define WORDS   20

static const char *const texts[] = {"GET /a", "GET /b", "POST /a", "acme", "zoo", NULL};
enum { GET_A = 1, GET_B, POST_A, ACME, ZOO };

static struct maker maker;
static char path[64];
static char out_path[80];
static struct made_request samples[SAMPLES];
static uint64_t endpoints[ROOTS]; /* key of the text, 0: nobody said */

static void tear_down(void)
{
    maker_close(&maker);
    unlink(path);
    unlink(out_path);
}

TestSuite(requests_sums, .fini = tear_down, .timeout = 1800);

/* Three chunks; each endpoint is told once rightly, at any place behind where it was told wrongly. */
static void make_recording(unsigned seed)
{
    fprintf(stderr, "seed %u\n", seed);
    srandom(seed);
    for (int root = 1; root < ROOTS; root++)
        endpoints[root] = (uint64_t)(random() % (POST_A + 1));
    for (int i = 0; i < SAMPLES; i++) {
        const uint64_t root = (uint64_t)random() % ROOTS;

        samples[i] = (struct made_request){
            .root_span_id = root,
            .span_id = root == 0 ? 0 : 1000 * root + (uint64_t)random() % 3,
            .tenant = root == 0 || random() % 3 == 0 ? 0 : ACME + (uint64_t)random() % 2,
            .stack = (uint64_t)random() % 4,
            .thread = 1 + (uint64_t)random() % 2,
            .weight_ns = 1 + (uint64_t)random() % 1000,
        };
    }
    for (int chunk = 0; chunk < 3; chunk++) {
        requests_begin(&maker, texts);
        for (int i = chunk * SAMPLES / 3; i < (chunk + 1) * SAMPLES / 3; i++)
            requests_sample(&maker, &samples[i]);
        for (int root = 1; root < ROOTS; root++) {
            if (endpoints[root] != 0 && root % 3 >= chunk)
                requests_endpoint(&maker, (uint64_t)root,
                                  root % 3 == chunk ? endpoints[root] : GET_A, 0);
        }
        requests_end(&maker);
    }
    cr_assert(maker_save(&maker, path));
    snprintf(out_path, sizeof out_path, "%s.out", path);
}

/* The lines that a command prints; its options end with NULL. */
static FILE *run(const char *command, const char *format, const char *const *options)
{
    const char *const first[] = {"jaywalk", command, "-q", "-o", format};
    char *words[WORDS + 8];
    int count = 0;

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        words[count++] = strdup(first[i]);
    for (size_t i = 0; options[i] != NULL; i++)
        words[count++] = strdup(options[i]);
    words[count++] = strdup(path);
    if (strcmp(command, "convert") == 0)
        words[count++] = strdup("-");
    cr_assert_not_null(freopen(out_path, "w", stdout));
    cr_assert_eq(cli_main(count, words), CLI_OK, "%s", options[0]);
    fflush(stdout);
    for (int i = 0; i < count; i++)
        free(words[i]);
    FILE *out = fopen(out_path, "r");
    cr_assert_not_null(out);
    return out;
}

/* Of the samples that fit: how many, and how long. */
struct sum {
    uint64_t samples;
    uint64_t weight;
};

static struct sum sum_of_table(const char *const *options)
{
    FILE *out = run("endpoints", "csv", options);
    struct sum sum = {0, 0};
    char line[1000];

    cr_assert_not_null(fgets(line, sizeof line, out));
    while (fgets(line, sizeof line, out) != NULL) {
        /* From behind: hottest frame, share, two of the wall clock, ns, samples. */
        char *at = line + strlen(line);
        char *fields[6];

        for (int i = 0; i < 6; i++) {
            while (*--at != ',')
                ;
            *at = '\0';
            fields[i] = at + 1;
        }
        sum.samples += strtoull(fields[5], NULL, 10);
        sum.weight += strtoull(fields[4], NULL, 10);
    }
    fclose(out);
    return sum;
}

static struct sum sum_of_tree(const char *const *options)
{
    struct sum sum = {0, 0};
    char line[1000];
    FILE *out = run("convert", "collapsed", options);

    while (fgets(line, sizeof line, out) != NULL)
        sum.samples += strtoull(strrchr(line, ' ') + 1, NULL, 10);
    fclose(out);

    const char *with_total[WORDS] = {"--total"};
    for (size_t i = 0; options[i] != NULL; i++)
        with_total[i + 1] = options[i];
    out = run("convert", "collapsed", with_total);
    while (fgets(line, sizeof line, out) != NULL)
        sum.weight += strtoull(strrchr(line, ' ') + 1, NULL, 10);
    fclose(out);
    return sum;
}

/* The model: which samples a part lets in, said once more. */
struct part {
    const char *options[4];
    bool (*fits)(const struct made_request *sample);
};

static uint64_t endpoint_of(const struct made_request *sample)
{
    return endpoints[sample->root_span_id];
}

static bool is_any(const struct made_request *sample)
{
    (void)sample;
    return true;
}

static bool is_get(const struct made_request *sample)
{
    return endpoint_of(sample) == GET_A || endpoint_of(sample) == GET_B;
}

static bool has_context(const struct made_request *sample)
{
    return sample->root_span_id != 0 || sample->span_id != 0 || sample->trace_id != 0 ||
           sample->tenant != 0 || sample->user != 0;
}

static bool is_without_endpoint(const struct made_request *sample)
{
    return endpoint_of(sample) == 0 && has_context(sample);
}

static bool is_without_context(const struct made_request *sample)
{
    return !has_context(sample);
}

static bool is_acme(const struct made_request *sample)
{
    return sample->tenant == ACME;
}

static bool is_a_of_zoo(const struct made_request *sample)
{
    return (endpoint_of(sample) == GET_A || endpoint_of(sample) == POST_A) && sample->tenant == ZOO;
}

static bool is_of_two_spans(const struct made_request *sample)
{
    return sample->span_id == 3000 || sample->span_id == 4001;
}

static const struct part parts[] = {
    {{NULL}, is_any},
    {{"--endpoint=GET*"}, is_get},
    {{"--endpoint=[no endpoint]"}, is_without_endpoint},
    {{"--endpoint=[no context]"}, is_without_context},
    {{"--attribute=tenant=acme"}, is_acme},
    {{"--endpoint=*/a", "--attribute=tenant=z*"}, is_a_of_zoo},
    {{"--span-id=3000", "--span-id=4001"}, is_of_two_spans},
};

static const char *const bys[][4] = {
    {"--by=thread"},
    {"--by=endpoint"},
    {"--by=operation"},
    {"--by=attribute:tenant"},
    {"--by=attribute:tenant", "--by=endpoint", "--by=thread"},
    {"--by=endpoint", "--by=thread", "--by=attribute:user_id"},
};

Test(requests_sums, rows_and_boxes_add_up_to_what_a_slow_model_lets_in)
{
    const unsigned seeds = is_emulated() ? 1 : 3;

    for (unsigned seed = 1; seed <= seeds; seed++) {
        make_recording(seed);
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            struct sum wanted = {0, 0};

            for (int i = 0; i < SAMPLES; i++) {
                wanted.samples += parts[p].fits(&samples[i]);
                wanted.weight += parts[p].fits(&samples[i]) ? samples[i].weight_ns : 0;
            }
            for (size_t b = 0; b < sizeof bys / sizeof bys[0]; b++) {
                const char *options[WORDS] = {NULL};
                size_t count = 0;

                for (size_t i = 0; i < 4 && bys[b][i] != NULL; i++)
                    options[count++] = bys[b][i];
                for (size_t i = 0; i < 4 && parts[p].options[i] != NULL; i++)
                    options[count++] = parts[p].options[i];

                const struct sum tree = sum_of_tree(options);
                cr_expect_eq(tree.samples, wanted.samples, "%s %zu", options[0], p);
                cr_expect_eq(tree.weight, wanted.weight, "%s %zu", options[0], p);
                if (wanted.samples == 0)
                    continue;
                options[count] = "--top=1";
                const struct sum table = sum_of_table(options);
                cr_expect_eq(table.samples, wanted.samples, "%s %zu", options[0], p);
                cr_expect_eq(table.weight, wanted.weight, "%s %zu", options[0], p);
            }
        }
        tear_down();
    }
}
