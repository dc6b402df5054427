/* Numbers of objects, with a JVM that is made of a few functions: one for each, none twice, as many as there is room for. */
#include "agent/instances.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"

/* An object's tag is behind its address. */
struct object {
    _Atomic jlong tag;
};

static struct jvmtiInterface_1_ functions;
static jvmtiEnv environment = &functions;
static jvmtiEventObjectFree on_free;
static _Atomic uint32_t environments, disposed, sets;
static jvmtiError refused; /* by AddCapabilities */
static jvmtiError unset;   /* by SetTag */
static struct jw_error err;

static jvmtiError JNICALL add_capabilities(jvmtiEnv *jvmti, const jvmtiCapabilities *wanted)
{
    (void)jvmti;
    cr_assert(wanted->can_tag_objects && wanted->can_generate_object_free_events);
    return refused;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *jvmti, const jvmtiEventCallbacks *callbacks,
                                        jint size_bytes)
{
    (void)jvmti;
    cr_assert(eq(int, size_bytes, (int)sizeof *callbacks));
    on_free = callbacks->ObjectFree;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    (void)jvmti;
    (void)thread;
    cr_assert(mode == JVMTI_ENABLE && event == JVMTI_EVENT_OBJECT_FREE);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *jvmti, jobject object, jlong *tag)
{
    (void)jvmti;
    *tag = jw_load_relaxed(&((struct object *)object)->tag);
    return JVMTI_ERROR_NONE;
}

/* Whoever comes last has it, as in a JVM. */
static jvmtiError JNICALL set_tag(jvmtiEnv *jvmti, jobject object, jlong tag)
{
    (void)jvmti;
    if (unset != JVMTI_ERROR_NONE)
        return unset;
    (void)jw_add_relaxed(&sets, 1);
    jw_store_relaxed(&((struct object *)object)->tag, tag);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *jvmti)
{
    (void)jvmti;
    (void)jw_add_relaxed(&disposed, 1);
    return JVMTI_ERROR_NONE;
}

static jint JNICALL get_environment(JavaVM *java_vm, void **out, jint version)
{
    (void)java_vm;
    (void)version;
    (void)jw_add_relaxed(&environments, 1);
    *out = &environment;
    return JNI_OK;
}

static struct JNIInvokeInterface_ invoke;
static JavaVM java_vm = &invoke;

static void set_up(void)
{
    functions.AddCapabilities = add_capabilities;
    functions.SetEventCallbacks = set_callbacks;
    functions.SetEventNotificationMode = set_mode;
    functions.GetTag = get_tag;
    functions.SetTag = set_tag;
    functions.DisposeEnvironment = dispose;
    invoke.GetEnv = get_environment;
}

TestSuite(instances, .init = set_up, .timeout = 1800);

static void begin(void)
{
    cr_assert(instances_begin(&java_vm, &err), "%s", err.message);
}

static uint32_t number_of(struct object *object)
{
    return instances_of((jobject)object);
}

Test(instances, an_object_keeps_its_number_and_no_other_one_gets_it)
{
    struct object one = {0}, other = {0}, later = {0};

    begin();
    const uint32_t number = number_of(&one), second = number_of(&other);
    cr_assert(number != 0 && second != 0 && number != second);
    cr_assert(eq(u32, number_of(&one), number));
    on_free(&environment, number);
    cr_assert(number_of(&later) > second);
    cr_assert(eq(u32, number_of(&other), second));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS), 3));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FREED), 1));
    instances_end(true);
}

Test(instances, without_a_session_there_are_none)
{
    struct object one = {0};

    cr_assert(eq(u32, number_of(&one), 0));
    begin();
    const uint32_t number = number_of(&one);
    instances_end(true);
    cr_assert(eq(u32, number_of(&one), 0));
    cr_assert(eq(u32, disposed, 1));
    /* Its tag has gone with the environment. */
    jw_store_relaxed(&one.tag, 0);
    begin();
    cr_assert(number_of(&one) > number);
    /* A turn of loop=: nothing changes. */
    const uint32_t again = number_of(&one);
    begin();
    cr_assert(eq(u32, number_of(&one), again));
    cr_assert(eq(u32, environments, 2));
    instances_end(true);
}

