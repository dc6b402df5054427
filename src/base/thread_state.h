/*
 * thread_state - what a thread was doing when it was sampled, and the names for it.
 *
 * For      wall-clock samples, and whoever writes or selects them by state.
 * Context  all.   Memory  none.
 */
#ifndef JW_BASE_THREAD_STATE_H
#define JW_BASE_THREAD_STATE_H

#include "base/jw.h"

enum jw_thread_state {
#define JW_THREAD_STATE(name, recorded, text) JW_STATE_##name,
#include "base/thread_states.def"
#undef JW_THREAD_STATE
    JW_STATE_LIMIT
};

/* Name in recordings, "STATE_RUNNABLE"; "STATE_DEFAULT" for a number that is none. */
const char *jw_thread_state_name(enum jw_thread_state state);

#endif
