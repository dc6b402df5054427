/* Walks of our own walker over stacks of a fake JVM: right ones, odd ones, and garbage. */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>
#include <ucontext.h>

#include "vm/vm_stub.h"
#include "walk/walk_breaker.h"
#include "walk/walk_internal.h"

TestSuite(walk_vm, .timeout = 1800);

static struct vm_call_frame frames[64];
static struct walk_java_result result;
static struct walk_cache *cache; /* NULL: none */

/* Walks from these registers as a handler would that interrupted them. */
static void walk_from(const struct arch_regs *regs, uint32_t depth_max)
{
    static const ucontext_t none;
    struct arch_context context;

    arch_context_copy(&context, &none);
    arch_regs_write(&context, regs);
    walk_java_vm(context.bytes, fake_env(), cache, frames, depth_max, &result);
}

static void walk(void)
{
    walk_from(&fake_stack.regs, JW_COUNT_OF(frames));
}

static void frame_is(uint32_t depth, enum jw_frame_kind kind, const void *method, int bci)
{
    cr_assert(eq(u32, frames[depth].kind, kind), "frame %u", depth);
    cr_assert(frames[depth].method == (jmethodID)(uintptr_t)method, "frame %u", depth);
    cr_assert(eq(i32, frames[depth].bci, bci), "frame %u", depth);
}

static void failed(int32_t code)
{
    cr_assert(eq(u32, result.frame_count, 0));
    cr_assert(eq(i32, result.code, code), "%s", walk_code_text(result.code));
}

TEST_EACH_STACK(walk_vm, frames_of_each_kind_stand_in_one_stack)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_interpreted(6);
    push_compiled(&code, PC_INLINED);
    push_interpreted(2);
    walk();
    cr_assert(eq(u32, result.frame_count, 5), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_INTERPRETED, fake.method, 2);
    frame_is(1, JW_FRAME_INLINED, fake_stack.inlined_method, 7);
    frame_is(2, JW_FRAME_COMPILED, fake.method, 5);
    frame_is(3, JW_FRAME_INTERPRETED, fake.method, 6);
    frame_is(4, JW_FRAME_COMPILED, fake.method, 3);
    cr_assert(not(result.is_truncated));
    cr_assert(eq(int, (int)result.walker, WALK_VM));
}

TEST_EACH_STACK(walk_vm, an_interrupted_method_is_described_by_what_follows)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL + 3);
    walk();
    cr_assert(eq(u32, result.frame_count, 2));
    frame_is(0, JW_FRAME_INLINED, fake_stack.inlined_method, 7);
    frame_is(1, JW_FRAME_COMPILED, fake.method, 5);
}

TEST_EACH_STACK(walk_vm, a_return_address_that_nobody_described_ends_in_failure)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL + 1);
    push_compiled(&code, PC_TOP);
    walk();
    failed(WALK_CODE_UNDESCRIBED);
    cr_assert(eq(int, (int)result.failed_at, VM_PLACE_NMETHOD));
}

TEST_EACH_STACK(walk_vm, a_deoptimised_frame_is_described_by_the_pc_it_had)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_DEOPT_HANDLER);
    put_word(fake_stack.regs.sp + ORIGINAL_PC_BYTES, code.code + PC_INLINED);
    push_compiled(&code, PC_TOP);
    walk();
    cr_assert(eq(u32, result.frame_count, 3), "%s", walk_code_text(result.code));
    frame_is(1, JW_FRAME_INLINED, fake_stack.inlined_method, 7);
    frame_is(2, JW_FRAME_COMPILED, fake.method, 5);
}

TEST_EACH_STACK(walk_vm, a_return_that_nothing_describes_is_of_the_nmethods_own_method_alone)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_BARE - 5); /* in its scope, another method is inlined */
    walk();
    cr_assert(eq(u32, result.frame_count, 1), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_COMPILED, fake.method, JW_BCI_UNKNOWN); /* too far behind */

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_INLINED + 10);
    walk();
    cr_assert(eq(u32, result.frame_count, 1), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_COMPILED, fake.method, 5);
}

TEST_EACH_STACK(walk_vm, no_caller_is_guessed_behind_a_return_address_that_nothing_describes)
{
    const struct fake_nmethod code = put_nmethod(),
                              stub = put_other("handle_exception Runtime1 stub");

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    /* Where the exception is handled: in a register, or on top of what an earlier call left there. */
    if (arch_facts.has_link_register) {
        fake_stack.regs.sp -= 2 * sizeof(uintptr_t);
        fake_stack.regs.link = code.code + PC_TOP;
    } else {
        put_word(fake_stack.regs.sp, code.code + PC_CALL);
        fake_stack.regs.sp -= sizeof(uintptr_t);
        put_word(fake_stack.regs.sp, code.code + PC_TOP);
    }
    fake_stack.regs.pc = stub.code + 10;
    walk();
    cr_assert(eq(u32, result.frame_count, 0));
    cr_assert(result.code == WALK_CODE_STUB || result.code == WALK_CODE_STACK, "%s",
              walk_code_text(result.code));
}

