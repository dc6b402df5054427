/*
 * jw - what every room may use: annotations, errors, allocation.
 *
 * For      all rooms; it knows nothing of JVMs or files.
 * Callers  every room.
 * Context  annotations: all. jw_error_set: any, dump, control, tool. jw_alloc: any, dump, control, tool.
 * Memory   jw_alloc'ed memory belongs to the caller, who gives it back with jw_free.
 */
#ifndef JW_BASE_JW_H
#define JW_BASE_JW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Promise of a declaration: may be called in `handler` context. Puts the function into section
 * jw_signal_text, whose relocations tools/check-signal-safe reads: whatever such a function reaches
 * must carry the mark too, or stand in tools/signal-safe.allow.
 */
#define JW_SIGNAL_SAFE __attribute__((section("jw_signal_text")))

/* A `const` table of function pointers that a handler calls; the same check sees its targets. */
#define JW_SIGNAL_TABLE __attribute__((section("jw_signal_table"), used))

#define JW_MUST_CHECK __attribute__((warn_unused_result))
#define JW_PRINTF(format_index, first_index)                                                       \
    __attribute__((format(printf, format_index, first_index)))

#define JW_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * A condition that only a defect of ours can break. Checked builds (-DJW_CHECKED=1) trap; release
 * builds count INVARIANT_BROKEN and the expression is false, so that the caller backs out:
 *     if (!JW_INVARIANT(depth <= limit)) return ...;
 */
#define JW_INVARIANT(condition) (__builtin_expect(!!(condition), 1) || jw_invariant_broken())

JW_SIGNAL_SAFE bool jw_invariant_broken(void); /* always false */

/* In a checked build the agent has free memory of its generations sealed, too. */
#if defined(JW_CHECKED) && JW_CHECKED
#define JW_IS_CHECKED true
#else
#define JW_IS_CHECKED false
#endif

/* Why an operation of the control plane failed: what failed, why, what to try. Empty: no error. */
struct jw_error {
    char message[512];
};

/* Fills `err` (which may be NULL) unless it already tells of an earlier, deeper failure. */
void jw_error_set(struct jw_error *err, const char *format, ...) JW_PRINTF(2, 3);
void jw_error_clear(struct jw_error *err);

/* What memory is for: base/memory.h. */
enum jw_memory_part {
#define JW_MEMORY(name, text, smallest, at_default, most, borrows, at_limit, counters)             \
    JW_MEMORY_##name,
#define JW_MEMORY_ROOM(room, part)
#include "base/memory.def"
#undef JW_MEMORY
#undef JW_MEMORY_ROOM
    JW_MEMORY_LIMIT,
/* By room: JW_MEMORY_OF_symbols. */
#define JW_MEMORY(name, text, smallest, at_default, most, borrows, at_limit, counters)
#define JW_MEMORY_ROOM(room, part) JW_MEMORY_OF_##room = JW_MEMORY_##part,
#include "base/memory.def"
#undef JW_MEMORY
#undef JW_MEMORY_ROOM
};

/* What a file allocates for: its room's part, as mk/build.mk says; a file may redefine it. */
#ifndef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_CONTROL
#endif

/*
 * Memory of the agent's own, not of the program's heap; may be told to fail, for the allocation sweep of the tests. NULL when
 * memory is out, or `memlimit` is reached; the caller reports it. `jw_alloc` zeroes. Never in `handler` or
 * `hook` context. A block stays charged to the part that it was first allocated for.
 */
JW_MUST_CHECK void *jw_alloc_for(enum jw_memory_part part, size_t size_bytes);
JW_MUST_CHECK void *jw_realloc_for(enum jw_memory_part part, void *memory, size_t size_bytes);
void jw_free(void *memory);

#define jw_alloc(size_bytes) jw_alloc_for(JW_MEMORY_HERE, (size_bytes))
/* New bytes are not zeroed. */
#define jw_realloc(memory, size_bytes) jw_realloc_for(JW_MEMORY_HERE, (memory), (size_bytes))

/* count * size_bytes; SIZE_MAX, which no allocation grants, where the product does not fit. */
size_t jw_mul_bytes(size_t count, size_t size_bytes);

/*
 * For a program that has nothing else to do: from now on blocks of 4 MiB and more are taken in large pages, as far as the system gives them, which saves most of
 * the time that their first use and the way to them take. Never in the agent: the host's memory is not ours to round up.
 */
void jw_alloc_in_large_pages(void);

/* Tests: the n-th allocation from now on (1 = next) and every later one fail; 0: none does. */
void jw_alloc_fail_after(uint64_t nth);
uint64_t jw_alloc_count(void); /* allocations asked for since the process started */

#endif
