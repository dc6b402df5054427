/* Walks over stacks that are laid out in memory as HotSpot lays them out, and over a native stack of our own; and samples of hooks on them, from
 * registers to record, without gate, counters and clocks. */
#include "unit/vm/fake_counters.h"
#include "unit/walk/made_native.h"

#include <stdarg.h>
#include <stdlib.h>
#include <ucontext.h>

#include "counted.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"
#include "symbols/symbols.h"
#include "walk/walk.h"
#include "walk/walk_internal.h"

#define DEPTH            60
#define NATIVE_DEPTH     20
#define HOOK_DEPTH       24
#define HOOK_INTERPRETED 4
#define FRAMES_MAX       128
#define TID              4711u
#define NATIVE_CALLER    __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static struct walk_cache cache;
static struct walk_past past;
static struct vm_call_frame frames[FRAMES_MAX];
static struct walk_java_result result;

/* For the headers of the tests. */
void cr_tell_failed(bool fatal, const char *file, int line, const char *condition,
                    const char *format, ...)
{
    (void)format;
    fprintf(stderr, "%s:%d: %s\n", file, line, condition);
    if (fatal)
        exit(1);
}

static void walk_with(struct walk_cache *with)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_java_vm(context.bytes, fake_env(), with, frames, FRAMES_MAX, &result);
    counted_sink += result.frame_count;
}

static void walk_once(void)
{
    walk_with(&cache);
}

static void add_counters(void)
{
    add_fields();
    put_counters(7);
    set_entry(2, "sun.rt.safepointSyncTime", 'J', 1000);
}

static void open_stack(void)
{
    open_stack_with(LAYOUT_25, add_counters);
    memset(&cache, 0, sizeof cache);
    memset(&past, 0, sizeof past);
    cache.noted_from = WALK_NOTED_FROM;
    begin_stack();
    push_entry(NULL);
}

static void open_compiled(unsigned operations)
{
    (void)operations;
    open_stack();
    const struct fake_nmethod code = put_nmethod();
    for (unsigned i = 1; i < DEPTH; i++)
        push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_TOP);
    walk_once();
    counted_need(result.frame_count == DEPTH, "a walk over compiled frames", NULL);
}

static void open_interpreted(unsigned operations)
{
    (void)operations;
    open_stack();
    for (unsigned i = 0; i < DEPTH / 3; i++)
        push_interpreted((int)i % BYTECODES_BYTES);
    walk_once();
    counted_need(result.frame_count == DEPTH / 3, "a walk over interpreted frames", NULL);
}

static void open_past(unsigned operations)
{
    open_compiled(operations);
    cache.past = &past;
    walk_once();
    walk_past_keep(&past, &cache.log, result.past_steps, frames, result.frame_count);
    walk_once();
    counted_need(result.frame_count + result.past_frames == DEPTH && result.past_frames > 20,
                 "a walk that meets its past", NULL);
}

