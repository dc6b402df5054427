/* Chunks, times and flushes of a recording; dump (open: control). */
#include "recording/recording.h"

#include <string.h>

#include "base/clock.h"
#include "generation/generation.h"
#include "jfr/jfr_packed.h"
#include "os/os_output.h"
#include "recording/recording_internal.h"

#define DEFAULT_CHUNK_BYTES ((uint64_t)12 << 20)
#define MIN_CHUNK_BYTES     ((uint64_t)256 << 10)
#define MAX_CHUNK_BYTES     ((uint64_t)1536 << 20) /* with its reserve still below 2 GiB */
#define MAX_PACKED_CHUNK    (JFR_PACKED_MAX_CHUNK_BYTES / 2)
#define DEFAULT_CHUNK_NS    (3600 * JW_NS_PER_SECOND)
#define MIN_CHUNK_NS        JW_NS_PER_SECOND
#define PART_MAX_BYTES      ((size_t)1 << 20) /* that wait to be written, more or less */
#define DIAGNOSTICS_NS      JW_NS_PER_SECOND

void recording_fail(struct recording *recording, const struct jw_error *why)
{
    if (recording->has_failed)
        return;
    recording->has_failed = true;
    recording->failure = *why;
}

void recording_fail_memory(struct recording *recording)
{
    struct jw_error why = {{0}};

    if (recording->has_failed)
        return;
    jw_count(JW_COUNT_WRITE_FAILED);
    jw_error_set(&why,
                 "cannot go on with %s: out of memory; what was written before stays readable",
                 recording->config.path == NULL ? "the samples in memory" : recording->config.path);
    recording_fail(recording, &why);
}

/* Tells the first failure, once; true when there is nothing to tell. */
static bool tell(struct recording *recording, struct jw_error *err)
{
    if (!recording->has_failed || recording->is_told)
        return true;
    recording->is_told = true;
    jw_error_set(err, "%s", recording->failure.message);
    return false;
}

uint64_t recording_time(struct recording *recording, uint64_t time_ns)
{
    if (time_ns < recording->chunk_earliest_ns) {
        time_ns = recording->chunk_earliest_ns;
        jw_count(JW_COUNT_EVENT_TIME_CLAMPED);
    }
    if (time_ns < recording->chunk_start_ns)
        recording->chunk_start_ns = time_ns;
    if (time_ns > recording->last_event_ns)
        recording->last_event_ns = time_ns;
    return time_ns;
}

uint64_t recording_span(struct recording *recording, uint64_t begin_ns, uint64_t end_ns)
{
    const uint64_t told_end_ns = recording_time(recording, end_ns);

    if (begin_ns >= recording->chunk_start_ns)
        return begin_ns;
    if (told_end_ns == end_ns)
        jw_count(JW_COUNT_EVENT_TIME_CLAMPED);
    return recording->chunk_start_ns;
}

static uint64_t end_ns_at(const struct recording *recording, uint64_t now_ns)
{
    return now_ns > recording->last_event_ns ? now_ns : recording->last_event_ns;
}

uint64_t recording_duration_ns(const struct recording *recording, uint64_t now_ns)
{
    return end_ns_at(recording, now_ns) - recording->chunk_start_ns + 1;
}

size_t recording_event(struct recording *recording, enum jfr_type type, uint64_t time_ns)
{
    time_ns = recording_time(recording, time_ns);

    const size_t begin = jfr_event_begin(&recording->events, type);
    recording_put_time(recording, time_ns);
    return begin;
}

/* ---- texts of the configuration, copied ---- */

/* Appends a text to `at` when that is not NULL; counts it either way. */
static const char *copy_text(const char *text, char *at, size_t *used_bytes)
{
    if (text == NULL)
        return NULL;

    const size_t length_bytes = strlen(text) + 1;
    char *to = at == NULL ? NULL : at + *used_bytes;
    if (to != NULL)
        memcpy(to, text, length_bytes);
    *used_bytes += length_bytes;
    return to;
}

/* Texts one after another, up to an empty one. */
static const char *copy_list(const char *list, char *at, size_t *used_bytes)
{
    const char *end = list;

    if (list == NULL)
        return NULL;
    while (*end != '\0')
        end += strlen(end) + 1;

    char *to = at == NULL ? NULL : at + *used_bytes;
    if (to != NULL)
        memcpy(to, list, (size_t)(end - list) + 1);
    *used_bytes += (size_t)(end - list) + 1;
    return to;
}

