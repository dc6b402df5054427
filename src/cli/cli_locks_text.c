/* The census of locks in words: for people, for programs. Context: tool. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

#define WORD_BYTES CONTENTION_WORD_BYTES

/* Where more than one acquisition in so many waits, the lock holds its users up. */
#define CROWDED_ONE_IN 10u

/* A hold that is longer than that does more than what a lock is for. */
#define LONG_HOLD_NS INT64_C(100000)

struct sums {
    uint64_t sites, reached, acquisitions, uncounted;
};

static int64_t mean_hold_ns(const struct locks_site *site)
{
    return site->weight == 0 ? 0 : site->hold_ns / (int64_t)site->weight;
}

/* ---- order ---- */

static int by_number(uint64_t left, uint64_t right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

static int compare_sites(const void *left, const void *right)
{
    const struct locks_site *const *a = left, *const *b = right;
    const int by_wait = by_number((uint64_t)(*a)->waited_ns, (uint64_t)(*b)->waited_ns);
    const int by_count = by_number((*a)->acquisitions, (*b)->acquisitions);

    return by_wait != 0    ? by_wait
           : by_count != 0 ? by_count
           : *a < *b       ? -1
                           : *a > *b; /* that of their places */
}

/* Those of a verdict, of the program or of the JDK; LOCKS_VERDICT_LIMIT: of any that was come to. */
static size_t choose(const struct locks *all, enum locks_verdict verdict, bool is_platform,
                     const struct locks_site **out)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        const struct locks_site *site = &all->sites[i];

        if (site->is_platform == is_platform &&
            (verdict == LOCKS_VERDICT_LIMIT ? site->acquisitions > 0 : site->verdict == verdict))
            out[count++] = site;
    }
    if (count > 0)
        qsort(out, count, sizeof *out, compare_sites);
    return count;
}

static struct sums sum_of(const struct locks *all, bool is_platform)
{
    struct sums sums = {0};

    for (size_t i = 0; i < all->count; i++) {
        const struct locks_site *site = &all->sites[i];

        if (site->is_platform != is_platform)
            continue;
        sums.sites++;
        sums.reached += site->acquisitions > 0;
        sums.acquisitions += site->acquisitions;
        sums.uncounted += !site->is_counted;
    }
    return sums;
}

/* ---- words ---- */

static void put_sums(const struct locks *all, bool is_platform, FILE *to)
{
    const struct sums sums = sum_of(all, is_platform);
    char sites[32], reached[32], acquisitions[32];

    cli_text_digits(sums.sites, sites);
    cli_text_digits(sums.reached, reached);
    cli_text_digits(sums.acquisitions, acquisitions);
    fprintf(to, "  %-12s %s acquisitions at %s of %s places", is_platform ? "the JDK" : "program",
            acquisitions, reached, sites);
    if (sums.uncounted > 0)
        fprintf(to, "; %" PRIu64 " cannot be counted", sums.uncounted);
    fputs("\n", to);
}

static void put_place(const struct locks_site *site, FILE *to)
{
    char place[CLI_CELL_BYTES], kind[CLI_CELL_BYTES], lock[CLI_CELL_BYTES];

    cli_text_clean(site->place, place);
    cli_text_clean(site->kind, kind);
    cli_text_clean(site->lock_class, lock);
    /* The class of what a lock of java.util.concurrent parks on says nothing of which one it is. */
    const bool is_told = lock[0] != '\0' && !locks_is_call(site);
    fputs(place, to);
    if (site->line != 0)
        fprintf(to, ":%" PRIu64, site->line);
    fprintf(to, " (%s%s%s)\n", kind, is_told ? " of " : "", is_told ? lock : "");
}

/* What follows. */
static const char *advice_of(const struct locks_site *site)
{
    if (site->is_platform)
        return "";
    if (site->verdict == LOCKS_NEVER)
        return "no run comes here: remove it, or look whether its code is needed";
    if (site->verdict == LOCKS_ALONE)
        return "if it alone takes this lock elsewhere, too, keep the object to it, without a lock";
    if (site->verdict != LOCKS_CONTENDED)
        return "";
    if (mean_hold_ns(site) > LONG_HOLD_NS)
        return "held for long: do less while it is held; a read-write lock where most only read";
    return site->waits * CROWDED_ONE_IN > site->acquisitions
               ? "many wait for short holds: split it, or use something without a lock"
               : "few wait: first look at those above";
}

