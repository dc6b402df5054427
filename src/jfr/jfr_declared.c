/* Rows of types that were declared while the program ran; any. */
#include "jfr/jfr_declared.h"

#include <string.h>

/* What each of them has before its own fields ... */
static const struct jfr_row start_row = {
    JFR_ROW_FIELD, JFR_TYPE_LONG, JFR_UNIT_TICKS_TIME, 0, "startTime", "Start Time", NULL, NULL};
static const struct jfr_row duration_row = {
    JFR_ROW_FIELD, JFR_TYPE_LONG, JFR_UNIT_TICKS_SPAN, 0, "duration", "Duration", NULL, NULL};
static const struct jfr_row thread_row = {JFR_ROW_FIELD, JFR_TYPE_THREAD, JFR_UNIT_NONE, JFR_POOLED,
                                          "eventThread", "Event Thread",  NULL,          NULL};
static const struct jfr_row stack_row = {
    JFR_ROW_FIELD, JFR_TYPE_STACK_TRACE, JFR_UNIT_NONE, JFR_POOLED,
    "stackTrace",  "Stack Trace",        NULL,          NULL};
static const struct jfr_row who_rows[] = {
    {JFR_ROW_FIELD, JFR_TYPE_SYMBOL, JFR_UNIT_NONE, JFR_POOLED, "probe", "Probe", NULL, NULL},
    {JFR_ROW_FIELD, JFR_TYPE_METHOD, JFR_UNIT_NONE, JFR_POOLED, "handler", "Handler", NULL,
     "The handler that told it; none: another thread of the probe"},
    {JFR_ROW_FIELD, JFR_TYPE_METHOD, JFR_UNIT_NONE, JFR_POOLED, "method", "Method", NULL,
     "The method that the handler was called in"},
    {JFR_ROW_FIELD, JFR_TYPE_THREAD, JFR_UNIT_NONE, JFR_POOLED | JFR_OF_VIRTUAL, "carrier",
     "Carrier Thread", NULL, NULL},
};
/* ... and behind them, as JFR_CONTEXT has it. */
static const struct jfr_row context_rows[] = {
    {JFR_ROW_FIELD, JFR_TYPE_TRACE_ID, JFR_UNIT_NONE, JFR_POOLED | JFR_OF_CONTEXT, "traceId",
     "Trace Id", NULL, NULL},
    {JFR_ROW_FIELD, JFR_TYPE_LONG, JFR_UNIT_NONE, JFR_UNSIGNED | JFR_OF_CONTEXT, "spanId",
     "Span Id", NULL, NULL},
    {JFR_ROW_FIELD, JFR_TYPE_LONG, JFR_UNIT_NONE, JFR_UNSIGNED | JFR_OF_CONTEXT, "localRootSpanId",
     "Local Root Span Id", NULL, NULL},
    {JFR_ROW_FIELD, JFR_TYPE_ATTRIBUTE_VALUE, JFR_UNIT_NONE,
     JFR_POOLED | JFR_EACH_ATTRIBUTE | JFR_OF_CONTEXT, "", "", NULL, NULL},
};

_Static_assert(5 + JW_COUNT_OF(who_rows) + JW_COUNT_OF(context_rows) <=
                   JFR_DECLARED_ROWS_MAX - JFR_DECLARED_FIELDS_MAX,
               "there is room for all rows");

const struct jfr_declared *jfr_declared_find(const struct jfr_declared_set *set, uint32_t number)
{
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        if (set->each[i].number == number)
            return &set->each[i];
    }
    return NULL;
}

static bool is_pooled(enum jfr_type type)
{
    return type == JFR_TYPE_CLASS || type == JFR_TYPE_THREAD;
}

size_t jfr_declared_rows(const struct jfr_declared *declared,
                         struct jfr_row rows[JFR_DECLARED_ROWS_MAX])
{
    size_t count = 0;

    rows[count++] = (struct jfr_row){
        .kind = JFR_ROW_EVENT,
        .type = (enum jfr_type)(JFR_DECLARED_FIRST_ID + declared->number),
        .name = declared->name,
        .label = declared->label,
        .text = declared->text[0] == '\0' ? NULL : declared->text,
    };
    rows[count++] = start_row;
    if (declared->has_duration)
        rows[count++] = duration_row;
    rows[count++] = thread_row;
    if (declared->has_stack)
        rows[count++] = stack_row;
    for (size_t i = 0; i < JW_COUNT_OF(who_rows); i++)
        rows[count++] = who_rows[i];
    for (uint32_t i = 0; i < declared->field_count && i < JFR_DECLARED_FIELDS_MAX; i++) {
        const struct jfr_declared_field *field = &declared->fields[i];

        rows[count++] = (struct jfr_row){
            .kind = JFR_ROW_FIELD,
            .type = field->type,
            .unit = field->unit,
            .flags = is_pooled(field->type) ? JFR_POOLED : 0,
            .name = field->name,
            .label = field->label,
        };
    }
    for (size_t i = 0; i < JW_COUNT_OF(context_rows); i++)
        rows[count++] = context_rows[i];
    return count;
}
