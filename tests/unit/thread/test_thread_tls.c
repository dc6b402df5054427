/* The block of thread-local storage. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "thread/thread_tls.h"

TestSuite(thread_tls, .timeout = 1800);

static bool is_zeroed(const struct thread_tls *tls)
{
    return jw_load_relaxed(&tls->guard) == NULL && jw_load_relaxed(&tls->handler_depth) == 0 &&
           jw_load_relaxed(&tls->tid) == 0;
}

static void *look(void *argument)
{
    *(bool *)argument = is_zeroed(thread_tls()) &&
                        thread_own_tid() == (uint32_t)syscall(SYS_gettid) &&
                        thread_own_tid() == thread_own_tid();
    return thread_tls();
}

Test(thread_tls, m28_each_thread_has_a_zeroed_block_and_its_own_number)
{
    pthread_t thread;
    bool is_right = false;
    void *other;

    cr_assert(is_zeroed(thread_tls()));
    cr_assert(thread_own_tid() == (uint32_t)getpid());
    pthread_create(&thread, NULL, look, &is_right);
    pthread_join(thread, &other);
    cr_assert(is_right && other != thread_tls());
}
