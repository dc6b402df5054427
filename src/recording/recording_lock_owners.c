/*
 * What owners of locks did while others waited: from their sample on until the wait is over, and deadlocks; dump.
 *
 * A sample of an owner and a wait belong together where they are of one lock, and the sample's time lies in the wait: then the
 * wait was for that owner, who proved on his own thread that he had the lock. The time of the wait is shared out: each sample
 * stands for the time until the next one, and the first for that before it, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

#define OWNERS_MAX  ((size_t)4096)
#define FIRST_WAITS ((size_t)256)

/* A thread is asked once in this time at most: a sample of the owner from just before a wait stands for it where there is none in it. */
#define NEAR_NS JW_NS_PER_MS

struct lock_owner {
    uint64_t address, time_ns;
    uint32_t thread, serial;
    uint64_t virtual_number; /* in their place: on no carrier; 0: not so */
    struct recording_kept *stack;
    struct recording_kept *context;    /* NULL: none */
    struct recording_kept *class_name; /* NULL: not known */
};

struct recording_locks {
    struct lock_owner owners[OWNERS_MAX];
    size_t owner_count;
    bool are_sorted;            /* by lock and time */
    struct event_record *waits; /* of the take under way */
    size_t wait_count, wait_capacity;
    struct recording_kept_table classes;
};

static struct recording_locks *locks_of(struct recording *recording)
{
    if (recording->locks == NULL)
        recording->locks = jw_alloc(sizeof *recording->locks);
    return recording->locks;
}

static void drop(struct recording *recording, const struct lock_owner *owner)
{
    struct recording_idle *idle = &recording->wall.idle;

    recording_idle_let_go(idle, owner->stack);
    if (owner->context != NULL)
        (void)recording_let_go(&idle->contexts, owner->context);
    if (owner->class_name != NULL)
        (void)recording_let_go(&recording->locks->classes, owner->class_name);
}

