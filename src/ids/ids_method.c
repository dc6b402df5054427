/* Records of methods, in the chains of their classes; handler. */
#include "ids/ids_internal.h"

#include "base/counters.h"
#include "vm/vm_body.h"
#include "vm/vm_lines.h"
#include "vm/vm_safepoint.h"

JW_SIGNAL_SAFE static struct ids_method *method_at(uint32_t record)
{
    return ids_pool_at(&ids_methods, record);
}

JW_SIGNAL_SAFE static uint32_t numbers_of(const struct vm_body *body)
{
    return body->idnum | (uint32_t)body->idnums << 16;
}

/* A method that is being looked for. */
struct wanted {
    struct vm_body body;
    vm_addr addr;
    uint64_t safepoints; /* how many there were until now; 0: not known */
    ids_id klass;
};

/*
 * A redefinition that changes nothing but lines gives no numbers, and the next one's code may come to lie where that of the one before
 * lay. Both take a safepoint.
 */
static JW_SIGNAL_SAFE bool has_its_lines(struct ids_method *method, const struct wanted *wanted)
{
    const uint32_t names_bytes = jw_load_relaxed(&method->names_bytes);
    const uint32_t lines_bytes = jw_load_relaxed(&method->lines_bytes);
    struct vm_method now;

    if (wanted->safepoints != 0 && jw_load_relaxed(&method->safepoints) == wanted->safepoints)
        return true;
    if (!vm_method_read(wanted->addr, &now) || now.line_table_bytes_max < lines_bytes ||
        !ids_text_is(jw_load_relaxed(&method->text), (names_bytes & 0xffff) + (names_bytes >> 16),
                     now.line_table, lines_bytes))
        return false;
    jw_store_relaxed(&method->safepoints, wanted->safepoints);
    return true;
}

/* What the record is of has gone from its place, and ids_turn will tell it. */
static JW_SIGNAL_SAFE void set_stale(struct ids_method *method)
{
    struct ids_class *klass = ids_class_of(jw_load_relaxed(&method->klass));

    (void)jw_or_relaxed(&method->modifiers, IDS_STALE | IDS_OBSOLETE);
    /* order IDS_STALE: releases the mark of the method. */
    if (klass != NULL)
        jw_store_release(&klass->has_stale, 1);
}

/* From `record` on, to the end of its chain; 0: it is not there. */
static JW_SIGNAL_SAFE uint32_t find(uint32_t record, const struct wanted *wanted)
{
    const struct vm_body *body = &wanted->body;

    for (; record != 0; record = jw_load_relaxed(&method_at(record)->next)) {
        struct ids_method *method = method_at(record);

        if (jw_load_relaxed(&method->const_method) != body->const_method ||
            jw_load_relaxed(&method->pool) != body->pool ||
            jw_load_relaxed(&method->numbers) != numbers_of(body) ||
            (jw_load_relaxed(&method->modifiers) & IDS_STALE) != 0)
            continue;
        if (has_its_lines(method, wanted))
            return record;
        set_stale(method);
    }
    return 0;
}

/* ---- a new one ---- */

/* Names and lines of the method; false: they cannot be read, or there is no room. */
static JW_SIGNAL_SAFE bool fill_texts(struct ids_method *method, const struct vm_method *of)
{
    struct ids_writer writer = {0};
    uint32_t name_bytes, signature_bytes;
    bool has_lines = false;

    if (!ids_text_put_name(&writer, &of->name, &name_bytes) ||
        !ids_text_put_name(&writer, &of->signature, &signature_bytes)) {
        ids_text_drop(writer.first);
        return false;
    }
    const uint32_t names_bytes = writer.length_bytes;
    if (of->line_table != 0 && !ids_text_put_lines(&writer, of, &has_lines)) {
        ids_text_drop(writer.first);
        return false;
    }
    if (of->line_table != 0 && !has_lines)
        jw_count(JW_COUNT_LINE_TABLE_TOO_LONG);
    jw_store_relaxed(&method->text, ids_text_end(&writer));
    jw_store_relaxed(&method->names_bytes, name_bytes | signature_bytes << 16);
    jw_store_relaxed(&method->lines_bytes, has_lines ? writer.length_bytes - names_bytes : 0);
    return true;
}

static JW_SIGNAL_SAFE bool fill(struct ids_method *method, const struct wanted *wanted)
{
    const struct vm_body *body = &wanted->body;
    struct vm_method of;

    if (!vm_method_read(wanted->addr, &of) || !fill_texts(method, &of))
        return false;
    jw_store_relaxed(&method->klass, wanted->klass);
    jw_store_relaxed(&method->const_method, body->const_method);
    jw_store_relaxed(&method->pool, body->pool);
    jw_store_relaxed(&method->numbers, numbers_of(body));
    jw_store_relaxed(&method->safepoints, wanted->safepoints);
    jw_store_relaxed(&method->modifiers,
                     of.modifiers | (body->is_idnum_first ? IDS_NUMBER_KNOWN : 0) |
                         (vm_class_pool(body->klass) == body->pool ? 0 : IDS_OBSOLETE));
    return true;
}

