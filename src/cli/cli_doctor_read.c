/* What a recording says of itself: its settings, its account, what failed and what it cost. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_doctor_read_internal.h"

void cli_doctor_copy(char *to, size_t room_bytes, const char *text)
{
    size_t length = strlen(text);

    if (length >= room_bytes) {
        length = room_bytes - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(to, text, length);
    to[length] = '\0';
}

/* ---- sums ---- */

struct cli_doctor_failure *cli_doctor_failure_at(struct cli_doctor_sums *sums, int32_t code,
                                                 const char *where, const char *walker)
{
    for (size_t i = 0; i < sums->failure_count; i++) {
        struct cli_doctor_failure *row = &sums->failures[i];

        if (row->code == code && strcmp(row->where, where) == 0 && strcmp(row->walker, walker) == 0)
            return row;
    }
    if (sums->failure_count == CLI_DOCTOR_FAILURES)
        return NULL;

    struct cli_doctor_failure *made = &sums->failures[sums->failure_count++];
    made->code = code;
    cli_doctor_copy(made->where, sizeof made->where, where);
    cli_doctor_copy(made->walker, sizeof made->walker, walker);
    return made;
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static void add_failures(struct cli_doctor_sums *to, const struct cli_doctor_sums *from)
{
    for (size_t i = 0; i < from->failure_count; i++) {
        const struct cli_doctor_failure *row = &from->failures[i];
        struct cli_doctor_failure *sum =
            cli_doctor_failure_at(to, row->code, row->where, row->walker);

        if (sum == NULL) {
            to->failures_left_out += row->count;
            continue;
        }
        memcpy(sum->reason, row->reason, sizeof sum->reason);
        sum->count += row->count;
    }
    to->failures_left_out += from->failures_left_out;
}

static void add_costs(struct cli_doctor_sums *to, const struct cli_doctor_sums *from)
{
    to->cost.process_ns += from->cost.process_ns;
    to->cost.handlers_ns += from->cost.handlers_ns;
    to->cost.doubt_ns += from->cost.doubt_ns;
    to->cost.kernel_ns += from->cost.kernel_ns;
    to->cost.own_ns += from->cost.own_ns;
    to->cost.median_ns = larger(to->cost.median_ns, from->cost.median_ns);
    to->cost.high_ns = larger(to->cost.high_ns, from->cost.high_ns);
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++) {
        struct cli_doctor_handlers *sum = &to->handlers[i];

        sum->count += from->handlers[i].count;
        sum->median_ns = larger(sum->median_ns, from->handlers[i].median_ns);
        sum->high_ns = larger(sum->high_ns, from->handlers[i].high_ns);
        sum->longest_ns = larger(sum->longest_ns, from->handlers[i].longest_ns);
        sum->longest_cpu_ns = larger(sum->longest_cpu_ns, from->handlers[i].longest_cpu_ns);
    }
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        struct cli_doctor_memory *sum = &to->memory[part];

        sum->used_bytes = larger(sum->used_bytes, from->memory[part].used_bytes);
        sum->charged_bytes = larger(sum->charged_bytes, from->memory[part].charged_bytes);
        sum->limit_bytes = larger(sum->limit_bytes, from->memory[part].limit_bytes);
        sum->refused_count += from->memory[part].refused_count;
    }
}

void cli_doctor_add(struct cli_doctor_sums *to, const struct cli_doctor_sums *from)
{
    to->has_counters |= from->has_counters;
    to->has_ledger |= from->has_ledger;
    to->has_cost |= from->has_cost;
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        to->counters[i] += from->counters[i];
    to->in_flight += from->in_flight;
    to->ledger.process_ns += from->ledger.process_ns;
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        to->ledger.lines_ns[line] += from->ledger.lines_ns[line];
    to->ledger.live_threads += from->ledger.live_threads;
    to->ledger.ended_threads += from->ledger.ended_threads;
    to->ledger.short_threads += from->ledger.short_threads;
    to->delays.count += from->delays.count;
    to->delays.unnamed += from->delays.unnamed;
    to->delays.reach_ns += from->delays.reach_ns;
    to->delays.longest_ns = larger(to->delays.longest_ns, from->delays.longest_ns);
    add_failures(to, from);
    add_costs(to, from);
    cli_doctor_add_lines(to, from);
}

/* ---- events ---- */

