/*
 * Any bytes as rules, held against any class behind a zero: the parser ends, its complaints are one printable line, and each
 * method has a decision that names a rule there is.
 */
/* s18: rules and classes come from anybody. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_complaint(const struct jw_error *err)
{
    const size_t length = strnlen(err->message, sizeof err->message);

    if (length == 0 || length == sizeof err->message)
        abort();
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)err->message[i] < 0x20 && err->message[i] != '\t')
            abort();
    }
}

static const struct classfile *find_nothing(void *context, struct classfile_text name)
{
    /* The class is above itself, whatever is asked for: it has to end. */
    return name.length_bytes % 2 == 0 ? context : NULL;
}

static void decide(const struct rules *rules, const uint8_t *bytes, size_t length)
{
    static struct classfile_memory memory;
    static struct rules_supers supers;
    struct classfile file;

    if (memory.bytes == NULL) {
        memory.capacity_bytes = classfile_memory_bytes(64u << 10);
        memory.bytes = malloc(memory.capacity_bytes);
    }
    memory.used_bytes = 0;
    if (length > 64u << 10 || classfile_read(bytes, length, &memory, &file) != CLASSFILE_OK)
        return;

    const struct rules_subject subject = {
        .file = &file, .find = find_nothing, .context = &file, .supers = &supers};
    for (uint32_t i = 0; i < file.method_count; i++) {
        const struct rules_decision got = rules_decide(rules, &subject, (uint16_t)i);

        if (got.outcome != RULES_NO_RULE && got.rule >= rules_count(rules))
            abort();
        if (got.outcome == RULES_TAKEN &&
            (rules_is_exclusive(rules, got.rule) || !rules_may_touch(rules, &subject)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    const size_t length = zero == NULL ? size : (size_t)(zero - data);
    struct jw_error err = {{0}};
    struct rules *rules = rules_parse((const char *)data, length, &err);

    if (rules == NULL) {
        check_complaint(&err);
        return 0;
    }
    if (zero != NULL)
        decide(rules, zero + 1, size - length - 1);
    rules_close(rules);
    return 0;
}
