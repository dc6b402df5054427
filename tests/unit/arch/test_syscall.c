/* Where a signal finds a thread that waits in a system call, and what is known of that call. */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/falloc.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "support/task_state.h"

#define LONG_WAIT_S 1000

/* Thread sanitizer delivers a signal that another thread sent when the call is over. */
#if defined(__SANITIZE_THREAD__)
#define SKIP_WITH_TSAN() cr_skip_test("thread sanitizer puts off signals of a thread that waits")
#else
#define SKIP_WITH_TSAN() ((void)0)
#endif

static _Atomic int seen; /* signals that found the thread at a system call */
static enum arch_syscall_state seen_state;
static struct arch_syscall seen_call;
static bool was_cut;
static bool do_cut;
static bool do_end;

static void on_signal(int signo, siginfo_t *info, void *ucontext)
{
    const int saved_errno = errno;
    const enum arch_syscall_state state = arch_syscall_state(ucontext);

    (void)signo;
    (void)info;
    if (state != ARCH_SYSCALL_NONE && jw_load_relaxed(&seen) == 0) {
        seen_state = state;
        if (state == ARCH_SYSCALL_CUT)
            arch_syscall_read(ucontext, &seen_call);
        if (do_end)
            arch_syscall_end(ucontext, 77);
        if (do_cut)
            was_cut = arch_syscall_cut(ucontext);
        /* order TEST_SYSCALL: releases what was seen, for the waiting test. */
        jw_add_release(&seen, 1);
    }
    errno = saved_errno;
}

struct waiter {
    void (*wait)(void);
    _Atomic uint32_t tid;
};

static intptr_t got;
static int got_errno;
static int ends[2];

static void *run_waiter(void *argument)
{
    struct waiter *waiter = argument;

    jw_store_relaxed(&waiter->tid, (uint32_t)syscall(SYS_gettid));
    waiter->wait();
    got_errno = errno;
    return NULL;
}

/* Sends signals until one finds the thread at its call; a byte ends a call that is restarted. Only while it waits: on its
 * way it may be right before some other call. */
