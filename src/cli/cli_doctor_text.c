/* The doctor's page: the verdict, then what it rests on. Context: tool. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cli_doctor_internal.h"
#include "cli/cli_text_internal.h"

#define FACT_COLUMN  16 /* where what is told of a fact begins */
#define LABEL_WIDTH  28
#define NUMBER_WIDTH 10
#define NOTE_COLUMN  52
#define ROWS_MOST    12 /* of a list; the others are summed up */

/* ---- pieces ---- */

/* "10 ms", "1.25 s": three digits or more. */
static struct cli_doctor_word time_word(uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{JW_NS_PER_SECOND, "s"}, {JW_NS_PER_MS, "ms"}, {1000, "us"}, {1, "ns"}};
    struct cli_doctor_word out;
    size_t unit = 0;
    char whole[32];

    while (unit + 1 < JW_COUNT_OF(units) && ns < units[unit].ns)
        unit++;
    const uint64_t rest = ns % units[unit].ns * 100 / units[unit].ns;
    cli_text_digits(ns / units[unit].ns, whole);
    if (rest == 0)
        snprintf(out.text, sizeof out.text, "%s %s", whole, units[unit].name);
    else
        snprintf(out.text, sizeof out.text, "%s.%02u %s", whole, (unsigned)rest, units[unit].name);
    return out;
}

static struct cli_doctor_word size_word(uint64_t bytes)
{
    const bool is_small = bytes < (uint64_t)1 << 20;
    const unsigned unit = is_small ? 10 : 20;
    const uint64_t tenths = (bytes * 10 + ((uint64_t)1 << (unit - 1))) >> unit;
    struct cli_doctor_word out;
    char whole[32];

    cli_text_digits(tenths / 10, whole);
    snprintf(out.text, sizeof out.text, "%s.%u %s", whole, (unsigned)(tenths % 10),
             is_small ? "KiB" : "MiB");
    return out;
}

struct cli_doctor_word cli_doctor_digits(uint64_t number)
{
    struct cli_doctor_word out;

    cli_text_digits(number, out.text);
    return out;
}

struct cli_doctor_word cli_doctor_share(uint64_t part, uint64_t all)
{
    char share[CLI_SHARE_BYTES];
    struct cli_doctor_word out;

    cli_text_share(part, all, share);
    snprintf(out.text, sizeof out.text, "%s", share + strspn(share, " "));
    return out;
}

/* ---- lines ---- */

