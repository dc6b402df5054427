/* Safepoints that were long waited for, with the thread that was last and its stack while it was; dump. */
#include <stdio.h>
#include <string.h>

#include "generation/generation.h"
#include "recording/recording_internal.h"
#include "vm/vm_thread.h"

#define PENDING_MAX 128u

/*
 * Its stack is in the generation that is taken behind the delay, or in the next one; if not there, it is nowhere. With each, late
 * records of the one before may be taken, which is a take, too.
 */
#define TAKES_MAX 4u

#define EARLY_MAX 4u

#define SAFEPOINT_OF(record) ((record) >> 16)

struct pending {
    struct recording_delay told;
    char operation[RECORDING_OPERATION_BYTES];
    char running[RECORDING_RUNNING_BYTES];
    uint32_t takes;
};

struct who {
    uint64_t thread, stack;
    const char *state;
    int bci; /* of the topmost Java frame */
};

/* The last record of a safepoint that was still waited for when it was taken; its keys mean something in that chunk. */
struct early {
    uint64_t record;
    uint64_t chunk;
    struct who who;
};

struct recording_delays {
    struct early early[EARLY_MAX];
    uint32_t early_next;
    struct pending pending[PENDING_MAX];
    uint32_t count;
};

static void put_facts(struct jfr_buffer *out, const struct recording_delay *told)
{
    jfr_put_long(out, told->is_used_known ? (int64_t)told->cpu_ns : INT64_MIN);
    jfr_put_long(out, told->is_used_known ? (int64_t)told->waited_ns : INT64_MIN);
    jfr_put_long(out, told->is_used_known ? (int64_t)told->minor_faults : -1);
    jfr_put_long(out, told->is_used_known ? (int64_t)told->major_faults : -1);
}

static void put(struct recording *recording, const struct pending *pending, const struct who *who)
{
    const struct recording_delay *told = &pending->told;
    const uint64_t end_ns = told->begin_ns + told->reach_ns + told->inside_ns;
    const uint64_t begin_ns = recording_span(recording, told->begin_ns, end_ns);
    struct jfr_buffer *out = &recording->events;
    const size_t begin = recording_event(recording, JFR_TYPE_SAFEPOINT_DELAY, begin_ns);

    recording_put_length(recording, begin_ns, end_ns > begin_ns ? end_ns - begin_ns : 0);
    jfr_put_varint(out, who->thread);
    jfr_put_varint(out, who->stack);
    jfr_put_int(out, who->bci);
    jfr_put_varint(out, told->number);
    jfr_put_varint(out, told->reach_ns);
    jfr_put_varint(out, told->inside_ns);
    jfr_put_string(out, pending->operation);
    jfr_put_string(out, who->state);
    jfr_put_string(out, pending->running);
    put_facts(out, told);
    jfr_event_end(out, begin);
}

static void put_nobody(struct recording *recording, const struct pending *pending)
{
    const struct who nobody = {.state = pending->told.nobody, .bci = JW_BCI_UNKNOWN};

    jw_count(JW_COUNT_SAFEPOINTS_NOBODY);
    put(recording, pending, &nobody);
}

static void keep(struct recording_delays *delays, const struct recording_delay *told)
{
    struct pending *made = &delays->pending[delays->count++];

    *made = (struct pending){.told = *told};
    snprintf(made->operation, sizeof made->operation, "%s", told->operation);
    snprintf(made->running, sizeof made->running, "%s", told->running);
}

static bool needs_delays(struct recording *recording)
{
    if (recording->delays == NULL)
        recording->delays = jw_alloc(sizeof *recording->delays);
    return recording->delays != NULL;
}

static const struct who *find_early(const struct recording *recording, uint64_t record)
{
    for (uint32_t i = 0; i < EARLY_MAX; i++) {
        const struct early *early = &recording->delays->early[i];

        if (early->record == record && early->chunk == recording->chunks)
            return &early->who;
    }
    return NULL;
}

/* Of each safepoint the last one. */
static void keep_early(struct recording *recording, uint64_t record, const struct who *who)
{
    struct recording_delays *delays = recording->delays;
    uint32_t place = delays->early_next % EARLY_MAX;

    for (uint32_t i = 0; i < EARLY_MAX; i++)
        if (SAFEPOINT_OF(delays->early[i].record) == SAFEPOINT_OF(record))
            place = i;
    if (SAFEPOINT_OF(delays->early[place].record) != SAFEPOINT_OF(record))
        delays->early_next++;
    else if (delays->early[place].record > record)
        return;
    delays->early[place] = (struct early){record, recording->chunks, *who};
}

void recording_delays_begin_take(struct recording *recording)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_delay told;

    while (sources->delay != NULL && sources->delay(sources->context, &told)) {
        if (told.begin_ns + told.reach_ns + told.inside_ns < recording->opened_ns)
            continue;
        if (!needs_delays(recording) || recording->delays->count == PENDING_MAX) {
            jw_count(JW_COUNT_SAFEPOINTS_UNTOLD);
            continue;
        }
        keep(recording->delays, &told);
        const struct who *who = find_early(recording, told.late_record);
        if (who != NULL)
            put(recording, &recording->delays->pending[--recording->delays->count], who);
    }
}

static void drop(struct recording_delays *delays, uint32_t place)
{
    delays->count--;
    memmove(&delays->pending[place], &delays->pending[place + 1],
            (delays->count - place) * sizeof delays->pending[0]);
}

/* A method marked native has none. */
static int bci_of(const struct recording_take *take, const struct event_record *record)
{
    struct store_trace trace;

    if (!store_get(take->generation->traces, record->trace, &trace))
        return JW_BCI_UNKNOWN;
    for (uint32_t i = 0; i < trace.frame_count; i++)
        if (jw_frame_kind_of(trace.frames[i]) <= JW_FRAME_INLINED)
            return recording_frame_of(take, trace.frames[i]).bci;
    return JW_BCI_UNKNOWN;
}

void recording_delays_take(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_taken taken;

    if (!needs_delays(recording) || !recording_taken_of(take, record, &taken))
        return;
    const struct who who = {
        .thread = taken.who.thread,
        .stack = taken.stack,
        .state = record->state == VM_THREAD_DELAYS_IN_JAVA ? "Java" : "JVM",
        .bci = bci_of(take, record),
    };
    struct recording_delays *delays = recording->delays;
    for (uint32_t i = 0; i < delays->count; i++) {
        if (delays->pending[i].told.late_record != record->value)
            continue;
        put(recording, &delays->pending[i], &who);
        drop(delays, i);
        return;
    }
    keep_early(recording, record->value, &who);
}

/* Those that nobody's stack was found for. */
void recording_delays_end_take(struct recording *recording, bool is_last)
{
    struct recording_delays *delays = recording->delays;

    for (uint32_t i = 0; delays != NULL && i < delays->count;) {
        struct pending *pending = &delays->pending[i];

        if (++pending->takes < TAKES_MAX && !is_last && (pending->told.late_record & UINT16_MAX)) {
            i++;
            continue;
        }
        put_nobody(recording, pending);
        drop(delays, i);
    }
}
