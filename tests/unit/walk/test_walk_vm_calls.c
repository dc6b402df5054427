/* Calls that are under way: nobody has a frame yet, and the caller stands in registers. What x86-64 has there is tried on x86-64. */
#include "unit/walk/made_walk.h"

#include "symbols/symbols.h"
#include "vm/vm_stub.h"

TestSuite(walk_vm_calls, .timeout = 1800);

/* Native code that an adapter called as a leaf returns there, and the adapter into the call stub. */
TEST_EACH_STACK(walk_vm_calls, the_call_stub_may_be_the_caller_of_an_adapter)
{
    const struct fake_nmethod code = put_nmethod(), adapter = put_other("I2C/C2I adapters");

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    const struct vm_anchor anchor = {fake_stack.regs.sp, fake_stack.regs.pc, fake_stack.regs.fp};
    push_entry(&anchor);
    fake_stack.regs.sp -= sizeof(uintptr_t);
    put_word(fake_stack.regs.sp, fake_stack.regs.pc);
    fake_stack.regs.link = fake_stack.regs.pc;
    fake_stack.regs.sp += arch_facts.has_link_register ? sizeof(uintptr_t) : 0;
    fake_stack.regs.pc = adapter.code + 20;
    walk();
    kinds_are("c");
}

#if defined(__x86_64__)

/* Both ways through an adapter, as HotSpot writes it, and where something of it begins. */
static const uint8_t adapter_code[] = {
    0x48, 0x8b, 0x04, 0x24,       /* mov (%rsp),%rax */
    0x4c, 0x8b, 0xdc,             /* mov %rsp,%r11 */
    0x48, 0x83, 0xe4, 0xf0,       /* and $-16,%rsp */
    0x50,                         /* push %rax */
    0x49, 0x8b, 0xc3, 0x90, 0x90, /* mov %r11,%rax .. */
    0x41, 0xff, 0xe3,             /* jmp *%r11 */
    0x90, 0x90,                   /* inline cache check .. */
    0x58,                         /* pop %rax */
    0x4c, 0x8b, 0xec,             /* mov %rsp,%r13 */
    0x48, 0x83, 0xec, 0x20,       /* sub $32,%rsp */
    0x48, 0x89, 0x04, 0x24,       /* mov %rax,(%rsp) */
    0x90, 0x90, 0xff, 0xe1,       /* .. jmp *%rcx */
};
enum {
    TO_COMPILED = 0,
    ALIGNED = 11,
    PUSHED = 12,
    TO_INTERPRETED = 20,
    POPPED = 23,
    KEPT = 26,
    MADE_ROOM = 30,
    PUT = 34
};

static void set_sender(uintptr_t sp, uintptr_t pc)
{
    context.uc_mcontext.gregs[REG_R13] = (greg_t)sp;
    context.uc_mcontext.gregs[REG_RAX] = (greg_t)pc;
}

static struct fake_nmethod put_adapter(void)
{
    const struct fake_nmethod adapter = put_other("I2C/C2I adapters");

    memcpy((void *)adapter.code, adapter_code, sizeof adapter_code);
    return adapter;
}

TEST_EACH_STACK(walk_vm_calls, the_way_from_the_interpreter_to_compiled_code)
{
    const struct fake_nmethod code = put_nmethod(), adapter = put_adapter();
    struct arch_regs *regs = &fake_stack.regs;

    for (int shift = 0; shift < 2; shift++) {
        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_CALL);
        push_interpreted(3);
        regs->sp -= (uintptr_t)shift * 8;
        const uintptr_t sender = regs->sp, pc = regs->pc;

        set_sender(sender, pc);
        put_word(sender - 8, pc);
        regs->pc = adapter.code + TO_COMPILED;
        regs->sp = sender - 8;
        walk();
        kinds_are("ic");
        regs->pc = adapter.code + ALIGNED;
        regs->sp = (sender - 8) & ~(uintptr_t)15; /* on top lies what lay there before */
        walk();
        kinds_are("ic");
        regs->pc = adapter.code + PUSHED;
        regs->sp -= 8;
        put_word(regs->sp, pc);
        walk();
        kinds_are("ic");
    }
}

