/* The page of safepoints, and the object for programs. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_safepoints_internal.h"
#include "cli/cli_text_internal.h"

#define SCHEMA       "jaywalk.safepoints/1"
#define NAME_COLUMNS 34
#define FACT_COLUMN  12

struct shown {
    char text[24];
};

/* "1234.5 ms" */
static struct shown time_of(int64_t ns)
{
    const uint64_t tenths = (uint64_t)(ns + 50000) / 100000;
    struct shown shown;

    if (ns < 0)
        snprintf(shown.text, sizeof shown.text, "-");
    else
        snprintf(shown.text, sizeof shown.text, "%" PRIu64 ".%" PRIu64 " ms", tenths / 10,
                 tenths % 10);
    return shown;
}

static void put_times(const char *name, const struct cli_safepoint_times *times, FILE *to)
{
    const int64_t columns[] = {times->sum_ns, times->median_ns, times->high_ns, times->highest_ns,
                               times->longest_ns};

    fprintf(to, "  %-15s %8" PRIu64, name, times->count);
    for (size_t i = 0; i < JW_COUNT_OF(columns); i++)
        fprintf(to, " %13s", times->count == 0 ? "-" : time_of(columns[i]).text);
    fputc('\n', to);
}

static void put_name(const char *name, FILE *to)
{
    char clean[CLI_CELL_BYTES];

    cli_text_clean(name, clean);
    fputs("  ", to);
    cli_text_put_cell(clean, NAME_COLUMNS, false, to);
}

static void put_operations(const struct cli_safepoint_sums *sums, size_t top, FILE *to)
{
    fprintf(to, "\n  %-*s %7s %13s %13s %13s %13s\n", NAME_COLUMNS, "operation of the JVM", "count",
            "to reach", "longest", "inside", "longest");
    for (size_t i = 0; i < sums->operation_count && (top == 0 || i < top); i++) {
        const struct cli_safepoint_operation *row = &sums->operations[i];

        put_name(row->name[0] == '\0' ? "[none, or not known]" : row->name, to);
        fprintf(to, "%6" PRIu64 " %13s %13s %13s %13s\n", row->count, time_of(row->reach_ns).text,
                time_of(row->reach_longest_ns).text, time_of(row->inside_ns).text,
                time_of(row->inside_longest_ns).text);
    }
    if (top != 0 && sums->operation_count > top)
        fprintf(to, "  [%zu more]\n", sums->operation_count - top);
}

static void put_fact(const char *label, const char *text, FILE *to)
{
    char clean[CLI_CELL_BYTES];

    cli_text_clean(text, clean);
    fprintf(to, "    %-*s", FACT_COLUMN - 4, label);
    cli_text_put_wrapped(clean, FACT_COLUMN, to);
}

static void put_used(const struct cli_culprit *row, FILE *to)
{
    char text[400];

    if (row->used_count == 0)
        return;
    snprintf(text, sizeof text,
             "%s of CPU time, %s without a processor, %" PRId64 " page faults, %" PRId64
             " more that read",
             time_of(row->cpu_ns).text, time_of(row->waited_ns).text, row->minor_faults,
             row->major_faults);
    put_fact("used", text, to);
}

static void put_culprit(const struct cli_culprit *row, FILE *to)
{
    const struct cli_hint_words *words = &cli_hint_words[row->hint];
    char clean[CLI_CELL_BYTES], text[640];

    cli_text_clean(row->place, clean);
    fprintf(to, "\n  %s\n", clean);
    snprintf(text, sizeof text, "%" PRIu64 " safepoint%s, %s to reach, the longest %s", row->count,
             row->count == 1 ? "" : "s", time_of(row->reach_ns).text,
             time_of(row->longest_ns).text);
    if (row->from[0] != '\0')
        put_fact("from", row->from, to);
    put_fact("delayed", text, to);
    if (row->threads > 1)
        snprintf(text, sizeof text, "%s, and %" PRIu64 " of other names", row->thread,
                 row->threads - 1);
    else
        snprintf(text, sizeof text, "%s", row->thread);
    put_fact("thread", text, to);
    if (row->top[0] != '\0')
        snprintf(text, sizeof text, "%s%s%s%s", row->top, row->library[0] == '\0' ? "" : " (",
                 row->library, row->library[0] == '\0' ? "" : ")");
    else
        snprintf(text, sizeof text, "%s",
                 strcmp(row->late_in, "Java") == 0 ? "Java code" : "the JVM's own code");
    put_fact("ran", text, to);
    put_used(row, to);
    put_fact("hint",
             row->hint == CLI_HINT_NONE ? "none: neither its stack nor what it used proves a reason"
                                        : words->what,
             to);
    if (words->todo[0] != '\0')
        put_fact("try", words->todo, to);
}

