/* `jaywalk summary`: what is in recordings, and whether they are whole. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "cli/cli_feed_internal.h"
#include "cli/cli_files_internal.h"
#include "cli/cli_text_internal.h"
#include "jfr/jfr_reader.h"

#define TYPE_SLOTS   1024u /* types of one chunk; a power of two */
#define SETTINGS_MAX 64
#define TEXT_BYTES   256

struct row {
    char *name;
    uint64_t count;
    uint64_t bytes;
};

/* Of events, or of constants. */
struct rows {
    struct row *rows;
    size_t count;
    size_t capacity;
    uint64_t all, bytes; /* of all rows */
};

struct summary {
    struct rows events, constants;
    struct {
        const struct jfr_reader_type *type;
        size_t row;
    } types[TYPE_SLOTS]; /* of this chunk */
    size_t type_count;

    uint64_t chunks;
    uint64_t file_bytes, bytes;
    uint64_t start_ns, end_ns; /* since the Unix epoch */
    bool is_of_jaywalk;
    bool is_final; /* the last chunk says that the recording ended with it */
    uint64_t
        lost; /* samples that jaywalk's counters call lost, before the last recording began anew, and of it */
    uint64_t lost_now;
    uint64_t signals_now;
    uint64_t lost_bytes; /* jdk.DataLoss */
    uint64_t pid;
    char jvm[TEXT_BYTES];
    char settings[SETTINGS_MAX][TEXT_BYTES]; /* of the recorder: "interval=10 ms" */
    size_t setting_count;
    char damage[sizeof((struct jw_error *)NULL)->message]; /* "": whole */
    struct jfr_text text;
};

static void forget_rows(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        jw_free(rows->rows[i].name);
    jw_free(rows->rows);
}

static void forget(struct summary *summary)
{
    forget_rows(&summary->events);
    forget_rows(&summary->constants);
    jfr_text_free(&summary->text);
}

/* The row of a type; NULL: memory is out. */
static struct row *row_of(struct rows *rows, const char *type_name)
{
    const size_t name_bytes = strlen(type_name) + 1;

    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i].name, type_name) == 0)
            return &rows->rows[i];
    }
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        struct row *grown = jw_realloc(rows->rows, jw_mul_bytes(capacity, sizeof *grown));

        if (grown == NULL)
            return NULL;
        rows->rows = grown;
        rows->capacity = capacity;
    }
    struct row *row = &rows->rows[rows->count];
    *row = (struct row){.name = jw_alloc(name_bytes)};
    if (row->name == NULL)
        return NULL;
    memcpy(row->name, type_name, name_bytes);
    rows->count++;
    return row;
}

static void add(struct rows *rows, struct row *row, uint64_t count, uint64_t bytes)
{
    row->count += count;
    row->bytes += bytes;
    rows->all += count;
    rows->bytes += bytes;
}

/* Types stand at one place while their chunk is read. */
static bool count(struct summary *summary, const struct jfr_reader_event *event)
{
    uint32_t at = (uint32_t)jw_hash_word((uintptr_t)event->type) & (TYPE_SLOTS - 1);

    while (summary->types[at].type != NULL && summary->types[at].type != event->type)
        at = (at + 1) & (TYPE_SLOTS - 1);

    struct row *row;
    if (summary->types[at].type != NULL) {
        row = &summary->events.rows[summary->types[at].row];
    } else {
        row = row_of(&summary->events, event->type_name);
        if (row == NULL)
            return false;
        if (summary->type_count < TYPE_SLOTS / 2) {
            summary->types[at].type = event->type;
            summary->types[at].row = (size_t)(row - summary->events.rows);
            summary->type_count++;
        }
    }
    add(&summary->events, row, 1, event->size_bytes);
    return true;
}

/* The names, stacks and threads of the chunk in hand. False: no memory. */
static bool count_constants(struct summary *summary, const struct jfr_reader *reader)
{
    struct jfr_pool pools[TYPE_SLOTS];
    const size_t count = jfr_reader_pools(reader, pools, TYPE_SLOTS);

    for (size_t i = 0; i < count; i++) {
        struct row *row = row_of(&summary->constants, pools[i].type_name);

        if (row == NULL)
            return false;
        add(&summary->constants, row, pools[i].count, pools[i].bytes);
    }
    return true;
}