TEST_EACH_STACK(walk_vm, pieces_of_java_are_joined_by_their_anchors)
{
    const struct fake_nmethod code = put_nmethod(), native = put_other("native nmethod");

    begin_stack();
    push_entry(NULL);
    push_interpreted(1);
    push_compiled(&native, 30);
    const struct vm_anchor before = {fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp};
    fake_stack.regs.sp -= 10 * sizeof(uintptr_t); /* native code */
    fake_stack.regs.pc = 0x4000;
    push_entry(&before);
    push_compiled(&code, PC_TOP);
    walk();
    cr_assert(eq(u32, result.frame_count, 3), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_COMPILED, fake.method, 3);
    frame_is(1, JW_FRAME_JAVA_NATIVE, fake.method, JW_BCI_NATIVE);
    frame_is(2, JW_FRAME_INTERPRETED, fake.method, 1);
}

/* An interpreted method has called a native one, which the anchor tells. */
static void begin_in_native_method(void)
{
    const struct fake_nmethod native = put_other("native nmethod");

    begin_stack();
    push_entry(NULL);
    push_interpreted(1);
    push_compiled(&native, 30);
    set_anchor(&(struct vm_anchor){fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp});
}

TEST_EACH_STACK(walk_vm, native_code_is_left_by_the_anchor)
{
    begin_in_native_method();
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    fake_stack.regs.pc = 0x4000;
    walk();
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    cr_assert(eq(int, (int)result.place, VM_PLACE_NATIVE));
    frame_is(0, JW_FRAME_JAVA_NATIVE, fake.method, JW_BCI_NATIVE);
}

/* As SafeFetch32 is up to JDK 17, which the JVM calls to read what may not be there. */
TEST_EACH_STACK(walk_vm, a_stub_that_the_jvm_calls_is_left_by_the_anchor)
{
    const struct fake_nmethod stubs = put_other("StubRoutines (1)");

    begin_in_native_method();
    set(fake.java_thread, "JavaThread", "_thread_state", (uint64_t)constant_of("_thread_in_vm"), 4);
    fake_stack.regs.sp -= 20 * sizeof(uintptr_t);
    put_word(fake_stack.regs.sp, 0x4000); /* native code */
    vm_stub_report("SafeFetch32", (const void *)stubs.code, 32);
    vm_stub_settle();
    fake_stack.regs.pc = stubs.code + 8;
    walk();
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    cr_assert(eq(u64, result.stub_pc, stubs.code));
    frame_is(0, JW_FRAME_JAVA_NATIVE, fake.method, JW_BCI_NATIVE);
}

TEST_EACH_STACK(walk_vm, a_thread_outside_java_without_an_anchor_has_no_java_frame)
{
    begin_stack();
    set(fake.java_thread, "JavaThread", "_thread_state", (uint64_t)constant_of("_thread_in_vm"), 4);
    walk();
    failed(0);
}

/* Where a virtual thread is mounted, its frames lie on a native wrapper that they return into. */
TEST_EACH_STACK(walk_vm, the_stack_of_a_virtual_thread_ends_where_it_is_mounted)
{
    const struct fake_nmethod code = put_nmethod(), mount = put_other("native nmethod");

    begin_stack();
    push_compiled(&mount, 30);
    push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_TOP);
    walk();
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    cr_assert(result.is_virtual);
}

TEST_EACH_STACK(walk_vm, frames_in_the_heap_that_cannot_be_read_are_said_to_be_missing)
{
    const struct fake_nmethod code = put_nmethod(), stubs = put_other("StubRoutines (2)");

    vm_stub_report("cont_returnBarrier", (const void *)stubs.code, 32);
    vm_stub_settle();
    begin_stack();
    fake_stack.regs.pc = stubs.code;
    push_compiled(&code, PC_TOP);
    walk();
    cr_assert(eq(u32, result.frame_count, 2), "%s", walk_code_text(result.code));
    frame_is(1, JW_FRAME_MARK, walk_of_mark(JW_MARK_FROZEN), 0);
    cr_assert(result.is_frozen);
    cr_assert(not(result.is_truncated));
    cr_assert(not(result.is_thawed));
    begin_stack();
    fake_stack.regs.pc = stubs.code + 40; /* another stub */
    push_compiled(&code, PC_TOP);
    walk();
    failed(WALK_CODE_STUB);
}

