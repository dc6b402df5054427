/* What became of live objects, in words: for people, for programs. Context: tool. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cli_leaks_internal.h"
#include "cli/cli_text_internal.h"

#define SHOWN_FRAMES 8u
#define WORD_BYTES   32u

/* "12.3 MB", "-4.0 kB", in whole numbers: no locale changes them. */
static void put_bytes(double bytes, bool is_change, char out[WORD_BYTES])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double size = bytes < 0 ? -bytes : bytes;
    size_t unit = 0;

    while (size >= 1000 && unit + 1 < JW_COUNT_OF(units)) {
        size /= 1000;
        unit++;
    }
    const uint64_t tenths = (uint64_t)(size * 10 + 0.5);
    const char *sign = bytes < 0 ? "-" : is_change ? "+" : "";

    if (unit == 0)
        snprintf(out, WORD_BYTES, "%s%" PRIu64 " B", sign, (tenths + 5) / 10);
    else
        snprintf(out, WORD_BYTES, "%s%" PRIu64 ".%u %s", sign, tenths / 10, (unsigned)(tenths % 10),
                 units[unit]);
}

/* "3.2 s", "4 min", "2.5 h" */
static void put_age(int64_t age_ns, char out[WORD_BYTES])
{
    const uint64_t tenths = age_ns < 0 ? 0 : (uint64_t)age_ns / (JW_NS_PER_SECOND / 10);

    if (tenths < 1200)
        snprintf(out, WORD_BYTES, "%" PRIu64 ".%u s", tenths / 10, (unsigned)(tenths % 10));
    else if (tenths < 72000)
        snprintf(out, WORD_BYTES, "%" PRIu64 " min", tenths / 600);
    else
        snprintf(out, WORD_BYTES, "%" PRIu64 ".%u h", tenths / 36000,
                 (unsigned)(tenths % 36000 / 3600));
}

static uint64_t rounded(double number)
{
    return number < 0 ? 0 : (uint64_t)(number + 0.5);
}

