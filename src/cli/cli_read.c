/* Recordings as a profile, and what is said where they do not hold what was asked for. Context: tool. */
#include <string.h>

#include "cli/cli_contexts_internal.h"
#include "profile/profile_moments.h"

static struct profile *read_once(struct cli_input *inputs, size_t count,
                                 const struct profile_config *config, const struct cli_wish *wish,
                                 struct jw_error *err)
{
    struct profile *profile = profile_open(config, err);

    if (wish->moments != NULL)
        profile_moments_clear(wish->moments);

    for (size_t i = 0; profile != NULL && i < count; i++) {
        if (cli_feed(inputs[i].path, wish, inputs[i].requests, profile, &inputs[i].found, err))
            continue;
        profile_close(profile);
        profile = NULL;
    }
    return profile;
}

struct profile *cli_read_event(struct cli_input *inputs, size_t count,
                               const struct profile_config *config, struct cli_wish *wish,
                               struct jw_error *err)
{
    struct profile *profile = read_once(inputs, count, config, wish, err);
    bool has_weight = false;
    bool lacks_weight = false;

    for (size_t i = 0; i < count; i++) {
        has_weight |= inputs[i].found.has_weight;
        lacks_weight |= inputs[i].found.lacks_weight;
    }
    if (profile == NULL || !has_weight || !lacks_weight || wish->is_weightless)
        return profile;
    wish->is_weightless = true;
    profile_close(profile);
    return read_once(inputs, count, config, wish, err);
}

bool cli_has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = names; (at = strstr(at, name)) != NULL; at++) {
        const bool is_begin = at == names || (at - names > 1 && memcmp(at - 2, ", ", 2) == 0);

        if (is_begin && (at[length] == '\0' || memcmp(at + length, ", ", 2) == 0))
            return true;
    }
    return false;
}

static bool check_attribute(const struct cli_input *input, const char *name)
{
    const char *known = input->found.attributes;

    if (cli_has_name(known, name) || strlen(known) + 80 > sizeof input->found.attributes)
        return true;
    cli_complain("%s: no sample has an attribute '%.80s'%s%s", input->path, name,
                 known[0] == '\0' ? "; none has any" : "; it has: ", known);
    return false;
}

bool cli_check_contexts(const struct cli_input *input, const struct cli_wish *wish)
{
    if (!cli_needs_contexts(wish->part, wish->bys) || input->found.samples == 0)
        return true;
    if (!input->found.has_contexts) {
        cli_complain("%s: no sample of '%s' says what it was taken for; a program says so with the "
                     "classes of jaywalk.jar (io.jaywalk) or with jaywalk.h, while it is recorded",
                     input->path, wish->event);
        return false;
    }
    if (cli_needs_requests(wish->part, wish->bys) && cli_requests_at(input->requests, 0) == NULL) {
        cli_complain(
            "%s: samples say what they were taken for, but no root span of theirs is said to be "
            "a request to an endpoint; a program says so with Jaywalk.endpoint()",
            input->path);
        return false;
    }
    for (size_t i = 0; i < wish->part->attribute_count; i++) {
        if (!check_attribute(input, wish->part->attributes[i].name))
            return false;
    }
    for (size_t i = 0; i < wish->bys->count; i++) {
        if (wish->bys->items[i].kind == CLI_BY_ATTRIBUTE &&
            !check_attribute(input, wish->bys->items[i].name))
            return false;
    }
    return true;
}

void cli_tell_idle_part(const char *path, const struct cli_part *part)
{
    if (part->latency_ns > 0 && !part->is_latency_used)
        cli_complain(
            "%s: nothing that is shown took --latency or longer, or was inside of a span that did "
            "(jaywalk.Span, jdk.MethodTrace, profiler.Span)",
            path);
    if (part->is_of_safepoints && !part->is_safepoint_used)
        cli_complain(
            "%s: --safepoint: no safepoint was waiting for the thread of a sample that is shown, "
            "or the recording "
            "does not tell; its setting safepointsamples says whether (jaywalk doctor shows it)",
            path);
    for (size_t i = 0; i < part->thread_count; i++) {
        if (!part->threads[i].is_used)
            cli_complain("%s: no thread is matched by --thread='%.200s'; 'jaywalk convert "
                         "--threads -o tree' "
                         "shows them, and a star stands for anything",
                         path, part->threads[i].text);
    }
    for (size_t i = 0; i < part->endpoint_count; i++) {
        const struct cli_pattern *pattern = &part->endpoints[i];

        if (!pattern->is_used)
            cli_complain(
                "%s: no endpoint is matched by --endpoint='%.200s'; 'jaywalk endpoints' lists "
                "them, and a star stands for anything",
                path, pattern->text);
    }
    for (size_t i = 0; i < part->attribute_count; i++) {
        const struct cli_pattern *pattern = &part->attributes[i];

        if (pattern->is_used)
            continue;
        if (pattern->text == NULL)
            cli_complain("%s: no sample is matched by --attribute='%.80s'", path, pattern->name);
        else
            cli_complain("%s: no sample is matched by --attribute='%.80s=%.200s'; 'jaywalk "
                         "endpoints --by attribute:%.80s' lists its values",
                         path, pattern->name, pattern->text, pattern->name);
    }
}
