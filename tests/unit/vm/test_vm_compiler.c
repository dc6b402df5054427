/* The method that a compiler thread compiles: by the thread's own key, or not at all. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "thread/thread_tls.h"
#include "vm/vm_compiler.h"

TestSuite(vm_compiler, .timeout = 1800);

static pthread_key_t key;
static unsigned char task[256];
static unsigned char compiler[256]; /* stands on no stack of ours: `sp` is chosen to lie below it */
static struct vm_compiler_task told;

static uintptr_t sp(void)
{
    return (uintptr_t)compiler - 4096;
}

static void become_a_compiler(void)
{
    const void *env =
        fake.java_thread + offset_of("JavaThread", "_anchor") + VM_ENV_AFTER_ANCHOR_BYTES;

    set_pointer(fake.java_thread, "JavaThread", "_osthread", fake.os_thread);
    set_pointer(fake.java_thread, "Thread", "_osthread", fake.os_thread);
    set(fake.os_thread, "OSThread", "_thread_id", thread_own_tid(), 4);
    set_pointer(fake.java_thread, "CompilerThread", "_env", compiler);
    set_pointer(compiler, "ciEnv", "_task", task);
    set_pointer(task, "CompileTask", "_method", fake.method);
    set(task, "CompileTask", "_comp_level", 4, 4);
    cr_assert(eq(int, pthread_key_create(&key, NULL), 0));
    cr_assert(eq(int, pthread_setspecific(key, fake.java_thread), 0));
    vm_compiler_open(env);
}

TEST_EACH_JDK(vm_compiler, the_method_of_the_task_is_found, "com/acme/Job")
{
    become_a_compiler();
    for (uint64_t level = 1; level <= 4; level++) {
        set(task, "CompileTask", "_comp_level", level, 4);
        cr_assert(vm_compiler_task(sp(), &told));
        cr_assert(eq(u64, told.method, (vm_addr)fake.method));
        cr_assert(eq(u64, told.stack_addr, (uintptr_t)compiler));
    }
}

TEST_EACH_JDK(vm_compiler, a_compiler_without_a_task_compiles_nothing, "com/acme/Job")
{
    become_a_compiler();
    set(task, "CompileTask", "_comp_level", 0, 4);
    cr_assert(not(vm_compiler_task(sp(), &told)), "no level");
    set(task, "CompileTask", "_comp_level", 5, 4);
    cr_assert(not(vm_compiler_task(sp(), &told)), "no such level");
    set(task, "CompileTask", "_comp_level", 1, 4);
    set_pointer(task, "CompileTask", "_method", task);
    cr_assert(not(vm_compiler_task(sp(), &told)), "no method");
    set_pointer(task, "CompileTask", "_method", fake.method);
    set_pointer(compiler, "ciEnv", "_task", NULL);
    cr_assert(not(vm_compiler_task(sp(), &told)), "no task");
    set_pointer(compiler, "ciEnv", "_task", (void *)0x7ffffffff000);
    cr_assert(not(vm_compiler_task(sp(), &told)), "an unreadable task");
    set_pointer(compiler, "ciEnv", "_task", task);
    cr_assert(vm_compiler_task(sp(), &told));
    set_pointer(fake.java_thread, "CompilerThread", "_env", NULL);
    cr_assert(not(vm_compiler_task(sp(), &told)), "idle");
}

TEST_EACH_JDK(vm_compiler, what_a_compiler_knows_lies_on_its_own_stack, "com/acme/Job")
{
    become_a_compiler();
    cr_assert(vm_compiler_task((uintptr_t)compiler - 8, &told));
    cr_assert(not(vm_compiler_task((uintptr_t)compiler, &told)));
    cr_assert(not(vm_compiler_task((uintptr_t)compiler + 8, &told)));
    cr_assert(not(vm_compiler_task((uintptr_t)compiler - (65u << 20), &told)));
}

static void *ask_elsewhere(void *is_wrong)
{
    cr_assert(not(vm_compiler_task(sp(), &told)), "a thread of its own");
    pthread_setspecific(key, fake.java_thread);
    cr_assert(not(vm_compiler_task(sp(), &told)), "the Thread of another");
    *(bool *)is_wrong = false;
    return NULL;
}

TEST_EACH_JDK(vm_compiler, another_thread_is_no_compiler, "com/acme/Job")
{
    bool is_wrong = true;
    pthread_t thread;

    become_a_compiler();
    cr_assert(eq(int, pthread_create(&thread, NULL, ask_elsewhere, &is_wrong), 0));
    cr_assert(eq(int, pthread_join(thread, NULL), 0));
    cr_assert(not(is_wrong));
    cr_assert(vm_compiler_task(sp(), &told));
}

TEST_EACH_JDK(vm_compiler, without_a_key_nobody_compiles, "com/acme/Job")
{
    cr_assert(not(vm_compiler_task(sp(), &told)), "before it was looked for");
    become_a_compiler();
    pthread_setspecific(key, NULL);
    vm_compiler_open(fake.java_thread + offset_of("JavaThread", "_anchor") +
                     VM_ENV_AFTER_ANCHOR_BYTES);
    pthread_setspecific(key, fake.java_thread);
    cr_assert(not(vm_compiler_task(sp(), &told)));
}

/* A handler of ours at each instruction with which the JVM makes a thread known: the C library stores what stands
 * under a key in two steps, and whoever asks it in between loses the value. */
#if defined(__x86_64__)
#define TRAP_FLAG 0x100

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN true
#else
#define WITH_TSAN false
#endif

static unsigned steps, found;

static void ask_at_each_step(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)info;
    (void)ucontext;
    steps++;
    found += vm_compiler_task(sp(), &told);
}

static void switch_steps(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)info;
    ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] ^= TRAP_FLAG;
}

static void *be_born(void *has_value)
{
    set(fake.os_thread, "OSThread", "_thread_id", thread_own_tid(), 4);
    raise(SIGUSR1);
    pthread_setspecific(key, fake.java_thread);
    raise(SIGUSR1);
    *(bool *)has_value = pthread_getspecific(key) == fake.java_thread;
    return NULL;
}

TEST_EACH_JDK(vm_compiler, m29_a_thread_keeps_what_it_sets_while_a_handler_looks, "com/acme/Job")
{
    const struct sigaction step = {.sa_sigaction = ask_at_each_step, .sa_flags = SA_SIGINFO};
    const struct sigaction turn = {.sa_sigaction = switch_steps, .sa_flags = SA_SIGINFO};
    bool has_value = false;
    pthread_t thread;

    if (WITH_TSAN)
        cr_skip_test("thread sanitizer must not be stepped through");
    become_a_compiler();
    cr_assert(eq(int, sigaction(SIGTRAP, &step, NULL), 0));
    cr_assert(eq(int, sigaction(SIGUSR1, &turn, NULL), 0));
    cr_assert(eq(int, pthread_create(&thread, NULL, be_born, &has_value), 0));
    cr_assert(eq(int, pthread_join(thread, NULL), 0));
    cr_assert(has_value);
    cr_assert(ge(uint, steps, 20));
    cr_assert(ge(uint, found, 1), "what was set is seen in the end");
    cr_assert(lt(uint, found, steps), "and not before");
}
#endif
