/* Contexts, endpoints and spans of recordings, ours and those of Datadog's profiler. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "jfr/jfr_context.h"
#include "support/recording_maker.h"

enum {
    TRACE_ID = 30,
    VALUE = 31,
    ENDPOINT = 32,
    SAMPLE = 201,
    ENDPOINT_EVENT = 202,
    SPAN = 203,
    DATADOG_SAMPLE = 204,
    DATADOG_ENDPOINT = 205,
    PLAIN = 206,
};

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=jdk.ExecutionSample id=201 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=traceId class=30 constantPool=true",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "      field name=tenant class=31 constantPool=true",
    "        annotation class=40 value=tenant",
    "        annotation class=41",
    "      field name=attribute1 class=31 constantPool=true",
    "        annotation class=41",
    "        annotation class=40 value=http.route",
    "      field name=unmarked class=31 constantPool=true",
    "    class name=jaywalk.Endpoint id=202 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=traceId class=30 constantPool=true",
    "      field name=localRootSpanId class=10",
    "      field name=endpoint class=32 constantPool=true",
    "      field name=operation class=32 constantPool=true",
    "    class name=jaywalk.Span id=203 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "      field name=name class=32 constantPool=true",
    "      field name=traceId class=30 constantPool=true",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "      field name=tenant class=31 constantPool=true",
    "        annotation class=41",
    "    class name=datadog.ExecutionSample id=204 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=state class=32 constantPool=true",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "      field name=customer class=31 constantPool=true",
    "    class name=datadog.Endpoint id=205 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=endpoint class=12 constantPool=true",
    "      field name=operation class=12 constantPool=true",
    "      field name=localRootSpanId class=10",
    "    class name=test.Plain id=206 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "    class name=long id=10",
    "    class name=java.lang.String id=12",
    "    class name=jaywalk.types.TraceId id=30 simpleType=true",
    "      field name=id class=12",
    "    class name=jaywalk.types.AttributeValue id=31 simpleType=true",
    "      field name=value class=12",
    "    class name=jaywalk.types.Endpoint id=32 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.jfr.Label id=40 superType=java.lang.annotation.Annotation",
    "      field name=value class=12",
    "    class name=jaywalk.Attribute id=41 superType=java.lang.annotation.Annotation",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

static struct maker maker;
static char path[64];
static struct jfr_reader *reader;
static struct jfr_reader_event event;
static struct jfr_context context;
static struct jfr_text text;
static struct jw_error err;

static void put_text(uint64_t type, const char *constant)
{
    maker_pool(&maker, type, 1);
    maker_varint(&maker, 1);
    maker_text(&maker, constant);
}

/* A chunk with one event of these fields, and one constant, of key 1, for each pool. */
static void make(uint64_t type, size_t count, const uint64_t *fields)
{
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    size_t begin = maker_begin_checkpoint(&maker, 4);
    put_text(TRACE_ID, "0af7651916cd43dd8448eb211c80319c");
    put_text(VALUE, "acme");
    put_text(ENDPOINT, "GET /orders");
    put_text(MAKER_STRING, "GET /old");
    maker_end_event(&maker, begin);
    begin = maker_begin_event(&maker, type);
    for (size_t i = 0; i < count; i++)
        maker_varint(&maker, fields[i]);
    maker_end_event(&maker, begin);
    maker_end_chunk(&maker, 1);
}

