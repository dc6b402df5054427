/*
 * All that is made of one recording has the same totals: each format is read by itself, those of other tools by
 * protoc with the schema that they publish.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#define BEGIN_WALL_NS 1700000000000000000ull /* whole seconds */
#include "golden/made_clock.h"

#define LINE_BYTES 4096

static char directory[] = "/tmp/jaywalk-totals-XXXXXX";
static struct jw_error err;

struct totals {
    uint64_t samples;
    uint64_t weight_ns;
};

static const char *in_directory(const char *name)
{
    static char full[4][96];
    static unsigned next;
    char *at = full[next++ % JW_COUNT_OF(full)];

    snprintf(at, sizeof full[0], "%s/%s", directory, name);
    return at;
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));

    const struct recording_config config = made_config(in_directory("in.jfr"), RECORDING_JFR);
    made_with_wall = true;
    made_with_context = true;
    cr_assert(made_recording(&config, 3, 4, &err), "%s", err.message);
}

static void tear_down(void)
{
    static const char *const names[] = {"in.jfr", "out"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++)
        unlink(in_directory(names[i]));
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(totals, .init = set_up, .fini = tear_down, .timeout = 1800);

/* `options` is NULL or some options in one word each, ended by NULL. */
static void convert(const char *format, const char *const *options)
{
    char *words[16] = {(char[]){"jaywalk"}, (char[]){"convert"}, (char[]){"-q"}};
    int count = 3;

    words[count++] = strdup(format);
    for (; options != NULL && *options != NULL; options++)
        words[count++] = strdup(*options);
    words[count++] = strdup(in_directory("in.jfr"));
    words[count++] = strdup(in_directory("out"));
    cr_assert_eq(cli_main(count, words), CLI_OK, "%s", format);
    for (int i = 3; i < count; i++)
        free(words[i]);
}

static FILE *opened(const char *command)
{
    FILE *stream = command == NULL ? fopen(in_directory("out"), "r") : popen(command, "r");

    cr_assert_not_null(stream, "%s", command == NULL ? "out" : command);
    return stream;
}

static uint64_t sum_of_collapsed(void)
{
    char line[LINE_BYTES];
    uint64_t sum = 0;
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        const char *count = strrchr(line, ' ');

        cr_assert_not_null(count, "%s", line);
        sum += strtoull(count, NULL, 10);
    }
    fclose(file);
    return sum;
}

/* "Total     8.00 s in 1,200 samples" of texts, and of pages "... in 1,200 samples". */
static uint64_t samples_said(void)
{
    char line[LINE_BYTES];
    uint64_t said = 0;
    FILE *file = opened(NULL);

    while (said == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Total     ", 10) != 0)
            continue;
        const char *at = strstr(line, " in ");
        for (at = at == NULL ? line + 10 : at + 4; isdigit(*at) || *at == ','; at++)
            said = *at == ',' ? said : said * 10 + (uint64_t)(*at - '0');
    }
    fclose(file);
    return said;
}

/* The share of the first row below the head is all of it, and the rows of the outermost frames sum up to it. */
static uint64_t hundredths_of_tree(void)
{
    char line[LINE_BYTES];
    unsigned whole, part, depth;
    uint64_t sum = 0;
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%u.%u %% %*u.%*u %% [%u]", &whole, &part, &depth) == 3 && depth == 1)
            sum += (uint64_t)whole * 100 + part;
    }
    fclose(file);
    return sum;
}

/* Behind "--- " of each stack: "1,200 samples, 72.7 %". */
static uint64_t sum_of_traces(void)
{
    char line[LINE_BYTES];
    uint64_t sum = 0;
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        uint64_t count = 0;

        if (strncmp(line, "--- ", 4) != 0)
            continue;
        for (const char *at = line + 4; isdigit(*at) || *at == ','; at++)
            count = *at == ',' ? count : count * 10 + (uint64_t)(*at - '0');
        sum += count;
    }
    fclose(file);
    return sum;
}

/* Of collapsed stacks, samples whose innermost frame is a method: what has no name, and what is no code, is no row of `flat`. */
static uint64_t sum_of_methods(void)
{
    char line[LINE_BYTES];
    uint64_t sum = 0;
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        const char *innermost = strrchr(line, ';');

        innermost = innermost == NULL ? line : innermost + 1;
        if (*innermost != '[' && strncmp(innermost, "0x", 2) != 0)
            sum += strtoull(strrchr(line, ' '), NULL, 10);
    }
    fclose(file);
    return sum;
}