TEST_EACH_STACK(walk_vm, as_many_frames_are_given_as_were_asked_for)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    for (int i = 1; i < 20; i++)
        push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_TOP);
    for (uint32_t depth_max = 1; depth_max <= 22; depth_max++) {
        memset(frames, 0xee, sizeof frames);
        walk_from(&fake_stack.regs, depth_max);
        cr_assert(eq(u32, result.frame_count, depth_max < 20 ? depth_max : 20));
        cr_assert(eq(int, result.is_truncated, depth_max <= 20));
        cr_assert(eq(u32, frames[result.frame_count].kind, 0xeeeeeeee));
    }
}

TEST_EACH_STACK(walk_vm, a_stack_that_does_not_rise_is_left)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_entry(NULL);
    push_interpreted(1);
    /* Its caller would lie below it; one of the interpreter may, but on the stack. */
    put_word(fake_stack.regs.fp - 8, arch_facts.is_interpreter_sp_apart
                                         ? (uintptr_t)fake_stack.stack - 64
                                         : fake_stack.regs.sp - 64);
    walk();
    cr_assert(eq(u32, result.frame_count, 0));
    /* An entry frame that leads to itself. */
    begin_stack();
    push_entry(&(struct vm_anchor){(uintptr_t)(fake_stack.stack + 4), code.code + PC_CALL, 0});
    push_compiled(&code, PC_TOP);
    walk();
    failed(WALK_CODE_STACK);
    /* One that leads off the stack. */
    begin_stack();
    push_entry(&(struct vm_anchor){(uintptr_t)&result & ~(uintptr_t)7, code.code + PC_CALL, 0});
    push_compiled(&code, PC_TOP);
    walk();
    failed(WALK_CODE_STACK);
}

TEST_EACH_STACK(walk_vm, what_is_called_by_nobody_known_is_no_stack)
{
    const struct fake_nmethod code = put_nmethod();

    begin_stack();
    push_compiled(&code, PC_TOP); /* returns to 0x4000, outside the code of the JVM */
    walk();
    failed(WALK_CODE_LOST);
    cr_assert(eq(int, (int)result.failed_at, VM_PLACE_NATIVE));
}

/* What is remembered ------------------------------------------------------------------------------------ */

static void set_compile_id(const struct fake_nmethod *code, uint32_t id)
{
    set((void *)code->blob, "nmethod", "_compile_id", id, 4);
}

static void push_three(const struct fake_nmethod *code)
{
    begin_stack();
    push_entry(NULL);
    push_compiled(code, PC_CALL);
    push_compiled(code, PC_INLINED);
    push_compiled(code, PC_CALL);
    push_compiled(code, PC_TOP);
}

static void three_are_found(void)
{
    cr_assert(eq(u32, result.frame_count, 5), "%s", walk_code_text(result.code));
    frame_is(0, JW_FRAME_COMPILED, fake.method, 3);
    frame_is(1, JW_FRAME_COMPILED, fake.method, 3);
    frame_is(2, JW_FRAME_INLINED, fake_stack.inlined_method, 7);
    frame_is(3, JW_FRAME_COMPILED, fake.method, 5);
    frame_is(4, JW_FRAME_COMPILED, fake.method, 3);
}

static uint32_t remembered(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < WALK_CACHE_COUNT; i++)
        count += cache->entries[i].frame_words != 0;
    return count;
}

static struct walk_cache kept;

TEST_EACH_STACK(walk_vm, return_addresses_are_remembered_and_give_the_same_frames)
{
    const struct fake_nmethod code = put_nmethod();

    cache = &kept;
    set_compile_id(&code, 7);
    for (int round = 0; round < 3; round++) {
        push_three(&code);
        walk();
        three_are_found();
        cr_assert(eq(u32, remembered(), 2));
    }
    /* They are used: that the inlined method is none by now is not looked at. */
    unsigned char *metadata = fake_jdk >= LAYOUT_25
                                  ? fake_stack.debug[0]
                                  : (unsigned char *)code.blob + BLOB_CODE_OFFSET + CODE_BYTES;
    memset(metadata + 8, 0, 8);
    walk();
    three_are_found();
    cache = NULL;
    walk();
    failed(WALK_CODE_UNDESCRIBED);
}

