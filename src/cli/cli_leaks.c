/* Live objects of recordings, summed up by class and by stack. Context: tool. */
#include "cli/cli_leaks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_text_internal.h"

#define LIVE_TYPE  "jaywalk.LiveObject"
#define OTHER_TYPE "profiler.LiveObject"
#define STACK_BYTES                                                                                \
    ((size_t)16 << 10) /* of a stack's text; what is further from the leaf is left out */

/* What is kept while a file is read. */
struct reading {
    struct leaks *leaks;
    enum leaks_side side;
    int64_t time_ns; /* of the set; 0: any */
    struct jfr_reader *reader;
    struct jfr_reader_chunk chunk;
    struct jfr_text text;
    struct jfr_method method;
    struct jw_map stacks; /* of this chunk: key of a trace -> where its text begins + 1 */
    char *texts;          /* of this chunk, each with a NUL */
    size_t used_bytes, capacity_bytes;
};

int64_t leaks_time_ns(const struct jfr_reader_chunk *chunk, const struct jfr_reader_event *event)
{
    const __int128 ticks = (__int128)event->start_ticks - (__int128)chunk->start_ticks;

    return chunk->ticks_per_second <= 0
               ? (int64_t)chunk->start_unix_ns
               : (int64_t)((__int128)chunk->start_unix_ns +
                           ticks * (int64_t)JW_NS_PER_SECOND / chunk->ticks_per_second);
}

/* The next chunk that has such events; false at the end, or `err`. */
static bool next_chunk(struct jfr_reader *reader, struct jfr_reader_chunk *chunk,
                       struct jw_error *err)
{
    while (jfr_reader_next_types(reader, chunk, err)) {
        if (!jfr_reader_has_event(reader, LIVE_TYPE) && !jfr_reader_has_event(reader, OTHER_TYPE))
            continue;
        return jfr_reader_begin_events(reader, err);
    }
    return false;
}

bool leaks_find_sets(const char *path, struct leaks_sets *out, bool is_quiet, struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct cli_progress progress;

    *out = (struct leaks_sets){0};
    if (reader == NULL)
        return false;
    cli_progress_begin(&progress, is_quiet);
    while (next_chunk(reader, &chunk, err)) {
        while (jfr_reader_next_event(reader, &event, err)) {
            cli_progress_show(&progress, "looking for live objects",
                              jfr_reader_position_bytes(reader), jfr_reader_size_bytes(reader));
            if (strcmp(event.type_name, LIVE_TYPE) != 0)
                continue;
            const int64_t time_ns = leaks_time_ns(&chunk, &event);

            if (out->count == 0)
                out->first_ns = time_ns;
            out->count += out->count == 0 || time_ns > out->last_ns;
            if (time_ns > out->last_ns)
                out->last_ns = time_ns;
        }
        if (err->message[0] != '\0')
            break;
    }
    cli_progress_end(&progress);
    jfr_reader_close(reader);
    return err->message[0] == '\0';
}

/* ---- rows ---- */

static char *copy_of(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = jw_alloc(bytes);

    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

/* The row of a class, or with a stack of both; SIZE_MAX: no memory. */
static size_t row_at(struct leaks *leaks, struct leaks_table *table, const char *class_name,
                     const char *stack)
{
    const size_t class_bytes = strlen(class_name) + 1;
    const size_t stack_bytes = stack == NULL ? 0 : strlen(stack);
    char *key = jw_alloc(class_bytes + stack_bytes);
    uint64_t *known = NULL;

    if (key != NULL) {
        memcpy(key, class_name, class_bytes);
        if (stack != NULL)
            memcpy(key + class_bytes, stack, stack_bytes);
        known = jw_map_put(&table->index, key, class_bytes + stack_bytes);
    }
    jw_free(key);
    if (known != NULL && *known != 0)
        return (size_t)*known - 1;
    if (known != NULL && table->count == table->capacity) {
        const size_t capacity = table->capacity == 0 ? 256 : 2 * table->capacity;
        void *rows = jw_realloc(table->rows, jw_mul_bytes(capacity, sizeof *table->rows));

        if (rows == NULL) {
            leaks->is_out_of_memory = true;
            return SIZE_MAX;
        }
        table->rows = rows;
        table->capacity = capacity;
    }
    struct leaks_row made = {.class_name = copy_of(class_name),
                             .stack = stack == NULL ? NULL : copy_of(stack)};
    if (known == NULL || made.class_name == NULL || (stack != NULL && made.stack == NULL)) {
        jw_free(made.class_name);
        jw_free(made.stack);
        leaks->is_out_of_memory = true;
        return SIZE_MAX;
    }
    table->rows[table->count++] = made;
    *known = table->count;
    return table->count - 1;
}

static void add_cell(struct leaks_cell *cell, double bytes, double objects)
{
    cell->bytes += bytes;
    cell->objects += objects;
    cell->square += bytes * bytes;
    cell->samples++;
}

static void add_to_row(struct leaks_row *row, enum leaks_side side,
                       const struct leaks_survivor *object, double bytes, double objects)
{
    add_cell(&row->cells[side], bytes, objects);
    if (side != LEAKS_AFTER)
        return;
    if (object->pauses > row->oldest_pauses)
        row->oldest_pauses = object->pauses;
    if (object->age_ns > row->oldest_ns)
        row->oldest_ns = object->age_ns;
}

static void note_survivor(struct leaks *leaks, const struct leaks_survivor *object)
{
    size_t at = leaks->oldest_count;

    while (at > 0 && leaks->oldest[at - 1].age_ns < object->age_ns)
        at--;
    if (at == LEAKS_OLDEST)
        return;
    if (leaks->oldest_count < LEAKS_OLDEST)
        leaks->oldest_count++;
    memmove(&leaks->oldest[at + 1], &leaks->oldest[at],
            (leaks->oldest_count - at - 1) * sizeof leaks->oldest[0]);
    leaks->oldest[at] = *object;
}

/* ---- texts ---- */

static bool append(struct reading *reading, const char *text, size_t length_bytes)
{
    if (length_bytes == 0) /* there may be no texts yet */
        return true;
    if (reading->capacity_bytes - reading->used_bytes < length_bytes) {
        size_t capacity_bytes = reading->capacity_bytes == 0 ? 4096 : reading->capacity_bytes;

        while (capacity_bytes - reading->used_bytes < length_bytes)
            capacity_bytes *= 2;
        char *texts = jw_realloc(reading->texts, capacity_bytes);
        if (texts == NULL) {
            reading->leaks->is_out_of_memory = true;
            return false;
        }
        reading->texts = texts;
        reading->capacity_bytes = capacity_bytes;
    }
    memcpy(reading->texts + reading->used_bytes, text, length_bytes);
    reading->used_bytes += length_bytes;
    return true;
}

static void dot(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '/')
            *text = '.';
}