/* "   72.73 %    96.97 %  compiled  Hot.spin": the shares of the methods by themselves sum up to `share`, each of them rounded. */
static bool methods_are(double share)
{
    char line[LINE_BYTES];
    double own, sum = 0;
    unsigned rows = 0;
    bool is_begun = false;
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        is_begun |= strncmp(line, "Hottest methods", 15) == 0;
        if (is_begun && sscanf(line, "%lf %% %*f %%", &own) == 1) {
            sum += own;
            rows++;
        }
    }
    fclose(file);
    return rows != 0 && fabs(sum - share) <= 0.005 * rows + 1e-9;
}

/* Of lines of events, one for each sample: `before` stands before its weight. */
static struct totals totals_of_events(const char *type, const char *before)
{
    char line[4 * LINE_BYTES];
    struct totals totals = {0};
    FILE *file = opened(NULL);

    while (fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, type) == NULL)
            continue;
        const char *at = strstr(line, before);
        cr_assert_not_null(at, "%s", line);
        totals.samples++;
        totals.weight_ns += strtoull(at + strlen(before), NULL, 10);
    }
    fclose(file);
    return totals;
}

/* Bytes of a page's meta: "totalSamples":1200. */
static uint64_t number_in_page(const char *name)
{
    const size_t capacity = (size_t)1 << 20;
    char *text = malloc(capacity);
    FILE *file = opened(NULL);
    char wanted[64];

    cr_assert_not_null(text);
    text[fread(text, 1, capacity - 1, file)] = '\0';
    fclose(file);
    snprintf(wanted, sizeof wanted, "\"%s\":", name);

    const char *at = strstr(text, wanted);
    cr_assert_not_null(at, "no %s in the page", name);
    at += strlen(wanted);
    const uint64_t number = strtoull(at + (*at == '"'), NULL, 10);
    free(text);
    return number;
}

static void refuse_unknown(const char *line)
{
    const char *at = line + strspn(line, " ");

    cr_assert(!isdigit(*at), "a field that the schema does not have: %s", line);
}

static struct totals totals_of_pprof(void)
{
    char command[400], line[LINE_BYTES];
    struct totals totals = {0};
    unsigned value = 0;

    snprintf(command, sizeof command,
             "gzip -dcf %s | protoc -Itests/golden --decode=pprof.Profile pprof.proto",
             in_directory("out"));
    FILE *decoded = opened(command);
    while (fgets(line, sizeof line, decoded) != NULL) {
        refuse_unknown(line);
        if (strcmp(line, "sample {\n") == 0)
            value = 0;
        if (strncmp(line, "  value: ", 9) != 0)
            continue;
        *(value == 0 ? &totals.samples : &totals.weight_ns) += strtoull(line + 9, NULL, 10);
        value++;
    }
    cr_assert_eq(pclose(decoded), 0);
    return totals;
}

/* The first of its profiles is of `first_is_weight`. */
static struct totals totals_of_otlp(bool first_is_weight)
{
    char command[400], line[LINE_BYTES];
    uint64_t sums[3] = {0};
    unsigned profile = 0;

    snprintf(command, sizeof command,
             "protoc -Itests/golden --decode=otlp.ProfilesData otlp.proto < %s",
             in_directory("out"));
    FILE *decoded = opened(command);
    while (fgets(line, sizeof line, decoded) != NULL) {
        const char *at = line + strspn(line, " ");

        refuse_unknown(line);
        profile += strcmp(at, "profiles {\n") == 0;
        cr_assert_lt(profile, JW_COUNT_OF(sums));
        if (strncmp(at, "values: ", 8) == 0)
            sums[profile] += strtoull(at + 8, NULL, 10);
    }
    cr_assert_eq(pclose(decoded), 0);
    return first_is_weight ? (struct totals){sums[2], sums[1]} : (struct totals){sums[1], sums[2]};
}

