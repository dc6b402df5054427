/* What is to be said of the census of locks: which sites answer which question, and what follows. Context: tool. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

/* Where more than one acquisition in so many waits, the lock holds its users up. */
#define CROWDED_ONE_IN 10u

/* So many objects that are all waited for alike are not split any further. */
#define SPLIT_OBJECTS 4u

/* A hold that is longer than that does more than what a lock is for. */
#define LONG_HOLD_NS INT64_C(100000)

const struct locks_table locks_tables[LOCKS_TABLES] = {
    {"contended", "Waited at", LOCKS_CONTENDED, false},
    {"alone", "Come to by one thread only", LOCKS_ALONE, false},
    {"confined", "Come to by several threads, each object by one of them only", LOCKS_CONFINED,
     false},
    {"never", "Never come to, of classes that are loaded", LOCKS_NEVER, false},
    {"shared", "Come to by several threads, and never waited for", LOCKS_SHARED, false},
    {"jdk", "In classes of the JDK", LOCKS_VERDICT_LIMIT, true},
};

const char locks_note[] =
    "A place is not a lock: one lock may be taken at several places, and what one run did not do "
    "another may do. Waits are those that took at least as long as the option lock says. Times of "
    "holds are those of a sample where a place is busy; a lock that is taken again further in is "
    "counted, and its time is that of the outer one; Object.wait and Condition.await are part of a "
    "hold. A lock of "
    "java.util.concurrent is told at the call that takes it, and its time where the same method "
    "gives it back. Who calls places of the JDK is told by samples where a place is busy, with the "
    "error that 95 of 100 such figures keep within; so is the time that a place was held; where "
    "that error is all of it or more, as of one long hold among many short ones, it is told what "
    "it is at most. Virtual threads are told as one, or as two for more. Objects (option "
    "locks=objects) are told apart by their identity hash: two that have the same are one, with "
    "the threads of both.";

int64_t locks_mean_hold_ns(const struct locks_site *site)
{
    return site->weight == 0 ? 0 : site->hold_ns / (int64_t)site->weight;
}

/* A file may say anything. */
static int64_t error_of(const struct locks_site *site)
{
    return site->hold_error_ns > 0 ? site->hold_error_ns : 0;
}

int64_t locks_held_at_least_ns(const struct locks_site *site)
{
    return error_of(site) < site->hold_ns ? site->hold_ns - error_of(site) : 0;
}

int64_t locks_held_at_most_ns(const struct locks_site *site)
{
    const int64_t held_ns = site->hold_ns > 0 ? site->hold_ns : 0;

    return error_of(site) > INT64_MAX - held_ns ? INT64_MAX : held_ns + error_of(site);
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

bool locks_is_always_told(const struct locks_table *table)
{
    return table->verdict != LOCKS_CONFINED;
}

size_t locks_choose(const struct locks *all, const struct locks_table *table,
                    const struct locks_site **out)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        const struct locks_site *site = &all->sites[i];

        if (site->is_platform == table->is_platform &&
            (table->verdict == LOCKS_VERDICT_LIMIT ? site->acquisitions > 0
                                                   : site->verdict == table->verdict))
            out[count++] = site;
    }
    if (count > 0)
        qsort(out, count, sizeof *out, compare_sites);
    return count;
}

/* ---- sums ---- */

