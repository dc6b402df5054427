/* The word that polls look at: found by the interpreter's code, believed by what threads have there, and what it says. */
#include "unit/vm/fake_memory.h"

#include <criterion/new/assert.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "vm/vm_internal.h"
#include "vm/vm_poll.h"

TestSuite(vm_poll, .timeout = 1800);

#define CODE_BYTES 10000
#define OFFSET     0x348u
#define OTHER      0x28u
#define CLEAR      (~(uint64_t)1)

static unsigned char *code; /* an interpreter, behind which memory ends for a checker of it */
static unsigned char thread[4096] __attribute__((aligned(16)));
static size_t used_bytes;

static void put_poll(uint32_t offset, unsigned char mask)
{
#if defined(__x86_64__)
    unsigned char bytes[] = {0x90, 0x41, 0xf6, 0x87, 0, 0, 0, 0, mask, 0x74, 0x05};
    memcpy(bytes + 4, &offset, sizeof offset);
#else
    const uint32_t bit = (uint32_t)__builtin_ctz(mask);
    const uint32_t bytes[] = {0xd503201f, 0xf9400389 | offset / 8 << 10, 0x37000049 | bit << 19};
#endif
    cr_assert(used_bytes + sizeof bytes <= CODE_BYTES);
    memcpy(code + used_bytes, bytes, sizeof bytes);
    used_bytes += sizeof bytes;
}

static void open_with_polls(int major, unsigned sites, unsigned others)
{
    const bool is_word = major >= 16;

    open_fake(LAYOUT_17, "A");
    code = calloc(1, CODE_BYTES);
    used_bytes = 4090; /* the first one lies across two pieces */
    for (unsigned i = 0; i < sites; i++)
        put_poll(OFFSET, is_word ? 1 : 8);
    for (unsigned i = 0; i < others; i++)
        put_poll(OTHER, 1);
    put_poll(OFFSET + 64, 0x40); /* of a bit that is none of a poll */
    vm_layout.major = major;
    vm_layout.interpreter_begin = (uintptr_t)code;
    vm_layout.interpreter_end = (uintptr_t)code + CODE_BYTES;
    vm_poll_find();
}

static const void *env_of(uint64_t word, const char *state)
{
    const uint32_t number = (uint32_t)constant_of(state);

    memcpy(thread + OFFSET, &word, sizeof word);
    memcpy(thread + vm_layout.thread_state.offset, &number, sizeof number);
    return thread + vm_layout.thread_anchor.offset + VM_ENV_AFTER_ANCHOR_BYTES;
}

static enum vm_poll_state state_of(uint64_t word)
{
    return vm_poll_state(env_of(word, "_thread_in_Java"));
}

static void see_clear(uint64_t word)
{
    for (int i = 0; i < 8; i++)
        cr_assert(eq(int, state_of(word), VM_POLL_UNTOLD));
    cr_assert(eq(int, strcmp(vm_poll_told(), "on"), 0));
}

Test(vm_poll, what_the_word_says_is_told_once_threads_were_seen_that_nobody_had_asked)
{
    open_with_polls(17, 30, 3);
    cr_assert(eq(u32, vm_poll_offset(), OFFSET));
    cr_assert(eq(int, state_of(1), VM_POLL_UNTOLD));
    see_clear(CLEAR);
    cr_assert(eq(int, state_of(CLEAR), VM_POLL_CLEAR));
    cr_assert(eq(int, state_of(1), VM_POLL_ARMED));
    cr_assert(eq(int, state_of(0x7f0000001230), VM_POLL_WATERMARK));
}

Test(vm_poll, before_16_it_is_a_page)
{
    open_with_polls(11, 30, 3);
    see_clear(0x7f0000001000);
    cr_assert(eq(int, state_of(0x7f0000002008), VM_POLL_ARMED));
    cr_assert(eq(int, state_of(0x7f0000001000), VM_POLL_CLEAR));
}

Test(vm_poll, who_asked_is_told_of_threads_that_somebody_waits_for)
{
    open_with_polls(25, 30, 0);
    see_clear(CLEAR);
    cr_assert(eq(int, vm_poll_asked(env_of(CLEAR, "_thread_in_Java")), VM_POLL_ASKED_NOT));
    /* Without the JVM's symbols. */
    cr_assert(eq(int, vm_poll_asked(env_of(1, "_thread_in_Java")), VM_POLL_ASKED_BY_EITHER));
    cr_assert(eq(int, vm_poll_asked(env_of(1, "_thread_in_vm")), VM_POLL_ASKED_BY_EITHER));
    cr_assert(eq(int, vm_poll_asked(env_of(1, "_thread_in_native")), VM_POLL_ASKED_NOT));
    cr_assert(eq(int, vm_poll_asked(env_of(1, "_thread_blocked")), VM_POLL_ASKED_NOT));
    cr_assert(eq(int, vm_poll_asked(env_of(0x7f0000001230, "_thread_in_Java")),
                 VM_POLL_ASKED_BY_WATERMARK));
    cr_assert(eq(int, vm_poll_asked(NULL), VM_POLL_ASKED_NOT));
}

static void expect_off(const char *why)
{
    cr_assert(eq(int, state_of(1), VM_POLL_UNTOLD));
    cr_assert(ne(ptr, strstr(vm_poll_told(), why), NULL), "%s", vm_poll_told());
}

Test(vm_poll, a_word_that_no_poll_has_ends_it_for_good)
{
    open_with_polls(17, 30, 0);
    see_clear(CLEAR);
    cr_assert(eq(int, state_of(0x1235), VM_POLL_UNTOLD));
    for (int i = 0; i < 20; i++)
        cr_assert(eq(int, state_of(CLEAR), VM_POLL_UNTOLD));
    vm_poll_find();
    cr_assert(eq(u32, vm_poll_offset(), 0));
    expect_off("off: the word of a thread had what no poll looks at");
}

Test(vm_poll, two_words_that_are_asked_as_often_are_none)
{
    open_with_polls(17, 30, 10);
    expect_off("off: the interpreter's polls do not name one word");
}

Test(vm_poll, few_polls_are_none)
{
    open_with_polls(17, 5, 0);
    expect_off("off: the interpreter's polls do not name one word");
}

Test(vm_poll, an_interpreter_that_is_not_told_has_none)
{
    open_fake(LAYOUT_17, "A");
    vm_layout.major = 17;
    vm_layout.interpreter_begin = vm_layout.interpreter_end = 0;
    vm_poll_find();
    expect_off("off: the interpreter's polls cannot be read");
}

Test(vm_poll, jdk_8_has_no_polls_of_a_thread)
{
    open_with_polls(8, 30, 0);
    expect_off("off: the threads of this JVM have no polls of their own");
}
