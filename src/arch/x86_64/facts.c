/* x86-64: constants of the machine. */
#include "arch/arch.h"

const struct arch_facts arch_facts = {
    .name = "x86-64",
    .call_min_bytes = 2, /* call *%rax */
    .call_max_bytes = 7, /* call *disp32(%base,%index) */
    .instruction_min_bytes = 1,
    .page_min_bytes = 4096,
    .page_max_bytes = 4096,
    .interpreter_bcp_slot = -8,
    .interpreter_bcp_slot_jdk_8 = -7,
    .entry_wrapper_slot = -6,
    .is_interpreter_sp_apart = false,
    .kept_dwarf_register = 3, /* rbx */
    .has_link_register = false,
    .perf_sp_and_pc = 1u << 7 | 1u << 8,
    .unwind_name = "x86_64",
    .unwind_pc = 16,
    .unwind_sp = 7,
    .is_unwind_signal_here = false,
    .unwind_cursor_registers = 17,
    .unwind_landing_registers = 2,
    .unwind_stack_bytes = 8192,
    .syscall_bytes = 2,
};
