/* Safepoints of a recording: jaywalk's own events, and what the JVM records itself. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_feed_internal.h"
#include "cli/cli_safepoints_internal.h"

/* Java frames below the first one that may show what memory it reads. */
#define FRAMES_LOOKED_AT 24
#define BUFFER_FRAMES    6

/* Chunks of one recording follow each other; behind a gap numbers of safepoints begin anew. */
#define GAP_NS JW_NS_PER_SECOND

/* Kinds of events of the JVM, in the order in which it writes them. */
enum {
    SEEN_SYNCHRONIZATION = 1,
    SEEN_BEGIN = 2,
    SEEN_END = 4,
    SEEN_OPERATION = 8,
};

struct reading {
    struct cli_safepoints *all;
    const struct cli_part *part;
    struct cli_wish wish;
    struct cli_feed feed; /* reader, texts */
    struct jw_map row_of; /* number of a safepoint of the JVM -> row + 1 */
    uint64_t end_ns;      /* of the chunk before */
    struct jfr_reader_chunk chunk;
};

static bool reserve(struct reading *reading, void **array, size_t *capacity, size_t count,
                    size_t element_bytes)
{
    const bool is_there = cli_feed_reserve(&reading->feed, array, capacity, count, element_bytes);

    reading->all->is_out_of_memory |= !is_there;
    return is_there;
}

static const char *text_of(struct reading *reading, const struct jfr_value *object,
                           const char *name)
{
    struct jfr_value field;

    return jfr_value_field(object, name, &field) && jfr_value_text(&field, &reading->feed.text)
               ? reading->feed.text.text
               : "";
}

static bool keep_text(struct reading *reading, const char *text)
{
    struct cli_safepoints *all = reading->all;
    const size_t size_bytes = strlen(text) + 1;
    void *operations = all->operations;

    if (!reserve(reading, &operations, &all->operation_capacity, all->operation_count,
                 sizeof *all->operations))
        return false;
    all->operations = operations;
    char *kept = jw_alloc(size_bytes);
    all->is_out_of_memory |= kept == NULL;
    if (kept == NULL)
        return false;
    memcpy(kept, text, size_bytes);
    all->operations[all->operation_count++] = kept;
    return true;
}

/* Number of an operation's name; 0: it has none. */
static uint32_t operation_number(struct reading *reading, const char *name)
{
    struct cli_safepoints *all = reading->all;

    if ((all->operation_count == 0 && !keep_text(reading, "")) || name[0] == '\0')
        return 0;
    uint64_t *known = jw_map_put(&all->operation_of, name, strlen(name));
    if (known == NULL) {
        all->is_out_of_memory = true;
        return 0;
    }
    if (*known == 0 && keep_text(reading, name))
        *known = all->operation_count;
    return *known == 0 ? 0 : (uint32_t)*known - 1;
}

static bool is_in_window(const struct reading *reading, const struct jfr_reader_event *event)
{
    const uint64_t ns = (uint64_t)cli_moment_ns(&reading->chunk, event->start_ticks);

    return ns >= reading->part->begin_ns && ns < reading->part->end_ns;
}

static struct cli_safepoint *add(struct reading *reading, int side_number)
{
    struct cli_safepoint_side *side = &reading->all->sides[side_number];
    void *items = side->items;

    if (!reserve(reading, &items, &side->capacity, side->count, sizeof *side->items))
        return NULL;
    side->items = items;
    struct cli_safepoint *made = &side->items[side->count++];
    *made = (struct cli_safepoint){.reach_ns = CLI_SAFEPOINT_UNKNOWN,
                                   .inside_ns = CLI_SAFEPOINT_UNKNOWN};
    return made;
}

/* ---- jaywalk.SafepointDelay ---- */

static bool is_of_buffer(const char *class_name)
{
    /* Source: OpenJDK, java.base: classes that read and write memory for buffers and memory segments, JDK 8 to 28. */
    static const char *const classes[] = {"java/nio/Direct", "java/nio/Mapped",
                                          "jdk/internal/misc/ScopedMemoryAccess",
                                          "jdk/internal/foreign/"};

    for (size_t i = 0; i < JW_COUNT_OF(classes); i++)
        if (strncmp(class_name, classes[i], strlen(classes[i])) == 0)
            return true;
    return false;
}

/* Source: OpenJDK, packages of the modules java.* and jdk.*. */
static bool is_of_jdk(const char *class_name)
{
    static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};

    for (size_t i = 0; i < JW_COUNT_OF(packages); i++)
        if (strncmp(class_name, packages[i], strlen(packages[i])) == 0)
            return true;
    return false;
}