/* Copies all texts of `from` into `to`, behind `at`; with NULLs it only counts their bytes. */
static size_t copy_texts(const struct recording_config *from, struct recording_config *to,
                         struct recording_setting *settings, char *at)
{
    size_t used_bytes = 0;

    to->path = copy_text(from->path, at, &used_bytes);
    to->title = copy_text(from->title, at, &used_bytes);
    to->counter = copy_text(from->counter, at, &used_bytes);
    to->look.view.includes = copy_list(from->look.view.includes, at, &used_bytes);
    to->look.view.excludes = copy_list(from->look.view.excludes, at, &used_bytes);
    to->part.from = copy_text(from->part.from, at, &used_bytes);
    to->part.to = copy_text(from->part.to, at, &used_bytes);
    to->part.state = copy_text(from->part.state, at, &used_bytes);
    to->part.threads = copy_list(from->part.threads, at, &used_bytes);
    to->jvm.name = copy_text(from->jvm.name, at, &used_bytes);
    to->jvm.version = copy_text(from->jvm.version, at, &used_bytes);
    to->jvm.arguments = copy_text(from->jvm.arguments, at, &used_bytes);
    to->jvm.flags = copy_text(from->jvm.flags, at, &used_bytes);
    to->jvm.java_arguments = copy_text(from->jvm.java_arguments, at, &used_bytes);
    for (size_t i = 0; i < from->setting_count; i++) {
        const struct recording_setting *setting = &from->settings[i];
        const struct recording_setting copy = {
            .event = copy_text(setting->event, at, &used_bytes),
            .name = copy_text(setting->name, at, &used_bytes),
            .value = copy_text(setting->value, at, &used_bytes),
        };

        if (settings != NULL)
            settings[i] = copy;
    }
    return used_bytes;
}

static bool copy_config(struct recording *recording, const struct recording_config *config)
{
    struct recording_config counted;
    const size_t texts_bytes = copy_texts(config, &counted, NULL, NULL);

    recording->config = *config;
    recording->texts = jw_alloc(texts_bytes);
    recording->settings =
        jw_alloc(jw_mul_bytes(config->setting_count, sizeof *recording->settings));
    if (recording->texts == NULL || recording->settings == NULL)
        return false;
    copy_texts(config, &recording->config, recording->settings, recording->texts);
    recording->config.settings = recording->settings;
    return true;
}

static uint64_t limited(uint64_t value, uint64_t fallback, uint64_t low, uint64_t high)
{
    if (value == 0)
        return fallback;
    return value < low ? low : value > high ? high : value;
}

/* ---- chunks ---- */

/* Puts what waits, with the constants it needs, into `part`; the chunk's times come with it. */
static bool make_part(struct recording *recording, uint64_t part_offset, uint64_t now_ns,
                      struct recording_file_part *part)
{
    struct jfr_buffer *events = &recording->events;
    const bool has_checkpoint = !jfr_pools_are_empty(&recording->names.pools);
    const uint64_t end_ns = end_ns_at(recording, now_ns);
    const uint64_t start_ticks = (uint64_t)recording_ticks_at(recording, recording->chunk_start_ns);
    size_t checkpoint_at = 0;

    if (has_checkpoint) {
        checkpoint_at = events->used_bytes;

        const uint64_t offset = part_offset + checkpoint_at;
        jfr_put_checkpoint(
            events, &recording->names.pools, (uint64_t)recording_ticks_at(recording, end_ns),
            recording->checkpoint_offset == 0 ? 0 : offset - recording->checkpoint_offset);
        recording->checkpoint_offset = offset;
    }
    if (events->has_failed || recording->stack.has_failed || recording->names.has_failed) {
        recording_fail_memory(recording);
        return false;
    }
    *part = (struct recording_file_part){
        .bytes = events->bytes,
        .length_bytes = events->used_bytes,
        .has_checkpoint = has_checkpoint,
        .checkpoint_at = checkpoint_at,
        /* Of the tick, not of the moment: so all chunks have one clock. */
        .start_wall_ns = recording->opened_wall_ns +
                         (recording->tick_zero_ns + (start_ticks << recording->tick_bits) -
                          recording->opened_ns),
        .start_ticks = start_ticks,
        .ticks_per_second = JFR_TICKS_PER_SECOND >> recording->tick_bits,
        .duration_ns = recording_duration_ns(recording, now_ns),
    };
    return true;
}

