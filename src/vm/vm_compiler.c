/* The task of a compiler thread; handler, but for open. */
#include "vm/vm_compiler.h"

#include <limits.h>
#include <pthread.h>

#include "arch/arch.h"
#include "thread/thread_tls.h"
#include "vm/vm_internal.h"
#include "vm/vm_method.h"

/* What a compiler keeps on its stack lies no further above its stack pointer. */
#define STACK_BYTES_MAX ((uintptr_t)64 << 20)

/* Source: HotSpot, compilerDefinitions.hpp, CompLevel, JDK 8 to 28: 1 to 3 are C1's, 4 is C2's. */
#define LEVEL_MIN 1
#define LEVEL_MAX 4

/*
 * What a thread has under a key is loaded from where the C library keeps it: pthread_getspecific must not be called
 * by a handler. It takes a value away whose number is not that of the key, and between the two stores of
 * pthread_setspecific no value has: the thread would be without its Thread for ever. The place is as far from
 * thread-local storage of ours in each thread; how far, a key of ours tells, next to which the other one lies.
 * Source: glibc, nptl/descr.h: the first 32 keys are an array of pairs, number and value, in the thread's own block;
 * nptl/pthread_getspecific.c, pthread_setspecific.c (2.36 on x86-64 stores the value first).
 */
#define KEY_COUNT       32
#define KEY_PAIR_BYTES  16
#define KEY_REACH_BYTES ((intptr_t)1 << 20)

static bool is_on;
static intptr_t thread_distance; /* from thread_tls() to the Thread */
static struct vm_field thread_env, env_task, task_method, task_level;

static JW_SIGNAL_SAFE bool load_at(intptr_t distance, uintptr_t *out)
{
    return safe_load_word((uintptr_t)thread_tls() + (uintptr_t)distance, out);
}

/* The key under which `wanted` stands for this thread; KEY_COUNT: under none of the first. */
static pthread_key_t find_key(vm_addr wanted)
{
    for (pthread_key_t key = 0; key < KEY_COUNT; key++)
        if ((vm_addr)pthread_getspecific(key) == wanted)
            return key;
    return KEY_COUNT;
}

/* True when what is set under the key is found at that distance. */
static bool is_place_of(pthread_key_t key, intptr_t distance)
{
    static const char marks[2];
    uintptr_t word;

    for (size_t i = 0; i < JW_COUNT_OF(marks); i++)
        if (pthread_setspecific(key, &marks[i]) != 0 || !load_at(distance, &word) ||
            word != (uintptr_t)&marks[i])
            return false;
    return true;
}

/* How far from thread_tls() the value under a key of ours lies; 0: not in reach. */
static intptr_t find_place(pthread_key_t key)
{
    static const intptr_t directions[] = {sizeof(uintptr_t), -(intptr_t)sizeof(uintptr_t)};
    static const char mark;
    uintptr_t word;

    for (size_t i = 0; i < JW_COUNT_OF(directions); i++) {
        if (pthread_setspecific(key, &mark) != 0)
            return 0;
        for (intptr_t at = directions[i];
             at > -KEY_REACH_BYTES && at < KEY_REACH_BYTES && load_at(at, &word);
             at += directions[i]) {
            if (word != (uintptr_t)&mark)
                continue;
            if (is_place_of(key, at))
                return at;
            (void)pthread_setspecific(key, &mark);
        }
    }
    return 0;
}

/* Where this thread keeps `thread`, its Thread, as the C library has it for the JVM. */
static bool find_thread(vm_addr thread)
{
    const pthread_key_t wanted = find_key(thread);
    pthread_key_t own;
    uintptr_t word;

    if (wanted == KEY_COUNT || pthread_key_create(&own, NULL) != 0)
        return false;
    const intptr_t place = own < KEY_COUNT ? find_place(own) : 0;
    (void)pthread_setspecific(own, NULL);
    (void)pthread_key_delete(own);
    if (place == 0)
        return false;
    thread_distance = place + ((intptr_t)wanted - (intptr_t)own) * KEY_PAIR_BYTES;
    return load_at(thread_distance, &word) && word == thread;
}

void vm_compiler_open(const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);

    thread_env = vm_structs_field("CompilerThread", "_env");
    env_task = vm_structs_field("ciEnv", "_task");
    task_method = vm_structs_field("CompileTask", "_method");
    task_level = vm_structs_field("CompileTask", "_comp_level");
    is_on = vm_has(thread_env) && vm_has(env_task) && vm_has(task_method) && vm_has(task_level) &&
            thread != 0 && find_thread(thread);
}

/* True when the JVM says of this Thread that it is the calling one. */
static JW_SIGNAL_SAFE bool is_own(vm_addr thread)
{
    uint64_t os_thread, tid;

    return vm_load_field(thread, vm_layout.thread_osthread, &os_thread) &&
           vm_load_field(os_thread, vm_layout.osthread_tid, &tid) &&
           (uint32_t)tid == thread_own_tid();
}

bool vm_compiler_task(uintptr_t sp, struct vm_compiler_task *out)
{
    uint64_t env, task, method, level;
    struct vm_method told;
    vm_addr thread;

    if (!is_on || !load_at(thread_distance, &thread))
        return false;
    /* Threads of the JVM that are no compilers have something else there, or nothing: no address of this very
     * stack that leads to a task and to a method. */
    if (!vm_is_plausible(thread) || !is_own(thread) || !vm_load_field(thread, thread_env, &env) ||
        env <= sp || env - sp > STACK_BYTES_MAX || !vm_is_plausible(env) ||
        !vm_load_field(env, env_task, &task) || !vm_is_plausible(task) ||
        !vm_load_field(task, task_level, &level) || level < LEVEL_MIN || level > LEVEL_MAX ||
        !vm_load_field(task, task_method, &method) || !vm_method_read(method, &told))
        return false;
    *out = (struct vm_compiler_task){method, env};
    return true;
}
