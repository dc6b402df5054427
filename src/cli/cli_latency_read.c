/* Times of methods out of a recording. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_feed_internal.h"
#include "cli/cli_latency_internal.h"
#include "profile/profile.h"

#define NAME_BYTES 1024u

struct reading {
    struct latency *all;
    const struct latency_wish *wished;
    struct cli_wish wish;
    struct cli_found found;
    struct cli_requests *requests;
    struct cli_feed feed; /* reader, chunk, what the part needs */
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
    char *const boxes = strchr(row->name, LATENCY_BOX);
    row->boxes = boxes == NULL ? "" : boxes + 1;
    if (boxes != NULL)
        *boxes = '\0';
    row->kind = (enum latency_kind)(key[0] - '0');
    all->rows[all->count++] = row;
    return row;
}

/* `key`: a digit of enum latency_kind, the name, and boxes, each behind its mark. NULL: there is no room. */
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

/* Of what is recorded one by one. */
static struct latency_row *row_in_boxes(struct reading *reading,
                                        const struct jfr_reader_event *event, char key[NAME_BYTES])
{
    const struct cli_bys *bys = &reading->wished->bys;
    size_t used = strlen(key);

    for (size_t i = 0; i < bys->count && used + 2 < NAME_BYTES; i++) {
        key[used++] = LATENCY_BOX;
        cli_box_text(&reading->feed, &bys->items[i], event, key + used, NAME_BYTES - used);
        for (; key[used] != '\0'; used++)
            if (key[used] == LATENCY_BOX)
                key[used] = ' ';
    }
    return row_of(reading->all, key);
}

/* False: there is none. */
static bool put_method(struct reading *reading, const struct jfr_reader_event *event,
                       char key[NAME_BYTES], size_t *used_bytes)
{
    struct jfr_value method, type;

    if (!jfr_value_field(&event->value, "method", &method) || jfr_value_key(&method) == 0)
        return false;
    if (jfr_value_field(&method, "type", &type))
        put_text(&type, "name", reading, key, used_bytes);
    if (*used_bytes + 1 < NAME_BYTES)
        key[(*used_bytes)++] = '.';
    put_text(&method, "name", reading, key, used_bytes);
    return true;
}

static struct latency_row *
row_of_event(struct reading *reading, const struct jfr_reader_event *event, enum latency_kind kind)
{
    char key[NAME_BYTES] = {(char)('0' + kind)};
    size_t used = 1;

    if (!put_method(reading, event, key, &used))
        return NULL;
    return kind == LATENCY_TRACED ? row_in_boxes(reading, event, key) : row_of(reading->all, key);
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
        return row_in_boxes(reading, event, key);
    memcpy(key + used, in, sizeof in);
    used += sizeof in - 1;
    put_class(event, "executorClass", reading, key, &used);
    return row_in_boxes(reading, event, key);
}

/* "[Lcom.acme.Order;" as "com.acme.Order[]"; it ends the text. */
static void put_dimensions(char *name, size_t room_bytes, size_t *used_bytes)
{
    const size_t dimensions = strspn(name, "[");
    const size_t length = strlen(name + dimensions);
    const char *primitive = length == 1 ? profile_primitive(name[dimensions]) : NULL;
    char element[NAME_BYTES];

    if (dimensions == 0 || length == 0)
        return;
    if (name[dimensions] == 'L' && length > 2)
        snprintf(element, sizeof element, "%.*s", (int)length - 2, name + dimensions + 1);
    else
        snprintf(element, sizeof element, "%s", primitive == NULL ? name + dimensions : primitive);
    *used_bytes -= dimensions + length;
    size_t used = (size_t)snprintf(name, room_bytes, "%s", element);
    for (size_t i = 0; i < dimensions && used + 3 <= room_bytes; i++, used += 2)
        memcpy(name + used, "[]", 3);
    *used_bytes += strlen(name);
}

