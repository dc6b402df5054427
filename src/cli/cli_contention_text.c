/* Waits for locks in words: for people, for programs. Context: tool. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_contention_internal.h"
#include "cli/cli_text_internal.h"

#define SHOWN_FRAMES 8u
#define WORD_BYTES   CONTENTION_WORD_BYTES
#define OBJECTS      4u /* that are shown of a class; all of them where all rows are */

void contention_time(int64_t ns, char out[CONTENTION_WORD_BYTES])
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{INT64_C(3600000000000), "h"},
                 {INT64_C(60000000000), "min"},
                 {1000000000, "s"},
                 {1000000, "ms"},
                 {1000, "us"}};

    for (size_t i = 0; i < JW_COUNT_OF(units); i++) {
        const int64_t tenths = ns / (units[i].ns / 10);

        /* Minutes from two of them on, hours likewise. */
        if (tenths >= (i < 2 ? 20 : 10)) {
            snprintf(out, WORD_BYTES, "%" PRId64 ".%d %s", tenths / 10, (int)(tenths % 10),
                     units[i].name);
            return;
        }
    }
    snprintf(out, WORD_BYTES, "%" PRId64 " ns", ns);
}

static void put_name(const struct contention *all, uint32_t number, const char *none, FILE *to)
{
    char name[CLI_CELL_BYTES];

    cli_text_clean(number == 0 ? none : contention_text_of(all, number), name);
    fputs(name, to);
}

static const char no_class[] = "[no object]", no_thread[] = "[unknown thread]";

static size_t shown(const struct contention_look *look, size_t count)
{
    return look->top == 0 || count < look->top ? count : look->top;
}

static void put_stack(const struct contention *all, uint32_t stack, FILE *to)
{
    char line[CLI_CELL_BYTES], clean[CLI_CELL_BYTES];
    unsigned count = 0;

    for (const char *at = contention_text_of(all, stack); *at != '\0';
         at += strcspn(at, "\n") + 1) {
        if (count++ == SHOWN_FRAMES) {
            fputs("                at ...\n", to);
            return;
        }
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        cli_text_clean(line, clean);
        fprintf(to, "                at %s\n", clean);
    }
}

static void put_figures(const struct contention_row *row, FILE *to)
{
    char total[WORD_BYTES], median[WORD_BYTES], p95[WORD_BYTES], p99[WORD_BYTES],
        longest[WORD_BYTES], count[32];

    contention_time(row->total_ns, total);
    contention_time(row->median_ns, median);
    contention_time(row->p95_ns, p95);
    contention_time(row->p99_ns, p99);
    contention_time(row->longest_ns, longest);
    cli_text_digits(row->count, count);
    fprintf(to, "%9s %10s %10s %10s %10s %10s  ", count, total, median, p95, p99, longest);
}

enum columns { COLUMNS_LOCK, COLUMNS_SITE, COLUMNS_THREAD, COLUMNS_HOLDER, COLUMNS_DOING };

static void put_held(const struct contention_row *row, FILE *to)
{
    char least[WORD_BYTES], most[WORD_BYTES], count[32];

    contention_time(row->held_at_least_ns, least);
    contention_time(row->held_at_most_ns, most);
    cli_text_digits(row->holds, count);
    fprintf(to, ", had it %s time%s, the longest for at least %s", count,
            row->holds == 1 ? "" : "s", least);
    if (row->bounded == 0)
        return;
    cli_text_digits(row->bounded, count);
    fprintf(to, ", %s of them for at most %s", count, most);
}

static void put_row(const struct contention *all, const struct contention_row *row,
                    enum columns columns, FILE *to)
{
    put_figures(row, to);
    if (columns == COLUMNS_LOCK || columns == COLUMNS_SITE) {
        put_name(all, row->lock, no_class, to);
    } else {
        put_name(all, row->thread, no_thread, to);
        if (columns != COLUMNS_THREAD) {
            fputs(" with ", to);
            put_name(all, row->lock, no_class, to);
        }
    }
    if (row->holds > 0)
        put_held(row, to);
    fputs("\n", to);
    if (columns == COLUMNS_SITE || columns == COLUMNS_DOING)
        put_stack(all, row->stack, to);
}

