/*
 * Metadata of a chunk: which types there are, and how their values are laid out. Context: tool, dump.
 *
 *     element := name attributeCount (key value)* childCount element*      numbers: varints
 * Names, keys and values are indexes into a table of strings. Of the tree only `class`, in it `field`,
 * and in that `annotation` count here. Source: OpenJDK 17 and 25, jdk.jfr.internal.MetadataReader.
 */
#include <stdlib.h>
#include <string.h>

#include "jfr/jfr_reader_internal.h"

/* Of a field; its type may be declared later. */
struct jfr_annotation {
    uint32_t field;
    int64_t type_id;
    const char *value; /* NULL: none */
};

struct jfr_metadata {
    struct jfr_reader *reader;
    struct jfr_cursor cursor;
    const char **texts;
    uint64_t text_count;
    uint32_t type_capacity;
    uint32_t field_capacity;
    uint32_t field_count;
    struct jfr_annotation *annotations;
    uint32_t annotation_capacity;
    uint32_t annotation_count;
    bool is_damaged;
    bool is_out_of_memory;
};

static const struct {
    const char *name;
    enum jfr_reader_kind kind;
} jfr_primitives[] = {
    {"boolean", JFR_KIND_BOOLEAN},
    {"byte", JFR_KIND_BYTE},
    {"char", JFR_KIND_CHAR},
    {"short", JFR_KIND_SHORT},
    {"int", JFR_KIND_INT},
    {"long", JFR_KIND_LONG},
    {"float", JFR_KIND_FLOAT},
    {"double", JFR_KIND_DOUBLE},
    {"java.lang.String", JFR_KIND_STRING},
};

/* The table of strings: each decoded once, one after the other in a block of the chunk. */
static bool jfr_metadata_read_texts(struct jfr_metadata *metadata)
{
    struct jfr_cursor *cursor = &metadata->cursor;
    const size_t left_bytes = jfr_cursor_left(cursor);
    const uint64_t count = jfr_cursor_varint(cursor);
    struct jfr_text text = {0};
    bool is_read = false;

    if (count > left_bytes) /* each takes a byte at least */
        return false;
    metadata->texts = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *metadata->texts));
    if (metadata->texts == NULL) {
        metadata->is_out_of_memory = true;
        goto done;
    }
    metadata->text_count = count;
    for (uint64_t i = 0; i < count; i++) {
        const bool has_text = jfr_cursor_text(metadata->reader, cursor, &text);

        if (cursor->is_cut)
            goto done;
        metadata->texts[i] = "";
        if (!has_text || text.length_bytes == 0)
            continue;
        struct jfr_block *block = jfr_reader_block(metadata->reader, text.length_bytes + 1, NULL);
        if (block == NULL) {
            metadata->is_out_of_memory = true;
            goto done;
        }
        memcpy(block->bytes, text.text, text.length_bytes + 1);
        metadata->texts[i] = (const char *)block->bytes;
    }
    is_read = true;

done:
    jfr_text_free(&text);
    return is_read;
}

static const char *jfr_metadata_text(struct jfr_metadata *metadata)
{
    const uint64_t index = jfr_cursor_varint(&metadata->cursor);

    if (metadata->cursor.is_cut || index >= metadata->text_count) {
        metadata->is_damaged = true;
        return "";
    }
    return metadata->texts[index];
}

/* A new element of a growing array; NULL and is_out_of_memory. */
static void *jfr_metadata_append(struct jfr_metadata *metadata, void **array, uint32_t *capacity,
                                 uint32_t *count, size_t element_bytes)
{
    if (*count == *capacity) {
        const uint32_t wanted = *capacity == 0 ? 256 : *capacity * 2;
        void *grown =
            wanted > *capacity ? jw_realloc(*array, jw_mul_bytes(wanted, element_bytes)) : NULL;

        if (grown == NULL) {
            metadata->is_out_of_memory = true;
            return NULL;
        }
        *array = grown;
        *capacity = wanted;
    }
    unsigned char *element = (unsigned char *)*array + (size_t)*count * element_bytes;
    memset(element, 0, element_bytes);
    (*count)++;
    return element;
}

static void jfr_metadata_begin_class(struct jfr_metadata *metadata)
{
    struct jfr_reader *reader = metadata->reader;
    void *types = reader->types;
    struct jfr_reader_type *type = jfr_metadata_append(metadata, &types, &metadata->type_capacity,
                                                       &reader->type_count, sizeof *type);

    reader->types = types;
    if (type == NULL)
        return;
    type->name = "";
    type->id = -1;
    type->first_field = metadata->field_count;
}

