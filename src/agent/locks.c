/* Waits for monitors that the JVM tells of; hook, the agent's thread. */
#include "agent/locks.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/api_internal.h"
#include "agent/blockers.h"
#include "agent/deadlocks.h"
#include "agent/instances.h"
#include "agent/latches.h"
#include "agent/parks.h"
#include "agent/virtual_names.h"
#include "agent/weak_refs.h"
#include "arch/arch.h"
#include "base/clock.h"
#include "base/lock_class.h"
#include "base/park_time.h"
#include "instrument/instrument.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_locks.h"
#include "vm/vm.h"
#include "vm/vm_frozen_locks.h"
#include "vm/vm_klass.h"
#include "vm/vm_monitor.h"
#include "vm/vm_object.h"
#include "vm/vm_synchronizer.h"

static const jvmtiEvent events[] = {
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
};

/* Of the agent's thread. */
static struct {
    char reason[sizeof((struct jw_error *)0)->message]; /* of this session; "": none */
    struct jw_error parks;                              /* why parks are not told; "": they are */
    bool is_on;
} locks;

static bool has_capability(struct jw_error *why)
{
    const jvmtiCapabilities wanted = {.can_generate_monitor_events = 1};

    if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted) == JVMTI_ERROR_NONE)
        return true;
    jw_error_set(why, "this JVM gives no agent the capability to be told of monitors, or has given "
                      "it to another one");
    return false;
}

bool locks_choose(const struct options *values, struct jw_error *err)
{
    struct jw_error why = {{0}};

    locks.reason[0] = '\0';
    if (values->lock_ns == 0 || has_capability(&why))
        return true;
    if (values->event == OPTIONS_EVENT_LOCK) {
        jw_error_set(err, "event=lock: %.380s", why.message);
        return false;
    }
    snprintf(locks.reason, sizeof locks.reason, "%s", why.message);
    agent_log(OPTIONS_LOGLEVEL_WARN, "lock: off: %s", locks.reason);
    return true;
}

static jvmtiError set_events(jvmtiEventMode mode)
{
    jvmtiError first = JVMTI_ERROR_NONE;

    for (size_t i = 0; i < JW_COUNT_OF(events); i++) {
        const jvmtiError error =
            (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, events[i], NULL);

        if (first == JVMTI_ERROR_NONE)
            first = error;
    }
    return first;
}

/* Without them waits are told all the same, but not who owned the monitor. */
static void find_monitors(JNIEnv *jni)
{
    struct jw_error why = {{0}};
    jthread self = NULL;

    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE)
        return;
    if (!vm_monitor_open(jni, self, &why))
        agent_log(OPTIONS_LOGLEVEL_INFO, "lock: owners of monitors are not told: %s", why.message);
    virtual_names_open(jni);
    (void)api_thread_number(jni, self); /* its field is found here, and not by who waits */
    if (!latches_open(jni))
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "lock: owners of locks of java.util.concurrent are not told: this JVM has none "
                  "that is known");
    if (!vm_synchronizer_open(jni, self, &why))
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "lock: what owners of locks of java.util.concurrent do is not told: %s",
                  why.message);
    (*jni)->DeleteLocalRef(jni, self);
}

/* Those of virtual threads, and what Unsafe.park does not tell. */
static bool begin_placed(JNIEnv *jni, bool is_of_all, struct jw_error *why)
{
    if (vm_major_version() >= PARKS_MAJOR_MIN)
        return parks_begin(jni, is_of_all, why);
    return !is_of_all; /* there are no virtual threads, or none that could be told */
}

static void begin_parks(JNIEnv *jni)
{
    struct jw_error native = {{0}}, placed = {{0}};
    const bool is_native = blockers_begin(jni, &native);
    const bool is_placed = begin_placed(jni, !is_native, &placed);

    locks.parks.message[0] = '\0';
    if (is_placed)
        return;
    if (is_native)
        jw_error_set(&locks.parks, "on, but not of virtual threads: %.380s", placed.message);
    else
        jw_error_set(&locks.parks, "%s",
                     placed.message[0] != '\0' ? placed.message : native.message);
    agent_log(OPTIONS_LOGLEVEL_WARN, "lock: parks%s are not told: %s",
              is_native ? " of virtual threads" : "",
              placed.message[0] != '\0' ? placed.message : native.message);
}

static void begin_instances(void)
{
    struct jw_error why = {{0}};

    if (!instances_begin(agent.java_vm, &why))
        agent_log(OPTIONS_LOGLEVEL_WARN, "lock: objects of one class are not told apart: %s",
                  why.message);
}

