/*
 * Fields of the event in hand: where each begins is found once, as far as somebody asks. Context: tool, dump.
 */
#include "jfr/jfr_reader_internal.h"

/* On from the last known place to that of the field of this number. */
static const unsigned char *jfr_places_go_on(struct jfr_in_hand *in_hand,
                                             const struct jfr_value *event, uint32_t number)
{
    const struct jfr_reader_field *fields = event->type->fields;
    uint32_t at = in_hand->count - 1;
    struct jfr_cursor cursor = {in_hand->at[at], event->end, false};

    while (at < number) {
        jfr_cursor_pass_field(&cursor, &fields[at]);
        if (cursor.is_cut)
            return NULL;
        if (++at < JFR_PLACES)
            in_hand->at[in_hand->count++] = cursor.at;
    }
    return cursor.at;
}

const unsigned char *jfr_event_place(const struct jfr_value *event, uint32_t number)
{
    struct jfr_in_hand *in_hand = event->reader->in_hand;
    struct jfr_cursor cursor = {event->bytes, event->end, false};

    if (event->bytes == in_hand->begin && event->type == in_hand->type)
        return number < in_hand->count ? in_hand->at[number]
                                       : jfr_places_go_on(in_hand, event, number);
    for (uint32_t i = 0; i < number; i++)
        jfr_cursor_pass_field(&cursor, &event->type->fields[i]);
    return cursor.is_cut ? NULL : cursor.at;
}

bool jfr_reader_field_at(const struct jfr_value *event, uint32_t number, struct jfr_value *out)
{
    /* Behind it first: then its own place is known, too. */
    return jfr_event_place(event, number + 1) != NULL &&
           jfr_reader_field_from(event, number, jfr_event_place(event, number), out);
}

uint32_t jfr_event_field_number(const struct jfr_reader_event *event, const char *name)
{
    const uint32_t number = jfr_reader_number_of(event->value.reader, event->type, name);

    return number == event->type->field_count ? JFR_FIELD_NONE : number;
}

bool jfr_event_field(const struct jfr_reader_event *event, uint32_t number, struct jfr_value *out)
{
    return number != JFR_FIELD_NONE && jfr_reader_field_at(&event->value, number, out);
}

bool jfr_event_integer(const struct jfr_reader_event *event, uint32_t number, int64_t *out)
{
    struct jfr_value field;

    if (number == JFR_FIELD_NONE)
        return false;

    const struct jfr_reader_field *at = &event->type->fields[number];
    if (at->type->kind == JFR_KIND_LONG && !at->is_pooled && !at->is_array) {
        struct jfr_cursor cursor = {jfr_event_place(&event->value, number), event->value.end,
                                    false};

        if (cursor.at == NULL)
            return false;
        *out = (int64_t)jfr_cursor_varint(&cursor);
        return !cursor.is_cut;
    }
    return jfr_reader_field_at(&event->value, number, &field) && jfr_value_integer(&field, out);
}

bool jfr_event_raw_key(const struct jfr_reader_event *event, uint32_t number, uint64_t *key)
{
    if (number == JFR_FIELD_NONE)
        return false;

    const struct jfr_reader_field *at = &event->type->fields[number];
    struct jfr_cursor cursor = {jfr_event_place(&event->value, number), event->value.end, false};
    if (cursor.at == NULL || !at->is_pooled || at->is_array)
        return false;
    *key = jfr_cursor_varint(&cursor);
    return !cursor.is_cut;
}

enum jfr_plain jfr_event_plain(const struct jfr_reader_event *event, uint32_t number)
{
    if (number >= event->type->field_count || !event->type->fields[number].is_varint)
        return JFR_PLAIN_NONE;

    const struct jfr_reader_field *field = &event->type->fields[number];
    return field->is_pooled                     ? JFR_PLAIN_KEY
           : field->type->kind == JFR_KIND_INT  ? JFR_PLAIN_INT
           : field->type->kind == JFR_KIND_LONG ? JFR_PLAIN_LONG
                                                : JFR_PLAIN_OTHER;
}

bool jfr_event_numbers(const struct jfr_reader_event *event, uint32_t count, uint64_t *numbers)
{
    struct jfr_cursor cursor = {event->value.bytes, event->value.end, false};

    for (uint32_t i = 0; i < count; i++)
        numbers[i] = jfr_cursor_varint(&cursor);
    return !cursor.is_cut;
}

struct jfr_value jfr_event_reference(const struct jfr_reader_event *event, uint32_t number)
{
    return (struct jfr_value){
        .reader = event->value.reader, .type = event->type->fields[number].type, .is_pooled = true};
}
