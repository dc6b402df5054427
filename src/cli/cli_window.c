/* A part of the time of a recording: what --from and --to mean. Context: tool. */
#include "cli/cli_contexts_internal.h"

bool cli_span(const char *path, uint64_t *start_ns, uint64_t *end_ns, struct jw_error *err)
{
    struct jfr_reader_chunk chunk;
    struct jw_error unread = {{0}}; /* who reads the events says it */
    struct jfr_reader *reader = jfr_reader_open(path, err);

    *start_ns = *end_ns = 0;
    if (reader == NULL)
        return false;
    while (jfr_reader_next_whole(reader, &chunk, &unread)) {
        if (*end_ns == 0 || chunk.start_unix_ns < *start_ns)
            *start_ns = chunk.start_unix_ns;
        if (chunk.start_unix_ns + chunk.duration_ns > *end_ns)
            *end_ns = chunk.start_unix_ns + chunk.duration_ns;
    }
    jfr_reader_close(reader);
    return true;
}

bool cli_window_settle(struct cli_part *part, const char *path, struct jw_error *err)
{
    uint64_t start_ns, end_ns;

    if (part->from.kind == PROFILE_TIME_ANY && part->to.kind == PROFILE_TIME_ANY)
        return true;
    if (!cli_span(path, &start_ns, &end_ns, err))
        return false;
    if (end_ns == 0)
        return true; /* no chunk: there is nothing to cut */
    part->begin_ns = profile_time_at(&part->from, start_ns, end_ns, 0);
    part->end_ns = profile_time_at(&part->to, start_ns, end_ns, UINT64_MAX);
    if (part->begin_ns < part->end_ns)
        return true;
    jw_error_set(err, "--from=%.100s is not before --to=%.100s in %.300s",
                 part->from.text == NULL ? "" : part->from.text,
                 part->to.text == NULL ? "" : part->to.text, path);
    return false;
}
