/* The name of a method, as a constant of a class file, becomes another one. Source: The Java Virtual Machine Specification, 4.4.7. */
#include "probe/probe_carrier.h"

#include <string.h>

#include "base/jw.h"

#define NAME(length, text) "\x01\x00" length text

size_t probe_carrier_class(const uint8_t *compiled, size_t compiled_bytes, uint8_t *out,
                           size_t room_bytes)
{
    static const char known[] = NAME("\x0d", "currentThread");
    static const char wanted[] = NAME("\x14", PROBE_CARRIER_METHOD);
    const size_t known_bytes = sizeof known - 1, wanted_bytes = sizeof wanted - 1;
    const uint8_t *at = memmem(compiled, compiled_bytes, known, known_bytes);

    _Static_assert(sizeof "currentThread" - 1 == 0x0d, "its length stands before it");
    _Static_assert(sizeof PROBE_CARRIER_METHOD - 1 == 0x14, "its length stands before it");
    if (at == NULL || room_bytes < compiled_bytes + wanted_bytes - known_bytes)
        return 0;

    const size_t before = (size_t)(at - compiled), after = compiled_bytes - before - known_bytes;
    memcpy(out, compiled, before);
    memcpy(out + before, wanted, wanted_bytes);
    memcpy(out + before + wanted_bytes, at + known_bytes, after);
    return before + wanted_bytes + after;
}
