/* A probe, read from the annotations of its class. Context: control, tool; the block of a probe is the only memory. */
#include "probe/probe_read_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

#define PACKAGE "io/jaywalk/probe/"
#define JAVA_1  44u /* version of class files less that of Java, since 1.1 */

/* ---- what is wrong ---- */

static void put_name(struct jw_error *message, struct classfile_text name)
{
    const size_t used = strlen(message->message);
    char *out = message->message + used;
    size_t length = name.length_bytes < 120 ? name.length_bytes : 120;

    if (length > sizeof message->message - 1 - used)
        length = sizeof message->message - 1 - used;
    for (size_t i = 0; i < length; i++) {
        const char one = name.bytes[i];

        out[i] = one == '/' ? '.' : one;
        if ((unsigned char)one < 0x20 || one == 0x7f)
            out[i] = '?';
    }
    out[length] = '\0';
}

bool probe_reader_refuse(struct probe_reader *reader, const char *format, ...)
{
    struct jw_error message = {{0}};
    va_list arguments;

    put_name(&message, classfile_name(reader->file));
    if (reader->method != NULL) {
        put_name(&message, (struct classfile_text){".", 1});
        put_name(&message, classfile_text_of(reader->file, reader->method->name_index));
    }
    const size_t used = strlen(message.message);
    (void)snprintf(message.message + used, sizeof message.message - used, ": ");
    va_start(arguments, format);
    (void)vsnprintf(message.message + used + 2, sizeof message.message - used - 2, format,
                    arguments);
    va_end(arguments);
    reader->faults++;
    if (reader->tell != NULL)
        reader->tell(reader->context, message.message);
    jw_error_set(reader->err, "%s", message.message);
    return false;
}

/* ---- texts ---- */

static bool put_bytes(struct probe_reader *reader, const char *bytes, size_t length_bytes)
{
    struct probe_whole *whole = reader->whole;

    if (sizeof whole->text - whole->used_bytes <= length_bytes)
        return probe_reader_refuse(
            reader, "names and rules of a probe have at most %u bytes; make it two probes",
            PROBE_TEXT_BYTES);
    memcpy(whole->text + whole->used_bytes, bytes, length_bytes);
    whole->used_bytes += (uint32_t)length_bytes;
    return true;
}

const char *probe_reader_keep(struct probe_reader *reader, struct classfile_text text)
{
    const char *kept = reader->whole->text + reader->whole->used_bytes;

    if (memchr(text.bytes, '\0', text.length_bytes) != NULL) {
        (void)probe_reader_refuse(reader, "a name of it is damaged; compile it again");
        return NULL;
    }
    return put_bytes(reader, text.bytes, text.length_bytes) && put_bytes(reader, "", 1) ? kept
                                                                                        : NULL;
}

/* ---- annotations of ours ---- */

bool probe_reader_is_ours(const struct classfile_annotation *annotation, const char *name)
{
    const size_t length = sizeof PACKAGE - 1;

    return annotation->type.length_bytes == length + strlen(name) &&
           memcmp(annotation->type.bytes, PACKAGE, length) == 0 &&
           memcmp(annotation->type.bytes + length, name, strlen(name)) == 0;
}

bool probe_is_marked(const struct classfile *file)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;

    while (classfile_next_annotation(file, file->attributes, &at, &annotation)) {
        if (probe_reader_is_ours(&annotation, "Probe"))
            return true;
    }
    return false;
}

/* A number of an annotation: an int or a long of Java, from 0 on. */
static bool read_number(struct probe_reader *reader, const struct classfile_annotation *annotation,
                        const char *name, uint64_t *number)
{
    struct classfile_value value;

    if (!classfile_value_of(reader->file, annotation, name, &value))
        return true; /* its default stays */
    if (value.kind != 'I' && value.kind != 'J')
        return probe_reader_refuse(
            reader, "%s is no number; compile it with the jaywalk.jar of this release", name);
    if (value.number < 0)
        return probe_reader_refuse(
            reader, "%s is %" PRId64 "; 0 means without limit, and less than that nothing", name,
            value.number);
    *number = (uint64_t)value.number;
    return true;
}

