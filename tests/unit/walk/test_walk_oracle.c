/*
 * Native stacks beside libunwind's, at many points of code of many kinds: on x86-64 each few instructions, by the
 * processor's own trap behind each instruction; everywhere else, and there as well, where a signal of another thread lands.
 */
#include <criterion/criterion.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "signals/signals.h"
#include "symbols/symbols.h"
#include "unit/walk/oracle.h"
#include "unwind/unwind_live.h"
#include "unwind/unwind_sealed_internal.h"

TestSuite(walk_oracle, .timeout = 1800);

#define NOINLINE    __attribute__((noinline))
#define STACK_BYTES ((size_t)256 << 10)
#if defined(__x86_64__)
#define MEET_MAX    100 /* stacks taken by signals of another thread, of one kind of code */
#define REACHED_MIN 6000
#else
#define MEET_MAX    150
#define REACHED_MIN 1200
#endif
#define ENOUGH     300 /* stacks: the code is not run again */
#define GAP_MEAN   13  /* instructions from one stack to the next, on an average */
#define STACKS_MAX 700 /* of one kind of code */

typedef int code(void);

static volatile int sink;
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* -------- who takes stacks ------------------------------------------------------------------- */

static unsigned until_next, taken;
static volatile bool is_meeting, is_paused;
static _Atomic bool is_met;

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
#if defined(__x86_64__)
    if (taken >= STACKS_MAX)
        ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
#endif
    if (until_next-- > 0)
        return;
    until_next = (unsigned)(next_random() % (2 * GAP_MEAN));
    taken++;
    oracle_take(ucontext);
}

static void on_meeting(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    if (!is_paused)
        oracle_take(ucontext);
    atomic_store(&is_met, true);
}

/* From here on each instruction is followed by SIGTRAP; a handler of another signal begins without it. */
static inline void trap_on(void)
{
    is_paused = false;
#if defined(__x86_64__)
    if (!is_meeting)
        __asm__ volatile(
            "lea -128(%%rsp),%%rsp\n pushfq\n orq $0x100,(%%rsp)\n popfq\n lea 128(%%rsp),%%rsp" ::
                : "memory", "cc");
#endif
}

/* No stacks from here on: around the change from one stack to another, where registers are of both. */
static inline void trap_off(void)
{
    is_paused = true;
#if defined(__x86_64__)
    __asm__ volatile(
        "lea -128(%%rsp),%%rsp\n pushfq\n andq $~0x100,(%%rsp)\n popfq\n lea 128(%%rsp),%%rsp" ::
            : "memory", "cc");
#endif
}

/* -------- code of many kinds ----------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static NOINLINE int run_libc(void)
{
    static char from[5000], to[5000];
    int numbers[60], sum = 0;
    char text[200];
    void *blocks[40];

    for (int i = 0; i < 60; i++)
        numbers[i] = (int)(next_random() & 0xfff);
    qsort(numbers, 60, sizeof numbers[0], compare_numbers);
    for (size_t i = 0; i < 40; i++) {
        memcpy(to, from + i, i * i * 3);
        memmove(to + 1, to, i * 50);
        memset(from, (int)i, i * 60);
        blocks[i] = malloc(i * i * 100 + 1);
        sum += (int)strlen(to + i) + (memchr(from, 7, i * 20) != NULL) + memcmp(from, to, i * 9);
    }
    for (size_t i = 0; i < 40; i++)
        blocks[i] = realloc(blocks[i], i * 77 + 3);
    for (size_t i = 0; i < 40; i++)
        free(blocks[i]);
    snprintf(text, sizeof text, "%d %s %.7f %lx %*d", 42, "text", 3.25e11, 0xbeefUL, 12, sum);
    sum += (int)strtod(text + 8, NULL) + atoi(text) + (strstr(text, "beef") != NULL);
    return sum + numbers[3];
}

static NOINLINE int run_resolver(void)
{
    struct addrinfo *list = NULL, hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    int sum = getaddrinfo("127.0.0.1", "80", &hints, &list);

    if (list != NULL)
        freeaddrinfo(list);
    return sum;
}

static NOINLINE int run_clocks(void)
{
    struct timespec now;
    struct timeval day;

    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    clock_getres(CLOCK_MONOTONIC, &now);
    gettimeofday(&day, NULL);
    return (int)time(NULL) + sched_getcpu() + (int)now.tv_sec;
}

/* zlib, where there is one. */
static int (*z_compress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long,
                         int);
