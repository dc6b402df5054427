/* The tag of a sample: whether somebody waits for its thread to stop. Over a thread whose word says that nobody does. */
#include "unit/vm/fake_memory.h"

#include <string.h>

#include "counted.h"
#include "vm/vm_internal.h"
#include "vm/vm_poll.h"

#define OFFSET     0x348u
#define SITES      30
#define SEEN_FIRST 8 /* words that nobody had armed, before any is believed */

static unsigned char code[4096] __attribute__((aligned(16)));
static unsigned char thread[4096] __attribute__((aligned(16)));
static const void *env;

/* An interpreter that has polls, and nothing else. */
static void put_polls(void)
{
#if defined(__x86_64__)
    static const unsigned char site[] = {0x41, 0xf6, 0x87, 0x48, 0x03, 0, 0, 1, 0x74, 0x05};
#else
    static const uint32_t site[] = {0xf9400389 | OFFSET / 8 << 10, 0x37000049};
#endif

    for (size_t i = 0; i < SITES; i++)
        memcpy(code + i * sizeof site, site, sizeof site);
    vm_layout.interpreter_begin = (uintptr_t)code;
    vm_layout.interpreter_end = (uintptr_t)code + sizeof code;
}

static void open_thread(unsigned operations)
{
    static const uint64_t word = ~(uint64_t)1;
    const uint32_t state = (uint32_t)constant_of("_thread_in_Java");

    (void)operations;
    open_fake(LAYOUT_25, "com/acme/Fake");
    vm_layout.major = 25;
    put_polls();
    vm_poll_find();
    memcpy(thread + OFFSET, &word, sizeof word);
    memcpy(thread + vm_layout.thread_state.offset, &state, sizeof state);
    env = thread + vm_layout.thread_anchor.offset + VM_ENV_AFTER_ANCHOR_BYTES;
    for (int i = 0; i < SEEN_FIRST; i++)
        (void)vm_poll_state(env);
    counted_need(vm_poll_state(env) == VM_POLL_CLEAR, "the word of a thread", NULL);
}

static void close_thread(void)
{
}

static void ask(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += vm_poll_asked(env);
}

const struct counted counted_poll[] = {
    {"poll_asked_nobody", open_thread, ask, close_thread, 100, 1100},
};
const size_t counted_poll_count = JW_COUNT_OF(counted_poll);