/* ---- rules ---- */

static bool is_any_inclusive(const struct rules *rules)
{
    for (size_t i = 0; i < rules_count(rules); i++) {
        if (!rules_is_exclusive(rules, i))
            return true;
    }
    return false;
}

static bool check_rules(struct probe_reader *reader, const char *text)
{
    struct jw_error why = {{0}};
    struct rules *rules = rules_parse(text, strlen(text), &why);

    if (rules == NULL)
        return probe_reader_refuse(reader, "%s", why.message);

    const bool is_good = is_any_inclusive(rules);
    rules_close(rules);
    return is_good ||
           probe_reader_refuse(reader, "its rules include nothing; add one such as \"include class "
                                       "name=com.acme.Shop method name=add\"");
}

bool probe_reader_take_rules(struct probe_reader *reader,
                             const struct classfile_annotation *annotation, const char *name,
                             const char **rules)
{
    const char *text = reader->whole->text + reader->whole->used_bytes;
    struct classfile_value value, line;

    if (!classfile_value_of(reader->file, annotation, name, &value) ||
        (value.kind == '[' && value.left == 0))
        return true;
    do {
        if (!classfile_next_value(reader->file, &value, &line) || line.kind != 's' ||
            memchr(line.text.bytes, '\0', line.text.length_bytes) != NULL)
            return probe_reader_refuse(
                reader, "its rules are no texts; compile it with the jaywalk.jar of this "
                        "release");
        if (!put_bytes(reader, line.text.bytes, line.text.length_bytes) ||
            !put_bytes(reader, "\n", 1))
            return false;
    } while (value.left != 0);
    if (!put_bytes(reader, "", 1))
        return false;
    *rules = text;
    return check_rules(reader, text);
}

/* ---- the class ---- */

static bool is_name(struct classfile_text name)
{
    for (uint32_t i = 0; i < name.length_bytes; i++) {
        const char one = name.bytes[i];

        if (!(one >= 'a' && one <= 'z') && !(one >= 'A' && one <= 'Z') &&
            !(one >= '0' && one <= '9') && (i == 0 || memchr("._-", one, 3) == NULL))
            return false;
    }
    return name.length_bytes != 0 && name.length_bytes < PROBE_NAME_BYTES;
}

/* Behind the last / or $: of com/acme/Probes$Slow it is Slow. */
static struct classfile_text simple_name(struct classfile_text name)
{
    uint32_t begin = name.length_bytes;

    while (begin > 0 && name.bytes[begin - 1] != '/' && name.bytes[begin - 1] != '$')
        begin--;
    return (struct classfile_text){name.bytes + begin, name.length_bytes - begin};
}

static void read_name(struct probe_reader *reader, const struct classfile_annotation *annotation)
{
    struct probe *probe = &reader->whole->probe;
    struct classfile_text name = simple_name(classfile_name(reader->file));
    struct classfile_value value;
    const bool is_given = classfile_value_of(reader->file, annotation, "name", &value) &&
                          (value.kind != 's' || value.text.length_bytes != 0);

    if (is_given)
        name = value.kind == 's' ? value.text : (struct classfile_text){"", 0};
    if (!is_name(name))
        (void)probe_reader_refuse(
            reader, "its name is 1 to %u letters, digits, points, lines and underlines; %s",
            PROBE_NAME_BYTES - 1,
            is_given ? "@Probe(name = ...) has another"
                     : "that of the class is not: give one by @Probe(name = ...)");
    probe->name = probe_reader_keep(reader, name);
}

