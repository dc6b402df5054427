/* Names of output files: patterns and endings; control, tool. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "options/options_internal.h"

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
    if (ends_with(file, ".jfr"))
        *output = OPTIONS_OUTPUT_JFR;
    else if (ends_with(file, ".html"))
        *output = OPTIONS_OUTPUT_FLAMEGRAPH;
    else if (ends_with(file, ".collapsed") || ends_with(file, ".folded"))
        *output = OPTIONS_OUTPUT_COLLAPSED;
    else
        *output = OPTIONS_OUTPUT_TEXT;
    return true;
}

size_t options_bad_pattern(const char *pattern, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i++) {
        if (pattern[i] != '%')
            continue;
        if (i + 1 == length_bytes || memchr("pt%", pattern[i + 1], 3) == NULL)
            return i;
        i++;
    }
    return length_bytes;
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

bool options_file_name(const char *pattern, int process_id, uint64_t wall_ns, char *name,
                       size_t capacity_bytes, struct jw_error *err)
{
    char id[16];
    char moment[16];
    size_t used_bytes = 0;

    snprintf(id, sizeof id, "%d", process_id);
    timestamp(wall_ns, moment);
    for (const char *next = pattern; *next != '\0'; next++) {
        char plain[2] = {*next, '\0'};
        const char *piece = plain;

        if (*next == '%' && options_bad_pattern(next, 2) == 2) {
            next++;
            if (*next == 'p')
                piece = id;
            else if (*next == 't')
                piece = moment;
        }
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
