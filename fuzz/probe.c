/*
 * Any bytes as the class of a probe: either it is refused, with printable reasons of which the first is the error, or every handler
 * is a public static void method of it, with captures that fit its parameters and its place, and with rules that include something.
 * tests/unit/probe/test_probe_damage.c drives the same check with damaged probes.
 */
/* s18: a probe comes from anybody. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_handler.h"
#include "rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROBE_CLASS_BYTES (64u << 10)

struct hearing {
    char first[sizeof((struct jw_error *)0)->message];
    uint64_t count;
    const char *defect;
};

static void hear(void *context, const char *message)
{
    struct hearing *hearing = context;

    if (hearing->count++ == 0)
        (void)snprintf(hearing->first, sizeof hearing->first, "%s", message);
    if (message[0] == '\0')
        hearing->defect = "an empty reason";
    for (; *message != '\0'; message++) {
        if ((unsigned char)*message < 0x20 || *message == 0x7f)
            hearing->defect = "a reason is no line of text";
    }
}

static bool has_method(const struct classfile *file, const struct probe_handler *handler)
{
    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct classfile_member *method = &file->methods[i];

        if ((method->access & 9) == 9 &&
            classfile_is_text(classfile_text_of(file, method->name_index), handler->method_name) &&
            classfile_is_text(classfile_text_of(file, method->descriptor_index),
                              handler->descriptor))
            return true;
    }
    return false;
}

static const char *rules_defect(const char *text)
{
    struct jw_error err = {{0}};
    struct rules *rules = rules_parse(text, strlen(text), &err);
    bool is_inclusive = false;

    if (rules == NULL)
        return "rules that are not understood";
    for (size_t i = 0; i < rules_count(rules); i++)
        is_inclusive |= !rules_is_exclusive(rules, i);
    rules_close(rules);
    return is_inclusive ? NULL : "rules that include nothing";
}

/* By the letters of the descriptor alone. */
static const char *captures_defect(const struct probe_handler *handler)
{
    const char *at = handler->descriptor + 1;

    for (unsigned i = 0; i < handler->capture_count; i++) {
        const struct probe_capture *capture = &handler->captures[i];
        const char first = *at;

        at += strspn(at, "[");
        at = *at == 'L' ? strchr(at, ';') : at;
        if (at == NULL || *at++ == '\0')
            return "more captures than parameters";
        if (capture->kind >= PROBE_KIND_LIMIT ||
            capture->type != (first == '[' || first == 'L' ? 'L' : first))
            return "a capture of another type";
        if ((capture->kind == PROBE_RETURNED && handler->place != PROBE_RETURN &&
             handler->place != PROBE_CALL_RETURN) ||
            ((capture->kind == PROBE_RECEIVER || capture->kind == PROBE_CALL_ARGUMENT ||
              capture->kind == PROBE_TARGET) &&
             handler->of == NULL) ||
            (capture->kind == PROBE_THROWN && handler->place != PROBE_THROW) ||
            (capture->kind == PROBE_DURATION &&
             (handler->place == PROBE_ENTRY || capture->type != 'J')))
            return "a capture that is not known there";
    }
    return strcmp(at, ")V") == 0 ? NULL : "not void, or fewer captures than parameters";
}

static const char *handler_defect(const struct classfile *file, const struct probe *probe,
                                  const struct probe_handler *handler)
{
    char type[PROBE_CALL_TYPE_BYTES];

    if (handler->place >= PROBE_PLACE_LIMIT || handler->capture_count > PROBE_CAPTURES_LIMIT)
        return "out of bounds";
    if ((handler->of != NULL) != (probe_place_named(handler->place) == PROBE_NAMED_MEMBER ||
                                  probe_place_named(handler->place) == PROBE_NAMED_CLASS) ||
        (handler->line != 0) != (probe_place_named(handler->place) == PROBE_NAMED_LINE))
        return "a place that does not say which";
    if (!has_method(file, handler) || handler->class_name != probe->class_name)
        return "no public static method of the class";
    for (uint32_t i = 0; i < file->method_count; i++) {
        if (probe_fit_method(handler, file, &file->methods[i]) >= PROBE_FIT_LIMIT)
            return "an answer that is none";
    }
    probe_call_type(handler, type);
    if (type[0] != '(' || strlen(type) >= sizeof type)
        return "a type that is none";

    const char *defect = captures_defect(handler);
    return defect != NULL ? defect : rules_defect(handler->rules);
}

/* NULL, or what is wrong; `handlers`: how many were found. */
static const char *probe_defect(const uint8_t *bytes, size_t length_bytes, uint32_t *handlers)
{
    static struct classfile_memory memory;
    struct hearing hearing = {.count = 0};
    struct jw_error err = {{0}};
    struct classfile file;
    const char *defect = NULL;

    *handlers = 0;
    if (memory.bytes == NULL) {
        memory.capacity_bytes = classfile_memory_bytes(PROBE_CLASS_BYTES);
        memory.bytes = malloc(memory.capacity_bytes);
    }
    memory.used_bytes = 0;
    if (length_bytes > PROBE_CLASS_BYTES ||
        classfile_read(bytes, length_bytes, &memory, &file) != CLASSFILE_OK)
        return NULL;

    struct probe *probe = probe_read(&file, hear, &hearing, &err);
    if (hearing.defect != NULL)
        return hearing.defect;
    if (probe == NULL)
        return hearing.count != 0 && strcmp(hearing.first, err.message) == 0
                   ? NULL
                   : "refused without a word";
    if (hearing.count != 0 || err.message[0] != '\0' || !probe_is_marked(&file))
        defect = "taken with complaints";
    if (probe->handler_count == 0 || probe->handler_count > PROBE_HANDLERS_LIMIT ||
        probe->name[0] == '\0' || strlen(probe->name) >= PROBE_NAME_BYTES)
        defect = "a probe without name or handlers";
    for (uint32_t i = 0; defect == NULL && i < probe->handler_count; i++)
        defect = handler_defect(&file, probe, &probe->handlers[i]);
    *handlers = probe->handler_count;
    probe_close(probe);
    return defect;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t handlers;
    const char *defect = probe_defect(data, size, &handlers);

    if (defect != NULL) {
        (void)fprintf(stderr, "%s\n", defect);
        abort();
    }
    return 0;
}
