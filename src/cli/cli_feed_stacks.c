/*
 * Stacks of a recording as frames of a profile, through filters. Context: tool.
 *
 * How frames of a recording say what they are:
 *     Interpreted, JIT compiled, Inlined, C1 compiled    Java
 *     Native        of a class: a Java method marked native; without one: C, by other producers
 *     C++, Kernel   native code; the class is the library
 *     Unknown       what is missing, in words; also any frame of our class "jaywalk" in brackets
 */
#include <string.h>

#include "base/hash.h"
#include "cli/cli_feed_internal.h"

#define CLI_FRAME_SLOTS_FIRST 1024u
#define CLI_TITLE_BYTES       1024

static bool cli_is_bracketed(const char *text)
{
    const size_t length = strlen(text);

    return length > 2 && text[0] == '[' && text[length - 1] == ']';
}

static enum profile_frame_type cli_frame_type(const char *type, const char *class_name,
                                              const char *method)
{
    static const struct {
        const char *name;
        enum profile_frame_type type;
    } types[] = {
        {"Interpreted", PROFILE_FRAME_INTERPRETED},
        {"JIT compiled", PROFILE_FRAME_COMPILED},
        {"Inlined", PROFILE_FRAME_INLINED},
        {"C1 compiled", PROFILE_FRAME_C1},
        {"C++", PROFILE_FRAME_NATIVE},
        {"Kernel", PROFILE_FRAME_KERNEL},
        {"Unknown", PROFILE_FRAME_MARK},
    };

    if (strcmp(class_name, "jaywalk") == 0 && cli_is_bracketed(method))
        return PROFILE_FRAME_MARK;
    if (strcmp(type, "Native") == 0) {
        if (class_name[0] != '\0')
            return PROFILE_FRAME_JAVA_NATIVE;
        return cli_is_bracketed(method) ? PROFILE_FRAME_MARK : PROFILE_FRAME_NATIVE;
    }
    for (size_t i = 0; i < JW_COUNT_OF(types); i++) {
        if (strcmp(types[i].name, type) == 0)
            return types[i].type;
    }
    return class_name[0] == '\0' ? PROFILE_FRAME_MARK : PROFILE_FRAME_COMPILED;
}