static void read_limits(struct probe_reader *reader, const struct classfile_annotation *annotation)
{
    struct probe_limits *limits = &reader->whole->probe.limits;
    uint64_t calls = PROBE_CALLS_PER_SECOND_DEFAULT, throws = PROBE_THROWS_DEFAULT;

    limits->max_ns_per_call = PROBE_NS_PER_CALL_DEFAULT;
    (void)read_number(reader, annotation, "maxNanosPerCall", &limits->max_ns_per_call);
    (void)read_number(reader, annotation, "maxCallsPerSecond", &calls);
    (void)read_number(reader, annotation, "maxThrows", &throws);
    limits->max_calls_per_second = calls < UINT32_MAX ? (uint32_t)calls : UINT32_MAX;
    limits->max_throws = throws < UINT32_MAX ? (uint32_t)throws : UINT32_MAX;
}

static void check_class(struct probe_reader *reader)
{
    const struct classfile *file = reader->file;
    const struct classfile_text name = classfile_name(file);

    if ((file->access & (CLASSFILE_INTERFACE | CLASSFILE_MODULE)) != 0)
        (void)probe_reader_refuse(reader, "handlers are methods of a class; this is none");
    else if ((file->access & CLASSFILE_PUBLIC) == 0)
        (void)probe_reader_refuse(reader,
                                  "the class of a probe is public, for its handlers to be called");
    if (name.length_bytes > 5 && memcmp(name.bytes, "java/", 5) == 0)
        (void)probe_reader_refuse(
            reader, "no class loader defines classes of java; use a package of your own");
}

static bool read_class(struct probe_reader *reader)
{
    struct probe *probe = &reader->whole->probe;
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;
    bool is_marked = false;

    while (!is_marked &&
           classfile_next_annotation(reader->file, reader->file->attributes, &at, &annotation))
        is_marked = probe_reader_is_ours(&annotation, "Probe");
    if (!is_marked)
        return probe_reader_refuse(reader, at.is_damaged
                                               ? "its annotations are damaged; compile it again"
                                               : "it does not carry @Probe");
    check_class(reader);
    probe->class_name = probe_reader_keep(reader, classfile_name(reader->file));
    probe->java_version = (uint16_t)(reader->file->major - JAVA_1);
    read_name(reader, &annotation);
    read_limits(reader, &annotation);
    (void)probe_reader_take_rules(reader, &annotation, "rules", &reader->rules);
    return true;
}

/* ---- a handler ---- */

/* One annotation of a parameter, if it is of ours; false: it was told what is wrong. */
static bool read_capture(struct probe_reader *reader, const struct classfile_annotation *annotation,
                         unsigned number, struct probe_capture *capture, bool *is_found)
{
    struct classfile_value value;

    for (unsigned kind = 0; kind < PROBE_KIND_LIMIT; kind++) {
        if (!probe_reader_is_ours(annotation, probe_kind_annotation(kind)))
            continue;
        if (*is_found)
            return probe_reader_refuse(
                reader, "parameter %u is to be @%s and @%s; it can be one of them", number,
                probe_kind_annotation(capture->kind), probe_kind_annotation(kind));
        *is_found = true;
        capture->kind = (uint8_t)kind;
        if (kind != PROBE_ARGUMENT && kind != PROBE_CALL_ARGUMENT)
            continue;
        if (!classfile_value_of(reader->file, annotation, "value", &value) || value.kind != 'I' ||
            value.number < 0 || value.number > 254)
            return probe_reader_refuse(reader,
                                       "parameter %u: arguments are numbered from 0 to 254, as in "
                                       "@%s(0)",
                                       number, probe_kind_annotation(kind));
        capture->argument = (uint8_t)value.number;
    }
    return true;
}

