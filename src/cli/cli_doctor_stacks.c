/* Stacks of a recording, each distinct one looked at once a chunk: what is missing in them. Context: tool. */
#include <string.h>

#include "base/frame.h"
#include "cli/cli_doctor_read_internal.h"

#define LIBRARY_OTHERS "[other libraries]"

void cli_doctor_take_stack(struct cli_doctor_reading *reading, const struct jfr_reader_event *event,
                           bool is_wall)
{
    struct cli_doctor_stacks *stacks = &reading->doctor->stacks;
    struct cli_feed *feed = &reading->feed;
    struct cli_group made = {.samples = 0};
    void *groups = feed->groups;
    struct jfr_value trace;
    uint64_t key = 0;

    stacks->count++;
    stacks->wall += is_wall;
    stacks->cpu += !is_wall;
    if (jfr_value_field(&event->value, "stackTrace", &trace) &&
        jfr_value_constant(&trace, &made.trace))
        key = jfr_value_key(&trace);
    if (key == 0) {
        stacks->empty++;
        return;
    }

    uint64_t *known = jw_map_put(&feed->group_of, &key, sizeof key);
    if (known == NULL) {
        feed->is_out_of_memory = true;
        return;
    }
    if (*known == 0) {
        if (!cli_feed_reserve(feed, &groups, &feed->group_capacity, feed->group_count,
                              sizeof *feed->groups))
            return;
        feed->groups = groups;
        feed->groups[feed->group_count] = made;
        *known = ++feed->group_count;
    }
    feed->groups[*known - 1].samples++;
    feed->groups[*known - 1].weight += !is_wall;
}

/* Number + 1 of a library; 0: no memory. */
static uint32_t library_number(struct cli_doctor_reading *reading, const char *name)
{
    uint64_t *known = jw_map_put(&reading->library_of, name, strlen(name));
    void *libraries = reading->libraries;

    if (known == NULL) {
        reading->feed.is_out_of_memory = true;
        return 0;
    }
    if (*known != 0)
        return (uint32_t)*known;
    if (!cli_feed_reserve(&reading->feed, &libraries, &reading->library_capacity,
                          reading->library_count, sizeof *reading->libraries))
        return 0;
    reading->libraries = libraries;
    cli_doctor_copy(reading->libraries[reading->library_count], sizeof *reading->libraries, name);
    *known = ++reading->library_count;
    return (uint32_t)*known;
}

/* A function without a name bears that of its library, "[vdso]" of the library "vdso". */
static bool is_named_like(const char *method, const char *library)
{
    const size_t length = strlen(library);

    if (method[0] == '[')
        method++;
    return strncmp(method, library, length) == 0 &&
           (method[length] == '\0' || strcmp(method + length, "]") == 0);
}

/* Names in plain C++ or mangled. Source: HotSpot, runtime/safepoint.hpp, safepointMechanism.hpp; 17 and 25. */
static bool is_of_safepoints(const char *method)
{
    return strstr(method, "SafepointSynchronize") != NULL ||
           strstr(method, "SafepointMechanism") != NULL ||
           strstr(method, "ThreadSafepointState") != NULL;
}

static void look_at_mark(struct cli_doctor_frame *frame, const char *text)
{
    /* The marks of failed walks stand first in their table, up to this one. */
    for (int mark = 0; mark <= JW_MARK_BROKEN_STACK; mark++) {
        if (mark != JW_MARK_NO_JAVA_FRAME && mark != JW_MARK_THREAD_EXIT &&
            strcmp(jw_mark_text((enum jw_mark)mark), text) == 0)
            frame->is_gap = true;
    }
    frame->is_unreadable = strcmp(jw_mark_text(JW_MARK_UNREADABLE_METHOD), text) == 0 ||
                           strcmp(jw_mark_text(JW_MARK_DICT_FULL), text) == 0;
    frame->is_frozen = strcmp(jw_mark_text(JW_MARK_FROZEN), text) == 0;
    frame->is_nameless = strcmp(jw_mark_text(JW_MARK_UNKNOWN_NATIVE), text) == 0 ||
                         strcmp(jw_mark_text(JW_MARK_MEMLIMIT), text) == 0;
}

static void look_at_frame(struct cli_doctor_reading *reading, const struct jfr_stack_frame *from,
                          struct cli_doctor_frame *frame)
{
    struct cli_feed *feed = &reading->feed;
    const bool has_type = from->type.reader != NULL && jfr_value_text(&from->type, &feed->text);

    if (!jfr_method_read(&from->method, &feed->method)) {
        feed->is_out_of_memory = true;
        return;
    }

    const char *library = feed->method.class_name.text;
    const char *method = feed->method.name.text;
    frame->type = cli_frame_type(has_type ? feed->text.text : "", library, method);
    if (frame->type == PROFILE_FRAME_MARK) {
        look_at_mark(frame, method);
    } else if (frame->type == PROFILE_FRAME_NATIVE && library[0] != '\0') {
        const bool is_jvm = strncmp(library, "libjvm.so", 9) == 0;

        frame->library = library_number(reading, library);
        frame->is_nameless =
            is_named_like(method, library) || strcmp(method, jw_mark_text(JW_MARK_MEMLIMIT)) == 0;
        frame->is_jvm_named = is_jvm && !frame->is_nameless;
        frame->is_safepoint = is_jvm && is_of_safepoints(method);
    }
}