struct locks_sums locks_sum_of(const struct locks *all, bool is_platform)
{
    struct locks_sums sums = {0};

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

const char *locks_line(const struct locks *all, unsigned number, char out[LOCKS_LINE_BYTES])
{
    char sites[32], reached[32], acquisitions[32], uncounted[48] = "";

    if (number == 2) {
        snprintf(out, LOCKS_LINE_BYTES,
                 "%" PRIu64
                 " at places that are not counted: native code, and what counting stands on",
                 all->waits_elsewhere);
        return all->waits_elsewhere > 0 ? "waits" : NULL;
    }

    if (number == 3) {
        snprintf(out, LOCKS_LINE_BYTES,
                 "to be told apart, each whose lock was taken has lost its biased lock: on this "
                 "JVM times were longer for it");
        return all->takes_bias ? "objects" : NULL;
    }

    const struct locks_sums sums = locks_sum_of(all, number == 1);
    cli_text_digits(sums.sites, sites);
    cli_text_digits(sums.reached, reached);
    cli_text_digits(sums.acquisitions, acquisitions);
    if (sums.uncounted > 0)
        snprintf(uncounted, sizeof uncounted, "; %" PRIu64 " cannot be counted", sums.uncounted);
    snprintf(out, LOCKS_LINE_BYTES, "%s acquisitions at %s of %s places%s", acquisitions, reached,
             sites, uncounted);
    return number == 1 ? "the JDK" : "program";
}

/* ---- words ---- */

const char *locks_told_class(const struct locks_site *site)
{
    /* The class of what a lock of java.util.concurrent parks on says nothing of which one it is. */
    return locks_is_call(site) ? "" : site->lock_class;
}

/* Tenths of a percent. */
static uint64_t tenths_of(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : (uint64_t)(1000 * (double)part / (double)all + 0.5);
}

void locks_caller_text(const struct locks_site *site, const struct locks_caller *caller,
                       char out[LOCKS_CALLER_BYTES])
{
    const uint64_t part = tenths_of(caller->acquisitions, site->acquisitions);
    const uint64_t error = tenths_of(caller->error, site->acquisitions);
    char place[CLI_CELL_BYTES], within[48] = "";

    cli_text_clean(caller->place, place);
    if (caller->error > 0)
        snprintf(within, sizeof within, " +- %" PRIu64 ".%" PRIu64, error / 10, error % 10);
    snprintf(out, LOCKS_CALLER_BYTES, "%" PRIu64 ".%" PRIu64 " %%%s  %s", part / 10, part % 10,
             within, place);
}

/* Appends "< 1 us 93.1 %, 1-10 us 6.9 %". */
static void put_steps(const uint64_t steps[LOCKS_STEPS], char out[LOCKS_TIMES_BYTES])
{
    static const char *const words[LOCKS_STEPS] = {"< 1 us",  "1-10 us",   "10-100 us", "0.1-1 ms",
                                                   "1-10 ms", "10-100 ms", ">= 100 ms"};
    size_t used = strlen(out);
    const char *before = used > 0 ? ": " : "";
    uint64_t all = 0;

    for (size_t i = 0; i < LOCKS_STEPS; i++)
        all += steps[i];
    for (size_t i = 0; i < LOCKS_STEPS && used < LOCKS_TIMES_BYTES; i++) {
        const uint64_t tenths = tenths_of(steps[i], all);
        const uint64_t part = tenths > 0 ? tenths : 1; /* what is there is not told as nothing */

        if (steps[i] == 0)
            continue;
        used += (size_t)snprintf(out + used, LOCKS_TIMES_BYTES - used,
                                 "%s%s %s%" PRIu64 ".%" PRIu64 " %%", before, words[i],
                                 tenths > 0 ? "" : "< ", part / 10, part % 10);
        before = ", ";
    }
}

void locks_holds_text(const struct locks_site *site, char out[LOCKS_TIMES_BYTES])
{
    char sum[CONTENTION_WORD_BYTES], most[CONTENTION_WORD_BYTES], within[48] = "";
    /* An error that is there is told. */
    const uint64_t tenths = tenths_of((uint64_t)site->hold_error_ns, (uint64_t)site->hold_ns);
    const uint64_t error = tenths > 0 ? tenths : 1;

    out[0] = '\0';
    if (site->holds == 0)
        return;
    contention_time(locks_held_at_most_ns(site), most);
    /* Where the holds that were timed were all as long, or the recording is of before there were errors, there is none. */
    if (site->hold_error_ns >= site->hold_ns && site->hold_error_ns > 0)
        snprintf(within, sizeof within, ", %s at most", most);
    else if (site->hold_error_ns > 0)
        snprintf(within, sizeof within, " +- %" PRIu64 ".%" PRIu64 " %%", error / 10, error % 10);
    else if (site->weight > site->holds)
        snprintf(within, sizeof within, ", estimated");
    contention_time(site->hold_ns, sum);
    snprintf(out, LOCKS_TIMES_BYTES, "%s in all%s", sum, within);
    put_steps(site->hold_steps, out);
}

void locks_waits_text(const struct locks_site *site, char out[LOCKS_TIMES_BYTES])
{
    out[0] = '\0';
    put_steps(site->wait_steps, out);
}

/* It is many locks already. */
static bool is_split(const struct locks_site *site)
{
    return site->objects != NULL && site->objects->count >= SPLIT_OBJECTS &&
           contention_is_alike(site->objects);
}

static const char *advice_of(const struct locks_site *site)
{
    if (site->is_platform)
        return "";
    if (site->verdict == LOCKS_NEVER)
        return "no run comes here: remove it, or look whether its code is needed";
    if (site->verdict == LOCKS_ALONE)
        return "if it alone takes this lock elsewhere, too, keep the object to it, without a lock";
    if (site->verdict == LOCKS_CONFINED)
        return "if no other place takes these locks from another thread, keep each object to its "
               "thread, without a lock";
    if (site->verdict != LOCKS_CONTENDED)
        return "";
    if (locks_mean_hold_ns(site) > LONG_HOLD_NS)
        return "held for long: do less while it is held; a read-write lock where most only read";
    if (site->waits * CROWDED_ONE_IN <= site->acquisitions)
        return "few wait: first look at those above";
    return is_split(site)
               ? "many wait for short holds, of one object as of another: take them less "
                 "often, or use something without a lock"
               : "many wait for short holds: split it, or use something without a lock";
}

void locks_follows(const struct locks_site *site, char out[LOCKS_FOLLOWS_BYTES])
{
    const char *advice = advice_of(site);
    char thread[CLI_CELL_BYTES];

    cli_text_clean(site->thread, thread);
    if (site->verdict == LOCKS_ALONE && thread[0] != '\0')
        snprintf(out, LOCKS_FOLLOWS_BYTES, "by %s alone%s%s", thread, advice[0] == '\0' ? "" : ": ",
                 advice);
    else
        snprintf(out, LOCKS_FOLLOWS_BYTES, "%s", advice);
}
