/* Claims of JaywalkClaims, by atomic instructions. Context: hook, on any Java thread; reset: the agent's thread. */
#include "base/atomics.h"
#include "instrument/instrument_internal.h"

#define CLAIMS_CLASS  "java/lang/JaywalkClaims"
#define NATIVES_CLASS "io/jaywalk/AtomicClaims"
#define CLAIMS        9472 /* those of JaywalkVirtualLocks */

static struct instrument_tells java;

/* The session that has it; any other number: nobody. */
static _Atomic int32_t claims[CLAIMS];

/* Relaxed: who comes from an earlier session is refused sooner or later, and has no claim that counts. */
static _Atomic int32_t session, granted;

static bool is_taken(int32_t by, _Atomic int32_t *claim)
{
    int32_t now = jw_load_relaxed(claim);

    /* order CLAIMS: acquires what was written for whoever had it; gives nothing yet. */
    return now != by && jw_cas_acq_rel(claim, &now, by);
}

static jint JNICALL take(JNIEnv *jni, jobject object, jint by, jint from, jint count)
{
    (void)jni;
    (void)object;
    if (by <= 0 || by != jw_load_relaxed(&session))
        return -1;
    for (jint i = from; i >= 0 && i < CLAIMS && i < from + count; i++)
        if (is_taken(by, &claims[i]))
            return i;
    return -1;
}

static void JNICALL give(JNIEnv *jni, jobject object, jint by, jint number)
{
    int32_t now = by;

    (void)jni;
    (void)object;
    if (by > 0 && number >= 0 && number < CLAIMS)
        /* order CLAIMS: releases what was written for whoever had it. */
        (void)jw_cas_acq_rel(&claims[number], &now, 0);
}

static jboolean JNICALL grant(JNIEnv *jni, jobject object, jint most)
{
    (void)jni;
    (void)object;
    if (jw_add_relaxed(&granted, 1) < most)
        return true;
    jw_sub_relaxed(&granted, 1);
    return false;
}

static void JNICALL give_grant(JNIEnv *jni, jobject object)
{
    (void)jni;
    (void)object;
    jw_sub_relaxed(&granted, 1);
}

static void JNICALL reset(JNIEnv *jni, jobject object, jint by)
{
    (void)jni;
    (void)object;
    jw_store_relaxed(&session, by);
    jw_store_relaxed(&granted, 0);
}

bool instrument_bind_claims(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {.class_name = CLAIMS_CLASS,
                                         .open_type = "(Ljava/lang/JaywalkClaims;)V",
                                         .natives_class = NATIVES_CLASS,
                                         .natives = {{"reset", "(I)V", (uintptr_t)&reset},
                                                     {"take", "(III)I", (uintptr_t)&take},
                                                     {"give", "(II)V", (uintptr_t)&give},
                                                     {"grant", "(I)Z", (uintptr_t)&grant},
                                                     {"giveGrant", "()V", (uintptr_t)&give_grant}}};

    return instrument_bind_teller(jni, &of, &java, err);
}