void cli_doctor_fact(FILE *to, const char *label, const char *format, ...)
{
    char text[CLI_CELL_BYTES], clean[CLI_CELL_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_text_clean(text, clean);
    fprintf(to, "  %-*s", FACT_COLUMN - 2, label);
    cli_text_put_wrapped(clean, FACT_COLUMN, to);
}

void cli_doctor_head(FILE *to, const char *title, const char *number, const char *share)
{
    if (number == NULL)
        fprintf(to, "\n%s\n", title);
    else
        fprintf(to, "\n%-*s%*s  %8s\n", LABEL_WIDTH + 2, title, NUMBER_WIDTH, number, share);
}

/* A line of a table: label, number, share of `all` (0: none), and a note, "" for none. */
static void row(FILE *to, const char *label, const char *number, uint64_t part, uint64_t all,
                const char *note)
{
    char clean[CLI_CELL_BYTES], share[CLI_SHARE_BYTES] = "";

    cli_text_clean(label, clean);
    if (all > 0)
        cli_text_share(part, all, share);
    fputs("  ", to);
    cli_text_put_cell(clean, LABEL_WIDTH - CLI_GAP, false, to);
    fprintf(to, "%*s", NUMBER_WIDTH, number);
    if (all > 0 || note[0] != '\0')
        fprintf(to, "  %8s", share);
    if (note[0] == '\0') {
        fputc('\n', to);
        return;
    }
    cli_text_clean(note, clean);
    fprintf(to, "%*s", NOTE_COLUMN - 2 - LABEL_WIDTH - NUMBER_WIDTH - 10, "");
    cli_text_put_wrapped(clean, NOTE_COLUMN, to);
}

static void count_row(FILE *to, const char *label, uint64_t part, uint64_t all, const char *note)
{
    row(to, label, cli_doctor_digits(part).text, part, all, note);
}

/* ---- verdict ---- */

void cli_doctor_verdict_text(const struct cli_doctor *doctor, FILE *to)
{
    char clean[CLI_CELL_BYTES];

    cli_text_clean(doctor->input, clean);
    if (doctor->finding_count == 0) {
        fprintf(to, "%s: good\n", clean);
        return;
    }
    fprintf(to, "%s: %zu finding%s\n\n", clean, doctor->finding_count,
            doctor->finding_count == 1 ? "" : "s, most important first");
    for (size_t i = 0; i < doctor->finding_count; i++) {
        const struct cli_doctor_finding *finding = &doctor->findings[i];

        fprintf(to, "%3zu. ", i + 1);
        cli_text_clean(finding->what, clean);
        cli_text_put_wrapped(clean, 5, to);
        fputs("     To do: ", to);
        cli_text_clean(finding->todo, clean);
        cli_text_put_wrapped(clean, 12, to);
    }
}

/* ---- what it is ---- */

static void put_clocks(const struct cli_doctor *doctor, FILE *to)
{
    const bool is_wall = strcmp(doctor->event, "wall") == 0;
    const uint64_t wall_ns = doctor->wall_ns != 0 ? doctor->wall_ns
                             : is_wall            ? doctor->interval_ns
                                                  : 0;
    char cpu[128] = "", wall[96] = "";

    if (!is_wall && doctor->event[0] != '\0')
        snprintf(cpu, sizeof cpu, "%s every %s", doctor->event,
                 doctor->interval_ns == 0 ? "interval of its own"
                                          : time_word(doctor->interval_ns).text);
    if (wall_ns != 0)
        snprintf(wall, sizeof wall, "%swall every %s", cpu[0] == '\0' ? "" : ", ",
                 time_word(wall_ns).text);
    if (cpu[0] != '\0' || wall[0] != '\0')
        cli_doctor_fact(to, "samples of", "%s%s%s%s", cpu, wall,
                        doctor->filter[0] == '\0' ? "" : "; of threads alone that filter= names: ",
                        doctor->filter);
    if (doctor->interval_changes > 0)
        cli_doctor_fact(to, "intervals", "changed %" PRIu64 " times to keep to overhead=%s; now %s",
                        doctor->interval_changes, doctor->overhead,
                        time_word(is_wall ? doctor->wall_now_ns : doctor->interval_now_ns).text);
}

static void put_time(const struct cli_doctor *doctor, FILE *to)
{
    const time_t seconds = (time_t)(doctor->start_unix_ns / JW_NS_PER_SECOND);
    char text[64] = "";
    struct tm utc;

    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        snprintf(text, sizeof text, "a time that is none");
    cli_doctor_fact(to, "time", "%s, for %s", text, time_word(doctor->duration_ns).text);
}

static void put_file(const struct cli_doctor *doctor, FILE *to)
{
    cli_doctor_head(to, "Recording", NULL, NULL);
    if (doctor->is_jaywalk)
        cli_doctor_fact(to, "made by", "jaywalk %s",
                        doctor->agent_version[0] == '\0' ? "(version not recorded)"
                                                         : doctor->agent_version);
    else
        cli_doctor_fact(to, "made by", "another tool");
    if (doctor->jvm[0] != '\0')
        cli_doctor_fact(
            to, "JVM", "%s%s", doctor->jvm,
            doctor->jdks.count > 1 ? ", the last of several: By JDK, below, has them all" : "");
    if (doctor->program[0] != '\0')
        cli_doctor_fact(to, "program", "%s, process %" PRIu64, doctor->program, doctor->pid);
    if (doctor->flags[0] != '\0')
        cli_doctor_fact(to, "flags", "%s", doctor->flags);
    if (doctor->hardware_threads != 0)
        cli_doctor_fact(to, "processors", "%" PRIu64, doctor->hardware_threads);
    put_clocks(doctor, to);
    put_time(doctor, to);
    cli_doctor_fact(to, "file", "%s in %s chunk%s%s%s, %s", size_word(doctor->size_bytes).text,
                    cli_doctor_digits(doctor->chunks).text, doctor->chunks == 1 ? "" : "s",
                    doctor->recordings > 1 ? " of several recordings: " : "",
                    doctor->recordings > 1 ? cli_doctor_digits(doctor->recordings).text : "",
                    doctor->damage[0] != '\0' ? "damaged"
                    : doctor->is_cut          ? "cut"
                    : doctor->is_unclosed
                        ? "not closed: a copy of one under way, or its JVM was killed; up to a "
                          "second may be missing"
                        : "whole");
    if (doctor->notice[0] != '\0')
        cli_doctor_fact(to, "left out", "%s", doctor->notice);
}

static void put_agent(const struct cli_doctor *doctor, FILE *to)
{
    cli_doctor_head(to, "Agent", NULL, NULL);
    cli_doctor_fact(to, "version", "jaywalk %s", doctor->agent_version);
    cli_doctor_fact(to, "session", "%s, for %s", doctor->state,
                    time_word(doctor->duration_ns).text);
    if (doctor->sampling[0] != '\0')
        cli_doctor_fact(to, "samples of", "%s", doctor->sampling);
    cli_doctor_fact(to, "counts", "since the agent was loaded, of all sessions");
    cli_doctor_fact(
        to, "not told",
        "stacks, reasons of failed walks, the CPU ledger, flags of the JVM: a recording "
        "has them ('jaywalk dump -f so-far.jfr %s', then 'jaywalk doctor so-far.jfr')",
        doctor->input);
}

/* ---- the account ---- */

static void put_account(const struct cli_doctor *doctor, FILE *to)
{
    const struct cli_doctor_sums *all = &doctor->all;
    struct cli_doctor_account account;
    char note[160] = "adds up";
    uint64_t low_ppm, high_ppm;

    cli_doctor_account(all, &account);
    cli_doctor_head(to, "Signals", "count", "share");
    count_row(to, "became samples", account.samples, account.signals, "");
    count_row(to, "lost", account.lost, account.signals, "");
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        char label[64];

        snprintf(label, sizeof label, "  %s", jw_counter_infos[i].field);
        if (jw_counter_infos[i].is_loss && all->counters[i] > 0)
            count_row(to, label, all->counters[i], account.signals, jw_counter_infos[i].text);
    }
    if (account.spared > 0)
        count_row(to, "spared", account.spared, account.signals, "no time is lost with them");
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        char label[64];

        snprintf(label, sizeof label, "  %s", jw_counter_infos[i].field);
        if (jw_counter_infos[i].is_spared && all->counters[i] > 0)
            count_row(to, label, all->counters[i], account.signals, jw_counter_infos[i].text);
    }
    if (account.in_flight > 0)
        count_row(to, "under way", account.in_flight, account.signals,
                  "their outcome was not known yet");
    if (doctor->laws_broken > 0)
        snprintf(note, sizeof note, "does not add up in %" PRIu64 " of %" PRIu64 " readings",
                 doctor->laws_broken, doctor->laws);
    else if (doctor->laws > 0)
        snprintf(note, sizeof note, "adds up, in all readings (%s)",
                 cli_doctor_digits(doctor->laws).text);
    count_row(to, "total", account.signals, account.signals, note);

    const uint64_t samples = doctor->is_of_agent ? account.samples : doctor->stacks.count;
    cli_doctor_chance(samples, &low_ppm, &high_ppm);
    if (samples > 0)
        fprintf(to,
                "  By chance, what takes 10 %% of the time has %" PRIu64 ".%" PRIu64 " to %" PRIu64
                ".%" PRIu64 " %% of so many samples (95 times of 100).\n",
                low_ppm / 10000, low_ppm / 1000 % 10, high_ppm / 10000, high_ppm / 1000 % 10);
}

