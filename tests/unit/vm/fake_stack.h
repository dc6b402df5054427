/*
 * fake_stack - a Java thread of the fake JVM with a stack of its own, and compiled methods to return into.
 *
 * A test lays out a stack from its outermost frame to the top, each `push_*` putting one frame on it:
 *
 *     begin_stack(); push_entry(NULL); push_compiled(&outer, PC_CALL); push_interpreted(5); ...
 *
 * `regs` are then those of a thread that runs in the frame pushed last.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_STACK_H
#define JW_TESTS_UNIT_VM_FAKE_STACK_H

#include "base/frame.h"
#include "unit/vm/fake_memory.h"
#include "vm/vm_nmethod.h"
#include "vm/vm_stack.h"
#include "vm/vm_stack_internal.h"

#define STACK_WORDS         512
#define ENTRY_WRAPPER_WORDS (-6)
#define FRAME_WORDS         6
#define ORIGINAL_PC_BYTES   8
#define CODE_BYTES          512
#ifndef NMETHOD_SEGMENTS
#define NMETHOD_SEGMENTS 16
#endif

/* Offsets of described pcs in each nmethod; at PC_TOP an interrupted thread is in the scope of PC_CALL. */
enum { PC_TOP = 99, PC_CALL = 100, PC_INLINED = 140, PC_BARE = 180, PC_DEOPT_HANDLER = 220 };

struct fake_nmethod {
    uintptr_t blob, code;
};

static struct {
    uintptr_t stack[STACK_WORDS];
    unsigned char queue[64];
    uintptr_t interpreter_static, entry_return_static, entry_return_pc;
    _Alignas(8) unsigned char wrappers[4][64];
    unsigned wrapper_count;
    _Alignas(8) unsigned char debug[4][1024]; /* what lies outside the code cache from JDK 25 on */
    unsigned debug_count;
    _Alignas(8) unsigned char inlined_method[OBJECT_BYTES];
    struct arch_regs regs;
    unsigned segment; /* of the code heap, the next free one */
} fake_stack;

/* As HotSpot writes UNSIGNED5: digits of six bits with the high ones biased. */
static inline size_t put_number(unsigned char *out, uint32_t value)
{
    const uint32_t bias = fake_jdk >= LAYOUT_25 ? 1 : 0;
    const uint32_t limit = 192 - bias;
    size_t count = 0;

    while (value >= limit && count < 4) {
        value -= limit;
        out[count++] = (unsigned char)(bias + limit + value % 64);
        value /= 64;
    }
    out[count++] = (unsigned char)(bias + value);
    return count;
}

/* One scope; where it begins is what other scopes and PcDescs name it by. */
static inline size_t put_scope(unsigned char *out, uint32_t sender, uint32_t method, int bci)
{
    size_t length = put_number(out, sender);

    length += put_number(out + length, method);
    return length + put_number(out + length, (uint32_t)(bci + 1));
}

static inline void put_pc_desc(unsigned char **at, int pc_offset, uint32_t scope)
{
    const int32_t desc[4] = {pc_offset, (int32_t)scope, 0, 0};

    memcpy(*at, desc, sizeof desc);
    *at += sizeof desc;
}

/*
 * An nmethod of `fake.method`:   PC_CALL      bci 3
 *                                PC_INLINED   fake_stack.inlined_method at bci 7 in it at bci 5
 *                                PC_BARE      described, but without a scope
 * Anything else is undescribed.
 */