/* The first chunk begins with the recording, the next one now, strictly after the one before; its first
 * events go into `events`. */
static uint64_t begin_chunk(struct recording *recording)
{
    uint64_t now_ns = recording->chunks == 0 ? recording->opened_ns : jw_now_ns();

    const uint64_t next_ns = recording->chunk_start_ns + (UINT64_C(1) << recording->tick_bits);
    if (now_ns < next_ns)
        now_ns = next_ns;
    recording->chunk_earliest_ns = recording->chunks == 0 ? recording->opened_ns : next_ns;
    recording->chunk_begun_ns = recording->chunk_start_ns = recording->last_event_ns = now_ns;
    recording->checkpoint_offset = 0;
    recording->chunks++;
    jw_count(JW_COUNT_CHUNKS);
    recording_names_new_chunk(&recording->names);
    recording_ledger_new_chunk(recording);
    recording_law_new_chunk(recording);
    recording_context_new_chunk(recording);
    recording_declared_new_chunk(recording);
    if (recording->chunks == 1)
        recording_choose_ticks(recording);
    /* Constants that nearly every chunk needs: so each chunk has a checkpoint from the start. */
    recording_put_states(recording);
    recording_put_frame_types(&recording->names,
                              recording_dialect(recording) == JFR_DIALECT_ASYNC_PROFILER);
    if (recording->config.counter != NULL)
        recording->counter_key =
            recording_simple(&recording->names, JFR_TYPE_COUNTER_NAME, recording->config.counter);
    jfr_buffer_clear(&recording->events);
    const struct jfr_declaration declaration = {.dialect = recording_dialect(recording),
                                                .has_frames_in_line = recording->has_frames_in_line,
                                                .attributes = &recording->contexts.attributes,
                                                .left_out = recording->left_out,
                                                .clock = recording->tick_zero_ns,
                                                .declared = recording->declared};
    jfr_put_metadata(&recording->events, (uint64_t)recording_ticks_at(recording, now_ns),
                     &declaration);
    recording_put_facts(recording, now_ns);
    recording_host_new_chunk(recording, now_ns);
    return now_ns;
}

static bool open_file(struct recording *recording, struct jw_error *err)
{
    struct recording_file_part part;
    const uint64_t now_ns = begin_chunk(recording);

    recording_put_load(recording, now_ns);
    if (!make_part(recording, JFR_HEADER_BYTES, now_ns, &part)) {
        jw_error_set(err, "%s", recording->failure.message);
        return false;
    }
    recording->file =
        recording_file_open(recording->config.path, recording->config.calls, &part, err);
    jfr_buffer_clear(&recording->events);
    return recording->file != NULL;
}

static void begin_next_chunk(struct recording *recording)
{
    struct jw_error why = {{0}};
    struct recording_file_part part;
    const uint64_t now_ns = begin_chunk(recording);

    if (!make_part(recording, JFR_HEADER_BYTES, now_ns, &part))
        return;
    const uint64_t begin_ns = jw_now_ns();
    if (!recording_file_begin_chunk(recording->file, &part, &why))
        recording_fail(recording, &why);
    recording_note_write(recording, begin_ns, part.length_bytes);
    jfr_buffer_clear(&recording->events);
}

/* Writes what waits; `is_last` ends the recording with it. */
static void write_out(struct recording *recording, bool is_last)
{
    struct jw_error why = {{0}};
    struct recording_file_part part;

    if (recording->has_failed ||
        !make_part(recording, recording_file_next_offset(recording->file), jw_now_ns(), &part))
        return;

    const uint64_t begin_ns = jw_now_ns();
    const bool is_written = is_last ? recording_file_finish(recording->file, &part, &why)
                                    : recording_file_append(recording->file, &part, &why);
    if (!is_written)
        recording_fail(recording, &why);
    recording_note_write(recording, begin_ns, part.length_bytes);
    jfr_buffer_clear(&recording->events);
}

