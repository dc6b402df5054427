/* Calls of handlers: what they are given is fetched, and they are dispatched. Context: hook, control, tool. */
#include <stdio.h>
#include <string.h>

#include "probe/probe_classes.h"
#include "probe/probe_weave_internal.h"

#define DISPATCHER "java/lang/JaywalkDispatcher"
#define LINK_TYPE                                                                                  \
    "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;I)"    \
    "Ljava/lang/invoke/CallSite;"
#define DYNAMIC_SINCE 51         /* version of class files */
#define NONE          UINT16_MAX /* of locals */

/* Opcodes that are not of room classfile's own. */
enum {
    OP_ACONST_NULL = 1,
    OP_LDC_W = 19,
    OP_ILOAD = 21,
    OP_ISTORE = 54,
    OP_AASTORE = 83,
    OP_DUP = 89,
    OP_DUP2 = 92,
    OP_LSUB = 101,
    OP_IRETURN = 172,
    OP_RETURN = 177,
    OP_ANEWARRAY = 189,
    OP_WIDE = 196,
};

/* Letter of a type among B C D F I J S Z and L, for each reference. */
static char letter_of(struct classfile_text type)
{
    return type.bytes[0] == '[' ? 'L' : type.bytes[0];
}

static uint16_t words_of(char type)
{
    return type == 'J' || type == 'D' ? 2 : 1;
}

/* How far the instruction for this type stands behind that for int. */
static uint8_t step_of(char type)
{
    return type == 'J' ? 1 : type == 'F' ? 2 : type == 'D' ? 3 : type == 'L' ? 4 : 0;
}

static char as_kept(char type)
{
    return type == 'J' || type == 'F' || type == 'D' || type == 'L' ? type : 'I';
}

/* `base`: OP_ILOAD or OP_ISTORE. */
static void put_local(struct classfile_snippet *snippet, uint8_t base, char type, uint16_t number,
                      uint32_t stack_words)
{
    const uint8_t opcode = (uint8_t)(base + step_of(type));

    if (number <= UINT8_MAX) {
        const uint8_t code[] = {opcode, (uint8_t)number};

        classfile_put_code(snippet, code, sizeof code, stack_words);
    } else {
        const uint8_t code[] = {OP_WIDE, opcode, (uint8_t)(number >> 8), (uint8_t)number};

        classfile_put_code(snippet, code, sizeof code, stack_words);
    }
}

void probe_weave_put_load(struct classfile_snippet *snippet, char type, uint16_t number,
                          uint32_t stack_words)
{
    put_local(snippet, OP_ILOAD, type, number, stack_words);
}

static void put_constant(struct classfile_snippet *snippet, uint8_t opcode, uint16_t index,
                         uint32_t stack_words)
{
    const uint8_t code[] = {opcode, (uint8_t)(index >> 8), (uint8_t)index};

    classfile_put_code(snippet, code, sizeof code, stack_words);
}

static void put_boxing(struct classfile_snippet *snippet, struct classfile_additions *additions,
                       char type)
{
    static const char letters[] = "BCDFIJSZ";
    static const char *const classes[] = {"Byte",    "Character", "Double", "Float",
                                          "Integer", "Long",      "Short",  "Boolean"};
    const char *letter = memchr(letters, type, sizeof letters - 1);
    char name[32], descriptor[48];

    if (letter == NULL)
        return;
    snprintf(name, sizeof name, "java/lang/%s", classes[letter - letters]);
    snprintf(descriptor, sizeof descriptor, "(%c)L%s;", type, name);
    classfile_put_call(snippet, classfile_add_method(additions, name, "valueOf", descriptor));
}

/* Two words; the instruction behind it says how deep the stack is. */
static void put_time(struct classfile_snippet *snippet, struct classfile_additions *additions)
{
    classfile_put_call(snippet,
                       classfile_add_method(additions, "java/lang/System", "nanoTime", "()J"));
}