static struct latency_row *row_of_made(struct reading *reading,
                                       const struct jfr_reader_event *event)
{
    static const char in[] = " in ";
    char key[NAME_BYTES] = {'0' + LATENCY_MADE};
    size_t used = 1;

    put_class(event, "objectClass", reading, key, &used);
    put_dimensions(key + 1, sizeof key - 1, &used);
    if (used + sizeof in > sizeof key)
        return row_of(reading->all, key);
    memcpy(key + used, in, sizeof in);
    used += sizeof in - 1;
    if (!put_method(reading, event, key, &used))
        snprintf(key + used, sizeof key - used, "[several methods]");
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

static void take_made(struct reading *reading, const struct jfr_reader_event *event)
{
    struct latency_row *row = row_of_made(reading, event);

    if (is_last(event, row))
        row->file.count += cli_number_of(event, "count");
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

    if (row == NULL || !cli_duration_ns(&reading->feed.chunk, event, &ns) || ns < 0)
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
    return row_in_boxes(reading, event, key);
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

enum { SOURCE_TIMES, SOURCE_COUNT, SOURCE_MADE, SOURCE_TRACE, SOURCE_SPAN, SOURCE_QUEUE };

static const char *const sources[] = {
    [SOURCE_TIMES] = "jaywalk.MethodLatency", [SOURCE_COUNT] = "jaywalk.MethodCount",
    [SOURCE_MADE] = "jaywalk.ObjectCount",    [SOURCE_TRACE] = "jdk.MethodTrace",
    [SOURCE_SPAN] = "jaywalk.Span",           [SOURCE_QUEUE] = "jaywalk.QueueTime",
};

static void take_one(struct reading *reading, const struct jfr_reader_event *event, int source)
{
    struct latency_row *row;

    if (!cli_is_in_part(&reading->feed, event)) {
        reading->all->unwanted++;
        return;
    }
    if (source == SOURCE_TRACE)
        row = row_of_event(reading, event, LATENCY_TRACED);
    else
        row = source == SOURCE_SPAN ? row_of_span(reading, event) : row_of_task(reading, event);
    take_duration(reading, event, row);
}

static void take(struct reading *reading, const struct jfr_reader_event *event)
{
    const bool is_part = reading->wished->words[0] != '\0';

    for (int i = 0; i < (int)JW_COUNT_OF(sources); i++) {
        if (strcmp(event->type_name, sources[i]) != 0)
            continue;
        if (i > SOURCE_MADE)
            take_one(reading, event, i);
        else if (is_part)
            reading->all->has_sums = true;
        else if (i == SOURCE_TIMES)
            take_times(reading, event);
        else if (i == SOURCE_COUNT)
            take_count(reading, event);
        else
            take_made(reading, event);
        return;
    }
}

static bool has_any(struct jfr_reader *reader)
{
    for (size_t i = 0; i < JW_COUNT_OF(sources); i++)
        if (jfr_reader_has_event(reader, sources[i]))
            return true;
    return false;
}

static void read_chunks(struct reading *reading, struct cli_progress *progress,
                        struct jw_error *err)
{
    struct jfr_reader *reader = reading->feed.reader;
    struct jfr_reader_event event;

    while (!reading->all->is_out_of_memory &&
           jfr_reader_next_types(reader, &reading->feed.chunk, err)) {
        reading->all->recorded_ns += reading->feed.chunk.duration_ns;
        if (!has_any(reader))
            continue;
        if (!jfr_reader_begin_events(reader, err))
            return;
        cli_feed_forget(&reading->feed);
        while (!reading->all->is_out_of_memory && jfr_reader_next_event(reader, &event, err)) {
            take(reading, &event);
            cli_progress_show(progress, "reading", jfr_reader_position_bytes(reader),
                              jfr_reader_size_bytes(reader));
        }
        if (err->message[0] != '\0')
            return;
    }
}

bool latency_read(struct latency *all, const char *path, const struct latency_wish *wish,
                  struct jw_error *err)
{
    struct reading *reading = jw_alloc(sizeof *reading);
    struct cli_progress progress;

    if (reading == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    reading->all = all;
    reading->wished = wish;
    reading->wish.part = wish->part;
    reading->wish.bys = &wish->bys;
    reading->feed.wish = &reading->wish;
    reading->feed.found = &reading->found;
    if (cli_requests_settle(wish->part, &wish->bys, path, wish->is_quiet, &reading->requests, err))
        reading->feed.reader = jfr_reader_open(path, err);
    reading->feed.requests = reading->requests;
    if (reading->feed.reader != NULL) {
        cli_progress_begin(&progress, wish->is_quiet);
        read_chunks(reading, &progress, err);
        cli_progress_end(&progress);
    }
    all->is_out_of_memory |= reading->feed.is_out_of_memory;
    jfr_text_free(&reading->text);
    cli_feed_close(&reading->feed);
    cli_requests_close(reading->requests);
    jw_free(reading);
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
