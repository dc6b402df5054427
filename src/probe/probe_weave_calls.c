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
    OP_AASTORE = 83,
    OP_DUP = 89,
    OP_LSUB = 101,
    OP_ANEWARRAY = 189,
};

static char as_kept(char type)
{
    return type == 'J' || type == 'F' || type == 'D' || type == 'L' ? type : 'I';
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
        at->types[at->argument_count] = probe_weave_letter(type);
        at->locals[at->argument_count++] = local;
        local = (uint16_t)(local + probe_weave_words(probe_weave_letter(type)));
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
    probe_weave_put_local(snippet, false, type, at->locals[number], probe_weave_words(type));
    probe_weave_put_local(snippet, true, type, *to, 0);
}

static void keep_for(struct probe_weaving *at, const struct classfile_site *site,
                     const struct probe_handler *handler, struct classfile_additions *additions,
                     struct classfile_snippet *snippet)
{
    if (handler->is_paired && at->kept.entered == NONE) {
        at->kept.entered = classfile_keep_local(snippet, 'I');
        classfile_put_int(snippet, 0, additions, 1);
        probe_weave_put_local(snippet, true, 'I', at->kept.entered, 0);
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
            probe_weave_put_local(snippet, false, 'L', 0, 1);
            probe_weave_put_local(snippet, true, 'L', at->kept.object, 0);
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

static void put_argument(struct probe_weave_place *place, uint32_t number, bool is_boxed,
                         uint32_t depth_words)
{
    struct probe_weaving *at = place->at;
    const char type = at->types[number];
    const uint16_t local = place->site->place == CLASSFILE_PLACE_ENTRY ? at->locals[number]
                                                                       : at->kept.arguments[number];

    probe_weave_put_local(place->snippet, false, type, local,
                          depth_words + probe_weave_words(type));
    if (is_boxed)
        put_boxing(place->snippet, place->additions, type);
}

static void put_arguments(struct probe_weave_place *place)
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

static void put_object(struct probe_weave_place *place)
{
    const struct classfile_member *member = &place->at->file.methods[place->site->method];
    const bool is_static = (member->access & CLASSFILE_STATIC) != 0;

    if (!is_static && place->site->has_this)
        probe_weave_put_local(place->snippet, false, 'L', 0, place->depth_words + 1);
    else if (place->at->kept.object != NONE)
        probe_weave_put_local(place->snippet, false, 'L', place->at->kept.object,
                              place->depth_words + 1);
    else
        classfile_put_op(place->snippet, OP_ACONST_NULL, place->depth_words + 1);
}

/* "com.acme.Shop.add" */
static void put_method_name(struct probe_weave_place *place)
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

static void put_value(struct probe_weave_place *place, const struct probe_capture *capture)
{
    if (place->value_type == 0) {
        classfile_put_op(place->snippet, OP_ACONST_NULL, place->depth_words + 1);
        return;
    }
    probe_weave_put_local(place->snippet, false, place->value_type, place->value_local,
                          place->depth_words + probe_weave_words(place->value_type));
    if (capture->type == 'L')
        put_boxing(place->snippet, place->additions, place->value_type);
}

static void put_duration(struct probe_weave_place *place)
{
    put_time(place->snippet, place->additions);
    probe_weave_put_local(place->snippet, false, 'J', place->at->kept.begun,
                          place->depth_words + 4);
    classfile_put_op(place->snippet, OP_LSUB, 0);
}

/* An operand of the instruction, which lies in a local; null for the receiver where there is none. */
static void put_operand(struct probe_weave_place *place, const struct probe_capture *capture,
                        int32_t number)
{
    const struct probe_operands *operands = place->operands;

    if (number < 0) {
        classfile_put_op(place->snippet, OP_ACONST_NULL, place->depth_words + 1);
        return;
    }
    probe_weave_put_local(place->snippet, false, operands->types[number],
                          place->at->moved.locals[number],
                          place->depth_words + probe_weave_words(operands->types[number]));
    if (capture->type == 'L')
        put_boxing(place->snippet, place->additions, operands->types[number]);
}

static void put_target_name(struct probe_weave_place *place)
{
    char text[PROBE_TARGET_BYTES];
    const size_t length =
        probe_target_name(&place->at->file, place->site->opcode, place->site->constant, text);

    put_constant(place->snippet, OP_LDC_W, classfile_add_string(place->additions, text, length),
                 place->depth_words + 1);
}

static void put_capture(struct probe_weave_place *place, const struct probe_capture *capture)
{
    const int32_t operand = probe_operand_of(capture, place->handler_place, place->operands);

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
    case PROBE_ALLOCATED:
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
    case PROBE_LINE_NUMBER:
        classfile_put_int(place->snippet, place->site->line, place->additions,
                          place->depth_words + 1);
        break;
    case PROBE_RECEIVER:
    case PROBE_CALL_ARGUMENT:
    case PROBE_LOCK:
        put_operand(place, capture, operand);
        break;
    case PROBE_VALUE:
        if (operand >= 0)
            put_operand(place, capture, operand);
        else
            put_value(place, capture);
        break;
    case PROBE_TARGET:
        put_target_name(place);
        break;
    case PROBE_CALLER:
    case PROBE_SPAN:
    case PROBE_TRACE:
    case PROBE_ENDPOINT:
    case PROBE_KIND_LIMIT:
        break;
    }
    place->depth_words += probe_weave_words(capture->type);
}

static int32_t site_of(const struct probe_weaving *at, const struct classfile_site *site,
                       const struct probe_handler *handler)
{
    const struct classfile_member *member = &at->file.methods[site->method];
    char made[PROBE_TARGET_BYTES];
    size_t made_bytes = 0;

    if (handler->target == NULL || handler->site >= 0)
        return handler->site;
    if (at->of->site_of == NULL)
        return -1;
    if (handler->place == PROBE_ALLOCATION)
        made_bytes = probe_made_name(&at->file, site->opcode, site->constant, made);
    return at->of->site_of(handler, (struct classfile_text){made, (uint32_t)made_bytes},
                           classfile_name(&at->file),
                           classfile_text_of(&at->file, member->name_index),
                           classfile_text_of(&at->file, member->descriptor_index));
}

/*
 * The number of the attach is an operand, not a constant: a class keeps every constant that it ever had, however often it is written
 * again. Source: HotSpot, VM_RedefineClasses::merge_constant_pools.
 */
static void put_attach(struct probe_weave_place *place, const struct probe_weave_handler *to)
{
    classfile_put_int(place->snippet, (int32_t)(to->attach & PROBE_ATTACH_MASK), place->additions,
                      place->depth_words + 1);
}

/* Static in each class: what is called is of package java.lang, and never goes. */
static void put_own(struct probe_weave_place *place, const struct probe_weave_handler *to,
                    int32_t site)
{
    const struct probe_handler *handler = to->handler;
    const bool is_entry = handler->place == PROBE_ENTRY;
    const uint16_t entered = handler->is_paired ? place->at->kept.entered : NONE;

    if (entered != NONE && !is_entry) {
        place->depth_words++;
        probe_weave_put_local(place->snippet, false, 'I', entered, place->depth_words);
    }
    classfile_put_int(place->snippet, site, place->additions, place->depth_words + 1);
    place->depth_words++;
    put_attach(place, to);
    classfile_put_call(place->snippet,
                       classfile_add_method(place->additions, handler->target, handler->method_name,
                                            handler->descriptor));
    if (entered != NONE && is_entry)
        probe_weave_put_local(place->snippet, true, 'I', entered, 0);
}

static void put_dispatch(struct probe_weave_place *place, const struct probe_weave_handler *to)
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

/* Whether another pattern of the same option takes the place, too, and tells at least as much: a call is told once. */
static bool is_told_by_another(const struct probe_weaving *at, const struct classfile_site *site,
                               uint16_t number)
{
    const struct probe_weave_want *wants = at->wants[site->method];
    const struct probe_handler *own = at->handlers[wants[number].handler].handler;

    for (uint16_t i = 0; own->target != NULL && i < at->want_counts[site->method]; i++) {
        const struct probe_handler *other = at->handlers[wants[i].handler].handler;

        if (i != number && other->target != NULL && probe_weave_is_at(at, &wants[i], site) &&
            strcmp(other->target, own->target) == 0 &&
            (other->least_ns < own->least_ns || (other->least_ns == own->least_ns && i < number)))
            return true;
    }
    return false;
}

/* Whether anything is done at this place: for other instructions of its kind nothing is. */
static bool is_any_beside(const struct probe_weaving *at, const struct classfile_site *site)
{
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        if (probe_weave_is_beside(at, &at->wants[site->method][i], site))
            return true;
    }
    return false;
}