static void expect_equal(const char *const *options, struct totals *told)
{
    const char *weights[4] = {"--total"}, *counts[4] = {"--samples"};
    struct totals wanted;

    for (size_t i = 0; options[i] != NULL; i++)
        weights[i + 1] = counts[i + 1] = options[i];
    convert("--output=collapsed", counts);
    wanted.samples = sum_of_collapsed();
    const uint64_t methods = sum_of_methods();
    convert("--output=collapsed", weights);
    wanted.weight_ns = sum_of_collapsed();
    *told = wanted;

    convert("--output=text", options);
    cr_expect_eq(samples_said(), wanted.samples);
    convert("--output=tree", options);
    cr_expect_eq(samples_said(), wanted.samples);
    const uint64_t hundredths = hundredths_of_tree();
    cr_expect(hundredths >= 9990 && hundredths <= 10010, "%llu", (unsigned long long)hundredths);
    convert("--output=flat=10000", counts);
    cr_expect_eq(samples_said(), wanted.samples);
    cr_expect(methods_are(100.0 * (double)methods / (double)wanted.samples));
    convert("--output=traces=10000", counts);
    cr_expect_eq(samples_said(), wanted.samples);
    cr_expect_eq(sum_of_traces(), wanted.samples);
    convert("--output=html", options);
    cr_expect_eq(number_in_page("samples"), wanted.samples);
    convert("--output=pprof", options);
    const struct totals pprof = totals_of_pprof();
    cr_expect(pprof.samples == wanted.samples && pprof.weight_ns == wanted.weight_ns, "pprof");
    convert("--output=otlp", options);
    const struct totals otlp = totals_of_otlp(true);
    cr_expect(otlp.samples == wanted.samples && otlp.weight_ns == wanted.weight_ns, "otlp");
    convert("--output=otlp", counts);
    const struct totals counted = totals_of_otlp(false);
    cr_expect(counted.samples == wanted.samples && counted.weight_ns == wanted.weight_ns, "otlp");
}

Test(totals, of_all_formats_are_equal)
{
    struct totals whole, part;

    expect_equal((const char *const[]){NULL}, &whole);
    cr_expect_neq(whole.samples, 0);
    cr_expect_neq(whole.weight_ns, whole.samples);
    expect_equal((const char *const[]){"--threads", "--by=endpoint", NULL}, &part);
    cr_expect(part.samples == whole.samples && part.weight_ns == whole.weight_ns);
    /* Each sample is on one side of a moment, and of one thread or of another. */
    struct totals before, after;
    expect_equal((const char *const[]){"--to=2s", NULL}, &before);
    expect_equal((const char *const[]){"--from=2s", NULL}, &after);
    cr_expect(before.samples > 0 && after.samples > 0);
    cr_expect_eq(before.samples + after.samples, whole.samples);
    cr_expect_eq(before.weight_ns + after.weight_ns, whole.weight_ns);
    expect_equal((const char *const[]){"--from=2023-11-14T22:13:22Z", NULL}, &part);
    cr_expect_eq(part.samples, after.samples);
    expect_equal((const char *const[]){"--thread=main", NULL}, &before);
    expect_equal((const char *const[]){"--thread=work*", "--thread=1002", NULL}, &after);
    cr_expect(before.samples > 0 && after.samples > 0);
    expect_equal((const char *const[]){"--thread=*", NULL}, &part);
    cr_expect_eq(before.samples + after.samples, part.samples);
    expect_equal((const char *const[]){"--include=*Hot*", "--lines", NULL}, &part);
    cr_expect(part.samples < whole.samples && part.samples > 0);
    expect_equal((const char *const[]){"--event=wall", NULL}, &part);
    cr_expect_neq(part.samples, 0);
}

Test(totals, of_events_and_of_the_explorer_are_those_of_graphs)
{
    static const char *const only[] = {"--event=cpu", NULL};
    struct totals wanted, told;

    expect_equal(only, &wanted);
    convert("--output=jsonl", only);
    told = totals_of_events("\"type\":\"jdk.", "\"weight\":");
    cr_expect(told.samples == wanted.samples && told.weight_ns == wanted.weight_ns, "jsonl");
    convert("--output=csv", only);
    told = totals_of_events("\"jdk.", "\"STATE_RUNNABLE\",");
    cr_expect(told.samples == wanted.samples && told.weight_ns == wanted.weight_ns, "csv");
    convert("--output=explorer", only);
    cr_expect_eq(number_in_page("samples"), wanted.samples);
}
