/* `jaywalk convert` and the CPU ledger: from the events of a recording alone. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "golden/made.h"

static char directory[] = "/tmp/jaywalk-cli-ledger-XXXXXX";
static char in[64], also[64], out[64];
static char text[20000];
static struct jw_error err;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(in, sizeof in, "%s/in.jfr", directory);
    snprintf(also, sizeof also, "%s/also.jfr", directory);
    snprintf(out, sizeof out, "%s/out.txt", directory);
}

static void tear_down(void)
{
    unlink(in);
    unlink(also);
    unlink(out);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(ledger_of_a_file, .init = set_up, .fini = tear_down, .timeout = 1800);

static void record(const char *path, unsigned long chunks, unsigned long rounds)
{
    const struct recording_config config = made_config(path, RECORDING_JFR);

    cr_assert(made_recording(&config, chunks, rounds, &err), "%s", err.message);
}

static const char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static const char *converted(const char *event)
{
    const char *words[] = {"jaywalk", "convert", "-q", event, in, out, NULL};
    char *arguments[JW_COUNT_OF(words)];

    memcpy(arguments, words, sizeof arguments);
    cr_assert_eq(cli_main((int)JW_COUNT_OF(words) - 1, arguments), CLI_OK);
    return read_text(out);
}

/* Appends a file to another: readers take that for one recording after the other. */
static void append(const char *to, const char *from)
{
    char bytes[4096];
    FILE *source = fopen(from, "r");
    FILE *target = fopen(to, "a");
    size_t length_bytes;

    cr_assert(source != NULL && target != NULL);
    while ((length_bytes = fread(bytes, 1, sizeof bytes, source)) > 0)
        cr_assert_eq(fwrite(bytes, 1, length_bytes, target), length_bytes);
    fclose(source);
    fclose(target);
}

Test(ledger_of_a_file, a_text_has_the_ledger_of_all_chunks)
{
    record(in, 2, 2);
    converted("--event=cpu");
    cr_expect_not_null(strstr(text, "CPU time  4.08 s by the clock of the process\n"
                                    "Sampled   4.00 s (97.9 %)\n"
                                    "Unsampled 12.0 ms (0.29 %) short-lived threads, 4 of them\n"
                                    "Unsampled 64.0 ms (1.57 %) live threads\n"
                                    "Unsampled 8.00 ms (0.20 %) ended threads after the last look "
                                    "at their clocks\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "    0.080 s    1.880 s    1.800 s        0  main\n"), "%s",
                       text);
    cr_expect_not_null(strstr(text, "    0.012 s    0.012 s    0.000 s        4  short-*\n"), "%s",
                       text);
    /* Renamed half-way: it is still one thread. */
    cr_expect_not_null(strstr(text, "   -0.020 s    1.780 s    1.800 s        0  worker"), "%s",
                       text);
    cr_expect_null(strstr(text, "0  worker\n"));
}

Test(ledger_of_a_file, recordings_one_after_the_other_add_up)
{
    record(in, 1, 1);
    record(also, 1, 3);
    append(in, also);
    converted("--event=cpu");
    cr_expect_not_null(strstr(text, "CPU time  4.08 s"), "%s", text);
    cr_expect_not_null(strstr(text, "Sampled   4.00 s"), "%s", text);
    cr_expect_not_null(strstr(text, "short-lived threads, 4 of them\n"), "%s", text);
}

Test(ledger_of_a_file, other_events_have_none)
{
    record(in, 1, 1);
    converted("--event=jdk.NativeMethodSample");
    cr_expect_null(strstr(text, "CPU time  "), "%s", text);
}
