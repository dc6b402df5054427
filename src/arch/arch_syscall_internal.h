/* What both machines know of system calls. Room arch only. */
#ifndef JW_ARCH_ARCH_SYSCALL_INTERNAL_H
#define JW_ARCH_ARCH_SYSCALL_INTERNAL_H

#include "arch/arch.h"

/* Kind of a call with these arguments; ARCH_SYSCALL_OTHER where it is none of those that are known. */
JW_SIGNAL_SAFE enum arch_syscall_kind arch_syscall_kind_of(long number, const uintptr_t *arguments);

/* The same for calls that this machine alone has. Each machine has this function. */
JW_SIGNAL_SAFE enum arch_syscall_kind arch_syscall_own_kind(long number);

/* True for a call that SA_RESTART restarts, and which may end with EINTR. */
JW_SIGNAL_SAFE bool arch_syscall_is_restarted(long number, const uintptr_t *arguments);

#endif
