/* Walks below the entry of a virtual thread, over stacks of a fake JVM: its carrier's frames, where they are wanted. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "symbols/symbols.h"
#include "vm/vm_continuation.h"
#include "vm/vm_stub.h"
#include "walk/walk_internal.h"

TestSuite(walk_vm_carrier, .timeout = 1800);

static struct vm_call_frame frames[64];
static struct walk_java_result result;
static struct walk_cache cache;
static uintptr_t yield_sp; /* of begin_freezing */

static void walk_to(uint32_t depth_max, bool with_carrier)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    cache.with_carrier = with_carrier;
    memset(frames, 0xee, sizeof frames);
    walk_java_vm(context.bytes, fake_env(), &cache, frames, depth_max, &result);
}

static void walk(bool with_carrier)
{
    walk_to(JW_COUNT_OF(frames), with_carrier);
}

/* Others get no marks, and no carrier's frames of a virtual thread. */
static void others_get(uint32_t count)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, &fake_stack.regs);
    walk_for_others(context.bytes, fake_env(), frames, JW_COUNT_OF(frames), &result);
    cr_assert(eq(u32, result.frame_count, count));
    for (uint32_t i = 0; i < count; i++)
        cr_assert(frames[i].method == (jmethodID)(void *)fake.method, "frame %u", i);
}

static void mark_is(uint32_t depth, enum jw_mark mark)
{
    cr_assert(eq(u32, frames[depth].kind, JW_FRAME_MARK), "frame %u", depth);
    cr_assert(eq(int, (int)walk_is_mark(frames[depth].method), (int)mark), "frame %u", depth);
}

static void frame_is(uint32_t depth, enum jw_frame_kind kind, int bci)
{
    cr_assert(eq(u32, frames[depth].kind, kind), "frame %u", depth);
    cr_assert(frames[depth].method == (jmethodID)(void *)fake.method, "frame %u", depth);
    cr_assert(eq(i32, frames[depth].bci, bci), "frame %u", depth);
}

/* Two frames of a carrier, interpreted and compiled, or none that anybody knows. */
static void begin_carrier(const struct fake_nmethod *code, bool is_known)
{
    begin_stack();
    if (!is_known)
        return;
    push_entry(NULL);
    push_interpreted(6);
    push_compiled(code, PC_CALL);
}

/* Two frames of a virtual thread on them. */
static void lay_out(const struct fake_nmethod *code, bool is_known)
{
    const struct fake_nmethod border = put_other("native nmethod");

    begin_carrier(code, is_known);
    push_compiled(&border, 30);
    push_interpreted(2);
    push_compiled(code, PC_TOP);
}

static void two_are_found(void)
{
    cr_assert(result.is_virtual);
    frame_is(0, JW_FRAME_COMPILED, 3);
    frame_is(1, JW_FRAME_INTERPRETED, 2);
}

TEST_EACH_STACK(walk_vm_carrier, behind_the_border_stand_the_frames_of_the_carrier)
{
    const struct fake_nmethod code = put_nmethod();

    lay_out(&code, true);
    walk(false);
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    two_are_found();
    walk(true);
    cr_assert(eq(u32, result.frame_count, 5), "%s", walk_code_text(result.code));
    two_are_found();
    mark_is(2, JW_MARK_CARRIER);
    frame_is(3, JW_FRAME_COMPILED, 3);
    frame_is(4, JW_FRAME_INTERPRETED, 6);
    cr_assert(not(result.is_carrier_lost));
    cr_assert(not(result.is_truncated));
}

TEST_EACH_STACK(walk_vm_carrier, a_platform_thread_has_no_border)
{
    const struct fake_nmethod code = put_nmethod();

    begin_carrier(&code, true);
    push_compiled(&code, PC_TOP);
    walk(true);
    cr_assert(eq(u32, result.frame_count, 3), "%s", walk_code_text(result.code));
    cr_assert(not(result.is_virtual));
}

