/* What a profiler would have said that samples at safepoints, beside what was sampled. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_doctor_internal.h"
#include "cli/cli_text_internal.h"

#define ROWS_MOST    8
#define SHARE_COLUMN 11

struct cli_doctor_line *cli_doctor_line_at(struct cli_doctor_sums *sums, const char *method,
                                           int64_t line)
{
    char name[sizeof sums->lines[0].method];

    cli_doctor_copy(name, sizeof name, method);
    for (size_t i = 0; i < sums->line_count; i++) {
        if (sums->lines[i].line == line && strcmp(sums->lines[i].method, name) == 0)
            return &sums->lines[i];
    }
    if (sums->line_count == CLI_DOCTOR_LINES)
        return NULL;

    struct cli_doctor_line *made = &sums->lines[sums->line_count++];
    *made = (struct cli_doctor_line){.line = line};
    memcpy(made->method, name, sizeof name);
    return made;
}

void cli_doctor_add_lines(struct cli_doctor_sums *to, const struct cli_doctor_sums *from)
{
    for (size_t i = 0; i < from->line_count; i++) {
        const struct cli_doctor_line *row = &from->lines[i];
        struct cli_doctor_line *sum = cli_doctor_line_at(to, row->method, row->line);

        if (sum == NULL)
            continue;
        sum->sampled += row->sampled;
        sum->stopped += row->stopped;
    }
}

static uint64_t weight_of(const struct cli_doctor_line *row)
{
    return row->sampled > row->stopped ? row->sampled : row->stopped;
}

static void put_row(const struct cli_doctor_line *row, uint64_t told, FILE *to)
{
    const uint64_t shares[] = {row->sampled, row->stopped};
    char clean[CLI_CELL_BYTES], line[32] = "";

    for (size_t i = 0; i < JW_COUNT_OF(shares); i++) {
        char share[CLI_SHARE_BYTES];

        cli_text_share(shares[i], told, share);
        fprintf(to, "%*s", SHARE_COLUMN, share + strspn(share, " "));
    }
    if (row->line > 0)
        snprintf(line, sizeof line, ":%" PRId64, row->line);
    cli_text_clean(row->method, clean);
    fprintf(to, "  %s%s\n", clean, line);
}

/* Rows with the most first, each found anew: there are few. */
static void put_rows(const char *title, const struct cli_doctor_line *rows, size_t count,
                     uint64_t told, FILE *to)
{
    bool is_put[CLI_DOCTOR_LINES] = {false};

    fprintf(to, "  %*s%*s  %s\n", SHARE_COLUMN - 2, "sampled", SHARE_COLUMN, "stopped", title);
    for (size_t n = 0; n < count && n < ROWS_MOST; n++) {
        size_t most = CLI_DOCTOR_LINES;

        for (size_t i = 0; i < count; i++)
            if (!is_put[i] &&
                (most == CLI_DOCTOR_LINES || weight_of(&rows[i]) > weight_of(&rows[most])))
                most = i;
        is_put[most] = true;
        put_row(&rows[most], told, to);
    }
}

static void put_tables(const struct cli_doctor *doctor, FILE *to)
{
    const struct cli_doctor_sums *all = &doctor->all;
    static struct cli_doctor_sums methods; /* too large for the stack */

    methods.line_count = 0;
    for (size_t i = 0; i < all->line_count; i++) {
        struct cli_doctor_line *row = cli_doctor_line_at(&methods, all->lines[i].method, 0);

        row->sampled += all->lines[i].sampled;
        row->stopped += all->lines[i].stopped;
    }
    if (all->line_count == 0)
        return;

    const uint64_t told = all->counters[JW_COUNT_STOPS_TOLD];
    put_rows("method on top", methods.lines, methods.line_count, told, to);
    put_rows("line on top", all->lines, all->line_count, told, to);
}

/* Where samples were, and where a safepoint would have shown them. */
static void put_bias(const struct cli_doctor *doctor, FILE *to)
{
    const uint64_t *counters = doctor->all.counters;
    const uint64_t told = counters[JW_COUNT_STOPS_TOLD];
    char untold[96] = "";

    if (told == 0) {
        cli_doctor_fact(
            to, "bias",
            "not told: it is reckoned for samples of CPU time of Java code, by jaywalk's own "
            "walker alone");
        return;
    }
    if (counters[JW_COUNT_STOPS_UNTOLD] > 0)
        snprintf(untold, sizeof untold, "; of %s more that is not known",
                 cli_doctor_digits(counters[JW_COUNT_STOPS_UNTOLD]).text);
    cli_doctor_fact(
        to, "at polls", "%s of the samples (%s of %s looked at) are at the instructions that ask",
        cli_doctor_share(counters[JW_COUNT_STOPS_AT_POLL], told).text,
        cli_doctor_digits(counters[JW_COUNT_STOPS_AT_POLL]).text, cli_doctor_digits(told).text);
    cli_doctor_fact(
        to, "bias",
        "a profiler that samples at safepoints alone (VisualVM and others that ask JVMTI or "
        "Thread.getStackTrace) would have shown another method for %s of them, and another line of "
        "the same method for %s%s. An estimate: a thread runs on to the next place where it asks, "
        "which is reckoned from the code behind each sample",
        cli_doctor_share(counters[JW_COUNT_STOPS_OTHER_METHOD], told).text,
        cli_doctor_share(counters[JW_COUNT_STOPS_OTHER_LINE], told).text, untold);
    put_tables(doctor, to);
}

