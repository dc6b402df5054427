/*
 * The doctor's page for programs. docs/howto/can-i-trust-this-profile.md has its fields; they stay, others may come:
 * a reader passes over what it does not know. Context: tool.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_doctor_internal.h"
#include "cli/cli_text_internal.h"

#define SCHEMA         "jaywalk.doctor/1"
#define SCHEMA_SEVERAL "jaywalk.doctor.several/1"

struct json {
    FILE *to;
    const char *before; /* what comes before the next member */
};

/* The name of a member; NULL: an element of an array. */
static void put_name(struct json *json, const char *name)
{
    fputs(json->before, json->to);
    json->before = ",";
    if (name != NULL)
        fprintf(json->to, "\"%s\":", name);
}

static void begin(struct json *json, const char *name, char bracket)
{
    put_name(json, name);
    fputc(bracket, json->to);
    json->before = "";
}

static void end(struct json *json, char bracket)
{
    fputc(bracket, json->to);
    json->before = ",";
}

static void put_text(struct json *json, const char *name, const char *text)
{
    put_name(json, name);
    cli_text_json(text, json->to);
}

/* null where it is not told. */
static void put_told(struct json *json, const char *name, const char *text)
{
    if (text[0] != '\0') {
        put_text(json, name, text);
        return;
    }
    put_name(json, name);
    fputs("null", json->to);
}

static void put_number(struct json *json, const char *name, uint64_t number)
{
    put_name(json, name);
    fprintf(json->to, "%" PRIu64, number);
}

static void put_known(struct json *json, const char *name, bool is_known, const char *text)
{
    put_name(json, name);
    fputs(is_known ? text : "null", json->to);
}

static void put_findings(struct json *json, const struct cli_doctor *doctor)
{
    static const char *const ranks[] = {
        [CLI_DOCTOR_WRONG] = "wrong", [CLI_DOCTOR_GAP] = "gap", [CLI_DOCTOR_HINT] = "hint"};

    begin(json, "findings", '[');
    for (size_t i = 0; i < doctor->finding_count; i++) {
        const struct cli_doctor_finding *finding = &doctor->findings[i];

        begin(json, NULL, '{');
        put_text(json, "id", finding->id);
        put_text(json, "rank", ranks[finding->rank]);
        put_text(json, "what", finding->what);
        put_text(json, "todo", finding->todo);
        end(json, '}');
    }
    end(json, ']');
}

static void put_about(struct json *json, const struct cli_doctor *doctor)
{
    begin(json, "about", '{');
    put_told(json, "agent_version", doctor->agent_version);
    put_told(json, "jvm", doctor->jvm);
    put_told(json, "program", doctor->program);
    put_told(json, "flags", doctor->flags);
    put_number(json, "pid", doctor->pid);
    put_told(json, "event", doctor->event);
    put_number(json, "interval_ns", doctor->interval_ns);
    put_number(json, "wall_ns", doctor->wall_ns);
    put_number(json, "interval_changes", doctor->interval_changes);
    put_told(json, "filter", doctor->filter);
    put_told(json, "session", doctor->state);
    put_number(json, "start_unix_ns", doctor->start_unix_ns);
    put_number(json, "duration_ns", doctor->duration_ns);
    put_number(json, "size_bytes", doctor->size_bytes);
    put_number(json, "chunks", doctor->chunks);
    put_number(json, "recordings", doctor->recordings);
    put_known(json, "is_closed", !doctor->is_of_agent,
              doctor->is_cut || doctor->is_unclosed ? "false" : "true");
    put_told(json, "damage", doctor->damage);
    end(json, '}');
}

static void put_signals(struct json *json, const struct cli_doctor *doctor)
{
    const struct cli_doctor_sums *all = &doctor->all;
    struct cli_doctor_account account;

    if (!doctor->is_jaywalk) {
        put_told(json, "signals", "");
        return;
    }
    cli_doctor_account(all, &account);
    begin(json, "signals", '{');
    put_number(json, "signals", account.signals);
    put_number(json, "samples", account.samples);
    put_number(json, "lost", account.lost);
    put_number(json, "spared", account.spared);
    put_number(json, "in_flight", account.in_flight);
    put_number(json, "readings", doctor->laws);
    put_number(json, "readings_broken", doctor->laws_broken);
    begin(json, "by_outcome", '{');
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        if (jw_counter_infos[i].is_loss || jw_counter_infos[i].is_spared)
            put_number(json, jw_counter_infos[i].field, all->counters[i]);
    }
    end(json, '}');
    end(json, '}');
}

