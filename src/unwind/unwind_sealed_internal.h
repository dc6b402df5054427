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

/* -------- of libunwind 1.6.2 ----------------------------------------------------------------- */

#define UNWIND_SEALED_CURSOR_WORDS 256    /* 127 on x86-64, 214 on aarch64 */
#define UNWIND_SEALED_SPACE_BYTES  118464 /* 26288 on x86-64, and this on aarch64 */

/* Where a register is kept. Source: libunwind 1.6.2, include/dwarf.h and libunwind_i.h. */
#define UNWIND_SEALED_IN_REGISTER 2u
#define UNWIND_SEALED_IS_VALUE    4u
struct unwind_sealed_place {
    uint64_t value, kind;
};

/*
 * What a cursor begins with; tests hold it to what the copy does. Behind it the words of registers for landing pads and their mask,
 * places, and flags, so many as arch_facts says.
 */
#define UNWIND_SEALED_BEHIND_CALL 2u
struct unwind_sealed_cursor {
    union {
        struct {
            void *view;
            struct unwind_space *space; /* begins with struct unwind_accessors */
            uint64_t cfa, ip, arguments_bytes;
        };
        uint64_t words[UNWIND_SEALED_CURSOR_WORDS];
    };
};
#define UNWIND_SEALED_HEAD_WORDS 5

JW_SIGNAL_SAFE static inline const struct unwind_sealed_place *
unwind_sealed_places(const struct unwind_sealed_cursor *cursor)
{
    return (const void *)&cursor
        ->words[UNWIND_SEALED_HEAD_WORDS + arch_facts.unwind_landing_registers + 1];
}

JW_SIGNAL_SAFE static inline uint64_t unwind_sealed_flags(const struct unwind_sealed_cursor *cursor)
{
    return unwind_sealed_places(cursor)[arch_facts.unwind_cursor_registers].value;
}

/* What a procedure's `info` points to. Source: libunwind 1.6.2, include/dwarf.h. */
struct unwind_sealed_entry {
    uint64_t common_start, common_end, program_start, program_end;
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

/* A state of registers takes 192 bytes on x86-64, 912 on aarch64, an entry of a table 72. */
#define UNWIND_SEALED_BLOCK_WORDS 114
struct unwind_sealed_pool {
    _Atomic uint64_t taken; /* a bit for each block */
    uint64_t blocks[64][UNWIND_SEALED_BLOCK_WORDS];
};
extern struct unwind_sealed_pool unwind_sealed_entries, unwind_sealed_states;
extern const uint8_t unwind_sealed_numbers[]; /* by DWARF's; asked for on x86-64 alone */

JW_SIGNAL_SAFE void *unwind_sealed_take(struct unwind_sealed_pool *pool);
JW_SIGNAL_SAFE void unwind_sealed_give(struct unwind_sealed_pool *pool, const void *block);
JW_SIGNAL_SAFE int unwind_sealed_register(struct unwind_sealed_cursor *cursor, int number,
                                          uint64_t *value, int is_write);
JW_SIGNAL_SAFE int unwind_sealed_no_dynamic(struct unwind_space *space, uint64_t ip,
                                            struct unwind_procedure *out, int needs_info,
                                            void *view);
JW_SIGNAL_SAFE void *unwind_sealed_room(size_t count, size_t size_bytes);
JW_SIGNAL_SAFE intptr_t unwind_sealed_unforeseen(void);

/* -------- descriptions: unwind_program.c ----------------------------------------------------- */

/*
 * Replaces an instruction without operands by one that does nothing, wherever it stands in a program of call frame instructions. False: there is
 * one that is not known, or that is cut off. Context: handler.
 */
JW_SIGNAL_SAFE bool unwind_program_hide(unsigned char *bytes, uint32_t size_bytes, uint8_t refused);

/* -------- a walk ----------------------------------------------------------------------------- */

#define UNWIND_LIVE_ROOMS 32u
#define UNWIND_PROGRAM_BYTES                                                                       \
    1024u /* of a frame description that is shown otherwise; the longest ones of libjvm have some hundred */
struct unwind_live {
    _Atomic uint32_t is_taken;
    uint32_t words_left; /* that it may read */
    const struct symbols_snapshot *snapshot;
    bool has_no_way; /* something was asked for that cannot be had: it would go on by guesses */
    int status;      /* of the last call */
    /* A frame description, and as what it is shown. */
    uintptr_t program_start;
    uint32_t program_bytes; /* 0: as it is */
    unsigned char program[UNWIND_PROGRAM_BYTES];
    struct arch_context context; /* of a signal frame */
    uintptr_t registers[UNWIND_REGISTERS];
    struct unwind_sealed_cursor cursor;
};

#endif
