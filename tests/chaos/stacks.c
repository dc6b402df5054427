/* The smallest stacks that there are, those of coroutines, those that signals have of their own. What lies below and
 * above stays as it was, and so does what a coroutine keeps. */
#include "chaos.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define CANARY_BYTES 4096
#define ROUTINES     4

/* Memory with a canary at both ends. */
struct stack {
    uint8_t *memory;
    uint8_t *base;
    size_t length_bytes;
    uint64_t seed;
    bool is_mapped;
};

static bool open_stack(struct stack *stack, size_t length_bytes, uint64_t *random)
{
    const size_t all_bytes = length_bytes + 2 * CANARY_BYTES;

    stack->is_mapped = chaos_random(random) & 1;
    stack->length_bytes = length_bytes;
    stack->seed = chaos_random(random);
    if (stack->is_mapped) {
        stack->memory =
            mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack->memory == MAP_FAILED)
            return false;
    } else if (posix_memalign((void **)&stack->memory, 4096, all_bytes) != 0) {
        return false;
    }
    stack->base = stack->memory + CANARY_BYTES;
    chaos_fill(stack->memory, CANARY_BYTES, stack->seed);
    chaos_fill(stack->base + length_bytes, CANARY_BYTES, stack->seed);
    return true;
}

/* m13: a handler that needs more than is there writes into what lies below. */
static void close_stack(struct storm *storm, struct stack *stack, const char *what)
{
    STORM_EXPECT(storm, chaos_is_filled(stack->memory, CANARY_BYTES, stack->seed),
                 "memory below %s changed", what);
    STORM_EXPECT(storm,
                 chaos_is_filled(stack->base + stack->length_bytes, CANARY_BYTES, stack->seed),
                 "memory above %s changed", what);
    if (stack->is_mapped)
        munmap(stack->memory, stack->length_bytes + 2 * CANARY_BYTES);
    else
        free(stack->memory);
}

static void *burn(void *argument)
{
    const int64_t us = *(const int64_t *)argument;

    /* Longer than threads wait to be found. */
    for (int64_t done = 0; done < us; done += 500) {
        chaos_burn_us(400);
        chaos_sleep_us(100);
    }
    return argument;
}

/* A thread on a stack of its own making, of this size. */
static void run_thread(struct storm *storm, size_t length_bytes, bool is_given, uint64_t *random)
{
    int64_t us = (int64_t)chaos_random_below(random, 30000);
    void *result = NULL;
    struct stack stack;
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    if (is_given && !open_stack(&stack, length_bytes, random))
        return;
    pthread_attr_init(&attributes);
    error = is_given ? pthread_attr_setstack(&attributes, stack.base, length_bytes)
                     : pthread_attr_setstacksize(&attributes, length_bytes);
    if (error == 0)
        error = pthread_create(&thread, &attributes, burn, &us);
    pthread_attr_destroy(&attributes);
    if (error == 0)
        pthread_join(thread, &result);
    STORM_EXPECT(storm, error == 0 && result == &us, "a thread of %zu bytes: %s", length_bytes,
                 strerror(error));
    if (is_given)
        close_stack(storm, &stack, "the stack of a thread");
}

/* Green threads: */

struct routine {
    ucontext_t context;
    struct stack stack;
    struct band *band;
    uint64_t value;
};

struct band {
    struct storm *storm;
    ucontext_t main;
    struct routine routines[ROUTINES];
    int left; /* switches */
};

__attribute__((noinline)) static void sing(struct band *band, int own, int depth)
{
    struct routine *routine = &band->routines[own];
    uint64_t kept[16];

    chaos_fill(kept, sizeof kept, routine->value);
    if (depth > 0) {
        sing(band, own, depth - 1);
    } else {
        chaos_burn_us(200);
        swapcontext(&routine->context,
                    band->left-- > 0 ? &band->routines[(own + 1) % ROUTINES].context : &band->main);
    }
    STORM_EXPECT(band->storm, chaos_is_filled(kept, sizeof kept, routine->value),
                 "what a coroutine keeps changed");
}

static void begin(unsigned high, unsigned low, int own)
{
    struct band *band = (struct band *)((uintptr_t)high << 32 | low);

    for (;;)
        sing(band, own, 6);
}

static void run_coroutines(struct storm *storm, size_t length_bytes, uint64_t *random)
{
    struct band *band = calloc(1, sizeof *band);
    int opened = 0;

    if (band == NULL)
        return;
    band->storm = storm;
    band->left = 40;
    for (; opened < ROUTINES; opened++) {
        struct routine *routine = &band->routines[opened];

        if (!open_stack(&routine->stack, length_bytes, random))
            break;
        routine->value = chaos_random(random);
        getcontext(&routine->context);
        routine->context.uc_stack.ss_sp = routine->stack.base;
        routine->context.uc_stack.ss_size = length_bytes;
        makecontext(&routine->context, (void (*)(void))begin, 3, (unsigned)((uintptr_t)band >> 32),
                    (unsigned)(uintptr_t)band, opened);
    }
    if (opened == ROUTINES)
        swapcontext(&band->main, &band->routines[0].context);
    /* The stacks go while they are half-used; nobody goes on on them. */
    for (int i = 0; i < opened; i++)
        close_stack(storm, &band->routines[i].stack, "the stack of a coroutine");
    free(band);
}

/* Alternate stacks: */

/* m13: what the kernel's frame needs, and 2 KiB or more: what a handler of ours does not get by with it does not use. */
static void run_alternate(struct storm *storm, uint64_t *random)
{
    const size_t frame_bytes = getauxval(AT_MINSIGSTKSZ) != 0 ? getauxval(AT_MINSIGSTKSZ) : 5120;
    const size_t length_bytes =
        (frame_bytes + 2048 + chaos_random_below(random, 8192) + 15) & ~(size_t)15;
    struct stack stack;
    stack_t alternate = {.ss_size = length_bytes};
    stack_t before;
    stack_t after;

    if (!open_stack(&stack, length_bytes, random))
        return;
    alternate.ss_sp = stack.base;
    if (sigaltstack(&alternate, &before) == 0) {
        chaos_burn_us((int64_t)chaos_random_below(random, 20000));
        sigaltstack(&before, &after);
        STORM_EXPECT(storm,
                     after.ss_sp == stack.base && after.ss_size == length_bytes &&
                         after.ss_flags == 0,
                     "the alternate stack is another one");
    } else {
        storm_violated(storm, "sigaltstack of %zu bytes: %s", length_bytes, strerror(errno));
    }
    close_stack(storm, &stack, "an alternate stack");
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        switch (chaos_random_below(&random, 5)) {
        case 0:
            run_thread(storm, (size_t)sysconf(_SC_THREAD_STACK_MIN), false, &random);
            break;
        case 1:
            run_thread(storm, 64 << 10, false, &random);
            break;
        case 2:
            run_thread(storm, (size_t)PTHREAD_STACK_MIN + 8192, true, &random);
            break;
        case 3:
            run_coroutines(storm, (16 << 10) << chaos_random_below(&random, 3), &random);
            break;
        default:
            run_alternate(storm, &random);
        }
        storm_did(storm, 1);
        chaos_sleep_us(1000);
    }
    return NULL;
}

void stacks_round(struct storm *storm)
{
    storm_threads(storm, 3 * storm->intensity, churn, storm);
}
