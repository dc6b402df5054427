/* Takes descriptors of methods apart; every context. */
#include "base/descriptor.h"

/* Bytes of the type that begins at `at`; 0: none does, or it does not end. */
static JW_SIGNAL_SAFE size_t type_bytes(const unsigned char *text, size_t length_bytes, size_t at)
{
    size_t end = at;

    while (end < length_bytes && text[end] == '[')
        end++;
    if (end >= length_bytes)
        return 0;
    switch (text[end]) {
    case 'B':
    case 'C':
    case 'D':
    case 'F':
    case 'I':
    case 'J':
    case 'S':
    case 'Z':
        return end + 1 - at;
    case 'L':
        break;
    default:
        return 0;
    }
    const size_t name = ++end;
    while (end < length_bytes && text[end] != ';' && text[end] != '(' && text[end] != ')')
        end++;
    return end < length_bytes && text[end] == ';' && end > name ? end + 1 - at : 0;
}

size_t jw_descriptor_parameters(const unsigned char *text, size_t length_bytes)
{
    size_t at = 1;

    if (length_bytes == 0 || text[0] != '(')
        return 0;
    for (size_t more = 1; more != 0; at += more)
        more = type_bytes(text, length_bytes, at);
    return at;
}

bool jw_descriptor_is_whole(const unsigned char *text, size_t length_bytes)
{
    const size_t at = jw_descriptor_parameters(text, length_bytes);

    if (at == 0 || length_bytes < at + 2 || text[at] != ')')
        return false;
    return text[at + 1] == 'V' ? length_bytes == at + 2
                               : length_bytes == at + 1 + type_bytes(text, length_bytes, at + 1);
}
