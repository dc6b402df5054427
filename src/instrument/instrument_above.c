/*
 * What stands above a class, as rules ask for it. Of one that is loaded the JVM says it. One that is just being read may have a super class
 * that is not loaded itself, and whose file is its loader's alone to find: then it is looked at again once it is there.
 */
#include "instrument/instrument_internal.h"

#include <string.h>

#define LOOKS      8u  /* four a second, after the last class that has to be looked at again */
#define DEPTH_MOST 64u /* interfaces above interfaces */

/* Under its own name. False: the JVM does not tell it. */
static bool add_name(jclass klass, struct rules_supers *out, bool *is_new)
{
    char *signature = NULL;

    if ((*instrument_jvmti)->GetClassSignature(instrument_jvmti, klass, &signature, NULL) !=
        JVMTI_ERROR_NONE)
        return false;

    const size_t length = strlen(signature);
    const bool is_good = length > 2 && signature[0] == 'L'; /* "Lcom/acme/Shop;" */
    if (is_good)
        *is_new =
            rules_add_super(out, (struct classfile_text){signature + 1, (uint32_t)(length - 2)});
    (void)(*instrument_jvmti)->Deallocate(instrument_jvmti, (unsigned char *)signature);
    return is_good;
}

/* Interfaces that a class or an interface names, and what stands above them. */
static bool add_interfaces(JNIEnv *jni, jclass klass, uint32_t depth, struct rules_supers *out)
{
    jvmtiEnv *jvmti = instrument_jvmti;
    jclass *interfaces = NULL;
    jint count = 0;
    bool is_good = true;

    if (depth == DEPTH_MOST) {
        out->is_cut = true;
        return true;
    }
    if ((*jvmti)->GetImplementedInterfaces(jvmti, klass, &count, &interfaces) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        bool is_new = false;

        is_good = is_good && add_name(interfaces[i], out, &is_new) &&
                  (!is_new || add_interfaces(jni, interfaces[i], depth + 1, out));
        (*jni)->DeleteLocalRef(jni, interfaces[i]);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)interfaces);
    return is_good;
}

/* Each class file but that of Object names a super class; of an interface the JVM says none. */
static bool add_object(struct rules_supers *out)
{
    static const char object[] = "java/lang/Object";

    (void)rules_add_super(out, (struct classfile_text){object, sizeof object - 1});
    return true;
}

bool instrument_above(JNIEnv *jni, jclass klass, struct rules_supers *out)
{
    jclass at = klass;
    bool is_good = true;

    out->count = 0;
    out->is_cut = false;
    while (is_good && at != NULL) {
        jclass above = (*jni)->GetSuperclass(jni, at);
        bool is_new;

        is_good = add_interfaces(jni, at, 0, out) &&
                  (above == NULL ? add_object(out) : add_name(above, out, &is_new));
        if (at != klass)
            (*jni)->DeleteLocalRef(jni, at);
        at = above;
    }
    (*jni)->DeleteLocalRef(jni, at);
    return is_good;
}

/* ---- classes that were read before it was known ---- */

/* 131 KB, of the agent's thread, from the first rule on that asks for it. NULL: there is no memory. */
static struct rules_supers *looked_up(void)
{
    static struct rules_supers *made;

    if (made == NULL)
        made = jw_alloc(sizeof *made);
    return made;
}

bool instrument_may_be_above(JNIEnv *jni, const struct instrument_attach *attach,
                             const struct instrument_loaded *of)
{
    const uint32_t count = attach->probe->handler_count;

    if (!probe_weave_asks_above(attach->handlers, count))
        return true;

    struct rules_supers *above = looked_up();
    return above == NULL || !instrument_above(jni, of->klass, above) ||
           probe_weave_may_touch(attach->handlers, count, of->name, above);
}

static bool is_due(struct instrument_attach *attach, JNIEnv *jni,
                   const struct instrument_loaded *of)
{
    const uint64_t key = instrument_key(of->loader, of->name);

    if (!instrument_waits_above(attach, key))
        return false;
    /* Not linked: its methods do not run yet. The last look links it, so that it is not forgotten. */
    struct rules_supers *above = looked_up();
    if (above == NULL || !instrument_above(jni, of->klass, above))
        return attach->above_looks == 1;
    if (probe_weave_may_touch(attach->handlers, attach->probe->handler_count, of->name, above))
        return true;
    instrument_note_refused(attach, key);
    return false;
}

void instrument_look_above(JNIEnv *jni, struct instrument_attach *attach)
{
    const struct instrument_choice choice = {is_due, instrument_refused, attach,
                                             false,  attach->pause_ns,   NULL};
    struct instrument_batches batches = {0};
    struct jw_error err = {0};
    bool is_new;

    if (attach->state != INSTRUMENT_ATTACHED || !instrument_waits_any(attach, &is_new))
        return;
    if (is_new)
        attach->above_looks = LOOKS;
    if (attach->above_looks != 0 && instrument_retransform(jni, &choice, &batches, &err))
        attach->above_looks--;
}