static const char *text_of(struct summary *summary, const struct jfr_reader_event *event,
                           const char *field)
{
    struct jfr_value value;

    return jfr_value_field(&event->value, field, &value) && jfr_value_text(&value, &summary->text)
               ? summary->text.text
               : "";
}

static void take_setting(struct summary *summary, const struct jfr_reader_event *event)
{
    static const char *const of_each_event[] = {"enabled", "stackTrace", "threshold",
                                                "period",  "throttle",   "cutoff"};
    char setting[TEXT_BYTES], name[64];

    snprintf(name, sizeof name, "%s", text_of(summary, event, "name"));
    for (size_t i = 0; i < JW_COUNT_OF(of_each_event); i++) {
        if (strcmp(name, of_each_event[i]) == 0)
            return;
    }
    snprintf(setting, sizeof setting, "%s=%s", name, text_of(summary, event, "value"));
    for (size_t i = 0; i < summary->setting_count; i++) {
        if (strcmp(summary->settings[i], setting) == 0)
            return;
    }
    if (summary->setting_count < SETTINGS_MAX)
        memcpy(summary->settings[summary->setting_count++], setting, sizeof setting);
}

static void take_counters(struct summary *summary, const struct jfr_reader_event *event)
{
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;

    cli_read_counters(event, counts, &in_flight);
    /* Each event holds the sums since its recording began. */
    if (counts[JW_COUNT_SIGNALS] < summary->signals_now)
        summary->lost += summary->lost_now;
    summary->signals_now = counts[JW_COUNT_SIGNALS];
    summary->lost_now = 0;
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        summary->lost_now += jw_counter_infos[i].is_loss ? counts[i] : 0;
}

static void look(struct summary *summary, const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.ActiveSetting") == 0) {
        take_setting(summary, event);
    } else if (strcmp(event->type_name, "jaywalk.Diagnostics") == 0) {
        take_counters(summary, event);
    } else if (strcmp(event->type_name, "jdk.DataLoss") == 0) {
        summary->lost_bytes += cli_number_of(event, "amount");
    } else if (strcmp(event->type_name, "jdk.JVMInformation") == 0) {
        snprintf(summary->jvm, sizeof summary->jvm, "%s", text_of(summary, event, "jvmVersion"));
        summary->pid = cli_number_of(event, "pid");
    }
}

/* Of these few there are many in no recording but their facts are wanted. */
static bool is_looked_at(const char *name)
{
    return name[0] == 'j' &&
           (strcmp(name, "jdk.ActiveSetting") == 0 || strcmp(name, "jaywalk.Diagnostics") == 0 ||
            strcmp(name, "jdk.DataLoss") == 0 || strcmp(name, "jdk.JVMInformation") == 0);
}

static void begin_chunk(struct summary *summary, const struct jfr_reader *reader,
                        const struct jfr_reader_chunk *chunk)
{
    const uint64_t end_ns = chunk->start_unix_ns + chunk->duration_ns;

    memset(summary->types, 0, sizeof summary->types);
    summary->type_count = 0;
    if (summary->chunks == 0 || chunk->start_unix_ns < summary->start_ns)
        summary->start_ns = chunk->start_unix_ns;
    if (end_ns > summary->end_ns)
        summary->end_ns = end_ns;
    summary->chunks++;
    summary->bytes += chunk->size_bytes;
    summary->is_final = chunk->is_final;
    summary->is_of_jaywalk |= jfr_reader_has_event(reader, "jaywalk.Diagnostics");
}

/* False: not even its first chunk could be read, and `err` says why. */
static bool read_file(struct summary *summary, const char *path, bool is_quiet,
                      struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct cli_progress progress;
    bool is_good = reader != NULL;

    if (!is_good)
        return false;
    summary->file_bytes = jfr_reader_size_bytes(reader);
    cli_progress_begin(&progress, is_quiet);
    while (is_good && jfr_reader_next_chunk(reader, &chunk, err)) {
        begin_chunk(summary, reader, &chunk);
        is_good = count_constants(summary, reader);
        while (is_good && jfr_reader_next_event(reader, &event, err)) {
            is_good = count(summary, &event);
            if (is_looked_at(event.type_name))
                look(summary, &event);
            if (summary->events.all % 65536 == 0)
                cli_progress_show(&progress, "reading", jfr_reader_position_bytes(reader),
                                  jfr_reader_size_bytes(reader));
        }
    }
    cli_progress_end(&progress);
    if (!is_good)
        jw_error_set(err, "%s: out of memory; free some and try again", path);
    else if (summary->chunks > 0)
        snprintf(summary->damage, sizeof summary->damage, "%s",
                 err->message[0] != '\0' ? err->message : jfr_reader_notice(reader));
    jfr_reader_close(reader);
    return is_good && summary->chunks > 0;
}

