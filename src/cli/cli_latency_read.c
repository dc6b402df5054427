/* Times of methods out of a recording. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_feed_internal.h"
#include "cli/cli_latency_internal.h"

#define NAME_BYTES 1024u

static const char times_type[] = "jaywalk.MethodLatency", trace_type[] = "jdk.MethodTrace",
                  span_type[] = "jaywalk.Span", count_type[] = "jaywalk.MethodCount",
                  queue_type[] = "jaywalk.QueueTime";

struct reading {
    struct latency *all;
    struct jfr_reader *reader;
    struct jfr_reader_chunk chunk;
    struct jfr_text text;
    struct latency_figures one; /* of an event */
};

/* ---- rows ---- */

static struct latency_row *add_row(struct latency *all, const char *key)
{
    struct latency_row *row;

    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 64 : all->capacity * 2;
        struct latency_row **more = jw_alloc(jw_mul_bytes(capacity, sizeof(struct latency_row *)));

        if (more == NULL)
            return NULL;
        for (size_t i = 0; i < all->count; i++)
            more[i] = all->rows[i];
        jw_free(all->rows);
        all->rows = more;
        all->capacity = capacity;
    }
    row = jw_alloc(sizeof *row);
    if (row == NULL)
        return NULL;
    row->name = jw_alloc(strlen(key));
    if (row->name == NULL) {
        jw_free(row);
        return NULL;
    }
    strcpy(row->name, key + 1);
    row->kind = (enum latency_kind)(key[0] - '0');
    all->rows[all->count++] = row;
    return row;
}

/* `key`: a digit of enum latency_kind, and the name. NULL: there is no room. */
static struct latency_row *row_of(struct latency *all, const char *key)
{
    uint64_t *known = jw_map_put(&all->index, key, strlen(key));
    struct latency_row *row;

    all->is_out_of_memory |= known == NULL;
    if (known == NULL)
        return NULL;
    if (*known != 0)
        return all->rows[*known - 1];
    if (all->count == LATENCY_ROWS) {
        all->left_out++;
        return NULL;
    }
    row = add_row(all, key);
    all->is_out_of_memory |= row == NULL;
    if (row != NULL)
        *known = all->count;
    return row;
}

static void put_text(const struct jfr_value *value, const char *field_name, struct reading *reading,
                     char *to, size_t *used_bytes)
{
    struct jfr_value field;

    if (!jfr_value_field(value, field_name, &field) || !jfr_value_text(&field, &reading->text))
        return;
    for (const char *at = reading->text.text; *at != '\0' && *used_bytes + 1 < NAME_BYTES; at++)
        to[(*used_bytes)++] = *at == '/' ? '.' : *at;
    to[*used_bytes] = '\0';
}

static struct latency_row *
row_of_event(struct reading *reading, const struct jfr_reader_event *event, enum latency_kind kind)
{
    char key[NAME_BYTES] = {(char)('0' + kind)};
    struct jfr_value method, type;
    size_t used = 1;

    if (!jfr_value_field(&event->value, "method", &method) || jfr_value_key(&method) == 0)
        return NULL;
    if (jfr_value_field(&method, "type", &type))
        put_text(&type, "name", reading, key, &used);
    if (used + 1 < sizeof key)
        key[used++] = '.';
    put_text(&method, "name", reading, key, &used);
    return row_of(reading->all, key);
}

/* Of a lambda the class that it stands in: what follows is a number that differs from one run to the next. */
static void cut_lambda(char *key, size_t *used_bytes)
{
    static const char mark[] = "$$Lambda";
    char *found = strstr(key + 1, mark);

    if (found == NULL)
        return;
    found[sizeof mark - 1] = '\0';
    *used_bytes = strlen(key);
}

static void put_class(const struct jfr_reader_event *event, const char *field_name,
                      struct reading *reading, char *to, size_t *used_bytes)
{
    struct jfr_value klass;

