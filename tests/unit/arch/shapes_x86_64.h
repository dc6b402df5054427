/* x86-64: shapes of code, and running them with the trap flag. Included by test_steps.c. */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define POLL_FAR_OFFSET  0x340 /* JavaThread's polling word in JDK 17 */
#define POLL_NEAR_OFFSET 0x28  /* in JDK 25 */
#define POLL_PAGE_OFFSET 0x100 /* pointer to a page, JDK 11 */

/* clang-format off */
__asm__(".pushsection .text\n"
/* C2, 17: bang, push, sub; rbp is a general register; far poll.. */
"c2_far: movl %eax, -0x14000(%rsp)\n push %rbp\n .byte 0x48,0x83,0xec,0x20\n"
"c2_far_complete: nop\n xorl %ebp, %ebp\n .byte 0xc5,0xf8,0x77\n"
" addq $0x20, %rsp\n pop %rbp\n .byte 0x49,0x3b,0xa7,0x40,0x03,0,0\n .byte 0x0f,0x87\n .long c2_far_slow - . - 4\n ret\n"
"c2_far_slow: leaq c2_far_complete(%rip), %r10\n movq %r10, 0x348(%r15)\n .byte 0xe9\n .long c2_far_blob - . - 4\n"
"c2_far_blob: ret\nc2_far_end:\n"
/* C2, 25, no bang: sub with a long immediate, rbp saved below the return address; near poll. */
"c2_near: .byte 0x48,0x81,0xec,0x18,0,0,0\n movq %rbp, 0x10(%rsp)\n"
"c2_near_complete: nop\n movl $7, %ebp\n"
" addq $0x10, %rsp\n pop %rbp\n .byte 0x49,0x3b,0x67,0x28\n .byte 0x0f,0x87\n .long c2_near_slow - . - 4\n ret\n"
"c2_near_slow: leaq c2_near_complete(%rip), %r10\n movq %r10, 0x48(%r15)\n .byte 0xe9\n .long c2_near_blob - . - 4\n"
"c2_near_blob: ret\nc2_near_end:\n"
/* C2, the frame pointer preserved, a large frame without bang. */
"c2_kept: .byte 0x48,0x81,0xec,0xf8,0x01,0,0\n movq %rbp, 0x1f0(%rsp)\n movq %rsp, %rbp\n addq $0x1f0, %rbp\n"
"c2_kept_complete: nop\n addq $0x1f0, %rsp\n pop %rbp\n ret\nc2_kept_end:\n"
/* C1, 17: inline cache check and padding before, large frame, entry barrier before it is complete. */
"c1: cmpq %rax, %rax\n jne c1_end\n .byte 0x66,0x0f,0x1f,0x44,0,0\n"
" movl %eax, -0x14000(%rsp)\n push %rbp\n .byte 0x48,0x8b,0xec\n .byte 0x48,0x81,0xec,0x90,0,0,0\n"
" cmpl $0, 0x20(%r15)\n jne c1_end\n"
"c1_complete: nop\n movq $0, (%rsp)\n"
" .byte 0x48,0x81,0xc4,0x90,0,0,0\n pop %rbp\n .byte 0x49,0x3b,0xa7,0x40,0x03,0,0\n .byte 0x0f,0x87\n .long c1_slow - . - 4\n ret\n"
/* The same method's entry for on-stack replacement, with a frame of the same size. */
"c1_osr: movl %eax, -0x14000(%rsp)\n push %rbp\n .byte 0x48,0x8b,0xec\n .byte 0x48,0x81,0xec,0x90,0,0,0\n"
" nop\n .byte 0x48,0x81,0xc4,0x90,0,0,0\n pop %rbp\n ret\n"
"c1_slow: leaq c1_complete(%rip), %r10\n movq %r10, 0x348(%r15)\n .byte 0xe9\n .long c1_blob - . - 4\n"
"c1_blob: ret\nc1_end:\n"
/* JDK 8: the poll reads a page. */
"poll_page: push %rbp\n .byte 0x48,0x83,0xec,0x10\n"
"poll_page_complete: nop\n addq $0x10, %rsp\n pop %rbp\n .byte 0x85,0x05\n .long poll_page - . - 4\n ret\npoll_page_end:\n"
/* JDK 11: the page is the thread's. */
"poll_local: push %rbp\n .byte 0x48,0x83,0xec,0x10\n"
"poll_local_complete: nop\n addq $0x10, %rsp\n pop %rbp\n .byte 0x4d,0x8b,0x97,0,0x01,0,0\n .byte 0x41,0x85,0x02\n ret\npoll_local_end:\n"
/* Nothing but rbp and the return address. */
"bare: push %rbp\nbare_complete: nop\n pop %rbp\n ret\nbare_end:\n"
/* A native wrapper. */
"native: movl %eax, -0x14000(%rsp)\n push %rbp\n .byte 0x48,0x8b,0xec\n .byte 0x48,0x83,0xec,0x30\n"
"native_complete: nop\n leave\n ret\nnative_end:\n"

/* Stubs: a frame at once; after other instructions; none; and the ways of leaving. */
"stub_plain: push %rbp\n .byte 0x48,0x8b,0xec\n"
"stub_plain_setup: push %rbx\n push %r12\n nop\n pop %r12\n pop %rbx\n xorl %eax, %eax\n leave\n ret\nstub_plain_end:\n"
"stub_late: endbr64\n .byte 0xc5,0xf8,0x77\n movq %rdi, %r9\n push %rbp\n movq %rsp, %rbp\n"
"stub_late_setup: subq $0x28, %rsp\n nop\n movq %rbp, %rsp\n pop %rbp\n .byte 0xc5,0xf8,0x77\n xorq %rax, %rax\n ret\nstub_late_end:\n"
/* The stack pointer aligned, rbp stored and then used for data, as SHA-512 does. */
"stub_aligned: push %rbp\n .byte 0x48,0x8b,0xec\n"
"stub_aligned_setup: push %rdx\n push %rcx\n movq %rsp, %rax\n subq $0x70, %rsp\n andq $-32, %rsp\n movq %rax, 0x38(%rsp)\n"
" movq %rbp, 0x40(%rsp)\n movq %rbx, 0x48(%rsp)\n nop\n movabsq $0x123456789abc, %rbp\n addq $0x77, %rbp\n xorl %ebp, %ebp\n"
" movq $-1, %rbp\n nop\n movq 0x40(%rsp), %rbp\n movq 0x48(%rsp), %rbx\n movq 0x38(%rsp), %rsp\n pop %rcx\n pop %rdx\n"
" .byte 0xc5,0xf8,0x77\n leave\n ret\nstub_aligned_end:\n"
/* The stub that throws on: it goes to the handler with its return address in rdx. */
"stub_rethrow: .byte 0x48,0x81,0xec,0x18,0,0,0\n movq %rbp, 0x10(%rsp)\n"
" .byte 0x48,0xff,0x74,0x24,0x18,0x48,0x8f,0x04,0x24\n nop\n xorl %ebp, %ebp\n" /* push, pop */
" addq $0x10, %rsp\n pop %rbp\n pop %rdx\n jmp *%rdx\nstub_rethrow_end:\n"
"stub_bare: movq %rdi, %rax\n testq %rax, %rax\n je stub_bare_out\n nop\nstub_bare_out: ret\nstub_bare_end:\n"

".globl shape_call\n"
/* rdi: code, rsi: thread. Runs it with the trap flag; keeps the truth. */
"shape_call: push %rbp\n movq %rsp, %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n subq $8, %rsp\n"
" movq %rsi, %r15\n leaq shape_return(%rip), %rax\n"
" movq %rax, shape_truth(%rip)\n movq %rsp, shape_truth+8(%rip)\n movq %rbp, shape_truth+16(%rip)\n"
" pushfq\n orq $0x100, (%rsp)\n popfq\n"
" call *%rdi\n"
"shape_return: pushfq\n andq $~0x100, (%rsp)\n popfq\n"
" addq $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
".popsection\n");
/* clang-format on */

