/* Names of thread states; all. */
#include "base/thread_state.h"

const char *jw_thread_state_name(enum jw_thread_state state)
{
    static const char *const names[] = {
#define JW_THREAD_STATE(name, recorded, text) recorded,
#include "base/thread_states.def"
#undef JW_THREAD_STATE
    };

    return (unsigned)state < JW_COUNT_OF(names) ? names[state] : names[JW_STATE_UNKNOWN];
}
