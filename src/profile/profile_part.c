/* A part of the samples, in the words of options: states. Context: dump, tool. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "profile/profile_part.h"

/* Words of ours for states, and how names of recordings begin that mean the same. */
static const struct {
    const char *word;
    const char *begin;
} states[] = {
    {"running", "RUNNABLE"}, {"sleeping", "SLEEPING"},      {"parked", "PARKED"},
    {"blocked", "BLOCKED"},  {"waiting", "IN_OBJECT_WAIT"}, {"native", "IN_NATIVE"},
};

/* Names of states by other producers. */
static const char *const other_states[] = {
    "default",
    "new",
    "terminated",
};

static const char *past_state(const char *name)
{
    return name + (jw_ascii_begins(name, "STATE_") ? 6 : 0);
}

/* "STATE_RUNNABLE" is what "running" and "runnable" mean; "parked" also means STATE_PARKED_TIMED. */
bool profile_is_state(const char *state, const char *wanted)
{
    state = past_state(state);
    for (size_t i = 0; i < JW_COUNT_OF(states); i++) {
        if (jw_ascii_equal(states[i].word, wanted))
            return jw_ascii_begins(state, states[i].begin);
    }
    wanted = past_state(wanted);
    return jw_ascii_begins(state, wanted);
}

const char *profile_state_word(const char *name)
{
    const char *state = past_state(name);

    for (size_t i = 0; i < JW_COUNT_OF(states); i++) {
        if (jw_ascii_begins(state, states[i].begin))
            return states[i].word;
    }
    return state;
}

bool profile_is_known_state(const char *state)
{
    for (size_t i = 0; i < JW_COUNT_OF(states); i++) {
        if (profile_is_state(states[i].begin, state))
            return true;
    }
    for (size_t i = 0; i < JW_COUNT_OF(other_states); i++) {
        if (profile_is_state(other_states[i], state))
            return true;
    }
    return false;
}

void profile_words_add(struct profile_words *words, const char *before, const char *name,
                       const char *between, const char *value)
{
    if (words->used_bytes >= words->room_bytes)
        return;
    words->used_bytes +=
        (size_t)snprintf(words->text + words->used_bytes, words->room_bytes - words->used_bytes,
                         "%s%.80s%s%.200s", before, name, between, value);
}

void profile_words_thread(struct profile_words *words, size_t number, const char *pattern)
{
    profile_words_add(words,
                      number > 0               ? " or "
                      : words->used_bytes == 0 ? ""
                                               : ", ",
                      number == 0 ? "thread " : "", "", pattern);
}

void profile_words_window(struct profile_words *words, const char *from, const char *to)
{
    if (from != NULL)
        profile_words_add(words, words->used_bytes == 0 ? "" : ", ", "from ", "", from);
    if (to != NULL)
        profile_words_add(words,
                          words->used_bytes == 0 ? ""
                          : from != NULL         ? " "
                                                 : ", ",
                          "to ", "", to);
}
