/* Lock stacks of virtual threads in the heap: read while the thread rests, and not where any of what says so is missing. */
#include "vm/vm_frozen_locks.h"

#include "unit/vm/fake_mounted.h"
#include "vm/vm_frozen_internal.h"

#include <criterion/new/assert.h>

/* Of a StackChunk, in what the JVM adds to it; and what the states are called by. */
enum { LOCK_SIZE_OFFSET = 40, FLAGS_OFFSET = 41 };
enum { RUNNING = 2, FIRST_STATE = 100 };

static const uint32_t size_at = LOCK_SIZE_OFFSET, flags_at = FLAGS_OFFSET;
static _Alignas(8) unsigned char locked[2][64];
static void *handle = virtual_object;
static bool has_states = true;

static jfieldID JNICALL get_static(JNIEnv *env, jclass type, const char *name,
                                   const char *signature)
{
    static const char *const names[] = {"PARKED", "TIMED_PARKED", "BLOCKED", "WAIT", "TIMED_WAIT"};

    (void)env;
    (void)type;
    (void)signature;
    for (uintptr_t i = 0; i < JW_COUNT_OF(names); i++)
        if (has_states && strcmp(names[i], name) == 0)
            return (jfieldID)(i + 1);
    return NULL;
}

static jint JNICALL get_static_int(JNIEnv *env, jclass type, jfieldID field)
{
    (void)env;
    (void)type;
    return FIRST_STATE + (jint)(uintptr_t)field - 1;
}

static void set_rest(uint32_t state)
{
    put(virtual_object, STATE_OFFSET, &state, sizeof state);
}

static void put_locks(uint8_t count)
{
    put(chunks[0], LOCK_SIZE_OFFSET, &count, sizeof count);
    for (uint32_t i = 0; i < 2; i++)
        memcpy((void *)word_at(0, i), &(void *){locked[i]}, 8);
}

static bool open_locks_of(enum layout_jdk jdk, bool is_g1)
{
    struct jw_error err = {0};

    prepare_fake(jdk, "A");
    add_mounted_tables(true);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    prepare_mounted(is_g1);
    functions.GetStaticFieldID = get_static;
    functions.GetStaticIntField = get_static_int;
    fill_chunks();
    (void)vm_mounted_open(env(), (jobject)own_object);
    (void)vm_frozen_open(env());
    mount(); /* what a carrier runs says nothing of it */
    set_rest(FIRST_STATE);
    put_locks(2);
    return vm_frozen_locks_open_at(env(), (uintptr_t)&size_at, (uintptr_t)&flags_at);
}

static bool look(struct vm_frozen_locks *out)
{
    return vm_frozen_locks((jobject)&handle, out);
}

TestSuite(vm_frozen_locks, .timeout = 1800);

Test(vm_frozen_locks, what_a_resting_thread_has_locked_stands_in_its_last_chunk)
{
    struct vm_frozen_locks locks;

    cr_assert(open_locks_of(LAYOUT_25, true));
    for (uint32_t state = FIRST_STATE; state < FIRST_STATE + 5; state++) {
        set_rest(state);
        cr_assert(look(&locks));
        cr_assert(eq(u32, locks.count, 2));
        cr_expect(eq(u64, locks.objects[0], (vm_addr)locked[0]));
        cr_expect(eq(u64, locks.objects[1], (vm_addr)locked[1]));
        cr_expect(vm_frozen_locks_stood_still(&locks));
    }
    put_locks(1);
    cr_assert(look(&locks));
    cr_assert(eq(u32, locks.count, 1));
}

/* Words that are left there are none of a thread that has nothing. */
Test(vm_frozen_locks, nothing_is_told_of_who_runs_or_has_none)
{
    static const uint32_t others[] = {0, RUNNING, FIRST_STATE + 5, FIRST_STATE | 0x100};
    struct vm_frozen_locks locks;

    cr_assert(open_locks_of(LAYOUT_25, true));
    for (size_t i = 0; i < JW_COUNT_OF(others); i++) {
        set_rest(others[i]);
        cr_expect(not(look(&locks)), "state %u", others[i]);
    }
    set_rest(FIRST_STATE);
    put_locks(0);
    cr_expect(not(look(&locks)));
    put_locks(VM_FROZEN_LOCKS_MAX + 1);
    cr_expect(not(look(&locks)), "no lock stack is as large");
    put_locks(2);
    put_reference(continuation, TAIL_OFFSET, NULL);
    cr_expect(not(look(&locks)));
    put_reference(continuation, TAIL_OFFSET, chunks[0]);
    put_reference(chunks[0], 8, virtual_object); /* as its class */
    cr_expect(not(look(&locks)));
    handle = NULL;
    cr_expect(not(look(&locks)));
}

Test(vm_frozen_locks, m03_a_collection_makes_it_worthless)
{
    struct vm_frozen_locks locks;

    cr_assert(open_locks_of(LAYOUT_25, true));
    cr_assert(look(&locks));
    heap[COLLECTIONS_OFFSET]++;
    cr_expect(not(vm_frozen_locks_stood_still(&locks)));
    cr_assert(look(&locks));
    heap[ACTIVE_OFFSET] = 1;
    cr_expect(not(vm_frozen_locks_stood_still(&locks)));
    cr_expect(not(look(&locks)));
}

Test(vm_frozen_locks, where_it_cannot_be_read_nothing_is_told)
{
    static const uint32_t nowhere = 0, too_far = VM_FROZEN_OBJECT_BYTES_MAX;
    struct vm_frozen_locks locks;

    cr_assert(not(open_locks_of(LAYOUT_25, false)), "a collector that moves objects meanwhile");
    cr_assert(not(look(&locks)));
    prepare_mounted(true);
    cr_assert(not(vm_frozen_locks_open_at(env(), 0, (uintptr_t)&flags_at)));
    cr_assert(not(vm_frozen_locks_open_at(env(), (uintptr_t)&nowhere, (uintptr_t)&flags_at)));
    cr_assert(not(vm_frozen_locks_open_at(env(), (uintptr_t)&size_at, (uintptr_t)&too_far)));
}

Test(vm_frozen_locks, without_its_states_or_its_symbols_it_is_asked_for_some_times)
{
    has_states = false;
    cr_assert(not(open_locks_of(LAYOUT_25, true)));
    for (int i = 0; i < 1000 && vm_frozen_locks_may_be_told(); i++)
        cr_assert(not(vm_frozen_locks_open(env())));
    cr_assert(not(vm_frozen_locks_may_be_told()));
    has_states = true;
    cr_assert(not(vm_frozen_locks_open(env())));
}

Test(vm_frozen_locks, before_jdk_24_who_has_a_monitor_keeps_his_carrier)
{
    cr_assert(not(open_locks_of(LAYOUT_17, true)));
    cr_assert(not(vm_frozen_locks_may_be_told()));
}