    if (jfr_value_field(&event->value, field_name, &klass) && jfr_value_key(&klass) != 0)
        put_text(&klass, "name", reading, to, used_bytes);
}

static struct latency_row *row_of_task(struct reading *reading,
                                       const struct jfr_reader_event *event)
{
    static const char in[] = " in ";
    char key[NAME_BYTES] = {'0' + LATENCY_QUEUED};
    size_t used = 1;

    put_class(event, "taskClass", reading, key, &used);
    cut_lambda(key, &used);
    if (used + sizeof in > sizeof key)
        return row_of(reading->all, key);
    memcpy(key + used, in, sizeof in);
    used += sizeof in - 1;
    put_class(event, "executorClass", reading, key, &used);
    return row_of(reading->all, key);
}

/* ---- figures ---- */

static void add(struct latency_figures *to, const struct latency_figures *from)
{
    if (from->count == 0)
        return;
    if (to->count == 0 || from->least_ns < to->least_ns)
        to->least_ns = from->least_ns;
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
    to->count += from->count;
    to->total_ns += from->total_ns;
    to->elapsed_ns += from->elapsed_ns;
    for (uint32_t i = 0; i < PROBE_OWN_COUNTS; i++)
        to->counts[i] += from->counts[i];
}

/* "100352:6 101376:10": what cannot be read ends it. */
static void read_histogram(const char *text, struct latency_figures *out)
{
    char *end;

    for (const char *at = text; *at != '\0'; at = *end == ' ' ? end + 1 : end) {
        const unsigned long long ns = strtoull(at, &end, 10);

        if (end == at || *end != ':')
            return;
        at = end + 1;
        const unsigned long long count = strtoull(at, &end, 10);
        if (end == at)
            return;
        out->counts[probe_own_step(ns)] += count;
        out->count += count;
    }
}

/* Whether what the event says is of all calls so far. All of one moment are methods of that name with other parameters, or the same class of another loader. */
static bool is_last(const struct jfr_reader_event *event, struct latency_row *row)
{
    const uint64_t elapsed_ns = row == NULL ? 0 : cli_number_of(event, "elapsed");

    if (row == NULL || elapsed_ns < row->file.elapsed_ns)
        return false;
    if (elapsed_ns > row->file.elapsed_ns) {
        memset(&row->file, 0, sizeof row->file);
        row->file.elapsed_ns = elapsed_ns;
    }
    return true;
}

static void take_count(struct reading *reading, const struct jfr_reader_event *event)
{
    struct latency_row *row = row_of_event(reading, event, LATENCY_COUNTED);

    if (is_last(event, row))
        row->file.count += cli_number_of(event, "invocations");
}

static void take_times(struct reading *reading, const struct jfr_reader_event *event)
{
    struct latency_row *row = row_of_event(reading, event, LATENCY_ALL);
    struct latency_figures *one = &reading->one;
    struct jfr_value field;

    if (!is_last(event, row))
        return;
    memset(one, 0, sizeof *one);
    one->total_ns = cli_number_of(event, "total");
    one->least_ns = cli_number_of(event, "minimum");
    one->most_ns = cli_number_of(event, "maximum");
    if (jfr_value_field(&event->value, "histogram", &field) &&
        jfr_value_text(&field, &reading->text))
        read_histogram(reading->text.text, one);
    add(&row->file, one);
}

static void take_duration(struct reading *reading, const struct jfr_reader_event *event,
                          struct latency_row *row)
{
    int64_t ns;

    if (row == NULL || !cli_duration_ns(&reading->chunk, event, &ns) || ns < 0)
        return;
    struct latency_figures *to = &row->file;
    if (to->count == 0 || (uint64_t)ns < to->least_ns)
        to->least_ns = (uint64_t)ns;
    if ((uint64_t)ns > to->most_ns)
        to->most_ns = (uint64_t)ns;
    to->count++;
    to->total_ns += (uint64_t)ns;
    to->counts[probe_own_step((uint64_t)ns)]++;
}