/* Of those without a culprit how many for which reason; none of the reasons that there were not. */
static void put_unnamed(const struct cli_safepoints *all, FILE *to)
{
    const struct {
        uint64_t count;
        const char *why;
    } reasons[] = {
        {all->at_poll_count, "whose last thread was seen only when it was about to stop"},
        {all->starved_count, "at which the JVM's own thread or jaywalk's had no processor"},
        {all->nobody_count, "at which nobody was seen"},
    };
    uint64_t unnamed = 0;
    char text[400];

    for (size_t i = 0; i < JW_COUNT_OF(reasons); i++)
        unnamed += reasons[i].count;
    if (unnamed == 0)
        return;
    fputs("\n  [nobody named]\n", to);
    int used =
        snprintf(text, sizeof text, "%" PRIu64 " safepoint%s", unnamed, unnamed == 1 ? "" : "s");
    for (size_t i = 0, told = 0; i < JW_COUNT_OF(reasons); i++) {
        if (reasons[i].count == unnamed)
            snprintf(text + used, sizeof text - (size_t)used, " %s", reasons[i].why);
        else if (reasons[i].count > 0)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %" PRIu64 " %s",
                             told++ == 0 ? ":" : ",", reasons[i].count, reasons[i].why);
    }
    put_fact("delayed", text, to);
}

static void put_culprits(const struct cli_safepoints *all, size_t top, FILE *to)
{
    fputs("\n  Who kept them waiting: the thread that was last, where it was meanwhile\n", to);
    for (size_t i = 0; i < all->culprit_count && (top == 0 || i < top); i++)
        put_culprit(&all->culprits[i], to);
    if (top != 0 && all->culprit_count > top)
        fprintf(to, "\n  [%zu more places: --top 0]\n", all->culprit_count - top);
    put_unnamed(all, to);
}

static void put_head(const struct cli_safepoints *all, int side, FILE *to)
{
    const uint64_t count = all->sides[side].count;

    if (side == CLI_SAFEPOINTS_OF_JVM)
        fprintf(to,
                "Safepoints that the JVM recorded (jdk.SafepointBegin and others): %" PRIu64 "\n",
                count);
    else if (all->threshold_ns > 0)
        fprintf(to, "Safepoints that were waited for %s or longer (ttsp=): %" PRIu64 "\n",
                time_of(all->threshold_ns).text, count);
    else
        fprintf(to, "Safepoints that were long waited for (ttsp=): %" PRIu64 "\n", count);
}

static bool put_side(const struct cli_safepoints *all, int number, size_t top, FILE *to)
{
    const struct cli_safepoint_side *side = &all->sides[number];
    struct cli_safepoint_sums sums;

    if (!cli_safepoints_sum(all, side, &sums))
        return false;
    put_head(all, number, to);
    if (side->count > 0) {
        fprintf(to, "\n  %-15s %8s %13s %13s %13s %13s %13s\n", "", "count", "sum", "median",
                "90 %", "99 %", "longest");
        put_times("time to reach", &sums.reach, to);
        put_times("time inside", &sums.inside, to);
        put_operations(&sums, top, to);
    }
    jw_free(sums.operations);
    if (side->is_reach_wider)
        put_fact("note",
                 "of some the time to reach is how long SafepointBegin took, in which JVMs "
                 "before 21 clean up, too; jdk.SafepointStateSynchronization would be exact",
                 to);
    if (number == CLI_SAFEPOINTS_OF_JAYWALK && side->count > 0)
        put_culprits(all, top, to);
    else if (number == CLI_SAFEPOINTS_OF_JVM && side->count > 0)
        put_fact("note", "who kept them waiting the JVM does not record: jaywalk does, with --ttsp",
                 to);
    return true;
}

bool cli_safepoints_text(const struct cli_safepoints *all, size_t top, FILE *to)
{
    const char *before = "";
    char part[CLI_CELL_BYTES];

    if (all->part[0] != '\0') {
        cli_text_clean(all->part, part);
        fprintf(to, "Only those that began %s\n\n", part);
    }
    for (int i = 0; i < CLI_SAFEPOINTS_SIDES; i++) {
        const bool is_shown =
            all->sides[i].count > 0 ||
            (all->sides[i].is_told && (i == CLI_SAFEPOINTS_OF_JVM || all->threshold_ns > 0));

        if (!is_shown)
            continue;
        fputs(before, to);
        before = "\n";
        if (!put_side(all, i, top, to))
            return false;
    }
    return true;
}