#define MAKE(type, ...)                                                                            \
    make(type, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static void read_event(void)
{
    struct jfr_reader_chunk chunk;

    cr_assert(maker_save(&maker, path));
    reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    cr_assert(jfr_reader_next_chunk(reader, &chunk, &err), "%s", err.message);
    cr_assert(jfr_reader_next_event(reader, &event, &err), "%s", err.message);
}

static void end(void)
{
    jw_alloc_fail_after(0);
    jfr_reader_close(reader);
    jfr_text_free(&text);
    maker_close(&maker);
    if (path[0] != '\0')
        unlink(path);
}

TestSuite(reader_context, .fini = end, .timeout = 1800);

static void expect_text(const struct jfr_value *value, const char *wanted)
{
    cr_assert_not_null(value->reader, "there is no %s", wanted);
    cr_assert(jfr_value_text(value, &text));
    cr_expect_str_eq(text.text, wanted);
}

Test(reader_context, a_sample_tells_trace_spans_and_attributes_by_their_names)
{
    MAKE(SAMPLE, 5, 1, UINT64_MAX - 1, 77, 1, 0, 1);
    read_event();
    cr_assert(jfr_context_read(&event, &context));
    expect_text(&context.trace_id, "0af7651916cd43dd8448eb211c80319c");
    cr_expect_eq(context.span_id, UINT64_MAX - 1);
    cr_expect_eq(context.root_span_id, 77);
    cr_assert_eq(context.attribute_count, 2, "the field without the mark is none");
    cr_expect_str_eq(context.attributes[0].name, "tenant");
    expect_text(&context.attributes[0].value, "acme");
    cr_expect_eq(jfr_value_key(&context.attributes[0].value), 1);
    cr_expect_str_eq(context.attributes[1].name, "http.route");
    cr_expect_null(context.attributes[1].value.reader);
    cr_expect_str_eq(jfr_context_attribute_name(event.type, 0), "tenant");
    cr_expect_str_eq(jfr_context_attribute_name(event.type, 1), "http.route");
    cr_expect_null(jfr_context_attribute_name(event.type, 2));
    cr_expect_null(jfr_context_attribute_name(event.type, 1000));
}

Test(reader_context, a_sample_without_context_has_none_of_it)
{
    MAKE(SAMPLE, 5, 0, 0, 0, 0, 0, 0);
    read_event();
    cr_assert(jfr_context_read(&event, &context));
    cr_expect_null(context.trace_id.reader);
    cr_expect_eq(context.span_id, 0);
    cr_expect_eq(context.root_span_id, 0);
    cr_assert_eq(context.attribute_count, 2);
    cr_expect_null(context.attributes[0].value.reader);
    cr_expect_null(context.attributes[1].value.reader);
}

Test(reader_context, an_event_that_is_cut_has_what_stands_before_the_cut)
{
    MAKE(SAMPLE, 5, 1, 9);
    read_event();
    cr_assert(jfr_context_read(&event, &context));
    expect_text(&context.trace_id, "0af7651916cd43dd8448eb211c80319c");
    cr_expect_eq(context.span_id, 9);
    cr_expect_eq(context.root_span_id, 0);
    cr_assert_eq(context.attribute_count, 2);
    cr_expect_null(context.attributes[0].value.reader);
}

Test(reader_context, a_reference_that_leads_nowhere_is_no_value)
{
    MAKE(SAMPLE, 5, 8, 1, 2, 9, 1, 0);
    read_event();
    cr_assert(jfr_context_read(&event, &context));
    cr_expect_null(context.trace_id.reader);
    cr_expect_null(context.attributes[0].value.reader);
    expect_text(&context.attributes[1].value, "acme");
}

Test(reader_context, an_endpoint_names_its_root_span_and_lies_in_none)
{
    struct jfr_endpoint endpoint;

    MAKE(ENDPOINT_EVENT, 5, 1, 77, 1, 0);
    read_event();
    cr_expect_not(jfr_context_read(&event, &context));
    cr_assert(jfr_endpoint_read(&event, &endpoint));
    cr_expect_eq(endpoint.root_span_id, 77);
    expect_text(&endpoint.endpoint, "GET /orders");
    expect_text(&endpoint.trace_id, "0af7651916cd43dd8448eb211c80319c");
    cr_expect_null(endpoint.operation.reader);
    cr_expect_null(endpoint.thread.reader);
}

Test(reader_context, a_span_tells_name_duration_and_context)
{
    struct jfr_endpoint endpoint;
    struct jfr_span span;

    MAKE(SPAN, 5, 400, 1, 1, 12, 77, 1);
    read_event();
    cr_expect_not(jfr_endpoint_read(&event, &endpoint));
    cr_assert(jfr_span_read(&event, &span));
    cr_expect_eq(event.start_ticks, 5);
    cr_expect_eq(span.duration_ticks, 400);
    expect_text(&span.name, "GET /orders");
    cr_expect_eq(span.context.span_id, 12);
    cr_expect_eq(span.context.root_span_id, 77);
    cr_assert_eq(span.context.attribute_count, 1);
    cr_expect_str_eq(span.context.attributes[0].name, "tenant", "without a label its own name");
    expect_text(&span.context.attributes[0].value, "acme");
}

Test(reader_context, samples_of_datadog_have_the_attributes_behind_their_root_span)
{
    MAKE(DATADOG_SAMPLE, 5, 1, 12, 77, 1);
    read_event();
    cr_assert(jfr_context_read(&event, &context));
    cr_expect_null(context.trace_id.reader);
    cr_expect_eq(context.span_id, 12);
    cr_expect_eq(context.root_span_id, 77);
    cr_assert_eq(context.attribute_count, 1, "the state is none");
    cr_expect_str_eq(context.attributes[0].name, "customer");
    expect_text(&context.attributes[0].value, "acme");
}

Test(reader_context, endpoints_of_datadog_are_endpoints)
{
    struct jfr_endpoint endpoint;

    MAKE(DATADOG_ENDPOINT, 5, 1, 0, 77);
    read_event();
    cr_expect_not(jfr_context_read(&event, &context));
    cr_assert(jfr_endpoint_read(&event, &endpoint));
    cr_expect_eq(endpoint.root_span_id, 77);
    expect_text(&endpoint.endpoint, "GET /old");
    cr_expect_null(endpoint.trace_id.reader);
}

Test(reader_context, other_events_have_neither_context_nor_endpoint_nor_span)
{
    struct jfr_endpoint endpoint;
    struct jfr_span span;

    MAKE(PLAIN, 5);
    read_event();
    cr_expect_not(jfr_context_read(&event, &context));
    cr_expect_not(jfr_endpoint_read(&event, &endpoint));
    cr_expect_not(jfr_span_read(&event, &span));
    cr_expect_null(jfr_context_attribute_name(event.type, 0));
}

Test(reader_context, memory_that_runs_out_anywhere_is_told)
{
    struct jfr_reader_chunk chunk;
    unsigned fails = 1;

    MAKE(SAMPLE, 5, 1, 2, 3, 1, 1, 0);
    cr_assert(maker_save(&maker, path));
    for (bool is_read = false; !is_read; fails++) {
        cr_assert_lt(fails, 100);
        jw_error_clear(&err);
        jw_alloc_fail_after(fails);
        reader = jfr_reader_open(path, &err);
        is_read = reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err);
        cr_expect_eq(err.message[0] == '\0', is_read);
        jw_alloc_fail_after(0);
        jfr_reader_close(reader);
        reader = NULL;
    }
    cr_expect_gt(fails, 8);
}
