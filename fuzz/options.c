/*
 * Any bytes as an agent string: the parser ends, its values lie in their ranges, its messages are one
 * printable line each, and the same bytes give the same result.
 * tests/unit/options/test_options_random.c drives the same check with seeded strings.
 */
/* s10, s18: an agent string may come from anybody. */
#include <stdint.h>
#include <string.h>

#include "options/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_printable_line(const char *text, size_t capacity_bytes)
{
    const size_t length_bytes = strnlen(text, capacity_bytes);

    if (length_bytes == 0 || length_bytes == capacity_bytes)
        return false;
    for (size_t i = 0; i < length_bytes; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    }
    return true;
}

static bool is_plain_text(const char *text, size_t capacity_bytes)
{
    const size_t length_bytes = strnlen(text, capacity_bytes);

    for (size_t i = 0; i < length_bytes; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    }
    return length_bytes < capacity_bytes;
}

/* Texts one after another, with an empty one at their end. */
static bool is_list(const char *list)
{
    size_t used_bytes = 0;

    while (used_bytes < OPTIONS_PATTERNS_BYTES && list[used_bytes] != '\0') {
        if (!is_plain_text(list + used_bytes, OPTIONS_PATTERNS_BYTES - used_bytes))
            return false;
        used_bytes += strlen(list + used_bytes) + 1;
    }
    return used_bytes < OPTIONS_PATTERNS_BYTES;
}

static bool are_messages_sound(const struct options_messages *messages)
{
    char text[1000];

    for (uint32_t i = 0; i < messages->count && i < OPTIONS_MESSAGES_KEPT; i++) {
        if (!is_printable_line(messages->texts[i], OPTIONS_MESSAGE_BYTES))
            return false;
    }
    for (size_t capacity_bytes = 1; capacity_bytes <= sizeof text; capacity_bytes *= 10) {
        const size_t length_bytes = options_messages_text(messages, "> ", text, capacity_bytes);
        if (length_bytes >= capacity_bytes || text[length_bytes] != '\0')
            return false;
    }
    return true;
}

static bool is_in(uint64_t value, uint64_t minimum, uint64_t maximum)
{
    return value >= minimum && value <= maximum;
}

static bool are_values_sound(const struct options *values)
{
    const uint64_t second_ns = 1000000000;

    return values->action < OPTIONS_ACTION_LIMIT && values->event < OPTIONS_EVENT_LIMIT &&
           values->output < OPTIONS_OUTPUT_LIMIT && values->cstack < OPTIONS_CSTACK_LIMIT &&
           values->loglevel < OPTIONS_LOGLEVEL_LIMIT &&
           is_in(values->interval_ns, OPTIONS_INTERVAL_MIN_NS, 3600 * second_ns) &&
           is_in(values->jstackdepth_count, 1, OPTIONS_DEPTH_MAX) &&
           is_in(values->chunksize_bytes, 256 << 10, 1ull << 40) &&
           is_in(values->chunktime_ns, 5 * second_ns, 30 * 86400 * second_ns) &&
           is_in(values->memlimit_bytes, 8 << 20, 64ull << 30) &&
           is_in(values->minwidth_ppm, 0, 1000000) && is_in(values->traces_count, 0, 1000000) &&
           is_in(values->flat_count, 0, 1000000) &&
           is_plain_text(values->file, OPTIONS_PATH_BYTES) &&
           is_plain_text(values->log, OPTIONS_PATH_BYTES) &&
           is_plain_text(values->title, OPTIONS_TITLE_BYTES) && is_list(values->includes) &&
           is_list(values->excludes) && values->count < OPTIONS_COUNT_LIMIT;
}

static bool are_messages_equal(const struct options_messages *one,
                               const struct options_messages *other)
{
    for (uint32_t i = 0; i < one->count && i < OPTIONS_MESSAGES_KEPT; i++) {
        if (strcmp(one->texts[i], other->texts[i]) != 0)
            return false;
    }
    return one->count == other->count;
}

/* NULL, or what is wrong with the result of these bytes. */
static const char *options_defect(const char *text, size_t length_bytes, bool *is_accepted)
{
    static struct options_result first;
    static struct options_result second;
    char name[64];

    *is_accepted = options_parse(text, length_bytes, &first);
    if (*is_accepted != (first.errors.count == 0))
        return "accepted with errors, or refused without";
    if (!are_values_sound(&first.values))
        return "a value out of its range";
    if (!are_messages_sound(&first.errors) || !are_messages_sound(&first.warnings))
        return "a message that is no printable line";
    if (options_parse(text, length_bytes, &second) != *is_accepted ||
        memcmp(&first.values, &second.values, sizeof first.values) != 0 ||
        !are_messages_equal(&first.errors, &second.errors) ||
        !are_messages_equal(&first.warnings, &second.warnings))
        return "two readings that differ";
    if (first.values.file[0] != '\0' &&
        options_file_name(first.values.file, 1, 0, 7, name, sizeof name, NULL) &&
        strlen(name) >= sizeof name)
        return "a file name that is not terminated";
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_accepted;

    if (options_defect((const char *)data, size, &is_accepted) != NULL)
        __builtin_trap();
    return 0;
}