static void put_ledger(const struct cli_doctor *doctor, FILE *to)
{
    const struct jw_ledger *ledger = &doctor->all.ledger;
    const uint64_t whole_ns = ledger->process_ns > 0 ? (uint64_t)ledger->process_ns : 0;

    if (!doctor->all.has_ledger || whole_ns == 0)
        return;
    cli_doctor_head(to, "CPU time", "time", "share");
    for (int line = 0; line < JW_LEDGER_LIMIT; line++) {
        const int64_t ns = ledger->lines_ns[line];

        if (ns > 0)
            row(to, line == JW_LEDGER_SAMPLED ? "sampled" : "not sampled",
                time_word((uint64_t)ns).text, (uint64_t)ns, whole_ns,
                line == JW_LEDGER_SAMPLED ? "" : jw_ledger_infos[line].phrase);
    }
    row(to, "by the process's clock", time_word(whole_ns).text, whole_ns, whole_ns, "");
}

/* ---- stacks ---- */

static void put_libraries(const struct cli_doctor_stacks *stacks, FILE *to)
{
    for (size_t i = 0; i < stacks->library_count && i < ROWS_MOST; i++) {
        const struct cli_doctor_library *library = &stacks->libraries[i];
        const char *name = library->name[0] == '\0' ? "code of no library" : library->name;

        if (library->failed > 0)
            count_row(to, name, library->failed, stacks->count,
                      "its code was sampled, and the Java part of the stack is missing");
        if (library->gaps > 0)
            count_row(to, name, library->gaps, stacks->count,
                      "its code is the last before the missing Java part");
        if (library->nameless > 0)
            count_row(to, name, library->nameless, stacks->count,
                      "its code is on top, without a function's name");
    }
    if (stacks->library_count > ROWS_MOST)
        fprintf(to, "  [%zu more libraries]\n", stacks->library_count - ROWS_MOST);
}

