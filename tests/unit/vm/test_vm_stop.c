/* Where compiled code can be stopped next, of code made for it, in the layout of each JDK. */
#define NMETHOD_SEGMENTS 28 /* room for code behind the head */
#include "unit/vm/fake_stack.h"

#include <criterion/new/assert.h>

#include "vm/vm_stop.h"

TestSuite(vm_stop, .timeout = 1800);

static unsigned char *code_of(const struct fake_nmethod *nmethod)
{
    return (unsigned char *)nmethod->code;
}

/* ---- code of this machine ---- */

#if defined(__x86_64__)

static void put_nothing(const struct fake_nmethod *to, unsigned from, unsigned end)
{
    memset(code_of(to) + from, 0x90, end - from);
}

static void put_bytes(const struct fake_nmethod *to, unsigned at, const char *bytes, size_t count)
{
    memcpy(code_of(to) + at, bytes, count);
}

static void put_relative(const struct fake_nmethod *to, unsigned at, const char *opcode,
                         size_t opcode_bytes, uintptr_t target_pc)
{
    const int32_t offset = (int32_t)(target_pc - (to->code + at + opcode_bytes + 4));

    memcpy(code_of(to) + at, opcode, opcode_bytes);
    memcpy(code_of(to) + at + opcode_bytes, &offset, sizeof offset);
}

#define LOAD_BYTES 7u
#define CALL_BYTES 5u

static void put_load(const struct fake_nmethod *to, unsigned at)
{
    put_bytes(to, at, "\x4d\x8b\x97\x28\0\0\0", LOAD_BYTES); /* mov 0x28(%r15),%r10 */
}

static void put_poll(const struct fake_nmethod *to, unsigned at)
{
    put_bytes(to, at, "\x41\x85\x02", 3); /* test %eax,(%r10) */
}

static void put_return(const struct fake_nmethod *to, unsigned at)
{
    put_bytes(to, at, "\xc3", 1);
}

static void put_old_return(const struct fake_nmethod *to, unsigned at)
{
    put_bytes(to, at, "\x41\x85\x02\xc3", 4);
}

static void put_new_return(const struct fake_nmethod *to, unsigned at)
{
    /* cmp 0x28(%r15),%rsp; ja far; ret */
    put_bytes(to, at, "\x49\x3b\xa7\x28\0\0\0\x0f\x87\0\1\0\0\xc3", 14);
}

static void put_call(const struct fake_nmethod *to, unsigned return_at, uintptr_t target_pc)
{
    put_relative(to, return_at - CALL_BYTES, "\xe8", 1, target_pc);
}

/* call *%r10, as C is called. */
static void put_call_out(const struct fake_nmethod *to, unsigned return_at)
{
    put_bytes(to, return_at - 3, "\x41\xff\xd2", 3);
}

static void put_branch(const struct fake_nmethod *to, unsigned at, unsigned target)
{
    put_relative(to, at, "\x0f\x85", 2, to->code + target);
}

static void put_jump(const struct fake_nmethod *to, unsigned at, unsigned target)
{
    put_relative(to, at, "\xe9", 1, to->code + target);
}

static void put_end(const struct fake_nmethod *to, unsigned at)
{
    put_bytes(to, at, "\x0f\x0b", 2); /* ud2 */
}

#else

static void put_word_at(const struct fake_nmethod *to, unsigned at, uint32_t word)
{
    memcpy(code_of(to) + at, &word, sizeof word);
}

static uint32_t words_to(const struct fake_nmethod *to, unsigned at, uintptr_t target_pc)
{
    return (uint32_t)((intptr_t)(target_pc - (to->code + at)) / 4);
}

#define LOAD_BYTES 4u
#define CALL_BYTES 4u

static void put_nothing(const struct fake_nmethod *to, unsigned from, unsigned end)
{
    for (; from < end; from += 4)
        put_word_at(to, from, 0xd503201f);
}

static void put_load(const struct fake_nmethod *to, unsigned at)
{
    put_word_at(to, at, 0xf9401788); /* ldr x8,[x28,#0x28] */
}

static void put_poll(const struct fake_nmethod *to, unsigned at)
{
    put_word_at(to, at, 0xb940011f); /* ldr wzr,[x8] */
}

static void put_return(const struct fake_nmethod *to, unsigned at)
{
    put_word_at(to, at, 0xd65f03c0);
}

static void put_old_return(const struct fake_nmethod *to, unsigned at)
{
    put_poll(to, at);
    put_return(to, at + 4);
}

static void put_new_return(const struct fake_nmethod *to, unsigned at)
{
    put_word_at(to, at, 0xeb2863ff);     /* cmp sp,x8 */
    put_word_at(to, at + 4, 0x54001008); /* b.hi far */
    put_return(to, at + 8);
}

static void put_call(const struct fake_nmethod *to, unsigned return_at, uintptr_t target_pc)
{
    const unsigned at = return_at - CALL_BYTES;

    put_word_at(to, at, 0x94000000 | (words_to(to, at, target_pc) & 0x3ffffff));
}

