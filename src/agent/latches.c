/* Owners of locks of java.util.concurrent, by JNI; hook, the agent's thread. */
#include "agent/latches.h"

#include "agent/api_internal.h"
#include "agent/virtual_names.h"
#include "base/atomics.h"
#include "sampler/sampler_hook.h"

static struct {
    jclass type; /* global */
    /* order LATCHES: who reads it acquires the class. */
    _Atomic(jfieldID) owner;
} latches;

static void clear_exception(JNIEnv *jni)
{
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

bool latches_open(JNIEnv *jni)
{
    jclass type;
    jfieldID owner;

    if (latches.type != NULL)
        return true;
    type = (*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    clear_exception(jni);
    if (type == NULL)
        return false;
    owner = (*jni)->GetFieldID(jni, type, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    clear_exception(jni);
    if (owner != NULL)
        latches.type = (*jni)->NewGlobalRef(jni, type);
    (*jni)->DeleteLocalRef(jni, type);
    if (latches.type == NULL)
        return false;
    /* order LATCHES: releases the class. */
    jw_store_release(&latches.owner, owner);
    return true;
}

jobject latches_owner(JNIEnv *jni, jobject blocker)
{
    /* order LATCHES: acquires the class. */
    jfieldID field = jw_load_acquire(&latches.owner);

    return blocker == NULL || field == NULL || !(*jni)->IsInstanceOf(jni, blocker, latches.type)
               ? NULL
               : (*jni)->GetObjectField(jni, blocker, field);
}

void latches_look(JNIEnv *jni, jobject blocker, bool is_named, struct latch *out)
{
    struct virtual_name name;
    /* order LATCHES: acquires the class. */
    jfieldID field = jw_load_acquire(&latches.owner);

    *out = (struct latch){.owner = 0};
    if (blocker == NULL || field == NULL || !(*jni)->IsInstanceOf(jni, blocker, latches.type))
        return;
    jobject owner = (*jni)->GetObjectField(jni, blocker, field);
    out->is_free = owner == NULL;
    if (owner == NULL)
        return;
    out->owner = api_thread_number(jni, owner);
    out->is_virtual = virtual_name_of(jni, owner, &name);
    if (name.length_bytes > 0 && is_named)
        sampler_hook_name(out->owner, name.text, name.length_bytes);
    (*jni)->DeleteLocalRef(jni, owner);
}
