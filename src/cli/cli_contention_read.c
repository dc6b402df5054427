/* Waits for locks of a recording, and what it tells of owners and deadlocks. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock_class.h"
#include "cli/cli_contention_internal.h"
#include "cli/cli_feed_internal.h"
#include "cli/cli_text_internal.h"

/* Of a stack's text; what is further from the leaf is left out. */
#define STACK_BYTES ((size_t)16 << 10)
#define NAME_BYTES  1024u

struct reading {
    struct contention *all;
    struct cli_part *part;
    struct cli_wish wish;
    struct cli_found found;
    struct cli_requests *requests;
    struct cli_feed feed; /* reader, chunk, texts, what the part needs */
    struct jw_map stacks; /* of this chunk: key of a trace -> number of its text + 1 */
    uint64_t process;
    char stack[STACK_BYTES];
};

/* What is read of an event of a type. */
struct source {
    const char *type;
    const char *class_field;
    const char *other_field; /* a thread; NULL: none */
};

enum { SOURCE_ENTER, SOURCE_PARK, SOURCE_WAIT, SOURCE_OWNER, SOURCE_DEADLOCK };

static const struct source sources[] = {
    [SOURCE_ENTER] = {"jdk.JavaMonitorEnter", "monitorClass", "previousOwner"},
    [SOURCE_PARK] = {"jdk.ThreadPark", "parkedClass", "owner"},
    [SOURCE_WAIT] = {"jdk.JavaMonitorWait", "monitorClass", NULL},
    [SOURCE_OWNER] = {"jaywalk.LockOwner", "lockClass", "waiter"},
    [SOURCE_DEADLOCK] = {"jaywalk.Deadlock", "lockClass", "owner"},
};

static bool reserve(struct reading *reading, void **array, size_t *capacity, size_t count,
                    size_t element_bytes)
{
    const bool is_there = cli_feed_reserve(&reading->feed, array, capacity, count, element_bytes);

    reading->all->is_out_of_memory |= !is_there;
    return is_there;
}

static uint32_t number_of(struct reading *reading, const char *text)
{
    struct contention_texts *texts = &reading->all->texts;
    const size_t size_bytes = strlen(text) + 1;
    void *array = texts->texts;

    if (text[0] == '\0')
        return 0;
    uint64_t *known = jw_map_put(&texts->index, text, size_bytes);
    reading->all->is_out_of_memory |= known == NULL;
    if (known == NULL || *known != 0)
        return known == NULL ? 0 : (uint32_t)*known;
    if (!reserve(reading, &array, &texts->capacity, texts->count, sizeof *texts->texts))
        return 0;
    texts->texts = array;
    char *copy = jw_alloc(size_bytes);
    reading->all->is_out_of_memory |= copy == NULL;
    if (copy == NULL)
        return 0;
    memcpy(copy, text, size_bytes);
    texts->texts[texts->count++] = copy;
    *known = texts->count;
    return (uint32_t)*known;
}

const char *contention_text_of(const struct contention *all, uint32_t number)
{
    return number == 0 || number > all->texts.count ? "" : all->texts.texts[number - 1];
}

static void dot(char *text)
{
    for (; *text != '\0' && *text != '+'; text++)
        if (*text == '/')
            *text = '.';
}

/* ---- fields ---- */

static uint32_t thread_number(struct reading *reading, const struct jfr_value *thread)
{
    static const char *const names[] = {"javaName", "osName"};
    char name[NAME_BYTES] = "";
    struct jfr_value field;
    int64_t id = 0;

    for (size_t i = 0; i < JW_COUNT_OF(names) && name[0] == '\0'; i++)
        if (jfr_value_field(thread, names[i], &field) &&
            jfr_value_text(&field, &reading->feed.text))
            snprintf(name, sizeof name, "%s", reading->feed.text.text);
    if (name[0] == '\0' && jfr_value_field(thread, "javaThreadId", &field) &&
        jfr_value_integer(&field, &id) && id > 0)
        snprintf(name, sizeof name, "[virtual thread %lld]", (long long)id);
    return number_of(reading, name[0] == '\0' ? "[unknown thread]" : name);
}

/* A field that names a thread; false: none. */
static bool find_thread(const struct jfr_reader_event *event, const char *name,
                        struct jfr_value *thread)
{
    struct jfr_value field;

    return name != NULL && jfr_value_field(&event->value, name, &field) &&
           jfr_value_key(&field) != 0 && jfr_value_constant(&field, thread);
}

