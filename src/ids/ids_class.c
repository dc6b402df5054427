/* Records of classes, and the table that finds one by the address of its Klass. */
#include "ids/ids_internal.h"

#include <errno.h>
#include <string.h>

#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "vm/vm_body.h"
#include "vm/vm_method.h"

/*
 * A slot is one word, so that a class takes the place of another in one step: the address of the Klass without its three lowest bits,
 * and above it the record. A class is looked for in IDS_PROBES slots and nowhere else, so slots of classes that are gone
 * do not lengthen the way to others.
 */
#define ADDR_BITS     45u
#define ADDR_MASK     ((UINT64_C(1) << ADDR_BITS) - 1)
#define ADDR_SHIFT    3u
#define CLASSES_LIMIT (1u << (64 - ADDR_BITS))
#define PROBES        64u

#define SLOT_FREE 0

/* What a share of memory is for, in hundredths. A class with its name takes some 200 bytes. */
#define CLASSES_PERCENT 25
#define METHODS_PERCENT 15

static struct {
    _Atomic uint64_t *slots;
    uint32_t mask;
    uint64_t charged_bytes;
    _Atomic uint64_t last_number; /* relaxed: hands out numbers */
    _Atomic bool is_open;         /* released when the memory is there */
    _Atomic bool are_listed;      /* released when all classes are */
} table;

bool ids_table_open(uint32_t class_limit)
{
    uint32_t count = PROBES;

    while (count < 2 * class_limit)
        count *= 2;
    table.slots = jw_memory_map(JW_MEMORY_IDS, jw_mul_bytes(count, sizeof *table.slots));
    table.mask = count - 1;
    return table.slots != NULL;
}

void ids_table_close(void)
{
    if (table.slots != NULL)
        jw_memory_unmap((void *)(uintptr_t)table.slots,
                        jw_mul_bytes((size_t)table.mask + 1, sizeof *table.slots));
    table.slots = NULL;
}

static bool open_pools(uint64_t bytes)
{
    const uint64_t class_bytes = sizeof(struct ids_class) + 4 * sizeof(uint64_t);
    const uint64_t classes = bytes / 100 * CLASSES_PERCENT / class_bytes;
    const uint64_t methods = bytes / 100 * METHODS_PERCENT / sizeof(struct ids_method);
    const uint64_t blocks =
        bytes / 100 * (100 - CLASSES_PERCENT - METHODS_PERCENT) / sizeof(struct ids_block);
    const uint32_t class_limit = classes < CLASSES_LIMIT ? (uint32_t)classes : CLASSES_LIMIT;

    return ids_pool_open(&ids_classes, class_limit, sizeof(struct ids_class)) &&
           ids_pool_open(&ids_methods, methods < UINT32_MAX ? (uint32_t)methods : UINT32_MAX,
                         sizeof(struct ids_method)) &&
           ids_pool_open(&ids_blocks, blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX,
                         sizeof(struct ids_block)) &&
           ids_table_open(class_limit);
}

bool ids_open(uint64_t bytes, struct jw_error *err)
{
    if (ids_is_open())
        return true;
    if (!jw_memory_charge(JW_MEMORY_IDS, bytes)) {
        jw_error_set(err, "memlimit leaves no room for %llu bytes of ids; try a larger one",
                     (unsigned long long)bytes);
        return false;
    }
    table.charged_bytes = bytes;
    if (!open_pools(bytes)) {
        jw_error_set(err, "cannot reserve %llu bytes for ids of classes and methods: %s",
                     (unsigned long long)bytes, strerror(errno));
        ids_close();
        return false;
    }
    /* order IDS_OPEN: releases the pools and the table. */
    jw_store_release(&table.is_open, true);
    return true;
}

bool ids_is_open(void)
{
    /* order IDS_OPEN: acquires the pools and the table. */
    return jw_load_acquire(&table.is_open);
}

void ids_close(void)
{
    jw_store_relaxed(&table.is_open, false);
    jw_store_relaxed(&table.are_listed, false);
    ids_pool_close(&ids_classes);
    ids_pool_close(&ids_methods);
    ids_pool_close(&ids_blocks);
    ids_table_close();
    jw_memory_credit(JW_MEMORY_IDS, table.charged_bytes);
    table.charged_bytes = 0;
}

void ids_listed(void)
{
    /* order IDS_LISTED: releases the records of the classes that were there before. */
    jw_store_release(&table.are_listed, true);
}

