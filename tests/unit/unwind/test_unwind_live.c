/* The sealed libunwind on a stack that is known, and where it has no room, no blocks, no stack, or faults. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/memory.h"
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "unwind/unwind_live.h"
#include "unwind/unwind_sealed_internal.h"

#define LEVELS      5
#define DEPTH       64
#define STACK_BYTES ((size_t)64 << 10)
#define PAINT       0xa5

static struct jw_error err;
static volatile int sink;
static void (*in_handler)(const void *ucontext);
static unsigned char signal_stack[STACK_BYTES] __attribute__((aligned(16)));

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    in_handler(ucontext);
#if defined(__aarch64__)
    ((ucontext_t *)ucontext)->uc_mcontext.pc += 4;
#endif
}

static __attribute__((noinline)) int down(int level)
{
    if (level == 0) {
#if defined(__x86_64__)
        __asm__ volatile("int3" ::: "memory");
#else
        __asm__ volatile("brk #0" ::: "memory");
#endif
        return sink;
    }
    sink = down(level - 1) + 1;
    return sink;
}

static int (*begin_with)(int level) = down;

/* Short, so that a pc is known to be in it. */
static __attribute__((noinline)) int start(void)
{
    sink = begin_with(LEVELS) + 1;
    return sink;
}

static void *run(void *unused)
{
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    stack_t before;

    (void)unused;
    memset(signal_stack, PAINT, sizeof signal_stack);
    cr_assert_eq(sigaltstack(&stack, &before), 0);
    sink = start();
    cr_assert_eq(sigaltstack(&before, NULL),
                 0); /* a sanitizer frees its own when the thread ends */
    return NULL;
}

/* In the handler of a signal that lands in `down`, on a thread of its own. */
static void inside(void (*what)(const void *ucontext))
{
    pthread_t thread;

    in_handler = what;
    cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
    pthread_join(thread, NULL);
}

static void prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    jw_memory_share(JW_MEMORY_DEFAULT_BYTES);
    cr_assert(sigaction(SIGTRAP, &action, NULL) == 0);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    cr_assert(symbols_refresh(&err), "%s", err.message);
    if (unwind_sealed_why[0] != '\0')
        return;
    cr_assert(unwind_live_open(&err), "%s", err.message);
}

TestSuite(unwind_live, .init = prepare, .fini = symbols_close, .timeout = 1800);

/* What is built here may have none (unwind_sealed_why); then nothing of it can be tested but that it says so. */
#define ONLY_WITH_LIBUNWIND()                                                                      \
    do {                                                                                           \
        if (unwind_sealed_why[0] != '\0')                                                          \
            cr_skip_test("%s", unwind_sealed_why);                                                 \
    } while (0)

Test(unwind_live, who_has_none_says_why_and_what_to_use)
{
    if (unwind_sealed_why[0] == '\0') {
        cr_assert_not_null(unwind_sealed.step);
        cr_assert((uintptr_t)unwind_sealed_begin < (uintptr_t)unwind_sealed_end);
        return;
    }
    cr_assert_not(unwind_live_open(&err));
    cr_assert_not_null(strstr(err.message, unwind_sealed_why), "%s", err.message);
    cr_assert_not_null(strstr(err.message, "use cstack=vm"), "%s", err.message);
}

/* -------- steps ------------------------------------------------------------------------------ */

static uintptr_t pcs[DEPTH], sps[DEPTH];
static uint32_t count;
static bool has_begun, has_ended;

static void walk(const void *ucontext)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct unwind_live *live = unwind_live_begin(ucontext, snapshot);
    struct arch_regs regs;
    bool is_exact = true;

    has_begun = live != NULL;
    has_ended = false;
    count = 0;
    arch_regs_read(ucontext, &regs);
    while (live != NULL && count < DEPTH && !has_ended) {
        pcs[count] = regs.pc - (is_exact ? 0 : 1);
        sps[count++] = regs.sp;
        if (!unwind_live_step(live, &regs, &is_exact))
            break;
        has_ended = regs.pc == 0;
    }
    if (live != NULL)
        unwind_live_end(live);
    symbols_leave(snapshot);
}

static bool is_in(uintptr_t pc, const void *function)
{
    return pc >= (uintptr_t)function && pc - (uintptr_t)function < 512;
}

static void check_whole(void)
{
    cr_assert(has_begun && has_ended, "%d, after %u frames", has_begun, count);
    cr_assert_geq(count, LEVELS + 3);
    for (uint32_t i = 0; i <= LEVELS; i++)
        cr_assert(is_in(pcs[i], (const void *)down), "frame %u is at %#lx", i, pcs[i]);
    cr_assert(is_in(pcs[LEVELS + 1], (const void *)start));
    /* Where calls leave the return address in a register a leaf may have no bytes, nor has what begins a thread. */
    for (uint32_t i = 1; i < count; i++)
        cr_assert(sps[i] > sps[i - 1] || (arch_facts.has_link_register && sps[i] == sps[i - 1] &&
                                          (i == 1 || i + 1 == count)),
                  "frame %u of %u", i, count);
    cr_assert_eq(unwind_sealed_taken(), 0);
}

