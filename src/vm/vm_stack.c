/* Threads, entry frames and interpreted frames, read with safe loads; handler. */
#include "vm/vm_stack.h"

#include <string.h>

#include "base/frame.h"
#include "vm/vm_code.h"
#include "vm/vm_method.h"
#include "vm/vm_stack_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* No thread has a larger stack. */
#define STACK_BYTES_MAX ((uintptr_t)1 << 36)

/* Slots of an interpreted frame, in words from its frame pointer; the same on both machines.
 * Source: OpenJDK, frame_x86.hpp, frame_aarch64.hpp, JDK 8 to 28. */
#define SLOT_CALLER_FP 0
#define SLOT_CALLER_PC 1
#define SLOT_CALLER_SP (-1)
#define SLOT_LAST_SP   (-2)
#define SLOT_METHOD    (-3)

/* From the bytecode pointer to the return address, at most. */
#define FIXED_WORDS_MAX 16

bool vm_thread_of(const void *env, struct vm_thread *out)
{
    const vm_addr thread =
        (vm_addr)env - VM_ENV_AFTER_ANCHOR_BYTES - (vm_addr)vm_layout.thread_anchor.offset;
    uint64_t base, size_bytes, state;

    if (!vm_is_plausible(thread) || !vm_load_field(thread, vm_stack_layout.stack_base, &base) ||
        !vm_load_field(thread, vm_stack_layout.stack_size, &size_bytes) ||
        !vm_load_field(thread, vm_stack_layout.thread_state, &state) || !vm_is_plausible(base) ||
        size_bytes > base || size_bytes > STACK_BYTES_MAX)
        return false;
    out->thread = thread;
    out->stack_low = base - size_bytes;
    out->stack_high = base;
    out->is_in_java = state == vm_stack_layout.state_in_java;
    return true;
}

static JW_SIGNAL_SAFE bool read_anchor(vm_addr anchor, struct vm_anchor *out)
{
    uint64_t sp, pc, fp;

    if (!vm_load_field(anchor, vm_stack_layout.anchor_sp, &sp) ||
        !vm_load_field(anchor, vm_stack_layout.anchor_pc, &pc) ||
        !vm_load_field(anchor, vm_stack_layout.anchor_fp, &fp))
        return false;
    /* The JVM need not store a pc: the call that left the frame did. */
    if (sp != 0 && pc == 0 && !safe_load_word(sp - WORD_BYTES, &pc))
        return false;
    *out = (struct vm_anchor){sp, arch_code_address(pc), fp};
    return true;
}

bool vm_thread_anchor(const struct vm_thread *thread, struct vm_anchor *out)
{
    return read_anchor(thread->thread + (vm_addr)vm_layout.thread_anchor.offset, out);
}

static JW_SIGNAL_SAFE bool is_in_poll_handler(uintptr_t pc)
{
    struct vm_blob blob;

    return vm_code_find(pc, &blob) && blob.role == VM_ROLE_POLL_HANDLER;
}

bool vm_thread_is_at_poll(const void *env, uintptr_t pc)
{
    struct vm_thread thread;
    struct vm_anchor anchor;

    return is_in_poll_handler(pc) ||
           (vm_thread_of(env, &thread) && vm_thread_anchor(&thread, &anchor) && anchor.sp != 0 &&
            is_in_poll_handler(anchor.pc));
}

bool vm_thread_fault_pc(const struct vm_thread *thread, uintptr_t *out)
{
    return vm_load_field(thread->thread, vm_stack_layout.fault_pc, out);
}

bool vm_is_entry_return(uintptr_t return_pc)
{
    return return_pc == vm_stack_layout.entry_return_pc;
}

bool vm_is_entry_stub(uintptr_t begin, uintptr_t end)
{
    return vm_stack_layout.entry_return_pc >= begin && vm_stack_layout.entry_return_pc < end;
}

bool vm_entry_anchor(uintptr_t fp, struct vm_anchor *out)
{
    uintptr_t wrapper;

    return safe_load_word(fp + (uintptr_t)vm_stack_layout.entry_wrapper_bytes, &wrapper) &&
           vm_is_plausible(wrapper) &&
           read_anchor(wrapper + (vm_addr)vm_stack_layout.wrapper_anchor.offset, out);
}

/* One more word; false when it cannot be read. */
static JW_SIGNAL_SAFE bool add_word(struct arch_word *words, uint32_t *count, uintptr_t addr)
{
    words[*count].addr = addr;
    return safe_load_word(addr, &words[(*count)++].value);
}

