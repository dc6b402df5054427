/* What has come to its end is told, and its records begin another life; one thread. */
#include "ids/ids_internal.h"

#include "base/counters.h"
#include "base/jw.h"
#include "vm/vm_body.h"

JW_SIGNAL_SAFE static struct ids_method *method_at(uint32_t record)
{
    return ids_pool_at(&ids_methods, record);
}

/* Nobody walks the chains of this class now who began before its methods were taken out. */
static bool is_nobody_inside(struct ids_class *klass)
{
    /* order IDS_INSIDE: acquires that the chains were read; releases what was taken out of them. */
    return jw_add_acq_rel(&klass->inside, 0) == 0;
}

static void give_method(uint32_t record)
{
    struct ids_method *method = method_at(record);
    const uint32_t text = jw_load_relaxed(&method->text);

    ids_end_life(&method->version);
    ids_text_drop(text);
    ids_pool_give(&ids_methods, record);
}

/* ---- the methods of a class that an event is of ---- */

struct batch {
    ids_id *methods;
    size_t count, room;
    bool is_cut; /* no memory for all of them */
};

static void add(struct batch *batch, uint32_t record)
{
    if (batch->count == batch->room) {
        const size_t room = batch->room == 0 ? 64 : 2 * batch->room;
        ids_id *more = jw_realloc(batch->methods, jw_mul_bytes(room, sizeof *more));

        if (more == NULL) {
            batch->is_cut = true;
            return;
        }
        batch->methods = more;
        batch->room = room;
    }
    batch->methods[batch->count++] = ids_make(record, jw_load_relaxed(&method_at(record)->version));
}

/* All of the class, found or not. */
static void gather(const struct ids_class *klass, struct batch *batch)
{
    for (uint32_t record = klass->left; record != 0; record = method_at(record)->left)
        add(batch, record);
    for (size_t i = 0; i < IDS_CHAINS; i++) {
        /* order IDS_CHAIN: acquires the records of the chain. */
        uint32_t record = jw_load_acquire(&klass->chains[i]);

        for (; record != 0; record = jw_load_relaxed(&method_at(record)->next))
            add(batch, record);
    }
}

static void tell(const struct ids_watch *watch, ids_id klass, bool is_redefined,
                 const struct batch *batch)
{
    const struct ids_event event = {
        .klass = klass,
        .is_redefined = is_redefined,
        .methods = batch->methods,
        .method_count = batch->count,
    };

    if (batch->is_cut)
        jw_count(JW_COUNT_IDS_REFUSED);
    watch->tell(&event, watch->argument);
}

static void give_left(struct ids_class *klass)
{
    uint32_t record = klass->left;

    klass->left = 0;
    while (record != 0) {
        const uint32_t next = method_at(record)->left;

        give_method(record);
        record = next;
    }
}

/* ---- a class that is gone ---- */

static void give_class(const struct ids_watch *watch, uint32_t record)
{
    struct ids_class *klass = ids_pool_at(&ids_classes, record);
    const uint32_t text = jw_load_relaxed(&klass->text);
    void *weak = (void *)jw_load_relaxed(&klass->weak);

    give_left(klass);
    for (size_t i = 0; i < IDS_CHAINS; i++) {
        uint32_t method = jw_load_relaxed(&klass->chains[i]);

        jw_store_relaxed(&klass->chains[i], 0);
        while (method != 0) {
            const uint32_t next = jw_load_relaxed(&method_at(method)->next);

            give_method(method);
            method = next;
        }
    }
    /* In this order: who finds the class alive may use its reference until it is given back. */
    ids_end_life(&klass->version);
    watch->give_back(weak, watch->argument);
    jw_store_relaxed(&klass->weak, 0);
    ids_text_drop(text);
    jw_store_relaxed(&klass->state, IDS_CLASS_FREE);
    ids_pool_give(&ids_classes, record);
}

/* Nothing of it runs any more; but each of its ids may be asked about by anybody. */
static void end_class(const struct ids_watch *watch, uint32_t record)
{
    struct ids_class *klass = ids_pool_at(&ids_classes, record);
    struct batch batch = {0};

    ids_class_unlist(record);
    gather(klass, &batch);
    tell(watch, ids_make(record, jw_load_relaxed(&klass->version)), false, &batch);
    jw_free(batch.methods);
    give_class(watch, record);
}

/* ---- a class that was redefined ---- */

static bool is_replaced(const struct ids_method *method, vm_addr pool)
{
    return jw_load_relaxed(&method->pool) != pool ||
           (jw_load_relaxed(&method->modifiers) & IDS_STALE) != 0;
}