TEST_EACH_STACK(walk_vm_calls, the_way_from_compiled_code_to_the_interpreter)
{
    const struct fake_nmethod code = put_nmethod(), adapter = put_adapter();
    struct arch_regs *regs = &fake_stack.regs;

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_CALL);
    const uintptr_t sender = regs->sp, pc = regs->pc;

    set_sender(0x1234, 0x5678);
    put_word(sender - 8, pc);
    regs->sp = sender - 8;
    regs->pc = adapter.code + TO_INTERPRETED;
    walk();
    kinds_are("cc");
    set_sender(0x1234, pc);
    regs->sp = sender;
    regs->pc = adapter.code + POPPED;
    walk();
    kinds_are("cc");
    set_sender(sender, pc);
    regs->pc = adapter.code + KEPT;
    walk();
    kinds_are("cc");
    regs->sp = sender - 32;
    regs->pc = adapter.code + MADE_ROOM;
    walk();
    kinds_are("cc");
    put_word(sender - 8, 0x99); /* an argument */
    put_word(regs->sp, pc);
    regs->pc = adapter.code + PUT;
    walk();
    kinds_are("cc");
}

/* At a return to compiled code, whose frame pointer is none: behind the frame, behind the return address, behind the arguments. */
TEST_EACH_STACK(walk_vm_calls, a_method_of_the_interpreter_that_returns_to_compiled_code)
{
    static const uint8_t returns[][10] = {
        {0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff,
         0xe5},                                     /* leave; pop %r13; mov %rbx,%rsp; jmp *%r13 */
        {0xc9, 0x5f, 0x49, 0x8b, 0xe3, 0xff, 0xe7}, /* of native methods: %rdi, and %r11 */
    };
    const struct fake_nmethod code = put_nmethod();
    struct arch_regs *regs = &fake_stack.regs;
    const uintptr_t begin = vm_layout.interpreter_begin + 32;

    for (size_t i = 0; i < JW_COUNT_OF(returns); i++) {
        const uintptr_t move = i == 0 ? 3 : 2;

        memcpy((void *)begin, returns[i], sizeof returns[i]);
        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_CALL);
        push_compiled(&code, PC_CALL);
        const uintptr_t sender = regs->sp, pc = regs->pc;

        memset(&context, 0, sizeof context);
        context.uc_mcontext.gregs[i == 0 ? REG_RBX : REG_R11] = (greg_t)sender;
        regs->fp = 0x1357;
        regs->sp = sender - 3 * sizeof(uintptr_t);
        put_word(regs->sp, pc);
        regs->pc = begin + 1;
        walk();
        kinds_are("cc");
        context.uc_mcontext.gregs[i == 0 ? REG_R13 : REG_RDI] = (greg_t)pc;
        put_word(regs->sp, 0x99);
        regs->sp += sizeof(uintptr_t);
        regs->pc = begin + move;
        walk();
        kinds_are("cc");
        regs->sp = sender;
        regs->pc = begin + move + 3;
        walk();
        kinds_are("cc");
        context.uc_mcontext.gregs[i == 0 ? REG_R13 : REG_RDI] = 0x2468;
        walk();
        cr_assert(eq(u32, result.frame_count, 0));
    }
}

/* How an adapter gives back what it kept around a call of the JVM, which changes its caller's call. */
static const uint8_t patching_code[] = {
    0x90, 0xe8, 0,    0,    0,    0,    /* nop; call */
    0xc5, 0xf8, 0x77,                   /* vzeroupper */
    0x48, 0x0f, 0xae, 0x0c, 0x24,       /* fxrstor64 (%rsp) */
    0x48, 0x81, 0xc4, 0,    2,    0, 0, /* add $512,%rsp */
    0x4c, 0x8b, 0x3c, 0x24,             /* mov (%rsp),%r15 */
    0x4c, 0x8b, 0x6c, 0x24, 0x10,       /* mov 16(%rsp),%r13 */
    0x48, 0x8b, 0x6c, 0x24, 0x50,       /* mov 80(%rsp),%rbp */
    0x48, 0x8b, 0x44, 0x24, 0x78,       /* mov 120(%rsp),%rax */
};
#define PATCHING_RETURN 6

/* In code of the JVM that an adapter has called so; `shift_words` align its stack. */
static struct arch_regs begin_patching(const struct fake_nmethod *adapter, unsigned shift_words)
{
    const struct fake_nmethod code = put_nmethod();
    struct arch_regs *regs = &fake_stack.regs;

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_CALL);
    put_word(regs->sp - 8, regs->pc);
    const uintptr_t registers = regs->sp - 8 - shift_words * sizeof(uintptr_t) - 16 - 16 * 8;

    put_word(registers + 0x10, regs->sp - 8);
    put_word(registers + 0x50, regs->fp);
    regs->sp = registers - 512;
    regs->fp = 0x1234;
    regs->pc = adapter->code + PATCHING_RETURN;
    return *regs;
}

