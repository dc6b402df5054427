/*
 * The verdict: what of a profile cannot be believed, what is missing from it, and what to do. Context: tool.
 *
 * A part is worth a finding from CLI_DOCTOR_SMALL_PART and CLI_DOCTOR_SMALL_COUNT on. Each finding has an id, which
 * programs may rely on: docs/howto/can-i-trust-this-profile.md has the list.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/root.h"
#include "cli/cli_doctor_internal.h"
#include "cli/cli_text_internal.h"

#define PPM 1000000u

static uint64_t ppm_of(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : (uint64_t)((double)part / (double)all * PPM);
}

static bool is_worth_it(uint64_t part, uint64_t all)
{
    return part >= CLI_DOCTOR_SMALL_COUNT && part >= all / CLI_DOCTOR_SMALL_PART;
}

/* A finding; `todo` may be NULL: nothing. What is said of it goes on in the text. */
static void find(struct cli_doctor *doctor, const char *id, enum cli_doctor_rank rank,
                 uint64_t weight_ppm, const char *todo, const char *format, ...) JW_PRINTF(6, 7);
static void find(struct cli_doctor *doctor, const char *id, enum cli_doctor_rank rank,
                 uint64_t weight_ppm, const char *todo, const char *format, ...)
{
    va_list arguments;

    if (doctor->finding_count == CLI_DOCTOR_FINDINGS)
        return;

    struct cli_doctor_finding *finding = &doctor->findings[doctor->finding_count++];
    finding->id = id;
    finding->rank = rank;
    finding->weight_ppm = weight_ppm;
    va_start(arguments, format);
    vsnprintf(finding->what, sizeof finding->what, format, arguments);
    va_end(arguments);
    snprintf(finding->todo, sizeof finding->todo, "%s", todo == NULL ? "nothing" : todo);
}

/* "1,234 (12.34 %)". */
struct amount {
    char text[64];
};

static struct amount amount(uint64_t part, uint64_t all)
{
    struct amount out;
    char digits[32], share[CLI_SHARE_BYTES];

    cli_text_digits(part, digits);
    cli_text_share(part, all, share);
    snprintf(out.text, sizeof out.text, "%s (%s)", digits, share + strspn(share, " "));
    return out;
}

/* ---- sums ---- */

void cli_doctor_account(const struct cli_doctor_sums *sums, struct cli_doctor_account *out)
{
    *out = (struct cli_doctor_account){
        .signals = sums->counters[JW_COUNT_SIGNALS],
        .samples = sums->counters[JW_COUNT_SAMPLES],
        .in_flight = sums->in_flight,
    };
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        out->lost += jw_counter_infos[i].is_loss ? sums->counters[i] : 0;
        out->spared += jw_counter_infos[i].is_spared ? sums->counters[i] : 0;
    }
}

bool cli_doctor_is_failure(const struct cli_doctor_failure *failure)
{
    return failure->code != 0 && failure->code != -8;
}

static bool is_native(const struct cli_doctor_failure *failure)
{
    return strcmp(failure->walker, "native") == 0;
}

/* Wilson's interval of a share of a tenth. */
void cli_doctor_chance(uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm)
{
    const double count = samples == 0 ? 1 : (double)samples;
    const double z_square = 3.8415; /* 1.96 standard errors, squared */
    const double spread = jw_root(z_square * (0.09 / count + z_square / (4 * count * count)));
    const double whole = 1 + z_square / count;
    const double middle = 0.1 + z_square / (2 * count);
    const double low = middle > spread ? (middle - spread) / whole : 0;

    *low_ppm = (uint64_t)(low * PPM);
    *high_ppm = (uint64_t)((middle + spread) / whole * PPM);
}

/* ---- what cannot be relied on ---- */

static void judge_file(struct cli_doctor *doctor)
{
    if (doctor->damage[0] != '\0')
        find(doctor, "damaged", CLI_DOCTOR_WRONG, PPM,
             "copy the file anew; what is told here is what stands before the damage",
             "the file is damaged: %s", doctor->damage);
    else if (doctor->is_cut)
        find(doctor, "cut", CLI_DOCTOR_HINT, 0,
             "copy it anew, when its session has ended; what is told here is sound",
             "the recording is cut: its last chunk is not complete");
    if (!doctor->is_jaywalk && !doctor->is_of_agent)
        find(doctor, "foreign", CLI_DOCTOR_WRONG, PPM,
             "record with jaywalk; what its stacks show by themselves is told below",
             "another tool made this recording: nothing in it says which samples were lost, which "
             "stacks failed, or what it cost");
}