/* ---- what is shown ---- */

static int by_bytes(const void *left, const void *right)
{
    const struct row *one = left, *other = right;

    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    return strcmp(one->name, other->name);
}

static void time_text(uint64_t unix_ns, char text[64])
{
    const time_t seconds = (time_t)(unix_ns / JW_NS_PER_SECOND);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, 64, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        snprintf(text, 64, "%" PRIu64 " ns", unix_ns);
}

static void put_line(const char *name, const char *text)
{
    printf("  %-10s", name);
    cli_put(text, stdout);
    putchar('\n');
}

static void show_rows(const struct rows *rows, const char *title)
{
    char first[32], second[32];

    printf("\n  %-44s %14s %16s\n", title, "count", "bytes");
    for (size_t i = 0; i < rows->count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%.44s", rows->rows[i].name);
        cli_text_digits(rows->rows[i].count, first);
        cli_text_digits(rows->rows[i].bytes, second);
        fputs("  ", stdout);
        cli_put(name, stdout);
        printf("%*s %14s %16s\n", (int)(44 - cli_text_width(name)), "", first, second);
    }
    cli_text_digits(rows->all, first);
    cli_text_digits(rows->bytes, second);
    printf("  %-44s %14s %16s\n", "all", first, second);
}

static void show_bytes(const struct summary *summary)
{
    const uint64_t told = summary->events.bytes + summary->constants.bytes;
    char digits[32];

    show_rows(&summary->events, "Events");
    show_rows(&summary->constants, "Constants (names, stacks, threads)");
    /* Of a damaged file more may be told than there is. */
    cli_text_digits(summary->bytes > told ? summary->bytes - told : 0, digits);
    printf("\n  %-44s %14s %16s\n", "Types, heads of chunks and free room", "", digits);
}

static void show_losses(const struct summary *summary)
{
    char text[128], digits[32];

    if (summary->is_of_jaywalk) {
        cli_text_digits(summary->lost + summary->lost_now, digits);
        snprintf(text, sizeof text, "%s samples; 'jaywalk doctor' says why", digits);
        put_line("Lost", summary->lost + summary->lost_now == 0 ? "no samples" : text);
    } else if (summary->lost_bytes > 0) {
        cli_text_digits(summary->lost_bytes, digits);
        snprintf(text, sizeof text, "%s bytes of events, as its recorder says (jdk.DataLoss)",
                 digits);
        put_line("Lost", text);
    }
}

static void show(const struct summary *summary, const char *path)
{
    char text[512], digits[32], more[32];

    cli_put(path, stdout);
    putchar('\n');
    put_line("Whole", summary->damage[0] == '\0' ? "yes" : summary->damage);
    cli_text_digits(summary->bytes, digits);
    cli_text_digits(summary->file_bytes, more);
    if (summary->bytes == summary->file_bytes)
        snprintf(text, sizeof text, "%s bytes, %" PRIu64 " chunk%s", digits, summary->chunks,
                 summary->chunks == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "%s bytes, %" PRIu64 " chunk%s, in a file of %s bytes", digits,
                 summary->chunks, summary->chunks == 1 ? "" : "s", more);
    put_line("Size", text);
    time_text(summary->start_ns, text);
    put_line("Start", text);
    const uint64_t length_ms = (summary->end_ns - summary->start_ns) / JW_NS_PER_MS;
    snprintf(text, sizeof text, "%" PRIu64 ".%03u s", length_ms / 1000,
             (unsigned)(length_ms % 1000));
    put_line("Length", text);
    if (summary->is_of_jaywalk && !summary->is_final)
        put_line("End", "not that of a session: its JVM was killed or goes on, or this is a part");
    if (summary->jvm[0] != '\0') {
        snprintf(text, sizeof text, "%s, process %" PRIu64, summary->jvm, summary->pid);
        put_line("JVM", text);
    }
    show_losses(summary);
    for (size_t i = 0; i < summary->setting_count; i++)
        put_line(i == 0 ? "Settings" : "", summary->settings[i]);
    show_bytes(summary);
}

