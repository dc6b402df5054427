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

/* Why an operation of the control plane failed: what failed, why, what to try. Empty: no error. */
struct jw_error {
    char message[512];
};

/* Fills `err` (which may be NULL) unless it already tells of an earlier, deeper failure. */
void jw_error_set(struct jw_error *err, const char *format, ...) JW_PRINTF(2, 3);
void jw_error_clear(struct jw_error *err);

/*
 * malloc and free that may be told to fail, for the allocation sweep of the tests. NULL when
 * memory is out; the caller reports it. `jw_alloc` zeroes. Never in `handler` or `hook` context.
 */
JW_MUST_CHECK void *jw_alloc(size_t size_bytes);
JW_MUST_CHECK void *jw_realloc(void *memory, size_t size_bytes); /* new bytes are not zeroed */
void jw_free(void *memory);

/* count * size_bytes; SIZE_MAX, which no allocation grants, where the product does not fit. */
size_t jw_mul_bytes(size_t count, size_t size_bytes);

/* Tests: the n-th allocation from now on (1 = next) and every later one fail; 0: none does. */
void jw_alloc_fail_after(uint64_t nth);
uint64_t jw_alloc_count(void); /* allocations asked for since the process started */

#endif