Test(unwind_live, it_leaves_each_frame_down_to_where_the_thread_began)
{
    ONLY_WITH_LIBUNWIND();
    inside(walk);
    check_whole();
}

/* -------- return addresses that are signed --------------------------------------------------- */

#if defined(__aarch64__)
#define SIGNED __attribute__((noinline, target("branch-protection=pac-ret+leaf")))
#else
#define SIGNED __attribute__((noinline))
#endif

/* Ends in a leaf that has no frame, whose return address is signed in its register. */
static SIGNED int signed_leaf(int level)
{
#if defined(__x86_64__)
    __asm__ volatile("int3" ::: "memory");
#else
    __asm__ volatile("brk #0" ::: "memory");
#endif
    return level;
}

static SIGNED int signed_down(int level)
{
    if (level == 0)
        return signed_leaf(sink) + 1;
    sink = signed_down(level - 1) + 1;
    return sink;
}

static unsigned signed_count;

/* By frame pointers: how many return addresses are not what they are without their signature. */
static void walk_signed(const void *ucontext)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    signed_count = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        uintptr_t pair[2];

        if (!safe_load_bytes(pair, regs.fp, sizeof pair))
            break;
        signed_count += arch_code_address(pair[1]) != pair[1];
        regs.fp = pair[0];
    }
    walk(ucontext);
}

Test(unwind_live, frames_whose_return_addresses_are_signed_are_left_as_others)
{
    ONLY_WITH_LIBUNWIND();
    begin_with = signed_down;
    inside(walk_signed);
    begin_with = down;
    cr_assert(has_begun && has_ended, "%d, after %u frames", has_begun, count);
    cr_assert(is_in(pcs[0], (const void *)signed_leaf));
    for (uint32_t i = 1; i <= LEVELS + 1; i++)
        cr_assert(is_in(pcs[i], (const void *)signed_down), "frame %u is at %#lx", i, pcs[i]);
    cr_assert(is_in(pcs[LEVELS + 2], (const void *)start));
    cr_assert_eq(unwind_sealed_taken(), 0);
#if defined(__aarch64__)
    cr_assert_geq(signed_count, LEVELS - 1,
                  "this processor signs nothing, so that nothing was shown");
#endif
}

Test(unwind_live, a_description_is_shown_without_what_is_refused)
{
    /* def_cfa_offset 0x2d, advance_loc 1, negate_ra_state, offset x29 at 0x2d words, expression of 0x2d of two bytes, negate_ra_state */
    static const unsigned char before[] = {0x0e, 0x2d, 0x41, 0x2d, 0x9d, 0x2d, 0x10,
                                           0x2d, 2,    0x2d, 0x2d, 0x2d, 0};
    static const unsigned char after[] = {0x0e, 0x2d, 0x41, 0,    0x9d, 0x2d, 0x10,
                                          0x2d, 2,    0x2d, 0x2d, 0,    0};
    static const struct {
        unsigned char bytes[4];
        uint32_t size_bytes;
    } damaged[] = {
        {{0x0f, 3, 0x2d, 0x2d}, 4}, /* an expression that is cut off */
        {{0x03, 1}, 2},             /* a distance that is */
        {{0x0e, 0x80, 0x80}, 3},    /* a number that is */
        {{0x0e}, 1},                /* and one that is not there */
        {{0x01, 0, 0, 0}, 4},       /* an address of a size that is not known */
        {{0x3f, 0, 0, 0}, 4},       /* an instruction that is not known */
    };
    unsigned char bytes[sizeof before];

    memcpy(bytes, before, sizeof bytes);
    cr_assert(unwind_program_hide(bytes, sizeof bytes, 0x2d));
    cr_assert_eq(memcmp(bytes, after, sizeof after), 0);
    for (size_t i = 0; i < JW_COUNT_OF(damaged); i++) {
        memcpy(bytes, damaged[i].bytes, damaged[i].size_bytes);
        cr_assert_not(unwind_program_hide(bytes, damaged[i].size_bytes, 0x2d), "%zu", i);
    }
}

static uintptr_t handler_frame;

static void walk_on_paint(const void *ucontext)
{
    handler_frame = (uintptr_t)__builtin_frame_address(0);
    walk(ucontext);
}

/* With the kernel's frame of a load that faults, 4 KiB at the most, it is what is asked for. */
Test(unwind_live, it_takes_no_more_stack_than_half_of_what_is_asked_for)
{
    const unsigned char *at = signal_stack;

    ONLY_WITH_LIBUNWIND();
#if defined(__SANITIZE_ADDRESS__)
    cr_skip_test("address sanitizer pads frames");
#endif
    inside(walk_on_paint);
    check_whole();
    while (at < signal_stack + sizeof signal_stack && *at == PAINT)
        at++;
    const uintptr_t used_bytes = handler_frame - (uintptr_t)at;
    cr_log_info("%lu bytes of stack", (unsigned long)used_bytes);
    cr_assert_gt(used_bytes, 512);
    cr_assert_lt(used_bytes, arch_facts.unwind_stack_bytes / 2);
}