static struct latency_row *row_of_span(struct reading *reading,
                                       const struct jfr_reader_event *event)
{
    char key[NAME_BYTES] = {'0' + LATENCY_SPANS};
    struct jfr_value name;

    if (!jfr_value_field(&event->value, "name", &name) || !jfr_value_text(&name, &reading->text) ||
        reading->text.length_bytes == 0)
        return NULL;
    snprintf(key + 1, sizeof key - 1, "%s", reading->text.text);
    return row_of(reading->all, key);
}

/* The call that ends the search is in the middle of its step. */
uint64_t latency_percentile_ns(const struct latency_figures *figures, unsigned thousandths)
{
    const uint64_t wanted =
        (uint64_t)(((unsigned __int128)figures->count * thousandths + 999) / 1000);
    uint64_t seen = 0;
    uint32_t step = 0;

    for (; step + 1 < PROBE_OWN_COUNTS; step++) {
        seen += figures->counts[step];
        if (seen >= wanted && seen > 0)
            break;
    }
    const uint64_t from_ns = probe_own_step_ns(step);
    const uint64_t ns = from_ns + (probe_own_step_ns(step + 1) - from_ns) / 2;
    return ns < figures->least_ns  ? figures->least_ns
           : ns > figures->most_ns ? figures->most_ns
                                   : ns;
}

/* ---- a file ---- */

static void read_chunks(struct reading *reading, struct jw_error *err)
{
    struct jfr_reader_event event;

    while (!reading->all->is_out_of_memory &&
           jfr_reader_next_types(reading->reader, &reading->chunk, err)) {
        reading->all->recorded_ns += reading->chunk.duration_ns;
        if (!jfr_reader_has_event(reading->reader, times_type) &&
            !jfr_reader_has_event(reading->reader, count_type) &&
            !jfr_reader_has_event(reading->reader, trace_type) &&
            !jfr_reader_has_event(reading->reader, span_type) &&
            !jfr_reader_has_event(reading->reader, queue_type))
            continue;
        if (!jfr_reader_begin_events(reading->reader, err))
            return;
        while (!reading->all->is_out_of_memory &&
               jfr_reader_next_event(reading->reader, &event, err)) {
            if (strcmp(event.type_name, times_type) == 0)
                take_times(reading, &event);
            else if (strcmp(event.type_name, count_type) == 0)
                take_count(reading, &event);
            else if (strcmp(event.type_name, trace_type) == 0)
                take_duration(reading, &event, row_of_event(reading, &event, LATENCY_TRACED));
            else if (strcmp(event.type_name, span_type) == 0)
                take_duration(reading, &event, row_of_span(reading, &event));
            else if (strcmp(event.type_name, queue_type) == 0)
                take_duration(reading, &event, row_of_task(reading, &event));
        }
        if (err->message[0] != '\0')
            return;
    }
}

bool latency_read(struct latency *all, const char *path, struct jw_error *err)
{
    struct reading reading = {.all = all, .reader = jfr_reader_open(path, err)};

    if (reading.reader == NULL)
        return false;
    read_chunks(&reading, err);
    jfr_reader_close(reading.reader);
    jfr_text_free(&reading.text);
    for (size_t i = 0; i < all->count; i++) {
        add(&all->rows[i]->all, &all->rows[i]->file);
        memset(&all->rows[i]->file, 0, sizeof all->rows[i]->file);
    }
    if (all->is_out_of_memory)
        jw_error_set(err, "%s: out of memory for its methods; free some", path);
    return err->message[0] == '\0';
}

void latency_close(struct latency *all)
{
    for (size_t i = 0; i < all->count; i++) {
        jw_free(all->rows[i]->name);
        jw_free(all->rows[i]);
    }
    jw_free(all->rows);
    jw_map_close(&all->index);
}
