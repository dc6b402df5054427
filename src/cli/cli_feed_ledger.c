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

static const char *cli_text_of(struct cli_feed *feed, const struct jfr_value *object,
                               const char *name)
{
    struct jfr_value field;

    return jfr_value_field(object, name, &field) && jfr_value_text(&field, &feed->text) &&
                   feed->text.length_bytes > 0
               ? feed->text.text
               : NULL;
}

/* A thread keeps its numbers until it ends, through chunks and new names; the last name holds. */
static void cli_take_thread(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value thread, field;
    struct cli_thread_told told = {
        .used_ns = cli_number(event, "cpuTime"),
        .sampled_ns = cli_number(event, "sampledTime"),
        .ended = cli_number(event, "ended") != 0,
    };
    const char *name = NULL;

    if (jfr_value_field(&event->value, "eventThread", &thread)) {
        if (jfr_value_field(&thread, "osThreadId", &field))
            (void)jfr_value_integer(&field, &told.numbers[0]);
        if (jfr_value_field(&thread, "javaThreadId", &field))
            (void)jfr_value_integer(&field, &told.numbers[1]);
        name = cli_text_of(feed, &thread, "javaName");
        if (name == NULL)
            name = cli_text_of(feed, &thread, "osName");
    }
    cli_note(feed, CLI_NOTE_THREAD, &told, sizeof told, name);
}

static void cli_take_group(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value field;
    const bool has_name =
        jfr_value_field(&event->value, "name", &field) && jfr_value_text(&field, &feed->text);
    const struct cli_thread_told told = {
        .used_ns = cli_number(event, "cpuTime"),
        .sampled_ns = cli_number(event, "sampledTime"),
        .ended = cli_number_of(event, "ended"),
    };

    cli_note(feed, CLI_NOTE_GROUP, &told, sizeof told,
             has_name ? feed->text.text : JW_LEDGER_NO_NAME);
}

void cli_read_cost(const struct jfr_reader_event *event, struct jw_cost_sums *out)
{
    *out = (struct jw_cost_sums){
        .process_ns = cli_number_of(event, "processTime"),
        .handlers_ns = cli_number_of(event, "handlerTime"),
        .doubt_ns = cli_number_of(event, "handlerTimeDoubt"),
        .kernel_ns = cli_number_of(event, "kernelTime"),
        .own_ns = cli_number_of(event, "agentThread") + cli_number_of(event, "clockThread"),
        .median_ns = cli_number_of(event, "handlerMedian"),
        .high_ns = cli_number_of(event, "handlerHigh"),
    };
}

bool cli_take_ledger(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.ActiveRecording") == 0) {
        const int64_t start_ms = cli_number(event, "recordingStart");

        cli_note(feed, CLI_NOTE_RECORDING, &start_ms, sizeof start_ms, NULL);
    } else if (strcmp(event->type_name, "jaywalk.CPULedger") == 0) {
        struct jw_ledger ledger;

        cli_read_ledger(event, &ledger);
        cli_note(feed, CLI_NOTE_LEDGER, &ledger, sizeof ledger, NULL);
    } else if (strcmp(event->type_name, "jaywalk.SelfCost") == 0) {
        struct jw_cost_sums cost;

        cli_read_cost(event, &cost);
        cli_note(feed, CLI_NOTE_COST, &cost, sizeof cost, NULL);
    } else if (strcmp(event->type_name, "jaywalk.ThreadCPU") == 0) {
        cli_take_thread(feed, event);
    } else if (strcmp(event->type_name, "jaywalk.ThreadsCPU") == 0) {
        cli_take_group(feed, event);
    } else {
        return false;
    }
    return true;
}

/* ---- in the order of the file ---- */

static void cli_tell_thread(struct cli_sums *sums, struct cli_thread_cpu *thread)
{
    const struct profile_cpu cpu = {
        .name = thread->name.length_bytes > 0 ? thread->name.text : JW_LEDGER_NO_NAME,
        .used_ns = thread->used_ns,
        .sampled_ns = thread->sampled_ns,
        .ended_threads = thread->is_ended,
    };

    if (cpu.used_ns != 0 || cpu.sampled_ns != 0 || thread->is_ended)
        profile_thread_cpu(sums->profile, &cpu);
    thread->used_ns = thread->sampled_ns = 0;
    thread->is_ended = false;
}