static uint32_t thread_of(struct reading *reading, const struct jfr_reader_event *event,
                          const char *name)
{
    struct jfr_value thread;

    return find_thread(event, name, &thread) ? thread_number(reading, &thread) : 0;
}

/* Several threads may have one name. */
static uint64_t who_of(const struct jfr_reader_event *event, const char *name)
{
    const uint64_t of_system = UINT64_C(1) << 63;
    struct jfr_value thread, field;
    int64_t id = 0;

    if (!find_thread(event, name, &thread))
        return 0;
    if (jfr_value_field(&thread, "javaThreadId", &field) && jfr_value_integer(&field, &id) &&
        id > 0)
        return (uint64_t)id;
    return jfr_value_field(&thread, "osThreadId", &field) && jfr_value_integer(&field, &id) &&
                   id > 0
               ? of_system | (uint64_t)id
               : 0;
}

/* Our own recordings say it; no longer than the wait. */
static int64_t held_of(const struct jfr_reader_event *event, int64_t duration_ns)
{
    struct jfr_value field;
    int64_t ns;

    if (!jfr_value_field(&event->value, "heldAtLeast", &field) || !jfr_value_integer(&field, &ns))
        return INT64_MIN;
    return ns < duration_ns ? ns : duration_ns;
}

static uint32_t class_of(struct reading *reading, const struct jfr_reader_event *event,
                         const char *name)
{
    char text[CLI_CELL_BYTES];
    struct jfr_value klass, field;

    if (!jfr_value_field(&event->value, name, &klass) || jfr_value_key(&klass) == 0 ||
        !jfr_value_field(&klass, "name", &field) || !jfr_value_text(&field, &reading->feed.text))
        return 0;
    cli_text_class(reading->feed.text.text, text);
    return number_of(reading, text);
}

/* "shop.Cart.add:31" and a line feed. */
static size_t put_frame(const struct profile_frame *frame, char *to, size_t room_bytes)
{
    char line[24] = "";

    if (frame->line > 0)
        snprintf(line, sizeof line, ":%d", frame->line);
    const int put = snprintf(
        to, room_bytes, "%s%s%s%s\n", frame->class_name == NULL ? "" : frame->class_name,
        frame->class_name == NULL ? "" : ".", frame->method == NULL ? "" : frame->method, line);
    if (put < 0 || (size_t)put >= room_bytes) {
        to[0] = '\0';
        return 0;
    }
    dot(to);
    return (size_t)put;
}

/* Frames of native code stand for nothing that the program could do otherwise: they are shown where there are no others. */
static bool put_frames(struct reading *reading, const struct jfr_value *trace, bool with_native)
{
    struct jfr_stack stack;
    struct jfr_stack_frame from;
    struct profile_frame frame;
    size_t used_bytes = 0;

    reading->stack[0] = '\0';
    if (!jfr_stack_begin(trace, &stack))
        return true;
    while (jfr_stack_next(&stack, &from)) {
        if (!cli_read_frame(&reading->feed, &from, &frame)) {
            reading->all->is_out_of_memory = true;
            return true;
        }
        if ((frame.class_name == NULL && !with_native) ||
            (frame.method != NULL && strcmp(frame.method, "<receiver>") == 0))
            continue;
        const size_t put = put_frame(&frame, reading->stack + used_bytes, STACK_BYTES - used_bytes);
        if (put == 0)
            break;
        used_bytes += put;
    }
    return used_bytes > 0;
}

static uint32_t read_stack(struct reading *reading, const struct jfr_value *trace)
{
    if (!put_frames(reading, trace, false))
        (void)put_frames(reading, trace, true);
    return number_of(reading, reading->stack);
}

static uint32_t stack_of(struct reading *reading, const struct jfr_reader_event *event)
{
    struct jfr_value reference, trace;
    uint64_t key;

    if (!jfr_value_field(&event->value, "stackTrace", &reference) ||
        (key = jfr_value_key(&reference)) == 0 || !jfr_value_constant(&reference, &trace))
        return 0;
    uint64_t *known = jw_map_put(&reading->stacks, &key, sizeof key);
    reading->all->is_out_of_memory |= known == NULL;
    if (known == NULL)
        return 0;
    if (*known == 0)
        *known = read_stack(reading, &trace) + UINT64_C(1);
    return (uint32_t)(*known - 1);
}

/* ---- events ---- */

static bool is_lock_class(const char *name)
{
    return jw_lock_class_is(name, strlen(name));
}

