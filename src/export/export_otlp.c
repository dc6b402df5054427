/*
 * OTLP profiles: message ProfilesData of OpenTelemetry, uncompressed; the same bytes are a request to a collector
 * (ExportProfilesServiceRequest). Context: dump, tool.
 *
 * Numbers of fields are those of opentelemetry-proto 1.10 and 1.11 (profiles/v1development; 1.9 had others), which the
 * scope of the profiles says: attribute jaywalk.otlp.proto. One profile for each type of value, the one that was asked for
 * first. Before anything is written the message is read again, export_otlp_check.c.
 */
#include <string.h>

#include "base/version.h"
#include "export/export_otlp_internal.h"

enum {
    DATA_RESOURCE_PROFILES = 1,
    DATA_DICTIONARY = 2,
    RESOURCE_SCOPES = 2,
    SCOPE_SCOPE = 1,
    SCOPE_PROFILES = 2,
    LINK_TABLE = 4,
    ATTRIBUTE_TABLE = 6,
    STACK_TABLE = 7,
};

static const struct export_proto_fields otlp_fields = {
    .string_table = 5,
    .function_table = 3,
    .function_name = 1,
    .function_system_name = 2,
    .mapping_table = 1,
    .mapping_file = 4,
    .location_table = 2,
    .location_mapping = 1,
    .location_line = 3,
    .location_attributes = 4,
    .begins_with_none = true,
};

struct otlp {
    const struct export_job *job;
    struct export_proto_tables tables;
    struct jw_map attributes; /* key, value -> number */
    uint32_t attribute_count;
    struct jw_map stacks; /* packed locations -> number */
    uint32_t stack_count;
    struct export_text samples[2];   /* fields of the messages of samples: counts, weights */
    struct export_text head, sample; /* what a sample has in both profiles, and with its value */
    struct export_text profile_heads[2];
    struct export_text part, inner, text, numbers, out;
    bool has_failed; /* memory was out */
};

struct attribute_key {
    uint32_t key; /* number of a text */
    uint32_t text;
    int64_t number;
};

/* Number of an attribute with this value: a text, or, where that is NULL, a number. */
static uint32_t attribute_of(struct otlp *otlp, const char *key, const char *text, int64_t number)
{
    enum {
        ATTRIBUTE_KEY = 1,
        ATTRIBUTE_VALUE = 2,
        VALUE_STRING = 1,
        VALUE_INT = 3,
    };
    const struct attribute_key wanted = {
        .key = export_proto_string(&otlp->tables, key),
        .text = text == NULL ? 0 : export_proto_string(&otlp->tables, text),
        .number = text == NULL ? number : -1,
    };
    uint64_t *known = jw_map_put(&otlp->attributes, &wanted, sizeof wanted);

    if (known == NULL) {
        otlp->has_failed = true;
        return 0;
    }
    if (*known != 0)
        return (uint32_t)*known;
    *known = ++otlp->attribute_count;
    if (text != NULL)
        export_proto_text(&otlp->inner, VALUE_STRING, text);
    else
        export_proto_number(&otlp->inner, VALUE_INT, (uint64_t)number);
    export_proto_number(&otlp->part, ATTRIBUTE_KEY, wanted.key);
    export_proto_message(&otlp->part, ATTRIBUTE_VALUE, &otlp->inner);
    export_proto_message(&otlp->tables.out, ATTRIBUTE_TABLE, &otlp->part);
    return (uint32_t)*known;
}

/* profile.frame.type of the semantic conventions; NULL: it has none for this. */
static const char *frame_type(enum profile_name_kind kind)
{
    return kind == PROFILE_NAME_JAVA                                 ? "jvm"
           : kind == PROFILE_NAME_NATIVE || kind == PROFILE_NAME_CPP ? "native"
           : kind == PROFILE_NAME_KERNEL                             ? "kernel"
                                                                     : NULL;
}

static uint32_t location_of(struct otlp *otlp, uint32_t number)
{
    const struct profile_name *name = profile_name_of(otlp->job->profile, number);
    const char *type = frame_type(name->kind);
    const uint32_t attribute = type == NULL ? 0 : attribute_of(otlp, "profile.frame.type", type, 0);

    return export_proto_location(&otlp->tables, number, attribute);
}

