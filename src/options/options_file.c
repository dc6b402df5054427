/* Names of output files: patterns and endings; control, tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "options/options_internal.h"

#define NUMBER_DIGITS 9 /* of MAX in %n{MAX} */

static bool ends_with(const char *text, const char *ending)
{
    const size_t text_bytes = strlen(text);
    const size_t ending_bytes = strlen(ending);

    return text_bytes >= ending_bytes &&
           memcmp(text + text_bytes - ending_bytes, ending, ending_bytes) == 0;
}

bool options_output_of_file(const char *file, uint64_t *output)
{
    if (ends_with(file, ".svg"))
        return false;
    if (ends_with(file, ".jfr") || ends_with(file, ".jfr.zst"))
        *output = OPTIONS_OUTPUT_JFR;
    else if (ends_with(file, ".html"))
        *output = OPTIONS_OUTPUT_FLAMEGRAPH;
    else if (ends_with(file, ".collapsed") || ends_with(file, ".folded"))
        *output = OPTIONS_OUTPUT_COLLAPSED;
    else if (ends_with(file, ".tree"))
        *output = OPTIONS_OUTPUT_TREE;
    else if (ends_with(file, ".pprof") || ends_with(file, ".pb.gz"))
        *output = OPTIONS_OUTPUT_PPROF;
    else if (ends_with(file, ".otlp"))
        *output = OPTIONS_OUTPUT_OTLP;
    else
        *output = OPTIONS_OUTPUT_TEXT;
    return true;
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Bytes of what stands in braces at `text`, braces included; 0: none, or other bytes than allowed. */
static size_t braced_bytes(const char *text, size_t length_bytes, bool (*is_allowed)(char byte),
                           size_t most_bytes)
{
    size_t i = 1;

    if (length_bytes == 0 || text[0] != '{')
        return 0;
    while (i < length_bytes && i <= most_bytes && is_allowed(text[i]))
        i++;
    return i > 1 && i < length_bytes && text[i] == '}' ? i + 1 : 0;
}

/* Bytes of the pattern that begins with this percent sign; 0: it is none. */
static size_t pattern_bytes(const char *text, size_t length_bytes)
{
    if (length_bytes < 2)
        return 0;
    switch (text[1]) {
    case 'p':
    case 't':
    case '%':
        return 2;
    case 'n': {
        const size_t maximum = braced_bytes(text + 2, length_bytes - 2, is_digit, NUMBER_DIGITS);

        if (maximum == 0)
            return length_bytes > 2 && text[2] == '{' ? 0 : 2;
        return maximum > 2 + strspn(text + 3, "0") ? 2 + maximum : 0; /* modulo 0 is no number */
    }
    case '{': {
        const size_t name =
            braced_bytes(text + 1, length_bytes - 1, is_name_byte, OPTIONS_VARIABLE_BYTES);

        return name == 0 || is_digit(text[2]) ? 0 : 1 + name;
    }
    default:
        return 0;
    }
}

size_t options_bad_pattern(const char *pattern, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i++) {
        if (pattern[i] != '%')
            continue;

        const size_t length = pattern_bytes(pattern + i, length_bytes - i);
        if (length == 0)
            return i;
        i += length - 1;
    }
    return length_bytes;
}

bool options_file_is_numbered(const char *pattern)
{
    const size_t whole_bytes = strlen(pattern);

    for (size_t i = 0; i < whole_bytes; i++) {
        if (pattern[i] != '%')
            continue;
        if (pattern[i + 1] == 't' || pattern[i + 1] == 'n')
            return true;

        const size_t length = pattern_bytes(pattern + i, whole_bytes - i);
        i += length == 0 ? 0 : length - 1;
    }
    return false;
}

