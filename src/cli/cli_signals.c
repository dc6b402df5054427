/* Ctrl-C and its like, held back until what was begun is ended in order. Context: tool. */
#include <signal.h>
#include <time.h>

#include "cli/cli_internal.h"

static struct {
    sigset_t ends, before;
    unsigned depth;
    unsigned seen;
    int last;
} cli_signals;

void cli_signals_hold(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;

    if (cli_signals.depth++ > 0)
        return;
    cli_signals.seen = 0;
    sigemptyset(&cli_signals.ends);
    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++) {
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&cli_signals.ends, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &cli_signals.ends, &cli_signals.before);
}

unsigned cli_signals_seen(void)
{
    const struct timespec none = {0, 0};

    for (int number; (number = sigtimedwait(&cli_signals.ends, NULL, &none)) > 0;) {
        cli_signals.last = number;
        cli_signals.seen++;
    }
    return cli_signals.seen;
}

void cli_signals_release(bool obeys)
{
    if (--cli_signals.depth > 0)
        return;

    const bool has_seen = cli_signals_seen() > 0;
    sigprocmask(SIG_SETMASK, &cli_signals.before, NULL);
    if (has_seen && obeys)
        (void)raise(cli_signals.last);
}