TEST_EACH_STACK(walk_vm_calls, while_the_jvm_changes_the_call_of_who_called_an_adapter)
{
    struct jw_error err = {0};
    const struct fake_nmethod adapter = put_other("I2C/C2I adapters"),
                              stubs = put_other("StubRoutines (1)"),
                              final_stubs = put_other("StubRoutines (final stubs)"),
                              own_blob = put_other("flush_icache_stub");
    const struct fake_nmethod *const flushes[] = {&stubs, &final_stubs, &own_blob};
    struct arch_regs *regs = &fake_stack.regs;

    memcpy((void *)adapter.code, patching_code, sizeof patching_code);
    for (size_t i = 0; i < JW_COUNT_OF(flushes); i++)
        vm_stub_report("flush_icache_stub", (const void *)flushes[i]->code, 32);
    vm_stub_settle();
    cr_assert(symbols_refresh(&err) && symbols_build_rows(&err), "%s", err.message);
    for (unsigned shift_words = 0; shift_words < 2; shift_words++) {
        (void)begin_patching(&adapter, shift_words);
        push_native(OUTER);
        push_native(INNER);
        walk();
        kinds_are("cc");
        /* In a stub that this code calls. */
        regs->sp -= 8;
        put_word(regs->sp, regs->pc);
        for (size_t i = 0; i < JW_COUNT_OF(flushes); i++) {
            regs->pc = flushes[i]->code + 8;
            walk();
            kinds_are("cc");
        }
    }
    const struct arch_regs adapters = begin_patching(&adapter, 0);

    put_word(adapters.sp + 512 + 0x10, adapters.sp); /* not where the return address can be */
    push_native(INNER);
    walk();
    cr_assert(eq(u32, result.frame_count, 0));
    symbols_close();
}

/*
 * The stub of an exception has a frame of two words, of which the upper one is there before the lower: below it the frame pointer is the
 * caller's, and may be that of an interpreted method further out.
 */
TEST_EACH_STACK(walk_vm_calls, a_stub_of_two_words_is_left_by_its_size)
{
    static const uint8_t exception_code[] = {
        0x52,                   /* push %rdx */
        0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
        0x48, 0x89, 0x2c, 0x24, /* mov %rbp,(%rsp) */
        0x90, 0x90,
    };
    const struct fake_nmethod code = put_nmethod(), stub = put_other("ExceptionBlob");
    struct arch_regs *regs = &fake_stack.regs;

    memcpy((void *)stub.code, exception_code, sizeof exception_code);
    set((void *)stub.blob, "CodeBlob", "_frame_size", 2, 4);
    set((void *)stub.blob, "CodeBlob", "_frame_complete_offset", (uint64_t)-1, 4);
    for (unsigned offset = 5; offset <= 9; offset += 4) {
        begin_stack();
        push_entry(NULL);
        push_interpreted(1);
        put_word(regs->fp - 16, regs->fp - 96); /* it called something */
        push_interpreted(2);
        put_word(regs->fp - 16, regs->fp - 96);
        push_compiled(&code, PC_CALL);
        push_compiled(&code, PC_CALL);
        put_word(regs->sp - 8, regs->pc);
        put_word(regs->sp - 16, offset == 9 ? regs->fp : 0x1234);
        regs->sp -= 16;
        regs->pc = stub.code + offset;
        walk();
        kinds_are("ccii");
    }
}

TEST_EACH_STACK(walk_vm_calls, an_interpreted_method_before_it_has_a_frame)
{
    const struct fake_nmethod code = put_nmethod();
    struct arch_regs *regs = &fake_stack.regs;

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_compiled(&code, PC_CALL);
    const uintptr_t sender = regs->sp, pc = regs->pc;

    regs->fp = 0x1357; /* of the compiled caller, which computes with it */
    regs->pc = interpreter_pc();
    for (uintptr_t arguments = 0; arguments < 3; arguments++) {
        set_sender(sender, 0);
        regs->sp = sender - 8 * (arguments + 1);
        put_word(regs->sp, pc);
        walk();
        kinds_are("cc");
        set_sender(sender, pc); /* popped, and locals begun */
        put_word(regs->sp, 0);
        regs->sp += 8;
        walk();
        kinds_are("cc");
        set_sender(sender, 0); /* pushed again, and the frame pointer behind it */
        regs->sp -= 16;
        put_word(regs->sp, regs->fp);
        put_word(regs->sp + 8, pc);
        walk();
        kinds_are("cc");
    }
    set_sender(sender, 0);
    put_word(regs->sp + 8, 0);
    walk();
    kinds_are("");
}