bool ids_are_listed(void)
{
    /* order IDS_LISTED: acquires the records of the classes that were there before. */
    return jw_load_acquire(&table.are_listed);
}

/* ---- the table ---- */

JW_SIGNAL_SAFE static _Atomic uint64_t *slot_at(vm_addr klass, uint32_t probe)
{
    return &table.slots[((uint32_t)jw_hash_word(klass) + probe) & table.mask];
}

JW_SIGNAL_SAFE static uint64_t word_of(uint32_t record, vm_addr klass)
{
    return (uint64_t)record << ADDR_BITS | klass >> ADDR_SHIFT;
}

static JW_SIGNAL_SAFE bool is_of(uint64_t word, vm_addr klass)
{
    return (word & ADDR_MASK) == klass >> ADDR_SHIFT && word >> ADDR_BITS != 0;
}

uint32_t ids_class_find(vm_addr klass)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        /* order IDS_TABLE: acquires the record that the slot names. */
        const uint64_t word = jw_load_acquire(slot_at(klass, probe));

        if (is_of(word, klass))
            return (uint32_t)(word >> ADDR_BITS);
    }
    return 0;
}

/* Nobody finds it any more, and it never was the record of a class that anybody was told of; ids_turn gives it back. */
static void drop(uint32_t record)
{
    struct ids_class *klass = ids_pool_at(&ids_classes, record);
    uint32_t state = IDS_CLASS_LIVE;

    /* order IDS_CLASS: acquires nothing that is needed; the swap decides whose it is. */
    (void)jw_cas_acq_rel(&klass->state, &state, IDS_CLASS_DROPPED);
}

/* Takes the place of what stands there for this address. False: nothing does. */
static bool replace(vm_addr klass, uint64_t word, bool is_live_elsewhere)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        _Atomic uint64_t *const slot = slot_at(klass, probe);
        /* order IDS_TABLE: acquires the record. */
        uint64_t old = jw_load_acquire(slot);

        if (!is_of(old, klass) || old == word)
            continue;
        /* order IDS_TABLE: releases the record. That of a class that is gone ids_turn finds by itself; it may have been here first. */
        if (!jw_cas_acq_rel(slot, &old, word))
            continue;
        if (is_live_elsewhere)
            drop((uint32_t)(old >> ADDR_BITS));
        return true;
    }
    return false;
}

static bool fill_free(vm_addr klass, uint64_t word)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        uint64_t old = SLOT_FREE;

        /* order IDS_TABLE: releases the record. */
        if (jw_cas_acq_rel(slot_at(klass, probe), &old, word))
            return true;
    }
    return false;
}

/* Another slot for the same address; NULL: there is none. */
static _Atomic uint64_t *other_slot(vm_addr klass, uint64_t word, uint64_t *other)
{
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        _Atomic uint64_t *const slot = slot_at(klass, probe);

        /* order IDS_TABLE: acquires the record that the slot names. */
        *other = jw_load_acquire(slot);
        if (is_of(*other, klass) && *other != word)
            return slot;
    }
    return NULL;
}

static bool is_twice(vm_addr klass, uint64_t word)
{
    uint64_t other;

    return other_slot(klass, word, &other) != NULL;
}

/* Of two that came into the table at the same time, one by the list of classes, the one of the list goes. */
static void forget_other(vm_addr klass, uint64_t word)
{
    uint64_t other;
    _Atomic uint64_t *slot = other_slot(klass, word, &other);

    /* order IDS_TABLE: acquires nothing that is needed. */
    if (slot != NULL && jw_cas_acq_rel(slot, &other, SLOT_FREE))
        drop((uint32_t)(other >> ADDR_BITS));
}

void ids_class_unlist(uint32_t record)
{
    const struct ids_class *klass = ids_pool_at(&ids_classes, record);
    const vm_addr addr = jw_load_relaxed(&klass->klass);

    for (uint32_t probe = 0; probe < PROBES; probe++) {
        uint64_t word = word_of(record, addr);

        /* order IDS_TABLE: acquires nothing that is needed. */
        if (jw_cas_acq_rel(slot_at(addr, probe), &word, SLOT_FREE))
            return;
    }
}

/* ---- records ---- */

