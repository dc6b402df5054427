/* The least that makes contained loads work: room arch is tested without room signals. */
#ifndef JW_TESTS_FAULT_HANDLER_H
#define JW_TESTS_FAULT_HANDLER_H

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"

#define STATUS_NOT_CONTAINED 77

static const struct arch_guard *fault_guard; /* a guarded call that faults may end */
static int faults_seen;

static inline void on_test_fault(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)info;
    faults_seen++;
    if (arch_fault_recover(ucontext))
        return;
    if (fault_guard == NULL || !arch_guard_land(ucontext, fault_guard))
        _exit(STATUS_NOT_CONTAINED);
}

static inline void install_fault_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_test_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    fault_guard = NULL;
    faults_seen = 0;
}

/* The last address of `page_count` readable pages, behind which nothing is mapped. */
static inline unsigned char *map_before_hole(size_t page_count)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, (page_count + 1) * page_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(pages + page_count * page_bytes, page_bytes, PROT_NONE);
    return pages + page_count * page_bytes;
}

#endif
