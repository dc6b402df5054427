/*
 * park_time - how long a thread parks at most, in 32 bits.
 *
 * For      handing it from the hook to the recording in what a record of a wait has left.
 * Callers  agent (hook), recording (dump).   Context  jw_park_code: hook, any. jw_park_time: dump, any.   Memory  none.
 *
 *     0                       no end by itself, or one that cannot be told
 *     scale (2), number (29)  from the begin on: a number of ns, us, ms or s, the finest that fits: exact below half a second, else cut
 *                             below the unit, of which there are half a million at least
 *     1, low bits (31)        until this millisecond since the Unix epoch, which is within twelve days of now
 *
 * Source: OpenJDK, Unsafe.park: time is in ns, or absolute in ms since the epoch; 0 that is not absolute: no end.
 */
#ifndef JW_BASE_PARK_TIME_H
#define JW_BASE_PARK_TIME_H

#include "base/jw.h"

#define JW_PARK_NONE INT64_MIN /* as jdk.ThreadPark has it */

struct jw_park_time {
    int64_t timeout_ns; /* JW_PARK_NONE: none */
    int64_t until_ms;   /* since the Unix epoch; JW_PARK_NONE: none */
};

/* `now_ms` since the Unix epoch; of an absolute time alone. */
uint32_t jw_park_code(bool is_absolute, int64_t time, int64_t now_ms);
struct jw_park_time jw_park_time(uint32_t code, int64_t now_ms);

#endif
