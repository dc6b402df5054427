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

static bool is_on;
static pthread_key_t thread_key;
static struct vm_field thread_env, env_task, task_method, task_level;

/* The key under which `wanted` stands for this thread; false: under none. */
static bool find_key(vm_addr wanted)
{
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
        if ((vm_addr)pthread_getspecific(key) == wanted) {
            thread_key = key;
            return true;
        }
    }
    return false;
}

void vm_compiler_open(const void *env)
{
    const vm_addr thread = vm_thread_of_env(env);

    thread_env = vm_structs_field("CompilerThread", "_env");
    env_task = vm_structs_field("ciEnv", "_task");
    task_method = vm_structs_field("CompileTask", "_method");
    task_level = vm_structs_field("CompileTask", "_comp_level");
    is_on = vm_has(thread_env) && vm_has(env_task) && vm_has(task_method) && vm_has(task_level) &&
            thread != 0 && find_key(thread);
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

    if (!is_on)
        return false;
    const vm_addr thread = (vm_addr)pthread_getspecific(thread_key);
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
