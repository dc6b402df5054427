/* The binary record of a context; interned in handlers, read by the dump thread. */
#include "generation/context_record.h"

#include <string.h>

#define HEAD_BYTES offsetof(struct context_record, values)

static JW_SIGNAL_SAFE bool is_head_zero(const struct context_record *record)
{
    uint64_t trace[2];

    memcpy(trace, record->trace_id, sizeof trace);
    return (trace[0] | trace[1] | record->span_id | record->root_span_id |
            record->virtual_thread) == 0;
}

dict_id context_record_intern(struct dict_table *contexts, const struct context_record *record)
{
    size_t count = CONTEXT_ATTRIBUTES_MAX;

    while (count > 0 && record->values[count - 1] == DICT_NONE)
        count--;
    if (count == 0 && is_head_zero(record))
        return DICT_NONE;
    return dict_intern(contexts, record, HEAD_BYTES + count * sizeof record->values[0]);
}

bool context_record_get(const struct dict_table *contexts, dict_id id, struct context_record *out)
{
    size_t length_bytes;
    const void *record = dict_text(contexts, id, &length_bytes);

    *out = (struct context_record){0};
    if (record == NULL || length_bytes < HEAD_BYTES || length_bytes > sizeof *out)
        return false;
    memcpy(out, record, length_bytes);
    return true;
}
