/* `jaywalk compare`: what runs more and what less in one recording than in another; a gate for builds. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_compare_internal.h"
#include "cli/cli_contexts_internal.h"
#include "cli/cli_text_internal.h"
#include "export/export.h"
#include "options/options.h"
#include "options/options_value.h"

#define ROWS 20u

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON };

struct comparison {
    unsigned jobs;
    const struct cli_values *values;
    struct options_result look;
    struct cli_part part;
    struct compare compare;
    enum format format;
    struct compare_look shown;
    char part_text[512];
    const char *event;
    char event_name[JW_PERF_NAME_BYTES]; /* of one that nobody named */
};

static bool read_limit(const char *text, double *limit, struct jw_error *err)
{
    uint64_t ppm;
    const enum options_value_status status = options_value_percent(text, strlen(text), &ppm);

    if (status == OPTIONS_VALUE_OK && ppm > 0) {
        *limit = (double)ppm / 1e6;
        return true;
    }
    jw_error_set(err, "--fail-on: '%.100s' %s; give a growth such as 5%%", text,
                 status == OPTIONS_VALUE_OK ? "is nothing" : options_value_status_text(status));
    return false;
}

static bool read_words(struct comparison *comparison, struct jw_error *err)
{
    static const char *const formats[] = {"text", "markdown", "json"};
    static const char *const pers[] = {"share", "second", "run"};
    const struct cli_values *values = comparison->values;

    comparison->shown.top = ROWS;
    if (values->format != NULL)
        comparison->format =
            (enum format)cli_word_of("output", values->format, formats, JW_COUNT_OF(formats), err);
    if (err->message[0] == '\0' && values->per != NULL)
        comparison->compare.per =
            (enum compare_per)cli_word_of("per", values->per, pers, JW_COUNT_OF(pers), err);
    if (err->message[0] != '\0')
        return false;
    return (values->top == NULL || cli_top_read(values->top, &comparison->shown.top, err)) &&
           (values->fail_on == NULL || read_limit(values->fail_on, &comparison->shown.limit, err));
}

static bool read_look(struct comparison *comparison, struct jw_error *err)
{
    struct cli_agent_options options = comparison->values->agent;

    options.names[options.count] = "text";
    options.values[options.count++] = NULL;
    if (!options_parse_pairs(options.names, options.values, options.count, &comparison->look)) {
        jw_error_set(err, "--%s", comparison->look.errors.texts[0]);
        return false;
    }
    return cli_check_patterns(&comparison->look.values, err);
}

static bool read_line(struct comparison *comparison, struct jw_error *err)
{
    const struct cli_values *values = comparison->values;

    if (values->operands.count != 2) {
        jw_error_set(err,
                     "compare: two recordings are needed, the one before and the one after; "
                     "usage: %s",
                     cli_commands[CLI_COMMAND_COMPARE].usage);
        return false;
    }
    if (values->state != NULL && !profile_is_known_state(values->state)) {
        jw_error_set(err, "--state: '%.100s' is no state of a thread; there are " CLI_STATES,
                     values->state);
        return false;
    }
    return read_words(comparison, err) && read_look(comparison, err) &&
           cli_jobs_read(values->jobs, &comparison->jobs, err) &&
           cli_part_read(values, &comparison->part, err);
}

static struct profile *read_samples(struct comparison *comparison, struct cli_input *input,
                                    bool is_weightless, struct jw_error *err)
{
    const struct profile_config config = {.split_lines = comparison->look.values.has_lines};
    struct cli_wish wish = {
        .event = comparison->event,
        .state = comparison->values->state,
        .part = &comparison->part,
        .slice_count = COMPARE_SLICES,
        .is_quiet = comparison->values->is_quiet,
        .is_weightless = is_weightless,
        .jobs = comparison->jobs,
    };

    if (comparison->part.endpoint_count > 0) {
        input->requests = cli_requests_read(input->path, true, comparison->values->is_quiet, err);
        if (input->requests == NULL)
            return NULL;
        cli_requests_judge(input->requests, &comparison->part);
    }
    return cli_read_event(input, 1, &config, &wish, err);
}