/* blr x8; which of them call Java, and which C, the code does not show. */
static void put_call_out(const struct fake_nmethod *to, unsigned return_at)
{
    put_nothing(to, return_at - CALL_BYTES, return_at);
}

static void put_branch(const struct fake_nmethod *to, unsigned at, unsigned target)
{
    put_word_at(to, at, 0x54000001 | (words_to(to, at, to->code + target) & 0x7ffff) << 5);
}

static void put_jump(const struct fake_nmethod *to, unsigned at, unsigned target)
{
    put_word_at(to, at, 0x14000000 | (words_to(to, at, to->code + target) & 0x3ffffff));
}

static void put_end(const struct fake_nmethod *to, unsigned at)
{
    put_word_at(to, at, 0xd4200000); /* brk */
}

#endif

/* ---- */

/* Behind all that an nmethod has in any layout. */
#define CODE_AT 1024u

/* Does nothing up to its end, which is none. */
static struct fake_nmethod put_code(void)
{
    struct fake_nmethod made = put_nmethod();

    made.code = made.blob + CODE_AT;
    set_pointer((void *)made.blob, "CodeBlob", "_code_begin", (void *)made.code);
    set((void *)made.blob, "CodeBlob", "_code_offset", CODE_AT, 4);

    put_nothing(&made, 0, CODE_BYTES - 16);
    put_end(&made, CODE_BYTES - 16);
    return made;
}

static struct vm_stop stop_after(const struct fake_nmethod *nmethod, unsigned at)
{
    struct vm_stop stop;

    vm_stop_after(nmethod->code + at, &stop);
    return stop;
}

/* At PC_CALL the method is on top, at PC_INLINED the one that was inlined into it. */
static void expect_outer(const struct vm_stop *stop, enum vm_stop_kind kind)
{
    cr_expect(eq(int, stop->kind, kind));
    cr_expect(stop->root == (vm_addr)fake.method);
    cr_expect(stop->method == (vm_addr)fake.method);
    cr_expect(eq(i32, stop->bci, 3));
}

static void expect_inlined(const struct vm_stop *stop, enum vm_stop_kind kind)
{
    cr_expect(eq(int, stop->kind, kind));
    cr_expect(stop->root == (vm_addr)fake.method);
    cr_expect(stop->method == (vm_addr)fake_stack.inlined_method);
    cr_expect(eq(i32, stop->bci, 7));
}

TEST_EACH_STACK(vm_stop, a_poll_in_a_loop_shows_what_is_inlined_there)
{
    const struct fake_nmethod code = put_code();
    struct vm_stop stop;

    put_poll(&code, PC_INLINED);
    stop = stop_after(&code, 120);
    expect_inlined(&stop, VM_STOP_POLL);
    cr_expect(not(stop.is_here));
    stop = stop_after(&code, PC_INLINED);
    expect_inlined(&stop, VM_STOP_POLL);
    cr_expect(stop.is_here);
}

TEST_EACH_STACK(vm_stop, the_load_before_a_poll_is_a_part_of_it)
{
    const struct fake_nmethod code = put_code();
    struct vm_stop stop;

    put_load(&code, PC_INLINED - LOAD_BYTES);
    put_poll(&code, PC_INLINED);
    stop = stop_after(&code, PC_INLINED - LOAD_BYTES);
    expect_inlined(&stop, VM_STOP_POLL);
    cr_expect(stop.is_here);
    stop = stop_after(&code, PC_INLINED - LOAD_BYTES - 4);
    cr_expect(not(stop.is_here));
}

TEST_EACH_STACK(vm_stop, what_looks_like_a_poll_and_is_not_described_is_none)
{
    const struct fake_nmethod code = put_code();

    put_poll(&code, 124);
    put_poll(&code, PC_INLINED);
    const struct vm_stop stop = stop_after(&code, 120);
    expect_inlined(&stop, VM_STOP_POLL);
}

TEST_EACH_STACK(vm_stop, a_poll_before_a_return_shows_the_caller)
{
    const struct fake_nmethod code = put_code(), old = put_code(), bare = put_code();
    struct vm_stop stop;

    put_new_return(&code, 120);
    stop = stop_after(&code, 112);
    cr_expect(eq(int, stop.kind, VM_STOP_RETURN));
    cr_expect(not(stop.is_here));
    stop = stop_after(&code, 120);
    cr_expect(eq(int, stop.kind, VM_STOP_RETURN));
    cr_expect(stop.is_here);
    put_old_return(&old, 120);
    stop = stop_after(&old, 120);
    cr_expect(eq(int, stop.kind, VM_STOP_RETURN));
    cr_expect(stop.is_here);
    put_return(&bare, 120);
    stop = stop_after(&bare, 120);
    cr_expect(eq(int, stop.kind, VM_STOP_RETURN));
    cr_expect(not(stop.is_here));
}