static void put_ledger(struct json *json, const struct cli_doctor *doctor)
{
    const struct jw_ledger *ledger = &doctor->all.ledger;

    if (!doctor->all.has_ledger) {
        put_told(json, "cpu_ledger", "");
        return;
    }
    begin(json, "cpu_ledger", '{');
    put_name(json, "processTime");
    fprintf(json->to, "%" PRId64, ledger->process_ns);
    for (int line = 0; line < JW_LEDGER_LIMIT; line++) {
        put_name(json, jw_ledger_infos[line].field);
        fprintf(json->to, "%" PRId64, ledger->lines_ns[line]);
    }
    end(json, '}');
}

static void put_stacks(struct json *json, const struct cli_doctor *doctor)
{
    const struct cli_doctor_stacks *stacks = &doctor->stacks;

    if (doctor->is_of_agent) {
        put_told(json, "stacks", "");
        return;
    }
    begin(json, "stacks", '{');
    put_number(json, "count", stacks->count);
    put_number(json, "cpu", stacks->cpu);
    put_number(json, "wall", stacks->wall);
    put_number(json, "without_java_part", stacks->gaps);
    put_number(json, "truncated", stacks->truncated);
    put_number(json, "frozen", stacks->frozen);
    put_number(json, "nameless_on_top", stacks->nameless_top);
    put_number(json, "with_unreadable_methods", stacks->unreadable);
    put_number(json, "without_frames", stacks->empty);
    begin(json, "libraries", '[');
    for (size_t i = 0; i < stacks->library_count; i++) {
        begin(json, NULL, '{');
        put_told(json, "name", stacks->libraries[i].name);
        put_number(json, "failed_in", stacks->libraries[i].failed);
        put_number(json, "without_java_part", stacks->libraries[i].gaps);
        put_number(json, "nameless_on_top", stacks->libraries[i].nameless);
        end(json, '}');
    }
    end(json, ']');
    end(json, '}');
}

static void put_failures(struct json *json, const struct cli_doctor_sums *all)
{
    begin(json, "failed_walks", '[');
    for (size_t i = 0; i < all->failure_count; i++) {
        const struct cli_doctor_failure *row = &all->failures[i];

        begin(json, NULL, '{');
        put_text(json, "walker", row->walker);
        put_text(json, "where", row->where);
        put_told(json, "reason", row->reason);
        put_name(json, "code");
        if (row->reason[0] == '\0')
            fputs("null", json->to);
        else
            fprintf(json->to, "%" PRId32, row->code);
        put_number(json, "count", row->count);
        end(json, '}');
    }
    end(json, ']');
}

static void put_agreement(struct json *json, const struct cli_doctor *doctor)
{
    const uint64_t *counters = doctor->all.counters;

    if (!doctor->all.has_counters) {
        put_told(json, "agreement", "");
        return;
    }
    begin(json, "agreement", '{');
    put_number(json, "compared", counters[JW_COUNT_STACKS_COMPARED]);
    put_number(json, "equal", counters[JW_COUNT_STACKS_EQUAL]);
    put_number(json, "different", counters[JW_COUNT_STACKS_DIFFERENT]);
    put_number(json, "unwalked", counters[JW_COUNT_STACKS_UNWALKED]);
    put_number(json, "frames_equal", counters[JW_COUNT_FRAMES_EQUAL]);
    put_told(json, "first_difference", doctor->agreement);
    end(json, '}');
}

static void put_native_agreement(struct json *json, const struct cli_doctor *doctor)
{
    const uint64_t *counters = doctor->all.counters;

    if (!doctor->all.has_counters) {
        put_told(json, "native_agreement", "");
        return;
    }
    begin(json, "native_agreement", '{');
    put_number(json, "compared", counters[JW_COUNT_NATIVE_CHECKED]);
    put_number(json, "equal", counters[JW_COUNT_NATIVE_EQUAL]);
    put_number(json, "different", counters[JW_COUNT_NATIVE_DIFFERENT]);
    put_number(json, "shorter", counters[JW_COUNT_NATIVE_SHORTER]);
    put_number(json, "no_way", counters[JW_COUNT_NATIVE_NO_WAY]);
    put_number(json, "no_copy", counters[JW_COUNT_NATIVE_NO_COPY]);
    put_number(json, "unchecked", counters[JW_COUNT_NATIVE_UNCHECKED]);
    put_number(json, "no_room", counters[JW_COUNT_NATIVE_NO_ROOM]);
    put_number(json, "frames_equal", counters[JW_COUNT_NATIVE_FRAMES_EQUAL]);
    put_told(json, "last_difference", doctor->native_difference);
    end(json, '}');
}