/* app/Hot and spin as app.Hot.spin. */
static void put_method(const struct profile_frame *frame, char *to, size_t room_bytes)
{
    snprintf(to, room_bytes, "%s%s%s", frame->class_name == NULL ? "" : frame->class_name,
             frame->class_name == NULL ? "" : ".", frame->method == NULL ? "" : frame->method);
    for (char *at = to; *at != '\0' && *at != '+'; at++)
        if (*at == '/')
            *at = '.';
}

/* The same with its line, where that is known. */
static void put_place(const struct profile_frame *frame, char *to, size_t room_bytes)
{
    put_method(frame, to, room_bytes);
    const size_t used_bytes = strlen(to);
    if (frame->line > 0)
        snprintf(to + used_bytes, room_bytes - used_bytes, ":%d", frame->line);
}

static void take_frame(const struct profile_frame *frame, unsigned java_count,
                       struct cli_late_stack *stack)
{
    if (frame->class_name != NULL && java_count < BUFFER_FRAMES)
        stack->has_buffer |= is_of_buffer(frame->class_name);
    if (frame->class_name != NULL && java_count == 0)
        stack->is_jdk = is_of_jdk(frame->class_name);
    if (java_count > 0) {
        if (stack->is_jdk && stack->from[0] == '\0' && frame->class_name != NULL &&
            !is_of_jdk(frame->class_name))
            put_place(frame, stack->from, sizeof stack->from);
        return;
    }
    put_method(frame, stack->java, sizeof stack->java);
    stack->line = frame->line;
    stack->is_compiled = frame->type == PROFILE_FRAME_COMPILED ||
                         frame->type == PROFILE_FRAME_INLINED || frame->type == PROFILE_FRAME_C1;
}

static void read_stack(struct reading *reading, const struct jfr_reader_event *event,
                       struct cli_late_stack *out)
{
    struct jfr_value reference, trace;
    struct jfr_stack stack;
    struct jfr_stack_frame from;
    unsigned java_count = 0;

    *out = (struct cli_late_stack){.line = 0};
    if (!jfr_value_field(&event->value, "stackTrace", &reference) ||
        !jfr_value_constant(&reference, &trace) || !jfr_stack_begin(&trace, &stack))
        return;
    for (int i = 0; i < FRAMES_LOOKED_AT && jfr_stack_next(&stack, &from); i++) {
        struct profile_frame frame;

        if (!cli_read_frame(&reading->feed, &from, &frame)) {
            reading->all->is_out_of_memory = true;
            return;
        }
        if (frame.type <= PROFILE_FRAME_C1) {
            take_frame(&frame, java_count++, out);
        } else if (frame.type == PROFILE_FRAME_NATIVE && java_count == 0 && out->top[0] == '\0') {
            snprintf(out->top, sizeof out->top, "%s", frame.method == NULL ? "" : frame.method);
            snprintf(out->library, sizeof out->library, "%s",
                     frame.module == NULL ? "" : frame.module);
        }
    }
}

static void read_thread(struct reading *reading, const struct jfr_reader_event *event, char *name,
                        size_t room_bytes)
{
    struct jfr_value thread;

    name[0] = '\0';
    (void)cli_thread_key(event, &thread);
    if (thread.reader != NULL)
        snprintf(name, room_bytes, "%s", text_of(reading, &thread, "javaName"));
    if (thread.reader != NULL && name[0] == '\0')
        snprintf(name, room_bytes, "%s", text_of(reading, &thread, "osName"));
    if (name[0] == '\0')
        snprintf(name, room_bytes, "[unknown thread]");
}

/* The row of what was late; NULL: no memory. */
static struct cli_culprit *culprit_at(struct reading *reading, const struct cli_late_stack *stack,
                                      enum cli_safepoint_hint hint, const char *late_in)
{
    struct cli_safepoints *all = reading->all;
    void *culprits = all->culprits;
    char place[sizeof((struct cli_culprit *)NULL)->place], key[1000];

    if (stack->java[0] == '\0')
        snprintf(place, sizeof place, "%s", stack->top[0] == '\0' ? "[unknown code]" : stack->top);
    else if (stack->line > 0)
        snprintf(place, sizeof place, "%s:%lld", stack->java, (long long)stack->line);
    else
        snprintf(place, sizeof place, "%s", stack->java);
    const int length = snprintf(key, sizeof key, "%d %s\n%s\n%s\n%s\n%s", (int)hint, late_in, place,
                                stack->from, stack->top, stack->library);

