/*
 * glob - names by a pattern in which each star stands for anything, also for nothing.
 *
 * For      patterns of threads and of endpoints, in options of the agent and of the command. Patterns of rules have rules of their own.
 * Callers  any room.   Context  any, dump, tool.   Memory  none.
 */
#ifndef JW_BASE_GLOB_H
#define JW_BASE_GLOB_H

#include "base/jw.h"

/* Does this text fit? Each star takes as little as it can, and more where what follows does not fit: no more steps than the product
 * of both lengths. */
static inline bool jw_glob(const char *pattern, size_t pattern_bytes, const char *text)
{
    const char *const end = pattern + pattern_bytes;
    const char *star = NULL; /* the last one passed, and where its text ends for now */
    const char *resume = NULL;

    while (*text != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (pattern < end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

#endif