/* Which they are, and what to do about it. */
static const char *types_in_words(enum probe_kind kind)
{
    switch (kind) {
    case PROBE_THIS:
    case PROBE_RECEIVER:
    case PROBE_ALLOCATED:
    case PROBE_LOCK:
        return "Object; cast it in the handler";
    case PROBE_ARGUMENT:
    case PROBE_CALL_ARGUMENT:
    case PROBE_VALUE:
    case PROBE_RETURNED:
        return "Object, or the primitive type that the method has there; cast objects in the "
               "handler";
    case PROBE_ARGUMENTS:
        return "Object[]";
    case PROBE_THROWN:
        return "Throwable; cast it in the handler";
    case PROBE_DURATION:
        return "long, of nanoseconds";
    case PROBE_METHOD:
    case PROBE_RULE:
    case PROBE_CALLER:
    case PROBE_TRACE:
    case PROBE_ENDPOINT:
    case PROBE_TARGET:
        return "String";
    case PROBE_LINE_NUMBER:
        return "int";
    case PROBE_SPAN:
        return "long";
    case PROBE_KIND_LIMIT:
        break;
    }
    return "";
}

static bool read_parameter(struct probe_reader *reader, unsigned number, struct classfile_text type,
                           struct probe_capture *capture)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;
    bool is_found = false;

    while (classfile_next_parameter_annotation(reader->file, reader->method->attributes,
                                               (uint16_t)(number - 1), &at, &annotation)) {
        if (!read_capture(reader, &annotation, number, capture, &is_found))
            return false;
    }
    if (at.is_damaged)
        return probe_reader_refuse(
            reader, "parameter %u: its annotations are damaged; compile it again", number);
    if (!is_found)
        return probe_reader_refuse(reader,
                                   "parameter %u does not say what it is given: put @This, "
                                   "@Argument(n), @Arguments, @Returned, @Thrown, @Duration, "
                                   "@MethodName, @RuleName, or another annotation of package "
                                   "io.jaywalk.probe before it",
                                   number);
    if (!probe_kind_takes(capture->kind, type))
        return probe_reader_refuse(reader, "parameter %u: @%s is of type %s", number,
                                   probe_kind_annotation(capture->kind),
                                   types_in_words(capture->kind));
    capture->type = type.bytes[0] == '[' ? 'L' : type.bytes[0];
    return true;
}

/* The parameters of the method that is read, which is called at these places. */
static bool read_parameters(struct probe_reader *reader, unsigned places,
                            struct probe_handler *handler)
{
    const struct classfile_text descriptor =
        classfile_text_of(reader->file, reader->method->descriptor_index);
    const uint64_t faults = reader->faults;
    struct classfile_text type;

    for (uint32_t at = 1; classfile_next_type(descriptor, &at, &type);) {
        if (handler->capture_count == PROBE_CAPTURES_LIMIT)
            return probe_reader_refuse(reader,
                                       "a handler has at most %u parameters; @Arguments gives all "
                                       "arguments in one",
                                       PROBE_CAPTURES_LIMIT);

        struct probe_capture *capture = &handler->captures[handler->capture_count];
        const unsigned number = ++handler->capture_count;
        if (!read_parameter(reader, number, type, capture))
            continue;
        for (unsigned place = 0; place < PROBE_PLACE_LIMIT; place++) {
            if ((places & (1u << place)) != 0 && !probe_kind_is_at(capture->kind, place))
                (void)probe_reader_refuse(
                    reader,
                    "parameter %u: @%s is known %s alone, not at @%s; take it away, or "
                    "make two handlers",
                    number, probe_kind_annotation(capture->kind), probe_kind_where(capture->kind),
                    probe_place_annotation(place));
        }
    }
    return reader->faults == faults;
}

static bool check_method(struct probe_reader *reader)
{
    const struct classfile_text descriptor =
        classfile_text_of(reader->file, reader->method->descriptor_index);
    const unsigned wanted = CLASSFILE_PUBLIC | CLASSFILE_STATIC;
    uint32_t parameter_words, value_words;

    if ((reader->method->access & wanted) != wanted)
        return probe_reader_refuse(
            reader, "a handler is public and static, for it to be called from anywhere; "
                    "this is not");
    if (!classfile_descriptor_words(descriptor, &parameter_words, &value_words) ||
        parameter_words > 255)
        return probe_reader_refuse(reader, "its type is damaged; compile it again");
    if (value_words != 0)
        return probe_reader_refuse(reader, "a handler returns nothing: make it void");
    return true;
}