/* "shop.Cart.add:31" and a line feed. */
static bool append_frame(struct reading *reading, const struct jfr_stack_frame *frame)
{
    char line[24] = "";

    if (!jfr_method_read(&frame->method, &reading->method)) {
        reading->leaks->is_out_of_memory = true;
        return false;
    }
    char *class_name = reading->method.class_name.text, *name = reading->method.name.text;
    if (strcmp(name, "<receiver>") == 0)
        return true; /* no frame: the class that a method was looked up for */
    if (frame->line > 0)
        snprintf(line, sizeof line, ":%lld", (long long)frame->line);
    if (strcmp(class_name, "jaywalk") == 0 && name[0] == '[')
        class_name[0] = '\0'; /* a mark: what is missing, in words */
    dot(class_name);
    return append(reading, class_name, strlen(class_name)) &&
           (class_name[0] == '\0' || append(reading, ".", 1)) &&
           append(reading, name, strlen(name)) && append(reading, line, strlen(line)) &&
           append(reading, "\n", 1);
}

static const char *stack_text(struct reading *reading, const struct jfr_reader_event *event)
{
    struct jfr_value trace, constant;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    uint64_t key;

    if (!jfr_value_field(&event->value, "stackTrace", &trace) ||
        (key = jfr_value_key(&trace)) == 0 || !jfr_value_constant(&trace, &constant))
        return "";
    uint64_t *known = jw_map_put(&reading->stacks, &key, sizeof key);
    if (known == NULL) {
        reading->leaks->is_out_of_memory = true;
        return "";
    }
    if (*known != 0)
        return reading->texts + (*known - 1);

    const size_t begin = reading->used_bytes;
    bool is_good = jfr_stack_begin(&constant, &stack);
    while (is_good && reading->used_bytes - begin < STACK_BYTES && jfr_stack_next(&stack, &frame))
        is_good = append_frame(reading, &frame);
    if (!append(reading, "", 1))
        return "";
    *known = begin + 1;
    return reading->texts + begin;
}

static const char *class_text(struct reading *reading, const struct jfr_reader_event *event)
{
    static char out[CLI_CELL_BYTES];
    struct jfr_value klass, name;

    if (!jfr_value_field(&event->value, "objectClass", &klass) ||
        !jfr_value_field(&klass, "name", &name) || !jfr_value_text(&name, &reading->text))
        return "[unknown class]";
    cli_text_class(reading->text.text, out);
    return out;
}

/* ---- a file ---- */

static int64_t number_of(const struct jfr_reader_event *event, const char *name)
{
    struct jfr_value field;
    int64_t number;

    return jfr_value_field(&event->value, name, &field) && jfr_value_integer(&field, &number)
               ? number
               : 0;
}

