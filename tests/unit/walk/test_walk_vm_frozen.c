/* Walks among frames of a virtual thread in the heap, over a fake JVM: behind those on the stack, and while they are moved. */
#include "unit/vm/fake_mounted.h"
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "symbols/symbols.h"
#include "vm/vm_continuation.h"
#include "vm/vm_stub.h"
#include "walk/walk_internal.h"

#define ENTRY_BYTES 64

static struct vm_call_frame frames[64];
static struct walk_java_result result;
static struct walk_cache cache;
static struct fake_nmethod code, stubs;

static void add_tables(void)
{
    add_mounted_tables(true);
}

/* A JVM that tells of frames in the heap, with a virtual thread mounted, and the code that its frames stand in. */
static void open_walk(void)
{
    void *jni = NULL;

    open_stack_with(LAYOUT_25, add_tables);
    prepare_mounted(true);
    fill_chunks();
    cr_assert(eq(int, vm_mounted_open(env(), (jobject)own_object), VM_MOUNTED_BY_NUMBER));
    mount();
    cr_assert(vm_frozen_open(env()));
    const jint status = (*fake_jvm->java_vm)->GetEnv(fake_jvm->java_vm, &jni, JNI_VERSION_1_6);
    cr_assert(eq(i32, status, JNI_OK));
    vm_continuation_open(jni);
    code = put_nmethod();
    stubs = put_other("StubRoutines (2)");
    vm_stub_report("cont_returnBarrier", (const void *)stubs.code, 32);
    vm_stub_settle();
}

TestSuite(walk_vm_frozen, .timeout = 1800, .init = open_walk);

/* Compiled frames that return into each other, each to the next pc of `pcs`, from word 6 of a chunk on. */
static void freeze(int chunk, const uintptr_t *pcs, uint32_t count)
{
    const uint32_t sp = 6;

    for (uint32_t i = 0; i < count; i++)
        put_word(word_at(chunk, sp - 1 + i * FRAME_WORDS), code.code + pcs[i]);
    put_chunk(chunk, sp, sp + count * FRAME_WORDS, CHUNK_WORDS);
}

/* Two frames of a carrier, and the entry of a virtual thread. */
static void begin_carrier(void)
{
    begin_stack();
    push_entry(NULL);
    push_interpreted(6);
    push_compiled(&code, PC_CALL);
    put_word(fake_stack.regs.sp - 8, fake_stack.regs.pc);
    put_word(fake_stack.regs.sp - 16, fake_stack.regs.fp);
    fake_stack.regs.sp -= 16 + ENTRY_BYTES;
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
}

static void walk(bool with_carrier)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    cache.with_carrier = with_carrier;
    memset(frames, 0xee, sizeof frames);
    walk_java_vm(context.bytes, fake_env(), &cache, frames, JW_COUNT_OF(frames), &result);
}

static void mark_is(uint32_t depth, enum jw_mark mark)
{
    cr_assert(eq(u32, frames[depth].kind, JW_FRAME_MARK), "frame %u", depth);
    cr_assert(eq(int, (int)walk_is_mark(frames[depth].method), (int)mark), "frame %u", depth);
}

static void frame_is(uint32_t depth, enum jw_frame_kind kind, int bci)
{
    cr_assert(eq(u32, frames[depth].kind, kind), "frame %u", depth);
    cr_assert(eq(i32, frames[depth].bci, bci), "frame %u", depth);
}

static void carrier_is(uint32_t depth)
{
    mark_is(depth, JW_MARK_CARRIER);
    frame_is(depth + 1, JW_FRAME_COMPILED, 3);
    frame_is(depth + 2, JW_FRAME_INTERPRETED, 6);
    cr_assert(eq(u32, result.frame_count, depth + 3), "%s", walk_code_text(result.code));
    cr_assert(not(result.is_carrier_lost));
}

