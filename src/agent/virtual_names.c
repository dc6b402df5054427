/* Names of virtual threads, by JNI; hook, the agent's thread. */
#include "agent/virtual_names.h"

#include "agent/api_internal.h"
#include "agent/parks.h"
#include "base/atomics.h"
#include "vm/vm.h"

/* Relaxed: class Thread is never unloaded; who sees it late tells no name. */
static _Atomic(jfieldID) field;

void virtual_names_open(JNIEnv *jni)
{
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");

    if (type != NULL) {
        jw_store_relaxed(&field, (*jni)->GetFieldID(jni, type, "name", "Ljava/lang/String;"));
        (*jni)->DeleteLocalRef(jni, type);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

static void read(JNIEnv *jni, jstring name, struct virtual_name *out)
{
    const jsize length_bytes = (*jni)->GetStringUTFLength(jni, name);

    if (length_bytes <= 0 || (size_t)length_bytes >= sizeof out->text)
        return;
    (*jni)->GetStringUTFRegion(jni, name, 0, (*jni)->GetStringLength(jni, name), out->text);
    out->length_bytes = (size_t)length_bytes;
}

bool virtual_name_of(JNIEnv *jni, jobject thread, struct virtual_name *out)
{
    jfieldID known = jw_load_relaxed(&field);

    out->length_bytes = 0;
    if (thread == NULL || vm_major_version() < PARKS_MAJOR_MIN || !api_is_virtual(jni, thread))
        return false;
    jstring name = known == NULL ? NULL : (*jni)->GetObjectField(jni, thread, known);
    if (name != NULL) {
        read(jni, name, out);
        (*jni)->DeleteLocalRef(jni, name);
    }
    return true;
}
