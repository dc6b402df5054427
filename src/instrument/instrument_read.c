/* A probe out of the classes of its loader. Context: the agent's thread. */
#include "instrument/instrument_attach_internal.h"

#include "base/memory.h"
#include "probe/probe_pace.h"

/* In memory of its own, which the result does not need. `is_marked`: whether it is a probe at all. */
static struct probe *read_one(const uint8_t *bytes, size_t length_bytes, bool *is_marked,
                              struct jw_error *err)
{
    struct instrument_room room;
    struct probe *probe = NULL;
    struct classfile file;

    *is_marked = false;
    if (!instrument_room_open(&room, length_bytes, 0)) {
        jw_error_set(err, "no memory for a probe");
        return NULL;
    }
    if (classfile_read(bytes, length_bytes, &room.memory, &file) == CLASSFILE_OK) {
        *is_marked = probe_is_marked(&file);
        if (*is_marked)
            probe = probe_read(&file, NULL, NULL, err);
    }
    instrument_room_close(&room);
    return probe;
}

static struct probe *read_array(JNIEnv *jni, jbyteArray array, bool *is_marked,
                                struct jw_error *err)
{
    struct probe *probe = NULL;
    jbyte *bytes;

    *is_marked = false;
    if (array == NULL || (bytes = (*jni)->GetByteArrayElements(jni, array, NULL)) == NULL) {
        (*jni)->ExceptionClear(jni);
        return NULL;
    }
    probe = read_one((const uint8_t *)bytes, (size_t)(*jni)->GetArrayLength(jni, array), is_marked,
                     err);
    (*jni)->ReleaseByteArrayElements(jni, array, bytes, JNI_ABORT);
    return probe;
}

struct probe *instrument_read_probe(JNIEnv *jni, jobject loader, const char *path,
                                    struct jw_error *err)
{
    jobjectArray files = instrument_class_files(jni, loader, err);
    const jsize count = files == NULL ? 0 : (*jni)->GetArrayLength(jni, files);
    struct probe *probe = NULL;
    uint32_t found = 0;

    for (jsize i = 0; i < count; i++) {
        jbyteArray array = (*jni)->GetObjectArrayElement(jni, files, i);
        bool is_marked;
        struct probe *one = read_array(jni, array, &is_marked, err);

        (*jni)->DeleteLocalRef(jni, array);
        found += is_marked;
        if (probe == NULL)
            probe = one;
        else
            probe_close(one);
    }
    if (found == 1)
        return probe;
    probe_close(probe);
    if (files != NULL)
        jw_error_set(err,
                     found == 0
                         ? "%s has no class with @Probe: it is no probe"
                         : "%s has more than one class with @Probe; one is attached at a time",
                     path);
    return NULL;
}

bool instrument_drops_code(void)
{
    jint version = 0;

    if ((*instrument_jvmti)->GetVersionNumber(instrument_jvmti, &version) != JVMTI_ERROR_NONE)
        return false;
    return (uint32_t)((version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR) <=
           PROBE_PACE_DROPS_CODE;
}
