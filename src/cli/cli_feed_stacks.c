/*
 * Stacks of a recording as frames of a profile. Context: tool.
 *
 * How frames of a recording say what they are:
 *     Interpreted, JIT compiled, Inlined, C1 compiled    Java
 *     Java          Java, of which it is not said how it runs (stacks in deadlocks): taken for compiled, as any other type of a class is
 *     Native        of a class: a Java method marked native; without one: C, by other producers
 *     C++, Kernel   native code; the class is the library
 *     Receiver      a class alone: of the object on which a method was being looked up
 *     Compiling     a Java method that does not run: the code above compiles it
 *     Unknown       what is missing, in words; also any frame of our class "jaywalk" in brackets
 */
#include <string.h>

#include "base/hash.h"
#include "cli/cli_feed_internal.h"

#define CLI_RAW_BYTES         1024u
#define CLI_FRAME_SLOTS_FIRST ((size_t)1024)

#define CLI_NEAR_KEPT                                                                              \
    ((size_t)1 << 17) /* so many are cleared for each chunk, however few it uses */

static bool cli_is_bracketed(const char *text)
{
    const size_t length = strlen(text);

    return length > 2 && text[0] == '[' && text[length - 1] == ']';
}

enum profile_frame_type cli_frame_type(const char *type, const char *class_name, const char *method)
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
        {"Receiver", PROFILE_FRAME_CLASS},
        {"Compiling", PROFILE_FRAME_COMPILING},
        {"Address", PROFILE_FRAME_ADDRESS},
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

bool cli_read_frame(struct cli_feed *feed, const struct jfr_stack_frame *from,
                    struct profile_frame *out)
{
    const bool has_type = from->type.reader != NULL && jfr_value_text(&from->type, &feed->text);
    const char *type = has_type ? feed->text.text : "";
    struct jfr_method *method = &feed->method;

    if (!jfr_method_read(&from->method, method)) {
        feed->is_out_of_memory = true;
        return false;
    }

    const char *class_name = method->class_name.text;
    struct profile_frame frame = {
        .type = cli_frame_type(type, class_name, method->name.text),
        .method = method->name.text,
        .line = from->line > 0 && from->line < INT32_MAX ? (int)from->line : 0,
    };
    if (frame.type == PROFILE_FRAME_NATIVE || frame.type == PROFILE_FRAME_KERNEL) {
        frame.module = class_name;
    } else if (frame.type == PROFILE_FRAME_CLASS) {
        frame.class_name = class_name;
        frame.method = NULL;
    } else if (frame.type != PROFILE_FRAME_MARK && frame.type != PROFILE_FRAME_ADDRESS) {
        frame.class_name = class_name;
        frame.signature = method->descriptor.text;
    }
    *out = frame;
    return true;
}

static profile_frame_id cli_resolve_frame(struct cli_feed *feed, const struct jfr_stack_frame *from)
{
    struct profile_frame frame;

    if (!cli_read_frame(feed, from, &frame))
        return PROFILE_FRAME_NONE;
    /* None of them is code that ran. */
    if (feed->wish->is_of_code &&
        (frame.type == PROFILE_FRAME_CLASS || frame.type == PROFILE_FRAME_COMPILING ||
         frame.type == PROFILE_FRAME_ADDRESS))
        return PROFILE_FRAME_NONE;
    return profile_frame(feed->profile, &frame);
}

/* By the bytes of its names, which are the same in other chunks. */
static profile_frame_id cli_look_up_frame(struct cli_feed *feed, const struct jfr_stack_frame *from,
                                          uint32_t line)
{
    unsigned char raw[CLI_RAW_BYTES];
    size_t used_bytes = sizeof line;
    profile_frame_id *named = line == 0 ? cli_method_frame(feed, from) : NULL;

    if (named != NULL && *named == 0)
        *named = cli_resolve_frame(feed, from) + 1;
    if (named != NULL)
        return *named - 1;

    memcpy(raw, &line, sizeof line);
    if (from->type.reader == NULL ||
        !jfr_value_raw_text(&from->type, raw, sizeof raw, &used_bytes) ||
        !jfr_method_raw(&from->method, raw, sizeof raw, &used_bytes))
        return cli_resolve_frame(feed, from);

    const uint64_t known = jw_map_get(&feed->frame_of_raw, raw, used_bytes);
    if (known != 0)
        return (profile_frame_id)(known - 1);

    const profile_frame_id frame = cli_resolve_frame(feed, from);
    uint64_t *kept = jw_map_put(&feed->frame_of_raw, raw, used_bytes);
    if (kept == NULL)
        feed->is_out_of_memory = true;
    else
        *kept = (uint64_t)frame + 1;
    return frame;
}

