/*
 * unwind_sealed_internal - the sealed copy of libunwind, which tools/seal-libunwind makes when jaywalk is built.
 *
 * For      native stacks by libunwind in handlers (cstack=libunwind).
 * Callers  unwind_live.c; the copy itself, of the functions and data at the end.
 * Context  handler, all of it; `create` is called once, control.
 * Memory   static: two pools of 64 blocks, a room for the address space.
 * Progress lock-free: who takes a block or gives it back tries again only where another one did.
 *
 * Nothing of it can be called but the four functions of `unwind_sealed`, and it calls nothing but what stands here and functions of the C
 * library for memory and strings: no lock, no system call, no allocation, nothing of the loader.
 */
#ifndef JW_UNWIND_UNWIND_SEALED_INTERNAL_H
#define JW_UNWIND_UNWIND_SEALED_INTERNAL_H

#include "unwind/unwind_internal.h"

/* -------- of libunwind 1.6.2 on x86-64 ------------------------------------------------------- */

#define UNWIND_SEALED_REGISTERS    17
#define UNWIND_SEALED_CURSOR_WORDS 128 /* 127 */
#define UNWIND_SEALED_SPACE_BYTES  26288

/* Where a register is kept. Source: libunwind 1.6.2, include/dwarf.h and libunwind_i.h of x86-64. */
#define UNWIND_SEALED_IN_REGISTER 2u
#define UNWIND_SEALED_IS_VALUE    4u
struct unwind_sealed_place {
    uint64_t value, kind;
};

/* What a cursor begins with; tests hold it to what the copy does. */
#define UNWIND_SEALED_BEHIND_CALL 2u
struct unwind_sealed_cursor {
    union {
        struct {
            void *view;
            struct unwind_space *space; /* begins with struct unwind_accessors */
            uint64_t cfa, ip, arguments_bytes, landing[2];
            uint32_t landing_mask, padding;
            struct unwind_sealed_place places[UNWIND_SEALED_REGISTERS];
            uint32_t flags;
        };
        uint64_t words[UNWIND_SEALED_CURSOR_WORDS];
    };
};

/* -------- the copy --------------------------------------------------------------------------- */

struct unwind_sealed {
    struct unwind_space *(*create)(struct unwind_accessors *accessors, int byte_order);
    int (*begin)(struct unwind_sealed_cursor *cursor, struct unwind_space *space, void *view);
    int (*step)(struct unwind_sealed_cursor *cursor);
    int (*search)(struct unwind_space *space, uint64_t ip, struct unwind_dynamic *table,
                  struct unwind_procedure *out, int needs_info, void *view);
};
extern const struct unwind_sealed unwind_sealed; /* all NULL where there is no copy */
extern const char unwind_sealed_why[];           /* then, why */
/* Its code, all of it and nothing else. */
extern const char unwind_sealed_begin[], unwind_sealed_end[];

/* Whether it called what it has no reason to call. Context: handler. */
JW_SIGNAL_SAFE bool unwind_sealed_is_broken(void);
/* Blocks of its pools that are taken. Context: any. */
unsigned unwind_sealed_taken(void);

/* -------- called by the copy ----------------------------------------------------------------- */

/* A state of registers takes 192 bytes, an entry of a table 72. */
#define UNWIND_SEALED_BLOCK_WORDS 24
struct unwind_sealed_pool {
    _Atomic uint64_t taken; /* a bit for each block */
    uint64_t blocks[64][UNWIND_SEALED_BLOCK_WORDS];
};
extern struct unwind_sealed_pool unwind_sealed_entries, unwind_sealed_states;
extern const uint8_t unwind_sealed_numbers[UNWIND_SEALED_REGISTERS];

JW_SIGNAL_SAFE void *unwind_sealed_take(struct unwind_sealed_pool *pool);
JW_SIGNAL_SAFE void unwind_sealed_give(struct unwind_sealed_pool *pool, const void *block);
JW_SIGNAL_SAFE int unwind_sealed_register(struct unwind_sealed_cursor *cursor, int number,
                                          uint64_t *value, int is_write);
JW_SIGNAL_SAFE int unwind_sealed_no_dynamic(struct unwind_space *space, uint64_t ip,
                                            struct unwind_procedure *out, int needs_info,
                                            void *view);
JW_SIGNAL_SAFE void *unwind_sealed_room(size_t count, size_t size_bytes);
JW_SIGNAL_SAFE intptr_t unwind_sealed_unforeseen(void);

/* -------- a walk ----------------------------------------------------------------------------- */

#define UNWIND_LIVE_ROOMS 32u
struct unwind_live {
    _Atomic uint32_t is_taken;
    uint32_t words_left; /* that it may read */
    const struct symbols_snapshot *snapshot;
    bool has_no_way; /* something was asked for that cannot be had: it would go on by guesses */
    int status;      /* of the last call */
    uintptr_t registers[UNWIND_REGISTERS];
    struct unwind_sealed_cursor cursor;
};

#endif
