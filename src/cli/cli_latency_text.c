/* Times of methods and requests in words: for people, for programs. Context: tool. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_latency_internal.h"
#include "cli/cli_text_internal.h"

#define WORD_BYTES 32u

static const struct {
    unsigned thousandths;
    const char *title, *field;
} columns[] = {{500, "p50", "p50_ns"},
               {900, "p90", "p90_ns"},
               {990, "p99", "p99_ns"},
               {999, "p99.9", "p99_9_ns"}};

static const struct {
    const char *title, *things, *of, *several, *list, *field, *number;
} kinds[LATENCY_KINDS] = {
    [LATENCY_ALL] = {"All calls", "calls", "method", "methods", "methods", "method", "calls"},
    [LATENCY_COUNTED] = {"Counted calls", "calls", "method", "methods", "counted", "method",
                         "calls"},
    [LATENCY_MADE] = {"Objects made", "objects", "class in method", "classes in methods", "made",
                      "made", "objects"},
    [LATENCY_SPANS] = {"Requests by endpoint, and spans by name", "calls", "endpoint or span",
                       "names", "spans", "span", "calls"},
    [LATENCY_TRACED] = {"Traced calls: those that took as long as trace= says", "calls", "method",
                        "methods", "traced", "method", "calls"},
    [LATENCY_QUEUED] = {"Tasks that waited for a thread of their executor as long as queue= says",
                        "tasks", "task in executor", "classes", "queued", "task", "calls"},
};

/* Of what is told of from some time on it is not known how many there were, nor of a part in how much time. */
static bool has_rate(enum latency_kind kind, const struct latency_wish *wish)
{
    return kind != LATENCY_TRACED && kind != LATENCY_QUEUED && wish->words[0] == '\0';
}

/* The sums of all calls are not taken apart. */
static bool has_boxes(enum latency_kind kind, const struct latency_wish *wish)
{
    return latency_is_single(kind) && wish->bys.count > 0;
}

/* "12.3ms", in whole numbers: no locale changes them. */
static void put_time(uint64_t ns, FILE *to)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
    char word[WORD_BYTES];

    snprintf(word, sizeof word, "%" PRIu64 "ns", ns);
    for (size_t i = 0; i < JW_COUNT_OF(units); i++) {
        if (ns < units[i].ns)
            continue;
        const uint64_t hundredths = ns / (units[i].ns / 100);
        snprintf(word, sizeof word, "%" PRIu64 ".%02u%s", hundredths / 100,
                 (unsigned)(hundredths % 100), units[i].name);
        break;
    }
    fprintf(to, " %10s", word);
}

/* What took most in all comes first, and where times are not known what was called most. */
static int compare(const void *a, const void *b)
{
    const struct latency_row *one = *(struct latency_row *const *)a;
    const struct latency_row *other = *(struct latency_row *const *)b;

    if (one->kind != other->kind)
        return one->kind > other->kind ? 1 : -1;
    if (one->all.total_ns != other->all.total_ns)
        return one->all.total_ns < other->all.total_ns ? 1 : -1;
    if (latency_is_count(one->kind) && one->all.count != other->all.count)
        return one->all.count < other->all.count ? 1 : -1;
    const int order = strcmp(one->name, other->name);
    return order != 0 ? order : strcmp(one->boxes, other->boxes);
}

/* Calls of a second, in hundredths. */
static uint64_t rate_of(const struct latency *all, const struct latency_row *row)
{
    const uint64_t elapsed_ns = row->kind == LATENCY_SPANS ? all->recorded_ns : row->all.elapsed_ns;

    return elapsed_ns == 0
               ? 0
               : (uint64_t)((unsigned __int128)row->all.count * 100000000000u / elapsed_ns);
}

static void put_times(const struct latency_figures *figures, FILE *to)
{
    put_time(figures->total_ns, to);
    put_time(figures->total_ns / figures->count, to);
    for (size_t i = 0; i < JW_COUNT_OF(columns); i++)
        put_time(latency_percentile_ns(figures, columns[i].thousandths), to);
    put_time(figures->most_ns, to);
}

static void put_head(enum latency_kind kind, const struct latency_wish *wish, FILE *to)
{
    fprintf(to, "%12s%s", kinds[kind].things, has_rate(kind, wish) ? "   per second" : "");
    if (!latency_is_count(kind))
        fprintf(to, " %10s %10s %10s %10s %10s %10s %10s", "total", "mean", columns[0].title,
                columns[1].title, columns[2].title, columns[3].title, "max");
    fprintf(to, "  %s", kinds[kind].of);
    for (size_t i = 0; has_boxes(kind, wish) && i < wish->bys.count; i++)
        fprintf(to, "%s%s", i == 0 ? " (" : ", ", wish->bys.items[i].name);
    fputs(has_boxes(kind, wish) ? ")\n" : "\n", to);
}

/* The box at `*at`, which goes on behind it; false: there is none. */
static bool next_box(const char **at, char box[CLI_CELL_BYTES])
{
    const size_t length = *at == NULL ? 0 : strcspn(*at, (const char[]){LATENCY_BOX, '\0'});

    if (*at == NULL)
        return false;
    snprintf(box, CLI_CELL_BYTES, "%.*s", (int)length, *at);
    *at = (*at)[length] == '\0' ? NULL : *at + length + 1;
    return true;
}

