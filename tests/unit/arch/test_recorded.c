/*
 * The steps out of code that real JVMs have generated (tests/recorded): at each instruction of each stub, blob, adapter and method the step
 * that a walker takes there either leads to the true caller or says that it does not know. What is true is told by following the
 * code from its entry on (flow.h), with a stack laid out as that says.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/types.h>
#include <ucontext.h>

#include "unit/arch/fault_handler.h"
#if defined(__x86_64__)
#include "unit/arch/flow_x86_64.h"
#else
#include "unit/arch/flow_aarch64.h"
#endif

struct recorded {
    const char *name, *place;
    int frame_words, complete; /* -1: not told */
    uintptr_t address;         /* where it lay */
    const char *code;          /* in hexadecimal */
};

#define RECORDED(name, place, frame_words, complete, address, code)                                \
    {name, place, frame_words, complete, address, code},

static const struct recorded recorded[] = {
#if defined(__x86_64__)
#include "unit/arch/recorded_x86_64_17.def"
#include "unit/arch/recorded_x86_64_25.def"
#else
#include "unit/arch/recorded_aarch64_17.def"
#endif
};

#undef RECORDED

#define STACK_WORDS 4096
#define ENTRY_WORD  3072
#define TRUE_PC     ((uintptr_t)0x7a11c0de4)
#define POLL_PC     ((uintptr_t)0x7a11c0f48)
#define WORD        ((int32_t)sizeof(uintptr_t))

static uint8_t code[FLOW_BYTES_MAX] __attribute__((aligned(64)));
static struct flow states[FLOW_BYTES_MAX];
static size_t code_bytes;
static uintptr_t stack[STACK_WORDS] __attribute__((aligned(16)));

enum outcome { RIGHT, REFUSED, WRONG, UNTOLD, OUTCOMES };

/*
 * Where a step alone may be wrong, for so many instructions: room walk holds it against what the compilers described, and tries what else
 * there may be. Registers pushed around a call by a wrapper or a stub without a frame; a return address that is put somewhere else.
 */
static const struct {
    const char *name;
    unsigned most;
} tried[] = {
#if defined(__x86_64__)
    {"method currentThread", 10},
    {"method identityHashCode", 12},
    {"I2C/C2I", 7},
    {"ExceptionBlob", 9},
    {"method_entry_barrier", 86},
    {"cont_thaw", 7},
    {"generic_arraycopy", 3},
    {"wrong_method", 3},
    {"ic_miss", 3},
    {"resolve_virtual_call", 3},
    {"UncommonTrapBlob", 2},
    {"SafepointBlob", 1},
    {"unwind_exception", 1},
#else
    {"", 0},
#endif
};

#if defined(__x86_64__)
#define RIGHT_MIN   8700
#define REFUSED_MAX 4
#else
#define RIGHT_MIN   7800
#define REFUSED_MAX 6
#endif

TestSuite(recorded, .init = install_fault_handler, .timeout = 1800);

static void decode(const struct recorded *what)
{
    code_bytes = strlen(what->code) / 2;
    cr_assert(code_bytes <= sizeof code, "%s", what->name);
    for (size_t i = 0; i < code_bytes; i++) {
        unsigned byte;

        cr_assert(sscanf(what->code + 2 * i, "%2x", &byte) == 1);
        code[i] = (uint8_t)byte;
    }
}

static bool is_place(const struct recorded *what, const char *place)
{
    return strcmp(what->place, place) == 0;
}

/* The stub of a poll in the middle of a method, which is entered without a return address. */
static bool is_loop_poll(const struct recorded *what)
{
    return strcmp(what->name, "SafepointBlob") == 0 && flow_is_poll(code, code_bytes);
}

static uintptr_t address_of(int32_t slot)
{
    return (uintptr_t)&stack[ENTRY_WORD] - (uintptr_t)(intptr_t)slot;
}

static unsigned most_wrong(const struct recorded *what)
{
    for (size_t i = 0; i < JW_COUNT_OF(tried); i++)
        if (tried[i].most != 0 && strstr(what->name, tried[i].name) != NULL)
            return tried[i].most;
    return 0;
}