static bool take_side(struct comparison *comparison, enum compare_side side, bool is_weightless,
                      bool *lacks_weight, struct jw_error *err)
{
    struct cli_input input = {.path = comparison->values->operands.texts[side]};
    struct export_options options;
    struct profile *profile = read_samples(comparison, &input, is_weightless, err);

    /* What the session was about, where nobody names an event, is told by the side before. */
    const bool is_settled = comparison->values->event != NULL || side != COMPARE_BEFORE;
    const char *event = profile == NULL || is_settled ? NULL : cli_session_event(&input.found);
    if (event != NULL) {
        profile_close(profile);
        cli_requests_close(input.requests);
        input.requests = NULL;
        snprintf(comparison->event_name, sizeof comparison->event_name, "%s", event);
        comparison->event = comparison->event_name;
        profile = read_samples(comparison, &input, is_weightless, err);
    }
    export_look(&comparison->look.values, &options);
    options.view.is_normalised = true;
    options.view.is_dotted = true;
    options.view.reverse = false;

    bool is_good = profile != NULL && profile_seal(profile, &options.view, err);
    if (is_good && input.found.let_in == 0) {
        jw_error_set(err, "%s: no samples of '%s'%s", input.path, comparison->event,
                     input.found.samples > 0 ? " that the filters let in" : "");
        is_good = false;
    }
    if (is_good) {
        const struct profile_about *about = profile_about_of(profile);

        *lacks_weight |= strcmp(about->unit, "samples") == 0;
        comparison->compare.unit = strcmp(about->unit, "ns") == 0      ? "ns"
                                   : strcmp(about->unit, "bytes") == 0 ? "bytes"
                                                                       : "samples";
        comparison->compare.seconds[side] = (double)about->duration_ns / 1e9;
        compare_add(&comparison->compare, side, profile, &options.view);
        if (input.found.notice[0] != '\0' && !comparison->values->is_quiet)
            cli_complain("%s", input.found.notice);
    }
    profile_close(profile);
    cli_requests_close(input.requests);
    return is_good;
}

/* Both sides in the same unit: where one has none but samples, so has the other. */
static bool take_sides(struct comparison *comparison, struct jw_error *err)
{
    const enum compare_per per = comparison->compare.per;
    bool lacks_weight[COMPARE_SIDES] = {false};
    bool is_good = true;

    for (unsigned side = 0; is_good && side < COMPARE_SIDES; side++)
        is_good = take_side(comparison, (enum compare_side)side, false, &lacks_weight[side], err);
    if (!is_good || lacks_weight[COMPARE_BEFORE] == lacks_weight[COMPARE_AFTER])
        return is_good;
    compare_close(&comparison->compare);
    comparison->compare.per = per;
    for (unsigned side = 0; is_good && side < COMPARE_SIDES; side++)
        is_good = take_side(comparison, (enum compare_side)side, true, &lacks_weight[side], err);
    return is_good;
}

static bool has_failed(const struct compare *compare, double limit)
{
    if (limit <= 0)
        return false;
    if (compare->per != COMPARE_PER_SHARE && compare_grew(&compare->all, limit))
        return true;
    for (size_t i = 0; i < compare->count; i++) {
        if (compare_grew(&compare->methods[i].total, limit))
            return true;
    }
    return false;
}

static int show(struct comparison *comparison)
{
    struct compare_look *shown = &comparison->shown;
    char title[CLI_CELL_BYTES];

    snprintf(title, sizeof title, "%.40s profile",
             strcmp(comparison->event, "cpu") == 0     ? "CPU"
             : strcmp(comparison->event, "wall") == 0  ? "Wall clock"
             : strcmp(comparison->event, "alloc") == 0 ? "Allocation"
             : strcmp(comparison->event, "live") == 0  ? "Live object"
             : strcmp(comparison->event, "lock") == 0  ? "Lock"
                                                       : comparison->event);
    cli_part_tell(&comparison->part, comparison->part_text, sizeof comparison->part_text);
    for (unsigned side = 0; side < COMPARE_SIDES; side++)
        shown->paths[side] = comparison->values->operands.texts[side];
    if (comparison->look.values.title[0] != '\0')
        cli_text_clean(comparison->look.values.title, title);
    shown->title = title;
    shown->part = comparison->part_text;
    shown->is_failed = has_failed(&comparison->compare, shown->limit);
    compare_keep_wide(&comparison->compare, (double)comparison->look.values.minwidth_ppm / 1e6,
                      shown->limit);
    switch (comparison->format) {
    case FORMAT_TEXT:
        compare_text(&comparison->compare, shown, stdout);
        break;
    case FORMAT_MARKDOWN:
        compare_markdown(&comparison->compare, shown, stdout);
        break;
    case FORMAT_JSON:
        compare_json(&comparison->compare, shown, stdout);
        break;
    }
    return cli_end_output(shown->is_failed ? CLI_GREW : CLI_OK);
}

int cli_compare(const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct comparison *comparison = jw_alloc(sizeof *comparison);
    int status = CLI_FAILED;

    if (comparison == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    comparison->values = values;
    comparison->event = values->event == NULL ? "cpu" : cli_event_of(values->event);
    if (!read_line(comparison, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_COMPARE], &err);
    } else if (take_sides(comparison, &err)) {
        if (compare_settle(&comparison->compare))
            status = show(comparison);
        else
            cli_complain("out of memory while comparing; free some, or let in fewer samples");
    } else {
        cli_complain("%s", err.message);
    }
    compare_close(&comparison->compare);
    cli_part_close(&comparison->part);
    jw_free(comparison);
    return status;
}
