/*
 * cli_beside_internal - what a conversion reads beside its profile.
 *
 * For      convert: what the profile is compared with, and the further events of an explorer page.
 * Callers  cmd_convert.c.   Context  tool.
 * Memory   a profile and the moments of each further event, until cli_beside_close.
 */
#ifndef JW_CLI_CLI_BESIDE_INTERNAL_H
#define JW_CLI_CLI_BESIDE_INTERNAL_H

#include "cli/cli_contexts_internal.h"
#include "cli/cli_internal.h"

/* Which samples, and what they are taken apart by. */
struct cli_cut {
    struct cli_part part;
    struct cli_bys bys;
    unsigned jobs; /* threads that read */
};

struct cli_requests *cli_read_requests(const char *in, struct cli_cut *cut, bool is_quiet,
                                       struct jw_error *err);

/* What the recording is compared with: the same samples of another one. NULL and `err`: it has none. */
struct profile *cli_read_base(const char *path, const struct cli_wish *of,
                              const struct profile_config *config, struct cli_cut *cut,
                              struct jw_error *err);

/* Further events; zeroed at first. */
struct cli_beside {
    char names[CLI_EVENTS_LIMIT][JW_PERF_NAME_BYTES]; /* of --event, the first included */
    size_t name_count;
    bool is_asked; /* by --event: then each has to have samples */
    struct export_event others[CLI_EVENTS_LIMIT];
    struct profile_moments *own_moments[CLI_EVENTS_LIMIT];
    size_t other_count;
};

struct cli_beside_of {
    const struct cli_input *input; /* as the first was read */
    const struct cli_wish *wish;
    const struct profile_config *config;
    struct cli_cut *cut;
    const char *base_path; /* NULL: nothing is compared */
};

/* The value of --event names several. A counter's name may hold commas. */
bool cli_has_events(const char *event);

/* The names in --event; NULL: those that the recording has. False and `err`: they have no sense. */
JW_MUST_CHECK bool cli_beside_names(struct cli_beside *beside, const char *event,
                                    struct jw_error *err);

/* Reads the file once more for each of them. False and `err`: it cannot be read, or has not what was named. */
JW_MUST_CHECK bool cli_beside_read(struct cli_beside *beside, const struct cli_beside_of *of,
                                   struct jw_error *err);
bool cli_beside_shows(const struct cli_beside *beside, const char *event); /* NULL is fine */
void cli_beside_close(struct cli_beside *beside);                          /* likewise */

#endif