/* ---- what is kept ---- */

static void find_parameters(struct probe_weaving *at, uint16_t method)
{
    const struct classfile_member *member = &at->file.methods[method];
    const struct classfile_text descriptor = classfile_text_of(&at->file, member->descriptor_index);
    uint16_t local = (member->access & CLASSFILE_STATIC) == 0;
    struct classfile_text type;
    uint32_t cursor = 1; /* behind the parenthesis */

    at->argument_count = 0;
    while (at->argument_count < PROBE_WEAVE_ARGUMENTS &&
           classfile_next_type(descriptor, &cursor, &type)) {
        at->types[at->argument_count] = letter_of(type);
        at->locals[at->argument_count++] = local;
        local = (uint16_t)(local + words_of(letter_of(type)));
    }
    at->kept = (struct probe_weave_kept){.begun = NONE, .object = NONE, .entered = NONE};
    memset(at->kept.arguments, 0xff, sizeof at->kept.arguments);
}

static void keep_argument(struct probe_weaving *at, struct classfile_snippet *snippet,
                          uint32_t number)
{
    const char type = at->types[number];
    uint16_t *to = &at->kept.arguments[number];

    if (*to != NONE)
        return;
    *to = classfile_keep_local(snippet, as_kept(type));
    put_local(snippet, OP_ILOAD, type, at->locals[number], words_of(type));
    put_local(snippet, OP_ISTORE, type, *to, 0);
}

static void keep_for(struct probe_weaving *at, const struct classfile_site *site,
                     const struct probe_handler *handler, struct classfile_additions *additions,
                     struct classfile_snippet *snippet)
{
    if (handler->is_paired && at->kept.entered == NONE) {
        at->kept.entered = classfile_keep_local(snippet, 'I');
        classfile_put_int(snippet, 0, additions, 1);
        put_local(snippet, OP_ISTORE, 'I', at->kept.entered, 0);
    }
    for (uint32_t i = 0; i < handler->capture_count; i++) {
        const struct probe_capture *capture = &handler->captures[i];

        if (capture->kind == PROBE_ARGUMENT) {
            keep_argument(at, snippet, capture->argument);
        } else if (capture->kind == PROBE_ARGUMENTS) {
            for (uint32_t j = 0; j < at->argument_count; j++)
                keep_argument(at, snippet, j);
        } else if (capture->kind == PROBE_THIS && site->has_this && !site->keeps_this &&
                   at->kept.object == NONE) {
            at->kept.object = classfile_keep_local(snippet, 'L');
            put_local(snippet, OP_ILOAD, 'L', 0, 1);
            put_local(snippet, OP_ISTORE, 'L', at->kept.object, 0);
        } else if (capture->kind == PROBE_DURATION && at->kept.begun == NONE) {
            at->kept.begun = classfile_keep_local(snippet, 'J');
        }
    }
}

static void keep(struct probe_weaving *at, const struct classfile_site *site,
                 struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        const struct probe_handler *handler =
            at->handlers[at->wants[site->method][i].handler].handler;

        if (handler->place != PROBE_ENTRY)
            keep_for(at, site, handler, additions, snippet);
    }
}

/* ---- a call ---- */

/* A place of a handler, while its call is put together. */
struct place {
    struct probe_weaving *at;
    const struct classfile_site *site;
    struct classfile_additions *additions;
    struct classfile_snippet *snippet;
    uint16_t value_local; /* what is returned or thrown */
    char value_type;      /* 0: nothing */
    uint32_t depth_words; /* what was put on the stack so far */
    const char *rule_name;
};

static void put_argument(struct place *place, uint32_t number, bool is_boxed, uint32_t depth_words)
{
    struct probe_weaving *at = place->at;
    const char type = at->types[number];
    const uint16_t local = place->site->place == CLASSFILE_PLACE_ENTRY ? at->locals[number]
                                                                       : at->kept.arguments[number];

    put_local(place->snippet, OP_ILOAD, type, local, depth_words + words_of(type));
    if (is_boxed)
        put_boxing(place->snippet, place->additions, type);
}

