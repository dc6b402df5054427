/* What Java threads wait for, read from their JavaThread. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>

#include "vm/vm_thread.h"

TestSuite(vm_thread, .timeout = 1800);

/* By HotSpot's numbers, which are not the same in all JDKs; a state that this one lacks cannot be met. */
#define IN(state) ((uint64_t)constant_of(#state))
#define NO_STATE  UINT32_MAX

static const void *fill_thread(uint64_t os_state, uint64_t java_state)
{
    set_pointer(fake.java_thread, "JavaThread", "_osthread", fake.os_thread);
    set_pointer(fake.java_thread, "Thread", "_osthread", fake.os_thread);
    /* What follows an enumeration is none of it. */
    set(fake.os_thread, "OSThread", "_state", os_state | UINT64_C(0xeeeeeeee) << 32, 8);
    set(fake.java_thread, "JavaThread", "_thread_state", java_state | UINT64_C(0xeeeeeeee) << 32,
        8);
    return fake.java_thread + offset_of("JavaThread", "_anchor") + VM_ENV_AFTER_ANCHOR_BYTES;
}

static void expect(uint64_t os_state, uint64_t java_state, enum vm_thread_wait wait,
                   enum vm_thread_place place)
{
    struct vm_thread_state state;

    cr_assert(vm_thread_state(fill_thread(os_state, java_state), &state));
    cr_assert(eq(int, state.wait, fake_jdk == LAYOUT_8 ? VM_THREAD_UNKNOWN : wait));
    cr_assert(eq(int, state.place, place));
}

TEST_EACH_JDK(vm_thread, each_state_has_its_meaning, "A")
{
    expect(IN(RUNNABLE), IN(_thread_in_Java), VM_THREAD_RUNS, VM_THREAD_IN_JAVA);
    expect(IN(RUNNABLE), IN(_thread_in_native), VM_THREAD_RUNS, VM_THREAD_ELSEWHERE);
    expect(IN(RUNNABLE), IN(_thread_in_vm), VM_THREAD_RUNS, VM_THREAD_ELSEWHERE);
    expect(IN(MONITOR_WAIT), IN(_thread_blocked), VM_THREAD_ENTERS, VM_THREAD_BLOCKED);
    expect(IN(OBJECT_WAIT), IN(_thread_blocked), VM_THREAD_WAITS, VM_THREAD_BLOCKED);
    expect(IN(SLEEPING), IN(_thread_blocked), VM_THREAD_SLEEPS, VM_THREAD_BLOCKED);
    expect(IN(CONDVAR_WAIT), IN(_thread_blocked), VM_THREAD_ON_CONDITION, VM_THREAD_BLOCKED);
    expect(IN(BREAKPOINTED), IN(_thread_in_vm), VM_THREAD_UNKNOWN, VM_THREAD_ELSEWHERE);
    expect(NO_STATE, NO_STATE, VM_THREAD_UNKNOWN, VM_THREAD_ELSEWHERE);
    if (fake_jdk != LAYOUT_28) {
        expect(IN(RUNNABLE), IN(_thread_in_Java_trans), VM_THREAD_RUNS, VM_THREAD_IN_JAVA);
        expect(IN(CONDVAR_WAIT), IN(_thread_blocked_trans), VM_THREAD_ON_CONDITION,
               VM_THREAD_BLOCKED);
    } else {
        expect(IN(RUNNABLE), 8, VM_THREAD_RUNS, VM_THREAD_ELSEWHERE); /* Java, up to JDK 27 */
    }
}

TEST_EACH_JDK(vm_thread, a_thread_that_cannot_be_read_has_no_state, "A")
{
    struct vm_thread_state state;

    cr_assert(not(vm_thread_state(NULL, &state)));
    cr_assert(not(vm_thread_state((const void *)UINTPTR_MAX, &state)));
    cr_assert(not(vm_thread_state((const void *)(uintptr_t)16, &state)));
}