void locks_begin(JNIEnv *jni, const struct options *values)
{
    if (values->lock_ns == 0 || locks.reason[0] != '\0' || locks.is_on)
        return;
    find_monitors(jni);
    if (vm_major_version() >= PARKS_MAJOR_MIN)
        weak_refs_open();

    const jvmtiError error = set_events(JVMTI_ENABLE);
    if (error != JVMTI_ERROR_NONE) {
        (void)set_events(JVMTI_DISABLE);
        snprintf(locks.reason, sizeof locks.reason,
                 "the JVM refuses its events of monitors (JVMTI error %d)", error);
        agent_log(OPTIONS_LOGLEVEL_WARN, "lock: off: %s", locks.reason);
        return;
    }
    locks.is_on = true;
    deadlocks_begin();
    begin_instances();
    begin_parks(jni);
}

void locks_end(JNIEnv *jni)
{
    if (!locks.is_on)
        return;
    locks.is_on = false;
    blockers_end(jni);
    (void)set_events(JVMTI_DISABLE);
}

bool locks_are_on(void)
{
    return locks.is_on;
}

/* ---- hooks ---- */

static void let_go(vm_addr reference, void *jni)
{
    JNIEnv *const of = jni;

    if (reference != 0)
        (*of)->DeleteGlobalRef(of, (jobject)reference);
}

static void let_go_of(struct sampler_kept kept, JNIEnv *jni)
{
    let_go(kept.monitor, jni);
    let_go(kept.waiter, jni);
    let_go(kept.object, jni);
}

/*
 * Of a virtual thread, which nobody finds again once it has left its carrier: for its stack, should nobody ever let it go on. It keeps nothing
 * alive that would not be so by itself: the queue of what is waited for has the thread, too.
 */
static vm_addr keep_waiter(JNIEnv *jni, jthread thread)
{
    if (vm_major_version() < PARKS_MAJOR_MIN || !api_is_virtual(jni, thread))
        return 0;
    weak_refs_note(jni, WEAK_THREADS, thread,
                   api_thread_number(jni, thread)); /* it may have a lock, or get this one */
    return (vm_addr)(*jni)->NewGlobalRef(jni, thread);
}

/* By which the owner is searched for, should the wait last, where nothing tells it. */
static vm_addr keep_object(JNIEnv *jni, jobject object, vm_addr monitor)
{
    return vm_monitor_is_unnamed(monitor) &&
                   (vm_monitor_wants_mended() || vm_frozen_locks_may_be_told())
               ? (vm_addr)(*jni)->NewGlobalRef(jni, object)
               : 0;
}

void locks_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
    if (instrument_is_own(jvmti, jni,
                          object)) /* no lock of the program, which learns nothing of it */
        return;
    const vm_addr monitor = vm_monitor_of(jni, object);
    const struct sampler_lock wait = {
        .kind = EVENT_LOCK_ENTER,
        .monitor = monitor,
        .address = monitor,
        .klass = monitor == 0 ? 0 : vm_monitor_class(monitor),
        .waiter = monitor == 0 ? 0 : keep_waiter(jni, thread),
        .object = monitor == 0 ? 0 : keep_object(jni, object, monitor),
    };

    let_go_of(sampler_lock_begin(&wait), jni);
}

void locks_wait(JNIEnv *jni, jobject object, jlong timeout_ms)
{
    blockers_waits(jni);
    const struct sampler_lock wait = {
        .kind = EVENT_LOCK_WAIT,
        .monitor = vm_monitor_of(jni, object),
        .timeout_ms = timeout_ms <= 0           ? 0
                      : timeout_ms < UINT32_MAX ? (uint32_t)timeout_ms
                                                : UINT32_MAX,
    };

    (void)sampler_lock_begin(&wait);
}

/* A monitor stands still while somebody waits for it; of an object without one that can be told its hash does. */
static void fill_address(jvmtiEnv *jvmti, jobject object, vm_addr monitor,
                         struct sampler_hook *sample)
{
    jint hash = 0;

    sample->value = monitor;
    if (monitor != 0 || (*jvmti)->GetObjectHashCode(jvmti, object, &hash) != JVMTI_ERROR_NONE)
        return;
    sample->value = (uint32_t)hash;
    sample->flags |= EVENT_LOCK_HASH;
}