static void put_row(const struct locks_site *site, FILE *to)
{
    char count[32], waits[32], waited[WORD_BYTES] = "", longest[WORD_BYTES] = "";
    char mean[WORD_BYTES] = "", most[WORD_BYTES] = "", threads[32], thread[CLI_CELL_BYTES];
    const char *advice = advice_of(site);

    cli_text_digits(site->acquisitions, count);
    cli_text_digits(site->waits, waits);
    cli_text_digits(site->threads, threads);
    if (site->waits > 0) {
        contention_time(site->waited_ns, waited);
        contention_time(site->longest_wait_ns, longest);
    }
    if (site->holds > 0) {
        contention_time(mean_hold_ns(site), mean);
        contention_time(site->longest_hold_ns, most);
    }
    fprintf(to, "%13s %7s %9s %9s %8s %9s %9s  ", count, threads, mean, most, waits, waited,
            longest);
    put_place(site, to);
    cli_text_clean(site->thread, thread);
    if (site->verdict == LOCKS_ALONE && thread[0] != '\0')
        fprintf(to, "%15sby %s alone%s%s\n", "", thread, advice[0] == '\0' ? "" : ": ", advice);
    else if (advice[0] != '\0')
        fprintf(to, "%15s%s\n", "", advice);
}

static void put_table(const struct locks *all, enum locks_verdict verdict, bool is_platform,
                      size_t top, const char *title, FILE *to)
{
    const struct locks_site **rows = jw_alloc(jw_mul_bytes(all->count + 1, sizeof(void *)));

    if (rows == NULL) {
        fprintf(to, "\n%s: no memory\n", title);
        return;
    }
    const size_t count = choose(all, verdict, is_platform, rows);
    const size_t shown = top == 0 || count < top ? count : top;

    fprintf(to, "\n%s (%zu of %zu)\n", title, shown, count);
    if (shown > 0 && verdict == LOCKS_NEVER) {
        fputs("\n", to);
        for (size_t i = 0; i < shown; i++) {
            fputs("  ", to);
            put_place(rows[i], to);
        }
        fprintf(to, "%15s%s\n", "", advice_of(rows[0]));
    } else if (shown > 0) {
        fputs("\n acquisitions threads mean hold   longest    waits    waited   longest  where\n",
              to);
        for (size_t i = 0; i < shown; i++)
            put_row(rows[i], to);
    }
    jw_free(rows);
}

void locks_text(const struct locks *all, size_t top, FILE *to)
{
    fputs("Locks, by the places where they are taken\n\n", to);
    put_sums(all, false, to);
    put_sums(all, true, to);
    if (all->waits_elsewhere > 0)
        fprintf(to,
                "  waits        %" PRIu64
                " at places that are not counted: native code, and what counting stands on\n",
                all->waits_elsewhere);
    put_table(all, LOCKS_CONTENDED, false, top, "Waited at", to);
    put_table(all, LOCKS_ALONE, false, top, "Come to by one thread only", to);
    put_table(all, LOCKS_NEVER, false, top, "Never come to, of classes that are loaded", to);
    put_table(all, LOCKS_SHARED, false, top, "Come to by several threads, and never waited for",
              to);
    put_table(all, LOCKS_VERDICT_LIMIT, true, top, "In classes of the JDK", to);
    fputs("\n", to);
    cli_text_put_wrapped(
        "A place is not a lock: one lock may be taken at several places, and what one run did not "
        "do another may do. Waits are those that took at least as long as the "
        "option lock says. Times of holds are those of a sample where a place is busy; a lock that "
        "is taken again further in is counted, and its time is that of the outer one; Object.wait "
        "is part of a hold. A lock of java.util.concurrent is told at the call that takes it, and "
        "its time where the same method gives it back. Virtual "
        "threads are counted, not timed, and are told as one or as two for more.",
        0, to);
}

/* ---- JSON ---- */

static void put_json_sums(const char *name, const struct locks *all, bool is_platform, FILE *to)
{
    const struct sums sums = sum_of(all, is_platform);

    fprintf(to,
            ",\n\"%s\":{\"sites\":%" PRIu64 ",\"reached\":%" PRIu64 ",\"acquisitions\":%" PRIu64
            ",\"not_counted\":%" PRIu64 "}",
            name, sums.sites, sums.reached, sums.acquisitions, sums.uncounted);
}

static void put_json_site(const struct locks_site *site, FILE *to)
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
        put_json_site(&all->sites[i], to);
    }
    fputs("]}\n", to);
}
