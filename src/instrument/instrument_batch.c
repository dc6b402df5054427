/* Classes that are loaded already: read and written again, some at a time. Context: the agent's thread. */
#include "instrument/instrument_internal.h"

#include <string.h>

#include "base/clock.h"

/* JVMTI answers lists with one local reference each, more than a frame is meant to hold. Source: HotSpot, PushLocalFrame. */
#define LOCAL_REFERENCES_MAX 65535
#define FIRST_BATCH          10u
#define BATCH_MAX            1000u

/*
 * Where every thread is stopped: threads are asked for in one operation of the JVM. Source: OpenJDK 8 to 28,
 * JvmtiEnv::GetAllStackTraces, VM_GetAllStackTraces.
 */
bool instrument_pass_safepoint(void)
{
    jvmtiStackInfo *stacks = NULL;
    jint count = 0;

    if ((*instrument_jvmti)->GetAllStackTraces(instrument_jvmti, 1, &stacks, &count) !=
        JVMTI_ERROR_NONE)
        return false;
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)stacks);
    return true;
}

/* "Lcom/acme/Shop;" without what stands around it; NULL: an array. */
static char *plain_name(char *signature)
{
    const size_t length = strlen(signature);

    if (signature[0] != 'L' || length < 2)
        return NULL;
    signature[length - 1] = '\0';
    return signature + 1;
}

/* Loader, as a local reference, and name of a class, whose signature is to be given back; NULL: it has none. */
static const char *look_at(jclass klass, jobject *loader, char **signature)
{
    jvmtiEnv *jvmti = instrument_jvmti;

    *loader = NULL;
    *signature = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, klass, signature, NULL) != JVMTI_ERROR_NONE)
        return NULL;

    const char *name = plain_name(*signature);
    return name != NULL && (*jvmti)->GetClassLoader(jvmti, klass, loader) == JVMTI_ERROR_NONE
               ? name
               : NULL;
}

static void look_away(JNIEnv *jni, jobject loader, char *signature)
{
    (*jni)->DeleteLocalRef(jni, loader);
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)signature);
}

static bool is_one(JNIEnv *jni, jclass klass, const struct instrument_choice *choice)
{
    jvmtiEnv *jvmti = instrument_jvmti;
    jboolean is_modifiable = JNI_FALSE;
    jobject loader;
    char *signature;
    const char *name = look_at(klass, &loader, &signature);
    const bool is_good =
        name != NULL && choice->is_wanted(choice->attach, loader, name) &&
        (*jvmti)->IsModifiableClass(jvmti, klass, &is_modifiable) == JVMTI_ERROR_NONE &&
        is_modifiable;

    look_away(jni, loader, signature);
    return is_good;
}

/* One that the JVM refuses is found by trying each for itself. */
static void one_by_one(JNIEnv *jni, const struct instrument_choice *choice, const jclass *classes,
                       uint32_t count, struct instrument_batches *out)
{
    for (uint32_t i = 0; i < count; i++) {
        jobject loader;
        char *signature;
        const char *name;

        if ((*instrument_jvmti)->RetransformClasses(instrument_jvmti, 1, &classes[i]) ==
            JVMTI_ERROR_NONE) {
            out->classes++;
            continue;
        }
        out->refused++;
        name = look_at(classes[i], &loader, &signature);
        if (name != NULL)
            choice->refused(choice->attach, loader, name);
        look_away(jni, loader, signature);
    }
}

/* As many as would take the budget, if each took as long as those of the last batch did. */
static uint32_t next_size(uint32_t size, uint64_t took_ns)
{
    const uint64_t fits = took_ns == 0 ? BATCH_MAX : size * INSTRUMENT_PAUSE_NS / took_ns;

    return fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (uint32_t)fits;
}

/*
 * The time of the call is held to the budget: the pause is a part of it, from a tenth on JDK 17 and later to nearly all of it on JDK 8.
 */
static void in_batches(JNIEnv *jni, const struct instrument_choice *choice, const jclass *classes,
                       uint32_t count, struct instrument_batches *out)
{
    uint32_t size = FIRST_BATCH;

    for (uint32_t at = 0; at < count;) {
        const uint32_t now = count - at < size ? count - at : size;
        const uint64_t begin_ns = jw_now_ns();
        const jvmtiError error =
            (*instrument_jvmti)->RetransformClasses(instrument_jvmti, (jint)now, classes + at);
        const uint64_t took_ns = jw_now_ns() - begin_ns;

        if (error == JVMTI_ERROR_NONE)
            out->classes += now;
        else
            one_by_one(jni, choice, classes + at, now, out);
        out->batches++;
        if (took_ns > out->longest_ns)
            out->longest_ns = took_ns;
        /* What is refused takes no time, and tells nothing of the others. */
        if (error == JVMTI_ERROR_NONE)
            size = next_size(now, took_ns);
        at += now;
    }
}

bool instrument_retransform(JNIEnv *jni, const struct instrument_choice *choice,
                            struct instrument_batches *out, struct jw_error *err)
{
    jclass *classes = NULL;
    jint count = 0;
    uint32_t wanted = 0;

    if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES_MAX) != 0) {
        (*jni)->ExceptionClear(jni);
        jw_error_set(err, "the JVM has no memory left to list its classes");
        return false;
    }
    const jvmtiError error =
        (*instrument_jvmti)->GetLoadedClasses(instrument_jvmti, &count, &classes);
    for (jint i = 0; error == JVMTI_ERROR_NONE && i < count; i++) {
        if (is_one(jni, classes[i], choice))
            classes[wanted++] = classes[i];
    }
    in_batches(jni, choice, classes, wanted, out);
    (*jni)->PopLocalFrame(jni, NULL);
    (*jni)->ExceptionClear(jni);
    if (error != JVMTI_ERROR_NONE) {
        jw_error_set(err, "the JVM does not list its classes (JVMTI error %d)", error);
        return false;
    }
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)classes);
    return true;
}
