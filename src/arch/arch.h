/*
 * arch - what depends on the instruction set: registers of an interrupted thread, loads that may
 *        fault, the step out of code that has no frame yet or no longer.
 *
 * For      walkers, which see one machine; the fault handler, which lands failed loads.
 * Callers  signals, vm, walk, sampler. The directory x86_64/ or aarch64/ that the Makefile picks
 *          holds every function; both hold the same ones.
 * Context  all functions: handler, hook, any, dump, control. Loads are contained only while the
 *          fault handler of room signals is installed (signals_own_faults); without it they crash
 *          like plain loads.
 * Memory   none. Nothing here writes to memory of the JVM or to a signal's ucontext, but for
 *          arch_fault_recover and arch_guard_land, which edit the context of the *fault*, and
 *          arch_syscall_end and arch_syscall_cut, which decide how an interrupted system call ends.
 * Progress wait-free.
 *
 * Addresses are numbers (uintptr_t): memory of others is read through safe_load_* alone.
 */
#ifndef JW_ARCH_ARCH_H
#define JW_ARCH_ARCH_H

#include "base/jw.h"

/* Facts in which the machines differ in kind, not in code. */
struct arch_facts {
    const char *name;      /* "x86-64", "aarch64" */
    size_t call_min_bytes; /* shortest and longest call: a return address lies this far ... */
    size_t call_max_bytes; /* ... behind the call itself */
    size_t instruction_min_bytes; /* also the alignment of code addresses */
    size_t page_min_bytes;        /* smallest page a kernel of this machine may use */
    size_t page_max_bytes; /* largest one: what is mapped here ends at a multiple of the least */
    /* Where an interpreted frame keeps its bytecode pointer, in words from the frame pointer; the slot
     * behind it is the last of the frame's fixed part.
     * Source: OpenJDK, frame_x86.hpp, frame_aarch64.hpp; measured on JDK 8 to 28. */
    int interpreter_bcp_slot, interpreter_bcp_slot_jdk_8;
    /* Where the frame of the call stub keeps its wrapper, in words from the frame pointer, for JVMs that do not tell it (of
     * Linux; aarch64 never tells). Source: OpenJDK, frame_x86.hpp, frame_aarch64.hpp, JDK 8 to 28. */
    int entry_wrapper_slot;
    /* The interpreter's expressions have a pointer of their own, and its stack pointer lies below them, with room to spare: a method
     * that it calls takes that room, so that the caller's stack pointer, as it was kept, lies below the called method's frame.
     * Source: OpenJDK, generate_normal_entry in templateInterpreterGenerator_aarch64.cpp, frame::sender_for_interpreter_frame. */
    bool is_interpreter_sp_apart;
    int kept_dwarf_register; /* besides the frame pointer, one on which frames hang and that functions restore; -1: none */
    bool has_link_register; /* a call leaves the return address in `link`, not at [sp] */
    /* sp and pc, in this order, among the registers of perf_events.
     * Source: Linux, arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/include/uapi/asm/perf_regs.h. */
    uint64_t perf_sp_and_pc;
    /* libunwind's name of the machine, in those of its library and functions; its numbers of pc and sp, beside those of DWARF; and
     * whether unw_is_signal_frame tells of the frame at which the cursor is, or of the one that it left last.
     * Source: libunwind 1.6 to 1.8, libunwind-x86_64.h and libunwind-aarch64.h; measured with 1.6.2. */
    const char *unwind_name;
    int unwind_pc, unwind_sp;
    bool is_unwind_signal_here;
    /* Registers that its cursor follows, and those that hand things to a landing pad; and an instruction of frame descriptions that it refuses, though it moves
     * no frame: the return address is signed from here on, or no more; 0: none.
     * Source: libunwind 1.6.2, include/dwarf.h and libunwind_i.h; DWARF for the Arm 64-bit Architecture (AADWARF64). */
    int unwind_cursor_registers, unwind_landing_registers;
    uint8_t unwind_refused_instruction;
    /* Its step knows signal frames by their code, in a part of it that jaywalk does not have; where it does not, they are described. From the stack pointer of that code to what the
     * kernel saved, the third argument of the handler. Source: Linux, arch/x86/kernel/signal.c and arch/arm64/kernel/signal.c. */
    bool is_unwind_signal_by_code;
    uint32_t signal_context_offset;
    /* Below the handler a step of it needs so much stack at most, with the kernel's frame of a load that faults. */
    uint32_t unwind_stack_bytes;
    size_t syscall_bytes; /* of the instruction that makes a system call, and makes it again */
};