static int by_time(const void *left, const void *right)
{
    const struct lock_owner *a = left, *b = right;

    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The older half. */
static void make_room(struct recording *recording)
{
    struct recording_locks *locks = recording->locks;
    const size_t half = OWNERS_MAX / 2;

    qsort(locks->owners, locks->owner_count, sizeof *locks->owners, by_time);
    for (size_t i = 0; i < half; i++)
        drop(recording, &locks->owners[i]);
    jw_count_add(JW_COUNT_LOCK_OWNERS_DROPPED, half);
    memmove(locks->owners, locks->owners + half, half * sizeof *locks->owners);
    locks->owner_count = half;
    locks->are_sorted = false;
}

static struct recording_kept *keep_class(struct recording *recording, struct recording_text name)
{
    const size_t limit = recording->wall.idle.limit_bytes;

    return name.bytes == NULL
               ? NULL
               : recording_keep(&recording->locks->classes, name.bytes, name.length_bytes,
                                limit == 0 ? RECORDING_IDLE_MAX_BYTES : limit);
}

static struct recording_text class_of(const struct generation *generation, uint32_t name)
{
    struct recording_text text = {NULL, 0};

    if (name != DICT_NONE)
        text.bytes = dict_text(generation->classes, name, &text.length_bytes);
    return text;
}

/* It has a stack. */
static void keep(struct recording *recording, const struct lock_owner *made)
{
    struct recording_locks *locks = recording->locks;

    made->stack->holder_count++;
    if (made->context != NULL)
        made->context->holder_count++;
    if (locks->owner_count == OWNERS_MAX)
        make_room(recording);
    locks->owners[locks->owner_count++] = *made;
    locks->are_sorted = false;
}

void recording_take_lock_owner(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_locks *locks = locks_of(recording);
    struct lock_owner made = {
        .address = record->value,
        .time_ns = record->time_ns,
        .thread = record->thread_index,
        .serial = (uint32_t)record->thread_serial,
    };

    recording_time(recording, record->time_ns);
    if (locks == NULL || (made.stack = recording_kept_stack(take, record->trace)) == NULL) {
        jw_count(JW_COUNT_LOCK_OWNERS_DROPPED);
        return;
    }
    made.context = recording_kept_context(take, record->context);
    made.class_name = keep_class(recording, class_of(take->generation, record->class_name));
    keep(recording, &made);
}

void recording_lock_owner(struct recording *recording, const struct recording_told_owner *told)
{
    const bool is_file = recording->config.format == RECORDING_JFR;
    struct lock_owner made = {
        .address = told->address,
        .time_ns = told->time_ns,
        .thread = UINT32_MAX, /* no index */
        .virtual_number = told->virtual_number,
    };

    recording_time(recording, told->time_ns);
    if (is_file && locks_of(recording) != NULL)
        made.stack = recording_kept_told_stack(recording, told);
    if (made.stack == NULL) {
        jw_count(JW_COUNT_LOCK_OWNERS_DROPPED);
        return;
    }
    (void)recording_virtual_name(recording, told->virtual_number, told->virtual_name);
    made.class_name = keep_class(recording, told->class_name);
    keep(recording, &made);
}

void recording_lock_owners(const struct recording *recording, uint64_t since_ns,
                           void (*visit)(uint32_t thread, uint32_t serial, void *argument),
                           void *argument)
{
    const struct recording_locks *locks = recording->locks;

    for (size_t i = 0; locks != NULL && i < locks->owner_count; i++)
        if (locks->owners[i].time_ns >= since_ns && locks->owners[i].virtual_number == 0)
            visit(locks->owners[i].thread, locks->owners[i].serial, argument);
}

bool recording_keep_wait(struct recording *recording, const struct event_record *record)
{
    struct recording_locks *locks = locks_of(recording);

    if (locks == NULL)
        return false;
    if (locks->wait_count == locks->wait_capacity) {
        const size_t capacity = locks->wait_capacity == 0 ? FIRST_WAITS : 2 * locks->wait_capacity;
        void *waits = jw_realloc(locks->waits, jw_mul_bytes(capacity, sizeof *locks->waits));

        if (waits == NULL)
            return false;
        locks->waits = waits;
        locks->wait_capacity = capacity;
    }
    memcpy(&locks->waits[locks->wait_count++], record, sizeof *record);
    return true;
}

/* ---- as events ---- */

static uint64_t class_key(struct recording *recording, struct recording_kept *kept)
{
    struct recording_names *names = &recording->names;

    if (kept == NULL)
        return 0;
    if (kept->chunk != names->chunk) {
        kept->key = recording_class_of_text(
            names, (struct recording_text){recording_kept_bytes(kept), kept->length_bytes});
        kept->chunk = names->chunk;
    }
    return kept->key;
}

static uint64_t virtual_key(struct recording *recording, uint64_t number,
                            struct recording_text name)
{
    return recording_virtual_thread_key(&recording->names, number,
                                        recording_virtual_name(recording, number, name));
}

/* Whose it was. */
static struct recording_who who_of(struct recording *recording, const struct lock_owner *owner,
                                   const struct recording_fields *context)
{
    const struct recording_text none = {NULL, 0};

    return owner->virtual_number != 0
               ? (struct recording_who){virtual_key(recording, owner->virtual_number, none), 0}
               : recording_who_of(recording, owner->thread, owner->serial, context);
}

static struct recording_who owner_of(struct recording *recording, const struct lock_owner *owner)
{
    const struct recording_fields context =
        recording_kept_context_fields(recording, owner->context);

    return who_of(recording, owner, &context);
}

static void put_piece(struct recording *recording, const struct recording_wait *wait,
                      const struct lock_owner *owner, uint64_t begin_ns, uint64_t end_ns)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t stack = recording_kept_stack_key(recording, owner->stack);
    const struct recording_fields context =
        recording_kept_context_fields(recording, owner->context);
    const struct recording_who who = who_of(recording, owner, &context);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const size_t begin = jfr_event_begin(out, JFR_TYPE_LOCK_OWNER);

    recording_put_time(recording, begin_ns + moved_ns);
    recording_put_length(recording, begin_ns + moved_ns, end_ns - begin_ns);
    jfr_put_varint(out, who.thread);
    jfr_put_varint(out, stack);
    jfr_put_varint(out, wait->class_key);
    jfr_put_varint(out, wait->address);
    jfr_put_varint(out, wait->thread);
    recording_put_carrier(recording, who.carrier);
    jfr_put_varint(out, wait->object);
    recording_put_context(recording, &context);
    jfr_event_end(out, begin);
}

