/* Native frames from real registers: of code that no library describes, and below a signal's handler. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "symbols/symbols.h"
#include "walk/walk_internal.h"

TestSuite(walk_native, .timeout = 1800, .fini = symbols_close);

#define FRAMES_MAX 16

/* As HotSpot's assembly: a function without a word about its frame, which it has not. The trap is where it is interrupted;
 * the third keeps a word on the stack, which hides its return address. */
#if defined(__x86_64__)
#define TRAP      "int3\n"
#define TRAP_SKIP 0
#define RETURN    "ret\n"
#define PUSH      "push $0\n"
#define POP       "pop %rax\n"
#else
#define TRAP      "brk #0\n"
#define TRAP_SKIP 4
#define RETURN    "ret\n"
#define PUSH      "str x30, [sp, #-16]!\n mov x30, xzr\n"
#define POP       "ldr x30, [sp], #16\n"
#endif
__asm__(
    ".text\n"
    ".balign 64\n"
    /* Global: binutils 2.40 for aarch64 takes the address of a local one for that of its section. */
    ".globl bare_function, pushing_function\n"
    ".hidden bare_function, pushing_function\n"
    ".type bare_function, %function\n"
    "bare_function:\n" TRAP RETURN ".size bare_function, . - bare_function\n"
    ".balign 64\n"
    ".type pushing_function, %function\n"
    "pushing_function:\n" PUSH TRAP POP RETURN ".size pushing_function, . - pushing_function\n"
    ".balign 64\n");
void bare_function(void);
void pushing_function(void);

static uintptr_t pcs[FRAMES_MAX];
static uint32_t count;
static enum walk_native_end end;
static enum walk_native_by by;

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    struct arch_regs regs;

    (void)number;
    (void)info;
    arch_regs_read(ucontext, &regs);
    count = walk_native_frames(ucontext, &regs, by, pcs, FRAMES_MAX, NULL, &end);
#if TRAP_SKIP
    ((ucontext_t *)ucontext)->uc_mcontext.pc += TRAP_SKIP;
#endif
}

static uintptr_t return_pc;

static __attribute__((noinline)) void call(void (*function)(void))
{
    return_pc = (uintptr_t)__builtin_return_address(0);
    function();
    __asm__ volatile("" ::: "memory"); /* the call is no jump */
}

static void prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct jw_error err = {0};

    cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
    cr_assert(symbols_build_rows(&err), "%s", err.message);
}

Test(walk_native, code_that_nothing_describes_is_left_by_its_return_address)
{
    prepare();
    call(bare_function);
    cr_assert(count >= 3, "%u frames", count);
    cr_expect(pcs[1] >= (uintptr_t)call && pcs[1] < (uintptr_t)call + 128, "frame 1 is %#lx",
              pcs[1]);
    cr_expect_eq(pcs[2], return_pc - 1);
}

/* All of a thread, down to the function of libc that began it. */
static void *run_bare(void *none)
{
    call(bare_function);
    return none;
}

