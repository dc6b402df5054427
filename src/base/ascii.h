/*
 * ascii - letters of names that are ours, whatever the host's locale says of letters.
 *
 * For      names of options, formats, states and metrics. tolower() and its like follow the locale of the host: in a
 *          Turkish one "I" is no capital of "i".
 * Callers  any room.   Context  any, dump, tool.   Memory  none.
 */
#ifndef JW_BASE_ASCII_H
#define JW_BASE_ASCII_H

#include "base/jw.h"

static inline bool jw_ascii_is_upper(char character)
{
    return character >= 'A' && character <= 'Z';
}

static inline char jw_ascii_lower(char character)
{
    return jw_ascii_is_upper(character) ? (char)(character - 'A' + 'a') : character;
}

/* How many characters the two begin alike with, capital or not. */
static inline size_t jw_ascii_common(const char *one, const char *other)
{
    size_t count = 0;

    while (one[count] != '\0' && jw_ascii_lower(one[count]) == jw_ascii_lower(other[count]))
        count++;
    return count;
}

/* Equal, capital or not? */
static inline bool jw_ascii_equal(const char *one, const char *other)
{
    const size_t common = jw_ascii_common(one, other);

    return one[common] == '\0' && other[common] == '\0';
}

/* Does the text begin so, capital or not? */
static inline bool jw_ascii_begins(const char *text, const char *begin)
{
    return begin[jw_ascii_common(text, begin)] == '\0';
}

#endif