extern const struct arch_facts arch_facts;

/* Registers -------------------------------------------------------------------------------------- */

struct arch_regs {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;   /* rbp, x29: compiled Java code may keep anything in it */
    uintptr_t link; /* x30 with its signature stripped; 0 on x86-64 */
};

/* Registers of the thread that a signal interrupted. `ucontext`: third argument of its handler. */
JW_SIGNAL_SAFE void arch_regs_read(const void *ucontext, struct arch_regs *out);

/* Registers of the calling function, as they are behind this call: for a walk of a thread by itself, in a hook. */
JW_SIGNAL_SAFE void arch_regs_here(struct arch_regs *out);

/*
 * The bytecode pointer of the interpreter, which lives in a register (r13, x22) while the topmost
 * frame is interpreted: the slot in that frame is stale then. Means nothing elsewhere.
 * Source: OpenJDK, hotspot/cpu/x86/register_x86.hpp and macroAssembler (r13), aarch64 (rbcp, x22);
 * the same in JDK 8 to 28.
 */
JW_SIGNAL_SAFE uintptr_t arch_interpreter_bcp(const void *ucontext);

/*
 * The first argument of a call between compiled methods: of an instance method, the object that it is called
 * on. Means something only before the called method's own code runs. Source: OpenJDK, assembler_x86.hpp
 * (j_rarg0, rsi), assembler_aarch64.hpp (j_rarg0, x1); the same in JDK 8 to 28.
 */
JW_SIGNAL_SAFE uintptr_t arch_java_receiver(const void *ucontext);

/* Loads before this are done before those behind it, also where others write: for a look at memory of the JVM that counts
 * only if something else was the same before and after it. */
JW_SIGNAL_SAFE void arch_order_loads(void);

/* The register of a function's first argument (rdi, x0). */
JW_SIGNAL_SAFE uintptr_t arch_first_argument(const void *ucontext);

/*
 * The register (rdx, x3) that holds the return address while an exception is on its way to its handler.
 * Source: OpenJDK, OptoRuntime::generate_exception_blob and StubRoutines::forward_exception, JDK 8 to 25.
 */
JW_SIGNAL_SAFE uintptr_t arch_exception_pc(const void *ucontext);

/*
 * What a call from Java to Java leaves in registers until the called method has a frame: its caller's stack pointer (r13), and while
 * room for locals is made the return address (rax); 0 on aarch64, where the two functions below tell.
 * Source: OpenJDK, gen_i2c_adapter and gen_c2i_adapter in sharedRuntime_x86_64.cpp, generate_normal_entry in
 * templateInterpreterGenerator_x86.cpp and generate_call_stub, JDK 8 to 28.
 */
struct arch_sender {
    uintptr_t sp;
    uintptr_t pc;
};

JW_SIGNAL_SAFE void arch_sender_read(const void *ucontext, struct arch_sender *out);

/*
 * Whether the interpreter's code at `pc`, in its next few instructions, takes its bytecode pointer from the slot `bcp_bytes` from the
 * frame pointer: a call has returned, or was left by an exception. Until then its register, which is that of the sender, holds what the
 * callee left there, most often the sender of that call. (aarch64: false; nothing is looked for there by that register.)
 * Source: OpenJDK, generate_return_entry_for, generate_deopt_entry_for and generate_throw_exception in
 * templateInterpreterGenerator_x86.cpp, JDK 8 to 28.
 */
JW_SIGNAL_SAFE bool arch_is_reentered(uintptr_t pc, intptr_t bcp_bytes);

/* What that register holds. */
enum arch_sender_kind {
    ARCH_SENDER_NONE,
    ARCH_SENDER_SP,    /* the caller's stack pointer */
    ARCH_SENDER_ENTRY, /* the place of the return address, a word below */
};

/* At `pc`, in an adapter between interpreted and compiled code that begins at `begin`: a stack pointer on the way to compiled code all the
 * time, on the other way from where it was put there; before that the place of the return address, while the caller is told to call
 * the interpreter no more (aarch64: never). */
JW_SIGNAL_SAFE enum arch_sender_kind arch_sender_in(uintptr_t begin, uintptr_t pc);