/* All of it but the address; false: it cannot be read, or there is no room. */
static bool fill(struct ids_class *klass, vm_addr addr, size_t told_bytes)
{
    struct ids_writer writer = {0};
    uint32_t name_bytes, source_bytes;
    struct vm_class of;

    if (!vm_class_read(addr, &of) || !ids_text_put_name(&writer, &of.name, &name_bytes) ||
        !ids_text_put_name(&writer, &of.source_file, &source_bytes)) {
        ids_text_drop(writer.first);
        return false;
    }
    const bool is_hidden = of.is_hidden || (told_bytes != 0 && told_bytes != of.name.length_bytes);
    jw_store_relaxed(&klass->text, ids_text_end(&writer));
    jw_store_relaxed(&klass->name_bytes, name_bytes);
    jw_store_relaxed(&klass->source_bytes, source_bytes);
    jw_store_relaxed(&klass->modifiers, of.modifiers | (is_hidden ? IDS_HIDDEN : 0));
    jw_store_relaxed(&klass->pool, of.pool);
    return true;
}

/* A record that is ready for the table; 0, counted: none. */
static uint32_t make(vm_addr addr, size_t told_bytes, void *weak)
{
    const uint32_t record = addr >> (ADDR_BITS + ADDR_SHIFT) != 0 ? 0 : ids_pool_take(&ids_classes);
    struct ids_class *klass = ids_pool_at(&ids_classes, record);

    if (record == 0 || !fill(klass, addr, told_bytes)) {
        jw_count(JW_COUNT_IDS_REFUSED);
        if (record != 0)
            ids_pool_give(&ids_classes, record);
        return 0;
    }
    jw_store_relaxed(&klass->klass, addr);
    jw_store_relaxed(&klass->weak, (uintptr_t)weak);
    jw_store_relaxed(&klass->number, jw_add_relaxed(&table.last_number, 1) + 1);
    for (size_t i = 0; i < IDS_CHAINS; i++)
        jw_store_relaxed(&klass->chains[i], 0);
    jw_store_relaxed(&klass->has_stale, 0);
    klass->left = 0;
    /* order IDS_CLASS: releases the record to ids_turn. */
    jw_store_release(&klass->state, IDS_CLASS_LIVE);
    return record;
}

bool ids_class_prepared(vm_addr addr, size_t told_bytes, void *weak)
{
    /* While classes are listed, this one may have been: then it is known twice. */
    const bool are_listed = ids_are_listed();
    const uint32_t record = make(addr, told_bytes, weak);
    const uint64_t word = word_of(record, addr);

    if (record == 0)
        return false;
    if (!replace(addr, word, !are_listed) && !fill_free(addr, word)) {
        jw_count(JW_COUNT_IDS_REFUSED);
        drop(record);
    }
    if (!are_listed)
        forget_other(addr, word);
    return true;
}

bool ids_class_listed(vm_addr addr, size_t told_bytes, void *weak)
{
    const uint32_t record = ids_class_find(addr) != 0 ? 0 : make(addr, told_bytes, weak);
    const uint64_t word = word_of(record, addr);

    if (record == 0)
        return false;
    if (!fill_free(addr, word)) {
        jw_count(JW_COUNT_IDS_REFUSED);
        drop(record);
    } else if (is_twice(addr, word)) {
        ids_class_unlist(record);
        drop(record);
    }
    return true;
}

ids_id ids_class_at(vm_addr klass)
{
    const uint32_t record = ids_class_find(klass);
    struct ids_class *of = ids_pool_at(&ids_classes, record);

    return record == 0 ? 0 : ids_make(record, jw_load_relaxed(&of->version));
}

bool ids_class_info(ids_id id, struct ids_class_info *info)
{
    struct ids_class *klass = ids_class_of(id);

    if (klass == NULL)
        return false;
    const uint32_t text = jw_load_relaxed(&klass->text);
    const uint32_t name_bytes = jw_load_relaxed(&klass->name_bytes);
    const uint32_t modifiers = jw_load_relaxed(&klass->modifiers);

    info->number = jw_load_relaxed(&klass->number);
    info->modifiers = modifiers & 0xffff;
    info->is_hidden = (modifiers & IDS_HIDDEN) != 0;
    ids_text_copy(text, 0, name_bytes, &info->name);
    ids_text_copy(text, name_bytes, jw_load_relaxed(&klass->source_bytes), &info->source_file);
    return ids_is_alive(&klass->version, id);
}

void *ids_class_weak(ids_id id)
{
    struct ids_class *klass = ids_class_of(id);
    void *weak = klass == NULL ? NULL : (void *)jw_load_relaxed(&klass->weak);

    return klass != NULL && ids_is_alive(&klass->version, id) ? weak : NULL;
}
