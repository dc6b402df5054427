/*
 * lazy_git - keeps libgit2 asleep until a test shows the difference of two texts.
 *
 * Criterion 2.4 readies libgit2, which draws its differences, in each process that it starts, and that is one for each test.
 * libgit2 then reads every certificate of the system: 15 ms of CPU time in each test, 30 under a sanitizer, which was a third
 * of what the lanes took. So what Criterion calls is here: readying does nothing, and is done before the first difference.
 *
 * Context  unit tests, any thread of Criterion's.   Source  libgit2 1.5, git2/global.h and git2/diff.h.
 */
#include <dlfcn.h>
#include <stddef.h>

#define SEEN_BY_CRITERION __attribute__((visibility("default")))

typedef int simple_function(void);
typedef int diff_function(const void *, size_t, const char *, const void *, size_t, const char *,
                          const void *, void *, void *, void *, void *, void *);

SEEN_BY_CRITERION simple_function git_libgit2_init, git_libgit2_shutdown;
SEEN_BY_CRITERION diff_function git_diff_buffers;

int git_libgit2_init(void)
{
    return 1; /* how often it was called */
}

int git_libgit2_shutdown(void)
{
    return 0;
}

int git_diff_buffers(const void *old, size_t old_bytes, const char *old_name, const void *new,
                     size_t new_bytes, const char *new_name, const void *options, void *on_file,
                     void *on_binary, void *on_hunk, void *on_line, void *payload)
{
    simple_function *const ready = (simple_function *)dlsym(RTLD_NEXT, "git_libgit2_init");
    diff_function *const diff = (diff_function *)dlsym(RTLD_NEXT, "git_diff_buffers");

    if (ready == NULL || diff == NULL || ready() < 0)
        return -1;
    return diff(old, old_bytes, old_name, new, new_bytes, new_name, options, on_file, on_binary,
                on_hunk, on_line, payload);
}
