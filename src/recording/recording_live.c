/*
 * Sampled objects that are still there: where they came from, from their sample on until they are gone; dump.
 *
 * Whether one is, the agent knows, by slot and number. Here is kept what the generation of its sample had: class, stack, thread and
 * context, as bytes that outlive it, each content once.
 */
#include <string.h>

#include "generation/generation.h"
#include "recording/recording_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

#define FIRST_OBJECTS ((size_t)256)
#define NO_TEXT       UINT32_MAX

struct live_object {
    uint32_t slot, number;
    uint64_t time_ns;
    uint64_t weight_bytes; /* what its sample stands for */
    uint64_t size_bytes;
    struct recording_kept *class_name; /* NULL: not known */
    struct recording_kept *stack;
    struct recording_kept *thread;  /* NULL: not known */
    struct recording_kept *context; /* NULL: none */
};

struct recording_live {
    struct live_object *objects;
    size_t count, capacity;
    struct recording_kept_table classes, threads;
};

struct thread_head {
    int64_t os_tid, java_id;
    uint32_t text_bytes[4]; /* as in struct recording_thread, in its order; the texts follow */
};

/* ---- what is kept ---- */

static struct recording_live *live_of(struct recording *recording)
{
    if (recording->live == NULL)
        recording->live = jw_alloc(sizeof *recording->live);
    return recording->live;
}

static size_t limit_bytes(const struct recording *recording)
{
    const size_t limit = recording->wall.idle.limit_bytes;

    return limit == 0 ? RECORDING_IDLE_MAX_BYTES : limit;
}

static struct recording_kept *keep_class(struct recording *recording,
                                         const struct generation *generation, dict_id name)
{
    size_t length_bytes = 0;
    const char *text =
        name == DICT_NONE ? NULL : dict_text(generation->classes, name, &length_bytes);

    return text == NULL ? NULL
                        : recording_keep(&recording->live->classes, text, length_bytes,
                                         limit_bytes(recording));
}

/* Threads end, and the number of their record is given to others: what they were called is kept with the object. */
static struct recording_kept *keep_thread(struct recording *recording,
                                          const struct event_record *record)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct jfr_buffer *out = &recording->wall.scratch;
    struct recording_thread told = {0};

    if (sources->thread == NULL || !sources->thread(sources->context, record->thread_index,
                                                    (uint32_t)record->thread_serial, &told))
        return NULL;

    const struct recording_text texts[] = {told.os_name, told.java_name, told.group,
                                           told.parent_group};
    struct thread_head head = {.os_tid = told.os_tid, .java_id = told.java_id};
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        head.text_bytes[i] = texts[i].bytes == NULL ? NO_TEXT : (uint32_t)texts[i].length_bytes;
    jfr_buffer_clear(out);
    jfr_put_bytes(out, &head, sizeof head);
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        if (texts[i].bytes != NULL)
            jfr_put_bytes(out, texts[i].bytes, texts[i].length_bytes);
    return out->has_failed ? NULL
                           : recording_keep(&recording->live->threads, out->bytes, out->used_bytes,
                                            limit_bytes(recording));
}

static bool reserve(struct recording_live *live)
{
    const size_t capacity = live->capacity == 0 ? FIRST_OBJECTS : 2 * live->capacity;

    if (live->count < live->capacity)
        return true;

    struct live_object *objects =
        jw_realloc(live->objects, jw_mul_bytes(capacity, sizeof *objects));
    if (objects == NULL)
        return false;
    live->objects = objects;
    live->capacity = capacity;
    return true;
}

static bool is_there(const struct recording *recording, const struct live_object *object,
                     struct recording_live_state *state)
{
    const struct recording_sources *sources = &recording->config.sources;

    return sources->live != NULL &&
           sources->live(sources->context, object->slot, object->number, state);
}

void recording_live_take(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_live_state state;
    struct live_object made = {
        .slot = record->flags,
        .number = record->name,
        .time_ns = record->time_ns,
        .weight_bytes = record->weight_ns,
        .size_bytes = record->value,
    };

    if (record->name == 0 || !is_there(recording, &made, &state))
        return;
    struct recording_live *live = live_of(recording);
    if (live == NULL || !reserve(live)) {
        jw_count(JW_COUNT_LIVE_NOT_KEPT);
        return;
    }
    made.stack = recording_kept_stack(take, record->trace);
    if (made.stack == NULL) {
        jw_count(JW_COUNT_LIVE_NOT_KEPT);
        return;
    }
    made.stack->holder_count++;
    made.class_name = keep_class(recording, take->generation, record->class_name);
    made.thread = keep_thread(recording, record);
    made.context = recording_kept_context(take, record->context);
    if (made.context != NULL)
        made.context->holder_count++;
    live->objects[live->count++] = made;
}

