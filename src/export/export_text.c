/*
 * Text: what was measured and how far to trust it, hottest methods, hottest stacks. Context: dump,
 * tool.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/export_internal.h"

void export_put_title(const struct export_job *job, uint32_t number, enum export_type type,
                      struct export_text *scratch)
{
    const struct profile_name *name = profile_name_of(job->profile, number);

    scratch->length_bytes = 0;
    export_title(scratch, name, &job->view);
    export_add_suffix(scratch, job->options, name, type);
    if (!scratch->has_failed)
        export_put_escaped(job->out, scratch->text, EXPORT_ESCAPE_LINE);
}

static void export_put_trust(const struct export_job *job)
{
    struct export_out *out = job->out;
    uint64_t signals;
    uint64_t samples;
    size_t loss_count;
    const struct profile_loss *losses = profile_losses(job->profile, &loss_count);
    uint64_t known = 0;

    if (!profile_trust(job->profile, &signals, &samples))
        return;
    export_put(out, "Signals   ");
    export_put_grouped(out, signals);
    export_put(out, ", of which ");
    export_put_share(out, samples, signals);
    export_put(out, " became samples\n");
    for (size_t i = 0; i < loss_count; i++) {
        known += losses[i].count;
        export_put(out, "Lost      ");
        export_put_grouped(out, losses[i].count);
        export_put(out, " (");
        export_put_share(out, losses[i].count, signals);
        export_put(out, ") ");
        export_put_escaped(out, losses[i].text[0] == '\0' ? losses[i].name : losses[i].text,
                           EXPORT_ESCAPE_LINE);
        export_put_char(out, '\n');
    }
    if (samples + known != signals) {
        export_put(out, "MISMATCH  signals are not samples + losses: ");
        export_put_grouped(out, samples + known);
        export_put(out, " are accounted for; do not trust this profile\n");
    }
}

void export_put_head(const struct export_job *job)
{
    const struct profile_about *about = profile_about_of(job->profile);
    struct export_out *out = job->out;

    export_put_headline(job, EXPORT_ESCAPE_LINE);
    export_put(out, "\n\nTotal     ");
    if (!job->is_by_samples && strcmp(job->unit, "samples") != 0) {
        export_put_value(out, job->nodes[0].total_weight, job->unit);
        export_put(out, " in ");
    }
    export_put_grouped(out, job->nodes[0].total_samples);
    export_put(out, " samples\n");
    if (about->start_unix_ns != 0) {
        const time_t second = (time_t)(about->start_unix_ns / 1000000000u);
        struct tm utc;
        char text[32];

        if (gmtime_r(&second, &utc) != NULL &&
            strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) > 0)
            export_put_format(out, "Start     %s UTC\n", text);
    }
    if (about->duration_ns != 0) {
        export_put(out, "Length    ");
        export_put_value(out, about->duration_ns, "ns");
        export_put_char(out, '\n');
    }
    export_put_trust(job);
    export_put_ledger(job);
    export_put_cost(job);
}

void export_put_column(struct export_out *out, uint64_t part, uint64_t whole)
{
    const unsigned rounded =
        whole == 0 ? 0 : (unsigned)((double)part * 10000.0 / (double)whole + 0.5);
    const unsigned hundredths = rounded >= 10000 && part < whole ? 9999 : rounded;

    export_put_format(out, "%5u.%02u %%", hundredths / 100, hundredths % 100);
}

static bool export_put_methods(const struct export_job *job, struct export_text *scratch)
{
    static const char *const types[] = {
        [EXPORT_TYPE_INTERPRETED] = "interp",
        [EXPORT_TYPE_COMPILED] = "compiled",
        [EXPORT_TYPE_INLINED] = "inlined",
        [EXPORT_TYPE_NATIVE] = "native",
        [EXPORT_TYPE_CPP] = "C++",
        [EXPORT_TYPE_KERNEL] = "kernel",
        [EXPORT_TYPE_C1] = "C1",
    };
    struct export_out *out = job->out;
    const uint64_t whole = export_total(job, &job->nodes[0]);
    uint32_t count = 0;
    struct export_method *methods = export_methods(job, &count);

    if (methods == NULL)
        return false;

    const uint32_t limit = count < job->options->method_count ? count : job->options->method_count;
    export_put_format(out, "\nHottest methods, by self (%u of %u)\n\n", limit, count);
    export_put(out, "      self      total  type      method\n");
    for (uint32_t i = 0; i < limit; i++) {
        export_put_column(out, methods[i].self, whole);
        export_put_char(out, ' ');
        export_put_column(out, methods[i].total, whole);
        export_put_format(out, "  %-8s  ", types[methods[i].type]);
        export_put_title(job, methods[i].name, methods[i].type, scratch);
        export_put_char(out, '\n');
    }
    jw_free(methods);
    return true;
}

struct export_stack {
    uint32_t node;
    uint64_t self;
};

static int export_compare_stacks(const void *left, const void *right)
{
    const struct export_stack *a = left;
    const struct export_stack *b = right;

    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static bool export_put_stacks(const struct export_job *job, struct export_text *scratch)
{
    struct export_out *out = job->out;
    const uint64_t whole = export_total(job, &job->nodes[0]);
    struct export_stack *stacks = jw_alloc(jw_mul_bytes(job->node_count, sizeof *stacks));
    uint32_t count = 0;

    if (stacks == NULL)
        return false;
    for (uint32_t i = 0; i < job->node_count; i++) {
        const uint64_t self = export_self(job, &job->nodes[i]);

        if (self > 0)
            stacks[count++] = (struct export_stack){.node = i, .self = self};
    }
    qsort(stacks, count, sizeof *stacks, export_compare_stacks);

    const uint32_t limit = count < job->options->stack_count ? count : job->options->stack_count;
    export_put_format(out, "\nHottest stacks (%u of %u)\n", limit, count);
    for (uint32_t i = 0; i < limit; i++) {
        export_put(out, "\n--- ");
        export_put_value(out, stacks[i].self, job->unit);
        export_put(out, ", ");
        export_put_share(out, stacks[i].self, whole);
        export_put_char(out, '\n');
        uint32_t row = 0;
        for (uint32_t at = stacks[i].node; at != 0; at = job->nodes[at].parent) {
            const struct profile_node *node = &job->nodes[at];
            const struct profile_name *name = profile_name_of(job->profile, node->name);

            export_put_format(out, "  [%2u] ", row++);
            export_put_title(job, node->name, export_type_of(name, node), scratch);
            export_put_char(out, '\n');
        }
        if (row == 0)
            export_put(out, "  [no frames]\n");
    }
    jw_free(stacks);
    return true;
}

bool export_put_none(const struct export_job *job)
{
    if (job->nodes[0].total_samples > 0)
        return false;
    if (export_filtered(job) == 0) {
        export_put(job->out, "\nNo samples: nothing used CPU time, or nothing could be sampled.\n");
        return true;
    }
    export_put(job->out, "\nNo samples: the filters left nothing of ");
    export_put_grouped(job->out, export_filtered(job));
    export_put(job->out, ".\n");
    return true;
}

bool export_text_format(const struct export_job *job)
{
    struct export_text scratch = {0};
    bool has_memory = true;

    export_put_head(job);
    (void)export_put_none(job);
    has_memory = export_put_threads(job);
    if (has_memory && job->options->method_count > 0)
        has_memory = export_put_methods(job, &scratch);
    if (has_memory && job->options->stack_count > 0)
        has_memory = export_put_stacks(job, &scratch);
    has_memory = has_memory && !scratch.has_failed;
    export_text_free(&scratch);
    return has_memory;
}
