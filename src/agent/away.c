/* Owners of locks on no carrier; the agent's thread. */
#include "agent/away.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/latches.h"
#include "agent/locks.h"
#include "agent/virtual_search.h"
#include "agent/virtual_stacks.h"
#include "agent/weak_refs.h"
#include "base/clock.h"
#include "base/counters.h"
#include "recording/recording.h"
#include "sampler/sampler_locks.h"

/* Asked in one turn, and for how long at most: an owner takes some tens of microseconds. */
#define ASKED_MAX  8u
#define LONGEST_NS (JW_NS_PER_MS / 2)

static bool is_soon; /* of the agent's thread */

static struct recording_text text_of(const char *text)
{
    return (struct recording_text){text[0] == '\0' ? NULL : text, strlen(text)};
}

static void tell(struct recording *recording, const struct sampler_away *one,
                 const struct virtual_stack *stack)
{
    const struct recording_told_owner told = {
        .time_ns = one->time_ns,
        .address = one->address,
        .virtual_number = one->owner,
        .virtual_name = text_of(stack->name),
        .class_name = text_of(one->class_name),
        .frames = stack->frames,
        .frame_count = stack->count,
        .is_truncated = stack->is_truncated,
    };

    jw_count(JW_COUNT_LOCK_AWAY);
    recording_lock_owner(recording, &told);
}

/* A local reference to who has the lock at this moment; NULL: nobody is known. */
static jobject find_owner(JNIEnv *jni, const struct sampler_away *one, jobject latch)
{
    return one->is_park ? latches_owner(jni, latch)
                        : weak_refs_find(agent.jvmti, jni, WEAK_THREADS, one->owner);
}

/* Of a monitor the sampler says it. */
static bool has_it_still(JNIEnv *jni, const struct sampler_away *one, jobject latch, jobject thread)
{
    jobject owner = one->is_park ? latches_owner(jni, latch) : NULL;
    const bool is_it = !one->is_park || (*jni)->IsSameObject(jni, owner, thread);

    if (owner != NULL)
        (*jni)->DeleteLocalRef(jni, owner);
    return is_it && sampler_lock_is_away(one);
}

static void ask(JNIEnv *jni, struct recording *recording, struct sampler_away *one, jobject latch,
                jobject thread)
{
    struct virtual_stack stack;

    if (one->is_park && (!api_is_virtual(jni, thread) ||
                         !sampler_lock_away_of(one, api_thread_number(jni, thread))))
        return;
    virtual_stack_ask(agent.jvmti, jni, thread, &stack);
    if (stack.frames != NULL && has_it_still(jni, one, latch, thread))
        tell(recording, one, &stack);
    else
        jw_count(JW_COUNT_LOCK_AWAY_LOST);
    virtual_stack_free(agent.jvmti, &stack);
}

/* It may be found before the next look. */
static void note_unknown(const struct sampler_away *one)
{
    jw_count(JW_COUNT_LOCK_AWAY_UNKNOWN);
    if (!one->is_park && one->time_ns - one->begin_ns >= SAMPLER_SEEK_AFTER_NS)
        virtual_search_want(one->owner);
}

static void look(JNIEnv *jni, struct recording *recording, struct sampler_away *one)
{
    jobject latch =
        one->is_park ? weak_refs_find(agent.jvmti, jni, WEAK_LATCHES, one->address) : NULL;
    jobject thread = find_owner(jni, one, latch);

    if (thread != NULL)
        ask(jni, recording, one, latch, thread);
    else
        note_unknown(one);
    if (thread != NULL)
        (*jni)->DeleteLocalRef(jni, thread);
    if (latch != NULL)
        (*jni)->DeleteLocalRef(jni, latch);
}

void away_turn(JNIEnv *jni, struct recording *recording)
{
    static struct sampler_away all[ASKED_MAX];

    is_soon = false;
    if (!locks_are_on() || jni == NULL || recording_format_of(recording) != RECORDING_JFR)
        return;
    const uint64_t begin_ns = jw_now_ns();
    const uint32_t count = sampler_lock_away(all, ASKED_MAX, &is_soon);
    for (uint32_t i = 0; i < count && jw_now_ns() - begin_ns < LONGEST_NS; i++)
        look(jni, recording, &all[i]);
    virtual_search_turn(jni, begin_ns + LONGEST_NS);
}

void away_end(JNIEnv *jni)
{
    is_soon = false;
    virtual_search_end(jni);
}

bool away_is_soon(void)
{
    return is_soon;
}
