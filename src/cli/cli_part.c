/* A part of the samples, by what they were taken for: its options, in words. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_contexts_internal.h"

/* What the table shows where there is no endpoint to show. */
#define CLI_NO_ENDPOINT "[no endpoint]"
#define CLI_NO_REQUEST  "[no context]"

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

bool cli_trace_id_read(const char *text, struct cli_trace_id *out)
{
    const size_t length = strlen(text);

    *out = (struct cli_trace_id){0};
    for (size_t i = 0; i < length; i++) {
        const int digit = hex_digit(text[i]);

        if (digit < 0)
            return false;
        out->high = out->high << 4 | out->low >> 60;
        out->low = out->low << 4 | (uint64_t)digit;
    }
    return length > 0 && length <= 32;
}

static bool read_span_id(const char *text, struct cli_span_id *out)
{
    const bool has_mark = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = has_mark ? text + 2 : text;
    struct cli_trace_id hex;
    const bool is_hex = cli_trace_id_read(digits, &hex) && hex.high == 0;
    char *end;

    errno = 0;
    const uint64_t decimal = strtoull(text, &end, 10);
    const bool is_decimal =
        !has_mark && text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    out->hex = is_hex ? hex.low : decimal;
    out->decimal = is_decimal ? decimal : hex.low;
    return is_hex || is_decimal;
}

static bool has_room(const struct cli_list *list, const char *name, struct jw_error *err)
{
    if (list->count <= CLI_PART_LIMIT)
        return true;
    jw_error_set(err, "--%s: more than %d of them", name, CLI_PART_LIMIT);
    return false;
}

/* "tenant=acme*", or "tenant" for any value. */
static bool read_attribute(const char *text, struct cli_pattern *out, struct jw_error *err)
{
    const size_t length = strcspn(text, "=");

    *out = (struct cli_pattern){.text = text[length] == '=' ? text + length + 1 : NULL};
    if (length > 0 && length < sizeof out->name) {
        memcpy(out->name, text, length);
        return true;
    }
    jw_error_set(err, "--attribute: '%.100s' has no name of an attribute; give NAME=VALUE", text);
    return false;
}

bool cli_part_read(const struct cli_values *values, struct cli_part *part, struct jw_error *err)
{
    *part = (struct cli_part){.end_ns = UINT64_MAX, .is_of_safepoints = values->is_of_safepoints};
    if ((values->latency != NULL && !cli_latency_read(values->latency, &part->latency_ns, err)) ||
        (values->from != NULL &&
         !profile_time_read("--from", values->from, true, &part->from, err)) ||
        (values->to != NULL && !profile_time_read("--to", values->to, true, &part->to, err)) ||
        !has_room(&values->threads, "thread", err) ||
        !has_room(&values->endpoints, "endpoint", err) ||
        !has_room(&values->attributes, "attribute", err) ||
        !has_room(&values->trace_ids, "trace-id", err) ||
        !has_room(&values->span_ids, "span-id", err))
        return false;
    for (size_t i = 0; i < values->threads.count; i++)
        part->threads[part->thread_count++] =
            (struct cli_pattern){.text = values->threads.texts[i]};
    for (size_t i = 0; i < values->endpoints.count; i++) {
        const char *text = values->endpoints.texts[i];

        const bool is_no_endpoint = strcmp(text, CLI_NO_ENDPOINT) == 0;
        const bool is_no_context = strcmp(text, CLI_NO_REQUEST) == 0;

        part->endpoints[part->endpoint_count++] =
            (struct cli_pattern){.text = text, .is_used = is_no_endpoint || is_no_context};
        part->has_no_endpoint |= is_no_endpoint;
        part->has_no_context |= is_no_context;
    }
    for (size_t i = 0; i < values->attributes.count; i++) {
        if (!read_attribute(values->attributes.texts[i], &part->attributes[part->attribute_count++],
                            err))
            return false;
    }
    for (size_t i = 0; i < values->trace_ids.count; i++) {
        const char *text = values->trace_ids.texts[i];

        if (cli_trace_id_read(text, &part->trace_ids[part->trace_id_count++]))
            continue;
        jw_error_set(err, "--trace-id: '%.100s' is no trace id; it has up to 32 hex digits", text);
        return false;
    }
    for (size_t i = 0; i < values->span_ids.count; i++) {
        const char *text = values->span_ids.texts[i];

        if (read_span_id(text, &part->span_ids[part->span_id_count++]))
            continue;
        jw_error_set(
            err, "--span-id: '%.100s' is no span id; it has up to 16 hex digits, or is a number",
            text);
        return false;
    }
    return true;
}

static void note_used(struct cli_pattern *patterns, const struct cli_pattern *copies, size_t count)
{
    for (size_t i = 0; i < count; i++)
        patterns[i].is_used |= copies[i].is_used;
}

