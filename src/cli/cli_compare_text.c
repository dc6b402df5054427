/* What became of methods from one profile to another, in words: for people, for a review, for programs. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_compare_internal.h"
#include "cli/cli_text_internal.h"

#define FIGURE_BYTES 24

/* 0.0512 as "5.12", in whole numbers: no locale changes them. */
static void put_hundredths(double figure, bool is_change, char out[FIGURE_BYTES])
{
    const double scaled = figure * 10000;
    const double bounded = scaled > 1e15 ? 1e15 : scaled < -1e15 ? -1e15 : scaled;
    const int64_t hundredths = (int64_t)(bounded + (bounded < 0 ? -0.5 : 0.5));
    const uint64_t size = hundredths < 0 ? 0 - (uint64_t)hundredths : (uint64_t)hundredths;

    snprintf(out, FIGURE_BYTES, "%s%" PRIu64 ".%02u",
             hundredths < 0 ? "-"
             : is_change    ? "+"
                            : "",
             size / 100, (unsigned)(size % 100));
}

static const char *what_of(enum compare_per per)
{
    return per == COMPARE_PER_SHARE    ? "shares of all samples of each side"
           : per == COMPARE_PER_SECOND ? "parts of what all of the side before took a second"
                                       : "parts of what all of the side before took";
}

/* What a method has by itself; of bytes, the class of what was allocated. */
static const char *own_of(const struct compare *compare)
{
    return strcmp(compare->unit, "bytes") == 0 ? "bytes" : "time of their own";
}

static double weight_of(const struct compare *compare, unsigned side)
{
    double sum = 0;

    for (unsigned i = 0; i < COMPARE_SLICES; i++)
        sum += compare->whole[side][i];
    return sum;
}

/* "2.62 s in 2.98 s, 2,365 samples" */
static void put_side(const struct compare *compare, unsigned side, FILE *to)
{
    char samples[32], number[FIGURE_BYTES];

    if (strcmp(compare->unit, "samples") != 0) {
        const bool is_time = strcmp(compare->unit, "ns") == 0;

        /* Seconds and megabytes, not percent. */
        put_hundredths(weight_of(compare, side) / (is_time ? 1e11 : 1e8), false, number);
        fprintf(to, "%s %s of samples in ", number, is_time ? "s" : "MB");
    }
    put_hundredths(compare->seconds[side] / 100, false, number);
    cli_text_digits(compare->samples[side], samples);
    fprintf(to, "%s s, %s samples", number, samples);
}

/* Of methods in the order of their change: the surely larger ones, or from the other end the smaller ones. */
static const struct compare_method *sure_at(const struct compare *compare, bool is_growth, size_t n)
{
    for (size_t i = 0; i < compare->count; i++) {
        const struct compare_method *method =
            &compare->methods[is_growth ? i : compare->count - 1 - i];

        if ((is_growth ? method->self.low > 0 : method->self.high < 0) && n-- == 0)
            return method;
    }
    return NULL;
}

static const struct compare_method *beyond_at(const struct compare *compare, double limit, size_t n)
{
    for (size_t i = 0; i < compare->count; i++) {
        if (compare_grew(&compare->methods[i].total, limit) && n-- == 0)
            return &compare->methods[i];
    }
    return NULL;
}

/* ---- text ---- */

static void put_figure(const struct compare_figure *figure, FILE *to)
{
    char before[FIGURE_BYTES], after[FIGURE_BYTES], change[FIGURE_BYTES], low[FIGURE_BYTES],
        high[FIGURE_BYTES];

    put_hundredths(figure->before, false, before);
    put_hundredths(figure->after, false, after);
    put_hundredths(compare_change(figure), true, change);
    put_hundredths(figure->low, true, low);
    put_hundredths(figure->high, true, high);
    fprintf(to, "%8s %8s %8s  %7s to %7s", before, after, change, low, high);
}

static void put_method(const struct compare_method *method, bool is_total, FILE *to)
{
    char name[CLI_CELL_BYTES];

    put_figure(is_total ? &method->total : &method->self, to);
    cli_text_clean(method->name, name);
    fprintf(to, "  %s%s\n", name, method->samples < 10 ? "  (few samples)" : "");
}

static void put_table(const struct compare *compare, const struct compare_look *look,
                      bool is_growth, FILE *to)
{
    size_t count = 0;

    while (sure_at(compare, is_growth, count) != NULL)
        count++;
    fprintf(to, "\n%s, by %s (%zu for sure)\n", is_growth ? "More of it in" : "Less of it in",
            own_of(compare), count);
    if (count == 0)
        return;
    fputs("\n  before    after   change     99 in 100       method\n", to);
    for (size_t i = 0; i < count && (look->top == 0 || i < look->top); i++)
        put_method(sure_at(compare, is_growth, i), false, to);
    if (look->top != 0 && count > look->top)
        fprintf(to, "  and %zu more; --top=0 shows all\n", count - look->top);
}

