/* The task list: every thread once, gone ones gone. */
#include "os/os_tasks.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomics.h"

#define THREADS 70 /* more than one call of getdents64 gives */

TestSuite(os_tasks, .timeout = 1800);

static pthread_t threads[THREADS];
static _Atomic int tids[THREADS];
static pthread_barrier_t all_run;
static pthread_barrier_t may_end;

static void *wait_to_end(void *argument)
{
    const size_t index = (size_t)(uintptr_t)argument;

    jw_store_relaxed(&tids[index], os_gettid());
    pthread_barrier_wait(&all_run);
    pthread_barrier_wait(&may_end);
    return NULL;
}

static void start_threads(unsigned count)
{
    pthread_barrier_init(&all_run, NULL, count + 1);
    pthread_barrier_init(&may_end, NULL, count + 1);
    for (size_t i = 0; i < count; i++)
        cr_assert(pthread_create(&threads[i], NULL, wait_to_end, (void *)(uintptr_t)i) == 0);
    pthread_barrier_wait(&all_run);
}

static void end_threads(unsigned count)
{
    pthread_barrier_wait(&may_end);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

struct visits {
    unsigned total;
    unsigned of[THREADS];
    bool is_self_seen;
};

static bool count_visit(int tid, void *argument)
{
    struct visits *visits = argument;

    visits->total++;
    visits->is_self_seen = visits->is_self_seen || tid == os_gettid();
    for (size_t i = 0; i < THREADS; i++)
        visits->of[i] += tid == jw_load_relaxed(&tids[i]);
    return true;
}

Test(os_tasks, each_thread_is_visited_once)
{
    struct visits visits = {0};
    struct jw_error err = {""};

    start_threads(THREADS);
    cr_assert(os_tasks_each(count_visit, &visits, &err), "%s", err.message);
    end_threads(THREADS);
    cr_assert(visits.is_self_seen);
    cr_assert(visits.total > THREADS);
    for (size_t i = 0; i < THREADS; i++)
        cr_assert(visits.of[i] == 1, "thread %zu: %u visits", i, visits.of[i]);
}

static bool stop_at_once(int tid, void *argument)
{
    (void)tid;
    ++*(unsigned *)argument;
    return false;
}

Test(os_tasks, a_visitor_may_end_the_scan)
{
    unsigned visits = 0;

    start_threads(3);
    cr_assert(os_tasks_each(stop_at_once, &visits, NULL));
    end_threads(3);
    cr_assert(visits == 1);
}

static int lowest_free_descriptor(void)
{
    const int descriptor = dup(STDERR_FILENO);

    close(descriptor);
    return descriptor;
}

Test(os_tasks, no_descriptor_is_left_open)
{
    struct visits visits = {0};
    char name[OS_TASK_NAME_BYTES];
    const int before = lowest_free_descriptor();

    cr_assert(os_tasks_each(count_visit, &visits, NULL));
    cr_assert(os_task_name(os_gettid(), name));
    cr_assert(!os_task_name(INT32_MAX, name));
    cr_assert(lowest_free_descriptor() == before);
}

Test(os_tasks, without_descriptors_it_says_why_and_works_again_later)
{
    struct rlimit limit;
    struct jw_error err = {""};
    struct visits visits = {0};

    cr_assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const struct rlimit none = {0, limit.rlim_max};
    cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const bool is_read = os_tasks_each(count_visit, &visits, &err);
    cr_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    cr_assert(!is_read && visits.total == 0);
    cr_assert(strstr(err.message, "/proc/self/task: ") != NULL, "%s", err.message);
    cr_assert(os_tasks_each(count_visit, &visits, NULL) && visits.is_self_seen);
}

Test(os_tasks, a_name_is_read_without_its_newline)
{
    char name[OS_TASK_NAME_BYTES];

    cr_assert(pthread_setname_np(pthread_self(), "GC Thread#0") == 0);
    cr_assert(os_task_name(os_gettid(), name));
    cr_assert(strcmp(name, "GC Thread#0") == 0, "%s", name);
    cr_assert(pthread_setname_np(pthread_self(), "123456789012345") == 0);
    cr_assert(os_task_name(os_gettid(), name));
    cr_assert(strcmp(name, "123456789012345") == 0, "%s", name);
}

Test(os_tasks, a_thread_that_ended_is_neither_alive_nor_named)
{
    char name[OS_TASK_NAME_BYTES] = "before";

    start_threads(1);
    const int tid = jw_load_relaxed(&tids[0]);
    cr_assert(os_task_is_alive(tid));
    cr_assert(os_task_name(tid, name));
    end_threads(1);
    /* The kernel reaps a joined thread a moment later; the timeout of the suite bounds this. */
    while (os_task_is_alive(tid))
        ;
    cr_assert(!os_task_name(tid, name));
    cr_assert(name[0] == '\0');
}

Test(os_tasks, only_threads_of_this_process_are_alive)
{
    cr_assert(os_task_is_alive(os_gettid()));
    cr_assert(!os_task_is_alive(0));
    cr_assert(!os_task_is_alive(-1));
    cr_assert(!os_task_is_alive(INT32_MAX));
    cr_assert(!os_task_is_alive(getppid()));
}

Test(os_tasks, gettid_of_the_first_thread_is_the_process_id)
{
    cr_assert(os_gettid() == getpid());
}

Test(os_tasks, what_a_thread_used_grows_with_what_it_does_and_is_of_threads_of_this_process_alone)
{
    static char untouched[64 << 12];
    struct os_task_facts before, after;
    volatile uint64_t work = 0;

    cr_assert(os_task_facts(os_gettid(), &before));
    for (size_t i = 0; i < sizeof untouched; i += 4096)
        ((volatile char *)untouched)[i] = 1;
    for (int i = 0; i < 20000000; i++)
        work += (uint64_t)i;
    cr_assert(os_task_facts(os_gettid(), &after));
    cr_assert(after.minor_faults > before.minor_faults);
    cr_assert(after.cpu_ns > before.cpu_ns);
    cr_assert(after.user_ns >= before.user_ns && after.system_ns >= before.system_ns);
    cr_assert(!os_task_facts(INT32_MAX, &after));
}
