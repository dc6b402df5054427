/* The table of cli_rows as text: columns, on a terminal as wide as that. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_rows_internal.h"
#include "cli/cli_text_internal.h"

#define CLI_NAME_LEAST 16 /* columns that a name has on a terminal, however narrow */

/* "12.34 s", "-" where no sample says its time. */
static void time_text(uint64_t ns, bool is_timed, char out[48])
{
    char whole[32];
    const uint64_t hundredths = ns / 10000000 + (ns % 10000000 >= 5000000);

    cli_text_digits(hundredths / 100, whole);
    if (is_timed)
        snprintf(out, 48, "%s.%02u s", whole, (unsigned)(hundredths % 100));
    else
        snprintf(out, 48, "-");
}

/* Columns of numbers, and what stands above them. */
enum number { NUMBER_REQUESTS, NUMBER_SAMPLES, NUMBER_CPU, NUMBER_WALL, NUMBER_LIMIT };

static const char *const number_heads[NUMBER_LIMIT] = {
    [NUMBER_REQUESTS] = "requests",
    [NUMBER_SAMPLES] = "samples",
    [NUMBER_CPU] = "CPU time",
    [NUMBER_WALL] = "wall time",
};

struct layout {
    const struct cli_rows *rows;
    FILE *to;
    size_t widths[PROFILE_ROOTS_LIMIT]; /* 0: the column is not shown */
    size_t number_widths[NUMBER_LIMIT]; /* likewise */
    size_t hottest_width;               /* 0: as wide as it is */
};

static void number_text(const struct cli_rows *rows, const struct cli_sum *sum, enum number number,
                        char out[48])
{
    switch (number) {
    case NUMBER_REQUESTS:
        cli_text_digits(sum->requests, out);
        break;
    case NUMBER_SAMPLES:
        cli_text_digits(sum->samples[rows->clock], out);
        break;
    case NUMBER_CPU:
        time_text(sum->weight[CLI_CLOCK_CPU], rows->is_timed[CLI_CLOCK_CPU], out);
        break;
    case NUMBER_WALL:
        time_text(sum->weight[CLI_CLOCK_WALL], rows->is_timed[CLI_CLOCK_WALL], out);
        break;
    case NUMBER_LIMIT:
        break;
    }
}

static void put_numbers(const struct layout *layout, const struct cli_sum *sum, bool has_requests)
{
    const struct cli_rows *rows = layout->rows;
    char share[CLI_SHARE_BYTES];

    for (int number = 0; number < NUMBER_LIMIT; number++) {
        char text[48] = "-";

        if (layout->number_widths[number] == 0)
            continue;
        if (number != NUMBER_REQUESTS || has_requests)
            number_text(rows, sum, (enum number)number, text);
        fprintf(layout->to, "%*s%*s", (int)layout->number_widths[number], text, CLI_GAP, "");
    }
    cli_text_share(cli_sum_weight(rows, sum), cli_sum_weight(rows, &rows->total), share);
    fputs(share, layout->to);
}

/* A sum has the most digits of its column. */
static void measure_numbers(struct layout *layout)
{
    const struct cli_rows *rows = layout->rows;
    const bool is_shown[NUMBER_LIMIT] = {
        [NUMBER_REQUESTS] = rows->has_requests,
        [NUMBER_SAMPLES] = true,
        [NUMBER_CPU] = rows->has_clock[CLI_CLOCK_CPU],
        [NUMBER_WALL] = rows->has_clock[CLI_CLOCK_WALL],
    };

    for (int number = 0; number < NUMBER_LIMIT; number++) {
        char text[48];

        number_text(rows, &rows->total, (enum number)number, text);
        const size_t head = strlen(number_heads[number]);
        const size_t sum = strlen(text);
        layout->number_widths[number] = !is_shown[number] ? 0 : sum > head ? sum : head;
    }
}

static void cell_of(const struct cli_rows *rows, const struct cli_row *row, size_t column,
                    char out[CLI_CELL_BYTES])
{
    if (row->values[column] != NULL)
        cli_text_clean(row->values[column], out);
    else
        cli_row_lack(rows, row, column, out, CLI_CELL_BYTES);
}

static void put_row(const struct layout *layout, const struct cli_row *row)
{
    char cell[CLI_CELL_BYTES];

    for (size_t i = 0; i < layout->rows->bys->count; i++) {
        cell_of(layout->rows, row, i, cell);
        if (layout->widths[i] > 0)
            cli_text_put_cell(cell, layout->widths[i], false, layout->to);
    }
    put_numbers(layout, &row->sum, row->kind == CLI_ROW_VALUE);
    if (row->hottest != NULL) {
        cli_text_clean(row->hottest, cell);
        fprintf(layout->to, "%*s", CLI_GAP, "");
        cli_text_put_cell(cell, layout->hottest_width, true, layout->to);
    }
    fputc('\n', layout->to);
}