static void put_verdict(const struct compare *compare, const struct compare_look *look, FILE *to)
{
    char limit[FIGURE_BYTES];
    size_t count = 0;

    put_hundredths(look->limit, false, limit);
    while (beyond_at(compare, look->limit, count) != NULL)
        count++;
    if (count > 0) {
        fprintf(to, "\nBeyond %s %%, with what they call\n\n", limit);
        fputs("  before    after   change     99 in 100       method\n", to);
        for (size_t i = 0; i < count && (look->top == 0 || i < look->top); i++)
            put_method(beyond_at(compare, look->limit, i), true, to);
    }
    fprintf(to, "\n%s: ", look->is_failed ? "FAILED" : "OK");
    if (count > 0)
        fprintf(to, "%zu %s by %s %% or more\n", count, count == 1 ? "method grew" : "methods grew",
                limit);
    else if (look->is_failed)
        fprintf(to, "all of it grew by %s %% or more\n", limit);
    else
        fprintf(to, "no method grew by %s %% or more, for sure\n", limit);
}

static void put_all(const struct compare *compare, FILE *to)
{
    if (compare->per == COMPARE_PER_SHARE)
        return;
    fputs("\nAll of it\n\n", to);
    fputs("  before    after   change     99 in 100\n", to);
    put_figure(&compare->all, to);
    fputc('\n', to);
}

void compare_text(const struct compare *compare, const struct compare_look *look, FILE *to)
{
    static const char *const names[] = {"Before", "After"};
    char text[CLI_CELL_BYTES];

    fprintf(to, "%s, before and after%s%s\n\n", look->title, look->part[0] == '\0' ? "" : ": ",
            look->part);
    for (unsigned side = 0; side < COMPARE_SIDES; side++) {
        cli_text_clean(look->paths[side], text);
        fprintf(to, "%-9s ", names[side]);
        put_side(compare, side, to);
        fprintf(to, ": %s\n", text);
    }
    fprintf(to, "%-9s %%, %s; changes and the range of 99 in 100 draws of slices of time\n",
            "Figures", what_of(compare->per));
    put_all(compare, to);
    put_table(compare, look, true, to);
    put_table(compare, look, false, to);
    if (look->limit > 0)
        put_verdict(compare, look, to);
}

/* ---- Markdown, for a review ---- */

static void put_code(const char *text, FILE *to)
{
    char clean[CLI_CELL_BYTES];

    cli_text_clean(text, clean);
    fputc('`', to);
    for (const char *at = clean; *at != '\0'; at++) {
        if (*at == '|')
            fputs("\\|", to);
        else
            fputc(*at == '`' ? '\'' : *at, to);
    }
    fputc('`', to);
}

static void put_markdown_row(const struct compare_method *method, bool is_total, FILE *to)
{
    const struct compare_figure *figure = is_total ? &method->total : &method->self;
    char before[FIGURE_BYTES], after[FIGURE_BYTES], change[FIGURE_BYTES], low[FIGURE_BYTES],
        high[FIGURE_BYTES];

    put_hundredths(figure->before, false, before);
    put_hundredths(figure->after, false, after);
    put_hundredths(compare_change(figure), true, change);
    put_hundredths(figure->low, true, low);
    put_hundredths(figure->high, true, high);
    fputs("| ", to);
    put_code(method->name, to);
    fprintf(to, " | %s %% | %s %% | **%s %%** | %s to %s |\n", before, after, change, low, high);
}

#define MARKDOWN_HEAD                                                                              \
    "| method | before | after | change | 99 in 100 |\n"                                           \
    "|---|---:|---:|---:|---|\n"

static void put_markdown_table(const struct compare *compare, const struct compare_look *look,
                               bool is_growth, FILE *to)
{
    if (sure_at(compare, is_growth, 0) == NULL) {
        fprintf(to, "\nNothing runs %s for sure.\n", is_growth ? "more" : "less");
        return;
    }
    fprintf(to, "\n**%s**, by %s\n\n" MARKDOWN_HEAD, is_growth ? "More" : "Less", own_of(compare));
    for (size_t i = 0; look->top == 0 || i < look->top; i++) {
        const struct compare_method *method = sure_at(compare, is_growth, i);

        if (method == NULL)
            return;
        put_markdown_row(method, false, to);
    }
}

