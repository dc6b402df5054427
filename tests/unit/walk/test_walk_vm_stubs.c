/* Stubs that the JVM comes to Java by, and leaves it: the call stub, handlers of polls. What x86-64 has there is tried on x86-64. */
#include "unit/walk/made_walk.h"

#include "symbols/symbols.h"
#include "vm/vm_stub.h"

TestSuite(walk_vm_stubs, .timeout = 1800);

/* A thread that comes to its first method: there are no other frames than native ones, wanted or not. */
TEST_EACH_STACK(walk_vm_stubs, native_frames_of_a_thread_that_has_no_java_yet)
{
    struct jw_error err = {0};
    const struct fake_nmethod adapter = put_other("I2C/C2I adapters");

    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    begin_stack();
    fake_stack.regs.pc = 0;
    push_native(FIRST);
    push_native(OUTER);
    push_entry(NULL);
    fake_stack.regs.sp -= sizeof(uintptr_t);
    put_word(fake_stack.regs.sp, fake_stack.regs.pc);
    fake_stack.regs.link = fake_stack.regs.pc;
    fake_stack.regs.sp += arch_facts.has_link_register ? sizeof(uintptr_t) : 0;
    fake_stack.regs.pc = adapter.code + 20;
    walk();
    symbols_close();
    kinds_are("nnn");
}

#if defined(__x86_64__)

/* Its return address stands behind the poll, where nothing is described; the frame pointer may be that of an interpreted method further out. */
TEST_EACH_STACK(walk_vm_stubs, a_handler_of_polls_returns_to_where_no_call_is)
{
    static const uint8_t handler_code[] = {0x90, 0x9d, 0x5d, 0xc3}; /* popf; pop %rbp; ret */
    const struct fake_nmethod code = put_nmethod(), handler = put_other("SafepointBlob");
    struct arch_regs *regs = &fake_stack.regs;

    memcpy((void *)(handler.code + 100), handler_code, sizeof handler_code);
    for (unsigned offset = 0; offset < sizeof handler_code; offset++) {
        begin_stack();
        push_entry(NULL);
        push_interpreted(1);
        put_word(regs->fp - 16, regs->fp - 96); /* it called something */
        push_interpreted(2);
        put_word(regs->fp - 16, regs->fp - 96);
        push_compiled(&code, PC_CALL);
        push_compiled(&code, PC_CALL);
        put_word(regs->sp - 8, regs->pc - 2);
        put_word(regs->sp - 16, regs->fp);
        put_word(regs->sp - 24, 0x246);
        regs->sp -= offset <= 1 ? 24 : offset == 2 ? 16 : 8;
        regs->pc = handler.code + 100 + offset;
        walk();
        kinds_are("ccii");
    }
}

static void polls(enum layout_jdk jdk)
{
    static const uint8_t handler_code[] = {0x53, 0x55, 0x48, 0x8b, 0xec, 0x9c, 0x90, 0x90};

    open_stack_as(jdk);
    const struct fake_nmethod code = put_nmethod(), handler = put_other("SafepointBlob"),
                              other = put_other("RuntimeBlob");
    struct arch_regs *regs = &fake_stack.regs;

    memcpy((void *)handler.code, handler_code, sizeof handler_code);
    memcpy((void *)other.code, handler_code, sizeof handler_code);
    set(fake.java_thread, "JavaThread", "_saved_exception_pc", code.code + PC_CALL, 8);
    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_CALL);
    const struct arch_regs poll = *regs;

    put_word(poll.sp - 8, 0x99); /* any register */
    put_word(poll.sp - 16, poll.fp);
    for (uintptr_t offset = 0; offset <= 2; offset++) {
        regs->pc = handler.code + offset;
        regs->sp = poll.sp - 8 * offset;
        walk();
        kinds_are("cc");
    }
    regs->pc = other.code;
    regs->sp = poll.sp;
    walk();
    cr_assert(lt(u32, result.frame_count, 2), "another stub");
    regs->pc = handler.code + 6;
    regs->fp = poll.sp - 16;
    regs->sp = regs->fp - 64;
    walk();
    kinds_are("cc");
    set(fake.java_thread, "JavaThread", "_saved_exception_pc", code.code + PC_CALL + 1, 8);
    walk();
    cr_assert(lt(u32, result.frame_count, 2), "no poll is there");
}

Test(walk_vm_stubs, code_that_a_poll_has_stopped_on_jdk_17)
{
    polls(LAYOUT_17);
}

Test(walk_vm_stubs, code_that_a_poll_has_stopped_on_jdk_25)
{
    polls(LAYOUT_25);
}

/* Where it begins; its last instruction is 31 bytes on. */
static uintptr_t put_call_stub(void)
{
    struct jw_error err = {0};
    const uintptr_t begin = fake_stack.entry_return_pc - 20;

    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    memset((void *)begin, 0x90, 40);
    /* The frame pointer is that of an entry frame further out, of which nothing may be believed. */
    const uint8_t prologue[] = {
        0x55, 0x48, 0x8b, 0xec, /* push %rbp; mov %rsp,%rbp */
        0x48, 0x89, 0x7d, (uint8_t)vm_stack_layout.entry_wrapper_bytes /* mov %rdi,..(%rbp) */
    };
    memcpy((void *)begin, prologue, sizeof prologue);
    memcpy((void *)(begin + 30), "\x5d\xc3", 2);
    vm_stub_report("call_stub", (const void *)begin, 40);
    vm_stub_settle();
    return begin;
}

static void stand_at(uintptr_t pc)
{
    struct arch_regs *regs = &fake_stack.regs;

    regs->sp -= 8;
    put_word(regs->sp, regs->pc);
    regs->pc = pc;
}

/* The last instruction of the call stub: its frame is gone, and with it what was kept in it. */
static void at_the_end_of_the_call_stub(bool with_native, const char *kinds)
{
    const struct fake_nmethod code = put_nmethod();
    const uintptr_t begin = put_call_stub();

    put_call(code.code + PC_CALL);
    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_native(OUTER);
    push_native(INNER);
    stand_at(begin + 31);
    cache.with_native = with_native;
    walk();
    symbols_close();
    kinds_are(kinds);
}

TEST_EACH_STACK(walk_vm_stubs, the_end_of_the_call_stub)
{
    at_the_end_of_the_call_stub(false, "c");
}

TEST_EACH_STACK(walk_vm_stubs, native_frames_below_the_end_of_the_call_stub)
{
    at_the_end_of_the_call_stub(true, "nncn?");
}

/* A thread that has left its outermost method for good, or comes to it: there is no other frame to be had, wanted or not. */
TEST_EACH_STACK(walk_vm_stubs, native_frames_below_the_call_stub_where_there_is_no_java)
{
    const uintptr_t begin = put_call_stub();

    begin_stack();
    fake_stack.regs.pc = 0;
    push_native(FIRST);
    push_native(OUTER);
    stand_at(begin + 31);
    walk();
    symbols_close();
    kinds_are("nn");
}

#endif
