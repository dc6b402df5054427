/* Which system calls a signal interrupts, and how each can go on; every machine. Handler context. */
#include "arch/arch_syscall_internal.h"

#include <linux/falloc.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* the same number on every machine since Linux 5.11 */
#endif
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426 /* the same number on every machine since Linux 5.1 */
#endif

/* Source: Linux, include/uapi/linux/io_uring.h. */
#define RING_ENTER_ARGUMENT    (1u << 3) /* the fifth argument points to {address of a mask, ...} */
#define RING_ENTER_KNOWN_FLAGS 0xfu

/*
 * Calls that ERESTART_RESTARTBLOCK ends: what is left of their time stands in the thread's restart
 * block. An absolute time-out has none; such a call is issued again and is exact.
 * Source: Linux, kernel/time/hrtimer.c (hrtimer_nanosleep), posix-cpu-timers.c, alarmtimer.c.
 */
JW_SIGNAL_SAFE static enum arch_syscall_kind sleep_kind(const uintptr_t *arguments)
{
    return arguments[1] & TIMER_ABSTIME ? ARCH_SYSCALL_ISSUED : ARCH_SYSCALL_RESUMED;
}

/* Source: Linux, kernel/futex/waitwake.c: FUTEX_WAIT and FUTEX_WAIT_BITSET with a time-out. Without
 * one the kernel restarts them, and the others end with ERESTARTNOINTR or not at all. */
JW_SIGNAL_SAFE static enum arch_syscall_kind futex_kind(const uintptr_t *arguments)
{
    const uintptr_t command = arguments[1] & (uintptr_t)FUTEX_CMD_MASK;

    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ? ARCH_SYSCALL_RESUMED
                                                                 : ARCH_SYSCALL_OTHER;
}

/* A call that changes the signal mask while it waits was made to be interrupted, and its caller relies
 * on that to the last instruction: left alone. */
JW_SIGNAL_SAFE static enum arch_syscall_kind unmasked_kind(uintptr_t mask_addr)
{
    return mask_addr == 0 ? ARCH_SYSCALL_ISSUED : ARCH_SYSCALL_OTHER;
}

/* The sixth argument points to {address of the mask, its length}. */
JW_SIGNAL_SAFE static enum arch_syscall_kind pselect_kind(uintptr_t addr)
{
    uintptr_t mask_addr = 0;

    if (addr != 0 && !safe_load_word(addr, &mask_addr))
        return ARCH_SYSCALL_OTHER;
    return unmasked_kind(mask_addr);
}

/* Ends with EINTR only when it has taken nothing from the program: then the same call goes on waiting.
 * Source: Linux, io_uring/io_uring.c (io_uring_enter, io_get_ext_arg). */
JW_SIGNAL_SAFE static enum arch_syscall_kind ring_kind(const uintptr_t *arguments)
{
    uintptr_t mask_addr = arguments[4];

    if (arguments[3] & ~(uintptr_t)RING_ENTER_KNOWN_FLAGS)
        return ARCH_SYSCALL_OTHER;
    if (arguments[3] & RING_ENTER_ARGUMENT && !safe_load_word(arguments[4], &mask_addr))
        return ARCH_SYSCALL_OTHER;
    return unmasked_kind(mask_addr);
}

/* A file in memory gives back what it got so far, so that a program that tries again never gets it all
 * while signals come. What may be done twice goes on. Source: Linux, mm/shmem.c (shmem_fallocate). */
JW_SIGNAL_SAFE static enum arch_syscall_kind allocation_kind(uintptr_t mode)
{
    const uintptr_t repeatable = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;

    return mode & ~repeatable ? ARCH_SYSCALL_OTHER : ARCH_SYSCALL_ISSUED;
}

/* Without a time-out of the socket (or on no socket) the kernel restarts the call: then a signal of
 * somebody else's, without SA_RESTART, ended it. */
JW_SIGNAL_SAFE static enum arch_syscall_kind socket_kind(uintptr_t fd, int option)
{
    struct timeval time = {0, 0};
    socklen_t length_bytes = sizeof time;
    const uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS] = {
        fd, SOL_SOCKET, (uintptr_t)option, (uintptr_t)&time, (uintptr_t)&length_bytes};

    if (arch_syscall_issue(SYS_getsockopt, arguments) != 0 ||
        (time.tv_sec == 0 && time.tv_usec == 0))
        return ARCH_SYSCALL_OTHER;
    return ARCH_SYSCALL_ISSUED;
}

/*
 * Calls that end with EINTR under SA_RESTART too. Of select, pselect6 and ppoll the kernel writes the
 * time that is left where the time-out stood; message queues wait without one; of the others a
 * relative time-out begins anew.
 * Source: signal(7); Linux, fs/select.c (poll_select_finish), fs/eventpoll.c, kernel/signal.c,
 * ipc/sem.c, ipc/msg.c, fs/aio.c, include/net/sock.h (sock_intr_errno).
 */
enum arch_syscall_kind arch_syscall_kind_of(long number, const uintptr_t *arguments)
{
    switch (number) {
    case SYS_nanosleep:
        return ARCH_SYSCALL_RESUMED;
    case SYS_clock_nanosleep:
        return sleep_kind(arguments);
    case SYS_futex:
        return futex_kind(arguments);
    case SYS_pselect6:
        return pselect_kind(arguments[5]);
    case SYS_ppoll:
        return unmasked_kind(arguments[3]);
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return unmasked_kind(arguments[4]);
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_io_getevents:
        return ARCH_SYSCALL_ISSUED;
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_read:
    case SYS_readv:
        return socket_kind(arguments[0], SO_RCVTIMEO);
    case SYS_connect:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_write:
    case SYS_writev:
        return socket_kind(arguments[0], SO_SNDTIMEO);
    case SYS_io_uring_enter:
        return ring_kind(arguments);
    case SYS_fallocate:
        return allocation_kind(arguments[1]);
    default:
        return arch_syscall_own_kind(number);
    }
}

bool arch_syscall_is_restarted(long number, const uintptr_t *arguments)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
        return true;
    case SYS_futex:
        return futex_kind(arguments) == ARCH_SYSCALL_RESUMED;
    default:
        return false;
    }
}