static void jfr_metadata_begin_field(struct jfr_metadata *metadata)
{
    struct jfr_reader *reader = metadata->reader;
    void *fields = reader->fields;
    struct jfr_reader_field *field = jfr_metadata_append(
        metadata, &fields, &metadata->field_capacity, &metadata->field_count, sizeof *field);

    reader->fields = fields;
    if (field == NULL)
        return;
    field->name = "";
    field->type_id = -1;
    reader->types[reader->type_count - 1].field_count++;
}

static void jfr_metadata_class_attribute(struct jfr_reader_type *type, const char *key,
                                         const char *value)
{
    if (strcmp(key, "name") == 0)
        type->name = value;
    else if (strcmp(key, "id") == 0)
        type->id = strtoll(value, NULL, 10);
    else if (strcmp(key, "superType") == 0)
        type->is_event = strcmp(value, "jdk.jfr.Event") == 0;
    else if (strcmp(key, "simpleType") == 0)
        type->is_simple = strcmp(value, "true") == 0;
}

static void jfr_metadata_field_attribute(struct jfr_reader_field *field, const char *key,
                                         const char *value)
{
    if (strcmp(key, "name") == 0)
        field->name = value;
    else if (strcmp(key, "class") == 0)
        field->type_id = strtoll(value, NULL, 10);
    else if (strcmp(key, "dimension") == 0)
        field->is_array = strcmp(value, "0") != 0;
    else if (strcmp(key, "constantPool") == 0)
        field->is_pooled = strcmp(value, "true") == 0;
}

static void jfr_metadata_begin_annotation(struct jfr_metadata *metadata)
{
    void *annotations = metadata->annotations;
    struct jfr_annotation *annotation =
        jfr_metadata_append(metadata, &annotations, &metadata->annotation_capacity,
                            &metadata->annotation_count, sizeof *annotation);

    metadata->annotations = annotations;
    if (annotation == NULL)
        return;
    annotation->field = metadata->field_count - 1;
    annotation->type_id = -1;
}

static void jfr_metadata_annotation_attribute(struct jfr_annotation *annotation, const char *key,
                                              const char *value)
{
    if (strcmp(key, "class") == 0)
        annotation->type_id = strtoll(value, NULL, 10);
    else if (strcmp(key, "value") == 0)
        annotation->value = value;
}

/* What an element is, of those that count. */
enum jfr_element {
    JFR_ELEMENT_OTHER,
    JFR_ELEMENT_CLASS,
    JFR_ELEMENT_FIELD,
    JFR_ELEMENT_ANNOTATION, /* of a field */
};

static enum jfr_element jfr_metadata_begin(struct jfr_metadata *metadata, const char *name,
                                           enum jfr_element parent)
{
    if (strcmp(name, "class") == 0) {
        metadata->is_damaged |= parent == JFR_ELEMENT_CLASS;
        if (!metadata->is_damaged)
            jfr_metadata_begin_class(metadata);
        return JFR_ELEMENT_CLASS;
    }
    if (parent == JFR_ELEMENT_CLASS && strcmp(name, "field") == 0) {
        jfr_metadata_begin_field(metadata);
        return JFR_ELEMENT_FIELD;
    }
    if (parent == JFR_ELEMENT_FIELD && strcmp(name, "annotation") == 0) {
        jfr_metadata_begin_annotation(metadata);
        return JFR_ELEMENT_ANNOTATION;
    }
    return JFR_ELEMENT_OTHER;
}

static void jfr_metadata_attribute(struct jfr_metadata *metadata, enum jfr_element element,
                                   const char *key, const char *value)
{
    struct jfr_reader *reader = metadata->reader;

    switch (element) {
    case JFR_ELEMENT_OTHER:
        break;
    case JFR_ELEMENT_CLASS:
        jfr_metadata_class_attribute(&reader->types[reader->type_count - 1], key, value);
        break;
    case JFR_ELEMENT_FIELD:
        jfr_metadata_field_attribute(&reader->fields[metadata->field_count - 1], key, value);
        break;
    case JFR_ELEMENT_ANNOTATION:
        jfr_metadata_annotation_attribute(&metadata->annotations[metadata->annotation_count - 1],
                                          key, value);
        break;
    }
}

/* One element with all in it. `depth` bounds the recursion. */
static void jfr_metadata_element(struct jfr_metadata *metadata, unsigned depth,
                                 enum jfr_element parent)
{
    const char *name = jfr_metadata_text(metadata);
    const uint64_t attribute_count = jfr_cursor_varint(&metadata->cursor);

    if (depth > JFR_READER_MAX_ELEMENTS) {
        metadata->is_damaged = true;
        return;
    }

    const enum jfr_element element = jfr_metadata_begin(metadata, name, parent);
    for (uint64_t i = 0;
         i < attribute_count && !metadata->is_damaged && !metadata->is_out_of_memory; i++) {
        const char *key = jfr_metadata_text(metadata);
        const char *value = jfr_metadata_text(metadata);

        jfr_metadata_attribute(metadata, element, key, value);
    }

