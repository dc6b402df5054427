/* Paths of the dump thread and of the command: integers of a recording, events written and read. */
#include "counted.h"

#include <unistd.h>

#include "jfr/jfr_buffer.h"
#include "jfr/jfr_reader.h"
#include "support/recording_maker.h"

#define EVENT_TYPE 101

static struct jfr_buffer buffer;
static struct jfr_reader *reader;
static char path[64];

/* The memory is there; no operation makes it grow. */
static void open_buffer(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        for (unsigned byte = 0; byte < 64; byte++)
            jfr_put_u8(&buffer, byte);
    jfr_buffer_clear(&buffer);
}

static void close_buffer(void)
{
    counted_need(!buffer.has_failed, "jfr_buffer", NULL);
    jfr_buffer_close(&buffer);
    buffer = (struct jfr_buffer){0};
}

/* One of each length that a recording has: of an id, a count, a span and a time. */
static void put_varints(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        jfr_put_varint(&buffer, i & 0x3f);
        jfr_put_varint(&buffer, 0x1234);
        jfr_put_varint(&buffer, 10000000);
        jfr_put_varint(&buffer, UINT64_C(0x123456789abcde));
    }
}

static void put_events(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        const size_t begin = jfr_event_begin(&buffer, EVENT_TYPE);

        jfr_put_varint(&buffer, UINT64_C(1000000000) * i);
        jfr_put_varint(&buffer, 17);
        jfr_put_varint(&buffer, 1234);
        jfr_put_varint(&buffer, 1);
        jfr_event_end(&buffer, begin);
    }
}

static void open_recording(unsigned operations)
{
    struct jw_error err = {0};
    struct jfr_reader_chunk chunk;
    struct maker maker = {0};

    maker_begin_chunk(&maker);
    maker_metadata(&maker);
    maker_begin_checkpoint(&maker, 0);
    maker_end_event(&maker, maker.checkpoint);
    for (unsigned i = 0; i < operations; i++)
        maker_sample(&maker, i, 1, 1 + i % 3, 1, 10000000);
    maker_end_chunk(&maker, 1);
    counted_need(maker_save(&maker, path), "a recording to read", NULL);
    maker_close(&maker);
    reader = jfr_reader_open(path, &err);
    unlink(path);
    counted_need(reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err), "jfr_reader", &err);
}

static void close_recording(void)
{
    jfr_reader_close(reader);
}

static void read_events(unsigned operations)
{
    struct jw_error err = {0};
    struct jfr_reader_event event;
    unsigned samples = 0;

    while (jfr_reader_next_event(reader, &event, &err)) {
        struct jfr_value value;
        int64_t weight_ns;

        samples += jfr_value_field(&event.value, "weight", &value) &&
                   jfr_value_integer(&value, &weight_ns);
    }
    counted_need(samples == operations, "as many samples as were written", &err);
}

/* As the command asks for fields: by number, of one type. */
static void read_events_by_number(unsigned operations)
{
    struct jw_error err = {0};
    struct jfr_reader_event event;
    uint32_t weight_at = JFR_FIELD_NONE, trace_at = JFR_FIELD_NONE;
    unsigned samples = 0;

    while (jfr_reader_next_event(reader, &event, &err)) {
        int64_t weight_ns;
        uint64_t key;

        if (weight_at == JFR_FIELD_NONE) {
            weight_at = jfr_event_field_number(&event, "weight");
            trace_at = jfr_event_field_number(&event, "stackTrace");
        }
        samples += jfr_event_integer(&event, weight_at, &weight_ns) &&
                   jfr_event_raw_key(&event, trace_at, &key);
    }
    counted_need(samples == operations, "as many samples as were written", &err);
}

const struct counted counted_jfr[] = {
    {"jfr_put_4_varints", open_buffer, put_varints, close_buffer, 500, 1500},
    {"jfr_put_event", open_buffer, put_events, close_buffer, 500, 1500},
    {"jfr_read_event", open_recording, read_events, close_recording, 500, 1500},
    {"jfr_read_event_by_number", open_recording, read_events_by_number, close_recording, 500, 1500},
};
const size_t counted_jfr_count = JW_COUNT_OF(counted_jfr);
