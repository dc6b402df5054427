/* Walkers that are given up for a while, and tried again: decided on the agent's thread, and told; dump, and any for
 * what is told to those who ask. */
#include <string.h>

#include "agent/session_internal.h"
#include "base/counters.h"
#include "walk/walk_breaker.h"

#define SENTENCE_BYTES 640

static const char *part_text(enum walk_part part)
{
    return part == WALK_PART_JAVA ? "Java frames" : "native frames";
}

static void log_change(const struct walk_change *change)
{
    const char *part = part_text(change->part);
    const unsigned long long retry_s = change->retry_ns / JW_NS_PER_SECOND;

    if (!change->is_down)
        agent_log(OPTIONS_LOGLEVEL_INFO, "%s: %s: %s", part, change->to, change->reason);
    else if (strcmp(change->to, "none") == 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: none from now on, in place of %s: %s; it is tried again in %llu s", part,
                  change->from, change->reason, retry_s);
    else
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: %s takes the place of %s: %s; it is tried again in %llu s", part, change->to,
                  change->from, change->reason, retry_s);
}

static void count_change(const struct walk_change *change)
{
    jw_count(change->is_down    ? JW_COUNT_WALKER_DOWN
             : change->is_trial ? JW_COUNT_WALKER_TRIALS
                                : JW_COUNT_WALKER_UP);
}

/* AsyncGetCallTrace leaves out frames of methods without ids. */
static bool prepare_agct(void *context, struct jw_error *err)
{
    JNIEnv *jni = context;

    if (jni == NULL)
        jw_error_set(err, "the JVM takes no further thread");
    return jni != NULL && hooks_make_method_ids(jni, err);
}

void breaker_turn(JNIEnv *jni, struct recording *recording)
{
    struct walk_change change;

    while (walk_breaker_turn(jw_now_ns(), prepare_agct, jni, &change)) {
        const struct recording_walker_change told = {
            .time_ns = change.time_ns,
            .part = part_text(change.part),
            .from = change.from,
            .to = change.to,
            .reason = change.reason,
            .retry_ns = change.retry_ns,
        };

        log_change(&change);
        count_change(&change);
        recording_walker_change(recording, &told);
        if (change.part == WALK_PART_JAVA)
            recording_set(recording, "walker", change.to);
    }
}

void breaker_tell(void)
{
    const char *walker = walk_walker_in_use(NULL, 0);
    char text[SENTENCE_BYTES];
    const uint64_t now_ns = jw_now_ns();

    if (walker == NULL)
        walker = "none, samples have no Java frames";
    if (walk_breaker_tell(WALK_PART_JAVA, now_ns, text, sizeof text))
        agent_log(OPTIONS_LOGLEVEL_INFO, "Walker: %s (%s)", walker, text);
    else
        agent_log(OPTIONS_LOGLEVEL_INFO, "Walker: %s", walker);
    if (walk_breaker_tell(WALK_PART_NATIVE, now_ns, text, sizeof text))
        agent_log(OPTIONS_LOGLEVEL_INFO, "Native frames: %s (%s)",
                  walk_breaker_native() ? "walked" : "left out", text);
}
