/* `jaywalk endpoints`: what requests to each endpoint cost, from recordings. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli_rows_internal.h"
#include "export/export.h"
#include "options/options.h"

#define CLI_TEXT_ROWS 40

enum cli_table_format {
    CLI_TABLE_TEXT,
    CLI_TABLE_CSV,
    CLI_TABLE_JSON,
};

/* What is asked for. */
struct cli_table {
    struct cli_part part;
    struct cli_bys bys;
    enum cli_table_format format;
    enum cli_sort sort;
    bool is_sort_given;
    size_t top;
    unsigned jobs;
    const char *event; /* NULL: what the sessions were about */
    const struct cli_values *values;
    struct options_result look;
    const char *state;
    bool is_quiet;
    struct cli_input *inputs;
    size_t input_count;
};

static const char *name_of_clock(enum cli_clock clock)
{
    return clock == CLI_CLOCK_CPU ? "cpu" : "wall";
}

static bool read_words(const struct cli_values *values, struct cli_table *table,
                       struct jw_error *err)
{
    static const char *const formats[] = {
        [CLI_TABLE_TEXT] = "text", [CLI_TABLE_CSV] = "csv", [CLI_TABLE_JSON] = "json"};
    static const char *const sorts[] = {[CLI_SORT_CPU] = "cpu",
                                        [CLI_SORT_WALL] = "wall",
                                        [CLI_SORT_SAMPLES] = "samples",
                                        [CLI_SORT_REQUESTS] = "requests",
                                        [CLI_SORT_NAME] = "name"};
    static const char *const events[] = {"cpu", "wall"};

    if (values->format != NULL)
        table->format = (enum cli_table_format)cli_word_of("output", values->format, formats,
                                                           JW_COUNT_OF(formats), err);
    if (err->message[0] == '\0' && values->sort != NULL) {
        table->sort =
            (enum cli_sort)cli_word_of("sort", values->sort, sorts, JW_COUNT_OF(sorts), err);
        table->is_sort_given = true;
    }
    if (err->message[0] == '\0' && values->event != NULL)
        (void)cli_word_of("event", values->event, events, JW_COUNT_OF(events), err);
    if (err->message[0] != '\0')
        return false;
    table->event = values->event;
    if (table->event == NULL && table->is_sort_given && table->sort <= CLI_SORT_WALL)
        table->event = sorts[table->sort];
    table->top = table->format == CLI_TABLE_TEXT ? CLI_TEXT_ROWS : 0;
    return values->top == NULL || cli_top_read(values->top, &table->top, err);
}

static bool read_look(const struct cli_values *values, struct cli_table *table,
                      struct jw_error *err)
{
    struct cli_agent_options options = values->agent;

    options.names[options.count] = "tree"; /* which knows a smallest share */
    options.values[options.count++] = NULL;
    if (!options_parse_pairs(options.names, options.values, options.count, &table->look)) {
        jw_error_set(err, "--%s", table->look.errors.texts[0]);
        return false;
    }
    if (table->format == CLI_TABLE_CSV && table->look.values.title[0] != '\0') {
        jw_error_set(err, "--title: csv has rows alone; text and json have a title");
        return false;
    }
    return cli_check_patterns(&table->look.values, err);
}

static bool read_table(const struct cli_values *values, struct cli_table *table,
                       struct jw_error *err)
{
    struct cli_values by_endpoint = {.by = {.texts = {"endpoint", "operation"}, .count = 2}};

    table->values = values;
    table->state = values->state;
    table->is_quiet = values->is_quiet;
    if (values->operands.count == 0) {
        jw_error_set(err, "endpoints: a recording is needed; usage: %s",
                     cli_commands[CLI_COMMAND_ENDPOINTS].usage);
        return false;
    }
    if (values->state != NULL && !profile_is_known_state(values->state)) {
        jw_error_set(err, "--state: '%.100s' is no state of a thread; there are " CLI_STATES,
                     values->state);
        return false;
    }
    return read_words(values, table, err) && read_look(values, table, err) &&
           cli_jobs_read(values->jobs, &table->jobs, err) &&
           cli_part_read(values, &table->part, err) &&
           cli_bys_read(values->by.count == 0 ? &by_endpoint : values, false, &table->bys, err);
}

static bool has_patterns(const struct cli_table *table)
{
    return table->look.values.includes[0] != '\0' || table->look.values.excludes[0] != '\0';
}

/* Requests are counted by what tells them apart, and whether filters let samples of them in. */
static bool counts_requests(const struct cli_table *table)
{
    return cli_needs_requests(&table->part, &table->bys) &&
           !cli_bys_have(&table->bys, CLI_BY_THREAD) &&
           !cli_bys_have(&table->bys, CLI_BY_ATTRIBUTE) && table->part.attribute_count == 0 &&
           table->part.trace_id_count == 0 && table->part.span_id_count == 0 &&
           table->part.from.kind == PROFILE_TIME_ANY && table->part.to.kind == PROFILE_TIME_ANY &&
           table->part.thread_count == 0 && !has_patterns(table);
}

