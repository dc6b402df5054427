/* Native stacks that are unwound a second time: of a program whose stack is known, by the libunwind that is here. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/memory.h"
#include "symbols/symbols.h"
#include "unwind/unwind_internal.h"

#define LEVELS     5
#define DEPTH      64
#define EVERY_NS   1 /* each */
#define FRAMES_MIN (LEVELS + 2)

static struct jw_error err;
static volatile int sink;
static uintptr_t
    pcs[DEPTH]; /* of the stack that `down` ends in, from its top on, as libunwind told once */
static uint32_t count;
static void (*in_handler)(const void *ucontext);

static uint64_t counted(enum jw_counter_id id)
{
    return jw_counter(id);
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    in_handler(ucontext);
}

static __attribute__((noinline)) int down(int level)
{
    if (level == 0) {
        /* Not raise, whose frames are the C library's. */
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

/* A view of the interrupted thread itself, whose stack stands still meanwhile. */
static void learn(const void *ucontext)
{
    static unsigned char bytes[UNWIND_COPY_BYTES];
    static struct unwind_library library;
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct unwind_view view = {.library = &library, .snapshot = snapshot};
    enum unwind_end end;

    cr_assert(unwind_library_load(&library, &err), "%s", err.message);
    unwind_registers(ucontext, view.registers);
    view.stack.start = view.registers[arch_facts.unwind_sp] - 128;
    view.stack.size_bytes = unwind_copy_stack(bytes, view.stack.start, sizeof bytes);
    view.stack.bytes = bytes;
    count = unwind_walk(&view, pcs, DEPTH, &end);
    cr_assert_eq(end, UNWIND_AT_ROOT);
    symbols_leave(snapshot);
}

static struct unwind_ours ours;

static void take(const void *ucontext)
{
    if (unwind_check_wants())
        unwind_check_take(ucontext, &ours);
}

/* What is done around a signal that lands below `down`. All of them land at one place, below the same calls. */
struct step {
    void (*before)(void);
    void (*in_handler)(const void *ucontext);
    void (*after)(void);
};

static void nothing(void)
{
}

static const struct step *steps;
static size_t step_count;

static void *run_steps(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < step_count; i++) {
        steps[i].before();
        in_handler = steps[i].in_handler;
        down(LEVELS);
        steps[i].after();
    }
    return NULL;
}

/* On a thread of its own, which begins where threads begin. */
static void run(const struct step *all, size_t all_count)
{
    pthread_t thread;

    steps = all;
    step_count = all_count;
    cr_assert(pthread_create(&thread, NULL, run_steps, NULL) == 0);
    pthread_join(thread, NULL);
}

#define RUN(all) run(all, JW_COUNT_OF(all))

static void on_fault(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    cr_assert(arch_fault_recover(ucontext));
}

static void prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    jw_memory_share(JW_MEMORY_DEFAULT_BYTES);
    cr_assert(sigaction(SIGTRAP, &action, NULL) == 0);
    action.sa_sigaction = on_fault;
    cr_assert(sigaction(SIGSEGV, &action, NULL) == 0);
    cr_assert(symbols_refresh(&err), "%s", err.message);
    cr_assert(unwind_check_open(EVERY_NS, &err), "%s", err.message);
    cr_assert(symbols_refresh(&err), "%s", err.message);
}

TestSuite(unwind_check, .init = prepare, .fini = symbols_close, .timeout = 1800);

static void set_ours(uint32_t frames, bool is_whole, bool is_cut)
{
    ours = (struct unwind_ours){
        .pcs = pcs, .count = frames, .outer_sp = 0, .is_whole = is_whole, .is_cut = is_cut};
}

static void ours_are_all(void)
{
    set_ours(count, true, false);
}

static void ours_are_as_wanted(void)
{
    set_ours(3, false, true);
}

static void ours_are_lost(void)
{
    set_ours(3, false, false);
}

static void ours_end_early(void)
{
    set_ours(3, true, false);
}

static void ours_have_one_more(void)
{
    pcs[count] = pcs[0];
    set_ours(count + 1, true, false);
}

static void ours_are_wrong(void)
{
    pcs[4] = (uintptr_t)prepare;
    set_ours(count, true, false);
}

static void expect_known(void)
{
    cr_assert(count >= FRAMES_MIN, "%u frames", count);
    for (int i = 2; i < LEVELS; i++)
        cr_assert_eq(pcs[i], pcs[1], "`down` calls itself at one place");
}