/* Stack, registers and context as the state at this instruction says; all else is nonsense. */
static bool lay_out(const struct flow *at, size_t offset, const struct arch_regs *truth,
                    ucontext_t *context, struct arch_regs *regs)
{
    uintptr_t value;

    if (!at->has_sp || at->below < -WORD || at->below > (ENTRY_WORD - 64) * WORD)
        return false;
    for (size_t i = 0; i < STACK_WORDS; i++)
        stack[i] = 0x5a5a0001 + i * 2;
    if (at->return_slot != FLOW_NOWHERE)
        memcpy((void *)address_of(at->return_slot), &truth->pc, sizeof truth->pc);
    if (at->fp_slot != FLOW_NOWHERE)
        memcpy((void *)address_of(at->fp_slot), &truth->fp, sizeof truth->fp);
    memset(context, 0, sizeof *context);
    for (unsigned n = 0; n < FLOW_REGISTERS; n++) {
        value = flow_nonsense(n, (uintptr_t)code);
        if ((at->returns >> n & 1) != 0)
            value = truth->pc;
        else if ((at->senders >> n & 1) != 0)
            value = truth->sp;
        else if ((at->entries >> n & 1) != 0)
            value = address_of(0);
        flow_set(context, n, value);
    }
    value = at->fp == FLOW_FP_CALLER  ? truth->fp
            : at->fp == FLOW_FP_FRAME ? address_of(at->fp_below)
                                      : 0x1d1d0003;
    flow_set(context, FLOW_FP, value);
    flow_set(context, FLOW_SP, address_of(at->below));
    flow_set(context, FLOW_PC, (uintptr_t)code + offset);
    arch_regs_read(context, regs);
    return true;
}

/* As room walk does it: a jump that is sure is taken, and what is there then is looked at anew, which here is at the caller. */
static bool follow(const struct recorded *what, const ucontext_t *context, struct arch_regs *regs)
{
    const uintptr_t begin = (uintptr_t)code, end = begin + code_bytes;
    struct arch_way way;

    if ((is_place(what, "generated stub") &&
         arch_stub_frame_setup_offset(begin, code_bytes) != ARCH_NO_FRAME) ||
        !arch_follow(context, regs, begin, end, &way) || way.regs.pc != TRUE_PC)
        return false;
    *regs = way.regs;
    return true;
}

/* The step that room walk takes from the top of a stack, by the kind of the place. */
static bool step(const struct recorded *what, const ucontext_t *context, struct arch_regs *regs)
{
    const uintptr_t begin = (uintptr_t)code, end = begin + code_bytes;
    const size_t words = what->frame_words > 0 ? (size_t)what->frame_words : 0;
    const size_t setup = arch_stub_frame_setup_offset(begin, code_bytes);

    if (is_place(what, "vtable or itable stub"))
        return arch_step_from_entry(regs);
    if (is_place(what, "adapter"))
        return flow_step_adapter(context, regs, begin);
    if (is_place(what, "runtime stub") || is_place(what, "generated stub"))
        return arch_step_exception(context, regs, begin, end) ||
               (is_loop_poll(what) && arch_step_poll(regs, POLL_PC, begin, end)) ||
               follow(what, context, regs) ||
               (is_place(what, "runtime stub") && words > 0 &&
                arch_step_sized_stub(regs, begin, end, words)) ||
               arch_step_stub(regs, begin, setup, end);
    return arch_step_compiled_edge(regs, begin, end, (size_t)what->complete, words);
}

/* A method whose frame is said to be there: its caller by the frame's size, and what has been saved below. */
static bool step_by_size(const struct recorded *what, struct arch_regs *regs)
{
    const uintptr_t end = (uintptr_t)code + code_bytes;
    const uintptr_t sp = regs->sp + arch_saved_bytes(regs->pc, end) +
                         (uintptr_t)what->frame_words * sizeof(uintptr_t);

    regs->sp = sp;
    return safe_load_word(sp - sizeof sp, &regs->pc) &&
           safe_load_word(sp - 2 * sizeof sp, &regs->fp);
}

static enum outcome look(const struct recorded *what, size_t offset)
{
    const struct flow *at = &states[offset];
    const struct arch_regs truth = {
        .pc = is_loop_poll(what) ? POLL_PC : TRUE_PC,
        .sp = (uintptr_t)&stack[ENTRY_WORD] + FLOW_CALLER_SP,
        .fp = (uintptr_t)&stack[ENTRY_WORD + 64],
    };
    const bool is_method =
        is_place(what, "compiled method") || is_place(what, "native method wrapper");
    const bool is_fp_told = at->fp == FLOW_FP_CALLER || at->fp_slot != FLOW_NOWHERE;
    struct arch_regs regs, before;
    ucontext_t context;

