/*
 * shapes - machine code as HotSpot writes it, to be run and stopped at each of its instructions.
 *
 * shapes_x86_64.h and shapes_aarch64.h give the code, and two functions:
 *     shape_run    runs code from `entry`, calling shape_stopped before each instruction of it
 *     shape_truth  the caller's registers, as they are when the code has returned
 */
#ifndef JW_TESTS_SHAPES_H
#define JW_TESTS_SHAPES_H

#include "arch/arch.h"

enum shape_kind { SHAPE_STUB, SHAPE_COMPILED, SHAPE_SIZED, SHAPE_INTERPRETED, SHAPE_ADAPTER };

struct shape {
    const char *name;
    enum shape_kind kind;
    const char *begin;
    const char *entry; /* where it is called: begin, or an entry further on */
    const char *mark; /* stub: behind the frame set-up, NULL if there is none; compiled: complete */
    const char *end;
    size_t frame_words; /* compiled, sized */
    bool is_poll_armed; /* the poll at the return is taken */
};

/* What the code finds through its thread register: words at the offsets that it polls. */
#define SHAPE_THREAD_BYTES 0x400

extern struct arch_regs shape_truth;

void shape_run(const struct shape *shape, void *thread);

/* Of the test. `begin_pc`: where the code that runs lies, which may be a copy. */
void shape_stopped(const void *ucontext, uintptr_t begin_pc);

#endif
