/*
 * Readers that look at a chunk that another one has in hand, so that several threads may read its events. Context: tool.
 *
 * Types, constants and what is unpacked are the owner's, and nobody changes them while its events are read; the window, the places of fields of the
 * event in hand and what was found by name are each reader's own.
 */
#include "jfr/jfr_reader_internal.h"

void jfr_reader_look(struct jfr_reader *view, const struct jfr_reader *owner, uint64_t begin_bytes,
                     uint64_t end_bytes)
{
    jfr_reader_forget_chunk(view);
    /* Of chunks of its own, if it ever had one. */
    jw_free(view->constants);
    jw_free(view->slots);
    jw_free(view->taken);

    view->is_looking = true;
    view->chunk = owner->chunk;
    view->types = owner->types;
    view->type_count = owner->type_count;
    view->fields = owner->fields;
    view->string_type = owner->string_type;
    view->constants = owner->constants;
    view->constant_count = owner->constant_count;
    view->slots = owner->slots;
    view->slot_count = owner->slot_count;
    view->slotted_count = owner->slotted_count;
    view->taken = owner->taken;
    view->next_event = begin_bytes;
    view->end_of_events = end_bytes;
}

void jfr_reader_look_away(struct jfr_reader *view)
{
    view->is_looking = false;
    view->types = NULL;
    view->type_count = 0;
    view->fields = NULL;
    view->string_type = NULL;
    view->constants = NULL;
    view->constant_count = view->constant_capacity = 0;
    view->slots = NULL;
    view->slot_count = view->slotted_count = 0;
    view->taken = NULL;
    view->taken_capacity_bytes = 0;
    jfr_reader_forget_events(view);
}

void jfr_reader_measure(const struct jfr_reader *reader, struct jfr_reader_measures *out)
{
    const struct jfr_reader_chunk *chunk = &reader->chunk;
    const uint64_t other_bytes = JFR_READER_HEADER_BYTES + reader->pool_bytes;
    const uint64_t end_bytes =
        reader->is_packed ? reader->in_file_end : chunk->offset_bytes + chunk->size_bytes;

    out->next_bytes = reader->next_event;
    out->events_bytes = chunk->size_bytes > other_bytes ? chunk->size_bytes - other_bytes : 0;
    out->own_bytes = reader->in_file_bytes;
    out->behind_bytes = reader->file_bytes > end_bytes ? reader->file_bytes - end_bytes : 0;
}