/* Sums of numbers of the file stay sums. */
static int64_t begin_of(const struct reading *reading, const struct jfr_reader_event *event)
{
    const int64_t ns = cli_moment_ns(&reading->feed.chunk, event->start_ticks);

    return ns < INT64_MAX / 2 ? ns : INT64_MAX / 2;
}

static int64_t duration_of(const struct reading *reading, const struct jfr_reader_event *event)
{
    const int64_t most_ns = (int64_t)1 << 50;
    int64_t ns = 0;

    if (!cli_duration_ns(&reading->feed.chunk, event, &ns) || ns < 0)
        return 0;
    return ns < most_ns ? ns : most_ns;
}

/* Some of it lies in the window. */
static bool is_near(const struct reading *reading, int64_t begin_ns, int64_t end_ns)
{
    return (uint64_t)end_ns >= reading->part->begin_ns &&
           (uint64_t)begin_ns < reading->part->end_ns;
}

/* Of a file, until it says which one it is. */
static void begin_process(struct reading *reading)
{
    reading->process = ++reading->all->process_count;
}

/* Several recordings may be of one process. */
static void take_process(struct reading *reading, const struct jfr_reader_event *event)
{
    const uint64_t which[] = {cli_number_of(event, "pid"), cli_number_of(event, "jvmStartTime")};
    uint64_t *known = jw_map_put(&reading->all->processes, which, sizeof which);

    reading->all->is_out_of_memory |= known == NULL;
    if (known == NULL)
        return;
    if (*known == 0)
        *known = reading->process;
    reading->process = *known;
}

/* Recordings of others do not say it. */
static uint64_t object_of(const struct reading *reading, const struct jfr_reader_event *event)
{
    const uint64_t number = (uint32_t)cli_number_of(event, "instance");

    return number == 0 ? 0 : reading->process << CONTENTION_PROCESS_SHIFT | number;
}

static bool is_asked_for(const struct contention *all, const struct jfr_reader_event *event)
{
    return all->only == 0 || cli_number_of(event, "instance") == all->only;
}

static void take_wait(struct reading *reading, const struct jfr_reader_event *event, int number)
{
    static const enum contention_kind kinds[] = {
        [SOURCE_ENTER] = CONTENTION_ENTER,
        [SOURCE_PARK] = CONTENTION_PARK,
        [SOURCE_WAIT] = CONTENTION_WAIT,
    };
    struct contention *all = reading->all;
    void *waits = all->waits;
    const int64_t begin_ns = begin_of(reading, event);
    const int64_t duration_ns = duration_of(reading, event);

    if (!is_near(reading, begin_ns, begin_ns + duration_ns))
        return;
    if (all->wait_count == CONTENTION_WAITS_MAX) {
        all->left_out++;
        return;
    }
    struct contention_wait made = {
        .begin_ns = begin_ns,
        .end_ns = begin_ns + duration_ns,
        .address = cli_number_of(event, "address"),
        .object = object_of(reading, event),
        .lock = class_of(reading, event, sources[number].class_field),
        .stack = stack_of(reading, event),
        .thread = thread_of(reading, event, "eventThread"),
        .owner = thread_of(reading, event, sources[number].other_field),
        .kind = kinds[number],
        .who = who_of(event, "eventThread"),
        .owner_who = who_of(event, sources[number].other_field),
        .held_ns = held_of(event, duration_ns),
        .is_free = cli_number_of(event, "unowned") == 1,
        .is_wanted = cli_is_in_part(&reading->feed, event) && is_asked_for(all, event),
    };
    made.is_for_lock = made.kind == CONTENTION_ENTER ||
                       (made.kind == CONTENTION_PARK &&
                        (made.owner != 0 || is_lock_class(contention_text_of(all, made.lock))));
    if (!reserve(reading, &waits, &all->wait_capacity, all->wait_count, sizeof *all->waits))
        return;
    all->waits = waits;
    all->waits[all->wait_count++] = made;
    if (!made.is_wanted)
        return;
    if (all->begin_ns == 0 || made.begin_ns < all->begin_ns)
        all->begin_ns = made.begin_ns;
    if (made.end_ns > all->end_ns)
        all->end_ns = made.end_ns;
}

