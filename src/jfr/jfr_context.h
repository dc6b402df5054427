/*
 * jfr_context - what a sample was taken for: trace, spans and attributes, as a recording tells them.
 *
 * For      tools that cut a recording by endpoint, span or attribute.
 * Callers  cli, tests.   Context  tool.
 * Memory   none; values live as long as those of the event that they come from (jfr_reader.h), and a
 *          constant behind one (jfr_value_constant) until the next chunk.
 *
 * For each event: jfr_context_read, which is one walk over its fields and says false at once where the
 * type has no context; jfr_endpoint_read and jfr_span_read likewise. Texts are constants: to sum up
 * events, compare jfr_value_key within a chunk, and read the text (jfr_value_text) once for each key:
 *
 *     if (jfr_context_read(&event, &context))
 *         for (i = 0; i < context.attribute_count; i++)
 *             if (strcmp(context.attributes[i].name, "tenant") == 0 && ...value.reader != NULL)
 *                 key = jfr_value_key(&context.attributes[i].value);
 *     else if (jfr_endpoint_read(&event, &endpoint))
 *         of endpoint.root_span_id: in events before and after this one, and in other chunks
 *
 * Which attributes there are may differ from chunk to chunk; the same name is the same attribute.
 *
 * Also understood: spanId, localRootSpanId and attributes of events "datadog.*", and datadog.Endpoint.
 */
#ifndef JW_JFR_JFR_CONTEXT_H
#define JW_JFR_JFR_CONTEXT_H

#include "jfr/jfr_reader.h"

#define JFR_CONTEXT_ATTRIBUTES_MAX 32u /* what a type has beyond is passed over */

/* A value whose reader is NULL: there is none. */
struct jfr_context_attribute {
    const char *name; /* as the application gave it; lives until the next chunk */
    struct jfr_value value;
};

struct jfr_context {
    struct jfr_value trace_id; /* a text of 32 hex digits */
    uint64_t span_id;          /* 0: none */
    uint64_t root_span_id;     /* of the request in this process; 0: none */
    size_t attribute_count;    /* that this type has, set or not */
    struct jfr_context_attribute attributes[JFR_CONTEXT_ATTRIBUTES_MAX];
};

/* False: events of this type have no context. */
bool jfr_context_read(const struct jfr_reader_event *event, struct jfr_context *out);

/* Does the event say anything of one: a span, a trace or an attribute? */
bool jfr_context_is_any(const struct jfr_reader_event *event);

/* Name of the attribute with this number in events of this type; NULL: the type has no more. */
const char *jfr_context_attribute_name(const struct jfr_reader_type *type, size_t number);

/* The root span is a request to this endpoint. */
struct jfr_endpoint {
    uint64_t root_span_id;
    struct jfr_value trace_id;
    struct jfr_value endpoint;
    struct jfr_value operation;
    struct jfr_value thread; /* that told it */
};

/* False: no such event. */
bool jfr_endpoint_read(const struct jfr_reader_event *event, struct jfr_endpoint *out);

/* A span that ended: it began at the start of its event. */
struct jfr_span {
    int64_t duration_ticks;
    struct jfr_value name;
    struct jfr_value thread;
    struct jfr_context context;
};

/* False: no such event. */
bool jfr_span_read(const struct jfr_reader_event *event, struct jfr_span *out);

#endif
