/* Classes of locks by their names. */
#include "base/lock_class.h"

#include <string.h>

bool jw_lock_class_is(const char *name, size_t length_bytes)
{
    static const char *const ends[] = {"$FairSync", "$NonfairSync", "StampedLock"};

    for (size_t i = 0; i < JW_COUNT_OF(ends); i++) {
        const size_t end_bytes = strlen(ends[i]);

        if (length_bytes >= end_bytes &&
            memcmp(name + length_bytes - end_bytes, ends[i], end_bytes) == 0)
            return true;
    }
    return false;
}
