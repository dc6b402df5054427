/* Probes that are made of patterns. Context: control, tool. */
#include "probe/probe_own.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_read_internal.h"
#include "rules/rules.h"

/* Part of a pattern. */
struct part {
    const char *bytes;
    size_t length;
};

static bool has_star(struct part part)
{
    return memchr(part.bytes, '*', part.length) != NULL ||
           memchr(part.bytes, '?', part.length) != NULL;
}

static bool begins(struct part part, const char *with)
{
    const size_t length = strlen(with);

    for (size_t i = 0; i < length; i++) {
        const char byte = i < part.length ? part.bytes[i] : '\0';

        if (byte != with[i] && !(byte == '/' && with[i] == '.'))
            return false;
    }
    return true;
}

static bool is_of_platform(struct part class_part)
{
    static const char *const packages[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};

    for (size_t i = 0; i < JW_COUNT_OF(packages); i++) {
        if (begins(class_part, packages[i]))
            return true;
    }
    return false;
}

static bool is(struct part part, const char *text)
{
    return part.length == strlen(text) && memcmp(part.bytes, text, part.length) == 0;
}

/* Parts are one word each in the language of rules. */
static bool is_sound(struct part part)
{
    for (size_t i = 0; i < part.length; i++) {
        if ((unsigned char)part.bytes[i] <= ' ' || part.bytes[i] == 0x7f ||
            strchr(";#=!,:()[]\"", part.bytes[i]) != NULL)
            return false;
    }
    return part.length != 0;
}

static const char *lifts(struct part class_part, struct part method, char *text, size_t room_bytes)
{
    snprintf(text, room_bytes, "%s%s%s%s", is_of_platform(class_part) ? ",platform" : "",
             has_star(class_part) ? "" : ",interfaces,enums,libraries",
             has_star(method) ? "" : ",getters,setters,synthetic",
             is(method, "<init>")     ? ",constructors"
             : is(method, "<clinit>") ? ",initialisers"
                                      : "");
    return text[0] == '\0' ? text : text + 1;
}

bool probe_own_rules(const char *pattern, size_t length_bytes, char rules[PROBE_OWN_RULES_BYTES],
                     struct jw_error *err)
{
    const char *dot = memrchr(pattern, '.', length_bytes);
    const int shown = length_bytes > 200 ? 200 : (int)length_bytes;
    char lifted[128];

    if (dot == NULL || length_bytes > PROBE_OWN_RULES_BYTES / 2) {
        jw_error_set(err,
                     "'%.*s' names no method: CLASS.METHOD is wanted, such as com.acme.Shop.add or "
                     "com.acme.*.find*",
                     shown, pattern);
        return false;
    }
    const struct part class_part = {pattern, (size_t)(dot - pattern)};
    const struct part method = {dot + 1, length_bytes - class_part.length - 1};
    if (!is_sound(class_part) || !is_sound(method)) {
        jw_error_set(
            err,
            "'%.*s' names no method: class and method are names with stars in them, such as "
            "com.acme.*.find*; parameters are not told",
            shown, pattern);
        return false;
    }
    const char *words = lifts(class_part, method, lifted, sizeof lifted);
    snprintf(rules, PROBE_OWN_RULES_BYTES, "include class name=%.*s method name=%.*s%s%s",
             (int)class_part.length, class_part.bytes, (int)method.length, method.bytes,
             words[0] == '\0' ? "" : " lift ", words);
    return true;
}

/* ---- the probe ---- */

/* What is called of a kind: at the ends of a method with a duration, and everywhere with a number and the attach of which the number is. */
static const struct {
    const char *class_name, *method;
    bool is_by_method, is_at_entry;
} kinds[] = {
    [PROBE_OWN_TRACE] = {PROBE_OWN_CLASS, "returned", false, false},
    [PROBE_OWN_TIME] = {PROBE_OWN_TIMES_CLASS, "timed", true, false},
    [PROBE_OWN_COUNT] = {PROBE_OWN_COUNTS_CLASS, "counted", true, true},
    [PROBE_OWN_CALL] = {PROBE_OWN_CALLS_CLASS, "called", false, true},
};

uint32_t probe_own_handlers(enum probe_own_kind kind)
{
    return kinds[kind].is_at_entry ? 1 : 2;
}

static bool add(struct probe_reader *reader, enum probe_place place, enum probe_own_kind kind,
                const struct probe_own_pattern *pattern)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count];
    char rules[PROBE_OWN_RULES_BYTES];

    if (!probe_own_rules(pattern->text, pattern->length_bytes, rules, reader->err))
        return false;
    *handler = (struct probe_handler){.class_name = kinds[kind].class_name,
                                      .method_name = kinds[kind].method,
                                      .descriptor = place == PROBE_ENTRY ? "(II)V" : "(JII)V",
                                      .place = place,
                                      .capture_count = place != PROBE_ENTRY,
                                      .captures = {{.kind = PROBE_DURATION, .type = 'J'}},
                                      .target = kinds[kind].class_name,
                                      .site = kinds[kind].is_by_method ? -1 : pattern->site,
                                      .least_ns = pattern->least_ns};
    handler->rules =
        probe_reader_keep(reader, (struct classfile_text){rules, (uint32_t)strlen(rules)});
    handler->pattern = probe_reader_keep(
        reader, (struct classfile_text){pattern->text, (uint32_t)pattern->length_bytes});
    whole->probe.handler_count++;
    return handler->rules != NULL && handler->pattern != NULL;
}

bool probe_reader_begin_own(struct probe_reader *reader, const char *class_name, const char *name)
{
    struct probe_whole *whole = jw_alloc(sizeof *whole);

    if (whole == NULL) {
        jw_error_set(reader->err, "no memory for a probe");
        return false;
    }
    reader->whole = whole;
    whole->probe.handlers = whole->handlers;
    whole->probe.events = whole->events;
    whole->probe.class_name = class_name;
    whole->probe.name =
        probe_reader_keep(reader, (struct classfile_text){name, (uint32_t)strlen(name)});
    if (whole->probe.name != NULL)
        return true;
    probe_close(&whole->probe);
    return false;
}

struct probe *probe_own_open(const char *name, enum probe_own_kind kind,
                             const struct probe_own_pattern *patterns, uint32_t count,
                             struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (count > PROBE_OWN_LIMIT) {
        jw_error_set(err, "%s: %u patterns are more than %u; use stars", name, count,
                     PROBE_OWN_LIMIT);
        return NULL;
    }
    if (!probe_reader_begin_own(&reader, kinds[kind].class_name, name))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_good = kinds[kind].is_at_entry
                                 ? add(&reader, PROBE_ENTRY, kind, &patterns[i])
                                 : add(&reader, PROBE_RETURN, kind, &patterns[i]) &&
                                       add(&reader, PROBE_THROW, kind, &patterns[i]);

        if (!is_good) {
            probe_close(&reader.whole->probe);
            return NULL;
        }
    }
    return &reader.whole->probe;
}
