/* Numbers of objects, which are their tags; hook, the agent's thread. */
#include "agent/instances.h"

#include <pthread.h>
#include <time.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"

#define GATE_IS_OPEN (UINT64_C(1) << 63)

/* A thread inside waits for a safepoint at the most. */
#define CLOSE_NS      (500 * JW_NS_PER_MS)
#define CLOSE_STEP_NS (JW_NS_PER_MS / 10)

/* order INSTANCES_GATE: who gets in acquires the environment; who has left releases that it is not used any more. */
static _Atomic uint64_t gate; /* threads inside, and GATE_IS_OPEN */
static jvmtiEnv *environment; /* set while the gate is shut and nobody is inside */

/* Around the first look at an object: the JVM gives a tag to whoever sets it last. A thread that waits here is in native code and holds nobody up. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last_number; /* with the lock */

/* Relaxed: numbers for themselves. */
static _Atomic uint32_t live; /* objects that have a tag */
static _Atomic uint32_t
    first; /* number of this environment: of an earlier one objects may still be told to have gone */

static bool enter(void)
{
    /* order INSTANCES_GATE: acquires the environment. */
    if ((jw_add_acq_rel(&gate, 1) & GATE_IS_OPEN) != 0)
        return true;
    /* order INSTANCES_GATE: releases nothing; nobody was inside. */
    jw_sub_release(&gate, 1);
    return false;
}

static void leave(void)
{
    /* order INSTANCES_GATE: releases that this one is done with it. */
    jw_sub_release(&gate, 1);
}

/* Of the collector, maybe at a safepoint: nothing may be called. */
static void JNICALL on_object_free(jvmtiEnv *jvmti, jlong tag)
{
    (void)jvmti;
    if (tag < jw_load_relaxed(&first))
        return;
    (void)jw_sub_relaxed(&live, 1);
    jw_count(JW_COUNT_LOCK_OBJECTS_FREED);
}

static bool settle(jvmtiEnv *jvmti, struct jw_error *why)
{
    static const jvmtiEventCallbacks callbacks = {.ObjectFree = on_object_free};
    const jvmtiCapabilities needed = {.can_tag_objects = 1, .can_generate_object_free_events = 1};
    jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &needed);

    if (error == JVMTI_ERROR_NONE)
        error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    if (error == JVMTI_ERROR_NONE)
        error =
            (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL);
    if (error != JVMTI_ERROR_NONE)
        jw_error_set(why, "the JVM gives no agent tags of objects (JVMTI error %d)", error);
    return error == JVMTI_ERROR_NONE;
}

bool instances_begin(JavaVM *java_vm, struct jw_error *why)
{
    void *made = NULL;

    if (environment == NULL) {
        if ((*java_vm)->GetEnv(java_vm, &made, JVMTI_VERSION_1_2) != JNI_OK) {
            jw_error_set(why, "the JVM offers no JVMTI 1.2");
            return false;
        }
        if (!settle(made, why)) {
            (void)(*(jvmtiEnv *)made)->DisposeEnvironment(made);
            return false;
        }
        jw_store_relaxed(&first, last_number + 1);
        jw_store_relaxed(&live, 0);
        environment = made;
    }
    /* order INSTANCES_GATE: releases the environment. */
    (void)jw_or_release(&gate, GATE_IS_OPEN);
    return true;
}

void instances_end(bool is_vm_live)
{
    static const struct timespec step = {.tv_nsec = CLOSE_STEP_NS};
    const uint64_t deadline_ns = jw_now_ns() + CLOSE_NS;

    /* order INSTANCES_GATE: releases nothing; from here on nobody gets in. */
    (void)jw_and_release(&gate, ~GATE_IS_OPEN);
    if (environment == NULL || !is_vm_live)
        return;
    /* order INSTANCES_GATE: acquires that those who were inside are done. */
    while (jw_load_acquire(&gate) != 0) {
        if (jw_now_ns() >= deadline_ns)
            return; /* the next session goes on with it */
        nanosleep(&step, NULL);
    }
    (void)(*environment)->DisposeEnvironment(environment);
    environment = NULL;
}

/* The lock is held. */
static uint32_t take_number(jobject object)
{
    if (last_number == UINT32_MAX || jw_load_relaxed(&live) >= INSTANCES_MAX) {
        jw_count(JW_COUNT_LOCK_OBJECTS_FULL);
        return 0;
    }
    (void)jw_add_relaxed(&live, 1);
    if ((*environment)->SetTag(environment, object, last_number + 1) != JVMTI_ERROR_NONE) {
        (void)jw_sub_relaxed(&live, 1);
        jw_count(JW_COUNT_LOCK_OBJECTS_FULL);
        return 0;
    }
    jw_count(JW_COUNT_LOCK_OBJECTS);
    return ++last_number;
}

static uint32_t number_of(jobject object)
{
    jlong tag = 0;
    uint32_t number = 0;

    if ((*environment)->GetTag(environment, object, &tag) == JVMTI_ERROR_NONE && tag != 0)
        return (uint32_t)tag;
    pthread_mutex_lock(&lock);
    if ((*environment)->GetTag(environment, object, &tag) == JVMTI_ERROR_NONE)
        number = tag != 0 ? (uint32_t)tag : take_number(object);
    pthread_mutex_unlock(&lock);
    return number;
}

uint32_t instances_of(jobject object)
{
    uint32_t number = 0;

    if (enter()) {
        number = number_of(object);
        leave();
    }
    return number;
}
