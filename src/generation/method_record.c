/* The binary record of a method; interned in handlers, read by the dump thread. */
#include "generation/method_record.h"

dict_id method_record_intern(struct dict_table *methods, const struct method_record *record)
{
    if (record->line_table_bytes > METHOD_LINE_TABLE_MAX_BYTES)
        return DICT_NONE;
    return dict_intern(methods, record, sizeof *record + record->line_table_bytes);
}

const struct method_record *method_record_get(const struct dict_table *methods, dict_id id,
                                              const unsigned char **line_table)
{
    size_t length_bytes;
    const struct method_record *record = dict_text(methods, id, &length_bytes);

    if (record == NULL || length_bytes < sizeof *record ||
        length_bytes != sizeof *record + record->line_table_bytes)
        return NULL;
    if (line_table != NULL)
        *line_table = (const unsigned char *)(record + 1);
    return record;
}