static void put_stacks(const struct cli_doctor *doctor, FILE *to)
{
    const struct cli_doctor_stacks *stacks = &doctor->stacks;

    cli_doctor_head(to, "Stacks", "count", "share");
    count_row(to, "in the file", stacks->count, stacks->count,
              stacks->wall > 0 && stacks->cpu > 0 ? "of both clocks" : "");
    count_row(to, "without their Java part", stacks->gaps, stacks->count,
              stacks->gaps > 0 ? "a mark in brackets says why" : "");
    count_row(to, "truncated", stacks->truncated, stacks->count,
              stacks->truncated > 0 ? "the outermost frames are missing" : "");
    if (stacks->frozen > 0)
        count_row(to, "end in [frozen]", stacks->frozen, stacks->count,
                  "outer frames of virtual threads, which lie in the heap and were not read there");
    count_row(to, "nameless on top", stacks->nameless_top, stacks->count,
              stacks->nameless_top > 0 ? "native code without a function's name" : "");
    if (stacks->unreadable > 0)
        count_row(to, "with unreadable methods", stacks->unreadable, stacks->count, "");
    if (stacks->empty > 0)
        count_row(to, "without any frame", stacks->empty, stacks->count, "");
    put_libraries(stacks, to);
}

static void put_failure(const struct cli_doctor_failure *failure, uint64_t samples, FILE *to)
{
    const char *words = cli_doctor_walk_words(failure);
    char label[80], text[400];

    snprintf(label, sizeof label, "%s: %s", failure->walker, failure->where);
    snprintf(text, sizeof text, "%s%s%s", failure->reason,
             words == NULL || failure->reason[0] == '\0' ? "" : ": ", words == NULL ? "" : words);
    count_row(to, label, failure->count, samples, text);
}

/* What the places are that stand in the rows. */
static void put_places(const struct cli_doctor_sums *all, FILE *to)
{
    for (size_t i = 0; i < all->failure_count; i++) {
        const char *where = all->failures[i].where;
        const char *words = cli_doctor_place_words(where);
        bool is_first = words != NULL;

        for (size_t n = 0; n < i; n++)
            is_first = is_first && strcmp(all->failures[n].where, where) != 0;
        if (is_first)
            fprintf(to, "  (%s: %s)\n", where, words);
    }
}