static void put_table(const struct contention *all, const struct contention_look *look,
                      const char *title, const struct contention_table *table, enum columns columns,
                      FILE *to)
{
    const size_t count = shown(look, table->count);

    if (table->count == 0)
        return;
    fprintf(to, "\n%s (%zu of %zu)\n\n", title, count, table->count);
    fputs("    waits      total     median       95 %       99 %    longest\n", to);
    for (size_t i = 0; i < count; i++)
        put_row(all, &table->rows[i], columns, to);
}

/* ---- text ---- */

static void put_head(const struct contention *all, const struct contention_look *look, FILE *to)
{
    char part[CLI_CELL_BYTES];
    char total[WORD_BYTES], span[WORD_BYTES], count[32];

    contention_time(all->total_ns, total);
    contention_time(all->end_ns - all->begin_ns, span);
    cli_text_digits(all->lock_waits, count);
    fprintf(to, "Waits for locks: %s, %s in all, over %s\n", count, total, span);
    if (look->part[0] != '\0') {
        cli_text_clean(look->part, part);
        cli_text_digits(all->unwanted, count);
        fprintf(to, "Only of %s; %s other waits of that time are left out\n", part, count);
    }
    if (all->left_out > 0) {
        cli_text_digits(all->left_out, count);
        fprintf(to, "%s further events are left out: too many for one report\n", count);
    }
}

static void put_deadlocks(const struct contention *all, FILE *to)
{
    uint64_t last = 0;

    for (size_t i = 0; i < all->deadlocked_count; i++) {
        const struct contention_owner *one = &all->deadlocked[i];
        char waited[WORD_BYTES];

        if (i == 0 || one->number != last)
            fprintf(to, "\nDeadlock %" PRIu64 "\n", one->number);
        last = one->number;
        contention_time(one->waited_ns, waited);
        fputs("  ", to);
        put_name(all, one->thread, no_thread, to);
        fputs(" waits for ", to);
        put_name(all, one->lock, no_class, to);
        fprintf(to, " (0x%" PRIx64 "), which ", one->address);
        put_name(all, one->other, no_thread, to);
        fprintf(to, " has; for %s when it was found\n", waited);
        put_stack(all, one->stack, to);
    }
}

static void put_object(const struct contention *all, const struct contention_group *group,
                       const struct contention_object *object, FILE *to)
{
    char waits[32], threads[32], total[WORD_BYTES], longest[WORD_BYTES], share[WORD_BYTES];

    cli_text_digits(object->waits, waits);
    cli_text_digits(object->threads, threads);
    contention_time(object->total_ns, total);
    contention_time(object->longest_ns, longest);
    contention_share(object->total_ns, group->total_ns, share);
    fprintf(to, "%9s %10s %10s %10s %10s  #%" PRIu64, waits, total, share, longest, threads,
            contention_number(object->object));
    if (object->owners > 0) {
        fputs(object->owners > 1 ? ", mostly behind " : ", behind ", to);
        put_name(all, object->owner, no_thread, to);
    }
    if (object->owners > 1)
        fprintf(to, ", one of %" PRIu64 " owners", object->owners);
    fputs("\n", to);
}

static void put_group(const struct contention *all, const struct contention_look *look,
                      const struct contention_group *group, FILE *to)
{
    const size_t count = look->top == 0 || group->count < OBJECTS ? group->count : OBJECTS;
    char words[CONTENTION_SPREAD_BYTES], unnumbered[32];

    contention_spread(group, words);
    fputs("  ", to);
    put_name(all, group->group, no_class, to);
    fprintf(to, ": %s\n", words);
    for (size_t i = 0; i < count; i++)
        put_object(all, group, &group->objects[i], to);
    cli_text_digits(group->unnumbered, unnumbered);
    if (count < group->count)
        fprintf(to, "%55s and %zu more\n", "", group->count - count);
    if (group->unnumbered > 0)
        fprintf(to, "%55s and %s wait%s for objects without a number\n", "", unnumbered,
                group->unnumbered == 1 ? "" : "s");
}