/* A text of the event, "" where it has none. */
static const char *text_of(struct cli_doctor_reading *reading, const struct jfr_reader_event *event,
                           const char *name)
{
    struct jfr_value field;

    return jfr_value_field(&event->value, name, &field) &&
                   jfr_value_text(&field, &reading->feed.text)
               ? reading->feed.text.text
               : "";
}

/* The same into a row; what was there stays where it has none. */
static void take_text(struct cli_doctor_reading *reading, const struct jfr_reader_event *event,
                      const char *name, char *to, size_t room_bytes)
{
    const char *text = text_of(reading, event, name);

    if (text[0] != '\0')
        cli_doctor_copy(to, room_bytes, text);
}

/* The sums of a recording count for the JDK that it is of. */
static void end_recording(struct cli_doctor *doctor)
{
    struct cli_doctor_jdk *row = cli_doctor_jdk_at(&doctor->jdks, doctor->jvm);
    struct cli_doctor_account account;

    cli_doctor_account(&doctor->now, &account);
    row->recordings++;
    row->signals += account.signals;
    row->samples += account.samples;
    row->lost += account.lost;
    row->compared += doctor->now.counters[JW_COUNT_STACKS_COMPARED];
    row->different += doctor->now.counters[JW_COUNT_STACKS_DIFFERENT];
    for (size_t i = 0; i < doctor->now.failure_count; i++) {
        const struct cli_doctor_failure *failure = &doctor->now.failures[i];

        row->failed += cli_doctor_is_failure(failure) ? failure->count : 0;
    }
}

/* And so do the stacks of a chunk. */
static void end_chunk(struct cli_doctor_reading *reading)
{
    const struct cli_doctor_stacks *stacks = &reading->doctor->stacks;
    struct cli_doctor_jdk *row = cli_doctor_jdk_at(&reading->doctor->jdks, reading->doctor->jvm);
    const struct cli_doctor_jdk now = {.stacks = stacks->count,
                                       .gaps = stacks->gaps,
                                       .truncated = stacks->truncated,
                                       .frozen = stacks->frozen};

    row->stacks += now.stacks - reading->told.stacks;
    row->gaps += now.gaps - reading->told.gaps;
    row->truncated += now.truncated - reading->told.truncated;
    row->frozen += now.frozen - reading->told.frozen;
    reading->told = now;
}

/* Each chunk says which recording it is of. */
static void take_recording(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;
    const int64_t start_ms = cli_number(event, "recordingStart");

    if (doctor->recordings > 0 && start_ms == reading->recording_start_ms)
        return;
    if (doctor->recordings > 0)
        end_recording(doctor);
    cli_doctor_add(&doctor->before, &doctor->now);
    memset(&doctor->now, 0, sizeof doctor->now);
    doctor->recordings++;
    reading->recording_start_ms = start_ms;
}

static void take_setting(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;
    const struct {
        const char *name;
        char *to;
        size_t room_bytes;
    } texts[] = {
        {"version", doctor->agent_version, sizeof doctor->agent_version},
        {"event", doctor->event, sizeof doctor->event},
        {"filter", doctor->filter, sizeof doctor->filter},
        {"walker", doctor->walker, sizeof doctor->walker},
        {"overhead", doctor->overhead, sizeof doctor->overhead},
        {"selfcheck", doctor->selfcheck, sizeof doctor->selfcheck},
        {"agreement", doctor->agreement, sizeof doctor->agreement},
        {"nativecheck", doctor->nativecheck, sizeof doctor->nativecheck},
        {"ttsp", doctor->ttsp, sizeof doctor->ttsp},
        {"safepointsamples", doctor->safepoint_samples, sizeof doctor->safepoint_samples},
        {"nativedifference", doctor->native_difference, sizeof doctor->native_difference},
    };
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {
        {"interval", &doctor->interval_ns},
        {"wall", &doctor->wall_ns},
        {"jstackdepth", &doctor->depth_count},
        {"memlimit", &doctor->memlimit_bytes},
    };
    char name[32], value[256];

    cli_doctor_copy(name, sizeof name, text_of(reading, event, "name"));
    cli_doctor_copy(value, sizeof value, text_of(reading, event, "value"));
    cli_clocks_take(&reading->feed.clocks, name, value);
    for (size_t i = 0; doctor->is_jaywalk && i < JW_COUNT_OF(texts); i++) {
        if (strcmp(texts[i].name, name) == 0 && value[0] != '\0')
            cli_doctor_copy(texts[i].to, texts[i].room_bytes, value);
    }
    for (size_t i = 0; doctor->is_jaywalk && i < JW_COUNT_OF(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0)
            *numbers[i].to = strtoull(value, NULL, 10);
    }
}