static JW_SIGNAL_SAFE uint32_t make(const struct wanted *wanted)
{
    const uint32_t record = ids_pool_take(&ids_methods);

    if (record != 0 && fill(method_at(record), wanted))
        return record;
    jw_count(JW_COUNT_IDS_REFUSED);
    if (record != 0)
        ids_pool_give(&ids_methods, record);
    return 0;
}

/* One that nobody has seen. */
static JW_SIGNAL_SAFE void unmake(uint32_t record)
{
    ids_text_drop(jw_load_relaxed(&method_at(record)->text));
    ids_pool_give(&ids_methods, record);
}

/* The record of this body in the chain, which is made where there is none. 0: no room. */
static JW_SIGNAL_SAFE uint32_t find_or_make(_Atomic uint32_t *chain, const struct wanted *wanted)
{
    /* order IDS_CHAIN: acquires the records of the chain. */
    uint32_t head = jw_load_acquire(chain);
    uint32_t known = find(head, wanted);

    if (known != 0)
        return known;
    const uint32_t own = make(wanted);
    while (own != 0) {
        jw_store_relaxed(&method_at(own)->next, head);
        /* order IDS_CHAIN: releases the record; acquires those that came before it when it fails. */
        if (jw_cas_acq_rel(chain, &head, own))
            return own;
        known = find(head, wanted);
        if (known != 0) {
            unmake(own);
            return known;
        }
    }
    return 0;
}

ids_id ids_method_at(vm_addr addr)
{
    struct wanted wanted = {.addr = addr};
    const uint32_t of = vm_body_at(addr, &wanted.body) ? ids_class_find(wanted.body.klass) : 0;

    if (of == 0) {
        jw_count(JW_COUNT_IDS_REFUSED);
        return 0;
    }
    struct ids_class *klass = ids_pool_at(&ids_classes, of);
    wanted.klass = ids_make(of, jw_load_relaxed(&klass->version));
    if (!vm_safepoint_count(&wanted.safepoints))
        wanted.safepoints = 0;

    /* order IDS_INSIDE: acquires what ids_turn took out of the chains before it saw nobody. */
    (void)jw_add_acq_rel(&klass->inside, 1);
    const uint32_t record = find_or_make(&klass->chains[wanted.body.idnum % IDS_CHAINS], &wanted);
    const ids_id id =
        record == 0 ? 0 : ids_make(record, jw_load_relaxed(&method_at(record)->version));
    /* order IDS_INSIDE: releases that the chains were read. */
    (void)jw_sub_release(&klass->inside, 1);
    return id;
}

/* ---- what is asked of an id ---- */

bool ids_method_info(ids_id id, struct ids_method_info *info)
{
    struct ids_method *method = ids_method_of(id);

    if (method == NULL)
        return false;
    const uint32_t text = jw_load_relaxed(&method->text);
    const uint32_t names_bytes = jw_load_relaxed(&method->names_bytes);
    const uint32_t modifiers = jw_load_relaxed(&method->modifiers);

    info->klass = jw_load_relaxed(&method->klass);
    info->modifiers = modifiers & 0xffff;
    info->number = (uint16_t)jw_load_relaxed(&method->numbers);
    info->is_number_known = (modifiers & IDS_NUMBER_KNOWN) != 0 || (modifiers & IDS_OBSOLETE) == 0;
    info->is_obsolete = (modifiers & IDS_OBSOLETE) != 0;
    ids_text_copy(text, 0, names_bytes & 0xffff, &info->name);
    ids_text_copy(text, names_bytes & 0xffff, names_bytes >> 16, &info->signature);
    return ids_is_alive(&method->version, id);
}

int ids_method_lines(ids_id id, ids_line_visit *visit, void *argument)
{
    struct ids_method *method = ids_method_of(id);
    struct vm_lines lines = vm_lines_begin(vm_unsigned5_bias());
    int count = 0;

    if (method == NULL)
        return IDS_GONE;
    const uint32_t names_bytes = jw_load_relaxed(&method->names_bytes);
    const uint32_t all_bytes = jw_load_relaxed(&method->lines_bytes);
    struct ids_reader reader = ids_text_begin(jw_load_relaxed(&method->text),
                                              (names_bytes & 0xffff) + (names_bytes >> 16));
    enum vm_lines_step step = VM_LINES_MORE;
    bool is_wanted = true;
    for (uint32_t i = 0; i < all_bytes && i < IDS_LINES_MAX_BYTES && step != VM_LINES_END; i++) {
        step = vm_lines_feed(&lines, ids_text_next(&reader));
        if (step != VM_LINES_ENTRY)
            continue;
        count++;
        is_wanted = is_wanted && visit(&lines, argument);
    }
    return ids_is_alive(&method->version, id) ? count : IDS_GONE;
}

static JW_SIGNAL_SAFE bool search(const struct vm_lines *lines, void *argument)
{
    return vm_line_search_entry(argument, lines);
}

int ids_method_line(ids_id id, int bci)
{
    struct vm_line_search found = vm_line_search_begin(bci);

    if (ids_method_lines(id, search, &found) == IDS_GONE)
        return IDS_GONE;
    const int line = bci < 0 ? -1 : vm_line_search_end(&found);
    return line < 0 ? 0 : line;
}
