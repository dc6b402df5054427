/* The events that a probe declares: methods with @Event, and their parameters with @Field. Context: control, tool. */
#include "probe/probe_read_internal.h"

#include <inttypes.h>
#include <string.h>

#include "probe/probe_events.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

/* Which objects a field may be. */
static const struct {
    const char *type;
    char letter;
} objects[] = {{"Ljava/lang/String;", PROBE_FIELD_TEXT},
               {"Ljava/lang/Class;", PROBE_FIELD_CLASS},
               {"Ljava/lang/Thread;", PROBE_FIELD_THREAD}};

static const struct {
    const char *word;
    const char *types;
} units[PROBE_UNIT_LIMIT] = {
#define PROBE_UNIT(name, types) {#name, types},
#include "probe/probe_units.def"
#undef PROBE_UNIT
};

/* Fields that each event has; those of what a thread works for are among them. */
static const char *const taken[] = {"startTime", "duration", "eventThread",    "stackTrace",
                                    "probe",     "handler",  "method",         "carrier",
                                    "traceId",   "spanId",   "localRootSpanId"};

const char *probe_unit_word(enum probe_unit unit)
{
    return units[unit].word;
}

static bool is_identifier(struct classfile_text name)
{
    if (name.length_bytes == 0 || name.length_bytes >= PROBE_EVENT_NAME_BYTES ||
        memchr(LETTERS, name.bytes[0], sizeof LETTERS - 1) == NULL)
        return false;
    for (uint32_t i = 0; i < name.length_bytes; i++) {
        if (memchr(LETTERS DIGITS, name.bytes[i], sizeof(LETTERS DIGITS) - 1) == NULL)
            return false;
    }
    return true;
}

/* Of a method: "slow" becomes "Slow". The bytes of `room` are the result's. */
static struct classfile_text as_name(struct classfile_text method, char room[])
{
    const uint32_t length =
        method.length_bytes < PROBE_EVENT_NAME_BYTES ? method.length_bytes : PROBE_EVENT_NAME_BYTES;

    memcpy(room, method.bytes, length);
    if (length != 0 && room[0] >= 'a' && room[0] <= 'z')
        room[0] = (char)(room[0] - 'a' + 'A');
    return (struct classfile_text){room, length};
}

/* A text of an annotation, printable and not too long; `text` stays where it is not given. */
static bool read_text(struct probe_reader *reader, const struct classfile_annotation *annotation,
                      const char *element, struct classfile_text *text)
{
    struct classfile_value value;

    if (!classfile_value_of(reader->file, annotation, element, &value))
        return true;
    if (value.kind != 's')
        return probe_reader_refuse(
            reader, "%s is no text; compile it with the jaywalk.jar of this release", element);
    if (value.text.length_bytes == 0)
        return true;
    if (value.text.length_bytes >= PROBE_EVENT_LABEL_BYTES)
        return probe_reader_refuse(reader, "%s has %u bytes; %u are the most", element,
                                   value.text.length_bytes, PROBE_EVENT_LABEL_BYTES - 1);
    for (uint32_t i = 0; i < value.text.length_bytes; i++) {
        const unsigned char one = (unsigned char)value.text.bytes[i];

        if (one < 0x20 || one == 0x7f)
            return probe_reader_refuse(reader, "%s holds a control character; take it away",
                                       element);
    }
    *text = value.text;
    return true;
}

/* ---- a field ---- */

/* 0: no field can be of that type. */
static char letter_of(struct classfile_text type)
{
    if (type.length_bytes == 1)
        return type.bytes[0];
    for (size_t i = 0; i < JW_COUNT_OF(objects); i++) {
        if (strlen(objects[i].type) == type.length_bytes &&
            memcmp(objects[i].type, type.bytes, type.length_bytes) == 0)
            return objects[i].letter;
    }
    return 0;
}

static bool read_unit(struct probe_reader *reader, const struct classfile_annotation *annotation,
                      unsigned number, struct probe_field *field)
{
    struct classfile_value value;
    unsigned unit = 0;

    field->unit = PROBE_UNIT_NONE;
    if (!classfile_value_of(reader->file, annotation, "unit", &value))
        return true;
    while (unit < PROBE_UNIT_LIMIT &&
           (value.kind != 'e' || strlen(units[unit].word) != value.text.length_bytes ||
            memcmp(units[unit].word, value.text.bytes, value.text.length_bytes) != 0))
        unit++;
    if (unit == PROBE_UNIT_LIMIT)
        return probe_reader_refuse(
            reader,
            "parameter %u: its unit is not known; compile it with the jaywalk.jar of this "
            "release",
            number);
    field->unit = (uint8_t)unit;
    if (unit != PROBE_UNIT_NONE && strchr(units[unit].types, field->type) == NULL)
        return probe_reader_refuse(reader, "parameter %u: %s is of type %s", number,
                                   units[unit].word,
                                   strcmp(units[unit].types, "IJ") == 0   ? "int or long"
                                   : strcmp(units[unit].types, "FD") == 0 ? "float or double"
                                                                          : "long");
    return true;
}