static void put_boxes(const struct latency_row *row, FILE *to)
{
    const char *at = row->boxes[0] == '\0' ? NULL : row->boxes;
    char box[CLI_CELL_BYTES], clean[CLI_CELL_BYTES];

    for (size_t i = 0; next_box(&at, box); i++) {
        cli_text_clean(box, clean);
        fprintf(to, "%s%s", i == 0 ? " (" : ", ", clean);
    }
    if (row->boxes[0] != '\0')
        fputc(')', to);
}

static void put_row(const struct latency *all, const struct latency_row *row,
                    const struct latency_wish *wish, FILE *to)
{
    const struct latency_figures *figures = &row->all;
    const uint64_t rate = rate_of(all, row);
    char name[CLI_CELL_BYTES];

    fprintf(to, "%12" PRIu64, figures->count);
    if (has_rate(row->kind, wish))
        fprintf(to, " %9" PRIu64 ".%02u", rate / 100, (unsigned)(rate % 100));
    if (!latency_is_count(row->kind))
        put_times(figures, to);
    cli_text_clean(row->name, name);
    fprintf(to, "  %s", name);
    put_boxes(row, to);
    fputc('\n', to);
}

static void put_table(struct latency *all, enum latency_kind kind, const struct latency_wish *wish,
                      FILE *to)
{
    const size_t top = wish->top;
    size_t shown = 0, count = 0;

    for (size_t i = 0; i < all->count; i++)
        count += all->rows[i]->kind == kind && all->rows[i]->all.count != 0;
    if (count == 0)
        return;
    fprintf(to, "%s\n\n", kinds[kind].title);
    put_head(kind, wish, to);
    for (size_t i = 0; i < all->count && (top == 0 || shown < top); i++) {
        if (all->rows[i]->kind != kind || all->rows[i]->all.count == 0)
            continue;
        put_row(all, all->rows[i], wish, to);
        shown++;
    }
    if (shown < count)
        fprintf(to, "%zu of %zu %s; --top=0 shows all\n", shown, count, kinds[kind].several);
    fputc('\n', to);
}

static void sort(struct latency *all)
{
    if (all->count != 0)
        qsort(all->rows, all->count, sizeof(struct latency_row *), compare);
}

void latency_text(struct latency *all, const struct latency_wish *wish, FILE *to)
{
    sort(all);
    if (wish->words[0] != '\0')
        fprintf(to,
                "Only %s; without sums of all calls and objects (time=, count=, event=new:), which "
                "have no such parts\n\n",
                wish->words);
    for (int kind = 0; kind < LATENCY_KINDS; kind++)
        put_table(all, (enum latency_kind)kind, wish, to);
    if (all->left_out != 0)
        fprintf(to, "%" PRIu64 " events are of names beyond the first %u, and left out\n",
                all->left_out, LATENCY_ROWS);
}

static void put_json_boxes(const struct latency_row *row, const struct cli_bys *bys, FILE *to)
{
    const char *at = row->boxes[0] == '\0' ? NULL : row->boxes;
    char box[CLI_CELL_BYTES];

    if (at == NULL)
        return;
    for (size_t i = 0; i < bys->count && next_box(&at, box); i++) {
        fputs(i == 0 ? ",\"by\":{" : ",", to);
        cli_text_json(bys->items[i].name, to);
        fputc(':', to);
        cli_text_json(box, to);
    }
    fputc('}', to);
}

static void put_json_row(const struct latency *all, const struct latency_row *row,
                         const struct latency_wish *wish, FILE *to)
{
    const struct latency_figures *figures = &row->all;
    const uint64_t rate = rate_of(all, row);

    fprintf(to, "{\"%s\":", kinds[row->kind].field);
    cli_text_json(row->name, to);
    put_json_boxes(row, &wish->bys, to);
    fprintf(to, ",\"%s\":%" PRIu64, kinds[row->kind].number, figures->count);
    if (!latency_is_count(row->kind))
        fprintf(to, ",\"total_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64, figures->total_ns,
                figures->least_ns);
    if (has_rate(row->kind, wish))
        fprintf(to, ",\"per_second\":%" PRIu64 ".%02u", rate / 100, (unsigned)(rate % 100));
    if (latency_is_count(row->kind)) {
        fputc('}', to);
        return;
    }
    for (size_t i = 0; i < JW_COUNT_OF(columns); i++)
        fprintf(to, ",\"%s\":%" PRIu64, columns[i].field,
                latency_percentile_ns(figures, columns[i].thousandths));
    fprintf(to, ",\"max_ns\":%" PRIu64 "}", figures->most_ns);
}

static void put_json_rows(const struct latency *all, enum latency_kind kind,
                          const struct latency_wish *wish, FILE *to)
{
    const size_t top = wish->top;
    size_t shown = 0;

    fprintf(to, ",\n\"%s\":[", kinds[kind].list);
    for (size_t i = 0; i < all->count && (top == 0 || shown < top); i++) {
        if (all->rows[i]->kind != kind || all->rows[i]->all.count == 0)
            continue;
        fputs(shown++ == 0 ? "\n" : ",\n", to);
        put_json_row(all, all->rows[i], wish, to);
    }
    fputc(']', to);
}

void latency_json(struct latency *all, const struct latency_wish *wish, FILE *to)
{
    sort(all);
    fputs("{\"schema\":\"jaywalk.latency/1\"", to);
    if (wish->words[0] != '\0') {
        fputs(",\n\"part\":", to);
        cli_text_json(wish->words, to);
    }
    fprintf(to, ",\n\"left_out\":%" PRIu64, all->left_out);
    for (int kind = 0; kind < LATENCY_KINDS; kind++)
        put_json_rows(all, (enum latency_kind)kind, wish, to);
    fputs("}\n", to);
}