static struct cli_known_frame *cli_frame_slot(struct cli_known_frame *frames, size_t slots,
                                              const struct cli_known_frame *wanted)
{
    const uint64_t hash =
        jw_hash_word(wanted->method_key * 31 + wanted->type_key + ((uint64_t)wanted->line << 32));

    for (size_t at = hash & (slots - 1);; at = (at + 1) & (slots - 1)) { /* a half is free */
        struct cli_known_frame *frame = &frames[at];

        if (!frame->is_there ||
            (frame->method_key == wanted->method_key && frame->type_key == wanted->type_key &&
             frame->line == wanted->line))
            return frame;
    }
}

static bool cli_grow_frames(struct cli_feed *feed)
{
    const size_t slots = feed->frame_slots == 0 ? CLI_FRAME_SLOTS_FIRST : feed->frame_slots * 2;
    struct cli_known_frame *frames = jw_alloc(jw_mul_bytes(slots, sizeof *frames));

    if (frames == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < feed->frame_slots; i++) {
        if (feed->frames[i].is_there)
            *cli_frame_slot(frames, slots, &feed->frames[i]) = feed->frames[i];
    }
    jw_free(feed->frames);
    feed->frames = frames;
    feed->frame_slots = slots;
    return true;
}

/* Where a frame of small keys stands among those of the chunk, with any line; NULL: not there, keys or memory are not so. */
static profile_frame_id *cli_near_frame(struct cli_feed *feed, const struct jfr_stack_keys *from)
{
    const size_t at = (size_t)from->method_key * CLI_NEAR_TYPES + (size_t)from->type_key;

    if (from->method_key >= CLI_NEAR_METHODS || from->type_key >= CLI_NEAR_TYPES)
        return NULL;
    if (at < feed->near_count)
        return &feed->near_frames[at];

    size_t count = feed->near_count == 0 ? CLI_FRAME_SLOTS_FIRST : feed->near_count;
    while (count <= at)
        count *= 2;
    profile_frame_id *grown =
        jw_realloc(feed->near_frames, jw_mul_bytes(count, sizeof *feed->near_frames));
    if (grown == NULL) /* the slots may still do */
        return NULL;
    memset(grown + feed->near_count, 0, (count - feed->near_count) * sizeof *grown);
    feed->near_frames = grown;
    feed->near_count = count;
    return &feed->near_frames[at];
}

static profile_frame_id cli_know_frame_of_slots(struct cli_feed *feed,
                                                const struct jfr_stack *stack,
                                                const struct jfr_stack_keys *from)
{
    /* Without lines, one look-up serves all lines of a method. */
    const bool has_line =
        profile_config_of(feed->profile)->split_lines && from->line > 0 && from->line < INT32_MAX;
    struct cli_known_frame wanted = {.method_key = from->method_key,
                                     .type_key = from->type_key,
                                     .line = has_line ? (uint32_t)from->line : 0,
                                     .is_there = true};
    struct jfr_stack_frame frame;

    if (feed->frame_count * 2 >= feed->frame_slots && !cli_grow_frames(feed))
        return PROFILE_FRAME_NONE;

    struct cli_known_frame *slot = cli_frame_slot(feed->frames, feed->frame_slots, &wanted);
    if (slot->is_there)
        return slot->frame;
    jfr_stack_frame_of(stack, from, &frame);
    wanted.frame = cli_look_up_frame(feed, &frame, wanted.line);
    *slot = wanted;
    feed->frame_count++;
    return wanted.frame;
}