Test(instances, a_jvm_that_has_ended_is_left_alone)
{
    begin();
    instances_end(false);
    cr_assert(eq(u32, disposed, 0));
}

Test(instances, there_is_room_for_so_many_that_live)
{
    struct object *all = calloc(INSTANCES_MAX + 2, sizeof *all);

    cr_assert_not_null(all);
    begin();
    for (uint32_t i = 0; i < INSTANCES_MAX; i++)
        cr_assert(ne(u32, number_of(&all[i]), 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FULL), 0));
    cr_assert(eq(u32, number_of(&all[INSTANCES_MAX]), 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FULL), 1));
    cr_assert(ne(u32, number_of(&all[0]), 0), "those that have one keep it");
    on_free(&environment, jw_load_relaxed(&all[5].tag));
    cr_assert(ne(u32, number_of(&all[INSTANCES_MAX]), 0));
    cr_assert(eq(u32, number_of(&all[INSTANCES_MAX + 1]), 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FULL), 2));
    instances_end(true);
    free(all);
}

Test(instances, what_is_freed_late_is_of_no_later_session)
{
    struct object one = {0}, other = {0};

    begin();
    const uint32_t number = number_of(&one);
    instances_end(true);
    begin();
    cr_assert(ne(u32, number_of(&other), 0));
    on_free(&environment, number);
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FREED), 0));
    instances_end(true);
}

Test(instances, what_the_jvm_refuses_is_told)
{
    struct object one = {0};

    refused = JVMTI_ERROR_NOT_AVAILABLE;
    cr_assert(not(instances_begin(&java_vm, &err)));
    cr_assert_not_null(strstr(err.message, "98"));
    cr_assert(eq(u32, disposed, 1));
    cr_assert(eq(u32, number_of(&one), 0));
    refused = JVMTI_ERROR_NONE;
    begin();
    unset = JVMTI_ERROR_OUT_OF_MEMORY;
    cr_assert(eq(u32, number_of(&one), 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OBJECTS_FULL), 1));
    unset = JVMTI_ERROR_NONE;
    cr_assert(ne(u32, number_of(&one), 0));
    instances_end(true);
}

/* ---- threads ---- */

#define THREADS 4u
#define OBJECTS 2000u

static struct object shared[OBJECTS];
static uint32_t seen[THREADS][OBJECTS];

static void *ask_all(void *argument)
{
    uint32_t *mine = argument;

    for (uint32_t i = 0; i < OBJECTS; i++)
        mine[i] = number_of(&shared[i]);
    return NULL;
}

Test(instances, threads_that_come_at_the_same_time_get_the_same)
{
    pthread_t threads[THREADS];

    begin();
    for (uint32_t i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, ask_all, seen[i]), 0));
    for (uint32_t i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
    for (uint32_t i = 0; i < OBJECTS; i++)
        for (uint32_t j = 0; j < THREADS; j++)
            cr_assert(seen[j][i] != 0 && seen[j][i] == seen[0][i]);
    cr_assert(eq(u32, sets, OBJECTS));
    instances_end(true);
}

static void *ask_until_shut(void *argument)
{
    struct object *object = argument;

    while (number_of(object) != 0)
        ;
    return NULL;
}

/* Thread sanitizer sees whether somebody is still inside when the environment goes. */
Test(instances, the_end_waits_for_who_is_inside)
{
    pthread_t threads[THREADS];

    for (uint32_t round = 0; round < 50; round++) {
        begin();
        for (uint32_t i = 0; i < THREADS; i++)
            cr_assert(
                eq(int, pthread_create(&threads[i], NULL, ask_until_shut, &shared[i % 2]), 0));
        instances_end(true);
        for (uint32_t i = 0; i < THREADS; i++)
            cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
        cr_assert(eq(u32, disposed, round + 1));
        jw_store_relaxed(&shared[0].tag, 0);
        jw_store_relaxed(&shared[1].tag, 0);
    }
}