/* Latches, futures and nodes of queues are made for one wait, in thousands, and would leave no number for what is waited for again and again. */
static bool is_lasting(const char *name, size_t length_bytes)
{
    static const char condition[] = "$ConditionObject";
    const size_t end_bytes = sizeof condition - 1;

    return jw_lock_class_is(name, length_bytes) ||
           (length_bytes >= end_bytes &&
            memcmp(name + length_bytes - end_bytes, condition, end_bytes) == 0);
}

static bool is_of_lasting(vm_addr klass)
{
    char name[SAMPLER_CLASS_BYTES];
    struct vm_text text;

    return vm_class_name(klass, &text) && text.length_bytes < sizeof name &&
           safe_load_bytes(name, text.addr, text.length_bytes) &&
           is_lasting(name, text.length_bytes);
}

/* A monitor, a lock that has an owner, or what looks like one. */
static void number_object(jobject object, const struct sampler_lock *wait,
                          struct sampler_hook *sample)
{
    if (wait->kind != EVENT_LOCK_PARK || wait->owner != THREAD_NONE || wait->owner_virtual != 0 ||
        (sample->klass != 0
             ? is_of_lasting(sample->klass)
             : sample->class_text != NULL && is_lasting(sample->class_text, sample->class_bytes)))
        sample->object = instances_of(object);
}

/* By its signature, where the JVM does not let us at the class itself (-Xcheck:jni). */
static void sample_by_name(jvmtiEnv *jvmti, jobject object, jclass klass,
                           const struct sampler_lock *wait, struct sampler_hook *sample)
{
    char *signature = NULL;

    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE &&
        signature != NULL) {
        const size_t length_bytes = strlen(signature);
        const bool is_array = signature[0] == '[' || length_bytes < 2;

        sample->class_text = is_array ? signature : signature + 1;
        sample->class_bytes = is_array ? length_bytes : length_bytes - 2;
    }
    number_object(object, wait, sample);
    (void)sampler_hook(sample);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void tell_wait(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, const struct sampler_lock *wait,
                      struct sampler_hook *sample)
{
    jclass klass = object == NULL ? NULL : (*jni)->GetObjectClass(jni, object);

    sample->kind = EVENT_LOCK;
    sample->flags |= (uint16_t)wait->kind;
    sample->time_ns = wait->begin_ns;
    sample->weight_ns = wait->duration_ns;
    const uint64_t park_time = wait->kind == EVENT_LOCK_PARK ? (uint64_t)wait->timeout_ms << 32 : 0;
    sample->value = park_time;
    if (klass == NULL) { /* it did not say for what it parks */
        (void)sampler_hook(sample);
        return;
    }
    fill_address(jvmti, object, wait->kind == EVENT_LOCK_PARK ? 0 : wait->monitor, sample);
    sample->value |= park_time;
    sample->klass = vm_klass_of(jni, klass);
    if (sample->klass == 0) {
        sample_by_name(jvmti, object, klass, wait, sample);
    } else {
        number_object(object, wait, sample);
        (void)sampler_hook(sample);
    }
    (*jni)->DeleteLocalRef(jni, klass);
}

static void tell(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                 const struct sampler_lock *wait, struct sampler_hook *sample)
{
    struct virtual_name name;

    if (virtual_name_of(jni, thread, &name) && name.length_bytes > 0) {
        sample->virtual_name = name.text;
        sample->virtual_bytes = name.length_bytes;
    }
    tell_wait(jvmti, jni, object, wait, sample);
}

/* Whose the lock was when the wait began, and how long it is known to have been his meanwhile. */
static struct sampler_hook told_of(const struct sampler_lock *wait)
{
    struct sampler_hook sample = {
        .state = wait->owner == THREAD_NONE ? 0 : (uint16_t)(wait->owner + 1),
        .name = wait->owner_serial,
        .share =
            wait->seen_ns < wait->duration_ns
                ? (uint16_t)((double)wait->seen_ns / (double)wait->duration_ns * EVENT_LOCK_SHARES)
                : 0,
    };

    if (wait->owner_virtual != 0 && wait->owner_virtual >> 48 == 0) {
        sample.flags |= EVENT_LOCK_VIRTUAL;
        sample.state = (uint16_t)(wait->owner_virtual >> 32);
        sample.name = (uint32_t)wait->owner_virtual;
    }
    return sample;
}

void locks_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
    struct sampler_lock wait;
    const bool is_told = sampler_lock_end(EVENT_LOCK_ENTER, &wait);

    let_go(wait.waiter, jni);
    let_go(wait.object, jni);
    if (!is_told)
        return;
    struct sampler_hook sample = told_of(&wait);

    tell(jvmti, jni, thread, object, &wait, &sample);
}