static void expect_equal(void)
{
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_CHECKED), 1);
    cr_assert_eq(counted(JW_COUNT_NATIVE_EQUAL), 1);
    cr_assert_eq(counted(JW_COUNT_NATIVE_FRAMES_EQUAL), count);
}

static void expect_equal_again(void)
{
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_EQUAL), 2);
}

static void expect_shorter(void)
{
    struct unwind_texts texts;

    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_SHORTER), 1);
    unwind_check_tell(&texts);
    cr_assert_str_empty(texts.off.message);
    cr_assert_str_empty(texts.different.message);
    cr_assert_not_null(strstr(texts.shorter.message, "frame 4 of 3, below down"), "%s",
                       texts.shorter.message);
}

static void expect_different(void)
{
    const uint64_t before = counted(JW_COUNT_NATIVE_DIFFERENT);

    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_DIFFERENT), before + 1);
}

static void expect_example(void)
{
    struct unwind_texts texts;

    expect_different();
    unwind_check_tell(&texts);
    cr_assert_not_null(strstr(texts.different.message, "frame 5 of "), "%s",
                       texts.different.message);
    cr_assert_not_null(strstr(texts.different.message, ": prepare"), "%s", texts.different.message);
    cr_assert_not_null(strstr(texts.different.message, "; by libunwind down"), "%s",
                       texts.different.message);
    cr_assert_eq(counted(JW_COUNT_NATIVE_CHECKED), 6);
}

Test(unwind_check, each_stack_is_counted_once_for_what_it_is)
{
    static const struct step all[] = {
        {nothing, learn, expect_known},
        {ours_are_all, take, expect_equal},
        {ours_are_as_wanted, take, expect_equal_again},
        {ours_are_lost, take, expect_shorter},
        {ours_end_early, take, expect_different},
        {ours_have_one_more, take, expect_different},
        {ours_are_wrong, take, expect_example},
    };

    RUN(all);
}

static void cut_copy(void)
{
    struct unwind_taken *copies = unwind_check_copies();

    cr_assert_eq(jw_load_acquire(&copies[0].state), UNWIND_COPY_FULL);
    /* Ends between the frames of `down`. */
    copies[0].size_bytes = 250;
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_NO_COPY), 1);
    cr_assert_eq(jw_load_acquire(&copies[0].state), UNWIND_COPY_FREE);
}

static void move_pc(void)
{
    struct unwind_taken *copies = unwind_check_copies();

    copies[0].registers[arch_facts.unwind_pc] = 64;
    copies[0].pcs[0] = 64;
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_NO_WAY), 1);
    cr_assert_eq(counted(JW_COUNT_NATIVE_DIFFERENT), 0);
}

Test(unwind_check, what_it_is_not_shown_it_does_not_guess)
{
    static const struct step all[] = {
        {nothing, learn, expect_known},
        {ours_are_all, take, cut_copy},
        {ours_are_all, take, move_pc}, /* to code of which nothing is said */
    };

    RUN(all);
}

static void expect_all(void)
{
    struct unwind_taken *copies = unwind_check_copies();

    for (int i = 0; i < UNWIND_COPIES; i++)
        cr_assert_eq(jw_load_acquire(&copies[i].state), UNWIND_COPY_FULL);
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_EQUAL), UNWIND_COPIES);
    cr_assert_eq(counted(JW_COUNT_NATIVE_NO_ROOM), 2);
}

static void expect_no_more(void)
{
    unwind_check_turn();
    cr_assert_eq(counted(JW_COUNT_NATIVE_CHECKED), UNWIND_COPIES);
    cr_assert_eq(counted(JW_COUNT_NATIVE_NO_ROOM), 2);
}

static void ours_are_too_many(void)
{
    static const uintptr_t many[UNWIND_DEPTH_MAX + 1];
    const struct unwind_ours deep = {.pcs = many, .count = UNWIND_DEPTH_MAX + 1};

    unwind_check_take(NULL, &deep);
    cr_assert_eq(counted(JW_COUNT_NATIVE_NO_ROOM), 3);
}

Test(unwind_check, as_many_are_taken_as_there_is_room_for_and_none_when_it_is_closed)
{
    struct step all[UNWIND_COPIES + 4] = {{nothing, learn, ours_are_all}};

    for (int i = 1; i < UNWIND_COPIES + 3; i++)
        all[i] = (struct step){nothing, take, i == UNWIND_COPIES + 2 ? expect_all : nothing};
    all[UNWIND_COPIES + 3] = (struct step){unwind_check_close, take, expect_no_more};
    RUN(all);
    ours_are_too_many();
}