static bool has_captures(const struct probe_reader *reader)
{
    struct classfile_annotation_cursor at;
    struct classfile_annotation annotation;

    for (uint16_t i = 0; i < PROBE_CAPTURES_LIMIT; i++) {
        at = (struct classfile_annotation_cursor){.left = 0};
        while (classfile_next_parameter_annotation(reader->file, reader->method->attributes, i, &at,
                                                   &annotation)) {
            for (unsigned kind = 0; kind < PROBE_KIND_LIMIT; kind++) {
                if (probe_reader_is_ours(&annotation, probe_kind_annotation(kind)))
                    return true;
            }
        }
    }
    return false;
}

static bool add_handler(struct probe_reader *reader, const struct probe_handler *handler)
{
    struct probe *probe = &reader->whole->probe;

    if (handler->rules == NULL)
        return probe_reader_refuse(reader,
                                   "no rule says which methods it is for: give some to @%s, or to "
                                   "@Probe(rules = ...)",
                                   probe_place_annotation(handler->place));
    if (probe->handler_count == PROBE_HANDLERS_LIMIT)
        return probe_reader_refuse(reader, "a probe has at most %u handlers; make it two probes",
                                   PROBE_HANDLERS_LIMIT);
    reader->whole->handlers[probe->handler_count++] = *handler;
    return true;
}

static void read_method(struct probe_reader *reader)
{
    const struct classfile *file = reader->file;
    struct probe_handler handler = {.class_name = reader->whole->probe.class_name,
                                    .limits = reader->whole->probe.limits};
    struct probe_read_places list = {.places = 0};

    if (probe_reader_take_event(reader) || !probe_reader_take_places(reader, &list))
        return;
    if (list.places == 0) {
        if (has_captures(reader))
            (void)probe_reader_refuse(
                reader, "its parameters ask for something, but nothing says when it is "
                        "called: put @OnEntry, @OnReturn, @OnThrow or another place on it");
        return;
    }
    if (!check_method(reader) || !read_parameters(reader, list.places, &handler))
        return;
    handler.method_name =
        probe_reader_keep(reader, classfile_text_of(file, reader->method->name_index));
    handler.descriptor =
        probe_reader_keep(reader, classfile_text_of(file, reader->method->descriptor_index));
    if (handler.method_name == NULL || handler.descriptor == NULL)
        return;
    for (unsigned place = 0; place < PROBE_PLACE_LIMIT; place++) {
        if ((list.places & (1u << place)) == 0)
            continue;
        handler.place = place;
        handler.rules = list.rules[place];
        handler.of = list.of[place];
        handler.line = list.lines[place];
        if (!add_handler(reader, &handler))
            return;
    }
}

struct probe *probe_read(const struct classfile *file, probe_tell *tell, void *context,
                         struct jw_error *err)
{
    struct probe_reader reader = {.file = file, .tell = tell, .context = context, .err = err};

    reader.whole = jw_alloc(sizeof *reader.whole);
    if (reader.whole == NULL) {
        jw_error_set(err, "no memory for a probe");
        return NULL;
    }
    reader.whole->probe.handlers = reader.whole->handlers;
    reader.whole->probe.events = reader.whole->events;
    if (read_class(&reader)) {
        for (uint16_t i = 0; i < file->method_count; i++) {
            reader.method = &file->methods[i];
            read_method(&reader);
        }
        reader.method = NULL;
        if (reader.whole->probe.handler_count == 0 && reader.faults == 0)
            (void)probe_reader_refuse(
                &reader,
                "it has no handler: put @OnEntry, @OnReturn, @OnThrow or another place on a "
                "public static void method");
    }
    if (reader.faults == 0)
        return &reader.whole->probe;
    jw_free(reader.whole);
    return NULL;
}

void probe_close(struct probe *probe)
{
    jw_free(probe);
}