/* Of the JVM's arguments those that change how it runs. */
static void take_flags(struct cli_doctor *doctor, const char *arguments)
{
    size_t used = 0;

    doctor->has_arguments = arguments[0] != '\0';
    doctor->has_debug_info = strstr(arguments, "+DebugNonSafepoints") != NULL;
    doctor->is_started_along = false;
    doctor->flags[0] = '\0';
    for (const char *word = arguments; *word != '\0';) {
        const size_t length = strcspn(word, " ");

        if (strncmp(word, "-X", 2) == 0 && used + length + 2 < sizeof doctor->flags)
            used += (size_t)snprintf(doctor->flags + used, sizeof doctor->flags - used, "%s%.*s",
                                     used == 0 ? "" : " ", (int)length, word);
        if (strncmp(word, "-agent", 6) == 0 && memmem(word, length, "jaywalk", 7) != NULL)
            doctor->is_started_along = true;
        word += length;
        word += strspn(word, " ");
    }
}

static void take_jvm(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;

    take_text(reading, event, "jvmVersion", doctor->jvm, sizeof doctor->jvm);
    if (doctor->jvm[0] == '\0')
        take_text(reading, event, "jvmName", doctor->jvm, sizeof doctor->jvm);

    char *rest = strstr(doctor->jvm, " JRE (");
    if (rest != NULL)
        *rest = '\0';
    take_text(reading, event, "javaArguments", doctor->program, sizeof doctor->program);
    take_flags(doctor, text_of(reading, event, "jvmArguments"));
    doctor->pid = cli_number_of(event, "pid");
}

/* The law of signals, as the file tells it; and that the file holds as many samples as it tells of. */
static void take_law(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;
    uint64_t outcomes;

    cli_read_counters(event, counts, &in_flight);
    outcomes = counts[JW_COUNT_SAMPLES];
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        outcomes += jw_counter_infos[i].is_loss || jw_counter_infos[i].is_spared ? counts[i] : 0;
    doctor->laws++;
    if (outcomes != counts[JW_COUNT_SIGNALS] ||
        (jfr_value_has_field(&event->value, "events") &&
         cli_number_of(event, "events") != reading->chunk_events))
        doctor->laws_broken++;
}

static void take_failure(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor_sums *now = &reading->doctor->now;
    const uint64_t count = cli_number_of(event, "count");
    char where[48] = "", walker[16] = "";

    take_text(reading, event, "where", where, sizeof where);
    take_text(reading, event, "walker", walker, sizeof walker);

    struct cli_doctor_failure *row =
        cli_doctor_failure_at(now, (int32_t)cli_number(event, "code"), where, walker);
    if (row == NULL) {
        now->failures_left_out = larger(now->failures_left_out, count);
        return;
    }
    row->count = count;
    take_text(reading, event, "reason", row->reason, sizeof row->reason);
}

static void take_change(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;
    const size_t last = CLI_DOCTOR_CHANGES - 1;
    struct cli_doctor_change *change =
        &doctor->changes[doctor->change_count < last ? doctor->change_count : last];

    *change = (struct cli_doctor_change){.retry_ns = cli_number_of(event, "retry")};
    doctor->change_count++;
    take_text(reading, event, "part", change->part, sizeof change->part);
    take_text(reading, event, "from", change->from, sizeof change->from);
    take_text(reading, event, "to", change->to, sizeof change->to);
    take_text(reading, event, "reason", change->reason, sizeof change->reason);
}

static void take_memory(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    const char *name = text_of(reading, event, "subsystem");

    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        if (strcmp(jw_memory_infos[part].name, name) == 0)
            reading->doctor->now.memory[part] = (struct cli_doctor_memory){
                .used_bytes = cli_number_of(event, "used"),
                .charged_bytes = cli_number_of(event, "charged"),
                .limit_bytes = cli_number_of(event, "limit"),
                .refused_count = cli_number_of(event, "refused"),
            };
    }
}

