/* What a conversion reads beside its profile: what that is compared with, and further events of the file. Context: tool. */
#include "cli/cli_beside_internal.h"

#include <stdio.h>
#include <string.h>

#include "profile/profile_moments.h"

struct cli_requests *cli_read_requests(const char *in, struct cli_cut *cut, bool is_quiet,
                                       struct jw_error *err)
{
    struct cli_requests *requests = cli_requests_read(in, true, is_quiet, err);

    if (requests != NULL)
        cli_requests_judge(requests, &cut->part);
    return requests;
}

struct profile *cli_read_base(const char *path, const struct cli_wish *of,
                              const struct profile_config *config, struct cli_cut *cut,
                              struct jw_error *err)
{
    struct cli_input input = {.path = path};
    struct cli_wish wish = *of;
    struct profile *profile = NULL;

    wish.moments = NULL;
    if (cli_needs_requests(&cut->part, &cut->bys))
        input.requests = cli_read_requests(path, cut, wish.is_quiet, err);
    if (err->message[0] == '\0')
        profile = cli_read_event(&input, 1, config, &wish, err);
    if (profile != NULL && input.found.let_in == 0) {
        jw_error_set(err, "--diff: %.200s has no samples of '%s'%s", path, wish.event,
                     input.found.samples > 0 ? " that the filters let in" : "");
        profile_close(profile);
        profile = NULL;
    }
    cli_requests_close(input.requests);
    return profile;
}

/* ---- names ---- */

static bool add_name(struct cli_beside *beside, const char *name, size_t length,
                     struct jw_error *err)
{
    if (length == 0 || length >= sizeof beside->names[0]) {
        jw_error_set(err, length == 0 ? "--event: a name between commas is empty"
                                      : "--event: no event has a name that long");
        return false;
    }
    for (size_t i = 0; i < beside->name_count; i++) {
        if (strlen(beside->names[i]) == length && memcmp(beside->names[i], name, length) == 0) {
            jw_error_set(err, "--event: '%s' stands there twice", beside->names[i]);
            return false;
        }
    }
    if (beside->name_count == JW_COUNT_OF(beside->names)) {
        jw_error_set(err, "--event: a page shows %u events at the most", CLI_EVENTS_LIMIT);
        return false;
    }
    memcpy(beside->names[beside->name_count], name, length);
    beside->names[beside->name_count++][length] = '\0';
    return true;
}

bool cli_has_events(const char *event)
{
    return event != NULL && strchr(event, ',') != NULL && !cli_is_counter(event);
}

bool cli_beside_names(struct cli_beside *beside, const char *event, struct jw_error *err)
{
    beside->is_asked = event != NULL;
    if (event == NULL)
        return true;
    if (!cli_has_events(event))
        return add_name(beside, event, strlen(event), err);
    for (const char *at = event;;) {
        const char *comma = strchr(at, ',');
        const size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);

        if (!add_name(beside, at, length, err))
            return false;
        if (comma == NULL)
            return true;
        at = comma + 1;
    }
}

/* ---- profiles ---- */

/* One of them; not there afterwards where it has no samples and nobody named it. */
static bool read_other(struct cli_beside *beside, const struct cli_beside_of *of, const char *name,
                       struct jw_error *err)
{
    struct export_event *other = &beside->others[beside->other_count];
    struct profile_moments *moments = profile_moments_open(err);
    struct cli_input input = {.path = of->input->path, .requests = of->input->requests};
    struct cli_wish wish = *of->wish;

    wish.event = name;
    wish.is_weightless = false;
    wish.moments = moments;
    *other = (struct export_event){.moments = moments};
    if (moments != NULL)
        other->profile = cli_read_event(&input, 1, of->config, &wish, err);
    if (other->profile != NULL && input.found.let_in > 0) {
        struct jw_error none = {{0}}; /* then this one is not compared */

        if (of->base_path != NULL)
            other->base = cli_read_base(of->base_path, &wish, of->config, of->cut, &none);
        beside->own_moments[beside->other_count++] = moments;
        return true;
    }
    if (other->profile != NULL && beside->is_asked)
        jw_error_set(err, "%.200s: no samples of '%s'%s", of->input->path, name,
                     input.found.samples > 0 ? " that the filters let in" : "");
    profile_close(other->profile);
    profile_moments_close(moments);
    return err->message[0] == '\0';
}

bool cli_beside_read(struct cli_beside *beside, const struct cli_beside_of *of,
                     struct jw_error *err)
{
    const struct cli_found *found = &of->input->found;

    for (size_t i = 0; !beside->is_asked && i < found->other_event_count; i++) {
        if (!add_name(beside, found->other_events[i], strlen(found->other_events[i]), err))
            return false;
    }
    for (size_t i = 0; i < beside->name_count; i++) {
        if (strcmp(beside->names[i], of->wish->event) != 0 &&
            !read_other(beside, of, beside->names[i], err))
            return false;
    }
    return true;
}

bool cli_beside_shows(const struct cli_beside *beside, const char *event)
{
    for (size_t i = 0; beside != NULL && event != NULL && i < beside->other_count; i++) {
        if (strcmp(profile_about_of(beside->others[i].profile)->event, event) == 0)
            return true;
    }
    return false;
}

void cli_beside_close(struct cli_beside *beside)
{
    for (size_t i = 0; beside != NULL && i < beside->other_count; i++) {
        profile_close(beside->others[i].profile);
        profile_close(beside->others[i].base);
        profile_moments_close(beside->own_moments[i]);
    }
    jw_free(beside);
}
