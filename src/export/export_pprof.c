/*
 * pprof: one protocol buffer, compressed by gzip, as `go tool pprof` and many services read it. Context: dump, tool.
 *
 * Message Profile of https://github.com/google/pprof/blob/main/proto/profile.proto: samples and, where they stand for
 * something else, that too. Threads, endpoints and attributes are labels of the samples, not frames.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "export/export_proto_internal.h"

/* Fields of message Profile that are not tables. */
enum {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_TIME_NANOS = 9,
    PPROF_DURATION_NANOS = 10,
    PPROF_COMMENT = 13,
    PPROF_DEFAULT_SAMPLE_TYPE = 14,
};

static const struct export_proto_fields pprof_fields = {
    .string_table = 6,
    .function_table = 5,
    .function_id = 1,
    .function_name = 2,
    .function_system_name = 3,
    .mapping_table = 3,
    .mapping_id = 1,
    .mapping_file = 5,
    .mapping_has_functions = 7,
    .location_table = 4,
    .location_id = 1,
    .location_mapping = 2,
    .location_line = 4,
};

struct pprof {
    const struct export_job *job;
    struct export_proto_tables tables;
    struct export_text out; /* all but the tables */
    struct export_text sample, part, text;
    bool has_weight; /* beside the number of samples */
};

static void put_type(struct pprof *pprof, unsigned field, const char *type, const char *unit)
{
    export_proto_number(&pprof->part, 1, export_proto_string(&pprof->tables, type));
    export_proto_number(&pprof->part, 2, export_proto_string(&pprof->tables, unit));
    export_proto_message(&pprof->out, field, &pprof->part);
}

static void put_comment(struct pprof *pprof, const char *text)
{
    export_proto_number(&pprof->out, PPROF_COMMENT, export_proto_string(&pprof->tables, text));
}

/* What it is, and what was lost. */
static void put_comments(struct pprof *pprof)
{
    const struct profile_about *about = profile_about_of(pprof->job->profile);
    const char *title = pprof->job->options->title;
    const char *part = pprof->job->options->part;
    uint64_t signals;
    uint64_t samples;
    size_t count;
    const struct profile_loss *losses = profile_losses(pprof->job->profile, &count);
    char line[512];

    put_comment(pprof, "jaywalk " JAYWALK_VERSION);
    if (title != NULL && title[0] != '\0')
        put_comment(pprof, title);
    else if (about->title[0] != '\0')
        put_comment(pprof, about->title);
    if (part != NULL && part[0] != '\0')
        put_comment(pprof, part);
    if (!profile_trust(pprof->job->profile, &signals, &samples))
        return;
    snprintf(line, sizeof line, "%" PRIu64 " of %" PRIu64 " signals became samples", samples,
             signals);
    put_comment(pprof, line);
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "lost %" PRIu64 ": %s", losses[i].count,
                 losses[i].text[0] == '\0' ? losses[i].name : losses[i].text);
        put_comment(pprof, line);
    }
}

static void put_head(struct pprof *pprof)
{
    const struct profile_about *about = profile_about_of(pprof->job->profile);
    const char *event = export_proto_type(about, true);
    const char *samples = export_proto_type(about, false);

    put_type(pprof, PPROF_SAMPLE_TYPE, samples, "count");
    if (pprof->has_weight)
        put_type(pprof, PPROF_SAMPLE_TYPE, event, export_proto_unit(about->unit));
    export_proto_number(&pprof->out, PPROF_TIME_NANOS, about->start_unix_ns);
    export_proto_number(&pprof->out, PPROF_DURATION_NANOS, about->duration_ns);
    export_proto_number(
        &pprof->out, PPROF_DEFAULT_SAMPLE_TYPE,
        export_proto_string(&pprof->tables,
                            pprof->job->is_by_samples || !pprof->has_weight ? samples : event));
    put_comments(pprof);
}

static void put_label(struct pprof *pprof, const struct profile_name *name)
{
    struct export_proto_label label;

    if (!export_proto_label_of(name, &pprof->text, &label))
        return;
    if (label.value[0] != '\0') {
        export_proto_number(&pprof->part, 1, export_proto_string(&pprof->tables, label.key));
        export_proto_number(&pprof->part, 2, export_proto_string(&pprof->tables, label.value));
        export_proto_message(&pprof->sample, 3, &pprof->part);
    }
    if (label.tid != 0) {
        export_proto_number(&pprof->part, 1, export_proto_string(&pprof->tables, "thread_id"));
        export_proto_number(&pprof->part, 3, (uint64_t)label.tid);
        export_proto_message(&pprof->sample, 3, &pprof->part);
    }
}

static void put_sample(struct pprof *pprof, uint32_t number)
{
    const struct export_job *job = pprof->job;
    const struct profile_node *node = &job->nodes[number];

    for (uint32_t at = number; at != 0; at = job->nodes[at].parent) {
        const uint32_t name = job->nodes[at].name;

        if (!profile_is_root(profile_name_of(job->profile, name)->kind))
            export_proto_varint(&pprof->part, export_proto_location(&pprof->tables, name, 0));
    }
    export_proto_message(&pprof->sample, 1, &pprof->part);
    export_proto_varint(&pprof->part, node->self_samples);
    if (pprof->has_weight)
        export_proto_varint(&pprof->part, node->self_weight);
    export_proto_message(&pprof->sample, 2, &pprof->part);
    for (uint32_t at = number; at != 0; at = job->nodes[at].parent) {
        const struct profile_name *name = profile_name_of(job->profile, job->nodes[at].name);

        if (profile_is_root(name->kind))
            put_label(pprof, name);
    }
    export_proto_message(&pprof->out, PPROF_SAMPLE, &pprof->sample);
}

bool export_pprof(const struct export_job *job)
{
    struct pprof pprof = {.job = job};
    bool has_memory = export_proto_open(&pprof.tables, job, &pprof_fields);

    pprof.has_weight = strcmp(profile_about_of(job->profile)->unit, "samples") != 0;
    if (has_memory)
        put_head(&pprof);
    for (uint32_t i = 0; has_memory && i < job->node_count; i++) {
        if (job->nodes[i].self_samples != 0 || job->nodes[i].self_weight != 0)
            put_sample(&pprof, i);
        has_memory = !pprof.tables.has_failed && !pprof.out.has_failed;
    }
    if (has_memory)
        export_text_add(&pprof.out, pprof.tables.out.text, pprof.tables.out.length_bytes);
    has_memory = has_memory && !pprof.out.has_failed && !pprof.tables.out.has_failed &&
                 export_put_gzip(job->out, pprof.out.text, pprof.out.length_bytes);

    export_proto_close(&pprof.tables);
    export_text_free(&pprof.out);
    export_text_free(&pprof.sample);
    export_text_free(&pprof.part);
    export_text_free(&pprof.text);
    return has_memory;
}