void locks_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jboolean is_expired)
{
    struct sampler_lock wait;

    if (!sampler_lock_end(EVENT_LOCK_WAIT, &wait))
        return;
    if (wait.monitor == 0) /* its thread did not know it yet when it began */
        wait.monitor = vm_monitor_of(jni, object);
    struct sampler_hook sample = {
        .flags = is_expired ? EVENT_LOCK_EXPIRED : 0,
        .name = wait.timeout_ms,
        /* The JVM says it before it brings any of its frames back. Source: OpenJDK, ObjectMonitor::resume_operation, JDK 24 to 28. */
        .is_resumed = vm_major_version() >= PARKS_MAJOR_MIN && api_is_virtual(jni, thread),
    };
    tell(jvmti, jni, thread, object, &wait, &sample);
}

static uint32_t park_code(jboolean is_absolute, jlong time)
{
    return jw_park_code(is_absolute, time,
                        is_absolute ? (int64_t)(jw_wall_ns() / JW_NS_PER_MS) : 0);
}

static struct sampler_lock park_of(jvmtiEnv *jvmti, JNIEnv *jni, jobject blocker,
                                   jboolean is_absolute, jlong time)
{
    struct sampler_lock wait = {.kind = EVENT_LOCK_PARK,
                                .timeout_ms = park_code(is_absolute, time)};
    struct latch latch;
    jint hash = 0;

    latches_look(jni, blocker, true, &latch);
    wait.owner_number = latch.owner;
    wait.is_owner_virtual = latch.is_virtual;
    if (wait.owner_number != 0 &&
        (*jvmti)->GetObjectHashCode(jvmti, blocker, &hash) == JVMTI_ERROR_NONE) {
        jclass klass = (*jni)->GetObjectClass(jni, blocker);

        wait.monitor = (vm_addr)blocker;
        wait.address = (uint32_t)hash;
        if (vm_major_version() >= PARKS_MAJOR_MIN)
            weak_refs_note(jni, WEAK_LATCHES, blocker, wait.address);
        wait.klass = vm_klass_of(jni, klass);
        (*jni)->DeleteLocalRef(jni, klass);
    }
    return wait;
}

/* The owner proves itself through a reference that is kept as long as the wait. */
static void keep(JNIEnv *jni, jobject blocker, struct sampler_lock *wait)
{
    if (wait->monitor != 0)
        wait->monitor = (vm_addr)(*jni)->NewGlobalRef(jni, blocker);
    wait->is_kept = wait->monitor != 0;
}

void locks_park(jvmtiEnv *jvmti, JNIEnv *jni, jobject blocker, jboolean is_absolute, jlong time)
{
    struct sampler_lock wait = park_of(jvmti, jni, blocker, is_absolute, time);

    if (vm_synchronizer_wants_global())
        keep(jni, blocker, &wait);
    let_go_of(sampler_lock_begin(&wait), jni);
}

void locks_let_go(JNIEnv *jni)
{
    if (jni == NULL)
        return;
    sampler_lock_let_go(let_go, jni);
    weak_refs_let_go(jni);
}

/* Its local reference ends before the wait does. */
void locks_park_placed(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject blocker,
                       jboolean is_absolute, jlong time)
{
    struct sampler_lock wait = park_of(jvmti, jni, blocker, is_absolute, time);

    keep(jni, blocker, &wait);
    if (wait.is_kept)
        wait.waiter = keep_waiter(jni, thread);
    let_go_of(sampler_lock_begin(&wait), jni);
}

void locks_parked(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject blocker)
{
    struct sampler_lock wait;
    const bool is_told = sampler_lock_end(EVENT_LOCK_PARK, &wait);

    if (wait.is_kept)
        let_go(wait.monitor, jni);
    let_go(wait.waiter, jni);
    if (!is_told)
        return;
    struct sampler_hook sample = told_of(&wait);
    struct latch latch;

    latches_look(jni, blocker, false, &latch);
    if (latch.is_free)
        sample.flags |= EVENT_LOCK_FREE;
    tell(jvmti, jni, thread, blocker, &wait, &sample);
}

const char *locks_parks_text(const struct options *values)
{
    return !locks.is_on && strcmp(locks_text(values), "on") != 0 ? "off"
           : locks.parks.message[0] != '\0'                      ? locks.parks.message
                                                                 : "on";
}

const char *locks_text(const struct options *values)
{
    return values->lock_ns == 0 ? "off" : locks.reason[0] != '\0' ? locks.reason : "on";
}
