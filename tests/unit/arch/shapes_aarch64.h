/* aarch64: shapes of code, and running a copy of each with a breakpoint at each instruction in turn.
 * Included by test_steps.c. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define POLL_OFFSET      0x340 /* JavaThread's polling word */
#define POLL_PAGE_OFFSET 0x100 /* pointer to a page, JDK 11 */
#define CODE_BRK         0xd4200000u
#define CODE_ROOM_BYTES  ((size_t)4096)

/* clang-format off */
__asm__(".pushsection .text\n .balign 8\n"
/* C2, 17: small frame, bang; x29 and x30 are general registers inside. */
"c2_small: nop\n sub x9, sp, #0x14, lsl #12\n str xzr, [x9]\n sub sp, sp, #0x40\n stp x29, x30, [sp, #0x30]\n"
"c2_small_complete: nop\n mov x29, #7\n mov x30, #9\n"
" ldp x29, x30, [sp, #0x30]\n add sp, sp, #0x40\n ldr x8, [x28, #0x340]\n cmp sp, x8\n b.hi c2_small_slow\n ret\n"
"c2_small_slow: adr x8, c2_small_complete\n str x8, [x28, #0x348]\n b c2_small_blob\n"
"c2_small_blob: ret\nc2_small_end:\n"
/* The frame pointer preserved, and a barrier before the frame is called complete. */
"c2_kept: sub sp, sp, #0x60\n stp x29, x30, [sp, #0x50]\n add x29, sp, #0x50\n ldr w9, [x28, #0x20]\n"
"c2_kept_complete: mov x30, #9\n ldp x29, x30, [sp, #0x50]\n add sp, sp, #0x60\n ret\nc2_kept_end:\n"
/* Frames of 528 bytes and more: the pair is pushed first. */
"c2_large: sub x9, sp, #0x14, lsl #12\n str xzr, [x9]\n stp x29, x30, [sp, #-16]!\n sub sp, sp, #0x400\n"
"c2_large_complete: mov x29, #7\n mov x30, #9\n add sp, sp, #0x400\n ldp x29, x30, [sp], #16\n"
" ldr x8, [x28, #0x340]\n cmp sp, x8\n b.hi c2_large_slow\n ret\n"
"c2_large_slow: adr x8, c2_large_complete\n str x8, [x28, #0x348]\n b c2_large_blob\n"
"c2_large_blob: ret\nc2_large_end:\n"
/* So large that the size goes through a register. */
"c2_huge: stp x29, x30, [sp, #-16]!\n mov x29, sp\n movz x8, #0x2000\n movk x8, #1, lsl #16\n .inst 0xcb2863ff\n"
"c2_huge_complete: mov x30, #9\n movz x8, #0x2000\n movk x8, #1, lsl #16\n add sp, sp, x8\n ldp x29, x30, [sp], #16\n ret\nc2_huge_end:\n"
/* C1: inline cache check before; and an entry for on-stack replacement behind. */
"c1: cmp x0, x0\n b.ne c1_end\n nop\n sub x9, sp, #0x14, lsl #12\n str xzr, [x9]\n sub sp, sp, #0x40\n stp x29, x30, [sp, #0x30]\n"
"c1_complete: mov x30, #9\n ldp x29, x30, [sp, #0x30]\n add sp, sp, #0x40\n ldr x8, [x28, #0x340]\n cmp sp, x8\n b.hi c1_slow\n ret\n"
"c1_osr: sub x9, sp, #0x14, lsl #12\n str xzr, [x9]\n sub sp, sp, #0x40\n stp x29, x30, [sp, #0x30]\n"
" mov x30, #9\n ldp x29, x30, [sp, #0x30]\n add sp, sp, #0x40\n ret\n"
"c1_slow: adr x8, c1_complete\n str x8, [x28, #0x348]\n b c1_blob\n"
"c1_blob: ret\nc1_end:\n"
/* JDK 11: the poll reads the thread's page. */
"poll_local: sub sp, sp, #0x20\n stp x29, x30, [sp, #0x10]\n"
"poll_local_complete: mov x30, #9\n ldp x29, x30, [sp, #0x10]\n add sp, sp, #0x20\n ldr x8, [x28, #0x100]\n ldr wzr, [x8]\n ret\npoll_local_end:\n"
/* A native wrapper. */
"native: stp x29, x30, [sp, #-16]!\n mov x29, sp\n sub sp, sp, #0x30\n"
"native_complete: mov x30, #9\n mov sp, x29\n ldp x29, x30, [sp], #16\n ret\nnative_end:\n"
/* One that looks for an exception behind its frame. */
"thrown: stp x29, x30, [sp, #-16]!\n mov x29, sp\n sub sp, sp, #0x30\n"
"thrown_complete: mov x30, #9\n mov sp, x29\n ldp x29, x30, [sp], #16\n ldr x8, [x28, #0x340]\n cbnz x8, thrown_slow\n ret\n"
"thrown_slow: b thrown_forward\nthrown_forward: ret\nthrown_end:\n"

/* Stubs: a frame at once; after other instructions; none. */
"stub_plain: stp x29, x30, [sp, #-16]!\n mov x29, sp\n"
"stub_plain_setup: stp x3, x19, [sp, #-16]!\n mov x30, #9\n ldp x3, x19, [sp], #16\n mov x0, xzr\n mov sp, x29\n ldp x29, x30, [sp], #16\n ret\nstub_plain_end:\n"
"stub_late: cmp x2, #8\n mov x4, x0\n stp x29, x30, [sp, #-16]!\n mov x29, sp\n"
"stub_late_setup: sub sp, sp, #0x30\n mov x30, #9\n mov sp, x29\n ldp x29, x30, [sp], #16\n mov w0, wzr\n ret\nstub_late_end:\n"
/* What ends the JVM stands before the entry. */
"stub_stop:\n .rept 30\n stp x0, x1, [sp, #-16]!\n .endr\n blr x3\n hlt #0\n"
"stub_stop_entry: stp x29, x30, [sp, #-16]!\n mov x29, sp\n"
"stub_stop_setup: sub x9, sp, #0x40\n and sp, x9, #-16\n mov x30, #9\n mov sp, x29\n ldp x29, x30, [sp], #16\n ret\nstub_stop_end:\n"
"stub_bare: mov x9, x0\n cbz x9, stub_bare_out\n nop\nstub_bare_out: ret\nstub_bare_end:\n"

/* A method in the interpreter: room for locals, the fixed part, the frame, and back. x13 and x20 are as the adapter left them. */
".macro interpreted name, sender\n"
"\\name: sub x8, x20, #0x30\n and sp, x8, #-16\n str xzr, [x20, #-8]!\n sub x20, sp, #0x60\n mov x22, #7\n"
" stp x20, x22, [sp, #-0x60]!\n stp xzr, x12, [sp, #0x30]\n stp x24, x26, [sp, #0x10]\n stp x29, x30, [sp, #0x50]\n"
" add x29, sp, #0x50\n stp xzr, \\sender, [sp, #0x40]\n"
"\\name\\()_whole: mov x30, #9\n mov x13, #3\n sub sp, sp, #0x40\n ldur x20, [x29, #-8]\n"
" mov sp, x29\n ldp x29, x30, [sp], #16\n and sp, x20, #-16\n ret\n\\name\\()_end:\n .endm\n"
"interpreted interp, x13\n interpreted interp_21, x19\n"
/* From compiled code to the interpreter: the JVM is told once, in a frame, then there is made room for arguments. */
"c2i: nop\n stp x29, x30, [sp, #-16]!\n mov x29, sp\n stp x0, x1, [sp, #-16]!\n mov x30, #9\n"
"c2i_framed: ldp x0, x1, [sp], #16\n mov sp, x29\n ldp x29, x30, [sp], #16\n mov x13, sp\n sub sp, sp, #0x20\n"
" str x1, [sp, #8]\n mov sp, x13\n ret\nc2i_end:\n"
/* From the interpreter to compiled code. */
"i2c: ldr x8, [x28]\n mov x0, x8\n nop\n ret\ni2c_end:\n"

".globl shape_call\n"
/* x0: code, x1: thread. Keeps the truth. */
"shape_call: stp x29, x30, [sp, #-96]!\n mov x29, sp\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n"
" stp x23, x24, [sp, #48]\n stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n"
" mov x28, x1\n adrp x9, shape_truth\n add x9, x9, :lo12:shape_truth\n adr x10, shape_return\n mov x11, sp\n"
" stp x10, x11, [x9]\n str x29, [x9, #16]\n"
" mov x13, sp\n mov x19, sp\n mov x20, sp\n"
" blr x0\n"
"shape_return: ldp x27, x28, [sp, #80]\n ldp x25, x26, [sp, #64]\n ldp x23, x24, [sp, #48]\n"
" ldp x21, x22, [sp, #32]\n ldp x19, x20, [sp, #16]\n ldp x29, x30, [sp], #96\n ret\n"
".popsection\n");
/* clang-format on */