uint32_t vm_entry_words(uintptr_t fp, struct arch_word words[VM_ENTRY_WORDS])
{
    uint32_t count = 0;

    if (!add_word(words, &count, fp + (uintptr_t)vm_stack_layout.entry_wrapper_bytes))
        return 0;
    const vm_addr anchor = words[0].value + (vm_addr)vm_stack_layout.wrapper_anchor.offset;
    if (!add_word(words, &count, anchor + (vm_addr)vm_stack_layout.anchor_sp.offset) ||
        !add_word(words, &count, anchor + (vm_addr)vm_stack_layout.anchor_pc.offset) ||
        !add_word(words, &count, anchor + (vm_addr)vm_stack_layout.anchor_fp.offset))
        return 0;
    /* Where the pc is read otherwise: read_anchor. */
    if (words[1].value != 0 && words[2].value == 0 &&
        !add_word(words, &count, words[1].value - WORD_BYTES))
        return 0;
    return count;
}

bool vm_call_stub_anchor(uintptr_t stub_begin, uintptr_t pc, uintptr_t fp, uintptr_t first_argument,
                         struct vm_anchor *out)
{
    if (arch_is_argument_stored(stub_begin, pc, vm_stack_layout.entry_wrapper_bytes))
        return vm_entry_anchor(fp, out);
    return vm_is_plausible(first_argument) &&
           read_anchor(first_argument + (vm_addr)vm_stack_layout.wrapper_anchor.offset, out);
}

bool vm_upcall_anchor(vm_addr blob, uintptr_t sp, struct vm_anchor *out)
{
    uint64_t offset;

    if (!vm_has(vm_stack_layout.upcall_frame_data) || !vm_has(vm_stack_layout.upcall_anchor) ||
        !vm_load_field(blob, vm_stack_layout.upcall_frame_data, &offset))
        return false;
    return read_anchor(sp + (uint32_t)offset + (vm_addr)vm_stack_layout.upcall_anchor.offset, out);
}

bool vm_interpreted_is_whole(uintptr_t sp, uintptr_t fp)
{
    /* The slot behind the bytecode pointer is the last one that is pushed. */
    return sp + WORD_BYTES <= fp + (uintptr_t)vm_stack_layout.interpreter_bcp_bytes;
}

bool vm_interpreted_is_reentered(uintptr_t pc)
{
    return arch_is_reentered(pc, vm_stack_layout.interpreter_bcp_bytes);
}

static JW_SIGNAL_SAFE bool load_slot(uintptr_t fp, intptr_t slot, uintptr_t *out)
{
    return safe_load_word(fp + (uintptr_t)(slot * (intptr_t)WORD_BYTES), out);
}

/* The bci that a bytecode pointer stands for; false when it points elsewhere. */
static JW_SIGNAL_SAFE bool bci_of(vm_addr const_method, uint64_t code_bytes, uintptr_t bcp,
                                  int32_t *out)
{
    const uintptr_t offset = bcp - (const_method + vm_layout.const_method_bytes);

    if (offset >= code_bytes)
        return false;
    *out = (int32_t)offset;
    return true;
}

/* Method and bytecode pointer are there. */
static JW_SIGNAL_SAFE bool read_bci(uintptr_t live_bcp, struct vm_interpreted *out)
{
    uint64_t code_bytes;

    if (!vm_load_field(out->method, vm_layout.method_const, &out->const_method) ||
        !vm_is_plausible(out->const_method) ||
        !vm_load_field(out->const_method, vm_layout.const_code_size, &code_bytes))
        return false;
    if (bci_of(out->const_method, code_bytes, live_bcp, &out->bci) ||
        bci_of(out->const_method, code_bytes, out->bcp, &out->bci))
        return true;
    /* A native method has no code to point to, and its slot may hold anything: the method must be one as
     * far as its class. */
    out->bci = JW_BCI_NATIVE;
    return vm_method_is_native(out->method) && vm_method_has_class(out->method);
}

/* Only a caller that is found by its frame pointer alone may have a stack pointer below its callee's frame: the interpreter's own
 * code, and the call stub. */
static __attribute__((noinline, cold)) JW_SIGNAL_SAFE bool
is_caller_apart(const struct vm_interpreted *frame)
{
    return arch_facts.is_interpreter_sp_apart && frame->caller_sp != 0 &&
           (vm_code_is_interpreter(frame->caller_pc) || vm_is_entry_return(frame->caller_pc));
}