static void take(struct reading *reading, const struct jfr_reader_event *event)
{
    struct leaks *leaks = reading->leaks;
    const bool has_age = strcmp(event->type_name, LIVE_TYPE) == 0;
    const int64_t size = number_of(event, "allocationSize");
    const int64_t weight = has_age ? number_of(event, "weight") : size;
    const double objects = size <= 0 ? 1 : (double)weight / (double)size;
    struct leaks_survivor object = {.size_bytes = size < 0 ? 0 : (uint64_t)size};

    if (has_age) {
        object.pauses = (uint64_t)number_of(event, "collections");
        object.age_ns = number_of(event, "objectAge");
    }
    leaks->has_no_age |= !has_age;
    if (has_age && object.pauses < leaks->least_pauses) {
        add_cell(&leaks->young[reading->side], (double)weight, objects);
        return;
    }
    const char *class_name = class_text(reading, event);
    const size_t of_class = row_at(leaks, &leaks->classes, class_name, NULL);
    object.site = row_at(leaks, &leaks->sites, class_name, stack_text(reading, event));
    if (of_class == SIZE_MAX || object.site == SIZE_MAX)
        return;
    add_cell(&leaks->all[reading->side], (double)weight, objects);
    add_to_row(&leaks->classes.rows[of_class], reading->side, &object, (double)weight, objects);
    add_to_row(&leaks->sites.rows[object.site], reading->side, &object, (double)weight, objects);
    if (reading->side == LEAKS_AFTER && has_age)
        note_survivor(leaks, &object);
}

static void read_chunk(struct reading *reading, struct cli_progress *progress, struct jw_error *err)
{
    struct jfr_reader_event event;

    jw_map_clear(&reading->stacks);
    reading->used_bytes = 0;
    while (!reading->leaks->is_out_of_memory &&
           jfr_reader_next_event(reading->reader, &event, err)) {
        const bool is_ours = strcmp(event.type_name, LIVE_TYPE) == 0;

        cli_progress_show(progress, "reading", jfr_reader_position_bytes(reading->reader),
                          jfr_reader_size_bytes(reading->reader));
        if ((is_ours && leaks_time_ns(&reading->chunk, &event) == reading->time_ns) ||
            (reading->time_ns == 0 && strcmp(event.type_name, OTHER_TYPE) == 0))
            take(reading, &event);
    }
}

bool leaks_read(struct leaks *leaks, enum leaks_side side, const char *path, int64_t time_ns,
                bool is_quiet, struct jw_error *err)
{
    struct reading reading = {.leaks = leaks, .side = side, .time_ns = time_ns};
    struct cli_progress progress;

    leaks->time_ns[side] = time_ns;
    reading.reader = jfr_reader_open(path, err);
    if (reading.reader == NULL)
        return false;
    cli_progress_begin(&progress, is_quiet);
    while (err->message[0] == '\0' && !leaks->is_out_of_memory &&
           next_chunk(reading.reader, &reading.chunk, err))
        read_chunk(&reading, &progress, err);
    cli_progress_end(&progress);
    jfr_reader_close(reading.reader);
    jw_map_close(&reading.stacks);
    jw_free(reading.texts);
    jfr_text_free(&reading.text);
    jfr_method_free(&reading.method);
    if (leaks->is_out_of_memory)
        jw_error_set(err, "%s: out of memory for its live objects; free some", path);
    return err->message[0] == '\0';
}

/* ---- order ---- */

bool leaks_is_sure(const struct leaks_row *row)
{
    const double growth = leaks_growth(row);
    const double variance = row->cells[LEAKS_BEFORE].square + row->cells[LEAKS_AFTER].square;

    return growth * growth > 4 * variance;
}

static int by_growth(const void *left, const void *right)
{
    const struct leaks_row *one = left, *other = right;
    const double a = leaks_growth(one), b = leaks_growth(other);
    const int names = strcmp(one->class_name, other->class_name);

    if (a != b)
        return a > b ? -1 : 1;
    return names != 0 ? names
                      : strcmp(one->stack == NULL ? "" : one->stack,
                               other->stack == NULL ? "" : other->stack);
}

/* Survivors name their row by its stack's address, which stays while rows are moved. */
void leaks_settle(struct leaks *leaks)
{
    const char *stacks[LEAKS_OLDEST] = {NULL};

    for (size_t i = 0; i < leaks->oldest_count; i++)
        stacks[i] = leaks->sites.rows[leaks->oldest[i].site].stack;
    if (leaks->classes.count > 0)
        qsort(leaks->classes.rows, leaks->classes.count, sizeof *leaks->classes.rows, by_growth);
    if (leaks->sites.count > 0)
        qsort(leaks->sites.rows, leaks->sites.count, sizeof *leaks->sites.rows, by_growth);
    for (size_t i = 0; i < leaks->oldest_count; i++)
        for (size_t row = 0; row < leaks->sites.count; row++)
            if (leaks->sites.rows[row].stack == stacks[i])
                leaks->oldest[i].site = row;
}

static void close_table(struct leaks_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        jw_free(table->rows[i].class_name);
        jw_free(table->rows[i].stack);
    }
    jw_free(table->rows);
    jw_map_close(&table->index);
}

void leaks_close(struct leaks *leaks)
{
    close_table(&leaks->classes);
    close_table(&leaks->sites);
}