Test(walk_native, the_first_function_of_a_thread_is_known_as_such)
{
    pthread_t thread;

    prepare();
    cr_assert_eq(pthread_create(&thread, NULL, run_bare, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect_eq(end, WALK_NATIVE_AT_ROOT, "%d behind %u frames", (int)end, count);
    cr_expect(count >= 4 && count < FRAMES_MAX, "%u frames", count);
}

static __attribute__((noinline)) void call_below(void (*function)(void), unsigned depth)
{
    if (depth > 0)
        call_below(function, depth - 1);
    else
        call(function);
    __asm__ volatile("" ::: "memory"); /* the call is no jump */
}

Test(walk_native, a_stack_deeper_than_wanted_is_told_from_one_that_is_lost)
{
    prepare();
    call_below(bare_function, FRAMES_MAX);
    cr_expect_eq(count, FRAMES_MAX);
    cr_expect_eq(end, WALK_NATIVE_CUT);
}

Test(walk_native, no_caller_is_made_up_where_code_that_nothing_describes_has_a_frame)
{
    prepare();
    call(pushing_function);
    cr_expect_eq(count, 1, "%u frames", count);
    cr_expect_eq(end, WALK_NATIVE_LOST);
}

/* Functions that keep a frame pointer, below one that has none: that one and its caller are left together. */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
keep_pointer(void (*function)(void), unsigned depth)
{
    if (depth > 0)
        keep_pointer(function, depth - 1);
    else
        function();
    __asm__ volatile("" ::: "memory"); /* the call is no jump */
}

Test(walk_native, frames_are_left_by_their_frame_pointers_alone_where_that_is_asked_for)
{
    prepare();
    by = WALK_BY_FRAME_POINTER;
    keep_pointer(bare_function, 4);
    cr_assert(count >= 5, "%u frames", count);
    for (uint32_t i = 1; i < 5; i++)
        cr_expect(pcs[i] >= (uintptr_t)keep_pointer && pcs[i] < (uintptr_t)keep_pointer + 256,
                  "frame %u is %#lx", i, pcs[i]);
}

static void on_trap_astray(int number, siginfo_t *info, void *ucontext)
{
    static uintptr_t words[8];
    struct arch_regs regs;

    (void)number;
    (void)info;
    arch_regs_read(ucontext, &regs);
    /* Above, aligned, with a caller above it: but nothing was called there, or nothing is known of the code. */
    for (int round = 0; round < 4; round++) {
        struct arch_regs from = regs;

        from.sp = (uintptr_t)words;
        from.fp = round == 0 ? 8 : (uintptr_t)&words[2] + (round == 1);
        words[2] = (uintptr_t)&words[6];
        words[3] = round == 2 ? (uintptr_t)bare_function : (uintptr_t)words;
        count +=
            walk_native_frames(NULL, &from, WALK_BY_FRAME_POINTER, pcs, FRAMES_MAX, NULL, &end);
    }
#if TRAP_SKIP
    ((ucontext_t *)ucontext)->uc_mcontext.pc += TRAP_SKIP;
#endif
}

Test(walk_native, a_frame_pointer_that_is_none_is_not_followed)
{
    struct sigaction action = {.sa_sigaction = on_trap_astray, .sa_flags = SA_SIGINFO};

    prepare();
    cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
    call(bare_function);
    cr_expect_eq(count, 4, "%u frames of 4 walks", count);
    cr_expect_eq(end, WALK_NATIVE_LOST);
}

/* -------- through the frames of signals ------------------------------------------------------ */

static uint32_t handler_count;
static uintptr_t handler_pcs[FRAMES_MAX], interrupted_pc;
static unsigned char signal_stack[1 << 16];

static void on_second(int number, siginfo_t *info, void *ucontext)
{
    struct arch_regs regs;

    (void)number;
    (void)info;
    arch_regs_read(ucontext, &regs);
    handler_count =
        walk_native_frames(ucontext, &regs, WALK_BY_ROWS, handler_pcs, FRAMES_MAX, NULL, &end);
}

static void on_first(int number, siginfo_t *info, void *ucontext)
{
    struct arch_regs regs;

    (void)number;
    (void)info;
    arch_regs_read(ucontext, &regs);
    interrupted_pc = regs.pc;
    raise(SIGUSR2);
#if TRAP_SKIP
    ((ucontext_t *)ucontext)->uc_mcontext.pc += TRAP_SKIP;
#endif
}

/* A trap interrupts a function, and a signal the handler of the trap. */
static void check_interrupted(int flags)
{
    struct sigaction first = {.sa_sigaction = on_first, .sa_flags = SA_SIGINFO | flags};
    struct sigaction second = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO};
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    uint32_t at = 0;

#if defined(__SANITIZE_THREAD__)
    cr_skip_test("thread sanitizer calls handlers from one of its own");
#endif
    prepare();
    cr_assert_eq(sigaltstack(&stack, NULL), 0);
    cr_assert_eq(sigaction(SIGTRAP, &first, NULL), 0);
    cr_assert_eq(sigaction(SIGUSR2, &second, NULL), 0);
    call(bare_function);
    /* What was interrupted is where it was, and no call before it. */
    while (at < handler_count && handler_pcs[at] != interrupted_pc)
        at++;
    cr_assert(at > 0 && at + 2 < handler_count, "not among %u frames", handler_count);
    cr_expect(handler_pcs[at + 1] >= (uintptr_t)call && handler_pcs[at + 1] < (uintptr_t)call + 128,
              "its caller is %#lx", handler_pcs[at + 1]);
    cr_expect_eq(handler_pcs[at + 2], return_pc - 1);
}

Test(walk_native, a_handler_stands_on_what_its_signal_interrupted)
{
    check_interrupted(0);
}

Test(walk_native, a_handler_on_a_stack_of_its_own_stands_on_what_its_signal_interrupted)
{
    check_interrupted(SA_ONSTACK);
}
