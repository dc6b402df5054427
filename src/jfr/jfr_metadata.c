/*
 * The metadata event: the rows of jfr_types.def as the tree of elements that readers expect.
 * Dump and tool.
 *
 *   root -> metadata -> class ... -> annotation ..., field ... -> annotation ...
 *        -> region
 * An element is: name, count of attributes, (key, value) ..., count of children, children ... with each
 * text given by its index in a string table that stands in front of the tree.
 */
#include "jfr/jfr_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define TEXTS_MAX      4096
#define SLOTS          (2 * TEXTS_MAX) /* a power of two */
#define SHORT_MAX      512 /* numbers and parts of categories, which exist nowhere as a C string */
#define SHORT_CAPACITY 80
#define CLOCK_SPREAD   UINT64_C(0x9e3779b97f4a7c15) /* odd, and of all bits */

/* The tree under construction, and the texts it uses, each once. */
struct tree {
    const struct jfr_attributes *attributes;
    const struct jfr_declared_set *declared; /* NULL: none */
    enum jfr_dialect dialect;
    bool has_frames_in_line;
    unsigned left_out;
    struct jfr_buffer elements;
    const char *texts[TEXTS_MAX];
    size_t text_count;
    uint16_t slots[SLOTS]; /* by hash: index of a text + 1 */
    char shorts[SHORT_MAX][SHORT_CAPACITY];
    size_t short_count;
    bool has_failed;
};

static size_t index_of_text(struct tree *tree, const char *text)
{
    size_t slot = jw_hash32(text, strlen(text)) % SLOTS;

    for (; tree->slots[slot] != 0; slot = (slot + 1) % SLOTS)
        if (strcmp(tree->texts[tree->slots[slot] - 1], text) == 0)
            return tree->slots[slot] - 1u;
    if (tree->text_count == TEXTS_MAX) {
        tree->has_failed = true;
        return 0;
    }
    tree->texts[tree->text_count] = text;
    tree->slots[slot] = (uint16_t)++tree->text_count;
    return tree->text_count - 1;
}

static void put_text_index(struct tree *tree, const char *text)
{
    jfr_put_varint(&tree->elements, index_of_text(tree, text));
}

/* Keeps a text that the caller has only for now; equal ones once. */
static const char *keep_short(struct tree *tree, const char *text, size_t length_bytes)
{
    for (size_t i = 0; i < tree->short_count; i++)
        if (strncmp(tree->shorts[i], text, length_bytes) == 0 &&
            tree->shorts[i][length_bytes] == '\0')
            return tree->shorts[i];
    if (tree->short_count == SHORT_MAX || length_bytes >= SHORT_CAPACITY) {
        tree->has_failed = true;
        return "";
    }

    char *kept = tree->shorts[tree->short_count++];
    memcpy(kept, text, length_bytes);
    kept[length_bytes] = '\0';
    return kept;
}

static const char *number_text(struct tree *tree, unsigned number)
{
    char digits[16];
    const int length_bytes = snprintf(digits, sizeof digits, "%u", number);

    return keep_short(tree, digits, (size_t)length_bytes);
}

static void begin_element(struct tree *tree, const char *name, size_t attribute_count)
{
    put_text_index(tree, name);
    jfr_put_varint(&tree->elements, attribute_count);
}

static void put_attribute(struct tree *tree, const char *key, const char *value)
{
    put_text_index(tree, key);
    put_text_index(tree, value);
}

static void put_child_count(struct tree *tree, size_t count)
{
    jfr_put_varint(&tree->elements, count);
}

/* An annotation with a value, or without one where `value` is NULL. */
static void put_annotation(struct tree *tree, enum jfr_type type, const char *value)
{
    begin_element(tree, "annotation", value == NULL ? 1 : 2);
    put_attribute(tree, "class", number_text(tree, type));
    if (value != NULL)
        put_attribute(tree, "value", value);
    put_child_count(tree, 0);
}