static void put_walkers(struct json *json, const struct cli_doctor *doctor)
{
    put_told(json, "walker", doctor->walker);
    put_told(json, "selfcheck", doctor->selfcheck);
    put_agreement(json, doctor);
    put_native_agreement(json, doctor);
    begin(json, "walker_changes", '[');
    for (size_t i = 0; i < doctor->change_count && i < CLI_DOCTOR_CHANGES; i++) {
        const struct cli_doctor_change *change = &doctor->changes[i];

        begin(json, NULL, '{');
        put_text(json, "part", change->part);
        put_text(json, "from", change->from);
        put_text(json, "to", change->to);
        put_text(json, "reason", change->reason);
        put_number(json, "retry_ns", change->retry_ns);
        end(json, '}');
    }
    end(json, ']');
    put_number(json, "walker_change_count", doctor->change_count);
    begin(json, "walkers", '[');
    for (size_t i = 0; i < doctor->walker_count; i++) {
        begin(json, NULL, '{');
        put_text(json, "name", doctor->walkers[i].name);
        put_text(json, "standing", doctor->walkers[i].standing);
        put_number(json, "walks", doctor->walkers[i].walks);
        put_number(json, "bad", doctor->walkers[i].bad);
        end(json, '}');
    }
    end(json, ']');
}

/* Of lines those that the recording tells. */
static void put_bias(struct json *json, const struct cli_doctor *doctor)
{
    const struct cli_doctor_sums *all = &doctor->all;
    char at_poll[24];

    snprintf(at_poll, sizeof at_poll, "%" PRIu64, all->counters[JW_COUNT_STOPS_AT_POLL]);
    put_known(json, "top_at_safepoint", all->counters[JW_COUNT_STOPS_TOLD] > 0, at_poll);
    if (all->counters[JW_COUNT_STOPS_TOLD] == 0) {
        put_told(json, "bias", "");
        return;
    }
    begin(json, "bias", '{');
    put_number(json, "told", all->counters[JW_COUNT_STOPS_TOLD]);
    put_number(json, "other_method", all->counters[JW_COUNT_STOPS_OTHER_METHOD]);
    put_number(json, "other_line", all->counters[JW_COUNT_STOPS_OTHER_LINE]);
    put_number(json, "untold", all->counters[JW_COUNT_STOPS_UNTOLD]);
    begin(json, "lines", '[');
    for (size_t i = 0; i < all->line_count; i++) {
        const struct cli_doctor_line *row = &all->lines[i];

        begin(json, NULL, '{');
        put_text(json, "method", row->method);
        put_name(json, "line");
        fprintf(json->to, "%" PRId64, row->line);
        put_number(json, "sampled", row->sampled);
        put_number(json, "stopped", row->stopped);
        end(json, '}');
    }
    end(json, ']');
    end(json, '}');
}

/* What is not known is null. */
static void put_safepoints(struct json *json, const struct cli_doctor *doctor)
{
    const struct cli_doctor_stacks *stacks = &doctor->stacks;
    char all[24], java[24];

    snprintf(all, sizeof all, "%" PRIu64, stacks->safepoint);
    snprintf(java, sizeof java, "%" PRIu64, stacks->safepoint_java);
    begin(json, "safepoints", '{');
    put_known(json, "in_jvm_code", stacks->jvm_named > 0, all);
    put_known(json, "below_java", stacks->jvm_named > 0, java);
    put_known(json, "are_lines_exact", doctor->has_arguments,
              doctor->has_debug_info || doctor->is_started_along ? "true" : "false");
    put_bias(json, doctor);
    put_number(json, "samples_waited_for", doctor->all.counters[JW_COUNT_SAMPLES_WAITED_FOR]);
    put_told(json, "ttsp", doctor->ttsp);
    put_number(json, "delays",
               doctor->is_of_agent ? doctor->all.counters[JW_COUNT_SAFEPOINTS_SLOW]
                                   : doctor->all.delays.count);
    put_number(json, "delays_unnamed", doctor->all.delays.unnamed);
    put_number(json, "delays_ns", doctor->all.delays.reach_ns);
    put_number(json, "delays_longest_ns", doctor->all.delays.longest_ns);
    end(json, '}');
}

