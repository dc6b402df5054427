/*
 * registers - assembly that holds whatever it is told in every register while signals come; one file for each
 * instruction set: registers_x86_64.c, registers_aarch64.c. None of it has unwind tables.
 */
#ifndef JW_CHAOS_REGISTERS_H
#define JW_CHAOS_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define REGISTERS_GENERAL 16 /* at least as many as are held of either machine */
#define REGISTERS_VECTOR  16 /* of 16 bytes */

struct registers {
    uint64_t general[REGISTERS_GENERAL];
    uint64_t vector[REGISTERS_VECTOR][2];
};

/* Which of `general` lies in the frame pointer; how many are held. False where there is no such assembly. */
int registers_frame_pointer(void);
int registers_held(void);
int registers_are_here(void);

/* Holds `in` while it counts down from `spins`, which is not 0; what it then finds is `out`. */
void registers_hold(const struct registers *in, struct registers *out, uint64_t spins);

/* The same with the stack pointer at `stack_top`, which is that of other memory: function(argument), on it. */
uint64_t registers_call_on(void *stack_top, uint64_t (*function)(void *), void *argument);

/* function(argument) with this in the frame pointer. */
uint64_t registers_call_with(uint64_t frame_pointer, uint64_t (*function)(void *), void *argument);

/* Both of the last two, and one with a frame as compilers make it: code that runs anywhere, to be copied. */
struct registers_code {
    const void *begin;
    size_t length_bytes;
};
enum registers_shape { REGISTERS_FRAMED, REGISTERS_FRAMELESS, REGISTERS_AS_DATA, REGISTERS_SHAPES };

/* Called as uint64_t (*)(uint64_t (*function)(void *), void *argument, uint64_t spins): spins, calls, spins. */
struct registers_code registers_code_of(enum registers_shape shape);

#endif
