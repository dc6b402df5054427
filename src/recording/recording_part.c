/*
 * Which samples of a graph count: told while they are counted, since a graph has no second pass; dump (open: control).
 *
 * The same words as the command's, and for the same records the same samples as it finds in their file, but for turns of
 * the wall clock that one event tells across the border of a chunk: see recording_part_turns.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/glob.h"
#include "base/thread_state.h"
#include "profile/profile.h"
#include "profile/profile_part.h"
#include "recording/recording_internal.h"

#define JUST_PASSED_NS (60 * JW_NS_PER_SECOND)

/* Numbers of the map of threads. */
#define IS_MEANT     1u
#define IS_NOT_MEANT 2u

static bool read_moment(const char *name, const char *text, struct profile_time *time,
                        struct jw_error *err)
{
    *time = (struct profile_time){.kind = PROFILE_TIME_ANY};
    if (text == NULL)
        return true;
    if (!profile_time_read(name, text, false, time, err))
        return false;
    if (time->kind != PROFILE_TIME_BEFORE_END)
        return true;
    jw_error_set(err,
                 "%s: '%.100s' is told from the end, which nobody knows while samples are counted; "
                 "record a .jfr and use 'jaywalk convert --%s=%.100s'",
                 name, text, name, text);
    return false;
}

/* In ns of Unix time, in a file from `start_ns` on. A time of day is the next one from `least_ns` on. */
static uint64_t unix_of(const struct profile_time *time, uint64_t start_ns, uint64_t least_ns,
                        uint64_t otherwise_ns)
{
    return time->kind == PROFILE_TIME_OF_DAY
               ? profile_time_next(time, least_ns)
               : profile_time_at(time, start_ns, start_ns, otherwise_ns);
}

/* By the clock of records; 0: before the first of them. */
static uint64_t record_time_of(const struct recording *recording, uint64_t unix_ns)
{
    return unix_ns == UINT64_MAX ? UINT64_MAX
           : unix_ns <= recording->opened_wall_ns
               ? 0
               : recording->opened_ns + (unix_ns - recording->opened_wall_ns);
}

/*
 * Times of day are those after the session began, so they are the same for each of its files; an end that is one
 * is the first after the begin. Of a begin the last minute counts as now, for what is begun at 14:05 with 14:05.
 */
static void settle(struct recording *recording, const struct profile_time *from,
                   const struct profile_time *to)
{
    const uint64_t start_ns = recording->opened_wall_ns;
    const uint64_t asked_ns = recording->config.part.session_unix_ns;
    const uint64_t session_ns = asked_ns == 0 ? start_ns : asked_ns;
    const uint64_t least_ns = session_ns - JUST_PASSED_NS;
    const uint64_t first_ns = unix_of(from, session_ns, least_ns, session_ns);
    const uint64_t after_ns = (first_ns > session_ns ? first_ns : session_ns) + 1;

    recording->graph.part.begin_ns =
        record_time_of(recording, unix_of(from, start_ns, least_ns, 0));
    recording->graph.part.end_ns =
        record_time_of(recording, unix_of(to, start_ns, after_ns, UINT64_MAX));
}

/* A later file of a session may have no samples: that is no reason to end it. */
static bool check_window(const struct recording *recording, struct jw_error *err)
{
    const struct recording_part_config *asked = &recording->config.part;
    const struct recording_part *part = &recording->graph.part;

    if (asked->session_unix_ns != 0 || part->begin_ns < part->end_ns)
        return true;
    if (part->end_ns == 0)
        jw_error_set(err, "to=%.100s has passed already: no sample would count", asked->to);
    else
        jw_error_set(err, "from=%.100s is not before to=%.100s", asked->from, asked->to);
    return false;
}

bool recording_part_open(struct recording *recording, struct jw_error *err)
{
    const struct recording_part_config *asked = &recording->config.part;
    struct recording_part *part = &recording->graph.part;
    struct profile_words words = {.text = part->text, .room_bytes = sizeof part->text};
    struct profile_time from, to;
    size_t number = 0;

    if (asked->state != NULL && (recording->config.shows == RECORDING_SHOWS_ALLOC ||
                                 recording->config.shows == RECORDING_SHOWS_LOCK)) {
        jw_error_set(err,
                     "state: allocations and waits for locks have none; it is for cpu and wall");
        return false;
    }
    if (!read_moment("from", asked->from, &from, err) || !read_moment("to", asked->to, &to, err))
        return false;
    settle(recording, &from, &to);
    if (!check_window(recording, err))
        return false;
    part->has_threads = asked->threads != NULL && asked->threads[0] != '\0';
    for (const char *at = asked->threads; at != NULL && *at != '\0'; at += strlen(at) + 1)
        profile_words_thread(&words, number++, at);
    profile_words_window(&words, asked->from, asked->to);
    return true;
}

