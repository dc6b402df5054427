/* Native frames between Java frames, on made stacks: every hand-over from one to the other, right ones and wrong ones. */
#include "unit/walk/made_native.h"

#include <criterion/new/assert.h>
#include <stdlib.h>
#include <ucontext.h>

#include "symbols/symbols.h"
#include "walk/walk_internal.h"

TestSuite(walk_mixed, .timeout = 1800, .fini = symbols_close);

static struct vm_call_frame frames[64];
static struct walk_java_result result;
static struct walk_cache cache;
static struct fake_nmethod code;

static void walk_to(uint32_t depth_max)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), &cache, frames, depth_max, &result);
}

static void walk(void)
{
    walk_to(JW_COUNT_OF(frames));
}

/* A thread that began in native code, which called Java; its frames so far are `first_frames`. */
static void begin_mixed(void)
{
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    memset(&cache, 0, sizeof cache);
    cache.with_native = true;
    code = put_nmethod();
    put_call(code.code + PC_CALL);
    begin_stack();
    fake_stack.regs.pc = 0;
    push_native(FIRST);
    push_native(OUTER);
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
}

static struct vm_anchor anchor_here(void)
{
    return (struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp};
}

/* Expects the frames that stand for `shape`, innermost first: j, Java; e, the call stub; i, o, f, b: the native functions; !, a mark
 * that says that some are missing. */
static void shape_is(const char *shape)
{
    char seen[JW_COUNT_OF(frames) + 1] = "";

    for (uint32_t i = 0; i < result.frame_count; i++) {
        const uintptr_t pc = walk_is_pc(frames[i].method);

        seen[i] = walk_is_mark(frames[i].method) == JW_MARK_NATIVE_MISSING ? '!'
                  : pc == fake_stack.entry_return_pc                       ? 'e'
                  : pc == INNER - 1                                        ? 'i'
                  : pc == OUTER - 1                                        ? 'o'
                  : pc == FIRST - 1                                        ? 'f'
                  : pc == BARE - 1                                         ? 'b'
                  : pc == 0                                                ? 'j'
                                                                           : '?';
        cr_expect(eq(int, seen[i] == 'j' || seen[i] == '!', frames[i].kind != JW_FRAME_NATIVE));
    }
    cr_assert(eq(str, seen, (char *)(uintptr_t)shape), "%s", walk_code_text(result.code));
}

TEST_EACH_STACK(walk_mixed, native_frames_stand_where_they_were_called)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(OUTER);
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_CALL);
    push_interpreted(3);
    walk();
    shape_is("jjeiojeof");
    cr_assert(not(result.is_truncated));
    cr_assert(eq(u32, result.native_faults, 0));
}

TEST_EACH_STACK(walk_mixed, none_are_shown_that_are_not_wanted)
{
    begin_mixed();
    cache.with_native = false;
    const struct vm_anchor anchor = anchor_here();
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jj");
}

TEST_EACH_STACK(walk_mixed, an_interpreted_method_is_handed_over_to)
{
    begin_mixed();
    push_interpreted(2);
    put_call(fake_stack.regs.pc);
    const struct vm_anchor anchor = anchor_here();
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jeijjeof");
}

TEST_EACH_STACK(walk_mixed, code_that_the_anchor_does_not_tell_of_is_not_believed)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    const struct fake_nmethod other = put_nmethod();
    put_call(other.code + PC_CALL);
    fake_stack.regs.pc = other.code + PC_CALL; /* what native code returns to */
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jei!jeof");
}

TEST_EACH_STACK(walk_mixed, a_return_address_that_no_call_left_is_not_believed)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    fake_stack.regs.pc = code.code + PC_INLINED; /* in the right method, but no call stands there */
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jei!jeof");
}

TEST_EACH_STACK(walk_mixed, a_stub_that_no_call_led_to_has_no_native_caller)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(INNER + 1);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("je!jeof");
}

TEST_EACH_STACK(walk_mixed, native_frames_that_pass_the_anchor_are_not_gone_on_with)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    fake_stack.regs.pc = OUTER; /* as if native code had called native code where Java stands */
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jeio!jeof");
}