#else

/* Code of the interpreter: an entry, with the fixed part of a frame, and a return. */
static const uint32_t interpreter_code[] = {
    0x927cee9f,             /* and sp,x20,#-16: a return's end */
    0xd65f03c0,             /* ret */
    0x00000055, 0x00000055, /* numbers between two pieces of code */
    0xcb284fe8,             /* sub x8,sp,x8 .. */
    0xd503201f, 0xa90437ff, /* .. stp xzr,x13,[sp,#64] */
    0xd503201f,
};
enum { RETURN = 0, ENTRY = 4 };

static struct arch_regs in_interpreter(int at, uintptr_t sender_sp, uintptr_t expressions_sp)
{
    struct arch_regs *regs = &fake_stack.regs;
    const uintptr_t begin = (vm_layout.interpreter_begin + 15) & ~(uintptr_t)15;

    memcpy((void *)begin, interpreter_code, sizeof interpreter_code);
    context.uc_mcontext.regs[13] = sender_sp;
    context.uc_mcontext.regs[20] = expressions_sp;
    regs->link = regs->pc;
    regs->pc = begin + (uintptr_t)at * sizeof interpreter_code[0];
    return *regs;
}

/* The caller's stack pointer is in a register, as the interpreter has moved its own. */
TEST_EACH_STACK(walk_vm_calls, a_method_of_the_interpreter_before_its_frame_and_behind_it)
{
    const struct fake_nmethod code = put_nmethod();
    struct arch_regs *regs = &fake_stack.regs;

    for (int at = RETURN; at <= ENTRY; at += ENTRY - RETURN) {
        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_CALL);
        push_compiled(&code, PC_CALL);
        const uintptr_t sp = regs->sp;

        (void)in_interpreter(at, sp, sp);
        regs->sp = at == ENTRY ? sp - 64 : sp;
        walk();
        kinds_are("cc");
        /* Not where the link register holds something else. */
        regs->link = 0x1234;
        walk();
        cr_assert(lt(u32, result.frame_count, 2));
    }
}

/* From the interpreter to itself: the frame pointer tells all. */
TEST_EACH_STACK(walk_vm_calls, a_method_that_the_interpreter_calls_of_itself)
{
    const struct fake_nmethod code = put_nmethod();
    struct arch_regs *regs = &fake_stack.regs;

    begin_stack();
    push_entry(NULL);
    push_compiled(&code, PC_CALL);
    push_interpreted(3);
    const uintptr_t sp = regs->sp;

    (void)in_interpreter(ENTRY, sp - 128, 0);
    regs->sp = sp - 16;
    walk();
    kinds_are("ic");
}

/* From compiled code to the interpreter: before room is made and behind that, and while the JVM is told in a frame. */
TEST_EACH_STACK(walk_vm_calls, the_way_from_compiled_code_to_the_interpreter)
{
    static const uint32_t adapter_code[] = {
        0xd503201f, 0xa9bf7bfd, 0x910003fd, /* nop; stp x29,x30,[sp,#-16]!; mov x29,sp */
        0xd503201f, 0xa8c17bfd,             /* nop; ldp x29,x30,[sp],#16 */
        0x910003ed, 0xd10083ff, 0xd61f0100, /* mov x13,sp; sub sp,sp,#32; br x8 */
    };
    const struct fake_nmethod code = put_nmethod(), adapter = put_other("I2C/C2I adapters");
    struct arch_regs *regs = &fake_stack.regs;

    memcpy((void *)adapter.code, adapter_code, sizeof adapter_code);
    for (size_t at = 0; at < JW_COUNT_OF(adapter_code); at++) {
        begin_stack();
        push_entry(NULL);
        push_compiled(&code, PC_CALL);
        push_compiled(&code, PC_CALL);
        const struct arch_regs caller = *regs;

        regs->link = at == 4 ? 0x1234 : caller.pc; /* behind the call of the JVM */
        regs->pc = adapter.code + at * sizeof adapter_code[0];
        context.uc_mcontext.regs[13] = at >= 6 ? caller.sp : 0;
        if (at >= 2 && at <= 4) {
            put_word(caller.sp - 8, caller.pc);
            put_word(caller.sp - 16, caller.fp);
            regs->sp -= 16;
            regs->fp = at >= 3 ? regs->sp : caller.fp;
        } else if (at == 7) {
            regs->sp -= 32;
        }
        walk();
        kinds_are("cc");
    }
}

#endif