    uint64_t *known = jw_map_put(&all->culprit_of, key, (size_t)length);
    all->is_out_of_memory |= known == NULL;
    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &all->culprits[*known - 1];
    if (!reserve(reading, &culprits, &all->culprit_capacity, all->culprit_count,
                 sizeof *all->culprits))
        return NULL;
    all->culprits = culprits;
    struct cli_culprit *made = &all->culprits[all->culprit_count++];
    *known = all->culprit_count;
    *made = (struct cli_culprit){.line = stack->line, .hint = hint, .late_in = late_in};
    memcpy(made->place, place, sizeof made->place);
    memcpy(made->method, stack->java, sizeof made->method);
    if (stack->java[0] != '\0')
        memcpy(made->top, stack->top, sizeof made->top);
    memcpy(made->from, stack->from, sizeof made->from);
    memcpy(made->library, stack->library, sizeof made->library);
    return made;
}

static void count_thread(struct reading *reading, struct cli_culprit *culprit, const char *name)
{
    char key[200];
    const int length =
        snprintf(key, sizeof key, "%zu %s", (size_t)(culprit - reading->all->culprits), name);
    uint64_t *known = jw_map_put(&reading->all->thread_of, key, (size_t)length);

    reading->all->is_out_of_memory |= known == NULL;
    if (known == NULL || *known != 0)
        return;
    *known = 1;
    culprit->threads++;
}

static void take_culprit(struct reading *reading, const struct jfr_reader_event *event,
                         const struct cli_late_facts *facts)
{
    struct cli_late_stack stack;
    char thread[sizeof((struct cli_culprit *)NULL)->thread];

    read_stack(reading, event, &stack);
    read_thread(reading, event, thread, sizeof thread);
    struct cli_culprit *culprit = culprit_at(reading, &stack, cli_safepoint_judge(&stack, facts),
                                             facts->is_in_java ? "Java" : "JVM");

    if (culprit == NULL)
        return;
    count_thread(reading, culprit, thread);
    culprit->count++;
    culprit->reach_ns += facts->reach_ns;
    if (facts->reach_ns >= culprit->longest_ns) {
        culprit->longest_ns = facts->reach_ns;
        memcpy(culprit->thread, thread, sizeof culprit->thread);
    }
    if (!facts->has_used)
        return;
    culprit->used_count++;
    culprit->cpu_ns += facts->cpu_ns;
    culprit->waited_ns += facts->waited_ns;
    culprit->minor_faults += facts->minor_faults;
    culprit->major_faults += facts->major_faults;
}

/* Sums of numbers of the file stay sums. */
static int64_t bounded(int64_t number)
{
    return number < (int64_t)1 << 50 ? number : (int64_t)1 << 50;
}

static int64_t known_number(const struct jfr_reader_event *event, const char *name)
{
    const int64_t number = jfr_value_has_field(&event->value, name) ? cli_number(event, name) : -1;

    return number < 0 ? CLI_SAFEPOINT_UNKNOWN : bounded(number);
}

static void take_delay(struct reading *reading, const struct jfr_reader_event *event)
{
    struct cli_safepoints *all = reading->all;
    struct cli_safepoint *made = add(reading, CLI_SAFEPOINTS_OF_JAYWALK);
    struct cli_late_facts facts = {
        .reach_ns = known_number(event, "timeToReach"),
        .threshold_ns = all->threshold_ns,
        .cpu_ns = known_number(event, "cpuTime"),
        .waited_ns = known_number(event, "waitTime"),
        .minor_faults = known_number(event, "minorFaults"),
        .major_faults = known_number(event, "majorFaults"),
    };

    if (made == NULL)
        return;
    made->reach_ns = facts.reach_ns;
    made->inside_ns = known_number(event, "timeInside");
    made->operation = operation_number(reading, text_of(reading, &event->value, "operation"));
    facts.has_used = facts.cpu_ns >= 0 && facts.waited_ns >= 0 && facts.minor_faults >= 0 &&
                     facts.major_faults >= 0;
    const char *late_in = text_of(reading, &event->value, "lateIn");
    facts.is_in_java = strcmp(late_in, "Java") == 0;
    facts.is_in_jvm = strcmp(late_in, "JVM") == 0;
    if (facts.is_in_java || facts.is_in_jvm)
        take_culprit(reading, event, &facts);
    else if (strcmp(late_in, "poll") == 0)
        all->at_poll_count++;
    else if (strcmp(late_in, "VM thread") == 0 || strcmp(late_in, "unwatched") == 0)
        all->starved_count++;
    else
        all->nobody_count++;
}