static void put_category(struct tree *tree, const char *category)
{
    static const char *const keys[] = {"value-0", "value-1", "value-2", "value-3"};
    size_t part_count = 1;

    for (const char *at = category; *at != '\0'; at++)
        part_count += *at == '|';
    if (part_count > JW_COUNT_OF(keys)) {
        tree->has_failed = true;
        return;
    }

    begin_element(tree, "annotation", 1 + part_count);
    put_attribute(tree, "class", number_text(tree, JFR_TYPE_CATEGORY));
    for (size_t i = 0; i < part_count; i++) {
        const size_t length_bytes = strcspn(category, "|");

        put_attribute(tree, keys[i], keep_short(tree, category, length_bytes));
        category += length_bytes + (category[length_bytes] == '|');
    }
    put_child_count(tree, 0);
}

/* The annotation that says what a number is. False: it has no unit. */
static bool unit_annotation(enum jfr_unit unit, enum jfr_type *type, const char **value)
{
    *value = NULL;
    switch (unit) {
    case JFR_UNIT_NONE:
        return false;
    case JFR_UNIT_TICKS_TIME:
        *type = JFR_TYPE_TIMESTAMP;
        *value = "TICKS";
        return true;
    case JFR_UNIT_EPOCH_MS:
        *type = JFR_TYPE_TIMESTAMP;
        *value = "MILLISECONDS_SINCE_EPOCH";
        return true;
    case JFR_UNIT_TICKS_SPAN:
        *type = JFR_TYPE_TIMESPAN;
        *value = "TICKS";
        return true;
    case JFR_UNIT_NS_SPAN:
        *type = JFR_TYPE_TIMESPAN;
        *value = "NANOSECONDS";
        return true;
    case JFR_UNIT_MS_SPAN:
        *type = JFR_TYPE_TIMESPAN;
        *value = "MILLISECONDS";
        return true;
    case JFR_UNIT_BYTES:
        *type = JFR_TYPE_DATA_AMOUNT;
        *value = "BYTES";
        return true;
    case JFR_UNIT_PERCENT:
        *type = JFR_TYPE_PERCENTAGE;
        return true;
    case JFR_UNIT_ADDRESS:
        *type = JFR_TYPE_MEMORY_ADDRESS;
        return true;
    case JFR_UNIT_HERTZ:
        *type = JFR_TYPE_FREQUENCY;
        return true;
    case JFR_UNIT_BITS_PER_SECOND: /* beside jdk.jfr.Frequency */
        *type = JFR_TYPE_DATA_AMOUNT;
        *value = "BITS";
        return true;
    }
    return false;
}

/* A field as the row says, with this name and label. */
static void put_field(struct tree *tree, const struct jfr_row *row, const char *name,
                      const char *label)
{
    enum jfr_type unit_type = JFR_TYPE_LIMIT;
    const char *unit_value;
    const bool has_unit = unit_annotation(row->unit, &unit_type, &unit_value);
    const bool is_array = row->flags & JFR_ARRAY;
    const bool is_pooled = row->flags & JFR_POOLED;
    const bool is_unsigned = row->flags & JFR_UNSIGNED;
    const bool is_contextual = row->flags & JFR_CONTEXTUAL;
    const bool is_attribute = row->flags & JFR_EACH_ATTRIBUTE;
    const bool is_rate = row->unit == JFR_UNIT_BITS_PER_SECOND;

    begin_element(tree, "field", 2u + is_array + is_pooled);
    put_attribute(tree, "name", name);
    put_attribute(tree, "class", number_text(tree, row->type));
    if (is_array)
        put_attribute(tree, "dimension", "1");
    if (is_pooled)
        put_attribute(tree, "constantPool", "true");
    put_child_count(tree, (label != NULL) + 0u + (row->text != NULL) + is_unsigned + has_unit +
                              is_rate + is_contextual + is_attribute);
    if (label != NULL)
        put_annotation(tree, JFR_TYPE_LABEL, label);
    if (row->text != NULL)
        put_annotation(tree, JFR_TYPE_DESCRIPTION, row->text);
    if (is_unsigned)
        put_annotation(tree, JFR_TYPE_UNSIGNED, NULL);
    if (has_unit)
        put_annotation(tree, unit_type, unit_value);
    if (is_rate)
        put_annotation(tree, JFR_TYPE_FREQUENCY, NULL);
    if (is_contextual)
        put_annotation(tree, JFR_TYPE_CONTEXTUAL, NULL);
    if (is_attribute)
        put_annotation(tree, JFR_TYPE_ATTRIBUTE, NULL);
}