/* 20260131-235959 in local time, digits by hand: strftime would ask the locale. */
static void timestamp(uint64_t wall_ns, char text[16])
{
    const time_t seconds = (time_t)(wall_ns / JW_NS_PER_SECOND);
    struct tm local;

    if (localtime_r(&seconds, &local) == NULL)
        memset(&local, 0, sizeof local);

    const unsigned date = (unsigned)((local.tm_year + 1900) % 10000) * 10000 +
                          (unsigned)(local.tm_mon + 1) * 100 + (unsigned)local.tm_mday;
    const unsigned time_of_day =
        (unsigned)local.tm_hour * 10000 + (unsigned)local.tm_min * 100 + (unsigned)local.tm_sec;
    snprintf(text, 16, "%08u-%06u", date % 100000000, time_of_day % 1000000);
}

/* Value of "NAME}" as a part of a file name; false: there is no such variable. A process with the rights of
 * others has none. */
static bool variable(const char *name, size_t name_bytes, char text[OPTIONS_VARIABLE_BYTES + 1])
{
    char copy[OPTIONS_VARIABLE_BYTES + 1];
    size_t used = 0;

    memcpy(copy, name, name_bytes);
    copy[name_bytes] = '\0';

    const char *value = secure_getenv(copy);
    if (value == NULL || value[0] == '\0')
        return false;
    for (; value[used] != '\0' && used < OPTIONS_VARIABLE_BYTES; used++) {
        const bool is_double = value[used] == '.' && used > 0 && value[used - 1] == '.';
        const bool is_plain = is_name_byte(value[used]) || value[used] == '-' || value[used] == '.';

        text[used] = is_plain && !is_double ? value[used] : '_';
    }
    text[used] = '\0';
    return true;
}

/* What the name is made of. */
struct facts {
    char id[16];
    char moment[16];
    uint64_t number;
};

/* The text in place of a pattern that pattern_bytes takes. */
static bool expand(const char *pattern, size_t length_bytes, const struct facts *facts,
                   char text[OPTIONS_VARIABLE_BYTES + 1], struct jw_error *err)
{
    unsigned long long modulus = 0;

    switch (pattern[1]) {
    case 'p':
        strcpy(text, facts->id);
        return true;
    case 't':
        strcpy(text, facts->moment);
        return true;
    case 'n':
        for (const char *digit = pattern + 3; digit < pattern + length_bytes && is_digit(*digit);
             digit++)
            modulus = modulus * 10 + (unsigned)(*digit - '0');
        snprintf(text, OPTIONS_VARIABLE_BYTES + 1, "%llu",
                 modulus == 0 ? (unsigned long long)facts->number : facts->number % modulus);
        return true;
    case '{':
        if (variable(pattern + 2, length_bytes - 3, text))
            return true;
        jw_error_set(err,
                     "file: %.*s: the JVM's environment has no such variable; leave it out, or set "
                     "it where the JVM is started",
                     (int)length_bytes, pattern);
        return false;
    default:
        strcpy(text, "%");
        return true;
    }
}

bool options_file_name(const char *pattern, int process_id, uint64_t wall_ns, uint64_t number,
                       char *name, size_t capacity_bytes, struct jw_error *err)
{
    struct facts facts = {.number = number};
    char piece[OPTIONS_VARIABLE_BYTES + 1];
    size_t used_bytes = 0;

    snprintf(facts.id, sizeof facts.id, "%d", process_id);
    timestamp(wall_ns, facts.moment);
    for (const char *next = pattern; *next != '\0';) {
        const size_t length = *next == '%' ? pattern_bytes(next, strlen(next)) : 0;

        if (length == 0) {
            piece[0] = *next;
            piece[1] = '\0';
        } else if (!expand(next, length, &facts, piece, err)) {
            return false;
        }
        next += length == 0 ? 1 : length;

        const size_t piece_bytes = strlen(piece);
        if (piece_bytes + 1 > capacity_bytes - used_bytes) {
            jw_error_set(err, "file=%.80s: the name is longer than %zu bytes; try a shorter one",
                         pattern, capacity_bytes - 1);
            return false;
        }
        memcpy(name + used_bytes, piece, piece_bytes);
        used_bytes += piece_bytes;
    }
    if (used_bytes == 0) {
        jw_error_set(err, "file: no name is given; try file=profile.jfr");
        return false;
    }
    name[used_bytes] = '\0';
    return true;
}
