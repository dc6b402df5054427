/* Lines of frames; dump. */
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_names_internal.h"
#include "vm/vm_lines.h"

int recording_line_of(const unsigned char *table, size_t length_bytes, unsigned bias, int bci)
{
    struct vm_lines lines = vm_lines_begin(bias);
    struct vm_line_search search = vm_line_search_begin(bci);

    for (size_t i = 0; bci >= 0 && i < length_bytes; i++) {
        const enum vm_lines_step step = vm_lines_feed(&lines, table[i]);

        if (step == VM_LINES_END ||
            (step == VM_LINES_ENTRY && !vm_line_search_entry(&search, &lines)))
            break;
    }
    return vm_line_search_end(&search);
}

int recording_frame_line(const struct generation *generation, jw_frame frame, unsigned bias)
{
    const unsigned char *table = NULL;
    const struct method_record *record =
        jw_frame_kind_of(frame) > JW_FRAME_INLINED
            ? NULL
            : method_record_get(generation->methods, jw_frame_method(frame), &table);

    if (record == NULL || record->line_table_bytes == 0)
        return -1;
    return recording_line_of(table, record->line_table_bytes, bias, jw_frame_bci(frame));
}