static JW_SIGNAL_SAFE bool load_caller(uintptr_t fp, struct vm_interpreted *out)
{
    if (!load_slot(fp, SLOT_CALLER_FP, &out->caller_fp) ||
        !load_slot(fp, SLOT_CALLER_PC, &out->caller_pc))
        return false;
    out->caller_pc = arch_code_address(out->caller_pc);
    return out->caller_sp > fp || is_caller_apart(out);
}

/* Source: OpenJDK, TemplateInterpreterGenerator::generate_fixed_frame: the slots are pushed from above. */
bool vm_interpreted_read_begun(uintptr_t sp, uintptr_t fp, uintptr_t entry_sp,
                               struct vm_interpreted *out)
{
    out->method = 0;
    out->bci = 0;
    out->caller_sp = entry_sp;
    if (sp > fp || (sp < fp && !load_slot(fp, SLOT_CALLER_SP, &out->caller_sp)))
        return false;
    if (fp - sp >= (uintptr_t)-SLOT_METHOD * WORD_BYTES &&
        (!load_slot(fp, SLOT_METHOD, &out->method) || !vm_method_has_class(out->method)))
        return false;
    if (out->method != 0 && vm_method_is_native(out->method))
        out->bci = JW_BCI_NATIVE;
    return load_caller(fp, out);
}

bool vm_interpreted_read(uintptr_t fp, uintptr_t live_bcp, struct vm_interpreted *out)
{
    uintptr_t words[FIXED_WORDS_MAX];
    const intptr_t begin = vm_stack_layout.interpreter_bcp_bytes / (intptr_t)WORD_BYTES;

    /* All at once: from the slot of the bytecode pointer, which is the lowest, to the return address. */
    if (begin > SLOT_METHOD || SLOT_CALLER_PC - begin >= FIXED_WORDS_MAX ||
        !safe_load_bytes(words, fp + (uintptr_t)vm_stack_layout.interpreter_bcp_bytes,
                         (size_t)(SLOT_CALLER_PC - begin + 1) * WORD_BYTES))
        return false;
    out->bcp = words[0];
    out->method = words[SLOT_METHOD - begin];
    out->caller_sp = words[SLOT_CALLER_SP - begin];
    out->caller_fp = words[SLOT_CALLER_FP - begin];
    out->caller_pc = arch_code_address(words[SLOT_CALLER_PC - begin]);
    return vm_is_plausible(out->method) && (out->caller_sp > fp || is_caller_apart(out)) &&
           read_bci(live_bcp, out);
}

/*
 * Frames are laid out one behind the other before any is filled in: caller, its stack pointer, and 0 where the stack pointer of the last call
 * is, which a frame that is filled in has; its bytecode pointer comes last. What else lies there is what lay there before.
 * Source: OpenJDK, generate_deopt_blob in sharedRuntime_{x86_64,aarch64}.cpp, vframeArrayElement::unpack_on_stack,
 * AbstractInterpreter::layout_activation.
 */
bool vm_interpreted_read_bare(uintptr_t fp, struct vm_interpreted *out)
{
    uintptr_t last_sp;

    if (!load_slot(fp, SLOT_LAST_SP, &last_sp) || (last_sp != 0 && vm_interpreted_read(fp, 0, out)))
        return false;
    out->method = 0;
    return load_slot(fp, SLOT_CALLER_SP, &out->caller_sp) &&
           out->caller_sp >= vm_interpreted_end(fp) && load_caller(fp, out);
}

static JW_SIGNAL_SAFE struct arch_word slot_word(uintptr_t fp, intptr_t slot, uintptr_t value)
{
    return (struct arch_word){fp + (uintptr_t)(slot * (intptr_t)WORD_BYTES), value};
}

void vm_interpreted_words(uintptr_t fp, const struct vm_interpreted *frame,
                          struct arch_word words[VM_INTERPRETED_WORDS])
{
    words[0] = slot_word(fp, SLOT_CALLER_PC, frame->caller_pc);
    words[1] = slot_word(fp, SLOT_CALLER_FP, frame->caller_fp);
    words[2] = slot_word(fp, SLOT_CALLER_SP, frame->caller_sp);
    words[3] = slot_word(fp, SLOT_METHOD, frame->method);
    words[4] =
        (struct arch_word){fp + (uintptr_t)vm_stack_layout.interpreter_bcp_bytes, frame->bcp};
    words[5] = (struct arch_word){frame->method + (uintptr_t)vm_layout.method_const.offset,
                                  frame->const_method};
}