TEST_EACH_STACK(walk_vm_carrier, frames_of_a_carrier_that_cannot_be_walked_are_said_to_be_missing)
{
    const struct fake_nmethod code = put_nmethod();

    lay_out(&code, false);
    walk(true);
    cr_assert(eq(u32, result.frame_count, 4), "%s", walk_code_text(result.code));
    two_are_found();
    mark_is(2, JW_MARK_CARRIER);
    mark_is(3, JW_MARK_BROKEN_STACK);
    cr_assert(result.is_carrier_lost);
    cr_assert(eq(i32, result.code, 0));
    walk(false);
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    cr_assert(not(result.is_carrier_lost));
}

TEST_EACH_STACK(walk_vm_carrier, as_many_frames_are_given_as_were_asked_for)
{
    const struct fake_nmethod code = put_nmethod();

    for (int is_known = 0; is_known < 2; is_known++) {
        const uint32_t whole = is_known ? 5 : 4;

        lay_out(&code, is_known != 0);
        for (uint32_t depth_max = 1; depth_max <= whole + 1; depth_max++) {
            walk_to(depth_max, true);
            cr_assert(eq(u32, result.frame_count, depth_max < whole ? depth_max : whole));
            cr_assert(eq(u32, frames[result.frame_count].kind, 0xeeeeeeee));
            cr_assert(eq(int, result.is_truncated, depth_max <= (is_known ? 5 : 3)), "%u",
                      depth_max);
        }
    }
}

static JNIEnv *fake_jni(void)
{
    void *jni = NULL;

    const jint status = (*fake_jvm->java_vm)->GetEnv(fake_jvm->java_vm, &jni, JNI_VERSION_1_6);

    cr_assert(eq(i32, status, JNI_OK));
    return jni;
}

/* The thread returns to a stub, as what follows lies in the heap, which this JVM has none of. */
static void lay_out_frozen(const struct fake_nmethod *code, const struct fake_nmethod *stubs)
{
    const size_t entry_bytes = 64;

    vm_continuation_open(fake_jni());
    begin_carrier(code, true);
    put_word(fake_stack.regs.sp - 8, fake_stack.regs.pc);
    put_word(fake_stack.regs.sp - 16, fake_stack.regs.fp);
    fake_stack.regs.sp -= 16 + entry_bytes;
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
    fake_stack.regs.pc = stubs->code;
    push_compiled(code, PC_TOP);
}

TEST_EACH_STACK(walk_vm_carrier,
                where_frames_lie_in_the_heap_the_thread_tells_where_its_carrier_goes_on)
{
    const struct fake_nmethod code = put_nmethod(), stubs = put_other("StubRoutines (2)");

    vm_stub_report("cont_returnBarrier", (const void *)stubs.code, 32);
    vm_stub_settle();
    lay_out_frozen(&code, &stubs);
    walk(true);
    cr_assert(result.is_frozen && result.is_virtual);
    frame_is(0, JW_FRAME_COMPILED, 3);
    mark_is(1, JW_MARK_FROZEN);
    mark_is(2, JW_MARK_CARRIER);
    if (fake_jdk < LAYOUT_25) {
        cr_assert(eq(u32, result.frame_count, 4));
        mark_is(3, JW_MARK_BROKEN_STACK);
        cr_assert(result.is_carrier_lost);
        return;
    }
    cr_assert(eq(u32, result.frame_count, 5), "%s", walk_code_text(result.code));
    frame_is(3, JW_FRAME_COMPILED, 3);
    frame_is(4, JW_FRAME_INTERPRETED, 6);
    cr_assert(not(result.is_carrier_lost));

    static const uintptr_t wrong[] = {0, 8, 0x7fffffff0000};
    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        set(fake.java_thread, "JavaThread", "_cont_entry", wrong[i], 8);
        walk(true);
        cr_assert(eq(u32, result.frame_count, 4));
        cr_assert(result.is_carrier_lost);
    }
    walk(false);
    cr_assert(eq(u32, result.frame_count, 2));
    mark_is(1, JW_MARK_FROZEN);
    others_get(1);
    cr_assert(result.is_frozen);
}

