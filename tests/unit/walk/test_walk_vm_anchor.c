/*
 * Walks of who samples itself: from native code that a stub called for compiled code, where the JVM says that Java was left. What is
 * remembered of that place shortens the next walk, and changes nothing of what it finds.
 */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk.h"
#include "walk/walk_vm_internal.h"

TestSuite(walk_vm_anchor, .timeout = 1800);

#define FRAMES_MAX 64
#define DEPTH      8

static struct walk_cache cache;
static struct walk_past past;
static struct walk_top top;
static struct vm_call_frame frames[FRAMES_MAX], plain_frames[FRAMES_MAX];
static struct walk_java_result result;
static struct fake_nmethod code[2], stub;

static void open_anchor(void)
{
    memset(&cache, 0, sizeof cache);
    memset(&past, 0, sizeof past);
    memset(&top, 0, sizeof top);
    cache.noted_from = WALK_NOTED_FROM_HOOK;
    for (unsigned i = 0; i < JW_COUNT_OF(code); i++) {
        code[i] = put_nmethod();
        set((void *)code[i].blob, "nmethod", "_compile_id", 100 + i, 4);
    }
    stub = put_other("_new_array_Java");
}

/* `pushed`: words that the code that was left has pushed below its frame. */
static void leave_java(unsigned pushed, uintptr_t pc_offset)
{
    begin_stack();
    push_entry(NULL);
    push_interpreted(2);
    for (unsigned i = 0; i < DEPTH; i++)
        push_compiled(&code[i % 2], PC_CALL);
    push_compiled(&code[0], pc_offset);
    fake_stack.regs.sp -= pushed * sizeof(uintptr_t);
    push_compiled(&stub, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
}

static void walk_with(struct walk_cache *with, struct vm_call_frame *to)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), with, to, FRAMES_MAX, &result);
}

/* As the sampler does it; how many frames were not walked. */
static uint32_t walk_again(void)
{
    cache.past = &past;
    cache.top = &top;
    walk_with(&cache, frames);
    const uint32_t fresh = result.frame_count, reused = result.past_frames;

    if (fresh == 0)
        return 0;
    cr_assert(le(u32, fresh + reused, FRAMES_MAX));
    if (!result.is_again) {
        walk_past_keep(&past, &cache.log, result.past_steps, frames, fresh);
        top = cache.log.top;
    }
    memcpy(frames + fresh, &past.frames[WALK_DEPTH_MAX - reused], reused * sizeof frames[0]);
    result.frame_count = fresh + reused;
    return reused;
}

static void is_as_walked_plainly(const char *what, unsigned which)
{
    const uint32_t count = result.frame_count;
    const int32_t walked_code = result.code;

    walk_with(NULL, plain_frames);
    cr_assert(eq(u32, count, result.frame_count), "%s, %u", what, which);
    cr_assert(eq(i32, walked_code, result.code), "%s, %u", what, which);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(frames[i].method == plain_frames[i].method &&
                      frames[i].bci == plain_frames[i].bci &&
                      frames[i].kind == plain_frames[i].kind,
                  "%s, %u: frame %u of %u", what, which, i, count);
    }
}

TEST_EACH_STACK(walk_vm_anchor, a_stack_that_stands_is_met_at_its_second_frame_and_then_as_a_whole)
{
    open_anchor();
    leave_java(0, PC_CALL);
    cr_assert(eq(u32, walk_again(), 0));
    cr_assert(eq(u32, result.frame_count, DEPTH + 2));
    is_as_walked_plainly("first", 0);
    for (unsigned round = 0; round < 4; round++) {
        leave_java(0, PC_CALL);
        cr_assert(eq(u32, walk_again(), DEPTH + 1));
        cr_assert(eq(int, result.is_again, round > 0 && !vm_computes_by_x87()));
        is_as_walked_plainly("again", round);
    }
}

static void walk_until_again(void)
{
    for (unsigned round = 0; round < 4; round++) {
        leave_java(0, PC_CALL);
        (void)walk_again();
    }
}