/*
 * From the interpreter's code where the method that it has been called for has no frame yet, or no longer: `regs` become those of the
 * caller, with the stack pointer that it gets back, or that of now where that is lower. False, and `regs` unchanged, elsewhere, which
 * the instructions at pc tell (x86-64: at a return alone; arch_sender_read tells at an entry).
 * Source: OpenJDK, generate_normal_entry, generate_native_entry and generate_fixed_frame in
 * templateInterpreterGenerator_aarch64.cpp, InterpreterMacroAssembler::remove_activation, JDK 8 to 28.
 */
JW_SIGNAL_SAFE bool arch_step_interpreted_edge(const void *ucontext, struct arch_regs *regs);

/*
 * From an adapter between interpreted and compiled code that begins at `begin`, the same way; `is_leaf`: code that it calls was
 * interrupted, with `regs` behind that call. On x86-64 of such calls alone, as arch_sender_in tells elsewhere.
 * Source: OpenJDK, gen_i2c_adapter, gen_c2i_adapter and patch_callers_callsite in sharedRuntime_aarch64.cpp and sharedRuntime_x86_64.cpp,
 * MacroAssembler::push_CPU_state, JDK 8 to 28.
 */
JW_SIGNAL_SAFE bool arch_step_adapter(const void *ucontext, struct arch_regs *regs, uintptr_t begin,
                                      bool is_leaf);

/* A general register of the interrupted thread, by its number in DWARF (and .eh_frame). False: no such number. */
JW_SIGNAL_SAFE bool arch_dwarf_register(const void *ucontext, unsigned number, uintptr_t *out);

/* `address` without the signature that pointer authentication may have put into it. */
JW_SIGNAL_SAFE uintptr_t arch_code_address(uintptr_t address);

/*
 * A copy of a ucontext, to be mended and handed to AsyncGetCallTrace as its last argument. It ends
 * before the floating point state, and the pointer to that state is NULL in it: AsyncGetCallTrace
 * reads pc, sp and fp only. It can not be returned to (setcontext) nor passed to a signal handler.
 * Source: OpenJDK, os::fetch_frame_from_context for Linux, JDK 8 to 28.
 */
#define ARCH_CONTEXT_BYTES ((size_t)512)

struct arch_context {
    _Alignas(16) unsigned char bytes[ARCH_CONTEXT_BYTES];
};

JW_SIGNAL_SAFE void arch_context_copy(struct arch_context *to, const void *ucontext);

/* One in which no register holds anything but these: of code that was not interrupted. What lies behind the registers is left as it is. */
JW_SIGNAL_SAFE void arch_context_of_regs(struct arch_context *to, const struct arch_regs *regs);

/* Puts pc, sp, fp and, where there is one, the link register into the copy. */
JW_SIGNAL_SAFE void arch_regs_write(struct arch_context *copy, const struct arch_regs *regs);

/* Loads that may fault --------------------------------------------------------------------------- */

/*
 * Each is false when the memory cannot be read (counted as LOAD_FAULTS); `out` is then unchanged.
 * Any address will do, aligned or not, canonical or not. An aligned load is one access, so it never
 * sees half of a store; copies may. About a nanosecond each.
 */
JW_SIGNAL_SAFE static inline bool safe_load_word(uintptr_t addr, uintptr_t *out);
JW_SIGNAL_SAFE static inline bool safe_load_u8(uintptr_t addr, uint8_t *out);
JW_SIGNAL_SAFE static inline bool safe_load_u16(uintptr_t addr, uint16_t *out);
JW_SIGNAL_SAFE static inline bool safe_load_u32(uintptr_t addr, uint32_t *out);
JW_SIGNAL_SAFE static inline bool safe_load_u64(uintptr_t addr, uint64_t *out);

/* Of an aligned word of the JVM's; loads behind it see what the JVM stored before it. Not aligned it counts as one that cannot be read. */
JW_SIGNAL_SAFE static inline bool safe_load_u64_acquire(uintptr_t addr, uint64_t *out);

/* At most so many bytes are copied by one call: the bound of the loop. */
#define SAFE_LOAD_MAX_BYTES ((size_t)65536)

/* Copies `length_bytes`; false, with `to` partly written, when not all of it can be read or it is
 * more than SAFE_LOAD_MAX_BYTES. */