static void judge_agent(struct cli_doctor *doctor)
{
    if (doctor->is_of_agent && strcmp(doctor->state, "running") != 0)
        find(doctor, "not-running", CLI_DOCTOR_HINT, 0, "'jaywalk start PID' begins a session",
             "nothing is being sampled at this moment (the session is %s)",
             doctor->state[0] == '\0' ? "not told" : doctor->state);
    if (doctor->remarks[0] != '\0')
        find(doctor, "agent-warns", CLI_DOCTOR_GAP, 0, "as it says", "the agent warns: %.300s",
             doctor->remarks);
}

static void judge_account(struct cli_doctor *doctor)
{
    const struct cli_doctor_sums *all = &doctor->all;
    struct cli_doctor_account account;

    cli_doctor_account(all, &account);
    if (doctor->laws_broken > 0 ||
        (!doctor->is_of_agent &&
         account.signals != account.samples + account.lost + account.spared + account.in_flight))
        find(doctor, "account", CLI_DOCTOR_WRONG, PPM,
             "report it with the recording; if a newer jaywalk made it, look with that one",
             "the account of signals does not add up, in %" PRIu64 " of %" PRIu64 " readings",
             doctor->laws_broken, doctor->laws);
    if (all->counters[JW_COUNT_INVARIANT_BROKEN] > 0)
        find(doctor, "defects", CLI_DOCTOR_WRONG, 0, "report it with the recording and the log",
             "jaywalk noticed defects of its own, %" PRIu64 " times",
             all->counters[JW_COUNT_INVARIANT_BROKEN]);
    if (all->counters[JW_COUNT_WRITE_FAILED] > 0)
        find(doctor, "write-failed", CLI_DOCTOR_WRONG, 0,
             "make room where FILE lies, and see ulimit -f; the log says what the system answered",
             "writing the recording failed, %" PRIu64 " times: it ends too early",
             all->counters[JW_COUNT_WRITE_FAILED]);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        if (jw_counter_infos[i].is_loss && is_worth_it(all->counters[i], account.signals))
            find(doctor, jw_counter_infos[i].field, CLI_DOCTOR_GAP,
                 ppm_of(all->counters[i], account.signals),
                 cli_doctor_loss_todo((enum jw_counter_id)i), "%s of the signals are lost: %s",
                 amount(all->counters[i], account.signals).text, jw_counter_infos[i].text);
    }
    if (all->counters[JW_COUNT_OPTIONS_UNKNOWN] > 0)
        find(doctor, "options-unknown", CLI_DOCTOR_HINT, 0,
             "'jaywalk help agent' lists the options; the log names those that were left out",
             "%" PRIu64 " options were not understood, and left out",
             all->counters[JW_COUNT_OPTIONS_UNKNOWN]);
}

static void judge_number(struct cli_doctor *doctor)
{
    const uint64_t samples =
        doctor->is_of_agent ? doctor->all.counters[JW_COUNT_SAMPLES] : doctor->stacks.count;
    char digits[32];
    uint64_t low_ppm, high_ppm;

    cli_text_digits(samples, digits);
    cli_doctor_chance(samples, &low_ppm, &high_ppm);
    if (doctor->is_of_agent && strcmp(doctor->state, "running") != 0)
        return;
    if (samples == 0)
        find(doctor, "no-samples", CLI_DOCTOR_WRONG, PPM,
             "record longer, and look at filter=; a process that waits has samples of the wall "
             "clock alone (event=wall)",
             "there is not a single sample");
    else if (samples < CLI_DOCTOR_FEW_SAMPLES)
        find(doctor, "few-samples", CLI_DOCTOR_GAP, PPM / 2,
             "record longer, or choose a shorter interval=; a process that mostly waits shows more "
             "by the wall clock (event=wall)",
             "%s samples are few: what takes 10 %% of the time has, by chance, %" PRIu64
             " to %" PRIu64 " %% of them",
             digits, low_ppm / 10000, (high_ppm + 9999) / 10000);
}

/* ---- what is missing ---- */

