/*
 * The outer part of a stack that is not walked again: whatever changes between two walks, the frames are those
 * that a walk finds that knows nothing.
 */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "walk/walk.h"
#include "walk/walk_internal.h"

TestSuite(walk_vm_past, .timeout = 1800);

#define FRAMES_MAX 128
#define DEPTH      40

static struct walk_cache cache;
static struct walk_past past;
static struct vm_call_frame frames[FRAMES_MAX], plain_frames[FRAMES_MAX];
static struct walk_java_result result;
static struct fake_nmethod code[3], wrapper;

/* One frame to be laid out; equal ones give equal words. */
struct shape {
    enum { COMPILED, COMPILED_INLINED, DEOPTIMISED, DEOPTIMISED_INLINED, INTERPRETED, PIECE } kind;
    unsigned nmethod, method, bci;
};

static struct shape shapes[DEPTH];

static void set_compile_id(const struct fake_nmethod *of, uint32_t id)
{
    set((void *)of->blob, "nmethod", "_compile_id", id, 4);
}

static void open_past(void)
{
    memset(&cache, 0, sizeof cache);
    memset(&past, 0, sizeof past);
    cache.noted_from = WALK_NOTED_FROM;
    for (unsigned i = 0; i < JW_COUNT_OF(code); i++) {
        code[i] = put_nmethod();
        set_compile_id(&code[i], 100 + i);
    }
    wrapper = put_other("native nmethod");
    set_compile_id(&wrapper, 99);
}

static void push_shape(const struct shape *shape)
{
    const struct fake_nmethod *nmethod = &code[shape->nmethod % JW_COUNT_OF(code)];
    struct vm_anchor before;

    switch (shape->kind) {
    case COMPILED:
    case COMPILED_INLINED:
        push_compiled(nmethod, shape->kind == COMPILED ? PC_CALL : PC_INLINED);
        break;
    case DEOPTIMISED:
    case DEOPTIMISED_INLINED:
        push_compiled(nmethod, PC_DEOPT_HANDLER);
        put_word(fake_stack.regs.sp + ORIGINAL_PC_BYTES,
                 nmethod->code + (shape->kind == DEOPTIMISED ? PC_CALL : PC_INLINED));
        break;
    case INTERPRETED:
        push_interpreted((int)(shape->bci % BYTECODES_BYTES));
        if (shape->method % 2 != 0)
            put_word(fake_stack.regs.fp - 24, (uintptr_t)fake_stack.inlined_method);
        break;
    case PIECE: /* a native method that calls Java */
        push_compiled(&wrapper, 30);
        before = (struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp};
        fake_stack.regs.sp -= 4 * sizeof(uintptr_t);
        fake_stack.regs.pc = 0x4000;
        push_entry(&before);
        break;
    }
}

static void lay_out(unsigned depth)
{
    begin_stack();
    push_entry(NULL);
    for (unsigned i = 0; i < depth; i++)
        push_shape(&shapes[i]);
    push_compiled(&code[0], PC_TOP);
}

static void walk_with(struct walk_cache *with, struct vm_call_frame *to)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), with, to, FRAMES_MAX, &result);
}

/* As the sampler does it; how many frames were not walked. The whole stack is in `frames`. */
static uint32_t walk_again(void)
{
    cache.past = &past;
    walk_with(&cache, frames);
    cr_assert(ge(u32, result.frame_count, 1), "%s", walk_code_text(result.code));
    const uint32_t fresh = result.frame_count, reused = result.past_frames;

    cr_assert(le(u32, fresh + reused, FRAMES_MAX));
    walk_past_keep(&past, &cache.log, result.past_steps, frames, fresh);
    cr_assert(ge(u32, past.frame_count, reused));
    memcpy(frames + fresh, &past.frames[WALK_DEPTH_MAX - reused], reused * sizeof frames[0]);
    result.frame_count = fresh + reused;
    return reused;
}

static void is_as_walked_plainly(const char *what, int round)
{
    const uint32_t count = result.frame_count;

    walk_with(NULL, plain_frames);
    cr_assert(eq(u32, count, result.frame_count), "%s, round %d", what, round);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(frames[i].method == plain_frames[i].method &&
                      frames[i].bci == plain_frames[i].bci &&
                      frames[i].kind == plain_frames[i].kind,
                  "%s, round %d: frame %u of %u", what, round, i, count);
    }
}

static uint64_t random_state = 0x2545f4914f6cdd1d;