static void take_handlers(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    const enum jw_cost_clock clock = cli_doctor_clock_of(text_of(reading, event, "clock"));

    reading->doctor->is_unclosed = true;
    reading->doctor->now.handlers[clock] = (struct cli_doctor_handlers){
        .count = cli_number_of(event, "handlers"),
        .median_ns = cli_number_of(event, "median"),
        .high_ns = cli_number_of(event, "p99"),
        .longest_ns = cli_number_of(event, "longest"),
        .longest_cpu_ns = cli_number_of(event, "longestCpu"),
    };
}

/* Rows of one time are a table of sums since the recording began: the last one holds. */
static void take_bias(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    const int64_t ticks = cli_number(event, "startTime");

    if (ticks != reading->bias_ticks)
        reading->doctor->now.line_count = 0;
    reading->bias_ticks = ticks;
    struct cli_doctor_line *row = cli_doctor_line_at(
        &reading->doctor->now, text_of(reading, event, "method"), cli_number(event, "lineNumber"));

    if (row == NULL)
        return;
    row->sampled = cli_number_of(event, "sampled");
    row->stopped = cli_number_of(event, "stopped");
}

static void take_delay(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor_delays *delays = &reading->doctor->now.delays;
    const uint64_t reach_ns = cli_number_of(event, "timeToReach");

    delays->count++;
    delays->unnamed += text_of(reading, event, "lateIn")[0] != 'J';
    delays->reach_ns += reach_ns < (uint64_t)1 << 40 ? reach_ns : 0;
    delays->longest_ns = larger(delays->longest_ns, reach_ns);
}

static void take_own(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    struct cli_doctor *doctor = reading->doctor;
    struct cli_doctor_sums *now = &doctor->now;
    const char *type = event->type_name + strlen("jaywalk.");

    if (strcmp(type, "Diagnostics") == 0) {
        now->has_counters = true;
        cli_read_counters(event, now->counters, &now->in_flight);
    } else if (strcmp(type, "CPULedger") == 0) {
        now->has_ledger = true;
        cli_read_ledger(event, &now->ledger);
    } else if (strcmp(type, "SelfCost") == 0) {
        now->has_cost = true;
        cli_read_cost(event, &now->cost);
        doctor->interval_now_ns = cli_number_of(event, "interval");
        doctor->wall_now_ns = cli_number_of(event, "wallInterval");
    } else if (strcmp(type, "HandlerTime") == 0) {
        take_handlers(reading, event);
    } else if (strcmp(type, "HandlerTimeBucket") == 0) {
        doctor->is_unclosed = false; /* these are written at the end of a chunk */
    } else if (strcmp(type, "Conservation") == 0) {
        take_law(reading, event);
    } else if (strcmp(type, "WalkFailure") == 0) {
        take_failure(reading, event);
    } else if (strcmp(type, "WalkerChange") == 0) {
        take_change(reading, event);
    } else if (strcmp(type, "Memory") == 0) {
        take_memory(reading, event);
    } else if (strcmp(type, "SafepointBias") == 0) {
        take_bias(reading, event);
    } else if (strcmp(type, "SafepointDelay") == 0) {
        take_delay(reading, event);
    } else if (strcmp(type, "IntervalChange") == 0) {
        doctor->interval_changes++;
    }
}

static void take_event(struct cli_doctor_reading *reading, const struct jfr_reader_event *event)
{
    const struct cli_source *source = cli_source_of(&reading->feed, event);

    if (source != NULL) {
        reading->chunk_events++;
        cli_doctor_take_stack(reading, event, strcmp(source->event, "wall") == 0);
    } else if (strncmp(event->type_name, "jaywalk.", 8) == 0) {
        take_own(reading, event);
    } else if (strcmp(event->type_name, "jdk.ActiveRecording") == 0) {
        take_recording(reading, event);
    } else if (strcmp(event->type_name, "jdk.ActiveSetting") == 0) {
        take_setting(reading, event);
    } else if (strcmp(event->type_name, "jdk.JVMInformation") == 0) {
        take_jvm(reading, event);
    } else if (strcmp(event->type_name, "jdk.CPUInformation") == 0) {
        reading->doctor->hardware_threads = cli_number_of(event, "hwThreads");
    }
}

/* ---- the file ---- */