static inline struct fake_nmethod put_nmethod(void)
{
    const uintptr_t blob = put_blob(fake_stack.segment, NMETHOD_SEGMENTS, "nmethod", 0);
    unsigned char *base = fake_jdk >= LAYOUT_25
                              ? fake_stack.debug[fake_stack.debug_count++]
                              : (unsigned char *)blob + BLOB_CODE_OFFSET + CODE_BYTES;
    unsigned char *metadata = base, *pcs = base + 64, *scopes = base + 256;
    unsigned char *pcs_end = pcs;
    const void *const methods[] = {fake.method, fake_stack.inlined_method};
    unsigned char *object = (unsigned char *)blob;
    const bool is_outside = fake_jdk >= LAYOUT_25;

    fake_stack.segment += NMETHOD_SEGMENTS;
    memcpy(metadata, methods, sizeof methods);
    const uint32_t call = 1;
    const uint32_t outer = call + (uint32_t)put_scope(scopes + call, 0, 1, 3);
    const uint32_t inner = outer + (uint32_t)put_scope(scopes + outer, 0, 1, 5);
    (void)put_scope(scopes + inner, outer, 2, 7);
    put_pc_desc(&pcs_end, -1, 0);
    put_pc_desc(&pcs_end, PC_CALL, call);
    put_pc_desc(&pcs_end, PC_INLINED, inner);
    put_pc_desc(&pcs_end, PC_BARE, 0);
    put_pc_desc(&pcs_end, 100000, 0);
    if (is_outside) {
        /* There the scopes follow the PcDescs at once. */
        memmove(pcs_end, scopes, 64);
        scopes = pcs_end;
        set_pointer(object, "nmethod", "_immutable_data", base);
        set_pointer(object, "CodeBlob", "_mutable_data", base);
    }
    const uintptr_t from = is_outside ? (uintptr_t)base : blob;

    set(object, "nmethod", "_scopes_pcs_offset", (uintptr_t)pcs - from, 4);
    set(object, "nmethod", "_dependencies_offset", (uintptr_t)pcs_end - from, 4);
    set(object, "nmethod", "_scopes_data_offset", (uintptr_t)scopes - from, 4);
    set_pointer(object, "CompiledMethod", "_scopes_data_begin", scopes);
    set(object, "nmethod", "_metadata_offset", (uintptr_t)metadata - from, 4);
    set(object, "CodeBlob", "_relocation_size", 0, is_outside ? 4 : 0);
    set(object, "nmethod", "_orig_pc_offset", ORIGINAL_PC_BYTES, 4);
    set_pointer(object, "nmethod", "_method", fake.method);
    set_pointer(object, "CompiledMethod", "_method", fake.method);
    set(object, "CodeBlob", "_frame_size", FRAME_WORDS, 4);
    return (struct fake_nmethod){blob, blob + BLOB_CODE_OFFSET};
}

/* A blob of another kind; any of its frames has FRAME_WORDS words. */
static inline struct fake_nmethod put_other(const char *name)
{
    const uintptr_t blob = put_blob(fake_stack.segment, 4, name, 0);

    fake_stack.segment += 4;
    set_pointer((void *)blob, "nmethod", "_method", fake.method);
    set_pointer((void *)blob, "CompiledMethod", "_method", fake.method);
    return (struct fake_nmethod){blob, blob + BLOB_CODE_OFFSET};
}

static inline void add_stack_tables(void)
{
    fake_jvm->add_field("StubRoutines", "_call_stub_return_address", "address", true, 0,
                        &fake_stack.entry_return_static);
    fake_jvm->add_field("AbstractInterpreter", "_code", "StubQueue*", true, 0,
                        &fake_stack.interpreter_static);
}

static inline uintptr_t interpreter_pc(void)
{
    return fake_stack.interpreter_static == 0 ? 0 : vm_layout.interpreter_begin + 16;
}

/* The fake JVM of this JDK, opened for walks; `add_more`: what else it tells, or NULL. */
static inline void open_stack_with(enum layout_jdk jdk, void (*add_more)(void))
{
    struct jw_error err = {0};

    memset(&fake_stack, 0, sizeof fake_stack);
    prepare_fake(jdk, "com/acme/Job");
    add_stack_tables();
    if (add_more != NULL)
        add_more();
    memcpy(fake_stack.inlined_method, fake.method, sizeof fake_stack.inlined_method);
    const struct fake_nmethod interpreter = put_other("Interpreter");
    const struct fake_nmethod stubs = put_other("StubRoutines (1)");

    fake_stack.interpreter_static = (uintptr_t)fake_stack.queue;
    set(fake_stack.queue, "StubQueue", "_stub_buffer", interpreter.code, 8);
    set(fake_stack.queue, "StubQueue", "_buffer_limit", 128, 4);
    fake_stack.entry_return_pc = stubs.code + 20;
    fake_stack.entry_return_static = fake_stack.entry_return_pc;
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    cr_assert(vm_stack_open(&err), "%s", err.message);
    set(fake.java_thread, "JavaThread", "_stack_base", (uintptr_t)(fake_stack.stack + STACK_WORDS),
        8);
    set(fake.java_thread, "JavaThread", "_stack_size", sizeof fake_stack.stack, 8);
    set(fake.java_thread, "JavaThread", "_thread_state", (uint64_t)constant_of("_thread_in_Java"),
        4);
}

static inline void open_stack_as(enum layout_jdk jdk)
{
    open_stack_with(jdk, NULL);
}

static inline void *fake_env(void)
{
    return fake.java_thread + offset_of("JavaThread", "_anchor") + VM_ENV_AFTER_ANCHOR_BYTES;
}

static inline void put_word(uintptr_t addr, uintptr_t value)
{
    memcpy((void *)addr, &value, sizeof value);
}

