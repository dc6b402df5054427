/*
 * calls - the functions that stand between the shipped objects and what they call outside of jaywalk: the linker's --wrap
 *         puts them there (mk/test.mk, build/faults). Each asks what becomes of the call (calls_rules.c). Only calls of
 *         jaywalk are touched, never those of the JVM. Nothing of it is in the product; any, handler.
 */
#include "calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/jw.h"

#define PAGE_BYTES UINT64_C(4096)

/* ---- the functions themselves ---- */

#define FAULT_CALL(result, failure, name, parameters, arguments, errors)                           \
    result __real_##name parameters;
#define FAULT_ERROR(name, parameters, arguments, errors)    int __real_##name parameters;
#define FAULT_BYTES(name, parameters, arguments, errors)    ssize_t __real_##name parameters;
#define FAULT_BYTES_AT(name, parameters, arguments, errors) ssize_t __real_##name parameters;
#define FAULT_SPECIAL(name, errors)
#include "calls.def"
#undef FAULT_CALL
#undef FAULT_ERROR
#undef FAULT_BYTES
#undef FAULT_BYTES_AT
#undef FAULT_SPECIAL

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __real_close(int file);
char *__real_dlerror(void);
int __real_fcntl(int file, int what, ...);
char *__real_fgets(char *text, int bytes, FILE *file);
int __real_ioctl(int file, unsigned long what, ...);
void *__real_mremap(void *at, size_t before, size_t bytes, int flags, ...);
int __real_open(const char *path, int flags, ...);
int __real_openat(int directory, const char *path, int flags, ...);
int __real_prctl(int what, ...);
long __real_syscall(long number, ...);

/* ---- what stands between ---- */

/* SIGKILL stops a write between two pages, never inside one. Source: Linux, mm/filemap.c, generic_perform_write. */
static size_t half_in_pages(size_t length, off_t at)
{
    const uint64_t before = ((uint64_t)at + length / 2) / PAGE_BYTES * PAGE_BYTES;
    const uint64_t cut =
        before > (uint64_t)at ? before : ((uint64_t)at / PAGE_BYTES + 1) * PAGE_BYTES;

    return cut - (uint64_t)at < length ? cut - (uint64_t)at : length;
}

#define FRAME __builtin_frame_address(0)

#define FAULT_CALL(result, failure, name, parameters, arguments, errors)                           \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        const struct calls_fate fate = calls_next(#name, errors, FRAME);                           \
                                                                                                   \
        if (fate.what == CALLS_FAILS) {                                                            \
            errno = fate.error;                                                                    \
            return failure;                                                                        \
        }                                                                                          \
        result value = __real_##name arguments;                                                    \
        if (fate.what == CALLS_IS_TORN)                                                            \
            calls_die();                                                                           \
        return value;                                                                              \
    }

#define FAULT_ERROR(name, parameters, arguments, errors)                                           \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        const struct calls_fate fate = calls_next(#name, errors, FRAME);                           \
                                                                                                   \
        return fate.what == CALLS_FAILS ? fate.error : __real_##name arguments;                    \
    }

#define BYTES(name, parameters, arguments, errors, half)                                           \
    ssize_t __wrap_##name parameters;                                                              \
    ssize_t __wrap_##name parameters                                                               \
    {                                                                                              \
        const struct calls_fate fate = calls_next(#name, errors, FRAME);                           \
                                                                                                   \
        if (fate.what == CALLS_FAILS) {                                                            \
            errno = fate.error;                                                                    \
            return -1;                                                                             \
        }                                                                                          \
        if (fate.what == CALLS_IS_SHORT && length > 1)                                             \
            length /= 2;                                                                           \
        if (fate.what == CALLS_IS_TORN)                                                            \
            length = half;                                                                         \
        const ssize_t value = __real_##name arguments;                                             \
        if (fate.what == CALLS_IS_TORN)                                                            \
            calls_die();                                                                           \
        return value;                                                                              \
    }
#define FAULT_BYTES(name, parameters, arguments, errors)                                           \
    BYTES(name, parameters, arguments, errors, length > 1 ? length / 2 : length)
#define FAULT_BYTES_AT(name, parameters, arguments, errors)                                        \
    BYTES(name, parameters, arguments, errors, half_in_pages(length, at))
#define FAULT_SPECIAL(name, errors)
#include "calls.def"

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    /* The clocks of the machine do not fail; those of a thread do, when it is gone. */
    const char *name = clock == CLOCK_REALTIME    ? "clock_gettime.realtime"
                       : clock == CLOCK_MONOTONIC ? NULL
                                                  : "clock_gettime.thread";
    const struct calls_fate fate =
        name == NULL
            ? (struct calls_fate){.what = CALLS_GOES_ON}
            : calls_next(name, clock == CLOCK_REALTIME ? "JUMP-3600 JUMP+86400" : "EINVAL", FRAME);

    if (fate.what == CALLS_FAILS) {
        errno = fate.error;
        return -1;
    }
    const int value = __real_clock_gettime(clock, out);
    if (fate.what == CALLS_JUMPS)
        out->tv_sec += fate.seconds;
    return value;
}