/* The fields that a row stands for. */
static size_t field_count_of(const struct tree *tree, const struct jfr_row *row)
{
    if ((row->flags & (JFR_FRAMES_BY_KEY | JFR_FRAMES_IN_LINE)) != 0)
        return tree->has_frames_in_line == ((row->flags & JFR_FRAMES_IN_LINE) != 0);
    if ((row->flags & tree->left_out) != 0)
        return 0;
    return (row->flags & JFR_EACH_ATTRIBUTE) ? tree->attributes->count : 1;
}

static bool has_field(const struct jfr_row *rows, size_t row_count, const char *name)
{
    for (size_t i = 1; i <= row_count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Of an attribute: its field in each class, but in one that has such a field of its own. Numbers of two attributes never meet. */
static const char *attribute_field(struct tree *tree, const struct jfr_row *rows, size_t row_count,
                                   size_t attribute)
{
    const char *name = tree->attributes->each[attribute].field;
    char made[JFR_ATTRIBUTE_NAME_CAPACITY];

    for (size_t number = attribute; has_field(rows, row_count, name);
         number += JFR_ATTRIBUTES_MAX) {
        const int length_bytes = jfr_attribute_make_name(made, number);

        name = keep_short(tree, made, (size_t)length_bytes);
    }
    return name;
}

/* Of the class of `rows`, which has `row_count` behind its own, the fields of one of them. */
static void put_fields_of(struct tree *tree, const struct jfr_row *rows, size_t row_count,
                          const struct jfr_row *row)
{
    if ((row->flags & JFR_EACH_ATTRIBUTE) == 0) {
        if (field_count_of(tree, row) > 0)
            put_field(tree, row, row->name, row->label);
        return;
    }
    for (size_t i = 0; i < field_count_of(tree, row); i++)
        put_field(tree, row, attribute_field(tree, rows, row_count, i),
                  tree->attributes->each[i].name);
}

static const char *super_type(enum jfr_row_kind kind)
{
    if (kind == JFR_ROW_EVENT)
        return "jdk.jfr.Event";
    if (kind == JFR_ROW_ANNOTATION || kind == JFR_ROW_UNIT_CLASS)
        return "java.lang.annotation.Annotation";
    return NULL;
}

/* The class of `row`, whose fields are the `row_count` rows behind it. */
static void put_class(struct tree *tree, const struct jfr_row *row, size_t row_count)
{
    const char *super = super_type(row->kind);
    const bool is_simple = row->kind == JFR_ROW_SIMPLE;
    const bool is_unit = row->kind == JFR_ROW_UNIT_CLASS;
    size_t field_count = 0;

    for (size_t i = 1; i <= row_count; i++)
        field_count += field_count_of(tree, &row[i]);
    begin_element(tree, "class", 2u + (super != NULL) + is_simple);
    put_attribute(tree, "name", row->name);
    put_attribute(tree, "id", number_text(tree, row->type));
    if (super != NULL)
        put_attribute(tree, "superType", super);
    if (is_simple)
        put_attribute(tree, "simpleType", "true");

    put_child_count(tree, field_count + (row->label != NULL) + (row->category != NULL) +
                              (row->text != NULL) + is_unit);
    for (size_t i = 1; i <= row_count; i++)
        put_fields_of(tree, row, row_count, &row[i]);
    if (row->label != NULL)
        put_annotation(tree, JFR_TYPE_LABEL, row->label);
    if (row->category != NULL)
        put_category(tree, row->category);
    if (row->text != NULL)
        put_annotation(tree, JFR_TYPE_DESCRIPTION, row->text);
    if (is_unit)
        put_annotation(tree, JFR_TYPE_CONTENT_TYPE, NULL);
}

static size_t fields_behind(size_t row_index)
{
    size_t count = 0;

    while (row_index + count + 1 < jfr_row_count &&
           jfr_rows[row_index + count + 1].kind == JFR_ROW_FIELD)
        count++;
    return count;
}

static bool is_class(const struct tree *tree, const struct jfr_row *row)
{
    return row->kind != JFR_ROW_FIELD && jfr_type_is_declared(tree->dialect, row->type) &&
           (row->type != JFR_TYPE_FRAME_KEY || !tree->has_frames_in_line);
}

static void put_declared(struct tree *tree, const struct jfr_declared *declared)
{
    char category[JFR_DECLARED_NAME_BYTES + 16];
    struct jfr_row rows[JFR_DECLARED_ROWS_MAX];
    const size_t count = jfr_declared_rows(declared, rows);

    snprintf(category, sizeof category, "Probes|%s", declared->probe);
    rows[0].category = category;
    put_class(tree, rows, count - 1);
}

static void put_tree(struct tree *tree)
{
    size_t class_count = tree->declared == NULL ? 0 : tree->declared->count;

    for (size_t i = 0; i < jfr_row_count; i++)
        class_count += is_class(tree, &jfr_rows[i]);

    begin_element(tree, "root", 0);
    put_child_count(tree, 2);
    begin_element(tree, "metadata", 0);
    put_child_count(tree, class_count);
    for (size_t i = 0; i < jfr_row_count; i++)
        if (is_class(tree, &jfr_rows[i]))
            put_class(tree, &jfr_rows[i], fields_behind(i));
    for (size_t i = 0; tree->declared != NULL && i < tree->declared->count; i++)
        put_declared(tree, &tree->declared->each[i]);
    begin_element(tree, "region", 3);
    put_attribute(tree, "locale", "en_US");
    put_attribute(tree, "gmtOffset", "0");
    put_attribute(tree, "dst", "0");
    put_child_count(tree, 0);
}

void jfr_put_metadata(struct jfr_buffer *buffer, uint64_t now_ticks,
                      const struct jfr_declaration *declaration)
{
    static const struct jfr_attributes no_attributes;
    struct tree *tree = jw_alloc(sizeof *tree);
    struct jfr_buffer content = {0};

    if (tree == NULL) {
        buffer->has_failed = true;
        return;
    }
    tree->attributes = declaration->attributes == NULL ? &no_attributes : declaration->attributes;
    tree->declared = declaration->declared;
    tree->dialect = declaration->dialect;
    tree->has_frames_in_line =
        jfr_has_frames_in_line(declaration->dialect, declaration->has_frames_in_line);
    tree->left_out = declaration->left_out;
    put_tree(tree);
    jfr_put_varint(&content, tree->text_count);
    for (size_t i = 0; i < tree->text_count; i++)
        jfr_put_string(&content, tree->texts[i]);
    jfr_put_bytes(&content, tree->elements.bytes, tree->elements.used_bytes);

    const size_t begin = jfr_event_begin(buffer, JFR_TYPE_METADATA_EVENT);
    jfr_put_varint(buffer, now_ticks);
    jfr_put_varint(buffer, 0); /* duration */
    /* The id follows from the content: readers keep the metadata of the chunk before when it has the
     * same id, and files of two versions may be joined. */
    jfr_put_varint(buffer, content.has_failed ? 0
                                              : (jw_hash64(content.bytes, content.used_bytes) ^
                                                 declaration->clock * CLOCK_SPREAD) >>
                                                    33);
    jfr_put_bytes(buffer, content.bytes, content.used_bytes);
    if (content.has_failed || tree->elements.has_failed || !JW_INVARIANT(!tree->has_failed))
        buffer->has_failed = true;
    jfr_event_end(buffer, begin);

    jfr_buffer_close(&content);
    jfr_buffer_close(&tree->elements);
    jw_free(tree);
}