/* Rows with the most first; each is found anew, there are few. */
static void put_failures(const struct cli_doctor *doctor, FILE *to)
{
    const struct cli_doctor_sums *all = &doctor->all;
    const uint64_t samples = all->counters[JW_COUNT_SAMPLES];
    bool is_told[CLI_DOCTOR_FAILURES] = {false};
    uint64_t rest = all->failures_left_out;

    cli_doctor_head(to, "Failed walks", "samples", "share");
    if (all->failure_count == 0)
        fprintf(to, "  none\n");
    /* Of an agent no stack is looked at: its counter tells the same. */
    if (doctor->is_of_agent && all->counters[JW_COUNT_FROZEN] > 0)
        count_row(to, "end in [frozen]", all->counters[JW_COUNT_FROZEN], samples,
                  "not failed: outer frames of virtual threads lie in the heap and were not read");
    for (size_t n = 0; n < all->failure_count; n++) {
        size_t most = CLI_DOCTOR_FAILURES;

        for (size_t i = 0; i < all->failure_count; i++) {
            if (!is_told[i] &&
                (most == CLI_DOCTOR_FAILURES || all->failures[i].count > all->failures[most].count))
                most = i;
        }
        is_told[most] = true;
        if (n < ROWS_MOST)
            put_failure(&all->failures[most], samples, to);
        else
            rest += all->failures[most].count;
    }
    if (rest > 0)
        count_row(to, "others", rest, samples, "");
    put_places(all, to);
}

/* Whether our walker and JVMTI said the same of stacks of the program. */
static void put_agreement(const struct cli_doctor *doctor, FILE *to)
{
    const uint64_t *counters = doctor->all.counters;
    const uint64_t compared = counters[JW_COUNT_STACKS_COMPARED];
    char unwalked[80] = "";

    if (compared == 0) {
        cli_doctor_fact(
            to, "while it ran",
            "no stack was compared with JVMTI: that is done where a class is loaded, by jaywalk's "
            "own walker alone");
        return;
    }
    if (counters[JW_COUNT_STACKS_UNWALKED] > 0)
        snprintf(unwalked, sizeof unwalked, ", %s could not be walked",
                 cli_doctor_digits(counters[JW_COUNT_STACKS_UNWALKED]).text);
    cli_doctor_fact(
        to, "while it ran",
        "%s stacks of the program were compared with what JVMTI says of them, at classes being "
        "loaded: %s equal (%s frames), %s different%s%s%s",
        cli_doctor_digits(compared).text, cli_doctor_digits(counters[JW_COUNT_STACKS_EQUAL]).text,
        cli_doctor_digits(counters[JW_COUNT_FRAMES_EQUAL]).text,
        cli_doctor_digits(counters[JW_COUNT_STACKS_DIFFERENT]).text, unwalked,
        doctor->agreement[0] == '\0' ? "" : "; the first: ", doctor->agreement);
}

static void put_walkers(const struct cli_doctor *doctor, FILE *to)
{
    const size_t shown =
        doctor->change_count < CLI_DOCTOR_CHANGES ? doctor->change_count : CLI_DOCTOR_CHANGES;

    cli_doctor_head(to, "Walkers", NULL, NULL);
    if (doctor->walker[0] != '\0')
        cli_doctor_fact(to, doctor->is_of_agent ? "in use" : "at the end", "%s%s", doctor->walker,
                        strcmp(doctor->walker, "vm") == 0     ? ", jaywalk's own"
                        : strcmp(doctor->walker, "agct") == 0 ? ", AsyncGetCallTrace of the JVM"
                                                              : "");
    for (size_t i = 0; i < doctor->walker_count; i++) {
        const struct cli_doctor_walker *walker = &doctor->walkers[i];

        if (walker->walks > 0)
            cli_doctor_fact(
                to, walker->name, "%s walks, of which %s (%s) failed or met unreadable memory; %s",
                cli_doctor_digits(walker->walks).text, cli_doctor_digits(walker->bad).text,
                cli_doctor_share(walker->bad, walker->walks).text, walker->standing);
    }
    for (size_t i = 0; i < shown; i++) {
        const struct cli_doctor_change *change = &doctor->changes[i];

        if (change->retry_ns > 0)
            cli_doctor_fact(to, "stepped down", "%s: %s to %s, to be tried again after %s: %s",
                            change->part, change->from, change->to,
                            time_word(change->retry_ns).text, change->reason);
        else
            cli_doctor_fact(to, "came back", "%s: %s to %s: %s", change->part, change->from,
                            change->to, change->reason);
    }
    if (doctor->change_count > shown)
        cli_doctor_fact(to, "further", "%zu changes more", doctor->change_count - shown);
    if (doctor->selfcheck[0] != '\0')
        cli_doctor_fact(to, "self-check",
                        "%s (a stack that is known, walked at the start, against what JVMTI says)",
                        doctor->selfcheck);
    else
        cli_doctor_fact(to, "self-check",
                        "not recorded, or not run: whether the walker agreed with JVMTI at the "
                        "start is not known from here");
    if (doctor->all.has_counters)
        put_agreement(doctor, to);
    cli_doctor_native_text(doctor, to);
}