JW_SIGNAL_SAFE bool safe_load_bytes(void *to, uintptr_t addr, size_t length_bytes);

/* A word of memory and what it is expected to hold. */
struct arch_word {
    uintptr_t addr, value;
};

/* How many of these words hold what is expected, before the first that does not; 0 as soon as one of
 * those looked at cannot be read. One access a word, about half a nanosecond. */
JW_SIGNAL_SAFE size_t safe_match_words(const struct arch_word *words, size_t count);

/*
 * Copies the 0-terminated string at `addr`, at most `room_bytes - 1` bytes of it, and ends it with
 * a 0. Its length, or SAFE_LOAD_NO_STRING when it cannot be read or `room_bytes` is 0. A length of
 * room_bytes - 1 may mean that it was cut.
 */
#define SAFE_LOAD_NO_STRING SIZE_MAX
JW_SIGNAL_SAFE size_t safe_load_string(char *to, size_t room_bytes, uintptr_t addr);

/*
 * For the handler of SIGSEGV and SIGBUS: true when `ucontext` shows a fault at one of the loads
 * above; the context then resumes where that load says false. Touches nothing otherwise.
 */
JW_SIGNAL_SAFE bool arch_fault_recover(void *ucontext);

/* Calls that may fault --------------------------------------------------------------------------- */

/* One guarded call, on the caller's stack. `sp` is 0 while it cannot be landed. */
struct arch_guard {
    uintptr_t sp;
};

typedef void arch_guarded_function(void *first, intptr_t second, void *third);

/*
 * function(first, second, third), with all that is needed to come back from the middle of it saved
 * in `guard`. True when it returned, false when arch_guard_land ended it. What it had locked stays
 * locked: only for functions that take no lock (AsyncGetCallTrace).
 */
JW_SIGNAL_SAFE bool arch_guarded_call(struct arch_guard *guard, arch_guarded_function *function,
                                      void *first, intptr_t second, void *third);

/*
 * For the handler of SIGSEGV and SIGBUS: makes the context of a fault inside the call resume at the
 * end of it, as false. False, and nothing done, unless the fault's stack pointer lies on the stack of
 * the call, not more than ARCH_GUARD_STACK_BYTES deeper.
 */
#define ARCH_GUARD_STACK_BYTES ((size_t)1 << 20)
JW_SIGNAL_SAFE bool arch_guard_land(void *ucontext, const struct arch_guard *guard);

/*
 * True when the instruction at `pc` is the load of HotSpot's SafeFetch32 or SafeFetchN, whose
 * faults are the JVM's to handle. `pc` faulted or runs: the code there can be read.
 * Source: OpenJDK, safefetch_linux_{x86_64,aarch64}.S, JDK 17.0.x and 20 on; before, it is generated
 * into the code cache, outside libjvm.
 */
JW_SIGNAL_SAFE bool arch_is_safe_fetch(uintptr_t pc);

/* Steps ------------------------------------------------------------------------------------------ */

/*
 * Each replaces `regs` by the caller's: pc its return address, sp as it is after the return, fp as
 * the caller had it. False, with `regs` unchanged, when memory cannot be read or the step does not
 * apply. Reads stack and code by safe loads alone, so a wrong guess costs a wrong answer, never a
 * fault: whoever uses it proves the new pc (in code of the JVM?) before believing it.
 */

/* Before a function built its frame: the return address is at [sp], or in the link register. */
JW_SIGNAL_SAFE bool arch_step_from_entry(struct arch_regs *regs);

/*
 * In the code behind a signal's handler, which returns from the signal (__restore_rt of the C library, __kernel_rt_sigreturn of
 * the kernel): `regs` become those that the signal interrupted, so that pc is no return address. False as well where
 * regs->pc is at no such code, which its instructions tell.
 */
JW_SIGNAL_SAFE bool arch_step_signal_frame(struct arch_regs *regs);

/* While {fp, return address} is where fp points to. */
JW_SIGNAL_SAFE bool arch_step_from_frame(struct arch_regs *regs);

/* No frame is set up in the bytes looked at. */
#define ARCH_NO_FRAME SIZE_MAX

/* So many bytes from a stub's start are searched. */
#define ARCH_STUB_SCAN_BYTES ((size_t)64)

/*
 * Offset behind the instructions that set up the frame of a generated stub, or ARCH_NO_FRAME. Done
 * once, when the JVM reports the stub; the set-up is not always at its entry.
 */
