/*
 * calls - what becomes of one call that jaywalk makes of the outside: of libc and the kernel (calls.c), of the JVM
 *         (calls_jvm.c). Rules and counts are those of the environment, see calls.c.
 */
#ifndef JW_FAULTS_CALLS_H
#define JW_FAULTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_what {
    CALLS_GOES_ON,
    CALLS_FAILS, /* with `error` */
    CALLS_IS_SHORT,
    CALLS_IS_TORN, /* half of it, or all where it has no half; then calls_die */
    CALLS_JUMPS,   /* the clock, by `seconds` */
};

struct calls_fate {
    enum calls_what what;
    int error;
    int64_t seconds;
};

/*
 * Of the call of the function `name` by the caller of whoever's frame this is. STOP, KILL and SLOW were done already.
 * Signal-safe. `errors`: what the sweep makes of it.
 */
struct calls_fate calls_next(const char *name, const char *errors, void *frame);

void calls_die(void);

bool calls_have_rules(void);

#endif