/* ---- cost ---- */

static void put_cost(const struct cli_doctor *doctor, FILE *to)
{
    static const char *const clocks[] = {
        [JW_COST_CPU] = "CPU clock", [JW_COST_WALL] = "wall clock", [JW_COST_HOOK] = "hooks"};
    const struct jw_cost_sums *cost = &doctor->all.cost;
    char doubt[64] = "";

    if (!doctor->all.has_cost)
        return;
    cli_doctor_head(to, "Cost of jaywalk", "CPU time", "share");
    if (jw_cost_is_doubtful(cost))
        snprintf(doubt, sizeof doubt, "give or take %s", time_word(cost->doubt_ns).text);
    row(to, "in handlers", time_word(cost->handlers_ns).text, cost->handlers_ns, cost->process_ns,
        doubt);
    row(to, "for signals in the kernel", time_word(cost->kernel_ns).text, cost->kernel_ns,
        cost->process_ns, "an estimate");
    row(to, "own threads", time_word(cost->own_ns).text, cost->own_ns, cost->process_ns, "");
    row(to, "together", time_word(jw_cost_own_ns(cost)).text, jw_cost_own_ns(cost),
        cost->process_ns, "of the CPU time of the process");
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++) {
        const struct cli_doctor_handlers *handlers = &doctor->all.handlers[i];

        if (handlers->count > 0 && handlers->median_ns > 0)
            cli_doctor_fact(
                to, clocks[i],
                "%s %s: half took no longer than %s, 99 %% than %s, the longest %s, "
                "none more than %s of its own CPU time",
                cli_doctor_digits(handlers->count).text, i == JW_COST_HOOK ? "calls" : "handlers",
                time_word(handlers->median_ns).text, time_word(handlers->high_ns).text,
                time_word(handlers->longest_ns).text, time_word(handlers->longest_cpu_ns).text);
    }
}

static void put_memory(const struct cli_doctor *doctor, FILE *to)
{
    uint64_t used_bytes = 0, limit_bytes = 0;
    bool has_any = false;

    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        used_bytes += doctor->all.memory[part].used_bytes;
        limit_bytes += doctor->all.memory[part].limit_bytes;
    }
    if (limit_bytes == 0)
        return;
    cli_doctor_head(to, "Memory of jaywalk", "used", "of limit");
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        const struct cli_doctor_memory *memory = &doctor->all.memory[part];
        char note[200] = "near its limit";

        if (memory->refused_count == 0 &&
            (memory->limit_bytes == 0 || memory->used_bytes < memory->limit_bytes / 10 * 9))
            continue;
        has_any = true;
        if (memory->refused_count > 0)
            snprintf(note, sizeof note, "at its limit, %s times: %s",
                     cli_doctor_digits(memory->refused_count).text, jw_memory_infos[part].outcome);
        row(to, jw_memory_infos[part].name, size_word(memory->used_bytes).text, memory->used_bytes,
            memory->limit_bytes, note);
    }
    row(to, "all parts", size_word(used_bytes).text, used_bytes, limit_bytes,
        has_any ? "" : "none at its limit, or near it");
}

void cli_doctor_text(const struct cli_doctor *doctor, FILE *to)
{
    cli_doctor_verdict_text(doctor, to);
    if (doctor->is_of_agent)
        put_agent(doctor, to);
    else
        put_file(doctor, to);
    if (doctor->is_jaywalk)
        put_account(doctor, to);
    put_ledger(doctor, to);
    if (!doctor->is_of_agent)
        put_stacks(doctor, to);
    if (doctor->is_jaywalk) {
        put_failures(doctor, to);
        put_walkers(doctor, to);
    }
    cli_doctor_safepoints_text(doctor, to);
    put_cost(doctor, to);
    put_memory(doctor, to);
    if (doctor->jdks.count > 1)
        cli_doctor_jdks_text(&doctor->jdks, to);
}