JW_SIGNAL_SAFE size_t arch_stub_frame_setup_offset(uintptr_t stub_begin, size_t size_bytes);

/* From any pc in a stub, by the offset found for it: before, in or behind its frame. */
JW_SIGNAL_SAFE bool arch_step_stub(struct arch_regs *regs, uintptr_t stub_begin,
                                   size_t setup_offset, uintptr_t stub_end);

/*
 * From prologue or epilogue of a compiled method. `code_begin` is where the method's code starts,
 * `frame_complete_offset` counts from there, `frame_size_words` is the whole frame with return
 * address. False where the frame is complete, which is no edge: walk it as a frame.
 */
JW_SIGNAL_SAFE bool arch_step_compiled_edge(struct arch_regs *regs, uintptr_t code_begin,
                                            uintptr_t code_end, size_t frame_complete_offset,
                                            size_t frame_size_words);

/*
 * From a stub that an exception passes on its way to a handler, where the return address is kept apart: in the register of
 * arch_exception_pc (aarch64: or in another, or pushed by itself). False where the code does not show that pc is at such a place.
 */
JW_SIGNAL_SAFE bool arch_step_exception(const void *ucontext, struct arch_regs *regs,
                                        uintptr_t stub_begin, uintptr_t stub_end);

/*
 * From the stub to which the JVM sends a thread that a poll at `poll_pc` has stopped, and which makes room for that return address
 * before it knows it. False where the stub is another, or near its end.
 * Source: OpenJDK, SharedRuntime::generate_handler_blob in sharedRuntime_x86_64.cpp and sharedRuntime_aarch64.cpp, JDK 8 to 28.
 */
JW_SIGNAL_SAFE bool arch_step_poll(struct arch_regs *regs, uintptr_t poll_pc, uintptr_t stub_begin,
                                   uintptr_t stub_end);

/*
 * In a stub that takes a frame of compiled code apart, when that frame is gone and frames of the interpreter are laid out in its place:
 * sp is that of the caller of the one that comes next, fp that of the frame under way, of the one before it, or of the caller of all of them (room
 * walk tells which). False, with `regs` unchanged, at all other instructions of the stub, and of another (aarch64: always).
 * Source: OpenJDK, SharedRuntime::generate_deopt_blob and OptoRuntime::generate_uncommon_trap_blob for x86-64, JDK 17 and 25.
 */
JW_SIGNAL_SAFE bool arch_step_laying(const void *ucontext, struct arch_regs *regs,
                                     uintptr_t stub_begin, uintptr_t stub_end);

/*
 * From any pc in a stub of the JVM's runtime that begins like a compiled method of this frame size: before, in or behind
 * its frame. False where it does not begin so.
 */
JW_SIGNAL_SAFE bool arch_step_sized_stub(struct arch_regs *regs, uintptr_t stub_begin,
                                         uintptr_t stub_end, size_t frame_size_words);

/*
 * Bytes by which the stack pointer lies below the frame of the compiled method at `pc`, because the code there, off its
 * main path, has saved registers around a call: barriers of the garbage collectors do. Read from the instructions that
 * follow, up to where it adds them again. 0: these instructions show no such thing.
 * Source: OpenJDK, SaveLiveRegisters in barrierSetAssembler_x86.cpp and _aarch64.cpp (25), ZSaveLiveRegisters (17).
 */
JW_SIGNAL_SAFE size_t arch_saved_bytes(uintptr_t pc, uintptr_t code_end);

/*
 * Bytes by which the stack pointer lies below where it was before all registers were pushed, `fp` and itself among them, and less
 * than that much more below: known by the word that says where it was, beside that with fp. 0: no such words (aarch64: never).
 * Source: OpenJDK 8, MacroAssembler::pusha and fp_runtime_fallback for x86-64.
 */
JW_SIGNAL_SAFE size_t arch_pushed_all_bytes(uintptr_t sp, uintptr_t fp);

/* Where code leads that is left: to its caller, or by a jump elsewhere. */
struct arch_way {
    struct arch_regs regs; /* as they are there; link: 0 */
    bool is_return;
    bool is_sure;       /* no branch and no call was on the way: so it will be */
    bool is_frame_left; /* on the way the frame pointer was restored: what was there had a frame */
};

