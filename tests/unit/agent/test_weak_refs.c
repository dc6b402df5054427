/* References by numbers, as a JVM that is none keeps them: each is let go once, and nobody is taken for another. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "agent/api_internal.h"
#include "agent/weak_refs.h"

#define OBJECTS 4096

/* An object is its number; a weak reference to it that with the bit. */
#define WEAK ((uintptr_t)1 << 32)

static bool is_gone[OBJECTS];
static int weak, local;

static jweak JNICALL new_weak(JNIEnv *env, jobject object)
{
    (void)env;
    weak++;
    return (jweak)((uintptr_t)object | WEAK);
}

static void JNICALL delete_weak(JNIEnv *env, jweak reference)
{
    (void)env;
    cr_assert(ne(u64, (uintptr_t)reference & WEAK, 0));
    weak--;
}

static jobject JNICALL new_local(JNIEnv *env, jobject reference)
{
    const uintptr_t object = (uintptr_t)reference & ~WEAK;

    (void)env;
    if (is_gone[object])
        return NULL;
    local++;
    return (jobject)object;
}

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
    (void)env;
    local -= object != NULL;
}

static jvmtiError JNICALL get_hash(jvmtiEnv *env, jobject object, jint *out)
{
    (void)env;
    *out = (jint)(uintptr_t)object;
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni_functions = {
    .NewWeakGlobalRef = new_weak,
    .DeleteWeakGlobalRef = delete_weak,
    .NewLocalRef = new_local,
    .DeleteLocalRef = delete_local,
};
static JNIEnv jni = &jni_functions;
static const struct jvmtiInterface_1_ jvmti_functions = {.GetObjectHashCode = get_hash};
static jvmtiEnv jvmti = &jvmti_functions;

static void note(uintptr_t object)
{
    weak_refs_note(&jni, WEAK_LATCHES, (jobject)object, object);
}

static bool finds(uintptr_t object)
{
    jobject found = weak_refs_find(&jvmti, &jni, WEAK_LATCHES, object);

    if (found == NULL)
        return false;
    cr_assert(eq(u64, (uintptr_t)found, object));
    delete_local(&jni, found);
    return true;
}

static void tear_down(void)
{
    weak_refs_let_go(&jni);
    cr_assert(eq(int, weak, 0));
    cr_assert(eq(int, local, 0));
}

static void set_up(void)
{
    weak_refs_open();
}

TestSuite(weak_refs, .init = set_up, .fini = tear_down, .timeout = 1800);

Test(weak_refs, what_was_noted_is_found_as_long_as_it_lives)
{
    cr_assert(not(finds(7)));
    note(7);
    note(7);
    cr_assert(eq(int, weak, 1), "once");
    cr_assert(finds(7));
    cr_assert(finds(7));
    is_gone[7] = true;
    cr_assert(not(finds(7)));
    cr_assert(eq(int, weak, 0));
    is_gone[7] = false;
    note(7);
    cr_assert(finds(7), "the place does not say that it is there");
}

Test(weak_refs, of_those_that_meet_the_last_one_is_kept_and_nobody_is_taken_for_it)
{
    int found = 0;

    for (uintptr_t i = 1; i < OBJECTS; i++)
        note(i);
    cr_assert(le(int, weak, WEAK_REFS));
    for (uintptr_t i = 1; i < OBJECTS; i++)
        found += finds(i);
    cr_assert(eq(int, found, weak), "each that is kept is found");
}

Test(weak_refs, kinds_do_not_meet)
{
    note(7);
    weak_refs_note(&jni, WEAK_THREADS, (jobject)9, 7);
    cr_assert(eq(int, weak, 2));
    cr_assert(finds(7));
}

Test(weak_refs, without_a_number_nothing_is_kept)
{
    note(0);
    cr_assert(eq(int, weak, 0));
}

TestSuite(weak_refs_none, .timeout = 1800);

Test(weak_refs_none, without_memory_nothing_is_kept)
{
    jw_alloc_fail_after(1);
    weak_refs_open();
    jw_alloc_fail_after(0);
    note(7);
    cr_assert(eq(int, weak, 0));
    cr_assert(not(finds(7)));
}
