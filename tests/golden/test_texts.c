/*
 * What the command prints, word for word: lists of stacks and methods, collapsed stacks with each option,
 * list, version, help. With JW_UPDATE=1 in the environment tests/golden/texts.txt is written anew instead of
 * compared; run from the root of the tree. The recording is made without a JVM, by a clock that stands in for
 * that of room base.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "golden/made_clock.h"

#define KEPT       "tests/golden/texts.txt"
#define WORD_LIMIT 16

static char directory[] = "/tmp/jaywalk-texts-XXXXXX";
static char recording_path[64];
static char out_path[64];

static void set_up(void)
{
    struct jw_error err = {{0}};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(recording_path, sizeof recording_path, "%s/profile.jfr", directory);
    snprintf(out_path, sizeof out_path, "%s/out", directory);
    signals_before = jw_counter(JW_COUNT_SIGNALS);

    made_with_context = true;
    const struct recording_config config = made_config(recording_path, RECORDING_JFR);
    cr_assert(made_recording(&config, 2, 2, &err), "%s", err.message);
}

static void tear_down(void)
{
    (void)unlink(recording_path);
    (void)unlink(out_path);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(texts, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Of a conversion: its options. The stack of seventy frames is left to the last but one. */
#define CONVERT(...)                                                                               \
    {                                                                                              \
        "convert", "-q", "-X", "*ArrayList.forEach", __VA_ARGS__                                   \
    }

static const char *const commands[][WORD_LIMIT] = {
    {"version"},
    {"list"},
    {"help"},
    CONVERT("-o", "collapsed"),
    CONVERT("-o", "collapsed", "--threads"),
    CONVERT("-o", "collapsed", "--by", "endpoint", "--by", "attribute:tenant"),
    CONVERT("-o", "collapsed", "--endpoint", "GET*", "--by", "operation", "--reverse"),
    {"endpoints", "-q"},
    {"endpoints", "-q", "-o", "json", "--by", "attribute:tenant"},
    CONVERT("-o", "collapsed", "--compilations"),
    CONVERT("-o", "collapsed", "--reverse"),
    CONVERT("-o", "collapsed", "--simple"),
    CONVERT("-o", "collapsed", "--dot"),
    CONVERT("-o", "collapsed", "--sig"),
    CONVERT("-o", "collapsed", "--ann"),
    CONVERT("-o", "collapsed", "--lib"),
    CONVERT("-o", "collapsed", "--lines"),
    CONVERT("-o", "collapsed", "--total"),
    CONVERT("-o", "collapsed", "-I", "app.Hot.copy", "-I", "/^clone/"),
    CONVERT("-o", "collapsed", "-X", "*[unknown*", "-X", "memcpy"),
    {"convert", "-q", "-I", "*Lambda*", "-o", "collapsed", "--norm", "--simple"},
    CONVERT("-o", "flat=3"),
    CONVERT("-o", "flat=3", "--samples", "--lib", "--ann", "--simple", "--title=Three methods"),
    CONVERT("-o", "traces=2"),
    CONVERT("-o", "traces=2", "--samples", "--sig", "--ann", "--threads"),
    CONVERT("-o", "text", "--traces=1", "--flat=1"),
};

/* Runs a command and adds its line and what it prints to `to`. */
static void run(const char *const *words, FILE *to)
{
    char *arguments[WORD_LIMIT + 4] = {strdup("jaywalk")};
    int count = 1;
    char text[4096];
    size_t length;

    fputs("$ jaywalk", to);
    for (; words[count - 1] != NULL; count++) {
        arguments[count] = strdup(words[count - 1]);
        fprintf(to, strpbrk(arguments[count], "*^ ") == NULL ? " %s" : " '%s'", arguments[count]);
    }
    if (strcmp(words[0], "convert") == 0) {
        arguments[count++] = strdup(recording_path);
        arguments[count++] = strdup("-");
        fputs(" profile.jfr -", to);
    } else if (strcmp(words[0], "endpoints") == 0) {
        arguments[count++] = strdup(recording_path);
        fputs(" profile.jfr", to);
    }
    fputc('\n', to);

    cr_assert_not_null(freopen(out_path, "w", stdout));
    cr_expect_eq(cli_main(count, arguments), CLI_OK, "%s", arguments[1]);
    fflush(stdout);
    FILE *out = fopen(out_path, "r");
    cr_assert_not_null(out);
    while ((length = fread(text, 1, sizeof text, out)) > 0)
        fwrite(text, 1, length, to);
    fclose(out);
    fputc('\n', to);
    for (int i = 0; i < count; i++)
        free(arguments[i]);
}

static char *slurp(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file, "%s is missing: run this test from the root, with JW_UPDATE=1", path);
    cr_assert_neq(getdelim(&text, &length, '\0', file), -1);
    fclose(file);
    return text;
}

Test(texts, are_those_that_people_and_their_tools_know)
{
    char *made = NULL;
    size_t made_bytes = 0;
    size_t same = 0;
    FILE *to = open_memstream(&made, &made_bytes);

    for (size_t i = 0; i < JW_COUNT_OF(commands); i++)
        run(commands[i], to);
    cr_assert_eq(fclose(to), 0);
    if (getenv("JW_UPDATE") != NULL) {
        FILE *file = fopen(KEPT, "w");

        cr_assert(file != NULL && fputs(made, file) >= 0 && fclose(file) == 0);
    }

    char *kept = slurp(KEPT);
    while (kept[same] != '\0' && kept[same] == made[same])
        same++;
    cr_expect(kept[same] == made[same],
              KEPT " differs at byte %zu:\nmade: %.300s\nkept: %.300s\nIf it should, run this test "
                   "with JW_UPDATE=1",
              same, made + same, kept + same);
    free(made);
    free(kept);
}
