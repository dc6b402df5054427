/*
 * The table of cli_rows for other programs: csv as RFC 4180 has it, json. Times in ns. Context: tool.
 *
 * Names come from whoever calls the profiled server: no name ends its cell or string, none is a formula to a
 * spreadsheet, and none can end a script element that a page might hold the json in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_rows_internal.h"
#include "cli/cli_text_internal.h"

static const char *const cli_row_kinds[] = {
    [CLI_ROW_VALUE] = "value",
    [CLI_ROW_NO_VALUE] = "no value",
    [CLI_ROW_NO_CONTEXT] = "no context",
};
#define CLI_ROW_REST "rest"

/* A fraction of 1 in six decimals, whatever the locale writes before them. */
static void put_share(const struct cli_rows *rows, const struct cli_sum *sum, FILE *to)
{
    const uint64_t all = cli_sum_weight(rows, &rows->total);
    const double share = all == 0 ? 0 : (double)cli_sum_weight(rows, sum) / (double)all;
    const unsigned ppm = (unsigned)(share * 1e6 + 0.5);

    fprintf(to, "%u.%06u", ppm / 1000000, ppm % 1000000);
}

/* ---- csv ---- */

static void csv_text(const char *text, FILE *to)
{
    fputc('"', to);
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
        fputc('\'', to);
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"')
            fputc('"', to);
        if (byte == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0) {
            fputc(' ', to);
            text++;
            continue;
        }
        fputc(byte < 0x20 || byte == 0x7f ? ' ' : byte, to);
    }
    fputc('"', to);
}

static void csv_numbers(const struct cli_rows *rows, const struct cli_sum *sum, bool has_requests,
                        const char *hottest, FILE *to)
{
    fputc(',', to);
    if (rows->has_requests && has_requests)
        fprintf(to, "%" PRIu64, sum->requests);
    for (int clock = 0; clock < CLI_CLOCK_LIMIT; clock++) {
        fputc(',', to);
        if (rows->has_clock[clock])
            fprintf(to, "%" PRIu64, sum->samples[clock]);
        fputc(',', to);
        if (rows->is_timed[clock])
            fprintf(to, "%" PRIu64, sum->weight[clock]);
    }
    fputc(',', to);
    put_share(rows, sum, to);
    fputc(',', to);
    csv_text(hottest == NULL ? "" : hottest, to);
    fputs("\r\n", to);
}

static void csv_row(const struct cli_rows *rows, const struct cli_row *row, FILE *to)
{
    csv_text(cli_row_kinds[row->kind], to);
    for (size_t i = 0; i < rows->bys->count; i++) {
        fputc(',', to);
        csv_text(row->values[i] == NULL ? "" : row->values[i], to);
    }
    csv_numbers(rows, &row->sum, row->kind == CLI_ROW_VALUE, row->hottest, to);
}

void cli_rows_csv(const struct cli_rows *rows, FILE *to)
{
    fputs("row", to);
    for (size_t i = 0; i < rows->bys->count; i++) {
        fputc(',', to);
        csv_text(rows->bys->items[i].name, to);
    }
    fputs(",requests,cpu_samples,cpu_ns,wall_samples,wall_ns,share,hottest_frame\r\n", to);
    for (size_t i = 0; i < rows->shown; i++)
        csv_row(rows, &rows->items[i], to);
    if (rows->shown < rows->value_count) {
        csv_text(CLI_ROW_REST, to);
        for (size_t i = 0; i < rows->bys->count; i++)
            fputs(",\"\"", to);
        csv_numbers(rows, &rows->rest, true, NULL, to);
    }
    for (size_t i = rows->value_count; i < rows->count; i++)
        csv_row(rows, &rows->items[i], to);
}

/* ---- json ---- */

static void json_number(const char *name, bool is_known, uint64_t number, FILE *to)
{
    if (is_known)
        fprintf(to, ",\"%s\":%" PRIu64, name, number);
    else
        fprintf(to, ",\"%s\":null", name);
}

static void json_sum(const struct cli_rows *rows, const struct cli_sum *sum, bool has_requests,
                     FILE *to)
{
    static const char *const names[CLI_CLOCK_LIMIT][2] = {
        [CLI_CLOCK_CPU] = {"cpu_samples", "cpu_ns"},
        [CLI_CLOCK_WALL] = {"wall_samples", "wall_ns"},
    };

    json_number("requests", rows->has_requests && has_requests, sum->requests, to);
    for (int clock = 0; clock < CLI_CLOCK_LIMIT; clock++) {
        json_number(names[clock][0], rows->has_clock[clock], sum->samples[clock], to);
        json_number(names[clock][1], rows->is_timed[clock], sum->weight[clock], to);
    }
    fputs(",\"share\":", to);
    put_share(rows, sum, to);
}

static void json_row(const struct cli_rows *rows, const struct cli_row *row, FILE *to)
{
    fputs("{\"row\":", to);
    cli_text_json(cli_row_kinds[row->kind], to);
    fputs(",\"values\":[", to);
    for (size_t i = 0; i < rows->bys->count; i++) {
        fputs(i == 0 ? "" : ",", to);
        if (row->values[i] == NULL)
            fputs("null", to);
        else
            cli_text_json(row->values[i], to);
    }
    fputc(']', to);
    json_sum(rows, &row->sum, row->kind == CLI_ROW_VALUE, to);
    fputs(",\"hottest_frame\":", to);
    if (row->hottest == NULL)
        fputs("null", to);
    else
        cli_text_json(row->hottest, to);
    fputc('}', to);
}

void cli_rows_json(const struct cli_rows *rows, const char *title, const char *part, FILE *to)
{
    const char *comma = "";

    fprintf(to, "{\"event\":\"%s\",\"part\":", rows->clock == CLI_CLOCK_CPU ? "cpu" : "wall");
    cli_text_json(part, to);
    if (title[0] != '\0') {
        fputs(",\"title\":", to);
        cli_text_json(title, to);
    }
    fprintf(to, ",\"left_out_samples\":%" PRIu64 ",\"by\":[", rows->left_out);
    for (size_t i = 0; i < rows->bys->count; i++) {
        fputs(i == 0 ? "" : ",", to);
        cli_text_json(rows->bys->items[i].name, to);
    }
    fputs("],\"rows\":[", to);
    for (size_t i = 0; i < rows->count; i++) {
        if (i >= rows->shown && i < rows->value_count)
            continue;
        fprintf(to, "%s\n", comma);
        json_row(rows, &rows->items[i], to);
        comma = ",";
    }
    if (rows->shown < rows->value_count) {
        fprintf(to, "%s\n{\"row\":\"" CLI_ROW_REST "\",\"values\":[", comma);
        for (size_t i = 0; i < rows->bys->count; i++)
            fputs(i == 0 ? "null" : ",null", to);
        fputc(']', to);
        json_sum(rows, &rows->rest, true, to);
        fputs(",\"hottest_frame\":null}", to);
    }
    fputs("],\n\"total\":{\"row\":\"total\"", to);
    json_sum(rows, &rows->total, true, to);
    fputs("}}\n", to);
}