static void put_sum(const struct layout *layout, const char *name, const struct cli_sum *sum)
{
    bool is_first = true;

    for (size_t i = 0; i < layout->rows->bys->count; i++) {
        if (layout->widths[i] == 0)
            continue;
        cli_text_put_cell(is_first ? name : "", layout->widths[i], false, layout->to);
        is_first = false;
    }
    put_numbers(layout, sum, true);
    fputc('\n', layout->to);
}

static bool is_row_shown(const struct cli_rows *rows, size_t number)
{
    return number < rows->shown || number >= rows->value_count;
}

static void rest_name(const struct cli_rows *rows, char *text, size_t room)
{
    snprintf(text, room, "[%zu more]", rows->value_count - rows->shown);
}

/* Each column as wide as its widest cell; none for operations where there are none. */
static void measure(struct layout *layout)
{
    const struct cli_rows *rows = layout->rows;
    char cell[CLI_CELL_BYTES];

    for (size_t column = 0; column < rows->bys->count; column++) {
        const struct cli_by *by = &rows->bys->items[column];
        bool is_empty = by->kind == CLI_BY_OPERATION && rows->bys->count > 1;

        layout->widths[column] = cli_text_width(by->name);
        for (size_t i = 0; i < rows->count; i++) {
            cell_of(rows, &rows->items[i], column, cell);
            is_empty = is_empty && cell[0] == '\0';
            if (is_row_shown(rows, i) && cli_text_width(cell) > layout->widths[column])
                layout->widths[column] = cli_text_width(cell);
        }
        if (is_empty)
            layout->widths[column] = 0;
        rest_name(rows, cell, sizeof cell);
        if (column == 0 && rows->shown < rows->value_count &&
            cli_text_width(cell) > layout->widths[column])
            layout->widths[column] = cli_text_width(cell);
    }
}

/* The widest names give up columns until the rest of the line has its share of the terminal. */
static void fit(struct layout *layout, size_t columns)
{
    const struct cli_rows *rows = layout->rows;
    size_t numbers = sizeof "100.00 %" - 1 + CLI_GAP;
    size_t names = 0;

    for (int number = 0; number < NUMBER_LIMIT; number++)
        numbers += layout->number_widths[number] == 0 ? 0 : layout->number_widths[number] + CLI_GAP;
    for (size_t i = 0; i < rows->bys->count; i++)
        names += layout->widths[i] == 0 ? 0 : layout->widths[i] + CLI_GAP;

    const size_t room =
        columns > numbers + 2 * CLI_NAME_LEAST ? columns - numbers : 2 * CLI_NAME_LEAST;
    while (names > room * 3 / 5) {
        size_t widest = 0;

        for (size_t i = 1; i < rows->bys->count; i++)
            widest = layout->widths[i] > layout->widths[widest] ? i : widest;
        if (layout->widths[widest] <= CLI_NAME_LEAST)
            break;
        layout->widths[widest]--;
        names--;
    }
    layout->hottest_width = room > names + CLI_NAME_LEAST ? room - names : CLI_NAME_LEAST;
}

static void put_head(const struct layout *layout)
{
    const struct cli_rows *rows = layout->rows;

    for (size_t i = 0; i < rows->bys->count; i++) {
        if (layout->widths[i] > 0)
            cli_text_put_cell(rows->bys->items[i].name, layout->widths[i], false, layout->to);
    }
    for (int number = 0; number < NUMBER_LIMIT; number++) {
        if (layout->number_widths[number] > 0)
            fprintf(layout->to, "%*s%*s", (int)layout->number_widths[number], number_heads[number],
                    CLI_GAP, "");
    }
    fprintf(layout->to, "%8s  hottest frame\n", "share");
}

void cli_rows_text(const struct cli_rows *rows, const char *title, size_t columns, FILE *to)
{
    struct layout layout = {.rows = rows, .to = to};
    char cell[CLI_CELL_BYTES];

    cli_text_clean(title, cell);
    fprintf(to, "%s\n\n", cell);
    measure(&layout);
    measure_numbers(&layout);
    if (columns > 0)
        fit(&layout, columns);
    put_head(&layout);
    for (size_t i = 0; i < rows->shown; i++)
        put_row(&layout, &rows->items[i]);
    if (rows->shown < rows->value_count) {
        rest_name(rows, cell, sizeof cell);
        put_sum(&layout, cell, &rows->rest);
    }
    for (size_t i = rows->value_count; i < rows->count; i++)
        put_row(&layout, &rows->items[i]);
    put_sum(&layout, "total", &rows->total);
}