TEST_EACH_STACK(walk_vm, another_compilation_at_the_same_place_is_another_method)
{
    const struct fake_nmethod code = put_nmethod();
    static unsigned char other_method[OBJECT_BYTES];

    cache = &kept;
    set_compile_id(&code, 7);
    push_three(&code);
    walk();
    three_are_found();
    memcpy(other_method, fake.method, sizeof other_method);
    set_compile_id(&code, 8);
    set_pointer((void *)code.blob, "nmethod", "_method", other_method);
    set_pointer((void *)code.blob, "CompiledMethod", "_method", other_method);
    walk();
    failed(WALK_CODE_UNDESCRIBED); /* its scopes are still those of the first */
}

TEST_EACH_STACK(walk_vm, a_freed_block_is_not_remembered)
{
    const struct fake_nmethod code = put_nmethod();

    cache = &kept;
    set_compile_id(&code, 7);
    push_three(&code);
    walk();
    three_are_found();
    set((void *)(code.blob - size_of("HeapBlock")), "HeapBlock::Header", "_used", 0, 1);
    walk();
    failed(WALK_CODE_LOST);
}

/* All deoptimised frames of a method return to one and the same handler. */
TEST_EACH_STACK(walk_vm, what_is_behind_a_deoptimisation_handler_is_not_remembered)
{
    const struct fake_nmethod code = put_nmethod();

    cache = &kept;
    set_compile_id(&code, 7);
    for (int round = 0; round < 3; round++) {
        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_DEOPT_HANDLER);
        put_word(fake_stack.regs.sp + ORIGINAL_PC_BYTES, code.code + PC_INLINED);
        push_compiled(&code, PC_DEOPT_HANDLER);
        put_word(fake_stack.regs.sp + ORIGINAL_PC_BYTES, code.code + PC_CALL);
        push_compiled(&code, PC_TOP);
        walk();
        cr_assert(eq(u32, result.frame_count, 4), "%s", walk_code_text(result.code));
        frame_is(1, JW_FRAME_COMPILED, fake.method, 3);
        frame_is(2, JW_FRAME_INLINED, fake_stack.inlined_method, 7);
        frame_is(3, JW_FRAME_COMPILED, fake.method, 5);
    }
}

TEST_EACH_STACK(walk_vm, a_walk_that_failed_is_not_remembered)
{
    const struct fake_nmethod code = put_nmethod();

    cache = &kept;
    set_compile_id(&code, 7);
    begin_stack();
    push_compiled(&code, PC_CALL); /* called by nobody known */
    push_compiled(&code, PC_INLINED);
    push_compiled(&code, PC_TOP);
    walk();
    failed(WALK_CODE_LOST);
    cr_assert(eq(u32, remembered(), 0));
}

/* The breaker -------------------------------------------------------------------------------------- */

/* NULL: that no walker is. */
static bool is_in_use(const char *name)
{
    struct walk_change change;
    char why[200];

    (void)walk_breaker_turn(jw_now_ns(), NULL, NULL, &change);
    const char *walker = walk_walker_in_use(why, sizeof why);

    return walker == NULL || name == NULL ? walker == name : strcmp(walker, name) == 0;
}

/* So many walks as a handler makes them, this many of a hundred over a stack that is none. */
static void walk_batch(const struct fake_nmethod *code, uint32_t failing_pct)
{
    static const ucontext_t none;
    struct arch_context context;

    push_three(code);
    arch_context_copy(&context, &none);
    for (uint32_t i = 0; i < WALK_BREAK_WALKS; i++) {
        struct arch_regs regs = fake_stack.regs;

        if (i % 100 < failing_pct)
            regs.sp = (uintptr_t)fake_stack.stack; /* all zero */
        arch_regs_write(&context, &regs);
        walk_java(context.bytes, fake_env(), NULL, frames, JW_COUNT_OF(frames), &result);
    }
}

