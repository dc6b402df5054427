/* Endpoints, spans, begins and ends of tasks, as records of the generation; any, hook. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "context/context_internal.h"
#include "thread/thread_tls.h"

/* At most so many bytes, cut at a character. */
static size_t cut(const struct context_text *text)
{
    size_t length_bytes = text->length_bytes;

    if (length_bytes <= CONTEXT_ENDPOINT_MAX_BYTES)
        return length_bytes;
    length_bytes = CONTEXT_ENDPOINT_MAX_BYTES;
    for (int i = 0; i < 3 && ((unsigned char)text->bytes[length_bytes] & 0xc0) == 0x80; i++)
        length_bytes--;
    return length_bytes;
}

/* A record of this kind and name, with who tells it; NULL: no room. */
static struct event_record *reserve(struct generation *generation, enum event_kind kind,
                                    const struct context_text *name)
{
    const dict_id id = dict_intern(generation->endpoints, name->bytes, cut(name));
    struct event_record *record = id == DICT_NONE ? NULL : event_try_reserve(generation->events);

    if (record == NULL)
        return NULL;
    const thread_index thread = thread_find(thread_own_tid());
    record->kind = (uint16_t)kind;
    record->name = id;
    record->thread_index = thread;
    record->thread_serial = thread == THREAD_NONE ? 0 : (uint32_t)thread_serial(thread);
    return record;
}

static bool refuse(enum jw_counter_id why)
{
    jw_count(why);
    return false;
}

bool context_endpoint(struct generations *generations, uint64_t root_span_id,
                      struct context_text name, struct context_text operation, context_slot slot)
{
    const struct context_place *place = context_place_of(slot);
    struct epoch_ticket ticket;

    context_tell_endpoint(root_span_id, &name);
    if (generations == NULL)
        return refuse(JW_COUNT_CONTEXT_IDLE);
    if (name.length_bytes == 0)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);

    /* From here to generation_leave: no block, no Java, no call into the JVM. */
    struct generation *generation = generation_try_enter(generations, thread_own_tid(), &ticket);
    if (generation == NULL)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);
    const uint64_t time_ns = jw_now_ns();
    struct event_record *record = reserve(generation, EVENT_ENDPOINT, &name);
    if (record != NULL) {
        record->time_ns = time_ns;
        record->value = root_span_id;
        record->operation =
            operation.length_bytes == 0
                ? DICT_NONE
                : dict_intern(generation->endpoints, operation.bytes, cut(&operation));
        /* Whoever tells it may work for another request by now; then the trace is not known. */
        record->context = place == NULL || place->root_span_id != root_span_id
                              ? DICT_NONE
                              : context_intern(generation, place);
        event_commit(record);
    }
    generation_leave(generations, &ticket);
    if (record == NULL)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);
    jw_count(JW_COUNT_ENDPOINTS);
    return true;
}

bool context_span(struct generations *generations, struct context_text name, uint64_t begin_ns,
                  uint64_t end_ns, context_slot slot)
{
    const struct context_place *place = context_place_of(slot);
    struct epoch_ticket ticket;

    if (generations == NULL)
        return refuse(JW_COUNT_CONTEXT_IDLE);
    if (name.length_bytes == 0 || end_ns < begin_ns)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);

    /* From here to generation_leave: no block, no Java, no call into the JVM. */
    struct generation *generation = generation_try_enter(generations, thread_own_tid(), &ticket);
    if (generation == NULL)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);
    struct event_record *record = reserve(generation, EVENT_SPAN, &name);
    if (record != NULL) {
        record->time_ns = begin_ns;
        record->weight_ns = end_ns - begin_ns;
        record->context = place == NULL ? DICT_NONE : context_intern(generation, place);
        event_commit(record);
    }
    generation_leave(generations, &ticket);
    if (record == NULL)
        return refuse(JW_COUNT_CONTEXT_EVENTS_REFUSED);
    jw_count(JW_COUNT_SPANS);
    return true;
}

bool context_task(struct generations *generations, enum event_task what, uint64_t number)
{
    const thread_index thread = thread_find(thread_own_tid());
    struct epoch_ticket ticket;

    if (generations == NULL || thread == THREAD_NONE)
        return true;

    /* From here to generation_leave: no block, no Java, no call into the JVM. */
    struct generation *generation = generation_try_enter(generations, thread_own_tid(), &ticket);
    if (generation == NULL)
        return false;
    struct event_record *record = event_spare_reserve(generation->events);
    if (record != NULL) {
        record->kind = EVENT_TASK;
        record->flags = (uint16_t)what;
        record->thread_index = thread;
        record->thread_serial = (uint32_t)thread_serial(thread);
        record->time_ns = jw_now_ns();
        record->value = number;
        event_commit(record);
    }
    generation_leave(generations, &ticket);
    return record != NULL;
}
