/*
 * unwind_internal - libunwind as far as it is used, and what it is shown.
 *
 * Its types are spelled out here, so that neither its headers nor the library need be there where jaywalk is built.
 * Source: libunwind 1.6 to 1.8, libunwind-common.h and libunwind-dynamic.h; before 1.6 unw_dyn_info_t had no load_offset, which the
 * try on a known stack (unwind_library_try) notices.
 */
#ifndef JW_UNWIND_UNWIND_INTERNAL_H
#define JW_UNWIND_UNWIND_INTERNAL_H

#include "arch/arch.h"
#include "unwind/unwind.h"

struct symbols_snapshot;

/* -------- libunwind's own types -------------------------------------------------------------- */

enum { UNWIND_E_BADREG = 3, UNWIND_E_INVAL = 8, UNWIND_E_NOINFO = 10 }; /* returned negated */
#define UNWIND_CACHE_NONE          0
#define UNWIND_FORMAT_REMOTE_TABLE 2
#define UNWIND_CURSOR_WORDS        1024 /* 127 on x86-64; 250 on aarch64, 512 in 1.3 */

struct unwind_cursor {
    uint64_t words[UNWIND_CURSOR_WORDS];
};

struct unwind_procedure {
    uint64_t start_ip, end_ip, lsda, handler, gp, flags;
    int32_t format, info_bytes;
    void *info;
    uint64_t extra[4];
};

struct unwind_dynamic {
    void *next, *previous;
    uint64_t start_ip, end_ip, gp;
    int32_t format, padding;
    uint64_t load_offset;
    uint64_t name, segment_base, table_words, table; /* of a remote table */
    uint64_t spare[4];
};

struct unwind_space;

struct unwind_accessors {
    int (*find_procedure)(struct unwind_space *space, uint64_t ip, struct unwind_procedure *out,
                          int needs_info, void *view);
    void (*put_info)(struct unwind_space *space, struct unwind_procedure *procedure, void *view);
    int (*dynamic_list)(struct unwind_space *space, uint64_t *addr, void *view);
    int (*memory)(struct unwind_space *space, uint64_t addr, uint64_t *value, int is_write,
                  void *view);
    int (*register_)(struct unwind_space *space, int number, uint64_t *value, int is_write,
                     void *view);
    int (*float_register)(struct unwind_space *space, int number, void *value, int is_write,
                          void *view);
    int (*resume)(struct unwind_space *space, struct unwind_cursor *cursor, void *view);
    int (*name)(struct unwind_space *space, uint64_t ip, char *name, size_t room_bytes,
                uint64_t *offset, void *view);
    void *later[8]; /* of versions that have more */
};

/* One copy of the library in memory. */
struct unwind_library {
    struct unwind_space *(*create)(struct unwind_accessors *accessors, int byte_order);
    int (*set_caching)(struct unwind_space *space, int policy);
    int (*begin)(struct unwind_cursor *cursor, struct unwind_space *space, void *view);
    int (*step)(struct unwind_cursor *cursor);
    int (*get)(struct unwind_cursor *cursor, int number, uint64_t *value);
    int (*is_signal_frame)(struct unwind_cursor *cursor);
    int (*search)(struct unwind_space *space, uint64_t ip, struct unwind_dynamic *table,
                  struct unwind_procedure *out, int needs_info, void *view);
    struct unwind_space *space;
};

/* -------- what it is shown ------------------------------------------------------------------- */

#define UNWIND_REGISTERS 33 /* by libunwind's numbers */

/* Bytes of a stack. */
struct unwind_copy {
    uintptr_t start;
    size_t size_bytes;
    const unsigned char *bytes;
};

struct unwind_view {
    const struct unwind_library *library;
    const struct symbols_snapshot *snapshot;
    uintptr_t registers[UNWIND_REGISTERS];
    struct unwind_copy stack;
    uintptr_t segment_start, segment_end; /* of the library that was read last */
    bool has_no_copy; /* something was read that is neither of the copy nor of a library */
    bool has_no_way;  /* there is no description of some code, or it cannot be read */
};

enum unwind_end {
    UNWIND_AT_CODE, /* code of the JVM made the last frame's call */
    UNWIND_AT_ROOT, /* the first function of the thread */
    UNWIND_CUT,     /* more frames than wanted */
    UNWIND_NO_COPY, /* the next one needs memory that was not copied */
    UNWIND_NO_WAY,  /* libunwind does not know a way on, or would guess */
};

/* Frames as ours are: callers one byte inside of their calls. 0: it did not begin. Context: whose the library is. */
uint32_t unwind_walk(struct unwind_view *view, uintptr_t *pcs, uint32_t depth_max,
                     enum unwind_end *end);

/* -------- the library ------------------------------------------------------------------------ */

/* Loads it, and finds what is used of it. Context: control. */
JW_MUST_CHECK bool unwind_library_load(struct unwind_library *library, struct jw_error *err);

/* Unwinds the calling thread, whose own library is known to the snapshot. Context: dump, control. */
JW_MUST_CHECK bool unwind_library_try(const struct unwind_library *library,
                                      const struct symbols_snapshot *snapshot,
                                      struct jw_error *err);

extern struct unwind_accessors unwind_accessors;

/* The table of functions, where it is mapped, of the library that holds `pc`; false: there is none that can be searched. */
JW_SIGNAL_SAFE bool unwind_table_find(const struct symbols_snapshot *snapshot, uintptr_t pc,
                                      struct unwind_dynamic *out);

/* By libunwind's numbers; those that are not general registers are 0. */
JW_SIGNAL_SAFE void unwind_registers(const void *ucontext, uintptr_t *registers);

/* What can be read of these bytes, from the first on: how many. Contained loads, page by page. */
JW_SIGNAL_SAFE size_t unwind_copy_stack(unsigned char *to, uintptr_t start, size_t most_bytes);

/* -------- copies ----------------------------------------------------------------------------- */

#define UNWIND_COPIES     16
#define UNWIND_COPY_BYTES ((size_t)64 << 10)

enum unwind_copy_state { UNWIND_COPY_FREE, UNWIND_COPY_FILLING, UNWIND_COPY_FULL };

struct unwind_taken {
    _Atomic uint32_t state; /* enum unwind_copy_state */
    bool is_whole, is_cut;
    uint32_t count;
    uintptr_t pcs[UNWIND_DEPTH_MAX];
    uintptr_t registers[UNWIND_REGISTERS];
    uintptr_t start;
    size_t size_bytes;
    unsigned char bytes[UNWIND_COPY_BYTES];
};

/* All of them, for tests; NULL before the first session that wants them. */
struct unwind_taken *unwind_check_copies(void);

#endif