static int by_address_and_time(const void *left, const void *right)
{
    const struct lock_owner *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return by_time(left, right);
}

static void sort(struct recording_locks *locks)
{
    if (locks->owner_count > 0 && !locks->are_sorted)
        qsort(locks->owners, locks->owner_count, sizeof *locks->owners, by_address_and_time);
    locks->are_sorted = true;
}

/* The first of this lock that is not older. */
static size_t first_of(struct recording_locks *locks, uint64_t address, uint64_t time_ns)
{
    const struct lock_owner wanted = {.address = address, .time_ns = time_ns};
    size_t low = 0, high = locks->owner_count;

    sort(locks);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (by_address_and_time(&locks->owners[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of_wait(const struct recording_locks *locks, size_t at,
                       const struct recording_wait *wait)
{
    return at < locks->owner_count && locks->owners[at].address == wait->address &&
           locks->owners[at].time_ns <= wait->end_ns;
}

static bool is_who(const struct recording_who *who, uint64_t key)
{
    return key != 0 && (who->thread == key || who->carrier == key);
}

/* The one just before the wait, of the thread that had the lock when it began. */
static bool is_near(struct recording *recording, size_t at, const struct recording_wait *wait)
{
    const struct lock_owner *owner = &recording->locks->owners[at];

    if (owner->address != wait->address || owner->time_ns + NEAR_NS < wait->begin_ns)
        return false;
    const struct recording_who who = owner_of(recording, owner);
    return is_who(&who, wait->owner);
}

/* The first that is of the wait; the number of all: none. */
static size_t first_of_wait(struct recording *recording, const struct recording_wait *wait)
{
    struct recording_locks *locks = recording->locks;
    const size_t at = first_of(locks, wait->address, wait->begin_ns);

    if (is_of_wait(locks, at, wait))
        return at;
    return at > 0 && is_near(recording, at - 1, wait) ? at - 1 : locks->owner_count;
}

void recording_wait_owner(struct recording *recording, const struct recording_wait *wait,
                          struct recording_proof *out)
{
    const struct recording_locks *locks = recording->locks;

    *out = (struct recording_proof){.last_ns = 0};
    if (locks == NULL)
        return;
    for (size_t at = first_of_wait(recording, wait); is_of_wait(locks, at, wait); at++) {
        const struct recording_who who = owner_of(recording, &locks->owners[at]);

        if (out->who.thread == 0)
            out->who = who;
        else if (who.thread != out->who.thread)
            return;
        if (locks->owners[at].time_ns > wait->begin_ns)
            out->last_ns = locks->owners[at].time_ns - wait->begin_ns;
    }
}

void recording_put_owners(struct recording *recording, const struct recording_wait *wait)
{
    struct recording_locks *locks = recording->locks;
    uint64_t begin_ns = wait->begin_ns;

    if (locks == NULL || !jfr_type_is_declared(recording_dialect(recording), JFR_TYPE_LOCK_OWNER))
        return;
    for (size_t at = first_of_wait(recording, wait); is_of_wait(locks, at, wait); at++) {
        const bool is_last = !is_of_wait(locks, at + 1, wait);
        const uint64_t end_ns = is_last ? wait->end_ns : locks->owners[at + 1].time_ns;

        put_piece(recording, wait, &locks->owners[at], begin_ns, end_ns);
        begin_ns = end_ns;
    }
}

/* ---- deadlocks ---- */

/* The newest sample of the lock's owner, or of what the thread did, whatever it had. */
static const struct lock_owner *newest(const struct recording_locks *locks, uint64_t address,
                                       uint32_t thread, bool is_by_thread)
{
    const struct lock_owner *found = NULL;

    for (size_t i = 0; locks != NULL && i < locks->owner_count; i++) {
        const struct lock_owner *owner = &locks->owners[i];
        const bool is_it = is_by_thread ? owner->thread == thread : owner->address == address;

        if (is_it && (found == NULL || owner->time_ns > found->time_ns))
            found = owner;
    }
    return found;
}

/* 0: there is none. */
static uint64_t stack_key(struct recording *recording, const struct recording_deadlocked *told)
{
    if (told->frames != NULL)
        return recording_told_stack_key(recording, told->frames, told->frame_count,
                                        told->is_truncated);

    const struct lock_owner *of_thread =
        told->virtual_number != 0 ? NULL : newest(recording->locks, 0, told->thread, true);
    return of_thread == NULL ? 0 : recording_kept_stack_key(recording, of_thread->stack);
}

static uint64_t lock_class_key(struct recording *recording, const struct recording_deadlocked *told)
{
    if (told->class_name.bytes != NULL)
        return recording_class_of_text(&recording->names, told->class_name);

    const struct lock_owner *of_lock = newest(recording->locks, told->address, 0, false);
    return of_lock == NULL ? 0 : class_key(recording, of_lock->class_name);
}

static void put_deadlocked(struct recording *recording, const struct recording_deadlocked *told)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t thread =
        told->virtual_number != 0
            ? virtual_key(recording, told->virtual_number, told->virtual_name)
            : recording_thread_key(&recording->names, told->thread, told->serial);
    const uint64_t owner =
        told->owner_virtual_number != 0
            ? virtual_key(recording, told->owner_virtual_number, told->owner_virtual_name)
            : recording_thread_key(&recording->names, told->owner, told->owner_serial);
    const uint64_t stack = stack_key(recording, told);
    const uint64_t class_name = lock_class_key(recording, told);
    const uint64_t moved_ns = recording_time(recording, told->found_ns) - told->found_ns;
    const size_t begin = jfr_event_begin(out, JFR_TYPE_DEADLOCK);

    recording_put_time(recording, told->begin_ns + moved_ns);
    recording_put_length(recording, told->begin_ns + moved_ns, told->found_ns - told->begin_ns);
    jfr_put_varint(out, thread);
    jfr_put_varint(out, stack);
    jfr_put_varint(out, told->number);
    jfr_put_varint(out, class_name);
    jfr_put_varint(out, told->address);
    jfr_put_varint(out, owner);
    jfr_event_end(out, begin);
}

static void put_site(struct recording *recording, const struct recording_lock_site *site)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin =
        recording_event(recording, JFR_TYPE_LOCK_SITE, recording_time(recording, site->time_ns));

    jfr_put_string(out, site->class_name);
    jfr_put_string(out, site->method);
    jfr_put_varint(out, site->line);
    jfr_put_string(out, site->kind);
    jfr_put_u8(out, site->is_platform);
    jfr_put_u8(out, !site->is_refused);
    jfr_put_varint(out, site->acquisitions);
    jfr_put_varint(out, site->threads);
    jfr_put_string(out, site->thread);
    jfr_put_varint(out, site->holds);
    jfr_put_varint(out, site->weight);
    jfr_put_varint(out, site->hold_ns);
    jfr_put_varint(out, site->hold_most_ns);
    jfr_put_varint(out, site->hold_error_ns);
    jfr_put_string(out, site->hold_histogram == NULL ? "" : site->hold_histogram);
    jfr_event_end(out, begin);
}

static void put_caller(struct recording *recording, const struct recording_lock_site *site,
                       const struct recording_lock_caller *caller)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin =
        recording_event(recording, JFR_TYPE_LOCK_CALLER, recording_time(recording, site->time_ns));

    jfr_put_string(out, site->class_name);
    jfr_put_string(out, site->method);
    jfr_put_varint(out, site->line);
    jfr_put_string(out, site->kind);
    jfr_put_string(out, caller->class_name);
    jfr_put_string(out, caller->method);
    jfr_put_varint(out, caller->samples);
    jfr_put_varint(out, caller->acquisitions);
    jfr_put_varint(out, caller->error);
    jfr_event_end(out, begin);
}

/* Behind the event of their place. */
static void put_callers(struct recording *recording, const struct recording_lock_site *site)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_lock_caller caller;

    while (!recording->has_failed && sources->lock_caller != NULL &&
           sources->lock_caller(sources->context, &caller)) {
        recording_relieve(recording);
        put_caller(recording, site, &caller);
    }
}

