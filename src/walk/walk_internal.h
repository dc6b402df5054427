/* walk_internal - shared by the steppers of room walk. */
#ifndef JW_WALK_WALK_INTERNAL_H
#define JW_WALK_WALK_INTERNAL_H

#include "arch/arch.h"

/* Steps out of native frames until the pc lies in the code cache; false when it never does. */
JW_SIGNAL_SAFE bool walk_native_to_code_cache(struct arch_regs *regs);

#endif
