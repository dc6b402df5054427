/* Threads and locks by their numbers; hook (note), the agent's thread. */
#include "agent/weak_refs.h"

#include "agent/api_internal.h"
#include "base/atomics.h"
#include "base/hash.h"

#define KINDS 2u

/* Whoever takes the reference out of its place has it alone. */
struct known {
    _Atomic uint64_t reference; /* 0: none */
    _Atomic uint64_t number;    /* relaxed: a hint, the object tells it itself */
};

/* order WEAK_TABLE: who finds it acquires its zeroes. NULL: no session has wanted it. */
static struct known *_Atomic all;

/* KINDS times WEAK_REFS of them; NULL: there are none. */
static struct known *table(void)
{
    /* order WEAK_TABLE: acquires the zeroes. */
    return jw_load_acquire(&all);
}

static struct known *place_of(enum weak_refs_kind kind, uint64_t number)
{
    struct known *const first = table();

    return first == NULL ? NULL
                         : &first[(uint32_t)kind * WEAK_REFS +
                                  (uint32_t)(jw_hash_word(number) >> 32) % WEAK_REFS];
}

void weak_refs_open(void)
{
    struct known *made = table() == NULL ? jw_alloc(KINDS * WEAK_REFS * sizeof *made) : NULL;

    if (made != NULL)
        /* order WEAK_TABLE: releases the zeroes. */
        jw_store_release(&all, made);
}

static jweak exchange(struct known *place, jweak reference)
{
    /* order WEAK_REF: acquires what was there, and releases what comes. */
    return (jweak)(uintptr_t)jw_exchange_acq_rel(&place->reference, (uint64_t)(uintptr_t)reference);
}

static void drop(JNIEnv *jni, jweak reference)
{
    if (reference != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, reference);
}

void weak_refs_note(JNIEnv *jni, enum weak_refs_kind kind, jobject object, uint64_t number)
{
    struct known *place = place_of(kind, number);

    if (number == 0 || place == NULL || jw_load_relaxed(&place->number) == number)
        return;
    jweak reference = (*jni)->NewWeakGlobalRef(jni, object);
    if (reference == NULL) { /* no memory, which is not to be the program's exception */
        (*jni)->ExceptionClear(jni);
        return;
    }
    drop(jni, exchange(place, reference));
    jw_store_relaxed(&place->number, number);
}

static uint64_t number_of(jvmtiEnv *jvmti, JNIEnv *jni, enum weak_refs_kind kind, jobject object)
{
    jint hash = 0;

    switch (kind) {
    case WEAK_THREADS:
        return api_thread_number(jni, object);
    case WEAK_LATCHES:
        break;
    }
    return (*jvmti)->GetObjectHashCode(jvmti, object, &hash) == JVMTI_ERROR_NONE ? (uint32_t)hash
                                                                                 : 0;
}

/* What came meanwhile stays. */
static void put_back(JNIEnv *jni, struct known *place, jweak reference)
{
    uint64_t expected = 0;

    /* order WEAK_REF: releases the reference. */
    if (!jw_cas_acq_rel(&place->reference, &expected, (uint64_t)(uintptr_t)reference))
        drop(jni, reference);
}

jobject weak_refs_find(jvmtiEnv *jvmti, JNIEnv *jni, enum weak_refs_kind kind, uint64_t number)
{
    struct known *place = place_of(kind, number);
    jweak reference = place == NULL ? NULL : exchange(place, NULL);
    jobject object = reference == NULL ? NULL : (*jni)->NewLocalRef(jni, reference);
    const uint64_t own = object == NULL ? 0 : number_of(jvmti, jni, kind, object);

    if (place == NULL)
        return NULL;
    /* Two who came at once may have left one's number and the other one's reference. */
    jw_store_relaxed(&place->number, own);
    if (own != 0)
        put_back(jni, place, reference);
    else
        drop(jni, reference);
    if (own == number)
        return object;
    if (object != NULL)
        (*jni)->DeleteLocalRef(jni, object);
    return NULL;
}

void weak_refs_let_go(JNIEnv *jni)
{
    struct known *const first = table();

    for (uint32_t i = 0; i < KINDS * WEAK_REFS && first != NULL; i++) {
        jw_store_relaxed(&first[i].number, 0);
        drop(jni, exchange(&first[i], NULL));
    }
}
