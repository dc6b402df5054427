/* aarch64: constants of the machine. */
#include "arch/arch.h"

const struct arch_facts arch_facts = {
    .name = "aarch64",
    .call_min_bytes = 4,
    .call_max_bytes = 4,
    .instruction_min_bytes = 4,
    .page_min_bytes = 4096,
    .page_max_bytes = 65536,
    .interpreter_bcp_slot = -9,
    .interpreter_bcp_slot_jdk_8 = -7,
    .entry_wrapper_slot = -8,
    .is_interpreter_sp_apart = true,
    .kept_dwarf_register = -1,
    .has_link_register = true,
    .perf_sp_and_pc = UINT64_C(1) << 31 | UINT64_C(1) << 32,
    .unwind_name = "aarch64",
    .unwind_pc = 32,
    .unwind_sp = 31,
    .is_unwind_signal_here = true,
    .unwind_cursor_registers = 97,
    .unwind_landing_registers = 4,
    .is_unwind_signal_by_code = true,
    .signal_context_offset = 128, /* behind siginfo */
    .unwind_stack_bytes = 16384,
    .unwind_refused_instruction = 0x2d, /* DW_CFA_AARCH64_negate_ra_state */
    .syscall_bytes = 4,
};
