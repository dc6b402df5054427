/* A plugin that is called from many threads: libraries.c loads it under dozens of names. */
#include <stdint.h>

uint64_t plugin_compute(uint64_t start, unsigned rounds);
uint64_t plugin_call(uint64_t start, unsigned rounds, uint64_t (*back)(uint64_t));
int plugin_is_begun(void);

static int begun;

__attribute__((constructor)) static void begin(void)
{
    begun = 1;
}

__attribute__((destructor)) static void end(void)
{
    begun = 0;
}

int plugin_is_begun(void)
{
    return begun;
}

__attribute__((noinline)) uint64_t plugin_compute(uint64_t start, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        start = (start << 7 | start >> 57) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return start;
}

/* Computes, calls the program, and goes on with its answer. */
__attribute__((noinline)) uint64_t plugin_call(uint64_t start, unsigned rounds,
                                               uint64_t (*back)(uint64_t))
{
    const uint64_t first = plugin_compute(start, rounds);

    return plugin_compute(back(first), rounds);
}