void recording_relieve(struct recording *recording)
{
    if (recording->file != NULL &&
        recording->events.used_bytes + jfr_pools_bytes(&recording->names.pools) > PART_MAX_BYTES)
        write_out(recording, false);
}

/* ---- public ---- */

void recording_drop(struct recording *recording)
{
    if (recording == NULL)
        return;
    recording_graph_close(recording);
    recording_ledger_close(recording);
    recording_file_close(recording->file);
    recording_names_close(&recording->names);
    jfr_buffer_close(&recording->events);
    jfr_buffer_close(&recording->stack);
    recording_ids_close(&recording->method_keys);
    recording_ids_close(&recording->trace_keys);
    recording_ids_close(&recording->walk_zero);
    recording_wall_close(recording);
    recording_context_close(recording);
    recording_declared_close(recording);
    recording_virtual_close(recording);
    recording_host_close(recording);
    jw_free(recording->stops);
    jw_free(recording->delays);
    recording_live_close(recording);
    recording_locks_close(recording);
    recording_tasks_close(recording);
    jw_free(recording->texts);
    jw_free(recording->settings);
    jw_free(recording);
}

struct recording *recording_open(const struct recording_config *config, struct jw_error *err)
{
    struct recording *recording = jw_alloc(sizeof *recording);

    if (recording == NULL || !copy_config(recording, config)) {
        jw_error_set(err, "cannot begin the recording %s: out of memory",
                     config->path == NULL ? "" : config->path);
        goto fail;
    }
    const bool is_packed = config->path != NULL && jfr_is_packed_name(config->path);
    recording->config.chunk_bytes =
        limited(config->chunk_bytes, DEFAULT_CHUNK_BYTES, MIN_CHUNK_BYTES,
                is_packed ? MAX_PACKED_CHUNK : MAX_CHUNK_BYTES);
    recording->config.chunk_ns =
        limited(config->chunk_ns, DEFAULT_CHUNK_NS, MIN_CHUNK_NS, UINT64_MAX);
    recording->names.sources = config->sources;
    recording->has_frames_in_line =
        jfr_has_frames_in_line(recording_dialect(recording), config->has_frames_in_line);
    recording_names_open(&recording->names,
                         recording->has_frames_in_line ? JFR_TYPE_METHOD : JFR_TYPE_STACK_FRAME);
    recording->virtuals.names.part = JW_MEMORY_NAMES;
    recording_idle_open(&recording->wall.idle);
    recording->opened_ns = jw_now_ns();
    recording->opened_wall_ns = jw_wall_ns();
    recording_zero_counters(recording);
    if (config->format == RECORDING_JFR ? !open_file(recording, err)
                                        : !recording_graph_open(recording, err))
        goto fail;
    return recording;

fail:
    recording_drop(recording);
    return NULL;
}

void recording_take(struct recording *recording, struct generation *generation)
{
    if (recording->config.format == RECORDING_JFR)
        recording_take_events(recording, generation);
    else
        recording_take_graph(recording, generation);
    recording_law_settle(recording, generation);
}

void recording_give_up(struct recording *recording, recording_is_done *is_done, void *whose)
{
    if (recording->has_failed)
        return;
    if (recording->config.format == RECORDING_JFR)
        recording_wall_give_up(recording, is_done, whose);
    else
        recording_graph_give_up(recording, is_done, whose);
}

/* Counters and load go in once a second, and at the end of each chunk. */
static void put_state(struct recording *recording, bool is_due)
{
    const uint64_t now_ns = jw_now_ns();

    if (!is_due && now_ns - recording->diagnosed_ns < DIAGNOSTICS_NS)
        return;
    recording_put_load(recording, now_ns);
    recording_put_host(recording, now_ns);
    recording_put_diagnostics(recording, now_ns);
    recording_put_ledger(recording, now_ns, is_due);
    recording_put_law(recording, now_ns);
    recording_put_cost(recording, now_ns, is_due);
    recording_stops_put(recording, now_ns, is_due);
    recording->diagnosed_ns = now_ns;
}

bool recording_flush(struct recording *recording, struct jw_error *err)
{
    if (recording->file != NULL && !recording->has_failed) {
        put_state(recording, false);
        if (recording->events.used_bytes > 0)
            write_out(recording, false);
    }
    return tell(recording, err);
}