/* Fields of `this` may be written before super(), when it is nobody's to see yet. Source: chapter 4.10.1.9, putfield. */
static bool may_be_unborn(const struct probe_weave_place *place,
                          const struct probe_handler *handler)
{
    const struct classfile *file = &place->at->file;

    return handler->place == PROBE_WRITE && place->operands->has_receiver &&
           probe_weave_asks(handler, PROBE_RECEIVER) && !place->site->has_this &&
           classfile_is_text(classfile_text_of(file, file->methods[place->site->method].name_index),
                             "<init>");
}

static bool has_operands(enum classfile_place place)
{
    return place == CLASSFILE_PLACE_CALL || place == CLASSFILE_PLACE_FIELD ||
           place == CLASSFILE_PLACE_ALLOCATION || place == CLASSFILE_PLACE_MONITOR_ENTER;
}

static void put_handler(struct probe_weave_place *place, uint16_t number)
{
    struct probe_weaving *at = place->at;
    struct probe_weave_want *want = &at->wants[place->site->method][number];
    const struct probe_weave_handler *to = &at->handlers[want->handler];
    const int32_t own_site = site_of(at, place->site, to->handler);

    if (own_site < 0)
        return;
    if (is_told_by_another(at, place->site, number)) {
        want->places++; /* its pattern has met the method all the same */
        return;
    }
    if (probe_fit_place(to->handler, &at->file, place->site->opcode, place->site->constant) !=
            PROBE_FIT_GOOD ||
        may_be_unborn(place, to->handler)) {
        want->misfits++;
        return;
    }
    place->depth_words = 0;
    place->handler_place = to->handler->place;
    place->rule_name = rules_name(to->rules, want->rule);
    for (uint32_t i = 0; i < to->handler->capture_count; i++)
        put_capture(place, &to->handler->captures[i]);
    if (to->handler->target != NULL)
        put_own(place, to, own_site);
    else
        put_dispatch(place, to);
    want->places++;
}

