/* The census of locks in words: for people, for programs. Context: tool. */
#include <inttypes.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

#define WORD_BYTES CONTENTION_WORD_BYTES

/* Callers, and owners, that are shown of a place; all of them where all places are. */
#define CALLERS 4u

/* ---- words ---- */

static void put_place(const struct locks_site *site, FILE *to)
{
    char place[CLI_CELL_BYTES], kind[CLI_CELL_BYTES], lock[CLI_CELL_BYTES];

    cli_text_clean(site->place, place);
    cli_text_clean(site->kind, kind);
    cli_text_clean(locks_told_class(site), lock);
    fputs(place, to);
    if (site->line != 0)
        fprintf(to, ":%" PRIu64, site->line);
    fprintf(to, " (%s%s%s)\n", kind, lock[0] != '\0' ? " of " : "", lock);
}

static void put_callers(const struct locks_site *site, size_t most, FILE *to)
{
    const size_t shown = most == 0 || site->caller_count < most ? site->caller_count : most;

    for (size_t i = 0; i < shown; i++) {
        char caller[LOCKS_CALLER_BYTES];

        locks_caller_text(site, &site->callers[i], caller);
        fprintf(to, "%15s%s%s\n", "", i == 0 ? "by calls of " : "            ", caller);
    }
    if (shown < site->caller_count)
        fprintf(to, "%27sand %zu more\n", "", site->caller_count - shown);
}

static void put_times(const struct locks_site *site, FILE *to)
{
    char times[LOCKS_TIMES_BYTES], objects[LOCKS_OBJECTS_BYTES], taken[LOCKS_TAKEN_BYTES];

    locks_taken_text(site, taken);
    if (taken[0] != '\0')
        fprintf(to, "%15shere %s\n", "", taken);
    locks_holds_text(site, times);
    if (times[0] != '\0')
        fprintf(to, "%15sheld %s\n", "", times);
    locks_waits_text(site, times);
    if (times[0] != '\0')
        fprintf(to, "%15swaited %s\n", "", times);
    locks_objects_text(site, objects);
    if (objects[0] != '\0')
        fprintf(to, "%15sfor %s\n", "", objects);
}

static void put_owners(const struct locks *all, const struct locks_site *site, size_t most,
                       FILE *to)
{
    const size_t shown = most == 0 || site->owner_count < most ? site->owner_count : most;

    for (size_t i = 0; i < shown; i++) {
        char owner[LOCKS_OWNER_BYTES];

        locks_owner_text(all, &site->owners[i], owner);
        fprintf(to, "%15s%s%s\n", "", i == 0 ? "behind " : "       ", owner);
    }
    if (shown < site->owner_count)
        fprintf(to, "%22sand %zu more\n", "", site->owner_count - shown);
}

static void put_row(const struct locks *all, const struct locks_site *site, size_t callers,
                    FILE *to)
{
    char count[32], waits[32], waited[WORD_BYTES] = "", longest[WORD_BYTES] = "";
    char mean[WORD_BYTES] = "", most[WORD_BYTES] = "", threads[32], follows[LOCKS_FOLLOWS_BYTES];

    cli_text_digits(site->acquisitions, count);
    cli_text_digits(site->waits, waits);
    cli_text_digits(site->threads, threads);
    if (site->waits > 0) {
        contention_time(site->waited_ns, waited);
        contention_time(site->longest_wait_ns, longest);
    }
    if (site->holds > 0) {
        contention_time(locks_mean_hold_ns(site), mean);
        contention_time(site->longest_hold_ns, most);
    }
    fprintf(to, "%13s %7s %9s %9s %8s %9s %9s  ", count, threads, mean, most, waits, waited,
            longest);
    put_place(site, to);
    locks_follows(site, follows);
    if (follows[0] != '\0')
        fprintf(to, "%15s%s\n", "", follows);
    put_times(site, to);
    put_owners(all, site, callers, to);
    put_callers(site, callers, to);
}

static void put_table(const struct locks *all, const struct locks_table *table, size_t top,
                      FILE *to)
{
    const struct locks_site **rows = jw_alloc(jw_mul_bytes(all->count + 1, sizeof(void *)));
    char follows[LOCKS_FOLLOWS_BYTES];

    if (rows == NULL) {
        fprintf(to, "\n%s: no memory\n", table->title);
        return;
    }
    const size_t count = locks_choose(all, table, rows);
    const size_t shown = top == 0 || count < top ? count : top;

    if (count > 0 || locks_is_always_told(table))
        fprintf(to, "\n%s (%zu of %zu)\n", table->title, shown, count);
    if (shown > 0 && table->verdict == LOCKS_NEVER) {
        fputs("\n", to);
        for (size_t i = 0; i < shown; i++) {
            fputs("  ", to);
            put_place(rows[i], to);
        }
        locks_follows(rows[0], follows);
        fprintf(to, "%15s%s\n", "", follows);
    } else if (shown > 0) {
        fputs("\n acquisitions threads mean hold   longest    waits    waited   longest  where\n",
              to);
        for (size_t i = 0; i < shown; i++)
            put_row(all, rows[i], top == 0 ? 0 : CALLERS, to);
    }
    jw_free(rows);
}