static unsigned long (*z_crc)(unsigned long, const unsigned char *, unsigned);

static NOINLINE int run_zlib(void)
{
    static unsigned char to[6000];
    unsigned long to_bytes = sizeof to;
    /* What there is to read in: the code of this very function, and what comes before it. */
    const unsigned char *from = (const unsigned char *)run_clocks;
    return z_compress(to, &to_bytes, from, 1000, 6) + (int)(z_crc(0, from, 1000) & 7);
}

static unsigned char other_stack[1 << 16];

/* A handler that another signal interrupts, and one on a stack of its own. */
static void on_inner(int number)
{
    oracle_trampoline((uintptr_t)__builtin_return_address(0));
    trap_on();
    sink = sink + number;
    (void)run_clocks();
}

static void on_outer(int number)
{
    trap_on();
    sink = sink + number;
    raise(SIGUSR2);
    sink = sink + 1;
}

static NOINLINE int run_signals(void)
{
    raise(SIGUSR1);
    return sink;
}

static NOINLINE int run_signal_stack(void)
{
    stack_t now = {.ss_sp = other_stack, .ss_size = sizeof other_stack}, before;

    sigaltstack(&now, &before);
    oracle.regions[0].offset = (uintptr_t)__builtin_frame_address(0) - 2048;
    raise(SIGURG);
    oracle.regions[0].offset = 0;
    sigaltstack(&before, NULL);
    return sink;
}

/* Two stacks that take turns. */
static ucontext_t this_side, other_side;
static code *on_other_side;

static void run_on_other_side(void)
{
    oracle.root_pcs[1] = (uintptr_t)__builtin_return_address(0);
    trap_on();
    for (int i = 0; i < 3; i++) {
        sink = sink + on_other_side();
        trap_off();
        swapcontext(&other_side, &this_side);
        trap_on();
    }
    trap_off();
}

static NOINLINE int run_contexts(void)
{
    trap_off();
    getcontext(&other_side);
    other_side.uc_stack = (stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack};
    other_side.uc_link = &this_side;
    on_other_side = run_clocks;
    makecontext(&other_side, run_on_other_side, 0);
    for (int i = 0; i < 4; i++) {
        swapcontext(&this_side, &other_side);
        trap_on();
        sink = sink + 1;
        trap_off();
    }
    trap_on();
    return sink;
}

/* -------- code that is compiled here --------------------------------------------------------- */

static char directory[] = "/tmp/jaywalk-oracle-XXXXXX";

static const char *either(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value == NULL || value[0] == '\0' ? otherwise : value;
}

#if defined(__x86_64__)
#define HOST_CC  either("CC", "cc")
#define HOST_CXX either("CXX", "g++")
#define ZLIB     "libz.so.1"
#else
#define HOST_CC  either("CC_aarch64", "aarch64-linux-gnu-gcc")
#define HOST_CXX either("CXX_aarch64", "aarch64-linux-gnu-g++")
#define ZLIB     "build/arm64-tree/lib/aarch64-linux-gnu/libz.so.1"
#endif

/* NULL: no compiler for it, or none that knows the options. */
static code *load(const char *compiler, const char *options, const char *source,
                  const char *function)
{
    static unsigned number;
    char command[1024], path[128];
    code *run;

    snprintf(path, sizeof path, "%s/lib%u.so", directory, number++);
    snprintf(command, sizeof command, "%s -w -shared -fPIC %s -o %s %s -lm 2>/dev/null", compiler,
             options, path, source);
    if (system(command) != 0)
        return NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    unlink(path);
    if (library == NULL)
        return NULL;
    *(void **)&run = dlsym(library, function);
    return run;
}

/* -------- one kind of code ------------------------------------------------------------------- */

static struct oracle_result sum;
static code *under_test;
static _Atomic bool is_begun, is_done;

