/* Texts of the ledger of CPU time; any, dump, control, tool. */
#include "base/ledger.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

#define ALL_TENTHS 1000 /* of a percent */

const struct jw_ledger_info jw_ledger_infos[JW_LEDGER_LIMIT] = {
#define JW_LEDGER(name, field_, phrase_, label, text)                                              \
    [JW_LEDGER_##name] = {.field = #field_, .phrase = (phrase_)},
#include "base/ledger.def"
#undef JW_LEDGER
};

int64_t jw_ledger_tenths(const struct jw_ledger *ledger, enum jw_ledger_line line)
{
    if (ledger->process_ns <= 0)
        return 0;

    const double tenths = (double)ledger->lines_ns[line] * 1000.0 / (double)ledger->process_ns;
    return (int64_t)(tenths < 0 ? tenths - 0.5 : tenths + 0.5);
}

/* What of the lines is below nothing: for so much of the whole samples stand beyond the clocks. */
static int64_t excess_tenths(const struct jw_ledger *ledger)
{
    int64_t sum = 0;

    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        sum -= jw_ledger_tenths(ledger, (enum jw_ledger_line)line) < 0
                   ? jw_ledger_tenths(ledger, (enum jw_ledger_line)line)
                   : 0;
    return sum;
}

const char *jw_ledger_sentence(const struct jw_ledger *ledger, char *text, size_t room_bytes)
{
    const uint64_t whole_ms =
        ledger->process_ns <= 0 ? 0 : (uint64_t)ledger->process_ns / JW_NS_PER_MS;
    const int64_t excess = excess_tenths(ledger);
    size_t used_bytes;

    if (ledger->process_ns <= 0) {
        snprintf(text, room_bytes, "CPU time: none was used");
        return text;
    }
    used_bytes =
        (size_t)snprintf(text, room_bytes, "CPU time %" PRIu64 ".%02" PRIu64 " s:", whole_ms / 1000,
                         whole_ms % 1000 / 10);
    for (int line = 0; line < JW_LEDGER_LIMIT && used_bytes < room_bytes; line++) {
        int64_t tenths = jw_ledger_tenths(ledger, (enum jw_ledger_line)line);

        if (tenths > ALL_TENTHS)
            tenths = ALL_TENTHS;
        if (tenths < 0 || (tenths == 0 && line != JW_LEDGER_SAMPLED))
            continue;
        used_bytes += (size_t)snprintf(text + used_bytes, room_bytes - used_bytes,
                                       "%s %s %" PRId64 ".%" PRId64 " %%",
                                       line == JW_LEDGER_SAMPLED ? "" : ",",
                                       jw_ledger_infos[line].phrase, tenths / 10, tenths % 10);
    }
    if (excess > 0 && used_bytes < room_bytes)
        snprintf(text + used_bytes, room_bytes - used_bytes,
                 "; samples stand for %" PRId64 ".%" PRId64 " %% more than was used", excess / 10,
                 excess % 10);
    return text;
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

size_t jw_ledger_group(const char *name, size_t length_bytes, char *text, size_t room_bytes)
{
    size_t used_bytes = 0;
    size_t at = 0;

    while (at < length_bytes && used_bytes + 1 < room_bytes) {
        if (is_digit(name[at])) {
            while (at < length_bytes && is_digit(name[at]))
                at++;
            text[used_bytes++] = '*';
        } else {
            text[used_bytes++] = name[at++];
        }
    }
    /* Not in the middle of a character. */
    if (at < length_bytes && ((unsigned char)name[at] & 0xc0) == 0x80) {
        while (used_bytes > 0 && ((unsigned char)text[used_bytes - 1] & 0xc0) == 0x80)
            used_bytes--;
        used_bytes -= used_bytes > 0;
    }
    text[used_bytes] = '\0';
    return used_bytes;
}
