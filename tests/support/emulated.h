/* emulated - whether the process runs in an emulator of processes (qemu-user), whose kernel is another one. Context: tests. */
#ifndef JW_TESTS_EMULATED_H
#define JW_TESTS_EMULATED_H

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Such an emulator has no restart_syscall, is slow, and grows by what it translates. */
static inline bool is_emulated(void)
{
    return syscall(SYS_restart_syscall) != -1 || errno != EINTR;
}

#endif