    if (!lay_out(at, offset, &truth, &context, &regs) ||
        (at->returns == 0 && at->return_slot == FLOW_NOWHERE && !is_loop_poll(what)))
        return UNTOLD;
    before = regs;
    if (!step(what, &context, &regs) && !(is_method && step_by_size(what, &regs))) {
        cr_expect(memcmp(&before, &regs, sizeof regs) == 0, "%s+%#zx: refused, and changed",
                  what->name, offset);
        return REFUSED;
    }
    if (regs.pc == truth.pc && regs.sp == truth.sp && (!is_fp_told || regs.fp == truth.fp))
        return RIGHT;
    if (most_wrong(what) == 0)
        cr_expect(false, "%s+%#zx: pc %#zx, sp %+zd, fp %#zx", what->name, offset, (size_t)regs.pc,
                  (ssize_t)(regs.sp - truth.sp), (size_t)regs.fp);
    return WRONG;
}

static void tell_all(const struct recorded *what)
{
    decode(what);
    memset(states, 0, sizeof states);
    flow_is_poll_stub = is_loop_poll(what);
    flow_is_jumped_to = strcmp(what->name, "ExceptionBlob") == 0;
    flow_is_handler = flow_is_jumped_to || strstr(what->name, "handle_exception") != NULL;
    flow_has_sender = is_place(what, "adapter");
    flow_run(states, code, code_bytes, is_place(what, "adapter"));
}

Test(recorded, each_instruction_leads_to_the_true_caller)
{
    unsigned all[OUTCOMES] = {0};

    for (size_t i = 0; i < JW_COUNT_OF(recorded); i++) {
        unsigned count[OUTCOMES] = {0};

        tell_all(&recorded[i]);
        for (size_t offset = 0; offset < code_bytes; offset++)
            if (states[offset].is_reached)
                count[look(&recorded[i], offset)]++;
        cr_expect(count[WRONG] <= most_wrong(&recorded[i]), "%s: %u wrong steps", recorded[i].name,
                  count[WRONG]);
        cr_expect(count[RIGHT] > 0, "%s: no step", recorded[i].name);
        for (int n = 0; n < OUTCOMES; n++)
            all[n] += count[n];
    }
    printf("%u right, %u refused, %u wrong, %u not told\n", all[RIGHT], all[REFUSED], all[WRONG],
           all[UNTOLD]);
    cr_expect(all[RIGHT] >= RIGHT_MIN, "only %u steps", all[RIGHT]);
    cr_expect(all[REFUSED] <= REFUSED_MAX, "%u refused", all[REFUSED]);
}

/* The shapes that matter are among them, however a JDK calls them. */
Test(recorded, there_is_one_of_each_shape)
{
    static const char *const names[] = {
        "SafepointBlob",
        "DeoptimizationBlob",
        "UncommonTrapBlob",
        "ExceptionBlob",
        "forward",
        "new_instance",
        "unwind_exception",
        "handle_exception",
        "slow_subtype_check",
        "rethrow",
        "I2C/C2I",
        "vtable stub",
        "itable stub",
        "ic_miss",
        "resolve",
        "wrong_method",
        "throw_exception",
        "arraycopy",
        "aescrypt",
        "fill",
        "jni_fast",
        "method identityHashCode",
        "method caller",
        "multianewarray",
    };

    for (size_t n = 0; n < JW_COUNT_OF(names); n++) {
        bool is_there = false;

        for (size_t i = 0; i < JW_COUNT_OF(recorded); i++)
            is_there |= strstr(recorded[i].name, names[n]) != NULL;
        cr_expect(is_there, "%s", names[n]);
    }
}

