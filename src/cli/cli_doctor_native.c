/* Native stacks beside libunwind's, for the page. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_doctor_internal.h"

static void put_part(uint64_t count, const char *words, char *text, size_t room_bytes)
{
    const size_t used = strlen(text);

    if (count > 0)
        snprintf(text + used, room_bytes - used, ", %s %s", cli_doctor_digits(count).text, words);
}

void cli_doctor_native_text(const struct cli_doctor *doctor, FILE *to)
{
    const uint64_t *counters = doctor->all.counters;
    const uint64_t compared = counters[JW_COUNT_NATIVE_CHECKED];
    char rest[480] = "";

    if (strncmp(doctor->nativecheck, "off: ", 5) == 0)
        cli_doctor_fact(to, "native stacks", "were not compared with libunwind: %s",
                        doctor->nativecheck + 5);
    if (compared == 0)
        return;
    put_part(counters[JW_COUNT_NATIVE_SHORTER], "ended sooner than there, with a mark", rest,
             sizeof rest);
    put_part(counters[JW_COUNT_NATIVE_NO_WAY], "equal as far as libunwind knows a way", rest,
             sizeof rest);
    put_part(counters[JW_COUNT_NATIVE_NO_COPY], "equal as far as the stack was copied", rest,
             sizeof rest);
    put_part(counters[JW_COUNT_NATIVE_UNCHECKED],
             "not comparable, as a library was unloaded meanwhile or libunwind did not begin", rest,
             sizeof rest);
    put_part(counters[JW_COUNT_NATIVE_NO_ROOM], "more were due while no copy was free, or too deep",
             rest, sizeof rest);
    cli_doctor_fact(
        to, "native stacks",
        "%s were unwound a second time by libunwind: %s equal (%s frames), %s different%s%s%s",
        cli_doctor_digits(compared).text, cli_doctor_digits(counters[JW_COUNT_NATIVE_EQUAL]).text,
        cli_doctor_digits(counters[JW_COUNT_NATIVE_FRAMES_EQUAL]).text,
        cli_doctor_digits(counters[JW_COUNT_NATIVE_DIFFERENT]).text, rest,
        doctor->native_difference[0] == '\0' ? "" : "; the last: ", doctor->native_difference);
}