static void take_chunk(struct cli_doctor_reading *reading, const struct jfr_reader_chunk *chunk,
                       uint64_t *end_ns)
{
    struct cli_doctor *doctor = reading->doctor;

    doctor->chunks++;
    doctor->is_cut |= !chunk->is_finished;
    doctor->is_jaywalk |= jfr_reader_has_event(reading->feed.reader, "jaywalk.Diagnostics");
    if (doctor->start_unix_ns == 0 || chunk->start_unix_ns < doctor->start_unix_ns)
        doctor->start_unix_ns = chunk->start_unix_ns;
    if (chunk->start_unix_ns + chunk->duration_ns > *end_ns)
        *end_ns = chunk->start_unix_ns + chunk->duration_ns;
    doctor->duration_ns = *end_ns > doctor->start_unix_ns ? *end_ns - doctor->start_unix_ns : 0;
    reading->feed.ticks_per_second = chunk->ticks_per_second;
    reading->feed.clocks = (struct cli_clocks){.has_wall = false};
    reading->chunk_events = 0;
}

static void read_chunks(struct cli_doctor_reading *reading, struct jw_error *err)
{
    struct jfr_reader *reader = reading->feed.reader;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct cli_progress progress;
    uint64_t end_ns = 0;

    cli_progress_begin(&progress, reading->wish.is_quiet);
    while (err->message[0] == '\0' && !reading->feed.is_out_of_memory &&
           jfr_reader_next_chunk(reader, &chunk, err)) {
        take_chunk(reading, &chunk, &end_ns);
        while (!reading->feed.is_out_of_memory && jfr_reader_next_event(reader, &event, err)) {
            take_event(reading, &event);
            cli_progress_show(&progress, "reading", jfr_reader_position_bytes(reader),
                              jfr_reader_size_bytes(reader));
        }
        cli_doctor_judge_stacks(reading);
        end_chunk(reading);
    }
    cli_progress_end(&progress);
}

static uint64_t spoiled_by(const struct cli_doctor_library *library)
{
    return library->failed + library->gaps + library->nameless;
}

/* Libraries that spoil most stacks first. */
static void order_libraries(struct cli_doctor_stacks *stacks)
{
    for (size_t i = 1; i < stacks->library_count; i++) {
        const struct cli_doctor_library moved = stacks->libraries[i];
        size_t at = i;

        for (; at > 0 && spoiled_by(&stacks->libraries[at - 1]) < spoiled_by(&moved); at--)
            stacks->libraries[at] = stacks->libraries[at - 1];
        stacks->libraries[at] = moved;
    }
}

/* Damage behind what could be read is told with it; else it is all that there is to tell. */
static bool end_reading(struct cli_doctor_reading *reading, struct jw_error *err)
{
    struct cli_doctor *doctor = reading->doctor;

    order_libraries(&doctor->stacks);
    end_recording(doctor);
    cli_doctor_add(&doctor->all, &doctor->before);
    cli_doctor_add(&doctor->all, &doctor->now);
    doctor->size_bytes = jfr_reader_size_bytes(reading->feed.reader);
    cli_doctor_copy(doctor->notice, sizeof doctor->notice, jfr_reader_notice(reading->feed.reader));
    doctor->is_cut |= doctor->notice[0] != '\0';
    if (reading->feed.is_out_of_memory) {
        jw_error_set(err, "%s: out of memory; free some", doctor->input);
        return false;
    }
    if (err->message[0] == '\0' || doctor->chunks == 0)
        return err->message[0] == '\0';
    cli_doctor_copy(doctor->damage, sizeof doctor->damage, err->message);
    return true;
}

bool cli_doctor_read(struct cli_doctor *doctor, const char *path, bool is_quiet,
                     struct jw_error *err)
{
    struct cli_doctor_reading *reading = jw_alloc(sizeof *reading);
    bool is_read = false;

    if (reading == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    doctor->input = path;
    reading->doctor = doctor;
    reading->wish = (struct cli_wish){.event = "cpu", .is_quiet = is_quiet};
    reading->feed.wish = &reading->wish;
    reading->feed.found = &reading->found;
    reading->feed.reader = jfr_reader_open(path, err);
    if (reading->feed.reader != NULL) {
        read_chunks(reading, err);
        is_read = end_reading(reading, err);
    }
    cli_doctor_forget_stacks(reading);
    jfr_method_free(&reading->feed.method);
    jfr_text_free(&reading->feed.text);
    jfr_reader_close(reading->feed.reader);
    jw_free(reading);
    return is_read;
}