/* Number of the stack that ends at this node, leaf first. */
static uint32_t stack_of(struct otlp *otlp, uint32_t number)
{
    const struct export_job *job = otlp->job;

    otlp->text.length_bytes = 0;
    for (uint32_t at = number; at != 0; at = job->nodes[at].parent) {
        const uint32_t name = job->nodes[at].name;

        if (!profile_is_root(profile_name_of(job->profile, name)->kind))
            export_proto_varint(&otlp->text, location_of(otlp, name));
    }
    if (otlp->text.length_bytes == 0)
        return 0; /* no frames: the empty stack, which stands first */

    uint64_t *known = jw_map_put(&otlp->stacks, otlp->text.text, otlp->text.length_bytes);
    if (known == NULL || otlp->text.has_failed) {
        otlp->has_failed = true;
        return 0;
    }
    if (*known == 0) {
        *known = ++otlp->stack_count;
        export_proto_message(&otlp->inner, 1, &otlp->text);
        export_proto_message(&otlp->tables.out, STACK_TABLE, &otlp->inner);
    }
    return (uint32_t)*known;
}

/* Threads by the names of the semantic conventions; what the application named as it is. */
static void put_attributes(struct otlp *otlp, uint32_t number)
{
    const struct export_job *job = otlp->job;
    struct export_proto_label label;
    struct export_text *numbers = &otlp->numbers;

    numbers->length_bytes = 0;
    for (uint32_t at = number; at != 0; at = job->nodes[at].parent) {
        const struct profile_name *name = profile_name_of(job->profile, job->nodes[at].name);

        if (!profile_is_root(name->kind) || !export_proto_label_of(name, &otlp->text, &label))
            continue;

        const bool is_thread = name->kind == PROFILE_NAME_THREAD;
        if (label.value[0] != '\0' || !is_thread)
            export_proto_varint(
                numbers, attribute_of(otlp, is_thread ? "thread.name" : label.key, label.value, 0));
        if (label.tid != 0)
            export_proto_varint(numbers, attribute_of(otlp, "thread.id", NULL, label.tid));
    }
    if (numbers->length_bytes > 0)
        export_proto_message(&otlp->head, 2, numbers);
}

static void put_value(struct otlp *otlp, struct export_text *to, uint64_t value)
{
    enum {
        PROFILE_SAMPLES = 2,
        SAMPLE_VALUES = 4,
    };

    if (value == 0)
        return;
    if (otlp->head.length_bytes > 0)
        export_text_add(&otlp->sample, otlp->head.text, otlp->head.length_bytes);
    export_proto_varint(&otlp->part, value);
    export_proto_message(&otlp->sample, SAMPLE_VALUES, &otlp->part);
    export_proto_message(to, PROFILE_SAMPLES, &otlp->sample);
}

static void put_sample(struct otlp *otlp, uint32_t number)
{
    const struct profile_node *node = &otlp->job->nodes[number];

    otlp->head.length_bytes = 0;
    export_proto_number(&otlp->head, 1, stack_of(otlp, number));
    put_attributes(otlp, number);
    put_value(otlp, &otlp->samples[0], node->self_samples);
    put_value(otlp, &otlp->samples[1], node->self_weight);
}

/* All of a profile but its samples. */
static void put_profile_head(struct otlp *otlp, bool is_weight)
{
    enum {
        PROFILE_SAMPLE_TYPE = 1,
        PROFILE_TIME = 3,
        PROFILE_DURATION = 4,
    };
    const struct profile_about *about = profile_about_of(otlp->job->profile);
    struct export_text *head = &otlp->profile_heads[is_weight];

    export_proto_number(&otlp->part, 1,
                        export_proto_string(&otlp->tables, export_proto_type(about, is_weight)));
    export_proto_number(
        &otlp->part, 2,
        export_proto_string(&otlp->tables, is_weight ? export_proto_unit(about->unit) : "count"));
    export_proto_message(head, PROFILE_SAMPLE_TYPE, &otlp->part);
    export_proto_fixed64(head, PROFILE_TIME, about->start_unix_ns);
    export_proto_number(head, PROFILE_DURATION, about->duration_ns);
}

static size_t profile_bytes(const struct otlp *otlp, bool is_weight)
{
    return otlp->profile_heads[is_weight].length_bytes + otlp->samples[is_weight].length_bytes;
}

/* Adds what a text holds, and lets go of it. */
static void move(struct otlp *otlp, struct export_text *from)
{
    if (from->length_bytes > 0)
        export_text_add(&otlp->out, from->text, from->length_bytes);
    otlp->has_failed |= from->has_failed;
    export_text_free(from);
}

/* Attribute of the scope, which has its texts in itself. */
static void put_scope_attribute(struct otlp *otlp, const char *key, const char *value)
{
    export_proto_text(&otlp->inner, 1, value);
    export_proto_text(&otlp->part, 1, key);
    export_proto_message(&otlp->part, 2, &otlp->inner);
    export_proto_message(&otlp->head, 3, &otlp->part);
}