/* What else it depends on. */
TEST_EACH_STACK(walk_vm_anchor, of_another_carrier_depth_thread_or_anchor_it_is_another_stack)
{
    const struct vm_anchor no_anchor = {0, 0, 0};

    open_anchor();
    walk_until_again();
    if (!result.is_again)
        return; /* x87: nothing is remembered of where Java was left */
    cache.with_carrier = !cache.with_carrier;
    (void)walk_again();
    cr_assert(not(result.is_again));
    walk_until_again();
    cr_assert(result.is_again);
    past.stack_high += 8;
    (void)walk_again();
    cr_assert(not(result.is_again));
    walk_until_again();
    cache.is_resumed = true;
    (void)walk_again();
    cr_assert(not(result.is_again));
    cache.is_resumed = false;
    walk_until_again();
    cr_assert(result.is_again);
    fake_stack.regs.pc = 0x4000;
    set_anchor(&no_anchor);
    (void)walk_again();
    cr_assert(eq(u32, result.frame_count, 0));
    walk_until_again();
    cr_assert(result.is_again);
    cr_assert(not(walk_vm_top_again(fake_env(), &cache, frames, DEPTH + 2, &result)), "too deep");
    cr_assert(walk_vm_top_again(fake_env(), &cache, frames, DEPTH + 3, &result));
}

/* What an earlier walk found there is a guess, and the stack decides. */
TEST_EACH_STACK(walk_vm_anchor, a_caller_is_where_the_stack_has_it_now)
{
    open_anchor();
    for (unsigned round = 0; round < 30; round++) {
        leave_java(round * 7 % 4, round % 3 == 0 ? PC_INLINED : PC_CALL);
        (void)walk_again();
        cr_assert(ge(u32, result.frame_count, DEPTH + 2), "%s", walk_code_text(result.code));
        is_as_walked_plainly("pushed", round);
    }
}

TEST_EACH_STACK(walk_vm_anchor, no_word_changes_unseen)
{
    open_anchor();
    for (unsigned word = 0; word < STACK_WORDS; word++) {
        const uintptr_t others[] = {code[1].code + PC_CALL,
                                    code[0].code + PC_INLINED,
                                    code[0].code + PC_CALL + 1,
                                    interpreter_pc(),
                                    (uintptr_t)fake_stack.inlined_method,
                                    0x4000};

        for (unsigned other = 0; other < JW_COUNT_OF(others); other++) {
            walk_until_again();
            fake_stack.stack[word] = others[other];
            (void)walk_again();
            is_as_walked_plainly("word", word);
        }
    }
}

TEST_EACH_STACK(walk_vm_anchor, another_compilation_at_the_same_place_is_another_method)
{
    open_anchor();
    walk_until_again();
    unsigned char *metadata = fake_jdk >= LAYOUT_25
                                  ? fake_stack.debug[0]
                                  : (unsigned char *)code[0].blob + BLOB_CODE_OFFSET + CODE_BYTES;
    memcpy(metadata, &(void *){fake_stack.inlined_method}, sizeof(void *));
    set((void *)code[0].blob, "nmethod", "_compile_id", 200, 4);
    set_pointer((void *)code[0].blob, "nmethod", "_method", fake_stack.inlined_method);
    set_pointer((void *)code[0].blob, "CompiledMethod", "_method", fake_stack.inlined_method);
    cr_assert(le(u32, walk_again(), 2));
    cr_assert(frames[0].method == (jmethodID)(uintptr_t)fake_stack.inlined_method);
    is_as_walked_plainly("compiled anew", 0);
}

/* A stub of the same address that is an upcall's or an unpacker's by name is left as such, whatever was walked there. */
TEST_EACH_STACK(walk_vm_anchor, a_stub_is_what_its_name_says_now)
{
    open_anchor();
    walk_until_again();
    cr_assert(eq(u32, result.frame_count, DEPTH + 2));
    set_pointer((void *)stub.blob, "CodeBlob", "_name", "DeoptimizationBlob");
    (void)walk_again();
    is_as_walked_plainly("unpacker", 0);
}
