/* What a run must not do to the process that it is in: change what it interrupts, leave a signal without a handler,
 * or anything behind. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/atomics.h"
#include "os/os_timer.h"
#include "unit/sampler/outcomes.h"

/* Thread sanitizer calls handlers at moments and with contexts of its own. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN true
#else
#define WITH_TSAN false
#endif

#define INDEX_BITS 14
#define SAMPLES    200

TestSuite(sampler_host, .init = open_run, .timeout = 1800);

static const struct sampler_config config = {
    .interval_ns = 10 * JW_NS_PER_SECOND, /* no signal but those that the test makes up */
    .depth_max = 64,
    .cpu = SAMPLER_CPU_TIMER,
    .with_native = true,
};

static bool start(void)
{
    struct sampler_config mine = config;

    mine.generations = generations;
    return sampler_start(&mine, &err);
}

/* What is there of registers beside the context itself. Source: Linux, arch/x86/include/uapi/asm/sigcontext.h,
 * struct _fpx_sw_bytes: at byte 464 of the state a magic number, behind it the size of the whole. */
#define REGISTERS_MAX 16384

static size_t registers_of(const void *ucontext, const unsigned char **bytes)
{
#if defined(__x86_64__)
    const ucontext_t *context = ucontext;
    uint32_t words[2] = {0, 0};

    *bytes = (const unsigned char *)context->uc_mcontext.fpregs;
    if (*bytes == NULL)
        return 0;
    memcpy(words, *bytes + 464, sizeof words);
    return words[0] == 0x46505853 && words[1] <= REGISTERS_MAX ? words[1] : 512;
#else
    (void)ucontext;
    *bytes = NULL;
    return 0; /* they are inside of the context */
#endif
}

static const struct itimerval never = {{0, 0}, {0, 0}};

static struct {
    struct sigaction handler;
    siginfo_t info;
    unsigned changed;
    _Atomic unsigned taken;
} shown;

/* Shows the handler of SIGPROF the very context that this signal interrupted. */
static void show(int signo, siginfo_t *info, void *ucontext)
{
    static ucontext_t context;
    static unsigned char registers[REGISTERS_MAX];
    const unsigned char *now;
    const int saved_errno = errno;

    (void)signo;
    (void)info;
    const size_t register_bytes = registers_of(ucontext, &now);
    memcpy(&context, ucontext, sizeof context);
    memcpy(registers, now, register_bytes);
    errno = EXDEV;
    shown.handler.sa_sigaction(SIGPROF, &shown.info, ucontext);
    shown.changed += errno != EXDEV || memcmp(&context, ucontext, sizeof context) != 0 ||
                     memcmp(registers, now, register_bytes) != 0;
    /* On a machine where this takes as long as the timer, the test comes to nothing else. */
    if (jw_add_relaxed(&shown.taken, 1) + 1 == SAMPLES)
        setitimer(ITIMER_REAL, &never, NULL);
    errno = saved_errno;
}

static double work(unsigned depth)
{
    return depth == 0 ? 1.0 : work(depth - 1) * 1.0000001 + (double)depth;
}

Test(sampler_host, m05_what_a_sample_interrupts_goes_on_with_what_it_had)
{
    const struct sigaction action = {.sa_sigaction = show, .sa_flags = SA_SIGINFO};
    const struct itimerval often = {{0, 500}, {0, 500}};
    const uint64_t before = jw_counter(JW_COUNT_SAMPLES);
    volatile double sum = 0;

    if (WITH_TSAN)
        cr_skip_test("thread sanitizer calls handlers with contexts of its own");
    cr_assert(start(), "%s", err.message);
    sampler_scan();
    const thread_index own = thread_find((uint32_t)os_gettid());
    cr_assert(ne(u32, own, THREAD_NONE));
    sigaction(SIGPROF, NULL, &shown.handler);
    shown.info.si_signo = SIGPROF;
    shown.info.si_code = SI_TIMER;
    shown.info.si_value.sival_ptr =
        (void *)signals_cookie((uint32_t)(thread_serial(own) << INDEX_BITS) | own);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (jw_load_relaxed(&shown.taken) < SAMPLES)
        sum = sum + work(200);
    setitimer(ITIMER_REAL, &never, NULL);
    cr_assert(eq(uint, shown.changed, 0));
    cr_assert(ge(u64, jw_counter(JW_COUNT_SAMPLES) - before, SAMPLES));
    cr_assert(sampler_stop(DRAIN_NS));
}

/* From now on the kernel answers so whoever installs a handler of SIGPROF: with this error, or with success and
 * no handler (0). */
static void refuse_handlers(uint32_t answer)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGPROF, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {JW_COUNT_OF(filter), filter};

    if (WITH_TSAN)
        cr_skip_test("thread sanitizer has its own table of handlers, and does not ask the kernel");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        cr_skip_test("seccomp is not allowed here");
}

/* The start fails, and no timer is there that would end the process: it uses far more than an interval. */
static void expect_no_start(const char *words)
{
    struct sampler_config mine = config;

    mine.generations = generations;
    mine.interval_ns = JW_NS_PER_MS;
    for (int try = 0; try < 2; try++) {
        jw_error_clear(&err);
        cr_assert(not(sampler_start(&mine, &err)));
        cr_assert(strstr(err.message, words) != NULL, "%s", err.message);
    }
    for (uint64_t used_ns = 0; used_ns < 100 * JW_NS_PER_MS;)
        cr_assert(os_thread_cpu_ns(os_gettid(), &used_ns));
}

Test(sampler_host, m40_without_a_handler_no_timer_is_armed)
{
    refuse_handlers(EINVAL);
    expect_no_start("SIGPROF: cannot install a handler");
}

Test(sampler_host, m40_a_handler_that_is_not_there_in_spite_of_success_is_noticed)
{
    refuse_handlers(0);
    expect_no_start("SIGPROF");
}

static unsigned timers(void)
{
    char line[256];
    unsigned count = 0;
    FILE *from = fopen("/proc/self/timers", "re");

    while (from != NULL && fgets(line, sizeof line, from) != NULL)
        count += strncmp(line, "ID:", 3) == 0;
    if (from != NULL)
        fclose(from);
    return count;
}

static int tasks(void)
{
    int count = 0;

    cr_assert(os_tasks_each(count_task, &count, NULL));
    return count;
}

Test(sampler_host, m67_a_stop_leaves_no_timer_and_no_thread)
{
    struct sampler_config mine = config;
    const int before = tasks();

    mine.generations = generations;
    mine.wall_interval_ns = 100 * JW_NS_PER_MS;
    for (int i = 0; i < 3; i++) {
        cr_assert(sampler_start(&mine, &err), "%s", err.message);
        sampler_scan();
        cr_assert(ge(int, tasks(), before + 1)); /* the one that keeps the wall clock */
        if (access("/proc/self/timers", F_OK) == 0)
            cr_assert(ge(uint, timers(), 1));
        cr_assert(sampler_stop(DRAIN_NS));
        cr_assert(eq(uint, timers(), 0));
        while (tasks() > before) /* joined, and still shown for a moment */
            usleep(100);
    }
}