TEST_EACH_JDK(vm_thread, an_osthread_that_is_gone_is_an_unknown_wait, "A")
{
    const void *env = fill_thread(IN(SLEEPING), IN(_thread_blocked));
    struct vm_thread_state state;

    set_pointer(fake.java_thread, "JavaThread", "_osthread", NULL);
    set_pointer(fake.java_thread, "Thread", "_osthread", NULL);
    cr_assert(vm_thread_state(env, &state));
    cr_assert(eq(int, state.wait, VM_THREAD_UNKNOWN));
    cr_assert(eq(int, state.place, VM_THREAD_BLOCKED));
}

#define ACC_NATIVE 0x0100

static enum vm_thread_wait wait_in(const char *class_name, const char *name, uint64_t access_flags)
{
    set_symbol(fake.class_name, class_name);
    set_symbol(fake.name, name);
    set(fake.method, "Method", "_access_flags", access_flags, fake_jdk >= LAYOUT_25 ? 2 : 4);
    return vm_thread_wait_in((vm_addr)fake.method);
}

TEST_EACH_JDK(vm_thread, the_methods_in_which_threads_wait_are_known, "A")
{
    static const struct {
        const char *class_name, *name;
        enum vm_thread_wait wait;
    } cases[] = {
        {"jdk/internal/misc/Unsafe", "park", VM_THREAD_ON_CONDITION},
        {"sun/misc/Unsafe", "park", VM_THREAD_ON_CONDITION},
        {"java/lang/Object", "wait", VM_THREAD_WAITS},
        {"java/lang/Object", "wait0", VM_THREAD_WAITS},
        {"java/lang/Thread", "sleep", VM_THREAD_SLEEPS},
        {"java/lang/Thread", "sleep0", VM_THREAD_SLEEPS},
        {"java/lang/Thread", "sleepNanos0", VM_THREAD_SLEEPS},
        {"java/lang/Thread", "wait", VM_THREAD_RUNS},
        {"java/lang/Thread", "sleeps", VM_THREAD_RUNS},
        {"com/acme/Unsafe", "park", VM_THREAD_RUNS},
        {"jdk/internal/misc/UnsafeThatIsALongNameOfItsOwn", "park", VM_THREAD_RUNS},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(
            eq(int, wait_in(cases[i].class_name, cases[i].name, 1 | ACC_NATIVE), cases[i].wait));
        /* Java code of that name waits nowhere itself. */
        cr_assert(eq(int, wait_in(cases[i].class_name, cases[i].name, 1), VM_THREAD_RUNS));
    }
    cr_assert(eq(int, vm_thread_wait_in(0), VM_THREAD_RUNS));
    cr_assert(eq(int, vm_thread_wait_in(UINTPTR_MAX - 7), VM_THREAD_RUNS));
}

TEST_EACH_JDK(vm_thread, a_safepoint_waits_for_java_and_for_the_jvm_and_for_nobody_else, "A")
{
    cr_assert(
        eq(int, vm_thread_delay(fill_thread(0, IN(_thread_in_Java))), VM_THREAD_DELAYS_IN_JAVA));
    cr_assert(eq(int, vm_thread_delay(fill_thread(0, IN(_thread_in_vm))), VM_THREAD_DELAYS_IN_VM));
    cr_assert(
        eq(int, vm_thread_delay(fill_thread(0, IN(_thread_in_native))), VM_THREAD_DELAYS_NOT));
    cr_assert(eq(int, vm_thread_delay(fill_thread(0, IN(_thread_blocked))), VM_THREAD_DELAYS_NOT));
    if (fake_jdk != LAYOUT_28)
        cr_assert(eq(int, vm_thread_delay(fill_thread(0, IN(_thread_in_native_trans))),
                     VM_THREAD_DELAYS_NOT));
    cr_assert(eq(int, vm_thread_delay(NULL), VM_THREAD_DELAYS_NOT));
    cr_assert(eq(int, vm_thread_delay((const void *)UINTPTR_MAX), VM_THREAD_DELAYS_NOT));
}