/* The ledger of a recording ends; another one may follow in the same file. */
static void cli_end_ledger(struct cli_sums *sums)
{
    struct jw_ledger *before = &sums->ledgers_before;

    for (size_t i = 0; i < sums->thread_cpu_count; i++)
        cli_tell_thread(sums, &sums->thread_cpus[i]);
    before->process_ns += sums->ledger.process_ns;
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        before->lines_ns[line] += sums->ledger.lines_ns[line];
    before->live_threads += sums->ledger.live_threads;
    before->ended_threads += sums->ledger.ended_threads;
    before->short_threads += sums->ledger.short_threads;
    sums->ledger = (struct jw_ledger){0};
    if (sums->has_cost)
        profile_cost(sums->profile, &sums->cost);
    sums->cost = (struct jw_cost_sums){0};
    sums->has_cost = false;
}

/* Each chunk says which recording it is of. */
void cli_sum_recording(struct cli_sums *sums, int64_t start_ms)
{
    if (start_ms != sums->recording_start_ms)
        cli_end_ledger(sums);
    sums->recording_start_ms = start_ms;
}

/* What is known of the thread of these numbers, adding it on first sight; NULL: out of memory. */
static struct cli_thread_cpu *cli_thread_cpu_at(struct cli_sums *sums, const int64_t numbers[2])
{
    uint64_t *known = jw_map_put(&sums->thread_cpu_of, numbers, 2 * sizeof *numbers);

    if (known != NULL && *known != 0)
        return &sums->thread_cpus[*known - 1];
    if (known != NULL && sums->thread_cpu_count == sums->thread_cpu_capacity) {
        const size_t capacity =
            sums->thread_cpu_capacity == 0 ? 256 : sums->thread_cpu_capacity * 2;
        void *cpus =
            jw_realloc(sums->thread_cpus, jw_mul_bytes(capacity, sizeof *sums->thread_cpus));

        if (cpus == NULL) {
            known = NULL;
        } else {
            sums->thread_cpus = cpus;
            sums->thread_cpu_capacity = capacity;
        }
    }
    if (known == NULL) {
        sums->is_out_of_memory = true;
        return NULL;
    }
    sums->thread_cpus[sums->thread_cpu_count] = (struct cli_thread_cpu){.used_ns = 0};
    *known = ++sums->thread_cpu_count;
    return &sums->thread_cpus[*known - 1];
}

void cli_sum_thread(struct cli_sums *sums, const struct cli_thread_told *told, const char *name)
{
    struct cli_thread_cpu *cpu = cli_thread_cpu_at(sums, told->numbers);

    if (cpu == NULL)
        return;
    cpu->used_ns += told->used_ns;
    cpu->sampled_ns += told->sampled_ns;
    cpu->is_ended = told->ended != 0;
    if (!jfr_text_set(&cpu->name, name, strlen(name)))
        sums->is_out_of_memory = true;
    if (cpu->is_ended)
        cli_tell_thread(sums, cpu); /* another one may get its numbers */
}

void cli_sum_group(struct cli_sums *sums, const struct cli_thread_told *told, const char *name)
{
    const struct profile_cpu cpu = {
        .name = name,
        .used_ns = told->used_ns,
        .sampled_ns = told->sampled_ns,
        .ended_threads = told->ended,
    };

    profile_thread_cpu(sums->profile, &cpu);
}

void cli_tell_ledger(struct cli_sums *sums)
{
    if (!sums->has_ledger || strcmp(sums->wish->event, "cpu") != 0)
        return;
    cli_end_ledger(sums);
    profile_ledger(sums->profile, &sums->ledgers_before);
}

void cli_forget_ledger(struct cli_sums *sums)
{
    for (size_t i = 0; i < sums->thread_cpu_count; i++)
        jfr_text_free(&sums->thread_cpus[i].name);
    jw_free(sums->thread_cpus);
    jw_map_close(&sums->thread_cpu_of);
}