/* As the JVM tells of an allocation: in native code that a stub called for compiled code, above the program's own begin in the interpreter. */
static struct fake_nmethod lay_out_hook(void)
{
    open_stack();
    const struct fake_nmethod code = put_nmethod(), stub = put_other("_new_array_Java");
    for (unsigned i = 0; i < HOOK_DEPTH; i++) {
        if (i < HOOK_INTERPRETED)
            push_interpreted((int)i);
        else
            push_compiled(&code, PC_CALL);
    }
    push_compiled(&stub, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
    return code;
}

static void open_hook(unsigned operations)
{
    (void)operations;
    (void)lay_out_hook();
    cache.noted_from = WALK_NOTED_FROM_HOOK;
    cache.past = &past;
    walk_once();
    walk_past_keep(&past, &cache.log, result.past_steps, frames, result.frame_count);
    walk_once();
    counted_need(result.frame_count == WALK_NOTED_FROM_HOOK &&
                     result.frame_count + result.past_frames == HOOK_DEPTH,
                 "a walk of a hook that meets its past", NULL);
}

/* Three pieces of ten compiled frames, with native code between them and below: two frames each time, and the call stub. */
#define PIECES       3
#define PIECE_FRAMES (DEPTH / 6)
#define NATIVE_EACH  3

static void open_pieces(bool with_native)
{
    struct jw_error err = {0};

    open_stack();
    counted_need(symbols_refresh(&err) && symbols_build_rows(&err), "rows of made frames", &err);
    cache.with_native = with_native;
    const struct fake_nmethod code = put_nmethod();
    put_call(code.code + PC_CALL);
    begin_stack();
    fake_stack.regs.pc = 0;
    for (unsigned piece = 0; piece < PIECES; piece++) {
        const struct vm_anchor anchor = {fake_stack.regs.sp, fake_stack.regs.pc,
                                         fake_stack.regs.fp};

        push_native(piece == 0 ? FIRST : OUTER);
        push_native(INNER);
        push_entry(piece == 0 ? NULL : &anchor);
        for (unsigned i = 0; i < PIECE_FRAMES; i++)
            push_compiled(&code, i + 1 == PIECE_FRAMES && piece + 1 == PIECES ? PC_TOP : PC_CALL);
    }
    walk_once();
    counted_need(result.frame_count == PIECES * (PIECE_FRAMES + (with_native ? NATIVE_EACH : 0)),
                 "a walk over Java and native frames", NULL);
}

static void open_mixed(unsigned operations)
{
    (void)operations;
    open_pieces(true);
}

static void open_unmixed(unsigned operations)
{
    (void)operations;
    open_pieces(false);
}

static void close_pieces(void)
{
    symbols_close();
}

static void close_stack(void)
{
}

static void walk_all(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        walk_once();
}

/* Without a memory of earlier walks: each return address is proved from the tables of its nmethod. */
static void walk_anew(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        walk_with(NULL);
}

/* Samples of hooks ----------------------------------------------------------------------------------------- */

static struct generations *generations;
static struct arch_context here;
static struct sampler_hook hook;
static thread_index thread;
static struct sample_deep *deep;

static void sample_once(void)
{
    struct sample_order order = {.kind = hook.kind,
                                 .thread = thread,
                                 .weight_ns = hook.weight_ns,
                                 .number = hook.value,
                                 .hook = &hook,
                                 .now_ns = 1000};

    counted_sink += sample_from_hook(&here, &order);
}

static void open_sample(unsigned operations)
{
    const struct generations_config config = {.memory_bytes = 0};
    struct jw_error err = {0};
    bool is_new;

    (void)operations;
    const struct fake_nmethod code = lay_out_hook();
    generations = generations_open(&config, &err);
    counted_need(generations != NULL && threads_open(&err) && sample_scratch_open(&err) &&
                     sample_deep_open(&err),
                 "the memory of samples", &err);
    sample_deep_start();
    thread = thread_add(TID, &is_new);
    const struct thread_java java = {.env = fake_env(), .java_id = 1, .name = "hook"};
    thread_set_java(thread, &java);
    walk_open(WALK_VM, NULL);
    sampler = (struct sampler_config){.generations = generations, .depth_max = WALK_DEPTH_MAX};
    set((void *)code.blob, "nmethod", "_compile_id", 7, 4);
    hook = (struct sampler_hook){
        .kind = EVENT_ALLOC_SAMPLE, .weight_ns = 16512, .value = 256, .klass = (vm_addr)fake.klass};
    arch_context_of_regs(&here, &fake_stack.regs);
    for (int i = 0; i < 4; i++)
        sample_once();
    deep = sample_deep_find(TID);
    counted_need(deep != NULL && deep->is_again && deep->last.fresh + deep->last.past == HOOK_DEPTH,
                 "a sample where the one before was", NULL);
    sample_deep_give(deep);
}

static void close_sample(void)
{
    generations_close(generations);
}

static void sample_again(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        sample_once();
}

/* Where the one before was not: all frames are named, hashed and looked for. */
static void sample_elsewhere(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        deep->last.trace = STORE_NONE;
        deep->top.is_sure = false;
        deep->top.anchor_sp = 0;
        sample_once();
    }
}

/* Native frames -------------------------------------------------------------------------------------------- */

static uint32_t native_count;

static void walk_native_here(unsigned operations)
{
    static uintptr_t pcs[WALK_NATIVE_DEPTH_MAX];
    ucontext_t context;

    getcontext(&context);
    for (unsigned i = 0; i < operations; i++) {
        enum walk_native_end end;
        struct arch_regs regs;

        arch_regs_read(&context, &regs);
        native_count = walk_native_frames(NULL, &regs, WALK_BY_ROWS, pcs, NATIVE_DEPTH, NULL, &end);
    }
    counted_sink += native_count;
}

NATIVE_CALLER static unsigned descend(unsigned left, unsigned operations)
{
    if (left > 0)
        return descend(left - 1, operations) + 1;
    walk_native_here(operations);
    return 0;
}

static void open_native(unsigned operations)
{
    struct jw_error err = {0};

    (void)operations;
    open_stack(); /* says what is no code of the JVM */
    counted_need(symbols_refresh(&err) && symbols_build_rows(&err), "rows of native code", &err);
}

static void close_native(void)
{
    counted_need(native_count == NATIVE_DEPTH, "a walk over native frames", NULL);
    symbols_close();
}

static void walk_native_all(unsigned operations)
{
    counted_sink += descend(NATIVE_DEPTH + 4, operations);
}

const struct counted counted_walk[] = {
    {"walk_vm_60_compiled", open_compiled, walk_all, close_stack, 10, 60},
    {"walk_vm_60_compiled_anew", open_compiled, walk_anew, close_stack, 10, 60},
    {"walk_vm_20_interpreted", open_interpreted, walk_all, close_stack, 10, 60},
    {"walk_vm_60_past", open_past, walk_all, close_stack, 10, 60},
    {"walk_vm_24_of_hook", open_hook, walk_all, close_stack, 10, 60},
    {"walk_vm_30_in_pieces", open_unmixed, walk_all, close_pieces, 10, 60},
    {"walk_vm_30_mixed", open_mixed, walk_all, close_pieces, 10, 60},
    {"hook_again", open_sample, sample_again, close_sample, 10, 60},
    {"hook_elsewhere", open_sample, sample_elsewhere, close_sample, 10, 60},
    {"walk_native_20", open_native, walk_native_all, close_native, 10, 60},
};
const size_t counted_walk_count = JW_COUNT_OF(counted_walk);
