/* DWARF register numbers of the instruction sets, by the e_machine of the file being read. */
#include <elf.h>

#include "symbols/symbols_internal.h"

/*
 * Source: System V ABI, AMD64 supplement, "DWARF Register Number Mapping": 3 rbx, 6 rbp, 7 rsp, 16 return
 * address. DWARF for the Arm 64-bit Architecture (AADWARF64), "DWARF register names": 29 x29 (frame
 * pointer), 30 x30 (link), 31 sp.
 */
static const struct symbols_machine machines[] = {
    {.elf_machine = EM_X86_64,
     .sp_register = 7,
     .fp_register = 6,
     .kept_register = 3,
     .return_register = 16,
     .has_link_register = false},
    {.elf_machine = EM_AARCH64,
     .sp_register = 31,
     .fp_register = 29,
     .kept_register = SYMBOLS_NO_REGISTER,
     .return_register = 30,
     .has_link_register = true},
};

const struct symbols_machine *symbols_machine_find(uint16_t elf_machine)
{
    for (size_t i = 0; i < JW_COUNT_OF(machines); i++)
        if (machines[i].elf_machine == elf_machine)
            return &machines[i];
    return NULL;
}