static bool cli_matches_any(const char *title, const regex_t *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (regexec(&patterns[i], title, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

static void cli_resolve_frame(struct cli_feed *feed, const struct jfr_stack_frame *from,
                              struct cli_known_frame *known)
{
    const bool has_type = from->type.reader != NULL && jfr_value_text(&from->type, &feed->text);
    const char *type = has_type ? feed->text.text : "";
    struct jfr_method *method = &feed->method;

    if (!jfr_method_read(&from->method, method)) {
        feed->is_out_of_memory = true;
        return;
    }

    const char *class_name = method->class_name.text;
    struct profile_frame frame = {
        .type = cli_frame_type(type, class_name, method->name.text),
        .method = method->name.text,
        .line = from->line > 0 && from->line < INT32_MAX ? (int)from->line : 0,
    };
    if (frame.type == PROFILE_FRAME_NATIVE || frame.type == PROFILE_FRAME_KERNEL) {
        frame.module = class_name;
    } else if (frame.type != PROFILE_FRAME_MARK) {
        frame.class_name = class_name;
        frame.signature = method->descriptor.text;
    }
    known->id = profile_frame(feed->profile, &frame);
    if (feed->wish->include_count + feed->wish->exclude_count > 0) {
        char title[CLI_TITLE_BYTES];

        export_frame_title(&frame, title, sizeof title);
        known->is_included =
            cli_matches_any(title, feed->wish->includes, feed->wish->include_count);
        known->is_excluded =
            cli_matches_any(title, feed->wish->excludes, feed->wish->exclude_count);
    }
}

static struct cli_known_frame *cli_frame_slot(struct cli_known_frame *frames, uint32_t slots,
                                              uint64_t method_key, uint64_t type_key, int64_t line)
{
    const uint64_t hash = jw_hash_word(method_key ^ jw_hash_word(type_key * 31 + (uint64_t)line));
    uint32_t at = (uint32_t)hash & (slots - 1);

    while (frames[at].line != INT64_MIN &&
           (frames[at].method_key != method_key || frames[at].type_key != type_key ||
            frames[at].line != line))
        at = (at + 1) & (slots - 1);
    return &frames[at];
}

static bool cli_frames_grow(struct cli_feed *feed)
{
    const uint32_t slots = feed->frame_slots == 0 ? CLI_FRAME_SLOTS_FIRST : feed->frame_slots * 2;
    struct cli_known_frame *frames =
        slots == 0 ? NULL : jw_alloc(jw_mul_bytes(slots, sizeof *frames));

    if (frames == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < slots; i++)
        frames[i].line = INT64_MIN;
    for (uint32_t i = 0; i < feed->frame_slots; i++) {
        const struct cli_known_frame *old = &feed->frames[i];

        if (old->line != INT64_MIN)
            *cli_frame_slot(frames, slots, old->method_key, old->type_key, old->line) = *old;
    }
    jw_free(feed->frames);
    feed->frames = frames;
    feed->frame_slots = slots;
    return true;
}

static const struct cli_known_frame *cli_know_frame(struct cli_feed *feed,
                                                    const struct jfr_stack_frame *from)
{
    /* Without lines, one look-up serves all lines of a method. */
    const int64_t line =
        profile_config_of(feed->profile)->split_lines && from->line > 0 ? from->line : 0;

    if (feed->frame_count >= feed->frame_slots / 4 * 3 && !cli_frames_grow(feed))
        return NULL;

    struct cli_known_frame *known =
        cli_frame_slot(feed->frames, feed->frame_slots, from->method_key, from->type_key, line);
    if (known->line == INT64_MIN) {
        *known = (struct cli_known_frame){
            .method_key = from->method_key, .type_key = from->type_key, .line = line};
        feed->frame_count++;
        cli_resolve_frame(feed, from, known);
    }
    return known;
}

static bool cli_stack_reserve(struct cli_feed *feed, size_t count)
{
    if (count < feed->stack_capacity)
        return true;

    const size_t capacity = feed->stack_capacity == 0 ? 256 : feed->stack_capacity * 2;
    profile_frame_id *stack = jw_realloc(feed->stack, jw_mul_bytes(capacity, sizeof *stack));
    if (stack == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    feed->stack = stack;
    feed->stack_capacity = capacity;
    return true;
}

/* False: filtered out, or out of memory. */
static bool cli_resolve_stack(struct cli_feed *feed, const struct cli_group *group,
                              struct profile_stack *stack)
{
    struct jfr_stack frames;
    struct jfr_stack_frame frame;
    bool is_included = feed->wish->include_count == 0;

    stack->frame_count = 0;
    if (group->trace.reader == NULL || !jfr_stack_begin(&group->trace, &frames))
        return is_included;
    stack->is_truncated = frames.is_truncated;
    while (jfr_stack_next(&frames, &frame)) {
        if (!cli_stack_reserve(feed, stack->frame_count))
            return false;

        const struct cli_known_frame *known = cli_know_frame(feed, &frame);
        if (known == NULL || known->is_excluded)
            return false;
        is_included = is_included || known->is_included;
        feed->stack[stack->frame_count++] = known->id;
    }
    stack->frames = feed->stack;
    return is_included;
}

static profile_frame_id cli_resolve_thread(struct cli_feed *feed, const struct jfr_value *thread)
{
    struct jfr_value field;
    struct profile_thread told = {0};

    if (thread->reader == NULL)
        return profile_thread(feed->profile, NULL);
    if (jfr_value_field(thread, "osThreadId", &field) &&
        !jfr_value_integer(&field, &told.os_thread_id))
        told.os_thread_id = 0;
    if (jfr_value_field(thread, "javaName", &field) && jfr_value_text(&field, &feed->text))
        told.java_name = feed->text.text;
    if (jfr_value_field(thread, "osName", &field) && jfr_value_text(&field, &feed->other_text))
        told.os_name = feed->other_text.text;
    return profile_thread(feed->profile, &told);
}

void cli_feed_groups(struct cli_feed *feed)
{
    const bool has_threads = profile_config_of(feed->profile)->split_threads;

    for (uint32_t i = 0; i < feed->group_slots; i++) {
        const struct cli_group *group = &feed->groups[i];
        struct profile_stack stack = {.samples = group->samples, .weight = group->weight};

        if (group->samples == 0 || !cli_resolve_stack(feed, group, &stack))
            continue;
        feed->found->samples += group->samples;
        if (stack.frame_count == 0)
            feed->found->without_stack += group->samples;
        stack.thread = has_threads ? cli_resolve_thread(feed, &group->thread) : PROFILE_FRAME_NONE;
        profile_add(feed->profile, &stack);
    }
}

void cli_feed_forget(struct cli_feed *feed)
{
    jw_free(feed->groups);
    jw_free(feed->frames);
    feed->groups = NULL;
    feed->frames = NULL;
    feed->group_slots = feed->group_count = 0;
    feed->frame_slots = feed->frame_count = 0;
}