static void take_owner(struct reading *reading, const struct jfr_reader_event *event, int number)
{
    struct contention *all = reading->all;
    const bool is_deadlock = number == SOURCE_DEADLOCK;
    const int64_t begin_ns = begin_of(reading, event);
    const int64_t duration_ns = duration_of(reading, event);
    void *array = is_deadlock ? all->deadlocked : all->owners;
    size_t *count = is_deadlock ? &all->deadlocked_count : &all->owner_count;
    size_t *capacity = is_deadlock ? &all->deadlocked_capacity : &all->owner_capacity;

    if (!is_near(reading, begin_ns, begin_ns + duration_ns))
        return;
    const struct contention_owner made = {
        .time_ns = begin_ns,
        .waited_ns = duration_ns,
        .address = cli_number_of(event, "address"),
        .number = cli_number_of(event, "deadlock"),
        .object = object_of(reading, event),
        .lock = class_of(reading, event, sources[number].class_field),
        .stack = stack_of(reading, event),
        .thread = thread_of(reading, event, "eventThread"),
        .other = thread_of(reading, event, sources[number].other_field),
    };

    if (*count == CONTENTION_WAITS_MAX) {
        all->left_out++;
        return;
    }
    if (!reserve(reading, &array, capacity, *count, sizeof made))
        return;
    *(is_deadlock ? &all->deadlocked : &all->owners) = array;
    ((struct contention_owner *)array)[(*count)++] = made;
}

static void take_setting(struct reading *reading, const struct jfr_reader_event *event)
{
    struct jfr_value field;

    if (jfr_value_field(&event->value, "name", &field) &&
        jfr_value_text(&field, &reading->feed.text) &&
        strcmp(reading->feed.text.text, "lock") == 0 &&
        jfr_value_field(&event->value, "value", &field) &&
        jfr_value_text(&field, &reading->feed.text))
        reading->all->threshold_ns = strtoll(reading->feed.text.text, NULL, 10);
}

static void take(struct reading *reading, const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.ActiveSetting") == 0)
        take_setting(reading, event);
    if (strcmp(event->type_name, "jdk.JVMInformation") == 0)
        take_process(reading, event);
    for (int i = 0; i < (int)JW_COUNT_OF(sources); i++) {
        if (strcmp(event->type_name, sources[i].type) != 0)
            continue;
        if (i <= SOURCE_WAIT)
            take_wait(reading, event, i);
        else
            take_owner(reading, event, i);
        return;
    }
}

static bool has_any(struct jfr_reader *reader)
{
    for (size_t i = 0; i < JW_COUNT_OF(sources); i++)
        if (jfr_reader_has_event(reader, sources[i].type))
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
        if (!has_any(reader))
            continue;
        if (!jfr_reader_begin_events(reader, err))
            return;
        jw_map_clear(&reading->stacks);
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

bool contention_read(struct contention *all, const char *path, struct cli_part *part, bool is_quiet,
                     struct jw_error *err)
{
    static const struct cli_bys none;
    struct reading *reading = jw_alloc(sizeof *reading);
    struct cli_progress progress;

    if (reading == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    reading->all = all;
    reading->part = reading->wish.part = part;
    reading->feed.wish = &reading->wish;
    reading->feed.found = &reading->found;
    if (cli_requests_settle(part, &none, path, is_quiet, &reading->requests, err))
        reading->feed.reader = jfr_reader_open(path, err);
    reading->feed.requests = reading->requests;
    begin_process(reading);
    if (reading->feed.reader != NULL) {
        cli_progress_begin(&progress, is_quiet);
        read_chunks(reading, &progress, err);
        cli_progress_end(&progress);
    }
    all->is_out_of_memory |= reading->feed.is_out_of_memory;
    jw_map_close(&reading->stacks);
    cli_feed_close(&reading->feed);
    cli_requests_close(reading->requests);
    jw_free(reading);
    if (all->is_out_of_memory)
        jw_error_set(err, "%s: out of memory for its waits; free some", path);
    return err->message[0] == '\0';
}

void contention_close(struct contention *all)
{
    struct contention_table *tables[] = {&all->locks,   &all->sites,  &all->victims,
                                         &all->holders, &all->doings, &all->others};

    for (size_t i = 0; i < all->texts.count; i++)
        jw_free(all->texts.texts[i]);
    jw_free(all->texts.texts);
    jw_map_close(&all->texts.index);
    for (size_t i = 0; i < JW_COUNT_OF(tables); i++)
        jw_free(tables[i]->rows);
    jw_free(all->waits);
    jw_free(all->owners);
    jw_free(all->deadlocked);
    jw_free(all->convoys);
    jw_free(all->chains);
    jw_map_close(&all->processes);
    contention_close_objects(&all->objects);
}