static void put_scope(struct otlp *otlp, struct export_text *to)
{
    const struct profile_about *about = profile_about_of(otlp->job->profile);
    const char *title = otlp->job->options->title;

    otlp->head.length_bytes = 0;
    export_proto_text(&otlp->head, 1, "jaywalk");
    export_proto_text(&otlp->head, 2, JAYWALK_VERSION);
    put_scope_attribute(otlp, "jaywalk.otlp.proto", EXPORT_OTLP_VERSION);
    if (title == NULL || title[0] == '\0')
        title = about->title;
    if (title[0] != '\0')
        put_scope_attribute(otlp, "jaywalk.title", title);
    export_proto_message(to, SCOPE_SCOPE, &otlp->head);
}

/* Messages in messages, each with its length before it; the dictionary behind all that adds to it. */
static void put_data(struct otlp *otlp)
{
    const struct export_job *job = otlp->job;
    const bool has_weight = strcmp(profile_about_of(job->profile)->unit, "samples") != 0;
    const unsigned count = has_weight ? 2 : 1;
    const bool order[2] = {has_weight && !job->is_by_samples, has_weight && job->is_by_samples};
    struct export_text *scope = &otlp->sample;
    size_t scope_bytes;

    scope->length_bytes = 0;
    put_scope(otlp, scope);
    scope_bytes = scope->length_bytes;
    for (unsigned i = 0; i < count; i++) {
        put_profile_head(otlp, order[i]);
        const size_t bytes = profile_bytes(otlp, order[i]);
        scope_bytes += export_proto_begin_bytes(SCOPE_PROFILES, bytes) + bytes;
    }
    export_proto_begin(&otlp->out, DATA_RESOURCE_PROFILES,
                       export_proto_begin_bytes(RESOURCE_SCOPES, scope_bytes) + scope_bytes);
    export_proto_begin(&otlp->out, RESOURCE_SCOPES, scope_bytes);
    move(otlp, scope);
    for (unsigned i = 0; i < count; i++) {
        export_proto_begin(&otlp->out, SCOPE_PROFILES, profile_bytes(otlp, order[i]));
        move(otlp, &otlp->profile_heads[order[i]]);
        move(otlp, &otlp->samples[order[i]]);
    }
    export_proto_begin(&otlp->out, DATA_DICTIONARY, otlp->tables.out.length_bytes);
    move(otlp, &otlp->tables.out);
}

/* The first of each table is none. */
static void begin_tables(struct otlp *otlp)
{
    static const char no_link[] = "\x0a\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x12\x08\0\0\0\0\0\0\0";

    export_proto_bytes(&otlp->tables.out, LINK_TABLE, no_link, sizeof no_link);
    export_proto_message(&otlp->tables.out, ATTRIBUTE_TABLE, &otlp->part);
    export_proto_message(&otlp->tables.out, STACK_TABLE, &otlp->part);
}

static bool is_whole(const struct otlp *otlp)
{
    return !otlp->has_failed && !otlp->tables.has_failed && !otlp->tables.out.has_failed &&
           !otlp->out.has_failed && !otlp->head.has_failed && !otlp->sample.has_failed &&
           !otlp->numbers.has_failed && !otlp->text.has_failed;
}

bool export_otlp(const struct export_job *job)
{
    struct otlp otlp = {.job = job};
    bool has_memory = export_proto_open(&otlp.tables, job, &otlp_fields);

    if (has_memory)
        begin_tables(&otlp);
    for (uint32_t i = 0; has_memory && i < job->node_count; i++) {
        if (job->nodes[i].self_samples != 0 || job->nodes[i].self_weight != 0)
            put_sample(&otlp, i);
        has_memory = is_whole(&otlp);
    }
    if (has_memory) {
        put_data(&otlp);
        has_memory = is_whole(&otlp);
    }
    if (has_memory) {
        const struct export_otlp_sums wanted = {
            .samples = job->nodes[0].total_samples,
            .weight = job->nodes[0].total_weight,
            .has_weight = strcmp(profile_about_of(job->profile)->unit, "samples") != 0,
            .is_weight_first = !job->is_by_samples,
        };

        if (export_otlp_check(otlp.out.text, otlp.out.length_bytes, &wanted, job->out->err))
            export_put_bytes(job->out, otlp.out.text, otlp.out.length_bytes);
        else
            job->out->has_failed = true;
    }

    export_proto_close(&otlp.tables);
    jw_map_close(&otlp.attributes);
    jw_map_close(&otlp.stacks);
    export_text_free(&otlp.samples[0]);
    export_text_free(&otlp.samples[1]);
    export_text_free(&otlp.head);
    export_text_free(&otlp.sample);
    export_text_free(&otlp.part);
    export_text_free(&otlp.inner);
    export_text_free(&otlp.text);
    export_text_free(&otlp.profile_heads[0]);
    export_text_free(&otlp.profile_heads[1]);
    export_text_free(&otlp.numbers);
    export_text_free(&otlp.out);
    return has_memory;
}