/* Nobody finds it from now on. */
static void unlink_method(struct ids_class *klass, _Atomic uint32_t *chain, uint32_t record)
{
    struct ids_method *method = method_at(record);
    const uint32_t next = jw_load_relaxed(&method->next);
    uint32_t head = record;

    (void)jw_or_relaxed(&method->modifiers, IDS_OBSOLETE);
    /* order IDS_CHAIN: acquires the records that came before it when it fails. */
    if (!jw_cas_acq_rel(chain, &head, next)) {
        while (jw_load_relaxed(&method_at(head)->next) != record)
            head = jw_load_relaxed(&method_at(head)->next);
        jw_store_relaxed(&method_at(head)->next, next);
    }
    method->left = klass->left;
    klass->left = record;
}

static void unlink_replaced(struct ids_class *klass, vm_addr pool)
{
    for (size_t i = 0; i < IDS_CHAINS; i++) {
        /* order IDS_CHAIN: acquires the records of the chain. */
        uint32_t record = jw_load_acquire(&klass->chains[i]);

        while (record != 0) {
            const uint32_t next = jw_load_relaxed(&method_at(record)->next);

            if (is_replaced(method_at(record), pool))
                unlink_method(klass, &klass->chains[i], record);
            record = next;
        }
    }
}

/* Those that left their chains, and at which nobody looks any more: told, and given back. */
static void tell_left(const struct ids_watch *watch, uint32_t record)
{
    struct ids_class *klass = ids_pool_at(&ids_classes, record);
    struct batch batch = {0};

    for (uint32_t left = klass->left; left != 0; left = method_at(left)->left)
        add(&batch, left);
    tell(watch, ids_make(record, jw_load_relaxed(&klass->version)), true, &batch);
    jw_free(batch.methods);
    give_left(klass);
}

/* ---- a turn ---- */

/* The pool that a class has now, if it is another one than when it was last looked at; 0: it is not, or the class is gone. */
static vm_addr other_pool(const struct ids_watch *watch, const struct ids_class *klass)
{
    const vm_addr addr = jw_load_relaxed(&klass->klass);
    const vm_addr known = jw_load_relaxed(&klass->pool);

    if (vm_class_pool(addr) == known)
        return 0;
    /* What was read may be the memory of something else by now, but not while the class is held. */
    void *held = watch->hold((void *)jw_load_relaxed(&klass->weak), watch->argument);
    if (held == NULL)
        return 0;
    const vm_addr now = vm_class_pool(addr);
    watch->release(held, watch->argument);
    return now == known ? 0 : now;
}

/* Returns how many events were told. What somebody is inside of is put off to the next turn. */
static uint32_t look_at(const struct ids_watch *watch, uint32_t record)
{
    struct ids_class *klass = ids_pool_at(&ids_classes, record);

    if (watch->is_gone((void *)jw_load_relaxed(&klass->weak), watch->argument)) {
        if (!is_nobody_inside(klass))
            return 0;
        end_class(watch, record);
        return 1;
    }
    const vm_addr pool = other_pool(watch, klass);
    /* order IDS_STALE: acquires the marks of methods. */
    const bool has_stale = jw_exchange_acq_rel(&klass->has_stale, 0) != 0;
    if (pool != 0)
        jw_store_relaxed(&klass->pool, pool);
    if (pool != 0 || has_stale)
        unlink_replaced(klass, jw_load_relaxed(&klass->pool));
    if (klass->left == 0 || !is_nobody_inside(klass))
        return 0;
    tell_left(watch, record);
    return 1;
}

uint32_t ids_turn(const struct ids_watch *watch)
{
    const uint32_t end = jw_load_relaxed(&ids_classes.unused);
    uint32_t told = 0;

    for (uint32_t record = 1; record < end; record++) {
        struct ids_class *klass = ids_pool_at(&ids_classes, record);
        /* order IDS_CLASS: acquires the record of a class that was prepared. */
        const uint32_t state = jw_load_acquire(&klass->state);

        if (state == IDS_CLASS_LIVE)
            told += look_at(watch, record);
        else if (state == IDS_CLASS_DROPPED && is_nobody_inside(klass))
            give_class(watch, record);
    }
    return told;
}

void ids_stats(struct ids_stats *out)
{
    *out = (struct ids_stats){
        .class_count = jw_load_relaxed(&ids_classes.in_use),
        .class_capacity = ids_classes.limit,
        .method_count = jw_load_relaxed(&ids_methods.in_use),
        .method_capacity = ids_methods.limit,
        .block_count = jw_load_relaxed(&ids_blocks.in_use),
        .block_capacity = ids_blocks.limit,
    };
}
