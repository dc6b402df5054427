/* The census of locks for an explorer page: what the command says, as JSON. Context: tool. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

/* Of a place that all requests come to, each in a thread of its own, there are thousands. */
#define OWNERS 20u

static void put_owners(const struct locks *all, const struct locks_site *site, FILE *to)
{
    const size_t shown = site->owner_count < OWNERS ? site->owner_count : OWNERS;

    fputs(",[", to);
    for (size_t i = 0; i < shown; i++) {
        char owner[LOCKS_OWNER_BYTES];

        locks_owner_text(all, &site->owners[i], owner);
        fputs(i == 0 ? "" : ",", to);
        cli_text_json(owner, to);
    }
    if (shown < site->owner_count)
        fprintf(to, ",\"and %zu more\"", site->owner_count - shown);
    fputs("]", to);
}

/*
 * [place, line, kind, class that was waited for, first thread, acquisitions, threads, timed holds, weight, ns held, mean hold, longest hold,
 * waits, ns waited, longest wait, what follows, [who calls], error of ns held, times of holds, of waits, [who had it], which objects were waited for, which are taken]: as page/locks.js reads it.
 */
static void put_site(const struct locks *all, const struct locks_site *site, FILE *to)
{
    char follows[LOCKS_FOLLOWS_BYTES], times[LOCKS_TIMES_BYTES], objects[LOCKS_OBJECTS_BYTES];
    char taken[LOCKS_TAKEN_BYTES];

    fputs("[", to);
    cli_text_json(site->place, to);
    fprintf(to, ",%" PRIu64 ",", site->line);
    cli_text_json(site->kind, to);
    fputs(",", to);
    cli_text_json(locks_told_class(site), to);
    fputs(",", to);
    cli_text_json(site->thread, to);
    fprintf(to,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64
            ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",",
            site->acquisitions, site->threads, site->holds, site->weight, site->hold_ns,
            locks_mean_hold_ns(site), site->longest_hold_ns, site->waits, site->waited_ns,
            site->longest_wait_ns);
    locks_follows(site, follows);
    cli_text_json(follows, to);
    fputs(",[", to);
    for (size_t i = 0; i < site->caller_count; i++) {
        char caller[LOCKS_CALLER_BYTES];

        locks_caller_text(site, &site->callers[i], caller);
        fputs(i == 0 ? "" : ",", to);
        cli_text_json(caller, to);
    }
    fprintf(to, "],%" PRId64 ",", site->hold_error_ns);
    locks_holds_text(site, times);
    cli_text_json(times, to);
    fputs(",", to);
    locks_waits_text(site, times);
    cli_text_json(times, to);
    put_owners(all, site, to);
    fputs(",", to);
    locks_objects_text(site, objects);
    cli_text_json(objects, to);
    fputs(",", to);
    locks_taken_text(site, taken);
    cli_text_json(taken, to);
    fputs("]", to);
}

static void put_lines(const struct locks *all, FILE *to)
{
    const char *comma = "";

    fputs("{\"lines\":[", to);
    for (unsigned i = 0; i < LOCKS_LINES; i++) {
        char line[LOCKS_LINE_BYTES];
        const char *const name = locks_line(all, i, line);

        if (name == NULL)
            continue;
        fprintf(to, "%s[", comma);
        cli_text_json(name, to);
        fputs(",", to);
        cli_text_json(line, to);
        fputs("]", to);
        comma = ",";
    }
    fputs("],\"note\":", to);
    cli_text_json(locks_note, to);
}

/* Places of the JDK that nobody came to are in the sums alone, as in the command's tables. */
static void put_page(const struct locks *all, const struct locks_site **rows, FILE *to)
{
    put_lines(all, to);
    const char *comma = "";

    fputs(",\"tables\":[", to);
    for (size_t n = 0; n < LOCKS_TABLES; n++) {
        const size_t count = locks_choose(all, &locks_tables[n], rows);

        if (count == 0 && !locks_is_always_told(&locks_tables[n]))
            continue;
        fprintf(to, "%s{\"key\":\"%s\",\"title\":\"%s\",\"rows\":[", comma, locks_tables[n].key,
                locks_tables[n].title);
        comma = ",\n";
        for (size_t i = 0; i < count; i++) {
            fputs(i == 0 ? "" : ",\n", to);
            put_site(all, rows[i], to);
        }
        fputs("]}", to);
    }
    fputs("]}", to);
}

/* What the stream has, as memory of ours. */
static char *page_of(const struct locks *all, struct jw_error *err)
{
    const struct locks_site **rows = jw_alloc(jw_mul_bytes(all->count + 1, sizeof(void *)));
    char *text = NULL, *copy = NULL;
    size_t text_bytes = 0;
    FILE *to = rows == NULL ? NULL : open_memstream(&text, &text_bytes);

    if (to != NULL) {
        put_page(all, rows, to);
        const bool is_whole = ferror(to) == 0;

        copy = fclose(to) == 0 && is_whole ? jw_alloc(text_bytes + 1) : NULL;
        if (copy != NULL)
            memcpy(copy, text, text_bytes + 1);
        free(text); /* by its own malloc: the stream's */
    }
    jw_free(rows);
    if (copy == NULL)
        jw_error_set(err, "no memory for the census of locks");
    return copy;
}

char *locks_page(const char *path, struct jw_error *err)
{
    struct locks *all = jw_alloc(sizeof *all);
    char *text = NULL;

    if (all == NULL) {
        jw_error_set(err, "no memory for the census of locks");
        return NULL;
    }
    if (locks_read(all, path, true, err) && all->count > 0) {
        if (locks_settle(all))
            text = page_of(all, err);
        else
            jw_error_set(err, "no memory for the census of locks");
    }
    locks_close(all);
    jw_free(all);
    return text;
}