static void put_cost(struct json *json, const struct cli_doctor *doctor)
{
    static const char *const clocks[] = {
        [JW_COST_CPU] = "cpu", [JW_COST_WALL] = "wall", [JW_COST_HOOK] = "hook"};
    const struct jw_cost_sums *cost = &doctor->all.cost;

    if (!doctor->all.has_cost) {
        put_told(json, "cost", "");
        return;
    }
    begin(json, "cost", '{');
    put_number(json, "process_ns", cost->process_ns);
    put_number(json, "handlers_ns", cost->handlers_ns);
    put_number(json, "handlers_doubt_ns", cost->doubt_ns);
    put_number(json, "kernel_ns", cost->kernel_ns);
    put_number(json, "own_threads_ns", cost->own_ns);
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++) {
        const struct cli_doctor_handlers *handlers = &doctor->all.handlers[i];

        if (i == JW_COST_HOOK && handlers->count == 0)
            continue;
        begin(json, clocks[i], '{');
        put_number(json, "handlers", handlers->count);
        put_number(json, "median_ns", handlers->median_ns);
        put_number(json, "p99_ns", handlers->high_ns);
        put_number(json, "longest_ns", handlers->longest_ns);
        put_number(json, "longest_cpu_ns", handlers->longest_cpu_ns);
        end(json, '}');
    }
    end(json, '}');
}

static void put_memory(struct json *json, const struct cli_doctor *doctor)
{
    begin(json, "memory", '[');
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        const struct cli_doctor_memory *memory = &doctor->all.memory[part];

        begin(json, NULL, '{');
        put_text(json, "subsystem", jw_memory_infos[part].name);
        put_number(json, "used_bytes", memory->used_bytes);
        put_number(json, "charged_bytes", memory->charged_bytes);
        put_number(json, "limit_bytes", memory->limit_bytes);
        put_number(json, "refused", memory->refused_count);
        end(json, '}');
    }
    end(json, ']');
}

static void put_jdks(struct json *json, const struct cli_doctor_jdks *jdks)
{
    begin(json, "by_jdk", '[');
    for (size_t i = 0; i < jdks->count; i++) {
        const struct cli_doctor_jdk *row = &jdks->rows[i];

        begin(json, NULL, '{');
        put_told(json, "jvm", row->jvm);
        put_number(json, "recordings", row->recordings);
        put_number(json, "signals", row->signals);
        put_number(json, "samples", row->samples);
        put_number(json, "lost", row->lost);
        put_number(json, "failed_walks", row->failed);
        put_number(json, "stacks", row->stacks);
        put_number(json, "without_java_part", row->gaps);
        put_number(json, "truncated", row->truncated);
        put_number(json, "frozen", row->frozen);
        put_number(json, "compared", row->compared);
        put_number(json, "different", row->different);
        end(json, '}');
    }
    end(json, ']');
}

void cli_doctor_json_begin(FILE *to)
{
    fprintf(to, "{\"schema\":\"%s\",\"recordings\":[", SCHEMA_SEVERAL);
}

void cli_doctor_json_next(const struct cli_doctor *doctor, bool is_first, FILE *to)
{
    if (!is_first)
        fputc(',', to);
    cli_doctor_json(doctor, to);
}

void cli_doctor_json_end(const struct cli_doctor_jdks *jdks, FILE *to)
{
    struct json json = {.to = to, .before = ","};

    fputc(']', to);
    put_jdks(&json, jdks);
    fputs("}\n", to);
}

void cli_doctor_json(const struct cli_doctor *doctor, FILE *to)
{
    struct json json = {.to = to, .before = ""};

    begin(&json, NULL, '{');
    put_text(&json, "schema", SCHEMA);
    put_text(&json, "input", doctor->input);
    put_text(&json, "source", doctor->is_of_agent ? "agent" : "recording");
    put_known(&json, "is_jaywalk", true, doctor->is_jaywalk ? "true" : "false");
    put_text(&json, "verdict", doctor->finding_count == 0 ? "good" : "findings");
    put_findings(&json, doctor);
    put_about(&json, doctor);
    put_signals(&json, doctor);
    put_ledger(&json, doctor);
    put_stacks(&json, doctor);
    put_failures(&json, &doctor->all);
    put_jdks(&json, &doctor->jdks);
    put_walkers(&json, doctor);
    put_safepoints(&json, doctor);
    put_cost(&json, doctor);
    put_memory(&json, doctor);
    end(&json, '}');
    fputc('\n', to);
}
