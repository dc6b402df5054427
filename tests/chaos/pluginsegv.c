/* A plugin that takes SIGSEGV for itself, allocates in its handler, and hands on what is not its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int plugin_take(void);
int plugin_give_back(void);
int plugin_probe(const volatile char *address);
long plugin_handed_on(void);

static struct sigaction previous;
static _Thread_local sigjmp_buf *volatile probing;
static _Atomic long handed_on;

static void on_fault(int signo, siginfo_t *info, void *context)
{
    /* What a handler must not do, and some do. */
    char *report = malloc(200);

    if (report != NULL)
        memset(report, signo, 200);
    free(report);
    if (probing != NULL) {
        sigjmp_buf *back = probing;

        probing = NULL;
        siglongjmp(*back, 1);
    }
    atomic_fetch_add(&handed_on, 1);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signo, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signo);
    else
        abort();
}

int plugin_take(void)
{
    struct sigaction own;

    memset(&own, 0, sizeof own);
    own.sa_sigaction = on_fault;
    own.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGSEGV, &own, &previous);
}

int plugin_give_back(void)
{
    return sigaction(SIGSEGV, &previous, NULL);
}

/* Whether the address can be read: 1, or 0. */
int plugin_probe(const volatile char *address)
{
    sigjmp_buf back;

    if (sigsetjmp(back, 1) != 0)
        return 0;
    probing = &back;
    (void)*address;
    probing = NULL;
    return 1;
}

long plugin_handed_on(void)
{
    return atomic_load(&handed_on);
}