profile_frame_id cli_know_frame(struct cli_feed *feed, const struct jfr_stack *stack,
                                const struct jfr_stack_keys *from)
{
    profile_frame_id *near =
        profile_config_of(feed->profile)->split_lines ? NULL : cli_near_frame(feed, from);
    struct jfr_stack_frame frame;

    if (near == NULL)
        return cli_know_frame_of_slots(feed, stack, from);
    if (*near == 0) {
        jfr_stack_frame_of(stack, from, &frame);
        *near = cli_look_up_frame(feed, &frame, 0) + 1;
        feed->near_used++;
    }
    return *near - 1;
}

static void cli_forget_frames(struct cli_feed *feed)
{
    if (feed->near_count > CLI_NEAR_KEPT && feed->near_used * 16 < feed->near_count) {
        jw_free(feed->near_frames);
        feed->near_frames = NULL;
        feed->near_count = 0;
    }
    if (feed->near_count > 0)
        memset(feed->near_frames, 0, feed->near_count * sizeof *feed->near_frames);
    feed->near_used = 0;
    /* What a large chunk took is not cleared for each small one after it. */
    if (feed->frame_count * 16 < feed->frame_slots) {
        jw_free(feed->frames);
        feed->frames = NULL;
        feed->frame_slots = 0;
    }
    for (size_t i = 0; i < feed->frame_slots; i++)
        feed->frames[i].is_there = false;
    feed->frame_count = 0;
}

/* The frames of a stack that has no ways, leaf first. False: out of memory. */
static bool cli_resolve_stack(struct cli_feed *feed, const struct cli_group *group,
                              struct profile_stack *out)
{
    void *stack = feed->stack;
    struct jfr_stack frames;
    struct jfr_stack_keys keys;

    out->frame_count = 0;
    out->is_truncated = false;
    if (group->trace.reader == NULL || !jfr_stack_begin(&group->trace, &frames))
        return true;
    while ((out->frame_count == 0 || !feed->wish->is_of_leaves) &&
           jfr_stack_next_keys(&frames, &keys)) {
        if (!cli_feed_reserve(feed, &stack, &feed->stack_capacity, out->frame_count,
                              sizeof *feed->stack))
            return false;
        feed->stack = stack;

        const profile_frame_id frame = cli_know_frame(feed, &frames, &keys);
        feed->stack[out->frame_count] = frame;
        out->frame_count += !feed->wish->is_of_code || frame != PROFILE_FRAME_NONE;
    }
    out->is_truncated = frames.is_truncated && !feed->wish->is_of_leaves;
    out->frames = feed->stack;
    return !feed->is_out_of_memory;
}

/* The class of what was allocated, or waited for, which is on top of the stack; PROFILE_FRAME_NONE: none. */
static profile_frame_id cli_top_of(struct cli_feed *feed, const struct cli_group *group)
{
    struct profile_frame top = {.type = PROFILE_FRAME_CLASS, .line = -1};
    struct jfr_value name;

    if (group->object_class.reader == NULL)
        return PROFILE_FRAME_NONE;
    if (jfr_value_field(&group->object_class, "name", &name) && jfr_value_text(&name, &feed->text))
        top.class_name = feed->text.text;
    return profile_frame(feed->profile, &top);
}

/* 0: there is none. */
static int64_t integer_of(const struct jfr_value *object, const char *name)
{
    struct jfr_value field;
    int64_t integer;

    return jfr_value_field(object, name, &field) && jfr_value_integer(&field, &integer) ? integer
                                                                                        : 0;
}

profile_frame_id cli_resolve_thread(struct cli_feed *feed, const struct jfr_value *thread)
{
    struct jfr_value field;
    struct profile_thread told = {0};

    if (thread->reader == NULL)
        return profile_thread(feed->profile, NULL);
    told.os_thread_id = integer_of(thread, "osThreadId");
    if (integer_of(thread, "virtual") != 0)
        told.virtual_id = integer_of(thread, "javaThreadId");
    if (jfr_value_field(thread, "javaName", &field) && jfr_value_text(&field, &feed->text))
        told.java_name = feed->text.text;
    if (jfr_value_field(thread, "osName", &field) && jfr_value_text(&field, &feed->other_text))
        told.os_name = feed->other_text.text;
    return profile_thread(feed->profile, &told);
}