TEST_EACH_STACK(walk_mixed, a_thread_that_does_not_begin_where_java_was_first_called_is_not_whole)
{
    begin_mixed();
    /* No anchor, yet native frames that lead to Java. */
    push_native(INNER);
    push_entry(NULL);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jei!");
}

TEST_EACH_STACK(walk_mixed, a_thread_that_begins_between_java_frames_is_not_whole)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(FIRST);
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jeif!jeof");
}

TEST_EACH_STACK(walk_mixed, native_code_that_nothing_describes_is_a_mark)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(OUTER);
    push_native(BARE);
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    walk();
    shape_is("jeib!jeof");
}

TEST_EACH_STACK(walk_mixed, a_stack_is_as_deep_as_is_wanted)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(OUTER);
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    for (uint32_t depth = 1; depth <= 8; depth++) {
        char shape[] = "jeiojeof";

        walk_to(depth);
        shape[depth] = '\0';
        shape_is(shape);
        cr_expect(result.is_truncated, "%u frames", depth);
    }
    walk_to(9);
    shape_is("jeiojeof");
    cr_assert(not(result.is_truncated));
}

/* The JVM puts the anchor away on the way from native code into Java and back: what is known is on the stack. */
TEST_EACH_STACK(walk_mixed, java_below_native_code_is_found_while_the_jvm_tells_of_none)
{
    const char *const states[] = {"_thread_in_vm", "_thread_in_Java"};

    for (size_t i = 0; i < JW_COUNT_OF(states); i++) {
        begin_mixed();
        set(fake.java_thread, "JavaThread", "_thread_state", (uint64_t)constant_of(states[i]), 4);
        push_native(OUTER);
        push_native(INNER);
        walk();
        shape_is("jeof");
        cache.is_native_whole = true;
        walk();
        cr_assert(eq(u32, result.frame_count, 0));
    }
}

TEST_EACH_STACK(walk_mixed, a_thread_without_java_has_no_java_frames)
{
    begin_mixed();
    begin_stack();
    set(fake.java_thread, "JavaThread", "_thread_state", (uint64_t)constant_of("_thread_in_vm"), 4);
    fake_stack.regs.pc = 0;
    push_native(FIRST);
    push_native(OUTER);
    push_native(INNER);
    walk();
    cr_assert(eq(u32, result.frame_count, 0));
    cr_assert(eq(i32, result.code, 0), "%s", walk_code_text(result.code));
}

/* Of 8,000 stacks with a wrong word each, none is walked wrongly in what the word is not part of, and none faults outside of safe
 * loads. */
TEST_EACH_STACK(walk_mixed, a_wrong_word_costs_no_more_than_frames)
{
    begin_mixed();
    const struct vm_anchor anchor = anchor_here();
    push_native(OUTER);
    push_native(INNER);
    push_entry(&anchor);
    push_compiled(&code, PC_TOP);
    const uintptr_t sp = fake_stack.regs.sp;
    const size_t words = (anchor.sp - sp) / sizeof(uintptr_t);

    srandom(17);
    for (int round = 0; round < 8000; round++) {
        const uintptr_t addr = sp + (size_t)random() % words * sizeof(uintptr_t);
        const uintptr_t choices[] = {
            (uintptr_t)random(),
            addr + 8 * (uintptr_t)(random() % 64),
            OUTER,
            FIRST,
            code.code + PC_CALL,
            UINTPTR_MAX,
        };
        uintptr_t before;

        memcpy(&before, (void *)addr, sizeof before);
        put_word(addr, choices[(size_t)random() % JW_COUNT_OF(choices)]);
        walk();
        cr_assert(result.frame_count == 0 || result.frame_count <= 16, "%u", result.frame_count);
        if (result.frame_count > 0) {
            cr_assert(eq(u32, frames[0].kind, JW_FRAME_COMPILED));
            cr_assert(frames[0].method == (jmethodID)fake.method);
        }
        put_word(addr, before);
    }
    walk();
    shape_is("jeiojeof");
}
