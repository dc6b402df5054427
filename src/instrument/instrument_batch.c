/* Classes that are loaded already: read and written again, some at a time. Context: the agent's thread. */
#include "instrument/instrument_internal.h"

#include <pthread.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "probe/probe_pace.h"
#include "probe/probe_weave.h"

/* JVMTI answers lists with one local reference each, more than a frame is meant to hold. Source: HotSpot, PushLocalFrame. */
#define LOCAL_REFERENCES_MAX 65535

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

/* Loader, as a local reference, and name of a class, whose signature is to be given back; name NULL: it has none, or the
 * JVM does not tell. */
static jvmtiError look_at(jclass klass, jobject *loader, char **signature, const char **name)
{
    jvmtiEnv *jvmti = instrument_jvmti;

    *loader = NULL;
    *signature = NULL;
    *name = NULL;
    jvmtiError error = (*jvmti)->GetClassSignature(jvmti, klass, signature, NULL);
    if (error != JVMTI_ERROR_NONE)
        return error;

    const char *plain = plain_name(*signature);
    if (plain != NULL)
        error = (*jvmti)->GetClassLoader(jvmti, klass, loader);
    if (error == JVMTI_ERROR_NONE)
        *name = plain;
    return error;
}

static void look_away(JNIEnv *jni, jobject loader, char *signature)
{
    (*jni)->DeleteLocalRef(jni, loader);
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)signature);
}

static bool is_one(JNIEnv *jni, jclass klass, const struct instrument_choice *choice,
                   struct instrument_batches *out)
{
    jvmtiEnv *jvmti = instrument_jvmti;
    jboolean is_modifiable = JNI_FALSE;
    jobject loader;
    char *signature;
    const char *name;
    jvmtiError error = look_at(klass, &loader, &signature, &name);

    /* The hook would leave it as it is: no pause is spent on it. */
    if (!probe_weave_is_left_alone(name) &&
        choice->is_wanted(choice->attach, jni, &(struct instrument_loaded){klass, loader, name}))
        error = (*jvmti)->IsModifiableClass(jvmti, klass, &is_modifiable);
    if (error != JVMTI_ERROR_NONE) {
        out->untold++;
        out->untold_error = error;
    }
    look_away(jni, loader, signature);
    return error == JVMTI_ERROR_NONE && is_modifiable;
}

static uint64_t pause_told_ns = INSTRUMENT_PAUSE_NS;

void instrument_set_pause(uint64_t pause_ns)
{
    pause_told_ns = pause_ns == 0 ? INSTRUMENT_PAUSE_NS : pause_ns;
}

uint64_t instrument_pause_ns(void)
{
    return pause_told_ns;
}

/* Relaxed: who is it knows it. 0: nobody. */
static _Atomic uintptr_t writer;

bool instrument_is_writing(void)
{
    return jw_load_relaxed(&writer) == (uintptr_t)pthread_self();
}

/* When the hook gave the writer back the last class that it was shown; 0: it was shown none. The writer's own. */
static uint64_t read_ns;

void instrument_note_read(void)
{
    if (instrument_is_writing())
        read_ns = jw_now_ns();
}

/*
 * `pause_ns`: for how long the program stood still, at most. All classes of a call are read before the JVM stops its threads, and little of it is behind
 * that. Source: HotSpot 8 to 28, VM_RedefineClasses::doit_prologue, doit, doit_epilogue.
 */
static jvmtiError write_again(uint32_t count, const jclass *classes, uint64_t *pause_ns)
{
    const uint64_t begin_ns = jw_now_ns();

    read_ns = 0;
    jw_store_relaxed(&writer, (uintptr_t)pthread_self());
    const jvmtiError error =
        (*instrument_jvmti)->RetransformClasses(instrument_jvmti, (jint)count, classes);
    jw_store_relaxed(&writer, 0);
    *pause_ns = jw_now_ns() - (read_ns != 0 ? read_ns : begin_ns);
    return error;
}

/* One that the JVM refuses is found by trying each for itself. */
static void one_by_one(JNIEnv *jni, const struct instrument_choice *choice, const jclass *classes,
                       uint32_t count, struct instrument_batches *out)
{
    for (uint32_t i = 0; i < count; i++) {
        jobject loader;
        char *signature;
        const char *name;
        uint64_t pause_ns;

        if (write_again(1, &classes[i], &pause_ns) == JVMTI_ERROR_NONE) {
            out->classes++;
            continue;
        }
        out->refused++;
        if (look_at(classes[i], &loader, &signature, &name) == JVMTI_ERROR_NONE && name != NULL)
            choice->refused(choice->attach, loader, name);
        look_away(jni, loader, signature);
    }
}

static void tell(const struct instrument_choice *choice, const struct instrument_batches *so_far)
{
    if (choice->progressed != NULL)
        choice->progressed(choice->attach, so_far);
}

/* The pause is held to the budget; it is a part of the call, from a tenth on JDK 17 and later to nearly all of it on JDK 8. */
static void in_batches(JNIEnv *jni, const struct instrument_choice *choice, const jclass *classes,
                       uint32_t count, struct instrument_batches *out)
{
    struct probe_pace pace = {.weight = 0};
    uint32_t size = choice->is_at_once ? PROBE_PACE_MOST : probe_pace_first(choice->pause_ns);

    out->wanted += count;
    if (count != 0)
        tell(choice, out);
    for (uint32_t at = 0; at < count;) {
        const uint32_t now = count - at < size ? count - at : size;
        uint64_t pause_ns;
        const jvmtiError error = write_again(now, classes + at, &pause_ns);

        if (error == JVMTI_ERROR_NONE)
            out->classes += now;
        else
            one_by_one(jni, choice, classes + at, now, out);
        out->batches++;
        if (error == JVMTI_ERROR_NONE && pause_ns > out->longest_ns)
            out->longest_ns = pause_ns;
        /* What is refused takes no time, and tells nothing of the others. */
        if (error == JVMTI_ERROR_NONE && !choice->is_at_once)
            size = probe_pace_next(&pace, now, pause_ns, choice->pause_ns);
        at += now;
        tell(choice, out);
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
    out->untold = 0; /* those of the pass before are asked again */
    for (jint i = 0; error == JVMTI_ERROR_NONE && i < count; i++) {
        if (is_one(jni, classes[i], choice, out))
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
