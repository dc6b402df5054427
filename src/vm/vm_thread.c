/* States of Java threads; handler, and control for finding out where they stand. */
#include "vm/vm_thread.h"

#include <string.h>

#include "vm/vm_internal.h"
#include "vm/vm_method.h"

/*
 * Numbers of the states in this JVM. Source: OpenJDK, osThread.hpp (ThreadState) and
 * globalDefinitions.hpp (JavaThreadState). The latter are in the tables of all JDKs, and JDK 28 numbers them anew and has no
 * _trans; the former from JDK 11 on.
 */
static struct {
    uint64_t runnable, monitor_wait, condvar_wait, object_wait, sleeping;
    uint64_t in_java, in_java_trans, blocked, blocked_trans, in_native, in_native_trans, is_new;
} states;

/*
 * Native methods in which Java threads wait. Source: OpenJDK, java.base: Unsafe (sun.misc until 8), Object.wait0 from
 * 19 on, Thread.sleep0 in 19 and 20, sleepNanos0 from 21 on.
 */
static const struct {
    char class_name[32], name[16];
    enum vm_thread_wait wait;
} waits[] = {
    {"jdk/internal/misc/Unsafe", "park", VM_THREAD_ON_CONDITION},
    {"sun/misc/Unsafe", "park", VM_THREAD_ON_CONDITION},
    {"java/lang/Object", "wait0", VM_THREAD_WAITS},
    {"java/lang/Object", "wait", VM_THREAD_WAITS},
    {"java/lang/Thread", "sleepNanos0", VM_THREAD_SLEEPS},
    {"java/lang/Thread", "sleep0", VM_THREAD_SLEEPS},
    {"java/lang/Thread", "sleep", VM_THREAD_SLEEPS},
};

/* What the tables do not name is no state that a thread can be in. */
static uint64_t constant(const char *name)
{
    return (uint64_t)vm_structs_constant(name, -1);
}

void vm_thread_resolve(struct vm_layout *out)
{
    out->thread_state = vm_structs_field("JavaThread", "_thread_state");
    out->osthread_state = vm_structs_field("OSThread", "_state");
    /* Enumerations are ints, whatever the table says of the size of their type. */
    out->thread_state.width = sizeof(int);
    out->osthread_state.width = sizeof(int);
    states.runnable = constant("RUNNABLE");
    states.monitor_wait = constant("MONITOR_WAIT");
    states.condvar_wait = constant("CONDVAR_WAIT");
    states.object_wait = constant("OBJECT_WAIT");
    states.sleeping = constant("SLEEPING");
    states.in_java = constant("_thread_in_Java");
    states.in_java_trans = constant("_thread_in_Java_trans");
    states.blocked = constant("_thread_blocked");
    states.in_native = constant("_thread_in_native");
    states.in_native_trans = constant("_thread_in_native_trans");
    states.is_new = constant("_thread_new");
    states.blocked_trans = constant("_thread_blocked_trans");
}

JW_SIGNAL_SAFE static bool is_text(const struct vm_text *text, const char *expected)
{
    char bytes[sizeof waits[0].class_name];
    const size_t length_bytes = strlen(expected);

    return text->length_bytes == length_bytes && length_bytes <= sizeof bytes &&
           safe_load_bytes(bytes, text->addr, length_bytes) &&
           memcmp(bytes, expected, length_bytes) == 0;
}

enum vm_thread_wait vm_thread_wait_in(vm_addr method)
{
    struct vm_method read;

    if (!vm_method_is_native(method) || !vm_method_read(method, &read))
        return VM_THREAD_RUNS;
    for (size_t i = 0; i < JW_COUNT_OF(waits); i++)
        if (is_text(&read.name, waits[i].name) && is_text(&read.class_name, waits[i].class_name))
            return waits[i].wait;
    return VM_THREAD_RUNS;
}

JW_SIGNAL_SAFE static enum vm_thread_wait wait_of(vm_addr thread)
{
    uint64_t os_thread, state;

    if (!vm_load_field(thread, vm_layout.thread_osthread, &os_thread) ||
        !vm_load_field(os_thread, vm_layout.osthread_state, &state))
        return VM_THREAD_UNKNOWN;
    if (state == states.runnable)
        return VM_THREAD_RUNS;
    if (state == states.monitor_wait)
        return VM_THREAD_ENTERS;
    if (state == states.object_wait)
        return VM_THREAD_WAITS;
    if (state == states.sleeping)
        return VM_THREAD_SLEEPS;
    return state == states.condvar_wait ? VM_THREAD_ON_CONDITION : VM_THREAD_UNKNOWN;
}

bool vm_thread_state(const void *env, struct vm_thread_state *out)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t state;

    if (thread == 0 || !vm_load_field(thread, vm_layout.thread_state, &state))
        return false;
    out->place = state == states.in_java || state == states.in_java_trans   ? VM_THREAD_IN_JAVA
                 : state == states.blocked || state == states.blocked_trans ? VM_THREAD_BLOCKED
                                                                            : VM_THREAD_ELSEWHERE;
    out->wait = wait_of(thread);
    return true;
}

enum vm_thread_delay vm_thread_delay(const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);
    uint64_t state;

    if (thread == 0 || !vm_load_field(thread, vm_layout.thread_state, &state) ||
        state == states.in_native || state == states.in_native_trans || state == states.blocked ||
        state == states.blocked_trans || state == states.is_new)
        return VM_THREAD_DELAYS_NOT;
    return state == states.in_java ? VM_THREAD_DELAYS_IN_JAVA : VM_THREAD_DELAYS_IN_VM;
}