static bool read_requests(struct cli_table *table, struct jw_error *err)
{
    for (size_t i = 0; i < table->input_count; i++) {
        struct cli_input *input = &table->inputs[i];

        input->requests =
            cli_requests_read(input->path, !counts_requests(table), table->is_quiet, err);
        if (input->requests == NULL)
            return false;
        cli_requests_judge(input->requests, &table->part);
    }
    return true;
}

/* Samples of one clock, into rows where these show it. */
static bool read_clock(struct cli_table *table, struct cli_rows *rows, enum cli_clock clock,
                       struct jw_error *err)
{
    const struct profile_config config = {.split_lines = table->look.values.has_lines};
    struct cli_wish wish = {
        .event = name_of_clock(clock),
        .state = table->state,
        .part = &table->part,
        .bys = &table->bys,
        .is_of_code = true,
        .is_of_leaves = !has_patterns(table),
        .no_context = CLI_NO_CONTEXT,
        .is_quiet = table->is_quiet,
        .jobs = table->jobs,
    };
    struct profile *profile =
        cli_read_event(table->inputs, table->input_count, &config, &wish, err);
    /* Turned round, so that what ran is what stands in a box. */
    rows->view.reverse = has_patterns(table);
    bool is_read = profile != NULL && profile_seal(profile, &rows->view, err);

    if (is_read && !cli_rows_add(rows, profile, clock)) {
        jw_error_set(err, "out of memory at %zu rows", rows->count);
        is_read = false;
    }
    if (is_read && clock == rows->clock)
        rows->filtered_samples = profile_filtered_samples(profile);
    profile_close(profile);
    return is_read;
}

/* What all inputs together say of the clock that was read last. */
struct cli_seen {
    uint64_t samples;
    uint64_t let_in;
    uint64_t other_samples;
    bool is_of_wall;
};

static struct cli_seen see(const struct cli_table *table)
{
    struct cli_seen seen = {0};

    for (size_t i = 0; i < table->input_count; i++) {
        const struct cli_found *found = &table->inputs[i].found;

        seen.samples += found->samples;
        seen.let_in += found->let_in;
        seen.other_samples += found->other_samples;
        seen.is_of_wall |= found->is_of_wall;
    }
    return seen;
}

/* One input with what was asked for is enough; of none of them, the first says why. */
static bool check_contexts(struct cli_table *table, enum cli_clock clock)
{
    const struct cli_wish wish = {
        .event = name_of_clock(clock), .part = &table->part, .bys = &table->bys};
    bool has_contexts = false;

    for (size_t i = 0; i < table->input_count; i++)
        has_contexts |= table->inputs[i].found.has_contexts &&
                        (cli_requests_at(table->inputs[i].requests, 0) != NULL ||
                         !cli_needs_requests(&table->part, &table->bys));
    return (has_contexts && table->input_count > 1) || cli_check_contexts(&table->inputs[0], &wish);
}

/* Rows are shared out or sorted by a clock that nothing was sampled by. */
static int complain_of_clock(const struct cli_table *table, enum cli_clock clock, bool has_other)
{
    const char *name = name_of_clock(clock);
    const char *other = name_of_clock(clock == CLI_CLOCK_CPU ? CLI_CLOCK_WALL : CLI_CLOCK_CPU);
    const bool is_by_event = table->values->event != NULL && strcmp(table->event, name) == 0;

    if (has_other && table->event != NULL)
        cli_complain("%s: no samples of '%s'; it has some of '%s': leave --%s=%s out",
                     table->inputs[0].path, name, other, is_by_event ? "event" : "sort", name);
    else
        cli_complain("%s: no samples of '%s'", table->inputs[0].path, name);
    return CLI_FAILED;
}

/* Reads the clock that shares are of, then the other one for its column. */
static int read_rows(struct cli_table *table, struct cli_rows *rows, struct jw_error *err)
{
    rows->clock =
        table->event != NULL && strcmp(table->event, "wall") == 0 ? CLI_CLOCK_WALL : CLI_CLOCK_CPU;
    if (cli_needs_requests(&table->part, &table->bys) && !read_requests(table, err))
        return CLI_FAILED;
    if (!read_clock(table, rows, rows->clock, err))
        return CLI_FAILED;

    struct cli_seen seen = see(table);
    if (table->event == NULL && (seen.is_of_wall || seen.samples == 0) && seen.other_samples > 0) {
        const struct cli_rows empty = {
            .bys = rows->bys, .view = rows->view, .clock = CLI_CLOCK_WALL};

        cli_rows_close(rows);
        *rows = empty;
        if (!read_clock(table, rows, rows->clock, err))
            return CLI_FAILED;
        seen = see(table);
    }
    if (seen.samples == 0)
        return complain_of_clock(table, rows->clock, seen.other_samples > 0);

    const enum cli_clock other = rows->clock == CLI_CLOCK_CPU ? CLI_CLOCK_WALL : CLI_CLOCK_CPU;
    if (seen.other_samples == 0 && table->is_sort_given &&
        table->sort == (other == CLI_CLOCK_CPU ? CLI_SORT_CPU : CLI_SORT_WALL))
        return complain_of_clock(table, other, true);
    if (!check_contexts(table, rows->clock))
        return CLI_FAILED;
    rows->left_out = seen.samples - seen.let_in + rows->filtered_samples;
    for (size_t i = 0; i < table->input_count && !table->is_quiet; i++) {
        if (table->inputs[i].found.notice[0] != '\0')
            cli_complain("%s", table->inputs[i].found.notice);
    }
    if (seen.other_samples > 0 && !read_clock(table, rows, other, err))
        return CLI_FAILED;
    for (size_t i = 0; i < table->input_count && counts_requests(table); i++) {
        if (!cli_rows_add_requests(rows, table->inputs[i].requests)) {
            jw_error_set(err, "no memory");
            return CLI_FAILED;
        }
    }
    return CLI_OK;
}