#if defined(__x86_64__)
/* Where an adapter has called the JVM: behind a call stand vzeroupper and fxrstor64 (%rsp). Of each adapter one such place. */
Test(recorded, what_an_adapter_calls_leads_to_the_caller_of_the_adapter)
{
    static const uint8_t behind[] = {0xc5, 0xf8, 0x77, 0x48, 0x0f, 0xae,
                                     0x0c, 0x24, 0x48, 0x81, 0xc4};
    unsigned adapters = 0, calls = 0;
    ucontext_t context;

    memset(&context, 0, sizeof context);
    for (size_t i = 0; i < JW_COUNT_OF(recorded); i++) {
        if (!is_place(&recorded[i], "adapter"))
            continue;
        decode(&recorded[i]);
        adapters++;
        for (size_t at = 5; at + sizeof behind + 4 <= code_bytes; at++) {
            int32_t vectors_bytes;

            if (code[at - 5] != 0xe8 || memcmp(code + at, behind, sizeof behind) != 0)
                continue;
            memcpy(&vectors_bytes, code + at + sizeof behind, sizeof vectors_bytes);
            for (size_t n = 0; n < STACK_WORDS; n++)
                stack[n] = 0x5a5a0001 + n * 2;
            /* As it stands in sharedRuntime_x86_64.cpp: aligned, the flags, a word of nothing, 16 registers, vectors. */
            uintptr_t *registers = &stack[ENTRY_WORD] - 18;
            const struct arch_regs before = {.pc = (uintptr_t)code + at,
                                             .sp = (uintptr_t)registers - (uintptr_t)vectors_bytes,
                                             .fp = 0x77};
            struct arch_regs regs = before;

            calls++;
            stack[ENTRY_WORD] = 0x123456789; /* return address of the adapter's caller */
            registers[2] = (uintptr_t)&stack[ENTRY_WORD];
            registers[10] = 0x1111;
            cr_expect(arch_step_adapter(&context, &regs, (uintptr_t)code, true));
            cr_expect(regs.pc == 0x123456789 && regs.fp == 0x1111 &&
                      regs.sp == (uintptr_t)&stack[ENTRY_WORD + 1]);
            regs = before;
            cr_expect(!arch_step_adapter(&context, &regs, (uintptr_t)code, false), "no call");
            registers[2] = (uintptr_t)&stack[ENTRY_WORD + 2];
            cr_expect(!arch_step_adapter(&context, &regs, (uintptr_t)code, true), "no such place");
            regs.pc -= 5;
            cr_expect(!arch_step_adapter(&context, &regs, (uintptr_t)code, true), "at the call");
        }
    }
    cr_expect(adapters > 0 && calls == adapters, "%u in %u", calls, adapters);
}
#endif

Test(recorded, the_poll_of_a_return_is_left_by_its_return_address)
{
    unsigned polls = 0, loops = 0;

    for (size_t i = 0; i < JW_COUNT_OF(recorded); i++) {
        if (strcmp(recorded[i].name, "SafepointBlob") != 0)
            continue;
        tell_all(&recorded[i]);
        polls++;
        loops += is_loop_poll(&recorded[i]);
        const uintptr_t begin = (uintptr_t)code, end = begin + code_bytes;
        for (uintptr_t pc = begin - 4; pc <= end; pc++) {
            struct arch_regs regs = {
                .pc = pc, .sp = (uintptr_t)stack, .fp = (uintptr_t)(stack + 8)};

            if (!is_loop_poll(&recorded[i]) || pc < begin || pc == end)
                cr_expect(!arch_step_poll(&regs, POLL_PC, begin, end), "%+zd",
                          (ssize_t)(pc - begin));
        }
    }
    cr_expect(loops == polls / 3 * 2, "%u of %u", loops, polls);
}

#if defined(__x86_64__)

/* From the end of the compiled frame to the stub's own, and in no other code; not in the midst of one of the instructions. */
#define LAYING_BYTES      80
#define LAYING_BYTES_TOLD 77
Test(recorded, stubs_lay_frames_out_in_one_place_and_nothing_else_does)
{
    unsigned stubs = 0;

    for (size_t i = 0; i < JW_COUNT_OF(recorded); i++) {
        const bool lays = strcmp(recorded[i].name, "DeoptimizationBlob") == 0 ||
                          strcmp(recorded[i].name, "UncommonTrapBlob") == 0;
        size_t told = 0, first = 0, last = 0;

        decode(&recorded[i]);
        const uintptr_t begin = (uintptr_t)code, end = begin + code_bytes;
        for (uintptr_t pc = begin; pc < end; pc++) {
            const ucontext_t context = {
                .uc_mcontext.gregs = {[REG_R8] = (greg_t)(uintptr_t)&stack[8]}};
            struct arch_regs regs = {.pc = pc, .sp = (uintptr_t)&stack[4]};

            if (!arch_step_laying(&context, &regs, begin, end))
                continue;
            first = told++ == 0 ? pc - begin : first;
            last = pc - begin;
        }
        stubs += lays;
        cr_expect(told == (lays ? LAYING_BYTES_TOLD : 0), "%s: %zu", recorded[i].name, told);
        cr_expect(!lays || last - first + 1 == LAYING_BYTES, "%s: from %zu to %zu",
                  recorded[i].name, first, last);
    }
    cr_expect(stubs == 4, "%u", stubs);
}

#endif