static void put_place(struct recording *recording, const struct recording_lock_site *site)
{
    struct jfr_buffer *out = &recording->events;

    jfr_put_string(out, site->class_name);
    jfr_put_string(out, site->method);
    jfr_put_varint(out, site->line);
    jfr_put_string(out, site->kind);
}

static void put_object_sums(struct recording *recording, const struct recording_lock_site *site,
                            const struct recording_lock_objects *objects)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin =
        recording_event(recording, JFR_TYPE_LOCK_OBJECTS, recording_time(recording, site->time_ns));

    put_place(recording, site);
    jfr_put_varint(out, objects->objects);
    jfr_put_varint(out, objects->acquisitions);
    jfr_put_varint(out, objects->alone);
    jfr_put_varint(out, objects->four_fifths);
    jfr_put_varint(out, objects->other_objects);
    jfr_put_varint(out, objects->other_acquisitions);
    jfr_put_varint(out, objects->other_several);
    jfr_put_u8(out, objects->takes_bias);
    jfr_event_end(out, begin);
}

static void put_object(struct recording *recording, const struct recording_lock_site *site,
                       const struct recording_lock_object *object)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin =
        recording_event(recording, JFR_TYPE_LOCK_OBJECT, recording_time(recording, site->time_ns));

    put_place(recording, site);
    jfr_put_varint(out, object->hash);
    jfr_put_varint(out, object->acquisitions);
    jfr_put_varint(out, object->threads);
    jfr_event_end(out, begin);
}