static uint64_t above_zero(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static void judge_ledger(struct cli_doctor *doctor)
{
    const struct jw_ledger *ledger = &doctor->all.ledger;
    const uint64_t whole_ns = above_zero(ledger->process_ns);

    if (!doctor->all.has_ledger || strcmp(doctor->event, "wall") == 0)
        return;
    for (int line = 0; line < JW_LEDGER_LIMIT; line++) {
        const char *todo = cli_doctor_ledger_todo((enum jw_ledger_line)line);
        uint64_t ns = above_zero(ledger->lines_ns[line]);
        char share[CLI_SHARE_BYTES];

        /* Of each thread that lives an interval at the most is not due yet. */
        if (line == JW_LEDGER_LIVE) {
            const uint64_t due_ns = ledger->live_threads * doctor->interval_ns;
            ns = ns > due_ns ? ns - due_ns : 0;
        }
        if (todo == NULL || ns == 0 || ns < whole_ns / CLI_DOCTOR_UNSAMPLED_PART)
            continue;
        cli_text_share(ns, whole_ns, share);
        find(doctor, jw_ledger_infos[line].field, CLI_DOCTOR_GAP, ppm_of(ns, whole_ns), todo,
             "no samples stand for %s of the CPU time: %s", share + strspn(share, " "),
             jw_ledger_infos[line].phrase);
    }
}

/* Of the Java part; NULL: none is told. */
static const struct cli_doctor_failure *most_of_failures(const struct cli_doctor_sums *sums)
{
    const struct cli_doctor_failure *most = NULL;

    for (size_t i = 0; i < sums->failure_count; i++) {
        const struct cli_doctor_failure *row = &sums->failures[i];

        if (!is_native(row) && cli_doctor_is_failure(row) &&
            (most == NULL || row->count > most->count))
            most = row;
    }
    return most;
}

/* An agent tells failures without their reason, and those that are none with them: but walks that were bad. */
static void judge_walks_of_agent(struct cli_doctor *doctor)
{
    for (size_t i = 0; i < doctor->walker_count; i++) {
        const struct cli_doctor_walker *walker = &doctor->walkers[i];
        const bool is_native = strcmp(walker->name, "native") == 0;

        if (is_worth_it(walker->bad, walker->walks))
            find(doctor, is_native ? "native-walks-failed" : "walks-failed", CLI_DOCTOR_GAP,
                 ppm_of(walker->bad, walker->walks) / (is_native ? 2 : 1),
                 "a recording says why: jaywalk doctor FILE",
                 "%s of the walks by %s failed, or met memory that cannot be read",
                 amount(walker->bad, walker->walks).text, walker->name);
    }
}

static void judge_walks(struct cli_doctor *doctor)
{
    const struct cli_doctor_sums *all = &doctor->all;
    const uint64_t samples = all->counters[JW_COUNT_SAMPLES];
    const uint64_t gaps = doctor->stacks.gaps, count = doctor->stacks.count;
    uint64_t native = 0;
    const struct cli_doctor_failure *most = most_of_failures(all);

    if (is_worth_it(gaps, count) && most == NULL)
        find(doctor, "walks-failed", CLI_DOCTOR_GAP, ppm_of(gaps, count),
             "report it with the recording",
             "%s of the stacks lack their Java part, for a reason that is not told",
             amount(gaps, count).text);
    else if (is_worth_it(gaps, count))
        find(doctor, "walks-failed", CLI_DOCTOR_GAP, ppm_of(gaps, count),
             cli_doctor_walk_todo(most),
             "%s of the stacks lack their Java part; most by %s, in: %s, with: %s",
             amount(gaps, count).text, most->walker, most->where, most->reason);
    for (size_t i = 0; i < all->failure_count; i++)
        native += is_native(&all->failures[i]) ? all->failures[i].count : 0;
    if (is_worth_it(native, samples))
        find(doctor, "native-walks-failed", CLI_DOCTOR_GAP, ppm_of(native, samples) / 2,
             "look for libraries without .eh_frame; Java frames are not touched by it",
             "native frames of %s of the samples end early, at memory that cannot be read",
             amount(native, samples).text);
}

/* Of an agent its counter; a collector that keeps the heap to itself is told by the flags alone. */
static void judge_frozen(struct cli_doctor *doctor)
{
    const uint64_t frozen =
        doctor->is_of_agent ? doctor->all.counters[JW_COUNT_FROZEN] : doctor->stacks.frozen;
    const uint64_t count =
        doctor->is_of_agent ? doctor->all.counters[JW_COUNT_SAMPLES] : doctor->stacks.count;
    const bool is_unreadable_heap = strstr(doctor->flags, "+UseZGC") != NULL ||
                                    strstr(doctor->flags, "+UseShenandoahGC") != NULL;

    if (is_worth_it(frozen, count))
        find(
            doctor, "frozen", CLI_DOCTOR_GAP, ppm_of(frozen, count),
            is_unreadable_heap
                ? "with this collector the heap is not read: try -XX:+UseG1GC or "
                  "-XX:+UseParallelGC, or read sums from the leaves (docs/howto/virtual-threads.md)"
                : "with ZGC and Shenandoah, choose G1, Parallel or Serial: only their heap is "
                  "read; with these, report it (docs/howto/virtual-threads.md)",
            "%s of the stacks end in [frozen]: outer frames of virtual threads lay in the heap "
            "and were not read, so sums of methods near their root are too small",
            amount(frozen, count).text);
}

static void judge_stacks(struct cli_doctor *doctor)
{
    const struct cli_doctor_stacks *stacks = &doctor->stacks;
    const uint64_t count = stacks->count;
    char todo[160];

    if (is_worth_it(stacks->truncated, count)) {
        const bool is_deep = stacks->too_deep * 2 > stacks->truncated;

        snprintf(todo, sizeof todo, "raise jstackdepth= (it is %" PRIu64 ")", doctor->depth_count);
        find(doctor, "truncated", CLI_DOCTOR_GAP, ppm_of(stacks->truncated, count),
             is_deep ? todo : "record with a larger depth of stacks (of jaywalk: jstackdepth=)",
             "%s of the stacks lack their outermost frames, so sums of methods near the root are "
             "too small",
             amount(stacks->truncated, count).text);
    }
    if (is_worth_it(stacks->unreadable, count))
        find(doctor, "unreadable-methods", CLI_DOCTOR_GAP, ppm_of(stacks->unreadable, count),
             "raise memlimit= where samples is at its limit below; else report it",
             "%s of the stacks have a method whose name could not be read",
             amount(stacks->unreadable, count).text);
    if (!doctor->is_jaywalk && is_worth_it(stacks->gaps + stacks->empty, count))
        find(doctor, "gaps", CLI_DOCTOR_GAP, ppm_of(stacks->gaps + stacks->empty, count),
             "record with jaywalk, whose own walker loses fewer (docs/walks.md)",
             "%s of the samples have no Java stack, or none at all",
             amount(stacks->gaps + stacks->empty, count).text);
    if (stacks->nameless_cpu >= CLI_DOCTOR_SMALL_COUNT &&
        stacks->nameless_cpu >= stacks->cpu / CLI_DOCTOR_NAMELESS_PART)
        find(doctor, "nameless", CLI_DOCTOR_HINT, ppm_of(stacks->nameless_cpu, stacks->cpu),
             "install the debug symbols of the libraries that the page names, or builds of them "
             "that are not stripped",
             "%s of the samples of CPU time are in native code without a function's name",
             amount(stacks->nameless_cpu, stacks->cpu).text);
}

/* A stack that is not walked says so; one that differs is wrong, and none should. */
static void judge_agreement(struct cli_doctor *doctor)
{
    const uint64_t *counters = doctor->all.counters;
    const uint64_t compared = counters[JW_COUNT_STACKS_COMPARED];
    const uint64_t different = counters[JW_COUNT_STACKS_DIFFERENT];

    if (different > 0)
        find(
            doctor, "agreement", CLI_DOCTOR_WRONG, ppm_of(different, compared),
            "report it with the JVM's version; record with cstack=agct, whose stacks come from the "
            "JVM itself",
            "%s of the stacks that were compared with JVMTI are not as it tells them%s%.200s",
            amount(different, compared).text, doctor->agreement[0] == '\0' ? "" : ": ",
            doctor->agreement);
}

/* One of the two is wrong. Below one in a thousand it may be libunwind, which guesses where it knows nothing. */
static void judge_native_agreement(struct cli_doctor *doctor)
{
    const uint64_t *counters = doctor->all.counters;
    const uint64_t compared = counters[JW_COUNT_NATIVE_CHECKED];
    const uint64_t different = counters[JW_COUNT_NATIVE_DIFFERENT];

    if (different > 0)
        find(doctor, "native-agreement",
             different > compared / 1000 ? CLI_DOCTOR_WRONG : CLI_DOCTOR_HINT,
             ppm_of(different, compared),
             "report it with what it shows and the versions of JVM and libunwind",
             "%s of the native stacks that were compared with libunwind are not as it finds "
             "them%s%.200s",
             amount(different, compared).text, doctor->native_difference[0] == '\0' ? "" : ": ",
             doctor->native_difference);
}

static void judge_walkers(struct cli_doctor *doctor)
{
    const struct cli_doctor_change *last = NULL;

    if (strncmp(doctor->selfcheck, "differs", 7) == 0)
        find(doctor, "selfcheck", CLI_DOCTOR_GAP, PPM / 4,
             "report it with the JVM's version; stacks come from AsyncGetCallTrace, which fails "
             "more often",
             "jaywalk's own walker is not used, it failed its test at the start: %.200s",
             doctor->selfcheck + 7 + strspn(doctor->selfcheck + 7, ": "));
    judge_agreement(doctor);
    judge_native_agreement(doctor);
    for (size_t i = 0; i < doctor->change_count && i < CLI_DOCTOR_CHANGES; i++) {
        if (doctor->changes[i].retry_ns > 0)
            last = &doctor->changes[i];
    }
    if (last != NULL)
        find(doctor, "walker-down", CLI_DOCTOR_GAP,
             strcmp(last->to, "none") == 0 ? PPM / 2 : PPM / 4,
             "it is tried again by itself; if it comes again, report it "
             "(docs/howto/when-a-walker-steps-down.md)",
             "a walker was given up for a while: of %s, from %s to %s: %s", last->part, last->from,
             last->to, last->reason);
    for (size_t i = 0; i < doctor->walker_count; i++) {
        const struct cli_doctor_walker *walker = &doctor->walkers[i];

        if (strcmp(walker->standing, "out") == 0 || strcmp(walker->standing, "trial") == 0)
            find(doctor, "walker-down", CLI_DOCTOR_GAP, PPM / 4,
                 "it is tried again by itself; if it comes again, report it "
                 "(docs/howto/when-a-walker-steps-down.md)",
                 "the walker %s is given up for a while (%s)", walker->name, walker->standing);
    }
}

/* ---- memory and cost ---- */

static void judge_memory(struct cli_doctor *doctor)
{
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        const struct cli_doctor_memory *memory = &doctor->all.memory[part];
        char digits[32];

        cli_text_digits(memory->refused_count, digits);
        if (memory->refused_count > 0)
            find(doctor, "memory", CLI_DOCTOR_GAP, 0,
                 "raise memlimit= (docs/howto/how-much-memory.md)",
                 "the memory for %s was at its limit, %s times: %s", jw_memory_infos[part].name,
                 digits, jw_memory_infos[part].outcome);
    }
}

