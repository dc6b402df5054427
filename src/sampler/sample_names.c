/* A method's names, copied at first sight into the generation of the sample; handler. */
#include <string.h>

#include "arch/arch.h"
#include "base/counters.h"
#include "generation/method_record.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_method.h"

static JW_SIGNAL_SAFE dict_id intern_text(struct dict_table *table, struct sample_scratch *scratch,
                                          const struct vm_text *text)
{
    const uint32_t length_bytes = text->length_bytes < sizeof scratch->text
                                      ? text->length_bytes
                                      : (uint32_t)sizeof scratch->text;

    if (text->addr == 0 || !safe_load_bytes(scratch->text, text->addr, length_bytes))
        return DICT_NONE;
    return dict_intern(table, scratch->text, length_bytes);
}

static JW_SIGNAL_SAFE void copy_lines(const struct vm_method *method, struct method_record *record)
{
    unsigned char *lines = (unsigned char *)(record + 1);

    if (method->line_table == 0)
        return;
    record->line_table_bytes = vm_method_copy_lines(method, lines, METHOD_LINE_TABLE_MAX_BYTES);
    if (record->line_table_bytes == 0)
        jw_count(JW_COUNT_LINE_TABLE_TOO_LONG);
}

static JW_SIGNAL_SAFE dict_id intern_method(struct generation *generation,
                                            struct sample_scratch *scratch, vm_addr addr)
{
    struct method_record *record = (struct method_record *)(void *)scratch->record;
    struct vm_method method;

    if (!vm_method_read(addr, &method)) {
        jw_count(JW_COUNT_METHOD_UNREADABLE);
        return DICT_NONE;
    }
    memset(record, 0, sizeof *record);
    record->class_name = intern_text(generation->classes, scratch, &method.class_name);
    record->name = intern_text(generation->symbols, scratch, &method.name);
    record->signature = intern_text(generation->symbols, scratch, &method.signature);
    record->source_file = intern_text(generation->symbols, scratch, &method.source_file);
    if (record->class_name == DICT_NONE || record->name == DICT_NONE ||
        record->signature == DICT_NONE)
        return DICT_NONE;
    record->modifiers = method.modifiers;
    record->class_modifiers = method.class_modifiers;
    record->loader = method.loader;
    record->flags =
        (method.is_hidden_class ? METHOD_HIDDEN : 0) | (method.is_native ? 0 : METHOD_HAS_CODE);
    record->const_method_addr = method.const_method;
    copy_lines(&method, record);
    return method_record_intern(generation->methods, record);
}

dict_id sample_method(struct generation *generation, struct sample_scratch *scratch, vm_addr method)
{
    const dict_id cached = dict_cache_find(generation->method_cache, method);

    if (cached != DICT_NONE) {
        /* Redefinition may put another method at an address without a ClassPrepare; it then has
         * another ConstMethod, too. */
        const struct method_record *record = method_record_get(generation->methods, cached, NULL);

        if (record != NULL && record->const_method_addr == vm_method_const(method))
            return cached;
    }
    jw_count(JW_COUNT_METHOD_CACHE_MISSES);
    const dict_id id = intern_method(generation, scratch, method);
    dict_cache_put(generation->method_cache, method, id);
    return id;
}