/* What this frame says, looked at on first sight; NULL: no memory. */
static const struct cli_doctor_frame *frame_at(struct cli_doctor_reading *reading,
                                               const struct jfr_stack_frame *from)
{
    const uint64_t keys[] = {from->method_key, from->type_key};
    uint64_t *known = jw_map_put(&reading->feed.frame_of, keys, sizeof keys);
    void *frames = reading->frames;

    if (known == NULL) {
        reading->feed.is_out_of_memory = true;
        return NULL;
    }
    if (*known != 0)
        return &reading->frames[*known - 1];
    if (!cli_feed_reserve(&reading->feed, &frames, &reading->frame_capacity, reading->frame_count,
                          sizeof *reading->frames))
        return NULL;
    reading->frames = frames;
    *known = ++reading->frame_count;

    struct cli_doctor_frame *frame = &reading->frames[reading->frame_count - 1];
    *frame = (struct cli_doctor_frame){.library = 0};
    look_at_frame(reading, from, frame);
    return frame;
}

/* The row of a library that spoils stacks, 0 of what is in none; those that find no room share the last one. */
static struct cli_doctor_library *library_at(struct cli_doctor_reading *reading, uint32_t number)
{
    struct cli_doctor_stacks *stacks = &reading->doctor->stacks;
    const char *name = number == 0 ? "" : reading->libraries[number - 1];

    for (size_t i = 0; i < stacks->library_count; i++) {
        if (strcmp(stacks->libraries[i].name, name) == 0)
            return &stacks->libraries[i];
    }
    if (stacks->library_count == CLI_DOCTOR_LIBRARIES)
        return &stacks->libraries[CLI_DOCTOR_LIBRARIES - 1];

    struct cli_doctor_library *library = &stacks->libraries[stacks->library_count++];
    cli_doctor_copy(library->name, sizeof library->name,
                    stacks->library_count == CLI_DOCTOR_LIBRARIES ? LIBRARY_OTHERS : name);
    return library;
}

/* What the frames of one stack say together. */
struct stack {
    uint64_t java_frames;
    uint32_t last_library; /* of native code, up to here */
    uint32_t gap_library, top_library;
    bool has_frame, has_gap, is_nameless_top, is_unreadable, is_frozen, is_safepoint, is_jvm_named;
};

static void add_frame(struct stack *stack, const struct cli_doctor_frame *frame)
{
    const bool is_java = frame->type <= PROFILE_FRAME_C1;

    if (frame->type == PROFILE_FRAME_ADDRESS)
        return; /* what is on top comes next */
    if (!stack->has_frame) {
        stack->is_nameless_top = frame->is_nameless;
        stack->top_library = frame->library;
    }
    stack->has_frame = true;
    stack->java_frames += is_java;
    stack->is_unreadable |= frame->is_unreadable;
    stack->is_frozen |= frame->is_frozen;
    stack->is_safepoint |= frame->is_safepoint && stack->java_frames == 0;
    stack->is_jvm_named |= frame->is_jvm_named;
    if (frame->is_gap && !stack->has_gap) {
        stack->has_gap = true;
        stack->gap_library = stack->last_library;
    }
    if (frame->library != 0)
        stack->last_library = frame->library;
}

static void add_stack(struct cli_doctor_reading *reading, const struct stack *stack,
                      bool is_truncated, const struct cli_group *group)
{
    const uint64_t events = group->samples;
    struct cli_doctor *doctor = reading->doctor;
    struct cli_doctor_stacks *stacks = &doctor->stacks;

    stacks->empty += stack->has_frame ? 0 : events;
    stacks->unreadable += stack->is_unreadable ? events : 0;
    stacks->frozen += stack->is_frozen ? events : 0;
    stacks->jvm_named += stack->is_jvm_named ? events : 0;
    stacks->safepoint += stack->is_safepoint ? events : 0;
    stacks->safepoint_java += stack->is_safepoint && stack->java_frames > 0 ? events : 0;
    if (is_truncated) {
        stacks->truncated += events;
        if (doctor->depth_count > 0 && stack->java_frames >= doctor->depth_count)
            stacks->too_deep += events;
    }
    if (stack->has_gap) {
        stacks->gaps += events;
        library_at(reading, stack->top_library)->failed += events;
        if (stack->gap_library != 0)
            library_at(reading, stack->gap_library)->gaps += events;
    }
    if (stack->is_nameless_top) {
        stacks->nameless_top += events;
        stacks->nameless_cpu += group->weight; /* samples of CPU time */
        library_at(reading, stack->top_library)->nameless += events;
    }
}

void cli_doctor_judge_stacks(struct cli_doctor_reading *reading)
{
    struct cli_feed *feed = &reading->feed;

    for (size_t i = 0; i < feed->group_count && !feed->is_out_of_memory; i++) {
        struct jfr_stack frames = {.is_truncated = false};
        struct jfr_stack_frame from;
        struct stack stack = {.has_frame = false};

        if (jfr_stack_begin(&feed->groups[i].trace, &frames)) {
            const struct cli_doctor_frame *frame;

            while (jfr_stack_next(&frames, &from) && (frame = frame_at(reading, &from)) != NULL)
                add_frame(&stack, frame);
        }
        add_stack(reading, &stack, frames.is_truncated, &feed->groups[i]);
    }
    jw_map_clear(&feed->group_of);
    jw_map_clear(&feed->frame_of);
    cli_forget_types(feed);
    feed->group_count = 0;
    reading->frame_count = 0;
}

void cli_doctor_forget_stacks(struct cli_doctor_reading *reading)
{
    jw_free(reading->feed.groups);
    jw_free(reading->frames);
    jw_free(reading->libraries);
    jw_map_close(&reading->feed.group_of);
    jw_map_close(&reading->feed.frame_of);
    jw_map_close(&reading->library_of);
}