/* Behind the event of their place, too. */
static void put_objects(struct recording *recording, const struct recording_lock_site *site)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_lock_objects objects;
    struct recording_lock_object object;

    if (recording->has_failed || sources->lock_objects == NULL ||
        !sources->lock_objects(sources->context, &objects))
        return;
    recording_relieve(recording);
    put_object_sums(recording, site, &objects);
    while (!recording->has_failed && sources->lock_object(sources->context, &object)) {
        recording_relieve(recording);
        put_object(recording, site, &object);
    }
}

static void put_sites(struct recording *recording)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_lock_site site;

    while (!recording->has_failed && sources->lock_site != NULL &&
           sources->lock_site(sources->context, &site)) {
        recording_relieve(recording);
        if (!jfr_type_is_declared(recording_dialect(recording), JFR_TYPE_LOCK_SITE))
            continue;
        put_site(recording, &site);
        put_callers(recording, &site);
        put_objects(recording, &site);
    }
}

void recording_locks_end_take(struct recording_take *take)
{
    struct recording *recording = take->recording;
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_locks *locks = recording->locks;
    struct recording_deadlocked told;

    for (size_t i = 0; locks != NULL && i < locks->wait_count && !recording->has_failed; i++) {
        recording_relieve(recording);
        recording_put_lock(take, &locks->waits[i]);
    }
    if (locks != NULL)
        locks->wait_count = 0;
    while (!recording->has_failed && sources->deadlocked != NULL &&
           sources->deadlocked(sources->context, &told))
        if (jfr_type_is_declared(recording_dialect(recording), JFR_TYPE_DEADLOCK))
            put_deadlocked(recording, &told);
    put_sites(recording);
}

void recording_locks_close(struct recording *recording)
{
    if (recording->locks == NULL)
        return;
    recording_kept_close(&recording->locks->classes);
    jw_free(recording->locks->waits);
    jw_free(recording->locks);
    recording->locks = NULL;
}
