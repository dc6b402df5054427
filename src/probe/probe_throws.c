/* Constructors of Throwable, and patterns of exceptions. Context: control, tool; probe_throws_takes: hook. */
#include "probe/probe_throws.h"

#include <string.h>

#include "probe/probe_read_internal.h"
#include "rules/rules.h"

#define BEGIN "exception:"

/*
 * Each exception comes through exactly one of them: they call Object's, and none the other. What a class has put in the place of fillInStackTrace does not
 * matter. The JVM makes some without any (docs/howto/who-throws-exceptions.md).
 * Source: OpenJDK 8 to 28, java.lang.Throwable.
 */
#define RULES                                                                                      \
    "include class name=java.lang.Throwable method name=<init> lift platform,constructors,"        \
    "libraries"

const char *probe_throws_patterns(const char *event)
{
    return strncmp(event, BEGIN, sizeof BEGIN - 1) == 0 ? event + sizeof BEGIN - 1 : NULL;
}

bool probe_throws_next(const char **at, struct probe_throws_pattern *out)
{
    if (*at == NULL)
        return false;

    const size_t length_bytes = strcspn(*at, "|");
    *out = (struct probe_throws_pattern){.bytes = *at, .length_bytes = length_bytes};
    out->has_stars =
        memchr(*at, '*', length_bytes) != NULL || memchr(*at, '?', length_bytes) != NULL;
    *at = (*at)[length_bytes] == '|' ? *at + length_bytes + 1 : NULL;
    return true;
}

static bool is_separator(char byte)
{
    return byte == '.' || byte == '/';
}

bool probe_throws_is_name(const struct probe_throws_pattern *pattern)
{
    bool is_begin = true; /* of a part */

    for (size_t i = 0; i < pattern->length_bytes; i++) {
        const char byte = pattern->bytes[i];

        if ((unsigned char)byte <= ' ' || byte == 0x7f || strchr(";#=!,:()[]<>\"\\", byte) != NULL)
            return false;
        if (is_separator(byte) && is_begin)
            return false;
        is_begin = is_separator(byte);
    }
    return !is_begin;
}

bool probe_throws_check(const char *event, struct jw_error *err)
{
    const char *at = probe_throws_patterns(event);
    struct probe_throws_pattern pattern;
    uint32_t count = 0;

    while (probe_throws_next(&at, &pattern)) {
        const int shown = pattern.length_bytes > 200 ? 200 : (int)pattern.length_bytes;

        if (!probe_throws_is_name(&pattern)) {
            jw_error_set(err,
                         "'%.*s' names no class of exceptions: wanted are names, with stars where "
                         "there are several, and | between them, such as "
                         "exception:java.io.IOException|com.acme.**",
                         shown, pattern.bytes);
            return false;
        }
        if (++count > PROBE_THROWS_LIMIT) {
            jw_error_set(err, "more than %u patterns; use stars", PROBE_THROWS_LIMIT);
            return false;
        }
    }
    return true;
}

bool probe_throws_takes(const struct probe_throws_pattern *pattern, const char *name,
                        size_t length_bytes, bool is_above)
{
    return !(is_above && pattern->has_stars) &&
           rules_is_match(pattern->bytes, pattern->length_bytes, name, length_bytes);
}

struct probe *probe_throws_open(const char *name, struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_THROWS_CLASS, name))
        return NULL;

    struct probe_whole *whole = reader.whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];
    *handler = (struct probe_handler){.class_name = PROBE_THROWS_CLASS,
                                      .method_name = "made",
                                      .descriptor = "(Ljava/lang/Object;II)V",
                                      .place = PROBE_RETURN,
                                      .target = PROBE_THROWS_CLASS,
                                      .capture_count = 1,
                                      .captures = {{.kind = PROBE_THIS, .type = 'L'}},
                                      .site = 0};
    handler->rules =
        probe_reader_keep(&reader, (struct classfile_text){RULES, (uint32_t)strlen(RULES)});
    handler->pattern = probe_reader_keep(&reader, (struct classfile_text){"Throwable", 9});
    if (handler->rules != NULL && handler->pattern != NULL)
        return &whole->probe;
    probe_close(&whole->probe);
    return NULL;
}