static bool check_field_name(struct probe_reader *reader, const struct probe_event *event,
                             unsigned number, struct classfile_text name)
{
    if (!is_identifier(name))
        return probe_reader_refuse(
            reader,
            "parameter %u: the name of a field is 1 to %u letters, digits and underlines, a letter "
            "first, as in @Field(\"items\")",
            number, PROBE_EVENT_NAME_BYTES - 1);
    for (size_t i = 0; i < JW_COUNT_OF(taken); i++) {
        if (strlen(taken[i]) == name.length_bytes &&
            memcmp(taken[i], name.bytes, name.length_bytes) == 0)
            return probe_reader_refuse(
                reader, "parameter %u: each event has a field %s of its own; give it another name",
                number, taken[i]);
    }
    for (uint8_t i = 0; i < event->field_count; i++) {
        if (strlen(event->fields[i].name) == name.length_bytes &&
            memcmp(event->fields[i].name, name.bytes, name.length_bytes) == 0)
            return probe_reader_refuse(
                reader, "parameter %u: two fields are called %s; give one another name", number,
                event->fields[i].name);
    }
    return true;
}

static bool read_field(struct probe_reader *reader, const struct classfile_annotation *annotation,
                       unsigned number, char letter, struct probe_event *event)
{
    struct probe_field *field = &event->fields[event->field_count];
    struct classfile_text name = {"", 0}, label;

    field->type = letter;
    if (!read_text(reader, annotation, "value", &name) ||
        !check_field_name(reader, event, number, name))
        return false;
    label = name;
    if (!read_text(reader, annotation, "label", &label) ||
        !read_unit(reader, annotation, number, field))
        return false;
    field->name = probe_reader_keep(reader, name);
    field->label = probe_reader_keep(reader, label);
    if (field->name == NULL || field->label == NULL)
        return false;
    event->field_count++;
    return true;
}

static bool has_room(struct probe_reader *reader, const struct probe_event *event, char letter)
{
    unsigned numbers = 0;

    for (uint8_t i = 0; i < event->field_count; i++)
        numbers += probe_field_is_number(event->fields[i].type);
    if (probe_field_is_number(letter) ? numbers < PROBE_NUMBERS_LIMIT
                                      : event->field_count - numbers < PROBE_OBJECTS_LIMIT)
        return true;
    return probe_reader_refuse(reader,
                               "an event has at most %u fields of primitive types, and %u of "
                               "others; make it two events",
                               PROBE_NUMBERS_LIMIT, PROBE_OBJECTS_LIMIT);
}

static bool read_duration(struct probe_reader *reader, unsigned number, char letter,
                          struct probe_event *event)
{
    if (letter != 'J')
        return probe_reader_refuse(
            reader, "parameter %u: @Duration is of type long, of nanoseconds", number);
    if (event->has_duration)
        return probe_reader_refuse(
            reader, "parameter %u: it has two durations; make one of them a @Field", number);
    event->has_duration = true;
    event->duration_parameter = (uint8_t)(number - 1);
    return true;
}

static bool read_parameter(struct probe_reader *reader, unsigned number, struct classfile_text type,
                           struct probe_event *event)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;
    const char letter = letter_of(type);

    while (classfile_next_parameter_annotation(reader->file, reader->method->attributes,
                                               (uint16_t)(number - 1), &at, &annotation)) {
        if (probe_reader_is_ours(&annotation, "Duration"))
            return read_duration(reader, number, letter, event);
        if (!probe_reader_is_ours(&annotation, "Field"))
            continue;
        if (letter == 0)
            return probe_reader_refuse(
                reader,
                "parameter %u: a field is of a primitive type, String, Class or Thread; "
                "give the text of other objects",
                number);
        return has_room(reader, event, letter) &&
               read_field(reader, &annotation, number, letter, event);
    }
    return probe_reader_refuse(
        reader,
        at.is_damaged
            ? "parameter %u: its annotations are damaged; compile it again"
            : "parameter %u does not say what it is: put @Field(\"name\") or @Duration before it",
        number);
}