/* ---- what the JVM records ---- */

/*
 * The row of a safepoint of the JVM, which the first of its events adds. One kind of event twice: it is another JVM's.
 * Source: OpenJDK, safepoint.cpp and vmThread.cpp (post_safepoint_*_event, post_vm_operation_event), JDK 11 to 28.
 */
static struct cli_safepoint *row_of(struct reading *reading, const struct jfr_reader_event *event,
                                    uint8_t kind)
{
    struct cli_safepoint_side *side = &reading->all->sides[CLI_SAFEPOINTS_OF_JVM];
    const int64_t number = cli_number(event, "safepointId");
    uint64_t *known = jw_map_put(&reading->row_of, &number, sizeof number);

    reading->all->is_out_of_memory |= known == NULL;
    if (known == NULL)
        return NULL;
    if (*known != 0 && (side->items[*known - 1].seen & kind) == 0)
        return &side->items[*known - 1];
    if (*known != 0 && kind == SEEN_OPERATION)
        return NULL;
    struct cli_safepoint *made = add(reading, CLI_SAFEPOINTS_OF_JVM);
    if (made != NULL) {
        *known = side->count;
        made->is_left_out = !is_in_window(reading, event);
    }
    return made;
}

static int64_t ticks_ns(const struct reading *reading, int64_t ticks)
{
    const int64_t rate = reading->chunk.ticks_per_second;

    if (ticks < 0 || rate <= 0)
        return CLI_SAFEPOINT_UNKNOWN;
    const __int128 ns = (__int128)ticks * (int64_t)JW_NS_PER_SECOND / rate;
    return ns < (__int128)1 << 50 ? (int64_t)ns : CLI_SAFEPOINT_UNKNOWN;
}

/* `kind` has been added to the row: what the events together say. */
static void tell_row(struct reading *reading, struct cli_safepoint *row,
                     const struct jfr_reader_event *event, uint8_t kind)
{
    int64_t took_ns = CLI_SAFEPOINT_UNKNOWN;

    row->seen |= kind;
    if (!cli_duration_ns(&reading->chunk, event, &took_ns) || took_ns < 0)
        took_ns = CLI_SAFEPOINT_UNKNOWN;
    took_ns = bounded(took_ns);
    if (kind == SEEN_SYNCHRONIZATION)
        row->reach_ns = took_ns;
    if (kind == SEEN_BEGIN) {
        row->begin_ticks = event->start_ticks;
        if ((row->seen & SEEN_SYNCHRONIZATION) == 0) {
            row->reach_ns = took_ns;
            reading->all->sides[CLI_SAFEPOINTS_OF_JVM].is_reach_wider = true;
        }
    }
    /* From where all had stopped to where they go on. */
    if (kind == SEEN_END && (row->seen & SEEN_BEGIN) != 0 && row->reach_ns >= 0) {
        const int64_t all_ns = ticks_ns(reading, event->start_ticks - row->begin_ticks);

        if (all_ns >= row->reach_ns)
            row->inside_ns = all_ns - row->reach_ns;
    }
    if (kind == SEEN_OPERATION) {
        struct jfr_value operation;
        const bool is_named = jfr_value_field(&event->value, "operation", &operation);

        row->operation =
            operation_number(reading, is_named ? text_of(reading, &operation, "type") : "");
        if (row->inside_ns < 0)
            row->inside_ns = took_ns;
    }
}

static void take_of_jvm(struct reading *reading, const struct jfr_reader_event *event)
{
    static const struct {
        const char *type;
        uint8_t kind;
    } kinds[] = {
        {"jdk.SafepointStateSynchronization", SEEN_SYNCHRONIZATION},
        {"jdk.SafepointBegin", SEEN_BEGIN},
        {"jdk.SafepointEnd", SEEN_END},
        {"jdk.ExecuteVMOperation", SEEN_OPERATION},
    };

    for (size_t i = 0; i < JW_COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i].type, event->type_name) != 0)
            continue;
        if (kinds[i].kind == SEEN_OPERATION && cli_number(event, "safepoint") == 0)
            return;
        struct cli_safepoint *row = row_of(reading, event, kinds[i].kind);
        if (row != NULL)
            tell_row(reading, row, event, kinds[i].kind);
        return;
    }
}