static void put_arguments(struct place *place)
{
    const struct probe_weaving *at = place->at;
    const uint32_t depth_words = place->depth_words;

    classfile_put_int(place->snippet, (int32_t)at->argument_count, place->additions,
                      depth_words + 1);
    put_constant(place->snippet, OP_ANEWARRAY,
                 classfile_add_class(place->additions, "java/lang/Object"), depth_words + 1);
    for (uint32_t i = 0; i < at->argument_count; i++) {
        classfile_put_op(place->snippet, OP_DUP, depth_words + 2);
        classfile_put_int(place->snippet, (int32_t)i, place->additions, depth_words + 3);
        put_argument(place, i, true, depth_words + 3);
        classfile_put_op(place->snippet, OP_AASTORE, 0);
    }
}

static void put_object(struct place *place)
{
    const struct classfile_member *member = &place->at->file.methods[place->site->method];
    const bool is_static = (member->access & CLASSFILE_STATIC) != 0;

    if (!is_static && place->site->has_this)
        put_local(place->snippet, OP_ILOAD, 'L', 0, place->depth_words + 1);
    else if (place->at->kept.object != NONE)
        put_local(place->snippet, OP_ILOAD, 'L', place->at->kept.object, place->depth_words + 1);
    else
        classfile_put_op(place->snippet, OP_ACONST_NULL, place->depth_words + 1);
}

/* "com.acme.Shop.add" */
static void put_method_name(struct place *place)
{
    const struct probe_weaving *at = place->at;
    const struct classfile_text name = classfile_name(&at->file);
    const struct classfile_text method =
        classfile_text_of(&at->file, at->file.methods[place->site->method].name_index);
    char text[1024];
    size_t used = 0;

    for (; used < name.length_bytes && used < sizeof text / 2; used++)
        text[used] = name.bytes[used] == '/' ? '.' : name.bytes[used];
    text[used++] = '.';
    for (uint32_t i = 0; i < method.length_bytes && used < sizeof text; i++)
        text[used++] = method.bytes[i];
    put_constant(place->snippet, OP_LDC_W, classfile_add_string(place->additions, text, used),
                 place->depth_words + 1);
}

static void put_value(struct place *place, const struct probe_capture *capture)
{
    if (place->value_type == 0) {
        classfile_put_op(place->snippet, OP_ACONST_NULL, place->depth_words + 1);
        return;
    }
    put_local(place->snippet, OP_ILOAD, place->value_type, place->value_local,
              place->depth_words + words_of(place->value_type));
    if (capture->type == 'L')
        put_boxing(place->snippet, place->additions, place->value_type);
}

static void put_duration(struct place *place)
{
    put_time(place->snippet, place->additions);
    put_local(place->snippet, OP_ILOAD, 'J', place->at->kept.begun, place->depth_words + 4);
    classfile_put_op(place->snippet, OP_LSUB, 0);
}

static void put_capture(struct place *place, const struct probe_capture *capture)
{
    if (probe_kind_fetched(capture->kind) != NULL)
        return;
    switch ((enum probe_kind)capture->kind) {
    case PROBE_THIS:
        put_object(place);
        break;
    case PROBE_ARGUMENT:
        put_argument(place, capture->argument, capture->type == 'L', place->depth_words);
        break;
    case PROBE_ARGUMENTS:
        put_arguments(place);
        break;
    case PROBE_RETURNED:
    case PROBE_THROWN:
        put_value(place, capture);
        break;
    case PROBE_DURATION:
        put_duration(place);
        break;
    case PROBE_METHOD:
        put_method_name(place);
        break;
    case PROBE_RULE:
        put_constant(
            place->snippet, OP_LDC_W,
            classfile_add_string(place->additions, place->rule_name, strlen(place->rule_name)),
            place->depth_words + 1);
        break;
    case PROBE_CALLER:
    case PROBE_SPAN:
    case PROBE_TRACE:
    case PROBE_ENDPOINT:
    case PROBE_KIND_LIMIT:
        break;
    }
    place->depth_words += words_of(capture->type);
}

