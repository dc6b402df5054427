/* What places in methods tell: hook, on any Java thread; what they could not, the agent's thread. */
#include "agent/told.h"

#include "agent/agent.h"
#include "base/counters.h"
#include "instrument/instrument.h"

enum sampler_hook_end told_sample(const struct sampler_hook *hook)
{
    const enum sampler_hook_end end =
        run_generations() == NULL ? SAMPLER_HOOK_SHUT : sampler_hook_ended(hook);

    if (end == SAMPLER_HOOK_SHUT) {
        jw_count(JW_COUNT_HOOK_CALLS);
        jw_count(JW_COUNT_HOOK_LOST_BETWEEN_FILES);
    }
    return end;
}

void told_put_class(jclass klass, struct event_values *values)
{
    char *signature = NULL;

    if (klass == NULL ||
        (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &signature, NULL) !=
            JVMTI_ERROR_NONE ||
        signature == NULL) {
        event_values_put_text(values, NULL, 0);
        return;
    }
    event_values_put_class(values, signature);
    (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
}

void told_count_dropped(JNIEnv *jni)
{
    if (jni == NULL)
        return;
    jw_count_add(JW_COUNT_PLACES_DROPPED, instrument_dropped(jni));
    (void)instrument_missed(jni);
}
