/* A method's names, copied at first sight into the generation of the sample; handler. */
#include <string.h>

#include "arch/arch.h"
#include "base/counters.h"
#include "base/descriptor.h"
#include "generation/method_record.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_method.h"
#include "vm/vm_safepoint.h"

static JW_SIGNAL_SAFE dict_id intern_text(struct dict_table *table, struct sample_scratch *scratch,
                                          const struct vm_text *text, bool *is_readable)
{
    const uint32_t length_bytes = text->length_bytes < sizeof scratch->text
                                      ? text->length_bytes
                                      : (uint32_t)sizeof scratch->text;

    *is_readable = safe_load_bytes(scratch->text, text->addr, length_bytes);
    return *is_readable ? dict_intern(table, scratch->text, length_bytes) : DICT_NONE;
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

/* Of a long one the beginning is there. */
static JW_SIGNAL_SAFE bool is_signature(const unsigned char *text, uint32_t length_bytes)
{
    return length_bytes <= VM_NAME_BYTES_MAX
               ? jw_descriptor_is_whole(text, length_bytes)
               : jw_descriptor_parameters(text, VM_NAME_BYTES_MAX) != 0;
}

/* Class, name and signature; false when one is missing, and `is_readable` says why. */
static JW_SIGNAL_SAFE bool intern_names(struct generation *generation,
                                        struct sample_scratch *scratch,
                                        const struct vm_method *method,
                                        struct method_record *record, bool *is_readable)
{
    bool is_source_readable;

    record->class_name =
        intern_text(generation->classes, scratch, &method->class_name, is_readable);
    if (record->class_name == DICT_NONE)
        return false;
    record->name = intern_text(generation->symbols, scratch, &method->name, is_readable);
    if (record->name == DICT_NONE)
        return false;
    record->signature = intern_text(generation->symbols, scratch, &method->signature, is_readable);
    if (record->signature == DICT_NONE)
        return false;
    if (!is_signature(scratch->text, method->signature.length_bytes)) {
        *is_readable = false; /* so what was read is no method */
        return false;
    }
    /* A method may do without this one. */
    if (method->source_file.addr != 0)
        record->source_file =
            intern_text(generation->symbols, scratch, &method->source_file, &is_source_readable);
    return true;
}

/* All 0 where it must not be known again by its address. */
static JW_SIGNAL_SAFE struct method_identity identity_of(vm_addr method)
{
    struct vm_identity told;

    if (!vm_method_identify(method, &told))
        return (struct method_identity){0};
    return (struct method_identity){
        .const_method_addr = told.const_method,
        .class_addr = told.klass,
        .class_serial = told.serial,
        .number = told.idnum,
        .numbers = told.idnums,
    };
}

static JW_SIGNAL_SAFE dict_id intern_method(struct generation *generation,
                                            struct sample_scratch *scratch, vm_addr addr,
                                            enum jw_mark *why)
{
    struct method_record *record = (struct method_record *)(void *)scratch->record;
    struct vm_method method;
    /* Before the names: what changes in between makes the identity an older one, under which nobody looks. */
    const struct method_identity identity = identity_of(addr);
    bool is_readable = vm_method_read(addr, &method);

    *why = JW_MARK_DICT_FULL; /* counted by the dictionary that refuses */
    memset(record, 0, sizeof *record);
    if (!is_readable || !intern_names(generation, scratch, &method, record, &is_readable)) {
        if (!is_readable) {
            *why = JW_MARK_UNREADABLE_METHOD;
            jw_count(JW_COUNT_METHOD_UNREADABLE);
        }
        return DICT_NONE;
    }
    record->modifiers = method.modifiers;
    record->class_modifiers = method.class_modifiers;
    record->loader = method.loader;
    record->flags =
        (method.is_hidden_class ? METHOD_HIDDEN : 0) | (method.is_native ? 0 : METHOD_HAS_CODE);
    record->identity = identity;
    copy_lines(&method, record);
    return method_record_intern(generation->methods, record);
}

dict_id sample_class(struct generation *generation, struct sample_scratch *scratch, vm_addr klass)
{
    struct vm_text name;
    bool is_readable;

    return vm_class_name(klass, &name)
               ? intern_text(generation->classes, scratch, &name, &is_readable)
               : DICT_NONE;
}

void sample_names_begin(struct sample_scratch *scratch)
{
    scratch->are_names_dated = vm_safepoint_date(&scratch->names_date);
    scratch->is_cache_renewed = !scratch->are_names_dated;
}

/* Of a method or class at this address; DICT_NONE: nothing, or not any more. */
static JW_SIGNAL_SAFE dict_id find_cached(struct generation *generation,
                                          struct sample_scratch *scratch, vm_addr addr)
{
    if (!scratch->is_cache_renewed)
        dict_cache_renew(generation->method_cache, scratch->names_date);
    scratch->is_cache_renewed = true;
    return dict_cache_find(generation->method_cache, addr);
}

bool sample_method_is(const struct generation *generation, dict_id id, vm_addr method)
{
    const unsigned char *lines;
    const struct method_record *record = method_record_get(generation->methods, id, &lines);
    const struct method_identity now = identity_of(method);

    return record != NULL && now.class_addr != 0 &&
           memcmp(&record->identity, &now, sizeof now) == 0 &&
           vm_method_has_lines(method, lines, record->line_table_bytes);
}

dict_id sample_method(struct generation *generation, struct sample_scratch *scratch, vm_addr method,
                      enum jw_mark *why)
{
    const dict_id cached = find_cached(generation, scratch, method);

    /* Dated, it is of a method that was on a stack behind the last operation of the JVM: its memory is not another's yet. */
    if (cached != DICT_NONE &&
        (scratch->are_names_dated || sample_method_is(generation, cached, method)))
        return cached;
    jw_count(JW_COUNT_METHOD_CACHE_MISSES);
    const dict_id id = intern_method(generation, scratch, method, why);
    dict_cache_put(generation->method_cache, method, id);
    return id;
}

/* Of a class that stays until the hook is over. While names are dated it has its address for itself, as methods have theirs. */
static JW_SIGNAL_SAFE dict_id class_held(struct generation *generation,
                                         struct sample_scratch *scratch, vm_addr klass)
{
    if (!scratch->are_names_dated)
        return sample_class(generation, scratch, klass);

    const dict_id cached = find_cached(generation, scratch, klass);
    if (cached != DICT_NONE)
        return cached;
    const dict_id id = sample_class(generation, scratch, klass);
    dict_cache_put(generation->method_cache, klass, id);
    return id;
}

dict_id sample_class_of_hook(struct generation *generation, struct sample_scratch *scratch,
                             struct sample_deep *deep, const struct sampler_hook *hook)
{
    if (hook->klass == 0)
        return hook->class_text == NULL
                   ? DICT_NONE
                   : dict_intern(generation->classes, hook->class_text, hook->class_bytes);
    /* What holds of the methods of the trace holds of the class that came with it. */
    if (deep != NULL && deep->is_again && deep->last.klass == hook->klass)
        return deep->last.class_name;
    const dict_id id = class_held(generation, scratch, hook->klass);
    if (deep != NULL) {
        deep->last.klass = id == DICT_NONE ? 0 : hook->klass;
        deep->last.class_name = id;
    }
    return id;
}