void cli_part_note_used(struct cli_part *part, const struct cli_part *copy)
{
    part->is_latency_used |= copy->is_latency_used;
    part->is_safepoint_used |= copy->is_safepoint_used;
    note_used(part->threads, copy->threads, part->thread_count);
    note_used(part->endpoints, copy->endpoints, part->endpoint_count);
    note_used(part->attributes, copy->attributes, part->attribute_count);
}

void cli_part_close(struct cli_part *part)
{
    jw_free(part->span_intervals);
    part->span_intervals = NULL;
    part->span_interval_count = part->span_interval_capacity = 0;
}

bool cli_part_settle(struct cli_part *part, const char *path, struct jw_error *err)
{
    return cli_window_settle(part, path, err) && cli_latency_settle(part, path, err);
}

bool cli_part_is_whole(const struct cli_part *part)
{
    return part->endpoint_count + part->attribute_count + part->trace_id_count +
               part->span_id_count ==
           0;
}

static size_t tell_list(const struct cli_list *list, const char *name, char *text, size_t used,
                        size_t room)
{
    for (size_t i = 0; i < list->count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, " --%s='%.100s'", name, list->texts[i]);
    return used;
}

void cli_filters_tell(const struct cli_values *values, char *text, size_t room)
{
    const struct cli_agent_options *options = &values->agent;
    size_t used = 0;

    text[0] = '\0';
    if (values->state != NULL)
        used += (size_t)snprintf(text, room, " --state='%.100s'", values->state);
    if (values->from != NULL && used < room)
        used += (size_t)snprintf(text + used, room - used, " --from='%.100s'", values->from);
    if (values->to != NULL && used < room)
        used += (size_t)snprintf(text + used, room - used, " --to='%.100s'", values->to);
    if (values->latency != NULL && used < room)
        used += (size_t)snprintf(text + used, room - used, " --latency='%.100s'", values->latency);
    if (values->instance != NULL && used < room)
        used +=
            (size_t)snprintf(text + used, room - used, " --instance='%.100s'", values->instance);
    if (values->is_of_safepoints && used < room)
        used += (size_t)snprintf(text + used, room - used, " --safepoint");
    used = tell_list(&values->threads, "thread", text, used, room);
    used = tell_list(&values->endpoints, "endpoint", text, used, room);
    used = tell_list(&values->attributes, "attribute", text, used, room);
    used = tell_list(&values->trace_ids, "trace-id", text, used, room);
    used = tell_list(&values->span_ids, "span-id", text, used, room);
    for (size_t i = 0; i < options->count && used < room; i++) {
        if (strcmp(options->names[i], "include") == 0 || strcmp(options->names[i], "exclude") == 0)
            used += (size_t)snprintf(text + used, room - used, " --%s='%.100s'", options->names[i],
                                     options->values[i]);
    }
}

void cli_part_tell(const struct cli_part *part, char *text, size_t room)
{
    struct profile_words words = {.text = text, .room_bytes = room};
    char number[40];

    text[0] = '\0';
    for (size_t i = 0; i < part->endpoint_count; i++)
        profile_words_add(&words, i == 0 ? "" : " or ", "", "", part->endpoints[i].text);
    for (size_t i = 0; i < part->thread_count; i++)
        profile_words_thread(&words, i, part->threads[i].text);
    profile_words_window(&words, part->from.text, part->to.text);
    if (part->latency_ns > 0) {
        snprintf(number, sizeof number, "%llu us", (unsigned long long)part->latency_ns / 1000);
        profile_words_add(&words, words.used_bytes == 0 ? "" : ", ", "at least ", "", number);
    }
    if (part->is_of_safepoints)
        profile_words_add(&words, words.used_bytes == 0 ? "" : ", ", "a safepoint was waiting", "",
                          "");
    for (size_t i = 0; i < part->attribute_count; i++) {
        const struct cli_pattern *pattern = &part->attributes[i];

        profile_words_add(&words, words.used_bytes == 0 ? "" : ", ", pattern->name,
                          pattern->text == NULL ? "" : "=",
                          pattern->text == NULL ? "" : pattern->text);
    }
    for (size_t i = 0; i < part->trace_id_count; i++) {
        const struct cli_trace_id *id = &part->trace_ids[i];

        snprintf(number, sizeof number, "%016llx%016llx", (unsigned long long)id->high,
                 (unsigned long long)id->low);
        profile_words_add(&words, words.used_bytes == 0 ? "" : ", ", "trace ", number, "");
    }
    for (size_t i = 0; i < part->span_id_count; i++) {
        snprintf(number, sizeof number, "%016llx", (unsigned long long)part->span_ids[i].hex);
        profile_words_add(&words, words.used_bytes == 0 ? "" : ", ", "span ", number, "");
    }
}