static NOINLINE int run_under_test(void)
{
    oracle.root_pcs[0] = (uintptr_t)__builtin_return_address(0);
    atomic_store(&is_begun, true);
    for (int i = 0; !is_meeting && i < 40 && taken < ENOUGH; i++) {
        trap_on();
        sink = sink + under_test();
        trap_off();
    }
    if (!is_meeting)
        return 0;
    while (!atomic_load(&is_done))
        sink = sink + under_test();
    return 0;
}

static void *run_thread(void *unused)
{
    pthread_attr_t attributes;
    void *start;
    size_t size_bytes;

    (void)unused;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &start, &size_bytes);
    pthread_attr_destroy(&attributes);
    oracle.regions[0] = (struct oracle_copy){.start = (uintptr_t)start, .size_bytes = size_bytes};
    sink = sink + run_under_test();
    return NULL;
}

/* Signals from here, each when the one before has been handled. */
static void meet(pthread_t thread)
{
    while (!atomic_load(&is_begun))
        sched_yield();
    for (int i = 0; i < MEET_MAX; i++) {
        atomic_store(&is_met, false);
        if (pthread_kill(thread, SIGPROF) != 0)
            break;
        while (!atomic_load(&is_met))
            sched_yield();
        for (uint64_t pause = next_random() % 3000; pause > 0; pause--)
            sink = sink + 1;
    }
    atomic_store(&is_done, true);
}

static void add(const char *name, const struct oracle_result *result)
{
    cr_log_info("%-44s %5u taken, %5u reached, %5u equal, %5u whole, %5.1f frames, deepest %u, %u "
                "signal frames, in handlers %u, %u equal, and of others %u, %u",
                name, result->taken, result->reached, result->equal, result->whole,
                result->reached == 0 ? 0.0 : (double)result->frames / result->reached,
                result->deepest, result->signal_frames, result->live, result->live_equal,
                result->alone, result->alone_equal);
    if (result->live_message[0] != '\0')
        cr_log_info("%s: %u differ in handlers; the first: %s", name,
                    result->live - result->live_equal + result->alone - result->alone_equal,
                    result->live_message);
    if (result->differences > 0)
        cr_log_info("%s: %u differ; the first: %s", name, result->differences, result->message);
    sum.taken += result->taken;
    sum.reached += result->reached;
    sum.equal += result->equal;
    sum.live += result->live;
    sum.live_equal += result->live_equal;
    sum.alone += result->alone;
    sum.alone_equal += result->alone_equal;
    sum.whole += result->whole;
    sum.signal_frames += result->signal_frames;
    if (result->differences > 0 && sum.differences == 0)
        memcpy(sum.message, result->message, sizeof sum.message);
    if (result->live_message[0] != '\0' && sum.live_message[0] == '\0')
        memcpy(sum.live_message, result->live_message, sizeof sum.live_message);
    sum.differences += result->differences;
}