/* The innermost frame that is not of the JDK's own packages, and of its stack the first where there is none else. */
static void own_frame(const char *stack, char out[CLI_CELL_BYTES])
{
    static const char *const libraries[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
    char line[CLI_CELL_BYTES];

    out[0] = '\0';
    for (const char *at = stack; *at != '\0'; at += strcspn(at, "\n") + 1) {
        bool is_of_library = false;

        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        for (size_t i = 0; i < JW_COUNT_OF(libraries); i++)
            is_of_library |= strncmp(line, libraries[i], strlen(libraries[i])) == 0;
        if (out[0] == '\0' || !is_of_library)
            cli_text_clean(line, out);
        if (!is_of_library)
            return;
    }
}

/* ---- text ---- */

static void put_side(const struct leaks *leaks, const struct leaks_look *look, enum leaks_side side,
                     FILE *to)
{
    const struct leaks_cell *all = &leaks->all[side], *young = &leaks->young[side];
    char bytes[WORD_BYTES], young_bytes[WORD_BYTES], samples[32], path[CLI_CELL_BYTES];
    char at[32] = "";
    struct tm tm;
    const time_t seconds = (time_t)(leaks->time_ns[side] / (int64_t)JW_NS_PER_SECOND);

    if (leaks->time_ns[side] != 0 && localtime_r(&seconds, &tm) != NULL)
        strftime(at, sizeof at, " at %H:%M:%S", &tm);
    put_bytes(all->bytes, false, bytes);
    cli_text_digits(all->samples, samples);
    cli_text_clean(look->paths[side], path);
    fprintf(to, "%-7s %10s of %s sampled objects%s, %s\n",
            side == LEAKS_BEFORE ? "Before" : "After", bytes, samples, at, path);
    if (young->samples == 0)
        return;
    put_bytes(young->bytes, false, young_bytes);
    cli_text_digits(young->samples, samples);
    fprintf(to, "        %10s of %s more, too young to tell, are left out\n", young_bytes, samples);
}

static void put_figures(const struct leaks *leaks, const struct leaks_row *row, bool has_before,
                        FILE *to)
{
    const struct leaks_cell *after = &row->cells[LEAKS_AFTER];
    char before[WORD_BYTES], now[WORD_BYTES], growth[WORD_BYTES], objects[32], age[WORD_BYTES] = "";
    char pauses[48] = "";

    put_bytes(row->cells[LEAKS_BEFORE].bytes, false, before);
    put_bytes(after->bytes, false, now);
    put_bytes(leaks_growth(row), true, growth);
    cli_text_digits(rounded(after->objects), objects);
    if (after->samples > 0 && !leaks->has_no_age) {
        put_age(row->oldest_ns, age);
        snprintf(pauses, sizeof pauses, "%" PRIu64, row->oldest_pauses);
    }
    if (has_before)
        fprintf(to, "%10s %10s %10s%s ", before, now, growth, leaks_is_sure(row) ? "" : "?");
    else
        fprintf(to, "%10s ", now);
    fprintf(to, "%*s %7" PRIu64 " %8s %7s  ", has_before && !leaks_is_sure(row) ? 9 : 10, objects,
            after->samples, age, pauses);
}

static void put_head(bool has_before, FILE *to)
{
    if (has_before)
        fputs("    before      after     growth ", to);
    else
        fputs("     bytes ", to);
    fputs("   objects samples   oldest  pauses  class\n", to);
}

static size_t shown(const struct leaks_look *look, size_t count)
{
    return look->top == 0 || count < look->top ? count : look->top;
}

static void put_classes(const struct leaks *leaks, const struct leaks_look *look, FILE *to)
{
    const bool has_before = look->paths[LEAKS_BEFORE] != NULL;
    const size_t count = shown(look, leaks->classes.count);
    char name[CLI_CELL_BYTES];

    fprintf(to, "\nBy class (%zu of %zu)\n\n", count, leaks->classes.count);
    put_head(has_before, to);
    for (size_t i = 0; i < count; i++) {
        put_figures(leaks, &leaks->classes.rows[i], has_before, to);
        cli_text_clean(leaks->classes.rows[i].class_name, name);
        fprintf(to, "%s\n", name);
    }
}

static void put_stack(const char *stack, FILE *to)
{
    char line[CLI_CELL_BYTES], clean[CLI_CELL_BYTES];
    unsigned count = 0;

    for (const char *at = stack; *at != '\0'; at += strcspn(at, "\n") + 1) {
        if (count++ == SHOWN_FRAMES) {
            fputs("                at ...\n", to);
            return;
        }
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        cli_text_clean(line, clean);
        fprintf(to, "                at %s\n", clean);
    }
}

static void put_sites(const struct leaks *leaks, const struct leaks_look *look, FILE *to)
{
    const bool has_before = look->paths[LEAKS_BEFORE] != NULL;
    const size_t count = shown(look, leaks->sites.count);
    char name[CLI_CELL_BYTES];

    fprintf(to, "\nBy where they were allocated (%zu of %zu)\n\n", count, leaks->sites.count);
    put_head(has_before, to);
    for (size_t i = 0; i < count; i++) {
        put_figures(leaks, &leaks->sites.rows[i], has_before, to);
        cli_text_clean(leaks->sites.rows[i].class_name, name);
        fprintf(to, "%s\n", name);
        put_stack(leaks->sites.rows[i].stack, to);
    }
}

static void put_oldest(const struct leaks *leaks, FILE *to)
{
    if (leaks->oldest_count == 0)
        return;
    fputs(
        "\nThe oldest that were sampled\n\n       age  pauses       size  class, and where it was "
        "allocated\n",
        to);
    for (size_t i = 0; i < leaks->oldest_count; i++) {
        const struct leaks_survivor *object = &leaks->oldest[i];
        const struct leaks_row *site = &leaks->sites.rows[object->site];
        char age[WORD_BYTES], bytes[WORD_BYTES], frame[CLI_CELL_BYTES], name[CLI_CELL_BYTES];

        put_age(object->age_ns, age);
        put_bytes((double)object->size_bytes, false, bytes);
        own_frame(site->stack, frame);
        cli_text_clean(site->class_name, name);
        fprintf(to, "%10s %7" PRIu64 " %10s  %s at %s\n", age, object->pauses, bytes, name, frame);
    }
}

/* The first row that grew for sure; NULL: none. */
static const struct leaks_row *culprit(const struct leaks_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (leaks_growth(&table->rows[i]) > 0 && leaks_is_sure(&table->rows[i]))
            return &table->rows[i];
    return NULL;
}

static void put_advice(const struct leaks *leaks, const struct leaks_look *look, FILE *to)
{
    const struct leaks_row *site = culprit(&leaks->sites);
    char name[CLI_CELL_BYTES], frame[CLI_CELL_BYTES], growth[WORD_BYTES], text[3 * CLI_CELL_BYTES];

    fputs("\nWhat to look at\n\n  ", to);
    if (look->paths[LEAKS_BEFORE] == NULL)
        snprintf(text, sizeof text,
                 "One set of live objects says what fills the heap, not what grows: dump twice "
                 "('jaywalk dump -f a.jfr PID', later again as b.jfr), then 'jaywalk leaks a.jfr "
                 "b.jfr'.");
    else if (site == NULL)
        snprintf(
            text, sizeof text,
            "Nothing grew by more than chance (a growth with '?' may be chance). Let more time "
            "pass between the two, or sample more closely (alloc=64k).");
    else {
        put_bytes(leaks_growth(site), false, growth);
        own_frame(site->stack, frame);
        cli_text_clean(site->class_name, name);
        snprintf(
            text, sizeof text,
            "%s of %s more, allocated at %s: who keeps them? Look at where that method puts them "
            "(maps, lists, caches, listeners without an end); a heap dump ('jcmd PID "
            "GC.heap_dump') shows the paths to what holds them.",
            growth, name, frame);
    }
    cli_text_put_wrapped(text, 2, to);
}

void leaks_text(const struct leaks *leaks, const struct leaks_look *look, FILE *to)
{
    fputs("Live objects of those allocated while it was recorded\n\n", to);
    if (look->paths[LEAKS_BEFORE] != NULL)
        put_side(leaks, look, LEAKS_BEFORE, to);
    put_side(leaks, look, LEAKS_AFTER, to);
    put_classes(leaks, look, to);
    put_sites(leaks, look, to);
    put_oldest(leaks, to);
    put_advice(leaks, look, to);
}

/* ---- JSON ---- */

static void put_number(const char *name, double number, FILE *to)
{
    fprintf(to, ",\"%s\":%s%" PRIu64, name, number < 0 ? "-" : "",
            rounded(number < 0 ? -number : number));
}

static void put_json_side(const struct leaks *leaks, const struct leaks_look *look,
                          enum leaks_side side, FILE *to)
{
    if (look->paths[side] == NULL) {
        fputs("null", to);
        return;
    }
    fputs("{\"path\":", to);
    cli_text_json(look->paths[side], to);
    fprintf(to, ",\"time_ns\":%" PRId64, leaks->time_ns[side]);
    put_number("bytes", leaks->all[side].bytes, to);
    put_number("objects", leaks->all[side].objects, to);
    put_number("samples", (double)leaks->all[side].samples, to);
    put_number("young_bytes", leaks->young[side].bytes, to);
    put_number("young_samples", (double)leaks->young[side].samples, to);
    fputs("}", to);
}

static void put_json_stack(const char *stack, FILE *to)
{
    char line[CLI_CELL_BYTES];
    const char *separator = "";

    fputs(",\"stack\":[", to);
    for (const char *at = stack; *at != '\0'; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs(separator, to);
        cli_text_json(line, to);
        separator = ",";
    }
    fputs("]", to);
}

static void put_json_rows(const char *name, const struct leaks_table *table,
                          const struct leaks_look *look, FILE *to)
{
    fprintf(to, ",\n\"%s\":[", name);
    for (size_t i = 0; i < shown(look, table->count); i++) {
        const struct leaks_row *row = &table->rows[i];

        fputs(i == 0 ? "\n{\"class\":" : ",\n{\"class\":", to);
        cli_text_json(row->class_name, to);
        put_number("before_bytes", row->cells[LEAKS_BEFORE].bytes, to);
        put_number("after_bytes", row->cells[LEAKS_AFTER].bytes, to);
        put_number("growth_bytes", leaks_growth(row), to);
        fprintf(to, ",\"is_sure\":%s", leaks_is_sure(row) ? "true" : "false");
        put_number("before_objects", row->cells[LEAKS_BEFORE].objects, to);
        put_number("after_objects", row->cells[LEAKS_AFTER].objects, to);
        put_number("before_samples", (double)row->cells[LEAKS_BEFORE].samples, to);
        put_number("after_samples", (double)row->cells[LEAKS_AFTER].samples, to);
        put_number("oldest_pauses", (double)row->oldest_pauses, to);
        put_number("oldest_ns", (double)row->oldest_ns, to);
        if (row->stack != NULL)
            put_json_stack(row->stack, to);
        fputs("}", to);
    }
    fputs("]", to);
}

void leaks_json(const struct leaks *leaks, const struct leaks_look *look, FILE *to)
{
    fputs("{\"schema\":\"jaywalk.leaks/1\",\n\"before\":", to);
    put_json_side(leaks, look, LEAKS_BEFORE, to);
    fputs(",\n\"after\":", to);
    put_json_side(leaks, look, LEAKS_AFTER, to);
    put_json_rows("classes", &leaks->classes, look, to);
    put_json_rows("sites", &leaks->sites, look, to);
    fputs(",\n\"oldest\":[", to);
    for (size_t i = 0; i < leaks->oldest_count; i++) {
        const struct leaks_survivor *object = &leaks->oldest[i];

        fputs(i == 0 ? "\n{\"class\":" : ",\n{\"class\":", to);
        cli_text_json(leaks->sites.rows[object->site].class_name, to);
        put_number("age_ns", (double)object->age_ns, to);
        put_number("pauses", (double)object->pauses, to);
        put_number("size_bytes", (double)object->size_bytes, to);
        put_json_stack(leaks->sites.rows[object->site].stack, to);
        fputs("}", to);
    }
    fputs("]}\n", to);
}