/* ---- the file ---- */

static void take_setting(struct reading *reading, const struct jfr_reader_event *event)
{
    struct cli_safepoints *all = reading->all;

    if (strcmp(text_of(reading, &event->value, "name"), "ttsp") != 0)
        return;
    const char *value = text_of(reading, &event->value, "value");
    const bool is_number = value[0] >= '0' && value[0] <= '9';

    if (is_number)
        all->threshold_ns = bounded(strtoll(value, NULL, 10));
    else
        snprintf(all->off, sizeof all->off, "%s", value);
}

static void take_event(struct reading *reading, const struct jfr_reader_event *event)
{
    const char *name = event->type_name;

    if (name[0] != 'j')
        return;
    if (strcmp(name, "jaywalk.SafepointDelay") == 0) {
        if (is_in_window(reading, event))
            take_delay(reading, event);
    } else if (strncmp(name, "jdk.Safepoint", 13) == 0 ||
               strcmp(name, "jdk.ExecuteVMOperation") == 0) {
        take_of_jvm(reading, event);
    } else if (strcmp(name, "jdk.ActiveSetting") == 0) {
        take_setting(reading, event);
    }
}

static void begin_chunk(struct reading *reading)
{
    struct cli_safepoints *all = reading->all;
    const struct jfr_reader_chunk *chunk = &reading->chunk;
    const struct jfr_reader *reader = reading->feed.reader;
    const bool is_own = jfr_reader_has_event(reader, "jaywalk.SafepointDelay");

    if (chunk->start_unix_ns > reading->end_ns + GAP_NS ||
        chunk->start_unix_ns + GAP_NS < reading->end_ns)
        jw_map_clear(&reading->row_of);
    reading->end_ns = chunk->start_unix_ns + chunk->duration_ns;
    all->is_jaywalk |= is_own;
    all->sides[CLI_SAFEPOINTS_OF_JAYWALK].is_told |= is_own;
    all->sides[CLI_SAFEPOINTS_OF_JVM].is_told |= jfr_reader_has_event(reader, "jdk.SafepointBegin");
}

/* Which safepoints began outside of the part's time is known by their first event, and others follow. */
static void leave_out(struct cli_safepoint_side *side)
{
    size_t kept = 0;

    for (size_t i = 0; i < side->count; i++)
        if (!side->items[i].is_left_out)
            side->items[kept++] = side->items[i];
    side->count = kept;
}

bool cli_safepoints_read(struct cli_safepoints *all, const char *path, struct cli_part *part,
                         bool is_quiet, struct jw_error *err)
{
    struct reading *reading;
    struct jfr_reader_event event;
    struct cli_progress progress;

    if (!cli_window_settle(part, path, err))
        return false;
    reading = jw_alloc(sizeof *reading);
    if (reading == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    reading->all = all;
    reading->part = part;
    reading->feed.wish = &reading->wish;
    reading->feed.reader = jfr_reader_open(path, err);
    cli_progress_begin(&progress, is_quiet);
    while (reading->feed.reader != NULL && !all->is_out_of_memory &&
           jfr_reader_next_chunk(reading->feed.reader, &reading->chunk, err)) {
        begin_chunk(reading);
        while (!all->is_out_of_memory && jfr_reader_next_event(reading->feed.reader, &event, err)) {
            take_event(reading, &event);
            cli_progress_show(&progress, "reading", jfr_reader_position_bytes(reading->feed.reader),
                              jfr_reader_size_bytes(reading->feed.reader));
        }
    }
    cli_progress_end(&progress);
    leave_out(&all->sides[CLI_SAFEPOINTS_OF_JVM]);
    if (all->is_out_of_memory)
        jw_error_set(err, "%s: out of memory; free some and try again", path);
    jw_map_close(&reading->row_of);
    jfr_method_free(&reading->feed.method);
    jfr_text_free(&reading->feed.text);
    jfr_reader_close(reading->feed.reader);
    jw_free(reading);
    return err->message[0] == '\0';
}

void cli_safepoints_close(struct cli_safepoints *all)
{
    for (int i = 0; i < CLI_SAFEPOINTS_SIDES; i++)
        jw_free(all->sides[i].items);
    for (size_t i = 0; i < all->operation_count; i++)
        jw_free(all->operations[i]);
    jw_free(all->operations);
    jw_free(all->culprits);
    jw_map_close(&all->operation_of);
    jw_map_close(&all->culprit_of);
    jw_map_close(&all->thread_of);
}