static void put_objects(const struct contention *all, const struct contention_look *look, FILE *to)
{
    const size_t count = shown(look, all->objects.group_count);

    if (count == 0)
        return;
    fprintf(to, "\nBy object: is it one of its class, or all alike (%zu of %zu classes)\n\n", count,
            all->objects.group_count);
    fputs("    waits      total   of class    longest    threads\n", to);
    for (size_t i = 0; i < count; i++)
        put_group(all, look, &all->objects.groups[i], to);
}

static void put_convoys(const struct contention *all, const struct contention_look *look, FILE *to)
{
    const size_t count = shown(look, all->convoy_count);

    if (all->convoy_count == 0)
        return;
    fprintf(to, "\nConvoys: locks for which %d or more waited at once (%zu of %zu)\n\n",
            CONTENTION_CROWD, count, all->convoy_count);
    fputs("     time  times  most at once    waits  lock\n", to);
    for (size_t i = 0; i < count; i++) {
        const struct contention_convoy *convoy = &all->convoys[i];
        char crowded[WORD_BYTES], waits[32];

        contention_time(convoy->crowded_ns, crowded);
        cli_text_digits(convoy->waits, waits);
        fprintf(to, "%9s %6" PRIu64 " %13" PRIu64 " %8s  ", crowded, convoy->episodes, convoy->most,
                waits);
        put_name(all, convoy->lock, no_class, to);
        if (convoy->object != 0)
            fprintf(to, " #%" PRIu64, contention_number(convoy->object));
        else
            fprintf(to, " (0x%" PRIx64 ")", convoy->address);
        if (convoy->owner != 0) {
            fputs(", mostly behind ", to);
            put_name(all, convoy->owner, no_thread, to);
        }
        fputs("\n", to);
    }
}

static void put_chains(const struct contention *all, const struct contention_look *look, FILE *to)
{
    const size_t count = shown(look, all->chain_count);

    if (all->chain_count == 0)
        return;
    fprintf(to, "\nChains: who was waited for while he waited himself (%zu of %zu)\n\n", count,
            all->chain_count);
    fputs("     time    waits\n", to);
    for (size_t i = 0; i < count; i++) {
        const struct contention_chain *chain = &all->chains[i];
        char total[WORD_BYTES], waits[32];

        contention_time(chain->total_ns, total);
        cli_text_digits(chain->count, waits);
        fprintf(to, "%9s %8s  ", total, waits);
        put_name(all, chain->lock, no_class, to);
        fputs(" of ", to);
        put_name(all, chain->owner, no_thread, to);
        fputs(", who waited for ", to);
        put_name(all, chain->next_lock, no_class, to);
        fputs(" of ", to);
        put_name(all, chain->next_owner, no_thread, to);
        fputs("\n", to);
    }
}

void contention_text(const struct contention *all, const struct contention_look *look, FILE *to)
{
    put_head(all, look, to);
    put_deadlocks(all, to);
    put_table(all, look, "By lock", &all->locks, COLUMNS_LOCK, to);
    put_objects(all, look, to);
    put_table(all, look, "By where they waited", &all->sites, COLUMNS_SITE, to);
    put_table(all, look, "By who waited", &all->victims, COLUMNS_THREAD, to);
    put_table(all, look, "By who had the lock when they came", &all->holders, COLUMNS_HOLDER, to);
    put_table(all, look, "What the owners did meanwhile", &all->doings, COLUMNS_DOING, to);
    put_convoys(all, look, to);
    put_chains(all, look, to);
    put_table(all, look, "Waits for something else than a lock", &all->others, COLUMNS_SITE, to);
}