/* ---- for programs ---- */

static void put_times_json(const char *name, const struct cli_safepoint_times *times, FILE *to)
{
    fprintf(to,
            "\"%s\":{\"count\":%" PRIu64 ",\"sum_ns\":%" PRId64 ",\"p50_ns\":%" PRId64
            ",\"p90_ns\":%" PRId64 ",\"p99_ns\":%" PRId64 ",\"longest_ns\":%" PRId64 "}",
            name, times->count, times->sum_ns, times->median_ns, times->high_ns, times->highest_ns,
            times->longest_ns);
}

static void put_text_json(const char *name, const char *text, FILE *to)
{
    fprintf(to, ",\"%s\":", name);
    cli_text_json(text, to);
}

static bool put_side_json(const struct cli_safepoints *all, int number, FILE *to)
{
    const struct cli_safepoint_side *side = &all->sides[number];
    struct cli_safepoint_sums sums;

    if (!cli_safepoints_sum(all, side, &sums))
        return false;
    fprintf(to, "\"is_told\":%s,\"count\":%zu,", side->is_told ? "true" : "false", side->count);
    put_times_json("time_to_reach", &sums.reach, to);
    fputc(',', to);
    put_times_json("time_inside", &sums.inside, to);
    fputs(",\"operations\":[", to);
    for (size_t i = 0; i < sums.operation_count; i++) {
        const struct cli_safepoint_operation *row = &sums.operations[i];

        fprintf(to, "%s{\"count\":%" PRIu64, i == 0 ? "" : ",", row->count);
        put_text_json("name", row->name, to);
        fprintf(to,
                ",\"reach_ns\":%" PRId64 ",\"reach_longest_ns\":%" PRId64 ",\"inside_ns\":%" PRId64
                ",\"inside_longest_ns\":%" PRId64 "}",
                row->reach_ns, row->reach_longest_ns, row->inside_ns, row->inside_longest_ns);
    }
    fputc(']', to);
    jw_free(sums.operations);
    return true;
}

static void put_culprit_json(const struct cli_culprit *row, FILE *to)
{
    fprintf(to, "{\"count\":%" PRIu64 ",\"reach_ns\":%" PRId64 ",\"longest_ns\":%" PRId64,
            row->count, row->reach_ns, row->longest_ns);
    put_text_json("method", row->method, to);
    fprintf(to, ",\"line\":%" PRId64, row->line);
    put_text_json("place", row->place, to);
    put_text_json("from", row->from, to);
    put_text_json("native", row->top, to);
    put_text_json("library", row->library, to);
    put_text_json("late_in", row->late_in, to);
    put_text_json("thread", row->thread, to);
    fprintf(to, ",\"threads\":%" PRIu64, row->threads);
    if (row->used_count > 0)
        fprintf(to,
                ",\"cpu_ns\":%" PRId64 ",\"wait_ns\":%" PRId64 ",\"minor_faults\":%" PRId64
                ",\"major_faults\":%" PRId64,
                row->cpu_ns, row->waited_ns, row->minor_faults, row->major_faults);
    put_text_json("hint", cli_hint_words[row->hint].id, to);
    put_text_json("what", cli_hint_words[row->hint].what, to);
    put_text_json("todo", cli_hint_words[row->hint].todo, to);
    fputc('}', to);
}

bool cli_safepoints_json(const struct cli_safepoints *all, FILE *to)
{
    fprintf(to, "{\"schema\":\"" SCHEMA "\",\"ttsp_ns\":%" PRId64 ",\"part\":", all->threshold_ns);
    cli_text_json(all->part, to);
    fputs(",\"jaywalk\":{", to);
    if (!put_side_json(all, CLI_SAFEPOINTS_OF_JAYWALK, to))
        return false;
    fprintf(to,
            ",\"at_poll\":%" PRIu64 ",\"no_processor\":%" PRIu64 ",\"nobody\":%" PRIu64
            ",\"culprits\":[",
            all->at_poll_count, all->starved_count, all->nobody_count);
    for (size_t i = 0; i < all->culprit_count; i++) {
        fputs(i == 0 ? "" : ",", to);
        put_culprit_json(&all->culprits[i], to);
    }
    fputs("]},\"jvm\":{", to);
    if (!put_side_json(all, CLI_SAFEPOINTS_OF_JVM, to))
        return false;
    fputs("}}\n", to);
    return true;
}
