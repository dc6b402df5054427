/* Allocations that the JVM has sampled; hook, the agent's thread. */
#include "agent/alloc.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/live.h"
#include "arch/arch.h"
#include "base/atomics.h"
#include "sampler/sampler_hook.h"
#include "symbols/symbols.h"
#include "vm/vm_klass.h"

/* Source: OpenJDK, threadHeapSampler.cpp, of JDK 11 to 28. */
#define JVM_INTERVAL_BYTES  ((jint)512 << 10)
#define JVM_INTERVAL_SYMBOL "_ZN17ThreadHeapSampler18_sampling_intervalE"

static struct {
    char reason[sizeof((struct jw_error *)0)->message]; /* of this session; "": none */
    bool is_on;
    jint before_bytes; /* the JVM's interval, for afterwards */
    /* Relaxed, both: each is a number for itself, and what a hook is late for is as good as what it is early for. */
    _Atomic uint64_t interval_bytes;
    _Atomic uintptr_t in_force; /* where the JVM keeps its own; 0: not known */
} alloc;

static bool has_capability(struct jw_error *why)
{
    const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
    jvmtiCapabilities potential;

    memset(&potential, 0, sizeof potential);
    if (vm_major_version() < 11) {
        jw_error_set(why,
                     "JDK %d cannot sample allocations (JDK 11 is the first that can, JEP 331); "
                     "what fills its heap "
                     "is told by 'jcmd PID GC.class_histogram', twice",
                     vm_major_version());
        return false;
    }
    if ((*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential) != JVMTI_ERROR_NONE ||
        !potential.can_generate_sampled_object_alloc_events ||
        (*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted) != JVMTI_ERROR_NONE) {
        jw_error_set(why, "this JVM gives no agent the capability to sample allocations, or has "
                          "given it to another one");
        return false;
    }
    return true;
}

bool alloc_choose(const struct options *values, struct jw_error *err)
{
    struct jw_error why = {{0}};

    alloc.reason[0] = '\0';
    if (values->alloc_bytes == 0 || has_capability(&why))
        return true;
    if (values->event == OPTIONS_EVENT_ALLOC) {
        jw_error_set(err, "event=alloc: %.380s", why.message);
        return false;
    }
    snprintf(alloc.reason, sizeof alloc.reason, "%s", why.message);
    agent_log(OPTIONS_LOGLEVEL_WARN, "alloc: off: %s", alloc.reason);
    return true;
}

/* The interval that the JVM has now; 0: not known. */
static uint64_t in_force(void)
{
    const uintptr_t addr = jw_load_relaxed(&alloc.in_force);
    uint32_t bytes = 0;

    return addr != 0 && safe_load_u32(addr, &bytes) && (int32_t)bytes > 0 ? bytes : 0;
}

static void give_up(const char *what, jvmtiError error)
{
    snprintf(alloc.reason, sizeof alloc.reason, "the JVM refuses %s (JVMTI error %d)", what, error);
    agent_log(OPTIONS_LOGLEVEL_WARN, "alloc: off: %s", alloc.reason);
}

void alloc_begin(const struct options *values)
{
    jvmtiEnv *jvmti = agent.jvmti;

    if (values->alloc_bytes == 0 || alloc.reason[0] != '\0' || alloc.is_on)
        return;
    jw_store_relaxed(&alloc.in_force, symbols_find_symbol("libjvm.", JVM_INTERVAL_SYMBOL));
    const uint64_t before_bytes = in_force();
    alloc.before_bytes = before_bytes == 0 ? JVM_INTERVAL_BYTES : (jint)before_bytes;
    jw_store_relaxed(&alloc.interval_bytes, values->alloc_bytes);

    jvmtiError error = (*jvmti)->SetHeapSamplingInterval(jvmti, (jint)values->alloc_bytes);
    if (error != JVMTI_ERROR_NONE) {
        give_up("the interval of allocations", error);
        return;
    }
    /* Not where it was told by chance: what stands there is the interval, or nothing that is known. */
    if (in_force() != values->alloc_bytes)
        jw_store_relaxed(&alloc.in_force, 0);
    error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
                                               JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
    if (error != JVMTI_ERROR_NONE) {
        (void)(*jvmti)->SetHeapSamplingInterval(jvmti, alloc.before_bytes);
        give_up("the event of sampled allocations", error);
        return;
    }
    alloc.is_on = true;
}

void alloc_end(void)
{
    if (!alloc.is_on)
        return;
    alloc.is_on = false;
    (void)(*agent.jvmti)
        ->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                   NULL);
    /* Somebody else's is left as it is. */
    if (in_force() == 0 || in_force() == jw_load_relaxed(&alloc.interval_bytes))
        (void)(*agent.jvmti)->SetHeapSamplingInterval(agent.jvmti, alloc.before_bytes);
}

/* By its signature, where the JVM does not let us at the class itself (-Xcheck:jni). */
static bool take_by_name(jvmtiEnv *jvmti, jclass klass, struct sampler_hook *sample)
{
    char *signature = NULL;

    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE &&
        signature != NULL) {
        const size_t length_bytes = strlen(signature);
        const bool is_array = signature[0] == '[' || length_bytes < 2;

        sample->class_text = is_array ? signature : signature + 1;
        sample->class_bytes = is_array ? length_bytes : length_bytes - 2;
    }
    const bool is_taken = sampler_hook(sample);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is_taken;
}

void alloc_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, jclass klass, jlong object_bytes)
{
    const uint64_t told_bytes = in_force();
    const uint64_t interval_bytes =
        told_bytes != 0 ? told_bytes : jw_load_relaxed(&alloc.interval_bytes);
    const struct live_place place = live_watch(jni, object);
    struct sampler_hook sample = {
        .kind = EVENT_ALLOC_SAMPLE,
        .flags = (uint16_t)place.slot,
        .name = place.number,
        .weight_ns = sampler_hook_bytes((uint64_t)object_bytes, interval_bytes),
        .value = (uint64_t)object_bytes,
        .klass = vm_klass_of(jni, klass),
    };

    /* The class object is held by the JVM until this returns, so the class stays. */
    const bool is_taken =
        sample.klass == 0 ? take_by_name(jvmti, klass, &sample) : sampler_hook(&sample);
    live_settle(jni, &place, is_taken);
}

const char *alloc_text(const struct options *values)
{
    return values->alloc_bytes == 0 ? "off" : alloc.reason[0] != '\0' ? alloc.reason : "on";
}