static void put_lines(const struct cli_doctor *doctor, FILE *to)
{
    if (!doctor->has_arguments)
        cli_doctor_fact(to, "lines", "not told: the JVM's arguments are not recorded");
    else if (doctor->has_debug_info || doctor->is_started_along)
        cli_doctor_fact(to, "lines", "of compiled code are as exact as the JVM can tell them (%s)",
                        doctor->has_debug_info ? "-XX:+DebugNonSafepoints"
                                               : "jaywalk came with the JVM");
    else
        cli_doctor_fact(to, "lines",
                        "of code that was compiled before jaywalk came may be those of the nearest "
                        "call or loop end, and so may inlined methods on top; "
                        "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints makes them exact");
}

/* How many of the samples are of threads that kept a safepoint waiting. */
static void put_waited(const struct cli_doctor *doctor, FILE *to)
{
    const uint64_t *counters = doctor->all.counters;

    if (strncmp(doctor->safepoint_samples, "off:", 4) == 0)
        cli_doctor_fact(to, "samples", "of threads that a safepoint waited for are not told:%s",
                        doctor->safepoint_samples + 4);
    else if (counters[JW_COUNT_SAMPLES_WAITED_FOR] > 0)
        cli_doctor_fact(
            to, "samples",
            "%s of them (%s) are of threads that a safepoint was waiting for; 'jaywalk convert -e "
            "jaywalk.SafepointSample' shows where they were",
            cli_doctor_digits(counters[JW_COUNT_SAMPLES_WAITED_FOR]).text,
            cli_doctor_share(counters[JW_COUNT_SAMPLES_WAITED_FOR], counters[JW_COUNT_SAMPLES])
                .text);
}

static struct cli_doctor_word ms_of(uint64_t ns)
{
    struct cli_doctor_word word;

    snprintf(word.text, sizeof word.text, "%.24s.%" PRIu64 " ms",
             cli_doctor_digits(ns / JW_NS_PER_MS).text,
             (uint64_t)(ns % JW_NS_PER_MS / (JW_NS_PER_MS / 10)));
    return word;
}

/* An agent counts them, a recording has each. */
static void put_delays(const struct cli_doctor *doctor, FILE *to)
{
    const uint64_t *counters = doctor->all.counters;
    const struct cli_doctor_delays *delays = &doctor->all.delays;
    const bool is_watched = doctor->ttsp[0] >= '0' && doctor->ttsp[0] <= '9';

    if (doctor->is_of_agent) {
        if (counters[JW_COUNT_SAFEPOINTS_SLOW] > 0)
            cli_doctor_fact(to, "waited for", "%s for longer than ttsp= says",
                            cli_doctor_digits(counters[JW_COUNT_SAFEPOINTS_SLOW]).text);
    } else if (delays->count > 0) {
        cli_doctor_fact(to, "waited for",
                        "%s for longer than ttsp= says, %s in all, the longest for %s; %s of them "
                        "without the thread that was last. 'jaywalk safepoints FILE' names who "
                        "kept them waiting",
                        cli_doctor_digits(delays->count).text, ms_of(delays->reach_ns).text,
                        ms_of(delays->longest_ns).text, cli_doctor_digits(delays->unnamed).text);
    } else if (is_watched) {
        cli_doctor_fact(to, "waited for", "none for %s or longer (ttsp=)",
                        ms_of(strtoull(doctor->ttsp, NULL, 10)).text);
    } else if (strncmp(doctor->ttsp, "off:", 4) == 0) {
        cli_doctor_fact(to, "waited for", "not watched:%s", doctor->ttsp + 4);
    } else {
        cli_doctor_fact(to, "waited for", "not watched; --ttsp names who keeps them waiting");
    }
}

/* An agent tells sums alone. */
void cli_doctor_safepoints_text(const struct cli_doctor *doctor, FILE *to)
{
    const struct cli_doctor_stacks *stacks = &doctor->stacks;

    if (doctor->is_of_agent && doctor->all.counters[JW_COUNT_STOPS_TOLD] == 0 &&
        doctor->all.counters[JW_COUNT_SAFEPOINTS_SLOW] +
                doctor->all.counters[JW_COUNT_SAMPLES_WAITED_FOR] ==
            0)
        return;
    cli_doctor_head(to, "Safepoints", NULL, NULL);
    if (!doctor->is_jaywalk)
        cli_doctor_fact(to, "sampling", "where another tool samples is not told by its recording");
    else
        cli_doctor_fact(to, "sampling",
                        "jaywalk samples anywhere, and does not wait for safepoints (the places at "
                        "which the JVM can stop a thread)");
    if (stacks->jvm_named > 0)
        cli_doctor_fact(to, "time in them",
                        "%s of the stacks are in the JVM's code that stops threads or waits for "
                        "it, %s of them below Java code",
                        cli_doctor_share(stacks->safepoint, stacks->count).text,
                        cli_doctor_digits(stacks->safepoint_java).text);
    else if (!doctor->is_of_agent)
        cli_doctor_fact(to, "time in them", "not told: no function of the JVM has a name here");
    if (!doctor->is_of_agent)
        put_lines(doctor, to);
    if (doctor->is_jaywalk) {
        put_delays(doctor, to);
        put_waited(doctor, to);
    }
    if (doctor->is_jaywalk)
        put_bias(doctor, to);
}