/* The innermost one is on the stack; two lie in the first chunk, the innermost of them inlined, and one in its parent. */
static void lay_out(void)
{
    freeze(0, (const uintptr_t[]){PC_CALL, PC_INLINED}, 2);
    freeze(1, (const uintptr_t[]){PC_CALL}, 1);
    begin_carrier();
    fake_stack.regs.pc = stubs.code;
    push_compiled(&code, PC_TOP);
}

Test(walk_vm_frozen, behind_the_frames_on_the_stack_stand_those_of_each_chunk)
{
    lay_out();
    walk(true);
    frame_is(0, JW_FRAME_COMPILED, 3);
    frame_is(1, JW_FRAME_COMPILED, 3);
    frame_is(2, JW_FRAME_INLINED, 7);
    frame_is(3, JW_FRAME_COMPILED, 5);
    frame_is(4, JW_FRAME_COMPILED, 3);
    carrier_is(5);
    cr_assert(result.is_virtual && result.is_thawed && !result.is_frozen && !result.is_moving);
    walk(false);
    cr_assert(eq(u32, result.frame_count, 5), "%s", walk_code_text(result.code));
}

/* What a word too many or too few says is nothing of the frames in the heap, also where each of them can be read. */
Test(walk_vm_frozen, frames_that_do_not_come_out_at_the_end_of_their_chunk_are_missing)
{
    for (uint32_t bottom = 6 + FRAME_WORDS + 1; bottom < 6 + 2 * FRAME_WORDS; bottom++) {
        lay_out();
        put_chunk(0, 6, bottom, CHUNK_WORDS);
        walk(false);
        cr_assert(result.is_frozen);
        cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
        frame_is(0, JW_FRAME_COMPILED, 3);
        mark_is(1, JW_MARK_FROZEN);
    }
    lay_out();
    heap[ACTIVE_OFFSET] = 1;
    walk(false);
    cr_assert(eq(u32, result.frame_count, 2));
    mark_is(1, JW_MARK_FROZEN);
}

/* The code that brings frames back says of none whether it stands in the heap, or on the stack already. */
static void lay_out_thawing(void)
{
    lay_out();
    begin_carrier();
    fake_stack.regs.pc = stubs.code + 8;
}

Test(walk_vm_frozen, where_frames_are_brought_back_a_mark_stands_in_place_of_the_innermost)
{
    lay_out_thawing();
    walk(true);
    mark_is(0, JW_MARK_THAWING);
    frame_is(1, JW_FRAME_COMPILED, 3);
    frame_is(2, JW_FRAME_INLINED, 7);
    frame_is(3, JW_FRAME_COMPILED, 5);
    frame_is(4, JW_FRAME_COMPILED, 3);
    carrier_is(5);
    cr_assert(result.is_moving);
}

static void name_the_method(const char *class_name, const char *name)
{
    set_symbol(fake.class_name, class_name);
    set_symbol(fake.name, name);
}

Test(walk_vm_frozen, above_the_method_that_leaves_first_none_has_been_brought_back)
{
    lay_out_thawing();
    name_the_method("jdk/internal/vm/Continuation", "yield0");
    walk(true);
    frame_is(0, JW_FRAME_COMPILED, 3);
    frame_is(1, JW_FRAME_INLINED, 7);
    frame_is(2, JW_FRAME_COMPILED, 5);
    frame_is(3, JW_FRAME_COMPILED, 3);
    carrier_is(4);
    cr_assert(not(result.is_moving));

    static const char *const others[][2] = {{"jdk/internal/vm/Continuation", "yield1"},
                                            {"jdk/internal/vm/Continuations", "yield0"},
                                            {"jdk/internal/vm/Continuatio", "yield0"}};
    for (size_t i = 0; i < JW_COUNT_OF(others); i++) {
        name_the_method(others[i][0], others[i][1]);
        walk(true);
        mark_is(0, JW_MARK_THAWING);
        cr_assert(result.is_moving);
    }
}