static void run_part(const char *name, code *run, bool by_meeting)
{
    pthread_t thread;
    pthread_attr_t attributes;
    struct jw_error err = {0};

    if (run == NULL) {
        cr_log_info("%s: not to be had here", name);
        return;
    }
    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    oracle_begin();
    under_test = run;
    is_meeting = by_meeting;
    until_next = taken = 0;
    is_paused = false;
    atomic_store(&is_begun, false);
    atomic_store(&is_done, false);
    oracle.region_count = 2;
    oracle.regions[1] =
        (struct oracle_copy){.start = (uintptr_t)other_stack, .size_bytes = sizeof other_stack};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    cr_assert_eq(pthread_create(&thread, &attributes, run_thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    if (by_meeting)
        meet(thread);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    const struct oracle_result result = oracle_compare();
    add(name, &result);
}

/* By the trap where there is one. */
static void one(const char *name, code *run)
{
#if defined(__x86_64__)
    run_part(name, run, false);
#else
    run_part(name, run, true);
#endif
}

static void both(const char *name, code *run)
{
#if defined(__x86_64__)
    run_part(name, run, false);
#endif
    run_part(name, run, true);
}

static void prepare(void)
{
    const struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    const struct sigaction meeting = {.sa_sigaction = on_meeting,
                                      .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct sigaction outer = {.sa_handler = on_outer};
    const struct sigaction inner = {.sa_handler = on_inner};
    const struct sigaction aside = {.sa_handler = on_inner, .sa_flags = SA_ONSTACK};
    struct jw_error err = {0};
    void *zlib = dlopen(ZLIB, RTLD_LAZY | RTLD_LOCAL);

    sigaction(SIGTRAP, &trap, NULL);
    sigaction(SIGPROF, &meeting, NULL);
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
    sigaction(SIGURG, &aside, NULL);
    if (zlib != NULL) {
        *(void **)&z_compress = dlsym(zlib, "compress2");
        *(void **)&z_crc = dlsym(zlib, "crc32");
    }
    /* Where a stack is taken, what lies on it may be anything. */
    cr_assert(signals_own_faults(&err), "%s", err.message);
    oracle.is_live = unwind_live_open(&err);
    if (!oracle.is_live)
        cr_log_info("%s", err.message);
    cr_assert(mkdtemp(directory) != NULL);
}

Test(walk_oracle, every_native_stack_is_what_libunwind_makes_of_it)
{
    static const char shapes[] = "tests/unit/symbols/shapes.c";
    static const char *const options[] = {
        "-O0",
        "-O2 -fomit-frame-pointer",
        "-O2 -fno-omit-frame-pointer",
        "-Os -fno-plt",
        "-O2 -fplt -Wl,-z,lazy",
        "-O3 -fexceptions -fstack-protector-all",
#if defined(__x86_64__)
        "-O3 -mavx2 -mstackrealign",
        "-O2 -fcf-protection=full",
#else
        "-O2 -mbranch-protection=standard",
#endif
    };

    prepare();
    both("libc", run_libc);
    one("getaddrinfo", run_resolver);
    both("vdso", run_clocks);
    both("zlib", z_compress == NULL || z_crc == NULL ? NULL : run_zlib);
    both("signals", run_signals);
    one("a stack for signals", run_signal_stack);
    one("contexts", run_contexts);
    for (size_t i = 0; i < JW_COUNT_OF(options); i++)
        one(options[i], load(HOST_CC, options[i], shapes, "shapes_run"));
    one("clang -O2", load("clang", "-O2 -fomit-frame-pointer", shapes, "shapes_run"));
    both("exceptions", load(HOST_CXX, "-O2", "tests/unit/walk/throws.cc", "throws_run"));
    one("exceptions -O0", load(HOST_CXX, "-O0", "tests/unit/walk/throws.cc", "throws_run"));
    rmdir(directory);
    symbols_close();

    cr_log_info("%u taken, %u reached, %u equal, %u whole", sum.taken, sum.reached, sum.equal,
                sum.whole);
    cr_assert_gt(sum.reached, REACHED_MIN, "only %u of %u reached", sum.reached, sum.taken);
    cr_assert_gt(sum.signal_frames, 100, "only %u signal frames", sum.signal_frames);
    /* Signed return addresses are beyond libunwind 1.6.2; and a stack that it cannot end is to be ended by us. */
    cr_assert((sum.taken - sum.whole) * 100ull <= sum.taken, "only %u of %u whole", sum.whole,
              sum.taken);
    /* What it does in handlers is what it does on copies, and leaves nothing behind. */
    cr_assert(sum.live == (oracle.is_live ? sum.reached : 0), "%u of %u in handlers", sum.live,
              sum.reached);
    cr_assert((sum.live - sum.live_equal) * 1000ull <= sum.live,
              "%u of %u differ in handlers; the first: %s", sum.live - sum.live_equal, sum.live,
              sum.live_message);
#if defined(__aarch64__)
    /* Signed return addresses are left in handlers, and not by the library: there it is held to rows. */
    cr_assert(!oracle.is_live || sum.alone > 100, "only %u of code that is signed", sum.alone);
    cr_assert((sum.alone - sum.alone_equal) * 1000ull <= sum.alone,
              "%u of %u differ from rows in handlers; the first: %s", sum.alone - sum.alone_equal,
              sum.alone, sum.live_message);
#endif
    cr_assert_eq(unwind_sealed_taken(), 0);
    cr_assert((sum.reached - sum.equal) * 1000ull <= sum.reached, "%u of %u differ; the first: %s",
              sum.reached - sum.equal, sum.reached, sum.message);
}
