/* Events of probes: their types, their calls, and what those give on. Context: the agent's thread, but the native method: hook. */
#include "instrument/instrument_attach_internal.h"

#include <string.h>

#include "base/memory.h"
#include "probe/probe_events.h"

static const struct instrument_events *events; /* set before there are threads that look */

void instrument_set_events(const struct instrument_events *calls)
{
    events = calls;
}

/* ---- the native method ---- */

_Static_assert(PROBE_NUMBERS_LIMIT == 8 && PROBE_OBJECTS_LIMIT == 8,
               "as ProbeEvents.commit has them");

static void JNICALL commit(JNIEnv *jni, jclass klass, jint type, jlong duration_ns, jlong n0,
                           jlong n1, jlong n2, jlong n3, jlong n4, jlong n5, jlong n6, jlong n7,
                           jobject o0, jobject o1, jobject o2, jobject o3, jobject o4, jobject o5,
                           jobject o6, jobject o7)
{
    const struct instrument_values values = {
        .type = (uint32_t)type,
        .duration_ns = duration_ns,
        .numbers = {n0, n1, n2, n3, n4, n5, n6, n7},
        .objects = {o0, o1, o2, o3, o4, o5, o6, o7},
    };

    (void)klass;
    if (events != NULL)
        events->commit(jni, &values);
}

bool instrument_bind_events(JNIEnv *jni, struct jw_error *err)
{
    static char name[] = PROBE_COMMIT_METHOD, type[] = PROBE_COMMIT_TYPE;
    JNINativeMethod method = {.name = name, .signature = type};
    jclass klass = (*jni)->FindClass(jni, PROBE_COMMIT_CLASS);

    _Static_assert(sizeof method.fnPtr == sizeof &commit, "functions are told as data");
    method.fnPtr = (void *)(uintptr_t)&commit;
    if (klass != NULL)
        (void)(*jni)->RegisterNatives(jni, klass, &method, 1);
    (*jni)->DeleteLocalRef(jni, klass);
    return !instrument_has_thrown(jni, "classes of probes", err);
}

/* ---- types ---- */

/* In the class that carries @Probe, among those of the loader; NULL and `err`: it is gone. */
static bool replace(JNIEnv *jni, const struct instrument_attach *attach, const uint8_t *bytes,
                    size_t length_bytes, bool *is_it, struct jw_error *err)
{
    struct instrument_room room;
    struct classfile_rewritten out;
    struct classfile file;
    bool is_good = true;

    if (!instrument_room_open(&room, length_bytes, 0)) {
        jw_error_set(err, "no memory for a probe");
        return false;
    }
    *is_it = classfile_read(bytes, length_bytes, &room.memory, &file) == CLASSFILE_OK &&
             probe_is_marked(&file);
    room.memory.used_bytes = 0;
    if (*is_it)
        is_good = probe_put_events(attach->probe, attach->events, bytes, length_bytes, &room.memory,
                                   &out, err) &&
                  instrument_replace_class(jni, attach->loader, attach->probe->class_name,
                                           out.bytes, out.length_bytes, err);
    instrument_room_close(&room);
    return is_good;
}

static bool put_calls(JNIEnv *jni, const struct instrument_attach *attach, struct jw_error *err)
{
    jobjectArray files = instrument_class_files(jni, attach->loader, err);
    const jsize count = files == NULL ? 0 : (*jni)->GetArrayLength(jni, files);
    bool is_good = files != NULL, is_done = false;

    for (jsize i = 0; is_good && !is_done && i < count; i++) {
        jbyteArray array = (*jni)->GetObjectArrayElement(jni, files, i);
        jbyte *bytes = array == NULL ? NULL : (*jni)->GetByteArrayElements(jni, array, NULL);

        if (bytes != NULL) {
            is_good = replace(jni, attach, (const uint8_t *)bytes,
                              (size_t)(*jni)->GetArrayLength(jni, array), &is_done, err);
            (*jni)->ReleaseByteArrayElements(jni, array, bytes, JNI_ABORT);
        }
        (*jni)->DeleteLocalRef(jni, array);
    }
    return is_good && !instrument_has_thrown(jni, "probe", err);
}

bool instrument_open_events(JNIEnv *jni, struct instrument_attach *attach, struct jw_error *err)
{
    const struct probe *probe = attach->probe;

    if (probe->event_count == 0)
        return true;
    if (events == NULL) {
        jw_error_set(err, "%s declares events, and nothing here records them", probe->name);
        return false;
    }
    for (uint32_t i = 0; i < probe->event_count; i++) {
        attach->events[i] = events->declare(probe, &probe->events[i], err);
        if (attach->events[i] == 0)
            return false;
        attach->event_count++;
    }
    return put_calls(jni, attach, err);
}

void instrument_close_events(struct instrument_attach *attach)
{
    for (uint32_t i = 0; i < attach->event_count; i++)
        events->release(attach->events[i]);
    attach->event_count = 0;
}

struct instrument_event_figures instrument_figures_of_event(const struct instrument_attach *attach,
                                                            uint32_t event)
{
    return event < attach->event_count ? events->figures(attach->events[event])
                                       : (struct instrument_event_figures){0};
}
