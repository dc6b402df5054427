/* Waits for Java locks as events of a chunk; dump. */
#include "base/clock.h"
#include "base/park_time.h"
#include "recording/recording_internal.h"

static bool is_park(const struct event_record *record)
{
    return (record->flags & EVENT_LOCK_KIND) == EVENT_LOCK_PARK;
}

/* A park is for an object that is known by its hash: above that stands how long it lasts at most. */
static uint64_t address_of(const struct event_record *record)
{
    return is_park(record) ? (uint32_t)record->value : record->value;
}

static struct jw_park_time time_of(const struct event_record *record)
{
    return jw_park_time(is_park(record) ? (uint32_t)(record->value >> 32) : 0,
                        (int64_t)(jw_wall_ns() / JW_NS_PER_MS));
}

/* As it was when the wait began; 0: not known. */
static uint64_t owner_key(struct recording *recording, const struct event_record *record)
{
    const bool has_owner = (record->flags & EVENT_LOCK_KIND) != EVENT_LOCK_WAIT;

    if (record->flags & EVENT_LOCK_VIRTUAL) {
        const uint64_t number = (uint64_t)record->state << 32 | record->name;

        return recording_virtual_thread_key(
            &recording->names, number,
            recording_virtual_name(recording, number, (struct recording_text){NULL, 0}));
    }
    return has_owner && record->state != 0
               ? recording_thread_key(&recording->names, record->state - 1u, record->name)
               : 0;
}

/* Who had it when the wait began, else who was found to have it later; and how long it is known to have been his from the begin on. */
static uint64_t find_owner(struct recording *recording, const struct event_record *record,
                           const struct recording_wait *wait, int64_t *held_ns)
{
    const int64_t seen_ns =
        (int64_t)((double)record->weight_ns * record->share / EVENT_LOCK_SHARES);
    struct recording_proof proof;

    recording_wait_owner(recording, wait, &proof);
    *held_ns = INT64_MIN;
    if (wait->owner == 0)
        return proof.who.thread;
    const bool is_it = proof.who.thread == wait->owner || proof.who.carrier == wait->owner;
    *held_ns = is_it && (int64_t)proof.last_ns > seen_ns ? (int64_t)proof.last_ns : seen_ns;
    return is_it ? proof.who.thread : wait->owner;
}

static void put_head(struct recording *recording, const struct recording_foreign *told)
{
    struct jfr_buffer *out = &recording->events;

    recording_put_length(recording, told->start_ns, told->duration_ns);
    jfr_put_varint(out, told->thread);
    jfr_put_varint(out, told->stack);
    jfr_put_varint(out, told->lock.class_key);
}

void recording_put_wait(struct recording *recording, enum jfr_type type,
                        const struct recording_foreign *told)
{
    struct jfr_buffer *out = &recording->events;

    put_head(recording, told);
    if (type == JFR_TYPE_THREAD_PARK || type == JFR_TYPE_PLAIN_THREAD_PARK) {
        jfr_put_long(out, told->lock.timeout);
        jfr_put_long(out, told->lock.until);
    } else if (type == JFR_TYPE_JAVA_MONITOR_WAIT) {
        jfr_put_varint(out, 0); /* notifier */
        jfr_put_long(out, told->lock.timeout);
        jfr_put_u8(out, told->lock.is_expired);
    } else {
        jfr_put_varint(out, told->lock.owner);
    }
    jfr_put_varint(out, told->lock.address);
}

static void put_lock(struct recording *recording, const struct recording_foreign *told,
                     uint64_t carrier)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = jfr_event_begin(out, told->type);

    recording_put_time(recording, told->start_ns);
    recording_put_wait(recording, told->type, told);
    recording_put_carrier(recording, carrier);
    if (told->type == JFR_TYPE_THREAD_PARK)
        jfr_put_varint(out, told->lock.owner);
    if (told->type != JFR_TYPE_JAVA_MONITOR_WAIT)
        recording_put_ticks(recording, told->lock.held_ns);
    if (told->type == JFR_TYPE_THREAD_PARK)
        jfr_put_u8(out, told->lock.is_free);
    jfr_put_varint(out, told->lock.object);
    recording_put_context(recording, &told->context);
    jfr_event_end(out, begin);
}

static enum jfr_type type_of(const struct event_record *record)
{
    switch ((enum event_lock)(record->flags & EVENT_LOCK_KIND)) {
    case EVENT_LOCK_ENTER:
        break;
    case EVENT_LOCK_WAIT:
        return JFR_TYPE_JAVA_MONITOR_WAIT;
    case EVENT_LOCK_PARK:
        return JFR_TYPE_THREAD_PARK;
    }
    return JFR_TYPE_JAVA_MONITOR_ENTER;
}

void recording_put_lock(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    const bool is_wait = (record->flags & EVENT_LOCK_KIND) == EVENT_LOCK_WAIT;
    const struct jw_park_time park = time_of(record);
    struct recording_wait wait = {.address = address_of(record),
                                  .begin_ns = record->time_ns,
                                  .end_ns = end_ns,
                                  .owner = is_wait ? 0 : owner_key(recording, record),
                                  .object = record->object};
    int64_t held_ns = INT64_MIN;
    const uint64_t owner = is_wait ? 0 : find_owner(recording, record, &wait, &held_ns);
    struct recording_taken taken;

    if (!recording_taken_of(take, record, &taken))
        return;
    wait.thread = taken.who.thread;
    wait.class_key = recording_class(&recording->names, take->generation, record->class_name);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const struct recording_foreign told = {
        .type = type_of(record),
        .start_ns = record->time_ns + moved_ns,
        .duration_ns = record->weight_ns,
        .thread = taken.who.thread,
        .stack = taken.stack,
        .context = taken.context,
        .lock = {.class_key = wait.class_key,
                 .owner = owner,
                 .address = wait.address,
                 .timeout = is_wait ? record->name : park.timeout_ns,
                 .until = park.until_ms,
                 .held_ns = held_ns,
                 .object = wait.object,
                 .is_free = (record->flags & EVENT_LOCK_FREE) != 0,
                 .is_expired = (record->flags & EVENT_LOCK_EXPIRED) != 0},
    };
    if (!recording_put_foreign(recording, &told))
        put_lock(recording, &told, taken.who.carrier);
    recording->hook_samples++;
    if (!is_wait)
        recording_put_owners(recording, &wait);
}

/* Told when all samples of owners are there. */
void recording_take_lock(struct recording_take *take, const struct event_record *record)
{
    if (!recording_keep_wait(take->recording, record))
        recording_put_lock(take, record);
}