/* ---- JSON ---- */

static void put_json_name(const struct contention *all, const char *field, uint32_t number,
                          FILE *to)
{
    fprintf(to, ",\"%s\":", field);
    if (number == 0)
        fputs("null", to);
    else
        cli_text_json(contention_text_of(all, number), to);
}

static void put_json_stack(const struct contention *all, uint32_t stack, FILE *to)
{
    char line[CLI_CELL_BYTES];
    const char *separator = "";

    fputs(",\"stack\":[", to);
    for (const char *at = contention_text_of(all, stack); *at != '\0';
         at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs(separator, to);
        cli_text_json(line, to);
        separator = ",";
    }
    fputs("]", to);
}

static void put_json_held(const struct contention_row *row, FILE *to)
{
    fprintf(to,
            ",\"holds\":%" PRIu64 ",\"held_at_least_ns\":%" PRId64 ",\"holds_bounded\":%" PRIu64
            ",\"held_at_most_ns\":%" PRId64,
            row->holds, row->held_at_least_ns, row->bounded, row->held_at_most_ns);
}

static void put_json_table(const struct contention *all, const struct contention_look *look,
                           const char *name, const struct contention_table *table,
                           enum columns columns, FILE *to)
{
    fprintf(to, ",\n\"%s\":[", name);
    for (size_t i = 0; i < shown(look, table->count); i++) {
        const struct contention_row *row = &table->rows[i];

        fprintf(to,
                "%s\n{\"waits\":%" PRIu64 ",\"total_ns\":%" PRId64 ",\"median_ns\":%" PRId64
                ",\"p95_ns\":%" PRId64 ",\"p99_ns\":%" PRId64 ",\"longest_ns\":%" PRId64,
                i == 0 ? "" : ",", row->count, row->total_ns, row->median_ns, row->p95_ns,
                row->p99_ns, row->longest_ns);
        if (columns != COLUMNS_THREAD)
            put_json_name(all, "class", row->lock, to);
        if (columns != COLUMNS_LOCK && columns != COLUMNS_SITE)
            put_json_name(all, "thread", row->thread, to);
        if (columns == COLUMNS_HOLDER)
            put_json_held(row, to);
        if (columns == COLUMNS_SITE || columns == COLUMNS_DOING)
            put_json_stack(all, row->stack, to);
        fputs("}", to);
    }
    fputs("]", to);
}

static void put_json_deadlocks(const struct contention *all, FILE *to)
{
    fputs(",\n\"deadlocks\":[", to);
    for (size_t i = 0; i < all->deadlocked_count; i++) {
        const struct contention_owner *one = &all->deadlocked[i];

        fprintf(to, "%s\n{\"deadlock\":%" PRIu64 ",\"waited_ns\":%" PRId64 ",\"address\":%" PRIu64,
                i == 0 ? "" : ",", one->number, one->waited_ns, one->address);
        put_json_name(all, "thread", one->thread, to);
        put_json_name(all, "class", one->lock, to);
        put_json_name(all, "owner", one->other, to);
        put_json_stack(all, one->stack, to);
        fputs("}", to);
    }
    fputs("]", to);
}

static void put_json_convoys(const struct contention *all, const struct contention_look *look,
                             FILE *to)
{
    fputs(",\n\"convoys\":[", to);
    for (size_t i = 0; i < shown(look, all->convoy_count); i++) {
        const struct contention_convoy *convoy = &all->convoys[i];

        fprintf(to,
                "%s\n{\"time_ns\":%" PRId64 ",\"times\":%" PRIu64 ",\"most\":%" PRIu64
                ",\"waits\":%" PRIu64 ",\"address\":%" PRIu64,
                i == 0 ? "" : ",", convoy->crowded_ns, convoy->episodes, convoy->most,
                convoy->waits, convoy->address);
        if (convoy->object != 0)
            fprintf(to, ",\"instance\":%" PRIu64, contention_number(convoy->object));
        put_json_name(all, "class", convoy->lock, to);
        put_json_name(all, "owner", convoy->owner, to);
        fputs("}", to);
    }
    fputs("]", to);
}