#define LABELS(name)                                                                               \
    extern const char name[] __attribute__((visibility("hidden")));                                \
    extern const char name##_end[] __attribute__((visibility("hidden")))
#define LABELS_WITH(name, mark)                                                                    \
    LABELS(name);                                                                                  \
    extern const char name##_##mark[] __attribute__((visibility("hidden")))

LABELS_WITH(c2_far, complete);
LABELS_WITH(c2_near, complete);
LABELS_WITH(c2_kept, complete);
LABELS_WITH(c1, complete);
LABELS_WITH(poll_page, complete);
LABELS_WITH(poll_local, complete);
LABELS_WITH(bare, complete);
LABELS_WITH(native, complete);
LABELS_WITH(stub_plain, setup);
LABELS_WITH(stub_late, setup);
LABELS_WITH(stub_aligned, setup);
LABELS(stub_bare);
LABELS(stub_rethrow);
extern const char c1_osr[] __attribute__((visibility("hidden")));

#define COMPILED(name, words, armed)                                                               \
    {                                                                                              \
#name, SHAPE_COMPILED, name, name, name##_complete, name##_end, words, armed               \
    }
#define SIZED(name, words)                                                                         \
    {                                                                                              \
#name, SHAPE_SIZED, name, name, NULL, name##_end, words, false                             \
    }
#define STUB(name, mark)                                                                           \
    {                                                                                              \
#name, SHAPE_STUB, name, name, mark, name##_end, 0, false                                  \
    }

static const struct shape shapes[] = {
    COMPILED(c2_far, 6, false),
    COMPILED(c2_far, 6, true),
    COMPILED(c2_near, 4, false),
    COMPILED(c2_near, 4, true),
    COMPILED(c2_kept, 64, false),
    COMPILED(c1, 20, false),
    COMPILED(c1, 20, true),
    {"c1_osr", SHAPE_COMPILED, c1, c1_osr, c1_complete, c1_end, 20, false},
    COMPILED(poll_page, 4, false),
    COMPILED(poll_local, 4, false),
    COMPILED(bare, 2, false),
    COMPILED(native, 8, false),
    STUB(stub_plain, stub_plain_setup),
    STUB(stub_late, stub_late_setup),
    STUB(stub_aligned, stub_aligned_setup),
    STUB(stub_bare, NULL),
    SIZED(c2_near, 4),
    SIZED(c2_kept, 64),
    SIZED(stub_rethrow, 4),
};