void locks_text(const struct locks *all, size_t top, FILE *to)
{
    fputs("Locks, by the places where they are taken\n\n", to);
    for (unsigned i = 0; i < LOCKS_LINES; i++) {
        char line[LOCKS_LINE_BYTES];
        const char *const name = locks_line(all, i, line);

        if (name != NULL)
            fprintf(to, "  %-12s %s\n", name, line);
    }
    for (size_t i = 0; i < LOCKS_TABLES; i++)
        put_table(all, &locks_tables[i], top, to);
    fputs("\n", to);
    cli_text_put_wrapped(locks_note, 0, to);
}

/* ---- JSON ---- */

static void put_json_sums(const char *name, const struct locks *all, bool is_platform, FILE *to)
{
    const struct locks_sums sums = locks_sum_of(all, is_platform);

    fprintf(to,
            ",\n\"%s\":{\"sites\":%" PRIu64 ",\"reached\":%" PRIu64 ",\"acquisitions\":%" PRIu64
            ",\"not_counted\":%" PRIu64 "}",
            name, sums.sites, sums.reached, sums.acquisitions, sums.uncounted);
}

static void put_json_callers(const struct locks_site *site, FILE *to)
{
    fputs(",\"callers\":[", to);
    for (size_t i = 0; i < site->caller_count; i++) {
        const struct locks_caller *caller = &site->callers[i];

        fprintf(to, "%s{\"caller\":", i == 0 ? "" : ",");
        cli_text_json(caller->place, to);
        fprintf(to, ",\"acquisitions\":%" PRIu64 ",\"error\":%" PRIu64 ",\"samples\":%" PRIu64 "}",
                caller->acquisitions, caller->error, caller->samples);
    }
    fputs("]", to);
}

static void put_json_steps(const char *name, const uint64_t steps[LOCKS_STEPS], FILE *to)
{
    fprintf(to, ",\"%s\":[", name);
    for (size_t i = 0; i < LOCKS_STEPS; i++)
        fprintf(to, "%s%" PRIu64, i == 0 ? "" : ",", steps[i]);
    fputs("]", to);
}

static void put_json_site(const struct locks *all, const struct locks_site *site, FILE *to)
{
    fputs("\n{\"place\":", to);
    cli_text_json(site->place, to);
    fprintf(to, ",\"line\":%" PRIu64 ",\"kind\":", site->line);
    cli_text_json(site->kind, to);
    fprintf(to, ",\"is_platform\":%s,\"verdict\":", site->is_platform ? "true" : "false");
    cli_text_json(locks_verdict_word(site->verdict), to);
    fprintf(to,
            ",\"acquisitions\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"thread\":", site->acquisitions,
            site->threads);
    cli_text_json(site->thread, to);
    fprintf(to,
            ",\"timed_holds\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"hold_ns\":%" PRId64
            ",\"longest_hold_ns\":%" PRId64 ",\"waits\":%" PRIu64 ",\"waited_ns\":%" PRId64
            ",\"longest_wait_ns\":%" PRId64 ",\"lock_class\":",
            site->holds, site->weight, site->hold_ns, site->longest_hold_ns, site->waits,
            site->waited_ns, site->longest_wait_ns);
    cli_text_json(site->lock_class, to);
    fprintf(to,
            ",\"hold_error_ns\":%" PRId64 ",\"hold_at_least_ns\":%" PRId64
            ",\"hold_at_most_ns\":%" PRId64,
            site->hold_error_ns, locks_held_at_least_ns(site), locks_held_at_most_ns(site));
    put_json_steps("hold_steps", site->hold_steps, to);
    put_json_steps("wait_steps", site->wait_steps, to);
    locks_json_objects(site, to);
    locks_json_taken(site, to);
    locks_json_owners(all, site, to);
    if (site->is_platform)
        put_json_callers(site, to);
    fputs("}", to);
}

void locks_json(const struct locks *all, FILE *to)
{
    fputs("{\"schema\":\"jaywalk.locks/1\"", to);
    put_json_sums("program", all, false, to);
    put_json_sums("jdk", all, true, to);
    fprintf(to, ",\n\"waits_elsewhere\":%" PRIu64 ",\n\"sites\":[", all->waits_elsewhere);
    for (size_t i = 0; i < all->count; i++) {
        fputs(i == 0 ? "" : ",", to);
        put_json_site(all, &all->sites[i], to);
    }
    fputs("]}\n", to);
}