/*
 * Follows code in [begin, end) from regs->pc on, instruction by instruction, until it is left, with what that does to the stack and to
 * registers: for stubs that have no frame to go by. Calls on the way are taken to return, and of a branch both ways to leave
 * the stack alike. `ucontext`: of the thread interrupted there; NULL: only `regs` are known. False where it leads nowhere that can be told: beyond some
 * hundred instructions, through a register that is not known, at an instruction that is none (aarch64: always; there the steps above leave
 * nothing to be asked). Some microseconds.
 */
JW_SIGNAL_SAFE bool arch_follow(const void *ucontext, const struct arch_regs *regs, uintptr_t begin,
                                uintptr_t end, struct arch_way *out);

/* True when the instruction before `return_pc` calls `target`. */
JW_SIGNAL_SAFE bool arch_is_call_of(uintptr_t return_pc, uintptr_t target);

/* What the instruction before `return_pc` calls, where that is a call of a fixed place; 0: it is none, or not told. On aarch64 by way
 * of the words behind a method through which it calls what is far, too. */
JW_SIGNAL_SAFE uintptr_t arch_call_target(uintptr_t return_pc);

/* True when the instruction before `return_pc` may be a call: its last bytes are spelt so. */
JW_SIGNAL_SAFE bool arch_is_behind_call(uintptr_t return_pc);

/* True when code between `begin` and `pc` has stored its first argument, so far from its frame pointer. */
JW_SIGNAL_SAFE bool arch_is_argument_stored(uintptr_t begin, uintptr_t pc,
                                            intptr_t fp_offset_bytes);

/* Where compiled Java code goes on ------------------------------------------------------------------------------ */

enum arch_leads {
    ARCH_LEADS_ON,     /* to the instruction behind it */
    ARCH_LEADS_JUMP,   /* to its target alone */
    ARCH_LEADS_BRANCH, /* to either */
    ARCH_LEADS_CALL,   /* elsewhere, and then on; its target may not be told */
    ARCH_LEADS_OUT, /* likewise, through a register: so compiled Java code calls C (aarch64: not told from a call) */
    ARCH_LEADS_BACK, /* to the caller */
    ARCH_LEADS_AWAY, /* nobody can tell where, or nowhere */
};

/*
 * How instructions look by which compiled code asks whether it is to stop (a poll). Other code may look like a TEST or a
 * LOAD; what the compiler described there decides.
 * Source: OpenJDK, relocInfo_x86.cpp, x86_64.ad and aarch64.ad (safePoint), C1's safepoint_poll, MacroAssembler::
 * safepoint_poll and its uses at returns, JDK 8 to 28.
 */
enum arch_poll {
    ARCH_POLL_NONE,
    ARCH_POLL_LOAD, /* of a word of the thread: before a poll it is the page's address, or the word to be compared */
    ARCH_POLL_TEST, /* of the polling page: at the end of a loop, and up to JDK 15 before a return */
    ARCH_POLL_RETURN, /* the stack pointer against the thread's word, before a return: from JDK 16 on */
};

struct arch_instruction {
    enum arch_leads kind;
    enum arch_poll poll;
    uint8_t length_bytes;
    bool has_target;
    uintptr_t target_pc;
};

/* The longest instruction. */
#define ARCH_INSTRUCTION_BYTES_MAX ((size_t)16)

/* The instruction that begins at `bytes`, which lies at `pc`. False: cut, or none that is known. */
JW_SIGNAL_SAFE bool arch_instruction_read(const uint8_t *bytes, size_t room_bytes, uintptr_t pc,
                                          struct arch_instruction *out);

/* How the interpreter asks whether its thread is to stop: a bit of a word of the thread is tested. Other words are tested so, too. */
struct arch_poll_word {
    uint32_t offset; /* of the word in the thread */
    uint8_t mask;    /* of the bit that says so */
};

/*
 * The poll that begins at `bytes`. False: cut, or none.
 * Source: OpenJDK, InterpreterMacroAssembler::dispatch_base, JDK 10 to 28, x86 and aarch64.
 */
bool arch_poll_word_read(const uint8_t *bytes, size_t room_bytes, struct arch_poll_word *out);

/* System calls ----------------------------------------------------------------------------------- */