void recording_next_chunk(struct recording *recording)
{
    if (recording->file == NULL || recording->has_failed)
        return;
    put_state(recording, true);
    write_out(recording, false);
    if (!recording->has_failed)
        begin_next_chunk(recording);
}

bool recording_roll(struct recording *recording, struct jw_error *err)
{
    recording_next_chunk(recording);
    return tell(recording, err);
}

bool recording_chunk_is_due(const struct recording *recording, uint64_t now_ns)
{
    return recording->file != NULL &&
           (recording_file_chunk_bytes(recording->file) + recording->events.used_bytes >=
                recording->config.chunk_bytes ||
            now_ns >= recording->chunk_begun_ns + recording->config.chunk_ns);
}

bool recording_tick(struct recording *recording, struct jw_error *err)
{
    /* Stacks and names come to the chunk's size with the flush: asked before and after. */
    if (!recording_chunk_is_due(recording, jw_now_ns()) && !recording_flush(recording, err))
        return false;
    return recording_chunk_is_due(recording, jw_now_ns()) ? recording_roll(recording, err) : true;
}

bool recording_close(struct recording *recording, struct jw_error *err)
{
    struct jw_error why = {{0}};

    recording->is_ending = true;
    if (!recording->has_failed && recording->file != NULL)
        recording_wall_end(recording);
    else if (!recording->has_failed)
        recording_graph_end(recording);
    if (recording->file != NULL && !recording->has_failed) {
        recording_delays_end_take(recording, true);
        recording_live_put(recording, jw_now_ns());
        put_state(recording, true);
        write_out(recording, true);
    }
    if (recording->file == NULL && !recording->has_failed && recording->config.path != NULL) {
        const struct recording_view own = {.format = recording->config.format};

        if (!recording_graph_write(recording, &own, &why))
            recording_fail(recording, &why);
    }

    const bool is_good = !recording->has_failed;
    if (!is_good)
        jw_error_set(err, "%s", recording->failure.message);
    recording_drop(recording);
    return is_good;
}

bool recording_write(struct recording *recording, const struct recording_view *view,
                     struct jw_error *err)
{
    if (!JW_INVARIANT(recording->file == NULL && view->format != RECORDING_JFR))
        return false;
    return recording_graph_write(recording, view, err);
}

bool recording_snapshot(struct recording *recording, const char *path, struct jw_error *err)
{
    if (!JW_INVARIANT(recording->file != NULL))
        return false;
    if (!recording->has_failed) {
        recording_live_put(recording, jw_now_ns());
        put_state(recording, true);
        write_out(recording, false);
    }
    if (recording->has_failed) {
        jw_error_set(err, "%s", recording->failure.message);
        return false;
    }
    return recording_file_snapshot(recording->file, path, err);
}

void recording_settle(struct recording *recording)
{
    recording->is_ending = true;
    if (!recording->has_failed)
        recording_graph_end(recording);
}

void recording_pause(struct recording *recording)
{
    os_output_close(recording->graph.output);
    recording->graph.output = NULL;
    recording->paused_ns = jw_now_ns();
}

bool recording_resume(struct recording *recording, struct jw_error *err)
{
    if (recording->graph.output == NULL && !recording_graph_place(recording, err))
        return false;
    if (recording->paused_ns != 0)
        recording->idle_ns += jw_now_ns() - recording->paused_ns;
    recording_ledger_resume(recording);
    recording_tasks_resume(recording);
    recording->paused_ns = 0;
    recording->is_ending = false;
    return true;
}

enum recording_format recording_format_of(const struct recording *recording)
{
    return recording->config.format;
}

uint64_t recording_began_unix_ns(const struct recording *recording)
{
    return recording->opened_wall_ns;
}

void recording_get_status(const struct recording *recording, struct recording_status *out)
{
    *out = (struct recording_status){
        .samples = recording->samples + recording->hook_samples,
        .chunks = recording->chunks,
        .has_failed = recording->has_failed,
    };
    if (recording->file != NULL)
        out->file_bytes = recording_file_used_bytes(recording->file);
    if (recording->graph.profile != NULL)
        out->memory_bytes = profile_memory_bytes(recording->graph.profile);
}
