/* Runs the registered tests, each in a process of its own, and says `ok` or `not ok` for each. */
#include <criterion/criterion.h>

#undef cr_skip

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FAILED  97
#define STATUS_SKIPPED 98

static struct cr_test *tests;
static bool has_failed;

void cr_register(struct cr_test *test)
{
    struct cr_test **end = &tests;

    while (*end != NULL)
        end = &(*end)->next;
    *end = test;
}

void cr_tell_failed(bool fatal, const char *file, int line, const char *condition,
                    const char *format, ...)
{
    va_list arguments;

    has_failed = true;
    printf("  %s:%d: %s:", file, line, condition);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    if (fatal)
        _exit(STATUS_FAILED);
}

void cr_skip(const char *format, ...)
{
    va_list arguments;

    printf("  skipped:");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    _exit(STATUS_SKIPPED);
}

static const struct cr_options *suite_options(const char *suite)
{
    static const struct cr_options none;

    for (const struct cr_test *test = tests; test != NULL; test = test->next)
        if (test->name == NULL && strcmp(test->suite, suite) == 0)
            return &test->options;
    return &none;
}

static void run_child(const struct cr_test *test, const struct cr_options *suite)
{
    const struct cr_options *own = &test->options;
    void (*init)(void) = own->init != NULL ? own->init : suite->init;
    void (*fini)(void) = own->fini != NULL ? own->fini : suite->fini;
    const double timeout = own->timeout > 0 ? own->timeout : suite->timeout;

    alarm((unsigned)timeout); /* 0: none */
    if (init != NULL)
        init();
    test->run();
    if (fini != NULL)
        fini();
    fflush(NULL);
    _exit(has_failed ? STATUS_FAILED : 0);
}

/* True when the test ended as it should. */
static bool run_test(const struct cr_test *test)
{
    const struct cr_options *suite = suite_options(test->suite);
    const int signal_meant = test->options.signal != 0 ? test->options.signal : suite->signal;
    int status = 0;

    if (test->options.disabled || suite->disabled) {
        printf("NOT RUN %s::%s: disabled\n", test->suite, test->name);
        return true;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        run_child(test, suite);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        printf("not ok %s::%s: cannot start a process\n", test->suite, test->name);
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED) {
        printf("NOT RUN %s::%s\n", test->suite, test->name);
        return true;
    }
    const bool passed = signal_meant != 0
                            ? WIFSIGNALED(status) && WTERMSIG(status) == signal_meant
                            : WIFEXITED(status) && WEXITSTATUS(status) == test->options.exit_code;
    printf("%s %s::%s", passed ? "ok" : "not ok", test->suite, test->name);
    if (!passed && WIFSIGNALED(status))
        printf(": signal %d", WTERMSIG(status));
    printf("\n");
    return passed;
}

int main(void)
{
    int failed = 0;

    for (const struct cr_test *test = tests; test != NULL; test = test->next)
        if (test->name != NULL && !run_test(test))
            failed++;
    return failed == 0 ? 0 : 1;
}