static void judge_cost(struct cli_doctor *doctor)
{
    const struct jw_cost_sums *cost = &doctor->all.cost;
    const uint64_t own_ns = jw_cost_own_ns(cost);
    char share[CLI_SHARE_BYTES];

    /* Much of little is no matter. */
    if (!doctor->all.has_cost || own_ns < cost->process_ns / CLI_DOCTOR_COST_PART ||
        own_ns < doctor->duration_ns / CLI_DOCTOR_SMALL_PART || own_ns < CLI_DOCTOR_COST_LEAST_NS)
        return;
    cli_text_share(own_ns, cost->process_ns, share);
    find(doctor, "cost", CLI_DOCTOR_HINT, ppm_of(own_ns, cost->process_ns),
         "choose a longer interval=, or give it a bound: overhead=1%",
         "jaywalk took %s of the CPU time of the process", share + strspn(share, " "));
}

/* Findings keep their order where they weigh the same. */
static bool is_before(const struct cli_doctor_finding *left, const struct cli_doctor_finding *right)
{
    return left->rank != right->rank ? left->rank < right->rank
                                     : left->weight_ppm > right->weight_ppm;
}

void cli_doctor_judge(struct cli_doctor *doctor)
{
    judge_file(doctor);
    judge_agent(doctor);
    if (doctor->is_jaywalk) {
        judge_account(doctor);
        if (doctor->is_of_agent)
            judge_walks_of_agent(doctor);
        else
            judge_walks(doctor);
        judge_walkers(doctor);
        judge_ledger(doctor);
        judge_memory(doctor);
        judge_cost(doctor);
    }
    judge_number(doctor);
    judge_stacks(doctor);
    judge_frozen(doctor);
    for (size_t i = 1; i < doctor->finding_count; i++) {
        const struct cli_doctor_finding moved = doctor->findings[i];
        size_t at = i;

        for (; at > 0 && is_before(&moved, &doctor->findings[at - 1]); at--)
            doctor->findings[at] = doctor->findings[at - 1];
        doctor->findings[at] = moved;
    }
}