void recording_part_cut(const struct recording *recording, struct profile_about *about)
{
    const struct recording_part *part = &recording->graph.part;
    const uint64_t opened_ns = recording->opened_ns;
    const uint64_t end_ns = opened_ns + about->duration_ns; /* both as if it had never paused */
    const uint64_t begin_ns = part->begin_ns < opened_ns ? opened_ns
                              : part->begin_ns < end_ns  ? part->begin_ns
                                                         : end_ns;
    const uint64_t last_ns = part->end_ns < end_ns ? part->end_ns : end_ns;

    about->start_unix_ns += begin_ns - opened_ns;
    about->duration_ns = last_ns > begin_ns ? last_ns - begin_ns : 0;
}

void recording_part_begin_take(struct recording *recording)
{
    jw_map_clear(&recording->graph.part.threads);
}

void recording_part_close(struct recording *recording)
{
    struct recording_part *part = &recording->graph.part;

    jw_map_close(&part->threads);
    jfr_buffer_close(&part->scratch);
    jfr_text_free(&part->name);
}

/* ---- threads ---- */

static bool fits_name(struct recording *recording, const char *pattern, struct recording_text name)
{
    struct recording_part *part = &recording->graph.part;
    const char *shown = recording_shown(recording, &part->scratch, &part->name, name);

    return shown != NULL && shown[0] != '\0' && jw_glob(pattern, strlen(pattern), shown);
}

static bool fits_number(const char *pattern, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    return number > 0 && strcmp(pattern, digits) == 0;
}

/* Its name as the JVM or the system has it, or its number. */
static bool is_meant(struct recording *recording, const struct recording_whose *whose)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_thread told = {0};

    if (whose->mounted.number != 0)
        told = (struct recording_thread){.java_name = whose->mounted.name,
                                         .java_id = whose->mounted.number};
    else if (sources->thread == NULL ||
             !sources->thread(sources->context, whose->thread_index, whose->thread_serial, &told))
        return false;
    for (const char *at = recording->config.part.threads; *at != '\0'; at += strlen(at) + 1)
        if (fits_name(recording, at, told.java_name) || fits_name(recording, at, told.os_name) ||
            fits_number(at, (uint64_t)told.os_tid) || fits_number(at, (uint64_t)told.java_id))
            return true;
    return false;
}

static bool is_of_threads(struct recording *recording, const struct recording_whose *whose)
{
    struct recording_part *part = &recording->graph.part;
    const uint64_t key[] = {(uint64_t)whose->thread_index << 32 | whose->thread_serial,
                            whose->mounted.number};

    if (!part->has_threads)
        return true;
    uint64_t *known = jw_map_put(&part->threads, key, sizeof key);
    if (known == NULL)
        return is_meant(recording, whose);
    if (*known == 0)
        *known = is_meant(recording, whose) ? IS_MEANT : IS_NOT_MEANT;
    return *known == IS_MEANT;
}

/* ---- samples ---- */

static bool is_in_window(const struct recording_part *part, uint64_t time_ns)
{
    return time_ns >= part->begin_ns && time_ns < part->end_ns;
}

static bool is_meant_in(struct recording *recording, const struct recording_whose *whose,
                        enum jw_thread_state state)
{
    const char *wanted = recording->config.part.state;

    return (wanted == NULL || profile_is_state(jw_thread_state_name(state), wanted)) &&
           is_of_threads(recording, whose);
}

bool recording_part_has(struct recording *recording, const struct recording_whose *whose,
                        uint64_t time_ns)
{
    return is_in_window(&recording->graph.part, time_ns) &&
           is_meant_in(recording, whose, JW_STATE_RUNNING);
}

/*
 * Of turns that were seen one by one each stands at its end, those of one event at its begin: as in a file. There an event
 * that began before its chunk begins with it (recording_span), and a window with an edge in between has it or
 * not otherwise than here, where it began when it did.
 */
struct recording_counted recording_part_turns(struct recording *recording,
                                              const struct recording_whose *whose,
                                              const struct recording_turns *turns)
{
    const struct recording_part *part = &recording->graph.part;
    const uint32_t count = turns->turn_count;
    const uint32_t split_max = recording->config.splits_wall ? RECORDING_TURNS_SPLIT_MAX : 0;
    const uint32_t split_count = count < split_max ? count : split_max;
    struct recording_counted counted = {0};
    uint64_t at_ns = turns->time_ns - turns->weight_ns;

    if (!is_meant_in(recording, whose, (enum jw_thread_state)turns->state))
        return counted;
    for (uint32_t i = 1; i <= split_count; i++) {
        const uint64_t end_ns = recording_turn_end_ns(turns, i);

        if (is_in_window(part, end_ns)) {
            counted.samples++;
            counted.weight += end_ns - at_ns;
        }
        at_ns = end_ns;
    }
    if (split_count < count && is_in_window(part, at_ns)) {
        counted.samples += count - split_count;
        counted.weight += turns->time_ns - at_ns;
    }
    return counted;
}
