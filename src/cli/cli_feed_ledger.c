/* Events of the CPU ledger, of jaywalk's own recordings, into a profile. Context: tool. */
#include <string.h>

#include "cli/cli_feed_internal.h"

int64_t cli_number(const struct jfr_reader_event *event, const char *name)
{
    struct jfr_value field;
    int64_t number = 0;

    if (!jfr_value_field(&event->value, name, &field) || !jfr_value_integer(&field, &number))
        return 0;
    return number;
}

uint64_t cli_number_of(const struct jfr_reader_event *event, const char *name)
{
    const int64_t number = cli_number(event, name);

    return number < 0 ? 0 : (uint64_t)number;
}

static void cli_tell_thread(struct cli_feed *feed, struct cli_thread_cpu *thread)
{
    const struct profile_cpu cpu = {
        .name = thread->name.length_bytes > 0 ? thread->name.text : JW_LEDGER_NO_NAME,
        .used_ns = thread->used_ns,
        .sampled_ns = thread->sampled_ns,
        .ended_threads = thread->is_ended,
    };

    if (cpu.used_ns != 0 || cpu.sampled_ns != 0 || thread->is_ended)
        profile_thread_cpu(feed->profile, &cpu);
    thread->used_ns = thread->sampled_ns = 0;
    thread->is_ended = false;
}

/* The ledger of a recording ends; another one may follow in the same file. */
static void cli_end_ledger(struct cli_feed *feed)
{
    struct jw_ledger *sums = &feed->ledgers_before;

    for (size_t i = 0; i < feed->thread_cpu_count; i++)
        cli_tell_thread(feed, &feed->thread_cpus[i]);
    sums->process_ns += feed->ledger.process_ns;
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        sums->lines_ns[line] += feed->ledger.lines_ns[line];
    sums->live_threads += feed->ledger.live_threads;
    sums->ended_threads += feed->ledger.ended_threads;
    sums->short_threads += feed->ledger.short_threads;
    feed->ledger = (struct jw_ledger){0};
    if (feed->has_cost)
        profile_cost(feed->profile, &feed->cost);
    feed->cost = (struct jw_cost_sums){0};
    feed->has_cost = false;
}

/* Each chunk says which recording it is of. */
static void cli_take_recording(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const int64_t start_ms = cli_number(event, "recordingStart");

    if (start_ms != feed->recording_start_ms)
        cli_end_ledger(feed);
    feed->recording_start_ms = start_ms;
}

void cli_read_ledger(const struct jfr_reader_event *event, struct jw_ledger *out)
{
    *out = (struct jw_ledger){
        .process_ns = cli_number(event, "processTime"),
        .live_threads = cli_number_of(event, "liveThreads"),
        .ended_threads = cli_number_of(event, "endedThreads"),
        .short_threads = cli_number_of(event, "shortLivedThreads"),
    };
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        out->lines_ns[line] = cli_number(event, jw_ledger_infos[line].field);
}

/* Sums since the recording began: the last one holds. */
static void cli_take_totals(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    feed->has_ledger = true;
    cli_read_ledger(event, &feed->ledger);
}

/* What is known of the thread of these numbers, adding it on first sight; NULL: out of memory. */
static struct cli_thread_cpu *cli_thread_cpu_at(struct cli_feed *feed, const int64_t numbers[2])
{
    void *cpus = feed->thread_cpus;
    uint64_t *known = jw_map_put(&feed->thread_cpu_of, numbers, 2 * sizeof *numbers);

    if (known == NULL) {
        feed->is_out_of_memory = true;
        return NULL;
    }
    if (*known != 0)
        return &feed->thread_cpus[*known - 1];
    if (!cli_feed_reserve(feed, &cpus, &feed->thread_cpu_capacity, feed->thread_cpu_count,
                          sizeof *feed->thread_cpus))
        return NULL;
    feed->thread_cpus = cpus;
    feed->thread_cpus[feed->thread_cpu_count] = (struct cli_thread_cpu){.used_ns = 0};
    *known = ++feed->thread_cpu_count;
    return &feed->thread_cpus[*known - 1];
}

