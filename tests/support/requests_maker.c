/* Recordings of requests for tests. Context: tool. */
#include "support/requests_maker.h"

enum {
    LONG = 10,
    INT = 11,
    STRING = 12,
    BOOLEAN = 13,
    THREAD = 20,
    TRACE = 21,
    FRAME = 22,
    FRAME_TYPE = 23,
    METHOD = 24,
    CLASS = 25,
    SYMBOL = 26,
    STATE = 27,
    TRACE_ID = 30,
    VALUE = 31,
    ENDPOINT = 32,
    SAMPLE = 101,
    ENDPOINT_EVENT = 102,
};

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=boolean id=13",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "      field name=osThreadId class=10",
    "      field name=javaName class=12",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=13",
    "      field name=frames class=22 dimension=1",
    "    class name=jdk.types.StackFrame id=22",
    "      field name=method class=24 constantPool=true",
    "      field name=lineNumber class=11",
    "      field name=bytecodeIndex class=11",
    "      field name=type class=23 constantPool=true",
    MAKER_NAME_ROWS,
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=weight class=10",
    "      field name=wallTime class=10",
    "      field name=traceId class=30 constantPool=true",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "      field name=tenant class=31 constantPool=true",
    "        annotation class=41",
    "      field name=attribute1 class=31 constantPool=true",
    "        annotation class=41",
    "        annotation class=40 value=user_id",
    "    class name=jaywalk.Endpoint id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=traceId class=30 constantPool=true",
    "      field name=localRootSpanId class=10",
    "      field name=endpoint class=32 constantPool=true",
    "      field name=operation class=32 constantPool=true",
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

/* They end with NULL. */
static void put_texts(struct maker *maker, uint64_t type, const char *const *texts)
{
    size_t count = 0;

    while (texts[count] != NULL)
        count++;
    maker_text_pool(maker, type, count, texts);
}

/* A stack of two frames, leaf first: its method and type, then Main.main, compiled. */
static void put_stack(struct maker *maker, uint64_t key, uint64_t method, uint64_t type)
{
    MAKER_PUT(maker, key, 0, 2, method, 1, 0, type, 1, 1, 0, 1);
}

void requests_begin(struct maker *maker, const char *const *texts)
{
    static const char *const symbols[] = {"a/Main", "main",           "()V",       "a/Work",
                                          "run",    "a/Shop",         "libc.so.6", "read",
                                          "buy",    "0x7f12a4c0d3e8", NULL};
    static const char *const types[] = {"JIT compiled", "C++", "Address", NULL};
    static const char *const states[] = {"STATE_RUNNABLE", NULL};

    maker_begin_chunk(maker);
    maker_metadata_from(maker, rows);
    const size_t at = maker_begin_checkpoint(maker, 10);
    put_texts(maker, SYMBOL, symbols);
    put_texts(maker, FRAME_TYPE, types);
    put_texts(maker, STATE, states);
    put_texts(maker, TRACE_ID, texts);
    put_texts(maker, VALUE, texts);
    put_texts(maker, ENDPOINT, texts);
    maker_pool(maker, THREAD, 2);
    for (uint64_t i = 1; i <= 2; i++) {
        maker_varint(maker, i);
        maker_text(maker, NULL);
        maker_varint(maker, 10 + i);
        maker_text(maker, i == 1 ? "main" : "worker");
    }
    maker_pool(maker, CLASS, 4);
    MAKER_PUT(maker, 1, 1, 2, 4, 3, 6, 4, 7); /* Main, Work, Shop, libc.so.6 */
    maker_pool(maker, METHOD, 5);
    MAKER_PUT(maker, 1, 1, 2, 3);
    MAKER_PUT(maker, 2, 2, 5, 3);
    MAKER_PUT(maker, 3, 3, 9, 3);
    MAKER_PUT(maker, 4, 4, 8, 3);
    MAKER_PUT(maker, 5, 2, 10, 3);
    maker_pool(maker, TRACE, 4);
    put_stack(maker, 1, 2, 1);
    put_stack(maker, 2, 3, 1);
    put_stack(maker, 3, 4, 2);
    MAKER_PUT(maker, 4, 0, 3, 5, 0, 0, 3, 2, 1, 0, 1, 1, 1, 0, 1);
    maker_end_event(maker, at);
}

void requests_sample(struct maker *maker, const struct made_request *request)
{
    const size_t at = maker_begin_event(maker, SAMPLE);
    const uint64_t weight_ns = request->wall_ns > 0      ? 0
                               : request->weight_ns == 0 ? 10000000
                                                         : request->weight_ns;

    MAKER_PUT(maker, 1, request->thread == 0 ? 1 : request->thread, request->stack, 1, weight_ns,
              request->wall_ns, request->trace_id, request->span_id, request->root_span_id,
              request->tenant, request->user);
    maker_end_event(maker, at);
}

void requests_endpoint(struct maker *maker, uint64_t root_span_id, uint64_t endpoint,
                       uint64_t operation)
{
    const size_t at = maker_begin_event(maker, ENDPOINT_EVENT);

    MAKER_PUT(maker, 1, 0, root_span_id, endpoint, operation);
    maker_end_event(maker, at);
}

void requests_end(struct maker *maker)
{
    maker_end_chunk(maker, 1700000000000000000);
}
