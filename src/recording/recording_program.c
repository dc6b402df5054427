/* What the program does that hooks tell of one by one: files and sockets, classes that come and go; dump. */
#include "base/clock.h"
#include "base/io.h"
#include "event/event_values.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* ---- files and sockets ---- */

static void put_text(struct jfr_buffer *out, struct event_values_taker *taker)
{
    size_t length_bytes;
    const char *text = event_values_take_text(taker, &length_bytes);

    if (text == NULL)
        jfr_put_string(out, NULL);
    else
        jfr_put_text(out, text, length_bytes);
}

static void put_socket(struct jfr_buffer *out, struct event_values_taker *taker)
{
    put_text(out, taker); /* host */
    put_text(out, taker); /* address */
    jfr_put_int(out, (int32_t)event_values_take_number(taker));
}

static void put_io(struct jfr_buffer *out, const struct event_record *record,
                   struct event_values_taker *taker)
{
    const bool is_end = (record->flags & EVENT_IO_END) != 0;

    switch ((enum jw_io)(record->flags & ~EVENT_IO_END)) {
    case JW_IO_FILE_READ:
        put_text(out, taker);
        jfr_put_varint(out, record->value);
        jfr_put_u8(out, is_end);
        break;
    case JW_IO_FILE_WRITE:
        put_text(out, taker);
        jfr_put_varint(out, record->value);
        break;
    case JW_IO_FILE_FORCE:
        put_text(out, taker);
        jfr_put_u8(out, record->value != 0);
        break;
    case JW_IO_SOCKET_READ:
        put_socket(out, taker);
        jfr_put_long(out, INT64_MIN); /* timeout */
        jfr_put_varint(out, record->value);
        jfr_put_u8(out, is_end);
        break;
    case JW_IO_SOCKET_WRITE:
        put_socket(out, taker);
        jfr_put_varint(out, record->value);
        break;
    case JW_IO_LIMIT:
        break;
    }
}

static void take_io(struct recording_take *take, const struct event_record *record)
{
    static const enum jfr_type types[JW_IO_LIMIT] = {
        [JW_IO_FILE_READ] = JFR_TYPE_FILE_READ,       [JW_IO_FILE_WRITE] = JFR_TYPE_FILE_WRITE,
        [JW_IO_FILE_FORCE] = JFR_TYPE_FILE_FORCE,     [JW_IO_SOCKET_READ] = JFR_TYPE_SOCKET_READ,
        [JW_IO_SOCKET_WRITE] = JFR_TYPE_SOCKET_WRITE,
    };
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    const uint32_t what = record->flags & ~EVENT_IO_END;
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    struct event_values_taker taker;
    struct recording_taken taken;
    size_t length_bytes = 0;
    const void *bytes = dict_text(take->generation->payloads, record->name, &length_bytes);

    if (!JW_INVARIANT(what < JW_IO_LIMIT) || !recording_taken_of(take, record, &taken))
        return;
    (void)event_values_taking(&taker, bytes, length_bytes);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const size_t begin = jfr_event_begin(out, types[what]);
    recording_put_time(recording, record->time_ns + moved_ns);
    recording_put_length(recording, record->time_ns + moved_ns, record->weight_ns);
    jfr_put_varint(out, taken.who.thread);
    jfr_put_varint(out, taken.stack);
    put_io(out, record, &taker);
    (void)JW_INVARIANT(!taker.is_damaged);
    recording_put_carrier(recording, taken.who.carrier);
    recording_put_context(recording, &taken.context);
    jfr_event_end(out, begin);
    recording->hook_samples++;
}

/* ---- classes ---- */

static void take_class(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    const bool is_defined = record->flags == EVENT_CLASS_DEFINED;
    struct recording_taken taken;
    struct recording_text name;

    name.bytes = dict_text(take->generation->classes, record->class_name, &name.length_bytes);
    if (name.bytes == NULL || !recording_taken_of(take, record, &taken))
        return;
    const uint64_t loader = recording_loader_key(&recording->names, record->name);
    const uint64_t class_key = recording_class_of_loader(&recording->names, name, record->name);
    const size_t begin =
        jfr_event_begin(out, is_defined ? JFR_TYPE_CLASS_DEFINE : JFR_TYPE_CLASS_UNLOAD);
    recording_put_time(recording, recording_time(recording, record->time_ns));
    jfr_put_varint(out, taken.who.thread);
    if (is_defined)
        jfr_put_varint(out, taken.stack);
    jfr_put_varint(out, class_key);
    jfr_put_varint(out, loader);
    jfr_event_end(out, begin);
    recording->hook_samples++;
}

void recording_take_program(struct recording_take *take, const struct event_record *record)
{
    if (record->kind == EVENT_IO)
        take_io(take, record);
    else
        take_class(take, record);
}

/* ---- exceptions ---- */

void recording_put_exceptions(struct recording *recording, uint64_t count)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed)
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_EXCEPTION_STATISTICS, jw_now_ns());
    jfr_put_varint(out, count);
    jfr_event_end(out, begin);
    recording_relieve(recording);
}