/* -------- where it cannot -------------------------------------------------------------------- */

static void fill_rooms(const void *ucontext)
{
    struct unwind_live *rooms[UNWIND_LIVE_ROOMS];
    const struct symbols_snapshot *snapshot = symbols_enter();

    for (uint32_t i = 0; i < UNWIND_LIVE_ROOMS; i++)
        cr_assert_not_null(rooms[i] = unwind_live_begin(ucontext, snapshot));
    walk(ucontext);
    cr_assert_not(has_begun);
    for (uint32_t i = 0; i < UNWIND_LIVE_ROOMS; i++)
        unwind_live_end(rooms[i]);
    symbols_leave(snapshot);
    walk(ucontext);
}

Test(unwind_live, where_all_rooms_are_taken_there_is_no_walk_until_one_is_free)
{
    ONLY_WITH_LIBUNWIND();
    inside(fill_rooms);
    check_whole();
}

static void take_blocks(const void *ucontext)
{
    void *blocks[64];

    for (uint32_t i = 0; i < JW_COUNT_OF(blocks); i++)
        cr_assert_not_null(blocks[i] = unwind_sealed_take(&unwind_sealed_entries));
    cr_assert_null(unwind_sealed_take(&unwind_sealed_entries));
    walk(ucontext);
    cr_assert(has_begun && !has_ended);
    cr_assert_eq(count, 1);
    for (uint32_t i = 0; i < JW_COUNT_OF(blocks); i++)
        unwind_sealed_give(&unwind_sealed_entries, blocks[i]);
    walk(ucontext);
}

Test(unwind_live, where_all_blocks_are_taken_the_walk_ends_and_the_next_goes_on)
{
    ONLY_WITH_LIBUNWIND();
    inside(take_blocks);
    check_whole();
}

static void walk_without_words(const void *ucontext)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct unwind_live *live = unwind_live_begin(ucontext, snapshot);
    struct arch_regs regs;
    bool is_exact;

    cr_assert_not_null(live);
    live->words_left = 3;
    cr_assert_not(unwind_live_step(live, &regs, &is_exact));
    unwind_live_end(live);
    symbols_leave(snapshot);
}

Test(unwind_live, what_reads_without_end_is_ended)
{
    ONLY_WITH_LIBUNWIND();
    inside(walk_without_words);
    cr_assert_eq(unwind_sealed_taken(), 0);
}

static void fault(const void *ucontext)
{
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct unwind_live *live = unwind_live_begin(ucontext, snapshot);
    struct arch_regs regs;
    bool is_exact;

    cr_assert_not_null(live);
    live->cursor.space = NULL;
    cr_assert_not(unwind_live_step(live, &regs, &is_exact));
    unwind_live_end(live);
    symbols_leave(snapshot);
    walk(ucontext);
}

Test(unwind_live, after_a_fault_inside_of_it_it_is_not_called_any_more)
{
    ONLY_WITH_LIBUNWIND();
    const uint64_t before = jw_counter(JW_COUNT_WALK_FAULTS);

    inside(fault);
    cr_assert_not(has_begun);
    cr_assert_eq(jw_counter(JW_COUNT_WALK_FAULTS), before + 1);
    cr_assert(unwind_live_is_off(&err));
    cr_assert_not_null(strstr(err.message, "a memory fault came inside of it"), "%s", err.message);
    cr_assert_not(unwind_live_open(&err));
}

static void ask_for_more(const void *ucontext)
{
    cr_assert_eq(unwind_sealed_unforeseen(), -1);
    walk(ucontext);
}

Test(unwind_live, what_it_has_no_reason_to_call_is_its_last_call)
{
    ONLY_WITH_LIBUNWIND();
    inside(ask_for_more);
    cr_assert_not(has_begun && has_ended);
    cr_assert(unwind_live_is_off(&err));
    cr_assert_not_null(strstr(err.message, "it asked for what a handler has not"), "%s",
                       err.message);
}

static void look_at_stack(const void *ucontext)
{
    ucontext_t copy;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    memcpy(&copy, ucontext, sizeof copy);
    cr_assert(unwind_live_has_stack(&copy));
    copy.uc_stack.ss_sp = (void *)(here - arch_facts.unwind_stack_bytes / 2);
    copy.uc_stack.ss_size = arch_facts.unwind_stack_bytes * 2;
    cr_assert_not(unwind_live_has_stack(&copy));
    copy.uc_stack.ss_sp = (void *)(here - arch_facts.unwind_stack_bytes * 2);
    copy.uc_stack.ss_size = arch_facts.unwind_stack_bytes * 4;
    cr_assert(unwind_live_has_stack(&copy));
}

Test(unwind_live, an_alternate_stack_that_is_short_is_seen)
{
    inside(look_at_stack);
}
