/*
 * made_walk - walks of made stacks by our own walker, for tests of what kinds of frames it finds.
 *
 * The registers are those of the stack as it was made; what else an interrupted thread has is in `context`.
 */
#ifndef JW_TESTS_UNIT_WALK_MADE_WALK_H
#define JW_TESTS_UNIT_WALK_MADE_WALK_H

#include "unit/walk/made_native.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk_internal.h"

static struct vm_call_frame frames[16];
static struct walk_java_result result;
static struct walk_cache cache;
static ucontext_t context;

/* From the registers of the stack as it was made; the sender's are as in `context`. */
static void walk(void)
{
    struct arch_context copy;

    arch_context_copy(&copy, &context);
    arch_regs_write(&copy, &fake_stack.regs);
    walk_java_vm(copy.bytes, fake_env(), &cache, frames, JW_COUNT_OF(frames), &result);
}

/* Expects frames of these kinds, innermost first: i, interpreted; c, compiled; n, native. */
static void kinds_are(const char *kinds)
{
    char seen[JW_COUNT_OF(frames) + 1] = "";

    for (uint32_t i = 0; i < result.frame_count; i++)
        seen[i] = frames[i].kind == JW_FRAME_INTERPRETED ? 'i'
                  : frames[i].kind == JW_FRAME_COMPILED  ? 'c'
                  : frames[i].kind == JW_FRAME_NATIVE    ? 'n'
                                                         : '?';
    cr_assert(eq(str, seen, (char *)(uintptr_t)kinds), "%s", walk_code_text(result.code));
}

#endif