/* The descriptor is gone, whatever close() says. */
int __wrap_close(int file);
int __wrap_close(int file)
{
    const struct calls_fate fate = calls_next("close", "EIO EINTR", FRAME);
    const int value = __real_close(file);

    if (fate.what != CALLS_FAILS)
        return value;
    errno = fate.error;
    return -1;
}

/* NULL after a call that never reached the loader. */
char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
    static char text[] = "made to fail";
    char *real = __real_dlerror();

    return real != NULL || !calls_have_rules() ? real : text;
}

/* Of those with one more argument than is named: it is passed on, also where nobody gave it. */
#define REST(after)                                                                                \
    va_list list;                                                                                  \
    va_start(list, after);                                                                         \
    const long rest = va_arg(list, long);                                                          \
    va_end(list)

#define FAILS_AS(name, errors, failure)                                                            \
    const struct calls_fate fate = calls_next(name, errors, FRAME);                                \
    if (fate.what == CALLS_FAILS) {                                                                \
        errno = fate.error;                                                                        \
        return failure;                                                                            \
    }

int __wrap_fcntl(int file, int what, ...);
int __wrap_fcntl(int file, int what, ...)
{
    REST(what);
    FAILS_AS("fcntl", "EMFILE", -1);
    return __real_fcntl(file, what, rest);
}

/* The stream remembers that it failed: so does one that is asked to take a character and is there to be read. */
char *__wrap_fgets(char *text, int bytes, FILE *file);
char *__wrap_fgets(char *text, int bytes, FILE *file)
{
    const struct calls_fate fate = calls_next("fgets", "EIO", FRAME);

    if (fate.what != CALLS_FAILS)
        return __real_fgets(text, bytes, file);
    (void)fputc(0, file);
    errno = fate.error;
    return NULL;
}

int __wrap_ioctl(int file, unsigned long what, ...);
int __wrap_ioctl(int file, unsigned long what, ...)
{
    REST(what);
    FAILS_AS("ioctl", "EIO", -1);
    return __real_ioctl(file, what, rest);
}

void *__wrap_mremap(void *at, size_t before, size_t bytes, int flags, ...);
void *__wrap_mremap(void *at, size_t before, size_t bytes, int flags, ...)
{
    REST(flags);
    FAILS_AS("mremap", "ENOMEM", MAP_FAILED);
    return __real_mremap(at, before, bytes, flags, rest);
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    REST(flags);
    FAILS_AS("open", "EMFILE ENOENT EACCES EINTR SLOW", -1);
    return __real_open(path, flags, (mode_t)rest);
}

int __wrap_openat(int directory, const char *path, int flags, ...);
int __wrap_openat(int directory, const char *path, int flags, ...)
{
    REST(flags);
    FAILS_AS("openat", "EMFILE ENOSPC EACCES EINTR ENOENT KILL", -1);
    return __real_openat(directory, path, flags, (mode_t)rest);
}

int __wrap_prctl(int what, ...);
int __wrap_prctl(int what, ...)
{
    va_list list;
    long rest[4];

    va_start(list, what);
    for (int i = 0; i < 4; i++)
        rest[i] = va_arg(list, long);
    va_end(list);
    FAILS_AS("prctl", "EINVAL", -1);
    return __real_prctl(what, rest[0], rest[1], rest[2], rest[3]);
}

static const struct {
    long number;
    const char *name, *errors;
} system_calls[] = {
    {SYS_futex, "futex", "EINTR EAGAIN"},
    {SYS_getdents64, "getdents64", "EIO ENOENT"},
    {SYS_perf_event_open, "perf_event_open", "EACCES EPERM EMFILE ENOENT ENOMEM ENOSYS"},
    {SYS_openat2, "openat2", "EMFILE ENOSYS EPERM"},
    {SYS_pidfd_open, "pidfd_open", "EMFILE ENOSYS EPERM"},
    {SYS_pidfd_send_signal, "pidfd_send_signal", "EPERM ESRCH"},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", "EAGAIN EPERM ESRCH"},
    {SYS_timer_create, "timer_create", "EAGAIN ENOMEM EINVAL EPERM"},
    {SYS_timer_delete, "timer_delete", "EINVAL"},
    {SYS_timer_settime, "timer_settime", "EINVAL"},
    {SYS_tgkill, "tgkill", "EAGAIN EPERM ESRCH"},
    {SYS_gettid, NULL, NULL}, /* cannot fail */
};

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    const char *name = "syscall", *errors = "EINVAL";
    va_list list;
    long rest[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        rest[i] = va_arg(list, long);
    va_end(list);
    for (size_t i = 0; i < JW_COUNT_OF(system_calls); i++) {
        if (system_calls[i].number == number) {
            name = system_calls[i].name;
            errors = system_calls[i].errors;
        }
    }
    /* The kernel wakes whom it is told to. */
    if (number == SYS_futex && (rest[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        name = NULL;
    if (name != NULL) {
        FAILS_AS(name, errors, -1);
    }
    return __real_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
}