static int32_t site_of(const struct probe_weaving *at, const struct classfile_site *site,
                       const struct probe_handler *handler)
{
    const struct classfile_member *member = &at->file.methods[site->method];

    if (handler->target == NULL || handler->site >= 0)
        return handler->site;
    return at->of->site_of == NULL
               ? -1
               : at->of->site_of(handler, classfile_name(&at->file),
                                 classfile_text_of(&at->file, member->name_index),
                                 classfile_text_of(&at->file, member->descriptor_index));
}

/*
 * The number of the attach is an operand, not a constant: a class keeps every constant that it ever had, however often it is written
 * again. Source: HotSpot, VM_RedefineClasses::merge_constant_pools.
 */
static void put_attach(struct place *place, const struct probe_weave_handler *to)
{
    classfile_put_int(place->snippet, (int32_t)(to->attach & PROBE_ATTACH_MASK), place->additions,
                      place->depth_words + 1);
}

/* Static in each class: what is called is of package java.lang, and never goes. */
static void put_own(struct place *place, const struct probe_weave_handler *to, int32_t site)
{
    const struct probe_handler *handler = to->handler;
    const bool is_entry = handler->place == PROBE_ENTRY;
    const uint16_t entered = handler->is_paired ? place->at->kept.entered : NONE;

    if (entered != NONE && !is_entry) {
        place->depth_words++;
        put_local(place->snippet, OP_ILOAD, 'I', entered, place->depth_words);
    }
    classfile_put_int(place->snippet, site, place->additions, place->depth_words + 1);
    place->depth_words++;
    put_attach(place, to);
    classfile_put_call(place->snippet,
                       classfile_add_method(place->additions, handler->target, handler->method_name,
                                            handler->descriptor));
    if (entered != NONE && is_entry)
        put_local(place->snippet, OP_ISTORE, 'I', entered, 0);
}

static void put_dispatch(struct place *place, const struct probe_weave_handler *to)
{
    const struct probe_weaving *at = place->at;
    char type[PROBE_CALL_TYPE_BYTES], place_type[PROBE_PLACE_TYPE_BYTES];

    probe_call_type(to->handler, type);
    probe_place_type(type, place_type);
    put_attach(place, to);
    if (at->of->is_static || at->file.major < DYNAMIC_SINCE) {
        char name[PROBE_CLASS_NAME_BYTES];

        probe_place_name(to->place, name);
        classfile_put_call(place->snippet,
                           classfile_add_method(place->additions, name, "enter", place_type));
        return;
    }
    const uint16_t link = classfile_add_method(place->additions, DISPATCHER, "link", LINK_TYPE);
    const uint16_t number = classfile_add_int(place->additions, (int32_t)to->place);

    classfile_put_dynamic(
        place->snippet, classfile_add_call_site(place->additions,
                                                classfile_add_static_handle(place->additions, link),
                                                &number, 1, "probe", place_type));
}

/* What is returned or thrown goes into a local, for whoever asks for it. */
static void save_value(struct place *place)
{
    static const char returned[] = {'I', 'J', 'F', 'D', 'L'};
    const struct classfile_site *site = place->site;

    if (site->place == CLASSFILE_PLACE_THROW)
        place->value_type = 'L';
    else if (site->place == CLASSFILE_PLACE_RETURN && site->opcode != OP_RETURN)
        place->value_type = returned[site->opcode - OP_IRETURN];
    if (place->value_type == 0)
        return;

    const uint16_t words = words_of(place->value_type);
    place->value_local = classfile_take_local(place->snippet, words);
    classfile_put_op(place->snippet, words == 2 ? OP_DUP2 : OP_DUP, words);
    put_local(place->snippet, OP_ISTORE, place->value_type, place->value_local, 0);
}