static size_t terminal_columns(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void write_text(const struct cli_table *table, const struct cli_rows *rows, const char *part)
{
    char title[1024];
    const bool has_title = table->look.values.title[0] != '\0';
    size_t used = has_title ? (size_t)snprintf(title, sizeof title, "%s", table->look.values.title)
                            : (size_t)snprintf(title, sizeof title, "%s by",
                                               rows->clock == CLI_CLOCK_CPU ? "CPU profile"
                                                                            : "Wall clock profile");

    for (size_t i = 0; i < table->bys.count && used < sizeof title && !has_title; i++) {
        if (table->bys.items[i].kind == CLI_BY_OPERATION && i > 0)
            continue;
        used += (size_t)snprintf(title + used, sizeof title - used, "%s %.80s", i == 0 ? "" : ",",
                                 table->bys.items[i].name);
    }
    if (part[0] != '\0' && used < sizeof title)
        used += (size_t)snprintf(title + used, sizeof title - used, ": %s", part);
    if (rows->left_out > 0 && used < sizeof title)
        snprintf(title + used, sizeof title - used, " (filters left out %" PRIu64 " samples)",
                 rows->left_out);
    cli_rows_text(rows, title, terminal_columns(), stdout);
}

static int write_rows(const struct cli_table *table, struct cli_rows *rows)
{
    char part[512];
    enum cli_sort sort = table->sort;

    if (!table->is_sort_given)
        sort = rows->clock == CLI_CLOCK_CPU ? CLI_SORT_CPU : CLI_SORT_WALL;
    cli_part_tell(&table->part, part, sizeof part);
    cli_rows_order(rows, sort, table->top, table->look.values.minwidth_ppm);
    switch (table->format) {
    case CLI_TABLE_TEXT:
        write_text(table, rows, part);
        break;
    case CLI_TABLE_CSV:
        cli_rows_csv(rows, stdout);
        break;
    case CLI_TABLE_JSON:
        cli_rows_json(rows, table->look.values.title, part, stdout);
        break;
    }
    return cli_end_output(CLI_OK);
}

static int list_endpoints(struct cli_table *table)
{
    struct export_options look;
    struct cli_rows rows = {.bys = &table->bys};
    struct jw_error err = {{0}};
    int status;

    export_look(&table->look.values, &look);
    rows.view = look.view;
    rows.view.is_dotted = true;
    status = read_rows(table, &rows, &err);
    if (err.message[0] != '\0')
        cli_complain("%s", err.message);
    if (status == CLI_OK)
        status = write_rows(table, &rows);
    if (status == CLI_OK && !table->is_quiet) {
        const struct cli_sum *total = &rows.total;

        if (total->samples[rows.clock] == 0) {
            char filters[512];

            cli_filters_tell(table->values, filters, sizeof filters);
            cli_complain("%s: the filters left nothing of %" PRIu64 " samples of '%s':%s",
                         table->inputs[0].path, rows.left_out, name_of_clock(rows.clock), filters);
        }
        cli_tell_idle_part(table->inputs[0].path, &table->part);
    }
    cli_rows_close(&rows);
    return status;
}

int cli_endpoints(const struct cli_values *values)
{
    struct cli_table *table = jw_alloc(sizeof *table);
    struct jw_error err = {{0}};
    int status;

    if (table == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    table->input_count = values->operands.count;
    table->inputs = jw_alloc(jw_mul_bytes(table->input_count + 1, sizeof *table->inputs));
    for (size_t i = 0; table->inputs != NULL && i < table->input_count; i++)
        table->inputs[i].path = values->operands.texts[i];
    if (table->inputs == NULL) {
        cli_complain("no memory");
        status = CLI_FAILED;
    } else if (!read_table(values, table, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_ENDPOINTS], &err);
    } else {
        status = list_endpoints(table);
    }
    for (size_t i = 0; table->inputs != NULL && i < table->input_count; i++)
        cli_requests_close(table->inputs[i].requests);
    cli_part_close(&table->part);
    jw_free(table->inputs);
    jw_free(table);
    return status;
}
