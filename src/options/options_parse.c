/* Agent string into struct options; control, tool. Total: every path ends in values and messages. */
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "options/options_parser_internal.h"
#include "options/options_value.h"

#define ALLOWED_BYTES 128

static void *field_of(struct options *values, const struct options_row *row)
{
    return (char *)values + row->field_offset;
}

static void set_number(struct options *values, const struct options_row *row, uint64_t number)
{
    memcpy(field_of(values, row), &number, sizeof number);
}

static void set_text(struct options *values, const struct options_row *row, const char *text,
                     size_t length_bytes)
{
    char *field = field_of(values, row);

    memcpy(field, text, length_bytes);
    field[length_bytes] = '\0';
}

void options_defaults(struct options *values)
{
    memset(values, 0, sizeof *values);
    for (int id = 0; id < OPTIONS_ID_LIMIT; id++) {
        if ((options_is_numeric(options_rows[id].kind) ||
             options_rows[id].kind == OPTIONS_KIND_ENUM ||
             options_rows[id].kind == OPTIONS_KIND_SET) &&
            !options_rows[id].is_off_unnamed)
            set_number(values, &options_rows[id], options_rows[id].default_value);
    }
}

/* Why the item is refused, and how it should look. */
static void refuse(struct options_parser *parser, const struct options_row *row,
                   const struct options_item *item, const char *why)
{
    char allowed[ALLOWED_BYTES];

    options_allowed_text(row, allowed, sizeof allowed);
    options_add_message(&parser->result->errors, "%s: %s; allowed: %s; example: %s", item->quoted,
                        why, allowed, row->example);
}

static enum options_value_status read_number(enum options_kind kind,
                                             const struct options_item *item, uint64_t *number)
{
    switch (kind) {
    case OPTIONS_KIND_DURATION:
        return options_value_duration(item->value, item->value_bytes, number);
    case OPTIONS_KIND_PERIOD:
        return options_value_period(item->value, item->value_bytes, number);
    case OPTIONS_KIND_TIME:
        return options_value_time(item->value, item->value_bytes, number);
    case OPTIONS_KIND_SIZE:
        return options_value_size(item->value, item->value_bytes, number);
    case OPTIONS_KIND_PERCENT:
        return options_value_percent(item->value, item->value_bytes, number);
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_CHOICE:
    case OPTIONS_KIND_FLAG:
    case OPTIONS_KIND_ENUM:
    case OPTIONS_KIND_SET:
    case OPTIONS_KIND_FILE:
    case OPTIONS_KIND_PATH:
    case OPTIONS_KIND_TEXT:
    case OPTIONS_KIND_LIST:
        break;
    }
    return options_value_count(item->value, item->value_bytes, number);
}

/* Brings a number into the row's range where the row allows that; else says why not. */
static const char *fit_number(struct options_parser *parser, const struct options_row *row,
                              const struct options_item *item, uint64_t *number)
{
    const uint64_t given = *number;
    char limit[32];

    if (row->kind == OPTIONS_KIND_TIME && (given & OPTIONS_TIME_OF_DAY) != 0)
        return NULL;
    if (given == 0 && row->minimum > 0)
        return "is zero";
    if (given < row->minimum && !row->is_raised)
        return "is too small";
    if (given > row->maximum && !row->is_lowered)
        return "is too large";
    if (given >= row->minimum && given <= row->maximum)
        return NULL;
    *number = given < row->minimum ? row->minimum : row->maximum;
    options_value_text(row, *number, limit, sizeof limit);
    options_add_message(&parser->result->warnings, "%s: is %s; %s is used", item->quoted,
                        given < row->minimum ? "too small" : "too large", limit);
    return NULL;
}

void options_take_number(struct options_parser *parser, const struct options_row *row,
                         const struct options_item *item)
{
    uint64_t number = row->default_value;

    if (item->value != NULL || !row->is_value_optional) {
        const enum options_value_status status = read_number(row->kind, item, &number);

        if (status != OPTIONS_VALUE_OK) {
            refuse(parser, row, item, options_value_status_text(status));
            return;
        }
        const char *why = fit_number(parser, row, item, &number);
        if (why != NULL) {
            refuse(parser, row, item, why);
            return;
        }
    }
    set_number(&parser->result->values, row, number);
}

