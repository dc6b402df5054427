/* How long a thread parks at most, in 32 bits. */
#include "base/park_time.h"

#define IS_ABSOLUTE (UINT32_C(1) << 31)
#define SCALE_SHIFT 29
#define SCALES      4u
#define NUMBERS     ((int64_t)1 << SCALE_SHIFT)
#define STEP        1000

/* What is so near is found again by its low bits up to as long afterwards. */
#define NEAR_MS ((int64_t)1 << 30)

static uint32_t code_of_timeout(int64_t time)
{
    for (uint32_t scale = 0; time > 0 && scale < SCALES; scale++) {
        if (time < NUMBERS)
            return scale << SCALE_SHIFT | (uint32_t)time;
        time /= STEP;
    }
    return 0;
}

uint32_t jw_park_code(bool is_absolute, int64_t time, int64_t now_ms)
{
    if (!is_absolute)
        return code_of_timeout(time);
    if (time < 0 || time - now_ms >= NEAR_MS || now_ms - time >= NEAR_MS)
        return 0;
    return IS_ABSOLUTE | ((uint32_t)time & ~IS_ABSOLUTE);
}

struct jw_park_time jw_park_time(uint32_t code, int64_t now_ms)
{
    struct jw_park_time told = {JW_PARK_NONE, JW_PARK_NONE};

    if (code == 0)
        return told;
    if ((code & IS_ABSOLUTE) != 0) {
        /* The nearest with these low bits: their distance to those of now, with its sign. */
        const uint32_t distance = (code - (uint32_t)now_ms) << 1;

        told.until_ms = now_ms + ((int32_t)distance >> 1);
        return told;
    }
    told.timeout_ns = code & (NUMBERS - 1);
    for (uint32_t scale = code >> SCALE_SHIFT; scale > 0; scale--)
        told.timeout_ns *= STEP;
    return told;
}