TEST_EACH_STACK(vm_stop, a_call_of_what_is_not_known_is_where_it_waits)
{
    const struct fake_nmethod code = put_code(), other = put_other("Interpreter");

    put_call(&code, PC_INLINED, other.code);
    const struct vm_stop stop = stop_after(&code, 120);
    expect_inlined(&stop, VM_STOP_CALL);
}

TEST_EACH_STACK(vm_stop, a_call_of_compiled_code_is_followed)
{
    const struct fake_nmethod code = put_code(), looping = put_code(), leaf = put_code();
    struct vm_stop stop;

    put_call(&code, PC_INLINED, looping.code + 40);
    put_poll(&looping, PC_CALL);
    stop = stop_after(&code, 120);
    expect_outer(&stop, VM_STOP_POLL);
    /* One that returns leaves its caller on top. */
    put_call(&code, PC_INLINED, leaf.code + 40);
    put_new_return(&leaf, 60);
    stop = stop_after(&code, 120);
    expect_inlined(&stop, VM_STOP_CALL);
    /* And one that returns without asking lets it run on. */
    put_call(&code, PC_CALL, leaf.code + 80);
    put_return(&leaf, 88);
    put_call(&code, PC_INLINED, put_other("Interpreter").code);
    stop = stop_after(&code, 60);
    expect_inlined(&stop, VM_STOP_CALL);
}

TEST_EACH_STACK(vm_stop, calls_are_not_followed_without_end)
{
    const struct fake_nmethod code = put_code();

    put_call(&code, PC_INLINED, code.code + 120); /* of itself */
    const struct vm_stop stop = stop_after(&code, 124);
    expect_inlined(&stop, VM_STOP_CALL);
}

TEST_EACH_STACK(vm_stop, calls_that_stop_nobody_are_passed_by)
{
    const struct fake_nmethod code = put_code(), stub = put_other("StubRoutines (2)");

    put_call(&code, 80, put_other("Interpreter").code); /* not described */
    put_call(&code, PC_CALL, stub.code);
    put_poll(&code, PC_INLINED);
    struct vm_stop stop = stop_after(&code, 60);
    expect_inlined(&stop, VM_STOP_POLL);
    put_nothing(&code, 80, PC_CALL);
    put_call_out(&code, PC_CALL);
    stop = stop_after(&code, 84);
    expect_inlined(&stop, VM_STOP_POLL);
}

TEST_EACH_STACK(vm_stop, a_loop_is_gone_round_to_its_poll_and_once_where_it_has_none)
{
    const struct fake_nmethod polled = put_code(), counted = put_code();
    struct vm_stop stop;

    /* The poll stands before the sample. */
    put_poll(&polled, PC_CALL);
    put_branch(&polled, 120, 80);
    put_poll(&polled, PC_INLINED);
    stop = stop_after(&polled, 108);
    expect_outer(&stop, VM_STOP_POLL);
    put_branch(&counted, 120, 80);
    put_poll(&counted, PC_INLINED);
    stop = stop_after(&counted, 108);
    expect_inlined(&stop, VM_STOP_POLL);
}

TEST_EACH_STACK(vm_stop, a_loop_that_a_jump_closes_is_left_by_its_branch)
{
    const struct fake_nmethod code = put_code(), endless = put_code();
    struct vm_stop stop;

    put_branch(&code, 64, 132);
    put_jump(&code, 80, 40);
    put_end(&code, 88);
    put_poll(&code, PC_INLINED);
    stop = stop_after(&code, 48);
    expect_inlined(&stop, VM_STOP_POLL);
    put_jump(&endless, 80, 40);
    stop = stop_after(&endless, 48);
    cr_expect(eq(int, stop.kind, VM_STOP_UNTOLD));
}

TEST_EACH_STACK(vm_stop, forward_branches_are_not_taken)
{
    const struct fake_nmethod code = put_code();

    put_branch(&code, 64, 120);
    put_poll(&code, PC_CALL);
    put_poll(&code, PC_INLINED);
    const struct vm_stop stop = stop_after(&code, 60);
    expect_outer(&stop, VM_STOP_POLL);
}

TEST_EACH_STACK(vm_stop, code_that_leads_nowhere_is_not_told)
{
    const struct fake_nmethod code = put_code(), away = put_code();
    struct vm_stop stop;

    stop = stop_after(&code, 300);
    cr_expect(eq(int, stop.kind, VM_STOP_UNTOLD));
    cr_expect(stop.root == (vm_addr)fake.method);
    put_jump(&away, 60, 100000);
    stop = stop_after(&away, 60);
    cr_expect(eq(int, stop.kind, VM_STOP_UNTOLD));
    vm_stop_after(16, &stop);
    cr_expect(eq(int, stop.kind, VM_STOP_UNTOLD));
    cr_expect(stop.root == 0);
    vm_stop_after(put_other("Interpreter").code, &stop);
    cr_expect(eq(int, stop.kind, VM_STOP_UNTOLD));
}