/* False: it is none. A word like one of the others is that one misspelt, rather than a function. */
static bool take_counter(struct options_parser *parser, const struct options_item *item,
                         bool has_nearest)
{
    const enum jw_perf_kind kind = jw_perf_kind_of(item->value, item->value_bytes, NULL);
    struct options *values = &parser->result->values;

    if (kind == JW_PERF_NONE || (kind == JW_PERF_FUNCTION && has_nearest))
        return false;
    values->event = kind == JW_PERF_METHOD      ? OPTIONS_EVENT_METHOD
                    : kind == JW_PERF_EXCEPTION ? OPTIONS_EVENT_EXCEPTION
                    : kind == JW_PERF_NEW       ? OPTIONS_EVENT_NEW
                                                : OPTIONS_EVENT_PERF;
    memset(values->perf, 0, sizeof values->perf);
    memcpy(values->perf, item->value, item->value_bytes);
    return true;
}

static void take_name(struct options_parser *parser, const struct options_row *row,
                      const struct options_item *item)
{
    for (const struct options_name *name = row->enum_names; name->name != NULL; name++) {
        if (strlen(name->name) != item->value_bytes ||
            memcmp(name->name, item->value, item->value_bytes) != 0)
            continue;
        if (name->whose == NULL) {
            set_number(&parser->result->values, row, name->value);
        } else if (row->is_foreign_value_ignored) {
            char used[32];

            set_number(&parser->result->values, row, row->default_value);
            options_value_text(row, row->default_value, used, sizeof used);
            options_add_message(&parser->result->warnings,
                                "known to %s, not to jaywalk yet: %s; %s=%s is used", name->whose,
                                item->quoted, row->name, used);
        } else {
            char why[64];

            snprintf(why, sizeof why, "is known to %s, not to jaywalk yet", name->whose);
            refuse(parser, row, item, why);
        }
        return;
    }

    const char *nearest = options_nearest_value(row, item->value, item->value_bytes);
    char why[32 + OPTIONS_NAME_MAX_BYTES];

    /* The one function whose name is like a word of ours, and the one that people ask for. */
    const bool is_malloc = item->value_bytes == 6 && memcmp(item->value, "malloc", 6) == 0;

    if (row->takes_perf && take_counter(parser, item, nearest != NULL && !is_malloc))
        return;
    snprintf(why, sizeof why, "is unknown%s%s%s", nearest == NULL ? "" : "; did you mean ",
             nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
    refuse(parser, row, item, item->value_bytes == 0 ? "has no value" : why);
}

static void warn_of_foreign(struct options_parser *parser, const struct options_foreign *foreign,
                            const char *quoted)
{
    options_add_message(&parser->result->warnings, "known to %s, not to jaywalk%s: %s; ignored%s%s",
                        foreign->whose, foreign->instead == NULL ? " yet" : "", quoted,
                        foreign->instead == NULL ? "" : "; use ",
                        foreign->instead == NULL ? "" : foreign->instead);
}

/* What a name of a set adds to it. False: it is unknown, which is told; another profiler's adds nothing. */
static bool find_member(struct options_parser *parser, const struct options_row *row,
                        const struct options_item *item, const char *text, size_t length_bytes,
                        uint64_t *bits)
{
    char quoted[32], whole[64], why[128];

    *bits = 0;
    for (const struct options_name *name = row->enum_names; name->name != NULL; name++) {
        if (strlen(name->name) == length_bytes && memcmp(name->name, text, length_bytes) == 0) {
            *bits = name->value;
            return true;
        }
    }
    if (length_bytes == 0) {
        refuse(parser, row, item, "has nothing where a name is due");
        return false;
    }

    options_quote(text, length_bytes, quoted, sizeof quoted);
    snprintf(whole, sizeof whole, "%s=%s", row->name, quoted);
    const struct options_foreign *foreign = options_find_foreign(whole, strlen(whole));
    if (foreign != NULL) {
        warn_of_foreign(parser, foreign, whole);
        return true;
    }
    const char *nearest = options_nearest_value(row, text, length_bytes);
    snprintf(why, sizeof why, "%s is unknown%s%s%s", quoted,
             nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
             nearest == NULL ? "" : "?");
    refuse(parser, row, item, why);
    return false;
}

/* Names with + between them, or commas where the value may hold some. */
static void take_set(struct options_parser *parser, const struct options_row *row,
                     const struct options_item *item)
{
    uint64_t set = 0, bits;

    for (size_t at = 0; at <= item->value_bytes;) {
        size_t end = at;

        while (end < item->value_bytes && item->value[end] != '+' && item->value[end] != ',')
            end++;
        if (!find_member(parser, row, item, item->value + at, end - at, &bits))
            return;
        set |= bits;
        at = end + 1;
    }
    set_number(&parser->result->values, row, set);
}

/* NULL when the bytes may stand in a name or title. */
static const char *bad_text(const struct options_row *row, const struct options_item *item)
{
    if (item->value_bytes == 0)
        return "has no value";
    if (item->value_bytes >= row->field_bytes)
        return "is too long";
    for (size_t i = 0; i < item->value_bytes; i++) {
        if ((unsigned char)item->value[i] < 0x20 || item->value[i] == 0x7f)
            return "holds a control character";
    }
    if (row->kind == OPTIONS_KIND_FILE &&
        options_bad_pattern(item->value, item->value_bytes) != item->value_bytes)
        return "holds a percent sign that is no pattern";
    return NULL;
}

/* Adds a text to those that were named before. */
static void take_listed(struct options_parser *parser, const struct options_row *row,
                        const struct options_item *item)
{
    char *list = field_of(&parser->result->values, row);
    const char *why = bad_text(row, item);
    size_t used_bytes = 0;

    while (list[used_bytes] != '\0')
        used_bytes += strlen(list + used_bytes) + 1;
    if (why == NULL && used_bytes + item->value_bytes + 2 > row->field_bytes)
        why = "is too long, with those before it";
    if (why != NULL) {
        refuse(parser, row, item, why);
        return;
    }
    memcpy(list + used_bytes, item->value, item->value_bytes);
    memset(list + used_bytes + item->value_bytes, 0, 2);
}

static void take_text(struct options_parser *parser, const struct options_row *row,
                      const struct options_item *item)
{
    const char *why = bad_text(row, item);
    uint64_t output;

    if (item->value_bytes == 0 && row->bare_text != NULL) {
        set_text(&parser->result->values, row, row->bare_text, strlen(row->bare_text));
        return;
    }
    if (why != NULL) {
        refuse(parser, row, item, why);
        return;
    }
    set_text(&parser->result->values, row, item->value, item->value_bytes);
    if (row->kind == OPTIONS_KIND_FILE &&
        !options_output_of_file(parser->result->values.file, &output)) {
        parser->result->values.file[0] = '\0';
        refuse(parser, row, item, "flame graphs are HTML pages, not SVG; name it .html");
    }
}

static void take_without_value(struct options_parser *parser, const struct options_row *row,
                               const struct options_item *item)
{
    struct options *values = &parser->result->values;

    if (item->value != NULL && row->value_option == NULL) {
        refuse(parser, row, item, "takes no value");
        return;
    }
    if (row->kind == OPTIONS_KIND_FLAG)
        *(bool *)field_of(values, row) = true;
    else
        set_number(values, row, row->choice_value);
}

/* Says that an item stands in place of an earlier one: itself, or another name of its field. */
static void warn_of_repetition(struct options_parser *parser, enum options_id id,
                               const struct options_item *item)
{
    const struct options_row *row = &options_rows[id];

    if (parser->is_seen[id]) {
        options_add_message(&parser->result->warnings, "%s: %s is named twice; the last one counts",
                            item->quoted, row->name);
        return;
    }
    for (int other = 0; other < OPTIONS_ID_LIMIT; other++) {
        if (parser->is_seen[other] && options_rows[other].field_offset == row->field_offset) {
            options_add_message(&parser->result->warnings, "%s: stands in place of the earlier %s",
                                item->quoted, options_rows[other].name);
            return;
        }
    }
}

static void take_known(struct options_parser *parser, enum options_id id,
                       const struct options_item *item)
{
    const struct options_row *row = &options_rows[id];

    if (row->kind != OPTIONS_KIND_LIST)
        warn_of_repetition(parser, id, item);
    parser->is_seen[id] = true;
    if ((row->kind == OPTIONS_KIND_CHOICE || row->kind == OPTIONS_KIND_FLAG) &&
        item->value != NULL && row->value_option != NULL) {
        take_without_value(parser, row, item);
        take_name(parser, &options_rows[options_find(row->value_option, strlen(row->value_option))],
                  item);
    } else if (row->kind == OPTIONS_KIND_CHOICE || row->kind == OPTIONS_KIND_FLAG)
        take_without_value(parser, row, item);
    else if (item->value == NULL && !row->is_value_optional)
        refuse(parser, row, item, "has no value");
    else if (id == OPTIONS_ID_INTERVAL) {
        parser->has_interval = true;
        parser->interval = *item;
    } else if (options_is_numeric(row->kind))
        options_take_number(parser, row, item);
    else if (row->kind == OPTIONS_KIND_ENUM)
        take_name(parser, row, item);
    else if (row->kind == OPTIONS_KIND_SET)
        take_set(parser, row, item);
    else if (row->kind == OPTIONS_KIND_LIST)
        take_listed(parser, row, item);
    else
        take_text(parser, row, item);
}

static void take_unknown(struct options_parser *parser, const struct options_item *item)
{
    struct options_messages *warnings = &parser->result->warnings;
    const struct options_foreign *foreign = options_find_foreign(item->text, item->name_bytes);

    jw_count(JW_COUNT_OPTIONS_UNKNOWN);
    if (foreign != NULL && foreign->refusal != NULL) {
        options_add_message(&parser->result->errors,
                            "%s: %s; record a .jfr and use 'jaywalk convert --%s'", foreign->name,
                            foreign->refusal, foreign->name);
        return;
    }
    if (foreign != NULL) {
        parser->is_foreign_action_seen = parser->is_foreign_action_seen || foreign->is_action;
        warn_of_foreign(parser, foreign, item->quoted);
        return;
    }

    /* The search costs more than all the rest: not for what nobody will read. */
    const char *nearest = warnings->count < OPTIONS_MESSAGES_KEPT
                              ? options_nearest(item->text, item->name_bytes)
                              : NULL;
    if (nearest != NULL)
        options_add_message(warnings, "unknown option: %s; ignored; did you mean %s?", item->quoted,
                            nearest);
    else
        options_add_message(warnings, "unknown option: %s; ignored", item->quoted);
}

static void take_named(struct options_parser *parser, const struct options_item *item)
{
    const enum options_id id = options_find(item->text, item->name_bytes);

    if (id == OPTIONS_ID_LIMIT)
        take_unknown(parser, item);
    else
        take_known(parser, id, item);
}

static void take_item(struct options_parser *parser, const char *text, size_t length_bytes)
{
    struct options_item item = {.text = text, .name_bytes = length_bytes};
    const char *equals = memchr(text, '=', length_bytes);

    if (length_bytes == 0) {
        options_add_message(&parser->result->warnings,
                            "nothing stands between two commas, or after the last one; ignored");
        return;
    }
    if (equals != NULL) {
        item.name_bytes = (size_t)(equals - text);
        item.value = equals + 1;
        item.value_bytes = length_bytes - item.name_bytes - 1;
    }
    options_quote(text, length_bytes, item.quoted, sizeof item.quoted);
    take_named(parser, &item);
}

/* False for a string that is refused whole, unread. */
static bool is_readable(const char *text, size_t length_bytes, struct options_messages *errors)
{
    const char *nul = length_bytes == 0 ? NULL : memchr(text, '\0', length_bytes);

    if (length_bytes > OPTIONS_MAX_BYTES) {
        options_add_message(errors, "the agent string has %zu bytes; allowed: %d", length_bytes,
                            OPTIONS_MAX_BYTES);
        return false;
    }
    if (nul != NULL) {
        options_add_message(errors,
                            "the agent string holds a NUL byte at offset %zu; allowed: none",
                            (size_t)(nul - text));
        return false;
    }
    return true;
}

/* Before the first option. */
static struct options_parser begin(struct options_result *result)
{
    options_defaults(&result->values);
    result->errors.count = 0;
    result->warnings.count = 0;
    return (struct options_parser){.result = result};
}

bool options_parse(const char *text, size_t length_bytes, struct options_result *result)
{
    struct options_parser parser = begin(result);

    if (text == NULL)
        length_bytes = 0;
    if (!is_readable(text, length_bytes, &result->errors))
        return false;

    for (size_t at = 0; length_bytes > 0 && at <= length_bytes;) {
        const char *comma = at < length_bytes ? memchr(text + at, ',', length_bytes - at) : NULL;
        const size_t end = comma == NULL ? length_bytes : (size_t)(comma - text);

        take_item(&parser, text + at, end - at);
        at = end + 1;
    }
    return options_conclude(&parser);
}

bool options_parse_pairs(const char *const *names, const char *const *values, size_t count,
                         struct options_result *result)
{
    struct options_parser parser = begin(result);

    for (size_t i = 0; i < count; i++) {
        struct options_item item = {.text = names[i],
                                    .name_bytes = strlen(names[i]),
                                    .value = values[i],
                                    .value_bytes = values[i] == NULL ? 0 : strlen(values[i])};
        char whole[2 * OPTIONS_QUOTED_BYTES];

        snprintf(whole, sizeof whole, "%s%s%s", names[i], values[i] == NULL ? "" : "=",
                 values[i] == NULL ? "" : values[i]);
        options_quote(whole, strlen(whole), item.quoted, sizeof item.quoted);
        take_named(&parser, &item);
    }
    return options_conclude(&parser);
}
