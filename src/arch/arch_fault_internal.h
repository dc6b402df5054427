/* Labels of the assembly: loads that may fault, and where faults resume. Room arch only. */
#ifndef JW_ARCH_ARCH_FAULT_INTERNAL_H
#define JW_ARCH_ARCH_FAULT_INTERNAL_H

#include "arch/arch.h"

extern const char arch_load_bytes_16[] __attribute__((visibility("hidden")));
extern const char arch_load_bytes_8[] __attribute__((visibility("hidden")));
extern const char arch_load_bytes_4[] __attribute__((visibility("hidden")));
extern const char arch_load_bytes_2[] __attribute__((visibility("hidden")));
extern const char arch_load_bytes_1[] __attribute__((visibility("hidden")));
extern const char arch_match_load[] __attribute__((visibility("hidden")));
extern const char arch_load_landing[] __attribute__((visibility("hidden")));
extern const char arch_guard_landing[] __attribute__((visibility("hidden")));

/* True when the instruction at `pc` is one of our contained loads. */
JW_SIGNAL_SAFE bool arch_is_contained_load(uintptr_t pc);

/* True when a fault at stack pointer `sp` happened inside the guarded call. */
JW_SIGNAL_SAFE bool arch_guard_covers(const struct arch_guard *guard, uintptr_t sp);

#endif
