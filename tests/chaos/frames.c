/* Frame pointers that are anything but: data, near misses, addresses that fault, chains that go round; stack pointers
 * that lie elsewhere. Each register has to come back as it was. */
#include "chaos.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "registers.h"

#define PAGE  4096
#define SPINS 60000 /* some ten microseconds */

struct place {
    uint8_t *pages; /* four: not to be read, usable, usable, not there */
    uint64_t ring[4];
    uint64_t stairs[64]; /* frames that lie right above each other and return into garbage */
};

static bool open_place(struct place *place)
{
    place->pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place->pages == MAP_FAILED)
        return false;
    mprotect(place->pages, PAGE, PROT_NONE);
    munmap(place->pages + 3 * PAGE, PAGE);
    for (int i = 0; i < 4; i++)
        place->ring[i] = (uint64_t)(uintptr_t)&place->ring[(i + 2) % 4];
    for (int i = 0; i < 62; i += 2) {
        place->stairs[i] = (uint64_t)(uintptr_t)&place->stairs[i + 2];
        place->stairs[i + 1] = 0x1234 + (uint64_t)i;
    }
    place->stairs[62] = (uint64_t)(uintptr_t)place->stairs;
    return true;
}

static void close_place(struct place *place)
{
    munmap(place->pages, 3 * PAGE);
}

/* m08: what has been found in frame pointers, and what a walk that trusts them falls over. */
static uint64_t some_frame_pointer(struct place *place, uint64_t *random)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const uint64_t pages = (uint64_t)(uintptr_t)place->pages;

    switch (chaos_random_below(random, 16)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return chaos_random(random);
    case 3:
        return chaos_random_below(random, 1 << 20);
    case 4:
        return here + chaos_random_below(random, 512); /* any byte nearby */
    case 5:
        return here - 8 * chaos_random_below(random, 64);
    case 6:
        return here + 8 * chaos_random_below(random, 512);
    case 7:
        return pages + chaos_random_below(random, PAGE);
    case 8:
        return pages + 3 * PAGE - 8; /* half of a frame is there */
    case 9:
        return pages + 3 * PAGE - 1;
    case 10:
        return pages + 3 * PAGE + chaos_random_below(random, PAGE);
    case 11:
        return (uint64_t)(uintptr_t)&place->ring[chaos_random_below(random, 4)];
    case 12:
        return (uint64_t)(uintptr_t)place->stairs;
    case 13:
        return UINT64_C(0x8000000000000000) | chaos_random(random) >> 8;
    case 14:
        return UINT64_C(0x00007ffffffffff8);
    default:
        return (uint64_t)(uintptr_t)&some_frame_pointer + chaos_random_below(random, 64);
    }
}

/* m05: a handler that edits the thread's own registers, or leaves some out, shows here. */
static void hold(struct storm *storm, struct place *place, uint64_t *random)
{
    const int fp = registers_frame_pointer();
    struct registers in;
    struct registers out;

    for (int i = 0; i < REGISTERS_GENERAL; i++)
        in.general[i] = chaos_random(random);
    for (int i = 0; i < REGISTERS_VECTOR; i++)
        in.vector[i][0] = in.vector[i][1] = chaos_random(random);
    in.general[fp] = some_frame_pointer(place, random);
    memset(&out, 0, sizeof out);
    registers_hold(&in, &out, SPINS);
    for (int i = 0; i < registers_held(); i++)
        STORM_EXPECT(storm, in.general[i] == out.general[i], "register %d was %#lx and is %#lx", i,
                     (unsigned long)in.general[i], (unsigned long)out.general[i]);
    STORM_EXPECT(storm, memcmp(in.vector, out.vector, sizeof in.vector) == 0,
                 "a vector register changed");
}

static uint64_t compute(void *argument)
{
    return chaos_compute(*(const uint64_t *)argument, 10000);
}

static uint64_t compute_deep(void *argument)
{
    uint64_t *left = argument;

    if (left[1] == 0)
        return compute(argument);
    left[1]--;
    return registers_call_with(left[2] + left[1], compute_deep, left) + 1;
}

static void call_with(struct storm *storm, struct place *place, uint64_t *random)
{
    uint64_t argument[3] = {chaos_random(random), 30, some_frame_pointer(place, random)};
    const uint64_t expected = compute(argument) + 30;

    STORM_EXPECT(storm, compute_deep(argument) == expected, "wrong sum under odd frame pointers");
}

/* m13: a stack of our own, in the heap or mapped; nothing but its own bytes may change. */
static void call_on(struct storm *storm, uint64_t *random)
{
    const size_t length_bytes = 64 << 10;
    const size_t canary_bytes = PAGE;
    const bool is_mapped = chaos_random(random) & 1;
    uint8_t *stack = is_mapped ? mmap(NULL, length_bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                               : malloc(length_bytes);
    const uint64_t seed = chaos_random(random);
    uint64_t argument = chaos_random(random);
    uint64_t expected = compute(&argument);

    if (stack == NULL || stack == MAP_FAILED)
        return;
    chaos_fill(stack, canary_bytes, seed);
    chaos_fill(stack + length_bytes - canary_bytes, canary_bytes, seed);
    STORM_EXPECT(storm,
                 registers_call_on(stack + length_bytes - canary_bytes, compute, &argument) ==
                     expected,
                 "wrong sum on another stack");
    STORM_EXPECT(storm,
                 chaos_is_filled(stack, canary_bytes, seed) &&
                     chaos_is_filled(stack + length_bytes - canary_bytes, canary_bytes, seed),
                 "memory beside another stack changed");
    if (is_mapped)
        munmap(stack, length_bytes);
    else
        free(stack);
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    struct place place;

    if (!open_place(&place))
        return NULL;
    while (storm_goes_on(storm)) {
        for (int i = 0; i < 40; i++)
            hold(storm, &place, &random);
        call_with(storm, &place, &random);
        call_on(storm, &random);
        storm_did(storm, 42);
        chaos_sleep_us(2000);
    }
    close_place(&place);
    return NULL;
}

void frames_round(struct storm *storm)
{
    if (!registers_are_here()) {
        storm_skipped(storm, "no assembly for this machine");
        return;
    }
    storm_threads(storm, storm->intensity, churn, storm);
    /* And on a thread that the JVM knows, below Java frames. */
    storm->end_ns = chaos_now_ns() + 20 * CHAOS_MS;
    churn(storm);
}