/* Only what stands innermost in the heap says it, not a caller of it. */
Test(walk_vm_frozen, a_method_that_leaves_further_out_says_nothing)
{
    lay_out_thawing();
    freeze(0, (const uintptr_t[]){PC_INLINED, PC_CALL}, 2);
    name_the_method("jdk/internal/vm/Continuation", "yield0");
    /* The inlined one is of a class of its own, as a Method is found by its ConstMethod. */
    static unsigned char other_const[OBJECT_BYTES];
    memcpy(other_const, fake.const_method, sizeof other_const);
    set(other_const, "ConstMethod", "_name_index", SIGNATURE_INDEX, 2);
    set_pointer(fake_stack.inlined_method, "Method", "_constMethod", other_const);
    walk(true);
    mark_is(0, JW_MARK_THAWING);
    frame_is(1, JW_FRAME_INLINED, 7);
    frame_is(2, JW_FRAME_COMPILED, 5);
    cr_assert(result.is_moving);
}

/* The JVM says that a wait is over before it brings back any frame of who waited. */
Test(walk_vm_frozen, who_is_mounted_again_stands_in_the_heap_as_a_whole)
{
    const struct fake_nmethod border = put_other("native nmethod");

    begin_stack();
    push_entry(NULL);
    push_interpreted(6);
    push_compiled(&code, PC_CALL);
    push_compiled(&border, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
    freeze(0, (const uintptr_t[]){PC_INLINED, PC_CALL}, 2);
    put_reference(chunks[0], PARENT_OFFSET, NULL);
    walk(false);
    cr_assert(not(result.is_virtual), "else they are the carrier's");
    cache.is_resumed = true;
    walk(false);
    cr_assert(eq(u32, result.frame_count, 3), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_INLINED, 7);
    frame_is(1, JW_FRAME_COMPILED, 5);
    frame_is(2, JW_FRAME_COMPILED, 3);
    cr_assert(result.is_virtual && !result.is_moving && !result.is_frozen);
    heap[ACTIVE_OFFSET] = 1;
    walk(false);
    cr_assert(result.is_virtual && result.is_frozen,
              "while a collector moves them they are not told");
    mark_is(0, JW_MARK_FROZEN);
}

/* Native code that freezes, called by the method that leaves, below which stands one more; the others never came back. */
static void lay_out_freezing(const struct fake_nmethod *border, const struct fake_nmethod *leaving)
{
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    begin_stack();
    push_entry(NULL);
    push_interpreted(6);
    push_compiled(&code, PC_CALL);
    push_compiled(border, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
    fake_stack.regs.pc = stubs.code;
    push_compiled(&code, PC_CALL);
    push_compiled(leaving, 30);
    enter_native("getppid", leaving->code + 30);
}

Test(walk_vm_frozen, frames_that_stand_on_the_stack_and_in_the_heap_are_not_shown_twice)
{
    const struct fake_nmethod border = put_other("native nmethod");
    const struct fake_nmethod leaving = put_other("native nmethod");

    /* The heap has what it had: another method is the first there. */
    lay_out_freezing(&border, &leaving);
    freeze(0, (const uintptr_t[]){PC_INLINED}, 1);
    put_reference(chunks[0], PARENT_OFFSET, NULL);
    walk(false);
    cr_assert(eq(u32, result.frame_count, 4), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_JAVA_NATIVE, JW_BCI_NATIVE);
    frame_is(1, JW_FRAME_COMPILED, 3);
    frame_is(2, JW_FRAME_INLINED, 7);
    frame_is(3, JW_FRAME_COMPILED, 5);
    cr_assert(result.is_virtual && !result.is_moving);

    /* It has those of the stack already, before what it had. */
    freeze(0, (const uintptr_t[]){PC_CALL, PC_INLINED}, 2);
    walk(false);
    cr_assert(not(result.is_virtual));
    cr_assert(result.is_moving);
    mark_is(0, JW_MARK_FREEZING);
    frame_is(1, JW_FRAME_JAVA_NATIVE, JW_BCI_NATIVE);
    frame_is(2, JW_FRAME_COMPILED, 3);
    frame_is(3, JW_FRAME_INTERPRETED, 6);
    cr_assert(eq(u32, result.frame_count, 4), "%s", walk_code_text(result.code));
}