    const uint64_t child_count = jfr_cursor_varint(&metadata->cursor);
    for (uint64_t i = 0; i < child_count && !metadata->is_damaged && !metadata->is_out_of_memory;
         i++)
        jfr_metadata_element(metadata, depth + 1, element);
}

static int jfr_type_compare(const void *left, const void *right)
{
    const struct jfr_reader_type *a = left;
    const struct jfr_reader_type *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

const struct jfr_reader_type *jfr_reader_type_of(const struct jfr_reader *reader, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = reader->type_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t middle_id = (uint64_t)reader->types[middle].id;

        if (middle_id == id)
            return &reader->types[middle];
        if (middle_id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool jfr_is_varint(enum jfr_reader_kind kind)
{
    return kind == JFR_KIND_CHAR || kind == JFR_KIND_SHORT || kind == JFR_KIND_INT ||
           kind == JFR_KIND_LONG;
}

/*
 * How deep structs nest inside this type. 0: too deep, or a struct that contains itself, or one
 * that contains what has no values; such a value could be as long as it likes.
 */
static uint8_t jfr_type_measure(struct jfr_reader *reader, struct jfr_reader_type *type,
                                unsigned depth)
{
    if (type->nesting != 0)
        return type->nesting;
    if (depth > JFR_READER_MAX_NESTING || type->kind == JFR_KIND_EMPTY)
        return 0;

    uint8_t deepest = 0;
    uint32_t varints = jfr_is_varint(type->kind) ? 1 : 0;
    bool is_all_varints = type->kind == JFR_KIND_STRUCT || varints == 1;
    for (uint32_t i = 0; type->kind == JFR_KIND_STRUCT && i < type->field_count; i++) {
        const struct jfr_reader_field *field = &type->fields[i];
        uint8_t inner = 1;

        if (!field->is_pooled)
            inner =
                jfr_type_measure(reader, &reader->types[field->type - reader->types], depth + 1);
        if (inner == 0 || inner >= JFR_READER_MAX_NESTING)
            return 0;
        if (inner > deepest)
            deepest = inner;

        const uint32_t more = field->is_pooled ? 1 : field->type->varint_count;
        is_all_varints = is_all_varints && !field->is_array && more > 0 && varints <= UINT8_MAX;
        varints += more;
    }
    type->nesting = (uint8_t)(deepest + 1);
    type->varint_count = is_all_varints && varints <= UINT8_MAX ? (uint8_t)varints : 0;
    return type->nesting;
}

static enum jfr_measure jfr_metadata_measure(const char *annotation, const char *value)
{
    static const struct {
        const char *annotation;
        const char *value;
        enum jfr_measure measure;
    } measures[] = {
        {"jdk.jfr.Timestamp", "TICKS", JFR_MEASURE_TIME_TICKS},
        {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH", JFR_MEASURE_TIME_MS},
        {"jdk.jfr.Timespan", "TICKS", JFR_MEASURE_SPAN_TICKS},
        {"jdk.jfr.Timespan", "NANOSECONDS", JFR_MEASURE_SPAN_NS},
        {"jdk.jfr.Timespan", "MICROSECONDS", JFR_MEASURE_SPAN_US},
        {"jdk.jfr.Timespan", "MILLISECONDS", JFR_MEASURE_SPAN_MS},
        {"jdk.jfr.Timespan", "SECONDS", JFR_MEASURE_SPAN_S},
    };

    for (size_t i = 0; value != NULL && i < JW_COUNT_OF(measures); i++) {
        if (strcmp(measures[i].annotation, annotation) == 0 &&
            strcmp(measures[i].value, value) == 0)
            return measures[i].measure;
    }
    return JFR_MEASURE_NONE;
}

/* What the annotations of fields say that counts here, and then what the fields of events are. */
static void jfr_metadata_annotate(struct jfr_metadata *metadata)
{
    struct jfr_reader *reader = metadata->reader;

    for (uint32_t i = 0; i < metadata->annotation_count; i++) {
        const struct jfr_annotation *annotation = &metadata->annotations[i];
        const struct jfr_reader_type *type =
            jfr_reader_type_of(reader, (uint64_t)annotation->type_id);
        struct jfr_reader_field *field = &reader->fields[annotation->field];

        if (type == NULL)
            continue;
        if (strcmp(type->name, "jdk.jfr.Label") == 0 && annotation->value != NULL)
            field->label = annotation->value;
        else if (strcmp(type->name, "jaywalk.Attribute") == 0)
            field->is_attribute = true;
        else if (strcmp(type->name, "jdk.jfr.Unsigned") == 0)
            field->is_unsigned = true;
        else if (field->measure == JFR_MEASURE_NONE)
            field->measure = jfr_metadata_measure(type->name, annotation->value);
    }
    for (uint32_t i = 0; i < metadata->field_count; i++)
        if (reader->fields[i].label == NULL)
            reader->fields[i].label = reader->fields[i].name;
    for (uint32_t i = 0; i < reader->type_count; i++) {
        const struct jfr_reader_type *type = &reader->types[i];

        if (type->field_count == 0)
            continue;

        struct jfr_reader_field *fields = reader->fields + type->first_field;
        jfr_reader_find_context(&reader->types[i], fields);
        reader->types[i].has_start =
            strcmp(fields[0].name, "startTime") == 0 && fields[0].type->kind == JFR_KIND_LONG;
        /* Whoever annotates nothing means this one all the same. */
        if (type->is_event && type->has_start && fields[0].measure == JFR_MEASURE_NONE)
            fields[0].measure = JFR_MEASURE_TIME_TICKS;
    }
}

/* Sorts the types, and makes fields point to theirs. What is wrong with them, or NULL. */
static const char *jfr_metadata_link(struct jfr_metadata *metadata)
{
    struct jfr_reader *reader = metadata->reader;

    if (reader->type_count == 0)
        return "metadata without types";
    for (uint32_t i = 0; i < reader->type_count; i++) {
        struct jfr_reader_type *type = &reader->types[i];

        type->fields = type->field_count == 0 ? NULL : reader->fields + type->first_field;
        type->kind = type->field_count == 0 ? JFR_KIND_EMPTY : JFR_KIND_STRUCT;
        for (size_t p = 0; type->field_count == 0 && p < JW_COUNT_OF(jfr_primitives); p++) {
            if (strcmp(type->name, jfr_primitives[p].name) == 0)
                type->kind = jfr_primitives[p].kind;
        }
        if (type->is_simple && type->field_count != 1)
            type->is_simple = false;
        if (type->id < 0)
            return "a type without a valid id";
    }
    qsort(reader->types, reader->type_count, sizeof *reader->types, jfr_type_compare);
    for (uint32_t i = 0; i < reader->type_count; i++) {
        if (i > 0 && reader->types[i].id == reader->types[i - 1].id)
            return "two types of one id";
        if (reader->types[i].kind == JFR_KIND_STRING)
            reader->string_type = &reader->types[i];
    }
    for (uint32_t i = 0; i < metadata->field_count; i++) {
        struct jfr_reader_field *field = &reader->fields[i];

        field->type = jfr_reader_type_of(reader, (uint64_t)field->type_id);
        if (field->type == NULL)
            return "a field of a type that is not declared";
    }
    for (uint32_t i = 0; i < reader->type_count; i++) {
        struct jfr_reader_type *type = &reader->types[i];

        if (type->kind != JFR_KIND_EMPTY && jfr_type_measure(reader, type, 0) == 0)
            return "a type that contains itself, or nests too deep";
        jfr_reader_find_frames(type);
    }
    for (uint32_t i = 0; i < metadata->field_count; i++) {
        struct jfr_reader_field *field = &reader->fields[i];

        field->is_varint = !field->is_array && (field->is_pooled || field->type->varint_count == 1);
    }
    jfr_metadata_annotate(metadata);
    return NULL;
}

bool jfr_reader_load_metadata(struct jfr_reader *reader, uint64_t offset, struct jw_error *err)
{
    struct jfr_metadata metadata = {.reader = reader};
    const uint64_t at = reader->chunk.offset_bytes + offset;
    const uint64_t left_bytes = reader->chunk.size_bytes - offset;
    const char *reason = "metadata that is cut or has no meaning";

    if (!jfr_reader_load(reader, offset, 0,
                         left_bytes < JFR_READER_MAX_METADATA_BYTES ? left_bytes
                                                                    : JFR_READER_MAX_METADATA_BYTES,
                         "no metadata where the header names it", &metadata.cursor, err))
        return false;

    jfr_cursor_varint(&metadata.cursor); /* start */
    jfr_cursor_varint(&metadata.cursor); /* duration */
    jfr_cursor_varint(&metadata.cursor); /* metadata id */
    if (jfr_metadata_read_texts(&metadata)) {
        jfr_metadata_element(&metadata, 0, JFR_ELEMENT_OTHER);
        if (!metadata.is_damaged && !metadata.is_out_of_memory && !metadata.cursor.is_cut)
            reason = jfr_metadata_link(&metadata);
    }
    jw_free(metadata.texts);
    jw_free(metadata.annotations);
    if (metadata.is_out_of_memory)
        reason = "out of memory for its metadata";
    return reason == NULL || jfr_reader_damaged(reader, at, err, reason);
}
