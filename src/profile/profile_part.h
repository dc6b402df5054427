/*
 * profile_part - a part of the samples, in the words of options: moments, states.
 *
 * For      who lets samples into a profile or keeps them out: the agent while it counts, the command when it reads.
 * Callers  recording, cli.   Context  dump, tool.
 * Memory   the caller's; texts of options must outlive what is made of them.
 */
#ifndef JW_PROFILE_PROFILE_PART_H
#define JW_PROFILE_PROFILE_PART_H

#include "base/jw.h"

/* ---- profile_time.c: a moment, as an option says it ---- */

enum profile_time_kind {
    PROFILE_TIME_ANY, /* nothing was said */
    PROFILE_TIME_AFTER_START,
    PROFILE_TIME_BEFORE_END,
    PROFILE_TIME_OF_DAY, /* of this place, since midnight */
    PROFILE_TIME_UNIX,
};

struct profile_time {
    enum profile_time_kind kind;
    uint64_t ns;
    const char *text; /* as it was given */
};

/* Value of option `name`, "--from". False and `err`: it is no time. `has_end`: the end is known, so a time before
 * it is proposed; it is read anyway. */
JW_MUST_CHECK bool profile_time_read(const char *name, const char *text, bool has_end,
                                     struct profile_time *out, struct jw_error *err);
/* In ns of Unix time, in a recording from `start_ns` to `end_ns`; `otherwise_ns`: nothing was said. */
uint64_t profile_time_at(const struct profile_time *time, uint64_t start_ns, uint64_t end_ns,
                         uint64_t otherwise_ns);

/* In ns of Unix time, the first moment from `least_ns` on at which the clock of this place shows it. Of a kind
 * PROFILE_TIME_OF_DAY. */
uint64_t profile_time_next(const struct profile_time *time, uint64_t least_ns);

/* ---- states ---- */

/* "STATE_RUNNABLE" is what "running" and "runnable" mean; "parked" also means STATE_PARKED_TIMED. */
bool profile_is_state(const char *state, const char *wanted);
bool profile_is_known_state(const char *state);
/* The word of ours for a state as a recording has it; where there is none, without "STATE_". */
const char *profile_state_word(const char *name);

/* ---- what a picture says of its part, "GET /orders*, thread http-*, from 10s to 20s"; cut to fit ---- */

struct profile_words {
    char *text; /* begins empty */
    size_t room_bytes;
    size_t used_bytes;
};

/* `name` and `value` with `between` in the middle, behind `before`. */
void profile_words_add(struct profile_words *words, const char *before, const char *name,
                       const char *between, const char *value);
/* Pattern `number`, from 0, of threads. */
void profile_words_thread(struct profile_words *words, size_t number, const char *pattern);
/* NULL: nothing was said. */
void profile_words_window(struct profile_words *words, const char *from, const char *to);

#endif