enum arch_syscall_state {
    ARCH_SYSCALL_NONE, /* pc is somewhere else */
    /* pc is right behind a system call that ended with EINTR: a signal interrupted it, and it is not
     * one that the kernel issues again by itself. Which signal, the registers do not tell. */
    ARCH_SYSCALL_CUT,
    /* pc is on a system call instruction: the kernel put the thread back there, to issue a call again
     * that this signal interrupted (SA_RESTART), or the thread was about to issue it. */
    ARCH_SYSCALL_AGAIN,
};

/*
 * Where the interrupted thread is. Costs a comparison and two bytes (aarch64: two words) of code.
 * Source: Linux, arch/x86/kernel/signal.c and arch/arm64/kernel/signal.c.
 */
JW_SIGNAL_SAFE enum arch_syscall_state arch_syscall_state(const void *ucontext);

/* How a call that a signal interrupted can go on. */
enum arch_syscall_kind {
    ARCH_SYSCALL_OTHER,   /* in no way that we know */
    ARCH_SYSCALL_RESUMED, /* the kernel remembers what is left of it: restart_syscall */
    ARCH_SYSCALL_ISSUED,  /* the same call once more; a relative time-out begins anew */
    ARCH_SYSCALL_UNKNOWN, /* its number is not known */
};

#define ARCH_SYSCALL_ARGUMENTS 6

struct arch_syscall {
    enum arch_syscall_kind kind;
    long number; /* -1: not known */
    uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS];
};

/*
 * The call behind whose instruction the thread is; only where arch_syscall_state says CUT. x86-64
 * keeps the arguments and loses the number, which is read from the instructions before the call;
 * aarch64 keeps the number and loses the first argument, which is read from the register that those
 * instructions copied it from. A call whose lost part cannot be read so is UNKNOWN, or OTHER.
 */
JW_SIGNAL_SAFE void arch_syscall_read(const void *ucontext, struct arch_syscall *out);

/* Issues a system call. The kernel's result: below 0, the negated errno. */
JW_SIGNAL_SAFE intptr_t arch_syscall_issue(long number, const uintptr_t *arguments);

/* Where the state is CUT: the thread finds `result` as the kernel's. Changes that register alone. */
JW_SIGNAL_SAFE void arch_syscall_end(void *ucontext, intptr_t result);

/*
 * Where the state is AGAIN: makes the call end with EINTR instead. False, and nothing done, for a
 * call that SA_RESTART does not restart or that never ends so. Changes pc and the result's register.
 */
JW_SIGNAL_SAFE bool arch_syscall_cut(void *ucontext);

/* Below: what the inline loads are made of. ------------------------------------------------------ */

/* Comes back in two registers, so the assembly stores nothing: only foreign memory can fault. */
struct arch_loaded {
    uint64_t value;
    uint64_t is_read; /* 0 or 1 */
};

JW_SIGNAL_SAFE struct arch_loaded arch_load_u8(uintptr_t addr);
JW_SIGNAL_SAFE struct arch_loaded arch_load_u16(uintptr_t addr);
JW_SIGNAL_SAFE struct arch_loaded arch_load_u32(uintptr_t addr);
JW_SIGNAL_SAFE struct arch_loaded arch_load_u64(uintptr_t addr);
JW_SIGNAL_SAFE struct arch_loaded arch_load_u64_acquire(uintptr_t addr);

#define ARCH_DEFINE_SAFE_LOAD(name, type, load)                                                    \
    static inline bool name(uintptr_t addr, type *out)                                             \
    {                                                                                              \
        const struct arch_loaded loaded = load(addr);                                              \
                                                                                                   \
        if (__builtin_expect(!loaded.is_read, 0))                                                  \
            return false;                                                                          \
        *out = (type)loaded.value;                                                                 \
        return true;                                                                               \
    }

ARCH_DEFINE_SAFE_LOAD(safe_load_u8, uint8_t, arch_load_u8)
ARCH_DEFINE_SAFE_LOAD(safe_load_u16, uint16_t, arch_load_u16)
ARCH_DEFINE_SAFE_LOAD(safe_load_u32, uint32_t, arch_load_u32)
ARCH_DEFINE_SAFE_LOAD(safe_load_u64, uint64_t, arch_load_u64)
ARCH_DEFINE_SAFE_LOAD(safe_load_u64_acquire, uint64_t, arch_load_u64_acquire)
ARCH_DEFINE_SAFE_LOAD(safe_load_word, uintptr_t, arch_load_u64)

#undef ARCH_DEFINE_SAFE_LOAD

#endif