#define LABELS(name)                                                                               \
    extern const char name[] __attribute__((visibility("hidden")));                                \
    extern const char name##_end[] __attribute__((visibility("hidden")))
#define LABELS_WITH(name, mark)                                                                    \
    LABELS(name);                                                                                  \
    extern const char name##_##mark[] __attribute__((visibility("hidden")))

LABELS_WITH(c2_small, complete);
LABELS_WITH(c2_kept, complete);
LABELS_WITH(c2_large, complete);
LABELS_WITH(c2_huge, complete);
LABELS_WITH(c1, complete);
LABELS_WITH(poll_local, complete);
LABELS_WITH(native, complete);
LABELS_WITH(thrown, complete);
LABELS_WITH(stub_stop, setup);
LABELS_WITH(interp, whole);
LABELS_WITH(interp_21, whole);
LABELS_WITH(c2i, framed);
LABELS(i2c);
LABELS_WITH(stub_plain, setup);
LABELS_WITH(stub_late, setup);
LABELS(stub_bare);
extern const char stub_stop_entry[] __attribute__((visibility("hidden")));
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

#define UNSIZED(name, kind)                                                                        \
    {                                                                                              \
#name, kind, name, name, NULL, name##_end, 0, false                                        \
    }

static const struct shape shapes[] = {
    COMPILED(c2_small, 8, false),
    COMPILED(c2_small, 8, true),
    COMPILED(c2_kept, 12, false),
    COMPILED(c2_large, 130, false),
    COMPILED(c2_large, 130, true),
    COMPILED(c2_huge, (0x12000 + 16) / 8, false),
    COMPILED(c1, 8, false),
    COMPILED(c1, 8, true),
    {"c1_osr", SHAPE_COMPILED, c1, c1_osr, c1_complete, c1_end, 8, false},
    COMPILED(poll_local, 4, false),
    COMPILED(native, 8, false),
    COMPILED(thrown, 8, false),
    COMPILED(thrown, 8, true),
    STUB(stub_plain, stub_plain_setup),
    STUB(stub_late, stub_late_setup),
    STUB(stub_bare, NULL),
    {"stub_stop", SHAPE_STUB, stub_stop, stub_stop_entry, stub_stop_setup, stub_stop_end, 0, false},
    UNSIZED(interp, SHAPE_INTERPRETED),
    UNSIZED(interp_21, SHAPE_INTERPRETED),
    UNSIZED(c2i, SHAPE_ADAPTER),
    UNSIZED(i2c, SHAPE_ADAPTER),
    SIZED(c2_kept, 12),
    SIZED(c2_huge, (0x12000 + 16) / 8),
};