static bool cli_has_text(const struct jfr_value *thread, const char *name, struct jfr_text *text)
{
    struct jfr_value field;

    return jfr_value_field(thread, name, &field) && jfr_value_text(&field, text) &&
           text->length_bytes > 0;
}

/* A thread keeps its numbers until it ends, through chunks and new names; the last name holds. */
static void cli_take_thread(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value thread, field;
    int64_t numbers[2] = {0, 0};
    const bool has_thread = jfr_value_field(&event->value, "eventThread", &thread);

    if (has_thread && jfr_value_field(&thread, "osThreadId", &field))
        (void)jfr_value_integer(&field, &numbers[0]);
    if (has_thread && jfr_value_field(&thread, "javaThreadId", &field))
        (void)jfr_value_integer(&field, &numbers[1]);

    struct cli_thread_cpu *cpu = cli_thread_cpu_at(feed, numbers);
    if (cpu == NULL)
        return;
    cpu->used_ns += cli_number(event, "cpuTime");
    cpu->sampled_ns += cli_number(event, "sampledTime");
    cpu->is_ended = cli_number(event, "ended") != 0;
    if (!has_thread || (!cli_has_text(&thread, "javaName", &cpu->name) &&
                        !cli_has_text(&thread, "osName", &cpu->name)))
        cpu->name.length_bytes = 0;
    if (cpu->is_ended)
        cli_tell_thread(feed, cpu); /* another one may get its numbers */
}

static void cli_take_group(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;
    const bool has_name =
        jfr_value_field(&event->value, "name", &field) && jfr_value_text(&field, &feed->text);
    const struct profile_cpu cpu = {
        .name = has_name ? feed->text.text : JW_LEDGER_NO_NAME,
        .used_ns = cli_number(event, "cpuTime"),
        .sampled_ns = cli_number(event, "sampledTime"),
        .ended_threads = cli_number_of(event, "ended"),
    };

    profile_thread_cpu(feed->profile, &cpu);
}

void cli_read_cost(const struct jfr_reader_event *event, struct jw_cost_sums *out)
{
    *out = (struct jw_cost_sums){
        .process_ns = cli_number_of(event, "processTime"),
        .handlers_ns = cli_number_of(event, "handlerTime"),
        .kernel_ns = cli_number_of(event, "kernelTime"),
        .own_ns = cli_number_of(event, "agentThread") + cli_number_of(event, "clockThread"),
        .median_ns = cli_number_of(event, "handlerMedian"),
        .high_ns = cli_number_of(event, "handlerHigh"),
    };
}

/* Sums since the recording began: the last one holds. */
static void cli_take_cost(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    feed->has_cost = true;
    cli_read_cost(event, &feed->cost);
}

bool cli_take_ledger(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.ActiveRecording") == 0)
        cli_take_recording(feed, event);
    else if (strcmp(event->type_name, "jaywalk.CPULedger") == 0)
        cli_take_totals(feed, event);
    else if (strcmp(event->type_name, "jaywalk.SelfCost") == 0)
        cli_take_cost(feed, event);
    else if (strcmp(event->type_name, "jaywalk.ThreadCPU") == 0)
        cli_take_thread(feed, event);
    else if (strcmp(event->type_name, "jaywalk.ThreadsCPU") == 0)
        cli_take_group(feed, event);
    else
        return false;
    return true;
}

void cli_tell_ledger(struct cli_feed *feed)
{
    if (!feed->has_ledger || strcmp(feed->wish->event, "cpu") != 0)
        return;
    cli_end_ledger(feed);
    profile_ledger(feed->profile, &feed->ledgers_before);
}

void cli_forget_ledger(struct cli_feed *feed)
{
    for (size_t i = 0; i < feed->thread_cpu_count; i++)
        jfr_text_free(&feed->thread_cpus[i].name);
    jw_free(feed->thread_cpus);
    jw_map_close(&feed->thread_cpu_of);
}
