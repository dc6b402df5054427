/*
 * Puts the shared memory of Criterion where thread sanitizer lets a program have memory. Criterion
 * (BoxFort 0.1) picks 2^45 + rand_r() * 2^24 as its place; of that range thread sanitizer grants
 * 0x550000000000 to 0x568000000000 alone (compiler-rt, tsan_platform.h, x86-64 with 48 bits), and
 * without this file the program ends with "Could not initialize inheritable arena".
 */
#include <stdlib.h>

#define FIRST_PLACE 0x350000u /* (0x550000000000 - 2^45) / 2^24 */
#define PLACES      0x17000u

__attribute__((visibility("default"))) int rand_r(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return (int)(FIRST_PLACE + (*seed >> 8) % PLACES);
}