static unsigned next_random(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

static void fill_alike(unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        shapes[i] = (struct shape){COMPILED, i, 0, 0};
}

TEST_EACH_STACK(walk_vm_past, a_stack_that_stands_is_met_behind_its_innermost_frames)
{
    open_past();
    fill_alike(DEPTH);
    lay_out(DEPTH);
    cr_assert(eq(u32, walk_again(), 0));
    is_as_walked_plainly("first", 0);
    for (int round = 0; round < 3; round++) {
        lay_out(DEPTH);
        cr_assert(ge(u32, walk_again(), DEPTH - 20));
        is_as_walked_plainly("again", round);
    }
    /* Less of it, and more of it. */
    lay_out(DEPTH - 10);
    cr_assert(ge(u32, walk_again(), DEPTH - 20));
    is_as_walked_plainly("less", 0);
    lay_out(DEPTH);
    cr_assert(ge(u32, walk_again(), DEPTH - 30));
    is_as_walked_plainly("more", 0);
    lay_out(DEPTH);
    cr_assert(ge(u32, walk_again(), DEPTH - 20));
    is_as_walked_plainly("more", 1);
}

TEST_EACH_STACK(walk_vm_past, what_was_walked_is_not_looked_at_again)
{
    open_past();
    fill_alike(DEPTH);
    lay_out(DEPTH);
    (void)walk_again();
    /* An oracle, not a state that can be: without it the test above proves nothing. */
    memset(cache.entries, 0, sizeof cache.entries);
    for (unsigned i = 20; i < DEPTH; i++)
        past.frames[WALK_DEPTH_MAX - i].bci = 1;
    cr_assert(ge(u32, walk_again(), DEPTH - 20));
    cr_assert(eq(i32, frames[DEPTH - 20].bci, 1));
}

/* Each word that anything depends on, changed to what another stack might hold. */
TEST_EACH_STACK(walk_vm_past, no_word_changes_unseen)
{
    unsigned reused = 0;

    open_past();
    for (unsigned i = 0; i < DEPTH; i++)
        shapes[i] = (struct shape){i % 4 == 3 ? INTERPRETED : COMPILED, i, i, i};
    shapes[9].kind = PIECE;
    shapes[10] = (struct shape){INTERPRETED, 0, 0, 3};
    for (int round = 0; round < (int)STACK_WORDS; round++) {
        const uintptr_t others[] = {code[1].code + PC_CALL, code[2].code + PC_INLINED,
                                    interpreter_pc(), (uintptr_t)fake_stack.inlined_method,
                                    (uintptr_t)fake.const_method + size_of("ConstMethod") + 4};

        for (unsigned other = 0; other < JW_COUNT_OF(others); other++) {
            lay_out(DEPTH);
            (void)walk_again();
            fake_stack.stack[round] = others[other];
            cache.past = &past;
            walk_with(&cache, frames);
            const struct walk_java_result found = result;
            if (found.frame_count > 0) {
                reused += found.past_frames > 0;
                memcpy(frames + found.frame_count, &past.frames[WALK_DEPTH_MAX - found.past_frames],
                       found.past_frames * sizeof frames[0]);
                result.frame_count = found.frame_count + found.past_frames;
                is_as_walked_plainly("word", round);
            } else {
                walk_with(NULL, plain_frames);
                cr_assert(eq(i32, found.code, result.code), "word %d", round);
                cr_assert(eq(u32, result.frame_count, 0), "word %d", round);
            }
        }
    }
    cr_assert(ge(u32, reused, STACK_WORDS)); /* most words are above or beside what is kept */
}

/*
 * Stacks that pop and push the same return addresses with other frames below them, that have other methods
 * in frames of the same place, and whose frames are deoptimised while they stand.
 */
TEST_EACH_STACK(walk_vm_past, random_walks_over_a_call_graph_are_as_walked_plainly)
{
    uint64_t reused = 0, all = 0;
    unsigned depth = 0;
    unsigned pieces;

    open_past();
    for (int round = 0; round < 20000; round++) {
        cache.noted_from = next_random(2) == 0 ? WALK_NOTED_FROM_HOOK : WALK_NOTED_FROM;
        const unsigned kept = next_random(4) == 0 ? next_random(depth + 1) : depth - depth / 8;

        depth = next_random(3) == 0 ? 20 + next_random(DEPTH - 20) : depth;
        depth = depth < 20 ? 20 : depth;
        for (unsigned i = kept; i < depth; i++)
            shapes[i] = (struct shape){next_random(12) < 8 ? COMPILED + next_random(2)
                                                           : COMPILED + next_random(6),
                                       next_random(3), next_random(2), next_random(3)};
        /* One frame in the midst of others that stay. */
        if (next_random(2) == 0) {
            struct shape *one = &shapes[next_random(depth)];

            switch (next_random(4)) {
            case 0:
                one->kind = one->kind <= DEOPTIMISED_INLINED ? next_random(4) : one->kind;
                break;
            case 1:
                one->method++;
                break;
            case 2:
                one->bci++;
                break;
            case 3:
                one->nmethod++;
                break;
            }
        }
        pieces = 0;
        for (unsigned i = 0; i < depth; i++) {
            if (shapes[i].kind == PIECE && ++pieces > JW_COUNT_OF(fake_stack.wrappers) - 1)
                shapes[i].kind = COMPILED;
        }
        lay_out(depth);
        reused += walk_again();
        all += result.frame_count;
        is_as_walked_plainly("graph", round);
    }
    cr_assert(ge(u64, reused * 10, all)); /* or else little was tried */
}

/* The frame pointer of an interpreted frame lies where its callee saved it, which may be another callee. */
TEST_EACH_STACK(walk_vm_past, a_frame_pointer_is_read_where_the_callee_has_it_now)
{
    open_past();
    for (unsigned interpreted = 2; interpreted < DEPTH - 18; interpreted++) {
        fill_alike(DEPTH);
        shapes[interpreted] = (struct shape){INTERPRETED, 0, 0, 1};
        shapes[interpreted + 1] = (struct shape){INTERPRETED, 0, 0, 2};
        lay_out(DEPTH);
        (void)walk_again();
        shapes[interpreted + 1] = (struct shape){COMPILED, 0, 0, 0};
        for (int round = 0; round < 2; round++) {
            lay_out(DEPTH);
            (void)walk_again();
            is_as_walked_plainly("callee", round);
        }
        /* It saved something else: no stack, and none is shown. */
        push_compiled(&code[0], PC_CALL);
        const uintptr_t saved = fake_stack.regs.sp;
        lay_out(DEPTH);
        for (uintptr_t addr = saved; addr < (uintptr_t)(fake_stack.stack + STACK_WORDS);
             addr += 8) {
            uintptr_t word;

            memcpy(&word, (void *)addr, sizeof word);
            if (word < (uintptr_t)fake_stack.stack ||
                word >= (uintptr_t)(fake_stack.stack + STACK_WORDS))
                continue;
            put_word(addr, word - 8);
            cache.past = &past;
            walk_with(&cache, frames);
            const struct walk_java_result found = result;
            walk_with(NULL, plain_frames);
            cr_assert(eq(u32, found.frame_count + found.past_frames, result.frame_count));
            put_word(addr, word);
        }
    }
}

TEST_EACH_STACK(walk_vm_past, code_compiled_anew_at_the_same_place_is_other_code)
{
    static unsigned char other_method[OBJECT_BYTES];

    open_past();
    fill_alike(DEPTH);
    lay_out(DEPTH);
    (void)walk_again();
    (void)walk_again();
    /* The same words on the stack; the code at their place is of another compilation. */
    memcpy(other_method, fake.method, sizeof other_method);
    unsigned char *metadata = fake_jdk >= LAYOUT_25
                                  ? fake_stack.debug[1]
                                  : (unsigned char *)code[1].blob + BLOB_CODE_OFFSET + CODE_BYTES;
    memcpy(metadata, &(void *){other_method}, sizeof(void *));
    set_pointer((void *)code[1].blob, "nmethod", "_method", other_method);
    set_pointer((void *)code[1].blob, "CompiledMethod", "_method", other_method);
    set_compile_id(&code[1], 7);
    cr_assert(le(u32, walk_again(), 2));
    is_as_walked_plainly("compiled anew", 0);
    cr_assert(ge(u32, walk_again(), DEPTH - 20));
    is_as_walked_plainly("compiled anew", 1);
    /* The method alone, under the same number. */
    memcpy(metadata, &(void *){fake.method}, sizeof(void *));
    set_pointer((void *)code[1].blob, "nmethod", "_method", fake.method);
    set_pointer((void *)code[1].blob, "CompiledMethod", "_method", fake.method);
    cr_assert(le(u32, walk_again(), 2));
    is_as_walked_plainly("another method", 0);
}

TEST_EACH_STACK(walk_vm_past, a_past_of_another_thread_is_no_hindrance_and_no_help)
{
    open_past();
    fill_alike(DEPTH);
    lay_out(DEPTH);
    (void)walk_again();
    /* The thread's number is that of a new one: the same stack memory, within other bounds. */
    set(fake.java_thread, "JavaThread", "_stack_size", sizeof fake_stack.stack - 64, 8);
    cr_assert(eq(u32, walk_again(), 0));
    is_as_walked_plainly("other bounds", 0);
    for (unsigned i = 0; i < DEPTH; i++)
        shapes[i] = (struct shape){INTERPRETED, 0, i, 4};
    lay_out(20);
    cr_assert(le(u32, walk_again(), 2));
    is_as_walked_plainly("other frames", 0);
}

TEST_EACH_STACK(walk_vm_past, a_depth_limit_cuts_as_if_there_were_no_past)
{
    static const ucontext_t none;
    struct arch_context context;

    open_past();
    fill_alike(DEPTH);
    lay_out(DEPTH);
    (void)walk_again();
    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    for (uint32_t depth_max = 1; depth_max < DEPTH + 3; depth_max++) {
        walk_java_vm(context.bytes, fake_env(), &cache, frames, depth_max, &result);
        const struct walk_java_result found = result;
        walk_java_vm(context.bytes, fake_env(), NULL, plain_frames, depth_max, &result);
        cr_assert(eq(u32, found.frame_count + found.past_frames, result.frame_count));
        cr_assert(eq(int, found.is_truncated, result.is_truncated), "limit %u", depth_max);
    }
}