void shape_call(const void *entry, void *thread);

static char *running; /* a writable copy of the code */
static size_t running_bytes;
static const char *running_from;

static void restore_code(void)
{
    memcpy(running, running_from, running_bytes);
    __builtin___clear_cache(running, running + running_bytes);
}

static void on_trap(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo;
    (void)info;
    restore_code();
    shape_stopped(ucontext, (uintptr_t)running);
}

static void put_word(void *thread, size_t offset, uint64_t word)
{
    memcpy((char *)thread + offset, &word, sizeof word);
}

void shape_run(const struct shape *shape, void *thread)
{
    const uint32_t brk = CODE_BRK;
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    put_word(thread, POLL_OFFSET, shape->is_poll_armed ? 0 : UINT64_MAX);
    put_word(thread, POLL_PAGE_OFFSET, (uint64_t)(uintptr_t)thread);
    if (running == NULL)
        running = mmap(NULL, CODE_ROOM_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    running_from = shape->begin;
    running_bytes = (size_t)(shape->end - shape->begin);
    sigaction(SIGTRAP, &action, NULL);
    for (size_t at = (size_t)(shape->entry - shape->begin); at < running_bytes; at += sizeof brk) {
        restore_code();
        memcpy(running + at, &brk, sizeof brk);
        __builtin___clear_cache(running, running + running_bytes);
        shape_call(running + (shape->entry - shape->begin), thread);
    }
}