/* The exception blob of JDK 17 and 25, and where in it the return address is in rdx alone. */
static const uint8_t exception_blob[] = {
    0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24,       /* push %rdx; sub $8; mov %rbp */
    0x49, 0x89, 0x87, 0xd0, 0x03, 0x00, 0x00, 0xc5, 0xf8, 0x77, /* mov %rax,..; vzeroupper */
    0x48, 0x8b, 0x2c, 0x24, 0x48, 0x83, 0xc4, 0x08, 0x5a,       /* mov (%rsp),%rbp; add; pop %rdx */
    0x49, 0x89, 0xc0, 0x49, 0x8b, 0x87, 0xd0, 0x03, 0x00, 0x00, /* mov %rax,%r8; mov ..,%rax */
    0x41, 0xff, 0xe0, 0xf4, 0xf4,                               /* jmp *%r8; never run */
};
static const uint8_t exception_blob_places[] = {0, 28, 31, 38};

/* Barriers of Z in JDK 25 and 17, off the main path: the pc is behind the call, or before it. */
#define CALLED "\xe8\x10\x20\x30\x40"

static const struct saved_code {
    const char *name;
    const char *code;
    size_t length_bytes;
    size_t saved_bytes;
} saved_codes[] = {
#define SAVED(name, bytes, saved)                                                                  \
    {                                                                                              \
        name, bytes, sizeof bytes - 1, saved                                                       \
    }
    SAVED("loads, then add",
          "\x48\x8b\x34\x24\x48\x8b\x54\x24\x08\x4c\x8b\x54\x24\x38\xc5\xf8\x77\x48\x83\xc4\x40\xeb"
          "\x97",
          0x40),
    SAVED("a result is moved first",
          "\x4c\x8b\xd8\x4c\x8b\x54\x24\x08\xc5\xf8\x77\x48\x83\xc4\x10\xe9\xbb\xe8\xff\xff", 0x10),
    SAVED("vectors and masks",
          "\xc5\xfe\x6f\x44\x24\x20\x62\xf1\x7e\x48\x6f\x4c\x24\x01\xc4\xe1\xf8\x90\x4c\x24\x08\xf2"
          "\x44\x0f\x10\x84\x24"
          "\x00\x01\x00\x00\x48\x81\xc4\x80\x01\x00\x00\xe9\x00\x00\x00\x00",
          0x180),
    SAVED("before the call",
          "\x4c\x89\x54\x24\x08\x4c\x89\x1c\x24\x49\x8d\x72\x18\x49\x8b\xfb\x48\xb8\x01\x02\x03\x04"
          "\x05\x06\x07\x08\xff\xd0" CALLED "\x48\x83\xc4\x10\xe9\xbb\xe8\xff\xff",
          0x10),
    SAVED("the whole frame goes", "\x4c\x8b\x54\x24\x08\x48\x83\xc4\x10\x5d\xc3", 0),
    SAVED("another place than the stack", "\x4c\x8b\x53\x08\x48\x83\xc4\x10\xe9\xbb\xe8\xff\xff",
          0),
    SAVED("a jump before the add", "\xeb\x10\x48\x83\xc4\x10\xe9\xbb\xe8\xff\xff", 0),
    SAVED("no word", "\x48\x83\xc4\x0c\xe9\xbb\xe8\xff\xff", 0),
    SAVED("down, not up", "\x48\x83\xc4\xf0\xe9\xbb\xe8\xff\xff", 0),
    SAVED("too much", "\x48\x81\xc4\x00\x00\x01\x00\xe9\xbb\xe8\xff\xff", 0),
    SAVED("cut off", "\x4c\x8b\x54\x24\x08\x48\x83\xc4", 0),
#undef SAVED
};

void shape_call(const void *entry, void *thread);

static uintptr_t running_begin;
static uintptr_t running_end;

static void on_trap(int signo, siginfo_t *info, void *ucontext)
{
    const uintptr_t pc = (uintptr_t)((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];

    (void)signo;
    (void)info;
    if (pc >= running_begin && pc < running_end)
        shape_stopped(ucontext, running_begin);
}

static void put_word(void *thread, size_t offset, uint64_t word)
{
    memcpy((char *)thread + offset, &word, sizeof word);
}

void shape_run(const struct shape *shape, void *thread)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    /* The poll is taken when rsp is above the word. */
    put_word(thread, POLL_FAR_OFFSET, shape->is_poll_armed ? 0 : UINT64_MAX);
    put_word(thread, POLL_NEAR_OFFSET, shape->is_poll_armed ? 0 : UINT64_MAX);
    put_word(thread, POLL_PAGE_OFFSET, (uint64_t)(uintptr_t)thread);
    running_begin = (uintptr_t)shape->begin;
    running_end = (uintptr_t)shape->end;
    sigaction(SIGTRAP, &action, NULL);
    shape_call(shape->entry, thread);
}
