/* Objects by their class, where code of the application makes them. Context: control, tool. */
#include "probe/probe_news.h"

#include <string.h>

#include "probe/probe_read_internal.h"
#include "probe/probe_throws.h"

#define BEGIN "new:"

/* All code but that of the JDK, and of libraries that write classes themselves. */
#define RULES                                                                                      \
    "include class name=** method name=* lift "                                                    \
    "constructors,initialisers,getters,setters,synthetic,interfaces,enums"

const char *probe_news_patterns(const char *event)
{
    return strncmp(event, BEGIN, sizeof BEGIN - 1) == 0 ? event + sizeof BEGIN - 1 : NULL;
}

/* Without the brackets of arrays. */
static struct probe_throws_pattern element_of(struct probe_throws_pattern pattern)
{
    while (pattern.length_bytes > 2 &&
           memcmp(pattern.bytes + pattern.length_bytes - 2, "[]", 2) == 0)
        pattern.length_bytes -= 2;
    return pattern;
}

/* A type without objects. */
static bool is_primitive(const struct probe_throws_pattern *pattern)
{
    static const char *const words[] = {"boolean", "byte", "char",  "double", "float",
                                        "int",     "long", "short", "void"};

    for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
        if (pattern->length_bytes == strlen(words[i]) &&
            memcmp(pattern->bytes, words[i], pattern->length_bytes) == 0)
            return true;
    }
    return false;
}

static bool check(const struct probe_throws_pattern *pattern, struct jw_error *err)
{
    const struct probe_throws_pattern element = element_of(*pattern);
    const int shown = pattern->length_bytes > 200 ? 200 : (int)pattern->length_bytes;

    if (!probe_throws_is_name(&element)) {
        jw_error_set(err,
                     "'%.*s' names no class: wanted are names, with stars where there are several, "
                     "[] behind those of arrays, and | between them, such as "
                     "new:com.acme.Order|com.acme.**|byte[]",
                     shown, pattern->bytes);
        return false;
    }
    if (is_primitive(pattern)) {
        jw_error_set(err, "there are no objects of %.*s; of arrays it is %.*s[]", shown,
                     pattern->bytes, shown, pattern->bytes);
        return false;
    }
    return true;
}

bool probe_news_check(const char *event, struct jw_error *err)
{
    const char *at = probe_news_patterns(event);
    struct probe_throws_pattern pattern;
    uint32_t count = 0;

    if (at == NULL) {
        jw_error_set(err, "of which classes? new:com.acme.Order, new:com.acme.**|byte[]");
        return false;
    }
    while (probe_throws_next(&at, &pattern)) {
        if (!check(&pattern, err))
            return false;
        if (++count > PROBE_NEWS_LIMIT) {
            jw_error_set(err, "more than %u patterns; use stars", PROBE_NEWS_LIMIT);
            return false;
        }
    }
    return true;
}

static bool add(struct probe_reader *reader, const struct probe_throws_pattern *pattern)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler = (struct probe_handler){.class_name = PROBE_NEWS_CLASS,
                                      .method_name = "made",
                                      .descriptor = "(II)V",
                                      .place = PROBE_ALLOCATION,
                                      .target = PROBE_NEWS_CLASS,
                                      .site = -1};
    handler->rules =
        probe_reader_keep(reader, (struct classfile_text){RULES, (uint32_t)strlen(RULES)});
    handler->pattern = probe_reader_keep(
        reader, (struct classfile_text){pattern->bytes, (uint32_t)pattern->length_bytes});
    handler->of = handler->pattern;
    return handler->rules != NULL && handler->pattern != NULL;
}

struct probe *probe_news_open(const char *name, const char *event, struct jw_error *err)
{
    const char *at = probe_news_patterns(event);
    struct probe_reader reader = {.err = err};
    struct probe_throws_pattern pattern;

    if (!probe_news_check(event, err) || !probe_reader_begin_own(&reader, PROBE_NEWS_CLASS, name))
        return NULL;
    while (probe_throws_next(&at, &pattern)) {
        if (!add(&reader, &pattern)) {
            probe_close(&reader.whole->probe);
            return NULL;
        }
    }
    return &reader.whole->probe;
}