void probe_weave_insert(void *context, const struct classfile_site *site,
                        struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    struct probe_weaving *at = context;
    struct probe_operands operands = {.result = {"V", 1}};
    struct probe_weave_place place = {
        .at = at, .site = site, .additions = additions, .snippet = snippet, .operands = &operands};
    const bool is_entry = site->place == CLASSFILE_PLACE_ENTRY;

    if (!is_entry && !is_any_beside(at, site))
        return;
    if (at->written != site->method + 1u)
        find_parameters(at, site->method);
    at->written = site->method + 1u;
    if (is_entry)
        keep(at, site, additions, snippet);
    if (has_operands(site->place)) {
        probe_operands_of(&at->file, site->opcode, site->constant, &operands);
        probe_weave_move(&place);
    }
    probe_weave_save_value(&place);
    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        if (probe_weave_is_at(at, &at->wants[site->method][i], site))
            put_handler(&place, i);
    }
    /* The last thing before the method itself. */
    if (is_entry && at->kept.begun != NONE) {
        put_time(snippet, additions);
        probe_weave_put_local(snippet, true, 'J', at->kept.begun, 2);
    }
}

void probe_weave_skip(void *context, const struct classfile_site *site)
{
    struct probe_weaving *at = context;

    for (uint16_t i = 0; i < at->want_counts[site->method]; i++) {
        struct probe_weave_want *want = &at->wants[site->method][i];

        want->skipped += probe_weave_is_at(at, want, site);
    }
}