static void interrupt(void (*wait)(void), int flags, bool is_restarted)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
    struct waiter waiter = {.wait = wait};
    const struct timespec pause = {.tv_nsec = 200000};
    pthread_t thread;

    cr_assert(pipe(ends) == 0);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, run_waiter, &waiter);
    /* order TEST_SYSCALL: acquires what the handler saw. */
    while (jw_load_acquire(&seen) == 0) {
        if (task_is_asleep(jw_load_relaxed(&waiter.tid)))
            pthread_kill(thread, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    if (is_restarted)
        cr_assert(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
}

static const struct timespec long_time = {.tv_sec = LONG_WAIT_S};

static void wait_nanosleep(void)
{
    got = nanosleep(&long_time, NULL);
}

static void wait_clock(void)
{
    got = clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
}

static void wait_clock_absolute(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LONG_WAIT_S;
    got = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void wait_poll(void)
{
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};

    got = poll(&fd, 1, LONG_WAIT_S * 1000);
}

static struct pollfd watched;

static void wait_ppoll(void)
{
    watched = (struct pollfd){.fd = ends[0], .events = POLLIN};
    got = ppoll(&watched, 1, &long_time, NULL);
}

static void wait_ppoll_masked(void)
{
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};
    sigset_t none;

    sigemptyset(&none);
    got = ppoll(&fd, 1, &long_time, &none);
}

static void wait_select(void)
{
    struct timeval time = {.tv_sec = LONG_WAIT_S};

    got = select(0, NULL, NULL, NULL, &time);
}

static void wait_pselect_masked(void)
{
    sigset_t none;

    sigemptyset(&none);
    got = pselect(0, NULL, NULL, NULL, &long_time, &none);
}

static void wait_epoll(void)
{
    struct epoll_event event;

    got = epoll_wait(epoll_create1(0), &event, 1, LONG_WAIT_S * 1000);
}

static void wait_recv(void)
{
    const struct timeval time = {.tv_sec = LONG_WAIT_S};
    int pair[2];
    char byte;

    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    got = recv(pair[0], &byte, 1, 0);
}

static void wait_signal(void)
{
    sigset_t other;

    sigemptyset(&other);
    sigaddset(&other, SIGUSR2);
    got = sigtimedwait(&other, NULL, &long_time);
}

static void wait_read(void)
{
    char byte;

    got = read(ends[0], &byte, 1);
}

#if defined(__x86_64__)
/* As in glibc 2.41 and later: all calls that can be cancelled are made here, unless the flag says that this thread is not. */
__asm__(".text\n"
        ".type cancellable_call, @function\n"
        "cancellable_call:\n"
        "mov (%rdi),%eax\n"
        "testb $8,(%rdi)\n"
        "jne 1f\n"
        "mov %rdi,%r11\n"
        "mov %rsi,%rax\n"
        "mov %rdx,%rdi\n"
        "mov %rcx,%rsi\n"
        "mov %r8,%rdx\n"
        "mov %r9,%r10\n"
        "mov 8(%rsp),%r8\n"
        "mov 16(%rsp),%r9\n"
        "mov %r11,8(%rsp)\n"
        "syscall\n"
        "ret\n"
        "1: ud2\n"
        ".size cancellable_call, . - cancellable_call\n"
        ".type newer_call, @function\n"
        "newer_call:\n"
        "sub $0x18,%rsp\n"
        "lea newer_flag(%rip),%r11\n"
        "mov (%r11),%eax\n"
        "test $1,%al\n"
        "jne 2f\n"
        "mov %r11,8(%rsp)\n"
        "lea (%r11),%r10\n"
        "mov %rdx,%rax\n"
        "mov %rcx,%r11\n"
        "push %r9\n"
        "mov %rsi,%rcx\n"
        "mov %rdi,%rdx\n"
        "mov %r11,%r9\n"
        "push %r8\n"
        "mov 0x30(%rsp),%rsi\n"
        "mov %rax,%r8\n"
        "mov %r10,%rdi\n"
        "call cancellable_call\n"
        "pop %rcx\n"
        "pop %rsi\n"
        "add $0x18,%rsp\n"
        "ret\n"
        "2: mov %rcx,%r10\n"
        "mov 0x20(%rsp),%rax\n"
        "syscall\n"
        "add $0x18,%rsp\n"
        "ret\n"
        ".size newer_call, . - newer_call\n");
__attribute__((used)) int newer_flag;
long newer_call(long a, long b, long c, long d, long e, long f, long number);

static void wait_newer(void)
{
    const long result = newer_call((long)&watched, 1, (long)&long_time, 0, 8, 0, SYS_ppoll);

    got = result == -EINTR ? EINTR : result;
}

static void wait_newer_uncancelled(void)
{
    newer_flag = 1;
    wait_newer();
    newer_flag = 0;
}
#endif

static const struct call_case {
    const char *name;
    void (*wait)(void);
    long number;
    enum arch_syscall_kind kind;
    enum arch_syscall_state state;
} cases[] = {
    {"nanosleep", wait_nanosleep, -1, ARCH_SYSCALL_RESUMED, ARCH_SYSCALL_CUT},
    {"clock_nanosleep", wait_clock, SYS_clock_nanosleep, ARCH_SYSCALL_RESUMED, ARCH_SYSCALL_CUT},
    {"clock_nanosleep until", wait_clock_absolute, SYS_clock_nanosleep, ARCH_SYSCALL_ISSUED,
     ARCH_SYSCALL_CUT},
#if defined(__x86_64__)
    {"poll", wait_poll, SYS_poll, ARCH_SYSCALL_RESUMED, ARCH_SYSCALL_CUT},
#else
    {"poll", wait_poll, SYS_ppoll, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
#endif
    {"ppoll", wait_ppoll, SYS_ppoll, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
    {"ppoll with a mask", wait_ppoll_masked, SYS_ppoll, ARCH_SYSCALL_OTHER, ARCH_SYSCALL_CUT},
    {"select", wait_select, -1, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
    {"pselect with a mask", wait_pselect_masked, SYS_pselect6, ARCH_SYSCALL_OTHER,
     ARCH_SYSCALL_CUT},
    {"epoll_wait", wait_epoll, -1, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
    {"recv", wait_recv, SYS_recvfrom, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
    {"sigtimedwait", wait_signal, SYS_rt_sigtimedwait, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
#if defined(__x86_64__)
    {"glibc 2.41", wait_newer, SYS_ppoll, ARCH_SYSCALL_ISSUED, ARCH_SYSCALL_CUT},
    {"glibc 2.41, not cancelled", wait_newer_uncancelled, SYS_ppoll, ARCH_SYSCALL_ISSUED,
     ARCH_SYSCALL_CUT},
#endif
};

TestSuite(arch_syscall, .timeout = 1800);

/* Libraries are free in which system call they choose, so a number of -1 is not looked at. */
Test(arch_syscall, a_call_that_a_signal_cut_is_known_by_its_number_and_arguments)
{
    SKIP_WITH_TSAN();
    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        const struct call_case *one = &cases[i];

        jw_store_relaxed(&seen, 0);
        interrupt(one->wait, SA_RESTART, false);
        cr_assert(seen_state == one->state, "%s: state %d", one->name, (int)seen_state);
        cr_assert(one->number < 0 || seen_call.number == one->number, "%s: number %ld", one->name,
                  seen_call.number);
        cr_assert(seen_call.kind == one->kind, "%s: kind %d of call %ld", one->name,
                  (int)seen_call.kind, seen_call.number);
        cr_assert(got == -1 ? got_errno == EINTR : got == EINTR, "%s: %ld, %d", one->name,
                  (long)got, got_errno);
    }
}

Test(arch_syscall, the_first_argument_is_found_although_the_result_took_its_place)
{
    SKIP_WITH_TSAN();
    interrupt(wait_ppoll, SA_RESTART, false);
    cr_assert(seen_call.arguments[0] == (uintptr_t)&watched && seen_call.arguments[1] == 1);
    cr_assert(seen_call.arguments[2] != 0 && seen_call.arguments[3] == 0);
}

#if defined(__x86_64__)
Test(arch_syscall, m37_a_call_by_newer_libraries_is_known_with_all_its_arguments)
{
    SKIP_WITH_TSAN();
    interrupt(wait_newer, SA_RESTART, false);
    cr_assert(seen_call.number == SYS_ppoll && seen_call.arguments[0] == (uintptr_t)&watched);
    cr_assert(seen_call.arguments[1] == 1 && seen_call.arguments[2] == (uintptr_t)&long_time);
    cr_assert(seen_call.arguments[3] == 0 && seen_call.arguments[4] == 8);
}
#endif

Test(arch_syscall, a_call_gets_the_result_that_it_is_given)
{
    SKIP_WITH_TSAN();
    do_end = true;
    interrupt(wait_ppoll, 0, false);
    cr_assert(seen_state == ARCH_SYSCALL_CUT && got == 77);
}

Test(arch_syscall, a_call_that_the_kernel_restarts_is_seen_and_goes_on)
{
    SKIP_WITH_TSAN();
    interrupt(wait_read, SA_RESTART, true);
    cr_assert(seen_state == ARCH_SYSCALL_AGAIN && got == 1);
}

Test(arch_syscall, a_call_that_the_kernel_restarts_can_be_cut)
{
    SKIP_WITH_TSAN();
    do_cut = true;
    interrupt(wait_read, SA_RESTART, true);
    cr_assert(seen_state == ARCH_SYSCALL_AGAIN);
    cr_assert(was_cut ? got == -1 && got_errno == EINTR : got == 1, "%ld, %d", (long)got,
              got_errno);
}

Test(arch_syscall, calls_are_issued_with_all_their_arguments)
{
    const uintptr_t closing[ARCH_SYSCALL_ARGUMENTS] = {(uintptr_t)-1};
    uintptr_t paging[ARCH_SYSCALL_ARGUMENTS] = {0, 4096, 3, 0x22, (uintptr_t)-1, 0};

    errno = EXDEV;
    cr_assert(arch_syscall_issue(SYS_close, closing) == -EBADF && errno == EXDEV);
    const intptr_t page = arch_syscall_issue(SYS_mmap, paging);
    cr_assert(page > 0);
    *(char *)page = 1;
    paging[0] = (uintptr_t)page;
    cr_assert(arch_syscall_issue(SYS_munmap, paging) == 0);
}

/* Code that is no call, or whose number or argument cannot be known. */
static ucontext_t made;

static enum arch_syscall_state state_at(const void *code, size_t offset, intptr_t result)
{
    const uintptr_t pc = (uintptr_t)code + offset;

#if defined(__x86_64__)
    made.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    made.uc_mcontext.gregs[REG_RAX] = result;
#else
    made.uc_mcontext.pc = pc;
    made.uc_mcontext.regs[0] = (uint64_t)result;
#endif
    return arch_syscall_state(&made);
}

#if defined(__x86_64__)
static enum arch_syscall_kind kind_behind(const uint8_t *code, size_t length_bytes)
{
    struct arch_syscall call;

    cr_assert(state_at(code, length_bytes, -EINTR) == ARCH_SYSCALL_CUT);
    arch_syscall_read(&made, &call);
    return call.kind;
}

#define PADDING                                                                                    \
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,      \
        0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90

Test(arch_syscall, a_number_is_believed_only_where_all_code_up_to_the_call_is_understood)
{
    static const uint8_t plain[] = {PADDING, 0xb8, 7, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t loads[] = {PADDING, 0xb8, 7,    0,    0,    0,    0x8b, 0x7c, 0x24,
                                    8,       0x48, 0x8b, 0x74, 0x24, 0x10, 0x0f, 0x05};
    static const uint8_t into_eax[] = {PADDING, 0xb8, 7, 0, 0, 0, 0x8b, 0x44, 0x24, 8, 0x0f, 0x05};
    static const uint8_t strange[] = {PADDING, 0xb8, 7, 0, 0, 0, 0x89, 0xd0, 0x0f, 0x05};
    static const uint8_t moved[] = {PADDING, 0x48, 0x89, 0xf8, 0x0f, 0x05};
    static const uint8_t too_large[] = {PADDING, 0xb8, 7, 0, 1, 0, 0x0f, 0x05};

    cr_assert(kind_behind(plain, sizeof plain) == ARCH_SYSCALL_RESUMED);
    cr_assert(kind_behind(loads, sizeof loads) == ARCH_SYSCALL_RESUMED);
    cr_assert(kind_behind(into_eax, sizeof into_eax) == ARCH_SYSCALL_UNKNOWN);
    cr_assert(kind_behind(strange, sizeof strange) == ARCH_SYSCALL_UNKNOWN);
    cr_assert(kind_behind(moved, sizeof moved) == ARCH_SYSCALL_UNKNOWN);
    cr_assert(kind_behind(too_large, sizeof too_large) == ARCH_SYSCALL_UNKNOWN);
}

Test(arch_syscall, a_number_on_the_stack_is_believed_only_behind_code_that_put_it_there)
{
    /* The instruction before the call, up to where %rsp was. */
    static uint8_t passed[] = {PADDING, 0x48, 0x8b, 0x74, 0x24, 8, 0x49, 0x89, 0xc0,
                               0x4c,    0x89, 0xd7, 0xe8, 0,    0, 0,    0};
    static const uint8_t call[] = {0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7, 0x48, 0x89, 0xce, 0x4c, 0x89,
                                   0xc2, 0x4d, 0x89, 0xca, 0x4c, 0x8b, 0x44, 0x24, 8,    0x4c, 0x8b,
                                   0x4c, 0x24, 16,   0x4c, 0x89, 0x5c, 0x24, 8,    0x0f, 0x05};
    uintptr_t stack[] = {(uintptr_t)passed + sizeof passed, 0, SYS_poll};

    made.uc_mcontext.gregs[REG_RSP] = (greg_t)stack;
    cr_assert(kind_behind(call, sizeof call) == ARCH_SYSCALL_RESUMED);
    stack[2] = 1u << 20;
    cr_assert(kind_behind(call, sizeof call) == ARCH_SYSCALL_UNKNOWN, "no number");
    stack[2] = SYS_poll;
    passed[sizeof passed - 6] = 0xd6; /* mov %r10,%rsi */
    cr_assert(kind_behind(call, sizeof call) == ARCH_SYSCALL_UNKNOWN, "another second argument");
    passed[sizeof passed - 6] = 0xd7;
    passed[sizeof passed - 5] = 0xe9;
    cr_assert(kind_behind(call, sizeof call) == ARCH_SYSCALL_UNKNOWN, "no call");
    passed[sizeof passed - 5] = 0xe8;
    passed[sizeof passed - 7] = 0x8b;
    cr_assert(kind_behind(call, sizeof call) == ARCH_SYSCALL_UNKNOWN, "another instruction");
    made.uc_mcontext.gregs[REG_RSP] = 0;
}
/* Kernels from 6.9 on end it for the sake of a signal only when the process ends, so that no test sees it cut there. */
Test(arch_syscall, m37_room_for_a_file_is_asked_for_again_where_that_may_be_done_twice)
{
    static const uint8_t fallocate[] = {PADDING, 0xb8, 0x1d, 1, 0, 0, 0x0f, 0x05};

    made.uc_mcontext.gregs[REG_RSI] = 0;
    cr_assert(kind_behind(fallocate, sizeof fallocate) == ARCH_SYSCALL_ISSUED);
    made.uc_mcontext.gregs[REG_RSI] = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE;
    cr_assert(kind_behind(fallocate, sizeof fallocate) == ARCH_SYSCALL_ISSUED);
    made.uc_mcontext.gregs[REG_RSI] = FALLOC_FL_COLLAPSE_RANGE;
    cr_assert(kind_behind(fallocate, sizeof fallocate) == ARCH_SYSCALL_OTHER);
    made.uc_mcontext.gregs[REG_RSI] = FALLOC_FL_INSERT_RANGE;
    cr_assert(kind_behind(fallocate, sizeof fallocate) == ARCH_SYSCALL_OTHER);
}

/* {address of a mask, its length, address of a time-out}, or a mask itself. */
Test(arch_syscall, m37_a_wait_on_a_ring_is_issued_again_unless_it_changes_the_mask)
{
    static const uint8_t enter[] = {PADDING, 0xb8, 0xaa, 1, 0, 0, 0x0f, 0x05};
    static uint64_t argument[3];

    made.uc_mcontext.gregs[REG_R10] = IORING_ENTER_GETEVENTS;
    made.uc_mcontext.gregs[REG_R8] = 0;
    cr_assert(kind_behind(enter, sizeof enter) == ARCH_SYSCALL_ISSUED);
    made.uc_mcontext.gregs[REG_R8] = (greg_t)(uintptr_t)argument;
    cr_assert(kind_behind(enter, sizeof enter) == ARCH_SYSCALL_OTHER);
    made.uc_mcontext.gregs[REG_R10] = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    cr_assert(kind_behind(enter, sizeof enter) == ARCH_SYSCALL_ISSUED);
    argument[0] = (uint64_t)(uintptr_t)argument;
    cr_assert(kind_behind(enter, sizeof enter) == ARCH_SYSCALL_OTHER);
    argument[0] = 0;
    made.uc_mcontext.gregs[REG_R10] = IORING_ENTER_GETEVENTS | 1 << 20;
    cr_assert(kind_behind(enter, sizeof enter) == ARCH_SYSCALL_OTHER);
}

Test(arch_syscall, only_code_right_behind_a_call_with_its_result_counts)
{
    static const uint8_t code[] = {PADDING, 0xb8, 7, 0, 0, 0, 0x0f, 0x05, 0x90, 0x90};
    const size_t behind = sizeof code - 2;

    cr_assert(state_at(code, behind, -EINTR) == ARCH_SYSCALL_CUT);
    cr_assert(state_at(code, behind, -EAGAIN) == ARCH_SYSCALL_NONE);
    cr_assert(state_at(code, behind, 0) == ARCH_SYSCALL_NONE);
    cr_assert(state_at(code, behind + 1, -EINTR) == ARCH_SYSCALL_NONE);
    cr_assert(state_at(code, behind - 2, 7) == ARCH_SYSCALL_AGAIN);
    cr_assert(state_at(code, behind - 2, -EINTR) == ARCH_SYSCALL_NONE);
}
#else
static const uint32_t svc_code = 0xd4000001u;

static enum arch_syscall_kind kind_behind(const uint32_t *code, size_t count, uintptr_t *first)
{
    struct arch_syscall call;

    made.uc_mcontext.regs[8] = SYS_ppoll;
    made.uc_mcontext.regs[3] = 0;
    made.uc_mcontext.regs[20] = 0xfeedface12345678;
    cr_assert(state_at(code, count * sizeof *code, -EINTR) == ARCH_SYSCALL_CUT);
    arch_syscall_read(&made, &call);
    *first = call.arguments[0];
    return call.kind;
}

Test(arch_syscall, a_first_argument_is_believed_only_where_all_code_up_to_the_call_is_understood)
{
    /* b .+8; mov x0, x20; mov x1, x19; mov x3, #0; mov x8, #73; svc #0 */
    static const uint32_t plain[] = {0x14000002, 0xaa1403e0, 0xaa1303e1,
                                     0xd2800003, 0xd2800928, 0xd4000001};
    /* b .+8; mov w0, w20; ldp x1, x3, [sp, #48]; mov x8, #73; svc #0 */
    static const uint32_t narrow[] = {0x14000002, 0x2a1403e0, 0xa9430fe1, 0xd2800928, 0xd4000001};
    /* mov x0, x20; cbz w3, .+8; mov x8, #73; svc #0: somebody else may jump there */
    static const uint32_t branch[] = {0xaa1403e0, 0x34000043, 0xd2800928, 0xd4000001};
    /* mov x0, x20; add x0, x0, #1; mov x8, #73; svc #0 */
    static const uint32_t changed[] = {0xaa1403e0, 0x91000400, 0xd2800928, 0xd4000001};
    /* mov x0, x2; mov x8, #73; svc #0: x2 may be another's by now */
    static const uint32_t passing[] = {0xaa0203e0, 0xd2800928, 0xd4000001};
    uintptr_t first;

    cr_assert(kind_behind(plain, JW_COUNT_OF(plain), &first) == ARCH_SYSCALL_ISSUED);
    cr_assert(first == 0xfeedface12345678);
    cr_assert(kind_behind(narrow, JW_COUNT_OF(narrow), &first) == ARCH_SYSCALL_ISSUED);
    cr_assert(first == 0x12345678);
    cr_assert(kind_behind(branch, JW_COUNT_OF(branch), &first) == ARCH_SYSCALL_OTHER);
    cr_assert(kind_behind(changed, JW_COUNT_OF(changed), &first) == ARCH_SYSCALL_OTHER);
    cr_assert(kind_behind(passing, JW_COUNT_OF(passing), &first) == ARCH_SYSCALL_OTHER);
}

Test(arch_syscall, only_code_right_behind_a_call_with_its_result_counts)
{
    const uint32_t code[] = {0xd503201f, svc_code, 0xd503201f};

    cr_assert(state_at(code, 8, -EINTR) == ARCH_SYSCALL_CUT);
    cr_assert(state_at(code, 8, 0) == ARCH_SYSCALL_NONE);
    cr_assert(state_at(code, 4, -EINTR) == ARCH_SYSCALL_AGAIN);
    cr_assert(state_at(code, 12, -EINTR) == ARCH_SYSCALL_NONE);
}
#endif