TEST_EACH_STACK(walk_vm_carrier, the_entry_of_a_virtual_thread_is_above_its_frames_alone)
{
    const struct fake_nmethod code = put_nmethod();
    struct vm_thread thread;

    vm_continuation_open(fake_jni());
    begin_carrier(&code, true);
    cr_assert(vm_thread_of(fake_env(), &thread));
    const uintptr_t entry = fake_stack.regs.sp;
    set(fake.java_thread, "JavaThread", "_cont_entry", entry, 8);
    const bool is_told = fake_jdk >= LAYOUT_25;
    cr_assert(eq(int, vm_continuation_is_above(&thread, entry - 8), is_told));
    cr_assert(not(vm_continuation_is_above(&thread, entry)));
    cr_assert(not(vm_continuation_is_above(&thread, entry + 8)));
    static const uintptr_t none[] = {0, 0x7fffffff0000};
    for (size_t i = 0; i < JW_COUNT_OF(none); i++) {
        set(fake.java_thread, "JavaThread", "_cont_entry", none[i], 8);
        cr_assert(not(vm_continuation_is_above(&thread, entry - 8)));
    }
}

/* The code that freezes frames is called by those, and the JVM says that it left Java in enterSpecial. */
TEST_EACH_STACK(walk_vm_carrier, frames_that_were_just_frozen_are_said_to_be_missing)
{
    const struct fake_nmethod code = put_nmethod(), border = put_other("native nmethod");

    vm_continuation_open(fake_jni());
    begin_carrier(&code, true);
    push_compiled(&border, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
    for (int with_carrier = 0; with_carrier < 2; with_carrier++) {
        const uint32_t marks =
            fake_jdk >= LAYOUT_25 ? 1 : 0; /* before, the method tells, which here is any */

        walk(with_carrier != 0);
        cr_assert(eq(u32, result.frame_count, marks + 3), "%s", walk_code_text(result.code));
        if (marks > 0)
            mark_is(0, JW_MARK_FREEZING);
        frame_is(marks, JW_FRAME_JAVA_NATIVE, JW_BCI_NATIVE);
        frame_is(marks + 1, JW_FRAME_COMPILED, 3);
        frame_is(marks + 2, JW_FRAME_INTERPRETED, 6);
        cr_assert(not(result.is_virtual));
        cr_assert(eq(int, result.is_moving, marks > 0));
    }
    others_get(3);
    /* Any other native method is what called. */
    set(fake.java_thread, "JavaThread", "_cont_entry", 0, 8);
    walk(true);
    cr_assert(eq(u32, result.frame_count, 3));
    cr_assert(not(result.is_moving));
}

/* As before, but that the native code is known: what the frames of the virtual thread called as their last. */
static void begin_freezing(const struct fake_nmethod *code, const struct fake_nmethod *border,
                           const struct fake_nmethod *yield)
{
    struct jw_error err = {0};

    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    vm_continuation_open(fake_jni());
    begin_carrier(code, true);
    push_compiled(border, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
    set(fake.java_thread, "JavaThread", "_cont_entry", fake_stack.regs.sp, 8);
    push_interpreted(2);
    push_compiled(code, PC_CALL);
    push_compiled(yield, 30);
    yield_sp = fake_stack.regs.sp;
    enter_native("getppid", yield->code + 30);
}

TEST_EACH_STACK(walk_vm_carrier, frames_that_are_being_frozen_are_found_from_what_freezes_them)
{
    const struct fake_nmethod code = put_nmethod(), border = put_other("native nmethod");
    const struct fake_nmethod yield = put_other("native nmethod");

    begin_freezing(&code, &border, &yield);
    walk(true);
    if (fake_jdk < LAYOUT_25) { /* where the entry lies is not told */
        cr_assert(eq(u32, result.frame_count, 3), "%s", walk_code_text(result.code));
        return;
    }
    cr_assert(eq(u32, result.frame_count, 6), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_JAVA_NATIVE, JW_BCI_NATIVE);
    frame_is(1, JW_FRAME_COMPILED, 3);
    frame_is(2, JW_FRAME_INTERPRETED, 2);
    mark_is(3, JW_MARK_CARRIER);
    frame_is(4, JW_FRAME_COMPILED, 3);
    frame_is(5, JW_FRAME_INTERPRETED, 6);
    cr_assert(result.is_virtual && !result.is_moving && !result.is_carrier_lost);
    walk(false);
    cr_assert(eq(u32, result.frame_count, 3));
    others_get(3);
}

/* What is not a virtual thread's stack down to this entry does not count. */
TEST_EACH_STACK(walk_vm_carrier, frames_that_are_being_frozen_lead_to_their_entry_or_are_missing)
{
    const struct fake_nmethod code = put_nmethod(), border = put_other("native nmethod");
    const struct fake_nmethod yield = put_other("native nmethod");
    static const uint32_t words[] = {FRAME_WORDS - 1, 2 * FRAME_WORDS - 1}; /* return addresses */

    for (size_t i = 0; fake_jdk >= LAYOUT_25 && i < JW_COUNT_OF(words); i++) {
        begin_freezing(&code, &border, &yield);
        put_word(yield_sp + words[i] * sizeof(uintptr_t), 0x4000);
        walk(true);
        cr_assert(eq(u32, result.frame_count, 4), "%zu: %s", i, walk_code_text(result.code));
        mark_is(0, JW_MARK_FREEZING);
        frame_is(1, JW_FRAME_JAVA_NATIVE, JW_BCI_NATIVE);
        frame_is(2, JW_FRAME_COMPILED, 3);
        frame_is(3, JW_FRAME_INTERPRETED, 6);
        cr_assert(result.is_moving && !result.is_virtual && !result.is_carrier_lost);
    }
}

/* What was walked with the carrier's frames is not what is wanted without them. */
TEST_EACH_STACK(walk_vm_carrier, the_past_of_a_stack_is_one_with_or_without_the_carrier)
{
    static struct walk_past past;
    const struct fake_nmethod code = put_nmethod(), border = put_other("native nmethod");
    const uint32_t depth = 30;

    begin_carrier(&code, true);
    push_compiled(&border, 30);
    for (uint32_t i = 1; i < depth; i++)
        push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_TOP);
    cache.past = &past;
    uint32_t reused = 0;
    for (int round = 0; round < 8; round++) {
        const bool with_carrier = round % 4 >= 2;

        walk(with_carrier);
        walk_past_keep(&past, &cache.log, result.past_steps, frames, result.frame_count);
        cr_assert(result.is_virtual);
        cr_assert(eq(u32, result.frame_count + result.past_frames, depth + (with_carrier ? 3 : 0)));
        cr_assert(eq(int, result.past_frames > 0, round % 2 == 1), "round %d", round);
        reused += result.past_frames;
    }
    cr_assert(ge(u32, reused, 4));
}

/* What lies below a virtual thread is the carrier's, also when no virtual thread is on it any more. */
TEST_EACH_STACK(walk_vm_carrier,
                a_carrier_that_meets_the_past_below_the_border_is_no_virtual_thread)
{
    static struct walk_past past;
    const struct fake_nmethod code = put_nmethod(), border = put_other("native nmethod");
    bool has_met = false;

    cache.past = &past;
    for (int round = 0; round < 6; round++) {
        const bool is_virtual = round % 2 == 0;

        begin_carrier(&code, true);
        for (uint32_t i = 0; i < 25; i++)
            push_compiled(&code, PC_CALL);
        if (is_virtual) {
            push_compiled(&border, 30);
            push_compiled(&code, PC_CALL);
        }
        push_compiled(&code, PC_TOP);
        walk(true);
        walk_past_keep(&past, &cache.log, result.past_steps, frames, result.frame_count);
        cr_assert(eq(u32, result.frame_count + result.past_frames, is_virtual ? 30 : 28));
        cr_assert(eq(int, result.is_virtual, is_virtual), "round %d", round);
        has_met |= !is_virtual && result.past_frames > 0;
    }
    cr_assert(has_met);
}
