/* Protocol buffers, and tables of names that pprof and OTLP share. Context: dump, tool. */
#include <string.h>

#include "base/utf8.h"
#include "export/export_proto_internal.h"

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
};

void export_proto_varint(struct export_text *to, uint64_t value)
{
    char bytes[10];
    size_t length = 0;

    while (value >= 0x80) {
        bytes[length++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[length++] = (char)value;
    export_text_add(to, bytes, length);
}

uint64_t export_proto_bytes_most(uint64_t frames, uint64_t stacks)
{
    return 5 * (3 * frames + 64 * stacks);
}

static void put_tag(struct export_text *to, unsigned field, unsigned wire)
{
    export_proto_varint(to, (uint64_t)field << 3 | wire);
}

void export_proto_number(struct export_text *to, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    put_tag(to, field, WIRE_VARINT);
    export_proto_varint(to, value);
}

void export_proto_fixed64(struct export_text *to, unsigned field, uint64_t value)
{
    char bytes[8];

    if (value == 0)
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(value >> (8 * i));
    put_tag(to, field, WIRE_FIXED64);
    export_text_add(to, bytes, sizeof bytes);
}

void export_proto_bytes(struct export_text *to, unsigned field, const void *bytes,
                        size_t length_bytes)
{
    export_proto_begin(to, field, length_bytes);
    export_text_add(to, bytes, length_bytes);
}

void export_proto_text(struct export_text *to, unsigned field, const char *text)
{
    const size_t whole_bytes = strlen(text);
    size_t clean_bytes = 0;
    size_t bad = 0;

    for (size_t at = 0, step; at < whole_bytes; at += step == 0 ? 1 : step) {
        step = jw_utf8_length(text + at, whole_bytes - at);
        clean_bytes += step == 0 ? sizeof JW_UTF8_REPLACEMENT - 1 : step;
        bad += step == 0;
    }
    if (bad == 0) {
        export_proto_bytes(to, field, text, whole_bytes);
        return;
    }
    export_proto_begin(to, field, clean_bytes);
    for (size_t at = 0, step; at < whole_bytes; at += step == 0 ? 1 : step) {
        step = jw_utf8_length(text + at, whole_bytes - at);
        if (step == 0)
            export_text_add(to, JW_UTF8_REPLACEMENT, sizeof JW_UTF8_REPLACEMENT - 1);
        else
            export_text_add(to, text + at, step);
    }
}

void export_proto_begin(struct export_text *to, unsigned field, uint64_t length_bytes)
{
    put_tag(to, field, WIRE_BYTES);
    export_proto_varint(to, length_bytes);
}

static size_t varint_bytes(uint64_t value)
{
    size_t bytes = 1;

    for (; value >= 0x80; value >>= 7)
        bytes++;
    return bytes;
}

size_t export_proto_begin_bytes(unsigned field, uint64_t length_bytes)
{
    return varint_bytes((uint64_t)field << 3 | WIRE_BYTES) + varint_bytes(length_bytes);
}

void export_proto_message(struct export_text *to, unsigned field, struct export_text *message)
{
    export_proto_bytes(to, field, message->text == NULL ? "" : message->text,
                       message->length_bytes);
    to->has_failed |= message->has_failed;
    message->length_bytes = 0;
}

bool export_proto_open(struct export_proto_tables *tables, const struct export_job *job,
                       const struct export_proto_fields *fields)
{
    *tables = (struct export_proto_tables){.job = job, .fields = fields};
    tables->location_of =
        jw_alloc(jw_mul_bytes(profile_name_count(job->profile) + 1, sizeof(uint32_t)));
    if (tables->location_of == NULL)
        return false;
    export_proto_string(tables, "");
    if (fields->begins_with_none) {
        export_proto_message(&tables->out, fields->mapping_table, &tables->scratch);
        export_proto_message(&tables->out, fields->location_table, &tables->scratch);
        export_proto_message(&tables->out, fields->function_table, &tables->scratch);
    }
    return true;
}

void export_proto_close(struct export_proto_tables *tables)
{
    jw_map_close(&tables->strings);
    jw_map_close(&tables->functions);
    jw_map_close(&tables->mappings);
    jw_free(tables->location_of);
    export_text_free(&tables->out);
    export_text_free(&tables->scratch);
    export_text_free(&tables->title);
    export_text_free(&tables->line);
}

/* Number kept for these bytes, the next one on first sight. */
static uint32_t number_of(struct export_proto_tables *tables, struct jw_map *map, uint32_t *count,
                          const void *bytes, size_t length_bytes, bool *is_new)
{
    uint64_t *known = jw_map_put(map, bytes, length_bytes);

    *is_new = known != NULL && *known == 0;
    if (known == NULL) {
        tables->has_failed = true;
        return 0;
    }
    if (*is_new)
        *known = ++*count;
    return (uint32_t)*known;
}

uint32_t export_proto_string(struct export_proto_tables *tables, const char *text)
{
    bool is_new;
    const uint32_t number =
        number_of(tables, &tables->strings, &tables->string_count, text, strlen(text), &is_new);

    if (is_new)
        export_proto_text(&tables->out, tables->fields->string_table, text);
    return number == 0 ? 0 : number - 1; /* the empty text is the first, and 0 */
}

static uint32_t function_number(struct export_proto_tables *tables, uint32_t text)
{
    const struct export_proto_fields *fields = tables->fields;
    bool is_new;
    const uint32_t number =
        number_of(tables, &tables->functions, &tables->function_count, &text, sizeof text, &is_new);

    if (is_new) {
        if (fields->function_id != 0)
            export_proto_number(&tables->scratch, fields->function_id, number);
        export_proto_number(&tables->scratch, fields->function_name, text);
        export_proto_number(&tables->scratch, fields->function_system_name, text);
        export_proto_message(&tables->out, fields->function_table, &tables->scratch);
    }
    return number;
}

/* Of the library that native code is in; 0: not told. */
static uint32_t mapping_number(struct export_proto_tables *tables, const char *module)
{
    const struct export_proto_fields *fields = tables->fields;
    bool is_new;

    if (module[0] == '\0')
        return 0;

    const uint32_t text = export_proto_string(tables, module);
    const uint32_t number =
        number_of(tables, &tables->mappings, &tables->mapping_count, &text, sizeof text, &is_new);
    if (is_new) {
        if (fields->mapping_id != 0)
            export_proto_number(&tables->scratch, fields->mapping_id, number);
        export_proto_number(&tables->scratch, fields->mapping_file, text);
        if (fields->mapping_has_functions != 0)
            export_proto_number(&tables->scratch, fields->mapping_has_functions, 1);
        export_proto_message(&tables->out, fields->mapping_table, &tables->scratch);
    }
    return number;
}

uint32_t export_proto_location(struct export_proto_tables *tables, uint32_t name,
                               uint32_t attribute)
{
    const struct export_proto_fields *fields = tables->fields;

    if (tables->location_of[name] != 0)
        return tables->location_of[name];

    /* Its line is told apart, and so is its library. */
    struct profile_name plain = *profile_name_of(tables->job->profile, name);
    struct profile_view view = tables->job->view;
    const int line = plain.line;
    plain.line = 0;
    view.has_libraries = false;
    tables->title.length_bytes = 0;
    export_title(&tables->title, &plain, &view);
    if (tables->title.has_failed) {
        tables->has_failed = true;
        return 0;
    }
    const uint32_t function =
        function_number(tables, export_proto_string(tables, tables->title.text));
    const uint32_t mapping = mapping_number(tables, plain.module);

    const uint32_t number = ++tables->location_count;
    tables->location_of[name] = number;
    export_proto_number(&tables->line, 1, function);
    export_proto_number(&tables->line, 2, line > 0 ? (uint64_t)line : 0);
    if (fields->location_id != 0)
        export_proto_number(&tables->scratch, fields->location_id, number);
    export_proto_number(&tables->scratch, fields->location_mapping, mapping);
    export_proto_message(&tables->scratch, fields->location_line, &tables->line);
    if (attribute != 0 && fields->location_attributes != 0) {
        export_proto_varint(&tables->line, attribute);
        export_proto_message(&tables->scratch, fields->location_attributes, &tables->line);
    }
    export_proto_message(&tables->out, fields->location_table, &tables->scratch);
    return number;
}

/* "[main tid=12]" as room profile writes it: the name alone, and the number. */
static void label_of_thread(const char *told, struct export_text *text,
                            struct export_proto_label *label)
{
    static const char *const numbers[] = {" tid=", " virtual="};
    size_t length = strlen(told);
    const char *begin = told;

    if (length >= 2 && told[0] == '[' && told[length - 1] == ']') {
        begin = told + 1;
        length -= 2;
    }
    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++) {
        for (size_t at = length; at-- > 0;) {
            const size_t mark = strlen(numbers[i]);

            if (length - at <= mark || strncmp(begin + at, numbers[i], mark) != 0)
                continue;
            label->tid = 0;
            for (const char *digit = begin + at + mark; *digit >= '0' && *digit <= '9'; digit++)
                label->tid = label->tid * 10 + (*digit - '0');
            length = at;
            break;
        }
    }
    text->length_bytes = 0;
    export_text_add(text, begin, length);
    label->key = "thread";
    label->value = text->has_failed ? "" : text->text;
}

bool export_proto_label_of(const struct profile_name *name, struct export_text *text,
                           struct export_proto_label *label)
{
    *label = (struct export_proto_label){.value = name->method};
    switch (name->kind) {
    case PROFILE_NAME_THREAD:
        label_of_thread(name->method, text, label);
        return true;
    case PROFILE_NAME_ENDPOINT:
        label->key = "endpoint";
        return true;
    case PROFILE_NAME_OPERATION:
        label->key = "operation";
        return true;
    case PROFILE_NAME_ATTRIBUTE:
        label->key = name->class_name;
        return true;
    case PROFILE_NAME_MISSING:
    case PROFILE_NAME_ROOT:
    case PROFILE_NAME_JAVA:
    case PROFILE_NAME_NATIVE:
    case PROFILE_NAME_CPP:
    case PROFILE_NAME_KERNEL:
    case PROFILE_NAME_CLASS:
    case PROFILE_NAME_MARK:
    case PROFILE_NAME_COMPILATION:
        break;
    }
    return false;
}

const char *export_proto_type(const struct profile_about *about, bool is_weight)
{
    static const struct {
        const char *event, *weight, *samples;
    } types[] = {
        {"alloc", "alloc_space", "alloc_objects"},
        {"live", "inuse_space", "inuse_objects"},
        {"lock", "delay", "contentions"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(types); i++) {
        if (strcmp(types[i].event, about->event) == 0)
            return is_weight ? types[i].weight : types[i].samples;
    }
    return !is_weight || about->event[0] == '\0' ? "samples" : about->event;
}

const char *export_proto_unit(const char *unit)
{
    return strcmp(unit, "ns") == 0 ? "nanoseconds" : strcmp(unit, "bytes") == 0 ? "bytes" : "count";
}
