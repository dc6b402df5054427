/* Classes that come and go: hook; begin, end: the agent's thread. */
#include "agent/classes.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "sampler/sampler_hook.h"
#include "vm/vm_class.h"

/*
 * HotSpot tells of unloading by an event of its own. Up to JDK 14 that comes in the midst of a collection, as from a thread that waits for it; later from a
 * thread of the JVM that does nothing else then.
 * Source: OpenJDK, jvmtiExtensions.cpp; jvmtiExport.cpp (post_class_unload), JDK 8 to 28.
 */
#define UNLOAD_EVENT     "com.sun.hotspot.events.ClassUnload"
#define UNLOAD_MAJOR_MIN 17

/* Relaxed: who sees it late tells one class more, or less. */
static _Atomic bool is_on;

static jint unload_index = -1; /* of the agent's thread; -1: not on */

/* Of a signature of the JVM's: "Lcom/acme/Shop;" is com/acme/Shop. */
static void tell(enum event_class what, const char *name, size_t length_bytes, uint32_t loader)
{
    const struct sampler_hook hook = {.kind = EVENT_CLASS,
                                      .flags = (uint16_t)what,
                                      .name = loader,
                                      .class_text = name,
                                      .class_bytes = length_bytes};

    (void)told_sample(&hook);
}

void classes_defined(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
    char *signature = NULL;

    if (!jw_load_relaxed(&is_on))
        return;
    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE ||
        signature == NULL)
        return;
    if (strlen(signature) > 2)
        tell(EVENT_CLASS_DEFINED, signature + 1, strlen(signature) - 2,
             vm_class_loader(jvmti, jni, klass));
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

/* Its loader may be gone, too. */
static void JNICALL on_unload(jvmtiEnv *jvmti, ...)
{
    va_list arguments;

    va_start(arguments, jvmti);
    (void)va_arg(arguments, JNIEnv *);
    const char *name = va_arg(arguments, const char *);
    va_end(arguments);
    if (name != NULL && jw_load_relaxed(&is_on))
        tell(EVENT_CLASS_UNLOADED, name, strlen(name), 0);
}

static jint find_unload(void)
{
    jvmtiExtensionEventInfo *events = NULL;
    jint count = 0, found = -1;

    if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &count, &events) != JVMTI_ERROR_NONE)
        return -1;
    for (jint i = 0; i < count; i++) {
        if (strcmp(events[i].id, UNLOAD_EVENT) == 0)
            found = events[i].extension_event_index;
        for (jint at = 0; at < events[i].param_count; at++)
            (void)(*agent.jvmti)
                ->Deallocate(agent.jvmti, (unsigned char *)events[i].params[at].name);
        (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events[i].params);
        (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events[i].id);
        (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events[i].short_description);
    }
    (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events);
    return found;
}

/* Up to JDK 20 a callback alone turns it on, and later it takes both. */
static void set_unload(jint index, jvmtiExtensionEvent callback)
{
    const jvmtiEventMode mode = callback == NULL ? JVMTI_DISABLE : JVMTI_ENABLE;

    if ((*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, index, callback) != JVMTI_ERROR_NONE)
        return;
    (void)(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, (jvmtiEvent)index, NULL);
    unload_index = callback == NULL ? -1 : index;
}

void classes_begin(const struct options *options)
{
    if (!options->has_classes || jw_load_relaxed(&is_on))
        return;
    jw_store_relaxed(&is_on, true);
    const jint index = vm_major_version() < UNLOAD_MAJOR_MIN ? -1 : find_unload();
    if (index >= 0)
        set_unload(index, on_unload);
    if (unload_index < 0)
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "classload: this JVM does not tell safely which classes it unloads; how many is "
                  "in jdk.ClassLoadingStatistics");
}

void classes_end(void)
{
    jw_store_relaxed(&is_on, false);
    if (unload_index >= 0)
        set_unload(unload_index, NULL);
}