static inline void begin_stack(void)
{
    memset(fake_stack.stack, 0, sizeof fake_stack.stack);
    fake_stack.wrapper_count = 0;
    fake_stack.regs = (struct arch_regs){
        .sp = (uintptr_t)(fake_stack.stack + STACK_WORDS - 16),
        .fp = 0x1111,
        .pc = 0x4000,
    };
}

/* An entry frame, with the anchor of the piece before in its wrapper. */
static inline void push_entry(const struct vm_anchor *before)
{
    unsigned char *wrapper = fake_stack.wrappers[fake_stack.wrapper_count++];
    struct arch_regs *regs = &fake_stack.regs;
    const uintptr_t fp = regs->sp - 2 * sizeof(uintptr_t);

    memset(wrapper, 0, sizeof fake_stack.wrappers[0]);
    if (before != NULL) {
        set(wrapper + 32, "JavaFrameAnchor", "_last_Java_sp", before->sp, 8);
        set(wrapper + 32, "JavaFrameAnchor", "_last_Java_pc", before->pc, 8);
        set(wrapper + 32, "JavaFrameAnchor", "_last_Java_fp", before->fp, 8);
    }
    put_word(fp, regs->fp);
    put_word(fp + 8, regs->pc);
    put_word(fp + ENTRY_WRAPPER_WORDS * 8, (uintptr_t)wrapper);
    regs->fp = fp;
    regs->sp = fp - 12 * sizeof(uintptr_t);
    regs->pc = fake_stack.entry_return_pc;
}

/* A frame of compiled code that stands at `pc_offset`; it leaves rbp to its caller. */
static inline void push_compiled(const struct fake_nmethod *nmethod, uintptr_t pc_offset)
{
    struct arch_regs *regs = &fake_stack.regs;

    put_word(regs->sp - 8, regs->pc);
    put_word(regs->sp - 16, regs->fp);
    regs->sp -= FRAME_WORDS * sizeof(uintptr_t);
    regs->pc = nmethod->code + pc_offset;
}

/* A frame of the interpreter, of `fake.method` at this bci. */
static inline void push_interpreted(int bci)
{
    struct arch_regs *regs = &fake_stack.regs;
    const uintptr_t fp = regs->sp - 2 * sizeof(uintptr_t);
    const uintptr_t bcp = (uintptr_t)fake.const_method + size_of("ConstMethod") + (uintptr_t)bci;

    put_word(fp, regs->fp);
    put_word(fp + 8, regs->pc);
    put_word(fp - 8, regs->sp);
    put_word(fp - 24, (uintptr_t)fake.method);
    put_word(fp + (uintptr_t)vm_stack_layout.interpreter_bcp_bytes, bcp);
    regs->fp = fp;
    regs->sp = fp - 14 * sizeof(uintptr_t);
    regs->pc = interpreter_pc();
}

/* In the first instruction of a native function, which was called from there. */
static inline void enter_native(const char *function, uintptr_t returns_to)
{
    fake_stack.regs.link = returns_to; /* on aarch64 */
#if defined(__x86_64__)
    fake_stack.regs.sp -= sizeof(uintptr_t);
    put_word(fake_stack.regs.sp, returns_to);
#endif
    fake_stack.regs.pc = (uintptr_t)dlsym(RTLD_DEFAULT, function);
}

static inline void set_anchor(const struct vm_anchor *anchor)
{
    unsigned char *at = fake.java_thread + offset_of("JavaThread", "_anchor");

    set(at, "JavaFrameAnchor", "_last_Java_sp", anchor->sp, 8);
    set(at, "JavaFrameAnchor", "_last_Java_pc", anchor->pc, 8);
    set(at, "JavaFrameAnchor", "_last_Java_fp", anchor->fp, 8);
}

/* The test `name`, a function without arguments, with each JDK in a process of its own. */
#define TEST_EACH_STACK(suite, name)                                                               \
    static void name(void);                                                                        \
    Test(suite, name##_on_jdk_8)                                                                   \
    {                                                                                              \
        open_stack_as(LAYOUT_8);                                                                   \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_17)                                                                  \
    {                                                                                              \
        open_stack_as(LAYOUT_17);                                                                  \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_25)                                                                  \
    {                                                                                              \
        open_stack_as(LAYOUT_25);                                                                  \
        name();                                                                                    \
    }                                                                                              \
    Test(suite, name##_on_jdk_28)                                                                  \
    {                                                                                              \
        open_stack_as(LAYOUT_28);                                                                  \
        name();                                                                                    \
    }                                                                                              \
    static void name(void)

#endif