static void show_json_rows(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        fputs(i == 0 ? "{\"name\":" : ",{\"name\":", stdout);
        cli_text_json(rows->rows[i].name, stdout);
        printf(",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", rows->rows[i].count,
               rows->rows[i].bytes);
    }
}

static void show_json(const struct summary *summary, const char *path)
{
    fputs("{\"file\":", stdout);
    cli_text_json(path, stdout);
    printf(",\"whole\":%s,\"final\":%s,\"notice\":", summary->damage[0] == '\0' ? "true" : "false",
           summary->is_final ? "true" : "false");
    cli_text_json(summary->damage, stdout);
    printf(",\"fileBytes\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"chunks\":%" PRIu64
           ",\"startNs\":%" PRIu64 ",\"endNs\":%" PRIu64 ",\"jvm\":",
           summary->file_bytes, summary->bytes, summary->chunks, summary->start_ns,
           summary->end_ns);
    cli_text_json(summary->jvm, stdout);
    printf(",\"pid\":%" PRIu64 ",\"lostSamples\":", summary->pid);
    if (summary->is_of_jaywalk)
        printf("%" PRIu64, summary->lost + summary->lost_now);
    else
        fputs("null", stdout);
    printf(",\"lostBytes\":%" PRIu64 ",\"settings\":[", summary->lost_bytes);
    for (size_t i = 0; i < summary->setting_count; i++) {
        fputs(i == 0 ? "" : ",", stdout);
        cli_text_json(summary->settings[i], stdout);
    }
    fputs("],\"events\":[", stdout);
    show_json_rows(&summary->events);
    fputs("],\"constants\":[", stdout);
    show_json_rows(&summary->constants);
    fputs("]}", stdout);
}

/* CLI_FAILED: it cannot be read, or `is_strict` and it is not whole. */
static int summarize(struct summary *summary, const char *path, const struct cli_values *values,
                     bool is_first)
{
    struct jw_error err = {{0}};

    memset(summary, 0, sizeof *summary);
    const bool is_read = read_file(summary, path, values->is_quiet, &err);
    if (summary->events.count > 1)
        qsort(summary->events.rows, summary->events.count, sizeof *summary->events.rows, by_bytes);
    if (summary->constants.count > 1)
        qsort(summary->constants.rows, summary->constants.count, sizeof *summary->constants.rows,
              by_bytes);
    if (!is_read)
        cli_complain("%s", err.message);
    else if (values->has_json) {
        fputs(is_first ? "" : ",\n", stdout);
        show_json(summary, path);
    } else {
        fputs(is_first ? "" : "\n", stdout);
        show(summary, path);
    }
    const bool is_whole = is_read && summary->damage[0] == '\0';
    forget(summary);
    return is_whole || (is_read && !values->is_strict) ? CLI_OK : CLI_FAILED;
}

int cli_summary(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_SUMMARY];
    struct cli_files files = {.count = 0};
    struct jw_error err = {{0}};
    int status = CLI_OK;

    if (values->operands.count == 0) {
        jw_error_set(&err, "summary: a recording is needed; usage: %s", command->usage);
        return cli_usage_error(command, &err);
    }
    struct summary *summary = jw_alloc(sizeof *summary);
    if (summary == NULL ||
        !cli_files_gather(&values->operands, values->operands.count, &files, &err)) {
        cli_complain("%s", summary == NULL ? "no memory" : err.message);
        status = CLI_FAILED;
    }
    bool is_first = true;
    if (values->has_json && status == CLI_OK)
        fputs("{\"schema\":\"jaywalk.summary/1\",\"recordings\":[\n", stdout);
    for (size_t i = 0; i < files.count && summary != NULL && err.message[0] == '\0'; i++) {
        const long before = (long)is_first;

        if (summarize(summary, files.paths[i], values, is_first) != CLI_OK)
            status = CLI_FAILED;
        is_first = before && summary->chunks == 0;
    }
    if (values->has_json && err.message[0] == '\0' && summary != NULL)
        fputs("\n]}\n", stdout);
    jw_free(summary);
    cli_files_close(&files);
    return cli_end_output(status);
}