/* Where a stack ends in the tree, frame by frame. PROFILE_STACK_NONE: memory is out. */
static profile_stack_id cli_add_stack(struct cli_feed *feed, const struct cli_group *group,
                                      struct profile_stack *stack, uint32_t *depth)
{
    profile_stack_id at;

    if (!cli_resolve_stack(feed, group, stack))
        return PROFILE_STACK_NONE;
    at = profile_way_begin(feed->profile, stack, depth);
    for (size_t i = stack->frame_count; i > 0 && at != PROFILE_STACK_NONE; i--)
        at = profile_way_on(feed->profile, at, stack->frames[i - 1], depth);
    return at;
}

/* Stacks lie in the chunk in another order than they are taken in, so each is a wait for memory: they are asked for some ahead. */
#define CLI_STACKS_AHEAD 8u
#define CLI_LINE_BYTES   64u
#define CLI_AHEAD_BYTES  512u

static void cli_ask_ahead(const struct cli_feed *feed, size_t number)
{
    if (number >= feed->group_count || feed->groups[number].trace.reader == NULL)
        return;

    const struct jfr_value *asked = &feed->groups[number].trace;
    const size_t length_bytes = (size_t)(asked->end - asked->bytes);
    for (size_t offset = 0; offset < length_bytes && offset < CLI_AHEAD_BYTES;
         offset += CLI_LINE_BYTES)
        __builtin_prefetch(asked->end - 1 - offset);
    __builtin_prefetch(asked->bytes);
}

profile_stack_id cli_feed_group(struct cli_feed *feed, const struct cli_group *group)
{
    struct profile_stack stack = {.roots = group->roots, .root_count = JW_COUNT_OF(group->roots)};
    profile_stack_id at;
    uint32_t depth;

    if (!cli_walk_stack(feed, group, &stack, &at, &depth))
        at = cli_add_stack(feed, group, &stack, &depth);
    if (at != PROFILE_STACK_NONE)
        at = profile_way_on(feed->profile, at, cli_top_of(feed, group), &depth);
    if (at == PROFILE_STACK_NONE || feed->is_out_of_memory)
        return PROFILE_STACK_NONE; /* the profile is marked, or the feed is */
    profile_way_end(feed->profile, at, depth, group->samples, group->weight);
    return at;
}

void cli_feed_groups(struct cli_feed *feed)
{
    uint64_t stack_bytes = 0;

    for (size_t i = 0; i < feed->group_count; i++)
        if (feed->groups[i].trace.reader != NULL)
            stack_bytes += (uint64_t)(feed->groups[i].trace.end - feed->groups[i].trace.bytes);
    cli_begin_ways(feed, stack_bytes);
    for (size_t i = 0; i < feed->group_count; i++) {
        cli_ask_ahead(feed, i + CLI_STACKS_AHEAD);
        if (i + 1 < feed->group_count && feed->groups[i + 1].trace.reader != NULL)
            cli_ask_known(feed, &feed->groups[i + 1].trace);

        const profile_stack_id at = cli_feed_group(feed, &feed->groups[i]);
        if (at == PROFILE_STACK_NONE)
            return;
        if (feed->moments.stacks != NULL)
            feed->moments.stacks[i] = at;
    }
}

void cli_feed_forget(struct cli_feed *feed)
{
    jw_map_clear(&feed->group_of);
    if (feed->near_group_count > CLI_NEAR_KEPT && feed->group_count * 16 < feed->near_group_count) {
        jw_free(feed->near_groups);
        feed->near_groups = NULL;
        feed->near_group_count = 0;
    }
    if (feed->near_group_count > 0)
        memset(feed->near_groups, 0, feed->near_group_count * sizeof *feed->near_groups);
    cli_forget_frames(feed);
    cli_forget_methods(&feed->methods);
    jw_map_clear(&feed->thread_of);
    jw_map_clear(&feed->thread_fits);
    cli_forget_types(feed);
    feed->group_count = 0;
}
