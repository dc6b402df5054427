/* The table of types, spelt out; dump and tool. */
#include "jfr/jfr_types.h"

#include <string.h>

const struct jfr_row jfr_rows[] = {
#define ROW(kind_, id_, name_, label_)                                                             \
    {.kind = JFR_ROW_##kind_, .type = JFR_TYPE_##id_, .name = name_, .label = label_},
#define JFR_PRIMITIVE(id_, name_)          ROW(PRIMITIVE, id_, name_, NULL)
#define JFR_UNIT_CLASS(id_, name_, label_) ROW(UNIT_CLASS, id_, name_, label_)
#define JFR_ANNOTATION(id_, name_, label_) ROW(ANNOTATION, id_, name_, label_)
#define JFR_SIMPLE(id_, name_, label_)     ROW(SIMPLE, id_, name_, label_)
#define JFR_STRUCT(id_, name_, label_)     ROW(STRUCT, id_, name_, label_)
#define JFR_EVENT(id_, name_, label_, category_, text_)                                            \
    {.kind = JFR_ROW_EVENT,                                                                        \
     .type = JFR_TYPE_##id_,                                                                       \
     .name = name_,                                                                                \
     .label = label_,                                                                              \
     .category = category_,                                                                        \
     .text = text_},                                                                               \
        JFR_FIELD("startTime", LONG, TICKS_TIME, 0, "Start Time")
#define JFR_FIELD(name_, type_, unit_, flags_, label_)                                             \
    {.kind = JFR_ROW_FIELD,                                                                        \
     .type = JFR_TYPE_##type_,                                                                     \
     .unit = JFR_UNIT_##unit_,                                                                     \
     .flags = flags_,                                                                              \
     .name = name_,                                                                                \
     .label = label_},
#define JFR_COUNT(name_, text_)                                                                    \
    {.kind = JFR_ROW_FIELD, .type = JFR_TYPE_LONG, .name = name_, .label = name_, .text = text_},
#define JFR_SPAN(name_, label_, text_)                                                             \
    {.kind = JFR_ROW_FIELD,                                                                        \
     .type = JFR_TYPE_LONG,                                                                        \
     .unit = JFR_UNIT_NS_SPAN,                                                                     \
     .name = name_,                                                                                \
     .label = label_,                                                                              \
     .text = text_},
#define JFR_CONTEXT(flags_)                                                                        \
    JFR_FIELD("traceId", TRACE_ID, NONE, JFR_POOLED | (flags_), "Trace Id")                        \
    JFR_FIELD("spanId", LONG, NONE, JFR_UNSIGNED | (flags_), "Span Id")                            \
    JFR_FIELD("localRootSpanId", LONG, NONE, JFR_UNSIGNED | (flags_), "Local Root Span Id")        \
    JFR_FIELD("", ATTRIBUTE_VALUE, NONE, JFR_POOLED | JFR_EACH_ATTRIBUTE | (flags_), "")
#define JFR_DATADOG_CONTEXT                                                                        \
    JFR_FIELD("mode", EXECUTION_MODE, NONE, JFR_POOLED, "Execution Mode")                          \
    JFR_FIELD("weight", LONG, NONE, 0, "Samples")                                                  \
    JFR_FIELD("correlationId", LONG, NONE, JFR_UNSIGNED, "Correlation Id")                         \
    JFR_FIELD("spanId", LONG, NONE, JFR_UNSIGNED, "Span Id")                                       \
    JFR_FIELD("localRootSpanId", LONG, NONE, JFR_UNSIGNED, "Local Root Span Id")                   \
    JFR_FIELD("", ATTRIBUTE_VALUE, NONE, JFR_POOLED | JFR_EACH_ATTRIBUTE, "")
#include "jfr/jfr_types.def"
#include "jfr/jfr_types_exceptions.def"
#include "jfr/jfr_types_locks.def"
#include "jfr/jfr_types_objects.def"
#include "jfr/jfr_types_program.def"
};

static const enum jfr_type told[][JFR_DIALECT_LIMIT] = {
#define JFR_TOLD(standard, async_profiler, datadog)                                                \
    {JFR_TYPE_##standard, JFR_TYPE_##async_profiler, JFR_TYPE_##datadog},
#include "jfr/jfr_dialects.def"
#undef JFR_TOLD
};

const size_t jfr_row_count = JW_COUNT_OF(jfr_rows);

static const struct jfr_row *row_of_name(const char *name)
{
    for (size_t i = 0; i < jfr_row_count; i++)
        if (jfr_rows[i].kind != JFR_ROW_FIELD && strcmp(jfr_rows[i].name, name) == 0)
            return &jfr_rows[i];
    return NULL;
}

enum jfr_type jfr_type_named(const char *name)
{
    const struct jfr_row *row = row_of_name(name);

    return row == NULL ? JFR_TYPE_LIMIT : row->type;
}

bool jfr_type_is_event(enum jfr_type type)
{
    for (size_t i = 0; i < jfr_row_count; i++)
        if (jfr_rows[i].kind == JFR_ROW_EVENT && jfr_rows[i].type == type)
            return true;
    return false;
}

enum jfr_type jfr_type_in(enum jfr_dialect dialect, enum jfr_type type)
{
    for (size_t i = 0; i < JW_COUNT_OF(told); i++)
        if (told[i][JFR_DIALECT_STANDARD] == type)
            return told[i][dialect];
    return type;
}

bool jfr_type_is_declared(enum jfr_dialect dialect, enum jfr_type type)
{
    bool is_of_dialects = false;

    for (size_t i = 0; i < JW_COUNT_OF(told); i++) {
        if (told[i][dialect] == type)
            return true;
        for (size_t other = 0; other < JFR_DIALECT_LIMIT; other++)
            is_of_dialects |= told[i][other] == type;
    }
    return !is_of_dialects;
}

bool jfr_has_frames_in_line(enum jfr_dialect dialect, bool is_wanted)
{
    return is_wanted || dialect != JFR_DIALECT_STANDARD;
}