/* ---- an event ---- */

static bool check_method(struct probe_reader *reader)
{
    const struct classfile_text descriptor =
        classfile_text_of(reader->file, reader->method->descriptor_index);
    struct classfile_code code;
    uint32_t parameter_words, value_words;

    if (!classfile_descriptor_words(descriptor, &parameter_words, &value_words) ||
        parameter_words > 255)
        return probe_reader_refuse(reader, "its type is damaged; compile it again");
    if ((reader->method->access & CLASSFILE_STATIC) == 0 || value_words != 0)
        return probe_reader_refuse(reader,
                                   "the method of an event is static and void; this is not");
    if (!classfile_code_of(reader->file, reader->method, &code))
        return probe_reader_refuse(reader, "the method of an event has a body, which may be empty; "
                                           "make it \"{}\"");
    return true;
}

static bool read_head(struct probe_reader *reader, const struct classfile_annotation *annotation,
                      struct probe_event *event)
{
    const struct classfile_text method =
        classfile_text_of(reader->file, reader->method->name_index);
    char room[PROBE_EVENT_NAME_BYTES];
    struct classfile_text name = as_name(method, room), label, description = {"", 0};
    struct classfile_value value;

    if (!read_text(reader, annotation, "value", &name))
        return false;
    if (!is_identifier(name))
        return probe_reader_refuse(
            reader,
            "the name of an event is 1 to %u letters, digits and underlines, a letter first, as in "
            "@Event(\"SlowOrder\")",
            PROBE_EVENT_NAME_BYTES - 1);
    label = name;
    if (!read_text(reader, annotation, "label", &label) ||
        !read_text(reader, annotation, "description", &description))
        return false;
    event->has_stack = !classfile_value_of(reader->file, annotation, "stackTrace", &value) ||
                       value.kind != 'Z' || value.number != 0;
    event->name = probe_reader_keep(reader, name);
    event->label = probe_reader_keep(reader, label);
    event->description = probe_reader_keep(reader, description);
    event->method_name = probe_reader_keep(reader, method);
    event->descriptor = probe_reader_keep(
        reader, classfile_text_of(reader->file, reader->method->descriptor_index));
    return event->name != NULL && event->label != NULL && event->description != NULL &&
           event->method_name != NULL && event->descriptor != NULL;
}

static bool add(struct probe_reader *reader, const struct probe_event *event)
{
    struct probe *probe = &reader->whole->probe;

    if (probe->event_count == PROBE_EVENTS_LIMIT)
        return probe_reader_refuse(reader, "a probe has at most %u events; make it two probes",
                                   PROBE_EVENTS_LIMIT);
    for (uint32_t i = 0; i < probe->event_count; i++) {
        if (strcmp(probe->events[i].name, event->name) == 0)
            return probe_reader_refuse(reader, "two events are called %s; give one another name",
                                       event->name);
    }
    reader->whole->events[probe->event_count++] = *event;
    return true;
}

static bool read_parameters(struct probe_reader *reader, struct probe_event *event)
{
    const struct classfile_text descriptor =
        classfile_text_of(reader->file, reader->method->descriptor_index);
    const uint64_t faults = reader->faults;
    struct classfile_text type;
    unsigned number = 0;

    for (uint32_t at = 1; classfile_next_type(descriptor, &at, &type);)
        (void)read_parameter(reader, ++number, type, event);
    return reader->faults == faults;
}

bool probe_reader_take_event(struct probe_reader *reader)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation, found;
    struct probe_event event = {.name = NULL};
    bool is_event = false, is_handler = false;

    while (classfile_next_annotation(reader->file, reader->method->attributes, &at, &annotation)) {
        if (probe_reader_is_ours(&annotation, "Event")) {
            found = annotation;
            is_event = true;
        }
        for (unsigned place = 0; place < PROBE_PLACE_LIMIT; place++)
            is_handler |= probe_reader_is_ours(&annotation, probe_place_annotation(place));
    }
    if (!is_event)
        return false;
    if (is_handler)
        (void)probe_reader_refuse(reader, "it is an event and a handler; call the one from the "
                                          "other");
    else if (check_method(reader) && read_head(reader, &found, &event) &&
             read_parameters(reader, &event))
        (void)add(reader, &event);
    return true;
}