void compare_markdown(const struct compare *compare, const struct compare_look *look, FILE *to)
{
    char limit[FIGURE_BYTES];

    fprintf(to, "### %s, before and after%s%s\n\n", look->title, look->part[0] == '\0' ? "" : ": ",
            look->part);
    if (look->limit > 0) {
        put_hundredths(look->limit, false, limit);
        fprintf(to,
                look->is_failed ? ":x: grew by %s %% or more\n\n"
                                : ":white_check_mark: nothing grew by %s %% or more, for sure\n\n",
                limit);
    }
    for (unsigned side = 0; side < COMPARE_SIDES; side++) {
        fprintf(to, "- %s ", side == COMPARE_BEFORE ? "before:" : "after:");
        put_code(look->paths[side], to);
        fputs(", ", to);
        put_side(compare, side, to);
        fputc('\n', to);
    }
    fprintf(to, "- figures: %s\n", what_of(compare->per));
    if (look->limit > 0 && beyond_at(compare, look->limit, 0) != NULL) {
        fprintf(to, "\n**Beyond %s %%**, with what they call\n\n" MARKDOWN_HEAD, limit);
        for (size_t i = 0; look->top == 0 || i < look->top; i++) {
            const struct compare_method *method = beyond_at(compare, look->limit, i);

            if (method == NULL)
                break;
            put_markdown_row(method, true, to);
        }
    }
    put_markdown_table(compare, look, true, to);
    put_markdown_table(compare, look, false, to);
}

/* ---- json ---- */

/* A fraction of 1 in six decimals. */
static void json_fraction(double figure, FILE *to)
{
    const double scaled = figure * 1e6;
    const double bounded = scaled > 1e15 ? 1e15 : scaled < -1e15 ? -1e15 : scaled;
    const int64_t millionths = (int64_t)(bounded + (bounded < 0 ? -0.5 : 0.5));
    const uint64_t size = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;

    fprintf(to, "%s%" PRIu64 ".%06u", millionths < 0 ? "-" : "", size / 1000000,
            (unsigned)(size % 1000000));
}

static void json_figure(const char *name, const struct compare_figure *figure, FILE *to)
{
    fprintf(to, ",\"%s\":{\"before\":", name);
    json_fraction(figure->before, to);
    fputs(",\"after\":", to);
    json_fraction(figure->after, to);
    fputs(",\"low\":", to);
    json_fraction(figure->low, to);
    fputs(",\"high\":", to);
    json_fraction(figure->high, to);
    fprintf(to, ",\"sure\":%s}", compare_is_sure(figure) ? "true" : "false");
}

static void json_side(const struct compare *compare, const struct compare_look *look, unsigned side,
                      FILE *to)
{
    fprintf(to, ",\"%s\":{\"file\":", side == COMPARE_BEFORE ? "before" : "after");
    cli_text_json(look->paths[side], to);
    fprintf(to, ",\"samples\":%" PRIu64 ",\"value\":%" PRIu64 ",\"duration_ns\":%" PRIu64 "}",
            compare->samples[side], (uint64_t)weight_of(compare, side),
            (uint64_t)(compare->seconds[side] * 1e9));
}

void compare_json(const struct compare *compare, const struct compare_look *look, FILE *to)
{
    static const char *const pers[] = {"share", "second", "run"};

    fprintf(to, "{\"schema\":\"jaywalk.compare/1\",\"per\":\"%s\",\"unit\":", pers[compare->per]);
    cli_text_json(compare->unit, to);
    fputs(",\"title\":", to);
    cli_text_json(look->title, to);
    fputs(",\"part\":", to);
    cli_text_json(look->part, to);
    for (unsigned side = 0; side < COMPARE_SIDES; side++)
        json_side(compare, look, side, to);
    if (look->limit > 0) {
        fputs(",\"limit\":", to);
        json_fraction(look->limit, to);
        fprintf(to, ",\"failed\":%s", look->is_failed ? "true" : "false");
    }
    json_figure("all", &compare->all, to);
    fputs(",\"methods\":[", to);
    for (size_t i = 0; i < compare->count; i++) {
        const struct compare_method *method = &compare->methods[i];

        fprintf(to, "%s{\"method\":", i == 0 ? "" : ",");
        cli_text_json(method->name, to);
        fprintf(to, ",\"samples\":%" PRIu64, method->samples);
        json_figure("self", &method->self, to);
        json_figure("total", &method->total, to);
        fputc('}', to);
    }
    fputs("]}\n", to);
}