TEST_EACH_STACK(walk_vm, a_walker_that_mostly_fails_is_given_up)
{
    const struct fake_nmethod code = put_nmethod();
    /* Where there is no other walker, this one goes on. */
    const char *const other = fake_jdk == LAYOUT_28 ? "vm" : "agct";

    walk_open(WALK_VM, NULL);
    cr_assert(is_in_use("vm"));
    walk_batch(&code, 0);
    walk_batch(&code, WALK_BREAK_PCT - 2);
    walk_batch(&code, WALK_BREAK_PCT - 2); /* few each time do not add up */
    cr_assert(is_in_use("vm"));
    walk_batch(&code, WALK_BREAK_PCT + 2);
    cr_assert(is_in_use(other));
    walk_open(WALK_VM, NULL); /* the next session tries again */
    cr_assert(is_in_use("vm"));
    walk_open(WALK_VM, "a reason");
    cr_assert(is_in_use(fake_jdk == LAYOUT_28 ? NULL : "agct"));
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static bool is_sound(uint32_t depth_max)
{
    return result.frame_count <= depth_max && result.code <= 0 && -result.code < WALK_CODE_COUNT &&
           result.failed_at < VM_PLACE_LIMIT && (result.frame_count == 0 || result.code == 0);
}

/* A word that may mean something to a walk: an address of stack, code or objects, or a number. */
static uintptr_t random_word(const struct fake_nmethod *code)
{
    const uint64_t number = next_random();

    switch (number % 8) {
    case 0:
        return (uintptr_t)(fake_stack.stack + (number >> 8) % STACK_WORDS);
    case 1:
        return code->code + (number >> 8) % CODE_BYTES;
    case 2:
        return code->code + (number % 3 == 0 ? PC_CALL : PC_INLINED);
    case 3:
        return fake_stack.entry_return_pc;
    case 4:
        return interpreter_pc();
    case 5:
        return (uintptr_t)fake.method;
    case 6:
        return (uintptr_t)&fake + (number >> 8) % sizeof fake;
    }
    return number;
}

/* Garbage on the stack, in the registers, in the code heap and in objects: an answer or a failure, never a
 * fault that is not contained, a loop, or a frame too many. */
TEST_EACH_STACK(walk_vm, garbage_everywhere_is_survived)
{
    const struct fake_nmethod code = put_nmethod();
    unsigned char *const parts[] = {(unsigned char *)code.blob, fake_stack.debug[0], fake.method,
                                    fake.const_method,          fake.code_heap,      fake.segmap,
                                    fake_stack.wrappers[0]};
    const size_t part_bytes[] = {400, 512, 96, 96, 400, 200, 256};
    uint32_t finished = 0;

    cache = &kept;
    for (int round = 0; round < 40000; round++) {
        unsigned char *spoiled = NULL;
        uint64_t before = 0;

        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_CALL);
        push_interpreted((int)(next_random() % BYTECODES_BYTES));
        push_compiled(&code, PC_INLINED);
        for (uint64_t i = next_random() % 6; i > 0; i--)
            put_word((uintptr_t)(fake_stack.stack + STACK_WORDS - 60 + next_random() % 50),
                     random_word(&code));
        if (round % 3 == 0)
            fake_stack.regs.pc = random_word(&code);
        if (round % 5 == 0)
            fake_stack.regs.fp = random_word(&code);
        if (round % 7 == 0)
            fake_stack.regs.sp = random_word(&code);
        if (round % 2 == 0) {
            const size_t part = next_random() % JW_COUNT_OF(parts);

            spoiled = parts[part] + next_random() % part_bytes[part];
            memcpy(&before, spoiled, 8);
            memcpy(spoiled, &(uint64_t){random_word(&code)}, 8);
        }
        const uint32_t depth_max = 1 + (uint32_t)(next_random() % JW_COUNT_OF(frames));

        walk_from(&fake_stack.regs, depth_max);
        cr_assert(is_sound(depth_max), "round %d", round);
        finished += result.frame_count > 0;
        if (spoiled != NULL)
            memcpy(spoiled, &before, 8);
    }
    /* Some are not hurt, or not where it matters, and most are. */
    cr_assert(ge(u32, finished, 1001));
    cr_assert(lt(u32, finished, 39000));
}

Test(walk_vm, each_failure_has_a_text_and_a_mark)
{
    for (int32_t code = 0; code > -WALK_CODE_COUNT; code--) {
        cr_assert(ge(sz, strlen(walk_code_text(code)), 1));
        cr_assert(lt(int, (int)walk_mark_of(code), (int)JW_MARK_LIMIT));
        for (int32_t other = 0; other > code; other--)
            cr_assert_str_neq(walk_code_text(code), walk_code_text(other));
    }
    cr_assert(eq(int, (int)walk_mark_of(0), JW_MARK_NO_JAVA_FRAME));
    cr_assert(eq(int, (int)walk_mark_of(WALK_CODE_OFF), JW_MARK_WALKER_OFF));
    cr_assert(eq(int, (int)walk_mark_of(WALK_CODE_LOST), JW_MARK_BROKEN_STACK));
    cr_assert(eq(int, (int)walk_mark_of(WALK_CODE_ENDLESS), JW_MARK_BROKEN_STACK));
    cr_assert_str_eq(walk_code_text(1), "unknown");
    cr_assert_str_eq(walk_code_text(-WALK_CODE_COUNT), "unknown");
}