static void drop(struct recording *recording, const struct live_object *object)
{
    struct recording_idle *idle = &recording->wall.idle;

    recording_idle_let_go(idle, object->stack);
    if (object->context != NULL)
        (void)recording_let_go(&idle->contexts, object->context);
    if (object->class_name != NULL)
        (void)recording_let_go(&recording->live->classes, object->class_name);
    if (object->thread != NULL)
        (void)recording_let_go(&recording->live->threads, object->thread);
}

void recording_live_end_take(struct recording *recording)
{
    struct recording_live *live = recording->live;
    struct recording_live_state state;
    size_t kept = 0;

    for (size_t i = 0; live != NULL && i < live->count; i++) {
        if (is_there(recording, &live->objects[i], &state))
            live->objects[kept++] = live->objects[i];
        else
            drop(recording, &live->objects[i]);
    }
    if (live != NULL)
        live->count = kept;
}

void recording_live_close(struct recording *recording)
{
    if (recording->live == NULL)
        return;
    recording_kept_close(&recording->live->classes);
    recording_kept_close(&recording->live->threads);
    jw_free(recording->live->objects);
    jw_free(recording->live);
    recording->live = NULL;
}

/* ---- as events ---- */

static uint64_t class_key(struct recording_names *names, struct recording_kept *kept)
{
    if (kept == NULL)
        return 0;
    if (kept->chunk != names->chunk) {
        const struct recording_text text = {recording_kept_bytes(kept), kept->length_bytes};

        kept->key = recording_class_of_text(names, text);
        kept->chunk = names->chunk;
    }
    return kept->key;
}

static uint64_t thread_key(struct recording_names *names, struct recording_kept *kept)
{
    if (kept == NULL)
        return 0;
    if (kept->chunk == names->chunk)
        return kept->key;

    const struct thread_head *head = recording_kept_bytes(kept);
    const char *at = (const char *)(head + 1);
    struct recording_text texts[JW_COUNT_OF(head->text_bytes)] = {{NULL, 0}};
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        if (head->text_bytes[i] == NO_TEXT)
            continue;
        texts[i] = (struct recording_text){at, head->text_bytes[i]};
        at += head->text_bytes[i];
    }
    const struct recording_thread told = {
        .os_tid = head->os_tid,
        .os_name = texts[0],
        .java_name = texts[1],
        .java_id = head->java_id,
        .group = texts[2],
        .parent_group = texts[3],
    };
    kept->key = recording_told_thread_key(names, &told);
    kept->chunk = names->chunk;
    return kept->key;
}

static void put_object(struct recording *recording, const struct recording_foreign *told,
                       uint64_t now_ns, uint64_t carrier)
{
    const struct recording_object *object = &told->object;
    struct jfr_buffer *out = &recording->events;
    const size_t begin = jfr_event_begin(out, told->type);

    recording_put_time(recording, told->start_ns);
    jfr_put_varint(out, told->thread);
    jfr_put_varint(out, told->stack);
    jfr_put_varint(out, object->class_key);
    jfr_put_varint(out, object->weight_bytes);
    jfr_put_varint(out, object->size_bytes);
    recording_put_time(recording, object->time_ns);
    recording_put_length(recording, object->time_ns,
                         now_ns > object->time_ns ? now_ns - object->time_ns : 0);
    jfr_put_varint(out, object->age);
    recording_put_carrier(recording, carrier);
    recording_put_context(recording, &told->context);
    jfr_event_end(out, begin);
}

static void put(struct recording *recording, const struct live_object *object,
                const struct recording_live_state *state, uint64_t now_ns)
{
    const uint64_t platform = thread_key(&recording->names, object->thread);
    const uint64_t stack = recording_kept_stack_key(recording, object->stack);
    const uint64_t class_name = class_key(&recording->names, object->class_name);
    const struct recording_fields context =
        recording_kept_context_fields(recording, object->context);
    const bool is_virtual = context.virtual_thread_key != 0;
    const struct recording_foreign told = {
        .type = JFR_TYPE_LIVE_OBJECT,
        .start_ns = recording_time(recording, now_ns),
        .thread = is_virtual ? context.virtual_thread_key : platform,
        .stack = stack,
        .context = context,
        .object = {.class_key = class_name,
                   .size_bytes = object->size_bytes,
                   .weight_bytes = object->weight_bytes << state->level,
                   .time_ns = object->time_ns,
                   .age = state->age},
    };

    if (!recording_put_foreign(recording, &told))
        put_object(recording, &told, now_ns, is_virtual ? platform : 0);
}

void recording_live_put(struct recording *recording, uint64_t now_ns)
{
    struct recording_live *live = recording->live;

    for (size_t i = 0; live != NULL && i < live->count && !recording->has_failed; i++) {
        struct recording_live_state state;

        recording_relieve(recording);
        if (is_there(recording, &live->objects[i], &state))
            put(recording, &live->objects[i], &state, now_ns);
    }
}
