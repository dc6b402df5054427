/* A plugin with thread-local storage that the dynamic linker makes at its first use, and destructors of its own for
 * each thread. tls.c loads it while the threads that use it are there already. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The C++ runtime's way to have a destructor for each thread; the C library has it. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

#define BLOCK_WORDS 8192

static _Thread_local uint64_t block[BLOCK_WORDS] = {0x1122334455667788u, 1};
static _Thread_local int uses;
static _Thread_local _Atomic long *destroyed;

int plugin_has_destructors(void);
int plugin_use(uint64_t value, _Atomic long *count);

int plugin_has_destructors(void)
{
    return __cxa_thread_atexit_impl != NULL;
}

static void destroy(void *object)
{
    uint64_t *words = object;

    /* The block is still there, with what was written last. */
    if (words == block && words[BLOCK_WORDS - 1] == words[2])
        atomic_fetch_add(destroyed, 1);
}

/* 0, or the line of what was not as it should be. */
int plugin_use(uint64_t value, _Atomic long *count)
{
    if (uses++ == 0) {
        if (block[0] != 0x1122334455667788u || block[1] != 1)
            return __LINE__;
        for (size_t i = 2; i < BLOCK_WORDS; i++)
            if (block[i] != 0)
                return __LINE__;
        destroyed = count;
        if (__cxa_thread_atexit_impl != NULL &&
            __cxa_thread_atexit_impl(destroy, block, &__dso_handle) != 0)
            return __LINE__;
    } else if (block[2] != value - 1 || block[BLOCK_WORDS - 1] != value - 1) {
        return __LINE__;
    }
    block[2] = value;
    block[BLOCK_WORDS - 1] = value;
    return 0;
}
