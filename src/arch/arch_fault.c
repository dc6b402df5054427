/* What is a fault of ours, whatever the machine; and strings. Every context. */
#include "arch/arch_fault_internal.h"

#include <string.h>

#define WORD_ONES  0x0101010101010101ull
#define WORD_TOPS  0x8080808080808080ull
#define WORD_BYTES sizeof(uint64_t)

bool arch_is_contained_load(uintptr_t pc)
{
    return pc == (uintptr_t)arch_load_u64 || pc == (uintptr_t)arch_load_u64_acquire ||
           pc == (uintptr_t)arch_load_u32 || pc == (uintptr_t)arch_load_u16 ||
           pc == (uintptr_t)arch_load_u8 || pc == (uintptr_t)arch_load_bytes_16 ||
           pc == (uintptr_t)arch_load_bytes_8 || pc == (uintptr_t)arch_load_bytes_4 ||
           pc == (uintptr_t)arch_load_bytes_2 || pc == (uintptr_t)arch_load_bytes_1 ||
           pc == (uintptr_t)arch_match_load;
}

bool arch_guard_covers(const struct arch_guard *guard, uintptr_t sp)
{
    return guard->sp != 0 && sp <= guard->sp && guard->sp - sp <= ARCH_GUARD_STACK_BYTES;
}

size_t safe_load_string(char *to, size_t room_bytes, uintptr_t addr)
{
    size_t length_bytes = 0;

    if (room_bytes == 0)
        return SAFE_LOAD_NO_STRING;
    to[0] = '\0';
    while (length_bytes + 1 < room_bytes) {
        const size_t left_bytes = room_bytes - 1 - length_bytes;
        uint64_t word;
        uint8_t byte;

        /* Whole words only where they are aligned: such a load stays within the page that holds the
         * bytes wanted. */
        if ((addr + length_bytes) % WORD_BYTES == 0 && left_bytes >= WORD_BYTES) {
            if (!safe_load_u64(addr + length_bytes, &word))
                return SAFE_LOAD_NO_STRING;
            if (((word - WORD_ONES) & ~word & WORD_TOPS) == 0) {
                memcpy(to + length_bytes, &word, WORD_BYTES);
                length_bytes += WORD_BYTES;
                continue;
            }
        }
        if (!safe_load_u8(addr + length_bytes, &byte))
            return SAFE_LOAD_NO_STRING;
        if (byte == 0)
            break;
        to[length_bytes++] = (char)byte;
    }
    to[length_bytes] = '\0';
    return length_bytes;
}