/* An int that is returned is a boolean, byte, char or short where the method says so: that is how it is boxed. */
static void refine_value(struct place *place)
{
    const struct classfile_member *member = &place->at->file.methods[place->site->method];
    const struct classfile_text descriptor =
        classfile_text_of(&place->at->file, member->descriptor_index);

    if (place->value_type == 'I')
        place->value_type = descriptor.bytes[descriptor.length_bytes - 1];
}

static bool is_at(const struct probe_handler *handler, enum classfile_place place)
{
    return handler->place == PROBE_ENTRY    ? place == CLASSFILE_PLACE_ENTRY
           : handler->place == PROBE_RETURN ? place == CLASSFILE_PLACE_RETURN
                                            : place == CLASSFILE_PLACE_THROW;
}

static bool is_value_wanted(const struct probe_weaving *at, const struct classfile_site *site)
{
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        const struct probe_handler *handler =
            at->handlers[at->wants[site->method][i].handler].handler;

        if (is_at(handler, site->place) &&
            (probe_weave_asks(handler, PROBE_RETURNED) || probe_weave_asks(handler, PROBE_THROWN)))
            return true;
    }
    return false;
}

/* Whether another pattern of the same option takes the place, too, and tells at least as much: a call is told once. */
static bool is_told_by_another(const struct probe_weaving *at, const struct classfile_site *site,
                               uint16_t number)
{
    const struct probe_weave_want *wants = at->wants[site->method];
    const struct probe_handler *own = at->handlers[wants[number].handler].handler;

    for (uint16_t i = 0; own->target != NULL && i < at->want_counts[site->method]; i++) {
        const struct probe_handler *other = at->handlers[wants[i].handler].handler;

        if (i != number && other->target != NULL && is_at(other, site->place) &&
            strcmp(other->target, own->target) == 0 &&
            (other->least_ns < own->least_ns || (other->least_ns == own->least_ns && i < number)))
            return true;
    }
    return false;
}

void probe_weave_insert(void *context, const struct classfile_site *site,
                        struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    struct probe_weaving *at = context;
    struct place place = {.at = at, .site = site, .additions = additions, .snippet = snippet};

    if (site->is_after)
        return;
    if (site->place == CLASSFILE_PLACE_ENTRY) {
        find_parameters(at, site->method);
        keep(at, site, additions, snippet);
    } else if ((at->places[site->method] & CLASSFILE_AT(ENTRY)) == 0) {
        find_parameters(at, site->method);
    }
    if (is_value_wanted(at, site)) {
        save_value(&place);
        refine_value(&place);
    }
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        struct probe_weave_want *want = &at->wants[site->method][i];
        const struct probe_weave_handler *to = &at->handlers[want->handler];

        if (!is_at(to->handler, site->place))
            continue;
        const int32_t number = site_of(at, site, to->handler);
        if (number < 0)
            continue;
        if (is_told_by_another(at, site, i)) {
            want->places++; /* its pattern has met the method all the same */
            continue;
        }
        place.depth_words = 0;
        place.rule_name = rules_name(to->rules, want->rule);
        for (uint32_t j = 0; j < to->handler->capture_count; j++)
            put_capture(&place, &to->handler->captures[j]);
        if (to->handler->target != NULL)
            put_own(&place, to, number);
        else
            put_dispatch(&place, to);
        want->places++;
    }
    /* The last thing before the method itself. */
    if (site->place == CLASSFILE_PLACE_ENTRY && at->kept.begun != NONE) {
        put_time(snippet, additions);
        put_local(snippet, OP_ISTORE, 'J', at->kept.begun, 2);
    }
}