static void put_json_object(const struct contention *all, const struct contention_object *object,
                            FILE *to)
{
    fprintf(to,
            "\n{\"instance\":%" PRIu64 ",\"process\":%" PRIu64 ",\"waits\":%" PRIu64
            ",\"total_ns\":%" PRId64 ",\"longest_ns\":%" PRId64 ",\"thread_count\":%" PRIu64
            ",\"owner_count\":%" PRIu64 ",\"owner_ns\":%" PRId64,
            contention_number(object->object), object->object >> CONTENTION_PROCESS_SHIFT,
            object->waits, object->total_ns, object->longest_ns, object->threads, object->owners,
            object->owner_ns);
    put_json_name(all, "owner", object->owner, to);
    fputs("}", to);
}

static void put_json_objects(const struct contention *all, const struct contention_look *look,
                             FILE *to)
{
    fputs(",\n\"objects\":[", to);
    for (size_t i = 0; i < shown(look, all->objects.group_count); i++) {
        const struct contention_group *group = &all->objects.groups[i];
        char words[CONTENTION_SPREAD_BYTES];

        fprintf(to,
                "%s\n{\"objects\":%zu,\"waits\":%" PRIu64 ",\"total_ns\":%" PRId64
                ",\"four_fifths\":%zu,\"unnumbered_waits\":%" PRIu64,
                i == 0 ? "" : ",", group->count, group->waits, group->total_ns, group->most,
                group->unnumbered);
        put_json_name(all, "class", group->group, to);
        contention_spread(group, words);
        fputs(",\"spread\":", to);
        cli_text_json(words, to);
        fputs(",\"busiest\":[", to);
        for (size_t j = 0; j < shown(look, group->count); j++) {
            fputs(j == 0 ? "" : ",", to);
            put_json_object(all, &group->objects[j], to);
        }
        fputs("]}", to);
    }
    fputs("]", to);
}

static void put_json_chains(const struct contention *all, const struct contention_look *look,
                            FILE *to)
{
    fputs(",\n\"chains\":[", to);
    for (size_t i = 0; i < shown(look, all->chain_count); i++) {
        const struct contention_chain *chain = &all->chains[i];

        fprintf(to, "%s\n{\"waits\":%" PRIu64 ",\"time_ns\":%" PRId64, i == 0 ? "" : ",",
                chain->count, chain->total_ns);
        put_json_name(all, "class", chain->lock, to);
        put_json_name(all, "owner", chain->owner, to);
        put_json_name(all, "next_class", chain->next_lock, to);
        put_json_name(all, "next_owner", chain->next_owner, to);
        fputs("}", to);
    }
    fputs("]", to);
}

void contention_json(const struct contention *all, const struct contention_look *look, FILE *to)
{
    fprintf(to,
            "{\"schema\":\"jaywalk.contention/1\",\n\"waits\":%" PRIu64 ",\"total_ns\":%" PRId64
            ",\"left_out\":%" PRIu64 ",\"part\":",
            all->lock_waits, all->total_ns, all->left_out);
    cli_text_json(look->part, to);
    put_json_table(all, look, "locks", &all->locks, COLUMNS_LOCK, to);
    put_json_table(all, look, "sites", &all->sites, COLUMNS_SITE, to);
    put_json_table(all, look, "victims", &all->victims, COLUMNS_THREAD, to);
    put_json_table(all, look, "owners", &all->holders, COLUMNS_HOLDER, to);
    put_json_table(all, look, "owner_stacks", &all->doings, COLUMNS_DOING, to);
    put_json_deadlocks(all, to);
    put_json_convoys(all, look, to);
    put_json_chains(all, look, to);
    put_json_table(all, look, "other_waits", &all->others, COLUMNS_SITE, to);
    put_json_objects(all, look, to);
    fputs("}\n", to);
}
