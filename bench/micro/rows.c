/*
 * rows - what native frames cost: to prepare for those of a JVM's libraries, and to leave one.
 *
 * Usage: rows ROUNDS LIBRARY... Maps the libraries, prepares the rows of all of them from nothing in each round, and
 * walks one stack of its own by rows, by frame pointers and by libunwind. Prints lines of Markdown: medians, and the least
 * behind them. bench/micro/run gives it the libraries that a JVM maps at start.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "unwind/unwind_live.h"

static void die(const char *what)
{
    fprintf(stderr, "rows: %s\n", what);
    exit(1);
}

#define cr_assert(condition) ((condition) ? (void)0 : die(#condition))
#include "../../tests/unit/walk/oracle.h"

#define DEPTH      40
#define CALLS      2000 /* walks a round */
#define REMOTE     50
#define ROUNDS_MAX 101
#define FRAME                                                                                      \
    __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

static double values[ROUNDS_MAX];
static unsigned rounds, value_count;
static uintptr_t stack_end; /* of what is copied */

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(void)
{
    qsort(values, value_count, sizeof values[0], by_value);
    return values[value_count / 2];
}

/* Code of the libraries that were named, and of the vDSO, which every process has. */
static char **wanted;
static int wanted_count;
static uintptr_t wanted_pcs[128];
static unsigned wanted_pc_count;

static void note_wanted(const struct symbols_library_facts *facts, void *unused)
{
    (void)unused;
    bool is_wanted = strcmp(facts->name, "[vdso]") == 0;

    for (int i = 0; i < wanted_count; i++) {
        const char *slash = strrchr(wanted[i], '/');

        is_wanted |= strcmp(facts->name, slash == NULL ? wanted[i] : slash + 1) == 0;
    }
    if (is_wanted && wanted_pc_count < sizeof wanted_pcs / sizeof wanted_pcs[0])
        wanted_pcs[wanted_pc_count++] = facts->start_pc;
}

static void build(const char *what)
{
    struct symbols_stats stats = {0};
    struct jw_error err = {0};

    value_count = 0;
    for (unsigned round = 0; round < rounds; round++) {
        symbols_close();
        if (!symbols_refresh(&err))
            die(err.message);
        wanted_pc_count = 0;
        symbols_each_library(note_wanted, NULL);
        for (unsigned i = 0; i < wanted_pc_count; i++)
            if (!symbols_want_rows(wanted_pcs[i]))
                die("a library has gone");
        const uint64_t start_ns = cpu_ns();

        if (!symbols_serve(&err))
            die(err.message);
        values[value_count++] = (double)(cpu_ns() - start_ns) / 1e6;
    }
    symbols_stats(&stats);
    const double middle = median();

    printf("| %s | %u | %llu | %.1f | %.2f (%.2f) | %.1f |\n", what, stats.libraries_with_rows,
           (unsigned long long)stats.rows, (double)stats.rows_bytes / 1e6, middle, values[0],
           middle * 1e6 / (double)stats.rows);
}

enum way {
    BY_ROWS,
    BY_FRAME_POINTER,
    BY_LIBUNWIND_HANDLER,
    BY_LIBUNWIND_REMOTE,
    BY_LIBUNWIND_LOCAL
};

static double one_walk(enum way way, const ucontext_t *context)
{
    static uintptr_t pcs[DEPTH];
    static const enum walk_native_by by[] = {[BY_ROWS] = WALK_BY_ROWS,
                                             [BY_FRAME_POINTER] = WALK_BY_FRAME_POINTER,
                                             [BY_LIBUNWIND_HANDLER] = WALK_BY_LIBUNWIND};
    const unsigned calls =
        way == BY_LIBUNWIND_REMOTE || way == BY_LIBUNWIND_HANDLER ? REMOTE : CALLS;
    uint64_t frames = 0;
    const uint64_t start_ns = cpu_ns();

    for (unsigned i = 0; i < calls; i++) {
        enum walk_native_end end;
        struct arch_regs regs;
        unsigned signal_frames = 0;
        bool is_ended;

        switch (way) {
        case BY_ROWS:
        case BY_FRAME_POINTER:
        case BY_LIBUNWIND_HANDLER:
            arch_regs_read(context, &regs);
            frames += walk_native_frames(context, &regs, by[way], pcs, DEPTH, NULL, &end);
            break;
        case BY_LIBUNWIND_REMOTE: {
            static uintptr_t found[ORACLE_DEPTH_MAX];

            frames += oracle_walk((const void *)oracle.bytes, found, &is_ended, &signal_frames);
            break;
        }
        case BY_LIBUNWIND_LOCAL: {
            unw_cursor_t cursor;
            unw_context_t here;

            unw_getcontext(&here);
            unw_init_local(&cursor, &here);
            do
                frames++;
            while (frames % DEPTH != 0 && unw_step(&cursor) > 0);
            break;
        }
        }
    }
    if (frames < (uint64_t)calls * DEPTH)
        die("a walk ended early");
    return (double)(cpu_ns() - start_ns) / (double)frames;
}

static void walk_here(void)
{
    static const char *const names[] = {
        "rows", "frame pointers", "libunwind, sealed, as in a handler",
        "libunwind, remote, from a copy of the stack", "libunwind, local, cached, with its locks"};
    double middle[5];
    ucontext_t context;

    getcontext(&context);
    struct jw_error err = {0};

    if (!unwind_live_open(&err))
        die(err.message);
    oracle_begin();
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0) - 4096;
    oracle_region(stack, stack_end - stack, 0);
    dl_iterate_phdr(oracle_add_library, NULL);
    oracle_take(&context);
    for (int way = BY_ROWS; way <= BY_LIBUNWIND_LOCAL; way++) {
        value_count = 0;
        (void)one_walk((enum way)way, &context); /* caches are warm */
        for (unsigned round = 0; round < rounds; round++)
            values[value_count++] = one_walk((enum way)way, &context);
        middle[way] = median();
        printf("| %s | %.1f (%.1f) | %.2f |\n", names[way], middle[way], values[0],
               middle[way] / middle[BY_ROWS]);
    }
}

static FRAME unsigned descend(unsigned left)
{
    if (left > 0)
        return descend(left - 1) + 1;
    walk_here();
    return 0;
}

int main(int argc, char **argv)
{
    struct jw_error err = {0};
    unsigned mapped = 0;

    stack_end = (uintptr_t)__builtin_frame_address(0);
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    if (rounds == 0 || rounds > ROUNDS_MAX)
        die("the number of rounds, 1 to 101, and libraries");
    for (int i = 2; i < argc; i++)
        mapped += dlopen(argv[i], RTLD_NOW) != NULL;
    if (mapped + 2 < (unsigned)argc)
        fprintf(stderr, "rows: %u of %d libraries could be mapped\n", mapped, argc - 2);
    printf("| libraries | with rows | rows | MB | ms of CPU | ns a row |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (int i = 2; i < argc; i++) {
        char *real = realpath(argv[i], NULL); /* as the maps have it */

        argv[i] = real == NULL ? argv[i] : real;
    }
    wanted = argv + 2;
    wanted_count = argc - 2;
    build("those named");
    if (!symbols_refresh(&err) || !symbols_build_rows(&err))
        die(err.message);
    printf("\n| a native frame by | ns of CPU | to rows |\n| --- | ---: | ---: |\n");
    return (int)(descend(DEPTH + 8) - DEPTH - 8);
}
